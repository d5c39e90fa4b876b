"""The checked and parsed settings of a crawl, built once per run."""

from dataclasses import dataclass
from urllib.parse import urlsplit

from crawler.http.document_types import parse_document_rules
from crawler.http.ip_policy import AllowedPrivateHosts, is_public_ip
from crawler.robots.robots_txt import product_token
from crawler.schedule.queues import QUEUE_POLICIES, QueueOf
from crawler.schedule.quiet_hours import QuietHours, parse_quiet_hours
from crawler.schedule.revisit_policy import RevisitPolicy, build_revisit_policy
from crawler.settings import (
    FOCUSED_STRATEGIES,
    RENDER_AUTOMATICALLY,
    CrawlSettings,
    can_render_automatically,
    resolve_strategy,
)
from crawler.urls.canonical import Scope, UrlRules, host_of, rejection_reason, split_host_port
from domain.errors import SettingsError
from domain.message import Message
from domain.outcome import Reason


@dataclass(frozen=True)
class CrawlPlan:
    """All parameters of a run, built by `build_crawl_plan`. Can be pickled for other processes."""

    settings: CrawlSettings  # checked
    seeds: tuple[str, ...]  # canonical URLs
    url_rules: UrlRules  # conditions for fetching a URL
    file_extensions: frozenset[str]  # of URLs that are fetched only if their site shows that they are pages
    queue_policy_name: str  # identifies how URLs are assigned to queues
    queue_of: QueueOf
    strategy: str  # resolved name, never "auto"
    revisit_policy: RevisitPolicy  # when a page is due again
    max_seconds: float  # length of the run
    quiet_minutes: QuietHours | None  # quiet hours of all sites
    product_token: str  # name that selects the group in robots.txt
    allowed_private_hosts: AllowedPrivateHosts  # hosts on private networks that may be fetched
    rendered_sites: tuple[Scope, ...]  # sites that are rendered in a browser before parsing


_SEED_ERROR_BY_REASON = {
    Reason.OUT_OF_SCOPE: Message("is outside the scope: add its host to the scope of its site, or remove the URL"),
    Reason.UNSUPPORTED_EXTENSION: Message("is not a page but a file for programs"),
    Reason.URL_TOO_LONG: Message("is too long"),
}


def build_crawl_plan(settings: CrawlSettings) -> CrawlPlan:
    """Check the settings and build the plan. Raises SettingsError that names the invalid setting."""
    if not settings.user_agent.isascii() or not settings.user_agent.isprintable() or not settings.user_agent.strip():
        raise SettingsError("{path} must be a product name in printable ASCII", path="crawl.user_agent")
    if not settings.contact.isascii() or not settings.contact.isprintable():
        raise SettingsError("{path} must be printable ASCII", path="crawl.contact")
    strategy, quiet = resolve_strategy(settings), parse_quiet_setting(settings)
    inside, rules = AllowedPrivateHosts.from_settings(settings.inside_hosts), _url_rules(settings)
    # Best-first order needs all URLs of a host in one queue.
    policy = "host" if strategy in FOCUSED_STRATEGIES else settings.queue_policy
    queues = "host" if policy == "host" else f"{policy}/{settings.queues}"
    queue_of = QUEUE_POLICIES[policy](settings.queues)
    return CrawlPlan(
        settings=settings,
        seeds=settings.sites.seeds,
        url_rules=rules,
        file_extensions=parse_document_rules(settings).skipped_extensions,
        queue_policy_name=queues,
        queue_of=queue_of,
        strategy=strategy,
        revisit_policy=build_revisit_policy(settings),
        max_seconds=settings.minutes * 60,
        quiet_minutes=quiet,
        product_token=product_token(settings.user_agent),
        allowed_private_hosts=inside,
        rendered_sites=rendered_sites(settings),
    )


def check_addresses(plan: CrawlPlan) -> None:
    """Raise SettingsError if a seed is an example, or on a public site while `crawl.contact` is empty or an example."""
    for seed in plan.seeds:
        if is_example_site(split_host_port(host_of(seed))[0]):
            raise SettingsError(f"the start URL {seed} is an example: write the URL of the site that you want to crawl")
    contact = plan.settings.contact
    if contact and not is_example_contact(contact):
        return
    problem = f"crawl.contact {contact} is an example" if contact else "crawl.contact is empty"
    for host in dict.fromkeys(host_of(seed) for seed in plan.seeds):
        name, port = split_host_port(host)
        is_private_ip = (":" in name or name.replace(".", "").isdigit()) and not is_public_ip(name.strip("[]"))
        if not plan.allowed_private_hosts.allows_host(name, port) and not is_private_ip:
            raise SettingsError(
                f"{problem}: write your own e-mail address or the URL of a page about your crawler, so "
                f"that {host} can reach you"
            )


def is_example_site(host: str) -> bool:
    """Return True for the sites of documentation (RFC 2606): example.com, www.example.org."""
    return host.lower().split(".")[-2:] in (["example", "com"], ["example", "net"], ["example", "org"])


def is_example_contact(contact: str) -> bool:
    """Return True if the contact is on a host of documentation (RFC 2606): me@example.org, https://www.example.com/."""
    host = (urlsplit(contact).hostname or "") if "://" in contact else contact.rpartition("@")[2]
    return "example" in host.lower().split(".")


def parse_quiet_setting(settings: CrawlSettings) -> QuietHours | None:
    """Return the quiet hours of all sites. Raises SettingsError."""
    try:
        return parse_quiet_hours(settings.quiet_hours)
    except ValueError:
        raise SettingsError(
            "{path} must be like 08:00-18:30, not “{value}”", path="crawl.quiet_hours", value=settings.quiet_hours
        ) from None


def rendered_sites(settings: CrawlSettings) -> tuple[Scope, ...]:
    """Return the sites that are rendered in a browser; with "auto", none if no renderer is installed."""
    if settings.rendered == RENDER_AUTOMATICALLY and not can_render_automatically(settings):
        return ()
    hosts = (site.host for site in settings.sites.records if site.render)
    return tuple(Scope(host.removeprefix("*."), includes_subdomains=host.startswith("*.")) for host in hosts)


def _url_rules(settings: CrawlSettings) -> UrlRules:
    """Return the conditions for fetching a URL. Raises SettingsError if they exclude a seed, or there is none."""
    if not settings.sites.seeds:
        raise SettingsError("No site has a start URL: add a site, or enter a start URL in its settings.")
    rules = UrlRules(settings.sites.scopes, settings.depth)
    for seed in settings.sites.seeds:
        reason = rejection_reason(seed, rules)
        if reason is not None:
            problem = _SEED_ERROR_BY_REASON.get(reason, str(reason))
            raise SettingsError("{url} {problem}.", url=seed, problem=problem)
    return rules
