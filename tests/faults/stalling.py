"""Hostile files that take long to read: the crawl of another site goes on, and ends in time."""

import random
import signal
import time
from collections.abc import Mapping
from pathlib import Path

from crawler.workers.fetch_pool import PARSING_LIMITS
from tests.crash_harness import Vertical, until
from tests.extractor import document_files as files
from tests.faults.tally import Tally
from tests.scanners import LINK, PROSE, superlinear_scanners
from tests.web_fixture import Answer, Site, page

MINUTES, DELAY = 0.25, 0.05  # of a crawl; seconds between two requests to one site
PAGES = 2_000
MIN_SPEED_RATIO = 0.5
INTERRUPTED = (0, 130)  # status: at the end of the crawl already, or stopped by Ctrl-C
HOSTILE: Mapping[str, Mapping[str, tuple[str, bytes]]] = {
    "page": {
        f"/{number}.html": ("text/html", start.encode() + piece.encode() * (size // len(piece.encode())) + end.encode())
        for number, (start, piece, size, end) in enumerate(
            (
                ("", "<!-- a -->", 520, "<link rel=x>"),
                ("<html><!--", "<!--", 4_000_000, ""),
                ('<html><meta http-equiv=refresh content="', "0", 4_000_000, 'x">'),
                ("<html><p>", f"{LINK}{PROSE}", 4_000_000, ""),
                ("<html><p ", "a=b ", 4_000_000, ">"),
                ("<html>", "<b>", 4_000_000, PROSE),
                ("<html>", f"<div class=a><p>{PROSE}", 4_000_000, ""),
                ("<title>a", "<h1 ", 29_000, ""),
            )
        )
    },
    "sitemap": {
        f"/sitemap{number}.xml": ("application/xml", start.encode() + piece.encode() * (size // len(piece)))
        for number, (start, piece, size) in enumerate(
            (
                ("<?xml version='1.0'?><urlset>", "<![CDATA[", 1_000_000),
                ("<?xml version='1.0'?><!DOCTYPE a [", "<!ENTITY", 1_000_000),
                ("<?xml version='1.0'?>", "<!DOCTYPE [", 1_000_000),
                ("<urlset><loc>", " ", 1_000_000),
                ("<urlset>", "<url><loc>", 8_000_000),
            )
        )
    },
    "feed": {
        f"/feed{number}.xml": ("application/rss+xml", b"<rss><channel>" + piece.encode() * (1_000_000 // len(piece)))
        for number, piece in enumerate(("<![CDATA[", "<!DOCTYPE [", "<item><link>", "<item><link> ", "<item a='", "&"))
    },
    "document": {
        "/a.md": ("text/markdown", b"# a" + b" " * 1_000_000 + b"b\n" + b"<!--" * 200_000),
        "/a.rtf": ("application/rtf", b"{\\rtf1 " + b"0123456789abcdef" * 100_000),
        "/a.txt": ("text/plain", b"<!-- a -->" * 400_000 + b"<link>"),
        "/a.docx": ("application/octet-stream", files.docx(files.paragraph(PROSE) * 20_000)),
        "/a.epub": ("application/epub+zip", files.epub("a", [f"<html><body>{f'<p>{PROSE}' * 50_000}"])),
        "/a.pdf": ("application/pdf", b"%PDF-1.4\n" + b"1 0 obj <<" * 400_000),
    },
}


def scanner_faults() -> Tally:
    """No text makes a function that scans text take more than linear time."""
    tally = Tally("scanners")
    tally.tried, tally.complaints = superlinear_scanners()
    tally.survived = tally.tried - len(tally.complaints)
    return tally


def stall_faults(folder: Path) -> Tally:
    """Compare the pages per second of an ordinary site beside an empty site and beside each hostile one."""
    tally = Tally("stall")
    usual_count, usual_seconds = crawled_pages({}, folder / "usual")
    for kind, hostile in HOSTILE.items():
        with tally.trying(kind):
            count, seconds = crawled_pages(hostile, folder / kind)
            tally.figures[f"{kind}_speed"] = round(count / usual_count, 2)
            tally.figures[f"{kind}_late_s"] = round(max(0.0, seconds - usual_seconds), 1)
            assert count > MIN_SPEED_RATIO * usual_count, f"{count} pages instead of {usual_count}"
            assert seconds < usual_seconds + PARSING_LIMITS.seconds, f"{seconds:.0f} s instead of {usual_seconds:.0f}"
    with tally.trying("interrupt"):
        interrupt_while_reading(folder / "interrupt")
    return tally


def crawled_pages(hostile: Mapping[str, tuple[str, bytes]], folder: Path) -> tuple[int, float]:
    """Crawl both sites for MINUTES; return the requested pages of the ordinary one, and the seconds to the end.

    Raises AssertionError if a hostile file was not requested or a page has no outcome.
    """
    with ordinary_site() as ordinary, hostile_site(hostile) as other:
        vertical = two_sites(folder, ordinary, other)
        try:
            vertical.done("crawl")
        finally:
            vertical.end()
        seconds = time.monotonic() - ordinary.requests[0].at
    assert set(hostile) <= set(other.asked()), "files were not requested"
    known = {url for (url,) in vertical.ask("SELECT u.url FROM outcomes o JOIN urls u USING (url_id)")}
    missing = {other.url(path) for path in hostile if path.endswith((".html", ".md", ".docx"))} - known
    assert not missing, f"no outcome of {missing}"
    return len([path for path in ordinary.asked() if path.endswith(".html")]), seconds


def interrupt_while_reading(folder: Path) -> None:
    """Send SIGINT while hostile pages are read. The crawl records what it has and ends."""
    hostile = HOSTILE["page"]
    with ordinary_site() as ordinary, hostile_site(hostile) as other:
        vertical = two_sites(folder, ordinary, other)
        try:
            running = vertical.start("crawl")
            until(lambda: set(hostile) & set(other.asked()), running)
            running.send_signal(signal.SIGINT)
            said = vertical.finished(running)
        finally:
            vertical.end()
    assert said.status in INTERRUPTED and "Traceback" not in said.err, said
    vertical.check_archive()


def ordinary_site() -> Site:
    """Return a site of PAGES pages."""
    pages = {}
    for number in range(PAGES):
        chance = random.Random(number)
        words = " ".join("".join(chance.choices("abcdefghijklmnop", k=7)) for _ in range(60))
        links = (f"/{10 * number + more}.html" for more in range(1, 11))
        pages[f"/{number}.html"] = page(*links, text=f"<p>{words}</p>")
    return Site({"/": page("/0.html"), **pages})


def hostile_site(hostile: Mapping[str, tuple[str, bytes]]) -> Site:
    """Return a site that links to hostile files, and declares its sitemaps and feeds."""
    site = Site({path: Answer(200, body, {"Content-Type": kind}) for path, (kind, body) in hostile.items()})
    feeds = "".join(
        f'<link rel=alternate type="application/rss+xml" href="{path}">' for path in hostile if "feed" in path
    )
    others = (path for path in hostile if not path.endswith(".xml"))
    site.pages["/"] = page(*others, "/last.html", text=feeds)
    site.pages["/last.html"] = page(text="<p>last</p>")
    sitemaps = "".join(f"Sitemap: {site.url(path)}\n" for path in hostile if "sitemap" in path)
    site.pages["/robots.txt"] = Answer(200, sitemaps.encode(), {"Content-Type": "text/plain"})
    return site


def two_sites(folder: Path, ordinary: Site, other: Site) -> Vertical:
    """Return a vertical that crawls both sites."""
    crawl = {
        "seeds": [ordinary.url(), other.url()],
        "inside_hosts": [ordinary.host, other.host],
        "delay": DELAY,
        "minutes": MINUTES,
        "depth": 20,
    }
    return Vertical(folder).write({"crawl": crawl})
