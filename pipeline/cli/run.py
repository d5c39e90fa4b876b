"""The commands that run stages, and those that serve: `serve`, `schedule`, `up` and `demo`."""

import os
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from pipeline import stages
from pipeline.cli.config_argument import DEFAULT_CONFIG_FILE, VerticalCommand
from pipeline.cli.console import print_line, print_lines, stderr_console, stdout_console
from pipeline.cli.session import (
    check_crawl_settings,
    create_progress,
    has_config_file,
    load_call_settings,
    load_call_settings_or_defaults,
    open_engine,
    print_reports,
    with_engine,
)
from pipeline.index_stage import force_merge_index, wait_for_solr
from pipeline.logs import configure_logging
from pipeline.progress import TerminalProgress
from pipeline.warc_import.sources import COMMON_CRAWL_URL

if TYPE_CHECKING:
    import socket

    from pipeline.engine import Engine
    from pipeline.search_site.serve import SearchSite

PORT_RANGE = click.IntRange(1, 65535)


@click.command(cls=VerticalCommand)
@click.pass_context
@click.option("--until", type=click.Choice(list(stages.STAGES)), default="index", help="Last stage to run.")
@click.option(
    "--first-pages",
    type=click.IntRange(0),
    default=0,
    help="In a first run, make this many pages per seed searchable before the complete crawl.",
)
def run(context: click.Context, until: str, first_pages: int) -> None:
    """Run all stages once, in order: crawl, extract, ocr, embed, lexicon, index."""
    settings = load_call_settings(context)
    check_crawl_settings(settings)
    with open_engine(settings) as engine:
        from pipeline.runs.notifications import send_notifications

        try:
            stages.run(engine, until, on_report=lambda report: print_reports([report]), first_pages=first_pages)
        except Exception:
            send_notifications(engine)
            raise
        send_notifications(engine)


@click.command("ocr", cls=VerticalCommand)
@click.option("--minutes", type=click.FloatRange(min=0), help="Maximum minutes; the next call continues.")
@with_engine
def ocr_command(engine: "Engine", minutes: float | None) -> None:
    """Read the text of scanned and garbled PDF pages from their pictures; `plumb index` makes it searchable.

    Resumes after an interruption. Needs the extra ocr; without it, lists the documents with such pages.
    """
    report = stages.ocr(engine, None if minutes is None else 60 * minutes)
    print_reports([report])
    if report.outcome_counts:
        print_reports([stages.extract(engine)])


@click.command("embed", cls=VerticalCommand)
@click.option("--processes", "embed__processes", type=int, help="Number of processes; articles are divided among them.")
@with_engine
def embed_command(engine: "Engine") -> None:
    """Compute embeddings for semantic search; `plumb index` writes them to the index.

    Resumes after an interruption. Downloads the models if they are missing.
    """
    print_reports([stages.embed(engine)])


@click.command("index", cls=VerticalCommand)
@with_engine
@click.option("--full", is_flag=True, help="Reindex all articles.")
@click.option(
    "--adopt",
    is_flag=True,
    help="Take over an index that was filled from another store; documents missing from this store are deleted.",
)
def index(engine: "Engine", full: bool, adopt: bool) -> None:
    """Update the Solr index from the store.

    Stops if the index was filled from another store, or if the store is empty and the index is not.
    """
    solr_report = wait_for_solr(engine)
    if full:
        engine.store.change_log.enqueue_all()
    print_reports([solr_report, stages.index(engine, adopt=adopt)])
    force_merge_index(engine)


@click.command(cls=VerticalCommand)
@click.pass_context
@click.option("--host", "search__host", help="IP address or host name to listen on.")
@click.option("--port", "search__port", type=int, help="TCP port to listen on.")
def serve(context: click.Context, /, **flags: Any) -> None:
    """Serve the search site and its administration pages until Ctrl-C.

    In a folder without a config file, first serve the setup pages on this machine.
    """
    listening_socket = None if has_config_file(context) else set_up_folder(context, **flags)
    settings = load_call_settings(context, **flags)

    from pipeline.search_site.serve import SearchSite

    with open_engine(settings) as engine, SearchSite(engine, listening_socket) as site:
        serve_site(engine, site)


@click.command(cls=VerticalCommand)
@click.pass_context
@click.option("--host", "search__host", help="IP address or host name to listen on.")
@click.option("--port", "search__port", type=int, help="TCP port to listen on.")
def up(context: click.Context, /, **flags: Any) -> None:
    """Serve the search site and run the stages daily, until Ctrl-C; the first run starts at once.

    The same as `plumb serve` and `plumb schedule --first-run`. In a folder without a config file, first serve the setup
    pages on this machine.
    """
    listening_socket = None if has_config_file(context) else set_up_folder(context, starts_run=False, **flags)
    settings = load_call_settings(context, **flags)
    check_crawl_settings(settings)

    from pipeline.runs.plumb_process import SchedulerProcess
    from pipeline.search_site.serve import SearchSite

    scheduler = SchedulerProcess(settings.require_source())
    with open_engine(settings) as engine, SearchSite(engine, listening_socket) as site, scheduler:
        serve_site(engine, site, scheduler.require_running)


def serve_site(engine: "Engine", site: "SearchSite", check: Callable[[], object] = lambda: None) -> None:
    """Print the URLs of an open search site and how to sign in, then serve until Ctrl-C; see `SearchSite.wait`."""
    from pipeline.runs.systemd_notify import WatchdogFeeder, notify_systemd

    site.wait_until_searchable()
    print_line(f"search page: {site.url}\nadministration: {site.url}admin/")
    if engine.store.accounts.has_no_active_account():
        print_line("no accounts yet: create one with `plumb account add NAME --role operator`")
    notify_systemd("READY=1", f"STATUS=serving {site.url}")
    with WatchdogFeeder(site.is_healthy):
        site.wait(check)


def set_up_folder(context: click.Context, starts_run: bool = True, **flags: Any) -> "socket.socket":
    """Serve the setup pages in the working folder; returns the socket for the search site, see `run_setup`."""
    from pipeline.site_admin.setup_server import run_setup

    config_file = Path(DEFAULT_CONFIG_FILE).resolve()
    settings = replace(load_call_settings_or_defaults(context, **flags), folder=config_file.parent)
    return run_setup(settings, config_file, print_line, starts_run)


@click.command(cls=VerticalCommand)
@click.pass_context
@click.option("--first-run", is_flag=True, help="Start a run at once if no run has ended successfully yet.")
@click.option("--parent", type=int, hidden=True, help="Process id of `plumb up`: stop when it ends.")
def schedule(context: click.Context, first_run: bool, parent: int | None) -> None:
    """Run the stages at their scheduled times until Ctrl-C. Each run uses the settings file as it is then."""
    settings = load_call_settings(context)
    report_progress = create_progress(settings).note

    from pipeline.runs.plumb_process import stop_with_parent
    from pipeline.runs.scheduler import run_scheduler
    from pipeline.runs.timetable import FIRST_PAGES_PER_SEED

    if parent is not None:
        stop_with_parent(parent)
    current_settings = partial(settings.require_source().effective, report_progress)
    first_pages = FIRST_PAGES_PER_SEED if first_run else 0
    run_scheduler(current_settings, lambda: open_engine(current_settings()), report_progress, first_pages=first_pages)


@click.command("refresh", cls=VerticalCommand)
@click.argument("url")
@with_engine
def refresh(engine: "Engine", url: str) -> None:
    """Fetch one page now, run it through all stages, and print the time of each."""
    from pipeline.refresh import format_refresh_times, refresh_page

    print_lines(format_refresh_times(refresh_page(engine, url)))


@click.command("import", cls=VerticalCommand)
@click.argument("locations", metavar="SOURCES...", nargs=-1, required=True)
@click.option(
    "--url",
    "urls",
    multiple=True,
    metavar="PATTERN",
    help="Only URLs that match this pattern, for example 'https://a.example/news/*'.",
)
@click.option("--domain", "domains", multiple=True, help="Only URLs of this domain and its subdomains.")
@click.option("--base", default=COMMON_CRAWL_URL, show_default=True, help="Base URL of the paths in a list.")
@click.option("--processes", default=0, type=click.IntRange(0), help="Files read in parallel; 0: one per CPU core.")
@with_engine
def import_pages(
    engine: "Engine",
    locations: tuple[str, ...],
    urls: tuple[str, ...],
    domains: tuple[str, ...],
    base: str,
    processes: int,
) -> None:
    """Import pages from WARC files, folders, buckets, or lists of them."""
    from pipeline.warc_import.importer import import_warc_files
    from pipeline.warc_import.sources import ImportFilter, resolve_sources

    sources, url_filter = resolve_sources(locations, base), ImportFilter(urls, domains)
    print_reports([import_warc_files(engine, sources, url_filter, processes or os.cpu_count() or 1)])


@click.command()
@click.option(
    "--folder", default="demo-data", show_default=True, type=click.Path(path_type=Path), help="Data folder of the demo."
)
@click.option("--port", default=8080, type=PORT_RANGE, show_default=True, help="Port of the search page.")
@click.option("--site-port", default=8765, type=PORT_RANGE, show_default=True, help="Port of the three demo sites.")
@click.option("--check", "is_check", is_flag=True, help="Check the search page and the counts, then exit.")
@click.option(
    "--change", "is_change", is_flag=True, help="Change one page on disk and measure the time until a search finds it."
)
def demo(folder: Path, port: int, site_port: int, is_check: bool, is_change: bool) -> None:
    """Crawl, extract, mine, index and search a bundled vertical of three oil-and-gas news sites."""
    if is_check and is_change:
        raise click.UsageError("use either --check or --change, not both")
    from pipeline.demo.run import DemoOptions, run_demo

    run_demo(
        DemoOptions(folder, port, site_port, is_check, is_change),
        TerminalProgress(stderr_console),
        stdout_console,
        configure_logging,
    )
