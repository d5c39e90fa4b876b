"""Whose an index is: a store that has lost its database, or is another one, must not empty it.

The store's id is a property of the alias in Solr, so it stays through restarts, schema changes and restores of either
side. An index of an older program has none, and is taken over where the counts agree.
"""

from dataclasses import dataclass

TAKE_OVER = (
    "restore the store that belongs to it (see vertical.data_dir, store.url, index.collection), or let this one take "
    "the index over with `plumb index --adopt`, which deletes what this store does not know"
)


@dataclass(frozen=True)
class Holding:
    """What a store has to show: its id, its articles, how many documents it says the index has, changes that wait."""

    store_id: str
    articles: int
    indexed: int
    waiting: int


def ownership_fault(owner: str, documents: int, store: Holding) -> str:
    """Why a store must not touch an index of so many `documents` that belongs to `owner` ("": never said).

    Returns "" where it may.
    """
    if not documents:
        return ""
    if not owner:  # of an older program: what it was killed at may be written and not noted, or noted and not written
        agrees = abs(documents - store.indexed) <= store.waiting
        return "" if agrees else f"the index has {documents} documents, this store says it has {store.indexed}"
    if owner != store.store_id:
        return f"the index with its {documents} documents was filled from another store than this one"
    if not (store.articles or store.indexed or store.waiting):
        return f"this store is empty, its index has {documents} documents"
    return ""
