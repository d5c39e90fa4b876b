"""Spelling corrections by what the documents contain, with a real Solr."""

from collections.abc import Iterator

import pytest
from bs4 import BeautifulSoup
from flask.testing import FlaskClient

from domain.term import Lexicon, LexiconEntry, Term, TermStatus
from indexer.embedded_solr import EmbeddedSolr
from search_ui.vocabulary_cache import VocabularyCache
from tests.builders import indexed, page_at, stored_article
from tests.site_fixture import MemorySite, site_app

pytestmark = pytest.mark.solr

ENTRIES = (LexiconEntry("树莓派"), LexiconEntry("页岩气"))
FREQUENT = (
    "树莓派入门：用 docker 部署 python 程序。加工公司的页岩气产量达到峰值。黎明时分，张伟出发。",
    "The discovery of a gas field. Mary tested the software with docker and Linux.",
    "Die Häuser gehörten der Stadt.",
    "Нефтяной газ и компания.",
    "Γεωλογία της Ελλάδας.",
)
LANGUAGES = ("zh", "en", "de", "ru", "el")
TEXTS = [
    *((text, language, "") for text, language in zip(FREQUENT, LANGUAGES, strict=True) for _ in range(30)),
    ("在树梅派上安装 dcoker，再运行 pyhton 程序。", "zh", ""),  # all errors in one article
    ("A report by George Mayr on the evolution of birds.", "en", "George Mayr"),
    ("哪家公司今年的产量最高？", "zh", "冯志远"),
    ("张纬的日记。", "zh", ""),
]


@pytest.fixture(scope="module")
def client(solr_node: EmbeddedSolr) -> Iterator[FlaskClient]:
    """Search `TEXTS`."""
    lexicon = Lexicon(1, ENTRIES)
    articles = [
        stored_article(n, "a.example", f"第{n}篇", text, author=author, language=language)
        for n, (text, language, author) in enumerate(TEXTS)
    ]
    actions = MemorySite([Term(entry.text, 9.0, 30, 30, status=TermStatus.ACCEPTED) for entry in ENTRIES], lexicon)
    with indexed(solr_node.url, "meant", articles, lexicon) as search:
        app = site_app(search, actions)  # type: ignore[arg-type]
        app.extensions["plumbline"].caches.vocabulary = VocabularyCache(lambda work: work())
        client = app.test_client()
        client.get("/suggest?q=a")  # makes the vocabulary
        yield client


def page(client: FlaskClient, query: str) -> BeautifulSoup:
    return page_at(client, "/search", q=query, lang="en")


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("dcoker", "docker"),
        ("pyhton", "python"),
        ("树梅派", "树莓派"),
        ("程序 pyhton", "程序 python"),
        ("pyhton 公司", "python 公司"),  # no article has both, and the error occurs in one
    ],
)
def test_an_error_that_occurs_in_an_article_is_offered_and_not_replaced(
    client: FlaskClient, typed: str, meant: str
) -> None:
    results = page(client, typed)
    assert [link.get_text() for link in results.select("#meant a")][:1] == [meant]
    assert results.select("#instead") == [] and results.select("#hits > li")


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("dokcer", "docker"),
        ("ptyhon 树霉派", "python 树莓派"),
        ("нефтянйо", "нефтяной"),
        ("γεωλγοία", "γεωλογία"),
        ("gehöretn", "gehörten"),
        ("yeyanqi", "页岩气"),
    ],
)
def test_an_error_that_occurs_nowhere_is_replaced(client: FlaskClient, typed: str, meant: str) -> None:
    said = page(client, typed).select_one("#instead")
    assert said is not None
    assert [word.get_text() for word in said.select("bdi")] == [typed, meant]


@pytest.mark.parametrize(
    "query",
    [
        "哪家公司的产量最高",
        "who discovered the gas field",
        "冯志远",
        "feng zhiyuan",
        "张纬",
        "mayr",
        "George Mayr",
        "компании",
        "Hauser",  # found without the accent
        "häusern",
        "树莓派 docker",
        "页岩气产量达到峰值",
        *FREQUENT,
    ],
)
def test_correct_words_names_and_forms_are_not_corrected(client: FlaskClient, query: str) -> None:
    assert page(client, query).select("#meant, #instead") == []
