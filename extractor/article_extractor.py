"""Extracts the article of a page: decode, parse, choose the body, classify, reject, read the fields."""

import datetime
import gc
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from heapq import nlargest

from domain.article import Article, Block, BlockKind, ExtractionResult, PageTraits, SiteTemplate, text_hash64
from domain.message import Message
from domain.outcome import Outcome, Reason
from extractor.article_blocks import build_blocks
from extractor.body_methods import BODY_METHODS
from extractor.body_methods.declared_body import find_declared_body
from extractor.fields.dates.publication_date import find_publication_date
from extractor.fields.language import detect_language
from extractor.fields.metadata import find_metadata
from extractor.fields.title_matching import normalize_letters, title_suffix
from extractor.page.parsed_page import Body, ParsedPage, decode_page, parse_page
from extractor.page_types.body_coverage import find_suspicion
from extractor.page_types.classifier import (
    ClassifiedPage,
    classify_page,
    refine_type_by_content,
    with_first_post_fields,
)
from extractor.page_types.list_page import find_teaser
from extractor.page_types.page_signals import PageSignals
from extractor.page_types.rejection import (
    JAVASCRIPT_OUTCOME,
    body_size,
    find_rejection,
    is_only_javascript_notice,
    needs_javascript,
)
from extractor.settings import ExtractSettings

SECONDS_PER_DAY = 86_400.0
MAX_DATE = "2099-12-31"
MAX_TEXT_HASHES = 5  # long lines of an article by which its other versions are recognized
NO_PROSE_KINDS = (BlockKind.CODE, BlockKind.PICTURE, BlockKind.POST_START)
DEFAULT_SETTINGS = ExtractSettings()


@contextmanager
def gc_paused() -> Iterator[None]:
    """Disable the cycle collector inside the block, if it is enabled.

    Parsing a page creates some hundred thousand small objects and no reference cycle (a test counts them).
    Reference counting frees them all. Repeated searches for cycles took about 5% of the CPU time.

    Thread-safe: only the thread that disabled the collector enables it again. The pause applies to the whole process;
    cycles of other threads are collected afterwards.
    """
    if not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


class ArticleExtractor:
    """Extracts articles from pages. Contains only settings: instances can be pickled and used from any thread.

    Raises:
        KeyError: `settings.method` is not a key of BODY_METHODS.
    """

    def __init__(self, settings: ExtractSettings | None = None) -> None:
        self.settings = settings or DEFAULT_SETTINGS
        self.method = BODY_METHODS[self.settings.method](self.settings)

    @gc_paused()
    def extract(
        self, html: bytes | str, url: str, content_type: str = "", fetched_at: float = 0.0
    ) -> Article | Outcome:
        """Extract the article of a page. Never raises, whatever the input.

        Args:
            html: Page as bytes or decoded text.
            url: URL of the page.
            content_type: HTTP header as sent.
            fetched_at: Seconds since 1970, 0 if unknown. An article is not published more than a day after its fetch.

        Returns:
            The article, or an Outcome with the reason why the page has none.
        """
        page = self.parse_page(html, url, content_type, None, self.method.needs_complete_layout)
        return page if isinstance(page, Outcome) else self.extract_from_page(page, fetched_at)

    @gc_paused()
    def extract_with_site(
        self,
        html: bytes | str,
        url: str,
        content_type: str = "",
        fetched_at: float = 0.0,
        site_template: SiteTemplate | None = None,
    ) -> ExtractionResult:
        """Extract like `extract`, with the template lines and title suffixes of the site.

        Args:
            html: Page as bytes or decoded text.
            url: URL of the page.
            content_type: HTTP header as sent.
            fetched_at: Seconds since 1970, 0 if unknown.
            site_template: Repeated text of the site; None if unknown.

        Returns:
            The article or the reason why there is none. `page_traits` are this page's contribution to the template of
            its site.
        """
        page = self.parse_page(html, url, content_type, site_template, self.method.needs_complete_layout)
        if isinstance(page, Outcome):
            return ExtractionResult(page)
        analysis = self.analyze_page(page, fetched_at)
        if not isinstance(analysis.result, Article):
            return analysis
        return replace(analysis, page_traits=site_traits(page, analysis.result))

    def parse_page(
        self,
        html: bytes | str,
        url: str,
        content_type: str,
        site_template: SiteTemplate | None = None,
        complete: bool = True,
    ) -> ParsedPage | Outcome:
        """Decode, parse and lay out a page; returns an Outcome if that fails.

        If not `complete`, plain navigation is left out of the layout (see page.layout.Layout).
        """
        page_source = decode_page(html, content_type)
        if page_source is None:
            return Outcome(Reason.UNDECODABLE, Message("Cannot be decoded: unknown encoding"))
        page = parse_page(page_source, url, site_template, complete)
        if page is None:
            return Outcome(Reason.UNPARSABLE if html.strip() else Reason.EMPTY_BODY, Message("No element found"))
        return page

    def extract_from_page(self, page: ParsedPage, fetched_at: float) -> Article | Outcome:
        """Extract the article of a parsed page, or return the reason why it has none."""
        return self.analyze_page(page, fetched_at).result

    def analyze_page(self, page: ParsedPage, fetched_at: float) -> ExtractionResult:
        """Extract one parsed page.

        Returns an ExtractionResult: the article or the rejection, the teaser, and the warning about a suspect body or
        a page of which only the beginning was read. `page_traits` stays empty.
        """
        analysis = self.analyze_parsed_part(page, fetched_at)
        if page.read_share == 1.0:
            return analysis
        share, result = f"{min(99, round(100 * page.read_share))}%", analysis.result
        if isinstance(result, Outcome):
            detail = Message("{reason}; only the first {share} of the page was read", share=share, reason=result.detail)
            return replace(analysis, result=replace(result, detail=detail))
        return replace(
            analysis,
            warning=Outcome(
                Reason.INCOMPLETE_BODY,
                Message("the page has too many elements: only its first {share} was read", share=share),
            ),
        )

    def analyze_parsed_part(self, page: ParsedPage, fetched_at: float) -> ExtractionResult:
        """Extract the part of a page that was read; see `analyze_page`."""
        latest_date = max_published_date(fetched_at)
        classified_page = self.classify(page, latest_date)
        signals, body = classified_page.signals, classified_page.body
        if classified_page.thread is not None and body is not None:
            return ExtractionResult(self.build_typed_article(classified_page, body, latest_date))
        coverage, page_type = classified_page.coverage, classified_page.page_type
        fallback_body = self.with_fallback_body(signals.page, body)
        if fallback_body is not body:
            body, coverage = fallback_body, None
        teaser = find_teaser(signals.page, body)
        rejection = find_rejection(signals, body, teaser, self.settings, page_type)
        if rejection is not None or body is None or is_only_javascript_notice(signals, body):
            rejection = JAVASCRIPT_OUTCOME if rejection is None or needs_javascript(signals) else rejection
            published = find_publication_date(signals.page, body.span_index if body else 0, latest_date)
            return ExtractionResult(replace(rejection, published_date=published.date))
        return ExtractionResult(
            self.build_typed_article(classified_page, body, latest_date),
            teaser=teaser,
            is_declared_article=signals.declared_article_score > 0,
            warning=find_suspicion(signals, body, page_type, coverage),
        )

    def classify(self, page: ParsedPage, latest_date: str) -> ClassifiedPage:
        """Choose the body and classify the page, if the method uses page types.

        If the body is not certain, the page is read again with a complete layout.
        """
        body = self.method.choose_body(page)
        if not page.is_complete and (body is None or not body.is_confident):
            page = page.complete_page
            body = self.method.choose_body(page)
        signals = PageSignals(page, lambda page, body: self.method.find_published(page, body, latest_date))
        if body is not None:
            signals.title_line = body.title_line
        return classify_page(signals, body) if self.method.uses_declared_body else ClassifiedPage(signals, body)

    def describe_page_type(self, page: ParsedPage, fetched_at: float) -> str:
        """Return the page type and the reason for it, as text for administrators."""
        result = self.extract_from_page(page, fetched_at)
        classified_page = self.classify(page, max_published_date(fetched_at))
        page_type_name = result.page_type if isinstance(result, Article) else classified_page.page_type or "no type"
        return f"{page_type_name}: {classified_page.reason or 'decided by the content'}"

    def build_typed_article(self, classified_page: ClassifiedPage, body: Body, latest_date: str) -> Article:
        """Build the article of a classified page and set its `page_type`.

        The blocks, author and date of a thread are those of its posts.
        """
        signals = classified_page.signals
        article = self.build_article(signals, body)
        if classified_page.thread is not None:
            article = with_first_post_fields(
                replace(article, blocks=classified_page.thread.to_blocks(signals.page)),
                classified_page.thread,
                latest_date,
            )
        return replace(article, page_type=refine_type_by_content(article, classified_page.page_type))

    def with_fallback_body(self, page: ParsedPage, body: Body | None) -> Body | None:
        """Return `body`, or the body declared in JSON-LD or meta tags if `body` is too short.

        Too short is a body below `shortest_body`. Methods that do not use declared bodies always return `body`.
        """
        is_long_enough = body_size(body, self.settings) >= self.settings.shortest_body
        if (body is not None and is_long_enough) or not self.method.uses_declared_body:
            return body
        return find_declared_body(page, body.title_line if body is not None else -1) or body

    def build_article(self, signals: PageSignals, body: Body) -> Article:
        """Build the article of an accepted body, with all its fields."""
        page, published = signals.page, signals.published(body)
        title = self.method.find_title(page, body)
        metadata = find_metadata(page, body, title)
        blocks = (
            build_blocks(page, body)
            if body.line_indices
            else tuple(Block(BlockKind.PARAGRAPH, line) for line in body.text.split("\n"))
        )
        prose = "\n".join(block.text for block in blocks if block.kind not in NO_PROSE_KINDS)
        return Article(
            url=page.url,
            title=title,
            body=body.text,
            published=published.date,
            date_source=published.source,
            language=detect_language(prose or title, declared_language(page)),
            method=self.settings.method,
            published_at=published.datetime,
            modified=published.modified,
            **vars(metadata),
            blocks=blocks,
        )


def declared_language(page: ParsedPage) -> str:
    """Return the `lang` attribute of the page, or an empty string."""
    spans = page.layout.spans
    return spans[0].tag_info.attributes.get("lang", "") if spans else ""


def site_traits(page: ParsedPage, article: Article) -> PageTraits:
    """Return the contribution of an article's page to the template of its site.

    The title and any of the longest lines identify an article: its versions differ in short lines, and articles with
    the same title, or none, in long lines.
    """
    lines = frozenset(text_hash64(line.text) for line in page.layout.lines)
    title, long_lines = normalize_letters(article.title), nlargest(MAX_TEXT_HASHES, article.body.split("\n"), key=len)
    text_hashes = frozenset(text_hash64(f"{title}|{normalize_letters(line)}") for line in long_lines)
    return PageTraits(lines, title_suffix(page.title, article.title) if article.title else "", text_hashes)


def max_published_date(fetched_at: float) -> str:
    """Return the UTC day after the fetch (`YYYY-MM-DD`), or MAX_DATE if the time of the fetch is unknown."""
    if fetched_at <= 0:
        return MAX_DATE
    try:
        return datetime.datetime.fromtimestamp(fetched_at + SECONDS_PER_DAY, datetime.UTC).date().isoformat()
    except (OverflowError, OSError, ValueError):
        return MAX_DATE
