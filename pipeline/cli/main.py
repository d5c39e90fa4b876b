"""The command line. Verbs are stages; every flag has a setting of the same name.

Exit status: 0 done, 1 failed (one line on standard error says what to do), 2 misuse.
"""

import json
import logging
import signal
import sys
from functools import partial
from pathlib import Path
from typing import Any

import click

from docstore.errors import PlumblineError
from pipeline import stages
from pipeline.cli import report
from pipeline.cli.accounts import account
from pipeline.cli.crawl import crawl, fetch, frontier, sites, warc
from pipeline.cli.grammar import CONFIG, Verb, Verbs, usage_line
from pipeline.cli.lexicon import lexicon
from pipeline.cli.page import explain, extract
from pipeline.cli.shared import err, opened, out, say, say_or_json, say_reports, settings_of
from pipeline.cli.topic import topic
from pipeline.demo.run import DemoOptions, run_demo
from pipeline.import_warc import import_warc
from pipeline.logs import log_to
from pipeline.progress import Terminal
from pipeline.refresh import refresh
from pipeline.schedule import run_on_timetable
from pipeline.search_site.compare import compare_term
from pipeline.search_site.serve import SearchSite
from pipeline.template import sample_toml

PORT = click.IntRange(1, 65535)


class Plumb(click.Group):
    """The verbs."""

    command_class = Verb
    group_class = Verbs


@click.group(cls=Plumb, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="plumbline", prog_name="plumb")
@click.option("-c", "--config", type=click.Path(path_type=Path), help=f"The vertical's TOML file [{CONFIG}].")
@click.option("-s", "--set", "assignments", multiple=True, metavar="SECTION.KEY=VALUE", help="Override a setting.")
@click.pass_context
def cli(context: click.Context, config: Path | None, assignments: tuple[str, ...]) -> None:
    """Plumbline: a search engine for one domain, from seed URLs to a search page.

    A vertical is one TOML file: name it with -c, or behind the verb: `plumb status my.toml`.
    """
    flags = {}
    for assignment in assignments:
        name, equals, value = assignment.partition("=")
        if not equals or "." not in name:
            raise click.UsageError(f"--set {assignment}: expected SECTION.KEY=VALUE, as crawl.threads=8")
        flags[name.strip()] = value.strip()
    context.obj = {"config": config, "flags": flags}


@cli.command(cls=click.Command)
@click.argument("path", required=False, type=click.Path(path_type=Path))
@click.pass_context
def init(context: click.Context, path: Path | None) -> None:
    """Write a sample TOML file with every setting, its default and what it means, to PATH [vertical.toml]."""
    path = path or context.obj["config"] or Path(CONFIG)
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(sample_toml())
    except FileExistsError:
        raise PlumblineError(f"{path} exists already: it was left as it is") from None
    except OSError as error:
        raise PlumblineError(f"cannot write {path}: {error.strerror}") from error
    out.print(f"wrote {path}: name your seeds in it, then `plumb run {path}`", markup=False, highlight=False)


@cli.command()
@click.pass_context
@click.option("--until", type=click.Choice(list(stages.FLOW)), default="index", help="Stop after this stage.")
def run(context: click.Context, until: str) -> None:
    """Run the stages once, in order: crawl, extract, mine the lexicon, index."""
    with opened(settings_of(context)) as engine:
        say_reports(stages.run(engine, until))


@cli.command("index")
@click.pass_context
@click.option("--full", is_flag=True, help="Write every article again.")
@click.option("--adopt", is_flag=True, help="Take over an index that another store filled; what this store lacks goes.")
def index_command(context: click.Context, full: bool, adopt: bool) -> None:
    """Bring Solr in step with the store.

    Refuses an index that was filled from another store than this one, or that an empty store would empty.
    """
    with opened(settings_of(context)) as engine:
        opening = stages.open_solr(engine)
        if full:
            engine.store.changes.enqueue_all()
        say_reports([opening, stages.index(engine, adopt=adopt)])


@cli.command()
@click.pass_context
@click.option("--host", "search__host", help="Address to listen on.")
@click.option("--port", "search__port", type=int, help="Port to listen on.")
def serve(context: click.Context, /, **flags: Any) -> None:
    """Serve the search and review pages until Ctrl-C."""
    with opened(settings_of(context, **flags)) as engine, SearchSite(engine) as site:
        out.print(f"search page: {site.url}\nadministration: {site.url}admin/", highlight=False)
        if engine.store.accounts.is_empty():
            out.print("nobody can sign in yet: plumb account add NAME --role operator", highlight=False)
        site.wait()


@cli.command()
@click.pass_context
def schedule(context: click.Context) -> None:
    """Keep running the stages on the timetable until Ctrl-C."""
    settings = settings_of(context)
    run_on_timetable(settings, partial(opened, settings), Terminal(err).note)


@cli.command()
@click.pass_context
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
def status(context: click.Context, as_json: bool) -> None:
    """Counts per stage, outcome and reason; lag of the index; the last runs."""
    with opened(settings_of(context)) as engine:
        answer = report.status(engine)
        say_or_json(answer, report.status_lines, as_json)


@cli.command("refresh")
@click.argument("url")
@click.pass_context
def refresh_command(context: click.Context, url: str) -> None:
    """Fetch one page now, take it through all stages, and print when each was done."""
    with opened(settings_of(context)) as engine:
        say(report.trace_lines(refresh(engine, url)))


@cli.command("import")
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.pass_context
def import_command(context: click.Context, files: tuple[Path, ...]) -> None:
    """Take in pages that someone else crawled, from WARC files."""
    with opened(settings_of(context)) as engine:
        for file in files:
            say_reports([import_warc(engine, file)])


@cli.command()
@click.argument("term")
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
@click.pass_context
def compare(context: click.Context, term: str, as_json: bool) -> None:
    """Search TERM with the base and with the domain lexicon, side by side (Wang Du 2019, figs. 6-7)."""
    with opened(settings_of(context)) as engine:
        sides = compare_term(engine, term)
        if as_json:
            click.echo(json.dumps(report.comparison(sides), ensure_ascii=False, indent=1))
        else:
            out.print(report.comparison_table(sides, term))


@cli.command(cls=click.Command)
@click.option(
    "--folder", default="demo-data", show_default=True, type=click.Path(path_type=Path), help="Where it lives."
)
@click.option("--port", default=8080, type=PORT, show_default=True, help="Port of the search page.")
@click.option("--site-port", default=8765, type=PORT, show_default=True, help="Port of the three demo sites.")
@click.option("--check", is_flag=True, help="Do not wait for a person: ask the page, check the counts, stop.")
@click.option("--change", is_flag=True, help="Change one page on disk and show how fast it can be found.")
def demo(folder: Path, port: int, site_port: int, check: bool, change: bool) -> None:
    """Crawl, extract, mine, index and search a bundled vertical of three oil-and-gas news sites."""
    run_demo(DemoOptions(folder, port, site_port, check, change), Terminal(err), out, log_to)


for command in (account, crawl, explain, extract, fetch, frontier, lexicon, sites, topic, warc):
    cli.add_command(command)


def main() -> None:
    """The `plumb` command: errors that people can act on are one line, others go to the log."""
    for number in (signal.SIGINT, signal.SIGTERM):  # a service manager's stop is a Ctrl-C; a shell's `&` ignores both
        signal.signal(number, signal.default_int_handler)
    logging.getLogger().addHandler(logging.NullHandler())  # until the log is open: logging would print tracebacks
    try:
        cli.main(prog_name="plumb", standalone_mode=False)
    except click.exceptions.Exit as stop:
        sys.exit(stop.exit_code)
    except click.exceptions.NoArgsIsHelpError as error:
        error.show()
        sys.exit(error.exit_code)
    except click.UsageError as error:
        err.print(usage_line(error), markup=False, highlight=False)
        sys.exit(error.exit_code)
    except click.ClickException as error:
        error.show()
        sys.exit(error.exit_code)
    except (KeyboardInterrupt, click.Abort):
        err.print("stopped")
        sys.exit(130)
    except PlumblineError as error:
        logging.getLogger(__name__).error("%s", error)  # where a timer ran it, nobody saw standard error
        err.print(f"plumb: {error}", markup=False, highlight=False)
        sys.exit(1)
    except BrokenPipeError:
        sys.exit(1)
    except Exception as error:  # the last line of defence: no traceback for a person
        logging.getLogger(__name__).exception("unexpected")
        err.print(
            f"plumb: unexpected {type(error).__name__}: {error} (see logs/plumb.log in the data folder)",
            markup=False,
            highlight=False,
        )
        sys.exit(1)


if __name__ == "__main__":
    main()
