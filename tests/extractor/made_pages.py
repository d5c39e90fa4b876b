"""Random pages of usual parts: blocks, links, code, tables, unusual markup, several languages."""

import random
from collections.abc import Iterator

TEXTS = (
    "大庆油田今天宣布，今年产量超过去年同期，创下新高。",
    "The harbour was opened again on Monday, the authority said.",
    "Copyright © 2024",
    "责任编辑：张三",
    "来源：新华网 2024-05-01 10:20",
    "By Jane Doe",
    "更多新闻",
    "Read more",
    "a &amp; b < c",
    "短句",
    "\n  ",
    "Ｆｕｌｌ　ｗｉｄｔｈ",
    "été à Zürich, naïve façade. \U0001f600",
)
NAMES = ("content", "nav", "sidebar-right", "post-body", "footer", "comments", "related", "caption", "byline", "x")
BLOCKS = (
    "p", "div", "li", "ul", "ol", "section", "article", "blockquote", "h2", "h3", "pre", "aside", "figure", "x-note",
)  # fmt: skip
INLINE = ("a", "b", "strong", "span", "em", "time", "code")
MAX_PIECES = 60


def made_pages(number: int = 150) -> Iterator[str]:
    """Return pages; the result is deterministic."""
    for seed in range(number):
        chance = random.Random(seed)
        pieces = "".join(piece(chance, 3) for _ in range(chance.randrange(5, MAX_PIECES)))
        title = chance.choice(TEXTS)
        yield f"<html><head><title>{title} - 新闻网</title></head><body><h1>{title}</h1>{pieces}</body></html>"


def piece(chance: random.Random, depth: int) -> str:
    """Return an element with content, or a text."""
    kind = chance.random()
    if depth == 0 or kind < 0.3:
        return chance.choice(TEXTS) * chance.randrange(1, 4)
    inside = "".join(piece(chance, depth - 1) for _ in range(chance.randrange(1, 4)))
    if kind < 0.5:
        return inline(chance, inside)
    if kind < 0.55:
        return f"<table><tr><td>{chance.choice(TEXTS)}</td><td>10</td></tr></table><img src='/p.jpg' alt='图'>"
    name = chance.choice(BLOCKS)
    end = f"</{name}>" if chance.random() < 0.95 else ""
    return f"<{name} {attribute(chance)}>{inside}{end}"


def inline(chance: random.Random, inside: str) -> str:
    """Return an inline element."""
    name = chance.choice(INLINE)
    return f"<{name} href='/{chance.randrange(99)}' {attribute(chance)}>{inside}</{name}><br>"


def attribute(chance: random.Random) -> str:
    """Return a class or id, nothing, or an attribute with an unusual name."""
    name = chance.choice(NAMES)
    return chance.choice((f"class='{name}'", f"id='{name}' class='{chance.choice(NAMES)} a'", "", "a<b='1'", "hidden"))
