"""How found documents are ordered: the ranking profiles, by name, as queries of Solr.

A reader's words are only ever *values* of parameters (`text`, `domain_words`, ...), which the fixed queries here name
as `v=$text`. Those queries use Solr's `simple` parser with every operator switched off, or all but quotation marks,
which are then ours; and macros (`${...}`) are switched off. So no input can name a field, a function or a parser.

Scores of the fields are summed, terms are OR-ed (docs/ranking.md); a profile says which fields count.
"""

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from docstore import fields
from search_ui.thesaurus import synonyms_in
from semantics.joined import joined

Params = list[tuple[str, str]]

FIXED: Params = [("expandMacros", "false"), ("wt", "json"), ("echoParams", "none")]
QUOTED = re.compile(r'["“]([^"“”]+)["”]')


class Form(StrEnum):
    """The forms in which a query is sent; the value is the name of the Solr parameter that carries it."""

    TEXT = "text"  # as it was typed: Solr cuts it into bigrams or characters
    DOMAIN = "domain_words"  # words by the published lexicon, joined like those of the documents
    BASE = "base_words"  # words by the base dictionary
    OLDER = "older_words"  # words by older lexicon versions, while some documents are cut by those; sent with DOMAIN's
    FRESH = "fresh_words"  # those of DOMAIN's words that older versions cut otherwise, for as long; sent as phrases
    CUT_ANEW = "words_cut_anew"  # the same, joined like DOMAIN's; made here, not handed in
    TERMS = "term_words"  # those of DOMAIN's words that the base dictionary does not have; made here, not handed in
    SYNONYMS = "synonyms"  # each a term of the query joined with its synonyms; only these are sent, as phrases
    WORKS = "works"  # ids of works whose parts answer the query, each with a weight (`works_in`); from Solr, not typed


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
    """A way to rank. `titles` count where a document is no part of a larger work: the parts of a law all bear the
    law's name, which says little of one of them. `works` weighs how well the other parts of the same work answer,
    `exact_title` a title that holds the whole query as one phrase, `synonyms` what holds a synonym of a term in it.
    """

    clauses: tuple[Clause, ...]
    titles: tuple[Clause, ...] = ()
    works: float = 0.0
    exact_title: float = 0.0
    synonyms: float = 0.0


_TITLE = 0.3  # where nothing tells works from single pages, more hurts
BIGRAMS = Clause(Form.TEXT, ((fields.TITLE, _TITLE), (fields.BODY, 1.0)))
_PAIRS = Clause(Form.TEXT, ((fields.BODY, 1.0),))

PROFILES: Mapping[str, Profile] = {
    # The weights were fitted on the queries of docs/ranking.md, all collections together.
    "plumbline": Profile(
        (
            _PAIRS,
            Clause(Form.TEXT, ((fields.BODY_CHARS, 1.75),)),
            Clause(Form.BASE, ((fields.BODY_BASE, 1.0),)),
            Clause(Form.TERMS, ((fields.BODY_DOMAIN, 0.1),)),
        ),
        titles=(Clause(Form.TEXT, ((fields.TITLE, 2.0),)), Clause(Form.BASE, ((fields.TITLE_BASE, 0.5),))),
        works=1.0,
        exact_title=0.5,
        synonyms=0.5,
    ),
    "bigram": Profile((BIGRAMS,)),
    # The two sides of the comparison search (Wang Du 2019, WD-S3): nothing but words.
    "domain": Profile((Clause(Form.DOMAIN, ((fields.TITLE_DOMAIN, _TITLE), (fields.BODY_DOMAIN, 1.0))),)),
    "base": Profile((Clause(Form.BASE, ((fields.TITLE_BASE, _TITLE), (fields.BODY_BASE, 1.0))),)),
}


def rank_params(text: str, words: Mapping[Form, Sequence[str]], profile: str) -> Params:
    """The parameters that find and rank by `profile`: query, its parts, and the texts they point at."""
    parts = _parts(PROFILES[profile], words)
    called = " ".join(f"should=${name}" for name in parts)
    titles = [(f"title{n}", clause.query()) for n, clause in enumerate(PROFILES[profile].titles)]
    texts = [*_texts(text, words), ("quoted", as_phrase(text))]
    return [("q", f"{{!bool {called}}}"), *parts.items(), *titles, *_fresh(profile, words), *texts, *FIXED]


def _fresh(profile: str, words: Mapping[Form, Sequence[str]]) -> Params:
    """What `fresh` names: documents that hold a fresh word; and those that are cut anew, which count by their words."""
    weight = term_weight(PROFILES[profile])
    if not (weight and words.get(Form.FRESH)):
        return []
    cut = Clause(Form.CUT_ANEW, ((fields.TITLE_DOMAIN, 1.0), (fields.BODY_DOMAIN, 1.0)))
    return [
        ("fresh_run", run_of_characters(f"{fields.BODY_CHARS}^{weight:g}", Form.FRESH)), ("cut_anew", cut.query()),
        (Form.CUT_ANEW, joined(words[Form.FRESH])),
    ]  # fmt: skip


_PARTS_OF_WORKS = f"{fields.WORK}:[* TO *]"


def _parts(profile: Profile, words: Mapping[Form, Sequence[str]]) -> dict[str, str]:
    """The summands of the score: name of the parameter -> query."""
    asked = [clause for clause in profile.clauses if clause.form is not Form.TERMS or _terms(words)]
    parts = {f"part{n}": clause.query() for n, clause in enumerate(asked)}
    if profile.titles:
        called = " ".join(f"should=$title{n}" for n in range(len(profile.titles)))
        parts["titles"] = f"{{!bool {called} must_not='{_PARTS_OF_WORKS}'}}"
    if weight := profile.exact_title:
        parts["exact"] = run_of_characters(f"{fields.TITLE_CHARS}^{weight:g}", "quoted")
    if term_weight(profile) and words.get(Form.FRESH):
        parts["fresh"] = "{!bool should=$fresh_run must_not=$cut_anew}"
    if (weight := profile.synonyms) and synonyms_in(words.get(Form.SYNONYMS, ())):
        parts["also"] = run_of_characters(f"{fields.BODY_CHARS}^{weight:g}", Form.SYNONYMS)
    if profile.works and words.get(Form.WORKS):
        parts["whole"] = f"{{!lucene df={fields.WORK} q.op=OR v=${Form.WORKS}}}"
    return parts


def term_weight(profile: Profile) -> float:
    """What a profile gives to a word of the lexicon in the body."""
    clauses = (clause for clause in profile.clauses if clause.form in (Form.TERMS, Form.DOMAIN))
    return sum(dict(clause.weights).get(fields.BODY_DOMAIN, 0.0) for clause in clauses)


DEPTH = 200  # parts that are looked at to see which works answer a query
BEST_PARTS = 10  # of a work; it needs so many good ones to count in full
MOST_WORKS = 20
_WORK = re.compile("[0-9a-f]{16}")


def works_params(text: str, profile: str) -> Params:
    """What asks for the best parts of works, for `works_in`; [] if the profile does not want to know.

    A cheap question: pairs of characters alone, and Solr may stop counting; with no works in the
    index it costs next to nothing.
    """
    if not PROFILES[profile].works or not text:
        return []
    return [
        ("q", _PAIRS.query()), (Form.TEXT, _plain(text)), ("fq", _PARTS_OF_WORKS), ("fl", f"{fields.WORK},score"),
        ("rows", str(DEPTH)), ("minExactCount", str(DEPTH)), *FIXED,
    ]  # fmt: skip


def works_in(answer: Mapping[str, Any], profile: str) -> tuple[str, ...]:
    """The works that answer a query best, as `rank_params` takes them (`Form.WORKS`): id and weight, best first.

    `answer` is Solr's to `works_params`. A work is worth the mean score of its ten best parts, those that it lacks
    counted as 0: one part that matches by chance lifts nothing.
    """
    scores: dict[str, list[float]] = defaultdict(list)
    for doc in answer.get("response", {}).get("docs", ()):
        scores[str(doc[fields.WORK])].append(float(doc["score"]))
    worth = {work: sum(sorted(found)[-BEST_PARTS:]) / BEST_PARTS for work, found in scores.items()}
    best = sorted((work for work in worth if _WORK.fullmatch(work)), key=lambda work: (-worth[work], work))
    return tuple(f"{work}^={worth[work] * PROFILES[profile].works:.4f}" for work in best[:MOST_WORKS])


def _texts(text: str, words: Mapping[Form, Sequence[str]]) -> Params:
    domain, older = words.get(Form.DOMAIN, ()), words.get(Form.OLDER, ())
    cuts = {**words, Form.DOMAIN: [*domain, *(word for word in older if word not in domain)]}
    cuts[Form.TERMS] = _terms(cuts)
    forms = [(form, joined(cuts[form])) for form in (Form.DOMAIN, Form.BASE, Form.TERMS) if form in cuts]
    fresh = " ".join(map(as_phrase, words.get(Form.FRESH, ())))
    synonyms = " ".join(map(as_phrase, synonyms_in(words.get(Form.SYNONYMS, ()))))
    works = " ".join(words.get(Form.WORKS, ()))
    return [(Form.TEXT, _plain(text)), *forms, (Form.FRESH, fresh), (Form.SYNONYMS, synonyms), (Form.WORKS, works)]


def _terms(words: Mapping[Form, Sequence[str]]) -> list[str]:
    """What the lexicon keeps whole and the base dictionary cuts, or cuts otherwise."""
    common = frozenset(words.get(Form.BASE, ()))
    return [word for word in words.get(Form.DOMAIN, ()) if word not in common]


def _plain(text: str) -> str:
    """`text` without the marks that quote."""
    return QUOTED.sub(r" \1 ", text)


def run_of_characters(looked_in: str, name: str) -> str:
    """The query for the phrase in parameter `name`; unlike `field`, `simple` makes one even of a text without token."""
    return f"{{!simple qf='{looked_in}' q.operators=phrase v=${name}}}"


def as_phrase(text: str) -> str:
    """`text` as the one phrase of its parameter. A quotation mark is the only sign that could end it."""
    return '"' + text.replace('"', " ") + '"'
