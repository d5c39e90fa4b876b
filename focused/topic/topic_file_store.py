"""Topic files: `topics/NAME.json` in the data folder, one file per topic. Every field is checked on reading.

{"version": 1, "name": "地质", "words": ["地质"], "automatic": false, "tree": [],
 "terms": [{"text": "玄武岩", "class": "professional", "state": "confirmed", "origin": "operator", "score": 1.0,
            "evidence": ""}],
 "seeds": [{"url": "http://...", "state": "proposed", "origin": "index", "score": 0.7, "evidence": "..."}],
 "examples": [{"url": "http://...", "title": "...", "description": "", "blocks": [["content", 0.4, "..."]]}]}
"""

import json
import re
from collections.abc import Callable, Mapping
from enum import StrEnum
from pathlib import Path
from typing import Any, TypeGuard, TypeVar

from domain.errors import TopicError
from domain.message import parse_message, serialize_message
from domain.topic import ExamplePage, Topic, TopicSeed, TopicState, TopicTerm, TopicTermClass
from locks.file_locks import stage_lock
from locks.private_files import replace_file

FORMAT_VERSION = 1
MAX_NAME_CHARS = 60
MAX_TERM_CHARS = 64  # equals the limit of the segmenter's words
MAX_TERMS = 20_000
_NAME_PATTERN = re.compile(r"\w[\w .+-]*")
_LOCK_TIMEOUT_SECONDS = 30.0  # wait for another process that writes a topic
EnumType = TypeVar("EnumType", bound=StrEnum)


class TopicFileStore:
    """The topics of a vertical. Each change reads and rewrites the whole file under a lock between processes."""

    def __init__(self, data_dir: Path) -> None:
        self._data_dir = data_dir
        self._folder = data_dir / "topics"

    def names(self) -> list[str]:
        """Return the names of all topics, sorted."""
        return sorted(path.stem for path in self._folder.glob("*.json"))

    def path_for(self, name: str) -> Path:
        """Return the path of a topic's file.

        Raises:
            TopicError: the name is not valid as a file name.
        """
        if not _NAME_PATTERN.fullmatch(name) or len(name) > MAX_NAME_CHARS or name.endswith((" ", ".")):
            raise TopicError(
                f"{name[:80]!r} is not a valid topic name: use letters, digits, spaces and . + - _, "
                f"at most {MAX_NAME_CHARS} characters"
            )
        return self._folder / f"{name}.json"

    def read(self, name: str) -> Topic:
        """Read a topic.

        Raises:
            TopicError: the file is missing, unreadable or invalid. The message names file and field.
        """
        path = self.path_for(name)
        try:
            text = path.read_text(encoding="utf-8-sig")
        except FileNotFoundError:
            available = ", ".join(self.names()) or "none"
            raise TopicError(
                f"topic {name} not found ({path}). Existing topics: {available}. Create it with `plumb topic init`."
            ) from None
        except (OSError, UnicodeDecodeError) as error:
            raise TopicError(f"cannot read {path}: {error}") from error
        return parse_topic(text, str(path), name)

    def create(self, topic: Topic) -> None:
        """Write a new topic.

        Raises:
            TopicError: a topic of this name exists already, or the file cannot be written.
        """
        path = self.path_for(topic.name)
        with stage_lock(self._data_dir, "topics", _LOCK_TIMEOUT_SECONDS):
            if path.exists():
                raise TopicError(f"topic {topic.name} already exists ({path}); it was not changed")
            self._write(topic, path)

    def update(self, name: str, transform: Callable[[Topic], Topic]) -> Topic:
        """Apply `transform` to a topic and return the changed topic.

        The file stays unchanged if `transform` raises.
        """
        with stage_lock(self._data_dir, "topics", _LOCK_TIMEOUT_SECONDS):
            topic = transform(self.read(name))
            self._write(topic, self.path_for(name))
        return topic

    def _write(self, topic: Topic, path: Path) -> None:
        text = json.dumps(topic_to_json(topic), ensure_ascii=False, indent=1) + "\n"
        try:
            with replace_file(path, opener=None) as file:
                file.write(text.encode())
        except (OSError, UnicodeEncodeError) as error:
            raise TopicError(f"cannot write {path}: {error}") from error


def topic_to_json(topic: Topic) -> dict[str, Any]:
    """Return the topic as the JSON object of its file."""
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
    return {
        "state": item.state,
        "origin": item.origin,
        "score": round(item.score, 6),
        "evidence": serialize_message(item.evidence),
    }


def parse_topic(text: str, file_name: str, name: str) -> Topic:
    """Parse the text of a topic file.

    Args:
        text: content of the file.
        file_name: name of the file for messages.
        name: expected name of the topic.

    Raises:
        TopicError: the text is not valid. The message names the field and the problem.
    """
    try:
        data = json.loads(text)
    except ValueError as error:
        raise TopicError(f"{file_name} is not JSON: {error}") from error
    document = JsonObject(data, file_name, "")
    if document.number("version") != FORMAT_VERSION:
        raise TopicError(
            f"{file_name}: version is {data['version']!r}, but this program supports {FORMAT_VERSION}. "
            "Update the program."
        )
    if document.text("name") != name:
        raise TopicError(f"{file_name}: name is {data['name']!r}, but must match the file name, {name!r}")
    terms = tuple(_parse_term(item) for item in document.object_array("terms"))
    if len(terms) > MAX_TERMS:
        raise TopicError(f"{file_name}: {len(terms)} terms exceed the maximum of {MAX_TERMS}")
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
    return TopicTerm(text, kind, state, row.text("origin"), row.number("score"), parse_message(row.text("evidence")))


def _parse_seed(row: "JsonObject") -> TopicSeed:
    state = row.enum_value("state", TopicState)
    return TopicSeed(
        row.text("url"), state, row.text("origin"), row.number("score"), parse_message(row.text("evidence"))
    )


def _parse_example(row: "JsonObject") -> ExamplePage:
    blocks = row.array("blocks")
    for block in blocks:
        is_list = isinstance(block, list) and len(block) == 3
        if not (is_list and isinstance(block[0], str) and _is_number(block[1]) and isinstance(block[2], str)):
            raise row.field_error("blocks", "lists of kind, weight and text")
    return ExamplePage(
        row.text("url"),
        row.text("title"),
        row.text("description"),
        tuple((kind, float(weight), text) for kind, weight, text in blocks),
    )


def _is_number(value: Any) -> TypeGuard[float]:
    return isinstance(value, int | float) and not isinstance(value, bool)


class JsonObject:
    """JSON object with its path in the file. Accessors raise TopicError if a field is missing or has another type."""

    def __init__(self, value: object, file: str, json_path: str) -> None:
        if not isinstance(value, dict):
            raise TopicError(f"{file}: {json_path or 'the file'} must be an object")
        self._values: Mapping[str, Any] = value
        self._file = file
        self._json_path = json_path

    def field_error(self, field: str, expected: str) -> TopicError:
        """Return the error for a field, with its actual value and the expected type."""
        json_path = f"{self._json_path}.{field}" if self._json_path else field
        actual = repr(self._values.get(field))[:60] if field in self._values else "missing"
        return TopicError(f"{self._file}: {json_path} is {actual}: expected {expected}")

    def text(self, field: str) -> str:
        """Return the string in a field."""
        value = self._values.get(field)
        if not isinstance(value, str):
            raise self.field_error(field, "text")
        return value

    def number(self, field: str) -> float:
        """Return a numeric field as a float."""
        value = self._values.get(field)
        if not _is_number(value):
            raise self.field_error(field, "a number")
        return float(value)

    def boolean(self, field: str) -> bool:
        """Return a true or false field."""
        value = self._values.get(field)
        if not isinstance(value, bool):
            raise self.field_error(field, "true or false")
        return value

    def enum_value(self, field: str, enum_type: type[EnumType]) -> EnumType:
        """Return a string field as a member of `enum_type`."""
        value = self._values.get(field)
        if value not in set(enum_type):
            raise self.field_error(field, f"one of {', '.join(enum_type)}")
        return enum_type(value)

    def array(self, field: str) -> list[Any]:
        """Return the list in a field."""
        value = self._values.get(field)
        if not isinstance(value, list):
            raise self.field_error(field, "a list")
        return value

    def text_array(self, field: str) -> tuple[str, ...]:
        """Return a field that is a list of strings."""
        values = self.array(field)
        if not all(isinstance(value, str) for value in values):
            raise self.field_error(field, "a list of texts")
        return tuple(values)

    def object_array(self, field: str) -> list["JsonObject"]:
        """Return a field that is a list of objects."""
        return [JsonObject(value, self._file, f"{field}[{index}]") for index, value in enumerate(self.array(field))]
