"""Which pages `fused` remembers: so many at most, whatever the crawl fetches.

Looking at everything anew takes memory by the page and time by its square, so a crawl without end must forget. A page
that is forgotten has its last verdict; what it links to keeps its last priority. Those remembered are a fair sample, so
that what is estimated of them (how frequent the topic is, what words tell) is true of all, drawn anew each time from
those that are left and those that came since: older pages grow rarer by half.
"""

import numpy as np
from numpy.typing import NDArray

from focused.fused.crawl_graph import Ints

MOST_PAGES = 20_000
SHARE_LEFT = 0.5  # of them, after forgetting


def remembered(labelled: NDArray[np.bool_], most: int) -> Ints:
    """The numbers of the pages to remember, in order: all those of which somebody said what they are, and a sample.

    labelled  (pages,) bool  examples, and pages about which a person has answered
    """
    draw = np.random.default_rng(len(labelled))
    others = draw.permutation(np.flatnonzero(~labelled))
    room = max(int(most * SHARE_LEFT) - int(labelled.sum()), 0)
    return np.sort(np.concatenate((np.flatnonzero(labelled), others[:room])))
