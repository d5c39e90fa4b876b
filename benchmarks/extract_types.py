"""Figures for pages of other types than article: classification, partial bodies, and authors.

The expected result is the one that a search engine needs. A thread, product page or manual page is correct if it is
saved with that type. A collection or list is correct if it is saved as a collection or rejected as a list. Peers have
no page types.
"""

from collections.abc import Iterator, Mapping, Sequence
from types import ModuleType
from typing import Any

from benchmarks.extract_pages import GoldSet, Run
from benchmarks.results import Figure

PAGE_TYPES = "page-types"  # all sets of them together
RIGHT = {
    "forum": ("thread",),
    "documentation": ("reference", "code"),
    "service": ("service",),
    "product": ("product",),
    "collection": ("collection", "list"),
    "listing": ("collection", "list"),
}
FRAGMENT = 0.2  # of the gold text: a body with less of it is a fragment
AUTHOR, TOLD_APART, KEPT_F1, KEPT_FRAGMENT = "author", "told_apart", "f1_kept", "kept_fragment"
Rows = Mapping[str, Sequence[Mapping[str, Any]]]


def type_figures(sets: Sequence[GoldSet], run: Run, rows: Rows, scorer: ModuleType) -> Iterator[Figure]:
    """Yield the figures of one system on the sets with page types, and `kept_fragment` over all of them."""
    answers = {(page["set"], page["id"]): page for page in run.pages}
    fragments: list[bool] = []
    for gold in sets:
        typed = [page for page in gold.pages if page.get("type") in RIGHT]
        if not typed:
            continue
        found = {page["id"]: answers[gold.name, page["id"]] for page in typed}
        scores = {row["id"]: row for row in rows[gold.name]}
        yield from set_figures(gold.name, typed, found, scores, run, scorer)
        fragments += [is_fragment(scores[page["id"]], found[page["id"]]) for page in typed]
    if fragments:
        yield Figure(PAGE_TYPES, run.system.name, KEPT_FRAGMENT, sum(fragments) / len(fragments))


def set_figures(
    name: str,
    pages: Sequence[Mapping[str, Any]],
    answers: Mapping[str, Mapping[str, Any]],
    scores: Mapping[str, Mapping[str, Any]],
    run: Run,
    scorer: ModuleType,
) -> Iterator[Figure]:
    """Yield the figures of one set."""
    system = run.system.name
    named = [page for page in pages if page.get("author")]
    if named:
        right = [scorer.fold(page["author"]) == scorer.fold(answers[page["id"]]["author"]) for page in named]
        yield Figure(name, system, AUTHOR, sum(right) / len(right))
    kept = [scores[page["id"]] for page in pages if answers[page["id"]]["body"]]
    if kept:
        yield Figure(name, system, KEPT_F1, scorer.body_f1([row for row in kept if "p" in row])[2])
    if run.system.is_ours:
        told = [answers[page["id"]]["kind"] in RIGHT[page["type"]] for page in pages]
        yield Figure(name, system, TOLD_APART, sum(told) / len(told))


def is_fragment(score: Mapping[str, Any], answer: Mapping[str, Any]) -> bool:
    """True for a body that contains hardly any gold text and is not marked as uncertain."""
    return bool(answer["body"]) and not answer["marked"] and (score.get("r") or 0.0) < FRAGMENT and "r" in score
