"""The endpoint for agents."""

from flask import Blueprint, Response

blueprint = Blueprint("connect", __name__)


@blueprint.post("/mcp")
def mcp() -> Response:
    """Answer an MCP request (Streamable HTTP). Other methods have status 405: the site opens no streams."""
    from search_ui.connect.mcp_server import handle_request  # half a second, only for the first request

    return handle_request()
