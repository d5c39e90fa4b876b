"""What a reader asked, as Solr parameters. Pure: reads no clock, no store, no network.

How the documents are ordered is `ranking`'s; which are left out, what is shown of them and counted, stands
here. As there, a reader's words are only ever values of parameters that fixed queries name.
"""

import json
from collections.abc import Mapping, Sequence
from types import MappingProxyType

from docstore import fields
from search_ui.query.clauses import FIXED, Params, QueryVariant, run_of_characters
from search_ui.query.collapse import FEW
from search_ui.query.cursors import FIRST
from search_ui.query.filters import SEPARATOR, filter_params
from search_ui.query.min_should_match import min_should_match, parts_of, some_of_it
from search_ui.query.ranking import BIGRAMS, PROFILES, rank_params
from search_ui.query.request import SearchRequest, Sort
from search_ui.query.texts import has_word
from search_ui.query.thesaurus import spellings_in
from text.segment import Segmenter
from text.titles import title_key

MARK_ON, MARK_OFF = "\U0010fffc", "\U0010fffd"  # private use, plane 16: what Solr puts around a match
FIRST_YEAR = 1990  # of the date histogram

_SORTS: Mapping[Sort, str] = {
    Sort.RELEVANCE: f"score desc,{fields.PUBLISHED} desc,{fields.ID} asc",
    Sort.DATE: f"{fields.PUBLISHED} desc,score desc,{fields.ID} asc",
}


def words_of(text: str, segmenter: Segmenter) -> tuple[str, ...]:
    """The words of `text` in order, marks and blanks left out."""
    return tuple(word for word in segmenter.cut(text) if has_word(word))


def hits_params(
    asked: SearchRequest,
    words: Mapping[QueryVariant, Sequence[str]],
    page_size: int,
    mark: str = "",
    spare: int = 0,
    shown: Sequence[str] = (fields.ID, fields.CLUSTER, fields.SERIES, fields.PICTURE),
    related: bool = False,
) -> Params:
    """Solr parameters that find which documents a result page shows; `shown_params` has what is shown of them.

    `words` holds the query's text (`asked.query.text`) cut by the published lexicon (`QueryVariant.DOMAIN`, always),
    those of its words that say what it is about (`CONTENT`), and, where that ranks, cut by the base dictionary. With
    the page begins after what Solr has marked so (`*`: at the beginning), else where its number says. With `spare` it
    is so many hits longer, and near-duplicates are left in; `related` leaves out what holds no word of it.
    """
    is_collapsed = not (spare or asked.cluster)
    # Where Solr need not count to the end it passes over what cannot come first, which pays for few words alone.
    is_short = len(words.get(QueryVariant.BASE, words[QueryVariant.DOMAIN])) <= FEW_WORDS
    return [
        *_ordered(asked, words, page_size + spare, is_collapsed),
        *(_related(words) if related else ()),
        ("fl", ",".join(shown)),
        ("cursorMark", mark) if mark else ("start", str((asked.page - 1) * page_size)),
        *([("minExactCount", str(COUNTED))] if spare and is_short else []),
    ]


FEW_WORDS = 8
COUNTED = FEW + 1  # hits that are counted at least


def shown_params(asked: SearchRequest, words: Mapping[QueryVariant, Sequence[str]], ids: Sequence[str]) -> Params:
    """What a result page shows of the documents `ids`, in whatever order, their terms marked."""
    return [*_these(ids), *without_query(asked, words), ("fl", ",".join(_SHOWN)), *_highlighting()]


def about_params(
    asked: SearchRequest,
    words: Mapping[QueryVariant, Sequence[str]],
    ids: Sequence[str],
    clusters: Sequence[str],
    series: Sequence[str] = (),
    pictures: Sequence[str] = (),
) -> Params:
    """Which of the documents `ids` hold enough of the query; and, filters or not, how many documents each of their
    `clusters` has, how many clusters each of their `series`, and in how many each of their `pictures` (URLs) stands.
    """
    counted = {"copies": among(fields.CLUSTER, f"{{!terms f={fields.CLUSTER} v=$clusters}}")}
    if series:
        counted["similar"] = among(fields.SERIES, f"{{!terms f={fields.SERIES} v=$all_series}}", CLUSTERS)
    if pictures:
        counted["pictures"] = among(fields.PICTURE, PICTURES_ASKED, CLUSTERS)
    return [
        *_these(ids),
        *_holding_enough(asked, words),
        ("fl", fields.ID),
        ("clusters", ",".join(clusters)),
        ("all_series", ",".join(series)),
        ("pictures", SEPARATOR.join(pictures)),
        ("json.facet", json.dumps(counted)),
    ]


CLUSTERS = {"n": f"unique({fields.CLUSTER})"}
PICTURES_ASKED = f"{{!terms f={fields.PICTURE} separator='{SEPARATOR}' v=$pictures}}"


def among(name: str, query: str, more: Mapping[str, str] = MappingProxyType({})) -> Mapping[str, object]:
    """A facet that counts the values of a field in what `query` finds, whatever else is asked."""
    everything = {"domain": {"query": query}, "facet": dict(more)}
    return {"type": "terms", "field": name, "method": "dvhash", "limit": -1, **everything}


def _these(ids: Sequence[str]) -> Params:
    return [("q", f"{{!terms f={fields.ID} v=$hits}}"), ("hits", ",".join(ids)), ("rows", str(len(ids)))]


def without_query(asked: SearchRequest, words: Mapping[QueryVariant, Sequence[str]]) -> Params:
    """What the parts of a query read, for another question about it."""
    return [pair for pair in ranked(asked, words) if pair[0] != "q"]


def mark_params(
    asked: SearchRequest, words: Mapping[QueryVariant, Sequence[str]], hits: int, related: bool = False
) -> Params:
    """What finds Solr's mark after the first `hits` hits: where the pages without number begin."""
    found = [*_ordered(asked, words, hits, not asked.cluster), *(_related(words) if related else ())]
    return [*found, ("fl", fields.ID), ("cursorMark", FIRST)]


def _related(words: Mapping[QueryVariant, Sequence[str]]) -> Params:
    return [("fq", "{!v=$some}"), *some_of_it(words)]


_SHOWN = (
    fields.ID, fields.URL, fields.SITE, fields.TITLE, fields.PUBLISHED_TEXT, fields.FETCHED, fields.CLUSTER,
    fields.SERIES, fields.PICTURE,
)  # fmt: skip


def _ordered(asked: SearchRequest, words: Mapping[QueryVariant, Sequence[str]], rows: int, collapsed: bool) -> Params:
    """What is found in its order, of near-duplicates the first alone if `collapsed`."""
    order = _SORTS[asked.sort]
    # By score is what collapsing does by itself, four times as fast as by an order that it is told.
    told = "" if asked.sort is Sort.RELEVANCE and asked.query.text else f" sort='{order}'"
    alike = [("fq", f"{{!collapse field={fields.CLUSTER} nullPolicy=expand{told}}}")] if collapsed else []
    return [*ranked(asked, words), *_filtered(asked, words), *alike, ("sort", order), ("rows", str(rows))]


def ranked(asked: SearchRequest, words: Mapping[QueryVariant, Sequence[str]]) -> Params:
    """The ranking; all documents alike where the query names conditions alone, as `site:news.example`."""
    params = rank_params(asked.query.text, words, asked.profile)
    return params if asked.query.text else [("q", "*:*"), *(pair for pair in params if pair[0] != "q")]


def _holding_enough(asked: SearchRequest, words: Mapping[QueryVariant, Sequence[str]]) -> Params:
    """The filter by `min_should_match`: Solr keeps what passes it, so that one question of a page works for the next.

    A profile that does not look at characters may miss what holds enough; only what it finds is counted then.
    """
    counted = [("fq", "{!v=$enough}"), *min_should_match(asked, words)]
    if any(name == fields.BODY_CHARS for clause in PROFILES[asked.profile].clauses for name, _ in clause.weights):
        return [*counted, *FIXED]
    found = dict(ranked(asked, words))["q"]
    return list(dict.fromkeys([*counted, ("fq", "{!v=$found}"), ("found", found), *without_query(asked, words)]))


def _filtered(asked: SearchRequest, words: Mapping[QueryVariant, Sequence[str]]) -> Params:
    spellings = spellings_in(words.get(QueryVariant.SYNONYMS, ()))
    return filter_params(asked, asked.query, parts_of(words), spellings)


def _highlighting() -> Params:
    """The whole title and the best sentences."""
    whole = (f"f.{fields.TITLE}.hl.fragsize", "0")
    return [*mark_terms(), ("hl.snippets", "2"), ("hl.fragsize", "80"), ("hl.defaultSummary", "true"), whole]


def mark_terms() -> Params:
    """How the terms of the query (of `ranked`) are marked in title and body.

    By pairs of characters, which join to words where they stand side by side: by words as well would cost Solr three
    times as much, and twice the text to keep.
    """
    return [
        ("hl", "true"),
        ("hl.method", "unified"),
        ("hl.fl", f"{fields.TITLE},{fields.BODY}"),
        ("hl.q", "{!bool should=$hl_text should=$hl_also}"),
        ("hl_text", BIGRAMS.query()),
        ("hl_also", run_of_characters(f"{fields.TITLE} {fields.BODY}", QueryVariant.SYNONYMS)),
        ("hl.requireFieldMatch", "true"),
        ("hl.tag.pre", MARK_ON),
        ("hl.tag.post", MARK_OFF),
    ]


def count_params(asked: SearchRequest, words: Mapping[QueryVariant, Sequence[str]]) -> Params:
    """What is said about all that was found: how much, by site, section, term and time.

    A question of its own: what holds enough of the query is some hundred documents, where some of it is in nearly all.
    """
    return [
        ("q", "*:*"),
        *_holding_enough(asked, words),
        *_filtered(asked, words),
        ("rows", "0"),
        ("json.facet", json.dumps(_facets(asked))),
    ]


MAX_VALUES = 24  # of a facet
MAX_SITES = 200  # whose own values are told from others
OF_SITE: Mapping[str, object] = {"of": {"type": "terms", "field": fields.SITE, "limit": 1}}
"""In a facet: the site that most documents with a value are of."""


def _facets(asked: SearchRequest) -> Mapping[str, object]:
    """A facet of which several values can be chosen ignores its own filter. Near-duplicates count once."""
    once = "unique(id)" if asked.cluster else f"unique({fields.CLUSTER})"
    return {
        "total": once,
        "sites": _values(fields.SITE, once, "site"),
        "sections": _values(fields.SECTION, once, "section", OF_SITE),
        "languages": _values(fields.LANGUAGE, once, "language"),
        "authors": _values(fields.AUTHOR, once, "author", OF_SITE),
        "types": _values(fields.PAGE_TYPE, once, "type"),
        "terms": _values(fields.DOMAIN_TERMS, once),
        "dates": _dates(asked, once),
        "sections_of_sites": _of_sites("section"),
        "authors_of_sites": _of_sites("author"),
    }


def _of_sites(tag: str) -> Mapping[str, object]:
    """The documents of each site, counted where the facet with this tag is."""
    return {"type": "terms", "field": fields.SITE, "limit": MAX_SITES, "domain": {"excludeTags": tag}}


def _values(
    name: str, once: str, tag: str = "", more: Mapping[str, object] = MappingProxyType({})
) -> Mapping[str, object]:
    """The most frequent values, most documents first; which those are is found by a count that costs less."""
    domain = {"domain": {"excludeTags": tag}} if tag else {}
    order = {"sort": "n desc", "prelim_sort": "count desc"}
    return {"type": "terms", "field": name, "limit": MAX_VALUES, **order, "facet": {"n": once, **more}, **domain}


def _dates(asked: SearchRequest, once: str) -> Mapping[str, object]:
    """Years, or the months of the one year asked for."""
    year = asked.only_year()
    start, end, gap = f"{FIRST_YEAR}-01-01T00:00:00Z", "NOW/YEAR+1YEAR", "+1YEAR"
    if year:
        start, end, gap = f"{year:04}-01-01T00:00:00Z", f"{year + 1:04}-01-01T00:00:00Z", "+1MONTH"
    span = {"start": start, "end": end, "gap": gap, "mincount": 0}
    counted = {"facet": {"n": once}, "domain": {"excludeTags": "date"}}
    return {"type": "range", "field": fields.PUBLISHED, **span, **counted}


def titled_params(text: str) -> Params:
    """What asks whether a document has just this title."""
    return [("q", f"{{!term f={fields.TITLE_KEY} v=$key}}"), ("key", title_key(text)), ("rows", "0"), *FIXED]


def site_params() -> Params:
    """What is counted of the vertical: documents, sites, newest day."""
    facets = {"sites": f"unique({fields.SITE})", "newest": f"max({fields.PUBLISHED})"}
    return [("q", "*:*"), ("rows", "0"), ("json.facet", json.dumps(facets)), *FIXED]
