"""Settings of the section `[ocr]`: the stage `ocr`."""

from dataclasses import dataclass
from typing import ClassVar

from domain.setting import Group, setting

AUTO, ON, OFF = "auto", "on", "off"


@dataclass(frozen=True)
class OcrSettings:
    """Whether and how long text is read from pictures of pages."""

    GROUP: ClassVar[Group] = "texts"
    enabled: str = setting(
        AUTO,
        "read text of scanned and garbled PDF pages from their pictures: auto (if the extra ocr is "
        "installed), on or off",
        names=(AUTO, ON, OFF),
    )
    minutes: float = setting(60.0, "maximum minutes in each run; the next run continues. plumb ocr has no limit")
    pages: int = setting(200, "maximum pages of one document")
    min_confidence: float = setting(
        0.8, "minimum mean confidence of a page, 0 to 1; other pages are not indexed", maximum=1
    )
    memory_mb: int = setting(1500, "maximum memory to read one page, in MB")
