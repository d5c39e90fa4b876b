"""Scheme 2 on a real Solr: what the own index finds for a topic's terms."""

from types import SimpleNamespace
from typing import cast

import pytest

from crawler.focused_policy import Words
from focused.topic.term_proposals import propose_from_search
from indexer.solr_index import SolrIndex
from pipeline.engine import Engine
from pipeline.page_source import LoadedPage
from pipeline.topic.example_search import index_search, result_urls
from solr_client import solr_fields
from text.segment import base_segmenter

WELLS = "水平井钻进采用旋转导向，水平井轨迹控制依靠随钻测井。报道说，旋转导向降低了成本。"
GAS = "报道说，管道公司今年向城市输送天然气。"


def cut(text: str) -> Words:
    return tuple(word for word in base_segmenter().cut(text) if len(word) > 1)


@pytest.mark.solr
def test_terms_of_the_articles_that_the_index_finds(solr_index: SolrIndex) -> None:
    documents = [("井", WELLS)] + [("气", GAS)] * 9
    solr_index.add(
        [
            {
                solr_fields.ID: str(n),
                solr_fields.URL: f"http://a.test/{n}",
                solr_fields.TITLE: title,
                solr_fields.BODY: body,
                solr_fields.BODY_CHARS: body,
            }
            for n, (title, body) in enumerate(documents)
        ]
    )
    solr_index.commit(soft=True)
    engine = cast(Engine, SimpleNamespace(index=solr_index))
    found = propose_from_search(["水平井"], index_search(engine), cut, top=3)
    assert [seed.url for seed in found.seeds] == ["http://a.test/0"]
    assert {term.text for term in found.terms} >= {"旋转", "导向"}
    assert "报道" not in {term.text for term in found.terms}  # every article has it
    for odd in ("{!join from=a to=b}x", "*:*", 'a" OR "b', "\\", "url:[* TO *]"):
        assert propose_from_search([odd], index_search(engine), cut).seeds == ()


def test_results_are_the_links_that_lead_elsewhere() -> None:
    html = '<a href="/next">more</a><a href="http://b.test/1">one</a><a href="http://b.test/2"></a>'
    answer = LoadedPage("s", html.encode(), "http://search.test/?q=x", "text/html")
    assert result_urls(answer) == ["http://b.test/1"]
    own = LoadedPage("s", b'<a href="/1">one</a>', "http://search.test/?q=x", "text/html")
    assert result_urls(own) == ["http://search.test/1"]
