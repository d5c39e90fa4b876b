"""Invariants of the store, on SQLite and PostgreSQL."""

import errno
import gzip
import hashlib
import json
import os
import random
import signal
import subprocess
import sys
import textwrap
from dataclasses import replace
from itertools import islice
from pathlib import Path

import pytest
from warcio.archiveiterator import ArchiveIterator

from docstore.articles.extraction_writer import PageExtraction
from docstore.reports.runs import stage_run_from_report, stages_from_json
from docstore.store import Store
from docstore.warc_archive import WarcArchive, WarcRecordLostError, gzip_member, response_record
from docstore.warc_reader import read_warc
from domain.article import document_id
from domain.errors import LexiconError, StoreError, StoreFullError
from domain.frontier import StoredRobots, UrlKind, Visit
from domain.index_change import IndexOperation, IndexResult
from domain.outcome import Outcome, Reason, Stage, StageReport
from domain.page import Page
from domain.review import Order, TermQuery
from domain.run import RunState, StageRun
from domain.term import MAX_SYNONYMS, Lexicon, LexiconEntry, Term, TermStatus
from tests.builders import (
    ARTICLE,
    add,
    decide,
    extract_all,
    extract_each,
    fetched,
    keep_page,
    new_url,
    one_entry,
    set_synonyms,
    stored_page,
    urls_with_outcome,
)


class TestFrontier:
    def test_an_address_is_added_once(self, store: Store) -> None:
        assert store.frontier.add_urls([new_url("http://a.test/1"), new_url("http://a.test/2")]) == 2
        assert store.frontier.add_urls([new_url("http://a.test/2"), new_url("http://a.test/3")]) == 1
        assert store.frontier.url_count() == 3
        assert store.frontier.known_urls(["http://a.test/3", "http://a.test/4"]) == {"http://a.test/3"}
        assert sorted(store.frontier.iter_urls()) == [f"http://a.test/{n}" for n in (1, 2, 3)]

    def test_due_is_best_first_and_leaves_out_what_is_in_flight(self, store: Store) -> None:
        store.frontier.add_urls([new_url(f"http://a.test/{n}", priority=float(n)) for n in range(4)])
        due = store.frontier.due_entries(3, due_before=10.0, limit=3)
        assert [entry.url[-1] for entry in due] == ["3", "2", "1"]
        rest = store.frontier.due_entries(3, 10.0, 3, excluded_ids=[entry.url_id for entry in due])
        assert [entry.url[-1] for entry in rest] == ["0"]
        assert store.frontier.due_counts_by_queue(10.0) == {3: 4}
        assert store.frontier.due_entries(4, 10.0, 3) == []

    def test_a_visit_keeps_page_outcome_links_and_next_time(self, store: Store) -> None:
        entry = one_entry(store)
        store.frontier.record_visits([fetched(entry, discovered_urls=(new_url("http://a.test/2", depth=1),))])
        assert store.frontier.due_counts_by_queue(4_999.0) == {3: 1}  # the new link alone
        again = store.frontier.find_entries([entry.url])[entry.url]
        assert (again.etag, again.digest, again.gap) == ('"1"', hashlib.sha256(b"<p>one</p>").hexdigest(), 4_000.0)
        assert store.status.outcome_counts() == {Stage.CRAWL: {Reason.FETCHED: 1}}
        [pending] = store.articles.iter_pending()
        assert store.articles.read_page_body(pending) == b"<p>one</p>"

    def test_unchanged_makes_no_work(self, store: Store) -> None:
        entry = keep_page(store)
        extract_all(store, ARTICLE)
        store.frontier.record_visits([Visit(entry, Outcome(Reason.UNCHANGED), 6_000.0, None, 8_000.0)])
        assert store.articles.pending_count() == 0
        assert store.frontier.due_counts_by_queue(1e12) == {}  # None: never again
        assert store.frontier.find_entries([entry.url])[entry.url].etag == '"1"'

    def test_gone_takes_the_article_out_and_a_return_is_extracted_anew(self, store: Store) -> None:
        entry = keep_page(store)
        extract_all(store, ARTICLE)
        store.frontier.record_visits([Visit(entry, Outcome(Reason.GONE, "404"), 2_000.0, None, 0.0, is_gone=True)])
        assert store.articles.count() == 0
        assert [c.operation for c in store.change_log.pending(9)] == [IndexOperation.DELETE]
        store.frontier.record_visits([fetched(entry)])
        assert extract_all(store, ARTICLE) == [Reason.EXTRACTED]

    def test_new_validators_after_a_304_are_kept(self, store: Store) -> None:
        entry = keep_page(store)
        store.frontier.record_visits([Visit(entry, Outcome(Reason.UNCHANGED), 6_000.0, None, 8_000.0, etag='"2"')])
        again = store.frontier.find_entries([entry.url])[entry.url]
        assert (again.etag, again.digest) == ('"2"', entry.digest)

    def test_a_known_address_can_become_a_seed(self, store: Store) -> None:
        entry = one_entry(store)
        store.frontier.record_visits([fetched(entry, next_visit_at=None)])
        store.frontier.add_urls([new_url("http://a.test/1", kind=UrlKind.SEED)])
        assert store.frontier.find_entries(["http://a.test/1"])["http://a.test/1"].kind is UrlKind.SEED
        assert store.frontier.due_counts_by_queue(1.0) == {3: 1}

    def test_queues_are_computed_again_when_the_policy_changes(self, store: Store) -> None:
        store.frontier.add_urls([new_url(f"http://a.test/{n}") for n in range(5)])
        assert store.frontier.reassign_queues("elf/7", lambda url: 6) == 5
        assert store.frontier.reassign_queues("elf/7", lambda url: 1) == 0
        assert store.frontier.due_counts_by_queue(1.0) == {6: 5}

    def test_what_was_visited_in_the_future_is_due(self, store: Store) -> None:
        """The clock was set back since the visit. URLs that are never due do not change."""
        ahead, never, past = (one_entry(store, f"http://a.test/{n}") for n in (1, 2, 3))
        times = ((ahead, 9e9, 9e9 + 1), (never, 9e9, None), (past, 500.0, 9e9))
        for entry, visited, due in times:
            store.frontier.record_visits([fetched(entry, visited_at=visited, next_visit_at=due)])
        assert store.frontier.clamp_future_visits(1_000.0) == 1
        assert [entry.url for entry in store.frontier.due_entries(3, due_before=1_000.0, limit=5)] == [
            "http://a.test/1"
        ]

    def test_by_promise_a_changed_page_comes_before_new_ones_and_what_was_off_topic_last(self, store: Store) -> None:
        """A focused crawl's next night: a budget that ends before the new URLs do still sees what changed."""
        urls = {name: f"http://a.test/{name}" for name in ("changed", "kept", "off", "promising", "other")}
        store.frontier.add_urls(
            [new_url(urls["promising"], priority=0.9), new_url(urls["kept"], priority=0.8)]
            + [new_url(urls[name], priority=0.5) for name in ("changed", "other")]
            + [new_url(urls["off"], priority=5.0)]
        )
        entries = store.frontier.find_entries(list(urls.values()))
        off = Visit(entries[urls["off"]], Outcome(Reason.OFF_TOPIC, "0.1"), 1_000.0, 1_100.0, 100.0)
        kept = fetched(entries[urls["kept"]], visited_at=1_000.0, next_visit_at=1_100.0, revisit_seconds=100.0)
        changed = fetched(
            entries[urls["changed"]], visited_at=1_000.0, next_visit_at=1_100.0, revisit_seconds=5_000.0
        )  # by a sitemap
        store.frontier.record_visits([off, kept, changed])

        def order(by_promise: bool) -> list[str]:
            due = store.frontier.due_entries(3, 2_000.0, 9, is_focused=by_promise)
            return [entry.url.rpartition("/")[2] for entry in due]

        assert order(by_promise=True) == ["changed", "promising", "kept", "other", "off"]
        assert order(by_promise=False) == ["promising", "other", "changed", "kept", "off"]

    def test_a_url_prefix_matches_with_regard_to_case(self, store: Store) -> None:
        urls = [f"http://a.test/{path}" for path in ("News/1", "news/1", "NEWS/1", "News/2%A", "Newsx")]
        store.frontier.add_urls([new_url(url) for url in urls])
        assert [row.url for row in store.frontier.admin.iter_urls("http://a.test/News/*")] == [urls[0], urls[3]]
        assert store.frontier.admin.block_urls("http://a.test/News/*") == 2

    def test_another_process_starts_new_warc_files_at_the_same_size(self, store_url: str, tmp_path: Path) -> None:
        with Store(store_url, tmp_path / "warc", rotate_bytes=1) as store:
            first, second = one_entry(store, "http://a.test/1"), one_entry(store, "http://a.test/2")
            with store.frontier.reopen() as frontier:
                frontier.record_visits([fetched(first), fetched(second)])
        assert len(list((tmp_path / "warc").iterdir())) == 2

    def test_robots_are_kept_by_origin(self, store: Store) -> None:
        assert store.frontier.find_robots("http://a.test") is None
        store.frontier.save_robots(StoredRobots("http://a.test", 200, b"\x00\xff", 5.0))
        store.frontier.save_robots(StoredRobots("http://a.test", 503, b"", 6.0))
        assert store.frontier.find_robots("http://a.test") == StoredRobots("http://a.test", 503, b"", 6.0)

    def test_text_that_no_database_keeps_is_replaced(self, store: Store) -> None:
        entry = one_entry(store)
        link = new_url("http://a.test/2", anchor="a\x00b\ud800", context="\udfff")
        store.frontier.record_visits(
            [fetched(entry, outcome=Outcome(Reason.FETCHED, "x\x00"), discovered_urls=(link,))]
        )
        told = store.status.url_report("http://a.test/2")
        assert told is not None and told.url_row.anchor == "a\ufffdb\ufffd"


class TestArticles:
    def test_article_outcome_and_change_are_kept_together(self, store: Store) -> None:
        entry = keep_page(store)
        assert extract_all(store, ARTICLE) == [Reason.EXTRACTED]
        stored = store.articles.load_by_url_ids([entry.url_id])[entry.url_id]
        assert stored.article == ARTICLE
        assert stored.doc_id == document_id("http://a.test/1")
        assert [(c.operation, c.url_id) for c in store.change_log.pending(5)] == [(IndexOperation.UPSERT, entry.url_id)]
        assert store.articles.pending_count() == 0

    def test_new_bytes_with_the_same_article_make_no_change(self, store: Store) -> None:
        entry = keep_page(store)
        extract_all(store, ARTICLE)
        store.frontier.record_visits([fetched(entry, b"<p>one</p><!-- 7 visitors -->")])
        assert extract_all(store, ARTICLE) == [Reason.ARTICLE_UNCHANGED]
        assert store.change_log.pending_document_count() == 1

    def test_an_article_that_stopped_being_one_leaves_the_index(self, store: Store) -> None:
        entry = keep_page(store)
        extract_all(store, ARTICLE)
        store.frontier.record_visits([fetched(entry, b"moved")])
        assert extract_all(store, Outcome(Reason.NO_BODY)) == [Reason.NO_BODY]
        assert store.change_log.pending(5)[-1].operation is IndexOperation.DELETE
        assert store.articles.count() == 0

    def test_a_list_page_becomes_a_hub_that_is_due_in_the_next_run(self, store: Store) -> None:
        keep_page(store)
        extract_all(store, Outcome(Reason.LIST_PAGE))
        [entry] = store.frontier.due_entries(3, due_before=1_001.0, limit=5)
        assert entry.kind is UrlKind.HUB

    def test_a_seed_stays_a_seed(self, store: Store) -> None:
        store.frontier.add_urls([new_url("http://a.test/1", kind=UrlKind.SEED)])
        entry = store.frontier.find_entries(["http://a.test/1"])["http://a.test/1"]
        store.frontier.record_visits([fetched(entry)])
        extract_all(store, Outcome(Reason.LIST_PAGE))
        assert store.frontier.find_entries(["http://a.test/1"])["http://a.test/1"].kind is UrlKind.SEED

    def test_a_lost_record_is_said_and_the_old_article_stays(self, store: Store, tmp_path: Path) -> None:
        entry = keep_page(store)
        extract_all(store, ARTICLE)
        store.frontier.record_visits([fetched(entry, b"<p>two</p>")])
        for file in (tmp_path / "warc").iterdir():
            file.write_bytes(b"")
        [pending] = store.articles.iter_pending()
        with pytest.raises(WarcRecordLostError, match=pending.pointer.file_name):
            store.articles.read_page_body(pending)
        store.articles.save([PageExtraction(pending, Outcome(Reason.WARC_RECORD_LOST))])
        assert store.articles.count() == 1
        assert store.articles.pending_count() == 1  # its file may be put back
        again = store.frontier.find_entries([entry.url])[entry.url]
        assert store.frontier.due_entries(3, due_before=1.0, limit=5) == [again]
        assert (again.etag, again.digest) == ("", "")  # asked without a condition
        store.frontier.record_visits([fetched(again, b"<p>two</p>")])
        assert extract_all(store, ARTICLE) == [Reason.ARTICLE_UNCHANGED]
        assert store.articles.pending_count() == 0

    def test_extraction_can_be_asked_again(self, store: Store) -> None:
        keep_page(store)
        extract_all(store, ARTICLE)
        assert store.articles.reextract_all() == 1
        assert store.articles.pending_count() == 1

    def test_more_pages_than_a_batch(self, store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("docstore.articles.article_table.BATCH_SIZE", 2)
        for number in range(5):
            keep_page(store, f"http://a.test/{number}", str(number).encode())
        assert len(list(store.articles.iter_pending())) == 5
        extract_each(store, ARTICLE)
        assert len(list(store.articles.iter_all())) == 5


class TestChanges:
    def test_a_batch_is_struck_only_when_done_and_newer_lines_stay(self, store: Store) -> None:
        entry = keep_page(store)
        extract_all(store, ARTICLE)
        batch = store.change_log.pending(10)
        store.frontier.record_visits([fetched(entry, b"new")])
        extract_all(store, replace(ARTICLE, body="改了。"))
        done = IndexResult(entry.url_id, Outcome(Reason.INDEXED), ARTICLE.digest, 2)
        store.change_log.acknowledge(batch, [done])
        assert [c.operation for c in store.change_log.pending(10)] == [IndexOperation.UPSERT]
        assert store.change_log.indexed_document_count() == 1
        told = store.status.url_report(entry.url)
        assert told is not None and told.indexed is not None and told.indexed.lexicon_version == 2

    def test_a_deletion_is_no_longer_counted(self, store: Store) -> None:
        entry = keep_page(store)
        store.change_log.acknowledge([], [IndexResult(entry.url_id, Outcome(Reason.INDEXED), "d", 0)])
        store.change_log.acknowledge([], [IndexResult(entry.url_id, Outcome(Reason.DELETED))])
        assert store.change_log.indexed_document_count() == 0

    def test_everything_can_be_queued_again(self, store: Store) -> None:
        for number in range(3):
            keep_page(store, f"http://a.test/{number}", str(number).encode())
        extract_each(store, ARTICLE)
        store.change_log.acknowledge(store.change_log.pending(10), [])
        assert store.change_log.enqueue_all() == store.change_log.enqueue_all() == 3
        assert store.change_log.pending_document_count() == store.status.freshness().pending_count == 3


def term(text: str, score: float = 4.0, **changes: object) -> Term:
    return replace(Term(text, score, 3, 2, "n n", ("一句话。",)), **changes)  # type: ignore[arg-type]


class TestLexicon:
    def test_decisions_outlive_new_evidence(self, store: Store) -> None:
        assert store.lexicons.replace_candidates([term("页岩气井"), term("钻井", 9.0)]) == 2
        decide(store, ["页岩气井"], TermStatus.ACCEPTED)
        store.lexicons.replace_candidates([term("页岩气井", 7.5), term("储气库群")])
        assert [t.text for t in store.lexicons.accepted_terms()] == ["页岩气井"]
        assert store.lexicons.accepted_terms()[0].score == 7.5
        total, page_one = store.review_queue.find_page(TermQuery(order=Order.SCORE))
        assert (total, [t.text for t in page_one]) == (1, ["储气库群"])  # 钻井 was not mined again
        assert store.lexicons.status_counts() == {
            TermStatus.CANDIDATE: 1,
            TermStatus.DEFERRED: 0,
            TermStatus.PROVISIONAL: 0,
            TermStatus.ACCEPTED: 1,
            TermStatus.MERGED: 0,
            TermStatus.REJECTED: 0,
        }

    def test_candidates_are_outdated_when_an_article_came_or_changed(self, store: Store) -> None:
        assert not store.lexicons.are_candidates_outdated()
        keep_page(store)
        extract_all(store, ARTICLE)
        assert store.lexicons.are_candidates_outdated()
        version = store.articles.text_version()
        store.articles.reextract_all()
        extract_all(store, replace(ARTICLE, body="另一段正文。"))
        store.lexicons.replace_candidates([], version)
        assert store.lexicons.are_candidates_outdated()  # the change came after the articles were read
        store.lexicons.replace_candidates([], store.articles.text_version())
        store.articles.reextract_all()
        assert extract_all(store, replace(ARTICLE, body="另一段正文。")) == [Reason.ARTICLE_UNCHANGED]
        assert not store.lexicons.are_candidates_outdated()

    def test_each_step_is_pending_until_it_is_finished_after_a_mining(self, store: Store) -> None:
        lexicons = store.lexicons
        assert not lexicons.has_pending_step("publish", "relations")
        lexicons.replace_candidates([], 3)
        lexicons.finish_step("publish")
        assert [
            lexicons.has_pending_step(*steps) for steps in (["publish"], ["relations"], ["publish", "relations"])
        ] == [
            False,
            True,
            True,
        ]
        lexicons.replace_candidates([], 4)
        assert lexicons.has_pending_step("publish")

    def test_terms_are_paged_best_first_and_searched_literally(self, store: Store) -> None:
        store.lexicons.replace_candidates([term("a%b", 1.0), term("ab", 2.0), term("b", 3.0)])
        best = TermQuery(None, order=Order.SCORE, limit=2)
        assert [t.text for t in store.review_queue.find_page(best)[1]] == ["b", "ab"]
        assert [t.text for t in store.review_queue.find_page(TermQuery(None, "%"))[1]] == ["a%b"]

    def test_a_decision_on_an_unknown_term_keeps_nothing(self, store: Store) -> None:
        store.lexicons.replace_candidates([term("钻井")])
        with pytest.raises(LexiconError, match="没有的词"):
            decide(store, ["钻井", "没有的词"], TermStatus.ACCEPTED)
        assert store.lexicons.accepted_terms() == []

    def test_versions_are_published_in_order_and_applied_with_their_work(self, store: Store) -> None:
        entry = keep_page(store)
        assert store.lexicons.load_latest() == Lexicon()
        first = store.lexicons.publish(Lexicon(1, (LexiconEntry("页岩气井", 0, "n"),), note="first"))
        assert store.lexicons.load_latest() == first
        assert store.lexicons.load_applied() == Lexicon()
        store.lexicons.mark_applied(1, [entry.url_id])
        assert store.lexicons.load_applied().entries == first.entries
        assert store.lexicons.applied_version() == 1
        assert [c.operation for c in store.change_log.pending(5)] == [IndexOperation.RESEGMENT]
        with pytest.raises(LexiconError, match="published in the meantime"):
            store.lexicons.publish(Lexicon(1))
        store.lexicons.publish(Lexicon(2))
        assert [(lex.version, size) for lex, size in store.lexicons.list_versions()] == [(2, 0), (1, 1)]
        assert store.lexicons.load_version(1).entries == first.entries and store.lexicons.load_version(7) == Lexicon()

    def test_synonyms_are_kept_with_the_term_and_published_with_its_entry(self, store: Store) -> None:
        add(store, ["页岩气"])
        set_synonyms(store, "页岩气", [" shale gas", "", "页岩气", "shale gas", "页岩\0瓦斯"])
        chosen = ("shale gas", "页岩\ufffd瓦斯")
        assert [t.synonyms for t in store.lexicons.accepted_terms()] == [chosen]
        store.lexicons.replace_candidates([term("页岩气", 7.5)])
        assert [(t.score, t.synonyms) for t in store.lexicons.accepted_terms()] == [(7.5, chosen)]
        store.lexicons.publish(Lexicon(1, (LexiconEntry("页岩气", 0, "n", chosen),)))
        assert store.lexicons.load_latest().entries[0].synonyms == chosen
        set_synonyms(store, "页岩气", [])
        assert store.lexicons.accepted_terms()[0].synonyms == ()

    @pytest.mark.parametrize(
        ("text", "synonyms", "message"),
        [
            ("没有的词", ["a"], "No such term"),
            (
                "页岩气",
                [f"w{n}" for n in range(MAX_SYNONYMS + 1)],
                f"has too many synonyms or broader terms. Maximum: {MAX_SYNONYMS}",
            ),
            ("页岩气", ["长" * 101], "Maximum: 100 characters"),
        ],
    )
    def test_synonyms_that_cannot_be_kept(self, store: Store, text: str, synonyms: list[str], message: str) -> None:
        add(store, ["页岩气"])
        set_synonyms(store, "页岩气", ["shale gas"])
        with pytest.raises(LexiconError, match=message):
            set_synonyms(store, text, synonyms)
        assert store.lexicons.accepted_terms()[0].synonyms == ("shale gas",)


def test_runs_and_their_reports(store: Store) -> None:
    run_id = store.runs.start("run")
    crawling = StageRun("crawl", state=RunState.RUNNING)
    store.runs.save_progress(run_id, [crawling])
    [going] = store.runs.list_newest()
    assert (going.finished_at, going.last_stage) == (None, crawling)
    assert (going.current_state(is_lock_held=True), going.current_state(is_lock_held=False)) == (
        RunState.RUNNING,
        RunState.KILLED,
    )
    crawled = stage_run_from_report(StageReport(Stage.CRAWL, {Reason.FETCHED: 2}, 1.5, ("a note",)))
    store.runs.finish(run_id, [crawled])
    [done] = store.runs.list_newest()
    assert done.stages == (StageRun("crawl", {"fetched": 2}, 1.5, ("a note",)),)
    assert (done.current_state(is_lock_held=False), store.runs.since_last_success()) == (RunState.DONE, (done, []))

    failed_id = store.runs.start("schedule")
    store.runs.finish(failed_id, [crawled, StageRun("extract", seconds=2.0, state=RunState.FAILED, error="no disk")])
    [failed, _] = store.runs.list_newest()
    assert (failed.command, failed.current_state(is_lock_held=False)) == ("schedule", RunState.FAILED)
    assert failed.last_stage is not None and failed.last_stage.error == "no disk"
    assert store.runs.since_last_success() == (done, [failed])

    for command, is_killed in (("run --until crawl", True), ("run --until crawl", False)):
        partial_id = store.runs.start(command)
        if not is_killed:
            store.runs.finish(partial_id, [crawled])
    assert store.runs.since_last_success() == (done, [failed])  # only the repeated one has succeeded


def test_a_run_that_an_older_program_noted_is_done(store: Store) -> None:
    row = {"stage": "crawl", "counts": {"fetched": 1}, "seconds": 0.5, "notes": []}
    assert list(stages_from_json(json.dumps([row]))) == [StageRun("crawl", {"fetched": 1}, 0.5)]
    assert list(stages_from_json("")) == []


def test_a_store_keeps_its_id_and_no_other_has_it(store_url: str, tmp_path: Path) -> None:
    with Store(store_url, tmp_path / "warc") as first, Store(store_url, tmp_path / "warc") as again:
        assert first.store_id == again.store_id
        assert len(first.store_id) == 32
        with Store(f"sqlite:///{tmp_path / 'other.db'}", tmp_path / "other") as other:
            assert other.store_id != first.store_id


def test_urls_with_a_reason(store: Store) -> None:
    keep_page(store)
    assert urls_with_outcome(store, Stage.CRAWL, Reason.FETCHED) == [("http://a.test/1", "")]


class TestArchive:
    def test_files_are_whole_warc_1_1_and_rotate(self, tmp_path: Path) -> None:
        with WarcArchive(tmp_path, rotate_bytes=10) as archive:
            headers = (("Content-Type", "text/html"), ("Content-Encoding", "gzip"), ("X-Odd", "a\r\nb é 中"))
            pointers = [archive.append_page(stored_page(f"http://a.test/{n}", headers=headers)) for n in range(3)]
        assert len({pointer.file_name for pointer in pointers}) == 3
        with (tmp_path / pointers[0].file_name).open("rb") as file:
            records = [(r.rec_type, r.rec_headers.protocol) for r in ArchiveIterator(file)]
        assert records == [("warcinfo", "WARC/1.1"), ("response", "WARC/1.1")]
        [read] = read_warc(tmp_path / pointers[1].file_name)
        assert isinstance(read, Page)
        assert (read.url, read.body, read.status) == ("http://a.test/1", b"<p>one</p>", 200)
        assert ("X-Archive-Orig-Content-Encoding", "gzip") in read.headers

    def test_a_record_that_is_not_the_kept_one_is_lost(self, tmp_path: Path) -> None:
        with WarcArchive(tmp_path) as archive:
            pointer = archive.append_page(stored_page("http://a.test/"))
            with pytest.raises(WarcRecordLostError, match="does not match its digest"):
                archive.read_body(pointer, "0" * 64)

    def test_a_full_disk_leaves_no_half_record(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        with WarcArchive(tmp_path) as archive:
            first = archive.append_page(stored_page("http://a.test/1"))

            def full(*_: object) -> None:
                archive._current_file.write(b"half a rec")  # type: ignore[union-attr]
                raise OSError(errno.ENOSPC, "No space left on device")

            with monkeypatch.context() as patch, pytest.raises(OSError, match="No space"):
                patch.setattr("docstore.warc_archive.response_record", full)
                archive.append_page(stored_page("http://a.test/2"))
            archive.append_page(stored_page("http://a.test/3"))
        found = [p.url for p in read_warc(tmp_path / first.file_name) if isinstance(p, Page)]
        assert found == [
            "http://a.test/1",
            "http://a.test/3",
        ]

    def test_a_file_that_is_no_warc(self, tmp_path: Path) -> None:
        (tmp_path / "x.warc.gz").write_bytes(gzip.compress(b"hello"))
        with pytest.raises(StoreError, match="not a complete WARC"):
            list(read_warc(tmp_path / "x.warc.gz"))
        with pytest.raises(StoreError, match="cannot read"):
            list(read_warc(tmp_path / "absent.warc"))

    def test_a_warc_file_that_is_cut_anywhere_in_its_last_record_is_not_whole(self, tmp_path: Path) -> None:
        with WarcArchive(tmp_path) as archive:
            archive.append_page(stored_page("http://a.test/1"))
            pointer = archive.append_page(
                stored_page("http://a.test/2", random.Random(5).randbytes(300).hex().encode())
            )
        whole = (tmp_path / pointer.file_name).read_bytes()
        cut = tmp_path / "cut.warc.gz"
        cut.write_bytes(whole[: pointer.offset])
        assert len(list(read_warc(cut))) == 1
        for length in range(1, pointer.length):
            cut.write_bytes(whole[: pointer.offset + length])
            with pytest.raises(StoreError, match="not a complete WARC"):
                list(read_warc(cut))

    def test_a_record_in_the_body_of_a_damaged_record_is_not_read(self, tmp_path: Path) -> None:
        forged = gzip_member(response_record(stored_page("http://victim.test/", b"forged")))
        noise = random.Random(5).randbytes(40_000)  # not compressible, so it is stored as it is
        with WarcArchive(tmp_path) as archive:
            pointers = [archive.append_page(stored_page("http://a.test/1", noise + forged + noise))]
            pointers.append(archive.append_page(stored_page("http://a.test/2")))
        data = bytearray((tmp_path / pointers[0].file_name).read_bytes())
        assert forged in data
        data[data.index(noise[:100]) + 50] ^= 1
        damaged = tmp_path / "damaged.warc.gz"
        damaged.write_bytes(data)
        pages = read_warc(damaged)
        assert [read.url for read in islice(pages, 1) if isinstance(read, Page)] == ["http://a.test/2"]
        with pytest.raises(StoreError, match="is not a complete WARC file"):
            next(pages)

    def test_a_damaged_warc_file_brings_pages_or_the_one_error(self, tmp_path: Path) -> None:
        chance = random.Random(5)
        with WarcArchive(tmp_path) as archive:
            pointer = [archive.append_page(stored_page(f"http://a.test/{n}", chance.randbytes(900))) for n in range(5)][
                -1
            ]
        packed = (tmp_path / pointer.file_name).read_bytes()
        damaged = tmp_path / "damaged.warc"
        for whole in (packed, gzip.decompress(packed)):
            for _ in range(200):
                at = chance.randrange(len(whole))
                damaged.write_bytes(whole[:at] + chance.randbytes(1) + whole[at + chance.randrange(1, 30) :])
                try:
                    assert len(list(read_warc(damaged))) <= 5
                except StoreError as error:
                    assert "is not a complete WARC file" in str(error)


class TestErrors:
    @pytest.mark.parametrize("url", ["nonsense", "sqlite:////no/such/folder/x.db", "oracle9://x"])
    def test_a_store_that_cannot_be_opened(self, url: str, tmp_path: Path) -> None:
        with pytest.raises(StoreError):
            Store(url, tmp_path)

    def test_a_full_database_loses_nothing(self, tmp_path: Path) -> None:
        with Store(f"sqlite:///{tmp_path / 'x.db'}", tmp_path / "warc") as store:
            store.frontier.add_urls([new_url("http://a.test/1")])
            with store._database.write() as connection:
                pages_now = connection.exec_driver_sql("PRAGMA page_count").scalar()
            with store._database._engine.connect() as held:
                held.exec_driver_sql(f"PRAGMA max_page_count={pages_now}")
                held.rollback()
            with pytest.raises(StoreFullError, match="free some space"):
                for n in range(20_000):
                    store.frontier.add_urls([new_url(f"http://a.test/long{n}" + "x" * 1500)])
            assert store.frontier.known_urls(["http://a.test/1"])


WRITER = """
    import sys
    from pathlib import Path
    from tests.builders import keep_page, extract_each, ARTICLE
    from docstore.store import Store
    url, warc = sys.argv[1], Path(sys.argv[2])
    with Store(url, warc) as store:
        for number in range(100000):
            keep_page(store, f"http://a.test/{number}", str(number).encode() * 50)
            extract_each(store, ARTICLE)
            print(number, flush=True)
"""


@pytest.mark.always
def test_what_was_acknowledged_survives_kill_9(store_url: str, tmp_path: Path) -> None:
    command = [sys.executable, "-c", textwrap.dedent(WRITER), store_url, str(tmp_path / "warc")]
    root = Path(__file__).resolve().parents[2]
    child = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=root, env={**os.environ})
    assert child.stdout is not None
    for line in child.stdout:
        if int(line) >= 40:
            break
    child.send_signal(signal.SIGKILL)
    acknowledged = 40 + len(child.stdout.read().splitlines())
    child.wait()
    with Store(store_url, tmp_path / "warc") as store:
        articles = list(store.articles.iter_all())
        assert len(articles) >= acknowledged + 1
        assert len({a.doc_id for a in articles}) == len(articles)
        assert store.change_log.pending_document_count() == len(articles)
        store.articles.reextract_all()
        for pending in store.articles.iter_pending():
            assert store.articles.read_page_body(pending)
