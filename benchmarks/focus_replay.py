"""Replay of a crawl on a stored graph: one fetch after another, always the best URL of the frontier."""

import heapq
import itertools
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from benchmarks.focus_graph import Graph
from crawler.focused_policy import FocusedStrategy, RelevanceScore, ReviewableStrategy, ReviewInstructions

NEVER = float("-inf")
QUESTION_COUNT = 10  # pages that the simulated person labels, as by default


@dataclass(frozen=True)
class Replay:
    """Result of a replay, in order of fetches and without the seeds.

    fetched    URLs judged     relevance of each page, revised at the end by a `ReviewableStrategy` kept       pages
    that were retained at the end again      pages that were rejected when fetched and accepted at the end: they cost
    another fetch seconds    CPU time of the decisions: per page, per link, and for both
    """

    fetched: tuple[str, ...]
    judged: tuple[float, ...]
    kept: frozenset[str]
    seconds: tuple["Seconds", ...]
    again: int = 0


@dataclass(frozen=True)
class Person:
    """A simulated person who labels pages after given numbers of fetches; `says` returns the true label of a URL."""

    says: Callable[[str], bool]
    after: tuple[int, ...]
    answers: dict[str, bool] = field(default_factory=dict)


class Seconds(NamedTuple):
    """CPU seconds of one page: of the page itself, per link, and of the page with all its links."""

    page: float
    link: float
    visit: float


class Queue:
    """The frontier: URLs by priority, then in order of discovery. Priorities may change."""

    def __init__(self) -> None:
        self._heap: list[tuple[float, int, str]] = []
        self._priority: dict[str, float] = {}
        self._found: dict[str, int] = {}
        self._order = itertools.count()
        self._taken: set[str] = set()

    def offer(self, url: str, priority: float | None) -> None:
        """Add a link to `url`. It counts if its priority is higher than the current one. None: do not follow."""
        if priority is not None and url not in self._taken and priority > self._priority.get(url, NEVER):
            self._put(url, priority)

    def change(self, priorities: Mapping[str, float]) -> None:
        """Set new priorities, higher or lower."""
        for url, priority in priorities.items():
            if url in self._priority and url not in self._taken and self._priority[url] != priority:
                self._put(url, priority)

    def take(self) -> str | None:
        """Remove and return the best URL; None if the queue is empty."""
        while self._heap:
            negative, _, url = heapq.heappop(self._heap)
            if url not in self._taken and -negative == self._priority[url]:
                self._taken.add(url)
                return url
        return None

    def _put(self, url: str, priority: float) -> None:
        self._priority[url] = priority
        heapq.heappush(self._heap, (-priority, self._found.setdefault(url, next(self._order)), url))


def replay(
    graph: Graph,
    focus: FocusedStrategy,
    seeds: Sequence[str],
    budget: int,
    is_enough: Callable[[str], bool] = lambda url: False,
    person: Person | None = None,
) -> Replay:
    """Fetch the seeds, then up to `budget` pages, until the frontier is empty or `is_enough` is true.

    A `person` gives QUESTIONS labels in all.
    """
    queue = Queue()
    for seed in seeds:
        queue.offer(seed, 0.0)
        queue.take()
    fetched: list[str] = []
    judged: list[float] = []
    kept: list[str] = []
    seconds: list[Seconds] = []
    for seed in seeds:
        visit(graph, focus, seed, queue)
    while len(fetched) < budget and (url := queue.take()) is not None:
        judgement, spent = visit(graph, focus, url, queue)
        fetched.append(url)
        judged.append(judgement.score)
        kept += [url] * judgement.is_relevant
        seconds.append(spent)
        if person is not None and len(fetched) in person.after:
            ask(person, focus)
        if is_enough(url):
            break
    held = frozenset(kept)
    if not isinstance(focus, ReviewableStrategy):
        return Replay(tuple(fetched), tuple(judged), held, tuple(seconds))
    verdicts = focus.current_scores()
    now = frozenset(url for url in fetched if verdicts[url].is_relevant)
    return Replay(
        tuple(fetched), tuple(verdicts[url].score for url in fetched), now, tuple(seconds), again=len(now - held)
    )


def ask(person: Person, focus: FocusedStrategy) -> None:
    """Get the labels of one part of the questions."""
    if isinstance(focus, ReviewableStrategy):
        asked = focus.pages_to_label(QUESTION_COUNT // len(person.after))
        person.answers.update((url, person.says(url)) for url in asked)
        focus.apply_instructions(ReviewInstructions(labels_by_url=dict(person.answers)))


def visit(graph: Graph, focus: FocusedStrategy, url: str, queue: Queue) -> tuple[RelevanceScore, Seconds]:
    """Score a page and queue its links. Returns the score and the CPU time.

    CPU time excludes other load of the machine. Segmenting and counting words is excluded, because page reader threads
    do that.
    """
    node = graph.nodes[url]
    page = node.page.with_counts_cached()
    start = time.thread_time()
    judgement = focus.score_page(page)
    judged = time.thread_time()
    priorities = focus.link_priorities(page, judgement, node.links)
    linked = time.thread_time()
    focus.observe_page(page, judgement)
    learned = time.thread_time()
    changed = focus.take_changed_priorities()
    end = time.thread_time()
    for link, priority in zip(node.links, priorities, strict=True):
        queue.offer(link.url, priority)
    queue.change(changed)
    of_page = judged - start + learned - linked
    return judgement, Seconds(of_page, (end - start - of_page) / max(len(node.links), 1), end - start)
