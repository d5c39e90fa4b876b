"""Sentences that define a term: cue patterns and a logistic model choose among the sentences that contain the term."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import replace
from functools import lru_cache
from math import exp, isclose, log

from domain.term import MIN_PUBLIC_SCORE, Definition
from lexicon.definition_weights import THRESHOLD_BY_LANGUAGE, WEIGHTS_BY_LANGUAGE
from lexicon.sentences import Sentence
from text.folding import word_key
from text.scripts import language_of_term

MIN_SENTENCE_CHARS = 8
MAX_SENTENCE_CHARS = 600
MAX_ARTICLES_PER_TERM = 500
MAX_CANDIDATES_PER_TERM = 3

_BRACKETS = r"(?:\s*+[（(][^（）()]{1,60}[）)])?"
_QUOTES = "“”\"'‘’「」『』《》"
_PREFIX_ZH = rf"^\s*(?:[（(]?[\d一二三四五六七八九十]+[)）.、．]?\s*)?[{_QUOTES}]?"
_ARTICLE_EN = "(?:an?|the(?: term)?)"
_PREFIX_EN = (
    rf"^\s*(?:\(?\d+[).]\s*)?[{_QUOTES}]?"
    rf"(?:(?:{_ARTICLE_EN}|(?:as used in|in|for the purposes? of) [^,]{{1,40}},(?: {_ARTICLE_EN})?)\s+)?[{_QUOTES}]?"
)
_CALLED_ZH = r"(?:[^，,。]{0,20}(?:所[称谓指述说]|规定|[条款项]中)的?)?"  # 本法所称, 第三条规定的
_AFTER = rf"[{_QUOTES}]?{_BRACKETS}[{_QUOTES}]?"
_MEASURE_WORD = r"(?:一(?:种|个|类|项|套|组|款|门|段|份|条|名|次|块|张|部|系列)|某|所有|任何|指)"
_CUES_ZH = {
    "states_meaning": (
        r"{prefix}{called}{quotes}?{term}{after}\s*+[，,：:]?+\s*+(?:是指|系指|"
        r"指的是|指(?![出责导示向控定挥数标令明南针派望认引教使点纹])|定义为|意思是|即指)"
    ),
    "is_kind": r"{prefix}{term}{after}\s*+[，,]?+\s*+(?:就|其实|通常|一般|也)?+\s*+(?:是|为)\s*+{measure}",
    "is_other": (
        r"{prefix}{term}{after}\s*+[，,]?+\s*+是"
        r"(?!\s*\d|其中|否|不|在|因|由|通过|必|可|唯一|正|您|当|基于|默认|使用|用)"
    ),
    "so_called": r"所[谓称](?:的)?\s*{quotes}?{term}",
    "has_purpose": (
        r"{prefix}{term}{after}\s*(?:可)?(?:用于|用来|负责|描述|提供|允许|包含|包括|定义了?|使(?!用)|将(?![在会被由于])|"
        r"能够|可让|可使|确定|指定|控制)"
    ),
    "named_at_end": r"(?:称为|称作|叫做|叫作|即为|称之为)\s*{quotes}?{term}",
}
_CUES_EN = {
    "states_meaning": (
        r"{prefix}{term}{after},?\s+(?:(?:is|are|was|were)\s+(?:\w+\s+)?(?:defined|understood|"
        r"described) (?:as|by)|(?:\w+ly\s+)?refers?\s+to|means?\b(?! (?:of|that))|denotes?\b|"
        r"describes?\b|consists? of|involves?\b|occurs? when|represents?\b)"
    ),
    "is_kind": (
        r"{prefix}{term}{after}(?:,[^,]{{1,80}},)?\s+(?:is|are|was|were)\s+(?:\w+ly\s+)?(?:an?\b|any\b|"
        r"one that|(?:types?|forms?|kinds?|sets?) of)"
    ),
    "is_the": (
        r"{prefix}{term}{after}(?:,[^,]{{1,80}},)?\s+(?:is|are|was|were)\s+(?:\w+ly\s+)?(?:the\b|those\b|"
        r"what\b|when\b|how\b|one of\b)"
    ),
    "is_other": (
        r"{prefix}{term}{after}(?:,[^,]{{1,80}},)?\s+(?:is|are)\s+(?!not\b|also\b|an?\b|the\b|\w+ly\b|"
        r"more\b|less\b|very\b|\w+(?:ed|ing|wn)\b)\w"
    ),
    "named_at_end": (
        r"(?:called|known as|termed|referred to as|named|call this|call it|defined as)\s+(?:an?\s+|"
        r"the\s+)?{quotes}?{term}"
    ),
    "gloss_after": r"{term}\s*\((?=[a-z]+\s)[^()]{{12,}}\)",
    "gloss_before": r"\w\s*\((?:(?:its|an?|the|or|called|known as|termed)\s+)*{quotes}?{term}{quotes}?\)",
    "entry": r"{prefix}{term}{after}\s*:\s*\S",
}
_TRAITS_ZH = {
    "question": r"[?？]|什么|如何",
    "ends_with_colon": r"[：:]\s*$",
    "refers_elsewhere": r"(?:参见|请参阅|参考|详见|有关.{0,30}信息|更多信息|本节|本文|规定的.{0,8}$)",
    "addresses_reader": r"您|我们|你|请",
    "evaluates": r"[是为][^，。]{0,12}(?:重要|关键|核心|主要|最)|之一|唯一",
    "noun_modifier": r"的[^的，。]{1,14}[。.；;]?\s*$",
}
_TRAITS_EN = {
    "question": r"\?",
    "ends_with_colon": r":\s*$",
    "refers_elsewhere": r"\b(?:[Ss]ee|[Ff]igure|[Tt]able|[Cc]hapter|[Ss]ection)\b",
    "addresses_reader": r"\b(?:I|we|We|you|You|your|our|us|my)\b",
    "points_back": r"^\s*(?:This|These|That|Those|It|They|He|She|But|However|If|When|Such|For example)\b",
    "evaluates": r"\b(?:is|are) (?:an?|one of(?: the)?|the|\w+ly)? ?(?:very|more|most|important|key|major|main)\b",
    "past_tense": r"\b(?:was|were|had)\b",
    "relative_clause": r"\b(?:that|which|who|whose|in which|used to|used for|by which|where)\b",
    "year": r"\b1\d{3}\b|\b20\d\d\b|\bBC\b",
}
_LINKS_ZH = '的和与或及在是为对将把被由从以用到于该此其这即称谓指有使等，。、：:；;（）() “”"《》「」/'
_AFTER_ZH = '是指的为即可在用和与或及将会有能通允提表包负也就具需由应不被，。、：:；;（）() “”"《》「」/'
_WORDS_BEFORE_EN = re.compile(
    r"(?:an?|the|of|and|or|in|on|by|to|for|with|as|from|called|termed|named|is|are|this|each|any|such|that)",
    re.IGNORECASE,
)
_WORDS_AFTER_EN = re.compile(
    r"(?:is|are|was|were|refers|means|of|in|that|which|and|or|to|for|can|may|has|have|by|as|at|with|on|from|occurs|"
    r"involves|describes|consists|denotes|represents|includes|contains|does|do|will)",
    re.IGNORECASE,
)


_CUES_OF_KIND = ("states_meaning", "is_kind", "is_the")
_PLACEHOLDER = "\ue000"  # a private-use character that stands for the term


def _compile_cues(cues: Mapping[str, str], prefix: str) -> Mapping[str, re.Pattern[str]]:
    parts = {
        "prefix": prefix,
        "called": _CALLED_ZH,
        "term": _PLACEHOLDER,
        "after": _AFTER,
        "brackets": _BRACKETS,
        "quotes": f"[{_QUOTES}]",
        "measure": _MEASURE_WORD,
    }
    return {name: re.compile(cue.format_map(parts), re.IGNORECASE) for name, cue in cues.items()}


_CUE_RES_ZH, _CUE_RES_EN = _compile_cues(_CUES_ZH, _PREFIX_ZH), _compile_cues(_CUES_EN, _PREFIX_EN)
_TRAIT_RES_ZH, _TRAIT_RES_EN = (
    {name: re.compile(trait) for name, trait in traits.items()} for traits in (_TRAITS_ZH, _TRAITS_EN)
)
_START_ZH = re.compile(rf"{_PREFIX_ZH}{_CALLED_ZH}[{_QUOTES}]?{_PLACEHOLDER}")
_START_EN = re.compile(_PREFIX_EN + _PLACEHOLDER, re.IGNORECASE)


class DefinitionFinder:
    """Collects the best definitions of terms in at most MAX_ARTICLES_PER_TERM articles with each term.

    Attributes:
        url_ids: The articles to read.
        term_by_key: The terms.
        best_by_term: Definitions without their sources, best first.
    """

    def __init__(self, terms: Iterable[str], url_ids: Set[int]) -> None:
        self.url_ids = url_ids
        self.term_by_key = {word_key(term): term for term in terms}
        self.best_by_term: dict[str, list[Definition]] = {}
        self._article_counts = Counter[str]()

    def read(self, url_id: int, sentences: Iterable[Sentence]) -> None:
        """Collect the definitions of an article."""
        sentences_by_key: defaultdict[str, list[tuple[str, str]]] = defaultdict(list)
        for sentence in sentences:
            for key in {match.key for match in sentence.find_terms(self.term_by_key)}:
                sentences_by_key[key].append((sentence.text, sentence.previous_text))
        self._article_counts.update(sentences_by_key.keys())
        for key, term_sentences in sentences_by_key.items():
            term = self.term_by_key[key]
            if self._article_counts[key] > MAX_ARTICLES_PER_TERM:
                continue
            if choice := choose_definition(term, term_sentences):
                text, score = term_sentences[choice[0]][0], choice[1]
                definition = Definition(term, language_of_term(term), text, url_id, "", "", "", score, 0.0)
                self.best_by_term[term] = _keep_best([*self.best_by_term.get(term, ()), definition])


def _keep_best(definitions: Iterable[Definition]) -> list[Definition]:
    """Return the best definitions, each sentence once."""
    best_by_sentence: dict[str, Definition] = {}
    for definition in sorted(definitions, key=lambda definition: (-definition.score, definition.url_id)):
        best_by_sentence.setdefault(definition.sentence, definition)
    return list(best_by_sentence.values())[:MAX_CANDIDATES_PER_TERM]


def rescore_definitions(stored_definitions: Iterable[Definition]) -> tuple[list[Definition], list[Definition]]:
    """Return the definitions of an earlier model with the best score that this model can give, and those below."""
    rescored_definitions, rejected_definitions = [], []
    for definition in stored_definitions:
        own_score, heading_score = (
            score_definition(definition.term, definition.sentence, text) for text in ("", definition.term)
        )
        if definition.needs_recheck or any(isclose(definition.score, score) for score in (own_score, heading_score)):
            continue
        # What stood before the sentence is unknown: a heading can make it a candidate, but not public.
        score = max(own_score, min(heading_score, MIN_PUBLIC_SCORE - 0.01))
        if score < THRESHOLD_BY_LANGUAGE[definition.language]:
            rejected_definitions.append(definition)
        elif score < definition.score:
            rescored_definitions.append(replace(definition, score=score))
    return rescored_definitions, rejected_definitions


def score_definition(term: str, sentence: str, previous_text: str = "") -> float:
    """Return the probability, 0 to 1, that a sentence alone tells what the term is or does.

    Args:
        term: the term in any spelling of case.
        sentence: one sentence. Without the term, or with an unsuitable length, the probability is 0.
        previous_text: the sentence, heading or title before it.
    """
    if not MIN_SENTENCE_CHARS <= len(sentence) <= MAX_SENTENCE_CHARS:
        return 0.0
    features = definition_features(term, sentence, previous_text)
    if not features:
        return 0.0
    weights = WEIGHTS_BY_LANGUAGE[language_of_term(term)]
    return 1 / (1 + exp(-sum(weights.get(name, 0.0) * value for name, value in features.items())))


def choose_definition(term: str, sentences: Sequence[tuple[str, str]]) -> tuple[int, float] | None:
    """Return the index and the probability of the best definition; None if all are below the threshold.

    Args:
        sentences: Each with the sentence, heading or title before it.
    """
    scores = [score_definition(term, *sentence) for sentence in sentences]
    best = max(scores, default=0.0)
    return (scores.index(best), best) if best >= THRESHOLD_BY_LANGUAGE[language_of_term(term)] else None


def definition_features(term: str, sentence: str, previous_text: str = "") -> dict[str, float]:
    """Return the features of a sentence by name; empty if it does not contain the term."""
    is_chinese = language_of_term(term) == "zh"
    pattern = _term_pattern(term, is_chinese)
    match = pattern.search(sentence)
    if match is None:
        return {}
    cues, traits, start = (
        (_CUE_RES_ZH, _TRAIT_RES_ZH, _START_ZH) if is_chinese else (_CUE_RES_EN, _TRAIT_RES_EN, _START_EN)
    )
    # With a placeholder for the term, the patterns are the same for all terms and are compiled once.
    masked_sentence, occurrences = pattern.subn(_PLACEHOLDER, sentence)
    features = {"bias": 1.0, "log_length": log(len(sentence) / 60), "position": match.start() / len(sentence)}
    for name, cue in cues.items():
        features[name] = float(cue.search(masked_sentence) is not None)
    features["any_cue"] = float(any(features[name] for name in cues))
    for name, trait in traits.items():
        features[name] = float(trait.search(sentence) is not None)
    features["repeats_term"] = float(occurrences > 1)
    features["starts_with_term"] = float(start.match(masked_sentence) is not None)
    # After a heading or title that is mainly the term, a sentence that says what it is. Training has no such texts.
    is_after_heading = 2 * len(term) >= len(previous_text) and pattern.search(previous_text) is not None
    features["heads_section"] = float(is_after_heading and any(features.get(name) for name in _CUES_OF_KIND))
    if is_chinese:
        features["is_label"] = float(not term[-1].isascii() and sentence[match.end() : match.end() + 1].isspace())
    features |= _boundary_features(sentence, match, is_chinese)
    return features


@lru_cache(maxsize=1024)
def _term_pattern(term: str, is_chinese: bool) -> re.Pattern[str]:
    name_regex = r"\s+".join(re.escape(word) for word in term.split())
    return re.compile(name_regex if is_chinese else rf"(?<![\w-]){name_regex}(?:s|es)?(?![\w-])", re.IGNORECASE)


def _boundary_features(sentence: str, match: re.Match[str], is_chinese: bool) -> Mapping[str, float]:
    """Return whether the term looks like a part of a longer term, on each side."""
    before, after = sentence[: match.start()], sentence[match.end() :]
    if is_chinese:
        has_longer_start = before != "" and before[-1] not in _LINKS_ZH and not before[-1].isdigit()
        has_longer_end = after != "" and after[0] not in _AFTER_ZH
    else:
        word_before = re.search(r"(?<![\w-])-*+(\w[\w-]*+)\s++$", before)
        word_after = re.match(r"\s+(\w[\w-]*)", after)
        has_longer_start = word_before is not None and not _WORDS_BEFORE_EN.fullmatch(word_before[1])
        has_longer_end = word_after is not None and not _WORDS_AFTER_EN.fullmatch(word_after[1])
    return {"longer_start": float(has_longer_start), "longer_end": float(has_longer_end)}
