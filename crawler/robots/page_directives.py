"""Robots directives of a page: `meta name=robots` and `X-Robots-Tag`, for all agents or for a named agent."""

import re
from collections.abc import Iterable
from dataclasses import dataclass

_WORD = re.compile(r"[a-z_-]+")
# Directives with a value after a colon. Any other name before a colon is an agent.
_VALUE_DIRECTIVES = frozenset(("unavailable_after", "max-snippet", "max-image-preview", "max-video-preview"))


@dataclass(frozen=True)
class Directives:
    """Directives of a page. They are combined with OR: the strictest applies.

    Attributes:
        noindex: do not show the page.
        nofollow: do not follow its links.
        noarchive: show no saved copy. Also set by `nocache`.
    """

    noindex: bool = False
    nofollow: bool = False
    noarchive: bool = False

    def __or__(self, other: "Directives") -> "Directives":
        noarchive = self.noarchive or other.noarchive
        return Directives(self.noindex or other.noindex, self.nofollow or other.nofollow, noarchive)


NO_DIRECTIVES = Directives()


def parse_directives(text: str) -> Directives:
    """Parse the robots directives of a page, such as `noindex, nofollow`. Unknown words are ignored."""
    words = set(_WORD.findall(text.lower()))
    if not words:
        return NO_DIRECTIVES
    is_none = "none" in words
    noarchive = not words.isdisjoint(("noarchive", "nocache"))
    return Directives("noindex" in words or is_none, "nofollow" in words or is_none, noarchive)


def parse_x_robots_tag(values: Iterable[str], agent: str = "") -> Directives:
    """Parse X-Robots-Tag headers for `agent`: `nofollow`, or `otherbot: noindex, nofollow`."""
    directives = NO_DIRECTIVES
    for value in values:
        is_for_agent = True
        for part in value.split(","):
            name, colon, remainder = part.partition(":")
            name = name.strip().lower()
            if colon and name not in _VALUE_DIRECTIVES:
                is_for_agent, part = name == agent.lower(), remainder
            if is_for_agent:
                directives |= parse_directives(part.partition(":")[0])
    return directives


def parse_meta_robots(name: str, content: str, agent: str = "") -> Directives:
    """Parse a `meta` element for `agent`. Returns no directives if its name is neither `robots` nor the agent."""
    return parse_directives(content) if name.strip().lower() in ("robots", agent.lower() or "robots") else NO_DIRECTIVES
