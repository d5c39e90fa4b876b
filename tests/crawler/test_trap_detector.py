"""URL spaces without end, served by a real HTTP server: of whatever tokens they are made and wherever these stand, they
cost a hundred pages at most, and every real page is reached.
"""

import base64
import random
import re
import string
import time
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from crawler.crawl import crawl
from crawler.http.fetch import Fetcher
from crawler.http.ip_policy import PublicOnlyPolicy
from tests.crawler_fakes import MemoryTable, settings
from tests.web_fixture import Answer, Request, Site, page

WORDS = ("oil", "gas", "well", "drill", "pump", "field", "rig", "core", "mud", "bit", "pipe", "flow", "sand", "lime")
CHINESE = "石油天然气钻井勘探页岩储层压裂管道炼化测井完井采收率油藏构造沉积盆地"
REAL = 200

ALPHABETS: dict[str, Callable[[random.Random], str]] = {
    "hex": lambda rng: f"{rng.getrandbits(32):08x}",
    "short hex": lambda rng: f"{rng.getrandbits(20):x}",
    "uuid": lambda rng: str(uuid.UUID(int=rng.getrandbits(128))),
    "base64": lambda rng: base64.urlsafe_b64encode(rng.randbytes(9)).decode(),
    "words": lambda rng: "-".join(rng.choices(WORDS, k=6)),
    "letters": lambda rng: "".join(rng.choices(string.ascii_lowercase, k=9)),
    "Mixed case": lambda rng: "".join(rng.choices(string.ascii_letters, k=7)),
    "numbers": lambda rng: str(rng.randrange(10**9)),
    "Chinese": lambda rng: "".join(rng.choices(CHINESE, k=6)),
}
SHAPES = {
    "path": "/soft404/{token}",
    "folder": "/a/b/{token}/x.html",
    "root": "/{token}",
    "session": "/{session}/page/{number}.html",
    "two": "/s/{token}/{other}",
    "query": "/p?s={token}",
    "among real ones": "/real/{token}.html",
}


def sentence(rng: random.Random, words: int = 40) -> str:
    return (
        " ".join(rng.choices([f"{one}{end}" for one in WORDS for end in ("s", "ing", "ed", "", "er")], k=words)) + ". "
    )


class TrapSite(dict[str, object]):
    """200 real pages, each with a text of its own and links to 20 others, among URLs without end."""

    def __init__(self, shape: str, token: Callable[[random.Random], str], says: str, links: int, mixed: bool) -> None:
        super().__init__()
        self.rng = random.Random(5)
        self.is_trap = re.compile(re.sub(r"\\\{\w+\\\}", "[^/?]+", re.escape(shape)))
        self.shape, self.token, self.says, self.links, self.mixed = shape, token, says, links, mixed
        rng = random.Random(7)
        self.real = [
            f"/real/{'-'.join(rng.choices(WORDS, k=3))}-{chr(97 + n // 26)}{chr(97 + n % 26)}.html" for n in range(REAL)
        ]
        self.texts = {path: "".join(sentence(rng) for _ in range(4)) for path in self.real}

    def get(self, path: str, default: object = None) -> object:  # type: ignore[override]
        """What the server asks for each path."""
        return lambda request: self.answer(request)

    def answer(self, request: Request) -> Answer:
        path = request.path
        if path in ("/robots.txt",) or "sitemap" in path:
            return Answer(404, b"no")
        if path == "/":
            return page(self.real[0], *self.traps(), text="home of the site with some words of its own to say")
        if path in self.texts:
            rng = random.Random(path)
            others = [self.real[(self.real.index(path) + 1) % REAL], *rng.choices(self.real, k=20)]
            return page(*others, *(self.traps() if self.mixed else ()), text=self.texts[path])
        if not self.is_trap.fullmatch(path):
            return Answer(404, b"no")
        if self.says == "soft404":
            return Answer(200, "<title>404 页面不存在</title><h1>页面不存在</h1>".encode() * 3)
        text = sentence(self.rng, 120) if self.says == "something new" else f"nothing is known of {path} " + TEMPLATE
        return page("/", *self.traps(), text=text)

    def traps(self) -> list[str]:
        session = self.token(self.rng)
        return [
            self.shape.format(
                token=self.token(self.rng), other=self.token(self.rng), session=session, number=self.rng.randrange(99)
            )
            for _ in range(self.links)
        ]


TEMPLATE = "This is what the site says of everything, and it goes on for a while so that it is a text of some length."


class SlowToDeny(TrapSite):
    """The same, slow to say of a page that there is none."""

    def answer(self, request: Request) -> Answer:
        said = super().answer(request)
        if said.status == 404:
            time.sleep(0.1)
        return said


class RefusesProbes(TrapSite):
    """The same, but answers 403 to every URL that it does not link to."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.linked: set[str] = set()

    def traps(self) -> list[str]:
        urls = super().traps()
        self.linked.update(urls)
        return urls

    def answer(self, request: Request) -> Answer:
        if self.is_trap.fullmatch(request.path) and request.path not in self.linked:
            return Answer(403, b"no")
        return super().answer(request)


def crawled(
    site: Site, served: TrapSite, folder: Path, per_host: int = 2, max_pages: int = 1200
) -> tuple[set[str], list[str]]:
    """Real paths asked for, and all others but the home page."""
    table = MemoryTable()
    made = settings(site.url(), threads=4, per_host=per_host, max_pages=max_pages)
    crawl(table, Fetcher(made, PublicOnlyPolicy(made.inside_hosts)), made, folder / "seen")
    asked = site.asked()
    return {path for path in asked if path in served.texts}, [p for p in asked if p not in served.texts and p != "/"]


# Each kind of text in every run, on shapes that differ; the others in `make release-check`.
CASES = [
    pytest.param("path", "hex", "the same", 60, False, marks=pytest.mark.exhaustive),
    ("path", "hex", "soft404", 60, True),
    pytest.param("path", "short hex", "something new", 10, False, marks=pytest.mark.exhaustive),
    pytest.param("path", "uuid", "the same", 10, True, marks=pytest.mark.exhaustive),
    pytest.param("path", "words", "something new", 60, True, marks=pytest.mark.exhaustive),
    pytest.param("path", "Chinese", "the same", 10, True, marks=pytest.mark.exhaustive),
    pytest.param("folder", "base64", "the same", 10, True, marks=pytest.mark.exhaustive),
    pytest.param("folder", "letters", "something new", 10, False, marks=pytest.mark.exhaustive),
    ("root", "Mixed case", "the same", 60, True),
    pytest.param("root", "words", "something new", 10, False, marks=pytest.mark.exhaustive),
    pytest.param("session", "hex", "the same", 10, True, marks=pytest.mark.exhaustive),
    pytest.param("session", "letters", "something new", 10, False, marks=pytest.mark.exhaustive),
    pytest.param("two", "base64", "the same", 60, False, marks=pytest.mark.exhaustive),
    pytest.param("two", "words", "something new", 10, True, marks=pytest.mark.exhaustive),
    pytest.param("query", "hex", "the same", 60, True, marks=pytest.mark.exhaustive),
    pytest.param("query", "words", "something new", 10, False, marks=pytest.mark.exhaustive),
    pytest.param("among real ones", "words", "the same", 10, False, marks=pytest.mark.exhaustive),
    ("among real ones", "words", "something new", 2, False),
    pytest.param("path", "numbers", "the same", 10, True, marks=pytest.mark.exhaustive),
]


@pytest.mark.parametrize(("shape", "alphabet", "says", "links", "mixed"), CASES)
def test_a_trap_costs_a_hundred_pages_and_no_real_one(
    tmp_path: Path, shape: str, alphabet: str, says: str, links: int, mixed: bool
) -> None:
    served = TrapSite(SHAPES[shape], ALPHABETS[alphabet], says, links, mixed)
    with Site({}) as site:
        site.pages = served  # type: ignore[assignment]
        real, others = crawled(site, served, tmp_path)
    print(len(real), len(others), others[::9])
    assert len(real) == REAL
    assert len(others) <= 100


def test_a_refused_probe_is_no_sign_that_a_trap_is_finite(tmp_path: Path) -> None:
    served = RefusesProbes(SHAPES["path"], ALPHABETS["short hex"], "something new", 10, False)
    with Site({}) as site:
        site.pages = served  # type: ignore[assignment]
        _, others = crawled(site, served, tmp_path, max_pages=170)
    assert len(others) <= 100


@pytest.mark.exhaustive
def test_a_site_that_is_slow_to_deny_what_cannot_exist_is_crawled_to_its_end(tmp_path: Path) -> None:
    """While a probe is the only request allowed in flight, no page is fetched. Afterwards the crawl continues."""
    served = SlowToDeny(SHAPES["session"], ALPHABETS["hex"], "the same", 10, True)
    with Site({}) as site:
        site.pages = served  # type: ignore[assignment]
        real, _ = crawled(site, served, tmp_path, per_host=1)
    assert len(real) == REAL
