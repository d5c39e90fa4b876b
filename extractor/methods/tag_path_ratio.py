"""The text-tag-path ratio alone: the baseline that Wang Du 2019 improves on (first pass of WD-A2, no rules)."""

from dataclasses import dataclass

from extractor.methods.blocks import measure
from extractor.methods.contract import Body, Explanation
from extractor.methods.explanation import explain_blocks
from extractor.methods.paper import PaperMethod, body_of
from extractor.methods.two_pass import candidates, ranked, score1
from extractor.page.document import Document
from extractor.settings import ExtractSettings


@dataclass(frozen=True)
class TagPathRatio(PaperMethod):
    """The block with the highest score1."""

    settings: ExtractSettings

    def choose(self, document: Document) -> Body | None:
        """The best block, whatever it holds; None only where the page has no block with text."""
        found = [block for block in candidates(measure(document.root)) if block.text]
        best = ranked(found, "paper", second=False)[:1]
        return body_of(document, best[0]) if best else None

    def explain(self, document: Document) -> Explanation:
        """The candidates by score1."""
        found = [block for block in candidates(measure(document.root)) if block.text]
        return explain_blocks(document, ranked(found, "paper", second=False), score1, self.choose(document))
