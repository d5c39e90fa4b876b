"""Why a page is or is not among the results: its steps, what stops it, and what an operator can do about it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from domain.administration import Takedown
from domain.outcome import Reason


class PageCheckName(StrEnum):
    """The steps of a page on its way to the results, in order."""

    KNOWN = "known"
    ALLOWED = "allowed"
    FETCHED = "fetched"
    ARTICLE = "article"
    INDEXED = "indexed"
    FOUND = "found"


class PageCheckState(StrEnum):
    """Whether a page has passed a step. `NOT_REACHED`: another step stops the page."""

    PASSED = "passed"
    PENDING = "pending"
    FAILED = "failed"
    NOT_REACHED = "not_reached"


class PageCause(StrEnum):
    """Why a page has not passed a step. Causes that a stage records have the value of its `Reason`."""

    # known
    NO_LINK = "no_link"
    NOFOLLOW = "nofollow"
    LINK_NOT_FOLLOWED = "link_not_followed"
    # allowed
    OTHER_HOST = "other_host"
    OTHER_PATH = "other_path"
    URL_TOO_LONG = "url_too_long"
    UNSUPPORTED_EXTENSION = "not_text"
    TOO_DEEP = "too_deep"
    CRAWLER_TRAP = "trap"
    ROBOTS_FORBIDDEN = "robots_forbidden"
    ROBOTS_UNAVAILABLE = "robots_unavailable"
    PRIVATE_ADDRESS = "inside_address"
    TAKEN_DOWN = "taken_down"
    SITE_PAUSED = "site_paused"
    # fetched
    STOPPED = "stopped"
    NOT_VISITED = "not_visited"
    BACKLOG = "backlog"
    OFF_TOPIC = "off_topic"
    NOINDEX = "noindex"
    EXPIRED = "expired"
    DELETED = "deleted"
    SAME_CONTENT = "same_content"
    REDIRECTED = "duplicate"
    REDIRECTED_OUT_OF_SCOPE = "redirected_off_scope"
    TOO_MANY_REDIRECTS = "too_many_redirects"
    UNREACHABLE = "unreachable"
    TIMED_OUT = "timed_out"
    PARSING_TIMED_OUT = "parsing_timed_out"
    TOO_LARGE = "too_large"
    HTTP_ERROR = "http_error"
    NEEDS_LOGIN = "needs_login"
    BLOCKED = "blocked"
    GONE = "gone"
    NOT_HTML = "not_html"
    EMPTY_BODY = "empty"
    MALFORMED_RESPONSE = "bad_response"
    # article
    NOT_EXTRACTED = "not_extracted"
    LIST_PAGE = "list_page"
    NO_BODY = "no_body"
    COPYRIGHT_ONLY = "copyright_only"
    CONTINUATION = "continuation"
    ALTERNATE_VERSION = "double"
    WARC_RECORD_LOST = "lost_page"
    NEEDS_JAVASCRIPT = "needs_scripts"
    PASSWORD_PROTECTED = "encrypted"  # noqa: S105 (the name of a reason, no secret)
    NO_TEXT_LAYER = "no_text_layer"
    GARBLED_TEXT = "garbled_text"
    UNDECODABLE = "undecodable"
    UNPARSABLE = "unparsable"
    # indexed
    NOT_INDEXED = "not_indexed"
    INDEX_NOT_CHECKED = "index_not_checked"
    DOCUMENT_LOST = "document_lost"
    REJECTED_BY_SOLR = "refused_by_solr"
    # found
    COPY = "copy"
    FILTERED = "filtered"
    NO_MATCH = "no_match"
    RANKED_LOW = "ranked_low"
    # any stage
    UNEXPECTED_ERROR = "failed"


class PageRemedy(StrEnum):
    """What an operator can do about a page with one click."""

    ADD_SITE = "add_site"
    RESUME_SITE = "resume_site"
    ADD_URL = "add_url"
    CRAWL_AGAIN = "crawl_again"


@dataclass(frozen=True)
class PageCheck:
    """One step of a page on its way to the results.

    Attributes:
        name: The step.
        state: Whether the page has passed it.
        reason: Reason of the recorded outcome; None if nothing is recorded.
        detail: Detail of the recorded outcome, or "".
        at: Time of the recorded outcome in epoch seconds.
        cause: Why the page has not passed the step; None if it has.
        values: Placeholders of the message of `cause`.
        related_url: URL of another page that explains the cause: a redirect target, the better copy; or "".
        remedies: What an operator can do about it.
    """

    name: PageCheckName
    state: PageCheckState
    reason: Reason | None = None
    detail: str = ""
    at: float | None = None
    cause: PageCause | None = None
    values: Mapping[str, object] = field(default_factory=dict)
    related_url: str = ""
    remedies: tuple[PageRemedy, ...] = ()

    def remedy_url(self, page_url: str) -> str:
        """Return the URL that the remedies apply to: `page_url`, or the target of its redirect."""
        return self.related_url if self.cause is PageCause.REDIRECTED_OUT_OF_SCOPE else page_url

    @property
    def is_stop(self) -> bool:
        """True for the step that the page has not passed."""
        return self.state in (PageCheckState.PENDING, PageCheckState.FAILED)


@dataclass(frozen=True)
class PageDiagnosis:
    """Why a page is or is not among the results.

    Attributes:
        url: The canonical URL.
        checks: All steps. At most one is a stop (`PageCheck.is_stop`).
        is_known: The store knows the URL.
        due_at: Time of the next visit in epoch seconds, 0 if it has not been visited; None if none is planned.
        doc_id: ID of its document in the index, or "".
        takedown: Who took the page down, and why; None if it is not taken down.
    """

    url: str
    checks: Sequence[PageCheck]
    is_known: bool = True
    due_at: float | None = None
    doc_id: str = ""
    takedown: Takedown | None = None

    @property
    def stop(self) -> PageCheck | None:
        """The step that the page has not passed; None if it is among the results."""
        return next((check for check in self.checks if check.is_stop), None)
