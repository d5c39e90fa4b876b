"""What the links of a page promise: the share of them that is expected to be of the topic.

A list of the topic's pages need not be of the topic, and is the better page to go on from (a hub: Kleinberg 1999,
"Authoritative sources in a hyperlinked environment"; Chakrabarti, van den Berg and Dom 1999 steer a focused crawl by
such). It is known by its words, by its company, by how those of its links turned out that were followed, and by what
all of its anchors say together. How much each counts, other webs have taught (`pretrained.py`): there it is known
where a page's links lead.
"""

import numpy as np

from focused.fused.crawl_graph import CrawlGraph, Float64Array, sum_by_group
from focused.fused.link_features import ANCHOR_WORD_RELEVANCE, LEARNED_LATENT
from focused.fused.page_features import PageClassifier

ANCHOR_SCORE_COLUMNS = [
    ANCHOR_WORD_RELEVANCE,
    LEARNED_LATENT,
]  # columns of the texts' scores whose means are the last columns of a row


def yield_features(graph: CrawlGraph, classifier: PageClassifier, link_text_scores: Float64Array) -> Float64Array:
    """What speaks for following the links of each page of a refit, (pages, PROMISE) float64.

    texts  (links, 9) float64  rows of `LinkTextScores`, of all links
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
    """The same, (1, PROMISE), of a page that has just come: none of its links was followed yet.

    sight     (1, PAGE_FEATURES) float64  the page's features (`PageClassifier.initial_features`)
    anchored  share of its words that its links are made of
    texts     (links, 9) float64          rows of `LinkTextScores`, of its links, of which there is one at least
    """
    return np.hstack(
        (page_features, [[0.0, anchor_word_share, *link_text_scores[:, ANCHOR_SCORE_COLUMNS].mean(axis=0)]])
    )
