"""Headers, cookies and proxies of one host, as lines of the crawl settings. Pure.

Their values may be secret. Nothing here returns them, except the lines for the settings file.
"""

from collections.abc import Mapping, Sequence

from crawler.settings import CrawlSettings
from crawler.urls.canonical import parse_scope
from search_ui.admin.interfaces.sites import SiteOption, SiteOptionKind

SETTING_BY_KIND: Mapping[SiteOptionKind, str] = {
    SiteOptionKind.HEADER: "headers",
    SiteOptionKind.COOKIE: "cookies",
    SiteOptionKind.PROXY: "proxies",
}
"""Setting of `crawl` by kind. Each line begins with a host."""


def names_host(line: str, host: str) -> bool:
    """True if a line of a setting begins with this host, with or without a path; `*.host` names other hosts."""
    scope = parse_scope(line.split()[0]) if line.strip() else None
    return scope is not None and scope.host == host and not scope.includes_subdomains


def list_options(crawl: CrawlSettings, host: str) -> list[SiteOption]:
    """Return the headers, cookies and proxies of a host."""
    return [
        parse_option(kind, line)
        for kind, setting in SETTING_BY_KIND.items()
        for line in getattr(crawl, setting)
        if names_host(line, host)
    ]


def parse_option(kind: SiteOptionKind, line: str) -> SiteOption:
    """Return what a line of a setting names, without its value."""
    value = line.strip().partition(" ")[2].strip()
    if kind is SiteOptionKind.HEADER:
        return SiteOption(kind, value.partition(":")[0])
    if kind is SiteOptionKind.COOKIE:
        return SiteOption(kind, ", ".join(part.partition("=")[0].strip() for part in value.split(";") if "=" in part))
    scheme, _, address = value.partition("://")
    return SiteOption(kind, f"{scheme}://{address.rpartition('@')[2]}")


def lines_with(lines: Sequence[str], host: str, kind: SiteOptionKind, text: str) -> list[str]:
    """Return the lines of a setting with a new one for a host, which replaces those that would contradict it."""
    new_line = f"{host} {text}"
    new_name = parse_option(kind, new_line).name.lower()
    return [
        *(
            line
            for line in lines
            if not names_host(line, host)
            or (kind is not SiteOptionKind.PROXY and parse_option(kind, line).name.lower() != new_name)
        ),
        new_line,
    ]


def lines_without(lines: Sequence[str], host: str, option: SiteOption) -> list[str]:
    """Return the lines of a setting without those of a host with this name."""
    return [line for line in lines if not names_host(line, host) or parse_option(option.kind, line) != option]
