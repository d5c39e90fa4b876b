"""Split words of Latin letters and digits that are written together.

    split_compounds("hp1010win7")     -> hp, 1010, win, 7
    split_compounds("WorkCentre7428") -> Work, Centre, 7428
    split_compounds("main_mark")      -> main, mark

Solr splits document texts with the same `WORD_PART` (solr_conf/schema.xml; a test compares the two). It also indexes
the whole word, so an exact match ranks best.
"""

import re

_UPPER, _LOWER = "A-ZÀ-ÖØ-Þ", "a-zß-öø-ÿ"
WORD_PART = rf"[0-9]+(?:[.,][0-9]+)*|[{_UPPER}]{{2,}}s?(?![{_LOWER}])|[{_UPPER}][{_LOWER}]+|[{_LOWER}]{{2,}}"
"""Regex for Python and Java: a number, an abbreviation (`HTML`, `URLs`), or a word of at least two letters."""

_COMPOUND = re.compile(rf"(?:[0-9{_UPPER}{_LOWER}_]|(?<=[0-9])[.,](?=[0-9]))+")
_WORD_PART = re.compile(WORD_PART)


def split_compounds(text: str) -> tuple[str, ...]:
    """Return the parts of all compound words in `text`, in order, each once."""
    unique_parts: dict[str, None] = {}
    for word in _COMPOUND.findall(text):
        parts = _WORD_PART.findall(word)
        if parts != [word]:
            unique_parts.update(dict.fromkeys(parts))
    return tuple(unique_parts)
