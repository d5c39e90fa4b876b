"""Parse robots.txt by RFC 9309, as leniently as google/robotstxt.

    User-agent: a            a group: its agents, then its rules
    Disallow: /x*.php$       `*` is any text, a final `$` the end of the URL
    Allow: /x/y              the longest matching pattern decides; at equal length, Allow wins
    Crawl-delay: 2           seconds, for the agents of the group
    Sitemap: http://...      for all agents

The rules for an agent come from all groups that name it. Without such a group, they come from all groups for `*`.
"""

import re
from dataclasses import dataclass, field
from functools import cached_property

from crawler.urls.canonical import normalize_escapes

_MAX_LINE_CHARS = 16_664  # google/robotstxt reads this many bytes of a line
_LINE = re.compile(r"[ \t]*([^:\s]+(?:[ \t]+[^:\s]+)?)[ \t]*(?::|[ \t])[ \t]*(.*)")
_KEY_PREFIXES_BY_KIND = {
    "agent": ("user-agent", "useragent", "user agent"),
    "allow": ("allow",),
    "disallow": ("disallow", "dissallow", "dissalow", "disalow", "diasllow", "disallaw"),
    "sitemap": ("sitemap", "site-map"),
    "delay": ("crawl-delay", "crawldelay"),
}
_TOKEN = re.compile(r"[\w-]+")
_PATH = re.compile(r"(?:[A-Za-z][A-Za-z0-9+.\-]*:)?(?://[^/?#;]*)?([^#]*)")
_INDEX_PATTERN = re.compile(r"(.*/)index\.htm[^/]*")
_MAX_SITEMAPS = 1000


@dataclass
class _Group:
    """The rules of one agent: allow patterns, disallow patterns and crawl delay."""

    allow: list[str] = field(default_factory=list)
    disallow: list[str] = field(default_factory=list)
    delay: str = ""


@dataclass(frozen=True)
class RobotsTxt:
    """The rules of one robots.txt for one agent. Patterns are normalized like paths (`normalize_path`)."""

    allow: tuple[str, ...] = ()
    disallow: tuple[str, ...] = ()
    crawl_delay: float | None = None
    sitemaps: tuple[str, ...] = ()

    def allows(self, url: str) -> bool:
        """True if the URL or path may be fetched."""
        path = normalize_path(url)
        rules = self._compiled_rules
        best_literal = rules.longest_literal(path)
        for length, allowed, pattern, start in rules.wildcard_rules:
            if best_literal is not None and (length, allowed) <= best_literal:
                break
            if path.startswith(start) and matches_pattern(path, pattern):
                return allowed
        return best_literal is None or best_literal[1]

    @cached_property
    def _compiled_rules(self) -> "_CompiledRules":
        return _CompiledRules.from_patterns(self.allow, self.disallow)


@dataclass(frozen=True)
class _CompiledRules:
    """Patterns prepared for matching.

    Attributes:
        literal_by_length: length -> patterns without wildcards, so that the cost does not grow with their number.
        wildcard_rules: (length, allowed, pattern, prefix before the first wildcard), longest first.
    """

    literal_by_length: tuple[tuple[int, dict[str, bool]], ...]
    wildcard_rules: tuple[tuple[int, bool, str, str], ...]

    @classmethod
    def from_patterns(cls, allow: tuple[str, ...], disallow: tuple[str, ...]) -> "_CompiledRules":
        literal: dict[int, dict[str, bool]] = {}
        wild: set[tuple[int, bool, str, str]] = set()
        for allowed, patterns in ((False, disallow), (True, allow)):  # Allow comes last and wins
            for pattern in patterns:
                if "*" in pattern or pattern.endswith("$"):
                    wild.add((len(pattern), allowed, pattern, re.split(r"[*$]", pattern, maxsplit=1)[0]))
                elif pattern:
                    literal.setdefault(len(pattern), {})[pattern] = allowed
        return cls(tuple(sorted(literal.items(), reverse=True)), tuple(sorted(wild, reverse=True)))

    def longest_literal(self, path: str) -> tuple[int, bool] | None:
        """Return the length and decision of the longest literal pattern that the path begins with."""
        for length, patterns in self.literal_by_length:
            if (allowed := patterns.get(path[:length])) is not None:
                return length, allowed
        return None


def normalize_path(url: str) -> str:
    """Return path and query of a URL, normalized for comparison with patterns."""
    match = _PATH.match(url)
    path = match[1] if match else ""
    return _escape_wildcards(normalize_escapes(path if path.startswith("/") else "/" + path))


def matches_pattern(path: str, pattern: str) -> bool:
    """True if the path begins with the pattern. `*` matches any text, a final `$` the end of the path."""
    is_anchored = pattern.endswith("$")
    first, *remaining_parts = (pattern[:-1] if is_anchored else pattern).split("*")
    if not path.startswith(first):
        return False
    position = len(first)
    required_suffix = remaining_parts.pop() if is_anchored and remaining_parts else None
    for part in remaining_parts:
        position = path.find(part, position)
        if position < 0:
            return False
        position += len(part)
    if not is_anchored:
        return True
    return (
        position == len(path)
        if required_suffix is None
        else len(path) - len(required_suffix) >= position and path.endswith(required_suffix)
    )


def parse_robots_txt(text: str, agent: str) -> RobotsTxt:
    """Parse a robots.txt for the product token `agent`."""
    parser = _RobotsParser(agent.lower())
    for line in re.split(r"\r\n|\n|\r", text.removeprefix("\ufeff")):
        match = _LINE.match(line[:_MAX_LINE_CHARS].partition("#")[0].rstrip())
        if match is not None:
            parser.add_line(match[1].lower(), match[2].strip())
    return parser.result()


class _RobotsParser:
    """Parses a robots.txt line by line for one agent (lower case)."""

    def __init__(self, agent: str) -> None:
        self._product_token = agent
        self._agent_group, self._wildcard_group = _Group(), _Group()
        self._has_agent_group = False
        self._current_groups: list[_Group] = []  # groups of the current rules
        self._has_rules_in_group = False
        self._sitemaps: dict[str, None] = {}

    def add_line(self, key: str, value: str) -> None:
        """Process one line of a robots.txt file."""
        kind = next((kind for kind, names in _KEY_PREFIXES_BY_KIND.items() if key.startswith(names)), "")
        if kind == "agent":
            if self._has_rules_in_group:
                self._current_groups, self._has_rules_in_group = [], False
            token = _TOKEN.match(value)
            if value == "*" or value.startswith(("* ", "*\t")):
                self._current_groups.append(self._wildcard_group)
            elif token is not None and token[0].lower() == self._product_token:
                self._has_agent_group = True
                self._current_groups.append(self._agent_group)
        elif kind == "delay":
            for group in self._current_groups:
                group.delay = group.delay or value
        elif kind in ("allow", "disallow"):
            self._has_rules_in_group = True
            self._add_rule(kind == "allow", value)
        elif kind and value and len(self._sitemaps) < _MAX_SITEMAPS:
            self._sitemaps[value] = None

    def _add_rule(self, allowed: bool, value: str) -> None:
        patterns = [_normalize_pattern(value)] if value else []
        index = _INDEX_PATTERN.fullmatch(value) if allowed else None
        if index is not None:  # Allow: /index.html also allows /
            patterns.append(_normalize_pattern(index[1]) + "$")
        for group in self._current_groups:
            (group.allow if allowed else group.disallow).extend(patterns)

    def result(self) -> RobotsTxt:
        """Return the rules of all lines so far."""
        group = self._agent_group if self._has_agent_group else self._wildcard_group
        return RobotsTxt(tuple(group.allow), tuple(group.disallow), _parse_delay(group.delay), tuple(self._sitemaps))


def _normalize_pattern(pattern: str) -> str:
    """Normalize a pattern like a path, but keep `*` and a final `$`. Adds a missing slash at the beginning."""
    pattern = pattern if pattern[0] in "/*$" else "/" + pattern
    body, end = (pattern[:-1], "$") if pattern.endswith("$") else (pattern, "")
    return "*".join(_escape_wildcards(normalize_escapes(part)) for part in re.split(r"\*+", body)) + end


def _escape_wildcards(text: str) -> str:
    """Escape `$` and `*` of a URL, which are wildcards in patterns (RFC 9309, 2.2.3)."""
    return text.replace("$", "%24").replace("*", "%2A")


def _parse_delay(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if value >= 0 else None


def product_token(user_agent: str) -> str:
    """Return the name that selects a robots.txt group: `Plumbline` of `Plumbline/0.1`."""
    match = re.match(r"[\w-]+", user_agent)
    return match[0] if match else user_agent
