"""Settings of the section `[ocr]`: the stage `ocr`."""

from dataclasses import dataclass, field

AUTO, ON, OFF = "auto", "on", "off"


@dataclass(frozen=True)
class OcrSettings:
    """Whether and how long text is read from pictures of pages."""

    enabled: str = field(
        default=AUTO,
        metadata={
            "help": "read text of scanned and garbled PDF pages from their pictures: auto (if the extra ocr is "
            "installed), on or off",
            "names": (AUTO, ON, OFF),
        },
    )
    minutes: float = field(
        default=60.0,
        metadata={"help": "maximum minutes in each run; the next run continues. plumb ocr has no limit"},
    )
    pages: int = field(default=200, metadata={"help": "maximum pages of one document"})
    min_confidence: float = field(
        default=0.8, metadata={"help": "minimum mean confidence of a page, 0 to 1; other pages are not indexed"}
    )
    memory_mb: int = field(default=1500, metadata={"help": "maximum memory to read one page, in MB"})
