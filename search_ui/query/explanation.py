"""Why a document is where it is: Solr's explanation of one score, added up by what a reader can understand. Pure.

Solr explains a score as a tree: sums of sums, and at the leaves what one term of one field is worth. The leaves are
added up by place (title, body, heading ...) and form (words, pairs of characters, single characters, a phrase). What a
factor by authority adds to their sum is a part of its own.
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from docstore import fields
from search_ui.query.texts import shown
from text.scripts import DENSE

Node = Mapping[str, Any]

BAR = 20  # a full bar, in the steps that the style sheet knows
MAX_TERMS = 12
OTHER = "other"
MEANING = "meaning"

_PARTS: Mapping[str, str] = {
    fields.TITLE: "title_pairs",
    fields.TITLE_CHARS: "title_characters",
    fields.TITLE_DOMAIN: "title_words",
    fields.TITLE_BASE: "title_words",
    fields.BODY: "body_pairs",
    fields.BODY_CHARS: "body_characters",
    fields.BODY_DOMAIN: "body_words",
    fields.BODY_BASE: "body_words",
    fields.TITLE_KEY: "title_whole",
    fields.TITLE_NUMBERS: "title_numbers",
    fields.HEADINGS: "headings",
    fields.WORK: "works",
}
AUTHORITY = "authority"
PARTS = (*dict.fromkeys(_PARTS.values()), "title_phrase", "body_phrase", "all_parts", AUTHORITY, MEANING, OTHER)

_LEAF = re.compile(r"weight\((\w+):(.*) in \d+\)", re.S)
_SYNONYMS = re.compile(r"weight\(Synonym\((\w+):(.*)\) in \d+\)", re.S)
_CONSTANT = re.compile(r"ConstantScore\((\w+):.*\)(?:\^[0-9.E-]+)?", re.S)
_ALL_PARTS = re.compile(r"ConstantScore\([#+(].*\)(?:\^[0-9.E-]+)?", re.S)  # of several queries: all parts are held
_PHRASE = re.compile(r'"(.*)"(?:~\d+)?', re.S)


@dataclass(frozen=True)
class ScorePart:
    """One summand: `name` is one of `PARTS`, `percent` its share of the whole, `bar` the same in twentieths (0 only
    for 0), `terms` what of the query was found there, what is worth most first.
    """

    name: str
    score: float
    percent: int
    bar: int
    terms: tuple[str, ...]


@dataclass(frozen=True)
class RankExplanation:
    """The parts of a `score`, the largest first; none where the document does not match."""

    score: float
    parts: tuple[ScorePart, ...]


@dataclass(frozen=True)
class _Leaf:
    name: str
    term: str
    score: float


def explained(tree: Node) -> RankExplanation:
    """Read one entry of Solr's `debug.explain` (structured)."""
    score = float(tree.get("value", 0.0)) if tree.get("match") else 0.0
    if score <= 0:
        return RankExplanation(0.0, ())
    scores: dict[str, dict[str, float]] = defaultdict(lambda: defaultdict(float))
    for leaf in _leaves(tree):
        scores[leaf.name][leaf.term] += leaf.score
    parts = [_part(name, terms, score) for name, terms in scores.items()]
    return RankExplanation(score, tuple(sorted(parts, key=lambda part: -part.score)))


def with_meaning(found: RankExplanation, share: float) -> RankExplanation:
    """An explanation of words in which meaning has a `share` (0 to 1) of the place; the parts of the words have the
    rest."""
    if share <= 0:
        return found
    score = found.score * share / (1 - share) if share < 1 and found.parts else 1.0
    rest = [
        replace(part, percent=round(part.percent * (1 - share)), bar=-int(-part.bar * (1 - share) // 1))
        for part in found.parts
        if share < 1
    ]
    parts = [*rest, ScorePart(MEANING, score, round(100 * share), -int(-BAR * share // 1), ())]
    return RankExplanation(found.score + score, tuple(sorted(parts, key=lambda part: -part.percent)))


def _part(name: str, terms: Mapping[str, float], whole: float) -> ScorePart:
    score = sum(terms.values())
    share = max(0.0, min(1.0, score / whole))
    best = [term for term in sorted(terms, key=lambda term: -terms[term]) if term]
    return ScorePart(name, score, round(100 * share), -int(-BAR * share // 1), tuple(best[:MAX_TERMS]))


def _leaves(node: Node) -> Iterator[_Leaf]:
    """What the value of `node` consists of; the leaves add up to it."""
    value, said = float(node.get("value", 0.0)), str(node.get("description", ""))
    details = [child for child in node.get("details", ()) if child.get("match")]
    if leaf := _leaf(said, value):
        yield leaf
    elif said.startswith("sum of") and details:
        for child in details:
            yield from _leaves(child)
    elif said.startswith("max") and details:
        yield from _scaled(max(details, key=lambda child: float(child.get("value", 0.0))), value)
    elif said.startswith("weight(FunctionScoreQuery(") and (boosted := _boosted(details)):
        yield from _leaves(boosted)
        if (added := value - float(boosted.get("value", 0.0))) > 0:
            yield _Leaf(AUTHORITY, "", added)
    elif said.startswith("product of") and (texts := [child for child in details if _has_text(child)]):
        yield from _scaled(texts[0], value)
    else:
        yield _Leaf(OTHER, "", value)


def _boosted(details: Sequence[Node]) -> Node | None:
    """What is multiplied by authority, in the node of the product."""
    products = (child.get("details", ()) for child in details if str(child.get("description")).startswith("product of"))
    return next((texts[0] for parts in products if (texts := [part for part in parts if _has_text(part)])), None)


def _leaf(said: str, value: float) -> _Leaf | None:
    if constant := _CONSTANT.fullmatch(said):
        return _Leaf(_PARTS.get(constant[1], OTHER), "", value)
    if _ALL_PARTS.fullmatch(said):
        return _Leaf("all_parts", "", value)
    found = _SYNONYMS.match(said) or _LEAF.match(said)
    if not found:
        return None
    name = _PARTS.get(found[1], OTHER)
    if found[1] == fields.TITLE_KEY:
        return _Leaf(name, "", value)
    term = found[2].split(" ")[0] if said.startswith("weight(Synonym") else found[2]
    if phrase := _PHRASE.fullmatch(term):
        return _Leaf("title_phrase" if name.startswith("title") else "body_phrase", _unspaced(phrase[1]), value)
    return _Leaf(name, shown(term), value)


def _unspaced(phrase: str) -> str:
    """Terms of a phrase as they stood: Chinese characters without blanks between them."""
    return re.sub(f"(?<=[{DENSE}]) (?=[{DENSE}])", "", shown(phrase))


def _has_text(node: Node) -> bool:
    return bool(_leaf(str(node.get("description", "")), 0.0)) or any(map(_has_text, node.get("details", ())))


def _scaled(node: Node, value: float) -> Iterator[_Leaf]:
    """The leaves of `node`, made larger or smaller until they add up to `value`."""
    leaves = list(_leaves(node))
    whole = sum(leaf.score for leaf in leaves)
    for leaf in leaves:
        yield _Leaf(leaf.name, leaf.term, leaf.score * value / whole if whole else 0.0)
