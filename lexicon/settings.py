"""Settings of the lexicon stage."""

from dataclasses import dataclass, field

LEARNED_SCORER = "learned"
SCORER_NAMES = (LEARNED_SCORER, "c_value")
LENGTH_UNITS = ("char", "token")
AUTO_PUBLISH_CONFIDENT, AUTO_PUBLISH_OFF = "confident", "off"


@dataclass(frozen=True)
class LexiconSettings:
    """Settings of term mining. Defaults of `c_value` are the paper's if it gives one (Wang Du 2019)."""

    scorer: str = field(
        default=LEARNED_SCORER,
        metadata={
            "help": "how candidates are found and scored: learned (models of Plumbline) or c_value (rules of "
            "the paper)",
            "names": SCORER_NAMES,
        },
    )
    probability: float = field(
        default=0.4,
        metadata={"help": "learned: minimum probability that a candidate is a term, 0 to 1, exclusive", "least": 0},
    )
    auto_publish: str = field(
        default=AUTO_PUBLISH_CONFIDENT,
        metadata={
            "help": "learned: terms that a run accepts and publishes without a reviewer: confident (nearly certain "
            "ones, marked as accepted automatically) or off",
            "names": (AUTO_PUBLISH_CONFIDENT, AUTO_PUBLISH_OFF),
        },
    )
    two_reviewers: bool = field(
        default=False,
        metadata={"help": "a term that a reviewer accepts takes effect only after another account has accepted it too"},
    )
    threshold: float = field(
        default=3.0, metadata={"help": "c_value: minimum C-value of a term, exclusive", "least": 0}
    )
    length_unit: str = field(
        default="char",
        metadata={"help": "c_value: unit of the term length: char (characters) or token (words)"},
    )
    depth: int = field(
        default=2000,
        metadata={
            "help": "number of best undecided candidates per language that are offered for review; 0: all",
            "least": 0,
        },
    )
    min_frequency: int = field(default=2, metadata={"help": "minimum number of occurrences of a term in the corpus"})
    rules: str = field(
        default="improved",
        metadata={
            "help": "c_value: part-of-speech patterns of terms: improved, derived, plain, or the path of a rule file"
        },
    )
    tag_matching: str = field(
        default="prefix",
        metadata={"help": "c_value: prefix: rule tag n also matches ns, nt, nz (one more letter); exact: only n"},
    )
    max_contexts: int = field(default=3, metadata={"help": "number of example sentences stored per term"})
    context_chars: int = field(default=80, metadata={"help": "maximum length of an example sentence in characters"})
