"""Bytes to text: the one decision by which crawler and extractor read a page.

What the page says of itself (header, meta) is a hint. Byte order marks, the pattern of NUL bytes and valid UTF-8 are
proof; between the legacy encodings the text itself decides, by the share of very common characters it would have.
"""

import re
from dataclasses import dataclass

import charset_normalizer

from text.decoding.encoding_labels import find_codec, python_codec
from text.decoding.meta_charset import detect_bom, find_loose_meta_charsets, find_meta_charset

LEGACY_CODECS = ("gb18030", "big5hkscs", "cp949", "cp932", "euc_jp")
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
COMMON_CHARS_BY_CODEC = {
    "gb18030": frozenset(COMMON_SIMPLIFIED + COMMON_TRADITIONAL + CJK_MARKS),
    "hz": frozenset(COMMON_SIMPLIFIED + CJK_MARKS),
    "big5hkscs": frozenset(COMMON_TRADITIONAL + CJK_MARKS),
    "cp949": frozenset(COMMON_HANGUL + COMMON_TRADITIONAL + CJK_MARKS),
    "cp932": frozenset(KANA + COMMON_TRADITIONAL + CJK_MARKS),
    "euc_jp": frozenset(KANA + COMMON_TRADITIONAL + CJK_MARKS),
    "iso2022_jp": frozenset(KANA + COMMON_TRADITIONAL + CJK_MARKS),
}
SAMPLE_BYTES = 60_000  # bytes or characters that are enough to tell an encoding
MAX_SCORED_CHARS = 2_000  # of these, characters beyond ASCII that are read
MAX_CHECKED_CHARS = 20_000  # characters that are enough to tell a text from noise
MIN_COMMON_SHARE = 0.15  # below this share of common characters a decoding is not believed
CONFIDENT_COMMON_SHARE = 0.35  # a labelled encoding that reads this well needs no rival
LABEL_BONUS = 1.3  # a labelled encoding wins unless another reads clearly better
MAX_DAMAGED_SHARE = 0.1  # a text may lose this share of its characters and still be read
HEADER_CHARSET = re.compile(r"charset\s*=\s*[\"']?\s*([\w.:-]{2,30})", re.I)
CONTROL_BYTES = bytes((*range(0x09), *range(0x0E, 0x1B), *range(0x1C, 0x20), 0x7F))
# U+E000 to U+F8FF in UTF-8: what begins so, or goes on so
PRIVATE_USE_LEAD, PRIVATE_USE_SEQUENCE = b"\xee", re.compile(rb"\xef[\x80-\xa3]")
NON_ASCII = re.compile("[^\x00-\x7f\xa0]")
NON_ASCII_RUN = re.compile("[^\x00-\x7f\xa0]+")
BAD_CHARS = re.compile("[\ufffd\ue000-\uf8ff]")


@dataclass(frozen=True)
class Decoded:
    """A page's text and the encoding (Python's name) it was read in."""

    text: str
    encoding: str


def decode_page(body: bytes, content_type: str = "") -> Decoded | None:
    """The text of a page, or None where the bytes are no text in any encoding.

    `content_type` is the HTTP header as sent, or "". Damaged text is read with U+FFFD in place of what is broken.
    """
    decoded = (
        decode_by_bom(body) or decode_by_nul_pattern(body) or decode_by_shift_sequences(body) or decode_as_utf8(body)
    )
    if decoded is None:
        labels = declared_codecs(body, content_type)
        decoded = decode_by_common_chars(body, labels) or decode_by_label(body, labels) or decode_by_detection(body)
    return decoded if decoded is not None and is_text(decoded.text) else None


def is_ascii_based(body: bytes) -> bool:
    """A `<` is a `<` in these bytes: neither UTF-16 or UTF-32, nor an encoding with shift sequences."""
    return b"\x00" not in body and not (body.isascii() and (b"\x1b$" in body or b"~{" in body))


def declared_codecs(body: bytes, content_type: str) -> tuple[str, ...]:
    """What header and page say, header first, as Python's codecs; labels nobody knows are left out."""
    labels = [
        *HEADER_CHARSET.findall(content_type)[:1],
        find_meta_charset(body),
        *find_loose_meta_charsets(body[:SAMPLE_BYTES])[:2],
    ]
    return tuple(dict.fromkeys(codec for label in labels if (codec := find_codec(label))))


def decode_by_bom(body: bytes) -> Decoded | None:
    """The encoding named by a byte order mark, if the rest keeps to it."""
    bom_name, length = detect_bom(body)
    if not bom_name:
        return None
    decoded = decode_leniently(body[length:], python_codec(bom_name) or bom_name)
    return decoded if damaged_share(decoded.text) <= MAX_DAMAGED_SHARE else None


def decode_by_nul_pattern(body: bytes) -> Decoded | None:
    """UTF-16 without a mark: its ASCII markup has a NUL in every second place."""
    if b"\x00" not in body:
        return None
    sample = body[:SAMPLE_BYTES]
    even, odd = sample[0::2].count(0), sample[1::2].count(0)
    markup, name = (b"\x00<", "utf-16-be") if even > odd else (b"<\x00", "utf-16-le")
    if even + odd < len(sample) / 50 or min(even, odd) * 10 > max(even, odd) or markup not in sample:
        return None
    decoded = decode_leniently(body, name)
    return decoded if damaged_share(decoded.text) <= MAX_DAMAGED_SHARE else None


def decode_by_shift_sequences(body: bytes) -> Decoded | None:
    """Seven-bit encodings (HZ, ISO-2022-JP): pure ASCII bytes with their shift sequences."""
    if not body.isascii():
        return None
    for shift_sequence, name in ((b"~{", "hz"), (b"\x1b$", "iso2022_jp")):
        if shift_sequence in body:
            decoded = decode_strictly(body, name)
            if decoded and NON_ASCII.search(decoded.text) and common_char_share(decoded) >= MIN_COMMON_SHARE:
                return decoded
    return None


def decode_as_utf8(body: bytes) -> Decoded | None:
    """Valid UTF-8 is no accident; so is UTF-8 with a few broken bytes, or cut at its end."""
    decoded = decode_strictly(body, "utf-8")
    if decoded is None:
        decoded = decode_leniently(body, "utf-8")
        broken, non_ascii_count = decoded.text.count("\ufffd"), sum(map(len, NON_ASCII_RUN.findall(decoded.text)))
        if broken * 10 > non_ascii_count:
            return None
    return decoded


def decode_by_common_chars(body: bytes, labels: tuple[str, ...]) -> Decoded | None:
    """The legacy East Asian encoding in which the text reads best, with a bonus for what the page says of itself."""
    sample = body[:SAMPLE_BYTES]
    for name in labels:
        if name in LEGACY_CODECS and common_char_share(decode_leniently(sample, name)) >= CONFIDENT_COMMON_SHARE:
            return decode_leniently(body, name)
    scores = {
        name: common_char_share(decode_leniently(sample, name)) * (LABEL_BONUS if name in labels else 1.0)
        for name in LEGACY_CODECS
    }
    best = max(scores, key=lambda name: scores[name])
    return decode_leniently(body, best) if scores[best] >= MIN_COMMON_SHARE else None


def decode_by_label(body: bytes, labels: tuple[str, ...]) -> Decoded | None:
    """The first label under which every byte has a meaning."""
    candidates = (decode_strictly(body, name) for name in labels)
    return next((text for text in candidates if text is not None and damaged_share(text.text) == 0), None)


def decode_by_detection(body: bytes) -> Decoded | None:
    """What charset-normalizer makes of it: the single-byte encodings of the rest of the world."""
    best = charset_normalizer.from_bytes(body[:SAMPLE_BYTES]).best()
    return decode_leniently(body, best.encoding) if best is not None else None


def common_char_share(decoded: Decoded) -> float:
    """Share of very common characters among the non-ASCII ones, 0 to 1; broken and private ones count against."""
    non_ascii_chars = "".join(NON_ASCII_RUN.findall(decoded.text))[:MAX_SCORED_CHARS]
    if not non_ascii_chars:
        return 0.0
    common_count = sum(map(COMMON_CHARS_BY_CODEC[decoded.encoding].__contains__, non_ascii_chars))
    bad_count = len(BAD_CHARS.findall(non_ascii_chars))
    return max(0.0, common_count - 5 * bad_count) / len(non_ascii_chars)


def decode_strictly(body: bytes, name: str) -> Decoded | None:
    """Decoded without any error, or None."""
    try:
        return Decoded(body.decode(name), name)
    except UnicodeError:
        return None


def decode_leniently(body: bytes, name: str) -> Decoded:
    """Decoded with U+FFFD for every broken byte."""
    return Decoded(body.decode(name, "replace"), name)


def damaged_share(text: str) -> float:
    """Share of broken, control and private characters, 0 to 1; of noise read as UTF-16 a tenth are private."""
    raw = text.encode("utf-8", "surrogatepass")
    controls = len(raw) - len(raw.translate(None, CONTROL_BYTES))
    private = raw.count(PRIVATE_USE_LEAD) + len(PRIVATE_USE_SEQUENCE.findall(raw))
    return (text.count("\ufffd") + controls + private) / max(1, len(text))


def is_text(text: str) -> bool:
    """False for pictures, archives and other bytes that no encoding makes readable."""
    return damaged_share(text[:MAX_CHECKED_CHARS].replace("\x00", "")) <= MAX_DAMAGED_SHARE
