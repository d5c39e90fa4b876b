"""Settings of the extractor stage."""

from dataclasses import dataclass, field

EXTRACTOR_VERSION = 5
"""Increase it when the extractor produces other results: all saved pages are then extracted again."""

METHOD_NAMES = ("blocks", "two_pass", "tag_path_ratio")
"""The keys of `extractor.body_methods.BODY_METHODS`, repeated so that the methods are not imported."""


@dataclass(frozen=True)
class ExtractSettings:
    """Settings of the extractor stage. Defaults are those of the paper (Wang Du 2019) if it states any."""

    method: str = field(
        default="blocks",
        metadata={
            "help": "body extraction method: blocks (Plumbline), two_pass (WD-A2) or tag_path_ratio (baseline "
            "of WD-A2)",
            "names": METHOD_NAMES,
        },
    )
    alpha: int = field(
        default=2, metadata={"help": "two_pass: minimum number of punctuation marks in a body, exclusive"}
    )
    beta: int = field(default=10, metadata={"help": "two_pass: maximum number of link characters in a body, exclusive"})
    candidates: int = field(default=5, metadata={"help": "two_pass: number of blocks that the second pass examines"})
    tighten: bool = field(
        default=False, metadata={"help": "two_pass: descend to the child element that contains all punctuation marks"}
    )
    score_terms: str = field(
        default="paper",
        metadata={"help": "two_pass: scoring formula: paper (as published) or code (as in the authors' program)"},
    )
    shortest_body: int = field(
        default=8,
        metadata={
            "help": "minimum length of a body; shorter ones are discarded. One unit is one Chinese character or "
            "three Latin letters"
        },
    )
    copyright_longest: int = field(
        default=160,
        metadata={"help": "a body with a copyright notice is discarded up to this length; unit as in shortest_body"},
    )
    list_link_share: float = field(
        default=0.7, metadata={"help": "minimum share of link text, 0 to 1, for a page to be classified as a list page"}
    )
    list_longest_body: int = field(
        default=120,
        metadata={
            "help": "a page with a longer body is not classified as a list page because of its links; unit as "
            "in shortest_body"
        },
    )
    near_duplicate: float = field(
        default=0.6,
        metadata={
            "help": "minimum share of equal shingles, 0.5 to 1, at which two articles are compared as possible "
            "duplicates; 1: only identical articles"
        },
    )
    document_seconds: float = field(
        default=60.0, metadata={"help": "maximum seconds to read one file; then its process is killed"}
    )
    document_mb: int = field(default=1024, metadata={"help": "maximum memory in megabytes to read one file"})
