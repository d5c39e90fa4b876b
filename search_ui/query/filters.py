"""Which documents a request leaves in, as Solr's filters. Pure.

Each filter has a tag of its own, so that a facet can be counted without it. As in `ranking`, a reader's text
is only ever the value of a parameter that a fixed query names; dates are written anew from dates that were read.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date

import idna

from docstore import fields
from search_ui.query.clauses import ALL, Clause, Parameter, QueryVariant, Words
from search_ui.query.min_should_match import parts_of
from search_ui.query.parse import Part, PartKind, Query
from search_ui.query.request import CHOSEN, SearchRequest, Sort
from search_ui.query.thesaurus import spellings_in

Spellings = Callable[[str], Sequence[str]]
"""A word -> the other words that say the same (its synonyms in the lexicon), maybe none."""

_ANYWHERE = f"{fields.TITLE_CHARS} {fields.BODY_CHARS}"


@dataclass(frozen=True)
class Filter:
    """One filter: its tag, the queries that a document has to match, and the `parts` of the query that ask for it.

    A filter that stands in the URL and not in the query has no parts and is named by `field` of the request.
    """

    tag: str
    clauses: tuple[Clause, ...]
    parts: tuple[Part, ...] = ()
    field: str = ""


def no_spellings(word: str) -> Sequence[str]:
    """No word has synonyms."""
    return ()


def filters_of(asked: SearchRequest, words: Sequence[str], spellings: Spellings = no_spellings) -> list[Filter]:
    """The filters of a request one by one: what is typed, then what was chosen beside the results.

    `words` is the query's text cut by the published lexicon.
    """
    return [*_typed(asked.query, spellings), *_every_word(asked, words, spellings), *_chosen(asked)]


def filter_clauses(asked: SearchRequest, words: Words) -> list[Clause]:
    """All filters of a request together; `words` is its text cut into words, with their synonyms."""
    spellings = spellings_in(words.get(QueryVariant.SYNONYMS, ()))
    return [clause for one in filters_of(asked, parts_of(words), spellings) for clause in one.clauses]


def _typed(query: Query, spellings: Spellings) -> list[Filter]:
    texts = [part for part in query.conditions if part.kind in (PartKind.WORD, PartKind.PHRASE, PartKind.TITLE)]
    filters = [_text_filter(f"typed{n}", part, spellings) for n, part in enumerate(texts)]
    for is_excluded in (False, True):
        sites = tuple(part for part in query.parts if part.kind is PartKind.SITE and part.is_excluded is is_excluded)
        filters += [_site_filter(sites, is_excluded)] if sites else []
    dates = tuple(part for part in query.parts if part.kind in (PartKind.AFTER, PartKind.BEFORE))
    if dates:
        filters.append(Filter("typed_date", (_published("typed_date", _day(query.since), _day(query.until)),), dates))
    return filters


def _text_filter(tag: str, part: Part, spellings: Spellings) -> Filter:
    """What is quoted or excluded is meant to the letter; a title may say the same by another word."""
    in_title = part.kind is PartKind.TITLE
    texts = (part.text, *spellings(part.text)) if in_title else (part.text,)
    holds = _holds(tag, tag, texts, fields.TITLE_CHARS if in_title else _ANYWHERE)
    return Filter(tag, (_without(tag, holds) if part.is_excluded else holds,), (part,))


def _every_word(asked: SearchRequest, words: Sequence[str], spellings: Spellings) -> list[Filter]:
    """By date every word has to be there, or one that says the same: no score sinks a poor match then."""
    if asked.sort is not Sort.DATE:
        return []
    missing = [word for word in dict.fromkeys(words) if word not in asked.query.wanted(PartKind.PHRASE)]
    held = tuple(_holds("words", f"word{n}", (word, *spellings(word)), _ANYWHERE) for n, word in enumerate(missing))
    return [Filter("words", held, field="sort")] if held else []


def _holds(tag: str, name: str, texts: Sequence[str], within: str) -> Clause:
    """A text of the document holds one of `texts` as a run of characters, whatever lexicon it was cut with."""
    return Clause.phrases(within, name, texts, "OR", tag)


def _without(tag: str, query: Clause) -> Clause:
    """All documents but those that `query` finds."""
    return Clause.boolean(must=[ALL], must_not=[Parameter(f"{tag}_out", query)], tag=tag)


def _site_filter(parts: tuple[Part, ...], is_excluded: bool) -> Filter:
    """The sites of any of the parts. `site:news.example` means the sites below that name as well."""
    tag = "outside" if is_excluded else "inside"
    inside = Clause.any_value(fields.DOMAINS, f"{tag}_of", (_host(part.text) for part in parts), tag)
    return Filter(tag, (_without(tag, inside) if is_excluded else inside,), parts)


def _published(tag: str, first: str, end: str) -> Clause:
    return Clause(options=(("tag", tag),), rest=f"{fields.PUBLISHED}:[{first} TO {end}}}")


def _host(typed: str) -> str:
    """A name as URLs have it: `例子.cn` -> `xn--fsqu00a.cn`."""
    name, colon, port = typed.partition(":")
    try:
        return idna.encode(name, uts46=True).decode("ascii") + colon + port
    except idna.IDNAError:
        return typed


def _day(day: date | None) -> str:
    return f"{day.isoformat()}T00:00:00Z" if day else "*"


_ANY_OF: Mapping[str, str] = {
    "sites": fields.SITE, "sections": fields.SECTION, "languages": fields.LANGUAGE, "authors": fields.AUTHOR,
    "types": fields.PAGE_TYPE, "formats": fields.FORMAT,
}  # fmt: skip


def _chosen(asked: SearchRequest) -> list[Filter]:
    """What was chosen beside the results: any of the sites, sections ..., all of the terms, one cluster, a span."""
    any_of = ((CHOSEN[name], looked_in, getattr(asked, name), name) for name, looked_in in _ANY_OF.items())
    filters = [_any_of(*one) for one in any_of if one[2]]
    if asked.terms:
        each = (Clause.one_value(fields.DOMAIN_TERMS, f"terms{n}", term, "term") for n, term in enumerate(asked.terms))
        filters.append(Filter("term", tuple(each), field="terms"))
    if asked.cluster:
        filters.append(_any_of("cluster", fields.CLUSTER, (asked.cluster,), "cluster"))
    if span := asked.span():
        filters.append(Filter("date", (_published("date", *span),), field="date"))
    return filters


def _any_of(tag: str, looked_in: str, values: Sequence[str], field: str) -> Filter:
    return Filter(tag, (Clause.any_value(looked_in, field, values, tag),), field=field)
