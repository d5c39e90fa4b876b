"""Decisions on terms and the next lexicon version."""

from dataclasses import replace

import pytest

from domain.errors import LexiconError
from domain.term import Lexicon, LexiconEntry, Term, TermStatus
from lexicon.publishing import build_next_version, ensure_acceptable


def term(text: str, status: TermStatus = TermStatus.ACCEPTED) -> Term:
    return Term(text, 9.0, 5, 3, "n n", status=status)


def test_what_cannot_be_a_dictionary_line_cannot_be_accepted() -> None:
    ensure_acceptable(["页岩气", "shale gas"])
    with pytest.raises(LexiconError, match=r"Not accepted\. .*U\+200B.*U\+0007"):
        ensure_acceptable(["页岩气", "页\u200b岩气", "<b>", "a\x07"])


def test_the_next_version_has_just_the_accepted_terms() -> None:
    previous = Lexicon(4, (LexiconEntry("页岩气", 77, "nz"), LexiconEntry("旧的词", 0, "n")), 1.0, 2.0, "note")
    new = build_next_version([term("shale gas"), term("页岩气"), term("PDC钻头"), term("pdc钻头")], previous)
    assert new == Lexicon(
        5, (LexiconEntry("PDC钻头", 0, "n"), LexiconEntry("shale gas", 0, "eng"), LexiconEntry("页岩气", 77, "nz"))
    )
    assert new.changed_terms_since(previous) == ["PDC钻头", "shale gas", "旧的词"]


def test_no_change_is_no_new_version() -> None:
    previous = Lexicon(4, (LexiconEntry("Shale Gas", 3, "eng"),), 1.0)
    assert build_next_version([term("shale gas")], previous) is previous
    assert build_next_version([], Lexicon()) == Lexicon()
    assert previous.changed_terms_since(previous) == []


def test_other_synonyms_are_a_new_version_that_changes_no_document() -> None:
    previous = Lexicon(4, (LexiconEntry("页岩气", 77, "nz", ("shale gas",)),), 1.0)
    same, more = (replace(term("页岩气"), synonyms=names) for names in (("shale gas",), ("shale gas", "页岩瓦斯")))
    assert build_next_version([same], previous) is previous
    new = build_next_version([more], previous)
    assert new == Lexicon(5, (LexiconEntry("页岩气", 77, "nz", ("shale gas", "页岩瓦斯")),))
    assert new.changed_terms_since(previous) == []


def test_the_last_term_can_be_taken_back() -> None:
    new = build_next_version([], Lexicon(1, (LexiconEntry("页岩气"),)))
    assert (new.version, new.entries) == (2, ())


def test_another_frequency_is_a_change() -> None:
    old, new = Lexicon(1, (LexiconEntry("页岩气", 1),)), Lexicon(2, (LexiconEntry("页岩气", 9),))
    assert new.changed_terms_since(old) == ["页岩气"]


def test_a_published_word_stays_though_the_rules_have_become_stricter() -> None:
    previous = Lexicon(4, (LexiconEntry("页岩\x07", 3, "n"),), 1.0)
    new = build_next_version([term("页岩\x07"), term("技术的研究")], previous)
    assert [entry.text for entry in new.entries] == ["技术的研究", "页岩\x07"]


def test_every_unfit_term_is_named() -> None:
    with pytest.raises(LexiconError, match=r"Not published\. .*气藏.*not accepted.*U\+0007"):
        build_next_version([term("页岩气"), term("气藏", TermStatus.CANDIDATE), term("a\x07")], Lexicon())
