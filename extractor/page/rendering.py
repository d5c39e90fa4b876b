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

HTTP = re.compile(r"https?://[^\s/?#\\]", re.I)
RUNS = frozenset((BlockKind.ITEM, BlockKind.ROW, BlockKind.QUOTE))  # several blocks make one list, table, quote
DEEPEST_HEADING = 6
DEEPEST_ITEM = 20
MARKDOWN_SIGN = re.compile(r"[\\`*_\[\]<~]|&(?=#?\w{1,40};)")
# At the start of a line: headings, items, quotes, rules.
MARKDOWN_START = re.compile(r"^(\d{1,9}(?=[.)])|(?=[-+=>#]))")
LAST_SIGNS = re.compile("#+$")  # they would be taken for the end of a heading
BACKTICKS = re.compile("`+")
ENTITY = re.compile(r"&(?=#?\w{1,40};)")


def to_text(blocks: Iterable[Block]) -> str:
    """Plain text, a line for each paragraph, item, row of a table or line of code: the body the blocks were made of.

    Pictures are no text, nor are captions that the body leaves out (level 1), nor the lines that begin posts.
    """
    return "\n".join(line for block in blocks for line in text_lines(block))


def text_lines(block: Block) -> Iterator[str]:
    """The lines of one block."""
    if block.kind in (BlockKind.PICTURE, BlockKind.POST) or (block.kind is BlockKind.CAPTION and block.level):
        return
    if block.kind is BlockKind.ROW:
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
    return "\n".join(part for run in runs(blocks) if (part := html_of(run)))


def html_of(run: Sequence[Block]) -> str:
    """The HTML of blocks that belong together (see `runs`)."""
    first = run[0]
    if first.kind is BlockKind.ITEM:
        return html_list(run)
    if first.kind is BlockKind.ROW:
        return html_table(run)
    if first.kind is BlockKind.QUOTE:
        return "<blockquote>" + "".join(f"<p>{html_text(block)}</p>" for block in run) + "</blockquote>"
    if first.kind is BlockKind.PICTURE:
        return html_figure(run)
    if first.kind is BlockKind.CODE:
        return f"<pre><code>\n{escape(first.text)}</code></pre>"
    if first.kind is BlockKind.POST:
        return html_post(first)
    tag = f"h{heading_level(first)}" if first.kind is BlockKind.HEADING else "p"
    return f"<{tag}>{html_text(first)}</{tag}>"


def html_post(post: Block) -> str:
    """The line that begins a post: who, and when."""
    said = post_line(post)
    return f"<p>{escape(said)}</p>" if said else ""


def post_line(post: Block) -> str:
    """Who wrote a post, and when, as far as that is known."""
    return " · ".join(part for part in (post.text, post.time) if part)


def html_text(block: Block) -> str:
    """Escaped text with its links; line breaks inside are kept."""
    return marked_up(block, lambda text: escape(text).replace("\n", "<br>"), html_link)


def html_link(text: str, url: str) -> str:
    """A link around HTML."""
    return f'<a href="{escape(url)}">{text}</a>'


def html_list(items: Sequence[Block]) -> str:
    """Nested lists. An item deeper than its list opens one in the item before it."""
    out: list[str] = []
    open_lists: list[tuple[int, str]] = []  # depth and tag
    for block in items:
        depth, tag = item_depth(block), "ol" if block.ordered else "ul"
        while open_lists and open_lists[-1][0] > depth:
            out.append(f"</li></{open_lists.pop()[1]}>")
        if open_lists and open_lists[-1] != (depth, tag) and open_lists[-1][0] == depth:
            out.append(f"</li></{open_lists.pop()[1]}>")
        if open_lists and open_lists[-1][0] == depth:
            out.append("</li>")
        else:
            open_lists.append((depth, tag))
            out.append(f"<{tag}>")
        out.append(f"<li>{html_text(block)}")
    out += [f"</li></{tag}>" for _, tag in reversed(open_lists)]
    return "".join(out)


def html_table(rows: Sequence[Block]) -> str:
    """A table; rows of level 1 are heading rows."""
    return "<table>" + "".join(html_row(row) for row in rows) + "</table>"


def html_row(row: Block) -> str:
    """One row."""
    tag = "th" if row.level else "td"
    return "<tr>" + "".join(f"<{tag}>{escape(cell)}</{tag}>" for cell in row.text.split("\t")) + "</tr>"


def html_figure(run: Sequence[Block]) -> str:
    """A picture with its captions; one without a web URL leaves its captions alone."""
    picture, *captions = run
    below = "<br>".join(html_text(caption) for caption in captions)
    if not is_http(picture.url):
        return f"<p>{below}</p>" if below else ""
    caption = f"<figcaption>{below}</figcaption>" if below else ""
    return f'<figure><img src="{escape(picture.url)}" alt="{escape(picture.text)}">{caption}</figure>'


# -- Markdown


def to_markdown(blocks: Iterable[Block]) -> str:
    """Markdown (CommonMark, with the tables of GitHub's), ending in a line break unless it is empty."""
    parts = [part for run in runs(blocks) if (part := markdown_of(run))]
    return "\n\n".join(parts) + "\n" if parts else ""


def markdown_of(run: Sequence[Block]) -> str:
    """The Markdown of blocks that belong together (see `runs`)."""
    first = run[0]
    if first.kind is BlockKind.ITEM:
        return markdown_list(run)
    if first.kind is BlockKind.ROW:
        return markdown_table(run)
    if first.kind is BlockKind.QUOTE:
        return "\n>\n".join(f"> {markdown_text(block, '> ')}" for block in run)
    if first.kind is BlockKind.PICTURE:
        return markdown_figure(run)
    if first.kind is BlockKind.CODE:
        return markdown_code(first.text)
    if first.kind is BlockKind.POST:
        return markdown_post(first)
    return markdown_heading(first) if first.kind is BlockKind.HEADING else markdown_text(first)


def markdown_post(post: Block) -> str:
    """The line that begins a post: who, and when."""
    said = post_line(post)
    return markdown_text(Block(BlockKind.PARAGRAPH, said)) if said else ""


def markdown_heading(block: Block) -> str:
    """A heading, on one line."""
    text = marked_up(block, markdown_escape, markdown_link).replace("\n", " ").strip()
    closed = LAST_SIGNS.sub(lambda signs: r"\#" * len(signs[0]), text)
    return f"{'#' * heading_level(block)} {closed}"


def markdown_figure(run: Sequence[Block]) -> str:
    """A picture, and its captions in italics below it."""
    picture, *captions = run
    image = f"![{markdown_escape(picture.text)}]({markdown_url(picture.url)})" if is_http(picture.url) else ""
    below = [f"*{markdown_text(caption)}*" for caption in captions if caption.text.strip()]
    return "\n\n".join(part for part in (image, *below) if part)


def markdown_text(block: Block, indent: str = "") -> str:
    """Escaped text with its links. Further lines become paragraphs of their own behind `indent`."""
    lines = marked_up(block, markdown_escape, markdown_link).split("\n")
    return f"\n{indent.rstrip()}\n{indent}".join(MARKDOWN_START.sub(r"\1\\", line.strip()) for line in lines)


def markdown_escape(text: str) -> str:
    """Text in which no sign means anything."""
    return MARKDOWN_SIGN.sub(r"\\\g<0>", text)


def markdown_link(text: str, url: str) -> str:
    """A link around Markdown."""
    return f"[{text}]({markdown_url(url)})"


def markdown_url(url: str) -> str:
    """A URL as a link's destination: without signs that would end it, or split a table's row."""
    return ENTITY.sub("%26", quote(url, safe="!#$%&'*+,-./:;=?@_~", errors="replace"))


def markdown_list(items: Sequence[Block]) -> str:
    """Nested lists; each item is indented by the markers of those around it."""
    lines: list[str] = []
    around: list[tuple[int, bool, int, int]] = []  # depth, ordered, number of the last item, width of its marker
    for block in items:
        depth, number = item_depth(block), 1
        while around and around[-1][0] > depth:
            around.pop()
        if around and around[-1][0] == depth:
            _, ordered, last, _ = around.pop()
            number = last + 1 if ordered == block.ordered else 1
        indent = " " * sum(width for *_, width in around)
        marker = f"{number}. " if block.ordered else "- "
        lines.append(indent + marker + markdown_text(block, indent + " " * len(marker)))
        around.append((depth, block.ordered, number, len(marker)))
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
    fence = "`" * max(3, 1 + max(map(len, BACKTICKS.findall(text)), default=0))
    return f"{fence}\n{text}\n{fence}"


# -- what both share


def runs(blocks: Iterable[Block]) -> Iterator[list[Block]]:
    """Blocks that are drawn together: a list, a table, a quote, a picture with its captions, else one alone."""
    run: list[Block] = []
    for block in blocks:
        if run and not continues(run[0].kind, block.kind):
            yield run
            run = []
        run.append(block)
    if run:
        yield run


def continues(first: BlockKind, kind: BlockKind) -> bool:
    """Is a block of this kind drawn with those before it, of which the first is of that kind?"""
    return (kind is first and kind in RUNS) or (first is BlockKind.PICTURE and kind is BlockKind.CAPTION)


def marked_up(block: Block, text: Callable[[str], str], link: Callable[[str, str], str]) -> str:
    """A text, its pieces drawn by `text` and its links by `link`. Links that overlap or lead nowhere are text."""
    parts, at = [], 0
    for start, end, url in sorted(block.links):
        if at <= start < end <= len(block.text) and is_http(url):
            parts += [text(block.text[at:start]), link(text(block.text[start:end]), url)]
            at = end
    return "".join((*parts, text(block.text[at:])))


def is_http(url: str) -> bool:
    """A URL that is safe to follow."""
    return HTTP.match(url) is not None


def heading_level(block: Block) -> int:
    """1 to 6."""
    return min(max(block.level, 1), DEEPEST_HEADING)


def item_depth(block: Block) -> int:
    """1 and above, bounded."""
    return min(max(block.level, 1), DEEPEST_ITEM)
