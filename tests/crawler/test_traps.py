"""Spider traps: decisions as tables, and crawls of sites in memory that are full of them."""

import json
import random
from collections import OrderedDict, deque
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from crawler.urls.canonical import Address, address_of
from crawler.urls.dust import SiteDustRules
from crawler.urls.families import pattern_of
from crawler.urls.family_counts import MAX_OF_OWN, PatternCount
from crawler.urls.traps import (
    MAX_PAGES_ON,
    Trap,
    TrapWatch,
    calendar_year,
    is_next,
    shape_trap,
)

HOSTILE = Path(__file__).resolve().parents[3] / "shared" / "data" / "hostile"
H = "http://site.test"


@pytest.mark.parametrize(
    ("path", "want"),
    [
        ("/", None),
        ("/news/2024/05/01/1234.html", None),
        ("/1/1/1/1", None),
        ("/a/b/a/b/x.html", None),
        ("/a/b/a/b/a/b/7", Trap.NESTED),
        ("/relative/x/y/x/y/x/y/index.html", Trap.NESTED),
        ("/" + "/".join("abcdefghijklmnopq"), Trap.DEEP),
        ("/s?" + "&".join(f"p{n}={n}" for n in range(13)), Trap.FACETS),
        ("/cal/2026/11", None),
        ("/cal/2029/1", Trap.CALENDAR),
        ("/cal?month=3&year=1950", None),  # the month comes first: no calendar that we know
        ("/cal?date=1950-03-01", Trap.CALENDAR),
        ("/2050/13/x", None),
    ],
)
def test_shape(path: str, want: Trap | None) -> None:
    assert shape_trap(H + path, 2026) is want


@pytest.mark.parametrize(
    ("path", "want"),
    [
        ("/News/2024/05/x12.html", "/news/0/0/x0.html"),
        ("/s?B=2&a=1", "/s?*"),
        ("/s?B=2", "/s?b"),
        ("/d/550e8400-e29b-41d4-a716-446655440000/", "/d/0/"),
        ("/d/a8f3kq92lmz01x7p", "/d/0"),
        ("/d/a-long-title-of-an-article", "/d/a-long-title-of-an-article"),
    ],
)
def test_pattern(path: str, want: str) -> None:
    assert pattern_of(H + path) == want


def test_calendar() -> None:
    assert calendar_year(H + "/cal/2024/5") == 2024
    assert calendar_year(H + "/cal/2024/5/31") == 2024
    assert calendar_year(H + "/news/2024/5/31/1") is None
    assert calendar_year(H + "/2024") is None


def test_the_next_page() -> None:
    assert is_next(H + "/list_12.html", H + "/list_11.html")
    assert not is_next(H + "/list_19.html", H + "/list_11.html")
    assert not is_next(H + "/a/2/3", H + "/a/1/2")
    assert not is_next(H + "/list_2.html", H + "/list.html")


def test_links_from_elsewhere_and_declared_ones_are_not_limited() -> None:
    watch = TrapWatch()
    assert all(watch.link(f"{H}/n/{n}", f"{H}/list", known=False) is None for n in range(5000))
    assert all(watch.link(f"{H}/n/{n * 10}", f"{H}/n/1", known=False, declared=True) is None for n in range(5000))
    assert watch.link("http://other.test/n/9000", f"{H}/n/1", known=False) is None


def test_a_pattern_that_feeds_itself_is_cut() -> None:
    watch = TrapWatch()
    found = [watch.link(f"{H}/n/{n * 10}", f"{H}/n/{n}", known=False) for n in range(1, 500)]
    assert found.count(None) == MAX_OF_OWN
    assert found[-1] is Trap.ENDLESS
    assert watch.released() == []


def test_what_was_held_back_is_followed_once_the_pattern_ends_or_proves_worth_it() -> None:
    watch = TrapWatch()
    urls = [f"{H}/n/{n * 10}" for n in range(MAX_OF_OWN + 30)]
    for url in urls:
        watch.link(url, f"{H}/n/5", known=False)
    watch.article(f"{H}/n/10")
    assert watch.released() == urls[MAX_OF_OWN : MAX_OF_OWN + 10]
    for url in urls * 3:
        watch.link(url, f"{H}/n/5", known=True)
    assert watch.released() == urls[MAX_OF_OWN + 10 :]


def test_paging_may_go_on_for_longer() -> None:
    watch = TrapWatch()
    found = [watch.link(f"{H}/list?page={n + 1}", f"{H}/list?page={n}", known=False) for n in range(3000)]
    assert found.count(None) == MAX_PAGES_ON + MAX_OF_OWN


def test_a_pattern_that_is_known_to_its_end_goes_on() -> None:
    watch = TrapWatch(OrderedDict({"/n/0": PatternCount(own=1000, own_new=200, taken=MAX_OF_OWN)}))
    assert watch.link(f"{H}/n/70", f"{H}/n/1", known=False) is None


def test_pages_that_say_nothing_new_end_their_pattern() -> None:
    watch = TrapWatch()
    for n in range(20):
        assert watch.refuse(f"{H}/dup/99") is None
        watch.page(f"{H}/dup/{n}", fresh=n == 0)
    assert watch.refuse(f"{H}/dup/99") is Trap.SAME_AGAIN
    assert watch.link(f"{H}/dup/99", f"{H}/", known=False) is Trap.SAME_AGAIN
    assert watch.link(f"{H}/dup/99", f"{H}/", known=False, declared=True) is None


@pytest.mark.parametrize(
    ("onward", "is_read", "most"),
    [
        (lambda n: f"{H}/article/{n}", True, 500),
        (lambda n: f"{H}/article/{n}", False, 101),
        (lambda n: f"{H}/{chr(0x4E00 + n)}", False, 101),
        (lambda n: f"http://other.test/{n}", False, 101),
        (lambda n: f"{H}/dup/1{n}", False, 20),
    ],
    ids=["articles", "pages that robots.txt forbids", "a name each", "another host", "more of itself"],
)
def test_lists_that_lead_to_something_new_are_no_trap(onward: Callable[[int], str], is_read: bool, most: int) -> None:
    """A page of links has no text of its own; what it leads to may be read much later, or never."""
    watch, read = TrapWatch(), 0
    while read < 500 and not watch.refuse(f"{H}/dup/999"):
        watch.page(f"{H}/dup/{read}", fresh=read == 0, new=[onward(read)])
        read += 1
        if is_read and read % 30 == 0:
            watch.page(onward(read), fresh=True)
    assert read == most


def test_two_patterns_that_lead_to_each_other_end_both() -> None:
    watch, read = TrapWatch(), 0
    for n in range(1000):
        for own, other in (("a", "b"), ("b", "a")):
            if not watch.refuse(f"{H}/{own}/{n}"):
                watch.page(f"{H}/{own}/{n}", fresh=n == 0, new=[f"{H}/{other}/{n}"])
                read += 1
    assert read <= 40
    assert watch.refuse(f"{H}/a/1000") is watch.refuse(f"{H}/b/1000") is Trap.SAME_AGAIN


def test_one_link_onward_does_not_clear_a_pattern() -> None:
    watch = TrapWatch()
    watch.page(f"{H}/dup/0", fresh=True, new=[f"{H}/contact"])
    watch.page(f"{H}/contact", fresh=True)
    for n in range(40):
        watch.page(f"{H}/dup/{n}", fresh=False)
    assert watch.refuse(f"{H}/dup/999") is Trap.SAME_AGAIN


def test_what_is_remembered_is_bounded() -> None:
    watch = TrapWatch()
    for n in range(12_000):
        watch.link(f"{H}/{chr(0x4E00 + n)}", f"{H}/", known=False)
    assert len(watch.counts) == 10_000


# A site in memory: URL (path and query) -> (what it says, its links). The crawl below is as simple as one can be.
Answer = tuple[str, list[str]]
Serve = Callable[[str], Answer]


def crawl(serve: Serve, start: str, limit: int = 6000) -> list[str]:
    """Paths fetched, with the trap rules in force and nothing else."""
    watch, likeness = TrapWatch(), SiteDustRules()
    first = address_of(start)
    assert isinstance(first, Address)
    queue, seen, texts, fetched = deque([first]), {first.url}, set[str](), list[str]()
    while queue and len(fetched) < limit:
        page = queue.popleft()
        if watch.refuse(page.url):
            continue
        fetched.append(page.fetch[len(H) :])
        text, links = serve(page.fetch[len(H) :])
        likeness.observe(page.url, text)
        onward = []
        for link in links:
            found = address_of(link, page.fetch)
            assert isinstance(found, Address)
            if found.url.startswith(H + "/"):  # the rest is out of scope
                onward.append(found._replace(url=likeness.reduced(found.url)))
        watch.page(page.url, fresh=text not in texts, new=[found.url for found in onward if found.url not in seen])
        texts.add(text)
        for found in onward:
            trap = shape_trap(found.url, 2026) or watch.link(found.url, page.url, known=found.url in seen)
            if trap is None and found.url not in seen:
                seen.add(found.url)
                queue.append(found)
        for url in watch.released():
            seen.add(url)
            queue.append(Address(url, url))
    return fetched


def real_page(number: int) -> Answer:
    """One of 200 real pages, each of which leads to a few others."""
    rng = random.Random(number)
    return f"real {number}", [f"/real/{rng.randrange(200)}.html" for _ in range(20)] + [
        f"/real/{(number + 1) % 200}.html"
    ]


def trap_links(row: dict[str, object], rng: random.Random) -> Iterator[str]:
    """URLs of the trap's pattern."""
    text = str(row["text"])
    for _ in range(int(str(row["links_per_page"]))):
        yield (
            text.replace("{n}", str(rng.randrange(10**9)))
            .replace("{rand}", f"{rng.randrange(10**9):x}")
            .replace("{referer}", f"r{rng.randrange(10**9)}")
            .replace("{y}", str(rng.randrange(1990, 2028)))
            .replace("{m}", str(rng.randrange(1, 13)))
            .replace("{case}", "".join(rng.choice((c, c.upper())) for c in "abcdefghijklmn"))
            .replace("{a}", str(rng.randrange(50)))
            .replace("{b}", str(rng.randrange(50)))
            .replace("{c}", str(rng.randrange(50)))
        )


def trap_text(row: dict[str, object], path: str) -> str:
    same = ("same body", "fragment", "tracking", "referer", "case", "slash")
    return "same" if str(row["why"]).startswith(same) else f"text of {path}"


@pytest.mark.shared
def test_hostile_traps_cost_a_hundred_pages_and_no_real_one() -> None:
    rows = [json.loads(line) for line in (HOSTILE / "traps.jsonl").read_text("utf-8").splitlines()]
    assert rows
    for row in rows:
        rng = random.Random(1)

        def serve(path: str, row: dict[str, object] = row, rng: random.Random = rng) -> Answer:
            if path.startswith("/real/"):
                return real_page(int(path[6:-5]))
            if path == "/":
                return "home", ["/real/1.html", *trap_links(row, rng)]
            return trap_text(row, path), ["/", *trap_links(row, rng)]

        fetched = crawl(serve, H + "/")
        real = {path for path in fetched if path.startswith("/real/")}
        assert len(real) == 200, row
        assert len(fetched) - len(real) - 1 <= 100, row


def test_a_chain_of_real_pages_is_followed_to_its_end() -> None:
    def serve(path: str) -> Answer:
        number = int(path[1:] or 0)
        return f"real {number}", [f"/{n}" for n in range(number + 1, min(number + 4, 200))]

    assert len(set(crawl(serve, H + "/"))) == 200


def test_a_large_site_of_one_pattern_is_read_to_its_end() -> None:
    def serve(path: str) -> Answer:
        rng = random.Random(path)
        return path, [f"/show?id={rng.randrange(400)}" for _ in range(60)]

    assert len(crawl(serve, H + "/")) in (400, 401)  # the home page leads to some


def test_a_calendar_ends_though_its_pages_are_in_order() -> None:
    def serve(path: str) -> Answer:
        if path == "/":
            return "home", ["/calendar/2024/1"]
        year, month = (int(part) for part in path.split("/")[2:])
        return path, [
            f"/calendar/{year + (month == 12)}/{month % 12 + 1}",
            f"/calendar/{year - (month == 1)}/{(month - 2) % 12 + 1}",
        ]

    assert len(crawl(serve, H + "/")) <= 100


def test_sessions_lead_to_ten_pages() -> None:
    rng = random.Random(1)

    def serve(path: str) -> Answer:
        return path.partition("?")[0], [
            f"/session/{n}?sid={rng.getrandbits(64):x}f&PHPSESSID={rng.getrandbits(128):032x}" for n in range(10)
        ]

    assert len(crawl(serve, H + "/")) == 11


def test_facets_end() -> None:
    names = ("color", "size", "brand", "sort", "page")

    def serve(path: str) -> Answer:
        query = path.partition("?")[2]
        return path, [f"/shop?{query}&{name}={value}" for name in names for value in range(6)]

    assert len(crawl(serve, H + "/shop?color=red")) <= 100
