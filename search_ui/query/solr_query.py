"""Builds Solr queries as typed trees and the request parameters that they are sent as.

Security: user input is only ever the value of a parameter (`text`, `domain_words`, ...) that a fixed query references
as `v=$text`. These queries use Solr's `simple` parser with all operators off, or all but quotation marks, which this
module writes itself. Macros (`${...}`) are off. So no input can name a field, a function or a parser.

    query = SolrQuery.phrases("title body", "part0_text", ["页岩气"])
    query.to_syntax()       "{!simple qf='title body' q.operators=phrase v=$part0_text}"
    query.to_params()       [("part0_text", '"页岩气"')]
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from solr_client import solr_fields

Params = list[tuple[str, str]]

VALUE_SEPARATOR = "\x1f"  # between the values of one parameter; no site or section contains it
COMMON_PARAMS: Params = [("expandMacros", "false"), ("wt", "json"), ("echoParams", "none")]


@dataclass(frozen=True)
class QueryParam:
    """A request parameter that a query references as `$name`: literal text, or a nested query.

    Solr never parses literal text as syntax. `template` is the text around the reference; `$` marks its position.
    """

    name: str
    value: "str | SolrQuery"
    template: str = "$"

    def to_params(self, prefix: str = "") -> Params:
        """Return this parameter and all parameters that it references, with `prefix` before each name."""
        if isinstance(self.value, str):
            return [(prefix + self.name, self.value)]
        return [(prefix + self.name, self.value.to_syntax(prefix)), *self.value.to_params(prefix)]

    def as_clause(self) -> "SolrQuery":
        """Return the query that this parameter contains."""
        return SolrQuery(options=(("v", self),))


@dataclass(frozen=True)
class SolrQuery:
    """A Solr query, `{!parser key=option ...}body`.

    `options` and `body` contain only text that this program wrote. User input is the value of a `QueryParam`.
    """

    parser: str = ""
    options: tuple[tuple[str, str | QueryParam], ...] = ()
    body: str = ""

    def to_syntax(self, prefix: str = "") -> str:
        """Return the query as Solr syntax, with `prefix` before the names of the referenced parameters."""
        option_texts = [
            f"{key}={value if isinstance(value, str) else value.template.replace('$', f'${prefix}{value.name}')}"
            for key, value in self.options
            if value
        ]
        return (
            "{!" + " ".join([self.parser, *option_texts]).strip() + "}" if self.parser or option_texts else ""
        ) + self.body

    def to_params(self, prefix: str = "") -> Params:
        """Return all parameters that the query references. Prefixes separate several queries in one request."""
        nested_params = (value for _, value in self.options if isinstance(value, QueryParam))
        return [pair for parameter in nested_params for pair in parameter.to_params(prefix)]

    @staticmethod
    def simple(
        query_fields: str, text: QueryParam, default_operator: str = "", operators: str = "phrase", tag: str = ""
    ) -> "SolrQuery":
        """Build a query for the words or phrases of `text` in `query_fields` (`title^2 body`).

        Unlike the parser `field`, `simple` also accepts a text without tokens. `default_operator` is OR or AND.
        """
        joined_by = (("q.op", default_operator), ("q.operators", operators), ("v", text))
        return SolrQuery("simple", (("tag", tag), ("qf", f"'{query_fields}'"), *joined_by))

    @staticmethod
    def boolean(
        should: Iterable[QueryParam] = (),
        must: Iterable[QueryParam] = (),
        must_not: Iterable[QueryParam | str] = (),
        tag: str = "",
    ) -> "SolrQuery":
        """Build a query for documents that match all of `must` (else one of `should`) and none of `must_not`.

        Scores are summed.
        """
        clauses_by_occur = (("should", should), ("must", must), ("must_not", must_not))
        return SolrQuery(
            "bool",
            (
                ("tag", tag),
                *((key, clause) for key, occur_clauses in clauses_by_occur for clause in occur_clauses),
            ),
        )

    @staticmethod
    def phrases(
        query_fields: str, name: str, texts: Iterable[str], default_operator: str = "", tag: str = ""
    ) -> "SolrQuery":
        """Build a query for documents with one of `texts` as a phrase. The texts are the parameter `name`."""
        return SolrQuery.simple(query_fields, QueryParam(name, quote_phrases(texts)), default_operator, tag=tag)

    @staticmethod
    def term(field: str, name: str, value: str, tag: str = "") -> "SolrQuery":
        """Build a query for documents with exactly this value in a field. The value is sent as the parameter `name`."""
        return SolrQuery("term", (("tag", tag), ("f", field), ("v", QueryParam(name, value))))

    @staticmethod
    def terms(
        field: str, name: str, values: Iterable[str], tag: str = "", separator: str = VALUE_SEPARATOR
    ) -> "SolrQuery":
        """Build a query for documents with one of these values in a field. No value may contain the `separator`."""
        separator_option = "" if separator == "," else f"'{separator}'"
        value = QueryParam(name, separator.join(values))
        return SolrQuery("terms", (("tag", tag), ("f", field), ("separator", separator_option), ("v", value)))

    @staticmethod
    def collapse_clusters(sort_spec: str = "") -> "SolrQuery":
        """Build a filter that keeps the first document of each cluster in this order; by default the highest score."""
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
    """Build the parameters of one `/select` request, without duplicate pairs.

    Args:
        q: The query.
        filters: Filter queries.
        rows: Number of documents to return.
        fl: Fields to return.
        sort: Sort specification.
        facets: Value of `json.facet`.
        extra_params: Further parameters.
    """
    referenced_params = [pair for clause in (q, *filters) for pair in clause.to_params()]
    options = [("fl", ",".join(fl)), ("sort", sort), ("json.facet", "" if facets is None else json.dumps(facets))]
    query_params = [("q", q.to_syntax()), *(("fq", clause.to_syntax()) for clause in filters), ("rows", str(rows))]
    return list(
        dict.fromkeys(
            [*query_params, *(pair for pair in options if pair[1]), *referenced_params, *extra_params, *COMMON_PARAMS]
        )
    )


Facets = tuple[Mapping[str, object], Params]
"""Facets to add to a request, by name, and the parameters that they refer to."""
NO_FACETS: Facets = ({}, [])


def whole_index_facet(query: str, **subfacets: object) -> dict[str, object]:
    """Build a facet of the documents of the whole index that match a query, whatever the request selects."""
    return {"type": "query", "q": query, "domain": {"query": MATCH_ALL.to_syntax()}, "facet": subfacets}


def terms_facet(field: str, limit: int, **options: object) -> dict[str, object]:
    """Build a facet of the most frequent values of a field.

    Values are counted on all shards, also on those where they are not among the most frequent.
    """
    return {"type": "terms", "field": field, "limit": limit, "refine": True, "overrequest": 100, **options}


def values_facet(field: str, limit: int, count: str, **subfacets: object) -> dict[str, object]:
    """Build a facet of the values with the highest `count`, a function. A cheaper count preselects them."""
    order = {"sort": "n desc", "prelim_sort": "count desc"}
    return terms_facet(field, limit, **order, facet={"n": count, **subfacets})


class QueryVariant(StrEnum):
    """The forms in which a query is sent. The value is the name of the Solr parameter."""

    TEXT = "text"  # as typed, without question words; Solr cuts it into bigrams or characters
    NUMBERS = "numbers"  # its numbers, which distinguish the documents of a series
    TITLE_KEY = "title_key"  # its letters and digits, as the index stores titles
    TITLE_EXACT = "title_exact"  # the same with case and punctuation
    DOMAIN = "domain_words"  # words of the published lexicon, joined as in the documents
    BASE = "base_words"  # words of the base dictionary
    LEXICON_TERMS = "lexicon_terms"  # words of DOMAIN that the base dictionary does not have
    SYNONYMS = "synonyms"  # the synonyms of terms of the query, as phrases
    WORK_BOOSTS = "works"  # ids of works (documents in several parts, such as a law) with weights (`parse_work_boosts`)


@dataclass(frozen=True)
class FieldClause:
    """One summand of the score: a form of the query in some fields, each with a weight."""

    variant: QueryVariant
    weights: tuple[tuple[str, float], ...]

    def to_query(self, text: str) -> SolrQuery:
        """Build the Solr query of this clause for the text of its form."""
        boosted_fields = " ".join(f"{name}^{weight:g}" for name, weight in self.weights)
        return SolrQuery.simple(boosted_fields, QueryParam(self.variant, text), "OR", "''")


def quote_phrase(text: str) -> str:
    """Return `text` as a phrase. Quotation marks, which would end it, become spaces."""
    return '"' + text.replace('"', " ") + '"'


def quote_phrases(texts: Iterable[str]) -> str:
    """Return each of `texts` as a phrase, for a parameter that matches any of them."""
    return " ".join(map(quote_phrase, texts))
