"""What to offer a reader who finds nothing, or nearly nothing.

    SPELLED    another spelling (search_ui/spelling/spellings.py)
    LOOSENED   a quoted phrase searched by its parts
    WITHOUT    one filter fewer
    ALONE      one word of the query by itself

All that could be offered is counted in one question to Solr, by the very queries that would be sent for it; what finds
no more than there is already, is not offered.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from docstore import fields
from search_ui.query.clauses import EVERYTHING, Clause, Parameter, Params, QueryVariant, Words, select_params
from search_ui.query.filters import Filter, filter_clauses, filters_of
from search_ui.query.min_should_match import all_of_it, min_should_match, parts_of
from search_ui.query.parse import Part, PartKind, Query, parse
from search_ui.query.request import CHOSEN, SearchRequest, Sort
from search_ui.query.solr_client import Answer, Search
from search_ui.spelling.spellings import (
    Meant,
    has_latin_word,
    other_spellings,
    pieces_heard,
    spelled_by_solr,
    spelling_params,
)
from search_ui.spelling.title_sounds import readings_of, runs_in, sound_params
from search_ui.spelling.vocabulary import Vocabulary
from text.segment import Segmenter

FEW = 2  # results up to which help is offered
MAX_SPELLED = 4  # spellings that are counted
MAX_OTHERS = 8  # phrases and filters
MAX_ALONE = 8  # words of a query that are offered one by one

Counted = tuple[SearchRequest, Words]


class DidYouMeanKind(StrEnum):
    """Why something is offered."""

    SPELLED = "spelled"
    LOOSENED = "loosened"
    WITHOUT = "without"
    ALONE = "alone"


@dataclass(frozen=True)
class DidYouMean:
    """Another search, with the number of documents it finds.

    `label` is the other spelling, the phrase, the word, or the condition that is left out; it is "" where a whole kind
    of filter is, which `field` names (`sites`, `date`, ...; `sort` for the order by date, which asks for every word).
    `whole` counts those of the documents that hold every word of it.
    """

    kind: DidYouMeanKind
    asked: SearchRequest
    label: str = ""
    field: str = ""
    count: int = 0
    whole: int = 0


def offers_for(
    search: Search,
    asked: SearchRequest,
    vocabulary: Vocabulary,
    words: Callable[[SearchRequest], Words],
    base: Segmenter,
    total: int,
) -> list[DidYouMean]:
    """What finds more than the `total` documents that `asked` finds. Asks Solr at most three times; raises as `select`
    does.

    `words` cuts the text of a request as `solr_params` wants it, `base` is the base dictionary's segmenter.
    """
    heard = _sounding_in_titles(search, pieces_heard(asked.query, parts_of(words(asked)), vocabulary), base)
    tiers = other_spellings(asked.query, vocabulary, Meant(_spelled_by_solr(search, asked.query), heard))
    likely, less_likely = (_spelled(asked, tier[:MAX_SPELLED]) for tier in tiers)
    others = [*_loosened(asked, words), *_without(asked, words(asked))][:MAX_OTHERS]
    useful = _useful(search, [*likely, *less_likely, *others, *_alone(asked, words(asked))], words, total)
    if any(offer.asked == other.asked for offer in likely for other in useful):
        useful = [offer for offer in useful if all(offer.asked != other.asked for other in less_likely)]
    return useful


def _spelled_by_solr(search: Search, query: Query) -> Mapping[str, str]:
    if not has_latin_word(query):
        return {}
    return spelled_by_solr(search.select(select_params(EVERYTHING, more=spelling_params(query))))


def _sounding_in_titles(search: Search, pieces: Sequence[str], base: Segmenter) -> Mapping[str, Sequence[str]]:
    readings = readings_of(pieces)
    return runs_in(search.select(sound_params(readings)), readings, base) if readings else {}


def _useful(
    search: Search, possible: Sequence[DidYouMean], words: Callable[[SearchRequest], Words], total: int
) -> list[DidYouMean]:
    """Those of the offers that find more, with what they find."""
    if not possible:
        return []
    question = count_params([(offer.asked, words(offer.asked)) for offer in possible])
    counts = counts_of(search.select(question), len(possible))
    counted = (replace(offer, count=n, whole=whole) for offer, (n, whole) in zip(possible, counts, strict=True))
    return [offer for offer in counted if offer.count > total or _is_as_good(offer, total)]


def _is_as_good(offer: DidYouMean, total: int) -> bool:
    """Another spelling may find what the query found by half of its characters, and this time by all of them."""
    return offer.kind is DidYouMeanKind.SPELLED and offer.count == total > 0


def _spelled(asked: SearchRequest, queries: Sequence[Query]) -> list[DidYouMean]:
    return [DidYouMean(DidYouMeanKind.SPELLED, _typing(asked, query), query.text) for query in queries]


def _loosened(asked: SearchRequest, words: Callable[[SearchRequest], Words]) -> list[DidYouMean]:
    offers = []
    for part in filter(_is_wanted_phrase, asked.query.conditions):
        cut = words(_typing(asked, Query((part,))))[QueryVariant.DOMAIN]
        looser = _typing(asked, asked.query.loosened(part, cut))
        offers.append(DidYouMean(DidYouMeanKind.LOOSENED, looser, part.text))
    return offers


def _without(asked: SearchRequest, words: Words) -> list[DidYouMean]:
    offers = [_less(asked, one) for one in filters_of(asked, parts_of(words))]
    return [offer for offer in offers if offer and offer.asked.query.parts]


def _alone(asked: SearchRequest, words: Words) -> list[DidYouMean]:
    said = frozenset(words[QueryVariant.DOMAIN])
    each = [word for word in parts_of(words) if word in said]
    if len(said) < 2 or len(each) > MAX_ALONE:  # no word says by itself what a long question asks
        return []
    return [DidYouMean(DidYouMeanKind.ALONE, _typing(asked, parse(word)), word) for word in each]


_LEFT_OUT: Mapping[str, Mapping[str, object]] = {
    **{name: {name: ()} for name in CHOSEN},
    "cluster": {"cluster": ""},
    "date": {"since": "", "until": ""},
    "sort": {"sort": Sort.RELEVANCE},
}


def _less(asked: SearchRequest, one: Filter) -> DidYouMean | None:
    """The request without one filter; a phrase is not left out but loosened."""
    if one.field:
        return DidYouMean(DidYouMeanKind.WITHOUT, asked.changed(**_LEFT_OUT[one.field]), field=one.field)
    if any(_is_wanted_phrase(part) for part in one.parts):
        return None
    label = " ".join(map(str, one.parts))
    return DidYouMean(DidYouMeanKind.WITHOUT, _typing(asked, asked.query.without(*one.parts)), label)


def _is_wanted_phrase(part: Part) -> bool:
    return part.kind is PartKind.PHRASE and not part.is_excluded


def _typing(asked: SearchRequest, query: Query) -> SearchRequest:
    return asked.changed(typed=str(query), text=str(query))


def count_params(requests: Sequence[Counted]) -> Params:
    """One question that counts the documents of several requests, near-duplicates once."""
    facets, params = {}, []
    for n, (asked, words) in enumerate(requests):
        wanted, whole = Parameter("all", _request_clause(asked, words)), all_of_it(words)
        params += [*wanted.params(f"o{n}_"), *whole.params(f"o{n}_")]
        counts = {
            "total": "unique(id)" if asked.cluster else f"unique({fields.CLUSTER})",
            "whole": {"type": "query", "q": whole.clause().syntax(f"o{n}_")},
        }
        facets[f"o{n}"] = {"type": "query", "q": wanted.clause().syntax(f"o{n}_"), "facet": counts}
    return select_params(EVERYTHING, facets=facets, more=params)


def _request_clause(asked: SearchRequest, words: Words) -> Clause:
    """One request as a query: what holds enough of its text and passes all its filters."""
    named = (Parameter(f"must{n}", clause) for n, clause in enumerate(filter_clauses(asked, words), start=1))
    return Clause.boolean(must=[min_should_match(asked, words), *named])


def counts_of(answer: Answer, requests: int) -> list[tuple[int, int]]:
    """The counts that `count_params` asked for, in its order: of what holds enough, and of what holds all of it."""
    found = (answer.get("facets", {}).get(f"o{n}", {}) for n in range(requests))
    return [(int(one.get("total", 0)), int(one.get("whole", {}).get("count", 0))) for one in found]
