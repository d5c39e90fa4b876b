"""Groups of synonyms: Tongyici Cilin (`Aa01A01= 人 士 人物`) and Chinese Open Wordnet (`00001740-a lemma 能`)."""

import gzip
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

_CILIN_LEVELS = (1, 2, 4, 5, 7)  # characters of a code that name its class, from the widest to the group
_LEVELS = 5
_RELATED_ONLY = 0.5  # of two words in one Cilin group marked `#`: related, no synonyms


class Cilin:
    """Cilin in its extended form. Two words are as alike as the levels their codes share: 0, 0.2 ... 1."""

    def __init__(self, lines: Iterable[str]) -> None:
        self._codes: dict[str, list[str]] = defaultdict(list)
        self._groups: dict[str, tuple[str, ...]] = {}
        for line in lines:
            code, *words = line.split()
            self._groups[code] = tuple(words)
            for word in words:
                self._codes[word].append(code)

    def similarity(self, one: str, other: str) -> float | None:
        """The best over the senses of both."""
        if one not in self._codes or other not in self._codes:
            return None
        return 1.0 if one == other else max(alike(a, b) for a in self._codes[one] for b in self._codes[other])

    def related(self, word: str) -> Sequence[str]:
        """The other words of its groups of synonyms (`=`)."""
        groups = (self._groups[code] for code in self._codes.get(word, ()) if code.endswith("="))
        return tuple(dict.fromkeys(other for group in groups for other in group if other != word))


def alike(one: str, other: str) -> float:
    """Levels that two codes share, as a part of all; half of the last counts where a group is only related."""
    shared = sum(one[:length] == other[:length] for length in _CILIN_LEVELS)
    full = shared / _LEVELS
    return full * _RELATED_ONLY + 0.4 if shared == _LEVELS and one.endswith("#") else full


class Synsets:
    """Groups of synonyms without any order above them: Chinese Open Wordnet's table of lemmas."""

    def __init__(self, lemmas: Mapping[str, Iterable[str]]) -> None:
        self._words = {group: tuple(words) for group, words in lemmas.items()}
        self._groups: dict[str, set[str]] = defaultdict(set)
        for group, words in self._words.items():
            for word in words:
                self._groups[word].add(group)

    def similarity(self, one: str, other: str) -> float | None:
        """Senses shared, as a part of the fewer of the two words' senses."""
        if one not in self._groups or other not in self._groups:
            return None
        shared = self._groups[one] & self._groups[other]
        return len(shared) / min(len(self._groups[one]), len(self._groups[other]))

    def related(self, word: str) -> Sequence[str]:
        """The other words of its groups."""
        groups = sorted(self._groups.get(word, ()))
        return tuple(dict.fromkeys(other for group in groups for other in self._words[group] if other != word))


def read_wordnet(lines: Iterable[str]) -> Synsets:
    """The synsets of a `wn-data-*.tab`: synset, tab, `lang:lemma`, tab, word (`+` joins the parts of some)."""
    lemmas: dict[str, list[str]] = defaultdict(list)
    for line in lines:
        parts = line.rstrip("\n").split("\t")
        if len(parts) >= 3 and parts[1].endswith("lemma"):
            lemmas[parts[0]].append(parts[2].replace("+", ""))
    return Synsets(lemmas)


def read_lines(path: Path) -> Iterator[str]:
    """The lines of a text file in UTF-8, packed or not, that are neither empty nor a comment."""
    with gzip.open(path, "rt", encoding="utf-8") if path.suffix == ".gz" else path.open(encoding="utf-8") as file:
        yield from (line for line in file if line.strip() and not line.startswith("#"))
