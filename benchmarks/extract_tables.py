"""Tables of the extraction benchmark."""

from collections.abc import Iterator, Sequence

from rich.table import Table

from benchmarks.extract_lists import ACCURACY, KEPT, REFUSED
from benchmarks.extract_scores import GAIN, GROWTH, PEAK, SPEED
from benchmarks.extract_systems import ABLATION, OURS
from benchmarks.results import Figure

TITLES = {
    "f1": "Body, F1",
    "f1_kept": "Body, F1 of the pages that are kept",
    "word_f1": "Body, F1 of words",
    "p": "Body, precision",
    "r": "Body, recall",
    "title": "Title, exact",
    "title_folded": "Title, but for case, width and punctuation",
    "date": "Date, same day",
    "author": "Author",
    "told_apart": "Kind of page, told right",
    "kept_fragment": "Kept with under a fifth of the text, and not marked",
    SPEED: "Pages per CPU second",
    PEAK: "Peak memory, MB",
    GROWTH: "Growth of memory above the level before the first page, MB",
}
TARGETS = {  # targets of issue 4
    ("zh-pooled", "f1"): 0.96,
    ("zh-pooled", "title"): 0.95,
    ("zh-pooled", "date"): 0.97,
    ("zh-short", "f1"): 0.93,
    ("zh-short", "title"): 0.96,
    ("zh-short", "date"): 0.98,
    ("zh-web", "f1"): 0.955,
    ("zh-web", "title"): 0.85,
    ("zh-web", "date"): 0.92,
    ("en-pooled", "f1"): 0.967,
    ("en-pooled", "title"): 0.88,
    ("en-pooled", "date"): 0.92,
    ("en-aeb", "f1"): 0.975,
    ("date-multi", "date"): 0.95,
    ("en-forum", "f1"): 0.80,
    ("en-forum", "date"): 0.92,
    ("en-documentation", "f1"): 0.93,
    ("en-service", "f1"): 0.84,
    ("en-forum", "author"): 0.85,
}


def tables(figures: Sequence[Figure]) -> Iterator[Table]:
    """Yield one table per metric, then speed comparisons and the comparison with the best peer."""
    for metric, title in TITLES.items():
        yield grid(title, [figure for figure in figures if figure.metric == metric])
    yield speeds(figures)
    yield grid("Ablation: body F1", [f for f in figures if f.metric == "f1" and f.system in ABLATION], order=ABLATION)
    yield best_peers(figures)
    for metric in (ACCURACY, KEPT, REFUSED, GAIN):
        yield grid(metric.replace("_", " ").capitalize(), [figure for figure in figures if figure.metric == metric])


def grid(title: str, figures: Sequence[Figure], order: Sequence[str] = ()) -> Table:
    """Build a table with a row per system and a column per set."""
    sets = list(dict.fromkeys(figure.set for figure in figures))
    values = {(figure.system, figure.set): figure.value for figure in figures}
    table = Table("system", *sets, title=title, title_justify="left")
    found = list(dict.fromkeys(figure.system for figure in figures))
    for system in [name for name in order if name in found] or found:
        table.add_row(system, *(show(values.get((system, name))) for name in sets))
    return table


def speeds(figures: Sequence[Figure]) -> Table:
    """Build a table of our speed relative to each other system."""
    values = {(figure.system, figure.set): figure.value for figure in figures if figure.metric == SPEED}
    times = [
        Figure(name, system, SPEED, values[OURS, name] / value)
        for (system, name), value in values.items()
        if (OURS, name) in values and system != OURS
    ]
    return grid(f"{OURS} speed relative to the others (pages per CPU second)", times)


def best_peers(figures: Sequence[Figure]) -> Table:
    """Build a table of our figure, the best peer and the target for each set."""
    table = Table(
        "set", "metric", "best peer", "its", "ours", "asked", title="Ours and the best peer", title_justify="left"
    )
    for metric in ("f1", "title", "title_folded", "date"):
        for name in dict.fromkeys(figure.set for figure in figures if figure.metric == metric):
            mine = {f.system: f.value for f in figures if f.metric == metric and f.set == name}
            peers = {system: value for system, value in mine.items() if system not in ABLATION}
            best = max(peers, key=lambda system: peers[system], default="")
            asked = TARGETS.get((name, metric))
            ours = show(mine.get(OURS))
            if asked and mine.get(OURS, asked) < asked:
                ours = f"[red]{ours}[/red]"
            table.add_row(name, metric, best, show(peers.get(best)), ours, show(asked))
    return table


def show(value: float | None) -> str:
    """Format shares with three decimals, large numbers with one; "" for None."""
    if value is None:
        return ""
    return f"{value:.3f}" if value <= 1 else f"{value:,.1f}"
