"""A vertical of demo sites after each stage of an undisturbed run, the reference for all faults."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path

from domain.article import document_id
from pipeline.demo.site import write_sites
from tests.crash_harness import PausableSites, Said, Vertical
from tests.local_workers import local_workers


class Undisturbed:
    """A vertical after each stage of an undisturbed run. Later stages are run on first use."""

    def __init__(self, site: PausableSites, folder: Path) -> None:
        self.site, self._folder = site, folder
        self.new = Vertical(folder / "new").write(site.sections())
        self.begun = self._copy_after(self.new, "begun", "crawl", "--max-pages", "40")
        self.crawled = self._copy_after(self.begun, "crawled", "crawl")

    @cached_property
    def extracted(self) -> Vertical:
        """After extraction of every page."""
        with local_workers():
            return self._copy_after(self.crawled, "extracted", "extract")

    @cached_property
    def mined(self) -> Vertical:
        """After mining of candidate terms."""
        return self._copy_after(self.extracted, "mined", "lexicon", "build")

    @cached_property
    def published(self) -> Vertical:
        """After a run to the end of the lexicon stage, which published terms."""
        with local_workers():
            vertical = self._copy_after(self.extracted, "published", "run", "--until", "lexicon")
        assert vertical.kept().versions
        return vertical

    @cached_property
    def decided(self) -> Vertical:
        """After acceptance of the best thirty terms and another mining."""
        vertical = self._copy_after(self.mined, "decided", "lexicon", "accept", "--top", "30")
        call_successfully(vertical, "lexicon", "build")
        assert len(vertical.kept().articles) > 80
        return vertical

    @cached_property
    def indexed(self) -> Vertical:
        """After indexing to an embedded Solr of its own, which is stopped."""
        return self._copy_after(self.decided, "indexed", "index")

    @property
    def ids(self) -> set[str]:
        """The expected ids of the index."""
        return {document_id(url) for url in self.decided.kept().articles}

    def end(self) -> None:
        """Kill all remaining processes."""
        if "indexed" in vars(self):
            self.indexed.end()

    def _copy_after(self, source: Vertical, name: str, *command: str) -> Vertical:
        """Copy `source` to the folder `name` and run a command in the copy."""
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
    """Yield the reference vertical, with its sites served."""
    write_sites(folder / "sites")
    with PausableSites(folder / "sites") as site:
        made = Undisturbed(site, folder)
        try:
            yield made
        finally:
            made.end()
