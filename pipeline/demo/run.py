"""`plumb demo`: the whole engine on the bundled vertical, from three news sites on loopback to a search page.

The folder holds everything: the sites as files (change one and run again), `vertical.toml`, and the data. A second
run is incremental.
"""

import json
import os
import secrets
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import requests
from rich.console import Console

from docstore.errors import PlumblineError, PortInUseError
from docstore.model import Reason, StageReport, TermStatus
from docstore.roles import Role
from pipeline import stages
from pipeline.cli.session import format_reports
from pipeline.demo.site import SITE_NAMES, DemoServer, WrittenSites, change_article, demo_urls, write_sites
from pipeline.engine import Engine, ensure_folder
from pipeline.progress import Progress
from pipeline.refresh import format_refresh_times, refresh_page
from pipeline.search_site.review_service import StoreReview
from pipeline.search_site.serve import SearchSite, create_search_client, open_listening_socket
from pipeline.settings import Settings, load_settings
from pipeline.settings_template import toml_value
from search_ui.pages.compare import compare_lexicons
from search_ui.passwords import hash_password

ACCEPTED_TERM_COUNT = 200  # candidates that the demo accepts in the administrator's place
LOOPBACK = "127.0.0.1"
DEMO_QUERY = "世界石油大会"
DEMO_ACCOUNT = "demo"
PASSWORD_VARIABLE = "PLUMB_ADMIN_PASSWORD"  # a password of one's own for the demo's account
MIN_INDEXED_SHARE = 0.95  # share of the written articles that has to arrive in the index


@dataclass(frozen=True)
class DemoOptions:
    """How the demo is asked for."""

    folder: Path
    port: int = 8080
    site_port: int = 8765
    is_check: bool = False
    is_change: bool = False


def run_demo(
    options: DemoOptions, progress: Progress, console: Console, configure_logging: Callable[[Path], None]
) -> None:
    """Run the demo. Raises PlumblineError if, with `check_demo`, anything came short."""
    if not options.is_change:
        require_free_port(options.port)  # first: nobody shall wait for a crawl to hear it
    ensure_folder(options.folder)
    site_report = write_sites(options.folder / "sites")
    settings = demo_settings(options)
    ensure_folder(settings.data_dir / "logs")
    configure_logging(settings.data_dir / "logs" / "plumb.log")
    with serve_demo_sites(options), Engine(settings, progress) as engine:
        if options.is_change:
            measure_refresh(engine, options, console)
            return
        reports = run_demo_stages(engine, console)
        with SearchSite(engine) as site:
            if options.is_check:
                check_demo(engine, site_report, reports, site.url, console)
            else:
                show_urls_and_wait(engine, options, site, console)


def require_free_port(port: int) -> None:
    """Raise PortInUseError where the search page could not listen."""
    try:
        open_listening_socket(LOOPBACK, port).close()
    except PortInUseError as error:
        raise PortInUseError(
            f"port {port} of the search page is taken by another program (or by a demo that runs already): stop it, "
            "or choose another port (make demo PORT=..., plumb demo --port ...)"
        ) from error


def demo_settings(options: DemoOptions) -> Settings:
    """The demo's vertical, written to `vertical.toml` for other commands to use."""
    path = options.folder / "vertical.toml"
    path.write_text(render_demo_toml(options), encoding="utf-8")
    return load_settings(path)


def render_demo_toml(options: DemoOptions) -> str:
    """The demo's settings: its own sites need no pauses, and are looked at anew in every run."""
    names = {f"{host}:{options.site_port}": name for host, name in SITE_NAMES.items()}
    sections: dict[str, dict[str, Any]] = {
        "vertical": {"name": "油气资讯 · Plumbline demo", "data_dir": "data"},
        "crawl": {
            "seeds": demo_urls(options.site_port),
            "depth": 6,
            "delay": 0.002,
            "per_host": 4,
            "revisit_shortest": 0.0,
            "user_agent": "PlumblineDemo/0.1",
            "inside_hosts": list(names),
        },
        "search": {"host": LOOPBACK, "port": options.port, "site_names": names},
    }
    lines = ["# The demo. Written anew at each start."]
    for section, values in sections.items():
        lines += [f"[{section}]", *(f"{key} = {toml_value(value)}" for key, value in values.items()), ""]
    return "\n".join(lines)


@contextmanager
def serve_demo_sites(options: DemoOptions) -> Iterator[None]:
    """The three sites, served; or those of a demo that already runs."""
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
    """Is it our own sites that answer at this port?"""
    host = next(iter(SITE_NAMES))
    try:
        response = requests.get(f"http://127.0.0.1:{port}/", headers={"Host": f"{host}:{port}"}, timeout=3)
    except requests.RequestException:
        return False
    return response.ok and SITE_NAMES[host].encode() in response.content


def run_demo_stages(engine: Engine, console: Console) -> list[StageReport]:
    """All stages; the first time also a lexicon, accepted in the administrator's place."""
    reports = stages.run(engine)
    if engine.store.lexicons.latest_version() == 0:
        best = [
            term.text for term in engine.store.lexicons.find_terms(TermStatus.CANDIDATE, limit=ACCEPTED_TERM_COUNT)[1]
        ]
        StoreReview(engine.store).decide(best, TermStatus.ACCEPTED, "demo")
        lexicon = stages.publish(engine)
        reports.append(stages.index(engine))
        console.print(f"lexicon: version {lexicon.version} with the {len(lexicon.entries)} best terms published")
    for line in format_reports(reports):
        console.print(line, markup=False, highlight=False)
    return reports


def show_urls_and_wait(engine: Engine, options: DemoOptions, site: SearchSite, console: Console) -> None:
    """Tell the person where to look, and wait for Ctrl-C."""
    config = options.folder / "vertical.toml"
    console.print(f"\nsearch page:      {site.url}search?q={DEMO_QUERY}")
    console.print(
        f"administration:   {site.url}admin/   ({sign_in_hint(engine, config)})", markup=False, highlight=False
    )
    console.print(f"the paper's comparison:  plumb -c {config} compare {DEMO_QUERY}")
    console.print("Ctrl-C stops everything; the next run is incremental.")
    site.wait()


def sign_in_hint(engine: Engine, config: Path) -> str:
    """How to sign in. The demo makes its account itself, with a password that is shown this once."""
    password_override, accounts = os.environ.get(PASSWORD_VARIABLE, ""), engine.store.accounts
    if accounts.find(DEMO_ACCOUNT) is None:
        password = password_override or secrets.token_urlsafe(9)
        accounts.create(DEMO_ACCOUNT, hash_password(password), [Role.OPERATOR])
        return f"account {DEMO_ACCOUNT}, password {f'from {PASSWORD_VARIABLE}' if password_override else password}"
    if password_override:
        accounts.reset_password(DEMO_ACCOUNT, hash_password(password_override))
        return f"account {DEMO_ACCOUNT}, password from {PASSWORD_VARIABLE}"
    return f"account {DEMO_ACCOUNT}; a new password: plumb -c {config} account password {DEMO_ACCOUNT}"


def measure_refresh(engine: Engine, options: DemoOptions, console: Console) -> None:
    """Change a page on disk and show when each stage was done with it."""
    if engine.store.articles.count() == 0:
        raise PlumblineError("the demo has not crawled yet: run `plumb demo` once first")
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
    """Ask the page and compare every stage's counts with what was written."""
    faults = [*iter_count_faults(engine, site_report, reports), *iter_page_faults(engine, url)]
    if faults:
        raise PlumblineError("the demo came short: " + "; ".join(faults))
    store = engine.store
    console.print(
        f"check passed: {store.articles.count()} of {site_report.article_count} articles indexed, lexicon version "
        f"{store.lexicons.latest_version()}, the search page answers at {url}",
        highlight=False,
    )


def iter_count_faults(engine: Engine, site_report: WrittenSites, reports: list[StageReport]) -> Iterator[str]:
    """What is missing in the stages."""
    store, min_count = engine.store, int(site_report.article_count * MIN_INDEXED_SHARE)
    visited_count = sum(
        r.outcome_counts.get(Reason.FETCHED, 0) + r.outcome_counts.get(Reason.UNCHANGED, 0) for r in reports
    )
    if visited_count < min_count:
        yield f"the crawl visited {visited_count} pages, expected {min_count}"
    if store.articles.count() < min_count:
        yield f"{store.articles.count()} articles were extracted, expected {min_count}"
    if store.articles.count() > site_report.article_count:
        yield f"{store.articles.count()} articles were made of {site_report.article_count}: list pages are among them"
    if store.lexicons.applied_version() == 0:
        yield "no lexicon is published"
    if engine.index.count() != store.articles.count():
        yield f"Solr finds {engine.index.count()} documents, the store has {store.articles.count()} articles"


def iter_page_faults(engine: Engine, url: str) -> Iterator[str]:
    """What the search page does not do."""
    response = requests.get(f"{url}search", params={"q": DEMO_QUERY, "format": "json"}, timeout=10)
    if not response.ok:
        yield f"the search page answered {response.status_code}"
        return
    if not json.loads(response.content).get("hits"):
        yield f"the search page finds nothing for {DEMO_QUERY}"
    base, domain = compare_lexicons(
        create_search_client(engine),
        {"base": engine.analysis().base_segmenter, "domain": engine.analysis().domain_segmenter},
        DEMO_QUERY,
    )
    if domain.measures.first_rank != 1 or domain.measures.precision_at_10 < base.measures.precision_at_10:
        yield f"the domain lexicon does not put the whole term {DEMO_QUERY} first"
    if requests.get(f"{url}admin/lexicon", timeout=10).status_code != requests.codes.ok:
        yield "the review page does not answer"
