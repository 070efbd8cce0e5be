"""What saliency by modes is compared with, each from its own paper, one a module.

All of them take `Superpixels` and give a number from 0 to 1 for each, so that they can be compared on the
same superpixels: their settings alone change results more than most methods do.

=====================  =====================================================================
name                   paper
=====================  =====================================================================
robust_background      Zhu, Liang, Wei & Sun 2014: boundary connectivity, optimisation
manifold_ranking       Yang, Zhang, Lu, Ruan & Yang 2013: graph-based manifold ranking
graph_shift            Liu & Yan 2010: modes of a graph of superpixels, in place of ours
graph_shift_modes      the same, every superpixel worth what its mode is and nothing else
=====================  =====================================================================
"""

from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np

    from hypermodes.construct.superpixels import Superpixels


def _robust_background(superpixels: "Superpixels") -> "np.ndarray":
    from hypermodes.baselines.saliency.robust_background import robust_background

    return robust_background(superpixels)


def _manifold_ranking(superpixels: "Superpixels") -> "np.ndarray":
    from hypermodes.baselines.saliency.manifold_ranking import manifold_ranking

    return manifold_ranking(superpixels)


def _graph_shift(superpixels: "Superpixels") -> "np.ndarray":
    from hypermodes.baselines.saliency.graph_modes import graph_shift_saliency

    return graph_shift_saliency(superpixels)


def _graph_shift_modes(superpixels: "Superpixels") -> "np.ndarray":
    from hypermodes.baselines.saliency.graph_modes import graph_shift_saliency

    return graph_shift_saliency(superpixels, settled=False)


METHODS: dict[str, "Callable[[Superpixels], np.ndarray]"] = {
    "robust_background": _robust_background,
    "manifold_ranking": _manifold_ranking,
    "graph_shift": _graph_shift,
    "graph_shift_modes": _graph_shift_modes,
}
"""From superpixels to how much each stands out, by name."""
