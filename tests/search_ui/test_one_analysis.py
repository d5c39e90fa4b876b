"""Python and Solr agree on characters and words: what Python cuts from a query is a run of tokens in the index."""

from collections.abc import Iterator, Sequence
from typing import Any

import pytest
import requests
from flask.testing import FlaskClient

from domain.article import Article, StoredArticle, document_id
from domain.term import Lexicon
from indexer.document_mapping import TextAnalysis, to_solr_document
from indexer.embedded_solr import EmbeddedSolr
from indexer.solr_index import SolrIndex
from search_ui.query.display_text import normalize_query
from search_ui.query.query_words import split_content_words
from search_ui.query.solr_client import SolrSearchClient
from solr_client import solr_fields
from tests.site_fixture import BASE, site_app
from tests.solr_fixture import first_node, index_at
from text.folding import normalize_text
from text.segment import base_segmenter

TEXTS = {
    "latin": "Die Präsidentin besucht die Ölbohrung in Łódź, São Paulo und İstanbul; journée française",
    "chinese": "四川盆地的页岩气产量，2016年上升。公 告：第3期",
    "traditional": "頁岩氣鑽頭與井，臺灣的發電廠",
    "japanese": "シェールガスの生産を増やした。ﾃﾞｰﾀ を 掘削する",
    "korean": "셰일가스를 시추하는 회사가 늘었다",
    "cyrillic": "Бурение скважины в Қазақстан и Україна",
    "greek": "Η γεώτρηση στην Αθήνα, ο Σίσυφος",
    "arabic": "حفر بئر النفط في ١٩٨٩",
    "persian": "چاه نفت می‌رود",
    "hebrew": "קידוח נפט בים התיכון",
    "devanagari": "तेल का कुआँ हिन्दी में ७४८९",
    "bengali": "তেলের কূপ বাংলা",
    "tamil": "எண்ணெய் கிணறு தமிழ்",
    "thai": "การขุดเจาะน้ำมัน ภาษาไทย ๗๑๖๙",
    "georgian": "ნავთობის ჭაბურღილი ქართული",
    "armenian": "Նավթահոր հայերեն",
    "ethiopic": "የነዳጅ ጉድጓድ አማርኛ",
    "khmer": "អណ្តូងប្រេង ភាសាខ្មែរ",
    "lao": "ນ້ຳມັນ ພາສາລາວ",
    "burmese": "ရေနံတွင်း မြန်မာ",
    "numbers": "1,100 61,8 2022.08.05 192.168.1.10 v2.10.3 10.5kV 3:2 A-12.3.4 1,3-丁二烯",
    "units": "5GHz 5 GHz 2.5MPa 85.5℃ 120㎡ mg/m³ H₂S CO₂ ½ Ⅱ ①",
    "apostrophes": "O'Neill O’Neill L'Oréal Hawaiʻi rock'n'roll Xi´an driver's it's",
    "hyphens": "x-ray well‑known page–turner AT&T tcp/ip ops@wells.example",
    "abbreviations": "U.S.A. e.g. S.p.A. т.е.",
    "names": "WorkCentre7428 iPhone15 getHTMLParser main_mark C++ C# .NET K+ A+",
    "widths": "ＰＤＣ钻头 ５ＧＨｚ ﬁeld Brand™ soft\u00adware zero\u200bwidth",
    "decomposed": "cafe\u0301 Ǻngström nai\u0308ve",
}


@pytest.fixture(scope="module")
def index(solr_node: EmbeddedSolr) -> Iterator[SolrIndex]:
    """Yield an index whose analyzers the tests use; they write nothing."""
    index = index_at(solr_node.url, "one-analysis")
    index.ensure_collection()
    yield index
    index.delete_all()


def tokens_by_position(index: SolrIndex, text: str, side: str) -> list[set[str]]:
    """Return the tokens of `text` at each position, as documents (`index`) or queries (`query`) have them."""
    form = {"analysis.fieldname": solr_fields.BODY_CHARS, "analysis.fieldvalue": text, "wt": "json"}
    form |= {"analysis.query": text} if side == "query" else {}
    url = f"{first_node(index)}/{index.collection}/analysis/field"
    fields = requests.post(url, data=form, timeout=120).json()["analysis"]["field_names"]
    tokens: Sequence[dict[str, Any]] = fields[solr_fields.BODY_CHARS][side][-1]
    positions: dict[int, set[str]] = {}
    for token in tokens:
        positions.setdefault(token["position"], set()).add(token["text"])
    return [positions[position] for position in sorted(positions)]


@pytest.mark.solr
@pytest.mark.parametrize("name", TEXTS)
def test_normal_text_has_the_tokens_of_the_text(index: SolrIndex, name: str) -> None:
    text = TEXTS[name]
    assert tokens_by_position(index, normalize_text(text), "index") == tokens_by_position(index, text, "index")


@pytest.mark.solr
@pytest.mark.parametrize("name", TEXTS)
def test_each_word_of_a_query_is_a_run_of_tokens_of_the_text(index: SolrIndex, name: str) -> None:
    document = tokens_by_position(index, TEXTS[name], "index")
    query = normalize_query(TEXTS[name], 160)
    words, residual_chars = split_content_words(query, base_segmenter().cut(query))
    assert words
    for word in (*words, *residual_chars):
        run = tokens_by_position(index, word, "query")
        starts = range(len(document) - len(run) + 1)
        assert run, word
        assert any(all(a <= b for a, b in zip(run, document[at:], strict=False)) for at in starts), (word, run)


BODY = "Band 5 GHz und 5GHz, v2.10.3, O’Neill, Präsidentin, シェールガス, H₂S, 2.5MPa, WorkCentre7428, ☕ ⚡ 😀"


@pytest.fixture(scope="module")
def client(solr_node: EmbeddedSolr, index: SolrIndex) -> FlaskClient:
    """The site with one article."""
    stored = StoredArticle(0, document_id("http://a.example/"), "a.example", Article("http://a.example/", "Funk", BODY))
    assert index.add([to_solr_document(stored, TextAnalysis(Lexicon(), BASE, BASE))]) == {}
    index.commit()
    search: Any = SolrSearchClient(solr_node.url, index.collection, timeout=120.0)
    return site_app(search).test_client()


@pytest.mark.solr
def test_symbols_are_found(client: FlaskClient) -> None:
    for symbol in ("☕", "⚡", "😀", "☕ 😀"):
        assert client.get("/api/v1/search", query_string={"q": symbol}).json["total"] == 1, symbol
    assert client.get("/api/v1/search", query_string={"q": "❤"}).json["total"] == 0


@pytest.mark.solr
@pytest.mark.parametrize(
    ("query", "marked"),
    [
        ("5GHz", ["5 GHz", "5GHz"]),
        ("v2.10.3", ["v2.10.3"]),
        ("O'Neill", ["O’Neill"]),
        ("PRASIDENTIN", ["Präsidentin"]),
        ("ｼｪｰﾙｶﾞｽ", ["シェールガス"]),
        ("h2s", ["H₂S"]),
        ("2.5 MPa", ["2.5MPa"]),
        ("centre", ["WorkCentre7428"]),
    ],
)
def test_what_matches_is_marked(client: FlaskClient, query: str, marked: list[str]) -> None:
    [hit] = client.get("/api/v1/search", query_string={"q": query}).json["hits"]
    assert hit["is_partial"] is False
    assert [segment["text"] for segment in hit["snippet"] if segment["marked"]] == marked
