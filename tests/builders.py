"""What tests of several packages make: pages, articles and terms of a store, an index, parsed pages of the site."""

import hashlib
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from math import log
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from bs4 import BeautifulSoup
from flask.testing import FlaskClient
from sqlalchemy import func, select

from docstore.articles.extraction_writer import PageExtraction
from docstore.schema.article_tables import vectors
from docstore.schema.crawl_tables import outcomes, urls
from docstore.store import Store
from domain.alert import Alert, AlertKey
from domain.article import Article, StoredArticle, document_id
from domain.frontier import FrontierEntry, NewUrl, UrlKind, Visit
from domain.operation import Change, Operation
from domain.outcome import Outcome, Reason, Stage
from domain.page import Page
from domain.review import ReviewDecision, ReviewDecisionKind, TermEdit
from domain.term import Lexicon, LexiconEntry, Term, TermStatus
from indexer.article_relations import update_relations
from indexer.document_mapping import TextAnalysis, to_solr_document
from pipeline.operations import declare_operations
from pipeline.settings import Settings
from search_ui.query.solr_client import SolrSearchClient
from tests.solr_fixture import SHARDS, index_at
from text.segment import RjiebaSegmenter, base_segmenter

NO_TERMS = Lexicon()


def stored_article(number: int, site: str, title: str, body: str, published: str = "", **fields: Any) -> StoredArticle:
    """Return the article at `http://SITE/NUMBER`; `fields` are further fields of `Article`."""
    url = f"http://{site}/{number}"
    return StoredArticle(number, document_id(url), site, Article(url, title, body, published, **fields))


def lexicon_of(terms: Iterable[str]) -> Lexicon:
    """Return a first version with these terms."""
    return Lexicon(1, tuple(LexiconEntry(text) for text in terms))


@contextmanager
def indexed(
    url: str, name: str, articles: Iterable[StoredArticle], lexicon: Lexicon = NO_TERMS, shards: int = SHARDS
) -> Iterator[SolrSearchClient]:
    """Index articles, segmented with the terms of the lexicon, in a collection of a Solr; yield a client of it.

    The documents are deleted at the end.
    """
    terms = [(entry.text, 0, "n") for entry in lexicon.entries]
    analysis = TextAnalysis(lexicon, RjiebaSegmenter(terms) if terms else base_segmenter(), base_segmenter())
    index = index_at(url, name, shards)
    index.ensure_collection()
    assert index.add([to_solr_document(article, analysis) for article in articles]) == {}
    index.commit()
    yield SolrSearchClient(url, name, timeout=120.0)
    index.delete_all()


def page_at(client: FlaskClient, url: str, **query: str) -> BeautifulSoup:
    """Return a page of the site. Its status must be 200."""
    response = client.get(url, query_string=query or None)
    assert response.status_code == 200, (url, response.status_code, response.text)
    return BeautifulSoup(response.text, "lxml")


# -- pages and articles of a store


def new_url(url: str, **changes: object) -> NewUrl:
    """Return a URL of the host a.test that a crawl has found."""
    return replace(NewUrl(url, "a.test", 3, 0, UrlKind.UNKNOWN, 0.0), **changes)  # type: ignore[arg-type]


def stored_page(url: str, body: bytes = b"<p>one</p>", **changes: object) -> Page:
    made = Page(0, url, url, 200, "text/html", body, hashlib.sha256(body).hexdigest(), 1_000.0, etag='"1"')
    return replace(made, **changes)  # type: ignore[arg-type]


def fetched(entry: FrontierEntry, body: bytes = b"<p>one</p>", **changes: object) -> Visit:
    visit = Visit(entry, Outcome(Reason.FETCHED), 1_000.0, 5_000.0, 4_000.0, page=stored_page(entry.url, body))
    return replace(visit, **changes)  # type: ignore[arg-type]


def one_entry(store: Store, url: str = "http://a.test/1") -> FrontierEntry:
    store.frontier.add_urls([new_url(url)])
    return store.frontier.find_entries([url])[url]


def sqlite_error(code: int, text: str) -> sqlite3.DatabaseError:
    """Return the error that SQLite raises with this result code."""
    error = sqlite3.DatabaseError(text)
    error.sqlite_errorcode = code
    return error


def keep_page(store: Store, url: str = "http://a.test/1", body: bytes = b"<p>one</p>") -> FrontierEntry:
    entry = one_entry(store, url)
    store.frontier.record_visits([fetched(entry, body)])
    return entry


def extract_all(store: Store, result: Article | Outcome) -> list[Reason]:
    return store.articles.save([PageExtraction(p, result) for p in store.articles.iter_pending()])


def extract_each(store: Store, article: Article) -> list[Reason]:
    """Every page has an article of its own: pages of one text would be doubles."""
    pending = store.articles.iter_pending()
    return store.articles.save([PageExtraction(p, replace(article, title=f"题目 {p.url}")) for p in pending])


ARTICLE = Article("http://a.test/1", "题目", "正文，第一段。", "2024-05-06", "url", "zh", "blocks")


def save_article(store: Store, number: int, body: str, title: str = "", published: str = "2024-05-01") -> None:
    """Keep a page and its article."""
    article = Article(f"http://a.test/{number}", title or f"文章{number}", body, published, language="zh")
    keep_page(store, article.url, body.encode())
    extract_all(store, article)


def urls_with_outcome(store: Store, stage: Stage, reason: Reason) -> list[tuple[str, str]]:
    """(URL, detail) of the URLs with an outcome, newest first."""
    query = (
        select(urls.c.url, outcomes.c.detail)
        .join(urls, urls.c.url_id == outcomes.c.url_id)
        .where(outcomes.c.stage == stage, outcomes.c.reason == reason)
        .order_by(outcomes.c.at.desc())
    )
    with store._database.read() as connection:
        return [(row.url, row.detail) for row in connection.execute(query)]


def embedded_text_counts(store: Store) -> dict[str, int]:
    """The number of embedded texts by model id."""
    query = select(vectors.c.model, func.count()).where(vectors.c.passage == 0).group_by(vectors.c.model)
    with store._database.read() as connection:
        return {row[0]: row[1] for row in connection.execute(query)}


# -- terms


def decide(store: Store, texts: Sequence[str], status: TermStatus, by: str = "") -> ReviewDecision:
    return store.review_history.apply(
        ReviewDecisionKind.DECIDE, [TermEdit(text, status) for text in dict.fromkeys(texts)], by
    )


def add(store: Store, texts: Sequence[str], by: str = "") -> ReviewDecision:
    edits = [TermEdit(text, TermStatus.ACCEPTED, create_if_missing=True) for text in dict.fromkeys(texts)]
    return store.review_history.apply(ReviewDecisionKind.ADD, edits, by)


def propose(store: Store, text: str, by: str = "") -> ReviewDecision:
    return store.review_history.apply(
        ReviewDecisionKind.PROPOSE, [TermEdit(text, create_if_missing=True, keep_existing=True)], by
    )


def set_synonyms(store: Store, text: str, synonyms: Sequence[str], by: str = "") -> ReviewDecision:
    return store.review_history.apply(ReviewDecisionKind.SYNONYMS, [TermEdit(text, synonyms=tuple(synonyms))], by)


def make_candidate(
    text: str,
    score: float = 0.9,
    frequency: int = 30,
    documents: int = 10,
    neighbour_count: int = 6,
    per_million: int = 1,
) -> Term:
    """Return a candidate whose most frequent neighbour stands beside `neighbour_count` of its occurrences."""
    parts = {"independent": log(frequency + 0.5 - neighbour_count), "association": 3.0, "specific": log(per_million)}
    return Term(text, score, frequency, documents, score_components=tuple(parts.items()))


# -- operations


def operate(store: Store, operation: str, account: str = "anna", /, **values: object) -> Change | None:
    """Run an operation on a store without Solr and runs."""
    return store.operations.run(declared_operations(store)[operation], account, values)


def undo(store: Store, operation_id: int, account: str = "bert") -> bool:
    """Undo an operation; False if nothing was left to undo."""
    return store.operations.undo(declared_operations(store), operation_id, account) is not None


def declared_operations(store: Store) -> Mapping[str, Operation]:
    engine = SimpleNamespace(store=store, settings=Settings(Path("/nowhere")))
    return declare_operations(engine)  # type: ignore[arg-type]


def mute(store: Store, key: AlertKey, account: str = "anna", period: str = "ever") -> None:
    """Mute an alert, which fires."""
    others = [alert for alert in store.alerts.firing() if alert.key != key]
    store.alerts.replace_firing([*others, Alert(key)])
    assert operate(store, "alert_mute", account, kind=key.kind, subject=key.subject, period=period)


def relate_articles(store: Store) -> int:
    """Update the relations of all articles in the change log, which stays. Returns the number of articles to index."""
    url_ids = [change.url_id for change in store.change_log.pending(1000)]
    update_relations(store, url_ids, store.articles.load_by_url_ids(url_ids), {}, base_segmenter())
    return store.citations.recount()
