"""Previews the results of the next lexicon version before it is published.

Documents are not segmented with it yet. A word that only the next version has is searched as a phrase, as any word is.
"""

from dataclasses import dataclass

from search_ui.pages.search_service import current_search_service
from search_ui.query.content_words import split_content_words
from search_ui.query.display_text import clean_text, normalize_query
from search_ui.query.search import SearchService
from search_ui.query.search_request import SearchRequest
from search_ui.query.segmentation import segment_words
from search_ui.query.solr_client import documents
from search_ui.query.solr_query import QueryVariant, QueryWords
from search_ui.query.solr_requests import hits_params
from search_ui.query.thesaurus import build_thesaurus, find_synonym_groups
from search_ui.review.interfaces import VersionProposal
from solr_client import solr_fields

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
    search_service = current_search_service()
    text = normalize_query(query, search_service.settings.longest_query)
    if not text:
        return None
    request = SearchRequest(raw_query=query, text=text, profile=search_service.settings.profile)
    current_words = search_service.segment_query(request)
    next_words = next_version_words(request, current_words, proposal)
    current_and_next = (
        _search_titles(search_service, request, current_words),
        _search_titles(search_service, request, next_words),
    )
    rank_by_id = [{doc_id: n for n, (doc_id, _) in enumerate(side, start=1)} for side in current_and_next]
    sides = [
        tuple(
            PreviewHit(doc_id, title, rank_by_id[0].get(doc_id), rank_by_id[1].get(doc_id))
            for doc_id, title in side[:SHOWN_RESULTS]
        )
        for side in current_and_next
    ]
    return PreviewResults(tuple(current_words[QueryVariant.DOMAIN]), tuple(next_words[QueryVariant.DOMAIN]), *sides)


def next_version_words(request: SearchRequest, now: QueryWords, proposal: VersionProposal) -> QueryWords:
    """Return the words of the query in the next version, with synonyms."""
    text = now[QueryVariant.TEXT][0]
    cut = segment_words(text, proposal.segmenter)
    content, residual_chars = split_content_words(text, proposal.segmenter.cut(text))
    synonyms = find_synonym_groups(request.parsed_query, cut, build_thesaurus(proposal.lexicon))
    return {
        **now,
        QueryVariant.DOMAIN: cut,
        QueryVariant.CONTENT: content,
        QueryVariant.RESIDUAL_CHARS: residual_chars,
        QueryVariant.SYNONYMS: synonyms,
    }


def _search_titles(search_service: SearchService, request: SearchRequest, words: QueryWords) -> list[tuple[str, str]]:
    """Return ids and titles of the results, in the order of the search page."""
    words = search_service.add_work_boosts(request, words)
    params = hits_params(request, words, COMPARED_RESULTS, field_names=(solr_fields.ID, solr_fields.TITLE))
    docs = documents(search_service.solr.select(params))
    return [(str(doc[solr_fields.ID]), clean_text(str(doc.get(solr_fields.TITLE, "")))) for doc in docs]
