"""Synchronizes Solr with the store.

    remove_orphans  delete documents from Solr that the store does not have
    apply_lexicon   for a new lexicon version: put the documents that contain an added or removed term into the change
                    log, and segment with that version from then on
    flush_changes   write the change log to Solr, batch by batch, and remove entries that Solr acknowledged; while a
                    batch is in flight, the next ones are related to other articles, segmented and sent

All run under the lock of the pipeline: a document must not be written with version n while n+1 is being applied.
After a
kill, the next call continues. `apply_lexicon` marks a version as applied in the transaction that queues its documents,
and a batch that was written but not removed from the log is written again.
"""

from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass

from docstore.store import Store
from domain.article import StoredArticle, document_id
from domain.batches import batched
from domain.index_change import IndexChange, IndexResult
from domain.outcome import Outcome, Reason
from indexer.affected_articles import find_url_ids_containing
from indexer.article_relations import update_relations
from indexer.document_mapping import NO_VECTORS, TextAnalysis, to_solr_document
from indexer.solr_index import CommitWithin, SolrIndex
from locks.fences import in_this_context

LOOKUP_BATCH_SIZE = 500
BACKLOG_THRESHOLD = 2000  # pending changes; above it, commits are less frequent
SENDER_COUNT = 2  # concurrent batches; Solr analyses each in a thread of its own


def apply_lexicon(store: Store, index: SolrIndex) -> int:
    """Make the newest published version the one that segments; return the number of documents to index again."""
    newest_lexicon, applied_lexicon = store.lexicons.load_latest(), store.lexicons.load_applied()
    if newest_lexicon.version == applied_lexicon.version:
        return 0
    url_ids = find_url_ids_containing(newest_lexicon.changed_terms_since(applied_lexicon), store, index)
    return store.lexicons.mark_applied(newest_lexicon.version, url_ids)


def flush_changes(
    store: Store,
    index: SolrIndex,
    analysis: TextAnalysis,
    batch_size: int,
    progress: Callable[[int], None] = lambda done: None,
    deferred_url_ids: Set[int] = frozenset(),
) -> Counter[Reason]:
    """Write all pending changes to Solr, with a soft commit at the end if anything was written.

    Args:
        store: Store with the change log.
        index: Target index.
        analysis: Segmenters and lexicon.
        batch_size: Documents per request.
        progress: Called with the number of changes of each finished batch.
        deferred_url_ids: Pages whose changes stay in the log.

    Returns:
        Number of outcomes by reason.

    Raises:
        SolrError: Solr is not responding or rejected a request. Acknowledged batches stay done.
    """
    counts: Counter[Reason] = Counter()
    has_flushed = True
    while has_flushed:  # changes may arrive meanwhile
        has_flushed = False
        for results in _iter_flushed_batches(store, index, analysis, batch_size, deferred_url_ids):
            counts.update(result.outcome.reason for result in results)
            progress(len(results))
            has_flushed = True
        if has_flushed:
            store.citations.recount()  # adds articles to the log
    if counts:
        index.commit(soft=True)
    return counts


@dataclass(frozen=True)
class _BatchInFlight:
    """A batch that is being sent to Solr."""

    changes: Sequence[IndexChange]
    url_ids: frozenset[int]
    result_future: Future[list[IndexResult]]


def _iter_flushed_batches(
    store: Store, index: SolrIndex, analysis: TextAnalysis, batch_size: int, deferred_url_ids: Set[int]
) -> Iterator[list[IndexResult]]:
    """Index every change that is in the log now, except those of `deferred_url_ids`.

    Yields the results of each batch after it is removed from the log.
    """
    in_flight: deque[_BatchInFlight] = deque()

    def finish_oldest() -> list[IndexResult]:
        finished = in_flight.popleft()
        results = finished.result_future.result()
        store.change_log.acknowledge(finished.changes, results)
        return results

    commit_within = (
        CommitWithin.LATER if store.change_log.pending_document_count() > BACKLOG_THRESHOLD else CommitWithin.SOON
    )
    with ThreadPoolExecutor(SENDER_COUNT, "to-solr") as pool:
        last_seq = 0
        while pending_batch := store.change_log.pending(batch_size, after_seq=last_seq):
            last_seq = pending_batch[-1].seq
            batch = [change for change in pending_batch if change.url_id not in deferred_url_ids]
            if not batch:
                continue
            url_ids = frozenset(change.url_id for change in batch)
            # Two states of one document must be written in order: the newer one waits for the older one.
            while len(in_flight) > SENDER_COUNT or any(
                url_ids & batch_in_flight.url_ids for batch_in_flight in in_flight
            ):
                yield finish_oldest()
            prepared_batch = prepare_batch(batch, store, analysis)
            result_future = pool.submit(in_this_context(send_batch), prepared_batch, index, commit_within)
            in_flight.append(_BatchInFlight(batch, url_ids, result_future))
        while in_flight:
            yield finish_oldest()


def remove_orphans(store: Store, index: SolrIndex) -> int:
    """Delete indexed documents that are missing in the store (for example after a restore); return their number.

    Lists the ids only if the index has more documents than the store records. All pending changes must be written
    before.
    """
    if index.count() <= store.change_log.indexed_document_count():
        return 0
    orphans = [
        doc_id
        for batch in batched(index.iter_ids(), LOOKUP_BATCH_SIZE)
        for doc_id in store.articles.unknown_doc_ids(batch)
    ]
    for batch in batched(orphans, LOOKUP_BATCH_SIZE):
        index.delete(batch)
    index.commit(soft=True)
    return len(orphans)


@dataclass(frozen=True)
class PreparedBatch:
    """A batch ready to send: current articles with their documents, and deleted pages (url_id -> URL)."""

    articles: Mapping[int, StoredArticle]
    documents: Sequence[Mapping[str, object]]
    deleted_urls: Mapping[int, str]
    lexicon_version: int


def prepare_batch(batch: Sequence[IndexChange], store: Store, analysis: TextAnalysis) -> PreparedBatch:
    """Load the current state of the URLs in `batch`, whatever action the log recorded, and update their relations."""
    urls = {change.url_id: change.url for change in batch}
    article_by_url_id = store.articles.load_by_url_ids(list(urls))
    vectors = store.vectors.article_vectors(
        stored_article.article.digest for stored_article in article_by_url_id.values()
    )
    if regrouped_ids := update_relations(store, list(urls), article_by_url_id, vectors, analysis.base_segmenter):
        article_by_url_id |= store.articles.load_by_url_ids(regrouped_ids)
    documents = [
        to_solr_document(stored_article, analysis, vectors.get(stored_article.article.digest, NO_VECTORS))
        for stored_article in article_by_url_id.values()
    ]
    deleted_urls = {url_id: url for url_id, url in urls.items() if url_id not in article_by_url_id}
    return PreparedBatch(article_by_url_id, documents, deleted_urls, analysis.lexicon.version)


def send_batch(batch: PreparedBatch, index: SolrIndex, commit_within: CommitWithin) -> list[IndexResult]:
    """Write and delete the documents of `batch`. A rejected document is deleted, so that no older state remains."""
    rejected = index.add(batch.documents, commit_within) if batch.documents else {}
    ids_to_delete = [document_id(url) for url in batch.deleted_urls.values()]
    ids_to_delete += [
        stored_article.doc_id for stored_article in batch.articles.values() if stored_article.doc_id in rejected
    ]
    if ids_to_delete:
        index.delete(ids_to_delete)
    results = [
        to_index_result(stored_article, rejected, batch.lexicon_version) for stored_article in batch.articles.values()
    ]
    return results + [IndexResult(url_id, Outcome(Reason.DELETED)) for url_id in batch.deleted_urls]


def to_index_result(stored_article: StoredArticle, rejected: Mapping[str, str], version: int) -> IndexResult:
    """Return the result of one article that was sent."""
    if stored_article.doc_id in rejected:
        return IndexResult(stored_article.url_id, Outcome(Reason.REJECTED_BY_SOLR, rejected[stored_article.doc_id]))
    return IndexResult(stored_article.url_id, Outcome(Reason.INDEXED), stored_article.article.digest, version)
