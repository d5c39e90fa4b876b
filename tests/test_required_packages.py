"""Each required package does its part on the main path: the named function runs its code, and fails without it.

Every row runs in an interpreter of its own, with real stores, servers and files: once as it is, where calls into the
package are counted, and once with the package blocked.
"""

import json
import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Mapping
from contextlib import closing
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import FrameType

import pytest

ROOT = Path(__file__).resolve().parents[1]


def fetch_from_solr(folder: Path) -> None:
    """`solr_client.session.SolrSession.fetch`, for every request of the indexer."""
    from solr_client.session import SolrSession

    assert SolrSession(os.environ["SOLR_URL"], 60.0).fetch("admin/info/system", {"wt": "json"}).status_code == 200


def read_page_to_its_end(folder: Path) -> None:
    """`extractor.extract`, for a page of which lxml does not reach the end."""
    from domain.article import Article
    from extractor import extract

    text = "".join(f"<p>第{n}段：四川盆地的页岩气产量今年继续增长，新投产的水平井超过计划。</p>" for n in "一二三四")
    article = extract(f"<html><body><h1>页岩气产量创新高</h1><textarea>{text}", "http://a.test/1")
    assert isinstance(article, Article) and "第四段" in article.body


def index_document(folder: Path) -> None:
    """`indexer.solr_index.SolrIndex.add`, in the index stage."""
    from indexer.solr_index import SolrIndex

    assert (
        SolrIndex(os.environ["SOLR_URL"], os.environ["SOLR_COLLECTION"], 60.0).add(
            [{"id": "1", "url": "http://a.test/1"}]
        )
        == {}
    )


def publish_lexicon(folder: Path) -> None:
    """`pipeline.lexicon_stage.lexicon_review.LexiconReview.publish`, which checks the version."""
    from docstore.store import open_sqlite_store
    from domain.review import ReviewDecisionKind, TermEdit
    from domain.term import TermStatus
    from pipeline.lexicon_stage.lexicon_review import LexiconReview

    with open_sqlite_store(folder) as store:
        edit = TermEdit("页岩气", TermStatus.ACCEPTED, create_if_missing=True)
        LexiconReview(store).apply(ReviewDecisionKind.ADD, [edit], "li")
        assert LexiconReview(store).publish("li").version == 1


def mine_as_in_the_paper(folder: Path) -> None:
    """`lexicon.mining.mine_terms`, with `lexicon.scorer = "c_value"`."""
    from lexicon.counting.corpus import InMemoryCorpus
    from lexicon.mining import mine_terms
    from lexicon.settings import LexiconSettings

    assert mine_terms(InMemoryCorpus([("", "加强储层特征研究。" * 9)]), LexiconSettings(scorer="c_value"))


def order_candidates(folder: Path) -> None:
    """`lexicon.review_ranking.predict_acceptance`, which `plumb serve` runs after decisions of reviewers."""
    from domain.term import Term, TermStatus
    from lexicon.review_ranking import predict_acceptance

    statuses = (TermStatus.ACCEPTED, TermStatus.REJECTED)
    decided = [Term(f"页岩{n}", n / 40, 5, 5, status=statuses[n % 2]) for n in range(40)]
    assert predict_acceptance(decided, [Term("页岩气", 0.5, 5, 5)])


def crawl_a_site(folder: Path) -> None:
    """`crawler.crawl.crawl`, in every run."""
    from benchmarks.crawl_ours import run_once, settings_for
    from domain.outcome import Reason
    from tests.web_fixture import Site, page

    with Site({"/": page("/1"), "/1": page()}) as site:
        report = run_once(settings_for([site.url()], sitemaps=False, minutes=1.0), folder)
    assert report.outcome_counts[Reason.FETCHED] == 2


def wait_for_the_daily_run(folder: Path) -> None:
    """`pipeline.runs.scheduler.Scheduler`, in `plumb schedule` and `plumb up`."""
    from pipeline.engine import Engine
    from pipeline.progress import NullProgress
    from pipeline.runs.scheduler import Scheduler
    from pipeline.settings import Settings

    settings = Settings(folder)
    with closing(Scheduler(lambda: settings, lambda: Engine(settings, NullProgress()), print)) as scheduler:
        scheduler.start()
        scheduler.wait(0.0)


def answer_a_request(folder: Path) -> None:
    """`pipeline.search_site.search_app.create_search_app`, in `plumb search` and `plumb serve`."""
    from pipeline.engine import Engine
    from pipeline.progress import NullProgress
    from pipeline.search_site.search_app import create_search_app
    from pipeline.settings import Settings

    with Engine(Settings(folder), NullProgress()) as engine:
        assert create_search_app(engine).test_client().get("/admin/login").status_code == 200


Run = Callable[[Path], None]
ROWS: tuple[tuple[str, Run], ...] = (
    ("requests", fetch_from_solr),
    ("bs4", read_page_to_its_end),
    ("pysolr", index_document),
    ("jieba", publish_lexicon),
    ("jieba.posseg", mine_as_in_the_paper),
    ("sklearn", order_candidates),
    ("pybloom_live", crawl_a_site),
    ("apscheduler", wait_for_the_daily_run),
    ("flask", answer_a_request),
)


def count_calls(package: str, run: Run) -> int:
    """Run a function; returns the number of calls of functions of a package, in all threads."""
    import_module(package)  # calls while it is imported do not count
    spec = find_spec(package)
    assert spec is not None
    folder = str(Path(spec.origin or "").parent if spec.submodule_search_locations else spec.origin)
    count = 0

    def profile(frame: FrameType, event: str, _: object) -> None:
        nonlocal count
        is_function = event == "call" and not frame.f_code.co_name.startswith("<")  # no module, no class body
        count += is_function and frame.f_code.co_filename.startswith(folder)

    threading.setprofile(profile)
    sys.setprofile(profile)
    try:
        with tempfile.TemporaryDirectory() as data:
            run(Path(data))
    finally:
        sys.setprofile(None)
        threading.setprofile(None)  # type: ignore[arg-type]
    return count


def run_row(package: str, is_blocked: bool, environment: Mapping[str, str]) -> dict[str, object]:
    """Run a row in a new interpreter; returns the number of calls, or the module that cannot be imported."""
    command = [sys.executable, "-m", "tests.test_required_packages", package, "blocked" if is_blocked else ""]
    done = subprocess.run(
        command, cwd=ROOT, env={**os.environ, **environment}, capture_output=True, text=True, check=False, timeout=300
    )
    assert done.returncode == 0, done.stderr
    return dict(json.loads(done.stdout.splitlines()[-1]))


def check_row(package: str, environment: Mapping[str, str]) -> None:
    """Assert that the row runs code of the package, and that it fails without it."""
    calls = run_row(package, False, environment)["calls"]
    assert isinstance(calls, int) and calls > 0
    missing = run_row(package, True, environment)["missing"]
    assert isinstance(missing, str) and f"{missing}.".startswith(f"{package}.")


@pytest.mark.process
@pytest.mark.parametrize("package", [package for package, _ in ROWS if package not in ("requests", "pysolr")])
def test_the_main_path_uses_the_package(package: str) -> None:
    check_row(package, {})


@pytest.mark.solr
@pytest.mark.parametrize("package", ["requests", "pysolr"])
def test_the_main_path_to_solr_uses_the_package(package: str, solr_index: object) -> None:
    from indexer.solr_index import SolrIndex

    assert isinstance(solr_index, SolrIndex)
    check_row(package, {"SOLR_URL": solr_index.base_url, "SOLR_COLLECTION": solr_index.collection})


def main(package: str, blocked: str) -> None:
    """Run one row and print the result as JSON."""
    run = dict(ROWS)[package]
    if not blocked:
        print(json.dumps({"calls": count_calls(package, run)}))
        return
    sys.modules[package] = None  # type: ignore[assignment]
    try:
        with tempfile.TemporaryDirectory() as data:
            run(Path(data))
    except ImportError as error:
        print(json.dumps({"missing": error.name}))
    else:
        print(json.dumps({"missing": ""}))


if __name__ == "__main__":
    main(*sys.argv[1:])
