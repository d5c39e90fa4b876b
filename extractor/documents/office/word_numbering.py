"""Automatic numbers of the paragraphs of a Word file, by its part `numbering.xml`: 第二条, 4.1.2."""

from collections import defaultdict
from itertools import islice

from lxml.etree import _Element as Element

from extractor.documents.office.counting import ListCounter, ListLevel, parse_count

WORD_NS = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
PREFIXES = {"w": WORD_NS.strip("{}")}
MAX_LISTS = 20_000


class WordNumbering:
    """The lists of a document. Lists of one definition count on; `root` is that of the part, None without lists."""

    def __init__(self, root: Element | None) -> None:
        self.counter_by_list: dict[str, ListCounter] = {}
        self.level_by_style: dict[str, int] = {}  # a level names the style of its paragraphs
        self.first_numbers: dict[tuple[str, int], int] = {}  # (list, level) that restart at their first paragraph
        if root is None:
            return
        styles, linked_lists = dict[str, str](), dict[str, str]()
        levels_by_definition: dict[str, dict[int, ListLevel]] = {}
        for definition in root.iterfind("w:abstractNum", PREFIXES):
            key = word_value(definition, ".", "abstractNumId")
            styles[key] = word_value(definition, "w:numStyleLink")
            linked_lists[word_value(definition, "w:styleLink")] = key
            levels_by_definition[key] = read_levels(definition, "w:lvl")
            for level in definition.iterfind("w:lvl", PREFIXES):
                self.level_by_style[word_value(level, "w:pStyle")] = word_level(level)
        numbers: dict[str, dict[int, int]] = defaultdict(dict)
        for element in islice(root.iterfind("w:num", PREFIXES), MAX_LISTS):
            name, key = word_value(element, ".", "numId"), word_value(element, "w:abstractNumId")
            key = linked_lists.get(styles.get(key) or "-", key)
            levels = levels_by_definition.get(key, {}) | read_levels(element, "w:lvlOverride/w:lvl")
            self.counter_by_list[name] = ListCounter(levels, numbers[key])
            for override in element.iterfind("w:lvlOverride", PREFIXES):
                if (start := parse_count(word_value(override, "w:startOverride"), -1)) >= 0:
                    self.first_numbers[name, word_level(override)] = start

    def next_label(self, list_name: str, level: str, style: str) -> str:
        """Count a paragraph of a list and return its label; "" for a bullet, an unknown list and no list (`0`)."""
        counter = self.counter_by_list.get(list_name)
        if counter is None:
            return ""
        index = min(parse_count(level, self.level_by_style.get(style, 0)), 8)
        return counter.next_label(index, self.first_numbers.pop((list_name, index), None))


def read_levels(element: Element, path: str) -> dict[int, ListLevel]:
    """Read the levels (w:lvl) of a list."""
    levels: dict[int, ListLevel] = {}
    for level in element.iterfind(path, PREFIXES):
        system = word_value(level, ".//w:numFmt") or "decimal"
        template = word_value(level, "w:lvlText") if system != "bullet" else ""
        levels[word_level(level)] = ListLevel(
            template + " " * (word_value(level, "w:suff") != "nothing") if template else "",
            word_value(level, ".//w:numFmt", "format") if system == "custom" else system,
            parse_count(word_value(level, "w:start"), 0),
            level.find("w:isLgl", PREFIXES) is not None,
            parse_count(word_value(level, "w:lvlRestart"), 9),
        )
    return levels


def word_level(element: Element) -> int:
    """Return the number of the level that an element describes, from 0."""
    return parse_count(word_value(element, ".", "ilvl"), 0)


def word_value(element: Element | None, path: str, attribute: str = "val") -> str:
    """Return an attribute of a descendant, such as `w:pPr/w:pStyle`; "" if either is missing."""
    target = element.find(path, PREFIXES) if element is not None else None
    return target.get(f"{WORD_NS}{attribute}", "") if target is not None else ""
