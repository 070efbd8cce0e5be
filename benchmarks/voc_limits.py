"""How much the places of VOC keypoints can say at all: oracles, and a classifier that learns from others.

    python benchmarks/voc_limits.py              # some ten minutes; needs HYPERMODES_DATA
    python benchmarks/voc_limits.py --draws 10 --learn 100

Rates are true pairs found / true pairs, means over the five groups of Table 1, without outliers and with five
a side. An oracle is told the map that the true pairs make, and assigns points by their distance under it. The
classifier sees every candidate of thousands of other pairs of objects, its votes by placements, places and
ranks, and the most probable one-to-one choice by it is taken: a supervised method, which no matcher of two
point sets can use, to see what is there to be had.
"""

import argparse
from collections.abc import Iterable

import numpy as np
from scipy.optimize import linear_sum_assignment
from scipy.spatial.distance import cdist
from sklearn.ensemble import HistGradientBoostingClassifier

import hypermodes as hm
from hypermodes.construct.correspondences import candidate_pairs
from hypermodes.construct.placements import placement_hypergraph
from hypermodes.experiments.matching import voc
from hypermodes.experiments.matching.problems import Problem

WIDTH = 0.3  # mean lengths: beyond that a distance under a map says nothing any more


def in_mean_lengths(points: np.ndarray) -> np.ndarray:
    """Centred, the mean length 1."""
    points = points - points.mean(axis=0)
    return points / cdist(points, points).mean()


def assigned(problem: Problem, scores: np.ndarray) -> float:
    """Rate of the one-to-one choice with the largest total score."""
    return problem.rate(np.column_stack(linear_sum_assignment(scores, maximize=True)))


def by_distance(problem: Problem, moved: np.ndarray, right: np.ndarray) -> float:
    """Rate of the choice by distances, once the left side is moved."""
    return assigned(problem, np.exp(-(cdist(moved, right) ** 2) / (2 * WIDTH**2)))


def oracles(problem: Problem) -> dict[str, float]:
    """Rates with nothing known, and with the map that the true pairs make."""
    left, right = (in_mean_lengths(side.points) for side in (problem.left, problem.right))
    here, there = left[problem.truth[:, 0]], right[problem.truth[:, 1]]
    from_middle, to_middle = here - here.mean(axis=0), there - there.mean(axis=0)
    scale = (from_middle * to_middle).sum() / (from_middle**2).sum()
    affine = np.linalg.lstsq(np.column_stack((here, np.ones(len(here)))), there, rcond=None)[0]
    return {
        "middles and sizes on each other": by_distance(problem, left, right),
        "told the true shift and scale": by_distance(
            problem, (left - here.mean(axis=0)) * scale + there.mean(axis=0), right
        ),
        "told the true affine map": by_distance(
            problem, np.column_stack((left, np.ones(len(left)))) @ affine, right
        ),
    }


def described(problem: Problem) -> np.ndarray:
    """What a classifier is told of every candidate, (n, m, features)."""
    left, right = (in_mean_lengths(side.points) for side in (problem.left, problem.right))
    sides = hm.Features(left), hm.Features(right)
    shape = len(left), len(right)
    candidates = candidate_pairs(*sides)
    columns = []
    for error in (0.2, 0.25, 0.35):
        hypergraph, mirrored = placement_hypergraph(*sides, candidates, error)
        rate = hypergraph.weights / hypergraph.edge_degrees
        for kept in (np.ones_like(mirrored), ~mirrored, mirrored):
            votes = (hypergraph.incidence @ (rate * kept) / max((rate * kept).sum(), 1e-300)).reshape(shape)
            columns += [
                votes,
                votes - np.sort(votes, axis=1)[:, -2:-1],
                votes - np.sort(votes, axis=0)[-2:-1],
            ]
    ranks = [side.argsort(axis=0).argsort(axis=0) / len(side) for side in (left, right)]
    for k in (0, 1):
        here, there = np.broadcast_arrays(left[:, k, None], right[None, :, k])
        columns += [here, there, here - there, here + there, ranks[0][:, k, None] - ranks[1][None, :, k]]
    for side, axis in ((left, 1), (right, 0)):
        for distance in np.sort(cdist(side, side), axis=1)[:, 1:4].T:
            columns.append(np.broadcast_to(np.expand_dims(distance, axis), shape))
    return np.stack(columns, axis=-1)


def learned(problems: Iterable[Problem], draws: int) -> list[float]:
    """Learn from the problems beyond the first draws; rates on those first ones."""
    rows, truths, kept = [], [], []
    for problem in problems:
        if problem.draw < draws:
            kept.append(problem)
            continue
        table = described(problem)
        truth = np.zeros(table.shape[:2], dtype=bool)
        truth[tuple(problem.truth.T)] = True
        rows.append(table.reshape(-1, table.shape[-1]))
        truths.append(truth.ravel())
    model = HistGradientBoostingClassifier(max_iter=300, learning_rate=0.05, random_state=0)
    model.fit(np.concatenate(rows), np.concatenate(truths))
    rates = []
    for problem in kept:
        table = described(problem)
        probability = model.predict_proba(table.reshape(-1, table.shape[-1]))[:, 1]
        rates.append(assigned(problem, probability.reshape(table.shape[:2])))
    return rates


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--draws", type=int, default=50, help="pairs of objects a group")
    parser.add_argument("--learn", type=int, default=600, help="further pairs a group to learn from")
    arguments = parser.parse_args()
    print("| VOC keypoints, geometry only | outliers a side | rate ± standard error |\n|---|---|---|")
    for outliers in voc.OUTLIERS:
        problems = list(voc.geometry_only((outliers,), arguments.draws))
        found = [oracles(problem) for problem in problems]
        rates = {name: [one[name] for one in found] for name in found[0]}
        rates["hypermodes.match, all points"] = [
            problem.rate(hm.match(problem.left, problem.right, n_matches=len(problem.left)).pairs)
            for problem in problems
        ]
        every = voc.geometry_only((outliers,), arguments.draws + arguments.learn)
        name = f"gradient boosting, learned from {arguments.learn * len(voc.GROUPS):,} other pairs"
        rates[name] = learned(every, arguments.draws)
        for what, values in rates.items():
            error = np.std(values) / np.sqrt(len(values))
            print(f"| {what} | {outliers} | {np.mean(values):.3f} ± {error:.3f} |", flush=True)


if __name__ == "__main__":
    main()
