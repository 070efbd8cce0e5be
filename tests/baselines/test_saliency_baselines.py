"""The competitors in saliency, each against its own equations; then what all of them promise."""

import numpy as np
import pytest

from drawn import cat, checkered, with_object
from hypermodes.baselines.saliency import METHODS
from hypermodes.baselines.saliency.graph_modes import graph_modes, vertex_worth
from hypermodes.baselines.saliency.manifold_ranking import affinity, manifold_ranking, ranks
from hypermodes.baselines.saliency.robust_background import (
    background_weight,
    boundary_connectivity,
    colour_distance,
    geodesic_distance,
    optimise,
    robust_background,
    smoothness,
    weighted_contrast,
)
from hypermodes.construct.superpixels import Superpixels

every_method = pytest.mark.parametrize("method", METHODS.values(), ids=METHODS.keys())


def test_geodesic_distance_is_the_shortest_way_over_neighbours_and_the_border():
    superpixels, _ = checkered(1)
    n = superpixels.n
    length = np.full((n, n), np.inf)
    for i in range(n):
        for j in range(n):
            border = superpixels.on_border[i] and superpixels.on_border[j]
            if i == j or superpixels.adjacency[i, j] or border:
                length[i, j] = np.linalg.norm(superpixels.colour[i] - superpixels.colour[j])
    for k in range(n):
        length = np.minimum(length, length[:, k, None] + length[None, k])
    assert geodesic_distance(superpixels) == pytest.approx(length, abs=1e-6)


def test_boundary_connectivity_contrast_and_weight_are_their_sums():
    superpixels, _ = checkered(2)
    span = np.exp(-(geodesic_distance(superpixels) ** 2) / (2 * 10.0**2))
    found = boundary_connectivity(superpixels, 10.0)
    behind = background_weight(found)
    ctr = weighted_contrast(superpixels, behind, 0.4)
    for p in range(superpixels.n):
        area = sum(span[p])
        length = sum(span[p][i] for i in range(superpixels.n) if superpixels.border[i].any())
        assert found[p] == pytest.approx(length / np.sqrt(area))
        assert behind[p] == pytest.approx(1 - np.exp(-(found[p] ** 2) / 2))
        terms = [
            np.linalg.norm(superpixels.colour[p] - superpixels.colour[i])
            * np.exp(-((superpixels.centre[p] - superpixels.centre[i]) ** 2).sum() / (2 * 0.4**2))
            * behind[i]
            for i in range(superpixels.n)
        ]
        assert ctr[p] == pytest.approx(sum(terms))


def test_the_optimisation_minimises_its_cost():
    superpixels, _ = checkered(3)
    rng = np.random.default_rng(0)
    behind, figure = rng.random((2, superpixels.n))
    hold = smoothness(superpixels, colour_distance(superpixels), 10.0, 0.1)
    assert (hold == hold.T).all()
    found = optimise(behind, figure, hold)

    def cost(s):
        pairs = sum(
            hold[i, j] * (s[i] - s[j]) ** 2 for i in range(superpixels.n) for j in range(i + 1, superpixels.n)
        )
        return behind @ s**2 + figure @ (s - 1) ** 2 + pairs

    best = cost(found)
    assert all(best <= cost(found + rng.normal(scale=1e-3, size=found.size)) for _ in range(20))


def test_ranks_solve_their_equation_and_no_query_counts_for_itself():
    superpixels, _ = checkered(4)
    weights = affinity(superpixels, 10.0)
    assert (weights == weights.T).all()
    assert not weights.diagonal().any()
    matrix = ranks(weights, 0.99)
    assert not matrix.diagonal().any()
    for query in range(superpixels.n):
        y = np.zeros(superpixels.n)
        y[query] = 1
        f = np.linalg.solve(np.diag(weights.sum(axis=1)) - 0.99 * weights, y)  # (D - αW) f = y
        f[query] = 0
        assert matrix @ y == pytest.approx(f)


def test_manifold_ranking_is_its_two_stages():
    superpixels = cat()
    matrix = ranks(affinity(superpixels, 10.0), 0.99)

    def normal(x):
        return (x - x.min()) / (x.max() - x.min())

    first = np.ones(superpixels.n)
    for side in range(4):
        first *= 1 - normal(matrix @ (superpixels.border[:, side] > 0).astype(float))
    queries = (first >= first.mean()).astype(float)
    assert manifold_ranking(superpixels) == pytest.approx(normal(matrix @ queries))


def test_the_printed_optimisation_is_an_option():
    superpixels = cat()
    assert (robust_background(superpixels, trust=1.0, clean=False) != robust_background(superpixels)).any()


def test_graph_shift_finds_pieces_of_an_object_and_their_worth():
    superpixels = with_object()
    worth = vertex_worth(superpixels)[1]
    partition = graph_modes(superpixels, worth)
    inside = superpixels.colour[:, 1] > 10
    assert (partition.labels[inside] >= 0).all()
    assert not set(partition.labels[inside]) & set(partition.labels[~inside])


@every_method
def test_an_object_stands_out_from_its_ground(method):
    superpixels = with_object(noise=1.0)
    inside = superpixels.colour[:, 1] > 10
    found = method(superpixels)
    assert found[inside].min() > found[~inside].max()


@every_method
def test_values_go_from_0_to_1_and_repeat(method):
    superpixels = cat()
    found = method(superpixels)
    assert found.shape == (superpixels.n,)
    assert found.min() == 0
    assert found.max() == 1
    assert (method(superpixels) == found).all()


@every_method
def test_the_numbers_of_superpixels_play_no_part(method):
    straight = cat()
    order = np.random.default_rng(0).permutation(straight.n)
    rng = np.random.default_rng(9)
    lab = straight.colour[straight.labels] + rng.normal(scale=2, size=(*straight.labels.shape, 3))
    one = method(Superpixels.of(straight.labels, lab))
    other = method(Superpixels.of(order[straight.labels], lab))
    tolerance = 0.02 if "graph_shift" in method.__name__ else 1e-6  # graph shift converges to 1e-4
    assert other[order] == pytest.approx(one, abs=tolerance)


@every_method
@pytest.mark.parametrize("n", [1, 2, 3, 4, 6, 9, 12])
def test_a_picture_of_one_colour_has_nothing(method, n):
    labels = np.arange(n).repeat(6 * 6 // n).reshape(6, 6)
    assert not method(Superpixels.of(labels, np.full((6, 6, 3), 50.0))).any()
