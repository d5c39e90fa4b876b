"""What a reader asked, as Solr parameters. Pure: reads no clock, no store, no network.

How the documents are ordered is `search_ui.ranking`'s; which are left out, what is shown of them and counted, stands
here. As there, a reader's words are only ever values of parameters that fixed queries name.
"""

import json
from collections.abc import Mapping, Sequence

from docstore import fields
from search_ui.ranking import BIGRAMS, FIXED, QUOTED, Clause, Form, Params, as_phrase, rank_params, run_of_characters
from search_ui.request import SearchRequest, Sort
from search_ui.texts import has_word
from semantics.segment import Segmenter

MARK_ON, MARK_OFF = "\U0010fffc", "\U0010fffd"  # private use, plane 16: what Solr puts around a match
MOST_PHRASES = 5
FIRST_YEAR = 1990  # of the date histogram


_SORTS: Mapping[Sort, str] = {
    Sort.RELEVANCE: f"score desc,{fields.PUBLISHED} desc,{fields.ID} asc",
    Sort.DATE: f"{fields.PUBLISHED} desc,score desc,{fields.ID} asc",
}


def words_of(text: str, segmenter: Segmenter) -> tuple[str, ...]:
    """The words of `text` in order, marks and blanks left out."""
    return tuple(word for word in segmenter.cut(text) if has_word(word))


def search_params(asked: SearchRequest, words: Mapping[Form, Sequence[str]], page_size: int) -> Params:
    """Solr parameters of one result page.

    `words` holds the query cut by the published lexicon (`Form.DOMAIN`, always: it highlights and filters) and, for
    the profile `base`, by the base dictionary.
    """
    return [
        *rank_params(asked.text, words, asked.profile),
        *_filters(asked, words),
        *_paging(asked, page_size),
        *_highlighting(),
        ("json.facet", json.dumps(_facets(asked))),
    ]


def phrases(text: str) -> tuple[str, ...]:
    """The quoted parts of a query: `"世界石油大会" 2016` -> `世界石油大会`. At most five; an open quote is none."""
    found = (match.strip() for match in QUOTED.findall(text))
    return tuple(phrase for phrase in found if has_word(phrase))[:MOST_PHRASES]


def _filters(asked: SearchRequest, words: Mapping[Form, Sequence[str]]) -> Params:
    filters: Params = []
    for n, text in enumerate(_required(asked, words)):
        filters += _holds(f"held{n}", text)
    if asked.sites:
        filters += [("fq", f"{{!terms tag=site f={fields.SITE} v=$sites}}"), ("sites", ",".join(asked.sites))]
    if span := asked.span():
        filters.append(("fq", f"{{!tag=date}}{fields.PUBLISHED}:[{span[0]} TO {span[1]}}}"))
    return filters


def _required(asked: SearchRequest, words: Mapping[Form, Sequence[str]]) -> list[str]:
    """What a document must hold: quoted phrases; by date also every word, as no score sinks a poor match then."""
    by_date = words[Form.DOMAIN] if asked.sort is Sort.DATE else ()
    return list(dict.fromkeys([*phrases(asked.text), *by_date]))


def _holds(name: str, text: str) -> Params:
    """Title or body holds `text` as a run of characters, whatever lexicon the document was cut with."""
    either = run_of_characters(f"{fields.TITLE_CHARS} {fields.BODY_CHARS}", name)
    return [("fq", either), (name, as_phrase(text))]


def _paging(asked: SearchRequest, page_size: int) -> Params:
    shown = (fields.ID, fields.URL, fields.SITE, fields.TITLE, fields.PUBLISHED_TEXT)
    return [
        ("start", str((asked.page - 1) * page_size)),
        ("rows", str(page_size)),
        ("fl", ",".join(shown)),
        ("sort", _SORTS[asked.sort]),
    ]


_HIGHLIGHTED = (fields.TITLE, fields.BODY, fields.TITLE_DOMAIN, fields.BODY_DOMAIN)


def _highlighting() -> Params:
    """Whole titles and the best sentences, by bigrams and by words; `results` picks. All texts are stored."""
    by_words = Clause(Form.DOMAIN, ((fields.TITLE_DOMAIN, 1.0), (fields.BODY_DOMAIN, 1.0)))
    whole = [(f"f.{name}.hl.fragsize", "0") for name in (fields.TITLE, fields.TITLE_DOMAIN)]
    return [
        ("hl", "true"),
        ("hl.method", "unified"),
        ("hl.q", "{!bool should=$hl_text should=$hl_words}"),
        ("hl_text", BIGRAMS.query()),
        ("hl_words", by_words.query()),
        ("hl.fl", ",".join(_HIGHLIGHTED)),
        ("hl.requireFieldMatch", "true"),
        ("hl.tag.pre", MARK_ON),
        ("hl.tag.post", MARK_OFF),
        ("hl.snippets", "2"),
        ("hl.fragsize", "80"),
        ("hl.defaultSummary", "true"),
        *whole,
    ]


def _facets(asked: SearchRequest) -> Mapping[str, object]:
    """Sites, and years or the months of the one year asked for. A facet ignores its own filter."""
    year = asked.only_year()
    start, end, gap = f"{FIRST_YEAR}-01-01T00:00:00Z", "NOW/YEAR+1YEAR", "+1YEAR"
    if year:
        start, end, gap = f"{year:04}-01-01T00:00:00Z", f"{year + 1:04}-01-01T00:00:00Z", "+1MONTH"
    return {
        "sites": {"type": "terms", "field": fields.SITE, "limit": 20, "domain": {"excludeTags": "site"}},
        "dates": {
            "type": "range", "field": fields.PUBLISHED, "start": start, "end": end, "gap": gap,
            "mincount": 0, "domain": {"excludeTags": "date"},
        },
    }  # fmt: skip


def site_params() -> Params:
    """What the home page counts: documents, sites, newest day."""
    facets = {"sites": f"unique({fields.SITE})", "newest": f"max({fields.PUBLISHED})"}
    return [("q", "*:*"), ("rows", "0"), ("json.facet", json.dumps(facets)), *FIXED]
