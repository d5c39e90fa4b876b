"""The `plumb topic` commands: say what a crawl shall look for, and judge what is proposed for it."""

import re
from collections.abc import Iterator
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from rich.table import Table

from docstore.errors import PlumblineError
from docstore.topics import Topic, TopicSeed, TopicState, TopicTerm, TopicTermClass
from focused.topic.confirmation import add, decide
from focused.topic.file import TopicFiles, as_json
from pipeline.cli.console import json_option, say, say_or_json, say_table
from pipeline.cli.grammar import Verbs
from pipeline.cli.shared import opened, settings_of

if TYPE_CHECKING:
    from pipeline.engine import Engine

KINDS = click.Choice([kind.value for kind in TopicTermClass])
STATES = click.Choice([state.value for state in TopicState])
MIN_ONE = click.IntRange(1, 1000)


@click.group(cls=Verbs)
def topic() -> None:
    """Define topics for focused crawls: terms, example pages, seed URLs. See docs/topics.md."""


@topic.command("init")
@click.argument("name")
@click.argument("more", nargs=-1, metavar="[URL]...")
@click.option("--terms", default="", help="Terms of the topic, separated by commas; accepted at once.")
@click.option("--examples", multiple=True, metavar="URL", help="URL of an on-topic example page; may be repeated.")
@click.option("--words", default="", help="Words that describe the topic, with commas between [its name].")
@click.option(
    "--tree", type=click.Path(path_type=Path), help="File with a term hierarchy, one term per line, indented."
)
@click.option("--search", "template", default="", help="A search site's URL with {query} in it [own index].")
@click.option("--results", default=10, show_default=True, type=MIN_ONE, help="Results to read per search.")
@click.option("--top", default=10, show_default=True, type=MIN_ONE, help="Terms proposed for each of yours.")
@click.option("--automatic", is_flag=True, help="Accept terms found while crawling without review.")
@click.pass_context
def init(
    context: click.Context,
    /,
    name: str,
    more: tuple[str, ...],
    terms: str,
    examples: tuple[str, ...],
    words: str,
    tree: Path | None,
    automatic: bool,
    **options: Any,
) -> None:
    """Define a topic; terms and seeds are proposed for you to confirm."""
    given: dict[str, Any] = {
        "terms": parts(terms),
        "words": parts(words),
        "examples": (*(url for some in examples for url in parts(some)), *more),
        "tree": tree_lines(tree) if tree else (),
    }
    if not given["terms"] and not given["examples"]:
        raise click.UsageError("give --terms or --examples, or both")
    with opened(settings_of(context)) as engine:
        from pipeline.topic.service import Wanted, define  # the extractor, after the settings have been checked

        made = define(engine, Wanted(name=name, automatic=automatic, **given, **options))
    say(summary(made))
    say(next_steps(made))


@topic.command("list")
@json_option
@click.pass_context
def list_command(context: click.Context, as_json: bool) -> None:
    """List topics and the number of candidates to review."""
    settings = settings_of(context)
    files = TopicFiles(settings.data_dir)
    found = [
        {"name": name, "is_crawled": name == settings.crawl.topic, "counts": counts(files.read(name))}
        for name in files.names()
    ]
    say_or_json(found, topic_lines, as_json)


def topic_lines(found: list[dict[str, Any]]) -> Iterator[str]:
    """One line a topic; a mark says which one the crawl looks for."""
    for one in found:
        yield f"{'*' if one['is_crawled'] else ' '} {one['name']}: {one['counts']}"


@topic.command("show")
@click.argument("name")
@click.option("--json", "wanted", is_flag=True, help="As JSON.")
@click.pass_context
def show(context: click.Context, name: str, wanted: bool) -> None:
    """Show a topic: terms, examples, seed URLs, pages kept."""
    found = TopicFiles(settings_of(context).data_dir).read(name)
    with opened(settings_of(context)) as engine:
        kept = judging(engine, name)
    say_or_json(as_json(found) | {"kept": kept}, lambda _: [*summary(found), *judging_lines(kept)], wanted)


@topic.command("terms")
@click.argument("name")
@click.option("--state", type=STATES, help="Only those of this state.")
@click.option("--class", "kind", type=KINDS, help="Only those of this class.")
@json_option
@click.pass_context
def terms_command(context: click.Context, name: str, state: str | None, kind: str | None, as_json: bool) -> None:
    """List terms with their evidence, those that wait first."""
    found = TopicFiles(settings_of(context).data_dir).read(name)
    chosen = [term for term in found.terms if state in (None, term.state) and kind in (None, term.kind)]
    say_table(by_state(chosen), lambda: term_table(chosen), as_json)


@topic.command("seeds")
@click.argument("name")
@click.option("--state", type=STATES, help="Only those of this state.")
@json_option
@click.pass_context
def seeds_command(context: click.Context, name: str, state: str | None, as_json: bool) -> None:
    """List seed URLs with their evidence; pass them to `confirm` or `refuse`."""
    found = TopicFiles(settings_of(context).data_dir).read(name)
    chosen = [seed for seed in found.seeds if state in (None, seed.state)]
    say_table(chosen, lambda: seed_table(chosen), as_json)


@topic.command("add")
@click.argument("name")
@click.argument("terms", nargs=-1, required=True)
@click.option("--class", "kind", type=KINDS, default=TopicTermClass.PROFESSIONAL.value, show_default=True)
@click.pass_context
def add_command(context: click.Context, name: str, terms: tuple[str, ...], kind: str) -> None:
    """Add terms of your own; they count from the next crawl on."""
    say([counts(add(TopicFiles(settings_of(context).data_dir), name, terms, TopicTermClass(kind)))])


@topic.command("confirm")
@click.argument("name")
@click.argument("items", nargs=-1)
@click.option("--class", "kind", type=KINDS, help="Put the terms into this class.")
@click.option("--top", type=MIN_ONE, help="Also accept this many of the best candidates.")
@click.pass_context
def confirm(context: click.Context, name: str, items: tuple[str, ...], kind: str | None, top: int | None) -> None:
    """Accept terms or seed URLs; they take effect with the next crawl."""
    decide_and_say(context, name, items, TopicState.CONFIRMED, TopicTermClass(kind) if kind else None, top or 0)


@topic.command("refuse")
@click.argument("name")
@click.argument("items", nargs=-1, required=True)
@click.pass_context
def refuse(context: click.Context, name: str, items: tuple[str, ...]) -> None:
    """Reject terms or seed URLs; they are not suggested again."""
    decide_and_say(context, name, items, TopicState.REFUSED, None, 0)


@topic.command("propose")
@click.argument("name")
@click.option("--search", "template", default="", help="A search site's URL with {query} in it [own index].")
@click.option("--results", default=10, show_default=True, type=MIN_ONE, help="Results to read per search.")
@click.option("--top", default=10, show_default=True, type=MIN_ONE, help="Terms proposed for each term.")
@click.pass_context
def propose_command(context: click.Context, name: str, template: str, results: int, top: int) -> None:
    """Suggest more terms and seed URLs, based on the accepted terms."""
    with opened(settings_of(context)) as engine:
        from pipeline.topic.service import propose  # the extractor, after the settings have been checked

        found, new = propose(engine, name, template, results, top)
    say([f"{new} new proposals", counts(found)])


@topic.command("judge")
@click.argument("name")
@click.option("--yes", "right", multiple=True, metavar="URL", help="This page is of the topic.")
@click.option("--no", "wrong", multiple=True, metavar="URL", help="This page is not.")
@json_option
@click.pass_context
def judge_command(
    context: click.Context, name: str, right: tuple[str, ...], wrong: tuple[str, ...], as_json: bool
) -> None:
    """Label pages as on or off topic; without --yes and --no, list the most useful pages to label."""
    TopicFiles(settings_of(context).data_dir).read(name)
    answers = dict.fromkeys(right, True) | dict.fromkeys(wrong, False)
    if len(answers) < len(right) + len(wrong):
        raise click.UsageError("a page is named twice: give each URL once, after --yes or after --no")
    with opened(settings_of(context)) as engine:
        if answers:
            from pipeline.topic.keeping import answer, apply_answers

            answer(engine, name, answers, "operator")
            apply_answers(engine, name)
        say_or_json(judging(engine, name), judging_lines, as_json)


def judging(engine: "Engine", name: str) -> dict[str, Any]:
    """What is kept of a topic, and what waits for an answer, as JSON can hold it."""
    from pipeline.topic.keeping import expected_yield

    found = expected_yield(engine, name)
    questions = engine.store.topic_questions
    return {
        "topic": name,
        "wanted_precision": engine.settings.topic.precision,
        "expected": asdict(found) if found else None,
        "answers": len(questions.answers(name)),
        "questions": [asdict(one) for one in questions.waiting(name)],
    }


def judging_lines(found: dict[str, Any]) -> Iterator[str]:
    """The same for people."""
    expected, wanted = found["expected"], found["wanted_precision"]
    if expected is None:
        yield f"no pages fetched for {found['topic']} yet; target: {wanted:.0%} of the kept pages on topic"
    else:
        yield (
            f"{expected['kept']} pages kept, expected: {expected['precision']:.0%} of them of the topic (wanted "
            f"{wanted:.0%}), {expected['recall']:.0%} of those that were fetched; {found['answers']} answers"
        )
    for one in found["questions"]:
        yield f"  {one['score']:.2f} {one['url']} {one['title']}"
    if found["questions"]:
        yield f"on topic? plumb topic judge {found['topic']} --yes URL --no URL, or /admin/topics"


@topic.command("automatic")
@click.argument("name")
@click.argument("choice", type=click.Choice(["on", "off"]))
@click.pass_context
def automatic_command(context: click.Context, name: str, choice: str) -> None:
    """Turn automatic acceptance of terms found while crawling on or off."""
    files = TopicFiles(settings_of(context).data_dir)
    files.change(name, lambda found: replace(found, automatic=choice == "on"))
    say([f"automatic mode of {name} is {choice}"])


def decide_and_say(
    context: click.Context, name: str, items: tuple[str, ...], state: TopicState, kind: TopicTermClass | None, top: int
) -> None:
    """Keep a decision, and say how the topic is now."""
    files = TopicFiles(settings_of(context).data_dir)
    best = [term.text for term in by_state(files.read(name).terms) if term.state is TopicState.PROPOSED][:top]
    chosen = (*items, *best)
    if not chosen:
        raise click.UsageError("name terms or URLs, or give --top N")
    say([counts(decide(files, name, chosen, state, kind))])


def parts(text: str) -> tuple[str, ...]:
    """What stands between commas, of either width."""
    return tuple(part.strip() for part in re.split("[,，、]", text) if part.strip())


def tree_lines(path: Path) -> tuple[str, ...]:
    """The lines of a tree."""
    try:
        return tuple(line.rstrip() for line in path.read_text(encoding="utf-8-sig").splitlines() if line.strip())
    except (OSError, UnicodeDecodeError) as error:
        raise PlumblineError(f"cannot read {path}: {error}") from error


def counts(found: Topic) -> str:
    """How many terms and seeds there are of each state."""
    terms = [term.state for term in found.terms]
    seeds = [seed.state for seed in found.seeds]
    said = [f"{terms.count(state)} terms {state}" for state in TopicState if state in terms]
    said += [f"{seeds.count(state)} seeds {state}" for state in TopicState if state in seeds]
    return ", ".join([*said, f"{len(found.examples)} examples"])


def summary(found: Topic) -> list[str]:
    """A topic in some lines."""
    lines = [f"topic {found.name}: {counts(found)}"]
    lines += [f"  {kind}: {' '.join(found.confirmed(kind)) or 'none'}" for kind in TopicTermClass]
    lines += [f"  example {page.url} {page.title}" for page in found.examples]
    lines += [f"  tree of {len(found.tree)} lines"] if found.tree else []
    return [*lines, "  automatic: terms that come up count unconfirmed"] if found.automatic else lines


def next_steps(found: Topic) -> list[str]:
    """What to do now."""
    name = found.name if found.name.isidentifier() else f"'{found.name}'"
    judge = [f"judge them: plumb topic terms {name}, or /admin/topics on the search site"] if found.waiting() else []
    return [*judge, f"look for it: plumb crawl --topic {name}, or crawl.topic in the settings"]


def by_state(terms: tuple[TopicTerm, ...] | list[TopicTerm]) -> list[TopicTerm]:
    """Those that wait first, the best of them first."""
    order = list(TopicState)
    return sorted(terms, key=lambda term: (order.index(term.state), -term.score))


def term_table(terms: list[TopicTerm]) -> Table:
    """One row a term."""
    table = Table("term", "class", "state", "from", "score", "evidence")
    for term in by_state(terms):
        table.add_row(*map(plain, (term.text, term.kind, term.state, term.origin, f"{term.score:.3f}", term.evidence)))
    return table


def seed_table(seeds: list[TopicSeed]) -> Table:
    """One row a seed."""
    table = Table("seed", "state", "from", "score", "evidence")
    for seed in sorted(seeds, key=lambda seed: (list(TopicState).index(seed.state), -seed.score)):
        table.add_row(*map(plain, (seed.url, seed.state, seed.origin, f"{seed.score:.3f}", seed.evidence)))
    return table


def plain(text: str) -> str:
    """A cell with nothing in it read as markup."""
    return text.replace("[", "\\[")
