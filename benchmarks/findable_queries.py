"""Draws queries from stored articles: words, phrases, titles and rare strings, as they are and in other spellings."""

import random
import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from benchmarks.findable_forms import FORMS, Word, cut_words, search_key
from benchmarks.findable_site import FindablePage, Query, Texts, is_searchable

MAX_PAGES_PER_STRING = 5
MAX_FORMS = 2  # of one kind for one string: there are seven other apostrophes
WORDS_PER_TITLE, WORDS_PER_BODY = 2, 3
MAX_WORDS_PER_PHRASE = 4
WORD_FORMS = ("no_accents", "nfd", "upper", "lower", "full_width", "kana_width", "other_script")
RARE_FORMS = {
    "abbreviation": ("lower", "upper"),
    "accent": ("no_accents", "nfd", "upper", "lower"),
    "apostrophe": ("no_accents", "upper"),
    "capitals": ("lower",),
    "digits": ("ascii_digits",),
    "hyphen": ("lower",),
    "kana": ("kana_width",),
    "name": ("lower", "upper", "full_width"),
    "number": ("full_width",),
    "script": ("other_script",),
    "sign": ("lower", "full_width"),
    "unit": ("unit_spacing", "full_width"),
}
"""Forms by class of a rare string, besides other apostrophes and hyphens."""
_SENTENCE_END_RE = re.compile(r"[.。။។։।!?()\n]")


@dataclass(frozen=True)
class StoredText:
    """What the store has of a page, and the words of title and body."""

    title: str
    body: str
    language: str
    title_words: Sequence[Word]
    body_words: Sequence[Word]

    @classmethod
    def of_language(cls, title: str, body: str, language: str, texts: Texts) -> "StoredText":
        """Cut the words of title and body with the vocabulary of the page's language."""
        return cls(title, body, language, cut_words(title, texts.words), cut_words(body, texts.words))


class PageCounts:
    """Numbers of pages that contain a string in any spelling: as a word, or as a sequence of characters."""

    def __init__(self, texts: Collection[StoredText]) -> None:
        self._keys = [search_key(f"{text.title}\n{text.body}") for text in texts]
        self._words = Counter[str]()
        for text in texts:
            self._words.update({search_key(word.text) for word in (*text.title_words, *text.body_words)})

    def is_rare_word(self, text: str) -> bool:
        """True if at most MAX_PAGES_PER_STRING pages have the word."""
        return self._words[search_key(text)] <= MAX_PAGES_PER_STRING

    def is_rare(self, text: str) -> bool:
        """True if at most MAX_PAGES_PER_STRING pages have the string, also inside of words."""
        key = search_key(text)
        return sum(key in page_key for page_key in self._keys) <= MAX_PAGES_PER_STRING


def draw_queries(
    pages: Sequence[FindablePage], texts: Mapping[str, Texts], stored: Mapping[str, StoredText]
) -> Iterator[Query]:
    """Yield the queries for all pages, the same in every run. Each string is on at most MAX_PAGES_PER_STRING pages."""
    counts = PageCounts(stored.values())
    for page in pages:
        rng = random.Random(page.url)
        yield from draw_rare_queries(page, counts, rng)
        if page.url in stored:
            yield from draw_text_queries(page, stored[page.url], texts[page.language], counts, rng)


def draw_rare_queries(page: FindablePage, counts: PageCounts, rng: random.Random) -> Iterator[Query]:
    """Yield queries for the rare strings of a page."""
    for rare in page.rare_strings:
        if counts.is_rare(rare.text):
            yield Query(rare.category, page.language, rare.text, page.url)
            for text in filter(counts.is_rare, rare.queries):
                yield Query(rare.category, page.language, text, page.url)
            names = ("apostrophes", "hyphens", *RARE_FORMS.get(rare.category, ()))
            yield from draw_forms(Query(rare.category, page.language, rare.text, page.url), names, rng)


def draw_forms(query: Query, names: Collection[str], rng: random.Random) -> Iterator[Query]:
    """Yield other spellings of a query."""
    for name in names:
        forms = [form for form in FORMS[name](query.text, query.language) if form != query.text]
        for form in rng.sample(forms, min(len(forms), MAX_FORMS)):
            yield query._replace(category=name, text=form)


def draw_text_queries(
    page: FindablePage, stored: StoredText, texts: Texts, counts: PageCounts, rng: random.Random
) -> Iterator[Query]:
    """Yield queries for the title, for words of title and body, and for a phrase."""
    is_rare_word = counts.is_rare_word if texts.has_spaces else counts.is_rare

    def draw(words: Sequence[Word], count: int) -> list[str]:
        candidates = [text for text in dict.fromkeys(word.text for word in words) if is_searchable(text)]
        candidates = list(filter(is_rare_word, candidates))
        return rng.sample(candidates, min(len(candidates), count))

    def query(category: str, text: str, *params: tuple[str, str]) -> Query:
        return Query(category, page.language, text, page.url, params)

    yield query("title", stored.title)
    title_words = draw(stored.title_words, WORDS_PER_TITLE)
    body_words = draw(stored.body_words, WORDS_PER_BODY)
    for word in (*title_words, *body_words):
        yield query("word", word)
        yield from draw_forms(query("word", word), WORD_FORMS, rng)
    yield from (query("title_word", f"title:{word}") for word in title_words[:1])
    yield from (query("by_date", word, ("sort", "date")) for word in body_words[:1])
    if stored.language:
        yield from (query("language", word, ("language", stored.language)) for word in body_words[1:2])
    words = stored.body_words if not texts.has_spaces else cut_words(stored.body)
    phrases = [phrase for phrase in iter_phrases(stored.body, words) if counts.is_rare(phrase)]
    yield from (query("phrase", f'"{phrase}"') for phrase in rng.sample(phrases, min(len(phrases), 1)))


def iter_phrases(text: str, words: Sequence[Word]) -> Iterator[str]:
    """Yield the parts of a text from one word to another at most three words later, inside of a sentence."""
    for first, start in enumerate(words):
        for end in words[first + 1 : first + MAX_WORDS_PER_PHRASE]:
            phrase = text[start.start : end.end]
            if not _SENTENCE_END_RE.search(phrase) and '"' not in phrase:
                yield phrase
