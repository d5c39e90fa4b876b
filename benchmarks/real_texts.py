"""The sets `authors` and `gutters`: names that are not those of the page, and line numbers in the text of articles.

- `authors` `whole`: share of stored author names that stand in the page as a whole name: not cut out of a longer name
  or word, and not marked up as code
- `authors` `names`, `articles`: stored names, and articles with an author
- `gutters` `kept`: articles with a column of line numbers beside code in their text
- `gutters` `pages`: articles whose page has such a column

Wrong names are lines of `out/real-authors.tsv`, such articles of `out/real-gutters.tsv`.
"""

import html
import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from urllib.parse import urlsplit

from benchmarks.real_vertical import Vertical
from benchmarks.real_web import reply_of
from benchmarks.results import Figure, out_folder
from domain.article import Article
from domain.file_formats import HTML_FORMAT
from text.decoding.decode import decode_page

MAX_NAME_CHARS = 30
MIN_GUTTER_NUMBERS = 5  # consecutive numbers; shorter runs are lists
_CODE = re.compile(r"<(code|pre|tt|kbd|samp)\b[^>]*>(.*?)</\1>", re.IGNORECASE | re.DOTALL)
_TAG = re.compile(r"<!--.*?-->|<[^>]*>", re.DOTALL)
_GUTTER = re.compile(
    r"""class=["']?[^"'>]*\b(?:gutter|linenos?|linenodiv|line-numbers?|rouge-gutter)\b""", re.IGNORECASE
)
_NAME_BEFORE = re.compile(r"[A-Z][\w'’-]* \Z")
_LABEL_BEFORE = re.compile(r"\b(?:By|BY|Von|Par|Por|Author) \Z")
_NUMBERS = re.compile(r"(?:^\s*\d{1,5}[ \t]*$\s*){5,}|\d{1,5}(?: \d{1,5}){4,}", re.MULTILINE)


def author_figures(vertical: Vertical) -> Iterator[Figure]:
    """Yield the share of whole names among the authors of all articles."""
    wrong, name_count, article_count = [], 0, 0
    for stored in vertical.engine.store.articles.iter_all():
        page = page_html(vertical, stored.article) if stored.article.author else ""
        if not page:
            continue
        article_count += 1
        names = stored.article.author.split(", ")
        name_count += len(names)
        wrong += [f"author\t{stored.article.url}\t{name}" for name in names if not is_whole_name(name, page)]
    yield Figure("authors", "plumbline", "whole", 1 - len(wrong) / max(1, name_count))
    yield Figure("authors", "plumbline", "names", name_count)
    yield Figure("authors", "plumbline", "articles", article_count)
    tell("authors", wrong)


def gutter_figures(vertical: Vertical) -> Iterator[Figure]:
    """Yield the number of articles with line numbers in their text, and of pages with line numbers beside code."""
    kept, page_count = [], 0
    for stored in vertical.engine.store.articles.iter_all():
        if not _GUTTER.search(page_html(vertical, stored.article)):
            continue
        page_count += 1
        if has_line_numbers(stored.article.body):
            kept.append(f"gutter\t{stored.article.url}")
    yield Figure("gutters", "plumbline", "kept", len(kept))
    yield Figure("gutters", "plumbline", "pages", page_count)
    tell("gutters", kept)


def page_html(vertical: Vertical, article: Article) -> str:
    """Return the HTML of the page of an article; "" for a document or a page that is gone."""
    site = vertical.site_of(article.url) if article.format == HTML_FORMAT else None
    reply = reply_of(vertical.web.trees[site.host], urlsplit(article.url).path) if site else None
    decoded = decode_page(reply.content) if reply and reply.status == 200 else None
    return decoded.text if decoded else ""


def is_whole_name(name: str, page: str) -> bool:
    """Return True if the name stands in the HTML of the page outside code, and does not go on before or behind it."""
    if any(name in html.unescape(_TAG.sub("", code)) for _, code in _CODE.findall(page)) or "_" in name:
        return False
    values = re.findall(r"""content=["']([^"']*)""", page)  # of metas
    text = html.unescape("\n".join(" ".join(part.split()) for part in (*_TAG.split(page), *values)))
    begins = r"(?<![A-Za-z\u00c0-\u024f0-9])" if name[0].isascii() else ""
    ends = r"(?![A-Za-z\u00c0-\u024f0-9]| [A-Z][a-z])" if name[-1].isascii() else "(?!·)"
    return any(
        not _NAME_BEFORE.search(text, max(0, match.start() - MAX_NAME_CHARS), match.start())
        or _LABEL_BEFORE.search(text, max(0, match.start() - MAX_NAME_CHARS), match.start())
        for match in re.finditer(begins + re.escape(name) + ends, text)
    )


def has_line_numbers(text: str) -> bool:
    """Return True if a text has MIN_GUTTER_NUMBERS consecutive numbers one after the other, on a line or on lines."""
    return any(has_count(list(map(int, re.findall(r"\d+", match[0])))) for match in _NUMBERS.finditer(text))


def has_count(numbers: Sequence[int]) -> bool:
    """Return True if MIN_GUTTER_NUMBERS neighbours count upwards by one."""
    run = 1
    for first, second in pairwise(numbers):
        run = run + 1 if second == first + 1 else 1
        if run >= MIN_GUTTER_NUMBERS:
            return True
    return False


def tell(name: str, lines: Sequence[str]) -> None:
    """Write wrong names or texts for manual inspection."""
    (out_folder() / f"real-{name}.tsv").write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
