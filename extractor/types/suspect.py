"""Does a body look like a fragment: was much text that can be read left out? The article is kept, and said to be one.

sentences   many times the body stand outside of it, and it holds a small share of what can be read
links       more text stands in links beside it, on a page that does not say that it is an article
nothing     the page shows no text at all: the body is what it tells machines
"""

from docstore.model import Outcome, PageType, Reason
from extractor.list_page import is_vouched, place_points
from extractor.methods.contract import Body
from extractor.page.document import Document, with_all_lines
from extractor.types.decide import TypedPage
from extractor.types.left_out import LeftOut, left_out_of

MAX_SHARE = 0.2  # of the readable text: a body that holds less is in doubt ...
MIN_LEFT_OUT = 60.0  # ... if so much text was left out, in Chinese characters, as sentences ...
TIMES = 3.0  # ... and so many times the body
LINK_TIMES = 1.0  # of the body: links that leave it in doubt
MIN_LINKS = 150.0
SHOWN = 30.0  # a page with less text than this shows none


def suspicion(page: TypedPage, body: Body) -> Outcome | None:
    """Why the body of a page that is no thread is in doubt, None where it is not."""
    if page.left_out is None and not leaves_much(page.document, body):
        return None
    left_out = page.left_out or left_out_of(with_all_lines(page.document), body)
    why = reason_of(left_out, body, page.kind is PageType.ARTICLE and is_sure(page, body))
    return Outcome(Reason.SUSPECT_BODY, why) if why else None


def leaves_much(document: Document, body: Body) -> bool:
    """More text stands on the page than a body that is not in doubt may leave out; links count as text."""
    if not body.lines:
        return True
    lines = document.layout.lines
    mine = sum(lines[index].size for index in body.lines)
    return sum(line.size for line in lines) - mine > max(MIN_LEFT_OUT, min(TIMES, LINK_TIMES) * mine)


def is_sure(page: TypedPage, body: Body) -> bool:
    """The page says that it is an article, or its title stands above the text."""
    return is_vouched(page.document) or place_points(page.document, body) > 0


def reason_of(left_out: LeftOut, body: Body, sure: bool) -> str:
    """What speaks against a body, with the shares; "" for nothing."""
    kept = f"{left_out.share:.0%} of the readable text is in the body of {left_out.body:.0f} characters"
    if not body.lines and left_out.readable < SHOWN:
        return "the page shows no text: the body is what it tells machines"
    if left_out.sentences >= max(MIN_LEFT_OUT, TIMES * left_out.body) and left_out.share < MAX_SHARE:
        return f"{kept}; {left_out.sentences:.0f} of sentences were left out"
    if not sure and left_out.links >= max(MIN_LINKS, LINK_TIMES * left_out.body):
        return f"{kept}; {left_out.links:.0f} of links stand beside it"
    return ""
