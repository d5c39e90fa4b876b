"""What no parser should be given is cut, and nothing else is."""

import re

import pytest
from lxml import etree

from text.decoding.html_limits import (
    MAX_ATTRIBUTES_PER_TAG,
    MAX_DEPTH,
    MAX_TAGS_AND_ATTRIBUTES,
    SMALL_PAGE_BYTES,
    flatten_deep_elements,
    trim_attributes,
    truncate_markup,
)

MANY = 4_000  # attributes: more than the limit; the parser's time grows with the square
NAMES = [b"a%d" % n for n in range(MANY)]
LINKS = b'<p class="x">text <a href="/y?a=1&b=2">y</a> and more</p>\n'
REST = LINKS * (SMALL_PAGE_BYTES // len(LINKS) + 1)


def most_attributes(html: bytes) -> int:
    """Of one element, as the parser counts them."""
    root = etree.fromstring(html, etree.HTMLParser(encoding="utf-8", huge_tree=True))
    return max(len(element.attrib) for element in root.iter(etree.Element))


@pytest.mark.parametrize(
    "page",
    [
        b"<div " + b" ".join(NAMES) + b">",
        b"<DIV\n" + b"\n".join(NAMES) + b"\n>",
        b"<div " + b" ".join(name + b"='>'" for name in NAMES) + b">",
        b"<div " + b"".join(name + b'="<p>"' for name in NAMES) + b">",
        b"<div " + b" ".join(name + b" = x" for name in NAMES) + b">",
        b"<div " + b"= ".join(NAMES) + b">",
        b"<div " + b" <".join(NAMES) + b">",
        b"<div/" + b"/".join(NAMES) + b"/>",
        b"<div ='x' " + b" ".join(NAMES) + b">",
        b"<div " + b" ".join(NAMES),
        b"<p don't>" * 3 + b"<div " + b" ".join(NAMES) + b">",
        b"<title><a b='</title><div " + b" ".join(NAMES) + b">",
        b"<textarea><a b='</textarea><div " + b" ".join(NAMES) + b">",
        b"<!-- <a b=' --><div " + b" ".join(NAMES) + b">",
        b"<script>if (a<b && c == 'x) {}</script><div " + b" ".join(NAMES) + b">",
        b"<p x>" * 100 + b"<div " + b" ".join(NAMES[:600]) + b">" + b"<div " + b" ".join(NAMES[600:]) + b">",
    ],
    ids=lambda page: page[:22].decode(),
)
def test_no_tag_keeps_more_attributes_than_it_may(page: bytes) -> None:
    html = REST + page + b"<p id=end>end</p>"
    assert most_attributes(html) > MAX_ATTRIBUTES_PER_TAG
    assert most_attributes(trim_attributes(html)) <= MAX_ATTRIBUTES_PER_TAG


@pytest.mark.parametrize(
    "page",
    [
        b"",
        b"<div " + b" ".join(NAMES[:MAX_ATTRIBUTES_PER_TAG]) + b">x</div>",
        b"<img src='data:image/png;base64," + b"x" * 300_000 + b"' alt='a > b'>",
        b"<div data-state='" + b'{"a": "<p>", "b": 1}, ' * 20_000 + b"'>x</div>",
        b"<p>a</></ p><!x><?y?><" + b"<" * 50_000,
        b"<!--" + b"<a b " * 20_000 + b"--><p>x",
        b"<title>" + b"<a b " * 20_000 + b"</title><p>x",
        b"<script>" + b"if (a<b) c = '<d e f'; " * 20_000 + b"</script><p>x",
    ],
    ids=lambda page: page[:22].decode(),
)
def test_what_is_within_the_limits_stays_as_it_is(page: bytes) -> None:
    html = REST + page + REST
    assert trim_attributes(html) is html


def test_the_first_attributes_are_kept() -> None:
    page = REST + b"<a href=/x " + b" ".join(NAMES) + b">x</a><b>y</b>"
    root = etree.fromstring(trim_attributes(page), etree.HTMLParser())
    last = root.findall(".//a")[-1]
    assert (last.get("href"), last.text, len(last.attrib)) == ("/x", "x", MAX_ATTRIBUTES_PER_TAG)
    assert root.findall(".//b")[-1].text == "y"


@pytest.mark.parametrize(
    "page",
    [
        b"<div>x" * 10_000,
        b"<div>x<b>y</i>" * 10_000,
        b"<p>x<div>y</p>z" * 10_000,
        b"".join(b"<x-%d>y</p>" % n for n in range(10_000)),
        b"<ul><li>x</div>" * 10_000 + b"</li></ul>" * 10_000,
        b"<span title='</span>'>x</p>" * 10_000,
    ],
    ids=lambda page: page[:20].decode(),
)
def test_depth_is_bounded_and_no_text_is_lost(page: bytes) -> None:
    flat = flatten_deep_elements(b"<body>" + page + b"<p>end")
    root = etree.fromstring(flat, etree.HTMLParser(encoding="utf-8", huge_tree=True))
    assert deepest(root) <= MAX_DEPTH + 2  # html and body are there whether or not the page says so
    assert "".join(root.itertext()) == re.sub(rb"<[^>]*>(?:'>)?", b"", page + b"<p>end").decode()


def test_links_are_kept_whatever_stands_around_them() -> None:
    flat = flatten_deep_elements(
        b"<div>" * 5_000 + b"<a href=/x>x</a><script>1</script>" + b"</div>" * 5_000 + b"<p>y</p>"
    )
    root = etree.fromstring(flat, etree.HTMLParser(huge_tree=True))
    assert [link.get("href") for link in root.iter("a")] == ["/x"]
    assert root.find(".//script").text == "1"  # type: ignore[union-attr]
    assert [p.text for p in root.findall("body/p")] == ["y"]


def deepest(root: etree._Element) -> int:
    """Elements within each other, counted without recursion."""
    depth = most = 0
    for event, _ in etree.iterwalk(root, events=("start", "end")):
        depth += 1 if event == "start" else -1
        most = max(most, depth)
    return most


@pytest.mark.parametrize("unit", [b"<b>x</b>", b"<p a=1 b=2>", b"<i>", b"<p class='x'>text</p>"])
def test_a_page_without_end_is_cut_at_a_tag(unit: bytes) -> None:
    page = b"<h1>first</h1>" + unit * MAX_TAGS_AND_ATTRIBUTES
    cut = truncate_markup(page)
    assert page.startswith(cut) and page[len(cut) :].startswith(b"<")
    assert (
        MAX_TAGS_AND_ATTRIBUTES * 0.9 < cut.count(b"<") - cut.count(b"</") + cut.count(b"=") <= MAX_TAGS_AND_ATTRIBUTES
    )


def test_an_ordinary_page_is_not_cut() -> None:
    page = LINKS * (MAX_TAGS_AND_ATTRIBUTES // 12)
    assert truncate_markup(page) is page
