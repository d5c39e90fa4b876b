"""The caps of the crawl hold for WARC files of others, and for what is read back: in a process with little memory."""

import gzip
import hashlib
import json
import random
import subprocess
import sys
import zlib
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

import brotli  # type: ignore[import-untyped]
import pytest
import zstandard

from crawler.settings import CrawlSettings
from docstore.store import open_sqlite_store
from docstore.warc_archive import WarcRecordLostError, WarcRecordTooLargeError, gzip_member
from docstore.warc_reader import read_warc
from domain.errors import StoreError
from domain.outcome import Outcome, Reason
from domain.page import Page, WarcPointer
from pipeline.warc_import.importer import read_warc_pages
from pipeline.warc_import.sources import NO_FILTER, WarcSource

CAP = 1_000_000
LITTLE = 200_000_000  # bytes of URL space beyond what the program takes by itself
LARGE = 1 << 28  # bytes: more than LITTLE
GIGABYTE = 1 << 30
PAGE = b"<!doctype html><title>t</title><p>text"


@cache
def zipped(size: int, begin: bytes = b"") -> bytes:
    """gzip of zeros, made without ever holding them."""
    packer, piece = zlib.compressobj(9, zlib.DEFLATED, 31), bytes(1 << 20)
    parts = [packer.compress(begin)]
    parts += [packer.compress(piece) for _ in range(size >> 20)]
    return b"".join((*parts, packer.flush()))


def head(url: str, length: int) -> bytes:
    return (
        f"WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: {url}\r\nWARC-Date: 2024-05-01T00:00:00Z\r\n"
        f"WARC-Record-ID: <urn:uuid:00000000-0000-0000-0000-000000000001>\r\n"
        f"Content-Type: application/http; msgtype=response\r\nContent-Length: {length}\r\n\r\n"
    ).encode()


def record(body: bytes, *headers: str, url: str = "http://a.test/x", lie: int = 0) -> bytes:
    """One record, not compressed."""
    fields = "".join(f"{line}\r\n" for line in ("Content-Type: text/html; charset=utf-8", *headers))
    payload = f"HTTP/1.1 200 OK\r\n{fields}\r\n".encode() + body
    return head(url, len(payload) + lie) + payload + b"\r\n\r\n"


def chunked(body: bytes) -> bytes:
    return b"%x\r\n%s\r\n0\r\n\r\n" % (len(body), body)


GOOD = gzip_member(record(PAGE, url="http://a.test/good"))


def huge_record() -> bytes:
    """A record that is too large for the memory, not coded but by the file's own gzip."""
    begin = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n"
    return zipped(LARGE, head("http://a.test/x", len(begin) + LARGE) + begin)


def endless_headers() -> bytes:
    begin = head("http://a.test/x", 10 * GIGABYTE) + b"HTTP/1.1 200 OK\r\nX: "
    return zipped(LARGE, begin)


FILES = {
    "a huge record": huge_record,
    "gzip": lambda: gzip_member(record(zipped(LARGE), "Content-Encoding: gzip")),
    "gzip in gzip": lambda: gzip_member(record(gzip.compress(zipped(LARGE)), "Content-Encoding: gzip, gzip")),
    "chunks and gzip": lambda: gzip_member(
        record(chunked(zipped(LARGE)), "Transfer-Encoding: chunked", "Content-Encoding: gzip")
    ),
    "a chunk that is said to be a gigabyte": lambda: gzip_member(
        record(b"40000000\r\n" + PAGE, "Transfer-Encoding: chunked")
    ),
    "brotli": lambda: gzip_member(record(brotli.compress(bytes(LARGE), quality=1), "Content-Encoding: br")),
    "zstd": lambda: gzip_member(record(zstandard.compress(bytes(LARGE)), "Content-Encoding: zstd")),
}

PROGRAM = """
import json, resource, sys
from pathlib import Path
from pipeline.engine import Engine
from pipeline.warc_import.importer import import_warc_files
from pipeline.warc_import.sources import WarcSource
from pipeline.progress import NullProgress
from pipeline.settings import load_settings
from domain.errors import PlumblineError
import crawler.http.content_encoding

little, *folders = sys.argv[1:]
for folder in map(Path, folders):
    with Engine(load_settings(folder / "v.toml"), NullProgress()) as engine:
        taken = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (taken + int(little), resource.RLIM_INFINITY))
        try:
            counts = import_warc_files(engine, [WarcSource(str(folder / "x.warc.gz"))]).outcome_counts
            answer = {reason.value: count for reason, count in counts.items()}
        except PlumblineError as error:
            answer = {"error": str(error)}
        except MemoryError:
            answer = {"error": "out of memory"}
    print(json.dumps(answer), flush=True)
"""


def import_all(folder: Path, files: Mapping[str, bytes]) -> dict[str, dict[str, object]]:
    """Import each WARC file into a vertical of its own, in one process with little memory; what it says by name."""
    folders = [folder / str(number) for number in range(len(files))]
    for own, data in zip(folders, files.values(), strict=True):
        own.mkdir()
        (own / "v.toml").write_text(f"[crawl]\nseeds = ['http://a.test/']\nmax_bytes = {CAP}\n")
        (own / "x.warc.gz").write_bytes(data)
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(LITTLE), *map(str, folders)], capture_output=True, check=False, text=True
    )
    assert done.returncode == 0, (done.stdout, done.stderr[-2000:])
    return dict(zip(files, map(json.loads, done.stdout.splitlines()), strict=True))


def stored_urls(folder: Path) -> list[str]:
    """The URLs that an import kept."""
    with open_sqlite_store(folder / "data") as store:
        return list(store.frontier.iter_urls())


@pytest.mark.process
def test_an_import_needs_little_memory_whatever_the_file_says(tmp_path: Path) -> None:
    files = {name: make() + GOOD for name, make in FILES.items()}
    assert max(map(len, files.values())) < 2_000_000
    long_url = "http://a.test/" + "x" * 3000
    faults = {
        "endless headers": GOOD + endless_headers(),
        "a record longer than the file": GOOD + gzip_member(record(PAGE, lie=10 * GIGABYTE)),
        "a long URL": gzip_member(record(PAGE, url=long_url)) + GOOD,
    }
    said = import_all(tmp_path, {**files, **faults})
    assert {name: said[name] for name in files} == {key: {"too_large": 1, "fetched": 1} for key in files}
    assert all(stored_urls(tmp_path / str(number)) == ["http://a.test/good"] for number in range(len(files) + 1))
    headers, cut_short, long = (said[name] for name in faults)
    assert "headers without end" in str(headers["error"])
    assert "its readable records were imported" in str(headers["error"])
    assert "cut short" in str(cut_short["error"])
    assert long == {"url_too_long": 1, "fetched": 1}


def read(folder: Path, *records: bytes, cap: int = CAP) -> Iterator[Page | Outcome]:
    (folder / "y.warc.gz").write_bytes(b"".join(map(gzip_member, records)))
    crawl = CrawlSettings(max_bytes=cap, max_document_mb=cap / 1_000_000)
    return read_warc_pages(WarcSource(str(folder / "y.warc.gz")), crawl, NO_FILTER, is_restore=False)


@pytest.mark.parametrize(
    ("raw", "headers"),
    [
        (PAGE, ()),
        (chunked(PAGE), ("Transfer-Encoding: chunked",)),
        (PAGE, ("Transfer-Encoding: chunked",)),
        (gzip.compress(PAGE), ("Content-Encoding: gzip",)),
        (PAGE, ("Content-Encoding: gzip",)),
        (gzip.compress(gzip.compress(PAGE)), ("Content-Encoding: gzip", "Content-Encoding: gzip")),
        (chunked(brotli.compress(PAGE)), ("Transfer-Encoding: chunked", "Content-Encoding: br")),
        (PAGE, ("Content-Length: 9999999999",)),
        (PAGE, ("Content-Length: 3",)),
        (PAGE, ("Content-Length: -1",)),
    ],
    ids=[
        *("plain", "chunks", "chunks undone", "gzip", "gzip undone", "gzip in gzip", "chunks and brotli"),
        *("says it is longer", "says it is shorter", "says nonsense"),
    ],
)
def test_every_coding_and_every_lie_gives_the_page(tmp_path: Path, raw: bytes, headers: tuple[str, ...]) -> None:
    [found] = read(tmp_path, record(raw, *headers))
    assert isinstance(found, Page)
    assert (found.body, found.digest) == (PAGE, hashlib.sha256(PAGE).hexdigest())


@pytest.mark.parametrize(
    ("made", "reason"),
    [
        (record(b"x" * (CAP + 1)), Reason.TOO_LARGE),
        (record(b"\x1f\x8b broken", "Content-Encoding: gzip"), Reason.MALFORMED_RESPONSE),
        (record(PAGE, "Content-Encoding: rot13"), None),
        (record(b"\x00\x01", "Content-Encoding: rot13"), Reason.MALFORMED_RESPONSE),
        (record(PAGE, *(f"X-{n}: y" for n in range(101))), Reason.MALFORMED_RESPONSE),
    ],
    ids=["large", "broken gzip", "unknown coding of a page", "unknown coding", "many headers"],
)
def test_a_record_that_cannot_be_used_is_an_outcome_with_its_url(
    tmp_path: Path, made: bytes, reason: Reason | None
) -> None:
    first, second = read(tmp_path, made, record(PAGE, url="http://a.test/2"))
    assert isinstance(second, Page)
    assert reason is None or (isinstance(first, Outcome) and first.reason is reason and "a.test/x" in first.detail)


@pytest.mark.parametrize("damage", ["flipped", "zeroed", "one byte short"])
def test_damaged_compression_is_no_end_of_the_file(tmp_path: Path, damage: str) -> None:
    """Wherever the damage is, it is said; the pages of records before it are kept."""
    body = b"<html>" + random.Random(1).randbytes(30_000)  # several reads of the file
    whole = b"".join(gzip_member(record(body, url=f"http://a.test/{n}")) for n in range(3))
    middle = len(whole) // 2
    damaged = {
        "flipped": whole[:middle] + bytes([whole[middle] ^ 1]) + whole[middle + 1 :],
        "zeroed": whole[:middle] + bytes(2000) + whole[middle + 2000 :],
        "one byte short": whole[:-1],
    }[damage]
    file = tmp_path / "damaged.warc.gz"
    file.write_bytes(damaged)
    urls = []
    with pytest.raises(StoreError, match="not a complete WARC file"):
        for page in read_warc(file):
            assert isinstance(page, Page)
            urls.append(page.url)
    assert urls and urls[0] == "http://a.test/0"


READ_BACK = """
import resource, sys
from pathlib import Path
from docstore.warc_archive import WarcArchive
from domain.page import WarcPointer

taken = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (taken + int(sys.argv[4]), taken + int(sys.argv[4])))
archive = WarcArchive(Path(sys.argv[1]), max_body_bytes=1_000_000)
try:
    archive.read_body(WarcPointer(sys.argv[2], 0, int(sys.argv[3])), "0" * 64)
except Exception as error:
    print(type(error).__name__, error.reason)
"""


@pytest.mark.process
def test_what_was_kept_before_there_was_a_cap_is_an_outcome(tmp_path: Path) -> None:
    data = huge_record()
    (tmp_path / "old.warc.gz").write_bytes(data)
    done = subprocess.run(
        [sys.executable, "-c", READ_BACK, str(tmp_path), "old.warc.gz", str(len(data)), str(LITTLE)],
        capture_output=True,
        check=False,
        text=True,
    )
    assert done.stdout == "WarcRecordTooLargeError too_large\n", done.stderr[-2000:]
    assert issubclass(WarcRecordTooLargeError, WarcRecordLostError)
    assert WarcRecordTooLargeError.reason is Reason.TOO_LARGE


def test_extraction_of_such_a_page_says_too_large(tmp_path: Path) -> None:
    from docstore.articles.source_pages import ArchivedPage
    from extractor import ExtractSettings
    from tests.local_workers import extract_pages

    def gone(page: ArchivedPage) -> bytes:
        raise WarcRecordTooLargeError("old.warc.gz at 0: more than 1000000 bytes")

    page = ArchivedPage(1, "http://a.test/x", "text/html", "0" * 64, WarcPointer("old.warc.gz", 0, 9), 0.0, "a.test")
    [found] = extract_pages([page], gone, ExtractSettings(), 1)
    assert found.result == Outcome(Reason.TOO_LARGE, "old.warc.gz at 0: more than 1000000 bytes")
