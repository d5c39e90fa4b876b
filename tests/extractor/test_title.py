"""Titles: similarity, site names, headings and lines that are titles, and pages with an unusable <title>."""

import pytest

from extractor.fields.title import find_title, to_half_width
from extractor.fields.title_matching import (
    MAX_COMPARED_CHARS,
    TextComparer,
    clean_title,
    strip_known_site_names,
    strip_site_names,
    title_suffix,
)
from extractor.page.parsed_page import Body, ParsedPage, parse_text

SITE = "Electrical Safety Foundation International"
TEXT = (
    "<div id='body'>"
    + "<p>这是一段正文，足够长的正文，里面有标点，也有不少字，应当被认为是文章的内容，不会有错。</p>" * 3
    + "</div>"
)
META = "<p>2016-05-09 10:20 来源：某报</p>"


def read_html(html: str, url: str = "http://news.test/") -> ParsedPage:
    document = parse_text(html, url)
    assert document is not None
    return document


def body_of(document: ParsedPage) -> Body:
    """The element that is called body with all of its lines, or the outermost one without any."""
    ids = [span.tag_info.attributes.get("id") for span in document.layout.spans]
    if "body" not in ids:
        return Body(0, (), "")
    span = document.layout.spans[ids.index("body")]
    return Body(ids.index("body"), tuple(range(span.start_line, span.end_line)), "")


def title_of(html: str, url: str = "http://news.test/", suffixes: tuple[str, ...] = ()) -> str:
    document = read_html(html, url)
    return find_title(document, body_of(document), suffixes)


def similarity(first: str, second: str) -> float:
    return TextComparer(second).similarity(first)


@pytest.mark.parametrize(
    ("first", "second", "likeness"),
    [
        ("石油", "石油", 1.0),
        ("世界石油大会", "石油大会", 4 / 6),
        ("油", "石油气", 0.0),
        ("", "", 0.0),
        ("abcbdab", "bdcaba", 4 / 7),
        ("ab", "ba", 1 / 2),
        ("AB", "ab", 1.0),
        ("ab  cd", "ab\ncd", 1.0),
    ],
    ids=["same", "part", "three times as long", "empty", "other order", "reversed", "case", "white space"],
)
def test_similarity_is_the_lcs_divided_by_the_longer_length(first: str, second: str, likeness: float) -> None:
    assert similarity(first, second) == pytest.approx(likeness)


def test_similarity_compares_a_bounded_part() -> None:
    assert similarity("a" * MAX_COMPARED_CHARS + "b" * 10**6, "a" * MAX_COMPARED_CHARS + "c" * 10**6) == 1.0


@pytest.mark.parametrize(
    ("other", "least", "likeness"),
    [("石油大会", 0.6, 4 / 6), ("石油大会", 0.7, 0.0), ("会大油石", 0.5, 0.0), ("某人某事某物", 0.5, 0.0)],
    ids=["reached", "too short", "other order", "other characters"],
)
def test_a_minimum_similarity_does_not_change_higher_values(other: str, least: float, likeness: float) -> None:
    actual = TextComparer("世界石油大会").similarity(other, least)
    assert (actual if actual >= least else 0.0) == pytest.approx(likeness)


@pytest.mark.parametrize(
    ("text", "tidied"),
    [
        ("油价&quot;下跌&quot; &#8217;", '油价"下跌" ’'),
        ("油价\u00a0下\u200b跌\u00ad\ue004", "油价 下跌"),
        ("<em>Oil</em> falls", "Oil falls"),
        ("30 Years of <br> Tags", "30 Years of <br> Tags"),
        ("谁来埋单？- -", "谁来埋单？"),
        ("| Oil falls |", "Oil falls"),
        ("&#99999999; &#xD800;", "&#99999999; &#xD800;"),
        ("标题(1/12)（图）", "标题(1/12)（图）"),
    ],
    ids=["escaped twice", "unseen", "inline tags", "text about tags", "empty joints", "bars", "no character", "shown"],
)
def test_a_title_is_cleaned_but_not_changed(text: str, tidied: str) -> None:
    assert clean_title(text) == tidied


@pytest.mark.parametrize(
    ("title", "site", "left"),
    [
        ("大庆油田产量创新高_国内新闻_某某网", "", "大庆油田产量创新高"),
        ("大庆油田产量创新高-某某网", "", "大庆油田产量创新高"),
        ("大庆油田产量创新高——某某网", "某某网", "大庆油田产量创新高"),
        ("大庆油田产量创新高——某某网", "", "大庆油田产量创新高——某某网"),
        ("绿色发展、安居乐业——某地乡村纪实_某某网", "", "绿色发展、安居乐业——某地乡村纪实"),
        ("绿色发展——某地纪实——某某网", "某某网", "绿色发展——某地纪实"),
        ("Oil prices fall again — The Guardian", "", "Oil prices fall again"),
        ("Oil prices fall again as co-op closes - The Guardian", "", "Oil prices fall again as co-op closes"),
        ("Oil prices fall again | Business | Reuters", "", "Oil prices fall again"),
        ("棱镜|数据业大整顿：爬虫与现金贷共生共荣", "", "棱镜|数据业大整顿：爬虫与现金贷共生共荣"),
        ("2016-2017年度石油产量", "", "2016-2017年度石油产量"),
        (f"Wiring - {SITE}", SITE, f"Wiring - {SITE}"),
        (f"Home wiring basics - {SITE}", SITE, "Home wiring basics"),
        ("某某网 - 大庆油田产量创新高", "某某网", "大庆油田产量创新高"),
        ("", "", ""),
    ],
    ids=["_", "-", "dashes before the site", "dashes before what is no name", "dashes in a title", "both", "one dash",
         "Latin hyphen", "|", "short head stays", "years",
         "too short a rest", "site", "before", "empty"],
)  # fmt: skip
def test_site_names_are_stripped(title: str, site: str, left: str) -> None:
    assert strip_site_names(title, site) == left


@pytest.mark.parametrize(
    ("title", "host", "left"),
    [
        (f"Home wiring basics - {SITE}", "esfi.org", "Home wiring basics"),
        ("Klatch Coffee | Example App Store", "apps.example.com", "Klatch Coffee"),
        ("Oil falls again | BBC World News Today", "bbc.co.uk", "Oil falls again"),
        ("Oil falls again | And what that may mean", "bbc.co.uk", "Oil falls again | And what that may mean"),
    ],
    ids=["initials", "label begins the name", "short label", "no name"],
)
def test_a_host_spells_the_name_of_its_site(title: str, host: str, left: str) -> None:
    assert strip_site_names(title, host=host) == left


def test_a_learned_suffix_of_any_length_is_stripped() -> None:
    suffix = "_某省某市人民政府门户网站"
    assert strip_site_names("放假通知" + suffix) == "放假通知" + suffix
    assert strip_site_names("放假通知" + suffix, suffixes=("_某网", suffix, "网站")) == "放假通知"
    assert strip_site_names(suffix, suffixes=(suffix,)) != ""


def test_only_known_names_are_stripped() -> None:
    assert strip_known_site_names("My Journey | Part 1 - Hope", ["Hope"]) == "My Journey | Part 1"
    assert strip_known_site_names("My Journey | Part 1", ["Hope"]) == "My Journey | Part 1"
    assert strip_known_site_names("My Journey | Part 1 | Hope Blog", [], host="hope.test") == "My Journey | Part 1"


@pytest.mark.parametrize(
    ("stated", "title", "tail"),
    [
        ("产量创新高_新闻_某网", "产量创新高", "_新闻_某网"),
        ("产量创新高_新闻_某网", "", "_某网"),
        ("产量创新高_新闻_某网", "另一个标题", "_某网"),
        ("Oil falls | The Guardian", "Oil falls", " | The Guardian"),
        ("Oil falls", "Oil falls", ""),
        ("某网_" + "很长" * 20, "", ""),
    ],
    ids=["title known", "not known", "another", "Latin", "no joint", "too long"],
)
def test_title_suffixes(stated: str, title: str, tail: str) -> None:
    assert title_suffix(stated, title) == tail


@pytest.mark.parametrize(
    ("html", "title"),
    [
        (f"<title>油价再次下跌_某网</title><h2>今日要闻</h2><h1>国际油价再次下跌</h1>{TEXT}", "国际油价再次下跌"),
        (f"<title>国际油价再次下跌_某网</title><h1>某网</h1><h2>国际油价再次下跌</h2>{TEXT}", "国际油价再次下跌"),
        (f"<title>油价再次下跌_某网</title><h1>市场：油价两周里第三次下跌</h1>{TEXT}", "市场：油价两周里第三次下跌"),
        (f"<title>油价再次下跌_某网</title><h1>人物专栏</h1><p>油价再次下跌 记者</p>{TEXT}", "油价再次下跌"),
        (f"<title>油价再次下跌_某网</title><h1>财经要闻</h1>{TEXT}<h1>油价再次下跌</h1>", "油价再次下跌"),
        (f"<title>油价又再次下跌_某网</title><h1><i>原创</i>油价又再次下跌</h1>{TEXT}", "油价又再次下跌"),
        (f"<title>油价又再次下跌_某网</title><h1>国际观察<br>油价又再次下跌</h1>{TEXT}", "油价又再次下跌"),
        (f"<title>油价又再次下跌-某网</title><h1>国际油价又再次<br>下跌</h1>{TEXT}", "国际油价又再次 下跌"),
        (f"<title>Oil's latest fall - X</title><h1>Oil’s latest fall</h1>{TEXT}", "Oil's latest fall"),
        (f"<title>History of coffee - X</title><h1>history of coffee</h1>{TEXT}", "History of coffee"),
        (f"<title>Going up-Site</title><meta property='og:title' content='Oil prices rise'>"
         f"<h1>Oil prices rise</h1>{TEXT}", "Oil prices rise"),
    ],
    ids=["most similar", "h1 is the site", "h1 shares words", "h1 is a channel", "behind the body", "badge", "rubric",
         "two lines", "quotes", "case", "og:title"],
)  # fmt: skip
def test_a_heading_is_the_title(html: str, title: str) -> None:
    assert title_of(html) == title


OIL = "Oil prices have now fallen for the third week in a row"
MET = '<meta property="og:title" content="{}"><meta name="twitter:title" content="{}">'
LINKED = '<script type="application/ld+json">{{"@type": "NewsArticle", "headline": "{}"}}</script>'


@pytest.mark.parametrize(
    ("title", "shared", "tweeted", "headline", "heading", "chosen"),
    [
        (OIL, f"The {OIL}", "", OIL, OIL, OIL),
        (OIL, "Oil prices have fallen for the third week in a row", "", OIL, OIL,
         "Oil prices have fallen for the third week in a row"),
        (f"{OIL} | X", "Oil prices have fallen for the third week in a row | X", "", "", OIL,
         "Oil prices have fallen for the third week in a row"),
        (OIL, "You will not believe what a barrel costs this week", "", "", OIL, OIL),
        (f"{OIL} - X", f"{OIL} - X", f"{OIL} - X", "", f"The {OIL}", OIL),
        (f"{OIL} - Fuels", f"{OIL} - Fuels", f"{OIL} - Fuels", "", OIL, OIL),
        (OIL, OIL, "", "", f"The {OIL}", f"The {OIL}"),
        (OIL, OIL, OIL, f"The {OIL}", f"The {OIL}", f"The {OIL}"),
        (OIL, OIL, OIL, "", "Oil prices have fallen for weeks", "Oil prices have fallen for weeks"),
        ("Oil & gas fall", "Oil & gas fall", "Oil & gas fall", "", "Oil and gas fall", "Oil and gas fall"),
        ("国际油价两周里第三次下跌", "国际油价两周里第三次下", "", "", "国际油价两周里第三次下跌",
         "国际油价两周里第三次下跌"),
    ],
    ids=["og:title says more", "og:title says it shorter", "with the site", "og:title says something else",
         "all but the page agree", "a channel", "only two agree", "JSON-LD says what is shown", "too different", "and",
         "no words to compare"],
)  # fmt: skip
def test_the_edited_wording_of_a_heading(
    title: str, shared: str, tweeted: str, headline: str, heading: str, chosen: str
) -> None:
    head = f"<title>{title}</title>{MET.format(shared, tweeted)}{LINKED.format(headline)}"
    assert title_of(f"{head}<h1>{heading}</h1>{TEXT}", "http://x.test/") == chosen


def test_an_h1_that_shares_words_with_the_url_is_the_title() -> None:
    html = f"<title>Blog</title><h1>Ten Travel Hacks</h1>{TEXT}"
    assert title_of(html, "http://news.test/blog/ten-travel-hacks/") == "Ten Travel Hacks"


@pytest.mark.parametrize(
    ("html", "title"),
    [
        (f"<title>油价再次下跌了_某网</title><p>油价再次下跌了 记者</p><h2>今日要闻</h2>{TEXT}", "油价再次下跌了"),
        (f"<title>某股市--油价再次下跌了</title><div>油价再次下跌了</div>{META}{TEXT}", "油价再次下跌了"),
        (f"<title>油价再次下跌了 某院</title><div>油价再次下跌了</div>{META}{TEXT}", "油价再次下跌了"),
        (f"<title>某网首页</title><p>国际油价再次下跌</p>{META}{TEXT}", "国际油价再次下跌"),
        (f"<p>首页 &gt; 国际新闻报道</p><td>国际油价再次下跌</td>{META}{TEXT}", "国际油价再次下跌"),
        (f"<h1>国际油价再次下跌</h1>{META}<p>微信扫一扫一扫</p>{TEXT}", "国际油价再次下跌"),
        (f"<h1>新型号手机正式发布</h1>{TEXT}", "新型号手机正式发布"),
        (f"<center><b>国际油价再次下跌</b></center><p>本报特约评论员</p>{TEXT}", "国际油价再次下跌"),
        (f"<p>主题：国际油价再次下跌</p>{TEXT}", "国际油价再次下跌"),
        (f"<p>原标题：油价再次下跌</p><title>国际油价再次下跌</title>{TEXT}", "国际油价再次下跌"),
        (f"<p>国际油价再次下跌</p><p>一、培养目标</p>{TEXT}", "国际油价再次下跌"),
        (f"<p>国际油价再次下跌</p><p>某某课题组全体</p>{TEXT}<li># re: 国际油价再次下跌</li>", "国际油价再次下跌"),
        ("<meta property='og:title' content='国际油价再次下跌'>" + TEXT, "国际油价再次下跌"),
        ("<script type='application/ld+json'>{\"@type\": \"NewsArticle\", \"headline\": \"国际油价再次下跌\"}</script>"
         + TEXT, "国际油价再次下跌"),
        ("<title>国际油价走势分析</title><meta property='og:title' content='油价第三次下跌'>" + TEXT, "油价第三次下跌"),
        ("<title>国际油价走势分析</title><meta property='og:title' content='油价第三次下跌'>"
         + TEXT + "<p>国际油价走势分析</p>", "国际油价走势分析"),
        ("<p>只一行</p>", ""),
        ("<svg><title>图标</title></svg><p>只一行</p>", ""),
    ],
    ids=["shown in part", "site before", "part behind a space", "title of the site", "breadcrumb", "no title, heading",
         "a title with a word for dates", "centred and strong", "label", "original title", "numbered", "replies",
         "og:title", "JSON-LD", "og:title and nothing shown", "<title> shown", "nothing", "svg title"],
)  # fmt: skip
def test_titles_without_a_heading(html: str, title: str) -> None:
    assert title_of(html) == title


def test_suffixes_of_the_site_are_stripped() -> None:
    html = f"<title>放假通知_某省某市人民政府门户网站</title><meta property='og:title' content='通知'>{TEXT}"
    assert title_of(html, suffixes=("_某省某市人民政府门户网站",)) == "放假通知"


def test_a_link_above_the_text_is_the_last_choice() -> None:
    link = "<div><a href='/1'>国际油价再次下跌引发关注</a></div>"
    assert title_of(f"{link}{TEXT}") == "国际油价再次下跌引发关注"
    assert title_of(f"<title>油价</title>{link}{TEXT}") == "油价"


def test_a_title_of_a_million_characters_is_cut() -> None:
    long = "标题" * 500_000
    assert len(title_of(f"<title>{long}</title><h1>{long}</h1>{TEXT}")) <= 300


@pytest.mark.parametrize(
    ("title", "written"),
    [
        ("How Does Mapping Work？", "How Does Mapping Work?"),
        ("ＰＤＣ bits （new）", "PDC bits (new)"),
        ("油价会上涨？（图）", "油价会上涨？（图）"),
        ("유가 상승？", "유가 상승？"),
        ("原油ＡＰＩ", "原油ＡＰＩ"),
    ],
)
def test_full_width_characters_stay_in_east_asian_titles(title: str, written: str) -> None:
    assert to_half_width(title) == written


SECTIONS = (
    "<h1>{0}</h1><p>" + "Long enough to be read, with a mark at its end, and with some more words in it. " * 2 + "</p>"
)


@pytest.mark.parametrize(
    ("title", "section", "text"),
    [("Oil wells", "2. Oil prices", "A text that is long enough to be read, with a mark at the end of it, for sure."),
     ("石油", "二、石油价格", "这是一段正文，足够长的正文，里面有标点，也有不少字，应当被认为是文章的内容，不会错。")],
)  # fmt: skip
def test_a_section_heading_is_not_the_title(title: str, section: str, text: str) -> None:
    html = f"<title>{title}</title><div>{title}</div><div id='body'><p>{text}</p><h1>{section}</h1><p>{text}</p></div>"
    assert title_of(html, "http://news.test/oil-prices") != section


def test_a_heading_above_the_text_ranks_before_a_similar_section() -> None:
    body = "<h1>Oil and gas wells of Texas</h1>" + SECTIONS.format("Oil wells, Texas").replace("h1", "h2")
    assert title_of(f"<title>Wells - Site</title><div id='body'>{body}</div>", "http://a.test/oil-wells") == (
        "Oil and gas wells of Texas"
    )


@pytest.mark.parametrize(
    "head",
    [
        "<title>What Are Wells? - The Oil Book</title>",
        "<title>What are wells? - Oil - The Oil Book</title><meta property='og:title' content='What are wells?'>",
    ],
)
def test_the_site_name_in_an_h1_is_not_the_title(head: str) -> None:
    actual = title_of(f"{head}<h1>The Oil Book</h1><div id='body'><h2>What Are Wells?</h2>{TEXT}</div>")
    assert actual.lower() == "what are wells?"


def test_the_part_of_a_heading_that_begins_title_is_the_title() -> None:
    badge = "<div>Stay organized: sort what you like in lists of your own</div>"
    html = f"<title>IAM overview | Identity and access | Cloud docs</title><h1>IAM overview{badge}</h1>"
    assert title_of(html + TEXT) == "IAM overview"


def test_a_distant_heading_that_begins_title_is_the_title() -> None:
    contents = "".join(f"<p>{number} Contents</p>" for number in range(30))
    assert title_of(f"<title>pacman - Wiki</title><h1>pacman</h1>{contents}{TEXT}") == "pacman"


@pytest.mark.parametrize(
    ("stated", "url", "title"),
    [
        ("Skincare Sets", "http://shop.test/collections/skincare-sets?x=1", "Skincare Sets"),
        ("Buy MacBook", "http://shop.test/buy/macbook", "Buy MacBook"),
        ("Auth | Some Docs", "http://some.test/docs/auth.html", "Auth"),
        ("News", "http://some.test/news/1234.html", "Limited edition now"),
    ],
)
def test_a_short_title_that_the_url_spells_is_used(stated: str, url: str, title: str) -> None:
    assert title_of(f"<title>{stated}</title><p>Limited edition now</p>{TEXT}", url) == title


def test_an_underscore_inside_a_word_is_not_a_separator() -> None:
    assert strip_site_names("Module ngx_http_rewrite_module") == "Module ngx_http_rewrite_module"
    assert strip_site_names("Oil prices fall again _ Site") == "Oil prices fall again"


def test_initials_of_a_name_skip_function_words() -> None:
    name = "Occupational Safety and Health Administration"
    assert strip_site_names(f"Electrical work | {name}", host="osha.gov") == "Electrical work"
