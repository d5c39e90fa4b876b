"""Make URLs of nonexistent pages, to test whether a site responds to any URL. Pure.

Source: Bar-Yossef et al. 2004, "Sic transit gloria telae", detect soft 404s in this way. The varying parts of a
family's URLs are replaced by similar, improbable text from the same letters and digits: longer numbers and random
words.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from random import Random
from urllib.parse import quote, unquote

from domain.page import Host

PROBES_PER_FAMILY = 3
_MIN_WORD_LETTERS = 6
_EXTRA_DIGITS = 3
_SUFFIX = re.compile(r"\.[A-Za-z]{1,5}\Z")
_SEPARATORS = re.compile(r"([/?&=])")


@dataclass
class FamilyProbe:
    """A probe of one URL family.

    Attributes:
        remaining_urls: probe URLs not yet requested.
        novelty_scores: share of new content of the pages received, 0 to 1.
    """

    host: Host
    family: str
    remaining_urls: list[str]
    novelty_scores: list[float] = field(default_factory=list)


def make_probe_urls(urls: Sequence[str], rng: Random) -> list[str]:
    """Make URLs of the family of `urls` that cannot exist."""
    origin, paths = "/".join(urls[0].split("/", 3)[:3]), [_SEPARATORS.split(url.split("/", 3)[3]) for url in urls]
    same_shape_paths = [parts for parts in paths if len(parts) == len(paths[0])]
    # If no position varies: the last part that is neither empty nor a separator.
    varying_positions = [
        position for position in range(len(paths[0])) if len({parts[position] for parts in same_shape_paths}) > 1
    ] or [max((position for position, part in enumerate(paths[0]) if position % 2 == 0 and part), default=0)]
    probe_urls: dict[str, None] = {}
    for _ in range(PROBES_PER_FAMILY):
        parts = list(rng.choice(same_shape_paths))
        for position in varying_positions:
            parts[position] = _random_lookalike(
                [candidate_parts[position] for candidate_parts in same_shape_paths], rng
            )
        probe_urls[f"{origin}/{''.join(parts)}"] = None
    return list(probe_urls)


def _random_lookalike(examples: Sequence[str], rng: Random) -> str:
    """Make text that resembles the given examples of one position."""
    texts = [unquote(part) for part in examples if part] or ["x"]
    model = rng.choice(texts)
    suffix = _SUFFIX.search(model)
    stem, end = (model[: suffix.start()], suffix[0]) if suffix else (model, "")
    letters = [char for text in texts for char in _SUFFIX.sub("", text) if char.isalpha()]
    stem_text = "".join(_random_char_like(char, letters, rng) for char in stem)
    if letters:
        stem_text += "".join(rng.choice(letters) for _ in range(_MIN_WORD_LETTERS - len(stem_text)))
    else:
        stem_text += "".join(rng.choice("123456789") for _ in range(_EXTRA_DIGITS))
    return quote(stem_text + end)


def _random_char_like(char: str, letters: Sequence[str], rng: Random) -> str:
    if char.isdigit():
        return rng.choice("123456789")
    return rng.choice(letters) if char.isalpha() else char
