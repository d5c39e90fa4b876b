"""The setup of a new vertical: checks of its sites, samples, and the settings, account and run at the end."""

import logging
import os
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from crawler.crawl_plan import build_crawl_plan, check_addresses, is_example_contact
from crawler.settings import RENDER_AUTOMATICALLY, CrawlSettings, is_renderer_installed
from crawler.site import Sites, url_host
from crawler.urls.canonical import canonicalize_url, host_of
from docstore.accounts import validate_account_name
from docstore.store import Store
from domain.account import Account, Role
from domain.errors import AccountError, SettingsError
from domain.outcome import Reason
from domain.site_check import CheckState, SiteCheck
from locks.private_files import open_private
from pipeline.engine import open_store
from pipeline.runs.timetable import check_start_times
from pipeline.settings import Settings
from pipeline.settings_source import SettingsSource
from pipeline.settings_template import toml_value
from pipeline.site_admin.run_control import START_ACTION, start_run
from pipeline.site_admin.sample_pages import load_sample_pages
from pipeline.site_admin.setup_state import STATE_FILE, load_state, save_state
from pipeline.site_admin.site_check import MAX_PARALLEL_CHECKS, REFUSAL_ADVICE, check_site, check_sites, describe_check
from pipeline.site_tables import parse_start_url
from search_ui.settings import format_address
from search_ui.setup.interfaces import SamplePage, SetupResult, SetupState

log = logging.getLogger(__name__)

LOCAL_HOSTS = ("127.0.0.1", "localhost", "::1", "0.0.0.0", "::", "")  # noqa: S104 (recognized, not bound)


class FolderSetup:
    """Implements `search_ui.setup.interfaces.SetupBackend` for a folder without a vertical.

    Args:
        settings: Defaults with the overrides of this call; their folder is that of the new vertical.
        config_file: The settings file to write.
        starts_run: `finish` starts the first run; otherwise the caller does.
    """

    def __init__(self, settings: Settings, config_file: Path, starts_run: bool = True) -> None:
        self._settings = settings
        self._starts_run = starts_run
        self._config_file = config_file
        self._state_file = settings.data_dir / STATE_FILE
        self._is_finished = False
        self._lock = threading.RLock()
        self._check_slots = threading.Semaphore(MAX_PARALLEL_CHECKS)
        self._state, self.cookie_digest = load_state(self._state_file)
        self._start_checks()

    def state(self) -> SetupState:
        with self._lock:
            return self._state

    def save_cookie_digest(self, digest: str) -> None:
        """Save the digest of the browser's cookie."""
        with self._lock:
            self.cookie_digest = digest
            self._save(self._state)

    def is_valid_account_name(self, name: str) -> bool:
        try:
            validate_account_name(name)
        except AccountError:
            return False
        return True

    def save_account(self, name: str, password_hash: str) -> None:
        self._change(lambda state: replace(state, account_name=name, password_hash=password_hash))

    def check_sites(self, lines: Sequence[str]) -> list[str]:
        urls = [canonicalize_url(line if "://" in line else f"http://{line}") for line in lines]
        rejected_lines = [line for line, url in zip(lines, urls, strict=True) if isinstance(url, Reason)]
        if rejected_lines:
            return rejected_lines

        def with_sites(state: SetupState) -> SetupState:
            checks = {site.url: site for site in state.sites if site.is_usable or site.state is not CheckState.DONE}
            sites = tuple(checks.get(str(url), SiteCheck(str(url))) for url in dict.fromkeys(urls))
            if sites == state.sites:
                return state
            return replace(state, sites=sites, samples=(), samples_state=CheckState.PENDING)

        self._change(with_sites)
        self._start_checks()
        return []

    def accept_site(self, url: str, is_own_network: bool) -> None:
        def with_site(state: SetupState) -> SetupState:
            hosts, sites = list(state.inside_hosts), {site.url: site for site in state.sites}
            if url in sites and is_own_network:
                hosts, sites[url] = [*hosts, host_of(sites[url].start_url)], SiteCheck(url)
            elif url in sites:
                sites[url] = replace(sites[url], is_accepted=True)
            return replace(state, sites=tuple(sites.values()), inside_hosts=tuple(dict.fromkeys(hosts)))

        self._change(with_site)
        self._start_checks()

    def load_samples(self) -> None:
        with self._lock:
            if self._state.samples_state is not CheckState.PENDING:
                return
            self._change(lambda state: replace(state, samples_state=CheckState.ACTIVE))
            sites = self._state.sites
        threading.Thread(target=self._load_samples, args=(sites,), name="samples", daemon=True).start()

    def answer_samples(self, answers: Sequence[str]) -> None:
        def with_answers(state: SetupState) -> SetupState:
            pairs = zip(state.samples, [*answers, *("",) * len(state.samples)], strict=False)
            return replace(state, samples=tuple(replace(sample, answer=answer) for sample, answer in pairs))

        self._change(with_answers)

    def details_problem(self, contact: str, daily_at: str, quiet_hours: str) -> str:
        if not contact.isascii() or not contact.isprintable():
            return "contact_not_ascii"
        if contact and is_example_contact(contact):
            return "contact_example"
        settings = self._settings_with_hosts()
        try:
            check_contact(settings.crawl, self._seeds(), contact)
        except SettingsError:
            return "contact_invalid" if contact else "contact_missing"
        crawl, schedule = replace(settings.crawl, quiet_hours=quiet_hours), replace(settings.schedule, at=daily_at)
        try:
            check_start_times(replace(settings, crawl=crawl, schedule=schedule))
        except SettingsError:
            return "quiet_start"
        return ""

    def _settings_with_hosts(self) -> Settings:
        """Return the settings with the hosts that the person has allowed, and rendering as the file will have it."""
        hosts = (*self._settings.crawl.inside_hosts, *self._state.inside_hosts)
        crawl = replace(self._settings.crawl, inside_hosts=hosts, rendered=RENDER_AUTOMATICALLY)
        return replace(self._settings, crawl=crawl)

    def save_details(self, title: str, contact: str, daily_at: str, quiet_from: str, quiet_to: str) -> None:
        self._change(
            lambda state: replace(
                state,
                title=title,
                contact=contact,
                daily_at=daily_at,
                quiet_from=quiet_from,
                quiet_to=quiet_to,
                are_details_complete=True,
            )
        )

    def settings_text(self) -> str:
        inside_hosts = self._settings_with_hosts().crawl.inside_hosts
        today = time.strftime("%Y-%m-%d")
        return render_settings(self.state(), self._seeds(), inside_hosts, is_renderer_installed(), today)

    def finish(self) -> SetupResult:
        """Create the account, write the settings file and start the first run.

        Raises PlumblineError. What was done before the error stays, and the next call continues. If the program ends
        between two steps, the same command continues here, or starts the site without this run.
        """
        with self._lock:
            with open_store(self._settings) as store:
                account = ensure_account(store, self._state)
                write_new_file(self._config_file, self.settings_text())
                if self._starts_run:
                    flags = self._settings.source.flags if self._settings.source else {}
                    start_run(SettingsSource(self._config_file, flags), self._settings.data_dir)
                store.operations.record(account.name, START_ACTION, "")
            self._state_file.unlink(missing_ok=True)
            self._is_finished = True
        host, port = self._settings.search.host, self._settings.search.port
        return SetupResult(account, "" if host in LOCAL_HOSTS else f"http://{format_address(host, port)}")

    def _seeds(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(site.seed_url for site in self.state().usable_sites))

    def _change(self, change: Callable[[SetupState], SetupState]) -> None:
        with self._lock:
            self._save(change(self._state))

    def _save(self, state: SetupState) -> None:
        self._state = state
        if not self._is_finished:  # a check can outlast the setup
            save_state(self._state_file, state, self.cookie_digest)

    def _start_checks(self) -> None:
        """Start a thread for each pending site."""
        with self._lock:
            pending_urls = [site.url for site in self._state.sites if site.state is CheckState.PENDING]
            for url in pending_urls:
                self._store_check(SiteCheck(url, CheckState.ACTIVE))
                threading.Thread(target=self._check, args=(url,), name="site-check", daemon=True).start()

    def _check(self, url: str) -> None:
        with self._check_slots:
            self._store_check(check_site(url, self._settings_with_hosts(), self._store_check))

    def _store_check(self, check: SiteCheck) -> None:
        """Replace the check of a site, unless the site was removed."""
        self._change(
            lambda state: replace(state, sites=tuple(check if site.url == check.url else site for site in state.sites))
        )

    def _load_samples(self, sites: tuple[SiteCheck, ...]) -> None:
        """Load the samples of the usable sites. If the sites change meanwhile, their samples are loaded instead."""

        def change(update: Callable[[SetupState], SetupState]) -> None:
            self._change(lambda state: update(state) if state.sites is sites else state)

        def add(sample: SamplePage) -> None:
            change(lambda state: replace(state, samples=(*state.samples, sample)))

        settings, usable_sites = self._settings_with_hosts(), [site for site in sites if site.is_usable]
        try:
            for sample in load_sample_pages(usable_sites, settings.crawl, settings.extract):
                add(sample)
        except Exception:
            log.exception("sample pages failed")
        change(lambda state: replace(state, samples_state=CheckState.DONE))


def check_contact(settings: CrawlSettings, seeds: tuple[str, ...], contact: str) -> None:
    """Raise SettingsError if no crawl with these settings may start at `seeds` with this contact."""
    check_addresses(build_crawl_plan(replace(settings, sites=Sites().with_urls(seeds), contact=contact, topic="")))


def ensure_account(store: Store, state: SetupState) -> Account:
    """Create the first account, or return it if an earlier call created it. Raises AccountError."""
    account = store.accounts.find(state.account_name)
    if account is None:
        return store.accounts.create(state.account_name, state.password_hash, [Role.OPERATOR])
    if account.password_hash != state.password_hash:
        raise AccountError("An account named {name} already exists. Choose another name.", name=account.name)
    return account


def render_settings(
    state: SetupState, seeds: Sequence[str], inside_hosts: Sequence[str], can_render: bool, today: str
) -> str:
    """Render the settings file: only what differs from the defaults. Pure.

    Args:
        state: The complete state of the setup.
        seeds: URLs where the crawl begins.
        inside_hosts: Hosts on private networks that may be fetched.
        can_render: Pages can be rendered in a browser.
        today: Date that the first line states.
    """
    urls_by_host: dict[str, list[str]] = {}
    for seed in seeds:
        urls_by_host.setdefault(url_host(seed), []).append(seed)
    is_rendered = can_render and any(site.needs_scripts for site in state.usable_sites)
    quiet_hours = f"{state.quiet_from}-{state.quiet_to}" if state.quiet_from else ""
    crawl_values = [
        ("# Sent with every request, so that sites can reach you.\n", "contact", state.contact),
        ("# No requests at these hours (local time).\n", "quiet_hours", quiet_hours),
        ("# Pages that need JavaScript are rendered in a browser.\n", "rendered", RENDER_AUTOMATICALLY * is_rendered),
        ("", "inside_hosts", list(inside_hosts)),
    ]
    crawl_lines = [f"{comment}{key} = {toml_value(value)}" for comment, key, value in crawl_values if value]
    lines = [
        f"# Written by the setup on {today}. Edit it as you like.",
        "# `plumb init FILE` writes a file with all settings and their defaults.",
        "",
        "[vertical]",
        f"name = {toml_value(state.title)}",
        "",
        "[crawl]",
        *crawl_lines,
        "",
        "[schedule]",
        "# Local time of the daily run; `plumb up` or `plumb schedule` must be running.",
        f"at = {toml_value(state.daily_at)}",
        "",
        "# The crawl begins at these pages and stays on their hosts.",
        *(line for urls in urls_by_host.values() for line in ("[[sites]]", f"urls = {toml_value(urls)}", "")),
    ]
    return "\n".join(lines)


def set_up_sites(
    urls: Sequence[str],
    contact: str,
    settings: Settings,
    config_file: Path,
    report: Callable[[str], None],
    is_forced: bool = False,
    is_own_network: bool = False,
) -> None:
    """Check sites and write a settings file for them, as the setup pages do.

    Args:
        urls: Start URLs.
        contact: Sent with every request, so that the sites can reach the sender.
        settings: Defaults with the overrides of this call.
        config_file: The file to write.
        report: Receives one line about each site.
        is_forced: Write sites with problems as well.
        is_own_network: Allow their hosts on private networks.

    Raises SettingsError if the contact, a URL or a site cannot be used, or the file exists. Then no file is written.
    """
    if config_file.exists():
        raise SettingsError(f"{config_file} already exists and was not changed: name another file with -c")
    urls, checks = list(dict.fromkeys(map(parse_start_url, urls))), []
    inside_hosts = (*settings.crawl.inside_hosts, *(map(host_of, urls) if is_own_network else ()))
    crawl = replace(settings.crawl, contact=contact, inside_hosts=inside_hosts, rendered=RENDER_AUTOMATICALLY)
    check_contact(crawl, tuple(urls), contact)
    for check in check_sites(urls, replace(settings, crawl=crawl)):
        if check.problems and not is_forced:
            raise SettingsError(f"{describe_check(check)} {REFUSAL_ADVICE.capitalize()}")
        report(describe_check(check))
        checks.append(replace(check, is_accepted=True))
    state = SetupState(sites=tuple(checks), title=host_of(checks[0].start_url), contact=contact)
    start_urls = list(dict.fromkeys(check.seed_url for check in checks))
    today = time.strftime("%Y-%m-%d")
    write_new_file(config_file, render_settings(state, start_urls, inside_hosts, is_renderer_installed(), today))


def write_new_file(path: Path, text: str) -> None:
    """Write a file as a whole, unless it has this text already. Raises SettingsError if it has another text."""
    new_file = path.with_name(f"{path.name}.new")
    try:
        new_file.unlink(missing_ok=True)
        with open(new_file, "xb", opener=open_private) as file:
            file.write(text.encode())
        os.link(new_file, path)  # fails if the file exists
    except FileExistsError:
        if path.read_text(encoding="utf-8") != text:
            raise SettingsError("{name} already exists and was not changed", name=path.name) from None
    except OSError as error:
        raise SettingsError(f"cannot write {path}: {error.strerror}") from error
    finally:
        new_file.unlink(missing_ok=True)
