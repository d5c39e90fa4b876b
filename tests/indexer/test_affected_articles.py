"""An incremental publish segments every article again that a full index would segment differently."""

import random
import string
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from docstore.store import Store, open_sqlite_store
from domain.article import Article
from domain.term import Lexicon, LexiconEntry
from indexer.affected_articles import find_url_ids_containing
from indexer.document_mapping import TextAnalysis, to_solr_document
from indexer.solr_index import SolrIndex
from indexer.sync import flush_changes
from tests.builders import extract_all, keep_page
from text.folding import normalize_text
from text.mixed_terms import TermFinder
from text.segment import RjiebaSegmenter, base_segmenter

WORDS = [
    *("image", "xlink", "CO2", "PDC", "k-means", "页岩气", "钻头", "r", "a", "C++", "naïve", "3.5", "10", "λ", "σ"),
    *("привет", "don't", "foo_bar", "hp1010", "IoT", "日本", "カタカナ", "한국", "e.g"),
]
SIGNS = [*string.punctuation, *" \t\n\u00a0\u3000\u200b\u200d\u00ad\ufeff·‧：．＇’“、，。", "́"]
TEXTS, TERMS = 60, 20


@pytest.mark.parametrize("text", ["image xlink:href", "see image xlink.", "IMAGE\u00a0XLINK_b", "x-image xlink's"])
def test_a_term_is_found_whatever_is_glued_to_it(text: str) -> None:
    assert TermFinder(["image xlink"]).find_terms(normalize_text(text)) == ["image xlink"]


@pytest.mark.parametrize("text", ["image xlink2", "imagexlink", "an image of", "image\nxlinks"])
def test_inside_a_word_it_is_none(text: str) -> None:
    assert TermFinder(["image xlink"]).find_terms(normalize_text(text)) == []


class EveryDocument:
    """An index whose phrase query matches every document."""

    def __init__(self, store: Store) -> None:
        self.store, self.phrases = store, list[str]()

    def iter_ids_containing(self, phrases: Sequence[str]) -> Iterator[str]:
        self.phrases += phrases
        return (stored_article.doc_id for stored_article in self.store.articles.iter_all())


@pytest.mark.parametrize(
    ("terms", "bodies"),
    [
        (["which命令"], ["用which命令查找。", "用 Which 命令查找。"]),
        (["页岩气", "which命令"], ["开采頁岩氣。", "WHICH命令"]),
        (["页岩气", "image xlink"], ["页岩气", "image xlink:href"]),
    ],
)
def test_only_articles_with_the_whole_term_are_selected(tmp_path: Path, terms: list[str], bodies: list[str]) -> None:
    others = ["执行命令。", "swhich命令", "页岩，气藏", "image"]
    store = filled(tmp_path, [*bodies, *others])
    url_ids = find_url_ids_containing(terms, store, EveryDocument(store))
    assert sorted(a.article.body for a in store.articles.load_by_url_ids(sorted(url_ids)).values()) == sorted(bodies)
    store.close()


def glued(chance: random.Random, words: int) -> str:
    return "".join(chance.choice(WORDS) + chance.choice([" ", *SIGNS]) for _ in range(words))


@pytest.mark.solr
@pytest.mark.parametrize("seed", [1, pytest.param(2, marks=pytest.mark.exhaustive)])
def test_nothing_that_is_cut_differently_is_missed(tmp_path: Path, solr_index: SolrIndex, seed: int) -> None:
    """Random words with attached signs: all documents that change are among those that are found."""
    chance = random.Random(seed)
    store = filled(tmp_path, [glued(chance, chance.randint(2, 9)) for _ in range(TEXTS)])
    before = TextAnalysis(Lexicon(), base_segmenter(), base_segmenter())
    flush_changes(store, solr_index, before, 100)
    terms = {term for _ in range(TERMS) if (term := glued(chance, chance.randint(1, 3))[:-1].strip())}
    for term in sorted(terms):
        lexicon = Lexicon(1, (LexiconEntry(term),))
        after = TextAnalysis(lexicon, RjiebaSegmenter([(term, 0, "n")]), base_segmenter())
        found = find_url_ids_containing([term], store, solr_index)
        for stored in store.articles.iter_all():
            if stored.url_id not in found:
                assert to_solr_document(stored, after)["domain_terms"] == [], (term, stored.article.body)
    store.close()


def filled(folder: Path, bodies: list[str]) -> Store:
    store = open_sqlite_store(folder)
    for number, body in enumerate(bodies):
        url = f"http://a.test/{number}"
        keep_page(store, url, body.encode())
        extract_all(store, Article(url, "t", body, "2024-05-06", "url", "zh", "blocks"))
    return store
