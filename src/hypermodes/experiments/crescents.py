"""The settings of Figure 5, and what one answer is worth: agreement with the crescents points came from."""

from typing import NamedTuple

import numpy as np
from sklearn.metrics import normalized_mutual_info_score

from hypermodes.experiments.running import Outcome, Setting

PANELS = {
    "n": [Setting(n) for n in (1200, 900, 600, 300, 200, 100)],
    "outliers": [Setting(600, outliers=ratio / 10) for ratio in range(6)],
    "noise": [Setting(600, noise=noise) for noise in (0.0, 2.5, 5.0, 7.5, 10.0)],
}
"""What is varied, and the settings on its axis."""

QUICK = {
    "n": [Setting(120), Setting(60)],
    "outliers": [Setting(120), Setting(120, outliers=0.5)],
    "noise": [Setting(120), Setting(120, noise=10.0)],
}
"""The same, small."""


class Run(NamedTuple):
    """One method on one set of points: a line of ``runs.csv``."""

    method: str
    n: int
    outliers: float
    noise: float
    seed: int
    nmi_inliers: float
    nmi_all: float
    clusters: float
    seconds: float
    note: str

    @property
    def setting(self) -> Setting:
        """Where it was run."""
        return Setting(self.n, self.outliers, self.noise)


def scored(outcome: Outcome[np.ndarray]) -> Run:
    """Compare labels with the crescents, twice: without the outliers, and with them as one more class.

    The measure is normalised mutual information, 2 I(X;Y) / (H(X) + H(Y)). Points that a method calls
    outliers are one more cluster of its answer either way.
    """
    name, setting, seed, truth, found, seconds, note = outcome
    if found is None:
        return Run(name, *setting, seed, np.nan, np.nan, np.nan, np.nan, note)
    inside = truth >= 0
    inliers = float(normalized_mutual_info_score(truth[inside], found[inside]))
    everyone = float(normalized_mutual_info_score(truth, found))
    return Run(name, *setting, seed, inliers, everyone, int(found.max()) + 1, seconds, note)
