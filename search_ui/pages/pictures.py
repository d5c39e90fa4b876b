"""Small pictures of articles, served by this site: no reader's browser is sent elsewhere for them.

GET /picture/<id>    WebP, or 404 where the article has no picture that could be had
"""

from flask import Blueprint, Response, abort

from docstore import fields
from search_ui.pages.article import is_id
from search_ui.query.clauses import Clause, select_params
from search_ui.query.results import Hit
from search_ui.site import current_site

pages = Blueprint("pictures", __name__)

KEPT_SECONDS = 24 * 3600  # by browsers


@pages.get("/picture/<doc_id>")
def picture(doc_id: str) -> Response:
    """The picture of one article. Its URL is the one in the index: a reader's text names no URL."""
    site = current_site()
    if not (site.settings.pictures and is_id(doc_id)):
        abort(404)
    asked = select_params(Clause.one_value(fields.ID, "doc", doc_id), rows=1, fl=(fields.URL, fields.PICTURE))
    docs = site.search.select(asked).get("response", {}).get("docs", ())
    urls = [(str(doc.get(fields.URL, "")), str(doc.get(fields.PICTURE, ""))) for doc in docs]
    content = site.actions.picture(*urls[0]) if urls and urls[0][1] else None
    if content is None:
        abort(404)
    response = Response(content, mimetype="image/webp")
    response.cache_control.private = True
    response.cache_control.max_age = KEPT_SECONDS
    return response


def has_picture(hit: Hit) -> bool:
    """Is a picture shown beside this hit?"""
    site = current_site()
    return site.settings.pictures and bool(hit.picture) and site.actions.may_have_picture(hit.url, hit.picture)
