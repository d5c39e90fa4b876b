"""`plumb compare`: results with the base dictionary and the domain lexicon, side by side (Wang Du 2019, figs. 6-7)."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click
from rich.markup import escape
from rich.table import Table

from pipeline.cli.config_argument import VerticalCommand
from pipeline.cli.console import json_option, print_json, stdout_console
from pipeline.cli.session import with_engine

if TYPE_CHECKING:
    from pipeline.engine import Engine
    from search_ui.services.compare import LexiconResult


@click.command(cls=VerticalCommand)
@click.argument("term")
@json_option
@with_engine
def compare(engine: "Engine", term: str, as_json: bool) -> None:
    """Compare search results for TERM with the base dictionary and the domain lexicon."""
    from pipeline.search_site.search_app import compare_term

    sides = compare_term(engine, term)
    if as_json:
        print_json(comparison_json(sides))
    else:
        stdout_console.print(comparison_table(sides, term))


def comparison_json(sides: "Sequence[LexiconResult]") -> list[dict[str, Any]]:
    """Convert a comparison to JSON rows, one for each lexicon."""
    from search_ui.query.results import plain_text

    return [
        {
            "lexicon": side.name,
            "words": list(side.words),
            "found": side.total,
            "first_whole_rank": side.measures.first_rank,
            "mrr": side.measures.reciprocal_rank,
            "p_at_10": side.measures.precision_at_10,
            "hits": [
                {"title": plain_text(hit.title), "url": hit.safe_url, "whole": hit.has_whole_term} for hit in side.hits
            ],
        }
        for side in sides
    ]


def comparison_table(sides: "Sequence[LexiconResult]", term: str) -> Table:
    """Build the comparison table; ● marks documents that contain the full term."""
    table = Table(title=f"{term}: ● contains the full term", title_justify="left", show_lines=False)
    table.add_column("", justify="right")
    for side in sides:
        table.add_column(f"{side.name} lexicon: {' / '.join(side.words)}", ratio=1)
    for rank in range(max((len(side.hits) for side in sides), default=0)):
        table.add_row(str(rank + 1), *(format_hit(side, rank) for side in sides))
    table.add_section()
    table.add_row("first rank", *(str(side.measures.first_rank or "none") for side in sides))
    table.add_row("MRR", *(f"{side.measures.reciprocal_rank:.3f}" for side in sides))
    table.add_row("P@10", *(f"{side.measures.precision_at_10:.2f}" for side in sides))
    return table


def format_hit(side: "LexiconResult", rank: int) -> str:
    """Format the hit at `rank` (0-based) as a table cell; "" if there are fewer hits."""
    from search_ui.query.results import plain_text

    if rank >= len(side.hits):
        return ""
    hit = side.hits[rank]
    return ("● " if hit.has_whole_term else "  ") + escape(plain_text(hit.title))
