"""Figure 1: what stands out, by the modes of a graph and of a hypergraph, against what people marked."""

import itertools
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from hypermodes.baselines.saliency.graph_modes import graph_modes, graph_shift_saliency, vertex_worth
from hypermodes.experiments.methods import named
from hypermodes.experiments.pictures import save_picture
from hypermodes.experiments.reports import markdown, write_text
from hypermodes.experiments.salient import Example, Mapper, ecssd, ecssd_folder, own_pictures
from hypermodes.experiments.salient import methods as known_methods
from hypermodes.experiments.salient_scores import Score, f_measure, max_f, max_f_error, pieces, scored
from hypermodes.files import make_folder, write_csv
from hypermodes.images import as_picture
from hypermodes.plotting import pyplot
from hypermodes.progress import Progress, tracker
from hypermodes.result import counted
from hypermodes.scene import see

if TYPE_CHECKING:
    from matplotlib.figure import Figure

HEAD = ("method", "max F", "± s.e.", "adaptive F", "± s.e.", "MAE", "± s.e.", "seconds")
SHOWN = 5  # of ECSSD in the picture: the first of its index, whatever came out


class Run(NamedTuple):
    """One method on one picture: a line of ``runs.csv``."""

    method: str
    picture: str
    best_f: float
    adaptive_f: float
    mae: float
    seconds: float


Runs = Mapping[str, list[tuple[Run, Score]]]


def run(
    folder: Path,
    *,
    seeds: int = 1,
    quick: bool = False,
    methods: list[str] | None = None,
    progress: Progress = None,
) -> str:
    """Run the experiment, write ``runs.csv``, ``summary.csv``, ``summary.md``, ``fig1.png``; the summary.

    Nothing in it is random: ``seeds`` is there because other experiments have it, and plays no part. Without
    ECSSD (see `ecssd_folder`) only the picture is made, of photographs that come with scikit-image.
    """
    compared = named(known_methods(), methods)
    make_folder(folder)
    data = ecssd_folder()
    marked = [] if data is None else list(ecssd(data, 3 if quick else None))
    own = list(itertools.islice(own_pictures(), 2 if quick else None))
    runs = measure(compared, marked, progress)
    text = report(compared, runs, marked) if marked else "HYPERMODES_DATA has no ecssd: nothing to score by"
    write_csv(folder / "runs.csv", Run._fields, [one for rows in runs.values() for one, _ in rows])
    write_csv(folder / "summary.csv", HEAD, summary(compared, runs) if marked else [])
    write_text(folder / "summary.md", text)
    save_picture(folder / "fig1.png", lambda: picture([*marked[:SHOWN], *own]))
    return f"{text}\n\nwritten: {folder / 'fig1.png'}, runs.csv, summary.csv, summary.md"


def measure(compared: Mapping[str, Mapper], examples: Sequence[Example], progress: Progress) -> Runs:
    """Every method on every picture, scored and timed."""
    runs: dict[str, list[tuple[Run, Score]]] = {name: [] for name in compared}
    with tracker(progress, len(compared) * len(examples), "running") as advance:
        for example in examples:
            assert example.truth is not None
            for name, method in compared.items():
                if not runs[name]:
                    method.run(example)  # compile and import, so that no run is timed with that
                begin = time.perf_counter()
                found = method.run(example)
                seconds = time.perf_counter() - begin
                score = scored(found, example.truth)
                best = float(f_measure(score.precision, score.recall).max())
                runs[name].append(
                    (Run(name, example.name, best, score.adaptive, score.error, seconds), score)
                )
                advance(1)
    return runs


def summary(compared: Mapping[str, Mapper], runs: Runs) -> list[list[object]]:
    """Means over pictures with their standard errors; the best maximum F comes first."""
    rows: list[list[object]] = []
    for name, method in compared.items():
        scores = [score for _, score in runs[name]]
        row: list[object] = [method.label, max_f(scores), max_f_error(scores)]
        for values in ([score.adaptive for score in scores], [score.error for score in scores]):
            row += [float(np.mean(values)), standard_error(values)]
        rows.append([*row, float(np.median([one.seconds for one, _ in runs[name]]))])
    return sorted(rows, key=lambda row: -float(str(row[1])))


def report(compared: Mapping[str, Mapper], runs: Runs, examples: Sequence[Example]) -> str:
    """The table, and in how many modes an object lies."""
    graph, hyper = np.array([pieces_of(example) for example in examples]).transpose(1, 2, 0)
    return (
        f"ECSSD, {counted(len(examples), 'picture')}, mean and standard error over pictures; "
        "F with β² = 0.3\n\n"
        f"{markdown(HEAD, summary(compared, runs))}\n\n"
        "Modes that an object lies in (exp of the entropy of their shares of it), and how much of it lies in "
        f"any: graph shift {_mean(graph[0])}, {graph[1].mean():.0%}; hypergraph shift {_mean(hyper[0])}, "
        f"{hyper[1].mean():.0%}"
    )


def pieces_of(example: Example) -> list[tuple[float, float]]:
    """In how many modes the object lies, and what part of it in any: of graph shift, of hypergraph shift."""
    assert example.truth is not None
    painted = [example.superpixels.paint(labels) for labels in mode_labels(example)]
    return [(pieces(labels, example.truth), float((labels[example.truth] >= 0).mean())) for labels in painted]


def mode_labels(example: Example) -> tuple[np.ndarray, np.ndarray]:
    """The mode of each superpixel: of graph shift, of hypergraph shift; -1 for none."""
    cut = example.superpixels
    found = graph_modes(cut, vertex_worth(cut)[1])
    return np.full(cut.n, -1) if found is None else found.labels, see(cut).mode_of


def picture(examples: Sequence[Example]) -> "Figure":
    """One row a picture: itself, what people marked, modes and maps of graph shift and hypergraph shift."""
    titles = ("picture", "marked", "graph shift: modes", "hypergraph shift: modes", "graph shift: map",
              "hypergraph shift: map")  # fmt: skip
    plt = pyplot()
    figure, axes = plt.subplots(
        len(examples),
        len(titles),
        figsize=(2.1 * len(titles), 1.62 * len(examples)),
        layout="constrained",
        squeeze=False,
    )
    for row, example in zip(axes, examples, strict=True):
        cut = example.superpixels
        scene, by_graph = see(cut), graph_shift_saliency(cut, settled=False)
        graph, hyper = mode_labels(example)
        shown = [
            as_picture(example.image, longest=400).rgb,
            np.full(cut.labels.shape, 0.5) if example.truth is None else example.truth.astype(float),
            cut.paint(coloured(graph, by_graph)),
            cut.paint(coloured(hyper, scene.figure)),
            cut.paint(graph_shift_saliency(cut)),
            cut.paint(scene.values),
        ]
        for panel, pixels in zip(row, shown, strict=True):
            panel.imshow(pixels, cmap="gray", vmin=0, vmax=1)
            panel.axis("off")
        if example.truth is None:
            row[1].text(0.5, 0.5, "not marked", ha="center", va="center", transform=row[1].transAxes)
    for panel, title in zip(axes[0], titles, strict=True):
        panel.set_title(title, fontsize=9)
    return figure


def coloured(labels: np.ndarray, worth: np.ndarray) -> np.ndarray:
    """A colour for each mode, as bright as its superpixels stand out; (n, 3)."""
    hue = (np.arange(labels.max(initial=0) + 1) * 0.6180339887) % 1  # neighbours in rank far apart in colour
    ramp = np.abs((hue[:, None] * 6 + np.array([0, 4, 2])) % 6 - 3) - 1
    colours = np.vstack((0.25 + 0.75 * np.clip(ramp, 0, 1), np.zeros(3)))
    shown: np.ndarray = colours[labels] * np.sqrt(worth)[:, None]  # label -1 is the last row: black
    return shown


def standard_error(values: Sequence[float]) -> float:
    """Of a mean; NaN for one value."""
    return float(np.std(values, ddof=1) / np.sqrt(len(values))) if len(values) > 1 else float("nan")


def _mean(values: np.ndarray) -> str:
    there = values[~np.isnan(values)]
    return f"{there.mean():.2f} ± {standard_error(list(there)):.2f}" if there.size else "–"
