"""The `plumb lexicon` commands: mine, review, publish the domain's words."""

from pathlib import Path
from typing import Any

import click

from docstore.model import TermStatus
from lexicon.derive import derive_rules, format_rules
from lexicon.dictionary import decode_dictionary, format_dictionary, parse_dictionary
from lexicon.review import check_acceptable
from pipeline import report, stages
from pipeline.actions import decide
from pipeline.cli_shared import opened, out, read_bytes, say_reports, settings_of, with_config
from pipeline.engine import Engine
from pipeline.serve import is_behind
from semantics.segment import base_segmenter


@click.group()
def lexicon() -> None:
    """The domain's words: mine, review, publish."""


@lexicon.command()
@with_config
@click.option("--probability", "lexicon__probability", type=float, help="learned: terms must be this likely.")
@click.option("--threshold", "lexicon__threshold", type=float, help="c_value: terms must score above this.")
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
        brought = [entry.text for entry in parse_dictionary(decode_dictionary(read_bytes(file)))] if file else []
        chosen = [*terms, *brought]
        need(chosen, "name terms, or give --file DICTIONARY")
        check_acceptable(chosen)
        engine.store.lexicon.add(chosen)
        out.print(f"added {len(chosen)}: `plumb lexicon publish` makes them count", highlight=False)


@lexicon.command()
@click.argument("lists", nargs=-1, required=True, type=click.Path(path_type=Path, exists=True, dir_okay=False))
def rules(lists: tuple[Path, ...]) -> None:
    """Derive the tag sequences of a term from word lists (one word a line), as a file for lexicon.rules."""
    lines = (line for path in lists for line in decode_dictionary(read_bytes(path)).splitlines())
    click.echo(format_rules(derive_rules(lines, base_segmenter())), nl=False)


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
