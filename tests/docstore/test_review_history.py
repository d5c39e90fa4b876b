"""Review decisions on terms: history, undo, and concurrent reviewers."""

import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy import update

from docstore.integrity.integrity_checks import CHECKSUM_FORMAT_KEY
from docstore.integrity.rebuild import rebuild_store
from docstore.schema.lexicon_tables import review_decisions
from docstore.store import Store, open_sqlite_store
from docstore.terms.review_queue import RankingState
from docstore.terms.row_mapping import DECISION_COLUMNS
from domain.article import Article
from domain.errors import ConcurrentEditError, LexiconError
from domain.review import (
    Order,
    ReviewDecisionKind,
    TermEdit,
    TermQuery,
    status_with_two_reviewers,
)
from domain.search_log import LoggedSearch
from domain.term import AUTOMATIC_ACTOR, ConceptTerm, Lexicon, LexiconEntry, Term, TermClass, TermStatus
from domain.term_relation import RelatedPair
from lexicon.publishing import build_next_version
from pipeline.lexicon_stage.lexicon_review import LexiconReview
from pipeline.lexicon_stage.review_order import update_review_order
from tests.builders import add, extract_all, keep_page, propose, set_synonyms
from tests.conftest import logic_store_url, on_both
from tests.docstore.test_rebuild import new_url
from text.scripts import LANGUAGE_PATTERNS, language_of_term

store_url = logic_store_url

ACCEPTED, REJECTED, CANDIDATE = TermStatus.ACCEPTED, TermStatus.REJECTED, TermStatus.CANDIDATE
TEXTS = ("页岩气", "页岩", "页岩气井", "钻井", "钻头")


@pytest.fixture
def reviewed(store: Store) -> Store:
    """A store with candidates, the first with the best score."""
    store.lexicons.replace_candidates([Term(text, 9.0 - n, 20 - n, 10 - n, "n n") for n, text in enumerate(TEXTS)])
    return store


def one(store: Store, text: str) -> Term:
    return store.review_queue.find_terms([text])[text]


def decide(store: Store, text: str, status: TermStatus, by: str = "anna", seen: int | None = None) -> None:
    store.review_history.apply(ReviewDecisionKind.DECIDE, [TermEdit(text, status, seen_version=seen)], by)


@on_both
def test_who_did_what_and_when_is_kept(reviewed: Store) -> None:
    decide(reviewed, "页岩气", ACCEPTED)
    decide(reviewed, "钻井", REJECTED, "bert")
    total, acts = reviewed.review_history.list_decisions()
    assert (total, [(act.by, act.kind, act.changes[0].text) for act in acts]) == (
        2,
        [("bert", ReviewDecisionKind.DECIDE, "钻井"), ("anna", ReviewDecisionKind.DECIDE, "页岩气")],
    )
    before, after = acts[1].changes[0].before, acts[1].changes[0].after
    assert before and after and (before["status"], after["status"]) == ("candidate", "accepted")
    assert [act.by for act in reviewed.review_history.list_decisions(text="钻井")[1]] == ["bert"]
    assert [act.by for act in reviewed.review_history.list_decisions(actor="anna")[1]] == ["anna"]
    assert (one(reviewed, "钻井").decided_by, one(reviewed, "钻井").version) == ("bert", 1)
    assert one(reviewed, "钻井").decided_at == acts[0].at


def test_what_changes_nothing_is_no_act(reviewed: Store) -> None:
    propose(reviewed, "钻井", "anna")  # it is known
    reviewed.review_history.apply(ReviewDecisionKind.DECIDE, [], "anna")
    assert reviewed.review_history.list_decisions() == (0, [])


def test_what_the_next_version_would_change_is_counted(reviewed: Store) -> None:
    for text in TEXTS[:3]:
        decide(reviewed, text, ACCEPTED)
    assert reviewed.review_queue.unpublished_change_counts() == (3, 0, 0)
    reviewed.lexicons.publish(build_next_version(reviewed.lexicons.accepted_terms(), reviewed.lexicons.load_latest()))
    assert reviewed.review_queue.unpublished_change_counts() == (0, 0, 0)
    set_synonyms(reviewed, "页岩气", ["shale gas"], "anna")
    reviewed.review_history.apply(ReviewDecisionKind.CLASSIFY, [TermEdit("页岩", category=TermClass.SUBJECT)], "anna")
    decide(reviewed, "页岩气井", REJECTED)
    decide(reviewed, "钻井", ACCEPTED)
    assert reviewed.review_queue.unpublished_change_counts() == (1, 1, 2)


@on_both
def test_two_reviewers_do_not_overwrite_each_other(reviewed: Store) -> None:
    decide(reviewed, "页岩气", ACCEPTED, "anna", seen=0)
    with pytest.raises(ConcurrentEditError, match="页岩气 was changed meanwhile by anna: it is accepted now"):
        decide(reviewed, "页岩气", REJECTED, "bert", seen=0)
    assert one(reviewed, "页岩气").status is ACCEPTED
    edits = [TermEdit("钻井", REJECTED, seen_version=0), TermEdit("页岩气", REJECTED, seen_version=0)]
    with pytest.raises(ConcurrentEditError):
        reviewed.review_history.apply(ReviewDecisionKind.DECIDE, edits, "bert")
    assert one(reviewed, "钻井").status is CANDIDATE  # all of an act or nothing
    decide(reviewed, "页岩气", REJECTED, "bert", seen=1)
    assert one(reviewed, "页岩气").decided_by == "bert"


Doing = Callable[[Store], object]
ACTS: dict[str, Doing] = {
    "decide": lambda s: s.review_history.apply(
        ReviewDecisionKind.DECIDE, [TermEdit(t, REJECTED) for t in TEXTS[:3]], "anna"
    ),
    "later": lambda s: s.review_history.apply(
        ReviewDecisionKind.DECIDE, [TermEdit("钻井", TermStatus.DEFERRED)], "anna"
    ),
    "merge": lambda s: s.review_history.merge("页岩", "页岩气", "anna"),
    "rename": lambda s: s.review_history.rename("页岩气井", "页岩气水平井", "anna"),
    "rename to a known one": lambda s: s.review_history.rename("页岩气井", "钻井", "anna"),
    "class": lambda s: s.review_history.apply(
        ReviewDecisionKind.CLASSIFY, [TermEdit("钻井", category=TermClass.SUBJECT)], "anna"
    ),
    "relate": lambda s: s.review_history.apply(
        ReviewDecisionKind.RELATE, [TermEdit("页岩气井", broader_terms=("钻井",))], "anna"
    ),
    "synonyms": lambda s: set_synonyms(s, "钻井", ["打井"], "anna"),
    "add": lambda s: add(s, ["可燃冰", "钻井"], "anna"),
    "propose": lambda s: propose(s, "可燃冰", "anna"),
    "weight": lambda s: s.review_history.apply(
        ReviewDecisionKind.ADD,
        [TermEdit("可燃冰", ACCEPTED, dictionary_weight=7, dictionary_tag="nz", create_if_missing=True)],
        "anna",
    ),
}


def everything(store: Store) -> dict[str, Term]:
    return {term.text: term for term in store.review_queue.find_page(TermQuery(None, limit=100))[1]}


@pytest.mark.parametrize("name", ACTS)
def test_everything_can_be_undone_and_that_too(reviewed: Store, name: str) -> None:
    before = everything(reviewed)
    ACTS[name](reviewed)
    after = everything(reviewed)
    assert after != before
    undone = reviewed.review_history.undo("anna")
    assert everything(reviewed) == before
    assert [act.undone for act in reviewed.review_history.list_decisions()[1]] == [False, True]
    reviewed.review_history.undo("anna", undone.act_id)
    assert everything(reviewed) == after
    with pytest.raises(LexiconError, match="already undone"):
        reviewed.review_history.undo("anna", undone.act_id)
    reviewed.review_history.undo("anna")
    assert everything(reviewed) == before


def test_a_run_does_not_stand_between_a_decision_and_its_undo(reviewed: Store) -> None:
    edit = TermEdit("页岩气", category=TermClass.SUBJECT)
    reviewed.review_history.apply(ReviewDecisionKind.CLASSIFY, [edit], "anna")
    reviewed.lexicons.mark_considered()
    reviewed.review_history.undo("anna")
    assert one(reviewed, "页岩气").category is TermClass.NONE


def test_acts_on_one_term_are_undone_one_after_the_other(reviewed: Store) -> None:
    before = everything(reviewed)
    decide(reviewed, "页岩气", ACCEPTED)
    ACTS["class"](reviewed)
    reviewed.review_history.apply(ReviewDecisionKind.RELATE, [TermEdit("钻井", broader_terms=("钻头",))], "anna")
    reviewed.review_history.merge("页岩", "页岩气", "anna")
    decide(reviewed, "页岩气", REJECTED)
    versions = [one(reviewed, "页岩气").version]
    for _ in range(5):
        reviewed.review_history.undo("anna")
        versions.append(one(reviewed, "页岩气").version)
    assert everything(reviewed) == before
    assert versions == [3, 4, 5, 5, 5, 6]  # nobody takes an undone state for one that was seen


def test_undo_takes_the_last_act_of_its_own_reviewer(reviewed: Store) -> None:
    for text, by in (("页岩气", "anna"), ("页岩", "anna"), ("钻井", "bert")):
        decide(reviewed, text, ACCEPTED, by)
    reviewed.review_history.undo("anna")
    assert [one(reviewed, text).status for text in ("页岩气", "页岩", "钻井")] == [ACCEPTED, CANDIDATE, ACCEPTED]
    reviewed.review_history.undo("anna")
    assert one(reviewed, "页岩气").status is CANDIDATE
    with pytest.raises(LexiconError, match="nothing to undo"):
        reviewed.review_history.undo("anna")


def test_what_somebody_else_changed_since_is_not_undone(reviewed: Store) -> None:
    decide(reviewed, "页岩气", ACCEPTED, "anna")
    decide(reviewed, "页岩气", REJECTED, "bert")
    with pytest.raises(ConcurrentEditError, match="by bert"):
        reviewed.review_history.undo("anna")
    assert one(reviewed, "页岩气").status is REJECTED


def test_a_merged_word_is_a_synonym_with_its_own_synonyms(reviewed: Store) -> None:
    set_synonyms(reviewed, "页岩", ["油页岩"])
    reviewed.review_history.merge("页岩", "页岩气", "anna")
    assert one(reviewed, "页岩气").synonyms == ("页岩", "油页岩")
    assert (one(reviewed, "页岩").status, one(reviewed, "页岩").synonyms) == (TermStatus.MERGED, ())
    for text, into in (("页岩气", "页岩气"), ("没有", "页岩气"), ("页岩气", "没有")):
        with pytest.raises(LexiconError):
            reviewed.review_history.merge(text, into)


def test_a_renamed_term_leaves_its_old_name_rejected(reviewed: Store) -> None:
    reviewed.review_history.apply(ReviewDecisionKind.CLASSIFY, [TermEdit("页岩气井", category=TermClass.PROFESSIONAL)])
    reviewed.review_history.rename("页岩气井", "页岩气水平井", "anna")
    new = one(reviewed, "页岩气水平井")
    assert (new.status, new.category) == (ACCEPTED, TermClass.PROFESSIONAL)
    assert one(reviewed, "页岩气井").status is REJECTED


def test_a_rename_to_a_known_term_unites_synonyms_and_broader_terms(reviewed: Store) -> None:
    edits = [
        TermEdit("页岩", synonyms=("shale",), broader_terms=("岩石",)),
        TermEdit("钻井", synonyms=("drilling", "shale"), broader_terms=("工程",)),
    ]
    reviewed.review_history.apply(ReviewDecisionKind.RELATE, edits, "anna")
    reviewed.review_history.rename("钻井", "页岩", "anna")
    renamed_term = one(reviewed, "页岩")
    assert (renamed_term.synonyms, renamed_term.broader_terms) == (("shale", "drilling"), ("岩石", "工程"))


def set_broader(store: Store, broader_by_text: dict[str, tuple[str, ...]]) -> None:
    edits = [TermEdit(text, ACCEPTED, broader_terms=broader) for text, broader in broader_by_text.items()]
    store.review_history.apply(ReviewDecisionKind.DECIDE, edits, "anna")


def broader_terms(store: Store) -> dict[str, tuple[str, ...]]:
    terms = store.review_queue.find_terms([*TEXTS, "天然气"])
    return {text: term.broader_terms for text, term in terms.items() if term.broader_terms}


def test_narrower_terms_follow_a_merge_and_a_new_name(reviewed: Store) -> None:
    before = {"页岩气": ("页岩",), "页岩气井": ("页岩气", "钻井"), "钻头": ("页岩", "页岩气")}
    set_broader(reviewed, before | {"页岩": (), "钻井": ()})
    history = reviewed.review_history
    for change in (history.rename, history.merge):
        new_text = "天然气" if change == history.rename else "钻井"
        decision = change("页岩气", new_text, "anna")
        followed = {"页岩气井": tuple(dict.fromkeys((new_text, "钻井"))), "钻头": ("页岩", new_text)}
        assert broader_terms(reviewed) == followed | {new_text: ("页岩",)}
        version = build_next_version(reviewed.lexicons.accepted_terms(), reviewed.lexicons.load_latest())
        names = {entry.text for entry in version.entries}
        assert {broader for entry in version.entries for broader in entry.broader_terms} <= names
        history.undo("anna", decision.act_id)
        assert broader_terms(reviewed) == before


def test_a_merge_of_broader_and_narrower_term_leaves_no_term_above_itself(reviewed: Store) -> None:
    set_broader(reviewed, {"页岩气": ("页岩",), "页岩": ("钻井",), "钻井": ()})
    reviewed.review_history.merge("页岩气", "页岩", "anna")
    assert broader_terms(reviewed) == {"页岩": ("钻井",)}
    reviewed.review_history.undo("anna")
    reviewed.review_history.merge("页岩", "页岩气", "anna")
    assert broader_terms(reviewed) == {"页岩气": ("钻井",)}
    with pytest.raises(LexiconError, match="narrower than itself"):
        set_broader(reviewed, {"钻井": ("页岩气",)})


def test_related_terms_follow_a_merge_and_a_new_name(reviewed: Store) -> None:
    history, related = reviewed.review_history, reviewed.relations.list_related
    pair = RelatedPair("钻井", "页岩", is_related=True)
    history.apply(ReviewDecisionKind.DECIDE, [TermEdit("页岩", related_pairs=(pair,))], "anna")
    history.merge("页岩", "页岩气", "anna")
    assert (related("页岩"), related("页岩气")) == ([], ["钻井"])
    history.undo("anna")
    assert (related("页岩"), related("页岩气")) == (["钻井"], [])
    history.rename("页岩", "页岩层", "anna")
    assert (related("页岩"), related("页岩层")) == ([], ["钻井"])
    history.merge("页岩层", "钻井", "anna")  # no term is related to itself
    assert (related("页岩层"), related("钻井")) == ([], [])


def test_undo_of_an_unknown_decision_says_so(reviewed: Store) -> None:
    decide(reviewed, "页岩气", ACCEPTED)
    with pytest.raises(LexiconError, match="Action 4711 does not exist"):
        reviewed.review_history.undo("anna", 4711)


def test_a_rejected_term_comes_back_when_its_evidence_has_doubled(reviewed: Store) -> None:
    decide(reviewed, "页岩气", REJECTED)
    decide(reviewed, "钻井", ACCEPTED)
    for frequency, status in ((39, REJECTED), (40, CANDIDATE)):
        reviewed.lexicons.replace_candidates([Term("页岩气", 9.0, frequency, 9), Term("钻井", 5.0, 99, 9)])
        assert one(reviewed, "页岩气").status is status
    assert one(reviewed, "钻井").status is ACCEPTED
    assert next((act.kind, act.by) for act in reviewed.review_history.list_decisions("页岩气")[1]) == (
        ReviewDecisionKind.REOPEN,
        "",
    )
    decide(reviewed, "页岩气", REJECTED)
    reviewed.lexicons.replace_candidates([Term("页岩气", 9.0, 79, 9)])
    assert one(reviewed, "页岩气").status is REJECTED


@on_both
def test_terms_are_found_filtered_and_put_in_order(reviewed: Store) -> None:
    def texts(**wanted: object) -> list[str]:
        return [term.text for term in reviewed.review_queue.find_page(TermQuery(**wanted))[1]]  # type: ignore[arg-type]

    assert texts() == list(TEXTS)
    assert texts(text="页岩", min_documents=9) == ["页岩气", "页岩"]
    reviewed.review_history.apply(
        ReviewDecisionKind.CLASSIFY, [TermEdit("钻头", category=TermClass.SUBJECT, synonyms=("牙轮",))]
    )
    assert texts(category=TermClass.SUBJECT) == ["钻头"] == texts(text="牙轮")
    assert texts(order=Order.FREQUENCY, limit=2, offset=1) == ["页岩", "页岩气井"]
    queue = reviewed.review_queue
    assert queue.ranking_states() == ((0, -1), (1, 0))  # nothing was ever put in order
    queue.save_ranking({}, RankingState(0, 0))
    decide(reviewed, "钻井", ACCEPTED)
    assert queue.ranking_states() == ((0, 0), (2, 0))
    state, terms = reviewed.review_queue.undecided_terms()
    reviewed.review_queue.save_ranking({term.text: float(-n) for n, term in enumerate(reversed(terms))}, state)
    assert set(texts()) == {"页岩气", "页岩", "页岩气井", "钻头"} and texts(order=Order.SCORE)[0] == "页岩气"
    assert queue.ranking_states() == ((2, 0), (2, 0))
    reviewed.lexicons.replace_candidates([Term("新词语", 1.0, 2, 2)], text_version=3)
    assert queue.ranking_states() == ((2, -1), (2, 3)) and texts(order=Order.NEWEST) == ["新词语"]


def test_terms_are_found_by_their_language(store: Store) -> None:
    texts = ["shale gas", "页岩气", "PDC钻头", "\U00030edd岩", "β-内酰胺", "Ölschiefer", "シェール"]
    store.lexicons.replace_candidates([Term(text, 9.0 - n, 20, 10) for n, text in enumerate(texts)])
    found = {
        name: [one.text for one in store.review_queue.find_page(TermQuery(pattern=LANGUAGE_PATTERNS[name]))[1]]
        for name in LANGUAGE_PATTERNS
    }
    assert found == {"zh": texts[1:5], "en": ["shale gas", "Ölschiefer", "シェール"]}
    assert {name: [text for text in texts if language_of_term(text) == name] for name in LANGUAGE_PATTERNS} == found


@on_both
def test_the_order_of_review_follows_gain_languages_and_kinds(store: Store) -> None:
    """The miner prefers the English terms; of eight articles, five are Chinese, two English and one Korean."""
    words = {
        "zh": [f"钻井{chr(0x4E00 + n)}" for n in range(40)],
        "en": [f"term{chr(97 + n)}" for n in range(20)],
        "ko": [f"시추{chr(0xAC00 + n)}" for n in range(10)],
    }
    best = {"zh": 0.6, "en": 0.95, "ko": 0.7}
    terms = [Term(text, best[name], 50, 50 - n, "n n") for name in words for n, text in enumerate(words[name])]
    kinds = [Term("陈晓华", 0.99, 500, 500), Term("亿立方米", 0.9, 500, 500), Term("导向钻井系", 0.9, 500, 500)]
    store.lexicons.replace_candidates([*terms, *kinds, Term("旋转导向钻井系统", 0.6, 500, 1)], text_version=1)
    for number, tag in enumerate(["zh-CN"] * 5 + ["en"] * 2 + ["ko"]):
        url = f"http://a.test/{number}"
        keep_page(store, url, url.encode())
        extract_all(store, Article(url, url, f"{number}{url}", language=tag))

    def texts(**wanted: object) -> list[str]:
        return [term.text for term in store.review_queue.find_page(TermQuery(**wanted))[1]]  # type: ignore[arg-type]

    assert update_review_order(store)
    first = texts(limit=8)
    assert {name: [text for text in first if text in words[name]] for name in words} == {
        name: words[name][:count] for name, count in (("zh", 5), ("en", 2), ("ko", 1))
    }
    everything = texts(limit=100)
    assert everything[-3:] == ["导向钻井系", "陈晓华", "亿立方米"] and len(set(everything)) == len(everything) == 74
    assert [text for page in range(8) for text in texts(limit=10, offset=10 * page)] == everything
    assert texts(pattern=LANGUAGE_PATTERNS["zh"], limit=2) == words["zh"][:2]
    searches = [LoggedSearch(f"{n}", f"为什么{words['zh'][39]}", 1, 1) for n in range(9)]
    store.search_log.save([*searches, LoggedSearch("masked", words["zh"][38], 1, 1, is_masked=True)], [])
    store.lexicons.replace_candidates([*terms, Term("新词语", 0.99, 50, 50)], text_version=2)
    assert update_review_order(store) and not update_review_order(store)
    chinese = texts(pattern=LANGUAGE_PATTERNS["zh"], limit=50)
    assert (chinese[0], chinese[-1]) == (words["zh"][39], "新词语")  # often searched for; certain
    shown = texts(limit=40)
    for text in (*shown[1::2], *words["zh"][30:38]):
        decide(store, text, REJECTED)
    assert update_review_order(store)
    assert texts(limit=20) == shown[::2]  # what a reviewer has on the screen does not move


@on_both
def test_the_neighbours_of_a_term(reviewed: Store) -> None:
    decide(reviewed, "页岩气井", ACCEPTED)
    reviewed.review_history.apply(ReviewDecisionKind.RELATE, [TermEdit("页岩气井", broader_terms=("钻井", "页岩"))])
    assert reviewed.review_queue.terms_containing(["页岩", "钻"], 2) == {
        "页岩": [("页岩气", CANDIDATE), ("页岩气井", ACCEPTED)],
        "钻": [("钻井", CANDIDATE), ("钻头", CANDIDATE)],
    }
    assert reviewed.review_queue.narrower_terms("页岩") == ["页岩气井"]
    assert reviewed.review_queue.terms_containing([], 2) == {}


@on_both
def test_how_good_the_last_decisions_were(reviewed: Store) -> None:
    assert reviewed.review_queue.recent_acceptance() == (0, 0)
    decide(reviewed, "页岩", REJECTED)
    decide(reviewed, "页岩气", ACCEPTED)
    reviewed.review_history.merge("页岩气井", "页岩气")
    decide(reviewed, "钻井", TermStatus.DEFERRED)
    add(reviewed, ["可燃冰"])  # brought, not mined: it says nothing of the miner
    assert reviewed.review_queue.recent_acceptance() == (2, 3)
    assert reviewed.review_queue.recent_acceptance(1) == (1, 1)
    assert [term.text for term in reviewed.review_queue.decided_terms(2)] == ["页岩气井", "页岩气"]


@pytest.fixture
def stores(store_url: str, tmp_path: Path) -> Iterator[list[Store]]:
    """The same store, opened twice."""
    with Store(store_url, tmp_path / "warc") as first, Store(store_url, tmp_path / "warc") as second:
        yield [first, second]


@on_both
def test_two_processes_do_not_overwrite_each_other(stores: list[Store]) -> None:
    stores[0].lexicons.replace_candidates([Term("页岩气", 9.0, 9, 9)])
    seen = one(stores[1], "页岩气").version
    decide(stores[0], "页岩气", ACCEPTED, "anna", seen)
    with pytest.raises(ConcurrentEditError):
        decide(stores[1], "页岩气", REJECTED, "bert", seen)


@on_both
def test_a_cycle_of_broader_terms_is_refused(reviewed: Store) -> None:
    def relate(text: str, *broader: str) -> None:
        edit = TermEdit(text, broader_terms=broader)
        reviewed.review_history.apply(ReviewDecisionKind.RELATE, [edit], "anna")

    relate("页岩气井", "钻井")
    relate("钻井", "钻头", "页岩")
    with pytest.raises(LexiconError, match="页岩 < 页岩气井 < 钻井 < 页岩"):
        relate("页岩", "页岩气井")
    assert one(reviewed, "页岩").broader_terms == ()
    with pytest.raises(LexiconError, match="钻头 < 钻井 < 钻头"):
        relate("钻头", "页岩气", "钻井")
    relate("钻井")
    relate("钻头", "钻井")
    acts = reviewed.review_history.list_decisions(text="钻井")[1]
    with pytest.raises(LexiconError, match="钻井 < 钻头 < 钻井"):
        reviewed.review_history.undo("anna", acts[0].act_id)
    assert one(reviewed, "钻井").broader_terms == ()


@pytest.mark.parametrize(
    "column",
    [pytest.param(name, marks=[] if name == "status" else [pytest.mark.exhaustive]) for name in DECISION_COLUMNS],
)
def test_damage_in_a_decided_term_is_found_and_repaired_from_a_backup(tmp_path: Path, column: str) -> None:
    damaged, backup, rebuilt = (tmp_path / name for name in ("store.db", "backup.db", "rebuilt.db"))
    with open_sqlite_store(tmp_path) as store:
        concept_terms = (ConceptTerm("页岩气", "zh", note="注"),)
        edit = TermEdit("页岩气", ACCEPTED, concept_terms=concept_terms, source_ids=("a",), create_if_missing=True)
        store.review_history.apply(ReviewDecisionKind.ADD, [edit], "anna")
        before = one(store, "页岩气")
    shutil.copy(damaged, backup)
    with closing(sqlite3.connect(damaged)) as connection, connection:
        connection.execute(f"UPDATE terms SET {column} = '[]x'")
    with open_sqlite_store(tmp_path) as store:
        assert store.integrity.damaged_rows() == {"terms": ["页岩气"]}
    rebuild_store(damaged, [backup], rebuilt, new_url)
    rebuilt.replace(damaged)
    with open_sqlite_store(tmp_path) as store:
        assert store.integrity.damaged_rows() == {}
        after = one(store, "页岩气")
        assert (after, after.concept_id, after.concept_terms) == (before, before.concept_id, concept_terms)


def test_rows_with_checksums_of_an_earlier_version_are_kept(tmp_path: Path) -> None:
    with open_sqlite_store(tmp_path) as store:
        store.review_history.apply(
            ReviewDecisionKind.ADD, [TermEdit("页岩气", ACCEPTED, create_if_missing=True)], "anna"
        )
    with closing(sqlite3.connect(tmp_path / "store.db")) as connection, connection:
        connection.execute("UPDATE meta SET value = '1' WHERE key = ?", (CHECKSUM_FORMAT_KEY,))
        connection.execute("UPDATE row_sums SET sum = 1")
    report = rebuild_store(tmp_path / "store.db", [], tmp_path / "rebuilt.db", new_url)
    assert report.lost_keys == report.unverified_keys == {}
    (tmp_path / "rebuilt.db").replace(tmp_path / "store.db")
    with open_sqlite_store(tmp_path) as store:
        assert one(store, "页岩气").status is ACCEPTED
        assert store.integrity.damaged_rows() == {}


TWO_REVIEWERS = [  # kind, status before, its reviewer, requested status, actor, status after
    ("decide", "candidate", "", "accepted", "bob", "provisional"),
    ("decide", "merged", "ann", "accepted", "bob", "provisional"),
    ("decide", "provisional", "ann", "accepted", "bob", "accepted"),
    ("add", "provisional", "ann", "accepted", "ann", "provisional"),  # a list is imported again
    ("decide", "provisional", "ann", "rejected", "bob", "candidate"),
    ("decide", "provisional", "ann", "rejected", "ann", "rejected"),
    ("rename", "provisional", "ann", "rejected", "bob", "rejected"),
    ("decide", "accepted", AUTOMATIC_ACTOR, "accepted", "bob", "accepted"),
    ("decide", "candidate", "", "accepted", AUTOMATIC_ACTOR, "accepted"),
    ("decide", "accepted", "ann", "rejected", "bob", "rejected"),
]


@pytest.mark.parametrize(("kind", "before", "decided_by", "requested", "actor", "after"), TWO_REVIEWERS)
def test_two_accounts_accept_a_term(
    kind: str, before: str, decided_by: str, requested: str, actor: str, after: str
) -> None:
    edit = TermEdit("页岩气", TermStatus(requested))
    decision = (ReviewDecisionKind(kind), edit, TermStatus(before), decided_by, actor)
    assert status_with_two_reviewers(*decision) is TermStatus(after)


def test_nobody_confirms_their_own_acceptance() -> None:
    edit = TermEdit("页岩气", TermStatus.ACCEPTED)
    with pytest.raises(LexiconError, match="Another account"):
        status_with_two_reviewers(ReviewDecisionKind.DECIDE, edit, TermStatus.PROVISIONAL, "ann", "ann")


@on_both
def test_edits_that_waited_in_an_older_store_are_records_without_effect(reviewed: Store) -> None:
    """Earlier versions stored an edit of an accepted term as a decision until another account approved it."""
    history = reviewed.review_history
    decide(reviewed, "页岩气", ACCEPTED)
    decision = set_synonyms(reviewed, "页岩气", ["gas"], "ann")
    history.undo("ann")
    with reviewed._database.write() as connection:
        waiting = {"kind": ReviewDecisionKind.PROPOSE_EDIT, "undone_by": None}
        connection.execute(update(review_decisions).where(review_decisions.c.act_id == decision.act_id).values(waiting))
    assert [act.kind.value for act in history.list_decisions("页岩气")[1]] == ["undo", "propose_edit", "decide"]
    with pytest.raises(LexiconError, match="nothing to undo"):
        history.undo("bob", decision.act_id)
    with pytest.raises(LexiconError, match="nothing to undo"):
        history.undo("ann")
    history.apply(ReviewDecisionKind.SYNONYMS, [TermEdit("页岩气", synonyms=("shale gas",))], "bob")
    assert one(reviewed, "页岩气").synonyms == ("shale gas",) and one(reviewed, "页岩气").status is ACCEPTED


@on_both
def test_no_way_of_accepting_a_term_goes_round_the_second_reviewer(reviewed: Store) -> None:
    history, review = reviewed.review_history, LexiconReview(reviewed)
    history.needs_second_reviewer = lambda: True
    reviewed.lexicons.publish(Lexicon(1, (LexiconEntry("页岩气"), LexiconEntry("新词组"))))
    for kind in ReviewDecisionKind:
        edit = TermEdit("页岩气", ACCEPTED)
        if kind.has_effect and kind is not ReviewDecisionKind.DECIDE:
            history.apply(kind, [edit], "ann")
            assert one(reviewed, "页岩气").status is TermStatus.PROVISIONAL, kind
    reviewed.lexicons.publish(Lexicon(2, ()))
    assert review.revert(1, "ann").entries == ()
    assert one(reviewed, "新词组").status is TermStatus.PROVISIONAL
    assert review.decide(["页岩气"], ACCEPTED, "bob").changes[0].after["status"] == "accepted"
    assert [entry.text for entry in review.publish("bob").entries] == ["页岩气"]
