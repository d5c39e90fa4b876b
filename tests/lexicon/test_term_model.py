"""The quick judgement of candidates gives what its definition gives."""

import numpy as np
import pytest

from benchmarks.terms_models import count_in_memory, counted_corpus, expand_features
from lexicon.model.classifier import MAX_STANDARD_SCORE, CandidateClassifier, Standardizer
from lexicon.model.row_features import WordFeatureArrays, compute_features
from lexicon.model.term_model import load_shipped_models

TEXTS = {
    "zh": ["碳酸盐储层特征复杂，采用PDC钻头钻进，CO2驱油。", "页岩气储层的评价方法与PDC 钻头的选型，储层特征。"] * 3,
    "en": ["Shale gas wells are drilled; the shale gas reservoir is tight.", "A CO2-rich gas, its state of the art."]
    * 3,
}


@pytest.mark.parametrize("language", ["zh", "en"])
def test_log_odds_by_definition(language: str) -> None:
    model = load_shipped_models()[language].candidate_model
    table = count_in_memory(TEXTS[language], load_shipped_models())
    rows, words_read = table.rows(), counted_corpus(table).total_words
    facts = WordFeatureArrays.from_corpus(counted_corpus(table), language, rows.word_ids)
    columns = compute_features(rows, facts, words_read)
    units = Standardizer.from_rows(columns)
    wide = (expand_features(columns, language, units) - model.expanded_scaler.mean) / model.expanded_scaler.scale
    expected = np.clip(wide, -MAX_STANDARD_SCORE, MAX_STANDARD_SCORE) @ model.weights + model.intercept
    found = CandidateClassifier(model, units, facts, words_read).log_odds(rows)
    assert len(found) > 15
    assert found.std() > 0.5
    np.testing.assert_allclose(found, expected, atol=1e-4)
