"""The `plumb lexicon` commands of reviewers: what the review pages do, from the terminal."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click
from rich.table import Table

from docstore.errors import LexiconError
from docstore.model import Lexicon, Term, TermClass, TermStatus
from docstore.terms.edits import ActKind, TermEdit
from pipeline.cli.console import json_option, out, say, say_or_json, say_table
from pipeline.cli.grammar import Verb
from pipeline.cli.shared import opened, settings_of, terminal_name, time_or_none
from pipeline.local_time import local_time

if TYPE_CHECKING:
    from docstore.terms.history import Act
    from docstore.terms.review_queue import TermFigures
    from pipeline.engine import Engine
    from pipeline.search_site.review_service import StoreReview
    from search_ui.review.actions import Surroundings, VersionChange, VersionProposal
    from search_ui.review.preview import PreviewResults

CHANGES_SHOWN = 50
WIDTH = 50  # characters of the longest bar


@click.command(cls=Verb)
@click.argument("text")
@click.pass_context
def term(context: click.Context, text: str) -> None:
    """Show all that is known of one term."""
    with opened(settings_of(context)) as engine:
        desk = open_review(engine)
        found = desk.named([text]).get(text)
        if found is None:
            raise LexiconError(f"no such term: {text}")
        say(term_lines(found, desk.surroundings([found])[0], desk.narrower(text)))
        say(act_lines(desk.history(text, "", 0, 20)[1]))


@click.command(cls=Verb)
@click.argument("terms", nargs=-1, required=True)
@click.pass_context
def later(context: click.Context, terms: tuple[str, ...]) -> None:
    """Defer terms, to be decided later."""
    with opened(settings_of(context)) as engine:
        edits = [TermEdit(text, TermStatus.LATER) for text in terms]
        done(open_review(engine).do(ActKind.DECIDE, edits, terminal_name()))


@click.command(cls=Verb)
@click.argument("text")
@click.argument("into")
@click.pass_context
def merge(context: click.Context, text: str, into: str) -> None:
    """Merge TEXT into the term INTO, as its synonym."""
    with opened(settings_of(context)) as engine:
        done(open_review(engine).merge(text, into, terminal_name(), None))


@click.command(cls=Verb)
@click.argument("text")
@click.argument("new")
@click.pass_context
def edit(context: click.Context, text: str, new: str) -> None:
    """Accept NEW in place of TEXT, to correct its boundaries or spelling."""
    with opened(settings_of(context)) as engine:
        done(open_review(engine).rename(text, new, terminal_name(), None))


@click.command(cls=Verb)
@click.argument("text")
@click.argument("category", type=click.Choice([*(kind.value for kind in TermClass if kind), "none"]))
@click.pass_context
def classify(context: click.Context, text: str, category: str) -> None:
    """Set the class of a term."""
    with opened(settings_of(context)) as engine:
        kind = TermClass(category.removesuffix("none"))
        done(open_review(engine).do(ActKind.CLASSIFY, [TermEdit(text, category=kind)], terminal_name()))


@click.command(cls=Verb)
@click.argument("text")
@click.argument("broader", nargs=-1)
@click.pass_context
def relate(context: click.Context, text: str, broader: tuple[str, ...]) -> None:
    """Set the broader terms of TEXT (replaces the current ones)."""
    with opened(settings_of(context)) as engine:
        done(open_review(engine).do(ActKind.RELATE, [TermEdit(text, broader=broader)], terminal_name()))


@click.command(cls=Verb)
@click.argument("text")
@click.argument("words", nargs=-1)
@click.pass_context
def synonyms(context: click.Context, text: str, words: tuple[str, ...]) -> None:
    """Set the synonyms of TEXT (replaces the current ones)."""
    with opened(settings_of(context)) as engine:
        done(open_review(engine).do(ActKind.SYNONYMS, [TermEdit(text, synonyms=words)], terminal_name()))


@click.command(cls=Verb)
@click.argument("act", type=int, required=False)
@click.pass_context
def undo(context: click.Context, act: int | None) -> None:
    """Undo the action with this number (see `plumb lexicon history`), or your last one."""
    with opened(settings_of(context)) as engine:
        done(open_review(engine).undo(terminal_name(), act))


@click.command(cls=Verb)
@click.option("--text", default="", help="Only acts on this term.")
@click.option("--by", default="", help="Only those of this account.")
@click.option("--limit", default=50, show_default=True)
@json_option
@click.pass_context
def history(context: click.Context, text: str, by: str, limit: int, as_json: bool) -> None:
    """Show the review history, newest first."""
    with opened(settings_of(context)) as engine:
        acts = engine.store.acts.history(text, by, 0, limit)[1]
        say_or_json([asdict(act) for act in acts], lambda _: act_lines(acts), as_json)


@click.command(cls=Verb)
@json_option
@click.pass_context
def versions(context: click.Context, as_json: bool) -> None:
    """List the published versions."""
    with opened(settings_of(context)) as engine:
        found = engine.store.lexicon.versions()
        say_table(version_rows(found), lambda: version_table(found), as_json)


@click.command(cls=Verb)
@click.argument("before", type=int)
@click.argument("after", type=int)
@json_option
@click.pass_context
def diff(context: click.Context, before: int, after: int, as_json: bool) -> None:
    """Show the changes from version BEFORE to version AFTER (0: empty)."""
    with opened(settings_of(context)) as engine:
        changes = open_review(engine).difference(before, after)
        say_or_json([asdict(change) for change in changes], lambda _: diff_lines(changes), as_json)


@click.command(cls=Verb)
@click.argument("version", type=int)
@click.pass_context
def revert(context: click.Context, version: int) -> None:
    """Restore an older version as a new one; `plumb serve` or `plumb index` applies it to the index."""
    with opened(settings_of(context)) as engine:
        made = open_review(engine).revert(version, terminal_name())
        out.print(f"published version {made.version}: the words of {version}", highlight=False)


@click.command(cls=Verb)
@click.argument("query", required=False)
@click.pass_context
def preview(context: click.Context, query: str | None) -> None:
    """Preview publishing: segmentation before and after, and the top 10 results for QUERY."""
    with opened(settings_of(context)) as engine:
        proposal = open_review(engine).proposal()
        say(cut_lines(proposal, engine))
        if query:
            from pipeline.search_site.serve import search_app  # Flask
            from search_ui.review.preview import ranked_changes

            with search_app(engine).test_request_context():
                results = ranked_changes(proposal, query)
            say(result_lines(results) if results else ["query has no searchable text"])


@click.command("report", cls=Verb)
@click.pass_context
def report_command(context: click.Context) -> None:
    """Show term statistics: length, score, parts of speech."""
    with opened(settings_of(context)) as engine:
        good, of = engine.store.queue.last_decisions()
        say(figure_lines(engine.store.queue.figures()))
        say([f"of the last {of} reviewed, {good} were accepted"] if of else [])


def open_review(engine: "Engine") -> "StoreReview":
    """The review of the vertical's terms."""
    from pipeline.search_site.review_service import StoreReview

    return StoreReview(engine.store)


def done(act: "Act") -> None:
    """Say what an act did."""
    say(act_lines([act]))


def term_lines(found: Term, near: "Surroundings", narrower: Sequence[str]) -> Iterator[str]:
    """A term with its evidence and what stands near it."""
    kind = f" ({found.category})" if found.category else ""
    yield f"{found.text}: {found.status}{kind}, score {found.score:.2f}, {found.frequency} times in {found.documents}"
    yield from (f"  {name:<12} {value:.2f}" for name, value in found.parts)
    named = {
        "holds": [word for word, _ in near.nested],
        "held by": [word for word, _ in near.containing],
        "similar": near.similar,
        "translations": near.translations,
        "synonyms": found.synonyms,
        "broader": found.broader,
        "narrower": narrower,
    }
    yield from (f"  {name:<12} {', '.join(words)}" for name, words in named.items() if words)
    yield from (f"  | {context}" for context in found.contexts)


def act_lines(acts: "Sequence[Act]") -> Iterator[str]:
    """One line an act."""
    for act in acts:
        texts = ", ".join(f"{change.text}{now_said(change.after)}" for change in act.changes[:5])
        more = f" and {len(act.changes) - 5} more" if len(act.changes) > 5 else ""
        undone = " (undone)" if act.undone else ""
        when = local_time(act.at)[:19]
        yield f"{act.act_id:>6} {when} {act.by or 'system'} {act.kind}: {texts}{more}{undone}"


def now_said(state: dict[str, object] | None) -> str:
    """What a term became."""
    return "" if state is None else f" [{state['status']}]"


def diff_lines(changes: "Sequence[VersionChange]") -> Iterator[str]:
    """Lines as a patch has them."""
    for change in changes:
        if change.before:
            yield f"- {change.before}"
        if change.after:
            yield f"+ {change.after}"


def cut_lines(proposal: "VersionProposal", engine: "Engine") -> Iterator[str]:
    """Each change with its sentence, cut before and after."""
    from search_ui.review.preview import sentence_cuts

    if not (proposal.changes or proposal.others):
        yield "nothing to publish"
    for cut in sentence_cuts(proposal, engine.analysis().base, CHANGES_SHOWN):
        yield f"{'+' if cut.change.after else '-'} {cut.change.text}"
        yield f"    now  {' '.join(filter(None, cut.before))}"
        yield f"    then {' '.join(filter(None, cut.after))}"
    if (more := len(proposal.changes) - CHANGES_SHOWN) > 0:
        yield f"and {more} more"
    yield from diff_lines(proposal.others)


def result_lines(results: "PreviewResults") -> Iterator[str]:
    """The first results as they would be, each with its place now."""
    yield f"query now:  {' | '.join(results.words_now)}"
    yield f"query then: {' | '.join(results.words_then)}"
    for hit in results.then:
        yield f"{hit.then:>4}  (now {hit.now or '-'})  {hit.title}"


def figure_lines(figures: "TermFigures") -> Iterator[str]:
    """Distributions as bars."""
    lengths: dict[str, int] = {}
    for size, _, count in figures.lengths:
        lengths[f"{size:>3}"] = lengths.get(f"{size:>3}", 0) + count
    tags: dict[str, int] = {}
    for pattern, _, count in figures.tags:
        tags[pattern or "-"] = tags.get(pattern or "-", 0) + count
    best = dict(sorted(tags.items(), key=lambda pair: (-pair[1], pair[0]))[:15])
    for name, counts in (("characters", lengths), ("parts of speech", best)):
        yield name
        most = max(counts.values(), default=1)
        yield from (f"  {key:<16} {count:>7} {'#' * (count * WIDTH // most)}" for key, count in counts.items())
    if figures.scores:
        scores = sorted(score for score, _ in figures.scores)
        places = {f"{share:.0%}": scores[int((len(scores) - 1) * share)] for share in (0, 0.25, 0.5, 0.75, 1)}
        yield "score  " + "  ".join(f"{name} {value:.2f}" for name, value in places.items())


classify.name = "class"
REVIEW_COMMANDS = (
    *(term, later, merge, edit, classify, relate, synonyms, undo, history),
    *(versions, diff, revert, preview, report_command),
)


def version_rows(versions: Sequence[tuple[Lexicon, int]]) -> list[dict[str, Any]]:
    """Published versions as JSON can hold them, newest first."""
    return [
        {
            "version": lexicon.version,
            "terms": size,
            "published": local_time(lexicon.published_at),
            "in_index_since": time_or_none(lexicon.applied_at),
            "by": lexicon.by,
            "note": lexicon.note,
        }
        for lexicon, size in versions
    ]


def version_table(versions: Sequence[tuple[Lexicon, int]]) -> Table:
    """Published versions, newest first."""
    table = Table("version", "terms", "published", "in the index since", "by", "note")
    for lexicon, size in versions:
        applied = local_time(lexicon.applied_at) if lexicon.applied_at else "not yet"
        said = (lexicon.by, lexicon.note)
        table.add_row(str(lexicon.version), str(size), local_time(lexicon.published_at)[:19], applied[:19], *said)
    return table
