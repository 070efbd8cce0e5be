"""Table 2: objects recognised from affinities of their silhouettes, by every method on the same affinity."""

import time
from collections.abc import Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from hypermodes.experiments.pictures import INK, STYLES, save_picture
from hypermodes.experiments.reports import markdown, write_text
from hypermodes.experiments.shape_methods import METHODS, Items, Method
from hypermodes.experiments.shape_scores import Score, scored
from hypermodes.experiments.shape_sets import Level, ShapeSet, shape_sets
from hypermodes.files import make_folder, write_csv
from hypermodes.plotting import pyplot
from hypermodes.progress import Progress, tracker

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

PAPER = {"hypergraph_shift": (21, 0.8982), "graph_shift": (21, 0.835), "ehc": (18, 0.727)}
"""The paper's objects recognised, of 21, and precision, on affinities that are not public."""

HEAD = ("method", "recognised", "precision", "matched", "coverage", "groups", "ARI", "NMI", "seconds")
_MEASURES = ("recognised", "precision", "matched", "coverage", "ARI", "groups per class")


class Run(NamedTuple):
    """One method on one set, held against one kind of class: a line of ``runs.csv``."""

    level: str
    n: int
    classes: int
    method: str
    recognised: int
    precision: float
    matched: float
    coverage: float
    groups: int
    ari: float
    ari_one: float
    ari_alone: float
    nmi: float
    seconds: float


def run(
    folder: Path,
    *,
    seeds: int = 1,
    quick: bool = False,
    methods: list[str] | None = None,
    progress: Progress = None,
    cache: Path | None = None,
) -> str:
    """Run the experiment, write ``runs.csv``, ``summary.md``, ``table2.png``; give the summary.

    Distances are kept in ``cache``, ``folder/distances`` if not given. Nothing in it is random: ``seeds`` is
    there because other experiments have it, and plays no part.
    """
    compared = chosen(methods)
    make_folder(folder)
    kept = folder / "distances" if cache is None else cache
    make_folder(kept)
    levels: dict[str, Level] = {}
    runs: list[Run] = []
    for one in shape_sets(kept, quick=quick, progress=progress):
        levels |= {level.name: level for level in one.levels}
        runs += measured(compared, one, progress)
    text = report(compared, levels, runs)
    write_csv(folder / "runs.csv", Run._fields, runs)
    write_text(folder / "summary.md", text)
    save_picture(folder / "table2.png", lambda: picture(compared, levels, runs))
    return f"{text}\n\nwritten: {folder / 'table2.png'}, runs.csv, summary.md"


def chosen(names: list[str] | None) -> dict[str, Method]:
    """Those with these names, all if None."""
    unknown = [name for name in names or () if name not in METHODS]
    if unknown or names == []:
        raise ValueError(
            f"methods: expected some of {', '.join(METHODS)}; got {', '.join(unknown) or 'none'}"
        )
    return {name: method for name, method in METHODS.items() if names is None or name in names}


def measured(compared: Mapping[str, Method], one: ShapeSet, progress: Progress) -> list[Run]:
    """Every method on one set, scored and timed; those told the number of classes, for each kind of class."""
    items = Items(one.distances)
    _ = items.affinity  # which is the same for all: no method is timed with it
    total = sum(len(one.levels) if method.told else 1 for method in compared.values())
    runs = []
    with tracker(progress, total, f"grouping {one.name}") as advance:
        for name, method in compared.items():
            method.run(_WARM_UP, 2)  # compile and import, so that no run is timed with that
            for levels in [[level] for level in one.levels] if method.told else [one.levels]:
                begin = time.perf_counter()
                labels = method.run(items, levels[0].n_classes)
                seconds = time.perf_counter() - begin
                for level in levels:
                    score: Score = scored(labels, level.truth)
                    runs.append(Run(level.name, labels.size, level.n_classes, name, *score, seconds))
                advance(1)
    order = [level.name for level in one.levels]
    return sorted(runs, key=lambda run: order.index(run.level))


_WARM_UP = Items(np.abs(np.subtract.outer(*2 * [np.r_[0:20, 100:120].astype(np.float64)])))


def report(compared: Mapping[str, Method], levels: Mapping[str, Level], runs: Sequence[Run]) -> str:
    """A table for each kind of class, the best ARI first; the paper's numbers under the solids."""
    parts = []
    for name, rows in groupby(runs, key=lambda run: run.level):
        level = levels[name]
        best = sorted(rows, key=lambda run: -run.ari)
        table: list[list[object]] = [
            [compared[run.method].label, f"{run.recognised} of {run.classes}", run.precision,
             run.matched, run.coverage, run.groups, run.ari, run.nmi, run.seconds]
            for run in best
        ]  # fmt: skip
        if name == "solids" and level.n_classes == 21:
            nothing = float("nan")
            table += [
                [f"*the paper, on its own 21 x 128: {label}*", f"{PAPER[key][0]} of 21", PAPER[key][1],
                 *[nothing] * 6]
                for key, label in (("hypergraph_shift", "HS"), ("graph_shift", "GS"), ("ehc", "EHC"))
            ]  # fmt: skip
        parts.append(f"{level.label}\n\n{markdown(HEAD, table)}")
    parts.append(
        "Recognised: classes that are the majority of a group. Precision: share of the items in groups that "
        "are of the majority of theirs. Matched: share of all items in the one group that stands for their "
        "class, at most one a class. ARI: over all items, outliers as one more group or each on its own, "
        "whichever is lower; both are in runs.csv."
    )
    return "\n\n".join(parts)


def picture(compared: Mapping[str, Method], levels: Mapping[str, Level], runs: Sequence[Run]) -> "Figure":
    """One row a kind of class, one column a measure, one bar a method."""
    plt = pyplot()
    names = list(compared)
    figure, axes = plt.subplots(
        len(levels),
        len(_MEASURES),
        figsize=(15, (0.26 * len(names) + 0.75) * len(levels)),
        layout="constrained",
        sharey=True,
        squeeze=False,
    )
    places = np.arange(len(names))
    for row, level in zip(axes, levels.values(), strict=True):
        by_method = {run.method: run for run in runs if run.level == level.name}
        values = np.array([_shown(by_method[name]) for name in names])
        for c, (panel, measure) in enumerate(zip(row, _MEASURES, strict=True)):
            _bars(panel, values[:, c], names, logarithmic=c == len(_MEASURES) - 1)
            panel.set_title(measure, loc="left", fontsize=9, color=INK)
            if level.name == "solids" and level.n_classes == 21 and c < 2:
                at = [(name, PAPER[name][c] / (21 if c == 0 else 1)) for name in names if name in PAPER]
                for name, value in at:
                    y = names.index(name)
                    panel.plot([value, value], [y - 0.45, y + 0.45], color=INK, linewidth=2.2)
                if at and c == 1:
                    panel.set_title(f"{measure} (line: the paper's)", loc="left", fontsize=9, color=INK)
        row[0].set_ylabel(level.label.replace(": ", "\n"), fontsize=9, color=INK)
        row[0].set_yticks(places, labels=[compared[name].label for name in names], fontsize=8.5)
        row[0].set_ylim(len(names) - 0.4, -0.6)
    return figure


def _shown(run: Run) -> tuple[float, ...]:
    return (
        run.recognised / run.classes, run.precision, run.matched, run.coverage, run.ari,
        run.groups / run.classes,
    )  # fmt: skip


def _bars(panel: "Axes", values: np.ndarray, names: Sequence[str], *, logarithmic: bool) -> None:
    style: Any = {"height": 0.7, "color": [STYLES[name][0] for name in names]}
    if logarithmic:
        panel.set_xscale("log")
        top = max(4.0, float(np.nanmax(values)))
        panel.set_xlim(0.2, top * 5)
        panel.barh(range(len(names)), np.maximum(np.nan_to_num(values), 0.2) - 0.2, left=0.2, **style)
        panel.axvline(1, color=INK, linewidth=0.8, alpha=0.4, zorder=0)
        marks = [mark for mark in (1, 10, 100) if mark <= top]
        panel.set_xticks(marks, labels=[str(mark) for mark in marks])
    else:
        panel.set_xlim(0, 1.22)
        panel.set_xticks([0, 0.5, 1])
        panel.barh(range(len(names)), np.nan_to_num(values), **style)
    for y, value in enumerate(values):
        text = "–" if np.isnan(value) else f"{value:.3g}" if logarithmic else f"{value:.3f}"
        end = max(float(np.nan_to_num(value)), 0.2 if logarithmic else 0.0)
        panel.annotate(text, (end, y), (3, 0), textcoords="offset points", va="center", fontsize=8, color=INK)
    panel.spines[["top", "right"]].set_visible(False)
    panel.tick_params(labelsize=8, left=False)
    panel.minorticks_off()
