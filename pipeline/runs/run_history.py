"""History of the runs of a vertical: states, the last successful run, the next run and the expected end.

A run is active if its lock is held; the kernel releases the lock when the process ends for any reason. The next run is
known only while the lock of `plumb schedule` is held.
"""

import time
from statistics import median

from domain.run import PipelineRun, RunHistory, RunState, RunSummary, StageSummary
from pipeline.engine import Engine
from pipeline.runs.timetable import SCHEDULE_COMMAND, Appointment, next_planned_time

ESTIMATE_RUNS = 10  # earlier runs from which the end of the active run is estimated
MAX_RUNS_READ = 50
MAX_RESUMES = 3  # after this many consecutive killed runs, the next one starts at its scheduled time


def load_run_history(engine: Engine, limit: int) -> RunHistory:
    """Load the newest `limit` runs, and the times derived from all runs."""
    is_running = engine.lock_holder_pid("run") is not None  # before the rows are read: a run acquires its lock first
    newest = engine.store.runs.list_newest(limit)
    last_good, runs_since = engine.store.runs.since_last_success()
    bad_runs = [
        run for run, state in runs_with_states(runs_since, is_running) if state in (RunState.FAILED, RunState.KILLED)
    ]
    return RunHistory(
        runs=tuple(summarize_run(run, state) for run, state in runs_with_states(newest, is_running)),
        last_success_at=last_good.started_at if last_good else None,
        failing_since=bad_runs[-1].started_at if bad_runs else None,
        next_run_at=next_run_time(engine),
        expected_end_at=estimate_end(engine) if is_running else None,
    )


def estimate_end(engine: Engine) -> float | None:
    """Estimate the end of the active run (epoch seconds) from the median duration of earlier runs of its command.

    Returns None if no run is active or no earlier run has finished.
    """
    newest = engine.store.runs.list_newest(ESTIMATE_RUNS * 3)
    if not newest or newest[0].finished_at is not None:
        return None
    finished_runs = (
        run for run in newest[1:] if run.command == newest[0].command and run.current_state(False) is RunState.DONE
    )
    durations = [run.finished_at - run.started_at for run in finished_runs if run.finished_at is not None][
        :ESTIMATE_RUNS
    ]
    return newest[0].started_at + median(durations) if durations else None


def runs_with_states(newest: list[PipelineRun], is_running: bool) -> list[tuple[PipelineRun, RunState]]:
    """Pair runs (newest first) with their states; only the newest run can be active."""
    return [(run, run.current_state(is_running and index == 0)) for index, run in enumerate(newest)]


def next_run_time(engine: Engine) -> float | None:
    """Return the time of the next scheduled run in epoch seconds; None if `plumb schedule` is not running."""
    if engine.lock_holder_pid(SCHEDULE_COMMAND) is None:
        return None
    return next_planned_time(engine.settings.current(), time.time())


def missed_time(engine: Engine, appointment: Appointment, now: float, made_after: float = 0.0) -> float | None:
    """Return the last scheduled time (epoch seconds) of an appointment if its run was not made; otherwise None.

    A time counts from when the scheduler first planned it. A `plumb run` replaces the daily run. Starts before
    `made_after` do not count.
    """
    scheduled_at, end = appointment.trigger.period(now)  # a start after the end, by a clock that was ahead, is none
    planned_at = engine.store.runs.planned_since(appointment.plan)
    if planned_at is None or planned_at > scheduled_at:
        return None
    commands = {appointment.command, "run"} if appointment.command == SCHEDULE_COMMAND else {appointment.command}
    is_made = engine.store.runs.has_started(commands, max(scheduled_at, made_after), end)
    return None if is_made else scheduled_at


def should_resume(engine: Engine) -> bool:
    """True if the last run was a scheduled one that was killed or stopped, unless MAX_RESUMES runs were killed."""
    newest = [run for run in engine.store.runs.list_newest(MAX_RUNS_READ) if not run.is_partial][:MAX_RESUMES]
    states = [state for _, state in runs_with_states(newest, engine.lock_holder_pid("run") is not None)]
    if not newest or newest[0].command != SCHEDULE_COMMAND or states[0] not in (RunState.KILLED, RunState.STOPPED):
        return False
    return len(states) < MAX_RESUMES or any(state is not RunState.KILLED for state in states)


def summarize_run(run: PipelineRun, state: RunState) -> RunSummary:
    """Convert a run for display: its stages with outcomes, most frequent first, and the failed stage."""
    stages = tuple(
        StageSummary(
            stage.stage,
            tuple(sorted(stage.counts.items(), key=lambda pair: (-pair[1], pair[0]))),
            stage.seconds,
            stage.started_at,
            stage.notes,
        )
        for stage in run.stages
    )
    last = run.last_stage
    failed_stage = last if last is not None and state is not RunState.DONE else None
    return RunSummary(
        run.started_at,
        run.finished_at,
        state,
        stages,
        last_stage=failed_stage.stage if failed_stage else "",
        error=failed_stage.error if failed_stage else "",
        run_id=run.run_id,
        command=run.command,
    )
