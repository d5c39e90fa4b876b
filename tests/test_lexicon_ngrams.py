"""Counts of spans: they add up, are bounded, and outlast a process."""

from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from docstore.errors import LexiconError
from lexicon.boundaries import Boundaries, empty_model
from lexicon.counting import count_again, count_texts
from lexicon.learned import TermMiner, shipped_models, spelt
from lexicon.ngrams import AT, NgramTable, total
from lexicon.occurrences import occurrences
from lexicon.tokens import tokens_of

DAY_1 = ["碳酸盐储层特征复杂，采用PDC钻头钻进。", "页岩气储层的评价方法与PDC 钻头的选型。", ""]
DAY_2 = ["Shale gas wells are drilled. The shale gas reservoir is tight.", "碳酸盐储层特征研究；页岩气。"]


def numbered(count: int, first: int = 0) -> NDArray[np.int32]:
    """The numbers of some documents."""
    return np.arange(first, first + count, dtype=np.int32)


def whole_table(texts: list[str], language: str = "zh") -> NgramTable:
    """Every span of `texts`."""
    table = NgramTable()
    tokens = tokens_of(texts, language, numbered(len(texts)), table.vocabulary)
    table.add(tokens, occurrences(tokens, table.vocabulary, Boundaries(empty_model(language)), -np.inf))
    table.documents = len(texts)
    return table


def column(table: NgramTable, name: str) -> dict[str, int]:
    """One column by the text of the rows."""
    rows = table.rows()
    return dict(zip(spelt(table, rows), rows.counts[AT[name]].tolist(), strict=True))


def as_list(table: NgramTable) -> list[tuple[str, float, int, int, tuple[int, ...]]]:
    """The ranking as text."""
    rows, scores = TermMiner(shipped_models(), table).ranked()
    frequency, documents = rows.counts[AT["frequency"]].tolist(), rows.counts[AT["documents"]].tolist()
    seen_in = map(tuple, rows.seen_in.T.tolist())
    return list(zip(spelt(table, rows), scores.tolist(), frequency, documents, seen_in, strict=True))


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
    added = total([count_texts(DAY_1, shipped_models()), count_texts(DAY_2, shipped_models())])
    assert as_list(added) == as_list(both)
    assert added.documents == both.documents == 5


def test_the_size_of_a_chunk_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = [*DAY_2, *DAY_1, "SHALE GAS", "页岩气 SHALE GAS", *DAY_1, *DAY_2]
    whole = as_list(count_texts(texts, shipped_models()))
    for size in (1, 60, 100):
        monkeypatch.setattr("lexicon.counting.CHUNK_CHARACTERS", size)
        assert as_list(count_texts(texts, shipped_models())) == whole


def test_order_of_addition_changes_no_count() -> None:
    one, other = count_texts(DAY_1, shipped_models()), count_texts(DAY_2, shipped_models())
    forwards, backwards = total([one, other]), total([other, one])
    assert column(forwards, "frequency") == column(backwards, "frequency")
    assert np.array_equal(forwards.rows().counts, backwards.rows().counts)
    assert np.array_equal(forwards.rows().sums, backwards.rows().sums)


def test_saved_and_loaded(tmp_path: Path) -> None:
    table = count_texts(DAY_1, shipped_models())
    table.save(tmp_path / "counts.npz")
    loaded = NgramTable.load(tmp_path / "counts.npz")
    assert as_list(loaded) == as_list(table)
    assert as_list(total([loaded, count_texts(DAY_2, shipped_models())])) == as_list(
        count_texts(DAY_1 + DAY_2, shipped_models())
    )


@pytest.mark.parametrize("content", [b"", b"no table", b"PK\x03\x04"], ids=["empty", "text", "torn"])
def test_a_file_that_is_no_table(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "counts.npz").write_bytes(content)
    with pytest.raises(LexiconError, match=r"counts\.npz: no table of counts"):
        NgramTable.load(tmp_path / "counts.npz")


def test_memory_is_bounded_and_the_frequent_stay() -> None:
    table = NgramTable(most_kept=40)
    boundaries = Boundaries(empty_model("zh"))
    for number in range(30):
        tokens = tokens_of([f"储层特征，Word{number} once{number}"], "zh", numbered(1, number), table.vocabulary)
        table.add(tokens, occurrences(tokens, table.vocabulary, boundaries, -np.inf))
    assert len(table.rows()) <= 40
    assert column(table, "frequency")["储层特征"] == 30


def test_what_is_kept_goes_on_being_counted() -> None:
    table = NgramTable(most_kept=40)
    boundaries = Boundaries(empty_model("zh"))
    for number in range(60):
        tokens = tokens_of([f"储层特征，Word{number} once{number}。钻头"], "zh", numbered(1, number), table.vocabulary)
        table.add(tokens, occurrences(tokens, table.vocabulary, boundaries, -np.inf))
    rows = table.rows()
    kept = dict(zip(spelt(table, rows), rows.seen_in.T.tolist(), strict=True))
    assert kept["钻头"] == kept["储层特征"] == [0, 1, 2]
    assert (rows.keys[:-1] < rows.keys[1:]).all()
    assert column(table, "documents")["储层"] == 60


def test_the_first_documents_are_kept_in_order() -> None:
    table = whole_table(["储层"] * 2)
    table.add_table(whole_table(["储层"] * 4))
    assert table.rows().seen_in.T.tolist() == [[0, 1, 2]]
    assert table.rows().counts[0, 0] == 6


def test_adding_a_table_leaves_it_as_it_was() -> None:
    one = whole_table(["储层"])
    both = total([one, one])
    both.add_table(one)
    assert column(both, "frequency") == {"储层": 3}
    assert column(one, "frequency") == {"储层": 1}


def test_a_second_run_counts_only_what_is_new(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lexicon.counting.BLOCK_DOCUMENTS", 1)  # every text a block
    texts = [*DAY_1, *DAY_2]
    first = as_list(count_again(texts, shipped_models(), tmp_path))
    assert first == as_list(count_texts(texts, shipped_models()))
    counted: list[list[str]] = []
    monkeypatch.setattr(
        "lexicon.counting.count_texts",
        lambda block, models: counted.append(block) or count_texts(block, models),
    )
    changed = [texts[0], "新的一篇：致密油储层。", *texts[2:]]
    again = as_list(count_again(changed, shipped_models(), tmp_path))
    assert counted == [["新的一篇：致密油储层。"]]
    assert again == as_list(count_texts(changed, shipped_models()))
    assert len(list(tmp_path.glob("*.npz"))) == len(set(changed))
