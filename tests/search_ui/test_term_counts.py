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

ARTICLE_COUNTS = {"页岩气": 5, "页岩气井": 3, "气井": 4, "油气": 2, "LNG": 2, "lng carrier": 1, "PDC钻头": 2}
CANDIDATES = ["岩气井口", "产气", "投产"]
ENTRIES = [LexiconEntry(text, synonyms=("石油",) if text == "油气" else ()) for text in ARTICLE_COUNTS]
LEXICON = Lexicon(1, tuple(ENTRIES), published_at=1_700_000_000.0)
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
    candidates = [term(text) for text in CANDIDATES]
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


@pytest.mark.parametrize("text", [*ARTICLE_COUNTS, *CANDIDATES])
def test_every_page_has_the_number_of_the_search(reader: FlaskClient, text: str) -> None:
    count = reader.get(f"/search?q={text}&format=json").json["total"]
    assert [*review_counts(reader, text), list_counts(reader)[text]] == [str(count)] * 3
    if text not in CANDIDATES:
        assert count == ARTICLE_COUNTS[text]
        link = page_at(reader, f"/term/{text}?lang=en").select_one("#articles")
        assert link.text.split()[0] == str(count)
        assert reader.get(f"/api/v1/terms/{text}").json["articles"] == count
        assert reader.get(link["href"] + "&format=json").json["total"] == count
