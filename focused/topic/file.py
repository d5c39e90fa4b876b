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
from docstore.topics import ExamplePage, Topic, TopicSeed, TopicState, TopicTerm, TopicTermClass

VERSION = 1
LONGEST_NAME = 60
LONGEST_TERM = 64  # characters, as the segmenter's words
MAX_TERMS = 20_000
_NAME = re.compile(r"\w[\w .+-]*")
_WAIT = 30.0  # seconds for another process that writes the same topic
E = TypeVar("E", bound=StrEnum)


class TopicFiles:
    """The topics of a vertical. Every change reads the file, changes it and writes it whole, one process at a time."""

    def __init__(self, data_dir: Path) -> None:
        self._data_dir = data_dir
        self._folder = data_dir / "topics"

    def names(self) -> list[str]:
        """The names of all topics."""
        return sorted(path.stem for path in self._folder.glob("*.json"))

    def path(self, name: str) -> Path:
        """The file of a topic. TopicError for a name that no file can have."""
        if not _NAME.fullmatch(name) or len(name) > LONGEST_NAME or name.endswith((" ", ".")):
            raise TopicError(
                f"{name[:80]!r} cannot name a topic: letters, digits, blanks and . + - _ can, {LONGEST_NAME} at most"
            )
        return self._folder / f"{name}.json"

    def read(self, name: str) -> Topic:
        """A topic. TopicError naming file and field where there is none or it is not valid."""
        path = self.path(name)
        try:
            text = path.read_text(encoding="utf-8-sig")
        except FileNotFoundError:
            there = ", ".join(self.names()) or "none yet"
            raise TopicError(
                f"there is no topic {name} ({path}); there is: {there}. Make it with plumb topic init"
            ) from None
        except (OSError, UnicodeDecodeError) as error:
            raise TopicError(f"cannot read {path}: {error}") from error
        return parsed(text, str(path), name)

    def create(self, topic: Topic) -> None:
        """Write a new topic. TopicError if there is one of this name."""
        path = self.path(topic.name)
        with stage_lock(self._data_dir, "topics", _WAIT):
            if path.exists():
                raise TopicError(f"there is a topic {topic.name} already ({path}): it was left as it is")
            self._write(topic, path)

    def change(self, name: str, how: Callable[[Topic], Topic]) -> Topic:
        """Change a topic; what `how` raises leaves it as it was. Returns the topic as it is now."""
        with stage_lock(self._data_dir, "topics", _WAIT):
            topic = how(self.read(name))
            self._write(topic, self.path(name))
        return topic

    def _write(self, topic: Topic, path: Path) -> None:
        text = json.dumps(as_json(topic), ensure_ascii=False, indent=1) + "\n"
        new = path.with_name(f"{path.name}.new")
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            new.write_text(text, encoding="utf-8")
            os.replace(new, path)
        except (OSError, UnicodeEncodeError) as error:
            raise TopicError(f"cannot write {path}: {error}") from error


def as_json(topic: Topic) -> dict[str, Any]:
    """The topic as the file has it."""
    return {
        "version": VERSION,
        "name": topic.name,
        "words": list(topic.words),
        "automatic": topic.automatic,
        "tree": list(topic.tree),
        "terms": [_shared(term) | {"text": term.text, "class": term.kind} for term in topic.terms],
        "seeds": [_shared(seed) | {"url": seed.url} for seed in topic.seeds],
        "examples": [
            {"url": one.url, "title": one.title, "description": one.description, "blocks": list(one.blocks)}
            for one in topic.examples
        ],
    }


def _shared(one: TopicTerm | TopicSeed) -> dict[str, Any]:
    return {"state": one.state, "origin": one.origin, "score": round(one.score, 6), "evidence": one.evidence}


def parsed(text: str, file: str, name: str) -> Topic:
    """The topic that a file holds. TopicError says what is wrong in which field."""
    try:
        given = json.loads(text)
    except ValueError as error:
        raise TopicError(f"{file} is not JSON: {error}") from error
    row = Row(given, file, "")
    if row.number("version") != VERSION:
        raise TopicError(f"{file}: version is {given['version']!r}, this program knows {VERSION}: update the program")
    if row.text("name") != name:
        raise TopicError(f"{file}: name is {given['name']!r}: it must be that of the file, {name!r}")
    terms = tuple(_term(one) for one in row.rows("terms"))
    if len(terms) > MAX_TERMS:
        raise TopicError(f"{file}: terms are {len(terms)}: {MAX_TERMS} at most")
    return Topic(
        name=name,
        words=row.texts("words"),
        terms=terms,
        seeds=tuple(_seed(one) for one in row.rows("seeds")),
        examples=tuple(_example(one) for one in row.rows("examples")),
        tree=row.texts("tree"),
        automatic=row.flag("automatic"),
    )


def _term(row: "Row") -> TopicTerm:
    text = row.text("text")
    if not 0 < len(text.strip()) <= LONGEST_TERM:
        raise row.wrong("text", f"a term of 1 to {LONGEST_TERM} characters")
    kind, state = row.choice("class", TopicTermClass), row.choice("state", TopicState)
    return TopicTerm(text, kind, state, row.text("origin"), row.number("score"), row.text("evidence"))


def _seed(row: "Row") -> TopicSeed:
    state = row.choice("state", TopicState)
    return TopicSeed(row.text("url"), state, row.text("origin"), row.number("score"), row.text("evidence"))


def _example(row: "Row") -> ExamplePage:
    blocks = row.listed("blocks")
    for block in blocks:
        if not (
            isinstance(block, list) and len(block) == 3 and isinstance(block[0], str) and isinstance(block[2], str)
        ):
            raise row.wrong("blocks", "lists of kind, weight and text")
        if not isinstance(block[1], int | float) or isinstance(block[1], bool):
            raise row.wrong("blocks", "lists of kind, weight and text")
    return ExamplePage(
        row.text("url"),
        row.text("title"),
        row.text("description"),
        tuple((kind, float(weight), text) for kind, weight, text in blocks),
    )


class Row:
    """An object of the file, with its place in it. Every question raises TopicError where the answer is not as it has
    to be."""

    def __init__(self, given: object, file: str, place: str) -> None:
        if not isinstance(given, dict):
            raise TopicError(f"{file}: {place or 'the file'} must be an object")
        self._given: Mapping[str, Any] = given
        self._file = file
        self._place = place

    def wrong(self, field: str, wanted: str) -> TopicError:
        """The error for a field."""
        place = f"{self._place}.{field}" if self._place else field
        found = repr(self._given.get(field))[:60] if field in self._given else "missing"
        return TopicError(f"{self._file}: {place} is {found}: expected {wanted}")

    def text(self, field: str) -> str:
        """A text."""
        value = self._given.get(field)
        if not isinstance(value, str):
            raise self.wrong(field, "text")
        return value

    def number(self, field: str) -> float:
        """A number."""
        value = self._given.get(field)
        if not isinstance(value, int | float) or isinstance(value, bool):
            raise self.wrong(field, "a number")
        return float(value)

    def flag(self, field: str) -> bool:
        """Yes or no."""
        value = self._given.get(field)
        if not isinstance(value, bool):
            raise self.wrong(field, "true or false")
        return value

    def choice(self, field: str, kind: type[E]) -> E:
        """One of some words."""
        value = self._given.get(field)
        if value not in set(kind):
            raise self.wrong(field, f"one of {', '.join(kind)}")
        return kind(value)

    def listed(self, field: str) -> list[Any]:
        """A list."""
        value = self._given.get(field)
        if not isinstance(value, list):
            raise self.wrong(field, "a list")
        return value

    def texts(self, field: str) -> tuple[str, ...]:
        """A list of texts."""
        values = self.listed(field)
        if not all(isinstance(value, str) for value in values):
            raise self.wrong(field, "a list of texts")
        return tuple(values)

    def rows(self, field: str) -> list["Row"]:
        """A list of objects."""
        return [Row(value, self._file, f"{field}[{place}]") for place, value in enumerate(self.listed(field))]
