"""AdelaideRMF: several planes or moving objects among correspondences, many of which are wrong [WCYS11].

References
----------
.. [WCYS11] Wong, Chin, Yu & Suter, Dynamic and Hierarchical Multi-Structure Geometric Model Fitting,
   ICCV 2011.
"""

import csv
import importlib.util
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.optimize import linear_sum_assignment
from sklearn.metrics import adjusted_rand_score

from hypermodes.baselines.graph_shift import graph_shift
from hypermodes.construct.correspondences import Candidates, Features, pairwise_affinity
from hypermodes.experiments.matching.problems import data_folder
from hypermodes.experiments.methods import named
from hypermodes.experiments.pictures import STYLES, save_picture, titled
from hypermodes.experiments.reports import markdown, write_text
from hypermodes.files import make_folder, write_csv
from hypermodes.matching import match_groups
from hypermodes.partition import OUTLIER
from hypermodes.plotting import pyplot
from hypermodes.progress import Progress, tracker

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FOLDER = "adelaide_rmf"
HALF = 0.5  # a structure counts as found if it and what was found share this part of their union
FEWEST = 10  # correspondences of a structure, for graph shift
STRONGEST = 300  # affinities of a correspondence that graph shift looks at
SAMPLE = {"homography": 4, "fundamental": 8}  # correspondences that fix a model
THRESHOLD = {"homography": 3.0, "fundamental": 1.5}  # pixels, for RANSAC


class Scene(NamedTuple):
    """Correspondences between two images, and the structure of each: -1 for none."""

    name: str
    model: str
    left: np.ndarray
    right: np.ndarray
    truth: np.ndarray


class Run(NamedTuple):
    """One method on one scene: a line of ``runs.csv``."""

    method: str
    model: str
    name: str
    draw: int
    correspondences: int
    structures: int
    found: int
    ari: float
    precision: float
    recall: float
    misclassified: float
    seconds: float


@dataclass(frozen=True)
class Labeller:
    """From a scene (of which it may not look at the truth) and a seed to labels, -1 for outliers."""

    label: str
    run: Callable[[Scene, int], np.ndarray]
    random: bool = False


def scenes() -> Iterator[Scene]:
    """All scenes that are there, homographies first."""
    folder = data_folder(FOLDER)
    with open(folder / "index.csv", newline="", encoding="utf-8") as file:
        index = sorted(csv.DictReader(file), key=lambda row: (row["model"] != "homography", row["name"]))
    with np.load(folder / "correspondences.npz", allow_pickle=False) as arrays:
        for row in index:
            table, label = arrays[row["name"] + "__data"], arrays[row["name"] + "__label"]
            truth = label.astype(np.int64).ravel() - 1
            yield Scene(row["name"], row["model"], table[:, :2], table[:, 2:], truth)


def scored(method: str, scene: Scene, draw: int, labels: np.ndarray, seconds: float) -> Run:
    """Compare labels with the structures, outliers being one more class of both for the ARI.

    A structure and a found group belong together if they share more than half of their union, so each has at
    most one partner: precision is found groups with a partner / found groups, recall is structures with one /
    structures. Misclassified is the part of all correspondences outside the best pairing of the two.
    """
    overlap = np.array(
        [[np.sum((labels == g) & (scene.truth == s)) for s in range(scene.truth.max() + 1)]
         for g in range(labels.max(initial=-1) + 1)]
    ).reshape(-1, scene.truth.max() + 1)  # fmt: skip
    sizes = np.bincount(labels[labels >= 0], minlength=len(overlap))[: len(overlap)]
    union = sizes[:, None] + np.bincount(scene.truth[scene.truth >= 0]) - overlap
    partners = int((overlap > HALF * union).sum())
    rows, columns = linear_sum_assignment(overlap, maximize=True)
    right = overlap[rows, columns].sum() + np.sum((labels == OUTLIER) & (scene.truth == OUTLIER))
    found, there = len(overlap), overlap.shape[1]
    return Run(
        method,
        scene.model,
        scene.name,
        draw,
        len(labels),
        there,
        found,
        float(adjusted_rand_score(scene.truth, labels)),
        partners / found if found else np.nan,
        partners / there,
        1 - float(right) / len(labels),
        seconds,
    )


def as_candidates(scene: Scene) -> tuple[Features, Features, Candidates]:
    """Each correspondence as a candidate, number i of the left with number i of the right."""
    each = np.arange(len(scene.left))
    candidates = Candidates(np.column_stack((each, each)), np.ones(each.size), each.size, each.size)
    return Features(scene.left), Features(scene.right), candidates


def _ours(scene: Scene, seed: int) -> np.ndarray:
    left, right, candidates = as_candidates(scene)
    labels = np.full(len(scene.left), OUTLIER, dtype=np.int64)
    for k, group in enumerate(match_groups(left, right, candidates=candidates)):
        labels[group.pairs[:, 0]] = k
    return labels


def _graph_shift(scene: Scene, seed: int) -> np.ndarray:
    """All starts, on the strongest affinities of each correspondence: with all of them it takes minutes."""
    affinity = strongest(pairwise_affinity(*as_candidates(scene)), STRONGEST)
    return graph_shift(affinity, tol=1e-3, max_steps=200, max_rounds=20, min_members=FEWEST).labels


def strongest(affinity: sp.csr_array, most: int) -> sp.csr_array:
    """Entries that are among the ``most`` largest of their row or of their column."""
    rows = np.repeat(np.arange(affinity.shape[0]), np.diff(affinity.indptr))
    order = np.lexsort((affinity.indices, -affinity.data, rows))
    rank = np.empty(len(order), dtype=np.int64)
    rank[order] = np.arange(len(order)) - affinity.indptr[rows[order]]
    kept = rank < most
    one_way = sp.csr_array((affinity.data[kept], (rows[kept], affinity.indices[kept])), shape=affinity.shape)
    return sp.csr_array(one_way.maximum(one_way.T))


def sequential(scene: Scene, seed: int, *, fit: Callable[[Scene, np.ndarray, int], np.ndarray]) -> np.ndarray:
    """Find the largest structure, take it away, find the next, until fewer than 2.5 samples agree."""
    labels = np.full(len(scene.left), OUTLIER, dtype=np.int64)
    fewest = 2.5 * SAMPLE[scene.model]
    for structure in range(20):
        rest = np.flatnonzero(labels == OUTLIER)
        if rest.size < fewest:
            break
        inside = rest[fit(scene, rest, seed + structure)]
        if inside.size < fewest:
            break
        labels[inside] = structure
    return labels


def _ransac(scene: Scene, rest: np.ndarray, seed: int) -> np.ndarray:
    """Inliers of the best model of 2,000 random ones, by scikit-image."""
    from skimage.measure import ransac
    from skimage.transform import FundamentalMatrixTransform, ProjectiveTransform

    plane = scene.model == "homography"
    model = ProjectiveTransform if plane else FundamentalMatrixTransform
    limit = THRESHOLD[scene.model] ** (1 if plane else 2)  # Sampson's distance is squared
    sides = scene.left[rest], scene.right[rest]
    _, inside = ransac(sides, model, SAMPLE[scene.model], limit, max_trials=2000, rng=seed)
    return np.zeros(rest.size, dtype=bool) if inside is None else np.asarray(inside)


def _magsac(scene: Scene, rest: np.ndarray, seed: int) -> np.ndarray:
    """Inliers of MAGSAC++, by OpenCV."""
    import cv2

    sides = np.ascontiguousarray(scene.left[rest]), np.ascontiguousarray(scene.right[rest])
    limits: dict[str, Any] = {"confidence": 0.999, "maxIters": 5000}
    fit: Callable[..., Any] = cv2.findHomography if scene.model == "homography" else cv2.findFundamentalMat
    _, inside = fit(*sides, cv2.USAC_MAGSAC, THRESHOLD[scene.model], **limits)
    return np.zeros(rest.size, dtype=bool) if inside is None else inside.ravel().astype(bool)


LABELLERS: dict[str, Labeller] = {
    "hypergraph_shift": Labeller("hypermodes.match_groups", _ours),
    "graph_shift": Labeller("graph shift", _graph_shift),
    "sequential_ransac": Labeller(
        "sequential RANSAC (told the kind of model)", partial(sequential, fit=_ransac), random=True
    ),
}
if importlib.util.find_spec("cv2"):
    LABELLERS["sequential_magsac"] = Labeller(
        "sequential MAGSAC++ (told the kind of model)", partial(sequential, fit=_magsac)
    )


def run(
    folder: Path,
    *,
    seeds: int = 5,
    quick: bool = False,
    methods: list[str] | None = None,
    progress: Progress = None,
) -> str:
    """Structures among outliers: write ``runs.csv``, ``summary.csv``, ``summary.md``, ``structures.png``.

    Methods that draw at random get ``seeds`` draws a scene, at most 5; the others answer once.
    """
    compared = named(LABELLERS, methods)
    every = list(scenes())
    if quick:
        every = [scene for scene in every if len(scene.truth) < 200]
    make_folder(folder)
    runs = list(outcomes(compared, every, 1 if quick else min(seeds, 5), progress))
    head, rows = summary(compared, runs)
    text = (
        f"# AdelaideRMF: structures among wrong correspondences\n\n{len(every)} image pairs; the number of "
        "structures is not told. Outliers are one more class for the ARI. A structure is found if a group "
        "shares more than half of their union with it; precision and recall count groups and structures. "
        "Errors are those of the mean over image pairs."
        f"\n\n{markdown(head, rows)}\n\n{by_scene(compared, runs)}"
    )
    write_csv(folder / "runs.csv", Run._fields, runs)
    write_csv(folder / "summary.csv", head, rows)
    write_text(folder / "summary.md", text)
    save_picture(folder / "structures.png", lambda: picture(compared, runs))
    return f"{text}\n\nwritten: {folder / 'structures.png'}, runs.csv, summary.csv, summary.md"


def outcomes(
    methods: Mapping[str, Labeller], every: Sequence[Scene], draws: int, progress: Progress = None
) -> Iterator[Run]:
    """Every method on every scene."""
    total = len(every) * sum(draws if method.random else 1 for method in methods.values())
    with tracker(progress, total, "structures") as advance, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # samples of collinear points have no model, and scikit-image says so
        for scene in every:
            for name, method in methods.items():
                for draw in range(draws if method.random else 1):
                    begin = time.perf_counter()
                    labels = method.run(scene, draw)
                    yield scored(name, scene, draw, labels, time.perf_counter() - begin)
                    advance(1)


def summary(methods: Mapping[str, Labeller], runs: Sequence[Run]) -> tuple[list[str], list[list[object]]]:
    """A row a method and kind of model."""
    head = ["method", "model", "ARI", "precision", "recall", "misclassified", "groups (truth)", "seconds"]
    rows: list[list[object]] = []
    for name, method in methods.items():
        for model in SAMPLE:
            mine = [run for run in runs if (run.method, run.model) == (name, model)]
            if mine:
                found, there = np.mean([run.found for run in mine]), np.mean([run.structures for run in mine])
                rows.append(
                    [method.label, model,
                     *(_pm(mine, column) for column in ("ari", "precision", "recall", "misclassified")),
                     f"{found:.1f} ({there:.1f})", f"{np.median([run.seconds for run in mine]):.2g}"]
                )  # fmt: skip
    return head, rows


def by_scene(methods: Mapping[str, Labeller], runs: Sequence[Run]) -> str:
    """ARI of every scene, and how many groups were found."""
    names = list(dict.fromkeys((run.name, run.model, run.structures) for run in runs))
    rows: list[list[object]] = []
    for name, model, structures in names:
        rows.append([name, model, structures])
        for method in methods:
            mine = [run for run in runs if (run.method, run.name) == (method, name)]
            rows[-1].append(f"{np.mean([r.ari for r in mine]):.2f} ({np.mean([r.found for r in mine]):.0f})")
    return markdown(["scene", "model", "structures", *(m.label for m in methods.values())], rows)


def picture(methods: Mapping[str, Labeller], runs: Sequence[Run]) -> "Figure":
    """ARI of every scene, a marker a method; a panel a kind of model."""
    figure, axes = pyplot().subplots(1, 2, figsize=(13, 5.6), sharey=True, layout="constrained")
    for axis, model in zip(axes, SAMPLE, strict=True):
        names = list(dict.fromkeys(run.name for run in runs if run.model == model))
        for name, method in methods.items():
            mine = [run for run in runs if run.method == name]
            ari = [np.mean([run.ari for run in mine if run.name == scene]) for scene in names]
            colour, marker, _ = STYLES[name]
            mean = np.mean(ari) if ari else np.nan
            ours = name == "hypergraph_shift"
            axis.plot(
                range(len(names)), ari, marker, color=colour, markersize=9 if ours else 6,
                zorder=9 if ours else 3, label=method.label,
            )  # fmt: skip
            axis.axhline(mean, color=colour, linewidth=1, alpha=0.4, zorder=1)
        axis.set_xticks(range(len(names)), labels=names, rotation=60, ha="right")
        axis.spines[["top", "right"]].set_visible(False)
        titled(axis, model, "", "adjusted Rand index" if axis is axes[0] else "")
    axes[0].set_ylim(-0.1, 1.05)
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower left", ncols=4, frameon=False)
    title = "AdelaideRMF: structures among wrong correspondences; lines are means"
    figure.suptitle(title, x=0.01, ha="left", fontsize=11)
    return figure


def _pm(runs: Sequence[Run], column: str) -> str:
    """Mean over scenes and its standard error; draws of a scene are averaged first."""
    scenes_: dict[str, list[float]] = {}
    for run in runs:
        scenes_.setdefault(run.name, []).append(getattr(run, column))
    means = np.array([np.nanmean(values) for values in scenes_.values() if not np.isnan(values).all()])
    if means.size == 0:
        return "–"
    error = means.std(ddof=1) / np.sqrt(means.size) if means.size > 1 else np.nan
    return f"{means.mean():.3f}" + ("" if error != error else f" ± {error:.3f}")
