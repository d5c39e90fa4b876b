"""Page to article: decode, parse, clean, choose the body, read title and date, check."""

import datetime
from dataclasses import replace

from docstore.model import Article, Block, BlockKind, Outcome, PageTraits, Reading, Reason, SiteKnowledge, line_hash
from extractor.fields.dates.date import find_date
from extractor.fields.language import language_of
from extractor.fields.metadata import find_metadata
from extractor.fields.site_name import title_tail
from extractor.garbage import no_cycle_search
from extractor.list_page import is_vouched
from extractor.methods import METHODS
from extractor.methods.contract import Body
from extractor.page.document import Document, lay_out, source_of, with_all_lines
from extractor.page.structure import blocks_of
from extractor.page.structured_body import structured_body
from extractor.rejection import body_size, refuse
from extractor.settings import ExtractSettings
from extractor.teaser import find_teaser
from extractor.types.content import kind_with_content
from extractor.types.decide import TypedPage, of_first_post, typed_page
from extractor.types.scripts import asks_alone, needs_scripts
from extractor.types.suspect import suspicion

DAY = 86_400.0
END_OF_TIME = "2099-12-31"


class ArticleExtractor:
    """Makes articles of pages. Holds settings only: it can be pickled, and used from any thread.

    Raises KeyError for a method that METHODS does not know.
    """

    def __init__(self, settings: ExtractSettings | None = None) -> None:
        self.settings = settings or ExtractSettings()
        self.method = METHODS[self.settings.method](self.settings)

    @no_cycle_search()
    def extract(
        self, html: bytes | str, url: str, content_type: str = "", fetched_at: float = 0.0
    ) -> Article | Outcome:
        """The article of a page, or the reason why it has none. No input makes this raise.

        `content_type` is the HTTP header as sent. `fetched_at` (seconds since 1970, 0: unknown) bounds the date: an
        article is not published more than a day after it was fetched.
        """
        document = self.document(html, url, content_type, None, self.method.reads_whole)
        return document if isinstance(document, Outcome) else self.result(document, fetched_at)

    @no_cycle_search()
    def read(
        self,
        html: bytes | str,
        url: str,
        content_type: str = "",
        fetched_at: float = 0.0,
        site: SiteKnowledge | None = None,
    ) -> Reading:
        """As `extract`, with what is known of the page's site, and with what the site can learn from the page."""
        document = self.document(html, url, content_type, site, self.method.reads_whole)
        if isinstance(document, Outcome):
            return Reading(document)
        reading = self.reading(document, fetched_at)
        title = reading.result.title if isinstance(reading.result, Article) else ""
        return replace(reading, learned=traits_of(document, title))

    def document(
        self, html: bytes | str, url: str, content_type: str, site: SiteKnowledge | None = None, whole: bool = True
    ) -> Document | Outcome:
        """The page, decoded and laid out; not `whole`: without what is plainly navigation (see layout.Layout)."""
        source = source_of(html, content_type)
        if source is None:
            return Outcome(Reason.UNDECODABLE, "the bytes are no text in any known encoding")
        document = lay_out(source, url, site, whole)
        if document is None:
            return Outcome(Reason.UNPARSABLE if html.strip() else Reason.EMPTY, "no element found")
        return document

    def result(self, document: Document, fetched_at: float) -> Article | Outcome:
        """The article of a page, or the reason why it has none."""
        return self.reading(document, fetched_at).result

    def reading(self, document: Document, fetched_at: float) -> Reading:
        """The same with what speaks against it, and without what the site can learn."""
        body = self.method.choose(document)
        if not document.whole and (body is None or not body.sure):
            document = with_all_lines(document)
            body = self.method.choose(document)
        latest = latest_day(fetched_at)
        page = self.typed(document, body, latest)
        if page.thread is not None and page.body is not None:
            return Reading(self.typed_article(page, page.body, latest))
        document, body = page.document, self.enough(page.document, page.body)
        teaser = find_teaser(document, body)
        refusal = refuse(document, body, teaser, self.settings, page.kind)
        if refusal is not None or body is None or asks_alone(document, body):
            refusal = needs_scripts(document) or refusal or Outcome(Reason.NO_BODY, "no text found")
            return Reading(replace(refusal, published=find_date(document, body.span if body else 0, latest).day))
        article = self.typed_article(page, body, latest)
        return Reading(article, teaser=teaser, vouched=is_vouched(document), warning=suspicion(page, body))

    def typed(self, document: Document, body: Body | None, latest: str) -> TypedPage:
        """The page with its kind, if the method asks for that."""
        if not self.method.reads_stated:
            return TypedPage(document, body)
        return typed_page(document, body, lambda found: self.method.published(document, found, latest))

    def kind(self, document: Document, fetched_at: float) -> str:
        """What kind of page this is and why, for a person."""
        found = self.result(document, fetched_at)
        page = self.typed(document, self.method.choose(document), latest_day(fetched_at))
        kind = found.page_type if isinstance(found, Article) else page.kind or "no page of a kind"
        return f"{kind}: {page.why or 'by what it is made of'}"

    def typed_article(self, page: TypedPage, body: Body, latest: str) -> Article:
        """The article of a page of some kind."""
        article = self.article(page.document, body, latest)
        if page.thread is not None:
            article = of_first_post(replace(article, blocks=page.thread.blocks(page.document)), page.thread, latest)
        return replace(article, page_type=kind_with_content(article, page.kind))

    def enough(self, document: Document, body: Body | None) -> Body | None:
        """A body, or where that is too little, the one that the page states, if the method reads those."""
        enough = body_size(body, self.settings) >= self.settings.shortest_body
        if (body is not None and enough) or not self.method.reads_stated:
            return body
        return structured_body(document, body.title if body is not None else -1) or body

    def article(self, document: Document, body: Body, latest: str) -> Article:
        """The article around a body that was found good."""
        title = self.method.title(document, body)
        published = self.method.published(document, body, latest)
        found = find_metadata(document, body, title)
        return Article(
            url=document.url,
            title=title,
            body=body.text,
            published=published.day,
            date_source=published.source,
            language=language_of(body.text, stated_language(document)),
            method=self.settings.method,
            published_at=published.at,
            modified=published.modified,
            author=found.author,
            source=found.source,
            section=found.section,
            keywords=found.keywords,
            picture=found.picture,
            canonical_url=found.canonical_url,
            next_url=found.next_url,
            blocks=blocks_of(document, body) if body.lines else paragraphs(body.text),
        )


def paragraphs(text: str) -> tuple[Block, ...]:
    """The blocks of a text that has no structure but its lines."""
    return tuple(Block(BlockKind.PARAGRAPH, line) for line in text.split("\n"))


def stated_language(document: Document) -> str:
    """What the page says of its language, or ""."""
    spans = document.layout.spans
    return spans[0].facts.attributes.get("lang", "") if spans else ""


def traits_of(document: Document, title: str) -> PageTraits:
    """What a page teaches about its site: its lines, and what stands behind the title in <title>."""
    lines = frozenset(line_hash(line.text) for line in document.layout.lines)
    return PageTraits(lines, title_tail(document.title, title) if title else "")


def latest_day(fetched_at: float) -> str:
    """The day after a fetch in UTC, `YYYY-MM-DD`; the end of time where the fetch is not known."""
    if fetched_at <= 0:
        return END_OF_TIME
    try:
        return datetime.datetime.fromtimestamp(fetched_at + DAY, datetime.UTC).date().isoformat()
    except (OverflowError, OSError, ValueError):
        return END_OF_TIME
