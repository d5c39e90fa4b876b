"""The reviewer's other pages: the history of acts, the versions, a preview of the next one, the report on all terms."""

import re

from flask import Blueprint, Response, flash, redirect, request, url_for
from werkzeug.exceptions import NotFound
from werkzeug.wrappers import Response as BaseResponse

from docstore.errors import DictionaryError, LexiconError
from docstore.model import TermStatus
from docstore.roles import Role
from docstore.terms.review_queue import TermFigures
from search_ui.accounts import requires
from search_ui.charts import Chart, Point, bar_chart
from search_ui.messages import say
from search_ui.operator.admin import moment
from search_ui.query.texts import shown
from search_ui.review.parts import LONGEST_TERM, reviewer
from search_ui.review.preview import ranked_changes, sentence_cuts
from search_ui.site import current_site, page

pages = Blueprint("pages", __name__)

ACTS_ON_PAGE = 50
CHANGES_SHOWN = 100
FAULTS_SHOWN = 200
PATTERNS = 15
SCORE_BARS = 20
LONGEST_BAR = 20  # characters; longer words share the last bar
GOOD = frozenset({TermStatus.ACCEPTED, TermStatus.MERGED})
FORMS = {"jieba": "txt", "csv": "csv", "synonyms": "txt", "skos": "ttl"}  # and the ends of their files' names
_NUMBER = re.compile("[0-9]{1,6}")


def _number(name: str, otherwise: int) -> int:
    text = request.values.get(name, "")
    return int(text) if _NUMBER.fullmatch(text) else otherwise


@pages.get("/history")
@requires(Role.REVIEWER)
def history() -> BaseResponse:
    """Who did what and when, with a button to take it back; of one term or one account if named."""
    text, by = (request.args.get(name, "")[:LONGEST_TERM] for name in ("text", "by"))
    number = max(1, _number("page", 1))
    total, acts = current_site().actions.review.history(text, by, (number - 1) * ACTS_ON_PAGE, ACTS_ON_PAGE)
    last = max(1, -(-total // ACTS_ON_PAGE))
    pages_of = {"number": number, "last": last}
    return page("review_history.html", acts=acts, text=text, by=by, moment=moment, pages_of=pages_of)


@pages.get("/versions")
@requires(Role.REVIEWER)
def versions() -> BaseResponse:
    """All versions, and what one (`after`) has otherwise than another (`before`)."""
    desk = current_site().actions.review
    published = desk.versions()
    newest = published[0][0].version if published else 0
    after = min(_number("after", newest), newest)
    before = min(_number("before", max(0, after - 1)), newest)
    changes = desk.difference(before, after)
    return page(
        "review_versions.html",
        versions=published,
        newest=newest,
        before=before,
        after=after,
        changes=changes[:CHANGES_SHOWN],
        more=len(changes) - CHANGES_SHOWN,
        forms=list(FORMS),
        moment=moment,
    )


@pages.post("/revert")
@requires(Role.REVIEWER)
def revert() -> BaseResponse:
    """Publish the words of an older version again."""
    number = _number("version", -1)
    try:
        made = current_site().actions.review.revert(number, reviewer())
    except LexiconError as error:
        flash(str(error))
    else:
        flash(say("review.reverted", version=made.version, old=number))
    return redirect(url_for("review.pages.versions"), 303)


@pages.post("/import")
@requires(Role.REVIEWER)
def bring_in() -> BaseResponse:
    """Accept the words of a list that was sent, all of them or, where a line is bad, none."""
    sent = request.files.get("list")
    if sent is None or not sent.filename:
        flash(say("review.no_list"))
        return redirect(url_for("review.pages.versions"), 303)
    try:
        added = current_site().actions.review.bring_in(sent.filename, sent.read(), reviewer())
    except DictionaryError as error:
        faults = [(number, shown(fault)) for number, fault in error.faults[:FAULTS_SHOWN]]
        more = len(error.faults) - len(faults)
        return page("review_faults.html", 422, name=shown(sent.filename), faults=faults, more=more)
    except LexiconError as error:
        flash(str(error))
    else:
        flash(say("review.brought_in", n=added))
    return redirect(url_for("review.pages.versions"), 303)


@pages.get("/export/<form>")
@requires(Role.REVIEWER)
def export(form: str) -> BaseResponse:
    """The newest version for other programs."""
    if form not in FORMS:
        raise NotFound
    response = Response(current_site().actions.review.export(form), mimetype="text/plain")
    response.headers["Content-Disposition"] = f'attachment; filename="lexicon-{form}.{FORMS[form]}"'
    return response


@pages.get("/preview")
@requires(Role.REVIEWER)
def preview() -> BaseResponse:
    """What publishing would change: sentences cut before and after, and the first results of the search for `q`."""
    site = current_site()
    proposal = site.actions.review.proposal()
    first = next((change.text for change, _ in proposal.changes), "")
    query = request.args.get("q", first)[: site.settings.longest_query]
    return page(
        "review_preview.html",
        proposal=proposal,
        cuts=sentence_cuts(proposal, site.actions.base_segmenter(), CHANGES_SHOWN),
        more=len(proposal.changes) - CHANGES_SHOWN,
        query=query,
        results=ranked_changes(proposal, query) if query else None,
    )


@pages.get("/report")
@requires(Role.REVIEWER)
def report() -> BaseResponse:
    """The distributions of all terms: length, score, POS pattern; the accepted ones among them."""
    desk = current_site().actions.review
    figures = desk.figures()
    counts = current_site().actions.term_counts()
    return page(
        "review_report.html",
        total=sum(counts.values()),
        counts={status.value: counts.get(status, 0) for status in TermStatus},
        last=desk.last_decisions(),
        lengths=length_chart(figures),
        scores=score_chart(figures),
        patterns=patterns(figures),
    )


def length_chart(figures: TermFigures) -> Chart:
    """How many terms have each length in characters, the accepted ones as the part."""
    counts = {size: [0, 0] for size in range(1, LONGEST_BAR + 1)}
    for size, status, count in figures.lengths:
        both = counts[min(max(size, 1), LONGEST_BAR)]
        both[0] += count
        both[1] += count if status in GOOD else 0
    used = max((size for size, both in counts.items() if both[0]), default=1)
    return bar_chart([Point(str(size), *counts[size]) for size in range(1, used + 1)])


def score_chart(figures: TermFigures) -> Chart:
    """How many terms have a score in each of some equal steps from the lowest to the highest."""
    scores = [score for score, _ in figures.scores]
    low, high = min(scores, default=0.0), max(scores, default=1.0)
    width = (high - low) / SCORE_BARS or 1.0
    both = [[0, 0] for _ in range(SCORE_BARS)]
    for score, status in figures.scores:
        place = both[min(SCORE_BARS - 1, int((score - low) / width))]
        place[0] += 1
        place[1] += status in GOOD
    return bar_chart([Point(f"{low + n * width:.2f}", *counted) for n, counted in enumerate(both)])


def patterns(figures: TermFigures) -> list[Point]:
    """The most frequent POS patterns, with how many terms have each and how many of those were accepted."""
    counts: dict[str, list[int]] = {}
    for tags, status, count in figures.tags:
        both = counts.setdefault(tags, [0, 0])
        both[0] += count
        both[1] += count if status in GOOD else 0
    best = sorted(counts, key=lambda tags: (-counts[tags][0], tags))[:PATTERNS]
    return [Point(tags or "–", *counts[tags]) for tags in best]
