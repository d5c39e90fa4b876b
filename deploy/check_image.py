"""`make check-image`: carries out deploy/Containerfile without a container engine and runs the demo in the result.

debootstrap makes the root file system. bubblewrap runs each RUN in it, then the entry point: as the user of the
image, without capabilities and network, with a read-only root, an empty /tmp and a data folder of its own. The health
check and a search must succeed. Needs Linux and root.
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
from typing import NamedTuple

from dockerfile_parse import DockerfileParser
from rich.console import Console
from rich.table import Table

ROOT = Path(__file__).resolve().parents[1]
CONTAINERFILE = ROOT / "deploy" / "Containerfile"
DEBIAN_MIRROR = "http://deb.debian.org/debian"
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
    """What the instructions of the Containerfile say about the process of a container."""

    environment: dict[str, str]
    user: str
    folder: str
    volume: str
    entry_point: list[str]
    health_check: list[str]


def build_image(root: Path) -> Image:
    """Carry out the instructions in the folder `root`, which is created. Raises CalledProcessError if one fails."""
    environment, user, folder, lists = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/root"}, "root", "/", {}
    for step in DockerfileParser(fileobj=CONTAINERFILE.open("rb+")).structure:
        instruction, value = step["instruction"], step["value"]
        if instruction == "FROM":
            suite = re.fullmatch(r"docker\.io/library/debian:(\w+)-slim", value)[1]
            run(["debootstrap", "--variant=minbase", suite, str(root), DEBIAN_MIRROR], root.with_suffix(".log"))
        elif instruction == "RUN":
            command = [*sandbox(root, environment, user, "/"), "/bin/sh", "-ec", value]
            run(command, root.with_suffix(".log"))
        elif instruction == "COPY":
            copy_files(root, *value.split())
        elif instruction == "ENV":
            environment |= dict(word.split("=", 1) for word in shlex.split(value))
        elif instruction == "USER":
            user = value
        elif instruction == "WORKDIR":
            folder = value
        elif instruction in {"VOLUME", "EXPOSE", "ENTRYPOINT", "HEALTHCHECK"}:
            lists[instruction] = value
        elif instruction != "COMMENT":
            raise SystemExit(f"{CONTAINERFILE.name}: {instruction} is not supported by {Path(__file__).name}")
    health_check = json.loads(lists["HEALTHCHECK"].partition("CMD ")[2])
    return Image(environment, user, folder, lists["VOLUME"], json.loads(lists["ENTRYPOINT"]), health_check)


def copy_files(root: Path, source: str, target: str) -> None:
    """Copy a file, or the files that git tracks without those of .dockerignore, as COPY does."""
    ignored = {line.strip("/*") for line in (ROOT / ".dockerignore").read_text().split()}
    names = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split("\n")
    for name in names if source == "." else [source]:
        if name and not ignored & set(Path(name).parts):
            copy = root / target.strip("/") / name
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, copy)


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


def try_demo(root: Path, image: Image) -> dict[str, float]:
    """Run the demo in the image; return the results of a search, the seconds to it, and the memory in MiB."""
    with tempfile.TemporaryDirectory(prefix="data-", dir=root.parent) as data:
        owner = (root / image.volume.strip("/")).stat()  # a new volume gets the owner of the folder in the image
        os.chown(data, owner.st_uid, owner.st_gid)
        environment = {**image.environment, "PLUMB_DEMO": "1"}
        command = sandbox(root, environment, image.user, image.folder, {image.volume: data})
        search = shlex.join([*image.health_check[:2], SEARCH])
        probe = ["/bin/bash", "-c", PROBE, "probe", shlex.join(image.health_check), search, *image.entry_point]
        started_at = read_uptime()
        done = subprocess.run([*command, *probe], capture_output=True, text=True, timeout=TIMEOUT_SECONDS, check=False)
        if done.returncode not in (0, 130):
            raise SystemExit(f"the demo did not start in the image:\n{done.stdout[-3000:]}{done.stderr[-3000:]}")
        results, searched_at, kibibytes = done.stdout.split()
    return {
        "results of a search": float(results),
        "seconds to first search": float(searched_at) - started_at,
        "memory, MiB": float(kibibytes) / 1024,
    }


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
    options = parser.parse_args()
    if os.getuid() != 0 or not shutil.which("bwrap") or not shutil.which("debootstrap"):
        raise SystemExit("needs root, bubblewrap and debootstrap: apt-get install bubblewrap debootstrap")
    folder = options.folder or Path(tempfile.mkdtemp(prefix="plumbline-image-"))
    folder.mkdir(parents=True, exist_ok=True)
    try:
        started_at = time.monotonic()
        image = build_image(folder / "root")
        figures = {"seconds to build": time.monotonic() - started_at, "size, MiB": measure_size(folder / "root")}
        figures |= try_demo(folder / "root", image)
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
