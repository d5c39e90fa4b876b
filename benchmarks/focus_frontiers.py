"""Ranking loss of frontiers: the loss that trains the link weights of `fused`."""

from dataclasses import dataclass

import numpy as np

from focused.fused.crawl_graph import Float64Array, Int64Array

ANY = 0.3  # of the loss: that some relevant URL is first; the rest: that all of them are before the others


@dataclass(frozen=True)
class Frontiers:
    """Rows of many frontiers, concatenated. `starts` has the first row of each frontier, `shares` its weight.

    `labels` are the values of relevant rows, 0 for other rows; each frontier has a relevant row. A row represents
    `weights` rows.
    """

    rows: Float64Array
    labels: Float64Array
    weights: Float64Array
    starts: Int64Array
    shares: Float64Array

    def loss(self, slopes: Float64Array) -> tuple[float, Float64Array]:
        """Return the negative log probability that a softmax on a frontier selects relevant rows, and its gradient."""
        sizes = np.diff(np.append(self.starts, len(self.rows)))
        owner = np.repeat(np.arange(len(sizes)), sizes)
        along = self.rows @ slopes
        highest = np.maximum.reduceat(along, self.starts)
        raised = np.exp(along - highest[owner]) * self.weights
        every, relevant = self._sum(raised), self._sum(raised * self.labels)
        wanted = self.labels * self.weights / self._sum(self.labels * self.weights)[owner]
        chance = raised / every[owner]
        by_any = np.log(every / relevant)
        by_all = np.log(every) + highest - self._sum(wanted * along)
        value = float(self.shares @ (ANY * by_any + (1 - ANY) * by_all))
        pull = ANY * raised * self.labels / relevant[owner] + (1 - ANY) * wanted
        return value, self.rows.T @ (self.shares[owner] * (chance - pull))

    def _sum(self, values: Float64Array) -> Float64Array:
        found: Float64Array = np.add.reduceat(values, self.starts)
        return found
