"""The commands of the crawl: `plumb crawl` with a live view, `plumb frontier`, `plumb fetch URL`, `plumb sites`,
`plumb warc`."""

import json
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from rich.live import Live
from rich.table import Table
from rich.text import Text

from crawler.host_suggestions import HostSuggestion, add_site, proposed, remove_site, with_added
from crawler.urls.canonical import canonical, host_of, origin_of, refuse
from docstore.errors import PlumblineError
from docstore.model import FrontierEntry, Kind, Reason
from pipeline import stages
from pipeline.cli.console import err, json_option, say, say_or_json, say_table
from pipeline.cli.grammar import Verb, Verbs
from pipeline.cli.shared import opened, say_reports, settings_of
from pipeline.crawl_progress import how_far, in_lines
from pipeline.progress import Terminal

if TYPE_CHECKING:
    from crawler.progress import CrawlProgress
    from docstore.frontier.service import FrontierRow, SiteHealth
    from pipeline.engine import Engine

_SHOWN_HOSTS = 15
_ADDED_PRIORITY = 1.0
_DUE = "due"

# -- crawl


@click.command(cls=Verb)
@click.pass_context
@click.option("--max-pages", "crawl__max_pages", type=int, help="Stop after this many pages.")
@click.option("--minutes", "crawl__minutes", type=float, help="Stop after so many minutes.")
@click.option(
    "--processes", "crawl__processes", type=int, help="Number of crawler processes; hosts are divided among them."
)
@click.option("--strategy", "crawl__strategy", help="Order in which links are followed.")
@click.option("--topic", "crawl__topic", help="Crawl for this topic (see plumb topic init).")
def crawl(context: click.Context, /, **flags: Any) -> None:
    """Crawl new URLs and URLs that are due for a revisit."""
    with opened(settings_of(context, **flags)) as engine, live_view() as tell:
        done = stages.crawl(engine, tell)
    say_reports([done])


@contextmanager
def live_view() -> "Iterator[Callable[[CrawlProgress], None]]":
    """A table that changes while the crawl runs; a line now and then where standard error is no terminal."""
    if not err.is_terminal:
        yield in_lines(Terminal(err).note)
        return
    last: list[CrawlProgress] = []
    with Live(console=err, transient=True, refresh_per_second=2) as live:

        def tell(progress: "CrawlProgress") -> None:
            if progress.hosts:  # only now and then
                live.update(progress_table(progress, last[-1] if last else None))
                last[:] = [progress]

        yield tell


def progress_table(progress: "CrawlProgress", before: "CrawlProgress | None") -> Table:
    """All hosts that are busy, the busiest first, with what they did since `before`; the whole in the title."""
    table = Table(title=headline(progress, before), title_justify="left")
    for name in ("host", "pages/s", "pages", "errors", "left", "delay s", "answers in s"):
        table.add_column(name, justify="left" if name == "host" else "right")
    seconds = progress.seconds - before.seconds if before else progress.seconds
    busiest = sorted(progress.hosts.items(), key=lambda item: -item[1].waiting)[:_SHOWN_HOSTS]
    for host, one in busiest:
        old = before.hosts.get(host) if before else None
        rate = (one.pages - (old.pages if old else 0)) / max(seconds, 0.001)
        numbers = (f"{rate:.1f}", str(one.pages), str(one.errors), str(one.waiting))
        table.add_row(host, *numbers, f"{one.gap:.1f}", f"{one.answers_in:.2f}")
    if len(progress.hosts) > _SHOWN_HOSTS:
        table.caption = f"and {len(progress.hosts) - _SHOWN_HOSTS} hosts more"
    return table


def headline(progress: "CrawlProgress", before: "CrawlProgress | None") -> str:
    """How far the crawl is, and what came of the pages."""
    counts = progress.counts
    failed = progress.done - sum(counts.get(reason, 0) for reason in (Reason.FETCHED, Reason.UNCHANGED, Reason.GONE))
    return (
        f"{how_far(progress, before)}; {counts.get(Reason.FETCHED, 0)} new or changed, "
        f"{counts.get(Reason.UNCHANGED, 0)} unchanged, {counts.get(Reason.GONE, 0)} gone, {failed} other; "
        f"{progress.added} URLs found"
    )


# -- fetch


@click.command(cls=Verb)
@click.argument("url")
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
@click.pass_context
def fetch(context: click.Context, url: str, as_json: bool) -> None:
    """Fetch one page as the crawl would, and print every decision on the way. Nothing is kept."""
    with opened(settings_of(context)) as engine:
        say_or_json(decisions(engine, url), decision_lines, as_json)


def decisions(engine: "Engine", url: str) -> dict[str, Any]:
    """What the crawl thinks of a URL: scope, traps, robots.txt, the answer, its links. Ends where it would."""
    from crawler.crawl_plan import plan_of
    from crawler.http.fetch import Fetcher
    from crawler.parallel.fetch_pool import Job, Reader
    from crawler.robots.cache import fetch_robots, rules_of
    from crawler.urls.traps import shape_trap

    settings = with_added(engine.settings.crawl, engine.settings.data_dir)
    plan = plan_of(settings)
    address = canonical(url)
    if isinstance(address, Reason):
        return {"url": url, "refused": address}
    found: dict[str, Any] = {"url": address, "queue": plan.queue_of(address)}
    entry = engine.store.frontier.entries([address]).get(address)
    found["known"] = {"depth": entry.depth, "kind": entry.kind, "attempts": entry.attempts} if entry else None
    found["scope"] = refuse(address, plan.rules) or "allowed"
    found["trap"] = shape_trap(address, time.gmtime().tm_year) or "none"
    with closing(Fetcher(settings, engine.addresses)) as fetcher:
        answer = fetch_robots(fetcher, origin_of(address), time.time, lambda: time.sleep(settings.delay))
        rules = rules_of(answer.stored, plan.agent)
        refusal = answer.failure or rules.refuse(address)
        found["robots"] = {"status": answer.stored.status, "crawl_delay": rules.delay, "sitemaps": rules.sitemaps}
        if refusal is not None:
            return found | {"refused": f"{refusal.reason} {refusal.detail}".strip()}
        time.sleep(max(settings.delay, rules.delay))
        fresh = FrontierEntry(0, address, host_of(address), 0, 0, Kind.UNKNOWN, 0.0)
        with closing(Reader(fetcher, plan, time.time)) as reader:
            return found | answered(reader.work(Job(fresh)))


def answered(done: Any) -> dict[str, Any]:
    """What came back."""
    from crawler.parallel.fetch_pool import PageDone

    if not isinstance(done, PageDone):
        raise PlumblineError("internal error: the fetcher returned no page result")
    result, page = done.result, done.result.page
    found: dict[str, Any] = {"outcome": f"{result.outcome.reason} {result.outcome.detail}".strip()}
    if result.redirect:
        found["redirect"] = result.redirect
    if page is not None:
        found["page"] = {"status": page.status, "content_type": page.content_type, "bytes": len(page.body)}
        found["page"] |= {"etag": page.etag, "last_modified": page.last_modified, "sha256": page.digest}
        found["links"] = {"followed": len(done.links), **done.refused}
        found["feeds"] = list(done.feeds)
        found["noindex"] = done.noindex
    return found


def decision_lines(found: dict[str, Any]) -> list[str]:
    """One line a decision."""
    return [f"{name:<9} {line(value)}" for name, value in found.items()]


def line(value: Any) -> str:
    """A value, dictionaries as `name value`."""
    if isinstance(value, dict):
        return ", ".join(f"{name} {line(one)}" for name, one in value.items())
    if isinstance(value, list | tuple):
        return " ".join(map(str, value)) or "none"
    return "none" if value in (None, "") else str(value)


# -- sites


@click.group(cls=Verbs, invoke_without_command=True)
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
@click.pass_context
def sites(context: click.Context, as_json: bool) -> None:
    """List sites with their known, due and saved URLs and failed visits.

    Out-of-scope hosts are never crawled. `proposed` lists hosts that saved pages link to; `add` adds one.
    """
    if context.invoked_subcommand is not None:
        return
    with opened(settings_of(context)) as engine:
        found = engine.store.frontier.desk.sites(time.time())
    say_table(found, lambda: site_table(found), as_json)


@sites.command("proposed")
@click.option("--limit", default=20, show_default=True, help="Maximum number of rows.")
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
@click.pass_context
def sites_proposed(context: click.Context, limit: int, as_json: bool) -> None:
    """Hosts that kept pages often link to, to many URLs and from many sites."""
    found = proposed(settings_of(context).data_dir)[:limit]
    say_table(found, lambda: proposal_table(found), as_json)


def proposal_table(found: list[HostSuggestion]) -> Table:
    """One row a host."""
    table = Table("host")
    for name in ("addresses", "sites", "pages"):
        table.add_column(name, justify="right")
    table.add_column("for example")
    for one in found:
        numbers = (str(number) for number in (one.addresses, one.sites, one.pages))
        table.add_row(one.host, *numbers, Text(f"{one.anchor} {one.example}".strip()))
    return table


@sites.command("add")
@click.argument("hosts", nargs=-1, required=True)
@click.pass_context
def sites_add(context: click.Context, hosts: tuple[str, ...]) -> None:
    """Add hosts, by name or URL; the next crawl also starts at their home pages."""
    folder = settings_of(context).data_dir
    from pipeline.engine import make_folder

    make_folder(folder)
    say([f"{add_site(folder, host)} added" for host in hosts])


@sites.command("remove")
@click.argument("host")
@click.pass_context
def sites_remove(context: click.Context, host: str) -> None:
    """Remove an added host. Its fetched pages are kept."""
    if not remove_site(settings_of(context).data_dir, host):
        raise PlumblineError(f"{host[:200]} was not added with `plumb sites add`")
    say([f"{host} is no longer crawled"])


def site_table(found: "list[SiteHealth]") -> Table:
    """One row a host."""
    table = Table()
    for name in ("host", "known", "new", "due", "kept", "bad", "last visit"):
        table.add_column(name, justify="left" if name == "host" else "right")
    for site in found:
        numbers = (str(number) for number in (site.known, site.new, site.due, site.kept, site.bad))
        table.add_row(site.host, *numbers, moment(site.last_visit))
    return table


def moment(at: float | None) -> str:
    """Local time to the minute."""
    return time.strftime("%Y-%m-%d %H:%M", time.localtime(at)) if at else "never"


# -- frontier


@click.group(cls=Verbs)
def frontier() -> None:
    """List known URLs and change when they are crawled.

    PART is a URL, or a URL prefix ending in *, for example http://news.example.com/oil/*
    """


@frontier.command()
@click.argument("part", default="*")
@click.option("--limit", default=50, show_default=True, help="Maximum number of rows.")
@json_option
@click.pass_context
def show(context: click.Context, part: str, limit: int, as_json: bool) -> None:
    """Print URLs with when they are due and how their last visit ended."""
    with opened(settings_of(context)) as engine:
        rows = list(engine.store.frontier.desk.rows(part, limit))
        say_or_json([asdict(row) for row in rows], lambda _: map(row_line, rows), as_json)


def row_line(row: "FrontierRow") -> str:
    """A URL in one line."""
    due = "never" if row.due_at is None else _DUE if row.due_at <= time.time() else moment(row.due_at)
    return f"{due:<16} {row.kind:<8} {row.depth} {row.reason or 'not crawled yet':<20} {row.url}"


@frontier.command()
@click.argument("urls", nargs=-1, required=True)
@click.pass_context
def add(context: click.Context, urls: tuple[str, ...]) -> None:
    """Add URLs to the frontier; the next crawl fetches them first."""
    with opened(settings_of(context)) as engine:
        from crawler.crawl_plan import plan_of
        from docstore.frontier.table import NewUrl

        plan = plan_of(with_added(engine.settings.crawl, engine.settings.data_dir))
        new: list[NewUrl] = []
        for text in urls:
            url = canonical(text)
            reason = url if isinstance(url, Reason) else refuse(url, plan.rules)
            if reason is not None:
                raise PlumblineError(f"{text[:200]}: {reason}; nothing was added")
            new.append(NewUrl(url, host_of(url), plan.queue_of(url), 0, Kind.UNKNOWN, _ADDED_PRIORITY))
        added = engine.store.frontier.add(new)
    say([f"{added} added, {len(new) - added} known already"])


@frontier.command()
@click.argument("part")
@click.pass_context
def block(context: click.Context, part: str) -> None:
    """Stop crawling the known URLs of PART. (New URLs are governed by crawl.scope.)"""
    with opened(settings_of(context)) as engine:
        say([f"{engine.store.frontier.desk.block(part)} blocked"])


@frontier.command()
@click.argument("part")
@click.pass_context
def requeue(context: click.Context, part: str) -> None:
    """Make the URLs of PART due now, including blocked ones."""
    with opened(settings_of(context)) as engine:
        say([f"{engine.store.frontier.desk.requeue(part)} due now"])


@frontier.command()
@click.argument("part", default="*")
@click.pass_context
def export(context: click.Context, part: str) -> None:
    """Print all that is known of URLs, one JSON object a line."""
    with opened(settings_of(context)) as engine:
        for row in engine.store.frontier.desk.rows(part):
            click.echo(json.dumps(asdict(row), ensure_ascii=False))


# -- warc


@click.group(cls=Verbs)
def warc() -> None:
    """Export pages from the store. (`plumb import` takes them in.)"""


@warc.command("export")
@click.argument("file", type=click.Path(path_type=Path))
@click.argument("part", default="*")
@click.pass_context
def warc_export(context: click.Context, file: Path, part: str) -> None:
    """Write the kept pages of PART (see `plumb frontier`) into a new WARC file, named as *.warc.gz."""
    with opened(settings_of(context)) as engine:
        say([f"{engine.store.frontier.export(part, file)} pages in {file}"])
