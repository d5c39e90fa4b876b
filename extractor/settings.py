"""Everything about extraction that an operator may turn."""

from dataclasses import dataclass, field

EXTRACTOR_VERSION = 5
"""Raise it when the extractor makes something else of a page: every kept page is then extracted once more."""

METHOD_NAMES = ("blocks", "two_pass", "tag_path_ratio")
"""The names of `extractor.body_methods.METHODS`, without all that it loads."""


@dataclass(frozen=True)
class ExtractSettings:
    """Settings of the extractor stage. Defaults are the paper's (Wang Du 2019) where it gives any."""

    method: str = field(
        default="blocks",
        metadata={
            "help": "body method: blocks (ours), two_pass (WD-A2) or tag_path_ratio (its baseline)",
            "names": METHOD_NAMES,
        },
    )
    alpha: int = field(default=2, metadata={"help": "two_pass: a body has more than this many punctuation marks"})
    beta: int = field(default=10, metadata={"help": "two_pass: a body has fewer link characters than this"})
    candidates: int = field(default=5, metadata={"help": "two_pass: how many blocks the second pass looks at"})
    tighten: bool = field(
        default=False, metadata={"help": "two_pass: descend to the child that holds all the punctuation"}
    )
    score_terms: str = field(
        default="paper",
        metadata={"help": "two_pass: score as the paper's text has it (paper), or as its code did (code)"},
    )
    shortest_body: int = field(
        default=8, metadata={"help": "a body shorter than this is none, in Chinese characters or 3 Latin letters"}
    )
    copyright_longest: int = field(
        default=160,
        metadata={"help": "a body with a copyright notice is dropped up to this length, same unit"},
    )
    list_link_share: float = field(
        default=0.7, metadata={"help": "a page may be a list from this share of link text in its text, 0 to 1"}
    )
    list_longest_body: int = field(
        default=120,
        metadata={"help": "a page whose body is longer than this is never a list for its links, same unit as above"},
    )
    near_duplicate: float = field(
        default=0.6,
        metadata={
            "help": "articles are compared, whether one is a copy, from this share of equal shingles on, 0.5 to 1; "
            "1 for equal ones"
        },
    )
    document_seconds: float = field(
        default=60.0, metadata={"help": "seconds that reading one document may take; its process is killed then"}
    )
    document_mb: int = field(default=1024, metadata={"help": "megabytes of memory that reading one document may take"})
