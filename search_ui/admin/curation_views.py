"""The rules of editors: the list, and the form of one rule with the results before and after."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from enum import StrEnum

from flask import Blueprint, abort, flash, redirect, request, url_for
from werkzeug.wrappers import Response as BaseResponse

from docstore.curation import REASON, RULE_KEY
from domain.account import Role
from domain.curation import CurationAction, CurationRule
from domain.errors import PlumblineError
from domain.message import Message, error_message
from search_ui.accounts import add_no_store_headers, require_role, safe_next_url
from search_ui.admin.history_views import day_start, parse_day
from search_ui.admin.operation_views import run_operation
from search_ui.admin.views import DAY_SECONDS, MINUTE_SECONDS
from search_ui.context import current_services, current_site, render_page
from search_ui.i18n import translate, translate_error
from search_ui.list_pages import slice_page
from search_ui.local_dates import format_day, last_day
from search_ui.query.curation import Curation, CurationRules
from search_ui.query.display_text import normalize_query, truncate_query
from search_ui.query.results import ArticleSummary, Hit
from search_ui.query.search_request import SearchRequest
from search_ui.review.term_display import current_account_name
from search_ui.services.articles import list_by_ids
from text.folding import query_key

blueprint = Blueprint("curation", __name__, url_prefix="/admin/curation")
blueprint.after_request(add_no_store_headers)

RULES_PER_PAGE = 50
EXPIRY_NOTICE_DAYS = 30
PREVIEW_HITS = 10
GONE_MESSAGE = Message("This page is not in the index: it was removed or taken down. Nothing is changed.")


class RuleState(StrEnum):
    """What an editor should look at."""

    EXPIRING = "expiring"  # within EXPIRY_NOTICE_DAYS
    EXPIRED = "expired"
    UNUSED = "unused"  # the log has no search for the query since the rule was made
    GONE = "gone"  # the index does not have the article


@dataclass(frozen=True)
class RuleRow:
    """A rule with its article (None: the index does not have it), its states, and the day of the last search, or ""."""

    rule: CurationRule
    article: ArticleSummary | None
    states: Sequence[RuleState]
    last_search: str


@blueprint.get("")
@require_role(Role.EDITOR)
def rule_list() -> BaseResponse:
    """List the rules, the newest first: all, those that apply to the query `q`, or those in the state `show`."""
    site, search = current_site(), current_services().search
    rules, query = site.store.curation.load_all(), request.args.get("q", "")
    if query:
        rules = CurationRules(rules).find(truncate_query(query, site.settings.longest_query), search.thesaurus)
    article_by_id = {each.doc_id: each for each in list_by_ids(search, list({rule.doc_id for rule in rules}))}
    searched_at = find_last_searches(rules)
    rows = []
    for rule in reversed(rules):
        states = {
            RuleState.EXPIRED: rule.has_expired(site.clock()),
            RuleState.EXPIRING: rule.has_expired(site.clock() + EXPIRY_NOTICE_DAYS * DAY_SECONDS)
            and not rule.has_expired(site.clock()),
            RuleState.UNUSED: site.settings.log_days and rule.rule_id not in searched_at,
            RuleState.GONE: rule.doc_id not in article_by_id,
        }
        last_search = format_day(searched_at[rule.rule_id]) if rule.rule_id in searched_at else ""
        row_states = [state for state, holds in states.items() if holds]
        rows.append(RuleRow(rule, article_by_id.get(rule.doc_id), row_states, last_search))
    state_filter = next((state for state in RuleState if state == request.args.get("show")), None)
    filtered_rows = [row for row in rows if state_filter is None or state_filter in row.states]
    return render_page(
        "admin_curation.html",
        page_of_rules=slice_page(filtered_rows, request.args.get("page", ""), RULES_PER_PAGE),
        counts={state: sum(state in row.states for row in rows) for state in RuleState},
        total=len(rows),
        state_filter=state_filter,
        query=query,
        last_day=last_day,
    )


def find_last_searches(rules: Sequence[CurationRule]) -> Mapping[int, float]:
    """Return by rule when the log has the last search for its query since it was made, in epoch seconds."""
    matcher, thesaurus = CurationRules(rules), current_services().search.thesaurus
    since = min((rule.created_at for rule in rules), default=current_site().clock())
    searched_at: dict[int, float] = {}
    for query, at in current_site().store.search_log.last_searches(since).items():
        for rule in matcher.find(query, thesaurus):
            if at > rule.created_at - MINUTE_SECONDS:  # the log has minutes
                searched_at[rule.rule_id] = max(at, searched_at.get(rule.rule_id, 0.0))
    return searched_at


@blueprint.get("/rule")
@require_role(Role.EDITOR)
def rule_form() -> BaseResponse:
    """Show the form of the rule for the query `q` and the article `doc`, and the results without and with the rule."""
    return _render_rule()


@blueprint.post("/rule")
@require_role(Role.EDITOR)
def save_rule() -> BaseResponse:
    """Save a rule and return to the page `back`. The form is shown again with what is wrong with it."""
    rule, errors, article = _read_rule()
    version = request.form.get("version", "")
    if errors:
        return _render_rule(400)
    if article is None and not version:
        return _render_rule(400, translate(GONE_MESSAGE))
    values = {name: getattr(rule, name) for name in ("query", "doc_id", "title", "action", "with_synonyms", "reason")}
    name = "curation_change" if version else "curation_create"
    try:
        change = run_operation(name, **values, until=rule.expires_at, version=version)
    except PlumblineError as error:
        return _render_rule(409, translate_error(error))
    if change is None:
        return _render_rule(409, translate(current_site().administration.operations[name].unchanged_message))
    flash(translate("The rule is saved."))
    return redirect(_back_url(), 303)


def _render_rule(status: int = 200, problem: str = "") -> BaseResponse:
    rule, errors, article = _read_rule()
    if article is None and not rule.version and not problem:
        problem = translate(GONE_MESSAGE)
    before: Sequence[Hit] = ()
    after: Sequence[Hit] = ()
    if not errors and article is not None and rule.reason:
        services = current_services().with_page_size(PREVIEW_HITS)
        search = replace(services.search, has_snippets=False)
        text = normalize_query(rule.query, search.settings.longest_query)
        plan = search.plan(SearchRequest(raw_query=rule.query, text=text, profile=search.settings.profile))
        without = plan.curation.without(rule.doc_id)
        with_rule: Curation = without if rule.has_expired(services.clock()) else plan.curation.with_rule(rule)
        before, after = (search.execute(replace(plan, curation=each)).hits for each in (without, with_rule))
    return render_page(
        "admin_curation_rule.html",
        status,
        rule=rule,
        until=request.values.get("until", "") if "action" in request.values else last_day(rule.expires_at),
        errors=errors,
        problem=problem,
        before=before,
        after=after,
        saved_rule=_find_rule(rule.query, rule.doc_id),
        last_day=last_day,
        curation_actions=list(CurationAction),
        back_url=_back_url(),
    )


def _find_rule(query: str, doc_id: str) -> CurationRule | None:
    """Return the saved rule of a query and an article."""
    rules = current_site().store.curation.load_all()
    is_it = (query_key(query), doc_id)
    return next((rule for rule in rules if (rule.query_key, rule.doc_id) == is_it), None)


def _read_rule() -> tuple[CurationRule, dict[str, str], ArticleSummary | None]:
    """Return the rule of the request, the code of the error of each wrong field, and the article of the rule.

    Without an action it is the saved rule. A query without a searchable character, a text that is too long, and an
    unknown action answer 400.
    """
    site, values = current_site(), request.values
    query, doc_id = truncate_query(values.get("q", ""), site.settings.longest_query), values.get("doc", "")
    reason, action = values.get("reason", "").strip(), values.get("action", CurationAction.PIN.value)
    try:
        for field, text in zip((*RULE_KEY, REASON), (query, doc_id, reason), strict=True):
            field.check([text])
    except PlumblineError as error:
        abort(400, description=error_message(error))
    if not normalize_query(query, site.settings.longest_query) or action not in [*CurationAction]:
        abort(400)
    saved_rule = _find_rule(query, doc_id)
    article = next(iter(list_by_ids(current_services().search, [doc_id])), None) if doc_id else None
    if saved_rule and "action" not in values:
        return saved_rule, {}, article
    day, errors = parse_day(values.get("until", "").strip()), {}
    until = None if day is None else day_start(day + timedelta(days=1))
    if "action" in values and not reason:
        errors["reason"] = "reason"
    if values.get("until", "").strip() and (until is None or until <= site.clock()):
        errors["until"] = "end_date"
    title = article.plain_title if article else saved_rule.title if saved_rule else ""
    rule = CurationRule(
        0,
        query,
        query_key(query),
        bool(values.get("with_synonyms")),
        doc_id,
        title,
        CurationAction(action),
        reason,
        current_account_name(),
        saved_rule.created_at if saved_rule else site.clock(),
        until,
        saved_rule.version if saved_rule else 0,
    )
    return rule, errors, article


def _back_url() -> str:
    """Return the results page or the page of the signed-in area to return to."""
    back = request.values.get("back", "")
    is_results = back.startswith(f"{url_for('public.search')}?") and back.isprintable() and "\\" not in back
    return back if is_results else safe_next_url(back or url_for("curation.rule_list"))
