"""Figure 5: agreement with the five crescents against samples, outliers and noise."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from sklearn.metrics import normalized_mutual_info_score

from hypermodes.experiments.methods import LABELLERS, Method, chosen
from hypermodes.experiments.pictures import Curve, add_legend, draw_curves, save_picture, titled
from hypermodes.experiments.reports import make_folder, markdown, write_csv, write_text
from hypermodes.experiments.running import Outcome, Setting, outcomes
from hypermodes.plotting import pyplot
from hypermodes.progress import Progress

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PANELS = {
    "n": [Setting(n) for n in (100, 200, 300, 600, 900, 1200)],
    "outliers": [Setting(600, outliers=ratio / 10) for ratio in range(6)],
    "noise": [Setting(600, noise=noise) for noise in (0.0, 2.5, 5.0, 7.5, 10.0)],
}
"""What is varied, and the settings on its axis."""

QUICK = {
    "n": [Setting(60), Setting(120)],
    "outliers": [Setting(120), Setting(120, outliers=0.5)],
    "noise": [Setting(120), Setting(120, noise=10.0)],
}

HEAD = ("method", "n sweep", "outlier sweep", "outlier sweep, all points", "noise sweep", "clusters",
        "seconds at most")  # fmt: skip


class Run(NamedTuple):
    """One line of ``runs.csv``."""

    method: str
    n: int
    outliers: float
    noise: float
    seed: int
    nmi_inliers: float
    nmi_all: float
    clusters: float
    seconds: float
    note: str

    @property
    def setting(self) -> Setting:
        """Where it was run."""
        return Setting(self.n, self.outliers, self.noise)


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
    table = f"NMI, mean over {seeds} seeds (crescents: 5 clusters)\n\n{markdown(HEAD, rows)}"
    write_csv(folder / "runs.csv", Run._fields, runs)
    write_csv(folder / "summary.csv", HEAD, rows)
    write_text(folder / "summary.md", table)
    save_picture(folder / "fig5.png", lambda: picture(compared, panels, runs, seeds))
    return f"{table}\n\nwritten: {folder / 'fig5.png'}, runs.csv, summary.csv, summary.md"


def scored(outcome: Outcome[np.ndarray]) -> Run:
    """Compare labels with the crescents, twice: without the outliers, and with them as one more class.

    Points that a method calls outliers are one more cluster of its answer either way.
    """
    name, setting, seed, truth, found, seconds, note = outcome
    if found is None:
        return Run(name, *setting, seed, np.nan, np.nan, np.nan, np.nan, note)
    inside = truth >= 0
    inliers = float(normalized_mutual_info_score(truth[inside], found[inside]))
    everyone = float(normalized_mutual_info_score(truth, found))
    return Run(name, *setting, seed, inliers, everyone, int(found.max()) + 1, seconds, note)


def summary(
    methods: Mapping[str, Method[np.ndarray]], panels: Mapping[str, Sequence[Setting]], runs: Sequence[Run]
) -> list[list[object]]:
    """Means over each panel, best over the first two first; what a method was left out of does not count."""

    def mean(name: str, panel: str, column: str) -> float:
        found = [getattr(one, column) for one in runs if one.method == name and one.setting in panels[panel]]
        return float(np.nanmean(found))

    def row(name: str) -> list[object]:
        mine = [one for one in runs if one.method == name]
        left_out = "*" if any(one.note for one in mine) else ""
        return [
            methods[name].label + left_out,
            *(mean(name, *cell) for cell in (("n", "nmi_inliers"), ("outliers", "nmi_inliers"),
                                             ("outliers", "nmi_all"), ("noise", "nmi_inliers"))),
            f"{mean(name, 'n', 'clusters'):.1f}",
            float(np.nanmax([one.seconds for one in mine])),
        ]  # fmt: skip

    order = sorted(
        methods, key=lambda name: -(mean(name, "n", "nmi_inliers") + mean(name, "outliers", "nmi_inliers"))
    )
    return [row(name) for name in order]


def picture(
    methods: Mapping[str, Method[np.ndarray]],
    panels: Mapping[str, Sequence[Setting]],
    runs: Sequence[Run],
    seeds: int,
) -> "Figure":
    """Three panels: samples, outliers, noise."""
    names = {
        "n": ("(a) fewer samples", "samples"),
        "outliers": (f"(b) outliers added to {panels['outliers'][0].n} samples", "outliers / samples"),
        "noise": (f"(c) noise added to {panels['noise'][0].n} samples", "σ of the noise, radius / 100"),
    }
    figure, axes = pyplot().subplots(1, 3, figsize=(15, 5), sharey=True, layout="constrained")
    for panel, (what, (title, x)) in zip(axes, names.items(), strict=True):
        shown = [one for one in runs if one.setting in panels[what]]
        draw_curves(panel, [
            Curve.of(name, ((getattr(one, what), one.nmi_inliers) for one in shown if one.method == name))
            for name in methods
        ])  # fmt: skip
        titled(panel, title, x, "NMI of the points that are not outliers" if what == "n" else "")
    axes[0].invert_xaxis()
    axes[0].set_ylim(top=1.02)
    add_legend(figure, methods, {one.method: one.note for one in runs if one.note})
    figure.suptitle(f"Five crescents: mean of {seeds} seeds, bars of one standard deviation", x=0.01,
                    ha="left", fontsize=11)  # fmt: skip
    return figure
