"""Words whose sign is part of the name (`C++`, `C#`, `.NET`, `K+`): a tokenizer drops the sign.

The index has them in a field of their own, and a query with such a word requires it.
"""

import re

from text.folding import fold_term
from text.scripts import ALPHABETIC, UNSPACED_SCRIPTS

MAX_SIGN_WORDS = 1000
"""Sign words of one text."""

_LETTER = rf"[^\W\d_{UNSPACED_SCRIPTS}]"
SIGN_WORD = (
    rf"(?<![.+#])(?<!{ALPHABETIC})"
    rf"(?:{_LETTER}{ALPHABETIC}{{0,19}}(?:\+\+?|#)|\.{_LETTER}{{2,20}})"
    rf"(?![+#])(?!{ALPHABETIC})"
)
"""Regex of a word that ends in `+`, `++` or `#`, or begins with a dot."""

_SIGN_RE = re.compile(r"[+#]|(?<![\w.])\.\w")  # most texts have none
_SIGN_WORD_RE = re.compile(SIGN_WORD)


def find_sign_words(text: str) -> list[str]:
    """Return the distinct sign words of a text (`text.folding.normalize_text`), folded, in order.

    At most `MAX_SIGN_WORDS` are returned.
    """
    if not _SIGN_RE.search(text):
        return []
    return list(dict.fromkeys(fold_term(match[0]) for match in _SIGN_WORD_RE.finditer(text)))[:MAX_SIGN_WORDS]
