"""Match two sides, one-to-one."""

from dataclasses import replace
from typing import Any

import scipy.sparse as sp

from hypermodes.construct.correspondences import (
    Candidates,
    Features,
    candidate_pairs,
    check_affinity_options,
    check_candidates,
    check_count,
    checked_affinity,
    room_for_points,
    usual_per_point,
)
from hypermodes.construct.standard_form import StandardForm
from hypermodes.matching.by_affinity import FEW, found_by_affinity
from hypermodes.matching.found import read_off
from hypermodes.matching.problem import Problem, usual_displacement
from hypermodes.matching.result import Matching


def match(
    left: Any,
    right: Any,
    *,
    n_matches: int | None = None,
    per_point: int | None = None,
    **options: Any,
) -> Matching:
    """Match the features of two images or shapes, one-to-one, leaving outliers unmatched.

    Candidates that go together are grown into hyperedges, whose modes say where to begin. Each of the densest
    is completed: a one-to-one choice climbs to the largest total affinity, a smooth map is fitted to it,
    candidates far from where the map puts them lose affinity, and again. The best is then judged by its own
    hypergraph, in which a hyperedge is a match and its neighbours: its densest mode is the `core`.

    With fewer than 15 points on a side, about as many on the other and nothing known but their places, pairs
    of candidates decide only if what they find is exact. Otherwise placements of one side on the other,
    affine maps, mirrored or not, are the hyperedges, of the candidates they make probable
    (`construct.placements`), and the candidates with the most votes are taken.

    What goes together loosely is found among many outliers always; what follows one map exactly is not. So
    maps are looked for, too, from everything tried and from modes of the hypergraph of similarities, coarse
    to fine (`matching.registration`); where one explains other matches decisively better, these are taken,
    and where nothing else is better than chance, those of a map that is.

    Parameters
    ----------
    left, right : Features or (n, 2) array
        The two sides.
    n_matches : int, optional
        How many pairs are wanted: the best ones, filled up where fewer can be told to belong together. If
        None, as many as go together with the core.
    per_point : int, optional
        Consider only so many candidates a point, the most alike by descriptors; see `candidate_pairs`. If
        None, all of up to 10,000 pairs of points; of more, if there are descriptors, as many a point as make
        10,000 in all, and at least one. Time and memory go with the square of the candidates.
    **options
        Of `pairwise_affinity`: what is compared, and how exactly. By default displacements are, exact to
        n^(-1/4) mean lengths for n points a side; with ``length`` or ``direction`` given, or
        ``displacement=None``, lengths and directions are.

    Notes
    -----
    With ``rotation_invariant=True`` and no orientations, pairs of points have too little to compare:
    hyperedges are then made of candidates that one similarity explains (`construct.poses`), and scale and
    rotation are found with the matches, among many outliers if the shape itself does not change. The other
    options have no effect then: what chance would bring about decides how exact is exact enough.

    Returns
    -------
    Matching
        Swapping the sides swaps the pairs. Translating a side changes nothing; nor does scaling it, unless
        ``scale_invariant=False``; nor rotating it, if ``rotation_invariant=True``; nor the order of points.

    Examples
    --------
    >>> import numpy as np
    >>> shape = np.random.default_rng(0).normal(size=(12, 2))
    >>> match(shape, 2 * shape[::-1] + 5).pairs[:3].tolist()
    [[0, 11], [1, 10], [2, 9]]
    """
    left, right = Features.of("left", left), Features.of("right", right)
    _check_number(n_matches)
    check_affinity_options(**options)
    any_turn = bool(options.get("rotation_invariant"))
    any_scale = bool(options.get("scale_invariant", True))
    check_candidates(left, right, per_point)
    room_for_points(left, right)
    if per_point is None:
        per_point = usual_per_point(left, right)
    form = StandardForm.of(left, right, any_scale=any_scale, any_turn=any_turn)
    if not any_turn and not {"length", "direction"} & options.keys():
        options = {"displacement": usual_displacement(form.first, form.second), **options}
    problem = Problem(form.first, form.second, candidate_pairs(form.first, form.second, per_point), options)
    candidates = form.translated_back(problem.candidates)
    found = problem.found()
    if found is None:
        return read_off(candidates, None, n_matches)
    if any_turn:
        return read_off(candidates, found, n_matches, problem.chance())
    better = problem.refined(found) if len(found.core) >= FEW else found
    mapped = problem.mapped(replace(better, tried=found.tried))
    if mapped is not None and mapped.takes_over:
        return read_off(candidates, mapped.found, n_matches)
    matching = read_off(candidates, better, n_matches, problem.chance())
    if mapped is not None and not len(matching):
        return read_off(candidates, mapped.found, n_matches)
    return matching


def match_affinity(candidates: Candidates, affinity: Any, *, n_matches: int | None = None) -> Matching:
    """Match by an affinity of your own.

    Parameters
    ----------
    candidates : Candidates
        Pairs of points that might correspond.
    affinity : (m, m) sparse or dense, symmetric, not negative
        How well every two candidates go together, in any unit: a multiple of it gives the same. Entries of
        candidates that share a point, and the diagonal, are taken for 0.
    n_matches : int, optional
        As in `match`.

    Examples
    --------
    >>> import numpy as np
    >>> pairs = np.indices((2, 2)).reshape(2, -1).T
    >>> candidates = Candidates(pairs, np.ones(4), 2, 2)
    >>> match_affinity(candidates, [[0, 0, 0, 0.9], [0, 0, 0.2, 0], [0, 0.2, 0, 0], [0.9, 0, 0, 0]])
    Matching(2 pairs of 2 and 2 points, 2 in the core, score 0.5)
    """
    matrix = checked_affinity(candidates, affinity)
    _check_number(n_matches)
    if matrix.nnz:
        matrix = sp.csr_array((matrix.data / matrix.data.max(), matrix.indices, matrix.indptr), matrix.shape)
    return read_off(candidates, found_by_affinity(candidates, matrix, None), n_matches)


def _check_number(n_matches: Any) -> None:
    if n_matches is not None:
        check_count("n_matches", n_matches, 1)
