"""Bytes to text: the one decision by which crawler and extractor read a page.

What the page says of itself (header, meta) is a hint. Byte order marks, the pattern of NUL bytes and valid UTF-8 are
proof; between the legacy encodings the text itself decides, by the share of very common characters it would have.
"""

import re
from dataclasses import dataclass

import charset_normalizer

from text.decoding.declared_encoding import bom_encoding, declared_encoding, loosely_declared
from text.decoding.encoding_labels import any_codec, codec_of

LEGACY = ("gb18030", "big5hkscs", "cp949", "cp932", "euc_jp")
# The commonest characters of each script; running text has two to five of them in ten characters.
COMMON_SIMPLIFIED = (
    "的一是不了在人有我他这个们中来上大为和国地到以说时要就出会可也你对生能而子那得于着下自之年过发后作里用道"
    "行所然家种事成方多经么去法学如都同现当没动面起看定天分还进好小部其些主样理心她本前开但因只从想实日军者意"
    "无力它与长把机十民第公此已工使情明性知全三又关点正业外将两高间由问很最重并物手应战向头文体政美相见被利什"
    "二等产或新己制身果加西斯月话合回特代内信表化老给世位次度门任常先海通教儿原东声提立及比员解水名真论处走义"
    "各入几口认条平系气题活尔更别打女变四神总何电数安少报才结反受目太量再感建务做接必场件计管期市直德资命山金"
)
COMMON_TRADITIONAL = (
    "的一是不了在人有我他這個們中來上大為和國地到以說時要就出會可也你對生能而子那得於著下自之年過發後作裡用道"
    "行所然家種事成方多經麼去法學如都同現當沒動面起看定天分還進好小部其些主樣理心她本前開但因只從想實日軍者意"
    "無力它與長把機十民第公此已工使情明性知全三又關點正業外將兩高間由問很最重並物手應戰向頭文體政美相見被利什"
    "二等產或新己制身果加西斯月話合回特代內信表化老給世位次度門任常先海通教兒原東聲提立及比員解水名真論處走義"
    "各入幾口認條平系氣題活爾更別打女變四神總何電數安少報才結反受目太量再感建務做接必場件計管期市直德資命山金"
)
COMMON_HANGUL = "이다의는에을를하고가은지로한인도서사기대어자일수시리해전정있그아장나스보들부주상제구게과와라면만"
KANA = "".join(map(chr, range(0x3041, 0x3097))) + "ーアイウエオカキクコサシスタッテトドナニノバフプマムメラリルレロン"
CJK_MARKS = "，。、；：？！“”‘’（）《》「」・"
COMMON = {
    "gb18030": frozenset(COMMON_SIMPLIFIED + COMMON_TRADITIONAL + CJK_MARKS),
    "hz": frozenset(COMMON_SIMPLIFIED + CJK_MARKS),
    "big5hkscs": frozenset(COMMON_TRADITIONAL + CJK_MARKS),
    "cp949": frozenset(COMMON_HANGUL + COMMON_TRADITIONAL + CJK_MARKS),
    "cp932": frozenset(KANA + COMMON_TRADITIONAL + CJK_MARKS),
    "euc_jp": frozenset(KANA + COMMON_TRADITIONAL + CJK_MARKS),
    "iso2022_jp": frozenset(KANA + COMMON_TRADITIONAL + CJK_MARKS),
}
SAMPLE = 60_000  # bytes or characters that are enough to tell an encoding
READ = 2_000  # of these, characters beyond ASCII that are read
TELLING = 20_000  # characters that are enough to tell a text from noise
MIN_COMMON = 0.15  # below this share of common characters a decoding is not believed
WELL_COMMON = 0.35  # a labelled encoding that reads this well needs no rival
LABEL_BONUS = 1.3  # a labelled encoding wins unless another reads clearly better
DAMAGE = 0.1  # a text may lose this share of its characters and still be read
HEADER = re.compile(r"charset\s*=\s*[\"']?\s*([\w.:-]{2,30})", re.I)
CONTROL = bytes((*range(0x09), *range(0x0E, 0x1B), *range(0x1C, 0x20), 0x7F))
# U+E000 to U+F8FF in UTF-8: what begins so, or goes on so
PRIVATE_LEAD, PRIVATE = b"\xee", re.compile(rb"\xef[\x80-\xa3]")
NON_ASCII = re.compile("[^\x00-\x7f\xa0]")
NON_ASCII_RUN = re.compile("[^\x00-\x7f\xa0]+")
BAD = re.compile("[\ufffd\ue000-\uf8ff]")


@dataclass(frozen=True)
class Decoded:
    """A page's text and the encoding (Python's name) it was read in."""

    text: str
    encoding: str


def decode(raw: bytes, content_type: str = "") -> Decoded | None:
    """The text of a page, or None where the bytes are no text in any encoding.

    `content_type` is the HTTP header as sent, or "". Damaged text is read with U+FFFD in place of what is broken.
    """
    found = by_bom(raw) or by_nul_pattern(raw) or by_escapes(raw) or by_utf8(raw)
    if found is None:
        labels = declared_encodings(raw, content_type)
        found = by_reading(raw, labels) or by_label(raw, labels) or by_detection(raw)
    return found if found is not None and is_text(found.text) else None


def is_ascii_based(raw: bytes) -> bool:
    """A `<` is a `<` in these bytes: neither UTF-16 or UTF-32, nor an encoding with shift sequences."""
    return b"\x00" not in raw and not (raw.isascii() and (b"\x1b$" in raw or b"~{" in raw))


def declared_encodings(raw: bytes, content_type: str) -> tuple[str, ...]:
    """What header and page say, header first, as Python's codecs; labels nobody knows are left out."""
    labels = [*HEADER.findall(content_type)[:1], declared_encoding(raw), *loosely_declared(raw[:SAMPLE])[:2]]
    return tuple(dict.fromkeys(codec for label in labels if (codec := any_codec(label))))


def by_bom(raw: bytes) -> Decoded | None:
    """The encoding named by a byte order mark, if the rest keeps to it."""
    marked, length = bom_encoding(raw)
    if not marked:
        return None
    found = lenient(raw[length:], codec_of(marked) or marked)
    return found if damage(found.text) <= DAMAGE else None


def by_nul_pattern(raw: bytes) -> Decoded | None:
    """UTF-16 without a mark: its ASCII markup has a NUL in every second place."""
    if b"\x00" not in raw:
        return None
    sample = raw[:SAMPLE]
    even, odd = sample[0::2].count(0), sample[1::2].count(0)
    markup, name = (b"\x00<", "utf-16-be") if even > odd else (b"<\x00", "utf-16-le")
    if even + odd < len(sample) / 50 or min(even, odd) * 10 > max(even, odd) or markup not in sample:
        return None
    found = lenient(raw, name)
    return found if damage(found.text) <= DAMAGE else None


def by_escapes(raw: bytes) -> Decoded | None:
    """Seven-bit encodings (HZ, ISO-2022-JP): pure ASCII bytes with their shift sequences."""
    if not raw.isascii():
        return None
    for mark, name in ((b"~{", "hz"), (b"\x1b$", "iso2022_jp")):
        if mark in raw:
            found = strict(raw, name)
            if found and NON_ASCII.search(found.text) and reading(found) >= MIN_COMMON:
                return found
    return None


def by_utf8(raw: bytes) -> Decoded | None:
    """Valid UTF-8 is no accident; so is UTF-8 with a few broken bytes, or cut at its end."""
    found = strict(raw, "utf-8")
    if found is None:
        found = lenient(raw, "utf-8")
        broken, read = found.text.count("\ufffd"), sum(map(len, NON_ASCII_RUN.findall(found.text)))
        if broken * 10 > read:
            return None
    return found


def by_reading(raw: bytes, labels: tuple[str, ...]) -> Decoded | None:
    """The legacy East Asian encoding in which the text reads best, with a bonus for what the page says of itself."""
    sample = raw[:SAMPLE]
    for name in labels:
        if name in LEGACY and reading(lenient(sample, name)) >= WELL_COMMON:
            return lenient(raw, name)
    scores = {name: reading(lenient(sample, name)) * (LABEL_BONUS if name in labels else 1.0) for name in LEGACY}
    best = max(scores, key=lambda name: scores[name])
    return lenient(raw, best) if scores[best] >= MIN_COMMON else None


def by_label(raw: bytes, labels: tuple[str, ...]) -> Decoded | None:
    """The first label under which every byte has a meaning."""
    found = (strict(raw, name) for name in labels)
    return next((text for text in found if text is not None and damage(text.text) == 0), None)


def by_detection(raw: bytes) -> Decoded | None:
    """What charset-normalizer makes of it: the single-byte encodings of the rest of the world."""
    best = charset_normalizer.from_bytes(raw[:SAMPLE]).best()
    return lenient(raw, best.encoding) if best is not None else None


def reading(found: Decoded) -> float:
    """Share of very common characters among the non-ASCII ones, 0 to 1; broken and private ones count against."""
    strange = "".join(NON_ASCII_RUN.findall(found.text))[:READ]
    if not strange:
        return 0.0
    good = sum(map(COMMON[found.encoding].__contains__, strange))
    bad = len(BAD.findall(strange))
    return max(0.0, good - 5 * bad) / len(strange)


def strict(raw: bytes, name: str) -> Decoded | None:
    """Decoded without any error, or None."""
    try:
        return Decoded(raw.decode(name), name)
    except UnicodeError:
        return None


def lenient(raw: bytes, name: str) -> Decoded:
    """Decoded with U+FFFD for every broken byte."""
    return Decoded(raw.decode(name, "replace"), name)


def damage(text: str) -> float:
    """Share of broken, control and private characters, 0 to 1; of noise read as UTF-16 a tenth are private."""
    raw = text.encode("utf-8", "surrogatepass")
    controls = len(raw) - len(raw.translate(None, CONTROL))
    private = raw.count(PRIVATE_LEAD) + len(PRIVATE.findall(raw))
    return (text.count("\ufffd") + controls + private) / max(1, len(text))


def is_text(text: str) -> bool:
    """False for pictures, archives and other bytes that no encoding makes readable."""
    return damage(text[:TELLING].replace("\x00", "")) <= DAMAGE
