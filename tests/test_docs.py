"""The documentation is true: its code runs, its names exist, its anchors lead somewhere."""

import doctest
import importlib
import re
from pathlib import Path

import pytest

import hypermodes

ROOT = Path(__file__).parent.parent
MODULES = sorted(path.stem for path in Path(hypermodes.__file__).parent.glob("[a-z]*.py"))
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


PAGES = (
    *(f"docs/{name}.md" for name in ("departures", "formats", "groups", "matching", "scale")),
    "README.md",
)


@pytest.mark.parametrize("page", PAGES)
def test_code_of_a_page_does_what_it_shows(page):
    failed, attempted = doctest.testfile(str(ROOT / page), module_relative=False, optionflags=OPTIONS)
    assert attempted > 0
    assert failed == 0


@pytest.mark.parametrize("module", MODULES)
def test_examples_of_docstrings_do_what_they_show(module):
    found = importlib.import_module(f"hypermodes.{module}" if module != "__init__" else "hypermodes")
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
