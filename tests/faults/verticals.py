"""One vertical of demo sites after each stage of a run that nobody disturbed: what every fault is compared with."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from docstore.model import document_id
from pipeline.demo.site import write_sites
from tests.crash_harness import SlowSites, Vertical


@dataclass
class Undisturbed:
    """One vertical after each stage of a run that nobody disturbed."""

    site: SlowSites
    new: Vertical
    begun: Vertical  # the first 40 pages crawled
    crawled: Vertical
    extracted: Vertical
    mined: Vertical
    decided: Vertical  # the best thirty terms accepted, and mined again in their light
    indexed: Vertical

    @property
    def ids(self) -> set[str]:
        """The ids that the index has to hold."""
        return {document_id(url) for url in self.indexed.kept().articles}


@contextmanager
def undisturbed_run(folder: Path) -> Iterator[Undisturbed]:
    """See the module."""
    write_sites(folder / "sites")
    with SlowSites(folder / "sites", pause=0.0) as site:
        new = Vertical(folder / "new").write(site.sections())
        begun = new.copy_to(folder / "begun")
        begun.done("crawl", "--max-pages", "40")
        crawled = begun.copy_to(folder / "crawled")
        crawled.done("crawl")
        extracted = crawled.copy_to(folder / "extracted")
        extracted.done("extract")
        mined = extracted.copy_to(folder / "mined")
        mined.done("lexicon", "build")
        decided = mined.copy_to(folder / "decided")
        decided.done("lexicon", "accept", "--top", "30")
        decided.done("lexicon", "build")
        indexed = decided.copy_to(folder / "indexed")
        indexed.done("index")
        assert len(indexed.kept().articles) > 80
        try:
            yield Undisturbed(site, new, begun, crawled, extracted, mined, decided, indexed)
        finally:
            indexed.end()
