"""The tag sequences that make a candidate (Wang Du 2019, table 1), as a reviewed data file.

n n        储层特征
eng n      PDC钻头
"""

import re
from collections.abc import Callable
from functools import cached_property
from importlib.resources import files
from pathlib import Path

from docstore.errors import LexiconError, SettingsError

Tags = tuple[str, ...]

RULE_FILES = {"improved": "pos_rules.tsv", "derived": "pos_rules_derived.tsv", "plain": "pos_rules_plain.tsv"}
LONGEST_RULE = 8
_TAG = re.compile(r"[a-z]{1,4}")


def load_rules(name: str) -> tuple[Tags, ...]:
    """The rules of a shipped file (`improved`, `derived`, `plain`) or of the file at path `name`.

    Raises SettingsError if there is no such file and LexiconError if a line of it is no rule.
    """
    try:
        if name in RULE_FILES:
            text = (files("lexicon") / "data" / RULE_FILES[name]).read_text(encoding="utf-8")
        else:
            text = Path(name).read_text(encoding="utf-8-sig")
    except (OSError, ValueError) as error:
        raise SettingsError(
            f"lexicon.rules: {name!r} is not {', '.join(RULE_FILES)}, nor a text file: {error}"
        ) from error
    return parse_rules(text)


def parse_rules(text: str) -> tuple[Tags, ...]:
    """The rules in `text`, in order: a sequence a line, `#` a comment, what follows a tab a note.

    ICTCLAS writes `x` for a Latin string; jieba writes `eng` (METHODS 1.7), so `x` is read as `eng`.
    """
    rules = []
    for number, line in enumerate(text.splitlines(), start=1):
        tags = tuple("eng" if tag == "x" else tag for tag in line.partition("\t")[0].split())
        if not tags or tags[0].startswith("#"):
            continue
        if len(tags) > LONGEST_RULE or not all(map(_TAG.fullmatch, tags)):
            raise LexiconError(
                f"rule file, line {number}: not 1 to {LONGEST_RULE} tags like `n` or `vn`: {line[:60]!r}"
            )
        rules.append(tags)
    if not rules:
        raise LexiconError("rule file: it has no rules")
    return tuple(rules)


class TagRules:
    """Says which tag sequences are those of a candidate.

    `matching` names how a rule's tag meets a word's: `exact`, or `prefix` (plus at most one letter: n meets ns, nt,
    nz but not nrt). SettingsError for any other name.
    """

    def __init__(self, rules: tuple[Tags, ...], matching: str = "prefix") -> None:
        if matching not in TAG_MATCHING:
            raise SettingsError(f"lexicon.tag_matching: {matching!r} is not {' or '.join(TAG_MATCHING)}")
        self._meets = TAG_MATCHING[matching]
        self._rules = tuple(dict.fromkeys(rules))
        self._known: dict[Tags, bool] = {}  # a corpus has few distinct sequences, and each is asked very often
        self._known_tags: dict[str, bool] = {}

    @cached_property
    def lengths(self) -> range:
        """Numbers of tags a rule has, shortest to longest."""
        sizes = [len(rule) for rule in self._rules]
        return range(min(sizes), max(sizes) + 1)

    def match(self, tags: Tags) -> bool:
        """Whether some rule has just this sequence."""
        known = self._known.get(tags)
        if known is None:
            known = self._known[tags] = any(
                len(rule) == len(tags) and all(map(self._meets, rule, tags)) for rule in self._rules
            )
        return known

    def use(self, tag: str) -> bool:
        """Whether a word of this tag can be part of a candidate at all."""
        known = self._known_tags.get(tag)
        if known is None:
            known = self._known_tags[tag] = any(self._meets(part, tag) for rule in self._rules for part in rule)
        return known


def _exact(rule_tag: str, tag: str) -> bool:
    return rule_tag == tag


def _prefix(rule_tag: str, tag: str) -> bool:
    return tag.startswith(rule_tag) and len(tag) <= len(rule_tag) + 1


TAG_MATCHING: dict[str, Callable[[str, str], bool]] = {"exact": _exact, "prefix": _prefix}
