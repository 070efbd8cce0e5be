"""How good `hm.cluster` is on all kinds of data, beside other methods: one default configuration of each.

    python benchmarks/groups.py                            # everything: hours; prints and saves tables
    python benchmarks/groups.py plane tables ours hdbscan  # some families, some methods
    python benchmarks/groups.py --quick                    # small sets: a minute or two
    python benchmarks/groups.py --seeds 3                  # of methods that hang on a seed, and of samples
    python benchmarks/groups.py sensitivity                # every constant of ours halved, doubled, off
    python benchmarks/groups.py sensitivity plane flat     # some families, some constants

Families are in groups_data.py, methods in groups_methods.py. The real data are in the folder HYPERMODES_DATA
points at; peers that are not installed are left out. Compared are items whose label is known, with the best
of several labelings:

- *ARI* and *NMI* with every item assigned (groups_methods.py says how); what is in no group then is one more;
- *E* = (ARI² · share)^(1/3), of the items that are labelled and of their share;
- *found / true*: groups, without outliers;
- in *nothing*, the share of samples in which no more than one group was found (of a hypergraph, in its
  largest connected part).

Figures of a method that hangs on a seed are means over seeds 0, 1, …; errors are standard errors over sets.
What results/groups.csv has from before stays in the tables until it is measured again. Seconds are sums over
the sets.
"""

import argparse
import csv
import io
import sys
import time
import warnings
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

import hypermodes as hm
from groups_data import FAMILIES, Data, main_part, planted
from groups_methods import METHODS, Method

RESULTS = Path(__file__).parent / "results"
QUICK = 300  # items of the largest sets with --quick


class Row(NamedTuple):
    """One run of a method on a set; in families with nothing to be found, ``seed`` is that of the sample."""

    family: str
    set: str
    n: int
    method: str
    seed: int
    ari: float
    e: float
    nmi: float
    found: int
    true: int
    seconds: float


# -- scores ---------------------------------------------------------------------------------------------


def scored(labelled: np.ndarray, assigned: np.ndarray, data: Data) -> tuple[float, float, float, int, int]:
    """ARI, E, NMI, groups found and true: the scores by the best of the labelings, each."""
    from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score

    if not data.references:
        inside = assigned[main_part(data)]
        return np.nan, np.nan, np.nan, len(set(inside[inside >= 0].tolist())), 1
    rows = []
    for reference in data.references:
        real = reference > 0
        truth, inside = reference[real], labelled[real] >= 0
        part = adjusted_rand_score(truth[inside], labelled[real][inside]) if inside.any() else 0.0
        rows.append(
            (
                adjusted_rand_score(truth, assigned[real]),
                (max(part, 0.0) ** 2 * inside.mean()) ** (1 / 3),
                normalized_mutual_info_score(truth, assigned[real]),
                len(set(truth.tolist())),
            )
        )
    best = max(rows)
    ari, e, nmi = (max(column) for column in list(zip(*rows, strict=True))[:3])
    return ari, e, nmi, len(set(labelled[labelled >= 0].tolist())), best[3]


def runs(family: str, number: int, data: Data, name: str, seeds: int) -> Iterator[Row]:
    """A method on one set, once or with each seed; told each number of groups that a labeling has."""
    method = METHODS[name]
    counts = sorted({len(set(r[r > 0].tolist())) for r in data.references}) if method.told else [0]
    for seed in range(seeds if method.random and data.references else 1):
        tried = []
        for k in counts:
            began = time.perf_counter()
            try:
                labelled, assigned = method.run(data, k, seed)
            except Exception as error:
                if name == "ours":
                    raise
                print(f"\n{name} on {data.name}: {type(error).__name__}: {error}", file=sys.stderr)
                return
            seconds = time.perf_counter() - began
            tried.append((*scored(labelled, assigned, data), seconds))
        sample = seed if data.references else number
        yield Row(family, data.name, data.n, name, sample, *max(tried))


# -- tables ---------------------------------------------------------------------------------------------


def read(path: Path) -> list[Row]:
    """What is known: of a method, set and seed that were measured twice, the last."""
    if not path.exists():
        return []
    with open(path, newline="") as file:
        lines = [line for line in csv.reader(file) if line != list(Row._fields)]
    kinds = Row.__annotations__.values()
    rows = [Row(*(kind(text) for kind, text in zip(kinds, line, strict=True))) for line in lines]
    return list({(row.family, row.set, row.method, row.seed): row for row in rows}.values())


def save(path: Path, rows: Iterable[Row]) -> None:
    """Add rows at the end, in one piece: several runs may write to one file."""
    path.parent.mkdir(exist_ok=True)
    text = io.StringIO()
    csv.writer(text).writerows(rows if path.exists() else [Row._fields, *rows])
    with open(path, "a", newline="") as file:
        file.write(text.getvalue())


def words(name: str) -> str:
    return name.replace("_", " ")


def plus_minus(values: np.ndarray, digits: int = 3) -> str:
    if values.size < 2:
        return f"{values.mean():.{digits}f}"
    return f"{values.mean():.{digits}f} ± {values.std(ddof=1) / np.sqrt(values.size):.{digits}f}"


def by_set(rows: Iterable[Row]) -> dict[str, list[Row]]:
    sets: dict[str, list[Row]] = {}
    for row in rows:
        sets.setdefault(row.set, []).append(row)
    return sets


def table(rows: list[Row]) -> list[str]:
    """The means of one family, and every set of it."""
    sets = by_set(rows)
    names = [name for name in METHODS if any(row.method == name for row in rows)]
    lines = ["| method | sets | ARI, all assigned | E | NMI | found / true, median | seconds |",
             "|---|---|---|---|---|---|---|"]  # fmt: skip
    for name in names:
        means = [
            np.array([row[5:] for row in runs if row.method == name], dtype=float).mean(axis=0)
            for runs in by_set(row for row in rows if row.method == name).values()
        ]
        ari, e, nmi, found, true, seconds = np.array(means).T
        lines.append(
            f"| {words(name)} | {ari.size} | {plus_minus(ari)} | {plus_minus(e)} | {plus_minus(nmi)} | "
            f"{np.median(found / true):.2f} | {seconds.sum():.1f} |"
        )
    lines += ["", "ARI, all assigned (groups found).", "",
              f"| set | n | true | {' | '.join(map(words, names))} |",
              f"|---|---|---|{'---|' * len(names)}"]  # fmt: skip
    for name, own in sets.items():
        cells = []
        for method in names:
            runs = [row for row in own if row.method == method]
            ari, found = (np.mean([getattr(row, c) for row in runs] or [np.nan]) for c in ("ari", "found"))
            cells.append(f"{ari:.3f} ({found:.0f})" if runs else "")
        true = sorted({row.true for row in own})
        lines.append(f"| {name} | {own[0].n:,} | {', '.join(map(str, true))} | {' | '.join(cells)} |")
    return lines


def table_of_nothing(rows: list[Row]) -> list[str]:
    names = [name for name in METHODS if any(row.method == name for row in rows)]
    lines = [f"| samples | {' | '.join(map(words, names))} |", f"|---|{'---|' * len(names)}"]
    shares: dict[str, list[float]] = {name: [] for name in names}
    for kind, own in by_set(rows).items():
        cells = []
        for name in names:
            found = np.array([row.found for row in own if row.method == name])
            if found.size:
                shares[name].append(float((found <= 1).mean()))
            cells.append(
                f"{(found <= 1).mean():.2f} of {found.size} ({found.mean():.1f})" if found.size else ""
            )
        lines.append(f"| {kind} | {' | '.join(cells)} |")
    lines.append(f"| **mean** | {' | '.join(plus_minus(np.array(shares[name]), 2) for name in names)} |")
    seconds = [sum(row.seconds for row in rows if row.method == name) for name in names]
    lines.append(f"| seconds | {' | '.join(f'{own:.1f}' for own in seconds)} |")
    return ["Share of samples with one group or none (mean number of groups).", "", *lines]


def written(rows: list[Row]) -> list[str]:
    lines: list[str] = []
    for family in FAMILIES:
        own = [row for row in rows if row.family == family]
        if own:
            lines += [f"## {family}", "", *(table_of_nothing if family == "nothing" else table)(own), ""]
    return lines


# -- what is asked ----------------------------------------------------------------------------------------


def suits(method: Method, data: Data, family: str) -> bool:
    return (
        data.kind in method.kinds
        and family not in method.not_for
        and not (method.told and family == "nothing")
    )


def measure(families: list[str], methods: list[str], seeds: int, quick: bool, cache: Path) -> None:
    """Run what is asked for; what is finished is saved at once."""
    path = RESULTS / ("groups-quick.csv" if quick else "groups.csv")
    for family in families:
        samples: dict[str, int] = {}
        for data in FAMILIES[family](most=QUICK if quick else 10**9, samples=seeds, cache=cache):
            number = samples[data.name] = samples.get(data.name, -1) + 1
            for name in methods:
                if suits(METHODS[name], data, family):
                    doing = f"{family}: {data.name} {number or ''} {words(name)}"
                    print(f"\r{doing:79s}", end="", file=sys.stderr, flush=True)
                    save(path, runs(family, number, data, name, seeds))
    print(file=sys.stderr)
    rows = read(path)
    path.with_suffix(".md").write_text("\n".join(written(rows)) + "\n", encoding="utf-8")
    print("\n".join(written([row for row in rows if row.family in families])))


def compiled(families: list[str], methods: list[str]) -> None:
    """Run everything once, so that no time is that of a compiler."""
    points = np.random.default_rng(0).normal(size=(100, 5))
    for data in (Data("warm-up", "points", points, []), planted("warm-up", n=60, edges=200)):
        for name in methods:
            if data.kind in METHODS[name].kinds and any(suits(METHODS[name], data, f) for f in families):
                list(runs("", 0, data._replace(references=[np.arange(data.n) % 2 + 1]), name, 1))
    if "ours" in methods:
        hm.cluster(points, layout=False)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "what", nargs="*", help=f"families: {', '.join(FAMILIES)}; methods: {', '.join(METHODS)}"
    )
    parser.add_argument("--quick", action="store_true", help="small sets, two seeds")
    parser.add_argument("--seeds", type=int, default=10, help="of methods that hang on them (10)")
    parser.add_argument("--cache", type=Path, default=RESULTS / "distances", help="distances of shapes")
    asked = parser.parse_intermixed_args()
    warnings.simplefilter("ignore")  # peers warn of deprecations and of graphs that are not connected
    if asked.what[:1] == ["sensitivity"]:
        from groups_sensitivity import sensitivity

        lines = sensitivity(asked.what[1:], asked.quick, asked.cache)
        (RESULTS / "sensitivity.md").write_text("\n".join(lines) + "\n", encoding="utf-8")
        print("\n".join(lines))
        return
    if unknown := sorted(set(asked.what) - set(FAMILIES) - set(METHODS)):
        parser.error(f"what: expected some of {', '.join([*FAMILIES, *METHODS])}; got {', '.join(unknown)}")
    families = [name for name in FAMILIES if name in asked.what] or list(FAMILIES)
    methods = [name for name in METHODS if name in asked.what] or list(METHODS)
    for name in list(methods):
        if missing := METHODS[name].missing:
            print(f"{name}: left out, {' and '.join(missing)} not installed", file=sys.stderr)
            methods.remove(name)
    compiled(families, methods)
    measure(families, methods, min(asked.seeds, 2) if asked.quick else asked.seeds, asked.quick, asked.cache)


if __name__ == "__main__":
    main()
