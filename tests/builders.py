"""What tests of several packages make: stored articles, an index of them, and pages of the site as parsed HTML."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from bs4 import BeautifulSoup
from flask.testing import FlaskClient

from domain.article import Article, StoredArticle, document_id
from domain.term import Lexicon, LexiconEntry
from indexer.document_mapping import TextAnalysis, to_solr_document
from search_ui.query.solr_client import SolrSearchClient
from tests.solr_fixture import SHARDS, index_at
from text.segment import RjiebaSegmenter, base_segmenter

NO_TERMS = Lexicon()


def stored_article(number: int, site: str, title: str, body: str, published: str = "", **fields: Any) -> StoredArticle:
    """Return the article at `http://SITE/NUMBER`; `fields` are further fields of `Article`."""
    url = f"http://{site}/{number}"
    return StoredArticle(number, document_id(url), site, Article(url, title, body, published, **fields))


def lexicon_of(terms: Iterable[str]) -> Lexicon:
    """Return a first version with these terms."""
    return Lexicon(1, tuple(LexiconEntry(text) for text in terms))


@contextmanager
def indexed(
    url: str, name: str, articles: Iterable[StoredArticle], lexicon: Lexicon = NO_TERMS, shards: int = SHARDS
) -> Iterator[SolrSearchClient]:
    """Index articles, segmented with the terms of the lexicon, in a collection of a Solr; yield a client of it.

    The documents are deleted at the end.
    """
    terms = [(entry.text, 0, "n") for entry in lexicon.entries]
    analysis = TextAnalysis(lexicon, RjiebaSegmenter(terms) if terms else base_segmenter(), base_segmenter())
    index = index_at(url, name, shards)
    index.ensure_collection()
    assert index.add([to_solr_document(article, analysis) for article in articles]) == {}
    index.commit()
    yield SolrSearchClient(url, name, timeout=120.0)
    index.delete_all()


def page_at(client: FlaskClient, url: str, **query: str) -> BeautifulSoup:
    """Return a page of the site. Its status must be 200."""
    response = client.get(url, query_string=query or None)
    assert response.status_code == 200, (url, response.status_code, response.text)
    return BeautifulSoup(response.text, "lxml")
