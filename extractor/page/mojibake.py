"""Text that was encoded twice: UTF-8, read as windows-1252 or Latin-1, and written as UTF-8 again.

    donâ€™t, cafÃ©, ä¸­æ–‡          don't, café, 中文

It is undone only where it certainly is that: a run of text without markup, all of whose characters beyond ASCII make
UTF-8 of bytes again, on a page where ftfy (https://ftfy.readthedocs.io) finds at least one of them to be no text that
people write. A page that speaks of such damage is left alone: it shows it on purpose.
"""

import re

from ftfy import bad_codecs
from ftfy.badness import is_bad

bad_codecs.ok()  # the codecs of windows-1252 in which every byte has a character, as browsers read it
MISREAD_ENCODINGS = ("sloppy-windows-1252", "latin-1")
# In UTF-8: a letter that stands for the first byte of two to four, and a sign that stands for the next.
MOJIBAKE_BYTES_RE = re.compile(rb"\xc3[\x82-\xb4](?:\xc2[\x80-\xbf]|\xc5|\xc6|\xcb|\xe2[\x80\x82\x84])")
TEXT_RUN_RE = re.compile(r"<[^>]*>|[^<]+")  # of a page
SCRIPT_VALUE_RE = re.compile(r'"[^"]*"|[^"]+')  # of a script
TAG_RE = re.compile(r"<[^>]*>")
MENTIONS_ENCODING_RE = re.compile(
    r"mojibake|\butf-?8\b|charset|character encoding|double[- ]encod|windows-1252|iso-8859|latin-?1\b|"
    "乱码|亂碼|文字化け",
    re.I,
)


def fix_double_encoding(text: str, scripts: tuple[str, ...], raw: bytes) -> tuple[str, tuple[str, ...]]:
    """A page and its scripts with what was encoded twice undone; `raw` is the text in UTF-8."""
    if MOJIBAKE_BYTES_RE.search(raw) is None:  # nearly all pages
        return text, scripts
    runs = [run for run in TEXT_RUN_RE.findall(text) if not run.isascii()]
    if not any(is_bad(run) and decode_misread(run) for run in runs) or MENTIONS_ENCODING_RE.search(
        TAG_RE.sub(" ", text)
    ):
        return text, scripts
    return TEXT_RUN_RE.sub(fix_run, text), tuple(SCRIPT_VALUE_RE.sub(fix_run, script) for script in scripts)


def fix_run(match: re.Match[str]) -> str:
    """A run as it was meant."""
    return match[0] if match[0].isascii() else decode_misread(match[0]) or match[0]


def decode_misread(run: str) -> str:
    """What a run was before it was misread; "" where it is not that."""
    for name in MISREAD_ENCODINGS:
        try:
            return run.encode(name).decode("utf-8")
        except UnicodeError:
            continue
    return ""
