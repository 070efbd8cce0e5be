"""Curves of many methods side by side. Needs matplotlib, imported when a picture is drawn."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from hypermodes.experiments.methods import Shown
from hypermodes.files import replacing
from hypermodes.plotting import pyplot

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

INK = "#1f2430"
STYLES: dict[str, tuple[str, str, str]] = {  # colour, marker, line
    "hypergraph_shift": ("#d6336c", "o", "-"),
    "modes": ("#f08cae", "o", "--"),
    "replicator": ("#f08cae", "s", "--"),
    "affinity_ensembles": ("#1864ab", "s", "-"),
    "clustering_game": ("#15aabf", "^", "-"),
    "ehc": ("#7048e8", "D", "-"),
    "graph_shift": ("#2b8a3e", "v", "--"),
    "dominant_sets": ("#82c91e", "<", "--"),
    "medoid_shift": ("#8d6e63", ">", "--"),
    "mean_shift": ("#b8a000", "P", "--"),
    "hdbscan": ("#e8590c", "X", ":"),
    "hdbscan_2_percent": ("#fab005", "*", ":"),
    "dbscan": ("#868e96", "p", ":"),
    "spectral": ("#212529", "h", ":"),
    "spectral_nearest": ("#868e96", "H", "--"),
    "fast_hdbscan_2_percent": ("#c49a6c", "+", ":"),
    # shapes
    "hypergraph_shift_told": ("#f783ac", "o", "-."),
    "affinity_propagation": ("#1864ab", "s", ":"),
    # matching
    "on_the_same": ("#d6336c", "s", "--"),
    "invariant": ("#a61e4d", "o", "-."),
    "as_it_comes": ("#f08cae", "o", "--"),
    "spectral_ipfp": ("#1864ab", "s", "-"),
    "tensor": ("#66d9e8", "<", "-"),
    "tensor_weighted": ("#15aabf", "^", "--"),
    "probabilistic": ("#b197fc", "d", "-"),
    "probabilistic_pairs": ("#7048e8", "D", "--"),
    "spectral_matching": ("#fab005", "*", ":"),
    "ipfp": ("#e8590c", "X", ":"),
    "rrwm": ("#212529", "h", ":"),
    "rrwm_ipfp": ("#868e96", "p", ":"),
    "spectral_ipfp_displaced": ("#1864ab", "P", "-."),
    "ipfp_displaced": ("#5f3dc4", "X", "-."),
    "clipper": ("#8d6e63", ">", ":"),
    "sequential_ransac": ("#868e96", "p", ":"),
    "sequential_magsac": ("#212529", "h", ":"),
}


class Curve(NamedTuple):
    """Values of one method against something: a mean and a deviation at each x."""

    method: str
    x: np.ndarray
    mean: np.ndarray
    deviation: np.ndarray

    @classmethod
    def of(cls, method: str, pairs: Iterable[tuple[float, float]]) -> "Curve":
        """Take the mean over runs at the same x; runs without a value do not count."""
        points = sorted((x, y) for x, y in pairs if y == y)
        by_x = [(x, [y for _, y in group]) for x, group in groupby(points, key=lambda point: point[0])]
        return cls(
            method,
            np.array([x for x, _ in by_x]),
            np.array([np.mean(ys) for _, ys in by_x]),
            np.array([np.std(ys) for _, ys in by_x]),
        )


def draw_curves(axes: "Axes", curves: Sequence[Curve], **style: Any) -> None:
    """Draw curves with light bars of one standard deviation; the first method is ours, thick and on top."""
    for rank, curve in enumerate(curves):
        colour, marker, line = STYLES[curve.method]
        ours = curve.method == "hypergraph_shift"
        options: dict[str, Any] = {
            "color": colour, "marker": marker, "linestyle": line, "linewidth": 3.2 if ours else 1.3,
            "markersize": 7 if ours or marker == "s" else 5, "markeredgewidth": 1.5 if marker == "+" else 0.0,
            "zorder": 50 if ours else 10 + rank, **style,
        }  # fmt: skip
        axes.plot(curve.x, curve.mean, **options)
        low, high = curve.mean - curve.deviation, curve.mean + curve.deviation
        axes.vlines(curve.x, low, high, color=colour, linewidth=2.5 if ours else 1.2, alpha=0.25, zorder=1)
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(axis="y", color=INK, alpha=0.08, linewidth=0.8)
    axes.set_axisbelow(True)


def at_each(axes: "Axes", values: Iterable[int]) -> None:
    """Make the x axis logarithmic, with a mark at each of these values."""
    axes.set_xscale("log")
    marks = sorted(set(values))
    axes.set_xticks(marks, labels=[str(mark) for mark in marks])
    axes.tick_params(axis="x", which="minor", bottom=False, labelbottom=False)


def titled(axes: "Axes", title: str, x: str, y: str) -> None:
    """Name a panel and its axes, in the way of the other pictures."""
    axes.set_title(title, loc="left", fontsize=10, color=INK)
    axes.set_xlabel(x)
    axes.set_ylabel(y)


def add_legend(figure: "Figure", methods: Mapping[str, Shown], notes: Mapping[str, str]) -> None:
    """Put the names of all methods to the right of the panels, by family, with what is to be said of each."""
    from matplotlib.lines import Line2D

    handles: list[Any] = []
    names: list[str] = []
    for family, group in groupby(methods.items(), key=lambda item: item[1].family):
        handles.append(Line2D([], [], linestyle="none"))
        names.append(family)
        for name, method in group:
            colour, marker, line = STYLES[name]
            width = 3.2 if name == "hypergraph_shift" else 1.3
            handles.append(Line2D([], [], color=colour, marker=marker, linestyle=line, linewidth=width))
            names.append(method.label + (f"\n{notes[name]}" if name in notes else ""))
    legend = figure.legend(
        handles, names, loc="outside right center", frameon=False, fontsize=8.5, handlelength=3
    )
    families = {method.family for method in methods.values()}
    for text in legend.get_texts():
        if text.get_text() in families:
            text.set_fontweight("bold")


def save_picture(path: Path, draw: Callable[[], "Figure"]) -> None:
    """Draw and write a picture, all at once or not at all."""
    plt = pyplot()
    figure = draw()
    try:
        with replacing(path) as temporary:
            figure.savefig(temporary, dpi=100)
    finally:
        plt.close(figure)
