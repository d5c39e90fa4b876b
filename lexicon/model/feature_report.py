"""Parts of a term's score: a few numbers that a reviewer can read."""

from collections.abc import Mapping

import numpy as np

from lexicon.counting.ngram_table import CountedCorpus, NgramRows
from lexicon.model.row_features import WordFeatureArrays, compute_features, feature_names
from lexicon.model.term_model import LANGUAGES

ROWS_PER_BLOCK = 8192  # rows computed at a time
REPORTED_FEATURES: Mapping[str, str] = {
    "boundaries": "likeliest",
    "left": "entropy left",
    "right": "entropy right",
    "association": "association",
    "independent": "independent",
    "spread": "log documents",
    "specific": "specific",
}
"""Name of a score part -> its feature (lexicon/model/row_features.py).

boundaries   log-probability of the term's boundaries in its best occurrence
left, right  entropy of the neighbouring words
association  mutual information of its words
independent  logarithm of its frequency outside longer terms
spread       logarithm of its number of documents
specific     log ratio of its frequency in the corpus to general language
"""


def score_components(corpus: CountedCorpus, rows: NgramRows) -> list[tuple[tuple[str, float], ...]]:
    """Return name and value of the score parts of each row."""
    english = rows.is_english
    parts_by_row: list[tuple[tuple[str, float], ...]] = [()] * len(rows)
    for language in LANGUAGES:
        row_indices = np.flatnonzero(english == (language == "en"))
        if not len(row_indices):
            continue
        word_features = WordFeatureArrays.from_corpus(corpus, language, rows.word_ids[:, row_indices])
        columns = [feature_names(language).index(feature) for feature in REPORTED_FEATURES.values()]
        for start in range(0, len(row_indices), ROWS_PER_BLOCK):
            block = row_indices[start : start + ROWS_PER_BLOCK]
            values = compute_features(rows.take(block), word_features, corpus.total_words)[:, columns]
            for row, values_of_row in zip(block.tolist(), values.tolist(), strict=True):
                parts_by_row[row] = tuple(zip(REPORTED_FEATURES, values_of_row, strict=True))
    return parts_by_row
