"""What a crawl learns of sites and keeps between runs, in small files beside the seen filter."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from crawler.host_suggestions import Proposals
from crawler.schedule.forecast import PACES, Paces
from crawler.sitemaps.lastmod import Lastmods
from crawler.urls.dust import Likenesses


@dataclass(frozen=True)
class Learned:
    """How right lastmods are, which differences between URLs mean nothing, which hosts are linked abroad, and how fast
    each host was asked."""

    lastmods: Lastmods
    likenesses: Likenesses
    proposals: Proposals
    paces: Paces

    @classmethod
    def load(cls, file: Callable[[str], Path]) -> "Learned":
        """From the files that `file` names by their headings."""
        return cls(
            Lastmods.load(file("lastmod")),
            Likenesses.load(file("likeness")),
            Proposals.load(file("proposed")),
            Paces.load(file(PACES)),
        )

    def save(self, file: Callable[[str], Path]) -> None:
        """Keep it."""
        self.lastmods.save(file("lastmod"))
        self.likenesses.save(file("likeness"))
        self.proposals.save(file("proposed"))
        self.paces.save(file(PACES))
