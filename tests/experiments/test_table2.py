"""Table 2: its measures and affinities against literal readings, and the whole from end to end."""

import csv
from itertools import combinations, permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("skimage", reason="scikit-image is not installed: no outlines")

from hypermodes.cli import main
from hypermodes.experiments import shape_sets, table2
from hypermodes.experiments.pictures import STYLES
from hypermodes.experiments.shape_methods import METHODS, Items
from hypermodes.experiments.shape_scores import scored
from lobes import TRUTH, flowers


@given(st.lists(st.tuples(st.integers(-1, 3), st.integers(0, 3)), min_size=2, max_size=14))
def test_measures_are_what_they_are_defined_as(pairs):
    labels, truth = (np.array(column) for column in zip(*pairs, strict=True))
    score = scored(labels, truth)
    groups = [truth[labels == g].tolist() for g in set(labels.tolist()) - {-1}]
    assert score.groups == len(groups)
    assert score.coverage == pytest.approx(sum(map(len, groups)) / len(pairs))
    counts = [max(group.count(c) for c in group) for group in groups]
    if groups:
        assert score.precision == pytest.approx(sum(counts) / sum(map(len, groups)))
    else:
        assert np.isnan(score.precision)
    # of several majorities one counts, so that no group stands for two classes
    certain = {c for group in groups for c in group if 2 * group.count(c) > len(group)}
    assert len(certain) <= score.recognised <= min(len(groups), len(set(truth.tolist())))
    classes = [*range(4), *[None] * 4]
    best = max(
        sum(group.count(c) for group, c in zip(groups, order, strict=False))
        for order in permutations(classes, len(groups))
    )
    assert score.matched == pytest.approx(best / len(pairs))
    assert score.ari == min(score.ari_one, score.ari_alone)


def test_the_truth_is_perfect_and_to_cut_it_up_or_leave_it_out_is_not_free():
    truth = np.repeat(np.arange(5), 10)
    perfect = scored(truth, truth)
    assert perfect[:5] == (5, 1.0, 1.0, 1.0, 5)
    assert perfect.ari == perfect.nmi == 1
    cut = scored(np.arange(50), truth)
    assert (cut.recognised, cut.precision) == (5, 1.0)  # the paper's measures see nothing wrong
    assert (cut.matched, cut.ari) == (0.1, 0.0)
    left = scored(np.where(np.arange(50) % 10 < 5, truth, -1), truth)
    assert (left.recognised, left.precision, left.matched) == (5, 1.0, 0.5)
    assert left.ari < 0.5


@pytest.fixture(scope="module")
def items():
    points = np.random.default_rng(0).normal(size=(30, 2)) + 8 * np.repeat(np.eye(2), 15, axis=0)
    return Items(np.linalg.norm(points[:, None] - points[None], axis=2).astype(np.float32))


def literal_affinity(distances):
    d = distances.astype(float)
    scale = [sorted(row)[7] for row in d]
    n = len(d)
    return [
        [0 if i == j else np.exp(-(d[i, j] ** 2) / (scale[i] * scale[j])) for j in range(n)] for i in range(n)
    ]


def test_all_methods_see_the_same_affinity(items):
    literal = np.array(literal_affinity(items.distances))
    np.testing.assert_allclose(items.affinity, np.where(literal > 1e-12, literal, 0), atol=1e-6)
    np.testing.assert_array_equal(items.affinity, items.affinity.T)
    nearest = [set(np.argsort(row)[1:11].tolist()) for row in items.distances]
    pairs = items.nearest_pairs.toarray()
    for i, j in combinations(range(30), 2):
        kept = j in nearest[i] or i in nearest[j]
        assert pairs[i, j] == pairs[j, i] == (items.affinity[i, j] if kept else 0)
    triples = items.triples
    few = [set(np.argsort(row)[1:9].tolist()) for row in items.distances]
    literal_triples = {frozenset((i, *pair)) for i in range(30) for pair in combinations(few[i], 2)}
    found = triples.incidence
    members = [
        frozenset(found.indices[found.indptr[e] : found.indptr[e + 1]].tolist())
        for e in range(triples.n_edges)
    ]
    assert set(members) <= literal_triples
    for edge, weight in zip(members, triples.weights, strict=True):
        a, b, c = sorted(edge)
        product = items.affinity[a, b] * items.affinity[a, c] * items.affinity[b, c]
        assert weight == pytest.approx(np.cbrt(product))


@pytest.mark.parametrize("name", METHODS)
def test_every_method_tells_two_clouds_apart(items, name):
    truth = np.repeat([0, 1], 15)
    labels = METHODS[name].run(items, 2)
    assert labels.shape == (30,)
    assert scored(labels, truth).precision == 1
    assert name in STYLES


def test_items_that_coincide_have_affinities():
    same = Items(np.zeros((12, 12), dtype=np.float32))
    assert same.affinity[0, 1] == 1
    assert np.isfinite(same.affinity).all()


def test_the_table_from_end_to_end(tmp_path, capsys, monkeypatch):
    monkeypatch.delenv("HYPERMODES_DATA", raising=False)
    cache = tmp_path / "kept"
    arguments = ["reproduce", "table2", "--quick", "--quiet", "--cache", str(cache)]
    assert main([*arguments, "--out", str(tmp_path / "one")]) == 0
    said = capsys.readouterr().out
    assert "6 solids x 12 views" in said
    assert all(method.label in said for method in METHODS.values())
    assert {path.name for path in (tmp_path / "one").iterdir()} == {"runs.csv", "summary.md", "table2.png"}
    with open(tmp_path / "one" / "runs.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["method"] for row in rows] == list(METHODS)
    assert {(row["n"], row["classes"]) for row in rows} == {("72", "6")}

    from hypermodes.shapes import distances

    def never(*_):
        raise AssertionError("distances that are kept are not computed again")

    monkeypatch.setattr(distances, "_compared", never)
    calls = []
    text = table2.run(
        tmp_path / "two", quick=True, methods=["spectral", "hdbscan"], cache=cache,
        progress=lambda *amounts: calls.append(amounts),
    )  # fmt: skip
    assert calls[-1] == (2, 2)
    assert "EHC" not in text


@pytest.mark.data
def test_kimias_silhouettes_are_among_the_sets(data_folder, tmp_path, monkeypatch):
    if not (data_folder / "kimia99").is_dir():
        pytest.skip("HYPERMODES_DATA has no kimia99")
    few = [
        (str(petals), view, mask) for view, (petals, mask) in enumerate(zip(TRUTH, flowers(), strict=True))
    ]
    monkeypatch.setattr(shape_sets, "silhouettes", lambda n_views: iter(few))  # to be quick
    text = table2.run(tmp_path, quick=True, methods=["hdbscan"])
    assert "Kimia-99: 9 classes of 11" in text
    assert "9 of 9" in text


def test_what_cannot_be_run_is_refused(tmp_path, capsys):
    with pytest.raises(ValueError, match=r"^methods: expected some of hypergraph_shift, .*; got magic"):
        table2.run(tmp_path / "out", methods=["magic"])
    assert not (tmp_path / "out").exists()
    with pytest.raises(SystemExit) as stop:
        main(["reproduce", "fig5", "--cache", str(tmp_path / "out")])
    assert stop.value.code == 2
    assert "--cache: fig5 keeps no distances" in capsys.readouterr().err
