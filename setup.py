"""The extractor's compiled form, for those who ask for it: `PLUMBLINE_COMPILED=1 pip install .`, or `make compiled`.

All else is in setup.cfg. Cython makes C of the same modules that Python runs without it; the `.pxd` files beside them
say which names are C's own.
"""

import os

from setuptools import Extension, setup

# Where the time goes. All others stay Python: compiled they gain next to nothing (docs/decisions/0040).
MODULES = (
    *(
        "extractor/page/" + name
        for name in ("boilerplate_skip", "layout", "layout_builder", "tag_info", "boilerplate_phrases", "tokenizer")
    ),
    "extractor/fields/title_anchor",
    "extractor/body_methods/line_scoring",
)
ASKED = os.environ.get("PLUMBLINE_COMPILED") == "1"


def extensions() -> list[Extension]:
    """A C extension for each of these modules; none where pip only asks what to build with (`setup_requires`)."""
    try:
        from Cython.Build import cythonize
    except ImportError:
        return []
    directives = {"language_level": 3, "annotation_typing": False, "binding": True}
    names = [f"{name}.py" for name in MODULES]
    found: list[Extension] = cythonize(names, compiler_directives=directives, build_dir="build/c")
    return found


setup(ext_modules=extensions() if ASKED else [], setup_requires=["cython>=3.1"] if ASKED else [])
