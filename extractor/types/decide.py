"""What kind of page a page is, and its text by the rule of that kind.

    says that it is a thread, or posts of several people stand on it   -> thread      every post (thread.py)
"""

from dataclasses import dataclass, replace

from docstore.model import Article, Block, PageType
from extractor.fields.date import Published
from extractor.methods.contract import Body
from extractor.page.document import Document
from extractor.types.marks import TypeMarks, marks_of
from extractor.types.thread import Thread, find_thread

DAY = len("2016-05-09")


@dataclass(frozen=True)
class TypedPage:
    """A page with its kind ("": told by what the article is made of), the body by its rule, and why."""

    document: Document
    body: Body | None
    kind: PageType | None = None
    why: str = ""
    thread: Thread | None = None


def typed_page(document: Document, body: Body | None) -> TypedPage:
    """The kind of a page; `body` is what its method took for the text."""
    marks = marks_of(document)
    found = find_thread(document, marks, body)
    if found is not None:
        read, thread = found
        return TypedPage(read, thread.body(read.layout), PageType.THREAD, thread.why, thread)
    return TypedPage(document, body)


def of_first_post(article: Article, thread: Thread, latest: str) -> Article:
    """The article of a thread: its author and day are those of the first post, as far as that names them."""
    first = thread.posts[0]
    if first.author:
        article = replace(article, author=first.author)
    if first.time and first.time[:DAY] <= latest:
        at = first.time if len(first.time) > DAY else ""
        article = replace(article, published=first.time[:DAY], published_at=at, date_source="time")
    return article
