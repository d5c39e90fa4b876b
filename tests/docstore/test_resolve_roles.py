"""Articles over several pages, and alternate versions of a page: their roles do not depend on the order of arrival."""

import hashlib
import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from docstore.articles import extraction_writer as saving
from docstore.articles.article_table import EXACT_COPIES_ONLY
from docstore.articles.extraction_writer import PageExtraction
from docstore.page_roles import resolve_roles as settling
from docstore.reports.url_report import ArticlePart, PageReferenceRow, UrlReport
from docstore.store import Store
from domain import pagination as joining
from domain.administration import PendingAction
from domain.article import Article, Block, BlockKind, StoredArticle
from domain.frontier import NewUrl, UrlKind, Visit
from domain.index_change import IndexOperation
from domain.outcome import Outcome, Reason, Stage
from domain.page import Page
from tests.builders import urls_with_outcome
from tests.conftest import logic_store_url, on_both

store_url = logic_store_url
HOST = "a.test"
SEEDS = 8
NO_ARTICLE = Outcome(Reason.LIST_PAGE)


def url(name: str) -> str:
    return name if name.startswith("http") else f"http://{HOST}/{name}"


def article(name: str, text: str = "", following: str = "", original: str = "", title: str = "题目") -> Article:
    return Article(
        url(name),
        title,
        text or f"{name}的正文。",
        canonical_url=original and url(original),
        next_url=following and url(following),
        blocks=(Block(BlockKind.PARAGRAPH, text or f"{name}的正文。"),),
        method="blocks",
    )


class CrawledPages:
    """Pages as they are crawled into a store."""

    grouping = EXACT_COPIES_ONLY

    def __init__(self, store: Store) -> None:
        self.store = store
        self.version = 0

    def crawl(self, *names: str, gone: bool = False) -> None:
        for name in names:
            address = url(name)
            self.store.frontier.add_urls([NewUrl(address, address.split("/")[2], 3, 0, UrlKind.UNKNOWN, 0.0)])
            entry = self.store.frontier.find_entries([address])[address]
            self.version += 1
            body = f"{name} {self.version}".encode()
            page = Page(0, address, address, 200, "text/html", body, hashlib.sha256(body).hexdigest(), 1_000.0)
            visit = Visit(entry, Outcome(Reason.FETCHED), 1_000.0, None, 0.0, page=None if gone else page, is_gone=gone)
            self.store.frontier.record_visits([visit])

    def lose(self, *names: str) -> list[Reason]:
        self.crawl(*names, gone=True)
        return self.store.articles.resolve_removed_pages(self.grouping)

    def outcome(self, name: str) -> tuple[str, str]:
        told = self.store.status.url_report(url(name))
        outcome = told and told.outcome(Stage.EXTRACT)
        assert outcome
        return outcome.reason, outcome.detail

    def log(self) -> list[tuple[IndexOperation, str]]:
        """The change log since it was last asked for."""
        batch = self.store.change_log.pending(1000)
        self.store.change_log.acknowledge(batch, [])
        return [(change.operation, change.url.removeprefix(url(""))) for change in batch]


class Web(CrawledPages):
    """Pages as they are crawled and extracted into a store."""

    def extract(self, results: Mapping[str, Article | Outcome]) -> list[Reason]:
        """Extract all that waits, in one batch."""
        pending = self.store.articles.iter_pending()
        return self.store.articles.save([PageExtraction(p, results[p.url]) for p in pending], self.grouping)

    def add(self, *articles: Article) -> list[Reason]:
        """Crawl and extract pages, in one batch."""
        self.crawl(*(a.url for a in articles))
        return self.extract({a.url: a for a in articles})

    def articles(self) -> dict[str, StoredArticle]:
        return {stored.article.url: stored for stored in self.store.articles.iter_all()}

    def bodies(self) -> dict[str, str]:
        return {address.removeprefix(url("")): a.article.body for address, a in self.articles().items()}


def seeds(count: int) -> Iterable[object]:
    """Seeds of a test by chance; `make test` runs one of them."""
    return [pytest.param(seed, marks=[pytest.mark.exhaustive] * (seed >= 1)) for seed in range(count)]


@pytest.fixture
def web(store: Store) -> Web:
    return Web(store)


CHAIN = (article("1", "一。", "2"), article("2", "二。", "3"), article("3", "三。"))
WHOLE = {"1": "一。\n二。\n三。"}


class TestChains:
    @pytest.mark.parametrize("order", ["123", "321", "213", "312"])
    @pytest.mark.parametrize("together", [True, False], ids=["one batch", "one by one"])
    def test_pages_in_any_order_become_one_article(self, web: Web, order: str, together: bool) -> None:
        pages = [CHAIN[int(name) - 1] for name in order]
        for batch in [pages] if together else [[page] for page in pages]:
            web.add(*batch)
        assert web.bodies() == WHOLE
        assert [len(a.article.blocks) for a in web.articles().values()] == [3]
        assert web.outcome("1") == (Reason.EXTRACTED, "blocks, joined of 3 pages")
        assert web.outcome("2") == web.outcome("3") == (Reason.CONTINUATION, url("1"))
        assert web.log()[-1] in [
            (IndexOperation.UPSERT, "1"),
            (IndexOperation.DELETE, "2"),
            (IndexOperation.DELETE, "3"),
        ]

    def test_what_was_an_article_and_is_joined_leaves_the_index(self, web: Web) -> None:
        web.add(CHAIN[1])
        assert web.log() == [(IndexOperation.UPSERT, "2")]
        assert web.add(CHAIN[0]) == [Reason.EXTRACTED, Reason.CONTINUATION]
        assert web.log() == [(IndexOperation.DELETE, "2"), (IndexOperation.UPSERT, "1")]

    @on_both
    def test_a_change_of_one_page_changes_the_whole(self, web: Web) -> None:
        web.add(*CHAIN)
        web.log()
        assert web.add(replace(CHAIN[1], body="改了。")) == [Reason.CONTINUATION, Reason.EXTRACTED]
        assert web.bodies() == {"1": "一。\n改了。\n三。"}
        assert web.log() == [(IndexOperation.UPSERT, "1")]

    def test_the_same_again_changes_nothing(self, web: Web) -> None:
        web.add(*CHAIN)
        web.log()
        assert web.add(*CHAIN) == [Reason.ARTICLE_UNCHANGED, Reason.CONTINUATION, Reason.CONTINUATION]
        assert web.log() == []
        assert web.store.articles.pending_count() == 0

    @on_both
    def test_pages_that_are_parted_are_articles_again(self, web: Web) -> None:
        web.add(*CHAIN)
        assert web.add(replace(CHAIN[0], next_url="")) == [Reason.EXTRACTED, Reason.EXTRACTED, Reason.CONTINUATION]
        assert web.bodies() == {"1": "一。", "2": "二。\n三。"}
        assert web.outcome("3") == (Reason.CONTINUATION, url("2"))
        assert web.store.articles.pending_count() == 0

    def test_a_page_that_added_nothing_is_parted_too(self, web: Web) -> None:
        web.add(article("1", "一。", "2"), article("2", "一。"))
        assert web.outcome("2")[0] == Reason.CONTINUATION
        assert web.add(article("1", "一。")) == [Reason.ARTICLE_UNCHANGED, Reason.ALTERNATE_VERSION]

    @pytest.mark.parametrize(
        ("name", "bodies"),
        [
            pytest.param("1", {"2": "二。\n三。"}, id="first"),
            pytest.param("2", {"1": "一。", "3": "三。"}, id="middle"),
            pytest.param("3", {"1": "一。\n二。"}, id="last"),
        ],
    )
    def test_a_page_of_a_chain_goes(self, web: Web, name: str, bodies: dict[str, str]) -> None:
        web.add(*CHAIN)
        web.lose(name)
        assert web.bodies() == bodies
        assert web.lose() == []
        web.add(CHAIN[int(name) - 1])
        assert web.bodies() == WHOLE

    @on_both
    @pytest.mark.parametrize(
        ("name", "bodies"),
        [
            ("1", {"www.a.test/2": "二。\n三。"}),
            ("2", {"1": "一。", "m.a.test/3": "三。"}),
            ("3", {"1": "一。\n二。"}),
        ],
    )
    def test_the_site_of_a_page_of_a_chain_is_removed(self, web: Web, name: str, bodies: dict[str, str]) -> None:
        urls = {"1": url("1"), "2": "http://www.a.test/2", "3": "http://m.a.test/3"}
        following = {"1": urls["2"], "2": urls["3"], "3": ""}
        web.add(*(article(urls[n], page.body, following[n]) for n, page in zip("123", CHAIN, strict=True)))
        assert web.bodies() == WHOLE
        host = urls[name].split("/")[2]
        web.store.site_pages.remove(host, PendingAction(0.0, "anna", "site_remove", host, {}))
        web.store.articles.resolve_removed_pages()
        assert {address.removeprefix("http://"): body for address, body in web.bodies().items()} == bodies
        assert web.store.articles.resolve_removed_pages() == []

    def test_a_page_that_stops_being_an_article_parts_the_chain(self, web: Web) -> None:
        web.add(*CHAIN)
        web.crawl("2")
        assert web.extract({url("2"): NO_ARTICLE}) == [Reason.LIST_PAGE, Reason.EXTRACTED, Reason.EXTRACTED]
        assert web.bodies() == {"1": "一。", "3": "三。"}

    def test_a_lost_record_leaves_the_chain_as_it_is(self, web: Web) -> None:
        web.add(*CHAIN)
        web.crawl("2")
        assert web.extract({url("2"): Outcome(Reason.WARC_RECORD_LOST, "gone")}) == [Reason.WARC_RECORD_LOST]
        assert web.bodies() == WHOLE
        assert web.store.articles.pending_count() == 1

    def test_a_ring_begins_at_the_page_known_first(self, web: Web) -> None:
        web.add(article("1", "一。", "2"), article("2", "二。", "3"), article("3", "三。", "1"))
        assert web.bodies() == WHOLE

    def test_a_page_that_names_itself(self, web: Web) -> None:
        web.add(article("1", "一。", "1"))
        assert web.bodies() == {"1": "一。"}

    def test_of_two_pages_before_a_third_the_first_known_has_it(self, web: Web) -> None:
        web.add(article("1", "一。", "3"), article("2", "二。", "3", title="另一题"), article("3", "三。"))
        assert web.bodies() == {"1": "一。\n三。", "2": "二。"}
        web.lose("1")
        assert web.bodies() == {"2": "二。\n三。"}

    @pytest.mark.parametrize("target", ["http://other.test/2", "http://a.test/", ""])
    def test_an_article_does_not_go_on_elsewhere(self, web: Web, target: str) -> None:
        web.add(replace(CHAIN[0], next_url=target), article("http://other.test/2"), article("http://a.test/"))
        assert web.articles()[url("1")].article.body == "一。"

    def test_an_article_ends_somewhere(self, web: Web, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(joining, "MAX_CHAIN_PAGES", 3)
        monkeypatch.setattr(settling, "MAX_CHAIN_PAGES", 3)
        pages = [article(str(n), f"{n}。", str(n + 1), title=f"题{'甲' * n}") for n in range(1, 8)]
        for page in reversed(pages):
            web.add(page)
        assert web.bodies() == {"1": "1。\n2。\n3。"} | {str(n): f"{n}。" for n in range(4, 8)}

    def test_a_reader_of_http_and_https(self, web: Web) -> None:
        web.add(article("1", "一。", "https://a.test/2"), article("2", "二。"))
        assert web.bodies() == {"1": "一。\n二。"}


TEXT = "第一段有一些字。\n第二段也有。"
ORIGINAL = article("news/1", TEXT)
AMP = article("amp/news/1", TEXT, original="news/1")
MOBILE = article("http://m.a.test/news/1", TEXT, original="news/1")


class TestDoubles:
    @pytest.mark.parametrize("reverse", [False, True], ids=["original first", "original last"])
    def test_a_page_whose_original_is_known_is_a_double(self, web: Web, reverse: bool) -> None:
        pages = [ORIGINAL, AMP, MOBILE]
        for page in reversed(pages) if reverse else pages:
            web.add(page)
        assert list(web.bodies()) == ["news/1"]
        assert web.outcome("amp/news/1") == (Reason.ALTERNATE_VERSION, url("news/1"))
        assert web.outcome(MOBILE.url) == (Reason.ALTERNATE_VERSION, url("news/1"))
        assert web.store.frontier.find_entries([AMP.url])[AMP.url].kind is UrlKind.ARTICLE

    def test_without_its_original_it_is_the_article(self, web: Web) -> None:
        assert web.add(AMP) == [Reason.EXTRACTED]
        assert list(web.bodies()) == ["amp/news/1"]

    @on_both
    def test_the_original_goes_and_comes_back(self, web: Web) -> None:
        web.add(ORIGINAL, AMP)
        web.log()
        assert web.lose("news/1") == [Reason.EXTRACTED]
        assert web.log() == [(IndexOperation.DELETE, "news/1"), (IndexOperation.UPSERT, "amp/news/1")]
        assert web.add(ORIGINAL) == [Reason.EXTRACTED, Reason.ALTERNATE_VERSION]
        assert web.log() == [(IndexOperation.DELETE, "amp/news/1"), (IndexOperation.UPSERT, "news/1")]

    def test_an_original_that_says_something_else_is_none(self, web: Web) -> None:
        """A theme that declares one page as canonical for all pages must not cost the site its articles."""
        others = [article(f"n{n}", f"正文{n}，各不相同。", original="about", title=f"题目{n * '甲'}") for n in range(3)]
        web.add(article("about", "关于我们。", title="关于我们"), *others)
        assert len(web.bodies()) == 4

    @pytest.mark.parametrize("target", ["http://other.test/news/1", "http://a.test/"])
    def test_an_original_elsewhere_does_not_count(self, web: Web, target: str) -> None:
        web.add(replace(AMP, canonical_url=target), article(target, "同一题目，别的正文。"))
        assert url("amp/news/1") in web.articles()

    def test_pages_that_call_each_other_the_original(self, web: Web) -> None:
        web.add(article("1", TEXT, original="2"), article("2", TEXT, original="1"))
        assert list(web.bodies()) == ["1"]

    @on_both
    def test_the_version_that_another_declares_is_the_article(self, web: Web) -> None:
        longest = "news/2024/story-1.html"
        web.add(article("p/1", TEXT), article(longest, TEXT), article("amp/1", TEXT, original=longest))
        assert list(web.bodies()) == [longest]

    def test_a_print_page_without_canonical_link(self, web: Web) -> None:
        printed = article("print/news/1", TEXT)
        assert web.add(printed) == [Reason.EXTRACTED]
        assert web.add(ORIGINAL) == [Reason.EXTRACTED, Reason.ALTERNATE_VERSION]
        assert web.add(printed) == [Reason.ALTERNATE_VERSION]
        assert web.outcome("print/news/1") == (Reason.ALTERNATE_VERSION, url("news/1"))
        assert web.add(replace(ORIGINAL, body="更正。")) == [Reason.EXTRACTED, Reason.EXTRACTED]
        assert set(web.bodies()) == {"news/1", "print/news/1"}

    def test_the_print_page_of_a_joined_article(self, web: Web) -> None:
        web.add(article("print/whole", WHOLE["1"]), *CHAIN)
        assert web.bodies() == WHOLE

    def test_an_article_that_calls_itself_the_original_is_no_double(self, web: Web) -> None:
        web.add(article("1", TEXT, original="1"), article("22", TEXT, original="22"), article("3", TEXT))
        assert set(web.bodies()) == {"1", "22"}

    def test_the_same_text_on_another_host_is_an_article_of_its_own(self, web: Web) -> None:
        web.add(ORIGINAL, article("http://b.test/news/1", TEXT))
        assert len(web.articles()) == 2

    @on_both
    def test_very_many_doubles_are_moved_batch_by_batch(self, web: Web, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(settling, "MAX_DEPENDENTS", 5)
        web.add(article("1", TEXT), *(article(f"print/{n}", TEXT) for n in range(20)))
        web.lose("1")
        assert web.store.articles.pending_count() == 15
        web.extract({p.url: article(p.url, TEXT) for p in web.store.articles.iter_pending()})
        assert list(web.bodies()) == ["print/0"]

    def test_a_later_page_that_names_the_first_as_its_original_is_a_continuation(self, web: Web) -> None:
        web.add(article("1", "一。", "2"), article("2", "二。", original="1"))
        assert web.bodies() == {"1": "一。\n二。"}
        assert web.outcome("2")[0] == Reason.CONTINUATION

    def test_a_version_of_the_first_page_does_not_take_the_second(self, web: Web) -> None:
        web.add(article("1?p=1", "一。", "2", original="1"), article("1", "一。", "2"), article("2", "二。"))
        assert web.bodies() == {"1": "一。\n二。"}
        assert web.outcome("1?p=1") == (Reason.ALTERNATE_VERSION, url("1"))


@dataclass
class World:
    """What a small site shows at one moment, drawn by chance: chains, versions, pages that come, change and go."""

    chance: random.Random
    names: Sequence[str]

    def page(self, name: str) -> Article | Outcome:
        if self.chance.random() < 0.1:
            return NO_ARTICLE
        pick: Callable[[], str] = lambda: self.chance.choice(self.names)  # noqa: E731
        text = self.chance.choice(["同一段话。", "另一段话。", f"{name}自己的话。"])
        following = pick() if self.chance.random() < 0.5 else ""
        original = pick() if self.chance.random() < 0.4 else ""
        return replace(article(name, text, following, original), url=url(name))


def state(store: Store) -> tuple[object, ...]:
    """All that must not depend on the order of events."""
    rows = {s.article.url: (s.article.body, s.article.blocks) for s in store.articles.iter_all()}
    return rows, store.status.outcome_counts().get(Stage.EXTRACT, {}) and sorted(parts_of(store))


def parts_of(store: Store) -> Iterable[tuple[str, str, str]]:
    for reason in (Reason.CONTINUATION, Reason.ALTERNATE_VERSION):
        for address, whole in urls_with_outcome(store, Stage.EXTRACT, reason):
            yield reason, address, whole


@pytest.mark.parametrize("seed", seeds(SEEDS))
def test_what_came_of_many_changes_is_what_the_last_pages_say(seed: int, tmp_path: Path) -> None:
    """A store that saw pages arrive, change and disappear in any order equals a store that saw only the final state."""
    chance = random.Random(seed)
    names = [str(n) for n in range(9)]
    world, now = World(chance, names), dict.fromkeys(names, NO_ARTICLE)
    with Store(f"sqlite:///{tmp_path / 'x.db'}", tmp_path / "x") as store:
        web = Web(store)
        web.crawl(*names)  # so that URLs have the same numbers in both stores
        web.extract({url(name): NO_ARTICLE for name in names})
        for _ in range(40):
            some = chance.sample(names, chance.randint(1, 4))
            if chance.random() < 0.2:
                web.lose(*some)
                now |= dict.fromkeys(some, NO_ARTICLE)
            else:
                drawn = {name: world.page(name) for name in some}
                now |= drawn
                web.crawl(*some)
                web.extract({url(name): result for name, result in drawn.items()})
        came = state(store)
        gone_through = {change.url for change in store.change_log.pending(10_000)}
        assert set(web.articles()) <= gone_through
    with Store(f"sqlite:///{tmp_path / 'y.db'}", tmp_path / "y") as store:
        web = Web(store)
        web.crawl(*names)
        web.extract({url(name): result for name, result in now.items()})
        assert came == state(store)


@on_both
def test_a_kill_between_pages_leaves_whole_states(web: Web, monkeypatch: pytest.MonkeyPatch) -> None:
    """A batch is saved in one transaction: if it fails at its end, none of it is stored."""
    web.add(CHAIN[0])
    web.crawl("2")
    before = state(web.store)

    def fail(*_: object) -> None:
        raise RuntimeError("killed")

    with monkeypatch.context() as patch, pytest.raises(RuntimeError):
        patch.setattr(saving, "write_outcomes", fail)
        web.extract({url("2"): CHAIN[1]})
    assert state(web.store) == before
    web.extract({url("2"): CHAIN[1]})
    assert web.bodies() == {"1": "一。\n二。"}


@on_both
def test_explain_tells_where_a_page_went(web: Web) -> None:
    same = tuple(range(128))
    web.add(*CHAIN, article("9", "九。", title="另一题"), article("print/9", "九。", title="另一题"))
    twin = replace(article("http://b.test/7", "七。"), signature=same)
    web.add(replace(article("7", "七。"), signature=same), twin, replace(article("8", "八。"), signature=same))

    def explain(name: str) -> UrlReport:
        told = web.store.status.url_report(url(name))
        assert told is not None
        return told

    assert explain("1").parts == tuple(ArticlePart(url(n), "continuation") for n in ("2", "3"))
    assert explain("9").parts == (ArticlePart(url("print/9"), "double"),)
    assert explain("2").ties == (PageReferenceRow(2, "next", "a.test/3"),)
    assert explain("2").article is None
    assert [one.stands_for_the_group for one in explain(twin.url).near_duplicates] == [True]
    assert [one.url for one in explain("7").near_duplicates] == [twin.url]
    assert [one.url for one in explain("7").similar_articles] == [url("8")]
    assert [one.url for one in explain("8").similar_articles] == [url("7")]
    assert explain("9").near_duplicates == ()
