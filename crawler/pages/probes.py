"""Pages that cannot exist: asked of a site to learn whether it has an answer for everything (Bar-Yossef et al. 2004,
"Sic transit gloria telae", who find soft 404s so). Pure.

What varies in a family is replaced by something that looks alike, from the letters and digits that stand there, and is
most improbable: longer numbers, words of random letters.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from random import Random
from urllib.parse import quote, unquote

from docstore.model import Host

PROBES = 3
_MIN_LETTERS = 6
_MORE_DIGITS = 3
_SUFFIX = re.compile(r"\.[A-Za-z]{1,5}\Z")
_SEPARATORS = re.compile(r"([/?&=])")


@dataclass
class Probing:
    """A family of a host that is being asked about: `others` to ask for yet, and of those that came the parts of their
    pages that were new."""

    host: Host
    family: str
    others: list[str]
    shares: list[float] = field(default_factory=list)


def probes_of(urls: Sequence[str], rng: Random) -> list[str]:
    """URLs of the family of `urls` that cannot exist."""
    origin, paths = "/".join(urls[0].split("/", 3)[:3]), [_SEPARATORS.split(url.split("/", 3)[3]) for url in urls]
    alike = [parts for parts in paths if len(parts) == len(paths[0])]
    varying = [at for at in range(len(paths[0])) if len({parts[at] for parts in alike}) > 1] or [_last(paths[0])]
    found: dict[str, None] = {}
    for _ in range(PROBES):
        parts = list(rng.choice(alike))
        for at in varying:
            parts[at] = _unlikely([one[at] for one in alike], rng)
        found[f"{origin}/{''.join(parts)}"] = None
    return list(found)


def _last(parts: Sequence[str]) -> int:
    """The place of the last part that is none of the separators."""
    return max((at for at, one in enumerate(parts) if at % 2 == 0 and one), default=0)


def _unlikely(seen: Sequence[str], rng: Random) -> str:
    """Something that looks like those seen at this place."""
    texts = [unquote(one) for one in seen if one] or ["x"]
    model = rng.choice(texts)
    suffix = _SUFFIX.search(model)
    stem, end = (model[: suffix.start()], suffix[0]) if suffix else (model, "")
    letters = [char for text in texts for char in _SUFFIX.sub("", text) if char.isalpha()]
    made = "".join(_alike(char, letters, rng) for char in stem)
    if letters:
        made += "".join(rng.choice(letters) for _ in range(_MIN_LETTERS - len(made)))
    else:
        made += "".join(rng.choice("123456789") for _ in range(_MORE_DIGITS))
    return quote(made + end)


def _alike(char: str, letters: Sequence[str], rng: Random) -> str:
    if char.isdigit():
        return rng.choice("123456789")
    return rng.choice(letters) if char.isalpha() else char
