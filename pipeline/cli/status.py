"""`plumb status`: counts of the store, backlogs and recent runs. Does not open Solr or import a stage."""

import time
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import click

from domain.file_formats import HTML_FORMAT
from domain.outcome import Reason
from pipeline.cli.config_argument import VerticalCommand
from pipeline.cli.console import json_option, print_lines_or_json
from pipeline.cli.session import format_time_or_none, sort_by_count, with_engine
from pipeline.local_time import local_time

if TYPE_CHECKING:
    from domain.run import RunSummary
    from pipeline.engine import Engine

MAX_RUNS_SHOWN = 5
MAX_SLOW_HOSTS_SHOWN = 10
# Hints for an administrator, printed after the count of a reason.
REASON_HINTS: dict[str, str] = {
    Reason.NEEDS_JAVASCRIPT: "  (to load them in a browser, set render of their sites, or crawl.rendered to auto)",
    Reason.INCOMPLETE_BODY: "  (article saved but possibly incomplete: see plumb explain URL)",
}


@click.command("status", cls=VerticalCommand)
@with_engine
@json_option
def show_status(engine: "Engine", as_json: bool) -> None:
    """Show counts by stage and reason, documents pending indexing, and recent runs."""
    print_lines_or_json(collect_status(engine), format_status, as_json)


def collect_status(engine: "Engine") -> dict[str, Any]:
    """Collect the counts of the store, the crawl backlog and the recent runs as JSON values."""
    from pipeline.embedding.backlog import count_pending_passages, load_embedding_backlog
    from pipeline.runs.run_history import load_run_history

    store, backlog = engine.store, load_embedding_backlog(engine)
    history = load_run_history(engine, MAX_RUNS_SHOWN)
    return {
        "crawl": crawl_backlog(engine),
        "urls": store.frontier.url_count(),
        "due": store.status.due_count(time.time()),
        "to_extract": store.articles.pending_count(),
        "articles": store.articles.count(),
        "formats": store.status.format_counts(),
        "to_ocr": store.recognized_pages.pending_count(),
        "to_embed": backlog.article_count,
        "to_embed_seconds": backlog.seconds,
        "to_embed_passages": count_pending_passages(engine),
        "languages_without_model": dict(backlog.uncovered_articles),
        "to_index": store.change_log.pending_document_count(),
        "indexed": store.change_log.indexed_document_count(),
        "outcomes": {
            stage.value: {reason.value: count for reason, count in sort_by_count(counts)}
            for stage, counts in store.status.outcome_counts().items()
        },
        "terms": {kind.value: count for kind, count in store.lexicons.status_counts().items()},
        "lexicon": {"published": store.lexicons.latest_version(), "in_index": store.lexicons.applied_version()},
        "last_good_run": format_time_or_none(history.last_success_at),
        "failed_since": format_time_or_none(history.failing_since),
        "next_run": format_time_or_none(history.next_run_at),
        "runs": [run_json(run) for run in history.runs],
    }


def run_json(run: "RunSummary") -> dict[str, Any]:
    """Convert a run to a JSON object."""
    stages = [
        {"stage": stage.stage, "counts": dict(stage.reason_counts), "seconds": stage.seconds} for stage in run.stages
    ]
    row = {
        "started": local_time(run.started_at),
        "finished": format_time_or_none(run.finished_at),
        "state": run.state.value,
    }
    return row | {"stage": run.last_stage, "error": run.error, "requested": run.requested_count, "stages": stages}


def crawl_backlog(engine: "Engine") -> dict[str, Any]:
    """Forecast the backlog of the crawl as JSON values: totals and hosts, those that need the most runs first."""
    from crawler.schedule.forecast import HostPaces, forecast_host, max_runs

    settings, store = engine.settings, engine.store
    host_paces = HostPaces.load_all(settings.data_dir)
    hosts = [forecast_host(host, host_paces, settings.crawl) for host in store.status.backlog_by_host(time.time())]
    hosts.sort(
        key=lambda host: (host.runs_for_all is not None, -(host.runs_for_all or 0), -host.new_urls - host.due_urls)
    )
    return {
        "known": sum(host.known_urls for host in hosts),
        "new": sum(host.new_urls for host in hosts),
        "lists": sum(host.list_pages for host in hosts),
        "due": sum(host.due_urls for host in hosts),
        "runs_for_new": max_runs(host.runs_for_new for host in hosts),
        "runs_for_all": max_runs(host.runs_for_all for host in hosts),
        "minutes_a_run": settings.crawl.minutes,
        "hosts": [
            {
                "host": host.host,
                "known": host.known_urls,
                "new": host.new_urls,
                "lists": host.list_pages,
                "due": host.due_urls,
                "pages_a_run": host.pages_per_run,
                "runs_for_new": host.runs_for_new,
                "runs_for_all": host.runs_for_all,
            }
            for host in hosts
        ],
    }


def format_crawl_backlog(backlog: Mapping[str, Any]) -> Iterator[str]:
    """Format the result of `crawl_backlog`: one line of totals, then the hosts that need more than one run."""
    backlog_text = (
        f"{backlog['new']} new, {backlog['due']} due for a revisit, {backlog['lists']} seed and list pages due"
    )
    yield f"crawl     {backlog['known']} URLs known; {backlog_text}: {format_remaining_runs(backlog)}"
    slow_hosts = [host for host in backlog["hosts"] if host["runs_for_all"] is None or host["runs_for_all"] > 1]
    for host in slow_hosts[:MAX_SLOW_HOSTS_SHOWN]:
        backlog_text = f"{host['new']} new, {host['due']} due, {host['lists']} list pages"
        yield f"  {host['host']}: {backlog_text}, {host['pages_a_run']} pages per run: {format_remaining_runs(host)}"
    if len(slow_hosts) > MAX_SLOW_HOSTS_SHOWN:
        yield f"  and {len(slow_hosts) - MAX_SLOW_HOSTS_SHOWN} more hosts that need more than one run"


def format_remaining_runs(backlog: Mapping[str, Any]) -> str:
    """Format the estimated number of runs that a backlog needs."""
    new_runs, all_runs = backlog["runs_for_new"], backlog["runs_for_all"]
    if new_runs is None:
        return "cannot catch up: list pages alone fill a run; raise crawl.minutes or crawl.hub_gap"
    if all_runs == 0:
        return "no backlog"
    if not new_runs and all_runs is not None:
        return f"about {all_runs} more run{'s' * (all_runs != 1)}"
    new_text = f"about {new_runs} more run{'s' * (new_runs != 1)} for new URLs" if new_runs else "no new URLs"
    return new_text if all_runs in (new_runs, None) else f"{new_text}, {all_runs} for all"


def format_status(status: Mapping[str, Any]) -> Iterator[str]:
    """Format the result of `collect_status` as lines."""
    yield from format_crawl_backlog(status["crawl"])
    yield f"articles  {status['articles']}, pages to extract {status['to_extract']}"
    if status["formats"].keys() - {HTML_FORMAT}:
        yield "formats   " + ", ".join(f"{name} {count}" for name, count in status["formats"].items())
    if status["to_ocr"]:
        from pipeline.ocr.stage import INSTALL_HINT, is_ocr_installed

        hint = "plumb ocr" if is_ocr_installed() else f"{INSTALL_HINT}, then plumb ocr"
        yield f"ocr       documents with scanned or garbled pages to read: {status['to_ocr']} ({hint})"
    if status["to_embed"]:
        seconds = status["to_embed_seconds"]
        estimate = "" if seconds is None else f", about {max(1, round(seconds / 60))} min"
        yield f"vectors   articles to embed: {status['to_embed']}{estimate} (plumb embed)"
    if status["to_embed_passages"]:
        yield f"passages  articles with passages to embed: {status['to_embed_passages']} (plumb embed)"
    if counts := status["languages_without_model"]:
        languages = ", ".join(f"{language or 'unknown'} {count}" for language, count in counts.items())
        yield f"no model  keyword search only, articles by language: {languages}"
    yield f"index     {status['indexed']} documents, {status['to_index']} pending"
    yield f"lexicon   version {status['lexicon']['published']} published, {status['lexicon']['in_index']} in the index"
    yield "terms     " + ", ".join(f"{kind} {count}" for kind, count in status["terms"].items())
    for stage, counts in status["outcomes"].items():
        yield f"{stage}:"
        yield from (f"  {count:>8}  {reason}{REASON_HINTS.get(reason, '')}" for reason, count in counts.items())
    if status["failed_since"]:
        yield f"no successful run since {status['failed_since'][:19]}"
    yield f"last successful run {(status['last_good_run'] or 'never')[:19]}"
    next_run = status["next_run"]
    yield f"next run {next_run[:19] if next_run else 'not scheduled (neither plumb up nor plumb schedule is running)'}"
    yield from (f"run of {run['started'][:19]}: {format_run(run)}" for run in status["runs"])


def format_run(run: Mapping[str, Any]) -> str:
    """Format a run as one line: state, requested pages or last stage, seconds and error."""
    from domain.run import RunState

    seconds = sum(stage["seconds"] for stage in run["stages"])
    if run["state"] == RunState.DONE:
        return f"done, {run['requested']} pages requested, {seconds:.1f} s in stages"
    stage_text = f" in {run['stage']}" if run["stage"] else ""
    error_text = f": {run['error']}" if run["error"] else ""
    return (
        f"{run['state']}{stage_text} after {seconds:.1f} s{error_text}"
        if run["finished"]
        else f"{run['state']}{stage_text}"
    )
