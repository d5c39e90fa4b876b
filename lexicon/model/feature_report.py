"""What speaks for a mined term, in a few numbers that a reviewer can read: the parts of its score."""

from collections.abc import Mapping

import numpy as np

from lexicon.counting.ngram_table import CountedCorpus, NgramRows
from lexicon.model.row_features import WordFeatureArrays, compute_features, feature_names
from lexicon.model.term_model import LANGUAGES

ROWS_PER_BLOCK = 8192  # rows at a time
REPORTED_FEATURES: Mapping[str, str] = {
    "boundaries": "likeliest",
    "left": "entropy left",
    "right": "entropy right",
    "association": "association",
    "independent": "independent",
    "spread": "log documents",
    "specific": "specific",
}
"""Name of a part -> the feature (lexicon/model/row_features.py) that it is.

`boundaries` is the log-probability that the word begins and ends where it does, in its best place; `left` and `right`
are the entropies of what stands beside it, `association` is the mutual information of its words, `independent` the
logarithm of how often it stands outside a longer one, `spread` that of its documents, and `specific` how much more
frequent it is here than in general language.
"""


def score_components(corpus: CountedCorpus, rows: NgramRows) -> list[tuple[tuple[str, float], ...]]:
    """The parts of each row."""
    english = rows.is_english
    parts_by_row: list[tuple[tuple[str, float], ...]] = [()] * len(rows)
    for language in LANGUAGES:
        row_indices = np.flatnonzero(english == (language == "en"))
        if not len(row_indices):
            continue
        word_features, names = (
            WordFeatureArrays.from_corpus(corpus, language, rows.word_ids[:, row_indices]),
            feature_names(language),
        )
        columns = [names.index(feature) for feature in REPORTED_FEATURES.values()]
        for start in range(0, len(row_indices), ROWS_PER_BLOCK):
            block = row_indices[start : start + ROWS_PER_BLOCK]
            values = compute_features(rows.take(block), word_features, corpus.total_words)[:, columns]
            for row, values_of_row in zip(block.tolist(), values.tolist(), strict=True):
                parts_by_row[row] = tuple(zip(REPORTED_FEATURES, values_of_row, strict=True))
    return parts_by_row
