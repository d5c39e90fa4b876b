"""Solr's answer as what a page shows. Pure; nothing of the answer is trusted to be markup."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from docstore import fields
from docstore.articles.page_starts import page_at, unpacked
from docstore.formats import FORMATS, HTML
from search_ui.query.highlight import Highlighter, marks_of
from search_ui.query.request import CHOSEN, SearchRequest, last_numbered
from search_ui.query.semantic.answers import Quotation
from search_ui.query.solr_client import Answer
from search_ui.query.solr_params import FEW, MARK_OFF, MARK_ON
from search_ui.query.texts import Segment, Segments, file_name, link_to, marked_segments, shortened, shown
from search_ui.settings import SearchSettings

SNIPPET_LENGTH = 160  # characters
PDF = "pdf"


@dataclass(frozen=True)
class Hit:
    """One result. `link` is "" where `url` is nothing a reader may be sent to.

    `cluster` is the id that it has in common with its copies, `copies` how many of those there are besides. `series` is
    the id that it has in common with articles that are `similar`, so many of them, and no copies of it.
    `is_partial`: it holds so little of the query that it is not among the total. `picture` is the URL of its own
    picture, or "". `format` is `html`, or that of a document (docstore/formats.py); `page` the page of a document on
    which what is shown of it stands, 0 where that is not known. `by_meaning`: no word of the query has found it, and
    its snippet is the passage nearest in meaning, which begins in paragraph `paragraph` of its text (from 1; 0: not
    known). `story` is the id of the story that it tells with others, or "".
    """

    doc_id: str
    title: Segments
    url: str
    link: str
    site: str
    site_name: str
    published: str
    fetched: str
    snippet: Segments
    cluster: str
    copies: int = 0
    series: str = ""
    similar: int = 0
    is_partial: bool = False
    picture: str = ""
    format: str = HTML
    page: int = 0
    by_meaning: bool = False
    paragraph: int = 0
    story: str = ""

    @property
    def at_page(self) -> str:
        """The link, to the page of the passage where browsers can open a file there."""
        return f"{self.link}#page={self.page}" if self.link and self.page and self.format == PDF else self.link

    @property
    def plain_title(self) -> str:
        """The title without marks."""
        return plain(self.title)


@dataclass(frozen=True)
class Facet:
    """One value that narrows the results. `share`: its count in twentieths of the largest, 0 only for 0."""

    value: str
    label: str
    count: int
    selected: bool
    share: int


@dataclass(frozen=True)
class SearchPage:
    """What one result page shows.

    `total` counts what holds a good share of the query, near-duplicates once; `documents` the same with each of them.
    `matched` counts whatever can be paged through, down to the weakest match. `pages` is how many can be asked for by
    number, `cursor` where the next page without a number begins, "" if there is none. `quotes` answer a question, if
    there is an answer. `partial`: Solr ran out of time.
    """

    total: int = 0
    documents: int = 0
    matched: int = 0
    took_ms: int = 0
    partial: bool = False
    page: int = 1
    pages: int = 1
    cursor: str = ""
    hits: tuple[Hit, ...] = ()
    quotes: tuple[Quotation, ...] = ()
    sites: tuple[Facet, ...] = ()
    sections: tuple[Facet, ...] = ()
    languages: tuple[Facet, ...] = ()
    authors: tuple[Facet, ...] = ()
    types: tuple[Facet, ...] = ()
    formats: tuple[Facet, ...] = ()
    terms: tuple[Facet, ...] = ()
    dates: tuple[Facet, ...] = ()


@dataclass(frozen=True)
class Answers:
    """Solr's to the questions of one page: `query.hits_params`, `count_params`, `shown_params`, `about_params`,
    `bodies_params`. `passages`: of the documents that meaning alone has found the best passage (first character of the
    body, and the one after its last)."""

    hits: Answer
    counted: Answer
    shown: Answer = field(default_factory=dict)
    about: Answer = field(default_factory=dict)
    bodies: Answer = field(default_factory=dict)
    passages: Mapping[str, tuple[int, int]] = field(default_factory=dict)


def search_page(
    answers: Answers, asked: SearchRequest, settings: SearchSettings, words: Sequence[str] = ()
) -> SearchPage:
    """Read the answers to `asked`. `words` are the query's, which are marked whole.

    A document that went from the index between two of the questions is not shown.
    """
    counted, matched = answers.counted, int(answers.hits.get("response", {}).get("numFound", 0))
    every = (answers.hits, answers.counted, answers.shown, answers.about, answers.bodies)
    headers = [each.get("responseHeader", {}) for each in every]
    return SearchPage(
        total=total_of(counted),
        documents=int(counted.get("response", {}).get("numFound", 0)),
        matched=matched,
        took_ms=sum(int(header.get("QTime", 0)) for header in headers),
        partial=any(header.get("partialResults", False) for header in headers),
        page=asked.page,
        pages=min(last_numbered(settings), max(1, -(-matched // settings.page_size))),
        hits=tuple(_hits(answers, settings, marks_of(asked.query.text, words))),
        **{name: _values(counted, name, asked, settings) for name in CHOSEN},  # type: ignore[arg-type]
        dates=_dates(counted, asked),
    )


def total_of(counted: Answer) -> int:
    """How many documents hold enough, by Solr's answer to `query.count_params`; near-duplicates count once."""
    return int(counted.get("facets", {}).get("total", 0))


def ids_of(hits: Answer) -> tuple[list[str], list[str]]:
    """The ids of the documents in an answer, in their order, and the clusters they are of."""
    docs = _docs(hits)
    return [_text(doc, fields.ID) for doc in docs], [_text(doc, fields.CLUSTER) for doc in docs]


def series_in(hits: Answer) -> list[str]:
    """The series that the documents in an answer are of."""
    return list(dict.fromkeys(series for doc in _docs(hits) if (series := _text(doc, fields.SERIES))))


def pictures_in(hits: Answer) -> list[str]:
    """The URLs of the pictures of the documents in an answer."""
    return list(dict.fromkeys(url for doc in _docs(hits) if (url := _text(doc, fields.PICTURE))))


def with_pages(shown: Answer) -> list[str]:
    """The ids of the documents in an answer that have pages, and a passage to look for on them."""
    marked = shown.get("highlighting", {})
    found = (_text(doc, fields.ID) for doc in _docs(shown) if _text(doc, fields.PAGE_STARTS))
    return [doc_id for doc_id in found if MARK_ON in _best_passage(marked.get(doc_id, {}))]


def _best_passage(marked: Mapping[str, Any]) -> str:
    """Of the passages of the body the one with the most marks; "" where there is none."""
    return max(map(str, marked.get(fields.BODY, ())), key=lambda one: one.count(MARK_ON), default="")


def _page_of(doc: Mapping[str, Any], body: str, passage: str) -> int:
    """The page of a document on which a passage of its body begins to match; 0 where that is not to be found."""
    before, mark, _ = passage.partition(MARK_ON)
    at = body.find(passage.replace(MARK_ON, "").replace(MARK_OFF, "")) if mark else -1
    return page_at(unpacked(_text(doc, fields.PAGE_STARTS)), at + len(before)) if at >= 0 else 0


MAX_SHARED = 2  # clusters in which an article's own picture stands; one that more have is the site's


def _hits(answers: Answers, settings: SearchSettings, marks: Highlighter) -> Iterator[Hit]:
    shown = {_text(doc, fields.ID): doc for doc in _docs(answers.shown)}
    enough = {_text(doc, fields.ID) for doc in _docs(answers.about)}
    copies = {str(bucket["val"]): int(bucket["count"]) - 1 for bucket in _buckets(answers.about, "copies")}
    similar = {series: clusters - 1 for series, clusters in values_in(answers.about, "similar")}
    own = {url for url, clusters in values_in(answers.about, "pictures") if clusters <= MAX_SHARED}
    highlights = answers.shown.get("highlighting", {})
    bodies = {_text(doc, fields.ID): _text(doc, fields.BODY) for doc in _docs(answers.bodies)}
    for doc_id in ids_of(answers.hits)[0]:
        if doc := shown.get(doc_id):
            hit = _hit(doc, highlights.get(doc_id, {}), settings, marks)
            hit = replace(hit, copies=copies.get(hit.cluster, 0), similar=similar.get(hit.series, 0))
            picture = hit.picture if hit.picture in own else ""
            page = _page_of(doc, bodies.get(doc_id, ""), _best_passage(highlights.get(doc_id, {})))
            hit = replace(hit, is_partial=doc_id not in enough, picture=picture, page=page)
            is_alone = hit.is_partial and doc_id in answers.passages
            yield _by_meaning(hit, doc, bodies.get(doc_id, ""), answers.passages[doc_id]) if is_alone else hit


def _by_meaning(hit: Hit, doc: Mapping[str, Any], body: str, passage: tuple[int, int]) -> Hit:
    """A hit that meaning alone has found, with its best passage; the beginning of its text where that is not known."""
    start, end = passage
    text = shown(" ".join(body[start:end].split()))
    snippet = shortened((Segment(text),), SNIPPET_LENGTH) if text else hit.snippet
    paragraph = paragraph_at(body, start) if end else 0
    page = page_at(unpacked(_text(doc, fields.PAGE_STARTS)), start) if end else 0
    return replace(hit, snippet=snippet, by_meaning=True, paragraph=paragraph, page=page)


def paragraph_at(body: str, place: int) -> int:
    """The number, from 1, of the paragraph with a character of the body: those of blanks alone do not count."""
    place += len(body[place:]) - len(body[place:].lstrip())
    return sum(1 for line in body[:place].split("\n")[:-1] if line.strip()) + 1


def with_matched(answer: Answer, matched: int) -> Answer:
    """An answer to a part of a question, with what the whole has matched."""
    return {**answer, "response": {**answer["response"], "numFound": matched}}


def digests_in(answer: Answer) -> dict[str, str]:
    """The digests of the articles in an answer, by their ids."""
    return {_text(doc, fields.ID): _text(doc, fields.ARTICLE_DIGEST) for doc in _docs(answer)}


def deduped(answer: Answer, size: int) -> Answer | None:
    """An answer that was not collapsed as if it had been, `size` hits long; None if Solr has to collapse after all.

    Collapsing costs half as much as the ranking. So a first page is asked for with `SPARE` hits more, and of each
    cluster the first stays, as collapsing in this order would have it. Solr has to where there are too few to fill the
    page, and where few were found and copies among them: how many pages those make nobody can tell from the first.
    """
    docs, every = _docs(answer), int(answer.get("response", {}).get("numFound", 0))
    names = [str(doc.get(fields.CLUSTER, doc.get(fields.ID))) for doc in docs]
    kept = [doc for place, doc in enumerate(docs) if names.index(names[place]) == place]
    hidden = len(docs) - len(kept)
    if every > len(docs) and hidden and (len(kept) < size or every <= FEW):
        return None
    return {**answer, "response": {**answer.get("response", {}), "numFound": every - hidden, "docs": kept[:size]}}


def hits_without_marks(answer: Answer, settings: SearchSettings) -> tuple[Hit, ...]:
    """The documents of an answer that shows them itself, in its order."""
    return tuple(_hit(doc, {}, settings, marks_of("", ())) for doc in _docs(answer))


def _docs(answer: Answer) -> Sequence[Mapping[str, Any]]:
    docs: Sequence[Mapping[str, Any]] = answer.get("response", {}).get("docs", ())
    return docs


def _hit(doc: Mapping[str, Any], marked: Mapping[str, Any], settings: SearchSettings, marks: Highlighter) -> Hit:
    url, site, cluster = _text(doc, fields.URL), _text(doc, fields.SITE), _text(doc, fields.CLUSTER)
    title = _fragments(marked.get(fields.TITLE, ())) or (Segment(title_in(doc)),)
    return Hit(
        doc_id=_text(doc, fields.ID),
        title=shortened(marks.on(title), 2 * SNIPPET_LENGTH),
        url=shown(url),
        link=link_to(url),
        site=shown(site),
        site_name=site_name(site, settings),
        published=shown(_text(doc, fields.PUBLISHED_TEXT)),
        fetched=_text(doc, fields.FETCHED)[:19] + "Z" if fields.FETCHED in doc else "",
        snippet=shortened(marks.on(_fragments(marked.get(fields.BODY, ()))), SNIPPET_LENGTH),
        cluster=cluster,
        series=_text(doc, fields.SERIES),
        picture=_text(doc, fields.PICTURE),
        format=format_in(doc),
        story=_text(doc, fields.STORY),
    )


def title_in(doc: Mapping[str, Any]) -> str:
    """The title of a document as a reader sees it: of a file that has none, its name."""
    title = shown(_text(doc, fields.TITLE))
    return title if title or format_in(doc) == HTML else file_name(_text(doc, fields.URL))


def format_in(doc: Mapping[str, Any]) -> str:
    """The file format of a document, `html` where the index has none or one that is not known."""
    name = _text(doc, fields.FORMAT)
    return name if name in FORMATS else HTML


def site_name(site: str, settings: SearchSettings) -> str:
    """The name of a site, as the operator gave it, else its URL."""
    return settings.site_names.get(site, shown(site))


def _text(doc: Mapping[str, Any], name: str) -> str:
    value = doc.get(name, "")
    return str(value[0]) if isinstance(value, list) and value else str(value)


def _fragments(fragments: Sequence[str]) -> Segments:
    return marked_segments(" … ".join(fragments), MARK_ON, MARK_OFF)


SITE_SHARE = 0.9  # of a site's documents: what so many have is what the site writes on every page


def _values(answer: Answer, name: str, asked: SearchRequest, settings: SearchSettings) -> tuple[Facet, ...]:
    """The values of a facet that tell documents apart; () if there is one alone.

    Left out is what all that was found has, and a section or an author that nearly all documents of one site have and
    no others: its slogan, or its `admin`. What was chosen stays in sight, however little of it there is.
    """
    chosen: tuple[str, ...] = getattr(asked, name)
    own = own_of_a_site(answer, name)
    own |= frozenset() if chosen else _of_all(answer, name)
    counted = [(value, count) for value, count in values_in(answer, name) if value in chosen or value not in own]
    counted += [(value, 0) for value in chosen if value not in dict(counted)]
    if len(counted) < 2 and not chosen:
        return ()
    named = [(value, site_name(value, settings) if name == "sites" else shown(value), n) for value, n in counted]
    return facets_of(sorted(named, key=lambda one: -one[2]), frozenset(chosen))


def _of_all(answer: Answer, name: str) -> frozenset[str]:
    """The values that each document has that was found."""
    every = int(answer.get("response", {}).get("numFound", 0))
    return frozenset(str(bucket["val"]) for bucket in _buckets(answer, name) if bucket["count"] == every)


def own_of_a_site(answer: Answer, name: str) -> frozenset[str]:
    """The values that stand on nearly every page of one site, and on no other."""
    of_sites = {str(bucket["val"]): int(bucket["count"]) for bucket in _buckets(answer, f"{name}_of_sites")}
    own = set()
    for bucket in _buckets(answer, name):
        for site in bucket.get("of", {}).get("buckets", ())[:1]:
            whole = of_sites.get(str(site["val"]), 0)
            if site["count"] == bucket["count"] >= SITE_SHARE * whole > 0:
                own.add(str(bucket["val"]))
    return frozenset(own)


def values_in(answer: Answer, name: str) -> list[tuple[str, int]]:
    """The values of a facet with the documents that have them, of near-duplicates one."""
    return [(str(bucket["val"]), int(bucket.get("n", 0))) for bucket in _buckets(answer, name)]


def _dates(answer: Answer, asked: SearchRequest) -> tuple[Facet, ...]:
    """Years as `2016`, months as `2016-05`, oldest first: both are what `since` and `until` take.

    Empty ones stay where they stand between others, so that the picture is true.
    """
    length = 7 if asked.only_year() else 4
    buckets = [(moment[:length], count) for moment, count in values_in(answer, "dates")]
    filled = [n for n, (_, count) in enumerate(buckets) if count]
    counts = buckets[filled[0] : filled[-1] + 1] if filled else []
    chosen = {asked.since} if asked.since == asked.until else set()
    return facets_of([(day, day, count) for day, count in counts], frozenset(chosen))


def _buckets(answer: Answer, name: str) -> Sequence[Mapping[str, Any]]:
    buckets: Sequence[Mapping[str, Any]] = answer.get("facets", {}).get(name, {}).get("buckets", ())
    return buckets


def facets_of(counted: Sequence[tuple[str, str, int]], selected: frozenset[str] = frozenset()) -> tuple[Facet, ...]:
    """Facets of values, each with its label and its count."""
    largest = max((count for _, _, count in counted), default=1) or 1
    return tuple(
        Facet(value, label, count, value in selected, -(-20 * count // largest)) for value, label, count in counted
    )


def plain(segments: Segments) -> str:
    """The text without its marks."""
    return "".join(segment.text for segment in segments)


@dataclass(frozen=True)
class SiteCounts:
    """What is counted of the vertical. `newest` is a day (`2016-05-09`) or ""."""

    documents: int
    sites: int
    newest: str


def site_counts(answer: Answer) -> SiteCounts:
    """Read Solr's answer to `query.site_params()`."""
    facets = answer.get("facets", {})
    documents = int(answer.get("response", {}).get("numFound", 0))
    return SiteCounts(documents, len(_buckets(answer, "sites")), str(facets.get("newest", ""))[:10])
