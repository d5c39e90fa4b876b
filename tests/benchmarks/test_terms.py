"""The quality of the miner that `benchmarks/floors.json` holds, on documents it has learnt from and on its recipe."""

import pytest

from benchmarks.results import SHARED, read_floors
from benchmarks.terms_models import count_in_memory, counted_corpus, select_from_table
from benchmarks.terms_sets import known_of, load_scorer, read_sets, score
from lexicon.model.term_model import (
    iter_spellings,
    load_shipped_models,
    rank_rows,
)
from text.folding import word_key

FLOORS = read_floors("terms")


@pytest.mark.shared
@pytest.mark.exhaustive
@pytest.mark.parametrize("name", ["scicn", "cmeee", "petro", "acl_rdtec2"])
def test_shipped_models_hold_their_floors(name: str) -> None:
    one = next(one for one in read_sets(SHARED) if one.name == name)
    table = count_in_memory(one.texts, load_shipped_models())
    rows, scores = rank_rows(load_shipped_models(), select_from_table(table, load_shipped_models()))
    assert (scores[:-1] >= scores[1:]).all()
    found = score(one, list(iter_spellings(counted_corpus(table), rows)), load_scorer(SHARED))
    assert found["AvP"] >= FLOORS[f"{name} avp"]
    assert found["P@100"] >= FLOORS[f"{name} p100"]


@pytest.mark.shared
def test_known_terms_lift_the_others() -> None:
    one = next(one for one in read_sets(SHARED) if one.name == "petro")
    scorer = load_scorer(SHARED)
    table, known = count_in_memory(one.texts, load_shipped_models()), frozenset(map(word_key, known_of(one, scorer)))
    rows, _ = rank_rows(load_shipped_models(), select_from_table(table, load_shipped_models()), known)
    assert score(one, list(iter_spellings(counted_corpus(table), rows)), scorer)["AvP"] >= FLOORS["petro guided avp"]
