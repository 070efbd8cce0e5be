"""What the iterative methods count: starts, and iterations of all starts together, by kind."""

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np

from hypermodes import baselines
from hypermodes.affinity import HyperedgeAffinity
from hypermodes.batch import ROUNDS, STEPS, Budget, Prepared, shift_all, single_starts
from hypermodes.construct.points import knn_hypergraph
from hypermodes.dynamics import Replicator
from hypermodes.experiments.methods import FEW, OURS, Method, baseline_methods
from hypermodes.shift import shift

STARTS = 20  # of the readable layer, evenly spaced


class Count(NamedTuple):
    """What one run took."""

    starts: int
    iterations: dict[str, int]
    """Of all starts together, by what is counted: rounds, steps."""


def _compiled(points: np.ndarray) -> Count:
    """Shift every hyperedge as `find_modes` does, one thread, and keep the counts of every start."""
    prepared = Prepared.of(HyperedgeAffinity(knn_hypergraph(points, n_jobs=1)))
    found = shift_all(prepared, single_starts(np.arange(prepared.n_rows)), Budget())
    rounds, steps = found.notes[:, [ROUNDS, STEPS]].sum(axis=0).astype(int).tolist()
    return Count(len(found.notes), {"rounds": rounds, "steps": steps})


def _replicator(points: np.ndarray) -> Count:
    """Algorithm 1 with Eq. (8) alone, in the readable layer, to the tolerance of graph shift."""
    hypergraph = knn_hypergraph(points, n_jobs=1)
    starts = np.linspace(0, hypergraph.n_edges - 1, STARTS).astype(int)
    rule = Replicator(tol=1e-4, max_steps=100_000)
    modes = [shift(hypergraph, start, dynamics=rule, settle=False) for start in starts.tolist()]
    return Count(
        STARTS, {"rounds": sum(mode.rounds for mode in modes), "steps": sum(mode.steps for mode in modes)}
    )


def _baseline(points: np.ndarray, *, name: str) -> Count:
    found = baselines.METHODS[name](points)
    return Count(found.starts, {"steps": found.iterations})


def _counting(name: str) -> Callable[[np.ndarray], Count]:
    return partial(_baseline, name=name)


ITERATIVE: dict[str, Method[Count]] = {
    "hypergraph_shift": Method("hypergraph shift, compiled", OURS, _compiled),
    "replicator": Method("the same by Eq. (8) alone, readable", OURS, _replicator, FEW),
    **baseline_methods(_counting),
}
"""From points to counts, by name."""
