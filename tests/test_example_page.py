"""docs/example-diseases.md is true: its commands and its code run, in order, on the file it is about."""

import doctest
import gzip
import re
import shlex
import subprocess
from pathlib import Path

import pytest

from hypermodes.cli import main

PAGE = Path(__file__).parent.parent / "docs" / "example-diseases.md"
BLOCKS = re.compile(r"```(console|python)\n(.*?)```", re.DOTALL)
OPTIONS = doctest.ELLIPSIS


def printed_by(command, capsys):
    words = shlex.split(command)
    if words[0] == "grep":
        return subprocess.run(words, capture_output=True, text=True, check=True).stdout
    assert words[0] == "hypermodes"
    assert main(words[1:]) == 0
    captured = capsys.readouterr()
    return captured.out + captured.err


def check_console(block, capsys):
    for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
        command, _, shown = part.partition("\n")
        printed = printed_by(command, capsys)
        assert doctest.OutputChecker().check_output(shown, printed, OPTIONS), f"{command}\n{printed}"


def check_code(block, names):
    test = doctest.DocTestParser().get_doctest(block, names, PAGE.name, None, None)
    assert test.examples
    said = []
    failed = doctest.DocTestRunner(optionflags=OPTIONS).run(test, out=said.append, clear_globs=False).failed
    names.update(test.globs)
    assert failed == 0, "".join(said)


@pytest.mark.data
def test_the_page_shows_what_happens(data_folder, tmp_path, capsys, monkeypatch):
    stored = data_folder / "hypergraphs_hif" / "diseasome.json.gz"
    if not stored.exists():
        pytest.skip(f"{stored} is not there")
    (tmp_path / "diseasome.json").write_bytes(gzip.decompress(stored.read_bytes()))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    names: dict[str, object] = {}
    blocks = BLOCKS.findall(PAGE.read_text())
    assert len(blocks) >= 9
    for kind, block in blocks:
        if kind == "console":
            check_console(block, capsys)
        else:
            check_code(block, names)
    assert {"clusters.csv", "clusters.html", "modes.html"} <= {path.name for path in tmp_path.iterdir()}
    check_words(names)


def check_words(names):
    """What the page says in words about numbers that no block shows."""
    import hypermodes as hm

    every, genes, gene, number = names["H"], names["genes"], names["gene"], names["number"]
    inside = [set(genes.members(e)) for e in genes.labels]
    modes = hm.find_modes(every)
    assert len(modes) == 330
    assert sum(any(set(modes.vertices(k)) <= one for one in inside) for k in range(len(modes))) == 292
    disease = dict(zip(genes.vertices, genes.annotations.vertices.attribute("label"), strict=True))
    assert {disease[v] for v in genes.members(number["HNF4A"])} == {"MODY", "Diabetes mellitus"}
    found = hm.cluster(genes)
    place = {disease[v]: k for v, k in zip(genes.vertices, found.vertex_labels.tolist(), strict=True)}
    assert place["MODY"] == place["Obesity"] == place["Asthma"] == 0
    assert place["Colon cancer"] == 1
    assert place["Hypertension"] == place["Thrombophilia"] == 2
    assert found.memberships[list(place).index("Obesity"), 0] == 1.0
    assert "RETN" in {gene[genes.labels[e]] for e in found.outliers}
    assert {disease[v] for v in genes.members(number["RETN"])} == {"Diabetes mellitus", "Hypertension"}
    assert "TP53" not in gene.values()
    assert genes.edge_sizes.max() == 4
    for one in names["modes"].labels(0):
        assert not hm.removal(names["modes"], [one]).vanished
