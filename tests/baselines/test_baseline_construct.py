"""Points to affinities and triples: against loops over all pairs and triples."""

from itertools import combinations

import numpy as np
import pytest
import scipy.sparse as sp

from hypermodes.baselines.construct import (
    bandwidth_of,
    gaussian_affinity,
    in_unit_box,
    local_scale,
    nearest,
    triple_hypergraph,
)


def sample(n=25, d=2, seed=0):
    return np.random.default_rng(seed).normal(size=(n, d))


def distance(points, i, j):
    return float(np.sqrt(((points[i] - points[j]) ** 2).sum()))


def scales(points, k=7):
    n = len(points)
    return [sorted(distance(points, i, j) for j in range(n) if j != i)[k - 1] for i in range(n)]


def pair_affinity(points, sigma, i, j):
    return np.exp(-(distance(points, i, j) ** 2) / (sigma[i] * sigma[j]))


def test_the_dense_affinity_is_the_formula():
    points = sample()
    sigma = scales(points)
    values = gaussian_affinity(points).values
    for i, j in combinations(range(len(points)), 2):
        # A dozen operations, and an exponent of at most 30: 30 · 12 eps, generously.
        assert values[i, j] == values[j, i] == pytest.approx(pair_affinity(points, sigma, i, j), rel=1e-12)
    assert (values.diagonal() == 0).all()


def test_the_sparse_affinity_keeps_pairs_of_neighbours_either_way():
    points, k = sample(), 4
    dense, sparse = gaussian_affinity(points).values, gaussian_affinity(points, neighbours=k).values
    assert sp.issparse(sparse)
    ranks = [sorted(distance(points, i, j) for j in range(len(points)) if j != i) for i in range(len(points))]
    for i, j in combinations(range(len(points)), 2):
        near = distance(points, i, j) <= max(ranks[i][k - 1], ranks[j][k - 1]) * (1 + 1e-12)
        assert sparse[i, j] == pytest.approx(dense[i, j] if near else 0.0, rel=1e-12)


def test_triples_are_each_point_with_pairs_of_its_neighbours():
    points, k = sample(15), 4
    n = len(points)
    sigma = scales(points)
    expected = {}
    for i in range(n):
        near = sorted((j for j in range(n) if j != i), key=lambda j: distance(points, i, j))[:k]
        for j, m in combinations(near, 2):
            a, b, c = sorted((i, j, m))
            cube = pair_affinity(points, sigma, a, b) * pair_affinity(points, sigma, b, c)
            expected[a, b, c] = (cube * pair_affinity(points, sigma, a, c)) ** (1 / 3)
    hypergraph = triple_hypergraph(points, neighbours=k)
    found = {hypergraph.members(e): w for e, w in zip(hypergraph.labels, hypergraph.weights, strict=True)}
    assert found == pytest.approx(expected, rel=1e-12)
    assert hypergraph.n_vertices == n


def test_three_points_at_one_place_weigh_one():
    hypergraph = triple_hypergraph(np.ones((5, 2)))
    assert (hypergraph.weights == 1).all()
    assert hypergraph.n_edges == 10


@pytest.mark.parametrize("n", [1, 2])
def test_fewer_than_three_points_make_no_triple(n):
    assert triple_hypergraph(np.arange(float(n))[:, None]) is None


def test_a_point_far_away_is_isolated():
    points = np.vstack((sample(), [[1e6, 0.0]]))
    assert gaussian_affinity(points).values[-1].max() == 0
    assert gaussian_affinity(points, neighbours=5).values[[-1]].nnz == 0
    assert triple_hypergraph(points).incidence_by_vertex[[-1]].nnz == 0


def test_copies_are_as_close_as_can_be():
    points = np.repeat(sample(6), 10, axis=0)
    for neighbours in (None, 3):
        block = gaussian_affinity(points, neighbours=neighbours).matrix()[:10, :10].toarray()
        assert (block == 1 - np.eye(10)).all()  # ties with the third neighbour are in
    all_one = gaussian_affinity(np.zeros((4, 3))).values
    assert (all_one == 1 - np.eye(4)).all()


def test_one_point_has_nothing_around_it():
    assert gaussian_affinity(np.zeros((1, 2))).values.tolist() == [[0.0]]
    assert gaussian_affinity(np.zeros((1, 2)), neighbours=3).matrix().nnz == 0
    assert nearest(np.zeros((1, 2)), 3)[1].shape == (1, 0)
    assert local_scale(np.zeros((1, 2)), 7).tolist() == [1.0]


@pytest.mark.parametrize("size", [1e-300, 1e-3, 1e300])
@pytest.mark.parametrize("build", [gaussian_affinity, lambda p: gaussian_affinity(p, neighbours=5)])
def test_the_unit_plays_no_part(size, build):
    points = sample()
    # Scaling rounds each coordinate once; distances here are above 1e-2 of the coordinates.
    assert build(points * size).matrix().toarray() == pytest.approx(
        build(points).matrix().toarray(), rel=1e-9
    )


def test_the_bandwidth_is_that_of_most_points():
    points = sample(101)
    box, unit = in_unit_box(points)
    ranks = [sorted(distance(points, i, j) for j in range(101) if j != i)[9] for i in range(101)]
    assert bandwidth_of(box, unit, None, 0.1) * unit == pytest.approx(np.median(ranks), rel=1e-12)
    assert bandwidth_of(box, unit, 0.7, 0.1) * unit == pytest.approx(0.7, rel=1e-12)
    assert bandwidth_of(np.zeros((5, 2)), 1.0, None, 0.1) == 1.0
    mostly_one_place = in_unit_box(np.vstack((np.zeros((20, 2)), [[3.0, 4.0]])))
    assert bandwidth_of(*mostly_one_place, None, 0.1) * mostly_one_place[1] == pytest.approx(5.0)


@pytest.mark.parametrize(
    "points", [np.zeros(3), np.zeros((0, 2)), np.zeros((2, 0)), [["a"]], [[np.nan]], [[1], [1, 2]]]
)
@pytest.mark.parametrize("build", [gaussian_affinity, triple_hypergraph])
def test_bad_points_are_refused(build, points):
    with pytest.raises(ValueError, match=r"^points: "):
        build(points)


@pytest.mark.parametrize("build", [gaussian_affinity, triple_hypergraph])
@pytest.mark.parametrize("option", ["neighbours", "scale_neighbour"])
@pytest.mark.parametrize("value", [0, -1, 2.0, True])
def test_bad_numbers_of_neighbours_are_refused(build, option, value):
    with pytest.raises(ValueError, match=f"^{option}: "):
        build(sample(), **{option: value})
