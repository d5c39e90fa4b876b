"""Finds the definitions of published terms in articles, after the lexicon update of a run.

Each run searches changed articles for all terms, and all articles for the terms that are new in the lexicon.
"""

import time
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from domain.batches import batched
from domain.message import Message
from domain.term import Definition, DefinitionChoice, DefinitionSource
from lexicon.definitions import choose_definitions, iter_sentences
from text.folding import fold_term, word_key
from text.mixed_terms import MixedTermMatcher
from text.scripts import language_of_term

if TYPE_CHECKING:
    from docstore.store import Store

MAX_ARTICLES_PER_TERM = 500
MAX_BODY_CHARS = 50_000
MAX_CANDIDATES_PER_TERM = 3
OVERLAP_SECONDS = 3600.0  # an extraction that was still running during the last search
ARTICLES_PER_READ = 200


class ScoredSentence(NamedTuple):
    """A sentence of an article with its probability of being a definition."""

    score: float
    text: str
    url_id: int


def update_definitions(store: "Store") -> tuple[str, ...]:
    """Search for definitions of the published terms and store the best.

    Returns:
        Notes for the report of the stage.
    """
    lexicon, started_at = store.lexicons.load_latest(), time.time()
    searched_version, searched_until = store.definitions.search_state()
    terms = {entry.text for entry in lexicon.entries}
    earlier_terms = terms & {entry.text for entry in store.lexicons.load_version(searched_version).entries}
    since = searched_until - OVERLAP_SECONDS
    changed_ids = list(store.articles.iter_ids_extracted_since(since)) if terms else []
    sentences_by_term = _search(store, earlier_terms, changed_ids)
    if new_terms := terms - earlier_terms:
        sentences_by_term |= _search(store, new_terms, [url_id for url_id, _ in store.articles.iter_digests()])
    new_definitions = list(_build_definitions(store, sentences_by_term, started_at))
    lost_definitions = _find_lost_definitions(store, changed_ids)
    store.definitions.save(new_definitions, lost_definitions, lexicon.version, started_at)
    choices = dict(store.definitions.iter_choices())
    store.source_pages.keep_copies({choice.url_id for choice in choices.values()})
    count, changed_count = len({item.term for item in new_definitions}), _check_choices(store, choices)
    notes = []
    if count:
        notes.append(Message("Definitions found for 1 term", "Definitions found for {n} terms", n=count))
    if changed_count:
        notes.append(
            Message(
                "1 chosen definition changed in the source",
                "{n} chosen definitions changed in the source",
                n=changed_count,
            )
        )
    return tuple(notes)


def _check_choices(store: "Store", choices: Mapping[str, DefinitionChoice]) -> int:
    """Save whether the articles still contain the definitions that reviewers chose.

    Returns:
        The number of definitions whose articles do not contain the sentence any more, and did in the last run.
    """
    bodies = {
        url_id: body for url_id, _, body in store.articles.iter_plain_texts([row.url_id for row in choices.values()])
    }
    source_by_term = {term: _source_state(choice, bodies) for term, choice in choices.items()}
    known_terms = store.review_queue.find_terms(sorted(choices))
    store.definitions.save_sources(source_by_term)
    return sum(
        source is DefinitionSource.CHANGED and known_terms[term].definition_source is not source
        for term, source in source_by_term.items()
    )


def _source_state(choice: DefinitionChoice, bodies: Mapping[int, str]) -> DefinitionSource:
    if choice.url_id not in bodies:
        return DefinitionSource.GONE
    return DefinitionSource.CURRENT if choice.sentence in bodies[choice.url_id] else DefinitionSource.CHANGED


def _search(store: "Store", terms: Collection[str], url_ids: Sequence[int]) -> dict[str, list[ScoredSentence]]:
    """Return the best sentences of each term, best first, from at most MAX_ARTICLES_PER_TERM articles with it."""
    terms_by_key = {word_key(term): term for term in terms}
    matcher, article_counts = MixedTermMatcher(terms), Counter[str]()
    best_by_term: dict[str, list[ScoredSentence]] = {}
    for batch in batched(url_ids, ARTICLES_PER_READ) if terms else ():
        for url_id, _, body in store.articles.iter_plain_texts(batch):
            for term, sentences in _sentences_by_term(body[:MAX_BODY_CHARS], matcher, terms_by_key).items():
                article_counts[term] += 1
                if article_counts[term] > MAX_ARTICLES_PER_TERM:
                    continue
                definitions = (
                    ScoredSentence(score, sentences[index], url_id)
                    for index, score in choose_definitions(term, sentences)
                )
                best_by_term[term] = _keep_best([*best_by_term.get(term, ()), *definitions])
    return best_by_term


def _sentences_by_term(body: str, matcher: MixedTermMatcher, terms_by_key: dict[str, str]) -> dict[str, list[str]]:
    sentences_by_term: defaultdict[str, list[str]] = defaultdict(list)
    for sentence in iter_sentences(body):
        folded_sentence = fold_term(sentence)
        keys = {word_key(folded_sentence[start:end]) for start, end in matcher.iter_spans_of_folded(folded_sentence)}
        for key in keys & terms_by_key.keys():
            sentences_by_term[terms_by_key[key]].append(sentence)
    return sentences_by_term


def _keep_best(scored_sentences: Sequence[ScoredSentence]) -> list[ScoredSentence]:
    """Return the best sentences, each once."""
    best_by_sentence: dict[str, ScoredSentence] = {}
    for sentence in sorted(scored_sentences, key=lambda sentence: (-sentence.score, sentence.url_id)):
        best_by_sentence.setdefault(sentence.text, sentence)
    return list(best_by_sentence.values())[:MAX_CANDIDATES_PER_TERM]


def _build_definitions(
    store: "Store", scored_by_term: dict[str, list[ScoredSentence]], found_at: float
) -> Iterator[Definition]:
    for term, scored_sentences in scored_by_term.items():
        articles = store.articles.load_by_url_ids([url_id for _, _, url_id in scored_sentences])
        for score, sentence, url_id in scored_sentences:
            if url_id in articles:
                article, language = articles[url_id].article, language_of_term(term)
                yield Definition(
                    term, language, sentence, url_id, article.url, article.title, article.published, score, found_at
                )


def _find_lost_definitions(store: "Store", changed_ids: Sequence[int]) -> list[Definition]:
    """Return the stored definitions whose articles do not contain the sentence any more."""
    stored = list(store.definitions.iter_by_articles(changed_ids))
    bodies = {url_id: body for url_id, _, body in store.articles.iter_plain_texts([row.url_id for row in stored])}
    return [row for row in stored if row.sentence not in bodies.get(row.url_id, row.sentence)]
