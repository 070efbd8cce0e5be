"""The fast layer against the paper layer: the same modes and certificates, whatever threads and stress."""

import gzip

import numpy as np
import pytest
import scipy.sparse as sp

import hypermodes as hm
from hypermodes import batch
from hypermodes.certificate import certify
from hypermodes.modes import peaks
from hypermodes.simplex import Point

TOL = 1e-9  # the tolerance certificates are promised at, relative to the density


def knn(n, k, seed=0):
    return hm.knn_hypergraph(np.random.default_rng(seed).normal(size=(n, 2)), k)


def tied(seed, n=60, n_vertices=25):
    """Unit weights and integer overlaps: ties everywhere."""
    rng = np.random.default_rng(seed)
    return hm.Hypergraph.from_edges(
        [rng.choice(n_vertices, size=rng.integers(2, 5), replace=False).tolist() for _ in range(n)]
    )


def assert_certified(hypergraph, modes, most=60):
    """Recompute certificates from scratch with the paper layer."""
    affinity = hm.HyperedgeAffinity(hypergraph)
    for k in np.unique(np.linspace(0, len(modes) - 1, min(most, len(modes))).astype(int)).tolist():
        mode = modes[k]
        assert mode.status is hm.Status.CERTIFIED
        assert mode.certificate.holds(TOL)
        p = mode.distribution(affinity.n)
        assert p.min() >= 0
        # A sum of m shares, each rounded once.
        assert abs(p.sum() - 1) <= 4 * np.finfo(float).eps * len(mode)
        again = certify(affinity, Point(p, affinity.matvec(p)), TOL)
        assert again.holds(TOL)
        assert again.density == pytest.approx(mode.density, rel=1e-12)
        # Eigenvalues are found to rounding times the norm of the face, at most 4 F |S|.
        assert again.curvature == pytest.approx(
            mode.certificate.curvature, abs=1e-12 * mode.density * len(mode)
        )
        assert again.is_strict() == mode.certificate.is_strict()


def start_densities(modes):
    return np.where(modes.edge_mode >= 0, np.append(modes.densities, 0.0)[modes.edge_mode], 0.0)


def test_every_start_ends_where_the_paper_layer_ends_it_when_admission_is_not_capped():
    hypergraph = knn(250, 8)
    voting = hm.Voting(admit=hypergraph.n_edges)
    modes = hm.find_modes(hypergraph, expansion=voting)
    for start in range(0, hypergraph.n_edges, 5):
        ours, theirs = modes.mode_of(start), hm.shift(hypergraph, start, expansion=voting)
        np.testing.assert_array_equal(ours.support, theirs.support)
        np.testing.assert_allclose(ours.weights, theirs.weights, rtol=0, atol=1e-9)


@pytest.mark.parametrize(
    "hypergraph", [knn(400, 12), tied(1), tied(2, 200, 40)], ids=["knn", "tied", "more tied"]
)
def test_certificates_hold_when_the_paper_layer_recomputes_them(hypergraph):
    assert_certified(hypergraph, hm.find_modes(hypergraph))


def test_mean_density_is_no_lower_than_with_the_papers_own_dynamics():
    hypergraph = knn(200, 10, seed=3)
    fast = start_densities(hm.find_modes(hypergraph))
    slow = [hm.shift(hypergraph, i, dynamics=hm.Replicator()).density for i in range(hypergraph.n_edges)]
    # Several modes are within reach of a start and the two may choose differently; on the whole, no worse.
    assert fast.mean() >= 0.99 * np.mean(slow)


@pytest.mark.parametrize("make", [lambda: knn(3000, 6), lambda: tied(5, 3000, 600)], ids=["knn", "tied"])
def test_threads_and_blocks_change_nothing(make, monkeypatch):
    hypergraph = make()
    results = []
    for n_jobs, block in ((1, 2048), (2, 100), (4, 7)):
        monkeypatch.setattr(batch, "BLOCK", block)
        results.append(hm.find_modes(hypergraph, n_jobs=n_jobs))
    for other in results[1:]:
        np.testing.assert_array_equal(other.edge_mode, results[0].edge_mode)
        for name, column in vars(results[0].table).items():
            np.testing.assert_array_equal(getattr(other.table, name), column, err_msg=name)


def test_a_matrix_has_the_modes_of_the_hypergraph_it_came_from():
    hypergraph = knn(150, 6, seed=4)
    matrix = hm.HyperedgeAffinity(hypergraph).matrix()
    ours = hm.find_modes(hypergraph)
    for values in (matrix, matrix.toarray(), sp.csc_array(matrix)):
        theirs = hm.find_modes(hm.MatrixAffinity(values))
        np.testing.assert_array_equal(theirs.edge_mode, ours.edge_mode)
        np.testing.assert_array_equal(theirs.table.support, ours.table.support)
        np.testing.assert_allclose(theirs.densities, ours.densities, rtol=1e-12)
        np.testing.assert_allclose(theirs.table.curvature, ours.table.curvature, rtol=1e-9)


# -- stress ------------------------------------------------------------------------------------------

RNG = np.random.default_rng(7)
FEW = [RNG.choice(40, size=RNG.integers(2, 5), replace=False).tolist() for _ in range(60)]
STRESS = {
    "duplicates by the thousand": FEW + [FEW[0]] * 2000 + [FEW[1]] * 500,
    "hyperedges of one vertex": [[int(v)] for v in RNG.integers(0, 30, size=500)]
    + [[1000 + i] for i in range(20)],
    "one vertex in every hyperedge, else disjoint": [[0, i] for i in range(1, 1500)],
    "one vertex in every hyperedge": [
        [0, *(1 + RNG.choice(200, size=3, replace=False)).tolist()] for _ in range(300)
    ],
    "two giant hyperedges": [
        list(range(3000)),
        list(range(1500, 4500)),
        *(RNG.integers(0, 4500, (300, 4)).tolist()),
    ],
    "all pairs": [[i, j] for i in range(20) for j in range(i)],
    "a long strip": [[i, i + 1, i + 30, i + 31] for i in range(300)],
}


@pytest.mark.parametrize("name", STRESS)
def test_stress_ends_in_certified_modes(name):
    hypergraph = hm.Hypergraph.from_edges(STRESS[name])
    modes = hm.find_modes(hypergraph)
    assert_certified(hypergraph, modes, most=10)
    isolated = hm.HyperedgeAffinity(hypergraph).matvec(np.ones(hypergraph.n_edges)) == 0
    np.testing.assert_array_equal(modes.edge_mode < 0, isolated)


def test_weights_over_twelve_orders_of_magnitude():
    rng = np.random.default_rng(0)
    edges = rng.integers(0, 300, size=(1000, 4))
    hypergraph = hm.Hypergraph.from_edges(edges, weights=10.0 ** rng.uniform(-6, 6, 1000))
    assert_certified(hypergraph, hm.find_modes(hypergraph))


def over_many_orders(seed, orders):
    """A small hypergraph whose weights differ by up to so many orders of magnitude."""
    rng = np.random.default_rng(seed)
    n_edges, n_vertices = int(rng.integers(5, 14)), int(rng.integers(4, 9))
    edges = [
        rng.choice(n_vertices, size=int(rng.integers(1, min(n_vertices, 5) + 1)), replace=False).tolist()
        for _ in range(n_edges)
    ]
    return hm.Hypergraph.from_edges(edges, weights=10.0 ** rng.uniform(-orders / 2, orders / 2, n_edges))


# In the first three a point that holds moves by rounding as long as there are rounds; in the fourth a member
# has a share of 1e-10, and a hyperedge outside a payoff as much above F as the tolerance allows.
@pytest.mark.parametrize("seed", [240, 261, 411, 732, *range(20)])
def test_over_sixteen_orders_of_magnitude_the_two_layers_give_one_verdict(seed):
    hypergraph = over_many_orders(seed, 16)
    for mode in hm.find_modes(hypergraph):
        assert mode.status is hm.Status.CERTIFIED
        assert mode.certificate.holds()
        assert certify(hypergraph, mode).holds()


def test_twins_share_their_mode_equally():
    hypergraph = hm.Hypergraph.from_edges([[1, 2, 3]] * 5 + [[2, 3, 4]])
    modes = hm.find_modes(hypergraph)
    first = modes.mode_of(0)
    assert len({modes.edge_mode[i] for i in range(5)}) == 1
    twins = first.weights[np.isin(first.support, range(5))]
    assert twins.size == 5
    assert np.ptp(twins) == 0


def test_private_vertices_do_not_keep_twins_apart():
    """0 and 1 share vertex "a" and have one vertex each that nobody else has: nothing tells them apart."""
    hypergraph = hm.Hypergraph.from_edges([["a", "x"], ["a", "y"], ["b"]])
    assert batch.Prepared.of(hm.HyperedgeAffinity(hypergraph)).n_rows == 2
    heavier = hm.Hypergraph.from_edges([["a", "x"], ["a", "y"], ["b"]], weights=[1, 2, 1])
    assert batch.Prepared.of(hm.HyperedgeAffinity(heavier)).n_rows == 3


# -- budgets, interruption, starts ---------------------------------------------------------------------


def test_a_start_that_runs_out_of_rounds_says_so_and_is_counted():
    modes = hm.find_modes(knn(100, 6), max_rounds=1)
    assert modes.status_counts == {hm.Status.MAX_ROUNDS: len(modes)}
    assert "MAX_ROUNDS" in repr(modes)


def test_a_support_that_outgrows_its_face_says_so(monkeypatch):
    hypergraph = hm.Hypergraph.from_edges(STRESS["all pairs"])
    budget = batch.Budget(max_support=5)
    prepared = batch.Prepared.of(hm.HyperedgeAffinity(hypergraph))
    found = batch.shift_all(prepared, batch.single_starts(np.arange(3)), budget)
    from hypermodes.merging import as_table

    table = as_table(prepared, found, budget)
    assert set(table.status.tolist()) == {"MAX_SUPPORT"}
    assert np.diff(table.ptr).max() <= 5
    assert (table.excess > 0).all()


def test_an_interruption_comes_through_and_the_next_call_works():
    hypergraph = knn(5000, 5)

    def interrupt(done, total):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        hm.find_modes(hypergraph, progress=interrupt)
    assert len(hm.find_modes(hypergraph)) > 0


def test_progress_reaches_the_number_of_starts():
    seen = []
    hm.find_modes(knn(5000, 5), progress=lambda done, total: seen.append((done, total)))
    assert seen[-1] == (5000, 5000)
    assert [done for done, _ in seen] == sorted(done for done, _ in seen)


@pytest.mark.parametrize("n_jobs", [0, -100])
def test_numbers_of_threads(n_jobs):
    if n_jobs == 0:
        with pytest.raises(ValueError, match="n_jobs: expected a number of threads"):
            hm.find_modes(knn(100, 5), n_jobs=0)
    else:
        assert len(hm.find_modes(knn(100, 5), n_jobs=n_jobs)) > 0


def test_some_starts_are_as_in_the_whole():
    hypergraph = knn(120, 5)
    whole, some = hm.find_modes(hypergraph), hm.find_modes(hypergraph, starts=[3, 50, 7])
    assert np.flatnonzero(some.edge_mode >= 0).tolist() == [3, 7, 50]
    for start in (3, 50, 7):
        np.testing.assert_array_equal(some.mode_of(start).support, whole.mode_of(start).support)


def test_no_starts_give_no_modes():
    modes = hm.find_modes(knn(20, 3), starts=[])
    assert len(modes) == 0
    assert repr(modes) == "ModeSet(0 modes of 0 of 20 hyperedges)"


@pytest.mark.parametrize("affinity", [hm.HyperedgeAffinity(knn(80, 5)), hm.HyperedgeAffinity(tied(3))])
def test_peaks_are_the_hyperedges_no_neighbour_exceeds(affinity):
    matrix = affinity.matrix().toarray()
    total = np.round(matrix.sum(axis=1) / matrix.sum(axis=1).max(), 12)
    rank = sorted(range(affinity.n), key=lambda i: (-total[i], i))
    place = {i: r for r, i in enumerate(rank)}
    expected = [
        i
        for i in range(affinity.n)
        if all(place[i] < place[j] for j in np.flatnonzero(matrix[i])) and matrix[i].any()
    ]
    isolated = [i for i in range(affinity.n) if not matrix[i].any()]
    for subject in (affinity, hm.MatrixAffinity(matrix)):
        assert sorted(set(peaks(subject).tolist()) - set(isolated)) == expected


def test_modes_from_peaks_are_among_all_modes():
    hypergraph = knn(300, 6)
    everything, some = hm.find_modes(hypergraph), hm.find_modes(hypergraph, starts="peaks")
    assert 0 < len(some) < len(everything)
    known = {mode.support.tobytes() for mode in everything}
    assert all(mode.support.tobytes() in known for mode in some)


# -- one place ---------------------------------------------------------------------------------------


def test_the_mode_around_a_hyperedge_is_the_one_find_modes_gives_it():
    hypergraph = knn(200, 6)
    seeker, modes = hm.Seeker(hypergraph), hm.find_modes(hypergraph)
    for start in range(0, 200, 7):
        np.testing.assert_array_equal(seeker.around(start).support, modes.mode_of(start).support)
        assert seeker.around(start).density == pytest.approx(modes.mode_of(start).density, rel=1e-12)


def test_the_mode_around_a_vertex_has_it_nearby_and_holds():
    hypergraph = hm.Hypergraph.from_edges(FEW, labels=[f"e{i}" for i in range(len(FEW))])
    seeker = hm.Seeker(hypergraph)
    for vertex in hypergraph.vertices:
        mode = seeker.around_vertex(vertex)
        if mode is not None:
            assert mode.certificate.holds(TOL)


def test_places_without_a_mode():
    hypergraph = hm.Hypergraph.from_edges(
        [["a", "b"], ["b", "c"], ["z"]], vertices=["a", "b", "c", "z", "lonely"]
    )
    seeker = hm.Seeker(hypergraph)
    assert seeker.around(2) is None
    assert seeker.around_vertex("z") is None
    assert seeker.around_vertex("lonely") is None
    assert seeker.around_vertex("a").support.tolist() == [0, 1]
    with pytest.raises(ValueError, match="label: unknown hyperedge 'nobody'"):
        seeker.around("nobody")
    with pytest.raises(ValueError, match="unknown vertex 'nobody'"):
        seeker.around_vertex("nobody")
    with pytest.raises(ValueError, match="a matrix has no vertices"):
        hm.Seeker(hm.MatrixAffinity(np.ones((2, 2)))).around_vertex(0)


def test_a_large_support_may_take_in_all_its_ties():
    m, t = 500, 256
    values = np.zeros((m + t, m + t))
    values[:m, :m] = 1 - np.eye(m)
    values[m:, 1:m] = values[1:m, m:].T + 1
    values[1:m, m:] = 1
    values[m:, m:] = 1.3 * (1 - np.eye(t))
    modes = hm.find_modes(hm.MatrixAffinity(values), starts=[0], n_jobs=1)
    assert modes[0].status is hm.Status.CERTIFIED
    assert modes[0].density == pytest.approx(1.3 * (1 - 1 / t))


@pytest.mark.parametrize("max_support", [1, 2, 4])
def test_a_start_may_be_larger_than_a_support_may_grow(max_support):
    meets = [[0, *(1000 + 30 * min(i, j) + max(i, j) for j in range(30) if j != i)] for i in range(30)]
    hypergraph = hm.Hypergraph.from_edges(meets)
    seeker = hm.Seeker(hypergraph, expansion=hm.Voting(max_support=max_support))
    assert len(seeker.around_vertex(0)) <= max_support
    tied = np.zeros((10, 10))
    tied[0, 1] = tied[1, 0] = 1.0
    tied[2:, :2] = tied[:2, 2:].T + 0.5
    tied[:2, 2:] = 0.5
    tied[2:, 2:] = 1 - np.eye(8)
    modes = hm.find_modes(hm.MatrixAffinity(tied), expansion=hm.Voting(max_support=max_support))
    assert np.isfinite(modes.densities).all()


@pytest.mark.data
@pytest.mark.parametrize(
    "name", ["contact-high-school-classes", "house-committees", "walmart-trips-restricted"]
)
def test_real_hypergraphs_are_certified_throughout(data_folder, name):
    with gzip.open(data_folder / "hypergraphs_labelled" / name / "hyperedges.txt.gz", "rt") as file:
        edges = [[int(v) for v in line.split(",")] for line in file if line.strip()]
    hypergraph = hm.Hypergraph.from_edges(edges)
    modes = hm.find_modes(hypergraph)
    assert modes.status_counts == {hm.Status.CERTIFIED: len(modes)}
    assert_certified(hypergraph, modes, most=30)
    sample = np.linspace(0, hypergraph.n_edges - 1, 30).astype(int).tolist()
    slow = np.mean([hm.shift(hypergraph, i).density for i in sample])
    assert start_densities(modes)[sample].mean() >= 0.99 * slow
