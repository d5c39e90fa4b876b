"""Detects questions in natural language, in Chinese and English.

A question asks for a definition (`LNG是什么`), or has a question mark or a question word (怎么, 吗, how) and enough
further words. `如何` alone, or a title such as `How I Met Your Mother`, is not a question that a text could answer.
"""

import re

from search_ui.query.semantic.answer_types import AnswerKind, expected_answer

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


def is_question(text: str) -> bool:
    """Return True if `text` is a question in Chinese or English."""
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
