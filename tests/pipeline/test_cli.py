"""Bad settings, bad files, bad neighbours and bad pages, met by `plumb`.

Each time: one line on standard error that says what to do, exit status 1, no traceback, and nothing lost. A page that
cannot be used becomes an outcome that `plumb status` counts and `plumb explain` shows.
"""

import gzip
import json
import os
import random
import shutil
import socket
import sqlite3
import subprocess
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest

from docstore.warc_reader import read_warc
from tests.crash_harness import LocalVertical, Said
from tests.local_workers import local_workers
from tests.web_fixture import PATIENCE, Answer, Request, Site, page, refusing_port

HTML = {"Content-Type": "text/html; charset=utf-8"}
ROBOTS = Answer(200, b"User-agent: *\nDisallow: /private\n", {"Content-Type": "text/plain"})
NOISE = random.Random(2019)
TEST_OVER = threading.Event()


def article(number: int) -> str:
    """Some 40 kB of text that does not compress to nothing."""
    lines = ("".join(chr(NOISE.randrange(0x4E00, 0x9FA5)) for _ in range(300)) for _ in range(40))
    return f"<h1>标题{number}</h1>" + "".join(f"<p>{line}，有句号。</p>" for line in lines)


@pytest.fixture(scope="module")
def site() -> Iterator[Site]:
    """A home page with forty articles."""
    articles: dict[str, Answer | str] = {f"/{number}.html": article(number) for number in range(40)}
    with Site({"/": page(*articles), "/private/": page(), "/robots.txt": ROBOTS, **articles}) as running:
        yield running


@pytest.fixture
def vertical(site: Site, tmp_path: Path) -> Iterator[LocalVertical]:
    """A vertical of `site`, not crawled yet."""
    made = LocalVertical(tmp_path / "vertical").write({"crawl": crawl_of(site)})
    yield made
    made.end()


def crawl_of(site: Site, **changes: Any) -> dict[str, Any]:
    own = {"seeds": [site.url("/")], "inside_hosts": [site.host], "delay": 0.001, "per_host": 4}
    return {**own, **changes}


@pytest.fixture(scope="module")
def crawled(site: Site, tmp_path_factory: pytest.TempPathFactory) -> LocalVertical:
    """A vertical with its forty-one pages; for tests that change nothing, or copy it."""
    made = LocalVertical(tmp_path_factory.mktemp("bad_input") / "crawled").write({"crawl": crawl_of(site)})
    made.done("crawl")
    assert made.number("SELECT COUNT(*) FROM pages") == 41
    return made


@contextmanager
def taken_port() -> Iterator[int]:
    """A port on which somebody else listens."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        yield listener.getsockname()[1]


@pytest.fixture
def dead_port() -> Iterator[int]:
    """A port on which nobody listens."""
    with refusing_port() as port:
        yield port


def refused(said: Said, *parts: str) -> None:
    """The command failed with one line that has all of `parts` in it."""
    assert said.status == 1, said
    missing = [part for part in parts if part not in said.complaint]
    assert not missing, (missing, said)


class TestCommandLine:
    COMMANDS = (
        *("init", "run", "crawl", "extract", "index", "serve", "schedule", "status", "explain", "refresh", "import"),
        *("compare", "demo", "lexicon", "account", "fetch", "sites", "frontier", "warc", "topic", "takedown"),
        *("lexicon build", "lexicon show", "lexicon accept", "lexicon reject", "lexicon add", "lexicon publish"),
        *("lexicon rules", "lexicon import", "lexicon export", "lexicon term", "lexicon later", "lexicon merge"),
        *("lexicon edit", "lexicon class", "lexicon relate", "lexicon synonyms", "lexicon undo", "lexicon history"),
        *("alerts", "backup", "check", "doctor", "embed", "mcp", "ocr", "restore", "up", "upgrade"),
        *("lexicon define", "lexicon versions", "lexicon diff", "lexicon revert", "lexicon preview", "lexicon report"),
    )

    def test_every_command_is_listed_here(self) -> None:
        from pipeline.cli.lexicon import lexicon
        from pipeline.cli.main import COMMANDS

        assert {*COMMANDS, *(f"lexicon {name}" for name in lexicon.commands)} == set(self.COMMANDS)

    def test_help_of_each_command_needs_no_settings(self, tmp_path: Path) -> None:
        vertical = LocalVertical(tmp_path)
        answers = {command: vertical.plumb(*command.split(), "--help") for command in ("", *self.COMMANDS)}
        faults = [
            said for said in answers.values() if (said.status, said.err, said.out[:12]) != (0, "", "Usage: plumb")
        ]
        assert faults == []

    @pytest.mark.parametrize(
        "arguments",
        [
            *(["craw"], ["crawl", "--max-pages", "many"], ["explain"], ["-s", "crawl.threads", "crawl"]),
            *(["lexicon", "accept"], ["demo", "--port", "99999"]),
        ],
        ids=" ".join,
    )
    def test_misuse(self, vertical: LocalVertical, arguments: list[str]) -> None:
        said = vertical.plumb(*arguments)
        assert said.status == 2
        assert said.complaint.startswith("plumb") and "; usage: plumb" in said.complaint


class TestSettings:
    """The messages of wrong settings are tested in test_settings.py."""

    @pytest.mark.parametrize(
        ("text", "parts"),
        [
            ("[crawl]\nthread = 2", ["unknown setting crawl.thread", "did you mean threads?"]),
            ("[crawl\nseeds = []", ["is not valid TOML", "line 1"]),
        ],
        ids=lambda value: value.replace("\n", " ") if isinstance(value, str) else "",
    )
    def test_refused(self, vertical: LocalVertical, text: str, parts: list[str]) -> None:
        vertical.config.write_text(text, encoding="utf-8")
        refused(vertical.plumb("run"), *parts)
        assert not vertical.data.exists()

    def test_the_file_is_missing(self, tmp_path: Path) -> None:
        refused(LocalVertical(tmp_path).plumb("run"), str(tmp_path), "does not exist", "plumb init")

    def test_the_file_is_no_text(self, vertical: LocalVertical) -> None:
        vertical.config.write_bytes(b"\xff\xfe\x00\x80")
        refused(vertical.plumb("run"), "is not valid TOML")

    def test_a_file_is_never_overwritten(self, vertical: LocalVertical) -> None:
        before = vertical.config.read_bytes()
        refused(vertical.plumb("init", str(vertical.config)), "already exists")
        assert vertical.config.read_bytes() == before


class TestSeeds:
    @pytest.mark.parametrize(
        ("crawl", "parts"),
        [
            ({"seeds": []}, ["No site has a start URL"]),
            ({"seeds": ["ftp://a.test/"]}, ["expected http or https URLs"]),
            ({"seeds": ["http://a.test/robots.txt"]}, ["is not a page"]),
            ({"inside_hosts": []}, ["None of the seeds", "private or reserved", "crawl.inside_hosts"]),
            (
                {"seeds": ["http://nowhere.invalid/"], "contact": "me@oil.test"},
                ["None of the seeds", "nowhere.invalid", "the start URLs"],
            ),
            ({"seeds": ["http://nowhere.invalid/"]}, ["crawl.contact is empty", "nowhere.invalid can reach you"]),
        ],
        ids=["none", "not http", "robots.txt", "inside", "unknown host", "nobody to complain to"],
    )
    def test_refused(self, site: Site, vertical: LocalVertical, crawl: dict[str, Any], parts: list[str]) -> None:
        vertical.write({"crawl": crawl_of(site, **crawl)})
        refused(vertical.plumb("crawl"), *parts)

    @pytest.mark.parametrize(
        ("path", "parts"),
        [
            ("/private/", ["robots_forbidden", "robots.txt forbids"]),
            ("/nowhere", ["gone, 404", "check the start URLs"]),
        ],
    )
    def test_unusable(self, site: Site, vertical: LocalVertical, path: str, parts: list[str]) -> None:
        vertical.write({"crawl": crawl_of(site, seeds=[site.url(path)])})
        refused(vertical.plumb("crawl"), "None of the seeds", *parts)

    def test_nobody_answers(self, vertical: LocalVertical, dead_port: int) -> None:
        host = f"127.0.0.1:{dead_port}"
        vertical.write({"crawl": {"seeds": [f"http://{host}/"], "inside_hosts": [host]}})
        refused(vertical.plumb("crawl"), "unreachable", "Connection refused", "check the start URLs")


class TestPorts:
    def test_of_the_search_page(self, crawled: LocalVertical) -> None:
        with taken_port() as port:
            refused(crawled.plumb("serve", "--port", str(port)), f"127.0.0.1:{port}", "in use", "--port", "search.port")

    def test_a_host_that_is_not_ours(self, crawled: LocalVertical) -> None:
        refused(crawled.plumb("serve", "--host", "nowhere.invalid"), "cannot listen", "search.host")

    @pytest.mark.exhaustive
    @pytest.mark.parametrize("offset", [0, 1000], ids=["solr", "zookeeper"])
    def test_of_solr(self, crawled: LocalVertical, offset: int) -> None:
        with taken_port() as port:
            said = crawled.plumb("-s", f"index.solr_port={port - offset}", "index")
        refused(said, f"port {port} is in use", "index.solr_port")

    def test_of_the_demo_sites(self, tmp_path: Path) -> None:
        with taken_port() as port:
            said = LocalVertical(tmp_path).plumb("demo", "--folder", str(tmp_path / "demo"), "--site-port", str(port))
        refused(said, f"port {port} is taken", "another port")


class TestOperatorsSolr:
    def index(self, vertical: LocalVertical, url: str, timeout: float = PATIENCE) -> Said:
        return vertical.plumb("-s", f"index.solr_url={url}", "-s", f"index.request_timeout={timeout}", "index")

    def test_nobody_answers(self, crawled: LocalVertical, dead_port: int) -> None:
        said = self.index(crawled, f"http://127.0.0.1:{dead_port}/solr")
        refused(said, "is not responding", "start it, or correct index.solr_url")

    def test_it_hangs(self, crawled: LocalVertical) -> None:
        with taken_port() as port:
            said = self.index(crawled, f"http://127.0.0.1:{port}/solr", timeout=1.0)
        refused(said, "is not responding", "index.solr_url")

    def test_no_address(self, crawled: LocalVertical) -> None:
        refused(self.index(crawled, "nonsense"), "Solr at nonsense is not responding", "index.solr_url")

    @pytest.mark.parametrize(
        ("answer", "part"),
        [
            (Answer(200, b"<html>hello</html>"), "correct index.solr_url"),
            (Answer(200, b"[]"), "correct index.solr_url"),
            (Answer(401, b"{}"), "correct index.solr_url"),
            (Answer(200, b'{"mode": "std"}'), "start it in cloud mode"),
        ],
        ids=["html", "a list", "locked", "not in cloud mode"],
    )
    def test_garbage(self, crawled: LocalVertical, answer: Answer, part: str) -> None:
        with Site({"/solr/admin/info/system?wt=json": answer}) as solr:
            refused(self.index(crawled, solr.url("/solr")), part)


class TestStore:
    @pytest.mark.parametrize(
        ("url", "part"),
        [
            ("nonsense", "store.url"),
            ("oracle://host/x", "store.url"),
            ("postgresql+psycopg://127.0.0.1:1/x", "check that it exists"),
        ],
    )
    def test_another_database(self, vertical: LocalVertical, url: str, part: str) -> None:
        refused(vertical.plumb("-s", f"store.url={url}", "status"), part)

    def test_made_by_a_newer_program(self, crawled: LocalVertical, vertical: LocalVertical) -> None:
        clone(crawled, vertical)
        write_sql(vertical, "UPDATE meta SET value = '999' WHERE key = 'schema_version'")
        refused(vertical.plumb("crawl"), "schema version 999", "update the program")
        write_sql(vertical, "UPDATE meta SET value = '1' WHERE key = 'schema_version'")
        assert len(vertical.kept().urls) == 41

    @pytest.mark.parametrize(
        "spoil",
        [
            pytest.param(lambda whole: b"garbage" * 1000, id="garbage"),
            pytest.param(lambda whole: bytes(4096) + whole[4096:], id="first page zeroed"),
            pytest.param(lambda whole: whole[:4096] + b"\xaa" * 65536 + whole[69632:], id="pages overwritten"),
            pytest.param(lambda whole: whole[: len(whole) // 2], id="half"),
        ],
    )
    def test_damaged(self, crawled: LocalVertical, vertical: LocalVertical, spoil: Callable[[bytes], bytes]) -> None:
        clone(crawled, vertical)
        file = vertical.data / "store.db"
        file.write_bytes(spoil(file.read_bytes()))
        refused(vertical.plumb("run"), "The store is damaged", "run “plumb check --repair”")

    def test_a_write_ahead_log_of_nobody(self, crawled: LocalVertical, vertical: LocalVertical) -> None:
        """What a backup that copies files under a running program may leave: SQLite ignores a log that is not its."""
        clone(crawled, vertical)
        (vertical.data / "store.db-wal").write_bytes(NOISE.randbytes(50_000))
        vertical.done("status")
        assert len(vertical.kept().urls) == 41


def clone(source: LocalVertical, vertical: LocalVertical) -> None:
    """Let `vertical` be a copy of `source`."""
    shutil.rmtree(vertical.folder)
    source.copy_to(vertical.folder)


def write_sql(vertical: LocalVertical, statement: str) -> None:
    with closing(sqlite3.connect(vertical.data / "store.db")) as connection, connection:
        assert connection.execute(statement).rowcount == 1


class TestFolders:
    @pytest.mark.parametrize(
        ("what", "command", "parts"),
        [
            ("file:data", "status", ["cannot create", "choose another vertical.data_dir"]),
            ("file:data/logs", "status", ["cannot create", "vertical.data_dir"]),
            ("folder:data/logs/plumb.log", "status", ["cannot write the log", "make the file writable"]),
            ("file:data/warc", "crawl", ["data/warc", "its folder is writable"]),
            ("file:data/locks", "crawl", ["cannot create the lock file", "is writable"]),
            ("folder:data/store.db", "status", ["unable to open", "its folder is writable"]),
            ("file:data/solr", "index", ["data/solr", "cannot be used"]),
        ],
    )
    def test_something_else_is_there(self, vertical: LocalVertical, what: str, command: str, parts: list[str]) -> None:
        kind, _, path = what.partition(":")
        place = vertical.folder / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.mkdir() if kind == "folder" else place.write_text("")
        refused(vertical.plumb(command), *parts)

    def test_no_such_place(self, site: Site, vertical: LocalVertical) -> None:
        vertical.write({"vertical": {"data_dir": "/proc/nowhere"}, "crawl": crawl_of(site)})
        refused(vertical.plumb("status"), "cannot create /proc/nowhere", "choose another vertical.data_dir")

    def test_a_seen_filter_that_cannot_be_written_costs_nothing(self, vertical: LocalVertical) -> None:
        (vertical.data / "seen.bloom").mkdir(parents=True)
        vertical.done("crawl")
        assert len(vertical.kept().urls) == 41


class TestDisk:
    """A real disk that is full: a small tmpfs, where the system lets us mount one, and a limit for files elsewhere."""

    @pytest.fixture
    def disk(self, vertical: LocalVertical) -> Iterator[LocalVertical]:
        vertical.data.mkdir()
        if not mounted("-t", "tmpfs", "-o", "size=800k", "tmpfs", str(vertical.data)):
            pytest.skip("may not mount a tmpfs here")
        try:
            yield vertical
        finally:
            vertical.end()
            subprocess.run(["umount", str(vertical.data)], check=True)

    @pytest.mark.process
    def test_full_while_crawling(self, disk: LocalVertical, crawled: LocalVertical) -> None:
        refused(
            disk.finished(disk.start("crawl")),
            "The disk that holds the store is full",
            "free some space",
            "nothing was lost",
        )
        assert 0 < disk.check_archive() < 41
        for file in (disk.data / "warc").iterdir():
            assert list(read_warc(file))  # whole to its end
        resize(disk)
        disk.done("crawl")
        assert disk.kept() == crawled.kept()
        assert disk.check_archive() == 41

    def test_full_or_read_only_in_a_later_stage(self, disk: LocalVertical) -> None:
        resize(disk)
        disk.done("crawl")
        before = disk.kept()
        for command in ("extract", "lexicon add 油气田"):
            room = os.statvfs(disk.data)
            (disk.data / "filler").write_bytes(bytes(room.f_bavail * room.f_frsize))
            refused(disk.plumb(*command.split()), "The disk that holds the store is full", "free some space")
            (disk.data / "filler").unlink()
            assert disk.kept() == before
        assert mounted("-o", "remount,ro", str(disk.data))
        refused(disk.plumb("extract"), "Read-only file system", "make the file writable")
        assert mounted("-o", "remount,rw", str(disk.data))
        with local_workers():
            disk.done("extract")
        disk.done("lexicon", "add", "油气田")
        after = disk.kept()
        assert after.urls == before.urls and after.extracted and "油气田" in after.terms

    @pytest.mark.process
    def test_a_file_may_not_grow(self, vertical: LocalVertical, crawled: LocalVertical) -> None:
        vertical.done("status")
        said = vertical.finished(vertical.start("crawl", largest_file=300_000))
        refused(said, "The files of the store may not grow", "ulimit -f", "nothing was lost")
        vertical.done("crawl")
        assert vertical.kept() == crawled.kept()
        assert vertical.check_archive() == 41


def mounted(*arguments: str) -> bool:
    return subprocess.run(["mount", *arguments], capture_output=True, check=False).returncode == 0


def resize(disk: LocalVertical) -> None:
    """Give the disk room."""
    assert mounted("-o", "remount,size=32m", str(disk.data))


@pytest.fixture(scope="module")
def warc(crawled: LocalVertical) -> bytes:
    """The WARC file of a crawl."""
    [file] = (crawled.data / "warc").iterdir()
    return file.read_bytes()


class TestImport:
    @pytest.mark.parametrize(
        ("content", "name"),
        [
            (b"", "x.warc"),
            (b"hello " * 100, "x.warc"),
            (gzip.compress(b"hello " * 100), "x.warc.gz"),
            (NOISE.randbytes(999), "x.warc"),
            (b"\x1f\x8b" + NOISE.randbytes(999), "x.warc.gz"),
        ],
        ids=["empty", "text", "zipped text", "noise", "zipped noise"],
    )
    def test_no_warc_file(self, vertical: LocalVertical, content: bytes, name: str) -> None:
        file = vertical.folder / name
        file.write_bytes(content)
        said = vertical.plumb("import", str(file))
        refused(said, f"{file} is not a complete WARC file", "import it again")
        assert len(said.err) < 400

    def test_missing(self, vertical: LocalVertical) -> None:
        refused(vertical.plumb("import", "nowhere.warc"), "cannot read nowhere.warc", "No such file")

    @pytest.mark.parametrize("packed", [True, False], ids=["gzip", "plain"])
    def test_cut_short(self, vertical: LocalVertical, crawled: LocalVertical, warc: bytes, packed: bool) -> None:
        """What came before the cut is kept; the whole file brings the rest."""
        whole, name = (warc, "x.warc.gz") if packed else (gzip.decompress(warc), "x.warc")
        file = vertical.folder / name
        file.write_bytes(whole[: len(whole) // 2])
        refused(
            vertical.plumb("import", str(file)),
            "is not a complete WARC file",
            "its readable records were imported",
        )
        some = vertical.check_archive()
        assert 10 < some < 31
        file.write_bytes(whole)
        vertical.done("import", str(file))
        assert vertical.check_archive() == 41
        assert vertical.kept().urls == crawled.kept().urls

    def test_a_record_without_an_address(self, vertical: LocalVertical, warc: bytes) -> None:
        file = vertical.folder / "x.warc"
        file.write_bytes(gzip.decompress(warc).replace(b"WARC-Target-URI", b"WARC-Tarnished!", 1))
        assert "fetched 40, bad_url 1" in vertical.done("import", str(file)).out


class TestWords:
    @pytest.mark.parametrize(
        ("arguments", "parts"),
        [
            ("explain http://nowhere.test/", ["http://nowhere.test/ is unknown"]),
            ("explain :::", ["':::' is not a URL"]),
            ("refresh http://nowhere.test/", ["is unknown", "crawl a page that links to it"]),
            ("lexicon accept 未知词语", ["No such term: 未知词语", "plumb lexicon add"]),
            ("lexicon publish", ["Nothing to publish"]),
        ],
    )
    def test_unknown(self, crawled: LocalVertical, arguments: str, parts: list[str]) -> None:
        refused(crawled.plumb(*arguments.split()), *parts)

    def test_lines_that_are_not_read_are_listed_and_the_others_imported(
        self, crawled: LocalVertical, tmp_path: Path
    ) -> None:
        file = tmp_path / "dictionary.txt"
        file.write_bytes("油气田 5 n\n".encode("gbk"))
        said = crawled.plumb("lexicon", "import", str(file))
        assert said.status == 1 and "line 1: not UTF-8" in said.err and crawled.kept().terms == {}
        file.write_bytes("油气田 5 n\n钻井".encode()[:-1])
        said = crawled.plumb("lexicon", "import", str(file))
        assert said.status == 0 and "line 2: not UTF-8" in said.err and [*crawled.kept().terms] == ["油气田"]


def html(body: bytes, **headers: str) -> Answer:
    return Answer(200, body, {**HTML, **{name.replace("_", "-"): value for name, value in headers.items()}})


def late(_: Request) -> Answer:
    """Answer only when the test is over, or the client gives up at last."""
    TEST_OVER.wait(PATIENCE)
    return html(b"<p>late")


PACKED = gzip.compress(NOISE.randbytes(9000).hex().encode())
BAD_PAGES: dict[str, tuple[Answer | Callable[[Request], Answer], str, str]] = {
    # path: what is served, the reason that the crawl gives, and extraction where it comes so far
    "/empty": (html(b""), "empty", ""),
    "/blank": (html(b" \r\n\t "), "empty", ""),
    "/noise": (html(NOISE.randbytes(20_000)), "fetched", "undecodable"),
    "/utf16": (html(b"\xff\xfe" + NOISE.randbytes(20_001)), "fetched", "undecodable"),
    "/zeros": (html(bytes(5000)), "fetched", "unparsable"),
    "/script": (html(b"<html><script>" + b"a" * 5000), "fetched", "no_body"),
    "/copyright": (html("<html><p>版权所有 Copyright 2024 石油网 京ICP备123号".encode()), "fetched", "copyright_only"),
    "/gone": (Answer(404, b"<p>no", HTML), "gone", ""),
    "/broken": (Answer(500, b"<p>no", HTML), "http_error", ""),
    "/private/page": (html(b"<p>secret"), "robots_forbidden", ""),
    "/picture": (Answer(200, b"\x89PNG\r\n\x1a\n", {"Content-Type": "image/png"}), "not_html", ""),
    "/disguised": (html(b"\x89PNG\r\n\x1a\n" + NOISE.randbytes(999)), "not_html", ""),
    "/loop1": (Answer(302, b"", {"Location": "/loop2"}), "duplicate", ""),
    "/loop2": (Answer(302, b"", {"Location": "/loop1"}), "too_many_redirects", ""),
    "/itself": (Answer(301, b"", {"Location": "/itself"}), "too_many_redirects", ""),
    "/away": (Answer(302, b"", {"Location": "http://elsewhere.test/"}), "redirected_off_scope", ""),
    "/large": (html(b"<p>" + b"x" * 400_000), "too_large", ""),
    "/cut": (html(PACKED[:-900], Content_Encoding="gzip"), "bad_response", ""),
    "/not_packed": (html(b"<p>plain", Content_Encoding="gzip"), "bad_response", ""),
    "/late": (late, "timed_out", ""),
}


def test_bad_pages_become_outcomes(tmp_path: Path) -> None:
    TEST_OVER.clear()
    served = {path: answer for path, (answer, _, _) in BAD_PAGES.items()}
    linked = [path for path in BAD_PAGES if path != "/loop2"]  # found by /loop1 alone: else either may be first
    with Site({**served, "/": page(*linked), "/robots.txt": ROBOTS}) as site:
        crawl = crawl_of(site, depth=1, max_bytes=300_000, read_timeout=4.0)
        vertical = LocalVertical(tmp_path / "vertical").write({"crawl": crawl})
        vertical.done("crawl")
        TEST_OVER.set()
        with local_workers():
            vertical.done("extract")
    found = {path: outcomes(vertical, site.url(path)) for path in BAD_PAGES}
    for path in ("/utf16", "/gone", "/late"):
        said = vertical.done("explain", "--json", site.url(path))
        assert {row["stage"]: row["reason"] for row in json.loads(said.out)["outcomes"]} == found[path]
    assert found == {
        path: {"crawl": fetched} | ({"extract": extracted} if extracted else {})
        for path, (_, fetched, extracted) in BAD_PAGES.items()
    }
    counted = json.loads(vertical.done("status", "--json").out)["outcomes"]
    home = outcomes(vertical, site.url("/"))
    for stage in ("crawl", "extract"):
        assert counted[stage] == Counter(one[stage] for one in [*found.values(), home] if stage in one)


def outcomes(vertical: LocalVertical, url: str) -> dict[str, str]:
    """Stage -> reason."""
    return dict(vertical.ask(f"SELECT stage, reason FROM outcomes JOIN urls USING (url_id) WHERE url = '{url}'"))
