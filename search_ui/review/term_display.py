"""Shared parts of the review pages: the current account, and terms as they are shown."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from flask import abort

from docstore.terms.review import RelatedTerms
from domain.review import CandidateKind, ReviewDecision
from domain.rising_term import RisingTerm
from domain.term import Term, TermStatus
from search_ui.context import current_account, current_site
from search_ui.i18n import translate
from search_ui.list_pages import parse_number
from search_ui.local_dates import format_day
from search_ui.query.display_text import Segments, clean_text, mark_occurrences, truncate_segments

MAX_TERM_CHARS = 200  # all lexicon terms are much shorter
MAX_NOTE_CHARS = 300  # of a published version
MAX_CONTEXT_CHARS = 120
MAX_EXCERPT_CHARS = 60  # of a definition in the history
CHANGES_SHOWN = 5  # of a decision in the history (acts_table in _review_parts.html)
KWIC_CONTEXT_CHARS = 24  # on each side


@dataclass(frozen=True)
class TermRow:
    """A term with highlighted contexts, related terms, its rise in the latest run, and its kind if it is no term.

    `note` says who accepted a term that waits for a second reviewer, `is_own` that this account did.
    """

    term: Term
    contexts: Sequence[Segments]
    related_terms: RelatedTerms
    first_seen: str
    rise: RisingTerm | None
    kind: CandidateKind | None = None
    note: str = ""
    is_own: bool = False


@dataclass(frozen=True)
class KwicLine:
    """A keyword in context: the text around it, with id and title of the article."""

    before: str
    word: str
    after: str
    doc_id: str
    title: str


def build_term_row(
    term: Term, related_terms: RelatedTerms, rise: RisingTerm | None, kind: CandidateKind | None = None
) -> TermRow:
    """Build the row of a term."""
    contexts = [truncate_segments(mark_occurrences(context, term.text), MAX_CONTEXT_CHARS) for context in term.contexts]
    first_seen = "" if term.first_seen is None else format_day(term.first_seen)
    note, is_own = waiting_note(term), is_own_acceptance(term)
    return TermRow(term, contexts, related_terms, first_seen, rise, kind, note, is_own)


def current_account_name() -> str:
    """Return the name of the signed-in account."""
    account = current_account()
    return account.name if account else ""


def expected_version(form: Mapping[str, str]) -> int | None:
    """Return the term version that a form was rendered with; None if missing. Aborts with 400 if it is invalid."""
    text = form.get("seen", "")
    version = parse_number(text, -1) if text else None
    if version == -1:
        abort(400)
    return version


def term_to_json(text: str, term: Term | None) -> dict[str, Any]:
    """Return what a page needs to update a changed term."""
    if term is None:
        return {"text": text, "status": "gone", "version": 0, "category": "", "note": "", "own": False}
    relations = {"synonyms": list(term.synonyms), "broader": list(term.broader_terms)}
    state = {"status": term.status, "version": term.version, "category": term.category}
    return {"text": text, **state, **relations, "note": waiting_note(term), "own": is_own_acceptance(term)}


def waiting_note(term: Term) -> str:
    """Return who accepted a term that waits for a second reviewer; "" for another term."""
    is_waiting = term.status is TermStatus.PROVISIONAL
    return translate("accepted by {name}", name=term.decided_by) if is_waiting else ""


def find_terms_of_decisions(decisions: Sequence[ReviewDecision]) -> dict[str, Term]:
    """Return the terms that the history shows with `decisions` and that still exist, by text."""
    texts = {change.text for decision in decisions for change in decision.changes[:CHANGES_SHOWN]}
    return find_terms(list(texts))


def find_terms(texts: Sequence[str]) -> dict[str, Term]:
    """Return those of `texts` that are terms."""
    return current_site().store.review_queue.find_terms(texts)


def load_rising_terms() -> dict[str, RisingTerm]:
    """Return the terms that rose in the latest run, by text. They lead the review order."""
    return {term.text: term for term in current_site().store.rising_terms.load()}


def undo_label(decision: ReviewDecision) -> str:
    """Return the label of the button that undoes a decision: with its extent if it changed more than one term."""
    count = len(decision.changes)
    if count == 1:
        return translate("undo")
    return translate("Undo the action of {name} on {n} terms", n=count, name=decision.by or translate("System"))


def is_own_acceptance(term: Term) -> bool:
    """True if the signed-in account accepted the term and another one must confirm it."""
    return term.status is TermStatus.PROVISIONAL and term.decided_by == current_account_name()


def definition_excerpt(state_json: str) -> str:
    """Return the beginning of the chosen definition in the state of a decision; "" if the choice is none."""
    sentence = clean_text(json.loads(state_json)["sentence"])
    return sentence if len(sentence) <= MAX_EXCERPT_CHARS else f"{sentence[:MAX_EXCERPT_CHARS]}…"


def find_kwic_lines(text: str, word: str, doc_id: str, title: str, limit: int) -> list[KwicLine]:
    """Return the first `limit` occurrences of `word` in `text`, ignoring case, with the characters around each."""
    lines: list[KwicLine] = []
    offset = -1
    folded_text, key = text.lower(), word.lower()
    if len(folded_text) != len(text):  # lowercasing changed the offsets: match case-sensitively
        folded_text, key = text, word
    while len(lines) < limit and (offset := folded_text.find(key, offset + 1)) >= 0:
        end = offset + len(word)
        before, after = (
            clean_text(text[max(0, offset - KWIC_CONTEXT_CHARS) : offset]),
            clean_text(text[end : end + KWIC_CONTEXT_CHARS]),
        )
        lines.append(KwicLine(before, clean_text(text[offset:end]), after, doc_id, clean_text(title)))
    return lines
