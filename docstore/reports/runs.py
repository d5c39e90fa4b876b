"""Runs of the pipeline: what each stage of each run did, and how it ended.

A row is written when a run begins and again whenever a stage begins or ends, so that a run that was killed still says
in which stage. Whether one without an end goes on or was killed, no row can say: its lock does (run_states.py).
"""

import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from typing import Any

from sqlalchemy import Row, select

from docstore.database import Database
from docstore.model import StageReport
from docstore.schema.operation_tables import runs

MAX_ERROR_CHARS = 1000  # characters of an error that are kept


class RunState(StrEnum):
    """How a run, or a stage of it, is."""

    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"  # an error ended it
    STOPPED = "stopped"  # somebody, or the machine's service manager, asked it to stop
    KILLED = "killed"  # it went without a word: kill -9, a crash, the power


@dataclass(frozen=True)
class StageRun:
    """One stage of a run: outcomes by reason, wall seconds, notes, and the error that ended it, if one did.

    A stage that is RUNNING in a run that was killed is where it was killed.
    """

    stage: str
    counts: Mapping[str, int] = field(default_factory=dict)
    seconds: float = 0.0
    notes: tuple[str, ...] = ()
    state: RunState = RunState.DONE
    error: str = ""


@dataclass(frozen=True)
class PipelineRun:
    """One run. Times are epoch seconds; `finished_at` is None while it goes on, or where it was killed."""

    run_id: int
    command: str
    started_at: float
    finished_at: float | None
    stages: tuple[StageRun, ...]

    @property
    def is_partial(self) -> bool:
        """Was it a stage alone, or some sites alone, on the timetable?"""
        return " " in self.command

    @property
    def last_stage(self) -> StageRun | None:
        """Where it is, or where it ended."""
        return self.stages[-1] if self.stages else None

    def current_state(self, is_lock_held: bool) -> RunState:
        """How it is; `is_lock_held`: a living process holds the lock of this run."""
        if self.finished_at is None:
            return RunState.RUNNING if is_lock_held else RunState.KILLED
        return self.last_stage.state if self.last_stage else RunState.DONE


class RunTable:
    """`store.runs`."""

    def __init__(self, database: Database, clock: Callable[[], float] = time.time) -> None:
        self._database = database
        self._clock = clock

    def start(self, command: str) -> int:
        """Note that a run has begun; returns its id."""
        with self._database.write() as connection:
            result = connection.execute(runs.insert().values(command=command, started_at=self._clock(), report=""))
            key = result.inserted_primary_key
            return int(key[0]) if key is not None else 0

    def save_progress(self, run_id: int, stages: Sequence[StageRun]) -> None:
        """Note how far a run is."""
        self._update_run(run_id, report=stages_to_json(stages))

    def finish(self, run_id: int, stages: Sequence[StageRun]) -> None:
        """Note that a run has ended, and how."""
        self._update_run(run_id, report=stages_to_json(stages), finished_at=self._clock())

    def _update_run(self, run_id: int, **values: Any) -> None:
        with self._database.write() as connection:
            connection.execute(runs.update().where(runs.c.run_id == run_id).values(**values))

    def list_newest(self, limit: int = 5) -> list[PipelineRun]:
        """The last runs, newest first."""
        with self._database.read() as connection:
            rows = connection.execute(select(runs).order_by(runs.c.run_id.desc()).limit(limit))
            return [run_from_row(row) for row in rows]

    def finished_after(self, run_id: int) -> list[PipelineRun]:
        """The runs behind this one, oldest first, up to the first that has not ended and may go on."""
        with self._database.read() as connection:
            rows = connection.execute(select(runs).where(runs.c.run_id > run_id).order_by(runs.c.run_id)).all()
        later_runs = [run_from_row(row) for row in rows]
        # Of those without an end, only the newest can go on: the others were killed.
        return [run for run in later_runs if run.finished_at is not None or run is not later_runs[-1]]

    def since_last_success(self) -> tuple[PipelineRun | None, list[PipelineRun]]:
        """The newest whole run that did all it was asked, and those that began after it, newest first."""
        runs_after: list[PipelineRun] = []
        with self._database.read() as connection:
            for row in connection.execute(select(runs).order_by(runs.c.run_id.desc())):
                run = run_from_row(row)
                if run.current_state(is_lock_held=False) is RunState.DONE:
                    if run.is_partial:
                        continue  # a stage that is well says nothing of the night
                    return run, runs_after
                runs_after.append(run)
        return None, runs_after


def stage_run_from_report(report: StageReport) -> StageRun:
    """A stage that is done, as a run keeps it."""
    counts = {reason.value: count for reason, count in report.outcome_counts.items()}
    return StageRun(report.stage.value, counts, round(report.seconds, 3), report.notes)


def stages_to_json(stages: Sequence[StageRun]) -> str:
    """The stages as the table keeps them."""
    return json.dumps([asdict(stage) for stage in stages], ensure_ascii=False)


def run_from_row(row: Row[Any]) -> PipelineRun:
    """The run in a row."""
    return PipelineRun(row.run_id, row.command, row.started_at, row.finished_at, tuple(stages_from_json(row.report)))


def stages_from_json(text: str) -> Iterator[StageRun]:
    """The stages that a row keeps; those of older programs have no state: only done ones were kept."""
    for row in json.loads(text or "[]"):
        state = RunState(row.get("state", RunState.DONE))
        yield StageRun(row["stage"], row["counts"], row["seconds"], tuple(row["notes"]), state, row.get("error", ""))
