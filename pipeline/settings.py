"""One TOML file describes a vertical: defaults, then the file, then `PLUMB_<SECTION>_<NAME>` variables, then flags.

[crawl]            every section is the settings dataclass of one stage;
threads = 8        every key one of its fields, checked for type, range of names, and spelling
"""

import dataclasses
import difflib
import json
import os
import re
import tomllib
import types
import typing
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, fields
from datetime import datetime, time
from pathlib import Path
from typing import Any, TypeVar, get_args, get_origin

from crawler.settings import CrawlSettings, broken_bound
from docstore.errors import SettingsError
from extractor.settings import ExtractSettings
from indexer.settings import IndexSettings
from lexicon.settings import LexiconSettings
from pipeline.alerts.settings import AlertSettings
from pipeline.embedding.settings import EmbedSettings
from pipeline.engines.settings import DASK, ClusterSettings
from pipeline.logs import FORMATS
from pipeline.topic.settings import TopicSettings
from search_ui.settings import SearchSettings

ENVIRONMENT = "PLUMB_"
STAGE_NAMES = ("crawl", "extract", "lexicon", "index")  # those of pipeline.stages.FLOW
HOST = re.compile(r"[a-z0-9_.-]+(:[0-9]{1,5})?|\[[0-9a-f:.]+\](:[0-9]{1,5})?")
S = TypeVar("S")


@dataclass(frozen=True)
class VerticalSettings:
    """The vertical as a whole."""

    name: str = field(default="", metadata={"help": "name of the vertical, shown on the search page"})
    data_dir: str = field(
        default="data", metadata={"help": "folder for everything that is kept; relative to the TOML file"}
    )
    log_format: str = field(
        default="text",
        metadata={
            "help": "lines of logs/plumb.log, and of what commands say on standard error while they work: text for "
            "people, json for machines",
            "names": FORMATS,
        },
    )


@dataclass(frozen=True)
class StoreSettings:
    """Where the store is."""

    url: str = field(
        default="",
        metadata={"help": "SQLAlchemy URL, as postgresql+psycopg://user@host/name; empty: SQLite in data_dir"},
    )
    warc: str = field(
        default="",
        metadata={
            "help": "object store for fetched answers, as s3://bucket/prefix (pip install 'plumbline[cluster]'; keys "
            "and endpoint by AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_ENDPOINT_URL); files are written in "
            "data_dir and go there when they are closed. Empty: they stay in data_dir"
        },
    )
    warc_megabytes: int = field(default=512, metadata={"help": "a WARC file is closed at this size, in MB"})


@dataclass(frozen=True)
class ScheduleSettings:
    """When the nightly run is."""

    at: str = field(default="02:30", metadata={"help": "local time of the daily run, as HH:MM"})
    grace_hours: float = field(
        default=24.0,
        metadata={
            "help": "a run that did not start in time, because the machine or plumb schedule was not there, is made up "
            "for up to so many hours later"
        },
    )
    stages: Mapping[str, str] = field(
        default_factory=dict,
        metadata={"help": "further times of single stages, by stage (crawl, extract, lexicon, index), as 08:00 14:00"},
    )
    sites: Mapping[str, str] = field(
        default_factory=dict,
        metadata={
            "help": "further times of whole runs that ask some hosts alone, by hosts (commas between), as 06:00 18:00"
        },
    )

    def __post_init__(self) -> None:
        if len(times_of_day(self.at, "schedule.at")) > 1:
            raise SettingsError(f"schedule.at = {self.at!r}: expected one time as 02:30; schedule.stages has more")
        for kind, wanted in (("stages", self.stages), ("sites", self.sites)):
            for name, text in wanted.items():
                times_of_day(text, f"schedule.{kind} {name!r}")
        if unknown := self.stages.keys() - STAGE_NAMES:
            names = ", ".join(STAGE_NAMES)
            raise SettingsError(f"schedule.stages: there is no stage {min(unknown)!r}; there is {names}")
        for host in (host for names in self.sites for host in hosts_in(names)):
            if not HOST.fullmatch(host):
                raise SettingsError(f"schedule.sites: {host!r} is no host, as news.example.org or intra:8080")


def hosts_in(names: str) -> tuple[str, ...]:
    """The hosts in `a.example, b.example:8080`, as URLs have them."""
    return tuple(names.lower().replace(",", " ").split())


def times_of_day(text: str, setting: str) -> list[time]:
    """The times in `02:30 14:00`. SettingsError for what is none; `setting` is named in it."""
    try:
        found = [datetime.strptime(part, "%H:%M").time() for part in text.replace(",", " ").split()]
    except ValueError:
        found = []
    if not found:
        raise SettingsError(f"{setting} = {text!r}: expected a time as 02:30")
    return found


@dataclass(frozen=True)
class Settings:
    """All settings of one vertical; `folder` is where its TOML file lies."""

    folder: Path
    vertical: VerticalSettings = field(default_factory=VerticalSettings)
    store: StoreSettings = field(default_factory=StoreSettings)
    crawl: CrawlSettings = field(default_factory=CrawlSettings)
    extract: ExtractSettings = field(default_factory=ExtractSettings)
    embed: EmbedSettings = field(default_factory=EmbedSettings)
    lexicon: LexiconSettings = field(default_factory=LexiconSettings)
    index: IndexSettings = field(default_factory=IndexSettings)
    search: SearchSettings = field(default_factory=SearchSettings)
    schedule: ScheduleSettings = field(default_factory=ScheduleSettings)
    alerts: AlertSettings = field(default_factory=AlertSettings)
    topic: TopicSettings = field(default_factory=TopicSettings)
    cluster: ClusterSettings = field(default_factory=ClusterSettings)

    @property
    def data_dir(self) -> Path:
        """The folder for everything that is kept."""
        return self.folder / self.vertical.data_dir


SECTIONS: dict[str, type[Any]] = {
    "vertical": VerticalSettings,
    "store": StoreSettings,
    "crawl": CrawlSettings,
    "extract": ExtractSettings,
    "embed": EmbedSettings,
    "lexicon": LexiconSettings,
    "index": IndexSettings,
    "search": SearchSettings,
    "schedule": ScheduleSettings,
    "alerts": AlertSettings,
    "topic": TopicSettings,
    "cluster": ClusterSettings,
}
# Settings whose value is a name in a table: full path -> the names there are.
NAMES: dict[str, Collection[str]] = {
    f"{section}.{one.name}": names
    for section, settings in SECTIONS.items()
    for one in fields(settings)
    if (names := one.metadata.get("names"))
}
HIGHEST_PORT = 65535
# Settings of the other stages that may be 0; every other number has to be positive.
MAY_BE_ZERO = frozenset(
    {
        "cluster.crawlers",
        "index.solr_port",
        "search.log_days",
        "search.port",
        "search.at_once",
        "search.trusted_proxies",
        "embed.passages",
        "embed.processes",
        "lexicon.probability",
        "lexicon.threshold",
        "schedule.grace_hours",
        "alerts.silent_days",
    }
)


def load_settings(path: Path, flags: Mapping[str, str] | None = None) -> Settings:
    """The settings in the file at `path`, overridden by the environment, then by `flags` (full path -> text).

    Raises SettingsError with one line that names the setting by its full path.
    """
    given = read_toml(path)
    for full, text in {**from_environment(os.environ), **(flags or {})}.items():
        section, _, key = full.partition(".")
        given.setdefault(section, {})[key] = parse_text(full, text)
    return build(given, path.resolve().parent)


def build(given: Mapping[str, Any], folder: Path) -> Settings:
    """Settings from parsed sections. Pure but for nothing: the same input gives the same settings or error."""
    for name in given:
        if name not in SECTIONS:
            raise SettingsError(f"unknown section [{name}]{suggestion(name, SECTIONS)}")
    sections = {name: fill(kind, given.get(name, {}), name) for name, kind in SECTIONS.items()}
    settings = Settings(folder=folder, **sections)
    check_together(settings)
    if settings.vertical.name and "title" not in given.get("search", {}):
        titled = dataclasses.replace(settings.search, title=settings.vertical.name)
        settings = dataclasses.replace(settings, search=titled)
    return settings


def read_toml(path: Path) -> dict[str, dict[str, Any]]:
    """The sections of a TOML file."""
    try:
        parsed = tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except FileNotFoundError:
        raise SettingsError(f"{path} does not exist: make one with `plumb init`, or name yours") from None
    except OSError as error:
        raise SettingsError(f"cannot read {path}: {error.strerror}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise SettingsError(f"{path} is not valid TOML: {error}") from error
    for name, value in parsed.items():
        if not isinstance(value, dict):
            raise SettingsError(f"{name} stands outside any section: put it below a line like [crawl]")
    return parsed


def from_environment(environment: Mapping[str, str]) -> dict[str, str]:
    """`PLUMB_CRAWL_THREADS=8` -> {"crawl.threads": "8"}; other variables are not ours."""
    found = {}
    for name, value in environment.items():
        section, _, key = name.removeprefix(ENVIRONMENT).lower().partition("_")
        if name.startswith(ENVIRONMENT) and section in SECTIONS:
            found[f"{section}.{key}"] = value
    return found


def parse_text(full: str, text: str) -> Any:
    """The value that `text` of a flag or variable stands for: by the field's type, lists separated by commas."""
    section, _, key = full.partition(".")
    if section not in SECTIONS:
        raise SettingsError(f"unknown section [{section}]{suggestion(section, SECTIONS)}")
    kind = typing.get_type_hints(SECTIONS[section]).get(key, str)
    if kind is str:
        return text
    if get_origin(kind) is tuple:
        return [part.strip() for part in text.split(",") if part.strip()]
    try:
        return json.loads(text.lower() if kind is bool else text)
    except ValueError:
        raise SettingsError(f"{full} = {text!r}: expected {type_name(kind)}") from None


def fill(kind: type[S], given: Mapping[str, Any], path: str) -> S:
    """An instance of the settings class `kind` with the values in `given`."""
    hints = typing.get_type_hints(kind)
    values = {}
    for key, value in given.items():
        full = f"{path}.{key}"
        if key not in hints:
            raise SettingsError(f"unknown setting {full}{suggestion(key, hints)}")
        values[key] = checked(full, value, hints[key])
    try:
        return kind(**values)
    except ValueError as error:  # a class may refuse what it alone understands
        raise SettingsError(f"[{path}] {error}") from error


def checked(full: str, value: Any, kind: Any) -> Any:
    """`value` as `kind`, or a SettingsError that says what was expected."""
    if get_origin(kind) in (tuple, Mapping) or kind is Mapping:
        return checked_container(full, value, kind)
    if kind is float and isinstance(value, int) and not isinstance(value, bool):
        value = float(value)
    wanted = kind if not isinstance(kind, types.UnionType) else get_args(kind)
    if not isinstance(value, wanted) or (isinstance(value, bool) and kind is not bool):
        raise SettingsError(f"{full} = {value!r}: expected {type_name(kind)}")
    check_value(full, value)
    return value


def checked_container(full: str, value: Any, kind: Any) -> Any:
    """A list or a table whose members have the right type."""
    if get_origin(kind) is tuple:
        member = get_args(kind)[0]
        if not isinstance(value, list | tuple) or not all(isinstance(item, member) for item in value):
            raise SettingsError(f"{full}: expected a list of {type_name(member)}")
        return tuple(value)
    if not isinstance(value, dict) or not all(isinstance(item, str) for item in value.values()):
        raise SettingsError(f"{full}: expected a table of text, as {{ host = 'name' }}")
    return dict(value)


def check_value(full: str, value: Any) -> None:
    """Refuse names that no table has, and numbers that make no sense."""
    if full in NAMES and value not in NAMES[full]:
        raise SettingsError(f"{full} = {value!r}: there is {', '.join(sorted(NAMES[full]))}")
    if full.endswith("port") and value > HIGHEST_PORT:
        raise SettingsError(f"{full} = {value}: ports go up to {HIGHEST_PORT}")
    if isinstance(value, int | float) and not isinstance(value, bool):
        section, _, key = full.partition(".")
        metadata = {"least": 0} if full in MAY_BE_ZERO else SECTIONS[section].__dataclass_fields__[key].metadata
        if bound := broken_bound(value, metadata):
            raise SettingsError(f"{full} = {value}: it must be {bound}")


def check_together(settings: Settings) -> None:
    """Refuse settings that contradict each other."""
    crawl, search = settings.crawl, settings.search
    if crawl.revisit_longest < crawl.revisit_shortest:
        raise SettingsError("crawl.revisit_longest is shorter than crawl.revisit_shortest: swap them")
    if search.page_size > search.deepest_result:
        raise SettingsError("search.page_size is larger than search.deepest_result: lower it")
    if settings.cluster.engine == DASK and not settings.cluster.scheduler:
        raise SettingsError(
            "cluster.engine is dask: say in cluster.scheduler where its scheduler is, as tcp://host:8786"
        )
    if settings.cluster.engine == DASK and not settings.store.url.startswith("postgresql"):
        raise SettingsError("cluster.engine is dask, and its workers cannot open a SQLite file: name a store.url")
    if settings.index.solr_url and settings.index.solr_port:
        raise SettingsError("index.solr_url and index.solr_port contradict each other: give one of them")
    if max(settings.index.shards, settings.index.replicas) > 1 and not settings.index.solr_url:
        raise SettingsError(
            "index.shards and index.replicas are for a SolrCloud of your own: name it in index.solr_url"
        )
    if search.port and search.port in (settings.index.solr_port, settings.index.solr_port + 1000):
        raise SettingsError("search.port is also Solr's (index.solr_port, and ZooKeeper 1000 above): change one")


def suggestion(wrong: str, right: Collection[str]) -> str:
    """What was probably meant."""
    near = difflib.get_close_matches(wrong, list(right), n=1)
    return f": did you mean {near[0]}?" if near else f"; there is {', '.join(sorted(right))}"


def type_name(kind: Any) -> str:
    """A type as an operator calls it."""
    return {int: "a whole number", float: "a number", bool: "true or false", str: "text"}.get(kind, str(kind))
