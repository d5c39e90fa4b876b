"""Collapsing of near-duplicates on the first page, compared with collapsing in Solr."""

from typing import Any

import pytest

from search_ui.query.results import collapse_first_page
from search_ui.query.solr_requests import EXACT_PAGING_HITS


def answer(clusters: str, every: int) -> dict[str, Any]:
    docs = [{"id": f"{cluster}{n}", "cluster": cluster} for n, cluster in enumerate(clusters)]
    return {"response": {"numFound": every, "start": 0, "docs": docs}, "nextCursorMark": "m"}


@pytest.mark.parametrize(
    ("clusters", "every", "shown", "matched"),
    [
        pytest.param("abcde", EXACT_PAGING_HITS * 9, ["a0", "b1", "c2"], EXACT_PAGING_HITS * 9, id="no-copies"),
        pytest.param("abcde", 7, ["a0", "b1", "c2"], 7, id="no-copies-few-hits"),
        pytest.param(
            "aabac", EXACT_PAGING_HITS + 1, ["a0", "b2", "c4"], EXACT_PAGING_HITS - 1, id="the-first-of-each-stays"
        ),
        pytest.param("aaaa", 4, ["a0"], 1, id="all-hits-are-here"),
        pytest.param("", 0, [], 0, id="nothing-found"),
    ],
)
def test_the_first_of_each_cluster_stays(clusters: str, every: int, shown: list[str], matched: int) -> None:
    found = collapse_first_page(answer(clusters, every), 3)
    assert found is not None
    assert [doc["id"] for doc in found["response"]["docs"]] == shown
    assert found["response"]["numFound"] == matched and found["nextCursorMark"] == "m"


@pytest.mark.parametrize(
    ("clusters", "every"),
    [
        pytest.param("aaaab", EXACT_PAGING_HITS * 9, id="too-few-for-the-page"),
        pytest.param("aabcd", EXACT_PAGING_HITS, id="pages-could-not-be-numbered"),
    ],
)
def test_solr_has_to_collapse(clusters: str, every: int) -> None:
    assert collapse_first_page(answer(clusters, every), 3) is None
