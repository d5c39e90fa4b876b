"""kill -9 in every stage, then the same command again: nothing acknowledged is lost, nothing is done twice.

Each test takes a vertical as a stage finds it, kills the real `plumb` with everything it started at a moment that it
sees in the store, runs the command again, and compares what is kept with an undisturbed run.
"""

import os
import shutil
import signal
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from docstore.model import document_id
from pipeline.demo.site import write_sites
from tests.crash_harness import Kept, Said, SlowSites, Vertical, indexed_ids, until

pytestmark = pytest.mark.slow


@dataclass
class Undisturbed:
    """One vertical after each stage of a run that nobody disturbed."""

    site: SlowSites
    new: Vertical
    crawled: Vertical
    extracted: Vertical
    decided: Vertical  # mined, and the best thirty terms accepted


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Undisturbed]:
    folder = tmp_path_factory.mktemp("undisturbed")
    write_sites(folder / "sites")
    with SlowSites(folder / "sites", pause=0.03) as site:
        new = Vertical(folder / "new").write(site.sections())
        crawled = new.copy_to(folder / "crawled")
        crawled.done("crawl")
        extracted = crawled.copy_to(folder / "extracted")
        extracted.done("extract")
        decided = extracted.copy_to(folder / "decided")
        decided.done("lexicon", "build")
        decided.done("lexicon", "accept", "--top", "30")
        assert len(decided.kept().articles) > 80
        yield Undisturbed(site, new, crawled, extracted, decided)


@pytest.fixture
def vertical(tmp_path: Path) -> Iterator[Vertical]:
    """Where a test's copy goes (`Undisturbed.x.copy_to(vertical.folder)`); every process is ended after the test."""
    place = Vertical(tmp_path / "vertical")
    yield place
    place.end()


def begin(vertical: Vertical, at: Vertical) -> None:
    at.copy_to(vertical.folder)


class TestCrawl:
    @pytest.mark.parametrize("pages", [1, 60])
    def test_killed(self, undisturbed: Undisturbed, vertical: Vertical, pages: int) -> None:
        site = undisturbed.site
        begin(vertical, undisturbed.new)
        running = vertical.start("crawl")
        until(lambda: vertical.number("SELECT COUNT(*) FROM pages") >= pages, running)
        vertical.kill()
        acknowledged = {url for (url,) in vertical.ask("SELECT url FROM urls JOIN pages USING (url_id)")}
        assert pages <= len(acknowledged) < 110
        site.log.clear()
        vertical.done("crawl")
        asked_again = {url for url, status in site.log if status == 200 and url in acknowledged}
        assert asked_again == set()
        wanted, kept = undisturbed.crawled.kept(), vertical.kept()
        assert kept == wanted
        assert page_digests(vertical) == page_digests(undisturbed.crawled)
        assert vertical.check_archive() == len(page_digests(vertical))
        assert seen_count(vertical) == len(kept.urls)


def page_digests(vertical: Vertical) -> dict[str, str]:
    return dict(vertical.ask("SELECT url, p.digest FROM urls JOIN pages p USING (url_id)"))


def seen_count(vertical: Vertical) -> int:
    """How many addresses the seen filter's file says it holds (crawler/seen.py)."""
    return int.from_bytes((vertical.data / "seen.bloom").read_bytes()[40:48], "little")


class TestExtract:
    def test_killed(self, undisturbed: Undisturbed, vertical: Vertical) -> None:
        begin(vertical, undisturbed.crawled)
        running = vertical.start("extract")
        until(lambda: vertical.number("SELECT COUNT(*) FROM articles") > 0, running)
        vertical.kill()
        assert 0 < len(vertical.kept().articles) < len(undisturbed.extracted.kept().articles)
        vertical.done("extract")
        assert vertical.kept() == undisturbed.extracted.kept()

    def test_its_workers_end_with_it(self, undisturbed: Undisturbed, vertical: Vertical) -> None:
        """Where only the main process is killed, as the kernel does when memory is short."""
        begin(vertical, undisturbed.crawled)
        running = vertical.start("extract")
        until(lambda: vertical.number("SELECT COUNT(*) FROM articles") > 0, running)
        assert len(vertical.processes()) > 1
        os.kill(running.pid, signal.SIGKILL)
        until(lambda: not vertical.processes())


class TestMine:
    @pytest.mark.parametrize("moment", ["computing", "writing"])
    def test_killed(self, undisturbed: Undisturbed, vertical: Vertical, moment: str) -> None:
        begin(vertical, undisturbed.decided)
        before = vertical.kept()
        running = vertical.start("lexicon", "build", "--threshold", "20")
        wal = vertical.data / "store.db-wal"
        if moment == "computing":
            until(lambda: (vertical.data / "locks" / "lexicon").read_text() == f"{running.pid}\n", running)
        else:
            until(lambda: wal.exists() and wal.stat().st_size > 30_000, running)
        vertical.kill()
        assert vertical.kept().terms in (before.terms, few_terms(before))
        vertical.done("lexicon", "build")
        assert vertical.kept() == before


@pytest.mark.solr
class TestIndex:
    @pytest.mark.parametrize("moment", ["Solr is starting", "some are written"])
    def test_killed(self, undisturbed: Undisturbed, vertical: Vertical, moment: str) -> None:
        begin(vertical, undisturbed.decided)
        running = vertical.start("index")
        if moment == "Solr is starting":
            until(lambda: "java" in " ".join(vertical.processes().values()), running)
        else:
            until(lambda: vertical.number("SELECT COUNT(*) FROM indexed") >= 20, running)
        vertical.kill()
        assert vertical.number("SELECT COUNT(*) FROM changes") > 0
        check_indexed_by("index", undisturbed.decided, vertical)

    @pytest.mark.parametrize("victim", ["org.eclipse.jetty", "indexer.solr_guard"])
    def test_solr_killed(self, undisturbed: Undisturbed, vertical: Vertical, victim: str) -> None:
        begin(vertical, undisturbed.decided)
        running = vertical.start("index")
        until(lambda: vertical.number("SELECT COUNT(*) FROM indexed") >= 20, running)
        os.kill(running.pid, signal.SIGSTOP)
        vertical.kill(victim)
        os.kill(running.pid, signal.SIGCONT)
        said = vertical.finished(running)
        assert (said.status, "Solr" in said.complaint) == (1, True), said
        check_indexed_by("index", undisturbed.decided, vertical)

    def test_a_deleted_solr_is_filled_again(self, undisturbed: Undisturbed, vertical: Vertical) -> None:
        begin(vertical, undisturbed.decided)
        vertical.done("index")
        shutil.rmtree(vertical.data / "solr")
        said = check_indexed_by("index", undisturbed.decided, vertical)
        assert "Solr has lost documents" in said.out


def check_indexed_by(command: str, wanted: Vertical, vertical: Vertical) -> Said:
    """Run `command`; then the store is as `wanted`, and Solr holds each of its articles once, and the change log none.

    The Solr that the command starts is kept up to be asked.
    """
    running = vertical.start(*command.split())
    with vertical.solr() as index:
        said = vertical.finished(running)
        assert (said.status, "Traceback" in said.err) == (0, False), said
        assert indexed_ids(index) == sorted(document_id(url) for url in wanted.kept().articles)
    kept = vertical.kept()
    assert kept.changes == 0
    assert (kept.urls, kept.articles, kept.terms) == (wanted.kept().urls, wanted.kept().articles, wanted.kept().terms)
    return said


@pytest.mark.solr
class TestPublish:
    @pytest.mark.parametrize("moment", ["published", "half segmented again"])
    def test_killed(self, undisturbed: Undisturbed, vertical: Vertical, moment: str) -> None:
        begin(vertical, undisturbed.decided)
        if moment == "published":
            running = vertical.start("lexicon", "publish")
            until(lambda: vertical.number("SELECT COUNT(*) FROM lexicons"), running)
        else:
            vertical.done("index")
            running = vertical.start("lexicon", "publish")
            until(lambda: vertical.number("SELECT COUNT(*) FROM indexed WHERE lexicon_version = 1") > 20, running)
        vertical.kill()
        assert vertical.number("SELECT COUNT(*) FROM changes") > 0
        check_indexed_by("lexicon publish", undisturbed.decided, vertical)
        assert vertical.kept().versions == {1: 30}
        assert vertical.number("SELECT COUNT(*) FROM indexed WHERE lexicon_version = 1") > 50


def few_terms(kept: Kept) -> dict[str, tuple[str, float]]:
    """What mining with a threshold of 20 leaves: decisions, and the best candidates."""
    return {text: (status, score) for text, (status, score) in kept.terms.items() if status == "accepted" or score > 20}
