"""Pictures of modes on the points they were found in. Needs matplotlib, imported when a picture is drawn."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.spatial import ConvexHull, QhullError

from hypermodes.cluster import Clusters
from hypermodes.hypergraph import Hypergraph
from hypermodes.image_matching import ImageMatching
from hypermodes.result import Mode, ModeSet, counted
from hypermodes.shift import Round
from hypermodes.simplex import density, support

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_INK, _GREY, _ACCENT = "#1f2430", "#9aa1b1", "#d6336c"
# Okabe and Ito's colours, then some of Tol's, which people of all kinds of sight can tell apart; in turn.
_COLOURS = (
    "#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00",
    "#332288", "#999933", "#882255", "#44aa99", "#6f4e37", "#aa4499",
)  # fmt: skip


def pyplot() -> Any:
    """Import matplotlib, or say which extra brings it."""
    try:
        import matplotlib.pyplot as plt
    except ImportError:
        raise ImportError("pictures need matplotlib; install hypermodes[plot]") from None
    return plt


def vertex_mass(hypergraph: Hypergraph, p: np.ndarray) -> np.ndarray:
    """Spread a distribution over hyperedges onto their vertices: Σ_e p_e h(v,e)/δ(e)."""
    mass: np.ndarray = hypergraph.incidence @ (p / hypergraph.edge_degrees)
    return mass


def distinct_modes(hypergraph: Hypergraph, modes: ModeSet, limit: int) -> list[int]:
    """Positions of the densest modes that share no vertex with a denser one chosen before."""
    chosen: list[int] = []
    taken = np.zeros(hypergraph.n_vertices, dtype=bool)
    for k, mode in enumerate(modes):
        vertices = _vertices(hypergraph, mode.support)
        if not taken[vertices].any():
            taken[vertices] = True
            chosen.append(k)
        if len(chosen) == limit:
            break
    return chosen


def draw_modes(
    axes: "Axes", points: np.ndarray, hypergraph: Hypergraph, modes: ModeSet, *, limit: int = 24
) -> None:
    """Draw points, and the hyperedges of the densest modes that do not overlap as filled hulls."""
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import Normalize
    from matplotlib.patches import Polygon

    plt = pyplot()
    axes.scatter(points[:, 0], points[:, 1], s=6, color=_GREY, linewidths=0, zorder=1)
    shown = distinct_modes(hypergraph, modes, limit)
    densities = modes.densities[shown]
    scale = ScalarMappable(Normalize(densities.min(), densities.max()), plt.get_cmap("viridis_r"))
    for k in reversed(shown):
        mode = modes[k]
        color = scale.to_rgba(np.array(mode.density))
        strength = mode.weights / mode.weights.max()
        for edge, share in zip(mode.support, strength, strict=True):
            hull = _hull(points[_vertices(hypergraph, np.array([edge]))])
            axes.add_patch(
                Polygon(hull, facecolor=color, edgecolor="none", alpha=0.10 + 0.25 * share, zorder=2)
            )
        inside = points[_vertices(hypergraph, mode.support)]
        axes.scatter(inside[:, 0], inside[:, 1], s=9, color=color, linewidths=0, zorder=3)
    axes.figure.colorbar(scale, ax=axes, label="density F of the mode", fraction=0.03, pad=0.01, shrink=0.8)
    axes.set_aspect("equal")
    axes.axis("off")


def draw_clusters(axes: "Axes", points: np.ndarray, clusters: Clusters) -> None:
    """Draw points in the colours of their clusters, outliers as crosses, the mode of each as a ring."""
    size = float(np.clip(6000 / max(1, len(points)), 1.5, 12))
    outliers = clusters.labels < 0
    out = points[outliers]
    axes.scatter(out[:, 0], out[:, 1], s=2 * size, marker="x", color=_GREY, linewidths=0.7, zorder=1)
    colours = np.array(_COLOURS)[clusters.labels[~outliers] % len(_COLOURS)]
    axes.scatter(points[~outliers, 0], points[~outliers, 1], s=size, c=colours, linewidths=0, zorder=2)
    for mode in clusters.modes():
        if mode is not None:
            x, y = points[mode.support, :2].T @ mode.weights
            axes.scatter(x, y, s=90, facecolor="none", edgecolor=_INK, linewidths=1.3, zorder=3)
    axes.set_aspect("equal")
    axes.axis("off")


def cluster_picture(points: np.ndarray, clusters: Clusters) -> "Figure":
    """Put clusters, outliers and the modes behind them into one figure."""
    plt = pyplot()
    width = float(np.ptp(points[:, 0]) / max(np.ptp(points[:, 1]), 1e-9))
    figure, axes = plt.subplots(
        figsize=(float(np.clip(4.0 * width, 6, 12)), 4.6), layout="constrained", dpi=150
    )
    draw_clusters(axes, points, clusters)
    n_out = int((clusters.labels < 0).sum())
    title = f"{clusters.n_clusters} clusters, {n_out} outliers (×), and the mode of each cluster (○)"
    axes.set_title(title, loc="left", fontsize=10, color=_INK)
    return figure


def match_picture(found: ImageMatching) -> "Figure":
    """Two pictures side by side, a line for each match, a colour for each group."""
    plt = pyplot()
    heights, widths = zip(*(image.shape for image in found.images), strict=True)
    canvas = np.ones((max(heights), sum(widths)))
    canvas[: heights[0], : widths[0]] = found.images[0]
    canvas[: heights[1], widths[0] :] = found.images[1]
    size = (12, max(2.0, 12 * canvas.shape[0] / canvas.shape[1]) + 0.4)
    figure, axes = plt.subplots(figsize=size, layout="constrained", dpi=150)
    axes.imshow(canvas, cmap="gray", vmin=0, vmax=1)
    for number, group in enumerate(found.groups):
        colour = _COLOURS[number % len(_COLOURS)]
        here = found.left.points[group.pairs[:, 0]]
        there = found.right.points[group.pairs[:, 1]] + np.array([widths[0], 0])
        axes.plot(*np.stack((here, there)).transpose(2, 0, 1), color=colour, linewidth=0.6, alpha=0.6)
        for places in (here, there):
            axes.scatter(*places.T, s=8, color=colour, linewidths=0, zorder=3)
    features = f"{len(found.left)} and {len(found.right)} features"
    title = f"{len(found)} matches in {counted(len(found.groups), 'group')}, of {features}"
    axes.set_title(title, loc="left", fontsize=10, color=_INK)
    axes.axis("off")
    return figure


def draw_trajectory(
    axes: "Axes", points: np.ndarray, hypergraph: Hypergraph, rounds: Sequence[Round], start: int
) -> None:
    """Draw where the centre of a shift went, from its start to its mode, and the mode it ended in."""
    from matplotlib.patches import Polygon

    path = [points[start]]
    for one in rounds:
        path += [_centre(points, hypergraph, one.start.p), _centre(points, hypergraph, one.point.p)]
    line = np.array(path)
    hull = _hull(points[_vertices(hypergraph, support(rounds[-1].point.p))])
    axes.add_patch(Polygon(hull, facecolor="none", edgecolor=_ACCENT, linewidth=1.2, zorder=5))
    axes.plot(line[:, 0], line[:, 1], color=_ACCENT, linewidth=1.6, marker="o", markersize=2.5, zorder=6)
    axes.scatter(line[0][0], line[0][1], s=46, facecolor="white", edgecolor=_ACCENT, linewidth=1.6, zorder=7)
    axes.scatter(
        line[-1][0], line[-1][1], s=150, marker="*", color=_ACCENT, edgecolor="white", linewidth=0.8, zorder=8
    )


def draw_ascent(axes: "Axes", rounds: Sequence[Round]) -> None:
    """Draw F after every step of a shift, one shaded band a round."""
    values = [density(rounds[0].start), *(value for one in rounds for value in one.densities)]
    ends = np.cumsum([len(one.densities) for one in rounds])
    starts = np.concatenate(([0], ends[:-1]))
    for k, (a, b) in enumerate(zip(starts, ends, strict=True)):
        if b > a:
            axes.axvspan(a, b, color=_INK, alpha=0.06 if k % 2 else 0.02, linewidth=0)
            axes.text((a + b) / 2, 1.01, f"round {k + 1}", transform=axes.get_xaxis_transform(),
                      ha="center", va="bottom", fontsize=8, color=_INK)  # fmt: skip
    axes.plot(values, color=_ACCENT, linewidth=1.8)
    axes.scatter(len(values) - 1, values[-1], s=90, marker="*", color=_ACCENT, zorder=5, linewidths=0)
    axes.set_xlabel("step")
    axes.set_ylabel("density F")
    axes.spines[["top", "right"]].set_visible(False)


def mode_picture(
    points: np.ndarray, hypergraph: Hypergraph, modes: ModeSet, rounds: Sequence[Round], start: int
) -> "Figure":
    """Put modes, one trajectory and its ascent into one figure."""
    plt = pyplot()
    figure, (left, right) = plt.subplots(
        1, 2, figsize=(13, 4.2), width_ratios=(3.4, 1), layout="constrained", dpi=150
    )
    draw_modes(left, points, hypergraph, modes)
    draw_trajectory(left, points, hypergraph, rounds, start)
    draw_ascent(right, rounds)
    left.set_title(
        f"{len(modes)} modes of {hypergraph.n_edges} hyperedges; the densest that do not overlap, "
        f"and one shift (○ to ★)", loc="left", fontsize=10, color=_INK)  # fmt: skip
    right.set_title("The density along that shift", loc="left", fontsize=10, color=_INK, pad=18)
    return figure


def travelled(points: np.ndarray, hypergraph: Hypergraph, mode: Mode, start: int) -> float:
    """Distance from a point to the centre of the mode its hyperedge shifts to."""
    return float(
        np.linalg.norm(_centre(points, hypergraph, mode.distribution(hypergraph.n_edges)) - points[start])
    )


def _centre(points: np.ndarray, hypergraph: Hypergraph, p: np.ndarray) -> np.ndarray:
    return vertex_mass(hypergraph, p) @ points


def _vertices(hypergraph: Hypergraph, edges: np.ndarray) -> np.ndarray:
    return np.unique(hypergraph.incidence[:, edges].indices)


def _hull(points: np.ndarray) -> np.ndarray:
    try:
        return points[ConvexHull(points).vertices]
    except QhullError:  # all on a line
        return points[np.lexsort(points.T)]
