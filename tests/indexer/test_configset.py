"""The configset: it has the fields of solr_client.solr_fields, and its analyzers handle difficult text."""

import xml.etree.ElementTree as ET
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import requests

from benchmarks.training.solr_characters import render_solr_mapping
from indexer.configset import configset_digest, configset_files
from indexer.embedded_solr import EmbeddedSolr
from indexer.solr_index import SolrIndex
from solr_client import solr_fields
from solr_conf import CONFIGSET_DIR
from tests.solr_fixture import first_node, index_at
from text.solr_words import WORD_SEPARATOR

J = WORD_SEPARATOR
LONG = "长" * 40_000 + "x" * 40_000
DOCUMENT = {solr_fields.ID: "d", solr_fields.CLUSTER_ID: "d", solr_fields.URL: "http://a.example/"}


def schema_fields() -> dict[str, dict[str, str]]:
    root = ET.parse(CONFIGSET_DIR / "schema.xml").getroot()
    return {field.attrib["name"]: field.attrib for field in root.iter("field")}


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        (solr_fields.TITLE, "text_bigram"),
        (solr_fields.BODY_CHARS, "text_chars"),
        (solr_fields.BODY_DOMAIN, "text_words"),
        (solr_fields.BODY_BASE, "text_words"),
        (solr_fields.PUBLISHED, "pdate"),
        (solr_fields.LEXICON_VERSION, "pint"),
        (solr_fields.SITE, "string"),
    ],
)
def test_type_of_field(name: str, kind: str) -> None:
    assert schema_fields()[name]["type"] == kind


@pytest.mark.parametrize("name", [solr_fields.TITLE, solr_fields.BODY])
def test_what_is_highlighted_is_stored_with_offsets(name: str) -> None:
    declared = schema_fields()[name]
    assert (declared["stored"], declared["storeOffsetsWithPositions"]) == ("true", "true")


def test_configset_leaves_python_out() -> None:
    names = [name for name, _ in configset_files(CONFIGSET_DIR)]
    assert names == ["lang/characters.txt", "lang/graphemes.rbbi", "schema.xml", "solrconfig.xml"]


def test_solr_folds_the_characters_that_python_folds() -> None:
    assert (CONFIGSET_DIR / "lang" / "characters.txt").read_text("utf-8") == render_solr_mapping()


def test_configset_digest_changes_with_a_byte_and_a_name(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("one")
    first = configset_digest(tmp_path)
    (tmp_path / "a.txt").write_text("two")
    second = configset_digest(tmp_path)
    (tmp_path / "a.txt").rename(tmp_path / "b.txt")
    (tmp_path / "c.py").write_text("no part of it")
    assert len({first, second, configset_digest(tmp_path)}) == 3


@pytest.fixture(scope="module")
def analyzing(solr_node: EmbeddedSolr) -> Iterator[SolrIndex]:
    """Yield an index that the tests of analyzers share; they write nothing."""
    index = index_at(solr_node.url, "analyzing")
    index.ensure_collection()
    yield index
    index.delete_all()


def tokens(index: SolrIndex, field: str, text: str) -> list[str]:
    """Return the tokens of `text` in `field`, in order."""
    answer = requests.post(
        f"{first_node(index)}/{index.collection}/analysis/field",
        data={"analysis.fieldname": field, "analysis.fieldvalue": text, "wt": "json"},
        timeout=120,
    ).json()
    stages: list[Any] = answer["analysis"]["field_names"][field]["index"]
    return [token["text"] for token in stages[-1]]


@pytest.mark.solr
@pytest.mark.parametrize(
    ("field", "text", "expected"),
    [
        pytest.param(solr_fields.BODY, "石油大会", ["石油", "油大", "大会"], id="bigrams"),
        pytest.param(solr_fields.BODY, "The oil wells' PUMPS", ["oil", "well", "pump"], id="english-stems"),
        pytest.param(
            solr_fields.BODY, "石油勘探與鑽頭", ["石油", "油勘", "勘探", "探与", "与钻", "钻头"], id="traditional"
        ),
        pytest.param(solr_fields.BODY_CHARS, "鑽頭", ["钻", "头"], id="characters-traditional"),
        pytest.param(solr_fields.BODY, "ＰＤＣ钻头", ["pdc", "钻头"], id="full-width"),
        pytest.param(solr_fields.BODY_CHARS, "CO2驱 的 Wells", ["co2", "co", "2", "驱", "的", "well"], id="characters"),
        pytest.param(solr_fields.BODY_CHARS, "the 油", ["the", "油"], id="characters-keep-stop-words"),
        pytest.param(solr_fields.BODY_CHARS, "𠀀𠀁", ["𠀀", "𠀁"], id="characters-plane-2"),
        pytest.param(solr_fields.BODY, "𠀀𠀁𠀂", ["𠀀𠀁", "𠀁𠀂"], id="bigrams-plane-2"),
        pytest.param(
            solr_fields.BODY_DOMAIN, J.join(["世界石油大会", "召开"]), ["世界石油大会", "召开"], id="words-at-joints"
        ),
        pytest.param(
            solr_fields.BODY_DOMAIN, J.join(["，", "。", " ", "—…", "！？", "《", "%"]), [], id="no-token-of-marks"
        ),
        pytest.param(solr_fields.BODY_DOMAIN, J.join(["油", "，", "\n", "气"]), ["油", "气"], id="marks-between"),
        pytest.param(solr_fields.BODY_DOMAIN, J.join(["𠀀𠀁", "😀", "井"]), ["𠀀𠀁", "井"], id="words-plane-2"),
        pytest.param(solr_fields.BODY_DOMAIN, J.join(["ＣＯ２驱", "Wells"]), ["co2驱", "wells"], id="words-folded"),
        pytest.param(solr_fields.BODY_BASE, J.join(["々", "〆"]), ["々", "〆"], id="letters-among-the-marks"),
        pytest.param(solr_fields.BODY_DOMAIN, J * 5, [], id="nothing-but-joints"),
        pytest.param(solr_fields.TITLE_PREFIX, "頁岩 Gas", ["页", "岩", "g", "ga", "gas"], id="typed-so-far"),
        pytest.param(solr_fields.SPELLING, "The Pumps，钻井 of naïve oils", ["pumps", "naïve", "oils"], id="as-spelt"),
        pytest.param(solr_fields.BODY_DOMAIN, "长" * 300, ["长" * 127], id="long-word-cut"),
    ],
)
def test_tokens(analyzing: SolrIndex, field: str, text: str, expected: list[str]) -> None:
    assert tokens(analyzing, field, text) == expected


@pytest.mark.solr
@pytest.mark.parametrize(
    "text",
    [
        pytest.param("", id="empty"),
        pytest.param(LONG, id="one-very-long-token"),
        pytest.param("𠀀" * 40_000, id="long-plane-2"),
        pytest.param("".join(map(chr, range(1, 0x300))), id="control-and-latin"),
        pytest.param("a\x00b", id="nul"),
        pytest.param("‮\ufeff\ufffd\U0010ffff", id="odd-code-points"),
        pytest.param("。" * 100_000, id="only-marks"),
        pytest.param((J + "词") * 100_000, id="many-words"),
    ],
)
def test_no_text_makes_a_document_fail(solr_index: SolrIndex, text: str) -> None:
    assert solr_index.add([{**DOCUMENT, **dict.fromkeys(text_fields(), text)}]) == {}
    solr_index.commit()
    assert solr_index.count() == 1


def text_fields() -> list[str]:
    return [name for name, declared in schema_fields().items() if declared["type"].startswith("text_")]


@pytest.mark.solr
def test_highlight_of_pairs_joins_to_the_word(solr_index: SolrIndex) -> None:
    solr_index.add([{**DOCUMENT, solr_fields.BODY: "第九届世界石油大会在北京召开"}])
    solr_index.commit()
    answer = solr_index.search(
        {
            "q": f"{{!simple qf={solr_fields.BODY} q.operators='' v=$t}}",
            "t": "世界石油大会",
            "hl": "true",
            "hl.method": "unified",
            "hl.fl": solr_fields.BODY,
            "hl.offsetSource": "POSTINGS",
            "hl.tag.pre": "[",
            "hl.tag.post": "]",
        }
    )
    [snippet] = answer["highlighting"]["d"][solr_fields.BODY]
    assert snippet.replace("][", "") == "第九届[世界石油大会]在北京召开"


@pytest.mark.solr
@pytest.mark.parametrize("handler", ["stream", "sql", "graph", "export", "debug/dump", "update/csv"])
def test_unneeded_addresses_are_not_there(analyzing: SolrIndex, handler: str) -> None:
    url = f"{first_node(analyzing)}/{analyzing.collection}/{handler}"
    assert requests.get(url, params={"expr": "search()", "q": "*:*"}, timeout=120).status_code == 404
