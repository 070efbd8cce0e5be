"""`layout`: a picture of any data, in few coordinates."""

from typing import Any

import numpy as np

from hypermodes.affinity import MatrixAffinity
from hypermodes.construct.metrics import Metric
from hypermodes.executors import executor_of
from hypermodes.hypergraph import Hypergraph
from hypermodes.layout.embedding import embedded
from hypermodes.layout.settings import LAYOUT
from hypermodes.layout.ties import Ties
from hypermodes.neighbourhoods import Neighbourhoods, number_of_rows
from hypermodes.progress import Progress, tracker
from hypermodes.scalars import whole_number
from hypermodes.tree import check_count


def layout(
    data: Any,
    n_dimensions: int = 2,
    *,
    n_neighbors: int | None = None,
    metric: Metric = "euclidean",
    index: Any = None,
    n_jobs: int | None = -1,
    client: Any = None,
    progress: Progress = None,
) -> np.ndarray:
    """Place items so that those which hold together are near each other: a picture of any data.

    Parameters
    ----------
    data : (n, d) array, DataFrame, sparse matrix, Hypergraph, MatrixAffinity, or distances
        As in `cluster`. The items of a hypergraph are its vertices.
    n_dimensions : int
        How many coordinates: 2 for a picture.
    n_neighbors : int, optional
        Neighbours an item is tied to; 15 if not given. Of no use for hypergraphs.
    metric, index, n_jobs, client, progress
        As in `cluster`.

    Returns
    -------
    (n, n_dimensions) array
        Coordinates; NaN for items that are tied to no other. Connected parts are side by side.

    Notes
    -----
    Distances between far items say little, and densities are not those of the data. The result depends on
    neither threads nor the order of items.

    Examples
    --------
    >>> from hypermodes.datasets import five_crescents
    >>> layout(five_crescents(600).points).shape
    (600, 2)
    """
    n_dimensions = whole_number("n_dimensions", n_dimensions, "a number of coordinates, 1 or more", most=100)
    check_count("n_neighbors", n_neighbors)
    check_options(data, n_neighbors, metric, index)
    with (
        executor_of(client, n_jobs) as executor,
        tracker(progress, LAYOUT.epochs + 1, "layout", executor.dashboard) as advance,
    ):
        place: Any = slice(None)
        if isinstance(data, Hypergraph):
            ties = Ties.of_hypergraph(data)
        elif isinstance(data, MatrixAffinity):
            ties = Ties.of_similarities(data.matrix(), n_neighbors or LAYOUT.n_neighbors, n_jobs)
        else:
            around = Neighbourhoods.around(
                data, n_neighbors, metric, index, n_jobs, 2, executor.client, at_least=LAYOUT.n_neighbors
            )
            if around is None:
                advance(LAYOUT.epochs + 1)
                return np.zeros((number_of_rows(data), n_dimensions))
            found = around.nearest(
                min(n_neighbors or LAYOUT.n_neighbors, around.rows.size - 1), executor.client
            )
            ties = Ties.of_neighbours(found.indices, found.distances, around.dimension, n_jobs)
            place = around.place
        advance(1)
        places = embedded(ties, n_dimensions, n_jobs=n_jobs, advance=advance, compact=True)
    return np.asarray(places[place])


def check_options(data: Any, n_neighbors: int | None, metric: Any, index: Any) -> None:
    """Refuse options that a hypergraph, or similarities, have no use for."""
    if not isinstance(data, Hypergraph | MatrixAffinity):
        return
    kind = type(data).__name__
    if not (isinstance(metric, str) and metric == "euclidean"):
        raise ValueError(f"metric: expected none for a {kind}; got {metric!r}")
    if index is not None:
        raise ValueError(f"index: expected none for a {kind}; got {index!r}")
    if n_neighbors is not None and isinstance(data, Hypergraph):
        raise ValueError(f"n_neighbors: expected none for a {kind}; got {n_neighbors!r}")
