"""What the review pages have in common: who reviews, and a term as it is shown."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from flask import abort

from docstore.model import Term
from search_ui.query.texts import Segments, mark_all, shortened, shown
from search_ui.review.actions import Surroundings
from search_ui.site import account

LONGEST_TERM = 200  # characters; no term of a lexicon comes near
CONTEXT_LENGTH = 120  # characters
SIDE = 24  # characters beside a word in its context


@dataclass(frozen=True)
class TermRow:
    """A term on a page, with `contexts` that show it and what stands `near` it."""

    term: Term
    contexts: Sequence[Segments]
    near: Surroundings
    first_seen: str


@dataclass(frozen=True)
class Kwic:
    """A key word in its context: what stands before and after it, in which article (its id and title)."""

    before: str
    word: str
    after: str
    doc_id: str
    title: str


def row_of(term: Term, near: Surroundings) -> TermRow:
    """A term as its row shows it."""
    contexts = [shortened(mark_all(context, term.text), CONTEXT_LENGTH) for context in term.contexts]
    return TermRow(term, contexts, near, day(term.first_seen))


def day(seconds: float | None) -> str:
    """Epoch seconds as a day of the server's clock; "" for none."""
    return "" if seconds is None else time.strftime("%Y-%m-%d", time.localtime(seconds))


def reviewer() -> str:
    """The name of the account that is signed in."""
    one = account()
    return one.name if one else ""


def seen(form: Mapping[str, str]) -> int | None:
    """The version of the term that a form was made for; None if it does not say, 400 for nonsense."""
    text = form.get("seen", "")
    if not text:
        return None
    if not (text.isascii() and text.isdigit() and len(text) < 10):
        abort(400)
    return int(text)


def term_json(text: str, term: Term | None) -> dict[str, Any]:
    """What a page that shows a term has to know of it after a change."""
    if term is None:
        return {"text": text, "status": "gone", "version": 0, "category": ""}
    said = {"synonyms": list(term.synonyms), "broader": list(term.broader)}
    return {"text": text, "status": term.status, "version": term.version, "category": term.category, **said}


def kwic(text: str, word: str, doc_id: str, title: str, most: int) -> list[Kwic]:
    """The first `most` places in `text` that hold `word`; letter case does not count."""
    found: list[Kwic] = []
    at = -1
    folded, key = text.lower(), word.lower()
    if len(folded) != len(text):  # lowering has moved characters: look for it as it stands
        folded, key = text, word
    while len(found) < most and (at := folded.find(key, at + 1)) >= 0:
        end = at + len(word)
        before, after = shown(text[max(0, at - SIDE) : at]), shown(text[end : end + SIDE])
        found.append(Kwic(before, shown(text[at:end]), after, doc_id, shown(title)))
    return found
