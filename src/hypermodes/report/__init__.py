"""One page that shows what was found: a single HTML file, for people who do not write Python.

`write_report` is all there is to call. Inside: `content` (what a page says), `of_modes`, `of_points` and
`of_hypergraphs` (results turned into that), `bubbles`, `scatter` and `branches` (what is drawn), and `page`
(HTML).
"""

import os
from typing import Any

import numpy as np
import scipy.sparse as sp

from hypermodes.cluster.result import Clusters, HypergraphClusters
from hypermodes.files import replacing
from hypermodes.matrices import given_matrix
from hypermodes.report.content import Report
from hypermodes.report.naming import Names, edge_names, given_names, vertex_names
from hypermodes.report.of_hypergraphs import report_of_hypergraph
from hypermodes.report.of_modes import report_of_modes
from hypermodes.report.of_points import report_of_points
from hypermodes.report.page import as_html
from hypermodes.report.wording import shown
from hypermodes.result import ModeSet

__all__ = ["write_report"]

_LONGEST_TITLE = 300


def write_report(
    result: Any,
    path: str | os.PathLike[str],
    *,
    title: str | None = None,
    points: Any = None,
    names: Names = None,
    n_jobs: int | None = -1,
) -> None:
    """Write what was found as one HTML page that needs nothing else: no network, no server, no Python.

    Parameters
    ----------
    result : ModeSet or Clusters
        What `find_modes` or `cluster` gave.
    path : path
        The file to write, all at once or not at all.
    title : str, optional
        What the page is called.
    points : (n, d) array, optional
        The points that were clustered, to draw clusters on. Of more than three coordinates a layout is drawn,
        if clusters were read from one; else, of more than two, their principal components. The page says so.
    names : mapping, sequence or str, optional
        What to call vertices instead of their labels, or points instead of their row numbers: a mapping from
        these, a sequence with one name each, or an attribute that the file the hypergraph was read from has
        for its vertices. If not given, the attribute ``name`` or ``label``, where it tells vertices apart.
        Hyperedges that have such an attribute are called by it as well.
    n_jobs : int
        Threads to find the modes of clusters with, if they were not found before, and a layout to draw.

    Notes
    -----
    A page is a few megabytes at most: the table has 5,000 rows, of 40 names each, and the picture 100,000
    points. It says what it left out; the numbers in it count everything. The same result gives the same page.

    Examples
    --------
    >>> import hypermodes as hm
    >>> H = hm.Hypergraph.from_edges([["ann", "bob", "cid"], ["bob", "cid"], ["dan", "eve"], ["eve", "fay"]])
    >>> hm.write_report(hm.find_modes(H), "report.html", title="Who meets whom")  # doctest: +SKIP
    """
    text = as_html(report_of(result, title, points, names, n_jobs))
    with replacing(path) as temporary:
        temporary.write_text(text, encoding="utf-8", newline="\n")


def report_of(
    result: Any,
    title: str | None = None,
    points: Any = None,
    names: Names = None,
    n_jobs: int | None = -1,
) -> Report:
    """What a page on this result says."""
    if title is not None:
        if not isinstance(title, str):
            raise ValueError(f"title: expected text or None; got {title!r}")
        title = shown(title, _LONGEST_TITLE)
    if isinstance(result, Clusters) and not isinstance(result, HypergraphClusters):
        n = result.labels.size
        name = None if names is None else given_names(range(n), names, "point")
        points = _checked_points(points, n)
        return report_of_points(result, result.modes(n_jobs=n_jobs), title, points, name, n_jobs)
    if points is not None:
        raise ValueError(
            f"points: expected None for a {type(result).__name__}; points are for clusters of points"
        )
    if isinstance(result, ModeSet):
        hypergraph = result.hypergraph
        return report_of_modes(result, title, vertex_names(hypergraph, names), edge_names(hypergraph, names))
    if isinstance(result, HypergraphClusters):
        hypergraph = result.hypergraph
        vertex_name, edge_name = vertex_names(hypergraph, names), edge_names(hypergraph, names)
        return report_of_hypergraph(result, result.modes(n_jobs=n_jobs), title, vertex_name, edge_name)
    raise ValueError(
        f"result: expected a ModeSet or Clusters, as find_modes and cluster give them; "
        f"got a {type(result).__name__}"
    )


def _checked_points(points: Any, n: int) -> np.ndarray | None:
    if points is None:
        return None
    shape = np.shape(points)
    if len(shape) != 2 or shape[0] != n:
        raise ValueError(f"points: expected the {n} points that were clustered, one a row; got shape {shape}")
    points = given_matrix("points", points, "the points that were clustered, one a row")
    dense = np.asarray(points.todense() if sp.issparse(points) else points)
    if dense.dtype.kind not in "fiub" or not np.isfinite(dense).all():
        raise ValueError("points: expected finite numbers; found something else")
    return dense.astype(float)
