"""The change log between the store and the index.

The indexer reads a batch of entries, writes the documents to Solr, then acknowledges the batch. Delivery is at least
once, in order, and idempotent. An entry that arrives while a batch is in flight gets a higher sequence number and is
part of the next batch. If a document has several entries, only the newest is delivered: the indexer always writes the
current state of the document.
"""

from collections.abc import Iterator, Sequence

from sqlalchemy import bindparam, delete, exists, func, insert, literal, select

from docstore.bookkeeping import OutcomeRow, write_outcomes
from docstore.database import StorePart
from docstore.schema.article_tables import articles, index_changes, indexed_documents
from docstore.schema.crawl_tables import outcomes, urls
from domain.article import document_id
from domain.index_change import IndexChange, IndexOperation, IndexResult
from domain.outcome import Reason, Stage

ID_BATCH_SIZE = 5000
DELETE_ACKNOWLEDGED = delete(index_changes).where(
    index_changes.c.url_id == bindparam("changed_id"), index_changes.c.seq <= bindparam("last_seq")
)


class ChangeLog(StorePart):
    """Read and acknowledge changes that the index still has to apply (`store.change_log`)."""

    def pending(self, limit: int, after_seq: int = 0) -> list[IndexChange]:
        """Return the oldest `limit` pending entries with a sequence number above `after_seq`.

        If a URL has several entries, only its newest entry is returned.
        """
        newer_change = index_changes.alias()
        is_superseded = exists().where(
            newer_change.c.url_id == index_changes.c.url_id, newer_change.c.seq > index_changes.c.seq
        )
        query = (
            select(index_changes, urls.c.url)
            .join(urls, urls.c.url_id == index_changes.c.url_id)
            .where(index_changes.c.seq > after_seq, ~is_superseded)
            .order_by(index_changes.c.seq)
            .limit(limit)
        )
        with self._database.read() as connection:
            return [
                IndexChange(row.seq, row.url_id, row.url, IndexOperation(row.op), row.at)
                for row in connection.execute(query)
            ]

    def pending_document_count(self) -> int:
        """Return the number of documents that are pending indexing."""
        with self._database.read() as connection:
            return connection.scalar(select(func.count(index_changes.c.url_id.distinct()))) or 0

    def acknowledge(self, batch: Sequence[IndexChange], results: Sequence[IndexResult]) -> None:
        """Record results that Solr has confirmed and delete the entries of the batch, in one transaction.

        Older entries of the same documents are deleted too.
        """
        now = self._clock()
        indexed_results = [result for result in results if result.outcome.reason is Reason.INDEXED]
        removed_ids = [result.url_id for result in results if result.outcome.reason is not Reason.INDEXED]
        rows = [
            {
                "url_id": result.url_id,
                "digest": result.digest,
                "lexicon_version": result.lexicon_version,
                "indexed_at": now,
            }
            for result in indexed_results
        ]
        with self._database.write() as connection:
            self._database.upsert(connection, indexed_documents, rows)
            connection.execute(delete(indexed_documents).where(indexed_documents.c.url_id.in_(removed_ids)))
            write_outcomes(
                self._database,
                connection,
                [OutcomeRow(result.url_id, Stage.INDEX, result.outcome, now, result.digest) for result in results],
            )
            if batch:
                rows = [{"changed_id": change.url_id, "last_seq": change.seq} for change in batch]
                connection.execute(DELETE_ACKNOWLEDGED, rows)

    def enqueue_all(self) -> int:
        """Add every article to the change log, to fill a new Solr collection. Returns the number of articles."""
        source = select(articles.c.url_id, literal(IndexOperation.UPSERT.value), literal(self._clock()))
        with self._database.write() as connection:
            connection.execute(delete(indexed_documents))
            connection.execute(delete(outcomes).where(outcomes.c.stage == Stage.INDEX))
            statement = insert(index_changes).from_select(["url_id", "op", "at"], source)
            return connection.execute(statement, execution_options={"preserve_rowcount": True}).rowcount

    def iter_indexed_ids(self) -> Iterator[str]:
        """Yield the ids of the documents in the index according to the store."""
        query = select(indexed_documents.c.url_id, urls.c.url).join(urls, urls.c.url_id == indexed_documents.c.url_id)
        for rows in self._database.iter_batches(query, indexed_documents.c.url_id, ID_BATCH_SIZE):
            yield from (document_id(row.url) for row in rows)

    def indexed_document_count(self) -> int:
        """Return the number of documents in the index according to the store."""
        with self._database.read() as connection:
            return connection.scalar(select(func.count()).select_from(indexed_documents)) or 0
