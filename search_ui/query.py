"""What a reader asked, as Solr parameters. Pure: reads no clock, no store, no network.

A reader's words are only ever *values* of parameters (`text`, `domain_words`, `held0` ...), which fixed queries name
as `v=$text`. Those queries use Solr's `simple` parser with every operator switched off, or all but quotation marks,
which are then ours; and macros (`${...}`) are switched off. So no input can name a field, a function or a parser.

Scores of the fields are summed, terms are OR-ed (docs/decisions.md, Ranking); a profile says which fields count.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from docstore import fields
from search_ui.request import SearchRequest, Sort
from search_ui.texts import has_word
from semantics.segment import Segmenter

Params = list[tuple[str, str]]

MARK_ON, MARK_OFF = "\U0010fffc", "\U0010fffd"  # private use, plane 16: what Solr puts around a match
MOST_PHRASES = 5
FIRST_YEAR = 1990  # of the date histogram


class Form(StrEnum):
    """The forms in which a query is sent; the value is the name of the Solr parameter that carries it."""

    TEXT = "text"  # as it was typed: Solr cuts it into bigrams or characters
    DOMAIN = "domain_words"  # words by the published lexicon, joined like those of the documents
    BASE = "base_words"  # words by the base dictionary


@dataclass(frozen=True)
class Clause:
    """One summand of the score: a form of the query against some fields, each with its weight."""

    form: Form
    weights: tuple[tuple[str, float], ...]

    def query(self) -> str:
        """Solr's query for this clause. The reader's text stays behind `$`."""
        listed = " ".join(f"{name}^{weight:g}" for name, weight in self.weights)
        return f"{{!simple qf='{listed}' q.op=OR q.operators='' v=${self.form}}}"


@dataclass(frozen=True)
class Profile:
    """A way to rank. `exact_title` weighs a title that holds the whole query as one phrase."""

    clauses: tuple[Clause, ...]
    exact_title: float = 0.0


_TITLE = 0.3  # a title counts a little more than its words in the body would; more hurts on statutes
_BIGRAMS = Clause(Form.TEXT, ((fields.TITLE, _TITLE), (fields.BODY, 1.0)))
_CHARACTERS = Clause(Form.TEXT, ((fields.TITLE_CHARS, _TITLE), (fields.BODY_CHARS, 1.0)))
_WORDS = Clause(Form.DOMAIN, ((fields.TITLE_DOMAIN, _TITLE * 0.5), (fields.BODY_DOMAIN, 0.5)))

PROFILES: Mapping[str, Profile] = {
    "plumbline": Profile((_BIGRAMS, _CHARACTERS, _WORDS), exact_title=0.5),
    "bigram": Profile((_BIGRAMS,)),
    # The two sides of the comparison search (Wang Du 2019, WD-S3): nothing but words.
    "domain": Profile((Clause(Form.DOMAIN, ((fields.TITLE_DOMAIN, _TITLE), (fields.BODY_DOMAIN, 1.0))),)),
    "base": Profile((Clause(Form.BASE, ((fields.TITLE_BASE, _TITLE), (fields.BODY_BASE, 1.0))),)),
}

_SORTS: Mapping[Sort, str] = {
    Sort.RELEVANCE: f"score desc,{fields.PUBLISHED} desc,{fields.ID} asc",
    Sort.DATE: f"{fields.PUBLISHED} desc,score desc,{fields.ID} asc",
}
_QUOTED = re.compile(r'["“]([^"“”]+)["”]')


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


def rank_params(text: str, words: Mapping[Form, Sequence[str]], profile: str) -> Params:
    """The parameters that find and rank by `profile`: query, its parts, and the texts they point at."""
    parts = [(f"part{n}", clause.query()) for n, clause in enumerate(PROFILES[profile].clauses)]
    if weight := PROFILES[profile].exact_title:
        parts += [("exact", _run_of_characters(f"{fields.TITLE_CHARS}^{weight:g}", "quoted"))]
    called = " ".join(f"should=${name}" for name, _ in parts)
    texts = [*_texts(text, words), ("quoted", _quoted(text))]
    return [("q", f"{{!bool {called}}}"), *parts, *texts, *_FIXED]


_FIXED: Params = [("expandMacros", "false"), ("wt", "json"), ("echoParams", "none")]


def _texts(text: str, words: Mapping[Form, Sequence[str]]) -> Params:
    plain = _QUOTED.sub(r" \1 ", text)
    return [(Form.TEXT, plain), *((form, fields.WORD_JOINT.join(cut)) for form, cut in words.items())]


def phrases(text: str) -> tuple[str, ...]:
    """The quoted parts of a query: `"世界石油大会" 2016` -> `世界石油大会`. At most five; an open quote is none."""
    found = (match.strip() for match in _QUOTED.findall(text))
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
    either = _run_of_characters(f"{fields.TITLE_CHARS} {fields.BODY_CHARS}", name)
    return [("fq", either), (name, _quoted(text))]


def _run_of_characters(looked_in: str, name: str) -> str:
    """The query for a phrase; unlike `field`, `simple` makes a query even of a text without any token."""
    return f"{{!simple qf='{looked_in}' q.operators=phrase v=${name}}}"


def _quoted(text: str) -> str:
    """`text` as the one phrase of its parameter. A quotation mark is the only sign that could end it."""
    return '"' + text.replace('"', " ") + '"'


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
        ("hl_text", _BIGRAMS.query()),
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
    return [("q", "*:*"), ("rows", "0"), ("json.facet", json.dumps(facets)), *_FIXED]
