"""The document model: immutable values that the stages exchange.

    Link     a URL worth fetching, with the words around it       crawler -> frontier
    Page     a stored response (bytes in WARC)                    crawler -> extractor
    Article  the content of a page: title, date, body             extractor -> lexicon, indexer
    Term     a candidate term of the domain, with its evidence    lexicon -> reviewer
    Lexicon  one immutable, published version of accepted terms   lexicon -> indexer, search_ui
    Outcome  the result of one stage for one URL, with a reason   every stage -> `plumb status`

Stored times are seconds since 1970-01-01 UTC (float).
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NewType

Host = NewType("Host", str)  # `host[:port]` of a URL; the port only if it is not the default port
Origin = NewType("Origin", str)  # `scheme://host[:port]` of a URL


class Stage(StrEnum):
    """The stages of a run. All but `SOLR` (opening the index) record outcomes."""

    CRAWL = "crawl"
    EXTRACT = "extract"
    EMBED = "embed"
    LEXICON = "lexicon"
    SOLR = "solr"
    INDEX = "index"


class Reason(StrEnum):
    """Outcome of a stage for a URL. The first members of each group are successes."""

    # crawl
    FETCHED = "fetched"
    UNCHANGED = "unchanged"  # 304, or the same bytes again
    OFF_TOPIC = "off_topic"  # fetched, but not relevant to the crawl: neither stored nor indexed
    INVALID_URL = "bad_url"
    URL_TOO_LONG = "url_too_long"
    OUT_OF_SCOPE = "off_scope"
    TOO_DEEP = "too_deep"
    CRAWLER_TRAP = "trap"  # one of many similar URLs whose pages have no new content
    UNSUPPORTED_EXTENSION = "not_text"  # the extension is that of an image, an archive ...
    ROBOTS_FORBIDDEN = "robots_forbidden"
    ROBOTS_UNAVAILABLE = "robots_unavailable"  # RFC 9309: a failing robots.txt forbids everything
    PRIVATE_ADDRESS = "inside_address"  # loopback, private or reserved network
    UNREACHABLE = "unreachable"
    TIMED_OUT = "timed_out"
    TOO_LARGE = "too_large"
    TOO_MANY_REDIRECTS = "too_many_redirects"
    REDIRECTED_OUT_OF_SCOPE = "redirected_off_scope"
    REDIRECTED_TO_KNOWN_URL = "duplicate"  # redirected to a URL that is crawled on its own
    HTTP_ERROR = "http_error"
    GONE = "gone"  # 404 or 410
    NOT_HTML = "not_html"
    EMPTY_BODY = "empty"
    MALFORMED_RESPONSE = "bad_response"  # the response is not HTTP, or its compression is broken
    # extract
    EXTRACTED = "extracted"
    ARTICLE_UNCHANGED = "same_article"  # the bytes of the page changed, its article did not
    UNDECODABLE = "undecodable"
    UNPARSABLE = "unparsable"
    LIST_PAGE = "list_page"
    NO_BODY = "no_body"
    COPYRIGHT_ONLY = "copyright_only"
    CONTINUATION = "continuation"  # a later page of an article: its text is stored with the first page
    ALTERNATE_VERSION = "double"  # an AMP, print or mobile version of an article stored under another URL
    WARC_RECORD_LOST = "lost_page"  # its WARC record can no longer be read
    INCOMPLETE_BODY = "suspect_body"  # extracted, but much readable text is missing
    NEEDS_JAVASCRIPT = "needs_scripts"  # empty without JavaScript
    PASSWORD_PROTECTED = "encrypted"  # a password-protected document  # noqa: S105 (the name of a setting, no secret)
    NO_TEXT_LAYER = "no_text_layer"  # a document that contains only images, such as a scan
    # embed
    EMBEDDED = "embedded"
    NOTHING_TO_EMBED = "nothing_to_embed"  # a text without letters
    # index
    INDEXED = "indexed"
    DELETED = "deleted"
    REJECTED_BY_SOLR = "refused_by_solr"
    # any stage
    UNEXPECTED_ERROR = "failed"  # unexpected exception: the traceback is in the log


FETCH_SUCCESS_REASONS = frozenset((Reason.FETCHED, Reason.UNCHANGED, Reason.OFF_TOPIC))
"""Outcomes of a crawl visit to a page that the site returned."""


@dataclass(frozen=True)
class Outcome:
    """Result of one stage for one URL.

    `published_date` is the date on a page that is not an article, such as a list page, in the format of
    `Article.published`.
    """

    reason: Reason
    detail: str = ""
    published_date: str = field(default="", compare=False)


class UrlKind(StrEnum):
    """Role of a URL in the crawl.

    Seeds and hubs are fetched in every run, articles by the revisit policy.
    """

    SEED = "seed"
    HUB = "hub"
    ARTICLE = "article"
    UNKNOWN = "unknown"  # not extracted yet


@dataclass(frozen=True)
class Link:
    """A link on a page: absolute canonical `url`, its `anchor` text, and the text `context` around it."""

    url: str
    anchor: str = ""
    context: str = ""


@dataclass(frozen=True)
class FrontierEntry:
    """One URL of the frontier, as passed to a fetch worker.

    Attributes:
        etag: ETag of the last stored response, or "".
        last_modified: Last-Modified header of the last stored response, or "".
        digest: SHA-256 (hex) of the last stored response, or "".
        gap: Current revisit interval in seconds.
        attempts: Failed fetches since the last success.
    """

    url_id: int
    url: str
    host: Host
    queue: int
    depth: int
    kind: UrlKind
    priority: float
    etag: str = ""
    last_modified: str = ""
    digest: str = ""
    gap: float = 0.0
    attempts: int = 0


@dataclass(frozen=True)
class WarcPointer:
    """Location of a WARC record: file name in the WARC folder, offset and length in bytes."""

    file_name: str
    offset: int
    length: int


@dataclass(frozen=True)
class Page:
    """A stored response.

    Attributes:
        status: HTTP status code.
        content_type: The Content-Type header as sent. For a document without a known type: the media type of its
            format.
        body: The payload without transfer coding and content coding.
        digest: SHA-256 (hex) of `body`.
        fetched_at: Epoch seconds.
        format: `html`, or a document format (`docstore/file_formats.py`) derived from headers and first bytes.
    """

    url_id: int
    url: str
    final_url: str
    status: int
    content_type: str
    body: bytes
    digest: str
    fetched_at: float
    etag: str = ""
    last_modified: str = ""
    headers: tuple[tuple[str, str], ...] = ()
    format: str = "html"


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


@dataclass(frozen=True)
class Article:
    """The content of a page.

    Attributes:
        url: URL of the page.
        body: Plain text, one paragraph per line.
        blocks: The same content with structure and pictures.
        published: ISO date (`YYYY-MM-DD`, or `YYYY-MM` if the day is unknown) or "".
        date_source: Origin of the date: `url`, `json-ld`, `meta`, `time`, `text`, `script` or "".
        published_at: `published` with time of day and time zone if the page states them (`2024-05-01T10:20:00+08:00`),
            or "".
        modified: Date of the last change, or "".
        method: Name of the extraction method.
        source: Original publisher of a republished article.
        section: Section of the site, such as a news channel.
        picture: Absolute URL of the lead picture, or "".
        canonical_url: Absolute canonical URL that the page declares, or "".
        next_url: Absolute URL of the next page of the article, or "".
        signature: MinHash of the body, for estimating the resemblance of two texts; () if the text is too short.
        page_type: A value of `PageType`, or "".
        format: File format of the source: `html`, `pdf`, `docx` ...
    """

    url: str
    title: str
    body: str
    published: str = ""
    date_source: str = ""
    language: str = ""
    method: str = ""
    published_at: str = ""
    modified: str = ""
    author: str = ""
    source: str = ""
    section: str = ""
    keywords: tuple[str, ...] = ()
    picture: str = ""
    canonical_url: str = ""
    next_url: str = ""
    blocks: tuple[Block, ...] = ()
    signature: tuple[int, ...] = ()
    page_type: str = ""
    format: str = "html"

    @property
    def digest(self) -> str:
        """SHA-256 (hex) of the visible text. Articles with equal digests need no new index entry."""
        visible_text = "\x00".join((self.title, self.published, self.body, self.author, self.source, self.section))
        return hashlib.sha256(visible_text.encode("utf-8", "surrogatepass")).hexdigest()


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
    """Features of a page from which the site template is learned.

    `line_hashes` are the `text_hash64` values of its lines; `title_suffix` is the text after the title in `<title>`.
    """

    line_hashes: frozenset[int] = frozenset()
    title_suffix: str = ""


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
        page_count: Number of pages counted.
        template_line_hashes: Hashes (`text_hash64`) of lines on so large a share of the pages that they are
            boilerplate.
        title_suffixes: Frequent texts after the title in `<title>`, most frequent first.
    """

    page_count: int = 0
    template_line_hashes: frozenset[int] = frozenset()
    title_suffixes: tuple[str, ...] = ()


class TermStatus(StrEnum):
    """Review status of a term."""

    CANDIDATE = "candidate"
    DEFERRED = "later"  # the reviewer postponed the decision
    ACCEPTED = "accepted"
    MERGED = "merged"  # a synonym of an accepted term, and listed with that term
    REJECTED = "rejected"


class TermClass(StrEnum):
    """Class that a reviewer assigned to a term."""

    NONE = ""
    SUBJECT = "subject"  # an object or topic of the domain
    PROFESSIONAL = "professional"  # a technical term
    JUDGEMENT = "judgement"  # an evaluative term


@dataclass(frozen=True)
class Term:
    """A candidate term of the domain with its evidence and review state.

    Attributes:
        score: Value of the scorer (C-value by default).
        frequency: Number of occurrences in the corpus.
        document_count: Number of articles that contain the term.
        pos_tags: Part-of-speech sequence, such as "n n".
        contexts: Example sentences.
        synonyms: Other words for the term, named by a reviewer.
        score_components: Parts of the score by name.
        broader_terms: Broader terms, named by a reviewer.
        dictionary_weight: Weight from an imported dictionary; 0 for automatic.
        dictionary_tag: Part of speech from an imported dictionary; "" for automatic.
        review_score: Sort key of the review queue, highest first. Equals `score` until a model is trained on decisions.
        version: Increases with every edit by a person; used for optimistic locking.
        first_seen: Epoch seconds, or None.
        decided_at: Epoch seconds, or None.
        decided_by: Account of the reviewer.
    """

    text: str
    score: float
    frequency: int
    document_count: int
    pos_tags: str = ""
    contexts: tuple[str, ...] = ()
    status: TermStatus = TermStatus.CANDIDATE
    synonyms: tuple[str, ...] = ()
    score_components: tuple[tuple[str, float], ...] = ()
    category: TermClass = TermClass.NONE
    broader_terms: tuple[str, ...] = ()
    dictionary_weight: int = 0
    dictionary_tag: str = ""
    review_score: float = field(default=0.0, compare=False)
    version: int = field(default=0, compare=False)
    first_seen: float | None = field(default=None, compare=False)
    decided_at: float | None = field(default=None, compare=False)
    decided_by: str = field(default="", compare=False)


@dataclass(frozen=True)
class LexiconEntry:
    """One entry of a published lexicon, in the format of a jieba dictionary.

    `frequency` 0 lets the segmenter choose a frequency. `synonyms` expand queries; they do not affect segmentation.
    `category` and `broader_terms` are only exported.
    """

    text: str
    frequency: int = 0
    pos_tag: str = "n"
    synonyms: tuple[str, ...] = ()
    category: TermClass = TermClass.NONE
    broader_terms: tuple[str, ...] = ()


@dataclass(frozen=True)
class Lexicon:
    """One immutable version of the lexicon. Version 0 is the empty lexicon, which always exists.

    `published_at` and `applied_at` are epoch seconds. `applied_at` is None until the whole index uses the version.
    """

    version: int = 0
    entries: tuple[LexiconEntry, ...] = ()
    published_at: float = 0.0
    applied_at: float | None = None
    note: str = ""
    published_by: str = field(default="", compare=False)  # account name

    def changed_terms_since(self, previous: "Lexicon") -> list[str]:
        """Return the terms that were added, removed or got another frequency.

        Documents with these terms need new segmentation. Synonyms are ignored, because they do not affect documents.
        """
        old_entries = {(entry.text, entry.frequency) for entry in previous.entries}
        new_entries = {(entry.text, entry.frequency) for entry in self.entries}
        return sorted({text for text, _ in old_entries ^ new_entries})


@dataclass(frozen=True)
class StageReport:
    """Summary of one stage in one run: outcome counts by reason, duration in seconds, and notes for the log."""

    stage: Stage
    outcome_counts: Mapping[Reason, int] = field(default_factory=dict)
    seconds: float = 0.0
    notes: tuple[str, ...] = ()

    @property
    def total(self) -> int:
        """Number of all outcomes, successes and failures."""
        return sum(self.outcome_counts.values())


def document_id(url: str) -> str:
    """Return the stable id of a URL's document in the index: the first 128 bits of its SHA-256, as 32 hex digits."""
    return hashlib.sha256(url.encode("utf-8", "surrogatepass")).hexdigest()[:32]


def text_hash64(text: str) -> int:
    """Return a signed 64-bit hash (BLAKE2b) of a text without its white space."""
    without_whitespace = "".join(text.split()).encode("utf-8", "surrogatepass")
    return int.from_bytes(hashlib.blake2b(without_whitespace, digest_size=8).digest(), "big", signed=True)
