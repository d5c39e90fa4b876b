"""Facets of a results page: the values of the filters with their counts, and the histogram of dates."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from search_ui.query.display_text import clean_text, site_display_name
from search_ui.query.search_request import SearchRequest
from search_ui.query.solr_client import SolrResponse, buckets, match_count
from search_ui.query.solr_requests import MAX_FACET_VALUES
from search_ui.settings import SearchSettings

SITE_BOILERPLATE_SHARE = 0.9  # values of this share of a site's documents are boilerplate


@dataclass(frozen=True)
class Facet:
    """One value of a facet. `bar_steps`: its count in twentieths of the largest count, 0 only for a count of 0."""

    value: str
    label: str
    count: int
    selected: bool
    bar_steps: int


def build_facet(
    response: SolrResponse, name: str, request: SearchRequest, settings: SearchSettings
) -> tuple[Facet, ...]:
    """Build the values of a facet; () if there are fewer than two.

    Values that all matching documents have are omitted. Sections and authors of nearly all documents of one site and of
    no other site are omitted as well: they are boilerplate of the site. Selected values are always included.
    """
    selected_values: tuple[str, ...] = getattr(request, name)
    hidden_values = site_specific_values(response, name)
    hidden_values |= frozenset() if selected_values else _universal_values(response, name)
    counts = [
        (value, count)
        for value, count in facet_counts(response, name)
        if value in selected_values or value not in hidden_values
    ]
    counts += [(value, 0) for value in selected_values if value not in dict(counts)]
    if len(counts) < 2 and not selected_values:
        return ()
    labelled_counts = [
        (value, site_display_name(value, settings) if name == "sites" else clean_text(value), n) for value, n in counts
    ]
    if name == "terms":
        labelled_counts = _select_characteristic_terms(response, labelled_counts, selected_values)
    else:
        labelled_counts.sort(key=lambda labelled_count: -labelled_count[2])
        labelled_counts = [
            row for n, row in enumerate(labelled_counts) if n < MAX_FACET_VALUES or row[0] in selected_values
        ]
    return build_facets(labelled_counts, frozenset(selected_values))


def _select_characteristic_terms(
    response: SolrResponse, labelled_counts: Sequence[tuple[str, str, int]], selected_terms: Collection[str]
) -> list[tuple[str, str, int]]:
    """Return the terms most characteristic of the results first, at most MAX_FACET_VALUES and the selected ones.

    Terms of a single result follow the others: in few results, `relatedness` prefers them to terms of most results.
    """
    relatedness_by_term = {
        str(bucket["val"]): float(bucket.get("relatedness", {}).get("relatedness", 0.0))
        for bucket in buckets(response, "terms")
    }
    sorted_counts = sorted(
        labelled_counts, key=lambda row: (row[2] < 2, -relatedness_by_term.get(row[0], 0.0), -row[2])
    )
    return [row for n, row in enumerate(sorted_counts) if n < MAX_FACET_VALUES or row[0] in selected_terms]


def has_more_values(response: SolrResponse, name: str) -> bool:
    """Return True if a facet has more values than `build_facet` returns."""
    return len(buckets(response, name)) > MAX_FACET_VALUES


def _universal_values(response: SolrResponse, name: str) -> frozenset[str]:
    """Return the facet values that every matching document has."""
    count = match_count(response)
    return frozenset(str(bucket["val"]) for bucket in buckets(response, name) if bucket["count"] == count)


def site_specific_values(response: SolrResponse, name: str) -> frozenset[str]:
    """Return the values of nearly every document of one site that no other site has."""
    count_by_site = {str(bucket["val"]): int(bucket["count"]) for bucket in buckets(response, f"{name}_of_sites")}
    specific = set()
    for bucket in buckets(response, name):
        for site in bucket.get("of", {}).get("buckets", ())[:1]:
            site_total = count_by_site.get(str(site["val"]), 0)
            if site["count"] == bucket["count"] >= SITE_BOILERPLATE_SHARE * site_total > 0:
                specific.add(str(bucket["val"]))
    return frozenset(specific)


def facet_counts(response: SolrResponse, name: str) -> list[tuple[str, int]]:
    """Return the values of a facet with their document counts, near-duplicates counted once."""
    return [(str(bucket["val"]), int(bucket.get("n", 0))) for bucket in buckets(response, name)]


def build_date_facets(response: SolrResponse, request: SearchRequest) -> tuple[Facet, ...]:
    """Build the facets of years (`2016`) or months (`2016-05`), oldest first.

    Empty ones between others are included, so that the histogram has a linear time axis.
    """
    length = 7 if request.single_year() else 4
    buckets = [(moment[:length], count) for moment, count in facet_counts(response, "dates")]
    non_empty = [n for n, (_, count) in enumerate(buckets) if count]
    counts = buckets[non_empty[0] : non_empty[-1] + 1] if non_empty else []
    selected_values = {request.since} if request.since == request.until else set()
    return build_facets([(day, day, count) for day, count in counts], frozenset(selected_values))


def build_facets(
    labelled_counts: Sequence[tuple[str, str, int]], selected: frozenset[str] = frozenset()
) -> tuple[Facet, ...]:
    """Build facets from values with their labels and counts."""
    largest = max((count for _, _, count in labelled_counts), default=1) or 1
    return tuple(
        Facet(value, label, count, value in selected, -(-20 * count // largest))
        for value, label, count in labelled_counts
    )
