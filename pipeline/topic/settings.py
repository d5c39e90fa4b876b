"""Settings of the section `[topic]`: retention of pages in a focused crawl."""

from dataclasses import dataclass, field

from domain.coded_message import CodedMessage
from domain.errors import SettingsError


@dataclass(frozen=True)
class TopicSettings:
    """Retention of fetched pages in a focused crawl whose strategy estimates probabilities (`fused`)."""

    precision: float = field(
        default=0.8,
        metadata={
            "help": "target share of on-topic pages among the saved pages, between 0 and 1; a higher value saves fewer "
            "pages; `plumb topic show` prints the expected share"
        },
    )
    questions: int = field(
        default=10, metadata={"help": "pages proposed for labelling after a focused crawl", "least": 0}
    )

    def __post_init__(self) -> None:
        if not 0 < self.precision < 1:
            text = f"topic.precision = {self.precision!r}: expected a share between 0 and 1, such as 0.8"
            raise SettingsError(CodedMessage(text, "topic_precision", value=str(self.precision)))
