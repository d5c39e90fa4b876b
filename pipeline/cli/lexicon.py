"""The `plumb lexicon` commands: mine, bring, publish the domain's words. Their review is in lexicon_review.py."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from rich.table import Table

from docstore.errors import DictionaryError, LexiconError
from docstore.model import LexiconEntry, Term, TermStatus
from docstore.terms.edits import ActKind, TermEdit
from docstore.terms.queries import Order, TermQuery
from lexicon.c_value.derive import derive_rules, format_rules
from lexicon.dictionary import NAMED, decode_dictionary
from lexicon.interchange import READERS, WRITERS, fit_lines, form_of, parse_list
from lexicon.review import NothingToPublishError
from pipeline import stages
from pipeline.cli.console import err, json_option, out, say_table
from pipeline.cli.grammar import Verbs
from pipeline.cli.lexicon_review import REVIEW_COMMANDS, open_review
from pipeline.cli.shared import opened, read_bytes, say_reports, settings_of, terminal_name
from text.scripts import LANGUAGES
from text.segment import base_segmenter

if TYPE_CHECKING:
    from pipeline.engine import Engine


@click.group(cls=Verbs)
def lexicon() -> None:
    """Mine, review and publish the terms of the domain."""


@lexicon.command()
@click.pass_context
@click.option(
    "--probability",
    "lexicon__probability",
    type=float,
    help="Minimum probability of a term (lexicon.scorer = learned).",
)
@click.option(
    "--threshold", "lexicon__threshold", type=float, help="Minimum score of a term (lexicon.scorer = c_value)."
)
def build(context: click.Context, /, **flags: Any) -> None:
    """Mine the articles for candidate terms."""
    with opened(settings_of(context, **flags)) as engine:
        from pipeline.search_site.review_service import learn_order

        say_reports([stages.mine(engine)])
        learn_order(engine.store)


@lexicon.command()
@click.option("--status", type=click.Choice([status.value for status in TermStatus]), help="Only terms of this status.")
@click.option("--text", default="", help="Only terms that contain this.")
@click.option("--language", type=click.Choice(list(LANGUAGES)), help="Only Chinese terms (zh), or all others (en).")
@click.option("--least", default=0, help="Only terms found in at least this many documents.")
@click.option("--order", type=click.Choice([order.value for order in Order]), default=Order.SCORE.value)
@click.option("--limit", default=50, show_default=True, help="How many terms.")
@json_option
@click.pass_context
def show(
    context: click.Context,
    status: str | None,
    text: str,
    language: str | None,
    least: int,
    order: str,
    limit: int,
    as_json: bool,
) -> None:
    """Show terms, by score or in the order of review."""
    wanted = TermQuery(
        TermStatus(status) if status else None,
        text,
        least_documents=least,
        pattern=LANGUAGES.get(language or "", ""),
        order=Order(order),
        limit=limit,
    )
    with opened(settings_of(context)) as engine:
        total, terms = engine.store.queue.page(wanted)
        say_table(terms, lambda: term_table(terms, total), as_json)


@lexicon.command()
@click.argument("terms", nargs=-1)
@click.option("--top", type=int, help="Accept this many of the top candidates.")
@click.option("--language", type=click.Choice(list(LANGUAGES)), help="With --top: of Chinese (zh) or all others (en).")
@click.pass_context
def accept(context: click.Context, terms: tuple[str, ...], top: int | None, language: str | None) -> None:
    """Accept candidate terms. They take effect with the next publish."""
    with opened(settings_of(context)) as engine:
        chosen = list(terms) + top_candidates(engine, top or 0, language or "")
        need(chosen, "name terms, or give --top N")
        open_review(engine).decide(chosen, TermStatus.ACCEPTED, terminal_name())
        out.print(f"accepted {len(chosen)}: `plumb lexicon publish` makes them count", highlight=False)


@lexicon.command()
@click.argument("terms", nargs=-1, required=True)
@click.pass_context
def reject(context: click.Context, terms: tuple[str, ...]) -> None:
    """Reject terms. They are removed from the next version and become candidates again only if their evidence doubles."""
    with opened(settings_of(context)) as engine:
        open_review(engine).decide(terms, TermStatus.REJECTED, terminal_name())
        out.print(f"rejected {len(terms)}", highlight=False)


@lexicon.command()
@click.argument("terms", nargs=-1, required=True)
@click.pass_context
def add(context: click.Context, terms: tuple[str, ...]) -> None:
    """Add and accept your own terms. For lists, use `plumb lexicon import`."""
    with opened(settings_of(context)) as engine:
        edits = [TermEdit(term, TermStatus.ACCEPTED, adds=True) for term in dict.fromkeys(terms)]
        open_review(engine).do(ActKind.ADD, edits, terminal_name())
        out.print(f"added {len(terms)}: `plumb lexicon publish` makes them count", highlight=False)


@lexicon.command("import")
@click.argument("file", type=click.Path(path_type=Path, exists=True, dir_okay=False))
@click.option("--form", type=click.Choice(list(READERS)), help="File format [detected].")
@click.option("--leave-out-bad", is_flag=True, help="Skip invalid lines and import the rest.")
@click.pass_context
def import_list(context: click.Context, file: Path, form: str | None, leave_out_bad: bool) -> None:
    """Accept the words of a list: a jieba dictionary, a THUOCL list, a word a line, or a CSV. All lines or none."""
    settings = settings_of(context)
    text = decode_dictionary(read_bytes(file))
    entries = entries_of(text, form or form_of(file.name, text), leave_out_bad)
    with opened(settings) as engine:
        from pipeline.search_site.review_service import edit_of

        engine.store.acts.do(ActKind.ADD, [edit_of(entry) for entry in entries], terminal_name())
        out.print(f"added {len(entries)}: `plumb lexicon publish` makes them count", highlight=False)


def entries_of(text: str, form: str, leave_out_bad: bool) -> list[LexiconEntry]:
    """The entries of a list; every bad line is said. LexiconError if there is one and it may not be left out."""
    if leave_out_bad:
        entries, faults = fit_lines(text, form)
        say_faults(faults)
        return entries
    try:
        return parse_list(text, form)
    except DictionaryError as error:
        if len(error.faults) <= NAMED:
            raise
        say_faults(error.faults)
        raise LexiconError(f"nothing imported: {len(error.faults)} invalid lines (listed above)") from error


def say_faults(faults: tuple[tuple[int, str], ...]) -> None:
    """Each bad line with its number and the reason."""
    for number, fault in faults:
        err.print(f"line {number}: {fault}", markup=False, highlight=False)


@lexicon.command()
@click.argument("form", type=click.Choice(list(WRITERS)), default="jieba")
@click.option("--version", type=int, help="Version to export [newest].")
@click.pass_context
def export(context: click.Context, form: str, version: int | None) -> None:
    """Print the published lexicon: a jieba dictionary, CSV, synonyms for Solr, or SKOS (Turtle)."""
    with opened(settings_of(context)) as engine:
        table = engine.store.lexicon
        found = table.latest() if version is None else table.version(version)
        click.echo(WRITERS[form](found.entries), nl=False)


@lexicon.command(cls=click.Command)
@click.argument("lists", nargs=-1, required=True, type=click.Path(path_type=Path, exists=True, dir_okay=False))
def rules(lists: tuple[Path, ...]) -> None:
    """Derive part-of-speech patterns from term lists (one term per line), for lexicon.rules."""
    lines = (line for path in lists for line in decode_dictionary(read_bytes(path)).splitlines())
    click.echo(format_rules(derive_rules(lines, base_segmenter())), nl=False)


@lexicon.command("publish")
@click.pass_context
def publish_command(context: click.Context) -> None:
    """Publish the accepted terms as a new version and re-segment the documents that contain them."""
    with opened(settings_of(context)) as engine:
        out.print(publish_or_go_on(engine), highlight=False)
        say_reports([stages.index(engine)])


def publish_or_go_on(engine: "Engine") -> str:
    """Publish; where an earlier call was stopped between publishing and indexing, say that this one goes on with it."""
    try:
        version = stages.publish(engine, terminal_name())
    except NothingToPublishError:
        from pipeline.search_site.serve import is_behind  # Flask

        latest = engine.store.lexicon.latest_version()
        if not (latest and is_behind(engine)):
            raise
        return f"version {latest} is already published; resuming indexing"
    return f"published version {version.version} with {len(version.entries)} terms"


def top_candidates(engine: "Engine", count: int, language: str = "") -> list[str]:
    """The first undecided terms, in the order of review; of one language or of all."""
    wanted = TermQuery(pattern=LANGUAGES.get(language, ""), limit=count)
    return [term.text for term in engine.store.queue.page(wanted)[1]] if count else []


def need(chosen: list[str], otherwise: str) -> None:
    """Refuse an empty choice."""
    if not chosen:
        raise click.UsageError(otherwise)


for command in REVIEW_COMMANDS:
    lexicon.add_command(command)


def term_table(terms: Sequence[Term], total: int) -> Table:
    """Terms by score."""
    table = Table(title=f"{len(terms)} of {total} terms", title_justify="left")
    for name, justify in (("term", "left"), ("score", "right"), ("freq", "right"), ("docs", "right")):
        table.add_column(name, justify=justify)  # type: ignore[arg-type]
    for name in ("tags", "status", "context"):
        table.add_column(name)
    for term in terms:
        context = term.contexts[0][:40] if term.contexts else ""
        cells = (
            term.text,
            f"{term.score:.1f}",
            str(term.frequency),
            str(term.documents),
            term.tags,
            term.status,
            context,
        )
        table.add_row(*(cell.replace("[", "\\[") for cell in cells))
    return table
