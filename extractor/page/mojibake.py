"""Repairs double-encoded text: UTF-8 that was read as windows-1252 or Latin-1 and written as UTF-8 again.

    donâ€™t, cafÃ©, ä¸­æ–‡          don't, café, 中文

A text run (text without markup) is repaired only if all its non-ASCII characters re-encode to valid UTF-8, and ftfy
(https://ftfy.readthedocs.io) rates at least one run of the page as mojibake. Pages that mention encodings are not
changed: they may show mojibake on purpose.
"""

import re

from ftfy import bad_codecs
from ftfy.badness import is_bad

bad_codecs.ok()  # registers the variant of windows-1252 in which every byte has a character, as in browsers
MISREAD_ENCODINGS = ("sloppy-windows-1252", "latin-1")
# In UTF-8: a letter that represents the first byte of a multibyte character, and a character for the next byte.
MOJIBAKE_BYTES_RE = re.compile(rb"\xc3[\x82-\xb4](?:\xc2[\x80-\xbf]|\xc5|\xc6|\xcb|\xe2[\x80\x82\x84])")
TEXT_RUN_RE = re.compile(r"<[^>]*>|[^<]+")  # of a page
SCRIPT_VALUE_RE = re.compile(r'"[^"]*"|[^"]+')  # of a script
TAG_RE = re.compile(r"<[^>]*>")
MENTIONS_ENCODING_RE = re.compile(
    r"mojibake|\butf-?8\b|charset|character encoding|double[- ]encod|windows-1252|iso-8859|latin-?1\b|"
    "乱码|亂碼|文字化け",
    re.I,
)


def fix_double_encoding(text: str, scripts: tuple[str, ...]) -> tuple[str, tuple[str, ...]]:
    """Repair double encoding in a page that contains MOJIBAKE_BYTES_RE, and in its JSON-LD scripts.

    Returns:
        Text and scripts, unchanged if the page has no double encoding.
    """
    runs = [run for run in TEXT_RUN_RE.findall(text) if not run.isascii()]
    if not any(is_bad(run) and decode_misread(run) for run in runs) or MENTIONS_ENCODING_RE.search(
        TAG_RE.sub(" ", text)
    ):
        return text, scripts
    return TEXT_RUN_RE.sub(fix_run, text), tuple(SCRIPT_VALUE_RE.sub(fix_run, script) for script in scripts)


def fix_run(match: re.Match[str]) -> str:
    """Return the repaired run of a match, or the run itself if it is not double-encoded."""
    return match[0] if match[0].isascii() else decode_misread(match[0]) or match[0]


def decode_misread(run: str) -> str:
    """Return the original text of a double-encoded run, or an empty string if it is not double-encoded."""
    for name in MISREAD_ENCODINGS:
        try:
            return run.encode(name).decode("utf-8")
        except UnicodeError:
            continue
    return ""
