"""The review pages of topics: decisions on candidate terms and seed URLs, and questions about pages.

Plain forms that work without JavaScript and by keyboard.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TypeVar

from flask import Blueprint, abort, flash, redirect, request, url_for
from werkzeug.wrappers import Response as BaseResponse

from domain.account import Role
from domain.errors import TopicError
from domain.operation import Field
from domain.topic import Topic, TopicSeed, TopicState, TopicTerm, TopicTermClass
from search_ui.accounts import add_no_store_headers, require_role
from search_ui.admin.operation_views import read_texts
from search_ui.context import current_site, render_page
from search_ui.i18n import translate, translate_code, translate_error
from search_ui.list_pages import parse_number, slice_page
from search_ui.review.term_display import current_account_name

blueprint = Blueprint("topics", __name__, url_prefix="/admin/topics")
blueprint.after_request(add_no_store_headers)

ITEMS_PER_PAGE = 50
ALL_STATES = "all"
STATE_ORDER = list(TopicState)
ANSWER_BY_BUTTON = {"yes": True, "no": False}
TopicItem = TypeVar("TopicItem", TopicTerm, TopicSeed)


@dataclass(frozen=True)
class TopicListing:
    """The state filter (None: any) and the page, counted from 1."""

    state: TopicState | None
    page_number: int


def parse_topic_listing(values: Mapping[str, str]) -> TopicListing:
    """Parse a URL or a form. Invalid values are replaced by defaults."""
    state, number = values.get("state", TopicState.PROPOSED), max(1, parse_number(values.get("page", "")))
    return TopicListing(TopicState(state) if state in set(TopicState) else None, number)


@blueprint.get("/")
@require_role(Role.REVIEWER)
def overview() -> BaseResponse:
    """Show all topics with their number of candidates."""
    topics = current_site().administration.topics
    rows = [(name, *_load_topic(name)) for name in topics.names()]
    return render_page("topics.html", rows=rows, current=topics.active_topic())


def _load_topic(name: str) -> tuple[Topic | None, str]:
    """Return a topic and "", or None and the reason why its file cannot be read."""
    try:
        return current_site().administration.topics.topic(name), ""
    except TopicError as error:
        return None, translate("The topic file cannot be read: {detail}", detail=str(error))


@blueprint.get("/<name>")
@require_role(Role.REVIEWER)
def show_topic(name: str) -> BaseResponse:
    """Show a page of the terms and seed URLs of a topic: where each comes from, and buttons to accept or reject it.

    All terms precede all seed URLs. Both are sorted by review state, then by descending score.
    """
    topic, listing = _topic_or_404(name), parse_topic_listing(request.args)
    selected = [*_select_by_state(topic.terms, listing), *_select_by_state(topic.seeds, listing)]
    page = slice_page(selected, str(listing.page_number), ITEMS_PER_PAGE)
    return render_page(
        "topic.html",
        topic=topic,
        listing=replace(listing, page_number=page.number),
        terms=[item for item in page.items if isinstance(item, TopicTerm)],
        seeds=[item for item in page.items if isinstance(item, TopicSeed)],
        total=len(selected),
        last_page_number=page.last,
        counts={
            state: sum(term.state is state for term in topic.terms) + sum(seed.state is state for seed in topic.seeds)
            for state in TopicState
        },
        states=STATE_ORDER,
        classes=list(TopicTermClass),
        is_current=topic.name == current_site().administration.topics.active_topic(),
        review=current_site().administration.topics.review_questions(topic.name),
    )


def _select_by_state(items: tuple[TopicItem, ...], listing: TopicListing) -> list[TopicItem]:
    selected = [item for item in items if listing.state in (None, item.state)]
    return sorted(selected, key=lambda item: (STATE_ORDER.index(item.state), -item.score))


@blueprint.post("/<name>/decide")
@require_role(Role.REVIEWER)
def decide(name: str) -> BaseResponse:
    """Decide on one item (a button named after the decision), or on the selected items (`item`, `decision`)."""
    _topic_or_404(name)
    state, items = _requested_decision()
    kind = request.form.get("class", "")
    if kind and kind not in set(TopicTermClass):
        abort(400)
    if not items:
        flash(translate("Nothing selected."))
        return _redirect_to_topic(name)
    try:
        current_site().administration.topics.decide(name, items, state, TopicTermClass(kind) if kind else None)
    except TopicError as error:
        flash(translate_error(error))
    else:
        flash(translate_code("topics_now", state.value, n=len(items)))
    return _redirect_to_topic(name)


@blueprint.post("/<name>/answer")
@require_role(Role.REVIEWER)
def save_answer(name: str) -> BaseResponse:
    """Save whether one page is on topic (a button named `yes` or `no`)."""
    _topic_or_404(name)
    answers = [(url, is_relevant) for word, is_relevant in ANSWER_BY_BUTTON.items() if (url := request.form.get(word))]
    if len(answers) != 1:
        abort(400)
    try:
        current_site().administration.topics.save_answers(name, dict(answers), current_account_name())
    except TopicError as error:
        flash(translate_error(error))
    else:
        flash(translate("Saved. The current or next crawl uses your answer."))
    return _redirect_to_topic(name)


def _requested_decision() -> tuple[TopicState, list[str]]:
    for state in TopicState:
        if state.value in request.form:
            return state, [request.form[state.value]]
    decision = request.form.get("decision", "")
    if decision not in set(TopicState):
        abort(400)
    return TopicState(decision), read_texts(Field("item"))


def _topic_or_404(name: str) -> Topic:
    topics = current_site().administration.topics
    if name not in topics.names():
        abort(404)
    return topics.topic(name)


def _redirect_to_topic(name: str) -> BaseResponse:
    listing = parse_topic_listing(request.form)
    return redirect(
        url_for("topics.show_topic", name=name, state=listing.state or ALL_STATES, page=listing.page_number), 303
    )
