"""The suites of other projects in ../shared, with floors; and that the measure itself can fail."""

from pathlib import Path

import pytest
from click.testing import CliRunner

from benchmarks.conformance import main, page, rows_of, score
from benchmarks.conformance_suites import SUITES, Verdict
from benchmarks.results import SHARED

FLOOR = 0.99
# Shares of all cases, those by rule counted as misses.
PLAIN = {
    "robots_google": 0.98,
    "robots_protego": 0.98,
    "robots_real": 0.9995,
    "sitemaps": 0.9,
    "url_whatwg": 1.0,
    "url_whatwg, as we ask": 0.96,
    "url_crawler_commons": 0.91,
    "url_urlcanon": 0.42,
    "w3lib": 0.84,
    "encoding_html5lib": 1.0,
    "content_type": 1.0,
    "meta_refresh": 1.0,
    "public_suffix": 1.0,
}


@pytest.mark.shared
@pytest.mark.always
def test_every_suite_keeps_its_floor() -> None:
    scores = {one.name: one for one in score(SHARED / "crawl")}
    assert set(scores) == set(SUITES) == set(PLAIN)
    for name, one in scores.items():
        assert one.share >= FLOOR, (name, one.misses)
        assert one.same / one.total >= PLAIN[name], (name, one.rules)


def test_a_miss_is_shown_and_a_rule_is_counted(tmp_path: Path) -> None:
    (tmp_path / "x.jsonl").write_text('{"n": 1}\n{"n": 2}\n{"n": 3}\n', "utf-8")
    verdicts = {1: Verdict(True), 2: Verdict(False, "we mean it"), 3: Verdict(False, "", "three")}
    (one,) = score(tmp_path, {"x": ("x", lambda row: iter([verdicts[row["n"]]]))})
    assert (one.total, one.same, one.rules, one.misses) == (3, 1, {"we mean it": 1}, ["three"])
    assert one.share == 0.5
    assert "| x | 3 | 1 | 1 | 1 | 50.00% |" in page([one])
    assert [row["n"] for row in rows_of(tmp_path / "x.jsonl")] == [1, 2, 3]


def test_the_command_takes_another_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("benchmarks.results.OUT", tmp_path / "out")
    (tmp_path / "crawl").mkdir()
    (tmp_path / "crawl" / "meta_refresh.jsonl").write_text('{"input": "1;url=x", "want": null}\n', "utf-8")
    result = CliRunner().invoke(main, ["--data", str(tmp_path)])
    assert result.exit_code == 0, result.output
    assert "meta_refresh: `{'input': '1;url=x'" in result.output
