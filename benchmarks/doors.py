"""Sites behind a login: `make bench-doors [ARGS='--parts login,secrets']`.

    login     each kind of login at a site whose sessions end twice: is the crawl complete, and what does it do wrong?
    secrets   places where the secrets of these crawls are found: store, WARC files, state files, logs, a backup
    leaks     signed-out requests that tell a hidden document from a missing one

Each kind of site is crawled with the right secret, and then with a wrong one. Sets are kinds; `all` is their worst.
"""

import gzip
import tempfile
from base64 import b64encode
from collections.abc import Iterator
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from urllib.parse import quote_plus

import click

from benchmarks.command import benchmark, names
from benchmarks.members_site import FORM_MARK, SECRET, TOKEN, USER, MembersSite, ntlm_accounts
from benchmarks.results import OURS, Figure, publish
from crawler.http.login_secrets import SECRETS_FILE, save_secret
from domain.errors import PlumblineError
from domain.login import LoginKind
from pipeline import stages
from pipeline.engine import Engine
from pipeline.logs import configure_logging, ensure_folder
from pipeline.maintenance.backup import create_backup
from pipeline.progress import NullProgress
from pipeline.settings import Settings, load_settings
from pipeline.settings_text import apply_changes

PARTS = ("login", "secrets", "leaks")
WRONG_SECRET = "wrong horse 4711"
MAX_ATTEMPTS = 3


@benchmark("doors", pages=8)
@click.option("--parts", default="login,secrets", callback=names, help="Only these parts, comma-separated.")
@click.option("--pages", default=40, type=click.IntRange(6), show_default=True, help="Pages of each site.")
def main(parts: list[str], pages: int) -> None:
    """Measure the chosen parts."""
    if unknown := set(parts) - {*PARTS}:
        raise PlumblineError(f"no part {', '.join(sorted(unknown))}; there are {', '.join(PARTS)}")
    figures: list[Figure] = []
    try:
        if {"login", "secrets"} & {*parts}:
            with tempfile.TemporaryDirectory() as folder, ntlm_accounts():
                found = [figure for kind in LoginKind for figure in measure_kind(kind, pages, Path(folder) / kind)]
            figures += [one for one in found if ("secrets" if one.metric == "secrets_found" else "login") in parts]
            figures += worst_figures(figures)
        if "leaks" in parts:
            probes, leaks = import_module("benchmarks.doors_leaks").measure_leaks()
            figures += [Figure("leaks", OURS, "probes", probes), Figure("leaks", OURS, "leaks", leaks)]
    finally:
        publish("doors", figures)  # also the figures of an interrupted run


def measure_kind(kind: LoginKind, pages: int, folder: Path) -> Iterator[Figure]:
    """Crawl a site twice: with the right secret, while its sessions end twice, and with a wrong one."""
    with MembersSite(kind, pages, end_after=(pages // 4, pages // 2)) as site:
        settings = write_settings(folder / "right", site)
        save_secret(settings.folder, site.host, site.secret)
        found, texts = crawl(settings)
        wanted = {site.url(path) for path in site.article_paths}
        values = {
            "complete": float(wanted <= found.keys()),
            "login_pages_stored": sum(FORM_MARK in text for text in found.values()),
            "renewed": float(site.ended == 2 and wanted <= found.keys()),
        }
    with MembersSite(kind, pages) as site:
        settings = write_settings(folder / "wrong", site)
        save_secret(settings.folder, site.host, WRONG_SECRET)
        _, more_texts = crawl(settings)
        values |= {"wrong_attempts": site.failed, "lockouts": site.lockouts + (site.failed > MAX_ATTEMPTS)}
    values["secrets_found"] = count_secrets([*texts, *more_texts])
    for metric, value in values.items():
        yield Figure(kind.value, OURS, metric, value)


def write_settings(folder: Path, site: MembersSite) -> Settings:
    """Write and load the settings of a vertical that crawls a site."""
    folder.mkdir(parents=True)
    file = folder / "vertical.toml"
    crawl = {"contact": "https://plumbline.test/crawler", "inside_hosts": ["127.0.0.1"], "delay": 0.0}
    changes = {f"crawl.{key}": value for key, value in crawl.items()}
    file.write_text(apply_changes("", {**changes, "sites": [{"host": site.host, **site.table()}]}), "utf-8")
    return load_settings(file)


def crawl(settings: Settings) -> tuple[dict[str, str], list[Path]]:
    """Crawl and back up. Returns the saved pages by URL, and the files in which a secret must not be."""
    log_folder = settings.data_dir / "logs"
    ensure_folder(log_folder)
    configure_logging(log_folder / "plumb.log")
    with Engine(settings, NullProgress()) as engine:
        with suppress(PlumblineError):  # no page could be fetched, as it must be with a wrong secret
            stages.crawl(engine)
        pages = saved_pages(engine)
    backup_folder = settings.folder.with_name(f"{settings.folder.name}-backup")
    create_backup(settings, settings.file, backup_folder)
    files = [file for folder in (settings.folder, backup_folder) for file in folder.rglob("*") if file.is_file()]
    return pages, [file for file in files if file != settings.folder / SECRETS_FILE]


def saved_pages(engine: Engine) -> dict[str, str]:
    """Return the saved pages by URL."""
    articles = engine.store.articles
    return {page.url: articles.read_page_body(page).decode("utf-8", "replace") for page in articles.iter_pending()}


def count_secrets(files: list[Path]) -> int:
    """Return how many files contain a secret, as it is, in a form or in a header of Basic."""
    secrets = [secret.encode() for secret in (SECRET, TOKEN, WRONG_SECRET)]
    forms = [*secrets, *(quote_plus(secret).encode() for secret in secrets)]
    forms += [b64encode(f"{USER}:".encode() + secret) for secret in secrets]
    contents = (gzip.decompress(file.read_bytes()) if file.suffix == ".gz" else file.read_bytes() for file in files)
    return sum(any(form in content for form in forms) for content in contents)


def worst_figures(figures: list[Figure]) -> Iterator[Figure]:
    """Yield the worst figure of all kinds by metric."""
    for metric in dict.fromkeys(figure.metric for figure in figures):
        worst = min if metric in ("complete", "renewed") else max
        yield Figure("all", OURS, metric, worst(figure.value for figure in figures if figure.metric == metric))


if __name__ == "__main__":
    main()
