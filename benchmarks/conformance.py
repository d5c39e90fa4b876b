"""Agreement of the crawler's rules with the test suites of other projects: `make bench-conformance [DATA=DIR]`.

Each case is `same`, differs `by rule` (on purpose; a rule inspects the case and lists no rows), or is a `miss`. With
`--write` the table, rules and misses go to docs/background/crawl-conformance.md.
"""

import gzip
import json
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

import click

from benchmarks.command import benchmark, data_option
from benchmarks.conformance_suites import SUITES, Check, Verdict
from benchmarks.results import Figure, publish
from domain.errors import PlumblineError

PAGE = Path(__file__).resolve().parents[1] / "docs" / "background" / "crawl-conformance.md"
_HEAD = """# Crawl conformance

This page compares the crawler with the test suites of other projects. `make bench-conformance ARGS=--write` makes it
from the cases in the data folder. A case is *same*, *by rule* (a documented difference) or a *miss*.

"""


@dataclass
class Score:
    """Counts of one suite."""

    name: str
    same: int = 0
    rules: Counter[str] = field(default_factory=Counter)
    misses: list[str] = field(default_factory=list)

    @property
    def total(self) -> int:
        """Number of cases."""
        return self.same + sum(self.rules.values()) + len(self.misses)

    @property
    def share(self) -> float:
        """Share of equal cases among the cases that no rule explains."""
        return self.same / max(1, self.same + len(self.misses))

    def take(self, verdict: Verdict) -> None:
        """Count a case."""
        if verdict.same:
            self.same += 1
        elif verdict.rule:
            self.rules[verdict.rule] += 1
        else:
            self.misses.append(verdict.shown)


def rows_of(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the cases of a file, gzipped or not."""
    raw = path.read_bytes()
    text = (gzip.decompress(raw) if path.suffix == ".gz" else raw).decode("utf-8")
    yield from (json.loads(line) for line in text.splitlines() if line)


def score(folder: Path, suites: Mapping[str, tuple[str, Check]] = SUITES, cases: int = 0) -> list[Score]:
    """Run all suites whose file is in the folder, with at most `cases` cases each; 0: all."""
    scores = []
    for name, (file, check) in suites.items():
        path = next((one for one in (folder / f"{file}.jsonl", folder / f"{file}.jsonl.gz") if one.exists()), None)
        if path is None:
            continue
        result = Score(name)
        for row in islice(rows_of(path), cases or None):
            for verdict in check(row):
                result.take(verdict)
        scores.append(result)
    return scores


def page(scores: list[Score]) -> str:
    """Render the documentation page."""
    lines = [
        "| suite | cases | same | by rule | misses | same, without those by rule |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    lines += [
        f"| {one.name} | {one.total} | {one.same} | {sum(one.rules.values())} | {len(one.misses)} | {one.share:.2%} |"
        for one in scores
    ]
    lines += ["", "## Differences by rule", ""]
    lines += [f"- {one.name}: {rule} ({count})" for one in scores for rule, count in sorted(one.rules.items())]
    lines += ["", "## Misses", ""]
    lines += [f"- {one.name}: {miss}" for one in scores for miss in one.misses] or ["None."]
    return _HEAD + "\n".join(lines) + "\n"


@benchmark("conformance", cases=20)
@data_option()
@click.option("--write", is_flag=True, help="Write docs/background/crawl-conformance.md.")
@click.option("--cases", default=0, type=click.IntRange(0), help="Number of cases per suite; 0: all.")
def main(data: Path, write: bool, cases: int) -> None:
    """Run all suites, print the figures, and list every miss."""
    scores = score(data / "crawl", cases=cases)
    if not scores:
        raise PlumblineError(f"no suites in {data / 'crawl'}: give DATA=DIR, a folder of the form of ../shared/data")
    figures = []
    for one in scores:
        figures += [Figure(one.name, "plumbline", "same", one.same / max(1, one.total))]
        figures += [Figure(one.name, "plumbline", "same of those not by rule", one.share)]
        figures += [Figure(one.name, "plumbline", "cases", one.total)]
    publish("conformance", figures)
    if write:
        PAGE.write_text(page(scores), "utf-8")
    for one in scores:
        for miss in one.misses:
            click.echo(f"{one.name}: {miss}")


if __name__ == "__main__":
    main()
