"""`plumb lexicon` from the terminal: bring, review, undo, compare versions, preview."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from docstore.store import Store, open_sqlite_store
from docstore.terms.review import substrings
from domain.errors import LexiconError, PlumblineError
from domain.term import Definition, Lexicon, LexiconEntry, Term, TermStatus
from pipeline.cli.main import cli
from pipeline.engine import open_store
from pipeline.lexicon_stage.lexicon_review import LexiconReview
from pipeline.lexicon_stage.review_order import update_review_order
from pipeline.lexicon_stage.version_changes import format_entry
from pipeline.settings import load_settings
from tests.builders import decide
from tests.plumb_call import call_plumb

TEXTS = ("页岩气", "页岩", "页岩气井", "钻井", "钻头")


class Plumb:
    """`plumb lexicon ...` on a vertical with candidates."""

    def __init__(self, folder: Path) -> None:
        self.config = folder / "vertical.toml"
        self.config.write_text('[[sites]]\nurls = ["http://a.test/"]\n')
        with self.store() as store:
            store.lexicons.replace_candidates(
                [Term(t, 0.9 - n / 10, 20 - n, 10 - n, "n n", (f"说到{t}的事",)) for n, t in enumerate(TEXTS)]
            )

    def store(self) -> Store:
        return open_store(load_settings(self.config, {}))

    def __call__(self, *arguments: str) -> Result:
        return CliRunner().invoke(cli, ["-c", str(self.config), "lexicon", *arguments])

    def says(self, *arguments: str) -> str:
        said = self(*arguments)
        assert said.exit_code == 0, (said.output, said.exception)
        return said.output

    def status(self, text: str) -> TermStatus:
        with self.store() as store:
            return store.review_queue.find_terms([text])[text].status

    def publish(self) -> Lexicon:
        """Without Solr."""
        with self.store() as store:
            return LexiconReview(store).publish("test")


@pytest.fixture
def plumb(tmp_path: Path) -> Iterator[Plumb]:
    yield Plumb(tmp_path)


def test_a_language_without_a_number_of_candidates_is_refused(plumb: Plumb) -> None:
    said = plumb("accept", "--language", "zh", "shale gas")
    assert said.exit_code == 2 and "pass --top N too" in said.output


def test_every_step_of_a_review_and_its_undo(plumb: Plumb) -> None:
    steps = {
        ("accept", "页岩气", "页岩气"): ("页岩气", TermStatus.ACCEPTED),
        ("reject", "页岩"): ("页岩", TermStatus.REJECTED),
        ("later", "钻井"): ("钻井", TermStatus.DEFERRED),
        ("merge", "页岩气井", "页岩气"): ("页岩气井", TermStatus.MERGED),
        ("edit", "钻头", "PDC钻头"): ("PDC钻头", TermStatus.ACCEPTED),
    }
    for step, (text, status) in steps.items():
        said = plumb.says(*step)
        assert plumb.status(text) is status and (step[0] != "accept" or "accepted 1 terms" in said), step
    plumb.says("class", "页岩气", "subject")
    plumb.says("relate", "页岩气", "天然气")
    plumb.says("synonyms", "页岩气", "shale gas", "页岩瓦斯")
    said = plumb.says("term", "页岩气")
    for part in (
        "accepted (subject)",
        "synonyms     shale gas, 页岩瓦斯",
        "broader      天然气",
        "contained in 页岩气井",
    ):
        assert part in said
    assert len(plumb.says("history").splitlines()) == 8
    for _ in range(8):
        plumb.says("undo")
    assert {plumb.status(text) for text in TEXTS} == {TermStatus.CANDIDATE}
    assert isinstance(plumb("undo").exception, LexiconError)
    number = re.findall(r"^ *(\d+) .*decide: 页岩气 ", plumb.says("history", "--text", "页岩气"), re.M)[-1]
    assert isinstance(plumb("undo", number).exception, LexiconError)  # it was


def test_a_definition_is_chosen_written_and_taken_back(plumb: Plumb) -> None:
    def sentence() -> str | None:
        with plumb.store() as store:
            choice = store.review_queue.find_terms(["页岩气"])["页岩气"].definition
        return None if choice is None else choice.sentence

    with plumb.store() as store:
        found = Definition("页岩气", "zh", "页岩气是[b]气[/b]。", 1, "http://a.test/1", "题", "", 0.9, 1.0)
        store.definitions.save([found], ())
    assert "1  页岩气是[b]气[/b]。  (http://a.test/1)" in plumb.says("define", "页岩气")
    for options, wanted in (
        (("--choose", "1"), found.sentence),
        (("--choose", "0"), ""),
        (("--text", "是气。"), "是气。"),
    ):
        assert "define: 页岩气" in plumb.says("define", "页岩气", *options)
        assert sentence() == wanted
    assert isinstance(plumb("define", "页岩气", "--choose", "2").exception, LexiconError)
    for _ in range(3):
        plumb.says("undo")
    assert sentence() is None


def test_of_a_list_every_valid_line_comes_in(plumb: Plumb, tmp_path: Path) -> None:
    file = tmp_path / "list.csv"
    file.write_text("term,frequency,tag,synonyms,class,broader\n可燃冰,7,nz,天然气水合物,subject,天然气\n")
    assert "would import 1 term: 1 new, 0 changed" in plumb.says("import", str(file), "--preview")
    assert "imported 1 term: 1 new, 0 changed, 0 unchanged" in plumb.says("import", str(file))
    assert format_entry(plumb.publish().entries[0]) == "可燃冰 7 nz = 天然气水合物 < 天然气 (subject)"
    assert plumb.says("export", "csv").splitlines()[1] == "可燃冰,7,nz,天然气水合物,subject,天然气,"
    assert plumb.says("export") == "可燃冰 7 nz\n"
    bad = tmp_path / "bad.txt"
    bad.write_text("干热岩\n\x07\n硅\n")
    done = plumb("import", str(bad), "--form", "plain", "--leave-out-bad")
    assert "imported 2 terms: 2 new" in done.stdout
    assert done.stderr == "line 2: contains the forbidden character U+0007\n"
    bad.write_text("\x07\n" * 100)
    failed = plumb("import", str(bad))
    assert "100 invalid lines" in str(failed.exception)
    assert [line.partition(":")[0] for line in failed.stderr.splitlines()] == [f"line {n}" for n in range(1, 101)]


def test_concepts_go_out_and_come_in(plumb: Plumb, tmp_path: Path) -> None:
    plumb.says("accept", "页岩气", "钻井")
    plumb.says("synonyms", "页岩气", "shale gas")
    files = {name: tmp_path / f"out.{name}" for name in ("tbx", "ttl", "csv")}
    for name, concept_format in (("tbx", "tbx"), ("ttl", "skos"), ("csv", "csv")):
        files[name].write_text(plumb.says("export", "--format", concept_format), "utf-8")
        assert "0 new, 0 changed, 2 unchanged" in plumb.says("import", str(files[name]))
    assert plumb.says("export", "skos") == files["ttl"].read_text()
    text = files["csv"].read_text("utf-8-sig").replace("shale gas,admitted,", "shale gas,deprecated,gas")
    files["csv"].write_text(f"{text},fr,gaz de schiste,preferred,,,\n", "utf-8")
    said = plumb.says("import", str(files["csv"]), "--preview")
    assert "  + shale gas (en, deprecated): gas" in said and "gaz de schiste (new)" in said
    assert "would import 2 concepts, 3 terms: 1 new, 1 changed, 1 unchanged; nothing was changed" in said
    assert "imported 2 concepts, 3 terms: 1 new, 1 changed, 1 unchanged" in plumb.says("import", str(files["csv"]))
    assert "gaz de schiste" in plumb.says("export", "--format", "tbx")
    assert "  shale gas (en, deprecated): gas" in plumb.says("term", "页岩气")
    plumb.says("undo")
    assert plumb.says("export", "skos") == files["ttl"].read_text()


def test_a_bad_concept_leaves_the_others_alone(plumb: Plumb, tmp_path: Path) -> None:
    file = tmp_path / "c.csv"
    file.write_text("concept id,term\nk1,干热岩\nk2,a\x07\n", "utf-8")
    done = plumb("import", str(file))
    assert "imported 1 concept, 1 term: 1 new" in done.stdout
    assert done.stderr.startswith("line 3: Concept “k2”: “a”: contains the forbidden character U+0007\n")
    with file.open("wb") as stream:
        stream.truncate(200 << 20)  # a sparse file
    assert "200 MB; at most 32 MB" in str(plumb("import", str(file)).exception)
    file.write_text("a", "utf-8")
    assert plumb("import", str(file), "--form", "csv", "--format", "csv").exit_code != 0


def test_versions_are_compared_and_reverted(plumb: Plumb) -> None:
    plumb.says("accept", "页岩气")
    plumb.publish()
    plumb.says("accept", "钻井")
    plumb.says("reject", "页岩气")
    plumb.publish()
    assert plumb.says("diff", "1", "2").splitlines() == ["+ 钻井 n", "- 页岩气 n"]
    assert isinstance(plumb("diff", "1", "9").exception, LexiconError)
    plumb.says("revert", "1")
    assert "as version 1" in plumb.says("versions")
    assert plumb.says("diff", "1", "3") == ""
    assert (plumb.status("页岩气"), plumb.status("钻井")) == (TermStatus.ACCEPTED, TermStatus.CANDIDATE)
    with plumb.store() as store, pytest.raises(LexiconError, match="Nothing to publish"):
        LexiconReview(store).publish("test")
    assert isinstance(plumb("revert", "3").exception, PlumblineError)


def test_the_preview_cuts_the_sentences_of_what_is_new(plumb: Plumb) -> None:
    assert "nothing to publish" in plumb.says("preview")
    plumb.says("accept", "页岩气井")
    lines = [" ".join(line.split()) for line in plumb.says("preview").splitlines()]
    assert lines == [
        "+ 页岩气井",
        "before 说 到 页岩 气井 的 事",
        "after 说 到 页岩气井 的 事",
        "1 of 1 known sentences change",
    ]


def test_a_harmful_term_is_published_only_if_a_person_insists(plumb: Plumb, tmp_path: Path) -> None:
    file = tmp_path / "words.txt"
    file.write_text("页岩气井\n研究方法 1 n\n", encoding="utf-8")
    plumb.says("import", str(file))
    error = "研究方法: jieba cuts it into 研究 | 方法, the index into 研究 | 方法"
    assert f"published only with --anyway: {error}" in plumb.says("preview")
    refused = plumb("publish")
    assert refused.exit_code != 0 and "“研究方法”: jieba cuts it into" in str(refused.exception)
    plumb.says("reject", "研究方法")
    assert "published version 1 with 1 terms" in plumb.says("publish")
    plumb.says("accept", "研究方法")
    assert "published version 2 with 2 terms" in plumb.says("publish", "--anyway")


def test_the_report_shows_distributions(plumb: Plumb) -> None:
    plumb.says("accept", "页岩气")
    said = plumb.says("report")
    assert re.search(r"^ +2 +3 #+$", said, re.M) and re.search(r"n n +5 #{50}$", said, re.M)
    assert "score  0% 0.50" in said and "accepted 1 of the last 1 reviewed terms" in said


def test_the_order_of_review_is_learned_after_some_acts(plumb: Plumb) -> None:
    with plumb.store() as store:
        store.lexicons.replace_candidates([Term(f"词{n:02}", 0.5, 5, 3) for n in range(40)])
        assert update_review_order(store) and not update_review_order(store)
        for n, learned in [*((n, False) for n in range(9)), (9, True), (10, False)]:
            decide(store, [f"词{n:02}"], TermStatus.ACCEPTED)
            assert update_review_order(store) is learned, n
    assert "词" in plumb.says("show", "--order", "review", "--limit", "3")


def test_each_language_is_shown_and_accepted_by_itself(plumb: Plumb) -> None:
    with plumb.store() as store:
        store.lexicons.replace_candidates(
            [Term("shale gas", 0.9, 5, 3), Term("页岩气", 0.8, 5, 3), Term("oil", 0.7, 5, 3)]
        )
    shown = {language: plumb.says("show", "--language", language, "--json") for language in ("zh", "en")}
    assert "页岩气" in shown["zh"] and "oil" not in shown["zh"]
    assert "shale gas" in shown["en"] and "oil" in shown["en"] and "页岩气" not in shown["en"]
    plumb.says("accept", "--top", "1", "--language", "zh")
    assert plumb.status("页岩气") is TermStatus.ACCEPTED and plumb.status("shale gas") is TermStatus.CANDIDATE


def test_what_a_word_holds() -> None:
    assert substrings("页岩气井") == ["页岩气", "岩气井", "页岩", "岩气", "气井"]
    assert substrings("钻井") == [] and len(substrings("x" * 64)) < 700
    assert format_entry(LexiconEntry("钻井")) == "钻井 n"


def test_imported_terms_wait_for_a_second_reviewer(tmp_path: Path) -> None:
    (tmp_path / "vertical.toml").write_text("[lexicon]\ntwo_reviewers = true\n")
    (tmp_path / "list.txt").write_text("页岩气\n", "utf-8")
    (tmp_path / "concepts.csv").write_text("concept id,language,term,status\nc1,zh,页岩油,preferred\n", "utf-8")
    for name in ("list.txt", "concepts.csv"):
        imported = call_plumb("-c", str(tmp_path / "vertical.toml"), "lexicon", "import", str(tmp_path / name))
        assert "another account must accept too: 1" in imported.out, imported
    with open_sqlite_store(tmp_path / "data") as store:
        assert store.review_queue.texts_with_status(TermStatus.PROVISIONAL) == ["页岩气", "页岩油"]
