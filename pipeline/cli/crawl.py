"""The commands `plumb crawl` (with a live view), `plumb fetch`, `plumb sites`, `plumb frontier` and `plumb warc`."""

import json
import time
from contextlib import closing
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from rich.table import Table
from rich.text import Text

from crawler.host_suggestions import load_host_suggestions
from crawler.site import canonical_host
from crawler.urls.canonical import UrlRules, canonicalize_url, host_of, rejection_reason, url_origin
from domain.administration import HostSuggestion
from domain.errors import PlumblineError, SettingsError
from domain.frontier import FrontierEntry, UrlKind
from domain.outcome import Reason
from pipeline import stages
from pipeline.cli.config_argument import VerticalCommand, VerticalGroup
from pipeline.cli.console import (
    json_option,
    nevertheless_option,
    own_network_option,
    print_line,
    print_lines,
    print_lines_or_json,
    print_table_or_json,
)
from pipeline.cli.session import (
    check_crawl_settings,
    load_call_settings,
    open_engine,
    print_reports,
    read_file,
    with_engine,
)
from pipeline.local_time import local_minute

if TYPE_CHECKING:
    from docstore.frontier.frontier_admin import SiteHealth, UrlStatus
    from pipeline.engine import Engine

_DUE_LABEL = "due"

# -- crawl


@click.command("crawl", cls=VerticalCommand)
@click.pass_context
@click.option("--max-pages", "crawl__max_pages", type=int, help="Stop after this many pages.")
@click.option("--minutes", "crawl__minutes", type=float, help="Stop after this many minutes.")
@click.option(
    "--processes", "crawl__processes", type=int, help="Number of crawler processes; hosts are divided among them."
)
@click.option("--strategy", "crawl__strategy", help="Order in which links are followed.")
@click.option("--topic", "crawl__topic", help="Crawl for this topic (see plumb topic init).")
def crawl_command(context: click.Context, /, **flags: Any) -> None:
    """Crawl new URLs and URLs that are due for a revisit."""
    settings = load_call_settings(context, **flags)
    check_crawl_settings(settings)
    with open_engine(settings) as engine:
        print_reports([stages.crawl(engine)])


# -- fetch


@click.command(cls=VerticalCommand)
@click.argument("url")
@json_option
@with_engine
def fetch(engine: "Engine", url: str, as_json: bool) -> None:
    """Fetch one page by the rules of the crawl and print every decision. Nothing is saved."""
    trace = trace_fetch(engine, url)
    lines = [f"{name:<9} {format_value(value)}" for name, value in trace.items()]
    print_lines_or_json(trace, lambda _: lines, as_json)


def trace_fetch(engine: "Engine", url: str) -> dict[str, Any]:
    """Run the decisions of the crawl on a URL: scope, traps, robots.txt, response and links.

    Returns decision name -> result as JSON values. A negative decision is the last entry, as `refused`.
    """
    from crawler.crawl_plan import build_crawl_plan
    from crawler.http.fetch import Fetcher
    from crawler.http.throttled_fetcher import ThrottledFetcher
    from crawler.robots.robots_cache import fetch_robots, parse_stored_robots
    from crawler.schedule.throttle import HostThrottle
    from crawler.traps.trap_detector import detect_shape_trap
    from crawler.workers.fetch_pool import Job, JobRunner

    settings = engine.settings.crawl
    plan = build_crawl_plan(settings)
    canonical_url = canonicalize_url(url)
    if isinstance(canonical_url, Reason):
        return {"url": url, "refused": canonical_url}
    trace: dict[str, Any] = {"url": canonical_url, "queue": plan.queue_of(canonical_url)}
    entry = engine.store.frontier.find_entries([canonical_url]).get(canonical_url)
    trace["known"] = {"depth": entry.depth, "kind": entry.kind, "attempts": entry.attempts} if entry else None
    trace["scope"] = rejection_reason(canonical_url, plan.url_rules) or "allowed"
    trace["trap"] = detect_shape_trap(canonical_url) or "none"
    trace["paused"] = settings.sites.for_url(canonical_url).paused
    if trace["scope"] != "allowed" or trace["trap"] != "none" or trace["paused"]:
        return trace | {"refused": "by the rules of the crawl"}
    with closing(Fetcher(settings, engine.ip_policy)) as fetcher:
        throttled_fetcher = ThrottledFetcher(fetcher, HostThrottle(settings))
        robots = fetch_robots(throttled_fetcher, url_origin(canonical_url), time.time)
        rules = parse_stored_robots(robots.robots_file, plan.product_token)
        refusal = robots.failure or rules.rejection_outcome(canonical_url)
        trace["robots"] = {
            "status": robots.robots_file.status,
            "crawl_delay": rules.crawl_delay,
            "sitemaps": rules.sitemaps,
        }
        if refusal is not None:
            return trace | {"refused": f"{refusal.reason} {refusal.detail}".strip()}
        time.sleep(max(settings.delay, rules.crawl_delay))
        new_entry = FrontierEntry(0, canonical_url, host_of(canonical_url), 0, 0, UrlKind.UNKNOWN, 0.0)
        with closing(JobRunner(fetcher, plan, time.time)) as reader:
            return trace | describe_response(reader.run(Job(new_entry)))


def describe_response(reader_result: Any) -> dict[str, Any]:
    """Return the trace entries of a response: outcome, redirect, page and links."""
    from crawler.workers.fetch_pool import PageResult

    if not isinstance(reader_result, PageResult):
        raise PlumblineError("internal error: the fetcher returned no page result")
    result, page = reader_result.fetch_result, reader_result.fetch_result.page
    trace: dict[str, Any] = {"outcome": f"{result.outcome.reason} {result.outcome.detail}".strip()}
    if result.redirect_url:
        trace["redirect"] = result.redirect_url
    if page is not None:
        trace["page"] = {"status": page.status, "content_type": page.content_type, "bytes": len(page.body)}
        trace["page"] |= {"etag": page.etag, "last_modified": page.last_modified, "sha256": page.digest}
        trace["links"] = {"followed": len(reader_result.links), **reader_result.rejected_counts}
        trace["feeds"] = list(reader_result.feeds)
        trace["noindex"] = reader_result.is_noindex
    return trace


def format_value(value: Any) -> str:
    """Format a JSON value as text; dictionaries as `name value, ...`."""
    if isinstance(value, dict):
        return ", ".join(f"{name} {format_value(item)}" for name, item in value.items())
    if isinstance(value, list | tuple):
        return " ".join(map(str, value)) or "none"
    return "none" if value in (None, "") else str(value)


# -- sites


@click.group(cls=VerticalGroup, invoke_without_command=True)
@json_option
@click.pass_context
def sites(context: click.Context, as_json: bool) -> None:
    """List sites with their known, due and saved URLs and failed visits.

    Out-of-scope hosts are never crawled. `proposed` lists hosts that saved pages link to; `add` adds one.
    """
    if context.invoked_subcommand is not None:
        if as_json:
            raise click.UsageError(f"put --json after {context.invoked_subcommand}")
        return
    with open_engine(load_call_settings(context)) as engine:
        site_rows = engine.store.frontier.admin.site_health(time.time())
    print_table_or_json(list(map(site_record, site_rows)), lambda: site_table(site_rows), as_json)


@sites.command("proposed")
@click.option("--limit", default=20, show_default=True, help="Maximum number of rows.")
@json_option
@click.pass_context
def sites_proposed(context: click.Context, limit: int, as_json: bool) -> None:
    """List out-of-scope hosts that saved pages often link to, from many sites and to many URLs."""
    settings = load_call_settings(context)
    rules, rows = UrlRules(settings.crawl.sites.scopes), load_host_suggestions(settings.data_dir)
    suggestions = [row for row in rows if not rules.covers(row.host, "/")][:limit]
    print_table_or_json(
        [suggestion_to_json(row) for row in suggestions], lambda: suggestion_table(suggestions), as_json
    )


def suggestion_to_json(suggestion: HostSuggestion) -> dict[str, Any]:
    """Convert a host suggestion to a JSON row."""
    return {
        "host": suggestion.host,
        "pages": suggestion.linking_pages,
        "addresses": suggestion.linked_urls,
        "sites": suggestion.linking_hosts,
        "example": suggestion.example_url,
        "anchor": suggestion.example_anchor,
    }


def suggestion_table(suggestions: list[HostSuggestion]) -> Table:
    """Build the table of suggested hosts."""
    table = Table("host")
    for name in ("URLs", "sites", "pages"):
        table.add_column(name, justify="right")
    table.add_column("example")
    for suggestion in suggestions:
        cells = (str(number) for number in (suggestion.linked_urls, suggestion.linking_hosts, suggestion.linking_pages))
        table.add_row(suggestion.host, *cells, Text(f"{suggestion.example_anchor} {suggestion.example_url}".strip()))
    return table


@sites.command("add")
@click.argument("hosts", nargs=-1, required=True)
@nevertheless_option
@own_network_option
@click.pass_context
def sites_add(context: click.Context, hosts: tuple[str, ...], nevertheless: bool, own_network: bool) -> None:
    """Check start URLs, or hosts with their home pages, and add them to the config file."""
    settings = load_call_settings(context)
    from pipeline.site_admin.site_import import import_sites
    from pipeline.site_admin.site_lists import SiteList
    from pipeline.site_tables import parse_start_url

    site_list = SiteList(tuple(map(parse_start_url, hosts)), ())
    print_lines(import_sites(settings, site_list, is_forced=nevertheless, is_own_network=own_network))


@sites.command("import")
@click.argument("file", type=click.Path(path_type=Path, exists=True, dir_okay=False))
@click.option(
    "--format",
    "file_format",
    type=click.Choice(["list", "opml"]),
    help="Format of the file: one URL per line, or OPML [detected].",
)
@click.option(
    "--preview", is_flag=True, help="Only show what would be added and what cannot be imported; no site is checked."
)
@nevertheless_option
@own_network_option
@click.pass_context
def sites_import(
    context: click.Context, file: Path, file_format: str | None, preview: bool, nevertheless: bool, own_network: bool
) -> None:
    """Check the sites of a file and add them to the config file.

    The file is a list with one URL per line, or the OPML of a feed reader. Every part of the file that cannot be
    imported is listed.
    """
    settings = load_call_settings(context)
    from pipeline.site_admin.site_import import import_sites
    from pipeline.site_admin.site_lists import MAX_FILE_BYTES, PARSERS, detect_format

    if file.stat().st_size > MAX_FILE_BYTES:
        raise PlumblineError(f"{file} is larger than {MAX_FILE_BYTES >> 20} MB: split it")
    content = read_file(file)
    try:
        site_list = PARSERS[file_format or detect_format(file.name, content)](content)
    except SettingsError as error:
        raise PlumblineError(f"cannot import {file}: {error}") from error
    print_lines(import_sites(settings, site_list, preview, nevertheless, own_network))


@sites.command("login-secret")
@click.argument("host")
@click.option("--remove", "is_removed", is_flag=True, help="Remove the secret.")
@click.pass_context
def sites_login_secret(context: click.Context, host: str, is_removed: bool) -> None:
    """Set the password or token of the login of HOST, from a prompt or the first line of standard input.

    Its site may sign in again after a failed login.
    """
    from crawler.http.login_secrets import save_secret
    from crawler.http.login_state import clear_login_failure
    from pipeline.cli.session import read_secret

    settings = load_call_settings(context)
    name = canonical_host(host)
    if name not in settings.crawl.sites.by_host:
        raise SettingsError(f"{host} is not in [[sites]]: `plumb sites` lists all")
    save_secret(settings.folder, name, "" if is_removed else read_secret("Password or token"))
    clear_login_failure(settings.data_dir, name)
    print_line(f"{'removed' if is_removed else 'saved'} the login secret of {name}")


@sites.command("remove")
@click.argument("host")
@click.pass_context
def sites_remove(context: click.Context, host: str) -> None:
    """Remove a host from the config file. Its fetched pages are kept."""
    source = load_call_settings(context).require_source()
    from pipeline.site_tables import remove_site

    name = canonical_host(host)
    if name not in source.load().crawl.sites.by_host:
        raise PlumblineError(f"{host[:200]} is not a site of {source.file.name}")
    source.edit(lambda stored: remove_site(stored, name), site_keys=("urls", "scope"))
    print_line(f"{host} is no longer crawled")


def site_table(site_rows: "list[SiteHealth]") -> Table:
    """Build the table of sites."""
    table = Table()
    for name in ("host", "known", "new", "due", "saved", "failed", "last crawled"):
        table.add_column(name, justify="left" if name == "host" else "right")
    for site in site_rows:
        counts = (site.url_count, site.new_count, site.due_count, site.archived_count, site.failed_count)
        table.add_row(site.host, *map(str, counts), format_minute(site.last_visit))
    return table


def site_record(site: "SiteHealth") -> dict[str, str | int | float | None]:
    """Return the record of a site for `plumb sites --json`."""
    return {
        "host": site.host,
        "known": site.url_count,
        "new": site.new_count,
        "due": site.due_count,
        "kept": site.archived_count,
        "bad": site.failed_count,
        "last_visit": site.last_visit,
    }


def format_minute(timestamp: float | None) -> str:
    """Format epoch seconds as local time to the minute; "never" for None or 0."""
    return local_minute(timestamp) if timestamp else "never"


# -- frontier


@click.group(cls=VerticalGroup)
def frontier() -> None:
    """List known URLs and change when they are crawled.

    PART is a URL, or a URL prefix ending in *, for example http://news.example.com/oil/*
    """


@frontier.command("show")
@click.argument("url_pattern", metavar="[PART]", default="*")
@click.option("--limit", default=50, show_default=True, help="Maximum number of rows.")
@json_option
@with_engine
def show_urls(engine: "Engine", url_pattern: str, limit: int, as_json: bool) -> None:
    """List URLs with their due time and the outcome of their last visit."""
    rows = list(engine.store.frontier.admin.iter_urls(url_pattern, limit))
    print_lines_or_json([asdict(row) for row in rows], lambda _: map(format_frontier_row, rows), as_json)


def format_frontier_row(row: "UrlStatus") -> str:
    """Format a URL as one line: due time or exclusion, kind, depth, last outcome, URL."""
    due = (
        row.exclusion if row.due_at is None else _DUE_LABEL if row.due_at <= time.time() else format_minute(row.due_at)
    )
    return f"{due:<16} {row.kind:<8} {row.depth} {row.reason or 'not crawled yet':<20} {row.url}"


@frontier.command("add")
@click.argument("urls", nargs=-1, required=True)
@with_engine
def add_urls(engine: "Engine", urls: tuple[str, ...]) -> None:
    """Add URLs to the frontier; the next crawl fetches them first."""
    from pipeline.crawl_stage.manual_urls import add_manual_urls

    added_count, url_count = add_manual_urls(engine, urls)
    print_line(f"{added_count} added, {url_count - added_count} already known")


@frontier.command("block")
@click.argument("url_pattern", metavar="PART")
@with_engine
def block_urls(engine: "Engine", url_pattern: str) -> None:
    """Stop crawling the known URLs of PART.

    (New URLs are governed by the scope of their site.)
    """
    print_line(f"{engine.store.frontier.admin.block_urls(url_pattern)} blocked")


@frontier.command("requeue")
@click.argument("url_pattern", metavar="PART")
@with_engine
def requeue_urls(engine: "Engine", url_pattern: str) -> None:
    """Make the URLs of PART due now, including blocked ones."""
    print_line(f"{engine.store.frontier.admin.requeue_urls(url_pattern)} due now")


@frontier.command("export")
@click.argument("url_pattern", metavar="[PART]", default="*")
@with_engine
def export_urls(engine: "Engine", url_pattern: str) -> None:
    """Print all fields of the URLs, one JSON object per line."""
    for row in engine.store.frontier.admin.iter_urls(url_pattern):
        click.echo(json.dumps(asdict(row), ensure_ascii=False))


# -- warc


@click.group(cls=VerticalGroup)
def warc() -> None:
    """Export pages from the store.

    `plumb import` imports them.
    """


@warc.command("export")
@click.argument("file", type=click.Path(path_type=Path))
@click.argument("url_pattern", metavar="[PART]", default="*")
@with_engine
def warc_export(engine: "Engine", file: Path, url_pattern: str) -> None:
    """Write the saved pages of PART (see `plumb frontier`) to a new WARC file, FILE.warc.gz."""
    print_line(f"{engine.store.frontier.export_warc(url_pattern, file)} pages in {file}")
