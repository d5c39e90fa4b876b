"""Synonym groups: Tongyici Cilin (`Aa01A01= 人 士 人物`) and Chinese Open Wordnet (`00001740-a lemma 能`)."""

import gzip
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

_LEVEL_CODE_LENGTHS = (1, 2, 4, 5, 7)  # prefix lengths of a code that identify its levels, from class to group
_LEVEL_COUNT = 5
_RELATED_GROUP_SIMILARITY = 0.9  # of two words in one Cilin group marked `#`: related, but not synonyms


class CilinConcepts:
    """Extended Cilin. The similarity of two words is the share of code levels they have in common: 0, 0.2 ... 1."""

    def __init__(self, lines: Iterable[str]) -> None:
        self._codes_by_word: dict[str, list[str]] = defaultdict(list)
        self._words_by_code: dict[str, tuple[str, ...]] = {}
        for line in lines:
            code, *words = line.split()
            self._words_by_code[code] = tuple(words)
            for word in words:
                self._codes_by_word[word].append(code)

    def similarity(self, first: str, second: str) -> float | None:
        """Return the highest similarity over the senses of both words, or None if a word is unknown."""
        if first not in self._codes_by_word or second not in self._codes_by_word:
            return None
        if first == second:
            return 1.0
        return max(code_similarity(a, b) for a in self._codes_by_word[first] for b in self._codes_by_word[second])

    def related(self, word: str) -> Sequence[str]:
        """Return the other words of the word's synonym groups (`=`)."""
        groups = (self._words_by_code[code] for code in self._codes_by_word.get(word, ()) if code.endswith("="))
        return tuple(dict.fromkeys(other for group in groups for other in group if other != word))


def code_similarity(first: str, second: str) -> float:
    """Return the share of levels that two codes have in common. In a related group (`#`), words score 0.9."""
    shared_levels = sum(first[:length] == second[:length] for length in _LEVEL_CODE_LENGTHS)
    if shared_levels == _LEVEL_COUNT and first.endswith("#"):
        return _RELATED_GROUP_SIMILARITY
    return shared_levels / _LEVEL_COUNT


class WordnetConcepts:
    """Synonym groups without a hierarchy, from the lemma table of Chinese Open Wordnet."""

    def __init__(self, words_by_synset: Mapping[str, Iterable[str]]) -> None:
        self._words_by_synset = {group: tuple(words) for group, words in words_by_synset.items()}
        self._synsets_by_word: dict[str, set[str]] = defaultdict(set)
        for group, words in self._words_by_synset.items():
            for word in words:
                self._synsets_by_word[word].add(group)

    def similarity(self, first: str, second: str) -> float | None:
        """Return the shared senses divided by the smaller number of senses, or None if a word is unknown."""
        if first not in self._synsets_by_word or second not in self._synsets_by_word:
            return None
        shared = self._synsets_by_word[first] & self._synsets_by_word[second]
        return len(shared) / min(len(self._synsets_by_word[first]), len(self._synsets_by_word[second]))

    def related(self, word: str) -> Sequence[str]:
        """Return the other words of the word's groups."""
        groups = sorted(self._synsets_by_word.get(word, ()))
        return tuple(
            dict.fromkeys(other for group in groups for other in self._words_by_synset[group] if other != word)
        )


def read_open_wordnet(lines: Iterable[str]) -> WordnetConcepts:
    """Read the synsets of a `wn-data-*.tab` file.

    Lines are synset, tab, `lang:lemma`, tab, word. `+` between the parts of a word is removed.
    """
    lemmas: dict[str, list[str]] = defaultdict(list)
    for line in lines:
        parts = line.rstrip("\n").split("\t")
        if len(parts) >= 3 and parts[1].endswith("lemma"):
            lemmas[parts[0]].append(parts[2].replace("+", ""))
    return WordnetConcepts(lemmas)


def read_data_lines(path: Path) -> Iterator[str]:
    """Yield the lines of a UTF-8 text file, optionally gzipped, without empty lines and comments."""
    with gzip.open(path, "rt", encoding="utf-8") if path.suffix == ".gz" else path.open(encoding="utf-8") as file:
        yield from (line for line in file if line.strip() and not line.startswith("#"))
