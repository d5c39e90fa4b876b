"""Settings of a vertical, read from one TOML file.

    [crawl]            each section is the settings dataclass of one stage or package
    threads = 8        each key is a field of it; type, range, allowed names and spelling are checked

Later sources override earlier ones: defaults, the file, `PLUMB_<SECTION>_<NAME>` variables, command line flags.
"""

import dataclasses
import difflib
import json
import re
import tomllib
import types
import typing
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, fields
from datetime import datetime, time
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar, get_args, get_origin

from crawler.settings import CrawlSettings
from crawler.site import Sites, www_variants
from crawler.urls.canonical import parse_scope
from domain.errors import SettingsError
from domain.message import Message
from domain.paper_settings import PaperFiles, PaperSettings, WuYuetingSettings, ZhangJinSettings, ZhouKunSettings
from domain.setting import Group, Secrecy, SettingEffect, hides_value, setting, setting_fields, violated_bound
from extractor.settings import ExtractSettings
from indexer.settings import IndexSettings
from lexicon.settings import LexiconSettings
from pipeline.alerts.settings import AlertSettings
from pipeline.compute.settings import DASK, ClusterSettings
from pipeline.deprecated_settings import DeprecatedSetting, current_path, move_deprecated
from pipeline.embedding.settings import EmbedSettings
from pipeline.logs import LOG_FORMATS
from pipeline.ocr.settings import OcrSettings
from pipeline.topic.settings import TopicSettings
from search_ui.settings import SearchSettings, SignedInSites

if TYPE_CHECKING:
    from pipeline.settings_source import SettingsSource

ENV_PREFIX = "PLUMB_"
SITES = "sites"  # the tables [[sites]], the only part of the file outside of sections
SCHEDULABLE_STAGES = ("crawl", "extract", "ocr", "embed", "lexicon", "index")  # keys of pipeline.stages.STAGES
S = TypeVar("S")


@dataclass(frozen=True)
class VerticalSettings:
    """Section [vertical]: name, data folder and log format."""

    GROUP: ClassVar[Group] = "machine"
    EFFECT: ClassVar = SettingEffect.RUN_AND_RESTART
    name: str = setting(
        "", "name of the vertical, shown on the search page", group="what", effect=SettingEffect.AT_ONCE
    )
    data_dir: str = setting("data", "data folder, relative to the TOML file", is_file_only=True)
    log_format: str = setting(
        "text",
        "format of logs/plumb.log and of progress messages on standard error: text for people, json for programs",
        names=LOG_FORMATS,
    )


@dataclass(frozen=True)
class StoreSettings:
    """Section [store]: location of the database and of the WARC files."""

    GROUP: ClassVar[Group] = "machine"
    EFFECT: ClassVar = SettingEffect.RUN_AND_RESTART
    url: str = setting(
        "",
        "SQLAlchemy URL of the store, for example postgresql+psycopg://user@host/name; empty: SQLite in data_dir",
        secrecy=Secrecy.WITH_CREDENTIALS,
        is_file_only=True,
    )
    warc: str = setting(
        "",
        "object store for WARC files, for example s3://bucket/prefix (pip install "
        "'plumbline-search[s3]'; credentials and endpoint: AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, "
        "AWS_ENDPOINT_URL). Files are written in data_dir and uploaded when they are closed. Empty: "
        "they stay in data_dir",
        is_file_only=True,
    )
    warc_megabytes: int = setting(
        512, "size in MB at which a WARC file is closed and the next one is started", maximum=1_000_000
    )
    keep_days: int = setting(
        0,
        "days after publication at which a run removes an article from the store and the results; 0: "
        "articles are kept. An article without a date counts from its discovery. Saved bytes stay in the WARC "
        "files",
        minimum=0,
        group="exclusions",
        effect=SettingEffect.NEXT_RUN,
    )

    @property
    def is_shared(self) -> bool:
        """True if other machines can open the store too."""
        return self.url.startswith("postgresql")


@dataclass(frozen=True)
class ScheduleSettings:
    """Section [schedule]: times of the scheduled runs. Raises SettingsError for invalid times or stages."""

    GROUP: ClassVar[Group] = "times"
    EFFECT: ClassVar = SettingEffect.AT_ONCE
    at: str = setting("02:30", "local time of the daily run, as HH:MM")
    grace_hours: float = setting(
        24.0,
        "hours after the scheduled time in which a missed run (machine or plumb schedule not running) is still started",
        minimum=0,
    )
    stages: Mapping[str, str] = setting(
        {},
        "additional times for single stages, by stage (crawl, extract, ocr, embed, lexicon, index), for "
        "example 08:00 14:00",
    )

    def __post_init__(self) -> None:
        if len(parse_times_of_day(self.at, "schedule.at")) > 1:
            raise SettingsError(
                "{path} = {value}: expected one time, for example 02:30; for more times use schedule.stages",
                path="schedule.at",
                value=repr(self.at),
            )
        for text in self.stages.values():
            parse_times_of_day(text, "schedule.stages")
        if unknown := self.stages.keys() - SCHEDULABLE_STAGES:
            names = ", ".join(SCHEDULABLE_STAGES)
            stage = repr(min(unknown))
            raise SettingsError(
                "{path}: unknown stage {value}; use one of {names}", path="schedule.stages", value=stage, names=names
            )


def parse_times_of_day(value: str, setting_path: str) -> list[time]:
    """Parse times such as `02:30 14:00`. Raises SettingsError, with `setting_path`, if the value is not valid."""
    try:
        times = [datetime.strptime(part, "%H:%M").time() for part in value.replace(",", " ").split()]
    except ValueError:
        times = []
    if not times:
        raise SettingsError(
            "{path} = {value}: expected a time, for example 02:30", path=setting_path, value=repr(value)
        )
    return times


class OverrideSource(StrEnum):
    """What overrides the value of a setting in the file."""

    ENVIRONMENT = "environment"
    COMMAND_LINE = "command_line"


@dataclass(frozen=True)
class Settings:
    """All settings of one vertical, one field per section of its TOML file.

    Attributes:
        folder: Folder of the TOML file.
        source: Reads and changes the file; None for settings that were not loaded from a file.
        deprecated_settings: The deprecated settings among those of the file, the environment and the command line.
    """

    folder: Path
    source: "SettingsSource | None" = field(default=None, compare=False)
    deprecated_settings: tuple[DeprecatedSetting, ...] = ()
    vertical: VerticalSettings = field(default_factory=VerticalSettings)
    store: StoreSettings = field(default_factory=StoreSettings)
    crawl: CrawlSettings = field(default_factory=CrawlSettings)
    extract: ExtractSettings = field(default_factory=ExtractSettings)
    ocr: OcrSettings = field(default_factory=OcrSettings)
    embed: EmbedSettings = field(default_factory=EmbedSettings)
    lexicon: LexiconSettings = field(default_factory=LexiconSettings)
    index: IndexSettings = field(default_factory=IndexSettings)
    search: SearchSettings = field(default_factory=SearchSettings)
    schedule: ScheduleSettings = field(default_factory=ScheduleSettings)
    alerts: AlertSettings = field(default_factory=AlertSettings)
    topic: TopicSettings = field(default_factory=TopicSettings)
    cluster: ClusterSettings = field(default_factory=ClusterSettings)
    papers: PaperSettings = field(default_factory=PaperSettings)

    @property
    def data_dir(self) -> Path:
        """Data folder of the vertical."""
        return self.folder / self.vertical.data_dir

    @property
    def file(self) -> Path | None:
        """The TOML file; None without `source`."""
        return self.source.file if self.source else None

    def require_source(self) -> "SettingsSource":
        """Return `source`. Raises SettingsError if there is none."""
        if self.source is None:
            raise SettingsError("these settings were not loaded from a file")
        return self.source

    def current(self) -> "Settings":
        """Return the settings as they are now in their file; see `SettingsSource.effective`."""
        return self.source.effective() if self.source else self


SECTIONS: dict[str, type[Any]] = {
    "vertical": VerticalSettings,
    "store": StoreSettings,
    "crawl": CrawlSettings,
    "extract": ExtractSettings,
    "ocr": OcrSettings,
    "embed": EmbedSettings,
    "lexicon": LexiconSettings,
    "index": IndexSettings,
    "search": SearchSettings,
    "schedule": ScheduleSettings,
    "alerts": AlertSettings,
    "topic": TopicSettings,
    "cluster": ClusterSettings,
}
PAPERS = "papers"
PAPER_SECTIONS: dict[str, type[Any]] = {
    PAPERS: PaperFiles,
    "papers.zhou_kun": ZhouKunSettings,
    "papers.wu_yueting": WuYuetingSettings,
    "papers.zhang_jin": ZhangJinSettings,
}
"""Sections for the repetition of the papers' experiments. The settings page of the site does not show them."""
ALL_SECTIONS = SECTIONS | PAPER_SECTIONS
# Settings with a fixed set of values: full path -> allowed names.
ALLOWED_VALUES: dict[str, Collection[str]] = {
    f"{section}.{setting.name}": names
    for section, settings in ALL_SECTIONS.items()
    for setting in setting_fields(settings)
    if (names := setting.metadata.get("names"))
}


def load_settings(path: Path, flags: Mapping[str, str] | None = None) -> Settings:
    """Read the settings of a vertical.

    Args:
        path: The TOML file. `PLUMB_` variables of the environment override its values.
        flags: Text by full path, such as `{"crawl.threads": "8"}`. They override the environment.

    Raises:
        SettingsError: A setting is unknown or invalid, or the file cannot be read. The message is one line with the
            full path of the setting.
    """
    from pipeline.settings_source import SettingsSource

    return SettingsSource(path, flags).load()


def overlay(raw: Mapping[str, Any], overrides: Mapping[str, str]) -> dict[str, dict[str, Any]]:
    """Return a copy of TOML sections, overridden by texts (full path -> text), without deprecated settings.

    Raises SettingsError.
    """
    sections: dict[str, Any] = {
        name: list(section) if name == SITES else dict(section) for name, section in split_paper_tables(raw).items()
    }
    move_deprecated(sections)
    for given_path, text in overrides.items():
        if given_path == SITES:
            sections[SITES] = check_tables(parse_json(SITES, text, list), SITES)
            continue
        if not (setting_path := current_path(given_path)):
            continue
        section, _, key = setting_path.rpartition(".")
        sections.setdefault(section, {})[key] = parse_override(setting_path, text)
    return sections


def build_settings(raw: Mapping[str, Any], folder: Path) -> Settings:
    """Build settings from parsed TOML sections; has no side effects. Raises SettingsError if they are invalid."""
    from pipeline.old_site_settings import replace_old_settings

    raw = split_paper_tables(replace_old_settings(raw))
    for name in raw:
        if name not in (SITES, *ALL_SECTIONS):
            raise SettingsError(f"unknown settings section [{name}]{suggest_name(name, ALL_SECTIONS)}")
    sections = {name: build_section(kind, raw.get(name, {}), name) for name, kind in ALL_SECTIONS.items()}
    tables = {name.rpartition(".")[2]: sections.pop(name) for name in PAPER_SECTIONS}
    settings = Settings(folder=folder, papers=PaperSettings(**vars(tables.pop(PAPERS)), **tables), **sections)
    check_combination(settings)
    sites = Sites.parse(raw.get(SITES, ()))
    search = dataclasses.replace(
        settings.search,
        site_names={site.host: site.name for site in sites.records if site.name},
        signed_in_sites=find_signed_in_sites(sites),
    )
    if settings.vertical.name and "title" not in raw.get("search", {}):
        search = dataclasses.replace(search, title=settings.vertical.name)
    crawl = dataclasses.replace(settings.crawl, sites=sites, folder=folder, data_dir=settings.data_dir)
    return dataclasses.replace(settings, crawl=crawl, search=search)


def find_signed_in_sites(sites: Sites) -> SignedInSites:
    """Return the sites whose articles only signed-in readers find.

    Such a site is its host with and without `www.`, and its scope. The record of a single host precedes the scopes of
    others. If it says nothing about readers, it follows a record of `*.host` and of the host with or without `www.`.
    """
    private_sites = [site for site in sites.records if site.is_for_signed_in]
    scopes = [scope for site in private_sites for scope in (*site.scopes, parse_scope(site.host)) if scope]
    variants = {host for site in private_sites for host in www_variants(site.host.removeprefix("*."))}
    domains = {scope.host.partition(":")[0] for scope in scopes if scope.includes_subdomains}
    public_hosts = {
        site.host
        for site in sites.records
        if not site.is_for_signed_in
        and (site.readers or not (site.host in variants or any(other.covers(site.host) for other in private_sites)))
    }
    hosts = {scope.host for scope in scopes if not scope.includes_subdomains} | variants
    hosts |= {site.host for site in sites.records if any(other.covers(site.host) for other in private_sites)}
    hosts = {host for host in hosts - public_hosts if not host.startswith("*.")}
    signed_in = SignedInSites(frozenset(hosts), frozenset(domains))
    exceptions = frozenset(filter(signed_in.covers, public_hosts))
    return dataclasses.replace(signed_in, public_hosts=exceptions)


def split_paper_tables(raw: Mapping[str, Any]) -> dict[str, Any]:
    """Return TOML sections in which each table of [papers] is a section, such as `papers.zhou_kun`."""
    papers = raw.get(PAPERS, {})
    tables = {f"{PAPERS}.{name}": value for name, value in papers.items() if isinstance(value, dict)}
    return {**raw, PAPERS: {name: value for name, value in papers.items() if not isinstance(value, dict)}, **tables}


def parse_toml_sections(text: str, path: Path) -> dict[str, dict[str, Any]]:
    """Parse the text of the TOML file at `path`: section -> key -> value. Raises SettingsError if it is not valid."""
    try:
        sections = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise SettingsError(f"{path} is not valid TOML: {error}") from error
    for name, value in sections.items():
        if name == SITES:
            check_tables(value, f"{path}")
        elif not isinstance(value, dict):
            raise SettingsError(f"{name} is outside any section: move it below a section line such as [crawl]")
    return sections


def check_tables(value: Any, origin: str) -> Any:
    """Return the tables [[sites]]. Raises SettingsError, which names their origin, for any other value."""
    if not isinstance(value, list) or not all(isinstance(table, dict) for table in value):
        raise SettingsError(f"{origin}: write each site below a line [[sites]]")
    return value


def read_environment(environment: Mapping[str, str]) -> dict[str, str]:
    """`PLUMB_CRAWL_THREADS=8` -> {"crawl.threads": "8"}; ignores all other variables."""
    tables = environment.get(f"{ENV_PREFIX}{SITES}".upper())
    overrides = {SITES: tables} if tables else {}
    for name, value in environment.items():
        words = name.removeprefix(ENV_PREFIX).lower()
        sections = [section for section in ALL_SECTIONS if words.startswith(f"{section.replace('.', '_')}_")]
        if name.startswith(ENV_PREFIX) and sections:
            section = max(sections, key=len)
            overrides[f"{section}.{words[len(section) + 1 :]}"] = value
    return overrides


def parse_override(setting_path: str, text: str) -> Any:
    """Convert the text of a flag or variable to the type of the field.

    A list is a JSON list of texts, has one value per line, or is separated by commas.

    Raises SettingsError for an unknown section and for text that does not fit the type.
    """
    section, _, key = setting_path.rpartition(".")
    if section not in ALL_SECTIONS:
        name = section or setting_path
        raise SettingsError(f"unknown settings section [{name}]{suggest_name(name, ALL_SECTIONS)}")
    expected_type = setting_types(ALL_SECTIONS[section]).get(key, str)
    if expected_type is str:
        return text
    if get_origin(expected_type) is tuple:
        return split_list(text, setting_path)
    return parse_json(setting_path, text.lower() if expected_type is bool else text, expected_type)


def split_list(text: Any, setting_path: str) -> Any:
    """Split the text of a list; another value is returned as it is. Raises SettingsError for invalid JSON."""
    if not isinstance(text, str):
        return text
    if re.match(r'\[\s*["\]]', text.strip()):
        return parse_json(setting_path, text, list)
    return [part.strip() for part in text.split("\n" if "\n" in text.strip() else ",") if part.strip()]


def parse_number(text: str) -> int | float | str:
    """Return text as a number; other text unchanged."""
    for number_type in (int, float):
        try:
            return number_type(text)
        except ValueError:
            continue
    return text


def parse_json(setting_path: str, text: str, expected_type: Any) -> Any:
    """Parse JSON. Raises SettingsError, without the text of a list or table, which may be secret."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        value_text = f" = {text!r}" if expected_type in (bool, int, float) else ""
        raise SettingsError(f"{setting_path}{value_text}: expected {type_name(expected_type)}") from None


def has_credentials(sections: Mapping[str, Any]) -> bool:
    """True if a value in TOML sections must not be shown."""
    return any(map(has_secrets, sections.get(SITES, ()))) or any(
        hides_value(setting.metadata.get("secrecy", Secrecy.NONE), str(value))
        for section, settings_class in ALL_SECTIONS.items()
        for setting in setting_fields(settings_class)
        if (value := sections.get(section, {}).get(setting.name))
    )


def has_secrets(table: Mapping[str, Any]) -> bool:
    """True if a table [[sites]] has values that must not be shown."""
    return bool(table.get("headers") or table.get("cookies") or "@" in str(table.get("proxy", "")))


def setting_types(settings_class: type[Any]) -> dict[str, Any]:
    """Return the type of each setting of a section by its key. Other attributes of the class are no settings."""
    hints = typing.get_type_hints(settings_class)
    return {setting.name: hints[setting.name] for setting in setting_fields(settings_class)}


def build_section(expected_type: type[S], raw: Mapping[str, Any], path: str) -> S:
    """Create the settings object of section `path`. Raises SettingsError for unknown keys and invalid values."""
    hints = setting_types(expected_type)
    values = {}
    for key, value in raw.items():
        setting_path = f"{path}.{key}"
        if key not in hints:
            raise SettingsError(f"unknown setting {setting_path}{suggest_name(key, hints)}")
        values[key] = validate_value(setting_path, value, hints[key])
    return expected_type(**values)


def validate_value(setting_path: str, value: Any, expected_type: Any) -> Any:
    """Convert `value` to `expected_type`. Raises SettingsError that states the expected type."""
    if get_origin(expected_type) in (tuple, Mapping) or expected_type is Mapping:
        return validate_container(setting_path, value, expected_type)
    if expected_type is float and isinstance(value, int) and not isinstance(value, bool):
        value = float(value)
    accepted_types = expected_type if not isinstance(expected_type, types.UnionType) else get_args(expected_type)
    if not isinstance(value, accepted_types) or (isinstance(value, bool) and expected_type is not bool):
        is_secret = setting_field(setting_path).metadata.get("secrecy", Secrecy.NONE) is not Secrecy.NONE
        value_text, expected = "..." if is_secret else repr(value), type_name(expected_type)
        raise SettingsError(
            "{path} = {value}: expected {expected}", path=setting_path, value=value_text, expected=expected
        )
    check_constraints(setting_path, value)
    return value


def validate_container(setting_path: str, value: Any, expected_type: Any) -> Any:
    """Check the member types of a list or table; returns a tuple or dict. Raises SettingsError."""
    if get_origin(expected_type) is tuple:
        member = get_args(expected_type)[0]
        if not isinstance(value, list | tuple) or not all(isinstance(item, member) for item in value):
            raise SettingsError(f"{setting_path}: expected a list of {type_name(member)}")
        return tuple(value)
    if get_args(expected_type)[-1:] == (float,):
        return validate_numbers(setting_path, value)
    if not isinstance(value, dict) or not all(isinstance(item, str) for item in value.values()):
        raise SettingsError(f"{setting_path}: expected a table of text, for example {{ host = 'name' }}")
    return dict(value)


def validate_numbers(setting_path: str, value: Any) -> dict[str, float]:
    """Check a table of numbers with fixed keys; a missing key keeps its default. Raises SettingsError."""
    make_default: Any = setting_field(setting_path).default_factory
    numbers: dict[str, float] = make_default()
    if not isinstance(value, dict):
        raise SettingsError(
            f"{setting_path}: expected a table of numbers, for example {{ {next(iter(numbers))} = 1.0 }}"
        )
    for name, number in value.items():
        if name not in numbers:
            raise SettingsError(f"unknown key {setting_path}.{name}{suggest_name(name, numbers)}")
        numbers[name] = validate_value(f"{setting_path}.{name}", number, float)
    return numbers


def check_constraints(setting_path: str, value: Any) -> None:
    """Raise SettingsError for a name that is not allowed or a number out of range."""
    if setting_path in ALLOWED_VALUES and value not in ALLOWED_VALUES[setting_path]:
        names = ", ".join(sorted(ALLOWED_VALUES[setting_path]))
        raise SettingsError(
            "{path} = {value}: expected one of {names}", path=setting_path, value=repr(value), names=names
        )
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if is_number and (error := violated_bound(setting_path, value, setting_field(setting_path).metadata)):
        raise SettingsError(error)


def setting_field(path: str) -> "dataclasses.Field[Any]":
    """Return the dataclass field of a setting, or of the table that contains the entry `path`."""
    section = max((name for name in ALL_SECTIONS if path.startswith(f"{name}.")), key=len)
    names = path.removeprefix(f"{section}.").split(".")
    return next(setting for setting in fields(ALL_SECTIONS[section]) if setting.name == names[0])


def check_combination(settings: Settings) -> None:
    """Raise SettingsError for settings that contradict each other."""
    crawl, search = settings.crawl, settings.search
    if crawl.revisit_longest < crawl.revisit_shortest:
        raise SettingsError("{path} is shorter than crawl.revisit_shortest: swap them", path="crawl.revisit_longest")
    if search.page_size > search.deepest_result:
        raise SettingsError("{path} is larger than search.deepest_result: lower it", path="search.page_size")
    if settings.cluster.engine == DASK and not settings.cluster.scheduler:
        raise SettingsError(
            "cluster.engine is dask: set {path} to the address of its scheduler, for example tcp://host:8786",
            path="cluster.scheduler",
        )
    if settings.cluster.engine == DASK and not settings.store.url.startswith("postgresql"):
        raise SettingsError(
            "cluster.engine is dask, but its workers cannot open a SQLite file: set {path}", path="store.url"
        )
    if settings.index.solr_url and settings.index.solr_port:
        raise SettingsError(
            "{path} and index.solr_port contradict each other: set only one of them", path="index.solr_url"
        )
    if max(settings.index.shards, settings.index.replicas) > 1 and not settings.index.solr_url:
        raise SettingsError(
            "index.shards and index.replicas need your own SolrCloud: set {path}", path="index.solr_url"
        )
    if search.port and search.port in (settings.index.solr_port, settings.index.solr_port + 1000):
        raise SettingsError(
            "{path} is used by Solr (index.solr_port) or its ZooKeeper (index.solr_port + 1000): change one",
            path="search.port",
        )


def suggest_name(name: str, candidates: Collection[str]) -> str:
    """Format a hint for an unknown name: the most similar candidate, or all candidates."""
    matches = difflib.get_close_matches(name, list(candidates), n=1)
    return f": did you mean {matches[0]}?" if matches else f"; expected one of {', '.join(sorted(candidates))}"


_TYPE_NAMES = {
    int: Message("a whole number"),
    float: Message("a number"),
    bool: Message("true or false"),
    str: Message("text"),
    list: Message('a list, for example ["a", "b"]'),
}


def type_name(expected_type: Any) -> str:
    """Describe a type for an administrator, for example "a whole number"."""
    if get_origin(expected_type) is Mapping:
        return Message('a table, for example {"title": 2}')
    return _TYPE_NAMES.get(expected_type, str(expected_type))
