"""robots.txt by RFC 9309, per origin.

A 4xx allows everything, a 5xx or no answer forbids everything until it can be read again; an older copy stays in
force while a new one cannot be had. What the lines mean is in `crawler.robots.rules`.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Protocol

from crawler.http.fetch import Answer, Fetcher, FetchError
from crawler.robots.rules import RobotsTxt, parse
from docstore.frontier.table import StoredRobots
from docstore.model import Origin, Outcome, Reason

LARGEST = 500 * 1024  # RFC 9309, 2.5
KEPT = 24 * 3600.0  # RFC 9309, 2.4
KEPT_FAILURE = 600.0
LONGEST_DELAY = 60.0
_MAX_HOPS = 5  # RFC 9309, 2.3.1.2
_OK = range(200, 300)
_ABSENT = 404


class RobotsTable(Protocol):
    """Where robots.txt files are kept between runs."""

    def robots(self, origin: Origin) -> StoredRobots | None:
        """As last fetched."""

    def save_robots(self, fetched: StoredRobots) -> None:
        """Keep it."""


@dataclass(frozen=True)
class RobotsRules:
    """What one origin's robots.txt says to us; a `failure` forbids everything."""

    said: RobotsTxt = field(default_factory=RobotsTxt)
    failure: Outcome | None = None

    def refuse(self, url: str) -> Outcome | None:
        """Why the URL must not be fetched; None if it may be."""
        if self.failure is not None:
            return self.failure
        return None if self.said.allows(url) else Outcome(Reason.ROBOTS_FORBIDDEN)

    @property
    def delay(self) -> float:
        """Crawl-delay in seconds, at most a minute; 0 without one."""
        return min(self.said.crawl_delay or 0.0, LONGEST_DELAY)

    @property
    def sitemaps(self) -> tuple[str, ...]:
        """The URLs of sitemaps that it names, as it writes them."""
        return self.said.sitemaps


@dataclass(frozen=True)
class RobotsAnswer:
    """What asking for a robots.txt led to: the file, with a `failure` if there was no answer to go by."""

    stored: StoredRobots
    failure: Outcome | None = None
    host_failed: bool = False
    answered_at: float | None = None


def product_token(user_agent: str) -> str:
    """The name that robots.txt groups are matched with: `Plumbline` of `Plumbline/0.1`."""
    match = re.match(r"[\w-]+", user_agent)
    return match[0] if match else user_agent


def rules_of(stored: StoredRobots, agent: str) -> RobotsRules:
    """The rules in a stored robots.txt, for the product token `agent`."""
    if stored.status in _OK:
        return RobotsRules(parse(_text(stored.body[:LARGEST]), agent))
    failure = None if 400 <= stored.status < 500 else Outcome(Reason.ROBOTS_UNAVAILABLE, f"robots.txt: {stored.status}")
    return RobotsRules(failure=failure)


def _text(body: bytes) -> str:
    """UTF-8; bytes that are not are percent-encoded, so that paths in GBK match the URLs they mean."""
    body = body.removeprefix(b"\xef\xbb\xbf")
    try:
        return body.decode("utf-8")
    except UnicodeDecodeError:
        return re.sub(rb"[\x80-\xff]", lambda match: b"%%%02X" % match[0][0], body).decode("ascii")


class Robots:
    """The rules of the origins of one run for the product token `agent`, from memory or the table. `now` gives epoch
    seconds. Used by one thread; never fetches."""

    def __init__(self, table: RobotsTable, agent: str, now: Callable[[], float]) -> None:
        self._table = table
        self._agent = agent
        self._now = now
        self._rules: dict[str, tuple[float, RobotsRules]] = {}

    def rules(self, origin: Origin) -> RobotsRules | None:
        """The rules in force; None if robots.txt has to be fetched first (see `fetch_robots`, `learn`)."""
        if origin not in self._rules:
            stored = self._table.robots(origin)
            if stored is not None:
                self._rules[origin] = (stored.fetched_at + KEPT, rules_of(stored, self._agent))
        until, rules = self._rules.get(origin, (0.0, None))
        # A clock set back must not keep an old copy for ever.
        return rules if self._now() < until <= self._now() + KEPT else None

    def learn(self, answer: RobotsAnswer) -> RobotsRules:
        """Take a fresh answer; the rules now in force.

        Failures last for minutes, are not stored, and leave an older copy in force.
        """
        rules = rules_of(answer.stored, self._agent)
        if rules.failure is None:
            self._table.save_robots(answer.stored)
            self._rules[answer.stored.origin] = (self._now() + KEPT, rules)
            return rules
        old = self._table.robots(answer.stored.origin)
        older = rules_of(old, self._agent) if old is not None else rules
        if older.failure is not None:
            older = replace(rules, failure=answer.failure or rules.failure)
        self._rules[answer.stored.origin] = (self._now() + KEPT_FAILURE, older)
        return older


def fetch_robots(
    fetcher: Fetcher, origin: Origin, now: Callable[[], float], pause: Callable[[], None] = lambda: None
) -> RobotsAnswer:
    """Ask an origin for its robots.txt, over at most five redirects, with a `pause` before each.

    Never raises for bad answers.
    """
    url = origin + "/robots.txt"
    try:
        for hop in range(_MAX_HOPS + 1):
            if hop:
                pause()
            answer = fetcher.ask(url, {}, lambda status, _: status in _OK, LARGEST, cut=True)
            target = answer.target
            if target is None or isinstance(target, Reason):
                stored = StoredRobots(origin, _status(answer), answer.body, now())
                return RobotsAnswer(stored, answered_at=answer.answered_at)
            url = target
    except FetchError as error:
        return RobotsAnswer(StoredRobots(origin, 0, b"", now()), _failure(error.outcome), error.host_failed)
    return RobotsAnswer(StoredRobots(origin, _ABSENT, b"", now()))


def _status(answer: Answer) -> int:
    """A redirect to nowhere counts as absent, as RFC 9309 has it for too many of them."""
    return _ABSENT if 300 <= answer.status < 400 else answer.status


def _failure(outcome: Outcome) -> Outcome:
    """A host that cannot be reached is called that; anything else failed the robots.txt alone."""
    if outcome.reason in (Reason.INSIDE_ADDRESS, Reason.UNREACHABLE):
        return outcome
    return Outcome(Reason.ROBOTS_UNAVAILABLE, f"robots.txt: {outcome.reason} {outcome.detail}"[:300])
