"""Does a body look like a fragment: was much text that can be read left out? The article is kept, and said to be one."""

from docstore.model import Outcome, PageType, Reason
from extractor.methods.contract import Body
from extractor.types.decide import TypedPage
from extractor.types.left_out import LeftOut, left_out_of
from extractor.page.document import with_all_lines

MAX_SHARE = 0.2  # of the readable text: a body that holds less is in doubt ...
MIN_LEFT_OUT = 60.0  # ... if so much text was left out, in Chinese characters, as sentences ...
TIMES = 3.0  # ... and so many times the body


def suspicion(page: TypedPage, body: Body) -> Outcome | None:
    """Why a body is in doubt, None where it is not."""
    if page.kind in (PageType.THREAD,):
        return None
    left_out = page.left_out or left_out_of(with_all_lines(page.document), body)
    if not is_suspect(left_out):
        return None
    return Outcome(
        Reason.SUSPECT_BODY,
        f"{left_out.share:.0%} of the readable text is in the body of {left_out.body:.0f} characters; "
        f"{left_out.sentences:.0f} of sentences were left out",
    )


def is_suspect(left_out: LeftOut) -> bool:
    """Sentences were left out, several times as many as there are in the body."""
    if left_out.sentences < max(MIN_LEFT_OUT, TIMES * left_out.body):
        return False
    return left_out.share < MAX_SHARE
