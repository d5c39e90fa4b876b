"""The tag sequences of a candidate, derived from word lists of the domain (Wang Du 2019, table 1 and the text before).

    word list -> tagged words -> how long they are, and the most frequent sequences of 2 to 5 tags

The table itself is lost; METHODS 1.7 says how it was made. A rule's length is in words (tags), see there.
"""

import unicodedata
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from text.folding import word_key
from text.segment import Segmenter

RULE_TAGS = range(2, 6)
RULES_KEPT = 20
LENGTHS = {"1": range(1, 2), "2-5": range(2, 6), "6-10": range(6, 11)}
PAPER = {"1": 4614, "2-5": 25629, "6-10": 639}
"""Words of each length in the paper's list of 30,882: 15, 83 and 2 %."""


@dataclass(frozen=True)
class DerivedRules:
    """What word lists say: the number of distinct `words`, how many there are of each length in segmented words and in
    characters, and how often each sequence of 2 to 5 tags occurs.
    """

    words: int
    by_words: Counter[int]
    by_characters: Counter[int]
    sequences: Counter[str]

    def best(self, count: int = RULES_KEPT) -> list[tuple[str, int]]:
        """The most frequent sequences and their numbers; equal ones in the order of their tags."""
        return sorted(self.sequences.items(), key=lambda found: (-found[1], found[0]))[:count]


def derive_rules(lines: Iterable[str], segmenter: Segmenter) -> DerivedRules:
    """Derive from the lines of word lists: the word is what stands before the first tab."""
    words = {word_key(unicodedata.normalize("NFKC", line.partition("\t")[0])): None for line in lines}
    words.pop("", None)
    by_words: Counter[int] = Counter()
    by_characters: Counter[int] = Counter()
    sequences: Counter[str] = Counter()
    for word in words:
        tags = [tag for part, tag in segmenter.tag(word) if not part.isspace()]
        by_words[len(tags)] += 1
        by_characters[len(word.replace(" ", ""))] += 1
        if len(tags) in RULE_TAGS and "x" not in tags:  # x is punctuation, and characters that no word has
            sequences[" ".join(tags)] += 1
    return DerivedRules(len(words), by_words, by_characters, sequences)


def format_rules(derived: DerivedRules) -> str:
    """A rule file that `parse_rules` reads, its statistics as comments at the top."""
    lines = [
        f"# Derived from {derived.words:,} words of the domain by the procedure of Wang Du 2019, table 1.",
        "#",
        "# length  words of so many segmented words   of so many characters   the paper's list (30,882 words)",
    ]
    for name, lengths in LENGTHS.items():
        shares = [_share(counts, lengths, derived.words) for counts in (derived.by_words, derived.by_characters)]
        lines.append(f"# {name:6}  {shares[0]:33} {shares[1]:23} {PAPER[name]:,} ({PAPER[name] / 30882:.0%})")
    covered = sum(count for _, count in derived.best())
    lines.append(f"# These sequences are those of {covered:,} words, {covered / max(1, derived.words):.1%} of all.")
    return "\n".join([*lines, *(f"{tags}\t{count}" for tags, count in derived.best())]) + "\n"


def _share(counts: Counter[int], lengths: range, words: int) -> str:
    count = sum(counts[length] for length in lengths)
    return f"{count:,} ({count / max(1, words):.0%})"
