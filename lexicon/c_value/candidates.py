"""From text to counted candidates (Wang Du 2019, WD-A5, steps 1, 2 and 4).

"PDC 钻头的磨损"  -> tagged words      PDC/eng  钻头/n  的/uj  磨损/v
                 -> runs of words     [PDC 钻头]  [磨损]
                 -> spans             PDC+钻头                     every one whose tags match a rule
                 -> candidates        "pdc钻头": PDC钻头, 2 words, frequency 1, in 1 document
"""

import re
import sys
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, pairwise
from typing import NamedTuple

from lexicon.c_value.rules import TagRules
from text.folding import word_key
from text.scripts import DENSE
from text.segment import Segmenter

_INVISIBLE = re.compile("[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufeff]")
# Most texts need but these replaced, which is quicker than to normalise them: NFKC writes the signs so, and the plain
# characters as they are, whatever stands beside them.
_WIDE_SIGNS = tuple(zip("，（）：；！？％～＜＞", ",():;!?%~<>", strict=True))
_PLAIN = re.compile("[\n -~\u4e00-\u9fff、。《》【】“”‘’—·•°±×≤≥→′‰Α-ΡΣ-Ωα-ω]*+")
_HAN = re.compile(f"[{DENSE}]+")


class WordSpan(NamedTuple):
    """Adjacent words of a run (see `word_runs`), and their tags."""

    words: tuple[str, ...]
    tags: tuple[str, ...]

    @property
    def text(self) -> str:
        """The words joined: by nothing beside a Chinese character, else by a space."""
        joints = ("" if _is_han(left[-1]) or _is_han(right[0]) else " " for left, right in pairwise(self.words))
        return self.words[0] + "".join(joint + word for joint, word in zip(joints, self.words[1:], strict=True))


@dataclass(frozen=True, slots=True)
class TermCandidate:
    """A candidate term and its counts over the corpus.

    `text` is its most frequent spelling, `words` its length in segmented words, `tags` the tags of its first
    occurrence, `seen_in` the numbers of the first few documents that hold it, `parts` what its score is made of.
    """

    text: str
    words: int
    tags: str
    frequency: int
    documents: int
    seen_in: tuple[int, ...] = ()
    parts: tuple[tuple[str, float], ...] = ()


def readable(text: str) -> str:
    """`text` in NFKC without invisible characters: what is tagged and counted."""
    for wide, narrow in _WIDE_SIGNS:
        text = text.replace(wide, narrow)
    return text if _PLAIN.fullmatch(text) else _INVISIBLE.sub("", unicodedata.normalize("NFKC", text))


def spans(text: str, segmenter: Segmenter, rules: TagRules) -> list[WordSpan]:
    """Every span of words of `text` whose tags match a rule; spans that overlap all count."""
    found = []
    for run in word_runs(segmenter.tag(text), rules.use):
        words, tags = zip(*run, strict=True)
        for size in rules.lengths:
            for start in range(len(run) - size + 1):
                if rules.match(tags[start : start + size]):
                    found.append(WordSpan(words[start : start + size], tags[start : start + size]))
    return found


def word_runs(tagged: Iterable[tuple[str, str]], use: Callable[[str], bool]) -> Iterator[list[tuple[str, str]]]:
    """Stretches of words that may form a term together, each a list of (word, tag).

    A run ends at a word whose tag no rule uses, at a line's end, at a blank between two Chinese words, and where two
    Latin words have none (`wt%NaCl`). A hyphen between Latin words makes one word of them (`shale-gas`), before a
    Chinese one it stays with the Latin (`X-射线`).
    """
    run: list[tuple[str, str]] = []
    blank = False
    for word, tag in tagged:
        if word.isspace() and "\n" not in word:
            blank = True
            continue
        if run and not blank and _hyphenates(run[-1], word, tag):
            run[-1] = (sys.intern(run[-1][0] + word), "eng")
        elif use(tag) and not (run and _parted(run[-1][0], word, blank)):
            run.append((sys.intern(word), tag))
        else:
            if run:
                yield run
            run = [(sys.intern(word), tag)] if use(tag) else []
        blank = False
    if run:
        yield run


@dataclass(frozen=True)
class CountedBatch:
    """What some documents have: of each candidate its `word_key`, the span seen first, how often, in which documents;
    and of those that can be spelt in several ways, how often in which."""

    documents: int
    candidates: Sequence[tuple[str, WordSpan, int, Sequence[int]]]
    spellings: Mapping[str, Counter[str]]


def counted_batch(
    documents: Sequence[Sequence[WordSpan]], numbers: Sequence[int], is_noise: Callable[[WordSpan], bool]
) -> CountedBatch:
    """Count the spans of `documents`, which have these numbers. Their document-by-term matrix is held meanwhile."""
    keys = {span: word_key(span.text) for span in set(chain(*documents)) if not is_noise(span)}
    if not keys:
        return CountedBatch(len(documents), (), {})
    # Imported where it is used: it takes longer to load than most commands take to run.
    from sklearn.feature_extraction.text import CountVectorizer

    # The spans are found already: of the vectorizer we want its sparse counting.
    vectorizer = CountVectorizer(analyzer=lambda document: [keys[span] for span in document if span in keys])
    counts = vectorizer.fit_transform(documents).tocsc()
    examples = {keys[span]: span for span in chain(*reversed(documents)) if span in keys}
    candidates = []
    for key, column in vectorizer.vocabulary_.items():
        here = slice(counts.indptr[column], counts.indptr[column + 1])
        seen_in = sorted(numbers[place] for place in counts.indices[here].tolist())
        candidates.append((key, examples[key], int(counts.data[here].sum()), seen_in))
    return CountedBatch(len(documents), candidates, _spellings(documents, keys))


def _spellings(documents: Iterable[Iterable[WordSpan]], keys: Mapping[WordSpan, str]) -> dict[str, Counter[str]]:
    found: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for span in chain(*documents):
        key = keys.get(span)
        if key is not None and not _HAN.fullmatch(key):  # a Chinese term has one spelling
            found[key][span.text] += 1
    return dict(found)


MAX_KEPT = 1_000_000  # candidates held before those seen once are forgotten; about 400 bytes each


class CandidateCounts:
    """Adds up candidates batch by batch, in the order of their documents."""

    def __init__(self, most_seen: int, most_kept: int = MAX_KEPT) -> None:
        self._most_seen = most_seen
        self._most_kept = most_kept
        self._candidates: dict[str, TermCandidate] = {}
        self._spellings: defaultdict[str, Counter[str]] = defaultdict(Counter)

    def add(self, batch: CountedBatch) -> None:
        """Add what some documents have."""
        for key, counted in batch.spellings.items():
            self._spellings[key].update(counted)
        for key, example, frequency, numbers in batch.candidates:
            self._merge(key, example, frequency, numbers)
        if len(self._candidates) > self._most_kept:
            self._forget_singles()

    def candidates(self) -> dict[str, TermCandidate]:
        """All candidates counted so far, by `word_key`."""
        spelt = {key: spellings.most_common(1)[0][0] for key, spellings in self._spellings.items()}
        return self._candidates | {key: replace(self._candidates[key], text=text) for key, text in spelt.items()}

    def _forget_singles(self) -> None:
        """Bound the memory: what was seen once so far goes. A term can lose one count a time so, and counts many."""
        self._candidates = {key: one for key, one in self._candidates.items() if one.frequency > 1}
        for key in [key for key in self._spellings if key not in self._candidates]:
            del self._spellings[key]
        self._most_kept = max(self._most_kept, 2 * len(self._candidates))

    def _merge(self, key: str, example: WordSpan, frequency: int, numbers: Sequence[int]) -> None:
        old = self._candidates.get(key) or TermCandidate(key, len(example.words), " ".join(example.tags), 0, 0)
        self._candidates[key] = TermCandidate(
            key,
            old.words,
            old.tags,
            old.frequency + frequency,
            old.documents + len(numbers),
            (*old.seen_in, *numbers)[: self._most_seen],
        )


def _hyphenates(last: tuple[str, str], word: str, tag: str) -> bool:
    """Whether `word`, right after the word `last`, is a hyphen of a Latin compound or the part after one."""
    return last[1] == "eng" and (word == "-" or (last[0].endswith("-") and tag in ("eng", "m")))


def _parted(left: str, right: str, blank: bool) -> bool:
    """Whether two adjacent words are written apart: Chinese ones by a blank, Latin ones by the lack of one."""
    chinese = _is_han(left[-1]), _is_han(right[0])
    return (all(chinese) and blank) or not (any(chinese) or blank)


def _is_han(char: str) -> bool:
    return _HAN.match(char) is not None
