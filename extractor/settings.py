"""Settings of the extractor stage."""

from dataclasses import dataclass, field

EXTRACTOR_VERSION = 11
"""Increase it when the extractor produces other results: all saved pages are then extracted again."""

METHOD_NAMES = ("blocks", "two_pass", "tag_path_ratio")
"""The keys of `extractor.body_methods.BODY_METHODS`, repeated so that the methods are not imported."""


@dataclass(frozen=True)
class ExtractSettings:
    """Settings of the extractor stage. Defaults are those of the paper (Wang Du 2019) if it states any."""

    method: str = field(
        default="blocks",
        metadata={
            "help": "body method: blocks (default); two_pass (WD-A2), better than its baseline on picture news with "
            "little text only; tag_path_ratio, this baseline",
            "names": METHOD_NAMES,
        },
    )
    alpha: int = field(default=2, metadata={"help": "two_pass: a body has more punctuation marks than this"})
    beta: int = field(default=10, metadata={"help": "two_pass: a body has fewer link characters than this"})
    candidates: int = field(default=5, metadata={"help": "two_pass: number of blocks that the second pass examines"})
    tighten: bool = field(
        default=False, metadata={"help": "two_pass: descend to the child that contains all the punctuation"}
    )
    score_terms: str = field(
        default="paper",
        metadata={"help": "two_pass: score formula of the paper's text (paper) or of its code (code)"},
    )
    shortest_body: int = field(
        default=8, metadata={"help": "minimum size of a body; one unit is one Chinese character or three Latin letters"}
    )
    copyright_longest: int = field(
        default=160,
        metadata={"help": "maximum size of a body that is rejected for its copyright notice, same unit"},
    )
    list_link_share: float = field(
        default=0.7, metadata={"help": "minimum share of link text in the text of a list page, 0 to 1"}
    )
    list_longest_body: int = field(
        default=120,
        metadata={"help": "maximum size of the body of a page that its links make a list page, same unit"},
    )
    near_duplicate: float = field(
        default=0.6,
        metadata={
            "help": "minimum share of equal shingles for two articles to be compared as possible duplicates, "
            "0.5 to 1; 1: only equal texts"
        },
    )
    document_seconds: float = field(
        default=60.0, metadata={"help": "maximum seconds to read one document; its process is killed after that"}
    )
    document_mb: int = field(default=1024, metadata={"help": "maximum memory to read one document, in MB"})
