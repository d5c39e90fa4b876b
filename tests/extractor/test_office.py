"""What documents display: numbers of paragraphs, formats of cells, formulas; and what they hide."""

import codecs
import io
import zipfile
from collections.abc import Mapping

import pytest

from domain.article import Article, BlockKind
from domain.outcome import Outcome, Reason
from extractor.documents.content import join_spaced_letters
from extractor.documents.office.counting import format_count
from extractor.documents.office.formulas import eq_field_text
from extractor.documents.office.number_format import format_cell_value
from extractor.documents.office.spreadsheet import column_bits
from extractor.documents.reader import extract_document
from tests.extractor import document_files as files

R = f'xmlns:r="{files.OFFICE}"'
MC = 'xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006"'
M = 'xmlns:m="http://schemas.openxmlformats.org/officeDocument/2006/math"'
FRACTION = (
    f"<m:oMath {M}><m:r><m:t>Q=k</m:t></m:r><m:f><m:num><m:r><m:t>ΔP</m:t></m:r></m:num>"
    "<m:den><m:r><m:t>a+b</m:t></m:r></m:den></m:f></m:oMath>"
)
MATHML = (
    '<math xmlns="http://www.w3.org/1998/Math/MathML"><semantics><mrow><mi>Q</mi><mo>=</mo>'
    "<mfrac><mi>k</mi><mi>L</mi></mfrac></mrow><annotation>Q = k over L</annotation></semantics></math>"
)
CHART = (
    '<c:chartSpace xmlns:c="http://schemas.openxmlformats.org/drawingml/2006/chart" '
    'xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main">'
    "<c:title><c:tx><c:rich><a:p><a:r><a:t>三季度产量</a:t></a:r></a:p></c:rich></c:tx></c:title>"
    "<c:ser><c:tx><c:strRef><c:strCache><c:pt><c:v>原油</c:v></c:pt></c:strCache></c:strRef></c:tx>"
    "<c:cat><c:strRef><c:strCache><c:pt><c:v>华北作业区</c:v></c:pt></c:strCache></c:strRef></c:cat>"
    "<c:val><c:numRef><c:numCache><c:pt><c:v>4711</c:v></c:pt></c:numCache></c:numRef></c:val></c:ser></c:chartSpace>"
)
CHART_LINES = ["三季度产量", "原油", "华北作业区"]


def body(data: bytes, name: str) -> str:
    found = extract_document(data, f"http://library.test/a.{name}").result
    assert isinstance(found, Article), found
    return found.body


def lines(data: bytes, name: str) -> list[str]:
    return body(data, name).split("\n")


def warning(data: bytes, name: str) -> Outcome:
    result = extract_document(data, f"http://library.test/a.{name}")
    assert isinstance(result.result, Article), result.result
    assert result.warning is not None
    return result.warning


def unzipped(data: bytes) -> dict[str, str | bytes]:
    with zipfile.ZipFile(io.BytesIO(data)) as file:
        return {name: file.read(name).decode() for name in file.namelist()}


def edited(data: bytes, part: str, old: str, new: str) -> bytes:
    """Return a zip file with a text of one part replaced."""
    parts = unzipped(data)
    assert old in str(parts[part])
    return files.zipped(parts | {part: str(parts[part]).replace(old, new, 1)})


# -- Word


def word(
    text: str, numbering: str = "", more: Mapping[str, str | bytes] | None = None, *relations: tuple[str, str]
) -> bytes:
    """Return a Word file with a part for numbering and further relationships (kind, target)."""
    kinds = (("styles", "styles.xml"), ("footnotes", "footnotes.xml"), ("numbering", "numbering.xml"), *relations)
    rels = files.relations(*((f"r{at}", *relation) for at, relation in enumerate(kinds, 1)))
    part = f'<w:numbering xmlns:w="{files.W}">{numbering}</w:numbering>'
    return files.docx(text, more={"word/_rels/document.xml.rels": rels, "word/numbering.xml": part, **(more or {})})


def numbering(*levels: tuple[str, str], extra: str = "", more: str = "") -> str:
    """Return a list 1 with levels of (format, text); `extra` is put into each level, `more` after the list."""
    rows = "".join(
        f'<w:lvl w:ilvl="{at}"><w:start w:val="1"/><w:numFmt w:val="{kind}"/><w:lvlText w:val="{text}"/>{extra}</w:lvl>'
        for at, (kind, text) in enumerate(levels)
    )
    lists = '<w:num w:numId="1"><w:abstractNumId w:val="0"/></w:num>'
    return f'<w:abstractNum w:abstractNumId="0">{rows}</w:abstractNum>{lists}{more}'


def item(text: str, level: int = 0, number: int = 1) -> str:
    return files.paragraph(text, extra=f'<w:numPr><w:ilvl w:val="{level}"/><w:numId w:val="{number}"/></w:numPr>')


def test_the_articles_of_a_regulation_have_their_numbers() -> None:
    levels = numbering(
        ("chineseCountingThousand", "第%1章"), ("chineseCounting", "第%2条"), extra='<w:lvlRestart w:val="0"/>'
    )
    text = item("总则") + item("目的", 1) + item("范围", 1) + item("罚则") + item("违反本条例", 1)
    assert lines(word(text, levels), "docx") == [
        "第一章 总则",
        "第一条 目的",
        "第二条 范围",
        "第二章 罚则",
        "第三条 违反本条例",
    ]


def test_levels_restart_and_lists_continue_or_restart_as_they_say() -> None:
    outline = numbering(("decimal", "%1"), ("decimal", "%1.%2"), ("decimal", "%1.%2.%3"))
    text = item("a") + item("b", 1) + item("c", 2) + item("d", 2) + item("e", 1) + item("f", 2)
    assert lines(word(text, outline), "docx") == ["1 a", "1.1 b", "1.1.1 c", "1.1.2 d", "1.2 e", "1.2.1 f"]
    second = (
        '<w:num w:numId="2"><w:abstractNumId w:val="0"/></w:num><w:num w:numId="3"><w:abstractNumId w:val="0"/>'
        '<w:lvlOverride w:ilvl="0"><w:startOverride w:val="1"/></w:lvlOverride></w:num>'
    )
    text = item("图集") + item("表集") + item("续", number=2) + item("新", number=3) + item("次", number=3)
    found = lines(word(text, numbering(("upperLetter", "附录 %1"), more=second)), "docx")
    assert found == ["附录 A 图集", "附录 B 表集", "附录 C 续", "附录 A 新", "附录 B 次"]
    legal = numbering(("upperRoman", "%1"), ("decimal", "%1.%2"), extra="<w:isLgl/>")
    assert lines(word(item("点") + item("法", 1), legal), "docx") == ["1 点", "1.1 法"]


def test_a_heading_style_and_the_cells_of_a_column_are_numbered() -> None:
    style = (
        f'<w:styles xmlns:w="{files.W}"><w:style w:type="paragraph" w:styleId="h"><w:name w:val="heading 2"/><w:pPr>'
        '<w:numPr><w:numId w:val="1"/></w:numPr></w:pPr></w:style></w:styles>'
    )
    linked = numbering(("chineseCounting", "第%1章"), ("decimal", "%2.")).replace(
        '<w:lvlText w:val="%2."/>', '<w:lvlText w:val="%2."/><w:pStyle w:val="h"/><w:suff w:val="nothing"/>'
    )
    found = extract_document(word(files.paragraph("概述", "h"), linked, {"word/styles.xml": style}), "a.docx").result
    assert isinstance(found, Article)
    assert [(block.kind, block.text) for block in found.blocks] == [(BlockKind.HEADING, "1.概述")]
    cells = "".join(
        f"<w:tr><w:tc>{item('')}</w:tc><w:tc>{files.paragraph(name)}</w:tc></w:tr>" for name in ("甲", "乙")
    )
    assert lines(word(f"<w:tbl>{cells}</w:tbl>", numbering(("decimal", "%1"))), "docx") == ["1 甲", "2 乙"]


def test_bullets_and_unknown_lists_have_no_number() -> None:
    found = extract_document(
        word(item("点") + item("未知", number=9), numbering(("bullet", "\uf0b7"))), "a.docx"
    ).result
    assert isinstance(found, Article)
    assert [(block.kind, block.text) for block in found.blocks] == [
        (BlockKind.LIST_ITEM, "点"),
        (BlockKind.LIST_ITEM, "未知"),
    ]


@pytest.mark.parametrize(
    ("number", "system", "text"),
    [
        (10, "chineseCounting", "十"),
        (105, "chineseCountingThousand", "一百零五"),
        (1010, "chineseCounting", "一千零一十"),
        (12, "chineseLegalSimplified", "壹拾贰"),
        (2024, "ideographDigital", "二〇二四"),
        (3, "ideographTraditional", "丙"),
        (27, "lowerLetter", "aa"),
        (1994, "upperRoman", "MCMXCIV"),
        (12, "decimalEnclosedCircle", "⑫"),
        (7, "decimalZero", "07"),
        (7, "001, 002, 003, ...", "007"),
        (0, "upperRoman", "0"),
        (5, "cardinalText", "5"),
        (10**9, "lowerRoman", "1000000000"),
    ],
)
def test_counting_systems(number: int, system: str, text: str) -> None:
    assert format_count(number, system) == text


def test_formulas_are_part_of_their_sentence() -> None:
    sub = (
        f"<m:oMath {M}><m:sSub><m:e><m:r><m:t>H</m:t></m:r></m:e>"
        f"<m:sub><m:r><m:t>2</m:t></m:r></m:sub></m:sSub></m:oMath>"
    )
    text = (
        f"<w:p><w:r><w:t>按</w:t></w:r>{FRACTION}<w:r><w:t>计算，产物为</w:t></w:r>{sub}<w:r><w:t>。</w:t></w:r></w:p>"
    )
    assert body(files.docx(text), "docx") == "按Q=kΔP/(a+b)计算，产物为H2。"
    field = "".join(
        f"<w:r>{part}</w:r>"
        for part in (
            "<w:t>其中</w:t>",
            '<w:fldChar w:fldCharType="begin"/>',
            r"<w:instrText> EQ \f(1,2) </w:instrText>",
            '<w:fldChar w:fldCharType="end"/>',
            "<w:t>为常数</w:t>",
        )
    )
    assert body(files.docx(f"<w:p>{field}</w:p>"), "docx") == "其中1/2为常数"
    assert (
        body(files.doc("Half is \x13 EQ \\f(1,2) \x15, a \x13 PAGE \x14constant\x15.\r"), "doc")
        == "Half is 1/2, a constant."
    )
    odt = files.opendocument(
        "text",
        '<text:p>按<draw:frame><draw:object xlink:href="./Object 1"/></draw:frame>计算。</text:p>',
        more={"Object 1/content.xml": MATHML},
    )
    assert body(odt, "odt") == "按Q=k/L计算。"
    book = files.epub("手册", [f"<html><body><p>按{MATHML}计算流量，其中各量的单位见下表。</p></body></html>"])
    assert body(book, "epub") == "按Q=k/L计算流量，其中各量的单位见下表。"


@pytest.mark.parametrize(
    ("instruction", "text"),
    [
        (r"EQ \f(a+1,b)", "(a+1)/b"),
        (r"EQ \r(3,x)", "3√x"),
        (r"eq m\s\up 6(3)", "m^3"),
        (r'HYPERLINK "x"', ""),
        (r'EQ \* jc2 \* "Font:宋体" \* hps10 \o\ad(\s\up 9(lǚ),铝)', "铝"),
        (r"EQ \o\ac(○,1)", "1"),
        (r"EQ \f(a\,b,c)", "a,b/c"),
    ],
)
def test_the_fields_of_formulas(instruction: str, text: str) -> None:
    assert eq_field_text(instruction) == text


def test_binomials_and_scripts_before_a_letter_are_no_fractions_and_products() -> None:
    run = "<m:r><m:t>{}</m:t></m:r>"
    parts = f"<m:num>{run.format('n')}</m:num><m:den>{run.format('k')}</m:den>"
    binomial = f'<m:d><m:e><m:f><m:fPr><m:type m:val="noBar"/></m:fPr>{parts}</m:f></m:e></m:d>'
    scripts = f"<m:sub>{run.format('6')}</m:sub><m:sup>{run.format('14')}</m:sup><m:e>{run.format('C')}</m:e>"
    text = f"<w:p><m:oMath {M}>{binomial}<m:sPre>{scripts}</m:sPre></m:oMath></w:p>"
    assert body(files.docx(text), "docx") == "(n; k)^14_6C"


def test_a_deep_formula_ends() -> None:
    assert eq_field_text("EQ " + r"\f(" * 10_000).count("(") < 10_000


def test_one_of_several_alternatives_is_read_also_in_cells() -> None:
    box = "<w:txbxContent><w:p><w:r><w:t>泄压阀编号乙三</w:t></w:r></w:p></w:txbxContent>"
    both = (
        f"<mc:AlternateContent {MC}><mc:Choice>{box}</mc:Choice><mc:Fallback>{box}</mc:Fallback></mc:AlternateContent>"
    )
    anchored = f"<w:p><w:r><w:t>左格</w:t></w:r><w:r>{both}</w:r></w:p>"
    row = f"<w:tbl><w:tr><w:tc>{anchored}</w:tc><w:tc>{files.paragraph('右格')}</w:tc></w:tr></w:tbl>"
    assert lines(files.docx(anchored + row), "docx") == ["左格", "泄压阀编号乙三", "左格 泄压阀编号乙三 右格"]
    choices = "".join(f"<mc:Choice><w:t>{text}</w:t></mc:Choice>" for text in ("分支甲", "分支乙"))
    text = (
        f"<w:p><w:r><mc:AlternateContent {MC}>{choices}<mc:Fallback>"
        f"<w:t>分支丙</w:t></mc:Fallback></mc:AlternateContent></w:r></w:p>"
    )
    assert body(files.docx(text), "docx") == "分支甲"
    slide = edited(
        files.pptx([("流量公式", ["甲"])]),
        "ppt/slides/slide1.xml",
        "<a:r><a:t>甲</a:t></a:r>",
        f"<mc:AlternateContent {MC}><mc:Choice>{FRACTION}</mc:Choice>"
        f"<mc:Fallback><a:r><a:t>图片替代</a:t></a:r></mc:Fallback>"
        "</mc:AlternateContent>",
    )
    assert lines(slide, "pptx") == ["流量公式", "Q=kΔP/(a+b)"]


def test_nested_tables_are_read_once() -> None:
    inner = files.table([["内一", "内二"]])
    outer = (
        f"<w:tbl><w:tr><w:tc>{files.paragraph('外一')}{inner}</w:tc>"
        f"<w:tc>{files.paragraph('外二')}</w:tc></w:tr></w:tbl>"
    )
    assert body(files.docx(outer), "docx") == "外一 内一 内二 外二"
    cell = "<table:table-cell><text:p>{}</text:p>{}</table:table-cell>"
    nested = (
        f"<table:table><table:table-row>{cell.format('内一', '')}{cell.format('内二', '')}"
        f"</table:table-row></table:table>"
    )
    rows = f"<table:table-row>{cell.format('外一', nested)}{cell.format('外二', '')}</table:table-row>"
    assert body(files.opendocument("text", f"<table:table>{rows}</table:table>"), "odt") == "外一 内一 内二 外二"


MHTML = (
    b"MIME-Version: 1.0\r\nContent-Type: multipart/related;"
    b' boundary="b"\r\n\r\n--b\r\nContent-Type: text/html; charset="utf-8"\r\n'
    b"Content-Transfer-Encoding: quoted-printable\r\n\r\n<html><body>"
    b"<p>=E5=A4=87=E7=94=A8=E6=B3=B5</p></body></html>\r\n--b--\r\n"
)


@pytest.mark.parametrize(
    ("name", "chunk"),
    [
        ("a.html", "<html><head><meta charset='utf-8'></head><body><p>备用泵</p></body></html>".encode()),
        (
            "a.xhtml",
            "<?xml version='1.0'?><html xmlns='http://www.w3.org/1999/xhtml'><body><p>备用泵</p></body></html>".encode(),
        ),
        ("a.mht", MHTML),
        ("a.docx", files.docx(files.paragraph("备用泵"))),
        ("a.txt", "备用泵".encode()),
        ("a.rtf", rb"{\rtf1\ansi\ansicpg936 \'b1\'b8\'d3\'c3\'b1\'c3\par}"),
    ],
)
def test_files_embedded_as_text_are_read_in_their_place(name: str, chunk: bytes) -> None:
    text = files.paragraph("正文在此") + f'<w:altChunk {R} r:id="r4"/>' + files.paragraph("尾段在此")
    assert lines(word(text, "", {f"word/{name}": chunk}, ("aFChunk", name)), "docx") == [
        "正文在此",
        "备用泵",
        "尾段在此",
    ]


def test_a_missing_embedded_file_is_reported() -> None:
    found = warning(
        word(files.paragraph("正文在此") + f'<w:altChunk {R} r:id="r4"/>', "", {}, ("aFChunk", "a.html")), "docx"
    )
    assert found.reason is Reason.INCOMPLETE_BODY
    assert "word/a.html" in found.detail


def test_phonetic_guides_do_not_split_words() -> None:
    ruby = (
        "<w:r><w:ruby><w:rt><w:r><w:t>lǚ</w:t></w:r></w:rt>"
        "<w:rubyBase><w:r><w:t>铝</w:t></w:r></w:rubyBase></w:ruby></w:r>"
    )
    assert body(files.docx(f"<w:p>{ruby}<w:r><w:t>合金钻杆</w:t></w:r></w:p>"), "docx") == "铝合金钻杆"
    text = (
        "<text:p><text:ruby><text:ruby-base>铝</text:ruby-base>"
        "<text:ruby-text>lǚ</text:ruby-text></text:ruby>合金钻杆</text:p>"
    )
    assert body(files.opendocument("text", text), "odt") == "铝合金钻杆"
    book = files.epub(
        "手册", ["<html><body><p><ruby>铝<rp>(</rp><rt>lǚ</rt><rp>)</rp></ruby>合金钻杆的强度较高。</p></body></html>"]
    )
    assert body(book, "epub") == "铝合金钻杆的强度较高。"
    sheet = (
        '<row r="1"><c r="A1" t="inlineStr"><is><r><t>铝合金</t></r><rPh sb="0" eb="1"><t>lǚ</t></rPh></is></c></row>'
    )
    assert lines(files.xlsx({"表": sheet}), "xlsx") == ["表", "铝合金"]
    field = (
        rb"{\rtf1\ansi\ansicpg936 {\field{\*\fldinst EQ \\o\\ad(\\s\\up"
        rb" 9(lv),\'c2\'c1)}{\fldrslt }}\'ba\'cf\'bd\'f0\'d7\'ea\'b8\'cb\par}"
    )
    assert body(field, "rtf") == "铝合金钻杆"


def test_comments_and_notes_do_not_split_words() -> None:
    note = (
        "<text:note><text:note-citation>1</text:note-citation>"
        "<text:note-body><text:p>数据截至上月末。</text:p></text:note-body></text:note>"
    )
    comment = "<office:annotation><text:p>批注</text:p></office:annotation>"
    text = f"<text:p>产能建设{note}方案{comment}已经批准。</text:p>"
    assert lines(files.opendocument("text", text), "odt") == ["产能建设方案已经批准。", "数据截至上月末。"]
    cell = (
        f"<table:table><table:table-row><table:table-cell>{comment}<text:p>西平七井"
        f"</text:p></table:table-cell></table:table-row></table:table>"
    )
    assert body(files.opendocument("spreadsheet", cell), "ods") == "西平七井"
    chapter = '<html><body><p>产能建设<a epub:type="noteref" href="#n"><sup>1</sup></a>方案已经批准，数据截至上月末。</p></body></html>'  # noqa: E501
    assert body(files.epub("手册", [chapter]), "epub").startswith("产能建设方案已经批准")
    source = (
        r"{\rtf1\ansi plan{\super\chftn}{\footnote{\super\chftn} As of May.}{\*\annotation remark}ning is done.\par}"
    )
    assert lines(source.encode(), "rtf") == ["planning is done.", "As of May."]


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("docx", word(files.paragraph("正文"), "", {"word/charts/chart1.xml": CHART}, ("chart", "charts/chart1.xml"))),
        (
            "pptx",
            files.zipped(
                unzipped(files.pptx([("正文", [])]))
                | {
                    "ppt/slides/_rels/slide1.xml.rels": files.relations(("c", "chart", "../charts/chart1.xml")),
                    "ppt/charts/chart1.xml": CHART,
                }
            ),
        ),
        (
            "xlsx",
            files.zipped(
                unzipped(files.xlsx({"正文": '<row r="1"><c r="A1"><v>1</v></c></row>'}))
                | {
                    "xl/worksheets/_rels/sheet1.xml.rels": files.relations(
                        ("d", "drawing", "../drawings/drawing1.xml")
                    ),
                    "xl/drawings/drawing1.xml": '<x xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"/>',
                    "xl/drawings/_rels/drawing1.xml.rels": files.relations(("c", "chart", "../charts/chart1.xml")),
                    "xl/charts/chart1.xml": CHART,
                }
            ),
        ),
    ],
)
def test_the_titles_and_categories_of_charts_are_text(name: str, data: bytes) -> None:
    found = lines(data, name)
    assert found[0] == "正文"
    assert found[-3:] == CHART_LINES


def test_a_chart_of_opendocument_is_text() -> None:
    cells = "".join(f"<table:table-cell><text:p>{text}</text:p></table:table-cell>" for text in ("华北作业区", "4711"))
    chart = (
        "<office:document-content NAMES><office:body><office:chart><chart:chart><chart:title><text:p>三季度产量</text:p>"  # noqa: E501
        f"</chart:title><table:table><table:table-row>{cells}"
        f"</table:table-row></table:table></chart:chart></office:chart>"
        "</office:body></office:document-content>"
    )
    frame = '<text:p>见图<draw:frame><draw:object xlink:href="./Object 1"/></draw:frame></text:p>'
    data = files.opendocument("text", frame, more={"Object 1/content.xml": chart})
    assert lines(data, "odt") == ["见图", "三季度产量", "华北作业区 4711"]


# -- OpenDocument


def test_the_lists_and_headings_of_opendocument_have_their_numbers() -> None:
    style = (
        '<text:list-style style:name="L1"><text:list-level-style-number text:level="1" style:num-format="一, 二, 三, ..." '  # noqa: E501
        'style:num-prefix="第" style:num-suffix="条"/><text:list-level-style-number text:level="2" style:num-format="1" '  # noqa: E501
        'style:num-list-format="（%2%）"/></text:list-style>'
        '<text:outline-style><text:outline-level-style text:level="1" style:num-format="1"/><text:outline-level-style '
        'text:level="2" style:num-format="1" text:display-levels="2"/></text:outline-style>'
    )
    entry = "<text:list-item><text:p>{}</text:p>{}</text:list-item>"
    inner = f"<text:list>{entry.format('子', '')}</text:list>"
    text = (
        '<text:h text:outline-level="1">总则</text:h><text:h text:outline-level="2">目的</text:h>'
        '<text:h text:outline-level="1" text:is-list-header="true">附</text:h><text:h text:outline-level="1">附则</text:h>'  # noqa: E501
        f'<text:list text:style-name="L1">{entry.format("甲", "<text:p>续段</text:p>" + inner)}{entry.format("乙", "")}'
        f"</text:list>"
        f'<text:p>间</text:p><text:list text:style-name="L1"'
        f' text:continue-numbering="true">{entry.format("丙", "")}</text:list>'
        f'<text:list text:style-name="L1">{entry.format("新", "")}</text:list>'
    )
    assert lines(files.opendocument("text", text, styles=style), "odt") == [
        "1 总则",
        "1.1 目的",
        "附",
        "2 附则",
        "第一条 甲",
        "续段",
        "（1） 子",
        "第二条 乙",
        "间",
        "第三条 丙",
        "第一条 新",
    ]


def test_a_list_without_a_style_does_not_end_the_numbers_of_others() -> None:
    style = (
        '<text:list-style style:name="L1"><text:list-level-style-number text:level="1" style:num-format="1" '
        'style:num-suffix="."/></text:list-style>'
    )
    entry = "<text:list-item><text:p>{}</text:p></text:list-item>"
    text = (
        f'<text:list>{entry.format("甲")}</text:list><text:list text:style-name="L1">{entry.format("乙")}</text:list>'
    )
    assert lines(files.opendocument("text", text, styles=style), "odt") == ["甲", "1. 乙"]


# -- hidden text


def test_a_style_may_show_again_what_its_base_hides() -> None:
    styles = (
        f'<w:styles xmlns:w="{files.W}"><w:style w:styleId="V"><w:rPr><w:vanish/></w:rPr></w:style>'
        '<w:style w:styleId="V2"><w:basedOn w:val="V"/><w:rPr><w:vanish w:val="0"/></w:rPr></w:style>'
        '<w:style w:styleId="V3"><w:basedOn w:val="V"/></w:style></w:styles>'
    )
    text = files.paragraph("暗", "V") + files.paragraph("明文", "V2") + files.paragraph("暗", "V3")
    assert body(files.docx(text, more={"word/styles.xml": styles}), "docx") == "明文"


@pytest.mark.parametrize(
    ("mark", "run"),
    [
        ("<w:del/>", "<w:del><w:r><w:delText>去</w:delText></w:r></w:del>"),
        ("<w:moveFrom/>", "<w:moveFrom><w:r><w:t>去</w:t></w:r></w:moveFrom>"),
        ("<w:vanish/>", "<w:r><w:rPr><w:vanish/></w:rPr><w:t>去</w:t></w:r>"),
    ],
)
def test_a_deleted_or_hidden_paragraph_is_not_counted(mark: str, run: str) -> None:
    number = '<w:numPr><w:numId w:val="1"/></w:numPr>'
    gone = f"<w:p><w:pPr>{number}<w:rPr>{mark}</w:rPr></w:pPr>{run}</w:p>"
    data = word(item("甲") + gone + item("乙"), numbering(("decimal", "%1.")))
    assert lines(data, "docx") == ["1. 甲", "2. 乙"]


def test_hidden_columns_are_read_in_bounded_work() -> None:
    ranges = '<col min="1" max="16384" hidden="1"/>' * 3
    assert [column_bits(2, 3), column_bits(3, 2), column_bits(1, 10**7).bit_length()] == [0b1100, 0, 16_385]
    data = files.xlsx(
        {"明": '<row r="1"><c r="A1"><v>1</v></c></row>', "乙": '<row r="1"><c r="A1"><v>2</v></c></row>'}
    )
    data = edited(data, "xl/worksheets/sheet1.xml", "<sheetData>", f"<cols>{ranges}</cols><sheetData>")
    assert lines(data, "xlsx") == ["乙", "2"]
    columns = '<table:table-column table:number-columns-repeated="1000" table:visibility="collapse"/>' * 2_000
    cells = "".join(
        f'<table:table-cell table:number-columns-repeated="{count}"><text:p>{text}</text:p></table:table-cell>'
        for count, text in ((16_384, "暗"), (1, "明"))
    )
    sheet = f"<table:table>{columns}<table:table-row>{cells}</table:table-row></table:table>"
    assert body(files.opendocument("spreadsheet", sheet), "ods") == "明"


def test_hidden_text_is_left_out_of_every_format() -> None:
    hidden_run = "<w:r><w:rPr><w:vanish/></w:rPr><w:t>暗</w:t></w:r>"
    assert body(files.docx(f"<w:p>{hidden_run}<w:r><w:t>明文</w:t></w:r></w:p>"), "docx") == "明文"
    row = (
        f"<w:tr><w:trPr><w:hidden/></w:trPr><w:tc>{files.paragraph('暗')}"
        f"</w:tc><w:tc>{files.paragraph('暗')}</w:tc></w:tr>"
    )
    assert body(files.docx(files.paragraph("明文") + f"<w:tbl>{row}</w:tbl>"), "docx") == "明文"
    styles = (
        '<style:style style:name="H"><style:text-properties text:display="none"/></style:style>'
        '<style:style style:name="I" style:parent-style-name="H"/>'
        '<style:style style:name="T"><style:table-properties table:display="false"/></style:style>'
        '<style:style style:name="D"><style:drawing-page-properties presentation:visibility="hidden"/></style:style>'
    )
    text = (
        '<text:p>明<text:span text:style-name="I">暗</text:span>文</text:p><text:p text:style-name="H">暗</text:p>'
        '<text:section text:display="none"><text:p>暗</text:p></text:section>'
        '<text:p>暗<text:hidden-paragraph text:is-hidden="true"/></text:p>'
    )
    assert body(files.opendocument("text", text, styles=styles), "odt") == "明文"
    cell = "<table:table-cell><text:p>{}</text:p></table:table-cell>"
    sheets = (
        '<table:table><table:table-column/><table:table-column table:visibility="collapse"/><table:table-row>'
        f"{cell.format('明文')}{cell.format('暗')}</table:table-row>"
        f'<table:table-row table:visibility="filter">{cell.format("暗")}'
        f'</table:table-row></table:table><table:table table:style-name="T">'
        f"<table:table-row>{cell.format('暗')}</table:table-row></table:table>"
    )
    assert body(files.opendocument("spreadsheet", sheets, styles=styles), "ods") == "明文"
    page = "<draw:page{}><draw:frame><draw:text-box><text:p>{}</text:p></draw:text-box></draw:frame></draw:page>"
    slides = page.format(' draw:style-name="D"', "暗") + page.format("", "明文")
    assert body(files.opendocument("presentation", slides, styles=styles), "odp") == "明文"
    assert body(rb"{\rtf1\ansi\v dark\v0 clear{\v dark} text{\deleted dark}\par}", "rtf") == "clear text"
    chapter = "<html><body><p hidden=''>暗</p><p style='display: none'>暗</p><p>明文在这一章里。</p></body></html>"
    assert body(files.epub("手册", [chapter]), "epub") == "明文在这一章里。"


def test_hidden_sheets_rows_columns_and_slides_are_left_out() -> None:
    rows = (
        '<row r="1"><c r="A1"><v>1</v></c><c r="B1"><v>2222</v></c>'
        '</row><row r="2" hidden="1"><c r="A2"><v>2222</v></c></row>'
        '<row r="3"><c r="A3"><v>3</v></c></row>'
    )
    data = files.xlsx({"明": rows, "暗": '<row r="1"><c r="A1"><v>2222</v></c></row>'})
    data = edited(data, "xl/workbook.xml", 'name="暗"', 'name="暗" state="veryHidden"')
    data = edited(
        data, "xl/worksheets/sheet1.xml", "<sheetData>", '<cols><col min="2" max="2" hidden="1"/></cols><sheetData>'
    )
    assert lines(data, "xlsx") == ["明", "1", "3"]
    shown = files.pptx([("标题一", ["正文甲"]), ("标题二", ["正文乙"])])
    assert lines(edited(shown, "ppt/slides/slide1.xml", "<p:sld ", '<p:sld show="0" '), "pptx") == ["标题二", "正文乙"]
    shape = edited(shown, "ppt/slides/slide1.xml", "<p:sp><p:nvSpPr>", '<p:sp><p:nvSpPr><p:cNvPr hidden="1"/>')
    assert lines(shape, "pptx") == ["正文甲", "标题二", "正文乙"]
    old = files.ppt([("First", "one"), ("Second", "two")], hidden=(0,))
    assert lines(old, "ppt") == ["Second", "two"]
    assert body(files.doc("Shown hidden text.\r", hidden=(6, 13)), "doc") == "Shown text."


# -- cells


@pytest.mark.parametrize(
    ("value", "code", "text"),
    [
        (0.035, "0.0%", "3.5%"),
        (0.12, "0%", "12%"),
        (1.0, "000000", "000001"),
        (12345678901.25, "#,##0.00", "12,345,678,901.25"),
        (1234.5, '"￥"#,##0.00', "￥1,234.50"),
        (1234.5, "[$¥-804]#,##0.00", "¥1,234.50"),
        (-40.0, '0"℃"', "-40℃"),
        (1.101011990010112e17, "0", "110101199001011000"),
        (1.101011990010112e17, "General", "110101199001011000"),
        (0.25, "# ?/?", "1/4"),
        (5.25, "# ??/16", "5 4/16"),
        (1.5e-7, "0.00E+00", "1.50E-07"),
        (35000000.0, '0!.0,"万"', "3500.0万"),
        (13800000000.0, "000-0000-0000", "138-0000-0000"),
        (-1234.5, "#,##0.00_);(#,##0.00)", "(1,234.50)"),
        (0.0, '0;-0;"-"', "-"),
        (5.0, ";;;", ""),
        ("暗", ";;;", ""),
        ("7", '"编号"@', "编号7"),
        ("甲", "0.00", "甲"),
        (0.1 + 0.2, "General", "0.3"),
        (1e300, "0", "1" + "0" * 300),
        (150.0, '[>=100]"高";"低"', "高"),
        (50.0, '[>=100]"高";"低"', "低"),
        (1.005, "0.00", "1.01"),
        (-0.001, "0", "0"),
        (45413.0, 'yyyy"年"m"月"d"日"', "2024年5月1日"),
        (45413.5, "[$-804]yyyy/m/d h:mm AM/PM;@", "2024/5/1 12:00 PM"),
        (45413.0, "[DBNum1]yyyy年m月d日", "二〇二四年五月一日"),
        (45413.0, "mmm d, yyyy", "May 1, 2024"),
        (45413.0, "aaaa", "星期三"),
        (1.5, "[h]:mm:ss", "36:00:00"),
        (0.5, '上午/下午h"时"mm"分"', "下午12时00分"),
        (123.0, '[DBNum2]G/通用格式"元"', "壹佰贰拾叁元"),
        (59.0, "yyyy-mm-dd", "1900-02-28"),
        (61.0, "yyyy-mm-dd", "1900-03-01"),
        (-1.0, "yyyy", "-1"),
        (1234567.0, '0.0,,"M"', "1.2M"),
        (1.5, ".00", "1.50"),
        (1.035, ".00%", "103.50%"),
        (1.5, '"¥".00', "¥1.50"),
        (5000.0, '#,##0"元"/"月"', "5,000元/月"),
        (3.5, '0.00"元"/"吨"', "3.50元/吨"),
        (3.5, "$0.00/kg", "$3.50/kg"),
        (0.25, "# ? / ?", "1/4"),
        (5.0, "00,000", "00,005"),
        (1234567.0, "00,000", "1,234,567"),
        (2958465.9999999, "yyyy-mm-dd", "2958466"),
        (float("inf"), "0.00", "INF"),
    ],
)
def test_a_cell_is_shown_with_its_format(value: float | str, code: str, text: str) -> None:
    assert format_cell_value(value, code) == text


def test_the_cells_of_a_workbook_are_written_as_displayed() -> None:
    styles = (
        '<styleSheet><numFmts><numFmt numFmtId="164" formatCode="0.0%"/></numFmts>'
        '<cellXfs><xf numFmtId="0"/><xf numFmtId="164"/><xf numFmtId="14"/>'
        '<xf numFmtId="31"/><xf numFmtId="4"/></cellXfs></styleSheet>'
    )
    values = ("0.5", "0.035", "45413", "45413", "1234.5")
    cells = "".join(f'<c r="{chr(65 + at)}1" s="{at}"><v>{value}</v></c>' for at, value in enumerate(values))
    parts = unzipped(files.xlsx({"表": f'<row r="1">{cells}<c t="b"><v>1</v></c><c t="e"><v>#N/A</v></c></row>'}))
    rels = files.relations(("r1", "worksheet", "worksheets/sheet1.xml"), ("r2", "styles", "styles.xml"))
    data = files.zipped(parts | {"xl/styles.xml": styles, "xl/_rels/workbook.xml.rels": rels})
    assert lines(data, "xlsx") == ["表", "0.5 3.5% 2024-05-01 2024年5月1日 1,234.50 TRUE"]


def test_an_old_workbook_is_written_as_displayed_without_its_hidden_parts() -> None:
    data = files.xls(
        [
            ("明", [(0, 0, 0.035, 1), (0, 1, 7.0, 2), (0, 2, 2222.0, 0), (1, 0, 2222.0, 0), (2, 0, 3.0, 0)], {1}, {2}),
            ("暗", [(0, 0, 2222.0, 0)], (), ()),
        ],
        ["", "0.0%", "000000"],
        hidden_sheets={1},
    )
    assert lines(data, "xls") == ["明", "3.5% 000007", "3"]


# -- books and packages


@pytest.mark.parametrize(
    "href",
    [
        "%E7%AC%AC%E4%B8%80%20%E7%AB%A0.xhtml",
        "第一 章.xhtml",
        "./第一 章.xhtml#s2",
        "第一%20章.XHTML",
        "x/../第一 章.xhtml",
    ],
)
def test_a_chapter_is_found_however_its_name_is_written(href: str) -> None:
    chapter = "<html><body><p>先检查油压再合闸，然后记录读数。</p></body></html>"
    parts = unzipped(files.epub("手册", [chapter]))
    parts["O/第一 章.xhtml"] = parts.pop("O/c0.xhtml")
    opf = next(name for name in parts if name.endswith(".opf"))
    parts[opf] = str(parts[opf]).replace("c0.xhtml", href)
    assert body(files.zipped(parts), "epub") == "先检查油压再合闸，然后记录读数。"


def test_a_damaged_or_missing_chapter_does_not_lose_the_book() -> None:
    chapters = [f"<html><body><p>{text * 30}</p></body></html>" for text in ("甲", "乙")]
    data = bytearray(files.epub("手册", chapters))
    with zipfile.ZipFile(io.BytesIO(data)) as file:
        start = file.getinfo("O/c0.xhtml").header_offset + 45
    data[start : start + 8] = b"\xff" * 8
    assert body(bytes(data), "epub") == "乙" * 30
    assert "O/c0.xhtml" in warning(bytes(data), "epub").detail
    parts = unzipped(files.epub("手册", chapters))
    del parts["O/c1.xhtml"]
    assert body(files.zipped(parts), "epub") == "甲" * 30
    assert "O/c1.xhtml" in warning(files.zipped(parts), "epub").detail


def test_a_damaged_sheet_or_slide_does_not_lose_the_others() -> None:
    parts = unzipped(files.xlsx({"一": '<row r="1"><c r="A1"><v>7</v></c></row>', "二": ""}))
    data = files.zipped(parts | {"xl/worksheets/sheet2.xml": "<worksheet><sheetData><row"})
    assert lines(data, "xlsx") == ["一", "7"]
    assert "sheet2.xml" in warning(data, "xlsx").detail
    parts = unzipped(files.pptx([("标题一", ["正文甲"]), ("标题二", ["正文乙"])]))
    del parts["ppt/slides/slide1.xml"]
    assert lines(files.zipped(parts), "pptx") == ["标题二", "正文乙"]
    assert "slide1.xml" in warning(files.zipped(parts), "pptx").detail


def test_a_word_file_of_the_strict_standard_is_read() -> None:
    strict = {
        name: str(part)
        .replace(
            "http://schemas.openxmlformats.org/wordprocessingml/2006/", "http://purl.oclc.org/ooxml/wordprocessingml/"
        )
        .replace("http://schemas.openxmlformats.org/officeDocument/2006/", "http://purl.oclc.org/ooxml/officeDocument/")
        for name, part in unzipped(files.docx(files.paragraph("严格格式的文档"))).items()
    }
    assert body(files.zipped(strict), "docx") == "严格格式的文档"


# -- RTF


GBK = rb"{\rtf1\ansi\ansicpg936{\fonttbl{\f0\fcharset134 SimSun;}{\f1\fcharset0 Arial;}{\f2\fcharset136 M;}}\f0 "


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("泥浆泵压力表".encode("gbk"), "泥浆泵压力表"),
        (rb"\'c4\'e3\'ba\'c3", "你好"),
        ("誠\u4e80".encode("gbk"), "誠\u4e80"),
        (b"\\'d5\\\\".replace(b"\\\\", b"\\\\") + b"", codecs.decode(b"\xd5\x5c", "gbk")),
        (rb"\u-10174?\u-8265?\u37326?", "𠮷野"),
        (rb"\uc2\u20320\'c4\'e3\u22909\'ba\'c3", "你好"),
        (rb"{\upr{x}{\*\ud\u20320?}}\line ok", "你\nok"),
        (rb"\f2 \'a4\'a4\'a4\'e5", "中文"),
        (rb"A\{b\}\\c", "A{b}\\c"),
        (rb"{\listtext\pard 1.\tab}one\par{\listtext\'b7\tab}two", "1. one\ntwo"),
        (rb"{\shp{\*\shpinst{\sp{\sn a}{\sv b}}{\shptxt box\par}}{\shprslt{box\par}}}out", "box\nout"),
        (rb"\trowd\pard\intbl a\par b\cell c\cell\row\pard end", "a b c\nend"),
        (rb"{\pict\bin4 }}}}}ok", "ok"),
        (rb"{\mmath{\*\moMath{\mf{\mfPr x}{\mnum{\mr a}}{\mden{\mr b}}}}}", "a/b"),
        (rb"x{\*\unknown y}{\object{\*\objdata 00}{\result z}}", "xz"),
    ],
)
def test_the_forms_of_rtf(source: bytes, text: str) -> None:
    assert body(GBK + source + rb"\par}", "rtf") == text


# -- printed pages


def test_letters_with_wide_spacing_are_one_word() -> None:
    assert join_spaced_letters("关 于 2024 年 度 “ 安 全 ” 检 查 的 通 知") == "关于2024年度“安全”检查的通知"
    assert join_spaced_letters("合　　计") == "合计"
    assert join_spaced_letters("第 1 章 总 则") == "第1章总则"
    for text in ("见 表 the well", "年 2019 2020 2021 2022", "高 12 15 18 20", "组 1 2 3 4 5", "男 123", "泵 3 台"):
        assert join_spaced_letters(text) == text
    assert join_spaced_letters("甲 1 乙 2 丙 3 丁") == "甲 1 乙 2 丙 3 丁"
    assert join_spaced_letters("各 年 产 量 2019 2020") == "各年产量 2019 2020"
    letters = [(100.0 + 34 * at, 780.0, 16.0, letter) for at, letter in enumerate("关于开展检查的通知")]
    page = [*letters, (60.0, 740.0, 12.0, "各单位应当对照清单逐项自查，并于月底之前上报结果。")]
    assert lines(files.pdf([page]), "pdf")[0] == "关于开展检查的通知"
    assert body(files.docx(files.paragraph("关 于 检 查 的 通 知")), "docx") == "关于检查的通知"
    assert body(files.docx(files.table([["合 计", "单 位"]])), "docx") == "合计 单位"


@pytest.mark.parametrize("has_appearance", [True, False])
def test_filled_form_fields_are_text(has_appearance: bool) -> None:
    found = body(files.form_pdf({"name": "Wang Xiaoming", "day": "2024-05-01"}, has_appearance), "pdf")
    assert "Wang Xiaoming" in found
    assert "2024-05-01" in found
    assert "secret" not in found


def test_the_annotations_of_an_ofd_page_are_text() -> None:
    text = '<ofd:TextObject Boundary="10 20 100 8" Size="4"{}><ofd:TextCode>{}</ofd:TextCode></ofd:TextObject>'
    parts = unzipped(
        files.ofd_of([text.format("", "购买方名称：某某油田服务公司") + text.format(' Visible="false"', "暗")])
    )
    space = 'xmlns:ofd="http://www.ofdspec.org/2016"'
    parts["Doc_0/Document.xml"] = str(parts["Doc_0/Document.xml"]).replace(
        "</ofd:Document>", "<ofd:Annotations>Annots/Annotations.xml</ofd:Annotations></ofd:Document>"
    )
    parts["Doc_0/Annots/Annotations.xml"] = (
        f'<ofd:Annotations {space}><ofd:Page PageID="0">'
        f"<ofd:FileLoc>Page_0/Annotation.xml</ofd:FileLoc></ofd:Page></ofd:Annotations>"
    )
    hidden = ' Visible="false"'
    annot = '<ofd:Annot{}><ofd:Appearance Boundary="150 60 50 8">' + text + "</ofd:Appearance></ofd:Annot>"
    parts["Doc_0/Annots/Page_0/Annotation.xml"] = (
        f"<ofd:PageAnnot {space}>{annot.format('', '', '下载次数：2')}{annot.format(hidden, '', '暗')}</ofd:PageAnnot>"
    )
    assert lines(files.zipped(parts), "ofd") == ["购买方名称：某某油田服务公司", "下载次数：2"]


# -- Markdown


@pytest.mark.parametrize(
    ("matter", "title"),
    [
        ("\n---\ntitle: 泥浆泵保养说明\nauthor: 编写组\n---\n", "泥浆泵保养说明"),
        ("---\ntitle: >\n  折叠的\n  标题\nx: |\n  y\n---\n", "折叠的 标题"),
        ('\ufeff---\ntitle: "两行\n  标题"\n...\n', "两行 标题"),
        ('+++\ntitle = """\n两行\n标题"""\ndate = 2024-05-01\n+++\n', "两行 标题"),
        ("---\ntitle: a: b: 标题\n---\n", "a: b: 标题"),
        ("---\r\nTitle: '标''题'\r\n---\r\n", "标'题"),
    ],
)
def test_front_matter(matter: str, title: str) -> None:
    found = extract_document(f"{matter}正文一段写得长一些，说明泵的型号。".encode(), "a.md").result
    assert isinstance(found, Article)
    assert (found.title, found.body) == (title, "正文一段写得长一些，说明泵的型号。")


def test_a_rule_at_the_beginning_is_no_front_matter() -> None:
    assert body("---\n\n线后的正文\n\n---\n后文".encode(), "md") == "线后的正文\n后文"
    assert lines("---\n\n线后: 的正文: 一段\n- [未闭合\n\n---\n后文".encode(), "md")[0] == "线后: 的正文: 一段"
    laughs = (
        "---\na: &a [x, x]\nb: &b [*a, *a]\n"
        + "".join(f"c{n}: &c{n} [*b, *b]\n" for n in range(99))
        + "title: [*c1, t]\n---\n正文在此"
    )
    assert body(laughs.encode(), "md") == "正文在此"
