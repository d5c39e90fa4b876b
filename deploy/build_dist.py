"""`make dist`: wheel, source distribution and SBOM of the last commit, in `dist/`. Two builds have equal bytes.

Only committed files are packed. All times are that of the commit (SOURCE_DATE_EPOCH). setuptools ignores it in the
source distribution, so that archive is written again.
"""

import gzip
import io
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
DIST = ROOT / "dist"
LOCK = ROOT / "requirements.lock"
JAR_LOCKS = (ROOT / "indexer" / "solr_jars.lock", ROOT / "pipeline" / "embedding" / "models.lock")


def build_dist(folder: Path) -> list[Path]:
    """Build wheel, source distribution and SBOM of HEAD in `folder`, which is replaced; return them sorted by name."""
    shutil.rmtree(folder, ignore_errors=True)
    epoch = int(git("log", "-1", "--format=%ct"))
    with tempfile.TemporaryDirectory() as source:
        archive = subprocess.run(["git", "archive", "HEAD"], cwd=ROOT, capture_output=True, check=True).stdout
        with tarfile.open(fileobj=io.BytesIO(archive)) as files:
            files.extractall(source, filter="data")
        build = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(folder), source]
        environment = {**os.environ, "SOURCE_DATE_EPOCH": str(epoch)}
        subprocess.run(build, check=True, stdout=sys.stderr, env=environment)
    [source_archive] = folder.glob("*.tar.gz")
    normalize_archive(source_archive, epoch)
    write_sbom(folder / f"{source_archive.name.removesuffix('.tar.gz')}.cdx.json")
    return sorted(folder.iterdir())


def git(*arguments: str) -> str:
    """Return the output of a git command."""
    return subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=True).stdout


def normalize_archive(path: Path, epoch: int) -> None:
    """Write a tar.gz file again: sorted names, one time, no owner, permissions 644 or 755."""
    content = io.BytesIO()
    with tarfile.open(path) as old, tarfile.open(fileobj=content, mode="w", format=tarfile.PAX_FORMAT) as new:
        for member in sorted(old.getmembers(), key=lambda member: member.name):
            is_executable = member.isdir() or member.mode & 0o100
            member.mtime, member.mode, member.pax_headers = epoch, 0o755 if is_executable else 0o644, {}
            member.uid = member.gid = 0
            member.uname = member.gname = ""
            new.addfile(member, old.extractfile(member) if member.isfile() else None)
    path.write_bytes(gzip.compress(content.getvalue(), mtime=epoch))


def write_sbom(path: Path) -> None:
    """Write a CycloneDX file: the packages of requirements.lock, and the jars of Solr and of the models."""
    tool = [str(Path(sys.executable).with_name("cyclonedx-py")), "requirements", "--output-reproducible", str(LOCK)]
    sbom = json.loads(subprocess.run(tool, capture_output=True, text=True, check=True).stdout)
    for lock in JAR_LOCKS:
        for group, name, version, digest in re.findall(
            r"^([\w.-]+):([\w.-]+):([\w.-]+) (\w+)$", lock.read_text(), re.M
        ):
            purl = f"pkg:maven/{group}/{name}@{version}"
            hashes = [{"alg": "SHA-256", "content": digest}]
            component = {"group": group, "name": name, "version": version, "hashes": hashes, "purl": purl}
            sbom["components"].append({"type": "library", "bom-ref": purl, **component})
    path.write_text(json.dumps(sbom, indent=1, sort_keys=True) + "\n", "utf-8")


if __name__ == "__main__":
    print("\n".join(str(path.relative_to(ROOT)) for path in build_dist(DIST)))
