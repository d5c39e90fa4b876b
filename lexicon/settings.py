"""Settings of the lexicon stage."""

from dataclasses import dataclass
from typing import ClassVar

from domain.setting import Group, SettingEffect, setting

LEARNED_SCORER = "learned"
SCORER_NAMES = (LEARNED_SCORER, "c_value")
LENGTH_UNITS = ("char", "token")
AUTO_PUBLISH_CONFIDENT, AUTO_PUBLISH_OFF = "confident", "off"


@dataclass(frozen=True)
class LexiconSettings:
    """Settings of term mining. Defaults of `c_value` are the paper's if it gives one (Wang Du 2019)."""

    GROUP: ClassVar[Group] = "terms"
    scorer: str = setting(
        LEARNED_SCORER,
        "how candidates are found and scored: learned (models of Plumbline) or c_value (rules of the paper)",
        names=SCORER_NAMES,
    )
    probability: float = setting(
        0.4, "learned: minimum probability that a candidate is a term, 0 to 1, exclusive", minimum=0, maximum=1
    )
    auto_publish: str = setting(
        AUTO_PUBLISH_CONFIDENT,
        "learned: terms that a run accepts and publishes without a reviewer: confident (nearly certain "
        "ones, marked as accepted automatically) or off",
        names=(AUTO_PUBLISH_CONFIDENT, AUTO_PUBLISH_OFF),
    )
    two_reviewers: bool = setting(
        False,
        "a term that a reviewer accepts takes effect only after another account has accepted it too",
        effect=SettingEffect.AT_ONCE,
    )
    threshold: float = setting(3.0, "c_value: minimum C-value of a term, exclusive", minimum=0)
    length_unit: str = setting("char", "c_value: unit of the term length: char (characters) or token (words)")
    depth: int = setting(
        2000, "number of best undecided candidates per language that are offered for review; 0: all", minimum=0
    )
    min_frequency: int = setting(2, "minimum number of occurrences of a term in the corpus")
    rules: str = setting(
        "improved",
        "c_value: part-of-speech patterns of terms: improved, derived, plain, or the path of a rule file",
        is_file_only=True,
    )
    tag_matching: str = setting(
        "prefix", "c_value: prefix: rule tag n also matches ns, nt, nz (one more letter); exact: only n"
    )
    max_contexts: int = setting(3, "number of example sentences stored per term")
    context_chars: int = setting(80, "maximum length of an example sentence in characters")
