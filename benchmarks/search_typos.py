"""Spelling corrections: the sets `typos` and `typos_present` of `make bench-search`.

Typing errors are generated in terms of a lexicon mined from each collection, and in words of documents that are
generated from the dictionaries of other languages. The kinds of errors are a neighbouring key, two swapped
characters, a dropped or a doubled character, and in Chinese a character of the same sound and pinyin.

In `typos` no document contains the error. In `typos_present` one document contains the error, and at least
`MIN_PRESENT_DOCUMENTS` contain the term.

    corrected_first   share of the errors whose first offer is the term
    false_offers      share of the terms, and of the queries of the collections, that a correction is offered for

The terms and queries are split into two halves by their checksums. Constants of the search were chosen on `DEV`; the
benchmark reports `TEST`.
"""

import random
import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from zlib import crc32

from spellchecker import SpellChecker

from benchmarks.results import OURS, Figure
from benchmarks.search_compare import accepted, mined
from benchmarks.search_data import Collection, Document, sample
from benchmarks.search_systems import TIMEOUT, Ours
from domain.term import Lexicon
from search_ui.query.results import parse_total
from search_ui.query.solr_client import SolrSearchClient
from search_ui.query.solr_query import MATCH_ALL, select_params
from search_ui.query.solr_requests import count_params
from search_ui.spelling.did_you_mean import DidYouMeanKind, SuggestionSearch
from search_ui.vocabulary_cache import build_vocabulary
from text.folding import word_key
from text.pinyin import join_syllables, pinyin_syllables

TYPOS, TYPOS_PRESENT = "typos", "typos_present"
COLLECTIONS = ("en_cran", "zh_papers")
LANGUAGES = ("de", "es", "fr", "ru")
DEV, TEST = 0, 1
MAX_ERRORS = 150  # of a set; also its correct terms and queries
MAX_DOCUMENTS = 5_000
DOCUMENTS, WORDS_PER_DOCUMENT = 1_500, 120  # generated
MAX_TERMS = 2_000
MIN_TERM_DOCUMENTS, MIN_PRESENT_DOCUMENTS = 2, 10
MIN_LATIN_LETTERS = 5  # of a word with an error
SEED = 20_240_501
KEYBOARD_ROWS = ("qwertyuiop", "asdfghjkl", "zxcvbnm")
_HAN_TERM_RE = re.compile("[\u4e00-\u9fff]{3,8}")
_WORD_RE = re.compile(r"[^\W\d_]+")


@dataclass(frozen=True)
class TypoSet:
    """Documents, and the terms in which errors are generated, with the numbers of documents that contain them."""

    name: str
    documents: Sequence[Document]
    terms: Mapping[str, int]
    queries: Sequence[str] = ()
    lexicon: Lexicon = field(default_factory=Lexicon)


def typo_figures(url: str, collections: Sequence[Collection], half: int = TEST) -> Iterator[Figure]:
    """Yield the figures of both sets over all languages."""
    corrected: dict[str, list[bool]] = {TYPOS: [], TYPOS_PRESENT: []}
    false_offers: list[bool] = []
    for typo_set in load_typo_sets(collections):
        system = Ours(url, f"{typo_set.name}_typos", typo_set.lexicon)
        try:
            system.load(typo_set.documents)
            find_offers = make_offer_function(url, system, typo_set)
            pairs = generate_typos(typo_set, half, MIN_TERM_DOCUMENTS)
            corrected[TYPOS] += [is_corrected(find_offers(typo), term) for term, typo in pairs]
            false_offers += [bool(find_offers(text)) for text in correct_queries(typo_set, half)]
            pairs = generate_typos(typo_set, half, MIN_PRESENT_DOCUMENTS)
            system.load(documents_with_typos(typo_set.documents, pairs))
            find_offers = make_offer_function(url, system, typo_set)
            corrected[TYPOS_PRESENT] += [is_corrected(find_offers(typo), term) for term, typo in pairs]
        finally:
            system.drop()
    for name, results in corrected.items():
        yield Figure(name, OURS, "corrected_first", sum(results) / len(results))
    yield Figure(TYPOS, OURS, "false_offers", sum(false_offers) / len(false_offers))


def load_typo_sets(collections: Sequence[Collection]) -> Iterator[TypoSet]:
    """Yield the documents of the collections with their mined terms, then generated documents in other languages."""
    for collection in (one for one in collections if one.name in COLLECTIONS):
        documents = sample(collection, 10**9, -(-len(collection.documents) // MAX_DOCUMENTS)).documents
        terms = mined(documents)[:MAX_TERMS]
        counts = {term.text: term.document_count for term in terms}
        yield TypoSet(collection.name, documents, counts, [text for _, text in collection.queries], accepted(terms))
    for language in LANGUAGES:
        documents = generate_documents(language)
        counts = Counter(word for document in documents for word in set(document.text.split()))
        yield TypoSet(language, documents, counts)


def generate_documents(language: str) -> list[Document]:
    """Return documents of random words of a language, as frequent as in its dictionary."""
    frequencies = SpellChecker(language=language).word_frequency
    words = sorted(filter(_WORD_RE.fullmatch, frequencies))
    drawn = random.Random(SEED).choices(words, [frequencies[word] for word in words], k=DOCUMENTS * WORDS_PER_DOCUMENT)
    texts = (" ".join(drawn[n : n + WORDS_PER_DOCUMENT]) for n in range(0, len(drawn), WORDS_PER_DOCUMENT))
    return [Document(f"{language}{n}", "", text) for n, text in enumerate(texts)]


def is_corrected(offers: Sequence[str], term: str) -> bool:
    """Return True if the first offer is the term."""
    return [word_key(text) for text in offers[:1]] == [word_key(term)]


def is_in_half(text: str, half: int) -> bool:
    """Return True if a term or query belongs to this half."""
    return crc32(text.encode()) % 2 == half


def correct_queries(typo_set: TypoSet, half: int) -> list[str]:
    """Return queries that should not be corrected: terms, and queries of the collection."""
    chosen = [sorted(text for text in texts if is_in_half(text, half)) for texts in (typo_set.terms, typo_set.queries)]
    rng = random.Random(SEED)
    return [text for texts in chosen for text in rng.sample(texts, min(len(texts), MAX_ERRORS))]


def make_offer_function(url: str, system: Ours, typo_set: TypoSet) -> Callable[[str], list[str]]:
    """Return a function that returns the corrections offered for a query, most likely first."""
    client = SolrSearchClient(url, f"{typo_set.name}_typos", TIMEOUT)
    terms = {entry.text: typo_set.terms[entry.text] for entry in typo_set.lexicon.entries}
    vocabulary = build_vocabulary(client, terms=terms)

    def find_offers(text: str) -> list[str]:
        plan = system.understood(text)
        search = SuggestionSearch(plan, vocabulary, lambda asked: system.understood(asked.text), system.segmenter)
        count_response = client.select(count_params(plan, search.text_facets()))
        facets, params = search.search_facets(count_response, parse_total(count_response))
        response = client.select(select_params(MATCH_ALL, facets=facets, extra_params=params))
        return [offer.label for offer in search.suggestions(response) if offer.kind is DidYouMeanKind.CORRECTED]

    return find_offers


def generate_typos(typo_set: TypoSet, half: int, min_documents: int) -> list[tuple[str, str]]:
    """Return terms of one half, each with a typing error that no document and no other term contains.

    Terms occur in at least `min_documents` documents.
    """
    rng = random.Random(SEED)
    texts = "\n".join(f"{document.title}\n{document.text}" for document in typo_set.documents).lower()
    homophones = _chars_by_sound(texts)
    keys = set(map(word_key, typo_set.terms))
    terms = sorted(term for term, count in typo_set.terms.items() if count >= min_documents and is_in_half(term, half))
    pairs: list[tuple[str, str]] = []
    for term in rng.sample(terms, len(terms)):
        typo = _make_typo(term.lower(), homophones, rng)
        if typo and word_key(typo) not in keys and typo not in texts and term.lower() in texts:
            pairs.append((term, typo))
        if len(pairs) == MAX_ERRORS:
            break
    return pairs


def documents_with_typos(documents: Sequence[Document], pairs: Sequence[tuple[str, str]]) -> list[Document]:
    """Return for each term a copy of a document that contains it, with the error instead of its first occurrence."""
    changed = []
    for n, (term, typo) in enumerate(pairs):
        pattern = re.compile(re.escape(term), re.IGNORECASE)
        texts = (f"{document.title}\n{document.text}" for document in documents)
        changed.append(Document(f"typo{n}", "", pattern.sub(typo, next(filter(pattern.search, texts)), 1)))
    return changed


def _chars_by_sound(text: str) -> Mapping[str, str]:
    chars: dict[str, str] = defaultdict(str)
    for char in sorted(set(re.findall("[\u4e00-\u9fff]", text))):
        chars[pinyin_syllables(char)[0]] += char
    return chars


def _make_typo(term: str, homophones: Mapping[str, str], rng: random.Random) -> str:
    """Return `term` with one error; "" if it is too short or has other characters."""
    if _HAN_TERM_RE.fullmatch(term):
        position = rng.randrange(len(term))
        kind = rng.choice(("homophone", "homophone", "swap", "drop", "pinyin"))
        if kind == "pinyin":
            return join_syllables(pinyin_syllables(term))
        if kind == "homophone":
            others = homophones[pinyin_syllables(term)[position]].replace(term[position], "")
            return _replace(term, position, rng.choice(others)) if others else ""
        return _swap_or_drop(term, position, kind) if len(term) > 3 or kind == "swap" else ""
    long_words = [match for match in _WORD_RE.finditer(term) if len(match[0]) >= MIN_LATIN_LETTERS]
    if not long_words or not re.fullmatch(r"[^\W\d_]+(?: [^\W\d_]+)*", term):
        return ""
    word = rng.choice(long_words)
    changed = _mistype(word[0], rng)
    return term[: word.start()] + changed + term[word.end() :] if changed else ""


def _mistype(word: str, rng: random.Random) -> str:
    position, kind = rng.randrange(len(word)), rng.choice(("neighbour", "swap", "drop", "double"))
    char = word[position]
    if kind == "double":
        return _replace(word, position, 2 * char)
    if kind == "neighbour":
        neighbours = _key_neighbours(unicodedata.normalize("NFD", char)[0])
        return _replace(word, position, rng.choice(neighbours)) if neighbours else ""
    return _swap_or_drop(word, position, kind)


def _swap_or_drop(word: str, position: int, kind: str) -> str:
    if kind == "drop":
        return word[:position] + word[position + 1 :]
    position = min(position, len(word) - 2)
    swapped = word[:position] + word[position + 1] + word[position] + word[position + 2 :]
    return swapped if swapped != word else ""


def _replace(word: str, position: int, char: str) -> str:
    return word[:position] + char + word[position + 1 :]


def _key_neighbours(letter: str) -> str:
    row = next((row for row in KEYBOARD_ROWS if letter in row), "")
    column = row.find(letter)
    return row[max(0, column - 1) : column] + row[column + 1 : column + 2]
