"""From the text of a query to its words: `产量最高的油田是哪个` is about 产量 and 油田.

The function words of a language are few and stable, so they are listed here. The tags of a segmenter do not help: it
guesses them for unknown words (it takes 借据 for a preposition).
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import accumulate, combinations

from domain.term import Lexicon
from search_ui.query.display_text import has_word
from search_ui.query.query_parser import ParsedQuery, PartKind
from search_ui.query.search_request import SearchRequest
from text.folding import fold_width, word_key
from text.scripts import ALPHABETIC
from text.segment import Segmenter
from text.sign_words import SIGN_WORD, find_sign_words

MAX_QUERY_SYNONYMS = 8  # synonyms in one query; each costs Solr a phrase
_MAX_TERM_WORDS = 6  # words of one term


@dataclass(frozen=True)
class QueryWords:
    """The words of a query.

    Attributes:
        typed: The text to rank by, as typed, without operators.
        text: The same without question words.
        domain: Words of the published lexicon, cut as the documents were.
        content: The content words. A full match contains all of them; () if the query has only symbols.
        residual_chars: Residual characters between the content words. They only raise the score.
        base: Words of the base dictionary; () if the profile does not rank by them.
        synonym_groups: The terms of the query that have synonyms, each followed by them.
        work_boosts: Ids of works with weights (`ranking.parse_work_boosts`).
        wants_recent: A word such as `latest` asks for new articles. It is no content word.
        years: The years in the query.
    """

    typed: str
    text: str
    domain: tuple[str, ...] = ()
    content: tuple[str, ...] = ()
    residual_chars: tuple[str, ...] = ()
    base: tuple[str, ...] = ()
    synonym_groups: tuple[tuple[str, ...], ...] = ()
    work_boosts: tuple[str, ...] = ()
    wants_recent: bool = False
    years: tuple[int, ...] = ()

    @property
    def synonyms(self) -> tuple[str, ...]:
        """The synonyms of all groups, without the terms."""
        return tuple(synonym for _, *synonyms in self.synonym_groups for synonym in synonyms)

    @cached_property
    def _synonyms_by_key(self) -> Mapping[str, tuple[str, ...]]:
        return {
            word_key(word): tuple(synonyms)
            for term, *synonyms in self.synonym_groups
            for word in (*term.split(" "), term)
        }

    def find_synonyms(self, word: str) -> tuple[str, ...]:
        """Return the synonyms of the term that a word of the query is or is part of (`shale`)."""
        return self._synonyms_by_key.get(word_key(word), ())


def segment_words(text: str, segmenter: Segmenter) -> tuple[str, ...]:
    """Return the words of `text` in order, without punctuation and spaces."""
    return tuple(word for word in segmenter.cut(text) if has_word(word))


def segment_query(
    request: SearchRequest,
    segmenter: Segmenter,
    base_segmenter: Segmenter | None,
    thesaurus: "Thesaurus",
    is_term: Callable[[str], bool] | None = None,
) -> QueryWords:
    """Segment a query as the documents were.

    Args:
        request: The search.
        segmenter: The segmenter with the published lexicon.
        base_segmenter: The segmenter with the base dictionary only; None if the profile does not rank by its words.
        thesaurus: The synonyms of the lexicon.
        is_term: Returns True for terms, in which `latest` or a year says nothing about time; None if the profile does
            not rank by time.
    """
    query = request.parsed_query
    text, tokens = query.ranking_text, segmenter.cut(query.ranking_text)
    if not query.conditions and (without := drop_question_words(text, tokens)) != text:
        text, tokens = without, segmenter.cut(without)
    words = tuple(filter(has_word, tokens))
    content, residual_chars = split_content_words(text, tokens)
    time_words = _find_time_words(query, words, is_term) if is_term else frozenset()
    recency_words = time_words & _RECENCY_WORDS
    return QueryWords(
        query.ranking_text,
        text,
        words,
        tuple(word for word in content if word.lower() not in recency_words) or content,
        residual_chars,
        segment_words(text, base_segmenter) if base_segmenter else (),
        find_synonym_groups(query, words, thesaurus),
        wants_recent=bool(recency_words),
        years=tuple(sorted({int(match[0]) for match in _YEAR_RE.finditer(text) if match[0] in time_words})),
    )


_RECENCY_WORDS = frozenset(["最新", "近期", "最近", "latest", "newest", "recent"])
_YEAR_RE = re.compile(r"(?<!\d)(?:19|20)\d\d(?=年)|(?<![\w.])(?:19|20)\d\d(?![\w.])")


def _find_time_words(query: ParsedQuery, words: Sequence[str], is_term: Callable[[str], bool]) -> frozenset[str]:
    """Return the words of a query that say when, in lower case, years without 年: those outside terms and phrases."""
    quoted_words = {part for phrase in query.required_texts(PartKind.PHRASE) for part in phrase.lower().split()}
    in_terms = {word for run in _iter_word_runs(words) if is_term(run) or is_term(run.lower()) for word in run.split()}
    free_words = {word.lower().removesuffix("年") for word in words if word not in in_terms}
    return frozenset(free_words - quoted_words)


_HAN_RE = re.compile("[\u3400-\u9fff]")
_SUPERLATIVE_RE = re.compile("最.{0,2}")
_QUESTION_WORD_RE = re.compile(
    "请问|请教|求问|想问|问下|想知道|告诉我?|怎么?.?|怎么[样办做]|怎样才?能?|如何.?|何[时地为谓以种处人]|[为有]何|为什么|为啥|什么样?"
    "|啥|谁|哪[个些里儿种家位款类年月天次份]?|哪一[个种家位款类年月天次]|多[少久长大高远]|多长时间|几[个种年月天次点时]?"
    "|[是有能会可]不[是有能会可]|[是能可会]否|有没有|能不能够|可不可以|干[嘛啥]|咋.?|[吗呢么吧啊呀啦]"
)
_CHINESE_FUNCTION_WORDS = """
我 你 您 他 她 它 我们 你们 他们 她们 它们 自己 别人 他人 有人 某 某个 某人 本 该 此 其 其它 其他
这 那 这个 那个 这些 那些 这种 那种 这样 那样 这里 那里 每 每个 各 各个 各种 一个 一些 一种 一下
一般 两个 有些 所有 任何 的 地 得 了 着 过 们 等 所 之 之间 上 下 中 里 内 外 前 后 间 时候
以内 以外 以后 以前 期间 和 与 及 及其 以及 或 或者 还是 并 并且 而 而且 且 但 但是 可是 不过 如果
若 假如 只要 只有 虽然 因为 因 由于 所以 因此 为了 既 即 则 那么 同时 另外 其中 在 对 对于 关于
有关 相关 于 由 被 把 将 给 让 使 向 从 自 到 以 按 按照 根据 依据 通过 经过 针对 基于 用 为 比
同 跟 当 是 有 没 没有 不 不是 不能 不会 会 能 能够 可 可以 可能 要 需 需要 应 应当 应该 必须
得以 想 算 属于 进行 做 来 去 也 都 还 还有 就 才 又 再 已 已经 曾 正在 很 太 更 最 非常 只 仅
现 个 种 些 位 次
"""
_ENGLISH_FUNCTION_WORDS = """
a an the this that these those there here it its i me my we us our you your he him his she her they them their
what which who whom whose when where why how is are am was were be been being do does did done have has had can
could should would will shall may might must of in on at by for from with into onto about to as than and or but
if then so not no nor any some each every both all such same other only own too very just please tell most least
best highest lowest largest biggest smallest s t don
"""
_ENGLISH_QUESTION_WORDS = frozenset(["what", "which", "who", "whom", "whose", "when", "where", "why", "how"])
_FUNCTION_WORDS = frozenset(f"{_CHINESE_FUNCTION_WORDS}{_ENGLISH_FUNCTION_WORDS}".split())
# A number and its measure word are one word: 第3期 does not match a 3. A year is also a year without 年. So is what is
# typed without blanks (O'Neill, x-ray, 192.168.1.10, mg/m3), and a word whose sign is part of the name (C++).
_JOINED_WORD_RE = re.compile(
    r"(?P<number>第\s*\d+\s*[\u4e00-\u9fff]?|(?P<year>(?<!\d)[12]\d{3})年|(?<!\d)\d++(?:\.\d+)?[月日期届号条章集回卷版季周])"
    rf"|{SIGN_WORD}|(?<!{ALPHABETIC}){ALPHABETIC}++(?:(?:[-‐-–'./:&@%+#_·]|(?<=[0-9])[,;](?=[0-9])){ALPHABETIC}++)++"
)
_SHORT_HIRAGANA_RE = re.compile("[\u3041-\u309f]{1,2}")  # particles and endings


def split_content_words(text: str, tokens: Sequence[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Split a query into content words and residual characters, each in query order without repetitions.

    A residual character is a Han character that the segmenter left between words (纠缠|态). It occurs in words of any
    meaning, so documents are not counted by it. A character typed on its own is a content word. If no word has content,
    all words are returned as content words.

    Args:
        text: The query.
        tokens: `text` as a segmenter cuts it, including punctuation and spaces between the words.

    Returns:
        The content words and the residual characters.
    """
    words_with_offset = [(word, offset) for word, offset in _iter_joined_words(text, tokens) if has_word(word)]
    words = [word for word, _ in words_with_offset]
    is_all_caps = all(word == word.upper() for word in words)
    content = [
        word_and_offset
        for n, word_and_offset in enumerate(words_with_offset)
        if not _is_function_word(word_and_offset[0], words[n + 1 : n + 2], is_all_caps)
    ]
    residual_chars = [word for word, offset in content if _is_residual_char(text, word, offset)]
    counted_words = [word for word, offset in content if not _is_residual_char(text, word, offset)]
    return (
        (_dedupe(counted_words), _dedupe(residual_chars)) if counted_words else (_dedupe(residual_chars or words), ())
    )


def drop_question_words(text: str, tokens: Sequence[str]) -> str:
    """Return a query without its question words, for ranking: `LNG是什么` is not about 什么.

    Returns `text` itself if it contains no content word.

    Args:
        text: The query.
        tokens: `text` as a segmenter cuts it, including punctuation and spaces between the words.
    """
    words = list(filter(has_word, tokens))
    is_all_caps = all(word == word.upper() for word in words)
    if all(_is_function_word(word, words[n + 1 : n + 2], is_all_caps) for n, word in enumerate(words)):
        return text
    without = (" " if has_word(token) and _is_question_word(token, is_all_caps) else token for token in tokens)
    return " ".join("".join(without).split())


def _dedupe(words: Sequence[str]) -> tuple[str, ...]:
    return tuple({word.lower(): word for word in reversed(words)}.values())[::-1]


def _is_residual_char(text: str, word: str, offset: int) -> bool:
    neighbours = text[offset - 1 : offset] + text[offset + 1 : offset + 2]
    return bool(_HAN_RE.fullmatch(word) and _HAN_RE.search(neighbours))


def _iter_joined_words(text: str, tokens: Sequence[str]) -> Iterator[tuple[str, int]]:
    """Yield the words with their offsets in `text`, the tokens of a joined word (`_JOINED_WORD_RE`) as one."""
    ends = list(accumulate(map(len, tokens)))
    boundaries = {0, *ends}
    matches = _JOINED_WORD_RE.finditer(text)
    match_by_start = {match.start(): match for match in matches if match["number"] or {*match.span()} <= boundaries}
    consumed_until = 0
    for token, end in zip(tokens, ends, strict=True):
        offset = end - len(token)
        if offset >= consumed_until and (match := match_by_start.get(offset)):
            yield match["year"] or match[0], offset
            consumed_until = match.end()
        elif offset >= consumed_until:
            yield token, offset
        if offset < consumed_until < end:
            yield text[consumed_until:end], consumed_until


def is_function_word(word: str) -> bool:
    """Return True if a folded word only serves the grammar of a sentence, or asks a question."""
    return word in _FUNCTION_WORDS or bool(_QUESTION_WORD_RE.fullmatch(word))


def _is_function_word(word: str, next_words: Sequence[str], is_all_caps: bool) -> bool:
    """Return True if the word only serves the grammar of the sentence."""
    if word.isascii():  # also joined ones: what's, and/or
        parts = re.findall(f"{ALPHABETIC}+", word)
        is_function = all(part.lower() in _FUNCTION_WORDS for part in parts) and not find_sign_words(word)
        return is_function and not _is_abbreviation(word, is_all_caps)
    if _SUPERLATIVE_RE.fullmatch(word):  # 最高的, or at the end; 最高法院 is a court
        return not next_words or next_words[0] == "的"
    return is_function_word(fold_width(word)) or bool(_SHORT_HIRAGANA_RE.fullmatch(word))


def _is_question_word(word: str, is_all_caps: bool) -> bool:
    if word.isascii():
        return word.lower() in _ENGLISH_QUESTION_WORDS and not _is_abbreviation(word, is_all_caps)
    return bool(_QUESTION_WORD_RE.fullmatch(fold_width(word)))


def _is_abbreviation(word: str, is_all_caps: bool) -> bool:
    """Return True for words such as `IT` and `WHO` among small letters."""
    return len(word) > 1 and word.isupper() and not is_all_caps


@dataclass(frozen=True)
class Thesaurus:
    """Groups of synonyms, by the `word_key` of each member."""

    group_by_key: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def find_synonyms(self, word: str) -> tuple[str, ...]:
        """Return the synonyms of `word`, in the order of the lexicon; () if there are none."""
        key = word_key(word)
        return tuple(synonym for synonym in self.group_by_key.get(key, ()) if word_key(synonym) != key)


def build_thesaurus(lexicon: Lexicon) -> Thesaurus:
    """Build the thesaurus of a lexicon. A synonym leads to its term and to the other synonyms of the term."""
    groups: dict[str, tuple[str, ...]] = {}
    for entry in lexicon.entries:
        if not entry.synonyms:
            continue
        group = (entry.text, *entry.synonyms)
        for word in group:
            groups[word_key(word)] = tuple(dict.fromkeys((*groups.get(word_key(word), ()), *group)))
    return Thesaurus(groups)


def find_synonym_groups(query: ParsedQuery, words: Sequence[str], thesaurus: Thesaurus) -> tuple[tuple[str, ...], ...]:
    """Return the terms of a query that have synonyms, each followed by them.

    There are at most `MAX_QUERY_SYNONYMS` synonyms in all. Quoted phrases get no synonyms, and words that occur in the
    query are not added again.

    Args:
        query: The parsed query.
        words: Its text, cut by the lexicon. Several words can form one term (`shale`, `gas`).
        thesaurus: The synonyms of the lexicon.
    """
    if not thesaurus.group_by_key:
        return ()
    used_keys = {word_key(phrase) for phrase in query.required_texts(PartKind.PHRASE)}
    query_key, groups, remaining = word_key(query.ranking_text), [], MAX_QUERY_SYNONYMS
    for run in _iter_word_runs(words):
        if word_key(run) in used_keys:
            continue
        keys = {synonym: word_key(synonym) for synonym in thesaurus.find_synonyms(run)}
        new_synonyms = [synonym for synonym, key in keys.items() if key not in query_key and key not in used_keys][
            :remaining
        ]
        used_keys |= {word_key(run), *(keys[synonym] for synonym in new_synonyms)}
        remaining -= len(new_synonyms)
        groups += [(run, *new_synonyms)] if new_synonyms else []
    return tuple(groups)


def _iter_word_runs(words: Sequence[str]) -> Iterable[str]:
    """Yield every run of adjacent words as one text. `word_key` removes spaces beside Chinese characters."""
    for start, end in combinations(range(len(words) + 1), 2):
        if end - start <= _MAX_TERM_WORDS:
            yield " ".join(words[start:end])
