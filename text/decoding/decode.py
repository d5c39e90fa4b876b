"""Decode a page from bytes to text, equally for crawler and extractor.

Declared encodings (header, meta) are hints. Byte order marks, the pattern of NUL bytes and valid UTF-8 are proof.
Legacy encodings are compared by the share of very common characters in the decoded text.
"""

import re
from dataclasses import dataclass

import charset_normalizer

from text.decoding.encoding_labels import find_codec, python_codec
from text.decoding.meta_charset import detect_bom, find_loose_meta_charsets, find_meta_charset

LEGACY_CODECS = ("gb18030", "big5hkscs", "cp949", "cp932", "euc_jp")
# The most common characters of each script. Running text contains two to five of them in ten characters.
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
SAMPLE_BYTES = 60_000  # bytes or characters; enough to detect an encoding
MAX_SCORED_CHARS = 2_000  # non-ASCII characters of the sample
MAX_CHECKED_CHARS = 20_000  # enough to distinguish text from noise
MIN_COMMON_SHARE = 0.15  # minimum share of common characters of a valid decoding
CONFIDENT_COMMON_SHARE = 0.35  # a labelled encoding with this share needs no comparison
LABEL_BONUS = 1.3  # factor; a labelled encoding wins unless another reads clearly better
MAX_DAMAGED_SHARE = 0.1  # maximum share of broken characters in a readable text
HEADER_CHARSET = re.compile(r"charset\s*+=\s*+[\"']?+\s*+([\w.:-]{2,30})", re.I)
CONTROL_BYTES = bytes((*range(0x09), *range(0x0E, 0x1B), *range(0x1C, 0x20), 0x7F))
# U+E000 to U+F8FF in UTF-8: the first byte, or the first two bytes.
PRIVATE_USE_LEAD, PRIVATE_USE_SEQUENCE = b"\xee", re.compile(rb"\xef[\x80-\xa3]")
NON_ASCII = re.compile("[^\x00-\x7f\xa0]")
NON_ASCII_RUN = re.compile("[^\x00-\x7f\xa0]+")
BAD_CHARS = re.compile("[\ufffd\ue000-\uf8ff]")


@dataclass(frozen=True)
class Decoded:
    """The text of a page and its encoding (Python codec name)."""

    text: str
    encoding: str


def decode_page(body: bytes, content_type: str = "") -> Decoded | None:
    """Decode a page. Returns None if the bytes are not text in any encoding.

    `content_type` is the HTTP header as sent, or "". Broken characters become U+FFFD.
    """
    decoded_page = (
        decode_by_bom(body) or decode_by_nul_pattern(body) or decode_by_shift_sequences(body) or decode_as_utf8(body)
    )
    if decoded_page is None:
        declared_labels = [
            *HEADER_CHARSET.findall(content_type)[:1],
            find_meta_charset(body),
            *find_loose_meta_charsets(body[:SAMPLE_BYTES])[:2],
        ]
        labels = tuple(dict.fromkeys(codec for label in declared_labels if (codec := find_codec(label))))
        decoded_page = (
            decode_by_common_chars(body, labels) or decode_by_label(body, labels) or decode_by_detection(body)
        )
    return decoded_page if decoded_page is not None and is_text(decoded_page.text) else None


def is_ascii_based(body: bytes) -> bool:
    """True if a `<` byte is always a `<`: not for UTF-16, UTF-32 and encodings with shift sequences."""
    return b"\x00" not in body and not (body.isascii() and (b"\x1b$" in body or b"~{" in body))


def decode_by_bom(body: bytes) -> Decoded | None:
    """Decode by byte order mark. Returns None if the text does not match it."""
    bom_name, length = detect_bom(body)
    if not bom_name:
        return None
    decoded_page = decode_leniently(body[length:], python_codec(bom_name) or bom_name)
    return decoded_page if damaged_share(decoded_page.text) <= MAX_DAMAGED_SHARE else None


def decode_by_nul_pattern(body: bytes) -> Decoded | None:
    """Decode UTF-16 without a byte order mark: every second byte of its ASCII markup is NUL."""
    if b"\x00" not in body:
        return None
    sample = body[:SAMPLE_BYTES]
    even, odd = sample[0::2].count(0), sample[1::2].count(0)
    markup, name = (b"\x00<", "utf-16-be") if even > odd else (b"<\x00", "utf-16-le")
    if even + odd < len(sample) / 50 or min(even, odd) * 10 > max(even, odd) or markup not in sample:
        return None
    decoded_page = decode_leniently(body, name)
    return decoded_page if damaged_share(decoded_page.text) <= MAX_DAMAGED_SHARE else None


def decode_by_shift_sequences(body: bytes) -> Decoded | None:
    """Decode seven-bit encodings (HZ, ISO-2022-JP): pure ASCII bytes with shift sequences."""
    if not body.isascii():
        return None
    for shift_sequence, name in ((b"~{", "hz"), (b"\x1b$", "iso2022_jp")):
        if shift_sequence in body:
            decoded_page = decode_strictly(body, name)
            if (
                decoded_page
                and NON_ASCII.search(decoded_page.text)
                and common_char_share(decoded_page) >= MIN_COMMON_SHARE
            ):
                return decoded_page
    return None


def decode_as_utf8(body: bytes) -> Decoded | None:
    """Decode UTF-8, also with a few broken bytes or a cut end. Valid UTF-8 does not occur by chance."""
    decoded_page = decode_strictly(body, "utf-8")
    if decoded_page is None:
        decoded_page = decode_leniently(body, "utf-8")
        text = decoded_page.text
        non_ascii_count = len(text) - len(text.encode("ascii", "ignore")) - text.count("\xa0")
        if text.count("\ufffd") * 10 > non_ascii_count:
            return None
    return decoded_page


def decode_by_common_chars(body: bytes, labels: tuple[str, ...]) -> Decoded | None:
    """Decode with the legacy East Asian encoding that reads best. Declared encodings get a bonus."""
    sample = body[:SAMPLE_BYTES]
    for name in labels:
        if name in LEGACY_CODECS:
            decoded_sample = decode_leniently(sample, name)
            if common_char_share(decoded_sample) >= CONFIDENT_COMMON_SHARE:
                return decoded_sample if len(body) <= SAMPLE_BYTES else decode_leniently(body, name)
    scores = {
        name: common_char_share(decode_leniently(sample, name)) * (LABEL_BONUS if name in labels else 1.0)
        for name in LEGACY_CODECS
    }
    best = max(scores, key=lambda name: scores[name])
    return decode_leniently(body, best) if scores[best] >= MIN_COMMON_SHARE else None


def decode_by_label(body: bytes, labels: tuple[str, ...]) -> Decoded | None:
    """Decode with the first declared encoding under which every byte is valid."""
    candidates = (decode_strictly(body, name) for name in labels)
    return next((text for text in candidates if text is not None and damaged_share(text.text) == 0), None)


def decode_by_detection(body: bytes) -> Decoded | None:
    """Decode with charset-normalizer, for the single-byte encodings of other languages."""
    best = charset_normalizer.from_bytes(body[:SAMPLE_BYTES]).best()
    return decode_leniently(body, best.encoding) if best is not None else None


def common_char_share(decoded: Decoded) -> float:
    """Share of very common characters among the non-ASCII ones, 0 to 1. Broken and private ones are penalized."""
    non_ascii_chars = "".join(NON_ASCII_RUN.findall(decoded.text))[:MAX_SCORED_CHARS]
    if not non_ascii_chars:
        return 0.0
    common_count = sum(map(COMMON_CHARS_BY_CODEC[decoded.encoding].__contains__, non_ascii_chars))
    bad_count = len(BAD_CHARS.findall(non_ascii_chars))
    return max(0.0, common_count - 5 * bad_count) / len(non_ascii_chars)


def decode_strictly(body: bytes, name: str) -> Decoded | None:
    """Decode without errors, or return None."""
    try:
        return Decoded(body.decode(name), name)
    except UnicodeError:
        return None


def decode_leniently(body: bytes, name: str) -> Decoded:
    """Decode with U+FFFD for every broken byte."""
    return Decoded(body.decode(name, "replace"), name)


def damaged_share(text: str) -> float:
    """Share of broken, control and private-use characters, 0 to 1. In noise read as UTF-16, a tenth are private-use."""
    raw = text.encode("utf-8", "surrogatepass")
    controls = len(raw) - len(raw.translate(None, CONTROL_BYTES))
    private = raw.count(PRIVATE_USE_LEAD) + len(PRIVATE_USE_SEQUENCE.findall(raw))
    return (text.count("\ufffd") + controls + private) / max(1, len(text))


def is_text(text: str) -> bool:
    """False for images, archives and other bytes that are not readable in any encoding."""
    return damaged_share(text[:MAX_CHECKED_CHARS].replace("\x00", "")) <= MAX_DAMAGED_SHARE
