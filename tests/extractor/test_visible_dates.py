"""Dates before 1990, years of Taiwan, and dates that only scripts contain."""

import pytest

from domain.article import Article
from extractor import extract

TEXT = (
    "<p>各建设单位应当在开工前十五日向所在区住房和城乡建设部门报送施工方案，未经批准不得开工。</p>"
    "<p>施工期间应当设置明显的警示标志，并安排专人值守，夜间施工应当取得相应许可。</p>"
    "<p>各区应当加强监督检查，对违反规定的单位，依法予以处理，并及时向社会公布结果。</p>"
)
URL = "http://www.site-b.example/news/1.html"


def published(above: str = "", url: str = URL, head: str = "", text: str = TEXT, lang: str = "", end: str = "") -> str:
    title = "关于加强冬季地下管线施工管理的通知"
    html = (
        f"<html lang='{lang}'><head><meta charset=utf-8><title>{title}</title>{head}</head>"
        f"<body><h1>{title}</h1>{above}<div>{text}</div>{end}</body></html>"
    )
    result = extract(html, url)
    assert isinstance(result, Article)
    return result.published


@pytest.mark.parametrize(
    "above",
    [
        "發布日期：112/03/01", "發佈日期:112-03-01", "張貼日： 112.3.1", "上版日期：112年3月1日",
        "更新時間：112/03/01 10:20", "中華民國112年3月1日", "中華民國112/03/01", "刊登：112 / 3 / 1",
    ],
)  # fmt: skip
def test_a_year_of_taiwan_after_a_label(above: str) -> None:
    assert published(f"<p>{above}</p>") == "2023-03-01"
    assert published(f"<p class=date>{above}</p>") == "2023-03-01"


@pytest.mark.parametrize(("above", "date"), [("112/03/01", "2023-03-01"), ("98.3.1", "2009-03-01")])
def test_a_year_of_taiwan_without_a_label(above: str, date: str) -> None:
    assert published(f"<p class=date>{above}</p>", url="http://www.site.gov.tw/news/1.html") == date
    assert published(f"<p class=date>{above}</p>", lang="zh-Hant-TW") == date
    assert published(f"<p class=date>{above}</p>") == ""


def test_other_numbers_are_no_years_of_taiwan() -> None:
    for above in ("版本：112.3.1.4", "日期：98/03/01", "日期：2112/03/01", "比例：112/33/01", "112.3.1"):
        assert published(f"<p>{above}</p>") == ""


@pytest.mark.parametrize(
    "above",
    [
        "<p>8 May 1979</p>", "<p>May 8, 1979</p>", "<p>1979年5月8日</p>", "<p>发布时间：1979-05-08 来源：某某日报</p>",
        "<p class=date>Tuesday, May 8, 1979</p>", "<p><time datetime=1979-05-08>8.5.1979</time></p>",
    ],
)  # fmt: skip
def test_a_date_before_1990_above_the_text(above: str) -> None:
    assert published(above) == "1979-05-08"


def test_a_date_before_1990_in_the_metadata_or_the_url() -> None:
    for name in ("article:published_time", "dc.date", "citation_publication_date"):
        assert published(head=f"<meta name='{name}' content='1979-05-08'>") == "1979-05-08"
    json_ld = '{"@type": "NewsArticle", "datePublished": "1889-05-08T00:00:00Z"}'
    assert published(head=f"<script type='application/ld+json'>{json_ld}</script>") == "1889-05-08"
    assert published(url="http://a.test/1979/05/08/port.html") == "1979-05-08"


def test_a_date_before_1990_in_the_text_is_that_of_an_event() -> None:
    assert published(text="<p>1979年5月8日，各建设单位应当在开工前十五日向所在区报送施工方案。</p>" + TEXT) == ""
    assert published("<p>生于1979年5月8日</p>") == ""
    assert published("<p>发布时间：2016-05-09</p><p>1979年5月8日</p>") == "2016-05-09"
    assert published(url="http://a.test/news/the-port-of-1945-05-08-end-of-war.html") == ""


@pytest.mark.parametrize(
    "script",
    [
        "var ct=\"1600676100\";", "var createTime='2020-09-21 16:15';", "window.cgiData={create_time:'1600676100'*1}",
        "create_time: JsDecode('2020-09-21 16:15'),", "var ct = '1600676100';var createTime = '2020-09-21 16:15';",
        "{\"createTime\": 1600676100000}", "ori_create_time: '1600676100'",
    ],
)  # fmt: skip
def test_the_creation_time_in_a_script(script: str) -> None:
    assert published(end=f"<script>{script}</script>") == "2020-09-21"


def test_creation_times_of_several_things_are_no_date() -> None:
    comments = "{createTime: '2020-09-21'}, {createTime: '2020-09-25'}"
    assert published(end=f"<script>x = [{comments}]</script>") == ""
    assert published(end=f"<script>x = [{comments}]; publishTime = '2020-09-20'</script>") == "2020-09-20"


@pytest.mark.parametrize(
    ("line", "day"),
    [
        ("Updated: 5 March 2024, 10:00 | Published: 2 March 2024, 08:00", "2024-03-02"),
        ("更新时间：2024-03-05 10:00 发布时间：2024-03-02 08:00", "2024-03-02"),
        ("Received 3 May 2021; Accepted 9 August 2021; Published 2 September 2021", "2021-09-02"),
        ("收稿日期：2021-05-03　发表日期：2021-09-02", "2021-09-02"),
        ("关于拟录用公务员的公示 发布日期：2024-03-02", "2024-03-02"),
        ("Manuscript accepted. Published: 2 September 2021", "2021-09-02"),
        ("修回日期：2021-06-03 发表日期：2021-09-02", "2021-09-02"),
        ("发布时间：2024-03-02 更新时间：2024-03-05", "2024-03-02"),
        ("2024-03-02 发布 更新于 2024-03-05", "2024-03-02"),
    ],
)
def test_of_several_dates_in_a_line_the_one_of_publication_counts(line: str, day: str) -> None:
    assert published(f"<p>{line}</p>") == day
