"""From text to counted candidates (Wang Du 2019, WD-A5, steps 1, 2 and 4).

"PDC 钻头的磨损"  -> tagged words      PDC/eng  钻头/n  的/uj  磨损/v
                 -> runs of words     [PDC 钻头]  [磨损]
                 -> spans             PDC+钻头                     every span whose tags match a rule
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
from text.scripts import UNSPACED_SCRIPTS, is_unspaced
from text.segment import Segmenter

_INVISIBLE = re.compile("[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufeff]")
# Most texts need only these replacements, which is faster than NFKC and equivalent: NFKC maps these symbols in the
# same way, and leaves the stable characters unchanged in any context.
_FULLWIDTH_PUNCTUATION = tuple(zip("，（）：；！？％～＜＞", ",():;!?%~<>", strict=True))
_NFKC_STABLE = re.compile("[\n -~\u4e00-\u9fff、。《》【】“”‘’—·•°±×≤≥→′‰Α-ΡΣ-Ωα-ω]*+")
_HAN_RUN = re.compile(f"[{UNSPACED_SCRIPTS}]+")


class WordSpan(NamedTuple):
    """Adjacent words of a run (see `iter_word_runs`) with their tags."""

    words: tuple[str, ...]
    tags: tuple[str, ...]

    @property
    def text(self) -> str:
        """The words joined with spaces, but without a space next to a Chinese character."""
        joints = (
            "" if is_unspaced(word[-1]) or is_unspaced(next_word[0]) else " "
            for word, next_word in pairwise(self.words)
        )
        return self.words[0] + "".join(joint + word for joint, word in zip(joints, self.words[1:], strict=True))


@dataclass(frozen=True, slots=True)
class TermCandidate:
    """A candidate term with its counts over the corpus.

    Attributes:
        text: most frequent spelling.
        word_count: length in segmented words.
        tag_sequence: tags of the first occurrence.
        frequency: occurrences in the corpus.
        document_count: documents that contain it.
        first_documents: ids of the first documents that contain it.
        score_components: named parts of its score.
    """

    text: str
    word_count: int
    tag_sequence: str
    frequency: int
    document_count: int
    first_documents: tuple[int, ...] = ()
    score_components: tuple[tuple[str, float], ...] = ()


def normalize_text(text: str) -> str:
    """Return `text` in NFKC without invisible characters, the form that is tagged and counted."""
    for fullwidth, ascii_sign in _FULLWIDTH_PUNCTUATION:
        text = text.replace(fullwidth, ascii_sign)
    return text if _NFKC_STABLE.fullmatch(text) else _INVISIBLE.sub("", unicodedata.normalize("NFKC", text))


def find_spans(text: str, segmenter: Segmenter, rules: TagRules) -> list[WordSpan]:
    """Return every span of words whose tags match a rule. Overlapping spans are all included."""
    matches = []
    for run in iter_word_runs(segmenter.tag(text), rules.uses_tag):
        words, tags = zip(*run, strict=True)
        for size in rules.rule_lengths:
            for start in range(len(run) - size + 1):
                if rules.matches(tags[start : start + size]):
                    matches.append(WordSpan(words[start : start + size], tags[start : start + size]))
    return matches


def iter_word_runs(
    tagged_words: Iterable[tuple[str, str]], is_usable_tag: Callable[[str], bool]
) -> Iterator[list[tuple[str, str]]]:
    """Yield runs of words that can form a term together, each a list of (word, tag).

    A run ends at a word whose tag no rule uses, at the end of a line, at a space between two Chinese words, and between
    two Latin words without a space (`wt%NaCl`). A hyphen joins Latin words into one (`shale-gas`); before a Chinese
    word it stays with the Latin word (`X-射线`).
    """
    run: list[tuple[str, str]] = []
    after_blank = False
    for word, tag in tagged_words:
        if word.isspace() and "\n" not in word:
            after_blank = True
            continue
        previous_word, previous_tag = run[-1] if run else ("", "")
        is_hyphenated = word == "-" or (previous_word.endswith("-") and tag in ("eng", "m"))
        if previous_tag == "eng" and not after_blank and is_hyphenated:
            run[-1] = (sys.intern(previous_word + word), "eng")
        elif is_usable_tag(tag) and not (run and _is_separated(previous_word, word, after_blank)):
            run.append((sys.intern(word), tag))
        else:
            if run:
                yield run
            run = [(sys.intern(word), tag)] if is_usable_tag(tag) else []
        after_blank = False
    if run:
        yield run


@dataclass(frozen=True)
class BatchCounts:
    """Counts of a batch of documents.

    Attributes:
        document_count: documents in the batch.
        candidates: per candidate its `word_key`, its first span, its frequency and the ids of its documents.
        spellings: frequency of each spelling, by key, for candidates that can have several spellings.
    """

    document_count: int
    candidates: Sequence[tuple[str, WordSpan, int, Sequence[int]]]
    spellings: Mapping[str, Counter[str]]


def count_batch_spans(
    documents: Sequence[Sequence[WordSpan]], numbers: Sequence[int], is_noise: Callable[[WordSpan], bool]
) -> BatchCounts:
    """Count the spans of `documents`, which have these numbers. The document-by-term matrix is in memory meanwhile."""
    keys = {span: word_key(span.text) for span in set(chain(*documents)) if not is_noise(span)}
    if not keys:
        return BatchCounts(len(documents), (), {})
    # Imported where it is used: it takes longer to load than most commands take to run.
    from sklearn.feature_extraction.text import CountVectorizer

    # The spans are found already: of the vectorizer we want its sparse counting.
    vectorizer = CountVectorizer(analyzer=lambda document: [keys[span] for span in document if span in keys])
    counts = vectorizer.fit_transform(documents).tocsc()
    first_span_by_key = {keys[span]: span for span in chain(*reversed(documents)) if span in keys}
    candidates = []
    for key, column in vectorizer.vocabulary_.items():
        column_slice = slice(counts.indptr[column], counts.indptr[column + 1])
        document_ids = sorted(numbers[document_index] for document_index in counts.indices[column_slice].tolist())
        candidates.append((key, first_span_by_key[key], int(counts.data[column_slice].sum()), document_ids))
    spelling_counts: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for span in chain(*documents):
        span_key = keys.get(span)
        if span_key is not None and not _HAN_RUN.fullmatch(span_key):  # a Chinese term has one spelling
            spelling_counts[span_key][span.text] += 1
    return BatchCounts(len(documents), candidates, dict(spelling_counts))


MAX_CANDIDATES = 1_000_000  # above this, candidates seen once are evicted; about 400 bytes each


class CandidateCounts:
    """Adds up candidates batch by batch, in the order of their documents."""

    def __init__(self, max_seen_documents: int, max_candidates: int = MAX_CANDIDATES) -> None:
        self._max_seen_documents = max_seen_documents
        self._max_candidates = max_candidates
        self._candidates: dict[str, TermCandidate] = {}
        self._spellings: defaultdict[str, Counter[str]] = defaultdict(Counter)

    def add(self, batch: BatchCounts) -> None:
        """Add the counts of a batch."""
        for key, spelling_counts in batch.spellings.items():
            self._spellings[key].update(spelling_counts)
        for key, example, frequency, numbers in batch.candidates:
            self._merge(key, example, frequency, numbers)
        if len(self._candidates) > self._max_candidates:
            # Evict candidates seen once, to bound memory. A frequent term can lose one count at each eviction.
            self._candidates = {
                key: candidate for key, candidate in self._candidates.items() if candidate.frequency > 1
            }
            for key in self._spellings.keys() - self._candidates.keys():
                del self._spellings[key]
            self._max_candidates = max(self._max_candidates, 2 * len(self._candidates))

    def candidates(self) -> dict[str, TermCandidate]:
        """Return all candidates so far by `word_key`."""
        spelling_by_key = {key: spellings.most_common(1)[0][0] for key, spellings in self._spellings.items()}
        return self._candidates | {
            key: replace(self._candidates[key], text=text) for key, text in spelling_by_key.items()
        }

    def _merge(self, key: str, example: WordSpan, frequency: int, document_ids: Sequence[int]) -> None:
        previous = self._candidates.get(key) or TermCandidate(key, len(example.words), " ".join(example.tags), 0, 0)
        self._candidates[key] = TermCandidate(
            key,
            previous.word_count,
            previous.tag_sequence,
            previous.frequency + frequency,
            previous.document_count + len(document_ids),
            (*previous.first_documents, *document_ids)[: self._max_seen_documents],
        )


def _is_separated(word: str, next_word: str, after_blank: bool) -> bool:
    """Return True if two adjacent words do not belong together: Chinese words with a space, Latin words without."""
    is_chinese = is_unspaced(word[-1]), is_unspaced(next_word[0])
    return (all(is_chinese) and after_blank) or not (any(is_chinese) or after_blank)
