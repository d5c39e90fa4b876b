"""Sites behind a login: `make bench-doors [ARGS='--parts login,secrets']`.

    login     each kind of login at a site whose sessions end twice: is the crawl complete, and what does it do wrong?
    secrets   places where the secrets of these crawls are found: store, WARC files, state files, logs, a backup, the
              process list during the crawl, and the pages of the administration before and after a trial
    leaks     signed-out requests that tell a hidden document from a missing one

Each kind of site is crawled with the right secret, and then with a wrong one. Sets are kinds; `all` is their worst.
"""

import gzip
import tempfile
import threading
from base64 import b64encode
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from urllib.parse import quote_plus

import click

from benchmarks.command import benchmark, names
from benchmarks.doors_leaks import measure_leaks
from benchmarks.members_site import FORM_MARK, SECRET, TOKEN, USER, MembersSite, ntlm_accounts
from benchmarks.results import OURS, Figure, publish
from crawler.http.login_secrets import SECRETS_FILE, save_secret
from domain.account import Role
from domain.errors import PlumblineError
from domain.login import LoginKind
from indexer.embedded_solr import EmbeddedSolr
from indexer.settings import IndexSettings
from pipeline import stages
from pipeline.engine import Engine
from pipeline.logs import configure_logging, ensure_folder
from pipeline.maintenance.backup import create_backup
from pipeline.progress import NullProgress
from pipeline.search_site.search_app import create_search_app
from pipeline.settings import Settings, load_settings
from pipeline.settings_text import apply_changes
from search_ui.admin.site_form import LOGIN_FORM_KEYS
from search_ui.passwords import hash_password

PARTS = ("login", "secrets", "leaks")
WRONG_SECRET = "wrong horse 4711"
MAX_ATTEMPTS = 3
OPERATOR, PASSWORD = "anna", "operator of the bench"
SAMPLE_SECONDS = 0.05  # between two looks at the process list
SOLR_SETTINGS = IndexSettings(start_timeout=600.0)
ADMIN_PAGES = ("/admin/", "/admin/sites", "/admin/history", "/admin/alerts", "/admin/settings")


@benchmark("doors", pages=8)
@click.option("--parts", default="login,secrets,leaks", callback=names, help="Only these parts, comma-separated.")
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
            with tempfile.TemporaryDirectory() as name, EmbeddedSolr(Path(name, "solr"), SOLR_SETTINGS) as node:
                (probe_folder := Path(name, "leaks")).mkdir()
                probes, leaks = measure_leaks(node.url, probe_folder)
            figures += [Figure("leaks", OURS, "probes", probes), Figure("leaks", OURS, "leaks", leaks)]
    finally:
        publish("doors", figures)  # also the figures of an interrupted run


def measure_kind(kind: LoginKind, pages: int, folder: Path) -> Iterator[Figure]:
    """Crawl a site twice: with the right secret, while its sessions end twice, and with a wrong one."""
    with MembersSite(kind, pages, end_after=(pages // 4, pages // 2)) as site:
        settings = write_settings(folder / "right", site)
        save_secret(settings.folder, site.host, site.secret)
        found, texts = crawl(settings)
        texts += administer(settings, site)
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
        # A crawl with a wrong secret fails, because no page can be fetched.
        with suppress(PlumblineError), watched_processes(settings.data_dir / "processes.txt"):
            stages.crawl(engine)
        pages = saved_pages(engine)
    backup_folder = settings.folder.with_name(f"{settings.folder.name}-backup")
    create_backup(settings, settings.file, backup_folder)
    files = [file for folder in (settings.folder, backup_folder) for file in folder.rglob("*") if file.is_file()]
    return pages, [file for file in files if file != settings.folder / SECRETS_FILE]


@contextmanager
def watched_processes(file: Path) -> Iterator[None]:
    """Write the command lines of all processes meanwhile to a file, each once."""
    lines, ended = set[bytes](), threading.Event()

    def watch() -> None:
        while not ended.wait(SAMPLE_SECONDS):
            for path in Path("/proc").glob("[0-9]*/cmdline"):
                with suppress(OSError):  # the process has ended
                    lines.add(path.read_bytes())

    thread = threading.Thread(target=watch)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()
        file.write_bytes(b"\n".join(lines))


def administer(settings: Settings, site: MembersSite) -> list[Path]:
    """Try and save the login as an operator does. Returns the pages that the browser got, and the store afterwards."""
    folder = settings.folder.with_name("pages")
    folder.mkdir()
    with Engine(settings, NullProgress()) as engine:
        engine.store.accounts.create(OPERATOR, hash_password(PASSWORD), [Role.OPERATOR])
        client = create_search_app(engine).test_client()

        def token(path: str) -> str:
            return client.get(path).text.partition('name="token" value="')[2].partition('"')[0]

        client.post("/admin/login", data={"token": token("/admin/login"), "name": OPERATOR, "password": PASSWORD})
        login_page = f"/admin/sites/{site.host}/login"
        form = dict.fromkeys(LOGIN_FORM_KEYS, "") | {key: value for key, value in site.table().items() if key != "urls"}
        form |= {"token": token(login_page), "page_url": site.url("/a/1")}
        pages = []
        for action, secret in (
            ("try", site.secret),
            ("try", WRONG_SECRET),
            ("save", WRONG_SECRET),
            ("save", site.secret),
        ):
            pages.append(client.post(login_page, data={**form, "action": action, "secret": secret}).data)
        site_pages = (login_page, f"/admin/sites/{site.host}/settings", f"/admin/sites/{site.host}")
        pages += [client.get(path).data for path in (*site_pages, *ADMIN_PAGES)]
    for number, page in enumerate(pages):
        (folder / f"{number}.html").write_bytes(page)
    return [*folder.iterdir(), *(file for file in settings.data_dir.rglob("*") if file.is_file())]


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
