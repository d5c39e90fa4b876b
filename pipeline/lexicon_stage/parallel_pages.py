"""Proposes equivalents of published terms from parallel pages, which the store knows by their URLs."""

from collections import Counter
from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING, NamedTuple

from domain.term import TermStatus
from domain.term_relation import RelationKind, RelationProposal, TermRelation
from lexicon.definitions import iter_sentences
from lexicon.parallel_pages import MIN_PAIRS, find_equivalents, language_free_url
from pipeline.lexicon_stage.definitions import MAX_BODY_CHARS
from text.folding import fold_term, word_key
from text.mixed_terms import MixedTermMatcher
from text.scripts import language_of_term

if TYPE_CHECKING:
    from docstore.store import Store

MAX_PAIRS = 1000  # that are read
MAX_EVIDENCE_CHARS = 300  # of a sentence
PATTERN = "parallel"
LANGUAGES = ("zh", "en")


class ParallelPages(NamedTuple):
    """Ids of the articles in Chinese and in English."""

    zh: int
    en: int


class TermSentences:
    """The sentences of an article by the terms that they contain.

    Args:
        body: The text.
        matcher: Finds the terms.
        term_by_key: The terms by their `word_key`.
        language: Only terms of this language count.
    """

    def __init__(self, body: str, matcher: MixedTermMatcher, term_by_key: dict[str, str], language: str) -> None:
        self.sentence_by_term: dict[str, str] = {}
        for sentence in iter_sentences(body[:MAX_BODY_CHARS]):
            folded_sentence = fold_term(sentence)
            for start, end in matcher.iter_spans_of_folded(folded_sentence):
                term = term_by_key[word_key(folded_sentence[start:end])]
                if language_of_term(term) == language and len(sentence) <= MAX_EVIDENCE_CHARS:
                    self.sentence_by_term.setdefault(term, sentence)

    @property
    def terms(self) -> frozenset[str]:
        """The terms of the article."""
        return frozenset(self.sentence_by_term)


def iter_parallel_proposals(
    store: "Store", published_terms: Collection[str], found_at: float
) -> Iterator[RelationProposal]:
    """Yield a proposal for each published term with an equivalent, which is a published term or a candidate.

    Args:
        store: The store.
        published_terms: The published terms.
        found_at: Epoch seconds.
    """
    pairs = find_parallel_pages(store)
    if len(pairs) < MIN_PAIRS:
        return
    _, undecided_terms = store.review_queue.undecided_terms()
    candidates = [term.text for term in undecided_terms if term.status is TermStatus.CANDIDATE]
    term_by_key = {word_key(term): term for term in (*candidates, *published_terms)}
    matcher = MixedTermMatcher(term_by_key)
    language_by_id = {url_id: language for pair in pairs for language, url_id in zip(LANGUAGES, pair, strict=True)}
    sentences_by_id = {
        url_id: TermSentences(body, matcher, term_by_key, language_by_id[url_id])
        for url_id, _, body in store.articles.iter_plain_texts(sorted(language_by_id))
    }
    pages = [(pair, sentences_by_id[pair.zh], sentences_by_id[pair.en]) for pair in pairs]
    for equivalent in find_equivalents([(chinese.terms, english.terms) for _, chinese, english in pages]):
        is_chinese_published = equivalent.chinese in published_terms
        if is_chinese_published or equivalent.english in published_terms:
            pair, *sentences = next(
                (pair, chinese.sentence_by_term[equivalent.chinese], english.sentence_by_term[equivalent.english])
                for pair, chinese, english in pages
                if equivalent.chinese in chinese.terms and equivalent.english in english.terms
            )
            step = 1 if is_chinese_published else -1  # the published term first
            term, other = (equivalent.chinese, equivalent.english)[::step]
            url_id = pair[::step][0]
            article = store.articles.load_by_url_ids([url_id])[url_id].article
            evidence = "\n".join(sentences[::step])
            relation = TermRelation(RelationKind.EQUIVALENT, term, other, PATTERN, equivalent.dice * 0.9, evidence)
            yield RelationProposal(relation, url_id, article.url, article.title, found_at)


def find_parallel_pages(store: "Store") -> list[ParallelPages]:
    """Return the pairs of articles that are the same in Chinese and in English, at most MAX_PAIRS, the newest first."""
    counts = Counter[str]()
    for language, count in store.articles.count_by_language().items():
        counts[language.partition("-")[0]] += count
    rare, frequent = sorted(LANGUAGES, key=lambda language: counts[language])
    if counts[rare] < MIN_PAIRS:
        return []
    rare_id_by_url = {language_free_url(url): url_id for url_id, url in store.articles.iter_urls_in_language(rare)}
    id_by_url = {
        key: url_id
        for url_id, url in store.articles.iter_urls_in_language(frequent)
        if (key := language_free_url(url)) in rare_id_by_url
    }
    pairs = [ParallelPages(**{rare: rare_id_by_url[key], frequent: url_id}) for key, url_id in id_by_url.items()]
    return sorted(pairs, reverse=True)[:MAX_PAIRS]
