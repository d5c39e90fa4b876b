"""The verbs that keep a vertical whole: prove it, mend it, copy it, put a copy back, look at the place it runs in."""

import logging
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from docstore.errors import PlumblineError, StoreError
from pipeline.cli.console import say, say_json
from pipeline.cli.grammar import CONFIG, Verb
from pipeline.cli.shared import opened, settings_of
from pipeline.settings import Settings

if TYPE_CHECKING:
    from pipeline.keeping.check import Fault
    from pipeline.keeping.doctor import Finding

log = logging.getLogger(__name__)


@click.command(cls=Verb)
@click.pass_context
@click.option("--repair", is_flag=True, help="Repair damage from the WARC files or the newest backup.")
@click.option("--quick", is_flag=True, help="Fast check, as run nightly: file sizes only, without Solr.")
@click.option("--index/--no-index", "with_index", default=True, help="Compare index and ledger (needs Solr).")
@click.option(
    "--backup",
    "folder",
    type=click.Path(path_type=Path),
    help="Folder that holds the backups, if not the one used last.",
)
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
def check(
    context: click.Context, repair: bool, quick: bool, with_index: bool, folder: Path | None, as_json: bool
) -> None:
    """Check store, WARC files, index and lexicon for damage. Exits with 1 if there is any."""
    settings = settings_of(context)
    from pipeline.keeping.night import all_faults
    from pipeline.keeping.repair import repair as repaired

    look = partial(all_faults, settings, partial(opened, settings), quick=quick, with_index=with_index and not quick)
    faults = look()
    done: list[str] = []
    if faults and repair:
        backup = backup_in(settings, folder)
        done = list(repaired(settings, partial(opened, settings), faults, backup))
        left = look()
    else:
        left = faults
    if as_json:
        said = [{"part": one.part, "fault": one.text} for one in faults]
        say_json({"faults": said, "done": done, "left": [one.text for one in left]})
    else:
        say(fault_lines(faults, done))
    if left:
        raise PlumblineError(f"{len(left)} problems {'remain' if repair else 'found'}: {advice(left, repair)}")


def fault_lines(faults: "list[Fault]", done: list[str]) -> list[str]:
    """What was found and done, for a person."""
    return [f"damaged: {one.text}" for one in faults] + [f"done: {line}" for line in done] or ["no damage found"]


def advice(left: "list[Fault]", is_repair: bool) -> str:
    """What to do next."""
    if is_repair:
        return f"{left[0].text}; restore a backup with `plumb restore`"
    return "stop `plumb serve` and `plumb schedule`, then run `plumb check --repair`"


def backup_in(settings: Settings, folder: Path | None) -> Path | None:
    """The newest backup in a folder, in those that backups went to before, or the folder itself."""
    from pipeline.keeping.backup import newest_backup, places

    if folder is not None and (folder / "manifest.json").exists():
        return folder
    return newest_backup([folder] if folder else [Path(place) for place in places(settings.data_dir)])


@click.command(cls=Verb)
@click.argument("folder", type=click.Path(path_type=Path))
@click.pass_context
def backup(context: click.Context, folder: Path) -> None:
    """Back up the vertical into a new subfolder of FOLDER. Safe while services run."""
    settings = settings_of(context)
    from pipeline.keeping.backup import back_up

    config = context.obj["config"] or Path(CONFIG)
    made = back_up(settings, config, folder)
    say([f"backed up to {made}"])


@click.command(cls=Verb)
@click.argument("backup", type=click.Path(path_type=Path))
@click.pass_context
def restore(context: click.Context, backup: Path) -> None:
    """Restore a backup into an empty data folder. BACKUP is a backup, or a folder of backups (the newest is used)."""
    settings = settings_of(context)
    from pipeline.keeping.backup import newest_backup
    from pipeline.keeping.backup import restore as restored

    chosen = backup if (backup / "manifest.json").exists() else newest_backup([backup])
    if chosen is None:
        raise StoreError(f"no complete backup in {backup}: name another folder")
    manifest = restored(chosen, settings)
    say([f"restored {len(manifest.files)} files from {chosen}", "next: run `plumb index` to fill the index"])


@click.command(cls=Verb)
@click.pass_context
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
def doctor(context: click.Context, as_json: bool) -> None:
    """Check the environment of a vertical and suggest fixes. Exits with 1 if there is a problem."""
    settings = settings_of(context)
    from pipeline.keeping.doctor import examine

    found = list(examine(settings))
    if as_json:
        say_json([vars(one) for one in found])
    else:
        say(
            f"{'well ' if one.is_well else 'AMISS'}  {one.name:<12} {one.text}"
            + ("" if one.is_well else f": {one.advice}")
            for one in found
        )
    if amiss := [one for one in found if not one.is_well]:
        raise PlumblineError(f"{len(amiss)} of {len(found)} checks failed: {', '.join(one.name for one in amiss)}")


def finding_line(found: "Finding") -> str:
    """One line of the doctor's."""
    told = f"{'well ' if found.is_well else 'AMISS'}  {found.name:<12} {found.text}"
    return told if found.is_well else f"{told}: {found.advice}"
