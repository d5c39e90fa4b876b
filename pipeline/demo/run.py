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
from pipeline.cli.shared import report_lines
from pipeline.demo.site import HOSTS, DemoServer, SiteReport, change_article, demo_urls, write_sites
from pipeline.engine import Engine, make_folder
from pipeline.progress import Progress
from pipeline.refresh import refresh, trace_lines
from pipeline.search_site.review_service import StoreReview
from pipeline.search_site.serve import SearchSite, listening_socket, search_client
from pipeline.settings import Settings, load_settings
from pipeline.template import toml_value
from search_ui.pages.compare import compare
from search_ui.passwords import hash_password

ACCEPTED = 200  # candidates that the demo accepts in the administrator's place
LOOPBACK = "127.0.0.1"
QUERY = "世界石油大会"
ACCOUNT = "demo"
PASSWORD_VARIABLE = "PLUMB_ADMIN_PASSWORD"  # a password of one's own for the demo's account
ENOUGH = 0.95  # share of the written articles that has to arrive in the index


@dataclass(frozen=True)
class DemoOptions:
    """How the demo is asked for."""

    folder: Path
    port: int = 8080
    site_port: int = 8765
    check: bool = False
    change: bool = False


def run_demo(options: DemoOptions, progress: Progress, out: Console, log_to: Callable[[Path], None]) -> None:
    """Run the demo. Raises PlumblineError if, with `check`, anything came short."""
    if not options.change:
        check_port(options.port)  # first: nobody shall wait for a crawl to hear it
    make_folder(options.folder)
    written = write_sites(options.folder / "sites")
    settings = demo_settings(options)
    make_folder(settings.data_dir / "logs")
    log_to(settings.data_dir / "logs" / "plumb.log")
    with demo_sites(options), Engine(settings, progress) as engine:
        if options.change:
            show_freshness(engine, options, out)
            return
        reports = run_stages(engine, out)
        with SearchSite(engine) as site:
            if options.check:
                check(engine, written, reports, site.url, out)
            else:
                invite(engine, options, site, out)


def check_port(port: int) -> None:
    """Raise PortInUseError where the search page could not listen."""
    try:
        listening_socket(LOOPBACK, port).close()
    except PortInUseError as error:
        raise PortInUseError(
            f"port {port} of the search page is taken by another program (or by a demo that runs already): stop it, "
            "or choose another port (make demo PORT=..., plumb demo --port ...)"
        ) from error


def demo_settings(options: DemoOptions) -> Settings:
    """The demo's vertical, written to `vertical.toml` for other commands to use."""
    path = options.folder / "vertical.toml"
    path.write_text(demo_toml(options), encoding="utf-8")
    return load_settings(path)


def demo_toml(options: DemoOptions) -> str:
    """The demo's settings: its own sites need no pauses, and are looked at anew in every run."""
    names = {f"{host}:{options.site_port}": name for host, name in HOSTS.items()}
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
def demo_sites(options: DemoOptions) -> Iterator[None]:
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
    host = next(iter(HOSTS))
    try:
        answer = requests.get(f"http://127.0.0.1:{port}/", headers={"Host": f"{host}:{port}"}, timeout=3)
    except requests.RequestException:
        return False
    return answer.ok and HOSTS[host].encode() in answer.content


def run_stages(engine: Engine, out: Console) -> list[StageReport]:
    """All stages; the first time also a lexicon, accepted in the administrator's place."""
    reports = stages.run(engine)
    if engine.store.lexicon.latest_version() == 0:
        best = [term.text for term in engine.store.lexicon.terms(TermStatus.CANDIDATE, limit=ACCEPTED)[1]]
        StoreReview(engine.store).decide(best, TermStatus.ACCEPTED, "demo")
        lexicon = stages.publish(engine)
        reports.append(stages.index(engine))
        out.print(f"lexicon: version {lexicon.version} with the {len(lexicon.entries)} best terms published")
    for line in report_lines(reports):
        out.print(line, markup=False, highlight=False)
    return reports


def invite(engine: Engine, options: DemoOptions, site: SearchSite, out: Console) -> None:
    """Tell the person where to look, and wait for Ctrl-C."""
    config = options.folder / "vertical.toml"
    out.print(f"\nsearch page:      {site.url}search?q={QUERY}")
    out.print(f"administration:   {site.url}admin/   ({sign_in_hint(engine, config)})", markup=False, highlight=False)
    out.print(f"the paper's comparison:  plumb -c {config} compare {QUERY}")
    out.print("Ctrl-C stops everything; the next run is incremental.")
    site.wait()


def sign_in_hint(engine: Engine, config: Path) -> str:
    """How to sign in. The demo makes its account itself, with a password that is shown this once."""
    given, accounts = os.environ.get(PASSWORD_VARIABLE, ""), engine.store.accounts
    if accounts.find(ACCOUNT) is None:
        password = given or secrets.token_urlsafe(9)
        accounts.add(ACCOUNT, hash_password(password), [Role.OPERATOR])
        return f"account {ACCOUNT}, password {f'from {PASSWORD_VARIABLE}' if given else password}"
    if given:
        accounts.reset(ACCOUNT, hash_password(given))
        return f"account {ACCOUNT}, password from {PASSWORD_VARIABLE}"
    return f"account {ACCOUNT}; a new password: plumb -c {config} account password {ACCOUNT}"


def show_freshness(engine: Engine, options: DemoOptions, out: Console) -> None:
    """Change a page on disk and show when each stage was done with it."""
    if engine.store.articles.count() == 0:
        raise PlumblineError("the demo has not crawled yet: run `plumb demo` once first")
    url, marker = change_article(options.folder / "sites", int(time.time()), options.site_port)
    trace = refresh(engine, url)
    for line in trace_lines(trace):
        out.print(line, markup=False, highlight=False)
    found = engine.index.search({"q": "{!field f=body v=$marker}", "marker": marker, "fl": "url"})["response"]["docs"]
    if [doc["url"] for doc in found] != [trace.url]:
        raise PlumblineError(f"a search for the changed word {marker} found {found}")
    out.print(f"a search for the new word {marker} finds the page, {trace.seconds:.2f} s after it was fetched")


def check(engine: Engine, written: SiteReport, reports: list[StageReport], url: str, out: Console) -> None:
    """Ask the page and compare every stage's counts with what was written."""
    faults = [*short_counts(engine, written, reports), *page_faults(engine, url)]
    if faults:
        raise PlumblineError("the demo came short: " + "; ".join(faults))
    store = engine.store
    out.print(
        f"check passed: {store.articles.count()} of {written.articles} articles indexed, lexicon version "
        f"{store.lexicon.latest_version()}, the search page answers at {url}",
        highlight=False,
    )


def short_counts(engine: Engine, written: SiteReport, reports: list[StageReport]) -> Iterator[str]:
    """What is missing in the stages."""
    store, enough = engine.store, int(written.articles * ENOUGH)
    visited = sum(r.counts.get(Reason.FETCHED, 0) + r.counts.get(Reason.UNCHANGED, 0) for r in reports)
    if visited < enough:
        yield f"the crawl visited {visited} pages, expected {enough}"
    if store.articles.count() < enough:
        yield f"{store.articles.count()} articles were extracted, expected {enough}"
    if store.articles.count() > written.articles:
        yield f"{store.articles.count()} articles were made of {written.articles}: list pages are among them"
    if store.lexicon.applied_version() == 0:
        yield "no lexicon is published"
    if engine.index.count() != store.articles.count():
        yield f"Solr finds {engine.index.count()} documents, the store has {store.articles.count()} articles"


def page_faults(engine: Engine, url: str) -> Iterator[str]:
    """What the search page does not do."""
    answer = requests.get(f"{url}search", params={"q": QUERY, "format": "json"}, timeout=10)
    if not answer.ok:
        yield f"the search page answered {answer.status_code}"
        return
    if not json.loads(answer.content).get("hits"):
        yield f"the search page finds nothing for {QUERY}"
    base, domain = compare(
        search_client(engine), {"base": engine.analysis().base, "domain": engine.analysis().domain}, QUERY
    )
    if domain.measures.first_rank != 1 or domain.measures.precision_at_10 < base.measures.precision_at_10:
        yield f"the domain lexicon does not put the whole term {QUERY} first"
    if requests.get(f"{url}admin/lexicon", timeout=10).status_code != requests.codes.ok:
        yield "the review page does not answer"
