"""MCP on standard input and output: requests reach a running site."""

import asyncio
from threading import Thread

import pytest
from werkzeug.serving import make_server

from tests.site_fixture import FakeSearch, document, site_app


async def call_search(site_url: str) -> str:
    from pipeline.search_site.mcp_stdio import connect_to_site  # imports `mcp`, a second in each process

    async with connect_to_site(site_url, "") as site:
        assert [tool.name for tool in (await site.list_tools()).tools] == ["search", "fetch", "term", "explain"]
        result = await site.call_tool("search", {"query": "页岩气"})
        return result.content[0].text  # type: ignore[union-attr]


def test_a_tool_is_called_on_the_site() -> None:
    from mcp.shared.exceptions import MCPError

    server = make_server("127.0.0.1", 0, site_app(FakeSearch([document(1, "页岩气", "正文。")])), threaded=True)
    site_url = f"http://127.0.0.1:{server.port}/"
    thread = Thread(target=server.serve_forever)
    thread.start()
    try:
        assert '"id":"doc1"' in asyncio.run(call_search(site_url))
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
    with pytest.raises(MCPError, match="plumb up"):
        asyncio.run(call_search(site_url))
