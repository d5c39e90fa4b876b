"""Hostile servers and pages: one real crawl of all of them, its extraction, and the memory of both."""

import base64
import json
import random
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from domain.article import Article
from domain.outcome import Outcome
from extractor import ExtractSettings
from extractor.article_extractor import ArticleExtractor
from extractor.fields.dates.date_parsing import find_date_in_text
from tests.crash_harness import Vertical
from tests.faults.servers import SENTENCE, HostileServer, Recipe
from tests.faults.tally import Tally
from tests.web_fixture import serving
from text.decoding.decode import decode_page

DEADLINE = 12.0  # maximum seconds of one fetch in these crawls
MAX_ABOVE_IDLE = 256.0  # MB
POLL = 0.05
# Our own recipes, in addition to the rows of the data folder.
OWN: tuple[Recipe, ...] = (
    {"body": "nodes", "count": 1_200_000},
    {"body": "quadratic_attrs", "count": 100_000},
    {"body": "attrs", "count": 100_000},
    {"body": "entities", "count": 400_000},
    {"body": "zeros", "encoding": "gzip,gzip,gzip", "mb": 500},
    {"slow": "never_header"},
    {"redirect": "to_metadata"},
    {"redirect": "to_solr"},
)
# Fourteen ordinary pages of 1 to 10 MB at once, with few tags and with many.
LARGE: tuple[Recipe, ...] = tuple(
    {"body": "paragraphs" if number % 2 else "list_items", "mb": min(number, 10)} for number in range(1, 15)
)
CLASSES = {"slow": "slow_servers", "redirect": "redirects", "proto": "bomb", "robots": "redirects"}


def class_of(recipe: Recipe) -> str:
    """Return the class of a recipe in the table."""
    if "mb" in recipe and recipe.get("body") in ("paragraphs", "list_items"):
        return "large"
    if "body" in recipe:
        return "bomb" if recipe["body"] == "zeros" else "nesting"
    return next((name for key, name in CLASSES.items() if key in recipe), "bomb")


def hostile_servers(recipes: Sequence[Recipe], folder: Path) -> Iterator[Tally]:
    """Crawl and extract the recipes, class by class. Each URL must have one outcome, and the memory is limited."""
    classes: dict[str, list[Recipe]] = {}
    for recipe in recipes:
        classes.setdefault(class_of(recipe), []).append(recipe)
    idle = crawled(Tally("idle"), [], folder / "idle")
    for name, chosen in classes.items():
        tally = Tally(name)
        tally.peak_mb = round(crawled(tally, chosen, folder / name) - idle, 1)
        if tally.peak_mb > MAX_ABOVE_IDLE:
            tally.complaints.append(f"{name}: {tally.peak_mb:.0f} MB above idle")
        yield tally


def crawled(
    tally: Tally, recipes: Sequence[Recipe], folder: Path, commands: Sequence[str] = ("crawl", "extract")
) -> float:
    """Crawl and extract one server for each recipe; return the peak memory of all processes in MB."""
    recipes = [*recipes, {}]  # one normal server: a crawl fails if all of its seeds fail
    hosts = {f"127.1.{number // 250}.{number % 250 + 1}": recipe for number, recipe in enumerate(recipes)}
    server = HostileServer(hosts)
    with serving(server):
        seeds = {server.url(host): host for host in hosts}
        crawl = {
            "seeds": list(seeds),
            "inside_hosts": [f"{host}:{server.port}" for host in hosts],
            "delay": 0.01,
            "depth": 1,
            "sitemaps": False,
            "total_timeout": DEADLINE,
            "max_pages": 4 * len(hosts),
            "read_timeout": 5.0,
            "connect_timeout": 5.0,
        }
        vertical = Vertical(folder).write({"crawl": crawl})
        try:
            began = time.monotonic()
            peak = max(watched(vertical, command) for command in commands)
            tally.worst_s = max(tally.worst_s, time.monotonic() - began)
        finally:
            vertical.end()
    ends = dict(
        vertical.ask("SELECT u.url, o.reason FROM outcomes o JOIN urls u USING (url_id) WHERE o.stage = 'crawl'")
    )
    for url, host in seeds.items():
        with tally.trying(json.dumps(dict(hosts[host]))):
            assert host not in server.errors, server.errors[host]
            found = [reason for one, reason in ends.items() if one == url]
            assert found, "no outcome"
    tally.connections = 0  # to internal addresses; they have no server, so outcomes show attempts
    inside = [url for url in ends if "169.254" in url or ":8983" in url]
    tally.connections = sum(
        ends[url] not in ("inside_address", "redirected_off_scope", "not_allowed") for url in inside
    )
    return peak


def watched(vertical: Vertical, command: str) -> float:
    """Run a command to its end; return the peak memory of its processes together, in MB."""
    running, peak = vertical.start(command), 0.0
    while running.poll() is None:
        peak = max(peak, sum(map(memory_of, vertical.processes())))
        time.sleep(POLL)
    said = vertical.finished(running)
    assert said.status == 0 and "Traceback" not in said.err, said
    return peak


def memory_of(pid: int) -> float:
    """Return the proportional memory (PSS) of a process in MB."""
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0.0
    return sum(int(line.split()[1]) for line in lines if line.startswith("Pss:")) / 1024


# -- rows of the data folder, and generated ones


def rows(data: Path | None, name: str) -> list[dict[str, Any]]:
    """Return the rows of a file of the data folder; an empty list if it is missing."""
    file = data / "hostile" / f"{name}.jsonl" if data else None
    return [json.loads(line) for line in file.read_text("utf-8").splitlines()] if file and file.exists() else []


def http_recipes(data: Path | None) -> list[Recipe]:
    """Return the recipes of the data folder and our own."""
    return [json.loads(row["text"]) for row in rows(data, "http")] + list(OWN + LARGE)


def date_faults(data: Path | None) -> Tally:
    """Texts similar to dates give no date or one ISO date, in less than 0.5 s of CPU time each."""
    tally, chance = Tally("dates"), random.Random(5)
    texts = [text_of(json.loads(row["text"])) for row in rows(data, "dates")]
    units = ["12:", "am pm ", "2019年", "1/", "-", "十", "May ", "2024-01-", "日", "GMT+8 ", "0"]
    texts += ["".join(chance.choices(units, k=chance.choice((5, 50, 5000)))) for _ in range(100)]
    for text in texts:
        with tally.trying(text[:40]):
            began = time.thread_time()
            day = find_date_in_text(text)
            seconds = time.thread_time() - began
            assert day == "" or (len(day) == 10 and "1990" <= day[:4] <= "2099"), day
            assert seconds < 0.5, f"{seconds:.2f} s"
    return tally


def text_of(recipe: Mapping[str, Any]) -> str:
    """Return the text of a row, or generate it from its recipe."""
    return str(recipe.get("text") or recipe["pre"] + recipe["repeat"] * recipe["times"] + recipe["post"])


def charset_faults(data: Path | None) -> Tally:
    """Pages with wrong charset labels are decoded correctly, for each encoding and wrong label."""
    tally = Tally("charset")
    for row in rows(data, "enc_pages"):
        with tally.trying(row["id"]):
            label = f"text/html; charset={row['header']}" if row["header"] else ""
            assert row["truth"] in text_read(base64.b64decode(row["b64"]), label)
    text = f"<html><title>石油</title><p>{SENTENCE * 6}</p>"
    for coding in ("gbk", "gb18030", "big5", "utf-8", "utf-16", "utf-8-sig"):
        for lie in ("", "iso-8859-1", "utf-8", "gb2312", "nonsense"):
            with tally.trying(f"{coding} said to be {lie}"):
                body = text.encode(coding, "ignore")
                assert "今天宣布" in text_read(body, f"text/html; charset={lie}" if lie else "")
    return tally


def text_read(body: bytes, label: str) -> str:
    """Return the text of a page, or an empty string if it cannot be decoded."""
    found = decode_page(body, label)
    return found.text if found else ""


def xml_faults(data: Path | None) -> Tally:
    """Sitemaps and feeds with entity bombs or external entities raise nothing and read no file."""
    from crawler.sitemaps.sitemap_parser import parse_sitemap

    tally = Tally("xml", connections=0)
    own = [
        '<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa">'
        + "".join(f'<!ENTITY {chr(98 + n)} "{f"&{chr(97 + n)};" * 10}">' for n in range(9))
        + "]><urlset><url><loc>&j;</loc></url></urlset>",
        '<!DOCTYPE x [<!ENTITY f SYSTEM "file:///etc/passwd">]><urlset><url><loc>&f;</loc></url></urlset>',
        "<urlset>" + "<url>" * 100_000,
        "<urlset>" + "<url><loc>http://a.test/</loc></url>" * 60_000,
    ]
    bodies = [payload(row) for row in rows(data, "xml")] + [one.encode() for one in own]
    for number, body in enumerate(bodies):
        with tally.trying(f"xml {number}"):
            began = time.thread_time()
            found = str(parse_sitemap(body, "http://a.test/sitemap.xml"))
            assert "root:" not in found
            assert time.thread_time() - began < 5
    return tally


def payload(row: Mapping[str, str]) -> bytes:
    """Return the bytes of a row."""
    return base64.b64decode(row["b64"]) if "b64" in row else row["text"].encode("utf-8", "surrogatepass")


def page_faults(data: Path | None, names: Iterable[str] = ("html_tree", "html_tok", "xss", "strings")) -> Tally:
    """Broken pages give an article or an outcome."""
    tally, extractor = Tally("pages"), ArticleExtractor(ExtractSettings())
    for name in names:
        for row in rows(data, name):
            with tally.trying(str(row["id"])):
                assert isinstance(extractor.extract(payload(row), "http://a.test/1.html"), Article | Outcome)
    return tally


def ssrf_faults(data: Path | None) -> Tally:
    """URLs of internal addresses, raw and canonicalized, cause no connection."""
    from urllib.parse import urljoin, urlsplit

    from crawler.http.ip_policy import PrivateAddressError, PublicOnlyPolicy, is_public_ip
    from crawler.urls.canonical import canonicalize_url, host_of
    from domain.outcome import Reason

    tally, policy = Tally("ssrf", connections=0), PublicOnlyPolicy()
    own = [
        "http://127.0.0.1/",
        "http://0177.1/",
        "http://[::ffff:10.0.0.1]/",
        "http://2130706433/",
        "http://localhost./",
    ]
    own += [
        "http://[64:ff9b::7f00:1]/",
        "http://169.254.169.254/",
        "http://0x7f.1/",
        "http://[fd00::1]/",
        "http://10.1/",
    ]
    for text in [*(row["text"] for name in ("urls_ssrf", "urls_redirect") for row in rows(data, name)), *own]:
        with tally.trying(text):
            url = canonicalize_url(text, "http://site.test/a")
            hosts: list[str] = [] if isinstance(url, Reason) else [host_of(url)]
            with suppress(ValueError):
                hosts.append(urlsplit(urljoin("http://site.test/a", text)).hostname or "")
            for host in filter(None, hosts):
                if not any(sign.isdecimal() or sign == "[" for sign in host) and "localhost" not in host:
                    continue  # a host name: no DNS lookups here
                try:
                    targets = policy.resolve_allowed(host, 80)
                except (PrivateAddressError, OSError):
                    continue
                tally.connections = (tally.connections or 0) + sum(not is_public_ip(one) for one, _ in targets)
                assert all(is_public_ip(one) for one, _ in targets)
    return tally
