"""Applies React streaming: late content is hidden at the end of the page, and a script moves it to its place.

    <!--$?--><template id="B:0"></template><p>Loading ...</p><!--/$-->        a boundary with its fallback
    <div hidden id="S:0"><p>The text.</p></div><script>$RC("B:0","S:0")</script>   completes the boundary
    <div hidden id="S:1"><td>1</td></div><script>$RS("S:1","P:1")</script>     a segment, for <template id="P:1">

React and frameworks on top of it (Next.js, Remix) write such pages. This module applies `$RC`, `$RR` and `$RS` to the
tree, as browsers do. Boundaries are comments, which the tree does not contain, so they are first turned into elements.
"""

import re
from collections.abc import Sequence
from itertools import islice
from typing import NamedTuple

from lxml.etree import _Element as Element

REACT_CALL_RE = re.compile(rb'\$R([CRS])\("([^"]{1,80})","([^"]{1,80})"')
REACT_CALL_PREFIXES = (b'$RC("', b'$RS("', b'$RR("')
BOUNDARY_COMMENT_RE = re.compile(rb"<!--(/?)[$&][?!~]?-->")
# Marks an element that replaces a boundary comment; the value is "" at the start of a boundary and "/" at its end.
BOUNDARY_ATTRIBUTE = "data-boundary"
MAX_STREAM_MOVES = 1_000
MAX_FALLBACK_ELEMENTS = 200  # siblings that are searched for the end of a boundary


class StreamMove(NamedTuple):
    """A move of late content: id of the placeholder, id of the content, and whether the placeholder is a boundary."""

    placeholder_id: str
    content_id: str
    is_boundary: bool


def find_stream_moves(raw: bytes) -> tuple[StreamMove, ...]:
    """Return the moves in the scripts of a page, at most MAX_STREAM_MOVES."""
    if not any(prefix in raw for prefix in REACT_CALL_PREFIXES):
        return ()
    calls = REACT_CALL_RE.findall(raw)[:MAX_STREAM_MOVES]
    texts = [
        (kind, first.decode("utf-8", "replace"), second.decode("utf-8", "replace")) for kind, first, second in calls
    ]
    return tuple(
        StreamMove(second, first, False) if kind == b"S" else StreamMove(first, second, True)
        for kind, first, second in texts
    )


def boundaries_to_elements(raw: bytes) -> bytes:
    """Replace the boundary comments of a page by <template> elements."""
    return BOUNDARY_COMMENT_RE.sub(rb'<template %s="\1"></template>' % BOUNDARY_ATTRIBUTE.encode(), raw)


def apply_stream_moves(root: Element, moves: Sequence[StreamMove]) -> None:
    """Apply the moves to the tree in place. A move whose placeholder or content is missing is ignored."""
    referenced_ids = {name for move in moves for name in (move.placeholder_id, move.content_id)}
    element_by_id = {name: element for element in root.iter() if (name := element.get("id")) in referenced_ids}
    for placeholder_id, content_id, is_boundary in moves:
        placeholder, content = element_by_id.get(placeholder_id), element_by_id.pop(content_id, None)
        if placeholder is None or content is None or placeholder.getparent() is None:
            continue
        if placeholder is content or any(element is content for element in placeholder.iterancestors()):
            continue
        if is_boundary:
            remove_fallback(placeholder)
        remove_keeping_tail(content)
        unwrap_container(content)
        placeholder.addprevious(content)
        remove_keeping_tail(placeholder)


def remove_fallback(placeholder: Element) -> None:
    """Remove the fallback of a boundary: everything from the placeholder to the end of the boundary."""
    depth, fallback = 0, []
    for sibling in islice(placeholder.itersiblings(), MAX_FALLBACK_ELEMENTS):
        boundary = sibling.get(BOUNDARY_ATTRIBUTE)
        if boundary == "/" and depth == 0:
            break
        depth += {"": 1, "/": -1}.get(boundary, 0) if boundary is not None else 0
        fallback.append(sibling)
    else:
        return  # the parser moved the end of the boundary to another parent, or there is none
    placeholder.tail = None
    for element in fallback:
        element.tail = None
        remove_keeping_tail(element)


def remove_keeping_tail(element: Element) -> None:
    """Remove an element from its tree; the text after it stays."""
    parent, previous = element.getparent(), element.getprevious()
    if parent is None:
        return
    if element.tail and previous is not None:
        previous.tail = (previous.tail or "") + element.tail
    elif element.tail:
        parent.text = (parent.text or "") + element.tail
    element.tail = None
    parent.remove(element)


def unwrap_container(content: Element) -> None:
    """Remove all attributes of the container and turn a `div` into a `span`, so that it is inline in its new place."""
    for name in list(content.attrib):
        del content.attrib[name]
    if content.tag == "div":
        content.tag = "span"
