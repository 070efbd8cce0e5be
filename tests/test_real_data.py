"""A real hypergraph: contacts in a high school. Ties abound, vertices are popular, nothing is made up."""

import gzip

import numpy as np
import pytest

from hypermodes import HyperedgeAffinity, Hypergraph, Status, certify, find_modes
from hypermodes.simplex import Point

pytestmark = pytest.mark.data


@pytest.fixture
def contacts(data_folder):
    path = data_folder / "hypergraphs_labelled" / "contact-high-school-classes" / "hyperedges.txt.gz"
    if not path.exists():
        pytest.skip(f"no {path.parent.name} under HYPERMODES_DATA")
    with gzip.open(path, "rt") as lines:  # one hyperedge a line: vertices separated by commas
        return Hypergraph.from_edges([int(v) for v in line.split(",")] for line in lines)


def test_it_is_read_as_described(contacts):
    assert (contacts.n_vertices, contacts.n_edges) == (327, 7818)


def test_every_mode_of_a_real_hypergraph_is_certified_and_can_be_checked(contacts):
    starts = np.linspace(0, contacts.n_edges - 1, 40).astype(int)
    modes = find_modes(contacts, starts=starts)
    assert (modes.edge_mode[starts] >= 0).all()
    assert (np.diff(modes.densities) <= 0).all()
    affinity = HyperedgeAffinity(contacts)
    for mode in modes:
        assert mode.status is Status.CERTIFIED
        p = mode.distribution(affinity.n)
        again = certify(affinity, Point(p, affinity.matvec(p)))
        assert again.holds(1e-9)
        assert again.density == pytest.approx(mode.density, rel=1e-12)  # the same sum in another order


def test_what_is_found_does_not_depend_on_the_order_of_the_file(contacts):
    # Ties may be settled differently, so what must agree is the density each start climbs to, nearly always:
    # measured, 187 of 188.
    starts = np.linspace(0, contacts.n_edges - 1, 40).astype(int)
    order = np.random.default_rng(0).permutation(contacts.n_edges)
    place = np.argsort(order)
    one = find_modes(contacts, starts=starts)
    other = find_modes(contacts.subset(order.tolist()), starts=starts)
    agree = [
        abs(one[one.edge_mode[s]].density - other[other.edge_mode[place[s]]].density) <= 1e-9 for s in starts
    ]
    assert np.mean(agree) >= 0.9
