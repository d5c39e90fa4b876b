"""kill -9 in every stage, then the same command again: nothing acknowledged is lost, nothing is done twice.

Each test takes a vertical as a stage finds it, kills the real `plumb` with everything it started at a moment that it
sees in the store, runs the command again, and compares what is kept with an undisturbed run. What else can go wrong
between two runs (lost files, a clock set back) stands at the end.
"""

import json
import os
import re
import shutil
import signal
import sqlite3
import subprocess
import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
import requests

from crawler.sitemaps.origin_sitemaps import default_sitemap_urls
from domain.article import document_id
from locks.file_locks import stage_lock
from pipeline.search_site.serve import open_listening_socket
from tests.crash_harness import (
    Kept,
    LocalVertical,
    Said,
    Undisturbed,
    Vertical,
    indexed_ids,
    undisturbed_run,
    until,
)
from tests.faults.kill9 import JAVA, STAGES, Expected, kill_and_repeat
from tests.faults.tally import Tally
from tests.local_workers import local_workers
from tests.plumb_call import call_plumb
from tests.solr_fixture import RunningSolr
from tests.web_fixture import PATIENCE

pytestmark = [pytest.mark.slow, pytest.mark.skipif(not Path("/proc").is_dir(), reason="finds processes in /proc")]

GUARD = "indexer.solr_supervisor"
ACCOUNT = "管理员"
PASSWORD = "石油 password"


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Undisturbed]:
    with undisturbed_run(tmp_path_factory.mktemp("undisturbed")) as made:
        yield made


@pytest.fixture
def vertical(tmp_path: Path) -> Iterator[Vertical]:
    """Where a test's vertical goes (`copy`); every process of it is ended after the test.

    What a test kills runs in processes (`start`). The same command again runs in this process.
    """
    place = LocalVertical(tmp_path / "vertical")
    with local_workers():
        yield place
    place.end()


def copy(source: Vertical, vertical: Vertical) -> None:
    source.copy_to(vertical.folder)


QUICK = [("crawl", "60 pages"), ("extract", "some articles"), ("backup", "copying")]


@pytest.fixture(scope="module")
def expected(undisturbed: Undisturbed, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Expected]:
    with local_workers():
        yield Expected(undisturbed, tmp_path_factory.mktemp("expected"))


@pytest.mark.parametrize(("stage", "moment"), QUICK)  # `make faults` tries all
@pytest.mark.always
def test_killed(expected: Expected, vertical: Vertical, stage: str, moment: str) -> None:
    copy(expected.source(stage), vertical)
    kill_and_repeat(Tally("kill9"), expected, stage, STAGES[stage].moments[moment], vertical)


def check_crawled(undisturbed: Undisturbed, vertical: Vertical) -> None:
    """The crawl is where the undisturbed one is; each page's record can be read; the seen filter holds each address.

    A request that fails once on a busy machine is sent again in the same run.
    """
    assert vertical.kept() == undisturbed.crawled.kept()
    assert vertical.failures() == undisturbed.crawled.failures()
    assert page_digests(vertical) == page_digests(undisturbed.crawled)
    assert vertical.check_archive() == len(page_digests(vertical))
    size = (vertical.data / "seen.bloom").read_bytes()[40:48]  # see crawler/schedule/url_seen.py
    assert int.from_bytes(size, "little") == len(vertical.kept().urls)


def page_digests(vertical: Vertical) -> dict[str, str]:
    """URL -> digest of the kept page."""
    return dict(vertical.ask("SELECT url, p.digest FROM urls JOIN pages p USING (url_id)"))


def test_lost_warc_files_are_said_and_the_pages_fetched_again(undisturbed: Undisturbed, vertical: Vertical) -> None:
    copy(undisturbed.crawled, vertical)
    shutil.rmtree(vertical.data / "warc")
    said = vertical.done("extract")
    assert f"lost_page {len(page_digests(vertical))}" in said.out
    assert set(vertical.kept().extracted.values()) == {"lost_page"}
    vertical.done("run", "--until", "extract")
    assert vertical.kept() == undisturbed.extracted.kept()


def test_an_import_killed(undisturbed: Undisturbed, vertical: Vertical) -> None:
    copy(undisturbed.new, vertical)
    by_size = sorted((undisturbed.crawled.data / "warc").iterdir(), key=lambda file: file.stat().st_size)
    files = [str(file) for file in by_size]
    assert len(files) == 2  # of the two crawls that made the vertical; the larger one may have all pages
    pipe = vertical.folder / "pages.warc.gz"
    os.mkfifo(pipe)  # nobody writes to it: the import waits after the first file, however fast it is
    running = vertical.start("import", files[0], str(pipe), files[1])
    until(lambda: vertical.number("SELECT COUNT(*) FROM pages") > 0, running)
    vertical.kill()
    assert 0 < len(page_digests(vertical)) < len(page_digests(undisturbed.crawled))
    vertical.done("import", *files)
    assert page_digests(vertical) == page_digests(undisturbed.crawled)
    vertical.check_archive()
    vertical.done("extract")
    assert vertical.kept().articles == undisturbed.extracted.kept().articles


def test_a_clock_set_back_leaves_no_stale_candidates(undisturbed: Undisturbed, vertical: Vertical) -> None:
    copy(undisturbed.decided, vertical)
    change(vertical, "UPDATE terms SET mined_at = mined_at + 86400 WHERE mined_at IS NOT NULL")
    before = vertical.kept()
    vertical.done("lexicon", "build", "--probability", "0.8")
    assert vertical.kept().terms == few_terms(before)


@pytest.mark.exhaustive
def test_a_run_killed_before_it_mined_mines_the_next_time(undisturbed: Undisturbed, vertical: Vertical) -> None:
    """Although then no article is new."""
    copy(undisturbed.crawled, vertical)
    pages = len(page_digests(vertical))
    running = vertical.start("run", "--until", "lexicon")
    until(lambda: vertical.number("SELECT COUNT(*) FROM outcomes WHERE stage = 'extract'") == pages, running)
    vertical.kill()
    assert vertical.kept().terms == {}
    vertical.done("run", "--until", "lexicon")
    assert set(vertical.kept().terms) == set(undisturbed.mined.kept().terms)
    said = vertical.done("run", "--until", "lexicon")
    assert "lexicon" not in said.out  # nothing has changed since


@pytest.mark.solr
@pytest.mark.exhaustive
def test_a_run_killed_before_it_related_terms_relates_them_the_next_time(
    undisturbed: Undisturbed, vertical: Vertical
) -> None:
    copy(undisturbed.published, vertical)
    mark = "SELECT value FROM meta WHERE key = 'related_terms_version'"
    running = vertical.start("run")
    until(lambda: vertical.number("SELECT COUNT(*) FROM indexed") > 0, running)
    assert vertical.number(mark) == 0
    vertical.kill()
    assert "lexicon" in vertical.done("run").out
    assert vertical.number(mark) == vertical.number("SELECT value FROM meta WHERE key = 'mined_version'") > 0
    assert "lexicon" not in vertical.done("run").out


def few_terms(kept: Kept) -> dict[str, tuple[str, float]]:
    """What mining leaves that wants a probability of 0.8: decisions, and the best candidates."""
    return {
        text: (status, score) for text, (status, score) in kept.terms.items() if status == "accepted" or score > 0.8
    }


def change(vertical: Vertical, statement: str) -> None:
    """Do to the store what no `plumb` does."""
    with closing(sqlite3.connect(vertical.data / "store.db")) as connection, connection:
        assert connection.execute(statement).rowcount > 0


def test_a_clock_set_back_does_not_keep_the_crawl_waiting(undisturbed: Undisturbed, vertical: Vertical) -> None:
    copy(undisturbed.crawled, vertical)
    change(vertical, "UPDATE urls SET visited_at = visited_at + 1e8, due_at = due_at + 1e8 WHERE visited_at > 0")
    change(vertical, "UPDATE robots SET fetched_at = fetched_at + 1e8")
    undisturbed.site.log.clear()
    vertical.done("crawl")
    assert {url for url, _ in undisturbed.site.log} >= set(page_digests(vertical))
    check_crawled(undisturbed, vertical)
    undisturbed.site.log.clear()
    vertical.done("crawl")
    asked = {url for url, _ in undisturbed.site.log} - set(default_sitemap_urls(undisturbed.site.seed.rstrip("/")))
    assert asked == {undisturbed.site.seed}  # articles are not due again


@pytest.mark.solr
class TestIndex:
    @pytest.mark.exhaustive
    def test_a_lost_store_leaves_the_index_as_it_is(self, undisturbed: Undisturbed, vertical: Vertical) -> None:
        """The database is gone, as a wrong path or a lost disk has it; then it is put back."""
        copy(undisturbed.indexed, vertical)
        backup = back_up(vertical)
        lose_store(vertical)
        with vertical.solr() as index:
            for command in ("index", "index --full"):
                said = vertical.plumb(*command.split())
                assert said.status == 1, said
                assert "was filled from another store" in said.complaint and "plumb index --adopt" in said.complaint
            assert indexed_ids(index) == sorted(document_id(url) for url in undisturbed.indexed.kept().articles)
            lose_store(vertical)
            shutil.copy(backup, vertical.data / "store.db")
            (vertical.folder / "warc").rename(vertical.data / "warc")
            said = check_indexed_by("index", undisturbed, vertical)
        assert "nothing to do" in said.out

    @pytest.mark.exhaustive
    def test_another_store_takes_an_index_over_on_purpose(self, undisturbed: Undisturbed, vertical: Vertical) -> None:
        copy(undisturbed.indexed, vertical)
        lose_store(vertical)
        with vertical.solr() as index:
            said = vertical.done("index", "--adopt")
            assert "Took over the index" in said.out and "were deleted" in said.out
            assert indexed_ids(index) == []
            assert "nothing to do" in vertical.done("index").out

    @pytest.mark.exhaustive
    def test_an_older_backup_is_restored_to_a_younger_index(self, undisturbed: Undisturbed, vertical: Vertical) -> None:
        """Documents that the backup does not know leave the index; no confirmation is needed."""
        copy(undisturbed.indexed, vertical)
        change(vertical, "DELETE FROM articles WHERE url_id IN (SELECT url_id FROM indexed LIMIT 3)")
        change(vertical, "DELETE FROM indexed WHERE url_id NOT IN (SELECT url_id FROM articles)")
        said = vertical.done("index")
        assert "3 documents that are not in the store were deleted" in said.out

    @pytest.mark.exhaustive
    def test_an_index_of_an_older_program_is_taken_over_without_a_word(
        self, undisturbed: Undisturbed, vertical: Vertical
    ) -> None:
        copy(undisturbed.indexed, vertical)
        change(vertical, "DELETE FROM meta WHERE key = 'store_id'")
        with vertical.solr() as index:
            index.set_owner("")
            assert index.get_owner() == ""
            said = vertical.done("index")
            [(store_id,)] = vertical.ask("SELECT value FROM meta WHERE key = 'store_id'")
            assert index.get_owner() == store_id
            assert "nothing to do" in said.out


def lose_store(vertical: Vertical) -> None:
    """Delete the database and move the WARC files away, as with a wrong path. Beside them no store would be created."""
    for file in vertical.data.glob("store.db*"):
        file.unlink()
    if (vertical.data / "warc").exists():
        (vertical.data / "warc").rename(vertical.folder / "warc")


def back_up(vertical: Vertical) -> Path:
    """The store as deploy/runbook.md copies it."""
    file = vertical.folder / "backup.db"
    with closing(sqlite3.connect(vertical.data / "store.db")) as connection:
        connection.execute(f"VACUUM INTO '{file}'")
    return file


def check_indexed_by(command: str, undisturbed: Undisturbed, vertical: Vertical) -> Said:
    """Run `command`; then the store is as undisturbed, Solr holds each article once, and the change log is empty."""
    wanted = undisturbed.decided.kept()
    with vertical.solr() as index:
        said = vertical.done(*command.split())
        assert indexed_ids(index) == sorted(document_id(url) for url in wanted.articles)
    kept = vertical.kept()
    assert kept.changes == 0
    assert (kept.urls, kept.articles, kept.terms) == (wanted.urls, wanted.articles, wanted.terms)
    assert vertical.number("SELECT COUNT(*) FROM indexed") == len(wanted.articles)
    return said


class Administrator:
    """A person's browser at the review pages of a running `plumb serve`."""

    def __init__(self, vertical: Vertical) -> None:
        make_account(vertical)
        self.running = vertical.start("serve")
        self.address = served_at(self.running)
        self._session = requests.Session()
        self._session.headers["Accept"] = "application/json"
        form = {"token": self._token("login"), "name": ACCOUNT, "password": PASSWORD}
        self._session.post(f"{self.address}admin/login", form)
        self._form = self._token("lexicon")

    def decide(self, term: str, decision: str) -> bool:
        """Was the decision acknowledged?"""
        return self._post("decide", {"term": term, "decision": decision})

    def publish(self) -> bool:
        """Was the publication acknowledged?"""
        return self._post("publish", {})

    def finds(self, word: str) -> int:
        """Status of a search."""
        return self._session.get(f"{self.address}search", params={"q": word, "format": "json"}).status_code

    def _post(self, what: str, form: dict[str, str]) -> bool:
        try:
            answer = self._session.post(f"{self.address}admin/lexicon/{what}", {**form, "token": self._form})
        except (requests.ConnectionError, requests.exceptions.ChunkedEncodingError):  # killed before or in the answer
            return False
        assert answer.ok, answer.text
        return True

    def _token(self, page: str) -> str:
        text = self._session.get(f"{self.address}admin/{page}", headers={"Accept": "text/html"}).text
        found = re.search(r'name="token" value="([^"]+)"', text)
        assert found, text
        return found[1]


def make_account(vertical: Vertical) -> None:
    """As an operator does; a second time it is there already."""
    call_plumb("-c", str(vertical.config), "account", "add", ACCOUNT, "--role", "reviewer", typed=PASSWORD)


def served_at(running: "subprocess.Popen[str]") -> str:
    """The address that `plumb serve` prints once it listens."""
    assert running.stdout is not None
    line = running.stdout.readline()
    assert line.startswith("search page: "), (line, running.communicate(timeout=PATIENCE))
    return line.split()[-1]


@pytest.mark.solr
@pytest.mark.exhaustive
def test_review_killed(undisturbed: Undisturbed, vertical: Vertical, solr_node: RunningSolr) -> None:
    """Decisions and a publication that the browser saw acknowledged are kept; one more decision at most."""
    copy(undisturbed.decided, vertical)
    lines = f'[index]\nsolr_url = "{solr_node.url}"\ncollection = "review_killed"\n'
    vertical.config.write_text(vertical.config.read_text().replace("[index]\n", lines))
    candidates = [text for text, (status, _) in vertical.kept().terms.items() if status == "candidate"]
    administrator, acknowledged = Administrator(vertical), []

    def judge() -> None:
        for term in candidates:
            if not administrator.decide(term, "rejected"):
                return
            acknowledged.append(term)

    judging = threading.Thread(target=judge)
    judging.start()
    until(lambda: len(acknowledged) >= 20, administrator.running)
    vertical.kill()
    judging.join(PATIENCE)
    rejected = {text for text, (status, _) in vertical.kept().terms.items() if status == "rejected"}
    assert rejected >= set(acknowledged)
    assert len(rejected) <= len(acknowledged) + 1 < len(candidates)

    assert Administrator(vertical).publish()
    vertical.kill()
    assert vertical.kept().versions == {1: 30}
    vertical.done("index")
    assert vertical.number("SELECT COUNT(*) FROM lexicons WHERE applied_at > 0") == 1
    assert vertical.kept().changes == 0
    with vertical.solr() as index:
        index.delete_all()


@pytest.mark.solr
def test_solr_killed_under_the_search_site(undisturbed: Undisturbed, vertical: Vertical) -> None:
    """The site says so while it lasts, and brings Solr back by itself."""
    copy(undisturbed.indexed, vertical)
    site = Administrator(vertical)
    until(lambda: site.finds("石油") == 200, site.running)
    killed = {pid for pid, command in vertical.processes().items() if JAVA in command}
    vertical.kill(GUARD)
    until(lambda: killed.isdisjoint(vertical.processes()))  # another Solr may already have started
    assert site.finds("石油") in (503, 200)
    until(lambda: site.finds("石油") == 200, site.running)
    assert site.running.poll() is None


@pytest.mark.exhaustive
@pytest.mark.solr
def test_the_site_answers_while_another_process_indexes(undisturbed: Undisturbed, vertical: Vertical) -> None:
    """As after a restart of the machine during a long run; what the run leaves undone is done when it has ended."""
    copy(undisturbed.indexed, vertical)
    change(vertical, "INSERT INTO changes (url_id, op, at) SELECT url_id, 'upsert', 0 FROM articles LIMIT 4")
    with stage_lock(vertical.data, "index"):
        running = vertical.start("serve")
        address = served_at(running)
        until(lambda: health(address)["status"] == "ok", running)
        assert health(address)["documents"] == len(undisturbed.indexed.kept().articles)
        assert health(address)["index_lag"] == 4
    until(lambda: health(address).get("index_lag") == 0, running)  # missing while Solr is not responding
    assert "index update failed" not in vertical.log()


def health(address: str) -> dict[str, Any]:
    """What /healthz tells."""
    told: dict[str, Any] = requests.get(f"{address}healthz", timeout=PATIENCE).json()
    return told


@pytest.mark.solr
@pytest.mark.exhaustive
def test_the_site_answers_while_solr_starts_and_searches_by_itself_once_it_has(
    undisturbed: Undisturbed, vertical: Vertical
) -> None:
    copy(undisturbed.indexed, vertical)
    with open_listening_socket("127.0.0.1", 0) as free:
        port = free.getsockname()[1]
    address = f"http://127.0.0.1:{port}/"
    running = vertical.start("serve", "--port", str(port))
    until(lambda: java_of(vertical), running)
    os.kill(java_of(vertical), signal.SIGSTOP)
    found = requests.get(f"{address}search", params={"q": "石油"}, timeout=PATIENCE)
    assert (found.status_code, found.headers["Retry-After"]) == (503, "5")
    assert 'http-equiv="refresh"' in found.text
    assert health(address)["status"] == "starting"
    assert requests.get(address, timeout=PATIENCE).status_code == 200
    os.kill(java_of(vertical), signal.SIGCONT)
    assert served_at(running) == address  # printed when every search succeeds
    assert {health(address)["status"] for _ in range(12)} == {"ok"}
    assert requests.get(f"{address}search", params={"q": "石油"}, timeout=PATIENCE).status_code == 200


def java_of(vertical: Vertical) -> int:
    """The process of the vertical's Solr; 0 while there is none."""
    return next((pid for pid, command in vertical.processes().items() if JAVA in command and GUARD not in command), 0)


@pytest.mark.exhaustive
@pytest.mark.solr
def test_a_solr_that_does_not_start_costs_a_run_nothing_but_its_index(
    undisturbed: Undisturbed, vertical: Vertical
) -> None:
    """It is started beside the crawl, and said where it is needed."""
    copy(undisturbed.new, vertical)
    said = vertical.plumb("-s", "index.solr_heap=nonsense", "run")
    assert said.status == 1 and "Solr ended while it was starting" in said.complaint
    assert set(vertical.kept().articles) == set(undisturbed.extracted.kept().articles)
    [run] = json.loads(vertical.done("status", "--json").out)["runs"]
    assert (run["state"], run["stage"]) == ("failed", "solr")
    assert [stage["stage"] for stage in run["stages"]] == ["crawl", "extract", "embed", "lexicon", "solr"]
    said = vertical.done("run")
    assert re.search(r"^solr +[0-9.]+ s  Opened in parallel with earlier stages", said.out, re.M)
