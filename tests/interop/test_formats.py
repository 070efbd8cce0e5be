"""Every other format: what it holds comes back, what it cannot is said; endings choose, gzip is seen."""

import gzip
import io
import sys
import warnings

import numpy as np
import pytest
from hypothesis import event, given
from hypothesis import strategies as st

import hypermodes as hm
from hypermodes import Hypergraph
from interop.documents import TABLES, again, read_document, read_text, reading_by, written
from strategies import hif_documents, hypergraphs

both_ways = pytest.mark.usefixtures("way")

SOFT = Hypergraph.from_edges(
    {"x": {"a": 0.5, "b": 1.0}, "y": {"b": 0.1, "c": 1 / 3}}, weights=None, vertices=["a", "b", "c", "alone"]
)
WEIGHTED = Hypergraph.from_edges([["a", "b"], ["b", "c"]], weights=[2.0, 3.0])


def incidences(hypergraph):
    """Incidences with p(v|e) and w(e), by name and in no order."""
    matrix = hypergraph.incidence.tocoo()
    return {
        (hypergraph.labels[e], hypergraph.vertices[v]): (p, hypergraph.weights[e])
        for e, v, p in zip(matrix.col.tolist(), matrix.row.tolist(), matrix.data.tolist(), strict=True)
    }


# -- npz ------------------------------------------------------------------------------------------------


@given(hif_documents())
def test_npz_keeps_everything(document):
    hypergraph = read_document(document, directed="ignore")
    assert again(hypergraph, "npz") == hypergraph


def test_an_npz_that_unpacks_to_too_much_is_refused():
    stream = io.BytesIO()
    np.savez_compressed(stream, data=np.zeros(10**6))
    with pytest.raises(ValueError, match="raise max_bytes"):
        read_text(stream.getvalue(), "npz", max_bytes=10**6)


# -- tables ---------------------------------------------------------------------------------------------


@given(hypergraphs(), st.sampled_from(TABLES), st.sampled_from(["at once", "in pieces"]))
def test_tables_keep_numbers_and_names(hypergraph, kind, way):
    with reading_by(way):
        back = again(hypergraph, kind)
    assert incidences(back) == incidences(hypergraph)
    assert set(back.vertices) == set(hypergraph.vertices)
    assert list(back.labels) == list(hypergraph.labels)


texts = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=5).filter(
    lambda text: text == text.strip(" \t")
)


@given(st.lists(st.tuples(texts, texts), min_size=1, max_size=9), st.sampled_from(["csv", "tsv"]))
def test_tables_keep_any_text(pairs, kind):
    hypergraph = Hypergraph.from_incidences([e for e, _ in pairs], [v for _, v in pairs])
    for way in ("at once", "in pieces"):
        with reading_by(way):
            back = again(hypergraph, kind, ids="text")
        assert incidences(back) == incidences(hypergraph)


@both_ways
@pytest.mark.parametrize("kind", TABLES)
def test_tables_keep_isolated_vertices_empty_hyperedges_and_weights_as_given(kind):
    hypergraph = read_document(
        {
            "incidences": [{"edge": "e", "node": "a", "weight": 3}, {"edge": "e", "node": "b"}],
            "nodes": [{"node": "alone"}],
            "edges": [{"edge": "e", "weight": 2}, {"edge": "empty"}],
        }
    )
    back = again(hypergraph, kind)
    assert set(back.vertices) == {"a", "b", "alone"}
    assert back.annotations.empty_edges == ("empty",)
    assert incidences(back) == incidences(hypergraph) == {("e", "a"): (1.0, 2.0), ("e", "b"): (1 / 3, 2.0)}
    assert again(back, kind) == back


@both_ways
@pytest.mark.parametrize(
    ("text", "options"),
    [
        ("edge,node\n1,a\n1,b\n2,b\n", {}),
        ("node,edge\na,1\nb,1\nb,2\n", {}),
        ("1,a\n1,b\n2,b\n", {}),
        ("1;a\n1;b\n2;b\n", {}),
        ("1\ta\n1\tb\n2\tb\n", {}),
        ("1|a\r\n\r\n1|b\r\n2|b", {}),
        ("\ufeffedge,node\n1,a\n1,b\n2,b\n", {}),
        ('"edge","node"\n"1","a"\n"1","b"\n"2","b"\n', {}),
        ("basket,item\n1,a\n1,b\n2,b\n", {}),
        ("basket,when,item\n1,x,a\n1,y,b\n2,z,b\n", {"columns": ["basket", "item"]}),
        ("1,x,a\n1,y,b\n2,z,b\n", {"columns": [0, 2]}),
        ("1 : a\n1 : b\n2 : b", {"delimiter": ":"}),
        (" 1 , a \n1,b\n2,b\n\n\n", {}),
        ("1,a\n1,b\n1,a\n2,b\n", {}),
    ],
)
def test_tables_as_people_write_them(text, options):
    hypergraph = read_text(text, "csv", **options)
    assert hypergraph.labels == (1, 2)
    assert [hypergraph.members(label) for label in (1, 2)] == [("a", "b"), ("b",)]


@both_ways
@pytest.mark.parametrize(
    ("text", "edges"),
    [
        ("package,tag\ngimp,x\ngimp,y\n", {"gimp": ("x", "y")}),
        (" package , tag \ngimp,x\nkrita,x\n", {"gimp": ("x",), "krita": ("x",)}),
        # Not a header: its words are elsewhere, or no word comes twice, or it has a number.
        ("gimp,tag\ngimp,x\ngimp,y\n", {"gimp": ("tag", "x", "y")}),
        ("package,x\ngimp,x\ngimp,y\n", {"package": ("x",), "gimp": ("x", "y")}),
        ("ann,bob\nbob,cid\nbob,dan\n", {"ann": ("bob",), "bob": ("cid", "dan")}),
        ("x,ann\ny,x\ny,z\n", {"x": ("ann",), "y": ("x", "z")}),
        ("a,a\nb,c\nb,d\n", {"a": ("a",), "b": ("c", "d")}),
        ("a,b\nc,d\n", {"a": ("b",), "c": ("d",)}),
        ("a,1\nb,c\nb,d\n", {"a": ("1",), "b": ("c", "d")}),
        (",tag\ngimp,x\ngimp,y\n", {"gimp": ("x", "y")}),
    ],
)
@pytest.mark.filterwarnings("ignore:the first row")
def test_words_that_come_nowhere_else_are_a_header(text, edges):
    hypergraph = read_text(text, "csv")
    assert {label: hypergraph.members(label) for label in hypergraph.labels} == edges
    columns = dict.fromkeys(cell.strip() for cell in text.partition("\n")[0].split(","))
    if len(columns) == 2 and "" not in columns:  # names of columns imply a header
        rest = zip(*(row.split(",") for row in text.split("\n")[1:-1]), strict=True)
        assert read_text(text, "csv", columns=list(columns)) == Hypergraph.from_incidences(*rest)


def test_a_header_above_numbers_that_are_not_all_is_said():
    rows = [f"{i},v{i % 7}" for i in range(120)]
    for text in (["root,x", *rows, "leaf,v1"], ["root,v3", *rows]):
        with pytest.warns(UserWarning, match=r"row \('root', '\w+'\) is taken for a header: .*header=False"):
            read_text("\n".join(text), "csv")
        assert read_text("\n".join(text), "csv", header=False).n_edges == len(text)
        assert read_text("\n".join(text), "csv", header=True).n_edges == len(text) - 1
    for text in (["root,x", *rows], ["edge,node", *rows, "leaf,v1"]):
        assert read_text("\n".join(text), "csv").n_edges == len(text) - 1
    weighted = ["root,x,p", *(f"{row},0.5" for row in rows), "leaf,v1,0.5"]
    assert read_text("\n".join(weighted), "csv").n_edges == 121


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("comment", ["# by Smith, J.", "% a\tb", "  # a,b\tc", "#  ,"])
@pytest.mark.parametrize("mark", [" ", ",", "\t"])
def test_comments_in_lists_say_nothing_of_what_separates_names(mark, comment, end):
    lines = [comment, mark.join("ab"), "", mark.join("bc"), comment, mark.join("cde")]
    hypergraph = read_text(end.join(lines), "list")
    assert [hypergraph.members(k) for k in range(3)] == [("a", "b"), ("b", "c"), ("c", "d", "e")]


def test_a_header_that_was_guessed_is_said():
    text = "package,tag\ngimp,x\ngimp,y\n"
    with pytest.warns(UserWarning, match=r"row \('package', 'tag'\) is taken for a header: .*header=False"):
        read_text(text, "csv")
    assert read_text(text, "csv", header=True).labels == ("gimp",)
    assert read_text(text, "csv", header=False).labels == ("package", "gimp")


@given(
    st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from("abcd")), min_size=1, max_size=12),
    st.sampled_from(["at once", "in pieces"]),
)
def test_a_header_is_guessed_where_the_rule_says_so(pairs, way):
    with reading_by(way), warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        hypergraph = read_text("".join(f"{e},{v}\n" for e, v in pairs), "csv")
    first, rest = pairs[0], pairs[1:]
    others = [cell for pair in rest for cell in pair]
    again = any(len(set(column)) < len(pairs) for column in zip(*pairs, strict=True))
    header = again and first[0] != first[1] and not set(first) & set(others)
    assert bool(said) == header
    expected = Hypergraph.from_incidences(*zip(*(rest if header else pairs), strict=True))
    assert incidences(hypergraph) == incidences(expected)


@both_ways
@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "the file is empty"),
        ("\n\n", "the file is empty"),
        ("edge,node\n", "after the header; found none"),
        ("1,a\n1\n", "line 2: expected 2 columns, as before; found 1"),
        ("1,a\n\n1,b,c\n", "line 3: expected 2 columns, as before; found 3"),
        ("1\n2\n", "expected 2 to 4 columns"),
        ("1,a,b,c,d\n", "expected 2 to 4 columns"),
        ("1,a,x\n1,b,0.5\n", "line 1: expected a weight, a finite number; found 'x'"),
        ("1,a,nan\n", "expected a weight, a finite number; found 'nan'"),
        ("1,a,1e999\n", "expected a weight, a finite number; found '1e999'"),
        ("1,a,1_0\n", "expected a weight"),
        ("1,a,0\n", "must be positive"),
        ("1,a,0.5\n1,a,0.25\n", "twice with different weights"),
        ("1,a,1,2\n1,b,1,3\n", "hyperedge 1 has the weight 2 here and 3 elsewhere"),
        ("1,a\n,\n", "neither a hyperedge nor a vertex"),
        ('1,"a\n2,b\n', "line 2: unexpected end of data"),
        ("1,\xff\n".encode("latin-1"), "line 1: expected UTF-8"),
    ],
)
def test_what_is_wrong_with_a_table_is_said_with_its_line(text, message):
    with pytest.raises(ValueError, match=message):
        read_text(text, "csv")


@both_ways
def test_columns_that_are_not_there_are_named():
    with pytest.raises(ValueError, match=r"no column 'y'; the names are 'edge', 'node'"):
        read_text("edge,node\n1,2\n", "csv", columns=["edge", "y"])
    with pytest.raises(ValueError, match="positions from 0 to 1; got 7"):
        read_text("1,2\n", "csv", columns=[0, 7])


@both_ways
def test_whole_numbers_are_numbers_only_if_all_are():
    assert read_text("1,1\n1,2\n", "csv").vertices == (1, 2)
    assert read_text("1,1\n1,x\n", "csv").vertices == ("1", "x")
    assert read_text("1,1\n1,02\n", "csv").vertices == ("1", "02")
    assert read_text("1,1\n1,2\n", "csv", ids="text").vertices == ("1", "2")


@pytest.mark.parametrize("name", [" pad", "", ("tuple",), 2.5, True])
def test_names_that_a_table_cannot_hold_are_refused(name):
    with pytest.raises(ValueError, match="table"):
        written(Hypergraph.from_edges([[name, "b"]]), "csv")


def test_names_that_would_look_the_same_are_refused():
    with pytest.raises(ValueError, match="look the same"):
        written(Hypergraph.from_edges([[1, "1"]]), "csv")
    pytest.importorskip("pyarrow")
    with pytest.raises(ValueError, match="either text or whole numbers"):
        written(Hypergraph.from_edges([[1, "1"]]), "parquet")


def test_parquet_without_pyarrow_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(ImportError, match=r"install hypermodes\[parquet\]"):
        written(SOFT, "parquet")


@pytest.mark.parametrize("write_as", ["strings", "dictionary"])
def test_names_of_parquet_come_in_the_order_they_appear(write_as):
    pyarrow = pytest.importorskip("pyarrow")
    names = ["b", "a", None, "b", "c"]
    column = pyarrow.array(names)
    if write_as == "dictionary":  # with a name that nobody has, one that is there twice, in another order
        codes = pyarrow.array([3, 1, None, 4, 2], pyarrow.int32())
        column = pyarrow.DictionaryArray.from_arrays(codes, pyarrow.array(["x", "a", "c", "b", "b"]))
    stream = io.BytesIO()
    pyarrow.parquet.write_table(pyarrow.table({"edge": ["e"] * 5, "node": column, "else": names}), stream)
    hypergraph = read_text(stream.getvalue(), "parquet")
    assert hypergraph.vertices == ("b", "a", "c")
    assert hypergraph.members("e") == ("b", "a", "c")


# -- lists ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text", ["1,2,3\n2,4\n", "1 2 3\n2  4", "1\t2\t3\r\n\r\n2\t4\r\n", "# x\n1, 2, 3,\n2, 4"]
)
def test_lists_of_hyperedges(text):
    hypergraph = read_text(text, "list")
    assert [hypergraph.members(label) for label in range(2)] == [(1, 2, 3), (2, 4)]


@pytest.mark.parametrize(("text", "message"), [("", "empty"), ("1,,2\n", "line 1: expected vertices")])
def test_lists_that_are_wrong(text, message):
    with pytest.raises(ValueError, match=message):
        read_text(text, "list")


def test_hashtags_are_not_comments():
    assert read_text("#cats #dogs\n", "list").vertices == ("#cats", "#dogs")


def test_a_comment_may_say_nothing():
    assert read_text("# \n  % \r\n#\n", "list").vertices == ("#",)


def test_lists_come_back():
    hypergraph = Hypergraph.from_edges([["new york", "rome"], ["rome"]])
    assert again(hypergraph, "list") == hypergraph


odd_names = st.text(
    st.sampled_from("ab1,\t \u00a0\u2003\u3000\x85\x0b\x1c\u2028\ufeff#%\"\r\n'")
    | st.characters(exclude_categories=["Cs"]),
    min_size=1, max_size=4,
)  # fmt: skip


@given(st.lists(st.lists(odd_names, min_size=1, max_size=3, unique=True), min_size=1, max_size=4), st.data())
def test_names_are_written_so_that_they_are_read_again_or_refused(edges, data):
    hypergraph = Hypergraph.from_edges(edges)
    kind = data.draw(st.sampled_from(["list", "csv", "tsv"]))
    try:
        content = written(hypergraph, kind)
    except ValueError as error:
        event(f"refused: {str(error)[:30]}")
    else:
        assert read_text(content, kind, ids="text").vertices == hypergraph.vertices


@pytest.mark.parametrize("kind", ["list", "csv", "tsv"])
@pytest.mark.parametrize("blank", "\u00a0\u2003\u3000\x85\x0b\x1c\u2028")
def test_unicode_blanks_are_part_of_names(kind, blank):
    for edges in ([["Paris", f"Paris{blank}", f"{blank}Paris"]], [["Paris"], [f"Paris{blank}"]]):
        hypergraph = Hypergraph.from_edges(edges)
        assert again(hypergraph, kind) == Hypergraph(hypergraph.incidence, vertices=hypergraph.vertices)


# -- hMETIS ---------------------------------------------------------------------------------------------

MEMBERS = [(1, 2), (1, 7, 5, 6), (5, 6, 4), (2, 3, 4)]
MANUAL = {  # one hypergraph, with and without weights, as the format's manual lays them out
    "": "4 7\n1 2\n1 7 5 6\n5 6 4\n2 3 4\n",
    "0": "%c\n4 7 0\n1 2\n% c\n1 7 5 6\n5 6 4\n2 3 4\n\n",
    "1": "4 7 1\n2 1 2\n3 1 7 5 6\n8 5 6 4\n7 2 3 4\n",
    "10": "4 7 10\n1 2\n1 7 5 6\n5 6 4\n2 3 4\n5\n1\n8\n7\n3\n9\n3\n",
    "11": "4 7 11\n2 1 2\n3 1 7 5 6\n8 5 6 4\n7 2 3 4\n5\n1\n8\n7\n3\n9\n3\n",
}


@pytest.mark.parametrize("kind", MANUAL)
def test_hmetis_with_every_kind_of_weights(kind):
    hypergraph = read_text(MANUAL[kind], "hmetis")
    assert [set(hypergraph.members(i)) for i in range(4)] == [set(edge) for edge in MEMBERS]
    assert hypergraph.vertices == tuple(range(1, 8))
    assert hypergraph.weights.tolist() == ([2, 3, 8, 7] if kind in ("1", "11") else [1] * 4)
    of_vertices = hypergraph.annotations.vertices.weights.tolist() if hypergraph.annotations else None
    assert of_vertices == ([5, 1, 8, 7, 3, 9, 3] if kind in ("10", "11") else None)
    assert again(hypergraph, "hmetis") == hypergraph
    assert again(hypergraph, "hif") == hypergraph


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "line 1: expected 'hyperedges vertices"),
        ("x y\n", "line 1: expected 'hyperedges vertices"),
        ("1 2 7\n1 2\n", "line 1: expected 'hyperedges vertices"),
        ("2 2\n1 2\n", "line 3: the file ends after 1 of 2 hyperedges"),
        ("1 2\n1 3\n", "line 2: expected vertices from 1 to 2; found '3'"),
        ("1 2\n0 1\n", "line 2: expected vertices from 1 to 2; found '0'"),
        ("1 2\n1 x\n", "line 2: expected vertices from 1 to 2; found 'x'"),
        ("1 2 1\nx 1 2\n", "line 2: expected the weight of a hyperedge, a number; found 'x'"),
        ("1 2 1\n0 1 2\n", "w\\(e\\) must be positive"),
        ("1 2 10\n1 2\n1\n", "the file ends after 1 of 2 weights of vertices"),
        ("1 2\n1 2\n1\n", "line 3: expected the end of the file"),
        ("99999999999 2\n1 2\n", "more than the file has room for"),
        ("1 99999999999\n1 2\n", "99999999999 vertices announced"),
    ],
)
def test_hmetis_that_is_wrong(text, message):
    with pytest.raises(ValueError, match=message):
        read_text(text, "hmetis")


@pytest.mark.data
def test_a_real_circuit(data_folder, tmp_path):
    hypergraph = hm.read(data_folder / "hypergraphs_hif" / "ISPD98_ibm01.hgr.gz")
    assert (hypergraph.n_edges, hypergraph.n_vertices) == (14111, 12752)
    hm.write(hypergraph, tmp_path / "copy.hgr.gz")
    assert hm.read(tmp_path / "copy.hgr.gz") == hypergraph


# -- choosing -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("packed", ["", ".gz"])
@pytest.mark.parametrize(
    "ending", [".hif.json", ".json", ".JSON", ".csv", ".tsv", ".parquet", ".txt", ".edges", ".hgr", ".npz"]
)
def test_the_ending_says_the_format_and_gzip_is_seen_through(ending, packed, tmp_path):
    hypergraph = Hypergraph.from_edges([[1, 2], [2, 3]], labels=[0, 1])
    if ending == ".parquet":
        pytest.importorskip("pyarrow")
    path = tmp_path / f"file{ending}{packed}"
    hm.write(hypergraph, path)
    assert (path.read_bytes()[:2] == b"\x1f\x8b") == bool(packed)
    assert hm.read(path) == hypergraph
    with open(path, "rb") as file:
        assert hm.read(file) == hypergraph
    before = path.read_bytes()
    hm.write(hypergraph, path)
    assert path.read_bytes() == before


def test_a_file_that_is_not_there_is_said_to_be_missing_whatever_its_ending(tmp_path):
    for name in ("nothing", "x.csv", "x.xlsx"):
        with pytest.raises(FileNotFoundError, match=name):
            hm.read(tmp_path / name)


def test_unknown_endings_and_formats_list_the_known_ones(tmp_path):
    (tmp_path / "x.xlsx").touch()
    with pytest.raises(ValueError, match=r"'x.xlsx' says no format; expected .hif.json, .json, .csv"):
        hm.read(tmp_path / "x.xlsx")
    with pytest.raises(ValueError, match="format: expected one of hif, csv"):
        hm.write(SOFT, tmp_path / "x", format="xlsx")
    with pytest.raises(ValueError, match="pass format="):
        hm.read(io.BytesIO(b"1,2"))
    assert {known.name for known in hm.formats()} >= {"hif", "csv", "npz"}


@pytest.mark.parametrize(
    "options",
    [
        {"directed": "yes"}, {"above_one": 1}, {"nonpositive": None}, {"duplicates": "first"}, {"ids": "int"},
        {"delimiter": "::"}, {"max_bytes": 0}, {"header": "maybe"},
    ],
)  # fmt: skip
def test_wrong_options_are_named(options):
    (name,) = options
    with pytest.raises(ValueError, match=f"^{name}: expected"):
        read_text("1,2", "csv", **options)


@pytest.mark.parametrize(
    ("hypergraph", "ending", "lost"),
    [
        (SOFT, ".txt", r"p\(v\|e\) and isolated vertices"),
        (SOFT, ".hgr", r"p\(v\|e\)"),
        (WEIGHTED, ".txt", r"weights w\(e\)"),
        (Hypergraph.from_edges([[1]], weights=[0.5]), ".hgr", "weights"),
    ],
)
def test_a_format_that_would_lose_numbers_is_refused_unless_asked_for(hypergraph, ending, lost, tmp_path):
    path = tmp_path / f"x{ending}"
    with pytest.raises(ValueError, match=f"cannot hold {lost}"):
        hm.write(hypergraph, path)
    assert not path.exists()
    hm.write(hypergraph, path, lossy=True)
    assert hm.read(path).n_edges == hypergraph.n_edges


def test_missing_files_are_os_errors(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"absent\.csv"):
        hm.read(tmp_path / "absent.csv")


@pytest.mark.data
def test_labelled_data_sets_are_read(data_folder):
    folder = data_folder / "hypergraphs_labelled" / "contact-high-school-classes"
    hypergraph = hm.read(folder / "hyperedges.txt.gz")
    assert (hypergraph.n_vertices, hypergraph.n_edges) == (327, 7818)
    first = gzip.decompress((folder / "hyperedges.txt.gz").read_bytes()).split(b"\n")[0]
    assert set(hypergraph.members(0)) == set(map(int, first.split(b",")))
