"""Articles, and what the extractor learns from a page."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from enum import StrEnum
from typing import Any

from domain.outcome import Outcome


class BlockKind(StrEnum):
    """Kind of an article block."""

    PARAGRAPH = "paragraph"
    HEADING = "heading"
    LIST_ITEM = "item"
    TABLE_ROW = "row"
    QUOTE = "quote"
    CODE = "code"
    PICTURE = "picture"
    CAPTION = "caption"
    POST_START = "post"  # begins a post of a thread; its text is the author, or ""


@dataclass(frozen=True)
class Block:
    """One block of an article.

    Attributes:
        kind: Kind of the block. It decides what the other fields mean.
        text: Plain text. The cells of a TABLE_ROW are separated by tabs, and CODE contains line breaks. For a PICTURE
            it is the alternative text, for a POST_START the author.
        level: 1 to 6 for a HEADING; nesting depth from 1 for a LIST_ITEM.
        ordered: True for a LIST_ITEM of a numbered list.
        url: Absolute URL of a PICTURE.
        links: (start, end, absolute URL); offsets in code points of `text`.
        page: Document page on which the block begins, from 1; 0 if the document has no pages.
        time: Time of a POST_START, in the format of `Article.published_at`.
    """

    kind: BlockKind
    text: str
    level: int = 0
    ordered: bool = False
    url: str = ""
    links: tuple[tuple[int, int, str], ...] = ()
    page: int = 0
    time: str = ""


class PageType(StrEnum):
    """Content type of an article, as decided by the extractor (`extractor/page_types/classifier.py`)."""

    ARTICLE = "article"
    THREAD = "thread"  # posts of several people: forum, questions and answers, issue tracker
    REFERENCE = "reference"  # manual, encyclopedia, page without a date
    CODE = "code"  # at least half of the text is code
    PRODUCT = "product"  # one product for sale
    SERVICE = "service"  # a service offer
    COLLECTION = "collection"  # many items, with a text about them
    GALLERY = "pictures"  # images with captions
    DOCUMENT = "document"  # a file: PDF, Word, slides, spreadsheet ...


class TextSource(StrEnum):
    """Origin of the text of a document, if it is not the text of the file."""

    OCR = "ocr"  # recognized from pictures of the pages
    PARTLY_OCR = "partly_ocr"  # recognized on some pages


@dataclass(frozen=True)
class ArticleField:
    """Where a text field of `Article` is stored, indexed and shown.

    Attributes:
        default: Value of the field if the page does not state it, also for rows of older stores.
        max_chars: Size of the SQL column; 0 for unlimited text.
        solr_name: Solr field with a copy of the text, which the indexer can replace; "" if there is none.
        max_indexed_chars: The copy is cut to this length; 0 for no limit.
        facet: Name of the filter in results pages and in the API, such as `sections`; "" if there is no filter.
        parameter: URL parameter of the filter, such as `section`.
        has_site_values: Facet values that nearly all documents of one site have are not offered.
        is_detail: The article page and the API list the value with the details of the article.
    """

    default: str = ""
    max_chars: int = 0
    solr_name: str = ""
    max_indexed_chars: int = 0
    facet: str = ""
    parameter: str = ""
    has_site_values: bool = False
    is_detail: bool = False


MAX_LABEL_CHARS = 200  # indexed characters of a section, author or source


def article_field(default: str = "", **declaration: Any) -> Any:
    """Declare a text field of `Article`. The keyword arguments are those of `ArticleField`."""
    return field(default=default, metadata={ArticleField: ArticleField(default, **declaration)})


@dataclass(frozen=True)
class Article:
    """The content of a page.

    A text field is stored in the column of its name. `article_field` declares where else it appears.

    Attributes:
        url: URL of the page.
        title: Headline, without the names of site and section.
        body: Plain text, one paragraph per line.
        published: ISO date (`YYYY-MM-DD`, or `YYYY-MM` if the day is unknown) or "".
        date_source: Origin of the date: `url`, `json-ld`, `meta`, `time`, `text`, `script` or "".
        language: Language tag such as `zh` or `en`, or "".
        method: Name of the extraction method.
        published_at: `published` with time of day and time zone if the page states them (`2024-05-01T10:20:00+08:00`),
            or "".
        modified: Date of the last change, or "".
        author: Names of the authors, or "".
        source: Original publisher of a republished article, or "".
        section: Section of the site, such as a news channel, or "".
        keywords: Keywords that the page states.
        picture: Absolute URL of the lead picture, or "".
        canonical_url: Absolute canonical URL that the page declares, or "".
        next_url: Absolute URL of the next page of the article, or "".
        blocks: The same content as `body` with structure and pictures.
        signature: MinHash of the body, for estimating the resemblance of two texts; () if the text is too short.
        page_type: A value of `PageType`, or "".
        format: File format of the source: `html`, `pdf`, `docx` ...
        text_source: A value of `TextSource`, or "".
    """

    url: str
    title: str
    body: str
    published: str = article_field(max_chars=10, solr_name="published_text")
    date_source: str = article_field(max_chars=16)
    language: str = article_field(max_chars=16, solr_name="language", facet="languages", parameter="language")
    method: str = article_field(max_chars=32)
    published_at: str = ""
    modified: str = ""
    author: str = article_field(
        solr_name="author",
        max_indexed_chars=MAX_LABEL_CHARS,
        facet="authors",
        parameter="author",
        has_site_values=True,
        is_detail=True,
    )
    source: str = article_field(solr_name="source", max_indexed_chars=MAX_LABEL_CHARS, is_detail=True)
    section: str = article_field(
        solr_name="section",
        max_indexed_chars=MAX_LABEL_CHARS,
        facet="sections",
        parameter="section",
        has_site_values=True,
        is_detail=True,
    )
    keywords: tuple[str, ...] = ()
    picture: str = ""
    canonical_url: str = ""
    next_url: str = ""
    blocks: tuple[Block, ...] = ()
    signature: tuple[int, ...] = ()
    page_type: str = article_field(max_chars=16, solr_name="page_type", facet="types", parameter="type")
    format: str = article_field("html", max_chars=16, solr_name="format", facet="formats", parameter="filetype")
    text_source: str = article_field(max_chars=16, solr_name="text_source")

    @property
    def digest(self) -> str:
        """SHA-256 (hex) of the visible text. Articles with equal digests need no new index entry."""
        visible_text = "\x00".join((self.title, self.published, self.body, self.author, self.source, self.section))
        return hashlib.sha256(visible_text.encode("utf-8", "surrogatepass")).hexdigest()


ARTICLE_FIELDS: Mapping[str, ArticleField] = {
    each.name: each.metadata.get(ArticleField, ArticleField())
    for each in fields(Article)
    if each.type is str and each.name != "url"
}
"""The text fields of `Article` by name, in its order, with their declaration."""


@dataclass(frozen=True)
class StoredArticle:
    """An article with its metadata in the store.

    Attributes:
        doc_id: Stable id of the document in the index.
        host: Site of the article.
        fetched_at: Epoch seconds.
        duplicate_of: `doc_id` of the leader of its near-duplicate cluster; "" for a leader and for an article without
            copies.
        series_id: Common id of similar articles that are not copies (versions, issues of a series), or "".
        citation_count: Number of independent sources that cite it.
        story_id: Id of its story, or "".
    """

    url_id: int
    doc_id: str
    host: str
    article: Article
    fetched_at: float = 0.0
    duplicate_of: str = ""
    series_id: str = ""
    citation_count: int = 0
    story_id: str = ""


@dataclass(frozen=True)
class PageTraits:
    """Features of an article's page from which the site template is learned.

    `line_hashes` are the `text_hash64` values of its lines; `title_suffix` is the text after the title in `<title>`.
    Pages that show the same article have one of the `text_hashes` in common.
    """

    line_hashes: frozenset[int] = frozenset()
    title_suffix: str = ""
    text_hashes: frozenset[int] = frozenset()


@dataclass(frozen=True)
class Teaser:
    """A headline that links to another page of the site, with the page text below it.

    Attributes:
        url: Absolute URL of the linked page.
        sample_lines: Beginnings of a sample of the lines between this headline and the next such headline.
        is_below_own_headline: True if the page shows its own headline above this one.
    """

    url: str
    headline: str
    sample_lines: tuple[str, ...] = ()
    is_below_own_headline: bool = False


@dataclass(frozen=True)
class ExtractionResult:
    """Result of extracting one page.

    Attributes:
        result: The article, or the outcome that says why there is none.
        page_traits: Input for the site template.
        teaser: Headline that links to the page from which the text may be taken.
        is_declared_article: True if markup of the page declares an article; text content is not enough.
        warning: Outcome to record instead of success, if the article may be incomplete.
    """

    result: Article | Outcome
    page_traits: PageTraits = field(default_factory=PageTraits)
    teaser: Teaser | None = None
    is_declared_article: bool = True
    warning: Outcome | None = None


@dataclass(frozen=True)
class SiteTemplate:
    """Repeated text of the pages of a host.

    Attributes:
        page_count: Number of articles counted.
        template_line_hashes: Hashes (`text_hash64`) of lines on so large a share of the pages that they are
            boilerplate.
        title_suffixes: Frequent texts after the title in `<title>`, most frequent first.
    """

    page_count: int = 0
    template_line_hashes: frozenset[int] = frozenset()
    title_suffixes: tuple[str, ...] = ()


EMPTY_SITE_TEMPLATE = SiteTemplate()


def document_id(url: str) -> str:
    """Return the stable id of a URL's document in the index: the first 128 bits of its SHA-256, as 32 hex digits."""
    return hashlib.sha256(url.encode("utf-8", "surrogatepass")).hexdigest()[:32]


def text_hash64(text: str) -> int:
    """Return a signed 64-bit hash (BLAKE2b) of a text without its white space."""
    without_whitespace = "".join(text.split()).encode("utf-8", "surrogatepass")
    return int.from_bytes(hashlib.blake2b(without_whitespace, digest_size=8).digest(), "big", signed=True)
