"""Page to article: decode, parse, clean, choose the body, read title and date, check."""

import datetime
from dataclasses import replace

from docstore.model import (
    Article,
    Block,
    BlockKind,
    ExtractionResult,
    Outcome,
    PageTraits,
    Reason,
    SiteTemplate,
    text_hash64,
)
from extractor.article_blocks import build_blocks
from extractor.body_methods import BODY_METHODS
from extractor.body_methods.base import Body
from extractor.body_methods.declared_body import find_declared_body
from extractor.fields.dates.publication_date import find_publication_date
from extractor.fields.language import detect_language
from extractor.fields.metadata import find_metadata
from extractor.fields.site_name import title_suffix
from extractor.garbage import gc_paused
from extractor.page.parsed_page import ParsedPage, decode_page, parse_page, with_complete_layout
from extractor.page_types.classifier import ClassifiedPage, classify_page, with_first_post_fields
from extractor.page_types.content import refine_type_by_content
from extractor.page_types.javascript_page import is_only_javascript_notice, javascript_outcome
from extractor.page_types.list_page import is_declared_article
from extractor.page_types.rejection import body_size, find_rejection
from extractor.page_types.suspect import find_suspicion
from extractor.page_types.teaser import find_teaser
from extractor.settings import ExtractSettings

SECONDS_PER_DAY = 86_400.0
MAX_DATE = "2099-12-31"


class ArticleExtractor:
    """Makes articles of pages. Holds settings only: it can be pickled, and used from any thread.

    Raises KeyError for a method that METHODS does not know.
    """

    def __init__(self, settings: ExtractSettings | None = None) -> None:
        self.settings = settings or ExtractSettings()
        self.method = BODY_METHODS[self.settings.method](self.settings)

    @gc_paused()
    def extract(
        self, html: bytes | str, url: str, content_type: str = "", fetched_at: float = 0.0
    ) -> Article | Outcome:
        """The article of a page, or the reason why it has none. No input makes this raise.

        `content_type` is the HTTP header as sent. `fetched_at` (seconds since 1970, 0: unknown) bounds the date: an
        article is not published more than a day after it was fetched.
        """
        document = self.parse_page(html, url, content_type, None, self.method.needs_complete_layout)
        return document if isinstance(document, Outcome) else self.extract_from_page(document, fetched_at)

    @gc_paused()
    def extract_with_site(
        self,
        html: bytes | str,
        url: str,
        content_type: str = "",
        fetched_at: float = 0.0,
        site_template: SiteTemplate | None = None,
    ) -> ExtractionResult:
        """As `extract`, with what is known of the page's site, and with what the site can learn from the page."""
        document = self.parse_page(html, url, content_type, site_template, self.method.needs_complete_layout)
        if isinstance(document, Outcome):
            return ExtractionResult(document)
        reading = self.analyze_page(document, fetched_at)
        title = reading.result.title if isinstance(reading.result, Article) else ""
        return replace(reading, page_traits=site_traits(document, title))

    def parse_page(
        self,
        html: bytes | str,
        url: str,
        content_type: str,
        site_template: SiteTemplate | None = None,
        complete: bool = True,
    ) -> ParsedPage | Outcome:
        """The page, decoded and laid out; not `complete`: without what is plainly navigation (see layout.Layout)."""
        page_source = decode_page(html, content_type)
        if page_source is None:
            return Outcome(Reason.UNDECODABLE, "the bytes are no text in any known encoding")
        document = parse_page(page_source, url, site_template, complete)
        if document is None:
            return Outcome(Reason.UNPARSABLE if html.strip() else Reason.EMPTY_BODY, "no element found")
        return document

    def extract_from_page(self, page: ParsedPage, fetched_at: float) -> Article | Outcome:
        """The article of a page, or the reason why it has none."""
        return self.analyze_page(page, fetched_at).result

    def analyze_page(self, page: ParsedPage, fetched_at: float) -> ExtractionResult:
        """The same with what speaks against it, and without what the site can learn."""
        body = self.method.choose_body(page)
        if not page.is_complete and (body is None or not body.is_confident):
            page = with_complete_layout(page)
            body = self.method.choose_body(page)
        latest = max_published_date(fetched_at)
        classified_page = self.classify(page, body, latest)
        if classified_page.thread is not None and classified_page.body is not None:
            return ExtractionResult(self.build_typed_article(classified_page, classified_page.body, latest))
        page, body = classified_page.page, self.with_fallback_body(classified_page.page, classified_page.body)
        teaser = find_teaser(page, body)
        rejection = find_rejection(page, body, teaser, self.settings, classified_page.page_type)
        if rejection is not None or body is None or is_only_javascript_notice(page, body):
            rejection = javascript_outcome(page) or rejection or Outcome(Reason.NO_BODY, "no text found")
            return ExtractionResult(
                replace(
                    rejection, published_date=find_publication_date(page, body.span_index if body else 0, latest).date
                )
            )
        article = self.build_typed_article(classified_page, body, latest)
        return ExtractionResult(
            article,
            teaser=teaser,
            is_declared_article=is_declared_article(page),
            warning=find_suspicion(classified_page, body),
        )

    def classify(self, page: ParsedPage, body: Body | None, latest_date: str) -> ClassifiedPage:
        """The page with its kind, if the method asks for that."""
        if not self.method.uses_declared_body:
            return ClassifiedPage(page, body)
        return classify_page(page, body, lambda chosen_body: self.method.find_published(page, chosen_body, latest_date))

    def describe_page_type(self, page: ParsedPage, fetched_at: float) -> str:
        """What kind of page this is and why, for a person."""
        result = self.extract_from_page(page, fetched_at)
        classified_page = self.classify(page, self.method.choose_body(page), max_published_date(fetched_at))
        page_type_name = (
            result.page_type if isinstance(result, Article) else classified_page.page_type or "no page of a kind"
        )
        return f"{page_type_name}: {classified_page.reason or 'by what it is made of'}"

    def build_typed_article(self, classified_page: ClassifiedPage, body: Body, latest_date: str) -> Article:
        """The article of a page of some kind."""
        article = self.build_article(classified_page.page, body, latest_date)
        if classified_page.thread is not None:
            article = with_first_post_fields(
                replace(article, blocks=classified_page.thread.to_blocks(classified_page.page)),
                classified_page.thread,
                latest_date,
            )
        return replace(article, page_type=refine_type_by_content(article, classified_page.page_type))

    def with_fallback_body(self, page: ParsedPage, body: Body | None) -> Body | None:
        """A body, or where that is too little, the one that the page states, if the method reads those."""
        is_long_enough = body_size(body, self.settings) >= self.settings.shortest_body
        if (body is not None and is_long_enough) or not self.method.uses_declared_body:
            return body
        return find_declared_body(page, body.title_line if body is not None else -1) or body

    def build_article(self, page: ParsedPage, body: Body, latest_date: str) -> Article:
        """The article around a body that was found good."""
        title = self.method.find_title(page, body)
        published = self.method.find_published(page, body, latest_date)
        metadata = find_metadata(page, body, title)
        return Article(
            url=page.url,
            title=title,
            body=body.text,
            published=published.date,
            date_source=published.source,
            language=detect_language(body.text, declared_language(page)),
            method=self.settings.method,
            published_at=published.datetime,
            modified=published.modified,
            author=metadata.author,
            source=metadata.source,
            section=metadata.section,
            keywords=metadata.keywords,
            picture=metadata.picture,
            canonical_url=metadata.canonical_url,
            next_url=metadata.next_url,
            blocks=build_blocks(page, body) if body.line_indices else paragraph_blocks(body.text),
        )


def paragraph_blocks(text: str) -> tuple[Block, ...]:
    """The blocks of a text that has no structure but its lines."""
    return tuple(Block(BlockKind.PARAGRAPH, line) for line in text.split("\n"))


def declared_language(page: ParsedPage) -> str:
    """What the page says of its language, or ""."""
    spans = page.layout.spans
    return spans[0].tag_info.attributes.get("lang", "") if spans else ""


def site_traits(page: ParsedPage, title: str) -> PageTraits:
    """What a page teaches about its site: its lines, and what stands behind the title in <title>."""
    lines = frozenset(text_hash64(line.text) for line in page.layout.lines)
    return PageTraits(lines, title_suffix(page.title, title) if title else "")


def max_published_date(fetched_at: float) -> str:
    """The day after a fetch in UTC, `YYYY-MM-DD`; the end of time where the fetch is not known."""
    if fetched_at <= 0:
        return MAX_DATE
    try:
        return datetime.datetime.fromtimestamp(fetched_at + SECONDS_PER_DAY, datetime.UTC).date().isoformat()
    except (OverflowError, OSError, ValueError):
        return MAX_DATE
