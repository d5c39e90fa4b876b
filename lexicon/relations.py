"""Relations between known terms: broader terms from head words and from phrases, equivalents and renamings. Pure.

head      shale gas -> gas, 致密砂岩气藏 -> 气藏
phrases   "gases such as methane", "methane and other gases", "methane is a kind of gas",
          甲烷、乙烷等烃类, 烃类（如甲烷、乙烷）, 甲烷是一种烃类, 甲烷属于烃类, 烃类分为烷烃和烯烃
gloss     页岩气 (shale gas), shale gas（页岩气）
renaming  猴痘更名为猴痘病, mpox (formerly known as monkeypox), see lexicon/renamings.py
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from typing import NamedTuple

from domain.term_relation import RelationKind, RelationProposal, TermRelation
from lexicon.renamings import PLACEHOLDER, has_renaming_cue, iter_renamings
from lexicon.sentences import Sentence
from text.folding import word_key
from text.glosses import Gloss, is_translation, iter_glosses, run_suffixes
from text.scripts import language_of_term
from text.segment import cut_by_dictionary, is_in_dictionary

MAX_SENTENCE_CHARS = 400
MAX_LIST_CHARS = 200
MIN_HEAD_CHARS = 2
SCORE_BY_PATTERN: Mapping[str, float] = {
    "kind_of": 0.9,
    "such_as": 0.85,
    "and_other": 0.85,
    "divided": 0.8,
    "head": 0.85,
    "gloss": 0.9,
    "renaming": 0.9,
}

_TERM = PLACEHOLDER
_LETTERS = re.compile(r"[^\W\d_].*[^\W\d_]")
_QUOTES = r"[“”\"'「」《》]?"
_BRACKETS = r"(?:\s?[（(][^（）()]{1,40}[）)])?"
_END_ZH = r"(?=$|[，,。.；;：:！？、）)”」]|[的是在为也均都和与及或])"
_CLAUSE_END_ZH = r"(?=$|[，,。.；;：:！？）)”」])"
_COUNT_ZH = (
    r"(?:[几多各数诸\d一二三四五六七八九十两]{0,2}[种类项个大]?)"
    r"(?:新型|主要|常见|重要|其他|相关|不同|典型|传统|现代|关键|常用)?的?"
)
_NOT_END_ZH = r"[^，,。；;：:！？（）()]"
_LIST_BEFORE = rf"(?<=[{_TERM}”」》])"  # the list is read backwards from here
_LIST_AFTER_ZH = rf"(?P<after>{_QUOTES}{_TERM}{_NOT_END_ZH}*)"
_BROADER = rf"{_QUOTES}(?P<broader>{_TERM}){_QUOTES}"
_PHRASES_ZH = (
    ("and_other", rf"{_LIST_BEFORE}等{_COUNT_ZH}{_BROADER}{_END_ZH}"),
    ("and_other", rf"{_LIST_BEFORE}(?:以?及|和|与|或)其[他它]{_COUNT_ZH}{_BROADER}{_END_ZH}"),
    (
        "such_as",
        rf"{_BROADER}[，,（(]?(?:例如|比如|诸如|如|(?<=[，,（(])包括(?!{_NOT_END_ZH}*在内))[:：]?{_LIST_AFTER_ZH}",
    ),
    ("divided", rf"(?<![按据照依]){_BROADER}(?:一般|主要|通常)?(?:可以?)?(?:划?分为|分成)[:：]?{_LIST_AFTER_ZH}"),
    (
        "kind_of",
        rf"(?P<term>{_TERM}{_QUOTES}){_BRACKETS}(?:就|其实|通常|一般|也|均|都)?(?:是|属于|为|作为)"
        rf"(?:最|较|非常)?[^的不非没未，,。；;：:]{{0,6}}?一[种类项个门款]{_NOT_END_ZH}{{0,25}}{_BROADER}"
        rf"{_CLAUSE_END_ZH}",
    ),
    (
        "kind_of",
        rf"(?P<term>{_TERM}{_QUOTES}){_BRACKETS}(?:均|都|也)?(?:属于?|是){_BROADER}(?:的一种|之一|范畴){_CLAUSE_END_ZH}",
    ),
    ("kind_of", rf"(?P<term>{_TERM}{_QUOTES}){_BRACKETS}(?:均|都|也)?属于{_BROADER}{_CLAUSE_END_ZH}"),
)
_VERB_AFTER_EN = (
    r"(?:is|are|was|were|has|have|had|can|may|might|will|would|should|could|in|of|for|on|to|that|which|who|with|by|"
    r"from|at|as|do|does|did|when|where|while|into|under|during)\b"
)
_END_EN = rf"(?=\s*(?:$|[,.;:!?)—–\]]|(?:and|or|but)\b|{_VERB_AFTER_EN}))"
_CLAUSE_EN = r"[^.;:!?()]"
_LIST_AFTER_EN = rf"(?P<after>{_CLAUSE_EN}+)"
_MODIFIERS_EN = r"(?:(?!(?:of|in|for|to|the|on|by|from|with|at|that|which|and|or|as)\b)[\w-]+\s+){0,3}"
_PHRASES_EN = (
    ("such_as", rf"{_BROADER},?\s+(?:such as|for example,?|e\.g\.,?)\s+{_LIST_AFTER_EN}"),
    ("such_as", rf"\bsuch\s+{_BROADER}\s+as\s+{_LIST_AFTER_EN}"),
    ("such_as", rf"{_BROADER}\s+\((?:such as|e\.g\.,?|for example,?|including)\s+{_LIST_AFTER_EN}"),
    (
        "and_other",
        rf"{_LIST_BEFORE},?\s+(?:and|or)\s+(?:any\s+|some\s+|many\s+)?other\s+(?:\w+\s+)?{_BROADER}{_END_EN}",
    ),
    (
        "kind_of",
        rf"(?P<term>{_TERM}){_BRACKETS}\s+(?:is|are|was|were)\s+(?:an?\s+|one\s+)?{_MODIFIERS_EN}"
        rf"(?:kinds?|types?|forms?|sorts?)\s+of\s+{_MODIFIERS_EN}{_BROADER}{_END_EN}",
    ),
    (
        "kind_of",
        rf"^\s*(?:an?\s+|the\s+)?(?P<term>{_TERM}){_BRACKETS}\s+(?:is|are)\s+(?:an?|any)\s+{_MODIFIERS_EN}{_BROADER}"
        rf"(?=\s*(?:$|[,.;)]|that\b|which\b|used\b|with\b|in\b|for\b))",
    ),
)


class _ListSyntax(NamedTuple):
    """How terms are listed in a language."""

    separator: re.Pattern[str]
    item: re.Pattern[str]
    first_item: re.Pattern[str]  # after other words of the sentence
    last_item: re.Pattern[str]  # before other words of the sentence
    clause_before: re.Pattern[str]


_LISTS = {
    "zh": _ListSyntax(
        re.compile(r"(、|以及|[和与及或])"),
        re.compile(rf"^{_QUOTES}{_TERM}{_QUOTES}$"),
        re.compile(rf"[的在对以由将从如为是有含了到]{_QUOTES}{_TERM}{_QUOTES}$"),
        re.compile(rf"^{_QUOTES}{_TERM}{_QUOTES}(?:等|$)"),
        re.compile(rf"(?<!{_NOT_END_ZH}){_NOT_END_ZH}*+$"),
    ),
    "en": _ListSyntax(
        re.compile(r"(,?(?<!\s)\s++(?:and|or)\s+|,\s*)"),
        re.compile(rf"^(?:the\s+|an?\s+|both\s+)?{_TERM}$"),
        re.compile(rf"[a-z]\s+{_TERM}$"),
        re.compile(rf"^(?:the\s+|an?\s+)?{_TERM}(?=$|\s*[)]|\s+{_VERB_AFTER_EN})"),
        re.compile(rf"(?<!{_CLAUSE_EN}){_CLAUSE_EN}*+$"),
    ),
}
_PREPOSITIONS_EN = re.compile(r"\s(?:of|in|for|on|to|by|with|from|at|between|under|per)\s")
_COORDINATION = re.compile(r"[和与及或、/／]|\s(?:and|or)\s")
_PREFIXES_ZH = "非无反抗伪准类半超亚未不"  # a negated or likened head is not the broader term
_VERBS_ZH = re.compile(
    "^(?:提高|降低|改善|增加|减少|加强|保护|实现|推进|促进|提升|优化|影响|控制|防止|预防|求解|采用|利用|使用)"
)


_PHRASES_BY_LANGUAGE = {
    language: [(name, re.compile(regex, re.IGNORECASE)) for name, regex in phrases]
    for language, phrases in (("zh", _PHRASES_ZH), ("en", _PHRASES_EN))
}


class RelationFinder:
    """Finds the relations of known terms in sentences, and collects those of articles.

    Args:
        terms: The known terms.
        url_ids: The articles to read.
        glosses: Glosses by article, of all articles.

    Attributes:
        url_ids: The articles to read.
        term_by_key: The known terms; English plurals are keys too.
    """

    def __init__(
        self, terms: Iterable[str], url_ids: Set[int] = frozenset(), glosses: Iterable[tuple[int, Gloss]] = ()
    ) -> None:
        self.url_ids = url_ids
        self.term_by_key = index_terms(terms)
        self._head_by_term = {term: head for term in self.term_by_key.values() if (head := self._find_head(term))}
        self._best: dict[tuple[str, str, str], RelationProposal] = {}
        self._glossed_articles: defaultdict[str, defaultdict[str, set[int]]] = defaultdict(lambda: defaultdict(set))
        for url_id, gloss in glosses:
            if url_id not in url_ids and (pair := self._find_pair(gloss)):
                self._count_gloss(url_id, *pair)

    @property
    def best(self) -> list[RelationProposal]:
        """The relations that the articles show, each with its best sentence, without its source."""
        return [
            proposal
            for proposal in self._best.values()
            if proposal.relation.pattern != "gloss" or self._is_translation(proposal.relation)
        ]

    def read(self, url_id: int, sentences: Iterable[Sentence]) -> None:
        """Collect the relations of an article."""
        for relation in (relation for sentence in sentences for relation in self.find(sentence)):
            if relation.pattern == "gloss":
                self._count_gloss(url_id, relation.term, relation.other)
            key = relation.kind, relation.term, relation.other
            if key not in self._best or self._best[key].relation.score < relation.score:
                self._best[key] = RelationProposal(relation, url_id, "", "", 0.0)

    def find(self, matched_sentence: Sentence) -> list[TermRelation]:
        """Return the relations that a sentence shows, each once, the best pattern of each pair."""
        sentence = matched_sentence.text
        if len(sentence) > MAX_SENTENCE_CHARS or _TERM in sentence:
            return []
        matches = matched_sentence.find_terms(self.term_by_key)
        spans, keys = [(start, end) for start, end, _ in matches], [match.key for match in matches]
        relations = [*self._iter_heads(keys, sentence), *self._iter_glosses(sentence)]
        if len(keys) > 1:
            relations += self._iter_phrases(_mask(sentence, spans), spans, keys, sentence)
        if keys and has_renaming_cue(sentence):
            relations += self._iter_renamings(_mask(sentence, spans), keys, spans, sentence)
        if not relations:
            return []
        best = sorted(relations, key=lambda relation: -relation.score)
        return list({(relation.kind, relation.term, relation.other): relation for relation in reversed(best)}.values())

    def _iter_heads(self, keys: Iterable[str], sentence: str) -> Iterator[TermRelation]:
        for key in keys:
            term = self.term_by_key[key]
            if head := self._head_by_term.get(term):
                yield _relation(RelationKind.BROADER, term, head, "head", sentence)

    def _iter_phrases(
        self, masked_sentence: str, spans: Sequence[tuple[int, int]], keys: Sequence[str], sentence: str
    ) -> Iterator[TermRelation]:
        language, terms = language_of_term(sentence), [self.term_by_key[key] for key in keys]
        for pattern, regex in _PHRASES_BY_LANGUAGE[language]:
            for match in regex.finditer(masked_sentence):
                index = masked_sentence.count(_TERM, 0, match.start("broader"))
                broader = terms[index]
                is_single_head = keys[index].endswith("s") and not _PREPOSITIONS_EN.search(broader)
                if pattern == "such_as" and language == "en" and not is_single_head:
                    continue  # "neighbours in the periodic table such as lead", "birds of wetlands such as marshes"
                start, end = spans[index]
                if start > 0 and sentence[start:end].split(" ")[-1].istitle():
                    continue  # "Microsoft Teams such as captions"
                for offset in _iter_narrower_offsets(match, language):
                    term = terms[masked_sentence.count(_TERM, 0, offset)]
                    if not word_key(broader).endswith(word_key(term)):  # else it is the same or narrower
                        yield _relation(RelationKind.BROADER, term, broader, pattern, sentence)

    def _iter_glosses(self, sentence: str) -> Iterator[TermRelation]:
        for gloss in iter_glosses(sentence):
            if pair := self._find_pair(gloss):
                yield _relation(RelationKind.EQUIVALENT, *pair, "gloss", sentence)

    def _find_pair(self, gloss: Gloss) -> tuple[str, str] | None:
        """Return the known term before the brackets of a gloss, and the text in them."""
        end = next((key for end in run_suffixes(gloss) if (key := word_key(end)) in self.term_by_key), "")
        return (self.term_by_key[end], gloss.han if gloss.is_han_in_brackets else gloss.latin) if end else None

    def _count_gloss(self, url_id: int, term: str, equivalent: str) -> None:
        self._glossed_articles[term][word_key(equivalent)].add(url_id)

    def _is_translation(self, relation: TermRelation) -> bool:
        glossed_articles = self._glossed_articles[relation.term]
        return is_translation(
            len(glossed_articles[word_key(relation.other)]), len(set[int]().union(*glossed_articles.values()))
        )

    def _iter_renamings(
        self, masked_sentence: str, keys: Sequence[str], spans: Sequence[tuple[int, int]], sentence: str
    ) -> Iterator[TermRelation]:
        surfaces = [sentence[start:end] for start, end in spans]
        for renaming in iter_renamings(masked_sentence):
            (old, is_old_known), (new, is_new_known) = (
                self._read_name(masked_sentence, span, keys, surfaces) for span in renaming
            )
            if word_key(old) == word_key(new) or not all(map(_LETTERS.search, (old, new))):
                continue
            if is_new_known:
                yield _relation(RelationKind.FORMER, new, old, "renaming", sentence)
            elif is_old_known:
                yield _relation(RelationKind.RENAMED, old, new, "renaming", sentence)

    def _read_name(
        self, masked_sentence: str, span: tuple[int, int], keys: Sequence[str], surfaces: Sequence[str]
    ) -> tuple[str, bool]:
        """Return the name in a span of a masked sentence, and whether it is a known term."""
        index, masked_name = masked_sentence.count(_TERM, 0, span[0]), masked_sentence[slice(*span)]
        if masked_name == _TERM:
            return self.term_by_key[keys[index]], True
        next_surfaces = iter(surfaces[index:])
        name = "".join(next(next_surfaces) if character == _TERM else character for character in masked_name)
        return self.term_by_key.get(word_key(name), name), word_key(name) in self.term_by_key

    def _find_head(self, term: str) -> str:
        """Return the longest known term that is the head word of a term, or ""."""
        key = word_key(term)
        ends = _head_keys_zh(key) if language_of_term(term) == "zh" else _head_keys_en(key)
        heads = (self.term_by_key[end] for end in ends if end in self.term_by_key)
        return next((head for head in heads if word_key(head) not in find_number_forms(key) and head != term), "")


def index_terms(terms: Iterable[str]) -> dict[str, str]:
    """Return terms by their `word_key`s, and by those of their English plurals."""
    term_by_key = {word_key(term): term for term in terms}
    return {plural: term for key, term in term_by_key.items() for plural in find_number_forms(key)} | term_by_key


def _head_keys_zh(key: str) -> Iterator[str]:
    if _VERBS_ZH.match(key) or _COORDINATION.search(key):
        return
    for start in range(1, len(key) - MIN_HEAD_CHARS + 1):
        if key[start - 1] not in _PREFIXES_ZH and _is_word_boundary(key, start):
            yield key[start:]


def _is_word_boundary(key: str, start: int) -> bool:
    """Return True if a word of a Chinese term begins at this offset."""
    offset = 0
    for word in cut_by_dictionary(key):
        if offset == start:
            return True
        offset += len(word)
    return start > 1 and is_in_dictionary(key[:start])


def _head_keys_en(key: str) -> Iterator[str]:
    if _COORDINATION.search(key):
        return
    head_phrase = _PREPOSITIONS_EN.split(key)[0]
    if head_phrase != key:
        yield head_phrase
    words = head_phrase.split(" ")
    yield from (" ".join(words[start:]) for start in range(1, len(words)) if not words[start - 1].isdigit())


def find_number_forms(text: str) -> set[str]:
    """Return the `word_key`s of a term and of its possible English plurals: a singular and its plural share one."""
    key = word_key(text)
    is_english = language_of_term(key) == "en" and key[-1:].isalpha()
    return {key, *((f"{key}s", f"{key}es", f"{key[:-1]}ies")[: 2 + key.endswith("y")] if is_english else ())}


def _mask(sentence: str, spans: Iterable[tuple[int, int]]) -> str:
    """Replace each span by the placeholder."""
    parts, offset = [], 0
    for start, end in spans:
        parts += [sentence[offset:start], _TERM]
        offset = end
    return "".join([*parts, sentence[offset:]])


def _iter_narrower_offsets(match: re.Match[str], language: str) -> Iterator[int]:
    """Yield the offsets of the narrower terms of a phrase: one term, or a list before or after the broader term."""
    groups = match.re.groupindex
    if "term" in groups:
        yield match.start("term")
    elif "after" in groups:
        yield from _iter_list_after(match["after"], match.start("after"), _LISTS[language])
    else:
        clause = _LISTS[language].clause_before.search(
            match.string, max(0, match.start() - MAX_LIST_CHARS), match.start()
        )
        if clause:
            yield from _iter_list_before(clause[0], match.start(), _LISTS[language])


def _iter_list_after(text: str, offset: int, syntax: _ListSyntax) -> Iterator[int]:
    """Yield the offsets of the terms of a list that begins the text, which begins at `offset` of the sentence."""
    for index, part in enumerate(syntax.separator.split(text)):
        if index % 2 == 0:
            is_item = syntax.item.search(part)
            if is_item or syntax.last_item.search(part):
                yield offset + part.index(_TERM)
            if not is_item:
                return
        offset += len(part)


def _iter_list_before(text: str, end: int, syntax: _ListSyntax) -> Iterator[int]:
    """Yield the offsets of the terms of a list that ends the text, which ends at `end` of the sentence."""
    parts = syntax.separator.split(text)
    for index in range(len(parts) - 1, -1, -2):
        part = parts[index]
        is_item = syntax.item.search(part)
        if is_item or syntax.first_item.search(part):
            yield end - len(part) + part.rindex(_TERM)
        if not is_item:
            return
        end -= len(part) + len(parts[index - 1])


def _relation(kind: RelationKind, term: str, other: str, pattern: str, sentence: str) -> TermRelation:
    return TermRelation(kind, term, other, pattern, SCORE_BY_PATTERN[pattern], sentence)
