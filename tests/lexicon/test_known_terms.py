"""Known terms guide the ranking of the others."""

import numpy as np
import pytest

from benchmarks.terms_models import count_in_memory, counted_corpus, select_from_table
from lexicon.counting.corpus import InMemoryCorpus
from lexicon.known_terms import MIN_KNOWN_TERMS, log_lift
from lexicon.mining import mine_terms
from lexicon.model.term_model import iter_spellings, load_shipped_models, rank_rows
from lexicon.settings import LexiconSettings

KINDS = ["石油", "天然", "地热", "海洋", "陆地", "超深", "双分支", "致密", "酸性", "稠油", "低渗", "高压", "断块"]
KINDS += ["裂缝", "页岩", "砂岩"]
TEXTS = [
    *(f"本文研究{kind}井的钻进，并讨论了{kind}箱的结构。" for kind in KINDS),
    *(f"对{kind}井和{kind}箱进行了分析。" for kind in KINDS),
]
SEEDS = [f"{kind}井" for kind in KINDS[2:]]


def probabilities(seeds: list[str]) -> dict[str, float]:
    """Each candidate's."""
    table = count_in_memory(TEXTS, load_shipped_models())
    rows, scores = rank_rows(load_shipped_models(), select_from_table(table, load_shipped_models()), frozenset(seeds))
    return dict(zip(iter_spellings(counted_corpus(table), rows), scores.tolist(), strict=True))


def test_what_seeds_have_in_common_speaks_for_others() -> None:
    alone, guided = probabilities([]), probabilities(SEEDS)
    assert alone.keys() == guided.keys()
    for kind in KINDS[:2]:
        before, after = (found[f"{kind}井"] / found[f"{kind}箱"] for found in (alone, guided))
        assert after > 1.5 * before


def test_the_miner_is_given_them_as_they_are_written() -> None:
    texts, settings = InMemoryCorpus(("", text) for text in TEXTS), LexiconSettings(probability=0.0)
    alone = {term.text: term.score for term in mine_terms(texts, settings)}
    guided = {term.text: term.score for term in mine_terms(texts, settings, known_terms=SEEDS)}
    assert guided["石油井"] / guided["石油箱"] > 1.5 * alone["石油井"] / alone["石油箱"]


@pytest.mark.parametrize(
    "seeds", [SEEDS[: MIN_KNOWN_TERMS - 1], ["没有出现的词"] * 50], ids=["few", "not in the texts"]
)
def test_too_few_seeds_change_nothing(seeds: list[str]) -> None:
    assert probabilities(seeds) == probabilities([])


def test_lift_by_hand() -> None:
    group = np.array([5, 5, 5, 9])
    found = log_lift(group, np.array([1.0, 0.0, 0.0, 0.0]), np.array([0.5, 0.5, 0.5, 0.5]), seed_rate=0.5)
    # A row does not count itself: the seed has no other beside it, the two others have it; the last is alone.
    assert found == pytest.approx([np.log(1 / 1.5), np.log(2 / 1.5), np.log(2 / 1.5), 0.0])
