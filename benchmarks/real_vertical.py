"""The vertical that all sets of `make bench-real` share: real sites, crawled once and extracted."""

import json
import re
import resource
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from urllib.parse import quote, unquote, urlsplit

from benchmarks.real_recipe import PAGE_SUFFIXES, Site, kept_files
from benchmarks.real_web import RealWeb
from crawler.urls.canonical import canonicalize_url
from domain.errors import PlumblineError
from domain.outcome import Reason, StageReport
from pipeline import stages
from pipeline.engine import Engine
from pipeline.progress import Progress
from pipeline.settings import Settings, build_settings

MAX_CRAWL_MINUTES = 600.0
_RECORD = "built.json"
_UNQUOTED = "/!$&'()*+,;=:@~"  # what RFC 3986 lets stand in a path, as most sites write it


@dataclass(frozen=True)
class StageCost:
    """Result of a stage: outcomes by reason, wall and CPU seconds, requests, and bytes of content sent."""

    counts: Mapping[str, int]
    seconds: float
    cpu_seconds: float
    requests: int = 0
    bytes: int = 0


@dataclass(frozen=True)
class Vertical:
    """Sites on a running web, the open engine that has crawled and extracted them, and the `costs` of the stages."""

    sites: Sequence[Site]
    web: RealWeb
    engine: Engine
    costs: Mapping[str, StageCost]

    def site_of(self, url: str) -> Site | None:
        """Return the site of `url`."""
        host = urlsplit(url).hostname or ""
        return next((site for site in self.sites if site.host == host), None)

    def pages_of(self, site: Site) -> Iterator[tuple[str, Path]]:
        """Yield each page of a site's tree: its unescaped URL path, and its file."""
        tree = self.web.trees[site.host]
        for file in kept_files(tree):
            if file.suffix.lower() in PAGE_SUFFIXES:
                yield "/" + file.as_posix().removesuffix("index.html"), tree / file

    def spellings(self, site: Site, path: str) -> list[str]:
        """Return the canonical URLs under which a static host serves the page at `path`, the shortest first."""
        written = {path, path.removesuffix(".html"), path + "index.html" if path.endswith("/") else path}
        found = (
            canonicalize_url(self.web.url(site.host, quote(one, safe=_UNQUOTED))) for one in sorted(written, key=len)
        )
        return [url for url in found if not isinstance(url, Reason)]


def path_of(url: str) -> str:
    """Return the unescaped path of a URL without query, as the patterns of a recipe match it."""
    return unquote(urlsplit(url).path).removesuffix("index.html")


def is_article(site: Site, path: str) -> bool:
    """True if the page at `path` is certainly an article."""
    return bool(site.articles and re.match(site.articles, path)) and not is_list(site, path)


def is_list(site: Site, path: str) -> bool:
    """True if the page at `path` is certainly a list."""
    return bool(site.lists and re.match(site.lists, path))


@contextmanager
def open_vertical(
    sites: Sequence[Site], trees: Mapping[str, Path], folder: Path, progress: Progress
) -> Iterator[Vertical]:
    """Open the vertical in `folder`, and create it if missing. Raises PlumblineError if it has other sites."""
    with RealWeb(trees, frozenset(site.host for site in sites if site.scheme == "https")) as web:
        folder.mkdir(parents=True, exist_ok=True)
        with Engine(settings_for(sites, web, folder), progress, ip_policy=web) as engine:
            made = Made(folder / _RECORD, [site.host for site in sites], web)
            made.once("crawl", engine)
            made.once("extract", engine)
            yield Vertical(sites, web, engine, made.costs)


def settings_for(sites: Sequence[Site], web: RealWeb, folder: Path) -> Settings:
    """Return the default settings except for delays and time limits: all hosts have the IP address of our server."""
    crawl = {
        "seeds": [web.url(site.host, site.start) for site in sites],
        "contact": "https://plumbline.test/bench",
        "delay": 0.001,
        "per_host": 8,
        "per_ip": 0,
        "minutes": MAX_CRAWL_MINUTES,
    }
    search = {"timeout": 60.0}  # quality is measured, not a busy machine
    return build_settings({"vertical": {"data_dir": "data"}, "crawl": crawl, "search": search}, folder)


@dataclass
class Made:
    """Finished stages of a saved vertical with their costs, stored in a file next to it."""

    path: Path
    hosts: list[str]
    web: RealWeb
    costs: dict[str, StageCost] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not self.path.exists():
            return
        kept = json.loads(self.path.read_text(encoding="utf-8"))
        if kept["hosts"] != self.hosts:
            raise PlumblineError(f"{self.path.parent} was made of other sites: give another folder to --keep")
        self.costs = {stage: StageCost(**cost) for stage, cost in kept["costs"].items()}

    def once(self, stage: str, engine: Engine) -> None:
        """Run a stage unless it is already finished."""
        if stage not in self.costs:
            self.costs[stage] = measured(stage, engine, self.web)
            rows = {name: asdict(cost) for name, cost in self.costs.items()}
            text = json.dumps({"hosts": self.hosts, "costs": rows}, indent=1)
            self.path.write_text(text, encoding="utf-8")


def measured(stage: str, engine: Engine, web: RealWeb) -> StageCost:
    """Run a stage and return its cost."""
    before, cpu = web.counts(), cpu_seconds()
    report: StageReport = stages.STAGES[stage](engine)
    after = web.counts()
    return StageCost(
        {reason.value: count for reason, count in report.outcome_counts.items()},
        report.seconds,
        cpu_seconds() - cpu,
        after["requests"] - before["requests"],
        after["bytes"] - before["bytes"],
    )


def cpu_seconds() -> float:
    """Return the CPU time of this process and its finished children, without the server of the sites."""
    both = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in both)
