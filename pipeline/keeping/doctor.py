"""What is wrong with the place a vertical runs in. Each answer says what it found, and what to do where it is amiss."""

import os
import shutil
import socket
import sqlite3
import stat
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, requires, version
from pathlib import Path
from urllib.parse import urlsplit

from docstore.errors import PlumblineError
from docstore.locking.file_locks import holder
from docstore.solr_http import auth_headers, node_urls
from indexer.class_archive import JAVA
from pipeline.keeping.backup import newest_backup, places
from pipeline.runs.timetable import timetable
from pipeline.settings import Settings

MIN_FREE = 2 * 1024**3  # bytes: a night's pages, a Solr merge
TIMEOUT = 5.0  # seconds for a seed to accept a connection
MAX_SEEDS = 20
OLD_BACKUP = 7 * 86400.0
FIRST_YEAR = 2024  # a clock before that was never set


@dataclass(frozen=True)
class Finding:
    """One line of the doctor's: is it well, what was found, and what to do if not."""

    name: str
    is_well: bool
    text: str
    advice: str = ""


def examine(settings: Settings) -> Iterator[Finding]:
    """Look at everything, one after the other; nothing is changed and no page is fetched."""
    for name, look in EXAMINATIONS.items():
        try:
            yield from look(settings)
        except (OSError, PlumblineError, sqlite3.Error) as error:
            yield Finding(name, False, " ".join(str(error).split()), "see that it is there and can be read")


def disk(settings: Settings) -> Iterator[Finding]:
    """Room and inodes where the data are, and whether they can be written."""
    folder = existing(settings.data_dir)
    free = shutil.disk_usage(folder).free
    yield Finding(
        "disk", free >= MIN_FREE, f"{free / 1e9:.1f} GB free at {folder}", "free some space, or move data_dir"
    )
    inodes = os.statvfs(folder)
    if inodes.f_files:
        share = inodes.f_favail / inodes.f_files
        yield Finding("inodes", share > 0.02, f"{share:.0%} free", "delete small files on this disk")
    can_write = os.access(folder, os.W_OK) and not inodes.f_flag & os.ST_RDONLY
    yield Finding(
        "writing",
        can_write,
        f"{folder} can{'' if can_write else 'not'} be written",
        f"chown it, or mount it rw: {folder}",
    )


def permissions(settings: Settings) -> Iterator[Finding]:
    """Files with secrets are their owner's alone."""
    for name in ("store.db", "session.key"):
        file = settings.data_dir / name
        if file.exists():
            is_open = bool(file.stat().st_mode & stat.S_IRWXO)
            yield Finding(
                "permissions", not is_open, f"{name} {stat.filemode(file.stat().st_mode)}", f"chmod o= {file}"
            )


def versions(settings: Settings) -> Iterator[Finding]:
    """Python, the libraries that are wanted, SQLite and Java."""
    missing = sorted(filter(None, map(missing_part, requires("plumbline") or ())))
    text = f"plumbline {version('plumbline')}, Python {sys.version.split()[0]}, SQLite {sqlite3.sqlite_version}"
    yield Finding(
        "versions", not missing, text + (f"; missing: {', '.join(missing)}" if missing else ""), "run make install"
    )
    if settings.index.solr_url:
        return
    java = java_version()
    yield Finding("java", bool(java), f"Java {java}" if java else f"{JAVA} does not run", "run make install")


def missing_part(requirement: str) -> str:
    """The name of a library that is wanted and not there; ""."""
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


def java_version() -> str:
    """The version of the Java that the embedded Solr runs in; "" where it does not run on this machine."""
    try:
        said = subprocess.run([str(JAVA), "-version"], capture_output=True, text=True, timeout=60, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    quoted = said.stderr.split('"')
    return quoted[1] if said.returncode == 0 and len(quoted) > 1 else ""


def ports(settings: Settings) -> Iterator[Finding]:
    """The search page's port is free, or ours."""
    host, port = settings.search.host, settings.search.port
    if not port:
        return
    with closing(socket.socket()) as probe:
        probe.settimeout(TIMEOUT)
        is_taken = probe.connect_ex((host if host not in ("", "0.0.0.0") else "127.0.0.1", port)) == 0
    text = f"{host}:{port} {'is answered by a program' if is_taken else 'is free'}"
    is_ours = is_taken and answers_as_ours(host, port)
    advice = "stop that program, or choose another search.port"
    yield Finding("port", is_ours or not is_taken, f"{text}{': this search site' if is_ours else ''}", advice)


def answers_as_ours(host: str, port: int) -> bool:
    """Does a search site of ours answer there?"""
    import requests

    try:
        said = requests.get(f"http://{host}:{port}/healthz", timeout=TIMEOUT).json()
    except (requests.RequestException, ValueError):
        return False
    return isinstance(said, dict) and "status" in said


def solr_nodes(settings: Settings) -> Iterator[Finding]:
    """Every node of the operator's Solr answers."""
    import requests

    from indexer.cluster.zookeeper import SCHEME, urls_of

    advice, urls = "start it, or empty index.solr_url to use the embedded one", settings.index.solr_url
    try:
        urls = urls_of(urls, TIMEOUT) if urls.startswith(SCHEME) else urls
    except PlumblineError as error:
        yield Finding("solr", False, str(error), advice)
        return
    for url in node_urls(urls):
        try:
            status = requests.get(f"{url}/admin/info/system", headers=auth_headers(urls), timeout=TIMEOUT).status_code
            text = f"{url} answers {status}"
        except requests.RequestException as error:
            status, text = 0, f"{url}: {type(error).__name__}"
        yield Finding("solr", status == 200, text, advice)


def solr(settings: Settings) -> Iterator[Finding]:
    """Solr answers where it is the operator's; an embedded one has its jars."""
    if settings.index.solr_url:
        yield from solr_nodes(settings)
        return
    yield Finding("solr", True, "embedded: started when it is needed")


def dictionary(settings: Settings) -> Iterator[Finding]:
    """The base dictionary cuts, and the published words are words."""
    from text.segment import base_segmenter

    is_well = base_segmenter().cut("石油和天然气") == ["石油", "和", "天然气"]
    yield Finding(
        "dictionary", is_well, f"the base dictionary {'cuts' if is_well else 'does not cut'}", "run make install"
    )


def clock(settings: Settings) -> Iterator[Finding]:
    """The clock is set, and not behind what is in the store."""
    now = time.time()
    is_set = time.gmtime(now).tm_year >= FIRST_YEAR
    yield Finding("clock", is_set, time.strftime("%Y-%m-%d %H:%M:%S %Z"), "set the clock, keep it with NTP")
    file = settings.data_dir / "store.db"
    if file.exists() and not settings.store.url:
        with closing(sqlite3.connect(f"file:{file}?mode=ro", uri=True, timeout=TIMEOUT)) as connection:
            last = connection.execute("SELECT max(started_at) FROM runs").fetchone()[0] or 0.0
        text = "not behind the last run" if last <= now else f"{last - now:.0f} s behind the last run"
        yield Finding("clock", last <= now, text, "set the clock, keep it with NTP")


def nights(settings: Settings) -> Iterator[Finding]:
    """Somebody runs the timetable, and there is a backup."""
    is_held = holder(settings.data_dir, "schedule") is not None
    text = f"next run at {settings.schedule.at}" if is_held else "nobody runs the timetable"
    timetable(settings.schedule)  # raises for one that cannot be
    yield Finding("schedule", is_held, text, "start plumb schedule (deploy/plumbline-schedule.service)")
    backup = newest_backup([Path(place) for place in places(settings.data_dir)])
    age = time.time() - backup.stat().st_mtime if backup else float("inf")
    told = f"the newest is {backup}, {age / 86400:.1f} days old" if backup else "there is none"
    yield Finding("backup", age < OLD_BACKUP, told, "run plumb backup FOLDER, daily")


def seeds(settings: Settings) -> Iterator[Finding]:
    """The seeds' hosts have an address and accept a connection; nothing is asked of them."""
    hosts = dict.fromkeys(urlsplit(seed).netloc for seed in settings.crawl.seeds)
    if not hosts:
        yield Finding("seeds", False, "there are none", "name some in crawl.seeds")
    schemes = {urlsplit(seed).netloc: urlsplit(seed).scheme for seed in settings.crawl.seeds}
    for host in list(hosts)[:MAX_SEEDS]:
        name, _, port = host.partition(":")
        try:
            socket.create_connection((name, int(port or (443 if schemes[host] == "https" else 80))), TIMEOUT).close()
        except (OSError, ValueError) as error:
            yield Finding(
                "seed", False, f"{host}: {error}", "see the network, DNS and firewall, or correct crawl.seeds"
            )
        else:
            yield Finding("seed", True, f"{host} accepts connections")


def existing(folder: Path) -> Path:
    """The folder, or the nearest one above it that is there."""
    return next(one for one in (folder, *folder.parents) if one.exists())


EXAMINATIONS: Mapping[str, Callable[[Settings], Iterator[Finding]]] = {
    "disk": disk,
    "permissions": permissions,
    "versions": versions,
    "port": ports,
    "solr": solr,
    "dictionary": dictionary,
    "clock": clock,
    "schedule": nights,
    "seeds": seeds,
}
