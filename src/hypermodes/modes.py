"""All the modes: shift many starts, and take equal and flat modes for one."""

from collections import defaultdict
from collections.abc import Hashable, Iterable, Sequence

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from hypermodes.affinity import Affinity, as_affinity
from hypermodes.dynamics import Dynamics, InfectionImmunization
from hypermodes.hypergraph import Hypergraph
from hypermodes.progress import Progress, tracker
from hypermodes.result import Mode, ModeSet, Status
from hypermodes.shift import edge_positions, shift
from hypermodes.voting import Expansion, Voting


def find_modes(
    subject: Hypergraph | Affinity,
    *,
    starts: Iterable[Hashable] | None = None,
    dynamics: Dynamics = InfectionImmunization(),  # noqa: B008  (rules are immutable values)
    expansion: Expansion = Voting(),  # noqa: B008
    max_rounds: int = 100,
    progress: Progress = None,
) -> ModeSet:
    """Shift every hyperedge and collect the modes, ranked by density.

    Parameters
    ----------
    subject : Hypergraph or Affinity
        Where to look.
    starts : iterable of labels, optional
        The hyperedges to shift; all of them if not given.
    dynamics, expansion, max_rounds
        As in `shift`.
    progress : True, or a function of (done, total), optional
        True shows a bar (needs tqdm); a function is called after every start.

    Returns
    -------
    ModeSet
        Two starts share a mode when their modes are equal, or joined by a flat segment.

    Examples
    --------
    >>> H = Hypergraph.from_edges([[1, 2, 3], [2, 3, 4], [1, 3, 4], [5, 6], [6, 7], [8]])
    >>> modes = find_modes(H)
    >>> modes
    ModeSet(2 modes of 5 of 6 hyperedges, densities 0.8889 to 0.5)
    >>> modes.edge_mode
    array([ 0,  0,  0,  1,  1, -1])
    """
    affinity = as_affinity(subject)
    positions = np.arange(affinity.n) if starts is None else edge_positions(subject, starts, "starts")
    found: list[Mode] = []
    with tracker(progress, len(positions), "shifting") as advance:
        for position in positions:
            found.append(
                shift(affinity, int(position), dynamics=dynamics, expansion=expansion, max_rounds=max_rounds)
            )
            advance(1)
    return collect(affinity, positions, found, tol=dynamics.tol)


def collect(affinity: Affinity, starts: np.ndarray, found: Sequence[Mode], tol: float) -> ModeSet:
    """Merge what the starts found into distinct modes, densest first.

    Isolated starts have no mode. A class of merged modes is represented by its widest member, then
    its densest, then the one found first.
    """
    kept = [k for k, mode in enumerate(found) if mode.status is not Status.ISOLATED]
    groups: dict[int, list[int]] = defaultdict(list)
    for k, group in zip(kept, _merge(affinity, [found[k] for k in kept], tol), strict=True):
        groups[group].append(k)
    merged = [
        (max(group, key=lambda k: (len(found[k]), found[k].density, -k)), group) for group in groups.values()
    ]
    merged.sort(key=lambda pair: (-found[pair[0]].density, pair[0]))
    edge_mode = np.full(affinity.n, -1, dtype=np.int64)
    for rank, (_, members) in enumerate(merged):
        edge_mode[starts[members]] = rank
    edge_mode.flags.writeable = False
    return ModeSet(tuple(found[widest] for widest, _ in merged), edge_mode)


def _merge(affinity: Affinity, modes: Sequence[Mode], tol: float) -> list[int]:
    """Class of each mode: A and B are one when F_A = F_B = m(p_A, p_B) (departures.md#flat).

    Modes with the same support always are. For the others: at a mode no payoff exceeds F, so
    m(p_A, p_B) = F only if every hyperedge of B has payoff F at A. It is therefore enough to look, from
    each distinct mode, at those whose first hyperedge has payoff F there.
    """
    by_support: dict[bytes, int] = {}
    distinct = [by_support.setdefault(mode.support.tobytes(), k) for k, mode in enumerate(modes)]
    certified = [k for k in by_support.values() if modes[k].status is Status.CERTIFIED]
    first_edge: dict[int, list[int]] = defaultdict(list)
    for k in certified:
        first_edge[int(modes[k].support[0])].append(k)
    pairs = list(enumerate(distinct))
    slack = 10 * tol
    for k in certified:
        value = modes[k].density
        payoff = affinity.matvec(modes[k].distribution(affinity.n))
        for edge in np.flatnonzero(payoff >= value * (1 - slack)):
            for other in first_edge.get(int(edge), ()):
                joint = float(payoff[modes[other].support] @ modes[other].weights)
                if abs(modes[other].density - value) <= slack * value and joint >= value * (1 - slack):
                    pairs.append((k, other))
    rows, columns = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
    joined = sp.coo_array((np.ones(rows.size), (rows, columns)), shape=(len(modes), len(modes)))
    return connected_components(joined, directed=False)[1].tolist()
