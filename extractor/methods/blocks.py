"""Blocks: what Wang Du 2019 (WD-F3) counts in every element, gathered in one pass from the leaves up.

    <div>                       text 9, links 2, elements 3, anchors 1, marks 1, leaves (6, 2, 1)
      中国石油报道 <a>详细</a><p>。</p>

Characters are code points without white space. `br` is no element to the paper; its text counts as a leaf of its
parent.
"""

import math
import re
from dataclasses import dataclass, field

from lxml.etree import _Element as Element

PASSED_OVER = ("br", "title")
MARKS = re.compile("[,，。？?!！、；;‘’]")


@dataclass(slots=True)
class CountedBlock:
    """One element with the counts of its whole subtree, named as in WD-F3.

    `ds` is DS, the sum of D over the element's children; `leaves`, `leaf_sum` and `leaf_squares` give the variance
    of the lengths of all text nodes below it.
    """

    element: Element
    text: int = 0  # T
    links: int = 0  # L
    elements: int = 1  # G
    anchors: int = 0  # A
    paragraphs: int = 0  # P
    strong: int = 0  # S
    images: int = 0  # I
    marks: int = 0  # Q
    leaves: int = 0
    leaf_sum: int = 0
    leaf_squares: int = 0
    ds: float = 0.0
    children: list["CountedBlock"] = field(default_factory=list)

    @property
    def density(self) -> float:
        """D(v): text outside links per element that is no link; 0 if there is none of either."""
        elements = self.elements - self.anchors
        return (self.text - self.links) / elements if elements > 0 else 0.0

    @property
    def spread(self) -> float:
        """V(v): sqrt of the variance of the leaf lengths plus one; a single leaf counts half its length."""
        if self.leaves == 0:
            variance = 0.0
        elif self.leaves == 1:
            variance = self.leaf_sum / 2
        else:
            mean = self.leaf_sum / self.leaves
            variance = max(0.0, self.leaf_squares / self.leaves - mean * mean)
        return math.sqrt(variance + 1)

    def add_leaf(self, text: str | None) -> None:
        """Count one text node directly below this element; white space alone is none."""
        bare = "".join(text.split()) if text else ""
        if not bare:
            return
        size = len(bare)
        self.text += size
        self.marks += len(MARKS.findall(bare))
        self.leaves += 1
        self.leaf_sum += size
        self.leaf_squares += size * size

    def add_child(self, child: "CountedBlock") -> None:
        """Count a finished child block into this one."""
        self.text += child.text
        self.links += child.links
        self.elements += child.elements
        self.anchors += child.anchors
        self.paragraphs += child.paragraphs
        self.strong += child.strong
        self.images += child.images
        self.marks += child.marks
        self.leaves += child.leaves
        self.leaf_sum += child.leaf_sum
        self.leaf_squares += child.leaf_squares
        self.ds += child.density
        self.children.append(child)


def measure(root: Element) -> list[CountedBlock]:
    """A Block for every element but `br` and `title`, in document order, the root first. Walks without recursion."""
    blocks: dict[Element, CountedBlock] = {}
    for element in root.iter():
        if element.tag not in PASSED_OVER and isinstance(element.tag, str):
            blocks[element] = CountedBlock(element)
    for element, block in reversed(blocks.items()):
        block.add_leaf(element.text)
        _finish(block)
        _add_to_parent(blocks, element, block)
    for block in blocks.values():
        block.children.reverse()
    return list(blocks.values())


def _finish(block: CountedBlock) -> None:
    """Count the element itself, once all below it has been counted."""
    tag = block.element.tag
    if tag == "a":
        block.anchors += 1
        block.links = block.text
    elif tag == "p":
        block.paragraphs += 1
    elif tag == "strong":
        block.strong += 1
    elif tag == "img":
        block.images += 1
    for child in block.element.iterchildren("br"):
        block.add_leaf(child.tail)


def _add_to_parent(blocks: dict[Element, CountedBlock], element: Element, block: CountedBlock) -> None:
    parent = element.getparent()
    if parent is not None and parent in blocks:
        blocks[parent].add_leaf(element.tail)
        blocks[parent].add_child(block)
