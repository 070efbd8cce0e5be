"""What each constant of clusters and layouts does to the answer: halved, doubled, and off where that can be.

Used by groups.py. Small sets of each family; figures are differences of the mean ARI with every item assigned
(in *nothing*: of the share of samples in which no more than one group was found), with the standard error of
the paired differences over sets.
"""

import importlib
import math
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np

import hypermodes as hm
from groups_data import CHANCE, CLOUDS, FAMILIES, Data, planted
from hypermodes.cluster.settings import CLUSTER
from hypermodes.layout.embedding import embedded
from hypermodes.layout.settings import LAYOUT

NEVER = 1e9
OFF: dict[str, dict[str, float]] = {  # beside half and double
    "direct": {"layout always": 0.0, "never": NEVER},
    "faint": {"off": 0.0},
    "beyond_chance": {"off": 0.0, "infinite": NEVER},
    "flat": {"off": NEVER},
    "random": {"off": NEVER},
    "most_ties": {"all": 1_000_000},
    "steps": {"none": 0},
}
MOST = {"plane": 1100, "tables": 10**9, "embeddings": 1000, "affinities": 700, "hypergraphs": 2000}
LEFT_OUT = ("Mushrooms", "60 groups", "SN-congress-bills")  # they take most of the time
SAMPLES = 2
CLOUD = 500  # points


def constants() -> list[tuple[Any, str]]:
    """Each constant with the settings it belongs to; `alike` only says which levels are shown."""
    found = [(own, field.name) for own in (CLUSTER, LAYOUT) for field in fields(own)]
    return [(own, name) for own, name in found if name != "alike"]


def variants(settings: Any, name: str) -> list[tuple[str, float]]:
    value = getattr(settings, name)
    whole = isinstance(value, int)
    half, double = (max(1, round(value * f)) if whole else value * f for f in (0.5, 2.0))
    return [(f"{half:g}", half), (f"{double:g}", double), *OFF.get(name, {}).items()]


@contextmanager
def changed(settings: Any, name: str, value: float) -> Iterator[None]:
    """Another value of a constant for a while, wherever it is used: all share these two objects."""
    before = getattr(settings, name)
    object.__setattr__(settings, name, value)
    try:
        yield
    finally:
        object.__setattr__(settings, name, before)


def remembered() -> Callable[..., np.ndarray]:
    """`embedded` that lays the same ties out only once: the constants of clusters do not move a layout."""
    known: dict[tuple[Any, ...], np.ndarray] = {}

    def once(ties: Any, n_dimensions: int, **options: Any) -> np.ndarray:
        what = (ties.matrix.data.tobytes(), ties.matrix.indices.tobytes(), ties.matrix.indptr.tobytes())
        key = (hash(what), n_dimensions, *(getattr(LAYOUT, field.name) for field in fields(LAYOUT)))
        if key not in known:
            known[key] = embedded(ties, n_dimensions, **options)
        return known[key].copy()

    return once


def small(family: str, quick: bool, cache: Path) -> list[Data]:
    if family == "nothing":
        kinds = [
            (name, d) for name, (_, dimensions) in CLOUDS.items() for d in dimensions if d in (2, 3, 5, 20)
        ]
        made = [
            Data(f"{name} {d}", "points", CLOUDS[name][0](np.random.default_rng([seed, d]), CLOUD, d), [])
            for name, d in kinds
            for seed in range(SAMPLES)
        ]
        return made + [
            planted(name, strangers=1.0, seed=seed, **options)._replace(references=[])
            for name, options in CHANCE.items()
            for seed in range(SAMPLES)
        ]
    found = FAMILIES[family](most=300 if quick else MOST[family], cache=cache)
    return [data for data in found if data.name not in LEFT_OUT]


def aris(sets: list[Data]) -> np.ndarray:
    from groups import scored

    scores = []
    for data in sets:
        found = hm.cluster(data.given, metric="precomputed" if data.kind == "distances" else "euclidean")
        ari, _, _, number, _ = scored(found.labels, found.assigned, data)
        scores.append(ari if data.references else float(number <= 1))
    return np.array(scores)


def sensitivity(what: list[str], quick: bool, cache: Path) -> list[str]:
    """A table of all that is asked for: names of families and of constants; all of each if none is named."""
    known = [name for _, name in constants()]
    if unknown := sorted(set(what) - set(FAMILIES) - set(known)):
        sys.exit(f"sensitivity: expected some of {', '.join([*FAMILIES, *known])}; got {', '.join(unknown)}")
    families = [name for name in FAMILIES if name in what] or list(FAMILIES)
    wanted = [(own, name) for own, name in constants() if name in what or not set(what) & set(known)]
    sets = {family: small(family, quick, cache) for family in families}
    engine: Any = importlib.import_module("hypermodes.cluster.api")  # hypermodes.cluster is a function
    engine.embedded = remembered()
    usual = {family: aris(own) for family, own in sets.items()}
    lines = [
        f"| constant | usual | instead | {' | '.join(families)} |",
        f"|---|---|---|{'---|' * len(families)}",
        "| sets | | | " + " | ".join(str(len(own)) for own in sets.values()) + " |",
        "| mean | | | " + " | ".join(f"{own.mean():.3f}" for own in usual.values()) + " |",
    ]
    for own, name in wanted:
        for words, value in variants(own, name):
            print(f"{name} = {words}", file=sys.stderr, flush=True)
            with changed(own, name, value):
                cells = [difference(aris(sets[family]) - usual[family]) for family in families]
            lines.append(f"| {name} | {getattr(own, name):g} | {words} | {' | '.join(cells)} |")
            print(lines[-1], file=sys.stderr, flush=True)
    engine.embedded = embedded
    return lines


def difference(values: np.ndarray) -> str:
    if not values.any():
        return "0"
    error = values.std(ddof=1) / math.sqrt(values.size) if values.size > 1 else math.nan
    return f"{values.mean():+.3f} ± {error:.3f}"
