"""The settings of what a crawl for a topic keeps."""

from dataclasses import dataclass, field

from docstore.errors import SettingsError


@dataclass(frozen=True)
class TopicSettings:
    """What is kept of the pages that a crawl for a topic fetches, by a strategy that gives probabilities (`fused`)."""

    precision: float = field(
        default=0.8,
        metadata={
            "help": "share of the pages kept that shall be of the topic, between 0 and 1: more keeps fewer pages; what "
            "is to be expected is said by plumb topic show"
        },
    )
    questions: int = field(
        default=10, metadata={"help": "pages that a person is asked about after a crawl for a topic", "least": 0}
    )

    def __post_init__(self) -> None:
        if not 0 < self.precision < 1:
            raise SettingsError(f"topic.precision = {self.precision!r}: expected a share between 0 and 1, as 0.8")
