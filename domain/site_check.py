"""The check of a site before its first crawl: what it found, and what speaks against the site."""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from math import ceil

from domain.message import Message
from domain.outcome import Outcome, Reason

LOGIN_ADVICE = Message(
    "The site needs a login. Add it nevertheless, then enter the login under “Sites”, the site, “Login”."
)
ADVICE_BY_PROBLEM = {
    Reason.ROBOTS_FORBIDDEN: Message(
        "The robots.txt of the site forbids the start page. Ask the site for permission, or enter another page."
    ),
    Reason.PRIVATE_ADDRESS: Message("The address is on a private network. Allow the host if the network is your own."),
    Reason.UNREACHABLE: Message("Check the spelling of the URL and open it in a browser."),
}


class CheckState(StrEnum):
    """Progress of the check of a site or a sample page."""

    PENDING = "pending"
    ACTIVE = "active"
    DONE = "done"


@dataclass(frozen=True)
class SiteCheck:
    """The check of a site before its first crawl.

    Attributes:
        url: The URL that the person entered, in canonical form.
        step: Step of an active check: `robots`, `page`, `sitemap` or `feed`.
        problem: Code of the reason why the site cannot be crawled, or "".
        detail: Detail of the problem, such as an HTTP status.
        start_url: URL after redirects.
        has_robots: The site has a robots.txt.
        crawl_delay: Seconds between two requests that robots.txt requests; 0 if it sets none.
        sitemap_count: Number of sitemap files that were read.
        feed_count: Number of feeds that the start page declares.
        charset: Encoding of the start page, or "".
        needs_scripts: The start page is empty without JavaScript.
        needs_login: The start page is a login page, or its status is 401 or 403.
        page_count: The site has at least this number of pages, by its sitemaps and the links of its start page; 0 if
            unknown.
        minutes_per_run: Minutes of a run that crawls these pages; 0 if unknown.
        run_count: Number of runs until all these pages are fetched; 0 if unknown.
        sample_urls: Pages that are probably articles.
        schedule_problem: Why the scheduled runs fetch nothing, or "".
        can_render: Pages that need JavaScript will be rendered.
        is_accepted: A person adds the site nevertheless.
    """

    url: str
    state: CheckState = CheckState.PENDING
    step: str = ""
    problem: str = ""
    detail: str = ""
    start_url: str = ""
    has_robots: bool = False
    crawl_delay: float = 0.0
    sitemap_count: int = 0
    feed_count: int = 0
    charset: str = ""
    needs_scripts: bool = False
    needs_login: bool = False
    page_count: int = 0
    minutes_per_run: float = 0.0
    run_count: int = 0
    sample_urls: tuple[str, ...] = ()
    schedule_problem: str = ""
    can_render: bool = False
    is_accepted: bool = False

    @property
    def is_usable(self) -> bool:
        """True if the site can be added."""
        return self.state is CheckState.DONE and (self.is_accepted or not self.problems)

    @property
    def seed_url(self) -> str:
        """The URL where the crawl begins: that after redirects, unless they lead to an error or a login."""
        return self.url if self.problem or self.needs_login else self.start_url

    @property
    def problems(self) -> tuple[str, ...]:
        """What speaks against the site, with what to do. It is added only if a person insists."""
        return tuple(self._iter_problems()) if self.state is CheckState.DONE else ()

    def _iter_problems(self) -> Iterator[str]:
        if self.schedule_problem:
            yield self.schedule_problem
        if self.problem:
            yield Outcome(Reason(self.problem), self.detail).summary
        if self.needs_login:
            yield LOGIN_ADVICE
        elif self.problem:
            default_advice = Message("Open the URL in a browser. Correct it, or remove the line.")
            yield ADVICE_BY_PROBLEM.get(Reason(self.problem), default_advice)
        elif self.needs_scripts and not self.can_render:
            yield Message("The start page is empty without JavaScript. Such pages need the extra “render”.")
        elif self.page_count == 1 and not self.needs_scripts:
            yield Message("The start page has no links, and there is no sitemap: no other page would be crawled.")

    @property
    def findings(self) -> tuple[str, ...]:
        """What the check found, in sentences."""
        return tuple(self._iter_findings())

    def _iter_findings(self) -> Iterator[str]:
        if self.start_url != self.url:
            yield Message("The URL redirects to {url}.", url=self.start_url)
        if self.problem:
            return
        if self.has_robots:
            yield Message("robots.txt allows the start page.")
        else:
            yield Message("No robots.txt: every page may be crawled.")
        if self.crawl_delay:
            seconds = f"{self.crawl_delay:g}"
            yield Message("robots.txt requests {seconds} seconds between two requests.", seconds=seconds)
        sitemaps, feeds, minutes = self.sitemap_count, self.feed_count, max(ceil(self.minutes_per_run), 1)
        yield Message("{n} sitemap.", "{n} sitemaps.", n=sitemaps) if sitemaps else Message("No sitemap.")
        yield Message("{n} feed.", "{n} feeds.", n=feeds) if feeds else Message("No feed.")
        if self.charset:
            yield Message("Encoding: {name}.", name=self.charset)
        yield Message("At least {n} page.", "At least {n} pages.", n=self.page_count)
        yield Message("About {n} minute per night.", "About {n} minutes per night.", n=minutes)
        nights = self.run_count
        if nights > 1:
            yield Message("The first crawl takes about {n} night.", "The first crawl takes about {n} nights.", n=nights)
