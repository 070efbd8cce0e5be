"""CMU house: 30 landmarks in each of 111 frames of a film, matched between frames ever further apart."""

from collections.abc import Iterator, Sequence

import numpy as np

from hypermodes.construct.correspondences import Features
from hypermodes.experiments.matching.comparison import Study
from hypermodes.experiments.matching.experiment import Experiment, Part
from hypermodes.experiments.matching.problems import Problem, data_folder, shuffled

FOLDER = "cmu_house_hotel"
SEPARATIONS = tuple(range(10, 101, 10))
N_LEFT = (30, 20)


def problems(
    separations: Sequence[int] = SEPARATIONS, draws: int = 50, n_left: Sequence[int] = N_LEFT
) -> Iterator[Problem]:
    """Pairs of frames so far apart, evenly over the film; of the first frame, some landmarks only."""
    with np.load(data_folder(FOLDER) / "landmarks.npz", allow_pickle=False) as arrays:
        frames = arrays["house"].astype(float)
    for kept in n_left:
        for apart in separations:
            first = np.linspace(0, len(frames) - 1 - apart, draws).astype(int)
            for draw, frame in enumerate(first):
                rng = np.random.default_rng([draw, apart, kept])
                order = rng.permutation(frames.shape[1])
                left, right = frames[frame][order[:kept]], frames[frame + apart][order]
                name = f"house {frame} and {frame + apart}"
                group = f"{kept} against {frames.shape[1]} landmarks"
                yield shuffled(rng, group, name, apart, draw, Features(left), Features(right), kept)


run = Experiment(
    Part(
        Study(
            "house",
            "CMU house",
            "frames apart",
            "30 landmarks a frame, all pairs as candidates, coordinates only; of the first frame all "
            "landmarks, or 20 drawn at random.",
        ),
        lambda quick, draws: problems((20, 90) if quick else SEPARATIONS, draws),
    )
)
"""The house against frames apart."""
