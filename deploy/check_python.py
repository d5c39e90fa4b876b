"""Can this Python run Plumbline? Says in one line what to do where it cannot; Pythons far too old can run it (3.6).

`make` asks before it makes an environment. The versions are those of `python_requires` in setup.cfg: the lowest is the
one that is promised, and from the upper bound on there are no wheels of what constraints.txt pins.
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
    """(lowest, first that is too new), each as (major, minor)."""
    match = re.search(r"^python_requires = >=(\d+)\.(\d+),<(\d+)\.(\d+)$", text, re.M)
    numbers = [int(number) for number in match.groups()]
    return tuple(numbers[:2]), tuple(numbers[2:])


def version_error(version: tuple, bounds: tuple) -> str:
    """What is wrong with this version of Python; "" if nothing is."""
    lowest, (major, minor) = bounds
    current, low, high = f"Python {version[0]}.{version[1]}", "{}.{}".format(*lowest), f"{major}.{minor - 1}"
    advice = f"{low} to {high} will do: make PYTHON=python{high}"
    if version[:2] < lowest:
        return f"{current} is too old, {advice}"
    if version[:2] >= (major, minor):
        return f"{current} is too new, the pinned libraries have no wheels for it; {advice}"
    return ""


def missing_module_error() -> str:
    """What this Python cannot do for want of a module; "" if all are there."""
    for name, use in REQUIRED_MODULES.items():
        try:
            importlib.import_module(name)
        except ImportError:
            return f"{sys.executable} cannot {use}"
    return ""


if __name__ == "__main__":
    bounds = supported_versions(SETUP_CFG.read_text(encoding="utf-8"))
    sys.exit(version_error(tuple(sys.version_info[:2]), bounds) or missing_module_error() or None)
