"""Functions that scan remote text, each with texts that could make it begin again and again."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress

from crawler.http.content_type import parse_content_type
from crawler.parsing.links import parse_page
from crawler.robots.robots_txt import matches_pattern, parse_robots_txt
from crawler.sitemaps.feed_parser import parse_feed
from crawler.sitemaps.sitemap_parser import parse_sitemap
from domain.page import Page
from extractor.article_extractor import ArticleExtractor
from extractor.documents import epub, plain_text, rtf
from extractor.documents.content import UnreadableError
from extractor.documents.office import docx, odf, spreadsheet
from extractor.documents.office.formulas import eq_field_text
from extractor.documents.office.number_format import format_cell_value, parse_format
from extractor.fields.dates.date_parsing import find_date_in_text
from lexicon.counting.corpus import CorpusDocument
from lexicon.counting.prose_filter import prose_text
from tests.extractor import document_files as files
from tests.linear_time import LinearText, is_superlinear
from text.decoding.decode import decode_page

URL = "http://a.test/"
PROSE = "The valve, which was opened in 2024, is closed again. 该阀门于二〇二四年开启，随后关闭。"
LINK, MATH = '<a href="/x">go</a> ', "http://schemas.openxmlformats.org/officeDocument/2006/math"

PAGE_PIECES = (
    "<p>", "<b>", "<a href=/x>y</a> ", "<div class=a>", "<div hidden>", "<span>", "<br>", "<table><tr><td>x", "<li>x",
    "<td>", "<h1>x", "<h2>x</h2>", "<pre>x\n", "<!--", "<!-- x -->", "<![CDATA[", "<!", "<?", "</", "</p>", "<a ",
    "< ", "<script>", "<script>x</script>", "<style>", "<noscript>", "<noscript><p>x", "<template>", "<svg>",
    "<img src=x>", "<meta name=a content=b>", "<meta charset=x", "<title>", "<iframe>", "<textarea>", "<form>",
    "<article>", "<body>", "<p>0 day ", "<p>habilit", "&amp;", "&", "<p>2024-01-01 ", "<p>作者：", "By A ", "<time>",
    "<blockquote>x", "<x-y>", f"<p>{PROSE}", PROSE, f"<li>{LINK}{PROSE}", "<!--$?--><template id=B:0></template>",
    '<script>$RC("B:0","S:0")',
)  # fmt: skip
PAGE_TEXTS: tuple[LinearText, ...] = (
    *(("<html><body><h1>A title</h1>", piece, end) for piece in PAGE_PIECES for end in ("", f"<p>{PROSE * 9}")),
    ("<p>", LINK, "</p>"),  # links of one paragraph
    (f"<p>{PROSE}", f"{LINK}{PROSE}", "</p>"),
    ('<script>$RC("B:0","S:0")</script>', '<!--$?--><template id="B:0"></template><div hidden id="S:0">x</div>', ""),
    (
        '<script type="application/ld+json">{"@type":"NewsArticle","author":',
        '[{"@type":"Person","name":"',
        "</script>",
    ),
    ('<script type="application/ld+json">', '{"author":', "</script>"),
    ('<script type="application/ld+json">', '{"@type":"Article","headline":"x"},', "</script>"),
    ('<script type="application/ld+json">{"articleBody":"', "\\", '"}</script>'),
    ('<script type="application/ld+json">', '"author" : [{ "@type" : "x", ', "</script>"),
    ("<p title='", "x=", "'>"),
    ("<p ", "data-a ", ">x"),
    ("<p class='", "no-space ", "'>x"),
)
MARKDOWN_PIECES = (
    "-", "- ", "---\n", "# ", "#", "\n# a\n", " ", "\t", "*", "**a ", "_", "_a ", "`", "```\n", "~~~\n", "<!--",
    "-->", "<!-- a -->", "<", "<a ", "[", "![", "[a](", "[a](b) ", "> ", "1. ", "|", "|-", "| - ", "a|b\n", "=\n",
    "a\n---\n", "+++\n", "title: a\n", "title:  ", "\\", "a  \n", "a\n", "\n", "[^1]: ", "  - a\n", "&", "a-b ",
)  # fmt: skip
MARKDOWN_TEXTS: tuple[LinearText, ...] = tuple(
    (start, piece, end) for start in ("", "a\n", "---\n", "# a ") for piece in MARKDOWN_PIECES for end in ("", "x\n")
)
RTF_PIECES = (
    "{", "}", "\\", "{\\*", "{\\*\\x ", "\\par ", "\\'c4", "\\'c4\\'e3", "\\u20320 ", "\\u20320?", "a", "\xc4",
    "\xc4\\", "0123456789abcdef" * 16, "{\\pict ", "{\\pict 00}", "\\cell ", "a\\cell \\row ", "\\f1 ",
    "{\\f1\\fcharset134 ", "{\\footnote a}", "{\\info{\\title a}}", "{\\title ", "{\\fldinst EQ \\\\f(a,b)}", "\\v ",
    "{\\v a}", "\\bin9 ", "{\\listtext 1.}", "\\ansicpg936 ", "\\uc9 ", "{\\upr a{\\*\\ud b}}", "\r\n", "\\-", "\\~",
    "\\intbl ",
)  # fmt: skip
RTF_TEXTS: tuple[LinearText, ...] = tuple(
    (start, piece, "")
    for start in ("{\\rtf1 ", "{\\rtf1\\ansicpg936 ", "{\\rtf1{\\fldinst EQ ")
    for piece in RTF_PIECES
)
XML_PIECES = (
    "<![CDATA[", "<![CDATA[a]]>", "<!ENTITY", "<!ENTITY a 'b'>", "<!DOCTYPE", "<!DOCTYPE a [", "<!--", "<!-- a -->",
    "<?", "<url>", "<url><loc>http://a.test/</loc></url>", "<loc>", "<loc> ", "<loc><![CDATA[", "<a:loc>",
    "<sitemap>", "&", "]]>", "<item>", "<item><link>http://a.test/</link></item>", "<entry>", "<link href='",
    "<link href='/a' ", "\0", " ", "<", "http://a.test/\n", "<lastmod>2024", "<pubDate>Mon, ", "<a ", "<a b='",
    "<guid>", "<x:y xmlns:x='z'>",
)  # fmt: skip
XML_STARTS = ("", "<?xml version='1.0'?><urlset>", "<rss><channel>", "<?xml version='1.0' ?><!DOCTYPE a [")
XML_TEXTS: tuple[LinearText, ...] = (
    *((start, piece, "") for start in XML_STARTS for piece in XML_PIECES),
    ('{"version":"https://jsonfeed.org/version/1","items":[', '{"url":"/a"},', ""),
)
PROSE_PIECES = (
    "A", "ACGT", "a", "2024-", "0x", "①", "½", "-", "+", "a.", "a.b", "a_", "_", "Ab", "a::", "/a", "\\a", "~/",
    "http://", "@", "a@", "a@b.", "www.", "<a", "<a ", "a=", 'a="', "a='", "--a", "$", "${", "(", "a(", "a(b,", "v1.",
    "1.2.", "0a", " ", "é", PROSE, "a b ", "中", "中a", "。", ",", "\t", "NAME ", "…", "“", "https://a.b/c?d=e&",
)  # fmt: skip
PROSE_TEXTS: tuple[LinearText, ...] = tuple(
    (start, piece, end) for start in ("", PROSE) for piece in PROSE_PIECES for end in ("", PROSE)
)
FORMULA_PIECES = (
    "\\f(", "\\f(a,b)", "(", ")", ",", "a,", "\\", "\\*", '\\*"', "\\* ", "\\s ", "\\s1", " ", "\\r(", "a",
)  # fmt: skip
FORMULA_TEXTS: tuple[LinearText, ...] = tuple(("EQ ", piece, end) for piece in FORMULA_PIECES for end in ("", ")"))
FORMAT_PIECES = (
    "0", "#", "0,", '"', '"a"', "[", "[red]", "_", "*", "\\", ";", "?/", "yy", "General", "@", "E+", "上午/",
)  # fmt: skip
FORMAT_TEXTS: tuple[LinearText, ...] = tuple(("", piece, "") for piece in FORMAT_PIECES)
OFFICE_TEXTS: tuple[LinearText, ...] = tuple(("", piece, "") for piece in (PROSE, "1", "- ", "第一章", "A.", " a"))


def read_html_links(text: str) -> object:
    """Find the links of a page as the crawl does."""
    return parse_page(Page(0, URL, URL, 200, "text/html", text.encode(), "", 0.0), "bot")


def extract_article(text: str) -> object:
    """Extract a page."""
    return ArticleExtractor().extract(text.encode(), URL)


def match_robots(text: str) -> object:
    """Read a robots.txt, and try its text as the pattern of one rule."""
    return parse_robots_txt(text, "bot"), matches_pattern("/" + "a" * len(text), "/" + text + "b")


def format_number(code: str) -> object:
    """Show a number, a date and a text by a format."""
    parse_format.cache_clear()
    return [format_cell_value(value, code) for value in (45000.5, -1.0, "a")]


def read_docx(text: str) -> object:
    """Read a Word file with a text as paragraphs, in one table, and as a formula."""
    words = text.split(" ")
    formula = f'<m:oMath xmlns:m="{MATH}">' + "<m:r><m:t>a</m:t></m:r>" * len(words) + "</m:oMath>"
    body = files.paragraph(text) + "".join(map(files.paragraph, words)) + files.table([words] * 2)
    return docx.read(files.docx(f"{body}<w:p>{formula}</w:p>"))


def read_odt(text: str) -> object:
    """Read an OpenDocument text with a text as paragraphs and list items."""
    items = "".join(f"<text:list-item><text:p>{word}</text:p></text:list-item>" for word in text.split(" "))
    return odf.read(files.opendocument("text", f"<text:p>{text}</text:p><text:list>{items}</text:list>"))


def read_xlsx(text: str) -> object:
    """Read a workbook with a text in cells."""
    rows: list[list[str | float]] = [[text]]
    rows.extend([word, 1.0] for word in text.split(" "))
    return spreadsheet.read(files.xlsx({"s": files.sheet_rows(rows)}))


def read_epub(text: str) -> object:
    """Read a book with a text as its chapter."""
    return epub.read(files.epub("a", [f"<html><body><p>{text}</p></body></html>"]))


SCANNERS: Mapping[str, tuple[Callable[[str], object], Sequence[LinearText]]] = {
    "article of a page": (extract_article, PAGE_TEXTS),
    "links of a page": (read_html_links, PAGE_TEXTS),
    "Markdown": (lambda text: plain_text.read(text.encode(), is_markdown=True), MARKDOWN_TEXTS),
    "plain text": (lambda text: plain_text.read(text.encode()), OFFICE_TEXTS),
    "RTF": (lambda text: rtf.read(text.encode("latin-1")), RTF_TEXTS),
    "sitemap": (lambda text: parse_sitemap(text.encode(), URL), XML_TEXTS),
    "feed": (lambda text: parse_feed(text.encode(), URL), XML_TEXTS),
    "robots.txt": (
        match_robots,
        tuple(("", piece, "") for piece in ("*a", "a", "Disallow: /*\n", "User-agent: bot\n")),
    ),
    "Content-Type": (parse_content_type, tuple(("a/b;", piece, "") for piece in (",", ";", '"', "a=", 'a="\\', " "))),
    "encoding": (
        lambda text: decode_page(text.encode()),
        tuple(("", piece, "") for piece in ("é", "<meta charset=", "\x80")),
    ),
    "prose filter": (lambda text: prose_text(CorpusDocument(1, "", text)), PROSE_TEXTS),
    "dates": (
        find_date_in_text,
        tuple(("", piece, "") for piece in ("12:", "2019年", "1/", "十", "May ", "2024-01-", "日")),
    ),
    "EQ field": (eq_field_text, FORMULA_TEXTS),
    "number format": (format_number, FORMAT_TEXTS),
    "Word": (read_docx, OFFICE_TEXTS),
    "OpenDocument": (read_odt, OFFICE_TEXTS),
    "workbook": (read_xlsx, OFFICE_TEXTS),
    "EPUB": (read_epub, OFFICE_TEXTS),
}


def superlinear_scanners() -> tuple[int, list[str]]:
    """Return the number of functions, and a line for each one with a text that takes superlinear time."""
    complaints = []
    for name, (scan, texts) in SCANNERS.items():

        def run(text: str, scan: Callable[[str], object] = scan) -> None:
            with suppress(UnreadableError):
                scan(text)

        complaints += [f"{name}: {text}" for text in texts if is_superlinear(run, text)]
    return len(SCANNERS), complaints
