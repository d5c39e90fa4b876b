"""Previews the results of the next lexicon version before it is published.

Documents are not segmented with it yet. A word that only the next version has is searched as a phrase, as any word is.
"""

from dataclasses import dataclass

from search_ui.context import current_services
from search_ui.query.display_text import clean_text, normalize_query
from search_ui.query.query_plan import QueryPlan
from search_ui.query.query_words import build_thesaurus, segment_query
from search_ui.query.search import SearchService
from search_ui.query.search_request import SearchRequest
from search_ui.query.solr_client import documents
from search_ui.query.solr_requests import hits_params
from search_ui.review.lexicon_tools import VersionProposal
from solr_client import solr_fields
from text.segment import base_segmenter

SHOWN_RESULTS = 10  # on each side
COMPARED_RESULTS = 100  # results in which the rank of the other side is looked up


@dataclass(frozen=True)
class PreviewHit:
    """A result with its current and next rank, from 1; None if it is not among the first hundred."""

    doc_id: str
    title: str
    current_rank: int | None
    next_rank: int | None


@dataclass(frozen=True)
class PreviewResults:
    """The words of the query and the first ten results, now (`current_...`) and after publishing (`next_...`)."""

    current_words: tuple[str, ...]
    next_words: tuple[str, ...]
    current_hits: tuple[PreviewHit, ...]
    next_hits: tuple[PreviewHit, ...]


def compare_rankings(proposal: VersionProposal, query: str) -> PreviewResults | None:
    """Search for `query` with the current and the next version. Returns None if the query has no words.

    Raises what `SolrBackend.select` raises.
    """
    search_service = current_services().search
    text = normalize_query(query, search_service.settings.longest_query)
    if not text:
        return None
    request = SearchRequest(raw_query=query, text=text, profile=search_service.settings.profile)
    thesaurus = build_thesaurus(proposal.lexicon)
    next_plan = QueryPlan(request, segment_query(request, proposal.segmenter, base_segmenter(), thesaurus))
    plans = search_service.plan(request), next_plan
    current_and_next = [_search_titles(search_service, plan) for plan in plans]
    rank_by_id = [{doc_id: n for n, (doc_id, _) in enumerate(side, start=1)} for side in current_and_next]
    sides = [
        tuple(
            PreviewHit(doc_id, title, rank_by_id[0].get(doc_id), rank_by_id[1].get(doc_id))
            for doc_id, title in side[:SHOWN_RESULTS]
        )
        for side in current_and_next
    ]
    return PreviewResults(plans[0].words.domain, plans[1].words.domain, *sides)


def _search_titles(search_service: SearchService, plan: QueryPlan) -> list[tuple[str, str]]:
    """Return ids and titles of the results, in the order of the search page."""
    plan = search_service.add_work_boosts(plan)
    params = hits_params(plan, COMPARED_RESULTS, field_names=(solr_fields.ID, solr_fields.TITLE))
    docs = documents(search_service.solr.select(params))
    return [(str(doc[solr_fields.ID]), clean_text(str(doc.get(solr_fields.TITLE, "")))) for doc in docs]
