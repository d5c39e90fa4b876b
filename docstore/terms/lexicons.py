"""Candidate terms with their review status, and the published versions of the lexicon."""

import json
import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sqlalchemy import Connection, delete, func, select, update

from docstore.bookkeeping import MINED_TEXT_VERSION_KEY, TEXT_VERSION_KEY, log_unless_pending, read_meta_int, write_meta
from docstore.database import Database
from docstore.integrity.row_checksums import update_row_checksums
from docstore.operations import write_operation
from docstore.schema.base import store_meta
from docstore.schema.lexicon_tables import lexicon_entries, lexicons, terms
from docstore.terms.review_history import ReviewHistory
from docstore.terms.review_queue import NEVER_RANKED, RANKED_TEXT_VERSION_KEY
from docstore.terms.row_mapping import lexicon_entry_from_row, lexicon_from_row, term_from_row, term_row, to_json_list
from domain.batches import batched
from domain.errors import LexiconError
from domain.index_change import IndexOperation
from domain.storable_text import sanitize_text
from domain.term import AUTOMATIC_ACTOR, Lexicon, PublishedTermStates, Term, TermStatus
from text.pinyin import has_han

BATCH_SIZE = 500
# From these figures readers see a Chinese term that no person has decided on; none suffice in other languages
# (docs/decisions/0145-words-and-terms.md).
MIN_PUBLIC_PROBABILITY, MIN_PUBLIC_ARTICLES = 0.9, 8
EVIDENCE_COLUMNS = ("score", "frequency", "documents", "tags", "contexts", "parts", "place", "mined_at")
APPLIED_VERSION = select(func.max(lexicons.c.version)).where(lexicons.c.applied_at.is_not(None))
BLOCKED_VERSION_KEY = "blocked_lexicon"
NEW_TERM_VERSIONS = 2  # a term is new in this number of versions
REOPEN_FREQUENCY_FACTOR = 2  # a rejected term is a candidate again if its frequency grew by this factor


@dataclass(frozen=True)
class BlockedVersion:
    """An automatic lexicon version that was not published, see `LexiconTable.save_blocked_version`."""

    at: float
    lost_count: int
    gained_count: int
    query_count: int


class LexiconTable:
    """Save candidate terms, and publish and load lexicon versions (`store.lexicons`).

    Versions are numbered from 1 and immutable. Version 0 is the empty lexicon.
    """

    def __init__(self, database: Database, clock: Callable[[], float] = time.time) -> None:
        self._database = database
        self._clock = clock
        self._review_history = ReviewHistory(database, clock)

    def are_candidates_outdated(self) -> bool:
        """True if any article was added or changed since the last term mining."""
        with self._database.read() as connection:
            return read_meta_int(connection, TEXT_VERSION_KEY) != read_meta_int(connection, MINED_TEXT_VERSION_KEY)

    def has_pending_step(self, *steps: str) -> bool:
        """True if one of the steps that follow a term mining was not finished since the last one."""
        with self._database.read() as connection:
            mined_version = read_meta_int(connection, MINED_TEXT_VERSION_KEY)
            return any(read_meta_int(connection, f"{step}_version") != mined_version for step in steps)

    def finish_step(self, step: str) -> None:
        """Record that a step is finished, see `has_pending_step`."""
        with self._database.write() as connection:
            mined_version = read_meta_int(connection, MINED_TEXT_VERSION_KEY)
            write_meta(self._database, connection, f"{step}_version", mined_version)

    def replace_candidates(self, mined_terms: Sequence[Term], text_version: int = 0) -> int:
        """Save newly mined terms. Returns the number of new terms.

        Review decisions do not change, except that a rejected term whose frequency doubled becomes a candidate again.
        Undecided terms that were not mined again are deleted.

        Args:
            mined_terms: All mined terms.
            text_version: Text version before the articles were read (`ArticleTable.text_version`).
        """
        now = self._clock()
        with self._database.write() as connection:
            count_before = connection.scalar(select(func.count()).select_from(terms)) or 0
            for batch in batched(mined_terms, BATCH_SIZE):
                rows = [term_row(term, now, now) for term in batch]
                self._database.upsert(connection, terms, rows, update_columns=EVIDENCE_COLUMNS)
            count_after = connection.scalar(select(func.count()).select_from(terms)) or 0
            is_stale = terms.c.mined_at != now  # not only earlier: the clock may have been set back
            connection.execute(delete(terms).where(terms.c.status == TermStatus.CANDIDATE, is_stale))
            has_doubled = terms.c.frequency >= REOPEN_FREQUENCY_FACTOR * func.coalesce(
                func.nullif(terms.c.decided_on, 0), 1
            )
            reopened_texts = select(terms.c.text).where(
                terms.c.status == TermStatus.REJECTED, terms.c.mined_at == now, has_doubled
            )
            self._review_history.reopen_terms(connection, connection.scalars(reopened_texts).all())
            write_meta(self._database, connection, MINED_TEXT_VERSION_KEY, text_version)
            write_meta(self._database, connection, RANKED_TEXT_VERSION_KEY, NEVER_RANKED)
        return count_after - count_before

    def status_counts(self) -> dict[TermStatus, int]:
        """Return the number of terms by status."""
        query = select(terms.c.status, func.count()).group_by(terms.c.status)
        with self._database.read() as connection:
            count_by_status = {TermStatus(status): count for status, count in connection.execute(query)}
        return {status: count_by_status.get(status, 0) for status in TermStatus}

    def accepted_terms(self) -> list[Term]:
        """Return all accepted terms, sorted by text."""
        query = select(terms).where(terms.c.status == TermStatus.ACCEPTED).order_by(terms.c.text)
        with self._database.read() as connection:
            return [term_from_row(row) for row in connection.execute(query)]

    def publish(self, lexicon: Lexicon) -> Lexicon:
        """Save a new version. Returns it with its time of publication.

        Raises:
            LexiconError: Another version was published meanwhile.
        """
        new_version = replace(lexicon, published_at=self._clock(), applied_at=None)
        with self._database.write() as connection:
            latest = connection.scalar(select(func.max(lexicons.c.version))) or 0
            if new_version.version != latest + 1:
                raise LexiconError(
                    "Version {version} was published in the meantime. Check the changes and publish again.",
                    version=str(latest),
                )
            row = {
                "version": new_version.version,
                "published_at": new_version.published_at,
                "note": new_version.note,
                "by_whom": new_version.published_by,
            }
            connection.execute(lexicons.insert(), [row])
            rows = [
                {
                    "version": new_version.version,
                    "text": entry.text,
                    "frequency": entry.frequency,
                    "tag": entry.pos_tag,
                    "synonyms": to_json_list(entry.synonyms),
                    "category": entry.category,
                    "broader": to_json_list(entry.broader_terms),
                }
                for entry in new_version.entries
            ]
            if rows:
                connection.execute(lexicon_entries.insert(), rows)
            for table in (lexicons, lexicon_entries):
                update_row_checksums(self._database, connection, table, [new_version.version])
            at, version = new_version.published_at or 0.0, str(new_version.version)
            write_operation(self._database, connection, at, new_version.published_by, "lexicon_publish", version)
            connection.execute(delete(store_meta).where(store_meta.c.key == BLOCKED_VERSION_KEY))
        return new_version

    def mark_considered(self) -> None:
        """Record that a run has chosen which candidates to accept, see `texts_with_new_evidence`."""
        # Those that a person has decided on keep the state to which an undo returns.
        is_untouched = (terms.c.status == TermStatus.CANDIDATE) & (terms.c.version == 0)
        change = update(terms).where(is_untouched).values(decided_on=terms.c.frequency)
        with self._database.write() as connection:
            connection.execute(change)

    def texts_with_new_evidence(self) -> frozenset[str]:
        """Return the candidates that occur more often than at the last `mark_considered`."""
        has_grown = (terms.c.status == TermStatus.CANDIDATE) & (terms.c.frequency > terms.c.decided_on)
        with self._database.read() as connection:
            return frozenset(connection.scalars(select(terms.c.text).where(has_grown)))

    def save_blocked_version(self, at: float, lost_count: int, gained_count: int, query_count: int) -> None:
        """Record that an automatic version was not published, until a version is published.

        Args:
            at: Time of the check, in epoch seconds.
            lost_count: Articles that only the previous version finds first.
            gained_count: Articles that only the new version finds first.
            query_count: Articles checked.
        """
        value = json.dumps({"at": at, "lost": lost_count, "gained": gained_count, "of": query_count})
        row = {"key": BLOCKED_VERSION_KEY, "value": value}
        with self._database.write() as connection:
            self._database.upsert(connection, store_meta, [row], update_columns=("value",))

    def blocked_version(self) -> BlockedVersion | None:
        """Return the record of `save_blocked_version`; None if there is none."""
        with self._database.read() as connection:
            value = connection.scalar(select(store_meta.c.value).where(store_meta.c.key == BLOCKED_VERSION_KEY))
        if value is None:
            return None
        record = json.loads(value)
        return BlockedVersion(record["at"], record["lost"], record["gained"], record["of"])

    def load_latest(self) -> Lexicon:
        """Return the newest published version, or version 0."""
        with self._database.read() as connection:
            return self._load(connection, select(func.max(lexicons.c.version)))

    def load_applied(self) -> Lexicon:
        """Return the newest version with which documents are segmented, or version 0."""
        with self._database.read() as connection:
            return self._load(connection, APPLIED_VERSION)

    def applied_version(self) -> int:
        """Return the number of the version with which documents are segmented, without loading it."""
        with self._database.read() as connection:
            return connection.scalar(APPLIED_VERSION) or 0

    def load_version(self, version_number: int) -> Lexicon:
        """Return a published version; the empty lexicon if it does not exist."""
        with self._database.read() as connection:
            return self._load(connection, select(lexicons.c.version).where(lexicons.c.version == version_number))

    def latest_version(self) -> int:
        """Return the number of the newest published version, without loading it."""
        with self._database.read() as connection:
            return connection.scalar(select(func.max(lexicons.c.version))) or 0

    def list_versions(self) -> list[tuple[Lexicon, int]]:
        """Return all versions without entries, newest first, with the number of entries of each."""
        count = (
            select(lexicon_entries.c.version, func.count().label("size")).group_by(lexicon_entries.c.version).subquery()
        )
        query = (
            select(lexicons, count.c.size)
            .outerjoin(count, count.c.version == lexicons.c.version)
            .order_by(lexicons.c.version.desc())
        )
        with self._database.read() as connection:
            return [(lexicon_from_row(row, ()), row.size or 0) for row in connection.execute(query)]

    def published_term_states(self, version_number: int) -> PublishedTermStates:
        """Return which terms of a version are hidden from readers, and which are new."""
        base = max(1, version_number - NEW_TERM_VERSIONS)
        base_texts = select(lexicon_entries.c.text).where(lexicon_entries.c.version == base)
        entry_texts = select(lexicon_entries.c.text).where(lexicon_entries.c.version == version_number)
        is_likely = terms.c.score.between(MIN_PUBLIC_PROBABILITY, 1.0) & (terms.c.documents >= MIN_PUBLIC_ARTICLES)
        is_withdrawn, is_automatic = terms.c.status != TermStatus.ACCEPTED, terms.c.decided_by == AUTOMATIC_ACTOR
        query = select(terms.c.text, is_likely & ~is_withdrawn).where(terms.c.text.in_(entry_texts))
        with self._database.read() as connection:
            rows = connection.execute(query.where(is_withdrawn | is_automatic)).all()
            return PublishedTermStates(
                frozenset(text for text, is_likely in rows if not (is_likely and has_han(text))),
                frozenset(connection.scalars(entry_texts)) - frozenset(connection.scalars(base_texts)),
            )

    def first_version(self, text: str) -> Lexicon | None:
        """Return the oldest version with a term, without its entries; None if no version has it."""
        query = (
            select(lexicons)
            .join(lexicon_entries, lexicon_entries.c.version == lexicons.c.version)
            .where(lexicon_entries.c.text == sanitize_text(text))
            .order_by(lexicons.c.version)
            .limit(1)
        )
        with self._database.read() as connection:
            row = connection.execute(query).first()
        return None if row is None else lexicon_from_row(row, ())

    def mark_applied(self, version: int, url_ids: Collection[int]) -> int:
        """Record that documents are now segmented with `version`, and log the documents to segment again.

        Returns their number. Documents that the log contains already are segmented with `version` anyway.
        """
        now = self._clock()
        with self._database.write() as connection:
            connection.execute(update(lexicons).where(lexicons.c.version == version).values(applied_at=now))
            return log_unless_pending(connection, IndexOperation.RESEGMENT, url_ids, now)

    def _load(self, connection: Connection, version_query: Any) -> Lexicon:
        row = connection.execute(select(lexicons).where(lexicons.c.version == version_query.scalar_subquery())).first()
        if row is None:
            return Lexicon()
        query = select(lexicon_entries).where(lexicon_entries.c.version == row.version).order_by(lexicon_entries.c.text)
        entries = tuple(lexicon_entry_from_row(lexicon_entry_row) for lexicon_entry_row in connection.execute(query))
        return lexicon_from_row(row, entries)
