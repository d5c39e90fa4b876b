"""What a reader asked, as Solr parameters. Pure: reads no clock, no store, no network.

How the documents are ordered is `ranking`'s; which are left out, what is shown of them and counted, stands
here. As there, a reader's words are only ever values of parameters that fixed queries name.
"""

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from docstore import fields
from search_ui.query.clauses import ALL, EVERYTHING, Clause, Parameter, Params, QueryVariant, Words, select_params
from search_ui.query.cursors import FIRST
from search_ui.query.filters import filter_clauses
from search_ui.query.min_should_match import min_should_match, some_of_it
from search_ui.query.ranking import BIGRAMS, PROFILES, rank_query, texts_of
from search_ui.query.request import SearchRequest, Sort
from search_ui.query.texts import has_word
from text.segment import Segmenter
from text.titles import title_key

MARK_ON, MARK_OFF = "\U0010fffc", "\U0010fffd"  # private use, plane 16: what Solr puts around a match
FIRST_YEAR = 1990  # of the date histogram

SHOWN_OF_HITS = (fields.ID, fields.CLUSTER, fields.SERIES, fields.PICTURE)
_SORTS: Mapping[Sort, str] = {
    Sort.RELEVANCE: f"score desc,{fields.PUBLISHED} desc,{fields.ID} asc",
    Sort.DATE: f"{fields.PUBLISHED} desc,score desc,{fields.ID} asc",
}


def words_of(text: str, segmenter: Segmenter) -> tuple[str, ...]:
    """The words of `text` in order, marks and blanks left out."""
    return tuple(word for word in segmenter.cut(text) if has_word(word))


def hits_params(
    asked: SearchRequest,
    words: Words,
    page_size: int,
    mark: str = "",
    spare: int = 0,
    shown: Sequence[str] = SHOWN_OF_HITS,
    related: bool = False,
    summands: Sequence[Parameter] = (),
    without: Sequence[str] = (),
) -> Params:
    """Solr parameters that find which documents a result page shows; `shown_params` has what is shown of them.

    `words` holds the query's text (`asked.query.text`) cut by the published lexicon (`QueryVariant.DOMAIN`, always),
    those of its words that say what it is about (`CONTENT`), and, where that ranks, cut by the base dictionary. With
    the page begins after what Solr has marked so (`*`: at the beginning), else where its number says. With `spare` it
    is so many hits longer, and near-duplicates are left in; `related` leaves out what holds no word of it; the scores
    of `summands` are added to the ranking. The clusters `without` are left out.
    """
    # Where Solr need not count to the end it passes over what cannot come first, which pays for few words alone.
    is_short = len(words.get(QueryVariant.BASE, words[QueryVariant.DOMAIN])) <= FEW_WORDS
    more = [("cursorMark", mark) if mark else ("start", str((asked.page - 1) * page_size))]
    more += [("minExactCount", str(COUNTED))] if spare and is_short else []
    q = ranked(asked, words)
    q = Clause.boolean([Parameter("known", q), *summands]) if summands else q
    filters = [*_filters(asked, words, not (spare or asked.cluster), related), *_outside(without)]
    return select_params(q, filters, page_size + spare, shown, _SORTS[asked.sort], more=more)


def _outside(clusters: Sequence[str]) -> list[Clause]:
    """The filter that leaves clusters out."""
    listed = Clause.any_value(fields.CLUSTER, "listed", clusters, separator=",")
    return [Clause.boolean(must=[ALL], must_not=[Parameter("listed_before", listed)])] if clusters else []


FEW_WORDS = 8
SPARE = 5  # hits that are asked for besides a first page's, where Solr does not collapse
FEW = 1000  # hits of which the pages must be numbered rightly: a hundred
COUNTED = FEW + 1  # hits that are counted at least


def shown_params(asked: SearchRequest, words: Words, ids: Sequence[str]) -> Params:
    """What a result page shows of the documents `ids`, in whatever order, their terms marked: the whole title and the
    best sentences.
    """
    best = [("hl.snippets", "2"), ("hl.fragsize", "80"), ("hl.defaultSummary", "true")]
    more = [*mark_terms(asked, words), *best, (f"f.{fields.TITLE}.hl.fragsize", "0")]
    return select_params(_these(ids), rows=len(ids), fl=_SHOWN, more=more)


def about_params(
    asked: SearchRequest,
    words: Words,
    ids: Sequence[str],
    clusters: Sequence[str],
    series: Sequence[str] = (),
    pictures: Sequence[str] = (),
) -> Params:
    """Which of the documents `ids` hold enough of the query; and, filters or not, how many documents each of their
    `clusters` has, how many clusters each of their `series`, and in how many each of their `pictures` (URLs) stands.
    """
    copies = Clause.any_value(fields.CLUSTER, "clusters", clusters, separator=",")
    similar = Clause.any_value(fields.SERIES, "all_series", series, separator=",")
    shared = Clause.any_value(fields.PICTURE, "pictures", pictures)
    counted = {"copies": _among(fields.CLUSTER, copies)}
    counted |= {"similar": _among(fields.SERIES, similar, _CLUSTERS)} if series else {}
    counted |= {"pictures": _among(fields.PICTURE, shared, _CLUSTERS)} if pictures else {}
    more = [*copies.params(), *similar.params(), *shared.params()]
    return select_params(_these(ids), _holding_enough(asked, words), len(ids), [fields.ID], facets=counted, more=more)


_CLUSTERS = {"n": f"unique({fields.CLUSTER})"}


def _among(name: str, query: Clause, more: Mapping[str, str] = MappingProxyType({})) -> Mapping[str, object]:
    """A facet that counts the values of a field in what `query` finds, whatever else is asked."""
    everything = {"domain": {"query": query.syntax()}, "facet": dict(more)}
    return {"type": "terms", "field": name, "method": "dvhash", "limit": -1, **everything}


def _these(ids: Sequence[str]) -> Clause:
    return Clause.any_value(fields.ID, "hits", ids, separator=",")


def mark_params(asked: SearchRequest, words: Words, hits: int, related: bool = False) -> Params:
    """What finds Solr's mark after the first `hits` hits: where the pages without number begin."""
    return hits_params(asked, words, hits, FIRST, shown=[fields.ID], related=related)


_SHOWN = (
    fields.ID, fields.URL, fields.SITE, fields.TITLE, fields.PUBLISHED_TEXT, fields.FETCHED, fields.CLUSTER,
    fields.SERIES, fields.PICTURE, fields.FORMAT, fields.PAGE_STARTS, fields.STORY,
)  # fmt: skip


def bodies_params(ids: Sequence[str]) -> Params:
    """The texts of the documents `ids`, in which a passage is looked for."""
    return select_params(_these(ids), rows=len(ids), fl=[fields.ID, fields.BODY, fields.ARTICLE_DIGEST])


def ranked(asked: SearchRequest, words: Words) -> Clause:
    """The ranking; all documents alike where the query names conditions alone, as `site:news.example`."""
    return rank_query(asked.query.text, words, asked.profile) if asked.query.text else EVERYTHING


def _holding_enough(asked: SearchRequest, words: Words) -> list[Clause]:
    """The filter by `min_should_match`: Solr keeps what passes it, so that one question of a page works for the next.

    A profile that does not look at characters may miss what holds enough; only what it finds is counted then.
    """
    enough = min_should_match(asked, words).clause()
    if any(name == fields.BODY_CHARS for clause in PROFILES[asked.profile].clauses for name, _ in clause.weights):
        return [enough]
    return [enough, Parameter("found", ranked(asked, words)).clause()]


def _filters(asked: SearchRequest, words: Words, is_collapsed: bool = False, is_related: bool = False) -> list[Clause]:
    """The filters of a request, and for the hits what leaves out near-duplicates and what holds no word of it."""
    # By score is what collapsing does by itself, four times as fast as by an order that it is told.
    order = "" if asked.sort is Sort.RELEVANCE and asked.query.text else _SORTS[asked.sort]
    return [
        *filter_clauses(asked, words),
        *([Clause.one_of_each_cluster(order)] if is_collapsed else []),
        *([some_of_it(words).clause()] if is_related else []),
    ]


def mark_terms(asked: SearchRequest, words: Words) -> Params:
    """How the terms of the query are marked in title and body.

    By pairs of characters, which join to words where they stand side by side: by words as well would cost Solr three
    times as much, and twice the text to keep.
    """
    texts = texts_of(asked.query.text, words)
    also = Clause.simple(f"{fields.TITLE} {fields.BODY}", texts[QueryVariant.SYNONYMS])
    marked = Clause.boolean([Parameter("hl_text", BIGRAMS.query(texts)), Parameter("hl_also", also)])
    return [
        ("hl", "true"),
        ("hl.method", "unified"),
        ("hl.fl", f"{fields.TITLE},{fields.BODY}"),
        ("hl.q", marked.syntax()),
        *marked.params(),
        ("hl.requireFieldMatch", "true"),
        ("hl.tag.pre", MARK_ON),
        ("hl.tag.post", MARK_OFF),
    ]


def count_params(asked: SearchRequest, words: Words) -> Params:
    """What is said about all that was found: how much, by site, section, term and time.

    A question of its own: what holds enough of the query is some hundred documents, where some of it is in nearly all.
    """
    filters = [*_holding_enough(asked, words), *_filters(asked, words)]
    return select_params(EVERYTHING, filters, facets=_facets(asked))


MAX_VALUES = 24  # of a facet
MAX_SITES = 200  # whose own values are told from others
EXACT: Mapping[str, object] = {"refine": True, "overrequest": 100}
"""In a facet: values are counted on all shards of an index, also where some do not have them among their first."""

OF_SITE: Mapping[str, object] = {"of": {"type": "terms", "field": fields.SITE, "limit": 1, **EXACT}}
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
        "formats": _values(fields.FORMAT, once, "filetype"),
        "terms": _values(fields.DOMAIN_TERMS, once),
        "dates": _dates(asked, once),
        "sections_of_sites": _of_sites("section"),
        "authors_of_sites": _of_sites("author"),
    }


def _of_sites(tag: str) -> Mapping[str, object]:
    """The documents of each site, counted where the facet with this tag is."""
    return {"type": "terms", "field": fields.SITE, "limit": MAX_SITES, **EXACT, "domain": {"excludeTags": tag}}


def _values(
    name: str, once: str, tag: str = "", more: Mapping[str, object] = MappingProxyType({})
) -> Mapping[str, object]:
    """The most frequent values, most documents first; which those are is found by a count that costs less."""
    domain = {"domain": {"excludeTags": tag}} if tag else {}
    order = {"sort": "n desc", "prelim_sort": "count desc"}
    return {
        "type": "terms",
        "field": name,
        "limit": MAX_VALUES,
        **EXACT,
        **order,
        "facet": {"n": once, **more},
        **domain,
    }


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
    return select_params(Clause.one_value(fields.TITLE_KEY, "key", title_key(text)))


def site_params() -> Params:
    """What is counted of the vertical: documents, sites, newest day."""
    every = {"type": "terms", "field": fields.SITE, "limit": -1}  # `unique` is an estimate where there are shards
    facets = {"sites": every, "newest": f"max({fields.PUBLISHED})"}
    return select_params(EVERYTHING, facets=facets)
