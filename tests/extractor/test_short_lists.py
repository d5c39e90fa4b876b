"""A page with few links and no text of its own is a list, whatever its footer says."""

import pytest

from domain.article import Article
from domain.outcome import Outcome, Reason
from extractor import extract

FOOTERS = [
    "<footer>© 2024 Harbour Site. All rights reserved.</footer>",
    "<div class=footer><p>Copyright 2024 Harbour Site, the press of the old town. All rights reserved.</p></div>",
    "<p>版权所有 © 2024 石化要闻网 未经授权不得转载</p>",
    "",
]
LISTS = {
    "http://x.test/tech/": "<ul><li><a href=/tech/a1.html>New wells drilled in the north</a> 2024-05-01</li></ul>",
    "http://x.test/tech/index.html": "<p>All about machines.</p><p><a href=a1.html>Wells</a> (May 2024, by J. Doe)</p>",
    "http://x.test/list.php?c=3": "<p><a href='show.php?id=3'>大庆油田产量创新高</a></p>",
    "http://x.test/forum/": "<table><tr><td><a href=/forum/t1>Help!</a></td><td>3 answers, last by a</td></tr></table>",
    "http://x.test/files/": "<p>Our files:</p><ul><li><a href=a.pdf>report.pdf</a> (PDF, 120 kB)</li></ul>",
}


@pytest.mark.parametrize("footer", FOOTERS)
@pytest.mark.parametrize("url", LISTS)
def test_few_links_are_a_list(url: str, footer: str) -> None:
    navigation = "<div class=nav><a href=/>Home</a> <a href=/tech/>Tech</a> <a href=/files/>Files</a></div>"
    result = extract(f"<title>Tech - Site</title>{navigation}<h1>Tech</h1>{LISTS[url]}{footer}", url)
    assert isinstance(result, Outcome)
    assert result.reason is Reason.LIST_PAGE


@pytest.mark.parametrize("footer", FOOTERS[1:3])
def test_a_page_with_only_a_notice_is_still_one(footer: str) -> None:
    navigation = "<div class=nav><a href=/>Home</a> <a href=/tech/>Tech</a></div>"
    result = extract(
        f"<title>Video of the day</title>{navigation}<h1>Video of the day</h1>{footer}", "http://x.test/v/1"
    )
    assert isinstance(result, Outcome)
    assert result.reason is Reason.COPYRIGHT_ONLY


def test_a_short_text_with_a_link_is_an_article() -> None:
    text = "<p>The harbour is closed on Sunday, see <a href=map.html>map</a>.</p>"
    html = f"<title>Notice</title><h1>Notice of closure</h1>{text}"
    assert isinstance(extract(html, "http://x.test/notices/12.html"), Article)


@pytest.mark.parametrize(
    ("url", "heading"),
    [
        ("http://a.test/2016/05/", "Archive for May 2016"),
        ("http://a.test/tag/ports/", "Tag: ports"),
        ("http://a.test/blog/", "All posts"),
        ("http://a.test/blog", "Notes of a captain"),
    ],
)
def test_an_archive_with_one_post_is_a_list(url: str, heading: str) -> None:
    href = f"{url.rstrip('/')}/09/harbour-opens-again/"
    post = f"<h2><a href='{href}'>The harbour opens again after nine weeks</a></h2><p>May 9, 2016</p>"
    text = "".join(
        f"<p>The harbour was opened again on Monday, the authority said in statement {n}.</p>" for n in range(6)
    )

    def outcome(page_url: str, title: str) -> str:
        html = f"<title>{title} - A Blog</title><body><h1>{title}</h1><div>{post}{text}</div></body>"
        result = extract(html, page_url)
        return result.reason.value if isinstance(result, Outcome) else "article"

    assert outcome(url, heading) == "list_page"
    assert outcome(href, "The harbour opens again after nine weeks") == "article"


def test_a_guide_with_long_sections_offers_nothing() -> None:
    def kind(sentences: int, offer: str = "") -> str:
        text = (
            "The pump is taken out of its case before the new filter is put in, and the seal is cleaned. " * sentences
        )
        sections = "".join(f"<h2>Part {n}</h2><p>{text.replace('new', f'new, {n}.')}</p>" for n in range(5))
        html = f"<title>Filters of a pump</title><body><h1>Filters of a pump</h1><div>{sections}{offer}</div></body>"
        result = extract(html, "http://a.test/filters-of-a-pump")
        assert not isinstance(result, Outcome)
        return result.page_type.value

    assert kind(12) == "reference"
    assert kind(12, "<p>Get a quote, or contact us.</p>") == kind(2) == "service"
