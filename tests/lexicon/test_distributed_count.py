"""Counting piece by piece: whoever counts them, and whatever that one has counted before, the terms are the same."""

import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest

from domain.errors import LexiconError
from lexicon.counting import distributed_count
from lexicon.counting import incremental_count as counting
from lexicon.counting.counts_store import CountsStore
from lexicon.counting.distributed_count import CountedPiece, count_piece
from lexicon.mining import mine_terms
from lexicon.model.term_model import counting_digest, load_shipped_models
from tests.lexicon.test_counting import ALL, written

DIGEST = counting_digest(load_shipped_models())


def texts(first: int) -> list[tuple[int, str]]:
    """Number and text of some documents."""
    return [(number, f"{one.title}\n{one.body}") for number, one in written(12, first).held.items()]


def in_new_thread(work: Callable[[], list[CountedPiece]]) -> list[CountedPiece]:
    """What a thread makes of it that has counted nothing before."""
    found: list[CountedPiece] = []
    thread = threading.Thread(target=lambda: found.extend(work()))
    thread.start()
    thread.join()
    return found


def as_shown(counted: Sequence[CountedPiece]) -> list[object]:
    """All that is said of each row, its words by their spelling, and how often each word was written."""
    shown: list[object] = []
    for piece in counted:
        words = np.array([*piece.words, ""], dtype=object)
        shown.append(dict(zip(piece.words, piece.occurrences.tolist(), strict=True)))
        rows = piece.rows
        shown += [rows.keys.tolist(), rows.counts.tolist(), rows.sums.tolist(), rows.first_documents.tolist()]
        shown += [rows.best_log_probability.tolist(), words[rows.word_ids].tolist()]
    return shown


def test_what_was_counted_before_changes_nothing_and_its_words_are_not_sent() -> None:
    first, second = texts(0), texts(100)
    fresh = in_new_thread(lambda: count_piece(second, DIGEST))
    warm = in_new_thread(lambda: (count_piece(first, DIGEST), count_piece(second, DIGEST))[1])
    assert as_shown(warm) == as_shown(fresh)
    before = in_new_thread(lambda: count_piece(first, DIGEST))
    only_there = {word for piece in before for word in piece.words} - {word for piece in fresh for word in piece.words}
    assert only_there and not only_there & {word for piece in warm for word in piece.words}


def test_many_words_and_rows_are_several_tables(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(distributed_count, "MAX_RUN_WORDS", 40)
    monkeypatch.setattr(distributed_count, "CHUNK_CHARACTERS", 300)
    found = in_new_thread(lambda: count_piece(texts(0), DIGEST))
    assert len(found) > 2
    assert sum(int(piece.occurrences.sum()) for piece in found) == sum(
        int(piece.occurrences.sum()) for piece in in_new_thread(lambda: count_piece(texts(0), DIGEST))
    )


def test_another_version_of_the_program_is_refused() -> None:
    with pytest.raises(LexiconError, match="install the same version"):
        count_piece(texts(0), "another")


def test_another_version_of_the_program_leaves_the_stored_counts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    articles = written(12)
    mine_terms(articles, ALL, counts_dir=tmp_path)
    before = sorted(tmp_path.iterdir())
    articles.held.update(written(1, first=50).held)
    with monkeypatch.context() as patched, pytest.raises(LexiconError, match="install the same version"):
        patched.setattr(distributed_count, "counting_digest", lambda models: "another")
        mine_terms(articles, ALL, counts_dir=tmp_path, map_ordered=map)
    assert sorted(tmp_path.iterdir()) == before


def test_a_piece_that_fails_leaves_nothing_to_the_next(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(distributed_count, "CHUNK_CHARACTERS", 300)  # so that some of it is counted before it fails

    def after_a_failure() -> list[CountedPiece]:
        with pytest.raises(TypeError):
            count_piece([*texts(0), (1, None)], DIGEST)  # type: ignore[list-item]
        return count_piece(texts(100), DIGEST)

    assert as_shown(in_new_thread(after_a_failure)) == as_shown(in_new_thread(lambda: count_piece(texts(100), DIGEST)))


@pytest.mark.parametrize("most_words", [200_000, 30])
def test_the_terms_are_those_of_one_machine(most_words: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    corpus = written(40)
    alone = mine_terms(corpus, ALL, counts_dir=tmp_path / "alone")
    monkeypatch.setattr(counting, "PIECE_CHARACTERS", 400)
    monkeypatch.setattr(distributed_count, "MAX_RUN_WORDS", most_words)
    piece_sizes: list[int] = []

    def map_ordered(work: Callable[..., object], some: Iterator[list[tuple[int, str]]]) -> Iterator[object]:
        for piece in some:
            piece_sizes.append(len(piece))
            yield work(piece)

    found = mine_terms(corpus, ALL, counts_dir=tmp_path / "spread", map_ordered=map_ordered)
    assert len(piece_sizes) > 5
    assert found == alone


def test_words_keep_their_numbers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lexicon.counting.counts_store.MAX_CACHED_WORDS", 2)
    memory = CountsStore(tmp_path, DIGEST)
    texts = (["储层", "井"], ["井", "gas", "储层"], ["gas", "oil", "井"], [])
    assert [memory.get_or_add_word_ids(words).tolist() for words in texts] == [[1, 2], [2, 3, 1], [3, 4, 2], []]
    memory.close()
