"""Figures from answers: the scorer's result for each page, by set and pooled."""

from collections.abc import Iterator, Mapping, Sequence
from types import ModuleType
from typing import Any

from benchmarks.extract_pages import GoldSet, Run
from benchmarks.extract_types import type_figures
from benchmarks.results import Figure

POOLED = {
    "zh-pooled": ("zh-news", "zh-web", "zh-netease"),
    "en-pooled": ("en-aeb", "en-fundus", "en-wcxb"),
}
ALL = "all"
QUALITY = {
    "p": "P",
    "r": "R",
    "f1": "F1",
    "word_f1": "bagF1",
    "title": "title",
    "title_folded": "title~",
    "date": "date",
}
PEAK, GROWTH, ERRORS = "peak_mb", "growth_mb", "errors"
Rows = Mapping[str, Sequence[dict[str, Any]]]


def judge_pages(sets: Sequence[GoldSet], run: Run, scorer: ModuleType) -> Rows:
    """Return the scorer's row for each page, by set."""
    gold = {(found.name, page["id"]): page for found in sets for page in found.pages}
    rows: dict[str, list[dict[str, Any]]] = {found.name: [] for found in sets}
    for page in run.pages:
        rows[page["set"]].append(scorer.judge(gold[page["set"], page["id"]], page, page["error"] or None))
    return rows


def groups(names: Sequence[str]) -> Iterator[tuple[str, list[str]]]:
    """Return each set, then each pooled group with its available sets."""
    for name in names:
        yield name, [name]
    for pool, members in POOLED.items():
        present = [name for name in members if name in names]
        if present:
            yield pool, present


def score(sets: Sequence[GoldSet], run: Run, scorer: ModuleType) -> Iterator[Figure]:
    """Return the figures of one system.

    A pooled figure is computed over the pages of its sets together, not as a mean of means.
    """
    names = [found.name for found in sets]
    rows = judge_pages(sets, run, scorer)
    for group, members in groups(names):
        found = scorer.summary([row for name in members for row in rows[name]], 0, run.system.gives, rounds=0)
        for metric, key in QUALITY.items():
            if found[key] is not None:
                yield Figure(group, run.system.name, metric, found[key])
    yield from type_figures(sets, run, rows, scorer)
    for group, members in [*groups(names), (ALL, names)]:
        peak = max(run.peak_mb[name] for name in members)
        yield Figure(group, run.system.name, PEAK, peak)
        yield Figure(group, run.system.name, GROWTH, max(0.0, peak - run.start_mb))
    yield Figure(ALL, run.system.name, ERRORS, len(run.errors))
