"""Checks whether this Python can run Plumbline, and prints one line with advice if not. Runs on Python 3.6 or later.

`make` runs it before it creates an environment. The bounds are those of `python_requires` in setup.cfg. From the upper
bound on, the packages pinned in constraints.txt have no wheels.
"""

import importlib
import re
import sys
from pathlib import Path

SETUP_CFG = Path(__file__).resolve().parents[1] / "setup.cfg"
REQUIRED_MODULES = {
    "ensurepip": "put pip into an environment: apt install python3-venv",
    "sqlite3": "open the store: it was built without SQLite; take another: make PYTHON=/usr/bin/python3",
    "venv": "make environments: apt install python3-venv",
}


def supported_versions(text: str) -> tuple:
    """Parse setup.cfg; return the lowest version and the first unsupported one, each as (major, minor)."""
    match = re.search(r"^python_requires = >=(\d+)\.(\d+),<(\d+)\.(\d+)$", text, re.M)
    numbers = [int(number) for number in match.groups()]
    return tuple(numbers[:2]), tuple(numbers[2:])


def version_error(version: tuple, bounds: tuple) -> str:
    """Return why this Python version is unsupported, or an empty string."""
    lowest, (major, minor) = bounds
    current, low, high = f"Python {version[0]}.{version[1]}", "{}.{}".format(*lowest), f"{major}.{minor - 1}"
    advice = f"{low} to {high} will do: make PYTHON=python{high}"
    if version[:2] < lowest:
        return f"{current} is too old, {advice}"
    if version[:2] >= (major, minor):
        return f"{current} is too new, the pinned libraries have no wheels for it; {advice}"
    return ""


def missing_module_error() -> str:
    """Return why this Python lacks a required module, or an empty string."""
    for name, use in REQUIRED_MODULES.items():
        try:
            importlib.import_module(name)
        except ImportError:
            return f"{sys.executable} cannot {use}"
    return ""


if __name__ == "__main__":
    bounds = supported_versions(SETUP_CFG.read_text(encoding="utf-8"))
    sys.exit(version_error(tuple(sys.version_info[:2]), bounds) or missing_module_error() or None)
