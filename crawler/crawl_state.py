"""What a crawl learns of sites and keeps between runs, in small files beside the seen filter."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from crawler.host_suggestions import HostSuggestions
from crawler.schedule.forecast import PACES, Paces
from crawler.sitemaps.lastmod import LastmodTrust
from crawler.urls.dust import DustRules


@dataclass(frozen=True)
class CrawlState:
    """How right lastmods are, which differences between URLs mean nothing, which hosts are linked abroad, and how fast
    each host was asked."""

    lastmods: LastmodTrust
    likenesses: DustRules
    proposals: HostSuggestions
    paces: Paces

    @classmethod
    def load(cls, file: Callable[[str], Path]) -> "CrawlState":
        """From the files that `file` names by their headings."""
        return cls(
            LastmodTrust.load(file("lastmod")),
            DustRules.load(file("likeness")),
            HostSuggestions.load(file("proposed")),
            Paces.load(file(PACES)),
        )

    def save(self, file: Callable[[str], Path]) -> None:
        """Keep it."""
        self.lastmods.save(file("lastmod"))
        self.likenesses.save(file("likeness"))
        self.proposals.save(file("proposed"))
        self.paces.save(file(PACES))
