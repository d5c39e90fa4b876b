"""What speaks for a mined term, in a few numbers that a reviewer can read: the parts of its score."""

from collections.abc import Mapping

import numpy as np

from lexicon.counting.ngrams import Counted, Rows
from lexicon.model.features import WordFacts, feature_names, features
from lexicon.model.learned import LANGUAGES

BLOCK = 8192  # rows at a time
PARTS: Mapping[str, str] = {
    "boundaries": "likeliest",
    "left": "entropy left",
    "right": "entropy right",
    "association": "association",
    "independent": "independent",
    "spread": "log documents",
    "specific": "specific",
}
"""Name of a part -> the feature (lexicon/model/features.py) that it is.

`boundaries` is the log-probability that the word begins and ends where it does, in its best place; `left` and `right`
are the entropies of what stands beside it, `association` is the mutual information of its words, `independent` the
logarithm of how often it stands outside a longer one, `spread` that of its documents, and `specific` how much more
frequent it is here than in general language.
"""


def parts_of(counted: Counted, rows: Rows) -> list[tuple[tuple[str, float], ...]]:
    """The parts of each row."""
    english = rows.is_english
    found: list[tuple[tuple[str, float], ...]] = [()] * len(rows)
    for language in LANGUAGES:
        which = np.flatnonzero(english == (language == "en"))
        if not len(which):
            continue
        facts, names = WordFacts.of(counted, language, rows.words[:, which]), feature_names(language)
        columns = [names.index(feature) for feature in PARTS.values()]
        for at in range(0, len(which), BLOCK):
            block = which[at : at + BLOCK]
            values = features(rows.take(block), facts, counted.words_read)[:, columns]
            for row, numbers in zip(block.tolist(), values.tolist(), strict=True):
                found[row] = tuple(zip(PARTS, numbers, strict=True))
    return found
