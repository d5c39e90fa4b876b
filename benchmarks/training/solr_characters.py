"""Generate `solr_conf/lang/characters.txt`: the characters that Solr replaces as `text.folding` does.

    python -m benchmarks.training.solr_characters

Generate it again after an update of OpenCC. A test compares the two.
"""

from solr_conf import CONFIGSET_DIR
from text.folding import INVISIBLE_RE, PLAIN_SIGNS, SIMPLIFIED_BY_TRADITIONAL

OUT = CONFIGSET_DIR / "lang" / "characters.txt"


def render_solr_mapping() -> str:
    """Render the characters that Solr replaces before NFKC, in the format of its MappingCharFilter."""
    invisible_chars = (
        chr(code) for code in (*range(0x10000), *range(0xE0100, 0xE01F0)) if INVISIBLE_RE.match(chr(code))
    )
    pairs = {**dict.fromkeys(invisible_chars, ""), **PLAIN_SIGNS, **SIMPLIFIED_BY_TRADITIONAL}
    lines = "".join(f'"{_escape(old)}" => "{new}"\n' for old, new in sorted(pairs.items()))
    return f"# Characters and their plain form, by text/folding.py; Chinese from OpenCC (Apache License 2.0).\n{lines}"


def _escape(char: str) -> str:
    """Return a character as Java writes it in UTF-16 units, if it is invisible; else the character."""
    units = char.encode("utf-16-be")
    return (
        "".join(f"\\u{units[n : n + 2].hex()}" for n in range(0, len(units), 2)) if INVISIBLE_RE.match(char) else char
    )


if __name__ == "__main__":
    OUT.write_text(render_solr_mapping(), "utf-8")
