"""Counts of Wang Du 2019 (WD-F3) for every element, computed in one pass from the leaves up.

    <div>                       text 9, links 2, elements 3, anchors 1, marks 1, leaves (6, 2, 1)
      中国石油报道 <a>详细</a><p>。</p>

Characters are code points without white space. The paper does not count `br` as an element; the text after it is a leaf
of its parent.
"""

import math
import re
from dataclasses import dataclass, field

from lxml.etree import _Element as Element

IGNORED_TAGS = ("br", "title")
PUNCTUATION_RE = re.compile("[,，。？?!！、；;‘’]")


@dataclass(slots=True)
class ElementCounts:
    """One element with the counts of its whole subtree, named as in WD-F3.

    `density_sum` is DS, the sum of D over the element's children. `leaf_count`, `leaf_length_sum` and
    `leaf_length_square_sum` give the variance of the lengths of all text nodes in the subtree.
    """

    element: Element
    text_chars: int = 0  # T
    link_chars: int = 0  # L
    element_count: int = 1  # G
    anchor_count: int = 0  # A
    paragraph_count: int = 0  # P
    strong_count: int = 0  # S
    image_count: int = 0  # I
    punctuation_count: int = 0  # Q
    leaf_count: int = 0
    leaf_length_sum: int = 0
    leaf_length_square_sum: int = 0
    density_sum: float = 0.0
    children: list["ElementCounts"] = field(default_factory=list)

    @property
    def density(self) -> float:
        """D(v): characters outside links per element that is not a link; 0 if there are no such elements."""
        elements = self.element_count - self.anchor_count
        return (self.text_chars - self.link_chars) / elements if elements > 0 else 0.0

    @property
    def leaf_length_deviation(self) -> float:
        """V(v): sqrt(variance of the leaf lengths + 1). For a single leaf, half its length is the variance."""
        if self.leaf_count == 0:
            variance = 0.0
        elif self.leaf_count == 1:
            variance = self.leaf_length_sum / 2
        else:
            mean = self.leaf_length_sum / self.leaf_count
            variance = max(0.0, self.leaf_length_square_sum / self.leaf_count - mean * mean)
        return math.sqrt(variance + 1)

    def add_leaf(self, text: str | None) -> None:
        """Count one text node directly in this element; white space is ignored."""
        compact = "".join(text.split()) if text else ""
        if not compact:
            return
        size = len(compact)
        self.text_chars += size
        self.punctuation_count += len(PUNCTUATION_RE.findall(compact))
        self.leaf_count += 1
        self.leaf_length_sum += size
        self.leaf_length_square_sum += size * size

    def add_child(self, child: "ElementCounts") -> None:
        """Add the counts of a finished child element."""
        self.text_chars += child.text_chars
        self.link_chars += child.link_chars
        self.element_count += child.element_count
        self.anchor_count += child.anchor_count
        self.paragraph_count += child.paragraph_count
        self.strong_count += child.strong_count
        self.image_count += child.image_count
        self.punctuation_count += child.punctuation_count
        self.leaf_count += child.leaf_count
        self.leaf_length_sum += child.leaf_length_sum
        self.leaf_length_square_sum += child.leaf_length_square_sum
        self.density_sum += child.density
        self.children.append(child)


def count_elements(root: Element) -> list[ElementCounts]:
    """Return the counts of all elements except `br` and `title`, in document order, the root first. Not recursive."""
    counts_by_element: dict[Element, ElementCounts] = {}
    for element in root.iter():
        if element.tag not in IGNORED_TAGS and isinstance(element.tag, str):
            counts_by_element[element] = ElementCounts(element)
    for element, block in reversed(counts_by_element.items()):
        block.add_leaf(element.text)
        _count_own_element(block)
        parent = element.getparent()
        if parent is not None and parent in counts_by_element:
            counts_by_element[parent].add_leaf(element.tail)
            counts_by_element[parent].add_child(block)
    for block in counts_by_element.values():
        block.children.reverse()
    return list(counts_by_element.values())


def _count_own_element(block: ElementCounts) -> None:
    """Count the element itself, after its subtree was counted."""
    tag = block.element.tag
    if tag == "a":
        block.anchor_count += 1
        block.link_chars = block.text_chars
    elif tag == "p":
        block.paragraph_count += 1
    elif tag == "strong":
        block.strong_count += 1
    elif tag == "img":
        block.image_count += 1
    for child in block.element.iterchildren("br"):
        block.add_leaf(child.tail)
