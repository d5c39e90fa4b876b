"""Settings files of tests."""

from collections.abc import Mapping
from typing import Any

from crawler.site import url_host
from pipeline.settings_template import toml_value


def toml_of(sections: Mapping[str, Mapping[str, Any]]) -> str:
    """Return sections as TOML; `seeds` in [crawl] become tables [[sites]]."""
    lines, urls_by_host = [], dict[str, list[str]]()
    for name, values in sections.items():
        lines.append(f"[{name}]")
        lines += [f"{key} = {toml_value(value)}" for key, value in values.items() if key != "seeds"]
        for url in values.get("seeds", ()):
            urls_by_host.setdefault(url_host(url), []).append(url)
    for urls in urls_by_host.values():
        lines += ["[[sites]]", f"urls = {toml_value(urls)}"]
    return "\n".join(lines) + "\n"
