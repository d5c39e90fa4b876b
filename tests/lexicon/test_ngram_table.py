"""Counts of spans: they add up, and what was counted can be taken off again."""

import numpy as np
import pytest
from numpy.typing import NDArray

from benchmarks.terms_models import count_in_memory, counted_corpus, select_from_table, zero_model
from lexicon.counting.ngram_table import (
    COLUMN_INDEX,
    MAX_SEEN_DOCUMENTS,
    NO_DOCUMENT,
    NgramRows,
    NgramTable,
    merge_rows,
    negate_rows,
)
from lexicon.counting.occurrences import find_occurrences
from lexicon.counting.tokens import Vocabulary, tokenize_texts
from lexicon.model.boundaries import BoundaryScorer
from lexicon.model.term_model import iter_spellings, load_shipped_models, rank_rows

DAY_1 = ["碳酸盐储层特征复杂，采用PDC钻头钻进。", "页岩气储层的评价方法与PDC 钻头的选型。", ""]
DAY_2 = ["Shale gas wells are drilled. The shale gas reservoir is tight.", "碳酸盐储层特征研究；页岩气。"]


def numbered(count: int, first: int = 0) -> NDArray[np.int64]:
    """The numbers of some documents."""
    return np.arange(first, first + count, dtype=np.int64)


def whole_table(
    texts: list[str], language: str = "zh", first: int = 0, vocabulary: Vocabulary | None = None
) -> NgramTable:
    """Every span of `texts`."""
    table = NgramTable(vocabulary)
    tokens = tokenize_texts(texts, language, numbered(len(texts), first), table.vocabulary)
    table.add([(tokens, find_occurrences(tokens, table.vocabulary, BoundaryScorer(zero_model(language)), -np.inf))])
    return table


def column(table: NgramTable, name: str, rows: NgramRows | None = None) -> dict[str, int]:
    """One column by the text of the rows."""
    rows = rows or table.rows()
    found = rows.counts if name not in ("likely", "expected") else rows.sums
    return dict(zip(iter_spellings(counted_corpus(table), rows), found[COLUMN_INDEX[name]].tolist(), strict=True))


def as_list(table: NgramTable) -> list[tuple[str, float, int, int, tuple[int, ...]]]:
    """The ranking as text."""
    rows, scores = rank_rows(load_shipped_models(), select_from_table(table, load_shipped_models()))
    frequency, documents = (
        rows.counts[COLUMN_INDEX["frequency"]].tolist(),
        rows.counts[COLUMN_INDEX["documents"]].tolist(),
    )
    seen_in = map(tuple, rows.first_documents.T.tolist())
    return list(
        zip(iter_spellings(counted_corpus(table), rows), scores.tolist(), frequency, documents, seen_in, strict=True)
    )


def same(one: NgramRows, other: NgramRows) -> bool:
    """Return True if all columns except the word ids are equal."""
    return all(
        np.array_equal(getattr(one, name), getattr(other, name))
        for name in ("keys", "counts", "sums", "best_log_probability", "first_documents")
    )


def test_frequency_and_documents_by_hand() -> None:
    table = whole_table(["钻头钻头，储层", "储层", "用 PDC 钻头"])
    frequency, documents = column(table, "frequency"), column(table, "documents")
    assert (frequency["钻头"], documents["钻头"]) == (3, 2)
    assert (frequency["储层"], documents["储层"]) == (2, 2)
    assert frequency["PDC钻头"] == 1
    assert "钻头储层" not in frequency  # a comma between


def test_neighbours_are_counted_by_kind() -> None:
    table = whole_table(["钻头，储层", "钻头储层"])
    assert column(table, "left break")["钻头"] == 2
    assert column(table, "right break")["钻头"] == 1
    right = [column(table, f"right {kind}")["钻头"] for kind in range(8)]
    assert sum(right) == 1


def test_case_and_blanks_of_a_term_count_as_one() -> None:
    table = whole_table(["PDC 钻头", "pdc钻头", "PDC钻头"])
    assert column(table, "frequency")["PDC钻头"] == 3  # in its most frequent spelling


def test_two_days_are_both_at_once() -> None:
    vocabulary = Vocabulary()
    days = [whole_table(DAY_1, vocabulary=vocabulary), whole_table(DAY_2[1:], first=3, vocabulary=vocabulary)]
    added = merge_rows([day.rows() for day in days])
    assert same(added, whole_table([*DAY_1, DAY_2[1]]).rows())
    assert same(merge_rows([day.rows() for day in reversed(days)]), added), "in any order"


def test_the_size_of_a_chunk_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = [*DAY_2, *DAY_1, "SHALE GAS", "页岩气 SHALE GAS", *DAY_1, *DAY_2]
    whole = as_list(count_in_memory(texts, load_shipped_models()))
    for size in (1, 60, 100):
        monkeypatch.setattr("benchmarks.terms_models.CHUNK_CHARACTERS", size)
        assert as_list(count_in_memory(texts, load_shipped_models())) == whole


def test_what_is_taken_off_was_never_there() -> None:
    vocabulary = Vocabulary()
    whole, part = whole_table([*DAY_1, DAY_2[1]], vocabulary=vocabulary), whole_table(DAY_1, vocabulary=vocabulary)
    left = merge_rows([whole.rows(), negate_rows(part.rows())])
    rest = whole_table(DAY_2[1:], first=3, vocabulary=vocabulary)
    assert np.array_equal(left.keys, rest.rows().keys)
    assert np.array_equal(left.counts, rest.rows().counts) and np.array_equal(left.sums, rest.rows().sums)
    assert not len(merge_rows([whole.rows(), negate_rows(whole.rows())]))


def test_the_first_documents_are_kept_in_order() -> None:
    vocabulary = Vocabulary()
    tables = [whole_table(["储层"] * count, first=first, vocabulary=vocabulary) for count, first in ((2, 7), (4, 1))]
    rows = merge_rows([table.rows() for table in tables])
    assert rows.first_documents.T.tolist() == [[1, 2, 3]]
    assert rows.frequency.tolist() == [6]
    assert whole_table(["储层"]).rows().first_documents.T.tolist() == [[0] + [NO_DOCUMENT] * (MAX_SEEN_DOCUMENTS - 1)]


def test_adding_rows_leaves_them_as_they_were() -> None:
    table = whole_table(["储层"])
    one = table.rows()
    assert column(table, "frequency", merge_rows([one, one, one])) == {"储层": 3}
    assert column(table, "frequency", one) == {"储层": 1}
