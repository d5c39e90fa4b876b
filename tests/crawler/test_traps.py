"""Spider traps: decisions as tables, and crawls of sites in memory that are full of them."""

import random
from collections import OrderedDict, deque
from collections.abc import Callable
from datetime import date, timedelta

import pytest

from crawler.dedup.dust import SiteDustRules
from crawler.traps.family_stats import MAX_SELF_LINKS, FamilyStats
from crawler.traps.trap_detector import (
    MAX_PAGING_LINKS,
    TrapDetector,
    TrapKind,
    detect_shape_trap,
    is_next_page,
)
from crawler.traps.url_patterns import url_pattern
from crawler.urls.canonical import UrlForms, parse_url_forms

H = "http://site.test"


@pytest.mark.parametrize(
    ("path", "want"),
    [
        ("/", None),
        ("/news/2024/05/01/1234.html", None),
        ("/1/1/1/1", None),
        ("/a/b/a/b/x.html", None),
        ("/a/b/a/b/a/b/7", TrapKind.NESTED),
        ("/relative/x/y/x/y/x/y/index.html", TrapKind.NESTED),
        ("/" + "/".join("abcdefghijklmnopq"), TrapKind.DEEP),
        ("/s?" + "&".join(f"p{n}={n}" for n in range(13)), TrapKind.FACETS),
        ("/cal/2029/1", None),
        ("/law/1923/5.html", None),
        ("/cal?date=1950-03-01", None),
    ],
)
def test_shape(path: str, want: TrapKind | None) -> None:
    assert detect_shape_trap(H + path) is want


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
    assert url_pattern(H + path) == want


def test_the_next_page() -> None:
    assert is_next_page(H + "/list_12.html", H + "/list_11.html")
    assert not is_next_page(H + "/list_19.html", H + "/list_11.html")
    assert not is_next_page(H + "/a/2/3", H + "/a/1/2")
    assert is_next_page(H + "/2025/1/1", H + "/2024/12/31") and is_next_page(H + "/2024/12/31", H + "/2025/01/01")
    assert not is_next_page(H + "/2025/2/1", H + "/2024/12/31") and not is_next_page(H + "/7/3", H + "/7/3")
    assert not is_next_page(H + "/list_2.html", H + "/list.html")


def test_links_from_elsewhere_are_not_limited() -> None:
    watch = TrapDetector()
    assert all(watch.check_link(f"{H}/n/{n}", f"{H}/list", is_known=False) is None for n in range(5000))
    assert watch.check_link("http://other.test/n/9000", f"{H}/n/1", is_known=False) is None


def test_a_pattern_that_feeds_itself_is_cut() -> None:
    watch = TrapDetector()
    found = [watch.check_link(f"{H}/n/{n * 10}", f"{H}/n/{n}", is_known=False) for n in range(1, 500)]
    assert found.count(None) == MAX_SELF_LINKS
    assert found[-1] is TrapKind.ENDLESS
    assert watch.take_harmless() == []


def test_what_was_held_back_is_followed_once_the_pattern_ends_or_proves_worth_it() -> None:
    watch = TrapDetector()
    urls = [f"{H}/n/{n * 10}" for n in range(MAX_SELF_LINKS + 30)]
    for url in urls:
        watch.check_link(url, f"{H}/n/5", is_known=False)
    watch.record_article(f"{H}/n/10")
    assert watch.take_harmless() == urls[MAX_SELF_LINKS : MAX_SELF_LINKS + 10]
    for url in urls * 3:
        watch.check_link(url, f"{H}/n/5", is_known=True)
    assert watch.take_harmless() == urls[MAX_SELF_LINKS + 10 :]


def test_paging_may_go_on_for_longer() -> None:
    watch = TrapDetector()
    found = [watch.check_link(f"{H}/list?page={n + 1}", f"{H}/list?page={n}", is_known=False) for n in range(3000)]
    assert found.count(None) == MAX_PAGING_LINKS + MAX_SELF_LINKS


def test_a_pattern_that_is_known_to_its_end_goes_on() -> None:
    watch = TrapDetector(
        OrderedDict({"/n/0": FamilyStats(self_links=1000, new_self_links=200, followed_links=MAX_SELF_LINKS)})
    )
    assert watch.check_link(f"{H}/n/70", f"{H}/n/1", is_known=False) is None


def test_pages_that_say_nothing_new_end_their_pattern() -> None:
    watch = TrapDetector()
    for n in range(20):
        assert watch.find_trap(f"{H}/dup/99") is None
        watch.record_page(f"{H}/dup/{n}", novelty=n == 0)
    assert watch.find_trap(f"{H}/dup/99") is TrapKind.REPETITIVE
    assert watch.check_link(f"{H}/dup/99", f"{H}/", is_known=False) is TrapKind.REPETITIVE


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
    watch, read = TrapDetector(), 0
    while read < 500 and not watch.find_trap(f"{H}/dup/999"):
        watch.record_page(f"{H}/dup/{read}", novelty=read == 0, new_urls=[onward(read)])
        read += 1
        if is_read and read % 30 == 0:
            watch.record_page(onward(read), novelty=True)
    assert read == most


def test_two_patterns_that_lead_to_each_other_end_both() -> None:
    watch, read = TrapDetector(), 0
    for n in range(1000):
        for own, other in (("a", "b"), ("b", "a")):
            if not watch.find_trap(f"{H}/{own}/{n}"):
                watch.record_page(f"{H}/{own}/{n}", novelty=n == 0, new_urls=[f"{H}/{other}/{n}"])
                read += 1
    assert read <= 40
    assert watch.find_trap(f"{H}/a/1000") is watch.find_trap(f"{H}/b/1000") is TrapKind.REPETITIVE


def test_one_link_onward_does_not_clear_a_pattern() -> None:
    watch = TrapDetector()
    watch.record_page(f"{H}/dup/0", novelty=True, new_urls=[f"{H}/contact"])
    watch.record_page(f"{H}/contact", novelty=True)
    for n in range(40):
        watch.record_page(f"{H}/dup/{n}", novelty=False)
    assert watch.find_trap(f"{H}/dup/999") is TrapKind.REPETITIVE


def test_what_is_remembered_is_bounded() -> None:
    watch = TrapDetector()
    for n in range(12_000):
        watch.check_link(f"{H}/{chr(0x4E00 + n)}", f"{H}/", is_known=False)
    assert len(watch.stats_by_family) == 10_000


# A site in memory: URL (path and query) -> (what it says, its links). The crawl below is as simple as one can be.
Answer = tuple[str, list[str]]
Serve = Callable[[str], Answer]


def crawl(serve: Serve, start: str, limit: int = 6000) -> list[str]:
    """Paths fetched, with the trap rules in force and nothing else."""
    watch, likeness = TrapDetector(), SiteDustRules()
    first = parse_url_forms(start)
    assert isinstance(first, UrlForms)
    queue, seen, texts, fetched = deque([first]), {first.url}, set[str](), list[str]()
    while queue and len(fetched) < limit:
        page = queue.popleft()
        if watch.find_trap(page.url) or likeness.first_variant(page.url) != page.url:
            continue
        fetched.append(page.request_url[len(H) :])
        text, links = serve(page.request_url[len(H) :])
        likeness.record_page(page.url, text)
        onward = []
        for link in links:
            found = parse_url_forms(link, page.request_url)
            assert isinstance(found, UrlForms)
            if found.url.startswith(H + "/"):  # the rest is out of scope
                onward.append(found._replace(url=likeness.reduce_url(found.url)))
        watch.record_page(
            page.url, novelty=text not in texts, new_urls=[found.url for found in onward if found.url not in seen]
        )
        texts.add(text)
        for found in onward:
            trap = detect_shape_trap(found.url) or watch.check_link(found.url, page.url, is_known=found.url in seen)
            if trap is None and found.url not in seen:
                seen.add(found.url)
                queue.append(found)
        for url in watch.take_harmless():
            seen.add(url)
            queue.append(UrlForms(url, url))
    return fetched


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


def calendar(first: int, last: int, days: bool = True) -> Serve:
    """A calendar without end. Its pages have a text of their own from the year `first` to `last`."""

    def serve(path: str) -> Answer:
        if path == "/":
            return "home", ["/calendar/2024/1"]
        year, month = (int(part) for part in path.split("/")[2:])
        return path if first <= year <= last else "no event", [
            f"/calendar/{year + (month == 12)}/{month % 12 + 1}",
            f"/calendar/{year - (month == 1)}/{(month - 2) % 12 + 1}",
        ]

    return serve


@pytest.mark.parametrize(("first", "last"), [(2024, 2024), (2000, 2026), (1960, 2030), (1000, 1001)])
def test_a_calendar_is_read_as_far_as_it_says_something(first: int, last: int) -> None:
    fetched = crawl(calendar(first, last), H + "/")
    own = {f"/calendar/{year}/{month}" for year in range(first, last + 1) for month in range(1, 13)}
    if first <= 2024 <= last:
        assert own <= set(fetched)
    assert len(set(fetched) - own) <= 100


def test_an_archive_is_read_to_its_beginning() -> None:
    def serve(path: str) -> Answer:
        day = date.fromisoformat(path[1:].replace("/", "-")) if path != "/" else date(1949, 1, 1)
        before = day - timedelta(days=1)
        links = [f"/{before:%Y/%m/%d}"] if before.year > 1946 else []
        return path, [*links, f"/{day:%Y/%m/%d}/story.html"] if path != "/" else links

    def with_stories(path: str) -> Answer:
        return (path, []) if path.endswith(".html") else serve(path)

    assert len(set(crawl(with_stories, H + "/"))) == 1 + 2 * (366 + 365)


def test_sessions_lead_to_few_pages() -> None:
    rng = random.Random(1)

    def serve(path: str) -> Answer:
        return path.partition("?")[0], [
            f"/session/{n}?sid={rng.getrandbits(64):x}f&PHPSESSID={rng.getrandbits(128):032x}" for n in range(10)
        ]

    assert len(crawl(serve, H + "/")) <= 30  # `sid` is learned: the name alone says nothing


def test_facets_end() -> None:
    names = ("color", "size", "brand", "sort", "page")

    def serve(path: str) -> Answer:
        query = path.partition("?")[2]
        return path, [f"/shop?{query}&{name}={value}" for name in names for value in range(6)]

    assert len(crawl(serve, H + "/shop?color=red")) <= 100
