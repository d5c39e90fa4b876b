"""Pages that came in a stream: what the server sent late stands hidden at the end, and a script puts it in its place.

    <!--$?--><template id="B:0"></template><p>Loading ...</p><!--/$-->        a boundary, what is shown meanwhile
    <div hidden id="S:0"><p>The text.</p></div><script>$RC("B:0","S:0")</script>   what completes it
    <div hidden id="S:1"><td>1</td></div><script>$RS("S:1","P:1")</script>     a segment, for <template id="P:1">

So React writes them, and all that is made with it (Next.js, Remix). What browsers do with `$RC`, `$RR` and `$RS` is
done here to the tree. Boundaries are comments, which no tree of ours has: they are made elements first.
"""

import re
from collections.abc import Sequence

from lxml.etree import _Element as Element

REACT_CALL_RE = re.compile(rb'\$R([CRS])\("([^"]{1,80})","([^"]{1,80})"')
REACT_CALL_PREFIXES = (b'$RC("', b'$RS("', b'$RR("')
BOUNDARY_COMMENT_RE = re.compile(rb"<!--(/?)[$&][?!~]?-->")
BOUNDARY_ATTRIBUTE = (
    "data-boundary"  # of an element that stands for a comment: "" where a boundary begins, "/" where it ends
)
MAX_STREAM_MOVES = 1_000
StreamMove = tuple[str, str, bool]


def find_stream_moves(raw: bytes) -> tuple[StreamMove, ...]:
    """What the scripts of a page put where: id of the place, id of the content, whether a boundary ends there."""
    if b"$R" not in raw or not any(start in raw for start in REACT_CALL_PREFIXES):  # nearly all pages
        return ()
    calls = REACT_CALL_RE.findall(raw)[:MAX_STREAM_MOVES]
    texts = [
        (kind, first.decode("utf-8", "replace"), second.decode("utf-8", "replace")) for kind, first, second in calls
    ]
    return tuple((second, first, False) if kind == b"S" else (first, second, True) for kind, first, second in texts)


def boundaries_to_elements(raw: bytes) -> bytes:
    """A page whose boundaries are elements."""
    return BOUNDARY_COMMENT_RE.sub(rb'<template %s="\1"></template>' % BOUNDARY_ATTRIBUTE.encode(), raw)


def apply_stream_moves(root: Element, moves: Sequence[StreamMove]) -> None:
    """Do to a tree what the scripts of its page do; what is not there stays undone."""
    if not moves:
        return
    referenced_ids = {name for placeholder, content, _ in moves for name in (placeholder, content)}
    element_by_id = {name: element for element in root.iter() if (name := element.get("id")) in referenced_ids}
    for place_id, content_id, is_boundary in moves:
        placeholder, content = element_by_id.get(place_id), element_by_id.pop(content_id, None)
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
    """Take out what is shown until the content has come: all from the place to the end of its boundary."""
    depth, fallback = 0, []
    for sibling in placeholder.itersiblings():
        boundary = sibling.get(BOUNDARY_ATTRIBUTE)
        if boundary == "/" and depth == 0:
            break
        depth += {"": 1, "/": -1}.get(boundary, 0) if boundary is not None else 0
        fallback.append(sibling)
    else:
        return  # the parser put its end elsewhere
    placeholder.tail = None
    for element in fallback:
        element.tail = None
        remove_keeping_tail(element)


def remove_keeping_tail(element: Element) -> None:
    """Take an element out of its tree; the text behind it stays."""
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
    """Nothing of the container is left but what it holds: it is a part of whatever stands around it now."""
    for name in list(content.attrib):
        del content.attrib[name]
    if content.tag == "div":
        content.tag = "span"
