"""The reviewer's pages for topics: judge the terms and seeds that are proposed for what a crawl looks for.

Plain forms: everything works without JavaScript, and by keyboard.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeVar

from flask import Blueprint, abort, flash, redirect, request, url_for
from werkzeug.wrappers import Response as BaseResponse

from docstore.errors import TopicError
from docstore.roles import Role
from docstore.topics import Topic, TopicSeed, TopicState, TopicTerm, TopicTermClass
from search_ui.accounts import never_stored, requires
from search_ui.messages import say
from search_ui.review.parts import reviewer
from search_ui.site import current_site, page

pages = Blueprint("topics", __name__, url_prefix="/admin/topics")
pages.after_request(never_stored)

ON_PAGE = 50
MAX_AT_ONCE = 500
LONGEST_NAME = 60
ALL = "all"
ORDER = list(TopicState)
ANSWERS = {"yes": True, "no": False}
One = TypeVar("One", TopicTerm, TopicSeed)


@dataclass(frozen=True)
class TopicListing:
    """What is shown: of which state (None: any), page `number` counted from 1."""

    state: TopicState | None
    number: int


def listing_of(values: Mapping[str, str]) -> TopicListing:
    """What a request asks for; whatever it does not say well is as at first."""
    state, number = values.get("state", TopicState.PROPOSED), values.get("page", "1")
    known = state in set(TopicState)
    readable = number.isascii() and number.isdigit() and len(number) < 7
    return TopicListing(TopicState(state) if known else None, max(1, int(number)) if readable else 1)


@pages.get("/")
@requires(Role.REVIEWER)
def overview() -> BaseResponse:
    """All topics, with what waits for a decision."""
    topics = current_site().topics
    rows = [(name, *_read(name)) for name in topics.names()]
    return page("topics.html", rows=rows, current=topics.current())


def _read(name: str) -> tuple[Topic | None, str]:
    """A topic, or what is wrong with its file."""
    try:
        return current_site().topics.topic(name), ""
    except TopicError as error:
        return None, str(error)


@pages.get("/<name>")
@requires(Role.REVIEWER)
def one(name: str) -> BaseResponse:
    """Terms and seeds of a topic with their evidence, the best first."""
    topic, listing = _topic_or_404(name), listing_of(request.args)
    chosen = [*_of_state(topic.terms, listing), *_of_state(topic.seeds, listing)]
    start = (listing.number - 1) * ON_PAGE
    shown = chosen[start : start + ON_PAGE]
    return page(
        "topic.html",
        topic=topic,
        listing=listing,
        terms=[item for item in shown if isinstance(item, TopicTerm)],
        seeds=[item for item in shown if isinstance(item, TopicSeed)],
        total=len(chosen),
        last=max(1, -(-len(chosen) // ON_PAGE)),
        counts={state: _count(topic, state) for state in TopicState},
        states=ORDER,
        classes=list(TopicTermClass),
        is_current=topic.name == current_site().topics.current(),
        asked=current_site().topics.questions(topic.name),
    )


def _of_state(items: tuple[One, ...], listing: TopicListing) -> list[One]:
    found = [item for item in items if listing.state in (None, item.state)]
    return sorted(found, key=lambda item: (ORDER.index(item.state), -item.score))


def _count(topic: Topic, state: TopicState) -> int:
    return sum(term.state is state for term in topic.terms) + sum(seed.state is state for seed in topic.seeds)


@pages.post("/<name>/decide")
@requires(Role.REVIEWER)
def decide(name: str) -> BaseResponse:
    """Decide on one item (a button of its own, named as the decision) or on those ticked (`item`, `decision`)."""
    _topic_or_404(name)
    state, items = _decision()
    kind = request.form.get("class", "")
    if kind and kind not in set(TopicTermClass):
        abort(400)
    if not items:
        flash(say("topics.nothing_ticked"))
        return _back(name)
    try:
        current_site().topics.decide(name, items, state, TopicTermClass(kind) if kind else None)
    except TopicError as error:
        flash(str(error))
    else:
        flash(say(f"topics.now_{state.value}", n=len(items)))
    return _back(name)


@pages.post("/<name>/answer")
@requires(Role.REVIEWER)
def answer(name: str) -> BaseResponse:
    """Say of one page whether it is of the topic (a button of its own, named `yes` or `no`)."""
    _topic_or_404(name)
    given = [(url, is_relevant) for word, is_relevant in ANSWERS.items() if (url := request.form.get(word))]
    if len(given) != 1:
        abort(400)
    try:
        current_site().topics.answer(name, dict(given), reviewer())
    except TopicError as error:
        flash(str(error))
    else:
        flash(say("topics.answered"))
    return _back(name)


def _decision() -> tuple[TopicState, list[str]]:
    for state in TopicState:
        if state.value in request.form:
            return state, [request.form[state.value]]
    decision = request.form.get("decision", "")
    if decision not in set(TopicState):
        abort(400)
    return TopicState(decision), request.form.getlist("item")[:MAX_AT_ONCE]


def _topic_or_404(name: str) -> Topic:
    topics = current_site().topics
    if name not in topics.names():
        abort(404)
    return topics.topic(name)


def _back(name: str) -> BaseResponse:
    listing = listing_of(request.form)
    return redirect(url_for("topics.one", name=name, state=listing.state or ALL, page=listing.number), 303)
