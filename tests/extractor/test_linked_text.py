"""Links that are text of an article stay; links to other articles do not."""

import pytest

from domain.article import Article
from domain.outcome import Outcome, Reason
from extractor import extract

URL = "http://www.site.test/news/2024/harbour-opened-again.html"
SENTENCE = "The harbour was opened again on Monday, the authority of the port said in statement {}."
PARAGRAPHS = [f"<p>{SENTENCE.format(number)}</p>" for number in range(12)]
NAMES = [f"Northern Oil Company, Branch {number}" for number in range(12)]
ITEMS = "".join(f"<li><a href=/c/{number}>{name}</a></li>" for number, name in enumerate(NAMES))
ROWS = "".join(
    f"<tr><td>{number}</td><td><a href=/c/{number}>{name}</a></td><td><a href=/x/{number}>Road {number}</a></td></tr>"
    for number, name in enumerate(NAMES)
)


def body_of(inner: str, before: str = "", after: str = "") -> str:
    result = extract(
        f"<html><head><title>Harbour opened again</title></head><body><ul><li><a href=/>Home</a></li></ul>{before}"
        f"<div><h1>Harbour opened again</h1><p>1 March 2024</p><div class=con>{inner}</div></div>{after}"
        "<p>Copyright 2024 Site. All rights reserved.</p></body></html>",
        URL,
    )
    assert isinstance(result, Article), result
    return result.body


@pytest.mark.parametrize(
    "inner",
    [
        f"{PARAGRAPHS[0]}<table><tr><th>No.</th><th>Company</th><th>Road</th></tr>{ROWS}</table>{PARAGRAPHS[1]}",
        f"{PARAGRAPHS[0]}<table><tr><td>No.</td><td>Company</td><td>Road</td></tr>{ROWS}</table>",
        f"{PARAGRAPHS[0]}<table>{ROWS}</table>{PARAGRAPHS[1]}",
        f"{PARAGRAPHS[0]}<p>These companies passed the examination:</p><ul>{ITEMS}</ul>",
        f"{PARAGRAPHS[0]}<div><ul>{ITEMS}</ul></div>{PARAGRAPHS[1]}",
        f"{PARAGRAPHS[0]}<ol>{ITEMS}</ol>{PARAGRAPHS[1]}",
    ],
    ids=["heading row", "heading row without th", "table in the text", "introduced", "in the text", "ordered"],
)
def test_tables_and_lists_of_links_are_text(inner: str) -> None:
    body = body_of(inner)
    assert all(name in body for name in NAMES)
    assert inner.count("<p>The harbour") == body.count("The harbour was opened")


@pytest.mark.parametrize(
    "words",
    [
        ["页岩气", "，", "是一种非常规天然气", "，", "主要赋存于", "，", "富有机质页岩", "。"],
        ["Shale", ", ", "sandstone", " and ", "coal", " may contain ", "natural gas", "."],
        ["水平井", "与", "分段压裂", "、", "完井工艺", "结合。"],
    ],
)
def test_sentences_of_links_are_text(words: list[str]) -> None:
    links = "".join(f"<a href=/item/{word}>{word}</a>" if n % 2 == 0 else word for n, word in enumerate(words))
    body = body_of(f"{PARAGRAPHS[0]}<h2>Overview</h2><div class=para>{links}</div><h2>More</h2><div>And {links}</div>")
    assert body.count("".join(words)) == 2


@pytest.mark.parametrize("tag", ["div", "section"])
def test_a_section_of_names_belongs_to_the_sections_before(tag: str) -> None:
    sections = "".join(f"<h2>Section {n}</h2>{PARAGRAPHS[n]}" for n in range(3))
    names = "<h2>See also</h2><ul><li><a href=/w/Quay>Quay</a></li><li><a href=/w/Mole>Mole</a></li></ul>"
    assert body_of(f"<{tag}>{sections}{names}</{tag}>").endswith("See also\nQuay\nMole")


@pytest.mark.parametrize(
    "block",
    [
        "<h3>Related articles</h3><ul>{}</ul>",
        "<div class=box><h3>From our archive</h3><ul>{}</ul></div>",
        "<p>Read more:</p><ul>{}</ul>",
    ],
)
def test_links_to_other_articles_are_no_text(block: str) -> None:
    headlines = "".join(
        f"<li><a href=/news/{n}>Storm number {n} closes the northern harbour</a></li>" for n in range(5)
    )
    assert "Storm number" not in body_of("".join(PARAGRAPHS[:6]) + block.format(headlines))


@pytest.mark.parametrize("tag", ["article class=card", "div class=card", "li"])
@pytest.mark.parametrize("count", [2, 10, 78])
def test_cards_below_a_story_are_no_list_and_no_text(tag: str, count: int) -> None:
    name = tag.partition(" ")[0]
    cards = "".join(
        f"<{tag}><h3><a href=/s/{n}>Other story number {n} with a headline of some length</a></h3>"
        f"<p>A teaser of story {n}, which has one sentence, and a comma.</p></{name}>"
        for n in range(count)
    )
    body = body_of("".join(PARAGRAPHS), after=f"<section>{cards}</section>" if name != "li" else f"<ul>{cards}</ul>")
    assert body.split("\n") == [SENTENCE.format(number) for number in range(12)]


def test_a_page_of_cards_is_still_a_list() -> None:
    cards = "".join(
        f"<article><h3><a href=/s/{n}>Other story number {n} with a headline of some length</a></h3>"
        f"<p>A teaser of story {n}, which has one sentence, and a comma.</p></article>"
        for n in range(10)
    )
    result = extract(f"<html><head><title>Stories</title></head><body><h1>Stories</h1>{cards}</body></html>", URL)
    assert isinstance(result, Outcome)
    assert result.reason is Reason.LIST_PAGE


@pytest.mark.parametrize(
    ("end", "kept"),
    [
        ("<h2>Prices</h2><table><tr><th>Year</th><th>Price</th></tr><tr><td>2010</td><td>12</td></tr>"
         "<tr><td>2011</td><td>14</td></tr></table>", "2011 14"),
        ("<h2>Footnotes</h2><ol><li>Other harbours</li><li>ibid.</li></ol>", "ibid."),
        ("<hr><p>[1] Smith 1999</p><p>[2] Miller 2001</p>", "[2] Miller 2001"),
        ("<ol><li id=fn1>Smith 1999</li><li id=fn2>Miller 2001</li></ol>", "Miller 2001"),
        ("<aside class=footnotes><aside class=footnote id=fn1><p>Smith wrote it first, in 1999.</p></aside></aside>",
         "Smith wrote it first, in 1999."),
    ],
    ids=["table", "section", "numbers", "targets", "asides"],
)  # fmt: skip
def test_the_end_of_a_text_is_kept(end: str, kept: str) -> None:
    text = (
        "<p>It is said[1][2] that <a href='#fn1'>1</a> and <a href='#fn2'>2</a> are the first to see the harbour.</p>"
    )
    body = body_of(f"<h2>First</h2>{PARAGRAPHS[0]}<h2>Second</h2>{PARAGRAPHS[1]}{text}{end}")
    assert body.split("\n")[-1] == kept


@pytest.mark.parametrize(
    "end",
    [
        "<table><tr><td><a href=a>Prev</a></td><td><a href=b>Up</a></td><td><a href=c>Next</a></td></tr>"
        "<tr><td><a href=a>29.1. Opening of the harbour</a></td><td><a href=b>Home</a></td>"
        "<td><a href=c>29.3. Closing of the harbour</a></td></tr></table>",
        "<table><tr><td><a href=a>29.1. Opening the quay</a></td><td><a href=c>29.3. Closing it</a></td></tr></table>",
        "<p>Follow us on <a href=https://social.test/site>Social</a> and <a href=//video.test/@site>Video</a>.</p>",
        "<p>Reporting by Jane Doe, who can be reached at <a href=mailto:jane@site.test>jane@site.test</a>.</p>",
        "<div class=c><p>anna</p><p>2024-03-02 10:20</p><p>I do not think that this is right, honestly.</p></div>"
        "<div class=c><p>bert</p><p>2024-03-02 11:45</p><p>But I do, and so does everybody in the harbour.</p></div>",
    ],
    ids=["navigation with words", "navigation of titles", "accounts", "mail", "comments"],
)
def test_what_follows_the_text_is_left_out(end: str) -> None:
    assert body_of("".join(PARAGRAPHS[:6]) + end).split("\n") == [SENTENCE.format(number) for number in range(6)]


@pytest.mark.parametrize("code", ["harbour [-v] gate by default", "The harbour is closed by default,\nand opens 10:20"])
def test_a_preformatted_paragraph_below_a_heading_is_no_byline(code: str) -> None:
    assert code.split("\n")[-1] in body_of(f"<h2>Synopsis</h2><pre>{code}</pre><h2>Description</h2>{PARAGRAPHS[0]}")


@pytest.mark.parametrize("names", [("desktop", "mobile"), ("hide-on-small", "hide-on-large")])
@pytest.mark.parametrize("count", [1, 3])
def test_a_copy_for_other_screens_is_left_out(names: tuple[str, str], count: int) -> None:
    text = "".join(PARAGRAPHS[:count])
    body = body_of("".join(f"<div class={name}>{text}</div>" for name in names) + PARAGRAPHS[5])
    assert body.split("\n") == [*(SENTENCE.format(number) for number in range(count)), SENTENCE.format(5)]


def test_a_refrain_stays() -> None:
    verses = "".join(f"{PARAGRAPHS[n]}{PARAGRAPHS[9]}" for n in range(3))
    assert body_of(verses).count(SENTENCE.format(9)) == 3


@pytest.mark.parametrize(
    ("offer", "is_offer"),
    [
        (
            "<p>Get access to all articles now, for only 2.95 euro a week, on the web and in the app of the site.</p>",
            True,
        ),
        ("<p>You can read this article if you are a member, and <a href=/login>sign in</a> to your account.</p>", True),
        ("<p>The mayor has found an investor, who promises two thousand jobs to the people of the town.</p>", False),
    ],
)
def test_an_offer_to_pay_is_no_text(offer: str, is_offer: bool) -> None:
    teaser = "The small mining town in the desert wants to live from the sun, and its mayor has a plan."
    html = f"<h1>The town that bets on the sun</h1><p>{teaser}</p><div class='box paywall'>{offer * 3}</div>"
    result = extract(f"<html><head><title>The town that bets on the sun</title></head><body>{html}</body></html>", URL)
    assert isinstance(result, Article)
    assert teaser in result.body
    assert (result.body == teaser) is is_offer


@pytest.mark.parametrize(
    "end",
    [
        "The plants will be run by <a href=https://www.beats.test/>Beats Electronics</a>.",
        "Its new website is <a href=https://www.acme.test>www.acme.test</a>, and the first plant opens in May.",
        "<a href=https://www.acme.test>Acme Energy</a> has signed it with <a href=//beats.test>Beats Electronics</a>.",
        "新工厂由<a href=https://www.beats.test/>贝茨电子有限公司</a>运营。",
        "Applications are sent to <a href=mailto:jobs@acme.test>jobs@acme.test</a>, and are open until May.",
        "The plant, which was built in the northern harbour after a long dispute about the noise of its engines and of "
        "the lorries that lead to it, and which opens in May, is run by "
        "<a href=https://www.beats.test/>Beats Electronics of the northern harbour, and of the southern one</a>",
    ],
)
def test_a_last_sentence_with_links_is_text(end: str) -> None:
    assert len(body_of("".join(PARAGRAPHS[:4]) + f"<p>{end}</p>").split("\n")) == 5


@pytest.mark.parametrize(
    "end",
    [
        "Telephone of the newsroom: <a href=tel:+4930123456>030 123456</a>.",
        "Mail to the newsroom, at any time: <a href=mailto:news@site.test>news@site.test</a>.",
        "More about the harbour, by Jane Doe: <a href=//social.test/@jane>Jane Doe</a>",
    ],
)
def test_last_contacts_are_no_text(end: str) -> None:
    assert len(body_of("".join(PARAGRAPHS[:4]) + f"<p>{end}</p>").split("\n")) == 4


@pytest.mark.parametrize(
    "entry",
    [
        "<div class=item><h3><a href=/reviews/phone-{n}>Phone number {n} is our choice of all phones</a></h3>"
        f"{PARAGRAPHS[7] * 2}</div>",
        f"<section class=event><h3>{{n}} May 2024</h3>{PARAGRAPHS[7]}</section>",
        f"<section class=event><h3>2024年5月{{n}}日</h3>{PARAGRAPHS[7] * 2}</section>",
        f"<div class=event><p><b>{{n}} May 2024</b></p>{PARAGRAPHS[7]}</div>",
    ],
    ids=["reviews", "events", "Chinese dates", "bold dates"],
)
@pytest.mark.parametrize("count", [3, 8])
def test_the_entries_of_a_listicle_are_text(entry: str, count: int) -> None:
    entries = "".join(entry.format(n=n) for n in range(1, count + 1))
    text_count = entry.count("<p>The harbour") * count
    assert body_of("".join(PARAGRAPHS[:4]) + entries).count("The harbour was opened") == 4 + text_count


@pytest.mark.parametrize(
    "notice",
    [
        "Printed from Port news. Copyright.", "Printed from https://www.site.test/1.html on 1 May 2024",
        "This page was printed from: Port news.", "Port news, the paper of the harbour. Copyright.",
        "© Port news, the paper of the harbour.", "打印自：港口新闻网。", "本文打印自港口新闻网。",
    ],
)  # fmt: skip
def test_a_page_for_print_has_the_body_of_the_original(notice: str) -> None:
    text = "".join(PARAGRAPHS[:4])
    assert body_of(f"{text}<p>{notice}</p>") == body_of(text)


@pytest.mark.parametrize(
    "end",
    [
        "Printed from recycled paper, the plan costs two euros.",
        "The author of the plan owns the copyright.",
    ],
)
def test_a_last_sentence_about_printing_is_text(end: str) -> None:
    assert body_of(f"{''.join(PARAGRAPHS[:4])}<p>{end}</p>").endswith(end)
