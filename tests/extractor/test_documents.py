"""Document files: all formats and their detection, titles and dates, all outcomes, and hostile files."""

import json
import struct
import zlib
from dataclasses import replace
from pathlib import Path

import pytest

from crawler.workers.worker_process import Limits, WorkerProcess
from domain.article import Article, BlockKind, PageType
from domain.message import Message
from domain.outcome import Outcome, Reason
from domain.recognized_page import RecognizedLine, RecognizedPage
from extractor.documents import ofd, plain_text
from extractor.documents.content import MAX_BLOCKS, MAX_PAGES
from extractor.documents.pdf import find_unreadable_pages
from extractor.documents.reader import detect_format, extract_document, read_document
from tests.conftest import SHARED
from tests.extractor import document_files as files

ENGLISH = "The harbour was opened again on Monday, the port authority said in a statement after three weeks of storms."
CHINESE = "大庆油田今天宣布，今年前三个季度的原油产量超过去年同期，创下五年来的新高，公司将继续推进技术创新。"
URL = "http://library.test/files/report"


def article(data: bytes, name: str, content_type: str = "") -> Article:
    found = read_document(data, f"{URL}.{name}", content_type)
    assert isinstance(found, Article), found
    assert found.format and found.page_type == PageType.DOCUMENT
    return found


def outcome(data: bytes, name: str) -> Outcome:
    found = read_document(data, f"{URL}.{name}")
    assert isinstance(found, Outcome), found.body[:200]
    assert found.detail
    return found


def kinds(found: Article) -> list[tuple[BlockKind, str, int]]:
    return [(block.kind, block.text, block.page) for block in found.blocks]


# -- formats


def test_a_pdf_keeps_paragraphs_pages_and_headings_and_drops_what_every_page_repeats() -> None:
    pages = []
    for number in range(1, 6):
        lines = [(72.0, 800.0, 9.0, "Annual report of the port"), (290.0, 30.0, 9.0, f"Page {number} of 5")]
        lines += [(72, 700, 18, f"Part {'ABCDE'[number - 1]}")]
        lines += [(72, 670, 11, f"Ship {number * 7} came in on a day of storm, as the harbour master wrote")]
        lines += [(72, 656, 11, "in his book, and was made fast."), (72, 620, 11, "Another paragraph begins here.")]
        pages.append(lines)
    found = article(files.pdf(pages), "pdf")
    assert found.format == "pdf"
    assert found.body.count("Annual report") == 1, "a running head is kept where it stands first"
    assert "Page 3" not in found.body
    assert (BlockKind.HEADING, "Part B", 2) in kinds(found)
    whole = "Ship 14 came in on a day of storm, as the harbour master wrote in his book, and was made fast."
    assert (BlockKind.PARAGRAPH, whole, 2) in kinds(found)
    assert (BlockKind.PARAGRAPH, "Another paragraph begins here.", 5) in kinds(found)


def test_chinese_lines_of_a_pdf_are_joined_without_a_blank() -> None:
    lines = [(72, 760, 22, "原油产量创新高"), (72, 700, 12, CHINESE[:26]), (72, 682, 12, CHINESE[26:])]
    found = article(files.pdf([lines]), "pdf")
    assert (found.title, found.language) == ("原油产量创新高", "zh")
    assert (BlockKind.PARAGRAPH, CHINESE, 1) in kinds(found)


def test_a_word_file_keeps_headings_items_tables_notes_and_drops_what_was_deleted() -> None:
    item = '<w:numPr><w:ilvl w:val="1"/></w:numPr>'
    body = (
        files.paragraph("年度报告", "t") + files.paragraph("Overview", "1") + files.paragraph(CHINESE)
        + files.paragraph("second level", extra=item) + files.table([["港口", "吨"], ["大连", "12"]])
        + "<w:p><w:del><w:r><w:delText>gone</w:delText></w:r></w:del>"
        + f"<w:ins><w:r><w:t>{ENGLISH}</w:t></w:r></w:ins></w:p>"
    )  # fmt: skip
    notes = f'<w:footnotes xmlns:w="{files.W}"><w:footnote>{files.paragraph("a note below")}</w:footnote></w:footnotes>'
    found = article(files.docx(body, more={"word/footnotes.xml": notes}), "docx")
    assert found.title == "年度报告"
    assert [(kind, text) for kind, text, _ in kinds(found)] == [
        (BlockKind.HEADING, "年度报告"),
        (BlockKind.HEADING, "Overview"),
        (BlockKind.PARAGRAPH, CHINESE),
        (BlockKind.LIST_ITEM, "second level"),
        (BlockKind.TABLE_ROW, "港口\t吨"),
        (BlockKind.TABLE_ROW, "大连\t12"),
        (BlockKind.PARAGRAPH, ENGLISH),
        (BlockKind.PARAGRAPH, "a note below"),
    ]


def test_slides_are_pages_and_their_notes_are_text() -> None:
    found = article(
        files.pptx([("港口概况", ["吞吐量", "航线"]), ("Outlook", [ENGLISH])], notes="tell the story"), "pptx"
    )
    assert found.title == "港口概况"
    assert (BlockKind.HEADING, "Outlook", 2) in kinds(found)
    assert (BlockKind.PARAGRAPH, "tell the story", 1) in kinds(found)
    assert "\n1\n" not in f"\n{found.body}\n", "the number of a slide is no text"


def test_a_sheet_is_a_page_and_its_rows_are_rows() -> None:
    rows = files.sheet_rows([["港口吞吐量统计表"], ["港口", "吨"], ["大连", 12.0], ["青岛", 13.5]])
    found = article(files.xlsx({"一月": rows, "二月": files.sheet_rows([["x", "y"]])}), "xlsx")
    assert found.title == "港口吞吐量统计表"
    assert (BlockKind.TABLE_ROW, "大连\t12", 1) in kinds(found)
    assert (BlockKind.TABLE_ROW, "青岛\t13.5", 1) in kinds(found)
    assert (BlockKind.HEADING, "二月", 2) in kinds(found)


def test_opendocument_texts_slides_and_sheets() -> None:
    text = (
        f"<text:h text:outline-level='1'>年度报告</text:h><text:p>{CHINESE}</text:p><text:list><text:list-item><text:p>"
        "one<text:s text:c='2'/>item</text:p></text:list-item></text:list>"
    )
    found = article(files.opendocument("text", text), "odt")
    assert (found.format, found.title) == ("odt", "年度报告")
    assert (BlockKind.LIST_ITEM, "one item", 0) in kinds(found)
    slides = "".join(
        f"<draw:page><draw:frame presentation:class='title'><draw:text-box><text:p>{title}</text:p></draw:text-box>"
        f"</draw:frame><draw:frame><draw:text-box><text:p>{ENGLISH}</text:p></draw:text-box></draw:frame></draw:page>"
        for title in ("Harbour", "Ships")
    )
    found = article(files.opendocument("presentation", slides), "odp")
    assert (found.title, found.blocks[-1].page) == ("Harbour", 2)
    cells = (
        "<table:table-cell><text:p>港</text:p></table:table-cell>"
        "<table:table-cell table:number-columns-repeated='2'><text:p>吨</text:p></table:table-cell>"
    )
    row = f"<table:table-row>{cells}</table:table-row>"
    found = article(files.opendocument("spreadsheet", f"<table:table>{row}</table:table>"), "ods")
    assert kinds(found) == [(BlockKind.TABLE_ROW, "港\t吨\t吨", 1)]


def test_rtf_in_english_and_in_chinese() -> None:
    codes = "".join(rf"\'{byte:02x}" for byte in CHINESE.encode("gbk"))
    signs = "".join(rf"\u{ord(char)}?" for char in "港口")
    data = rf"{{\rtf1\ansi\ansicpg936{{\fonttbl{{\f0\fcharset134 SimSun;}}}}\f0 {signs}\par {codes}\par {ENGLISH}}}"
    found = article(data.encode("ascii"), "rtf")
    assert found.body.split("\n") == ["港口", CHINESE, ENGLISH]


def test_a_book_is_read_chapter_by_chapter_in_its_order() -> None:
    chapters = [
        f"<html><body><h1>{title}</h1><p>{text}</p></body></html>" for title, text in (("一", CHINESE), ("二", ENGLISH))
    ]
    found = article(files.epub("呐喊", chapters, "1923-08-01"), "epub")
    assert (found.title, found.author) == ("呐喊", "鲁迅")
    assert kinds(found) == [
        (BlockKind.HEADING, "一", 1),
        (BlockKind.PARAGRAPH, CHINESE, 1),
        (BlockKind.HEADING, "二", 2),
        (BlockKind.PARAGRAPH, ENGLISH, 2),
    ]


def test_an_ofd_page_is_read_like_a_printed_one() -> None:
    lines = [
        (20.0, 9.0, "关于港口工作的通知"),
        (50.0, 4.5, CHINESE[:26]),
        (56.0, 4.5, CHINESE[26:]),
        (80.0, 4.5, "2021年3月5日"),
    ]
    found = article(files.ofd(lines), "ofd")
    assert (found.title, found.published) == ("关于港口工作的通知", "2021-03-05")
    assert CHINESE in found.body


def test_plain_text_in_the_encodings_of_its_time() -> None:
    text = f"年度报告\n\n{CHINESE}\n2020年5月6日\n"
    for encoding in ("utf-8", "gb18030", "utf-16"):
        found = article(text.encode(encoding), "txt", "text/plain")
        assert (found.title, found.published) == ("年度报告", "2020-05-06")
        assert CHINESE in found.body


def test_markdown_keeps_code_and_reads_what_stands_above_it() -> None:
    head = '---\ntitle: "A guide"\ndate: 2022-02-03\nauthor: Ada Byron\n---\n# Other\n\n'
    lists = "- *one*\n  1. two\n\n| a | b |\n|--|:-:|\n| 1 | 2 |\n\n```python\ndef f():\n    return 1\n```\n"
    text = f"{head}{ENGLISH} [x](http://a.test/)\n\n{lists}"
    found = article(text.encode(), "md")
    assert (found.title, found.published, found.date_source, found.author) == (
        "A guide", "2022-02-03", "metadata", "Ada Byron",
    )  # fmt: skip
    assert [(block.kind, block.text) for block in found.blocks] == [
        (BlockKind.HEADING, "Other"),
        (BlockKind.PARAGRAPH, f"{ENGLISH} x"),
        (BlockKind.LIST_ITEM, "one"),
        (BlockKind.LIST_ITEM, "two"),
        (BlockKind.TABLE_ROW, "a\tb"),
        (BlockKind.TABLE_ROW, "1\t2"),
        (BlockKind.CODE, "def f():\n    return 1"),
    ]


def test_old_word_and_powerpoint_files() -> None:
    field = "see \x13 HYPERLINK x \x14the page\x15 below"
    found = article(files.doc(f"Report\r{field}\r{CHINESE}\rA\x07B\x07\x07"), "doc")
    assert found.body.split("\n") == ["Report", "see the page below", CHINESE, "A B"]
    found = article(files.doc(f"DRAFT, May 2004\rStorms\rIn spring\r{ENGLISH}\r", styles=(0, 62, 1)), "doc")
    assert (found.title, found.published) == ("Storms", "2004-05")
    assert [block.kind for block in found.blocks] == [
        BlockKind.PARAGRAPH, BlockKind.HEADING, BlockKind.HEADING, BlockKind.PARAGRAPH,
    ]  # fmt: skip
    found = article(files.ppt([("港口概况", CHINESE), ("Outlook", ENGLISH)]), "ppt")
    assert found.title == "港口概况"
    assert [(block.text, block.page) for block in found.blocks] == [
        ("港口概况", 1), (CHINESE, 1), ("Outlook", 2), (ENGLISH, 2),
    ]  # fmt: skip


def test_a_note_of_an_old_word_file_has_its_own_style() -> None:
    parts = {"text": f"{ENGLISH}\r", "": "", "head": "Journal of ports\r", "3": "", "4": "", "endnote": "See page 7.\r"}
    data = files.doc("".join(parts.values()), styles=(0, 62), counts=[len(part) for part in parts.values()])
    assert [(block.kind, block.text) for block in article(data, "doc").blocks] == [
        (BlockKind.PARAGRAPH, ENGLISH), (BlockKind.PARAGRAPH, "See page 7."),
    ]  # fmt: skip


def test_a_text_box_in_a_title_is_not_a_title() -> None:
    box = "<draw:frame><draw:text-box><text:p>Printed on paper</text:p></draw:text-box></draw:frame>"
    text = f"<text:p text:style-name='Title'>Annual report{box}</text:p><text:p>{ENGLISH}</text:p>"
    found = article(files.opendocument("text", text), "odt")
    assert found.title == "Annual report"
    assert (BlockKind.PARAGRAPH, "Printed on paper", 0) in kinds(found)


def test_rules_of_markdown_are_not_text() -> None:
    text = f"{ENGLISH}\n\n---\n\n* * *\n\n{ENGLISH}\n{ENGLISH}\n---\n\n___\n{ENGLISH}\n{ENGLISH}\n===\nend"
    assert article(text.encode(), "md").body.split("\n") == [
        ENGLISH, f"{ENGLISH} {ENGLISH}", f"{ENGLISH} {ENGLISH}", "end",
    ]  # fmt: skip


@pytest.mark.parametrize("is_markdown", [False, True])
def test_a_cut_text_says_so(is_markdown: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plain_text, "MAX_BYTES", 3_000_000)
    assert plain_text.read(b"<!--" + b" " * 3_000_000 + b"-->", is_markdown).truncation == "3 MB read"


# -- which format


def test_the_bytes_say_which_format_then_the_type_then_the_ending() -> None:
    pdf = files.pdf([[(72, 700, 12, ENGLISH)]])
    assert detect_format(pdf, "http://a.test/show?id=1", "application/octet-stream") == "pdf"
    assert detect_format(pdf, "http://a.test/a.docx", "application/msword") == "pdf"
    assert detect_format(files.docx(files.paragraph("x")), "http://a.test/a.doc") == "docx"
    assert detect_format(b"Plain words, nothing else.", "http://a.test/readme", "text/plain; charset=utf-8") == "txt"
    assert detect_format(b"# Words", "http://a.test/readme.md", "text/plain") == "md"
    assert detect_format(files.zipped({"a.txt": "x"}), "http://a.test/a.zip") == ""
    assert detect_format(b"# Words", "http://[/readme.md", "text/plain") == "txt"
    assert detect_format(b"\x89PNG\r\n\x1a\n", "http://a.test/a.png", "image/png") == ""


def test_html_is_never_a_document_whatever_it_is_called() -> None:
    page = b"<!DOCTYPE html><html><body><p>Words</p></body></html>"
    for url, kind in (
        ("a.txt", "text/plain"),
        ("a.doc", "application/msword"),
        ("a.md", "text/markdown"),
        ("a.pdf", ""),
    ):
        assert detect_format(page, f"http://a.test/{url}", kind) == ""
    assert detect_format(b"Some words", "http://a.test/a.pdf", "text/html") == ""
    assert detect_format(b"<p align=center>\n\n# A tool\n", "http://a.test/README.md") == "md"


# -- titles and days


@pytest.mark.parametrize(
    "lie", ["Microsoft Word - 文件1", "Slide 1", "report_final.docx", "untitled", "PowerPoint Presentation"]
)
def test_properties_that_lie_give_no_title(lie: str) -> None:
    lines = [(72, 780, 20, "Storms on the northern"), (72, 756, 20, "coast since 1900"), (72, 700, 11, ENGLISH)]
    info = f"/Title<feff{lie.encode('utf-16-be').hex()}>"
    found = article(files.pdf([lines], info), "pdf")
    assert found.title == "Storms on the northern coast since 1900"


def test_properties_are_believed_where_the_page_shows_their_words() -> None:
    body = files.paragraph("THE JOURNAL", size=60) + files.paragraph("Storms on the coast") + files.paragraph(ENGLISH)
    assert article(files.docx(body, "<dc:title>Storms on the Coast</dc:title>"), "docx").title == "Storms on the coast"
    assert article(files.docx(body, "<dc:title>Another thing</dc:title>"), "docx").title == "THE JOURNAL"


def test_no_title_rather_than_a_wrong_one() -> None:
    found = article(files.pdf([[(72, 700, 11, ENGLISH[:50]), (72, 686, 11, ENGLISH[50:])]]), "pdf")
    assert found.title == ""


def test_an_official_paper_has_its_title_below_its_number_and_its_day_at_its_end() -> None:
    lines = [
        (150, 760, 36, "国务院办公厅文件"),
        (200, 700, 14, "国办发〔2020〕12号"),
        (130, 640, 22, "国务院办公厅关于加强"),
        (150, 610, 22, "港口安全工作的通知"),
        (72, 560, 14, "各省、自治区、直辖市人民政府："),
        (72, 540, 14, CHINESE[:30]),
        (72, 520, 14, "自2021年1月1日起施行。"),
        (350, 460, 14, "国务院办公厅"),
        (350, 440, 14, "二〇二〇年六月十二日"),
    ]
    found = article(files.pdf([lines]), "pdf")
    assert found.title == "国务院办公厅关于加强港口安全工作的通知"
    assert (found.published, found.date_source) == ("2020-06-12", "text")


def test_a_law_has_the_last_day_on_which_it_was_changed() -> None:
    text = (
        "# 港口法\n\n2003年6月28日 第十届全国人民代表大会常务委员会第三次会议通过\n\n"
        f"2018年12月29日 第十三届全国人民代表大会常务委员会第七次会议修正\n\n第一条 {CHINESE}\n"
    )
    found = article(text.encode(), "md")
    assert (found.title, found.published) == ("港口法", "2018-12-29")


def test_a_paper_has_its_title_above_its_authors_and_the_day_of_its_stamp() -> None:
    content = (
        b"BT /F1 20 Tf 0 1 -1 0 30 300 Tm <%s> Tj "
        % "arXiv:2103.15348v2 [cs.CV] 21 Jun 2021".encode("utf-16-be").hex().encode()
    )
    content += b" ".join(
        files.drawn(line)
        for line in [
            (100, 760, 17, "A Toolkit for the Layout of Papers"),
            (150, 730, 10, "Zejiang Shen, Ruochen Zhang"),
            (72, 690, 10, ENGLISH),
        ]
    )
    found = article(files.pdf_of([content + b" ET"]), "pdf")
    assert (found.title, found.published) == ("A Toolkit for the Layout of Papers", "2021-06-21")


def test_the_day_of_an_export_is_not_the_day_of_the_document() -> None:
    body = files.paragraph("Storms on the coast", "t") + files.paragraph(ENGLISH)
    created = "<dcterms:created>2019-04-05T10:00:00Z</dcterms:created>"
    assert article(files.docx(body, created), "docx").published == ""
    found = article(files.docx(body + files.paragraph("April 2019"), created), "docx")
    assert (found.published, found.date_source) == ("2019-04-05", "metadata")


@pytest.mark.parametrize(
    ("text", "info", "author", "date"),
    [
        ("Storms on the coast", "/Author(Ada Byron)/CreationDate(D:20190405100000Z)", "Ada Byron", "2019-04-05"),
        ("Storms on the coast", f"/Author<feff{'严威'.encode('utf-16-be').hex()}>", "严威", ""),
        (
            "Storms on the coast",
            "/Author(Ada Byron)/CreationDate(D:00000101)/ModDate(D:20190406)",
            "Ada Byron",
            "2019-04-06",
        ),
        ("Published 2 May 2018", "/Author(Ada Byron)/CreationDate(D:20190405)", "Ada Byron", "2018-05-02"),
        ("The siege of 1863", "/CreationDate(D:20100802)", "", ""),
        ("A report of 2010", "/CreationDate(D:20100802)", "", "2010-08-02"),
        ("Storms on the coast", "/CreationDate(D:20310405)", "", ""),
        ("Storms on the coast", "/CreationDate(D:19700101)", "", ""),
        ("Storms on the coast", "/Author(Administrator)", "", ""),
        ("Storms on the coast", "/Author(Windows User)", "", ""),
        ("Storms on the coast", "/Author(jenki300)", "", ""),
        ("Storms on the coast", "/Author(a a)", "", ""),
        ("Storms on the coast", "/Author(Doc Press)/Producer(Doc Press 2.4)", "", ""),
    ],
)
def test_a_pdf_whose_text_states_no_author_or_date_has_those_of_the_file(
    text: str, info: str, author: str, date: str
) -> None:
    data = files.pdf([[(72, 760, 17, text), (72, 690, 10, ENGLISH)]], info)
    found = read_document(data, f"{URL}.pdf", fetched_at=1_700_000_000.0)
    assert isinstance(found, Article)
    assert (found.author, found.published) == (author, date)


def test_no_day_after_the_fetch() -> None:
    data = f"Report\n2031-05-06\n{ENGLISH}".encode()
    assert isinstance(found := read_document(data, f"{URL}.txt", fetched_at=1_700_000_000.0), Article)
    assert found.published == ""


# -- outcomes


def test_a_password_is_said_and_an_empty_one_opens() -> None:
    page = [[(72.0, 700.0, 12.0, ENGLISH)]]
    assert outcome(files.pdf(page, password="secret"), "pdf").reason is Reason.PASSWORD_PROTECTED
    assert ENGLISH in article(files.pdf(page, password=""), "pdf").body
    locked = files.compound({"EncryptionInfo": b"x", "EncryptedPackage": b"x"})
    for name in ("docx", "pptx", "xlsx"):
        assert outcome(locked, name).reason is Reason.PASSWORD_PROTECTED
    assert outcome(files.doc("text\r", flags=0x0100), "doc").reason is Reason.PASSWORD_PROTECTED
    assert outcome(files.ppt([("a", "b")], token=0xF3D1C4DF), "ppt").reason is Reason.PASSWORD_PROTECTED
    book = b"\x09\x08\x10\x00" + bytes(16) + b"\x2f\x00\x04\x00" + bytes(4)
    assert outcome(files.compound({"Workbook": book}), "xls").reason is Reason.PASSWORD_PROTECTED
    data = "<manifest:file-entry><manifest:encryption-data/></manifest:file-entry>"
    assert outcome(files.opendocument("text", "<text:p>x</text:p>", data), "odt").reason is Reason.PASSWORD_PROTECTED


def test_a_scan_has_no_text_layer() -> None:
    found = outcome(files.picture_pdf(), "pdf")
    assert found.reason is Reason.NO_TEXT_LAYER
    assert found.detail == "1 page of images: a scan; apply OCR first"


def test_a_document_of_garbled_pages_has_no_article() -> None:
    found = outcome(files.pdf([garbled_lines()] * 2), "pdf")
    message = "Text garbled on 2 of 2 pages: the fonts of the file do not state their characters"
    assert (found.reason, found.detail) == (Reason.GARBLED_TEXT, message)
    assert isinstance(found.detail, Message) and found.detail.values == {"n": 2, "total": 2}
    few_words = [(72.0, 700.0, 12.0, "GM/T 0031-2014")]
    assert outcome(files.pdf([garbled_lines(), few_words]), "pdf").reason is Reason.GARBLED_TEXT
    assert outcome(files.ofd([(10, 5, text) for _, _, _, text in garbled_lines()]), "ofd").reason is Reason.GARBLED_TEXT


def test_the_warning_names_the_pages_without_readable_text() -> None:
    good = files.text_page([(72, 700, 12, ENGLISH), (72, 680, 12, CHINESE)])
    garbled = files.text_page(garbled_lines())
    data = files.pdf_of([garbled, good, files.IMAGE_PAGE, garbled, garbled, good])
    found = extract_document(data, f"{URL}.pdf")
    assert isinstance(found.result, Article) and found.warning is not None
    assert {block.page for block in found.result.blocks} == {2, 6} and "犛" not in found.result.body
    assert found.warning.reason is Reason.GARBLED_TEXT
    assert found.warning.detail == "Missing pages: 1, 3-5 of 6 (garbled text, or images without text)"
    scanned = extract_document(files.pdf_of([good, files.IMAGE_PAGE]), f"{URL}.pdf")
    assert isinstance(scanned.result, Article) and scanned.warning is not None
    assert scanned.warning == Outcome(Reason.NO_TEXT_LAYER, "Missing pages: 2 of 2 (images without text)")
    picture = files.text_page([(72, 700, 12, ENGLISH)]) + b" " + files.IMAGE_PAGE
    assert extract_document(files.pdf_of([good, picture, b""]), f"{URL}.pdf").warning is None


def test_recognized_pages_replace_pages_without_readable_text() -> None:
    good = files.text_page([(72, 700, 12, ENGLISH)])
    data = files.pdf_of([files.IMAGE_PAGE, good, files.text_page(garbled_lines())])
    assert find_unreadable_pages(data) == [1, 3]
    lines = [("Storms on the coast", 60.0, 300.0, 780.0, 750.0), (ENGLISH, 60.0, 500.0, 700.0, 688.0)]
    read_by_ocr = RecognizedPage(1, 595.0, 842.0, tuple(RecognizedLine(*line, 0.98) for line in lines))
    unread, of_good_page = RecognizedPage(3), replace(read_by_ocr, number=2)
    found = extract_document(data, f"{URL}.pdf", recognized_pages=[read_by_ocr, of_good_page, unread])
    assert isinstance(found.result, Article)
    assert (found.result.title, found.result.text_source) == ("Storms on the coast", "partly_ocr")
    assert [(block.text, block.page) for block in found.result.blocks] == [
        ("Storms on the coast", 1),
        (ENGLISH, 1),
        (ENGLISH, 2),
    ]
    assert found.warning is not None and found.warning.detail.startswith("Missing pages: 3 of 3")
    assert find_unreadable_pages(files.picture_pdf()) == [1]
    assert find_unreadable_pages(files.pdf_of([good, b""])) == []


def garbled_lines() -> list[tuple[float, float, float, str]]:
    texts = (
        "123456+,789: ; <",
        "犛犲犮狌狉犲犲犾犲犮狋狉狅狀犻犮狊犲犪犾",
        "KLM%.¾23@5-23456AB¿d、78ÀÁGH。 KLMÂ(Ã23@5",
    )
    return [(72.0, 700.0 - 20 * index, 12.0, text) for index, text in enumerate(texts)]


def test_the_reason_why_a_file_has_no_article_has_a_code() -> None:
    """The site translates the code; the text of a library stays as a value of the message."""
    word = files.docx(files.paragraph("x"))
    found = {
        "encrypted": outcome(files.pdf([[(72, 700, 12, ENGLISH)]], password="secret"), "pdf"),
        "pdf": outcome(b"%PDF-1.5\n", "pdf"),
        "zip": outcome(word[: len(word) // 2], "docx"),
        "missing": outcome(files.zipped({"OFD.xml": "<x/>"}), "ofd"),
        "empty": outcome(files.ofd([]), "ofd"),
        "depth": outcome(b"{\\rtf1" + b"{" * 2_000, "rtf"),
        "entities": outcome(files.zipped({"content.xml": '<!DOCTYPE a [<!ENTITY b "c">]><a/>'}), "odt"),
    }
    details = {name: result.detail for name, result in found.items()}
    assert all(isinstance(detail, Message) for detail in details.values())
    assert {name: detail.template for name, detail in details.items() if isinstance(detail, Message)} == {
        "encrypted": "Encrypted: password-protected", "pdf": "Damaged: {detail}", "zip": "Damaged: {detail}",
        "missing": "Damaged: {detail}", "empty": "There is no text on the page", "depth": "Nested too deep",
        "entities": "{name} declares XML entities, which are not read",
    }  # fmt: skip
    damage, part = details["pdf"], details["missing"]
    assert isinstance(damage, Message) and damage == f"Damaged: {damage.values['detail']}"
    assert isinstance(part, Message) and isinstance(part.values["detail"], Message)


@pytest.mark.parametrize("name", ["pdf", "docx", "pptx", "xlsx", "odt", "epub", "ofd", "doc", "ppt", "xls"])
def test_what_is_damaged_is_said_to_be(name: str) -> None:
    whole = {
        "pdf": b"%PDF-1.5\n", "docx": files.docx(files.paragraph("x")), "pptx": files.pptx([("x", ["y"])]),
        "xlsx": files.xlsx({"a": ""}), "odt": files.opendocument("text", ""), "epub": files.epub("x", []),
        "ofd": files.ofd([]), "doc": files.doc("x\r"), "ppt": files.ppt([]), "xls": files.compound({"Workbook": b"x"}),
    }[name]  # fmt: skip
    for data in (whole[: len(whole) // 2], whole[:40] + b"\xff" * 200, b"nothing of the kind \x00\x01"):
        assert outcome(data, name).reason in (Reason.UNPARSABLE, Reason.EMPTY_BODY, Reason.NO_TEXT_LAYER), name


def test_a_document_without_words_has_no_body() -> None:
    assert outcome(files.docx(files.paragraph(" ")), "docx").reason is Reason.NO_BODY
    assert outcome(b" \n\n ", "txt").reason in (Reason.NO_BODY, Reason.EMPTY_BODY)


# -- what is made to harm


def test_a_zip_bomb_that_is_called_a_word_file() -> None:
    bomb = files.docx("<w:p/>" * 20_000_000)
    assert len(bomb) < 1_000_000
    assert outcome(bomb, "docx").reason is Reason.TOO_LARGE
    assert outcome(files.xlsx({"a": " " * 100_000_000}), "xlsx").reason is Reason.TOO_LARGE


def test_very_many_empty_paragraphs_end_at_a_cap() -> None:
    data = files.docx(files.paragraph(ENGLISH) + "<w:p/>" * 2_000_000)
    assert "cut" in article(data, "docx").method
    rows = "<text:p>x</text:p>" * (MAX_BLOCKS + 10)
    assert len(article(files.opendocument("text", rows), "odt").blocks) == MAX_BLOCKS


def test_xml_without_bottom() -> None:
    deep = "<w:sdt>" * 200_000 + "</w:sdt>" * 200_000
    assert outcome(files.docx(files.paragraph(ENGLISH) + deep), "docx").reason is Reason.TOO_LARGE


def test_entities_are_neither_expanded_nor_fetched(tmp_path: Path) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("what nobody may read")
    laughs = "".join(f'<!ENTITY l{at} "{f"&l{at - 1};" * 10}">' for at in range(1, 12))
    heads = (
        f'<!DOCTYPE d [<!ENTITY l0 "ha">{laughs}]>',
        f'<!DOCTYPE d [<!ENTITY l11 SYSTEM "{secret.as_uri()}">]>',
    )
    for head in heads:
        data = files.docx(f"<w:p><w:r><w:t>{ENGLISH}&l11;</w:t></w:r></w:p>", head=head)
        found = outcome(data, "docx")
        assert found.reason is Reason.UNPARSABLE
        assert "entities" in found.detail


def test_macros_are_left_alone() -> None:
    macro = {"word/vbaProject.bin": files.compound({"VBA": b"Sub AutoOpen() Shell"})}
    found = article(files.docx(files.paragraph(ENGLISH), more=macro), "docm")
    assert (found.format, found.body) == ("docx", ENGLISH)


def test_filters_over_filters_and_one_cell_in_the_last_corner() -> None:
    bomb = zlib.compress(zlib.compress(bytes(300_000_000), 9), 9)
    for packed in (bomb, bomb[:-40]):  # whole, and with a fault behind its charge
        data = files.pdf_of([packed], filters="[/FlateDecode/FlateDecode]")
        assert len(data) < 5_000
        assert outcome(data, "pdf").reason is Reason.TOO_LARGE
    far = '<row r="1"><c r="A1"><v>1</v></c></row><row r="1048576"><c r="XFD1048576"><v>1</v></c></row>'
    assert article(files.xlsx({"a": far}), "xlsx").body == "a\n1\n1"
    assert outcome(files.xlsb([(0, 0, 1.0), (1_048_575, 16_383, 1.0)]), "xlsb").reason is Reason.TOO_LARGE
    old = struct.pack("<HH16x", 0x0809, 16) + struct.pack("<HHHHHd", 0x203, 14, 65_535, 255, 0, 1.0)
    assert outcome(files.compound({"Workbook": old}), "xls").reason is Reason.TOO_LARGE


def test_rtf_without_bottom() -> None:
    assert outcome(b"{\\rtf1 " + b"{" * 100_000 + b"x" + b"}" * 100_001, "rtf").reason is Reason.TOO_LARGE


def test_ten_thousand_pages_are_cut_and_not_lost() -> None:
    pages = [[(72.0, 500.0, 11.0, f"{number} ships came in, and {number * 3} left")] for number in range(10_000)]
    found = article(files.pdf(pages), "pdf")
    assert found.method == f"pdf, {MAX_PAGES:,} of 10,000 pages"
    assert found.blocks[-1].page == MAX_PAGES


@pytest.mark.shared
def test_the_hostile_files_end_in_a_limited_worker() -> None:
    folder = SHARED / "data" / "documents"
    pages = [json.loads(line) for line in (folder / "gold.jsonl").read_text(encoding="utf-8").splitlines()]
    hostile = [page for page in pages if page["outcome"] in ("hostile", "encrypted", "no_text")]
    assert len(hostile) > 20
    process = WorkerProcess(Limits(seconds=60.0, megabytes=1_024), preload=["extractor.documents.reader"])
    try:
        for page in hostile:
            found = process.call(read_document, (folder / page["file"]).read_bytes(), f"http://a.test/{page['file']}")
            if page["outcome"] == "encrypted":
                assert isinstance(found, Outcome) and found.reason is Reason.PASSWORD_PROTECTED, page["id"]
            if page["outcome"] == "no_text":
                assert isinstance(found, Outcome) and found.reason is Reason.NO_TEXT_LAYER, page["id"]
    finally:
        process.close()


def test_the_images_of_a_scanned_ofd_are_left_to_ocr() -> None:
    scan = files.ofd_of([files.ofd_image(0), files.ofd_image(0)], [b"an image"])
    found = outcome(scan, "ofd")
    assert found.reason is Reason.NO_TEXT_LAYER and str(found.detail).startswith("2 pages of images")
    assert ofd.find_unreadable_pages(scan) == [1, 2]
    width, height, (image,) = ofd.read_images(scan, 2)
    assert (round(width), round(height)) == (595, 842) and image.data == b"an image"
    assert (image.x, image.y, image.width, image.height) == (0, 0, width, height)

    text = files.ofd_text([(20 + 8 * row, 5, f"{row} {ENGLISH}") for row in range(3)])
    mixed = files.ofd_of([text, files.ofd_image(0), files.ofd_image(0, "20 20 30 30")], [b"an image"])
    assert ofd.find_unreadable_pages(mixed) == [2], "a small image is no scan"
    lines = (RecognizedLine("The lower lock is closed until the spring.", 60, 400, 760, 746, 0.98),)
    reading = extract_document(mixed, f"{URL}.ofd", recognized_pages=[RecognizedPage(2, width, height, lines)])
    assert isinstance(reading.result, Article) and reading.result.text_source == "partly_ocr"
    assert "The lower lock is closed" in reading.result.body and reading.warning is None
    assert extract_document(mixed, f"{URL}.ofd").warning == Outcome(
        Reason.NO_TEXT_LAYER, "Missing pages: 2 of 3 (images without text)"
    )


def test_an_xlsb_sheet_within_the_cell_limit_is_read() -> None:
    found = article(files.xlsb([(0, 0, 2_026.0), (0, 1, 4_711.0), (900, 2, 815.0)]), "xlsb")
    assert found.blocks[1].text == "2026\t4711" and found.blocks[-1].text.endswith("815")


def test_an_xlsb_file_of_another_layout_is_unsupported_and_not_damaged() -> None:
    """A prerelease of Excel 2007 wrote four bytes more before the id of each sheet."""
    sheet = struct.pack("<IIII", 0, 0, 1, 4) + "rId1".encode("utf-16-le") + struct.pack("<I", 1) + b"A\x00"
    workbook = b"\x8f\x01\x00\x9c\x01" + bytes([len(sheet)]) + sheet + b"\x90\x01\x00"
    relations = files.relations(("rId1", "worksheet", "worksheets/sheet1.bin"))
    data = files.zipped({"xl/workbook.bin": workbook, "xl/_rels/workbook.bin.rels": relations})
    found = outcome(data, "xlsb")
    assert found.reason is Reason.UNPARSABLE and str(found.detail).startswith("unsupported variant")
