"""Pages that came in a stream: what scripts put in place is read where they put it."""

import pytest

from docstore.model import Article
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
def test_content_that_came_late_stands_in_its_place(text: str) -> None:
    late = f'<div hidden id="S:0"><p>{text}</p><p>Behind it.</p></div>'
    found = extract(page("First.", late), "http://news.test/a/harbour-opened-again")
    assert isinstance(found, Article)
    assert found.body.splitlines() == ["First.", text.strip(), "Behind it.", "Who wrote this is known to the editors."]


def test_what_was_shown_meanwhile_is_gone_and_nothing_else() -> None:
    shown = lines_of(page(EN, f'<div hidden id="S:0"><p>{ZH}</p></div>tail'))
    assert "Loading" not in shown
    assert "more" not in shown
    assert shown.endswith("Contact\ntail")


def test_a_boundary_in_what_came_late_is_completed_too() -> None:
    late = (
        f'<div hidden id="S:0"><p>{EN}</p><!--$?--><template id="B:1"></template>wait<!--/$--></div>'
        f'<div hidden id="S:1"><p>{ZH}</p></div>'
    )
    script = '<script>$RC("B:0","S:0")</script><script>$RR("B:1","S:1",[])</script>'
    assert lines_of(page("First.", late, script)).splitlines()[2:4] == [EN.strip(), ZH]


def test_a_segment_takes_the_place_of_its_template() -> None:
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
def test_odd_calls_do_no_harm(script: str) -> None:
    assert EN.strip() in lines_of(page(EN, f'<div hidden id="S:0"><p>{ZH}</p></div>', script))


def test_content_that_holds_its_own_place_stays_where_it_is() -> None:
    html = f'<div hidden id="S:0"><p>{EN}</p><template id="B:0"></template></div><script>$RC("B:0","S:0")</script>'
    assert lines_of(html) == EN.strip()
