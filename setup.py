"""Optional compiled build of the extractor: `PLUMBLINE_COMPILED=1 pip install .`, or `make compiled`.

All other package metadata is in setup.cfg. Cython compiles the same modules that run as Python otherwise. The `.pxd`
file next to a module declares the C types of its variables.
"""

import os

from setuptools import Extension, setup

# Modules that take most of the extraction time. Compiling the others gains almost nothing (docs/decisions/0040).
COMPILED_PAGE_MODULES = (
    "layout",
    "layout_builder",
    "tag_info",
    "boilerplate_phrases",
    "tokenizer",
)
MODULES = (
    *("extractor/page/" + name for name in COMPILED_PAGE_MODULES),
    "extractor/fields/title_matching",
    "extractor/body_methods/line_scoring",
)
IS_COMPILED_BUILD = os.environ.get("PLUMBLINE_COMPILED") == "1"


def build_extensions() -> list[Extension]:
    """Return a C extension for each of MODULES.

    Returns an empty list if Cython is not installed: pip runs this file first to read `setup_requires`.
    """
    try:
        from Cython.Build import cythonize
    except ImportError:
        return []
    directives = {"language_level": 3, "annotation_typing": False, "binding": True}
    names = [f"{name}.py" for name in MODULES]
    extensions: list[Extension] = cythonize(names, compiler_directives=directives, build_dir="build/c")
    return extensions


setup(
    ext_modules=build_extensions() if IS_COMPILED_BUILD else [],
    setup_requires=["cython>=3.1"] if IS_COMPILED_BUILD else [],
)
