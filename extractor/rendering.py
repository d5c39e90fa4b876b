"""The blocks of an article as plain text, HTML, Markdown and JSON.

Pure, and safe for any text: nothing that stands in a block becomes markup, and only http(s) URLs become links.
"""

import dataclasses
import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from html import escape
from urllib.parse import quote

from docstore.model import Article, Block, BlockKind

HTTP_RE = re.compile(r"https?://[^\s/?#\\]", re.I)
MERGED_KINDS = frozenset(
    (BlockKind.LIST_ITEM, BlockKind.TABLE_ROW, BlockKind.QUOTE)
)  # several blocks make one list, table, quote
MAX_HEADING_LEVEL = 6
MAX_ITEM_DEPTH = 20
MARKDOWN_SPECIAL_RE = re.compile(r"[\\`*_\[\]<~]|&(?=#?\w{1,40};)")
# At the start of a line: headings, items, quotes, rules.
MARKDOWN_LINE_START_RE = re.compile(r"^(\d{1,9}(?=[.)])|(?=[-+=>#]))")
TRAILING_HASHES_RE = re.compile("#+$")  # they would be taken for the end of a heading
BACKTICKS_RE = re.compile("`+")
ENTITY_RE = re.compile(r"&(?=#?\w{1,40};)")


def to_text(blocks: Iterable[Block]) -> str:
    """Plain text, a line for each paragraph, item, row of a table or line of code: the body the blocks were made of.

    Pictures are no text, nor are captions that the body leaves out (level 1), nor the lines that begin posts.
    """
    return "\n".join(line for block in blocks for line in block_text_lines(block))


def block_text_lines(block: Block) -> Iterator[str]:
    """The lines of one block."""
    if block.kind in (BlockKind.PICTURE, BlockKind.POST_START) or (block.kind is BlockKind.CAPTION and block.level):
        return
    if block.kind is BlockKind.TABLE_ROW:
        yield " ".join(cell for cell in block.text.split("\t") if cell)
    elif block.kind is BlockKind.CODE:
        yield from (line.rstrip() for line in block.text.split("\n") if line.strip())
    else:
        yield block.text


def to_json(article: Article) -> str:
    """All fields of an article, named as in docstore.model, as JSON."""
    return json.dumps(dataclasses.asdict(article), ensure_ascii=False, indent=1)


# -- HTML


def to_html(blocks: Iterable[Block]) -> str:
    """HTML fragments, one after the other: headings, paragraphs, lists, tables, quotes, code, figures."""
    return "\n".join(part for run in group_blocks(blocks) if (part := html_group(run)))


def html_group(group: Sequence[Block]) -> str:
    """The HTML of blocks that belong together (see `group_blocks`)."""
    first = group[0]
    if first.kind is BlockKind.LIST_ITEM:
        return html_list(group)
    if first.kind is BlockKind.TABLE_ROW:
        return html_table(group)
    if first.kind is BlockKind.QUOTE:
        return "<blockquote>" + "".join(f"<p>{html_text(block)}</p>" for block in group) + "</blockquote>"
    if first.kind is BlockKind.PICTURE:
        return html_figure(group)
    if first.kind is BlockKind.CODE:
        return f"<pre><code>\n{escape(first.text)}</code></pre>"
    if first.kind is BlockKind.POST_START:
        return html_post(first)
    tag = f"h{heading_level(first)}" if first.kind is BlockKind.HEADING else "p"
    return f"<{tag}>{html_text(first)}</{tag}>"


def html_post(post: Block) -> str:
    """The line that begins a post: who, and when."""
    header = post_header(post)
    return f"<p>{escape(header)}</p>" if header else ""


def post_header(post: Block) -> str:
    """Who wrote a post, and when, as far as that is known."""
    return " · ".join(part for part in (post.text, post.time) if part)


def html_text(block: Block) -> str:
    """Escaped text with its links; line breaks inside are kept."""
    return render_links(block, lambda text: escape(text).replace("\n", "<br>"), html_link)


def html_link(text: str, url: str) -> str:
    """A link around HTML."""
    return f'<a href="{escape(url)}">{text}</a>'


def html_list(items: Sequence[Block]) -> str:
    """Nested lists. An item deeper than its list opens one in the item before it."""
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


def html_table(rows: Sequence[Block]) -> str:
    """A table; rows of level 1 are heading rows."""
    return "<table>" + "".join(html_row(row) for row in rows) + "</table>"


def html_row(row: Block) -> str:
    """One row."""
    tag = "th" if row.level else "td"
    return "<tr>" + "".join(f"<{tag}>{escape(cell)}</{tag}>" for cell in row.text.split("\t")) + "</tr>"


def html_figure(group: Sequence[Block]) -> str:
    """A picture with its captions; one without a web URL leaves its captions alone."""
    picture, *captions = group
    below = "<br>".join(html_text(caption) for caption in captions)
    if not is_http_url(picture.url):
        return f"<p>{below}</p>" if below else ""
    caption = f"<figcaption>{below}</figcaption>" if below else ""
    return f'<figure><img src="{escape(picture.url)}" alt="{escape(picture.text)}">{caption}</figure>'


# -- Markdown


def to_markdown(blocks: Iterable[Block]) -> str:
    """Markdown (CommonMark, with the tables of GitHub's), ending in a line break unless it is empty."""
    parts = [part for run in group_blocks(blocks) if (part := markdown_group(run))]
    return "\n\n".join(parts) + "\n" if parts else ""


def markdown_group(group: Sequence[Block]) -> str:
    """The Markdown of blocks that belong together (see `group_blocks`)."""
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
        return markdown_code(first.text)
    if first.kind is BlockKind.POST_START:
        return markdown_post(first)
    return markdown_heading(first) if first.kind is BlockKind.HEADING else markdown_text(first)


def markdown_post(post: Block) -> str:
    """The line that begins a post: who, and when."""
    header = post_header(post)
    return markdown_text(Block(BlockKind.PARAGRAPH, header)) if header else ""


def markdown_heading(block: Block) -> str:
    """A heading, on one line."""
    text = render_links(block, markdown_escape, markdown_link).replace("\n", " ").strip()
    escaped_text = TRAILING_HASHES_RE.sub(lambda signs: r"\#" * len(signs[0]), text)
    return f"{'#' * heading_level(block)} {escaped_text}"


def markdown_figure(group: Sequence[Block]) -> str:
    """A picture, and its captions in italics below it."""
    picture, *captions = group
    image = f"![{markdown_escape(picture.text)}]({markdown_url(picture.url)})" if is_http_url(picture.url) else ""
    below = [f"*{markdown_text(caption)}*" for caption in captions if caption.text.strip()]
    return "\n\n".join(part for part in (image, *below) if part)


def markdown_text(block: Block, indent: str = "") -> str:
    """Escaped text with its links. Further lines become paragraphs of their own behind `indent`."""
    lines = render_links(block, markdown_escape, markdown_link).split("\n")
    return f"\n{indent.rstrip()}\n{indent}".join(MARKDOWN_LINE_START_RE.sub(r"\1\\", line.strip()) for line in lines)


def markdown_escape(text: str) -> str:
    """Text in which no sign means anything."""
    return MARKDOWN_SPECIAL_RE.sub(r"\\\g<0>", text)


def markdown_link(text: str, url: str) -> str:
    """A link around Markdown."""
    return f"[{text}]({markdown_url(url)})"


def markdown_url(url: str) -> str:
    """A URL as a link's destination: without signs that would end it, or split a table's row."""
    return ENTITY_RE.sub("%26", quote(url, safe="!#$%&'*+,-./:;=?@_~", errors="replace"))


def markdown_list(items: Sequence[Block]) -> str:
    """Nested lists; each item is indented by the markers of those around it."""
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
    """A table; without a heading row it gets an empty one, because Markdown has none without."""
    cells = [[markdown_escape(cell).replace("|", r"\|") for cell in row.text.split("\t")] for row in rows]
    columns = max(map(len, cells))
    head = cells.pop(0) if rows[0].level else []
    return "\n".join(markdown_row(row, columns) for row in (head, ["---"] * columns, *cells))


def markdown_row(cells: Sequence[str], columns: int) -> str:
    """One row, filled up with empty cells."""
    return "| " + " | ".join([*cells, *[""] * (columns - len(cells))]) + " |"


def markdown_code(text: str) -> str:
    """A fence longer than any run of backticks inside."""
    fence = "`" * max(3, 1 + max(map(len, BACKTICKS_RE.findall(text)), default=0))
    return f"{fence}\n{text}\n{fence}"


# -- what both share


def group_blocks(blocks: Iterable[Block]) -> Iterator[list[Block]]:
    """Blocks that are drawn together: a list, a table, a quote, a picture with its captions, else one alone."""
    run: list[Block] = []
    for block in blocks:
        if run and not belongs_to_group(run[0].kind, block.kind):
            yield run
            run = []
        run.append(block)
    if run:
        yield run


def belongs_to_group(first: BlockKind, kind: BlockKind) -> bool:
    """Is a block of this kind drawn with those before it, of which the first is of that kind?"""
    return (kind is first and kind in MERGED_KINDS) or (first is BlockKind.PICTURE and kind is BlockKind.CAPTION)


def render_links(block: Block, render_text: Callable[[str], str], render_link: Callable[[str, str], str]) -> str:
    """A text, its pieces drawn by `render_text` and its links by `render_link`. Links that overlap or lead nowhere are text."""
    parts, position = [], 0
    for start, end, url in sorted(block.links):
        if position <= start < end <= len(block.text) and is_http_url(url):
            parts += [render_text(block.text[position:start]), render_link(render_text(block.text[start:end]), url)]
            position = end
    return "".join((*parts, render_text(block.text[position:])))


def is_http_url(url: str) -> bool:
    """A URL that is safe to follow."""
    return HTTP_RE.match(url) is not None


def heading_level(block: Block) -> int:
    """1 to 6."""
    return min(max(block.level, 1), MAX_HEADING_LEVEL)


def item_depth(block: Block) -> int:
    """1 and above, bounded."""
    return min(max(block.level, 1), MAX_ITEM_DEPTH)
