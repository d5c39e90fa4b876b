"""Scrapy as a benchmark system, with robots.txt and JOBDIR: `crawl_scrapy.py default|tuned --seeds FILE --jobdir DIR`.

Runs in the peers' environment. With --log each parsed page is written to a file at once, as acknowledgement.
"""

import argparse
import json
import os
import resource
import time
from importlib import import_module
from pathlib import Path
from typing import Any
from urllib.parse import urldefrag, urlsplit

TUNED = {
    "CONCURRENT_REQUESTS": 64,
    "CONCURRENT_REQUESTS_PER_DOMAIN": 4,
    "COOKIES_ENABLED": False,
    "RETRY_ENABLED": False,
    "LOG_ENABLED": False,
    "REACTOR_THREADPOOL_MAXSIZE": 20,
    "SCHEDULER_PRIORITY_QUEUE": "scrapy.pqueues.DownloaderAwarePriorityQueue",
}


def main() -> None:
    """Crawl, and print one JSON line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("mode", choices=["default", "tuned"])
    parser.add_argument("--seeds", required=True, type=Path)
    parser.add_argument("--jobdir", required=True)
    parser.add_argument("--pages", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--log", type=Path)
    options = parser.parse_args()
    scrapy = import_module("scrapy")
    process = import_module("scrapy.crawler").CrawlerProcess(settings_of(options))
    seeds = options.seeds.read_text().split()
    count = {"pages": 0}
    started, cpu = time.monotonic(), cpu_seconds()
    process.crawl(spider(scrapy, seeds, options.mode, options.log, count))
    process.start()
    spent = {"wall_s": time.monotonic() - started, "cpu_s": cpu_seconds() - cpu}
    rss = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps({"name": f"scrapy-{options.mode}", **count, **spent, "rss_mb": rss}), flush=True)
    os._exit(0)


def settings_of(options: argparse.Namespace) -> dict[str, Any]:
    """Return Scrapy's settings: the defaults with robots.txt, or settings tuned for speed."""
    return {
        "USER_AGENT": "crawlbench-contestant",
        "LOG_LEVEL": "ERROR",
        "ROBOTSTXT_OBEY": True,
        "JOBDIR": options.jobdir,
        "TELNETCONSOLE_ENABLED": False,
        "DOWNLOAD_DELAY": 0,
        "CLOSESPIDER_PAGECOUNT": options.pages,
        "CLOSESPIDER_TIMEOUT": options.seconds,
        **(TUNED if options.mode == "tuned" else {}),
    }


def spider(scrapy: Any, seeds: list[str], mode: str, log: Path | None, count: dict[str, int]) -> Any:
    """Create the spider: every page once, breadth first. The default uses LinkExtractor, the tuned spider uses CSS."""
    extractor = import_module("scrapy.linkextractors").LinkExtractor()
    out = log.open("a", buffering=1) if log else None

    async def start(self: Any) -> Any:
        for url in seeds:
            yield scrapy.Request(url)

    def parse(self: Any, response: Any) -> Any:
        count["pages"] += 1
        if out is not None:
            out.write(response.url + "\n")
        if mode == "default":
            urls = [link.url for link in extractor.extract_links(response)]
        else:
            urls = [urldefrag(response.urljoin(href)).url for href in response.css("a::attr(href)").getall()]
        for url in urls:
            yield scrapy.Request(url)

    hosts = sorted({urlsplit(seed).hostname or "" for seed in seeds})
    members = {"name": "bench", "allowed_domains": hosts, "start": start, "parse": parse}
    return type("BenchSpider", (scrapy.Spider,), members)


def cpu_seconds() -> float:
    """Return the CPU time of this process."""
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


if __name__ == "__main__":
    main()
