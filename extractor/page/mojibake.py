"""Repairs double-encoded text: UTF-8 or GBK that was read as a Latin encoding and written as UTF-8.

    donâ€™t, cafÃ©, ä¸­æ–‡          don't, café, 中文
    ÖÐÎÄ                          中文

A text run (text without markup) is repaired only if all its non-ASCII characters re-encode to valid UTF-8 or GBK, and
ftfy (https://ftfy.readthedocs.io) rates at least one run of the page as mojibake. Pages that mention encodings are not
changed: they may show mojibake on purpose.
"""

import re
from functools import partial

from ftfy import bad_codecs
from ftfy.badness import is_bad

bad_codecs.ok()  # registers the variant of windows-1252 in which every byte has a character, as in browsers
# Encoding of the text in bytes that prove it, encoding of all its text, and the Latin encodings as which it was read.
MISREAD_ENCODINGS = (
    ("utf-8", "utf-8", ("sloppy-windows-1252", "latin-1")),
    ("gb2312", "gb18030", ("iso-8859-15", "sloppy-windows-1252", "latin-1")),
)
# In UTF-8: a letter that represents the first byte of a multibyte character, and a character for the next byte; or a
# run of letters, as which GBK is read. The pattern begins with a fixed byte: the re module finds that much faster.
MOJIBAKE_BYTES_RE = re.compile(
    rb"\xc3(?:[\x82-\xb4](?:\xc2[\x80-\xbf]|\xc5|\xc6|\xcb|\xe2[\x80\x82\x84])|"
    rb"[\x80-\xbf](?:[\xc2\xc3\xc5][\x80-\xbf]){5})"
)
TEXT_RUN_RE = re.compile(r"<[^<>]*+>|[^<]+")  # of a page
SCRIPT_VALUE_RE = re.compile(r'"[^"]*"|[^"]+')  # of a script
TAG_RE = re.compile(r"<[^<>]*+>")
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
    bad_runs = [run for run in runs if is_bad(run)]
    for strict_encoding, encoding, latin_encodings in MISREAD_ENCODINGS:
        if any(decode_misread(run, strict_encoding, latin_encodings) for run in bad_runs):
            if MENTIONS_ENCODING_RE.search(TAG_RE.sub(" ", text)):
                break
            fix = partial(fix_run, encoding=encoding, latin_encodings=latin_encodings)
            return TEXT_RUN_RE.sub(fix, text), tuple(SCRIPT_VALUE_RE.sub(fix, script) for script in scripts)
    return text, scripts


def fix_run(match: re.Match[str], encoding: str, latin_encodings: tuple[str, ...]) -> str:
    """Return the repaired run of a match, or the run itself if it is not double-encoded."""
    return match[0] if match[0].isascii() else decode_misread(match[0], encoding, latin_encodings) or match[0]


def decode_misread(run: str, encoding: str, latin_encodings: tuple[str, ...]) -> str:
    """Return the original text of a run in an encoding that was read as Latin, or an empty string if it was not."""
    for name in latin_encodings:
        try:
            return run.encode(name).decode(encoding)
        except UnicodeError:
            continue
    return ""
