"""What the links of a page promise: the share of them that is expected to be of the topic.

A list of the topic's pages need not be of the topic, and is the better page to go on from (a hub: Kleinberg 1999,
"Authoritative sources in a hyperlinked environment"; Chakrabarti, van den Berg and Dom 1999 steer a focused crawl by
such). It is known by its words, by its company, by how those of its links turned out that were followed, and by what
all of its anchors say together. How much each counts, other webs have taught (`pretrained_prior.py`): there it is known
where a page's links lead.
"""

import numpy as np

from focused.fused.crawl_graph import CrawlGraph, Floats, summed
from focused.fused.link_features import TAUGHT_LATENT, WORDS
from focused.fused.page_features import PageClassifier

SAID = [WORDS, TAUGHT_LATENT]  # columns of the texts' scores whose means are the last columns of a row


def promise_rows(graph: CrawlGraph, classifier: PageClassifier, texts: Floats) -> Floats:
    """What speaks for following the links of each page of a refit, (pages, PROMISE) float64.

    texts  (links, 9) float64  rows of `LinkTexts`, of all links
    """
    sizes, source = np.maximum(graph.degree.values, 1), graph.source.values
    said = [summed(source, texts[:, column], len(sizes)) / sizes for column in SAID]
    hub = classifier.company.hub(np.arange(len(sizes)))
    return np.column_stack((classifier.rows, hub, graph.anchored.values, *said))


def first_promise_row(sight: Floats, anchored: float, texts: Floats) -> Floats:
    """The same, (1, PROMISE), of a page that has just come: none of its links was followed yet.

    sight     (1, PAGE_FEATURES) float64  the page's features (`PageClassifier.sight`)
    anchored  share of its words that its links are made of
    texts     (links, 9) float64          rows of `LinkTexts`, of its links, of which there is one at least
    """
    return np.hstack((sight, [[0.0, anchored, *texts[:, SAID].mean(axis=0)]]))
