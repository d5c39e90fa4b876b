"""The experiments of the four papers: `make bench-papers [DATA=DIR] [ARGS='--only bodies,titles']`.

Each function measures one experiment of docs/background/papers.md with the modules of the other benchmarks. A set is an
experiment; all figures have the system `plumbline`. The paper's own figure is in EXPERIMENTS if it is known.
"""

import hashlib
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from random import Random
from urllib.parse import urlsplit

import click
from rich.console import Console
from rich.table import Table

from benchmarks import focus, terms
from benchmarks.command import benchmark, data_option, names
from benchmarks.extract import run_systems, sample_of
from benchmarks.extract_pages import load_scorer, load_sets, write_jobs
from benchmarks.extract_scores import score
from benchmarks.extract_systems import ABLATION
from benchmarks.focus_figures import OURS, PAPERS
from benchmarks.focus_scores import mean
from benchmarks.focus_site import NAME as GENERATED
from benchmarks.focus_stated import stated_error_figures
from benchmarks.papers_automatic import automatic_figures
from benchmarks.results import Figure, check_systems, write
from benchmarks.terms_sets import read_sets
from crawler.schedule.queues import elf_hash, fold_hash
from domain.errors import PlumblineError
from domain.outcome import Reason
from extractor.article_extractor import ArticleExtractor
from extractor.body_methods.wang_du import WangDuMethod
from extractor.page.parsed_page import ParsedPage
from pipeline import stages
from pipeline.engine import Engine
from pipeline.progress import NullProgress
from pipeline.settings import build_settings

CHINESE_SETS = ("zh-news", "zh-web", "zh-netease")
PICTURE_NEWS = "zh-short"
TOPICS = 4
STATED_TOPICS = 3  # of each web, six in all
PAPER_SETS = {"semantic": "zk", "topic_library": "wy", "semantic_tree": "zj"}
HARVEST_METRICS = {"harvest_r": "harvest", "f1": "f1", "seconds_to_10%": "seconds", "seconds_to_50%": "seconds_to_half"}
CRAWL_SECONDS, RESPONSE_SECONDS, SITE_PAGES = 15, 0.3, 3_000  # of the crawl by queue policies
NO_DATE = "9999-12-31"


@dataclass(frozen=True)
class Data:
    """The folders of the data, and the number of items of each experiment; 0: all."""

    folder: Path
    size: int = 0


@dataclass(frozen=True)
class Experiment:
    """One experiment.

    Attributes:
        paper: Id of docs/background/papers.md.
        measure: Returns its figures; they can belong to several sets.
        rows: Its rows of the table: set, metric, metric of the baseline ("": none), the paper's figure.
    """

    paper: str
    measure: Callable[[Data], Iterator[Figure]]
    rows: Sequence[tuple[str, str, str, str]]


def queues(data: Data) -> Iterator[Figure]:
    """WD-E1: the queues that URLs of one ending reach, and the load of the fullest one."""
    urls = dated_urls()
    for policy, queue_of in (("elf", elf_hash), ("hflp", fold_hash)):
        for queue_count, suffix in ((100, ""), (101, "_101")):
            loads = Counter(queue_of(url) % queue_count for url in urls)
            yield Figure("wd_queues", OURS, f"{policy}_used{suffix}", len(loads))
            yield Figure(
                "wd_queues", OURS, f"{policy}_max_over_mean{suffix}", max(loads.values()) * queue_count / len(urls)
            )


def dated_urls() -> list[str]:
    """Return URLs as the paper's site has them, which all end in `.shtml`."""
    return [
        f"http://news.cnpc.com.cn/system/2016/{n % 12 + 1:02}/{n % 28 + 1:02}/{1_591_599 + n:09}.shtml"
        for n in range(37_000)
    ]


def crawls(data: Data) -> Iterator[Figure]:
    """WD-E1 as a crawl of one slow site with 50 threads: pages by queue policy, without and with politeness."""
    unlimited = {"delay": 0.0, "delay_factor": 0.0, "per_host": 50, "per_ip": 0, "speed_up": 1.0}
    polite = {"delay": 0.1, "delay_factor": 0.0, "speed_up": 1.0}
    with slow_site() as seed:
        for name, limits in (("pages", unlimited), ("polite_pages", polite)):
            for policy in ("hflp", "elf", "host"):
                crawl: dict[str, object] = {
                    "seeds": [seed],
                    "inside_hosts": ["127.0.0.1"],
                    "queue_policy": policy,
                    "threads": 50,
                }
                crawl |= {"minutes": CRAWL_SECONDS / 60, "sitemaps": False, **limits}
                with tempfile.TemporaryDirectory() as folder:
                    settings = build_settings({"crawl": crawl}, Path(folder))
                    with Engine(settings, NullProgress()) as engine:
                        report = stages.crawl(engine)
                yield Figure("wd_crawl", OURS, f"{name}_{policy}", report.outcome_counts[Reason.FETCHED])


@contextmanager
def slow_site() -> Iterator[str]:
    """Serve a list of SITE_PAGES articles, each response after RESPONSE_SECONDS. Yields the URL of the list."""
    words = [hashlib.md5(bytes([number])).hexdigest()[:6] for number in range(256)]
    paths = [urlsplit(url).path for url in dated_urls()[:SITE_PAGES]]

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            time.sleep(RESPONSE_SECONDS)
            links = "".join(f'<p><a href="{path}">{path}</a></p>' for path in paths) if self.path == "/" else ""
            links += " ".join(Random(self.path).choices(words, k=300)) + "."
            content = f"<!doctype html><title>{self.path}</title><p>{links}</p>".encode()
            self.send_response(404 if self.path == "/robots.txt" else 200)
            self.send_header("Content-Type", "text/html")
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_: object) -> None:
            """Print nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/"
    finally:
        server.shutdown()
        server.server_close()


def bodies(data: Data) -> Iterator[Figure]:
    """WD-E3, body: F1 of the first pass, of two passes and of ours, on picture news, Chinese and English pages."""
    scorer = load_scorer(data.folder)
    sets = [sample_of(one, data.size) for one in load_sets(data.folder, scorer) if one.name.startswith(("zh-", "en-"))]
    with tempfile.TemporaryDirectory() as folder:
        jobs = write_jobs(sets, Path(folder))
        runs = run_systems(ABLATION, jobs, sum(len(one.pages) for one in sets))
    parts = {PICTURE_NEWS: "wd_body", "zh-pooled": "wd_body_zh", "en-pooled": "wd_body_en"}
    metrics = {"tag_path_ratio": "f1_baseline", "two_pass": "f1_two_pass", OURS: "f1"}
    for system in metrics:
        for figure in score(sets, runs[system], scorer):
            if figure.metric == "f1" and figure.set in parts:
                yield Figure(parts[figure.set], OURS, metrics[system], figure.value)


def titles_and_dates(data: Data) -> Iterator[Figure]:
    """WD-E3, title and date: the paper's rules (WD-A3, WD-A4) and ours, around the same bodies of Chinese pages."""
    scorer = load_scorer(data.folder)
    sets = [sample_of(one, data.size) for one in load_sets(data.folder, scorer, CHINESE_SETS)]
    extractor, paper = ArticleExtractor(), WangDuMethod()
    rows: dict[str, list[dict[str, object]]] = {"": [], "_paper": [], "_url": []}
    for gold, page in ((one, page) for one in sets for page in one.pages):
        parsed = extractor.parse_page(gold.read(page), page.get("url") or "", "")
        body = extractor.method.choose_body(parsed) if isinstance(parsed, ParsedPage) else None
        if not isinstance(parsed, ParsedPage) or body is None:
            continue
        ours, theirs = extractor.method, paper.find_published(parsed, body, NO_DATE)
        found = {
            "": (ours.find_title(parsed, body), ours.find_published(parsed, body, NO_DATE).date),
            "_paper": (paper.find_title(parsed, body), theirs.date),
            "_url": (parsed.title, theirs.date if theirs.source == "url" else ""),
        }
        for name, (title, date) in found.items():
            rows[name].append(scorer.judge(page, {"body": "", "title": title, "date": date}, None))
    for name, judged in rows.items():
        summary = scorer.summary(judged, 0, ("title", "date"), rounds=0)
        yield Figure("wd_title", OURS, f"accuracy{name}".replace("_url", "_title_element"), summary["title"])
        yield Figure("wd_date", OURS, f"accuracy{name}", summary["date"])


def c_value(data: Data) -> Iterator[Figure]:
    """WD-E4: terms of 50 articles by plain C-value, by the paper's rules and by ours; mean over the Chinese sets."""
    metrics = {"c_value_plain": "f1_baseline", "c_value": "f1_paper", OURS: "f1"}
    sets = [one for one in read_sets(data.folder) if one.language == "zh"]
    figures = [figure for one in sets[: data.size or None] for figure in terms.wd_e4(one)]
    for system, metric in metrics.items():
        values = [figure.value for figure in figures if (figure.system, figure.metric) == (system, "f1")]
        yield Figure("wd_cvalue", OURS, metric, mean(values))


def automatic(data: Data) -> Iterator[Figure]:
    """WD-E5: the comparison search of the demo after one run without a person; the baseline is the base dictionary."""
    for figure in automatic_figures():
        suffix = "" if figure.system == OURS else "_baseline"
        yield Figure(figure.set, OURS, figure.metric + suffix, figure.value)


def harvests(data: Data) -> Iterator[Figure]:
    """ZK-E3 to ZJ-E2: each paper's strategy and its baseline on TOPICS topics of every web, and its pages."""
    systems = list(dict.fromkeys(name for pair in PAPERS for name in pair))
    part = ((focus.SMOKE["set_names"], GENERATED), None, focus.SMOKE["nodes"]) if data.size else ((), None)
    webs = list(focus.graphs_of(data.folder / "webgraph", *part))
    figures: list[Figure] = []
    for web in webs:
        chosen = replace(web, topics=dict(list(web.topics.items())[:TOPICS]))
        figures += focus.measure_set(chosen, systems, 1, 1, 2, False)
    values = {(figure.set, figure.system, figure.metric): figure.value for figure in figures}
    for strategy, baseline in PAPERS:
        name = PAPER_SETS[strategy]
        for metric, own in HARVEST_METRICS.items():
            both = [web.name for web in webs if all((web.name, one, metric) in values for one in (strategy, baseline))]
            for system, suffix in ((strategy, ""), (baseline, "_baseline")):
                found = {web: values[web, system, metric] for web in both}
                yield from (Figure(f"{name} {web}", OURS, own + suffix, value) for web, value in found.items())
                yield Figure(name, OURS, own + suffix, mean(list(found.values())))
        yield from (Figure(f"{name} {web.name}", OURS, "pages", len(web.nodes)) for web in webs)
    for metric in ("semantic_precision_domain", "semantic_precision_portal"):
        yield Figure("zk", OURS, metric.removeprefix("semantic_"), values[GENERATED, "semantic", metric])


def stated_precision(data: Data) -> Iterator[Figure]:
    """The precision that `fused` states on small crawls, and the true one."""
    yield from (
        replace(figure, set="fused" if figure.set == "all" else f"fused {figure.set}", system=OURS)
        for figure in stated_error_figures(
            data.folder / "webgraph", min(data.size or STATED_TOPICS, STATED_TOPICS), seed=0
        )
    )


EXPERIMENTS = {
    "queues": Experiment(
        "WD-E1",
        queues,
        (
            ("wd_queues", "hflp_used", "elf_used", "more URLs at every time point"),
            ("wd_queues", "hflp_max_over_mean", "elf_max_over_mean", ""),
            ("wd_queues", "hflp_used_101", "elf_used_101", ""),
        ),
    ),
    "crawls": Experiment(
        "WD-E1",
        crawls,
        (
            ("wd_crawl", "pages_hflp", "pages_elf", "more URLs at every time point"),
            ("wd_crawl", "pages_elf", "pages_host", ""),
            ("wd_crawl", "polite_pages_hflp", "polite_pages_elf", ""),
        ),
    ),
    "bodies": Experiment(
        "WD-E3",
        bodies,
        (
            ("wd_body", "f1_two_pass", "f1_baseline", "clear improvement; cells lost"),
            ("wd_body", "f1", "f1_baseline", ""),
            ("wd_body_zh", "f1_two_pass", "f1_baseline", ""),
            ("wd_body_zh", "f1", "f1_baseline", ""),
            ("wd_body_en", "f1_two_pass", "f1_baseline", ""),
            ("wd_body_en", "f1", "f1_baseline", ""),
        ),
    ),
    "titles": Experiment(
        "WD-E3",
        titles_and_dates,
        (
            ("wd_title", "accuracy_paper", "accuracy_title_element", "clear improvement; cells lost"),
            ("wd_title", "accuracy", "accuracy_paper", ""),
            ("wd_date", "accuracy_paper", "accuracy_url", "clear improvement; cells lost"),
            ("wd_date", "accuracy", "accuracy_paper", ""),
        ),
    ),
    "c_value": Experiment(
        "WD-E4",
        c_value,
        (
            ("wd_cvalue", "f1_paper", "f1_baseline", "F above plain C-value; cells lost"),
            ("wd_cvalue", "f1", "f1_baseline", ""),
        ),
    ),
    "automatic": Experiment(
        "WD-E5",
        automatic,
        (
            ("wd_automatic", "mrr", "mrr_baseline", "whole-term documents lead"),
            ("wd_automatic", "example_first_rank", "example_first_rank_baseline", ""),
        ),
    ),
    "harvests": Experiment(
        "ZK-E3 to ZJ-E2",
        harvests,
        (
            ("zk", "precision_domain", "precision_portal", ".949 on domain sites, .642 on portals"),
            ("zk", "harvest", "harvest_baseline", ""),
            ("wy", "harvest", "harvest_baseline", ""),
            ("wy", "f1", "f1_baseline", "F + 24.43 points"),
            ("zj", "harvest", "harvest_baseline", "mean precision .464 to .556"),
            ("zj", "seconds", "seconds_baseline", "slower at first"),
            ("zj", "seconds_to_half", "seconds_to_half_baseline", "the gap closes"),
        ),
    ),
    "stated": Experiment("ours", stated_precision, (("fused", "stated_error", "", ""),)),
}


@benchmark("papers", size=20)
@data_option()
@click.option("--only", default=",".join(EXPERIMENTS), callback=names, help="Only these experiments, comma-separated.")
@click.option("--size", default=0, type=click.IntRange(0), help="Maximum number of items of each set; 0: all.")
def main(data: Path, only: list[str], size: int) -> None:
    """Repeat the experiments of the papers."""
    if unknown := [name for name in only if name not in EXPERIMENTS]:
        raise PlumblineError(f"no experiment {', '.join(unknown)}; there are {', '.join(EXPERIMENTS)}")
    figures: list[Figure] = []
    for name in only:
        click.echo(f"{name} ...", err=True)
        figures += EXPERIMENTS[name].measure(Data(data, size))
        write("papers", figures)  # also the figures of an interrupted run
    Console(width=None if Console().is_terminal else 150).print(table_of(figures, only))
    check_systems(figures, [OURS], {metric for name in only for _, metric, _, _ in EXPERIMENTS[name].rows})


def table_of(figures: Sequence[Figure], only: Sequence[str]) -> Table:
    """Return the table: one row for each row of the experiments."""
    values = {(figure.set, figure.metric): figure.value for figure in figures}
    table = Table("paper", "experiment", "metric", "the paper's figure", "ours", "baseline")
    for experiment in (EXPERIMENTS[name] for name in only):
        for name, metric, baseline, claim in experiment.rows:
            shown = [f"{values[name, one]:,.3f}" if (name, one) in values else "" for one in (metric, baseline)]
            table.add_row(experiment.paper, name, metric, claim, *shown)
    return table


if __name__ == "__main__":
    main()
