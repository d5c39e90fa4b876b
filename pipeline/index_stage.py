"""Stage `index`: update the Solr index from the store.

A new lexicon version is applied first, then the change log. An index that another store filled is not changed unless
the operator takes it over.
"""

import time
from collections import Counter
from typing import TYPE_CHECKING

from domain.errors import IndexOwnershipError
from domain.message import Message
from domain.outcome import Reason, Stage, StageReport

if TYPE_CHECKING:
    from indexer.solr_index import SolrIndex
    from pipeline.engine import Engine

INDEX_LOCK_WAIT_SECONDS = 3600.0  # the other process that indexes also writes the changes of this one
MAX_FORCE_MERGE_DOCUMENTS = 100_000  # rewriting a larger index after every run costs more than it gains


def wait_for_solr(engine: "Engine") -> StageReport:
    """Wait until Solr is open and has a collection; starts to open it if no earlier stage did.

    The seconds of the report are the time that opening took, not the time waited.
    """
    started = time.monotonic()
    opener = engine.open_index_in_background()
    engine.index  # noqa: B018
    waited_seconds = time.monotonic() - started
    note = Message("Opened")
    if waited_seconds < opener.seconds:
        note = Message("Opened in parallel with earlier stages, waited {seconds} s", seconds=f"{waited_seconds:.1f}")
    return StageReport(Stage.SOLR, {}, opener.seconds, (note,))


def run_index_stage(
    engine: "Engine", wait: float = INDEX_LOCK_WAIT_SECONDS, adopt: bool = False, embedded_only: bool = False
) -> StageReport:
    """Update the Solr index: apply a newly published lexicon, then the change log.

    Args:
        engine: The open vertical.
        wait: Seconds to wait while another process indexes; then BusyError is raised.
        adopt: Take over an index that another store filled.
        embedded_only: Leave articles in the change log that are pending embedding.

    Raises IndexOwnershipError if the index was filled by another store and `adopt` is False.
    """
    from indexer.sync import apply_lexicon, flush_changes, remove_orphans

    with engine.lock("index", wait):
        started = time.monotonic()
        target, notes = prepare_target_collection(engine, adopt)
        resegmented_count = apply_lexicon(engine.store, target)
        if resegmented_count:
            notes += (
                Message(
                    "1 document contains a changed term and is segmented again",
                    "{n} documents contain a changed term and are segmented again",
                    n=resegmented_count,
                ),
            )
        engine.store.citations.recount()  # what a killed stage has left
        counts: Counter[Reason] = Counter()
        if engine.store.change_log.pending_document_count():  # otherwise the dictionaries need not be loaded
            # A new collection must be complete before searches use it.
            deferred_url_ids = (
                engine.pending_embedding_url_ids() if embedded_only and target is engine.index else set[int]()
            )
            document_count = max(0, engine.store.change_log.pending_document_count() - len(deferred_url_ids))
            with engine.progress.task("index", document_count) as advance:
                counts = flush_changes(
                    engine.store, target, engine.analysis(), engine.settings.index.batch, advance, deferred_url_ids
                )
        if orphans := remove_orphans(engine.store, target):
            notes += (
                Message(
                    "1 document that is not in the store was deleted",
                    "{n} documents that are not in the store were deleted",
                    n=orphans,
                ),
            )
        if target is not engine.index:
            engine.index.switch_alias()
        engine.activate_complete_models()
    return StageReport(Stage.INDEX, counts, time.monotonic() - started, notes)


def prepare_target_collection(engine: "Engine", adopt: bool = False) -> "tuple[SolrIndex, tuple[str, ...]]":
    """Return the collection to write to and notes for the report.

    After a schema change this is a new collection, which searches use once it is complete. If Solr has lost documents
    (restored or emptied), all articles are enqueued again. Raises IndexOwnershipError.
    """
    from indexer.solr_index import ConfigsetState

    index, changes = engine.index, engine.store.change_log
    is_outdated = index.ensure_collection() is ConfigsetState.OUTDATED
    index.commit(soft=True)
    target = index.open_current_collection() if is_outdated else index
    notes = claim_index(engine, index, adopt)
    index.delete_unused_collections()
    if notes:
        return target, notes
    if is_outdated:
        count = changes.enqueue_all()
        return target, (
            Message(
                "The schema has changed: 1 article is written to a new collection",
                "The schema has changed: {n} articles are written to a new collection",
                n=count,
            ),
        )
    if index.count() < changes.indexed_document_count():
        count = changes.enqueue_all()
        return target, (
            Message(
                "Solr has lost documents: 1 article is indexed again",
                "Solr has lost documents: {n} articles are indexed again",
                n=count,
            ),
        )
    return target, ()


def claim_index(engine: "Engine", index: "SolrIndex", adopt: bool) -> tuple[str, ...]:
    """Claim the index for this store; returns notes if another store owned it.

    Raises IndexOwnershipError if another store filled the index and `adopt` is False.
    """
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
    # The store's indexing ledger describes another index, so enqueue all articles first. If the process dies before
    # set_owner(), the next run raises IndexOwnershipError again.
    notes: tuple[str, ...] = ()
    if ownership_problem:
        count = store.change_log.enqueue_all()
        notes = (
            Message("Took over the index: 1 article to write", "Took over the index: {n} articles to write", n=count),
        )
    if owner != store.store_id:
        index.set_owner(store.store_id)
    return notes


def force_merge_index(engine: "Engine") -> None:
    """Merge the segments of the index after a run.

    Scores and the order of ties then depend only on the documents, not on the history of the segments. Indexes of more
    than MAX_FORCE_MERGE_DOCUMENTS documents are not merged.
    """
    with engine.lock("index", INDEX_LOCK_WAIT_SECONDS):
        if engine.index.count() <= MAX_FORCE_MERGE_DOCUMENTS:
            engine.index.optimize()
