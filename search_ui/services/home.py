"""The content of the home page: searches, sections and newest articles."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from domain.errors import SolrError
from search_ui.query.display_text import clean_text
from search_ui.query.facets import Facet, build_facets, facet_counts, site_specific_values
from search_ui.query.full_matches import ARTICLE_COUNT
from search_ui.query.results import Hit, build_plain_hits
from search_ui.query.solr_client import SolrResponse
from search_ui.query.solr_query import MATCH_ALL, Params, SolrQuery, select_params, terms_facet
from search_ui.query.solr_requests import MAX_SITE_FACETS, TOP_SITE_SUBFACET
from search_ui.services.articles import DATED, NEWEST_FIRST, SUMMARY_FIELDS
from search_ui.services.site import SiteServices
from search_ui.settings import SearchSettings
from solr_client import solr_fields
from text.pinyin import has_han

MAX_HOME_SEARCHES = 12
MIN_HOME_SEARCHES = 3  # fewer terms or popular queries would look like an error
MAX_SECTIONS = 12
MAX_NEWEST = 6
MAX_NEWEST_ROWS = 30
MAX_COUNTED_TERMS = 2000  # most frequent entries of the lexicon, among which are the published terms


@dataclass(frozen=True)
class HomeContent:
    """The content of the home page; empty if Solr fails.

    `searches` are the most frequent published terms, otherwise popular queries (`are_terms` is False), otherwise none.
    """

    searches: Sequence[str] = ()
    are_terms: bool = False
    sections: tuple[Facet, ...] = ()
    newest: tuple[Hit, ...] = ()

    @property
    def example_phrase(self) -> str:
        """The first search of several words or Chinese characters; "" if there is none."""
        return next((text for text in self.searches if " " in text or has_han(text)), "")


def load_home_content(site: SiteServices) -> HomeContent:
    """Load the content of the home page."""
    try:
        response = site.solr.select(home_facets_params())
        newest = parse_newest(site.solr.select(newest_params()), site.settings)
    except SolrError:
        return HomeContent()
    terms = [clean_text(term) for term, _ in facet_counts(response, "terms") if site.glossary.has_term(term)]
    for searches in (terms, site.backend.popular_queries(MAX_HOME_SEARCHES)):
        if len(searches) >= MIN_HOME_SEARCHES:
            return HomeContent(searches[:MAX_HOME_SEARCHES], searches is terms, parse_sections(response), newest)
    return HomeContent(sections=parse_sections(response), newest=newest)


def home_facets_params() -> Params:
    """Build the request for the most frequent terms and sections."""
    facets = {
        "terms": terms_facet(solr_fields.DOMAIN_TERMS, MAX_COUNTED_TERMS),
        "sections": terms_facet(solr_fields.SECTION, 2 * MAX_SECTIONS, facet={"n": ARTICLE_COUNT, **TOP_SITE_SUBFACET}),
        "sections_of_sites": terms_facet(solr_fields.SITE, MAX_SITE_FACETS),
    }
    return select_params(MATCH_ALL, facets=facets)


def newest_params() -> Params:
    """Build the request for the newest articles of each site. Dates in the future are errors.

    Each shard of the index returns one article of a site, so `parse_newest` drops the others.
    """
    field_names = (*SUMMARY_FIELDS, solr_fields.PICTURE, solr_fields.CLUSTER_ID)
    collapse = (("field", solr_fields.SITE), ("nullPolicy", "expand"), ("sort", f"'{NEWEST_FIRST}'"))
    return select_params(
        SolrQuery(body=DATED), [SolrQuery("collapse", collapse)], MAX_NEWEST_ROWS, field_names, NEWEST_FIRST
    )


def parse_sections(response: SolrResponse) -> tuple[Facet, ...]:
    """Return the sections, most articles first; () if there are fewer than two."""
    site_specific = site_specific_values(response, "sections")
    sections = [pair for pair in facet_counts(response, "sections") if pair[0] not in site_specific][:MAX_SECTIONS]
    return build_facets([(value, clean_text(value), count) for value, count in sections]) if len(sections) > 1 else ()


def parse_newest(response: SolrResponse, settings: SearchSettings) -> tuple[Hit, ...]:
    """Parse the response to `newest_params`: at most one article of a site, near-duplicates once.

    A picture of several articles belongs to the site and is dropped.
    """
    hits: list[Hit] = []
    for hit in build_plain_hits(response, settings):
        if all(hit.site != other.site and hit.cluster != other.cluster for other in hits):
            hits.append(hit)
    hits = hits[:MAX_NEWEST]
    pictures = Counter(hit.picture for hit in hits)
    return tuple(hit if pictures[hit.picture] == 1 else replace(hit, picture="") for hit in hits)
