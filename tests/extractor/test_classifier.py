# ruff: noqa: E501 (markup stands on long lines, as pages have it)
"""Page types and the body rule of each: forums, answers, manuals, shops, application shells."""

import pytest

from domain.article import Article, Block, BlockKind, ExtractionResult, PageType
from domain.outcome import Outcome, Reason
from extractor import ExtractSettings
from extractor.article_extractor import ArticleExtractor
from extractor.page_types.classifier import type_by_content

READER = ArticleExtractor()
FILLER = "The pump was taken apart on Monday, cleaned with warm water, and put together again by two of us. "
ZH_FILLER = "我们在星期一把水泵拆开，用温水清洗干净，然后两个人一起重新装好，用了整整一个下午。"


def read(html: str, url: str = "") -> ExtractionResult:
    return READER.extract_with_site(html.encode(), url)


def article(html: str, url: str = "") -> Article:
    result = read(html, url).result
    assert isinstance(result, Article), result
    return result


def page(title: str, body: str, head: str = "") -> str:
    return f"<html><head><title>{title}</title>{head}</head><body>{body}</body></html>"


def posts_of(result: Article) -> list[tuple[str, str]]:
    return [(block.text, block.time[:10]) for block in result.blocks if block.kind is BlockKind.POST_START]


BREADCRUMB = "<p><a href='/'>Board index</a> &raquo; <a href='/f3'>Documentation</a> &raquo; <a href='/t9'>Pump</a></p>"
MENU = "<nav>" + "".join(f'<a href="/menu/{n}">Menu entry {n}</a> ' for n in range(12)) + "</nav>"


# -- threads

ENGLISH_BOARD = page(
    "How to clean a pump? | Pump Forum",
    MENU
    + "<h1>How to clean a pump?</h1>"
    + "".join(
        f"""<div class="post" id="p{100 + n}"><div class="postprofile"><a class="username" href="./memberlist.php?mode=viewprofile&u={n}">{who}</a>
        <dl><dt>Posts: {n * 37}</dt><dd>Joined: 3 May 2001</dd></dl></div>
        <div class="postbody"><p class="author">by {who} » <time datetime="2024-05-0{n + 1}T10:00:00+00:00">May {n + 1}, 2024</time></p>
        <div class="content"><p>{text}</p></div><div class="signature">Life is a pump that never stops.</div></div></div>"""
        for n, (who, text) in enumerate(
            (
                ("alice", "My pump makes a noise like an old tram. " + FILLER),
                ("bob", "Take the lid off first. " + FILLER.replace("Monday", "Tuesday")),
                ("carol", "Thanks, that did it!"),
            )
        )
    ),
    '<meta name="generator" content="phpBB">',
)
CHINESE_BOARD = page(
    "水泵怎么清洗？ - 机械论坛 - Powered by Discuz!",
    "<h1>水泵怎么清洗？</h1><div id='postlist'>"
    + "".join(
        f"""<table id="pid{900 + n}" class="plhin"><tr><td class="pls"><div class="authi"><a href="home.php?mod=space&uid={n}" class="xw1">{who}</a></div>
        <p>注册时间 2011-3-4</p></td><td class="plc"><div class="authi"><em id="authorposton{n}">发表于 2016-5-{9 + n} 10:2{n}</em></div>
        <table><tr><td class="t_f" id="postmessage_{900 + n}">{text}</td></tr></table></td></tr></table>"""
        for n, (who, text) in enumerate(
            (
                ("老张", "水泵响得像老电车一样，请问各位怎么办？" + ZH_FILLER),
                ("小李", "先把盖子打开再说。" + ZH_FILLER.replace("星期一", "星期二")),
                ("王工", "谢谢，问题已经解决了！"),
            )
        )
    )
    + "</div>",
    '<meta name="generator" content="Discuz! X3.4" />',
)
QUESTION = page(
    "How do I sort a list? - Answers",
    """<main itemscope itemtype="https://schema.org/QAPage"><h1>How do I sort a list?</h1>
    <div class="question"><div class="prose"><p>I have a list of numbers and want them in order, the smallest one first.</p></div>
    <div class="who" itemprop="author"><a href="/users/1/ann">ann</a></div><span class="relativetime" title="2020-01-02 10:00:00Z">asked Jan 2, 2020</span></div>
    <div class="answer"><div class="prose"><p>Call the function that sorts it, and give the list to that function as it is.</p><pre><code>sorted(numbers)
numbers.sort()</code></pre></div>
    <div class="who" itemprop="author"><a href="/users/2/ben">ben</a></div><span class="relativetime" title="2020-01-03 10:00:00Z">answered Jan 3, 2020</span>
    <ul class="comments"><li class="comment"><span>Better use the method, it does so in place.</span> – <a href="/users/9/x">someone</a></li></ul></div>
    <div class="answer"><div class="prose"><p>You can also write that by hand, and learn how sorting works while you do so.</p></div>
    <div class="who" itemprop="author"><a href="/users/3/cy">cy3</a></div><span class="relativetime" title="2020-01-04 10:00:00Z">answered Jan 4, 2020</span></div></main>""",
)
ISSUE = page(
    "Crash when the file is empty · Issue #17 · tools/reader",
    '<h1>Crash when the file is empty</h1><div class="discussion">'
    + "".join(
        f'<div class="timeline-item"><h3 class="head"><a class="author" href="/users/{who}">{who}</a> '
        f'commented <time datetime="2023-02-0{n}T08:00:00Z">Feb {n}, 2023</time></h3>'
        f'<div class="comment-body markdown-body"><p>{text}</p></div></div>'
        for n, (who, text) in enumerate(
            (
                ("dora", "When the file has no lines the reader stops with a traceback, and nothing says why."),
                ("emil", "I can see the same here, with every version since the last summer, on two machines."),
                ("dora", "It was fixed in the last release, and a test for it was added. I close this now."),
            ),
            1,
        )
    )
    + "</div>",
)


@pytest.mark.parametrize(
    ("html", "url", "posts", "kept", "left_out"),
    [
        (
            ENGLISH_BOARD,
            "http://forum.test/viewtopic.php?t=12",
            [("alice", "2024-05-01"), ("bob", "2024-05-02"), ("carol", "2024-05-03")],
            ("noise like an old tram", "Take the lid off first", "Thanks, that did it!"),
            ("never stops", "Posts:", "Menu entry"),
        ),
        (
            ENGLISH_BOARD.replace("<h1>", f"{BREADCRUMB}<h1>"),
            "http://forum.test/viewtopic.php?t=12",
            [("alice", "2024-05-01"), ("bob", "2024-05-02"), ("carol", "2024-05-03")],
            ("noise like an old tram", "Take the lid off first", "Thanks, that did it!"),
            ("never stops", "Posts:", "Menu entry", "Board index"),
        ),
        (
            CHINESE_BOARD,
            "http://bbs.test/thread-12-1-1.html",
            [("老张", "2016-05-09"), ("小李", "2016-05-10"), ("王工", "2016-05-11")],
            ("像老电车一样", "先把盖子打开", "问题已经解决了"),
            ("注册时间",),
        ),
        (
            QUESTION,
            "http://answers.test/questions/55/how-do-i-sort-a-list",
            [("ann", "2020-01-02"), ("ben", "2020-01-03"), ("cy3", "2020-01-04")],
            ("smallest one first", "sorted(numbers)", "write that by hand"),
            ("Better use the method",),
        ),
        (
            ISSUE,
            "http://git.test/tools/reader/issues/17",
            [("dora", "2023-02-01"), ("emil", "2023-02-02"), ("dora", "2023-02-03")],
            ("stops with a traceback", "since the last summer", "I close this now"),
            (),
        ),
    ],
    ids=["board-en", "board-documentation", "board-zh", "questions", "issue"],
)
def test_a_thread_contains_all_its_posts(
    html: str, url: str, posts: list[tuple[str, str]], kept: tuple[str, ...], left_out: tuple[str, ...]
) -> None:
    result = article(html, url)
    assert result.page_type == PageType.THREAD
    assert posts_of(result) == posts
    assert (result.author, result.published) == posts[0]
    assert [result.body.find(text) for text in kept] == sorted(result.body.find(text) for text in kept)
    assert all(text in result.body for text in kept)
    assert not any(text in result.body for text in left_out)


def test_quotes_in_answers_are_removed() -> None:
    quoted = "My pump makes a noise like an old tram. " + FILLER
    answer = (
        f'<blockquote class="quote"><cite>alice wrote:</cite><p>{quoted}</p></blockquote><p>Take the lid off first. '
    )
    result = article(
        ENGLISH_BOARD.replace("<p>Take the lid off first. ", answer), "http://forum.test/viewtopic.php?t=12"
    )
    assert result.body.count("like an old tram") == 1 and "Take the lid off first" in result.body
    assert "wrote" not in result.body


def test_comments_below_an_article_are_not_a_thread() -> None:
    comments = "".join(
        f'<div class="comment"><a class="author" href="/user/{who}">{who}</a> <time datetime="2024-05-09">May 9</time>'
        f'<div class="comment-content"><p>I do not believe a word of this, and I told them so. {n}</p></div></div>'
        for n, who in enumerate(("ann", "ben", "cyd", "dan"))
    )
    body = f"<article><h1>The old pump works again</h1><p>{FILLER * 3}</p><p>{FILLER.replace('Monday', 'Friday') * 3}</p></article>"
    head = '<meta property="article:published_time" content="2024-05-08T08:00:00Z"><meta property="og:type" content="article">'
    result = article(page("The old pump works again", body + comments, head), "http://news.test/2024/05/08/pump.html")
    assert result.page_type == PageType.ARTICLE
    assert "believe a word" not in result.body and not posts_of(result)


def test_blog_entries_are_not_posts() -> None:
    entries = "".join(
        f'<div class="post"><h2><a href="/2024/0{n}/entry-{n}">A long headline of entry number {n}</a></h2>'
        f'<a class="author" href="/user/ann">ann</a> <time datetime="2024-0{n}-01">1.{n}.2024</time>'
        f'<div class="body"><p>{FILLER}</p></div></div>'
        for n in range(1, 8)
    )
    result = read(page("Ann's notes", entries), "http://blog.test/").result
    assert not isinstance(result, Article) or result.page_type != PageType.THREAD


def test_an_faq_page_is_not_a_thread() -> None:
    asked = "".join(
        f'<div itemprop="mainEntity" itemscope itemtype="https://schema.org/Question"><h3 itemprop="name">Why is it {n}?</h3>'
        f'<div class="answer" itemprop="acceptedAnswer"><p>{FILLER} {n}</p></div></div>'
        for n in range(6)
    )
    html = page(
        "Questions", f'<div itemscope itemtype="https://schema.org/FAQPage"><h1>Questions and answers</h1>{asked}</div>'
    )
    assert article(html, "http://shop.test/help/faq").page_type != PageType.THREAD


def test_a_page_in_noscript_is_read() -> None:
    shell = '<div id="app" class="App"></div><script src="/app.js"></script>'
    unscripted = ENGLISH_BOARD.partition("<body>")[2].partition("</body>")[0].replace(MENU, "")
    result = article(
        page("How to clean a pump?", f"{shell}<noscript>{unscripted}</noscript>"), "http://forum.test/t/pump/12"
    )
    assert result.page_type == PageType.THREAD
    assert posts_of(result)[0] == ("alice", "2024-05-01") and "Take the lid off first" in result.body


def test_a_picture_in_noscript_is_ignored() -> None:
    lazy = "<noscript>" + '<p><img src="/lazy.jpg"></p>' * 60 + "</noscript>"
    result = article(
        page("The old pump", f"<h1>The old pump works again</h1>{lazy}<p>{FILLER * 4}</p>"), "http://news.test/p"
    )
    assert (
        result.body == FILLER.strip()
        if result.body.count("Monday") == 1
        else result.body.startswith("The pump was taken")
    )


# -- manuals, products, services, collections

SIDEBAR = (
    '<div class="sidebar"><ul>'
    + "".join(f'<li><a href="c{n}.html">Chapter {n}</a></li>' for n in range(30))
    + "</ul></div>"
)
MANUAL = page(
    "Filters - Pump 2.1 documentation",
    SIDEBAR
    + f"""<div class="document"><h1>Filters</h1><p>{FILLER}</p><pre>pump.filter(size=3)
pump.start()</pre><p>{FILLER.replace("Monday", "Friday")}</p></div><div class="footer">Created using Sphinx 7.2.</div>""",
    '<meta name="generator" content="Docutils 0.19">',
)
PRODUCT = page(
    "Garden pump 300 | Pump Shop",
    MENU
    + f"""<main><div class="gallery"><p>Garden pump 300</p></div><h1>Garden pump 300</h1><p class="price">$129.00</p><a href="/cart">Add to cart</a>
    <section class="description"><h2>What it does</h2><p>{FILLER}</p></section>
    <section class="tab-panel" style="display:none"><h2>Specifications</h2><p>It weighs seven kilograms, and takes two hundred watts at most.</p></section>
    <section class="shipping"><h2>Shipping</h2><p>{FILLER.replace("Monday", "Friday")}</p></section></main>""",
    '<script type="application/ld+json">{"@type": "Product", "name": "Garden pump 300", "offers": {"@type": "Offer", "price": "129"}}</script>',
)
SERVICE = page(
    "Pump repair in your town | Pump Company",
    MENU
    + "<h1>Pump repair in your town</h1>"
    + "".join(
        f'<section class="block-{name}"><div class="inner"><h2>{name}</h2><p>{FILLER.replace("Monday", name)}</p></div></section>'
        for name in ("Inspection", "Cleaning", "Repair", "Replacement")
    )
    + '<a href="/contact">Contact us</a> <p>Get a quote</p>',
)


def test_a_manual_contains_its_code_but_not_its_sidebar() -> None:
    result = article(MANUAL, "http://docs.test/en/filters.html")
    assert result.page_type == PageType.REFERENCE
    assert any(block.kind is BlockKind.CODE and "pump.start()" in block.text for block in result.blocks)
    assert "Chapter 7" not in result.body and "Friday" in result.body


def test_a_product_contains_the_text_of_its_tabs() -> None:
    result = article(PRODUCT, "http://shop.test/products/garden-pump-300")
    assert result.page_type == PageType.PRODUCT
    assert all(text in result.body for text in ("Monday", "two hundred watts", "Friday"))
    assert "Menu entry" not in result.body


def test_a_service_contains_all_its_sections() -> None:
    result = article(SERVICE, "http://pumps.test/services/repair")
    assert result.page_type == PageType.SERVICE
    assert all(f"on {name}" in result.body for name in ("Inspection", "Cleaning", "Repair", "Replacement"))


def shelf(own: str) -> str:
    cards = "".join(
        f'<li class="card"><a href="/products/pump-{n}">Garden pump number {n}</a><p>${n}9.00</p></li>'
        for n in range(1, 25)
    )
    head = '<script type="application/ld+json">{"@type": "CollectionPage", "name": "Garden pumps"}</script>'
    return page("Garden pumps | Pump Shop", f"{MENU}<main><h1>Garden pumps</h1>{own}<ul>{cards}</ul></main>", head)


def test_a_collection_contains_its_introduction() -> None:
    own = f"<p>{FILLER * 2}</p><p>{FILLER.replace('Monday', 'Friday') * 3}</p>"
    result = article(shelf(own), "http://shop.test/collections/pumps")
    assert result.page_type == PageType.COLLECTION
    assert "Friday" in result.body


def test_a_list_without_introduction_is_rejected() -> None:
    result = read(shelf(""), "http://shop.test/collections/pumps").result
    assert isinstance(result, Outcome) and result.reason is Reason.LIST_PAGE


def test_a_chinese_article() -> None:
    html = page(
        "水泵又能用了_某某网",
        f"<h1>水泵又能用了，全镇庆祝</h1><p>2016-05-09 10:20 来源：某某网</p><p>{ZH_FILLER}</p><p>{ZH_FILLER}</p>",
    )
    assert article(html, "http://news.test/2016/05/09/1.html").page_type == PageType.ARTICLE


CODE = Block(BlockKind.CODE, "int main() {}")
PICTURES = (Block(BlockKind.PICTURE, "", url="http://a.test/p.png"),) * 3


@pytest.mark.parametrize(
    ("published", "body", "blocks", "kind"),
    [
        ("2016-05-09", "井场日落。", (), PageType.ARTICLE),
        ("", "井场日落。", (), PageType.REFERENCE),
        ("2016-05-09", "int main() {}\n用法", (CODE,), PageType.CODE),
        ("2016-05-09", "用法见下，" * 9, (CODE,), PageType.ARTICLE),
        ("2016-05-09", "井场日落。" * 9, PICTURES, PageType.GALLERY),
        ("2016-05-09", "井场日落。" * 99, PICTURES, PageType.ARTICLE),
    ],
)
def test_the_content_decides_if_no_type_is_declared(
    published: str, body: str, blocks: tuple[Block, ...], kind: PageType
) -> None:
    assert type_by_content(Article("http://a.test/", "题", body, published, blocks=blocks)) is kind


# -- fragments


def test_an_incomplete_body_is_flagged() -> None:
    buttons = '<div><a href="#">Answer to this</a></div>' * 17
    rest = "".join(f"<div><p>{FILLER.replace('Monday', f'day {n}')}</p>{buttons}</div>" for n in range(40))
    head = '<meta property="og:type" content="article"><meta property="article:published_time" content="2024-05-08">'
    title = "<h1>The pump works again, they say</h1>"
    first = '<div class="article-content"><p>It works again, they say, and all of the town came to see it.</p></div>'
    url = "http://news.test/2024/05/08/the-pump-works-again-they-say.html"
    reading = read(page("The pump works again, they say", f"{title}{first}<section>{rest}</section>", head), url)
    assert isinstance(reading.result, Article) and reading.result.body.count("\n") == 0
    assert reading.warning is not None and reading.warning.reason is Reason.INCOMPLETE_BODY
    assert "% of the readable text" in reading.warning.detail
    reading = read(page("The pump works again, they say", f"{title}{first}<footer>{rest}</footer>", head), url)
    assert isinstance(reading.result, Article) and reading.warning is None, "a footer is left out for good"


def test_a_complete_article_is_not_flagged() -> None:
    teasers = "".join(
        f'<p><a href="/2024/05/0{n}/x">Another long headline {n}</a></p><p>{FILLER}</p>' for n in range(1, 9)
    )
    body = f"<h1>The old pump works again</h1><p>{FILLER * 4}</p><p>{FILLER.replace('Monday', 'Friday') * 4}</p>"
    reading = read(
        page("The old pump works again", body + f'<div class="related">{teasers}</div>'), "http://news.test/a/1234567"
    )
    assert isinstance(reading.result, Article) and reading.warning is None


def test_an_invisible_text_is_flagged() -> None:
    stated = '{"@type": "DiscussionForumPosting", "headline": "My pump", "text": "' + FILLER + '"}'
    html = page(
        "My pump",
        f'<div id="app"></div><script src="a.js"></script><script type="application/ld+json">{stated}</script>',
    )
    reading = read(html, "http://forum.test/t/my-pump/12")
    assert isinstance(reading.result, Article)
    assert reading.warning is not None and reading.warning.reason is Reason.INCOMPLETE_BODY


def test_the_warning_is_about_the_declared_body_that_replaced_a_short_one() -> None:
    declared = '<script type="application/ld+json">{"@type": "Article", "articleBody": "' + FILLER * 9 + '"}</script>'
    html = PRODUCT.replace(FILLER, FILLER * 2).replace("</head>", f"{declared}</head>")
    reader = ArticleExtractor(ExtractSettings(shortest_body=150))
    reading = reader.extract_with_site(html.encode(), "http://shop.test/products/garden-pump-300")
    assert isinstance(reading.result, Article) and reading.result.body.count("Monday") == 9
    assert reading.warning is not None and reading.warning.detail.startswith("0% of")


# -- scripts

SHELLS = {
    "root": '<div id="root"></div><script src="/static/js/main.js"></script>',
    "loading": '<div id="app"><div class="spinner">Loading...</div></div><script src="a.js"></script>',
    "asks": '<noscript>You need to enable JavaScript to run this app.</noscript><div class="x"></div><script src="a.js"></script>',
    "asks aloud": '<p>Please enable JavaScript to use this site.</p><script src="a.js"></script>',
    "chinese": '<p>请启用JavaScript后继续访问</p><script src="a.js"></script>',
    "custom element": '<app-root></app-root><script src="a.js" type="module"></script>',
    "import": "<div style='display: contents'><script>{ Promise.all([import('/_app/start.js')]) }</script></div>",
    "framework": '<div ng-version="17.1.0" class="shell"><p>...</p></div><script src="a.js"></script>',
}


@pytest.mark.parametrize("name", SHELLS)
def test_a_javascript_page_is_detected(name: str) -> None:
    result = read(page("App", SHELLS[name]), "http://app.test/articles/1").result
    assert isinstance(result, Outcome) and result.reason is Reason.NEEDS_JAVASCRIPT
    assert "set render of the site" in result.detail


@pytest.mark.parametrize(
    "body",
    [
        '<div id="root"></div>',  # no script would fill it
        f'<script src="a.js"></script><ul>{"".join(f"<li><a href=/a/{n}>Headline number {n} of the day</a></li>" for n in range(60))}</ul>',
        '<script src="a.js"></script><p>x</p>',
    ],
    ids=["no script", "list", "short"],
)
def test_an_empty_page_without_scripts_is_not_a_javascript_page(body: str) -> None:
    result = read(page("App", body), "http://app.test/articles/1").result
    assert isinstance(result, Outcome) and result.reason is not Reason.NEEDS_JAVASCRIPT


def test_a_notice_below_many_links_asks_for_javascript() -> None:
    links = "".join(f'<p><a href="/{n}">x</a></p>' for n in range(60))
    notice = '<p>Please enable JavaScript to use this site.</p><script src="a.js"></script>'
    result = read(page("App", links + notice), "http://app.test/articles/1").result
    assert isinstance(result, Outcome) and result.reason is Reason.NEEDS_JAVASCRIPT
    assert "set render of the site" in result.detail


def test_a_rendered_page_is_not_a_javascript_page() -> None:
    html = page(
        "The pump",
        f'<div id="root"><h1>The old pump works again</h1><p>{FILLER * 4}</p></div><script src="a.js"></script>',
    )
    assert isinstance(read(html, "http://app.test/articles/1").result, Article)


# -- bad input


def test_many_posts_take_bounded_time() -> None:
    many = "".join(
        f'<div class="post"><a href="/user/{n}">user{n}</a><div class="content"><p>Words of post number {n}, as ever.</p></div></div>'
        for n in range(3_000)
    )
    assert isinstance(
        read(page("Long", f"<h1>Long thread of posts</h1>{many}"), "http://forum.test/viewtopic.php?t=1").result,
        Article,
    )


def test_nested_posts_take_bounded_time() -> None:
    deep = '<div class="post"><a href="/user/1">ann</a><div class="content">word, word.' * 500
    read(page("Deep", deep), "http://forum.test/viewtopic.php?t=1")
