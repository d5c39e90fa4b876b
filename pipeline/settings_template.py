"""Generate the sample TOML file from the settings classes."""

import dataclasses
import json
from collections.abc import Iterator
from typing import Any

from crawler.site import SITE_KEYS
from domain.setting import setting_fields
from pipeline.settings import ALL_SECTIONS

TEMPLATE_HEADER = """\
# Config file of a vertical: one search engine for one domain.
# `plumb run THIS.toml` runs all stages, `plumb serve THIS.toml` starts the search site.
# Edit two lines below: crawl.contact, and urls at the end. Commented lines show the defaults.
# Sections and settings that you may need first come first.
"""
SAMPLE_VALUES = {
    "vertical.name": "My domain",
    "crawl.contact": "",
}
SITE_SAMPLES = {"urls": ["https://www.example.org/"], "scope": ["www.example.org/news/"], "keep_days": 365}
SECTION_ORDER = ("vertical", "crawl", "search", "schedule", "alerts")  # the other sections follow
FIRST_SETTINGS = ("max_pages", "minutes", "delay", "title", "host", "port", "base_url")
"""Settings that come first in their section, after those of SAMPLE_VALUES."""


def render_sample_toml() -> str:
    """Render a sample `vertical.toml` with every setting, its help and its default."""
    return "\n".join(
        [
            TEMPLATE_HEADER,
            *(
                line
                for name in sorted(ALL_SECTIONS, key=section_rank)
                for line in iter_section_lines(name, ALL_SECTIONS[name])
            ),
            *iter_site_lines(),
        ]
    )


def iter_section_lines(name: str, settings_class: type[Any]) -> Iterator[str]:
    """Yield the lines of one section; settings without a sample value are commented out."""
    yield f"[{name}]"
    for setting in sorted(setting_fields(settings_class), key=lambda setting: setting_rank(name, setting.name)):
        setting_path = f"{name}.{setting.name}"
        yield f"# {setting.metadata['help']}"
        comment_prefix = "" if setting_path in SAMPLE_VALUES else "# "
        yield f"{comment_prefix}{setting.name} = {toml_value(SAMPLE_VALUES.get(setting_path, default_value(setting)))}"
    yield ""


def iter_site_lines() -> Iterator[str]:
    """Yield the lines of a sample table [[sites]]."""
    yield "# Each site is a table of its own."
    yield "[[sites]]"
    for name, site_key in SITE_KEYS.items():
        yield f"# {site_key.metadata['text']}"
        sample = SITE_SAMPLES.get(name, site_key.default)
        yield f"{'' if name == 'urls' else '# '}{name} = {toml_value(sample)}"


def section_rank(name: str) -> int:
    """Return the position of a section in the sample file; sections of equal rank keep their order."""
    return SECTION_ORDER.index(name) if name in SECTION_ORDER else len(SECTION_ORDER)


def setting_rank(section: str, name: str) -> int:
    """Return the position of a setting in its section; settings of equal rank keep their order."""
    if f"{section}.{name}" in SAMPLE_VALUES:
        return 0
    return 1 + (FIRST_SETTINGS.index(name) if name in FIRST_SETTINGS else len(FIRST_SETTINGS))


def default_value(setting: "dataclasses.Field[Any]") -> Any:
    """Return the default of a dataclass field, also if it comes from a factory."""
    if setting.default_factory is not dataclasses.MISSING:
        return setting.default_factory()
    return setting.default


def toml_value(value: Any) -> str:
    """Format a value in TOML syntax (text, number, boolean, list or inline table)."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(k)} = {json.dumps(v, ensure_ascii=False)}" for k, v in value.items()) + "}"
    if isinstance(value, tuple):
        value = list(value)
    return json.dumps(value, ensure_ascii=False)
