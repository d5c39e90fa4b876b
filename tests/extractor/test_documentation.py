"""Documentation pages: permalinks, build dates, dates in examples, source code, indexes, Javadoc."""

import pytest

from domain.article import Article, BlockKind
from domain.outcome import Outcome, Reason
from extractor import extract
from extractor.fields.dates.date_parsing import find_first_date
from extractor.fields.title_matching import is_title_before_separator
from extractor.page.layout_builder import is_permalink

TEXT = "<p>The pump is started with one command, and it runs until somebody stops it with another one.</p>" * 3
ZH_TEXT = "<p>这台抽油机用一条命令启动，一直运行到有人用另一条命令把它停下来为止，参数见下面的表格。</p>" * 3
SPHINX = '<meta name="generator" content="Docutils 0.19: https://docutils.sourceforge.io/">'
URL = "http://docs.test/pumps/start.html"
CODE = "".join(
    f"def step_{number}(pump, level={number}):\n    return pump.raise_to(level, {number})\n" for number in range(9)
)


def html(content: str, title: str = "Starting the pump — Pumps 3.2 documentation", head: str = "") -> str:
    """A page of its own: a menu, the content, a footer."""
    menu = "".join(f'<li><a href="/c{number}.html">Chapter number {number}</a></li>' for number in range(9))
    page = f"<html><head><title>{title}</title>{head}</head><body><div class='nav'><ul>{menu}</ul></div>"
    return f"{page}{content}</body></html>"


def article(page: str, url: str = URL) -> Article:
    result = extract(page, url)
    assert isinstance(result, Article), result
    return result


def outcome(page: str, url: str = URL) -> Outcome:
    result = extract(page, url)
    assert isinstance(result, Outcome), result.title
    return result


# -- the link that a heading has to itself

PERMALINKS = [
    '<a class="headerlink" href="#start" title="Permalink to this headline">¶</a>',
    '<a class="headerlink" href="#start" title="Permanent link">&para;</a>',
    ' <a class="hash-link" href="#start" aria-label="Direct link">#</a>',
    '<a class="header-anchor" href="#start" aria-hidden="true">\u200b</a>',
    '<a class="doc-anchor" href="#start">§</a>',
    ' <a href="/pumps/start.html#start">🔗</a>',
    ' <a href="#start"><span>Link to this heading</span></a>',
    ' <a href="#start">固定链接</a>',
]


@pytest.mark.parametrize("link", PERMALINKS)
@pytest.mark.parametrize(("title", "text"), [("Starting the pump", TEXT), ("启动抽油机", ZH_TEXT)])
def test_permalinks_of_headings_are_removed(link: str, title: str, text: str) -> None:
    below = "Stopping it again" if text is TEXT else "再次停止"
    page = html(
        f"<div><h1 id='start'>{title}{link}</h1>{text}<h2 id='stop'>{below}{link}</h2>{text}</div>", f"{title} - Pumps"
    )
    result = article(page)
    assert result.title == title
    assert below in result.body.split("\n")
    assert [block.text for block in result.blocks if block.kind is BlockKind.HEADING] == [below]


def test_a_permalink_before_a_heading_is_removed_but_not_a_linked_heading() -> None:
    before = html(f"<div><h1><a href='#start'>#</a> Starting the pump</h1>{TEXT}</div>")
    linked = html(f"<div><h1 id='start'><a class='header' href='#start'>Starting the pump</a></h1>{TEXT}</div>")
    assert article(before).title == article(linked).title == "Starting the pump"


@pytest.mark.parametrize(
    ("attributes", "text", "is_one"),
    [
        ('href="#a"', "¶", True), ('href="#a"', " # ", True), ('href="#a"', "Permalink to this definition", True),
        ('href="#a"', "Link to the future", False), ('href="#a"', "C#", False), ('href="#a"', "第三节", False),
        ('href="/issues"', "#", False), ("", "¶", False), ('href="#a"', "¶" * 500, False),
    ],
)  # fmt: skip
def test_permalinks(attributes: str, text: str, is_one: bool) -> None:
    assert is_permalink(attributes, text) is is_one


def test_linked_symbols_in_code_stay() -> None:
    code = '<pre>total <a href="#op-add">+</a><a href="#op-set">=</a> level\nprint(total, level)</pre>'
    assert "total += level" in article(html(f"<div><h1>Starting the pump</h1>{TEXT}{code}{TEXT}</div>")).body


# -- dates: of the publication, of the build, of an example

LAST = [
    "<p>Last updated on Feb 03, 2025.</p>",
    "<div class='footer'>&copy; Copyright 2025, Pumps. Last updated on Feb 03, 2025. Created using Sphinx 4.3.2.</div>",
    "<h3>Last update:</h3><p>Feb 03, 2025</p>",
    "<p><time datetime='2025-02-03' itemprop='dateModified'>Feb 3, 2025</time></p>",
    "<p>本页面最近更新：2025/2/3 08:56:54</p>",
    "<p>Generated on Mon Feb 3 2025 10:20:30 for Pumps by doxygen 1.9.4</p>",
]


@pytest.mark.parametrize("last", LAST)
@pytest.mark.parametrize("text", [TEXT, ZH_TEXT], ids=["en", "zh"])
def test_a_build_date_is_not_a_date_of_publication(last: str, text: str) -> None:
    content = f"<div><h1>Starting the pump</h1>{text}</div>{last}"
    assert article(html(content, head=SPHINX)).published == ""


def test_a_build_date_is_the_date_of_the_last_change() -> None:
    page = html(f"<div><h1>Starting the pump</h1>{TEXT}</div>{LAST[0]}", head=SPHINX)
    assert article(page).modified == "2025-02-03"


@pytest.mark.parametrize("last", LAST[:1])
def test_a_blog_post_has_its_only_visible_date(last: str) -> None:
    content = f"<div><h1>Starting the pump</h1>{TEXT}</div>{last}"
    for head in (
        "",
        '<meta name="generator" content="WordPress 6.4">',
        '<meta name="generator" content="Hugo 0.145.0">',
    ):
        assert article(html(content, head=head)).published == "2025-02-03"
    assert article(html(content, head=SPHINX), "http://docs.test/blog/start").published == "2025-02-03"


@pytest.mark.parametrize(
    "example",
    [
        "<pre>=> select '2021-06-23 7:00:00-04'::timestamptz;\n 2021-06-23 07:00:00</pre>",
        "<pre>$ ls -l\n-rw-r--r-- 1 root root 96 2021-06-23 pump.conf\n</pre>",
        "<div class='highlight'><pre><span>job 1 at Wed Jun 23 09:00:00 2021</span></pre></div>",
    ],
)
@pytest.mark.parametrize("head", ["", SPHINX])
def test_a_date_in_an_example_is_ignored(example: str, head: str) -> None:
    for text in (TEXT, ZH_TEXT):
        assert article(html(f"<div><h1>Starting the pump</h1>{example}{text}{text}</div>", head=head)).published == ""


def test_preformatted_news_has_its_date() -> None:
    lines = "\n".join(["The company said that the new field will give more oil than all of the older ones did."] * 8)
    page = f"<html><title>New field found</title><h1>New field found</h1><pre>May 9, 2016\n\n{lines}</pre></html>"
    assert article(page).published == "2016-05-09"


def test_dates_in_the_text_of_a_manual_are_ignored() -> None:
    value = "<table><tr><td>2021-06-23</td><td>accepted</td></tr></table>"
    since = "<p>Since 23 June 2021, level 3 is the default, as it was before.</p>"
    content = f"<div><h1>Starting the pump</h1>{value}{since}{TEXT}</div>"
    assert article(html(content, head=SPHINX)).published == ""


@pytest.mark.parametrize(
    "day", ["<p><em>August 1, 2019</em></p>", "<p>Release date: 2019-08-01</p>", "<p>发布日期：2019年8月1日</p>"]
)
def test_a_release_date_is_used_in_spite_of_a_build_date(day: str) -> None:
    content = (
        f"<div><h1>Pumps 1.11.23 release notes<a class='headerlink' href='#x'>¶</a></h1>{day}{TEXT}</div>{LAST[0]}"
    )
    result = article(html(content, "Pumps 1.11.23 release notes — Pumps", SPHINX))
    assert (result.title, result.published) == ("Pumps 1.11.23 release notes", "2019-08-01")


def test_a_declared_date_of_a_manual_is_used() -> None:
    published = '<meta property="article:published_time" content="2019-08-01T10:00:00Z">'
    page = html(f"<div><h1>Starting the pump</h1>{TEXT}</div>{LAST[0]}", head=SPHINX + published)
    assert article(page).published == "2019-08-01"


@pytest.mark.parametrize(
    "head",
    [
        '<!-- Generated by javadoc (1.8.0_252) on Sat May 09 10:00 2020 --><meta name="date" content="2020-05-09">',
        '<!-- Generated by javadoc (11.0.7) --><meta name="dc.created" content="2020-05-09">',
        '<meta name="generator" content="javadoc/ClassWriterImpl"><meta name="dc.created" content="2020-05-09">',
        '<meta name="generator" content="DocBook XSL Stylesheets V1.79"><meta name="date" content="2020-05-09">',
        '<link rel="home" href="i.html"><link rel="up" href="c.html"><meta name="date" content="2020-05-09">',
        '<link rel="index" href="../genindex.html"><meta name="date" content="2020-05-09">',
    ],
)
def test_the_creation_date_of_a_file_is_ignored(head: str) -> None:
    page = html(f"<div><h1>Starting the pump</h1>{TEXT}</div>", head=head)
    assert article(page).published == ""
    assert article(
        html(f"<div><h1>Starting the pump</h1>{TEXT}</div>", head='<meta name="date" content="2020-05-09">')
    ).published


def test_the_head_links_of_a_forum_are_not_those_of_a_manual() -> None:
    links = "".join(f'<link rel="{kind}" href="/index.php?{kind}">' for kind in ("index", "contents", "search", "help"))
    content = f"<div><h1>Starting the pump</h1>{TEXT}</div><p>Last updated on May 9, 2020</p>"
    assert article(html(content, head=links)).published == "2020-05-09"


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("django 3.2.25 documentation", ""), ("version 1.11.23", ""), ("v1.11.23", ""), ("depends: libxml2 2.9.10", ""),
        ("9.5.16", "2016-05-09"), ("am 9.5.16", "2016-05-09"), ("stand: 9.5.16", "2016-05-09"),
        ("montag 9.5.16", "2016-05-09"), ("kultur | 9.5.16, 10:20 uhr", "2016-05-09"),
    ],
)  # fmt: skip
def test_a_version_after_a_name_is_not_a_date(text: str, day: str) -> None:
    result = find_first_date(text, short=True)
    assert (result.date if result else "") == day


# -- titles that <title> names first


@pytest.mark.parametrize(
    ("heading", "stated", "is_part"),
    [
        ("IDA*", "IDA* - OI Wiki", True), ("平衡树", "平衡树 | 手册", True),
        ("Class Foo<T>", "Foo (Bar 3.2 API)", True),
        ("Annotation Type Beta", "Beta (Bar 3.2 API)", True), ("注释类型 Beta", "Beta (Bar 3.2 API)", True),
        ("Method Summary", "Foo (Bar 3.2 API)", False), ("Class Foobar", "Foo (Bar 3.2 API)", False),
        ("OI Wiki", "IDA* - OI Wiki", False), ("", "- OI Wiki", False), ("IDA*", "IDA*", False),
    ],
)  # fmt: skip
def test_headings_that_are_the_first_part_of_title(heading: str, stated: str, is_part: bool) -> None:
    assert is_title_before_separator(heading, stated) is is_part


def test_a_short_heading_is_the_title_and_not_the_first_sentence() -> None:
    text = "<p>本页面将简要介绍 IDA* 算法．IDA* 就是采用了迭代加深算法的 A* 算法．</p>" + ZH_TEXT
    result = article(html(f"<article><h1>IDA*</h1>{text}<h2>过程</h2>{ZH_TEXT}</article>", "IDA* - OI Wiki"))
    assert result.title == "IDA*"
    assert result.body.startswith("本页面将简要介绍")


def test_the_name_of_the_site_before_the_title_is_not_the_title() -> None:
    content = f"<h1>Pumps</h1><div><h2>Starting the pump</h2>{TEXT}</div>"
    assert article(html(content, "Pumps | Starting the pump")).title == "Starting the pump"


# -- source code and indices


@pytest.mark.parametrize("name", ["Source code for pumps.start", "pumps.start 的源代码"])
def test_a_source_file_of_a_manual_is_rejected(name: str) -> None:
    inner = CODE.replace("def step_3", '<div class="viewcode-block"><a href="../start.html">[docs]</a>def step_3')
    page = html(f"<div><h1>{name}</h1><div class='highlight'><pre>{inner}</div></pre></div></div>", name, SPHINX)
    result = outcome(page, "http://docs.test/_modules/pumps/start.html")
    assert result.reason is Reason.NO_BODY
    assert "lines of source code" in result.detail


def test_an_untitled_numbered_listing_is_rejected() -> None:
    lines = "".join(
        f'<span class="no">{number:03}</span><a id="line.{number}">    x = level({number});</a>\n'
        for number in range(1, 40)
    )
    result = outcome(f"<html><title>Source code</title><body><main><pre>{lines}</pre></main></body></html>")
    assert result.reason is Reason.NO_BODY


def test_a_post_of_numbered_code_is_an_article() -> None:
    code = "".join(f"<span>{number}</span> level = pump.raise_to({number})\n" for number in range(1, 40))
    result = article(
        html(f"<div><h1>Raising levels one by one</h1><pre>{code}</pre></div>", "Raising levels one by one")
    )
    assert result.title == "Raising levels one by one"


def test_a_page_that_explains_code_is_an_article_with_its_code() -> None:
    result = article(
        html(f"<div><h1>Starting the pump</h1><p>This starts it, step by step.</p><pre>{CODE}</pre></div>", head=SPHINX)
    )
    assert all(line in result.body for line in CODE.strip().split("\n"))
    assert article(
        html(f"<div><h1>Starting the pump</h1><pre>{CODE}</pre></div>", "Starting the pump")
    ).body  # a blog's


def test_code_in_blocks_inside_a_pre_keeps_its_lines() -> None:
    code = f"<pre>import pumps\n<div class='block'>{CODE}</div>pumps.stop()\n</pre>"
    result = article(html(f"<div><h1>Starting the pump</h1>{TEXT}{code}{TEXT}</div>", head=SPHINX))
    shown = next(block.text for block in result.blocks if block.kind is BlockKind.CODE)
    assert [line for line in shown.split("\n") if line] == ["import pumps", *CODE.strip().split("\n"), "pumps.stop()"]


@pytest.mark.parametrize(
    "path", ["pumps/class-use/Pump.html", "pumps/package-tree.html", "pumps/package-use.html", "index-all.html",
             "index-files/index-7.html", "allclasses-index.html", "genindex-S.html", "py-modindex.html"],
)  # fmt: skip
def test_indexes_of_a_manual_are_lists(path: str) -> None:
    rows = "".join(
        f"<tr><td><a href='P.html#m{n}'>Pump.method{n}</a></td><td>Starts the pump of level {n}, and waits.</td></tr>"
        for n in range(5)
    )
    page = html(f"<main><h1>Uses of Class Pump</h1><table>{rows}</table></main>", "Uses of Class Pump (Pumps 3.2 API)",
                "<!-- Generated by javadoc (17) -->")  # fmt: skip
    assert outcome(page, f"http://docs.test/api/{path}").reason is Reason.LIST_PAGE


def test_the_file_name_of_an_index_is_not_sufficient() -> None:
    page = html(f"<div><h1>Starting the pump</h1>{TEXT}</div>", "Starting the pump - News")
    assert article(page, "http://news.test/index-7.html").title == "Starting the pump"


# -- Javadoc: old and new


SUMMARY = "Raises the level to {n} and waits for it."
METHOD = '<code><a href="{own}#raise{n}(int)">raiseLevel{n}</a>(int level)</code>'


def repeated(template: str, own: str = "") -> str:
    """A piece of markup for each of twelve methods; `own` is how links to the page itself begin."""
    whole = template.replace("SUMMARY", SUMMARY).replace("METHOD", METHOD)
    return "".join(whole.replace("{n}", str(number)).replace("{own}", own) for number in range(12))


TABLE = """<tr><td class="colFirst"><code>void</code></td>
<td class="colLast">METHOD<div class="block">SUMMARY</div></td></tr>"""
GRID = """<div class="col-first"><code>void</code></div><div class="col-second">METHOD</div>
<div class="col-last"><div class="block">SUMMARY</div></div>"""
DETAIL = """<section><h3>raiseLevel{n}</h3><pre>public void raiseLevel{n}(int level)</pre>
<div class="block">SUMMARY</div><dl><dt>Parameters:</dt><dd>level - how high it goes</dd></dl></section>"""
DESCRIPTION = "A pump that lifts oil from a well. One pump serves one well, and several threads may use it at once."
JAVADOC = {
    "7 and 8": f"""<div class="header"><div class="subTitle">org.pumps</div>
<h2 title="Class Pump" class="title">Class Pump&lt;T&gt;</h2></div><div class="contentContainer">
<ul class="inheritance"><li>java.lang.Object</li><li>org.pumps.Pump&lt;T&gt;</li></ul>
<div class="description"><ul class="blockList"><li class="blockList"><hr><pre>public class Pump&lt;T&gt;
extends Object</pre><div class="block">{DESCRIPTION}</div></li></ul></div>
<div class="summary"><h3>Method Summary</h3><table>{repeated(TABLE, "Pump.html")}</table></div>
<div class="details"><h3>Method Detail</h3>{repeated(DETAIL)}</div></div>""",
    "11": f"""<main role="main"><div class="header"><div class="subTitle"><span>Package</span>
<a href="package-summary.html">org.pumps</a></div><h2 title="Class Pump" class="title">Class Pump&lt;T&gt;</h2></div>
<div class="contentContainer"><ul class="inheritance"><li>java.lang.Object</li></ul>
<div class="description"><ul class="blockList"><li><pre>public class Pump&lt;T&gt;
extends java.lang.Object</pre><div class="block">{DESCRIPTION}</div></li></ul></div>
<div class="summary"><h3>Method Summary</h3><table>{repeated(TABLE)}</table></div>
<div class="details"><h3>Method Detail</h3>{repeated(DETAIL)}</div></div></main>""",
    "17": f"""<main role="main"><div class="header"><div class="sub-title"><span>Package</span>
<a href="package-summary.html">org.pumps</a></div><h1 title="Class Pump" class="title">Class Pump&lt;T&gt;</h1></div>
<div class="inheritance">java.lang.Object</div><section class="class-description" id="class-description"><hr>
<div class="type-signature">public class Pump&lt;T&gt;</div><div class="block">{DESCRIPTION}</div></section>
<section class="summary"><h2>Method Summary</h2><div class="summary-table">{repeated(GRID)}</div></section>
<section class="details"><h2>Method Details</h2>{repeated(DETAIL)}</section></main>""",
}


@pytest.mark.parametrize("version", JAVADOC)
@pytest.mark.parametrize("url", ["http://docs.test/api/org/pumps/Pump.html", "http://docs.test/Pump.html"])
def test_a_class_page_has_its_name_description_and_methods(version: str, url: str) -> None:
    page = html(JAVADOC[version], "Pump (Pumps 3.2 API)", "<!-- Generated by javadoc -->")
    result = article(page, url)
    assert result.title == "Class Pump<T>"
    assert DESCRIPTION in result.body
    assert all(result.body.count(f"Raises the level to {n} and waits for it.") >= 1 for n in range(12))
    assert "public void raiseLevel3(int level)" in result.body


def test_only_links_to_other_pages_make_a_list() -> None:
    entries = [
        f"<h3><a href='{{}}'>The {n}th pump of the field is started now</a></h3><p>It is started with one command.</p>"
        for n in range(12)
    ]
    others = html("".join(entry.format(f"/{n}.html") for n, entry in enumerate(entries)), "Pumps")
    within = html("".join(entry.format(f"#s{n}") for n, entry in enumerate(entries)), "Pumps")
    assert outcome(others, "http://docs.test/pumps/").reason is Reason.LIST_PAGE
    assert article(within, "http://docs.test/pumps/")
