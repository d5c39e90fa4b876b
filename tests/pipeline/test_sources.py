"""`plumb import` of folders, buckets and Common Crawl's lists: what is taken, what is refused, and why."""

import gzip
import multiprocessing
import os
import signal
import sys
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
import requests

from domain.errors import SettingsError, StoreError
from domain.frontier import NewUrl, UrlKind, Visit
from domain.outcome import Outcome, Reason
from domain.page import Host
from pipeline.engine import Engine
from pipeline.progress import NullProgress
from pipeline.settings import build_settings
from pipeline.warc_import.importer import import_warc_files
from pipeline.warc_import.sources import ImportFilter, SourceFailure, WarcSource, read_sources, resolve_sources
from tests.pipeline.dying_reader import die_of_the_first, send_much
from tests.pipeline.test_stages import warc
from tests.web_fixture import PATIENCE

HTML = b"<html><title>t</title><p>text of a page</p></html>"


@pytest.fixture
def crawled(tmp_path: Path) -> Path:
    """A folder as somebody else's crawler leaves it: three WARC files of two pages, and other things."""
    folder = tmp_path / "theirs"
    (folder / "deeper").mkdir(parents=True)
    for number, name in enumerate(("a.warc.gz", "b.warc.gz", "deeper/c.warc.gz")):
        hosts = ("news.example.org", "other.test")
        warc(folder / name, [(f"http://{host}/{number}", 200, "text/html", HTML + host.encode()) for host in hosts])
    (folder / "a.warc.wet.gz").write_bytes(b"")
    (folder / "README").write_text("hello")
    return folder


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Engine]:
    with Engine(build_settings({}, tmp_path), NullProgress()) as opened:
        yield opened


def names(sources: list[WarcSource]) -> list[str]:
    return [source.name for source in sources]


def test_a_folder_is_read_side_by_side_and_filtered(engine: Engine, crawled: Path) -> None:
    sources = resolve_sources([str(crawled)])
    assert names(sources) == ["a.warc.gz", "b.warc.gz", "c.warc.gz"]
    taken = ImportFilter(url_patterns=("http://*/1", "http://*/2"), domains=("example.org",))
    counts = import_warc_files(engine, sources, taken, processes=2).outcome_counts
    assert counts == {Reason.FETCHED: 2, Reason.OUT_OF_SCOPE: 4}
    assert engine.store.frontier.known_urls(["http://news.example.org/1", "http://other.test/1"]) == {
        "http://news.example.org/1"
    }
    everything = import_warc_files(engine, sources, processes=2).outcome_counts
    assert everything == {Reason.FETCHED: 4, Reason.UNCHANGED: 2}


def test_a_damaged_file_is_said_and_the_others_are_kept(engine: Engine, crawled: Path) -> None:
    (crawled / "a.warc.gz").write_bytes((crawled / "a.warc.gz").read_bytes()[:-30])
    with pytest.raises(StoreError, match=r"a\.warc\.gz is not a complete WARC file"):
        import_warc_files(engine, resolve_sources([str(crawled)]), processes=2)
    assert engine.store.frontier.url_count() >= 5


def test_a_reader_that_dies_is_a_fault_of_its_file_alone(crawled: Path) -> None:
    found = list(read_sources(resolve_sources([str(crawled)]), die_of_the_first, 2))
    [failed] = [one for one in found if isinstance(one, SourceFailure)]
    assert failed.source.name == "a.warc.gz" and "ended with exit code 3" in failed.reason
    assert len(found) == 5


def test_readers_that_are_killed_while_they_send_are_faults_of_their_files_alone(crawled: Path) -> None:
    sources = resolve_sources([str(crawled)])
    results, senders = read_sources(sources, send_much, 2), set[str]()
    while len(senders) < 2:
        outcome = next(results)
        assert isinstance(outcome, Outcome)
        senders.add(outcome.detail.split()[0])
    for process in multiprocessing.active_children():
        os.kill(process.pid or 0, signal.SIGKILL)
    rest = list(results)
    assert sorted(one.source.name for one in rest if isinstance(one, SourceFailure)) == ["a.warc.gz", "b.warc.gz"]
    assert all("exit code -9; import it again" in one.reason for one in rest if isinstance(one, SourceFailure))
    assert [one.detail.split()[0] for one in rest if isinstance(one, Outcome)] == ["c.warc.gz"] * 3


def test_a_bucket(engine: Engine, crawled: Path, bucket: str) -> None:
    endpoint, place = os.environ["AWS_ENDPOINT_URL"], bucket.removeprefix("s3://")
    for name in ("a.warc.gz", "deeper/c.warc.gz", "README"):
        assert requests.put(f"{endpoint}/{place}/{name}", data=(crawled / name).read_bytes(), timeout=PATIENCE).ok
    sources = resolve_sources([bucket])
    assert names(sources) == ["a.warc.gz", "c.warc.gz"]
    assert import_warc_files(engine, sources).outcome_counts == {Reason.FETCHED: 4}
    with pytest.raises(StoreError, match="cannot read s3://"):
        import_warc_files(engine, [WarcSource(f"{bucket}/absent.warc.gz")])


def test_common_crawls_list_of_paths(engine: Engine, crawled: Path) -> None:
    lists = crawled / "warc.paths.gz"
    lists.write_bytes(gzip.compress(b"a.warc.gz\ndeeper/c.warc.gz\n"))
    handler = partial(SimpleHTTPRequestHandler, directory=str(crawled))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        sources = resolve_sources([str(lists)], f"http://127.0.0.1:{server.server_port}/")
        assert import_warc_files(engine, sources).outcome_counts == {Reason.FETCHED: 4}
        server.shutdown()


@pytest.mark.parametrize("name", ["CC-1.warc.wet.gz", "s3://commoncrawl/x.wet", "wet.paths.gz", "x.warc.wat.gz"])
def test_text_that_was_made_of_pages_is_refused(name: str) -> None:
    with pytest.raises(SettingsError, match=r"cannot be imported: import the \.warc\.gz"):
        resolve_sources([name])


@pytest.mark.parametrize("location", ["s3://bucket/", "s3://bucket/a.warc.gz"])
def test_a_missing_package_is_named(location: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "fsspec", None)
    with pytest.raises(StoreError, match=r"pip install 'plumbline-search\[s3\]'"):
        [source.open() for source in resolve_sources([location])]


def test_an_import_retains_the_schedule_of_a_crawled_page(engine: Engine, crawled: Path) -> None:
    url, frontier = "http://other.test/0", engine.store.frontier
    frontier.add_urls([NewUrl(url, Host("other.test"), 1, 0, UrlKind.UNKNOWN, 0.0)])
    frontier.record_visits([Visit(frontier.find_entries([url])[url], Outcome(Reason.HTTP_ERROR), 5.0, 99.0, 7.0)])
    import_warc_files(engine, [WarcSource(str(crawled / "a.warc.gz"))])
    assert frontier.last_visits([url])[url].due_at == 99.0 and frontier.find_entries([url])[url].gap == 7.0


def test_nothing_there(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="has no WARC files"):
        resolve_sources([str(tmp_path)])
    with pytest.raises(StoreError, match="cannot read"):
        resolve_sources([str(tmp_path / "absent.paths")])
