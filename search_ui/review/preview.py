"""Previews the effect of the next lexicon version before it is published.

Documents are not segmented with it yet. A word that only the next version has is therefore searched as consecutive
characters. The BM25 score of such a phrase is the sum of the idf of its characters. Its weight is reduced, so that the
score is the idf of the word.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from domain.term import Lexicon
from search_ui.pages.search_service import current_search_service
from search_ui.query.content_words import split_content_words
from search_ui.query.display_text import clean_text, normalize_query
from search_ui.query.ranking import PROFILES, lexicon_term_weight
from search_ui.query.search import SearchService
from search_ui.query.search_request import SearchRequest
from search_ui.query.segmentation import segment_words
from search_ui.query.solr_client import SolrBackend, documents
from search_ui.query.solr_query import QueryParam, QueryVariant, QueryWords, SolrQuery, select_params
from search_ui.query.solr_requests import hits_params
from search_ui.query.thesaurus import build_thesaurus, find_synonym_groups
from search_ui.review.interfaces import VersionChange, VersionProposal
from solr_client import solr_fields
from text.segment import RjiebaSegmenter, Segmenter

SHOWN_RESULTS = 10  # on each side
COMPARED_RESULTS = 100  # results in which the rank of the other side is looked up
MAX_NEW_WORDS = 8  # words of a query that only the next version has


@dataclass(frozen=True)
class SentenceSegmentation:
    """A change of the lexicon with an example sentence, segmented before and after."""

    change: VersionChange
    before: tuple[str, ...]
    after: tuple[str, ...]


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


def segment_changed_sentences(
    proposal: VersionProposal, base_segmenter: Segmenter, limit: int
) -> list[SentenceSegmentation]:
    """Segment the example sentences of the first `limit` changes. A word without a sentence is its own example."""
    old = _lexicon_segmenter(proposal.published_lexicon, base_segmenter)
    return [
        SentenceSegmentation(
            change, tuple(map(clean_text, old.cut(text))), tuple(map(clean_text, proposal.segmenter.cut(text)))
        )
        for change, text in ((change, sentence or change.text) for change, sentence in proposal.word_changes[:limit])
    ]


def _lexicon_segmenter(lexicon: Lexicon, base_segmenter: Segmenter) -> Segmenter:
    if not lexicon.entries:
        return base_segmenter
    return RjiebaSegmenter((entry.text, entry.frequency, entry.pos_tag) for entry in lexicon.entries)


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
        _search_titles(search_service, request, current_words, []),
        _search_titles(search_service, request, next_words, select_new_words(current_words, next_words)),
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
        QueryVariant.OLD_LEXICON: (),
        QueryVariant.NEW_WORDS: (),
        QueryVariant.SYNONYMS: synonyms,
    }


def select_new_words(now: QueryWords, then: QueryWords) -> list[str]:
    """Return the words of the query that no document is segmented into yet."""
    indexed_words = {*now[QueryVariant.DOMAIN], *now.get(QueryVariant.OLD_LEXICON, ()), *now.get(QueryVariant.BASE, ())}
    return [word for word in dict.fromkeys(then[QueryVariant.DOMAIN]) if word not in indexed_words][:MAX_NEW_WORDS]


def _search_titles(
    search_service: SearchService, request: SearchRequest, words: QueryWords, new_words: Sequence[str]
) -> list[tuple[str, str]]:
    """Return ids and titles of the results, in the order of the search page."""
    words = search_service.add_work_boosts(request, words)
    summands = new_word_summands(request.profile, new_words, search_service.solr)
    params = hits_params(
        request, words, COMPARED_RESULTS, field_names=(solr_fields.ID, solr_fields.TITLE), summands=summands
    )
    docs = documents(search_service.solr.select(params))
    return [(str(doc[solr_fields.ID]), clean_text(str(doc.get(solr_fields.TITLE, "")))) for doc in docs]


def new_word_summands(profile: str, new_words: Sequence[str], solr: SolrBackend) -> list[QueryParam]:
    """Build the score summands for words that no document is segmented into yet; [] if the profile has no words."""
    weight = lexicon_term_weight(PROFILES[profile])
    weighted_words = [
        (word, f"{solr_fields.BODY_CHARS}^{weight * idf_ratio(solr, word):.4f}") for word in new_words if weight
    ]
    runs = (SolrQuery.phrases(body, f"new_word{n}_text", [word]) for n, (word, body) in enumerate(weighted_words))
    return [QueryParam(f"new_word{n}", run) for n, run in enumerate(runs)]


def idf_ratio(solr: SolrBackend, word: str) -> float:
    """Return the idf of a word divided by the sum of the idf of its characters, at most 1.

    1 means that the word is as rare as its characters together suggest; a small value means that the characters nearly
    always occur as this word. A document contains the word if the characters are consecutive in it. Returns 1.0 if no
    document contains the word.
    """
    characters = {f"char{n}": char for n, char in enumerate(word.lower()) if not char.isspace()}
    fl = ["documents:numdocs()", *(f"{name}_df:docfreq({solr_fields.BODY_CHARS},${name})" for name in characters)]
    run = SolrQuery.phrases(solr_fields.BODY_CHARS, "quoted", [word])
    result = solr.select(select_params(run, rows=1, fl=fl, extra_params=characters.items())).get("response", {})
    docs: Sequence[Mapping[str, float]] = result.get("docs", ())
    if not docs:
        return 1.0
    documents = float(docs[0].get("documents", 0))
    char_idf_sum = sum(idf(documents, float(docs[0].get(f"{name}_df", 0)) or documents) for name in characters)
    return min(1.0, idf(documents, float(result["numFound"])) / char_idf_sum) if char_idf_sum else 1.0


def idf(document_count: float, document_frequency: float) -> float:
    """Return the inverse document frequency of BM25 (Lucene's BM25Similarity)."""
    return math.log(1 + (document_count - document_frequency + 0.5) / (document_frequency + 0.5))
