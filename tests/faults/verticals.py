"""One vertical of demo sites after each stage of a run that nobody disturbed: what every fault is compared with."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path

from docstore.model import document_id
from pipeline.demo.site import write_sites
from tests.crash_harness import Said, SlowSites, Vertical


class Undisturbed:
    """One vertical after each stage of a run that nobody disturbed. What is not crawled yet is made on first use."""

    def __init__(self, site: SlowSites, folder: Path) -> None:
        self.site, self._folder = site, folder
        self.new = Vertical(folder / "new").write(site.sections())
        self.begun = self._copy_after(self.new, "begun", "crawl", "--max-pages", "40")
        self.crawled = self._copy_after(self.begun, "crawled", "crawl")

    @cached_property
    def extracted(self) -> Vertical:
        """Every page extracted."""
        return self._copy_after(self.crawled, "extracted", "extract")

    @cached_property
    def mined(self) -> Vertical:
        """Candidate terms mined."""
        return self._copy_after(self.extracted, "mined", "lexicon", "build")

    @cached_property
    def decided(self) -> Vertical:
        """The best thirty terms accepted, and mined again in their light."""
        vertical = self._copy_after(self.mined, "decided", "lexicon", "accept", "--top", "30")
        call_successfully(vertical, "lexicon", "build")
        assert len(vertical.kept().articles) > 80
        return vertical

    @cached_property
    def indexed(self) -> Vertical:
        """Every article in an embedded Solr of its own, which is stopped."""
        return self._copy_after(self.decided, "indexed", "index")

    @property
    def ids(self) -> set[str]:
        """The ids that the index has to hold."""
        return {document_id(url) for url in self.decided.kept().articles}

    def end(self) -> None:
        """Leave no process behind."""
        if "indexed" in vars(self):
            self.indexed.end()

    def _copy_after(self, source: Vertical, name: str, *command: str) -> Vertical:
        """A copy of `source` in the folder `name`, in which a command has run."""
        vertical = source.copy_to(self._folder / name)
        call_successfully(vertical, *command)
        return vertical


def call_successfully(vertical: Vertical, *command: str) -> Said:
    """Run `plumb` in this process and expect exit status 0."""
    said = vertical.call(*command)
    assert said.status == 0 and "Traceback" not in said.err, said
    return said


@contextmanager
def undisturbed_run(folder: Path) -> Iterator[Undisturbed]:
    """See the module."""
    write_sites(folder / "sites")
    with SlowSites(folder / "sites", pause=0.0) as site:
        made = Undisturbed(site, folder)
        try:
            yield made
        finally:
            made.end()
