"""Fusion of lexical hits and neighbours, and of two lists of related articles."""

from typing import Any

from search_ui.query.semantic.hybrid import SIMILARITY_FIELD, QueryVector, fuse
from search_ui.services.articles import drop_distant, fuse_by_rank, more_like_this_params, nearest_articles_params

VECTOR = QueryVector("m", "m_v256", (1, -2), min_cosine=0.5)


def answer(names: str, score: float = 1.0) -> dict[str, Any]:
    docs = [{"id": f"{name}{n}", "cluster": name, "score": score} for n, name in enumerate(names)]
    return {"response": {"numFound": len(docs), "docs": docs}}


def names(found: Any) -> str:
    return "".join(doc["cluster"] for doc in found["response"]["docs"])


def test_what_both_find_comes_first_and_each_cluster_once() -> None:
    assert names(fuse_by_rank([answer("abc"), answer("dcb")], 9)) == "bcad"
    assert names(fuse_by_rank([answer("abca"), answer("")], 9)) == "abc"
    assert fuse_by_rank([answer("aab")], 9)["response"]["docs"][0]["id"] == "a0"
    assert names(fuse_by_rank([answer("abcdef"), {}], 2)) == "ab"
    assert names(fuse_by_rank([], 2)) == ""


def test_the_nearest_have_to_be_near() -> None:
    assert names(drop_distant(answer("ab", score=0.75), VECTOR)) == "ab"  # a cosine of .5
    assert names(drop_distant(answer("ab", score=0.74), VECTOR)) == ""
    assert names(drop_distant({}, VECTOR)) == ""


def test_copies_and_the_series_are_left_out_of_both() -> None:
    for params in (
        more_like_this_params("x", "copies", "series", ["id"]),
        nearest_articles_params(VECTOR, "copies", "series", ["id"]),
    ):
        named = dict(params)
        assert named["cluster"] == "copies" and named["series"] == "series"
        assert named["copies"].startswith("{!term f=cluster") and named["members"].startswith("{!term f=series")
    assert dict(nearest_articles_params(VECTOR, "c", "s", ["id"]))["vector"] == "[1,-2]"


def test_a_document_without_a_vector_keeps_its_lexical_rank() -> None:
    lexical = answer("abcdefgh")
    for doc in lexical["response"]["docs"]:
        has_vector = doc["cluster"] in "beh"
        doc |= {"score": 9.0 - "abcdefgh".index(doc["cluster"]), SIMILARITY_FIELD: 0.9 if has_vector else 0.0}
    near = {"response": {"docs": [{"id": name, "cluster": name, "score": 0.95} for name in "xhe"]}}
    fused = [candidate.doc["cluster"] for candidate in fuse(lexical, near, VECTOR, 50.0, 9, 8).entries]
    assert [name for name in fused if name in "acdfg"] == list("acdfg")
    assert [fused.index(name) for name in "acdfg"] == ["abcdefgh".index(name) for name in "acdfg"]


def test_neighbours_are_used_in_the_share_of_documents_with_a_vector() -> None:
    def added(coverage: float) -> int:
        docs = [{"id": f"d{n}", "cluster": f"d{n}", "score": 1.0} for n in range(20)]
        docs = [doc | {SIMILARITY_FIELD: 0.9 if n < 20 * coverage else 0.0} for n, doc in enumerate(docs)]
        near = [{"id": f"n{n}", "cluster": f"n{n}", "score": 0.9} for n in range(100)]
        fused = fuse({"response": {"docs": docs}}, {"response": {"docs": near}}, VECTOR, 1.0, 200, 20)
        return sum(candidate.is_semantic_only for candidate in fused.entries)

    assert [added(coverage) for coverage in (0.0, 0.05, 0.5, 1.0)] == [0, 5, 50, 100]
