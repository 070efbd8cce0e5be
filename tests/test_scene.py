"""What stands out among superpixels: each step against its own equation, then laws of the whole."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from drawn import cat, checkered, with_object
from hypermodes import find_modes
from hypermodes.construct.regions import MEMBER, appearance_paths, links, region_hypergraph, soft_regions
from hypermodes.construct.superpixels import Superpixels
from hypermodes.saliency_cues import background, boundary_connectivity, contrast, middle
from hypermodes.scene import (
    ALIKE,
    TIE,
    TRUST,
    mean_over_regions,
    mode_worth,
    otsu,
    posterior,
    region_worth,
    see,
    settle,
    stretched,
)

numbers = arrays(np.float64, st.integers(1, 30), elements=st.floats(0, 1, width=16))


@given(numbers)
def test_otsu_is_the_best_of_all_thresholds(values):
    def between(threshold):
        low, high = values[values < threshold], values[values >= threshold]
        if not low.size or not high.size:
            return 0.0
        return low.size * high.size * (high.mean() - low.mean()) ** 2

    best = max(between(threshold) for threshold in values)
    assert between(otsu(values)) == pytest.approx(best, rel=1e-9, abs=1e-12)


@given(numbers)
def test_stretched_values_go_from_0_to_1_in_the_same_order(values):
    found = stretched(values)
    assert found.min() == 0
    assert found.max() == (1 if np.ptp(values) > 1e-9 * values.max() else 0)
    if found.any():
        assert (found[np.argsort(values, kind="stable")] == np.sort(found)).all()


def test_boundary_connectivity_is_length_over_the_root_of_area():
    # Four quarters of a square: each region alone holds half of two sides and a quarter of the area.
    labels = np.kron([[0, 1], [2, 3]], np.ones((8, 8), int))
    quarters = Superpixels.of(labels, np.zeros((16, 16, 3)))
    assert boundary_connectivity(np.eye(4), quarters) == pytest.approx(16 / np.sqrt(64))
    assert boundary_connectivity(np.ones((4, 4)), quarters) == pytest.approx(64 / np.sqrt(256))


def test_background_is_held_by_the_border_and_an_object_inside_is_not():
    superpixels = with_object()
    behind = background(soft_regions(appearance_paths(superpixels)), superpixels)
    inside = superpixels.colour[:, 1] > 10
    assert behind[inside].max() < 0.05
    assert behind[~inside].min() > 0.9


def test_contrast_is_the_mean_difference_from_the_background_around():
    superpixels, _ = checkered(5)
    behind = np.random.default_rng(0).random(superpixels.n)
    near = np.exp(-(superpixels.distance**2) / (2 * 0.4**2))
    expected = [np.average(superpixels.difference[i], weights=near[i] * behind) for i in range(superpixels.n)]
    assert contrast(superpixels, behind) == pytest.approx(expected)
    assert not contrast(superpixels, np.zeros(superpixels.n)).any()


def test_the_middle_weighs_most_and_all_directions_alike():
    superpixels, _ = checkered(size=(20, 20))
    weight = middle(superpixels).reshape(5, 5)
    assert weight[2, 2] == weight.max() == 1
    assert weight == pytest.approx(weight.T)
    assert weight == pytest.approx(weight[::-1, ::-1])


def test_settling_minimises_its_objective():
    superpixels, _ = checkered(6)
    rng = np.random.default_rng(0)
    figure, behind = rng.random((2, superpixels.n))
    alike = np.exp(-(superpixels.difference**2) / (2 * ALIKE**2))
    hold = np.where(links(superpixels, 2), alike, 0) + TIE * superpixels.adjacency.toarray()

    def cost(s):
        pairs = hold * (s[:, None] - s[None]) ** 2
        return TRUST * behind @ s**2 + figure @ (s - 1) ** 2 + pairs.sum() / 2

    found = settle(superpixels, figure, behind)
    for _ in range(50):
        assert cost(found) <= cost(found + rng.normal(scale=1e-3, size=found.size))
    assert 0 <= found.min() <= found.max() <= 1


def test_the_posterior_is_bayes_rule():
    superpixels, _ = checkered(7)
    prior = np.random.default_rng(0).random(superpixels.n)
    for i in range(superpixels.n):
        kernel = np.exp(-(superpixels.difference[i] ** 2) / (2 * ALIKE**2))
        yes = prior[i] * np.average(kernel, weights=superpixels.area * prior)
        no = (1 - prior[i]) * np.average(kernel, weights=superpixels.area * (1 - prior))
        assert posterior(superpixels, prior)[i] == pytest.approx(yes / (yes + no))
    for certain in (np.zeros(superpixels.n), np.ones(superpixels.n)):
        assert (posterior(superpixels, certain) == certain).all()


def test_worth_goes_from_superpixels_to_regions_to_modes_and_back():
    superpixels, _ = checkered(8)
    rng = np.random.default_rng(0)
    regions = soft_regions(appearance_paths(superpixels))
    cue, behind = rng.random((2, superpixels.n))
    worth = region_worth(regions, superpixels, cue, behind)
    held = np.where(regions >= MEMBER, regions, 0)
    for scale, i in ((0, 3), (2, 10)):
        weights = (held[scale, i] > 0) * superpixels.area
        expected = np.average(cue, weights=weights) * (1 - np.average(behind, weights=weights))
        assert worth[scale, i] == pytest.approx(expected)
    kept = worth > 0.05 * worth.max()
    modes = find_modes(region_hypergraph(regions, worth, kept))
    shifted = mode_worth(modes, worth[kept])
    for edge in range(kept.sum()):
        k = modes.edge_mode[edge]
        own = worth[kept][edge] if k < 0 else modes[k].weights @ worth[kept][modes[k].support]
        assert shifted[edge] == pytest.approx(own)
    i = 5
    weights = held[:, i, :].ravel()  # regions are symmetric
    assert mean_over_regions(regions, worth)[i] == pytest.approx(np.average(worth.ravel(), weights=weights))


# -- laws of the whole --------------------------------------------------------------------------------


def test_an_object_is_one_mode_certified_and_stands_out_alone():
    scene = see(with_object())
    inside = scene.superpixels.colour[:, 1] > 10
    assert (scene.values[inside] > 0.95).all()
    assert (scene.values[~inside] < 0.05).all()
    assert len({*scene.mode_of[inside]}) == 1
    mode = scene.modes[int(scene.mode_of[inside][0])]
    assert mode.certificate.holds()
    assert (scene.mass(int(scene.mode_of[inside][0]))[inside] > 0.99).all()


def test_all_modes_of_a_photograph_are_certified():
    scene = see(cat())
    assert all(mode.certificate.holds() for mode in scene.modes)
    assert repr(scene) == f"Scene({scene.superpixels.n} superpixels, {len(scene.modes)} modes)"


@pytest.mark.parametrize("seed", range(3))
def test_the_numbers_of_superpixels_play_no_part(seed):
    straight = cat()
    order = np.random.default_rng(seed).permutation(straight.n)
    lab = straight.colour[straight.labels] + noise_like(straight)
    one = see(Superpixels.of(straight.labels, lab))
    other = see(Superpixels.of(order[straight.labels], lab))
    assert other.values[order] == pytest.approx(one.values, abs=1e-6)
    assert other.figure[order] == pytest.approx(one.figure, abs=1e-6)
    assert sorted(other.modes.densities) == pytest.approx(sorted(one.modes.densities), rel=1e-6)


@pytest.mark.parametrize("turn", [np.fliplr, np.flipud, np.transpose])
def test_mirroring_superpixels_mirrors_what_stands_out(turn):
    straight = cat()
    lab = straight.colour[straight.labels] + noise_like(straight)
    one = see(Superpixels.of(straight.labels, lab))
    turned = np.stack([turn(lab[:, :, c]) for c in range(3)], axis=2)
    other = see(Superpixels.of(turn(straight.labels), turned))
    assert other.values == pytest.approx(one.values, abs=1e-6)


def test_the_size_of_pixels_plays_no_part():
    straight = cat()
    lab = straight.colour[straight.labels] + noise_like(straight)
    bigger = Superpixels.of(np.kron(straight.labels, np.ones((2, 2), int)), lab.repeat(2, 0).repeat(2, 1))
    assert see(bigger).values == pytest.approx(see(Superpixels.of(straight.labels, lab)).values, abs=1e-6)


def noise_like(superpixels):
    return np.random.default_rng(9).normal(scale=2, size=(*superpixels.labels.shape, 3))


def test_lightness_moved_as_a_whole_changes_nothing():
    straight = cat()
    lab = straight.colour[straight.labels] + noise_like(straight)
    one = see(Superpixels.of(straight.labels, lab))
    other = see(Superpixels.of(straight.labels, lab + np.array([7.0, 0, 0])))
    assert other.values == pytest.approx(one.values, abs=1e-6)


@pytest.mark.parametrize("colour", [0.0, 50.0])
def test_one_colour_has_nothing_that_stands_out(colour):
    row, column = np.mgrid[:24, :24]
    scene = see(Superpixels.of((row // 4) * 6 + column // 4, np.full((24, 24, 3), colour)))
    assert not scene.values.any()
    assert scene.modes is None
    assert (scene.mode_of == -1).all()
    assert repr(scene) == "Scene(36 superpixels, 0 modes)"
    with pytest.raises(IndexError, match="of which there are none"):
        scene.mass(0)


@pytest.mark.parametrize("noise", [0.0, 0.05])
def test_what_no_eye_can_see_does_not_stand_out(noise):
    clear = with_object()
    rng = np.random.default_rng(0)
    lab = clear.colour[clear.labels] / 100 + rng.normal(scale=noise, size=(48, 48, 3))
    faint = Superpixels.of(clear.labels, lab)  # differences of 0.7 units, where 2.3 can be seen
    assert see(faint).values.max() <= faint.difference.max() / 2.3 < 0.4


def test_the_middle_is_expected_only_if_asked_for():
    row, column = np.mgrid[:48, :48]
    lab = np.full((48, 48, 3), (50.0, 0.0, 0.0))
    lab[20:28, 20:28] = lab[4:12, 4:12] = [50, 60, 40]  # the same thing in the middle and in a corner
    superpixels = Superpixels.of((row // 4) * 12 + column // 4, lab)
    middle_one, corner_one = 5 * 12 + 5, 1 * 12 + 1
    centred, level = see(superpixels).figure, see(superpixels, centred=False).figure
    assert centred[corner_one] < centred[middle_one]
    assert level[corner_one] > centred[corner_one]
