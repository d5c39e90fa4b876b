"""Serves small pictures of articles, so that no reader's browser contacts another site for them.

GET /picture/<id>    WebP, or 404 if the article has no available picture
"""

from flask import Blueprint, Response, abort

from search_ui.context import abort_missing, current_services
from search_ui.query.results import Hit
from search_ui.query.solr_client import documents
from search_ui.query.solr_query import SolrQuery, select_params
from search_ui.services.articles import is_doc_id
from solr_client import solr_fields

blueprint = Blueprint("pictures", __name__)

CACHE_SECONDS = 24 * 3600  # in browsers


@blueprint.get("/picture/<doc_id>")
def thumbnail(doc_id: str) -> Response:
    """Return the picture of one article. Its URL comes from the index, never from the request."""
    site = current_services()
    if not (site.settings.pictures and is_doc_id(doc_id)):
        abort(404)
    params = select_params(
        SolrQuery.term(solr_fields.ID, "doc", doc_id), rows=1, fl=(solr_fields.URL, solr_fields.PICTURE)
    )
    docs = documents(site.solr.select(params))
    urls = [(str(doc.get(solr_fields.URL, "")), str(doc.get(solr_fields.PICTURE, ""))) for doc in docs]
    image = site.backend.thumbnail(*urls[0]) if urls and urls[0][1] else None
    if image is None:
        abort_missing(doc_id)
    response = Response(image, mimetype="image/webp")
    response.cache_control.private = True
    response.cache_control.max_age = CACHE_SECONDS
    return response


def has_thumbnail(hit: Hit) -> bool:
    """Return True if a picture is shown beside this hit."""
    site = current_services()
    return site.settings.pictures and bool(hit.picture) and site.backend.may_have_thumbnail(hit.url, hit.picture)
