"""Topics of a web, chosen among the labels of its authors by criteria that do not depend on any strategy.

size       MIN_SHARE to MAX_SHARE of the pages, at least MIN_PAGES
named      its pages contain its name: a share of TELLING of them, and OFTENER times as often as other pages.
           `general`, `technology`, `2015` are labels but not topics
apart      no two topics share more than half of their pages
spread     evenly distributed by size, so that rare and broad topics are balanced; labels between them may train
"""

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

MIN_SHARE, MAX_SHARE, MIN_PAGES = 0.002, 0.1, 15
TELLING, OFTENER = 0.3, 3.0
MIN_NAME = 2  # characters
MAX_TOPICS = 24
SAMPLE = 1000  # of the other pages

Row = Mapping[str, Any]


def topics_of(rows: Sequence[Row]) -> tuple[dict[str, list[str]], dict[str, list[str]]]:
    """Choose topics for measurement and others for training, name -> labels, rare topics first."""
    texts = [" ".join((row["title"], *row["paras"])).casefold() for row in rows]
    of_label: dict[str, set[int]] = defaultdict(set)
    for place, row in enumerate(rows):
        for label in row["topics"]:
            for prefix in prefixes(label):
                of_label[prefix].add(place)
    least, most = max(MIN_PAGES, MIN_SHARE * len(rows)), MAX_SHARE * len(rows)
    sized = sorted((label for label, pages in of_label.items() if least <= len(pages) <= most))
    named = [label for label in sized if is_named(name_of(label), of_label[label], texts)]
    chosen: dict[str, str] = {}
    for label in spread(sorted(named, key=lambda one: (len(of_label[one]), one))):
        name, pages = name_of(label), of_label[label]
        if name not in chosen and all(overlap(pages, of_label[other]) <= 0.5 for other in chosen.values()):
            chosen[name] = label
    ordered = sorted(chosen.items(), key=lambda item: (len(of_label[item[1]]), item[0]))
    step = max(math.ceil(len(ordered) / MAX_TOPICS), 2)
    topics = {name: [label] for name, label in ordered[::step]}
    return topics, {name: [label] for name, label in ordered if name not in topics}


def prefixes(label: str) -> list[str]:
    """A closed label and those above it, closed too."""
    parts = label.rstrip(".").split(".")
    return [".".join(parts[: count + 1]) + "." for count in range(len(parts))]


def name_of(label: str) -> str:
    """Return the name that an administrator would use: the last part."""
    return label.rstrip(".").rpartition(".")[2].replace("_", " ")


def is_named(name: str, pages: set[int], texts: Sequence[str]) -> bool:
    """True if pages of the label contain its name more often than other pages."""
    if len(name) < MIN_NAME or not any(character.isalpha() for character in name):
        return False
    own = sum(name in texts[place] for place in pages) / len(pages)
    if own < TELLING:
        return False
    others = [texts[place] for place in range(0, len(texts), max(len(texts) // SAMPLE, 1)) if place not in pages]
    return own >= OFTENER * sum(name in text for text in others) / max(len(others), 1)


def overlap(one: set[int], other: set[int]) -> float:
    """Return the share of the smaller set that is in both."""
    return len(one & other) / min(len(one), len(other))


def spread(labels: Sequence[str]) -> list[str]:
    """Order labels so that every prefix covers all sizes: every second label, then every second of the rest."""
    return [*labels[::2], *spread(labels[1::2])] if len(labels) > 1 else list(labels)
