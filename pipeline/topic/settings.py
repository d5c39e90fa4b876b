"""Settings of the section `[topic]`: retention of pages in a focused crawl."""

from dataclasses import dataclass
from typing import ClassVar

from domain.errors import SettingsError
from domain.setting import Group, setting


@dataclass(frozen=True)
class TopicSettings:
    """Retention of fetched pages in a focused crawl whose strategy estimates probabilities (`fused`)."""

    GROUP: ClassVar[Group] = "what"
    precision: float = setting(
        0.8,
        "target share of on-topic pages among the saved pages, between 0 and 1; a higher value saves fewer "
        "pages; `plumb topic show` prints the expected share",
    )
    questions: int = setting(10, "pages proposed for labelling after a focused crawl", minimum=0)

    def __post_init__(self) -> None:
        if not 0 < self.precision < 1:
            raise SettingsError(
                "{path} = {value}: expected a share between 0 and 1, such as 0.8",
                path="topic.precision",
                value=str(self.precision),
            )
