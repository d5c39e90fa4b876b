"""Checks a lexicon version with jieba before it is published (docs/decisions/0139-jieba-checks-versions.md). No I/O."""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import accumulate, chain, islice

from domain.message import Message
from domain.term import Lexicon, Term, VersionCheck, WordsBeforeAndAfter
from lexicon.jieba_dictionary import create_domain_segmenter
from lexicon.jieba_segmenter import JiebaSegmenter
from lexicon.publishing import add_terms
from text.folding import word_key
from text.mixed_terms import TermFinder
from text.segment import is_in_dictionary

MAX_SENTENCES = 5_000  # that contain a changed term


def check_version(before: Lexicon, after: Lexicon, known_terms: Iterable[Term]) -> VersionCheck:
    """Segment known sentences with two versions, and find the new terms of `after` that make it worse.

    Args:
        before: The published version.
        after: The version to be published.
        known_terms: Terms with example sentences. The first 5,000 sentences with a changed term are used.
    """
    changed_terms = after.changed_terms_since(before)
    if not changed_terms:
        return VersionCheck()
    old, new = (
        JiebaSegmenter((entry.text, entry.frequency, entry.pos_tag) for entry in lexicon.entries)
        for lexicon in (before, after)
    )
    finder = TermFinder(changed_terms)
    sentences = dict.fromkeys(chain.from_iterable(term.contexts for term in known_terms))
    known_sentences = list(islice(filter(finder.find_terms, sentences), MAX_SENTENCES))
    published_terms = filter(finder.find_terms, (entry.text for entry in before.entries))
    words_by_text = {
        text: (tuple(old.cut(text)), tuple(new.cut(text)))
        for text in dict.fromkeys((*known_sentences, *published_terms, *changed_terms))
    }
    words_by_term = {term: words_by_text[term] for term in changed_terms}
    changed_sentences = [text for text in known_sentences if words_by_text[text][0] != words_by_text[text][1]]
    for sentence in reversed(changed_sentences):
        counts_before, counts_after = (Counter(map(word_key, words)) for words in words_by_text[sentence])
        for term in finder.find_terms(sentence):
            if counts_before[word_key(term)] != counts_after[word_key(term)]:
                words_by_term[term] = words_by_text[sentence]
    new_terms = {entry.text for entry in after.entries} & set(changed_terms)
    kept_keys = {word_key(entry.text) for entry in before.entries} & {word_key(entry.text) for entry in after.entries}
    errors = find_cutting_terms(words_by_text, new_terms, kept_keys)
    index_segmenter = create_domain_segmenter(after)
    for term in new_terms:
        words, index_words = words_by_text[term][1], index_segmenter.cut(term)
        if not len(words) == len(index_words) == 1:
            jieba_text, index_text = " | ".join(words), " | ".join(index_words)
            errors[term] = Message(
                "jieba cuts it into {jieba}, the index into {index}", jieba=jieba_text, index=index_text
            )
    return VersionCheck(len(known_sentences), len(changed_sentences), words_by_term, errors)


def find_cutting_terms(
    words_by_text: Mapping[str, WordsBeforeAndAfter], new_terms: Iterable[str], kept_keys: Collection[str]
) -> dict[str, str]:
    """Return the new terms that cut better words apart, with the reason.

    A better word is a term of both versions (`kept_keys`), or a word of the base dictionary that is longer than the new
    term. A new term may cut such words apart in half of its texts, but never the whole text, which is such a term then.
    """
    term_by_key = {word_key(term): term for term in new_terms}
    cut_words_by_term = defaultdict[str, list[str]](list)  # for each text with the term as a word; "": none
    errors: dict[str, str] = {}
    for text, (words_before, words_after) in words_by_text.items():
        spans_before = _list_spans(words_before)
        for start, end, word in _list_spans(words_after):
            term = term_by_key.get(word_key(word), text)
            if term == text:
                continue
            cut_words = [
                cut_word
                for cut_start, cut_end, cut_word in spans_before
                if (cut_start < start < cut_end or cut_start < end < cut_end)
                and (word_key(cut_word) in kept_keys or (len(cut_word) > len(word) and is_in_dictionary(cut_word)))
            ]
            if text in cut_words:
                errors[term] = Message("it cuts the term {cut} apart", cut=text)
            cut_words_by_term[term].append(next(iter(cut_words), ""))
    for term, all_words in cut_words_by_term.items():
        cut_words = [word for word in all_words if word]
        if 2 * len(cut_words) > len(all_words):
            counts = {"cut": cut_words[0], "count": len(cut_words), "all": len(all_words)}
            errors.setdefault(
                term, Message("it cuts longer words such as {cut} apart in {count} of {all} texts", **counts)
            )
    return errors


def add_harmless_terms(
    previous: Lexicon, terms: Iterable[Term], known_terms: Sequence[Term]
) -> tuple[Lexicon, dict[str, str]]:
    """Return `previous` with those of `terms` that `check_version` accepts, and the reasons against the others."""
    remaining, errors = list(terms), dict[str, str]()
    while new_errors := check_version(previous, version := add_terms(previous, remaining), known_terms).error_by_term:
        errors.update(new_errors)
        remaining = [term for term in remaining if term.text not in errors]
    return version, errors


def _list_spans(words: Sequence[str]) -> list[tuple[int, int, str]]:
    """Return start, end and text of each word."""
    return [(end - len(word), end, word) for word, end in zip(words, accumulate(map(len, words)), strict=True)]
