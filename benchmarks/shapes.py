"""How good and how fast distances of shapes are: nearest neighbours, the bull's eye, microseconds a pair.

    python benchmarks/shapes.py                    # kimia, eth, solids, speed; prints and saves a table
    python benchmarks/shapes.py kimia speed        # some of them: a minute
    python benchmarks/shapes.py --cache FOLDER     # where tables of distances are kept, for the next run

Kimia's 99 silhouettes (9 classes) and those of ETH-80 (8 categories of 10 objects, 41 views each) are in the
folder HYPERMODES_DATA points at; the 21 solids, 128 views each, are made here. The nearest shape is sought
among all others, and for categories also among other objects only. The bull's eye is the share of a shape's
class that is among its nearest shapes, twice as many as the class has. The first run on ETH-80 and on the
solids takes some ten minutes of processor time each; with the tables kept, the next one takes seconds.
"""

import argparse
import csv
import os
import sys
import time
from pathlib import Path
from typing import NamedTuple

import numpy as np

RESULTS = Path(__file__).parent / "results"


class Shapes(NamedTuple):
    """Masks and, by level, what each is of; ``same`` says which are views of one object, if any are."""

    masks: list[np.ndarray]
    levels: dict[str, np.ndarray]
    same: np.ndarray | None


class Score(NamedTuple):
    """One row of the table."""

    shapes: str
    level: str
    n: int
    classes: int
    nearest: float
    nearest_of_other_objects: float
    bulls_eye: float


def data(name: str) -> Path:
    folder = Path(os.environ.get("HYPERMODES_DATA", "")) / name
    if not os.environ.get("HYPERMODES_DATA") or not folder.is_dir():
        sys.exit(f"HYPERMODES_DATA: expected a folder with {name} in it; there is none")
    return folder


def kimia() -> Shapes:
    from hypermodes.shapes.silhouettes import read_silhouettes

    found = list(read_silhouettes(data("kimia99") / "images"))
    classes = np.array([one.name.split("_")[0] for one in found])
    return Shapes([one.mask for one in found], {"class": classes}, None)


def eth() -> Shapes:
    from hypermodes.shapes.silhouettes import read_silhouettes

    folder = data("eth80_silhouettes")
    with open(folder / "index.csv", newline="") as file:
        known = {row["name"]: row for row in csv.DictReader(file)}
    found = list(read_silhouettes(folder / "silhouettes.zip"))
    rows = [known[Path(one.name).stem] for one in found]
    objects = np.array([row["object"] for row in rows])
    categories = np.array([row["category"] for row in rows])
    return Shapes([one.mask for one in found], {"category": categories, "object": objects}, objects)


def solids() -> Shapes:
    from hypermodes.experiments.solids import silhouettes

    views = list(silhouettes())
    return Shapes([mask for _, _, mask in views], {"solid": np.array([name for name, _, _ in views])}, None)


SETS = {"kimia": kimia, "eth": eth, "solids": solids}


def contexts_of(masks: list[np.ndarray]) -> np.ndarray:
    from hypermodes.progress import tracker
    from hypermodes.shapes.contexts import shape_contexts
    from hypermodes.shapes.contours import contour

    contexts = []
    with tracker(True, len(masks), "outlines") as advance:
        for mask in masks:
            contexts.append(shape_contexts(contour(mask)))
            advance(1)
    return np.stack(contexts)


def nearest(distances: np.ndarray, labels: np.ndarray, apart: np.ndarray) -> float:
    """Share of shapes whose nearest one, among those not ``apart``, is of their class."""
    closest = np.where(apart, np.inf, distances).argmin(axis=1)
    return float((labels[closest] == labels).mean())


def bulls_eye(distances: np.ndarray, labels: np.ndarray) -> float:
    """Mean share of a class found among the twice as many nearest, the shape itself among them."""
    order = np.argsort(distances, axis=1, kind="stable")
    shares = []
    for own, row in zip(labels, order, strict=True):
        size = int((labels == own).sum())
        shares.append((labels[row[: 2 * size]] == own).sum() / size)
    return float(np.mean(shares))


def scores(name: str, cache: Path) -> list[Score]:
    from hypermodes.shapes.distances import shape_distances

    shapes = SETS[name]()
    n = len(shapes.masks)
    distances = shape_distances(contexts_of(shapes.masks), cache=cache / name, progress=True)
    itself = np.eye(n, dtype=bool)
    rows = []
    for level, labels in shapes.levels.items():
        # Views of one object are no strangers to each other, unless it is the object that is asked for.
        strangers = shapes.same is not None and level != "object"
        elsewhere = (
            nearest(distances, labels, shapes.same[:, None] == shapes.same) if strangers else float("nan")
        )
        rows.append(
            Score(
                name,
                level,
                n,
                len(np.unique(labels)),
                nearest(distances, labels, itself),
                elsewhere,
                bulls_eye(distances, labels),
            )
        )
    return rows


def speed() -> str:
    """Processor time of a pair on one thread, and of an outline: ten views of every solid."""
    from hypermodes.experiments.solids import silhouettes
    from hypermodes.shapes.contexts import shape_contexts
    from hypermodes.shapes.contours import contour
    from hypermodes.shapes.distances import shape_distances

    masks = [mask for _, _, mask in silhouettes(n_views=10)]
    began = time.process_time()
    contexts = np.stack([shape_contexts(contour(mask)) for mask in masks])
    outline = (time.process_time() - began) / len(masks)
    shape_distances(contexts[:3], n_jobs=1)  # compile
    began = time.process_time()
    shape_distances(contexts, n_jobs=1)
    pair = (time.process_time() - began) / (len(masks) * (len(masks) - 1) / 2)
    whole = 3280 * 3279 / 2 * pair
    return (
        f"{outline * 1e3:.1f} ms an outline, {pair * 1e6:.0f} µs a pair on one core: "
        f"{whole:.0f} s for the pairs of 3,280 shapes."
    )


def written(rows: list[Score]) -> list[str]:
    lines = [
        "| shapes | level | n | classes | nearest of the class | of other objects | bull's eye |",
        "|---|---|---|---|---|---|---|",
    ]
    for row in rows:
        other = "" if np.isnan(row.nearest_of_other_objects) else f"{row.nearest_of_other_objects:.4f}"
        lines.append(
            f"| {row.shapes} | {row.level} | {row.n} | {row.classes} | {row.nearest:.4f} | {other} | "
            f"{row.bulls_eye:.4f} |"
        )
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", nargs="*", help="some of kimia, eth, solids, speed")
    parser.add_argument("--cache", type=Path, default=RESULTS / "distances", help="where tables are kept")
    arguments = parser.parse_args()
    known = [*SETS, "speed"]
    if unknown := sorted(set(arguments.what) - set(known)):
        parser.error(f"what: expected some of {', '.join(known)}; got {', '.join(unknown)}")
    chosen = arguments.what or known

    from hypermodes.files import write_csv

    rows = [row for name in chosen if name != "speed" for row in scores(name, arguments.cache)]
    lines = written(rows) if rows else []
    if "speed" in chosen:
        lines += ["", speed()]
    print("\n".join(lines))
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / "shapes.md").write_text("\n".join(lines) + "\n", encoding="utf-8")
    if rows:
        write_csv(RESULTS / "shapes.csv", Score._fields, rows)


if __name__ == "__main__":
    main()
