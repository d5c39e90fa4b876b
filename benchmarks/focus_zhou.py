"""Zhou's experiments on the generated web: precision on domain sites and portals (ZK-E4), by threshold (ZK-E3)."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.focus_plots import write_lines
from benchmarks.focus_replay import Replay
from benchmarks.focus_scores import mean
from benchmarks.focus_site import is_portal
from benchmarks.results import Figure

THRESHOLDS = (0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6)
PAPERS = 0.2  # the threshold from which precision is stable

KEPT = dict[str, tuple[int, int]]
"""domain, portal, all -> pages kept, those of them that are relevant"""


@dataclass(frozen=True)
class Sweep:
    """One replay of `semantic` with a threshold."""

    topic: str
    draw: int
    threshold: float


def precision_by_host(replay: Replay, relevant: frozenset[str]) -> KEPT:
    """What was kept on each class of hosts."""
    portal = {url for url in replay.kept if is_portal(url)}
    classes = {"domain": replay.kept - portal, "portal": portal, "all": replay.kept}
    return {name: (len(urls), len(urls & relevant)) for name, urls in classes.items()}


def curve_of(name: str, sweeps: Sequence[Sweep], kept: Sequence[KEPT], plots: Path | None) -> Iterator[Figure]:
    """Precision and amount at each threshold, means over topics and draws; replays that kept nothing are left out."""
    lines: dict[str, list[tuple[float, float]]] = {"domain": [], "portal": [], "all": []}
    for threshold in THRESHOLDS:
        own = [one for sweep, one in zip(sweeps, kept, strict=True) if sweep.threshold == threshold]
        for hosts, line in lines.items():
            precision = mean([right / pages for pages, right in (one[hosts] for one in own) if pages])
            line.append((threshold, precision))
            yield Figure(name, "semantic", f"precision_{hosts}_above_{threshold:.2f}", precision)
            if hosts != "all" and threshold == PAPERS:
                yield Figure(name, "semantic", f"semantic_precision_{hosts}", precision)
        yield Figure(name, "semantic", f"kept_above_{threshold:.2f}", mean([float(one["all"][0]) for one in own]))
    if plots is not None:
        write_lines(plots / f"focus_{name}_zk_e3.svg", f"{name}: precision by threshold (ZK-E3)", "threshold", lines)
