"""Words whose sign is part of the name."""

import pytest

from text.sign_words import find_sign_words


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("C++ and C# in .NET, F#.", ["c++", "c#", ".net", "f#"]),
        ("用C++语言；K+和Na+离子，Ca2+", ["c++", "k+", "na+", "ca2+"]),
        ("Notepad++, C++17, A+B, 50+, a++b, ASP.NET, end.Next ... .5 C+++", ["notepad++"]),
        ("", []),
    ],
)
def test_sign_words(text: str, words: list[str]) -> None:
    assert find_sign_words(text) == words


@pytest.mark.parametrize("piece", ["a+", "a", ".", "é#", ".a", "+"])
def test_a_long_text_is_read_to_its_end(piece: str) -> None:
    assert find_sign_words(piece * 100_000 + " C++")[-1:] == ["c++"]
