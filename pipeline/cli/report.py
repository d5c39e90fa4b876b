"""What the command line shows: reports, status, one document's path. Plain data in, lines and tables out."""

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from rich.table import Table

from crawler.schedule.forecast import Paces, foretold, longest
from crawler.urls.canonical import canonical
from docstore.accounts import Account, Role
from docstore.errors import PlumblineError
from docstore.model import Lexicon, Reason, StageReport, Term
from docstore.reports.runs import RunState
from pipeline.engine import Engine
from pipeline.explain.copy_verdicts import copy_verdicts
from pipeline.explain.url_explanation import TopicRows, UrlExplanation, local_time
from pipeline.refresh import Trace
from pipeline.run_states import nights
from search_ui.actions import RunSummary
from search_ui.pages.compare import Side
from search_ui.query.results import plain

RUNS_SHOWN = 5
SLOW_HOSTS = 10


def report_lines(reports: Iterable[StageReport]) -> Iterator[str]:
    """One line a stage, and its notes below."""
    for report in reports:
        counts = ", ".join(f"{reason} {count}" for reason, count in by_count(report.counts))
        first, *rest = [counts] * bool(counts) + list(report.notes) or ["nothing to do"]
        yield f"{report.stage:<8} {report.seconds:7.1f} s  {first}"
        yield from (f"{'':<8} {'':7}    {note}" for note in rest)


def by_count(counts: Mapping[Reason, int]) -> list[tuple[Reason, int]]:
    """Reasons that occurred, most frequent first."""
    return sorted(((r, n) for r, n in counts.items() if n), key=lambda pair: (-pair[1], pair[0]))


def status(engine: Engine) -> dict[str, Any]:
    """Counts of the whole store, what the crawl has still to do, and how the runs are, as JSON can hold them."""
    store = engine.store
    found = nights(engine, RUNS_SHOWN)
    return {
        "crawl": to_crawl(engine),
        "urls": store.frontier.count(),
        "due": store.status.due_count(time.time()),
        "to_extract": store.articles.pending_count(),
        "articles": store.articles.count(),
        "to_index": store.changes.count(),
        "indexed": store.changes.indexed_count(),
        "outcomes": {
            stage.value: {reason.value: count for reason, count in by_count(counts)}
            for stage, counts in store.status.outcome_counts().items()
        },
        "terms": {kind.value: count for kind, count in store.lexicon.counts().items()},
        "lexicon": {"published": store.lexicon.latest_version(), "in_index": store.lexicon.applied_version()},
        "last_good_run": time_or_none(found.last_good),
        "failed_since": time_or_none(found.failed_since),
        "next_run": time_or_none(found.next_run),
        "runs": [run_row(run) for run in found.runs],
    }


def time_or_none(seconds: float | None) -> str | None:
    """Epoch seconds in local time."""
    return None if seconds is None else local_time(seconds)


def run_row(run: RunSummary) -> dict[str, Any]:
    """A run as JSON can hold it."""
    stages = [{"stage": one.stage, "counts": dict(one.counts), "seconds": one.seconds} for one in run.stages]
    row = {"started": local_time(run.started_at), "finished": time_or_none(run.finished_at), "state": run.state.value}
    return row | {"stage": run.stage, "error": run.error, "stages": stages}


def to_crawl(engine: Engine) -> dict[str, Any]:
    """What the next runs of the crawl have to do, in all and by host, those that take longest first."""
    settings, store = engine.settings, engine.store
    paces = Paces.of(settings.data_dir)
    hosts = [foretold(one, paces, settings.crawl) for one in store.status.backlog(time.time())]
    hosts.sort(key=lambda one: (one.runs_for_all is not None, -(one.runs_for_all or 0), -one.new - one.due))
    return {
        **{name: sum(getattr(one, name) for one in hosts) for name in ("known", "new", "lists", "due")},
        "runs_for_new": longest(one.runs_for_new for one in hosts),
        "runs_for_all": longest(one.runs_for_all for one in hosts),
        "minutes_a_run": settings.crawl.minutes,
        "hosts": [asdict(one) for one in hosts],
    }


def crawl_lines(crawl: Mapping[str, Any]) -> Iterator[str]:
    """`to_crawl` for a person: the whole, and hosts that take more than one run."""
    waits = f"{crawl['new']} new, {crawl['due']} due again, {crawl['lists']} lists and seeds of each run"
    yield f"crawl     {crawl['known']} URLs known; {waits}: {runs_text(crawl)}"
    slow = [one for one in crawl["hosts"] if one["runs_for_all"] is None or one["runs_for_all"] > 1]
    for one in slow[:SLOW_HOSTS]:
        waits = f"{one['new']} new, {one['due']} due, {one['lists']} lists"
        yield f"  {one['host']}: {waits}, {one['pages_a_run']} pages a run: {runs_text(one)}"
    if len(slow) > SLOW_HOSTS:
        yield f"  and {len(slow) - SLOW_HOSTS} hosts more that take more than one run"


def runs_text(one: Mapping[str, Any]) -> str:
    """About how many runs (nights, where it is run nightly) something takes."""
    new, every = one["runs_for_new"], one["runs_for_all"]
    if new is None:
        return "never done: the lists alone take a whole run; give crawl.minutes more, or crawl.hub_gap"
    if every == 0:
        return "nothing waits"
    first = f"about {new} more night{'s' * (new != 1)} for the new ones" if new else "no new ones wait"
    return first if every in (new, None) else f"{first}, {every} for all"


# Behind a count: what an operator can do about it.
HINTS: dict[str, str] = {
    Reason.NEEDS_SCRIPTS: "  (name their sites in crawl.rendered: a browser shows such pages before they are read)",
    Reason.SUSPECT_BODY: "  (kept, but much of the page was left out: plumb explain URL says what)",
}


def status_lines(answer: Mapping[str, Any]) -> Iterator[str]:
    """`status` for a person."""
    yield from crawl_lines(answer["crawl"])
    yield f"articles  {answer['articles']}, pages to extract {answer['to_extract']}"
    yield f"index     {answer['indexed']} documents, behind by {answer['to_index']}"
    yield f"lexicon   version {answer['lexicon']['published']} published, {answer['lexicon']['in_index']} in the index"
    yield "terms     " + ", ".join(f"{kind} {count}" for kind, count in answer["terms"].items())
    for stage, counts in answer["outcomes"].items():
        yield f"{stage}:"
        yield from (f"  {count:>8}  {reason}{HINTS.get(reason, '')}" for reason, count in counts.items())
    if answer["failed_since"]:
        yield f"runs have not succeeded since {answer['failed_since'][:19]}"
    yield f"last good run {(answer['last_good_run'] or 'never')[:19]}"
    yield f"next run      {answer['next_run'][:19] if answer['next_run'] else 'none: plumb schedule is not running'}"
    yield from (f"run of {run['started'][:19]}: {run_line(run)}" for run in answer["runs"])


def run_line(run: Mapping[str, Any]) -> str:
    """How a run is, in one line."""
    seconds = sum(stage["seconds"] for stage in run["stages"])
    if run["state"] == RunState.DONE:
        return f"done, {seconds:.1f} s in stages"
    where = f" in {run['stage']}" if run["stage"] else ""
    why = f": {run['error']}" if run["error"] else ""
    return f"{run['state']}{where} after {seconds:.1f} s{why}" if run["finished"] else f"{run['state']}{where}"


def explain(engine: Engine, url: str) -> UrlExplanation:
    """Everything known of a URL: what the store holds, and Solr's document where there is one.

    Raises PlumblineError for a URL that cannot be one, or was never seen.
    """
    known_by = canonical(url)
    if isinstance(known_by, Reason):
        raise PlumblineError(f"{url!r} is not a URL: {known_by}")
    told, topic = engine.store.status.explain(known_by), topic_rows(engine, known_by)
    if told is None and not topic:
        raise PlumblineError(f"{known_by} was never seen: it was not linked from a crawled page, or is out of scope")
    if told is None:
        return UrlExplanation(None, topic)
    document = engine.index.get(told.article.doc_id) if told.indexed and told.article else None
    return UrlExplanation(told, topic, document, copy_verdicts(engine.store.articles, told))


def topic_rows(engine: Engine, url: str) -> TopicRows:
    """What a crawl that looks for a topic thinks of a URL; nothing where none ever did."""
    if not engine.settings.crawl.topic and not engine.store.judgements.count():
        return {}
    from pipeline.topic.explain import explain_topic  # loads scikit-learn

    return explain_topic(engine, url)


def trace_lines(trace: Trace) -> Iterator[str]:
    """When each stage was done with a page."""
    yield trace.url
    start = trace.times[0][1]
    for name, moment in trace.times:
        yield f"  {name:<11} {local_time(moment)}  +{moment - start:6.3f} s"
    yield f"  outcomes: {', '.join(trace.outcomes)}"


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


def account_rows(accounts: Sequence[Account]) -> list[dict[str, Any]]:
    """Accounts as JSON can hold them."""
    return [
        {
            "name": one.name,
            "roles": [role.value for role in Role if role in one.roles],
            "created": local_time(one.created_at),
            "disabled": time_or_none(one.disabled_at),
        }
        for one in accounts
    ]


def account_table(accounts: Sequence[Account]) -> Table:
    """Accounts, by name."""
    table = Table("account", "roles", "made", "")
    for one in accounts:
        roles = ", ".join(role for role in Role if role in one.roles)
        table.add_row(one.name, roles, local_time(one.created_at), "disabled" if one.disabled_at else "")
    return table


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


def comparison(sides: Sequence[Side]) -> list[dict[str, Any]]:
    """The comparison search as JSON can hold it."""
    return [
        {
            "lexicon": side.name,
            "words": list(side.words),
            "found": side.total,
            "first_whole_rank": side.measures.first_rank,
            "mrr": side.measures.reciprocal_rank,
            "p_at_10": side.measures.precision_at_10,
            "hits": [{"title": plain(hit.title), "url": hit.link, "whole": hit.is_whole} for hit in side.hits],
        }
        for side in sides
    ]


def comparison_table(sides: Sequence[Side], term: str) -> Table:
    """The comparison search side by side; a mark says that the document holds the whole term."""
    table = Table(title=f"{term}: ● holds the whole term", title_justify="left", show_lines=False)
    table.add_column("", justify="right")
    for side in sides:
        table.add_column(f"{side.name} lexicon: {' / '.join(side.words)}", ratio=1)
    for rank in range(max((len(side.hits) for side in sides), default=0)):
        table.add_row(str(rank + 1), *(hit_cell(side, rank) for side in sides))
    table.add_section()
    table.add_row("first", *(str(side.measures.first_rank or "none") for side in sides))
    table.add_row("MRR", *(f"{side.measures.reciprocal_rank:.3f}" for side in sides))
    table.add_row("P@10", *(f"{side.measures.precision_at_10:.2f}" for side in sides))
    return table


def hit_cell(side: Side, rank: int) -> str:
    """One result in a column."""
    if rank >= len(side.hits):
        return ""
    hit = side.hits[rank]
    return ("● " if hit.is_whole else "  ") + plain(hit.title).replace("[", "\\[")
