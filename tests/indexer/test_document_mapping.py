"""Article -> Solr document, without Solr."""

from dataclasses import replace

import pytest

from domain.article import Article, Block, BlockKind, PageType, StoredArticle, document_id
from domain.term import Lexicon, LexiconEntry
from indexer.document_mapping import MAX_BODY_CHARS, TextAnalysis, to_solr_document, work_id
from solr_client import solr_fields
from tests.indexer.test_configset import schema_fields
from text.segment import RjiebaSegmenter, base_segmenter
from text.solr_words import WORD_SEPARATOR

WRITTEN_FIELDS = set(schema_fields()) - {
    solr_fields.TITLE_CHARS,
    solr_fields.BODY_CHARS,
    solr_fields.TITLE_PREFIX,
    "_version_",
}  # Solr fills the others
LEXICON = Lexicon(3, (LexiconEntry("世界石油大会"), LexiconEntry("PDC钻头"), LexiconEntry("shale gas", 0, "eng")))
ANALYSIS = TextAnalysis(
    LEXICON, RjiebaSegmenter((e.text, e.frequency, e.pos_tag) for e in LEXICON.entries), base_segmenter()
)
ARTICLE = Article(
    "http://a.test/1", "世界石油大会开幕", "会上展出pdc 钻头。\nShale gas too.", "2016-05-09", "url", "zh", "blocks"
)


def stored(citations: int = 0, story: str = "", **changes: object) -> StoredArticle:
    article = replace(ARTICLE, **changes)  # type: ignore[arg-type]
    told = {"citation_count": citations, "story_id": story}
    return StoredArticle(7, document_id(article.url), "a.test", article, 1_462_752_000.5, **told)  # type: ignore[arg-type]


def test_every_field_is_one_that_the_schema_knows() -> None:
    document = to_solr_document(
        stored(
            citations=3,
            story="00112233aabbccdd",
            title="油经 第二章",
            section="国际",
            author="王",
            source="新华社",
            blocks=(Block(BlockKind.HEADING, "气", 3), Block(BlockKind.PARAGRAPH, ARTICLE.body, page=2)),
            picture="http://a.test/p.png",
            text_source="ocr",
        ),
        ANALYSIS,
    )
    assert set(document) == WRITTEN_FIELDS - set(solr_fields.STEMS_FIELD_BY_LANGUAGE.values())
    assert document[solr_fields.ID] == document_id("http://a.test/1")
    assert document[solr_fields.FETCHED] == "2016-05-09T00:00:00Z"
    assert document[solr_fields.LEXICON_VERSION] == 3


def test_words_are_joined_and_the_text_is_whole_without_the_joints() -> None:
    document = to_solr_document(stored(), ANALYSIS)
    assert str(document[solr_fields.TITLE_DOMAIN]).split(WORD_SEPARATOR) == ["世界石油大会", "开幕"]
    assert str(document[solr_fields.TITLE_BASE]).split(WORD_SEPARATOR) == ["世界", "石油", "大会", "开幕"]
    for name in (solr_fields.BODY_DOMAIN, solr_fields.BODY_BASE):
        assert str(document[name]).replace(WORD_SEPARATOR, "") == ARTICLE.body


def test_words_are_sent_simplified_the_text_as_it_stands() -> None:
    document = to_solr_document(stored(title="鑽頭"), ANALYSIS)
    assert (document[solr_fields.TITLE], document[solr_fields.TITLE_BASE]) == ("鑽頭", "钻头")


def test_domain_terms_are_counted_once_whatever_their_spelling() -> None:
    body = "PDC钻头与pdc 钻头，SHALE GAS。世界石油大会"
    terms = to_solr_document(stored(body=body), ANALYSIS)[solr_fields.DOMAIN_TERMS]
    assert terms == ["世界石油大会", "PDC钻头", "shale gas"]


@pytest.mark.parametrize(
    ("published", "moment"),
    [("2016-05-09", "2016-05-09T00:00:00Z"), ("2016-05", "2016-05-01T00:00:00Z")],
)
def test_dates(published: str, moment: str) -> None:
    document = to_solr_document(stored(published=published), ANALYSIS)
    assert (document[solr_fields.PUBLISHED], document[solr_fields.PUBLISHED_TEXT]) == (moment, published)


def test_what_a_page_does_not_state_is_no_field() -> None:
    optional = {
        solr_fields.PUBLISHED, solr_fields.PUBLISHED_TEXT, solr_fields.SECTION, solr_fields.AUTHOR,
        solr_fields.SOURCE, solr_fields.WORK_ID, solr_fields.PICTURE,
        solr_fields.TITLE_NUMBERS, solr_fields.PAGE_STARTS, solr_fields.AUTHORITY, solr_fields.STORY_ID,
        solr_fields.TEXT_SOURCE,
        *solr_fields.STEMS_FIELD_BY_LANGUAGE.values(),
    }  # fmt: skip
    assert set(to_solr_document(stored(published=""), ANALYSIS)) == WRITTEN_FIELDS - optional


def test_an_article_has_the_stems_of_its_language() -> None:
    document = to_solr_document(stored(title="Die Bohrung", language="de-AT"), ANALYSIS)
    assert document["stems_de"] == f"Die Bohrung\n{ARTICLE.body}"
    assert [name for name in document if name.startswith("stems_")] == ["stems_de"]


def test_words_with_signs_and_words_of_all_alphabets_are_indexed() -> None:
    document = to_solr_document(
        stored(title="C++ für Скважина", body="mit .NET, journ\u0065\u0301e 页岩气 gas"), ANALYSIS
    )
    assert document[solr_fields.SIGN_WORDS] == ["c++", ".net"]
    assert document[solr_fields.SPELLING] == "Скважина journée"


def test_a_title_is_known_by_its_letters_and_its_numbers() -> None:
    document = to_solr_document(stored(title="《页岩气周报》第三期 2024"), ANALYSIS)
    assert document[solr_fields.TITLE_KEY] == ["页岩气周报第三期2024", "=《页岩气周报》第三期 2024"]
    assert document[solr_fields.TITLE_NUMBERS] == "3 2024"


def test_a_picture_is_kept_by_its_url_unless_that_is_no_url() -> None:
    assert (
        to_solr_document(stored(picture="http://a.test/p.png"), ANALYSIS)[solr_fields.PICTURE] == "http://a.test/p.png"
    )
    assert solr_fields.PICTURE not in to_solr_document(stored(picture="http://a.test/" + "p" * 2000), ANALYSIS)


@pytest.mark.parametrize(
    ("changes", "kind"),
    [
        ({"published": "2016-05-09", "page_type": "thread"}, PageType.THREAD),
        ({"published": "2016-05-09"}, PageType.ARTICLE),
        ({"published": ""}, PageType.REFERENCE),
    ],
)
def test_the_kind_of_a_page_is_what_the_extractor_says(changes: dict[str, object], kind: PageType) -> None:
    assert to_solr_document(stored(**changes), ANALYSIS)[solr_fields.PAGE_TYPE] == kind


def test_near_duplicates_share_the_cluster_of_the_one_that_stands_for_them() -> None:
    alone, behind = stored(), replace(stored(), duplicate_of="other")
    assert to_solr_document(alone, ANALYSIS)[solr_fields.CLUSTER_ID] == alone.doc_id
    assert to_solr_document(behind, ANALYSIS)[solr_fields.CLUSTER_ID] == "other"
    assert [to_solr_document(one, ANALYSIS)[solr_fields.SERIES_ID] for one in (alone, behind)] == [
        alone.doc_id,
        "other",
    ]
    assert to_solr_document(replace(behind, series_id="reports"), ANALYSIS)[solr_fields.SERIES_ID] == "reports"


def test_what_no_index_takes_is_replaced_and_the_length_bounded() -> None:
    document = to_solr_document(stored(title="a\x00b\ufffec\x1f", body="长" * (MAX_BODY_CHARS + 5)), ANALYSIS)
    assert document[solr_fields.TITLE] == "a b c "
    assert len(str(document[solr_fields.BODY])) == MAX_BODY_CHARS


@pytest.mark.parametrize(
    ("title", "whole"),
    [
        ("中华人民共和国民法典 第九十三条", "中华人民共和国民法典"),
        ("中华人民共和国刑法第一百三十三条之一", "中华人民共和国刑法"),
        ("三国演义 第1回 宴桃园豪杰三结义", "三国演义"),
        ("三国演义　第 ２ 回：张翼德怒鞭督邮", "三国演义"),
        ("大庆油田史话（十二）", "大庆油田史话"),
        ("大庆油田史话(3)", "大庆油田史话"),
        ("Drilling for beginners Part 2: mud", "drilling for beginners"),
        ("第三章 总则", ""),
        ("我国第一部石油法出台", ""),
        ("第九届世界石油大会开幕", ""),
        ("油价（2016）上涨", ""),
        ("Parts of wells", ""),
        ("", ""),
    ],
)
def test_a_numbered_part_names_its_work(title: str, whole: str) -> None:
    found = work_id("a.test", title)
    assert found == (work_id("a.test", f"{whole} 第一条") if whole else "")
    assert found == "" or (len(found) == 16 and found != work_id("b.test", title))
