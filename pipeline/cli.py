"""The command line. Verbs are stages; every flag has a setting of the same name.

Exit status: 0 done, 1 failed (one line on standard error says what to do), 2 misuse.
"""

import json
import logging
import os
import signal
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import click
from rich.console import Console

from docstore.errors import PlumblineError
from docstore.model import StageReport, TermStatus
from lexicon.dictionary import format_dictionary, parse_dictionary
from lexicon.review import check_acceptable
from pipeline import report, stages
from pipeline.actions import decide
from pipeline.compare import compare_term
from pipeline.demo_run import DemoOptions, run_demo
from pipeline.engine import Engine, make_folder
from pipeline.freshness import refresh
from pipeline.import_warc import import_warc
from pipeline.logs import log_to
from pipeline.progress import Terminal
from pipeline.schedule import last_start, run_on_timetable
from pipeline.serve import SearchSite, is_behind
from pipeline.settings import Settings, load_settings
from pipeline.template import sample_toml

CONFIG = "vertical.toml"
PORT = click.IntRange(1, 65535)
F = TypeVar("F", bound=Callable[..., Any])

out = Console(soft_wrap=True)
err = Console(stderr=True, soft_wrap=True)


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="plumbline", prog_name="plumb")
@click.option("-c", "--config", type=click.Path(path_type=Path), help=f"The vertical's TOML file [{CONFIG}].")
@click.option("-s", "--set", "assignments", multiple=True, metavar="SECTION.KEY=VALUE", help="Override a setting.")
@click.pass_context
def cli(context: click.Context, config: Path | None, assignments: tuple[str, ...]) -> None:
    """Plumbline: a search engine for one domain, from seed URLs to a search page."""
    flags = {}
    for assignment in assignments:
        name, equals, value = assignment.partition("=")
        if not equals or "." not in name:
            raise click.UsageError(f"--set {assignment}: expected SECTION.KEY=VALUE, as crawl.threads=8")
        flags[name.strip()] = value.strip()
    context.obj = {"config": config, "flags": flags}


def with_config(command: F) -> F:
    """Let a command take the TOML file as its argument too: `plumb run my.toml`."""
    argument = click.argument("config_file", required=False, metavar="[CONFIG]", type=click.Path(path_type=Path))
    return click.pass_context(argument(command))  # type: ignore[return-value]


def settings_of(context: click.Context, config_file: Path | None = None, **flags: Any) -> Settings:
    """The settings of this call; a flag is named as its setting, with `_` between section and key."""
    given = dict(context.obj["flags"])
    given.update({name.replace("__", "."): str(value) for name, value in flags.items() if value is not None})
    return load_settings(config_file or context.obj["config"] or Path(CONFIG), given)


@contextmanager
def opened(settings: Settings) -> Iterator[Engine]:
    """The engine of a vertical, its log file open."""
    make_folder(settings.data_dir / "logs")
    log_to(settings.data_dir / "logs" / "plumb.log")
    with Engine(settings, Terminal(err)) as engine:
        yield engine


def say_reports(reports: list[StageReport]) -> None:
    """The reports of a run, one line a stage."""
    say(report.report_lines(reports))


def say(lines: Iterable[str]) -> None:
    """Lines on standard output, with nothing in them read as markup."""
    for line in lines:
        out.print(line, markup=False, highlight=False)


def say_or_json(answer: dict[str, Any], lines: Callable[[dict[str, Any]], Iterable[str]], as_json: bool) -> None:
    """An answer for a program or for a person."""
    if as_json:
        click.echo(json.dumps(answer, ensure_ascii=False, indent=1))
    else:
        say(lines(answer))


@cli.command()
@click.argument("path", default=CONFIG, type=click.Path(path_type=Path))
def init(path: Path) -> None:
    """Write a sample TOML file with every setting, its default and what it means."""
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(sample_toml())
    except FileExistsError:
        raise PlumblineError(f"{path} exists already: it was left as it is") from None
    except OSError as error:
        raise PlumblineError(f"cannot write {path}: {error.strerror}") from error
    out.print(f"wrote {path}: name your seeds in it, then `plumb run {path}`", markup=False, highlight=False)


@cli.command()
@with_config
@click.option("--until", type=click.Choice(list(stages.FLOW)), default="index", help="Stop after this stage.")
def run(context: click.Context, config_file: Path | None, until: str) -> None:
    """Run the stages once, in order: crawl, extract, mine the lexicon, index."""
    with opened(settings_of(context, config_file)) as engine:
        say_reports(stages.run(engine, until))


@cli.command()
@with_config
@click.option("--max-pages", "crawl__max_pages", type=int, help="Stop after so many pages.")
@click.option("--minutes", "crawl__minutes", type=float, help="Stop after so many minutes.")
@click.option("--strategy", "crawl__strategy", help="Which links come first.")
def crawl(context: click.Context, config_file: Path | None, **flags: Any) -> None:
    """Fetch what is due: new addresses, and known ones by the revisit rule."""
    with opened(settings_of(context, config_file, **flags)) as engine:
        say_reports([stages.crawl(engine)])


@cli.command()
@with_config
@click.option("--method", "extract__method", help="Body method.")
@click.option("--again", is_flag=True, help="Extract every kept page once more.")
def extract(context: click.Context, config_file: Path | None, again: bool, **flags: Any) -> None:
    """Make articles of the pages that were fetched."""
    with opened(settings_of(context, config_file, **flags)) as engine:
        if again:
            engine.store.articles.again()
        say_reports([stages.extract(engine)])


@cli.command("index")
@with_config
@click.option("--full", is_flag=True, help="Write every article again.")
def index_command(context: click.Context, config_file: Path | None, full: bool) -> None:
    """Bring Solr in step with the store."""
    with opened(settings_of(context, config_file)) as engine:
        if full:
            engine.store.changes.enqueue_all()
        say_reports([stages.index(engine)])


@cli.group()
def lexicon() -> None:
    """The domain's words: mine, review, publish."""


@lexicon.command()
@with_config
@click.option("--threshold", "lexicon__threshold", type=float, help="Terms must score above this.")
def build(context: click.Context, config_file: Path | None, **flags: Any) -> None:
    """Mine the articles for candidate terms."""
    with opened(settings_of(context, config_file, **flags)) as engine:
        say_reports([stages.mine(engine)])


@lexicon.command()
@click.option("--status", type=click.Choice([status.value for status in TermStatus]), help="Only terms of this status.")
@click.option("--text", default="", help="Only terms that contain this.")
@click.option("--limit", default=50, show_default=True, help="How many terms.")
@click.option("--versions", is_flag=True, help="List the published versions instead.")
@click.option("--export", is_flag=True, help="Print the published version as a jieba dictionary instead.")
@click.pass_context
def show(context: click.Context, status: str | None, text: str, limit: int, versions: bool, export: bool) -> None:
    """Show terms by score, versions, or the published dictionary."""
    with opened(settings_of(context)) as engine:
        table = engine.store.lexicon
        if export:
            click.echo(format_dictionary(table.latest().entries), nl=False)
        elif versions:
            out.print(report.version_table(table.versions()))
        else:
            total, terms = table.terms(TermStatus(status) if status else None, text, 0, limit)
            out.print(report.term_table(terms, total))


@lexicon.command()
@click.argument("terms", nargs=-1)
@click.option("--top", type=int, help="Accept the so many best candidates.")
@click.pass_context
def accept(context: click.Context, terms: tuple[str, ...], top: int | None) -> None:
    """Accept candidate terms (they count from the next publish on)."""
    with opened(settings_of(context)) as engine:
        chosen = list(terms) + top_candidates(engine, top or 0)
        need(chosen, "name terms, or give --top N")
        decide(engine, chosen, TermStatus.ACCEPTED)
        out.print(f"accepted {len(chosen)}: `plumb lexicon publish` makes them count", highlight=False)


@lexicon.command()
@click.argument("terms", nargs=-1, required=True)
@click.pass_context
def reject(context: click.Context, terms: tuple[str, ...]) -> None:
    """Reject terms: they are not offered again, and leave the next version."""
    with opened(settings_of(context)) as engine:
        decide(engine, list(terms), TermStatus.REJECTED)
        out.print(f"rejected {len(terms)}", highlight=False)


@lexicon.command()
@click.argument("terms", nargs=-1)
@click.option(
    "--file", "file", type=click.Path(path_type=Path, exists=True, dir_okay=False), help="A jieba dictionary."
)
@click.pass_context
def add(context: click.Context, terms: tuple[str, ...], file: Path | None) -> None:
    """Add and accept terms of your own, as arguments or from a dictionary file (all lines or none)."""
    with opened(settings_of(context)) as engine:
        brought = [entry.text for entry in parse_dictionary(read_text(file))] if file else []
        chosen = [*terms, *brought]
        need(chosen, "name terms, or give --file DICTIONARY")
        check_acceptable(chosen)
        engine.store.lexicon.add(chosen)
        out.print(f"added {len(chosen)}: `plumb lexicon publish` makes them count", highlight=False)


@lexicon.command("publish")
@click.pass_context
def publish_command(context: click.Context) -> None:
    """Publish the accepted terms as a new version and re-segment the documents that contain them."""
    with opened(settings_of(context)) as engine:
        out.print(publish_or_go_on(engine), highlight=False)
        say_reports([stages.index(engine)])


def publish_or_go_on(engine: Engine) -> str:
    """Publish; where an earlier call was stopped between publishing and indexing, say that this one goes on with it."""
    try:
        version = stages.publish(engine)
    except stages.NothingToPublishError:
        latest = engine.store.lexicon.latest_version()
        if not (latest and is_behind(engine)):
            raise
        return f"version {latest} is published already, but not wholly in the index: going on"
    return f"published version {version.version} with {len(version.entries)} terms"


def top_candidates(engine: Engine, count: int) -> list[str]:
    """The best undecided terms."""
    return [term.text for term in engine.store.lexicon.terms(TermStatus.CANDIDATE, limit=count)[1]] if count else []


def need(chosen: list[str], otherwise: str) -> None:
    """Refuse an empty choice."""
    if not chosen:
        raise click.UsageError(otherwise)


def read_text(path: Path) -> str:
    """The text of a UTF-8 file."""
    try:
        return path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise PlumblineError(f"cannot read {path} as UTF-8 text: {error}") from error


@cli.command()
@with_config
@click.option("--host", "search__host", help="Address to listen on.")
@click.option("--port", "search__port", type=int, help="Port to listen on.")
def serve(context: click.Context, config_file: Path | None, **flags: Any) -> None:
    """Serve the search and review pages until Ctrl-C."""
    with opened(settings_of(context, config_file, **flags)) as engine:
        site = SearchSite(engine)  # first: a port that is taken is said at once
        stages.index(engine)
        with site:
            out.print(f"search page: {site.url}\nlexicon review: {site.url}admin/lexicon", highlight=False)
            if not os.environ.get("PLUMB_ADMIN_PASSWORD"):
                out.print(
                    f"administrator's password: in {engine.settings.data_dir / 'admin.password'}", highlight=False
                )
            site.wait()


@cli.command()
@with_config
def schedule(context: click.Context, config_file: Path | None) -> None:
    """Keep running the stages on the timetable until Ctrl-C."""
    settings = settings_of(context, config_file)
    with opened(settings) as engine:
        previous = last_start(engine.store)

    def run_once() -> list[StageReport]:
        with opened(settings) as fresh:
            return stages.run(fresh)

    run_on_timetable(settings, run_once, previous, Terminal(err).note)


@cli.command()
@with_config
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
def status(context: click.Context, config_file: Path | None, as_json: bool) -> None:
    """Counts per stage, outcome and reason; lag of the index; the last runs."""
    with opened(settings_of(context, config_file)) as engine:
        answer = report.status(engine.store)
        say_or_json(answer, report.status_lines, as_json)


@cli.command()
@click.argument("url")
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
@click.pass_context
def explain(context: click.Context, url: str, as_json: bool) -> None:
    """One document's path: how it was found, fetched, extracted and indexed, when, and why."""
    with opened(settings_of(context)) as engine:
        answer = report.explain(engine, url)
        say_or_json(answer, report.explain_lines, as_json)


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


@cli.command()
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


def main() -> None:
    """The `plumb` command: errors that people can act on are one line, others go to the log."""
    for number in (signal.SIGINT, signal.SIGTERM):  # a service manager's stop is a Ctrl-C; a shell's `&` ignores both
        signal.signal(number, signal.default_int_handler)
    logging.getLogger().addHandler(logging.NullHandler())  # until the log is open: logging would print tracebacks
    try:
        cli.main(standalone_mode=False)
    except click.exceptions.Exit as stop:
        sys.exit(stop.exit_code)
    except click.ClickException as error:
        error.show()
        sys.exit(error.exit_code)
    except (KeyboardInterrupt, click.Abort):
        err.print("stopped")
        sys.exit(130)
    except PlumblineError as error:
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
