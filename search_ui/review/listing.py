"""The list of terms as a URL describes it: filter, order and page."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from flask import redirect, request, url_for
from werkzeug.wrappers import Response as BaseResponse

from domain.review import Order, TermQuery
from domain.term import TermClass, TermStatus
from search_ui.list_pages import parse_number
from search_ui.review.term_display import MAX_TERM_CHARS, current_account_name, find_terms
from text.scripts import LANGUAGE_PATTERNS

TERMS_ON_PAGE = 20
ANY_VALUE, AUTOMATIC, OUTDATED_DEFINITION = "all", "automatic", "outdated_definition"
ASSIGNED_TO_ME = "me"


@dataclass(frozen=True)
class TermListState:
    """The filter, order and page of the list. `page_number` counts from 1; `language` is a language or `ANY_VALUE`."""

    query: TermQuery
    page_number: int
    language: str = ANY_VALUE

    @property
    def url_params(self) -> dict[str, str]:
        """The filter and order as URL parameters, without the page."""
        query = self.query
        status = str(query.status or ANY_VALUE)
        if query.is_automatic or query.is_definition_outdated:
            status = AUTOMATIC if query.is_automatic else OUTDATED_DEFINITION
        values = {
            "status": status,
            "text": query.text,
            "language": self.language,
            "category": str(query.category or ""),
            "least": str(query.min_documents or ""),
            "assigned": ASSIGNED_TO_ME if query.assigned_to else "",
            "order": query.order.value if query.order is not Order.REVIEW else "",
        }
        return {name: value for name, value in values.items() if value or name in ("status", "text")}


def parse_listing(values: Mapping[str, str], account: str) -> TermListState:
    """Parse a URL or a form. Invalid values are ignored. `account` is the signed-in account."""
    status, category, order, language = (values.get(name, "") for name in ("status", "category", "order", "language"))
    number, min_documents = (parse_number(values.get(name, "")) for name in ("page", "least"))
    number = max(1, number)
    status_filter: TermStatus | None = TermStatus.CANDIDATE
    if status:
        status_filter = TermStatus(status) if status in set(TermStatus) else None
    return TermListState(
        TermQuery(
            status=status_filter,
            text=values.get("text", "")[:MAX_TERM_CHARS],
            category=TermClass(category) if category and category in set(TermClass) else None,
            min_documents=min_documents,
            pattern=LANGUAGE_PATTERNS.get(language, ""),
            is_automatic=status == AUTOMATIC,
            is_definition_outdated=status == OUTDATED_DEFINITION,
            assigned_to=account if values.get("assigned") == ASSIGNED_TO_ME else "",
            order=Order(order) if order in set(Order) else Order.REVIEW,
            offset=(number - 1) * TERMS_ON_PAGE,
            limit=TERMS_ON_PAGE,
        ),
        number,
        language if language in LANGUAGE_PATTERNS else ANY_VALUE,
    )


def redirect_back() -> BaseResponse:
    """Redirect to the page of the form (`from`), which is the list if it names none."""
    origin, text = request.form.get("from", ""), request.form.get("term", "")
    if origin == "term" and find_terms([text]):  # an undo can have deleted it
        return redirect(url_for("review.term.show_term", text=text), 303)
    if origin in ("definitions", "relations"):
        url_params: dict[str, Any] = {name: request.form.get(name) for name in ("page", "position", "pattern")}
        endpoint = "review.relations.show_relations" if origin == "relations" else "review.term.show_definitions"
        return redirect(url_for(endpoint, **url_params), 303)
    if origin in ("history", "all"):
        return redirect(url_for("review.pages.history" if origin == "history" else "history.history"), 303)
    listing = parse_listing(request.form, current_account_name())
    list_params: dict[str, Any] = {**listing.url_params, "page": listing.page_number}
    return redirect(url_for("review.review_list", **list_params), 303)
