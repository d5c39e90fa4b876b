"""Builds labelled webs from repositories: `python -m benchmarks.focus_webs OUT --repos DIR [--webs news_en]`.

read        read the repositories that benchmarks/focus_webs.toml names, from snapshots in DIR (owner+name)
make        build sites as their generators do, with list pages (`focus_web_sites`)
choose      choose topics among the labels of the authors (`focus_web_topics`)
write       write OUT/NAME/pages.jsonl.xz, topics.json, teaching.json (labels for training, none of them a topic) and
            SOURCES.md (commits, licences), for `make bench-focus DATA=OUT`

Nothing is fetched: `--list` prints the repositories to clone.
"""

import json
import lzma
import subprocess
from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory

import click

from benchmarks.command import benchmark
from benchmarks.focus_graph import TEACHING
from benchmarks.focus_web_sites import Row, web_rows
from benchmarks.focus_web_sources import Web, commit_of, git_directory, webs_of
from benchmarks.focus_web_topics import prefixes, topics_of
from benchmarks.results import out_folder
from domain.errors import PlumblineError

WEBS = Path(__file__).with_suffix(".toml")


@benchmark("focus_webs", made=True)
@click.argument("out", type=click.Path(path_type=Path), required=False)
@click.option(
    "--repos", default=Path("repos"), type=click.Path(path_type=Path), help="A folder of snapshots, owner+name."
)
@click.option("--webs", "names", default="", help="Only these, comma-separated.")
@click.option(
    "--file", "path", default=WEBS, type=click.Path(path_type=Path, exists=True), help="Another list of webs."
)
@click.option("--list", "only_list", is_flag=True, help="Name the repositories and stop.")
@click.option("--made", is_flag=True, help="Make a web of a repository of two pages, in the folder of results.")
def main(out: Path | None, repos: Path, names: str, path: Path, only_list: bool, made: bool) -> None:
    """Build webs in OUT."""
    with ExitStack() as stack:
        if made:
            repos, out = Path(stack.enter_context(TemporaryDirectory())), out_folder()
            path = small_repository(repos)
        webs = [web for web in webs_of(path) if not names or web.name in names.split(",")]
        if not webs:
            raise PlumblineError(f"no web {names} in {path}")
        for web in webs:
            if only_list or out is None:
                print(*(f"{web.name}\t{site.repo}\t{site.licence}" for site in web.sites), sep="\n")
            else:
                print(make_web(web, repos, out / web.name))


def small_repository(folder: Path) -> Path:
    """Create a repository of two pages in `folder`; returns the file that lists it as a web."""
    pages = folder / "small+manual" / "docs"
    pages.mkdir(parents=True)
    for number in range(2):
        text = f"# Page {number}\n[the other](page{1 - number}.md) " + "This page says something of itself. " * 8
        (pages / f"page{number}.md").write_text(text, encoding="utf-8")
    git = ("git", "-C", str(pages.parent), "-c", "user.name=bench", "-c", "user.email=bench@example.org")
    for command in (("init", "-q"), ("add", "."), ("commit", "-qm", "pages")):
        subprocess.run((*git, *command), check=True)
    listed = folder / "webs.toml"
    site = 'repo = "small/manual"\nlicence = "CC0-1.0"\nhost = "manual.test"\nkind = "manual"\nunder = "docs"\n'
    listed.write_text(f'[[web]]\nname = "small"\n[[web.site]]\n{site}', encoding="utf-8")
    return listed


def make_web(web: Web, repos: Path, folder: Path) -> str:
    """Write one web and print a summary."""
    rows = merged(web_rows(web.sites, repos))
    topics, teaching = topics_of(rows)
    folder.mkdir(parents=True, exist_ok=True)
    with lzma.open(folder / "pages.jsonl.xz", "wt", encoding="utf-8", preset=0) as packed:
        packed.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    for name, some in (("topics.json", topics), (TEACHING, teaching)):
        text = json.dumps(some, ensure_ascii=False, indent=1)
        (folder / name).write_text(text + "\n", encoding="utf-8")
    (folder / "SOURCES.md").write_text(sources_of(web, repos, rows, topics), encoding="utf-8")
    return (
        f"{web.name}: {len(rows)} pages, {sum(bool(row['topics']) for row in rows)} with labels, {len(topics)} topics,"
        f" {len(teaching)} to teach by"
    )


def merged(rows: Iterable[Row]) -> list[Row]:
    """Merge rows by URL; links only to known pages."""
    by_url: dict[str, Row] = {}
    for row in rows:
        by_url.setdefault(row["url"], row)
    for row in by_url.values():
        row["links"] = [link for link in row["links"] if link["to"] in by_url]
    return list(by_url.values())


def sources_of(web: Web, repos: Path, rows: Sequence[Row], topics: dict[str, list[str]]) -> str:
    """Describe the sources of a web, and its topics with page counts."""
    counts = Counter(label for row in rows for one in row["topics"] for label in prefixes(one))
    lines = [f"# {web.name}: {len(rows)} pages, {sum(len(row['links']) for row in rows)} links", ""]
    lines += ["| repository | commit | licence |", "|---|---|---|"]
    for site in web.sites:
        commit = commit_of(git_directory(repos, site.repo), site.ref)
        lines.append(f"| {site.repo} | {commit[:12]} | {site.licence} |")
    lines += ["", "| topic | pages |", "|---|---|"]
    lines += [f"| {name} | {sum(counts[label] for label in labels)} |" for name, labels in topics.items()]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main()
