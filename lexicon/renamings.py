"""Renamings of known terms that sentences state. Pure.

X更名为Y, 将X改称Y, X现称Y, Y（原名X）, Y，旧称X
X was renamed Y, renamed X to Y, X, now known as Y, Y (formerly X), changed the name of X to Y
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

PLACEHOLDER = "\ue000"  # a private-use character that stands for a known term
_CUE = re.compile(
    r"更名|改名|易名|命名为|改称|改叫|现[称名]|[（(]原|原[名称]|旧[称名]|曾[用称]|renam|formerly|previously|"
    r"now (?:known|called|named)|the name of",
    re.IGNORECASE,
)
_QUOTED = r"[“「『\"](?P<{name}_quoted>[^“”「」『』\"，,。;；]{{2,30}})[”」』\"]"
_KNOWN = rf"[“「『《\"']?(?P<{{name}}>{PLACEHOLDER})[”」』》\"']?"
_START_ZH = r"(?:^|[，,。；;：:、“「『《（(]|[将把由从])"
_NOT_IN_WORD_ZH = r"(?<![\u4e00-\u9fff](?<![的和与及在对将是为]))"
_END_ZH = r"(?=$|[，,。.；;！？!?、）)]|后[，,])"
_FREE_ZH = rf"(?P<{{name}}_free>[\w·-]{{{{2,16}}}}?){_END_ZH}"
_WHEN_ZH = (
    r"(?:已|正式|现已){0,3}(?:(?:于|在|自)[^，,。；;]{1,14}?)?(?:已|正式|被|统一|后来|随后|又|将|先后|再次|也){0,6}"
)
_BRACKETS = r"(?:\s?[（(][^（）()]{1,30}[）)])?"
_FREE_EN = r"(?P<{name}_free>(?:[\w-]+\s+){{0,4}}?[\w-]+)"
_CAPITALIZED_EN = r"(?P<{name}_free>(?-i:[A-Z])[\w-]*(?:\s+[\w-]+){{0,4}}?)"
_END_EN = r"(?=\s*(?:$|[,.;:!?)”\"]|(?:in|by|on|after|when|because|during|since)\b))"
_ARTICLE = r"(?:an?\s+|the\s+)?"
_BE = r"(?:was|were|is|are|has been|have been|had been|being)\s+(?:(?:\w+ly|later|since)\s+)?"
_CALLED = r"(?:known\s+as|called|named|referred\s+to\s+as)\s+"
# Before a name in English. After another word, the term is the end of a longer name: TD Banknorth Garden.
_WORDS_BEFORE_NAME = re.compile(
    r"name of|and|in|on|at|to|as|for|with|by|from|when|while|where|which|because|since|or|but|renam(?:ed|es|ing)|\d+",
    re.IGNORECASE,
)
_DETERMINERS = re.compile("the|this|that|these|those|an?|its|his|her|their|our", re.IGNORECASE)  # no old name: the city
_WORD_BEFORE = re.compile(rf"(name of|(?<![\w'’{PLACEHOLDER}-])[\w'’{PLACEHOLDER}-]++)\s++[“\"']?$")
_PLACE_BEFORE = re.compile(r"\b[A-Z]\w+,\s+$")  # Leicestershire, England
_BEFORE = r"(?:formerly|previously)\s+"
_SENTENCES = (
    "{start_zh}{old}{brackets}{when_zh}(?:现已?)?(?:更名|改名|易名|重新命名|重命名)[为成]{new_zh}",
    "{start_zh}{old}{brackets}{when_zh}(?:现已?)?(?:改称|改叫)[为作]?{new_zh}",
    "{start_zh}{old}[，,（(]?现[称名]为?{new_zh}",
    "{not_han}{new}[，,（(](?:原[名称]|旧[名称]|曾用名|曾称)[为叫：:]?{old_zh}",
    "{not_han}{new}[（(]原{old}[）)]",
    r"(?<![\w-]){old}{brackets}\s+{be}renamed\s+(?:to\s+|as\s+)?{article}{new_en}{end_en}",
    r"\brenam(?:ed|es|ing)\s+{article}{old}\s+(?:to|as)\s+{article}{new_en}{end_en}",
    r"\bchang\w+\s+the name of\s+{article}{old}\s+to\s+{article}{new_en}{end_en}",
    r"{old}\s*[,(]\s*now\s+{called}{article}{new_en}{end_en}",
    r"{new}\s*[,(]\s*(?:{before}{called}{article}{old_en}|{before}{old2}){end_en}",
)


def _name(name: str, *kinds: str) -> str:
    return "(?:" + "|".join(kind.format(name=name) for kind in kinds) + ")"


_PATTERNS = tuple(
    re.compile(
        sentence.format(
            start_zh=_START_ZH,
            not_han=_NOT_IN_WORD_ZH,
            when_zh=_WHEN_ZH,
            brackets=_BRACKETS,
            be=_BE,
            article=_ARTICLE,
            called=_CALLED,
            before=_BEFORE,
            end_en=_END_EN,
            old=_name("old", _QUOTED, _KNOWN),
            new=_name("new", _QUOTED, _KNOWN),
            old2=_name("old_bare", _KNOWN),
            old_zh=_name("old", _QUOTED, _KNOWN + _END_ZH, _FREE_ZH),
            new_zh=_name("new", _QUOTED, _KNOWN + _END_ZH, _FREE_ZH),
            old_en=_name("old", _QUOTED, _KNOWN, _FREE_EN),
            new_en=_name("new", _QUOTED, _KNOWN, _CAPITALIZED_EN),
        ),
        re.IGNORECASE,
    )
    for sentence in _SENTENCES
)


class Renaming(NamedTuple):
    """Spans (start, end) of the old and the new name in a masked sentence."""

    old: tuple[int, int]
    new: tuple[int, int]


def has_renaming_cue(sentence: str) -> bool:
    """Return True if a sentence may state a renaming."""
    return _CUE.search(sentence) is not None


def iter_renamings(masked_sentence: str) -> Iterator[Renaming]:
    """Yield the renamings that a sentence states, in which at least one name is a known term or in quotes.

    Args:
        masked_sentence: The sentence with PLACEHOLDER for each known term.
    """
    for pattern in _PATTERNS:
        for match in pattern.finditer(masked_sentence):
            spans = {name[:3]: match.span(name) for name, value in match.groupdict().items() if value is not None}
            renaming = Renaming(spans["old"], spans["new"])
            if _is_whole_name(masked_sentence, first := min(renaming), first == renaming.old):
                yield renaming


def _is_whole_name(masked_sentence: str, span: tuple[int, int], is_old: bool) -> bool:
    """Return False if a known term is only a part of a name, or a common noun (the city)."""
    before = masked_sentence[: span[0]]
    if masked_sentence[slice(*span)] != PLACEHOLDER or not (match := _WORD_BEFORE.search(before)):
        return not _PLACE_BEFORE.search(before)
    is_article = not is_old and _DETERMINERS.fullmatch(match[1]) is not None
    return is_article or _WORDS_BEFORE_NAME.fullmatch(match[1]) is not None
