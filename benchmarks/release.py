"""`make bench-release`: the release as its users meet it.

Sets:
- `start`: seconds until the first search in the demo succeeds. With the wheel of `make dist` they include the
  installation of all libraries, by pip (as `pipx install`) and by uv (as `uv tool install`). With the image of
  deploy/Containerfile they begin at its start with an empty volume.
- `mcp`: conformance and size of answers of the MCP endpoint (benchmarks/release_mcp.py).
- `disk`: disk use per article (benchmarks/release_disk.py).
"""

import json
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import click
import requests

from benchmarks.command import benchmark, names
from benchmarks.release_disk import measure_disk
from benchmarks.release_mcp import measure_mcp
from benchmarks.results import OURS, Figure, publish
from domain.errors import PlumblineError
from pipeline.demo.articles import COMPARISON_TERM

ROOT = Path(__file__).resolve().parents[1]
RELEASE_PYTHON = ROOT / ".venv-release" / "bin" / "python"
WHEEL_STARTS = (("wheel_seconds_to_first_search", False), ("wheel_uv_seconds_to_first_search", True))
START_TIMEOUT_SECONDS = 1800.0
STOP_TIMEOUT_SECONDS = 60.0
POLL_SECONDS = 0.2


def measure_start(is_short: bool) -> Iterator[Figure]:
    """Measure the first search with the wheel, and with the image. The short form installs nothing and has no image."""
    for metric, has_uv in WHEEL_STARTS[:1] if is_short else WHEEL_STARTS:
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:  # Solr ends later
            started_at = time.monotonic()
            scripts = Path(sys.executable).parent if is_short else install_wheel(Path(folder) / "venv", has_uv)
            with run_demo(scripts / "plumb", Path(folder)) as (url, process):
                wait_for_results(url, process)
                yield Figure("start", OURS, metric, time.monotonic() - started_at)
    if not is_short:
        command = [str(RELEASE_PYTHON), str(ROOT / "deploy" / "check_image.py"), "--json"]
        figures = json.loads(subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout)
        yield Figure("start", OURS, "image_seconds_to_first_search", figures["seconds to first search"])
        yield Figure("start", OURS, "image_megabytes", figures["size, MiB"])
        yield Figure("start", OURS, "image_memory_megabytes", figures["memory, MiB"])


SETS: Mapping[str, Callable[[bool, int], Iterable[Figure]]] = {
    "start": lambda is_short, _: measure_start(is_short),
    "mcp": lambda is_short, _: measure_mcp(is_short),
    "disk": lambda _, article_count: measure_disk(article_count),
}


def install_wheel(environment: Path, has_uv: bool) -> Path:
    """Install the wheel for one machine in a new environment, as its users do; return its folder of scripts."""
    wheels = list((ROOT / "dist").glob("*.whl"))
    if len(wheels) != 1:
        raise PlumblineError(f"no wheel in {ROOT / 'dist'}: run `make dist`")
    subprocess.run([sys.executable, "-m", "venv", str(environment)], check=True)
    python = str(environment / "bin" / "python")
    pip = [python, "-m", "pip", "install", "--disable-pip-version-check"]
    installer = [str(RELEASE_PYTHON.with_name("uv")), "pip", "install", "--python", python] if has_uv else pip
    subprocess.run([*installer, "--quiet", "-c", str(ROOT / "constraints.txt"), f"{wheels[0]}[meaning]"], check=True)
    return environment / "bin"


@contextmanager
def run_demo(program: Path, folder: Path) -> Iterator[tuple[str, "subprocess.Popen[bytes]"]]:
    """Run `plumb demo` in `folder`; yield the URL of its search page, before it responds, and the process."""
    with socket.create_server(("127.0.0.1", 0)) as first, socket.create_server(("127.0.0.1", 0)) as second:
        port, site_port = first.getsockname()[1], second.getsockname()[1]
    command = [str(program), "demo", "--port", str(port), "--site-port", str(site_port)]
    with subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL) as process:
        try:
            yield f"http://127.0.0.1:{port}/", process
        finally:
            process.send_signal(signal.SIGINT)
            process.wait(STOP_TIMEOUT_SECONDS)


def wait_for_results(url: str, process: "subprocess.Popen[bytes]") -> None:
    """Search until there are results. Raises PlumblineError if the process ends, or after START_TIMEOUT_SECONDS."""
    deadline = time.monotonic() + START_TIMEOUT_SECONDS
    while time.monotonic() < deadline and process.poll() is None:
        try:
            if requests.get(f"{url}api/v1/search", {"q": COMPARISON_TERM}, timeout=10).json()["total"]:
                return
        except (requests.RequestException, ValueError, KeyError):
            pass  # not started yet, or Solr is starting
        time.sleep(POLL_SECONDS)
    raise PlumblineError(f"{url} finds nothing")


@benchmark("release", set_names="start,disk", is_short=True, article_count=20)
@click.option("--only", "set_names", default=",".join(SETS), callback=names, help="Sets, with commas between.")
@click.option("--short", "is_short", is_flag=True, help="Without an installation and an image.")
@click.option("--articles", "article_count", default=100_000, type=click.IntRange(1), help="Articles of the set disk.")
def main(set_names: list[str], is_short: bool, article_count: int) -> None:
    """Measure the release."""
    if unknown := set(set_names) - SETS.keys():
        raise click.BadParameter(f"unknown sets: {', '.join(sorted(unknown))}")
    publish("release", [figure for name in set_names for figure in SETS[name](is_short, article_count)])


if __name__ == "__main__":
    main()
