"""Matrices and arrays at the border: nothing native follows a wrong pointer, no mask is lost."""

from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

import hypermodes as hm
from hypermodes.construct.neighbours import Neighbours
from hypermodes.folder_writer import FolderWriter
from hypermodes.matrices import check_compressed
from hypermodes.shapes.contours import contour

WRONG_POINTERS = [[0, 5_000_000, 10_000_000, 0], [0, 2, 1, 3], [1, 2, 3, 3], [0, -1, 2, 3], [0, 1, 2, 9]]


def broken(indptr, make=sp.csr_array, indices=(0, 1, 2)):
    """A 3 x 3 matrix whose arrays were changed after it was made."""
    matrix = make(np.eye(3))
    matrix.indptr, matrix.indices = np.array(indptr), np.array(indices)
    return matrix


def in_a_writer(tmp_path, matrix):
    with FolderWriter(tmp_path / "folder", 3) as writer:
        writer.append(matrix)


# Every way in, of one argument each: its name, and what to call with a 3 x 3 matrix.
MATRICES = {
    "incidence": hm.Hypergraph.from_incidence,
    "values": hm.MatrixAffinity,
    "points": lambda given: hm.cluster(given, metric="precomputed"),
    "points ": hm.cluster,
    "X": lambda given: hm.HypergraphShift().fit(given),
}


@pytest.mark.parametrize("make", [sp.csr_array, sp.csc_array, sp.csr_matrix, sp.bsr_array])
@pytest.mark.parametrize("indptr", WRONG_POINTERS)
@pytest.mark.parametrize("name", MATRICES)
def test_pointers_that_lead_outside_are_refused_before_anything_follows_them(name, indptr, make):
    with pytest.raises(ValueError, match=f"^{name.strip()}: (indptr: )?expected"):
        MATRICES[name](broken(indptr, make))


@pytest.mark.parametrize("indices", [[0, 1, 3], [0, -1, 2], [0, 10**9, 1]])
@pytest.mark.parametrize("make", [sp.csr_array, sp.csc_array])
@pytest.mark.parametrize("name", MATRICES)
def test_indices_that_lead_outside_are_refused(name, make, indices):
    with pytest.raises(ValueError, match=f"^{name.strip()}: indices: expected numbers from 0 to 2"):
        MATRICES[name](broken([0, 1, 2, 3], make, indices))


@pytest.mark.parametrize("name", MATRICES)
def test_coordinates_that_lead_outside_are_refused(name):
    matrix = sp.coo_array(np.eye(3))
    matrix.coords = (np.array([0, 1, 2]), np.array([0, 1, 10**8]))
    with pytest.raises(ValueError, match=f"^{name.strip()}: expected indices from 0 to 2 along axis 1"):
        MATRICES[name](matrix)


def test_a_block_of_a_folder_is_checked_as_well(tmp_path):
    with pytest.raises(ValueError, match=r"^block: .*incidence: indptr: expected"):
        in_a_writer(tmp_path, broken(WRONG_POINTERS[0], sp.csc_array))


@given(st.lists(st.integers(-1, 4), max_size=6), st.lists(st.integers(-1, 4), max_size=5), st.integers(0, 4))
def test_what_is_let_through_are_rows_within_the_matrix(indptr, indices, n):
    """The same as walking through the rows and looking at every entry."""
    n_rows = max(len(indptr) - 1, 0)
    walked = []
    for low, high in pairwise(indptr):
        walked += range(low, high) if low <= high else [None]
    sound = bool(indptr) and walked == list(range(len(indices))) and indptr[0] == 0
    sound = sound and all(0 <= j < n for j in indices)
    try:
        check_compressed(np.array(indptr, np.int64), np.array(indices, np.int64), (n_rows, n))
    except ValueError:
        assert not sound
    else:
        assert sound


def test_pointers_whose_differences_overflow_are_refused():
    indptr = np.array([0, 2**31 - 1, -2, 3], np.int32)
    assert (np.diff(indptr)[:2] > 0).all()  # this is why they are compared instead
    with pytest.raises(ValueError, match="never fall"):
        check_compressed(indptr, np.arange(3), (3, 3))


# -- masks ----------------------------------------------------------------------------------------------

MASKED = np.ma.MaskedArray(np.ones((3, 3)), mask=np.eye(3))
WHOLE = np.ma.MaskedArray([1, 2, 3], mask=[0, 1, 0])
POINTS = np.arange(6.0).reshape(3, 2)


@pytest.mark.parametrize(
    ("name", "call"),
    [
        *((name.strip(), lambda call=call: call(MASKED)) for name, call in MATRICES.items()),
        ("edges", lambda: hm.Hypergraph.from_edges(np.ma.MaskedArray(np.ones((2, 2), int), mask=np.eye(2)))),
        ("edges: hyperedge 1", lambda: hm.Hypergraph.from_edges([[1, 2], WHOLE])),
        ("weights", lambda: hm.Hypergraph.from_edges([[1], [2], [3]], weights=WHOLE)),
        ("vertices", lambda: hm.Hypergraph.from_incidence(np.eye(3), vertices=WHOLE)),
        ("labels", lambda: hm.Hypergraph.from_incidence(np.eye(3), labels=WHOLE)),
        ("edges", lambda: hm.Hypergraph.from_incidences(WHOLE, [1, 2, 3])),
        ("vertices", lambda: hm.Hypergraph.from_incidences([1, 2, 3], WHOLE)),
        ("probabilities", lambda: hm.Hypergraph.from_incidences([1, 2, 3], [1, 2, 3], WHOLE / 3)),
        ("pairs", lambda: hm.Candidates(np.ma.MaskedArray([[0, 1]], mask=[[0, 1]]), [1.0], 3, 3)),
        ("similarity", lambda: hm.Candidates([[0, 0], [1, 1], [2, 2]], WHOLE / 3, 3, 3)),
        ("indices", lambda: Neighbours(np.ma.MaskedArray([[1], [0]], mask=[[1], [0]]), np.ones((2, 1)))),
        ("distances", lambda: Neighbours([[1], [0]], np.ma.MaskedArray([[1.0], [1]], mask=[[1], [0]]))),
        ("image", lambda: hm.saliency(MASKED)),
        ("shapes", lambda: hm.group_shapes(np.ma.stack([MASKED, MASKED]))),
        ("shapes: mask 1", lambda: hm.group_shapes([np.ones((3, 3)), MASKED])),
        ("mask", lambda: contour(MASKED, 9)),
        ("point", lambda: hm.certify(hm.MatrixAffinity(np.ones((3, 3))), WHOLE / 6)),
    ],
)  # fmt: skip
def test_masked_entries_are_refused_by_the_name_of_the_argument(name, call):
    with pytest.raises(
        ValueError, match=rf"^{name}: expected an array without masked entries; got \d masked of"
    ):
        call()


def test_a_mask_that_hides_nothing_says_nothing():
    plain = hm.Hypergraph.from_incidence(np.eye(3))
    assert hm.Hypergraph.from_incidence(np.ma.MaskedArray(np.eye(3), mask=False)) == plain
