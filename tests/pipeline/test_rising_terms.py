"""Rising terms of a vertical: which are saved, and what the review and the site show of them."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import date, timedelta
from pathlib import Path

import pytest

from docstore.articles.article_table import ArticleLead
from docstore.articles.extraction_writer import PageExtraction
from domain.article import Article
from domain.review import Order, TermQuery
from domain.rising_term import RisingTerm
from domain.term import Lexicon, LexiconEntry, Term, TermStatus
from lexicon.bursts import MIN_ARTICLES
from pipeline.engine import Engine
from pipeline.lexicon_stage.lexicon_review import LexiconReview
from pipeline.lexicon_stage.rising_terms import RISING_DAYS, find_articles, find_rising_terms, update_rising_terms
from pipeline.progress import NullProgress
from pipeline.search_site.public_backend import StoreSiteBackend
from pipeline.settings import Settings
from search_ui.settings import SignedInSites
from tests.builders import keep_page

TODAY = date(2024, 5, 20)


def leads(texts_by_day: list[list[str]], last_day: date = TODAY) -> list[ArticleLead]:
    """Return articles of two sites by turns; the last list is of `last_day`."""
    first_day = last_day - timedelta(days=len(texts_by_day) - 1)
    return [
        ArticleLead(f"{'ab'[n % 2]}.test", first_day + timedelta(days=number), "", text)
        for number, texts in enumerate(texts_by_day)
        for n, text in enumerate(texts)
    ]


def rising(articles: list[ArticleLead], *terms: str, today: date = TODAY) -> list[RisingTerm]:
    return find_rising_terms(articles, find_articles(articles, terms), today)


QUIET_DAY = [f"第{n}篇谈经济。" for n in range(40)]
BUSY_DAY = QUIET_DAY[:20] + ["台风杜苏芮登陆。"] * 12


def test_a_rise_is_counted_from_its_first_day() -> None:
    articles = leads([QUIET_DAY, [*QUIET_DAY, "杜苏芮将至。"], *[QUIET_DAY] * 6, BUSY_DAY, BUSY_DAY])
    assert rising(articles, "杜苏芮", "经济") == [RisingTerm("杜苏芮", "2024-05-19", 24, 0)]


def test_one_new_site_is_no_event() -> None:
    articles = leads([*[QUIET_DAY] * 8, BUSY_DAY])
    from_one_site = [lead._replace(host="c.test") if "杜苏芮" in lead.text else lead for lead in articles]
    assert rising(articles, "杜苏芮") and not rising(from_one_site, "杜苏芮")
    only_site = [lead._replace(host="c.test") for lead in articles]
    assert rising(only_site, "杜苏芮")


def test_an_old_rise_is_over() -> None:
    articles = leads([*[QUIET_DAY] * 8, BUSY_DAY], TODAY - timedelta(days=RISING_DAYS + 1))
    assert rising(articles, "杜苏芮", today=TODAY - timedelta(days=1))
    assert rising(articles, "杜苏芮") == [] == rising([], "杜苏芮")


def test_spelling_is_ignored_and_latin_terms_are_whole_words() -> None:
    articles = leads([["ＰＤＣ 鑽頭", "the shale gas boom", "shale gases", "no oil", "turmoil", "用PDC钻头。"]])
    found = find_articles(articles, ["PDC钻头", "Shale gas", "oil", "x"])
    assert {term: list(indices) for term, indices in found.items()} == {
        "PDC钻头": [0, 5], "Shale gas": [1], "oil": [3],
    }  # fmt: skip


def test_the_end_of_a_title_and_the_beginning_of_the_text_form_no_term() -> None:
    assert find_articles([ArticleLead("a.test", TODAY, "压裂井用", "水平井完钻。")], ["用水", "水平井"]) == {
        "水平井": [0]
    }


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Engine]:
    """A vertical with a published term (台风) and a candidate (救援队) that rise."""
    with Engine(Settings(tmp_path), NullProgress()) as opened:
        store, number = opened.store, 0
        for age in range(6, -1, -1):
            rising = ["台风登陆。", "救援队出发。"] * (MIN_ARTICLES if age == 0 else 0)
            for text in [*(f"谈经济{n}。" for n in range(15)), *rising]:
                number += 1
                day = (TODAY - timedelta(days=age)).isoformat()
                url = f"http://{'ab'[number // 2 % 2]}.test/{number}"
                keep_page(store, url, url.encode())
                article = Article(url, f"第{number}篇", f"{text}{number}", day, language="zh")
                store.articles.save([PageExtraction(page, article) for page in store.articles.iter_pending()])
        store.lexicons.replace_candidates(
            [Term("经济", 0.9, 90, 90), Term("救援队", 0.5, 6, 6), Term("台风", 0.4, 6, 6)]
        )
        LexiconReview(store).decide(["台风"], TermStatus.ACCEPTED, "li")
        store.lexicons.publish(Lexicon(1, (LexiconEntry("台风"),)))
        store.lexicons.mark_applied(1, [])
        yield opened


def test_rising_candidates_lead_the_review_and_rising_published_terms_are_public(engine: Engine) -> None:
    review = LexiconReview(engine.store)
    shown = TermQuery()
    assert [term.text for term in review.store.review_queue.find_page(shown)[1]] == ["经济", "救援队"]
    assert update_rising_terms(engine, TODAY) == ("2 rising terms",)
    assert [term.text for term in review.store.review_queue.find_page(shown)[1]] == ["救援队", "经济"]
    by_score = TermQuery(order=Order.SCORE)
    assert [term.text for term in review.store.review_queue.find_page(by_score)[1]] == ["经济", "救援队"]
    assert {term.text for term in engine.store.rising_terms.load()} == {"台风", "救援队"}
    assert RisingTerm("台风", TODAY.isoformat(), MIN_ARTICLES, 0) in StoreSiteBackend(engine).rising_terms()


def test_a_later_run_removes_what_no_longer_rises(engine: Engine) -> None:
    update_rising_terms(engine, TODAY)
    assert update_rising_terms(engine, TODAY + timedelta(days=RISING_DAYS + 1)) == ()
    assert engine.store.rising_terms.load() == []


def test_terms_of_private_sites_do_not_rise_for_readers(engine: Engine) -> None:
    private_sites = SignedInSites(frozenset(["a.test", "b.test"]))
    engine.settings = replace(engine.settings, search=replace(engine.settings.search, signed_in_sites=private_sites))
    update_rising_terms(engine, TODAY)
    assert [term.text for term in engine.store.rising_terms.load()] == ["救援队"]
