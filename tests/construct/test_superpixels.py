"""Superpixels: what they measure, checked pixel by pixel; regions and links against a literal reading."""

import itertools

import numpy as np
import pytest
from skimage.color import rgb2lab

from drawn import checkered
from hypermodes.construct.regions import (
    MEMBER,
    appearance_paths,
    links,
    region_hypergraph,
    soft_regions,
)
from hypermodes.construct.superpixels import slic_superpixels


def test_every_measure_is_what_it_says():
    superpixels, lab = checkered()
    labels = superpixels.labels
    height, width = labels.shape
    for k in range(superpixels.n):
        inside = labels == k
        assert superpixels.area[k] == inside.sum()
        assert superpixels.colour[k] == pytest.approx(lab[inside].mean(axis=0))
        assert superpixels.spread[k] == pytest.approx(lab[inside].std(axis=0))
        rows, columns = np.nonzero(inside)
        assert superpixels.centre[k] == pytest.approx(
            [(rows + 0.5).mean() / height, (columns + 0.5).mean() / width]
        )
        edges = (inside[0], inside[-1], inside[:, 0], inside[:, -1])
        assert superpixels.border[k].tolist() == [edge.sum() for edge in edges]
    beside = np.zeros((superpixels.n, superpixels.n), dtype=bool)
    for r, c in itertools.product(range(height), range(width)):
        for other in ((r + 1, c), (r, c + 1)):
            if other[0] < height and other[1] < width and labels[other] != labels[r, c]:
                beside[labels[other], labels[r, c]] = beside[labels[r, c], labels[other]] = True
    assert (superpixels.adjacency.toarray() == beside).all()


def test_difference_counts_colour_and_texture_alike():
    superpixels, _ = checkered(1)
    i, j = 2, 7
    squares = ((superpixels.colour[i] - superpixels.colour[j]) ** 2).sum()
    squares += ((superpixels.spread[i] - superpixels.spread[j]) ** 2).sum()
    assert superpixels.difference[i, j] == pytest.approx(np.sqrt(squares))
    assert (superpixels.difference == superpixels.difference.T).all()
    assert not superpixels.difference.diagonal().any()


def test_slic_cuts_about_as_many_as_asked_and_covers_the_picture():
    from skimage.data import astronaut

    image = astronaut()[::2, ::2] / 255
    superpixels = slic_superpixels(image, 100)
    assert 70 <= superpixels.n <= 130
    assert superpixels.area.sum() == image.shape[0] * image.shape[1]
    assert superpixels.paint(np.arange(superpixels.n)).tolist() == superpixels.labels.tolist()
    mean = (superpixels.colour * superpixels.area[:, None]).sum(axis=0) / superpixels.area.sum()
    assert mean == pytest.approx(rgb2lab(image).mean(axis=(0, 1)))
    assert repr(superpixels) == f"Superpixels({superpixels.n} of 256 x 256 pixels)"


@pytest.mark.parametrize("shape", [(1, 1), (1, 7), (2, 2), (3, 100), (100, 1)])
def test_few_pixels_make_few_superpixels(shape):
    image = np.random.default_rng(0).random((*shape, 3))
    superpixels = slic_superpixels(image, 250)
    assert 1 <= superpixels.n <= max(1, shape[0] * shape[1])
    assert superpixels.area.sum() == shape[0] * shape[1]


def test_nothing_of_it_can_be_changed():
    superpixels, _ = checkered()
    with pytest.raises(ValueError, match="read-only"):
        superpixels.colour[0] = 0


def test_links_are_neighbours_of_some_rings_and_the_border():
    superpixels, _ = checkered(size=(28, 28))  # 7 x 7 squares
    place = np.array(list(itertools.product(range(7), range(7))))
    steps = np.abs(place[:, None] - place[None]).sum(axis=2)
    on_border = ((place == 0) | (place == 6)).any(axis=1)
    for rings in (1, 2):
        expected = ((steps <= rings) & (steps > 0)) | (on_border[:, None] & on_border & (steps > 0))
        assert (links(superpixels, rings) == expected).all()


def test_paths_sum_the_changes_on_the_best_way():
    superpixels, _ = checkered(2)
    linked, change = links(superpixels), superpixels.difference
    length = np.where(linked, change, np.inf)
    np.fill_diagonal(length, 0)
    for k in range(superpixels.n):  # Floyd and Warshall
        length = np.minimum(length, length[:, k, None] + length[None, k])
    assert appearance_paths(superpixels) == pytest.approx(length, abs=1e-6)


def test_regions_are_soft_grow_with_their_scale_and_hold_their_centre():
    superpixels, _ = checkered(3)
    regions = soft_regions(appearance_paths(superpixels), (5.0, 10.0, 20.0))
    assert (regions[0] <= regions[1]).all()
    assert (regions[1] <= regions[2]).all()
    for region in regions:
        assert region == pytest.approx(region.T)
        assert (region.diagonal() == 1).all()


def test_hyperedges_are_the_regions_kept_with_their_members_and_worth():
    superpixels, _ = checkered(4)
    regions = soft_regions(appearance_paths(superpixels))
    worth = np.random.default_rng(0).random((3, superpixels.n)) + 0.1
    kept = worth > 0.5
    hypergraph = region_hypergraph(regions, worth, kept)
    assert hypergraph.n_edges == kept.sum()
    for edge, (scale, centre) in enumerate(np.argwhere(kept)):
        assert hypergraph.labels[edge] == f"{centre}@{(5, 10, 20)[scale]}"
        column = hypergraph.incidence[:, [edge]].toarray().ravel()
        region = regions[scale, centre]
        assert column == pytest.approx(np.where(region >= MEMBER, region, 0))
        # What a shared vertex is worth is the worth of the region, whatever its size.
        assert hypergraph.weights[edge] / column.sum() == pytest.approx(worth[scale, centre])
