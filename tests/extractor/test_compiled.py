"""The compiled extractor (`make compiled`) produces the same articles and passes the same tests.

`make test` compares the articles of a few generated and real pages, and runs the tests of the compiled modules. The
`exhaustive` tests compare more pages and run all tests of the extractor.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
COMPILED = ROOT / ".compiled"
# Extracts pages in a separate interpreter. First prints the path of a compiled module.
EXTRACT_SCRIPT = """
import sys
from benchmarks.gold_web import sample_pages
from benchmarks.results import SHARED
from extractor.article_extractor import ArticleExtractor
from extractor.body_methods import BODY_METHODS
from extractor.page import layout_builder
from extractor.settings import ExtractSettings
from tests.extractor.made_pages import made_pages

print(layout_builder.__file__)
made, real = map(int, sys.argv[1:])
pages = [(page, "http://news.test/2024/05/01/a.html") for page in made_pages(made)]
pages += [(page.content, page.url) for page in (sample_pages(SHARED, real) if real else ())]
for method in BODY_METHODS:
    extractor = ArticleExtractor(ExtractSettings(method=method))
    for page, url in pages:
        extraction = extractor.extract_with_site(page, url)
        traits = extraction.page_traits
        print(ascii((extraction.result, extraction.teaser, extraction.is_declared_article)))
        print(ascii((sorted(traits.line_hashes), traits.title_suffix)))
"""


@pytest.fixture(scope="module", autouse=True)
def compiled() -> None:
    """Check that the compiled modules exist and match the sources."""
    for package in ("domain", "text", "extractor"):
        for path in (ROOT / package).rglob("*.py"):
            copy = COMPILED / path.relative_to(ROOT)
            assert copy.is_file(), "the compiled form is missing: run `make compiled`"
            assert copy.read_bytes() == path.read_bytes(), f"{path.name} has changed: run `make compiled`"


def run(*arguments: str, first: Path | None = None) -> str:
    """Run Python with `first` before the sources on its path; return its output."""
    path = os.pathsep.join(str(folder) for folder in (first, ROOT) if folder)
    command = [sys.executable, "-P", *arguments]
    process = subprocess.run(command, cwd=ROOT, env={**os.environ, "PYTHONPATH": path}, capture_output=True, text=True)
    assert process.returncode == 0, process.stdout[-3000:] + process.stderr[-3000:]
    return process.stdout


@pytest.mark.process
@pytest.mark.parametrize(
    ("made", "real", "articles"),
    [
        pytest.param(20, 0, 20, id="made pages"),
        pytest.param(5, 20, 50, id="real pages", marks=pytest.mark.shared),
        pytest.param(150, 0, 100, id="many made pages", marks=pytest.mark.exhaustive),
        pytest.param(0, 400, 1000, id="many real pages", marks=[pytest.mark.exhaustive, pytest.mark.shared]),
    ],
)
def test_compiled_articles_are_identical(made: int, real: int, articles: int) -> None:
    sizes = str(made), str(real)
    sources, *source_articles = run("-c", EXTRACT_SCRIPT, *sizes).splitlines()
    binary, *compiled_articles = run("-c", EXTRACT_SCRIPT, *sizes, first=COMPILED).splitlines()
    assert sources.endswith(".py")
    assert binary.startswith(str(COMPILED)) and not binary.endswith(".py")
    assert sum("Article(" in line for line in source_articles) > articles
    assert compiled_articles == source_articles


@pytest.mark.process
@pytest.mark.parametrize(
    "pattern",
    [
        pytest.param("test_t[aio]*.py", id="tag blocks, teasers, titles, tokens"),
        pytest.param("test_*.py", id="all", marks=[pytest.mark.exhaustive, pytest.mark.slow]),
    ],
)
def test_the_compiled_form_passes_the_tests_of_the_extractor(pattern: str) -> None:
    tests = sorted(str(path) for path in Path(__file__).parent.glob(pattern) if path.name != Path(__file__).name)
    assert tests
    output = run("-m", "pytest", "-q", "-p", "no:cacheprovider", "--import-mode=importlib", *tests, first=COMPILED)
    assert " passed" in output
