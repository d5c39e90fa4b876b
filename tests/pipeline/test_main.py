"""A signal stops the program wherever it arrives."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from pipeline.cli.main import StopSignalHandler
from tests.pipeline.test_config_argument import VERBS, arguments_of
from tests.web_fixture import PATIENCE, Site, page


class Interrupted:
    """Receives a signal in its finalizer, where Python ignores exceptions."""

    def __del__(self) -> None:
        signal.raise_signal(signal.SIGINT)


def test_a_signal_in_a_finalizer_is_not_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    handler = StopSignalHandler()
    monkeypatch.setattr(sys, "unraisablehook", handler.handle_unraisable)
    previous = signal.signal(signal.SIGINT, handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            Interrupted()
            time.sleep(PATIENCE)
    finally:
        signal.signal(signal.SIGINT, previous)


# -- Packages that commands load: help and errors in settings wait for none, work waits only for the packages it uses.


MODELS = ("scipy", "sklearn", "numpy", "jieba", "rjieba", "pypinyin")
SITE = ("flask", "babel", "gunicorn", "prometheus_client", "argon2", "mcp", "httpx2")
EXTRACTOR = ("extractor.article_extractor", "ftfy")
SOLR = ("requests", "pysolr")
CRAWLER = ("urllib3", "lxml", "bs4")
STORE = ("sqlalchemy", "warcio", "fsspec", "structlog", "apscheduler")
OUR_PACKAGES = ("docstore", "solr_client", "locks", "crawler", "lexicon", "indexer", "search_ui", "pipeline")

# Runs command lines one after another in one interpreter; prints for each the error and the packages it has loaded.
CODE = """
import io, json, sys
from contextlib import redirect_stdout
from domain.errors import PlumblineError
from pipeline.cli.main import cli
command_lines, packages = json.loads(sys.stdin.read())
reports = []
for command_line in command_lines:
    before = set(sys.modules)
    error = ""
    try:
        with redirect_stdout(io.StringIO()):
            cli.main(command_line, standalone_mode=False)
    except PlumblineError as failure:
        error = str(failure)
    reports.append([error, sorted((set(sys.modules) - before) & set(packages))])
print(json.dumps(reports))
"""
MISSING_ARGUMENTS = {("explain",): ["http://a.test/"], ("topic", "init"): ["--terms", "页岩气"]}


def run_in_turn(folder: Path, command_lines: list[list[str]], packages: tuple[str, ...]) -> list[tuple[str, list[str]]]:
    """Run command lines in one new interpreter; for each its error and those of `packages` that it loaded first."""
    run = subprocess.run(
        [sys.executable, "-c", CODE],
        input=json.dumps([command_lines, packages]),
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])},
        capture_output=True,
        text=True,
        check=True,
    )
    return [(error, loaded) for error, loaded in json.loads(run.stdout.splitlines()[-1])]


@pytest.mark.process
def test_help_and_settings_errors_of_every_verb_load_no_package_of_a_stage(tmp_path: Path) -> None:
    (tmp_path / "wrong.toml").write_text("[crawl]\nthread = 8\n")
    (tmp_path / "7").write_text("页岩气\n", encoding="utf-8")  # for verbs that take a file
    packages = (*MODELS, *SITE, *EXTRACTOR, *SOLR, *CRAWLER, *STORE)
    mistakes = [
        ["-c", "wrong.toml", *path, *arguments_of(verb), *MISSING_ARGUMENTS.get(path, [])]
        for path, verb in VERBS.items()
    ]
    helps = [["--help"], *([*path, "--help"] for path in (*VERBS, ("demo",), ("init",), ("lexicon", "rules")))]
    (tmp_path / "nobody.toml").write_text('[[sites]]\nurls = ["https://news.test/"]\n')
    early = [["-c", "nobody.toml", "run"], ["-c", "nobody.toml", "crawl"]]
    *reports, run, crawl = run_in_turn(tmp_path, helps + mistakes + early, packages)
    for error, loaded in (run, crawl):
        assert error.startswith("crawl.contact is empty") and loaded == []
    assert not (tmp_path / "data").exists()
    loads = {" ".join(line): loaded for line, (_, loaded) in zip(helps + mistakes, reports, strict=True) if loaded}
    assert loads == {}
    errors = {" ".join(line): error for line, (error, _) in zip(mistakes, reports[len(helps) :], strict=True)}
    assert {name: error for name, error in errors.items() if "crawl.thread" not in error} == {}


@pytest.mark.process
@pytest.mark.always
def test_a_verb_loads_the_packages_that_it_works_with(tmp_path: Path) -> None:
    with Site({"/": page("/a"), "/a": page(text="<p>页岩气</p>")}) as site:
        settings = f'seeds = ["{site.url("/")}"]\ninside_hosts = ["{site.host}"]\ndelay = 0.001\n'
        (tmp_path / "vertical.toml").write_text(f"[crawl]\n{settings}")
        store_alone = ("status", "frontier show", "sites", "account list", "lexicon show", "lexicon history", "alerts")
        command_lines = [line.split() for line in (*store_alone, "crawl", "run --until crawl")]
        packages = (*MODELS, *SITE, *EXTRACTOR, *SOLR, *CRAWLER, "warcio")
        reports = run_in_turn(tmp_path, command_lines, packages)
    loads = {" ".join(line): loaded for line, (_, loaded) in zip(command_lines, reports, strict=True) if loaded}
    assert [error for error, _ in reports if error] == []
    assert loads == {"crawl": sorted({*CRAWLER, "warcio"} - {"bs4"})}  # only broken pages need bs4


@pytest.mark.process
def test_the_extractor_alone_loads_no_store_site_or_model(tmp_path: Path) -> None:
    html = "<title>页岩气</title>" + "<p>页岩气水平井压裂技术在四川盆地取得重大突破，日产量达到十万立方米。</p>" * 9
    packages = [*MODELS, *SITE, *SOLR, *STORE, *OUR_PACKAGES]
    code = f"""
import sys
from extractor import extract
print(extract({html!a}, "http://a.test/1").title, *sorted(set(sys.modules) & set({packages})))
"""
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2]), "PYTHONIOENCODING": "utf-8"}
    run = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, env=environment, capture_output=True, encoding="utf-8", check=True
    )
    assert run.stdout.split() == ["页岩气"]


@pytest.mark.process
@pytest.mark.always
def test_the_site_starts_without_the_packages_of_mcp() -> None:
    code = "import sys, pipeline.search_site.search_app; print(*sys.modules.keys() & {'mcp', 'httpx2', 'pydantic'})"
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    run = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    assert run.stdout.split() == []
