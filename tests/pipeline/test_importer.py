"""Records of WARC, ARC and WACZ files as other programs write them: each is read, or counted with a reason."""

import calendar
import gzip
import io
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from docstore.warc_archive import gzip_member
from docstore.warc_reader import parse_warc_date, remove_chunks
from domain.errors import StoreError
from domain.outcome import Reason
from pipeline.engine import Engine
from pipeline.progress import NullProgress
from pipeline.settings import build_settings
from pipeline.warc_import.importer import import_warc_files
from pipeline.warc_import.sources import resolve_sources

URL = "http://a.test/1"
PAGE = b"<!DOCTYPE html><html><title>Story</title><p>The text of the page, abc.</p>"
HTML = ("Content-Type: text/html; charset=utf-8",)
DATE = "2024-05-06T07:08:09Z"


def record(block: bytes, *lines: str, kind: str = "response", url: str = URL, date: str = DATE) -> bytes:
    lines = (f"WARC-Type: {kind}", f"WARC-Target-URI: {url}", f"WARC-Date: {date}", *lines)
    return "\r\n".join(("WARC/1.0", *lines, f"Content-Length: {len(block)}", "", "")).encode() + block + b"\r\n\r\n"


def http(body: bytes, *headers: str, status: str = "HTTP/1.1 200 OK") -> bytes:
    return "\r\n".join((status, *headers, "", "")).encode() + body


def response(body: bytes, *headers: str, status: str = "HTTP/1.1 200 OK", url: str = URL) -> bytes:
    return record(http(body, *headers, status=status), "Content-Type: application/http; msgtype=response", url=url)


def arc(*blocks: tuple[str, str, bytes]) -> bytes:
    version = b"1 0 lab\nURL IP-address Archive-date Content-type Archive-length\n\n"
    parts = [b"filedesc://x.arc 0.0.0.0 20240506070809 text/plain %d\n" % len(version), version]
    for url, content_type, block in blocks:
        parts += [f"{url} 192.0.2.1 20240506070809 {content_type} {len(block)}\n".encode(), block, b"\n"]
    return b"".join(parts)


def wacz(*members: bytes, compression: int = zipfile.ZIP_STORED) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", compression) as archive:
        archive.writestr("datapackage.json", "{}")
        for number, member in enumerate(members):
            archive.writestr(f"archive/{number}.warc.gz", member)
    return buffer.getvalue()


def chunks(*parts: bytes, size: str = "{:x}", end: bytes = b"0\r\n\r\n") -> bytes:
    return b"".join(size.format(len(part)).encode() + b"\r\n" + part + b"\r\n" for part in parts) + end


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Engine]:
    with Engine(build_settings({}, tmp_path), NullProgress()) as opened:
        yield opened


def import_file(engine: Engine, name: str, content: bytes) -> dict[Reason, int]:
    path = engine.settings.data_dir.parent / name
    path.write_bytes(content)
    return dict(import_warc_files(engine, resolve_sources([str(path)])).outcome_counts)


def stored_body(engine: Engine, url: str = URL) -> bytes:
    [page] = [page for page in engine.store.articles.iter_pending() if page.url == url]
    return engine.store.articles.read_page_body(page)


PLAIN = response(PAGE, *HTML)
OTHER = response(PAGE.replace(b"abc", b"def"), *HTML, url="http://a.test/2")
SECOND = "http://a.test/2"
CODED = (*HTML, "Content-Encoding: gzip")
CHUNKED = (*HTML, "Transfer-Encoding: chunked")


@pytest.mark.parametrize(
    ("name", "content", "count"),
    [
        ("a.warc", PLAIN + OTHER, 2),
        ("each-a-member.warc.gz", gzip_member(PLAIN) + gzip_member(OTHER), 2),
        ("one-member.warc.gz", gzip.compress(PLAIN + OTHER), 2),
        ("two-and-one.warc.gz", gzip_member(OTHER + PLAIN) + gzip_member(OTHER), 1),
        ("no-head.arc", arc((URL, "text/html", PAGE), (SECOND, "text/html", http(PAGE + b"x", *HTML))), 2),
        ("no-head.arc.gz", gzip.compress(arc((URL, "text/html", b"Text without a tag. " * 9))), 1),
        ("no-head.warc", record(PAGE, "Content-Type: application/http; msgtype=response"), 1),
        ("no-head-typed.warc", record(b"A text. " * 9, "Content-Type: text/html"), 1),
        ("blank-lines-before-head.warc", record(b"\r\n\r\n" + http(PAGE, *HTML)), 1),
        ("resource.warc", record(PAGE, *HTML, kind="resource"), 1),
        ("resource-without-type.warc", record(PAGE, kind="resource"), 1),
        ("brackets.warc", response(PAGE, *HTML, url=f"<{URL}>") + OTHER, 2),
        ("no-type.warc", response(PAGE), 1),
        ("wrong-type.warc", response(PAGE, "Content-Type: application/octet-stream"), 1),
        ("no-reason.warc", response(PAGE, *HTML, status="HTTP/2 200"), 1),
        ("status-203.warc", response(PAGE, *HTML, status="HTTP/1.1 203 OK"), 1),
        ("line-feeds.warc", record(http(PAGE, *HTML).replace(b"\r\n", b"\n")), 1),
        ("bom.warc", response(b"\xef\xbb\xbf" + PAGE, *CODED), 1),
        ("utf-16.warc", response("\ufeff".encode("utf-16-le") + PAGE.decode().encode("utf-16-le"), *CODED), 1),
        ("text-says-gzip.warc", response(b"Only text. " * 200, *CODED), 1),
        ("a.wacz", wacz(gzip_member(PLAIN), gzip_member(OTHER)), 2),
        ("deflated.wacz", wacz(PLAIN + OTHER, compression=zipfile.ZIP_DEFLATED), 2),
        ("chunks.warc", response(chunks(PAGE), *CHUNKED), 1),
        ("coded-chunks.warc", response(chunks(gzip.compress(PAGE)), *CHUNKED, "Content-Encoding: gzip"), 1),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_page_is_read_however_it_is_recorded(engine: Engine, name: str, content: bytes, count: int) -> None:
    counts = import_file(engine, name, content)
    assert counts[Reason.FETCHED] + counts.get(Reason.UNCHANGED, 0) >= count
    assert set(counts) <= {Reason.FETCHED, Reason.UNCHANGED}
    assert (
        stored_body(engine).strip().startswith((PAGE[:9], b"\xef\xbb\xbf<", b"\xff\xfe<", b"Text", b"A text", b"Only"))
    )


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (record(http(b"", *HTML), kind="revisit"), Reason.REVISIT_RECORD),
        (record(b"", kind="revisit"), Reason.REVISIT_RECORD),
        (record(b"Only the text", "Content-Type: text/plain", kind="conversion"), Reason.CONVERSION_RECORD),
        (record(PAGE, *HTML, kind="resource", url="urn:text:http://a.test/1"), Reason.INVALID_URL),
        (record(b"dns", "Content-Type: text/dns", url="dns:a.test"), Reason.INVALID_URL),
        (record(http(PAGE, *HTML)).replace(b"WARC-Target-URI", b"X-Target-URI"), Reason.INVALID_URL),
        (response(PAGE, *HTML, status="HTTP/1.1 404 Not Found"), Reason.GONE),
        (response(PAGE, *HTML, status="HTTP/1.1 500 Error"), Reason.HTTP_ERROR),
        (response(PAGE, *HTML, status="HTTP/1.1"), Reason.HTTP_ERROR),
        (response(PAGE, *HTML, status="HTTP/1.1 200OK"), Reason.HTTP_ERROR),
        (response(b"", *HTML, "Location: /2", status="HTTP/1.1 301 Moved"), Reason.REDIRECTED_TO_KNOWN_URL),
        (response(b"", *HTML), Reason.EMPTY_BODY),
        (record(b""), Reason.EMPTY_BODY),
        (response(b"\x89PNG\r\n", "Content-Type: image/png"), Reason.NOT_HTML),
        (response(b"\x00\x01\x02", *CODED), Reason.MALFORMED_RESPONSE),
        (response(gzip.compress(PAGE)[:-9], *CODED), Reason.MALFORMED_RESPONSE),
    ],
)
def test_a_record_that_is_no_page_is_counted_with_its_reason(engine: Engine, content: bytes, reason: Reason) -> None:
    assert import_file(engine, "x.warc", content + OTHER) == {reason: 1, Reason.FETCHED: 1}


def test_directives_of_a_page_apply_to_an_import(engine: Engine) -> None:
    content = response(b'<html><meta name="robots" content="noindex">' + PAGE, *HTML)
    header = response(PAGE, *HTML, "X-Robots-Tag: noindex", url=SECOND)
    import_file(engine, "x.warc", content + header)
    assert list(engine.store.frontier.admin.iter_archived_pages()) == []


def test_a_damaged_member_of_a_wacz_is_reported_and_the_others_are_read(engine: Engine, tmp_path: Path) -> None:
    damaged = bytearray(wacz(gzip_member(PLAIN), gzip_member(OTHER)))
    position = bytes(damaged).index(b"\x1f\x8b") + 40
    damaged[position] ^= 255
    for content in (bytes(damaged), b"no ZIP file"):
        with pytest.raises(StoreError, match="not a complete WARC file"):
            import_file(engine, "x.wacz", content)
    assert engine.store.frontier.known_urls([URL, SECOND]) == {SECOND}
    with pytest.raises(StoreError, match="not a complete WARC file"):
        import_file(engine, "x.wacz", wacz())


BODY = b"first part, second part"


@pytest.mark.parametrize(
    ("body", "content"),
    [
        (chunks(BODY[:9], BODY[9:]), BODY),
        (b"\r\n" + chunks(BODY), BODY),
        (chunks(BODY, size="{:08X}", end=b"00000000\r\n\r\n"), BODY),
        (chunks(BODY, size="{:x};name=value"), BODY),
        (chunks(BODY, size="{:x}   "), BODY),
        (chunks(BODY, end=b"0\r\nExpires: never\r\n\r\n"), BODY),
        (chunks(BODY, end=b""), BODY),
        (chunks(BODY[:9], BODY[9:]).replace(b"\r\n", b"\n"), BODY),
        (chunks(BODY, BODY)[:-12], (BODY + BODY)[:-5]),
        (chunks(BODY[:9]).replace(b"0\r\n\r\n", b"\r\n") + chunks(BODY[9:]), BODY),
        (BODY, BODY),
        (b"\r\n" + BODY, b"\r\n" + BODY),
        (b"5\r\nlines of text\r\n", b"5\r\nlines of text\r\n"),
        (b"", b""),
    ],
)
def test_chunks_are_joined_and_other_bodies_stay(body: bytes, content: bytes) -> None:
    assert remove_chunks(body, 1000) == content


@pytest.mark.parametrize(
    ("text", "date"),
    [
        ("2016", (2016, 1, 1, 0, 0, 0)),
        ("2016-03", (2016, 3, 1, 0, 0, 0)),
        ("2016-03-04", (2016, 3, 4, 0, 0, 0)),
        ("2016-03-04T05:06Z", (2016, 3, 4, 5, 6, 0)),
        ("2016-03-04T05:06:07Z", (2016, 3, 4, 5, 6, 7)),
        ("2016-03-04T05:06:07.123456789Z", (2016, 3, 4, 5, 6, 7)),
        ("20160304050607", (2016, 3, 4, 5, 6, 7)),
    ],
)
def test_a_date_may_end_after_any_part(text: str, date: tuple[int, ...]) -> None:
    assert parse_warc_date(text) == calendar.timegm((*date, 0, 0, 0))
