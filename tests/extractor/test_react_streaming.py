"""React streaming: late content is read where the scripts of the page move it."""

import pytest

from domain.article import Article
from extractor import extract
from extractor.page.layout import join_lines
from extractor.page.parsed_page import parse_text

EN = "The harbour was opened again on Monday, the port authority said, after the storm had kept it closed for a week. "
ZH = "大庆油田今天宣布，今年前三个季度的原油产量超过去年同期，创下五年来的新高，负责人表示将继续努力。"
COMPLETE = (
    '<script>$RC=function(b,c,e){c=document.getElementById(c);c.parentNode.removeChild(c)};$RC("B:0","S:0")</script>'
)


def page(text: str, late: str, script: str = COMPLETE) -> str:
    return (
        "<html><head><title>Harbour opened again after the storm</title></head><body><main>"
        "<h1>Harbour opened again after the storm</h1>"
        f"<p>{text}</p><!--$?--><template id='B:0'></template><div>Loading <!--$-->more<!--/$--></div><!--/$-->"
        "<p>Who wrote this is known to the editors.</p></main>"
        f"<footer>Contact</footer>{late}{script}</body></html>"
    ).replace("'", '"')


def lines_of(html: str) -> str:
    document = parse_text(html, "")
    assert document is not None
    return join_lines(document.layout.lines)


@pytest.mark.parametrize("text", [EN * 3, ZH * 3])
def test_late_content_is_moved_to_its_place(text: str) -> None:
    late = f'<div hidden id="S:0"><p>{text}</p><p>Behind it.</p></div>'
    article = extract(page("First.", late), "http://news.test/a/harbour-opened-again")
    assert isinstance(article, Article)
    assert article.body.splitlines() == [
        "First.",
        text.strip(),
        "Behind it.",
        "Who wrote this is known to the editors.",
    ]


def test_only_the_fallback_is_removed() -> None:
    shown = lines_of(page(EN, f'<div hidden id="S:0"><p>{ZH}</p></div>tail'))
    assert "Loading" not in shown
    assert "more" not in shown
    assert shown.endswith("Contact\ntail")


def test_a_boundary_in_late_content_is_completed() -> None:
    late = (
        f'<div hidden id="S:0"><p>{EN}</p><!--$?--><template id="B:1"></template>wait<!--/$--></div>'
        f'<div hidden id="S:1"><p>{ZH}</p></div>'
    )
    script = '<script>$RC("B:0","S:0")</script><script>$RR("B:1","S:1",[])</script>'
    assert lines_of(page("First.", late, script)).splitlines()[2:4] == [EN.strip(), ZH]


def test_a_segment_replaces_its_template() -> None:
    html = (
        '<p>One <template id="P:1"></template> three.</p><div hidden id="S:1">two</div>'
        '<script>$RS("S:1","P:1")</script>'
    )
    assert lines_of(html) == "One two three."


@pytest.mark.parametrize(
    "script",
    [
        "",
        '<script>$RC("B:9","S:9")</script>',
        '<script>$RC("S:0","S:0")</script>',
        '<script>$RC("B:0","S:0");$RC("B:0","S:0")</script>' * 2_000,
        '<p>In React, $RC("B:0","S:9") completes a boundary.</p>',
    ],
    ids=["never called", "neither is there", "into itself", "again and again", "only spoken of"],
)
def test_malformed_calls_are_ignored(script: str) -> None:
    assert EN.strip() in lines_of(page(EN, f'<div hidden id="S:0"><p>{ZH}</p></div>', script))


def test_content_that_contains_its_placeholder_is_not_moved() -> None:
    html = f'<div hidden id="S:0"><p>{EN}</p><template id="B:0"></template></div><script>$RC("B:0","S:0")</script>'
    assert lines_of(html) == EN.strip()
