"""Tables of the search benchmark."""

from collections.abc import Iterator, Sequence

from rich.table import Table

from benchmarks.extract_tables import grid, show
from benchmarks.results import Figure
from benchmarks.search_systems import OURS

TITLES = {
    "ndcg10": "nDCG@10",
    "mrr10": "MRR@10",
    "r100": "R@100",
    "precision_at_half": "Correct quotations for the most certain half of the answerable questions",
    "near_precision_at_half": "The same, each question also without its answer sentence",
    "held_near_precision_at_half": "The same, articles that chose no weight",
    "auroc": "Questions with their article against those without, AUROC",
    "shown": "Answerable questions with a shown answer",
    "precision": "The correct share of these",
    "shown_to_others": "Questions without their article with a shown answer",
    "near_shown": "Questions without their answer sentence with a shown answer",
    "verbatim": "Quotations that occur exactly in their document",
    "answer_ms": "Selecting the quotations of a question, median, ms",
    "overlap_5": "Top 10 shared with keyword or complete hybrid search, 5% of the documents embedded",
    "overlap_25": "The same, 25%",
    "overlap_50": "The same, 50%",
    "corrected_first": "Typing errors whose first offer is the term",
    "false_offers": "Correct terms with an offer",
    "docs_per_s": "Documents indexed per second",
    "p50_ms": "Query, median, ms",
    "p95_ms": "Query, 95th percentile, ms",
    "docs_ratio": "Bulk indexing: ours by plain Solr's",
    "p95_ratio_1": "Result page by the bare query, p95, 1 client",
    "p95_ratio_8": "The same, 8 clients",
    "p95_ratio_32": "The same, 32 clients",
    "meaning_p95_ratio": "The page by words and meaning by that by words, p95, the worst",
    "errors": "Answers other than 200 under load",
    "nrt_p95_s": "Acknowledged until found, p95, seconds",
    "mrr_base": "Whole terms, base dictionary: MRR",
    "mrr_domain": "Whole terms, domain lexicon: MRR",
    "p10_base": "Whole terms, base dictionary: P@10",
    "p10_domain": "Whole terms, domain lexicon: P@10",
}
TARGETS = {  # targets of issue 5
    ("zh_statute", "ndcg10"): 0.395,
    ("zh_statute", "r100"): 0.72,
    ("zh_papers", "ndcg10"): 0.936,
    ("zh_web", "ndcg10"): 0.812,
    ("en_cran", "ndcg10"): 0.415,
    ("related", "mrr10"): 0.48,
    ("answers", "near_precision_at_half"): 0.85,
    ("answers", "auroc"): 0.97,
    ("answers", "verbatim"): 1.0,
    ("answers_en", "near_precision_at_half"): 0.85,
    ("answers_en", "auroc"): 0.97,
    ("answers_en", "verbatim"): 1.0,
    ("compare", "mrr_domain"): 0.95,
    ("bulk", "docs_ratio"): 0.8,
    ("partial", "overlap_5"): 0.9,
    ("partial", "overlap_25"): 0.9,
    ("partial", "overlap_50"): 0.9,
    ("typos", "corrected_first"): 0.9,
    ("typos", "false_offers"): 0.01,  # at most
    ("typos_present", "corrected_first"): 0.85,
    ("load", "p95_ratio"): 1.5,  # at most
    ("load", "meaning_p95_ratio"): 1.35,  # at most
    ("load", "errors"): 0,  # at most
    ("load", "nrt_p95_s"): 1.0,  # at most
}


def tables(figures: Sequence[Figure]) -> Iterator[Table]:
    """Yield one table per metric, then our figures relative to the best peer and to the targets."""
    for metric, title in TITLES.items():
        table = grid(title, [figure for figure in figures if figure.metric == metric])
        if table.row_count:
            yield table
    yield by_best_peer(figures)
    yield by_target(figures)


def by_best_peer(figures: Sequence[Figure]) -> Table:
    """Build a table of our figure and the best peer for each collection."""
    table = Table("set", "ours", "best peer", "", "ratio", title="nDCG@10 by the best peer", title_justify="left")
    found = [figure for figure in figures if figure.metric == "ndcg10"]
    for mine in (figure for figure in found if figure.system == OURS):
        peers = [f for f in found if f.set == mine.set and not f.system.startswith(OURS)]
        if peers:
            best = max(peers, key=lambda figure: figure.value)
            table.add_row(mine.set, show(mine.value), show(best.value), best.system, f"{mine.value / best.value:.3f}")
    return table


def by_target(figures: Sequence[Figure]) -> Table:
    """Build a table of our figures and the targets."""
    table = Table("set", "metric", "ours", "asked", title="By target", title_justify="left")
    values = {(figure.set, figure.metric): figure.value for figure in figures if figure.system == OURS}
    for (name, metric), target in TARGETS.items():
        if (name, metric) in values:
            table.add_row(name, metric, f"{values[name, metric]:.4f}", f"{target:.3f}")
    return table
