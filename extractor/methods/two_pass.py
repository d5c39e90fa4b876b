"""Two passes over the text-tag-path ratio: WD-F3 and WD-A2 of Wang Du 2019 (METHODS 1.4)."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from extractor.methods.blocks import CountedBlock, measure
from extractor.methods.contract import Body, Explanation
from extractor.methods.explanation import explain_blocks
from extractor.methods.paper import PaperMethod, body_of
from extractor.page.document import Document
from extractor.settings import ExtractSettings

SHORT_BLOCK = 200  # characters; the code's second pass adds its terms to blocks shorter than this [X]


def score1(block: CountedBlock) -> float:
    """WD-F3, first pass: ln V * DS * ln(T - L + 1)."""
    return math.log(block.spread) * guard_score(block)


def score2(block: CountedBlock) -> float:
    """WD-F3, second pass: score1 * log10(P + 2) * (S + 1)."""
    return score1(block) * math.log10(block.paragraphs + 2) * (block.strong + 1)


def code_score1(block: CountedBlock) -> float:
    """First pass as the authors' code had it [X]: the paragraph term is there from the start."""
    return score1(block) * math.log10(block.paragraphs + 2)


def code_score2(block: CountedBlock) -> float:
    """Second pass as the authors' code had it [X]: pictures, marks and strong count in short blocks."""
    if block.text >= SHORT_BLOCK:
        return code_score1(block)
    return code_score1(block) * (block.images + 1) * block.marks * (block.strong + 1)


def guard_score(block: CountedBlock) -> float:
    """DS * ln(T - L + 1): the rank where all leaves have one length, so that every ln V is 0 [C]."""
    return block.ds * math.log(max(0, block.text - block.links) + 1)


SCORES = {"paper": (score1, score2), "code": (code_score1, code_score2)}


def candidates(blocks: Sequence[CountedBlock]) -> list[CountedBlock]:
    """Every element except the root, `body` and `a`."""
    return [block for block in blocks if block.element.tag not in ("html", "body", "a")]


def ranked(blocks: Sequence[CountedBlock], terms: str, second: bool) -> list[CountedBlock]:
    """Best first by the first or second score; by the guard score if all are 0. Ties keep document order."""
    score = SCORES[terms][second]
    scores = {id(block): score(block) for block in blocks}
    if not any(scores.values()):
        scores = {id(block): guard_score(block) for block in blocks}
    return sorted(blocks, key=lambda block: -scores[id(block)])


def tighten(block: CountedBlock) -> CountedBlock:
    """Descend while one child holds all of the block's punctuation and is not `p` or `strong` [D]."""
    while block.marks:
        holder = next((child for child in block.children if child.marks == block.marks), None)
        if holder is None or holder.element.tag in ("p", "strong"):
            break
        block = holder
    return block


@dataclass(frozen=True)
class TwoPass(PaperMethod):
    """WD-A2: take the best block of the first pass if it reads like a body, else look again with p and strong.

    Raises KeyError for score terms that SCORES does not know.
    """

    settings: ExtractSettings

    def __post_init__(self) -> None:
        SCORES[self.settings.score_terms]

    def choose(self, document: Document) -> Body | None:
        """The body by WD-A2, or None where no block satisfies both rules."""
        block = self.choose_block(measure(document.root))
        return body_of(document, block) if block is not None else None

    def explain(self, document: Document) -> Explanation:
        """The candidates as the pass that decided ranks them, and whether they read like a body."""
        found, terms = candidates(measure(document.root)), self.settings.score_terms
        second = not any(self.reads_like_a_body(block) for block in ranked(found, terms, second=False)[:1])
        return explain_blocks(
            document,
            ranked(found, terms, second),
            SCORES[terms][second],
            self.choose(document),
            lambda block: {"rules": "kept" if self.reads_like_a_body(block) else "broken"},
        )

    def choose_block(self, blocks: Sequence[CountedBlock]) -> CountedBlock | None:
        """WD-A2 on measured blocks, the root first."""
        found = candidates(blocks)
        first = ranked(found, self.settings.score_terms, second=False)[:1]
        again = ranked(found, self.settings.score_terms, second=True)[: self.settings.candidates]
        chosen = next((block for block in [*first, *again] if self.reads_like_a_body(block)), None)
        return tighten(chosen) if chosen is not None and self.settings.tighten else chosen

    def reads_like_a_body(self, block: CountedBlock) -> bool:
        """Enough punctuation, hardly any link text."""
        return block.marks > self.settings.alpha and block.links < self.settings.beta
