"""Splitting markup into tokens gives the same tokens as TOKEN_RE."""

import random

import pytest

from extractor.page.tokenizer import TOKEN_RE, parse_odd_start_tag, tokenize_markup

PIECES = (
    "<div>", "<br/>", "</div>", '<li class="a b">', "text", " \n", "<x-note/>", "</x-note>", '<a href="/1">', "</a>",
    '<img src="x"/>', "<o:p>", "<div\u3000x>", "</div\u3000x>", "<p\xa0/>", '<a b<c="1">', "<q<r>", "</q<r>", "中文",
)  # fmt: skip


def split_tokens(markup: str) -> list[tuple[str, str, str]]:
    """Name, attributes and text of each token, as layout_builder.py reads them; end tags have no attributes."""
    tokens = []
    for token in tokenize_markup(markup):
        head, _, text = token.partition(">")
        name, _, attributes = head.partition(" ")
        if not name.isalnum() and name[0] != "/":
            name, attributes = parse_odd_start_tag(head)
        tokens.append((name, attributes, text))
    return tokens


@pytest.mark.parametrize("seed", range(200))
def test_tokens_equal_the_matches_of_the_pattern(seed: int) -> None:
    chance = random.Random(seed)
    markup = "<html>" + "".join(chance.choice(PIECES) for _ in range(chance.randrange(40))) + "</html>"
    expected = [
        (name, "" if name[0] == "/" else attributes, text) for name, attributes, text in TOKEN_RE.findall(markup)
    ]
    assert split_tokens(markup) == expected
