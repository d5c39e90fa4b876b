"""`plumb backup`, `restore_backup`, `check` and `doctor`: what they do, refuse and say."""

import json
import shutil
import socket
import sqlite3
import stat
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from pytest import MonkeyPatch

from docstore.follows import FOLLOWS_FILE
from domain.account import Role
from locks.private_files import write_private_file
from pipeline.engine import Engine
from pipeline.maintenance import doctor
from pipeline.maintenance.backup import (
    BackupError,
    create_backup,
    create_daily_copy,
    find_backups,
    find_intact_copies,
    find_known_backup,
    find_repair_sources,
    read_manifest,
    restore_backup,
)
from pipeline.maintenance.doctor import CheckResult, run_checks
from pipeline.maintenance.integrity_check import iter_state_file_faults
from pipeline.maintenance.repair import restore_or_delete_state_file
from pipeline.progress import NullProgress
from pipeline.settings import Settings, load_settings
from tests.builders import keep_page
from tests.crash_harness import LocalVertical
from tests.faults.stores import add_account, content
from tests.web_fixture import Answer, Site


@pytest.fixture
def vertical(tmp_path: Path) -> Iterator[LocalVertical]:
    """A vertical with a page, an account, sites that were added and a topic."""
    made = LocalVertical(tmp_path / "v").write({"crawl": {"seeds": ["http://127.0.0.1:9/"]}})
    with Engine(load_settings(made.config), NullProgress()) as engine:
        keep_page(engine.store)
    add_account(made.data)
    (made.data / "sites.json").write_text('{"added": ["http://b.test/"]}')
    (made.data / "topics").mkdir()
    (made.data / "topics" / "oil.json").write_text('{"name": "oil"}')
    (made.data / "session.key").write_text("secret\n")
    (made.data / "logs").mkdir(exist_ok=True)
    (made.data / "logs" / "plumb.log").write_text("x")
    yield made
    made.end()


def settings(vertical: LocalVertical) -> Settings:
    return load_settings(vertical.config)


def other(tmp_path: Path, vertical: LocalVertical) -> Settings:
    """A vertical with an empty data folder."""
    folder = tmp_path / "other"
    folder.mkdir()
    shutil.copy(vertical.config, folder / "vertical.toml")
    return load_settings(folder / "vertical.toml")


def test_everything_comes_back(vertical: LocalVertical, tmp_path: Path) -> None:
    before = content(vertical.data / "store.db")
    backup = create_backup(settings(vertical), vertical.config, tmp_path / "backups")
    empty = other(tmp_path, vertical)
    restore_backup(backup, empty)
    assert content(empty.data_dir / "store.db") == before
    for name in ("sites.json", "topics/oil.json", "session.key"):
        assert (empty.data_dir / name).read_bytes() == (vertical.data / name).read_bytes()
    assert not (empty.data_dir / "logs").exists()
    with Engine(empty, NullProgress()) as engine:
        [(_, pointer, digest)] = engine.store.integrity.iter_warc_records()
        assert (empty.data_dir / "warc" / pointer.file_name).exists() and digest
    assert (backup / "vertical.toml").read_text() == vertical.config.read_text()


def test_a_damaged_topic_is_restored_and_never_deleted(vertical: LocalVertical, tmp_path: Path) -> None:
    backup = create_backup(settings(vertical), vertical.config, tmp_path / "backups")
    topic = vertical.data / "topics" / "oil.json"
    topic.write_text('{"name": ')
    [fault] = iter_state_file_faults(settings(vertical))
    assert fault.keys == ("topics/oil.json",)
    assert restore_or_delete_state_file(vertical.data, [], *fault.keys).is_loss
    assert topic.read_text() == '{"name": '
    assert not restore_or_delete_state_file(vertical.data, [backup], *fault.keys).is_loss
    assert topic.read_text() == '{"name": "oil"}'


def test_a_damaged_list_of_added_hosts_is_restored_and_never_deleted(vertical: LocalVertical, tmp_path: Path) -> None:
    backup = create_backup(settings(vertical), vertical.config, tmp_path / "backups")
    added_hosts = vertical.data / "sites.json"
    whole = added_hosts.read_bytes()
    added_hosts.write_bytes(whole[:-1])
    [fault] = iter_state_file_faults(settings(vertical))
    repaired = restore_or_delete_state_file(vertical.data, [], *fault.keys)
    assert repaired.is_loss and "plumb sites add" in repaired.text
    assert added_hosts.read_bytes() == whole[:-1]
    assert not restore_or_delete_state_file(vertical.data, [backup], *fault.keys).is_loss
    assert added_hosts.read_bytes() == whole


def test_it_is_its_owners_alone(vertical: LocalVertical, tmp_path: Path) -> None:
    backup = create_backup(settings(vertical), vertical.config, tmp_path / "backups")
    assert stat.S_IMODE(backup.stat().st_mode) == 0o700
    assert {stat.S_IMODE(file.stat().st_mode) for file in backup.rglob("*") if file.is_file()} == {0o600}


def test_it_is_made_while_the_store_is_written_to(vertical: LocalVertical, tmp_path: Path) -> None:
    with Engine(settings(vertical), NullProgress()) as engine:
        keep_page(engine.store, "http://a.test/2", b"<p>two</p>")
        backup = create_backup(settings(vertical), vertical.config, tmp_path / "backups")
        keep_page(engine.store, "http://a.test/3", b"<p>three</p>")
    empty = other(tmp_path, vertical)
    restore_backup(backup, empty)
    with Engine(empty, NullProgress()) as engine:
        assert engine.store.frontier.url_count() == 2
        assert sorted(page.url for page in engine.store.articles.iter_pending()) == [
            "http://a.test/1",
            "http://a.test/2",
        ]
        for page in engine.store.articles.iter_pending():
            engine.store.articles.read_page_body(page)


def test_a_warc_file_that_did_not_change_is_not_copied_again(vertical: LocalVertical, tmp_path: Path) -> None:
    first, second = (create_backup(settings(vertical), vertical.config, tmp_path / "backups") for _ in range(2))
    assert first != second and find_backups([tmp_path / "backups"], None) == [second, first]
    [old], [new] = (list((one / "warc").iterdir()) for one in (first, second))
    assert old.stat().st_ino == new.stat().st_ino


@pytest.mark.parametrize("name", ["manifest.json", "store.db", "files/sites.json"])
@pytest.mark.parametrize("how", ["gone", "cut"])
def test_a_backup_that_is_not_whole_is_refused(vertical: LocalVertical, tmp_path: Path, name: str, how: str) -> None:
    backup = create_backup(settings(vertical), vertical.config, tmp_path / "backups")
    file = backup / name
    file.unlink() if how == "gone" else file.write_bytes(file.read_bytes()[:-1])
    empty = other(tmp_path, vertical)
    with pytest.raises(BackupError):
        restore_backup(backup, empty)
    assert not (empty.data_dir / "store.db").exists()


def test_what_was_broken_off_is_no_backup(vertical: LocalVertical, tmp_path: Path) -> None:
    (tmp_path / "backups" / ".unfinished-20260101-000000-1").mkdir(parents=True)
    (tmp_path / "backups" / "plumbline-20260101-000000").mkdir()
    assert find_backups([tmp_path / "backups"], None) == []
    said = vertical.plumb("restore", str(tmp_path / "backups"))
    assert said.status == 1 and "no complete backup of this vertical" in said.complaint


def test_a_killed_restore_can_be_repeated(vertical: LocalVertical, tmp_path: Path, monkeypatch: MonkeyPatch) -> None:
    backup, empty = (
        create_backup(settings(vertical), vertical.config, tmp_path / "backups"),
        other(tmp_path, vertical),
    )
    replace = Path.replace

    def die_before_the_database(self: Path, target: Path) -> Path:
        if target.name == "store.db":
            raise KeyboardInterrupt
        return replace(self, target)

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(Path, "replace", die_before_the_database)
        restore_backup(backup, empty)
    [warc] = (empty.data_dir / "warc").iterdir()
    restore_backup(backup, empty)
    assert content(empty.data_dir / "store.db") == content(vertical.data / "store.db")
    (empty.data_dir / "store.db").unlink()
    whole = warc.read_bytes()
    warc.write_bytes(whole[:-1] + bytes([whole[-1] ^ 1]))
    with pytest.raises(BackupError, match=f"{warc.name} is not in"):
        restore_backup(backup, empty)


def test_files_that_are_replaced_during_a_backup_have_the_size_of_the_manifest(
    vertical: LocalVertical, tmp_path: Path, monkeypatch: MonkeyPatch
) -> None:
    state, open_path = vertical.data / "sites.json", Path.open

    def replace_and_open(self: Path, *arguments: Any, **options: Any) -> Any:
        if self == state:
            write_private_file(self, b'{"added": ["http://b.test/", "http://longer.test/"]}')
        return open_path(self, *arguments, **options)

    with monkeypatch.context() as patch:
        patch.setattr(Path, "open", replace_and_open)
        backup = create_backup(settings(vertical), vertical.config, tmp_path / "backups")
    empty = other(tmp_path, vertical)
    restore_backup(backup, empty)
    assert (empty.data_dir / "sites.json").read_bytes() == state.read_bytes()


def test_a_damaged_file_of_the_previous_backup_is_not_linked(vertical: LocalVertical, tmp_path: Path) -> None:
    first = create_backup(settings(vertical), vertical.config, tmp_path / "backups")
    [old] = (first / "warc").iterdir()
    whole = old.read_bytes()
    old.write_bytes(whole[:-1] + bytes([whole[-1] ^ 1]))
    second = create_backup(settings(vertical), vertical.config, tmp_path / "backups")
    [new] = (second / "warc").iterdir()
    assert new.read_bytes() == whole


@pytest.mark.parametrize("name", ["backups", "copies", "warc/backups"])
def test_a_backup_in_the_data_folder_is_refused(vertical: LocalVertical, name: str) -> None:
    said = vertical.plumb("backup", str(vertical.data / name))
    assert said.status == 1 and "name a folder on another disk" in said.complaint
    assert not (vertical.data / name).exists()


def test_a_store_that_is_there_is_not_written_over(vertical: LocalVertical, tmp_path: Path) -> None:
    backup = create_backup(settings(vertical), vertical.config, tmp_path / "backups")
    with pytest.raises(BackupError, match="already has a store"):
        restore_backup(backup, settings(vertical))


def test_damaged_follows_are_not_backed_up(vertical: LocalVertical, tmp_path: Path) -> None:
    follows = vertical.data / FOLLOWS_FILE
    before = follows.read_bytes() if follows.exists() else None
    follows.write_bytes(b"no database" * 1000)
    with pytest.raises(BackupError, match=r"follows\.db cannot be copied .*check --repair"):
        create_backup(settings(vertical), vertical.config, tmp_path / "backups")
    follows.unlink() if before is None else follows.write_bytes(before)


def test_a_damaged_store_is_not_backed_up(vertical: LocalVertical, tmp_path: Path) -> None:
    whole = (vertical.data / "store.db").read_bytes()
    at = whole.index(b"anna")
    (vertical.data / "store.db").write_bytes(whole[:at] + b"anne" + whole[at + 4 :])
    with pytest.raises(BackupError, match="damaged"):
        create_backup(settings(vertical), vertical.config, tmp_path / "backups")
    assert list((tmp_path / "backups").iterdir()) == []


def test_a_store_with_checksums_of_an_earlier_version_is_backed_up(vertical: LocalVertical, tmp_path: Path) -> None:
    with closing(sqlite3.connect(vertical.data / "store.db")) as connection, connection:
        connection.execute("UPDATE meta SET value = '1' WHERE key = 'row_sums_form'")
        connection.execute("UPDATE row_sums SET sum = 1")
    backup = create_backup(settings(vertical), vertical.config, tmp_path / "backups")
    assert read_manifest(backup).store_id


@pytest.mark.parametrize("damage", ["half", "schema"])
def test_a_corrupt_store_is_not_an_unwritable_folder(vertical: LocalVertical, tmp_path: Path, damage: str) -> None:
    file = vertical.data / "store.db"
    data = file.read_bytes()
    file.write_bytes(data[: len(data) // 2] if damage == "half" else data[:100] + bytes(3900) + data[4000:])
    with pytest.raises(BackupError, match=r"the store .*run `plumb check --repair`"):
        create_backup(settings(vertical), vertical.config, tmp_path / "backups")


def test_only_backups_of_this_store_are_used(vertical: LocalVertical, tmp_path: Path) -> None:
    folder, beta = tmp_path / "backups", LocalVertical(tmp_path / "beta").write({"vertical": {"name": "beta"}})
    vertical.write({"vertical": {"name": "alpha"}, "crawl": {"seeds": ["http://127.0.0.1:9/"]}})
    with Engine(load_settings(beta.config), NullProgress()) as engine:
        keep_page(engine.store, "http://b.test/")
        engine.store.accounts.create("boss-beta", "hash", [Role.OPERATOR])
    own = create_backup(settings(vertical), vertical.config, folder)
    foreign = create_backup(load_settings(beta.config), beta.config, folder)
    assert find_known_backup(vertical.data) == own and find_repair_sources(vertical.data, folder) == [own]
    again = create_backup(settings(vertical), vertical.config, folder)
    [old], [new] = (list((one / "warc").iterdir()) for one in (own, again))
    assert old.stat().st_ino == new.stat().st_ino
    with pytest.raises(BackupError, match="another store"):
        find_repair_sources(vertical.data, foreign)
    before = content(vertical.data / "store.db")
    (vertical.data / "store.db").write_bytes(b"")
    locations = (vertical.data / "backups.json").read_bytes()
    (vertical.data / "backups.json").write_text(json.dumps({"folders": [str(folder)]}))  # as of earlier versions
    assert "name its newest backup" in vertical.plumb("check", "--repair", "--no-index").complaint
    (vertical.data / "backups.json").write_bytes(locations)
    assert "was rebuilt" in vertical.plumb("check", "--repair", "--no-index").out
    assert content(vertical.data / "store.db") == before
    shutil.rmtree(vertical.data)
    assert "no complete backup of this vertical" in vertical.plumb("restore", str(foreign)).complaint
    create_backup(load_settings(beta.config), beta.config, folder)
    assert "repeat later takedowns" in vertical.done("restore", str(folder)).out
    assert content(vertical.data / "store.db") == before


def test_the_newest_values_come_first_and_a_backup_is_no_daily_copy(vertical: LocalVertical, tmp_path: Path) -> None:
    backup = create_backup(settings(vertical), vertical.config, tmp_path / "copies")
    create_daily_copy(settings(vertical))
    [copy] = (vertical.data / "copies").iterdir()
    sources = find_repair_sources(vertical.data, backup)
    assert sources == find_repair_sources(vertical.data, tmp_path / "copies") == [copy, backup]
    assert find_intact_copies(sources) == [copy, backup]


def test_the_verbs_say_what_they_do(vertical: LocalVertical, tmp_path: Path) -> None:
    assert "backed up to" in vertical.done("backup", str(tmp_path / "backups")).out
    assert "no damage found" in vertical.done("check", "--no-index").out
    assert read_manifest(find_backups([tmp_path / "backups"], None)[0]).store_id
    file = vertical.data / "store.db"
    file.write_bytes(file.read_bytes()[:4096] + bytes(4096) + file.read_bytes()[8192:])
    said = vertical.plumb("check", "--no-index")
    assert said.status == 1 and "damaged: " in said.out and "plumb check --repair" in said.complaint
    assert "was rebuilt" in vertical.done("check", "--repair", "--no-index").out
    assert json.loads(vertical.done("check", "--quick", "--json").out) == {
        "faults": [],
        "done": [],
        "lost": [],
        "left": [],
    }


def test_a_backup_without_all_warc_files_says_so(vertical: LocalVertical, tmp_path: Path) -> None:
    [warc] = (vertical.data / "warc").iterdir()
    assert "warning" not in vertical.done("backup", str(tmp_path / "backups")).out
    warc.unlink()
    assert f"WARC files of stored pages are missing ({warc.name})" in vertical.done("backup", str(tmp_path / "b")).out


@pytest.mark.parametrize("name", ["100%25 a#b;c&d=目录", "100%", "file:x?mode=ro"])
def test_a_folder_may_have_any_name(tmp_path: Path, name: str) -> None:
    vertical = LocalVertical(tmp_path / name).write({"crawl": {"seeds": ["http://127.0.0.1:9/"]}})
    with Engine(load_settings(vertical.config), NullProgress()) as engine:
        keep_page(engine.store)
    assert sorted(path.name for path in tmp_path.iterdir()) == [name]
    assert vertical.done("check", "--no-index").out == "no damage found\n"
    vertical.done("backup", str(tmp_path / name / "backups"))
    assert "nothing to upgrade" not in vertical.done("upgrade").out
    assert all(result.is_well for result in run_checks(load_settings(vertical.config)) if result.name == "clock")
    file = vertical.data / "store.db"
    content_before = content(file)
    data = bytearray(file.read_bytes())
    data[4096 * 3 : 4096 * 4] = bytes(4096)
    file.write_bytes(data)
    said = vertical.plumb("check", "--repair", "--no-index")
    assert said.status == 0, said
    assert content(file) == content_before
    assert sorted(path.name for path in tmp_path.iterdir()) == [name]


def test_a_repair_that_loses_data_says_so(vertical: LocalVertical) -> None:
    file = vertical.data / "store.db"
    with closing(sqlite3.connect(file)) as connection, connection:
        connection.execute("UPDATE accounts SET roles = 'reviewer'")
    assert vertical.plumb("check", "--no-index").complaint.startswith("plumb: 1 problem found: ")
    said = vertical.plumb("check", "--repair", "--no-index")
    assert (
        said.status == 1
        and "lost: accounts: 1 rows with a damaged or an earlier value: check them (anna)" in said.out
        and "data was lost" in said.complaint
    )
    assert vertical.done("check", "--no-index").out == "no damage found\n"


def findings(vertical: LocalVertical) -> dict[str, list[CheckResult]]:
    found: dict[str, list[CheckResult]] = {}
    for one in run_checks(settings(vertical)):
        found.setdefault(one.name, []).append(one)
    return found


def test_the_doctor_looks_at_everything(vertical: LocalVertical) -> None:
    found = findings(vertical)
    names = {"disk", "inodes", "writing", "permissions", "versions", "solr", "dictionary", "clock", "schedule", "seed"}
    assert names <= found.keys()
    assert all(one.advice for group in found.values() for one in group if not one.is_well)
    assert not found["seed"][0].is_well and "127.0.0.1:9" in found["seed"][0].text
    assert not found["backup"][0].is_well and not found["schedule"][0].is_well
    assert found["dictionary"][0].is_well and found["versions"][0].is_well


@pytest.mark.parametrize("host", ["::1", "::"])
def test_the_doctor_connects_to_ipv6_addresses(
    vertical: LocalVertical, host: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(doctor, "CONNECT_TIMEOUT_SECONDS", 0.5)  # the server accepts and never answers
    (vertical.data / "sites.json").unlink()
    with socket.create_server(("::1", 0), family=socket.AF_INET6) as server:
        port = server.getsockname()[1]
        vertical.write(
            {
                "crawl": {"seeds": [f"http://[::1]:{port}/"], "inside_hosts": ["::1"]},
                "search": {"host": host, "port": port},
            }
        )
        found = findings(vertical)
    assert found["seed"] == [CheckResult("seed", True, f"[::1]:{port} accepts connections")]
    assert [(one.is_well, one.text) for one in found["port"]] == [(False, f"[{host}]:{port} is in use")]


def test_the_doctor_asks_no_proxy_about_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    monkeypatch.setenv("NO_PROXY", "")
    with Site({"/healthz": Answer(body=b'{"status": "ok", "title": "Oil"}')}) as site:
        assert doctor.is_our_search_site(site.host, "Oil")
        assert not doctor.is_our_search_site(site.host, "Gas")  # the site of another vertical


def test_the_doctor_sees_what_is_amiss(vertical: LocalVertical, tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as seed, socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        url = f"http://news.oil.localhost:{seed.getsockname()[1]}/"  # the crawl needs no DNS for it
        taken.close()
        vertical.write({"crawl": {"seeds": [url], "inside_hosts": ["*.localhost"]}, "search": {"port": port}})
        (vertical.data / "session.key").chmod(0o644)
        found = findings(vertical)
    assert found["seed"][0].is_well and found["port"][0].is_well
    assert [one.is_well for one in found["permissions"]] == [True, False]
    said = vertical.plumb("doctor")
    assert (
        said.status == 1
        and "PROBLEM  permissions" in said.out
        and "OK       versions" in said.out
        and "chmod o=" in said.out
    )
