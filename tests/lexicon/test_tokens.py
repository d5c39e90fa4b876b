"""Text as numbered words."""

import numpy as np
import pytest

from lexicon.counting.tokens import Vocabulary, detect_line_language, tokenize_texts


def words_of(text: str, language: str) -> list[str]:
    vocabulary = Vocabulary()
    tokens = tokenize_texts([text], language, np.zeros(1, np.int32), vocabulary)
    return [vocabulary.words[number] for number in tokens.word_ids.tolist()][:-2]


@pytest.mark.parametrize(
    ("text", "language", "words"),
    [
        ("用PDC 钻头", "zh", ["用", "PDC", "钻头"]),
        ("BP model", "zh", ["BP", " model"]),
        ("储层 特征", "zh", ["储层", "\n", "特征"]),  # a blank parts Chinese words
        ("的 的", "zh", ["的", "\n", "的"]),
        ("Shale-gas wells, e.g. IBM's", "en", ["Shale-gas", " wells", ",", "e.g", ".", "IBM's"]),
        ("a  b\tc", "en", ["a", " b", " c"]),
        ("", "zh", []),
        (" \u3000", "zh", []),
        ("甲\ue000乙\n", "zh", ["甲", "\n", "乙", "\n"]),  # the sign we part documents with is not taken from them
    ],
    ids=ascii,
)
def test_words(text: str, language: str, words: list[str]) -> None:
    assert words_of(text, language) == words


def test_a_vocabulary_numbers_each_word_once_and_hashes_by_its_folded_spelling() -> None:
    vocabulary = Vocabulary()
    numbers = vocabulary.get_or_add_all(["PDC", "pdc", "PDC", " pdc"])
    assert numbers[0] == numbers[2]
    assert len(set(numbers)) == 3
    hashes = vocabulary.hashes
    assert hashes[numbers[0], 0] == hashes[numbers[1], 0] == hashes[numbers[3], 0]
    assert hashes[numbers[1], 1] != hashes[numbers[3], 1]  # `pdc` after a blank, later in a term, is another
    other = Vocabulary()
    number = other.get_or_add("pdc")
    assert other.hashes[number, 0] == hashes[numbers[1], 0]


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("页岩气 shale gas 的开发", "zh"),
        ("Shale gas is a gas.", "en"),
        ("", "zh"),
        ("123", "zh"),
        ("A very long English sentence with one 词 in it, and then some more of it to be sure.", "en"),
    ],
    ids=ascii,
)
def test_language(text: str, language: str) -> None:
    assert detect_line_language(text) == language


def test_documents_are_numbered() -> None:
    tokens = tokenize_texts(["储层", "", "钻头"], "zh", np.array([5, 6, 9], np.int32), Vocabulary())
    assert tokens.document_ids.tolist() == [5, 5, 5, 6, 6, 9, 9, 9]
