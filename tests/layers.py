"""The two ways to find all modes: one `shift` after the other, and the compiled kernels of `find_modes`."""

import numpy as np

from hypermodes import HyperedgeAffinity, Hypergraph, InfectionImmunization, find_modes, shift
from hypermodes.modes import collect


def readable(subject):
    """All modes by the readable layer."""
    affinity = HyperedgeAffinity(subject) if isinstance(subject, Hypergraph) else subject
    found = [shift(affinity, i) for i in range(affinity.n)]
    return collect(affinity, np.arange(affinity.n), found, tol=InfectionImmunization().tol)


def compiled(subject):
    """All modes by the compiled layer."""
    return find_modes(subject)
