"""Fetch and cache robots.txt per origin, by RFC 9309. `crawler.robots.robots_txt` parses the files.

4xx, except 429        everything is allowed
429, 5xx, no response  an older copy applies; without one everything is forbidden until the next attempt
over 500 KiB           the rest is ignored, and with it the line that is cut
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Protocol

from crawler.http.fetch import Fetcher, FetchError, FetchResult
from crawler.robots.robots_txt import RobotsTxt, parse_robots_txt
from domain.frontier import StoredRobots
from domain.message import Message
from domain.outcome import Outcome, Reason
from domain.page import Origin

MAX_ROBOTS_BYTES = 500 * 1024  # RFC 9309, 2.5
CACHE_SECONDS = 24 * 3600.0  # RFC 9309, 2.4
FAILURE_CACHE_SECONDS = 600.0
MAX_CRAWL_DELAY_SECONDS = 60.0
FORBIDDING_CRAWL_DELAY_SECONDS = 86_400.0  # a site that wants to be left alone for more than a day is not crawled
_MAX_REDIRECTS = 5  # RFC 9309, 2.3.1.2
_SUCCESS_STATUSES = range(200, 300)
_NOT_FOUND_STATUS = 404
_TOO_MANY_REQUESTS_STATUS = 429
_FETCHED = FetchResult(Outcome(Reason.FETCHED))


class RobotsTable(Protocol):
    """Stores robots.txt files between runs."""

    def find_robots(self, origin: Origin) -> StoredRobots | None:
        """Return the stored file of an origin, or None."""

    def save_robots(self, robots: StoredRobots) -> None:
        """Store the robots.txt file of an origin."""


@dataclass(frozen=True)
class RobotsRules:
    """The rules of one origin for this crawler.

    `failure` is set if robots.txt could not be fetched. Then every URL of the origin is forbidden.
    """

    robots_txt: RobotsTxt = field(default_factory=RobotsTxt)
    failure: Outcome | None = None

    def rejection_outcome(self, url: str) -> Outcome | None:
        """Return why the URL must not be fetched, or None if it may be: robots.txt forbids it or is unavailable."""
        if self.failure is not None:
            return self.failure
        delay = self.robots_txt.crawl_delay or 0.0
        if delay > FORBIDDING_CRAWL_DELAY_SECONDS:
            text = Message("Crawl-delay: {seconds} seconds", seconds=f"{delay:g}")
            return Outcome(Reason.ROBOTS_FORBIDDEN, text)
        return None if self.robots_txt.allows(url) else Outcome(Reason.ROBOTS_FORBIDDEN)

    @property
    def crawl_delay(self) -> float:
        """Crawl-delay in seconds, at most 60. It is 0 if none is set."""
        return min(self.robots_txt.crawl_delay or 0.0, MAX_CRAWL_DELAY_SECONDS)

    @property
    def sitemaps(self) -> tuple[str, ...]:
        """URLs of the declared sitemaps, as written."""
        return self.robots_txt.sitemaps


@dataclass(frozen=True)
class RobotsFetch:
    """The result of a robots.txt request. `failure` is set if there was no usable response.

    `fetch_result` is the result of the first request; redirects are requests of their own.
    """

    robots_file: StoredRobots
    failure: Outcome | None = None
    fetch_result: FetchResult = _FETCHED


def parse_stored_robots(robots: StoredRobots, agent: str) -> RobotsRules:
    """Parse a stored robots.txt for the product token `agent`."""
    if robots.status in _SUCCESS_STATUSES:
        body = robots.body
        if len(body) > MAX_ROBOTS_BYTES:
            body = body[: max(body.rfind(b"\n", 0, MAX_ROBOTS_BYTES), body.rfind(b"\r", 0, MAX_ROBOTS_BYTES), 0)]
        return RobotsRules(parse_robots_txt(_decode_robots(body), agent))
    if 400 <= robots.status < 500 and robots.status != _TOO_MANY_REQUESTS_STATUS:
        return RobotsRules()
    message = Message("robots.txt: status {status}", status=str(robots.status))
    return RobotsRules(failure=Outcome(Reason.ROBOTS_UNAVAILABLE, message))


def _decode_robots(body: bytes) -> str:
    """Decode as UTF-8. Percent-encode the bytes of other encodings, so that GBK paths match the URLs of the site."""
    body = body.removeprefix(b"\xef\xbb\xbf")
    try:
        return body.decode("utf-8")
    except UnicodeDecodeError:
        return re.sub(rb"[\x80-\xff]", lambda match: b"%%%02X" % match[0][0], body).decode("ascii")


class RobotsCache:
    """The rules of the origins of one run, from memory or the table. Used by one thread. Never fetches.

    Args:
        table: stores robots.txt files between runs.
        agent: product token.
        now: returns epoch seconds.
    """

    def __init__(self, table: RobotsTable, agent: str, now: Callable[[], float]) -> None:
        self._table = table
        self._product_token = agent
        self._now = now
        self._cached_rules: dict[str, tuple[float, RobotsRules]] = {}

    def cached_rules(self, origin: Origin) -> RobotsRules | None:
        """Return the current rules, or None if robots.txt must be fetched first (see `fetch_robots`, `store`)."""
        if origin not in self._cached_rules:
            robots = self._table.find_robots(origin)
            rules = parse_stored_robots(robots, self._product_token) if robots is not None else None
            if robots is not None and rules is not None and rules.failure is None:  # older versions stored a 429
                self._cached_rules[origin] = (robots.fetched_at + CACHE_SECONDS, rules)
        valid_until, rules = self._cached_rules.get(origin, (0.0, None))
        # A clock that was set back must not extend an old copy.
        return rules if self._now() < valid_until <= self._now() + CACHE_SECONDS else None

    def store(self, robots_fetch: RobotsFetch) -> RobotsRules:
        """Store a fetched robots.txt and return the rules that now apply.

        Failures are cached for 10 minutes, are not stored, and leave an older copy valid.
        """
        rules = parse_stored_robots(robots_fetch.robots_file, self._product_token)
        if rules.failure is None:
            self._table.save_robots(robots_fetch.robots_file)
            self._cached_rules[robots_fetch.robots_file.origin] = (self._now() + CACHE_SECONDS, rules)
            return rules
        previous = self._table.find_robots(robots_fetch.robots_file.origin)
        previous_rules = parse_stored_robots(previous, self._product_token) if previous is not None else rules
        if previous_rules.failure is not None:
            previous_rules = replace(rules, failure=robots_fetch.failure or rules.failure)
        self._cached_rules[robots_fetch.robots_file.origin] = (self._now() + FAILURE_CACHE_SECONDS, previous_rules)
        return previous_rules


def fetch_robots(
    fetcher: Fetcher, origin: Origin, now: Callable[[], float], redirect_fetcher: Fetcher | None = None
) -> RobotsFetch:
    """Fetch the robots.txt of an origin, over at most five redirects. HTTP errors never raise.

    `redirect_fetcher` (default: `fetcher`) sends the requests after the first.
    """
    url, result = origin + "/robots.txt", _FETCHED
    for hop in range(_MAX_REDIRECTS + 1):
        current_fetcher = redirect_fetcher if hop and redirect_fetcher else fetcher
        try:
            response = current_fetcher.get(
                url, {}, lambda code, _: code in _SUCCESS_STATUSES, MAX_ROBOTS_BYTES + 1, True
            )
        except FetchError as error:
            failure, result = _failure_outcome(error.outcome), result if hop else error.fetch_result
            return RobotsFetch(StoredRobots(origin, 0, b"", now()), failure, result)
        result, target = result if hop else response.file_result(now()), response.redirect_url
        if target is None or isinstance(target, Reason):
            # RFC 9309: a redirect without a valid target, or one redirect too many, counts as 404.
            status = _NOT_FOUND_STATUS if 300 <= response.status < 400 else response.status
            return RobotsFetch(StoredRobots(origin, status, response.body, now()), None, result)
        url = target
    return RobotsFetch(StoredRobots(origin, _NOT_FOUND_STATUS, b"", now()), None, result)


def _failure_outcome(outcome: Outcome) -> Outcome:
    """Convert a fetch failure to a robots.txt failure. An unreachable or private host keeps its own reason."""
    if outcome.reason in (Reason.PRIVATE_ADDRESS, Reason.UNREACHABLE):
        return outcome
    message = Message("robots.txt: {cause}", cause=outcome.summary)
    return Outcome(Reason.ROBOTS_UNAVAILABLE, message)
