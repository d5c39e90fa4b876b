"""Whose an index is: a store that has lost its database, or is another one, must not empty it.

The store's id is a property of the alias in Solr, so it stays through restarts, schema changes and restores of either
side. An index of an older program has none, and is taken over where the counts agree.
"""

from dataclasses import dataclass

TAKE_OVER_HINT = (
    "restore the store that belongs to it (see vertical.data_dir, store.url, index.collection), or let this one take "
    "the index over with `plumb index --adopt`, which deletes what this store does not know"
)


@dataclass(frozen=True)
class StoreSnapshot:
    """What a store has to show: its id, its articles, how many documents it says the index has, changes that wait."""

    store_id: str
    article_count: int
    indexed_count: int
    pending_count: int


def ownership_error(owner: str, document_count: int, snapshot: StoreSnapshot) -> str:
    """Why a store must not touch an index of so many `document_count` that belongs to `owner` ("": never said).

    Returns "" where it may.
    """
    if not document_count:
        return ""
    if not owner:  # of an older program: what it was killed at may be written and not noted, or noted and not written
        counts_agree = abs(document_count - snapshot.indexed_count) <= snapshot.pending_count
        return (
            ""
            if counts_agree
            else f"the index has {document_count} documents, this store says it has {snapshot.indexed_count}"
        )
    if owner != snapshot.store_id:
        return f"the index with its {document_count} documents was filled from another store than this one"
    if not (snapshot.article_count or snapshot.indexed_count or snapshot.pending_count):
        return f"this store is empty, its index has {document_count} documents"
    return ""
