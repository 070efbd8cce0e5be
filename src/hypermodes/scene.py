"""One set of superpixels: its regions, their modes, and how much each superpixel stands out."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from hypermodes.construct.regions import (
    MEMBER,
    appearance_paths,
    links,
    region_hypergraph,
    soft_regions,
)
from hypermodes.construct.superpixels import Superpixels
from hypermodes.modes import find_modes
from hypermodes.result import ModeSet, counted
from hypermodes.saliency_cues import NOTICEABLE, background, contrast, middle

ALIKE = 10.0  # CIELAB: superpixels that differ by less belong together
TRUST = 5.0  # how much more the background is to be trusted than the figure
LEAST = 0.05  # regions worth less than this part of the best are left out
GROUND = 0.01  # regions less likely than this not to be background are left out as well
TIE = 0.1  # neighbours hold together a little, however different they are


@dataclass(frozen=True, eq=False, repr=False)
class Scene:
    """What a set of superpixels shows: its modes, and how much each superpixel stands out.

    Attributes
    ----------
    superpixels : Superpixels
        The vertices of the hypergraph.
    modes : ModeSet or None
        Modes of the regions that stand out, each region worth its contrast away from the border; the
        densest first. None if nothing stands out.
    figure : (n,) float
        What the regions of each superpixel are worth by their modes, from 0 to 1: modes and nothing else.
    values : (n,) float
        How much each superpixel stands out, from 0 to 1: that figure weighed against its ground.
    """

    superpixels: Superpixels
    modes: ModeSet | None
    figure: np.ndarray
    values: np.ndarray

    @cached_property
    def mode_of(self) -> np.ndarray:
        """The mode that most of the regions of a superpixel shift to, (n,), by h(v,e) w(e); -1 for none."""
        if self.modes is None or self.modes.hypergraph is None or not len(self.modes):
            return np.full(self.superpixels.n, -1)
        hypergraph, edge_mode = self.modes.hypergraph, self.modes.edge_mode
        pull = np.zeros((self.superpixels.n, len(self.modes)))
        for k in range(len(self.modes)):
            inside = edge_mode == k
            pull[:, k] = hypergraph.incidence[:, inside] @ hypergraph.weights[inside]
        pull[pull < 1e-12 * pull.max()] = 0.0
        return np.where(pull.any(axis=1), pull.argmax(axis=1), -1)

    def mass(self, k: int) -> np.ndarray:
        """How much each superpixel is in mode ``k``, Σ_e p_e h(v,e), from 0 to 1."""
        if self.modes is None or self.modes.hypergraph is None:
            raise IndexError(f"k: expected the rank of a mode, of which there are none; got {k!r}")
        mode = self.modes[k]
        held: np.ndarray = self.modes.hypergraph.incidence[:, mode.support] @ mode.weights
        return held

    def __repr__(self) -> str:
        n_modes = 0 if self.modes is None else len(self.modes)
        return f"Scene({counted(self.superpixels.n, 'superpixel')}, {counted(n_modes, 'mode')})"


def see(superpixels: Superpixels, *, centred: bool = True, n_jobs: int | None = -1) -> Scene:
    """Find what stands out: regions as hyperedges, worth their contrast; modes; figure against ground.

    1. The regions around every superpixel at three scales, each soft: `soft_regions`.
    2. Superpixels are background as far as their regions are held by the border, `background`; the rest is
       worth its contrast to that, more in the middle if ``centred``. A region is worth its mean contrast
       times its mean probability not to be background.
    3. Modes of the hypergraph of these regions. A region is then worth what its mode is, a superpixel the
       mean of the regions it is in: what belongs to one thing stands out as one thing.
    4. `settle` weighs that figure against that ground, `posterior` asks for each superpixel whether its
       colour is one of the figure or of the ground.
    """
    paths = appearance_paths(superpixels)
    regions = soft_regions(paths)
    behind = background(regions, superpixels)
    cue = stretched(contrast(superpixels, behind))
    if centred:
        cue *= middle(superpixels)
    worth = region_worth(regions, superpixels, cue, behind)
    kept = worth > LEAST * worth.max()
    if not kept.any():
        return Scene(superpixels, None, np.zeros(superpixels.n), np.zeros(superpixels.n))
    hypergraph = region_hypergraph(regions, worth, kept)
    modes = find_modes(hypergraph, n_jobs=n_jobs)
    worth[~kept] = 0.0
    worth[kept] = mode_worth(modes, worth[kept])
    seen = min(1.0, float(superpixels.difference.max()) / NOTICEABLE)
    figure = stretched(mean_over_regions(regions, worth))
    settled = stretched(settle(superpixels, clear(figure), behind))
    return Scene(superpixels, modes, figure * seen, stretched(posterior(superpixels, settled)) * seen)


def region_worth(
    regions: np.ndarray, superpixels: Superpixels, cue: np.ndarray, behind: np.ndarray
) -> np.ndarray:
    """Mean contrast of a region times its mean probability not to be background, (scales, n).

    Means over the members of a region, by area: regions with the same members are worth the same. Those that
    are background for all but certain are worth nothing.
    """
    mass = np.where(regions >= MEMBER, superpixels.area, 0.0)
    mass /= mass.sum(axis=2, keepdims=True)
    free = 1 - mass @ behind
    worth: np.ndarray = np.where(free > GROUND, (mass @ cue) * free, 0.0)
    return worth


def mode_worth(modes: ModeSet, worth: np.ndarray) -> np.ndarray:
    """What each hyperedge is worth by its mode, Σ_e p_e worth_e; its own worth if it has none."""
    own = np.array([mode.weights @ worth[mode.support] for mode in modes])
    shifted = modes.edge_mode >= 0
    value = worth.copy()
    value[shifted] = own[modes.edge_mode[shifted]]
    return value


def mean_over_regions(regions: np.ndarray, worth: np.ndarray) -> np.ndarray:
    """For each superpixel the mean worth of the regions it is in, Σ_e h(v,e) worth_e / Σ_e h(v,e)."""
    held = np.where(regions >= MEMBER, regions, 0.0)
    mean: np.ndarray = (held * worth[:, None, :]).sum(axis=(0, 2)) / held.sum(axis=(0, 2))
    return mean


def settle(superpixels: Superpixels, figure: np.ndarray, behind: np.ndarray) -> np.ndarray:
    """Minimise Σ_i TRUST behind_i s_i² + Σ_i figure_i (s_i - 1)² + Σ_ij w_ij (s_i - s_j)² / 2.

    w is exp(-d²/2 ALIKE²) between superpixels at most two steps apart, or both on the border, and TIE more
    between neighbours (Zhu et al. 2014, Eq. 9).
    """
    alike = np.exp(-((superpixels.difference / ALIKE) ** 2) / 2)
    hold = np.where(links(superpixels, rings=2), alike, 0.0) + TIE * superpixels.adjacency.toarray()
    system = np.diag(TRUST * behind + figure + hold.sum(axis=1)) - hold
    return np.linalg.solve(system, figure)


def posterior(superpixels: Superpixels, prior: np.ndarray) -> np.ndarray:
    """Bayes' rule with the colours of figure and ground: prior P(c|1) / (prior P(c|1) + (1-prior) P(c|0)).

    P(c|1) and P(c|0) are kernel density estimates, of width ALIKE, with each superpixel counted by its area
    and by prior and 1 - prior.
    """
    alike = np.exp(-((superpixels.difference / ALIKE) ** 2) / 2)
    for_it, against = superpixels.area * prior, superpixels.area * (1 - prior)
    if not for_it.any() or not against.any():
        return prior
    yes = prior * (alike @ for_it) / for_it.sum()
    no = (1 - prior) * (alike @ against) / against.sum()
    return yes / (yes + no)


def stretched(values: np.ndarray) -> np.ndarray:
    """From 0 to 1; all 0 if there is no difference but rounding."""
    low, high = float(values.min()), float(values.max())
    if high - low <= 1e-9 * max(abs(high), abs(low)):
        return np.zeros_like(values)
    return (values - low) / (high - low)


def clear(values: np.ndarray) -> np.ndarray:
    """Nothing where values are below the threshold that parts them best (Otsu 1979)."""
    return np.where(values < otsu(values), 0.0, values)


def otsu(values: np.ndarray) -> float:
    """The threshold with the largest variance between those below it and those from it on; 0 if all agree."""
    ordered = np.sort(values)
    below = np.arange(1, ordered.size)
    sums = np.cumsum(ordered)
    gap = sums[-1] * below / ordered.size - sums[:-1]
    between = gap**2 / (below * (ordered.size - below))
    different = ordered[1:] > ordered[:-1]
    if not different.any():
        return 0.0
    return float(ordered[1:][np.argmax(np.where(different, between, -1.0))])
