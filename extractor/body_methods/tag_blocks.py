"""A page as weighted tag blocks: WY-F1 to WY-F6 of Wu Yueting 2015.

    <h1>标题</h1><div><p>正文 <a href="/1">链接</a></p></div>

    h1-2  title    标题     p-4  content  正文     a-4.1  anchor  链接  (in p-4)

WY-F1: a page is the set of its blocks and their relations (`TagBlock.parent_index`). A block is an element with text of
its own [D]. Link text outside navigation is a block of its own, inside the enclosing block. The impact of a block is
its
relevance to the page's topic; its weight is its share of the total impact.

Blocks are derived from the layout (page/layout.py). The layout records which lines contain strong text, not the number
of elements: each such line is one key tag "strong" (`b` counts as `strong`). `i` is not recorded and never counted.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from itertools import accumulate

from domain.paper_settings import DEFAULT_PAPERS, WuYuetingSettings
from extractor.page.dom import HEADING_TAGS
from extractor.page.layout import Layout, Line
from extractor.page.layout_builder import CJK_LINE_BREAK_RE
from extractor.page.parsed_page import ParsedPage, with_complete_layout
from extractor.page.tag_info import parse_attributes, parse_tag

# Text containers of the paper. `tr` represents its `td` cells; `main` and `section` are modern forms of `div`.
CONTENT_TAGS = frozenset(("p", "div", "td", "article", "tr", "main", "section"))
CONTAINERS = frozenset(
    (
        "ul", "ol", "dl", "dir", "menu", "nav", "div", "section", "article", "main", "aside", "header", "footer",
        "table", "tbody", "tr", "td", "form", "center", "body", "html",
    )
)  # fmt: skip
MIN_NAVIGATION_LINK_SHARE = 0.5  # a list or container with a larger share of link text is navigation [D]


class TagBlockType(StrEnum):
    """Relation of a block to the topic of the page."""

    TITLE = "title"
    CONTENT = "content"
    NAVIGATION = "navigation"
    ANCHOR = "anchor"
    OTHER = "other"


@dataclass(frozen=True)
class TagBlock:
    """WY-F2: the nine fields of the paper, from BlockId to impact, and the position of the block (R of WY-F1).

    `id`: tag and position, unique on the page. `name`: the tag. `identifiers`: id, class and similar attributes.
    `text`: the
    text inside that is in no other block, one line each. `parent_index`: index of the enclosing block, or -1.
    `span_index`:
    index of the element in the layout's spans, -1 for the page's <title>.
    """

    id: str
    name: str
    identifiers: str
    text: str
    type: TagBlockType
    attributes: Mapping[str, str] = field(default_factory=dict)
    key_tags: tuple[str, ...] = ()
    weight: float = 0.0
    impact: float = 0.0
    parent_index: int = -1
    span_index: int = -1


def build_tag_blocks(page: ParsedPage, settings: WuYuetingSettings = DEFAULT_PAPERS.wu_yueting) -> tuple[TagBlock, ...]:
    """Return all blocks of a page with weights, in document order: <title> first, a block before those inside it.

    The weights sum to 1. A page without text has no blocks.
    """
    return assign_weights(find_tag_blocks(with_complete_layout(page)), settings)


# -- impact and weight


def assign_weights(
    blocks: Sequence[TagBlock], settings: WuYuetingSettings = DEFAULT_PAPERS.wu_yueting
) -> tuple[TagBlock, ...]:
    """Set impact and weight of the blocks (WY-F3 to WY-F5). A block must precede those inside it."""
    impacts = propagate_impacts(blocks, base_impacts(blocks, settings), settings.inherited_share)
    weights = normalize(impacts)
    return tuple(
        replace(block, impact=impact, weight=weight)
        for block, impact, weight in zip(blocks, impacts, weights, strict=True)
    )


def base_impacts(blocks: Sequence[TagBlock], settings: WuYuetingSettings) -> list[float]:
    """Return the impact of each block by WY-F3: impact = k0 * impact0 + k1 * impact1.

    By WY-F4, impact0 is the number of key tags relative to the block with the most (0 if no block has any) [R].
    impact1 is
    the value of the block type.
    """
    max_key_tags = max((len(block.key_tags) for block in blocks), default=0) or 1
    return [
        settings.k0 * len(block.key_tags) / max_key_tags + settings.k1 * settings.impact1[block.type]
        for block in blocks
    ]


def propagate_impacts(blocks: Sequence[TagBlock], impacts: Sequence[float], lift: float) -> list[float]:
    """Add `lift` times the largest impact inside each block, from the innermost out: transitivity [D]."""
    impacts_with_children = list(impacts)
    max_child_impact = [0.0] * len(blocks)
    for block_index in range(len(blocks) - 1, -1, -1):
        impacts_with_children[block_index] += lift * max_child_impact[block_index]
        parent = blocks[block_index].parent_index
        if parent >= 0:
            max_child_impact[parent] = max(max_child_impact[parent], impacts_with_children[block_index])
    return impacts_with_children


def normalize(impacts: Sequence[float]) -> list[float]:
    """WY-F5: return each block's share of the total impact; equal shares if the total is 0."""
    total = sum(impacts)
    return [impact / total if total > 0 else 1 / len(impacts) for impact in impacts]


def term_weights(blocks: Sequence[TagBlock], counts: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """Return the weight of each term on the page by WY-F6: W(j) = sum_i weight_i * WTf_ij, normalized over all terms.

    Args:
        blocks: Blocks of the page.
        counts: Frequencies of the page's important terms in each block.

    Returns:
        Weights that sum to 1; all are 0 if terms occur only in blocks of weight 0.

    Raises:
        ValueError: `counts` and `blocks` differ in length.
    """
    weight_by_term: dict[str, float] = {}
    for block, terms in zip(blocks, counts, strict=True):
        for term, frequency in terms.items():
            weight_by_term[term] = weight_by_term.get(term, 0.0) + block.weight * frequency
    total = sum(weight_by_term.values())
    return {term: value / total if total > 0 else 0.0 for term, value in weight_by_term.items()}


# -- finding blocks


def find_tag_blocks(page: ParsedPage) -> list[TagBlock]:
    """Return the blocks of a page with a complete layout, without impact and weight."""
    layout = page.layout
    blocks = [TagBlock("title", "title", "", page.title, TagBlockType.TITLE)] if page.title else []
    lines_by_span = defaultdict[int, list[Line]](list)
    for line in layout.lines:
        lines_by_span[line.span_index].append(line)
    sizes = [0.0, *accumulate(line.size for line in layout.lines)]
    links = [0.0, *accumulate(min(line.link_size, line.size) for line in layout.lines)]
    link_shares = [
        (links[span.end_line] - links[span.start_line]) / (sizes[span.end_line] - sizes[span.start_line] or 1.0)
        for span in layout.spans
    ]
    block_by_span: dict[int, int] = {}  # span -> index of its block
    for span in sorted(lines_by_span):
        block_type = classify_span(layout, span, link_shares)
        parent = next(
            (block_by_span[ancestor] for ancestor in layout.iter_enclosing(span) if ancestor in block_by_span), -1
        )
        with_links = block_type in (TagBlockType.TITLE, TagBlockType.NAVIGATION)
        own_block = replace(
            build_element_block(layout, span, block_type, lines_by_span[span], with_links), parent_index=parent
        )
        if own_block.text:
            parent = block_by_span[span] = len(blocks)
            blocks.append(own_block)
        if not with_links:
            blocks += (replace(block, parent_index=parent) for block in iter_anchor_blocks(span, lines_by_span[span]))
    return blocks


def classify_span(layout: Layout, span: int, link_shares: Sequence[float]) -> TagBlockType:
    """Return the block type [D].

    The type is title in a heading, navigation if the nearest list or container is mostly links, and else given by the
    tag.
    """
    ancestors = [(span_index, layout.spans[span_index].tag_info.tag) for span_index in layout.iter_enclosing(span)]
    if any(tag in HEADING_TAGS for _, tag in ancestors):
        return TagBlockType.TITLE
    container_span = next((span_index for span_index, tag in ancestors if tag in CONTAINERS), -1)
    if container_span >= 0 and link_shares[container_span] > MIN_NAVIGATION_LINK_SHARE:
        return TagBlockType.NAVIGATION
    return TagBlockType.CONTENT if ancestors and ancestors[0][1] in CONTENT_TAGS else TagBlockType.OTHER


def build_element_block(
    layout: Layout, span: int, block_type: TagBlockType, lines: Sequence[Line], with_links: bool
) -> TagBlock:
    """Build the block of an element from its direct lines, without link text unless `with_links`."""
    tag_info = layout.spans[span].tag_info if span >= 0 else parse_tag("", "")
    texts = [line.text if with_links else text_outside_links(line) for line in lines]
    strong = tuple("strong" for line, text in zip(lines, texts, strict=True) if text and line.strong_size)
    return TagBlock(
        id=f"{tag_info.tag}-{span}",
        name=tag_info.tag,
        identifiers=tag_info.identifiers.strip(),
        text="\n".join(filter(None, texts)),
        type=block_type,
        attributes=tag_info.attributes,
        key_tags=("h1", *strong) if tag_info.tag == "h1" else strong,
        span_index=span,
    )


def iter_anchor_blocks(span: int, lines: Sequence[Line]) -> Iterator[TagBlock]:
    """Yield a block for each link with text.

    If a line of nothing but links has strong text, its first link gets the key tag.
    """
    count = 0
    for line in lines:
        strong = line.strong_size > 0 and not text_outside_links(line)
        for start, end, attribute_text in line.links:
            text = join_pieces(line.text_pieces[start:end])
            if text:
                count += 1
                attributes, key_tags = parse_attributes(attribute_text), ("strong",) if strong else ()
                strong = False
                names = f"{attributes.get('id', '')} {attributes.get('class', '')}".strip().lower()
                yield TagBlock(
                    f"a-{span}.{count}", "a", names, text, TagBlockType.ANCHOR, attributes, key_tags, span_index=span
                )


def text_outside_links(line: Line) -> str:
    """Return the text of a line without its links."""
    if not line.links:
        return line.text
    pieces, position = [], 0
    for start, end, _ in line.links:
        pieces += [*line.text_pieces[position:start], " "]
        position = max(position, end)
    return join_pieces([*pieces, *line.text_pieces[position:]])


def join_pieces(parts: Sequence[str]) -> str:
    """Join pieces of a line with the white space of its text."""
    return " ".join(CJK_LINE_BREAK_RE.sub("", "".join(parts)).split())
