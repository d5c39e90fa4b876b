"""The content of the home page: terms, sections and newest articles."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from domain.errors import SolrError
from search_ui.query.display_text import clean_text
from search_ui.query.facets import Facet, build_facets, facet_counts, site_specific_values
from search_ui.query.full_matches import ARTICLE_COUNT
from search_ui.query.results import Hit, build_plain_hits
from search_ui.query.solr_client import SolrResponse
from search_ui.query.solr_query import MATCH_ALL, Params, QueryParam, SolrQuery, select_params, terms_facet
from search_ui.query.solr_requests import MAX_SITE_FACETS, TOP_SITE_SUBFACET
from search_ui.services.articles import DATED, NEWEST_FIRST
from search_ui.services.site import SiteServices
from search_ui.settings import SearchSettings
from solr_client import solr_fields
from text.domain_terms import is_domain_term
from text.folding import word_key
from text.pinyin import has_han
from text.segment import Segmenter
from text.titles import title_key

MAX_HOME_TERMS = 12
MAX_SECTIONS = 12
MAX_NEWEST = 6
TERM_CANDIDATES = 80  # terms from which the home page selects


@dataclass(frozen=True)
class HomeContent:
    """The content of the home page; empty if Solr fails."""

    terms: Sequence[str] = ()
    sections: tuple[Facet, ...] = ()
    newest: tuple[Hit, ...] = ()

    @property
    def example_phrase(self) -> str:
        """The most frequent term of several words or Chinese characters; "" if there is none."""
        return next((term for term in self.terms if " " in term or has_han(term)), "")


def load_home_content(site: SiteServices) -> HomeContent:
    """Load the content of the home page."""
    try:
        response = site.solr.select(home_facets_params())
        terms = _select_site_terms(site, response)
        newest = site.solr.select(newest_params(list(terms)))
    except SolrError:
        return HomeContent()
    return HomeContent(drop_column_names(terms, newest), parse_sections(response), parse_newest(newest, site.settings))


def find_frequent_terms(site: SiteServices) -> Collection[str]:
    """Return the most frequent terms of the index, the most frequent first; none if Solr fails."""
    try:
        return _select_site_terms(site, site.solr.select(home_facets_params()))
    except SolrError:
        return ()


def _select_site_terms(site: SiteServices, response: SolrResponse) -> dict[str, int]:
    names = (site.settings.title, *site.settings.site_names.values())
    return select_home_terms(response, names, site.backend.base_segmenter())


def home_facets_params() -> Params:
    """Build the request for the most frequent terms and sections."""
    counts = {"n": ARTICLE_COUNT}
    facets = {
        "terms": terms_facet(solr_fields.DOMAIN_TERMS, TERM_CANDIDATES, facet=counts),
        "sections": terms_facet(solr_fields.SECTION, 2 * MAX_SECTIONS, facet={**counts, **TOP_SITE_SUBFACET}),
        "sections_of_sites": terms_facet(solr_fields.SITE, MAX_SITE_FACETS),
    }
    return select_params(MATCH_ALL, facets=facets)


def newest_params(terms: Sequence[str]) -> Params:
    """Build the request for the newest articles, near-duplicates once.

    It also counts the titles that begin with each of `terms`. Dates in the future are errors and are excluded.
    """
    field_names = (
        solr_fields.ID,
        solr_fields.URL,
        solr_fields.SITE,
        solr_fields.TITLE,
        solr_fields.PUBLISHED_TEXT,
        solr_fields.PICTURE,
        solr_fields.CLUSTER_ID,
        solr_fields.LANGUAGE,
    )
    keys = [QueryParam(f"term{n}", title_key(term)) for n, term in enumerate(terms)]
    starts = {key.name: SolrQuery("prefix", (("f", solr_fields.TITLE_KEY), ("v", key))) for key in keys}
    whole_index = {"query": MATCH_ALL.to_syntax()}
    facets = {
        name: {"type": "query", "q": clause.to_syntax(), "domain": whole_index} for name, clause in starts.items()
    }
    extra_params = [pair for key in keys for pair in key.to_params()]
    once = SolrQuery.collapse_clusters(NEWEST_FIRST)
    return select_params(SolrQuery(body=DATED), [once], MAX_NEWEST, field_names, NEWEST_FIRST, facets, extra_params)


def parse_sections(response: SolrResponse) -> tuple[Facet, ...]:
    """Return the sections, most articles first; () if there are fewer than two."""
    site_specific = site_specific_values(response, "sections")
    sections = [pair for pair in facet_counts(response, "sections") if pair[0] not in site_specific][:MAX_SECTIONS]
    return build_facets([(value, clean_text(value), count) for value, count in sections]) if len(sections) > 1 else ()


def parse_newest(response: SolrResponse, settings: SearchSettings) -> tuple[Hit, ...]:
    """Parse the response to `newest_params`. A picture of several articles belongs to the site and is dropped."""
    hits = build_plain_hits(response, settings)
    pictures = Counter(hit.picture for hit in hits)
    return tuple(hit if pictures[hit.picture] == 1 else replace(hit, picture="") for hit in hits)


def select_home_terms(response: SolrResponse, names: Collection[str], base_segmenter: Segmenter) -> dict[str, int]:
    """Return domain terms with their document counts, most frequent first.

    Names of persons, sections and sites are excluded.

    Args:
        response: The response to `home_facets_params`.
        names: Names of the sites.
        base_segmenter: Segmenter with the base dictionary.
    """
    sections = (section for section, _ in facet_counts(response, "sections"))
    excluded_keys = {word_key(name) for name in (*names, *sections)}
    terms = facet_counts(response, "terms")
    selected = [
        (term, n) for term, n in terms if word_key(term) not in excluded_keys and is_domain_term(term, base_segmenter)
    ]
    return dict(selected[: 2 * MAX_HOME_TERMS])


def drop_column_names(terms: Mapping[str, int], newest: SolrResponse) -> tuple[str, ...]:
    """Return the first terms without column names.

    A column name begins the titles of more than half of its articles (`图片新闻：…`). `newest` is the response to
    `newest_params`.
    """
    title_counts = [int(newest.get("facets", {}).get(f"term{n}", {}).get("count", 0)) for n in range(len(terms))]
    pairs = zip(terms.items(), title_counts, strict=True)
    return tuple(clean_text(term) for (term, documents), titles in pairs if 2 * titles <= documents)[:MAX_HOME_TERMS]
