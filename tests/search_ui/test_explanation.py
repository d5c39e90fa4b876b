"""Parsing of Solr's score explanation."""

from typing import Any

import pytest

from search_ui.query.score_explanation import ScorePart, parse_explain


def node(value: float, said: str, *details: dict[str, Any], match: bool = True) -> dict[str, Any]:
    return {"match": match, "value": value, "description": said, "details": list(details)}


def leaf(field: str, term: str, value: float) -> dict[str, Any]:
    return node(value, f"weight({field}:{term} in 7) [SchemaSimilarity], result of:", node(1.0, "idf, computed as"))


def test_leaves_are_added_up_by_place_and_form() -> None:
    tree = node(
        10.0,
        "sum of:",
        node(6.0, "sum of:", leaf("body", "页岩", 2.0), leaf("body", "岩气", 4.0)),
        node(1.0, "sum of:", leaf("title_chars", "页", 1.0)),
        leaf("title_chars", '"页 岩 气 shale gas"', 3.0),
    )
    why = parse_explain(tree)
    assert why.score == 10.0
    assert why.parts == (
        ScorePart("body_pairs", 6.0, 60, 12, ("岩气", "页岩")),
        ScorePart("title_phrase", 3.0, 30, 6, ("页岩气 shale gas",)),
        ScorePart("title_characters", 1.0, 10, 2, ("页",)),
    )


@pytest.mark.parametrize(
    ("tree", "parts"),
    [
        pytest.param(
            node(5.0, "max of:", leaf("title", "a", 2.0), leaf("body", "a", 5.0)),
            [("body_pairs", 5.0)],
            id="the-better-field",
        ),
        pytest.param(
            node(
                8.0,
                "product of:",
                node(4.0, "sum of:", leaf("body", "a", 3.0), leaf("title", "a", 1.0)),
                node(2.0, "x"),
            ),
            [("body_pairs", 6.0), ("title_pairs", 2.0)],
            id="a-boost-stretches-its-parts",
        ),
        pytest.param(
            node(3.0, "sum of:", leaf("body", "a", 2.0), node(1.0, "FunctionQuery(recip(ms))")),
            [("body_pairs", 2.0), ("other", 1.0)],
            id="what-is-no-text",
        ),
        pytest.param(
            node(3.0, "weight(Synonym(body_domain:油 body_domain:石油) in 2) [SchemaSimilarity]"),
            [("body_words", 3.0)],
            id="synonyms",
        ),
        pytest.param(
            node(3.0, "sum of:", leaf("body", "a", 3.0), node(9.0, "weight(title:b in 1)", match=False)),
            [("body_pairs", 3.0)],
            id="what-did-not-match-is-left-out",
        ),
        pytest.param(
            node(5.0, "sum of:", leaf("body", "a", 3.0), node(2.0, "ConstantScore(work:00112233aabbccdd)^2.0")),
            [("body_pairs", 3.0), ("works", 2.0)],
            id="the-work-it-is-part-of",
        ),
        pytest.param(
            node(
                6.0,
                "weight(FunctionScoreQuery(body:a, scored by boost(sum(...)))), result of:",
                node(6.0, "product of:", node(4.0, "sum of:", leaf("body", "a", 4.0)), node(1.5, "sum(const(1),...)")),
            ),
            [("body_pairs", 4.0), ("authority", 2.0)],
            id="who-is-cited",
        ),
        pytest.param(
            node(
                4.0,
                "weight(FunctionScoreQuery(body:a, scored by boost(sum(...)))), result of:",
                node(4.0, "product of:", leaf("body", "a", 4.0), node(1.0, "sum(const(1),...)")),
            ),
            [("body_pairs", 4.0)],
            id="who-is-not-cited",
        ),
        pytest.param(node(2.0, "weight(anchors:a in 2) [X]"), [("other", 2.0)], id="an-unknown-field"),
        pytest.param(node(0.0, "no match", match=False), [], id="no-match"),
        pytest.param({}, [], id="nothing"),
    ],
)
def test_trees(tree: dict[str, Any], parts: list[tuple[str, float]]) -> None:
    assert [(part.name, part.score) for part in parse_explain(tree).parts] == parts


def test_the_smallest_part_still_shows() -> None:
    why = parse_explain(node(1000.0, "sum of:", leaf("body", "a", 999.0), leaf("title", "a", 1.0)))
    assert [(part.percent, part.bar_steps) for part in why.parts] == [(100, 20), (0, 1)]
