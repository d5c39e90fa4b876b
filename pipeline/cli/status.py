"""`plumb status`: what the store holds, what waits, and how the runs are. Opens no Solr and loads no stage."""

import time
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from docstore.errors import EmbedError
from docstore.formats import HTML
from docstore.model import Reason
from pipeline.cli.console import say_or_json
from pipeline.cli.grammar import Verb
from pipeline.cli.shared import by_count, opened, settings_of, time_or_none
from pipeline.local_time import local_time

if TYPE_CHECKING:
    from pipeline.engine import Engine
    from search_ui.actions import RunSummary

RUNS_SHOWN = 5
SLOW_HOSTS = 10
# Behind a count: what an operator can do about it.
HINTS: dict[str, str] = {
    Reason.NEEDS_SCRIPTS: "  (add their sites to crawl.rendered to load such pages in a browser)",
    Reason.SUSPECT_BODY: "  (article saved but possibly incomplete: see plumb explain URL)",
}


@click.command("status", cls=Verb)
@click.pass_context
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
def status_command(context: click.Context, as_json: bool) -> None:
    """Show counts by stage and reason, documents pending indexing, and recent runs."""
    with opened(settings_of(context)) as engine:
        say_or_json(status(engine), status_lines, as_json)


def status(engine: "Engine") -> dict[str, Any]:
    """Counts of the whole store, what the crawl has still to do, and how the runs are, as JSON can hold them."""
    from pipeline.runs.run_states import nights

    store = engine.store
    found = nights(engine, RUNS_SHOWN)
    return {
        "crawl": to_crawl(engine),
        "urls": store.frontier.count(),
        "due": store.status.due_count(time.time()),
        "to_extract": store.articles.pending_count(),
        "articles": store.articles.count(),
        "formats": store.status.format_counts(),
        "to_embed": to_embed(engine),
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


def to_embed(engine: "Engine") -> int:
    """How many articles wait for a vector; 0 where meaning is switched off or cannot be used."""
    try:
        return engine.to_embed()
    except EmbedError:
        return 0


def run_row(run: "RunSummary") -> dict[str, Any]:
    """A run as JSON can hold it."""
    stages = [{"stage": one.stage, "counts": dict(one.counts), "seconds": one.seconds} for one in run.stages]
    row = {"started": local_time(run.started_at), "finished": time_or_none(run.finished_at), "state": run.state.value}
    return row | {"stage": run.stage, "error": run.error, "stages": stages}


def to_crawl(engine: "Engine") -> dict[str, Any]:
    """What the next runs of the crawl have to do, in all and by host, those that take longest first."""
    from crawler.schedule.forecast import Paces, foretold, longest

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
        yield f"  and {len(slow) - SLOW_HOSTS} more hosts that need more than one run"


def runs_text(one: Mapping[str, Any]) -> str:
    """About how many runs (nights, where it is run nightly) something takes."""
    new, every = one["runs_for_new"], one["runs_for_all"]
    if new is None:
        return "cannot catch up: list pages alone fill a run; raise crawl.minutes or crawl.hub_gap"
    if every == 0:
        return "no backlog"
    first = f"about {new} more night{'s' * (new != 1)} for the new ones" if new else "no new ones wait"
    return first if every in (new, None) else f"{first}, {every} for all"


def status_lines(answer: Mapping[str, Any]) -> Iterator[str]:
    """`status` for a person."""
    yield from crawl_lines(answer["crawl"])
    yield f"articles  {answer['articles']}, pages to extract {answer['to_extract']}"
    if answer["formats"].keys() - {HTML}:
        yield "formats   " + ", ".join(f"{name} {count}" for name, count in answer["formats"].items())
    if answer["to_embed"]:
        yield f"meaning   {answer['to_embed']} articles wait for a vector (plumb embed)"
    yield f"index     {answer['indexed']} documents, behind by {answer['to_index']}"
    yield f"lexicon   version {answer['lexicon']['published']} published, {answer['lexicon']['in_index']} in the index"
    yield "terms     " + ", ".join(f"{kind} {count}" for kind, count in answer["terms"].items())
    for stage, counts in answer["outcomes"].items():
        yield f"{stage}:"
        yield from (f"  {count:>8}  {reason}{HINTS.get(reason, '')}" for reason, count in counts.items())
    if answer["failed_since"]:
        yield f"runs have not succeeded since {answer['failed_since'][:19]}"
    yield f"last good run {(answer['last_good_run'] or 'never')[:19]}"
    yield f"next run      {answer['next_run'][:19] if answer['next_run'] else 'not scheduled (plumb schedule is not running)'}"
    yield from (f"run of {run['started'][:19]}: {run_line(run)}" for run in answer["runs"])


def run_line(run: Mapping[str, Any]) -> str:
    """How a run is, in one line."""
    from docstore.reports.runs import RunState

    seconds = sum(stage["seconds"] for stage in run["stages"])
    if run["state"] == RunState.DONE:
        return f"done, {seconds:.1f} s in stages"
    where = f" in {run['stage']}" if run["stage"] else ""
    why = f": {run['error']}" if run["error"] else ""
    return f"{run['state']}{where} after {seconds:.1f} s{why}" if run["finished"] else f"{run['state']}{where}"
