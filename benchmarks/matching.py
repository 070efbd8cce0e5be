"""Matching against its targets: rates among outliers beside every other method, structures, and time.

    python benchmarks/matching.py                 # all sections; prints and saves a table
    python benchmarks/matching.py cars speed
    python benchmarks/matching.py --quick         # few draws

Every section runs in a process of its own, every method on the same candidates and affinity. pygmtools takes
part if it is installed; it needs a dense affinity, so it is left out where that takes more than 1 GB. All but
`points` and `speed` need HYPERMODES_DATA.
"""

import importlib.util
import multiprocessing
import sys
import time
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from sections import Rows, asked, in_process

RESULTS = Path(__file__).parent / "results"
OURS = "hypergraph_shift"
OUR_FAMILY = "hypergraph shift"
LIMIT = 10.0  # seconds another method may take in `speed`


def pygmtools_matcher(name: str):
    """SM, RRWM or IPFP of pygmtools, and the Hungarian algorithm; its candidates go by right points."""
    import pygmtools

    from hypermodes.experiments.matching.methods import PEERS, Answer, Matcher

    pygmtools.set_backend("numpy")

    def run(given) -> Answer:
        n_left, n_right = given.candidates.n_left, given.candidates.n_right
        order = np.lexsort((given.candidates.left, given.candidates.right))
        dense = given.affinity[order][:, order].toarray()
        with np.errstate(all="ignore"):
            soft = getattr(pygmtools, name)(dense, n_left, n_right)
        return Answer(np.argwhere(pygmtools.hungarian(soft) > 0))

    return Matcher(f"pygmtools {name.upper()}", PEERS, run)


def matchers():
    from hypermodes.experiments.matching.methods import MATCHERS

    found = dict(MATCHERS)
    if importlib.util.find_spec("pygmtools"):
        found |= {f"pygmtools_{name}": pygmtools_matcher(name) for name in ("sm", "rrwm", "ipfp")}
    return found


def fitting(methods: dict, problems: Sequence) -> dict:
    """Without pygmtools where its dense matrix would take more than 1 GB."""
    largest = max(len(problem.left.points) * len(problem.right.points) for problem in problems)
    return {
        name: method
        for name, method in methods.items()
        if not name.startswith("pygmtools") or 8 * largest**2 < 1e9
    }


def rates(name: str, problems: Iterable, targets: dict[float, float], ours: str = OURS) -> Rows:
    """A row a setting: the target, one of ours, and all others, best first."""
    from hypermodes.experiments.matching.comparison import mean_and_error, outcomes

    rows: Rows = []
    by_setting: dict[float, list] = {}
    for problem in problems:
        by_setting.setdefault(problem.setting, []).append(problem)
    for setting, some in by_setting.items():
        methods = fitting(matchers(), some)
        runs = list(outcomes(methods, some))
        found = {
            key: mean_and_error([run for run in runs if run.method == key], lambda run: run.rate)
            for key in methods
        }
        mean, error = found.pop(ours)
        ranked = sorted(found.items(), key=lambda item: -np.nan_to_num(item[1][0]))
        others = ", ".join(f"{methods[key].label} {value:.3f}" for key, (value, _) in ranked)
        target = f" (at least {targets[setting]:g})" if setting in targets else ""
        label = "all" if setting == np.inf else f"{setting:g}"
        rows.append((f"{name}, {label}{target}", f"**{mean:.3f} ± {error:.3f}**; {others}"))
        cores = {key: [run for run in runs if run.method == key and run.core == run.core] for key in methods}
        said = ", ".join(
            f"{methods[key].label} {mean_and_error(mine, lambda run: run.core_precision)[0]:.3f} of "
            f"{mean_and_error(mine, lambda run: run.core)[0]:.1f}"
            for key, mine in cores.items()
            if mine
        )
        rows.append((f"{name}, {label}: precision of the core, and its size", said))
    return rows


def cars(quick: bool) -> Rows:
    """Leordeanu's cars and motorbikes."""
    from hypermodes.experiments.matching import pascal

    problems = pascal.problems((0, 10, 20, pascal.ALL), 1 if quick else 50)
    targets = {0: 0.83, 10: 0.76, 20: 0.64, pascal.ALL: 0.38}
    return rates("cars and motorbikes, outliers a side", problems, targets)


def voc(quick: bool) -> Rows:
    """The five groups of Table 1, geometry only."""
    from hypermodes.experiments.matching import voc as groups

    problems = groups.geometry_only((0, 5), 10 if quick else 50)
    return rates("VOC groups, outliers a side", problems, {0: 0.54, 5: 0.34})


def house(quick: bool) -> Rows:
    """CMU house, at most 60 frames apart."""
    from hypermodes.experiments.matching import house as film

    rows: Rows = []
    for kept in film.N_LEFT:
        some = film.problems((20, 40, 60), 3 if quick else 50, (kept,))
        some = (replace(problem, setting=60) for problem in some)
        rows += rates(f"house, {kept} of 30 landmarks, frames apart up to", some, {60: 0.97})
    return rows


def points(quick: bool) -> Rows:
    """10 random points among 0 to 200 outliers, all together."""
    from hypermodes.experiments.matching import synthetic

    rows: Rows = []
    for turned in (False, True):
        some = synthetic.among_outliers((0, 50, 100, 150, 200), 2 if quick else 50, turned=turned)
        some = (replace(problem, setting=200) for problem in some)
        what = f"10 points{', turned' * turned}, outliers up to"
        rows += rates(what, some, {200: 0.9}, ours="invariant")  # scale and rotation are not known
    return rows


def structures(quick: bool) -> Rows:
    """AdelaideRMF."""
    from hypermodes.experiments.matching import adelaide

    scenes = [scene for scene in adelaide.scenes() if not quick or len(scene.truth) < 200]
    runs = list(adelaide.outcomes(adelaide.LABELLERS, scenes, 1 if quick else 5))
    targets = {"homography": 0.75, "fundamental": 0.7}
    return [
        (
            f"{method.label}, {model} (at least {targets[model]:g} for ours): ARI",
            f"{np.mean([run.ari for run in runs if (run.method, run.model) == (name, model)]):.3f}",
        )
        for name, method in adelaide.LABELLERS.items()
        for model in targets
        if any(run.model == model for run in runs)
    ]


def speed(quick: bool) -> Rows:
    """50 x 50 points with all candidates, 500 x 500 with 10 candidates a point; warm, with the affinity.

    Ours come first; every row is said on standard error when it is there, and no other method may take long.
    """
    from hypermodes.construct.correspondences import Features, candidate_pairs, pairwise_affinity
    from hypermodes.experiments.matching.methods import Given
    from hypermodes.matching import match

    rng = np.random.default_rng(0)

    def sides(n: int, described: bool) -> tuple[Features, Features]:
        left = rng.uniform(size=(n, 2))
        right = np.where(
            rng.uniform(size=(n, 1)) < 0.5, left + 0.01 * rng.normal(size=(n, 2)), rng.uniform(size=(n, 2))
        )
        looks = rng.normal(size=(n, 16))
        seen = looks + 0.5 * rng.normal(size=(n, 16))
        return (Features(left, descriptors=looks if described else None),
                Features(right, descriptors=seen if described else None))  # fmt: skip

    rows: Rows = []

    def add(what: str, value: str) -> None:
        print(f"{what}: {value}", file=sys.stderr, flush=True)
        rows.append((what, value))

    problems = []
    for n, per_point, target in ((50, None, 1), (100 if quick else 500, 10, 5)):
        left, right = sides(n, per_point is not None)
        what = f"{n} x {n} points, {per_point or 'all'} candidates a point"
        match(left, right, per_point=per_point)  # compile
        wall, processor = time.perf_counter(), time.process_time()
        match(left, right, per_point=per_point)
        wall, processor = time.perf_counter() - wall, time.process_time() - processor
        add(
            f"hypermodes.match, {what} (at most {target} s)",
            f"{wall:.2f} s; {processor:.2f} s of a processor",
        )
        candidates = candidate_pairs(left, right, per_point)
        begin = time.perf_counter()
        given = Given(left, right, candidates, pairwise_affinity(left, right, candidates))
        add(f"affinity alone, {what}", f"{time.perf_counter() - begin:.2f} s")
        problems.append((what, per_point, given))
    for what, per_point, given in problems:
        for method in matchers().values():
            if method.family != OUR_FAMILY and not (per_point and method.label.startswith("pygmtools")):
                seconds = seconds_of(method, given)
                said = f"over {LIMIT:g} s" if seconds is None else f"{seconds:.2f} s"
                add(f"{method.label} on the affinity, {what}", said)
    return rows


def seconds_of(method, given) -> float | None:
    """What a method takes on what is given, in a process that can be ended; None if that is too long."""
    from hypermodes.experiments.matching.comparison import WARM_UP
    from hypermodes.experiments.matching.methods import Given

    fork = multiprocessing.get_context("fork")
    ours, theirs = fork.Pipe(duplex=False)

    def run() -> None:
        method.run(Given.of(*WARM_UP))  # compile and import
        if method.needs:
            getattr(given, method.needs)  # before the clock starts, but within the limit
        begin = time.perf_counter()
        method.run(given)
        theirs.send(time.perf_counter() - begin)

    process = fork.Process(target=run)
    process.start()
    theirs.close()
    try:
        return ours.recv() if ours.poll(LIMIT) else None
    except EOFError:
        raise RuntimeError(f"{method.label} failed; see above") from None
    finally:
        process.kill()
        process.join()


def nothing(quick: bool) -> Rows:
    """There is no hidden section."""
    return []


SECTIONS = {f.__name__: f for f in (cars, voc, house, points, structures, speed)}


def main() -> None:
    arguments = asked(__doc__, SECTIONS, nothing)
    if arguments is None:
        return
    lines = ["| what | measured |", "|---|---|"]
    for name in arguments.sections:
        for what, value in in_process(__file__, name, arguments.quick):
            lines.append(f"| {what} | {value} |")
            print(lines[-1], flush=True)
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / "matching.md").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
