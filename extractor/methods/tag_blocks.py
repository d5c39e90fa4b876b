"""A page as weighted tag blocks: WY-F1 to WY-F6 of Wu Yueting 2015 (METHODS 3.2 and 3.3).

    <h1>标题</h1><div><p>正文 <a href="/1">链接</a></p></div>

    h1-2  title    标题     p-4  content  正文     a-4.1  anchor  链接  (in p-4)

WY-F1: a page is the set of its blocks and the relations among them (`TagBlock.parent`). A block is an element with text
of its own [D]; text of links outside navigation is a block of its own, inside the one it stands in. The impact of a
block says how much it tells of the page's topic, its weight is its share of all impact.

Everything is read off the page's layout (lines.py). That knows which lines hold strong text, not how many
elements do: each such line is one key tag "strong" (`b` counts as `strong`). `i` is not in it, and never counted.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from itertools import accumulate

from extractor.page.document import Document, with_all_lines
from extractor.page.dom import HEADINGS
from extractor.page.layout import Layout, Line
from extractor.page.lines import HAN_BREAK
from extractor.page.markup_hints import attributes_of, facts_of

# Text containers of the paper; a row of data (`tr`) is its `td`s, and `main` and `section` are today's `div`.
CONTENT_TAGS = frozenset(("p", "div", "td", "article", "tr", "main", "section"))
CONTAINERS = frozenset(
    (
        "ul", "ol", "dl", "dir", "menu", "nav", "div", "section", "article", "main", "aside", "header", "footer",
        "table", "tbody", "tr", "td", "form", "center", "body", "html",
    )
)  # fmt: skip
LINKS = 0.5  # a list or container with a larger share of link text is navigation [D]


class BlockType(StrEnum):
    """What a block is to the page's topic (METHODS 3.2)."""

    TITLE = "title"
    CONTENT = "content"
    NAVIGATION = "navigation"
    ANCHOR = "anchor"
    OTHER = "other"


@dataclass(frozen=True)
class TagBlock:
    """WY-F2: the nine fields of the paper, from BlockId to impact, and what relates the block to others (R of WY-F1).

    `id` is unique on the page: tag and position; `name` the tag; `detail` what its author called it (id, class ...);
    `content` the text inside that is in no other block, a line each. `parent` is the index of the block around it, -1
    for none; `span` the element among the layout's spans, -1 for the page's <title>.
    """

    id: str
    name: str
    detail: str
    content: str
    type: BlockType
    attributes: Mapping[str, str] = field(default_factory=dict)
    key_tags: tuple[str, ...] = ()
    weight: float = 0.0
    impact: float = 0.0
    parent: int = -1
    span: int = -1


@dataclass(frozen=True)
class ImpactSettings:
    """Constants of WY-F3, WY-F4 and of transitivity; the paper gives none, the defaults are METHODS' [D]."""

    k0: float = 0.5  # of the key tags
    k1: float = 0.5  # of the type
    by_type: Mapping[BlockType, float] = field(default_factory=lambda: dict(IMPACT_OF_TYPE))
    lift: float = 0.5  # of the strongest block inside it that a block gains


IMPACT_OF_TYPE: Mapping[BlockType, float] = {
    BlockType.TITLE: 1.0,
    BlockType.CONTENT: 0.8,
    BlockType.ANCHOR: 0.5,
    BlockType.OTHER: 0.3,
    BlockType.NAVIGATION: 0.1,
}
DEFAULT = ImpactSettings()


def tag_blocks(document: Document, settings: ImpactSettings = DEFAULT) -> tuple[TagBlock, ...]:
    """All blocks of a page, weighted, in document order, <title> first. A block comes before those inside it.

    The weights sum to 1; a page without text has no block.
    """
    return weighted(find_blocks(with_all_lines(document)), settings)


# -- impact and weight


def weighted(blocks: Sequence[TagBlock], settings: ImpactSettings = DEFAULT) -> tuple[TagBlock, ...]:
    """The same blocks with impact and weight (WY-F3 to WY-F5). A block must come before those inside it."""
    impacts = lifted(blocks, own_impacts(blocks, settings), settings.lift)
    weights = shares(impacts)
    return tuple(
        replace(block, impact=impact, weight=weight)
        for block, impact, weight in zip(blocks, impacts, weights, strict=True)
    )


def own_impacts(blocks: Sequence[TagBlock], settings: ImpactSettings) -> list[float]:
    """WY-F3, impact = k0 * impact0 + k1 * impact1, with WY-F4: impact0 is the share of the most key tags that a block
    of the page has (0 where none has any) [R], impact1 the value of its type.
    """
    most = max((len(block.key_tags) for block in blocks), default=0) or 1
    return [
        settings.k0 * len(block.key_tags) / most + settings.k1 * settings.by_type.get(block.type, 0.0)
        for block in blocks
    ]


def lifted(blocks: Sequence[TagBlock], impacts: Sequence[float], lift: float) -> list[float]:
    """Transitivity [D]: from the innermost out, a block gains `lift` times the largest impact inside it."""
    final = list(impacts)
    inside = [0.0] * len(blocks)
    for place in range(len(blocks) - 1, -1, -1):
        final[place] += lift * inside[place]
        parent = blocks[place].parent
        if parent >= 0:
            inside[parent] = max(inside[parent], final[place])
    return final


def shares(impacts: Sequence[float]) -> list[float]:
    """WY-F5: each block's share of the page's impact; equal shares where the page has none."""
    total = sum(impacts)
    return [impact / total if total > 0 else 1 / len(impacts) for impact in impacts]


def term_weights(blocks: Sequence[TagBlock], counts: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """WY-F6: what each term weighs on the page, W(j) = sum_i weight_i * WTf_ij over the same sum for all terms.

    `counts` has the frequencies of the page's important terms in each block. The weights sum to 1; all are 0 where no
    term stands in a block that weighs anything. Raises ValueError where `counts` are not as many as `blocks`.
    """
    found: dict[str, float] = {}
    for block, terms in zip(blocks, counts, strict=True):
        for term, frequency in terms.items():
            found[term] = found.get(term, 0.0) + block.weight * frequency
    total = sum(found.values())
    return {term: value / total if total > 0 else 0.0 for term, value in found.items()}


# -- finding blocks


def find_blocks(document: Document) -> list[TagBlock]:
    """The blocks of a page whose layout is whole; neither impact nor weight is decided."""
    layout = document.layout
    found = [TagBlock("title", "title", "", document.title, BlockType.TITLE)] if document.title else []
    lines_of = defaultdict[int, list[Line]](list)
    for line in layout.lines:
        lines_of[line.span].append(line)
    link_shares = link_shares_of(layout)
    places: dict[int, int] = {}  # span -> index of its block
    for span in sorted(lines_of):
        kind = type_of(layout, span, link_shares)
        parent = next((places[above] for above in layout.above(span) if above in places), -1)
        whole = kind in (BlockType.TITLE, BlockType.NAVIGATION)
        own = replace(element_block(layout, span, kind, lines_of[span], whole), parent=parent)
        if own.content:
            parent = places[span] = len(found)
            found.append(own)
        if not whole:
            found += (replace(block, parent=parent) for block in anchor_blocks(span, lines_of[span]))
    return found


def link_shares_of(layout: Layout) -> list[float]:
    """The share of link text in the text of each element, 0 to 1."""
    sizes = [0.0, *accumulate(line.size for line in layout.lines)]
    links = [0.0, *accumulate(min(line.link_size, line.size) for line in layout.lines)]
    return [
        (links[span.end] - links[span.start]) / (sizes[span.end] - sizes[span.start] or 1.0) for span in layout.spans
    ]


def type_of(layout: Layout, span: int, link_shares: Sequence[float]) -> BlockType:
    """Title in a heading, navigation where the nearest list or container is mostly links; else by the tag [D]."""
    around = [(place, layout.spans[place].facts.tag) for place in layout.above(span)]
    if any(tag in HEADINGS for _, tag in around):
        return BlockType.TITLE
    container = next((place for place, tag in around if tag in CONTAINERS), -1)
    if container >= 0 and link_shares[container] > LINKS:
        return BlockType.NAVIGATION
    return BlockType.CONTENT if around and around[0][1] in CONTENT_TAGS else BlockType.OTHER


def element_block(layout: Layout, span: int, kind: BlockType, lines: Sequence[Line], whole: bool) -> TagBlock:
    """The block of an element, from the lines that stand in it directly; without the text of links unless `whole`."""
    facts = layout.spans[span].facts if span >= 0 else facts_of("", "")
    texts = [line.text if whole else own_text(line) for line in lines]
    strong = tuple("strong" for line, text in zip(lines, texts, strict=True) if text and line.strong_size)
    return TagBlock(
        id=f"{facts.tag}-{span}",
        name=facts.tag,
        detail=facts.name.strip(),
        content="\n".join(filter(None, texts)),
        type=kind,
        attributes=facts.attributes,
        key_tags=("h1", *strong) if facts.tag == "h1" else strong,
        span=span,
    )


def anchor_blocks(span: int, lines: Sequence[Line]) -> Iterator[TagBlock]:
    """A block for each link with text. Strong text in a line of nothing but links is a key tag of the first of them."""
    count = 0
    for line in lines:
        strong = line.strong_size > 0 and not own_text(line)
        for start, end, markup in line.anchors:
            text = text_of(line.parts[start:end])
            if text:
                count += 1
                attributes, key_tags = attributes_of(markup), ("strong",) if strong else ()
                strong = False
                names = f"{attributes.get('id', '')} {attributes.get('class', '')}".strip().lower()
                yield TagBlock(f"a-{span}.{count}", "a", names, text, BlockType.ANCHOR, attributes, key_tags, span=span)


def own_text(line: Line) -> str:
    """The text of a line outside its links."""
    if not line.anchors:
        return line.text
    pieces, at = [], 0
    for start, end, _ in line.anchors:
        pieces += [*line.parts[at:start], " "]
        at = max(at, end)
    return text_of([*pieces, *line.parts[at:]])


def text_of(parts: Sequence[str]) -> str:
    """Pieces of a line as its text has them."""
    return " ".join(HAN_BREAK.sub("", "".join(parts)).split())
