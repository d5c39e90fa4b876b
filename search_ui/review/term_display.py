"""What the review pages have in common: who reviews, and a term as it is shown."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from flask import abort

from docstore.model import Term
from search_ui.context import current_account
from search_ui.query.display_text import Segments, clean_text, mark_occurrences, truncate_segments
from search_ui.review.interfaces import RelatedTerms

MAX_TERM_CHARS = 200  # characters; no term of a lexicon comes near
MAX_CONTEXT_CHARS = 120  # characters
KWIC_CONTEXT_CHARS = 24  # characters beside a word in its context


@dataclass(frozen=True)
class TermRow:
    """A term on a page, with `contexts` that show it and what stands `related_terms` it."""

    term: Term
    contexts: Sequence[Segments]
    related_terms: RelatedTerms
    first_seen: str


@dataclass(frozen=True)
class KwicLine:
    """A key word in its context: what stands before and after it, in which article (its id and title)."""

    before: str
    word: str
    after: str
    doc_id: str
    title: str


def build_term_row(term: Term, related_terms: RelatedTerms) -> TermRow:
    """A term as its row shows it."""
    contexts = [truncate_segments(mark_occurrences(context, term.text), MAX_CONTEXT_CHARS) for context in term.contexts]
    return TermRow(term, contexts, related_terms, format_day(term.first_seen))


def format_day(seconds: float | None) -> str:
    """Epoch seconds as a day of the server's clock; "" for none."""
    return "" if seconds is None else time.strftime("%Y-%m-%d", time.localtime(seconds))


def current_account_name() -> str:
    """The name of the account that is signed in."""
    account = current_account()
    return account.name if account else ""


def expected_version(form: Mapping[str, str]) -> int | None:
    """The version of the term that a form was made for; None if it does not say, 400 for nonsense."""
    text = form.get("seen", "")
    if not text:
        return None
    if not (text.isascii() and text.isdigit() and len(text) < 10):
        abort(400)
    return int(text)


def term_to_json(text: str, term: Term | None) -> dict[str, Any]:
    """What a page that shows a term has to know of it after a change."""
    if term is None:
        return {"text": text, "status": "gone", "version": 0, "category": ""}
    relations = {"synonyms": list(term.synonyms), "broader": list(term.broader_terms)}
    return {"text": text, "status": term.status, "version": term.version, "category": term.category, **relations}


def find_kwic_lines(text: str, word: str, doc_id: str, title: str, limit: int) -> list[KwicLine]:
    """The first `limit` places in `text` that hold `word`; letter case does not count."""
    lines: list[KwicLine] = []
    offset = -1
    folded_text, key = text.lower(), word.lower()
    if len(folded_text) != len(text):  # lowering has moved characters: look for it as it stands
        folded_text, key = text, word
    while len(lines) < limit and (offset := folded_text.find(key, offset + 1)) >= 0:
        end = offset + len(word)
        before, after = (
            clean_text(text[max(0, offset - KWIC_CONTEXT_CHARS) : offset]),
            clean_text(text[end : end + KWIC_CONTEXT_CHARS]),
        )
        lines.append(KwicLine(before, clean_text(text[offset:end]), after, doc_id, clean_text(title)))
    return lines
