"""A page as the decisions see it: what its head says, and its cleaned body."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from lxml.etree import _Element as Element

from extractor import dom

LONGEST_META = 2_000
LONGEST_JSON = 200_000
SPACE = re.compile(r"\s+")


@dataclass(frozen=True)
class Document:
    """One parsed page.

    `title` is the text of <title>; `metas` maps a meta's name, property or itemprop (lower case) to its content, the
    first of a name winning; `json_ld` are the page's JSON-LD scripts as text; `root` is cleaned (dom.CLEANING).
    """

    url: str
    title: str
    metas: Mapping[str, str]
    json_ld: tuple[str, ...]
    root: Element


def read_document(root: Element, url: str) -> Document:
    """Read the head of a parsed page, then clean its tree in place."""
    title, metas, json_ld = read_title(root), read_metas(root), read_json_ld(root)
    dom.clean(root)
    return Document(url, title, metas, json_ld, root)


def read_title(root: Element) -> str:
    """The text of the first <title> of the page itself; those inside an SVG picture name the picture."""
    for element in root.iter("title"):
        parent = element.getparent()
        if parent is None or parent.tag in ("head", "html", "body"):
            return dom.text_of(element, LONGEST_META)
    return ""


def read_metas(root: Element) -> dict[str, str]:
    """Content by name of all meta elements, wherever broken markup has put them."""
    metas: dict[str, str] = {}
    for element in root.iter("meta"):
        content = element.get("content") or ""
        for key in ("name", "property", "itemprop"):
            name = (element.get(key) or "").strip().lower()
            if name and content:
                metas.setdefault(name, SPACE.sub(" ", content[:LONGEST_META]).strip())
    return metas


def read_json_ld(root: Element) -> tuple[str, ...]:
    """The JSON-LD scripts, as they stand."""
    scripts = (element for element in root.iter("script") if "ld+json" in (element.get("type") or ""))
    return tuple((element.text or "")[:LONGEST_JSON] for element in scripts)
