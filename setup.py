"""Optional compiled form of the extractor: `PLUMBLINE_COMPILED=1 pip install .`, or `make compiled`.

Everything else is in setup.cfg. Cython compiles the modules in `MODULES` to C. The `.pxd` file next to a module
declares the C types of its names.
"""

import os

from setuptools import Extension, setup

# The hot modules. Compiling the others saves almost no time (docs/decisions/0040).
MODULES = (
    "extractor/page/boilerplate_phrases",
    "extractor/page/boilerplate_skip",
    "extractor/page/layout",
    "extractor/page/layout_builder",
    "extractor/page/tag_info",
    "extractor/page/tokenizer",
    "extractor/fields/title_anchor",
    "extractor/body_methods/line_scoring",
)
IS_COMPILED_BUILD = os.environ.get("PLUMBLINE_COMPILED") == "1"


def extensions() -> list[Extension]:
    """Return a C extension for each hot module.

    The list is empty if Cython is missing: pip calls this once only to read `setup_requires`.
    """
    try:
        from Cython.Build import cythonize
    except ImportError:
        return []
    directives = {"language_level": 3, "annotation_typing": False, "binding": True}
    names = [f"{name}.py" for name in MODULES]
    modules: list[Extension] = cythonize(names, compiler_directives=directives, build_dir="build/c")
    return modules


setup(
    ext_modules=extensions() if IS_COMPILED_BUILD else [],
    setup_requires=["cython>=3.1"] if IS_COMPILED_BUILD else [],
)
