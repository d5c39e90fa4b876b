"""Concepts in and out of TBX, SKOS and CSV: nothing is lost, and what is invalid is named and leaves the rest alone."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from lxml import etree
from rdflib import Graph, URIRef

from docstore.store import Store
from domain.concept import Concept, ConceptFormat
from domain.errors import ConcurrentEditError, LexiconError
from domain.review import ReviewDecisionKind, TermEdit
from domain.term import ConceptTerm, ConceptTermStatus, Definition, TermClass, TermStatus
from domain.term_relation import ProposalState, RelationKind, RelationProposal, TermRelation
from lexicon.concepts import concept_csv, skos, tbx
from lexicon.concepts.formats import (
    CONCEPT_FORMATS,
    MAX_FILE_BYTES,
    detect_concept_format,
    ensure_file_size,
    format_concept_file,
    parse_concept_file,
)
from lexicon.concepts.import_plan import ImportPlan
from pipeline.lexicon_stage.lexicon_review import LexiconReview
from search_ui.query.query_words import build_thesaurus
from tests.conftest import SHARED

PREFERRED, ADMITTED, DEPRECATED = ConceptTermStatus
GAS = Concept("c0000000000000001", (ConceptTerm("天然气", "zh", PREFERRED),), category=TermClass.SUBJECT)
SHALE_GAS = Concept(
    "c0000000000000002",
    (
        ConceptTerm("shale gas", "en", PREFERRED, 'gas < in & of "shale"', "ISO 1", "since 2000"),
        ConceptTerm("gas of shales", "en", ADMITTED, source="ISO 2", note="rare; 'quoted'"),
        ConceptTerm("gaz de schiste", "fr", PREFERRED),
        ConceptTerm("页岩气", "zh", PREFERRED, "页岩中的天然气", "GB/T 1"),
        ConceptTerm("泥页岩气", "zh", ADMITTED, note="-见标准"),
        ConceptTerm("页岩瓦斯", "zh", DEPRECATED),
    ),
    source_ids=("http://a.test/1?x=1&y=2", "old-7"),
    broader_ids=(GAS.concept_id,),
    category=TermClass.SUBJECT,
)
RADAR = Concept(
    "c0000000000000003",
    (ConceptTerm("radar", "en", PREFERRED), ConceptTerm("radar", "fr", PREFERRED, "radar", "x")),
    related_ids=("c0000000000000004",),
)
METHANE = Concept(
    "c0000000000000004",
    (ConceptTerm("méthane", "fr", PREFERRED, "gaz CH4", "x"),),
    related_ids=(RADAR.concept_id,),
)
PLAY = Concept("c0000000000000005", (ConceptTerm("页岩区带", "zh", PREFERRED),), broader_ids=(SHALE_GAS.concept_id,))
CONCEPTS = [GAS, SHALE_GAS, RADAR, METHANE]
TBX_START = '<tbx type="TBX-Basic" style="dca" xmlns="urn:iso:std:iso:30042:ed-2"><text><body>'
TBX_END = "</body></text></tbx>"
SKOS = "http://www.w3.org/2004/02/skos/core#"
CSV_HEADER = "concept id,language,term,status,definition\n"


@pytest.fixture
def review() -> Iterator[LexiconReview]:
    with Store("sqlite://", Path("/nowhere")) as store:
        yield LexiconReview(store)


def entry(terms: str, concept_id: str = "k1") -> str:
    return f'<conceptEntry id="{concept_id}"><langSec xml:lang="zh">{terms}</langSec></conceptEntry>'


def tbx_file(*entries: str) -> bytes:
    return (TBX_START + "\n".join(entries) + TBX_END).encode()


def import_concepts(review: LexiconReview, plan: ImportPlan, actor: str = "anna") -> None:
    review.store.review_history.apply(ReviewDecisionKind.ADD, plan.edits, actor)


def import_file(review: LexiconReview, content: bytes, concept_format: ConceptFormat, actor: str = "anna") -> None:
    import_concepts(review, review.plan_concepts(content, concept_format), actor)


def stored_concepts(review: LexiconReview) -> list[Concept]:
    return [group.concept for group in review.concepts().groups]


def without(concepts: Sequence[Concept], concept_format: ConceptFormat) -> list[Concept]:
    """The concepts without what the format cannot contain."""
    if concept_format == "skos":
        return list(concepts)
    bare = [replace(concept, category=TermClass.NONE) for concept in concepts]
    return bare if concept_format == "tbx" else [replace(one, source_ids=(), broader_ids=()) for one in bare]


@pytest.mark.parametrize("concept_format", CONCEPT_FORMATS)
def test_concepts_come_back_as_they_went(review: LexiconReview, concept_format: ConceptFormat) -> None:
    content = format_concept_file(CONCEPTS, concept_format)
    if concept_format != "csv":  # which names related concepts by their terms
        assert parse_concept_file(content, concept_format) == (without(CONCEPTS, concept_format), [])
    import_file(review, content, concept_format)
    assert stored_concepts(review) == without(CONCEPTS, concept_format)
    assert review.export_concepts(concept_format) == content
    again = review.plan_concepts(content, concept_format)
    assert (again.changes, again.edits, again.unchanged_count) == ((), (), 4)


def test_csv_leaves_relations_and_source_ids_as_they_are(review: LexiconReview) -> None:
    import_file(review, format_concept_file(CONCEPTS, "skos"), "skos")
    text = format_concept_file(CONCEPTS, "csv").decode("utf-8-sig")
    assert "'-见标准" in text
    import_file(review, text.replace("页岩瓦斯,deprecated", "页岩瓦斯,admitted").encode(), "csv")
    shale_gas = stored_concepts(review)[1]
    assert (shale_gas.source_ids, shale_gas.broader_ids) == (SHALE_GAS.source_ids, SHALE_GAS.broader_ids)
    assert [term.status for term in shale_gas.terms if term.text == "页岩瓦斯"] == [ADMITTED]


def test_skos_is_read_by_queries() -> None:
    from rdflib import Graph

    graph = Graph().parse(data=format_concept_file(CONCEPTS, "skos"), format="turtle")
    prefix = "PREFIX skos: <http://www.w3.org/2004/02/skos/core#> "
    labels = {
        name: {
            str(row[0])
            for row in graph.query(f"{prefix} SELECT ?label WHERE {{ ?c a skos:Concept; skos:{name} ?label }}")
        }
        for name in ("prefLabel", "altLabel", "hiddenLabel", "definition")
    }
    assert labels["prefLabel"] == {"天然气", "shale gas", "gaz de schiste", "页岩气", "radar", "méthane"}
    assert labels["altLabel"] == {"gas of shales", "泥页岩气"} and labels["hiddenLabel"] == {"页岩瓦斯"}
    assert len(labels["definition"]) == 4


def test_foreign_skos() -> None:
    text = """
        @prefix skos: <http://www.w3.org/2004/02/skos/core#> .
        @prefix : <http://voc.test/> .
        :a a skos:Concept ; skos:prefLabel "Shale Gas"@en, "页岩气"@zh ; skos:narrower :b ;
          skos:definition "gas in shale"@en, "gaz"@fr ; skos:scopeNote "see ISO" .
        :b a skos:Concept ; skos:prefLabel "深层页岩气" .
    """
    [a, b], _ = parse_concept_file(text.encode(), "skos")
    assert a.terms == (
        ConceptTerm("Shale Gas", "en", PREFERRED, "gas in shale; gaz", note="see ISO"),
        ConceptTerm("页岩气", "zh", PREFERRED),
    )
    assert (b.concept_id, b.broader_ids) == ("http://voc.test/b", ("http://voc.test/a",))


def test_foreign_tbx() -> None:
    text = """<?xml version="1.0"?><!DOCTYPE martif SYSTEM "http://no.test/TBXcoreStructV02.dtd">
        <martif type="TBX"><text><body><termEntry id="e1">
        <descripGrp><descrip type="definition" xml:lang="en">gas in
            shale</descrip><admin type="source">ISO</admin></descripGrp>
        <langSet xml:lang="EN-gb"><ntig><termGrp><term>shale <hi>gas</hi></term>
            <termNote type="administrativeStatus">supersededTerm-admn-sts</termNote></termGrp><note>n</note></ntig>
          <tig><term>gas in shale</term></tig></langSet>
        <langSet xml:lang="zh"><note>注</note><tig><term>页岩气</term></tig></langSet>
        </termEntry></body></text></martif>"""
    [concept], _ = parse_concept_file(text.encode(), "tbx")
    assert concept.terms == (
        ConceptTerm("gas in shale", "en-gb", PREFERRED, "gas in shale", "ISO"),
        ConceptTerm("shale gas", "en-gb", DEPRECATED, note="n"),
        ConceptTerm("页岩气", "zh", PREFERRED, note="注"),
    )


TERM = "<termSec><term>页岩气</term></termSec>"
STATUS_NOTE = '<termNote type="administrativeStatus">{}</termNote>'
ENTITIES = '<!DOCTYPE tbx [<!ENTITY a "aaa"><!ENTITY f SYSTEM "file:///etc/passwd">]>'


@pytest.mark.parametrize(
    ("concept_format", "content", "errors"),
    [
        ("tbx", tbx_file(entry("<termSec><term>&#x85;</term></termSec>"),
                         entry(TERM.replace("页岩气", "长" * 101), "k2")),
         [(1, "Concept “k1”: it has no term"), (2, "“长+”: longer than 100"), (2, "Concept “.*”: it has no term")]),
        ("tbx", tbx_file(entry(TERM), entry("<termSec><term>天然气</term></termSec>")),
         [(2, "the id k1 is also the id of concept “页岩气”")]),
        ("tbx", tbx_file(entry(TERM), entry(TERM, "k2")),
         [(2, "Concept “k2”: the term “页岩气” is also in concept “k1”"), (2, "Concept “k2”: it has no term")]),
        ("tbx", tbx_file(entry(f'<descrip type="definition">{"长" * 10_000}</descrip>{TERM}')),
         [(1, "Concept “k1”: the definition has 10,000 characters; at most 2,000")]),
        ("tbx", tbx_file(entry(TERM.replace("</termSec>", STATUS_NOTE.format("sealed") + "</termSec>"))),
         [(1, "Concept “k1”: “页岩气”: unknown status “sealed”, read as admitted")]),
        ("tbx", b"<tbx><text>", [(1, "not valid XML")]),
        ("tbx", b"", [(0, "not valid XML")]),
        ("tbx", f"{ENTITIES}<tbx><text>&a;</text></tbx>".encode(), [(1, "declares XML entities")]),
        ("tbx", b"<html/>", [(1, "the file is not TBX")]),
        ("tbx", b'<tbx style="other"/>', [(1, "styles DCA and DCT")]),
        ("skos", b'<!DOCTYPE a [<!ENTITY b "c"><!ENTITY d "&b;&b;">]><rdf:RDF/>', [(0, "entities")]),
        ("skos", b'<!DOCTYPE a [<!ENTITY b "' + b"c" * 999 + b'">]><rdf:RDF>' + b"&b;" * 40_000, [(0, "entities")]),
        ("skos", b'<?xml version="1.0"?><rdf:RDF>', [(0, "not valid XML")]),
        ("tbx", tbx_file(), [(0, "the file contains no concept")]),
        ("tbx", tbx_file(entry("")), [(1, "Concept “k1”: it has no term")]),
        ("skos", b"@prefix : <http://a.test/> .\n:a :b .", [(2, "not valid Turtle")]),
        ("skos", f'<urn:a> a <{SKOS}Concept> ; <{SKOS}hiddenLabel> "页岩气"@zh .'.encode(),
         [(0, "Concept “urn:a”: all its terms are deprecated")]),
        ("csv", f"{CSV_HEADER}2,zh,天然气,nonsense\n3,zz!,煤层气,preferred\n4,zh,a\x07,\n5,zh,a,,,x\n".encode(),
         [(2, "Concept “2”: “天然气”: unknown status “nonsense”"), (3, "“zz!” is not a language tag"),
          (4, "“a”: contains the forbidden character U.0007"), (4, "it has no term"), (5, "more cells")]),
        ("csv", b"concept id,term,colour\n", [(1, "invalid header row.*term, frequency.*concept id, language")]),
        ("csv", b'concept id,term\n1,"a\n', [(2, "not valid CSV")]),
        ("csv", "concept id,term\n1,页岩气\n2,".encode() + b"\xff\n",
         [(3, "Concept “2”: it has no term"), (3, "Concept “2”: “”: not UTF-8")]),
        ("csv", "concept id,term\n,页岩气\n,泥页岩气\n".encode(), [(2, "2 rows have no concept id; each is a")]),
    ],
    ids=["no valid term", "id twice", "term twice", "long definition", "status", "cut", "nothing", "entities", "no TBX",
         "style", "nested entities", "entities that grow", "RDF/XML", "empty", "no term", "Turtle", "deprecated",
         "CSV rows", "CSV header", "CSV quote", "not UTF-8", "no id"],
)  # fmt: skip
def test_what_is_wrong_is_named(concept_format: ConceptFormat, content: bytes, errors: list[tuple[int, str]]) -> None:
    _, line_errors = parse_concept_file(content, concept_format)
    assert len(line_errors) == len(errors), line_errors
    for (line, reason), (expected_line, expected) in zip(sorted(line_errors), sorted(errors), strict=True):
        assert line == expected_line and re.search(expected, reason), reason


BAD_ENTRIES = [
    '<conceptEntry id="bad"/>',
    '<conceptEntry id="k2"/>',
    '<conceptEntry id="k1"><langSec xml:lang="zh"><termSec><term>别的</term></termSec></langSec></conceptEntry>',
    '<conceptEntry id="bad"><langSec xml:lang="zh"><termSec><term> </term></termSec></langSec></conceptEntry>',
    '<conceptEntry id="bad"><langSec><termSec><term>a &b; &lt;</termSec></langSec></conceptEntry>',
    '<conceptEntry id="bad"><ref type="crossReference" target="bad">broader</ref></conceptEntry>',
]


@pytest.mark.parametrize("bad", BAD_ENTRIES)
def test_a_bad_concept_keeps_no_other_out(review: LexiconReview, bad: str) -> None:
    plan = review.plan_concepts(tbx_file(entry(TERM), bad, entry(TERM.replace("页岩气", "天然气"), "k2")), "tbx")
    labels = [change.after.label for change in plan.changes]
    assert {"页岩气", "天然气"} <= set(labels) and len(labels) < 4 and plan.errors[0][0] == 2


def test_every_file_of_the_tools_is_read() -> None:
    files = [path for path in (SHARED / "data/cases/lexicon").glob("*") if path.suffix != ".json"]
    lost = {}
    for path in files:
        with Store("sqlite://", Path("/nowhere")) as store:
            review = LexiconReview(store)
            preview = review.preview_import(path.name, path.read_bytes())
            lost[path.name[:3]] = [reason.partition(": ")[2] for _, reason in preview.errors]
            review.import_file(preview, "anna")
            assert review.publish("anna").entries
            again = review.preview_import(path.name, path.read_bytes())
            assert (again.counts["new"], again.counts["changed"], again.errors) == (0, 0, preview.errors), path.name
    expected = {"b02": ["all its terms are deprecated"], "b05": ["the term “单元” is also in concept “a”"],
                "b14": ["it has no term"] * 2, "l30": [""]}  # fmt: skip
    assert not files or {name: reasons for name, reasons in lost.items() if reasons} == expected


@pytest.mark.parametrize(
    ("words", "status"),
    [
        (
            "preferred preferredTerm preferredTerm-admn-sts Preferred standardizedTerm-admn-sts standardizedTerm",
            PREFERRED,
        ),
        ("legalTerm-admn-sts regulatedTerm recommended 推荐 首选 首选词 推荐使用 规范术语", PREFERRED),
        ("admitted admittedTerm admittedTerm-admn-sts allowed 允许 同义词 许用术语", ADMITTED),
        ("deprecated deprecatedTerm deprecatedTerm-admn-sts notRecommended not-recommended Obsolete", DEPRECATED),
        (
            "obsoleteTerm forbidden supersededTerm-admn-sts superseded do_not_use DO-NOT-USE 禁用 禁止使用 不推荐 弃用",
            DEPRECATED,
        ),
    ],
)
@pytest.mark.parametrize("concept_format", ["tbx", "csv"])
def test_the_status_words_of_tools(concept_format: ConceptFormat, words: str, status: ConceptTermStatus) -> None:
    for word in (*words.split(), *((" Do not use ",) if status is DEPRECATED else ())):
        content = tbx_file(
            entry(f"<termSec><term>词</term>{STATUS_NOTE.format(word)}</termSec><termSec><term>页岩气</term></termSec>")
        )
        if concept_format == "csv":
            content = f"{CSV_HEADER}k1,zh,词,{word},\nk1,zh,页岩气,,\n".encode()
        [concept], errors = parse_concept_file(content, concept_format)
        terms = {term.text: term.status for term in concept.terms}
        other = ADMITTED if status is PREFERRED else PREFERRED
        assert (terms, errors) == ({"词": status, "页岩气": other}, []), word


def test_a_homonym_stays_in_the_concept_that_prefers_it(review: LexiconReview) -> None:
    content = "concept id,term,status\na,单元,admitted\na,部件,preferred\nb,单元,preferred\nb,cell,\nc,单元,\n".encode()
    concepts, errors = parse_concept_file(content, "csv")
    assert [[term.text for term in concept.terms] for concept in concepts] == [["部件"], ["cell", "单元"]]
    assert [(line, str(reason)) for line, reason in errors] == [
        (2, "Concept “a”: the term “单元” is also in concept “b”"),
        (6, "Concept “c”: the term “单元” is also in concept “b”"), (6, "Concept “c”: it has no term"),
    ]  # fmt: skip
    import_file(review, content, "csv")
    plan = review.plan_concepts(content.replace(b"cell", b"unit"), "csv")
    assert [plan.lines(change) for change in plan.changes] == [(["cell (en, preferred)"], ["unit (en, preferred)"])]


def test_repeated_terms_and_several_labels_are_one_concept() -> None:
    text = f"""@prefix s: <{SKOS}> . @prefix x: <http://www.w3.org/2008/05/skos-xl#> . @prefix : <http://a.test/> .
        @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> . @prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
        :a s:prefLabel "网络"@zh-Hans, "網路"@zh-Hant-TW, "network", "network"@en, "net"@en ; s:altLabel "net"@en .
        :b a s:Concept ; rdfs:label "井"^^xsd:string .
        :c x:prefLabel [ x:literalForm "钻头 (牙轮)"@zh-CN ] .
        :d s:altLabel "mud"@en-GB ; s:inScheme :s .
        :s a s:ConceptScheme ; s:prefLabel "scheme"@en . :g a s:Collection ; s:prefLabel "group"@en ; s:member :a ."""
    concepts, errors = parse_concept_file(text.encode(), "skos")
    assert [[(term.text, term.language, term.status) for term in concept.terms] for concept in concepts] == [
        [("net", "en", PREFERRED), ("network", "en", ADMITTED), ("网络", "zh-hans", PREFERRED),
         ("網路", "zh-hant-tw", PREFERRED)],
        [("井", "zh", PREFERRED)], [("钻头 (牙轮)", "zh-cn", PREFERRED)], [("mud", "en-gb", PREFERRED)],
    ]  # fmt: skip
    assert errors == []


def test_the_entry_of_the_lexicon_is_chinese(review: LexiconReview) -> None:
    content = CSV_HEADER + "1,en,PXE boot,,\n1,zh_Hans_CN,PXE 引导,,\n1,ko,응용 프로그램,,\n"
    import_file(review, content.encode(), "csv")
    [entry] = review.publish("anna").entries
    assert (entry.text, entry.synonyms) == ("PXE 引导", ("PXE boot", "응용 프로그램"))


def test_the_concepts_before_a_syntax_error_are_read() -> None:
    text = f'@prefix s: <{SKOS}> .\n<urn:a> s:prefLabel "页岩气"@zh .\n<urn:b> s:prefLabel "天然气"@zh ;;; oops'
    concepts, [(line, reason)] = parse_concept_file(text.encode("utf-8-sig"), "skos")
    assert concepts[0].label == "页岩气" and line == 3 and "not valid Turtle" in reason


def test_tbx_min_is_read() -> None:
    content = b"""<?xml version="1.0"?><TBX dialect="TBX-Min"><body><entry id="e">
        <langGroup xml:lang="en_US"><termGroup><term>mud</term><termStatus>obsolete</termStatus></termGroup>
        <termGroup><term>drilling fluid</term><termStatus>preferred</termStatus></termGroup></langGroup>
        <langGroup xml:lang="zh-Hans-CN"/></entry></body></TBX>"""
    [concept], errors = parse_concept_file(content, "tbx")
    terms = ConceptTerm("drilling fluid", "en-us", PREFERRED), ConceptTerm("mud", "en-us", DEPRECATED)
    assert (concept.terms, errors) == (terms, [])


def test_a_huge_file_is_not_read(tmp_path: Path) -> None:
    with pytest.raises(LexiconError, match=r"big\.tbx has 200 MB; at most 32 MB"):
        ensure_file_size("big.tbx", 200 << 20)
    ensure_file_size("a.tbx", MAX_FILE_BYTES)


def test_entities_are_not_expanded() -> None:
    text = '<!DOCTYPE tbx SYSTEM "http://no.test/a.dtd">' + tbx_file(entry(TERM)).decode()
    assert parse_concept_file(text.encode(), "tbx")[0][0].terms[0].text == "页岩气"
    concepts, errors = parse_concept_file(text.replace("页岩气", "&b;").encode(), "tbx")
    assert (concepts, str(errors[-1][1])) == ([], "Concept “k1”: it has an XML entity, which is not read")


def test_plain_entities_of_rdf_xml_are_read() -> None:
    """OWL editors declare namespaces as entities."""
    text = f"""<?xml version="1.0"?>\n<!DOCTYPE rdf:RDF [\n  <!ENTITY s '{SKOS}' >\n  <!ENTITY x "http://a.test/">\n]>
        <rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:s="&s;">
        <s:Concept rdf:about="&x;1"><s:prefLabel xml:lang="zh">页岩气 &amp; 油</s:prefLabel></s:Concept></rdf:RDF>"""
    assert detect_concept_format("a.owl", text.encode()) == "skos"
    [concept], errors = parse_concept_file(text.encode(), "skos")
    assert (concept.concept_id, concept.label, errors) == ("http://a.test/1", "页岩气 & 油", [])


def test_csv_without_status() -> None:
    content = "concept id,term\n1,页岩气\n1,泥页岩气\n1,shale gas\n,天然气\n".encode()
    concepts, errors = parse_concept_file(content, "csv")
    assert [(term.text, term.status) for concept in concepts for term in concept.terms] == [
        ("shale gas", PREFERRED), ("页岩气", PREFERRED), ("泥页岩气", ADMITTED), ("天然气", PREFERRED),
    ]  # fmt: skip
    assert [(line, str(reason)) for line, reason in errors] == [
        (5, "1 row has no concept id; it is a concept of its own")
    ]


def test_formats_are_detected() -> None:
    csv_start = concept_csv.format_csv([])
    assert [
        detect_concept_format(name, start)
        for name, start in (
            ("a.TBX", b""), ("a", b'<?xml version="1.0"?>'), ("a.ttl", b""), ("a.csv", csv_start), ("a.csv", b"term\n"),
            ("a.txt", "页岩气 9 n\n".encode()), ("a.csv", b"Concept_ID,Term\r\n"),
        )
    ] == ["tbx", "tbx", "skos", "csv", None, None, "csv"]  # fmt: skip


def test_an_import_is_one_action_that_can_be_undone(review: LexiconReview) -> None:
    review.apply(
        ReviewDecisionKind.ADD, [TermEdit("页岩气", TermStatus.ACCEPTED, synonyms=("SG",), create_if_missing=True)], "b"
    )
    before = stored_concepts(review)
    import_file(review, format_concept_file(CONCEPTS, "tbx"), "tbx")
    shale_gas = next(concept for concept in stored_concepts(review) if len(concept.terms) > 2)
    assert shale_gas.concept_id == before[0].concept_id  # it shares a term, so it keeps its id and its terms
    assert {term.text for term in shale_gas.terms} == {"SG", *(term.text for term in SHALE_GAS.terms)}
    review.store.review_history.undo("anna", None)
    assert stored_concepts(review) == before


def test_the_preview_names_what_changes(review: LexiconReview) -> None:
    import_file(review, format_concept_file(CONCEPTS, "skos"), "skos")
    changed = replace(SHALE_GAS, terms=(*SHALE_GAS.terms[:-1], ConceptTerm("页岩天然气", "zh", DEPRECATED)))
    new = Concept("http://a.test/9", (ConceptTerm("煤层气", "zh", PREFERRED),), broader_ids=(GAS.concept_id,))
    plan = review.plan_import([GAS, changed, new], "skos")
    assert ([change.before is None for change in plan.changes].count(True), plan.unchanged_count) == (1, 1)
    lines = [plan.lines(change) for change in plan.changes]
    assert lines[0] == (["页岩瓦斯 (zh, deprecated)"], ["页岩天然气 (zh, deprecated)"])
    assert lines[1] == ([], ["煤层气 (zh, preferred)", "< 天然气", "id http://a.test/9"])
    import_concepts(review, plan)
    assert review.plan_import([new], "skos").edits == ()  # found by its source id


def test_what_does_not_fit_the_store_is_left_out(review: LexiconReview) -> None:
    import_file(review, format_concept_file(CONCEPTS, "skos"), "skos")
    new = Concept("n", (ConceptTerm("煤层气", "zh", PREFERRED),))
    for concepts, reason in (
        ([Concept("x", (ConceptTerm("天然气", "zh", PREFERRED), ConceptTerm("shale gas", "en")))],
         "“天然气”: the term “shale gas” is already in concept “shale gas”"),
        ([replace(GAS, broader_ids=(SHALE_GAS.concept_id,))], "form a cycle"),
        ([replace(GAS, broader_ids=(GAS.concept_id,))], "form a cycle: 天然气 > 天然气"),
        ([Concept("x", (ConceptTerm("页岩气", "zh", PREFERRED),)),
          Concept("y", (ConceptTerm("shale gas", "en", PREFERRED),))], "the same stored concept"),
        ([replace(GAS, related_ids=(GAS.concept_id,))], "Concept “天然气”: it is related to itself"),
        ([replace(GAS, related_ids=(SHALE_GAS.concept_id,))],
         "“天然气”: “页岩气” is related and also a broader or narrower concept$"),
    ):  # fmt: skip
        plan = review.plan_import([*concepts, new], "skos")
        assert [line for line, _ in plan.errors] == [0] and re.search(reason, plan.errors[0][1])
        removed, added = map(list, zip(*map(plan.lines, plan.changes), strict=True))
        assert added[-1] == ["煤层气 (zh, preferred)", "id n"] and removed == [[]] * len(removed)
        assert added[:-1] in ([], [["id x"]])
    content = b"concept id,term,related\nx,gas,radar; m\xc3\xa9than\n"
    plan = review.plan_concepts(content, "csv")
    assert re.search("Concept “gas”: the related term “méthan” is in no concept", plan.errors[0][1])
    assert plan.lines(plan.changes[0])[1] == ["gas (en, preferred)", "~ radar", "id x"]


def test_any_number_of_cycles_ends() -> None:
    """Each concept is broader than itself, and each of the file and one of the store are broader than each other."""
    with Store("sqlite://", Path("/nowhere")) as store:
        review = LexiconReview(store)
        names = [f"n{n}" for n in range(120)]
        concepts = [Concept(name, (ConceptTerm(name, "en", PREFERRED),)) for name in names]
        stored = Concept("top", (ConceptTerm("top", "en", PREFERRED),), broader_ids=tuple(names))
        import_concepts(review, review.plan_import([*concepts, stored], "skos"))
        plan = review.plan_import([replace(one, broader_ids=("top", one.concept_id)) for one in concepts], "skos")
        assert (plan.changes, len(plan.errors)) == ((), 101)
        many = replace(concepts[0], broader_ids=(), terms=tuple(ConceptTerm(f"t{n}", "en") for n in range(151)))
        plan = review.plan_import([many, replace(concepts[1], terms=(ConceptTerm("x", "en", PREFERRED),))], "skos")
        assert [change.after.label for change in plan.changes] == ["x"] and "it has 151 terms" in plan.errors[0][1]


def test_a_concept_edited_meanwhile_is_not_overwritten(review: LexiconReview) -> None:
    import_file(review, format_concept_file(CONCEPTS, "skos"), "skos")
    plan = review.plan_import([replace(GAS, terms=(ConceptTerm("天然气", "zh", PREFERRED, "气"),))], "skos")
    review.apply(ReviewDecisionKind.SYNONYMS, [TermEdit("天然气", synonyms=("NG",))], "bert")
    with pytest.raises(ConcurrentEditError, match="changed meanwhile by bert"):
        import_concepts(review, plan)
    assert [term.text for term in stored_concepts(review)[0].terms] == ["NG", "天然气"]


def test_a_new_preferred_term_becomes_the_entry(review: LexiconReview) -> None:
    import_file(review, format_concept_file(CONCEPTS, "skos"), "skos")
    terms = (ConceptTerm("天然气体", "zh", PREFERRED), ConceptTerm("天然气", "zh", DEPRECATED))
    import_file(review, format_concept_file([replace(GAS, terms=terms), *CONCEPTS[1:]], "skos"), "skos")
    by_text = review.store.review_queue.find_terms(["天然气体", "天然气"])
    assert (by_text["天然气体"].status, by_text["天然气"].status) == (TermStatus.ACCEPTED, TermStatus.MERGED)
    gas = stored_concepts(review)[0]
    assert (gas.concept_id, gas.terms) == (GAS.concept_id, terms)
    assert stored_concepts(review)[1].broader_ids == (GAS.concept_id,)
    review.store.review_history.undo("anna", None)
    assert stored_concepts(review) == CONCEPTS


def test_the_id_stays_when_a_term_is_renamed_or_merged(review: LexiconReview) -> None:
    import_file(review, format_concept_file(CONCEPTS, "skos"), "skos")
    review.rename("页岩气", "页岩天然气", "anna", None)
    [shale_gas] = [concept for concept in stored_concepts(review) if concept.concept_id == SHALE_GAS.concept_id]
    assert ConceptTerm("页岩天然气", "zh", PREFERRED, "页岩中的天然气", "GB/T 1") in shale_gas.terms
    review.store.review_history.undo("anna", None)
    assert stored_concepts(review) == CONCEPTS
    review.merge("页岩气", "天然气", "anna", None)
    gas = next(concept for concept in stored_concepts(review) if concept.concept_id == GAS.concept_id)
    assert {term.text for term in gas.terms} == {"天然气", *(term.text for term in SHALE_GAS.terms)}
    assert "页岩中的天然气" in [term.definition for term in gas.terms]
    assert set(SHALE_GAS.source_ids) <= set(gas.source_ids)


def test_words_of_several_terms_stay_importable(review: LexiconReview) -> None:
    """Synonyms of the time before concepts: an accepted term as synonym of another, and a synonym of two terms."""
    for text, synonyms in (("页岩气", ("shale gas", "SG")), ("shale gas", ()), ("合成气", ("SG", "syngas"))):
        review.apply(
            ReviewDecisionKind.ADD,
            [TermEdit(text, TermStatus.ACCEPTED, synonyms=synonyms, create_if_missing=True)],
            "b",
        )
    concepts = stored_concepts(review)
    words = sorted(tuple(term.text for term in concept.terms) for concept in concepts)
    assert words == [("SG", "syngas", "合成气"), ("shale gas", "页岩气")]
    content = review.export_concepts("csv").replace(b"syngas,admitted", b"syngas,deprecated")
    import_file(review, content, "csv")
    assert (
        review.store.review_queue.find_terms(["合成气"])["合成气"].synonyms == ("syngas", "SG")
        or "SG" in review.store.review_queue.find_terms(["合成气"])["合成气"].synonyms
    )


def test_definitions_of_articles_are_exported(review: LexiconReview) -> None:
    review.apply(ReviewDecisionKind.ADD, [TermEdit("页岩气", TermStatus.ACCEPTED, create_if_missing=True)], "b")
    definition = Definition("页岩气", "zh", "页岩气是页岩中的天然气。", 1, "http://a.test/1", "t", "", 0.9, 1.0)
    review.store.definitions.save([definition], [])
    content = review.export_concepts("csv")
    assert "页岩气是页岩中的天然气。,http://a.test/1" in content.decode()
    assert review.plan_concepts(content, "csv").changes == ()


def test_accepted_related_terms_are_exported(review: LexiconReview) -> None:
    bare = [replace(concept, related_ids=()) for concept in (*CONCEPTS, PLAY)]
    import_file(review, format_concept_file(bare, "skos"), "skos")
    narrower_pairs = (("页岩气", "天然气"), ("页岩区带", "天然气"))
    for pair in (("radar", "天然气"), ("radar", "méthane"), *narrower_pairs):
        relation = TermRelation(RelationKind.RELATED, *pair, "together", 0.5, "")
        review.store.relations.add_related([RelationProposal(relation, 1, "http://a.test/1", "t", 0.0)], "")
        if pair != ("radar", "méthane"):
            review.accept_relation(RelationKind.RELATED, *pair, "anna")
    ids = {GAS.concept_id, RADAR.concept_id}
    graph = Graph().parse(data=review.export_concepts("skos"), format="turtle")
    pairs = {tuple(map(skos._concept_id, pair)) for pair in graph.subject_objects(URIRef(f"{SKOS}related"))}
    assert pairs == {tuple(sorted(ids)), tuple(sorted(ids, reverse=True))}
    references = etree.fromstring(review.export_concepts("tbx")).iter(f"{{{tbx.NAMESPACE}}}ref")
    assert {one.get("target") for one in references if one.text == "related"} == ids
    rows = review.export_concepts("csv").decode()
    assert "天然气,preferred,,,,radar" in rows and "radar,preferred,,,,天然气" in rows
    for concept_format in CONCEPT_FORMATS:
        content = review.export_concepts(concept_format)
        assert review.plan_concepts(content, concept_format).changes == ()


def related_ids(review: LexiconReview) -> dict[str, tuple[str, ...] | None]:
    """The ids of related concepts by the first term."""
    return {concept.terms[0].text: concept.related_ids for concept in stored_concepts(review)}


def test_related_concepts_are_imported_removed_and_undone(review: LexiconReview) -> None:
    for pair in (("radar", "天然气"), ("méthane", "天然气")):
        relation = TermRelation(RelationKind.RELATED, *pair, "together", 0.5, "")
        review.store.relations.add_related([RelationProposal(relation, 1, "http://a.test/1", "t", 0.0)], "")
    review.set_relation_state(RelationKind.RELATED, "méthane", "天然气", ProposalState.REJECTED, "bert")
    bare = [replace(concept, related_ids=()) for concept in CONCEPTS]
    import_file(review, format_concept_file(bare, "skos"), "skos")
    related = replace(GAS, related_ids=(RADAR.concept_id, METHANE.concept_id))  # stated at one of the concepts only
    plan = review.plan_import([related, SHALE_GAS, *bare[2:]], "skos")
    assert [plan.lines(change)[1] for change in plan.changes[1:]] == [["~ 天然气"]] * 2
    import_concepts(review, plan)
    assert (
        review.store.relations.list_related("天然气") == ["méthane", "radar"]
        and not review.store.relations.list_open(9)[0]
    )
    import_file(review, format_concept_file(bare[:3], "tbx"), "tbx")  # méthane is not in the file, so it stays
    assert review.store.relations.list_related("天然气") == ["méthane"]
    import_file(review, CSV_HEADER.encode() + b"c0000000000000003,en,radar,preferred\n", "csv")  # without the column
    for _ in range(3):
        review.store.review_history.undo("anna", None)
    assert related_ids(review) == dict.fromkeys(("天然气", "shale gas", "radar", "méthane"), ())
    assert review.store.relations.list_related("天然气") == []
    rejected = review.store.relations.list_decided(ProposalState.REJECTED, 9)
    assert [(one.relation.term, one.decided_by) for one in rejected] == [("méthane", "bert")]
    assert review.store.integrity.damaged_rows() == {}


def test_the_undo_of_an_import_can_be_undone(review: LexiconReview) -> None:
    import_file(review, format_concept_file(CONCEPTS, "csv"), "csv")
    undo_decision = review.store.review_history.undo("anna", None)
    assert not review.store.relations.list_decided(ProposalState.ACCEPTED, 9)
    review.store.review_history.undo("anna", undo_decision.act_id)
    assert stored_concepts(review) == without(CONCEPTS, "csv")


def test_a_relation_moves_to_the_new_entry(review: LexiconReview) -> None:
    import_file(review, format_concept_file(CONCEPTS, "skos"), "skos")
    renamed = replace(RADAR, terms=(ConceptTerm("radio detection", "en", PREFERRED),))
    import_file(review, format_concept_file([GAS, SHALE_GAS, renamed, METHANE], "skos"), "skos")
    assert stored_concepts(review)[2].related_ids == (METHANE.concept_id,)
    assert review.store.relations.list_related("méthane") == ["radio detection"]
    review.store.review_history.undo("anna", None)
    assert stored_concepts(review) == CONCEPTS


def test_search_uses_all_terms_of_a_concept(review: LexiconReview) -> None:
    import_file(review, format_concept_file(CONCEPTS, "tbx"), "tbx")
    thesaurus = build_thesaurus(review.publish("anna"))
    assert set(thesaurus.find_synonyms("页岩瓦斯")) == {term.text for term in SHALE_GAS.terms} - {"页岩瓦斯"}


def test_the_definition_of_a_reviewer_counts(review: LexiconReview) -> None:
    import_file(review, format_concept_file(CONCEPTS, "skos"), "skos")
    assert [item.sentence for item in review.store.definitions.find_public(["页岩气"])["页岩气"]] == ["页岩中的天然气"]
    review.write_definition("页岩气", "我们的定义", "bert", None)
    content = review.export_concepts("csv")
    assert "页岩气,preferred,我们的定义,," in content.decode() and "页岩中的天然气" not in content.decode()
    assert review.plan_concepts(content, "csv").changes == ()
    import_file(review, content.replace("我们的定义".encode(), "新的定义".encode()), "csv")
    assert [item.sentence for item in review.store.definitions.find_public(["页岩气"])["页岩气"]] == ["新的定义"]


def test_tbx_has_the_levels_of_tbx_basic() -> None:
    root = etree.fromstring(format_concept_file(CONCEPTS, "tbx"))
    ns = {"t": tbx.NAMESPACE}
    assert (root.get("type"), root.get("style")) == ("TBX-Basic", "dca")
    assert len(root.findall(".//t:langSec/t:descripGrp/t:descrip[@type='definition']", ns)) == 4
    assert not root.findall(".//t:termSec//t:descrip", ns)
    assert [element.get("target") for element in root.iterfind(".//t:xref", ns)] == ["http://a.test/1?x=1&y=2"]
    assert {element.text for element in root.iterfind(".//t:termNote[@type='administrativeStatus']", ns)} == set(
        tbx.TBX_STATUS_BY_STATUS.values()
    )


def test_old_exports_have_no_ids_of_their_own() -> None:
    text = f'<{skos.OLD_TERM_PREFIX}a> a <{SKOS}Concept> ; <{SKOS}prefLabel> "页岩气"@zh .'
    [concept], _ = parse_concept_file(text.encode(), "skos")
    assert concept.concept_id == ""


def test_tbx_of_the_style_dct_is_read() -> None:
    content = b"""<?xml version="1.0"?>
<tbx style="dct" type="TBX-Basic" xml:lang="en" xmlns="urn:iso:std:iso:30042:ed-2"
  xmlns:min="http://www.tbxinfo.net/ns/min" xmlns:basic="http://www.tbxinfo.net/ns/basic"><text><body>
 <conceptEntry id="k2"><basic:crossReference target="k1">broader</basic:crossReference>
  <langSec xml:lang="en"><descripGrp><basic:definition>gas in shale</basic:definition><basic:source>ISO 1</basic:source>
   </descripGrp><termSec><term>shale gas</term></termSec>
   <termSec><term>old gas</term><min:administrativeStatus>deprecatedTerm-admn-sts</min:administrativeStatus>
    <note>rare</note></termSec></langSec></conceptEntry>
</body></text></tbx>"""
    assert detect_concept_format("a.xml", content) == "tbx"
    [concept], _ = parse_concept_file(content, "tbx")
    terms = (
        ConceptTerm("shale gas", "en", PREFERRED, "gas in shale", "ISO 1"),
        ConceptTerm("old gas", "en", DEPRECATED, note="rare"),
    )
    assert concept == Concept("k2", terms, broader_ids=("k1",))


@pytest.mark.parametrize("declaration", ["", '<?xml version="1.0" encoding="UTF-8"?>\n<!-- SKOS -->\n'])
@pytest.mark.parametrize("name", ["a.rdf", "a.xml"])
def test_skos_in_rdf_xml_is_read(name: str, declaration: str) -> None:
    graph = Graph().parse(data=skos.format_skos(CONCEPTS), format="turtle")
    body = graph.serialize(format="xml").partition("?>")[2].lstrip()
    content = f"{declaration}{body}".encode()
    assert detect_concept_format(name, content) == "skos"
    assert parse_concept_file(content, "skos") == (CONCEPTS, [])
