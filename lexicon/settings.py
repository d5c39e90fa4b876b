"""The settings of the lexicon stage."""

from dataclasses import dataclass, field


@dataclass(frozen=True)
class LexiconSettings:
    """How terms are mined. Defaults are the paper's where it gives one (Wang Du 2019, METHODS 1.7)."""

    scorer: str = field(default="c_value", metadata={"help": "how candidates are scored: c_value"})
    threshold: float = field(default=3.0, metadata={"help": "a candidate must score more than this to be a term"})
    length_unit: str = field(
        default="char", metadata={"help": "what the length in C-value counts: char (characters) or token (words)"}
    )
    min_frequency: int = field(default=2, metadata={"help": "a term must occur at least this often in the corpus"})
    rules: str = field(
        default="improved", metadata={"help": "tag sequences of a term: improved, plain, or the path of a rule file"}
    )
    tag_matching: str = field(
        default="prefix", metadata={"help": "prefix: rule tag n also matches ns, nt, nz (one letter more); or exact"}
    )
    max_contexts: int = field(default=3, metadata={"help": "sentences kept to show a term in use"})
    context_chars: int = field(default=80, metadata={"help": "longest such sentence, in characters"})
