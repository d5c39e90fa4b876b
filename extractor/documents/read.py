"""A document file to an article: tell the format, read it under caps, tell title, date and the other fields."""

from collections.abc import Callable
from importlib import import_module

from docstore.model import Article, Outcome, PageType, Reason
from extractor.article_extractor import latest_day
from extractor.documents.content import Content, UnreadableError
from extractor.documents.dates import find_day
from extractor.documents.detection import OLE, document_format
from extractor.documents.title import choose_title, find_author
from extractor.fields.language import language_of
from extractor.page.rendering import to_text
from extractor.rejection import has_words

OFFICE = ("docx", "pptx", "xlsx")
MAX_BYTES = 200_000_000
ENOUGH = 2_000  # characters in which words are looked for

# format -> the module that reads it and the arguments that its `read` takes beside the bytes
READERS: dict[str, tuple[str, tuple[object, ...]]] = {
    "docx": ("office.word", ()),
    "pptx": ("office.slides", ()),
    "xlsx": ("office.sheets", ()),
    "xls": ("office.sheets", ()),
    "rtf": ("rich_text", ()),
    "epub": ("epub", ()),
    "ofd": ("ofd", ()),
    "doc": ("office.old_word", ()),
    "ppt": ("office.old_slides", ()),
    "odt": ("office.opendocument", ()),
    "odp": ("office.opendocument", ()),
    "ods": ("office.opendocument", ()),
    "pdf": ("pdf", ()),
    "txt": ("plain_text", (False,)),
    "md": ("plain_text", (True,)),
}


def read_document(data: bytes, url: str, content_type: str = "", fetched_at: float = 0.0) -> Article | Outcome:
    """The article of a document file, or the reason why it has none. No input makes this raise but MemoryError.

    `content_type` is the HTTP header as sent; `fetched_at` (seconds since 1970, 0: unknown) bounds the date. Caps keep
    most hostile files small; a fault of a library in C is for the process around to survive: call it in a worker.
    """
    name = document_format(data, url, content_type)
    if not name:
        return Outcome(Reason.UNPARSABLE if data.strip() else Reason.EMPTY, "no document of a format that is read")
    if len(data) > MAX_BYTES:
        return Outcome(Reason.TOO_LARGE, f"more than {MAX_BYTES >> 20} MB")
    read = reader_of(name)
    try:
        if name in OFFICE and data.startswith(OLE):
            raise locked()
        content = read(data)
    except UnreadableError as error:
        return Outcome(error.reason, error.detail)
    except RecursionError:
        return Outcome(Reason.TOO_LARGE, "nested too deep")
    except MemoryError:
        raise
    except Exception as error:  # noqa: BLE001 (libraries raise what they like on damaged files)
        return Outcome(Reason.UNPARSABLE, f"damaged: {type(error).__name__}: {error}"[:200])
    return article_of(content, name, url, latest_day(fetched_at))


def locked() -> UnreadableError:
    """New Office wraps what it encrypts in a compound file."""
    return UnreadableError(Reason.ENCRYPTED, "it opens with a password, or by rights that are managed, only")


def reader_of(name: str) -> Callable[[bytes], Content]:
    """The function that reads a format."""
    module, arguments = READERS[name]
    read: Callable[..., Content] = import_module(f"extractor.documents.{module}").read
    return lambda data: read(data, *arguments)


def article_of(content: Content, name: str, url: str, latest: str) -> Article | Outcome:
    """The article of what was read."""
    body = to_text(content.blocks)
    if not has_words(body[:ENOUGH]):
        return Outcome(Reason.NO_BODY, "0 words of text")
    language = language_of(body, content.properties.language)
    day, source = find_day(content, language, latest)
    return Article(
        url=url,
        title=choose_title(content),
        body=body,
        published=day,
        date_source=source,
        language=language,
        method=f"{name}, {content.cut}"[:32] if content.cut else name,
        author=find_author(content),
        blocks=content.blocks,
        page_type=PageType.DOCUMENT,
        format=name,
    )


__all__ = ["document_format", "read_document"]
