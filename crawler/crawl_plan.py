"""The settings of a crawl, checked and made ready: seeds, rules, queues."""

from collections.abc import Mapping
from dataclasses import dataclass

from crawler.http.ip_policy import InsideHosts
from crawler.http.render import scopes_of
from crawler.http.site_requests import site_requests
from crawler.schedule.bloom import FILTERS
from crawler.schedule.crawl_window import quiet_hours
from crawler.schedule.queues import QUEUE_POLICIES, QueueOf, sharded
from crawler.settings import AUTO, FOCUSED, CrawlSettings, strategy_of
from crawler.strategies import STRATEGIES
from crawler.urls.canonical import Scope, UrlRules, canonical, host_and_port, host_of, refuse, scope_of
from docstore.errors import SettingsError
from docstore.model import Reason

_NONE_BELOW_ZERO = (
    *("depth", "max_pages", "delay", "delay_factor", "per_ip", "max_redirects", "hub_gap"),
    "revisit_shortest",
)
_AT_LEAST: Mapping[str, float] = {
    **dict.fromkeys(("threads", "processes", "queues", "per_host", "max_bytes", "speed_up"), 1),
    **dict.fromkeys(_NONE_BELOW_ZERO, 0),
}
_ABOVE_ZERO = ("minutes", "connect_timeout", "read_timeout", "total_timeout", "revisit_longest")


@dataclass(frozen=True)
class CrawlPlan:
    """Canonical seeds, the rules for URLs, and how they are spread over queues (`queues` names that)."""

    seeds: tuple[str, ...]
    rules: UrlRules
    queue_of: QueueOf
    queues: str


def plan_of(settings: CrawlSettings) -> CrawlPlan:
    """The plan that the settings describe. Raises SettingsError naming the setting that cannot be followed."""
    _check_numbers(settings)
    _check_names(settings)
    site_requests(settings)
    scopes_of(settings)
    InsideHosts.of(settings.inside_hosts)
    seeds = tuple(dict.fromkeys(_seed(text) for text in settings.seeds))
    if not seeds:
        raise SettingsError("crawl.seeds is empty: name at least one URL to begin at")
    rules = UrlRules(_scopes(settings, seeds), deepest=settings.depth)
    for seed in seeds:
        reason = refuse(seed, rules)
        if reason is not None:
            raise SettingsError(f"crawl.seeds: {seed} {_COMPLAINTS.get(reason, reason)}")
    # The best URL of a host comes first only where all URLs of the host are in one queue.
    policy = "host" if strategy_of(settings) in FOCUSED else settings.queue_policy
    name = "host" if policy == "host" else f"{policy}/{settings.queues}"
    queue_of = QUEUE_POLICIES[policy](settings.queues)
    if settings.processes > 1:
        name, queue_of = f"{name}/{settings.processes}", sharded(queue_of, settings.processes)
    return CrawlPlan(seeds, rules, queue_of, name)


_COMPLAINTS = {
    Reason.OFF_SCOPE: "lies outside its own scope; add its host to crawl.scope or leave the seed out",
    Reason.NOT_TEXT: "is not a page: its URL ends like a picture, an archive or another file",
    Reason.TOO_LONG: "is too long",
}


def check_contact(plan: CrawlPlan, settings: CrawlSettings) -> None:
    """Raise SettingsError where the crawl would ask sites of other people without saying who is asking."""
    if settings.contact:
        return
    inside = InsideHosts.of(settings.inside_hosts)
    for host in dict.fromkeys(host_of(seed) for seed in plan.seeds):
        name, port = host_and_port(host)
        if not inside.has_name(name, port) and not _is_number(name):
            raise SettingsError(
                f"crawl.contact is empty: name a URL or a page where {host} can reach you before you crawl it"
            )


def _is_number(name: str) -> bool:
    return ":" in name or name.replace(".", "").isdigit()


def _seed(text: str) -> str:
    url = canonical(text if "://" in text else f"http://{text}")
    if isinstance(url, Reason):
        raise SettingsError(f"crawl.seeds: {text[:200]!r} is not an http or https URL")
    return url


def _scopes(settings: CrawlSettings, seeds: tuple[str, ...]) -> tuple[Scope, ...]:
    if not settings.scope:
        hosts = [form for seed in seeds for form in _with_and_without_www(host_of(seed))]
        return tuple(Scope(host) for host in dict.fromkeys(hosts))
    return tuple(_scope(text) for text in settings.scope)


def _with_and_without_www(host: str) -> tuple[str, ...]:
    """The host and the same name with `www.` or without it: a site answers at one of them and redirects the other."""
    name, _ = host_and_port(host)
    if _is_number(name) or "." not in name:
        return (host,)
    return (host, host.removeprefix("www.") if host.startswith("www.") else f"www.{host}")


def _scope(text: str) -> Scope:
    scope = scope_of(text)
    if scope is None:
        raise SettingsError(f"crawl.scope: {text[:200]!r} is not a host, with a path prefix or not")
    return scope


def _check_numbers(settings: CrawlSettings) -> None:
    for name, least in _AT_LEAST.items():
        if not getattr(settings, name) >= least:
            raise SettingsError(f"crawl.{name} must be at least {least:g}, not {getattr(settings, name)}")
    for name in _ABOVE_ZERO:
        if not getattr(settings, name) > 0:
            raise SettingsError(f"crawl.{name} must be more than 0, not {getattr(settings, name)}")
    if settings.revisit_shortest > settings.revisit_longest:
        raise SettingsError("crawl.revisit_shortest must not be more than crawl.revisit_longest")


def _check_names(settings: CrawlSettings) -> None:
    choices = {
        "queue_policy": tuple(QUEUE_POLICIES),
        "strategy": (AUTO, *STRATEGIES, *FOCUSED),
        "incremental": ("revisit", "new_only"),
        "seen_filter": tuple(FILTERS),
    }
    for name, allowed in choices.items():
        if getattr(settings, name) not in allowed:
            raise SettingsError(f"crawl.{name} must be one of {', '.join(allowed)}, not {getattr(settings, name)!r}")
    if strategy_of(settings) in FOCUSED and settings.processes > 1:
        raise SettingsError("crawl.processes must be 1 where crawl.topic is set: one process learns what is relevant")
    if not settings.user_agent.isascii() or not settings.user_agent.isprintable() or not settings.user_agent.strip():
        raise SettingsError("crawl.user_agent must be a product name in printable ASCII")
    try:
        quiet_hours(settings.quiet_hours)
    except ValueError:
        raise SettingsError(f"crawl.quiet_hours must be like 08:00-18:30, not {settings.quiet_hours!r}") from None
    if not settings.contact.isascii() or not settings.contact.isprintable():
        raise SettingsError("crawl.contact must be printable ASCII")
