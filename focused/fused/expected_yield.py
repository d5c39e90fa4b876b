"""Features for the expected on-topic share of a page's links.

A list of on-topic pages need not be on topic itself, but is a good page to continue from (a hub: Kleinberg 1999,
"Authoritative sources in a hyperlinked environment"; Chakrabarti, van den Berg and Dom 1999 steer a focused crawl with
hubs). The expected share is predicted from the page's features, its hub score, its anchor-word share and the mean
scores of its anchors. The weights are pretrained on other webs, where the targets of all links are known
(`pretrained.py`).
"""

import numpy as np

from focused.fused.crawl_graph import CrawlGraph, Float64Array, sum_by_group
from focused.fused.link_features import ANCHOR_WORD_RELEVANCE, LEARNED_LATENT
from focused.fused.page_features import PageClassifier

# Columns of `LinkTextScores` whose means are the last columns of a feature row.
ANCHOR_SCORE_COLUMNS = [ANCHOR_WORD_RELEVANCE, LEARNED_LATENT]


def yield_features(graph: CrawlGraph, classifier: PageClassifier, link_text_scores: Float64Array) -> Float64Array:
    """Return the yield features of all pages of a refit, (pages, YIELD_FEATURES) float64.

    Args:
        graph: graph of the refit.
        classifier: classifier of the refit.
        link_text_scores: (links, 9) float64, rows of `LinkTextScores` of all links.
    """
    sizes, source = np.maximum(graph.page_out_degree.values, 1), graph.link_source_page.values
    anchor_means = [
        sum_by_group(source, link_text_scores[:, column], len(sizes)) / sizes for column in ANCHOR_SCORE_COLUMNS
    ]
    hub = classifier.neighbours.hub_scores(np.arange(len(sizes)))
    return np.column_stack((classifier.features, hub, graph.anchor_word_share.values, *anchor_means))


def initial_yield_features(
    page_features: Float64Array, anchor_word_share: float, link_text_scores: Float64Array
) -> Float64Array:
    """Return the yield features of a page that was just fetched, (1, YIELD_FEATURES) float64.

    The hub score is 0, because none of its links was followed yet.

    Args:
        page_features: (1, PAGE_FEATURES) float64, from `PageClassifier.initial_features`.
        anchor_word_share: share of the page's words that are in its anchors.
        link_text_scores: (links, 9) float64, rows of `LinkTextScores` of its links, at least one.
    """
    return np.hstack(
        (page_features, [[0.0, anchor_word_share, *link_text_scores[:, ANCHOR_SCORE_COLUMNS].mean(axis=0)]])
    )
