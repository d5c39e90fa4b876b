"""Ownership of an index: decided by counts and ids, stored in a real Solr."""

import pytest

from indexer.index_ownership import StoreSnapshot, ownership_error
from indexer.solr_index import SolrIndex
from tests.solr_fixture import index_at

MINE, OTHER = "a" * 32, "b" * 32


@pytest.mark.parametrize(
    ("owner", "documents", "store", "part"),
    [
        (MINE, 549, StoreSnapshot(MINE, 549, 549, 0), ""),
        (MINE, 549, StoreSnapshot(MINE, 400, 400, 3), ""),
        (MINE, 549, StoreSnapshot(MINE, 0, 549, 549), ""),
        (MINE, 549, StoreSnapshot(MINE, 0, 0, 0), "this store is empty, its index has 549 documents"),
        (OTHER, 549, StoreSnapshot(MINE, 549, 549, 0), "was filled from another store"),
        (OTHER, 549, StoreSnapshot(MINE, 0, 0, 0), "was filled from another store"),
        (OTHER, 0, StoreSnapshot(MINE, 549, 549, 0), ""),
        ("", 0, StoreSnapshot(MINE, 549, 549, 0), ""),
        ("", 549, StoreSnapshot(MINE, 549, 549, 0), ""),
        ("", 549, StoreSnapshot(MINE, 540, 540, 10), ""),
        ("", 540, StoreSnapshot(MINE, 549, 549, 9), ""),
        ("", 549, StoreSnapshot(MINE, 0, 0, 0), "the index has 549 documents, this store recorded 0"),
        ("", 549, StoreSnapshot(MINE, 30, 30, 2), "the index has 549 documents, this store recorded 30"),
    ],
    ids=[
        *("its own", "restored from an older backup", "all its articles are gone", "restored from an empty backup"),
        *("another", "another, empty", "another, of which nothing is left", "new", "of an older program"),
        *("killed before it noted", "killed before it wrote", "missing store", "another's, of an older program"),
    ],
)
def test_what_a_store_may_touch(owner: str, documents: int, store: StoreSnapshot, part: str) -> None:
    fault = ownership_error(owner, documents, store)
    assert part in fault if part else fault == ""


@pytest.mark.solr
def test_the_owner_is_kept_with_the_alias(solr_index: SolrIndex) -> None:
    assert solr_index.get_owner() == ""
    solr_index.set_owner(MINE)
    assert solr_index.get_owner() == MINE
    solr_index.switch_alias()  # as after a changed schema
    again = index_at(solr_index.base_url, solr_index.collection)
    assert again.get_owner() == MINE
    again.set_owner(OTHER)
    assert solr_index.get_owner() == OTHER
