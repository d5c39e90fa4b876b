"""Counts citations among the documents of a collection as the store does, in a separate store."""

import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from docstore.articles.citations import count_max_sources_by_host, count_sources
from docstore.store import open_sqlite_store
from domain.article import StoredArticle
from domain.batches import batched
from indexer.article_relations import extract_citations

BATCH = 1000


def with_citations(documents: Sequence[StoredArticle]) -> list[StoredArticle]:
    """Return the articles, each with the number of others that cite it."""
    placed = [replace(document, url_id=place) for place, document in enumerate(documents)]
    with tempfile.TemporaryDirectory() as folder, open_sqlite_store(Path(folder)) as store:
        for batch in batched(placed, BATCH):
            store.citations.save([extract_citations(document) for document in batch], [])
        counts: dict[int, int] = {}
        with store._database.read() as connection:
            limits = count_max_sources_by_host(connection)
            for ids in batched(range(len(placed)), BATCH):
                counts |= count_sources(connection, ids, limits)
    return [replace(document, citation_count=counts.get(document.url_id, 0)) for document in placed]
