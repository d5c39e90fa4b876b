"""Reads the administrator's files for the papers' strategies: word vectors and word weights.

300000 200             word2vec text format; the first line (words, dimensions) is optional
石油 0.12 -0.31 ...    a word and its vector; the most frequent words come first
中国 0.1               a word and its weight (ZK-F2)
"""

import re
from array import array
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np

from domain.errors import SettingsError
from focused.paper_strategies.word_vectors import WordVectors

VECTORS_SETTING, WEIGHTS_SETTING = "papers.vectors", "papers.zhou_kun.word_weights"
MAX_VECTOR_VALUES = 60_000_000  # numbers in memory, 240 MB: 200,000 words of 300 dimensions
MAX_LINE_BYTES = 200_000
HEADER_RE = re.compile(rb"(\d{1,9}) (\d{1,9})")
MIN_LENGTH = 1e-9  # avoids division by zero
MAX_MAGNITUDE = 1e15  # squares of larger numbers do not fit into float32


def read_word_weights(path: Path) -> dict[str, float]:
    """Read the weights of words. Raises SettingsError with the line number."""
    weights: dict[str, float] = {}
    for number, word, fields in iter_words(path, WEIGHTS_SETTING):
        numbers = parse_numbers(fields)
        if len(numbers) != 1 or numbers[0] < 0 or word in weights:
            problem = "a second weight of this word" if word in weights else "no weight of 0 or more"
            raise SettingsError(
                f"{WEIGHTS_SETTING}: {path}, line {number}: {problem}; write each word once, as: word 0.5"
            )
        weights[word] = numbers[0]
    return weights


def read_word_vectors(path: Path, note: Callable[[str], None] = lambda text: None) -> WordVectors:
    """Read word vectors in word2vec text format, the first ones that fit into MAX_VECTOR_VALUES.

    Args:
        path: the file.
        note: called with a text if words are left out.

    Raises:
        SettingsError: the file cannot be read, or a line is not valid.
    """
    row_by_word: dict[str, int] = {}
    values = array("f")
    dimensions, expected_count, count = 0, 0, 0
    for number, word, fields in iter_words(path, VECTORS_SETTING, errors="replace"):
        if number == 1 and (header := HEADER_RE.fullmatch(b" ".join((word.encode(), *fields)))):
            expected_count, dimensions = int(header[1]), int(header[2])
            continue
        dimensions = dimensions or len(fields)
        if len(fields) > dimensions:  # a word with blanks, which no text contains as one word
            count += 1
            continue
        vector = parse_numbers(fields)
        if not vector or len(vector) != dimensions:
            raise SettingsError(
                f"{VECTORS_SETTING}: {path}, line {number}: expected a word and {dimensions or 'its'} numbers, "
                "separated by spaces: save the vectors in word2vec text format"
            )
        if len(values) + dimensions > MAX_VECTOR_VALUES:
            note(f"{VECTORS_SETTING}: only the first {count} words of {path} fit into memory and are used")
            break
        count += 1
        if row_by_word.setdefault(word, len(row_by_word)) * dimensions == len(values):
            values.extend(vector)
    else:
        if count < max(expected_count, 1):
            raise SettingsError(
                f"{VECTORS_SETTING}: {path} ends after {count} of {max(expected_count, 1)} words: copy the file again"
            )
    matrix = np.frombuffer(values, dtype=np.float32).reshape(-1, dimensions)
    lengths = np.sqrt(np.einsum("ij,ij->i", matrix, matrix))
    matrix /= np.maximum(lengths, MIN_LENGTH)[:, np.newaxis]  # in place, because it may be large
    return WordVectors(row_by_word, matrix)


def iter_words(path: Path, setting: str, errors: str = "strict") -> Iterator[tuple[int, str, list[bytes]]]:
    """Yield the number of each line that is not empty, its word in lower case and its other fields.

    `errors` is that of `bytes.decode`. Raises SettingsError.
    """
    try:
        with path.open("rb") as file:
            for number, line in enumerate(iter(lambda: file.readline(MAX_LINE_BYTES + 1), b""), 1):
                if len(line) > MAX_LINE_BYTES:
                    raise SettingsError(f"{setting}: {path}, line {number} is too long: expected one word per line")
                if fields := line.split():
                    yield number, fields[0].decode("utf-8-sig" if number == 1 else "utf-8", errors).lower(), fields[1:]
    except OSError as error:
        raise SettingsError(f"{setting}: cannot read {path}: {error.strerror}") from error
    except UnicodeDecodeError:
        raise SettingsError(f"{setting}: {path}, line {number} is not UTF-8 text: save the file as text") from None


def parse_numbers(texts: Sequence[bytes]) -> list[float]:
    """Parse numbers. Returns [] if a text is not a number, or one beyond MAX_MAGNITUDE."""
    try:
        numbers = list(map(float, texts))
    except ValueError:
        return []
    return numbers if all(-MAX_MAGNITUDE < number < MAX_MAGNITUDE for number in numbers) else []
