"""Topics on disk: `topics/NAME.json` in the data folder, one file a topic, checked field by field when it is read.

{"version": 1, "name": "地质", "words": ["地质"], "automatic": false, "tree": [],
 "terms": [{"text": "玄武岩", "class": "professional", "state": "confirmed", "origin": "operator", "score": 1.0,
            "evidence": ""}],
 "seeds": [{"url": "http://...", "state": "proposed", "origin": "index", "score": 0.7, "evidence": "..."}],
 "examples": [{"url": "http://...", "title": "...", "description": "", "blocks": [["content", 0.4, "..."]]}]}
"""

import json
import os
import re
from collections.abc import Callable, Mapping
from enum import StrEnum
from pathlib import Path
from typing import Any, TypeVar

from docstore.errors import TopicError
from docstore.locking.file_locks import stage_lock
from docstore.topic import ExamplePage, Topic, TopicSeed, TopicState, TopicTerm, TopicTermClass

FORMAT_VERSION = 1
MAX_NAME_CHARS = 60
MAX_TERM_CHARS = 64  # characters, as the segmenter's words
MAX_TERMS = 20_000
_NAME_PATTERN = re.compile(r"\w[\w .+-]*")
_LOCK_TIMEOUT_SECONDS = 30.0  # seconds for another process that writes the same topic
EnumType = TypeVar("EnumType", bound=StrEnum)


class TopicFileStore:
    """The topics of a vertical. Every change reads the file, changes it and writes it whole, one process at a time."""

    def __init__(self, data_dir: Path) -> None:
        self._data_dir = data_dir
        self._folder = data_dir / "topics"

    def names(self) -> list[str]:
        """The names of all topics."""
        return sorted(path.stem for path in self._folder.glob("*.json"))

    def path_for(self, name: str) -> Path:
        """The file of a topic. TopicError for a name that no file can have."""
        if not _NAME_PATTERN.fullmatch(name) or len(name) > MAX_NAME_CHARS or name.endswith((" ", ".")):
            raise TopicError(
                f"{name[:80]!r} cannot name a topic: letters, digits, blanks and . + - _ can, {MAX_NAME_CHARS} at most"
            )
        return self._folder / f"{name}.json"

    def read(self, name: str) -> Topic:
        """A topic. TopicError naming file and field where there is none or it is not valid."""
        path = self.path_for(name)
        try:
            text = path.read_text(encoding="utf-8-sig")
        except FileNotFoundError:
            available = ", ".join(self.names()) or "none yet"
            raise TopicError(
                f"there is no topic {name} ({path}); there is: {available}. Make it with plumb topic init"
            ) from None
        except (OSError, UnicodeDecodeError) as error:
            raise TopicError(f"cannot read {path}: {error}") from error
        return parse_topic(text, str(path), name)

    def create(self, topic: Topic) -> None:
        """Write a new topic. TopicError if there is one of this name."""
        path = self.path_for(topic.name)
        with stage_lock(self._data_dir, "topics", _LOCK_TIMEOUT_SECONDS):
            if path.exists():
                raise TopicError(f"there is a topic {topic.name} already ({path}): it was left as it is")
            self._write(topic, path)

    def update(self, name: str, transform: Callable[[Topic], Topic]) -> Topic:
        """Change a topic; what `transform` raises leaves it as it was. Returns the topic as it is now."""
        with stage_lock(self._data_dir, "topics", _LOCK_TIMEOUT_SECONDS):
            topic = transform(self.read(name))
            self._write(topic, self.path_for(name))
        return topic

    def _write(self, topic: Topic, path: Path) -> None:
        text = json.dumps(topic_to_json(topic), ensure_ascii=False, indent=1) + "\n"
        temporary_path = path.with_name(f"{path.name}.new")
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            temporary_path.write_text(text, encoding="utf-8")
            os.replace(temporary_path, path)
        except (OSError, UnicodeEncodeError) as error:
            raise TopicError(f"cannot write {path}: {error}") from error


def topic_to_json(topic: Topic) -> dict[str, Any]:
    """The topic as the file has it."""
    return {
        "version": FORMAT_VERSION,
        "name": topic.name,
        "words": list(topic.words),
        "automatic": topic.counts_unconfirmed_terms,
        "tree": list(topic.term_tree),
        "terms": [_common_fields(term) | {"text": term.text, "class": term.term_class} for term in topic.terms],
        "seeds": [_common_fields(seed) | {"url": seed.url} for seed in topic.seeds],
        "examples": [
            {
                "url": example.url,
                "title": example.title,
                "description": example.description,
                "blocks": list(example.blocks),
            }
            for example in topic.examples
        ],
    }


def _common_fields(item: TopicTerm | TopicSeed) -> dict[str, Any]:
    return {"state": item.state, "origin": item.origin, "score": round(item.score, 6), "evidence": item.evidence}


def parse_topic(text: str, file_name: str, name: str) -> Topic:
    """The topic that a file holds. TopicError says what is wrong in which field."""
    try:
        data = json.loads(text)
    except ValueError as error:
        raise TopicError(f"{file_name} is not JSON: {error}") from error
    document = JsonObject(data, file_name, "")
    if document.number("version") != FORMAT_VERSION:
        raise TopicError(
            f"{file_name}: version is {data['version']!r}, this program knows {FORMAT_VERSION}: update the program"
        )
    if document.text("name") != name:
        raise TopicError(f"{file_name}: name is {data['name']!r}: it must be that of the file, {name!r}")
    terms = tuple(_parse_term(item) for item in document.object_array("terms"))
    if len(terms) > MAX_TERMS:
        raise TopicError(f"{file_name}: terms are {len(terms)}: {MAX_TERMS} at most")
    return Topic(
        name=name,
        words=document.text_array("words"),
        terms=terms,
        seeds=tuple(_parse_seed(item) for item in document.object_array("seeds")),
        examples=tuple(_parse_example(item) for item in document.object_array("examples")),
        term_tree=document.text_array("tree"),
        counts_unconfirmed_terms=document.boolean("automatic"),
    )


def _parse_term(row: "JsonObject") -> TopicTerm:
    text = row.text("text")
    if not 0 < len(text.strip()) <= MAX_TERM_CHARS:
        raise row.field_error("text", f"a term of 1 to {MAX_TERM_CHARS} characters")
    kind, state = row.enum_value("class", TopicTermClass), row.enum_value("state", TopicState)
    return TopicTerm(text, kind, state, row.text("origin"), row.number("score"), row.text("evidence"))


def _parse_seed(row: "JsonObject") -> TopicSeed:
    state = row.enum_value("state", TopicState)
    return TopicSeed(row.text("url"), state, row.text("origin"), row.number("score"), row.text("evidence"))


def _parse_example(row: "JsonObject") -> ExamplePage:
    blocks = row.array("blocks")
    for block in blocks:
        if not (
            isinstance(block, list) and len(block) == 3 and isinstance(block[0], str) and isinstance(block[2], str)
        ):
            raise row.field_error("blocks", "lists of kind, weight and text")
        if not isinstance(block[1], int | float) or isinstance(block[1], bool):
            raise row.field_error("blocks", "lists of kind, weight and text")
    return ExamplePage(
        row.text("url"),
        row.text("title"),
        row.text("description"),
        tuple((kind, float(weight), text) for kind, weight, text in blocks),
    )


class JsonObject:
    """An object of the file, with its place in it. Every question raises TopicError where the answer is not as it has
    to be."""

    def __init__(self, value: object, file: str, json_path: str) -> None:
        if not isinstance(value, dict):
            raise TopicError(f"{file}: {json_path or 'the file'} must be an object")
        self._values: Mapping[str, Any] = value
        self._file = file
        self._json_path = json_path

    def field_error(self, field: str, expected: str) -> TopicError:
        """The error for a field."""
        json_path = f"{self._json_path}.{field}" if self._json_path else field
        actual = repr(self._values.get(field))[:60] if field in self._values else "missing"
        return TopicError(f"{self._file}: {json_path} is {actual}: expected {expected}")

    def text(self, field: str) -> str:
        """A text."""
        value = self._values.get(field)
        if not isinstance(value, str):
            raise self.field_error(field, "text")
        return value

    def number(self, field: str) -> float:
        """A number."""
        value = self._values.get(field)
        if not isinstance(value, int | float) or isinstance(value, bool):
            raise self.field_error(field, "a number")
        return float(value)

    def boolean(self, field: str) -> bool:
        """Yes or no."""
        value = self._values.get(field)
        if not isinstance(value, bool):
            raise self.field_error(field, "true or false")
        return value

    def enum_value(self, field: str, enum_type: type[EnumType]) -> EnumType:
        """One of some words."""
        value = self._values.get(field)
        if value not in set(enum_type):
            raise self.field_error(field, f"one of {', '.join(enum_type)}")
        return enum_type(value)

    def array(self, field: str) -> list[Any]:
        """A list."""
        value = self._values.get(field)
        if not isinstance(value, list):
            raise self.field_error(field, "a list")
        return value

    def text_array(self, field: str) -> tuple[str, ...]:
        """A list of texts."""
        values = self.array(field)
        if not all(isinstance(value, str) for value in values):
            raise self.field_error(field, "a list of texts")
        return tuple(values)

    def object_array(self, field: str) -> list["JsonObject"]:
        """A list of objects."""
        return [JsonObject(value, self._file, f"{field}[{index}]") for index, value in enumerate(self.array(field))]
