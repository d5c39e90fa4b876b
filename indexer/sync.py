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
from docstore.changes import Change, Indexed
from docstore.model import Outcome, Reason, StoredArticle, document_id
from docstore.store import Store
from indexer.containing import url_ids_holding
from indexer.mapping import NO_VECTORS, Analysis, to_document
from indexer.solr import Seen

LOOK_UP = 500
MANY = 2000  # changes that are waiting: with more, what is written is seen later
SENDERS = 2  # batches that Solr takes side by side: it analyses each in a thread of its own


class Index(Protocol):
    """What this module needs of Solr; `indexer.solr.SolrIndex` is it. `add` and `delete` come from several threads."""

    def add(self, docs: Sequence[Mapping[str, object]], seen: Seen = Seen.SOON) -> Mapping[str, str]:
        """Write documents; returns id -> why, for those that Solr refuses."""

    def delete(self, ids: Sequence[str]) -> None:
        """Delete documents; an id that is not there is no error."""

    def commit(self, soft: bool = True) -> None:
        """Make what was written searchable."""

    def count(self) -> int:
        """Documents that a search can find now."""

    def ids(self) -> Iterator[str]:
        """Their ids."""

    def ids_containing(self, phrases: Sequence[str]) -> Iterator[str]:
        """The ids of documents whose title or body holds one of `phrases`."""


def apply_lexicon(store: Store, index: Index) -> int:
    """Segment with the newest published version from now on; returns how many documents have to be done again."""
    newest, applied = store.lexicon.latest(), store.lexicon.applied()
    if newest.version == applied.version:
        return 0
    url_ids = url_ids_holding(newest.changed_since(applied), store, index)
    store.lexicon.mark_applied(newest.version, sorted(url_ids))
    return len(url_ids)


def sync(
    store: Store,
    index: Index,
    analysis: Analysis,
    batch_size: int,
    progress: Callable[[int], None] = lambda done: None,
) -> Counter[Reason]:
    """Write all pending changes to Solr; returns outcomes by reason. Ends with a soft commit if anything was written.

    Raises SolrError when Solr cannot take what it is sent; what was acknowledged before stays done.
    """
    counts: Counter[Reason] = Counter()
    while store.changes.pending(1):
        for results in _written(store, index, analysis, batch_size):
            counts.update(result.outcome.reason for result in results)
            progress(len(results))
    if counts:
        index.commit(soft=True)
    return counts


@dataclass(frozen=True)
class _Flight:
    """A batch on its way to Solr."""

    batch: Sequence[Change]
    url_ids: frozenset[int]
    results: Future[list[Indexed]]


def _written(store: Store, index: Index, analysis: Analysis, batch_size: int) -> Iterator[list[Indexed]]:
    """Write the change log up to its present end; yields what became of each batch when it is struck."""
    flights: deque[_Flight] = deque()

    def land() -> list[Indexed]:
        landed = flights.popleft()
        results = landed.results.result()
        store.changes.done(landed.batch, results)
        return results

    seen = Seen.LATER if store.changes.count() > MANY else Seen.SOON
    with ThreadPoolExecutor(SENDERS, "to-solr") as pool:
        last = 0
        while batch := store.changes.pending(batch_size, after=last):
            last = batch[-1].seq
            url_ids = frozenset(change.url_id for change in batch)
            # A document must not overtake itself: its newer state waits until the older one has been written.
            while len(flights) > SENDERS or any(url_ids & flight.url_ids for flight in flights):
                yield land()
            made = prepared(batch, store, analysis)
            flights.append(_Flight(batch, url_ids, pool.submit(send_batch, made, index, seen)))
        while flights:
            yield land()


def remove_orphans(store: Store, index: Index) -> int:
    """Delete documents that the store does not know (it was restored from a backup); returns how many there were.

    Looks at the ids only if the index holds more than the store says. Everything pending has to be written before.
    """
    if index.count() <= store.changes.indexed_count():
        return 0
    orphans = [doc_id for batch in batched(index.ids(), LOOK_UP) for doc_id in store.articles.unknown(batch)]
    for batch in batched(orphans, LOOK_UP):
        index.delete(batch)
    index.commit(soft=True)
    return len(orphans)


@dataclass(frozen=True)
class Prepared:
    """A batch as it is sent: the present articles with their documents, and what is no more (url_id -> URL)."""

    present: Mapping[int, StoredArticle]
    documents: Sequence[Mapping[str, object]]
    gone: Mapping[int, str]
    version: int


def prepared(batch: Sequence[Change], store: Store, analysis: Analysis) -> Prepared:
    """The present state of the URLs in `batch`, whatever the log says was done to them."""
    urls = {change.url_id: change.url for change in batch}
    present = store.articles.get(list(urls))
    vectors = store.vectors.whole(stored.article.digest for stored in present.values())
    documents = [
        to_document(stored, analysis, vectors.get(stored.article.digest, NO_VECTORS)) for stored in present.values()
    ]
    gone = {url_id: url for url_id, url in urls.items() if url_id not in present}
    return Prepared(present, documents, gone, analysis.lexicon.version)


def send_batch(batch: Prepared, index: Index, seen: Seen) -> list[Indexed]:
    """Write and delete what `batch` says; what Solr refuses of an article is not left there in an older state."""
    refused = index.add(batch.documents, seen) if batch.documents else {}
    lost = [document_id(url) for url in batch.gone.values()]
    lost += [stored.doc_id for stored in batch.present.values() if stored.doc_id in refused]
    if lost:
        index.delete(lost)
    written = [result_of(stored, refused, batch.version) for stored in batch.present.values()]
    return written + [Indexed(url_id, Outcome(Reason.DELETED)) for url_id in batch.gone]


def result_of(stored: StoredArticle, refused: Mapping[str, str], version: int) -> Indexed:
    """What became of one article that was sent."""
    if stored.doc_id in refused:
        return Indexed(stored.url_id, Outcome(Reason.REFUSED_BY_SOLR, refused[stored.doc_id]))
    return Indexed(stored.url_id, Outcome(Reason.INDEXED), stored.article.digest, version)
