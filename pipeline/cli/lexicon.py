"""The `plumb lexicon` commands to mine, import, export and publish terms. Review commands: lexicon_review.py."""

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click
from rich.markup import escape
from rich.table import Table

from domain.concept import ConceptFormat
from domain.errors import LexiconError
from domain.review import Order, ReviewDecision, ReviewDecisionKind, TermEdit, TermQuery
from domain.term import Term, TermStatus
from lexicon.c_value.rule_derivation import derive_rules, format_rules
from lexicon.concepts.formats import (
    CONCEPT_FORMATS,
    ensure_file_size,
)
from lexicon.jieba_dictionary import decode_dictionary
from lexicon.jieba_segmenter import base_jieba_segmenter
from lexicon.publishing import NothingToPublishError
from lexicon.word_lists import FORMATTERS, PARSERS
from pipeline import stages
from pipeline.cli.config_argument import VerticalGroup
from pipeline.cli.console import json_option, print_line, print_lines, print_table_or_json, stderr_console
from pipeline.cli.lexicon_review import REVIEW_COMMANDS, open_review
from pipeline.cli.session import load_call_settings, open_engine, print_reports, read_file, terminal_user, with_engine
from text.scripts import LANGUAGE_PATTERNS

if TYPE_CHECKING:
    from pipeline.engine import Engine


TERM_JSON_KEYS = {
    "document_count": "documents",
    "pos_tags": "tags",
    "score_components": "parts",
    "broader_terms": "broader",
    "dictionary_weight": "weight",
    "dictionary_tag": "tag",
    "review_score": "rank",
}
"""Attributes of `Term` with another name in the JSON output."""


@click.group(cls=VerticalGroup)
def lexicon() -> None:
    """Mine, review and publish the terms of the domain."""


@lexicon.command("build")
@with_engine
@click.option(
    "--probability",
    "lexicon__probability",
    type=float,
    help="Minimum probability of a term (lexicon.scorer = learned).",
)
@click.option(
    "--threshold", "lexicon__threshold", type=float, help="Minimum score of a term (lexicon.scorer = c_value)."
)
def build_lexicon(engine: "Engine") -> None:
    """Mine candidate terms from the articles."""
    from pipeline.lexicon_stage.review_order import update_review_order

    print_reports([stages.mine_candidates(engine)])
    update_review_order(engine.store)


@lexicon.command("show")
@click.option(
    "--status", type=click.Choice([status.value for status in TermStatus]), help="Only terms with this status."
)
@click.option("--text", default="", help="Only terms that contain this text.")
@click.option(
    "--language", type=click.Choice(list(LANGUAGE_PATTERNS)), help="Only Chinese terms (zh) or all other terms (en)."
)
@click.option("--least", "min_documents", default=0, help="Only terms found in at least this many documents.")
@click.option(
    "--order",
    type=click.Choice([order.value for order in Order]),
    default=Order.SCORE.value,
    show_default=True,
    help="Order of the list.",
)
@click.option("--limit", default=50, show_default=True, help="Maximum number of terms.")
@json_option
@with_engine
def show_terms(
    engine: "Engine",
    status: str | None,
    text: str,
    language: str | None,
    min_documents: int,
    order: str,
    limit: int,
    as_json: bool,
) -> None:
    """List terms, by score or in the order of review."""
    query = TermQuery(
        TermStatus(status) if status else None,
        text,
        min_documents=min_documents,
        pattern=LANGUAGE_PATTERNS.get(language or "", ""),
        order=Order(order),
        limit=limit,
    )
    total, terms = engine.store.review_queue.find_page(query)
    print_table_or_json(
        [{TERM_JSON_KEYS.get(name, name): value for name, value in asdict(term).items()} for term in terms],
        lambda: term_table(terms, total),
        as_json,
    )


@lexicon.command("accept")
@click.argument("terms", nargs=-1)
@click.option("--top", type=click.IntRange(1), help="Accept this many of the top candidates.")
@click.option(
    "--language",
    type=click.Choice(list(LANGUAGE_PATTERNS)),
    help="With --top: only Chinese terms (zh) or all other terms (en).",
)
@click.pass_context
def accept_terms(context: click.Context, terms: tuple[str, ...], top: int | None, language: str | None) -> None:
    """Accept candidate terms. They take effect with the next publish."""
    if language and top is None:
        raise click.UsageError("--language selects among the top candidates: pass --top N too")
    with open_engine(load_call_settings(context)) as engine:
        accepted_terms = list(terms) + top_candidates(engine, top or 0, language or "")
        require_terms(accepted_terms, "give terms or --top N")
        decision = open_review(engine).decide(accepted_terms, TermStatus.ACCEPTED, terminal_user())
        print_line(f"accepted {len(decision.changes)} terms; {next_step(decision)}")


@lexicon.command("reject")
@click.argument("terms", nargs=-1, required=True)
@with_engine
def reject_terms(engine: "Engine", terms: tuple[str, ...]) -> None:
    """Reject terms.

    They are removed from the next version and become candidates again only if their evidence doubles.
    """
    decision = open_review(engine).decide(terms, TermStatus.REJECTED, terminal_user())
    print_line(f"rejected {len(decision.changes)} terms")


@lexicon.command("add")
@click.argument("terms", nargs=-1, required=True)
@with_engine
def add_accepted_terms(engine: "Engine", terms: tuple[str, ...]) -> None:
    """Add and accept your own terms. For lists, use `plumb lexicon import`."""
    edits = [
        TermEdit(term, TermStatus.ACCEPTED, create_if_missing=True) for term in dict.fromkeys(map(str.strip, terms))
    ]
    decision = open_review(engine).apply(ReviewDecisionKind.ADD, edits, terminal_user())
    print_line(f"added {len(decision.changes)} terms; {next_step(decision)}")


def next_step(decision: ReviewDecision) -> str:
    """Return what must happen before accepted terms take effect."""
    states = [change.after for change in decision.changes if change.after]
    if waiting_count := sum(state["status"] == TermStatus.PROVISIONAL for state in states):
        return f"terms that another account must accept too: {waiting_count}"
    return "run `plumb lexicon publish` to apply them"


@lexicon.command("import")
@click.argument("file", type=click.Path(path_type=Path, exists=True, dir_okay=False))
@click.option("--form", "list_format", type=click.Choice(list(PARSERS)), help="Format of a word list [detected].")
@click.option(
    "--format", "concept_format", type=click.Choice(CONCEPT_FORMATS), help="Format of a file of concepts [detected]."
)
@click.option("--preview", is_flag=True, help="Show what a file would add and change.")
@click.option("--leave-out-bad", is_flag=True, hidden=True, expose_value=False)  # scripts of earlier versions have it
@click.pass_context
def import_terms(
    context: click.Context, file: Path, list_format: str | None, concept_format: ConceptFormat | None, preview: bool
) -> None:
    """Import and accept terms from a word list, or concepts from TBX-Basic, SKOS (Turtle) or CSV.

    A word list is a jieba dictionary, a THUOCL list, a list with one term per line, or CSV. Invalid lines and concepts
    are printed to standard error; all others are imported.
    """
    settings = load_call_settings(context)
    ensure_file_size(file.name, file.stat().st_size)
    content = read_file(file)
    if list_format and concept_format:
        raise click.UsageError("pass --form for a word list, or --format for concepts")
    with open_engine(settings) as engine:
        review = open_review(engine)
        plan = review.preview_import(file.name, content, list_format, concept_format)
        for number, reason in plan.errors:
            print_line(f"line {number}: {reason}" if number else reason, stderr_console)
        if plan.is_useless:
            raise LexiconError(f"nothing imported: {len(plan.errors)} invalid lines (listed above)")
        counts = f"{plan.size}: " + ", ".join(f"{count} {name}" for name, count in plan.counts.items())
        if preview:
            for change in plan.changes:
                print_line(f"{change.label}{' (new)' if change.is_new else ''}")
                print_lines(f"  - {line}" for line in change.removed_lines)
                print_lines(f"  + {line}" for line in change.added_lines)
            print_line(f"would import {counts}; nothing was changed")
        else:
            print_line(f"imported {counts}; {next_step(review.import_file(plan, terminal_user()))}")


@lexicon.command("export")
@click.argument("list_format", type=click.Choice([*FORMATTERS, "skos"]), default="jieba")
@click.option("--format", "concept_format", type=click.Choice(CONCEPT_FORMATS), help="Export concepts in this format.")
@click.option("--version", type=int, help="Version to export [concepts: the accepted terms; word lists: newest].")
@with_engine
def export_lexicon(
    engine: "Engine", list_format: str, concept_format: ConceptFormat | None, version: int | None
) -> None:
    """Print a word list (jieba dictionary, CSV, Solr synonyms), or concepts as TBX-Basic, SKOS (Turtle) or CSV."""
    review = open_review(engine)
    if concept_format is None and list_format == "skos":
        concept_format = "skos"
    if concept_format:
        click.echo(review.export_concepts(concept_format, version), nl=False)
    else:
        click.echo(review.export(list_format, version), nl=False)


@lexicon.command("rules", cls=click.Command)
@click.argument("lists", nargs=-1, required=True, type=click.Path(path_type=Path, exists=True, dir_okay=False))
def derive_term_rules(lists: tuple[Path, ...]) -> None:
    """Derive part-of-speech patterns from term lists (one term per line), for lexicon.rules."""
    lines = (line for path in lists for line in decode_dictionary(read_file(path)).splitlines())
    click.echo(format_rules(derive_rules(lines, base_jieba_segmenter())), nl=False)


@lexicon.command("publish")
@click.option("--anyway", is_flag=True, help="Publish terms too that make the segmentation worse.")
@with_engine
def publish_version(engine: "Engine", anyway: bool) -> None:
    """Publish the accepted terms as a new version and reindex the documents that contain them."""
    print_line(publish_or_resume(engine, anyway))
    print_reports([stages.index(engine)])


def publish_or_resume(engine: "Engine", is_confirmed: bool) -> str:
    """Publish a version and return the message; resume an earlier call that stopped before indexing finished.

    Raises NothingToPublishError if nothing has changed and the index is up to date.
    """
    try:
        version = open_review(engine).publish(terminal_user(), is_confirmed=is_confirmed)
    except NothingToPublishError:
        from pipeline.search_site.serve import is_index_stale

        latest = engine.store.lexicons.latest_version()
        if not (latest and is_index_stale(engine)):
            raise
        return f"version {latest} is already published; resuming indexing"
    return f"published version {version.version} with {len(version.entries)} terms"


def top_candidates(engine: "Engine", count: int, language: str = "") -> list[str]:
    """Return the texts of the `count` candidates with the best scores; language "" means all."""
    query = TermQuery(pattern=LANGUAGE_PATTERNS.get(language, ""), order=Order.SCORE, limit=count)
    return [term.text for term in engine.store.review_queue.find_page(query)[1]] if count else []


def require_terms(terms: list[str], message: str) -> None:
    """Raise UsageError if no terms are given."""
    if not terms:
        raise click.UsageError(message)


for command in REVIEW_COMMANDS:
    lexicon.add_command(command)


def term_table(terms: Sequence[Term], total: int) -> Table:
    """Build the table of terms."""
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
            str(term.document_count),
            term.pos_tags,
            term.status,
            context,
        )
        table.add_row(*map(escape, cells))
    return table
