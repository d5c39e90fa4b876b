"""Definitions of published terms: found in articles, best first, and marked when the article changes."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from docstore.store import Store, open_sqlite_store
from domain.article import document_id
from domain.errors import ConcurrentEditError, LexiconError
from domain.frontier import Visit
from domain.outcome import Outcome, Reason
from domain.review import TermQuery
from domain.term import (
    AUTOMATIC_ACTOR,
    MAX_DEFINITION_CHARS,
    Definition,
    DefinitionSource,
    Lexicon,
    LexiconEntry,
    TermStatus,
)
from pipeline.lexicon_stage.lexicon_review import LexiconReview
from pipeline.lexicon_stage.sentence_scan import update_from_sentences
from tests.builders import add, one_entry, operate, save_article

DEFINITION = "页岩气是指赋存于富有机质泥页岩中的非常规天然气。"
OTHER = "页岩气是一种清洁高效的非常规天然气资源，主要成分为甲烷。"
MENTION = "今年第一口页岩气井在川南投产，日产量创新高。"


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with open_sqlite_store(tmp_path) as opened:
        yield opened


def publish(store: Store, *terms: str) -> None:
    version = store.lexicons.latest_version() + 1
    store.lexicons.publish(Lexicon(version, entries=tuple(map(LexiconEntry, terms))))


def sentences(store: Store, term: str) -> list[str]:
    return [definition.sentence for definition in store.definitions.find_candidates([term])[term]]


def test_the_best_definition_is_first_with_its_source(store: Store) -> None:
    save_article(store, 1, f"{MENTION}\n{OTHER}")
    save_article(store, 2, f"{MENTION}{DEFINITION}")
    publish(store, "页岩气", "川南")
    assert update_from_sentences(store, None) == ("Definitions found for 1 term",)
    best, other = store.definitions.find_candidates(["页岩气"])["页岩气"]
    assert (best.sentence, best.url, best.title, best.published) == (
        DEFINITION,
        "http://a.test/2",
        "文章2",
        "2024-05-01",
    )
    assert other.sentence == OTHER and best.score > other.score and not best.needs_recheck
    assert sentences(store, "川南") == []


def test_copies_count_once_and_three_are_kept(store: Store) -> None:
    for number in range(6):
        save_article(
            store, number, DEFINITION if number < 2 else f"第{number}页。页岩气是一种{'好' * number}的天然气资源。"
        )
    publish(store, "页岩气")
    update_from_sentences(store, None)
    assert len(sentences(store, "页岩气")) == len(set(sentences(store, "页岩气"))) == 3
    update_from_sentences(store, None)
    assert len(sentences(store, "页岩气")) == 3


def test_new_articles_and_new_terms_are_searched(store: Store) -> None:
    save_article(store, 1, DEFINITION)
    publish(store, "天然气")
    update_from_sentences(store, None)
    assert sentences(store, "页岩气") == []
    publish(store, "天然气", "页岩气")
    update_from_sentences(store, None)
    assert sentences(store, "页岩气") == [DEFINITION]
    save_article(store, 2, OTHER)
    update_from_sentences(store, None)
    assert sorted(sentences(store, "页岩气")) == sorted([DEFINITION, OTHER])


def test_a_definition_whose_sentence_is_gone_is_marked(store: Store) -> None:
    save_article(store, 1, DEFINITION)
    publish(store, "页岩气")
    update_from_sentences(store, None)
    save_article(store, 1, MENTION)
    update_from_sentences(store, None)
    [definition] = store.definitions.iter_all()
    assert definition.needs_recheck and definition.sentence == DEFINITION and sentences(store, "页岩气") == []


def test_definitions_of_an_earlier_model_are_scored_again(store: Store) -> None:
    save_article(store, 1, MENTION)
    save_article(store, 2, OTHER)
    publish(store, "页岩气")
    update_from_sentences(store, None)
    [other] = store.definitions.iter_all()
    mention = replace(other, sentence=MENTION, url_id=one_entry(store, "http://a.test/1").url_id)
    store.definitions.save([replace(mention, score=0.95), replace(other, score=0.99)], ())
    assert len(store.definitions.find_public()["页岩气"]) == 2
    update_from_sentences(store, None)
    assert store.definitions.find_public() == {} and sentences(store, "页岩气") == [OTHER]


def test_a_store_without_a_lexicon_has_no_definitions(store: Store) -> None:
    save_article(store, 1, DEFINITION)
    assert update_from_sentences(store, None) == () and sentences(store, "页岩气") == []


@pytest.fixture
def review(store: Store) -> LexiconReview:
    """Reviews a store with a published term and two candidates for its definition."""
    save_article(store, 1, OTHER)
    save_article(store, 2, DEFINITION)
    add(store, ["页岩气"])
    publish(store, "页岩气")
    update_from_sentences(store, None)
    return LexiconReview(store)


def public(review: LexiconReview, term: str = "页岩气") -> list[Definition]:
    return review.store.definitions.find_public([term])[term]


def shown(review: LexiconReview) -> list[str]:
    return [definition.sentence for definition in public(review)]


@pytest.mark.parametrize("choice", [OTHER, ""])
def test_terms_without_a_certain_definition_wait_for_a_reviewer(store: Store, choice: str) -> None:
    certain = DEFINITION.replace("页岩气", "致密气")
    for number, text in enumerate([OTHER, certain, *(OTHER.replace("页岩气", name) for name in ("致密气", "煤层气"))]):
        save_article(store, number, text)
    add(store, ["页岩气", "致密气", "川南"])
    add(store, ["煤层气"], by=AUTOMATIC_ACTOR)  # a word: readers do not see it
    publish(store, "页岩气", "致密气", "煤层气", "川南")
    update_from_sentences(store, None)
    query = TermQuery(None, needs_definition=True)
    assert [term.text for term in store.review_queue.find_page(query)[1]] == ["页岩气"]
    LexiconReview(store).choose_definition("页岩气", choice, "anna", None)
    assert store.review_queue.find_page(query)[0] == 0
    assert set(store.definitions.find_public()) == {"页岩气", "致密气"} - ({"页岩气"} if not choice else set())


def test_a_choice_is_undoable_and_survives_the_next_run(store: Store, review: LexiconReview) -> None:
    assert shown(review) == [DEFINITION]
    decision = review.choose_definition("页岩气", OTHER, "anna", 1)
    update_from_sentences(store, None)
    assert shown(review) == [OTHER, DEFINITION] and public(review)[0].url == "http://a.test/1"
    assert (decision.by, decision.kind.value) == ("anna", "define") and review.store.review_history.list_decisions(
        "页岩气", "anna", 0, 9
    )[0] == 1
    with pytest.raises(ConcurrentEditError):
        review.choose_definition("页岩气", "", "bert", 1)
    review.choose_definition("页岩气", "", "bert", 2)
    update_from_sentences(store, None)
    assert shown(review) == []
    review.store.review_history.undo("bert", None)
    assert shown(review) == [OTHER, DEFINITION]
    review.store.review_history.undo("anna", decision.act_id)
    assert shown(review) == [DEFINITION]
    with pytest.raises(LexiconError, match="no candidate any more"):
        review.choose_definition("页岩气", MENTION, "anna", None)


def test_a_reviewer_writes_a_definition(store: Store, review: LexiconReview) -> None:
    review.write_definition("页岩气", " 赋存于<b>页岩</b>\n的天然气。 ", "anna", None)
    update_from_sentences(store, None)
    [own, *_] = public(review)
    assert (own.sentence, own.url_id, own.url) == ("赋存于<b>页岩</b> 的天然气。", 0, "")
    assert shown(review)[1:] == [DEFINITION]
    review.write_definition("页岩气", "气" * MAX_DEFINITION_CHARS, "anna", None)
    with pytest.raises(LexiconError, match="at most 2,000 characters, not 2,001"):
        review.write_definition("页岩气", "气" * (MAX_DEFINITION_CHARS + 1), "anna", None)
    with pytest.raises(LexiconError, match="no text"):
        review.write_definition("页岩气", " \n ", "anna", None)
    review.rename("页岩气", "页岩天然气", "anna", None)
    assert public(review, "页岩天然气")[0].sentence == "气" * MAX_DEFINITION_CHARS


def test_a_chosen_definition_follows_its_article(store: Store, review: LexiconReview) -> None:
    review.choose_definition("页岩气", OTHER, "anna", None)
    save_article(store, 1, MENTION)
    assert "1 chosen definition changed in the source" in update_from_sentences(store, None)
    assert update_from_sentences(store, None) == ("Definitions found for 1 term",)  # a change is reported once
    [term] = review.store.review_queue.find_page(TermQuery(None, is_definition_outdated=True))[1]
    assert term.text == "页岩气" and term.definition_source is DefinitionSource.CHANGED
    chosen = public(review)[0]
    assert chosen.sentence == OTHER and chosen.needs_recheck and not chosen.is_source_gone
    save_article(store, 1, f"{MENTION}{OTHER}")
    update_from_sentences(store, None)
    assert review.store.review_queue.find_page(TermQuery(None, is_definition_outdated=True))[0] == 0
    save_article(store, 1, MENTION)
    update_from_sentences(store, None)
    review.choose_definition("页岩气", DEFINITION, "anna", None)
    assert review.store.review_queue.find_page(TermQuery(None, is_definition_outdated=True))[0] == 0


def test_a_chosen_definition_outlives_its_article(store: Store, review: LexiconReview) -> None:
    review.choose_definition("页岩气", OTHER, "anna", None)
    entry = one_entry(store, "http://a.test/1")
    store.frontier.record_visits([Visit(entry, Outcome(Reason.GONE, "404"), 2_000.0, None, 0.0, is_gone=True)])
    update_from_sentences(store, None)
    chosen = public(review)[0]
    assert (chosen.sentence, chosen.url, chosen.is_source_gone) == (OTHER, "http://a.test/1", True)


def test_a_gone_article_keeps_the_saved_copy_of_a_chosen_definition(store: Store, review: LexiconReview) -> None:
    doc_id = document_id("http://a.test/1")
    review.choose_definition("页岩气", OTHER, "anna", None)
    update_from_sentences(store, None)
    saved_page = store.source_pages.find_by_doc_id(doc_id)
    entry = one_entry(store, "http://a.test/1")
    store.frontier.record_visits([Visit(entry, Outcome(Reason.GONE, "404"), 2_000.0, None, 0.0, is_gone=True)])
    update_from_sentences(store, None)
    copy = store.source_pages.find_by_doc_id(doc_id)
    assert copy is not None and copy == saved_page and store.source_pages.read(copy).body.decode() == OTHER
    review.choose_definition("页岩气", DEFINITION, "anna", None)
    update_from_sentences(store, None)
    assert store.source_pages.find_by_doc_id(doc_id) is None


def test_a_page_that_is_taken_down_has_no_saved_copy(store: Store, review: LexiconReview) -> None:
    review.choose_definition("页岩气", OTHER, "anna", None)
    update_from_sentences(store, None)
    operate(store, "page_takedown", url="http://a.test/1", reason="")
    assert store.source_pages.find_by_doc_id(document_id("http://a.test/1")) is None


def test_decisions_from_before_definitions_can_be_undone(store: Store, review: LexiconReview) -> None:
    decision = review.decide(["页岩气"], TermStatus.REJECTED, "anna")
    with store._database.write() as connection:
        for column in ("before", "after"):
            connection.exec_driver_sql(
                f'UPDATE term_changes SET "{column}" = replace("{column}", \'"definition": "", \', \'\')'
            )
    review.store.review_history.undo("anna", decision.act_id)
    assert review.store.review_queue.find_terms(["页岩气"])["页岩气"].status is TermStatus.ACCEPTED
