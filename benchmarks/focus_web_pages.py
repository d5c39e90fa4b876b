"""Reads the source of a page of a blog, a manual or a wiki: title, date, labels, paragraphs, links with positions.

front matter     title, date, slug and tags / categories / topics, in the forms of Hexo, Hugo and Jekyll Markdown
is converted to HTML (markdown-it); short codes that name another page become links, others are removed Oddmuse wiki
is converted to HTML: [[links]], CamelCase links, CategoryLabels on separate lines HTML             each block element
gives a paragraph; code, pictures and scripts are skipped
"""

import html
import re
import tomllib
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from urllib.parse import quote

import lxml.html
from lxml.etree import LxmlError
from lxml.html.defs import block_tags
from markdown_it import MarkdownIt

LABEL_FIELDS = ("tags", "tag", "categories", "category", "topics", "topic")
MAX_LABEL = 40  # characters; longer ones are sentences
INLINE = frozenset({"del", "ins"})
BLOCKS = frozenset({"article", "aside", "body", "br", "details", "figure", "main", "section"}) | block_tags - INLINE
LEFT_OUT = frozenset(
    ("pre", "script", "style", "svg", "math", "head", "noscript", "template", "textarea", "iframe", "object", "video")
)
_FENCE = re.compile(r"\A\s*(---|\+\+\+|;;;)\s*\n(.*?)\n\1\s*(?:\n|\Z)", re.DOTALL)
_HEXO_FENCE = re.compile(r"\A((?:[\w-]+:.*\n|[ \t]+.*\n|- .*\n)+)---\s*\n")  # Hexo needs no first line
_FIELD = re.compile(r"^([\w-]+):[ \t]*(.*)$")
_FOLDED = re.compile(r"^[>|][+-]?$")  # the text follows, on lines that begin with blanks
_ITEM = re.compile(r"^\s*-\s+(.*)$")
_DATE = re.compile(r"(\d{4})-(\d{1,2})(?:-\d{1,2})?")
_DATED_NAME = re.compile(r"^\d{4}-?\d{2}-?\d{2}-")
_HEADING = re.compile(r"^(?:#\s+(.+?)\s*#*|(\S.*)\n=+)\s*$", re.MULTILINE)
_POST_LINK = re.compile(r"\{%\s*post_link\s+(\S+)\s*(.*?)\s*%\}")
_POST_URL = re.compile(r"\{%-?\s*(?:post_url|link)\s+(\S+)\s*-?%\}")
_REF = re.compile(r"\{\{[<%]\s*(?:rel)?ref\s+\"?([^\"\s>%]+)\"?\s*[%>]\}\}")
_MACRO = re.compile(r"\{\{\s*(?:template\.)?(\w+)\s*\(\s*[\"']([^\"']+)[\"'][^}]*\)\s*\}\}")
_SHORT_CODE = re.compile(r"\{%.*?%\}|\{\{.*?\}\}", re.DOTALL)
_CATEGORIES = re.compile(r"^[ \t]*((?:\[*Category[A-Z]\w+\]*[ \t,]*)+)$", re.MULTILINE)
_CATEGORY = re.compile(r"Category([A-Z]\w+)")
_WIKI_LINK = re.compile(
    r"\[\[([^\]|\n]+)(?:\|([^\]\n]*))?\]\]|\[https?://\S+(?:\s+([^\]]*))?\]|(\b[A-Z][a-z0-9]+(?:[A-Z][a-z0-9]*)+\b)"
)
_WIKI_CODE = re.compile(r"\{\{\{[\s\S]*?\}\}\}|^[ \t]+\S.*$|</?[a-z]+>", re.MULTILINE)
_REDIRECT = re.compile(r"\A\s*#REDIRECT\s*\[\[([^\]]+)\]\]")
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")

_markdown = MarkdownIt("commonmark").enable("table")


@dataclass(frozen=True)
class SourceLink:
    """A link as written: `href` is not resolved; the paragraph is -1 outside of paragraphs."""

    href: str
    anchor: str
    para: int = -1
    at: int = -1


@dataclass(frozen=True)
class SourcePage:
    """A page with unresolved links. `labels` are the normalised labels of its authors; `shown` has them as written."""

    path: str
    title: str
    paras: tuple[str, ...]
    links: tuple[SourceLink, ...]
    labels: tuple[str, ...] = ()
    shown: Mapping[str, str] = field(default_factory=dict)
    month: str = ""
    names: tuple[str, ...] = ()  # further names by which others link to it
    redirect: str = ""


def read_page(path: str, text: str, is_html: bool = False) -> SourcePage:
    """Read a page with front matter, in Markdown or HTML."""
    fields, body = front_matter(text)
    heading = _HEADING.search(body) if not is_html else None
    title = scalar(fields.get("title", "")) or (heading[1] or heading[2] if heading else "") or leaf_of(path)
    shown = {label_of(one): one for name in LABEL_FIELDS for one in listed(fields.get(name, "")) if label_of(one)}
    date = _DATE.search(scalar(fields.get("date", ""))) or _DATE.match(PurePosixPath(path).name)
    paras, links = walked(with_links(body) if is_html else _markdown.render(with_links(body)))
    names = [scalar(fields[name]) for name in ("slug", "permalink", "url") if scalar(fields.get(name, ""))]
    return SourcePage(
        path,
        plain(title),
        paras,
        links,
        tuple(shown),
        shown,
        f"{date[1]}/{int(date[2]):02d}" if date else "",
        tuple(names),
    )


def read_wiki_page(path: str, text: str) -> SourcePage:
    """Read a page of an Oddmuse wiki: the name is its title, categories are on separate lines."""
    if text.startswith("#FILE "):
        return SourcePage(path, path, (), ())  # a picture, in letters
    shown: dict[str, str] = {}
    for line in _CATEGORIES.findall(text):
        for name in _CATEGORY.findall(line):
            shown[label_of(words_of(name))] = words_of(name)
    moved = _REDIRECT.match(text)
    paras, links = walked(wiki_html(_CATEGORIES.sub("", text)))
    title = words_of(path.replace("_", " "))
    return SourcePage(path, title, paras, links, tuple(shown), shown, redirect=moved[1].strip() if moved else "")


def front_matter(text: str) -> tuple[Mapping[str, object], str]:
    """Split a page into front matter fields and body. Parsed line by line: hand-written YAML is often not valid."""
    found = _FENCE.match(text) or _HEXO_FENCE.match(text)
    if found is None:
        return {}, text
    head, body = found[found.lastindex or 1], text[found.end() :]
    if found[1] == "+++":
        try:
            return tomllib.loads(head), body
        except tomllib.TOMLDecodeError:
            return {}, body
    fields: dict[str, object] = {}
    name = ""
    for line in head.splitlines():
        if named := _FIELD.match(line):
            name = named[1].lower()
            fields[name] = named[2].strip()
        elif (item := _ITEM.match(line)) and name:
            before = fields[name]
            fields[name] = [*(before if isinstance(before, list) else []), item[1].strip()]
        elif name and line[:1].isspace() and isinstance(fields[name], str):
            fields[name] = f"{_FOLDED.sub('', str(fields[name]))} {line.strip()}".strip()
    return fields, body


def scalar(value: object) -> str:
    """Parse a one-line value, without quotes and comment."""
    text = str(value).strip() if not isinstance(value, list) else ""
    if text[:1] in ("'", '"'):
        end = text.find(text[0], 1)
        return text[1:end] if end > 0 else text[1:]
    return text.partition(" #")[0].strip()


def listed(value: object) -> list[str]:
    """Parse a list: [a, b] or a, b."""
    if isinstance(value, list):
        return [part for one in value for part in (listed(one) if str(one).startswith("[") else [scalar(one)])]
    text = str(value).strip()
    inner = text[1:].partition("]")[0] if text.startswith("[") else text.partition(" #")[0]
    return [scalar(part) for part in re.split("[,，]", inner) if part.strip()]


def label_of(name: str) -> str:
    """Normalise a label: NFKC, lower case, without dots. A final dot prevents that a label is a prefix of another."""
    text = unicodedata.normalize("NFKC", name).casefold().strip()
    text = re.sub(r"[\s_\-/.]+", "_", text).strip("_")
    return f"{text}." if text and len(text) <= MAX_LABEL else ""


def leaf_of(path: str) -> str:
    """Return the page name from its path, without date and suffix; for an index file the folder name."""
    pure = PurePosixPath(path)
    stem = pure.stem if pure.suffix.lower() in (".md", ".markdown", ".mdx", ".html") else pure.name
    name = pure.parent.name if stem.lower() in ("index", "_index", "readme") and pure.parent.name else stem
    return _DATED_NAME.sub("", name) or name


def with_links(body: str) -> str:
    """Convert short codes that name a page to links, and remove the others."""
    body = _POST_LINK.sub(post_link, body)
    body = _REF.sub(lambda found: quote(found[1]), _POST_URL.sub(lambda found: "/" + quote(found[1]), body))
    body = _MACRO.sub(lambda found: f'<a href="/{quote(found[2].strip("<>"))}">{html.escape(found[2])}</a>', body)
    return _SHORT_CODE.sub("", body)


def post_link(found: re.Match[str]) -> str:
    """Convert Hexo's link to another post: a slug, with an optional title."""
    slug, title = found[1], found[2].strip("'\" ")
    return f"[{title or slug}](/{quote(slug)})"


def wiki_html(text: str) -> str:
    """Convert an Oddmuse page to HTML: paragraphs, headings, lists, links. Code is removed."""
    text = _WIKI_CODE.sub("", text)
    blocks = [html.escape(block.strip("*#=: \n"), quote=False) for block in re.split(r"\n\s*\n|\n(?=[*#=:])", text)]
    return "".join(f"<p>{_WIKI_LINK.sub(wiki_link, block)}</p>" for block in blocks)


def wiki_link(found: re.Match[str]) -> str:
    """Convert a wiki link; an external link becomes its text."""
    name, text, outside, camel = found.groups()
    if name is None and camel is None:
        return outside or ""
    target = html.unescape(name or camel).partition("#")[0].strip()
    return f'<a href="/{quote(target.replace(" ", "_"))}">{text or name or camel}</a>'


def words_of(name: str) -> str:
    """Split words that are joined in CamelCase."""
    return " ".join(_HUMP.sub(" ", name).split())


def plain(text: str) -> str:
    """Return a title without entities, tags and markup."""
    return " ".join(re.sub(r"<[^>]+>|[`*]", "", html.unescape(text)).split())


def walked(source: str) -> tuple[tuple[str, ...], tuple[SourceLink, ...]]:
    """Return paragraphs and links of an HTML fragment."""
    try:
        root = lxml.html.fromstring(f"<div>{source}</div>")
    except (LxmlError, ValueError):
        return (), ()
    walk = _Walk()
    walk.element(root)
    walk.close()
    return tuple(walk.paras), tuple(walk.links)


class _Walk:
    """Finished paragraphs, the open paragraph, and its links."""

    def __init__(self) -> None:
        self.paras: list[str] = []
        self.links: list[SourceLink] = []
        self._open = ""

    def element(self, element: lxml.html.HtmlElement) -> None:
        """Process an element recursively; the parser drops elements nested deeper than about 250 levels."""
        is_block = element.tag in BLOCKS
        if is_block:
            self.close()
        start = len(self._open)
        self.text(element.text)
        for child in element:
            if isinstance(child.tag, str) and child.tag not in LEFT_OUT:
                self.element(child)
            self.text(child.tail)
        if element.tag == "a" and element.get("href"):
            self._link(element.get("href"), start)
        if is_block:
            self.close()

    def text(self, text: str | None) -> None:
        """Add text with white space normalised."""
        if text:
            words = " ".join(text.split())
            before = " " if text[0].isspace() and self._open and not self._open.endswith(" ") else ""
            self._open += before + words + (" " if words and text[-1].isspace() else "")

    def close(self) -> None:
        """Close the open paragraph."""
        if self._open.strip():
            self.paras.append(self._open.rstrip())
        self._open = ""

    def _link(self, href: str, start: int) -> None:
        within = self._open[start:]
        anchor = within.strip()
        if anchor:
            at = start + len(within) - len(within.lstrip())
            self.links.append(SourceLink(href, anchor, len(self.paras), at))


def sections_of(path: str, under: str) -> tuple[str, ...]:
    """Return the place of a page in a manual: its folder names from the top, then its own name."""
    pure = PurePosixPath(path.removeprefix(under).lstrip("/"))
    is_index = pure.stem.lower() in ("index", "_index", "readme")
    return pure.parts[:-1] if is_index else (*pure.parts[:-1], pure.stem)
