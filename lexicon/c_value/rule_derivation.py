"""Derivation of candidate tag sequences from domain word lists (Wang Du 2019, table 1 and the text before).

    word list -> tagged words -> distribution of lengths, and the most frequent sequences of 2 to 5 tags

The available copy of the paper lacks the table. The text before it describes how the table was made. The length of a
rule is in words (tags).
"""

import unicodedata
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from text.folding import word_key
from text.segment import Segmenter

RULE_LENGTHS = range(2, 6)
MAX_RULES = 20
LENGTH_BUCKETS = {"1": range(1, 2), "2-5": range(2, 6), "6-10": range(6, 11)}
PAPER_WORD_COUNTS = {"1": 4614, "2-5": 25629, "6-10": 639}
"""Words by length in the paper's list of 30,882 words: 15, 83 and 2 %."""


@dataclass(frozen=True)
class DerivedRules:
    """Statistics of word lists.

    Attributes:
        word_count: distinct words.
        words_by_token_count: words by length in segmented words.
        words_by_char_count: words by length in characters.
        tag_sequence_counts: words by sequence of 2 to 5 tags.
    """

    word_count: int
    words_by_token_count: Counter[int]
    words_by_char_count: Counter[int]
    tag_sequence_counts: Counter[str]

    def most_frequent(self, count: int = MAX_RULES) -> list[tuple[str, int]]:
        """Return the most frequent sequences with their counts. Equal counts are ordered by tags."""
        return sorted(self.tag_sequence_counts.items(), key=lambda item: (-item[1], item[0]))[:count]


def derive_rules(lines: Iterable[str], segmenter: Segmenter) -> DerivedRules:
    """Derive rules from the lines of word lists. The word is the text before the first tab."""
    words = {word_key(unicodedata.normalize("NFKC", line.partition("\t")[0])): None for line in lines}
    words.pop("", None)
    by_words: Counter[int] = Counter()
    by_characters: Counter[int] = Counter()
    sequences: Counter[str] = Counter()
    for word in words:
        tags = [tag for part, tag in segmenter.tag(word) if not part.isspace()]
        by_words[len(tags)] += 1
        by_characters[len(word.replace(" ", ""))] += 1
        if len(tags) in RULE_LENGTHS and "x" not in tags:  # x: punctuation and unknown characters
            sequences[" ".join(tags)] += 1
    return DerivedRules(len(words), by_words, by_characters, sequences)


def format_rules(derived_rules: DerivedRules) -> str:
    """Return a rule file for `parse_rules`, with the statistics as comments at the top."""
    lines = [
        f"# Derived from {derived_rules.word_count:,} words of the domain by the procedure of Wang Du 2019, table 1.",
        "#",
        "# length  words by segmented words          words by characters     the paper's list (30,882 words)",
    ]
    for name, lengths in LENGTH_BUCKETS.items():
        shares = []
        for counts in (derived_rules.words_by_token_count, derived_rules.words_by_char_count):
            count = sum(counts[length] for length in lengths)
            shares.append(f"{count:,} ({count / max(1, derived_rules.word_count):.0%})")
        paper_count = PAPER_WORD_COUNTS[name]
        lines.append(f"# {name:6}  {shares[0]:33} {shares[1]:23} {paper_count:,} ({paper_count / 30882:.0%})")
    covered_words = sum(count for _, count in derived_rules.most_frequent())
    covered_share = covered_words / max(1, derived_rules.word_count)
    lines.append(f"# These sequences cover {covered_words:,} words, {covered_share:.1%} of all.")
    return "\n".join([*lines, *(f"{tags}\t{count}" for tags, count in derived_rules.most_frequent())]) + "\n"
