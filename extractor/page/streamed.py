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

CALL = re.compile(rb'\$R([CRS])\("([^"]{1,80})","([^"]{1,80})"')
STARTS = (b'$RC("', b'$RS("', b'$RR("')
BOUNDARY = re.compile(rb"<!--(/?)[$&][?!~]?-->")
MARK = "data-boundary"  # of an element that stands for a comment: "" where a boundary begins, "/" where it ends
MAX_MOVES = 1_000
Move = tuple[str, str, bool]


def moves_in(raw: bytes) -> tuple[Move, ...]:
    """What the scripts of a page put where: id of the place, id of the content, whether a boundary ends there."""
    if b"$R" not in raw or not any(start in raw for start in STARTS):  # nearly all pages
        return ()
    calls = CALL.findall(raw)[:MAX_MOVES]
    texts = [
        (kind, first.decode("utf-8", "replace"), second.decode("utf-8", "replace")) for kind, first, second in calls
    ]
    return tuple((second, first, False) if kind == b"S" else (first, second, True) for kind, first, second in texts)


def with_boundaries(raw: bytes) -> bytes:
    """A page whose boundaries are elements."""
    return BOUNDARY.sub(rb'<template %s="\1"></template>' % MARK.encode(), raw)


def put_in_place(root: Element, moves: Sequence[Move]) -> None:
    """Do to a tree what the scripts of its page do; what is not there stays undone."""
    if not moves:
        return
    wanted = {name for place, content, _ in moves for name in (place, content)}
    named = {name: one for one in root.iter() if (name := one.get("id")) in wanted}
    for place_id, content_id, is_boundary in moves:
        place, content = named.get(place_id), named.pop(content_id, None)
        if place is None or content is None or place.getparent() is None:
            continue
        if place is content or any(one is content for one in place.iterancestors()):
            continue
        if is_boundary:
            remove_fallback(place)
        detach(content)
        show(content)
        place.addprevious(content)
        detach(place)


def remove_fallback(place: Element) -> None:
    """Take out what is shown until the content has come: all from the place to the end of its boundary."""
    depth, fallback = 0, []
    for sibling in place.itersiblings():
        mark = sibling.get(MARK)
        if mark == "/" and depth == 0:
            break
        depth += {"": 1, "/": -1}.get(mark, 0) if mark is not None else 0
        fallback.append(sibling)
    else:
        return  # the parser put its end elsewhere
    place.tail = None
    for one in fallback:
        one.tail = None
        detach(one)


def detach(element: Element) -> None:
    """Take an element out of its tree; the text behind it stays."""
    parent, before = element.getparent(), element.getprevious()
    if parent is None:
        return
    if element.tail and before is not None:
        before.tail = (before.tail or "") + element.tail
    elif element.tail:
        parent.text = (parent.text or "") + element.tail
    element.tail = None
    parent.remove(element)


def show(content: Element) -> None:
    """Nothing of the container is left but what it holds: it is a part of whatever stands around it now."""
    for name in list(content.attrib):
        del content.attrib[name]
    if content.tag == "div":
        content.tag = "span"
