"""The other review pages: history, versions, preview of the next version, statistics."""

from collections.abc import Iterable, Mapping
from functools import partial
from typing import Any

from flask import Blueprint, Response, flash, redirect, request, url_for
from werkzeug.exceptions import NotFound
from werkzeug.wrappers import Response as BaseResponse

from domain.account import Role
from domain.concept import ConceptFormat
from domain.errors import LexiconError
from domain.review import TermStatistics
from domain.term import TermStatus
from search_ui.accounts import require_role
from search_ui.admin.views import format_timestamp
from search_ui.api_tokens import ApiScope, accept_api_token
from search_ui.charts import Chart, ChartPoint, bar_chart
from search_ui.context import current_site, render_page
from search_ui.i18n import translate, translate_code, translate_error, translate_message
from search_ui.list_pages import load_page, parse_number
from search_ui.query.display_text import clean_text, truncate_query
from search_ui.review.preview import compare_rankings
from search_ui.review.term_display import MAX_NOTE_CHARS, MAX_TERM_CHARS, current_account_name, find_terms_of_decisions

blueprint = Blueprint("pages", __name__)

DECISIONS_PER_PAGE = 50
MAX_CHANGES_SHOWN = 100
MAX_ERRORS_SHOWN = 200
MAX_POS_PATTERNS = 15
SCORE_BARS = 20
MAX_LENGTH_BAR = 20  # characters; longer terms are in the last bar
ACCEPTED_STATUSES = frozenset({TermStatus.ACCEPTED, TermStatus.MERGED})
EXPORT_EXTENSIONS = {
    "jieba": "txt",
    "csv": "csv",
    "synonyms": "txt",
    "skos": "ttl",
    "tbx": "tbx",
    "concepts": "csv",
}  # file extension by format
CONCEPT_FORMATS: Mapping[str, ConceptFormat] = {"skos": "skos", "tbx": "tbx", "concepts": "csv"}


@blueprint.get("/history")
@require_role(Role.REVIEWER)
def history() -> BaseResponse:
    """Show all actions with a button to undo them; of one term or account if given."""
    text, by = (request.args.get(name, "")[:MAX_TERM_CHARS] for name in ("text", "by"))
    find_decisions = partial(current_site().store.review_history.list_decisions, text, by)
    page = load_page(find_decisions, request.args.get("page", ""), DECISIONS_PER_PAGE)
    return render_page(
        "review_history.html",
        acts=page.items,
        existing_terms=find_terms_of_decisions(page.items),
        text=text,
        by=by,
        moment=format_timestamp,
        pages_of=page,
    )


@blueprint.get("/versions")
@require_role(Role.REVIEWER)
def versions() -> BaseResponse:
    """Show all versions, and the changes from version `before` to version `after`."""
    administration = current_site().administration
    published = administration.store.lexicons.list_versions()
    newest = published[0][0].version if published else 0
    after = min(parse_number(request.args.get("after", ""), newest), newest)
    before = min(parse_number(request.args.get("before", ""), max(0, after - 1)), newest)
    changes = administration.lexicon_tools.difference(before, after)
    return render_page(
        "review_versions.html",
        versions=published,
        newest=newest,
        before=before,
        after=after,
        changes=changes[:MAX_CHANGES_SHOWN],
        more=len(changes) - MAX_CHANGES_SHOWN,
        forms=list(EXPORT_EXTENSIONS),
        moment=format_timestamp,
    )


@blueprint.post("/revert")
@require_role(Role.REVIEWER)
def revert() -> BaseResponse:
    """Restore an older version."""
    number = parse_number(request.form.get("version", ""), -1)
    try:
        new_version = current_site().administration.lexicon_tools.revert(number, current_account_name())
    except LexiconError as error:
        flash(translate_error(error))
    else:
        flash(
            translate(
                "Restored version {old} as new version {version}.", version=str(new_version.version), old=str(number)
            )
        )
        if waiting := current_site().store.lexicons.status_counts().get(TermStatus.PROVISIONAL):
            flash(translate_code("review_bulk", TermStatus.PROVISIONAL, n=waiting))
    return redirect(url_for("review.pages.versions"), 303)


@blueprint.post("/import")
@require_role(Role.REVIEWER)
def import_list() -> BaseResponse:
    """Import the valid part of an uploaded list of terms or concepts, and name the rest; or show a preview of it."""
    upload = request.files.get("list")
    if upload is None or not upload.filename:
        flash(translate("No file selected."))
        return redirect(url_for("review.pages.versions"), 303)
    tools = current_site().administration.lexicon_tools
    is_preview = "preview" in request.form
    try:
        preview = tools.preview_import(upload.filename, upload.read())
        if not is_preview and not preview.is_useless:
            tools.import_file(preview, current_account_name())
    except LexiconError as error:
        flash(translate_error(error))
        return redirect(url_for("review.pages.versions"), 303)
    size = translate_message(preview.size)
    if not is_preview and not preview.errors:
        flash(translate("Imported: {size}. They take effect when you publish.", size=size))
        return redirect(url_for("review.pages.versions"), 303)
    return render_page(
        "review_import.html",
        422 if preview.is_useless else 200,
        name=clean_text(upload.filename),
        preview=preview,
        size=size,
        is_preview=is_preview,
        changes=preview.changes[:MAX_CHANGES_SHOWN] if is_preview else (),
        more=len(preview.changes) - MAX_CHANGES_SHOWN if is_preview else 0,
        faults=[(number, translate_message(fault)) for number, fault in preview.errors[:MAX_ERRORS_SHOWN]],
        more_faults=len(preview.errors) - MAX_ERRORS_SHOWN,
    )


@blueprint.get("/export/<form>")
@accept_api_token(ApiScope.TERMS)
@require_role(Role.REVIEWER)
def export(form: str) -> BaseResponse:
    """Download the newest version in a list format, or the concepts of the accepted terms."""
    if form not in EXPORT_EXTENSIONS:
        raise NotFound
    tools, concept_format = current_site().administration.lexicon_tools, CONCEPT_FORMATS.get(form)
    content = tools.export_concepts(concept_format) if concept_format else tools.export(form)
    response = Response(content, mimetype="text/plain")
    response.headers["Content-Disposition"] = f'attachment; filename="lexicon-{form}.{EXPORT_EXTENSIONS[form]}"'
    return response


@blueprint.get("/preview")
@require_role(Role.REVIEWER)
def preview() -> BaseResponse:
    """Show what publishing would change: segmentation, and the first results of a search for `q`."""
    site = current_site()
    proposal = site.administration.lexicon_tools.proposal()
    changes = [*proposal.word_changes, *proposal.other_changes]
    added_count, removed_count = (sum(not getattr(change, side) for change in changes) for side in ("before", "after"))
    query = truncate_query(request.args.get("q", changes[0].text if changes else ""), site.settings.longest_query)
    return render_page(
        "review_preview.html",
        proposal=proposal,
        cuts=[
            (change, *(tuple(map(clean_text, words)) for words in proposal.check.words_by_term[change.text]))
            for change in proposal.word_changes[:MAX_CHANGES_SHOWN]
        ],
        errors=sorted(proposal.check.error_by_term.items())[:MAX_CHANGES_SHOWN],
        more=len(proposal.word_changes) - MAX_CHANGES_SHOWN,
        added=added_count,
        removed=removed_count,
        changed=len(changes) - added_count - removed_count,
        waiting_count=site.store.lexicons.status_counts().get(TermStatus.PROVISIONAL, 0),
        longest_note=MAX_NOTE_CHARS,
        query=query,
        results=compare_rankings(proposal, query) if query else None,
    )


@blueprint.get("/report")
@require_role(Role.REVIEWER)
def report() -> BaseResponse:
    """Show the distributions of all and of accepted terms: length, score, part-of-speech pattern."""
    store = current_site().store
    statistics, counts = store.review_queue.statistics(), store.lexicons.status_counts()
    return render_page(
        "review_report.html",
        total=sum(counts.values()),
        counts={status.value: counts.get(status, 0) for status in TermStatus},
        last=store.review_queue.recent_acceptance(),
        lengths=length_chart(statistics),
        scores=score_chart(statistics),
        patterns=pos_pattern_points(statistics),
    )


def length_chart(statistics: TermStatistics) -> Chart:
    """Chart the number of terms by length in characters, with the accepted ones as the part."""
    counts = count_accepted((min(max(size, 1), MAX_LENGTH_BAR), *each) for size, *each in statistics.lengths)
    labels = {MAX_LENGTH_BAR: f"≥ {MAX_LENGTH_BAR}"}  # the last bar has all longer terms
    sizes = range(1, max(counts, default=1) + 1)
    return bar_chart([ChartPoint(labels.get(size, str(size)), *counts.get(size, (0, 0))) for size in sizes])


def count_accepted(rows: Iterable[tuple[Any, ...]]) -> dict[Any, list[int]]:
    """Return the number of terms and of accepted terms by key, from rows of a key, a status and a number."""
    counts: dict[Any, list[int]] = {}
    for key, status, count in rows:
        total_and_accepted = counts.setdefault(key, [0, 0])
        total_and_accepted[0] += count
        total_and_accepted[1] += count if status in ACCEPTED_STATUSES else 0
    return counts


def score_chart(statistics: TermStatistics) -> Chart:
    """Chart the number of terms by score, in equal intervals, with the accepted ones as the part."""
    scores = [score for score, _ in statistics.scores]
    low, high = min(scores, default=0.0), max(scores, default=1.0)
    width = (high - low) / SCORE_BARS or 1.0
    bars = ((min(SCORE_BARS - 1, int((score - low) / width)), status, 1) for score, status in statistics.scores)
    counts = count_accepted(bars)
    points = [ChartPoint(f"{low + bar * width:.2f}", *counts.get(bar, (0, 0))) for bar in range(SCORE_BARS)]
    return bar_chart(points)


def pos_pattern_points(statistics: TermStatistics) -> list[ChartPoint]:
    """Return the most frequent part-of-speech patterns, with the number of terms and of accepted terms."""
    counts = count_accepted(statistics.pos_tags)
    most_frequent = sorted(counts, key=lambda tags: (-counts[tags][0], tags))[:MAX_POS_PATTERNS]
    return [ChartPoint(tags or "–", *counts[tags]) for tags in most_frequent]
