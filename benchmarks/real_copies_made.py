"""Generates copies and versions from texts by rules: typical changes of republication, and of a new issue.

A copy: the frame of another site, other typesetting, a truncated end, a typing error, a dateline, another headline. A
version: other numbers or dates, another name throughout, an amended clause, a new paragraph; half of them also in
another frame. The frames for `dev` and `held` have nothing in common.
"""

import random
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from functools import cache
from itertools import pairwise
from typing import Any

from benchmarks.real_copies_store import Told
from text.similarity.shingles import tokenize_folded

MIN_TOKENS = 60
SOME_DAY = "2019-03-05"


@dataclass(frozen=True)
class Frame:
    """Lines that a site puts before and after a text ({day} is filled in), and its title suffix."""

    heads: tuple[str, ...]
    tails: tuple[str, ...]
    titles: tuple[str, ...]
    datelines: tuple[str, ...]


FRAMES: Mapping[tuple[str, str], Frame] = {
    ("dev", "zh"): Frame(
        ("发布时间：{day} 来源：能源观察网", "作者：本站编辑　点击字号：大 中 小", "{day} 10:22:31　来自：行业资讯"),
        (
            "免责声明：本文仅代表作者个人观点，与本网无关，请读者仅作参考，并自行核实相关内容。",
            "（责任编辑：王小明）",
            "本文系转载，版权归原作者所有，如有侵权请联系我们删除。",
            "扫描二维码关注我们的公众号",
        ),
        ("_能源观察网", " - 行业资讯", "（图）"),
        ("本报讯 ", "新华社北京电 "),
    ),
    ("held", "zh"): Frame(
        ("{day}　信息来源：省科技厅　浏览字体：【大】【中】【小】", "记者 李青 摄影报道", "来源：晚报　{day}"),
        (
            "凡本网注明来源为其他媒体的作品，均转载自其他媒体，转载目的在于传递更多信息，并不代表本网赞同其观点。",
            "编辑：张蕾　审核：陈立",
            "打印本页　关闭窗口",
            "上一篇：没有了　下一篇：返回列表",
        ),
        ("|晚报数字版", "【转载】", " : 科技频道"),
        ("据晚报报道，", "中新网上海电 "),
    ),
    ("dev", "en"): Frame(
        ("Posted on {day} by admin", "By Staff Writer", "Share on Facebook Tweet Email"),
        (
            "This article was first published elsewhere and is republished here with permission.",
            "Copyright by the authors. All rights reserved.",
            "Filed under: News",
            "Subscribe to our newsletter for more stories like this one.",
        ),
        (" | Daily Wire", " - Tech Blog", " (repost)"),
        ("LONDON (AP) -- ", "WASHINGTON - "),
    ),
    ("held", "en"): Frame(
        ("Published: {day}, updated later", "Reporting by our correspondent in Dublin", "Home > Articles > Full text"),
        (
            "The opinions expressed by contributors are their own and not those of this publication.",
            "Read the original post on the author's own site.",
            "Leave a reply. Your email address will not be published.",
            "Tags: general, archive",
        ),
        (" :: The Gazette", " – Planet Feed", "[mirror]"),
        ("PARIS, Reuters - ", "TORONTO: "),
    ),
}
PLACES = {"zh": ("郑州", "青岛", "昆明", "长沙", "南昌"), "en": ("Lisbon", "Oslo", "Denver", "Nairobi", "Osaka")}
_NUMBER = re.compile(r"\d+")
_SENTENCE = re.compile(r"(?<=[。！？])|(?<=[.!?]) ")
_HAN = re.compile("[\u4e00-\u9fff]")
_NAME = re.compile(r"\b[A-Z][a-z]{3,}\b")
_SIGNS = str.maketrans("，；“”’—（）", ',;""\'-()')
_FUNCTION = frozenset("的了是在有和与及或也就都而不这那个一我们你他她它之其为以于上下中大小会可能要对到从被把让来去说")


def language_of(text: str) -> str:
    """Return `zh` or `en`, by the majority of the letters."""
    return "zh" if len(_HAN.findall(text)) * 4 > len(text) else "en"


def made_of(text: Told, part: str, other: str) -> Iterator[Told]:
    """Return a text with all its variants; `other` is another text of its language, the source of insertions."""
    yield text
    frame = FRAMES[part, language_of(text.body)]
    for name, copy in COPIES.items():
        chance = random.Random(f"{text.name} {name}")
        made = copy(text, frame, chance)
        if made:
            yield replace(made, name=f"{text.name} {name}", rule=name)
    for name, version in VERSIONS.items():
        chance = random.Random(f"{text.name} {name}")
        made = version(text, other, chance)
        if made and tokenize_folded(made.body) != tokenize_folded(text.body):
            made = framed(made, frame, chance) if chance.random() < 0.5 else made
            yield replace(made, name=f"{text.name} {name}", event=f"{text.name} {name}", rule=name)


# -- copies


def framed(text: Told, frame: Frame, chance: random.Random) -> Told:
    """Put a text into the frame of another site."""
    day = text.published or SOME_DAY
    heads = chance.sample(frame.heads, chance.randint(0, 2))
    tails = chance.sample(frame.tails, chance.randint(1, 3))
    title = text.title + (chance.choice(frame.titles) if chance.random() < 0.5 else "")
    lines = [*(head.replace("{day}", day) for head in heads), text.body, *tails]
    return replace(text, title=title, body="\n".join(lines))


def typeset(text: Told, frame: Frame, chance: random.Random) -> Told:
    """Change punctuation characters and paragraph breaks."""
    body = text.body.translate(_SIGNS)
    glue = "" if language_of(body) == "zh" else " "
    lines = body.split("\n")
    if len(lines) > 2:
        place = chance.randrange(len(lines) - 1)
        lines[place : place + 2] = [glue.join(lines[place : place + 2])]
    return framed(replace(text, body="\n".join(lines)), frame, chance)


def cut(text: Told, frame: Frame, chance: random.Random) -> Told | None:
    """Remove the last sentences, up to a fifth of the text; dated one day later."""
    sentences = sentences_of(text.body)
    if len(sentences) < 6:
        return None
    kept = "".join(sentences[: len(sentences) - chance.randint(1, max(1, len(sentences) // 6))]).strip()
    return framed(later(replace(text, body=kept), 1), frame, chance)


def slipped(text: Told, frame: Frame, chance: random.Random) -> Told | None:
    """Add one typing error; same day."""
    body = text.body
    places = [place for place in range(len(body) // 4, len(body) // 2) if body[place : place + 2].isalpha()]
    if not places:
        return None
    place = chance.choice(places)
    slip = body[place + 1] + body[place] if body[place].isascii() else chance.choice("的地得做作")
    body = body[:place] + slip + body[place + len(slip) :]
    return framed(later(replace(text, body=body), 0), frame, chance)


def datelined(text: Told, frame: Frame, chance: random.Random) -> Told:
    """Add a dateline before the first word, within days."""
    body = chance.choice(frame.datelines) + text.body
    return framed(later(replace(text, body=body), chance.randint(0, 3)), frame, chance)


def retitled(text: Told, frame: Frame, chance: random.Random) -> Told | None:
    """Change the headline."""
    sentence = min(sentences_of(text.body)[:5], key=lambda one: abs(len(one) - 40)).strip()
    return framed(replace(text, title=sentence[:80]), frame, chance) if len(text.body) > 600 else None


def in_traditional(text: Told, frame: Frame, chance: random.Random) -> Told | None:
    """Convert to traditional characters."""
    if language_of(text.body) != "zh":
        return None
    return framed(replace(text, title=traditional(text.title), body=traditional(text.body)), frame, chance)


def traditional(text: str) -> str:
    """Convert simplified to traditional characters."""
    return str(_converter().convert(text))


@cache
def _converter() -> Any:
    from opencc import OpenCC

    return OpenCC("s2t")


# -- versions and issues


def one_number(text: Told, other: str, chance: random.Random) -> Told | None:
    """Change one number, not near the end, which a copy may lack, and not at a possible date of publication."""
    middle = range(len(text.body) // 10, 7 * len(text.body) // 10)
    found = [match for match in _NUMBER.finditer(text.body) if match.start() in middle]
    if not found:
        return None
    match = chance.choice(found)
    body = text.body[: match.start()] + another_number(match[0], chance) + text.body[match.end() :]
    return later(replace(text, body=body), chance.choice((0, 1, 30)))


def all_numbers(text: Told, other: str, chance: random.Random) -> Told | None:
    """Change every number, in the title as well."""
    if len(_NUMBER.findall(text.body)) < 3:
        return None
    exchange: Callable[[re.Match[str]], str] = lambda match: another_number(match[0], chance)  # noqa: E731
    made = replace(text, title=_NUMBER.sub(exchange, text.title), body=_NUMBER.sub(exchange, text.body))
    return later(made, chance.choice((1, 7, 365)))


def another_number(number: str, chance: random.Random) -> str:
    """Return a different number of the same length."""
    last = (int(number[-1]) + chance.randint(1, 9)) % 10
    return number[:-1] + str(last)


def renamed(text: Told, other: str, chance: random.Random) -> Told | None:
    """Replace a name that occurs several times."""
    language = language_of(text.body)
    names = Counter(_NAME.findall(text.body) if language == "en" else pairs_of(text.body))
    often = [name for name, count in names.most_common(8) if count >= 3]
    if not often:
        return None
    old, new = chance.choice(often), chance.choice(PLACES[language])
    made = replace(text, title=text.title.replace(old, new), body=text.body.replace(old, new))
    return later(made, chance.choice((0, 2, 365)))


def pairs_of(text: str) -> Iterator[str]:
    """Return pairs of Chinese characters that may be a name, without function words."""
    for place in range(len(text) - 1):
        pair = text[place : place + 2]
        if all(_HAN.fullmatch(char) and char not in _FUNCTION for char in pair):
            yield pair


def amended(text: Told, other: str, chance: random.Random) -> Told | None:
    """Replace a clause in the middle, as in a later year; every second text states the year at its beginning."""
    sentences, strange = sentences_of(text.body), sentences_of(other)
    if len(sentences) < 12 or len(strange) < 3:
        return None
    place = chance.randrange(len(sentences) // 3, 2 * len(sentences) // 3)
    sentences[place] = chance.choice(strange)
    if chance.random() < 0.5:
        told = "（根据2018年12月29日的决定修正）" if language_of(text.body) == "zh" else " (as amended on 29 May 2018) "
        sentences[0] = sentences[0].rstrip("。.") + told
    return later(replace(text, body="".join(sentences)), chance.choice((200, 365, 1000)))


def continued(text: Told, other: str, chance: random.Random) -> Told | None:
    """Insert a paragraph in the middle, dated weeks later."""
    lines, strange = text.body.split("\n"), [line for line in other.split("\n") if len(line) > 60]
    if len(lines) < 4 or not strange:
        return None
    lines.insert(len(lines) // 2, chance.choice(strange))
    return later(replace(text, body="\n".join(lines)), chance.choice((30, 90)))


# --


def sentences_of(text: str) -> list[str]:
    """Split a text into sentences with their separators; joined they give the text."""
    starts = [0, *(match.end() for match in _SENTENCE.finditer(text)), len(text)]
    return [text[start:end] for start, end in pairwise(starts) if start < end]


def later(text: Told, days: int) -> Told:
    """Return the text with a date some days later."""
    day = text.published if len(text.published) == len(SOME_DAY) else SOME_DAY
    return replace(text, published=(date.fromisoformat(day) + timedelta(days)).isoformat())


Copy = Callable[[Told, Frame, random.Random], Told | None]
COPIES: Mapping[str, Copy] = {
    "framed": framed,
    "typeset": typeset,
    "cut": cut,
    "slipped": slipped,
    "datelined": datelined,
    "retitled": retitled,
    "traditional": in_traditional,
}
VERSIONS: Mapping[str, Callable[[Told, str, random.Random], Told | None]] = {
    "one_number": one_number,
    "all_numbers": all_numbers,
    "renamed": renamed,
    "amended": amended,
    "continued": continued,
}


def all_made(texts: Sequence[Told], part: str) -> list[Told]:
    """Return the variants of all texts that are long enough; each uses the next text of its language for insertions."""
    long = [text for text in texts if len(tokenize_folded(text.body)) >= MIN_TOKENS]
    made = []
    for language in ("zh", "en"):
        mine = [text for text in long if language_of(text.body) == language]
        for text, other in zip(mine, mine[1:] + mine[:1], strict=True):
            made += list(made_of(dated(text), part, other.body))
    return made


def dated(text: Told) -> Told:
    """Return a text with a date of publication; every third text has none, as on many pages."""
    return text if sum(text.name.encode()) % 3 == 0 else later(text, 0)
