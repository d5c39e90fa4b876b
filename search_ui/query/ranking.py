"""How found documents are ordered: the ranking profiles, by name, as queries of Solr.

Scores of the fields are summed, terms are OR-ed (docs/ranking.md); a profile says which fields count.
"""

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from docstore import fields
from search_ui.query.clauses import FIXED, FieldClause, Params, QueryVariant, as_phrase, run_of_characters
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
    document gets that holds every content word; one that has the query for its title comes `titled_first`.
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


QUOTED = re.compile(r'["“]([^"“”]+)["”]')
_TITLE = 0.3  # where nothing tells works from single pages, more hurts
BIGRAMS = FieldClause(QueryVariant.TEXT, ((fields.TITLE, _TITLE), (fields.BODY, 1.0)))
_PAIRS = FieldClause(QueryVariant.TEXT, ((fields.BODY, 1.0),))

PROFILES: Mapping[str, Profile] = {
    # The weights were fitted on the queries of docs/ranking.md, all collections together.
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
    ),
    "bigram": Profile((BIGRAMS,)),
    # The two sides of the comparison search (Wang Du 2019, WD-S3): nothing but words.
    "domain": Profile((FieldClause(QueryVariant.DOMAIN, ((fields.TITLE_DOMAIN, _TITLE), (fields.BODY_DOMAIN, 1.0))),)),
    "base": Profile((FieldClause(QueryVariant.BASE, ((fields.TITLE_BASE, _TITLE), (fields.BODY_BASE, 1.0))),)),
}


def rank_params(text: str, words: Mapping[QueryVariant, Sequence[str]], profile: str) -> Params:
    """The parameters that find and rank by `profile`: query, its parts, and the texts they point at."""
    parts = _parts(PROFILES[profile], text, words)
    called = " ".join(f"should=${name}" for name in parts)
    titles = [(f"title{n}", clause.query()) for n, clause in enumerate(PROFILES[profile].titles)]
    more = [*titles, *_fresh(profile, words), *(all_of_it(words) if "covered" in parts else ())]
    texts = [*_texts(text, words), ("quoted", as_phrase(text))]
    return [("q", f"{{!bool {called}}}"), *parts.items(), *more, *texts, *FIXED]


def _fresh(profile: str, words: Mapping[QueryVariant, Sequence[str]]) -> Params:
    """What `fresh` names: documents that hold a fresh word; and those that are cut anew, which count by their words."""
    weight = term_weight(PROFILES[profile])
    if not (weight and words.get(QueryVariant.FRESH)):
        return []
    cut = FieldClause(QueryVariant.CUT_ANEW, ((fields.TITLE_DOMAIN, 1.0), (fields.BODY_DOMAIN, 1.0)))
    return [
        ("fresh_run", run_of_characters(f"{fields.BODY_CHARS}^{weight:g}", QueryVariant.FRESH)),
        ("cut_anew", cut.query()),
        (QueryVariant.CUT_ANEW, joined(words[QueryVariant.FRESH])),
    ]  # fmt: skip


_PARTS_OF_WORKS = f"{fields.WORK}:[* TO *]"
_FIRST = 100.0  # more than all else together
MAX_PARTS = 12  # no document holds all words of a longer question


def _parts(profile: Profile, text: str, words: Mapping[QueryVariant, Sequence[str]]) -> dict[str, str]:
    """The summands of the score: name of the parameter -> query."""
    asked = [clause for clause in profile.clauses if clause.form is not QueryVariant.TERMS or _terms(words)]
    parts = {f"part{n}": clause.query() for n, clause in enumerate(asked)}
    if profile.titles:
        called = " ".join(f"should=$title{n}" for n in range(len(profile.titles)))
        parts["titles"] = f"{{!bool {called} must_not='{_PARTS_OF_WORKS}'}}"
    if weight := profile.exact_title:
        parts["exact"] = run_of_characters(f"{fields.TITLE_CHARS}^{weight:g}", "quoted")
    if profile.titled_first and title_keys(text):
        for form in (QueryVariant.TITLE_KEY, QueryVariant.TITLE_AS_IS):
            parts[f"titled_{form}"] = FieldClause(form, ((fields.TITLE_KEY, _FIRST),)).query()
    if (weight := profile.all_parts) and 1 < len(whole_of(words)) <= MAX_PARTS:
        parts["covered"] = f"{{!lucene v='_query_:\"{{!v=$whole}}\"^={weight:g}'}}"
    if profile.numbers and numbers(text):
        parts["numbered"] = FieldClause(QueryVariant.NUMBERS, ((fields.TITLE_NUMBERS, profile.numbers),)).query()
    if profile.pieces and _telling_pieces(text):
        parts["glued"] = FieldClause(
            QueryVariant.PIECES, ((fields.TITLE, profile.pieces), (fields.BODY, profile.pieces))
        ).query()
    if term_weight(profile) and words.get(QueryVariant.FRESH):
        parts["fresh"] = "{!bool should=$fresh_run must_not=$cut_anew}"
    if (weight := profile.synonyms) and synonyms_in(words.get(QueryVariant.SYNONYMS, ())):
        parts["also"] = run_of_characters(f"{fields.BODY_CHARS}^{weight:g}", QueryVariant.SYNONYMS)
    if profile.works and words.get(QueryVariant.WORKS):
        parts["work"] = f"{{!lucene df={fields.WORK} q.op=OR v=${QueryVariant.WORKS}}}"
    return parts


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
    return [
        ("q", _PAIRS.query()),
        (QueryVariant.TEXT, _plain(text)),
        ("fq", _PARTS_OF_WORKS),
        ("fl", f"{fields.WORK},score"),
        ("rows", str(DEPTH)),
        ("minExactCount", str(DEPTH)),
        *FIXED,
    ]


def works_in(answer: Mapping[str, Any], profile: str) -> tuple[str, ...]:
    """The works that answer a query best, as `rank_params` takes them (`WORKS`): id and weight, best first.

    `answer` is Solr's to `works_params`. A work is worth the mean score of its ten best parts, those that it lacks
    counted as 0: one part that matches by chance lifts nothing.
    """
    scores: dict[str, list[float]] = defaultdict(list)
    for doc in answer.get("response", {}).get("docs", ()):
        scores[str(doc[fields.WORK])].append(float(doc["score"]))
    worth = {work: sum(sorted(found)[-BEST_PARTS:]) / BEST_PARTS for work, found in scores.items()}
    best = sorted((work for work in worth if _WORK.fullmatch(work)), key=lambda work: (-worth[work], work))
    return tuple(f"{work}^={worth[work] * PROFILES[profile].works:.4f}" for work in best[:MAX_WORKS])


def _texts(text: str, words: Mapping[QueryVariant, Sequence[str]]) -> Params:
    domain, older = words.get(QueryVariant.DOMAIN, ()), words.get(QueryVariant.OLDER, ())
    cuts = {**words, QueryVariant.DOMAIN: [*domain, *(word for word in older if word not in domain)]}
    cuts[QueryVariant.TERMS] = _terms(cuts)
    forms = [
        (form, joined(cuts[form]))
        for form in (QueryVariant.DOMAIN, QueryVariant.BASE, QueryVariant.TERMS)
        if form in cuts
    ]
    fresh = " ".join(map(as_phrase, words.get(QueryVariant.FRESH, ())))
    synonyms = " ".join(map(as_phrase, synonyms_in(words.get(QueryVariant.SYNONYMS, ()))))
    works = " ".join(words.get(QueryVariant.WORKS, ()))
    of_text = [
        (QueryVariant.TEXT, _plain(text)), (QueryVariant.PIECES, " ".join(_telling_pieces(text))),
        (QueryVariant.NUMBERS, " ".join(numbers(text))),
        *zip((QueryVariant.TITLE_KEY, QueryVariant.TITLE_AS_IS), title_keys(text), strict=False),
    ]  # fmt: skip
    return [
        *of_text,
        *forms,
        (QueryVariant.FRESH, fresh),
        (QueryVariant.SYNONYMS, synonyms),
        (QueryVariant.WORKS, works),
    ]


def _telling_pieces(text: str) -> list[str]:
    """What is glued in `text`, taken apart; a digit by itself (`neo4j`) is in everything."""
    return [piece for piece in pieces(text) if len(piece) > 1]


def _terms(words: Mapping[QueryVariant, Sequence[str]]) -> list[str]:
    """What the lexicon keeps whole and the base dictionary cuts, or cuts otherwise."""
    common = frozenset(words.get(QueryVariant.BASE, ()))
    return [word for word in words.get(QueryVariant.DOMAIN, ()) if word not in common]


def _plain(text: str) -> str:
    """`text` without the marks that quote."""
    return QUOTED.sub(r" \1 ", text)
