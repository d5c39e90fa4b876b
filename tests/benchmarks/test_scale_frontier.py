"""The account of frontiers that were killed, and the crawler that asks them."""

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from itertools import islice
from pathlib import Path

import pytest
from click.testing import CliRunner

from benchmarks import scale_frontier, scale_frontier_worker
from benchmarks.scale_frontier import Account, InFile, account, measured, missing, times
from benchmarks.scale_frontier_worker import host_of, number_of, put_all, take_all, url_of


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        pytest.param("put 1,put 2,got 1,done 1,got 2,done 2", Account(2, 0, 0, 0, 0), id="all is well"),
        pytest.param("put 1,put 2,got 1,done 1", Account(2, 1, 0, 0, 0), id="one never came"),
        pytest.param("put 1,got 1,done 1,killed,got 1", Account(1, 0, 1, 0, 0), id="it forgot that it is done"),
        pytest.param("put 1,got 1,killed,got 1,done 1", Account(1, 0, 0, 1, 1), id="in flight, and given again"),
        pytest.param("put 1,got 1,killed", Account(1, 0, 0, 1, 0), id="in flight, and done unheard"),
        pytest.param("put 1,killed,put 2,got 2,killed,got 2,got 1", Account(2, 0, 0, 1, 1), id="killed twice"),
        pytest.param("put 1,got 1,killed,got 1,killed,got 1", Account(1, 0, 0, 2, 2), id="in flight at two kills"),
        pytest.param("", Account(0, 0, 0, 0, 0), id="nothing"),
    ],
)
def test_the_account(lines: str, expected: Account) -> None:
    assert account(lines.split(",")) == expected


def test_urls_and_numbers() -> None:
    for number in (0, 7, 12_345):
        assert number_of(url_of(number, 10)) == number
    assert len({host_of(number, 10) for number in range(100)}) == 10
    assert url_of(7, 10).split("/")[2] == host_of(7, 10)


class Listed:
    """A frontier that is a list, and gives each URL `often` times."""

    def __init__(self, often: int = 1) -> None:
        self.waiting: list[int] = []
        self.finished: list[int] = []
        self._often = often

    def put(self, numbers: Sequence[int]) -> None:
        self.waiting += list(numbers) * self._often

    def get(self) -> list[int]:
        given, self.waiting = self.waiting[:3], self.waiting[3:]
        return given

    def done(self, numbers: Sequence[int]) -> None:
        self.finished += numbers

    def is_empty(self) -> bool:
        return not self.waiting


@pytest.mark.parametrize("often", [1, 2])
def test_a_crawler_writes_down_what_was_acknowledged(tmp_path: Path, often: int) -> None:
    frontier, path = Listed(often), tmp_path / "log"
    log = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    put_all(frontier, log, iter(range(10)))
    assert path.read_text().splitlines() == [f"put {number}" for number in range(10)]
    take_all(frontier, log)
    os.close(log)
    assert sorted(frontier.finished) == sorted(list(range(10)) * often)
    assert account(path.read_text().splitlines()) == Account(10, 0, 10 * (often - 1), 0, 0)


def test_a_crawler_over_a_file_goes_on_where_it_was_killed(tmp_path: Path) -> None:
    found = {
        figure.metric: figure.value
        for figure in measured("plumbline SQLite", InFile(tmp_path), tmp_path, 900, 10, kills=1)
    }
    assert (found["put"], found["kills"]) == (900, 2)
    assert found["lost"] == found["done again"] == 0
    assert found["in flight"] >= found["given again"]
    assert list(islice((tmp_path / "log").open(), 1)) == ["put 0\n"]


def test_lines_are_counted_by_their_word(tmp_path: Path) -> None:
    log = tmp_path / "log"
    assert times(log, "put") == 0
    log.write_text("put 1\nput 2\ngot 1\ndone 1\n")
    assert (times(log, "put"), times(log, "got"), times(log, "done")) == (2, 1, 1)


def test_what_is_missing_is_said(tmp_path: Path) -> None:
    assert "--urlfrontier" in missing(None)
    assert scale_frontier.PROTO in missing(tmp_path)
    result = CliRunner().invoke(scale_frontier.main, ["--urlfrontier", str(tmp_path)])
    assert result.exit_code == 1
    assert "how to build them" in result.output


def test_the_crawler_needs_nothing_of_ours_to_start() -> None:
    """It runs in the peers' environment, too."""
    ours = "[name for name in sys.modules if name.startswith(('docstore', 'domain'))]"
    code = f"import sys, benchmarks.scale_frontier_worker; print({ours})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == []
    assert scale_frontier_worker.PUT > 0
