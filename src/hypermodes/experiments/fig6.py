"""Figure 6: the time an iteration takes, and iterations to convergence, against the number of samples."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from hypermodes.experiments.iterations import ITERATIVE, Count
from hypermodes.experiments.methods import Method, chosen
from hypermodes.experiments.pictures import Curve, add_legend, at_each, draw_curves, save_picture, titled
from hypermodes.experiments.reports import left_out, markdown, notes, write_text
from hypermodes.experiments.running import Outcome, Setting, outcomes
from hypermodes.files import make_folder, write_csv
from hypermodes.plotting import pyplot
from hypermodes.progress import Progress
from hypermodes.result import counted

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SIZES, QUICK = (100, 200, 300, 600, 900, 1200), (60, 120)
HEAD = ("method", "counted", "µs an iteration, fewest samples", "most samples", "grows as n to the",
        "iterations a start, fewest samples", "most samples")  # fmt: skip


class Cost(NamedTuple):
    """One line of ``runs.csv``: iterations of one kind in one run."""

    method: str
    counted: str
    n: int
    seed: int
    starts: float
    iterations: float
    iterations_per_start: float
    seconds: float
    seconds_per_iteration: float
    note: str


def run(
    folder: Path,
    *,
    seeds: int = 10,
    quick: bool = False,
    methods: list[str] | None = None,
    progress: Progress = None,
) -> str:
    """Run the experiment, write ``runs.csv``, ``summary.csv``, ``summary.md``, ``fig6.png``; the summary."""
    sizes, seeds = (QUICK, min(seeds, 2)) if quick else (SIZES, seeds)
    compared = chosen(ITERATIVE, methods, seeds)
    make_folder(folder)
    settings = [Setting(n) for n in sizes]
    costs = [cost for one in outcomes(compared, settings, seeds, progress=progress) for cost in lines(one)]
    rows = summary(compared, costs)
    table = f"mean over {counted(seeds, 'seed')}, {sizes[0]} to {sizes[-1]} samples\n\n{markdown(HEAD, rows)}"
    table += left_out(compared, costs)
    write_csv(folder / "runs.csv", Cost._fields, costs)
    write_csv(folder / "summary.csv", HEAD, rows)
    write_text(folder / "summary.md", table)
    save_picture(folder / "fig6.png", lambda: picture(compared, costs, seeds))
    return f"{table}\n\nwritten: {folder / 'fig6.png'}, runs.csv, summary.csv, summary.md"


def lines(outcome: Outcome[Count]) -> list[Cost]:
    """One line for each kind of iteration; the time of the whole run is shared out among them."""
    name, setting, seed, _, count, seconds, note = outcome
    if count is None:
        return [Cost(name, "", setting.n, seed, *(np.nan,) * 5, note)]
    return [
        Cost(name, kind, setting.n, seed, count.starts, total, total / max(count.starts, 1), seconds,
             seconds / max(total, 1), note)
        for kind, total in count.iterations.items()
    ]  # fmt: skip


def summary(methods: Mapping[str, Method[Count]], costs: Sequence[Cost]) -> list[list[object]]:
    """Time and iterations at both ends, and the exponent with which the time of an iteration grows."""
    rows: list[list[object]] = []
    for name, kind in kinds(methods, costs):
        time, per_start = (curve(name, kind, costs, of) for of in ("seconds_per_iteration",
                                                                   "iterations_per_start"))  # fmt: skip
        slope = np.polyfit(np.log(time.x), np.log(time.mean), 1)[0] if time.x.size > 1 else np.nan
        rows.append([
            methods[name].label + "*" * (name in notes(costs)), kind,
            *(_short(1e6 * time.mean[end]) for end in (0, -1)), "–" if slope != slope else f"{slope:.2f}",
            *(_short(per_start.mean[end]) for end in (0, -1)),
        ])  # fmt: skip
    return rows


def kinds(methods: Mapping[str, Method[Count]], costs: Sequence[Cost]) -> list[tuple[str, str]]:
    """What is counted of each method, in the order of the methods."""
    found = dict.fromkeys((cost.method, cost.counted) for cost in costs if cost.counted)
    return sorted(found, key=lambda pair: list(methods).index(pair[0]))


def curve(name: str, kind: str, costs: Sequence[Cost], column: str) -> Curve:
    """A column of one method against the number of samples."""
    mine = [cost for cost in costs if (cost.method, cost.counted) == (name, kind)]
    return Curve.of(name, ((cost.n, getattr(cost, column)) for cost in mine))


def picture(methods: Mapping[str, Method[Count]], costs: Sequence[Cost], seeds: int) -> "Figure":
    """Two panels with logarithmic axes: time of an iteration, iterations of a start; rounds are hollow."""
    figure, axes = pyplot().subplots(1, 2, figsize=(13, 5), layout="constrained")
    for panel, column in zip(axes, ("seconds_per_iteration", "iterations_per_start"), strict=True):
        for kind, style in (("steps", {}), ("rounds", {"markerfacecolor": "white", "markeredgewidth": 1.5})):
            shown = [curve(*pair, costs, column) for pair in kinds(methods, costs) if pair[1] == kind]
            draw_curves(panel, shown, **style)
        at_each(panel, (cost.n for cost in costs))
        panel.set_yscale("log")
    titled(axes[0], "(a) time of one iteration", "samples", "seconds")
    titled(axes[1], "(b) iterations to convergence, from one start", "samples", "iterations")
    add_legend(figure, methods, notes(costs))
    title = (
        f"Five crescents: mean of {counted(seeds, 'seed')}; filled markers count steps, hollow ones rounds"
    )
    figure.suptitle(title, x=0.01, ha="left", fontsize=11)
    return figure


def _short(value: float) -> str:
    return f"{value:,.0f}" if value >= 1000 else f"{value:.3g}"
