"""What of a page is running text: code, signatures, paths and versions are none, whatever the site."""

import pytest

from domain.article import Block, BlockKind
from lexicon.counting.corpus import CorpusDocument, InMemoryCorpus
from lexicon.counting.prose_filter import is_prose, iter_prose_lines, mask_identifiers, prose_text
from lexicon.mining import mine_terms
from lexicon.model.word_features import IDENTIFIER_PLACEHOLDER
from lexicon.settings import LexiconSettings

SENTENCES = [
    "We describe how shale gas wells are drilled.",
    "The planner (see below) joins the tables by a hash join.",
    "I/O of the C/S model is buffered; AT&T and R&D are names of people.",
    "Der Bohrkopf wird nach jeder Schicht aus dem Loch gezogen und gereinigt.",
    "本文研究页岩气开发中的钻井液问题。",
    "采用PDC钻头，平均机械钻速提高23.5%",
    "交叉熵损失函数",
    "In 2019 there were 1,234.5 tons of it (or 3.5 % more).",
]
NO_SENTENCES = [
    "public static int hashCode()",
    "public int hashCode",
    "Map<String, List<Integer>> groups = new HashMap<>();",
    "for (int i = 0; i < n; ++i) { sum += a[i]; }",
    "def find_contexts(text: str, keys: Collection[str]) -> dict[str, str]:",
    "SELECT * FROM users WHERE id = 3;",
    "import os, sys; print(os.environ['HOME'])",
    "$ sudo apt-get install --yes python3-dev",
    "/usr/share/doc/postgresql-15/html/index.html",
    "org.apache.commons.lang3.StringUtils",
    "v1.2.3-rc1 1.2.4 2.0.0-beta.2",
    "Constant Field Values",
    "Next | Previous | Index",
    "#include <linux/module.h>",
    '</div></li><li class="next">',
    "https://example.org/a/b?c=d",
    "Copyright",
    "",
]


@pytest.mark.parametrize("line", SENTENCES)
def test_sentences_are_running_text(line: str) -> None:
    assert is_prose(line)


@pytest.mark.parametrize("line", NO_SENTENCES)
def test_what_only_programs_and_menus_write_is_none(line: str) -> None:
    assert not is_prose(line)


@pytest.mark.parametrize(
    ("line", "counted"),
    [
        (
            "The hashCode method of a hash table is cheap.",
            f"The {IDENTIFIER_PLACEHOLDER} method of a hash table is cheap.",
        ),
        (
            "The file is /etc/apt/sources.list on this machine.",
            f"The file is {IDENTIFIER_PLACEHOLDER} on this machine.",
        ),
        (
            "As of version 3.11.2 the option --force is gone.",
            f"As of version {IDENTIFIER_PLACEHOLDER} the option {IDENTIFIER_PLACEHOLDER} is gone.",
        ),
        ("调用 std::sort 之后，数组有序。", f"调用 {IDENTIFIER_PLACEHOLDER} 之后，数组有序。"),
        ("参数 max_worker_processes 决定进程数量。", f"参数 {IDENTIFIER_PLACEHOLDER} 决定进程数量。"),
        (
            '看 <div class="box text vibrant" style="a:b">这里的文字说明</div>',
            f"看  {IDENTIFIER_PLACEHOLDER} 这里的文字说明 {IDENTIFIER_PLACEHOLDER} ",
        ),
        ("if a < b and c > d then it is the case", "if a < b and c > d then it is the case"),
    ],
)
def test_a_name_of_a_program_inside_a_sentence_is_no_word(line: str, counted: str) -> None:
    assert mask_identifiers(line) == counted


def test_blocks_of_code_and_pictures_are_left_out() -> None:
    said = ["We show how a hash table is grown.", "while the table is full we grow it", "A picture of the hash table."]
    kinds = [BlockKind.PARAGRAPH, BlockKind.CODE, BlockKind.PICTURE]
    blocks = tuple(Block(kind, text) for kind, text in zip(kinds, said, strict=True))
    document = CorpusDocument(1, "How to grow a hash table", "\n".join(said), blocks)
    assert list(iter_prose_lines(document)) == [document.title, said[0]]
    assert prose_text(CorpusDocument(1, "", "\n".join(said))) == "\n".join(said)  # not told, it cannot be known


def manual(number: int) -> tuple[str, str]:
    """A page of a manual: much of it signatures, some of it sentences."""
    return f"Class Cache{number}", "\n".join(
        [
            f"public static int hashCode{number}()",
            "public int hashCode",
            "public boolean equals(Object obj)",
            "Overrides: hashCode in class java.lang.Object",
            f"The cache {number} is emptied by the garbage collector, which is started by a timer.",
            f"A garbage collector of {number} threads is faster than the garbage collector of one.",
            f"写屏障在第{number}次释放内存页之前执行。",
        ]
    )


def test_code_is_no_term_and_does_not_stand_before_the_terms() -> None:
    found = [
        one.text.lower() for one in mine_terms(InMemoryCorpus(map(manual, range(40))), LexiconSettings(probability=0.0))
    ]
    assert {"garbage collector", "写屏障"} <= set(found), found
    assert not [text for text in found if "hashcode" in text or "public" in text or "java.lang" in text]
