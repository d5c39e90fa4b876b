"""The `plumb topic` commands: define topics of focused crawls and review their candidates."""

import re
from collections.abc import Iterator
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from rich.markup import escape
from rich.table import Table

from domain.errors import PlumblineError
from domain.topic import Topic, TopicSeed, TopicState, TopicTerm, TopicTermClass
from focused.topic.term_decisions import add_topic_terms, decide_terms
from focused.topic.topic_file_store import TopicFileStore, topic_to_json
from pipeline.cli.config_argument import VerticalGroup
from pipeline.cli.console import json_option, print_line, print_lines, print_lines_or_json, print_table_or_json
from pipeline.cli.session import load_call_settings, open_engine, with_engine
from pipeline.topic.needs import topic_needs

if TYPE_CHECKING:
    from pipeline.engine import Engine

TERM_CLASS_CHOICE = click.Choice([kind.value for kind in TopicTermClass])
STATE_CHOICE = click.Choice([state.value for state in TopicState])
POSITIVE_INT = click.IntRange(1, 1000)


@click.group(cls=VerticalGroup)
def topic() -> None:
    """Define topics for focused crawls: terms, example pages, seed URLs.

    See docs/review/topics.md.
    """


@topic.command("init")
@click.argument("name")
@click.argument("example_urls", nargs=-1, metavar="[URL]...")
@click.option("--terms", default="", help="Terms of the topic, separated by commas; accepted at once.")
@click.option("--examples", multiple=True, metavar="URL", help="URL of an on-topic example page; may be repeated.")
@click.option("--words", default="", help="Words that describe the topic, separated by commas [its name].")
@click.option(
    "--tree", type=click.Path(path_type=Path), help="File with a term hierarchy, one term per line, indented."
)
@click.option(
    "--search",
    "search_template",
    default="",
    help="URL of a search site, with {query} in place of the query [own index].",
)
@click.option(
    "--results", "max_results", default=10, show_default=True, type=POSITIVE_INT, help="Results to read per search."
)
@click.option(
    "--top", "max_terms", default=10, show_default=True, type=POSITIVE_INT, help="Candidates suggested for each term."
)
@click.option("--automatic", is_flag=True, help="Accept terms found while crawling without review.")
@click.pass_context
def create_topic(
    context: click.Context,
    /,
    name: str,
    example_urls: tuple[str, ...],
    terms: str,
    examples: tuple[str, ...],
    words: str,
    tree: Path | None,
    automatic: bool,
    **options: Any,
) -> None:
    """Define a topic and suggest more terms and seed URLs for review."""
    definition: dict[str, Any] = {
        "terms": split_commas(terms),
        "words": split_commas(words),
        "examples": (*(url for group in examples for url in split_commas(group)), *example_urls),
        "tree": read_tree_lines(tree) if tree else (),
    }
    if not definition["terms"] and not definition["examples"]:
        raise click.UsageError("give --terms or --examples, or both")
    with open_engine(load_call_settings(context)) as engine:
        # Imported late because it loads the extractor.
        from pipeline.topic.service import TopicDefinition, create_topic

        new_topic = create_topic(engine, TopicDefinition(name=name, automatic=automatic, **definition, **options))
    print_lines(format_topic(new_topic))
    print_lines(format_next_steps(new_topic))


@topic.command("list")
@json_option
@click.pass_context
def list_topics(context: click.Context, as_json: bool) -> None:
    """List topics and the number of candidates to review."""
    settings = load_call_settings(context)
    files = TopicFileStore(settings.data_dir)
    topics = [
        {"name": name, "is_crawled": name == settings.crawl.topic, "counts": format_state_counts(files.read(name))}
        for name in files.names()
    ]
    print_lines_or_json(topics, format_topics, as_json)


def format_topics(topics: list[dict[str, Any]]) -> Iterator[str]:
    """Format topics, one line each; * marks the topic of `crawl.topic`."""
    for topic_row in topics:
        yield f"{'*' if topic_row['is_crawled'] else ' '} {topic_row['name']}: {topic_row['counts']}"


@topic.command("show")
@click.argument("name")
@json_option
@click.pass_context
def show_topic(context: click.Context, name: str, as_json: bool) -> None:
    """Show a topic: terms, examples, seed URLs, saved pages, and what its strategy lacks."""
    topic = open_topic_files(context).read(name)
    with open_engine(load_call_settings(context)) as engine:
        review = review_state(engine, name)
        needs = topic_needs(engine.settings, topic, engine.store.articles.count())
    messages = [str(message) for message in needs.messages()]
    strategy = {"configured": needs.strategy, "used": needs.effective_strategy, "missing": messages}
    print_lines_or_json(
        topic_to_json(topic) | {"strategy": strategy, "kept": review},
        lambda _: [
            *format_topic(topic),
            f"strategy {needs.effective_strategy}",
            *messages,
            *format_review_state(review),
        ],
        as_json,
    )


@topic.command("terms")
@click.argument("name")
@click.option("--state", type=STATE_CHOICE, help="Only terms in this state.")
@click.option("--class", "term_class", type=TERM_CLASS_CHOICE, help="Only terms of this class.")
@json_option
@click.pass_context
def list_terms(context: click.Context, name: str, state: str | None, term_class: str | None, as_json: bool) -> None:
    """List terms with their evidence, candidates first."""
    topic = open_topic_files(context).read(name)
    selected = [term for term in topic.terms if state in (None, term.state) and term_class in (None, term.term_class)]
    print_table_or_json(
        [
            {"kind" if name == "term_class" else name: value for name, value in asdict(term).items()}
            for term in sort_by_state(selected)
        ],
        lambda: term_table(selected),
        as_json,
    )


@topic.command("seeds")
@click.argument("name")
@click.option("--state", type=STATE_CHOICE, help="Only seed URLs in this state.")
@json_option
@click.pass_context
def list_seeds(context: click.Context, name: str, state: str | None, as_json: bool) -> None:
    """List seed URLs with their evidence; pass them to `confirm` or `refuse`."""
    topic = open_topic_files(context).read(name)
    selected = [seed for seed in topic.seeds if state in (None, seed.state)]
    print_table_or_json(selected, lambda: seed_table(selected), as_json)


@topic.command("add")
@click.argument("name")
@click.argument("terms", nargs=-1, required=True)
@click.option(
    "--class",
    "term_class",
    type=TERM_CLASS_CHOICE,
    default=TopicTermClass.PROFESSIONAL.value,
    show_default=True,
    help="Class of the terms.",
)
@click.pass_context
def add_confirmed_terms(context: click.Context, name: str, terms: tuple[str, ...], term_class: str) -> None:
    """Add and accept your own terms; they take effect with the next crawl."""
    print_line(format_state_counts(add_topic_terms(open_topic_files(context), name, terms, TopicTermClass(term_class))))


@topic.command("confirm")
@click.argument("name")
@click.argument("terms_or_urls", metavar="[ITEMS]...", nargs=-1)
@click.option("--class", "term_class", type=TERM_CLASS_CHOICE, help="Set the class of the terms.")
@click.option("--top", type=POSITIVE_INT, help="Also accept this many of the best candidates.")
@click.pass_context
def confirm(
    context: click.Context, name: str, terms_or_urls: tuple[str, ...], term_class: str | None, top: int | None
) -> None:
    """Accept terms or seed URLs; they take effect with the next crawl."""
    save_decision(
        context, name, terms_or_urls, TopicState.CONFIRMED, TopicTermClass(term_class) if term_class else None, top or 0
    )


@topic.command("refuse")
@click.argument("name")
@click.argument("terms_or_urls", metavar="ITEMS...", nargs=-1, required=True)
@click.pass_context
def refuse(context: click.Context, name: str, terms_or_urls: tuple[str, ...]) -> None:
    """Reject terms or seed URLs; they are not suggested again."""
    save_decision(context, name, terms_or_urls, TopicState.REFUSED, None, 0)


@topic.command("propose")
@click.argument("name")
@click.option(
    "--search", "template", default="", help="URL of a search site, with {query} in place of the query [own index]."
)
@click.option("--results", default=10, show_default=True, type=POSITIVE_INT, help="Results to read per search.")
@click.option("--top", default=10, show_default=True, type=POSITIVE_INT, help="Candidates suggested for each term.")
@with_engine
def propose(engine: "Engine", name: str, template: str, results: int, top: int) -> None:
    """Suggest more terms and seed URLs, based on the accepted terms."""
    from pipeline.topic.service import propose_more  # imported late because it loads the extractor

    topic, new_count = propose_more(engine, name, template, results, top)
    print_lines([f"{new_count} new candidates", format_state_counts(topic)])


@topic.command("judge")
@click.argument("name")
@click.option("--yes", "yes_urls", multiple=True, metavar="URL", help="URL of an on-topic page; may be repeated.")
@click.option("--no", "no_urls", multiple=True, metavar="URL", help="URL of an off-topic page; may be repeated.")
@json_option
@click.pass_context
def review_pages(
    context: click.Context, name: str, yes_urls: tuple[str, ...], no_urls: tuple[str, ...], as_json: bool
) -> None:
    """Label pages as on or off topic; without --yes and --no, list the most useful pages to label."""
    open_topic_files(context).read(name)
    answers = dict.fromkeys(yes_urls, True) | dict.fromkeys(no_urls, False)
    if len(answers) < len(yes_urls) + len(no_urls):
        raise click.UsageError("a URL is given twice: use each URL once, with --yes or with --no")
    with open_engine(load_call_settings(context)) as engine:
        if answers:
            from pipeline.topic.retention import apply_answers, save_answers

            save_answers(engine, name, answers, "operator")
            apply_answers(engine, name)
        print_lines_or_json(review_state(engine, name), format_review_state, as_json)


def review_state(engine: "Engine", name: str) -> dict[str, Any]:
    """Return the expected coverage of a topic and the pages to label, as JSON values."""
    from pipeline.topic.coverage import coverage_to_json, estimate_coverage

    coverage = estimate_coverage(engine, name)
    questions = engine.store.topic_questions
    return {
        "topic": name,
        "wanted_precision": engine.settings.topic.precision,
        "expected": coverage_to_json(coverage) if coverage else None,
        "answers": len(questions.answers(name)),
        "questions": [asdict(question) for question in questions.pending(name)],
    }


def format_review_state(state: dict[str, Any]) -> Iterator[str]:
    """Format the result of `review_state` as lines."""
    from pipeline.topic.coverage import format_coverage

    expected, target_precision = state["expected"], state["wanted_precision"]
    if expected is None:
        yield f"no pages fetched for {state['topic']} yet; target: {target_precision:.0%} of the kept pages on topic"
    else:
        yield f"{format_coverage(expected, target_precision)}; {state['answers']} answers so far"
    for question in state["questions"]:
        yield f"  {question['score']:.2f} {question['url']} {question['title']}"
    if state["questions"]:
        yield f"on topic? plumb topic judge {state['topic']} --yes URL --no URL, or /admin/topics"


@topic.command("automatic")
@click.argument("name")
@click.argument("choice", type=click.Choice(["on", "off"]))
@click.pass_context
def set_automatic(context: click.Context, name: str, choice: str) -> None:
    """Turn automatic acceptance of terms found while crawling on or off."""
    files = open_topic_files(context)
    files.update(name, lambda topic: replace(topic, counts_unconfirmed_terms=choice == "on"))
    print_line(f"automatic acceptance of terms for {name} is {choice}")


def save_decision(
    context: click.Context,
    name: str,
    terms_or_urls: tuple[str, ...],
    state: TopicState,
    term_class: TopicTermClass | None,
    top: int,
) -> None:
    """Save a decision on terms or seeds and the `top` best candidates; print the new counts."""
    files = open_topic_files(context)
    best = [term.text for term in sort_by_state(files.read(name).terms) if term.state is TopicState.PROPOSED][:top]
    selected = (*terms_or_urls, *best)
    if not selected:
        raise click.UsageError("give terms or URLs, or --top N")
    print_line(format_state_counts(decide_terms(files, name, selected, state, term_class)))


def open_topic_files(context: click.Context) -> TopicFileStore:
    """Return the topics in the data folder of this call. Needs no store."""
    return TopicFileStore(load_call_settings(context).data_dir)


def split_commas(text: str) -> tuple[str, ...]:
    """Split text at commas (ASCII, full-width or enumeration comma) and drop empty parts."""
    return tuple(part.strip() for part in re.split("[,，、]", text) if part.strip())


def read_tree_lines(path: Path) -> tuple[str, ...]:
    """Read the non-empty lines of a term tree. Raises PlumblineError if the file cannot be read."""
    try:
        return tuple(line.rstrip() for line in path.read_text(encoding="utf-8-sig").splitlines() if line.strip())
    except (OSError, UnicodeDecodeError) as error:
        raise PlumblineError(f"cannot read {path}: {error}") from error


def format_state_counts(topic: Topic) -> str:
    """Format the number of terms and seeds by state, and of examples."""
    terms = [term.state for term in topic.terms]
    seeds = [seed.state for seed in topic.seeds]
    parts = [f"{terms.count(state)} terms {state}" for state in TopicState if state in terms]
    parts += [f"{seeds.count(state)} seeds {state}" for state in TopicState if state in seeds]
    return ", ".join([*parts, f"{len(topic.examples)} examples"])


def format_topic(topic: Topic) -> list[str]:
    """Format a topic as lines: counts, accepted terms by class, examples, tree."""
    lines = [f"topic {topic.name}: {format_state_counts(topic)}"]
    lines += [f"  {kind}: {' '.join(topic.confirmed_terms(kind)) or 'none'}" for kind in TopicTermClass]
    lines += [f"  example {page.url} {page.title}" for page in topic.examples]
    lines += [f"  tree of {len(topic.term_tree)} lines"] if topic.term_tree else []
    return (
        [*lines, "  automatic: terms found while crawling are accepted without review"]
        if topic.counts_unconfirmed_terms
        else lines
    )


def format_next_steps(topic: Topic) -> list[str]:
    """Return the next steps after a topic is created, as lines."""
    name = topic.name if topic.name.isidentifier() else f"'{topic.name}'"
    review_step = (
        [f"review the candidates: plumb topic terms {name}, or /admin/topics on the search site"]
        if topic.pending_count()
        else []
    )
    return [*review_step, f"crawl for the topic: plumb crawl --topic {name}, or crawl.topic in the settings"]


def sort_by_state(terms: tuple[TopicTerm, ...] | list[TopicTerm]) -> list[TopicTerm]:
    """Sort terms by state (candidates first), then by descending score."""
    order = list(TopicState)
    return sorted(terms, key=lambda term: (order.index(term.state), -term.score))


def term_table(terms: list[TopicTerm]) -> Table:
    """Build the table of terms."""
    table = Table("term", "class", "state", "origin", "score", "evidence")
    for term in sort_by_state(terms):
        table.add_row(
            *map(escape, (term.text, term.term_class, term.state, term.origin, f"{term.score:.3f}", term.evidence))
        )
    return table


def seed_table(seeds: list[TopicSeed]) -> Table:
    """Build the table of seed URLs."""
    table = Table("seed URL", "state", "origin", "score", "evidence")
    for seed in sorted(seeds, key=lambda seed: (list(TopicState).index(seed.state), -seed.score)):
        table.add_row(*map(escape, (seed.url, seed.state, seed.origin, f"{seed.score:.3f}", seed.evidence)))
    return table
