"""Deliberate defects in the program, to prove that the comparison with an undisturbed run notices each of them."""

import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from pathlib import Path
from unittest.mock import patch

from crawler.crawl_loop import CrawlLoop
from docstore.frontier.frontier_table import FrontierTable
from docstore.warc_archive import WarcArchive
from domain.frontier import Visit
from domain.page import Page, WarcPointer
from pipeline.cli.main import main
from tests.crash_harness import Undisturbed, Vertical, call_successfully, until
from tests.faults.kill9 import StageResult, account
from tests.faults.tally import Tally

DELAY_SECONDS = 60.0  # between the commit of a visit and that of its page: long enough for a kill
EVERY = 10  # one visit of so many is damaged

RecordVisits = Callable[[FrontierTable, Sequence[Visit]], None]


def delayed_commit(record_visits: RecordVisits) -> RecordVisits:
    """Commit the pages some time after their visits: a kill between the two commits loses them."""

    def sabotaged(table: FrontierTable, visits: Sequence[Visit]) -> None:
        record_visits(table, [replace(visit, page=None) for visit in visits])
        time.sleep(DELAY_SECONDS)
        record_visits(table, visits)

    return sabotaged


def dropped_page(record_visits: RecordVisits) -> RecordVisits:
    """Record some visits without their page."""

    def sabotaged(table: FrontierTable, visits: Sequence[Visit]) -> None:
        record_visits(table, [replace(visit, page=None) if is_chosen(visit) else visit for visit in visits])

    return sabotaged


def wrong_body(record_visits: RecordVisits) -> RecordVisits:
    """Store some pages with the body and digest of another page."""
    last_page: list[Page] = []

    def spoil(visit: Visit) -> Visit:
        if visit.page is None:
            return visit
        other_page = last_page[-1] if last_page else visit.page
        last_page.append(visit.page)
        if not is_chosen(visit):
            return visit
        return replace(visit, page=replace(visit.page, body=other_page.body, digest=other_page.digest))

    return lambda table, visits: record_visits(table, [spoil(visit) for visit in visits])


def is_chosen(visit: Visit) -> bool:
    """True for one visit of `EVERY`."""
    return visit.entry.url_id % EVERY == 0


@contextmanager
def doubled_record() -> Iterator[None]:
    """Write each response twice to the archive."""
    append_page = WarcArchive.append_page

    def sabotaged(archive: WarcArchive, page: Page) -> WarcPointer:
        append_page(archive, page)
        return append_page(archive, page)

    with patch.object(WarcArchive, "append_page", sabotaged):
        yield


@contextmanager
def skipped_flush() -> Iterator[None]:
    """End the crawl without recording the visits that wait for the next batch."""
    with patch.object(CrawlLoop, "_flush_recorder", lambda _loop: False):
        yield


@contextmanager
def recording(spoil: Callable[[RecordVisits], RecordVisits]) -> Iterator[None]:
    """Record visits with a defect."""
    with patch.object(FrontierTable, "record_visits", spoil(FrontierTable.record_visits)):
        yield


SABOTAGES: Mapping[str, Callable[[], AbstractContextManager[None]]] = {
    "delayed_commit": lambda: recording(delayed_commit),
    "dropped_page": lambda: recording(dropped_page),
    "wrong_body": lambda: recording(wrong_body),
    "doubled_record": doubled_record,
    "skipped_flush": skipped_flush,
}
FENCE_SABOTAGES: Mapping[str, Callable[[], AbstractContextManager[object]]] = {
    "unchecked_requests": lambda: patch("crawler.http.connections.check_request", lambda: None),
    "unfenced_threads": lambda: patch("locks.fences.in_this_context", lambda function: function),
}
KILLED = frozenset({"delayed_commit"})  # does harm only if the crawl is killed


def sabotage_faults(made: Undisturbed, folder: Path, names: Sequence[str] = tuple(SABOTAGES)) -> Tally:
    """Crawl with each defect, and once without one, and compare the result with that of another crawl.

    The figure `noticed` is the share of the defects that the comparison notices; without a defect it must find nothing.
    """
    tally, noticed = Tally("sabotage"), 0
    with made.new.copied(folder / "v") as whole:
        made.site.log.clear()
        call_successfully(whole, "crawl")
        expected = StageResult.read(whole, made)
    with tally.trying("no defect"), made.new.copied(folder / "v") as vertical:
        made.site.log.clear()
        call_successfully(vertical, "crawl")
        account(tally, made, vertical, expected, "crawl")
    for name in names:
        with tally.trying(name), made.new.copied(folder / "v") as vertical:
            made.site.log.clear()
            crawl_sabotaged(vertical, name)
            differences = Tally(name)
            with differences.trying("crawl"):
                account(differences, made, vertical, expected, "crawl")
            assert differences.complaints, "not noticed"
            noticed += 1
    tally.figures["noticed"] = noticed / len(names)
    return tally


def crawl_sabotaged(vertical: Vertical, name: str) -> None:
    """Crawl with a defect. If it needs a kill, kill the crawl between the commits of a visit and its page."""
    if name not in KILLED:
        with SABOTAGES[name]():
            call_successfully(vertical, "crawl")
        return
    vertical.program = (sys.executable, "-m", __name__, name)
    running = vertical.start("crawl")
    until(lambda: vertical.number(VISITED_WITHOUT_PAGE), running)
    vertical.kill()
    running.communicate()
    call_successfully(vertical, "crawl")


VISITED_WITHOUT_PAGE = (
    "SELECT count(*) FROM outcomes WHERE stage = 'crawl' AND reason = 'fetched' AND detail = '' "
    "AND url_id NOT IN (SELECT url_id FROM pages)"
)


def run_sabotaged() -> None:
    """Run `plumb` with the defect that the first argument names."""
    sabotage = {**SABOTAGES, **FENCE_SABOTAGES}[sys.argv.pop(1)]
    with sabotage():
        main()


if __name__ == "__main__":
    run_sabotaged()
