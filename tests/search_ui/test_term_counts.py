"""One number for the articles with a term, wherever it is shown, with a real Solr."""

from collections.abc import Iterator
from dataclasses import replace

import pytest
from flask.testing import FlaskClient

from domain.article import document_id
from domain.term import Lexicon, LexiconEntry, TermStatus
from indexer.embedded_solr import EmbeddedSolr
from search_ui.query.solr_client import SolrSearchClient
from tests.builders import indexed, page_at, stored_article
from tests.site_fixture import MemorySite, sign_in, site_app, term

pytestmark = pytest.mark.solr

ARTICLE_COUNTS = {"页岩气": 5, "页岩气井": 3, "气井": 4, "油气": 1, "LNG": 2, "lng carrier": 1, "PDC钻头": 2}
CANDIDATE_COUNTS = {"岩气井口": 1, "产气": 1, "投产": 2}
LEXICON = Lexicon(1, tuple(map(LexiconEntry, ARTICLE_COUNTS)), published_at=1_700_000_000.0)
BODIES = [
    "川南的页岩气产量增加了。",
    "川南的页岩气井投产，油气并举。",
    "川南的頁岩氣井口压力稳定。",  # traditional characters
    "川南的页 岩 气 井投产。",  # a title with blanks
    "产量来自川南的页岩\n气。",  # a hard line break
    "石油、气田的页岩，气藏，生产、气源。",  # no term continues after a punctuation mark
    "天然气井产气。一艘LNG carrier到港。",
    "进口ＬＮＧ与 pdc 钻头。LNGs",
    "PDC钻头。",
]


@pytest.fixture(scope="module")
def solr(solr_node: EmbeddedSolr) -> Iterator[SolrSearchClient]:
    """An index with `BODIES` and a near-duplicate of the first."""
    articles = [stored_article(n, "a.example", f"第{n}篇", body, "2015-03-02") for n, body in enumerate(BODIES)]
    copy_url = "http://b.example/copy"
    articles.append(replace(articles[0], doc_id=document_id(copy_url), duplicate_of=articles[0].doc_id))
    with indexed(solr_node.url, "termcounts", articles, LEXICON) as search:
        yield search


@pytest.fixture
def reader(solr: SolrSearchClient) -> FlaskClient:
    accepted = [term(text, status=TermStatus.ACCEPTED) for text in ARTICLE_COUNTS]
    candidates = [term(text) for text in CANDIDATE_COUNTS]
    client = site_app(solr, MemorySite([*accepted, *candidates], published=LEXICON)).test_client()  # type: ignore[arg-type]
    sign_in(client)
    return client


def review_counts(reader: FlaskClient, text: str) -> list[str]:
    """Return the number of articles in the review panel and on the page of a term."""
    pages = (f"/admin/lexicon/usage?text={text}&lang=en", f"/admin/lexicon/term?text={text}&lang=en")
    return [page_at(reader, page).select_one(".usage").text.split()[2] for page in pages]


def list_counts(reader: FlaskClient) -> dict[str, str]:
    rows = page_at(reader, "/admin/lexicon?status=all&lang=en").select("#terms > li")
    return {str(row["data-term"]): row.select_one(".in-articles").text.split()[0] for row in rows}


@pytest.mark.parametrize("text", list(ARTICLE_COUNTS))
def test_every_page_has_the_same_number_for_a_published_term(reader: FlaskClient, text: str) -> None:
    count = ARTICLE_COUNTS[text]
    page = page_at(reader, f"/term/{text}?lang=en")
    assert page.select_one("#articles").text.split()[0] == str(count)
    by_filter = reader.get(page.select_one("#articles")["href"] + "&format=json").json
    assert by_filter["total"] == count
    assert {facet["value"]: facet["count"] for facet in by_filter["facets"]["terms"]}[text] == count
    assert reader.get(f'/search?q="{text}"&format=json').json["total"] == count
    assert [*review_counts(reader, text), list_counts(reader)[text]] == [str(count)] * 3


def test_a_candidate_has_the_same_number_in_the_list_the_panel_and_the_search(reader: FlaskClient) -> None:
    listed = list_counts(reader)
    for text, count in CANDIDATE_COUNTS.items():
        assert [*review_counts(reader, text), listed[text]] == [str(count)] * 3
        assert reader.get(f'/search?q="{text}"&format=json').json["total"] == count
    figures = page_at(reader, "/admin/lexicon?status=all&lang=en").select(".figures-of-term")
    assert figures and not any("Documents" in each.text for each in figures)


def test_terms_inside_each_other_are_no_discovery(reader: FlaskClient) -> None:
    together = page_at(reader, "/term/页岩气井").select("#often-together a")
    assert not {"页岩气", "气井"} & {link.text for link in together}
