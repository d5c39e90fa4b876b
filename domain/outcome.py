"""Stages of a run, and the outcome of a stage for a URL."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from domain.message import Message


class Stage(StrEnum):
    """The stages of a run. All but `SOLR` (opening the index) record outcomes."""

    CRAWL = "crawl"
    EXTRACT = "extract"
    OCR = "ocr"
    EMBED = "embed"
    LEXICON = "lexicon"
    SOLR = "solr"
    INDEX = "index"


class Reason(StrEnum):
    """Outcome of a stage for a URL. The first members of each group are successes."""

    # crawl
    FETCHED = "fetched"
    UNCHANGED = "unchanged"  # 304, or the same bytes again
    NOINDEX = "noindex"  # fetched, but the page asks search engines not to list it: not saved
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
    PARSING_TIMED_OUT = "parsing_timed_out"  # the page was fetched, but finding its links takes too long
    TOO_LARGE = "too_large"
    TOO_MANY_REDIRECTS = "too_many_redirects"
    REDIRECTED_OUT_OF_SCOPE = "redirected_off_scope"
    REDIRECTED_TO_KNOWN_URL = "duplicate"  # redirected to a URL that is crawled on its own
    SAME_CONTENT = "same_content"  # the page of another URL, which stands for it
    HTTP_ERROR = "http_error"
    NEEDS_LOGIN = "needs_login"  # status 401 or 407, or a login page in place of the page; an earlier article stays
    BLOCKED = "blocked"  # a challenge, maintenance or error page in place of the page; an earlier article stays
    GONE = "gone"  # 404 or 410, or a page that says so
    TAKEN_DOWN = "taken_down"  # an operator has excluded the page permanently
    NOT_HTML = "not_html"
    EMPTY_BODY = "empty"
    MALFORMED_RESPONSE = "bad_response"  # the response is not HTTP, or its compression is broken
    REVISIT_RECORD = "revisit"  # import: the record refers to an equal response in another record
    CONVERSION_RECORD = "conversion"  # import: the record contains a converted form of a page
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
    NO_TEXT_LAYER = "no_text_layer"  # a document with pages that contain only images, such as a scan
    GARBLED_TEXT = "garbled_text"  # a document with pages whose text is not language: fonts without a Unicode map
    # ocr
    RECOGNIZED = "recognized"
    NOTHING_RECOGNIZED = "nothing_recognized"  # no page has text that OCR can read with confidence
    # embed
    EMBEDDED = "embedded"
    NOTHING_TO_EMBED = "nothing_to_embed"  # a text without letters
    # index
    INDEXED = "indexed"
    DELETED = "deleted"
    REJECTED_BY_SOLR = "refused_by_solr"
    # any stage
    UNEXPECTED_ERROR = "failed"  # unexpected exception: the traceback is in the log


CERTIFICATE_ERROR = "certificate"
"""Replaces `Reason.UNREACHABLE` in the counts of a site if its certificate is invalid."""

FETCH_SUCCESS_REASONS = frozenset((Reason.FETCHED, Reason.UNCHANGED, Reason.NOINDEX, Reason.OFF_TOPIC))
"""Outcomes of a crawl visit to a page that the site returned."""

SUCCESS_REASONS = FETCH_SUCCESS_REASONS | {
    *(Reason.REDIRECTED_TO_KNOWN_URL, Reason.SAME_CONTENT, Reason.TAKEN_DOWN),
    *(Reason.EXTRACTED, Reason.ARTICLE_UNCHANGED, Reason.LIST_PAGE, Reason.CONTINUATION, Reason.ALTERNATE_VERSION),
    *(Reason.RECOGNIZED, Reason.EMBEDDED, Reason.NOTHING_TO_EMBED, Reason.INDEXED, Reason.DELETED),
}
"""Outcomes of all stages that are no failures."""

RELATED_URL_REASONS = frozenset(
    (Reason.REDIRECTED_TO_KNOWN_URL, Reason.SAME_CONTENT, Reason.CONTINUATION, Reason.ALTERNATE_VERSION)
)
"""Outcomes whose detail is the URL of the page that is listed instead."""

UNREQUESTED_REASONS: frozenset[str] = frozenset(
    (
        *(Reason.INVALID_URL, Reason.URL_TOO_LONG, Reason.OUT_OF_SCOPE, Reason.TOO_DEEP, Reason.CRAWLER_TRAP),
        *(Reason.UNSUPPORTED_EXTENSION, Reason.ROBOTS_FORBIDDEN, Reason.ROBOTS_UNAVAILABLE, Reason.PRIVATE_ADDRESS),
        *(Reason.TAKEN_DOWN, Reason.UNREACHABLE, CERTIFICATE_ERROR),
    )
)
"""Outcomes of a crawl visit that sent no request for the page: a rule forbids it, or there was no connection."""


def count_requested(counts: Mapping[str, int]) -> int:
    """Return the number of pages that a crawl requested, from its outcome counts by reason."""
    return sum(count for reason, count in counts.items() if reason not in UNREQUESTED_REASONS)


def count_failures(counts: Mapping[Reason, int] | Mapping[str, int]) -> int:
    """Return the number of failures of a stage, from its outcome counts by reason."""
    return sum(count for reason, count in counts.items() if reason not in SUCCESS_REASONS)


@dataclass(frozen=True)
class Outcome:
    """Result of one stage for one URL.

    Attributes:
        reason: What the stage decided.
        detail: A few words for people about the cause, or "".
        published_date: Date on a page that is not an article, such as a list page, in the format of
            `Article.published`.
    """

    reason: Reason
    detail: str = ""
    published_date: str = field(default="", compare=False)

    @property
    def related_url(self) -> str:
        """URL of another page that explains the outcome, such as a redirect target; "" if there is none."""
        if isinstance(self.detail, Message):
            return str(self.detail.values.get("url", ""))
        return self.detail if self.reason in RELATED_URL_REASONS and "://" in self.detail else ""

    @property
    def summary(self) -> Message:
        """Reason and detail as one message, such as `http_error, 503`."""
        if not self.detail:
            return Message("{reason}", reason=self.reason.value)
        return Message("{reason}, {detail}", reason=self.reason.value, detail=self.detail)


def has_common_cause(failed_count: int, total_count: int, max_failures: int) -> bool:
    """Return True if more than `max_failures` and more than a fifth of all items failed.

    The program or the machine is then the likely cause, not the items.
    """
    return failed_count > max_failures and failed_count * 5 > total_count


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
