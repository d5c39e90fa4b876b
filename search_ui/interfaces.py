"""Interfaces that the search site needs besides Solr. `pipeline` provides the implementations."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

from domain.administration import Takedown
from domain.alert import Alert
from domain.concept import Concept
from domain.curation import CurationRule
from domain.errors import PlumblineError
from domain.follow import Follow, FollowCounts
from domain.review import TermQuery
from domain.rising_term import RisingTerm
from domain.run import Freshness, OutcomeSample, RunHistory, SiteArticles, SiteRun, SiteTotals
from domain.term import Definition, Lexicon, PublishedTermStates, Term
from text.segment import Segmenter


class OriginalError(PlumblineError):
    """A saved page cannot be shown. The text is a code: `lost`, `refused`, `busy`, `unreadable` or `not_found`."""


@dataclass(frozen=True)
class OriginalDocument:
    """The saved response that an article was extracted from.

    `fetched_at` is in epoch seconds, `format` is `html` or a name of domain/file_formats.py, `sha256` is the hex
    digest of the bytes. `url` is the URL after redirects, `host` the host[:port] of the article.
    """

    url: str
    fetched_at: float
    format: str
    sha256: str
    host: str = ""


@dataclass(frozen=True)
class OriginalStore:
    """Functions for saved pages and files, by the ids of their articles.

    Attributes:
        find: Returns the saved document of an article; None if there is none.
        find_ids: Returns the ids of those articles that have a saved document. At most 500 ids.
        sanitized_html: Returns the page without scripts and external content. Raises OriginalError.
        file_bytes: Returns the bytes of a file. Raises OriginalError.
    """

    find: Callable[[str], OriginalDocument | None]
    find_ids: Callable[[Collection[str]], Collection[str]]
    sanitized_html: Callable[[str], str]
    file_bytes: Callable[[str], bytes]


@dataclass(frozen=True)
class FollowTools:
    """Functions for followed searches.

    Attributes:
        can_mail: Returns True if this site can send mails to readers.
        allow_request: Returns True if an address and a network have not reached the limits of confirmation mails.
        send_mail: Sends a mail: address, subject, text. Raises PlumblineError.
        test_webhook: Sends a first message to a webhook. Raises PlumblineError.
        start: Saves a follow; only articles that are new from now on count.
        list_by_address: Returns the follows of an address.
        stop: Ends a follow of an address by its id, or all of them for ""; returns their number.
        counts: Returns the numbers of follows and waiting messages.
        list_problems: Returns follows to which nothing is delivered any more, up to a number.
    """

    can_mail: Callable[[], bool]
    allow_request: Callable[[str, str], bool]
    send_mail: Callable[[str, str, str], None]
    test_webhook: Callable[[str], None]
    start: Callable[[Follow], Follow]
    list_by_address: Callable[[str], Sequence[Follow]]
    stop: Callable[[str, str], int]
    counts: Callable[[], FollowCounts]
    list_problems: Callable[[int], Sequence[Follow]]


class AppliedLexicon(NamedTuple):
    """A lexicon version and the segmenter with its words."""

    lexicon: Lexicon
    segmenter: Segmenter


class SiteBackend(Protocol):
    """What the public pages need besides Solr. They change nothing."""

    def document_id(self, url: str) -> str:
        """Return the id that the document of a page has in the index, whether or not it is there; "" for no URL."""

    def find_takedown(self, doc_id: str) -> Takedown | None:
        """Return the takedown of the article with this document id, or None."""

    def curation_revision(self) -> object:
        """Return a value that changes with `curation_rules`."""

    def curation_rules(self) -> Sequence[CurationRule]:
        """Return the rules of editors, the oldest first."""

    def run_history(self) -> RunHistory:
        """Return the recent runs, newest first."""

    def applied_lexicon(self) -> AppliedLexicon:
        """Return the version that the indexed documents were segmented with, with its segmenter for queries."""

    def find_page(self, term_query: TermQuery) -> tuple[int, list[Term]]:
        """Return the number of terms that match the query, and the requested page of them."""

    def last_decision_id(self) -> int:
        """Return the id of the last review decision, or 0. It increases with every decision."""

    def published_term_states(self, version: int) -> PublishedTermStates:
        """Return which terms of a version are hidden from readers, and which are new."""

    def first_version(self, text: str) -> Lexicon | None:
        """Return the oldest version with a term, without its entries; None if no version has it."""

    def find_by_concept(self, concept_id: str) -> str | None:
        """Return the accepted term of a concept; None if there is none."""

    def find_concept(self, text: str) -> Concept | None:
        """Return the concept of an accepted term, without those of its synonyms; None for another text."""

    def list_related(self, term: str) -> list[str]:
        """Return the terms that reviewers accepted as related to a term, sorted."""

    def public_definitions(self, texts: Collection[str]) -> Mapping[str, Sequence[Definition]]:
        """Return the definitions of each of these terms that readers see, best first."""

    def defined_terms(self) -> dict[str, int]:
        """Return the terms with such a definition, with the number of articles that use each."""

    def definitions_revision(self) -> tuple[int, float]:
        """Return a value that changes when `defined_terms` can have changed without a review decision."""

    def rising_terms(self) -> Sequence[RisingTerm]:
        """Return the terms and candidates that rose in the latest run, the newest first."""

    def count_pending_documents(self) -> int:
        """Return the number of documents to index, or to reindex with a newer lexicon."""

    def may_have_thumbnail(self, article_url: str, picture_url: str) -> bool:
        """Return False if fetching the picture is forbidden or failed recently. No network access."""

    def thumbnail(self, article_url: str, picture_url: str) -> bytes | None:
        """Return the picture of an article as a small WebP; None if it is unavailable."""

    @property
    def originals(self) -> OriginalStore:
        """The saved pages and files."""

    @property
    def follows(self) -> FollowTools:
        """Functions for searches that readers follow."""

    def popular_queries(self, limit: int) -> list[str]:
        """Return queries with results that were used on several days, most frequent first."""


@dataclass(frozen=True)
class EmbeddingBacklog:
    """What semantic search does not cover yet.

    Attributes:
        article_count: Articles without a vector, which only keyword search finds.
        seconds: Estimated wall-clock time for the articles; None if unknown.
        uncovered_articles: Articles by language (ISO 639) that no model supports; they never get a vector.
    """

    article_count: int = 0
    seconds: float | None = None
    uncovered_articles: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Overview:
    """The state of the vertical.

    `published_version` is the newest lexicon version, `applied_version` the version in use by the index.
    `active_alerts` are the firing alerts. `candidate_count` terms wait for a decision. `login_page_counts` has the
    number of pages that need a login, by host.
    """

    freshness: Freshness
    published_version: int
    applied_version: int
    run_history: RunHistory
    active_alerts: Sequence[Alert] = ()
    embedding: EmbeddingBacklog = EmbeddingBacklog()
    candidate_count: int = 0
    login_page_counts: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class SiteReport:
    """A crawled site.

    `delay_seconds` is the crawl delay. `last_run` is the newest run that requested the site, `article_stats` its
    articles; None if there are none. `runs_until_done` is the estimated number of runs to clear the backlog; None if it
    is never cleared.
    """

    totals: SiteTotals
    delay_seconds: float
    last_run: SiteRun | None = None
    article_stats: SiteArticles | None = None
    runs_until_done: int | None = 0


@dataclass(frozen=True)
class SiteDetail:
    """A site with its runs, newest first, and samples of outcomes."""

    report: SiteReport
    runs: Sequence[SiteRun]
    samples: Sequence[OutcomeSample]
