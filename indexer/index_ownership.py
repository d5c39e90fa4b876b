"""Prevents a store from overwriting an index that another store filled.

The id of the store is a property of the alias in Solr, so it survives restarts, schema changes and restores. An index
of
an older version has no owner; it is taken over if the document counts agree.
"""

from dataclasses import dataclass

TAKE_OVER_HINT = (
    "restore the matching store (check vertical.data_dir, store.url, index.collection), or run `plumb index --adopt`: "
    "it deletes every document that this store does not have"
)


@dataclass(frozen=True)
class StoreSnapshot:
    """State of a store: its id, number of articles, number of indexed documents, number of pending changes."""

    store_id: str
    article_count: int
    indexed_count: int
    pending_count: int


def ownership_error(owner: str, document_count: int, snapshot: StoreSnapshot) -> str:
    """Return why a store must not write to an index, or an empty string if it may.

    Args:
        owner: Id of the store that filled the index, "" if unknown.
        document_count: Number of documents in the index.
        snapshot: State of this store.
    """
    if not document_count:
        return ""
    if not owner:  # older version; after a kill, the counts can differ by the pending changes
        counts_agree = abs(document_count - snapshot.indexed_count) <= snapshot.pending_count
        return (
            ""
            if counts_agree
            else f"the index has {document_count} documents, this store recorded {snapshot.indexed_count}"
        )
    if owner != snapshot.store_id:
        return f"the index with its {document_count} documents was filled from another store than this one"
    if not (snapshot.article_count or snapshot.indexed_count or snapshot.pending_count):
        return f"this store is empty, its index has {document_count} documents"
    return ""
