"""Matching rates of any function (left, right) -> pairs, on the problems with known answers.

    python benchmarks/match_rates.py                              # hypermodes.match, all sets
    python benchmarks/match_rates.py package.module:function pascal voc --draws 5
    python benchmarks/match_rates.py --baselines ipfp,rrwm        # baselines on our candidates and affinity

The function is given two `Features` and answers with [left, right] pairs, or with an object that has them as
``pairs``; a ``core`` of that object is scored too. Needs HYPERMODES_DATA, but for ``synthetic``.
"""

import argparse
import importlib
import time
from collections.abc import Callable, Iterable, Mapping
from itertools import chain

import numpy as np

from hypermodes.experiments.matching import house, pascal, synthetic, voc
from hypermodes.experiments.matching.comparison import WARM_UP
from hypermodes.experiments.matching.problems import ALL, Problem

SETS: Mapping[str, Callable[[int], Iterable[Problem]]] = {
    "pascal": lambda draws: pascal.problems((0, 10, 20, ALL), draws),
    "voc": lambda draws: voc.geometry_only((0, 5), draws),
    "corners": lambda draws: voc.with_corners((0.0, 0.5, 1.0), draws),
    "house": lambda draws: house.problems((20, 40, 60, 90), draws),
    "synthetic": lambda draws: chain(
        synthetic.among_outliers((0, 50, 100, 200), draws),
        synthetic.among_outliers((100,), draws, turned=True),
        synthetic.under_noise((0.1, 0.2, 0.3), draws),
    ),
}


def evaluate(function: Callable, problems: Iterable[Problem]) -> dict[tuple[str, float], np.ndarray]:
    """(rate, precision, pairs, seconds, core pairs, core precision) of each problem, by group and setting."""
    rows: dict[tuple[str, float], list[list[float]]] = {}
    function(*WARM_UP)
    for problem in problems:
        begin = time.perf_counter()
        answer = function(problem.left, problem.right)
        seconds = time.perf_counter() - begin
        pairs = np.asarray(getattr(answer, "pairs", answer)).reshape(-1, 2)
        core = getattr(answer, "core", None)
        core = np.empty((0, 2)) if core is None else np.asarray(core)
        if core.ndim == 1:  # positions in the pairs, or which of them
            core = pairs[core.astype(int) if core.dtype != bool else core]
        rows.setdefault((problem.group, problem.setting), []).append(
            [problem.rate(pairs), problem.precision(pairs), len(pairs), seconds,
             len(core), problem.precision(core)]
        )  # fmt: skip
    return {key: np.array(values) for key, values in rows.items()}


def report(name: str, found: Mapping[tuple[str, float], np.ndarray]) -> str:
    """One line a group and setting, then the mean over groups."""
    columns = "".join(f"{column:>7s}" for column in ("prec.", "pairs", "core", "prec.", "sec."))
    lines = [f"{name:12s} {'group':32s} {'setting':>7s} {'rate':>6s} ± error {columns}    n"]
    for (group, setting), rows in found.items():
        lines.append(f"{name:12s} {group:32s} {setting:7g} {_line(rows)}")
    for setting in dict.fromkeys(setting for _, setting in found):
        groups = [rows for (_, at), rows in found.items() if at == setting]
        if len(groups) > 1:
            means = np.mean([rows[:, 0].mean() for rows in groups])
            lines.append(f"{name:12s} {'mean over groups':32s} {setting:7g} {means:6.3f}")
    return "\n".join(lines)


def _line(rows: np.ndarray) -> str:
    with np.errstate(all="ignore"):
        mean = [np.mean(c[c == c]) if (c == c).any() else np.nan for c in rows.T]
    error = rows[:, 0].std() / np.sqrt(len(rows))
    return (f"{mean[0]:6.3f} ± {error:.3f}  {mean[1]:6.3f} {mean[2]:6.1f} {mean[4]:6.1f} {mean[5]:6.3f} "
            f"{mean[3]:7.3f} {len(rows):3d}")  # fmt: skip


def baseline(name: str) -> Callable:
    """A baseline on our candidates and affinity."""
    from hypermodes.experiments.matching.methods import MATCHERS, Given

    return lambda left, right: MATCHERS[name].run(Given.of(left, right))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", nargs="*", help=f"module:function, and some of {', '.join(SETS)}")
    parser.add_argument("--draws", type=int, default=50, help="problems a group and setting, at least")
    parser.add_argument("--settings", default="", help="only these, with commas between them: 0,20,inf")
    parser.add_argument("--baselines", default="", help="names, with commas between them")
    arguments = parser.parse_args()
    functions: dict[str, Callable] = {name: baseline(name) for name in arguments.baselines.split(",") if name}
    for name in [what for what in arguments.what if ":" in what] or (
        [] if functions else ["hypermodes:match"]
    ):
        module, _, attribute = name.partition(":")
        functions[attribute] = getattr(importlib.import_module(module), attribute)
    for chosen in [what for what in arguments.what if ":" not in what] or SETS:
        for name, function in functions.items():
            wanted = [float(setting) for setting in arguments.settings.split(",") if setting]
            problems = (p for p in SETS[chosen](arguments.draws) if not wanted or p.setting in wanted)
            print(report(name, evaluate(function, problems)), flush=True)


if __name__ == "__main__":
    main()
