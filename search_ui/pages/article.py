"""The page of one article: details, highlighted text, related articles and the explanation of its rank. No I/O."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from domain.article import ARTICLE_FIELDS
from domain.file_formats import HTML_FORMAT
from domain.page_offsets import PageOffsets, page_number_at, parse_page_offsets
from search_ui.query.display_text import Segment, Segments, clean_text, safe_url, site_display_name, split_highlights
from search_ui.query.query_plan import QueryPlan
from search_ui.query.results import display_format, display_title, plain_text
from search_ui.query.score_explanation import RankExplanation, parse_explain
from search_ui.query.solr_client import SolrResponse, documents
from search_ui.query.solr_query import Params, QueryParam, SolrQuery, select_params
from search_ui.query.solr_requests import HIGHLIGHT_END, HIGHLIGHT_START, highlight_terms_params
from search_ui.settings import SearchSettings
from solr_client import solr_fields

MAX_SIMILAR = 5
MAX_COPIES = 20
MAX_SERIES = 20
MAX_ANALYZED_CHARS = 500_000  # the whole body, as it was indexed

_DOC_ID_RE = re.compile(r"[\w.-]{1,64}")
SUMMARY_FIELDS = (
    solr_fields.ID,
    solr_fields.URL,
    solr_fields.SITE,
    solr_fields.TITLE,
    solr_fields.PUBLISHED_TEXT,
    solr_fields.FORMAT,
    solr_fields.LANGUAGE,
)
_DETAIL_BY_NAME = {
    name: article_field.solr_name for name, article_field in ARTICLE_FIELDS.items() if article_field.is_detail
}
_DETAIL_FIELDS = (
    *SUMMARY_FIELDS,
    solr_fields.BODY,
    solr_fields.FETCHED,
    solr_fields.CLUSTER_ID,
    solr_fields.SERIES_ID,
    *_DETAIL_BY_NAME.values(),
    solr_fields.DOMAIN_TERMS,
    solr_fields.TEXT_SOURCE,
    solr_fields.PAGE_STARTS,
    solr_fields.STORY_ID,
    solr_fields.ARTICLE_DIGEST,
)


@dataclass(frozen=True)
class DocumentPage:
    """The paragraphs that begin on one page of a document. `number` 0: before the first known page."""

    number: int
    paragraphs: tuple[Segments, ...]


@dataclass(frozen=True)
class ArticleDetails:
    """One article. Fields that the page did not state are "".

    Attributes:
        safe_url: The URL to link to; "" if `url` is not safe to follow.
        fetched: Time of the fetch (ISO 8601, UTC), or "".
        details: Values by name of the fields that `domain.article.ARTICLE_FIELDS` declares as details.
        length: Number of characters without whitespace.
        paragraphs: The text, highlighted.
        format: `html`, or the file format (domain/file_formats.py).
        text_source: A value of `domain.article.TextSource`, or "".
        pages: The paragraphs by page of the document; () if it has no pages.
        story: Id of the news story, or "".
        article_digest: Digest of the article as it was indexed.
    """

    doc_id: str
    title: Segments
    url: str
    safe_url: str
    site: str
    site_name: str
    published: str
    fetched: str
    details: Mapping[str, str]
    language: str
    cluster: str
    series: str
    length: int
    terms: tuple[str, ...]
    paragraphs: tuple[Segments, ...]
    format: str = HTML_FORMAT
    text_source: str = ""
    pages: tuple[DocumentPage, ...] = ()
    story: str = ""
    article_digest: str = ""

    @property
    def plain_title(self) -> str:
        """The title without highlighting marks."""
        return plain_text(self.title)

    @property
    def author(self) -> str:
        """The authors, joined by ", "."""
        return self.details.get("author", "")

    @property
    def source(self) -> str:
        """The original publisher of a republished article."""
        return self.details.get("source", "")


@dataclass(frozen=True)
class RelatedArticle:
    """Another article, as lists show it. `excerpt` is the beginning of its text, or "" where it is not shown."""

    doc_id: str
    title: str
    safe_url: str
    site_name: str
    published: str
    language: str = ""
    excerpt: str = ""


@dataclass(frozen=True)
class ArticleView:
    """The content of an article page.

    `same_series` are other versions and issues, without near-duplicates. `related` are other similar articles.
    `explanation` is None if the request has no query.
    """

    article: ArticleDetails
    related: tuple[RelatedArticle, ...]
    same_series: tuple[RelatedArticle, ...]
    copies: tuple[RelatedArticle, ...]
    explanation: RankExplanation | None


def is_doc_id(text: str) -> bool:
    """Return True if the text has the form of a document id."""
    return bool(_DOC_ID_RE.fullmatch(text))


def article_params(doc_id: str, plan: QueryPlan) -> Params:
    """Build the request for one article with its whole text highlighted."""
    full_text_params = [
        ("hl.fragsize", "0"), ("hl.snippets", "1"), ("hl.defaultSummary", "true"),
        ("hl.maxAnalyzedChars", str(MAX_ANALYZED_CHARS)),
    ]  # fmt: skip
    highlight_params = [*highlight_terms_params(plan), *full_text_params] if plan.words.typed else []
    return select_params(_doc_id_clause(doc_id), rows=1, fl=_DETAIL_FIELDS, extra_params=highlight_params)


def _doc_id_clause(doc_id: str) -> SolrQuery:
    return SolrQuery.term(solr_fields.ID, "doc", doc_id)


def explain_params(doc_id: str, plan: QueryPlan) -> Params:
    """Build the request for the score of one article and its explanation."""
    debug_params = [("debug", "results"), ("debug.explain.structured", "true")]
    return select_params(
        plan.ranking, [_doc_id_clause(doc_id)], 1, (solr_fields.ID, "score"), extra_params=debug_params
    )


def series_params(cluster: str, series: str) -> Params:
    """Build the request for other versions and issues of an article, near-duplicates once, newest first."""
    clause = SolrQuery.boolean(
        must=[QueryParam("members", SolrQuery.term(solr_fields.SERIES_ID, "series", series))],
        must_not=[_cluster_param(cluster)],
    )
    return select_params(
        clause, [SolrQuery.collapse_clusters(_NEWEST_FIRST)], MAX_SERIES, SUMMARY_FIELDS, _NEWEST_FIRST
    )


def copies_params(doc_id: str, cluster: str) -> Params:
    """Build the request for the near-duplicates of an article, newest first."""
    clause = SolrQuery.boolean(must=[_cluster_param(cluster)], must_not=[QueryParam("itself", _doc_id_clause(doc_id))])
    return select_params(clause, rows=MAX_COPIES, fl=SUMMARY_FIELDS, sort=_NEWEST_FIRST)


_NEWEST_FIRST = f"{solr_fields.PUBLISHED} desc,{solr_fields.ID} asc"


def _cluster_param(cluster: str) -> QueryParam:
    return QueryParam("copies", SolrQuery.term(solr_fields.CLUSTER_ID, "cluster", cluster))


def parse_article(response: SolrResponse, settings: SearchSettings) -> ArticleDetails | None:
    """Parse the response to `article_params`. Returns None if there is no such article."""
    docs = documents(response)
    if not docs:
        return None
    doc = docs[0]
    display_values = {name: clean_text(str(doc.get(name, ""))) for name in _DETAIL_FIELDS}
    highlights = response.get("highlighting", {}).get(str(doc.get(solr_fields.ID)), {})
    body, text = str(doc.get(solr_fields.BODY, "")), "".join(highlights.get(solr_fields.BODY, ()))
    lines = tuple(_iter_paragraphs(text if HIGHLIGHT_START in text else body))
    starts = parse_page_offsets(str(doc.get(solr_fields.PAGE_STARTS, "")))
    return ArticleDetails(
        doc_id=display_values[solr_fields.ID],
        title=_highlighted_field(highlights, solr_fields.TITLE) or (Segment(display_title(doc)),),
        url=display_values[solr_fields.URL],
        safe_url=safe_url(str(doc.get(solr_fields.URL, ""))),
        site=str(doc.get(solr_fields.SITE, "")),
        site_name=site_display_name(str(doc.get(solr_fields.SITE, "")), settings),
        published=display_values[solr_fields.PUBLISHED_TEXT],
        fetched=display_values[solr_fields.FETCHED],
        details={
            # the section is a filter value; it is returned as it was indexed
            name: str(doc.get(solr_name, "")) if solr_name == solr_fields.SECTION else display_values[solr_name]
            for name, solr_name in _DETAIL_BY_NAME.items()
        },
        language=display_values[solr_fields.LANGUAGE],
        cluster=str(doc.get(solr_fields.CLUSTER_ID, "")),
        series=str(doc.get(solr_fields.SERIES_ID, "")),
        length=len("".join(body.split())),
        terms=tuple(map(str, doc.get(solr_fields.DOMAIN_TERMS, ()))),
        paragraphs=tuple(segments for _, segments in lines),
        format=display_format(doc),
        text_source=display_values[solr_fields.TEXT_SOURCE],
        pages=_group_by_page(lines, starts) if starts else (),
        story=display_values[solr_fields.STORY_ID],
        article_digest=display_values[solr_fields.ARTICLE_DIGEST],
    )


def _highlighted_field(highlights: Mapping[str, Any], name: str) -> Segments:
    """Return the highlighted text of a field. Its only snippet is the whole text."""
    return split_highlights("".join(highlights.get(name, ())), HIGHLIGHT_START, HIGHLIGHT_END)


def _iter_paragraphs(text: str) -> Iterator[tuple[int, Segments]]:
    """Yield the non-blank lines with their offsets in the text without marks. No mark spans two lines."""
    offset = 0
    for line in text.split("\n"):
        segments = split_highlights(line, HIGHLIGHT_START, HIGHLIGHT_END)
        if plain_text(segments).strip():
            yield offset, segments
        offset += len(line) - line.count(HIGHLIGHT_START) - line.count(HIGHLIGHT_END) + 1


def _group_by_page(lines: Sequence[tuple[int, Segments]], starts: PageOffsets) -> tuple[DocumentPage, ...]:
    """Group lines by the page on which they begin."""
    runs = groupby(lines, key=lambda line: page_number_at(starts, line[0]))
    return tuple(DocumentPage(page, tuple(segments for _, segments in run)) for page, run in runs)


def parse_related(response: SolrResponse, settings: SearchSettings) -> tuple[RelatedArticle, ...]:
    """Parse the response to `series_params` or `copies_params`, or a list of related articles."""
    return tuple(_to_related_article(doc, settings) for doc in documents(response))


def _to_related_article(doc: Mapping[str, Any], settings: SearchSettings) -> RelatedArticle:
    return RelatedArticle(
        doc_id=str(doc.get(solr_fields.ID, "")),
        title=display_title(doc),
        safe_url=safe_url(str(doc.get(solr_fields.URL, ""))),
        site_name=site_display_name(str(doc.get(solr_fields.SITE, "")), settings),
        published=clean_text(str(doc.get(solr_fields.PUBLISHED_TEXT, ""))),
        language=clean_text(str(doc.get(solr_fields.LANGUAGE, ""))),
    )


def parse_explanation(response: SolrResponse, doc_id: str) -> RankExplanation:
    """Parse the response to `explain_params`. The explanation is empty if the query does not match the article."""
    return parse_explain(response.get("debug", {}).get("explain", {}).get(doc_id, {}))
