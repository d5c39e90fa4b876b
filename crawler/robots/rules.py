"""What a robots.txt says: RFC 9309, read as leniently as google/robotstxt reads it.

    User-agent: a            a group: the agents it is for, then its rules
    Disallow: /x*.php$       `*` is any text, a final `$` the end of the URL
    Allow: /x/y              the longest pattern that matches decides, and at the same length the one that allows
    Crawl-delay: 2           seconds, for the agents of the group
    Sitemap: http://...      for everybody

The rules for an agent are those of all groups that name it, or without such a group those of all groups for `*`.
"""

import re
from dataclasses import dataclass, field
from functools import cached_property

from crawler.urls.canonical import spelled

_LONGEST_LINE = 16_664  # bytes of a line that google/robotstxt reads
_LINE = re.compile(r"[ \t]*([^:\s]+(?:[ \t]+[^:\s]+)?)[ \t]*(?::|[ \t])[ \t]*(.*)")
_KEYS = {
    "agent": ("user-agent", "useragent", "user agent"),
    "allow": ("allow",),
    "disallow": ("disallow", "dissallow", "dissalow", "disalow", "diasllow", "disallaw"),
    "sitemap": ("sitemap", "site-map"),
    "delay": ("crawl-delay", "crawldelay"),
}
_TOKEN = re.compile(r"[\w-]+")
_PATH = re.compile(r"(?:[A-Za-z][A-Za-z0-9+.\-]*:)?(?://[^/?#;]*)?([^#]*)")
_INDEX = re.compile(r"(.*/)index\.htm[^/]*")
_MAX_SITEMAPS = 1000


@dataclass
class _Group:
    """The rules for one name: patterns that allow, patterns that disallow, and a delay."""

    allow: list[str] = field(default_factory=list)
    disallow: list[str] = field(default_factory=list)
    delay: str = ""


@dataclass(frozen=True)
class RobotsTxt:
    """The rules of one robots.txt for one agent; patterns are spelled as `path_of` spells paths."""

    allow: tuple[str, ...] = ()
    disallow: tuple[str, ...] = ()
    crawl_delay: float | None = None
    sitemaps: tuple[str, ...] = ()

    def allows(self, url: str) -> bool:
        """May the URL (or path) be fetched?"""
        path = path_of(url)
        rules = self._rules
        bound = rules.longest_literal(path)
        for length, allowed, pattern, start in rules.wild:
            if bound is not None and (length, allowed) <= bound:
                break
            if path.startswith(start) and matches(path, pattern):
                return allowed
        return bound is None or bound[1]

    @cached_property
    def _rules(self) -> "_Sorted":
        return _Sorted.of(self.allow, self.disallow)


@dataclass(frozen=True)
class _Sorted:
    """Patterns ready for matching: literal ones by length, so that a thousand cost no more than a few; wild ones
    longest first, each with what comes before its first wildcard."""

    literal: tuple[tuple[int, dict[str, bool]], ...]
    wild: tuple[tuple[int, bool, str, str], ...]

    @classmethod
    def of(cls, allow: tuple[str, ...], disallow: tuple[str, ...]) -> "_Sorted":
        literal: dict[int, dict[str, bool]] = {}
        wild: set[tuple[int, bool, str, str]] = set()
        for allowed, patterns in ((False, disallow), (True, allow)):  # what allows comes last and wins
            for pattern in patterns:
                if "*" in pattern or pattern.endswith("$"):
                    wild.add((len(pattern), allowed, pattern, re.split(r"[*$]", pattern, maxsplit=1)[0]))
                elif pattern:
                    literal.setdefault(len(pattern), {})[pattern] = allowed
        return cls(tuple(sorted(literal.items(), reverse=True)), tuple(sorted(wild, reverse=True)))

    def longest_literal(self, path: str) -> tuple[int, bool] | None:
        """Length and verdict of the longest literal pattern that the path begins with."""
        for length, patterns in self.literal:
            if (allowed := patterns.get(path[:length])) is not None:
                return length, allowed
        return None


def path_of(url: str) -> str:
    """Path and query of a URL, spelled one way: what patterns are held against."""
    match = _PATH.match(url)
    path = match[1] if match else ""
    return _literal(spelled(path if path.startswith("/") else "/" + path))


def matches(path: str, pattern: str) -> bool:
    """Does the path begin with the pattern, with `*` for any text and a final `$` for the end?"""
    ends = pattern.endswith("$")
    first, *others = (pattern[:-1] if ends else pattern).split("*")
    if not path.startswith(first):
        return False
    at = len(first)
    last = others.pop() if ends and others else None
    for part in others:
        at = path.find(part, at)
        if at < 0:
            return False
        at += len(part)
    if not ends:
        return True
    return at == len(path) if last is None else len(path) - len(last) >= at and path.endswith(last)


def parse(text: str, agent: str) -> RobotsTxt:
    """The rules of a robots.txt for the product token `agent`."""
    reading = _Reading(agent.lower())
    for line in re.split(r"\r\n|\n|\r", text.removeprefix("\ufeff")):
        match = _LINE.match(line[:_LONGEST_LINE].partition("#")[0].rstrip())
        if match is not None:
            reading.take(match[1].lower(), match[2].strip())
    return reading.result()


class _Reading:
    """A robots.txt in the course of being read, for one agent (in small letters)."""

    def __init__(self, agent: str) -> None:
        self._agent = agent
        self._own, self._everybody = _Group(), _Group()
        self._own_named = False
        self._open: list[_Group] = []  # the groups that the present rules are for
        self._rules_began = False
        self._sitemaps: dict[str, None] = {}

    def take(self, key: str, value: str) -> None:
        """One line."""
        kind = _kind(key)
        if kind == "agent":
            self._name(value)
        elif kind == "delay":
            for group in self._open:
                group.delay = group.delay or value
        elif kind in ("allow", "disallow"):
            self._rules_began = True
            self._rule(kind == "allow", value)
        elif kind and value and len(self._sitemaps) < _MAX_SITEMAPS:
            self._sitemaps[value] = None

    def _name(self, value: str) -> None:
        if self._rules_began:
            self._open, self._rules_began = [], False
        token = _TOKEN.match(value)
        if value == "*" or value.startswith(("* ", "*\t")):
            self._open.append(self._everybody)
        elif token is not None and token[0].lower() == self._agent:
            self._own_named = True
            self._open.append(self._own)

    def _rule(self, allowed: bool, value: str) -> None:
        patterns = [_spelled_pattern(value)] if value else []
        index = _INDEX.fullmatch(value) if allowed else None
        if index is not None:  # who allows /index.html means / as well
            patterns.append(_spelled_pattern(index[1]) + "$")
        for group in self._open:
            (group.allow if allowed else group.disallow).extend(patterns)

    def result(self) -> RobotsTxt:
        """What was read."""
        group = self._own if self._own_named else self._everybody
        return RobotsTxt(tuple(group.allow), tuple(group.disallow), _seconds(group.delay), tuple(self._sitemaps))


def _kind(key: str) -> str:
    return next((kind for kind, names in _KEYS.items() if key.startswith(names)), "")


def _spelled_pattern(pattern: str) -> str:
    """As `path_of` spells it, but for what has a meaning in patterns: `*` anywhere, `$` at the end.

    Who forgets the slash at the beginning means it.
    """
    pattern = pattern if pattern[0] in "/*$" else "/" + pattern
    bare, end = (pattern[:-1], "$") if pattern.endswith("$") else (pattern, "")
    return "*".join(_literal(spelled(part)) for part in re.split(r"\*+", bare)) + end


def _literal(text: str) -> str:
    """RFC 9309, 2.2.3: `%24` in a pattern is a dollar of the URL, `%2A` an asterisk."""
    return text.replace("$", "%24").replace("*", "%2A")


def _seconds(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if 0 <= value < float("inf") else None
