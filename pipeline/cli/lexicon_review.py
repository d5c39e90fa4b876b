"""The `plumb lexicon` commands for reviewers; they match the actions of the review pages."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING

import click
from rich.table import Table

from domain.errors import LexiconError
from domain.review import ReviewDecisionKind, TermEdit
from domain.term import Lexicon, Term, TermClass, TermStatus
from lexicon.concepts.import_plan import describe_concept
from pipeline.cli.config_argument import VerticalCommand
from pipeline.cli.console import json_option, print_line, print_lines, print_lines_or_json, print_table_or_json
from pipeline.cli.session import format_time_or_none, terminal_user, with_engine
from pipeline.local_time import local_second, local_time

if TYPE_CHECKING:
    from docstore.terms.review import RelatedTerms
    from domain.review import ReviewDecision, TermStatistics
    from pipeline.engine import Engine
    from pipeline.lexicon_stage.lexicon_review import LexiconReview
    from search_ui.review.lexicon_tools import VersionChange, VersionProposal
    from search_ui.review.preview import PreviewResults

MAX_CHANGES_SHOWN = 50
MAX_BAR_WIDTH = 50  # characters of the longest bar


@click.command("term", cls=VerticalCommand)
@click.argument("text")
@with_engine
def show_term(engine: "Engine", text: str) -> None:
    """Show one term with its evidence, related terms and review history."""
    review, queue = open_review(engine), engine.store.review_queue
    term_row = queue.find_terms([text]).get(text)
    if term_row is None:
        raise LexiconError(f"no such term: {text} (see `plumb lexicon show --text TEXT`)")
    print_lines(format_term(term_row, review.related_terms([term_row])[0], queue.narrower_terms(text)))
    if concept := review.find_concept(text):
        print_lines([f"concept {concept.concept_id}", *(f"  {line}" for line in describe_concept(concept, {}))])
    print_lines(format_decisions(engine.store.review_history.list_decisions(text, limit=20)[1]))


@click.command("later", cls=VerticalCommand)
@click.argument("terms", nargs=-1, required=True)
@with_engine
def defer_terms(engine: "Engine", terms: tuple[str, ...]) -> None:
    """Defer terms, to be decided later."""
    apply_edits(engine, ReviewDecisionKind.DECIDE, *(TermEdit(text, TermStatus.DEFERRED) for text in terms))


@click.command("merge", cls=VerticalCommand)
@click.argument("text")
@click.argument("into")
@with_engine
def merge_terms(engine: "Engine", text: str, into: str) -> None:
    """Merge TEXT into the term INTO, as its synonym."""
    print_decision(open_review(engine).merge(text, into, terminal_user(), None))


@click.command("edit", cls=VerticalCommand)
@click.argument("text")
@click.argument("new")
@with_engine
def rename_term(engine: "Engine", text: str, new: str) -> None:
    """Accept NEW in place of TEXT, to correct its boundaries or spelling."""
    print_decision(open_review(engine).rename(text, new, terminal_user(), None))


@click.command("classify", cls=VerticalCommand)
@click.argument("text")
@click.argument("category", type=click.Choice([*(kind.value for kind in TermClass if kind), "none"]))
@with_engine
def classify_term(engine: "Engine", text: str, category: str) -> None:
    """Set the class of a term."""
    term_class = TermClass(category.removesuffix("none"))
    apply_edits(engine, ReviewDecisionKind.CLASSIFY, TermEdit(text, category=term_class))


@click.command("relate", cls=VerticalCommand)
@click.argument("text")
@click.argument("broader", nargs=-1)
@with_engine
def set_broader_terms(engine: "Engine", text: str, broader: tuple[str, ...]) -> None:
    """Set the broader terms of TEXT (replaces the current ones)."""
    apply_edits(engine, ReviewDecisionKind.RELATE, TermEdit(text, broader_terms=broader))


@click.command("synonyms", cls=VerticalCommand)
@click.argument("text")
@click.argument("words", nargs=-1)
@with_engine
def set_synonyms(engine: "Engine", text: str, words: tuple[str, ...]) -> None:
    """Set the synonyms of TEXT (replaces the current ones)."""
    apply_edits(engine, ReviewDecisionKind.SYNONYMS, TermEdit(text, synonyms=words))


@click.command("define", cls=VerticalCommand)
@click.argument("text")
@click.option("--choose", "number", type=click.IntRange(0), help="Choose this definition of the list; 0: none of them.")
@click.option("--text", "definition", help="Write the definition.")
@with_engine
def define_term(engine: "Engine", text: str, number: int | None, definition: str | None) -> None:
    """List the definitions of TEXT found in articles, or set its definition."""
    review = open_review(engine)
    candidates = review.store.definitions.find_candidates([text])[text]
    if definition is not None:
        print_decision(review.write_definition(text, definition, terminal_user(), None))
    elif number is None:
        print_lines(f"{index}  {item.sentence}  ({item.url})" for index, item in enumerate(candidates, start=1))
    elif number > len(candidates):
        raise LexiconError(f"{text!r} has {len(candidates)} definitions to choose from (see `plumb lexicon define`)")
    else:
        sentence = candidates[number - 1].sentence if number else ""
        print_decision(review.choose_definition(text, sentence, terminal_user(), None))


@click.command("undo", cls=VerticalCommand)
@click.argument("decision_id", metavar="[ACTION]", type=int, required=False)
@with_engine
def undo_decision(engine: "Engine", decision_id: int | None) -> None:
    """Undo the action with this number (see `plumb lexicon history`), or your last one."""
    print_decision(engine.store.review_history.undo(terminal_user(), decision_id))


@click.command("history", cls=VerticalCommand)
@click.option("--text", default="", help="Only actions on this term.")
@click.option("--by", default="", help="Only actions of this account.")
@click.option("--limit", default=50, show_default=True, help="Maximum number of actions.")
@json_option
@with_engine
def show_history(engine: "Engine", text: str, by: str, limit: int, as_json: bool) -> None:
    """Show the review history, newest first."""
    decisions = engine.store.review_history.list_decisions(text, by, 0, limit)[1]
    print_lines_or_json([asdict(decision) for decision in decisions], lambda _: format_decisions(decisions), as_json)


@click.command("versions", cls=VerticalCommand)
@json_option
@with_engine
def list_versions(engine: "Engine", as_json: bool) -> None:
    """List the published lexicon versions, newest first."""
    version_list = engine.store.lexicons.list_versions()
    print_table_or_json(
        [
            {
                "version": lexicon.version,
                "terms": size,
                "published": local_time(lexicon.published_at),
                "in_index_since": format_time_or_none(lexicon.applied_at),
                "by": lexicon.published_by,
                "note": lexicon.note,
            }
            for lexicon, size in version_list
        ],
        lambda: version_table(version_list),
        as_json,
    )


@click.command("diff", cls=VerticalCommand)
@click.argument("before", type=int)
@click.argument("after", type=int)
@json_option
@with_engine
def diff_versions(engine: "Engine", before: int, after: int, as_json: bool) -> None:
    """Show the changes from version BEFORE to version AFTER (0: empty)."""
    changes = open_review(engine).difference(before, after)
    print_lines_or_json([asdict(change) for change in changes], lambda _: format_diff(changes), as_json)


@click.command("revert", cls=VerticalCommand)
@click.argument("version", type=int)
@with_engine
def revert_version(engine: "Engine", version: int) -> None:
    """Restore an older version as a new one; `plumb serve` or `plumb index` applies it to the index."""
    new_version = open_review(engine).revert(version, terminal_user())
    print_line(f"published version {new_version.version} with the terms of version {version}")


@click.command("preview", cls=VerticalCommand)
@click.argument("query", required=False)
@with_engine
def preview_publish(engine: "Engine", query: str | None) -> None:
    """Preview publishing: segmentation before and after, and the top 10 results for QUERY."""
    proposal = open_review(engine).proposal()
    print_lines(format_segmentation_changes(proposal))
    if query:
        from pipeline.search_site.search_app import create_search_app  # imported late because it loads Flask
        from search_ui.review.preview import compare_rankings

        with create_search_app(engine).test_request_context():
            results = compare_rankings(proposal, query)
        print_lines(format_result_changes(results) if results else ["query has no searchable text"])


@click.command("report", cls=VerticalCommand)
@with_engine
def show_report(engine: "Engine") -> None:
    """Show term statistics: length, score, parts of speech."""
    accepted_count, reviewed_count = engine.store.review_queue.recent_acceptance()
    print_lines(format_histograms(engine.store.review_queue.statistics()))
    print_lines([f"accepted {accepted_count} of the last {reviewed_count} reviewed terms"] if reviewed_count else [])


def open_review(engine: "Engine") -> "LexiconReview":
    """Create the review service of the vertical."""
    from pipeline.lexicon_stage.lexicon_review import LexiconReview

    return LexiconReview(engine.store)


def apply_edits(engine: "Engine", kind: ReviewDecisionKind, *edits: TermEdit) -> None:
    """Change terms as one action, and print it."""
    print_decision(open_review(engine).apply(kind, edits, terminal_user()))


def print_decision(decision: "ReviewDecision") -> None:
    """Print the changes of one review action."""
    print_lines(format_decisions([decision]))


def format_term(term: Term, surroundings: "RelatedTerms", narrower: Sequence[str]) -> Iterator[str]:
    """Format a term as lines: status, score components, related terms, example sentences."""
    kind = f" ({term.category})" if term.category else ""
    counts = f"{term.frequency} times in {term.document_count} documents"
    yield f"{term.text}: {term.status}{kind}, score {term.score:.2f}, {counts}"
    yield from (f"  {name:<12} {value:.2f}" for name, value in term.score_components)
    words_by_label = {
        "contains": [word for word, _ in surroundings.nested_terms],
        "contained in": [word for word, _ in surroundings.containing_terms],
        "similar": surroundings.similar_terms,
        "translations": surroundings.translations,
        "synonyms": term.synonyms,
        "broader": term.broader_terms,
        "narrower": narrower,
    }
    yield from (f"  {name:<12} {', '.join(words)}" for name, words in words_by_label.items() if words)
    yield from (f"  | {context}" for context in term.contexts)


def format_decisions(decisions: "Sequence[ReviewDecision]") -> Iterator[str]:
    """Format review actions, one line each: number, time, actor, kind, first five terms."""
    for decision in decisions:
        statuses = [f" [{change.after['status']}]" if change.after else "" for change in decision.changes[:5]]
        texts = ", ".join(change.text + status for change, status in zip(decision.changes, statuses, strict=False))
        more = f" and {len(decision.changes) - 5} more" if len(decision.changes) > 5 else ""
        undone = " (undone)" if decision.undone else ""
        when = local_second(decision.at)
        yield f"{decision.act_id:>6} {when} {decision.by or 'system'} {decision.kind}: {texts}{more}{undone}"


def format_diff(changes: "Sequence[VersionChange]") -> Iterator[str]:
    """Format the changes between two versions as lines with - and +."""
    for change in changes:
        yield from (f"{sign} {line}" for sign, line in (("-", change.before), ("+", change.after)) if line)


def format_segmentation_changes(proposal: "VersionProposal") -> Iterator[str]:
    """Format the effect of publishing: each changed term with an example sentence, segmented before and after."""
    if not (proposal.word_changes or proposal.other_changes):
        yield "nothing to publish"
    for change in proposal.word_changes[:MAX_CHANGES_SHOWN]:
        before, after = proposal.check.words_by_term[change.text]
        yield f"{'+' if change.after else '-'} {change.text}"
        yield f"    before {' '.join(filter(str.strip, before))}"
        yield f"    after  {' '.join(filter(str.strip, after))}"
    if (more := len(proposal.word_changes) - MAX_CHANGES_SHOWN) > 0:
        yield f"and {more} more"
    yield from format_diff(proposal.other_changes)
    if proposal.word_changes:
        yield f"{proposal.check.changed_count} of {proposal.check.sentence_count} known sentences change"
    for term, error in sorted(proposal.check.error_by_term.items()):
        yield f"published only with --anyway: {term}: {error}"


def format_result_changes(results: "PreviewResults") -> Iterator[str]:
    """Format the top results after publishing, each with its rank before."""
    yield f"query before: {' | '.join(results.current_words)}"
    yield f"query after:  {' | '.join(results.next_words)}"
    for hit in results.next_hits:
        yield f"{hit.next_rank:>4}  (before {hit.current_rank or '-'})  {hit.title}"


def format_histograms(figures: "TermStatistics") -> Iterator[str]:
    """Format the distributions of term length, part of speech (top 15) and score as text."""
    lengths, tags = Counter[str](), Counter[str]()
    for size, _, count in figures.lengths:
        lengths[f"{size:>3}"] += count
    for pattern, _, count in figures.pos_tags:
        tags[pattern or "-"] += count
    top_tags = dict(sorted(tags.items(), key=lambda pair: (-pair[1], pair[0]))[:15])
    for name, counts in (("characters", lengths), ("parts of speech", top_tags)):
        yield name
        max_count = max(counts.values(), default=1)
        yield from (
            f"  {key:<16} {count:>7} {'#' * (count * MAX_BAR_WIDTH // max_count)}" for key, count in counts.items()
        )
    if figures.scores:
        scores = sorted(score for score, _ in figures.scores)
        quantiles = {f"{share:.0%}": scores[int((len(scores) - 1) * share)] for share in (0, 0.25, 0.5, 0.75, 1)}
        yield "score  " + "  ".join(f"{name} {value:.2f}" for name, value in quantiles.items())


classify_term.name = "class"
REVIEW_COMMANDS = (
    *(
        show_term,
        defer_terms,
        merge_terms,
        rename_term,
        classify_term,
        set_broader_terms,
        set_synonyms,
        define_term,
        undo_decision,
        show_history,
    ),
    *(list_versions, diff_versions, revert_version, preview_publish, show_report),
)


def version_table(versions: Sequence[tuple[Lexicon, int]]) -> Table:
    """Build the table of published versions."""
    table = Table("version", "terms", "published", "in the index since", "by", "note")
    for lexicon, size in versions:
        applied_text = local_second(lexicon.applied_at) if lexicon.applied_at else "not yet"
        metadata = (lexicon.published_by, lexicon.note)
        table.add_row(str(lexicon.version), str(size), local_second(lexicon.published_at), applied_text, *metadata)
    return table
