"""Keep Solr in step with the store.

    remove_orphans  documents that the store does not know leave Solr
    apply_lexicon   a new lexicon version: find the documents whose text holds an added or removed term, put them into
                    the change log, and segment with that version from now on
    sync            the change log, batch by batch: write to Solr, and strike what Solr has acknowledged; while one
                    batch is under way the next ones are segmented and sent

Both run under one lock (the pipeline's): a document must not be written with version n while n+1 is being applied.
Killed anywhere, the next call goes on: `apply_lexicon` marks a version applied in the transaction that queues its
documents, and a batch that was written but not struck is simply written again.
"""

from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Protocol

from docstore.batches import batched
from docstore.change_log import IndexChange, IndexResult
from docstore.model import Outcome, Reason, StoredArticle, document_id
from docstore.store import Store
from indexer.affected_articles import find_url_ids_containing
from indexer.document_mapping import NO_VECTORS, TextAnalysis, to_solr_document
from indexer.solr_index import CommitWithin

LOOKUP_BATCH_SIZE = 500
BACKLOG_THRESHOLD = 2000  # changes that are waiting: with more, what is written is seen later
SENDER_COUNT = 2  # batches that Solr takes side by side: it analyses each in a thread of its own


class SearchIndex(Protocol):
    """What this module needs of Solr; `indexer.solr_index.SolrIndex` is it. `add` and `delete` come from several threads."""

    def add(
        self, docs: Sequence[Mapping[str, object]], commit_within: CommitWithin = CommitWithin.SOON
    ) -> Mapping[str, str]:
        """Write documents; returns id -> why, for those that Solr refuses."""

    def delete(self, ids: Sequence[str]) -> None:
        """Delete documents; an id that is not there is no error."""

    def commit(self, soft: bool = True) -> None:
        """Make what was written searchable."""

    def count(self) -> int:
        """Documents that a search can find now."""

    def iter_ids(self) -> Iterator[str]:
        """Their ids."""

    def iter_ids_containing(self, phrases: Sequence[str]) -> Iterator[str]:
        """The ids of documents whose title or body holds one of `phrases`."""


def apply_lexicon(store: Store, index: SearchIndex) -> int:
    """Segment with the newest published version from now on; returns how many documents have to be done again."""
    newest_lexicon, applied_lexicon = store.lexicons.load_latest(), store.lexicons.load_applied()
    if newest_lexicon.version == applied_lexicon.version:
        return 0
    url_ids = find_url_ids_containing(newest_lexicon.changed_terms_since(applied_lexicon), store, index)
    store.lexicons.mark_applied(newest_lexicon.version, sorted(url_ids))
    return len(url_ids)


def flush_changes(
    store: Store,
    index: SearchIndex,
    analysis: TextAnalysis,
    batch_size: int,
    progress: Callable[[int], None] = lambda done: None,
) -> Counter[Reason]:
    """Write all pending changes to Solr; returns outcomes by reason. Ends with a soft commit if anything was written.

    Raises SolrError when Solr cannot take what it is sent; what was acknowledged before stays done.
    """
    counts: Counter[Reason] = Counter()
    while store.change_log.pending(1):
        for results in _iter_flushed_batches(store, index, analysis, batch_size):
            counts.update(result.outcome.reason for result in results)
            progress(len(results))
    if counts:
        index.commit(soft=True)
    return counts


@dataclass(frozen=True)
class _BatchInFlight:
    """A batch on its way to Solr."""

    changes: Sequence[IndexChange]
    url_ids: frozenset[int]
    result_future: Future[list[IndexResult]]


def _iter_flushed_batches(
    store: Store, index: SearchIndex, analysis: TextAnalysis, batch_size: int
) -> Iterator[list[IndexResult]]:
    """Write the change log up to its present end; yields what became of each batch when it is struck."""
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
        while batch := store.change_log.pending(batch_size, after_seq=last_seq):
            last_seq = batch[-1].seq
            url_ids = frozenset(change.url_id for change in batch)
            # A document must not overtake itself: its newer state waits until the older one has been written.
            while len(in_flight) > SENDER_COUNT or any(
                url_ids & batch_in_flight.url_ids for batch_in_flight in in_flight
            ):
                yield finish_oldest()
            prepared_batch = prepare_batch(batch, store, analysis)
            in_flight.append(
                _BatchInFlight(batch, url_ids, pool.submit(send_batch, prepared_batch, index, commit_within))
            )
        while in_flight:
            yield finish_oldest()


def remove_orphans(store: Store, index: SearchIndex) -> int:
    """Delete documents that the store does not know (it was restored from a backup); returns how many there were.

    Looks at the ids only if the index holds more than the store says. Everything pending has to be written before.
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
    """A batch as it is sent: the present articles with their documents, and what is no more (url_id -> URL)."""

    articles: Mapping[int, StoredArticle]
    documents: Sequence[Mapping[str, object]]
    deleted_urls: Mapping[int, str]
    lexicon_version: int


def prepare_batch(batch: Sequence[IndexChange], store: Store, analysis: TextAnalysis) -> PreparedBatch:
    """The present state of the URLs in `batch`, whatever the log says was done to them."""
    urls = {change.url_id: change.url for change in batch}
    article_by_url_id = store.articles.load_by_url_ids(list(urls))
    vectors = store.vectors.article_vectors(
        stored_article.article.digest for stored_article in article_by_url_id.values()
    )
    documents = [
        to_solr_document(stored_article, analysis, vectors.get(stored_article.article.digest, NO_VECTORS))
        for stored_article in article_by_url_id.values()
    ]
    deleted_urls = {url_id: url for url_id, url in urls.items() if url_id not in article_by_url_id}
    return PreparedBatch(article_by_url_id, documents, deleted_urls, analysis.lexicon.version)


def send_batch(batch: PreparedBatch, index: SearchIndex, commit_within: CommitWithin) -> list[IndexResult]:
    """Write and delete what `batch` says; what Solr refuses of an article is not left there in an older state."""
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
    """What became of one article that was sent."""
    if stored_article.doc_id in rejected:
        return IndexResult(stored_article.url_id, Outcome(Reason.REJECTED_BY_SOLR, rejected[stored_article.doc_id]))
    return IndexResult(stored_article.url_id, Outcome(Reason.INDEXED), stored_article.article.digest, version)
