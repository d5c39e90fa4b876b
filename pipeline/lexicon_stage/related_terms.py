"""Finds related terms: published terms that articles use together more often than chance.

The index finds the pairs. A sentence of an article that contains both is the evidence.
"""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Set
from typing import TYPE_CHECKING

from domain.progress import ProgressTask, track
from domain.term_relation import ProposalState, RelationKind, RelationProposal, TermRelation
from lexicon.sentences import Sentence
from solr_client import solr_fields
from text.folding import word_key

if TYPE_CHECKING:
    from docstore.store import Store
    from indexer.solr_index import SolrIndex

MAX_TERMS_PER_RUN = 500  # the next run continues with the following terms
MAX_RELATED_PER_TERM = 3
MIN_RELATEDNESS = 0.05  # of -1 to 1; about five standard deviations above the frequency in the whole index
MIN_SHARED_ARTICLES = 3
MAX_EVIDENCE_ARTICLES = 20
MIN_EVIDENCE_CHARS, MAX_EVIDENCE_CHARS = 15, 300
SENTENCE_ENDS = ("。", "！", "？", ".", "!", "?")
PATTERN = "together"

Pair = tuple[str, str]


class RelatedTermFinder:
    """Asks the index for related terms of the next published terms, and finds a sentence with both terms of each pair.

    Attributes:
        term_by_key: The terms of the new pairs.
        best: The pairs that a sentence contains, each with its shortest sentence, without its source.
        next_term: The term with which the next search begins; "" for the first one.
    """

    def __init__(self, store: "Store", index: "SolrIndex", progress_task: ProgressTask) -> None:
        from search_ui.services.terms import articles_with_both_params

        lexicon, known_pairs = store.lexicons.load_applied(), set(store.relations.related_pairs(*ProposalState))
        stated_pairs = {
            frozenset((word_key(entry.text), word_key(word)))
            for entry in lexicon.entries
            for word in (*entry.broader_terms, *entry.synonyms)
        }
        terms = sorted(entry.text for entry in lexicon.entries)
        start = bisect_left(terms, store.relations.next_related_term())
        terms = [*terms[start:], *terms[:start]]
        searched_terms = terms[:MAX_TERMS_PER_RUN]
        self.next_term = "" if searched_terms == terms else terms[MAX_TERMS_PER_RUN]
        self.best: dict[Pair, RelationProposal] = {}
        self.term_by_key: dict[str, str] = {}
        self._relatedness_by_pair_by_article: defaultdict[int, dict[Pair, float]] = defaultdict(dict)
        all_terms = frozenset(terms)
        for term in track(progress_task, "lexicon: related terms", searched_terms):
            for other, relatedness in _find_related(term, all_terms, stated_pairs, index):
                pair = (min(term, other), max(term, other))
                if pair not in known_pairs:
                    known_pairs.add(pair)
                    self.term_by_key |= {word_key(text): text for text in pair}
                    response = index.search(dict(articles_with_both_params(*pair, MAX_EVIDENCE_ARTICLES)))
                    doc_ids = [doc[solr_fields.ID] for doc in response["response"]["docs"]]
                    for url_id in store.articles.find_url_ids(doc_ids):
                        self._relatedness_by_pair_by_article[url_id][pair] = relatedness

    @property
    def url_ids(self) -> Set[int]:
        """The articles to read."""
        return self._relatedness_by_pair_by_article.keys()

    def read(self, url_id: int, sentences: Iterable[Sentence]) -> None:
        """Keep the shortest complete sentence with both terms of each pair."""
        complete_sentences = [
            sentence
            for sentence in sentences
            if MIN_EVIDENCE_CHARS <= len(sentence.text) <= MAX_EVIDENCE_CHARS and sentence.text.endswith(SENTENCE_ENDS)
        ]
        for pair, relatedness in self._relatedness_by_pair_by_article[url_id].items():
            keys = frozenset(map(word_key, pair))
            for sentence in complete_sentences:
                is_shorter = pair not in self.best or len(sentence.text) < len(self.best[pair].relation.evidence)
                if is_shorter and keys == {match.key for match in sentence.find_terms(keys)}:
                    relation = TermRelation(RelationKind.RELATED, *pair, PATTERN, relatedness, sentence.text)
                    self.best[pair] = RelationProposal(relation, url_id, "", "", 0.0)


def _find_related(
    term: str, terms: Set[str], stated_pairs: Set[frozenset[str]], index: "SolrIndex"
) -> list[tuple[str, float]]:
    """Return the most related of `terms` with their relatedness, the most related first, without `stated_pairs`."""
    from search_ui.services.terms import cooccurring_terms_params, indexed_term_query, parse_cooccurring_terms

    cooccurring_terms = parse_cooccurring_terms(
        index.search(dict(cooccurring_terms_params(indexed_term_query(term)))),
        term,
        lambda other: other in terms and frozenset((word_key(term), word_key(other))) not in stated_pairs,
    )
    return [
        (other.text, other.relatedness)
        for other in cooccurring_terms[:MAX_RELATED_PER_TERM]
        if other.relatedness >= MIN_RELATEDNESS and other.article_count >= MIN_SHARED_ARTICLES
    ]
