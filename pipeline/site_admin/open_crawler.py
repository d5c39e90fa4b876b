"""The YAML file of Elastic Open Crawler: its domains, seed URLs, sitemaps and crawl rules.

The first crawl rule that matches a path decides; a path without a matching rule is allowed. `crawl.scope` only has path
prefixes that are allowed. Rules that it cannot express become notes.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from crawler.sitemaps.origin_sitemaps import default_sitemap_urls
from crawler.urls.canonical import canonicalize_url, host_of, parse_scope, url_origin
from domain.errors import SettingsError
from domain.outcome import Reason
from pipeline.site_admin.site_list import MAX_SHOWN_CHARS, SiteList, parse_seed

DOMAIN_KEYS = frozenset({"url", "seed_urls", "sitemap_urls", "crawl_rules"})
SETTING_BY_KEY: Mapping[str, str] = {
    "auth": "crawl.headers",
    "auth.type": "crawl.headers",
    "http_proxy_host": "crawl.proxies",
    "loopback_allowed": "crawl.inside_hosts",
    "max_crawl_depth": "crawl.depth",
    "max_duration": "crawl.minutes",
    "schedule": "schedule.at",
    "user_agent": "crawl.user_agent",
}
"""Key of the file that is not imported -> setting with a similar meaning."""
ALL_PATHS = frozenset(
    {
        *(("regex", pattern) for pattern in (".*", "/.*", r"\/.*", "^/.*", "^.*")),
        *(("begins", pattern) for pattern in ("/", "*", "/*")),
        *(("contains", pattern) for pattern in ("/", "*", "")),
        ("ends", "*"),
    }
)
"""Type and pattern of rules that match every path."""
MAX_DEPTH = 30
MAX_URL_CHARS = 2000


@dataclass
class ConvertedRules:
    """The crawl rules of one domain as allowed path prefixes.

    Attributes:
        prefixes: Allowed path prefixes; meaningful if `is_restricted`.
        is_restricted: A rule denies all paths that no earlier rule allows.
        notes: Rules that are not expressed.
    """

    prefixes: list[str] = field(default_factory=list)
    is_restricted: bool = False
    notes: list[str] = field(default_factory=list)


def parse_open_crawler(content: bytes) -> SiteList:
    """Parse a configuration of Open Crawler. Raises SettingsError if it is not one."""
    document = load_yaml(content)
    domains = document.get("domains") if isinstance(document, Mapping) else None
    if not isinstance(domains, list):
        raise SettingsError("the file has no list `domains`: it is no configuration of Open Crawler")
    lists = [convert_domain(number, domain) for number, domain in enumerate(domains, 1)]
    notes = [note for site_list in lists for note in site_list.notes]
    notes += describe_other_keys("the file", (key for key in document if key != "domains"))
    return SiteList(
        tuple(dict.fromkeys(seed for site_list in lists for seed in site_list.seeds)),
        tuple(dict.fromkeys(scope for site_list in lists for scope in site_list.scopes)),
        tuple(notes),
    )


def load_yaml(content: bytes) -> Any:
    """Return the data of a YAML document.

    Raises SettingsError for invalid YAML, for deep nesting, and for aliases, which can multiply the data.
    """
    import yaml  # loaded for this format only

    depth = 0
    try:
        for event in yaml.parse(content, yaml.SafeLoader):
            depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
            if depth > MAX_DEPTH:
                raise SettingsError(f"the file has more than {MAX_DEPTH} nested values")
            if isinstance(event, yaml.AliasEvent):
                raise SettingsError("the file has YAML aliases (*name), which are not read: write the values out")
        return yaml.safe_load(content)
    except (yaml.YAMLError, ValueError) as error:
        reason = " ".join(str(error).split())[:MAX_SHOWN_CHARS]
        raise SettingsError(f"the file is not valid YAML: {reason}") from error


def convert_domain(number: int, domain: object) -> SiteList:
    """Convert one entry of `domains`. `number` counts from 1."""
    url = canonicalize_url(show(domain.get("url"))) if isinstance(domain, Mapping) else Reason.INVALID_URL
    if isinstance(url, Reason) or not isinstance(domain, Mapping):
        return SiteList((), (), (f"domain {number} has no http or https URL and is left out",))
    origin, host = url_origin(url), host_of(url)
    rules = convert_rules(origin, as_list(domain.get("crawl_rules")))
    notes = [*rules.notes, *describe_other_keys(origin, (key for key in domain if key not in DOMAIN_KEYS))]
    for sitemap_url in map(show, as_list(domain.get("sitemap_urls"))):
        is_default = sitemap_url in default_sitemap_urls(origin)
        condition = "unless robots.txt names others" if is_default else "only if robots.txt or a seed page names it"
        notes.append(f"{origin}: the sitemap {sitemap_url} is read {condition}")
    if rules.is_restricted and not rules.prefixes:
        return SiteList((), (), (*notes, f"{origin} is left out: none of the paths it allows can be expressed"))
    scopes = [f"{host}{prefix}" for prefix in rules.prefixes] if rules.is_restricted else [str(host)]
    seeds = []
    for text in map(show, as_list(domain.get("seed_urls")) or [url]):
        seed = parse_seed(text, url)
        if isinstance(seed, Reason):
            notes.append(f"{origin}: the seed URL {text!r} is not the URL of a page")
        elif not is_covered(seed, scopes):
            notes.append(f"{origin}: the seed URL {seed} is outside its domain or denied by its crawl rules")
        else:
            seeds.append(seed)
    if not seeds:
        seeds = [f"{origin}{prefix}" for prefix in (rules.prefixes if rules.is_restricted else ["/"])]
        notes.append(f"{origin}: no seed URL is left; the crawl begins at {', '.join(seeds)}")
    return SiteList(tuple(seeds), tuple(scopes), tuple(notes))


def convert_rules(origin: str, rules: Iterable[object]) -> ConvertedRules:
    """Convert the crawl rules of a domain, in their order."""
    result, denied_prefixes = ConvertedRules(), list[str]()
    unexpressed_allow_notes, denied_prefix_notes = list[str](), list[tuple[str, str]]()
    for number, rule in enumerate(rules, 1):
        values = rule if isinstance(rule, Mapping) else {}
        policy, kind, pattern = (show(values.get(key)) for key in ("policy", "type", "pattern"))
        label = f"{origin} rule {number} ({policy} {kind} {pattern})"
        if policy not in ("allow", "deny"):
            result.notes.append(f"{label}: unknown, not applied")
        elif (kind, pattern) in ALL_PATHS:
            result.is_restricted = policy == "deny"
            break
        elif kind != "begins" or "*" in pattern or not pattern.startswith("/"):
            reason = "crawl.scope has no patterns"
            if policy == "allow":
                unexpressed_allow_notes.append(f"{label}: {reason}; pages that only this rule allows are not crawled")
            else:
                result.notes.append(f"{label}: {reason}; these pages are crawled")
        elif pattern.startswith((*denied_prefixes, *result.prefixes)):
            continue  # an earlier rule decides
        elif policy == "allow":
            result.prefixes.append(pattern)
        else:
            denied_prefixes.append(pattern)
            denied_prefix_notes.append((pattern, f"{label}: crawl.scope has no exclusions; these pages are crawled"))
    if result.is_restricted:
        result.notes += unexpressed_allow_notes
        allowed = tuple(result.prefixes)
        denied_prefix_notes = [(prefix, note) for prefix, note in denied_prefix_notes if prefix.startswith(allowed)]
    result.notes += [note for _, note in denied_prefix_notes]
    return result


def is_covered(url: str, scopes: Iterable[str]) -> bool:
    """True if one of the scopes contains a canonical URL."""
    path = url[len(url_origin(url)) :]
    parsed_scopes = (scope for scope in map(parse_scope, scopes) if scope is not None)
    return any(scope.covers(host_of(url), path) for scope in parsed_scopes)


def describe_other_keys(owner: str, keys: Iterable[object]) -> list[str]:
    """Return a line about the keys that are not imported, or no line if there are none."""
    names = [f"{name} (see {SETTING_BY_KEY[name]})" if name in SETTING_BY_KEY else name for name in map(show, keys)]
    return [f"settings of {owner}: {', '.join(names)}"] if names else []


def as_list(value: object) -> list[object]:
    """Return a list as it is, None as an empty list, and another value as a list with this value."""
    return value if isinstance(value, list) else [] if value is None else [value]


def show(value: object) -> str:
    """Return a scalar as text, for messages and comparisons; a list or mapping as the name of its type."""
    return type(value).__name__ if isinstance(value, list | Mapping) else str(value or "").strip()[:MAX_URL_CHARS]
