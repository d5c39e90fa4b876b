"""Which documents a request leaves in, as Solr's filters. Pure.

Each filter has a tag of its own, so that a facet can be counted without it. As in `ranking`, a reader's text
is only ever the value of a parameter that a fixed query names; dates are written anew from dates that were read.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date

import idna

from docstore import fields
from search_ui.query.clauses import Params, as_phrase
from search_ui.query.parse import Part, PartKind, Query
from search_ui.query.request import CHOSEN, SearchRequest, Sort

Spellings = Callable[[str], Sequence[str]]
"""A word -> the other words that say the same (its synonyms in the lexicon), maybe none."""

SEPARATOR = "\x1f"  # between the values of one parameter; no name of a site or a section holds it
_EVERYTHING: Params = [("everything", "*:*")]
_ANYWHERE = f"{fields.TITLE_CHARS} {fields.BODY_CHARS}"


@dataclass(frozen=True)
class Filter:
    """One filter: its tag, what Solr is sent for it, and the `parts` of the query that ask for it.

    A filter that stands in the URL and not in the query has no parts and is named by `field` of the request.
    """

    tag: str
    params: Params
    parts: tuple[Part, ...] = ()
    field: str = ""


def no_spellings(word: str) -> Sequence[str]:
    """No word has synonyms."""
    return ()


def filter_params(
    asked: SearchRequest, query: Query, words: Sequence[str], spellings: Spellings = no_spellings
) -> Params:
    """All filters of a request as Solr parameters. `words` is the query's text cut by the published lexicon."""
    return [pair for one in filters_of(asked, query, words, spellings) for pair in one.params]


def filters_of(
    asked: SearchRequest, query: Query, words: Sequence[str], spellings: Spellings = no_spellings, prefix: str = ""
) -> list[Filter]:
    """The filters of a request one by one: what is typed, then what was chosen beside the results.

    All parameters that carry a text begin with `prefix`, so that several requests can stand in one question to Solr.
    """
    filters = [*_typed(query, spellings, prefix), *_every_word(asked, query, words, spellings, prefix)]
    return [*filters, *_chosen(asked, prefix)]


def _typed(query: Query, spellings: Spellings, prefix: str) -> list[Filter]:
    texts = [part for part in query.conditions if part.kind in (PartKind.WORD, PartKind.PHRASE, PartKind.TITLE)]
    filters = [_text_filter(f"typed{n}", f"{prefix}typed{n}", part, spellings) for n, part in enumerate(texts)]
    for is_excluded in (False, True):
        sites = tuple(part for part in query.parts if part.kind is PartKind.SITE and part.is_excluded is is_excluded)
        filters += [_site_filter(sites, is_excluded, prefix)] if sites else []
    dates = tuple(part for part in query.parts if part.kind in (PartKind.AFTER, PartKind.BEFORE))
    if dates:
        span = f"[{_day(query.since)} TO {_day(query.until)}}}"
        filters.append(Filter("typed_date", [("fq", f"{{!tag=typed_date}}{fields.PUBLISHED}:{span}")], dates))
    return filters


def _text_filter(tag: str, name: str, part: Part, spellings: Spellings) -> Filter:
    """What is quoted or excluded is meant to the letter; a title may say the same by another word."""
    if part.kind is PartKind.TITLE:
        holds = _holds(tag, name, (part.text, *spellings(part.text)), fields.TITLE_CHARS, part.is_excluded)
    else:
        holds = _holds(tag, name, (part.text,), _ANYWHERE, part.is_excluded)
    return Filter(tag, holds, (part,))


def _every_word(
    asked: SearchRequest, query: Query, words: Sequence[str], spellings: Spellings, prefix: str
) -> list[Filter]:
    """By date every word has to be there, or one that says the same: no score sinks a poor match then."""
    if asked.sort is not Sort.DATE:
        return []
    missing = [word for word in dict.fromkeys(words) if word not in query.wanted(PartKind.PHRASE)]
    held = [_holds("words", f"{prefix}word{n}", (word, *spellings(word)), _ANYWHERE) for n, word in enumerate(missing)]
    return [Filter("words", [pair for params in held for pair in params], field="sort")] if held else []


def _holds(tag: str, name: str, texts: Sequence[str], within: str, is_excluded: bool = False) -> Params:
    """A text of the document holds one of `texts` as a run of characters, whatever lexicon it was cut with.

    Unlike `field`, the parser `simple` makes a query even of a text in which Solr finds no token.
    """
    looked_for = (name, " ".join(map(as_phrase, texts)))
    phrase = f"{{!simple tag={tag} qf='{within}' q.op=OR q.operators=phrase v=${name}}}"
    return [*(_without(tag, name, phrase) if is_excluded else [("fq", phrase)]), looked_for]


def _without(tag: str, name: str, query: str) -> Params:
    """All documents but those that `query` finds."""
    named = f"{name}_out"
    return [("fq", f"{{!bool tag={tag} must=$everything must_not=${named}}}"), (named, query), *_EVERYTHING]


def _site_filter(parts: tuple[Part, ...], is_excluded: bool, prefix: str) -> Filter:
    """The sites of any of the parts. `site:news.example` means the sites below that name as well."""
    tag = "outside" if is_excluded else "inside"
    name = f"{prefix}{tag}"
    looked_for = (f"{name}_of", SEPARATOR.join(_host(part.text) for part in parts))
    query = f"{{!terms tag={tag} f={fields.DOMAINS} separator='{SEPARATOR}' v=${name}_of}}"
    return Filter(tag, [*(_without(tag, name, query) if is_excluded else [("fq", query)]), looked_for], parts)


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
    "types": fields.PAGE_TYPE,
}  # fmt: skip


def _chosen(asked: SearchRequest, prefix: str) -> list[Filter]:
    """What was chosen beside the results: any of the sites, sections ..., all of the terms, one cluster, a span."""
    any_of = ((name, _ANY_OF[name], getattr(asked, name)) for name in _ANY_OF)
    filters = [_any_of(CHOSEN[name], looked_in, values, name, prefix) for name, looked_in, values in any_of if values]
    if asked.terms:
        filters.append(_all_of("term", fields.DOMAIN_TERMS, asked.terms, "terms", prefix))
    if asked.cluster:
        filters.append(_any_of("cluster", fields.CLUSTER, (asked.cluster,), "cluster", prefix))
    if span := asked.span():
        query = f"{{!tag=date}}{fields.PUBLISHED}:[{span[0]} TO {span[1]}}}"
        filters.append(Filter("date", [("fq", query)], field="date"))
    return filters


def _any_of(tag: str, looked_in: str, values: Sequence[str], field: str, prefix: str) -> Filter:
    query = f"{{!terms tag={tag} f={looked_in} separator='{SEPARATOR}' v=${prefix}{field}}}"
    return Filter(tag, [("fq", query), (f"{prefix}{field}", SEPARATOR.join(values))], field=field)


def _all_of(tag: str, looked_in: str, values: Sequence[str], field: str, prefix: str) -> Filter:
    params: Params = []
    for n, value in enumerate(values):
        params += [("fq", f"{{!term tag={tag} f={looked_in} v=${prefix}{field}{n}}}"), (f"{prefix}{field}{n}", value)]
    return Filter(tag, params, field=field)
