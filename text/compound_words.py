"""Latin letters and digits that stand glued together, taken apart.

    pieces("hp1010win7")     -> hp, 1010, win, 7
    pieces("WorkCentre7428") -> Work, Centre, 7428
    pieces("main_mark")      -> main, mark

Solr takes the texts of documents apart by the same `WORD_PART` when it makes tokens (solr_conf/schema.xml; a test holds the
two together) and keeps the whole beside its pieces, so that what was typed as one and stored as one matches best.
"""

import re

_CAPITAL, _SMALL = "A-ZÀ-ÖØ-Þ", "a-zß-öø-ÿ"
WORD_PART = rf"[0-9]+(?:[.,][0-9]+)*|[{_CAPITAL}]{{2,}}s?(?![{_SMALL}])|[{_CAPITAL}][{_SMALL}]+|[{_SMALL}]{{2,}}"
"""Regex, for Python and Java alike: a number, an abbreviation (`HTML`, `URLs`), or a word of two letters or more."""

_COMPOUND = re.compile(rf"(?:[0-9{_CAPITAL}{_SMALL}_]|(?<=[0-9])[.,](?=[0-9]))+")
_WORD_PART = re.compile(WORD_PART)


def split_compounds(text: str) -> tuple[str, ...]:
    """The pieces of all glued words in `text`, in their order, each once; () where no word is glued of several."""
    unique_parts: dict[str, None] = {}
    for word in _COMPOUND.findall(text):
        parts = _WORD_PART.findall(word)
        if parts != [word]:
            unique_parts.update(dict.fromkeys(parts))
    return tuple(unique_parts)
