"""The settings of a crawl, checked and parsed: once a run, for all that it does."""

from dataclasses import dataclass, fields

from crawler.http.documents import document_rules
from crawler.http.ip_policy import InsideHosts
from crawler.http.site_requests import site_requests
from crawler.robots.cache import product_token
from crawler.schedule.crawl_window import quiet_hours
from crawler.schedule.queues import QUEUE_POLICIES, QueueOf, sharded
from crawler.schedule.revisit import RevisitPolicy, policy_of
from crawler.settings import FOCUSED, CrawlSettings, broken_bound, strategy_of
from crawler.urls.canonical import Scope, UrlRules, canonical, host_and_port, host_of, refuse, scope_of
from docstore.errors import SettingsError
from docstore.model import Reason


@dataclass(frozen=True)
class CrawlPlan:
    """All that a run goes by. Made by `plan_of`; can be pickled, so that other processes take it as it is."""

    seeds: tuple[str, ...]  # canonical URLs
    rules: UrlRules  # what a URL must keep to
    queues: str  # names how URLs are spread over queues
    queue_of: QueueOf
    strategy: str  # a name, never "auto"
    revisit: RevisitPolicy  # when a page is due again
    seconds: float  # length of the run
    max_pages: int  # fetched in the run; 0: no limit
    quiet_hours: str  # without requests, as the operator wrote them
    quiet: tuple[int, int] | None  # the same as minutes of the day
    threads: int  # pages that one process fetches at the same time
    processes: int  # that share the hosts
    delay: float  # this one and the next four are the arguments of `HostThrottle`
    per_host: int
    delay_factor: float
    per_ip: int
    speed_up: float
    max_redirects: int  # in a row
    agent: str  # product token, by which a group of robots.txt is chosen
    contact: str  # how sites reach the operator
    inside: InsideHosts  # what may be asked on private networks
    rendered: tuple[Scope, ...]  # sites whose pages a browser shows before they are read
    sitemaps: bool  # are sites asked for sitemaps and feeds?
    seen_filter: str  # name of the Bloom filter before the exact seen test


_AS_SET = (
    *("max_pages", "quiet_hours", "threads", "processes", "delay", "per_host", "delay_factor", "per_ip", "speed_up"),
    *("max_redirects", "contact", "sitemaps", "seen_filter"),
)
_COMPLAINTS = {
    Reason.OFF_SCOPE: "lies outside its own scope; add its host to crawl.scope or leave the seed out",
    Reason.NOT_TEXT: "is not a page: its URL ends like a picture, an archive or another file",
    Reason.TOO_LONG: "is too long",
}


def plan_of(settings: CrawlSettings) -> CrawlPlan:
    """The plan that the settings describe. Raises SettingsError naming the setting that cannot be followed."""
    _check_values(settings)
    strategy, quiet = _strategy(settings), _quiet(settings)
    site_requests(settings)  # sent by the fetcher, which is opened before there is a plan
    rendered, inside = _rendered(settings), InsideHosts.of(settings.inside_hosts)
    seeds, rules = _seeds_and_rules(settings)
    queues, queue_of = _queues(settings, strategy)
    return CrawlPlan(
        seeds=seeds,
        rules=rules,
        queues=queues,
        queue_of=queue_of,
        strategy=strategy,
        revisit=policy_of(settings),
        seconds=settings.minutes * 60,
        quiet=quiet,
        agent=product_token(settings.user_agent),
        inside=inside,
        rendered=rendered,
        **{name: getattr(settings, name) for name in _AS_SET},
    )


def check_contact(plan: CrawlPlan) -> None:
    """Raise SettingsError where the crawl would ask sites of other people without saying who is asking."""
    if plan.contact:
        return
    for host in dict.fromkeys(host_of(seed) for seed in plan.seeds):
        name, port = host_and_port(host)
        if not plan.inside.has_name(name, port) and not _is_number(name):
            raise SettingsError(
                f"crawl.contact is empty: name a URL or a page where {host} can reach you before you crawl it"
            )


def _check_values(settings: CrawlSettings) -> None:
    for one in fields(settings):
        value, names = getattr(settings, one.name), one.metadata.get("names")
        if isinstance(value, int | float) and not isinstance(value, bool):
            if bound := broken_bound(value, one.metadata):
                raise SettingsError(f"crawl.{one.name} must be {bound}, not {value}")
        elif names and value not in names:
            raise SettingsError(f"crawl.{one.name} must be one of {', '.join(names)}, not {value!r}")
    if settings.revisit_shortest > settings.revisit_longest:
        raise SettingsError("crawl.revisit_shortest must not be more than crawl.revisit_longest")
    if not settings.user_agent.isascii() or not settings.user_agent.isprintable() or not settings.user_agent.strip():
        raise SettingsError("crawl.user_agent must be a product name in printable ASCII")
    if not settings.contact.isascii() or not settings.contact.isprintable():
        raise SettingsError("crawl.contact must be printable ASCII")


def _strategy(settings: CrawlSettings) -> str:
    strategy = strategy_of(settings)
    if strategy in FOCUSED and settings.processes > 1:
        raise SettingsError("crawl.processes must be 1 where crawl.topic is set: one process learns what is relevant")
    return strategy


def _quiet(settings: CrawlSettings) -> tuple[int, int] | None:
    try:
        return quiet_hours(settings.quiet_hours)
    except ValueError:
        raise SettingsError(f"crawl.quiet_hours must be like 08:00-18:30, not {settings.quiet_hours!r}") from None


def _rendered(settings: CrawlSettings) -> tuple[Scope, ...]:
    found = [scope_of(text) for text in settings.rendered]
    for text, scope in zip(settings.rendered, found, strict=True):
        if scope is None or scope.prefix != "/":
            raise SettingsError(f"crawl.rendered: {text[:200]!r} is not a host, nor *.host")
    return tuple(scope for scope in found if scope is not None)


def _seeds_and_rules(settings: CrawlSettings) -> tuple[tuple[str, ...], UrlRules]:
    seeds = tuple(dict.fromkeys(_seed(text) for text in settings.seeds))
    if not seeds:
        raise SettingsError("crawl.seeds is empty: name at least one URL to begin at")
    rules = UrlRules(_scopes(settings, seeds), settings.depth, skipped=document_rules(settings).skipped)
    for seed in seeds:
        reason = refuse(seed, rules)
        if reason is not None:
            raise SettingsError(f"crawl.seeds: {seed} {_COMPLAINTS.get(reason, reason)}")
    return seeds, rules


def _queues(settings: CrawlSettings, strategy: str) -> tuple[str, QueueOf]:
    # The best URL of a host comes first only where all URLs of the host are in one queue.
    policy = "host" if strategy in FOCUSED else settings.queue_policy
    name = "host" if policy == "host" else f"{policy}/{settings.queues}"
    queue_of = QUEUE_POLICIES[policy](settings.queues)
    if settings.processes > 1:
        return f"{name}/{settings.processes}", sharded(queue_of, settings.processes)
    return name, queue_of


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
