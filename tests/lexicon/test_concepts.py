"""Concepts in and out of TBX, SKOS and CSV: nothing is lost, and an invalid file changes nothing."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from lxml import etree
from rdflib import Graph, URIRef

from docstore.store import Store
from domain.concept import Concept, ConceptFormat
from domain.errors import ConceptFileError, ConcurrentEditError, LexiconError
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
from pipeline.lexicon_stage.lexicon_review import LexiconReview
from search_ui.query.query_words import build_thesaurus

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


def import_file(review: LexiconReview, content: bytes, concept_format: ConceptFormat, actor: str = "anna") -> None:
    review.import_concepts(review.plan_concepts(content, concept_format), actor)


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
        assert parse_concept_file(content, concept_format) == without(CONCEPTS, concept_format)
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
    a, b = parse_concept_file(text.encode(), "skos")
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
    [concept] = parse_concept_file(text.encode(), "tbx")
    assert concept.terms == (
        ConceptTerm("gas in shale", "en-gb", PREFERRED, "gas in shale", "ISO"),
        ConceptTerm("shale gas", "en-gb", DEPRECATED, note="n"),
        ConceptTerm("页岩气", "zh", PREFERRED, note="注"),
    )


TERM = "<termSec><term>页岩气</term></termSec>"
ENTITIES = '<!DOCTYPE tbx [<!ENTITY a "aaa"><!ENTITY f SYSTEM "file:///etc/passwd">]>'


@pytest.mark.parametrize(
    ("concept_format", "content", "errors"),
    [
        ("tbx", tbx_file(entry("<termSec><term>&lt;b&gt;气</term></termSec>")),
         [(1, "Concept “k1”: “<b>气”.*symbol “<”")]),
        ("tbx", tbx_file(entry(TERM), entry("<termSec><term>天然气</term></termSec>")), [(2, "the id k1 is also")]),
        ("tbx", tbx_file(entry(TERM), entry(TERM, "k2")),
         [(2, "Concept “k2”: the term “页岩气” is also in concept “k1”")]),
        ("tbx", tbx_file(entry(f'<descrip type="definition">{"长" * 10_000}</descrip>{TERM}')),
         [(1, "Concept “k1”: the definition has 10,000 characters; at most 2,000")]),
        ("tbx", b"<tbx><text>", [(1, "not valid XML")]),
        ("tbx", f"{ENTITIES}<tbx><text>&a;</text></tbx>".encode(), [(1, "declares XML entities")]),
        ("tbx", b"<html/>", [(1, "the file is not TBX")]),
        ("tbx", b'<tbx style="other"/>', [(1, "styles DCA and DCT")]),
        ("skos", b'<!DOCTYPE a [<!ENTITY b "c">]><rdf:RDF/>', [(0, "entities")]),
        ("skos", b'<?xml version="1.0"?><rdf:RDF>', [(0, "not valid XML")]),
        ("tbx", tbx_file(), [(0, "the file contains no concept")]),
        ("tbx", tbx_file(entry("")), [(1, "Concept “k1”: it has no term")]),
        ("skos", b"@prefix : <http://a.test/> .\n:a :b .", [(2, "not valid Turtle")]),
        ("skos", f'<urn:a> a <{SKOS}Concept> ; <{SKOS}altLabel> "页岩气"@zh .'.encode(),
         [(0, "Concept “urn:a”: it has no preferred")]),
        ("csv", CSV_HEADER.encode() + "1,zh,页岩气,preferred\n1,zh,泥页岩气,preferred\n2,zh,天然气,nonsense\n"
         '3,zz!,天然气,preferred\n4,zh,"天然气\n气",preferred\n'.encode(),
         [(4, "Concept “2”: unknown status “nonsense”"), (2, "two preferred terms in zh: “页岩气” and “泥页岩气”"),
          (5, "“zz!” is not a language tag"), (6, "Concept “4”: “天然气 气”.*a space")]),
        ("csv", b"concept id,term,status\n,shale gas,admitted\n", [(2, "share its concept id")]),
        ("csv", b"concept id,term,colour\n", [(1, "invalid header row")]),
        ("csv", b'concept id,term\n1,"a\n', [(2, "not valid CSV")]),
        ("csv", b"concept id,term\n1,\xff\n", [(2, "not UTF-8")]),
    ],
    ids=["markup", "id twice", "term twice", "long definition", "cut", "entities", "no TBX", "style", "RDF entities",
         "RDF/XML", "empty", "no term",
         "Turtle", "no preferred term", "CSV rows", "no id", "CSV header", "CSV quote", "not UTF-8"],
)  # fmt: skip
def test_every_invalid_concept_is_named(
    concept_format: ConceptFormat, content: bytes, errors: list[tuple[int, str]]
) -> None:
    with pytest.raises(ConceptFileError, match="nothing imported") as raised:
        parse_concept_file(content, concept_format)
    assert len(raised.value.line_errors) == len(errors)
    for (line, reason), (expected_line, expected) in zip(sorted(raised.value.line_errors), sorted(errors), strict=True):
        assert line == expected_line and re.search(expected, reason), reason


def test_a_huge_file_is_not_read(tmp_path: Path) -> None:
    with pytest.raises(LexiconError, match=r"big\.tbx has 200 MB; at most 32 MB"):
        ensure_file_size("big.tbx", 200 << 20)
    ensure_file_size("a.tbx", MAX_FILE_BYTES)


def test_entities_are_not_expanded() -> None:
    text = '<!DOCTYPE tbx SYSTEM "http://no.test/a.dtd">' + tbx_file(entry(TERM)).decode()
    assert parse_concept_file(text.encode(), "tbx")[0].terms[0].text == "页岩气"
    with pytest.raises(ConceptFileError):
        parse_concept_file(text.replace("页岩气", "&b;").encode(), "tbx")


def test_csv_without_status() -> None:
    content = "concept id,term\n1,页岩气\n1,泥页岩气\n1,shale gas\n,天然气\n".encode()
    concepts = parse_concept_file(content, "csv")
    assert [(term.text, term.status) for concept in concepts for term in concept.terms] == [
        ("shale gas", PREFERRED), ("页岩气", PREFERRED), ("泥页岩气", ADMITTED), ("天然气", PREFERRED),
    ]  # fmt: skip


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
    assert (plan.added_count, plan.unchanged_count) == (1, 1)
    lines = [plan.lines(change) for change in plan.changes]
    assert lines[0] == (["页岩瓦斯 (zh, deprecated)"], ["页岩天然气 (zh, deprecated)"])
    assert lines[1] == ([], ["煤层气 (zh, preferred)", "< 天然气", "id http://a.test/9"])
    review.import_concepts(plan, "anna")
    assert review.plan_import([new], "skos").edits == ()  # found by its source id


def test_what_does_not_fit_the_store_is_refused(review: LexiconReview) -> None:
    import_file(review, format_concept_file(CONCEPTS, "skos"), "skos")
    before = stored_concepts(review)
    for concepts, reason in (
        ([Concept("x", (ConceptTerm("天然气", "zh", PREFERRED), ConceptTerm("shale gas", "en")))],
         "the term “shale gas” is already in concept “shale gas”|the term “天然气” is already"),
        ([replace(GAS, broader_ids=(SHALE_GAS.concept_id,))], "form a cycle"),
        ([replace(GAS, broader_ids=(GAS.concept_id,))], "form a cycle: 天然气 > 天然气"),
        ([Concept("x", (ConceptTerm("页岩气", "zh", PREFERRED),)),
          Concept("y", (ConceptTerm("shale gas", "en", PREFERRED),))], "the same stored concept"),
        ([replace(GAS, related_ids=(GAS.concept_id,))], "Concept “天然气”: it is related to itself"),
        ([replace(GAS, related_ids=(SHALE_GAS.concept_id,))],
         "“天然气”: “页岩气” is related and also a broader or narrower concept$"),
    ):  # fmt: skip
        with pytest.raises(ConceptFileError, match=reason):
            review.plan_import(concepts, "skos")
    content = b"concept id,term,related\nx,gas,radar; m\xc3\xa9than\n"
    with pytest.raises(
        ConceptFileError, match="Concept “gas”: the related term “méthan” is in no concept of the file or the"
    ):
        review.plan_concepts(content, "csv")
    assert stored_concepts(review) == before


def test_a_concept_edited_meanwhile_is_not_overwritten(review: LexiconReview) -> None:
    import_file(review, format_concept_file(CONCEPTS, "skos"), "skos")
    plan = review.plan_import([replace(GAS, terms=(ConceptTerm("天然气", "zh", PREFERRED, "气"),))], "skos")
    review.apply(ReviewDecisionKind.SYNONYMS, [TermEdit("天然气", synonyms=("NG",))], "bert")
    with pytest.raises(ConcurrentEditError, match="changed meanwhile by bert"):
        review.import_concepts(plan, "anna")
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
    review.import_concepts(plan, "anna")
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
    assert [item.sentence for item in review.definitions("页岩气")] == ["页岩中的天然气"]
    review.write_definition("页岩气", "我们的定义", "bert", None)
    content = review.export_concepts("csv")
    assert "页岩气,preferred,我们的定义,," in content.decode() and "页岩中的天然气" not in content.decode()
    assert review.plan_concepts(content, "csv").changes == ()
    import_file(review, content.replace("我们的定义".encode(), "新的定义".encode()), "csv")
    assert [item.sentence for item in review.definitions("页岩气")] == ["新的定义"]


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
    [concept] = parse_concept_file(text.encode(), "skos")
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
    [concept] = parse_concept_file(content, "tbx")
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
    assert parse_concept_file(content, "skos") == parse_concept_file(skos.format_skos(CONCEPTS), "skos")
