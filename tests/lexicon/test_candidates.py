"""Rules, runs, spans and their counting."""

from pathlib import Path

import pytest

from domain.errors import LexiconError, SettingsError
from lexicon.c_value.candidates import (
    CandidateCounts,
    TermCandidate,
    WordSpan,
    count_batch_spans,
    find_spans,
    iter_word_runs,
    normalize_text,
)
from lexicon.c_value.noise_filters import (
    has_edge_word,
    has_english_stop_word,
    has_repeated_word,
    has_single_character_verb,
    is_noise,
    is_unfit_text,
)
from lexicon.c_value.rules import TagRules, load_rules, parse_rules
from text.segment import base_segmenter


def span(*tagged: str) -> WordSpan:
    """`储层/n` ... as a span."""
    pairs = [word.rsplit("/", 1) for word in tagged]
    return WordSpan(tuple(word for word, _ in pairs), tuple(tag for _, tag in pairs))


@pytest.mark.parametrize(
    ("tags", "exact", "prefix"),
    [
        ("n n", True, True),
        ("n n n n", True, True),
        ("ns n", True, True),
        ("nz nz", False, True),
        ("vn ns", False, True),
        ("nrt n", False, False),  # two letters more than n
        ("n uj n", False, False),
        ("n", False, False),
        ("eng n", True, True),
        ("x n", False, False),  # jieba's x is punctuation
    ],
)
def test_tag_matching(tags: str, exact: bool, prefix: bool) -> None:
    sequence = tuple(tags.split())
    for _ in range(2):  # the second answer comes from memory
        assert TagRules(load_rules("improved"), "exact").matches(sequence) is exact
        assert TagRules(load_rules("improved"), "prefix").matches(sequence) is prefix


def test_shipped_rules() -> None:
    improved = load_rules("improved")
    assert [" ".join(rule) for rule in improved[:6]] == ["n n", "v n", "n v", "n n n", "eng n", "eng n n"]
    assert len([rule for rule in improved if set(rule) != {"eng"}]) == 20
    plain = load_rules("plain")
    assert {rule for rule in plain if len(rule) == 2} == {
        ("n", "n"),
        ("n", "a"),
        ("a", "n"),
        ("a", "a"),
        ("eng", "eng"),
    }
    assert TagRules(plain).rule_lengths == range(2, 6)


def test_rules_of_an_operator(tmp_path: Path) -> None:
    file = tmp_path / "rules.tsv"
    file.write_text("# ours\n\nx n\tPDC 钻头\nn\n", encoding="utf-8")
    assert load_rules(str(file)) == (("eng", "n"), ("n",))
    with pytest.raises(SettingsError, match=r"lexicon\.rules"):
        load_rules(str(tmp_path / "absent.tsv"))
    file.write_bytes(b"\xff n")
    with pytest.raises(SettingsError, match=r"lexicon\.rules"):
        load_rules(str(file))
    file.write_text("n n\nn N", encoding="utf-8")
    with pytest.raises(LexiconError, match=r"lexicon\.rules: .*rules\.tsv, line 2: expected"):
        load_rules(str(file))


@pytest.mark.parametrize("text", ["n n\nn N", "# only\n", "", "n n\n" + "n " * 9, "n n\n名词"], ids=ascii)
def test_faulty_rules_are_refused(text: str) -> None:
    with pytest.raises(LexiconError, match=r"line 2: |no line contains a rule"):
        parse_rules(text)


def test_unknown_matching_is_refused() -> None:
    with pytest.raises(SettingsError, match=r"lexicon\.tag_matching"):
        TagRules((("n", "n"),), "fuzzy")


@pytest.mark.parametrize(
    ("tagged", "runs"),
    [
        ("油气/n 储层/n 的/uj 特征/n", ["油气 储层", "特征"]),
        ("PDC/eng _/x 钻头/n", ["PDC 钻头"]),
        ("储层/n _/x 特征/n", ["储层", "特征"]),  # a blank parts Chinese words
        ("shale/eng _/x gas/eng", ["shale gas"]),
        ("shale/eng -/x gas/eng", ["shale-gas"]),
        ("X/eng -/x 射线/n", ["X- 射线"]),
        ("COVID/eng -/x 19/m 疫苗/n", ["COVID-19 疫苗"]),
        ("shale/eng _/x -/x gas/eng", ["shale", "gas"]),  # a dash, not a hyphen
        ("储层/n \n/x 特征/n", ["储层", "特征"]),
        ("shale/eng \n/x gas/eng", ["shale", "gas"]),
        ("wt%/eng NaCl/eng 溶液/n", ["wt%", "NaCl 溶液"]),
        ("wt%/eng _/x NaCl/eng", ["wt% NaCl"]),
        ("的/uj", []),
        ("", []),
    ],
)
def test_word_runs(tagged: str, runs: list[str]) -> None:
    pairs = [tuple(word.replace("_", " ").rsplit("/", 1)) for word in tagged.split(" ") if word]
    found = iter_word_runs([(word, tag) for word, tag in pairs], {"n", "eng"}.__contains__)
    assert [" ".join(word for word, _ in run) for run in found] == runs


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (span("储层/n", "特征/n"), "储层特征"),
        (span("PDC/eng", "钻头/n"), "PDC钻头"),
        (span("shale/eng", "gas/eng"), "shale gas"),
        (span("wt%/eng", "NaCl/eng"), "wt% NaCl"),
        (span("X-/eng", "射线/n"), "X-射线"),
        (span("储层/n", "BP/eng", "model/eng"), "储层BP model"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_text_of_a_span(words: WordSpan, text: str) -> None:
    assert words.text == text


def test_spans_that_overlap_all_count() -> None:
    rules = TagRules(parse_rules("n n\nn n n"))
    texts = [found.text for found in find_spans("石油地质储层，石油储层", base_segmenter(), rules)]
    assert sorted(texts) == sorted(["石油地质", "地质储层", "石油地质储层", "石油储层"])


@pytest.mark.parametrize(
    ("step", "noise", "kept"),
    [
        (has_single_character_verb, span("含/v", "油/n"), span("勘探/vn", "技术/n")),
        (has_edge_word, span("进行/v", "勘探/vn"), span("储层/n", "特征/n")),
        (has_edge_word, span("Paper/eng", "machine/eng"), span("machine/eng", "paper/eng", "feed/eng")),
        (has_english_stop_word, span("gas/eng", "of/eng", "shale/eng"), span("shale/eng", "gas/eng")),
        (has_english_stop_word, span("The/eng", "gas/eng"), span("X/eng", "射线/n")),
        (has_english_stop_word, span("a/eng", "b/eng"), span("B/eng", "细胞/n")),
        (has_repeated_word, span("分析/n", "分析/n"), span("分析/n", "方法/n", "分析/n")),
        (lambda some: is_unfit_text(some.text), span("X-/eng", "-/eng"), span("X-/eng", "射线/n")),
        (lambda some: is_unfit_text(some.text), span("长/n", "长" * 64 + "/n"), span("长/n", "长" * 63 + "/n")),
    ],
)
def test_noise_steps(step: object, noise: WordSpan, kept: WordSpan) -> None:
    assert callable(step)
    assert step(noise)
    assert is_noise(noise)
    assert not step(kept)


def test_readable() -> None:
    assert normalize_text("ＰＤＣ\u200b钻\ufeff头") == "PDC钻头"


def counted(batches: list[list[list[WordSpan]]]) -> dict[str, TermCandidate]:
    counts = CandidateCounts(max_seen_documents=2)
    number = 0
    for batch in batches:
        numbers = range(number, number + len(batch))
        counts.add(count_batch_spans(batch, numbers, lambda found: found.words[0] == "噪声"))
        number += len(batch)
    return counts.candidates()


DOCUMENTS = [
    [span("储层/n", "特征/n"), span("储层/n", "特征/n"), span("噪声/n", "词/n")],
    [],
    [span("储层/n", "特征/a"), span("Shale/eng", "gas/eng")],
    [span("shale/eng", "gas/eng"), span("shale/eng", "gas/eng"), span("储层/n", "特征/n")],
]


def test_counts() -> None:
    assert counted([DOCUMENTS]) == {
        "储层特征": TermCandidate("储层特征", 2, "n n", frequency=4, document_count=3, first_documents=(0, 2)),
        "shale gas": TermCandidate("shale gas", 2, "eng eng", frequency=3, document_count=2, first_documents=(2, 3)),
    }


@pytest.mark.parametrize("size", [1, 2, 3])
def test_batches_do_not_change_counts(size: int) -> None:
    assert counted([DOCUMENTS[at : at + size] for at in range(0, 4, size)]) == counted([DOCUMENTS])


def test_nothing_to_count() -> None:
    assert counted([]) == counted([[]]) == counted([[[], []]]) == counted([[[span("噪声/n", "词/n")]]]) == {}


def test_memory_is_bounded_by_forgetting_what_was_seen_once() -> None:
    counts = CandidateCounts(max_seen_documents=2, max_candidates=3)
    for number in range(50):
        rare = span(f"Word{number}/eng", "once/eng")
        texts = [[span("储层/n", "特征/n"), span("储层/n", "特征/n"), rare]]
        counts.add(count_batch_spans(texts, [number], lambda found: False))
    kept = counts.candidates()
    assert kept["储层特征"].frequency == 100
    assert len(kept) <= 4
