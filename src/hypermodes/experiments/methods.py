"""Every method of the comparison under one name, from points to labels, with -1 for outliers."""

import importlib.util
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Generic, Protocol, TypeVar

import numpy as np
from scipy.spatial import cKDTree
from sklearn.cluster import DBSCAN, HDBSCAN, SpectralClustering

from hypermodes import baselines
from hypermodes.estimator import HypergraphShift

T = TypeVar("T")
FEW = 3  # seeds for methods that would take most of the time of an experiment otherwise
CRESCENTS = 5


class Shown(Protocol):
    """A method as tables and legends see it."""

    @property
    def label(self) -> str:
        """Its name for people."""

    @property
    def family(self) -> str:
        """Heading it is shown under."""


@dataclass(frozen=True)
class Method(Generic[T]):
    """What is run, and how it is shown.

    Attributes
    ----------
    label : str
        For tables and legends.
    family : str
        Heading it is shown under.
    run : function of (n, 2) points
        What is timed.
    most_seeds : int, optional
        No more seeds than this, because it is slow.
    """

    label: str
    family: str
    run: Callable[[np.ndarray], T]
    most_seeds: int | None = None


OURS, PAPER, MODES, LIBRARY = "hypergraph shift", "the paper's competitors", "other mode seekers", "libraries"


def _ours(points: np.ndarray, **options: Any) -> np.ndarray:
    return HypergraphShift(**options).fit_predict(points)


def _baseline(points: np.ndarray, *, name: str) -> np.ndarray:
    return baselines.METHODS[name](points).labels


def two_percent(points: np.ndarray) -> int:
    """A smallest cluster of 2 % of the points, 5 at least."""
    return max(5, round(0.02 * len(points)))


def _hdbscan(points: np.ndarray) -> np.ndarray:
    return HDBSCAN(copy=True).fit_predict(points)


def _hdbscan_2_percent(points: np.ndarray) -> np.ndarray:
    return HDBSCAN(min_cluster_size=two_percent(points), min_samples=5, copy=True).fit_predict(points)


def _fast_hdbscan_2_percent(points: np.ndarray) -> np.ndarray:
    from fast_hdbscan import HDBSCAN  # type: ignore[import-not-found,import-untyped,unused-ignore]

    labels: np.ndarray = HDBSCAN(min_cluster_size=two_percent(points), min_samples=5).fit_predict(points)
    return labels


def _dbscan(points: np.ndarray) -> np.ndarray:
    reach = np.quantile(cKDTree(points).query(points, 6)[0][:, -1], 0.95)
    return DBSCAN(eps=reach, min_samples=5).fit_predict(points)


def _spectral(points: np.ndarray) -> np.ndarray:
    model = SpectralClustering(CRESCENTS, affinity="nearest_neighbors", n_neighbors=10, random_state=0)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Graph is not fully connected", category=UserWarning)
        return model.fit_predict(points)


def baseline_methods(run: Callable[[str], Callable[[np.ndarray], T]]) -> dict[str, Method[T]]:
    """All of `baselines.METHODS`, each run by what ``run`` makes of its name."""
    shown = {
        "affinity_ensembles": ("Liu et al. 2010 (affinity ensembles)", PAPER, None),
        "clustering_game": ("Rota Bulò & Pelillo (clustering game)", PAPER, FEW),
        "ehc": ("EHC", PAPER, None),
        "graph_shift": ("graph shift", MODES, None),
        "dominant_sets": ("dominant sets", MODES, FEW),
        "medoid_shift": ("medoid shift", MODES, None),
        "mean_shift": ("mean shift", MODES, FEW),
    }
    return {
        name: Method(label, family, run(name), seeds)
        for name, (label, family, seeds) in shown.items()
        if name in baselines.METHODS
    }


LABELLERS: dict[str, Method[np.ndarray]] = {
    "hypergraph_shift": Method("hypergraph shift (default)", OURS, _ours),
    "modes": Method("raw modes (the paper's own read-out)", OURS, partial(_ours, selection="modes")),
    **baseline_methods(lambda name: partial(_baseline, name=name)),
    "hdbscan": Method("HDBSCAN", LIBRARY, _hdbscan),
    "hdbscan_2_percent": Method("HDBSCAN, clusters of 2 %", LIBRARY, _hdbscan_2_percent),
    "dbscan": Method("DBSCAN, eps by quantile", LIBRARY, _dbscan),
    "spectral": Method("spectral clustering (told K)", LIBRARY, _spectral),
}
"""From points to labels, by name."""

if importlib.util.find_spec("fast_hdbscan"):
    LABELLERS["fast_hdbscan_2_percent"] = Method(
        "fast_hdbscan, clusters of 2 %", LIBRARY, _fast_hdbscan_2_percent
    )


def named(known: Mapping[str, T], names: list[str] | None) -> dict[str, T]:
    """Those with these names, all if None."""
    unknown = [name for name in names or () if name not in known]
    if unknown or names == []:
        raise ValueError(f"methods: expected some of {', '.join(known)}; got {', '.join(unknown) or 'none'}")
    return {name: method for name, method in known.items() if names is None or name in names}


def chosen(methods: Mapping[str, Method[T]], names: list[str] | None, seeds: int) -> dict[str, Method[T]]:
    """Those with these names, all if None; those that get fewer than the seeds asked for say so."""
    return {
        name: replace(method, label=f"{method.label}, {method.most_seeds} seeds")
        if method.most_seeds is not None and method.most_seeds < seeds
        else method
        for name, method in named(methods, names).items()
    }
