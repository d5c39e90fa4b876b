"""How often articles use the two names of a proposed renaming, by month, for the page of relations."""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import NamedTuple

from domain.errors import SolrError
from domain.term_relation import RelationKind, RelationProposal
from search_ui.query.facets import facet_counts
from search_ui.query.full_matches import ARTICLE_COUNT, contains_phrase_query
from search_ui.query.solr_client import SolrBackend, SolrResponse, select_in_background
from search_ui.query.solr_query import Params, select_params
from solr_client import solr_fields

MAX_MONTHS = 120  # that are searched, before today
MAX_SHOWN_MONTHS = 24  # the last ones in which articles use a name
RENAMINGS = (RelationKind.FORMER, RelationKind.RENAMED)


@dataclass(frozen=True)
class NameUsage:
    """The articles whose title or body contains a name.

    `article_count` counts near-duplicates once. `first_day` and `last_day` are ISO dates, or "" if no article is dated.
    `counts_by_month` has the months (`2016-05`) with articles.
    """

    name: str
    article_count: int
    first_day: str
    last_day: str
    counts_by_month: Mapping[str, int]


class RenamingUsage(NamedTuple):
    """The usage of the earlier and of the present name, and the months to show, the newest first."""

    former: NameUsage
    present: NameUsage
    months: Sequence[str]


RenamingKey = tuple[RelationKind, str, str]
"""Kind, term and other name of a proposal."""


def fetch_renaming_usage(
    solr: SolrBackend, proposals: Iterable[RelationProposal]
) -> Mapping[RenamingKey, RenamingUsage]:
    """Fetch the usage of both names of each renaming among the proposals; without those for which Solr fails."""
    relations = [proposal.relation for proposal in proposals if proposal.relation.kind in RENAMINGS]
    futures = {
        name: select_in_background(solr, name_usage_params(name))
        for relation in relations
        for name in (relation.term, relation.other)
    }
    usage_by_name = {}
    for name, future in futures.items():
        with suppress(SolrError):  # the proposals are useful without it
            usage_by_name[name] = parse_name_usage(name, future.result())
    usage_by_key = {}
    for relation in relations:
        names = (relation.term, relation.other)
        if all(name in usage_by_name for name in names):
            usages = [usage_by_name[name] for name in names]
            former, present = reversed(usages) if relation.kind is RelationKind.FORMER else usages
            months = sorted({*former.counts_by_month, *present.counts_by_month}, reverse=True)[:MAX_SHOWN_MONTHS]
            usage_by_key[relation.kind, *names] = RenamingUsage(former, present, months)
    return usage_by_key


def name_usage_params(name: str) -> Params:
    """Build the request for `parse_name_usage`."""
    months = {
        "type": "range",
        "field": solr_fields.PUBLISHED,
        "start": f"NOW/MONTH-{MAX_MONTHS}MONTHS",
        "end": "NOW/MONTH+1MONTH",
        "gap": "+1MONTH",
        "mincount": 1,
        "facet": {"n": ARTICLE_COUNT},
    }
    bounds = {"first": f"min({solr_fields.PUBLISHED})", "last": f"max({solr_fields.PUBLISHED})"}
    dated_facet = {"type": "query", "q": f"{solr_fields.PUBLISHED}:[* TO NOW+1DAY]", "facet": bounds}
    query = contains_phrase_query("name", (name,))
    return select_params(query, facets={"total": ARTICLE_COUNT, "dated": dated_facet, "months": months})


def parse_name_usage(name: str, response: SolrResponse) -> NameUsage:
    """Parse the response to `name_usage_params`."""
    facets = response.get("facets", {})
    first_day, last_day = (str(facets.get("dated", {}).get(bound, ""))[:10] for bound in ("first", "last"))
    counts_by_month = {moment[:7]: count for moment, count in facet_counts(response, "months")}
    return NameUsage(name, int(facets.get("total", 0)), first_day, last_day, counts_by_month)
