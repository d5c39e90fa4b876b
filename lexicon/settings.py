"""The settings of the lexicon stage."""

from dataclasses import dataclass, field

LEARNED_SCORER = "learned"
SCORER_NAMES = (LEARNED_SCORER, "c_value")


@dataclass(frozen=True)
class LexiconSettings:
    """How terms are mined. Those of `c_value` default to the paper's where it gives one (Wang Du 2019, METHODS 1.7)."""

    scorer: str = field(
        default=LEARNED_SCORER,
        metadata={
            "help": "how candidates are found and scored: learned (our models), c_value (the paper's rules)",
            "names": SCORER_NAMES,
        },
    )
    probability: float = field(
        default=0.4, metadata={"help": "learned: a term must be one with more than this probability, 0 to 1"}
    )
    threshold: float = field(default=3.0, metadata={"help": "c_value: a term must have more than this C-value"})
    length_unit: str = field(
        default="char",
        metadata={"help": "c_value: what the length in C-value counts: char (characters) or token (words)"},
    )
    depth: int = field(
        default=2000,
        metadata={"help": "so many undecided candidates of each language wait for review, the best ones; 0: all"},
    )
    min_frequency: int = field(default=2, metadata={"help": "a term must occur at least this often in the corpus"})
    rules: str = field(
        default="improved",
        metadata={"help": "c_value: tag sequences of a term: improved, derived, plain, or the path of a rule file"},
    )
    tag_matching: str = field(
        default="prefix",
        metadata={"help": "c_value: prefix: rule tag n also matches ns, nt, nz (one letter more); or exact"},
    )
    max_contexts: int = field(default=3, metadata={"help": "sentences kept to show a term in use"})
    context_chars: int = field(default=80, metadata={"help": "longest such sentence, in characters"})
