"""Packaging: flat package names must not collide with other packages or standard modules; all files are installed."""

import configparser
import importlib.metadata
import json
import os
import re
import runpy
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
DEBIANS = Path("/usr/bin/python3")
check_python = runpy.run_path(str(ROOT / "deploy" / "check_python.py"))
BOUNDS = check_python["supported_versions"]((ROOT / "setup.cfg").read_text())
TOP = {
    "domain", "locks", "solr_client", "maven_jars", "docstore", "text", "crawler", "focused", "extractor", "lexicon",
    "indexer", "search_ui", "solr_conf", "pipeline",
}  # fmt: skip


def listed_packages() -> list[str]:
    config = configparser.ConfigParser()
    config.read(ROOT / "setup.cfg")
    return config["options"]["packages"].split()


def test_every_package_is_listed() -> None:
    found = {".".join(path.parent.relative_to(ROOT).parts) for top in TOP for path in (ROOT / top).rglob("__init__.py")}
    assert sorted(found) == sorted(listed_packages())


def test_our_names_belong_to_us_alone() -> None:
    ours = {"plumbline-search", "plumbline"}  # an environment made before the distribution was renamed has both
    owners = importlib.metadata.packages_distributions()
    clashes = {name: owners[name] for name in TOP if not set(owners.get(name, ())) <= ours}
    assert clashes == {}


def test_no_module_hides_a_standard_one() -> None:
    names = {path.stem for top in TOP for path in (ROOT / top).rglob("*.py")}
    ambiguous = {"queue", "html", "select", "types", "logging", "re", "json", "time", "email", "site_packages"}
    assert names & ambiguous == set()


@pytest.mark.always
def test_the_wheel_holds_what_the_program_needs(tmp_path: Path) -> None:
    """Build the wheel from a copy of the tracked files, so that untracked files cannot hide a missing file."""
    listed = subprocess.run(["git", "ls-files", *TOP], cwd=ROOT, capture_output=True, text=True, check=True)
    tracked = [name for name in listed.stdout.splitlines() if not name.endswith("/README.md")]
    assert len(tracked) > 300
    copy = tmp_path / "project"
    for name in (*tracked, "setup.cfg", "pyproject.toml", "README.md", "LICENSE", "NOTICE"):
        (copy / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / name, copy / name)
    build = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", str(tmp_path), str(copy)]
    subprocess.run(build, check=True)
    [wheel] = tmp_path.glob("plumbline_search-*.whl")
    assert sorted(set(tracked) - set(zipfile.ZipFile(wheel).namelist())) == []


def test_the_lock_has_the_pins_of_the_constraints_and_hashes() -> None:
    """`make lock` writes it again after a change of constraints.txt or setup.cfg."""
    lock = (ROOT / "requirements.lock").read_text()
    entries = re.findall(r"^([\w.-]+)==([^ ]+)(.*(?:\n +.*)*)$", lock, re.M)
    constraints = (ROOT / "constraints.txt").read_text().split()
    pins = {normalize(name): version for name, _, version in (line.partition("==") for line in constraints)}
    other_platforms = {
        name for name, _, rest in entries if "sys_platform == 'win32'" in rest or "== 'emscripten'" in rest
    }
    assert [name for name, version, _ in entries if pins.get(name) != version and name not in other_platforms] == []
    assert [name for name, _, rest in entries if "--hash=sha256:" not in rest] == []
    config = configparser.ConfigParser()
    config.read(ROOT / "setup.cfg")
    needed = config["options"]["install_requires"] + "".join(
        config["options.extras_require"][extra] for extra in ("meaning", "postgres", "cluster", "s3")
    )
    names = {normalize(name) for name in re.findall(r"^[\w.-]+", needed, re.M)} - {"plumbline-search"}
    assert names - {name for name, _, _ in entries} == set()


def normalize(name: str) -> str:
    """Return the name of a package as the index writes it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def test_every_licence_is_known_and_listed() -> None:
    """`make docs` writes the table again."""
    licences = runpy.run_path(str(ROOT / "deploy" / "licences.py"))
    rows = set(re.findall(r"^\| ([\w.-]+) \| (.+) \|$", licences["PAGE"].read_text(), re.M))
    packages = set(licences["iter_packages"]())
    assert len(packages) > 100 and packages - rows == set()
    groups = {jar.group for jar in licences["parse_lock"](licences["LOCK_PATH"].read_text())}
    assert groups - {name for name, _ in rows} == set()
    assert [row for row in rows if "AGPL" in row[1] or not row[1].strip()] == []
    for licence in ("", "AGPL"):
        with pytest.raises(SystemExit, match="unknown licence or AGPL: new"):
            licences["render_page"]([("new", licence)], [])


# -- Pythons


def test_what_make_says_of_a_python_that_will_not_do() -> None:
    version_error = check_python["version_error"]
    assert BOUNDS == ((3, 11), (3, 15))
    assert [version_error((3, minor), BOUNDS) for minor in (11, 12, 13, 14)] == [""] * 4
    assert version_error((3, 9), BOUNDS) == "Python 3.9 is too old, 3.11 to 3.14 will do: make PYTHON=python3.14"
    assert "Python 3.15 is too new, the pinned libraries have no wheels for it" in version_error((3, 15), BOUNDS)
    assert "too old" in version_error((2, 7), BOUNDS)


def test_make_stops_at_once_where_python_will_not_do(tmp_path: Path) -> None:
    """Run make with a Python that reports 3.10: it prints one line and creates no environment."""
    old = tmp_path / "python3.10"
    code = "import sys, runpy; sys.version_info = (3, 10); runpy.run_path(sys.argv[1], run_name='__main__')"
    old.write_text(f'#!/bin/sh\nexec "{sys.executable}" -c "{code}" "$@"\n')
    old.chmod(0o755)
    made = make("install", f"PYTHON={old}", f"VENV={tmp_path / 'venv'}")
    assert made.returncode != 0
    assert made.stderr.splitlines()[0] == "Python 3.10 is too old, 3.11 to 3.14 will do: make PYTHON=python3.14"
    assert not (tmp_path / "venv").exists()


def make(*arguments: str) -> "subprocess.CompletedProcess[str]":
    """Run `make` without variables of the make that started the tests."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("MAKE", "MFLAGS"))}
    command = ["make", "-C", str(ROOT), "--no-print-directory", *arguments]
    return subprocess.run(command, capture_output=True, text=True, env=environment, check=False)


@pytest.mark.exhaustive
def test_debians_own_python_can_install_everything(tmp_path: Path) -> None:
    """Its pip finds a version of each package. `make test` installs python3-venv for this test."""
    subprocess.run([str(DEBIANS), "-m", "venv", str(tmp_path / "venv")], check=True)
    report = tmp_path / "report.json"
    pip = [str(tmp_path / "venv" / "bin" / "python"), "-m", "pip", "install", "--dry-run", "--quiet"]
    done = subprocess.run(
        [*pip, "--report", str(report), "-c", str(ROOT / "constraints.txt"), f"{ROOT}[test]"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    chosen = {one["metadata"]["name"].lower() for one in json.loads(report.read_text())["install"]}
    pinned = {line.partition("==")[0].lower() for line in (ROOT / "constraints.txt").read_text().split()}
    unpinned = {name.replace("_", "-") for name in chosen} - {name.replace("_", "-") for name in pinned}
    assert unpinned == {"plumbline-search"}  # the pinned packages of the documentation are not installed for tests


def test_what_make_install_says_while_pip_works() -> None:
    describe_step = runpy.run_path(str(ROOT / "deploy" / "install.py"))["describe_step"]
    said = "Obtaining file:///x\nCollecting ada-url>=4 (from us)\n  Downloading ada_url.whl\nCollecting jgo<4,>=3\n"
    assert describe_step("Obtaining file:///x\n", 3) == "  resolving dependencies"
    assert describe_step(said, 3) == "  downloading package 2: jgo"
    assert describe_step(f"{said}Installing collected packages: a, b\n", 1) == "  installing 2 packages: 1 done"


@pytest.mark.exhaustive
def test_an_installation_tells_that_it_works_and_why_it_does_not(tmp_path: Path) -> None:
    """Run the real pip in a real environment on a small project."""
    subprocess.run([sys.executable, "-m", "venv", str(tmp_path / "venv")], check=True)
    command = [str(tmp_path / "venv" / "bin" / "python"), str(ROOT / "deploy" / "install.py")]
    project = tmp_path / "project"
    project.mkdir()
    (project / "pyproject.toml").write_text('[project]\nname = "small"\nversion = "1"\ndependencies = ["six"]\n')
    good = subprocess.run([*command, str(project)], capture_output=True, text=True, check=False)
    assert good.returncode == 0, good
    first, *steps, last = good.stdout.splitlines()
    assert first.startswith("installing Plumbline into ") and last.startswith("installed in ")
    assert steps and all(step.startswith(("  resolving ", "  downloading package ", "  installing ")) for step in steps)
    (project / "pyproject.toml").write_text('[project]\nname = "small"\nversion = "1"\nrequires-python = ">=4"\n')
    bad = subprocess.run([*command, str(project)], capture_output=True, text=True, check=False)
    assert bad.returncode != 0
    assert "requires a different Python" in bad.stderr
    assert bad.stdout.splitlines()[-1].startswith("the installation failed; see the output of pip above")


@pytest.mark.parametrize(
    "path",
    [
        *("search_ui/review/interfaces.py", "search_ui/review/team_interfaces.py", "search_ui/admin/interfaces"),
        *("pipeline/search_site/review_service.py", "pipeline/site_admin/undo.py", "domain/coded_message.py"),
        *("pipeline/site_admin/setting_groups.py", "pipeline/site_admin/site_options.py"),
        "crawler/http/site_options.py",
        *("docstore/integrity/salvage.py", "docstore/integrity/page_checksums.py", "search_ui/translations/en.po"),
        *("tests/search_ui_fakes.py", "benchmarks/admin.py", "benchmarks/structure.py"),
    ],
)
def test_second_homes_of_a_fact_stay_away(path: str) -> None:
    assert not (ROOT / path).exists()
