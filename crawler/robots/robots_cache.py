"""robots.txt by RFC 9309, per origin.

A 4xx allows everything, a 5xx or no answer forbids everything until it can be read again; an older copy stays in
force while a new one cannot be had. What the lines mean is in `crawler.robots.robots_txt`.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Protocol

from crawler.http.fetch import Fetcher, FetchError, HttpResponse
from crawler.robots.robots_txt import RobotsTxt, parse_robots_txt
from docstore.frontier.frontier_table import StoredRobots
from docstore.model import Origin, Outcome, Reason

MAX_ROBOTS_BYTES = 500 * 1024  # RFC 9309, 2.5
CACHE_SECONDS = 24 * 3600.0  # RFC 9309, 2.4
FAILURE_CACHE_SECONDS = 600.0
MAX_CRAWL_DELAY_SECONDS = 60.0
_MAX_REDIRECTS = 5  # RFC 9309, 2.3.1.2
_SUCCESS_STATUSES = range(200, 300)
_NOT_FOUND_STATUS = 404


class RobotsTable(Protocol):
    """Where robots.txt files are kept between runs."""

    def find_robots(self, origin: Origin) -> StoredRobots | None:
        """As last fetched."""

    def save_robots(self, robots: StoredRobots) -> None:
        """Keep it."""


@dataclass(frozen=True)
class RobotsRules:
    """What one origin's robots.txt says to us; a `failure` forbids everything."""

    robots_txt: RobotsTxt = field(default_factory=RobotsTxt)
    failure: Outcome | None = None

    def rejection_outcome(self, url: str) -> Outcome | None:
        """Why the URL must not be fetched; None if it may be."""
        if self.failure is not None:
            return self.failure
        return None if self.robots_txt.allows(url) else Outcome(Reason.ROBOTS_FORBIDDEN)

    @property
    def crawl_delay(self) -> float:
        """Crawl-delay in seconds, at most a minute; 0 without one."""
        return min(self.robots_txt.crawl_delay or 0.0, MAX_CRAWL_DELAY_SECONDS)

    @property
    def sitemaps(self) -> tuple[str, ...]:
        """The URLs of sitemaps that it names, as it writes them."""
        return self.robots_txt.sitemaps


@dataclass(frozen=True)
class RobotsFetch:
    """What asking for a robots.txt led to: the file, with a `failure` if there was no answer to go by."""

    robots_file: StoredRobots
    failure: Outcome | None = None
    host_failed: bool = False
    responded_at: float | None = None


def product_token(user_agent: str) -> str:
    """The name that robots.txt groups are matched with: `Plumbline` of `Plumbline/0.1`."""
    match = re.match(r"[\w-]+", user_agent)
    return match[0] if match else user_agent


def parse_stored_robots(robots: StoredRobots, agent: str) -> RobotsRules:
    """The rules in a stored robots.txt, for the product token `agent`."""
    if robots.status in _SUCCESS_STATUSES:
        return RobotsRules(parse_robots_txt(_decode_robots(robots.body[:MAX_ROBOTS_BYTES]), agent))
    failure = None if 400 <= robots.status < 500 else Outcome(Reason.ROBOTS_UNAVAILABLE, f"robots.txt: {robots.status}")
    return RobotsRules(failure=failure)


def _decode_robots(body: bytes) -> str:
    """UTF-8; bytes that are not are percent-encoded, so that paths in GBK match the URLs they mean."""
    body = body.removeprefix(b"\xef\xbb\xbf")
    try:
        return body.decode("utf-8")
    except UnicodeDecodeError:
        return re.sub(rb"[\x80-\xff]", lambda match: b"%%%02X" % match[0][0], body).decode("ascii")


class RobotsCache:
    """The rules of the origins of one run for the product token `agent`, from memory or the table. `now` gives epoch
    seconds. Used by one thread; never fetches."""

    def __init__(self, table: RobotsTable, agent: str, now: Callable[[], float]) -> None:
        self._table = table
        self._product_token = agent
        self._now = now
        self._cached_rules: dict[str, tuple[float, RobotsRules]] = {}

    def cached_rules(self, origin: Origin) -> RobotsRules | None:
        """The rules in force; None if robots.txt has to be fetched first (see `fetch_robots`, `store`)."""
        if origin not in self._cached_rules:
            robots = self._table.find_robots(origin)
            if robots is not None:
                self._cached_rules[origin] = (
                    robots.fetched_at + CACHE_SECONDS,
                    parse_stored_robots(robots, self._product_token),
                )
        valid_until, rules = self._cached_rules.get(origin, (0.0, None))
        # A clock set back must not keep an old copy for ever.
        return rules if self._now() < valid_until <= self._now() + CACHE_SECONDS else None

    def store(self, answer: RobotsFetch) -> RobotsRules:
        """Take a fresh answer; the rules now in force.

        Failures last for minutes, are not stored, and leave an older copy in force.
        """
        rules = parse_stored_robots(answer.robots_file, self._product_token)
        if rules.failure is None:
            self._table.save_robots(answer.robots_file)
            self._cached_rules[answer.robots_file.origin] = (self._now() + CACHE_SECONDS, rules)
            return rules
        previous = self._table.find_robots(answer.robots_file.origin)
        previous_rules = parse_stored_robots(previous, self._product_token) if previous is not None else rules
        if previous_rules.failure is not None:
            previous_rules = replace(rules, failure=answer.failure or rules.failure)
        self._cached_rules[answer.robots_file.origin] = (self._now() + FAILURE_CACHE_SECONDS, previous_rules)
        return previous_rules


def fetch_robots(
    fetcher: Fetcher, origin: Origin, now: Callable[[], float], wait_before_redirect: Callable[[], None] = lambda: None
) -> RobotsFetch:
    """Ask an origin for its robots.txt, over at most five redirects, with a `wait_before_redirect` before each.

    Never raises for bad answers.
    """
    url = origin + "/robots.txt"
    try:
        for hop in range(_MAX_REDIRECTS + 1):
            if hop:
                wait_before_redirect()
            answer = fetcher.get(
                url, {}, lambda status, _: status in _SUCCESS_STATUSES, MAX_ROBOTS_BYTES, truncate=True
            )
            target = answer.redirect_url
            if target is None or isinstance(target, Reason):
                robots = StoredRobots(origin, _effective_status(answer), answer.body, now())
                return RobotsFetch(robots, responded_at=answer.responded_at)
            url = target
    except FetchError as error:
        return RobotsFetch(StoredRobots(origin, 0, b"", now()), _failure_outcome(error.outcome), error.host_failed)
    return RobotsFetch(StoredRobots(origin, _NOT_FOUND_STATUS, b"", now()))


def _effective_status(answer: HttpResponse) -> int:
    """A redirect to nowhere counts as absent, as RFC 9309 has it for too many of them."""
    return _NOT_FOUND_STATUS if 300 <= answer.status < 400 else answer.status


def _failure_outcome(outcome: Outcome) -> Outcome:
    """A host that cannot be reached is called that; anything else failed the robots.txt alone."""
    if outcome.reason in (Reason.PRIVATE_ADDRESS, Reason.UNREACHABLE):
        return outcome
    return Outcome(Reason.ROBOTS_UNAVAILABLE, f"robots.txt: {outcome.reason} {outcome.detail}"[:300])
