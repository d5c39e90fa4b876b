"""What a page asks of crawlers: `meta name=robots`, `X-Robots-Tag`, each for all or for one agent by name."""

import re
from collections.abc import Iterable
from dataclasses import dataclass

_WORD = re.compile(r"[a-z_-]+")
# Directives that carry a value after a colon; any other name before a colon is an agent's.
_WITH_VALUE = frozenset(("unavailable_after", "max-snippet", "max-image-preview", "max-video-preview"))


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


NOTHING_ASKED = Directives()


def directives_of(text: str) -> Directives:
    """What a list like `noindex, nofollow` asks."""
    words = set(_WORD.findall(text.lower()))
    if not words:
        return NOTHING_ASKED
    is_none = "none" in words
    noarchive = not words.isdisjoint(("noarchive", "nocache"))
    return Directives("noindex" in words or is_none, "nofollow" in words or is_none, noarchive)


def header_directives(values: Iterable[str], agent: str = "") -> Directives:
    """What X-Robots-Tag headers ask of `agent`: `nofollow`, or `otherbot: noindex, nofollow`."""
    asked = NOTHING_ASKED
    for value in values:
        ours = True
        for part in value.split(","):
            name, colon, rest = part.partition(":")
            name = name.strip().lower()
            if colon and name not in _WITH_VALUE:
                ours, part = name == agent.lower(), rest
            if ours:
                asked |= directives_of(part.partition(":")[0])
    return asked


def meta_directives(name: str, content: str, agent: str = "") -> Directives:
    """What a `meta` element asks of `agent`; nothing if its name is neither `robots` nor the agent's."""
    return directives_of(content) if name.strip().lower() in ("robots", agent.lower() or "robots") else NOTHING_ASKED
