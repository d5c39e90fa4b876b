"""kill -9 of each stage at every moment where a kill could do harm: one table for `make test` and `make faults`.

Run as a program, `python -m tests.faults.kill9 NUMBER ...` is `plumb ...` that kills itself after a transaction.
Transactions are counted from the first one in which term mining saves its candidates.
"""

import os
import signal
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from unittest.mock import patch

from sqlalchemy import Connection

from docstore.database import Database
from docstore.terms.lexicons import LexiconTable
from pipeline.cli.main import main
from tests.crash_harness import PLUMB, Undisturbed, Vertical, indexed_ids, until
from tests.faults.comparison import Content, compare_content, compare_requests, content_of, successful_requests
from tests.faults.tally import Tally

JAVA = "org.eclipse.jetty"
RUN_TABLES = frozenset({"runs", "site_runs"})  # contain the killed runs too
PAUSE = 80  # responses; then the sites wait, so that a crawl cannot end before a slow test reacts

Moment = float | int | str | Callable[[Vertical], object]
"""Fraction of the undisturbed duration, number of a transaction, query that selects a true number, or condition."""


@dataclass(frozen=True)
class KilledStage:
    """A command to kill. `source` is the property of `Undisturbed` on which it starts."""

    source: str
    command: tuple[str, ...]
    moments: Mapping[str, Moment] = field(default_factory=dict)
    atomic_table: str = ""  # after a kill it has no row more than before, or all
    ignored_tables: frozenset[str] = frozenset()
    has_index: bool = False
    result: str = ""  # property of `Undisturbed` that has the result already; "": the stage is run for comparison

    def run_in(self, vertical: Vertical) -> tuple[str, ...]:
        """Return the command for a vertical; a backup goes beside its folder."""
        return tuple(part.format(folder=vertical.folder.parent) for part in self.command)


STAGES: Mapping[str, KilledStage] = {
    "crawl": KilledStage(
        "new",
        ("crawl",),
        {f"{pages} pages": f"SELECT COUNT(*) >= {pages} FROM pages" for pages in (1, 60)},
    ),
    "extract": KilledStage(
        "crawled", ("extract",), {"some articles": "SELECT COUNT(*) FROM articles"}, result="extracted"
    ),
    "mine": KilledStage(
        "extracted",
        ("lexicon", "build"),
        {
            "computing": lambda vertical: size(vertical.data / "locks" / "lexicon"),
            "writing": lambda vertical: size(vertical.data / "store.db-wal") > 30_000,
        },
        atomic_table="terms",
        result="mined",
    ),
    # Acceptances without acknowledgement are repeated in another order.
    "review": KilledStage(
        "mined",
        ("lexicon", "accept", "--top", "30"),
        ignored_tables=frozenset({"terms", "term_acts", "term_changes", "row_sums"}),
    ),
    # The last two transactions are those of the sealing of WARC files and of the daily copy of decisions.
    "lexicon": KilledStage(
        "extracted",
        ("run", "--until", "lexicon"),
        {f"transaction {number}": number for number in range(1, 14)},
        ignored_tables=RUN_TABLES,
    ),
    "index": KilledStage(
        "decided",
        ("index",),
        {
            "Solr is starting": lambda vertical: JAVA in " ".join(vertical.processes().values()),
            "some are written": "SELECT COUNT(*) >= 20 FROM indexed",
        },
        has_index=True,
        result="indexed",
    ),
    "publish": KilledStage(
        "indexed",
        ("lexicon", "publish"),
        {
            "published": "SELECT COUNT(*) FROM lexicons",
            "half segmented again": "SELECT COUNT(*) > 5 FROM indexed WHERE lexicon_version = 1",
        },
        atomic_table="lexicon_entries",
        has_index=True,
    ),
    "swap_dictionary": KilledStage("indexed", ("index", "--full"), has_index=True),
    "backup": KilledStage(
        "decided",
        ("backup", "{folder}/backups"),
        {"copying": lambda vertical: list((vertical.folder.parent / "backups").glob(".unfinished-*"))},
        result="decided",
    ),
}
FRACTIONS = (0.1, 0.5, 0.9)


def size(file: Path) -> int:
    """Return the size of a file in bytes; 0 if it does not exist."""
    return file.stat().st_size if file.exists() else 0


@dataclass(frozen=True)
class StageResult:
    """What a stage left in the store and the archive, and what it requested of the sites."""

    content: Content
    requests: Counter[str]

    @classmethod
    def read(cls, vertical: Vertical, made: Undisturbed) -> "StageResult":
        """Read the result of a stage that ran since `made.site.log` was cleared."""
        return cls(content_of(vertical), successful_requests(made.site.log))


class Expected:
    """Results of undisturbed stages; each stage runs on first use."""

    def __init__(self, made: Undisturbed, folder: Path) -> None:
        self.made, self._folder = made, folder
        self._results: dict[str, tuple[StageResult, float]] = {}

    def of(self, name: str, is_timed: bool) -> tuple[StageResult, float]:
        """Return the result of a stage, and its duration in seconds, 0 unless `is_timed`."""
        stage = STAGES[name]
        if stage.result and not is_timed:
            return StageResult(content_of(getattr(self.made, stage.result)), Counter()), 0.0
        if name not in self._results:
            with self.source(name).copied(self._folder / "whole" / "v") as whole:
                self.made.site.log.clear()
                began = time.monotonic()
                whole.done(*stage.run_in(whole))
                self._results[name] = StageResult.read(whole, self.made), time.monotonic() - began
        return self._results[name]

    def source(self, name: str) -> Vertical:
        """Return the vertical on which a stage starts."""
        source: Vertical = getattr(self.made, STAGES[name].source)
        return source


def kill9_faults(made: Undisturbed, folder: Path, is_short: bool) -> Tally:
    """Kill each stage at its moments and at several fractions of its time."""
    tally, expected = Tally("kill9"), Expected(made, folder)
    for name, stage in STAGES.items():
        moments: dict[str, Moment] = {f"{fraction:g}": fraction for fraction in FRACTIONS}
        for told, moment in {"0.5": 0.5}.items() if is_short else (moments | dict(stage.moments)).items():
            with tally.trying(f"{name}: {told}"), expected.source(name).copied(folder / "v") as vertical:
                kill_and_repeat(tally, expected, name, moment, vertical)
    return tally


def kill_and_repeat(tally: Tally, expected: Expected, name: str, moment: Moment, vertical: Vertical) -> None:
    """Kill a stage on a copy of its source and run it again: the result is that of an undisturbed stage.

    What the store acknowledged before the kill is not fetched again, and a transaction is kept whole or not at all.
    """
    stage, made = STAGES[name], expected.made
    command = stage.run_in(vertical)
    whole, seconds = expected.of(name, isinstance(moment, float))
    made.site.log.clear()
    rows = f"SELECT COUNT(*) FROM {stage.atomic_table}" if stage.atomic_table else "SELECT 0"
    before = vertical.number(rows)
    kill_at(made, vertical, command, moment, seconds)
    acknowledged = {url for (url,) in vertical.ask("SELECT url FROM urls JOIN pages USING (url_id)")}
    kept, requested, began = vertical.number(rows), len(made.site.log), time.monotonic()
    with vertical.solr() if stage.has_index else nullcontext() as index:
        said = vertical.plumb(*command)
        assert said.status == 0 or "Nothing to publish" in said.complaint, said
        assert "Traceback" not in said.err, said
        assert kept in (before, vertical.number(rows)), f"{kept} rows of {stage.atomic_table}"
        tally.worst_s = max(tally.worst_s, time.monotonic() - began)
        if index is not None:
            tally.account(made.ids, indexed_ids(index), name)
    again = [url for url, status in made.site.log[requested:] if status == 200 and url in acknowledged]
    assert not again, f"fetched again: {again[:3]}"
    account(tally, made, vertical, whole, name)


def kill_at(made: Undisturbed, vertical: Vertical, command: tuple[str, ...], moment: Moment, seconds: float) -> None:
    """Start a command and kill all its processes at a moment. A fraction may come after the end of the command."""
    if isinstance(moment, int):
        vertical.program = (sys.executable, "-m", __name__, str(moment))
        assert vertical.finished(vertical.start(*command)).status == -signal.SIGKILL
        assert vertical.number("SELECT COUNT(*) FROM runs WHERE finished_at IS NULL") == 1
        vertical.program = (PLUMB,)
        return
    with nullcontext() if isinstance(moment, float) else made.site.paused_after(PAUSE):
        running = vertical.start(*command)
        if isinstance(moment, float):
            deadline = time.monotonic() + seconds * moment
            while time.monotonic() < deadline and running.poll() is None:
                time.sleep(0.002)
        elif isinstance(moment, str):
            until(lambda: vertical.number(moment), running)
        else:
            until(lambda: moment(vertical), running)
        vertical.kill()
        running.communicate()


def account(tally: Tally, made: Undisturbed, vertical: Vertical, expected: StageResult, name: str) -> None:
    """Assert that a stage left what an undisturbed one leaves, that each page can be read, and that all URLs are seen.

    A repeated run has rows of its own; the counts by site of the killed one must be those of an undisturbed run.
    """
    found = StageResult.read(vertical, made)
    ignored = STAGES[name].ignored_tables
    compare_content(tally, expected.content, found.content, name, ignored)
    if "site_runs" in ignored:
        missing = expected.content.tables["site_runs"] - found.content.tables["site_runs"]
        assert expected.content.tables["site_runs"] and not missing, f"counts of the killed run: {[*missing][:2]}"
    compare_requests(tally, expected.requests, found.requests, found.content, name)
    assert vertical.check_archive() == vertical.number("SELECT count(*) FROM pages")
    seen = (vertical.data / "seen.bloom").read_bytes()[40:48]  # see crawler/schedule/url_seen.py
    assert int.from_bytes(seen, "little") == vertical.number("SELECT COUNT(*) FROM urls")


def run_until_commit(number: int) -> None:
    """Run `plumb`, and kill it as soon as transaction `number` is committed."""
    write, replace_candidates, commits = Database.write, LexiconTable.replace_candidates, list[int]()

    @contextmanager
    def counted_write(database: Database) -> Iterator[Connection]:
        with write(database) as connection:
            yield connection
        if commits:
            commits.append(1)
            if len(commits) > number:
                os.kill(os.getpid(), signal.SIGKILL)

    def counted_mining(*arguments: object) -> int:
        commits.append(0)
        return replace_candidates(*arguments)  # type: ignore[arg-type]

    with (
        patch.object(Database, "write", counted_write),
        patch.object(LexiconTable, "replace_candidates", counted_mining),
    ):
        main()


if __name__ == "__main__":
    run_until_commit(int(sys.argv.pop(1)))
