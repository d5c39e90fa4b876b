"""What the store, the clock and the timetable say to the rules of alerts."""

import time

from pipeline.alerts.rules import BadRun, Facts, SiteFacts
from pipeline.engine import Engine
from pipeline.runs.run_states import nights
from pipeline.runs.timetable import SCHEDULE, timetable

PATIENCE = 900.0  # seconds after its time for a run to begin
RUNS_READ = 500
RUNS_SHOWN = 20


def facts(engine: Engine) -> Facts:
    """All that the rules go by."""
    store, now = engine.store, time.time()
    articles = store.site_runs.articles()
    sites = [SiteFacts(host, runs, articles.get(host)) for host, runs in store.site_runs.newest().items()]
    firing = {one.key: one for one in store.alerts.firing()}
    return Facts(now, bad_run(engine), missed(engine, now), sites, engine.settings.alerts.silent_days, firing)


def bad_run(engine: Engine) -> BadRun | None:
    """The newest run that failed or was killed after the last good one."""
    found = nights(engine, RUNS_SHOWN)
    bad = found.last_bad
    return BadRun(bad.started_at, bad.stage, bad.error) if bad is not None else None


def missed(engine: Engine, now: float) -> float | None:
    """The scheduled time at which no run began."""
    runs = engine.store.runs.newest(RUNS_READ)
    nightly = [run.started_at for run in runs if run.command == SCHEDULE]
    starts = nightly and nightly + [run.started_at for run in runs if run.command == "run"]
    return timetable(engine.settings.schedule).missed(now, starts, PATIENCE)
