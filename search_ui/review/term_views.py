"""The page of one term with its contexts, related terms, history and all forms; the page of definitions to choose."""

from dataclasses import replace

from flask import Blueprint, redirect, request, url_for
from werkzeug.exceptions import NotFound
from werkzeug.wrappers import Response as BaseResponse

from domain.account import Role
from domain.errors import SolrError
from domain.review import Order, ReviewDecision, ReviewDecisionKind, TermQuery
from domain.term import MAX_DEFINITION_CHARS, ConceptTerm, ConceptTermStatus, Term, TermClass, TermStatus
from search_ui.accounts import require_role
from search_ui.context import current_services, current_site, render_page
from search_ui.list_pages import load_page
from search_ui.query.display_text import safe_url
from search_ui.query.solr_client import documents
from search_ui.query.solr_query import SolrQuery, select_params
from search_ui.review.listing import TERMS_ON_PAGE
from search_ui.review.team_views import team_values
from search_ui.review.term_display import (
    MAX_TERM_CHARS,
    build_term_row,
    current_account_name,
    find_terms,
    find_terms_of_decisions,
    load_rising_terms,
    undo_label,
)
from search_ui.review.usage import CandidateUsage, load_usage
from search_ui.services.definitions import QuotedDefinition, quote_definitions
from solr_client import solr_fields

blueprint = Blueprint("term", __name__)

MAX_DECISIONS_SHOWN = 20


@blueprint.get("/term")
@require_role(Role.REVIEWER)
def show_term() -> BaseResponse:
    """Show the page of the term `text`."""
    text = request.args.get("text", "")[:MAX_TERM_CHARS]
    administration = current_site().administration
    term = find_terms([text]).get(text)
    if term is None:
        raise NotFound
    acts = administration.store.review_history.list_decisions(text, "", 0, MAX_DECISIONS_SHOWN)[1]
    concept = administration.lexicon_tools.find_concept(text)
    team = team_values([text])
    comments = team["comments_by_term"].get(text, ())
    return render_page(
        "review_term.html",
        **team,
        comments=comments,
        reviewer=team["reviewers_by_term"].get(text, ""),
        existing_terms=find_terms_of_decisions(acts),
        acts_and_comments=sorted([*acts, *comments], key=lambda item: -item.at),
        row=build_term_row(
            term,
            administration.review.related_terms([term])[0],
            load_rising_terms().get(term.text),
        ),
        usage=_find_usage(text),
        narrower=administration.store.review_queue.narrower_terms(text),
        definitions=_quoted_definitions(term),
        max_definition_chars=MAX_DEFINITION_CHARS,
        acts=acts,
        undoable=next((act for act in acts if is_undoable(act)), None),
        undo_label=undo_label,
        classes=list(TermClass),
        concept_rows=(*concept.terms, ConceptTerm("", "")) if concept else (),
        concept_statuses=list(ConceptTermStatus),
    )


def is_undoable(act: ReviewDecision) -> bool:
    """Return True if the button of a page of one term may undo an action: one of this account."""
    has_effect = act.kind.has_effect and act.kind is not ReviewDecisionKind.UNDO
    return act.by == current_account_name() and not act.undone and has_effect


def _find_usage(text: str) -> CandidateUsage | None:
    """Return where articles use a term; None if Solr fails."""
    try:
        return load_usage(current_services().search, text)
    except SolrError:
        return None


def _quoted_definitions(term: Term) -> list[QuotedDefinition]:
    """Return the definitions to choose from, with a choice that is no candidate any more. Without Solr: no articles."""
    table, choice = current_site().store.definitions, term.definition
    candidates = table.find_candidates([term.text])[term.text]
    if choice and choice.url_id and choice.sentence not in {candidate.sentence for candidate in candidates}:
        candidates = [table.find_public([term.text])[term.text][0], *candidates]
    try:
        return quote_definitions(current_services(), candidates)
    except SolrError:
        return [QuotedDefinition(candidate, safe_url(candidate.url), None) for candidate in candidates]


@blueprint.get("/definitions")
@require_role(Role.REVIEWER)
def show_definitions() -> BaseResponse:
    """Show the terms whose definition a reviewer has to choose, the most frequent first, from the row `position`."""
    store, query = current_site().store, TermQuery(TermStatus.ACCEPTED, needs_definition=True, order=Order.FREQUENCY)
    page = load_page(
        lambda offset, limit: store.review_queue.find_page(replace(query, offset=offset, limit=limit)),
        request.args.get("page", ""),
        TERMS_ON_PAGE,
    )
    candidates = store.definitions.find_candidates([term.text for term in page.items])
    return render_page(
        "review_definitions.html",
        page=page,
        position=request.args.get("position", 0, type=int),
        quotes_by_term={
            text: [QuotedDefinition(candidate, safe_url(candidate.url), None) for candidate in term_candidates]
            for text, term_candidates in candidates.items()
        },
    )


@blueprint.get("/usage")
@require_role(Role.REVIEWER)
def show_usage() -> BaseResponse:
    """Return in one sentence where articles use the term `text`, as HTML for the list of terms."""
    text = request.args.get("text", "")[:MAX_TERM_CHARS]
    return render_page("_term_usage.html", usage=_find_usage(text) if text else None)


@blueprint.get("/article")
@require_role(Role.REVIEWER)
def open_context_article() -> BaseResponse:
    """Redirect to the article with the sentence `context`; to the page of the term if there is none."""
    context, term = (request.args.get(name, "")[:400] for name in ("context", "term"))
    phrase_query = SolrQuery.phrases(f"{solr_fields.TITLE_CHARS} {solr_fields.BODY_CHARS}", "quoted", [context])
    newest_first = f"{solr_fields.PUBLISHED} desc,{solr_fields.ID} asc"
    params = select_params(phrase_query, rows=1, fl=(solr_fields.ID,), sort=newest_first)
    docs = documents(current_site().solr.select(params)) if context else ()
    if not docs:
        return redirect(url_for("review.term.show_term", text=term), 303)
    return redirect(url_for("public.article", doc_id=docs[0][solr_fields.ID], q=f"“{term}”"), 303)
