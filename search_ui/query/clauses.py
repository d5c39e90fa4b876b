"""Requests to Solr: queries as typed trees, and the parameters that these are sent as.

A reader's words are only ever *values* of parameters (`text`, `domain_words`, ...), which fixed queries name as
`v=$text`. Those queries use Solr's `simple` parser with every operator switched off, or all but quotation marks, which
are then ours; and macros (`${...}`) are switched off. So no input can name a field, a function or a parser.

    clause = Clause.phrases("title body", "held0_text", ["页岩气"])
    clause.syntax()         "{!simple qf='title body' q.operators=phrase v=$held0_text}"
    clause.params()         [("held0_text", '"页岩气"')]
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from docstore import fields

Params = list[tuple[str, str]]

SEPARATOR = "\x1f"  # between the values of one parameter; no name of a site or a section holds it
FIXED: Params = [("expandMacros", "false"), ("wt", "json"), ("echoParams", "none")]


@dataclass(frozen=True)
class Parameter:
    """What a clause points at by `$name`: a text, which Solr does not read as syntax, or another clause.

    `within` is the syntax around the pointer, with a `$` where it stands.
    """

    name: str
    value: "str | Clause"
    within: str = "$"

    def params(self, prefix: str = "") -> Params:
        """This parameter and those below it, each name with `prefix` before it."""
        if isinstance(self.value, str):
            return [(prefix + self.name, self.value)]
        return [(prefix + self.name, self.value.syntax(prefix)), *self.value.params(prefix)]

    def clause(self) -> "Clause":
        """The query that stands in this parameter."""
        return Clause(options=(("v", self),))


@dataclass(frozen=True)
class Clause:
    """A query for Solr, `{!parser key=option ...}rest`. `options` and `rest` hold what this program wrote, never a
    text that was handed in: such a text is the value of a `Parameter`.
    """

    parser: str = ""
    options: tuple[tuple[str, str | Parameter], ...] = ()
    rest: str = ""

    def syntax(self, prefix: str = "") -> str:
        """The query itself; the names of the parameters that it points at have `prefix` before them."""
        said = [
            f"{key}={value if isinstance(value, str) else value.within.replace('$', f'${prefix}{value.name}')}"
            for key, value in self.options
            if value
        ]
        return ("{!" + " ".join([self.parser, *said]).strip() + "}" if self.parser or said else "") + self.rest

    def params(self, prefix: str = "") -> Params:
        """All parameters that the query needs, so that several queries can stand in one request by their prefixes."""
        below = (value for _, value in self.options if isinstance(value, Parameter))
        return [pair for parameter in below for pair in parameter.params(prefix)]

    @staticmethod
    def simple(looked_in: str, text: Parameter, op: str = "", operators: str = "phrase", tag: str = "") -> "Clause":
        """The words of `text`, or its phrases, in the fields `looked_in` (`title^2 body`), joined by `op` (OR, AND).

        Unlike `field`, the parser `simple` makes a query even of a text in which Solr finds no token.
        """
        joined_by = (("q.op", op), ("q.operators", operators), ("v", text))
        return Clause("simple", (("tag", tag), ("qf", f"'{looked_in}'"), *joined_by))

    @staticmethod
    def boolean(
        should: Iterable[Parameter] = (),
        must: Iterable[Parameter] = (),
        must_not: Iterable[Parameter | str] = (),
        least: int | None = None,
        tag: str = "",
    ) -> "Clause":
        """What matches all of `must`, none of `must_not` and at least so many of `should`; the scores are summed."""
        every = (("should", should), ("must", must), ("must_not", must_not))
        mm = "" if least is None else str(least)
        return Clause("bool", (("tag", tag), ("mm", mm), *((key, one) for key, several in every for one in several)))

    @staticmethod
    def phrases(looked_in: str, name: str, texts: Iterable[str], op: str = "", tag: str = "") -> "Clause":
        """One of `texts` as a run of words or characters; they are sent as the parameter `name`."""
        return Clause.simple(looked_in, Parameter(name, as_phrases(texts)), op, tag=tag)

    @staticmethod
    def one_value(field: str, name: str, value: str, tag: str = "") -> "Clause":
        """The documents with just this value in a field; it is sent as the parameter `name`."""
        return Clause("term", (("tag", tag), ("f", field), ("v", Parameter(name, value))))

    @staticmethod
    def any_value(field: str, name: str, values: Iterable[str], tag: str = "", separator: str = SEPARATOR) -> "Clause":
        """The documents with one of these values in a field, none of which holds the `separator`."""
        told = "" if separator == "," else f"'{separator}'"
        value = Parameter(name, separator.join(values))
        return Clause("terms", (("tag", tag), ("f", field), ("separator", told), ("v", value)))

    @staticmethod
    def one_of_each_cluster(order: str = "") -> "Clause":
        """A filter that keeps, of near-duplicates, the first in this order alone; "": that of the highest score."""
        sort = f"'{order}'" if order else ""
        return Clause("collapse", (("field", fields.CLUSTER), ("nullPolicy", "expand"), ("sort", sort)))


EVERYTHING = Clause(rest="*:*")
ALL = Parameter("everything", EVERYTHING)


def select_params(
    q: Clause,
    filters: Sequence[Clause] = (),
    rows: int = 0,
    fl: Sequence[str] = (),
    sort: str = "",
    facets: Mapping[str, object] | None = None,
    more: Iterable[tuple[str, str]] = (),
) -> Params:
    """One request: the query, its filters, all that these point at, and how the answer is wanted; each pair once.

    `fl` names the fields that come back, `facets` is what `json.facet` says, `more` are parameters by themselves.
    """
    pointed_at = [pair for clause in (q, *filters) for pair in clause.params()]
    options = [("fl", ",".join(fl)), ("sort", sort), ("json.facet", "" if facets is None else json.dumps(facets))]
    asked = [("q", q.syntax()), *(("fq", clause.syntax()) for clause in filters), ("rows", str(rows))]
    return list(dict.fromkeys([*asked, *(pair for pair in options if pair[1]), *pointed_at, *more, *FIXED]))


class QueryVariant(StrEnum):
    """The forms in which a query is sent; the value is the name of the Solr parameter that carries it."""

    TEXT = "text"  # as it was typed: Solr cuts it into bigrams or characters
    PIECES = "pieces"  # what is glued in it, taken apart (`hp1010`: `hp`, `1010`); made here, not handed in
    NUMBERS = "numbers"  # the numbers in it, which tell one of a series from the next; made here, not handed in
    TITLE_KEY = "title_key"  # its letters and digits alone, as the index has those of titles; made here, not handed in
    TITLE_AS_IS = "title_as_is"  # the same with its case and signs; made here, not handed in
    DOMAIN = "domain_words"  # words by the published lexicon, joined like those of the documents
    CONTENT = "content_words"  # those of them that say what it is about; documents are counted by these, never ranked
    LEFT_OVER = "left_over"  # characters between those; what holds them too comes earlier, and that is all
    BASE = "base_words"  # words by the base dictionary
    OLDER = "older_words"  # words by older lexicon versions, while some documents are cut by those; sent with DOMAIN's
    FRESH = "fresh_words"  # those of DOMAIN's words that older versions cut otherwise, for as long; sent as phrases
    CUT_ANEW = "words_cut_anew"  # the same, joined like DOMAIN's; made here, not handed in
    TERMS = "term_words"  # those of DOMAIN's words that the base dictionary does not have; made here, not handed in
    SYNONYMS = "synonyms"  # each a term of the query joined with its synonyms; only these are sent, as phrases
    WORKS = "works"  # ids of works whose parts answer the query, each with a weight (`works_in`); from Solr, not typed


Words = Mapping[QueryVariant, Sequence[str]]
"""A query's text cut into words, in each form that is handed in."""
Texts = Mapping[QueryVariant, Parameter]
"""The text of each form, in the parameter that carries it."""


@dataclass(frozen=True)
class FieldClause:
    """One summand of the score: a form of the query against some fields, each with its weight."""

    form: QueryVariant
    weights: tuple[tuple[str, float], ...]

    def query(self, texts: Texts) -> Clause:
        """Solr's query for this clause."""
        listed = " ".join(f"{name}^{weight:g}" for name, weight in self.weights)
        return Clause.simple(listed, texts[self.form], "OR", "''")


def as_phrase(text: str) -> str:
    """`text` as the one phrase of its parameter. A quotation mark is the only sign that could end it."""
    return '"' + text.replace('"', " ") + '"'


def as_phrases(texts: Iterable[str]) -> str:
    """Each of `texts` as a phrase, for one parameter that means any of them."""
    return " ".join(map(as_phrase, texts))
