"""Changes of the settings file: what survives, what is rejected, and conflicts."""

import os
import stat
import threading
from pathlib import Path

import pytest

from domain.errors import SettingsConflictError, SettingsError
from pipeline.settings import load_settings
from pipeline.settings_template import render_sample_toml
from pipeline.site_admin.settings_file import SettingsFile, apply_changes

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


@pytest.fixture
def file(tmp_path: Path) -> SettingsFile:
    path = tmp_path / "v.toml"
    path.write_text(TEXT.replace("\n[crawl.headers]\n", ""), encoding="utf-8")
    return SettingsFile(path)


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


def test_a_new_setting_is_written_below_its_line_in_the_sample_file() -> None:
    sample = render_sample_toml()
    assert apply_changes(sample, {"crawl.threads": 3}) == sample.replace(
        "\n# threads = 16\n", "\n# threads = 16\nthreads = 3\n"
    )


def test_a_saved_file_is_read_by_the_program(file: SettingsFile) -> None:
    before = file.read()
    after = file.save(file.changed_text(before.text, {"crawl.threads": 3}), before.digest)
    assert load_settings(file.path).crawl.threads == 3
    assert after == file.read()
    assert sorted(path.name for path in file.path.parent.iterdir()) == [".v.toml.lock", "v.toml"]


@pytest.mark.parametrize("text", ["[crawl]\nthreads = 0\n", "[crawl]\nthread = 2\n", "[crawl\n"])
def test_an_invalid_text_has_the_same_error_as_a_file_and_is_not_saved(file: SettingsFile, text: str) -> None:
    before = file.read()
    with pytest.raises(SettingsError) as rejected:
        file.save(text, before.digest)
    assert file.read() == before
    file.path.write_text(text)
    with pytest.raises(SettingsError) as loaded:
        load_settings(file.path)
    assert str(rejected.value) == str(loaded.value)


def test_a_change_outside_is_a_conflict_with_its_time(file: SettingsFile) -> None:
    before = file.read()
    file.path.write_text(TEXT.replace("North", "South"))
    os.utime(file.path, (1_000_000, 1_000_000))
    with pytest.raises(SettingsConflictError, match=r"v\.toml was changed outside at \d\d:\d\d") as conflict:
        file.save(file.changed_text(before.text, {"crawl.threads": 3}), before.digest)
    assert conflict.value.changed_at == 1_000_000
    assert "South" in file.read().text


def test_of_many_saves_at_the_same_time_one_succeeds(file: SettingsFile) -> None:
    before, results = file.read(), []

    def save(count: int) -> None:
        try:
            file.save(file.changed_text(before.text, {"crawl.threads": count}), before.digest)
            results.append(count)
        except SettingsConflictError:
            results.append(0)

    threads = [threading.Thread(target=save, args=(count,)) for count in range(1, 9)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(results)[:-1] == [0] * 7
    assert load_settings(file.path).crawl.threads == max(results)


def test_a_link_its_mode_and_windows_line_ends_stay(file: SettingsFile) -> None:
    text = file.read().text
    file.path.write_bytes(b"\xef\xbb\xbf" + text.replace("\n", "\r\n").encode())
    file.path.chmod(0o640)
    link = file.path.with_name("link.toml")
    link.symlink_to(file.path.name)
    linked = SettingsFile(link)
    before = linked.read()
    assert before.text == text
    linked.save(linked.changed_text(before.text, {"crawl.delay": 3}), before.digest)
    assert link.is_symlink()
    assert file.path.read_bytes() == text.replace("delay = 2", "delay = 3").replace("\n", "\r\n").encode()
    assert stat.S_IMODE(file.path.stat().st_mode) == 0o640


def test_a_folder_that_cannot_be_written_is_an_error_with_the_file(
    file: SettingsFile, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError(13, "Permission denied")

    before = file.read()
    monkeypatch.setattr(Path, "replace", refuse)
    with pytest.raises(SettingsError, match=r"cannot write .*v\.toml: Permission denied"):
        file.save(before.text.replace("North", "South"), before.digest)
    assert file.read() == before
