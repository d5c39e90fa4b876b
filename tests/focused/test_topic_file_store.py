"""Topics on disk: what is written is read again; what is wrong is named by file and field."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from domain.errors import TopicError
from domain.message import Message
from domain.topic import ExamplePage, Topic, TopicSeed, TopicState, TopicTerm, TopicTermClass
from focused.topic.term_decisions import add_topic_terms, decide_terms
from focused.topic.topic_file_store import TopicFileStore, parse_topic, topic_to_json

TOPIC = Topic(
    name="页岩气 2.0",
    words=("页岩气",),
    terms=(
        TopicTerm("水平井", TopicTermClass.PROFESSIONAL, TopicState.CONFIRMED, "operator", 1.0),
        TopicTerm("压裂", TopicTermClass.SUBJECT, TopicState.PROPOSED, "index", 0.25, "10 pages"),
        TopicTerm("新闻", TopicTermClass.PROFESSIONAL, TopicState.REFUSED, "crawl"),
    ),
    seeds=(TopicSeed("http://a.test/1", TopicState.PROPOSED, "index", 0.5, "title"),),
    examples=(ExamplePage("http://a.test/2", "题", "述", (("content", 0.5, "正文"),)),),
    term_tree=("地质", "  岩石"),
    counts_unconfirmed_terms=True,
)


def test_a_topic_is_read_as_it_was_written(tmp_path: Path) -> None:
    files = TopicFileStore(tmp_path)
    assert files.names() == []
    files.create(TOPIC)
    assert files.names() == ["页岩气 2.0"]
    assert files.read("页岩气 2.0") == TOPIC
    with pytest.raises(TopicError, match="already"):
        files.create(replace(TOPIC, words=()))
    assert files.read("页岩气 2.0") == TOPIC


def test_the_evidence_of_a_term_keeps_its_translation(tmp_path: Path) -> None:
    evidence = Message("1 page found by {term}", "{n} pages found by {term}", n=10, term="油")
    files = TopicFileStore(tmp_path)
    files.create(replace(TOPIC, terms=(TopicTerm("压裂", evidence=evidence),)))
    stored = files.read(TOPIC.name).terms[0].evidence
    assert isinstance(stored, Message)
    assert (stored, stored.template, stored.values) == (evidence, evidence.template, evidence.values)


@pytest.mark.parametrize(
    "name", ["", "../x", "a/b", ".hidden", "x" * 61, "a\0b", "ends.", "a\nb"], ids=lambda name: ascii(name)[:20]
)
def test_names_that_no_file_can_have(name: str, tmp_path: Path) -> None:
    with pytest.raises(TopicError, match="is not a valid topic name"):
        TopicFileStore(tmp_path).read(name)


def test_a_topic_that_is_not_there_names_those_that_are(tmp_path: Path) -> None:
    files = TopicFileStore(tmp_path)
    files.create(TOPIC)
    with pytest.raises(TopicError, match=r"topic oil not found .*oil\.json.*页岩气 2\.0.*plumb topic init"):
        files.read("oil")


def put(place: str, value: Any) -> Callable[[dict[str, Any]], None]:
    """Change a value of the file: `terms.0.class`."""

    def change(row: Any) -> None:
        *path, last = place.split(".")
        for step in path:
            row = row[int(step) if step.isdigit() else step]
        row[int(last) if last.isdigit() else last] = value

    return change


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (put("version", 2), "version is 2, but this program supports 1"),
        (put("version", "1"), "version is '1': expected a number"),
        (put("name", "other"), "name is 'other'"),
        (put("words", "x"), "words is 'x': expected a list"),
        (put("words", [1]), "words is [1]: expected a list of texts"),
        (put("automatic", "yes"), "automatic is 'yes': expected true or false"),
        (put("terms.0.class", "verb"), "terms[0].class is 'verb': expected one of professional, subject, judgement"),
        (put("terms.1.state", None), "terms[1].state is None: expected one of proposed, confirmed, refused"),
        (put("terms.1.score", True), "terms[1].score is True: expected a number"),
        (put("terms.0.text", " "), "terms[0].text is ' ': expected a term of 1 to 64 characters"),
        (put("seeds.0", 7), "seeds[0] must be an object"),
        (put("seeds.0.url", None), "seeds[0].url is None: expected text"),
        (put("examples.0.blocks", [["content", "x", "t"]]), "examples[0].blocks is"),
    ],
    ids=lambda value: value[:40] if isinstance(value, str) else "",
)
def test_a_wrong_field_is_named(change: Callable[[dict[str, Any]], None], said: str) -> None:
    row = json.loads(json.dumps(topic_to_json(TOPIC)))
    change(row)
    with pytest.raises(TopicError) as refused:
        parse_topic(json.dumps(row), "topics/t.json", TOPIC.name)
    assert str(refused.value).startswith("topics/t.json: ") and said in str(refused.value)


def test_a_missing_field_and_no_json_are_named() -> None:
    row = topic_to_json(TOPIC)
    del row["tree"]
    with pytest.raises(TopicError, match=r"t: tree is missing: expected a list"):
        parse_topic(json.dumps(row), "t", TOPIC.name)
    with pytest.raises(TopicError, match="t is not JSON"):
        parse_topic("{", "t", TOPIC.name)


def test_decisions(tmp_path: Path) -> None:
    files = TopicFileStore(tmp_path)
    files.create(TOPIC)
    after = decide_terms(files, TOPIC.name, ["压裂", "http://a.test/1"], TopicState.CONFIRMED, TopicTermClass.JUDGEMENT)
    assert after.confirmed_terms(TopicTermClass.JUDGEMENT) == ("压裂",)
    assert after.seeds[0].state is TopicState.CONFIRMED
    assert after.pending_count() == 0
    with pytest.raises(TopicError, match="has no 钻井"):
        decide_terms(files, TOPIC.name, ["水平井", "钻井"], TopicState.REFUSED)
    assert files.read(TOPIC.name) == after  # all or nothing


def test_what_is_decided_is_not_proposed_again(tmp_path: Path) -> None:
    again = TOPIC.with_terms([TopicTerm("新闻"), TopicTerm("钻井"), TopicTerm("钻井", score=1.0)])
    assert [(term.text, term.state) for term in again.terms[2:]] == [("新闻", "refused"), ("钻井", "proposed")]
    files = TopicFileStore(tmp_path)
    files.create(TOPIC)
    added = add_topic_terms(
        files, TOPIC.name, ["新闻", "测井"], TopicTermClass.SUBJECT
    )  # but the operator may think again
    assert added.confirmed_terms(TopicTermClass.SUBJECT) == ("新闻", "测井")
    with pytest.raises(TopicError, match="1 to 64"):
        add_topic_terms(files, TOPIC.name, ["x" * 65], TopicTermClass.SUBJECT)
