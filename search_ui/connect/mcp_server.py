"""The MCP server of the site: Streamable HTTP without sessions, one JSON response for each request.

The package `mcp` implements the protocol as an ASGI application. Each request of the WSGI site runs it once, in its own
event loop and in the thread of the request, so the tools use the Flask context as any view does. Importing this module
takes half a second; only the first MCP request imports it.
"""

import asyncio
import logging
from importlib.metadata import version
from typing import Any
from urllib.parse import urlsplit

import httpx2
from flask import Response, g, request
from jsonschema import Draft202012Validator
from jsonschema.exceptions import best_match
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel.server import Server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.server.transport_security import TransportSecuritySettings
from mcp.shared.exceptions import MCPError
from mcp.types import (
    INVALID_PARAMS,
    CallToolRequestParams,
    CallToolResult,
    ListToolsResult,
    PaginatedRequestParams,
    TextContent,
    Tool,
    ToolAnnotations,
)

from domain.errors import PlumblineError, SolrUnavailableError
from search_ui.connect.token_budget import shorten, to_json
from search_ui.connect.tools import MAX_TERMS, TOOLS, ToolError
from search_ui.context import current_site
from search_ui.i18n import translate, translate_code
from search_ui.query.search_request import BadSearchRequestError

PROGRAM_VERSION = version("plumbline-search")
MAX_REQUEST_BYTES = 64 * 1024
MAX_ERROR_TOKENS = 20 * MAX_TERMS + 50
_LOOPBACK_ORIGINS = tuple(
    f"{scheme}://{host}{port}"
    for scheme in ("http", "https")
    for host in ("localhost", "127.0.0.1", "[::1]")
    for port in ("", ":*")
)

_log = logging.getLogger(__name__)


def _text(description: str) -> dict[str, str]:
    return {"type": "string", "description": description}


_ID = _text("id or URL of an article")
_QUERY = _text('words; also "phrase", -word, site:host, title:word')
_FILTERS = {
    "site": _text("host"),
    "type": _text("news, report, paper …"),
    "language": _text("ISO 639, e.g. zh"),
    "term": _text("domain term in the article"),
    **{f"-{name}": _text(f"not this {name}") for name in ("site", "type", "language", "term")},
    "from": _text("first date: 2016, 2016-05 or 2016-05-09"),
    "to": _text("last date"),
    "sort": {"type": "string", "enum": ["relevance", "date", "oldest"]},
}


def _define_tool(name: str, description: str, properties: dict[str, Any], required: list[str]) -> Tool:
    schema = {"type": "object", "properties": properties, "required": required, "additionalProperties": False}
    hints = ToolAnnotations(read_only_hint=True, open_world_hint=False)
    return Tool(name=name, description=description, input_schema=schema, annotations=hints)


TOOL_DEFINITIONS = (
    _define_tool(
        "search",
        "Search the articles of this site. Returns id, title, url, site, date, saved_copy and snippet of each result; "
        "related results lack some words. Cite title, site, date and url.",
        {"query": _QUERY, **_FILTERS, "page": {"type": "integer", "minimum": 1}},
        ["query"],
    ),
    _define_tool(
        "fetch",
        "Read the text of an article, in parts.",
        {"id": _ID, "part": {"type": "integer", "minimum": 1}},
        ["id"],
    ),
    _define_tool(
        "term",
        "Look up a term of the domain: definitions with their sources, synonyms, broader, narrower and related terms.",
        {"name": _text("term or synonym")},
        ["name"],
    ),
    _define_tool(
        "explain",
        "Explain how a query is understood; with id, which words and fields give the article its rank.",
        {"query": _QUERY, "id": _ID},
        ["query"],
    ),
)
_VALIDATORS = {tool.name: Draft202012Validator(tool.input_schema) for tool in TOOL_DEFINITIONS}


async def _list_tools(context: ServerRequestContext[Any], params: PaginatedRequestParams | None) -> ListToolsResult:
    del context, params
    return ListToolsResult(tools=list(TOOL_DEFINITIONS))


async def _call_tool(context: ServerRequestContext[Any], params: CallToolRequestParams) -> CallToolResult:
    """Call a tool. An error is a result, so that the agent reads it and corrects its call."""
    del context
    if params.name not in TOOLS:
        raise MCPError(INVALID_PARAMS, f"unknown tool; the tools are {', '.join(TOOLS)}")
    # JSON has one kind of number, and null for an argument that is not given.
    arguments = {
        name: int(value) if isinstance(value, float) and value.is_integer() else value
        for name, value in (params.arguments or {}).items()
        if value is not None
    }
    if error := best_match(_VALIDATORS[params.name].iter_errors(arguments)):
        return _to_error(f"{error.json_path}: {error.message}")
    try:
        return CallToolResult(content=[TextContent(text=to_json(TOOLS[params.name](arguments)))])
    except ToolError as error:
        return _to_error(str(error))
    except BadSearchRequestError as error:
        return _to_error(translate_code("search_error", str(error)))
    except SolrUnavailableError as error:
        _log.warning("%s", error)
        return _to_error(translate("Search is temporarily unavailable"))
    except PlumblineError:
        _log.exception("the tool %s failed", params.name)
        return _to_error(translate("The action failed. Nothing was lost; try again."))


def _to_error(message: str) -> CallToolResult:
    return CallToolResult(content=[TextContent(text=shorten(message, MAX_ERROR_TOKENS))], is_error=True)


def handle_request() -> Response:
    """Answer the current request, a POST with one JSON-RPC message. Returns status 413 if it is too large."""
    g.language = "en"  # of errors, as the descriptions of the tools
    request.max_content_length = MAX_REQUEST_BYTES
    return asyncio.run(_run_exchange(request.get_data()))


async def _run_exchange(body: bytes) -> Response:
    settings = current_site().settings
    server = Server(
        "plumbline",
        title=settings.title,
        version=PROGRAM_VERSION,
        instructions=f"Search engine of {settings.title}. Cite the sources of what you report.",
        on_list_tools=_list_tools,
        on_call_tool=_call_tool,
    )
    manager = StreamableHTTPSessionManager(
        server, json_response=True, stateless=True, security_settings=_security_settings(settings.base_url)
    )
    async with manager.run():
        message = httpx2.Request("POST", "http://site/mcp", headers=list(request.headers), content=body)
        reply = await httpx2.ASGITransport(manager.asgi_app).handle_async_request(message)
        return Response(await reply.aread(), reply.status_code, content_type=reply.headers.get("Content-Type"))


def _security_settings(base_url: str) -> TransportSecuritySettings:
    """Allow pages of this site and of this machine only: a browser sends the origin of the page, programs send none.

    Behind DNS rebinding a page of another host has the Host header of its own name, so that header proves nothing.
    """
    parts = urlsplit(base_url)
    own_origins = [f"{parts.scheme}://{parts.netloc}"] if base_url else []
    return TransportSecuritySettings(allowed_hosts=[request.host], allowed_origins=[*own_origins, *_LOOPBACK_ORIGINS])
