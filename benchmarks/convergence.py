"""Rounds and steps to the certificate on five crescents of 100 to 1200 points, from evenly spaced starts.

The paper says "on average 10 iterations" (Fig. 6 b) and does not say what an iteration is: a round
(climb, test, expand) or a step of Eq. (8). Both are counted, for the paper's replicator dynamics and
for infection-immunization, once as the paper has it (the dynamics alone) and once with the exact
solve of the face at the end of a climb.
"""

import argparse
import time
from collections import Counter

import numpy as np

from hypermodes import InfectionImmunization, Replicator, Voting, knn_hypergraph, shift
from hypermodes.datasets import five_crescents
from hypermodes.voting import sparing_seeds

RULES = {
    "replicator alone": (Replicator(max_steps=100_000), False),
    "replicator, settled": (Replicator(), True),
    "infection alone": (InfectionImmunization(), False),
    "infection, settled": (InfectionImmunization(), True),
    "the same, no warm-up": (InfectionImmunization(warm_up=0), True),
    "the same, sparing seeds": (InfectionImmunization(), True),
}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sizes", type=int, nargs="+", default=[100, 200, 300, 600, 900, 1200])
    parser.add_argument("--starts", type=int, default=100, help="starts a size, evenly spaced")
    parser.add_argument("--outliers", type=float, default=0.2)
    arguments = parser.parse_args()
    print("| points | rule | mean rounds | most | mean steps | median | certified | mean F | ms a start |")
    print("|---|---|---|---|---|---|---|---|---|")
    for n in arguments.sizes:
        data = five_crescents(n, outliers=arguments.outliers, noise=2.0, rng=0)
        hypergraph = knn_hypergraph(data.points)
        starts = np.linspace(0, hypergraph.n_edges - 1, min(arguments.starts, hypergraph.n_edges)).astype(int)
        for name, (rule, settle) in RULES.items():
            begin = time.perf_counter()
            voting = Voting(retreat=sparing_seeds) if "sparing" in name else Voting()
            modes = [
                shift(hypergraph, start, dynamics=rule, settle=settle, expansion=voting)
                for start in starts.tolist()
            ]
            each = (time.perf_counter() - begin) / len(modes) * 1e3
            rounds, steps = ([getattr(mode, what) for mode in modes] for what in ("rounds", "steps"))
            status = Counter(mode.status.name for mode in modes)
            print(
                f"| {n} | {name} | {np.mean(rounds):.1f} | {max(rounds)} | {np.mean(steps):.0f} | "
                f"{np.median(steps):.0f} | {status['CERTIFIED']} of {len(modes)} | "
                f"{np.mean([mode.density for mode in modes]):.4f} | {each:.1f} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
