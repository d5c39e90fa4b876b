"""Decisions of a focused crawl on pages and links. The crawl rebuilds its state from these rows at each start.

FocusedDecision        decision on one page, saved in the transaction of its visit    crawler -> store
StoredFocusedDecision  the decision as stored                                        store -> crawler, administrator
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

from sqlalchemy import ColumnElement, Connection, Select, bindparam, case, func, select, update

from docstore.articles.page_removal import remove_page
from docstore.articles.source_pages import ARCHIVED_PAGES_QUERY, ArchivedPage, archived_page_from_row
from docstore.bookkeeping import OutcomeRow, read_meta_int, write_meta, write_outcomes
from docstore.database import Database, StorePart
from docstore.schema.crawl_tables import focused_decisions, pages, rejected_links, urls
from domain.focused_decision import (
    ALL_DECISIONS,
    DecisionSample,
    FocusedDecision,
    HostHarvest,
    RejectedLink,
    RevisedDecision,
    RevisionResult,
    StoredFocusedDecision,
    StoredFocusedScore,
    TopicCoverage,
)
from domain.message import Message
from domain.outcome import Outcome, Reason, Stage
from domain.storable_text import sanitize_text

_BATCH_SIZE = 200  # rows with words
_SCORE_BATCH_SIZE = 10_000  # rows without words
_MIN_SCORE_CHANGE = 0.005  # smaller changes of a score are not saved
_APPLIED_LABELS_KEY = "applied_labels "  # and the name of the topic


class FocusedDecisionTable(StorePart):
    """Save, load and revise decisions of focused crawls (`store.focused_decisions`)."""

    def iter_decisions(
        self, since_seq: int = 0, sample: DecisionSample = ALL_DECISIONS
    ) -> Iterator[StoredFocusedDecision]:
        """Iterate over the decisions of a sample in order of decision, from `since_seq`. Reads in batches."""
        rows = self._iter_rows(_DECISIONS_QUERY, since_seq, _is_in_sample(sample), _BATCH_SIZE)
        return map(_decision_from_row, rows)

    def iter_unsampled_scores(self, since_seq: int, sample: DecisionSample) -> Iterator[StoredFocusedScore]:
        """Iterate over the scores of all pages outside a sample in order of decision, from `since_seq`.

        Reads in batches.
        """
        rows = self._iter_rows(_SCORES_QUERY, since_seq, ~_is_in_sample(sample), _SCORE_BATCH_SIZE)
        return (StoredFocusedScore(row.url, row.seq, row.score) for row in rows)

    def _iter_rows(
        self, base_query: Select[Any], since_seq: int, condition: ColumnElement[bool], batch_size: int
    ) -> Iterator[Any]:
        keys = (focused_decisions.c.seq, focused_decisions.c.url_id)
        query = base_query.where(condition)
        return chain.from_iterable(self._database.iter_batches_by_keys(query, keys, batch_size, (since_seq, -1)))

    def count(self, before_seq: int | None = None) -> int:
        """Return the number of decided pages, only those before position `before_seq` if it is set."""
        query = select(func.count()).select_from(focused_decisions)
        with self._database.read() as connection:
            return (
                connection.scalar(query if before_seq is None else query.where(focused_decisions.c.seq < before_seq))
                or 0
            )

    def undecided_pages(self, limit: int) -> list[ArchivedPage]:
        """Return the newest `limit` stored pages without a decision, oldest first."""
        query = (
            ARCHIVED_PAGES_QUERY.outerjoin(focused_decisions, focused_decisions.c.url_id == pages.c.url_id)
            .where(focused_decisions.c.url_id.is_(None))
            .order_by(pages.c.fetched_at.desc(), pages.c.url_id.desc())
            .limit(limit)
        )
        with self._database.read() as connection:
            return [archived_page_from_row(row) for row in connection.execute(query)][::-1]

    def save(self, decisions: Sequence[tuple[int, FocusedDecision]]) -> None:
        """Save decisions on pages of the archive, as (url_id, decision) in order."""
        decided_at = self._clock()
        with self._database.write() as connection:
            write_focused_decisions(
                self._database, connection, [(url_id, decision, decided_at) for url_id, decision in decisions]
            )

    def find(self, url: str) -> StoredFocusedDecision | None:
        """Return the decision on a URL, or None."""
        with self._database.read() as connection:
            row = connection.execute(_DECISIONS_QUERY.where(urls.c.url == url)).first()
        return _decision_from_row(row) if row else None

    def find_rejected_link(self, url: str) -> tuple[RejectedLink, str] | None:
        """Return a rejected link and the URL of the page on which it was last seen ("" if unknown), or None."""
        query = (
            select(rejected_links, urls.c.url.label("parent"))
            .outerjoin(urls, urls.c.url_id == rejected_links.c.parent_id)
            .where(rejected_links.c.url == url)
        )
        with self._database.read() as connection:
            row = connection.execute(query).first()
        return (RejectedLink(row.url, row.anchor, row.reason), row.parent or "") if row else None

    def harvest_by_host(self) -> list[HostHarvest]:
        """Return the retained and decided pages by host and strategy, the host with the most pages first."""
        query = (
            select(urls.c.host, focused_decisions.c.strategy, func.count(), func.sum(focused_decisions.c.kept))
            .join(urls, urls.c.url_id == focused_decisions.c.url_id)
            .group_by(urls.c.host, focused_decisions.c.strategy)
            .order_by(func.count().desc(), urls.c.host, focused_decisions.c.strategy)
        )
        with self._database.read() as connection:
            rows = connection.execute(query).all()
        return [HostHarvest(host, name, count, int(retained_count)) for host, name, count, retained_count in rows]

    def coverage(self, topic: str, strategy: str) -> TopicCoverage:
        """Return the estimated quality of the pages that a strategy retained for a topic.

        Labels count from `record_applied_labels` on.
        """
        table = focused_decisions.c
        totals = select(
            func.count(),
            func.coalesce(func.sum(table.kept), 0),
            func.coalesce(func.sum(table.score), 0.0),
            func.coalesce(func.sum(table.score * table.kept), 0.0),
            func.coalesce(func.sum(case((table.score.in_((0.0, 1.0)), 0), else_=1)), 0),
        ).where(table.topic == topic, table.strategy == strategy)
        with self._database.read() as connection:
            decided_count, retained_count, score_sum, retained_sum, uncertain_count = connection.execute(totals).one()
            label_count = read_meta_int(connection, _APPLIED_LABELS_KEY + topic)
        return TopicCoverage(
            *(decided_count, int(retained_count), float(score_sum), float(retained_sum)),
            label_count=label_count,
            uncertain_count=int(uncertain_count),
        )

    def record_applied_labels(self, topic: str, count: int) -> None:
        """Record the number of labels of a topic that the scores take into account."""
        with self._database.write() as connection:
            write_meta(self._database, connection, _APPLIED_LABELS_KEY + topic, count)

    def apply_revisions(self, revisions: Mapping[str, RevisedDecision], strategy: str) -> RevisionResult:
        """Apply revised decisions to pages that `strategy` decided.

        Pages that are no longer relevant leave the store and the index. Works in batches, so that it can be interrupted
        and repeated. `revisions` maps URL -> decision.
        """
        dropped_count = 0
        missing_urls: list[str] = []
        query = _CURRENT_DECISIONS_QUERY.where(focused_decisions.c.strategy == strategy)
        for rows in self._database.iter_batches(query, focused_decisions.c.url_id, _BATCH_SIZE * 10):
            row_revisions = ((row, revisions[row.url]) for row in rows if row.url in revisions)
            changes = [
                (row, revision)
                for row, revision in row_revisions
                if revision.is_retained != bool(row.kept) or abs(revision.score - row.score) > _MIN_SCORE_CHANGE
            ]
            if changes:
                parameters = [
                    {"key": row.url_id, "new_score": revision.score, "new_kept": int(revision.is_retained)}
                    for row, revision in changes
                ]
                dropped_rows = [row for row, revision in changes if not revision.is_retained and row.digest]
                with self._database.write() as connection:
                    connection.execute(_REVISE_STATEMENT, parameters)
                    removed_at = self._clock()
                    for row in dropped_rows:
                        remove_page(self._database, connection, row.url_id, removed_at)
                    outcome = Outcome(Reason.OFF_TOPIC, Message("No longer relevant ({strategy})", strategy=strategy))
                    write_outcomes(
                        self._database,
                        connection,
                        [OutcomeRow(row.url_id, Stage.CRAWL, outcome, removed_at) for row in dropped_rows],
                    )
                dropped_count += len(dropped_rows)
            missing_urls += [
                row.url for row, revision in changes if revision.is_retained and not row.kept and not row.digest
            ]
        return RevisionResult(dropped_count, tuple(missing_urls))

    def update_priorities(self, priorities: Mapping[str, float]) -> None:
        """Set the priorities of URLs that were not fetched yet."""
        if priorities:
            with self._database.write() as connection:
                _write_priorities(connection, priorities)


def write_focused_decisions(
    database: Database, connection: Connection, decisions: Sequence[tuple[int, FocusedDecision, float]]
) -> None:
    """Save decisions as (url_id, decision, epoch seconds) in order.

    The URLs in `FocusedDecision.priorities` must already be in `urls`.
    """
    database.upsert(
        connection,
        focused_decisions,
        [
            {
                "url_id": url_id,
                "seq": decision.seq,
                "strategy": decision.strategy,
                "topic": decision.topic,
                "score": decision.score,
                "kept": int(decision.is_retained),
                "words": decision.packed_words,
            }
            for url_id, decision, _ in decisions
        ],
        update_columns=_UPDATED_COLUMNS,
    )
    priorities: dict[str, float] = {}
    for _, decision, _ in decisions:
        priorities.update(decision.priorities)
    _write_priorities(connection, priorities)
    rows = {
        link.url: {
            "url": link.url,
            "parent_id": url_id,
            "anchor": sanitize_text(link.anchor)[:300],
            "reason": sanitize_text(link.reason)[:300],
            "at": decided_at,
        }
        for url_id, decision, decided_at in decisions
        for link in decision.rejected_links
    }
    database.upsert(connection, rejected_links, list(rows.values()))


def _write_priorities(connection: Connection, priorities: Mapping[str, float]) -> None:
    if priorities:
        connection.execute(_PRIORITY_STATEMENT, [{"address": url, "new": value} for url, value in priorities.items()])


def _is_in_sample(sample: DecisionSample) -> ColumnElement[bool]:
    """SQL condition on rows of `focused_decisions` joined with `urls`."""
    return (focused_decisions.c.seq % sample.interval == 0) | urls.c.url.in_(sample.always_included_urls)


def _decision_from_row(row: Any) -> StoredFocusedDecision:
    return StoredFocusedDecision(row.url, row.seq, row.strategy, row.topic, row.score, bool(row.kept), row.words)


_UPDATED_COLUMNS = (
    "strategy",
    "topic",
    "score",
    "kept",
    "words",
)  # not `seq`: a page that is fetched again keeps its position
_DECISIONS_QUERY = select(focused_decisions, urls.c.url).join(urls, urls.c.url_id == focused_decisions.c.url_id)
_SCORES_QUERY = select(focused_decisions.c.seq, focused_decisions.c.url_id, focused_decisions.c.score, urls.c.url).join(
    urls, urls.c.url_id == focused_decisions.c.url_id
)
_CURRENT_DECISIONS_QUERY = select(
    focused_decisions.c.url_id, focused_decisions.c.score, focused_decisions.c.kept, urls.c.url, urls.c.digest
).join(urls, urls.c.url_id == focused_decisions.c.url_id)
_REVISE_STATEMENT = (
    update(focused_decisions)
    .where(focused_decisions.c.url_id == bindparam("key"))
    .values(score=bindparam("new_score"), kept=bindparam("new_kept"))
)
_PRIORITY_STATEMENT = (
    update(urls)
    .where(urls.c.url == bindparam("address"), urls.c.visited_at.is_(None))
    .values(priority=bindparam("new"))
)
