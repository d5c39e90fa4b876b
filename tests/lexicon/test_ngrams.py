"""Counts of spans: they add up, and what was counted can be taken off again."""

import numpy as np
import pytest
from numpy.typing import NDArray

from lexicon.counting.count import count_texts
from lexicon.counting.ngrams import AT, NOWHERE, SEEN, NgramTable, Rows, merged, negative
from lexicon.counting.occurrences import occurrences
from lexicon.counting.tokens import Vocabulary, tokens_of
from lexicon.model.boundaries import Boundaries, empty_model
from lexicon.model.learned import ranked, selection_of, shipped_models, spelt

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
    tokens = tokens_of(texts, language, numbered(len(texts), first), table.vocabulary)
    table.add([(tokens, occurrences(tokens, table.vocabulary, Boundaries(empty_model(language)), -np.inf))])
    table.documents = len(texts)
    return table


def column(table: NgramTable, name: str, rows: Rows | None = None) -> dict[str, int]:
    """One column by the text of the rows."""
    rows = rows or table.rows()
    found = rows.counts if name not in ("likely", "expected") else rows.sums
    return dict(zip(spelt(table, rows), found[AT[name]].tolist(), strict=True))


def as_list(table: NgramTable) -> list[tuple[str, float, int, int, tuple[int, ...]]]:
    """The ranking as text."""
    rows, scores = ranked(shipped_models(), selection_of(table, shipped_models()))
    frequency, documents = rows.counts[AT["frequency"]].tolist(), rows.counts[AT["documents"]].tolist()
    seen_in = map(tuple, rows.seen_in.T.tolist())
    return list(zip(spelt(table, rows), scores.tolist(), frequency, documents, seen_in, strict=True))


def same(one: Rows, other: Rows) -> bool:
    """Whether all columns are equal, but for the numbers of words."""
    return all(
        np.array_equal(getattr(one, name), getattr(other, name))
        for name in ("keys", "counts", "sums", "likeliest", "seen_in")
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
    both = count_texts(DAY_1 + DAY_2, shipped_models())
    vocabulary = Vocabulary()
    days = [whole_table(DAY_1, vocabulary=vocabulary), whole_table(DAY_2[1:], first=3, vocabulary=vocabulary)]
    added = merged([day.rows() for day in days])
    assert same(added, whole_table([*DAY_1, DAY_2[1]]).rows())
    assert same(merged([day.rows() for day in reversed(days)]), added), "in any order"
    assert both.documents == 5


def test_the_size_of_a_chunk_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = [*DAY_2, *DAY_1, "SHALE GAS", "页岩气 SHALE GAS", *DAY_1, *DAY_2]
    whole = as_list(count_texts(texts, shipped_models()))
    for size in (1, 60, 100):
        monkeypatch.setattr("lexicon.counting.count.CHUNK_CHARACTERS", size)
        assert as_list(count_texts(texts, shipped_models())) == whole


def test_what_is_taken_off_was_never_there() -> None:
    vocabulary = Vocabulary()
    whole, part = whole_table([*DAY_1, DAY_2[1]], vocabulary=vocabulary), whole_table(DAY_1, vocabulary=vocabulary)
    left = merged([whole.rows(), negative(part.rows())])
    rest = whole_table(DAY_2[1:], first=3, vocabulary=vocabulary)
    assert np.array_equal(left.keys, rest.rows().keys)
    assert np.array_equal(left.counts, rest.rows().counts) and np.array_equal(left.sums, rest.rows().sums)
    assert not len(merged([whole.rows(), negative(whole.rows())]))


def test_the_first_documents_are_kept_in_order() -> None:
    vocabulary = Vocabulary()
    tables = [whole_table(["储层"] * count, first=first, vocabulary=vocabulary) for count, first in ((2, 7), (4, 1))]
    rows = merged([table.rows() for table in tables])
    assert rows.seen_in.T.tolist() == [[1, 2, 3]]
    assert rows.frequency.tolist() == [6]
    assert whole_table(["储层"]).rows().seen_in.T.tolist() == [[0] + [NOWHERE] * (SEEN - 1)]


def test_adding_rows_leaves_them_as_they_were() -> None:
    table = whole_table(["储层"])
    one = table.rows()
    assert column(table, "frequency", merged([one, one, one])) == {"储层": 3}
    assert column(table, "frequency", one) == {"储层": 1}
