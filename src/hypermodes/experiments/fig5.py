"""Figure 5: agreement with the five crescents against samples, outliers and noise."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from hypermodes.experiments.crescents import PANELS, QUICK, Run, scored
from hypermodes.experiments.methods import LABELLERS, Method, chosen
from hypermodes.experiments.pictures import Curve, add_legend, at_each, draw_curves, save_picture, titled
from hypermodes.experiments.reports import left_out, markdown, notes, write_text
from hypermodes.experiments.running import Setting, outcomes
from hypermodes.files import make_folder, write_csv
from hypermodes.plotting import pyplot
from hypermodes.progress import Progress
from hypermodes.result import counted

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Methods = Mapping[str, Method[np.ndarray]]
Panels = Mapping[str, Sequence[Setting]]

HEAD = ("method", "samples", "outliers", "outliers, all points", "noise", "clusters", "seconds")
"""Means over the panels, of the clusters in the first one, and the median time with most samples."""


def run(
    folder: Path,
    *,
    seeds: int = 10,
    quick: bool = False,
    methods: list[str] | None = None,
    progress: Progress = None,
) -> str:
    """Run the experiment, write ``runs.csv``, ``summary.csv``, ``summary.md``, ``fig5.png``; the summary."""
    panels, seeds = (QUICK, min(seeds, 2)) if quick else (PANELS, seeds)
    compared = chosen(LABELLERS, methods, seeds)
    make_folder(folder)
    settings = [setting for panel in panels.values() for setting in panel]
    runs = [scored(outcome) for outcome in outcomes(compared, settings, seeds, progress=progress)]
    rows = summary(compared, panels, runs)
    text = f"NMI, mean over {counted(seeds, 'seed')}\n\n{markdown(HEAD, rows)}{left_out(compared, runs)}"
    write_csv(folder / "runs.csv", Run._fields, runs)
    write_csv(folder / "summary.csv", HEAD, rows)
    write_text(folder / "summary.md", "\n\n".join([text, *by_setting(compared, panels, runs)]))
    save_picture(folder / "fig5.png", lambda: picture(compared, panels, runs, seeds))
    return f"{text}\n\nwritten: {folder / 'fig5.png'}, runs.csv, summary.csv, summary.md"


def mean(values: Iterable[float]) -> float:
    """The mean of the values that are there."""
    there = [value for value in values if value == value]
    return float(np.mean(there)) if there else np.nan


def summary(methods: Methods, panels: Panels, runs: Sequence[Run]) -> list[list[object]]:
    """Means over each panel; the best over samples and outliers come first."""

    def over(name: str, panel: str, column: str = "nmi_inliers") -> float:
        return mean(getattr(r, column) for r in runs if r.method == name and r.setting in panels[panel])

    def row(name: str) -> list[object]:
        largest = max(one.n for one in runs)
        times = [one.seconds for one in runs if (one.method, one.n) == (name, largest)]
        return [
            methods[name].label + "*" * (name in notes(runs)),
            over(name, "n"),
            over(name, "outliers"),
            over(name, "outliers", "nmi_all"),
            over(name, "noise"),
            f"{over(name, 'n', 'clusters'):.1f}",
            float(np.median(times)),
        ]

    def merit(name: str) -> float:
        return float(np.nansum([over(name, panel) for panel in ("n", "outliers")]))

    return [row(name) for name in sorted(methods, key=merit, reverse=True)]


def by_setting(methods: Methods, panels: Panels, runs: Sequence[Run]) -> list[str]:
    """One table a panel: the curves of the picture in numbers."""
    tables = []
    for what, settings in panels.items():
        head = [what, *(f"{getattr(setting, what):g}" for setting in settings)]
        rows = [
            [
                method.label,
                *(mean(r.nmi_inliers for r in runs if (r.method, r.setting) == (name, s)) for s in settings),
            ]
            for name, method in methods.items()
        ]
        tables.append(markdown(head, rows))
    return tables


def picture(methods: Methods, panels: Panels, runs: Sequence[Run], seeds: int) -> "Figure":
    """Three panels: samples, outliers, noise."""
    names = {
        "n": ("(a) fewer samples", "samples"),
        "outliers": (f"(b) outliers added to {panels['outliers'][0].n} samples", "outliers / samples"),
        "noise": (f"(c) noise added to {panels['noise'][0].n} samples", "σ of the noise, radius / 100"),
    }
    figure, axes = pyplot().subplots(1, 3, figsize=(15, 5), sharey=True, layout="constrained")
    for panel, (what, (title, x)) in zip(axes, names.items(), strict=True):
        shown = [one for one in runs if one.setting in panels[what]]
        curves = [
            Curve.of(name, ((getattr(one, what), one.nmi_inliers) for one in shown if one.method == name))
            for name in methods
        ]
        draw_curves(panel, curves)
        titled(panel, title, x, "NMI of the points that are not outliers" if what == "n" else "")
    at_each(axes[0], (setting.n for setting in panels["n"]))
    axes[0].invert_xaxis()
    axes[0].set_ylim(-0.02, 1.02)
    add_legend(figure, methods, notes(runs))
    title = f"Five crescents: mean of {counted(seeds, 'seed')}, bars of one standard deviation"
    figure.suptitle(title, x=0.01, ha="left", fontsize=11)
    return figure
