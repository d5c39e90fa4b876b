"""The commands `plumb init`, `check`, `backup`, `restore`, `upgrade` and `doctor`."""

import os
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from domain.errors import PlumblineError, SettingsError
from locks.private_files import open_private
from pipeline.cli.config_argument import DEFAULT_CONFIG_FILE, VerticalCommand
from pipeline.cli.console import (
    json_option,
    nevertheless_option,
    own_network_option,
    print_json,
    print_line,
    print_lines,
    stderr_console,
)
from pipeline.cli.session import create_progress, load_call_settings, load_with_overrides, open_engine
from pipeline.local_time import local_minute
from pipeline.settings import SITES
from pipeline.settings_template import render_sample_toml

if TYPE_CHECKING:
    from pipeline.maintenance.doctor import CheckResult
    from pipeline.maintenance.integrity_check import Fault
    from pipeline.maintenance.repair import RepairStep

MAX_LISTED_FILES = 5  # missing WARC files named in a message


@click.command()
@click.argument("targets", metavar="[PATH | URL...]", nargs=-1)
@click.option("--contact", default="", help="With URL: your e-mail address or web page, sent with every request.")
@nevertheless_option
@own_network_option
@click.pass_context
def init(context: click.Context, targets: tuple[str, ...], contact: str, nevertheless: bool, own_network: bool) -> None:
    """Write a sample config file with all settings, defaults and descriptions to PATH [vertical.toml].

    With URL, check these sites (robots.txt, sitemaps, feeds, number of pages) and write a short file for them, named by
    `plumb -c CONFIG` [vertical.toml].
    """
    is_url = ["://" in target for target in targets]
    if not all(is_url) and len(targets) > 1:
        raise click.UsageError("pass one PATH, or only URLs, such as https://www.your-site.org/")
    if any(is_url):
        from pipeline.site_admin.setup_backend import set_up_sites

        file = context.obj["config"] or Path(DEFAULT_CONFIG_FILE)
        settings = load_with_overrides(context, Path(os.devnull), {})
        try:
            set_up_sites(targets, contact, settings, file, print_line, nevertheless, own_network)
        except SettingsError as error:
            advice = "" if contact or "crawl.contact" not in str(error) else ": pass it with --contact"
            raise SettingsError(f"{error}{advice}") from error
        option = "" if file == Path(DEFAULT_CONFIG_FILE) else f" {file}"
        print_line(f"created {file}: run `plumb up{option}` to crawl and search")
        return
    if contact or nevertheless or own_network:
        raise click.UsageError("these options need a URL, such as https://www.your-site.org/")
    path = next(map(Path, targets), None) or context.obj["config"] or Path(DEFAULT_CONFIG_FILE)
    try:
        with open(path, "xb", opener=open_private) as file:  # private, because it may get passwords
            file.write(render_sample_toml().encode())
    except FileExistsError:
        raise PlumblineError(f"{path} already exists and was not changed: name another file") from None
    except OSError as error:
        raise PlumblineError(f"cannot write {path}: {error.strerror}") from error
    print_line(f"created {path}: set crawl.contact and the sites in it, then run `plumb run {path}`")


@click.command(cls=VerticalCommand)
@click.pass_context
@click.option("--repair", is_flag=True, help="Repair damage from the WARC files or the newest backup.")
@click.option("--quick", is_flag=True, help="Fast check, as before every run: file sizes only, without Solr.")
@click.option("--index/--no-index", "with_index", default=True, help="Compare the index with the store (needs Solr).")
@click.option(
    "--backup",
    "folder",
    type=click.Path(path_type=Path),
    help="With --repair: folder that contains the backups; default: the folders of earlier backups.",
)
@json_option
def check(
    context: click.Context, repair: bool, quick: bool, with_index: bool, folder: Path | None, as_json: bool
) -> None:
    """Check store, WARC files, index and lexicon for damage. Exits with 1 if any remains or data was lost."""
    if folder is not None and not repair:
        raise click.UsageError("--backup needs --repair")
    settings = load_call_settings(context)
    from pipeline.maintenance.backup import find_repair_sources
    from pipeline.maintenance.preflight import check_all
    from pipeline.maintenance.repair import repair_vertical

    with_index = with_index and not quick
    run_check = partial(check_all, settings, partial(open_engine, settings), quick=quick, with_index=with_index)
    faults = run_check()
    steps: list[RepairStep] = []
    if faults and repair:
        backups = find_repair_sources(settings.data_dir, folder)
        steps = list(repair_vertical(settings, partial(open_engine, settings), faults, backups, with_index))
        remaining = run_check()
    else:
        remaining = faults
    if as_json:
        fault_rows = [{"part": fault.component, "fault": fault.description} for fault in faults]
        print_json(
            {
                "faults": fault_rows,
                "done": [step.text for step in steps if not step.is_loss],
                "lost": [step.text for step in steps if step.is_loss],
                "left": [fault.description for fault in remaining],
            }
        )
    else:
        print_lines(format_faults(faults, steps))
    if remaining:
        problems = "1 problem" if len(remaining) == 1 else f"{len(remaining)} problems"
        state = ("remains" if len(remaining) == 1 else "remain") if repair else "found"
        raise PlumblineError(f"{problems} {state}: {next_step_advice(remaining, repair)}")
    if losses := [step.text for step in steps if step.is_loss]:
        raise PlumblineError(f"the damage was repaired, but data was lost: {'; '.join(losses)}")


def format_faults(faults: "list[Fault]", steps: "list[RepairStep]") -> list[str]:
    """Format faults, repairs and losses as lines."""
    fault_lines = [f"damaged: {fault.description}" for fault in faults]
    step_lines = [f"{'lost' if step.is_loss else 'done'}: {step.text}" for step in steps]
    return fault_lines + step_lines or ["no damage found"]


def next_step_advice(remaining: "list[Fault]", is_repair: bool) -> str:
    """Return the advice for faults that remain after a check or a repair."""
    from pipeline.maintenance.integrity_check import UNBUILT_INDEX_MESSAGE

    if [fault.description for fault in remaining] == [UNBUILT_INDEX_MESSAGE]:
        return UNBUILT_INDEX_MESSAGE
    if not is_repair:
        return "stop `plumb serve` and `plumb schedule`, then run `plumb check --repair`"
    if {fault.component for fault in remaining} == {"warc"}:
        return f"{remaining[0].description}; run `plumb crawl` to fetch them again, or restore a backup"
    return f"{remaining[0].description}; restore a backup with `plumb restore`"


@click.command(cls=VerticalCommand)
@click.argument("folder", type=click.Path(path_type=Path))
@click.pass_context
def backup(context: click.Context, folder: Path) -> None:
    """Back up the vertical into a new subfolder of FOLDER. Safe while services run."""
    settings = load_call_settings(context)
    from pipeline.maintenance.backup import create_backup, missing_warc_files

    config = context.obj["config"] or Path(DEFAULT_CONFIG_FILE)
    backup_dir = create_backup(settings, config, folder, create_progress(settings).task)
    lines = [f"backed up to {backup_dir}"]
    # Files that the object store has are not in the data folder.
    if not settings.store.warc and (missing := missing_warc_files(backup_dir)):
        names = ", ".join(missing[:MAX_LISTED_FILES]) + (" ..." if len(missing) > MAX_LISTED_FILES else "")
        lines.append(f"warning: WARC files of stored pages are missing ({names}): run `plumb check`")
    print_lines(lines)


@click.command(cls=VerticalCommand)
@click.argument("backup", type=click.Path(path_type=Path))
@click.pass_context
def restore(context: click.Context, backup: Path) -> None:
    """Restore a backup into an empty data folder. BACKUP is a backup, or a folder of backups (the newest is used)."""
    settings = load_call_settings(context)
    from pipeline.maintenance.backup import choose_backup, restore_backup

    backup_folder = choose_backup(backup, settings)
    manifest = restore_backup(backup_folder, settings, create_progress(settings).task)
    created_at = local_minute(manifest.created_at)
    print_lines(
        [
            f"restored {len(manifest.files)} files from {backup_folder}",
            f"as of {created_at}: repeat later takedowns, revoked tokens and changes of accounts, which are undone",
            "next: run `plumb index` to fill the index",
        ]
    )


@click.command(cls=VerticalCommand)
@click.pass_context
@json_option
def doctor(context: click.Context, as_json: bool) -> None:
    """Check the environment of a vertical and suggest fixes. Exits with 1 if there is a problem."""
    settings = load_call_settings(context)
    from pipeline.maintenance.doctor import run_checks

    results = list(run_checks(settings))
    if as_json:
        print_json([vars(result) for result in results])
    else:
        print_lines(map(format_check_result, results))
    if failed := [result for result in results if not result.is_well]:
        raise PlumblineError(
            f"{len(failed)} of {len(results)} checks failed: {', '.join(result.name for result in failed)}"
        )


@click.command(cls=VerticalCommand)
@click.pass_context
@click.option("--check", "check_only", is_flag=True, help="Only report what the upgrade needs and does.")
@click.option("--without-backup", is_flag=True, help="Upgrade although no backup of the last day exists.")
@json_option
def upgrade(context: click.Context, check_only: bool, without_backup: bool, as_json: bool) -> None:
    """Upgrade the store and the config file of a vertical after an update of the program.

    Exits with 1 if something prevents it. The earlier config file is kept as CONFIG.before-upgrade.
    """
    settings = load_call_settings(context)
    from pipeline.engine import open_store
    from pipeline.maintenance.upgrade import check_settings, check_upgrade

    store_results = check_upgrade(settings)
    results = [*store_results, check_settings(settings)]
    if as_json:
        print_json([vars(result) for result in results])
    else:
        print_lines(map(format_check_result, results))
    optional = {"backup"} if without_backup else set()
    if failed := [result.name for result in results if not result.is_well and result.name not in optional]:
        raise PlumblineError(f"not ready for the upgrade: {', '.join(failed)}; nothing was changed")
    if check_only:
        return
    if len(store_results) > 1:
        open_store(settings).close()
        if not as_json:
            print_line("the store is up to date; start the services again")
    try:
        settings.require_source().edit(lambda stored: {SITES: stored[SITES]} if SITES in stored else {})
    except SettingsError as error:
        print_line(f"warning: the config file was not upgraded: {error}", stderr_console)


def format_check_result(result: "CheckResult") -> str:
    """Format a check as one line: OK or PROBLEM, name, text, and advice if it failed."""
    line = f"{'OK' if result.is_well else 'PROBLEM':<7}  {result.name:<12} {result.text}"
    return line if result.is_well else f"{line}: {result.advice}"
