"""The verbs that run stages: all of them, one after another, on a timetable, for one page, or on a bundled vertical."""

import os
from functools import partial
from pathlib import Path
from typing import Any

import click

from pipeline import stages
from pipeline.cli.console import err, out, say
from pipeline.cli.grammar import Verb
from pipeline.cli.shared import opened, progress_of, say_reports, settings_of
from pipeline.import_sources import COMMON_CRAWL
from pipeline.logs import log_to
from pipeline.progress import Terminal

PORT = click.IntRange(1, 65535)


@click.command(cls=Verb)
@click.pass_context
@click.option("--until", type=click.Choice(list(stages.FLOW)), default="index", help="Stop after this stage.")
def run(context: click.Context, until: str) -> None:
    """Run the stages once, in order: crawl, extract, embed, mine the lexicon, index."""
    with opened(settings_of(context)) as engine:
        from pipeline.alerts.service import alert

        try:
            reports = stages.run(engine, until)
        except Exception:
            alert(engine)
            raise
        alert(engine)
        say_reports(reports)


@click.command("embed", cls=Verb)
@click.option("--processes", "embed__processes", type=int, help="Number of processes; articles are divided among them.")
@click.pass_context
def embed_command(context: click.Context, /, **flags: Any) -> None:
    """Compute embeddings for semantic search; `plumb index` writes them to the index.

    Resumes after an interruption. Downloads the models if they are missing.
    """
    with opened(settings_of(context, **flags)) as engine:
        say_reports([stages.embed(engine)])


@click.command("index", cls=Verb)
@click.pass_context
@click.option("--full", is_flag=True, help="Reindex all articles.")
@click.option(
    "--adopt",
    is_flag=True,
    help="Take over an index that was filled from another store; documents missing from this store are deleted.",
)
def index_command(context: click.Context, full: bool, adopt: bool) -> None:
    """Update the Solr index from the store.

    Stops if the index was filled from another store, or if the store is empty and the index is not.
    """
    with opened(settings_of(context)) as engine:
        opening = stages.open_solr(engine)
        if full:
            engine.store.changes.enqueue_all()
        say_reports([opening, stages.index(engine, adopt=adopt)])
        stages.tidy(engine)


@click.command(cls=Verb)
@click.pass_context
@click.option("--host", "search__host", help="Address to listen on.")
@click.option("--port", "search__port", type=int, help="Port to listen on.")
def serve(context: click.Context, /, **flags: Any) -> None:
    """Serve the search and review pages until Ctrl-C."""
    settings = settings_of(context, **flags)
    from pipeline.runs.service_manager import Heartbeat, tell_service_manager
    from pipeline.search_site.serve import SearchSite

    with opened(settings) as engine, SearchSite(engine) as site:
        out.print(f"search page: {site.url}\nadministration: {site.url}admin/", highlight=False)
        if engine.store.accounts.is_empty():
            out.print("no accounts yet: create one with `plumb account add NAME --role operator`", highlight=False)
        tell_service_manager("READY=1", f"STATUS=serving {site.url}")
        with Heartbeat(site.is_well):
            site.wait()


@click.command(cls=Verb)
@click.pass_context
def schedule(context: click.Context) -> None:
    """Keep running the stages on the timetable until Ctrl-C."""
    settings = settings_of(context)
    from pipeline.runs.schedule import run_on_timetable

    run_on_timetable(settings, partial(opened, settings), progress_of(settings).note)


@click.command("refresh", cls=Verb)
@click.argument("url")
@click.pass_context
def refresh_command(context: click.Context, url: str) -> None:
    """Fetch one page now, run it through all stages, and print the time of each."""
    with opened(settings_of(context)) as engine:
        from pipeline.refresh import refresh, trace_lines

        say(trace_lines(refresh(engine, url)))


@click.command("import", cls=Verb)
@click.argument("places", nargs=-1, required=True)
@click.option(
    "--url",
    "urls",
    multiple=True,
    metavar="PATTERN",
    help="Only URLs that match this pattern, for example 'https://a.example/news/*'.",
)
@click.option("--domain", "domains", multiple=True, help="Only URLs of this domain and its subdomains.")
@click.option("--base", default=COMMON_CRAWL, show_default=True, help="Base URL of the paths in a list.")
@click.option("--processes", default=0, type=click.IntRange(0), help="Files read in parallel; 0: one per CPU core.")
@click.pass_context
def import_command(
    context: click.Context,
    places: tuple[str, ...],
    urls: tuple[str, ...],
    domains: tuple[str, ...],
    base: str,
    processes: int,
) -> None:
    """Import pages from WARC files, folders, buckets, or lists of them."""
    with opened(settings_of(context)) as engine:
        from pipeline.import_sources import ImportFilter, sources_of
        from pipeline.import_warc import import_warcs

        sources, taken = sources_of(places, base), ImportFilter(urls, domains)
        say_reports([import_warcs(engine, sources, taken, processes or os.cpu_count() or 1)])


@click.command()
@click.option(
    "--folder", default="demo-data", show_default=True, type=click.Path(path_type=Path), help="Data folder of the demo."
)
@click.option("--port", default=8080, type=PORT, show_default=True, help="Port of the search page.")
@click.option("--site-port", default=8765, type=PORT, show_default=True, help="Port of the three demo sites.")
@click.option("--check", is_flag=True, help="Check the search page and the counts, then exit.")
@click.option("--change", is_flag=True, help="Change one page on disk and show how fast it can be found.")
def demo(folder: Path, port: int, site_port: int, check: bool, change: bool) -> None:
    """Crawl, extract, mine, index and search a bundled vertical of three oil-and-gas news sites."""
    from pipeline.demo.run import DemoOptions, run_demo

    run_demo(DemoOptions(folder, port, site_port, check, change), Terminal(err), out, log_to)
