"""Rows as bytes and in files: they come back as they were, whatever they are."""

import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from domain.errors import LexiconError
from lexicon.arrays import UInt64Array
from lexicon.counting.ngram_table import (
    COUNT_COLUMNS,
    MAX_SEEN_DOCUMENTS,
    NO_DOCUMENT,
    SUM_COLUMNS,
    NgramRows,
    allocate_rows,
    merge_rows,
    negate_rows,
)
from lexicon.counting.occurrences import MAX_SPAN_WORDS
from lexicon.counting.row_serialization import deserialize_rows, read_rows, serialize_rows, write_rows
from lexicon.counting.sorted_runs import SortedRuns, range_ends
from tests.lexicon.test_ngram_table import DAY_1, DAY_2, same, whole_table

CHANCE = np.random.default_rng(15)


def random_rows(count: int) -> NgramRows:
    """Rows of any numbers that there can be, also such as are taken off."""
    keys: UInt64Array = np.sort(CHANCE.integers(0, 2**64, count, dtype=np.uint64))
    sizes = CHANCE.integers(1, MAX_SPAN_WORDS + 1, count)
    words = CHANCE.integers(0, 2**31 - 1, (MAX_SPAN_WORDS, count), dtype=np.int32)
    seen = CHANCE.integers(0, MAX_SEEN_DOCUMENTS + 1, count)
    seen_in = np.sort(CHANCE.integers(0, 2**62, (MAX_SEEN_DOCUMENTS, count), dtype=np.int64), axis=0)
    return NgramRows(
        keys,
        CHANCE.integers(-(2**31), 2**31 - 1, (len(COUNT_COLUMNS), count)).astype(np.int32),
        CHANCE.integers(-(2**40), 2**40, (len(SUM_COLUMNS), count)),
        np.where(np.arange(MAX_SPAN_WORDS)[:, None] < sizes, words, -1).astype(np.int32),
        CHANCE.integers(-32768, 1, count).astype(np.int32),
        np.where(np.arange(MAX_SEEN_DOCUMENTS)[:, None] < seen, seen_in, NO_DOCUMENT),
    )


@pytest.mark.parametrize(
    "make_rows",
    [
        lambda: allocate_rows(0),
        lambda: whole_table([*DAY_1, DAY_2[1]]).rows(),
        lambda: negate_rows(whole_table(DAY_1).rows()),
        lambda: random_rows(1),
        lambda: random_rows(700),
    ],
    ids=["none", "real", "taken-off", "one", "random"],
)
def test_rows_come_back_as_they_were(make_rows: Callable[[], NgramRows], tmp_path: Path) -> None:
    rows = make_rows()
    again = deserialize_rows(serialize_rows(rows))
    assert same(again, rows) and np.array_equal(again.word_ids, rows.word_ids)
    assert [column.dtype for column in vars(again).values()] == [column.dtype for column in vars(rows).values()]
    write_rows(rows, tmp_path / "rows.z")
    assert same(read_rows(tmp_path / "rows.z"), rows)


@pytest.mark.parametrize("content", [b"", b"no rows", None], ids=["empty", "text", "torn"])
def test_a_file_that_has_no_rows(tmp_path: Path, content: bytes | None) -> None:
    path = tmp_path / "rows.z"
    write_rows(random_rows(20), path)
    path.write_bytes(path.read_bytes()[:-30] if content is None else content)
    with pytest.raises(LexiconError, match=r"rows\.z: unreadable counts"):
        read_rows(path)


def test_runs_are_read_range_by_range() -> None:
    parts = [random_rows(count) for count in (500, 0, 3)]
    for asked in (1, 4, 8):
        with tempfile.TemporaryFile() as file:
            runs = SortedRuns(file, 8)
            for part in parts:
                runs.add_run(part)
            read = [row for number in range(asked) for row in runs.read_range(number, asked)]
        assert same(merge_rows([part for part in read if len(part)]), merge_rows(parts)) and runs.rows_added == 503


def test_ranges_part_all_keys() -> None:
    keys = np.array([0, 2**62 - 1, 2**62, 2**63, 2**64 - 1], dtype=np.uint64)
    assert range_ends(keys, 1) == [5]
    assert range_ends(keys, 4) == [2, 3, 4, 5]
