"""Graph shift on superpixels: the modes of a graph in place of those of a hypergraph, all else the same.

The cues, the way from modes to superpixels and what follows are those of `hypermodes.scene.see`, so that the
difference is that between pairs of superpixels and regions of them.
"""

import numpy as np
import scipy.sparse as sp

from hypermodes.baselines.graph_shift import graph_shift
from hypermodes.construct.regions import appearance_paths, links, soft_regions
from hypermodes.construct.superpixels import Superpixels
from hypermodes.partition import Partition
from hypermodes.saliency_cues import background, contrast, middle
from hypermodes.scene import ALIKE, clear, posterior, settle, stretched


def graph_shift_saliency(superpixels: Superpixels, *, settled: bool = True) -> np.ndarray:
    """How much each superpixel stands out, from 0 to 1, (n,): it is worth what its mode is.

    Parameters
    ----------
    settled : bool
        Whether figure is weighed against ground as in our own method; if not, the worth of the modes is the
        answer.
    """
    behind, worth = vertex_worth(superpixels)
    modes = graph_modes(superpixels, worth)
    if modes is None:
        return np.zeros(superpixels.n)
    own = np.array([group.weights @ worth[group.support] for group in modes.groups])
    inside = modes.labels >= 0
    value = worth.copy()
    value[inside] = own[modes.labels[inside]]
    figure = stretched(value)
    if not settled:
        return figure
    return stretched(posterior(superpixels, stretched(settle(superpixels, clear(figure), behind))))


def vertex_worth(superpixels: Superpixels) -> tuple[np.ndarray, np.ndarray]:
    """Probability to be background, and the worth of each superpixel: contrast × (1 - background)."""
    behind = background(soft_regions(appearance_paths(superpixels)), superpixels)
    cue = stretched(contrast(superpixels, behind)) * middle(superpixels)
    return behind, cue * (1 - behind)


def graph_modes(superpixels: Superpixels, worth: np.ndarray) -> Partition | None:
    """Modes of A(i,j) = exp(-d²/2 ALIKE²) (worth_i + worth_j), superpixels at most two steps apart.

    None if nothing is worth anything.
    """
    alike = np.exp(-((superpixels.difference / ALIKE) ** 2) / 2)
    pairs = np.where(links(superpixels, rings=2), alike * (worth[:, None] + worth), 0.0)
    pairs[pairs < 1e-6 * pairs.max()] = 0.0
    return graph_shift(sp.csr_array(pairs)) if pairs.any() else None
