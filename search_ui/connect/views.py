"""The endpoints for agents and for Dify, and the page that says how to connect programs."""

from flask import Blueprint, Response
from werkzeug.wrappers import Response as BaseResponse

from search_ui.accounts import add_no_store_headers, require_role
from search_ui.api_tokens import ApiScope, accept_api_token
from search_ui.connect.retrieval import KNOWLEDGE_ID, retrieve
from search_ui.context import current_services, external_url, render_page
from search_ui.services.home import load_home_content

blueprint = Blueprint("connect", __name__)


@blueprint.post("/mcp", strict_slashes=False)
@accept_api_token(ApiScope.SEARCH)
def mcp() -> BaseResponse:
    """Answer an MCP request (Streamable HTTP). Other methods have status 405: the site opens no streams."""
    from search_ui.connect.mcp_server import handle_request  # half a second, only for the first request

    return handle_request()


@blueprint.post("/retrieval", strict_slashes=False)
def retrieval() -> Response:
    """Return passages for a query of Dify, see `search_ui.connect.retrieval`."""
    return retrieve()


@blueprint.get("/admin/connect")
@require_role()
def connect_page() -> BaseResponse:
    """Show how to connect programs, with the URL of this site and a query that finds something."""
    site_url = external_url("public.home").rstrip("/")
    query = next(iter(load_home_content(current_services()).searches), current_services().settings.title)
    page = render_page("admin_connect.html", site_url=site_url, knowledge_id=KNOWLEDGE_ID, example_query=query)
    return add_no_store_headers(page)
