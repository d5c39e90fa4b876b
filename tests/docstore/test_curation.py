"""The rules of editors: saved, changed and deleted as operations, and undone."""

from pathlib import Path

import pytest

from docstore.curation import MAX_RULES_PER_QUERY
from docstore.store import Store, open_sqlite_store
from domain.curation import CurationAction, CurationRule
from domain.errors import PlumblineError
from domain.search_log import LoggedSearch
from tests.builders import operate, undo

PIN = {"query": "页岩气", "doc_id": "doc1", "title": "题目", "action": "pin", "reason": "best overview", "until": None}


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return open_sqlite_store(tmp_path)


def the_rule(store: Store) -> CurationRule:
    [rule] = store.curation.load_all()
    return rule


def test_a_rule_is_kept_with_its_account_reason_and_extent(store: Store) -> None:
    operate(store, "curation_create", "anna", **PIN | {"query": "ＬＮＧ  價格", "with_synonyms": True, "until": 9.5e9})
    rule = the_rule(store)
    assert (rule.query, rule.query_key, rule.with_synonyms) == ("ＬＮＧ  價格", "lng价格", True)
    assert (rule.action, rule.reason, rule.account) == (CurationAction.PIN, "best overview", "anna")
    assert rule.has_expired(9.5e9) and not rule.has_expired(9.4e9)
    [record] = store.operations.find()
    assert (record.account, record.name, record.subject) == ("anna", "curation_create", "ＬＮＧ  價格 → 题目")
    assert (record.after["action"], record.after["reason"], record.after["until"]) == ("pin", "best overview", 9.5e9)


def test_every_change_of_a_rule_changes_the_revision(store: Store) -> None:
    revisions = [store.curation.revision()]
    operate(store, "curation_create", **PIN)
    revisions.append(store.curation.revision())
    operate(store, "curation_change", **PIN | {"action": "hide", "version": str(the_rule(store).version)})
    revisions.append(store.curation.revision())
    operate(store, "curation_delete", **PIN | {"version": str(the_rule(store).version)})
    revisions.append(store.curation.revision())
    assert revisions[0] == revisions[-1] and len({*revisions}) == 3


def test_the_second_editor_is_told_that_the_rule_has_changed(store: Store) -> None:
    operate(store, "curation_create", "anna", **PIN)
    seen = {"version": str(the_rule(store).version)}
    with pytest.raises(PlumblineError, match="anna has made a rule"):
        operate(store, "curation_create", "bert", **PIN | {"query": "頁岩氣 ", "action": "hide"})
    operate(store, "curation_change", "bert", **PIN | {"reason": "newest", **seen})
    for name in ("curation_change", "curation_delete"):
        with pytest.raises(PlumblineError, match="has changed since: bert"):
            operate(store, name, "anna", **PIN | seen)
    assert the_rule(store).reason == "newest"
    assert operate(store, "curation_delete", "anna", **PIN | {"version": str(the_rule(store).version)})
    assert operate(store, "curation_delete", "bert", **PIN | seen) is None
    assert operate(store, "curation_change", "bert", **PIN | seen) is None


def test_each_change_is_undone_unless_the_rule_has_changed_since(store: Store) -> None:
    operate(store, "curation_create", "anna", **PIN)
    created = the_rule(store)
    operate(store, "curation_change", "anna", **PIN | {"action": "hide", "version": str(created.version)})
    first, second = (record.operation_id for record in store.operations.find()[::-1])
    with pytest.raises(PlumblineError, match="has changed since"):
        undo(store, first)
    assert undo(store, second) and the_rule(store).action is CurationAction.PIN
    assert undo(store, first) and store.curation.load_all() == []
    deleted = store.operations.find(limit=1)[0]
    assert deleted.name == "curation_delete" and undo(store, deleted.operation_id)
    restored = the_rule(store)
    assert (restored.created_at, restored.reason) == (created.created_at, created.reason)
    assert store.integrity.damaged_rows() == {}


def test_a_query_has_a_limited_number_of_rules(store: Store) -> None:
    for number in range(MAX_RULES_PER_QUERY):
        operate(store, "curation_create", **PIN | {"doc_id": f"doc{number}"})
    with pytest.raises(PlumblineError, match="at most 50 rules"):
        operate(store, "curation_create", **PIN | {"doc_id": "one more"})


def test_the_last_search_of_each_query(store: Store) -> None:
    logged = [("a", 60.0, False), ("a", 600.0, False), ("b", 60.0, False), ("c", 600.0, True)]
    entries = [LoggedSearch(str(n), q, 1, 5, 1, "", masked, at) for n, (q, at, masked) in enumerate(logged)]
    store.search_log.save(entries, [])
    assert store.search_log.last_searches(90.0) == {"a": 600.0, "b": 60.0}
    assert store.search_log.last_searches(120.0) == {"a": 600.0}
