"""MCP on standard input and output, for clients that start a command. Each request goes to a running site by HTTP.

The site answers without sessions, so it may be started, stopped and updated while the client runs.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib.metadata import version
from typing import Any

import httpx2
from mcp.client.client import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel.server import Server
from mcp.server.stdio import stdio_server
from mcp.shared.exceptions import MCPError
from mcp.types import (
    INTERNAL_ERROR,
    CallToolRequestParams,
    CallToolResult,
    ListToolsResult,
    PaginatedRequestParams,
)

TIMEOUT_SECONDS = 30.0


def serve_stdio(site_url: str, token: str) -> None:
    """Serve until standard input ends. `token` is an API token of the site, or ""."""
    asyncio.run(_serve(site_url, token))


async def _serve(site_url: str, token: str) -> None:
    async def list_tools(context: ServerRequestContext[Any], params: PaginatedRequestParams | None) -> ListToolsResult:
        del context, params
        async with connect_to_site(site_url, token) as site:
            return await site.list_tools()

    async def call_tool(context: ServerRequestContext[Any], params: CallToolRequestParams) -> CallToolResult:
        del context
        async with connect_to_site(site_url, token) as site:
            return await site.call_tool(params.name, params.arguments)

    server = Server("plumbline", version=version("plumbline-search"), on_list_tools=list_tools, on_call_tool=call_tool)
    async with stdio_server() as (read_stream, write_stream):
        await server.run(read_stream, write_stream, server.create_initialization_options())


@asynccontextmanager
async def connect_to_site(site_url: str, token: str) -> AsyncIterator[Client]:
    """Connect to the MCP endpoint of a site. Raises MCPError if the site does not answer."""
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    try:
        async with (
            httpx2.AsyncClient(headers=headers, timeout=TIMEOUT_SECONDS) as http_client,
            Client(streamable_http_client(f"{site_url.rstrip('/')}/mcp", http_client=http_client)) as client,
        ):
            yield client
    except (httpx2.HTTPError, ExceptionGroup) as error:
        message = f"no answer from {site_url}: check the URL, or start the site with `plumb up`"
        raise MCPError(INTERNAL_ERROR, message) from error
