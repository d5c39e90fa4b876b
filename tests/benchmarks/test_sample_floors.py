"""The floors of quality on a small sample of each data set: what `make test` measures in seconds.

The floors on whole sets are `exhaustive` tests of test_extract.py, test_documents.py and test_terms.py. The sample of
the part `search` is in test_search.py, for it takes a Solr.
"""

from functools import cache

import pytest

from benchmarks.results import SHARED, FloorError, check_floors, read_floors, sample
from benchmarks.sample_floors import MARGIN, PARTS, SHARE_MARGIN, floor, floors_of

NAMES = [(part, name) for part in PARTS if part != "search" for name in read_floors(f"{part} sample")]


@cache
def measured(part: str) -> dict[str, float]:
    """Our figures on the sample, measured once."""
    return PARTS[part](SHARED)


@pytest.mark.shared
@pytest.mark.slow
@pytest.mark.parametrize(("part", "name"), NAMES, ids=map(" ".join, NAMES))
@pytest.mark.always
def test_sample_is_above_its_floor(part: str, name: str) -> None:
    assert measured(part)[name] >= read_floors(f"{part} sample")[name]


def test_every_floor_of_a_whole_set_has_one_on_a_sample() -> None:
    """Except what takes a Go compiler, a seed dictionary, a lexicon, a model, the only garbled file or minutes."""
    for part in PARTS:
        missing = read_floors(part).keys() - read_floors(f"{part} sample").keys()
        assert missing <= {
            *("crawlbench list_accuracy", "petro guided avp", "compare mrr_domain"),
            *("en_cran with meaning ndcg10", "garbled noticed"),
            *("typos corrected_first", "typos_present corrected_first"),
            *("auto ndcg_gain", "auto precision_en", "auto precision_zh"),
            *("bursts found_in_2_days", "bursts held_out_in_2_days"),
        }


def test_sample_does_not_depend_on_the_order() -> None:
    names = [f"page-{number}" for number in range(50)]
    chosen = sample(names, 5, str)
    assert len(chosen) == 5 and chosen == sorted(chosen, key=names.index)
    assert set(sample(names[::-1], 5, str)) == set(chosen)
    assert sample(names, 100, str) == names


def test_floor_is_the_value_less_a_margin() -> None:
    assert floor("en-aeb f1", 0.95) == pytest.approx(0.95 - MARGIN, abs=0.0011)
    assert floor("en-aeb title", 0.95) == pytest.approx(0.95 - SHARE_MARGIN, abs=0.0011)
    assert floor("en-pooled title", 0.95) == pytest.approx(0.95 - MARGIN, abs=0.0011)
    assert floors_of("documents", {"all f1": 0.01, "pdf f1": 0.9}) == {"all f1": 0.0}


def test_value_below_its_floor_is_named() -> None:
    floors = read_floors("documents")
    check_floors("documents", floors | {"a metric without a floor": 0.0})
    with pytest.raises(FloorError, match=r"all title 0\.100 < 0\.72"):
        check_floors("documents", floors | {"all title": 0.1})
