"""How the runs of a vertical are: which goes on, which failed or was killed, which was the last good one, what is next.

Whether a run goes on is no guess: a run holds a lock as long as it lives, and the kernel gives that back when it ends,
however it ends. So does `plumb schedule`, without which no next run is.
"""

import time
from statistics import median

from docstore.reports.runs import PipelineRun, RunState
from pipeline.engine import Engine
from pipeline.runs.timetable import SCHEDULE, timetable
from search_ui.actions import Nights, RunSummary, StageSummary

LIKE_IT = 10  # earlier runs by which the end of one is foretold
RUNS_READ = 50
MAX_TAKEN_UP = 3  # runs killed one after the other, after which the next is left to the timetable


def nights(engine: Engine, limit: int) -> Nights:
    """The last `limit` runs and what follows from all of them."""
    is_held = engine.holder("run") is not None  # before the rows: a run begins with its lock
    newest = engine.store.runs.newest(limit)
    good, after = engine.store.runs.since_last_good()
    bad = [run for run, state in with_states(after, is_held) if state in (RunState.FAILED, RunState.KILLED)]
    return Nights(
        runs=tuple(summary(run, state) for run, state in with_states(newest, is_held)),
        last_good=good.started_at if good else None,
        failed_since=bad[-1].started_at if bad else None,
        next_run=next_run(engine),
        expected_end=expected_end(engine) if is_held else None,
    )


def expected_end(engine: Engine) -> float | None:
    """When the run that goes on should be done, by what earlier ones of its command took; None where none was."""
    newest = engine.store.runs.newest(LIKE_IT * 3)
    if not newest or newest[0].finished_at is not None:
        return None
    done = (run for run in newest[1:] if run.command == newest[0].command and run.state(False) is RunState.DONE)
    took = [run.finished_at - run.started_at for run in done if run.finished_at is not None][:LIKE_IT]
    return newest[0].started_at + median(took) if took else None


def with_states(newest: list[PipelineRun], is_held: bool) -> list[tuple[PipelineRun, RunState]]:
    """Runs, newest first, with their states: only the newest one can hold the lock."""
    return [(run, run.state(is_held and place == 0)) for place, run in enumerate(newest)]


def next_run(engine: Engine) -> float | None:
    """When the next run is; None where no `plumb schedule` is there to start it."""
    if engine.holder(SCHEDULE) is None:
        return None
    return timetable(engine.settings.schedule).night(time.time())[1]


def is_to_take_up(engine: Engine) -> bool:
    """Did the last scheduled run end unfinished, killed or stopped with the machine, and not several times over?"""
    newest = [run for run in engine.store.runs.newest(RUNS_READ) if not run.is_partial][:MAX_TAKEN_UP]
    states = [state for _, state in with_states(newest, engine.holder("run") is not None)]
    if not newest or newest[0].command != SCHEDULE or states[0] not in (RunState.KILLED, RunState.STOPPED):
        return False
    return len(states) < MAX_TAKEN_UP or any(state is not RunState.KILLED for state in states)


def summary(run: PipelineRun, state: RunState) -> RunSummary:
    """A run as it is shown: each stage with its outcomes, most frequent first."""
    stages = tuple(
        StageSummary(one.stage, tuple(sorted(one.counts.items(), key=lambda pair: (-pair[1], pair[0]))), one.seconds)
        for one in run.stages
    )
    last = run.last_stage
    ended_in = last if last is not None and state is not RunState.DONE else None
    return RunSummary(
        run.started_at,
        run.finished_at,
        state,
        stages,
        stage=ended_in.stage if ended_in else "",
        error=ended_in.error if ended_in else "",
    )
