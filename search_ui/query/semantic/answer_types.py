"""Tells what kind of answer a question expects, and whether a sentence contains one. No I/O.

    什么是页岩气       a definition of 页岩气: 页岩气（shale gas）是指…
    有多少人参加       a number of people: 320人, 三百多名
    哪一年投产         a year
    how many wells     a number with `wells`
    when, what year    a date
    who                a name, in English only

A name, number or date that the question itself contains is no answer to it.
"""

import re
from dataclasses import dataclass
from enum import StrEnum

from text.folding import fold_term

MAX_TERM_CHARS = 20  # of a term whose definition is requested
MAX_TERM_WORDS = 4
MAX_WORDS_TO_NOUN = 4  # between an English number and its noun


class AnswerKind(StrEnum):
    """What a question asks for."""

    DEFINITION = "definition"
    QUANTITY = "quantity"
    DATE = "date"
    PLACE = "place"
    REASON = "reason"
    NAME = "name"
    OTHER = "other"


@dataclass(frozen=True)
class ExpectedAnswer:
    """The kind of answer that `question` (folded) asks for, and the pattern of folded sentences that contain one.

    `pattern` is None if any statement can be an answer. `term` is the term whose definition is requested, or "".
    """

    kind: AnswerKind
    question: str = ""
    pattern: re.Pattern[str] | None = None
    term: str = ""

    def fits(self, sentence: str, title: str = "") -> bool:
        """Return True if the sentence can be an answer.

        It contains an answer of this kind that is not in the question. The sentence or the `title` of its article
        contains all numbers of the question.
        """
        if not {*_DIGITS_RE.findall(self.question)} <= {*_DIGITS_RE.findall(fold_term(f"{title}\n{sentence}"))}:
            return False
        if self.pattern is None:
            return True
        text = sentence if self.kind is AnswerKind.NAME else fold_term(sentence)
        if self.kind in (AnswerKind.DEFINITION, AnswerKind.REASON):
            return bool(self.pattern.search(text))
        return any(fold_term(match[0]).strip() not in self.question for match in self.pattern.finditer(text))


_DIGITS_RE = re.compile(r"\d+")


def expected_answer(question: str) -> ExpectedAnswer:
    """Return what a question asks for."""
    text = fold_term(question).strip().rstrip("?？。. ")
    if term := _defined_term(text):
        return ExpectedAnswer(AnswerKind.DEFINITION, text, _definition_pattern(term), term)
    if _PERIOD_QUESTION_RE.search(text):
        return ExpectedAnswer(AnswerKind.DATE, text, _PERIOD_RE)
    if _DATE_QUESTION_RE.search(text):
        return ExpectedAnswer(AnswerKind.DATE, text, _YEAR_RE if _YEAR_QUESTION_RE.search(text) else _DATE_RE)
    if pattern := _quantity_pattern(text):
        return ExpectedAnswer(AnswerKind.QUANTITY, text, pattern)
    if _ORIGIN_QUESTION_RE.search(text):
        return ExpectedAnswer(AnswerKind.PLACE, text, _ORIGIN_RE)
    if _POSITION_QUESTION_RE.search(text):
        return ExpectedAnswer(AnswerKind.PLACE, text, _POSITION_RE)
    if _PLACE_QUESTION_RE.search(text):
        return ExpectedAnswer(AnswerKind.PLACE, text, _PLACE_RE)
    if _REASON_QUESTION_RE.search(text):
        return ExpectedAnswer(AnswerKind.REASON, text, _REASON_RE)
    if _NAME_QUESTION_RE.match(text):
        return ExpectedAnswer(AnswerKind.NAME, text, _NAME_RE)
    return ExpectedAnswer(AnswerKind.OTHER, text)


def is_question(text: str) -> bool:
    """Return True if `text` is a question in Chinese or English.

    It asks for a definition (`LNG是什么`), or has a question mark or a question word (怎么, 吗, how) and enough further
    words. `如何` alone, or a title such as `How I Met Your Mother`, is not a question that a text could answer.
    """
    text = text.strip()
    if expected_answer(text).kind is AnswerKind.DEFINITION and not _TITLE_CASE_RE.fullmatch(text):
        return True
    if len(_HAN_RE.findall(text)) >= MIN_CHINESE_CHARS:
        return bool(_QUESTION_MARK_RE.search(text) or _QUESTION_WORD_RE.search(text))
    words = text.split()
    if len(words) < MIN_ENGLISH_WORDS or _HAN_RE.search(text):
        return False
    return bool(_QUESTION_MARK_RE.search(text)) or bool(
        _QUESTION_START_RE.match(text) and not _TITLE_CASE_RE.fullmatch(text)
    )


MIN_CHINESE_CHARS = 5  # of a question in Chinese
MIN_ENGLISH_WORDS = 3  # of a question in English

_HAN_RE = re.compile("[\u3400-\u9fff]")
_QUESTION_MARK_RE = re.compile(r"[?？]\s*$")
_QUESTION_WORD_RE = re.compile(
    r"什么|怎么|怎样|咋[样办]?|如何|为何|为啥|何时|何地|何处|何种|谁|哪[个些里儿种家位年月天次]?|多少|多久|多大|多长|多高|多远|几[个种年月天次岁]"
    r"|[吗呢么]\s*+[?？。]?+\s*+$|[是有能会可]不[是有能会可]|[是能可会]否|有没有|该不该|要不要|算不算|合不合法|请问|啥"
)
_QUESTION_START_RE = re.compile(
    r"(?:what|which|who|whom|whose|when|where|why|how|is|are|was|were|do|does|did|can|could|should|would|will|may|must"
    r"|has|have|had)\b",
    re.IGNORECASE,
)
_TITLE_CASE_RE = re.compile(r"(?:[A-Z][\w'’]*\s+)+[A-Z][\w'’]*$")

# Definitions.
_TERM_QUESTION_RES = (
    re.compile(r"(?:请问|请教)?(?:什么|啥)(?:是|叫做?|才?算是?)(?P<term>.+?)(?:呢|啊|呀)?"),
    re.compile(r"(?:请问|请教)?何(?:谓|为)(?P<term>.+?)"),
    re.compile(
        r"(?:请问|请教)?(?P<term>.+?)(?:的意思|的定义|的含义|指的|到底|究竟)?(?:是指?|指)(?:什么|啥)(?:意思|东西)?(?:呢|啊|呀)?"
    ),
    re.compile(r"(?:请问|请教)?(?P<term>.+?)(?:有?什么|啥|何)(?:含义|意思)"),
    re.compile(r"what(?:'s| is| are| was| were)(?: meant by)? (?:an? )?(?P<term>.+)"),
    re.compile(r"what (?:do|does|did) (?:an? |the (?:term|word|abbreviation) )?(?P<term>.+?) (?:mean|stand for)"),
    re.compile(r"define (?:an? |the (?:term|word) )?(?P<term>.+)"),
)
# A relation or a clause is no term: `X的原因`, `the capital of X`, `what is X used for`.
_NO_TERM_RE = re.compile(
    r"[的最，,、之了被把在]|^[这那该其此它他她你我]|\b(?:the|of|for|in|on|at|by|to|with|from|between|your|my|his|her|its|their|this|that"
    r"|these|those|there|it|he|she|they|you|we|i|is|are|was|were|do|does|did|can|most|best|used|using|known|called)\b|\w's\b"
)
_QUOTES = "\"'“”‘’「」『』《》〈〉 "


def _defined_term(question: str) -> str:
    """Return the term whose definition is requested; "" if the question asks for something else."""
    for pattern in _TERM_QUESTION_RES:
        if match := pattern.fullmatch(question):
            term = match["term"].strip(_QUOTES)
            if term and len(term) <= MAX_TERM_CHARS * (2 if term.isascii() else 1):
                is_relation = _NO_TERM_RE.search(term) or len(term.split()) > MAX_TERM_WORDS
                return "" if is_relation else term
    return ""


def _definition_pattern(term: str) -> re.Pattern[str]:
    """Return the pattern of a folded sentence that defines a folded term.

    The term is the subject, or a name of it in brackets: 液化天然气（liquefied natural gas，简称LNG）是…
    """
    chinese_name = rf"(?<![a-z0-9]){re.escape(term)}(?![a-z0-9])"
    # A short modifier completes the term: 水力压裂是… defines 压裂.
    modifier = f"[{_HAN}]{{0,2}}" if len(term) > 1 else ""
    brackets = r"(?:\s*[（(\[][^）)\]]{1,60}[）)\]])?"
    alias = "(?:[，,]?(?:又|也|亦|简|俗|全|英文|通常)?[称名叫][^。，,]{1,30}[，,])?"
    in_brackets = rf"\s?[（(](?:[^）)]{{0,60}}(?:\W|[称名叫写为作]))?{chinese_name}(?:[，,；][^）)]{{0,60}})?[）)]"
    after_comma = rf"[，,]?[又也亦简俗全][称名叫][为作]?{chinese_name}[，,]"
    other_subject = rf"(?:[{_HAN}]{{2,12}}|[a-z][\w -]{{1,60}})(?:{in_brackets}|{after_comma})"
    is_not = "否|不是|因为|由于|为了|在|今|去年|目前|本次|我国|我们|公司|如何|怎"
    verb = f"(?:是指|为(?![了何主止])|是(?!{is_not})|指(?![出数标导挥])|系指|即(?![将使可])|意为|定义为)"
    chinese = (
        rf"(?:^|[。！？；;：:\n\s\"“‘「『《（(]|所谓的?|所称的?)"
        rf"(?:{modifier}{_OPENING_MARK}{chinese_name}{_CLOSING_MARK}{brackets}{alias}|{other_subject})"
        rf"[，,]?(?:一般|通常|主要|就|则|指的|[:：])?{verb}"
        rf"|(?:称为|称作|称之为|叫做?|俗称|即|就是所谓的?){_OPENING_MARK}{chinese_name}{_CLOSING_MARK}(?:[。，,；;（(]|$)"
    )
    if re.search(f"[{_HAN}]", term):
        return re.compile(chinese)
    name = re.escape(re.sub("s$", "", term)) + "(?:s|es)?"
    start = r"(?:^|[.;:(\n\"“]\s*|\b(?:that|called|so|thus|although|while)\s)(?:an?\s|the\s(?:term|word)\s|the\s)?"
    name_in_brackets = rf"\((?:[^)]{{0,60}}\W)?{name}(?:\W[^)]{{0,60}})?\)"
    long_name = rf"(?={re.escape(term[0])})[\w-]{{1,30}}(?:,?\s[\w-]{{1,30}}){{0,7}}\s{name_in_brackets}"
    insertion = r"(?:\s*\([^)]{1,60}\))?(?:,[^,.]{1,80},)?\s+"
    no_noun = r"not\b|now\b|also\b|still\b|being\b|expected\b|used\b|\w+ed\b|\w+ing\b|\w+ly\b"
    verb = (
        r"(?:is\sdefined|is\sthe\s|(?:refers?|referred)\sto|means?\b|denotes?\b|stands?\sfor|describes?\b"
        rf"|(?:is|are|was|were)\s(?!{no_noun}))"
    )
    return re.compile(
        rf"{chinese}|{start}(?:{_OPENING_MARK}{name}{_CLOSING_MARK}|{long_name}){insertion}{verb}"
        rf"|\bby\s[\"“]?{name}[\"”]?\s(?:we|i|is)\s(?:mean|meant|understand)"
        rf"|\b(?:known\sas|called|termed|referred\sto\sas)\s(?:an?\s|the\s)?{_OPENING_MARK}{name}\b"
    )


_HAN = "\u3400-\u9fff"
_OPENING_MARK, _CLOSING_MARK = '["“‘「『《]?', '["”’」』》]?'

# Numbers: digits, also with a fraction or thousands separators, and number words.
_HAN_DIGITS = "零〇一二三四五六七八九十百千万亿两"
_NUMBER = (
    rf"(?:半|\d{{1,15}}(?:[,.]\d{{1,15}}){{0,9}}\s{{0,9}}[百千万亿]{{0,9}}|(?!一[^{_HAN_DIGITS}])[{_HAN_DIGITS}]{{1,20}})"
    "(?:多|余|几|来)?[万亿]?"
)
_ENGLISH_NUMBER_WORDS = (
    "one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen|seventeen"
    "|eighteen|nineteen|twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety|hundreds?|thousands?|millions?|billions?|dozens?"
    "|half|twice|single|both|no"
)
_ENGLISH_NUMBER = rf"(?<![\w.])(?<!\d,)(?:[$£€¥]\s?)?(?:\d++(?:[,.]\d++)*+|(?:{_ENGLISH_NUMBER_WORDS})\b)"

# Dates and periods.
_CHINESE_YEAR = rf"\d{{1,4}}年(?!级|轻|龄)|[一二三四五六七八九零〇○]{{2,4}}年|[元{_HAN_DIGITS}]{{1,3}}年(?!级|轻|龄)"
_ENGLISH_YEAR = r"\b(?:1\d{3}|20\d{2})(?:s\b|\b)|\b\d{1,4}\s?(?:bc|bce|ad|ce)\b|\bad\s\d+"
_MONTHS = "january|february|march|april|may|june|july|august|september|october|november|december"
_YEAR_RE = re.compile(rf"{_CHINESE_YEAR}|年代|世纪|{_ENGLISH_YEAR}")
_DATE_RE = re.compile(
    rf"{_YEAR_RE.pattern}|(?:(?<!\d)\d++|(?<![{_HAN_DIGITS}])[{_HAN_DIGITS}]++)(?:月|[日号](?![线楼机])|[点时](?!代)|天|小时|周(?!年)|岁)|星期|周[一二三四五六日]|[春夏秋冬]季"
    rf"|年间|时期|期间|初期|末期|时代|朝|[今去明前]年|同年|翌|凌晨|早[上晨]|上午|中午|下午|晚上|[以之][前后]|当天"
    rf"|\b(?:{_MONTHS}|monday|tuesday|wednesday|thursday|friday|saturday|sunday|spring|summer|autumn|winter|century|centuries"
    r"|today|yesterday|tomorrow|decades?|morning|evening|night|noon|\d+\s?[ap]\.?m|after|before|until|since|during)\b"
)
_DATE_QUESTION_RE = re.compile(
    r"何时|何年|何月|几时|哪一?[年天日月]|哪个(?:月|世纪|年代|时[候间])|什么(?:时[候间]|年[份代]|日[期子])|(?:[在于从自到至元]|公元|西元|民国)几年|几月|几[日号](?!线)"
    r"|^when\b|\bwhen (?:did|was|were|is|are|do|does|will)\b"
    r"|\b(?:what|which) (?:year|month|day|date|time|decade|century)\b"
)
_PERIOD_QUESTION_RE = re.compile("(?:什么|哪个)(?:时[期代]|朝代)")
_PERIOD_RE = re.compile("[朝代期末初纪]|.年|时|[春夏秋冬]")
_YEAR_QUESTION_RE = re.compile(r"何年|哪一?年|什么年份|\b(?:what|which) year\b")

# Quantities.
_COUNT_WORD_RE = re.compile(
    r"(?P<percent>百分之)?(?:多少|几(?![乎何率近时月日号度经]|个世纪))(?P<noun>[^，,。；;？?]*)"
)
_MEASURE_RE = re.compile(r"(?P<noun>多[久长大高远宽深重厚快])(?![学程限的])")
_OTHER_QUESTION_WORD_RE = re.compile("什么|哪|谁|如何|怎|为何|吗")  # then 几 means `some`
_CLASSIFIERS = (
    "个名位只条件家座口台套辆艘架所间项种类篇本部首次届场枚颗粒块片张支股层栋幢对双组队批份"
    "年天日月周岁倍度元角分米吨升克"
)
_UNIT_ALTERNATIVES = {
    "人": "人|名|位|个",
    "百分": "%|百分之|成",
    "比例": "%|百分之|成|分之",
    "钱": "元|美元|英镑|欧元|日元|港元|块",
    "公里": "公里|千米|km",
    "平方公里": "平方公里|平方千米|km2|km²",
    "公分": "公分|厘米|cm",
    "米": "米|公尺|m",
    "公尺": "公尺|米",
    "多久": "年|个?月|天|日|小时|分钟?|周|星期|秒|世纪|时",
    "多长": "年|个?月|天|日|小时|分钟?|周|秒|米|公里|厘米|毫米|英里|英尺|英寸|公分|公尺|里|km|cm|m",
    "多远": "米|公里|英里|里|光年|海里|千米|km|m",
    "多高": "米|公尺|英尺|公分|厘米|层|m|cm",
    "多大": "平方|公顷|英亩|亩|岁|米|公里|平米|吨|倍|级",
    "多重": "吨|克|公斤|斤|磅|kg",
}
_COUNT_NOUN_RE = re.compile(
    rf"(?P<unit>平方公里|平方米|立方米|公里|公分|公尺|百分|比例|钱|人|[{_CLASSIFIERS}])?(?P<rest>[{_HAN}]*)"
)
_ENGLISH_COUNT_RE = re.compile(
    r"\bhow (?:many|much)\b\s*(?P<noun>.*)|\bwhat (?:percent(?:age)?|proportion|number|fraction|amount)\b(?P<share>.*)"
)
_ENGLISH_MEASURE_RE = re.compile(r"\bhow (?:long|far|tall|high|wide|deep|old|large|big|heavy|fast|often)\b")
_ENGLISH_WORD_RE = re.compile(r"[a-z][a-z'-]*")
_PEOPLE = frozenset(("people", "persons"))
_NOT_COUNTED = frozenset(
    re.findall(
        r"\w+", "is are was were do does did of the a an more other different have has had can could would will to in"
    )
)


def _quantity_pattern(question: str) -> re.Pattern[str] | None:
    """Return the pattern of the requested quantity; None if the question asks for none."""
    if match := _ENGLISH_COUNT_RE.search(question):
        noun = next((word for word in _ENGLISH_WORD_RE.findall(match["noun"] or "") if word not in _NOT_COUNTED), "")
        if match[0].startswith("how many") and noun and noun not in _PEOPLE:
            stem = re.escape(_stem(noun))
            return re.compile(rf"{_ENGLISH_NUMBER}(?:[\s-]++[\w,.']++){{0,{MAX_WORDS_TO_NOUN - 1}}}?[\s-]++{stem}\w*")
        return re.compile(_ENGLISH_NUMBER)
    if _ENGLISH_MEASURE_RE.search(question):
        return re.compile(_ENGLISH_NUMBER)
    if (match := _COUNT_WORD_RE.search(question)) and not _OTHER_QUESTION_WORD_RE.search(question):
        if match["percent"]:
            return re.compile(rf"百分之|{_NUMBER}%")
        noun_match = _COUNT_NOUN_RE.match(match["noun"])
        return (
            re.compile(_NUMBER + _unit_pattern(noun_match["unit"] or "", noun_match["rest"]))
            if noun_match
            else re.compile(_NUMBER)
        )
    if (match := _MEASURE_RE.search(question)) and not _OTHER_QUESTION_WORD_RE.search(question):
        return re.compile(rf"{_NUMBER}(?:{_UNIT_ALTERNATIVES.get(match['noun'], '')})")
    return None


def _unit_pattern(unit: str, noun: str) -> str:
    """Return the pattern of what follows the number: the unit of the question, or its noun, or anything."""
    if unit in _UNIT_ALTERNATIVES:
        return f"(?:{_UNIT_ALTERNATIVES[unit]})"
    if unit and len(noun) > 1:
        # 几所大学: also 三大学. A classifier can be another one before the same noun; 个 alone says nothing.
        with_noun = rf"[{_CLASSIFIERS}]?[{_HAN}]{{0,3}}{re.escape(noun[:2])}"
        return with_noun if unit in "个种" else f"(?:{re.escape(unit)}|{with_noun})"
    if unit:
        return re.escape(unit)
    return ""


def _stem(word: str) -> str:
    return re.sub(r"(?:ies|es|s|y)$", "", word) if len(word) > 3 else word


# Places and reasons.
_ORIGIN_QUESTION_RE = re.compile("(?:哪里|哪儿|何处|什么地方)的?人$")
_ORIGIN_RE = re.compile(f"[省市县区郡州国府镇乡村道][{_HAN}（）()]{{0,12}}人|籍(?!籍)|出生|生于|来自")
_PLACE_QUESTION_RE = re.compile(
    "哪里|哪儿|何处|何地|什么(?:地方|地点|地区|地带)|哪[个些一](?:国家|省|城市|市|县|州|地方|地区)"
    "|^where\\b|\\bwhere (?:did|was|were|is|are|do|does|can|will)\\b"
)
_PLACE_SIGNS = "省市县区郡州国府镇乡村岛港山路街湾洋海河湖江东西南北岸洲城站厅馆楼院校场地带线园寺"
_POSITION_QUESTION_RE = re.compile("(?:在|位于|坐落[在于])(?:哪里|哪儿|何处|何地|什么(?:地方|地点)|哪[个一].{1,2})$")
_POSITION_RE = re.compile(rf"位[于在]|坐落|座落|地处|处于|所在地|设[在于]|在[^，。；在]{{1,20}}[{_PLACE_SIGNS}]")
_PLACE_RE = re.compile(
    rf"(?:位[於于在]|坐落|座落|地处|处于|分布[于在]|来自|源自|[在于到往至入回赴从自])[^，。；在于]{{0,24}}?(?:[{_PLACE_SIGNS}]|[{_HAN}]{{2}}(?=[，。；]|$))"
    rf"|[{_HAN}]{{1,8}}[省市县区郡州国]"
    r"|\b(?:in|at|on|near|from|to|into|of|between|outside|inside|off|along|across|throughout|around|where)\s(?:the\s)?[\w'-]+"
)
_REASON_QUESTION_RE = re.compile(
    r"为什么|为何|为啥|何故|什么(?:原因|缘故)|因为什么|^why\b|\bwhy (?:did|was|were|is|are|do|does)\b"
)
_REASON_RE = re.compile(
    r"因(?!此|而|子|素)|由于|为了|以便|以免|以致|导致|致使|使得|造成|鉴于|出于|缘|以防|避免"
    r"|\b(?:because|since|due to|owing to|as a result|in order|so that|so as to|reason|caus\w+|led to|leads? to)\b"
)

# Names, in English: a capitalized word that does not begin the sentence.
_NAME_QUESTION_RE = re.compile(r"(?:.*\b)?(?:who|whom|whose)\b")
_NAME_RE = re.compile(r"(?:(?<=[a-z,;:)\"] )|(?<=^))[A-Z][\w'’.-]+(?: (?:of |the |de |von )?[A-Z][\w'’.-]+)*")
