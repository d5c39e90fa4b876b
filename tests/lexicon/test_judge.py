"""The quick judgement of candidates gives what its definition gives."""

import numpy as np
import pytest

from lexicon.counting.count import count_texts
from lexicon.model.classifier import CLIP, CandidateClassifier, Standardizer, crossed
from lexicon.model.features import WordFacts, features
from lexicon.model.learned import shipped_models

TEXTS = {
    "zh": ["碳酸盐储层特征复杂，采用PDC钻头钻进，CO2驱油。", "页岩气储层的评价方法与PDC 钻头的选型，储层特征。"] * 3,
    "en": ["Shale gas wells are drilled; the shale gas reservoir is tight.", "A CO2-rich gas, its state of the art."]
    * 3,
}


@pytest.mark.parametrize("language", ["zh", "en"])
def test_log_odds_by_definition(language: str) -> None:
    model = shipped_models()[language].candidates
    table = count_texts(TEXTS[language], shipped_models())
    rows, words_read = table.rows(), table.words_read
    facts = WordFacts.of(table, language, rows.words)
    columns = features(rows, facts, words_read)
    units = Standardizer.of(columns)
    wide = (crossed(columns, language, units) - model.wide.mean) / model.wide.scale
    expected = np.clip(wide, -CLIP, CLIP) @ model.weights + model.intercept
    found = CandidateClassifier(model, units, facts, words_read).log_odds(rows)
    assert len(found) > 15
    assert found.std() > 0.5
    np.testing.assert_allclose(found, expected, atol=1e-4)
