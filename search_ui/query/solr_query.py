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

from docstore import solr_fields

Params = list[tuple[str, str]]

VALUE_SEPARATOR = "\x1f"  # between the values of one parameter; no name of a site or a section holds it
COMMON_PARAMS: Params = [("expandMacros", "false"), ("wt", "json"), ("echoParams", "none")]


@dataclass(frozen=True)
class QueryParam:
    """What a clause points at by `$name`: a text, which Solr does not read as syntax, or another clause.

    `template` is the syntax around the pointer, with a `$` where it stands.
    """

    name: str
    value: "str | SolrQuery"
    template: str = "$"

    def to_params(self, prefix: str = "") -> Params:
        """This parameter and those below it, each name with `prefix` before it."""
        if isinstance(self.value, str):
            return [(prefix + self.name, self.value)]
        return [(prefix + self.name, self.value.to_syntax(prefix)), *self.value.to_params(prefix)]

    def as_clause(self) -> "SolrQuery":
        """The query that stands in this parameter."""
        return SolrQuery(options=(("v", self),))


@dataclass(frozen=True)
class SolrQuery:
    """A query for Solr, `{!parser key=option ...}rest`.

    `options` and `body` hold what this program wrote, never a text that was handed in: such a text is the value of a
    `QueryParam`.
    """

    parser: str = ""
    options: tuple[tuple[str, str | QueryParam], ...] = ()
    body: str = ""

    def to_syntax(self, prefix: str = "") -> str:
        """The query itself; the names of the parameters that it points at have `prefix` before them."""
        option_texts = [
            f"{key}={value if isinstance(value, str) else value.template.replace('$', f'${prefix}{value.name}')}"
            for key, value in self.options
            if value
        ]
        return (
            "{!" + " ".join([self.parser, *option_texts]).strip() + "}" if self.parser or option_texts else ""
        ) + self.body

    def to_params(self, prefix: str = "") -> Params:
        """All parameters that the query needs, so that several queries can stand in one request by their prefixes."""
        nested_params = (value for _, value in self.options if isinstance(value, QueryParam))
        return [pair for parameter in nested_params for pair in parameter.to_params(prefix)]

    @staticmethod
    def simple(
        query_fields: str, text: QueryParam, default_operator: str = "", operators: str = "phrase", tag: str = ""
    ) -> "SolrQuery":
        """The words of `text`, or its phrases, in the fields `query_fields` (`title^2 body`), joined by `default_operator` (OR, AND).

        Unlike `field`, the parser `simple` makes a query even of a text in which Solr finds no token.
        """
        joined_by = (("q.op", default_operator), ("q.operators", operators), ("v", text))
        return SolrQuery("simple", (("tag", tag), ("qf", f"'{query_fields}'"), *joined_by))

    @staticmethod
    def boolean(
        should: Iterable[QueryParam] = (),
        must: Iterable[QueryParam] = (),
        must_not: Iterable[QueryParam | str] = (),
        min_should_match: int | None = None,
        tag: str = "",
    ) -> "SolrQuery":
        """What matches all of `must`, none of `must_not` and at least so many of `should`; the scores are summed."""
        clauses_by_occur = (("should", should), ("must", must), ("must_not", must_not))
        mm = "" if min_should_match is None else str(min_should_match)
        return SolrQuery(
            "bool",
            (
                ("tag", tag),
                ("mm", mm),
                *((key, clause) for key, occur_clauses in clauses_by_occur for clause in occur_clauses),
            ),
        )

    @staticmethod
    def phrases(
        query_fields: str, name: str, texts: Iterable[str], default_operator: str = "", tag: str = ""
    ) -> "SolrQuery":
        """One of `texts` as a run of words or characters; they are sent as the parameter `name`."""
        return SolrQuery.simple(query_fields, QueryParam(name, quote_phrases(texts)), default_operator, tag=tag)

    @staticmethod
    def term(field: str, name: str, value: str, tag: str = "") -> "SolrQuery":
        """The documents with just this value in a field; it is sent as the parameter `name`."""
        return SolrQuery("term", (("tag", tag), ("f", field), ("v", QueryParam(name, value))))

    @staticmethod
    def terms(
        field: str, name: str, values: Iterable[str], tag: str = "", separator: str = VALUE_SEPARATOR
    ) -> "SolrQuery":
        """The documents with one of these values in a field, none of which holds the `separator`."""
        separator_option = "" if separator == "," else f"'{separator}'"
        value = QueryParam(name, separator.join(values))
        return SolrQuery("terms", (("tag", tag), ("f", field), ("separator", separator_option), ("v", value)))

    @staticmethod
    def collapse_clusters(sort_spec: str = "") -> "SolrQuery":
        """A filter that keeps, of near-duplicates, the first in this order alone; "": that of the highest score."""
        sort = f"'{sort_spec}'" if sort_spec else ""
        return SolrQuery("collapse", (("field", solr_fields.CLUSTER_ID), ("nullPolicy", "expand"), ("sort", sort)))


MATCH_ALL = SolrQuery(body="*:*")
MATCH_ALL_PARAM = QueryParam("everything", MATCH_ALL)


def select_params(
    q: SolrQuery,
    filters: Sequence[SolrQuery] = (),
    rows: int = 0,
    fl: Sequence[str] = (),
    sort: str = "",
    facets: Mapping[str, object] | None = None,
    extra_params: Iterable[tuple[str, str]] = (),
) -> Params:
    """One request: the query, its filters, all that these point at, and how the answer is wanted; each pair once.

    `fl` names the fields that come back, `facets` is what `json.facet` says, `extra_params` are parameters by
    themselves.
    """
    referenced_params = [pair for clause in (q, *filters) for pair in clause.to_params()]
    options = [("fl", ",".join(fl)), ("sort", sort), ("json.facet", "" if facets is None else json.dumps(facets))]
    query_params = [("q", q.to_syntax()), *(("fq", clause.to_syntax()) for clause in filters), ("rows", str(rows))]
    return list(
        dict.fromkeys(
            [*query_params, *(pair for pair in options if pair[1]), *referenced_params, *extra_params, *COMMON_PARAMS]
        )
    )


class QueryVariant(StrEnum):
    """The forms in which a query is sent; the value is the name of the Solr parameter that carries it."""

    TEXT = "text"  # as it was typed: Solr cuts it into bigrams or characters
    SUBWORDS = "pieces"  # what is glued in it, taken apart (`hp1010`: `hp`, `1010`); made here, not handed in
    NUMBERS = "numbers"  # the numbers in it, which tell one of a series from the next; made here, not handed in
    TITLE_KEY = "title_key"  # its letters and digits alone, as the index has those of titles; made here, not handed in
    TITLE_EXACT = "title_as_is"  # the same with its case and signs; made here, not handed in
    DOMAIN = "domain_words"  # words by the published lexicon, joined like those of the documents
    CONTENT = "content_words"  # those of them that say what it is about; documents are counted by these, never ranked
    RESIDUAL_CHARS = "left_over"  # characters between those; what holds them too comes earlier, and that is all
    BASE = "base_words"  # words by the base dictionary
    OLD_LEXICON = (
        "older_words"  # words by older lexicon versions, while some documents are cut by those; sent with DOMAIN's
    )
    NEW_WORDS = "fresh_words"  # those of DOMAIN's words that older versions cut otherwise, for as long; sent as phrases
    NEW_WORDS_JOINED = "words_cut_anew"  # the same, joined like DOMAIN's; made here, not handed in
    LEXICON_TERMS = (
        "term_words"  # those of DOMAIN's words that the base dictionary does not have; made here, not handed in
    )
    SYNONYMS = "synonyms"  # each a term of the query joined with its synonyms; only these are sent, as phrases
    # ids of works whose parts answer the query, each with a weight (`parse_work_boosts`); from Solr, not typed
    WORK_BOOSTS = "works"


QueryWords = Mapping[QueryVariant, Sequence[str]]
"""A query's text cut into words, in each form that is handed in."""
QueryTexts = Mapping[QueryVariant, QueryParam]
"""The text of each form, in the parameter that carries it."""


@dataclass(frozen=True)
class FieldClause:
    """One summand of the score: a form of the query against some fields, each with its weight."""

    variant: QueryVariant
    weights: tuple[tuple[str, float], ...]

    def to_query(self, texts: QueryTexts) -> SolrQuery:
        """Solr's query for this clause."""
        boosted_fields = " ".join(f"{name}^{weight:g}" for name, weight in self.weights)
        return SolrQuery.simple(boosted_fields, texts[self.variant], "OR", "''")


def quote_phrase(text: str) -> str:
    """`text` as the one phrase of its parameter. A quotation mark is the only sign that could end it."""
    return '"' + text.replace('"', " ") + '"'


def quote_phrases(texts: Iterable[str]) -> str:
    """Each of `texts` as a phrase, for one parameter that means any of them."""
    return " ".join(map(quote_phrase, texts))
