"""`plumb demo`: the complete engine on the bundled vertical, from three news sites on loopback to a search page.

The folder contains the sites as files (change one and run again), `vertical.toml`, and the data. A second run is
incremental.
"""

import json
import os
import re
import secrets
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import requests
from rich.console import Console

from crawler.urls.canonical import host_of
from docstore.accounts import AccountTable
from domain.account import Role
from domain.errors import PlumblineError, PortInUseError
from domain.outcome import Reason, StageReport
from pipeline import stages
from pipeline.cli.session import format_reports
from pipeline.demo.articles import COMPARISON_TERM
from pipeline.demo.site import LOOPBACK, SITE_NAMES, DemoServer, WrittenSites, change_article, demo_urls, write_sites
from pipeline.embedding.model_download import ModelDownload, needs_download
from pipeline.engine import Engine
from pipeline.logs import ensure_folder
from pipeline.progress import Progress
from pipeline.refresh import format_refresh_times, refresh_page
from pipeline.search_site.search_app import compare_term
from pipeline.search_site.serve import SearchSite, open_listening_socket
from pipeline.settings import Settings, load_settings
from pipeline.settings_template import toml_value
from search_ui.passwords import hash_password

DEMO_ACCOUNT = "demo"
CHECK_ACCOUNT = "demo-check"
FORM_TOKEN_RE = re.compile(r'name="token" value="([^"]+)"')
PASSWORD_VARIABLE = "PLUMB_ADMIN_PASSWORD"  # environment variable with a password for the demo account  # noqa: S105 (the name of a setting, no secret)
DOWNLOAD_NOTE = (
    "the models for semantic search are being downloaded (about 40 MB, once): until then, search uses keywords only"
)
MIN_INDEXED_SHARE = 0.95  # of the written articles that must be in the index


@dataclass(frozen=True)
class DemoOptions:
    """Options of `plumb demo`.

    `is_check` verifies the result and exits, `is_change` measures the refresh of a changed page.
    """

    folder: Path
    port: int = 8080
    site_port: int = 8765
    is_check: bool = False
    is_change: bool = False


def run_demo(
    options: DemoOptions, progress: Progress, console: Console, configure_logging: Callable[[Path], None]
) -> None:
    """Run the demo. Raises PlumblineError if the checks of `is_check` fail."""
    if not options.is_change:
        require_free_port(options.port)  # before the crawl, to report the error at once
    config = options.folder / "vertical.toml"
    # With the pages of another port each article would be there twice.
    if config.exists() and demo_urls(options.site_port)[0] not in config.read_text(encoding="utf-8"):
        raise PlumblineError(
            f"{options.folder} was crawled with another port of the demo sites: delete the folder, or use that port "
            "(make demo SITE_PORT=..., plumb demo --site-port ...)"
        )
    ensure_folder(options.folder)
    site_report = write_sites(options.folder / "sites")
    settings = demo_settings(options)
    ensure_folder(settings.data_dir / "logs")
    configure_logging(settings.data_dir / "logs" / "plumb.log")
    with serve_demo_sites(options), ExitStack() as resources, Engine(settings, progress) as engine:
        if options.is_change:
            measure_refresh(engine, options, console)
            return
        if options.is_check or not needs_download(settings.embed):
            download: ModelDownload | None = None
            reports = run_demo_stages(engine, console)
        else:
            download = resources.enter_context(ModelDownload(settings.embed))
            console.print(DOWNLOAD_NOTE, markup=False, highlight=False)
            reports = run_demo_stages(engine, console, without_embedding=True)
        with SearchSite(engine) as site:
            site.wait_until_searchable()
            if options.is_check:
                check_demo(engine, site_report, reports, site.url, console)
            else:
                show_urls_and_wait(engine, options, site, console, download)


def require_free_port(port: int) -> None:
    """Raise PortInUseError if the search page cannot listen on the port."""
    try:
        open_listening_socket(LOOPBACK, port).close()
    except PortInUseError as error:
        raise PortInUseError(
            f"port {port} of the search page is taken by another program (or by a running demo): stop it, "
            "or choose another port (make demo PORT=..., plumb demo --port ...)"
        ) from error


def demo_settings(options: DemoOptions) -> Settings:
    """Write the demo's settings to `vertical.toml`, for use by other commands, and load them."""
    path = options.folder / "vertical.toml"
    path.write_text(render_demo_toml(options), encoding="utf-8")
    return load_settings(path)


def render_demo_toml(options: DemoOptions) -> str:
    """Return the demo's settings as TOML: no crawl delay, and every page is fetched again in every run."""
    names = {f"{host}:{options.site_port}": name for host, name in SITE_NAMES.items()}
    sections: dict[str, dict[str, Any]] = {
        "vertical": {"name": "油气资讯 · Plumbline demo", "data_dir": "data"},
        "crawl": {
            "depth": 6,
            "delay": 0.002,
            "per_host": 4,
            "revisit_shortest": 0.0,
            "user_agent": "PlumblineDemo/0.1",
            "inside_hosts": list(names),
        },
        "search": {"host": LOOPBACK, "port": options.port},
    }
    lines = ["# The demo. Overwritten at each start."]
    for section, values in sections.items():
        lines += [f"[{section}]", *(f"{key} = {toml_value(value)}" for key, value in values.items()), ""]
    for url in demo_urls(options.site_port):
        lines += ["[[sites]]", f"urls = {toml_value([url])}", f"name = {toml_value(names[host_of(url)])}", ""]
    return "\n".join(lines)


@contextmanager
def serve_demo_sites(options: DemoOptions) -> Iterator[None]:
    """Serve the three sites during the `with` block, unless another demo already serves them."""
    try:
        server = DemoServer(options.folder / "sites", options.site_port)
    except PortInUseError:
        if not is_demo_site(options.site_port):
            raise
        yield
        return
    with server:
        yield


def is_demo_site(port: int) -> bool:
    """True if the demo sites are served at this port."""
    host = next(iter(SITE_NAMES))
    try:
        response = requests.get(f"http://127.0.0.1:{port}/", headers={"Host": f"{host}:{port}"}, timeout=3)
    except requests.RequestException:
        return False
    return response.ok and SITE_NAMES[host].encode() in response.content


def run_demo_stages(engine: Engine, console: Console, without_embedding: bool = False) -> list[StageReport]:
    """Run all stages, with or without `embed`, and print the report of each stage when it ends."""
    return stages.run(engine, on_report=partial(print_stage_report, console), without_embedding=without_embedding)


def print_stage_report(console: Console, report: StageReport) -> None:
    """Print the report of a stage."""
    for line in format_reports([report]):
        console.print(line, markup=False, highlight=False)


def add_semantic_search(engine: Engine, download: ModelDownload, console: Console) -> None:
    """Embed and index the articles after a download of the models has ended; print one line if it failed."""
    if failure := download.failure():
        console.print(f"search uses keywords only: {failure}", markup=False, highlight=False)
        return
    for stage in (stages.embed_if_possible, stages.index):
        print_stage_report(console, stage(engine))


def show_urls_and_wait(
    engine: Engine, options: DemoOptions, site: SearchSite, console: Console, download: ModelDownload | None
) -> None:
    """Print the URLs of the demo and wait for Ctrl-C. When `download` ends, semantic search is added."""
    config = options.folder / "vertical.toml"
    console.print(f"\nsearch page:      {site.url}search?q={COMPARISON_TERM}")
    console.print(
        f"administration:   {site.url}admin/   ({sign_in_hint(engine, config)})", markup=False, highlight=False
    )
    console.print(f"comparison search:       plumb -c {config} compare {COMPARISON_TERM}")
    console.print("Ctrl-C stops everything; the next run is incremental.")
    downloads = [download] if download else []

    def check_download() -> None:
        if downloads and not downloads[0].is_active:
            add_semantic_search(engine, downloads.pop(), console)

    site.wait(check_download)


def sign_in_hint(engine: Engine, config: Path) -> str:
    """Describe how to sign in. The first call creates the demo account; its generated password is shown only then."""
    password_override, accounts = os.environ.get(PASSWORD_VARIABLE, ""), engine.store.accounts
    if accounts.find(DEMO_ACCOUNT) is None:
        password = password_override or secrets.token_urlsafe(9)
        accounts.create(DEMO_ACCOUNT, hash_password(password), [Role.OPERATOR])
        return f"account {DEMO_ACCOUNT}, password {f'from {PASSWORD_VARIABLE}' if password_override else password}"
    if password_override:
        accounts.reset_password(DEMO_ACCOUNT, hash_password(password_override))
        return f"account {DEMO_ACCOUNT}, password from {PASSWORD_VARIABLE}"
    return f"account {DEMO_ACCOUNT}; to reset the password: plumb -c {config} account password {DEMO_ACCOUNT}"


def measure_refresh(engine: Engine, options: DemoOptions, console: Console) -> None:
    """Change a page on disk and print the time at which each stage finished with it."""
    if engine.store.articles.count() == 0:
        raise PlumblineError("the demo has no crawled pages yet: run `plumb demo` first")
    url, marker = change_article(options.folder / "sites", int(time.time()), options.site_port)
    trace = refresh_page(engine, url)
    for line in format_refresh_times(trace):
        console.print(line, markup=False, highlight=False)
    docs = engine.index.search({"q": "{!field f=body v=$marker}", "marker": marker, "fl": "url"})["response"]["docs"]
    if [doc["url"] for doc in docs] != [trace.url]:
        raise PlumblineError(f"a search for the changed word {marker} found {docs}")
    console.print(
        f"a search for the new word {marker} finds the page, {trace.total_seconds:.2f} s after it was fetched"
    )


def check_demo(
    engine: Engine, site_report: WrittenSites, reports: list[StageReport], url: str, console: Console
) -> None:
    """Compare the counts of every stage with the written articles, and query the search page. Raises PlumblineError."""
    faults = [*iter_count_faults(engine, site_report, reports), *iter_page_faults(engine, url)]
    if faults:
        raise PlumblineError("demo check failed: " + "; ".join(faults))
    store = engine.store
    console.print(
        f"check passed: {store.articles.count()} of {site_report.article_count} articles indexed, lexicon version "
        f"{store.lexicons.latest_version()}, the search page responds at {url}",
        highlight=False,
    )


def iter_count_faults(engine: Engine, site_report: WrittenSites, reports: list[StageReport]) -> Iterator[str]:
    """Yield each stage whose counts are too low or too high."""
    store, min_count = engine.store, int(site_report.article_count * MIN_INDEXED_SHARE)
    visited_count = sum(
        r.outcome_counts.get(Reason.FETCHED, 0) + r.outcome_counts.get(Reason.UNCHANGED, 0) for r in reports
    )
    if visited_count < min_count:
        yield f"the crawl fetched {visited_count} pages, expected {min_count}"
    if store.articles.count() < min_count:
        yield f"{store.articles.count()} articles were extracted, expected {min_count}"
    if store.articles.count() > site_report.article_count:
        yield f"{store.articles.count()} articles were extracted from {site_report.article_count}: some are list pages"
    if store.lexicons.applied_version() == 0:
        yield "no lexicon is published"
    if engine.index.count() != store.articles.count():
        yield f"Solr has {engine.index.count()} documents, the store has {store.articles.count()} articles"


def iter_page_faults(engine: Engine, url: str) -> Iterator[str]:
    """Yield the faults of the search page."""
    response = requests.get(f"{url}search", params={"q": COMPARISON_TERM, "format": "json"}, timeout=10)
    if not response.ok:
        yield f"the search page returned HTTP status {response.status_code}"
        return
    if not json.loads(response.content).get("hits"):
        yield f"the search page finds nothing for {COMPARISON_TERM}"
    base, domain = compare_term(engine, COMPARISON_TERM)
    if domain.measures.first_rank != 1 or domain.measures.precision_at_10 <= base.measures.precision_at_10:
        yield f"the domain lexicon does not rank documents with {COMPARISON_TERM} first, and above the base dictionary"
    password = secrets.token_urlsafe(9)
    with temporary_account(engine.store.accounts, password):
        if (status := review_page_status(url, CHECK_ACCOUNT, password)) != requests.codes.ok:
            yield f"the review page returned HTTP status {status}"


@contextmanager
def temporary_account(accounts: AccountTable, password: str) -> Iterator[None]:
    """Enable the account CHECK_ACCOUNT during the `with` block."""
    password_hash = hash_password(password)
    if accounts.find(CHECK_ACCOUNT) is None:
        accounts.create(CHECK_ACCOUNT, password_hash, [Role.REVIEWER])
    else:
        accounts.reset_password(CHECK_ACCOUNT, password_hash)
    try:
        yield
    finally:
        accounts.disable(CHECK_ACCOUNT)


def review_page_status(url: str, account: str, password: str) -> int:
    """Sign in and request the review page; returns its HTTP status, a redirect if the sign-in failed."""
    with requests.Session() as session:
        login_page = session.get(f"{url}admin/login", timeout=10)
        token = FORM_TOKEN_RE.search(login_page.text)
        form = {"token": token[1] if token else "", "name": account, "password": password}
        session.post(f"{url}admin/login", form, timeout=10, allow_redirects=False)
        return session.get(f"{url}admin/lexicon", timeout=10, allow_redirects=False).status_code
