"""What a page asks of crawlers: `meta name=robots`, `X-Robots-Tag`, each for all or for one agent by name."""

import re
from collections.abc import Iterable
from dataclasses import dataclass

_WORD = re.compile(r"[a-z_-]+")
# Directives that carry a value after a colon; any other name before a colon is an agent's.
_WITH_VALUE = frozenset(("unavailable_after", "max-snippet", "max-image-preview", "max-video-preview"))


@dataclass(frozen=True)
class Directives:
    """`noindex`: do not show the page; `nofollow`: do not follow its links. What anyone asks holds."""

    noindex: bool = False
    nofollow: bool = False

    def __or__(self, other: "Directives") -> "Directives":
        return Directives(self.noindex or other.noindex, self.nofollow or other.nofollow)


NOTHING_ASKED = Directives()


def directives_of(text: str) -> Directives:
    """What a list like `noindex, nofollow` asks."""
    words = set(_WORD.findall(text.lower()))
    if not words:
        return NOTHING_ASKED
    return Directives("noindex" in words or "none" in words, "nofollow" in words or "none" in words)


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
