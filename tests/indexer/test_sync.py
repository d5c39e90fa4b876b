"""Synchronization of the store with a real Solr: at least once, no duplicates, only changes."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from docstore.store import Store, open_sqlite_store
from domain.article import Article, document_id
from domain.errors import SolrUnavailableError
from domain.outcome import Outcome, Reason, Stage
from domain.term import Lexicon, LexiconEntry
from indexer.document_mapping import TextAnalysis
from indexer.solr_index import CommitWithin, SolrIndex
from indexer.sync import apply_lexicon, flush_changes, remove_orphans
from solr_client import solr_fields
from tests.builders import extract_all, keep_page, urls_with_outcome
from tests.solr_fixture import SHARDS
from text.segment import RjiebaSegmenter, base_segmenter

pytestmark = pytest.mark.solr

TEXTS = {
    1: ("世界石油大会开幕", "各国代表出席。"),
    2: ("世界各地的大会", "石油与天然气分开说。"),
    3: ("钻头", "一种PDC 钻头在页岩气井里用了很久。"),
    4: ("English", "The shale gas well was drilled in May."),
}


def analysis(lexicon: Lexicon) -> TextAnalysis:
    words = ((e.text, e.frequency, e.pos_tag) for e in lexicon.entries)
    return TextAnalysis(lexicon, RjiebaSegmenter(words), base_segmenter())


def url(number: int) -> str:
    return f"http://a.test/{number}"


def write(store: Store, number: int, title: str, body: str) -> None:
    keep_page(store, url(number), (title + body).encode())
    extract_all(store, Article(url(number), title, body, "2024-05-06", "url", "zh", "blocks"))


@pytest.fixture
def filled(tmp_path: Path, solr_index: SolrIndex) -> Store:
    """Yield a store with four articles that are in Solr."""
    store = open_sqlite_store(tmp_path)
    for number, (title, body) in TEXTS.items():
        write(store, number, title, body)
    assert flush_changes(store, solr_index, analysis(Lexicon()), 3) == {Reason.INDEXED: 4}
    return store


def versions(index: SolrIndex) -> dict[int, int]:
    """Return the lexicon version of each article number."""
    index.commit()
    found = {n: index.get(document_id(url(n))) for n in TEXTS}
    return {n: doc[solr_fields.LEXICON_VERSION] for n, doc in found.items() if doc}


def test_all_changes_are_written_and_struck(filled: Store, solr_index: SolrIndex) -> None:
    assert solr_index.count() == 4
    assert filled.change_log.pending_document_count() == 0
    assert filled.status.outcome_counts()[Stage.INDEX] == {Reason.INDEXED: 4}
    assert flush_changes(filled, solr_index, analysis(Lexicon()), 3) == {}


def test_a_change_is_written_once_and_a_page_that_is_gone_is_deleted(filled: Store, solr_index: SolrIndex) -> None:
    write(filled, 1, "新的题目", "新的正文。")
    keep_page(filled, url(2), b"x")
    extract_all(filled, Outcome(Reason.NO_BODY))
    assert flush_changes(filled, solr_index, analysis(Lexicon()), 3) == {Reason.INDEXED: 1, Reason.DELETED: 1}
    assert solr_index.count() == 3
    document = solr_index.get(document_id(url(1)))
    assert document is not None
    assert document[solr_fields.TITLE] == "新的题目"


def test_a_batch_that_was_written_but_not_struck_is_written_again(filled: Store, solr_index: SolrIndex) -> None:
    """The state after a kill between the response of Solr and our transaction."""
    write(filled, 1, "新的题目", "新的正文。")

    class Killed(Exception):
        pass

    def die(*_: object) -> None:
        raise Killed

    strike, filled.change_log.acknowledge = filled.change_log.acknowledge, die  # type: ignore[method-assign, assignment]
    with pytest.raises(Killed):
        flush_changes(filled, solr_index, analysis(Lexicon()), 3)
    filled.change_log.acknowledge = strike  # type: ignore[method-assign]
    assert flush_changes(filled, solr_index, analysis(Lexicon()), 3) == {Reason.INDEXED: 1}
    assert solr_index.count() == 4


def test_publishing_touches_only_documents_that_hold_a_changed_term(filled: Store, solr_index: SolrIndex) -> None:
    first = Lexicon(1, (LexiconEntry("世界石油大会"), LexiconEntry("PDC钻头")))
    filled.lexicons.publish(first)
    assert apply_lexicon(filled, solr_index) == 2
    assert flush_changes(filled, solr_index, analysis(filled.lexicons.load_applied()), 3) == {Reason.INDEXED: 2}
    assert versions(solr_index) == {1: 1, 2: 0, 3: 1, 4: 0}
    assert solr_index.count() == 4

    second = Lexicon(2, (LexiconEntry("世界石油大会"), LexiconEntry("shale gas", 0, "eng")))
    filled.lexicons.publish(second)
    assert apply_lexicon(filled, solr_index) == 2  # one term came, one went
    flush_changes(filled, solr_index, analysis(filled.lexicons.load_applied()), 3)
    assert versions(solr_index) == {1: 1, 2: 0, 3: 2, 4: 2}
    assert apply_lexicon(filled, solr_index) == 0


def test_documents_that_are_pending_are_not_segmented_again(filled: Store, solr_index: SolrIndex) -> None:
    write(filled, 1, "世界石油大会闭幕", "各国代表离开。")
    filled.lexicons.publish(Lexicon(1, (LexiconEntry("世界石油大会"), LexiconEntry("PDC钻头"))))
    assert apply_lexicon(filled, solr_index) == 1
    assert flush_changes(filled, solr_index, analysis(filled.lexicons.load_applied()), 3) == {Reason.INDEXED: 2}
    assert versions(solr_index) == {1: 1, 2: 0, 3: 1, 4: 0}


def test_the_first_document_does_not_wait_for_the_relations_of_the_last(tmp_path: Path, solr_index: SolrIndex) -> None:
    store, unrelated_counts, add = open_sqlite_store(tmp_path), list[int](), solr_index.add
    for number in range(9):
        write(store, number, f"第{number}条", f"依照《第{(number + 1) % 9}条》办理。")
    url_ids = [change.url_id for change in store.change_log.pending(9)]

    def count_and_add(*arguments: Any) -> dict[str, str]:
        unrelated_counts.append(len(store.citations.find_stale(url_ids)))
        return add(*arguments)

    solr_index.add = count_and_add  # type: ignore[method-assign]
    flush_changes(store, solr_index, analysis(Lexicon()), 1)
    assert unrelated_counts[0] and not unrelated_counts[-1]
    assert all(one.citation_count for one in store.articles.load_by_url_ids(url_ids).values())
    assert solr_index.search({"q": f"{{!frange l=0.1}}{solr_fields.AUTHORITY}", "rows": 0})["response"]["numFound"] == 9


def test_a_new_term_is_one_word_in_its_documents(filled: Store, solr_index: SolrIndex) -> None:
    query = {"q": "{!term f=title_domain v=$word}", "word": "世界石油大会", "fl": "url"}
    assert solr_index.search(query)["response"]["numFound"] == 0
    filled.lexicons.publish(Lexicon(1, (LexiconEntry("世界石油大会"),)))
    apply_lexicon(filled, solr_index)
    flush_changes(filled, solr_index, analysis(filled.lexicons.load_applied()), 3)
    assert [doc["url"] for doc in solr_index.search(query)["response"]["docs"]] == [url(1)]


def test_articles_that_come_after_a_publication_are_cut_by_it(filled: Store, solr_index: SolrIndex) -> None:
    filled.lexicons.publish(Lexicon(1, (LexiconEntry("页岩气井"),)))
    apply_lexicon(filled, solr_index)
    write(filled, 5, "页岩气井", "又一口页岩气井。")
    flush_changes(filled, solr_index, analysis(filled.lexicons.load_applied()), 3)
    document = solr_index.get(document_id(url(5)))
    assert document is not None
    assert document[solr_fields.DOMAIN_TERMS] == ["页岩气井"]


def test_documents_that_the_store_does_not_know_are_deleted(filled: Store, solr_index: SolrIndex) -> None:
    """A store restored from a backup is older than its Solr."""
    assert remove_orphans(filled, solr_index) == 0
    ids = [f"{n:032x}" for n in range(3)]
    solr_index.add(
        [{solr_fields.ID: one, solr_fields.CLUSTER_ID: one, solr_fields.URL: "http://later.test/"} for one in ids]
    )
    solr_index.commit()
    assert remove_orphans(filled, solr_index) == 3
    assert solr_index.count() == 4
    assert sorted(solr_index.iter_ids()) == sorted(document_id(url(n)) for n in TEXTS)


class Refusing(SolrIndex):
    """A Solr that rejects one document, as for a field that is too large."""

    def add(
        self, docs: Sequence[Mapping[str, object]], commit_within: CommitWithin = CommitWithin.SOON
    ) -> dict[str, str]:
        bad = document_id(url(1))
        super().add([doc for doc in docs if doc[solr_fields.ID] != bad], commit_within)
        return {bad: "too large"} if any(doc[solr_fields.ID] == bad for doc in docs) else {}


@pytest.mark.parametrize(("many", "seen"), [(3, CommitWithin.LATER), (4, CommitWithin.SOON)])
def test_of_many_documents_none_is_shown_at_once(
    filled: Store, solr_index: SolrIndex, monkeypatch: pytest.MonkeyPatch, many: int, seen: CommitWithin
) -> None:
    told = []

    class Watched(SolrIndex):
        def add(
            self, docs: Sequence[Mapping[str, object]], commit_within: CommitWithin = CommitWithin.SOON
        ) -> dict[str, str]:
            told.append(commit_within)
            return super().add(docs, commit_within)

    filled.change_log.enqueue_all()
    monkeypatch.setattr("indexer.sync.BACKLOG_THRESHOLD", many)
    watched = Watched(solr_index.base_url, solr_index.collection, 30.0, shards=SHARDS)
    assert flush_changes(filled, watched, analysis(Lexicon()), 2) == {Reason.INDEXED: 4}
    assert told == [seen, seen]
    assert solr_index.count() == 4


def test_a_refused_document_is_an_outcome_and_the_old_version_goes(filled: Store, solr_index: SolrIndex) -> None:
    write(filled, 1, "新的题目", "新的正文。")
    refusing = Refusing(solr_index.base_url, solr_index.collection, 30.0, shards=SHARDS)
    assert flush_changes(filled, refusing, analysis(Lexicon()), 3) == {Reason.REJECTED_BY_SOLR: 1}
    assert filled.change_log.pending_document_count() == 0
    assert urls_with_outcome(filled, Stage.INDEX, Reason.REJECTED_BY_SOLR) == [(url(1), "too large")]
    solr_index.commit()
    assert solr_index.count() == 3


def test_a_solr_that_does_not_answer_loses_no_change(filled: Store) -> None:
    write(filled, 1, "新的题目", "新的正文。")
    nowhere = SolrIndex("http://127.0.0.1:9/solr", "none", 0.5, sleep=lambda seconds: None)
    with pytest.raises(SolrUnavailableError):
        flush_changes(filled, nowhere, analysis(Lexicon()), 3)
    assert filled.change_log.pending_document_count() == 1
