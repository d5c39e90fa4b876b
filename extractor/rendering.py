"""Render the blocks of an article as plain text, HTML, Markdown and JSON.

No I/O, and safe for any text: text of a block never becomes markup, and only http(s) URLs become links.
"""

import dataclasses
import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from html import escape
from urllib.parse import quote

from domain.article import Article, Block, BlockKind

HTTP_RE = re.compile(r"https?://[^\s/?#\\]", re.I)
# Consecutive blocks of one of these kinds are one list, table or quote.
MERGED_KINDS = frozenset((BlockKind.LIST_ITEM, BlockKind.TABLE_ROW, BlockKind.QUOTE))
MAX_HEADING_LEVEL = 6
MAX_ITEM_DEPTH = 20
MARKDOWN_SPECIAL_RE = re.compile(r"[\\`*_\[\]<~]|&(?=#?\w{1,40};)")
# Markdown syntax at the start of a line: headings, items, quotes, rules.
MARKDOWN_LINE_START_RE = re.compile(r"^(\d{1,9}(?=[.)])|(?=[-+=>#]))")
TRAILING_HASHES_RE = re.compile("(?<!#)#+$")  # Markdown removes them from the end of a heading
BACKTICKS_RE = re.compile("`+")
ENTITY_RE = re.compile(r"&(?=#?\w{1,40};)")


def to_text(blocks: Iterable[Block]) -> str:
    """Return the blocks as plain text, one line for each paragraph, item, table row or line of code.

    The result equals the body text from which the blocks were built. It leaves out pictures, start lines of posts and
    captions outside the body (level 1).
    """
    return "\n".join(line for block in blocks for line in block_text_lines(block))


def block_text_lines(block: Block) -> Iterator[str]:
    """Yield the text lines of one block."""
    if block.kind in (BlockKind.PICTURE, BlockKind.POST_START) or (block.kind is BlockKind.CAPTION and block.level):
        return
    if block.kind is BlockKind.TABLE_ROW:
        yield " ".join(cell for cell in block.text.split("\t") if cell)
    elif block.kind is BlockKind.CODE:
        yield from (line.rstrip() for line in block.text.split("\n") if line.strip())
    else:
        yield block.text


def to_json(article: Article) -> str:
    """Return all fields of an article as JSON, named as in domain."""
    return json.dumps(dataclasses.asdict(article), ensure_ascii=False, indent=1)


# -- HTML


def to_html(blocks: Iterable[Block]) -> str:
    """Return the blocks as HTML fragments: headings, paragraphs, lists, tables, quotes, code and figures."""
    return "\n".join(part for run in group_blocks(blocks) if (part := html_group(run)))


def html_group(group: Sequence[Block]) -> str:
    """Return the HTML of one group of blocks (see `group_blocks`)."""
    first = group[0]
    if first.kind is BlockKind.LIST_ITEM:
        return html_list(group)
    if first.kind is BlockKind.TABLE_ROW:
        return "<table>" + "".join(html_row(row) for row in group) + "</table>"
    if first.kind is BlockKind.QUOTE:
        return "<blockquote>" + "".join(f"<p>{html_text(block)}</p>" for block in group) + "</blockquote>"
    if first.kind is BlockKind.PICTURE:
        return html_figure(group)
    if first.kind is BlockKind.CODE:
        return f"<pre><code>\n{escape(first.text)}</code></pre>"
    if first.kind is BlockKind.POST_START:
        header = post_header(first)
        return f"<p>{escape(header)}</p>" if header else ""
    tag = f"h{heading_level(first)}" if first.kind is BlockKind.HEADING else "p"
    return f"<{tag}>{html_text(first)}</{tag}>"


def post_header(post: Block) -> str:
    """Return author and time of a post, each if known, as one line."""
    return " · ".join(part for part in (post.text, post.time) if part)


def html_text(block: Block) -> str:
    """Return the escaped text of a block with its links. Line breaks become `<br>`."""
    return render_links(block, lambda text: escape(text).replace("\n", "<br>"), html_link)


def html_link(text: str, url: str) -> str:
    """Return an HTML link around `text`, which must already be HTML."""
    return f'<a href="{escape(url)}">{text}</a>'


def html_list(items: Sequence[Block]) -> str:
    """Return nested HTML lists. An item deeper than its predecessor opens a list inside that item."""
    parts: list[str] = []
    open_lists: list[tuple[int, str]] = []  # depth and tag
    for block in items:
        depth, tag = item_depth(block), "ol" if block.ordered else "ul"
        while open_lists and open_lists[-1][0] > depth:
            parts.append(f"</li></{open_lists.pop()[1]}>")
        if open_lists and open_lists[-1] != (depth, tag) and open_lists[-1][0] == depth:
            parts.append(f"</li></{open_lists.pop()[1]}>")
        if open_lists and open_lists[-1][0] == depth:
            parts.append("</li>")
        else:
            open_lists.append((depth, tag))
            parts.append(f"<{tag}>")
        parts.append(f"<li>{html_text(block)}")
    parts += [f"</li></{tag}>" for _, tag in reversed(open_lists)]
    return "".join(parts)


def html_row(row: Block) -> str:
    """Return one row of an HTML table; its cells are `th` in a heading row."""
    tag = "th" if row.level else "td"
    return "<tr>" + "".join(f"<{tag}>{escape(cell)}</{tag}>" for cell in row.text.split("\t")) + "</tr>"


def html_figure(group: Sequence[Block]) -> str:
    """Return a picture with its captions. Without an http(s) URL, only the captions remain."""
    picture, *captions = group
    captions_html = "<br>".join(html_text(caption) for caption in captions)
    if not is_http_url(picture.url):
        return f"<p>{captions_html}</p>" if captions_html else ""
    figcaption = f"<figcaption>{captions_html}</figcaption>" if captions_html else ""
    return f'<figure><img src="{escape(picture.url)}" alt="{escape(picture.text)}">{figcaption}</figure>'


# -- Markdown


def to_markdown(blocks: Iterable[Block]) -> str:
    """Return the blocks as CommonMark with GitHub tables. A non-empty result ends with a line break."""
    parts = [part for run in group_blocks(blocks) if (part := markdown_group(run))]
    return "\n\n".join(parts) + "\n" if parts else ""


def markdown_group(group: Sequence[Block]) -> str:
    """Return the Markdown of one group of blocks (see `group_blocks`)."""
    first = group[0]
    if first.kind is BlockKind.LIST_ITEM:
        return markdown_list(group)
    if first.kind is BlockKind.TABLE_ROW:
        return markdown_table(group)
    if first.kind is BlockKind.QUOTE:
        return "\n>\n".join(f"> {markdown_text(block, '> ')}" for block in group)
    if first.kind is BlockKind.PICTURE:
        return markdown_figure(group)
    if first.kind is BlockKind.CODE:
        # The fence is longer than any run of backticks in the code.
        fence = "`" * max(3, 1 + max(map(len, BACKTICKS_RE.findall(first.text)), default=0))
        return f"{fence}\n{first.text}\n{fence}"
    if first.kind is BlockKind.POST_START:
        header = post_header(first)
        return markdown_text(Block(BlockKind.PARAGRAPH, header)) if header else ""
    return markdown_heading(first) if first.kind is BlockKind.HEADING else markdown_text(first)


def markdown_heading(block: Block) -> str:
    """Return a heading as one line of Markdown."""
    text = render_links(block, markdown_escape, markdown_link).replace("\n", " ").strip()
    escaped_text = TRAILING_HASHES_RE.sub(lambda signs: r"\#" * len(signs[0]), text)
    return f"{'#' * heading_level(block)} {escaped_text}"


def markdown_figure(group: Sequence[Block]) -> str:
    """Return a picture, followed by its captions in italics."""
    picture, *captions = group
    image = f"![{markdown_escape(picture.text)}]({markdown_url(picture.url)})" if is_http_url(picture.url) else ""
    caption_lines = [f"*{markdown_text(caption)}*" for caption in captions if caption.text.strip()]
    return "\n\n".join(part for part in (image, *caption_lines) if part)


def markdown_text(block: Block, indent: str = "") -> str:
    """Return the escaped text of a block with its links.

    Further lines become paragraphs of their own, each after `indent`.
    """
    lines = render_links(block, markdown_escape, markdown_link).split("\n")
    return f"\n{indent.rstrip()}\n{indent}".join(MARKDOWN_LINE_START_RE.sub(r"\1\\", line.strip()) for line in lines)


def markdown_escape(text: str) -> str:
    """Escape all Markdown syntax in a text."""
    return MARKDOWN_SPECIAL_RE.sub(r"\\\g<0>", text)


def markdown_link(text: str, url: str) -> str:
    """Return a Markdown link around `text`, which must already be Markdown."""
    return f"[{text}]({markdown_url(url)})"


def markdown_url(url: str) -> str:
    """Quote a URL for a link destination, without characters that end the link or split a table row."""
    return ENTITY_RE.sub("%26", quote(url, safe="!#$%&'*+,-./:;=?@_~", errors="replace"))


def markdown_list(items: Sequence[Block]) -> str:
    """Return nested Markdown lists. Each item is indented by the markers of the enclosing items."""
    lines: list[str] = []
    open_items: list[tuple[int, bool, int, int]] = []  # depth, ordered, number of the last item, width of its marker
    for block in items:
        depth, number = item_depth(block), 1
        while open_items and open_items[-1][0] > depth:
            open_items.pop()
        if open_items and open_items[-1][0] == depth:
            _, ordered, last, _ = open_items.pop()
            number = last + 1 if ordered == block.ordered else 1
        indent = " " * sum(width for *_, width in open_items)
        marker = f"{number}. " if block.ordered else "- "
        lines.append(indent + marker + markdown_text(block, indent + " " * len(marker)))
        open_items.append((depth, block.ordered, number, len(marker)))
    return "\n".join(lines)


def markdown_table(rows: Sequence[Block]) -> str:
    """Return a Markdown table. If it has no heading row, an empty one is added, because Markdown requires it."""
    cells = [[markdown_escape(cell).replace("|", r"\|") for cell in row.text.split("\t")] for row in rows]
    columns = max(map(len, cells))
    head = cells.pop(0) if rows[0].level else []
    return "\n".join(markdown_row(row, columns) for row in (head, ["---"] * columns, *cells))


def markdown_row(cells: Sequence[str], columns: int) -> str:
    """Return one Markdown row, padded with empty cells to `columns`."""
    return "| " + " | ".join([*cells, *[""] * (columns - len(cells))]) + " |"


# -- shared by HTML and Markdown


def group_blocks(blocks: Iterable[Block]) -> Iterator[list[Block]]:
    """Yield groups of blocks that are rendered together.

    A group is a list, a table, a quote, a picture with its captions, or a single block.
    """
    run: list[Block] = []
    for block in blocks:
        if run and not belongs_to_group(run[0].kind, block.kind):
            yield run
            run = []
        run.append(block)
    if run:
        yield run


def belongs_to_group(first: BlockKind, kind: BlockKind) -> bool:
    """Return True if a block of this kind continues a group whose first block has the kind `first`."""
    return (kind is first and kind in MERGED_KINDS) or (first is BlockKind.PICTURE and kind is BlockKind.CAPTION)


def render_links(block: Block, render_text: Callable[[str], str], render_link: Callable[[str, str], str]) -> str:
    """Render a block's text with `render_text` and its links with `render_link`.

    Overlapping links and links without an http(s) URL are rendered as text.
    """
    parts, position = [], 0
    for start, end, url in sorted(block.links):
        if position <= start < end <= len(block.text) and is_http_url(url):
            parts += [render_text(block.text[position:start]), render_link(render_text(block.text[start:end]), url)]
            position = end
    return "".join((*parts, render_text(block.text[position:])))


def is_http_url(url: str) -> bool:
    """Return True for an absolute http(s) URL."""
    return HTTP_RE.match(url) is not None


def heading_level(block: Block) -> int:
    """Return the level of a heading, limited to 1 to 6."""
    return min(max(block.level, 1), MAX_HEADING_LEVEL)


def item_depth(block: Block) -> int:
    """Return the depth of a list item, limited to 1 to MAX_ITEM_DEPTH."""
    return min(max(block.level, 1), MAX_ITEM_DEPTH)
