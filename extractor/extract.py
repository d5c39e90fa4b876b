"""Page to article: decode, parse, clean, choose the body, read title and date, check."""

import datetime

from docstore.model import Article, Outcome, Reason
from extractor import charset, dom
from extractor.check import refuse
from extractor.date import find_date
from extractor.document import Document, read_document
from extractor.language import language_of
from extractor.lines import Layout, read_lines
from extractor.methods import METHODS
from extractor.methods.contract import Body
from extractor.settings import ExtractSettings
from extractor.title import find_title

DAY = 86_400.0
END_OF_TIME = "2099-12-31"


class ArticleExtractor:
    """Makes articles of pages. Holds settings only: it can be pickled, and used from any thread.

    Raises KeyError for a method that METHODS does not know.
    """

    def __init__(self, settings: ExtractSettings | None = None) -> None:
        self.settings = settings or ExtractSettings()
        self.method = METHODS[self.settings.method](self.settings)

    def extract(
        self, html: bytes | str, url: str, content_type: str = "", fetched_at: float = 0.0
    ) -> Article | Outcome:
        """The article of a page, or the reason why it has none. No input makes this raise.

        `content_type` is the HTTP header as sent. `fetched_at` (seconds since 1970, 0: unknown) bounds the date: an
        article is not published more than a day after it was fetched.
        """
        text = decode(html, content_type)
        if text is None:
            return Outcome(Reason.UNDECODABLE, "the bytes are no text in any known encoding")
        root = dom.parse(text)
        if root is None:
            return Outcome(Reason.UNPARSABLE if text.strip() else Reason.EMPTY, "no element found")
        document = read_document(root, url)
        layout = read_lines(document.root)
        body = self.method.choose(document, layout)
        refusal = refuse(document, layout, body, self.settings)
        if refusal is not None or body is None:
            return refusal or Outcome(Reason.NO_BODY, "no text found")
        return self.article(document, layout, body, latest_day(fetched_at))

    def article(self, document: Document, layout: Layout, body: Body, latest: str) -> Article:
        """The article around a body that was found good."""
        title = find_title(document, layout, body.element)
        published = find_date(document, layout, body.element, latest)
        return Article(
            url=document.url,
            title=title,
            body=body.text,
            published=published.day,
            date_source=published.source,
            language=language_of(body.text),
            method=self.settings.method,
        )


def decode(html: bytes | str, content_type: str) -> str | None:
    """The page's text, or None where it has none."""
    if isinstance(html, str):
        return html
    decoded = charset.decode(html, content_type)
    return decoded.text if decoded is not None else None


def latest_day(fetched_at: float) -> str:
    """The day after a fetch in UTC, `YYYY-MM-DD`; the end of time where the fetch is not known."""
    if fetched_at <= 0:
        return END_OF_TIME
    try:
        return datetime.datetime.fromtimestamp(fetched_at + DAY, datetime.UTC).date().isoformat()
    except (OverflowError, OSError, ValueError):
        return END_OF_TIME


def extract(html: bytes | str, url: str, content_type: str = "") -> Article | Outcome:
    """The article of a page by the default method and settings, or the reason why it has none."""
    return ArticleExtractor().extract(html, url, content_type)
