"""Set `mcp` of `make bench-release`: the MCP endpoint of the demo's site.

conformance     share of the checks of the official conformance suite (npm) that pass, of the scenarios that apply
schema_tokens   tokens of the definitions of all tools
answer_tokens   tokens of the longest answer: search, fetch, term and explain for each query

Tokens are the site's own estimate (search_ui/connect/token_budget.py). The suite needs Node 22, which npx
fetches like the suite itself.
"""

import json
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import requests

from benchmarks.demo_search_site import open_demo_site
from benchmarks.results import OURS, Figure
from domain.errors import PlumblineError
from search_ui.connect.token_budget import estimate_json_tokens, estimate_tokens

SUITE = ("npx", "--yes", "-p", "node@22", "-p", "@modelcontextprotocol/conformance@0.1.16", "conformance", "server")
SCENARIOS = ("server-initialize", "ping", "tools-list", "dns-rebinding-protection")
"""The scenarios that apply. The others call test tools of the suite or need capabilities that the site lacks."""
QUERIES = ("页岩气", "水力压裂 技术", "LNG 价格", "shale gas", "四川盆地 产量 增长")
TIMEOUT_SECONDS = 120.0


def measure_mcp(is_short: bool) -> list[Figure]:
    """Return the figures of the set; the short form of one query and without the suite."""
    with open_demo_site() as (_, site), tempfile.TemporaryDirectory(prefix="plumbline-mcp-") as folder:
        return measure_on_site(f"{site.url}mcp", None if is_short else Path(folder))


def measure_on_site(url: str, folder: Path | None) -> list[Figure]:
    """Measure the endpoint of a running site. `folder` is for the results of the suite; None: do not run it."""
    schema = request(url, "tools/list")["tools"]
    answers = iter_answers(url, QUERIES if folder else QUERIES[:1])
    conformance = [Figure("mcp", OURS, "conformance", conformance_share(url, folder))] if folder else []
    return [
        *conformance,
        Figure("mcp", OURS, "schema_tokens", estimate_json_tokens(schema)),
        Figure("mcp", OURS, "answer_tokens", max(map(estimate_tokens, answers))),
    ]


def conformance_share(url: str, folder: Path) -> float:
    """Return the share of passed checks. Raises PlumblineError if a scenario does not run."""
    if shutil.which("npx") is None:
        raise PlumblineError("npx is missing: install Node.js with npm")
    statuses: list[str] = []
    for scenario in SCENARIOS:
        output = folder / scenario
        command = [*SUITE, "--url", url, "--scenario", scenario, "--output-dir", str(output)]
        subprocess.run(command, capture_output=True, timeout=600, check=False)
        reports = list(output.rglob("checks.json"))
        if not reports:
            raise PlumblineError(f"the conformance suite did not run scenario {scenario}")
        statuses += [check["status"] for report in reports for check in json.loads(report.read_text("utf-8"))]
    counted = [status for status in statuses if status in ("SUCCESS", "FAILURE", "WARNING")]
    return counted.count("SUCCESS") / len(counted)


def iter_answers(url: str, queries: Sequence[str]) -> Iterator[str]:
    """Yield answers of all tools, for all pages and parts that a continuation names."""
    for query in queries:
        first = call_tool(url, "search", query=query)
        yield first
        for hit in json.loads(first)["results"]:
            article = call_tool(url, "fetch", id=hit["id"])
            yield article
            for part in range(2, json.loads(article)["metadata"]["parts"] + 1):
                yield call_tool(url, "fetch", id=hit["id"], part=part)
            yield call_tool(url, "explain", query=query, id=hit["id"])
        yield call_tool(url, "term", name=query.split()[0])
        yield call_tool(url, "explain", query=query)


def call_tool(url: str, name: str, /, **arguments: Any) -> str:
    """Return the text of an answer."""
    [content] = request(url, "tools/call", {"name": name, "arguments": arguments})["content"]
    return str(content["text"])


def request(url: str, method: str, params: dict[str, Any] | None = None) -> Any:
    """Return the result of a JSON-RPC request."""
    message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params or {}}
    response = requests.post(url, json=message, headers={"Accept": "application/json"}, timeout=TIMEOUT_SECONDS)
    response.raise_for_status()
    return response.json()["result"]
