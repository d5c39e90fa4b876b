"""How found documents are ordered: the ranking profiles, by name, as queries of Solr.

Scores of the fields are summed, terms are OR-ed (docs/background/ranking.md); a profile says which fields count.
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from docstore import fields
from search_ui.query.clauses import (
    Clause,
    FieldClause,
    Parameter,
    Params,
    QueryVariant,
    Texts,
    Words,
    as_phrases,
    select_params,
)
from search_ui.query.min_should_match import all_of_it, whole_of
from search_ui.query.thesaurus import synonyms_in
from text.glued import pieces
from text.joined import joined
from text.titles import numbers, title_keys


@dataclass(frozen=True)
class Profile:
    """A way to rank. `titles` count where a document is no part of a larger work: the parts of a law all bear the
    law's name, which says little of one of them. `works` weighs how well the other parts of the same work answer,
    `exact_title` a title that holds the whole query as one phrase, `synonyms` what holds a synonym of a term in it,
    `pieces` what holds a piece of a glued word, `numbers` a title with a number of the query. `all_parts` is what a
    document gets that holds every content word; one that has the query for its title comes `titled_first`. The whole
    is multiplied by one and `authority` times that of the document (`fields.AUTHORITY`): of two texts that answer, the
    one that others cite comes first. `meaning` weighs how near a document is in meaning beside its words
    (`search_ui.query.semantic.meaning`).
    """

    clauses: tuple[FieldClause, ...]
    titles: tuple[FieldClause, ...] = ()
    works: float = 0.0
    exact_title: float = 0.0
    synonyms: float = 0.0
    pieces: float = 0.0
    numbers: float = 0.0
    all_parts: float = 0.0
    titled_first: bool = False
    authority: float = 0.0
    meaning: float = 0.0


QUOTED = re.compile(r'["“]([^"“”]+)["”]')
_TITLE = 0.3  # where nothing tells works from single pages, more hurts
BIGRAMS = FieldClause(QueryVariant.TEXT, ((fields.TITLE, _TITLE), (fields.BODY, 1.0)))
_PAIRS = FieldClause(QueryVariant.TEXT, ((fields.BODY, 1.0),))

PROFILES: Mapping[str, Profile] = {
    # The weights were fitted on the queries of docs/background/ranking.md, all collections together.
    "plumbline": Profile(
        (
            _PAIRS,
            FieldClause(QueryVariant.TEXT, ((fields.BODY_CHARS, 1.75),)),
            FieldClause(QueryVariant.BASE, ((fields.BODY_BASE, 1.0),)),
            FieldClause(QueryVariant.TERMS, ((fields.BODY_DOMAIN, 0.1),)),
        ),
        titles=(
            FieldClause(QueryVariant.TEXT, ((fields.TITLE, 2.0),)),
            FieldClause(QueryVariant.BASE, ((fields.TITLE_BASE, 0.5),)),
        ),
        works=1.0,
        exact_title=0.5,
        synonyms=0.5,
        pieces=0.5,
        numbers=4.0,
        all_parts=10.0,
        titled_first=True,
        authority=0.06,
        meaning=1.0,
    ),
    "bigram": Profile((BIGRAMS,)),
    # The two sides of the comparison search (Wang Du 2019, WD-S3): nothing but words.
    "domain": Profile((FieldClause(QueryVariant.DOMAIN, ((fields.TITLE_DOMAIN, _TITLE), (fields.BODY_DOMAIN, 1.0))),)),
    "base": Profile((FieldClause(QueryVariant.BASE, ((fields.TITLE_BASE, _TITLE), (fields.BODY_BASE, 1.0))),)),
}


_PARTS_OF_WORKS = f"{fields.WORK}:[* TO *]"
_FIRST = 100.0  # more than all else together
TITLED_PARAMETER = f"titled_{QueryVariant.TITLE_KEY}"
"""Of a query with a title key: the parameter with the clause that such titles match."""
MAX_PARTS = 12  # no document holds all words of a longer question


def rank_query(text: str, words: Words, profile: str) -> Clause:
    """The query that finds and ranks by `profile`: the sum of its parts, and what authority makes of it."""
    found = Clause.boolean(_summands(PROFILES[profile], text, words))
    if not (weight := PROFILES[profile].authority):
        return found
    worth = f"'sum(1,product({weight:g},{fields.AUTHORITY}))'"
    return Clause("boost", (("b", worth), ("v", Parameter("matched", found))))


def _summands(profile: Profile, text: str, words: Words) -> Iterator[Parameter]:
    texts = texts_of(text, words)
    asked = [clause for clause in profile.clauses if clause.form is not QueryVariant.TERMS or _terms(words)]
    yield from _numbered("part", asked, texts)
    if profile.titles:
        titles = _numbered("title", profile.titles, texts)
        yield Parameter("titles", Clause.boolean(titles, must_not=[f"'{_PARTS_OF_WORKS}'"]))
    if weight := profile.exact_title:
        yield Parameter("exact", Clause.phrases(f"{fields.TITLE_CHARS}^{weight:g}", "quoted", [text]))
    if profile.titled_first and title_keys(text):
        for form in (QueryVariant.TITLE_KEY, QueryVariant.TITLE_AS_IS):
            yield Parameter(f"titled_{form}", FieldClause(form, ((fields.TITLE_KEY, _FIRST),)).query(texts))
    if (weight := profile.all_parts) and 1 < len(whole_of(words)) <= MAX_PARTS:
        covered = replace(all_of_it(words), within=f"'_query_:\"{{!v=$}}\"^={weight:g}'")
        yield Parameter("covered", Clause("lucene", (("v", covered),)))
    if profile.numbers and numbers(text):
        numbered = FieldClause(QueryVariant.NUMBERS, ((fields.TITLE_NUMBERS, profile.numbers),))
        yield Parameter("numbered", numbered.query(texts))
    if profile.pieces and _telling_pieces(text):
        glued = FieldClause(QueryVariant.PIECES, ((fields.TITLE, profile.pieces), (fields.BODY, profile.pieces)))
        yield Parameter("glued", glued.query(texts))
    if (weight := term_weight(profile)) and words.get(QueryVariant.FRESH):
        yield Parameter("fresh", _fresh(weight, texts))
    if (weight := profile.synonyms) and synonyms_in(words.get(QueryVariant.SYNONYMS, ())):
        yield Parameter("also", Clause.simple(f"{fields.BODY_CHARS}^{weight:g}", texts[QueryVariant.SYNONYMS]))
    if profile.works and words.get(QueryVariant.WORKS):
        options = (("df", fields.WORK), ("q.op", "OR"), ("v", texts[QueryVariant.WORKS]))
        yield Parameter("work", Clause("lucene", options))


def _numbered(name: str, clauses: Sequence[FieldClause], texts: Texts) -> list[Parameter]:
    return [Parameter(f"{name}{n}", clause.query(texts)) for n, clause in enumerate(clauses)]


def _fresh(weight: float, texts: Texts) -> Clause:
    """Documents that hold a fresh word, but for those that are cut anew, which count by their words."""
    run = Clause.simple(f"{fields.BODY_CHARS}^{weight:g}", texts[QueryVariant.FRESH])
    cut = FieldClause(QueryVariant.CUT_ANEW, ((fields.TITLE_DOMAIN, 1.0), (fields.BODY_DOMAIN, 1.0)))
    return Clause.boolean([Parameter("fresh_run", run)], must_not=[Parameter("cut_anew", cut.query(texts))])


def term_weight(profile: Profile) -> float:
    """What a profile gives to a word of the lexicon in the body."""
    clauses = (clause for clause in profile.clauses if clause.form in (QueryVariant.TERMS, QueryVariant.DOMAIN))
    return sum(dict(clause.weights).get(fields.BODY_DOMAIN, 0.0) for clause in clauses)


DEPTH = 200  # parts that are looked at to see which works answer a query
BEST_PARTS = 10  # of a work; it needs so many good ones to count in full
MAX_WORKS = 20
_WORK = re.compile("[0-9a-f]{16}")


def works_params(text: str, profile: str) -> Params:
    """What asks for the best parts of works, for `works_in`; [] if the profile does not want to know.

    A cheap question: pairs of characters alone, and Solr may stop counting; with no works in the
    index it costs next to nothing.
    """
    if not PROFILES[profile].works or not text:
        return []
    pairs = _PAIRS.query({_PAIRS.form: Parameter(_PAIRS.form, _plain(text))})
    parts = Clause(rest=_PARTS_OF_WORKS)
    return select_params(pairs, [parts], DEPTH, (fields.WORK, "score"), more=[("minExactCount", str(DEPTH))])


def works_in(answer: Mapping[str, Any], profile: str) -> tuple[str, ...]:
    """The works that answer a query best, as `rank_query` takes them (`WORKS`): id and weight, best first.

    `answer` is Solr's to `works_params`. A work is worth the mean score of its ten best parts, those that it lacks
    counted as 0: one part that matches by chance lifts nothing.
    """
    scores: dict[str, list[float]] = defaultdict(list)
    for doc in answer.get("response", {}).get("docs", ()):
        scores[str(doc[fields.WORK])].append(float(doc["score"]))
    worth = {work: sum(sorted(found)[-BEST_PARTS:]) / BEST_PARTS for work, found in scores.items()}
    best = sorted((work for work in worth if _WORK.fullmatch(work)), key=lambda work: (-worth[work], work))
    return tuple(f"{work}^={worth[work] * PROFILES[profile].works:.4f}" for work in best[:MAX_WORKS])


def texts_of(text: str, words: Words) -> Texts:
    """The text of each form of a query."""
    domain, older = words.get(QueryVariant.DOMAIN, ()), words.get(QueryVariant.OLDER, ())
    cuts = {**words, QueryVariant.DOMAIN: [*domain, *(word for word in older if word not in domain)]}
    fresh = words.get(QueryVariant.FRESH, ())
    texts = {
        QueryVariant.TEXT: _plain(text),
        QueryVariant.PIECES: " ".join(_telling_pieces(text)),
        QueryVariant.NUMBERS: " ".join(numbers(text)),
        **dict(zip((QueryVariant.TITLE_KEY, QueryVariant.TITLE_AS_IS), title_keys(text), strict=False)),
        QueryVariant.DOMAIN: joined(cuts[QueryVariant.DOMAIN]),
        QueryVariant.BASE: joined(words.get(QueryVariant.BASE, ())),
        QueryVariant.TERMS: joined(_terms(cuts)),
        QueryVariant.FRESH: as_phrases(fresh),
        QueryVariant.CUT_ANEW: joined(fresh),
        QueryVariant.SYNONYMS: as_phrases(synonyms_in(words.get(QueryVariant.SYNONYMS, ()))),
        QueryVariant.WORKS: " ".join(words.get(QueryVariant.WORKS, ())),
    }
    return {form: Parameter(form, carried) for form, carried in texts.items()}


def _telling_pieces(text: str) -> list[str]:
    """What is glued in `text`, taken apart; a digit by itself (`neo4j`) is in everything."""
    return [piece for piece in pieces(text) if len(piece) > 1]


def _terms(words: Words) -> list[str]:
    """What the lexicon keeps whole and the base dictionary cuts, or cuts otherwise."""
    common = frozenset(words.get(QueryVariant.BASE, ()))
    return [word for word in words.get(QueryVariant.DOMAIN, ()) if word not in common]


def _plain(text: str) -> str:
    """`text` without the marks that quote."""
    return QUOTED.sub(r" \1 ", text)
