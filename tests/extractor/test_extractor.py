"""docs/develop/extractor.md: its examples run, and it names every field, reason, method and setting."""

import doctest
import re
from dataclasses import fields
from pathlib import Path

import pytest

from domain.article import Article, Block, BlockKind
from extractor import ExtractSettings, extract
from extractor.body_methods import BODY_METHODS

DOCUMENT = Path(__file__).resolve().parents[2] / "docs" / "develop" / "extractor.md"
TEXT = DOCUMENT.read_text(encoding="utf-8")


def test_the_examples_run() -> None:
    result = doctest.testfile(str(DOCUMENT), module_relative=False, encoding="utf-8")
    assert result.attempted > 15
    assert result.failed == 0


@pytest.mark.parametrize("kind", [Article, Block, ExtractSettings], ids=lambda kind: kind.__name__)
def test_every_field_is_named(kind: type) -> None:
    named = set(re.findall(r"`(\w+)`", TEXT))
    assert not {field.name for field in fields(kind)} - named


def test_every_method_and_every_kind_of_block_is_named() -> None:
    assert set(re.findall(r"^\| `(\w+)` \|", section("Methods"), re.M)) - {"method"} == set(BODY_METHODS)
    assert {kind.value for kind in BlockKind} <= set(re.findall(r"`(\w+)`", section("Blocks")))


@pytest.mark.parametrize(
    ("page", "reason"),
    [
        (b"", "empty"), ("<!-- x -->", "unparsable"), (b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 9, "undecodable"),
        ("<p>x</p>", "no_body"), ("<p>版权所有 某某网 京ICP备12345678号</p>", "copyright_only"),
    ],
    ids=lambda value: value if isinstance(value, str) and value.islower() else "",
)  # fmt: skip
def test_every_reason_is_documented(page: bytes | str, reason: str) -> None:
    found = extract(page, "")
    assert not isinstance(found, Article)
    assert found.reason.value == reason
    assert f"| `{reason}` |" in section("When there is no article")


def section(title: str) -> str:
    """Return the part of the document below a heading."""
    return TEXT.split(f"\n## {title}", 1)[1].split("\n## ", 1)[0]
