"""One term: every context with its article, what is near it, its history, and all that can be said of it."""

from flask import Blueprint, redirect, request, url_for
from werkzeug.exceptions import NotFound
from werkzeug.wrappers import Response as BaseResponse

from docstore import fields
from docstore.errors import SolrError
from docstore.model import TermClass
from docstore.roles import Role
from search_ui.accounts import requires
from search_ui.operator.admin import moment
from search_ui.query.clauses import Clause, Params, select_params
from search_ui.review.parts import LONGEST_TERM, Kwic, kwic, row_of
from search_ui.site import current_site, page

pages = Blueprint("term", __name__)

ARTICLES = 12  # that are looked at for contexts
PLACES = 2  # in each of them
ACTS = 20


def holding_params(text: str, rows: int) -> Params:
    """What finds the articles that hold `text` as a run of characters, the newest first."""
    held = Clause.phrases(f"{fields.TITLE_CHARS} {fields.BODY_CHARS}", "quoted", [text])
    listed = (fields.ID, fields.TITLE, fields.BODY)
    return select_params(held, rows=rows, fl=listed, sort=f"{fields.PUBLISHED} desc,{fields.ID} asc")


def contexts_in_articles(text: str) -> list[Kwic] | None:
    """The word in its articles; None where Solr does not answer."""
    try:
        found = current_site().search.select(holding_params(text, ARTICLES)).get("response", {})
    except SolrError:
        return None
    places = []
    for doc in found.get("docs", ()):
        doc_id, title = str(doc[fields.ID]), str(doc.get(fields.TITLE, ""))
        places += kwic(f"{title}\n{doc.get(fields.BODY, '')}", text, doc_id, title, PLACES)
    return places


@pages.get("/term")
@requires(Role.REVIEWER)
def show() -> BaseResponse:
    """The term `text` with all there is to know of it."""
    text = request.args.get("text", "")[:LONGEST_TERM]
    desk = current_site().actions.review
    term = desk.named([text]).get(text)
    if term is None:
        raise NotFound
    return page(
        "review_term.html",
        row=row_of(term, desk.surroundings([term])[0]),
        places=contexts_in_articles(text),
        narrower=desk.narrower(text),
        acts=desk.history(text, "", 0, ACTS)[1],
        classes=list(TermClass),
        moment=moment,
    )


@pages.get("/article")
@requires(Role.REVIEWER)
def article() -> BaseResponse:
    """To the article that holds the sentence `context`, which shows `term`; to the term's page if none does."""
    context, term = (request.args.get(name, "")[:400] for name in ("context", "term"))
    answer = current_site().search.select(holding_params(context, 1)) if context else {}
    docs = answer.get("response", {}).get("docs", ())
    if not docs:
        return redirect(url_for("review.term.show", text=term), 303)
    return redirect(url_for("public.article", doc_id=docs[0][fields.ID], q=f"“{term}”"), 303)
