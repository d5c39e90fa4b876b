"""`make check-image`: carries out deploy/Containerfile without a container engine and runs the demo in the result.

debootstrap makes the root file system. bubblewrap runs each RUN in it, then the entry point: as the user of the
image, without capabilities and network, with a read-only root, an empty /tmp and a data folder of its own. The health
check and a search must succeed. Needs Linux and root.

With --upgrade, the image of the first Containerfile runs the demo first, with the same volume. `plumb upgrade` in the
present image must upgrade its store, and the search must find as much as before.
"""

import argparse
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from string import Template
from typing import NamedTuple

from dockerfile_parse import DockerfileParser
from rich.console import Console
from rich.table import Table

ROOT = Path(__file__).resolve().parents[1]
CONTAINERFILE = "deploy/Containerfile"
SYSTEM_PATH = "/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
DEBIAN_MIRROR = "http://deb.debian.org/debian"
DEBIAN_SUITE = "trixie"
PYTHON_SETUP = (
    "apt-get update; apt-get install --yes --no-install-recommends ca-certificates python3 python3-venv; "
    "ln -s /usr/bin/python3 /usr/local/bin/python"
)
SETUP_BY_BASE = {"docker.io/library/debian:trixie-slim": ":", "docker.io/library/python:3.13-slim": PYTHON_SETUP}
DOWNLOADS = "srv/plumbline/.cache"  # Solr and the models, which the first images downloaded at their first start
FETCH_FIRST_SOLR = "from indexer.solr_jars import default_folder, resolve_jars; resolve_jars(default_folder(), print)"
VOLUME = "/data"
DEMO_CONFIG = f"{VOLUME}/demo/vertical.toml"
SCHEMA_VERSION_RE = re.compile(r"schema version (\d+)")
AUTHORITIES = Path("/etc/ssl/certs/ca-certificates.crt")
AUTHORITIES_INSIDE = "/run/authorities.crt"
TIMEOUT_SECONDS = 1800
MEBIBYTE = 1024 * 1024
SEARCH = (
    "import urllib.parse, urllib.request, json; "
    "url = 'http://127.0.0.1:8080/api/v1/search?q=' + urllib.parse.quote('世界石油大会'); "
    "print(json.load(urllib.request.urlopen(url, timeout=30))['total'])"
)
# $1: the health check, $2: a search that prints the number of results, the rest: the entry point.
PROBE = """
health=$1; search=$2; shift 2
"$@" >/data/output 2>&1 & site=$!
until eval "$health" >/dev/null 2>&1; do
    kill -0 $site 2>/dev/null || { cat /data/output; exit 1; }
    sleep 0.5
done
eval "$search"
cut -d' ' -f1 /proc/uptime
cat /proc/[0-9]*/smaps_rollup 2>/dev/null | awk '/^Pss:/ {kib += $2} END {print kib}'
kill $site
wait $site
"""


class Image(NamedTuple):
    """What the instructions of a Containerfile say about the process of a container, and its root file system."""

    root: Path
    environment: dict[str, str]
    user: str
    folder: str
    entry_point: list[str]
    health_check: list[str]


def build_image(root: Path, source: Path = ROOT) -> Image:
    """Carry out the instructions of a checkout in the folder `root`, which is created.

    Raises CalledProcessError if one fails.
    """
    environment, user, folder, lists = {"PATH": SYSTEM_PATH, "HOME": "/root"}, "root", "/", {}
    for step in DockerfileParser(fileobj=(source / CONTAINERFILE).open("rb+")).structure:
        instruction, value = step["instruction"], step["value"]
        if instruction == "FROM":
            create_base(root)
            instruction, value = "RUN", SETUP_BY_BASE[value]
        if instruction == "RUN":
            command = [*sandbox(root, environment, user, folder), "/bin/sh", "-ec", value]
            run(command, root.with_suffix(".log"))
        elif instruction == "COPY":
            copy_files(source, root, folder, *value.split())
        elif instruction == "ENV":
            environment |= dict(word.split("=", 1) for word in shlex.split(Template(value).substitute(environment)))
        elif instruction == "USER":
            user = value
            if environment["HOME"] == "/root":  # no ENV instruction sets it
                environment["HOME"] = find_home(root, user)
        elif instruction == "WORKDIR":
            folder = value
            (root / folder.strip("/")).mkdir(parents=True, exist_ok=True)
        elif instruction in {"VOLUME", "EXPOSE", "ENTRYPOINT", "CMD", "HEALTHCHECK"}:
            lists[instruction] = value
        elif instruction != "COMMENT":
            raise SystemExit(f"{CONTAINERFILE}: {instruction} is not supported by {Path(__file__).name}")
    health_check = json.loads(lists.get("HEALTHCHECK", "CMD []").partition("CMD ")[2])
    return Image(root, environment, user, folder, json.loads(lists["ENTRYPOINT"]), health_check)


def find_home(root: Path, user: str) -> str:
    """Return the home folder of a user in the root file system."""
    accounts = (line.split(":") for line in (root / "etc" / "passwd").read_text().splitlines())
    return next(account[5] for account in accounts if account[0] == user)


def create_base(root: Path) -> None:
    """Copy a minimal Debian to `root`. debootstrap makes it once for all images of a run, in the folder of `root`."""
    base = root.with_name(DEBIAN_SUITE)
    if not base.exists():
        run(["debootstrap", "--variant=minbase", DEBIAN_SUITE, str(base), DEBIAN_MIRROR], root.with_suffix(".log"))
    run(["cp", "--archive", str(base), str(root)], root.with_suffix(".log"))


def copy_files(source: Path, root: Path, folder: str, name_or_dot: str, target: str) -> None:
    """Copy a file, or the files that git tracks without those of .dockerignore, as COPY does in the folder `folder`."""
    ignored = {line.strip("/*") for line in (source / ".dockerignore").read_text().split()}
    listing = subprocess.run(["git", "ls-files"], cwd=source, capture_output=True, text=True, check=True).stdout
    for name in listing.splitlines() if name_or_dot == "." else [name_or_dot]:
        if not ignored & set(Path(name).parts):
            copy = root / Path(folder, target).relative_to("/") / name
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(source / name, copy)


def sandbox(
    root: Path, environment: dict[str, str], user: str, folder: str, volumes: dict[str, str] | None = None
) -> list[str]:
    """Return the command line that runs a command in `root` as `user`.

    Without `volumes` (folder inside -> folder outside) it is a build, which may write to `root` and has a network.
    """
    is_build = volumes is None
    command = ["bwrap", "--bind" if is_build else "--ro-bind", str(root), "/", "--proc", "/proc", "--dev", "/dev"]
    for folder_of_all in ("/tmp", "/dev/shm"):
        command += ["--perms", "1777", "--tmpfs", folder_of_all]
    command += ["--tmpfs", "/run", "--unshare-pid", "--die-with-parent", "--clearenv"]
    for name, value in environment.items():
        command += ["--setenv", name, value]
    for inside, outside in (volumes or {}).items():
        command += ["--bind", outside, inside]
    if is_build:
        command += [
            "--ro-bind",
            "/etc/resolv.conf",
            "/etc/resolv.conf",
            "--ro-bind",
            str(AUTHORITIES),
            AUTHORITIES_INSIDE,
        ]
        for name in ("PIP_CERT", "REQUESTS_CA_BUNDLE"):
            command += ["--setenv", name, AUTHORITIES_INSIDE]
    else:
        command += ["--unshare-net"]
    command += ["--chdir", folder, "--cap-add", "ALL"]
    if user != "root":
        command += ["/usr/bin/setpriv", f"--reuid={user}", f"--regid={user}", "--clear-groups"]
        command += ["--bounding-set=-all", "--inh-caps=-all", "--no-new-privs"]
    return command


def run(command: list[str], log: Path) -> None:
    """Run a command with its output in `log`. Raises CalledProcessError after the last lines were printed."""
    with log.open("ab") as output:
        status = subprocess.run(command, stdout=output, stderr=subprocess.STDOUT, check=False).returncode
    if status:
        print("\n".join(log.read_text(errors="replace").splitlines()[-30:]), file=sys.stderr)
        raise subprocess.CalledProcessError(status, command)


def run_in_volume(image: Image, data: Path, command: list[str], **environment: str) -> str:
    """Run a command in a container of `image` with the folder `data` as its volume; return its standard output.

    Raises SystemExit with its last output if it fails.
    """
    environment = {**image.environment, **environment}
    command = [*sandbox(image.root, environment, image.user, image.folder, {VOLUME: str(data)}), *command]
    done = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT_SECONDS, check=False)
    if done.returncode not in (0, 130, 143):  # 130 and 143: ended by the signal
        raise SystemExit(f"failed in the image: {command[-4:]}\n{done.stdout[-3000:]}{done.stderr[-3000:]}")
    return done.stdout


def run_demo(image: Image, data: Path, health_check: list[str], arguments: list[str]) -> dict[str, float]:
    """Run the entry point; return the results of a search, the seconds to it, and the memory in MiB."""
    search = shlex.join([*health_check[:2], SEARCH])
    probe = ["/bin/bash", "-c", PROBE, "probe", shlex.join(health_check), search, *image.entry_point, *arguments]
    started_at = read_uptime()
    results, searched_at, kibibytes = run_in_volume(image, data, probe, PLUMB_DEMO="1").split()
    return {
        "results of a search": float(results),
        "seconds to first search": float(searched_at) - started_at,
        "memory, MiB": float(kibibytes) / 1024,
    }


def create_volume(image: Image) -> Path:
    """Return a new folder beside the root file system, with the owner of the volume in the image."""
    data = Path(tempfile.mkdtemp(prefix="data-", dir=image.root.parent))
    owner = (image.root / VOLUME.strip("/")).stat()
    os.chown(data, owner.st_uid, owner.st_gid)
    return data


def check_upgrade(image: Image) -> dict[str, float]:
    """Run the demo in the first image that there was, then upgrade its volume and run the demo in `image`.

    Returns figures before and after. Raises SystemExit if the store is not upgraded, or the search finds less.
    """
    commit, source, root = find_first_commit(), image.root.with_name("earlier-source"), image.root.with_name("earlier")
    subprocess.run(["git", "worktree", "add", "--quiet", "--detach", str(source), commit], cwd=ROOT, check=True)
    try:
        earlier = build_image(root, source)
    finally:
        subprocess.run(["git", "worktree", "remove", "--force", str(source)], cwd=ROOT, check=True)
    for folder in (VOLUME.strip("/"), DOWNLOADS):
        (root / folder).mkdir(parents=True, exist_ok=True)
    run(["cp", "--archive", f"{image.root}/{DOWNLOADS}/.", f"{root}/{DOWNLOADS}"], root.with_suffix(".log"))
    build = sandbox(root, earlier.environment, earlier.user, earlier.folder)
    run([*build, "python", "-c", FETCH_FIRST_SOLR], root.with_suffix(".log"))  # its Solr has other jars
    data = create_volume(image)
    before = run_demo(earlier, data, image.health_check, ["demo", "--folder", str(Path(DEMO_CONFIG).parent)])
    upgrade = [*image.entry_point, "upgrade", DEMO_CONFIG]
    upgrade_output = run_in_volume(image, data, [*upgrade, "--without-backup"])
    after = run_demo(image, data, image.health_check, [])
    check_output = run_in_volume(image, data, [*upgrade, "--check"])
    print(upgrade_output, check_output, sep="", file=sys.stderr)
    is_current = re.search(r"schema version \d+ is current", check_output) is not None
    if not is_current or after["results of a search"] < before["results of a search"]:
        raise SystemExit(f"the volume of {commit} was not upgraded: {before}, {after}")
    return {
        "schema version of the earlier image": float(SCHEMA_VERSION_RE.search(upgrade_output)[1]),
        "schema version after the upgrade": float(SCHEMA_VERSION_RE.search(check_output)[1]),
        "results before the upgrade": before["results of a search"],
        "results after the upgrade": after["results of a search"],
    }


def find_first_commit() -> str:
    """Return the first commit with a Containerfile."""
    command = ["git", "log", "--diff-filter=A", "--format=%h", "--", CONTAINERFILE]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()[-1]


def read_uptime() -> float:
    """Return the seconds since this machine was started."""
    return float(Path("/proc/uptime").read_text().split()[0])


def measure_size(root: Path) -> float:
    """Return the size of the files below `root` in MiB."""
    output = subprocess.run(["du", "-s", "-B1", str(root)], capture_output=True, text=True, check=True).stdout
    return int(output.split()[0]) / MEBIBYTE


def main() -> None:
    """Build the root file system, run the demo in it, print the figures; remove everything."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--folder", type=Path, help="keep the root file system here")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--upgrade", action="store_true", help="also upgrade the volume of an earlier image")
    options = parser.parse_args()
    if os.getuid() != 0 or not shutil.which("bwrap") or not shutil.which("debootstrap"):
        raise SystemExit("needs root, bubblewrap and debootstrap: apt-get install bubblewrap debootstrap")
    folder = options.folder or Path(tempfile.mkdtemp(prefix="plumbline-image-"))
    folder.mkdir(parents=True, exist_ok=True)
    try:
        started_at = time.monotonic()
        image = build_image(folder / "root")
        figures = {"seconds to build": time.monotonic() - started_at, "size, MiB": measure_size(folder / "root")}
        figures |= run_demo(image, create_volume(image), image.health_check, [])
        if options.upgrade:
            figures |= check_upgrade(image)
    finally:
        if not options.folder:
            shutil.rmtree(folder)
    if options.json:
        print(json.dumps(figures))
        return
    table = Table("image", "value", title="deploy/Containerfile", title_justify="left")
    for name, value in figures.items():
        table.add_row(name, f"{value:,.0f}")
    Console().print(table)


if __name__ == "__main__":
    main()
