"""The engine on one page.

    seeds | crawl   -> Page     pages worth keeping, in order of promise       crawler/crawl.py
          | extract -> Article  title, date, body; or a reason why not         extractor/article_extractor.py
          |                     the same of PDF, Word and other files          extractor/documents/reader.py
          | embed   -> Vector   what a model of meaning makes of title and text   pipeline/embedding/stage.py
          | mine    -> Term     candidate words of the domain, by C-value      lexicon/mining.py
          | publish -> Lexicon  the administrator's choice, versioned          lexicon/publishing.py
          | index   -> Solr     whatever changed since the last run            indexer/sync.py
          | serve   -> Hit      what the reader sees                           search_ui/app.py

Each arrow is a table in the store (docstore/store.py): a stage asks it what is pending and commits its results,
outcomes and change-log entries together, so any stage can stop, be killed, run alone, or run twice. A stage loads its
packages when it begins: no command waits for the packages of stages that it does not run.
The loop closes over time: a published lexicon re-segments the documents that contain its new words.
"""

import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager, nullcontext, suppress
from dataclasses import replace
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING

from crawler.settings import FOCUSED_STRATEGIES, CrawlSettings, resolve_strategy
from docstore.errors import BusyError, EmbeddingError, IndexOwnershipError, PlumblineError
from docstore.model import Reason, Stage, StageReport, TermStatus
from extractor.settings import EXTRACTOR_VERSION
from maven_jars.jar_cache import JarError
from pipeline.crawl_progress import show_crawl_progress

if TYPE_CHECKING:
    from crawler.focused_policy import FocusedPolicy
    from crawler.progress import CrawlProgress
    from docstore.articles.article_table import ArticleTable
    from docstore.model import Lexicon
    from docstore.near_duplicates.clusters import CopyDetection
    from docstore.store import Store
    from indexer.solr_index import SolrIndex
    from lexicon.counting.corpus import CorpusDocument
    from lexicon.review_selection import ReviewState
    from pipeline.engine import Engine
    from pipeline.runs.run_record import RunRecord

EMBED_BEFORE_INDEX_SECONDS = (
    300.0  # seconds of embedding before the index has new articles; what is left comes behind it
)
INDEX_LOCK_WAIT_SECONDS = 3600.0  # seconds to wait while another process indexes: it does our work
MAX_FORCE_MERGE_DOCUMENTS = 100_000  # documents: writing a larger index anew every night costs more than it is worth
MAX_FAILURES = 50  # more unexpected failures than this, and more than a fifth of all, stop a stage


def crawl(engine: "Engine", on_progress: "Callable[[CrawlProgress], None] | None" = None) -> StageReport:
    """Ask every URL that is due, follow what is worth following; `on_progress` is told now and then how far it is."""
    from crawler.crawl import crawl as run_crawl
    from crawler.http.fetch import Fetcher
    from pipeline.compute.distributed_crawl import crawl_on_cluster, is_distributed_crawl
    from pipeline.document_backfill import backfill_documents

    with (
        engine.lock("crawl"),
        closing(Fetcher(engine.settings.crawl, engine.ip_policy)) as fetcher,
        focused_crawl(engine) as (settings, policy),
    ):
        seen_filter_path = engine.settings.data_dir / "seen.bloom"
        engine.store.frontier.clamp_future_visits(time.time())
        engine.store.frontier.admin.requeue_deepest_pages(settings.depth)
        backfill_documents(engine, settings)
        with (
            show_crawl_progress(engine.progress) if on_progress is None else nullcontext(on_progress) as report_progress
        ):
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
            report = replace(
                report, notes=(*report.notes, f"{unuploaded_count} WARC files could not be uploaded: see the log")
            )
        return report


@contextmanager
def focused_crawl(engine: "Engine") -> "Iterator[tuple[CrawlSettings, FocusedPolicy | None]]":
    """The crawl's settings, and who judges pages and links, where it looks for a topic; at the end that one decides
    what is kept, and what it has learned is saved."""
    if resolve_strategy(engine.settings.crawl) not in FOCUSED_STRATEGIES:
        yield engine.settings.crawl, None
        return
    from pipeline.topic.policy_factory import (  # scikit-learn: a crawl without a topic does without
        create_policy,
        focused_crawl_settings,
    )
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
    """Make an article, or an outcome, of every page that was fetched new or changed."""
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
    return StageReport(Stage.EXTRACT, counts, time.monotonic() - started)


def regroup_duplicates(engine: "Engine", grouping: "CopyDetection") -> None:
    """Decide anew which articles are copies, where older rules did."""
    from text.similarity.duplicates import ALGORITHM_VERSION

    articles = engine.store.articles
    if articles.is_grouping_current(ALGORITHM_VERSION):
        return
    with engine.progress.task("copies", articles.count()) as advance:
        for step in articles.regroup_all(ALGORITHM_VERSION, grouping):
            advance(step)


def learn_site_templates(engine: "Engine") -> None:
    """Look at a few pages of each new site for what repeats: its first pages need to know it as well."""
    from pipeline.compute.extraction_jobs import learn_site_statistics

    articles = engine.store.articles
    sample = [page for page in articles.template_sample_pages() if not page.is_document]
    if not sample:
        return
    with engine.progress.task("sites", len(sample)) as advance:
        for pages in learn_site_statistics(engine.compute_backend, articles, sample, engine.settings):
            advance(pages)


def mine(engine: "Engine") -> StageReport:
    """Mine the articles for candidate terms; decisions taken before stay."""
    from lexicon.mining import mine_terms
    from pipeline.maintenance.file_checksums import delete_if_damaged, write_digests

    started = time.monotonic()
    with engine.lock("lexicon"):
        version = engine.store.articles.text_version()
        cache_dir, corpus = engine.settings.data_dir / "lexicon", StoredCorpus(engine.store.articles)
        delete_if_damaged(cache_dir)
        accepted_terms = [term.text for term in engine.store.lexicons.accepted_terms()]
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
    notes = (f"{len(terms)} candidate terms, {new_count} of them new",)
    return StageReport(Stage.LEXICON, {}, time.monotonic() - started, notes)


def load_review_state(store: "Store") -> "ReviewState":
    """What the review has said so far, as the miner wants to know it."""
    from lexicon.review_selection import ReviewState
    from text.folding import word_key

    texts = {status: map(word_key, store.review_queue.texts_with_status(status)) for status in TermStatus}
    pending_texts = frozenset(texts.pop(TermStatus.CANDIDATE))
    return ReviewState(frozenset(chain(*texts.values())), pending_texts)


def publish(engine: "Engine", actor: str = "") -> "Lexicon":
    """Publish the accepted terms as the next version. NothingToPublishError if that would change nothing."""
    from pipeline.search_site.review_service import StoreReview

    return StoreReview(engine.store).publish(actor)


def wait_for_solr(engine: "Engine") -> StageReport:
    """Wait until Solr is open and has a collection: where it was not begun beside other stages, from now on."""
    started = time.monotonic()
    opener = engine.open_index_in_background()
    engine.index  # noqa: B018
    waited_seconds = time.monotonic() - started
    notes = (
        ("opened",)
        if waited_seconds >= opener.seconds
        else (f"opened beside the stages before, {waited_seconds:.1f} s longer",)
    )
    return StageReport(Stage.SOLR, {}, opener.seconds, notes)


def index(engine: "Engine", wait: float = INDEX_LOCK_WAIT_SECONDS, adopt: bool = False) -> StageReport:
    """Bring Solr in step: first a newly published lexicon, then the change log.

    Waits so many seconds where another process does this. Raises ForeignIndexError where the index was filled from
    another store, unless this one shall `adopt` it.
    """
    from indexer.article_relations import update_relations
    from indexer.sync import apply_lexicon, flush_changes, remove_orphans

    with engine.lock("index", wait):
        started = time.monotonic()
        target, notes = prepare_target_collection(engine, adopt)
        resegmented_count = apply_lexicon(engine.store, target)
        if resegmented_count:
            notes += (f"{resegmented_count} documents hold a changed term and are segmented again",)
        if regrouped_count := update_relations(engine.store, engine.analysis().base_segmenter):
            notes += (
                f"{regrouped_count} documents are cited more or less often, or tell another story, and are indexed again",
            )
        with engine.progress.task("index", engine.store.change_log.pending_document_count()) as advance:
            counts = flush_changes(engine.store, target, engine.analysis(), engine.settings.index.batch, advance)
        if orphans := remove_orphans(engine.store, target):
            notes += (f"{orphans} documents that the store does not know were deleted",)
        if target is not engine.index:
            engine.index.switch_alias()
        engine.activate_complete_models()
    return StageReport(Stage.INDEX, counts, time.monotonic() - started, notes)


def embed(engine: "Engine", seconds: float | None = None) -> StageReport:
    """Give articles their vectors, for at most so many seconds. Raises EmbedError, JarError where there is no model."""
    from pipeline.embedding.stage import run_embed_stage  # imports numpy, which no other stage needs

    return run_embed_stage(engine, seconds)


def embed_if_possible(engine: "Engine", seconds: float | None = None) -> StageReport:
    """As `embed`; without a model articles are found by their words, and the run goes on."""
    try:
        return embed(engine, seconds)
    except (EmbeddingError, JarError) as error:
        return StageReport(Stage.EMBED, {}, 0.0, (f"found by words alone: {error}",))


def run(engine: "Engine", last_stage: str = "index", command: str = "run", only_stage: str = "") -> list[StageReport]:
    """The stages once, in order, as the nightly run does, or one of them alone. Solr starts while they crawl and
    extract."""
    with engine.lock("run"), record_run(engine, command) as record:
        engine.store.search_log.purge(engine.settings.search.log_days)  # first: whatever fails below, it is done
        if last_stage == "index" and only_stage in ("", "index"):
            engine.open_index_in_background()
        for name, stage in STAGES.items():
            if only_stage and name != only_stage:
                continue
            if stage is mine and not engine.store.lexicons.are_candidates_outdated():
                continue  # no article changed: the candidates would be the same
            if stage is index:
                record.run_stage(Stage.SOLR, lambda: wait_for_solr(engine))
            record.run_stage(Stage(name), partial(stage, engine))
            if name == last_stage:
                break
        if last_stage == "index" and any(Reason.EMBEDDED in report.outcome_counts for report in record.reports):
            embed_remaining(engine, record)
        if any(report.stage is Stage.INDEX for report in record.reports):
            force_merge_index(engine)
        seal_past_duplicate_keys(engine)
        return record.reports


@contextmanager
def record_run(engine: "Engine", command: str) -> "Iterator[RunRecord]":
    """The record of a run. A damaged store ends it before it begins: what it does would rest on that."""
    from pipeline.maintenance.preflight import check_before_run, raise_if_damaged
    from pipeline.runs.run_record import RunRecord

    faults = check_before_run(engine)
    with RunRecord(engine.store, command) as record:
        raise_if_damaged(faults)
        yield record


def force_merge_index(engine: "Engine") -> None:
    """Merge the index of a run that is done, so that scores and the order of equals hang on its documents alone."""
    with engine.lock("index", INDEX_LOCK_WAIT_SECONDS):
        if engine.index.count() <= MAX_FORCE_MERGE_DOCUMENTS:
            engine.index.optimize()


def seal_past_duplicate_keys(engine: "Engine") -> None:
    """Seal the keys of near-duplicates of past months, unless somebody extracts: then the next night does."""
    with suppress(BusyError), engine.lock("extract"):
        engine.store.key_compaction.seal_past_months()


def embed_remaining(engine: "Engine", record: "RunRecord") -> None:
    """What the first embedding of a run had no time for, now that all can be found by words."""
    if engine.count_pending_embeddings():
        record.run_stage(Stage.EMBED, partial(embed_if_possible, engine))
        record.run_stage(Stage.INDEX, partial(index, engine))


STAGES: "dict[str, Callable[[Engine], StageReport]]" = {
    "crawl": crawl,
    "extract": extract,
    "embed": partial(embed_if_possible, seconds=EMBED_BEFORE_INDEX_SECONDS),
    "lexicon": mine,
    "index": index,
}


def prepare_target_collection(engine: "Engine", adopt: bool = False) -> "tuple[SolrIndex, tuple[str, ...]]":
    """The collection to write to, which is this store's. A changed schema gets a new one, filled before the searches
    have it; one that has lost documents (a restored or emptied Solr) is filled again.
    """
    from indexer.solr_index import ConfigsetState

    index, changes = engine.index, engine.store.change_log
    is_outdated = index.ensure_collection() is ConfigsetState.OUTDATED
    index.commit(soft=True)
    target = index.open_current_collection() if is_outdated else index
    if notes := claim_index(engine, index, adopt):
        return target, notes
    if is_outdated:
        return target, (f"the schema has changed: {changes.enqueue_all()} articles into a new collection",)
    if index.count() < changes.indexed_document_count():
        return target, (f"Solr has lost documents: {changes.enqueue_all()} articles are indexed again",)
    return target, ()


def claim_index(engine: "Engine", index: "SolrIndex", adopt: bool) -> tuple[str, ...]:
    """Make sure that the index is this store's; says so where it was another's. ForeignIndexError: it stays so."""
    from indexer.index_ownership import TAKE_OVER_HINT, StoreSnapshot, ownership_error

    store, owner = engine.store, index.get_owner()
    store_state = StoreSnapshot(
        store.store_id,
        store.articles.count(),
        store.change_log.indexed_document_count(),
        store.change_log.pending_document_count(),
    )
    ownership_problem = ownership_error(owner, index.count(), store_state)
    if ownership_problem and not adopt:
        raise IndexOwnershipError(f"{ownership_problem}: {TAKE_OVER_HINT}")
    # What this store says of the index is of another one; killed before the claim, it is refused again.
    notes = (
        (f"the index is this store's now: {store.change_log.enqueue_all()} articles to write",)
        if ownership_problem
        else ()
    )
    if owner != store.store_id:
        index.set_owner(store.store_id)
    return notes


def by_difference(advance: Callable[[int], None]) -> Callable[[int], None]:
    """Who works says how much is done in all; a bar wants to know how much more is done."""
    before = 0

    def tell(done: int) -> None:
        nonlocal before
        advance(done - before)
        before = done

    return tell


def abort_on_many_failures(stage: Stage, counts: Counter[Reason]) -> None:
    """A few failures are outcomes; very many mean that something is wrong with the program or the machine."""
    failed = counts[Reason.UNEXPECTED_ERROR]
    if failed > MAX_FAILURES and failed * 5 > counts.total():
        raise PlumblineError(
            f"{failed} of {counts.total()} pages failed in {stage}: see logs/plumb.log, then run again"
        )


class StoredCorpus:
    """The articles, read from the store each time they are asked for: see `lexicon.counting.corpus.Corpus`."""

    def __init__(self, articles: "ArticleTable") -> None:
        self._articles = articles

    def iter_digests(self) -> Iterator[tuple[int, str]]:
        """Number and digest of every article."""
        return self._articles.iter_digests()

    def iter_documents(self, document_ids: Sequence[int]) -> "Iterator[CorpusDocument]":
        """The articles with these numbers."""
        from lexicon.counting.corpus import CorpusDocument

        return (CorpusDocument(*text) for text in self._articles.iter_texts(document_ids))
