"""Figures of `make bench-focus` from the scores of replays: means, and gains claimed by the papers."""

import math
from collections.abc import Iterator, Mapping, Sequence

from benchmarks.focus_scores import FOUND_PARTS, PARTS, Score, calibration_error, mean
from benchmarks.focus_site import NAME as GENERATED
from benchmarks.results import Figure

OURS = "plumbline"  # the name of `fused` among the figures
GAINS = (
    ("topic_library_precision_gain", "topic_library", "static_keywords", "precision"),
    ("topic_library_recall_gain", "topic_library", "static_keywords", "recall"),
    ("topic_library_f1_gain", "topic_library", "static_keywords", "f1"),
    ("semantic_tree_precision_gain", "semantic_tree", "vsm", "precision"),
    ("semantic_tree_f1_gain", "semantic_tree", "vsm", "f1"),
)
PAPERS = (("semantic", "breadth_first"), ("topic_library", "static_keywords"), ("semantic_tree", "vsm"))
OF_ORACLE = (("harvest_of_oracle", "harvest_r"), ("recall_of_oracle", "recall_5r"))
FUSED, JUDGED = "fused", "fused_judged"
RARE = 0.01  # of a web's pages
AHEAD_WEBS, AHEAD_TOPICS, PAPERS_AHEAD, ECE = "ahead_webs", "ahead_topics", "papers_ahead", "ece"
GIVEN = (
    *(AHEAD_WEBS, AHEAD_TOPICS, "kept_again"),
    *(
        f"{metric}{kind}{behind}"
        for metric in ("kept_precision", "kept_recall", ECE)
        for kind in ("", "_rare")
        for behind in ("", "_judged")
    ),
)  # by web already
REACHED, SHARE = "wikispeedia", "fused_fetch_share_at_90"


def gains(figures: Sequence[Figure]) -> Iterator[Figure]:
    """Yield the gains claimed by the papers, in points, as means over the sets: each strategy over its own baseline."""
    values = {(figure.set, figure.system, figure.metric): figure.value for figure in figures}
    for metric, ours, baseline, of in GAINS:
        found = [
            100 * (values[name, ours, of] - values[name, baseline, of])
            for name in dict.fromkeys(figure.set for figure in figures)
            if (name, ours, of) in values and (name, baseline, of) in values
        ]
        if found:
            yield Figure("all", OURS, metric, mean(found))
    for metric in ("semantic_precision_domain", "semantic_precision_portal"):
        found = [value for (_, _, own), value in values.items() if own == metric]
        if found:
            yield Figure("all", OURS, metric, mean(found))
    shares = {name: value for (name, _, metric), value in values.items() if metric == SHARE}
    if shares:  # asked of wikispeedia, where nearly all can be reached from anywhere
        yield Figure("all", OURS, SHARE, shares.get(REACHED, mean(list(shares.values()))))


def compared(figures: Sequence[Figure]) -> Iterator[Figure]:
    """Yield each stored web relative to the oracle, then the means over the webs as rows of `all`.

    harvest_of_oracle, recall_of_oracle    each strategy's harvest@R and recall@5R as a share of the oracle's
    papers_ahead    the minimum, over the three papers, harvest and F, of a strategy's figure divided by its baseline's;
                    above 1 if all are better
    """
    values = {(figure.set, figure.system, figure.metric): figure.value for figure in figures}
    rows: list[Figure] = [figure for figure in figures if figure.metric in GIVEN]
    for name, system in dict.fromkeys((figure.set, figure.system) for figure in figures):
        for metric, of in OF_ORACLE:
            best = values.get((name, "oracle", of), 0.0)
            if best and (name, system, of) in values:
                rows.append(Figure(name, system, metric, values[name, system, of] / best))
    for name in dict.fromkeys(figure.set for figure in figures):
        pairs = [
            (values[name, paper, metric], values[name, baseline, metric])
            for paper, baseline in PAPERS
            for metric in ("harvest_r", "f1")
            if (name, paper, metric) in values and (name, baseline, metric) in values
        ]
        if len(pairs) == 2 * len(PAPERS):
            rows.append(Figure(name, OURS, PAPERS_AHEAD, min(own / max(other, 1e-9) for own, other in pairs)))
    yield from (row for row in rows if row.metric not in GIVEN)
    for system, metric in dict.fromkeys((row.system, row.metric) for row in rows):
        some = [row.value for row in rows if (row.system, row.metric) == (system, metric) and row.set != GENERATED]
        if some:
            yield Figure("all", system, metric, mean(some))


def ahead_of(name: str, scores: Mapping[str, Sequence[Score]], draws: int) -> Iterator[Figure]:
    """Return 1 if `fused` harvests more than every strategy except the oracle, otherwise 0, and its share of topics.

    Scores are in order of topics, `draws` per topic.
    """
    others = [some for system, some in scores.items() if system not in (FUSED, JUDGED, "oracle")]
    own = scores.get(FUSED, ())
    if not own or not others:
        return
    yield Figure(name, OURS, AHEAD_WEBS, float(all(harvest(own) > harvest(other) for other in others)))
    topics = [slice(start, start + draws) for start in range(0, len(own), draws)]
    ahead = [all(harvest(own[topic]) > harvest(other[topic]) for other in others) for topic in topics]
    yield Figure(name, OURS, AHEAD_TOPICS, mean([float(one) for one in ahead]))


def kept_of(name: str, scores: Mapping[str, Sequence[Score]]) -> Iterator[Figure]:
    """Yield the retention of `fused` at the target precision, without and with labels (`_judged`), for all and RARE
    topics.

    kept_precision  share of relevant pages among all retained pages, of all topics together kept_recall     mean over
    topics of the share of the reachable pages that is retained ece             expected calibration error of the
    probabilities
    """
    for system, behind in ((FUSED, ""), (JUDGED, "_judged")):
        every = scores.get(system, ())
        for kind, own in (("", every), ("_rare", [one for one in every if one.share <= RARE])):
            if own:
                pages, right = sum(one.kept_pages for one in own), sum(one.kept_right for one in own)
                yield Figure(name, OURS, f"kept_precision{kind}{behind}", right / pages if pages else 1.0)
                yield Figure(name, OURS, f"kept_recall{kind}{behind}", mean([one.recall for one in own]))
                judged = [one for some in own for one in some.judged]
                yield Figure(name, OURS, f"{ECE}{kind}{behind}", calibration_error(judged))
        if every and not behind:
            yield Figure(name, OURS, "kept_again", mean([one.again for one in every]))


def harvest(scores: Sequence[Score]) -> float:
    """Return the mean harvest@R."""
    return mean([one.harvest_r for one in scores])


def figures_of(name: str, system: str, scores: Mapping[str, Sequence[Score]]) -> Iterator[Figure]:
    """Yield the means of one strategy on one graph, and its fetches relative to breadth first."""
    own = scores[system]
    system = OURS if system == "fused" else system
    for metric in ("harvest_r", "recall_5r", "precision", "recall", "f1", "page_ms", "link_ms", "visit_ms"):
        yield Figure(name, system, metric, mean([getattr(one, metric) for one in own]))
    yield Figure(name, system, "harvest", mean([one.harvest[-1] for one in own]))
    for place, part in enumerate(PARTS):
        yield Figure(name, system, f"harvest_at_{part:.0%}", mean([one.harvest[place] for one in own]))
        if any(one.ndcg for one in own):
            yield Figure(name, system, f"ndcg_at_{part:.0%}", mean([one.ndcg[place] for one in own if one.ndcg]))
        for metric in ("precision", "recall", "f1"):
            yield Figure(
                name, system, f"{metric}_at_{part:.0%}", mean([getattr(one.kept[place], metric) for one in own])
            )
    for place, part in enumerate(FOUND_PARTS):
        times = [one.seconds_to[place] for one in own]
        if max(times, default=math.inf) < math.inf:
            yield Figure(name, system, f"seconds_to_{part:.0%}", mean(times))
    reached = [one.fetches_at_90 < float("inf") for one in own]
    yield Figure(name, system, "reached_90", mean([float(value) for value in reached]))
