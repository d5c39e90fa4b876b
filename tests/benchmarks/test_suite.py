"""The benchmark of the test suite: what it reads from pytest's output, and which of its runs are under load."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from benchmarks import suite
from benchmarks.suite import SuiteRun, count_failing_runs, read_counts


@pytest.mark.parametrize(
    ("output", "counts"),
    [
        ("6209 passed, 3 warnings in 125.86s (0:02:05)\n\nleftover processes: 0\n", (6209, 0, 0)),
        ("==== 1 failed, 7144 passed, 2 errors in 768.45s (0:12:48) ====\n\nleftover processes: 2\n", (7144, 3, 2)),
        ("2 passed in 1.0s\nleftover processes: 0\n3 passed in 2.0s\nleftover processes: 1\n", (5, 0, 1)),
    ],
)
def test_counts_of_a_run(output: str, counts: tuple[int, int, int]) -> None:
    assert read_counts(output) == counts


@pytest.mark.parametrize(
    ("runs", "under_load", "loads"), [(4, 2, "-+-+"), (3, 1, "--+"), (3, 3, "+++"), (2, 0, "--"), (0, 0, "")]
)
def test_runs_under_load_are_spread_and_failures_counted(
    monkeypatch: pytest.MonkeyPatch, runs: int, under_load: int, loads: str
) -> None:
    is_loaded, seen = [False], []

    @contextmanager
    def load_machine() -> Iterator[None]:
        is_loaded[0] = True
        yield
        is_loaded[0] = False

    def run_target(*command: str) -> SuiteRun:
        assert command == ("make", "test")
        seen.append("+" if is_loaded[0] else "-")
        return SuiteRun(int(is_loaded[0]), 1.0, 1.0, 1, 0, 0)

    monkeypatch.setattr(suite, "load_machine", load_machine)
    monkeypatch.setattr(suite, "run_target", run_target)
    assert count_failing_runs(runs, under_load) == under_load
    assert "".join(seen) == loads
