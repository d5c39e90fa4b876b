"""Proposes related terms to reviewers after indexing: published terms that articles use together unusually often.

Solr computes how related two terms are (`relatedness`). A sentence of an article that contains both is the evidence.
"""

import time
from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from domain.errors import SolrError
from domain.message import Message, error_message
from domain.outcome import Stage, StageReport
from domain.term import RELATED_TERMS_STEP
from domain.term_relation import RelationKind, RelationProposal, TermRelation
from lexicon.definitions import iter_sentences
from pipeline.lexicon_stage.definitions import MAX_BODY_CHARS
from solr_client import solr_fields
from text.folding import fold_term, word_key
from text.mixed_terms import MixedTermMatcher

if TYPE_CHECKING:
    from docstore.store import Store
    from domain.term import Lexicon
    from pipeline.engine import Engine
    from search_ui.query.solr_query import Params

MAX_TERMS_PER_RUN = 500  # the next run continues with the following terms
MAX_RELATED_PER_TERM = 3
MIN_RELATEDNESS = 0.05  # of -1 to 1; about five standard deviations above the frequency in the whole index
MIN_SHARED_ARTICLES = 3
MAX_EVIDENCE_ARTICLES = 20
MIN_EVIDENCE_CHARS, MAX_EVIDENCE_CHARS = 15, 300
SENTENCE_ENDS = ("。", "！", "？", ".", "!", "?")
PATTERN = "together"

Search = Callable[["Params"], dict[str, Any]]


def propose_related_terms(engine: "Engine") -> StageReport:
    """Search for related terms of published terms and store them as proposals. Without Solr, only the notes say so."""
    started = time.monotonic()
    try:
        index = engine.index
        count = save_related_terms(engine.store, lambda params: index.search(dict(params)), time.time())
        engine.store.lexicons.finish_step(RELATED_TERMS_STEP)
        notes = (Message("1 new related term to review", "{n} new related terms to review", n=count),) if count else ()
    except SolrError as error:
        notes = (Message("No related terms: {reason}", reason=error_message(error)),)
    return StageReport(Stage.LEXICON, {}, time.monotonic() - started, notes)


def save_related_terms(store: "Store", search: Search, found_at: float, limit: int = MAX_TERMS_PER_RUN) -> int:
    """Propose the related terms of the next `limit` published terms, in alphabetical order. Returns their number.

    Args:
        store: The store.
        search: Sends a select request to the index and returns the response. Raises SolrError.
        found_at: Epoch seconds.
        limit: Maximum number of terms.
    """
    lexicon, known_pairs = store.lexicons.load_applied(), store.relations.related_pairs()
    terms = sorted(entry.text for entry in lexicon.entries)
    start = bisect_left(terms, store.relations.next_related_term())
    terms = [*terms[start:], *terms[:start]]
    has_stated_relation = _stated_relations(lexicon)
    proposals: list[RelationProposal] = []
    for term in terms[:limit]:
        for other, relatedness in _find_related(term, frozenset(terms), search, has_stated_relation):
            pair = (min(term, other), max(term, other))
            if pair not in known_pairs:
                known_pairs.add(pair)
                proposals += _build_proposals(store, pair, relatedness, search, found_at)
    return store.relations.add_related(proposals, terms[limit] if len(terms) > limit else "")


def _stated_relations(lexicon: "Lexicon") -> Callable[[str, str], bool]:
    """Return a function that is true for two terms if one is a broader term or a synonym of the other."""
    pairs = {
        frozenset((word_key(entry.text), word_key(word)))
        for entry in lexicon.entries
        for word in (*entry.broader_terms, *entry.synonyms)
    }

    def has_stated_relation(term: str, other: str) -> bool:
        return frozenset((word_key(term), word_key(other))) in pairs

    return has_stated_relation


def _find_related(
    term: str, terms: frozenset[str], search: Search, has_stated_relation: Callable[[str, str], bool]
) -> list[tuple[str, float]]:
    """Return the most related published terms with their relatedness, the most related first."""
    from search_ui.pages.term_usage import cooccurring_terms_params, parse_cooccurring_terms

    cooccurring_terms = parse_cooccurring_terms(
        search(cooccurring_terms_params(term)),
        term,
        lambda other: other in terms and not has_stated_relation(term, other),
    )
    return [
        (other.text, other.relatedness)
        for other in cooccurring_terms[:MAX_RELATED_PER_TERM]
        if other.relatedness >= MIN_RELATEDNESS and other.article_count >= MIN_SHARED_ARTICLES
    ]


def _build_proposals(
    store: "Store", pair: tuple[str, str], relatedness: float, search: Search, found_at: float
) -> Iterator[RelationProposal]:
    """Yield the proposal to relate two terms; nothing if no sentence contains both."""
    from search_ui.pages.term_usage import articles_with_both_params

    response = search(articles_with_both_params(*pair, MAX_EVIDENCE_ARTICLES))
    doc_ids = [doc[solr_fields.ID] for doc in response["response"]["docs"]]
    url_ids = store.articles.find_url_ids(doc_ids)
    sentences = [
        (sentence, url_id)
        for url_id, _, body in store.articles.iter_plain_texts(url_ids)
        for sentence in find_common_sentences(body[:MAX_BODY_CHARS], pair)
    ]
    if sentences:
        evidence, url_id = min(sentences, key=lambda sentence_and_id: len(sentence_and_id[0]))
        article = store.articles.load_by_url_ids([url_id])[url_id].article
        relation = TermRelation(RelationKind.RELATED, *pair, PATTERN, relatedness, evidence)
        yield RelationProposal(relation, url_id, article.url, article.title, found_at)


def find_common_sentences(body: str, terms: Sequence[str]) -> list[str]:
    """Return the complete sentences of a text that contain all of `terms`, in any spelling."""
    matcher, keys = MixedTermMatcher(terms), set(map(word_key, terms))
    sentences = []
    for sentence in iter_sentences(body):
        if MIN_EVIDENCE_CHARS <= len(sentence) <= MAX_EVIDENCE_CHARS and sentence.endswith(SENTENCE_ENDS):
            folded_sentence = fold_term(sentence)
            spans = matcher.iter_spans_of_folded(folded_sentence)
            if keys <= {word_key(folded_sentence[start:end]) for start, end in spans}:
                sentences.append(sentence)
    return sentences
