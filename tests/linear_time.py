"""Finds patterns and functions whose time grows faster than their text.

A pattern is tried on texts made for it: an example of what precedes a repetition, then many times what the repetition
accepts, then a character that ends the match. Growth is the ratio of CPU times of texts of 250 to 64,000 characters:
4 for linear time, 16 for quadratic. The time of the wall clock never decides.
"""

import ast
import builtins
import importlib
import inspect
import pkgutil
import random
import re
import signal
import time
from collections import defaultdict, deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import cache
from re import _compiler as compiler  # type: ignore[attr-defined]
from re import _constants as code  # type: ignore[attr-defined]
from re import _parser as parser  # type: ignore[attr-defined]
from types import FrameType, ModuleType
from typing import Any

PACKAGES = (
    *("domain", "text", "locks", "crawler", "focused", "extractor", "lexicon", "docstore", "indexer", "search_ui"),
    *("pipeline", "solr_client", "maven_jars"),
)
MAX_GROWTH = 8.0  # of the time when the text becomes four times as long
FAST_SECONDS = 0.004  # for 16,000 characters; a text that takes less is not tried further
MIN_SECONDS = 0.03  # a shorter time says nothing about growth; calls are repeated as long: the clock has long ticks
MAX_SECONDS = 1.0  # a run is interrupted then; work with a fixed limit ends before, also on a busy machine
USUAL_CHARS = " a0A-<\n.,\"'/=一，。年:;()[]{}#&_%+*|\t>z½①é"
ENDS = ("", "\0", ".", "，")
SINGLE_CHAR = (code.LITERAL, code.NOT_LITERAL, code.ANY, code.IN)
REPEATS = (code.MAX_REPEAT, code.MIN_REPEAT, code.POSSESSIVE_REPEAT)
SCANS = frozenset(("findall", "finditer", "sub", "subn", "split"))
METHODS = SCANS | {"search", "match", "fullmatch"}
LOCAL_TEXT = "ab"  # stands for the local variables in a pattern

LinearText = tuple[str, str, str]
"""Prefix, repeated piece, end."""
AnyPattern = re.Pattern[str] | re.Pattern[bytes]


def build_text(text: LinearText, size: int) -> str:
    """Return a text of about `size` characters."""
    prefix, piece, end = text
    return prefix + piece * max(1, (size - len(prefix)) // len(piece)) + end


# -- growth


class _TimeUp(BaseException):
    pass


def cpu_seconds(function: Callable[[], object], count: int = 1) -> float:
    """Return the CPU seconds of `count` calls, at most MAX_SECONDS. Only in the main thread."""

    def stop(number: int, frame: FrameType | None) -> None:
        raise _TimeUp

    previous = signal.signal(signal.SIGVTALRM, stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, MAX_SECONDS)
    started = time.process_time()
    try:
        for _ in range(count):
            function()
    except _TimeUp:
        return MAX_SECONDS
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, previous)
    return time.process_time() - started


def is_superlinear(run: Callable[[str], object], text: LinearText) -> bool:
    """True if the time of `run` grows faster than the text, in two measurements."""
    if shortest_time(time.perf_counter, run, text, 16_000, 1) < FAST_SECONDS:
        return False
    # Waiting for a busy machine only adds to the time that has to be long, so it costs time but hides nothing.
    short = shortest_time(time.process_time, run, text, 4_000)
    if shortest_time(time.perf_counter, run, text, 16_000) < min(5 * short, MAX_SECONDS):
        return False
    return all(has_growth(run, text) for _ in range(2))


def shortest_time(
    clock: Callable[[], float], run: Callable[[str], object], text: LinearText, size: int, repeats: int = 3
) -> float:
    """Return the shortest time of some runs by a clock, in seconds."""
    content, times = build_text(text, size), []
    for _ in range(repeats):
        started = clock()
        cpu_seconds(lambda: run(content))
        times.append(clock() - started)
    return min(times)


def has_growth(run: Callable[[str], object], text: LinearText) -> bool:
    """True if the CPU time of `run` grows by more than MAX_GROWTH when the text becomes four times as long.

    The longest texts decide: limits of length and of depth make it grow once. A last text of twice the length shows
    whether it goes on.
    """

    def seconds(size: int) -> float:
        content, count = build_text(text, size), 1
        while (spent := cpu_seconds(lambda: run(content), count)) < MIN_SECONDS:
            count *= 4
        return spent / count

    before, growth = seconds(250), 0.0
    for size in (1_000, 4_000, 16_000, 64_000):
        now = seconds(size)
        if before >= MAX_SECONDS or (now > MAX_GROWTH * before and now >= MAX_SECONDS):
            return True
        if now >= MAX_SECONDS:  # the run was interrupted: the growth before it counts
            break
        before, growth = now, now / before
    if growth <= MAX_GROWTH or before < MIN_SECONDS:
        return False
    now = seconds(128_000)
    return now >= MAX_SECONDS or now > MAX_GROWTH**0.5 * before


# -- patterns


def iter_modules() -> Iterator[ModuleType]:
    """Yield all modules of the product."""
    for package in PACKAGES:
        module = importlib.import_module(package)
        yield module
        for found in pkgutil.walk_packages(module.__path__, f"{package}."):
            if not found.name.endswith("__main__"):
                yield importlib.import_module(found.name)


def iter_patterns(value: object, depth: int = 4) -> Iterator[AnyPattern]:
    """Yield the patterns in a value: in containers, in classes and in objects."""
    if isinstance(value, re.Pattern):
        yield value
    elif depth and isinstance(value, tuple | list | set | frozenset):
        for item in value:
            yield from iter_patterns(item, depth - 1)
    elif depth and isinstance(value, dict):
        yield from iter_patterns([*value, *value.values()], depth - 1)
    elif depth and is_ours(value if isinstance(value, type) else type(value)):
        yield from iter_patterns(list(getattr(value, "__dict__", {}).values()), depth - 1)


def is_ours(kind: type) -> bool:
    """True for a class of the product."""
    return kind.__module__.partition(".")[0] in PACKAGES


@cache
def find_patterns() -> dict[AnyPattern, tuple[set[str], set[str]]]:
    """Return all patterns of the product with the names of their places and the methods that are called on them.

    A pattern counts as used by `findall` if it is used by other means than a method of its name or of a loop variable.
    """
    found: dict[AnyPattern, tuple[set[str], set[str]]] = defaultdict(lambda: (set(), set()))
    for module in iter_modules():
        for name, value in vars(module).items():
            for pattern in iter_patterns(value):
                found[pattern][0].add(f"{module.__name__}.{name}")
        tree = ast.parse(inspect.getsource(module) if module.__file__ else "")
        nodes = list(ast.walk(tree))
        values: dict[str, Any] = dict(vars(module))
        iterated: set[int] = set()
        loop_values: dict[int, list[Any]] = {}
        for scope in nodes:
            for loop in [scope] if isinstance(scope, ast.For) else getattr(scope, "generators", ()):
                iterated |= {id(name) for name in ast.walk(loop.iter)}
                patterns = [values.get(name.id) for name in ast.walk(loop.iter) if isinstance(name, ast.Name)]
                names = [name.id for name in ast.walk(loop.target) if isinstance(name, ast.Name)]
                inside = [node for node in ast.walk(scope) if isinstance(node, ast.Name) and node.id in names]
                loop_values |= {id(node): patterns for node in inside}
        methods = {id(node.value): node.attr for node in nodes if isinstance(node, ast.Attribute)}
        for node in nodes:
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and id(node) not in iterated:
                for pattern in iter_patterns(loop_values.get(id(node), values.get(node.id))):
                    found[pattern][1].add(methods.get(id(node), "findall"))
            elif isinstance(node, ast.Call) and (method := called_re_function(node)):
                for pattern in compile_call(node, module):
                    found[pattern][0].add(f"{module.__name__}:{node.lineno}")
                    found[pattern][1].add(method)
    return found


def called_re_function(node: ast.Call) -> str:
    """Return the name of the function of `re` that a call uses with a pattern, or ""."""
    name = ast.unparse(node.func).removeprefix("re.")
    return name if ast.unparse(node.func) != name and name in METHODS | {"compile"} else ""


def compile_call(node: ast.Call, module: ModuleType) -> Iterator[AnyPattern]:
    """Yield the pattern of a call such as `re.sub("a+", ...)`; nothing if it is in a local variable."""
    values = defaultdict(lambda: LOCAL_TEXT, vars(builtins) | vars(module))
    source = node if called_re_function(node) == "compile" else node.args[0]
    with suppress(AttributeError, TypeError, re.error):
        yield re.compile(eval(ast.unparse(source), {}, values))


def run_pattern(pattern: AnyPattern, method: str) -> Callable[[str], object]:
    """Return a function that applies a pattern to a text."""
    is_bytes = isinstance(pattern.pattern, bytes)
    apply: Any = (lambda text: deque(pattern.finditer(text), 0)) if method in SCANS else getattr(pattern, method)
    return lambda text: apply(text.encode("latin-1", "replace") if is_bytes else text)


def superlinear_patterns(texts_per_pattern: int) -> tuple[int, list[str]]:
    """Return the number of patterns, and a line for each one with a text that takes superlinear time."""
    complaints = []
    for pattern, (names, methods) in find_patterns().items():
        scans = methods & METHODS or {"findall"}
        texts = attack_texts(pattern, texts_per_pattern)
        cases = ((method, text) for method in sorted(scans - SCANS | set(sorted(scans & SCANS)[:1])) for text in texts)
        for method, text in cases:
            if is_superlinear(run_pattern(pattern, method), text):
                complaints.append(f"{' '.join(sorted(names))}: {method} on {text}")
                break
    return len(find_patterns()), complaints


# -- texts for a pattern


def attack_texts(pattern: AnyPattern, limit: int) -> Sequence[LinearText]:
    """Return at most `limit` texts that make a pattern backtrack or begin again and again."""
    texts: dict[LinearText, None] = {}
    for prefix, piece in iter_repetitions(parser.parse(pattern.pattern, pattern.flags & ~re.UNICODE), pattern.flags):
        if piece:
            texts |= dict.fromkeys((prefix, piece, end) for end in ENDS)
            texts["", prefix + piece, "\0"] = None
        if prefix:
            texts["", prefix, "\0"] = None
    rows = list(texts)
    return rows if len(rows) <= limit else random.Random(1).sample(rows, limit)


def iter_repetitions(nodes: Any, flags: int, prefixes: Sequence[str] = ("",)) -> Iterator[tuple[str, str]]:
    """Yield (text before it, text that it accepts) for each repetition, and (text, "") for the whole."""
    for operator, value in nodes:
        following: list[str] = []
        if operator in REPEATS:
            minimum, maximum, body = value
            if maximum > 3:
                pieces = (
                    matching_chars(body[0][0], body[0][1], flags)
                    if is_char(body)
                    else [example(body, flags, n) for n in range(4)]
                )
                yield from ((prefix, piece) for prefix in prefixes for piece in dict.fromkeys(pieces) if piece)
            yield from iter_repetitions(body, flags, prefixes)
            following = [example(body, flags, n) * max(minimum, 1) for n in (0, 1)] + [""] * (minimum == 0)
        elif operator is code.SUBPATTERN:
            yield from iter_repetitions(value[3], flags | value[1], prefixes)
        elif operator is code.ATOMIC_GROUP:
            yield from iter_repetitions(value, flags, prefixes)
        elif operator is code.BRANCH:
            for branch in value[1]:
                yield from iter_repetitions(branch, flags, prefixes)
        elif operator in (code.ASSERT, code.ASSERT_NOT):
            yield from iter_repetitions(value[1], flags, prefixes)
        following = following or [example([(operator, value)], flags, n) for n in range(3)]
        prefixes = list(dict.fromkeys(prefix + text for prefix in prefixes for text in following))[:4]
    yield from ((prefix, "") for prefix in prefixes)


def is_char(nodes: Any) -> bool:
    """True if the nodes match one character."""
    return len(nodes) == 1 and nodes[0][0] in SINGLE_CHAR


def example(nodes: Any, flags: int, choice: int) -> str:
    """Return a short text that the nodes match, lookarounds and references aside."""
    parts = []
    for operator, value in nodes:
        if operator in SINGLE_CHAR:
            chars = matching_chars(operator, value, flags)
            parts.append(chars[choice % len(chars)])
        elif operator is code.SUBPATTERN:
            parts.append(example(value[3], flags | value[1], choice))
        elif operator is code.ATOMIC_GROUP:
            parts.append(example(value, flags, choice))
        elif operator in REPEATS:
            parts.append(example(value[2], flags, choice) * value[0])
        elif operator is code.BRANCH:
            parts.append(example(value[1][choice % len(value[1])], flags, choice))
    return "".join(parts)


def matching_chars(operator: Any, value: Any, flags: int) -> list[str]:
    """Return usual characters that a node of one character matches, or its own first one."""
    if operator is code.LITERAL:
        return [chr(value)]
    node = parser.SubPattern(parser.State(), [(operator, value)])
    accepts = compiler.compile(node, flags & ~re.VERBOSE).fullmatch
    usual = [char for char in USUAL_CHARS if accepts(char)]
    if usual:
        return usual[:6] + usual[6::5]
    return [chr(part[0] if kind is code.RANGE else part) for kind, part in value if kind in (code.RANGE, code.LITERAL)]
