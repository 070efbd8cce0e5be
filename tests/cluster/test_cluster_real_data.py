"""Clusters of real data: guards, not goals."""

import csv
import gzip

import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.metrics import adjusted_rand_score

import hypermodes as hm
from lobes import same_groups


def folder_of(data_folder, name):
    if not (data_folder / name).is_dir():
        pytest.skip(f"no {name} under HYPERMODES_DATA")
    return data_folder / name


def test_digits_are_told_apart():
    points, truth = load_digits(return_X_y=True)
    found = hm.cluster(points)
    assert 9 <= found.n_clusters <= 14
    assert adjusted_rand_score(truth, found.assigned) >= 0.8


@pytest.mark.data
def test_classes_of_a_school_are_found_exactly(data_folder):
    folder = folder_of(data_folder, "hypergraphs_labelled") / "contact-high-school-classes"
    with gzip.open(folder / "hyperedges.txt.gz", "rt") as file:
        edges = [[int(v) for v in line.replace("\t", ",").split(",")] for line in file if line.strip()]
    with gzip.open(folder / "node-labels.txt.gz", "rt") as file:
        truth = np.array([int(line) for line in file if line.strip()])
    found = hm.cluster(hm.Hypergraph.from_edges(edges, vertices=range(1, truth.size + 1)))
    assert found.n_clusters == 9
    assert same_groups(found.assigned, truth)
    assert all(mode.status is hm.Status.CERTIFIED for mode in found.modes())


def read_sets(folder, most):
    """(points, reference labelings) of the sets with at most so many points; 0 is noise."""
    with open(folder / "index.csv", newline="") as file:
        rows = [row for row in csv.DictReader(file) if int(row["n"]) <= most]
    for row in rows:
        names = ["data", *(f"labels{i}" for i in range(int(row["n_labelings"])))]
        arrays = []
        for name in names:
            with gzip.open(folder / f"{row['dataset']}.{name}.gz", "rt") as file:
                arrays.append(np.loadtxt(file, ndmin=2 if name == "data" else 1))
        yield arrays[0], arrays[1:]


@pytest.mark.data
def test_clusters_of_real_sets_are_as_good_as_they_were(data_folder):
    """Measured, 0.90 as labelled and 0.91 with outliers assigned."""
    scores = []
    for points, references in read_sets(folder_of(data_folder, "clustering_gagolewski"), 1100):
        found = hm.cluster(points)
        scores.append(
            [
                max(adjusted_rand_score(r[r > 0], labels[r > 0]) for r in references)
                for labels in (found.labels, found.assigned)
            ]
        )
    assert len(scores) >= 20
    assert np.mean(scores, axis=0).min() >= 0.84
