"""Tag sequences of candidates (Wang Du 2019, table 1), read from a reviewed data file.

n n        储层特征
eng n      PDC钻头
"""

import re
from collections.abc import Callable
from functools import cached_property
from importlib.resources import files
from pathlib import Path

from domain.errors import LexiconError, SettingsError

TagSequence = tuple[str, ...]

TAG_MATCHERS: dict[str, Callable[[str, str], bool]] = {
    "exact": lambda rule_tag, tag: rule_tag == tag,
    "prefix": lambda rule_tag, tag: tag.startswith(rule_tag) and len(tag) <= len(rule_tag) + 1,
}

SHIPPED_RULE_FILES = {"improved": "pos_rules.tsv", "derived": "pos_rules_derived.tsv", "plain": "pos_rules_plain.tsv"}
MAX_RULE_TAGS = 8
_TAG_PATTERN = re.compile(r"[a-z]{1,4}")


def load_rules(name: str) -> tuple[TagSequence, ...]:
    """Load a shipped rule file (`improved`, `derived`, `plain`) or the file at path `name`.

    Raises:
        SettingsError: the file cannot be read.
        LexiconError: a line is not a valid rule, or there are no rules.
    """
    try:
        if name in SHIPPED_RULE_FILES:
            text = (files("lexicon") / "data" / SHIPPED_RULE_FILES[name]).read_text(encoding="utf-8")
        else:
            text = Path(name).read_text(encoding="utf-8-sig")
    except (OSError, ValueError) as error:
        raise SettingsError(
            f"lexicon.rules: {name!r} is neither {', '.join(SHIPPED_RULE_FILES)} nor a text file: {error}"
        ) from error
    try:
        return parse_rules(text)
    except LexiconError as error:
        raise LexiconError(f"lexicon.rules: {name}, {error}") from None


def parse_rules(text: str) -> tuple[TagSequence, ...]:
    """Return the rules of a text in order: one sequence per line, `#` for comments, notes after a tab.

    ICTCLAS uses `x` for Latin strings and jieba uses `eng`, so `x` is read as `eng`.

    Raises:
        LexiconError: a line is not a valid rule, or there are no rules.
    """
    rules = []
    for line_number, line in enumerate(text.splitlines(), start=1):
        tags = tuple("eng" if tag == "x" else tag for tag in line.partition("\t")[0].split())
        if not tags or tags[0].startswith("#"):
            continue
        if len(tags) > MAX_RULE_TAGS or not all(map(_TAG_PATTERN.fullmatch, tags)):
            raise LexiconError(
                f"line {line_number}: expected 1 to {MAX_RULE_TAGS} tags such as `n` or `vn`: {line[:60]!r}"
            )
        rules.append(tags)
    if not rules:
        raise LexiconError("no line contains a rule: write at least one")
    return tuple(rules)


class TagRules:
    """Matches tag sequences of words against rules.

    `matching` compares a rule's tag with a word's tag: `exact`, or `prefix` (plus at most one letter: n matches ns, nt,
    nz but not nrt).

    Raises:
        SettingsError: `matching` is another name.
    """

    def __init__(self, rules: tuple[TagSequence, ...], matching: str = "prefix") -> None:
        if matching not in TAG_MATCHERS:
            raise SettingsError(f"lexicon.tag_matching: {matching!r} is not {' or '.join(TAG_MATCHERS)}")
        self._tag_matches = TAG_MATCHERS[matching]
        self._rules = tuple(dict.fromkeys(rules))
        self._match_cache: dict[TagSequence, bool] = {}  # a corpus has few distinct sequences
        self._tag_cache: dict[str, bool] = {}

    @cached_property
    def rule_lengths(self) -> range:
        """Range of rule lengths in tags, shortest to longest."""
        sizes = [len(rule) for rule in self._rules]
        return range(min(sizes), max(sizes) + 1)

    def matches(self, tags: TagSequence) -> bool:
        """Return True if a rule has exactly this sequence."""
        is_match = self._match_cache.get(tags)
        if is_match is None:
            is_match = self._match_cache[tags] = any(
                len(rule) == len(tags) and all(map(self._tag_matches, rule, tags)) for rule in self._rules
            )
        return is_match

    def uses_tag(self, tag: str) -> bool:
        """Return True if any rule contains this tag."""
        is_used = self._tag_cache.get(tag)
        if is_used is None:
            is_used = self._tag_cache[tag] = any(self._tag_matches(part, tag) for rule in self._rules for part in rule)
        return is_used
