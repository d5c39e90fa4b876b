"""Checks of the environment of a vertical for `plumb doctor`: disk, versions, ports, Solr, clock, backups, seeds."""

import os
import shutil
import socket
import sqlite3
import stat
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, requires, version
from typing import Any
from urllib.parse import urlsplit

from domain.errors import PlumblineError, SettingsError
from indexer.class_data_sharing import JAVA_PATH
from pipeline.engine import active_stages
from pipeline.local_time import local_minute
from pipeline.maintenance.backup import find_known_backup
from pipeline.runs.timetable import SCHEDULE_COMMAND, check_start_times, next_planned_time
from pipeline.settings import Settings, has_credentials
from search_ui.settings import format_address
from solr_client.session import auth_headers, node_urls

MIN_FREE_BYTES = 2 * 1024**3  # for the pages of one run and a segment merge of Solr
CONNECT_TIMEOUT_SECONDS = 5.0
MAX_PROBED_SEEDS = 20
MAX_BACKUP_AGE_SECONDS = 7 * 86400.0
LOOPBACK_BY_WILDCARD = {"": "127.0.0.1", "0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104 (compared, not bound)
MIN_PLAUSIBLE_YEAR = 2024  # an earlier year means that the clock was never set


@dataclass(frozen=True)
class CheckResult:
    """Result of one check.

    Attributes:
        name: Name of the check.
        is_well: True if the check passed.
        text: State that the check found.
        advice: What to do if the check failed.
    """

    name: str
    is_well: bool
    text: str
    advice: str = ""


def run_checks(settings: Settings) -> Iterator[CheckResult]:
    """Run all checks; yields their results. Changes nothing and fetches no page.

    A check that raises an error is reported as failed.
    """
    for name, check in CHECKS.items():
        try:
            yield from check(settings)
        except (OSError, PlumblineError, sqlite3.Error) as error:
            yield CheckResult(name, False, " ".join(str(error).split()), "check that the file exists and is readable")


def check_disk(settings: Settings) -> Iterator[CheckResult]:
    """Check free space, free inodes and write access of the disk with the data folder."""
    folder = next(parent for parent in (settings.data_dir, *settings.data_dir.parents) if parent.exists())
    free = shutil.disk_usage(folder).free
    yield CheckResult(
        "disk", free >= MIN_FREE_BYTES, f"{free / 1e9:.1f} GB free at {folder}", "free some space, or move data_dir"
    )
    inodes = os.statvfs(folder)
    if inodes.f_files:
        share = inodes.f_favail / inodes.f_files
        yield CheckResult("inodes", share > 0.02, f"{share:.0%} free", "delete small files on this disk")
    can_write = os.access(folder, os.W_OK) and not inodes.f_flag & os.ST_RDONLY
    yield CheckResult(
        "writing",
        can_write,
        f"{folder} is {'' if can_write else 'not '}writable",
        f"change its owner, or mount its disk read-write: {folder}",
    )


def check_permissions(settings: Settings) -> Iterator[CheckResult]:
    """Check that files with secrets are not accessible for other users."""
    files = [settings.data_dir / name for name in ("store.db", "session.key")]
    if settings.source is not None and has_credentials(settings.source.parse(settings.source.read().text)):
        files.append(settings.source.file)
    for file in files:
        if file.exists():
            is_world_accessible = bool(file.stat().st_mode & stat.S_IRWXO)
            yield CheckResult(
                "permissions",
                not is_world_accessible,
                f"{file.name} {stat.filemode(file.stat().st_mode)}",
                f"chmod o= {file}",
            )


def check_versions(settings: Settings) -> Iterator[CheckResult]:
    """Check the required libraries and Java (embedded Solr only); reports the versions."""
    missing = sorted(filter(None, map(missing_package, requires("plumbline-search") or ())))
    text = f"plumbline {version('plumbline-search')}, Python {sys.version.split()[0]}, SQLite {sqlite3.sqlite_version}"
    yield CheckResult(
        "versions", not missing, text + (f"; missing: {', '.join(missing)}" if missing else ""), "run make install"
    )
    if settings.index.solr_url:
        return
    java = detect_java_version()
    yield CheckResult("java", bool(java), f"Java {java}" if java else f"{JAVA_PATH} does not run", "run make install")


def missing_package(requirement: str) -> str:
    """Return the name of a required library that is not installed; "" if it is installed or optional."""
    if "extra ==" in requirement or ";" in requirement:
        return ""
    name = requirement.split("[")[0]
    for sign in "<>=!~ ":
        name = name.split(sign)[0]
    try:
        version(name)
    except PackageNotFoundError:
        return name
    return ""


def detect_java_version() -> str:
    """Return the version of the Java of the embedded Solr; "" if it does not run on this machine."""
    try:
        completed = subprocess.run(
            [str(JAVA_PATH), "-version"], capture_output=True, text=True, timeout=60, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    stderr_parts = completed.stderr.split('"')
    return stderr_parts[1] if completed.returncode == 0 and len(stderr_parts) > 1 else ""


def check_search_port(settings: Settings) -> Iterator[CheckResult]:
    """Check that the port of the search site is free or used by this search site."""
    host, port = settings.search.host, settings.search.port
    if not port:
        return
    probed_host = LOOPBACK_BY_WILDCARD.get(host, host)
    try:
        socket.create_connection((probed_host, port), CONNECT_TIMEOUT_SECONDS).close()
        is_taken = True
    except socket.gaierror:
        raise
    except OSError:
        is_taken = False
    text = f"{format_address(host, port)} {'is in use' if is_taken else 'is free'}"
    is_ours = is_taken and is_our_search_site(format_address(probed_host, port), settings.search.title)
    advice = "stop that program, or choose another port with --port or search.port"
    yield CheckResult("port", is_ours or not is_taken, f"{text}{' by this search site' if is_ours else ''}", advice)


def request_directly(url: str, headers: Mapping[str, str] | None = None) -> Any:
    """Send a GET request without the proxy of the environment. Raises RequestException."""
    import requests

    with requests.Session() as session:
        session.trust_env = False
        return session.get(url, headers=headers, timeout=CONNECT_TIMEOUT_SECONDS)


def is_our_search_site(address: str, title: str) -> bool:
    """True if the search site with this title responds at `address` (host:port)."""
    import requests

    try:
        payload = request_directly(f"http://{address}/healthz").json()
    except (requests.RequestException, ValueError):
        return False
    return isinstance(payload, dict) and payload.get("title") == title


def check_solr_nodes(settings: Settings) -> Iterator[CheckResult]:
    """Check that every node of the configured SolrCloud responds."""
    import requests

    from indexer.cluster.zookeeper import ZOOKEEPER_SCHEME, live_node_urls

    advice, urls = "start it, or clear index.solr_url to use the embedded Solr", settings.index.solr_url
    try:
        urls = live_node_urls(urls, CONNECT_TIMEOUT_SECONDS) if urls.startswith(ZOOKEEPER_SCHEME) else urls
    except PlumblineError as error:
        yield CheckResult("solr", False, str(error), advice)
        return
    for url in node_urls(urls):
        try:
            status = request_directly(f"{url}/admin/info/system", auth_headers(urls)).status_code
            text = f"{url} returned status {status}"
        except requests.RequestException as error:
            status, text = 0, f"{url}: {type(error).__name__}"
        yield CheckResult("solr", status == 200, text, advice)


def check_solr(settings: Settings) -> Iterator[CheckResult]:
    """Check the configured SolrCloud; the embedded Solr needs no check because it starts on demand."""
    if settings.index.solr_url:
        yield from check_solr_nodes(settings)
        return
    yield CheckResult("solr", True, "embedded: started on demand")


def check_base_dictionary(settings: Settings) -> Iterator[CheckResult]:
    """Check that the base dictionary segments a test sentence correctly."""
    from text.segment import base_segmenter

    is_ok = base_segmenter().cut("石油和天然气") == ["石油", "和", "天然气"]
    yield CheckResult(
        "dictionary",
        is_ok,
        f"the base dictionary {'segments' if is_ok else 'does not segment'} a test sentence correctly",
        "run make install",
    )


def check_clock(settings: Settings) -> Iterator[CheckResult]:
    """Check that the clock is set and not before the start of the last run."""
    now = time.time()
    is_set = time.gmtime(now).tm_year >= MIN_PLAUSIBLE_YEAR
    yield CheckResult(
        "clock", is_set, time.strftime("%Y-%m-%d %H:%M:%S %Z"), "set the clock and synchronize it with NTP"
    )
    file = settings.data_dir / "store.db"
    if file.exists() and not settings.store.url:
        with closing(
            sqlite3.connect(f"{file.absolute().as_uri()}?mode=ro", uri=True, timeout=CONNECT_TIMEOUT_SECONDS)
        ) as connection:
            last_started_at = connection.execute("SELECT max(started_at) FROM runs").fetchone()[0] or 0.0
        text = (
            "not behind the last run"
            if last_started_at <= now
            else f"{last_started_at - now:.0f} s behind the last run"
        )
        yield CheckResult("clock", last_started_at <= now, text, "set the clock and synchronize it with NTP")


def check_schedule_and_backup(settings: Settings) -> Iterator[CheckResult]:
    """Check that `plumb schedule` is running and that a recent backup exists."""
    is_scheduler_running = SCHEDULE_COMMAND in active_stages(settings)
    next_at = local_minute(next_planned_time(settings, time.time()))
    text = f"next run {next_at}" if is_scheduler_running else "no scheduler is running"
    yield CheckResult(
        "schedule", is_scheduler_running, text, "start `plumb schedule` (deploy/plumbline-schedule.service)"
    )
    try:
        check_start_times(settings)
    except SettingsError as error:
        yield CheckResult("schedule", False, str(error), "change schedule.at, schedule.stages or crawl.quiet_hours")
    backup = find_known_backup(settings.data_dir)
    age = time.time() - backup.stat().st_mtime if backup else float("inf")
    details = f"{backup}, {age / 86400:.1f} days old" if backup else "no backup"
    yield CheckResult("backup", age < MAX_BACKUP_AGE_SECONDS, details, "run `plumb backup FOLDER` daily")


def check_seed_hosts(settings: Settings) -> Iterator[CheckResult]:
    """Check that the hosts of the seed URLs accept TCP connections; no request is sent.

    Names are resolved as in the crawl, which needs no DNS for names below localhost and rejects private addresses.
    """
    from crawler.http.ip_policy import PublicOnlyPolicy

    policy = PublicOnlyPolicy(settings.crawl.inside_hosts)
    if not settings.crawl.sites.seeds:
        yield CheckResult("seeds", False, "no start URLs", "add a site: `plumb sites add URL`")
    origins = dict.fromkeys("/".join(seed.split("/")[:3]) for seed in settings.crawl.sites.seeds)
    for origin in list(origins)[:MAX_PROBED_SEEDS]:
        name = origin.rpartition("/")[2]
        try:
            parts = urlsplit(origin)
            if not parts.hostname:
                raise ValueError("not a URL with a host")
            port = parts.port or (443 if parts.scheme == "https" else 80)
            connect_to_any(policy.resolve_allowed(parts.hostname, port))
        except (OSError, ValueError, PlumblineError) as error:
            yield CheckResult(
                "seed", False, f"{name}: {error}", "check network, DNS and firewall, or correct the start URL"
            )
        else:
            yield CheckResult("seed", True, f"{name} accepts connections")


def connect_to_any(addresses: Sequence[tuple[str, int]]) -> None:
    """Open a connection to the first address that accepts one, and close it. Raises the last OSError if none does."""
    for index, address in enumerate(addresses):
        try:
            socket.create_connection(address, CONNECT_TIMEOUT_SECONDS).close()
            return
        except OSError:
            if index == len(addresses) - 1:
                raise


CHECKS: Mapping[str, Callable[[Settings], Iterator[CheckResult]]] = {
    "disk": check_disk,
    "permissions": check_permissions,
    "versions": check_versions,
    "port": check_search_port,
    "solr": check_solr,
    "dictionary": check_base_dictionary,
    "clock": check_clock,
    "schedule": check_schedule_and_backup,
    "seeds": check_seed_hosts,
}
