"""Keeping what extraction made of pages, in one transaction: own articles, page roles, near-duplicates, outcomes.

Extraction -> ties, what the site can learn              docstore/grouping/page_graph.py, site_templates.py
           -> PageRole of each page, and of those around it  docstore/grouping/resolve.py
           -> articles, parts, bands, outcomes, changes   here and docstore/grouping/near_duplicates.py
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import Connection, Row, and_, case, delete, func, select, update

from docstore.articles.records import TEXT_VERSION, Op, OutcomeRow, number, write_changes, write_number, write_outcomes
from docstore.articles.rows import article_json, article_row
from docstore.database import Database
from docstore.formats import HTML, format_of_type
from docstore.grouping.near_duplicates import Grouping, regroup
from docstore.grouping.page_graph import OwnArticle, renew_ties
from docstore.grouping.resolve import PageRole, resolve
from docstore.grouping.site_templates import learn
from docstore.grouping.url_patterns import ListEvidence, Sibling, sibling_of
from docstore.integrity.row_sums import seal
from docstore.model import Article, Kind, Outcome, PageTraits, PageType, Reason, Stage, Teaser, WarcPointer
from docstore.schema.article_tables import articles, parts
from docstore.schema.crawl_tables import outcomes, urls

# Pages whose worth lies in their links: the crawl asks them again in every run.
HUB_REASONS = frozenset({Reason.LIST_PAGE, Reason.NO_BODY, Reason.NEEDS_SCRIPTS})
ARTICLE_REASONS = frozenset(
    {Reason.EXTRACTED, Reason.SAME_ARTICLE, Reason.CONTINUATION, Reason.DOUBLE, Reason.SUSPECT_BODY}
)
KEPT_REASONS = frozenset({Reason.EXTRACTED, Reason.SAME_ARTICLE})  # a warning takes their place
NOTHING_ELSE: Mapping[int, Reason] = {}
TOLD_OF_OTHERS = ("duplicate_of", "series", "citations", "story")  # columns that other articles decide
RENEWED = tuple(c.name for c in articles.columns if not c.primary_key and c.name not in TOLD_OF_OTHERS)


@dataclass(frozen=True)
class PendingPage:
    """A page that waits for extraction: where its bytes are and what is known of them (times in epoch seconds)."""

    url_id: int
    url: str
    content_type: str
    digest: str
    pointer: WarcPointer
    fetched_at: float = 0.0
    host: str = ""

    @property
    def is_document(self) -> bool:
        """Is it kept as a document, and not as a page?"""
        return format_of_type(self.content_type) != HTML


@dataclass(frozen=True)
class Extraction:
    """What extraction made of one page: an article, or an outcome that says why there is none; and what it teaches.

    `teaser`, `vouched` and `warning`: see `docstore.model.Reading`.
    """

    page: PendingPage
    result: Article | Outcome
    learned: PageTraits = field(default_factory=PageTraits)
    teaser: Teaser | None = None
    vouched: bool = True
    warning: Outcome | None = None


@dataclass(frozen=True)
class ExtractionWriter:
    """Writes what extraction made of a batch of pages, in the transaction of `connection`.

    `now` is the time of writing in epoch seconds, `grouping` says how copies are told.
    """

    database: Database
    connection: Connection
    now: float
    grouping: Grouping = field(default_factory=Grouping)

    def save(self, extractions: Sequence[Extraction]) -> list[Reason]:
        """Keep a batch. Returns what became of each page, then of pages of other batches whose role it has changed."""
        lost = {e.page.url_id for e in extractions if is_lost(e)}
        read = [e for e in extractions if e.page.url_id not in lost]
        learn(self.connection, [(e.page.url_id, e.page.host, e.learned) for e in read])
        siblings = {
            e.page.url_id: sibling_of(e.page.url_id, e.page.url, seen) for e in read if (seen := seen_in(e)) is not None
        }
        ends = self.keep({e.page.url_id: own_of(e) for e in read}, siblings)
        ends |= {e.page.url_id: e.result for e in extractions if isinstance(e.result, Outcome)}
        ends |= warnings_of(read, ends)
        inputs = inputs_of(self.connection, list(ends)) | {e.page.url_id: e.page.digest for e in read}
        for url_id in lost:  # the old article is better than none; the page waits on
            ask_again(self.connection, url_id)
            inputs[url_id] = ""
        told = dict.fromkeys(collections_in(read), Reason.LIST_PAGE)  # their links are worth as much as a list's
        told |= {e.page.url_id: Reason.EXTRACTED for e in extractions if e.page.is_document}  # they have no links
        self.write(ends, inputs, told)
        order = dict.fromkeys([*(e.page.url_id for e in extractions), *sorted(ends)])
        return [ends[url_id].reason for url_id in order]

    def forget(self, url_ids: Sequence[int]) -> list[Reason]:
        """These pages are gone: resolve anew the pages that depended on them. Returns what became of those."""
        settled = self.keep(dict.fromkeys(url_ids), {})
        self.write(settled, inputs_of(self.connection, list(settled)))
        return [outcome.reason for outcome in settled.values()]

    def write(
        self, ends: Mapping[int, Outcome], inputs: Mapping[int, str], told: Mapping[int, Reason] = NOTHING_ELSE
    ) -> None:
        """Keep outcomes, and tell the crawl what the pages are: by their outcome, or by `told`, where that differs."""
        for url_id, outcome in ends.items():
            set_kind(self.connection, url_id, told.get(url_id, outcome.reason))
        rows = [
            OutcomeRow(url_id, Stage.EXTRACT, outcome, self.now, inputs.get(url_id, ""))
            for url_id, outcome in ends.items()
        ]
        write_outcomes(self.database, self.connection, rows)

    def keep(self, fresh: Mapping[int, OwnArticle | None], siblings: Mapping[int, Sibling]) -> dict[int, Outcome]:
        """Keep the articles of these pages (None: it has none) and of those they change; returns the outcomes of the
        pages that have an article or are parts of one, of the others only where it is a new one.

        `siblings` are those of the pages that are articles or lists.
        """
        old_next = renew_ties(self.database, self.connection, fresh)
        roles = resolve(self.database, self.connection, fresh, old_next, siblings)
        before = rows_of(self.connection, [*roles, *fresh])
        gone = [url_id for url_id in before if url_id not in roles or roles[url_id].article is None]
        self.keep_parts(roles, fresh)
        connection = self.connection
        connection.execute(delete(articles).where(articles.c.url_id.in_(gone)))
        seal(self.database, connection, articles, gone)
        write_changes(connection, Op.DELETE, gone, self.now)
        self.keep_articles(roles, before, [before[url_id].doc_id for url_id in gone])
        known = outcomes_of(connection, [url_id for url_id in roles if url_id not in fresh])
        ends = {url_id: end_of(role, before.get(url_id)) for url_id, role in roles.items()}
        return {url_id: end for url_id, end in ends.items() if url_id in fresh or is_news(end, known.get(url_id))}

    def keep_parts(self, roles: Mapping[int, PageRole], fresh: Mapping[int, OwnArticle | None]) -> None:
        """Keep a page's own article beside the store's, where that is another."""
        rows = [
            {"url_id": url_id, "whole_id": role.whole_id, "article": article_json(role.own.article)}
            for url_id, role in roles.items()
            if role.article is None or role.pages > 1
        ]
        rest = {*roles, *fresh} - {row["url_id"] for row in rows}
        self.connection.execute(delete(parts).where(parts.c.url_id.in_(rest)))
        self.database.upsert(self.connection, parts, rows, update=("whole_id", "article"))

    def keep_articles(self, roles: Mapping[int, PageRole], before: Mapping[int, Row[Any]], gone: Sequence[str]) -> None:
        """Write the articles, log those that a reader sees changed, and find whose copies they are."""
        wholes = {url_id: role for url_id, role in roles.items() if role.article is not None}
        rows = [row_of(role, before.get(url_id), self.now) for url_id, role in wholes.items()]
        self.database.upsert(self.connection, articles, rows, update=RENEWED)
        seal(self.database, self.connection, articles, wholes)
        texts = [row["url_id"] for row in rows if differs(row, before.get(row["url_id"]), "digest")]
        if texts:
            version = number(self.connection, TEXT_VERSION) + 1
            write_number(self.database, self.connection, TEXT_VERSION, version)
        changed = [row["url_id"] for row in rows if differs(row, before.get(row["url_id"]), "digest", "signature")]
        typed = [row["url_id"] for row in rows if differs(row, before.get(row["url_id"]), "page_type")]
        moved = regroup(self.connection, self.database, changed, gone, self.grouping)
        write_changes(self.connection, Op.UPSERT, dict.fromkeys([*texts, *typed, *moved]), self.now)


def is_lost(extraction: Extraction) -> bool:
    """Could the page not be read? It says nothing of what the page is."""
    return isinstance(extraction.result, Outcome) and extraction.result.reason is Reason.LOST_PAGE


def own_of(extraction: Extraction) -> OwnArticle | None:
    """The page's own article."""
    page, result = extraction.page, extraction.result
    if not isinstance(result, Article):
        return None
    return OwnArticle(page.url_id, page.url, page.host, result, extraction.teaser)


def warnings_of(extractions: Iterable[Extraction], ends: Mapping[int, Outcome]) -> dict[int, Outcome]:
    """What is recorded in place of the good end of a page whose article is kept with a warning: url_id -> outcome."""
    found = {}
    for one in extractions:
        end = ends.get(one.page.url_id)
        if one.warning is not None and end is not None and end.reason in KEPT_REASONS:
            found[one.page.url_id] = one.warning
    return found


def collections_in(extractions: Iterable[Extraction]) -> frozenset[int]:
    """The pages whose article is a collection: they lead to others as a list does."""
    return frozenset(
        one.page.url_id
        for one in extractions
        if isinstance(one.result, Article) and one.result.page_type == PageType.COLLECTION
    )


def seen_in(extraction: Extraction) -> ListEvidence | None:
    """What a page is by itself; None for one that says nothing of its siblings."""
    if isinstance(extraction.result, Outcome):
        return ListEvidence.LIST if extraction.result.reason is Reason.LIST_PAGE else None
    return ListEvidence.VOUCHED if extraction.vouched else ListEvidence.UNVOUCHED


def row_of(role: PageRole, before: Row[Any] | None, now: float) -> dict[str, Any]:
    """The `articles` row of a page; one that a reader sees unchanged keeps its time."""
    assert role.article is not None
    row = article_row(role.own.url_id, role.own.url, role.article, now)
    if before is not None and before.digest == row["digest"]:
        row["extracted_at"] = before.extracted_at
    return row


def differs(row: Mapping[str, Any], before: Row[Any] | None, *names: str) -> bool:
    """Is the row new, or another than before in one of these columns?"""
    return before is None or any(getattr(before, name) != row[name] for name in names)


def end_of(role: PageRole, before: Row[Any] | None) -> Outcome:
    """The outcome of a page by its role; `before` is the article that was kept of it, None for a new one."""
    if role.article is None:
        return role.outcome or Outcome(Reason.FAILED)
    if before is not None and before.digest == role.article.digest:
        return Outcome(Reason.SAME_ARTICLE)
    joined = f", joined of {role.pages} pages" if role.pages > 1 else ""
    return Outcome(Reason.EXTRACTED, role.article.method + joined)


def is_news(end: Outcome, known: Row[Any] | None) -> bool:
    """Does a page that was not extracted now need another outcome?"""
    if end.reason in (Reason.SAME_ARTICLE, Reason.EXTRACTED):
        return end.reason is Reason.EXTRACTED
    return known is None or (known.reason, known.detail) != (end.reason, end.detail[:500])


def rows_of(connection: Connection, url_ids: Iterable[int]) -> dict[int, Row[Any]]:
    """What of the articles that were kept before is compared with the new ones: url_id -> row."""
    columns = [articles.c[name] for name in ("url_id", "doc_id", "digest", "signature", "page_type", "extracted_at")]
    query = select(*columns).where(articles.c.url_id.in_(set(url_ids)))
    return {row.url_id: row for row in connection.execute(query)}


def outcomes_of(connection: Connection, url_ids: Sequence[int]) -> dict[int, Row[Any]]:
    """The last outcomes of extraction: url_id -> row."""
    query = select(outcomes).where(outcomes.c.stage == Stage.EXTRACT, outcomes.c.url_id.in_(url_ids))
    return {row.url_id: row for row in connection.execute(query)}


def inputs_of(connection: Connection, url_ids: Sequence[int]) -> dict[int, str]:
    """The digests of the versions that pages were last extracted from: url_id -> digest."""
    known = outcomes_of(connection, url_ids)
    return {url_id: known[url_id].input for url_id in known}


def ask_again(connection: Connection, url_id: int) -> None:
    """Let the next crawl fetch a page whole, without a condition, unless it is never to be asked again: its record is
    lost, and its file may not be put back.
    """
    due = case((urls.c.due_at.is_(None), None), else_=0.0)
    values = {"etag": "", "last_modified": "", "digest": "", "due_at": due}
    connection.execute(update(urls).where(urls.c.url_id == url_id).values(values))


def set_kind(connection: Connection, url_id: int, reason: Reason) -> None:
    """Tell the crawl what the page is. A hub is due again in the next run, whatever was set for it before."""
    mine = and_(urls.c.url_id == url_id, urls.c.kind != Kind.SEED)
    if reason in HUB_REASONS:
        due = func.coalesce(urls.c.visited_at, 0.0)
        connection.execute(update(urls).where(mine, urls.c.kind != Kind.HUB).values(kind=Kind.HUB, due_at=due))
    elif reason in ARTICLE_REASONS:
        connection.execute(update(urls).where(mine).values(kind=Kind.ARTICLE))
