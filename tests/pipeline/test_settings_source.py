"""Changes of the settings file: what survives, what is rejected, and conflicts."""

import os
import stat
import threading
import tomllib
from pathlib import Path

import pytest

from domain.errors import SettingsConflictError, SettingsError
from pipeline.maintenance.doctor import check_permissions
from pipeline.settings import load_settings
from pipeline.settings_source import SettingsEdit, SettingsSource, check_crawl
from pipeline.settings_template import render_sample_toml
from pipeline.settings_text import apply_changes

TEXT = """\
# the vertical of the north

[crawl]
# seeds of the crawl
seeds = [
    "https://a.test/", # the oldest
    "https://b.test/",
]
# threads of all hosts
# threads = 8
delay = 2 # polite

# the site
[search]
title = "North"

[search.site_names]
"a.test" = "A"  # with its comment

[crawl.headers]
"""


A, B, C = ({"urls": [f"https://{name}.test/"]} for name in "abc")


@pytest.fixture
def source(tmp_path: Path) -> SettingsSource:
    path = tmp_path / "v.toml"
    path.write_text(TEXT.replace("\n[crawl.headers]\n", ""), encoding="utf-8")
    return SettingsSource(path)


def set_threads(source: SettingsSource, count: int, digest: str = "") -> SettingsEdit:
    return source.edit(lambda _: {"crawl.threads": count}, digest=digest)


@pytest.mark.parametrize(
    ("changes", "old", "new"),
    [
        ({"crawl.delay": 3.5}, "delay = 2 # polite", "delay = 3.5 # polite"),
        ({"crawl.threads": 4}, "# threads = 8\n", "# threads = 8\nthreads = 4\n"),
        ({"crawl.depth": 4}, "delay = 2 # polite\n", "delay = 2 # polite\ndepth = 4\n"),
        ({"crawl.delay": None}, "delay = 2 # polite\n", ""),
        ({"crawl.depth": None}, "", ""),
        ({"crawl.seeds": ("https://a.test/", "https://c.test/")}, "https://b.test/", "https://c.test/"),
        ({"search.title": "北方"}, '"North"', '"北方"'),
        ({"search.site_names": {"a.test": "A", "b.test": "B"}}, "its comment\n", 'its comment\n"b.test" = "B"\n'),
        ({"search.page_size": 5}, 'title = "North"\n', 'title = "North"\npage_size = 5\n'),
        ({"schedule.at": "03:00"}, "[crawl.headers]\n", '[crawl.headers]\n\n[schedule]\nat = "03:00"\n'),
    ],
    ids=lambda value: next(iter(value)) if isinstance(value, dict) else "",
)
def test_a_change_leaves_every_other_line(changes: dict[str, object], old: str, new: str) -> None:
    assert apply_changes(TEXT, changes) == TEXT.replace(old, new, 1)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[crawl]",
        "crawl.depth = 3\n",
        "crawl = { depth = 3 }\n",
        "[crawl]\ndepth = 3\n[search]\ntitle = 'x'\n",
        "[search.site_names]\n'a' = 'b'\n",
    ],
)
def test_settings_are_added_to_and_removed_from_every_form_of_section(text: str) -> None:
    changes: dict[str, object | None] = {
        "crawl.threads": 4,
        "search.page_size": 5,
        "search.site_names": {"h.test": "H"},
    }
    edited = apply_changes(text, changes)
    assert apply_changes(edited, dict.fromkeys(changes)).count("=") == text.count("=") - text.count("'a'")


def test_the_comment_of_a_removed_setting_goes_with_it() -> None:
    text = (
        "[crawl]\n# help\n# threads = 8\n# at these hours\nquiet_hours = ['1:00-6:00']\n# ours\ninside_hosts = ['a']\n"
    )
    assert apply_changes(text, {"crawl.quiet_hours": None}) == (
        "[crawl]\n# help\n# threads = 8\n# ours\ninside_hosts = ['a']\n"
    )
    site = "[[sites]]\nurls = ['https://a.test/']\n# slow\ndelay = 9\nkeep_days = 3\n"
    assert apply_changes(site, {"sites": [{"urls": ["https://a.test/"], "keep_days": 3}]}) == (
        "[[sites]]\nurls = ['https://a.test/']\nkeep_days = 3\n"
    )


def test_a_new_setting_is_written_below_its_line_in_the_sample_file() -> None:
    sample = render_sample_toml()
    assert apply_changes(sample, {"crawl.threads": 3}) == sample.replace(
        "\n# threads = 16\n", "\n# threads = 16\nthreads = 3\n"
    )


SITES = """\
[[sites]]  # the oldest
urls = ["https://a.test/"] # home
# delay = 5

# the second
[[sites]]
urls = [
    "https://b.test/",
]
# paused = true"""


@pytest.mark.parametrize(
    ("tables", "old", "new"),
    [
        ([A, B, C], "# paused = true", '# paused = true\n\n[[sites]]\nurls = ["https://c.test/"]\n'),
        ([A], '\n# the second\n[[sites]]\nurls = [\n    "https://b.test/",\n]\n# paused = true', "# paused = true\n"),
        ([A, B | {"delay": 3}], "]\n# paused = true", "]\ndelay = 3\n# paused = true\n"),
        (
            [A | {"urls": ["https://a.test/", "https://a.test/x"]}, B],
            '.test/"] # home',
            '.test/", "https://a.test/x"] # home',
        ),
    ],
    ids=["added", "removed", "changed", "one URL more"],
)
def test_a_change_of_a_site_leaves_every_other_line(tables: list[dict[str, object]], old: str, new: str) -> None:
    assert apply_changes(SITES, {"sites": tables}).rstrip() == SITES.replace(old, new, 1).rstrip()
    assert tomllib.loads(apply_changes(SITES, {"sites": []})) == {}


def test_an_edited_file_is_read_by_the_program(source: SettingsSource) -> None:
    edit = set_threads(source, 3)
    assert load_settings(source.file).crawl.threads == 3
    assert edit.new_text == source.read().text
    assert sorted(path.name for path in source.file.parent.iterdir()) == [".v.toml.lock", "v.toml"]


@pytest.mark.parametrize("changes", [{"crawl.threads": 0}, {"crawl.thread": 2}, {"crawl.seeds": ["ftp://a.test/"]}])
def test_an_invalid_edit_has_the_same_error_as_a_file_and_is_not_saved(
    source: SettingsSource, changes: dict[str, object]
) -> None:
    before = source.read()
    with pytest.raises(SettingsError) as rejected:
        source.edit(lambda _: changes)
    assert source.read() == before
    source.file.write_text(apply_changes(before.text, changes))
    with pytest.raises(SettingsError) as loaded:
        check_crawl(load_settings(source.file))
    assert str(rejected.value) == str(loaded.value)


def test_a_change_outside_is_a_conflict_with_its_time(source: SettingsSource) -> None:
    before = source.read()
    source.file.write_text(TEXT.replace("North", "South"))
    os.utime(source.file, (1_000_000, 1_000_000))
    with pytest.raises(SettingsConflictError, match=r"v\.toml was changed at \d\d:\d\d") as conflict:
        set_threads(source, 3, before.digest)
    assert conflict.value.changed_at == 1_000_000
    assert "South" in source.read().text


def test_of_many_edits_at_the_same_time_one_succeeds(source: SettingsSource) -> None:
    before, results = source.read(), []

    def save(count: int) -> None:
        try:
            set_threads(source, count, before.digest)
            results.append(count)
        except SettingsConflictError:
            results.append(0)

    threads = [threading.Thread(target=save, args=(count,)) for count in range(1, 9)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(results)[:-1] == [0] * 7
    assert load_settings(source.file).crawl.threads == max(results)


def test_a_link_its_mode_and_windows_line_ends_stay(source: SettingsSource) -> None:
    text, file = source.read().text, source.file
    file.write_bytes(b"\xef\xbb\xbf" + text.replace("\n", "\r\n").encode())
    file.chmod(0o640)
    link = file.with_name("link.toml")
    link.symlink_to(file.name)
    linked = SettingsSource(link)
    assert linked.read().text == text
    linked.edit(lambda _: {"crawl.delay": 3})
    assert link.is_symlink()
    assert file.read_bytes() == text.replace("delay = 2", "delay = 3").replace("\n", "\r\n").encode()
    assert stat.S_IMODE(file.stat().st_mode) == 0o640


def test_a_file_with_credentials_is_private(source: SettingsSource) -> None:
    source.file.chmod(0o644)
    source.edit(lambda _: {"alerts.webhook": "https://a.test/secret"})
    assert stat.S_IMODE(source.file.stat().st_mode) == 0o600
    source.file.write_text('[crawl]\nheaders = ["a.test X: s3cret"]\n')  # an old setting
    source.file.chmod(0o644)
    source.edit(lambda _: {"crawl.delay": 3})
    assert stat.S_IMODE(source.file.stat().st_mode) == 0o600
    source.file.chmod(0o644)
    [problem] = [result for result in check_permissions(source.load()) if not result.is_well]
    assert problem.text.startswith("v.toml")


def test_an_edit_of_an_overridden_setting_is_refused_and_others_write_only_themselves(
    source: SettingsSource, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PLUMB_CRAWL_THREADS", "5")
    flagged = SettingsSource(source.file, {"crawl.delay": "7"})
    for path in ("crawl.threads", "crawl.delay"):
        with pytest.raises(SettingsError, match=f"{path} is overridden outside the file"):
            flagged.edit(lambda _, path=path: {path: 3})  # type: ignore[misc]
    assert (flagged.stored("crawl.delay"), flagged.effective().crawl.delay) == (2, 7.0)
    edit = flagged.edit(lambda _: {"crawl.depth": 4, "search.title": "North"})
    assert edit.changes == {"crawl.depth": 4}
    assert source.read().text == edit.old_text.replace("# polite\n", "# polite\ndepth = 4\n")


def test_a_folder_that_cannot_be_written_is_an_error_with_the_file(
    source: SettingsSource, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError(13, "Permission denied")

    before = source.read()
    monkeypatch.setattr(Path, "replace", refuse)
    with pytest.raises(SettingsError, match=r"cannot write .*v\.toml: Permission denied"):
        set_threads(source, 3)
    assert source.read() == before


@pytest.mark.parametrize(
    ("text", "old"),
    [
        (
            "[crawl]\ndelay = 1\n[[sites]]\nhost = 'a.test'\n\n[[sites]]\nhost = 'b.test'\n",
            "[[sites]]\nhost = 'a.test'\n",
        ),
        ("[crawl]\n# threads = 8\n[[sites]]\nhost = 'a.test'\n# delay = 5\n", "[[sites]]\nhost = 'a.test'\n"),
    ],
)
def test_a_removed_site_takes_no_line_of_its_neighbours_with_it(text: str, old: str) -> None:
    kept = tomllib.loads(text)["sites"][1:]
    assert apply_changes(text, {"sites": kept}) == text.replace(old, "")


def test_start_urls_change_their_order() -> None:
    one, two, three = (f"http://a.test/{number}" for number in range(3))
    text = f'[[sites]]\nurls = [\n  "{one}", # A\n  "{two}", # B\n  "{three}"\n]\n'
    for urls in ([two, one, three], [three, one, two], [three, two, one], [one, one], [three]):
        assert tomllib.loads(apply_changes(text, {"sites": [{"urls": urls}]})) == {"sites": [{"urls": urls}]}


def test_sites_on_one_line_are_changed() -> None:
    text = "sites = [{ host = 'a.test', delay = 2 }] # ours\n[crawl]\ndelay = 1\n"
    edited = apply_changes(text, {"sites": [{"host": "a.test"}, A]})
    assert tomllib.loads(edited) == {"sites": [{"host": "a.test"}, A], "crawl": {"delay": 1}}


def test_an_edit_of_a_file_with_two_tables_of_a_host_loses_neither(source: SettingsSource) -> None:
    text = '[[sites]]\nurls = ["https://a.test/"]\n[[sites]]\nhost = "a.test"\ndelay = 3\n'
    source.file.write_text(text)
    with pytest.raises(SettingsError, match="two tables"):
        source.edit(lambda stored: {"sites": [stored["sites"][1]]})
    assert source.read().text == text


def test_a_file_behind_links_that_are_swapped_is_read_again(tmp_path: Path) -> None:
    for name, delay in (("one", 1), ("two", 2)):
        (tmp_path / name).mkdir()
        (tmp_path / name / "v.toml").write_text(f"[crawl]\ndelay = {delay}\n")
    (tmp_path / "data").symlink_to("one")
    (tmp_path / "v.toml").symlink_to("data/v.toml")
    source = SettingsSource(tmp_path / "v.toml")
    assert source.load().crawl.delay == 1
    (tmp_path / "new").symlink_to("two")
    (tmp_path / "new").replace(tmp_path / "data")
    (tmp_path / "one" / "v.toml").unlink()
    assert source.effective().crawl.delay == 2


def test_the_owner_of_a_file_and_its_deliberate_mode_stay(source: SettingsSource) -> None:
    status = source.file.stat()
    if os.geteuid() == 0:
        os.chown(source.file, 12345, 12346)
        status = source.file.stat()
    source.file.chmod(0o640)
    source.edit(lambda _: {"alerts.webhook": "https://a.test/secret"})
    for file in (source.file, source.file.with_name(".v.toml.lock")):
        assert (file.stat().st_uid, file.stat().st_gid) == (status.st_uid, status.st_gid)
    assert stat.S_IMODE(source.file.stat().st_mode) == 0o640
