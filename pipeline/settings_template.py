"""The sample TOML file: every setting with its default and its help, made from the settings classes themselves."""

import dataclasses
import json
from collections.abc import Iterator
from typing import Any

from pipeline.settings import ALLOWED_VALUES, SECTIONS

TEMPLATE_HEADER = """\
# A vertical: one search engine for one domain. `plumb run THIS.toml` runs it, `plumb serve THIS.toml` shows it.
# Lines that begin with # are defaults. Before you crawl real sites, set crawl.contact.
"""
SAMPLE_VALUES = {
    "vertical.name": "My domain",
    "crawl.seeds": ["https://www.example.org/"],
    "crawl.contact": "me@example.org",
}


def render_sample_toml() -> str:
    """The text of a sample `vertical.toml`."""
    return "\n".join(
        [TEMPLATE_HEADER, *(line for name, kind in SECTIONS.items() for line in iter_section_lines(name, kind))]
    )


def iter_section_lines(name: str, settings_class: type[Any]) -> Iterator[str]:
    """One section."""
    yield f"[{name}]"
    for setting in dataclasses.fields(settings_class):
        setting_path = f"{name}.{setting.name}"
        yield f"# {setting.metadata['help']}"
        comment_prefix = "" if setting_path in SAMPLE_VALUES else "# "
        yield f"{comment_prefix}{setting.name} = {toml_value(SAMPLE_VALUES.get(setting_path, default_of(setting)))}"
    yield ""


def default_of(setting: "dataclasses.Field[Any]") -> Any:
    """A setting's default."""
    if setting.default_factory is not dataclasses.MISSING:
        return setting.default_factory()
    return setting.default


def toml_value(value: Any) -> str:
    """A value as TOML writes it."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(k)} = {json.dumps(v, ensure_ascii=False)}" for k, v in value.items()) + "}"
    if isinstance(value, tuple):
        value = list(value)
    return json.dumps(value, ensure_ascii=False)


def render_settings_markdown() -> str:
    """`docs/reference/settings.md`: every setting with its default, the names it may have, and its help."""
    lines = [
        "# Settings",
        "",
        "One TOML file describes a vertical; `plumb init` writes one with all of this in it. A value is taken from the",
        "default, then the file, then the environment (`PLUMB_CRAWL_THREADS=8`), then flags (`--set crawl.threads=8`).",
        "An unknown or impossible setting is refused by its full path. Made by `make docs`.",
    ]
    for name, kind in SECTIONS.items():
        lines += ["", f"## [{name}]", "", "| setting | default | what it is |", "|---|---|---|"]
        lines += [markdown_row(f"{name}.{setting.name}", setting) for setting in dataclasses.fields(kind)]
    return "\n".join(lines) + "\n"


def markdown_row(setting_path: str, setting: "dataclasses.Field[Any]") -> str:
    """One setting as a row of a table."""
    names = ", ".join(f"`{name}`" for name in ALLOWED_VALUES.get(setting_path, ()))
    text = setting.metadata["help"].replace("|", "\\|") + (f" ({names})" if names else "")
    return f"| `{setting_path}` | `{toml_value(default_of(setting))}` | {text} |"


if __name__ == "__main__":
    print(render_settings_markdown(), end="")
