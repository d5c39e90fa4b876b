"""What repeats on a site is no article (ZK-S3): pages of a made-up site, each read with what those before taught."""

from collections.abc import Iterator

import pytest
from sqlalchemy import Connection, create_engine

from docstore.articles import site_templates as sites
from docstore.schema import metadata
from domain.article import Article, SiteTemplate
from domain.outcome import Outcome, Reason
from extractor.article_extractor import ArticleExtractor

BOX = "欢迎订阅石化要闻快讯，每个工作日早晨为您送上最新消息。"
DISCLAIMER = "本文仅代表作者个人观点，与本站立场无关，投资有风险，请读者谨慎判断并自行承担责任。"
ENGLISH_BOX = "Our briefing reaches your inbox every working day at seven, free of charge."
ENGLISH_DISCLAIMER = "The views above are the author's own, and nothing here is meant as advice to buy or sell."
FIELDS = ["大庆油田", "胜利油田", "长庆油田", "辽河油田", "华北油田", "江汉油田"]
LEARNED = sites.MIN_TEMPLATE_PAGES  # articles of a site before a line is known to repeat
NAMES = [f"{field}{unit}" for unit in ("", "一厂", "二厂", "三厂", "四厂") for field in FIELDS]


@pytest.fixture
def site() -> Iterator["MadeUpSite"]:
    """A site of which nothing is known."""
    with create_engine("sqlite://").connect() as connection:
        metadata.create_all(connection)
        yield MadeUpSite(connection)


class MadeUpSite:
    """Its pages are read one after the other; each is read with what those before it have taught."""

    def __init__(self, connection: Connection) -> None:
        self.connection = connection
        self.extractor = ArticleExtractor()
        self.count = 0

    @property
    def knowledge(self) -> SiteTemplate:
        return sites.load_site_template(self.connection, "a.test")

    def read(self, html: str) -> Article | Outcome:
        self.count += 1
        reading = self.extractor.extract_with_site(
            html, f"http://a.test/{self.count}.html", site_template=self.knowledge
        )
        sites.learn_pages(self.connection, [(self.count, "a.test", reading.page_traits)])
        return reading.result

    def grow(self) -> None:
        """Read as many pages as it takes to know what repeats."""
        for number, name in enumerate(NAMES[:LEARNED]):
            assert isinstance(self.read(page(f"{name}产量创新高", *texts(number, name))), Article)


def texts(number: int, name: str) -> tuple[str, str]:
    return (
        f"{name}今天宣布，今年前{number + 3}个月的原油产量超过去年同期，创下五年来的新高。",
        f"{name}负责人表示，下一步将继续推进技术创新，努力降低成本，再打{number + 5}口井。",
    )


def page(title: str, *paragraphs: str, box: str = BOX, disclaimer: str = DISCLAIMER, heading: str | None = None) -> str:
    """A page whose body container holds the site's template text as well; `heading`: other than the title."""
    inner = "".join(f"<p>{text}</p>" for text in (box, *paragraphs, disclaimer) if text)
    return f"""<html><head><title>{title}_国内_石化要闻网</title></head><body>
        <div class="nav"><a href="/">首页</a> <a href="/2">要闻</a></div>
        <h1>{title if heading is None else heading}</h1><div class="article-content">{inner}</div>
        <div class="foot"><p>石化要闻网 京ICP备12345678号</p></div></body></html>"""


def body_of(result: Article | Outcome) -> list[str]:
    assert isinstance(result, Article), result
    return result.body.split("\n")


class TestTemplateLines:
    def test_they_disappear_once_learned(self, site: MadeUpSite) -> None:
        bodies = [body_of(site.read(page(f"{name}产量创新高", *texts(n, name)))) for n, name in enumerate(NAMES)]
        for number, (name, body) in enumerate(zip(NAMES, bodies, strict=True)):
            own = list(texts(number, name))
            assert body == (own if number >= LEARNED else [BOX, *own, DISCLAIMER])

    def test_in_english(self, site: MadeUpSite) -> None:
        bodies = []
        for number in range(LEARNED + 1):
            own = f"Output at field {number} rose by {number + 2} percent in April, the ministry said on Monday."
            html = page(f"Field {number} lifts output", own, box=ENGLISH_BOX, disclaimer=ENGLISH_DISCLAIMER)
            bodies.append((own, body_of(site.read(html))))
        assert bodies[0][1] == [ENGLISH_BOX, bodies[0][0], ENGLISH_DISCLAIMER]
        assert bodies[-1][1] == [bodies[-1][0]]

    def test_lines_of_one_article_are_no_template(self, site: MadeUpSite) -> None:
        """The same page again and again, as an incremental crawl sees it, teaches once."""
        site.grow()
        again = page("新闻", *texts(9, "玉门油田"))
        for _ in range(LEARNED + 1):
            site.count = 100
            assert body_of(site.read(again)) == list(texts(9, "玉门油田"))

    def test_what_only_some_pages_show_stays(self, site: MadeUpSite) -> None:
        """A line on 7 of 10 pages is none of the site's template."""
        shared = "本报记者张三、李四自大庆发回的报道，摄影王五。"
        for number, name in enumerate(NAMES):
            lines = (*texts(number, name), shared) if number % 10 < 7 else texts(number, name)
            site.read(page(f"{name}产量创新高", *lines))
        assert body_of(site.read(page("新闻", *texts(9, "玉门油田"), shared)))[-1] == shared

    @pytest.mark.parametrize("others", [0, 3, LEARNED])
    def test_versions_of_one_article_are_one_text(self, site: MadeUpSite, others: int) -> None:
        """At its own URL, at those of a print, a mobile and an AMP version, and with tracking parameters."""
        for number, name in enumerate(NAMES[:others]):
            site.read(page(f"{name}产量创新高", *texts(number, name)))
        own = texts(30, "玉门油田")
        plain = (
            f"<html><head><title>玉门油田产量创新高</title></head><body><h1>玉门油田产量创新高</h1>{'{}'}</body></html>"
        )
        paragraphs = "".join(f"<p>{text}</p>" for text in own)
        versions = [
            page("玉门油田产量创新高", *own),
            plain.format(f"<p>打印时间：2024-05-01</p>{paragraphs}"),
            plain.format(f"<amp-img src='/a.jpg'></amp-img>{paragraphs}").replace("<html>", "<html amp>"),
            plain.format(f"<div class='m-nav'><a href='/'>首页</a></div>{paragraphs}<p>手机版</p>"),
        ]
        for version in versions * 12:
            assert set(own) <= set(body_of(site.read(version)))
        assert site.knowledge.page_count == others + 1

    def test_lists_teach_nothing(self, site: MadeUpSite) -> None:
        links = "".join(
            f"<li><a href='/{n}'>{name}产量创新高，创下五年来的新高</a> 05-01</li>" for n, name in enumerate(NAMES)
        )
        assert isinstance(site.read(f"<html><body><ul>{links}</ul></body></html>"), Outcome)
        assert site.knowledge.page_count == 0


class TestRecordsWithoutTextOfTheirOwn:
    @pytest.mark.parametrize("heading", ["", "视频：江汉油田的一天"], ids=["no heading", "heading"])
    def test_they_are_refused_with_a_reason(self, site: MadeUpSite, heading: str) -> None:
        site.grow()
        found = site.read(page("视频：江汉油田的一天", heading=heading))
        assert isinstance(found, Outcome)
        assert found.reason in (Reason.NO_BODY, Reason.COPYRIGHT_ONLY) and found.detail

    def test_the_reason_says_that_there_was_template_text(self, site: MadeUpSite) -> None:
        site.grow()
        html = page("视频：江汉油田的一天").replace("京ICP备12345678号", "")
        detail = "Only the title; the rest of the text is repeated on many pages of the site"
        assert site.read(html) == Outcome(Reason.NO_BODY, detail)

    def test_before_anything_is_known_their_text_may_be_an_article(self, site: MadeUpSite) -> None:
        assert body_of(site.read(page("视频：江汉油田的一天", heading=""))) == [BOX, DISCLAIMER]

    @pytest.mark.parametrize("known", [False, True], ids=["first page", "known site"])
    def test_a_copyright_notice_is_refused_known_or_not(self, site: MadeUpSite, known: bool) -> None:
        if known:
            site.grow()
        notice = "版权所有 石化要闻网 未经授权不得转载 京ICP备12345678号"
        found = site.read(page("视频：江汉油田的一天", notice, box="", disclaimer="", heading=""))
        assert isinstance(found, Outcome)
        assert found.reason is Reason.COPYRIGHT_ONLY


class TestTitles:
    def test_the_ending_of_titles_is_learned(self, site: MadeUpSite) -> None:
        site.grow()
        assert site.knowledge.title_suffixes == ("_国内_石化要闻网",)

    def test_and_cut_where_a_page_alone_cannot_tell(self, site: MadeUpSite) -> None:
        """The tail is longer than the title: without knowledge it may be the title's own."""
        html = page("油价", *texts(9, "玉门油田"), heading="")
        [before, after] = [
            ArticleExtractor().extract_with_site(html, "", site_template=known).result
            for known in (None, self.known(site))
        ]
        assert isinstance(before, Article) and isinstance(after, Article)
        assert (before.title, after.title) == ("油价_国内_石化要闻网", "油价")

    @staticmethod
    def known(site: MadeUpSite) -> SiteTemplate:
        site.grow()
        return site.knowledge


def test_a_single_page_needs_no_knowledge() -> None:
    found = ArticleExtractor().extract(page("大庆油田产量创新高", *texts(0, "大庆油田")), "http://a.test/1.html")
    assert isinstance(found, Article)
    assert found.title == "大庆油田产量创新高"
    assert body_of(found)[1:3] == list(texts(0, "大庆油田"))
