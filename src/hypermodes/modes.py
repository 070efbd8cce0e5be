"""All the modes: every hyperedge a start, equal and flat modes taken for one; or the mode of one place."""

import os
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager, nullcontext
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from hypermodes.affinity import Affinity, HyperedgeAffinity, as_affinity
from hypermodes.batch import Budget, Points, Prepared, shift_all
from hypermodes.dynamics import Dynamics, InfectionImmunization
from hypermodes.executors import REMOTE_BLOCK, Block, Executor, block_size, executor_of
from hypermodes.gathering import Gathered, Gathering
from hypermodes.hypergraph import Hypergraph
from hypermodes.merging import as_table, distinct
from hypermodes.progress import Progress, tracker
from hypermodes.result import Mode, ModeSet, ModeTable, Status
from hypermodes.runs import KEPT, Run
from hypermodes.shift import check_rules, edge_positions, shift
from hypermodes.voting import Expansion, Voting, proportional


def find_modes(
    subject: Hypergraph | Affinity,
    *,
    starts: Iterable[Hashable] | Literal["peaks"] | None = None,
    dynamics: Dynamics = InfectionImmunization(),  # noqa: B008  (rules are immutable values)
    expansion: Expansion = Voting(),  # noqa: B008
    max_rounds: int = 100,
    n_jobs: int | None = -1,
    client: Any = None,
    results: str | os.PathLike[str] | None = None,
    resume: bool = False,
    progress: Progress = None,
) -> ModeSet:
    """Shift every hyperedge and collect the modes, ranked by density.

    Parameters
    ----------
    subject : Hypergraph or Affinity
        Where to look.
    starts : iterable of labels, "peaks", or None
        The hyperedges to shift; all of them if None. "peaks" are the hyperedges of locally largest total
        affinity (M·1): for those who want modes and not one answer a hyperedge.
    dynamics, expansion, max_rounds
        As in `shift`. With infection-immunization and voting (the default) compiled kernels do the work; any
        other rule runs in the readable layer, thousands of times slower.
    n_jobs : int
        Threads; -1 for all cores. The result does not depend on it.
    client : dask.distributed.Client, address of a scheduler, or "joblib", optional
        Shift on the workers of a Dask cluster, or by the backend of ``joblib.parallel_config``, instead of
        in threads. The result is the same to the last bit.
    results : path, optional
        A folder that keeps what is done as it is done: whatever ends the run, no finished block is lost. If
        the machine itself loses power, blocks of the last seconds may be; they are done again.
    resume : bool
        Go on with the run in ``results``, which must be of the same hypergraph, starts and settings; begin
        one if there is none.
    progress : True, or a function of (done, total), optional
        True shows a bar (needs tqdm); a function is called as starts are done.

    Returns
    -------
    ModeSet
        Two starts share a mode when their modes are equal, or joined by a flat segment.

    Notes
    -----
    A start costs what its support and the hyperedges around it have in incidences, some ten microseconds
    on neighbourhoods of points, whatever the size of the hypergraph. Where one vertex is in all n hyperedges,
    all are around each of them, and starts cost O(n) each, O(n²) together, unless hyperedges are twins:
    16,000 of different weights take minutes. Ctrl-C ends it within milliseconds.

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
    check_rules(dynamics, expansion, max_rounds)
    hypergraph = affinity.hypergraph if isinstance(affinity, HyperedgeAffinity) else None
    budget = _budget(dynamics, expansion, max_rounds)
    if isinstance(starts, str) and starts != "peaks":
        raise ValueError(f'starts: expected labels of hyperedges, "peaks" or None; got {starts!r}')
    if resume and results is None:
        raise ValueError("resume: expected results=, the folder of the run to go on with; got None")
    if budget is None and (client is not None or results is not None):
        raise ValueError("dynamics, expansion: with client or results, expected the defaults or their kind")
    with executor_of(client, n_jobs) as executor:
        if budget is None:
            every = _positions(subject, affinity, starts)
            return _one_by_one(affinity, every, dynamics, expansion, max_rounds, progress)
        prepared = Prepared.of(affinity)
        positions: np.ndarray | None = None
        rows, start_of = np.arange(prepared.n_rows), prepared.class_of  # twins share their mode
        if starts is not None:
            positions = _positions(subject, affinity, starts)
            rows, start_of = np.unique(prepared.class_of[positions], return_inverse=True)
        block = block_size(rows.size, REMOTE_BLOCK if results is not None else executor.block)
        with (
            tracker(progress, start_of.size, "shifting", executor.dashboard) as advance,
            nullcontext() if results is None else Run(results, prepared, rows, budget, block, resume) as run,
        ):
            gathered = _gathered(prepared, rows, budget, block, executor, run, advance)
            if rows.size < start_of.size:
                advance(start_of.size - rows.size)
    table, start_mode = distinct(prepared, gathered, budget, n_jobs)
    del gathered
    edge_mode = start_mode[start_of]
    if positions is not None:
        edge_mode = np.full(affinity.n, -1, dtype=np.int64)
        edge_mode[positions] = start_mode[start_of]
    edge_mode.flags.writeable = False
    return ModeSet(table, edge_mode, hypergraph)


def _one_by_one(
    affinity: Affinity,
    starts: np.ndarray,
    dynamics: Dynamics,
    expansion: Expansion,
    max_rounds: int,
    progress: Progress,
) -> ModeSet:
    """Shift every start in the readable layer, by any rules."""
    found: list[Mode] = []
    with tracker(progress, len(starts), "shifting") as advance:
        for start in starts.tolist():
            found.append(
                shift(affinity, start, dynamics=dynamics, expansion=expansion, max_rounds=max_rounds)
            )
            advance(1)
    return collect(affinity, starts, found, tol=dynamics.tol)


def _gathered(
    prepared: Prepared,
    rows: np.ndarray,
    budget: Budget,
    size: int,
    executor: Executor,
    run: Run | None,
    advance: Callable[[int], object],
) -> Gathered:
    """Have all blocks shifted that are not kept already, and gather where their starts ended."""
    gathering = Gathering(rows.size)

    def taken(k: int, block: Gathered) -> None:
        gathering.add(k * size, block)
        advance(block.which.size)

    missing = []
    for k in range(-(-rows.size // size)):
        kept = None if run is None else run.load(k)
        if kept is None:
            missing.append(k)
        else:
            taken(k, kept)
    blocks: Iterator[Block] = ((k, rows[k * size : (k + 1) * size]) for k in missing)
    with _what_is_kept(run), closing(executor.shifted(prepared, blocks, budget)) as shifted:
        for k, block in shifted:
            if run is not None:
                run.save(k, block)
            taken(k, block)
    return gathering.result()


@contextmanager
def _what_is_kept(run: Run | None) -> Iterator[None]:
    """When a cluster is gone, say how to go on without it."""
    try:
        yield
    except ConnectionError as error:
        if run is None:
            raise
        raise type(error)(f"{error}{KEPT}") from None


class Seeker:
    """Answers "which mode is around this hyperedge, or this vertex?" by looking at its neighbourhood only.

    Made once for a hypergraph or affinity, in time proportional to its size; each question then takes a
    fraction of a millisecond, however large the rest is.

    Examples
    --------
    >>> H = Hypergraph.from_edges({"a": [1, 2, 3], "b": [2, 3, 4], "c": [1, 3, 4], "d": [5, 6], "e": [6, 7]})
    >>> seeker = Seeker(H)
    >>> seeker.around("a").support
    array([0, 1, 2])
    >>> seeker.around_vertex(7).support
    array([3, 4])
    """

    def __init__(self, subject: Hypergraph | Affinity, *, expansion: Voting = Voting(), tol: float = 1e-9):  # noqa: B008
        self.subject = subject
        self._affinity = as_affinity(subject)
        budget = _budget(InfectionImmunization(tol=tol), expansion, max_rounds=100)
        if budget is None:
            raise ValueError(f"expansion: expected Voting(...) with its default retreat; got {expansion!r}")
        self._budget = budget
        self._prepared = Prepared.of(self._affinity)

    def around(self, label: Hashable) -> Mode | None:
        """The mode the hyperedge with this label shifts to; None if it touches no other."""
        return self._shifted(edge_positions(self.subject, (label,), "label"))

    def around_vertex(self, label: Hashable) -> Mode | None:
        """The mode that the hyperedges of a vertex, taken together, shift to; None if there is none.

        Of more hyperedges than are admitted at once, those of the highest rate w(e)/δ(e) are taken.
        """
        if not isinstance(self._affinity, HyperedgeAffinity):
            raise ValueError("label: a matrix has no vertices; use around()")
        hypergraph = self._affinity.hypergraph
        by_vertex, v = hypergraph.incidence_by_vertex, hypergraph.vertex_index(label)
        edges = by_vertex.indices[by_vertex.indptr[v] : by_vertex.indptr[v + 1]]
        most = min(self._budget.admit, self._budget.max_support)
        strongest = np.argsort(-self._affinity.rate[edges], kind="stable")[:most]
        return self._shifted(edges[strongest])

    def _shifted(self, edges: np.ndarray) -> Mode | None:
        rows = np.unique(self._prepared.class_of[edges])
        if rows.size == 0:
            return None
        start = Points(np.array([0, rows.size]), rows, np.full(rows.size, 1 / rows.size))
        mode = as_table(self._prepared, shift_all(self._prepared, start, self._budget), self._budget).mode(0)
        return None if mode.status is Status.ISOLATED else mode


def peaks(affinity: Affinity) -> np.ndarray:
    """Hyperedges whose total affinity (M·1) no neighbour exceeds; of equal ones, the first.

    Notes
    -----
    For a hypergraph O(incidences): a hyperedge is a peak if it is the best at each of its vertices.
    """
    total = affinity.matvec(np.ones(affinity.n))
    total = np.round(total / total.max(initial=1e-300), 12)  # equal but for rounding is equal
    order = np.lexsort((np.arange(affinity.n), -total))
    place = np.empty(affinity.n, dtype=np.int64)
    place[order] = np.arange(affinity.n)
    if isinstance(affinity, HyperedgeAffinity):
        by_vertex, by_edge = affinity.hypergraph.incidence_by_vertex, affinity.hypergraph.incidence
        used = np.flatnonzero(np.diff(by_vertex.indptr))
        best = np.zeros(by_vertex.shape[0], dtype=np.int64)
        best[used] = np.minimum.reduceat(place[by_vertex.indices], by_vertex.indptr[used])
        best_near = np.minimum.reduceat(best[by_edge.indices], by_edge.indptr[:-1])
        return np.flatnonzero(best_near == place)
    matrix = affinity.matrix()
    near = np.flatnonzero(np.diff(matrix.indptr))
    best_near = np.full(affinity.n, affinity.n)
    best_near[near] = np.minimum.reduceat(place[matrix.indices], matrix.indptr[near])
    return np.flatnonzero(place < best_near)


def _positions(
    subject: Hypergraph | Affinity, affinity: Affinity, starts: Iterable[Hashable] | str | None
) -> np.ndarray:
    if starts is None:
        return np.arange(affinity.n)
    if isinstance(starts, str):
        return peaks(affinity)
    return edge_positions(subject, starts, "starts")


def _budget(dynamics: Dynamics, expansion: Expansion, max_rounds: int) -> Budget | None:
    """What the kernels need to know, or None if the rules are not theirs."""
    if not (isinstance(dynamics, InfectionImmunization) and isinstance(expansion, Voting)):
        return None
    if expansion.retreat is not proportional:
        return None
    return Budget(
        float(dynamics.tol),
        int(max_rounds),
        int(dynamics.max_steps),
        int(dynamics.warm_up),
        int(expansion.admit or expansion.max_support),
        int(expansion.max_support),
    )


def collect(affinity: Affinity, starts: np.ndarray, found: Sequence[Mode], tol: float) -> ModeSet:
    """Merge what the starts found into distinct modes, densest first.

    Isolated starts have no mode. A class of merged modes is represented by a certified one, of these by
    the widest, then the densest, then the one found first.
    """
    kept = [k for k, mode in enumerate(found) if mode.status is not Status.ISOLATED]
    groups: dict[int, list[int]] = defaultdict(list)
    for k, group in zip(kept, _merge(affinity, [found[k] for k in kept], tol), strict=True):
        groups[group].append(k)

    def rank(k: int) -> tuple[bool, int, float, int]:
        return found[k].status is Status.CERTIFIED, len(found[k]), found[k].density, -k

    merged = [(max(group, key=rank), group) for group in groups.values()]
    merged.sort(key=lambda pair: (-found[pair[0]].density, pair[0]))
    edge_mode = np.full(affinity.n, -1, dtype=np.int64)
    for position, (_, members) in enumerate(merged):
        edge_mode[starts[members]] = position
    edge_mode.flags.writeable = False
    hypergraph = affinity.hypergraph if isinstance(affinity, HyperedgeAffinity) else None
    return ModeSet(ModeTable.of(found[widest] for widest, _ in merged), edge_mode, hypergraph)


def _merge(affinity: Affinity, modes: Sequence[Mode], tol: float) -> list[int]:
    """Class of each mode: A and B are one when F_A = F_B = m(p_A, p_B) (departures.md#flat).

    Modes with the same support always are. For the others: at a mode no payoff exceeds F, so
    m(p_A, p_B) = F only if every hyperedge of B has payoff F at A. It is therefore enough to look, from
    each distinct mode, at those whose heaviest hyperedge has payoff F there.
    """
    by_support: dict[bytes, int] = {}
    distinct_ones = [by_support.setdefault(mode.support.tobytes(), k) for k, mode in enumerate(modes)]
    certified = [k for k in by_support.values() if modes[k].status is Status.CERTIFIED]
    anchored: dict[int, list[int]] = defaultdict(list)
    for k in certified:
        anchored[int(modes[k].support[np.argmax(modes[k].weights)])].append(k)
    pairs = list(enumerate(distinct_ones))
    slack = 10 * tol
    for k in certified:
        value = modes[k].density
        payoff = affinity.matvec(modes[k].distribution(affinity.n))
        for edge in np.flatnonzero(payoff >= value * (1 - slack)):
            for other in anchored.get(int(edge), ()):
                joint = float(payoff[modes[other].support] @ modes[other].weights)
                if abs(modes[other].density - value) <= slack * value and joint >= value * (1 - slack):
                    pairs.append((k, other))
    rows, columns = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
    joined = sp.coo_array((np.ones(rows.size), (rows, columns)), shape=(len(modes), len(modes)))
    return connected_components(joined, directed=False)[1].tolist()
