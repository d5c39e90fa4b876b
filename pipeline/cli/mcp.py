"""The command `mcp`."""

import click

from pipeline.cli.config_argument import VerticalCommand
from pipeline.cli.session import load_call_settings_or_defaults
from search_ui.settings import format_address


@click.command(cls=VerticalCommand)
@click.pass_context
@click.option("--url", "site_url", help="URL of the search site; default: the site of CONFIG.")
@click.option("--token", envvar="PLUMB_API_TOKEN", default="", help="API token; default: the variable PLUMB_API_TOKEN.")
def mcp(context: click.Context, site_url: str | None, token: str) -> None:
    """Answer an agent (MCP) on standard input and output, from a running search site.

    For clients that start a command. Clients that take a URL use the path /mcp of the site.
    """
    settings = load_call_settings_or_defaults(context).search

    from pipeline.search_site.mcp_stdio import serve_stdio

    serve_stdio(site_url or settings.base_url or f"http://{format_address(settings.host, settings.port)}/", token)
