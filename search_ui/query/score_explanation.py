"""Explains the score of a document by parts that a reader understands.

Solr explains a score as a tree of sums whose leaves are the scores of single terms in single fields. The leaves are
added up by field (title, body ...) and form (words, character pairs, single characters, phrases). The boost
by authority is a part of its own.
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from search_ui.query.display_text import clean_text
from solr_client import solr_fields
from text.scripts import UNSPACED_SCRIPTS

ExplainNode = Mapping[str, Any]

BAR_STEPS = 20  # steps of a full bar, as in the style sheet
MAX_TERMS = 12
MIN_BOOST = 1e-5  # share of a score; less is an error of Solr's single precision
OTHER_PART = "other"
MEANING = "meaning"

_PART_BY_FIELD: Mapping[str, str] = {
    solr_fields.TITLE: "title_pairs",
    solr_fields.TITLE_CHARS: "title_characters",
    solr_fields.TITLE_DOMAIN: "title_words",
    solr_fields.TITLE_BASE: "title_words",
    solr_fields.BODY: "body_pairs",
    solr_fields.BODY_CHARS: "body_characters",
    solr_fields.BODY_DOMAIN: "body_words",
    solr_fields.BODY_BASE: "body_words",
    solr_fields.TITLE_KEY: "title_whole",
    solr_fields.TITLE_NUMBERS: "title_numbers",
    solr_fields.WORK_ID: "works",
}
AUTHORITY_PART = "authority"
RECENCY_PART = "recency"
PART_NAMES = (
    *dict.fromkeys(_PART_BY_FIELD.values()),
    "title_phrase",
    "body_phrase",
    "all_parts",
    AUTHORITY_PART,
    RECENCY_PART,
    MEANING,
    OTHER_PART,
)

_WEIGHT_RE = re.compile(r"weight\((\w+):(.*) in \d+\)", re.S)
_SYNONYM_WEIGHT_RE = re.compile(r"weight\(Synonym\((\w+):(.*)\) in \d+\)", re.S)
_CONSTANT_SCORE_RE = re.compile(r"ConstantScore\((\w+):.*\)(?:\^[0-9.E-]+)?", re.S)
_ALL_PARTS_RE = re.compile(
    r"ConstantScore\([#+(].*\)(?:\^[0-9.E-]+)?", re.S
)  # of several queries: the document contains all parts
_PHRASE_RE = re.compile(r'"(.*)"(?:~\d+)?', re.S)


@dataclass(frozen=True)
class ScorePart:
    """One part of a score.

    `name` is one of `PART_NAMES`. `percent` is its share of the score, `bar_steps` the share in twentieths (0 only for
    0). `terms` are the matched terms of the query, highest score first.
    """

    name: str
    score: float
    percent: int
    bar_steps: int
    terms: tuple[str, ...]


@dataclass(frozen=True)
class RankExplanation:
    """The parts of a `score`, largest first. There are none if the document does not match."""

    score: float
    parts: tuple[ScorePart, ...]

    @property
    def has_scores(self) -> bool:
        """False for the result of `without_scores`."""
        return self.score > 0 or not self.parts


@dataclass(frozen=True)
class _ScoreLeaf:
    name: str
    term: str
    score: float


def parse_explain(tree: ExplainNode) -> RankExplanation:
    """Parse one entry of Solr's structured `debug.explain`."""
    score = float(tree.get("value", 0.0)) if tree.get("match") else 0.0
    if score <= 0:
        return RankExplanation(0.0, ())
    scores: dict[str, dict[str, float]] = defaultdict(lambda: defaultdict(float))
    for leaf in _iter_leaves(tree):
        scores[leaf.name][leaf.term] += leaf.score
    parts = [_to_score_part(name, terms, score) for name, terms in scores.items()]
    return RankExplanation(score, tuple(sorted(parts, key=lambda part: -part.score)))


def add_semantic_part(explanation: RankExplanation, share: float) -> RankExplanation:
    """Add the semantic part with a `share` of 0 to 1 to a lexical explanation. The other parts are scaled down."""
    if share <= 0:
        return explanation
    score = explanation.score * share / (1 - share) if share < 1 and explanation.parts else 1.0
    word_parts = [
        replace(part, percent=round(part.percent * (1 - share)), bar_steps=-int(-part.bar_steps * (1 - share) // 1))
        for part in explanation.parts
        if share < 1
    ]
    parts = [*word_parts, ScorePart(MEANING, score, round(100 * share), -int(-BAR_STEPS * share // 1), ())]
    return RankExplanation(explanation.score + score, tuple(sorted(parts, key=lambda part: -part.percent)))


def without_scores(explanation: RankExplanation) -> RankExplanation:
    """Return an explanation that only names its parts and their terms, in an order that does not depend on scores.

    Scores depend on how many documents of the index have a word, also of those that a reader does not find.
    """
    parts = [ScorePart(part.name, 0.0, 0, 0, tuple(sorted(part.terms))) for part in explanation.parts]
    return RankExplanation(0.0, tuple(sorted(parts, key=lambda part: part.name)))


def _to_score_part(name: str, terms: Mapping[str, float], total: float) -> ScorePart:
    score = sum(terms.values())
    share = max(0.0, min(1.0, score / total))
    best = [term for term in sorted(terms, key=lambda term: -terms[term]) if term]
    return ScorePart(name, score, round(100 * share), -int(-BAR_STEPS * share // 1), tuple(best[:MAX_TERMS]))


def _iter_leaves(node: ExplainNode) -> Iterator[_ScoreLeaf]:
    """Yield the leaves of `node`. Their scores add up to its value."""
    value, description = float(node.get("value", 0.0)), str(node.get("description", ""))
    details = [child for child in node.get("details", ()) if child.get("match")]
    if leaf := _parse_leaf(description, value):
        yield leaf
    elif description.startswith("sum of") and details:
        for child in details:
            yield from _iter_leaves(child)
    elif description.startswith("max") and details:
        yield from _iter_scaled_leaves(max(details, key=lambda child: float(child.get("value", 0.0))), value)
    elif description.startswith("weight(FunctionScoreQuery(") and (boosted_query := _find_boosted_query(details)):
        yield from _iter_leaves(boosted_query)
        if (boost_share := value - float(boosted_query.get("value", 0.0))) > MIN_BOOST * value:
            yield _ScoreLeaf(AUTHORITY_PART, "", boost_share)
    elif description.startswith("product of") and (texts := [child for child in details if _contains_leaf(child)]):
        yield from _iter_scaled_leaves(texts[0], value)
    else:
        yield _ScoreLeaf(OTHER_PART, "", value)


def _find_boosted_query(details: Sequence[ExplainNode]) -> ExplainNode | None:
    """Return the query that the authority boost multiplies, from the details of the product."""
    products = (child.get("details", ()) for child in details if str(child.get("description")).startswith("product of"))
    return next((texts[0] for parts in products if (texts := [part for part in parts if _contains_leaf(part)])), None)


def _parse_leaf(description: str, value: float) -> _ScoreLeaf | None:
    if constant := _CONSTANT_SCORE_RE.fullmatch(description):
        return _ScoreLeaf(_PART_BY_FIELD.get(constant[1], OTHER_PART), "", value)
    if description.startswith("FunctionQuery(") and solr_fields.PUBLISHED in description:
        return _ScoreLeaf(RECENCY_PART, "", value)
    if _ALL_PARTS_RE.fullmatch(description):
        return _ScoreLeaf("all_parts", "", value)
    match = _SYNONYM_WEIGHT_RE.match(description) or _WEIGHT_RE.match(description)
    if not match:
        return None
    name = _PART_BY_FIELD.get(match[1], OTHER_PART)
    if match[1] == solr_fields.TITLE_KEY:
        return _ScoreLeaf(name, "", value)
    term = match[2].split(" ")[0] if description.startswith("weight(Synonym") else match[2]
    if phrase := _PHRASE_RE.fullmatch(term):
        return _ScoreLeaf(
            "title_phrase" if name.startswith("title") else "body_phrase", _join_dense_scripts(phrase[1]), value
        )
    return _ScoreLeaf(name, clean_text(term), value)


def _join_dense_scripts(phrase: str) -> str:
    """Return the terms of a phrase as text, without spaces between Chinese characters."""
    return re.sub(f"(?<=[{UNSPACED_SCRIPTS}]) (?=[{UNSPACED_SCRIPTS}])", "", clean_text(phrase))


def _contains_leaf(node: ExplainNode) -> bool:
    return bool(_parse_leaf(str(node.get("description", "")), 0.0)) or any(map(_contains_leaf, node.get("details", ())))


def _iter_scaled_leaves(node: ExplainNode, value: float) -> Iterator[_ScoreLeaf]:
    """Yield the leaves of `node`, scaled so that they add up to `value`."""
    leaves = list(_iter_leaves(node))
    total = sum(leaf.score for leaf in leaves)
    for leaf in leaves:
        yield _ScoreLeaf(leaf.name, leaf.term, leaf.score * value / total if total else 0.0)
