"""Constructed pages, one for each cause of an error on real sites."""

import pytest

from domain.article import Article, PageType
from domain.outcome import Outcome, Reason
from extractor import extract
from extractor.page.tag_info import Hint, parse_tag

TEXT = [
    "The harbour was opened again on Monday, the authority of the port said in a statement to the press.",
    "Three ships had waited for more than a week, because the storm had moved the sand into the channel.",
    "Work will go on until the end of the month, and small boats have to keep away from the dredgers.",
    "A second channel is planned for the next year, but the money for it has not been approved so far.",
]
HEAD = "<html><head><title>{title}</title></head><body>"
CHINESE_PARAGRAPHS = "".join(
    f"<p>这是第{n}段正文，里面有标点，也有不少字，应当被认为是文章的内容。</p>" for n in range(5)
)
SCRIPT = "<script src='app.js'></script>"
PARAGRAPHS = "".join(f"<p>{sentence}</p>" for sentence in TEXT)


def article(html: str, url: str = "http://news.test/2024/05/01/harbour.html") -> Article:
    extracted = extract(html, url)
    assert isinstance(extracted, Article), extracted
    return extracted


def test_a_closing_guillemet_is_no_separator() -> None:
    title = "Le ministre juge la mesure « inacceptable » et demande son retrait"
    page = f"{HEAD.format(title=title + ' – Le Journal')}<article><h2>Politique</h2>{PARAGRAPHS}</article>"
    assert article(page).title == title
    page = f"{HEAD.format(title='Harbour opened after the storm » The Journal')}<div>{PARAGRAPHS}</div>"
    assert article(page).title == "Harbour opened after the storm"


@pytest.mark.parametrize(
    ("names", "hint"),
    [
        ("section--has-ads", Hint.NONE),
        ("richtext--space-bottom", Hint.BODY),
        ("with_sidebar", Hint.NONE),
        ("content-without-sidebar", Hint.ARTICLE),
        ("hasSidebar", Hint.NONE),
        ("margin-bottom", Hint.NONE),
        ("block--related", Hint.ASIDE),
        ("page-bottom", Hint.ASIDE),
        ("sidebar", Hint.ASIDE),
        ("nav-has-children", Hint.ASIDE),
    ],
)
def test_a_state_in_a_class_says_nothing_about_the_element(names: str, hint: Hint) -> None:
    assert parse_tag("div", f'class="{names}"').hint is hint


def test_an_article_header_does_not_hide_the_text() -> None:
    lead = "".join(f"<p>{sentence} {sentence}</p>" for sentence in TEXT[:2])
    long = "".join(f"<p>{sentence} Paragraph {n}.</p>" for n in range(30) for sentence in TEXT)
    header = f"<article class='top'><h1>Harbour opened</h1>{lead}</article>"
    page = f"{HEAD.format(title='Harbour opened')}{header}<article class='text'>{long}</article>"
    assert "Paragraph 7." in article(page).body


def test_a_figure_around_the_article_is_no_caption() -> None:
    page = f"{HEAD.format(title='Harbour opened')}<h1>Harbour opened</h1><figure><img src='x.jpg'>{PARAGRAPHS}</figure>"
    body = article(page).body
    assert all(sentence in body for sentence in TEXT)
    captioned = "<figure><img src='x.jpg'><figcaption>The harbour on Sunday. Photo: A. Miller</figcaption></figure>"
    page = f"{HEAD.format(title='Harbour opened')}<h1>Harbour opened</h1>{captioned}{PARAGRAPHS}"
    assert "Photo" not in article(page).body


def test_a_table_or_quotation_in_a_figure_is_no_caption() -> None:
    table = "<figure><table><tr><th>Quay<th>Depth<tr><td>Seven<td>12 m</table><figcaption>Depths</figcaption></figure>"
    quotation = "<figure><blockquote><p>Never again, said the captain.</p></blockquote></figure>"
    page = f"{HEAD.format(title='Harbour opened')}<h1>Harbour opened</h1>{PARAGRAPHS}{table}{quotation}{PARAGRAPHS}"
    body = article(page).body
    assert "Seven" in body and "Never again" in body


@pytest.mark.parametrize(("text", "day"), [("3 Φλεβάρη 2024", "2024-02-03"), ("12 Σεπτέμβρη 2023", "2023-09-12")])
def test_spoken_greek_months_are_read(text: str, day: str) -> None:
    page = f"{HEAD.format(title='Το λιμάνι')}<h1>Το λιμάνι άνοιξε ξανά</h1><p class='date'>{text}</p>{PARAGRAPHS}"
    assert article(page, "http://news.test/harbour.html").published == day


@pytest.mark.parametrize(
    ("byline", "author"),
    [
        ("作者：Vivek Gite 选题：lujun9972 译者：geekpi", "Vivek Gite"),
        ("作者：Vivek Gite", "Vivek Gite"),
        ("作者：lujun9972", "lujun9972"),
        ("作者：张三 来源：某报", "张三"),
    ],
)
def test_a_latin_name_of_two_words_is_whole(byline: str, author: str) -> None:
    page = f"{HEAD.format(title='一篇文章的标题')}<h1>一篇文章的标题</h1><p>{byline}</p>{CHINESE_PARAGRAPHS}"
    assert article(page).author == author


def test_a_url_is_no_source() -> None:
    page = f"{HEAD.format(title='一篇文章的标题')}<h1>一篇文章的标题</h1><p>来源：https://example.org/a</p>{CHINESE_PARAGRAPHS}"
    assert article(page).source == ""


def test_line_numbers_are_no_text() -> None:
    numbers = "".join(f"<div>{n}</div>" for n in range(1, 9))
    code = "".join(f"<div>value_{n} = read_channel({n})</div>" for n in range(1, 9))
    table = f"<table><tr><td class='gutter'>{numbers}</td><td class='code'>{code}</td></tr></table>"
    page = f"{HEAD.format(title='Reading')}<article><h1>Reading</h1>{PARAGRAPHS}{table}{PARAGRAPHS}</article>"
    lines = article(page).body.splitlines()
    assert "value_3 = read_channel(3)" in article(page).body and not [line for line in lines if line.strip().isdigit()]


@pytest.mark.parametrize(
    ("line", "section", "keywords"),
    [
        ("分类：能源新闻 标签：页岩气, 压裂", "能源新闻", ("页岩气", "压裂")),
        ("标签：<a href='/t/1'>页岩气</a> <a href='/t/2'>压裂</a>", "", ("页岩气", "压裂")),
        ("Categories: Energy | Tags: shale gas, drilling", "Energy", ("shale gas", "drilling")),
        ("标签云很好看，没有标签。", "", ()),
    ],
)
def test_labelled_lists_are_section_and_keywords(line: str, section: str, keywords: tuple[str, ...]) -> None:
    page = f"{HEAD.format(title='一篇文章的标题')}<h1>一篇文章的标题</h1>{CHINESE_PARAGRAPHS}<p class='meta'>{line}</p>"
    found = article(page)
    assert (found.section, found.keywords) == (section, keywords) and "标签：" not in found.body


def test_a_disclaimer_is_not_the_body() -> None:
    disclaimer = (
        "免责声明：本网转载的文章仅代表作者个人观点，与本网无关，其原创性以及文中陈述文字和内容未经本站证实。" * 3
    )
    page = f"{HEAD.format(title='某油田投产')}<h1>某油田投产</h1><p>5月1日，某油田正式投产，日产原油三百吨。</p>"
    assert (
        article(f"{page}<div class='text'><p>{disclaimer}</p></div>").body == "5月1日，某油田正式投产，日产原油三百吨。"
    )


@pytest.mark.parametrize(
    "navigation",
    [
        "<table><tr><td><a href='a'>Prev</a></td><td><a href='i'>Up</a></td><td><a href='c'>Next</a></td></tr>"
        "<tr><td>Chapter 1</td><td><a href='i'>Home</a></td><td>Chapter 3</td></tr></table>",
        "<p>Next: <a href='c'>Setup</a>, Previous: <a href='a'>Install</a>, Up: <a href='i'>Contents</a></p>",
    ],
)
def test_links_to_other_pages_of_a_manual_are_no_text(navigation: str) -> None:
    options = "".join(
        f"<p>The option --level{n} sets the level of the output, and it may be given more than once.</p>"
        f"<pre>tool --level{n} file</pre>"
        for n in range(6)
    )
    page = f"{HEAD.format(title='Options - Tool Manual')}<h1>Options</h1>{options}{navigation}"
    found = article(page, "http://docs.test/manual/options.html")
    assert found.page_type == "reference" and found.body.endswith("tool --level5 file")


@pytest.mark.parametrize("hint", ["You need to enable JavaScript to run this app.", "请启用JavaScript后刷新本页面。"])
def test_a_hint_at_scripts_is_evidence_only_without_content(hint: str) -> None:
    empty = extract(
        f"{HEAD.format(title='App')}<noscript>{hint}</noscript><div id='app'></div>{SCRIPT}", "http://news.test/a"
    )
    assert isinstance(empty, Outcome) and empty.reason is Reason.NEEDS_JAVASCRIPT
    shown = extract(f"{HEAD.format(title='App')}<div id='app'><p>{hint}</p></div>{SCRIPT}", "http://news.test/a")
    assert isinstance(shown, Outcome) and shown.reason is Reason.NEEDS_JAVASCRIPT
    page = f"{HEAD.format(title='Harbour opened')}<noscript>{hint}</noscript><h1>Harbour opened</h1>{PARAGRAPHS}"
    assert TEXT[-1] in article(page).body


def test_news_with_comments_is_an_article() -> None:
    comments = "".join(
        f"<div class='comment'><span>User {n}</span><p>I think that number {n} is a good thing, and soon.</p></div>"
        for n in range(8)
    )
    page = f"{HEAD.format(title='Harbour opened')}<article><h1>Harbour opened</h1>{PARAGRAPHS}</article>"
    found = article(f"{page}<section class='comments'><h2>8 comments</h2>{comments}</section>")
    assert found.page_type == "article" and "good thing" not in found.body


MEMBER = """<section class="detail" id="m{n}"><h3>message{n}</h3><div class="member-signature"><a class="member"
 href="#x">String message{n}(int size)</a></div><div class="block message">Returns the message number {n} of the harbour
 that the port authority has stored, and waits for it until a ship has arrived in the channel.</div>
<dl class="notes"><dt>Parameters:</dt><dd>size - the largest number of bytes</dd><dt>Returns:</dt><dd>the message</dd>
<dt>Since:</dt><dd class="date">2024-05-0{n}</dd></dl></section>"""


def test_the_methods_of_a_class_are_no_posts() -> None:
    members = "".join(MEMBER.format(n=n) for n in range(1, 8))
    body = f"<main><h1>Class Message</h1><p>{TEXT[0]}</p><h2>Method Details</h2>{members}</main>"
    page = HEAD.format(title="Message (Harbour API)") + body
    assert article(page, "http://api.test/harbour/topic/Message.html").page_type is PageType.REFERENCE


def test_a_thread_about_parameters_stays_a_thread() -> None:
    posts = "".join(
        f"<div class='post'><a class='username' href='/user/{n}'>user{n}</a> <time>2024-05-0{n}</time>"
        f"<div class='message'><p>{TEXT[n % 4]} {n}</p><p>Parameters:</p><p>{TEXT[(n + 1) % 4]} {n}</p></div></div>"
        for n in range(1, 8)
    )
    page = f"{HEAD.format(title='Which channel?')}<h1>Which channel?</h1>{posts}"
    assert article(page, "http://forum.test/threads/which-channel.12/").page_type is PageType.THREAD


SECTIONS = "".join(
    f"<h2>Part {n}: {word}</h2><p>{sentence} {n}</p>"
    for n, (word, sentence) in enumerate(
        zip(("Ropes", "Ice", "Pilots", "Fees", "Lights"), (*TEXT, TEXT[0]), strict=True)
    )
)


@pytest.mark.parametrize(
    ("title", "extra"),
    [
        ("Tutorial: enter the harbour", ""),
        ("进港操作指南", ""),
        ("Advanced usage", "<pre>one()\ntwo()\nthree()\nfour()\nfive()\nsix()</pre>"),
    ],
)
def test_a_guide_with_sections_is_no_service(title: str, extra: str) -> None:
    page = f"{HEAD.format(title=title)}<main><h1>{title}</h1>{SECTIONS}{extra}</main>"
    assert article(page, "http://harbour.test/entering").page_type is PageType.REFERENCE


def test_an_offer_with_sections_is_a_service() -> None:
    page = f"{HEAD.format(title='Harbour pilots')}<main><h1>Harbour pilots</h1>{SECTIONS}</main>"
    assert article(page, "http://harbour.test/pilots").page_type is PageType.SERVICE


def test_a_generated_index_without_a_file_extension_marks_documentation() -> None:
    link = "<link rel='index' href='../genindex/'></head>"
    page = HEAD.format(title="Entering the harbour").replace("</head>", link)
    page += f"<main><h1>Entering the harbour</h1>{SECTIONS}</main>"
    assert article(page, "http://harbour.test/en/stable/entering/").page_type is PageType.REFERENCE


@pytest.mark.parametrize("links", [8, 30, 80])
@pytest.mark.parametrize("container", ["div", "main"])
@pytest.mark.parametrize(
    ("title", "sentences"),
    [
        ("Harbour opened again after the storm", TEXT[:3]),
        ("风暴过后海港重新开放", ["海港重新开放，港务局说。", "三艘船已经等了一个多星期。", "小船必须避开挖泥船。"]),
    ],
    ids=["en", "zh"],
)  # fmt: skip
def test_a_short_article_below_a_long_ticker_is_complete(
    links: int, container: str, title: str, sentences: list[str]
) -> None:
    ticker = "".join(f"<li><a href='/n/{n}.html'>{title}, part {n} of the report</a></li>" for n in range(links))
    text = "".join(f"<p>{sentence}</p>" for sentence in sentences)
    page = f"{HEAD.format(title=title)}<{container}><div><ul>{ticker}</ul></div><h1>{title}</h1>{text}</{container}>"
    found = article(page)
    assert (found.title, found.body.split("\n")) == (title, sentences)


MANUAL_PAGE = f"<main><h1>Entering the harbour</h1>{SECTIONS}</main>"
PUBLISHED = "<meta property='article:published_time' content='2024-05-01T10:00:00Z'></head>"


@pytest.mark.parametrize(
    "declared", ["", '<script type=\'application/ld+json\'>{"@type": "TechArticle", "name": "Entering"}</script>']
)
@pytest.mark.parametrize(
    "url",
    ["https://www.harbour.test/docs/18/entering.html", "https://docs.harbour.test/entering/",
     "https://harbour.test/en/manual/entering.html"],
)  # fmt: skip
def test_a_manual_with_the_time_of_its_build_is_a_reference(url: str, declared: str) -> None:
    page = HEAD.format(title="Entering the harbour").replace("</head>", declared + PUBLISHED) + MANUAL_PAGE
    assert article(page, url).page_type is PageType.REFERENCE


@pytest.mark.parametrize("url", ["https://docs.harbour.test/blog/entering/", "https://harbour.test/docs/2024/05/01/a"])
def test_news_of_a_manual_are_articles(url: str) -> None:
    page = HEAD.format(title="Entering the harbour").replace("</head>", PUBLISHED) + MANUAL_PAGE
    assert article(page, url).page_type is PageType.ARTICLE


def test_a_dated_article_about_documentation_is_an_article() -> None:
    linked = '{"@type": "BlogPosting", "headline": "Entering the harbour", "datePublished": "2024-05-01"}'
    head = f"<script type='application/ld+json'>{linked}</script></head>"
    page = HEAD.format(title="Entering the harbour").replace("</head>", head) + MANUAL_PAGE
    assert article(page, "https://harbour.test/docs/entering.html").page_type is PageType.ARTICLE


PAGE_LINKS = """<table><tr><td><a href="a.html">{}</a></td><td><a href="index.html">{}</a></td>
<td><a href="c.html">{}</a></td></tr></table>"""
BREADCRUMB = "<div><a href='/'>Harbour</a> &gt; <a href='/d/'>{}</a> &gt; <a href='/d/2/'>Version 2.4</a></div>"


@pytest.mark.parametrize(
    ("above", "page_type"),
    [
        (PAGE_LINKS.format("Prev", "Up", "Next"), PageType.REFERENCE),
        (PAGE_LINKS.format("Previous", "Contents", "Next"), PageType.REFERENCE),
        (PAGE_LINKS.format("上一页", "上一级", "下一页"), PageType.REFERENCE),
        (PAGE_LINKS.format("Previous", "Home", "Next"), PageType.SERVICE),
        (BREADCRUMB.format("Documentation"), PageType.REFERENCE),
        (BREADCRUMB.format("Reference Manual"), PageType.REFERENCE),
        (BREADCRUMB.format("Pilots"), PageType.SERVICE),
    ],
)
def test_links_of_a_book_mark_documentation(above: str, page_type: PageType) -> None:
    page = f"{HEAD.format(title='Entering the harbour')}{above}{MANUAL_PAGE}"
    assert article(page, "http://harbour.test/entering.html").page_type is page_type


@pytest.mark.parametrize(
    ("last", "page_type"),
    [
        ("This page was last updated on 2024-05-01 15:45:07Z", PageType.REFERENCE),
        ("本页最后修改于 2024-05-01", PageType.REFERENCE),
        ("Published on 2024-05-01", PageType.ARTICLE),
    ],
)
def test_a_page_with_only_a_date_of_its_last_change_is_a_reference(last: str, page_type: PageType) -> None:
    page = f"{HEAD.format(title='Entering the harbour')}{MANUAL_PAGE}<p>{last}</p>"
    found = article(page, "http://harbour.test/entering.html")
    assert (found.page_type, found.published) == (page_type, "2024-05-01")


def test_news_with_an_updated_date_below_the_title_is_an_article() -> None:
    page = f"{HEAD.format(title='Harbour opened')}<h1>Harbour opened</h1><p>Updated 2024-05-01</p>{PARAGRAPHS}"
    assert article(page, "http://news.test/harbour.html").page_type is PageType.ARTICLE
