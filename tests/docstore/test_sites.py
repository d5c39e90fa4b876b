"""Site templates: repeated text of the pages of a host, learned during extraction."""

import pytest

from docstore.articles import site_templates as sites
from docstore.articles.extraction_writer import PageExtraction
from docstore.store import Store
from domain.article import PageTraits, SiteTemplate
from domain.outcome import Outcome, Reason
from tests.conftest import logic_store_url, on_both
from tests.docstore.test_resolve_roles import Web, article, url

store_url = logic_store_url
FOOTER = 77


def teach(web: Web, first: int, count: int, *lines: int, tail: str = "_某网", host: str = "a.test") -> None:
    """Crawl and extract articles that show `lines`, and one line of their own each."""
    names = [f"http://{host}/{n}" for n in range(first, first + count)]
    web.crawl(*names)
    own_lines = {page: 10_000 + int(page.url.split("/")[-1]) for page in web.store.articles.iter_pending()}
    web.store.articles.save(
        [
            PageExtraction(page, article(page.url), PageTraits(frozenset({*lines, own}), tail, frozenset({-own})))
            for page, own in own_lines.items()
        ]
    )


@pytest.fixture
def web(store: Store) -> Web:
    return Web(store)


@on_both
def test_lines_and_endings_that_repeat_are_known(web: Web) -> None:
    teach(web, 0, 2, FOOTER)
    assert web.store.articles.site_template("a.test") == SiteTemplate(page_count=2)
    teach(web, 2, 14, FOOTER, 5)
    teach(web, 16, 3, FOOTER, 6, tail="")
    assert web.store.articles.site_template("a.test") == SiteTemplate(19, frozenset(), ("_某网",))
    teach(web, 19, 1, 5)
    assert web.store.articles.site_template("a.test") == SiteTemplate(20, frozenset({FOOTER}), ("_某网",))
    teach(web, 20, 20, tail="_频道_某网")
    assert web.store.articles.site_template("a.test") == SiteTemplate(40, frozenset(), ("_频道_某网", "_某网"))


@on_both
def test_copies_of_one_article_count_once(web: Web) -> None:
    """Print, mobile and AMP versions of an article, in one batch and in several."""
    teach(web, 0, 20, FOOTER)
    for n in range(20, 80, 20):
        names = [f"http://a.test/{n + copy}" for copy in range(20)]
        web.crawl(*names)
        copy = PageTraits(frozenset({5, 6}), "_某网", text_hashes=frozenset({-1}))
        pending = list(web.store.articles.iter_pending())
        web.store.articles.save([PageExtraction(page, article(page.url), copy) for page in pending])
    assert web.store.articles.site_template("a.test") == SiteTemplate(21, frozenset({FOOTER}), ("_某网",))


def test_hosts_are_apart(web: Web) -> None:
    teach(web, 0, 24, FOOTER)
    teach(web, 0, 20, 8, host="b.test")
    assert web.store.articles.site_template("b.test").template_line_hashes == {8}
    assert web.store.articles.site_template("c.test") == SiteTemplate()


def test_a_page_counts_once(web: Web) -> None:
    for _ in range(3):
        teach(web, 0, 1, FOOTER)
    web.store.articles.reextract_all()
    teach(web, 0, 1, FOOTER)
    assert web.store.articles.site_template("a.test") == SiteTemplate(page_count=1)


def test_a_page_that_could_not_be_read_counts_when_it_can(web: Web) -> None:
    web.crawl("1")
    web.extract({url("1"): Outcome(Reason.TIMED_OUT)})
    assert web.store.articles.site_template("a.test").page_count == 0
    teach(web, 1, 1, FOOTER)
    assert web.store.articles.site_template("a.test").page_count == 1


@on_both
def test_what_is_kept_of_a_host_is_bounded(web: Web, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sites, "MAX_ENTRIES_PER_HOST", 20)
    for n in range(0, 60, 5):
        teach(web, n, 5, FOOTER)
    with web.store._database.read() as connection:
        kept = connection.exec_driver_sql("SELECT count(*) FROM site_lines").scalar()
    assert kept is not None and kept <= 20
    assert web.store.articles.site_template("a.test").template_line_hashes == {FOOTER}


def test_of_a_huge_page_every_page_gives_the_same_sample(web: Web, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sites, "MAX_LINES_PER_PAGE", 10)
    teach(web, 0, 20, *range(100))
    assert web.store.articles.site_template("a.test").template_line_hashes == set(range(10))


def test_a_new_design_is_learned(web: Web, monkeypatch: pytest.MonkeyPatch) -> None:
    """All pages counted ever would ask for 560 pages of the new design; with fading, 100 are enough."""
    monkeypatch.setattr(sites, "HALVE_AFTER_PAGES", 50)
    for n in range(0, 140, 10):
        teach(web, n, 10, 1)
    for n in range(140, 240, 10):
        teach(web, n, 10, 2)
    known = web.store.articles.site_template("a.test")
    assert 2 in known.template_line_hashes
    assert known.page_count <= 60


@on_both
def test_nothing_is_learned_of_a_batch_that_fails(web: Web, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise RuntimeError("killed")

    with monkeypatch.context() as patch, pytest.raises(RuntimeError):
        patch.setattr("docstore.articles.extraction_writer.write_outcomes", fail)
        teach(web, 0, 5, FOOTER)
    assert web.store.articles.site_template("a.test") == SiteTemplate()


@on_both
def test_of_a_new_site_a_sample_is_looked_at_first(web: Web) -> None:
    web.crawl(*(f"http://a.test/{n}" for n in range(100)), "http://small.test/1", "http://small.test/2")
    sample = web.store.articles.template_sample_pages()
    assert [page.url for page in sample] == [f"http://a.test/{n}" for n in range(sites.SAMPLE_PAGES)]
    traits = [PageTraits(frozenset({FOOTER}), text_hashes=frozenset({-n})) for n in range(100)]
    extractions = [PageExtraction(p, article(p.url), t) for p, t in zip(sample, traits, strict=False)]
    web.store.articles.learn_templates(extractions)
    assert web.store.articles.site_template("a.test") == SiteTemplate(sites.SAMPLE_PAGES, frozenset({FOOTER}))
    assert web.store.articles.template_sample_pages() == []
    assert web.store.articles.pending_count() == 102
    pending = [page for page in web.store.articles.iter_pending() if page.host == "a.test"]
    web.store.articles.save([PageExtraction(p, article(p.url), t) for p, t in zip(pending, traits, strict=True)])
    assert web.store.articles.site_template("a.test").page_count == 100


def test_a_site_is_sampled_until_enough_is_known(web: Web) -> None:
    teach(web, 0, 5, FOOTER)
    web.crawl("http://a.test/100", "http://a.test/1")  # the second was counted before
    assert [page.url for page in web.store.articles.template_sample_pages()] == ["http://a.test/100"]
