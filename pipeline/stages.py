"""All stages and their order.

    seeds | crawl   -> Page     pages, most promising links first                 crawler/crawl.py
          | extract -> Article  title, date, body; or the reason for a failure    extractor/article_extractor.py
          |                     the same for PDF, Word and other files            extractor/documents/reader.py
          | ocr     -> Article  text of scanned and garbled pages                 pipeline/ocr/stage.py
          | embed   -> Vector   embeddings of title and text                      pipeline/embedding/stage.py
          | mine    -> Term     candidate terms of the domain                     lexicon/mining.py
          | publish -> Lexicon  accepted terms, versioned                         lexicon/publishing.py
          | index   -> Solr     all changes since the last run                    pipeline/index_stage.py
          | serve   -> Hit      the results of a search                           search_ui/app.py

Each arrow is a table in the store (docstore/store.py). A stage reads its pending items from the store and commits
results, outcomes and change-log entries in one transaction. Any stage can therefore be stopped, killed, run separately
or run twice. A stage imports its packages when it starts, so no command loads the packages of other stages.
A published lexicon segments the documents that contain its new terms again.
"""

import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import replace
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING

from crawler.settings import FOCUSED_STRATEGIES, NEW_ONLY, CrawlSettings, resolve_strategy
from domain.errors import BusyError, EmbeddingError, LexiconError, PlumblineError, SolrError
from domain.message import Message, error_message
from domain.outcome import Reason, Stage, StageReport, count_failures, has_common_cause
from domain.term import LEXICON_STEPS, RELATED_TERMS_STEP, SENTENCES_STEP, TermStatus
from extractor.settings import EXTRACTOR_VERSION
from maven_jars.jar_cache import JarError
from pipeline.index_stage import force_merge_index, run_index_stage, wait_for_solr

if TYPE_CHECKING:
    from crawler.focused_policy import FocusedPolicy
    from docstore.articles.article_table import ArticleTable
    from docstore.near_duplicates.clusters import CopyDetection
    from docstore.store import Store
    from lexicon.counting.corpus import CorpusDocument
    from lexicon.review_selection import ReviewState
    from pipeline.engine import Engine
    from pipeline.runs.run_record import RunRecord

EMBED_BEFORE_INDEX_SECONDS = 300.0  # of embedding before the new articles are indexed; the rest follows afterwards
MAX_FAILURES = 50  # a stage stops if more pages fail unexpectedly, and they are more than a fifth of all


def crawl(engine: "Engine", max_pages: int = 0) -> StageReport:
    """Fetch every URL that is due and follow links by the crawl strategy.

    Args:
        engine: The open vertical.
        max_pages: Maximum number of pages, in addition to the setting; 0: only the setting.

    Raises BusyError if another process crawls.
    """
    from crawler.crawl import crawl as run_crawl
    from crawler.http.fetch import Fetcher
    from pipeline.compute.distributed_crawl import crawl_on_cluster, is_distributed_crawl
    from pipeline.crawl_stage.document_backfill import backfill_documents
    from pipeline.crawl_stage.rendered_sites import render_sites_automatically

    with engine.lock("crawl"):
        render_sites_automatically(engine)
    with (
        engine.lock("crawl"),
        closing(Fetcher(engine.settings.crawl, engine.ip_policy)) as fetcher,
        focused_crawl(engine) as (settings, policy),
    ):
        if max_pages:
            settings = replace(settings, max_pages=min(max_pages, settings.max_pages or max_pages))
        seen_filter_path = engine.settings.data_dir / "seen.bloom"
        engine.store.frontier.clamp_future_visits(time.time())
        engine.store.frontier.admin.requeue_deepest_pages(settings.depth)
        engine.store.frontier.admin.set_new_only(settings.incremental == NEW_ONLY)
        engine.store.frontier.exclude_hosts(fetcher.logins.paused_hosts())
        backfill_documents(engine, settings)
        with engine.progress.crawl_task() as report_progress:
            if is_distributed_crawl(engine.settings):
                report = crawl_on_cluster(engine, report_progress)
            else:
                report = run_crawl(
                    engine.store.frontier,
                    fetcher,
                    settings,
                    seen_filter_path,
                    progress=report_progress,
                    focused_policy=policy,
                )
        if unuploaded_count := engine.store.upload_warc_files():
            note = Message(
                "1 WARC file could not be uploaded: see the log",
                "{n} WARC files could not be uploaded: see the log",
                n=unuploaded_count,
            )
            report = replace(report, notes=(*report.notes, note))
        return report


@contextmanager
def focused_crawl(engine: "Engine") -> "Iterator[tuple[CrawlSettings, FocusedPolicy | None]]":
    """Context of one crawl: yields its settings and, for a focused crawl, its policy (otherwise None).

    On exit without an error, applies the policy's final decisions on which pages are saved. The state of the policy is
    always saved.
    """
    if resolve_strategy(engine.settings.crawl) not in FOCUSED_STRATEGIES:
        yield engine.settings.crawl, None
        return
    # Imported late because it loads scikit-learn, which other crawls do not need.
    from pipeline.topic.policy_factory import create_policy, focused_crawl_settings
    from pipeline.topic.retention import apply_retention

    settings = focused_crawl_settings(engine)
    policy = create_policy(engine, settings)
    try:
        yield settings, policy
        apply_retention(engine, policy)
    finally:
        policy.save_snapshot()
        policy.config.close()


def extract(engine: "Engine") -> StageReport:
    """Extract an article, or record an outcome, for each new or changed page. Then remove expired articles.

    Raises BusyError if another process extracts.
    """
    from pipeline.compute.extraction_jobs import create_copy_detection, extract_pending

    started, counts = time.monotonic(), Counter[Reason]()
    articles = engine.store.articles
    with engine.lock("extract"):
        articles.require_extractor_version(EXTRACTOR_VERSION)
        grouping = create_copy_detection(engine.settings.extract)
        regroup_duplicates(engine, grouping)
        counts.update(articles.resolve_removed_pages(grouping))
        learn_site_templates(engine)
        pending_count = articles.pending_count()
        with engine.progress.task("extract", pending_count) as advance:
            for outcomes, pages in extract_pending(engine.compute_backend, articles, engine.settings):
                counts.update(outcomes)
                abort_on_many_failures(Stage.EXTRACT, counts)
                advance(pages)
        sites = engine.settings.crawl.sites.records
        days_by_host = {site.host: site.keep_days for site in sites if site.keep_days is not None}
        expired_count = engine.store.retention.remove_expired(engine.settings.store.keep_days, days_by_host)
    notes = (
        (
            Message(
                "1 article is older than store.keep_days and was removed",
                "{n} articles are older than store.keep_days and were removed",
                n=expired_count,
            ),
        )
        if expired_count
        else ()
    )
    return StageReport(Stage.EXTRACT, counts, time.monotonic() - started, notes)


def ocr(engine: "Engine", seconds: float | None = None) -> StageReport:
    """Read the text of scanned and garbled pages from their pictures, for at most `seconds` (None: no limit).

    Complete documents are pending extraction afterwards. Raises PlumblineError if OCR fails or is missing.
    """
    from pipeline.ocr.stage import run_ocr_stage

    return run_ocr_stage(engine, seconds)


def ocr_if_possible(engine: "Engine") -> StageReport:
    """Read pages as `ocr` does, for at most `ocr.minutes`; on failure, return a report with a note."""
    try:
        return ocr(engine, 60 * engine.settings.ocr.minutes)
    except PlumblineError as error:
        return StageReport(
            Stage.OCR,
            {},
            0.0,
            (Message("Scanned and garbled pages are not read: {reason}", reason=error_message(error)),),
        )


def regroup_duplicates(engine: "Engine", grouping: "CopyDetection") -> None:
    """Group all articles into near-duplicate clusters again if an older algorithm version grouped them."""
    from text.similarity.duplicates import ALGORITHM_VERSION

    articles = engine.store.articles
    if articles.is_grouping_current(ALGORITHM_VERSION):
        return
    with engine.progress.task("copies", articles.count()) as advance:
        for step in articles.regroup_all(ALGORITHM_VERSION, grouping):
            advance(step)


def learn_site_templates(engine: "Engine") -> None:
    """Learn the repeated text blocks of each new site from a sample of its pages, before its pages are extracted."""
    from pipeline.compute.extraction_jobs import learn_site_statistics

    articles = engine.store.articles
    sample = [page for page in articles.template_sample_pages() if not page.is_document]
    if not sample:
        return
    with engine.progress.task("sites", len(sample)) as advance:
        for pages in learn_site_statistics(engine.compute_backend, articles, sample, engine.settings):
            advance(pages)


def mine_candidates(engine: "Engine") -> StageReport:
    """Mine candidate terms from all articles; existing review decisions stay. Raises BusyError."""
    from lexicon.mining import mine_terms
    from pipeline.maintenance.file_checksums import delete_if_damaged, write_digests

    started = time.monotonic()
    with engine.lock("lexicon"):
        version = engine.store.articles.text_version()
        cache_dir, corpus = engine.settings.data_dir / "lexicon", StoredCorpus(engine.store.articles)
        delete_if_damaged(cache_dir)
        # Automatic decisions of the same model must not raise its scores.
        accepted_terms = [term.text for term in engine.store.lexicons.accepted_terms() if not term.is_automatic]
        task, review_state = engine.progress.task, load_review_state(engine.store)
        map_ordered = engine.compute_backend.map_ordered if engine.compute_backend.is_distributed else None
        terms = mine_terms(
            corpus,
            engine.settings.lexicon,
            task,
            counts_dir=cache_dir,
            known_terms=accepted_terms,
            review_state=review_state,
            map_ordered=map_ordered,
        )
        new_count = engine.store.lexicons.replace_candidates(terms, version)
        write_digests(cache_dir)
    notes = (
        Message(
            "1 candidate term, {new} of them new", "{n} candidate terms, {new} of them new", n=len(terms), new=new_count
        ),
    )
    return StageReport(Stage.LEXICON, {}, time.monotonic() - started, notes)


def update_lexicon(engine: "Engine") -> StageReport:
    """Mine terms, publish those that need no reviewer (`lexicon.auto_publish`), and find rising terms.

    After a kill, the next run continues with the first step that was not finished. Raises BusyError.
    """
    from pipeline.lexicon_stage.lexicon_update import publish_confident_terms
    from pipeline.lexicon_stage.review_order import update_review_order
    from pipeline.lexicon_stage.rising_terms import update_rising_terms

    started, lexicons = time.monotonic(), engine.store.lexicons
    notes = [*mine_candidates(engine).notes] if lexicons.are_candidates_outdated() else []
    with engine.lock("lexicon"):
        for step, function in zip(LEXICON_STEPS, (publish_confident_terms, update_rising_terms), strict=True):
            if lexicons.has_pending_step(step):
                try:
                    notes += function(engine)
                    update_review_order(engine.store, engine.progress.task)  # before the end: a kill repeats both
                    lexicons.finish_step(step)
                except LexiconError as error:
                    notes.append(Message("No automatic lexicon version: {reason}", reason=error_message(error)))
    return StageReport(Stage.LEXICON, {}, time.monotonic() - started, tuple(notes))


def load_review_state(store: "Store") -> "ReviewState":
    """Load the terms with a review decision and the pending candidates, as term mining needs them."""
    from lexicon.review_selection import ReviewState
    from text.folding import word_key

    texts = {status: map(word_key, store.review_queue.texts_with_status(status)) for status in TermStatus}
    pending_texts = frozenset(texts.pop(TermStatus.CANDIDATE))
    return ReviewState(frozenset(chain(*texts.values())), pending_texts)


index = run_index_stage


def embed(engine: "Engine", seconds: float | None = None, with_passages: bool = True) -> StageReport:
    """Compute the missing embeddings of articles and passages, for at most `seconds` (None: no limit).

    Raises EmbeddingError or JarError if no model is available.
    """
    from pipeline.embedding.stage import run_embed_stage  # imported late because it loads numpy

    return run_embed_stage(engine, seconds, with_passages)


def embed_if_possible(engine: "Engine", seconds: float | None = None, with_passages: bool = True) -> StageReport:
    """Compute missing embeddings as `embed` does; without a model or the lock, return a report with a note."""
    try:
        return embed(engine, seconds, with_passages)
    except (BusyError, EmbeddingError, JarError) as error:
        return StageReport(
            Stage.EMBED,
            {},
            0.0,
            (Message("Keyword search only, no embeddings: {reason}", reason=error_message(error)),),
        )


def run(
    engine: "Engine",
    last_stage: str = "index",
    command: str = "run",
    only_stage: str = "",
    on_report: "Callable[[StageReport], None]" = lambda report: None,
    first_pages: int = 0,
    without_embedding: bool = False,
) -> list[StageReport]:
    """Run all stages once, in order, as one run. Solr starts while the crawl and the extraction run.

    A single stage `embed` has no time limit. In a complete run, articles that exceed its limit and the passages of all
    articles are embedded at the end. The first run embeds all articles before their indexing (`index_when_embedded`).

    Args:
        engine: The open vertical.
        last_stage: Key of STAGES after which the run ends.
        command: Name of the command that the run record contains, with the last stage if that is an earlier one.
        only_stage: Key of the only stage to run; "" for all.
        on_report: Called with the report of each stage when it ends.
        first_pages: Pages per seed that a first run makes searchable before the complete crawl; 0: none.
        without_embedding: Leave out the stage `embed`, so that the run does not wait for the models.

    Returns the reports of the stages. Raises BusyError if another run is active, and PlumblineError if the store is
    damaged.
    """
    command += "" if last_stage == "index" else f" --until {last_stage}"
    with engine.lock("run"), record_run(engine, command, on_report) as record:
        # First, so that a failed stage does not delay it.
        engine.store.search_log.purge(engine.settings.search.log_days)
        names = [only_stage] if only_stage else list(STAGES)[: list(STAGES).index(last_stage) + 1]
        if without_embedding:
            names = [name for name in names if name != "embed"]
        if first_pages and not engine.store.change_log.indexed_document_count():
            index_first_pages(engine, record, first_pages)
        lexicons = engine.store.lexicons
        for name in names:
            if name == "lexicon" and not (
                lexicons.are_candidates_outdated() or lexicons.has_pending_step(*LEXICON_STEPS)
            ):
                continue  # no article changed: the candidates would be the same
            if name == "ocr" and not engine.store.recognized_pages.pending_count():
                continue
            if name == "index":
                record.run_stage(Stage.SOLR, lambda: wait_for_solr(engine))
                if "embed" in names and not engine.store.change_log.indexed_document_count():
                    index_when_embedded(engine, record)
                record.run_stage(Stage.INDEX, partial(index, engine))
            elif name == "crawl":
                record.run_stage(Stage.CRAWL, partial(crawl_with_index_opening, engine, "index" in names))
            else:
                stage = embed_if_possible if name == only_stage == "embed" else STAGES[name]
                record.run_stage(Stage(name), partial(stage, engine))
            if name == "ocr" and Reason.RECOGNIZED in record.reports[-1].outcome_counts:
                record.run_stage(Stage.EXTRACT, partial(extract, engine))
        with_index = "index" in names
        steps = (SENTENCES_STEP, RELATED_TERMS_STEP) if with_index else (SENTENCES_STEP,)
        if "lexicon" in names and lexicons.has_pending_step(*steps):
            from pipeline.lexicon_stage.sentence_scan import search_articles

            record.run_stage(Stage.LEXICON, partial(search_articles, engine, with_index))
        if with_index:
            if "embed" in names:
                embed_remaining(engine, record)
            try:
                force_merge_index(engine)
            except (BusyError, SolrError) as error:
                record.add_note(Message("The index was not merged: {reason}", reason=error_message(error)))
        compact_store(engine)
        copy_decisions(engine, record)
        check_fetched(engine, record)
        return record.reports


def check_fetched(engine: "Engine", record: "RunRecord") -> None:
    """Raise PlumblineError with the reasons if the crawl of a run fetched none of the due pages."""
    crawls = [report for report in record.reports if report.stage is Stage.CRAWL]
    counts: Counter[Reason] = sum((Counter(crawl.outcome_counts) for crawl in crawls), Counter())
    due_count = sum(engine.store.frontier.due_counts_by_queue(time.time()).values()) if crawls else 0
    if counts.total() == count_failures(counts) - counts[Reason.GONE] and (counts or due_count):
        reasons = [Message("{n} {reason}", n=count, reason=reason) for reason, count in counts.most_common()]
        record.resume_stage(Stage.CRAWL)
        raise PlumblineError(
            "No page was fetched, of 1 that was due: {reasons}",
            "No page was fetched, of {n} that were due: {reasons}",
            n=due_count + counts.total(),
            reasons=(*reasons, *(note for crawl in crawls for note in crawl.notes)),
        )


def index_first_pages(engine: "Engine", record: "RunRecord", pages_per_seed: int) -> None:
    """Crawl, extract and index a few pages, so that searches work long before the complete crawl ends.

    The crawl alternates between the sites, but a fast site can get more pages than a slow one.
    """
    max_pages = pages_per_seed * max(len(engine.settings.crawl.sites.seeds), 1)
    record.run_stage(Stage.CRAWL, partial(crawl_with_index_opening, engine, True, max_pages))
    record.run_stage(Stage.EXTRACT, partial(extract, engine))
    record.run_stage(Stage.SOLR, partial(wait_for_solr, engine))
    record.run_stage(Stage.INDEX, partial(index, engine))


def crawl_with_index_opening(engine: "Engine", with_index: bool, max_pages: int = 0) -> StageReport:
    """Crawl and, if `with_index`, open Solr meanwhile. Invalid crawl settings end the stage before Solr starts.

    `max_pages` as for `crawl`.
    """
    from crawler.crawl_plan import build_crawl_plan, check_addresses

    if resolve_strategy(engine.settings.crawl) not in FOCUSED_STRATEGIES:  # a topic has seeds of its own
        check_addresses(build_crawl_plan(engine.settings.crawl))
    if with_index:
        engine.open_index_in_background()
    return crawl(engine, max_pages=max_pages)


@contextmanager
def record_run(
    engine: "Engine", command: str, on_report: "Callable[[StageReport], None]" = lambda report: None
) -> "Iterator[RunRecord]":
    """Yield the record of a run after a check of the store. A damaged store ends the run before its first stage.

    Meanwhile the search site can read the progress. At the end, disk, memory and queue are recorded.
    """
    from pipeline.maintenance.preflight import check_before_run, raise_if_damaged
    from pipeline.runs.live_progress import live_progress
    from pipeline.runs.run_figures import record_figures, reset_memory_peak
    from pipeline.runs.run_record import RunRecord

    faults = check_before_run(engine)
    reset_memory_peak()
    with live_progress(engine) as progress, RunRecord(engine.store, command, on_report, progress.start_stage) as record:
        try:
            raise_if_damaged(faults)
            yield record
        finally:
            record_figures(engine, record.run_id)


def compact_store(engine: "Engine") -> None:
    """Compact the near-duplicate keys of past months, and compress texts that older programs saved.

    Skipped while another process extracts; the next run does it.
    """
    with suppress(BusyError), engine.lock("extract"):
        engine.store.key_compaction.seal_past_months()
        engine.store.text_compression.compress_texts()


def copy_decisions(engine: "Engine", record: "RunRecord") -> None:
    """Copy what cannot be crawled again into the data folder, unless the store is on a server.

    A failure is a note of the run's last stage.
    """
    from pipeline.maintenance.backup import create_daily_copy

    if engine.settings.store.url:
        return
    try:
        create_daily_copy(engine.settings)
    except (PlumblineError, OSError) as error:
        record.add_note(Message("Decisions, accounts and topics could not be copied: {detail}", detail=str(error)))


def index_when_embedded(engine: "Engine", record: "RunRecord") -> None:
    """Index articles in rounds while the others are being embedded, so that a first run indexes each article once.

    Each round takes twice as long as the one before. Ends with the last vector, or when a round embeds no article.
    """
    seconds, is_possible = EMBED_BEFORE_INDEX_SECONDS, is_embedding_possible(record)
    while is_possible and (pending_count := engine.count_pending_embeddings()):
        record.run_stage(Stage.INDEX, partial(index, engine, embedded_only=True))
        record.run_stage(Stage.EMBED, partial(embed_if_possible, engine, seconds, with_passages=False))
        seconds *= 2
        is_possible = engine.count_pending_embeddings() < pending_count


def is_embedding_possible(record: "RunRecord") -> bool:
    """Return True if the run has embedded an article."""
    return any(Reason.EMBEDDED in report.outcome_counts for report in record.reports)


def embed_remaining(engine: "Engine", record: "RunRecord") -> None:
    """Embed what the run has left out so far: articles beyond EMBED_BEFORE_INDEX_SECONDS, and all passages.

    Does nothing if the run could not embed any of the pending articles.
    """
    try:
        pending_count = engine.count_pending_embeddings()
    except EmbeddingError:  # the stage `embed` has reported it
        return
    if pending_count and is_embedding_possible(record):
        record.run_stage(Stage.EMBED, partial(embed_if_possible, engine))
        record.run_stage(Stage.INDEX, partial(index, engine))
    elif not pending_count and engine.count_pending_passages():
        record.run_stage(Stage.EMBED, partial(embed_if_possible, engine))


STAGES: "dict[str, Callable[[Engine], StageReport]]" = {
    "crawl": crawl,
    "extract": extract,
    "ocr": ocr_if_possible,
    "embed": partial(embed_if_possible, seconds=EMBED_BEFORE_INDEX_SECONDS, with_passages=False),
    "lexicon": update_lexicon,
    "index": index,
}


def abort_on_many_failures(stage: Stage, counts: Counter[Reason]) -> None:
    """Raise PlumblineError if so many pages failed unexpectedly that the program or the machine must be the cause."""
    failed = counts[Reason.UNEXPECTED_ERROR]
    if has_common_cause(failed, counts.total(), MAX_FAILURES):
        raise PlumblineError(
            "{failed} of {total} pages failed in the “{stage}” stage: see logs/plumb.log, fix the cause and run again",
            failed=failed,
            total=counts.total(),
            stage=str(stage),
        )


class StoredCorpus:
    """Implements `lexicon.counting.corpus.Corpus`: reads the articles from the store on each call."""

    def __init__(self, articles: "ArticleTable") -> None:
        self._articles = articles

    def iter_digests(self) -> Iterator[tuple[int, str]]:
        return self._articles.iter_digests()

    def iter_documents(self, document_ids: Sequence[int]) -> "Iterator[CorpusDocument]":
        from lexicon.counting.corpus import CorpusDocument

        return (CorpusDocument(*text) for text in self._articles.iter_texts(document_ids))
