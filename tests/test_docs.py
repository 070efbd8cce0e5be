"""The documentation is true: its code runs, its names exist, its anchors lead somewhere."""

import ast
import doctest
import importlib
import pkgutil
import re
from pathlib import Path

import pytest

import hypermodes

ROOT = Path(__file__).parent.parent
MODULES = sorted(
    module.name
    for module in pkgutil.walk_packages(hypermodes.__path__, "hypermodes.")
    if not module.name.endswith(".__main__")  # to import it is to run the command
)
PAGES = [
    page
    for pattern in ("*.md", "docs/**/*.md", "experiments/**/*.md", "benchmarks/**/*.md")
    for page in sorted(str(found.relative_to(ROOT)) for found in ROOT.glob(pattern))
    if page != "docs/example-diseases.md"  # test_example_page.py runs it, on its file
]
OPTIONS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS


def _resolve(name):
    parts = name.split(".")
    for cut in range(len(parts), 0, -1):
        try:
            found = importlib.import_module(".".join(parts[:cut]))
        except ModuleNotFoundError:
            continue
        for part in parts[cut:]:
            found = getattr(found, part)
        return found
    raise AssertionError(name)


def test_every_name_of_the_equation_table_exists():
    table = (ROOT / "docs" / "theory.md").read_text().split("## Where each equation lives")[1]
    names = re.findall(r"`(hypermodes\.[\w.]+)`", table)
    assert len(names) >= 20
    for name in names:
        assert _resolve(name) is not None


def test_every_equation_of_the_paper_is_in_the_table():
    table = (ROOT / "docs" / "theory.md").read_text().split("## Where each equation lives")[1]
    rows = re.findall(r"^\| (Eq[^|]*)\|", table, flags=re.MULTILINE)
    numbers = {int(number) for row in rows for number in re.findall(r"\d+", row)}
    assert numbers >= set(range(1, 14))


def _shown(path):
    """How many lines of code a file shows."""
    return len(re.findall(r"^ *>>> ", path.read_text(), flags=re.MULTILINE))


def test_pages_and_modules_are_found():
    assert {"README.md", "docs/clusters.md", "docs/theory.md"} <= set(PAGES)
    assert {"hypermodes.cluster.api", "hypermodes.construct.neighbours"} <= set(MODULES)


@pytest.mark.parametrize("page", PAGES)
def test_code_of_a_page_does_what_it_shows(page, tmp_path, monkeypatch):
    found = doctest.DocTestParser().get_examples((ROOT / page).read_text())
    assert len(found) == _shown(ROOT / page)
    monkeypatch.chdir(tmp_path)  # some write files
    assert doctest.testfile(str(ROOT / page), module_relative=False, optionflags=OPTIONS).failed == 0


@pytest.mark.parametrize("page", PAGES)
def test_other_code_of_a_page_is_python_that_names_what_there_is(page):
    for block in re.findall(r"^```python\n(.*?)^```", (ROOT / page).read_text(), re.MULTILINE | re.DOTALL):
        if ">>> " in block:
            continue
        for node in ast.walk(ast.parse(block)):
            if isinstance(node, ast.Attribute) and ast.unparse(node.value) == "hm":
                assert hasattr(hypermodes, node.attr)


@pytest.mark.parametrize("module", ["hypermodes", *MODULES])
def test_examples_of_docstrings_do_what_they_show(module):
    found = importlib.import_module(module)
    tests = doctest.DocTestFinder().find(found)
    assert sum(len(test.examples) for test in tests) == _shown(Path(found.__file__))
    assert doctest.testmod(found, optionflags=OPTIONS).failed == 0


def test_every_departure_marked_in_the_code_has_its_section():
    sections = set(
        re.findall(r"^## (\w+)$", (ROOT / "docs" / "departures.md").read_text(), flags=re.MULTILINE)
    )
    marked = set()
    for path in Path(hypermodes.__file__).parent.rglob("*.py"):
        marked |= set(re.findall(r"departures\.md#(\w+)", path.read_text()))
    assert marked <= sections
    assert len(marked) >= 6
