"""Speed and structure of extraction, for the set `extract` of `benchmarks.structure`.

- `speed_ratio_before_types`: pages per CPU second against commit BEFORE_TYPES, the lower of Chinese and English
- `speed_ratio_trafilatura_zh`, `speed_ratio_trafilatura_en`: the same against trafilatura of .venv-peers
- `modules`: extractor modules that a page enters; median of the pages of TRACED_SET
- `switches_back`: how often such a page returns to a module that it has entered before

The trace counts each function once per page, at its first call. So the loops over the lines of a page do not count.
All systems run one after the other, in alternating rounds, in plain Python. The best round of each page or set counts.
"""

import io
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import median
from types import CodeType, FrameType

from benchmarks.extract_pages import ROOT, load_scorer, load_sets, quiet, run_system, write_jobs
from benchmarks.extract_systems import SYSTEMS, System
from benchmarks.results import OURS
from domain.errors import PlumblineError
from extractor.article_extractor import ArticleExtractor

BEFORE_TYPES = "3436bfe16f376b95da5dcad5bbda42a1135c392b"  # the last commit without page types
SETS_BY_LANGUAGE = {"zh": ("zh-news", "zh-web"), "en": ("en-aeb", "en-fundus")}
TRACED_SET = "zh-news"
ROUNDS = 2
# Prints the CPU seconds of each page of a list of jobs. Runs with any version of the extractor.
TIMING_SCRIPT = """
import json, sys, time
from extractor import extract

jobs = json.load(open(sys.argv[1], encoding="utf-8"))
pages = [(open(job["bytes"], "rb").read(), job["url"]) for job in jobs]
for html, url in pages[:5]:
    extract(html, url)
for html, url in pages:
    start = time.process_time()
    extract(html, url)
    print(time.process_time() - start)
"""


def rows(data: Path) -> Iterator[tuple[str, str, float]]:
    """Yield the rows (set, metric, value) of the set `extract`.

    Args:
        data: A folder of the form of ../shared/data.

    Raises:
        PlumblineError: The gold pages, the old commit or the peers are missing.
    """
    scorer = load_scorer(data)
    ratios: list[float] = []
    peer_ratios: dict[str, float] = {}
    with tempfile.TemporaryDirectory() as folder:
        old_tree = Path(folder) / "before_types"
        unpack_commit(BEFORE_TYPES, old_tree)
        for language, names in SETS_BY_LANGUAGE.items():
            sets = load_sets(data, scorer, names)
            if not sets:
                raise PlumblineError(f"no pages of {', '.join(names)} in {data}")
            jobs_folder = Path(folder) / language
            jobs_folder.mkdir()
            jobs = write_jobs(sets, jobs_folder)
            ratios.append(speed_ratio_to_tree(jobs, old_tree))
            peer_ratios[language] = speed_ratio_to_system(jobs, SYSTEMS["trafilatura"])
    yield "extract", "speed_ratio_before_types", min(ratios)
    for language, ratio in peer_ratios.items():
        yield "extract", f"speed_ratio_trafilatura_{language}", ratio
    traced = load_sets(data, scorer, (TRACED_SET,))
    traces = [trace_modules(gold.read(page), page.get("url") or "") for gold in traced for page in gold.pages]
    yield "extract", "modules", median(len(set(trace)) for trace in traces)
    yield "extract", "switches_back", median(count_switches_back(trace) for trace in traces)


def unpack_commit(commit: str, folder: Path) -> None:
    """Write the files of a commit to a new folder. Raises PlumblineError if the repository does not have it."""
    archive = subprocess.run(["git", "archive", commit], cwd=ROOT, capture_output=True, check=False)
    if archive.returncode:
        raise PlumblineError(f"no commit {commit[:7]} in this repository; fetch its complete history")
    with tarfile.open(fileobj=io.BytesIO(archive.stdout)) as files:
        files.extraction_filter = getattr(tarfile, "data_filter", None)  # Python 3.11.2 has no filters
        files.extractall(folder)


def speed_ratio_to_tree(jobs: Path, old_tree: Path) -> float:
    """Return the CPU seconds of the extractor in another tree, divided by those of this one."""
    seconds: dict[Path, list[float]] = {}
    for _ in range(ROUNDS):
        for tree in (old_tree, ROOT):
            measured = page_seconds(jobs, tree)
            seconds[tree] = list(map(min, measured, seconds.get(tree, measured)))
    return sum(seconds[old_tree]) / sum(seconds[ROOT])


def page_seconds(jobs: Path, tree: Path) -> list[float]:
    """Return the CPU seconds of each page with the extractor of a tree, measured in a new process."""
    command = [sys.executable, "-P", "-c", TIMING_SCRIPT, str(jobs)]
    variables = quiet() | {"PYTHONPATH": str(tree)}
    worker = subprocess.run(command, cwd=tree, env=variables, capture_output=True, text=True, check=False)
    if worker.returncode:
        raise PlumblineError(f"the extractor of {tree} failed:\n{worker.stderr[-2000:]}")
    return list(map(float, worker.stdout.split()))


def speed_ratio_to_system(jobs: Path, peer: System) -> float:
    """Return the CPU seconds of a peer, divided by those of our extractor."""
    seconds: dict[str, float] = {}
    for _ in range(ROUNDS):
        for system in (peer, SYSTEMS[OURS]):
            total = sum(run_system(system, jobs, ignore_step).seconds.values())
            seconds[system.name] = min(total, seconds.get(system.name, total))
    return seconds[peer.name] / seconds[OURS]


def ignore_step() -> None:
    """Do nothing after a page: there is no progress bar."""


def trace_modules(html: bytes, url: str) -> list[str]:
    """Return the extractor modules of the functions that a page calls, in the order of their first calls."""
    modules: list[str] = []
    known_functions: set[CodeType] = set()

    def on_event(frame: FrameType, event: str, _argument: object) -> None:
        if event == "call" and frame.f_code not in known_functions:
            known_functions.add(frame.f_code)
            name = frame.f_globals.get("__name__", "")
            if name.startswith("extractor."):
                modules.append(name)

    sys.setprofile(on_event)
    try:
        ArticleExtractor().extract(html, url)
    finally:
        sys.setprofile(None)
    return modules


def count_switches_back(trace: Sequence[str]) -> int:
    """Count the changes of module in a trace that lead to a module entered before."""
    entered, switches, previous = set[str](), 0, ""
    for module in trace:
        switches += module != previous and module in entered
        entered.add(module)
        previous = module
    return switches
