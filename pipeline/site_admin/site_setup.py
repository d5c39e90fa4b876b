"""Write a short settings file for some sites after a check of each, as the setup pages do, without a browser."""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from math import ceil
from pathlib import Path

from crawler.settings import is_renderer_installed
from crawler.urls.canonical import canonicalize_url, host_of
from domain.errors import SettingsError
from domain.message import Message
from domain.outcome import Reason
from pipeline.settings import Settings
from pipeline.site_admin.setup_backend import check_contact, render_settings, write_new_file
from pipeline.site_admin.site_check import check_site
from search_ui.i18n import translate_code_to
from search_ui.setup.interfaces import SetupState, SiteCheck


def set_up_sites(
    urls: Sequence[str],
    contact: str,
    settings: Settings,
    config_file: Path,
    report: Callable[[str], None],
    sleep: Callable[[float], None] = time.sleep,
) -> None:
    """Check sites and write a settings file for them.

    Args:
        urls: Start URLs.
        contact: Sent with every request, so that the sites can reach the sender.
        settings: Defaults with the overrides of this call.
        config_file: The file to write.
        report: Receives one line about each site.
        sleep: Waits between two requests.

    Raises SettingsError if the contact, a URL or a site cannot be used, or the file exists. Then no file is written.
    """
    if config_file.exists():
        raise SettingsError(f"{config_file} already exists and was not changed: name another file with -c")
    seeds = [canonicalize_url(url) for url in urls]
    if invalid := next((url for url, seed in zip(urls, seeds, strict=True) if isinstance(seed, Reason)), ""):
        raise SettingsError(f"{invalid[:200]!r} is not an http or https URL")
    check_contact(settings.crawl, tuple(map(str, seeds)), contact)
    crawl, checks = replace(settings.crawl, contact=contact), []
    for seed in dict.fromkeys(map(str, seeds)):
        check = check_site(seed, crawl, settings.extract, lambda _: None, sleep)
        if not check.is_usable:
            raise SettingsError(f"{seed} cannot be crawled: {describe_problem(check)}")
        report(f"{check.start_url}: {' '.join(iter_findings(check))}")
        checks.append(check)
    state = SetupState(sites=tuple(checks), title=host_of(checks[0].start_url), contact=contact)
    start_urls = list(dict.fromkeys(check.start_url for check in checks))
    today = time.strftime("%Y-%m-%d")
    write_new_file(
        config_file, render_settings(state, start_urls, settings.crawl.inside_hosts, is_renderer_installed(), today)
    )


def describe_problem(check: SiteCheck) -> str:
    """Return why a site cannot be crawled, in English."""
    detail = f" ({check.detail})" if check.detail else ""
    return f"{translate_code_to('en', 'reason', check.problem)}{detail}"


def iter_findings(check: SiteCheck) -> Iterator[str]:
    """Yield the sentences of the setup pages about a usable site, in English."""
    yield translate_code_to("en", "setup_robots", check.robots)
    if check.crawl_delay:
        yield Message("robots.txt requests {seconds} seconds between two requests.", seconds=f"{check.crawl_delay:g}")
    sitemaps, feeds, minutes = check.sitemap_count, check.feed_count, max(ceil(check.minutes_per_run), 1)
    yield Message("{n} sitemap.", "{n} sitemaps.", n=sitemaps) if sitemaps else Message("No sitemap.")
    yield Message("{n} feed.", "{n} feeds.", n=feeds) if feeds else Message("No feed.")
    yield Message("At least {n} page.", "At least {n} pages.", n=check.page_count)
    yield Message("About {n} minute per night.", "About {n} minutes per night.", n=minutes)
    nights = check.run_count
    yield Message("The first crawl takes about {n} night.", "The first crawl takes about {n} nights.", n=nights)
    if check.needs_scripts:
        yield Message("The start page is empty without JavaScript. Such pages need the extra “render”.")
    if check.needs_login:
        yield Message("The start page looks like a sign-in form. Pages behind it are not crawled.")
