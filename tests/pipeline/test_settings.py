"""One TOML file: what is filled in, what is refused, and that every setting is documented."""

import dataclasses
import re
import tomllib
from pathlib import Path

import pytest
from click.testing import CliRunner

from crawler.site import SITE_KEYS
from domain.errors import SettingsError
from domain.setting import setting_fields
from pipeline import deprecated_settings
from pipeline.cli.main import cli
from pipeline.deprecated_settings import DeprecatedSetting
from pipeline.maintenance.doctor import CheckResult
from pipeline.maintenance.upgrade import check_settings
from pipeline.settings import ALLOWED_VALUES, SECTIONS, build_settings, load_settings
from pipeline.settings_template import render_sample_toml

ROOT = Path(__file__).resolve().parents[2]


def write(folder: Path, text: str) -> Path:
    path = folder / "v.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_file_environment_and_flags_in_this_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write(tmp_path, "[crawl]\nthreads = 2\ndelay = 3\n[vertical]\nname = '油气'")
    monkeypatch.setenv("PLUMB_CRAWL_THREADS", "5")
    monkeypatch.setenv("PLUMB_CRAWL_DEPTH", "7")
    settings = load_settings(path, {"crawl.depth": "9", "extract.tighten": "true", "crawl.concepts": "b, c"})
    assert (settings.crawl.threads, settings.crawl.depth, settings.crawl.delay) == (5, 9, 3.0)
    assert settings.crawl.concepts == ("b", "c")
    assert settings.extract.tighten is True
    assert settings.search.title == "油气"
    assert settings.data_dir == tmp_path / "data"


@pytest.mark.parametrize("text", ['["a,b.txt", "c.txt"]', "a,b.txt\nc.txt\n"])
def test_a_list_of_the_environment_can_hold_values_with_commas(
    text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PLUMB_CRAWL_CONCEPTS", text)
    monkeypatch.setenv("PLUMB_CRAWL_INSIDE_HOSTS", "[::1]:8080, a.test")
    crawl = load_settings(write(tmp_path, "")).crawl
    assert (crawl.concepts, crawl.inside_hosts) == (("a,b.txt", "c.txt"), ("[::1]:8080", "a.test"))


def test_a_deprecated_setting_works_and_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = (
        DeprecatedSetting("crawl.workers", "crawl.threads", "1.4"),
        DeprecatedSetting("search.meta", "vertical.name", "1.4"),
    )
    monkeypatch.setattr(deprecated_settings, "DEPRECATED_SETTINGS", rows)
    path = write(tmp_path, "[crawl]\nworkers = 2\n")
    settings = load_settings(path)
    assert (settings.crawl.threads, settings.deprecated_settings) == (2, rows[:1])
    warning = "crawl.workers is deprecated: use crawl.threads; version 1.4 is the last that reads it"
    assert check_settings(settings) == CheckResult("settings", True, warning)
    command = CliRunner().invoke(cli, ["-c", str(path), "upgrade", "--check"])
    assert command.exit_code == 0 and f"warning: {warning}" in command.stderr and warning in command.stdout
    monkeypatch.setenv("PLUMB_CRAWL_WORKERS", "5")
    settings = load_settings(path, {"search.meta": "油气"})
    assert (settings.crawl.threads, settings.vertical.name, settings.deprecated_settings) == (5, "油气", rows)
    assert all(map(settings.require_source().overridden, ("crawl.threads", "vertical.name")))
    with pytest.raises(SettingsError, match="are the same setting: remove crawl"):
        load_settings(write(tmp_path, "[crawl]\nworkers = 2\nthreads = 3\n"))


def test_a_setting_without_effect_is_accepted_with_a_warning(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write(tmp_path, "[search]\ntitle = '油气'\nglossary_origins = ['https://www.example.org']\n")
    [row] = load_settings(path).deprecated_settings
    assert load_settings(write(tmp_path, "[crawl]\nseen_filter = 'rbloom'\n")).deprecated_settings[0].replacement == ""
    path = write(tmp_path, "[search]\ntitle = '油气'\nglossary_origins = ['https://www.example.org']\n")
    warning = "search.glossary_origins has no effect any more: remove it; version 0.1 is the last with it"
    assert str(row) == warning and load_settings(path).search.title == "油气"
    command = CliRunner().invoke(cli, ["-c", str(path), "upgrade", "--check"])
    assert command.exit_code == 0 and f"warning: {warning}" in command.stderr and warning in command.stdout
    monkeypatch.setenv("PLUMB_SEARCH_GLOSSARY_ORIGINS", "https://a.test")
    settings = load_settings(write(tmp_path, ""), {"search.glossary_origins": "https://b.test"})
    assert settings.deprecated_settings == (row,)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[crawl]\nthread = 2", "unknown setting crawl.thread: did you mean threads?"),
        ("[crwal]\nthreads = 2", "unknown settings section [crwal]: did you mean crawl?"),
        ("name = 'x'", "name is outside any section"),
        ("[crawl]\nthreads = 'many'", "crawl.threads = 'many': expected a whole number"),
        ("[crawl]\nthreads = true", "crawl.threads = True: expected a whole number"),
        ("[crawl]\nthreads = 0", "crawl.threads = 0: must be more than 0"),
        ("[crawl]\ndelay = -1", "crawl.delay = -1.0: must be 0 or more"),
        ("[search]\nport = 99999", "search.port = 99999"),
        ("[crawl]\nspeed_up = 0.5", "crawl.speed_up = 0.5: must be 1 or more"),
        ("[crawl]\ntotal_timeout = 1e12", "crawl.total_timeout = 1000000000000.0: must be 86400 or less"),
        ("[alerts]\nseconds = 1e12", "alerts.seconds = 1000000000000.0: must be 3600 or less"),
        ("[ocr]\nmin_confidence = 7", "ocr.min_confidence = 7.0: must be 1 or less"),
        (
            "[store]\nwarc_megabytes = 100000000000000",
            "store.warc_megabytes = 100000000000000: must be 1000000 or less",
        ),
        ("[crawl]\nminutes = nan", "crawl.minutes = nan: must be a finite number"),
        ("[extract]\ndocument_seconds = inf", "extract.document_seconds = inf: must be a finite number"),
        ("[crawl]\nGROUP = 'x'", "unknown setting crawl.GROUP"),
        ("[crawl]\nconcepts = 'a'", "crawl.concepts: expected a list of text"),
        ("[[sites]]\nurls = 'http://a/'", "urls: expected http or https URLs"),
        ("[sites]\nurls = []", "write each site below a line"),
        ("[crawl]\nstrategy = 'magic'", "crawl.strategy = 'magic': expected one of auto, breadth_first, fused"),
        ("[extract]\nmethod = 'x'", "extract.method = 'x': expected one of"),
        ("[schedule]\nat = '25:00'", "schedule.at = '25:00': expected a time, for example 02:30"),
        ("[crawl]\nrevisit_shortest = 9\nrevisit_longest = 3", "crawl.revisit_longest is shorter"),
        ("[index]\nsolr_url = 'http://s/solr'\nsolr_port = 9", "contradict each other"),
        ("[index]\nsolr_port = 7080", "search.port is used by Solr"),
        ("[search]\nbase_url = 'https://a.test/search/'", "search.base_url must be a URL without a path"),
        ("[search]\nbase_url = 'a.test'", "search.base_url must be a URL without a path"),
        ("[crawl", "is not valid TOML"),
    ],
    ids=lambda value: value.replace("\n", " ")[:40],
)
def test_what_is_refused_is_named_in_one_line(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(SettingsError) as refused:
        load_settings(write(tmp_path, text))
    assert message in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_setting_accepts_0_if_its_description_says_what_0_does(tmp_path: Path) -> None:
    zero_settings = [
        (section, setting.name)
        for section, settings_class in SECTIONS.items()
        for setting in dataclasses.fields(settings_class)
        if type(setting.default) in (int, float) and re.search(r"\b0:", setting.metadata["help"])
    ]
    assert ("lexicon", "depth") in zero_settings
    for section, name in zero_settings:
        settings = load_settings(write(tmp_path, f"[{section}]\n{name} = 0"))
        assert getattr(getattr(settings, section), name) == 0


def test_a_missing_file_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="plumb init"):
        load_settings(tmp_path / "absent.toml")


def test_a_bad_flag_is_refused(tmp_path: Path) -> None:
    path = write(tmp_path, "")
    with pytest.raises(SettingsError, match=r"crawl.threads = 'x': expected a whole number"):
        load_settings(path, {"crawl.threads": "x"})
    with pytest.raises(SettingsError, match="unknown settings section"):
        load_settings(path, {"nothing.threads": "1"})
    with pytest.raises(SettingsError, match=r"unknown setting crawl\.GROUP"):
        load_settings(path, {"crawl.GROUP": "x"})


def test_the_sample_file_is_valid_and_changes_no_default(tmp_path: Path) -> None:
    sample = render_sample_toml()
    assert load_settings(write(tmp_path, sample)).crawl.contact == ""
    parts = [line for line in sample.splitlines() if line.startswith(("[", "urls", "contact"))]
    assert parts[:4] == ["[vertical]", "[crawl]", 'contact = ""', "[search]"]
    assert parts[-2:] == ["[[sites]]", 'urls = ["https://www.example.org/"]']
    opened = "\n".join(
        line.removeprefix("# ") if " = " in line and line.startswith("# ") and line.split()[1].isidentifier() else line
        for line in sample.splitlines()
    )
    parsed = tomllib.loads(opened)
    for section in ("vertical", "crawl", "search"):
        for name in ("name", "contact"):
            parsed[section].pop(name, None)
    assert parsed.pop("sites")[0].keys() == SITE_KEYS.keys()
    assert dataclasses.replace(build_settings(parsed, tmp_path), folder=tmp_path) == build_settings({}, tmp_path)


def test_every_setting_has_help() -> None:
    for section, kind in SECTIONS.items():
        for setting in setting_fields(kind):
            assert setting.metadata.get("help"), f"{section}.{setting.name}"


def test_every_name_is_documented() -> None:
    text = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "docs").rglob("*.md"))
    for full, names in ALLOWED_VALUES.items():
        for name in filter(None, names):
            assert f"`{name}`" in text, f"{full} = {name} is in no document"
