"""The text-tag-path ratio alone: the baseline that Wang Du 2019 improves on (first pass of WD-A2, no rules)."""

from dataclasses import dataclass

from extractor.blocks import measure
from extractor.document import Document
from extractor.lines import Layout
from extractor.methods.contract import Body
from extractor.methods.two_pass import body_of, candidates, ranked
from extractor.settings import ExtractSettings


@dataclass(frozen=True)
class TagPathRatio:
    """The block with the highest score1."""

    settings: ExtractSettings

    def choose(self, document: Document, layout: Layout) -> Body | None:
        """The best block, whatever it holds; None only where the page has no block with text."""
        found = [block for block in candidates(measure(document.root)) if block.text]
        best = ranked(found, "paper", second=False)[:1]
        return body_of(best[0]) if best else None
