"""The page as a file: nothing from the input is markup, nothing is loaded, nothing is half-written."""

import base64
import doctest
import gzip
import hashlib
import json
import re
from html import escape
from html.parser import HTMLParser
from importlib.resources import files
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import hypermodes as hm
import hypermodes.report.page
import hypermodes.report.wording
from hypermodes.report import report_of
from hypermodes.report.page import SCRIPTS, as_html, embedded
from report_results import HOSTILE, communities, crescents, hostile_modes, meetings


class Outline(HTMLParser):
    """Elements of a page, in order, and what is inside scripts."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.scripts, self.ids = [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        self.ids += [value for name, value in attrs if name == "id"]
        if tag in ("script", "style"):
            self.scripts.append("")

    def handle_data(self, data):
        if self.tags and self.tags[-1][0] in ("script", "style") and self.cdata_elem:
            self.scripts[-1] += data


PAGES = {
    "modes": lambda: report_of(hm.find_modes(meetings())),
    "points": lambda: report_of(crescents()[0], points=crescents()[1]),
    "communities": lambda: report_of(communities()),
    "hostile": lambda: report_of(hostile_modes(), title="".join(HOSTILE)),
    "nothing": lambda: report_of(hm.find_modes(hm.Hypergraph.from_edges([[1, 2], [3]]))),
}


@pytest.fixture(params=PAGES)
def text(request):
    return as_html(PAGES[request.param]())


@given(st.recursive(st.text() | st.floats(allow_nan=False, allow_infinity=False) | st.none(), st.lists))
def test_what_is_embedded_comes_back_and_cannot_end_its_element(value):
    text = embedded(value)
    assert json.loads(text) == value
    assert not set("<>&\u2028\u2029") & set(text)


def test_the_page_has_only_the_elements_of_the_template(text):
    outline = Outline(text)
    assert [tag for tag, _ in outline.tags].count("script") == 2
    assert [tag for tag, _ in outline.tags].count("style") == 1
    assert not {"img", "iframe", "object", "embed", "base", "form", "svg"} & {tag for tag, _ in outline.tags}
    assert len(outline.ids) == len(set(outline.ids))
    for _, attributes in outline.tags:
        assert not any(name.startswith("on") or name in ("src", "style") for name in attributes)
        assert attributes.get("href", "#").startswith(("#", "data:,"))
    json.loads(outline.scripts[1])


def test_the_policy_allows_the_script_and_the_style_of_the_page_and_nothing_else(text):
    outline = Outline(text)
    policy = next(a["content"] for tag, a in outline.tags if a.get("http-equiv") == "Content-Security-Policy")
    style, _, script = outline.scripts
    allowed = {
        kind: "sha256-" + base64.b64encode(hashlib.sha256(part.encode()).digest()).decode()
        for kind, part in (("style", style), ("script", script))
    }
    rules = dict(rule.strip().split(" ", 1) for rule in policy.split(";"))
    assert rules["default-src"] == "'none'"
    assert rules["script-src"] == f"'{allowed['script']}'"
    assert rules["style-src"] == f"'{allowed['style']}'"


def test_scripts_put_text_in_as_text_and_ask_the_network_for_nothing():
    for name in SCRIPTS:
        script = files("hypermodes.report").joinpath("assets", name).read_text(encoding="utf-8")
        assert not re.search(
            r"innerHTML|outerHTML|insertAdjacent|document\.write|eval\(|Function\(|fetch|XMLHttp|import\(|WebSocket",
            script,
        )
    style = files("hypermodes.report").joinpath("assets", "page.css").read_text(encoding="utf-8")
    assert not re.search(r"@import|url\(|@font-face", style)


def luminance(colour):
    parts = [int(colour[k : k + 2], 16) / 255 for k in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def test_every_colour_can_be_read_in_both_themes():
    """WCAG AA: text 4.5 to 1, on paper and on cards; text on colours of groups is in that of the paper."""
    style = files("hypermodes.report").joinpath("assets", "page.css").read_text(encoding="utf-8")
    themes = [
        dict(re.findall(r"--(\w+): (#\w{6})", block))
        for block in re.findall(r"\{([^{}]*--c11[^{}]*)\}", style)
    ]
    assert len(themes) == 3
    assert themes[1] == themes[2]  # chosen by hand, and by the system
    for theme in themes:
        pairs = [
            (name, ground)
            for name in ("ink", "quiet", "accent", "good", "open")
            for ground in ("paper", "raised")
        ]
        pairs += [(f"c{k}", "paper") for k in range(12)] + [("none", "paper")]
        for name, ground in pairs:
            bright, dim = sorted((luminance(theme[name]), luminance(theme[ground])), reverse=True)
            assert (bright + 0.05) / (dim + 0.05) >= 4.5, (name, ground)


def test_the_same_result_gives_the_same_bytes(tmp_path):
    for name in ("a", "b"):
        hm.write_report(hm.find_modes(meetings()), tmp_path / name)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


@pytest.mark.data
def test_a_real_hypergraph_fits_into_a_small_page(data_folder, tmp_path):
    path = data_folder / "hypergraphs_hif" / "email-enron.json.gz"
    if not path.is_file():
        pytest.skip(f"{path} is not there")
    with gzip.open(path) as file:
        content = json.load(file)
    edges = {}
    for record in content["incidences"]:
        edges.setdefault(record["edge"], []).append(record["node"])
    modes = hm.find_modes(hm.Hypergraph.from_edges(edges))
    names = {record["node"]: record["attrs"]["name"] for record in content["nodes"]}
    hm.write_report(modes, tmp_path / "page.html", title="email-Enron", names=names)
    text = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert len(text) < 500_000
    assert f"{len(modes)} modes in {len(edges):,} hyperedges." in text
    assert all(escape(names[vertex]) in text for vertex in modes.vertices(0))


def test_what_goes_wrong_leaves_the_file_as_it_was(tmp_path):
    path = tmp_path / "page.html"
    path.write_text("before")
    modes = hm.find_modes(meetings())
    for bad, message in (
        ({"title": 3}, "title: expected text or None; got 3"),
        ({"points": np.zeros((3, 2))}, "points: expected None for a ModeSet"),
        ({"names": ["one"]}, "names: expected 25 names, one a vertex, or a mapping; got 1"),
    ):
        with pytest.raises(ValueError, match=re.escape(message)):
            hm.write_report(modes, path, **bad)
    clusters, points = crescents()
    for bad, message in (
        (points[:5], "points: expected the 240 points that were clustered, one a row; got shape (5, 2)"),
        (np.full_like(points, np.nan), "points: expected finite numbers"),
        (points.astype(str), "points: expected finite numbers"),
    ):
        with pytest.raises(ValueError, match=re.escape(message)):
            hm.write_report(clusters, path, points=bad)
    with pytest.raises(ValueError, match=r"result: expected a ModeSet or Clusters.*; got a list"):
        hm.write_report([1, 2], path)
    with pytest.raises(FileNotFoundError, match="path: cannot write"):
        hm.write_report(modes, tmp_path / "nowhere" / "page.html")
    assert path.read_text() == "before"
    assert list(tmp_path.iterdir()) == [path]


def test_the_documentation_does_what_it_shows(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    guide = Path(__file__).parents[2] / "docs" / "report.md"
    failed, attempted = doctest.testfile(str(guide), module_relative=False)
    assert attempted > 0
    assert failed == 0
    assert {path.name for path in tmp_path.iterdir()} == {"shapes.html", "meetings.html"}


@pytest.mark.parametrize("module", [hypermodes.report, hypermodes.report.page, hypermodes.report.wording])
def test_examples_of_docstrings_do_what_they_show(module):
    assert doctest.testmod(module).failed == 0
