"""What a page asks of crawlers: `meta name=robots`, `X-Robots-Tag`, each for all or for one agent by name."""

import re
from collections.abc import Iterable
from dataclasses import dataclass

_WORD = re.compile(r"[a-z_-]+")
# Directives that carry a value after a colon; any other name before a colon is an agent's.
_VALUE_DIRECTIVES = frozenset(("unavailable_after", "max-snippet", "max-image-preview", "max-video-preview"))


@dataclass(frozen=True)
class Directives:
    """`noindex`: do not show the page; `nofollow`: do not follow its links; `noarchive` (to some `nocache`): show no
    copy of it. What anyone asks holds."""

    noindex: bool = False
    nofollow: bool = False
    noarchive: bool = False

    def __or__(self, other: "Directives") -> "Directives":
        noarchive = self.noarchive or other.noarchive
        return Directives(self.noindex or other.noindex, self.nofollow or other.nofollow, noarchive)


NO_DIRECTIVES = Directives()


def parse_directives(text: str) -> Directives:
    """What a list like `noindex, nofollow` asks."""
    words = set(_WORD.findall(text.lower()))
    if not words:
        return NO_DIRECTIVES
    is_none = "none" in words
    noarchive = not words.isdisjoint(("noarchive", "nocache"))
    return Directives("noindex" in words or is_none, "nofollow" in words or is_none, noarchive)


def parse_x_robots_tag(values: Iterable[str], agent: str = "") -> Directives:
    """What X-Robots-Tag headers ask of `agent`: `nofollow`, or `otherbot: noindex, nofollow`."""
    directives = NO_DIRECTIVES
    for value in values:
        is_for_us = True
        for part in value.split(","):
            name, colon, remainder = part.partition(":")
            name = name.strip().lower()
            if colon and name not in _VALUE_DIRECTIVES:
                is_for_us, part = name == agent.lower(), remainder
            if is_for_us:
                directives |= parse_directives(part.partition(":")[0])
    return directives


def parse_meta_robots(name: str, content: str, agent: str = "") -> Directives:
    """What a `meta` element asks of `agent`; nothing if its name is neither `robots` nor the agent's."""
    return parse_directives(content) if name.strip().lower() in ("robots", agent.lower() or "robots") else NO_DIRECTIVES
