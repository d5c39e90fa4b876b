"""Extracts the article of a document file: detect the format, read it within limits, find title, date and author."""

from collections.abc import Callable, Sequence
from importlib import import_module

from domain.article import Article, ExtractionResult, PageType
from domain.file_formats import OFD_FORMAT, PDF_FORMAT, SCANNABLE_FORMATS
from domain.message import Message
from domain.outcome import Outcome, Reason
from domain.recognized_page import RecognizedPage
from extractor.article_extractor import max_published_date
from extractor.documents.content import NESTED_TOO_DEEP_MESSAGE, DocumentContent, UnreadableError, damaged_error
from extractor.documents.document_date import find_document_date
from extractor.documents.document_title import find_document_author, find_document_title
from extractor.documents.format_detection import OLE_MAGIC, detect_format
from extractor.fields.language import detect_language
from extractor.page_types.rejection import has_words
from extractor.rendering import to_text

OOXML_FORMATS = ("docx", "pptx", "xlsx")
MAX_BYTES = 200_000_000
MAX_PAGE_RANGES = 20  # that a warning names
MAX_PART_NAMES = 5
WORD_SEARCH_CHARS = 2_000  # characters at the beginning that are searched for words

# format -> (module that reads it, further arguments of its function `read`)
READERS: dict[str, tuple[str, tuple[object, ...]]] = {
    "docx": ("office.docx", ()),
    "pptx": ("office.pptx", ()),
    "xlsx": ("office.spreadsheet", ()),
    "xls": ("office.spreadsheet", ()),
    "rtf": ("rtf", ()),
    "epub": ("epub", ()),
    OFD_FORMAT: ("ofd", ()),
    "doc": ("office.doc", ()),
    "ppt": ("office.ppt", ()),
    "odt": ("office.odf", ()),
    "odp": ("office.odf", ()),
    "ods": ("office.odf", ()),
    PDF_FORMAT: ("pdf", ()),
    "txt": ("plain_text", (False,)),
    "md": ("plain_text", (True,)),
}


def read_document(data: bytes, url: str, content_type: str = "", fetched_at: float = 0.0) -> Article | Outcome:
    """Return the article of a document file, or an Outcome with the reason why it has none.

    The arguments are those of `extract_document`, which also accepts recognized pages and warns about missing ones.
    """
    return extract_document(data, url, content_type, fetched_at).result


def extract_document(
    data: bytes,
    url: str,
    content_type: str = "",
    fetched_at: float = 0.0,
    recognized_pages: Sequence[RecognizedPage] = (),
) -> ExtractionResult:
    """Extract the article of a document file. No input makes this raise, except MemoryError.

    A missing package raises ImportError: it is a fault of the installation, not of the file. Limits keep the memory for
    most hostile files small. A crash in a C library ends the process: call this in a worker.

    Args:
        data: Bytes of the file.
        url: URL of the file; its extension is a hint for the format.
        content_type: HTTP header as sent.
        fetched_at: Seconds since 1970, 0 if unknown. The document is dated at most a day after it.
        recognized_pages: Pages of a PDF or OFD that OCR has read. Their text replaces missing and garbled text.

    Returns:
        The article, with a warning if pages without readable text are missing; or an Outcome with the reason why the
        file has no article.
    """
    format_name = detect_format(data, url, content_type)
    content = read_content(data, format_name, recognized_pages)
    if isinstance(content, Outcome):
        return ExtractionResult(content)
    article = build_article(content, format_name, url, max_published_date(fetched_at))
    return ExtractionResult(article, warning=missing_text_warning(content))


def read_content(
    data: bytes, format_name: str, recognized_pages: Sequence[RecognizedPage] = ()
) -> DocumentContent | Outcome:
    """Return the text of a file in the format `format_name` ("": unknown), or an Outcome; see `extract_document`."""
    if not format_name:
        return Outcome(Reason.UNPARSABLE if data.strip() else Reason.EMPTY_BODY, Message("Unsupported document format"))
    if len(data) > MAX_BYTES:
        megabytes = MAX_BYTES // 1_000_000
        return Outcome(Reason.TOO_LARGE, Message("The file is larger than the limit of {n} MB", n=megabytes))
    read = load_reader(format_name)
    try:
        if format_name in OOXML_FORMATS and data.startswith(OLE_MAGIC):
            detail = Message("Encrypted: password-protected or rights-managed (DRM)")
            raise UnreadableError(Reason.PASSWORD_PROTECTED, detail)
        return read(data, recognized_pages) if format_name in SCANNABLE_FORMATS else read(data)
    except UnreadableError as error:
        return Outcome(error.reason, error.detail)
    except RecursionError:
        return Outcome(Reason.TOO_LARGE, NESTED_TOO_DEEP_MESSAGE)
    except MemoryError:
        raise
    except Exception as error:  # noqa: BLE001 (libraries raise any exception on damaged files)
        damage = damaged_error(f"{type(error).__name__}: {error}")
        return Outcome(damage.reason, damage.detail)


def missing_text_warning(content: DocumentContent) -> Outcome | None:
    """Return the warning that names the pages without readable text, or the damaged parts; None if there are none."""
    if not content.garbled_pages and not content.scanned_pages:
        if not content.damaged_parts:
            return None
        names, count = ", ".join(content.damaged_parts[:MAX_PART_NAMES]), len(content.damaged_parts)
        return Outcome(
            Reason.INCOMPLETE_BODY,
            Message(
                "Missing text: 1 damaged part of the file ({names})",
                "Missing text: {n} damaged parts of the file ({names})",
                n=count,
                names=names,
            ),
        )
    pages, count = format_page_numbers(sorted(content.garbled_pages + content.scanned_pages)), content.page_count
    if content.garbled_pages:
        return Outcome(
            Reason.GARBLED_TEXT,
            Message("Missing pages: {pages} of {n} (garbled text, or images without text)", pages=pages, n=count),
        )
    return Outcome(
        Reason.NO_TEXT_LAYER, Message("Missing pages: {pages} of {n} (images without text)", pages=pages, n=count)
    )


def format_page_numbers(numbers: Sequence[int]) -> str:
    """Return sorted page numbers as text, consecutive numbers as a range: `3, 5-7`. Long texts end with an ellipsis."""
    ranges: list[tuple[int, int]] = []
    for number in numbers:
        if ranges and ranges[-1][1] == number - 1:
            ranges[-1] = ranges[-1][0], number
        else:
            ranges.append((number, number))
    texts = [str(first) if first == last else f"{first}-{last}" for first, last in ranges]
    return ", ".join([*texts[:MAX_PAGE_RANGES], "…"] if len(texts) > MAX_PAGE_RANGES else texts)


def load_reader(format_name: str) -> Callable[..., DocumentContent]:
    """Import the reader of a format and return its `read` function."""
    module, arguments = READERS[format_name]
    read: Callable[..., DocumentContent] = import_module(f"extractor.documents.{module}").read
    return lambda data, *more_arguments: read(data, *arguments, *more_arguments)


def build_article(content: DocumentContent, format_name: str, url: str, latest_date: str) -> Article | Outcome:
    """Build the article from the content of a document; returns an Outcome if it has no words."""
    body = to_text(content.blocks)
    if not has_words(body[:WORD_SEARCH_CHARS]):
        return Outcome(Reason.NO_BODY, Message("0 words of text"))
    language = detect_language(body, content.properties.language)
    date, source = find_document_date(content, language, latest_date)
    return Article(
        url=url,
        title=find_document_title(content),
        body=body,
        published=date,
        date_source=source,
        language=language,
        method=f"{format_name}, {content.truncation}"[:32] if content.truncation else format_name,
        author=find_document_author(content),
        blocks=content.blocks,
        page_type=PageType.DOCUMENT,
        format=format_name,
        text_source=content.text_source,
    )


__all__ = ["detect_format", "extract_document", "read_document"]
