"""Settings of the extractor stage."""

from dataclasses import dataclass
from typing import ClassVar

from domain.setting import Group, setting

EXTRACTOR_VERSION = 12
"""Increase it when the extractor produces other results: all saved pages are then extracted again."""

METHOD_NAMES = ("blocks", "two_pass", "tag_path_ratio")
"""The keys of `extractor.body_methods.BODY_METHODS`, repeated so that the methods are not imported."""


@dataclass(frozen=True)
class ExtractSettings:
    """Settings of the extractor stage. Defaults are those of the paper (Wang Du 2019) if it states any."""

    GROUP: ClassVar[Group] = "texts"
    method: str = setting(
        "blocks",
        "body method: blocks (default); two_pass (WD-A2), better than its baseline on picture news with "
        "little text only; tag_path_ratio, this baseline",
        names=METHOD_NAMES,
    )
    alpha: int = setting(2, "two_pass: a body has more punctuation marks than this")
    beta: int = setting(10, "two_pass: a body has fewer link characters than this")
    candidates: int = setting(5, "two_pass: number of blocks that the second pass examines")
    tighten: bool = setting(False, "two_pass: descend to the child that contains all the punctuation")
    score_terms: str = setting("paper", "two_pass: score formula of the paper's text (paper) or of its code (code)")
    shortest_body: int = setting(
        8, "minimum size of a body; one unit is one Chinese character or three Latin letters", group="exclusions"
    )
    copyright_longest: int = setting(
        160, "maximum size of a body that is rejected for its copyright notice, same unit", group="exclusions"
    )
    list_link_share: float = setting(
        0.7, "minimum share of link text in the text of a list page, 0 to 1", maximum=1, group="exclusions"
    )
    list_longest_body: int = setting(
        120, "maximum size of the body of a page that its links make a list page, same unit", group="exclusions"
    )
    near_duplicate: float = setting(
        0.6,
        "minimum share of equal shingles for two articles to be compared as possible duplicates, "
        "0.5 to 1; 1: only equal texts",
        group="exclusions",
    )
    document_seconds: float = setting(
        60.0, "maximum seconds to read one document; its process is killed after that", maximum=86400
    )
    document_mb: int = setting(1024, "maximum memory to read one document, in MB")
