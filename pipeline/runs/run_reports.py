"""The pages about runs: from the store and the data folder."""

import time
from collections.abc import Sequence

from domain.run import LiveRun, PipelineRun, RunDetail, RunFigures, RunSummary
from pipeline.engine import Engine
from pipeline.runs.live_progress import read_live_run
from pipeline.runs.log_excerpt import read_log_excerpt
from pipeline.runs.run_figures import read_figures
from pipeline.runs.run_history import summarize_run


class StoreRunReports:
    """Reads runs from the store, and progress, figures and log from the data folder."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def list_runs(self, before_id: int | None, limit: int) -> Sequence[RunSummary]:
        """Return the newest `limit` runs, or those before the run `before_id`, newest first."""
        active_id = self._active_run_id()
        return [self._summarize(run, active_id) for run in self._engine.store.runs.list_newest(limit, before_id)]

    def _active_run_id(self) -> int | None:
        """Return the id of the active run: the newest without an end, if the lock of a run is held."""
        if self._engine.lock_holder_pid("run") is None:  # before the rows are read: a run acquires its lock first
            return None
        newest = self._engine.store.runs.list_newest(1)
        return newest[0].run_id if newest and newest[0].finished_at is None else None

    def _summarize(self, run: PipelineRun, active_id: int | None) -> RunSummary:
        return summarize_run(run, run.current_state(run.run_id == active_id))

    def detail(self, run_id: int) -> RunDetail | None:
        """Return one run with its samples and its log; None if it is unknown."""
        store, active_id = self._engine.store, self._active_run_id()
        matches = store.runs.find_with_successor(run_id)
        if not matches:
            return None
        run, next_run = matches[0], matches[1] if len(matches) > 1 else None
        earlier_runs = store.runs.list_newest(1, run_id)
        ended_at = run.finished_at or (next_run.started_at if next_run else time.time())
        log_path = self._engine.settings.data_dir / "logs" / "plumb.log"
        return RunDetail(
            self._summarize(run, active_id),
            store.status.outcome_samples_between(run.started_at, ended_at),
            *read_log_excerpt(log_path, run.started_at, ended_at),
            previous_id=earlier_runs[0].run_id if earlier_runs else None,
            next_id=next_run.run_id if next_run else None,
        )

    def live_run(self) -> LiveRun | None:
        """Return the progress of the active run; without a file of this run only its stage from the store."""
        active_id = self._active_run_id()
        if active_id is None:
            return None
        live_run = read_live_run(self._engine.settings.data_dir)
        if live_run is not None and live_run.run_id == active_id:
            return live_run
        run = self._engine.store.runs.find_with_successor(active_id)[0]
        stage = run.last_stage
        return LiveRun(active_id, stage.stage, stage.started_at) if stage else LiveRun(active_id)

    def figures(self) -> Sequence[RunFigures]:
        """Return the figures of the recorded runs, oldest first."""
        return read_figures(self._engine.settings.data_dir)
