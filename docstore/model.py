"""The document model: what passes between the stages, as frozen values.

    Link     a URL worth asking, with the words around it   crawler -> frontier
    Page     an answer that was fetched and kept (bytes in WARC)  crawler -> extractor
    Article  what a reader came for: title, date, body            extractor -> lexicon, indexer
    Term     a candidate word of the domain, with its evidence    lexicon -> administrator
    Lexicon  one immutable, published version of accepted terms   lexicon -> indexer, search_ui
    Outcome  why a stage did what it did with one URL             every stage -> `plumb status`

Times are seconds since 1970-01-01 UTC (float) wherever they are stored.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NewType

Host = NewType("Host", str)  # `host[:port]` of a URL; the port only where it is not the scheme's own
Origin = NewType("Origin", str)  # `scheme://host[:port]` of a URL


class Stage(StrEnum):
    """The stages of a run. All but `SOLR`, in which the index is opened, leave outcomes."""

    CRAWL = "crawl"
    EXTRACT = "extract"
    EMBED = "embed"
    LEXICON = "lexicon"
    SOLR = "solr"
    INDEX = "index"


class Reason(StrEnum):
    """What became of a URL in a stage. The first word of each group is the good end."""

    # crawl
    FETCHED = "fetched"
    UNCHANGED = "unchanged"  # 304, or the same bytes again
    OFF_TOPIC = "off_topic"  # fetched, and not what the crawl looks for: neither kept nor indexed
    INVALID_URL = "bad_url"
    URL_TOO_LONG = "url_too_long"
    OUT_OF_SCOPE = "off_scope"
    TOO_DEEP = "too_deep"
    CRAWLER_TRAP = "trap"  # one of many URLs alike whose pages say nothing new
    UNSUPPORTED_EXTENSION = "not_text"  # the URL ends like a picture, an archive ...
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
    MALFORMED_RESPONSE = "bad_response"  # the answer is not HTTP, or its compression is broken
    # extract
    EXTRACTED = "extracted"
    ARTICLE_UNCHANGED = "same_article"  # the page's bytes changed, its article did not
    UNDECODABLE = "undecodable"
    UNPARSABLE = "unparsable"
    LIST_PAGE = "list_page"
    NO_BODY = "no_body"
    COPYRIGHT_ONLY = "copyright_only"
    CONTINUATION = "continuation"  # a later page of an article: its text is with the first page
    ALTERNATE_VERSION = "double"  # an AMP, print or mobile version of an article that is kept under another URL
    WARC_RECORD_LOST = "lost_page"  # its WARC record cannot be read any more
    INCOMPLETE_BODY = "suspect_body"  # extracted, but much readable text was left out
    NEEDS_JAVASCRIPT = "needs_scripts"  # empty until a browser has run its scripts
    PASSWORD_PROTECTED = "encrypted"  # a document that opens with a password only
    NO_TEXT_LAYER = "no_text_layer"  # a document of pictures alone, as a scanner makes it
    # embed
    EMBEDDED = "embedded"
    NOTHING_TO_EMBED = "nothing_to_embed"  # a text without a letter
    # index
    INDEXED = "indexed"
    DELETED = "deleted"
    REJECTED_BY_SOLR = "refused_by_solr"
    # any stage
    UNEXPECTED_ERROR = "failed"  # the unexpected: the traceback is in the log


@dataclass(frozen=True)
class Outcome:
    """Why a stage did what it did with one URL.

    `published_date` is the day that a page gives which is no article, as `Article.published`: a list says when it was made.
    """

    reason: Reason
    detail: str = ""
    published_date: str = field(default="", compare=False)


class UrlKind(StrEnum):
    """What a page is to the crawl: seeds and hubs are asked again in every run, articles by the revisit rule."""

    SEED = "seed"
    HUB = "hub"
    ARTICLE = "article"
    UNKNOWN = "unknown"  # not extracted yet


@dataclass(frozen=True)
class Link:
    """A link found on a page: absolute canonical `url`, its `anchor` text, and the text `context` around it."""

    url: str
    anchor: str = ""
    context: str = ""


@dataclass(frozen=True)
class FrontierEntry:
    """One URL of the frontier, as handed to a fetcher.

    `etag` and `last_modified` are the validators of the last kept answer, `digest` its sha256 (hex) or "".
    `gap` is the present interval between visits in seconds.
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
    """Where the record of a fetched answer stands: file name below the WARC folder, offset and length in bytes."""

    file_name: str
    offset: int
    length: int


@dataclass(frozen=True)
class Page:
    """A fetched answer that was kept.

    `body` is the payload with transfer and content coding undone, `content_type` the header as sent (of a document that
    it does not name: the type of its format), `digest` the sha256 (hex) of `body`. `format` is `html`, or the name of
    the document's format (`docstore/file_formats.py`) as far as the answer's headers and first bytes tell it.
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
    """What a block of an article is."""

    PARAGRAPH = "paragraph"
    HEADING = "heading"
    LIST_ITEM = "item"
    TABLE_ROW = "row"
    QUOTE = "quote"
    CODE = "code"
    PICTURE = "picture"
    CAPTION = "caption"
    POST_START = "post"  # begins a post of a thread; its text is the author, as far as the page names one


@dataclass(frozen=True)
class Block:
    """One block of an article.

    `text` is plain; the cells of a ROW stand between tabs, CODE keeps its line breaks, a PICTURE's text is its
    alternative text and `url` its absolute URL. `level` is 1 to 6 for a HEADING, the depth (from 1) of an ITEM;
    `ordered` an ITEM of a numbered list. `links` are (start, end, absolute URL) in code points of `text`.
    `page` is the page of the document that it begins on, from 1 (0: the document has no pages); `time` when a POST
    was written, as `Article.published_at` has it.
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
    """What kind of page an article is, as the extractor decides it (`extractor/page_types/classifier.py`)."""

    ARTICLE = "article"
    THREAD = "thread"  # posts of several people: a board, questions and answers, an issue
    REFERENCE = "reference"  # a page of a manual, an encyclopedia, a page without a day
    CODE = "code"  # half of it code
    PRODUCT = "product"  # one thing that is sold
    SERVICE = "service"  # what somebody offers to do
    COLLECTION = "collection"  # many things, with a text of its own about them
    GALLERY = "pictures"  # pictures with captions
    DOCUMENT = "document"  # a file: PDF, Word, slides, a table ...


@dataclass(frozen=True)
class Article:
    """What a reader came for.

    `body` is plain text, one paragraph a line; `blocks` the same with its structure and pictures. `published` is an
    ISO date (`YYYY-MM-DD`, or `YYYY-MM` where only the month is known) or "", `published_at` the same with the time of
    day and the time zone as far as the page states them (`2024-05-01T10:20:00+08:00`) or "", `modified` the day of the
    last change or ""; `date_source` says where the date was read (`url`, `json-ld`, `meta`, `time`, `text`,
    `script` or "").
    `source` is whom the article was taken over from, `section` the channel it stands in. `canonical_url` is the
    URL that the page names as its own, `next_url` the page on which the article goes on, `picture` its lead
    picture; absolute, or "". `signature` is the MinHash of the body, whose likeness to another's estimates how much
    of the two texts is the same; () for texts too short to tell. `method` names the method that read the page.
    `format` is the file format that it was read from: `html`, `pdf`, `docx` ...
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
        """sha256 (hex) of what a reader can see; equal digests need no new index entry."""
        visible_text = "\x00".join((self.title, self.published, self.body, self.author, self.source, self.section))
        return hashlib.sha256(visible_text.encode("utf-8", "surrogatepass")).hexdigest()


@dataclass(frozen=True)
class StoredArticle:
    """An article with its place in the store: `doc_id` is its stable id in the index, `host` its site.

    `duplicate_of` is the `doc_id` of the article that its copies stand behind, "" for that one itself and for an
    article that has none. `series_id` is what it has in common with articles that are similar and no copies: versions,
    or issues of one series; "" where that was not told. `citation_count` is how many others cite it,
    `story_id` the id of the story that it tells with others, or "".
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
    """What a page teaches about its site: the `text_hash64` of its lines, and what followed the title in `<title>`."""

    line_hashes: frozenset[int] = frozenset()
    title_suffix: str = ""


@dataclass(frozen=True)
class Teaser:
    """The headline that a page's text stands below, where it leads to another page of the site at `url` (absolute).

    `sample_lines` are beginnings of lines of the text below it, a sample down to the next such headline; none where there is
    no text. `is_below_own_headline`: the page shows a headline of its own above it.
    """

    url: str
    headline: str
    sample_lines: tuple[str, ...] = ()
    is_below_own_headline: bool = False


@dataclass(frozen=True)
class ExtractionResult:
    """What the extractor made of a page, what its site can learn from it, and whose text its text may be.

    `is_declared_article`: the page itself says that it is an article, by more than that there is text on it. `warning` is recorded
    beside an article that is kept, in place of its good end: what the article may lack.
    """

    result: Article | Outcome
    page_traits: PageTraits = field(default_factory=PageTraits)
    teaser: Teaser | None = None
    is_declared_article: bool = True
    warning: Outcome | None = None


@dataclass(frozen=True)
class SiteTemplate:
    """What the pages of a host have in common, by those seen so far.

    `page_count` of them were counted; `template_line_hashes` are the hashes (`text_hash64`) of lines that so many of them show that they
    are no article's text; `title_suffixes` what follows the title in `<title>` on many of them, most frequent first.
    """

    page_count: int = 0
    template_line_hashes: frozenset[int] = frozenset()
    title_suffixes: tuple[str, ...] = ()


class TermStatus(StrEnum):
    """What the reviewers said of a term."""

    CANDIDATE = "candidate"
    DEFERRED = "later"  # looked at, to be decided another time
    ACCEPTED = "accepted"
    MERGED = "merged"  # it is another word for an accepted term, and among the synonyms of that one
    REJECTED = "rejected"


class TermClass(StrEnum):
    """What kind of word a term is, as far as a reviewer said."""

    NONE = ""
    SUBJECT = "subject"  # what the domain is about
    PROFESSIONAL = "professional"  # a word of its trade
    JUDGEMENT = "judgement"  # a word by which its things are judged


@dataclass(frozen=True)
class Term:
    """A candidate word of the domain with its evidence, and what was said of it.

    `score` is the scorer's value (C-value by default), `score_components` what it was made of, by name; `frequency` occurrences
    in the corpus, `document_count` the articles it occurs in, `pos_tags` its POS sequence ("n n"), `contexts` a few sentences
    that hold it. `synonyms` are other words for the same and `broader_terms` wider terms, which a reviewer has named;
    `dictionary_weight` and `dictionary_tag` are what a dictionary line that was brought said (0 and "": whatever fits).
    `review_score` is the order of review, best first: the score until decisions were learned from. `version` grows with every
    change that people make; who makes one says which version it was made on.
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
    """One line of a published lexicon, as a jieba dictionary has it. `frequency` 0: let the segmenter choose.

    `synonyms` are looked for beside the word when somebody searches; documents are not cut by them, nor by `category`
    and `broader_terms`, which are there for those who take the lexicon elsewhere.
    """

    text: str
    frequency: int = 0
    pos_tag: str = "n"
    synonyms: tuple[str, ...] = ()
    category: TermClass = TermClass.NONE
    broader_terms: tuple[str, ...] = ()


@dataclass(frozen=True)
class Lexicon:
    """One immutable version of the domain's words. Version 0 is the empty lexicon that always exists."""

    version: int = 0
    entries: tuple[LexiconEntry, ...] = ()
    published_at: float = 0.0
    applied_at: float | None = None
    note: str = ""
    published_by: str = field(default="", compare=False)  # the account that published it

    def changed_terms_since(self, previous: "Lexicon") -> list[str]:
        """The terms that only one of the two has, or that they weigh differently: their documents change.

        Synonyms change no document.
        """
        old_entries = {(entry.text, entry.frequency) for entry in previous.entries}
        new_entries = {(entry.text, entry.frequency) for entry in self.entries}
        return sorted({text for text, _ in old_entries ^ new_entries})


@dataclass(frozen=True)
class StageReport:
    """What one stage did in one run: outcomes counted by reason, wall seconds, and anything worth a line."""

    stage: Stage
    outcome_counts: Mapping[Reason, int] = field(default_factory=dict)
    seconds: float = 0.0
    notes: tuple[str, ...] = ()

    @property
    def total(self) -> int:
        """All outcomes of the run, good and bad."""
        return sum(self.outcome_counts.values())


def document_id(url: str) -> str:
    """The stable id of a URL's document in the index: 128 bits of sha256, as 32 hex digits."""
    return hashlib.sha256(url.encode("utf-8", "surrogatepass")).hexdigest()[:32]


def text_hash64(text: str) -> int:
    """64 bits (signed, as databases have them) of a text without its white space: equal for what reads the same."""
    without_whitespace = "".join(text.split()).encode("utf-8", "surrogatepass")
    return int.from_bytes(hashlib.blake2b(without_whitespace, digest_size=8).digest(), "big", signed=True)
