"""One article as its page shows it: details, the kept text with marks, what is like it, why it was found. Pure."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from docstore import fields
from docstore.articles.page_starts import PageStarts, page_at, unpacked
from docstore.formats import HTML
from search_ui.query.clauses import Clause, Parameter, Params, Words, select_params
from search_ui.query.explanation import RankExplanation, explained
from search_ui.query.request import SearchRequest
from search_ui.query.results import format_in, plain, site_name, title_in
from search_ui.query.solr_client import Answer
from search_ui.query.solr_params import MARK_OFF, MARK_ON, mark_terms, ranked
from search_ui.query.texts import Segment, Segments, link_to, marked_segments, shown
from search_ui.settings import SearchSettings

MAX_SIMILAR = 5
MAX_COPIES = 20
MAX_SERIES = 20
LONGEST_TEXT = 500_000  # characters: all of a body, as it was indexed

_ID = re.compile(r"[\w.-]{1,64}")
NAMED = (fields.ID, fields.URL, fields.SITE, fields.TITLE, fields.PUBLISHED_TEXT, fields.FORMAT)
_SHOWN = (
    *NAMED, fields.BODY, fields.FETCHED, fields.LANGUAGE, fields.CLUSTER, fields.SERIES, fields.SECTION,
    fields.AUTHOR, fields.SOURCE, fields.DOMAIN_TERMS, fields.PAGE_STARTS, fields.STORY, fields.ARTICLE_DIGEST,
)  # fmt: skip


@dataclass(frozen=True)
class PageText:
    """The paragraphs that begin on one page of a document; `number` 0: before the first page that is known."""

    number: int
    paragraphs: tuple[Segments, ...]


@dataclass(frozen=True)
class Details:
    """An article. `paragraphs` is its text as it was fetched at `fetched` (ISO, UTC, or ""), `length` its characters
    without blanks. `link` is "" where `url` is nothing a reader may be sent to; what the page did not state is "".
    `format` is `html`, or that of a document; `pages` are the same paragraphs by its pages, none where it has none.
    `story` is the id of the story that it tells with others, or "", `digest` that of the article as it was indexed.
    """

    doc_id: str
    title: Segments
    url: str
    link: str
    site: str
    site_name: str
    published: str
    fetched: str
    author: str
    source: str
    section: str
    language: str
    cluster: str
    series: str
    length: int
    terms: tuple[str, ...]
    paragraphs: tuple[Segments, ...]
    format: str = HTML
    pages: tuple[PageText, ...] = ()
    story: str = ""
    digest: str = ""

    @property
    def plain_title(self) -> str:
        """The title without marks."""
        return plain(self.title)


@dataclass(frozen=True)
class Neighbour:
    """Another article, by what identifies it to a reader."""

    doc_id: str
    title: str
    link: str
    site_name: str
    published: str


@dataclass(frozen=True)
class ArticlePage:
    """All that the page of an article shows: `series` are versions of it and other issues of its series, which are no
    copies, `similar` what is like it otherwise. `why` is None where no query leads to it.
    """

    article: Details
    similar: tuple[Neighbour, ...]
    series: tuple[Neighbour, ...]
    copies: tuple[Neighbour, ...]
    why: RankExplanation | None


def is_id(text: str) -> bool:
    """Could this be the id of a document?"""
    return bool(_ID.fullmatch(text))


def article_params(doc_id: str, asked: SearchRequest, words: Words) -> Params:
    """What fetches one article, all of its text with the query's terms marked."""
    whole = [
        ("hl.fragsize", "0"), ("hl.snippets", "1"), ("hl.defaultSummary", "true"),
        ("hl.maxAnalyzedChars", str(LONGEST_TEXT)),
    ]  # fmt: skip
    marked = [*mark_terms(asked, words), *whole] if asked.query.text else []
    return select_params(_one(doc_id), rows=1, fl=_SHOWN, more=marked)


def _one(doc_id: str) -> Clause:
    return Clause.one_value(fields.ID, "doc", doc_id)


def explain_params(doc_id: str, asked: SearchRequest, words: Words) -> Params:
    """What asks Solr for the score of one article and all that it consists of."""
    why = [("debug", "results"), ("debug.explain.structured", "true")]
    return select_params(ranked(asked, words), [_one(doc_id)], 1, (fields.ID, "score"), more=why)


def series_params(cluster: str, series: str) -> Params:
    """The versions of an article and the other issues of its series, each of them once, newest first."""
    others = Clause.boolean(must=[_in_series(series)], must_not=[_in_cluster(cluster)])
    return select_params(others, [Clause.one_of_each_cluster(_NEWEST)], MAX_SERIES, NAMED, _NEWEST)


def copies_params(doc_id: str, cluster: str) -> Params:
    """The copies of an article, newest first."""
    others = Clause.boolean(must=[_in_cluster(cluster)], must_not=[Parameter("itself", _one(doc_id))])
    return select_params(others, rows=MAX_COPIES, fl=NAMED, sort=_NEWEST)


_NEWEST = f"{fields.PUBLISHED} desc,{fields.ID} asc"


def _in_cluster(cluster: str) -> Parameter:
    return Parameter("copies", Clause.one_value(fields.CLUSTER, "cluster", cluster))


def _in_series(series: str) -> Parameter:
    return Parameter("members", Clause.one_value(fields.SERIES, "series", series))


def details(answer: Answer, settings: SearchSettings) -> Details | None:
    """Read Solr's answer to `article_params`; None if there is no such article."""
    docs = answer.get("response", {}).get("docs", ())
    if not docs:
        return None
    doc = docs[0]
    said = {name: shown(str(doc.get(name, ""))) for name in _SHOWN}
    marked = answer.get("highlighting", {}).get(str(doc.get(fields.ID)), {})
    body, text = str(doc.get(fields.BODY, "")), "".join(marked.get(fields.BODY, ()))
    lines = tuple(_lines(text if MARK_ON in text else body))
    starts = unpacked(str(doc.get(fields.PAGE_STARTS, "")))
    return Details(
        doc_id=said[fields.ID],
        title=_marked(marked, fields.TITLE) or (Segment(title_in(doc)),),
        url=said[fields.URL],
        link=link_to(str(doc.get(fields.URL, ""))),
        site=str(doc.get(fields.SITE, "")),
        site_name=site_name(str(doc.get(fields.SITE, "")), settings),
        published=said[fields.PUBLISHED_TEXT],
        fetched=said[fields.FETCHED],
        author=said[fields.AUTHOR],
        source=said[fields.SOURCE],
        section=str(doc.get(fields.SECTION, "")),
        language=said[fields.LANGUAGE],
        cluster=str(doc.get(fields.CLUSTER, "")),
        series=str(doc.get(fields.SERIES, "")),
        length=len("".join(body.split())),
        terms=tuple(map(str, doc.get(fields.DOMAIN_TERMS, ()))),
        paragraphs=tuple(segments for _, segments in lines),
        format=format_in(doc),
        pages=_by_page(lines, starts) if starts else (),
        story=said[fields.STORY],
        digest=said[fields.ARTICLE_DIGEST],
    )


def _marked(marked: Mapping[str, Any], name: str) -> Segments:
    """Solr's snippet, which is the whole text."""
    return marked_segments("".join(marked.get(name, ())), MARK_ON, MARK_OFF)


def _lines(text: str) -> Iterator[tuple[int, Segments]]:
    """One paragraph a line, with its offset in the text without marks. No mark spans two lines."""
    offset = 0
    for line in text.split("\n"):
        segments = marked_segments(line, MARK_ON, MARK_OFF)
        if plain(segments).strip():
            yield offset, segments
        offset += len(line) - line.count(MARK_ON) - line.count(MARK_OFF) + 1


def _by_page(lines: Sequence[tuple[int, Segments]], starts: PageStarts) -> tuple[PageText, ...]:
    """Lines with their offsets, by the pages that they begin on."""
    runs = groupby(lines, key=lambda line: page_at(starts, line[0]))
    return tuple(PageText(page, tuple(segments for _, segments in run)) for page, run in runs)


def neighbours(answer: Answer, settings: SearchSettings) -> tuple[Neighbour, ...]:
    """Read Solr's answer to `series_params` or `copies_params`, or what is like an article (`query.similar`)."""
    return tuple(_neighbour(doc, settings) for doc in answer.get("response", {}).get("docs", ()))


def _neighbour(doc: Mapping[str, Any], settings: SearchSettings) -> Neighbour:
    return Neighbour(
        doc_id=str(doc.get(fields.ID, "")),
        title=title_in(doc),
        link=link_to(str(doc.get(fields.URL, ""))),
        site_name=site_name(str(doc.get(fields.SITE, "")), settings),
        published=shown(str(doc.get(fields.PUBLISHED_TEXT, ""))),
    )


def explanation(answer: Answer, doc_id: str) -> RankExplanation:
    """Read Solr's answer to `explain_params`; an empty explanation if the query does not find the article."""
    return explained(answer.get("debug", {}).get("explain", {}).get(doc_id, {}))
