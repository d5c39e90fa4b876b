"""Runs of the pipeline: results of each stage, and how each run ended.

A row is written when a run starts, and again whenever a stage starts or ends. The row of a killed run therefore shows
its last stage. Only the lock of a run shows whether an unfinished run is active or was killed
(pipeline/runs/run_history.py).
"""

import json
from collections.abc import Collection, Iterator, Sequence
from dataclasses import asdict
from typing import Any

from sqlalchemy import Row, func, select

from docstore.bookkeeping import read_meta, write_meta
from docstore.database import StorePart
from docstore.schema.operation_tables import runs
from domain.message import parse_message, serialize_message
from domain.outcome import StageReport
from domain.run import PipelineRun, RunState, StageRun

MAX_ERROR_CHARS = 1000  # longer error messages are cut
PLANS_KEY = "planned_runs"  # JSON: daily time and command of each planned run -> first planned at


class RunTable(StorePart):
    """Save and list pipeline runs (`store.runs`)."""

    def start(self, command: str) -> int:
        """Record the start of a run. Returns its id."""
        with self._database.write() as connection:
            result = connection.execute(runs.insert().values(command=command, started_at=self._clock(), report=""))
            key = result.inserted_primary_key
            return int(key[0]) if key is not None else 0

    def save_progress(self, run_id: int, stages: Sequence[StageRun]) -> None:
        """Save the current stages of a run."""
        self._update_run(run_id, report=stages_to_json(stages))

    def finish(self, run_id: int, stages: Sequence[StageRun]) -> None:
        """Record the end of a run with its stages."""
        self._update_run(run_id, report=stages_to_json(stages), finished_at=self._clock())

    def _update_run(self, run_id: int, **values: Any) -> None:
        with self._database.write() as connection:
            connection.execute(runs.update().where(runs.c.run_id == run_id).values(**values))

    def has_started(self, commands: Collection[str], start: float, end: float) -> bool:
        """Return True if a run of one of the commands began in this time, `end` excluded."""
        is_match = runs.c.command.in_(commands), runs.c.started_at >= start, runs.c.started_at < end
        with self._database.read() as connection:
            return connection.scalar(select(runs.c.run_id).where(*is_match).limit(1)) is not None

    def save_plans(self, plans: Collection[str]) -> None:
        """Save what is planned, each a daily time and a command (`02:30 schedule`). A new plan counts from now.

        A store of earlier programs has no plans: there a plan counts from the first run of its command.
        """
        with self._database.write() as connection:
            text, now = read_meta(connection, PLANS_KEY), self._clock()
            since = json.loads(text or "{}")
            if not text:
                first_starts = select(runs.c.command, func.min(runs.c.started_at)).group_by(runs.c.command)
                start_by_command = {row[0]: row[1] for row in connection.execute(first_starts)}
                since = {plan: start_by_command.get(plan.partition(" ")[2], now) for plan in plans}
            planned = {plan: min(since.get(plan, now), now) for plan in plans}
            write_meta(self._database, connection, PLANS_KEY, json.dumps(planned))

    def planned_since(self, plan: str) -> float | None:
        """Return when the scheduler first planned this (`save_plans`); None if it does not."""
        with self._database.read() as connection:
            since: float | None = json.loads(read_meta(connection, PLANS_KEY) or "{}").get(plan)
            return since

    def list_newest(self, limit: int = 5, before_id: int | None = None) -> list[PipelineRun]:
        """Return the last `limit` runs, or the last ones before the run `before_id`, newest first."""
        query = select(runs).order_by(runs.c.run_id.desc()).limit(limit)
        if before_id is not None:
            query = query.where(runs.c.run_id < before_id)
        with self._database.read() as connection:
            return [run_from_row(row) for row in connection.execute(query)]

    def find_with_successor(self, run_id: int) -> list[PipelineRun]:
        """Return the run `run_id` and the next run, if they exist."""
        query = select(runs).where(runs.c.run_id >= run_id).order_by(runs.c.run_id).limit(2)
        with self._database.read() as connection:
            matches = [run_from_row(row) for row in connection.execute(query)]
        return matches if matches and matches[0].run_id == run_id else []

    def finished_after(self, run_id: int) -> list[PipelineRun]:
        """Return the runs after `run_id` that have ended, oldest first.

        The newest run without an end is excluded, because it may be active.
        """
        with self._database.read() as connection:
            rows = connection.execute(select(runs).where(runs.c.run_id > run_id).order_by(runs.c.run_id)).all()
        later_runs = [run_from_row(row) for row in rows]
        # Only the newest run can still be active: all others without an end were killed.
        return [run for run in later_runs if run.finished_at is not None or run is not later_runs[-1]]

    def since_last_success(self) -> tuple[PipelineRun | None, list[PipelineRun]]:
        """Return the newest complete run without errors, and all later runs that did not succeed, newest first.

        The first element is None if there is no such run. An active run counts as not successful. The success of a
        partial run says nothing about complete runs, but about earlier runs of the same command.
        """
        runs_after: list[PipelineRun] = []
        repeated_commands: set[str] = set()
        with self._database.read() as connection:
            for row in connection.execute(select(runs).order_by(runs.c.run_id.desc())):
                run = run_from_row(row)
                if run.current_state(is_lock_held=False) is RunState.DONE:
                    if not run.is_partial:
                        return run, runs_after
                    repeated_commands.add(run.command)
                elif run.command not in repeated_commands:
                    runs_after.append(run)
        return None, runs_after


def stage_run_from_report(report: StageReport) -> StageRun:
    """Convert the report of a finished stage to a StageRun."""
    counts = {reason.value: count for reason, count in report.outcome_counts.items()}
    return StageRun(report.stage.value, counts, round(report.seconds, 3), report.notes)


def stages_to_json(stages: Sequence[StageRun]) -> str:
    """Serialize stages for the `runs` table."""
    rows = [
        {**asdict(stage), "error": serialize_message(stage.error), "notes": [*map(serialize_message, stage.notes)]}
        for stage in stages
    ]
    return json.dumps(rows, ensure_ascii=False)


def run_from_row(row: Row[Any]) -> PipelineRun:
    """Convert a row of `runs` to a PipelineRun."""
    return PipelineRun(row.run_id, row.command, row.started_at, row.finished_at, tuple(stages_from_json(row.report)))


def stages_from_json(text: str) -> Iterator[StageRun]:
    """Parse the stages of a `runs` row. Older programs stored only finished stages, without state and start."""
    for row in json.loads(text or "[]"):
        state = RunState(row.get("state", RunState.DONE))
        error = parse_message(row.get("error", ""))
        started_at = row.get("started_at", 0.0)
        notes = tuple(map(parse_message, row["notes"]))
        yield StageRun(row["stage"], row["counts"], row["seconds"], notes, state, error, started_at)
