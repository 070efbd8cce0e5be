"""The demo: five crescents with outliers, their modes and clusters, two pictures and two tables."""

from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np

from hypermodes import plotting
from hypermodes.cluster import Clusters, cluster
from hypermodes.construct.points import knn_hypergraph
from hypermodes.datasets import LabelledPoints, five_crescents
from hypermodes.files import make_folder, replacing, write_csv
from hypermodes.hypergraph import Hypergraph
from hypermodes.modes import find_modes
from hypermodes.progress import Progress
from hypermodes.result import ModeSet, Status
from hypermodes.shift import Round, shift


def run_demo(
    folder: Path, *, n_samples: int = 600, outliers: float = 0.2, seed: int = 0, progress: Progress = None
) -> str:
    """Find the modes and clusters of five crescents, write pictures and tables, and give a summary."""
    data = five_crescents(n_samples, outliers=outliers, noise=2.0, rng=seed)
    hypergraph = knn_hypergraph(data.points)
    make_folder(folder)
    modes = find_modes(hypergraph, progress=progress)
    start, rounds = longest_shift(data.points, hypergraph, modes)
    clusters = cluster(data.points)
    pictures = {
        "modes.png": plotting.mode_picture(data.points, hypergraph, modes, rounds, start),
        "clusters.png": plotting.cluster_picture(data.points, clusters),
    }
    for name, figure in pictures.items():
        with replacing(folder / name) as temporary:
            figure.savefig(temporary)
    write_csv(folder / "modes.csv", *_mode_rows(hypergraph, modes))
    write_csv(folder / "points.csv", *_point_rows(data, modes, clusters))
    return summary(data, hypergraph, modes, clusters, start, rounds, folder)


def longest_shift(points: np.ndarray, hypergraph: Hypergraph, modes: ModeSet) -> tuple[int, list[Round]]:
    """Take the start that ends farthest from where it began, and shift it again, round by round."""
    distances = [
        plotting.travelled(points, hypergraph, modes[k], start) if k >= 0 else 0.0
        for start, k in enumerate(modes.edge_mode)
    ]
    start = int(np.argmax(distances))
    rounds: list[Round] = []
    shift(hypergraph, start, callback=rounds.append)
    return start, rounds


def summary(
    data: LabelledPoints,
    hypergraph: Hypergraph,
    modes: ModeSet,
    clusters: Clusters,
    start: int,
    rounds: Sequence[Round],
    folder: Path,
) -> str:
    """Tell in a few lines what was found."""
    certified = sum(mode.status is Status.CERTIFIED for mode in modes)
    residual = max(max(m.certificate.spread, m.certificate.excess) / m.density for m in modes)
    pure = [len(set(labels[labels >= 0])) <= 1 for labels in _labels_of_modes(data, hypergraph, modes)]
    last = rounds[-1].certificate
    n_found = int((clusters.labels[data.labels < 0] < 0).sum())
    n_lost = int((clusters.labels[data.labels >= 0] < 0).sum())
    return "\n".join(
        [
            f"five crescents: {(data.labels >= 0).sum()} points and {(data.labels < 0).sum()} outliers",
            f"hypergraph:     {hypergraph!r}",
            f"modes:          {len(modes)}, densities {modes[0].density:.3g} to {modes[-1].density:.3g}; "
            f"{certified} of {len(modes)} certified, largest residual {residual:.1e}",
            f"                {sum(pure)} of {len(modes)} touch one crescent only",
            f"one shift:      from hyperedge {start} in {len(rounds)} rounds and "
            f"{sum(len(one.densities) for one in rounds)} steps to density {last.density:.4g}",
            f"                spread {last.spread:.1e}, excess {last.excess:.1e}, "
            f"curvature {last.curvature:.3g}",
            f"clusters:       {clusters.n_clusters}, without {n_found} of the outliers and {n_lost} others",
            f"written:        {folder / 'modes.png'}, clusters.png, modes.csv, points.csv",
        ]
    )


def _labels_of_modes(data: LabelledPoints, hypergraph: Hypergraph, modes: ModeSet) -> Iterable[np.ndarray]:
    for mode in modes:
        yield data.labels[np.unique(hypergraph.incidence[:, mode.support].indices)]


def _mode_rows(hypergraph: Hypergraph, modes: ModeSet) -> tuple[Sequence[str], list[tuple[object, ...]]]:
    head = ("mode", "density", "hyperedges", "vertices", "starts", "spread", "excess", "curvature", "status")
    rows: list[tuple[object, ...]] = []
    for k, (mode, starts) in enumerate(zip(modes, modes.sizes, strict=True)):
        vertices = np.unique(hypergraph.incidence[:, mode.support].indices).size
        mark = mode.certificate
        rows.append(
            (
                k,
                mode.density,
                len(mode),
                vertices,
                int(starts),
                mark.spread,
                mark.excess,
                mark.curvature,
                mode.status.name,
            )
        )
    return head, rows


def _point_rows(
    data: LabelledPoints, modes: ModeSet, clusters: Clusters
) -> tuple[Sequence[str], list[tuple[object, ...]]]:
    columns = (data.labels, modes.edge_mode, clusters.labels)
    rows = zip(*data.points.T.tolist(), *(column.tolist() for column in columns), strict=True)
    return ("x", "y", "crescent", "mode", "cluster"), list(rows)
