"""Lists among the articles: pages that show another page's text, and pages of list patterns, in any order."""

import itertools
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from docstore.articles.extraction_writer import PageExtraction
from docstore.page_roles import resolve_roles as settling
from docstore.page_roles import url_patterns
from docstore.page_roles.url_patterns import url_pattern
from docstore.store import Store
from domain.article import Article, Teaser
from domain.frontier import UrlKind
from domain.index_change import IndexOperation
from domain.outcome import Outcome, Reason, Stage
from pipeline.explain.url_explanation import UrlExplanation
from pipeline.explain.url_report_text import iter_sentences
from tests.builders import urls_with_outcome
from tests.conftest import logic_store_url, on_both
from tests.docstore.test_resolve_roles import CrawledPages, seeds, url

store_url = logic_store_url
LIST = Outcome(Reason.LIST_PAGE, "links")
TEXT = "油田昨天宣布，今年的产量超过去年同期，创下新高。\n公司负责人表示，下一步将继续推进技术创新，努力降低成本。"
OTHER = "天然气管道今天开工，预计三年后建成。\n沿线各地的居民对此表示欢迎，也有人担心噪声。"


@dataclass(frozen=True)
class Made:
    """What the extractor makes of a page."""

    result: Article | Outcome
    teaser: Teaser | None = None
    vouched: bool = True


def article(name: str, body: str = TEXT, title: str = "题目", original: str = "", following: str = "") -> Made:
    return Made(Article(url(name), title, body, canonical_url=original and url(original), next_url=following))


def showing(name: str, shown: str, body: str = TEXT, title: str = "题目") -> Made:
    """A page that has an article's beginning below the headline of that article."""
    lines = tuple(line[:20] for line in body.split("\n"))
    return Made(Article(url(name), title, body, method="blocks"), Teaser(url(shown), "题目", lines))


def unvouched(name: str, body: str = "") -> Made:
    return Made(Article(url(name), name, body or f"{name}的一段话。"), vouched=False)


class Web(CrawledPages):
    """Pages as they are crawled and extracted into a store."""

    def extract(self, made: Mapping[str, Made]) -> list[Reason]:
        """Extract all that waits, in one batch."""
        pages = [(page, made[page.url.removeprefix(url(""))]) for page in self.store.articles.iter_pending()]
        return self.store.articles.save(
            [PageExtraction(p, m.result, teaser=m.teaser, is_declared_article=m.vouched) for p, m in pages]
        )

    def add(self, pages: Mapping[str, Made]) -> list[Reason]:
        self.crawl(*pages)
        return self.extract(pages)

    def articles(self) -> set[str]:
        return {stored.article.url.removeprefix(url("")) for stored in self.store.articles.iter_all()}


@pytest.fixture
def web(store: Store) -> Web:
    return Web(store)


SHOWN = {"2024/05/oil.html": article("2024/05/oil.html")}
TAG = {"t/": showing("t/", "2024/05/oil.html")}


class TestTextOfAnotherPage:
    """Before, the tag page was the article, as its URL is shorter, and the article a double of it."""

    @pytest.mark.parametrize("batches", [[SHOWN, TAG], [TAG, SHOWN], [SHOWN | TAG]], ids=["after", "before", "with"])
    def test_a_page_that_shows_an_article_is_a_list_in_any_order(
        self, web: Web, batches: Sequence[Mapping[str, Made]]
    ) -> None:
        for batch in batches:
            web.add(batch)
        assert web.articles() == {"2024/05/oil.html"}
        assert web.outcome("t/") == (Reason.LIST_PAGE, "Its text is that of http://a.test/2024/05/oil.html")
        assert web.outcome("2024/05/oil.html")[0] == Reason.EXTRACTED
        assert {name: op for op, name in web.log()}.get("t/", IndexOperation.DELETE) is IndexOperation.DELETE

    def test_a_list_of_leads_is_one_as_well(self, web: Web) -> None:
        lead = TEXT[:30]
        web.add(SHOWN | {"t/": showing("t/", "2024/05/oil.html", lead, "油田")})
        assert web.articles() == {"2024/05/oil.html"}

    def test_a_list_is_asked_again_in_every_crawl(self, web: Web) -> None:
        web.add(SHOWN | TAG)
        assert web.store.frontier.find_entries([url("t/")])[url("t/")].kind is UrlKind.HUB

    def test_an_article_below_anothers_headline_has_its_own_text(self, web: Web) -> None:
        """A link to another article may stand above the first sentence."""
        web.add(SHOWN | {"gas": showing("gas", "2024/05/oil.html", OTHER, "管道")})
        assert web.articles() == {"2024/05/oil.html", "gas"}

    def test_what_hardly_shows_any_of_it_is_an_article(self, web: Web) -> None:
        web.add(SHOWN | {"gas": showing("gas", "2024/05/oil.html", f"{TEXT[:20]}\n{OTHER}", "管道")})
        assert web.articles() == {"2024/05/oil.html", "gas"}

    @on_both
    def test_a_list_of_what_is_gone_or_changed_is_all_there_is(self, web: Web) -> None:
        web.add(SHOWN | TAG)
        web.log()
        assert web.add({"2024/05/oil.html": article("2024/05/oil.html", OTHER)}) == [Reason.EXTRACTED] * 2
        assert web.articles() == {"2024/05/oil.html", "t/"}
        assert web.add(SHOWN) == [Reason.EXTRACTED, Reason.LIST_PAGE]
        web.lose("2024/05/oil.html")
        assert web.articles() == {"t/"}
        assert web.outcome("t/") == (Reason.EXTRACTED, "blocks")

    def test_pages_that_show_each_other_stay(self, web: Web) -> None:
        ring = {"1": showing("1", "2"), "2": showing("2", "3"), "3": showing("3", "1")}
        web.add(ring)
        assert web.articles() == {"1"}  # doubles of the first, as ever: none is lost

    def test_an_article_is_no_double_of_a_list_that_it_names(self, web: Web) -> None:
        web.add({"oil": article("oil", original="t/"), "t/": showing("t/", "oil")})
        assert web.articles() == {"oil"}

    def test_a_double_of_what_turns_out_to_be_a_list_is_an_article(self, web: Web) -> None:
        """It was lost: a double of a page without article."""
        web.add({"t/": article("t/"), "2024/oil": article("2024/oil")})
        assert web.articles() == {"t/"}
        assert web.add({"t/": Made(LIST)}) == [Reason.LIST_PAGE, Reason.EXTRACTED]
        assert web.articles() == {"2024/oil"}

    def test_a_list_is_no_part_of_an_article(self, web: Web) -> None:
        """Lists name their next pages too."""
        first = Made(Article(url("t/"), "题目", TEXT, next_url=url("t/2")), showing("t/", "oil").teaser)
        web.add({"t/": first, "t/2": article("t/2", OTHER, "其他")})
        assert web.outcome("t/2")[0] == Reason.CONTINUATION
        web.add({"oil": article("oil")})
        assert web.articles() == {"oil", "t/2"}
        web.lose("oil")
        assert web.articles() == {"t/"}

    @on_both
    def test_what_very_many_pages_show(self, web: Web, monkeypatch: pytest.MonkeyPatch) -> None:
        """One article on top of all lists: what is too much for one transaction waits."""
        monkeypatch.setattr(settling, "MAX_REFERRERS", 5)
        lists = {f"page/{n}": showing(f"page/{n}", "oil", f"{TEXT}\n{n * '长'}") for n in range(12)}
        web.add(lists)
        assert len(web.articles()) == 12
        web.add({"oil": article("oil")})
        for left in (7, 0):
            assert web.store.articles.pending_count() == left
            web.extract(lists)
        assert web.articles() == {"oil"}

    @on_both
    def test_explain_tells_it(self, web: Web) -> None:
        web.add(SHOWN | TAG)
        told = "\n".join(iter_sentences(UrlExplanation(web.store.status.url_report(url("t/")))))
        assert "list_page (Its text is that of http://a.test/2024/05/oil.html)" in told
        article = web.store.status.url_report(url("2024/05/oil.html"))
        assert article is not None and not article.parts


LISTS = {f"tags/{n}/": Made(LIST) for n in range(url_patterns.MIN_LIST_PAGES)}


class TestSiblings:
    @pytest.mark.parametrize("order", list(itertools.permutations(range(3))))
    def test_a_page_that_nothing_vouches_for_is_what_its_siblings_are(self, web: Web, order: Sequence[int]) -> None:
        half = dict(list(LISTS.items())[:4])
        batches = [half, dict(list(LISTS.items())[4:]), {"tags/oil/": unvouched("tags/oil/")}]
        for place in order:
            web.add(batches[place])
        assert web.articles() == set()
        assert web.outcome("tags/oil/") == (Reason.LIST_PAGE, "Nearly all pages like a.test/tags/*/ are lists")

    def test_one_that_is_vouched_for_stays(self, web: Web) -> None:
        web.add(LISTS | {"tags/oil/": article("tags/oil/")})
        assert web.articles() == {"tags/oil/"}

    def test_elsewhere_they_say_nothing(self, web: Web) -> None:
        web.add(LISTS | {"wells/oil/": unvouched("wells/oil/"), "tags/oil/a/": unvouched("tags/oil/a/")})
        assert web.articles() == {"wells/oil/", "tags/oil/a/"}

    def test_few_lists_are_no_habit(self, web: Web) -> None:
        web.add(dict(list(LISTS.items())[1:]) | {"tags/oil/": unvouched("tags/oil/")})
        assert web.articles() == {"tags/oil/"}

    @on_both
    def test_it_is_an_article_again_when_others_prove_to_be(self, web: Web) -> None:
        web.add(LISTS | {"tags/oil/": unvouched("tags/oil/")})
        web.log()
        reasons = web.add({"tags/gas/": article("tags/gas/", OTHER)})
        assert reasons == [Reason.EXTRACTED, Reason.EXTRACTED]
        assert web.articles() == {"tags/oil/", "tags/gas/"}
        assert web.log() == [(IndexOperation.UPSERT, "tags/oil/"), (IndexOperation.UPSERT, "tags/gas/")]
        web.lose("tags/gas/")
        assert web.articles() == set()

    def test_it_is_an_article_again_when_it_says_so_itself(self, web: Web) -> None:
        web.add(LISTS | {"tags/oil/": unvouched("tags/oil/")})
        web.add({"tags/oil/": article("tags/oil/")})
        assert web.articles() == {"tags/oil/"}

    def test_lists_that_show_articles_are_siblings_too(self, web: Web) -> None:
        shown = {f"2024/{n}.html": article(f"2024/{n}.html", f"{TEXT}{n}", f"题目{n * '一'}") for n in range(8)}
        lists = {f"tags/{n}/": showing(f"tags/{n}/", f"2024/{n}.html", f"{TEXT}{n}") for n in range(8)}
        web.add({"tags/oil/": unvouched("tags/oil/")} | lists)
        assert "tags/oil/" in web.articles()
        web.add(shown)
        assert web.articles() == set(shown)

    @on_both
    def test_very_many_siblings_turn_batch_by_batch(self, web: Web, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(settling, "MAX_DEPENDENTS", 5)
        some = {f"tags/x{n}/": unvouched(f"tags/x{n}/") for n in range(12)}
        lists = {f"tags/y{n}/": Made(LIST) for n in range(60)}
        web.add(some)
        web.add(lists)
        for _ in range(3):
            web.extract(some)
        assert web.articles() == set()


@pytest.mark.parametrize(
    ("path", "pattern"),
    [
        ("/tags/oil/", "a.test/tags/*/"),
        ("/tags/oil/page/12/", "a.test/tags/*/page/#/"),
        ("/page/3/", "a.test/page/#/"),
        ("/archives/2018/02/", "a.test/archives/#/#/"),
        ("/2024/05/oil-wells.html", "a.test/#/#/*.html"),
        ("/tag/%E6%B2%B9", "a.test/tag/*"),
        ("/list.php?cat=3&page=2", "a.test/*.php?cat=*&page=*"),
        ("/", "a.test/"),
        ("/a/b/c/d/e/f/g/oil.html", "a.test/c/d/e/f/g/*.html"),
    ],
)
def test_patterns(path: str, pattern: str) -> None:
    assert url_pattern(f"http://a.test{path}") == pattern


NAMES = [f"{kind}/{n}" for kind in ("t", "a") for n in range(6)]
BODIES = [TEXT, OTHER, f"{TEXT}\n{OTHER}"]


def drawn(chance: random.Random, name: str) -> Made:
    """A page by chance: a list, an article, one that shows another or names its next page or original."""
    if chance.random() < 0.3:
        return Made(LIST)
    pick, body = chance.choice(NAMES), chance.choice([*BODIES, f"{name}自己的话，说得很长很长，谁也没有说过。"])
    teaser = showing(name, pick, body).teaser if chance.random() < 0.4 and pick != name else None
    following = url(chance.choice(NAMES)) if chance.random() < 0.2 else ""
    original = url(chance.choice(NAMES)) if chance.random() < 0.2 else ""
    found = Article(url(name), chance.choice(["题目", name]), body, canonical_url=original, next_url=following)
    return Made(found, teaser, chance.random() < 0.5)


def state(store: Store) -> tuple[object, ...]:
    """All that must not depend on the order of events."""
    kept = {stored.article.url: stored.article.body for stored in store.articles.iter_all()}
    reasons = (Reason.LIST_PAGE, Reason.CONTINUATION, Reason.ALTERNATE_VERSION)
    ends = {reason: sorted(urls_with_outcome(store, Stage.EXTRACT, reason)) for reason in reasons}
    return kept, ends


@pytest.mark.parametrize("seed", seeds(12))
def test_what_came_of_many_nights_is_what_the_last_pages_say(
    seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A store that saw pages come, change and go, and was closed in between, equals one that saw the end."""
    monkeypatch.setattr(url_patterns, "MIN_LIST_PAGES", 2)
    monkeypatch.setattr(url_patterns, "MAX_NON_LIST_RATIO", 0.5)
    chance, now = random.Random(seed), {name: Made(LIST) for name in NAMES}
    with Store(f"sqlite:///{tmp_path / 'x.db'}", tmp_path / "x") as store:
        Web(store).add(now)
    for night in range(25):
        with Store(f"sqlite:///{tmp_path / 'x.db'}", tmp_path / "x") as store:
            web = Web(store)
            web.version = 1000 * (night + 1)
            some = {name: drawn(chance, name) for name in chance.sample(NAMES, chance.randint(1, 4))}
            web.add(some)
            now |= some
    with Store(f"sqlite:///{tmp_path / 'x.db'}", tmp_path / "x") as store:
        came = state(store)
    with Store(f"sqlite:///{tmp_path / 'y.db'}", tmp_path / "y") as store:
        Web(store).add(now)
        assert came == state(store)
