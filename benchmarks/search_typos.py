"""Spelling corrections: the set `typos` of `make bench-search`.

Typing errors are generated from terms of a lexicon mined from each collection: a neighbouring key, two swapped
characters, a dropped character, or (Chinese) a character of the same sound. A string that a document contains is no
error and is skipped.

    corrected_first   share of the errors whose first offer is the term
    false_offers      share of the terms themselves that a correction is offered for
"""

import random
import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence

from benchmarks.results import OURS, Figure
from benchmarks.search_compare import accepted, mined
from benchmarks.search_data import Collection, Document, sample
from benchmarks.search_systems import TIMEOUT, Ours
from domain.term import LexiconEntry
from search_ui.query.results import parse_total
from search_ui.query.solr_client import SolrSearchClient
from search_ui.query.solr_requests import count_params
from search_ui.spelling.corrections import parse_spellcheck, spellcheck_params
from search_ui.spelling.did_you_mean import DidYouMeanKind, find_suggestions
from search_ui.spelling.vocabulary import MIN_EDITABLE_CHARS, Vocabulary
from search_ui.vocabulary_cache import load_frequent_words
from text.folding import word_key
from text.pinyin import pinyin_syllables
from text.segment import base_segmenter

TYPOS = "typos"
COLLECTIONS = ("en_cran", "zh_papers")
ERRORS_PER_COLLECTION = 150
MAX_DOCUMENTS = 1_500
MAX_TERMS = 2_000
MIN_TERM_DOCUMENTS = 2
MIN_LATIN_LETTERS = 5  # of a word with an error
SEED = 20_240_501
KEYBOARD_ROWS = ("qwertyuiop", "asdfghjkl", "zxcvbnm")
_HAN_TERM_RE = re.compile(f"[\u4e00-\u9fff]{{{MIN_EDITABLE_CHARS},8}}")
_LATIN_TERM_RE = re.compile("[a-z]+(?: [a-z]+)*", re.IGNORECASE)


def typo_figures(url: str, collections: Sequence[Collection]) -> Iterator[Figure]:
    """Yield `corrected_first` and `false_offers` over both languages."""
    corrected: list[bool] = []
    false_offers: list[bool] = []
    for collection in (one for one in collections if one.name in COLLECTIONS):
        documents = sample(collection, 10**9, -(-len(collection.documents) // MAX_DOCUMENTS)).documents
        lexicon = accepted(mined(documents)[:MAX_TERMS])
        system = Ours(url, f"{collection.name}_typos", lexicon)
        try:
            system.load(documents)
            offers_for = _offer_function(url, system, f"{collection.name}_typos", lexicon.entries)
            pairs = generate_typos([entry.text for entry in lexicon.entries], documents, random.Random(SEED))
            for term, typo in pairs:
                corrected.append([word_key(text) for text in offers_for(typo)[:1]] == [word_key(term)])
                false_offers.append(bool(offers_for(term)))
        finally:
            system.drop()
    if corrected:
        yield Figure(TYPOS, OURS, "corrected_first", sum(corrected) / len(corrected))
        yield Figure(TYPOS, OURS, "false_offers", sum(false_offers) / len(false_offers))


def _offer_function(url: str, system: Ours, name: str, entries: Sequence[LexiconEntry]) -> Callable[[str], list[str]]:
    """Return a function that returns the corrections offered for a query, most likely first."""
    client = SolrSearchClient(url, name, TIMEOUT)
    vocabulary = Vocabulary((), {entry.text: 0 for entry in entries}, *load_frequent_words(client))

    def offers_for(text: str) -> list[str]:
        request, words = system.understood(text)
        response = client.select([*count_params(request, words), *spellcheck_params(request.parsed_query)])
        suggestions = find_suggestions(
            client,
            request,
            vocabulary,
            lambda asked: system.understood(asked.text)[1],
            base_segmenter(),
            parse_total(response),
            parse_spellcheck(response),
        )
        return [offer.label for offer in suggestions if offer.kind is DidYouMeanKind.CORRECTED]

    return offers_for


def generate_typos(terms: Sequence[str], documents: Sequence[Document], rng: random.Random) -> list[tuple[str, str]]:
    """Return terms, each with a typing error that no document and no other term contains.

    Terms occur in at least `MIN_TERM_DOCUMENTS` documents.
    """
    texts = [f"{document.title}\n{document.text}".lower() for document in documents]
    homophones = _chars_by_sound("".join(texts))
    keys = {word_key(term) for term in terms}
    pairs: list[tuple[str, str]] = []
    for term in rng.sample(list(terms), len(terms)):
        typo = _make_typo(term.lower(), homophones, rng)
        found = sum(term.lower() in text for text in texts)
        is_error = typo and word_key(typo) not in keys and not any(typo in text for text in texts)
        if is_error and found >= MIN_TERM_DOCUMENTS:
            pairs.append((term, typo))
        if len(pairs) == ERRORS_PER_COLLECTION:
            break
    return pairs


def _chars_by_sound(text: str) -> Mapping[str, str]:
    chars: dict[str, str] = defaultdict(str)
    for char in sorted(set(re.findall("[\u4e00-\u9fff]", text))):
        chars[pinyin_syllables(char)[0]] += char
    return chars


def _make_typo(term: str, homophones: Mapping[str, str], rng: random.Random) -> str:
    """Return `term` with one error; "" if it is too short or has other characters."""
    if _HAN_TERM_RE.fullmatch(term):
        position = rng.randrange(len(term))
        kind = rng.choice(("homophone", "homophone", "swap", "drop"))
        if kind == "homophone":
            others = homophones[pinyin_syllables(term)[position]].replace(term[position], "")
            return _replace(term, position, rng.choice(others)) if others else ""
        return _swap_or_drop(term, position, kind) if len(term) > MIN_EDITABLE_CHARS or kind == "swap" else ""
    if not _LATIN_TERM_RE.fullmatch(term):
        return ""
    long_words = [match for match in re.finditer("[a-z]+", term) if len(match[0]) >= MIN_LATIN_LETTERS]
    if not long_words:
        return ""
    word = rng.choice(long_words)
    position, kind = rng.randrange(len(word[0])), rng.choice(("neighbour", "swap", "drop"))
    changed = (
        _replace(word[0], position, rng.choice(_key_neighbours(word[0][position])))
        if kind == "neighbour"
        else _swap_or_drop(word[0], position, kind)
    )
    return term[: word.start()] + changed + term[word.end() :] if changed else ""


def _swap_or_drop(word: str, position: int, kind: str) -> str:
    if kind == "drop":
        return word[:position] + word[position + 1 :]
    position = min(position, len(word) - 2)
    swapped = word[:position] + word[position + 1] + word[position] + word[position + 2 :]
    return swapped if swapped != word else ""


def _replace(word: str, position: int, char: str) -> str:
    return word[:position] + char + word[position + 1 :]


def _key_neighbours(letter: str) -> str:
    row = next(row for row in KEYBOARD_ROWS if letter in row)
    column = row.index(letter)
    return row[max(0, column - 1) : column] + row[column + 1 : column + 2]
