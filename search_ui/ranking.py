"""How found documents are ordered: the ranking profiles, by name, as queries of Solr.

A reader's words are only ever *values* of parameters (`text`, `domain_words`, ...), which the fixed queries here name
as `v=$text`. Those queries use Solr's `simple` parser with every operator switched off, or all but quotation marks,
which are then ours; and macros (`${...}`) are switched off. So no input can name a field, a function or a parser.

Scores of the fields are summed, terms are OR-ed (docs/ranking.md); a profile says which fields count.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from docstore import fields

Params = list[tuple[str, str]]

FIXED: Params = [("expandMacros", "false"), ("wt", "json"), ("echoParams", "none")]
QUOTED = re.compile(r'["“]([^"“”]+)["”]')


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
BIGRAMS = Clause(Form.TEXT, ((fields.TITLE, _TITLE), (fields.BODY, 1.0)))
_CHARACTERS = Clause(Form.TEXT, ((fields.TITLE_CHARS, _TITLE), (fields.BODY_CHARS, 1.0)))
_WORDS = Clause(Form.DOMAIN, ((fields.TITLE_DOMAIN, _TITLE * 0.5), (fields.BODY_DOMAIN, 0.5)))

PROFILES: Mapping[str, Profile] = {
    "plumbline": Profile((BIGRAMS, _CHARACTERS, _WORDS), exact_title=0.5),
    "bigram": Profile((BIGRAMS,)),
    # The two sides of the comparison search (Wang Du 2019, WD-S3): nothing but words.
    "domain": Profile((Clause(Form.DOMAIN, ((fields.TITLE_DOMAIN, _TITLE), (fields.BODY_DOMAIN, 1.0))),)),
    "base": Profile((Clause(Form.BASE, ((fields.TITLE_BASE, _TITLE), (fields.BODY_BASE, 1.0))),)),
}


def rank_params(text: str, words: Mapping[Form, Sequence[str]], profile: str) -> Params:
    """The parameters that find and rank by `profile`: query, its parts, and the texts they point at."""
    parts = [(f"part{n}", clause.query()) for n, clause in enumerate(PROFILES[profile].clauses)]
    if weight := PROFILES[profile].exact_title:
        parts += [("exact", run_of_characters(f"{fields.TITLE_CHARS}^{weight:g}", "quoted"))]
    called = " ".join(f"should=${name}" for name, _ in parts)
    texts = [*_texts(text, words), ("quoted", as_phrase(text))]
    return [("q", f"{{!bool {called}}}"), *parts, *texts, *FIXED]


def _texts(text: str, words: Mapping[Form, Sequence[str]]) -> Params:
    plain = QUOTED.sub(r" \1 ", text)
    return [(Form.TEXT, plain), *((form, fields.WORD_JOINT.join(cut)) for form, cut in words.items())]


def run_of_characters(looked_in: str, name: str) -> str:
    """The query for the phrase in parameter `name`; unlike `field`, `simple` makes one even of a text without token."""
    return f"{{!simple qf='{looked_in}' q.operators=phrase v=${name}}}"


def as_phrase(text: str) -> str:
    """`text` as the one phrase of its parameter. A quotation mark is the only sign that could end it."""
    return '"' + text.replace('"', " ") + '"'
