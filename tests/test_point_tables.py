"""Tables of points: what is read is what was written, or an error that names the line and the column."""

import csv
import gzip
import io
from contextlib import suppress
from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hypermodes import read_points
from repeated_columns import REPEATED, memory_of_arrow, write_repeated

numbers = st.floats(allow_nan=False, allow_infinity=False, width=64)
words = st.text(st.characters(codec="utf-8", exclude_categories=("Cs", "Cc")), max_size=6)


def _written(path, rows, **dialect):
    with open(path, "w", newline="", encoding="utf-8") as file:
        csv.writer(file, **dialect).writerows(rows)
    return path


@given(st.lists(st.tuples(words, numbers, numbers), min_size=1, max_size=6), st.sampled_from(",;\t|"))
def test_numbers_come_back_to_the_last_bit_and_ids_to_the_letter(tmp_path_factory, rows, mark):
    path = tmp_path_factory.mktemp("table") / "t.csv"
    _written(path, [("id", "x", "y"), *rows], delimiter=mark)
    table = read_points(path)
    assert table.columns == ("x", "y")
    assert list(table.ids) == [row[0] for row in rows]
    assert table.points.tolist() == [[x, y] for _, x, y in rows]


@given(st.lists(st.lists(numbers, min_size=2, max_size=2), min_size=1, max_size=6))
def test_the_quick_way_and_the_careful_way_agree(tmp_path_factory, rows):
    folder = tmp_path_factory.mktemp("table")
    quick = read_points(_written(folder / "quick.csv", [("x", "y"), *rows]))
    careful = read_points(
        _written(folder / "careful.csv", [("x", "y", "z"), *([*row, "word"] for row in rows)])
    )
    assert quick.points.tolist() == careful.points.tolist() == rows
    assert careful.left_out == ("z",)


def test_every_format_holds_the_same_points(tmp_path):
    points = np.random.default_rng(0).normal(size=(20, 3))
    np.save(tmp_path / "a.npy", points)
    np.savetxt(tmp_path / "a.txt", points, fmt="%.17g", header="x y z")
    np.savetxt(tmp_path / "b.csv", points, fmt="%.17g", delimiter=",")
    np.savetxt(tmp_path / "c.tsv", points, fmt="%.17g", delimiter="\t")
    (tmp_path / "d.csv.gz").write_bytes(gzip.compress((tmp_path / "b.csv").read_bytes()))
    (tmp_path / "e.csv").write_bytes(
        b"\xef\xbb\xbfx,y,z\r\n" + (tmp_path / "b.csv").read_bytes().replace(b"\n", b"\r\n")
    )
    for name in ("a.npy", "a.txt", "b.csv", "c.tsv", "d.csv.gz", "e.csv"):
        assert read_points(tmp_path / name).points.tolist() == points.tolist(), name
    assert (
        read_points(tmp_path / "e.csv").columns == read_points(tmp_path / "a.txt").columns == ("x", "y", "z")
    )
    assert read_points(tmp_path / "b.csv").columns == ("1", "2", "3")


def test_columns_are_chosen_by_name_and_in_order(tmp_path):
    path = _written(tmp_path / "t.csv", [("id", "x", "word", "y"), (7, 1, "a", 2), (8, 3, "b", 4)])
    table = read_points(path)
    assert (table.columns, table.ids, table.left_out) == (("x", "y"), ("7", "8"), ("word",))
    assert read_points(path, columns=["y", "x"]).points.tolist() == [[2, 1], [4, 3]]
    assert read_points(path, columns=["id", "x"]).points.tolist() == [[7, 1], [8, 3]]
    assert read_points(path, id_column="word").ids == ("a", "b")
    assert read_points(path, id_column="word").columns == ("id", "x", "y")
    assert read_points(path, header=True).columns == ("x", "y")


def test_headers_are_told_by_having_no_numbers(tmp_path):
    path = _written(tmp_path / "years.csv", [(2019, 2020), (1, 2), (3, 4)])
    assert read_points(path).points.shape == (3, 2)
    assert read_points(path, header=True).columns == ("2019", "2020")
    words = _written(tmp_path / "words.csv", [("a", 1), ("b", 2)])
    assert read_points(words).points.tolist() == [[1], [2]]


@pytest.mark.parametrize(
    "row",
    ["nan,nan", ",", "?,NA", "?,x", "1_0,x", "0x1p3,x", "1.2.3,7a", "x,1.5f", "12%,x", "2020-01-01,1st",
     "-.5x,1a"],
)  # fmt: skip
@pytest.mark.parametrize("before", ["", "\n\n"])
def test_a_first_row_that_is_no_numbers_and_no_names_is_refused(tmp_path, row, before):
    (tmp_path / "t.csv").write_text(f"{before}{row}\n1,2\n")
    with pytest.raises(ValueError, match=rf"line {1 + len(before)} has .*; mend it, or pass header=True"):
        read_points(tmp_path / "t.csv")
    assert read_points(tmp_path / "t.csv", header=True).points[:, -1].tolist() == [2]


@pytest.mark.parametrize("row", ["id,1st", "RI,Na", "a,", ",x", "id,2019-01-01", "none,x", "_1,x2"])
def test_names_of_columns_may_look_strange(tmp_path, row):
    (tmp_path / "t.csv").write_text(f"{row}\n1,2\n")
    table = read_points(tmp_path / "t.csv")
    assert len(table.ids) == 1
    assert set(table.columns) <= set(row.split(","))


@pytest.mark.parametrize("name", ["t.csv", "t.txt"])
def test_comments_of_numbers_are_no_points(tmp_path, name):
    for head, header, shape in (
        ("# 7\n", None, (2, 2)),
        ("# made on 3 May\n\n# 2 columns\n", None, (2, 2)),
        ("# 7\nx y\n", None, (2, 2)),
        ("# x y\n", None, (2, 2)),
        ("# x y\n", False, (2, 2)),
        ("# 7 8\n", True, (2, 2)),
    ):
        mark = "," if name == "t.csv" else " "
        text = head.replace(" ", mark).replace(f"#{mark}", "# ") + f"1{mark}2\n3{mark}4\n"
        (tmp_path / name).write_text(text)
        table = read_points(tmp_path / name, header=header)
        assert table.points.shape == shape
        assert table.points.tolist() == [[1, 2], [3, 4]]


@pytest.mark.parametrize("others", ["", ",word"])
def test_whole_numbers_that_doubles_cannot_tell_apart_are_refused(tmp_path, others):
    path = tmp_path / "t.csv"
    for cell in (f"{2**53 + 1}", f"-{2**60 + 1}", f"+{2**64 - 1}", "9" * 400):
        path.write_text(f"x,y{others}\n1,2{others}\n{cell},3{others}\n")
        with pytest.raises(ValueError, match=r"line 3, column 'x' is "):
            read_points(path)
        assert read_points(path, columns=["y"]).points.ravel().tolist() == [2, 3]
    for cell in (f"{2**53}", f"-000{2**60}", "1e300", "9007199254740993.5"):
        path.write_text(f"x,y{others}\n{cell},3{others}\n")
        assert read_points(path).points.tolist() == [[float(cell), 3]]


@pytest.mark.parametrize(
    "given",
    [
        {"max_bytes": None}, {"max_bytes": float("nan")}, {"max_bytes": True}, {"max_bytes": np.arange(2)},
        {"max_bytes": 0}, {"max_bytes": 1.5}, {"columns": 5}, {"columns": "x"}, {"columns": [1]},
        {"columns": []},
        {"id_column": 0}, {"id_column": np.eye(9)}, {"header": "yes"}, {"header": 1}, {"format": np.eye(9)},
        {"path": np.eye(9)}, {"path": 5},
    ],
)  # fmt: skip
def test_wrong_arguments_are_told_in_one_line(tmp_path, given):
    (tmp_path / "t.csv").write_text("x,y\n1,2\n")
    with pytest.raises(ValueError, match=rf"^{next(iter(given))}: expected [^\n]*; got [^\n]*$") as error:
        read_points(**{"path": tmp_path / "t.csv", **given})
    assert len(str(error.value)) < 250


def test_what_python_would_read_but_a_table_does_not_mean(tmp_path):
    path = _written(tmp_path / "t.csv", [("code", "x"), ("1_1", 1), ("1_2", 2)])
    assert read_points(path).left_out == ("code",)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x,y\n1,2\n3,4,5\n", "line 3 has 3 cells; expected 2"),
        ("x,y\n\n1,2\n\n\n3\n", "line 6 has 1 cells"),
        ('id,x\n"two\nlines",1\nb,\n', "line 4, column 'x' is empty"),
        ("x\n1\nnan\n", "line 3, column 'x' is missing"),
        ("x\n1\n2\n1e999\n", "line 4, column 'x' is '1e999', not a finite number"),
        ("x\n1\n2\n-\n", "line 4, column 'x' is '-'"),
    ],
)
def test_lines_are_counted_as_editors_do(tmp_path, text, message):
    (tmp_path / "t.csv").write_text(text)
    with pytest.raises(ValueError, match=r"t\.csv") as error:
        read_points(tmp_path / "t.csv")
    assert message in str(error.value)


def test_columns_of_one_name_are_read_but_not_chosen(tmp_path):
    (tmp_path / "t.csv").write_text("x,x\n1,2\n")
    assert read_points(tmp_path / "t.csv").points.shape == (1, 2)
    with pytest.raises(ValueError, match="2 columns called 'x'"):
        read_points(tmp_path / "t.csv", columns=["x"])


def test_lines_are_right_beyond_the_first_block_of_rows(tmp_path, monkeypatch):
    monkeypatch.setattr("hypermodes.point_tables._AT_ONCE", 7)
    rows = [("name", "x"), *((f"r{k}", k) for k in range(40))]
    rows[31] = ("r30", "")
    with pytest.raises(ValueError, match="line 32, column 'x' is empty"):
        read_points(_written(tmp_path / "t.csv", rows))
    rows[31] = ("r30",)
    with pytest.raises(ValueError, match="line 32 has 1 cells"):
        read_points(_written(tmp_path / "t.csv", rows))


def test_small_files_that_unpack_to_large_ones_are_refused(tmp_path):
    (tmp_path / "bomb.csv.gz").write_bytes(gzip.compress(b"1,2\n" * 1_000_000))
    with pytest.raises(ValueError, match="more than 1000 bytes; raise max_bytes"):
        read_points(tmp_path / "bomb.csv.gz", max_bytes=1000)
    (tmp_path / "cut.csv.gz").write_bytes(gzip.compress(b"1,2\n" * 1000)[:40])
    with pytest.raises(ValueError, match="gzip file is damaged"):
        read_points(tmp_path / "cut.csv.gz")


@given(st.binary(max_size=60))
def test_any_bytes_are_points_or_a_value_error(tmp_path_factory, content):
    folder = tmp_path_factory.mktemp("noise")
    for name in ("a.csv", "a.txt", "a.npy"):
        (folder / name).write_bytes(content)
        with suppress(ValueError):
            assert np.isfinite(read_points(folder / name).points).all()


def test_arrays_that_are_no_tables_are_refused(tmp_path):
    for array in (np.zeros(3), np.zeros((2, 2, 2)), np.array([["a"]]), np.zeros((2, 2), dtype=complex)):
        np.save(tmp_path / "a.npy", array)
        with pytest.raises(ValueError, match="expected rows of numbers"):
            read_points(tmp_path / "a.npy")
    buffer = io.BytesIO()
    np.savez(buffer, x=np.zeros((2, 2)))
    (tmp_path / "a.npy").write_bytes(buffer.getvalue())
    with pytest.raises(ValueError, match="archive of arrays"):
        read_points(tmp_path / "a.npy")
    np.save(tmp_path / "a.npy", np.array([[1.0, np.nan]]))
    with pytest.raises(ValueError, match=r"row 0 \(from 0\), column '2' is missing"):
        read_points(tmp_path / "a.npy")


def test_parquet_knows_what_is_missing(tmp_path):
    pa = pytest.importorskip("pyarrow", reason="Parquet needs pyarrow")
    import pyarrow.parquet

    pyarrow.parquet.write_table(
        pa.table({"x": [1, None, 3], "y": [True, False, True]}), tmp_path / "t.parquet"
    )
    with pytest.raises(ValueError, match=r"row 1 \(from 0\), column 'x' is missing"):
        read_points(tmp_path / "t.parquet")
    assert read_points(tmp_path / "t.parquet", columns=["y"]).points.ravel().tolist() == [1, 0, 1]


def test_standardised_columns_have_mean_0_and_variance_1(tmp_path):
    rng = np.random.default_rng(0)
    points = np.column_stack((rng.normal(5, 1e-3, 50), rng.normal(0, 1e200, 50), np.full(50, 3.0)))
    np.save(tmp_path / "a.npy", points)
    scaled = read_points(tmp_path / "a.npy").standardised().points
    assert scaled.mean(axis=0) == pytest.approx([0, 0, 0], abs=1e-9)
    assert scaled.std(axis=0) == pytest.approx([1, 1, 0])


# -- what was once taken for something else ---------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('1,"1"2\n3,4\n', "it is no proper table"),
        ("x,y\n1,2,3\n4,5,6\n", "line 2 has 3 cells; expected 2"),
        ("\x1c\n\x1d\n", "the file is empty"),
        ("x\n-2.0\n,\n", "line 3 has [12] cells; expected 1|line 3, column 'x' is ','"),
        ("x\n1\n\n3\n", "line 3 is empty; expected a number"),
        ("x\n\n1\n3\n", "line 2 is empty; expected a number"),
        ("1\n  \n3\n", "line 2 is empty; expected a number"),
        ("# \n1 2\n", "line 1 is a comment without names"),
        ("\n#\n", "line 2 is a comment without names"),
    ],
)
@pytest.mark.parametrize("ending", ["csv", "txt"])
def test_nothing_is_dropped_or_joined_in_silence(tmp_path, text, message, ending):
    path = tmp_path / f"points.{ending}"
    path.write_text(text)
    with pytest.raises(ValueError, match=message):
        read_points(path)


@pytest.mark.parametrize(
    "text", ["1,2\n\n3,4\n", "\n1,2\n3,4\n\n \n", "1,2\n \n3,4\n", 'x,y\n1,"2"\n\n3,4\n']
)
def test_blank_lines_between_rows_of_several_cells_are_no_rows(tmp_path, text):
    (tmp_path / "points.csv").write_text(text)
    assert read_points(tmp_path / "points.csv").points.tolist() == [[1, 2], [3, 4]]


@pytest.mark.parametrize(
    "header",
    [
        b"{'descr': '<f8', 'fortran_order': False, 'shape': (3,",
        b"{'descr': '<f8', 'fortran_order': False, 'shape': (%d, 2)}" % 2**64,
        b"{'descr': '<f8', 'fortran_order': False, 'shape': (1000000000, 2)}",
        b"{'descr': '|O', 'fortran_order': False, 'shape': (1, 2)}",
        *(
            b"{'descr': '%s0', 'fortran_order': False, 'shape': (1099511627776, 2)}" % kind
            for kind in (b"|V", b"<U", b"|S")
        ),
        b"{'descr': '<f8', 'fortran_order': False, 'shape': (0, %d)}" % 2**64,
    ],
)
def test_headers_of_arrays_that_lie_are_refused(tmp_path, header):
    path = tmp_path / "points.npy"
    path.write_bytes(
        b"\x93NUMPY\1\0"
        + len(header).to_bytes(2, "little")
        + header
        + bytes(16 * (b"0'," not in header and b"(0," not in header))
    )
    with pytest.raises(ValueError, match=r"^points: .* it is no array saved by NumPy: "):
        read_points(path)


def test_a_column_of_parquet_that_doubles_cannot_hold_is_named(tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    path = tmp_path / "points.parquet"
    pyarrow.parquet.write_table(pyarrow.table({"x": [1, 2], "big": [2**53 + 1, 2]}), path)
    with pytest.raises(ValueError, match=r"column 'big' holds int64, among them numbers beyond 2\*\*53"):
        read_points(path)
    assert read_points(path, columns=["x"]).points.tolist() == [[1], [2]]


def test_parquet_is_measured_before_it_is_read(tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    path = tmp_path / "points.parquet"
    pyarrow.parquet.write_table(pyarrow.table({"x": np.zeros(10**6), "y": np.zeros(10**6)}), path)
    assert path.stat().st_size < 10**5
    with pytest.raises(ValueError, match=r"its 1000000 rows unpack to \d+ bytes, more than max_bytes="):
        read_points(path, max_bytes=10**6)
    assert read_points(path).points.shape == (10**6, 2)


@pytest.mark.parametrize("kind", REPEATED)
def test_what_repeats_in_parquet_takes_no_memory(tmp_path, kind):
    pyarrow = pytest.importorskip("pyarrow")
    path = tmp_path / "points.parquet"
    write_repeated(path, kind, "vast", {"x": np.arange(200.0)})
    with memory_of_arrow(pyarrow) as pool:
        table = read_points(path, max_bytes=2_000_000)
        assert table.points.ravel().tolist() == list(range(200)) * 100
        assert table.left_out == ("vast",)
        with pytest.raises(ValueError, match=r"^points: .* column 'vast' holds [^\n]*; expected numbers$"):
            read_points(path, columns=["vast"])
        if kind == "text":
            ids = read_points(path, id_column="vast", max_bytes=2_000_000).ids
            assert set(ids) == {REPEATED["text"]}
            assert len(set(map(id, ids))) <= 100  # one for each group of rows
        else:
            with pytest.raises(ValueError, match=r"^points: .* column 'vast' holds [^\n]*; expected numbers"):
                read_points(path, id_column="vast", max_bytes=2_000_000)
        assert pool.max_memory() < 10**7


@pytest.mark.parametrize("ids", [["b", "a", None], [3, 1, 3], [True, False, True]])
def test_names_of_rows_in_parquet_are_of_any_plain_type(tmp_path, ids):
    pyarrow = pytest.importorskip("pyarrow")
    path = tmp_path / "points.parquet"
    table = pyarrow.table({"id": ids, "x": [1.0, 2, 3]})
    pyarrow.parquet.write_table(table, path, row_group_size=2)
    assert list(read_points(path).ids) == ids


def test_columns_that_parquet_cannot_tell_apart_are_refused(tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    path = tmp_path / "points.parquet"
    pyarrow.parquet.write_table(pyarrow.table({"x": [1.0, 2], "x.y": [b"a", b"b"]}), path)
    with pytest.raises(ValueError, match=r"columns 'x' and 'x\.y' cannot be told apart; rename one"):
        read_points(path, columns=["x"])


def test_decimals_that_doubles_cannot_tell_apart_are_named(tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    path = tmp_path / "points.parquet"
    pyarrow.parquet.write_table(pyarrow.table({"x": [Decimal("12345678901234567890.12")]}), path)
    with pytest.raises(ValueError, match=r"column 'x' holds decimal128\S* \d+\), among them numbers beyond"):
        read_points(path)
    pyarrow.parquet.write_table(pyarrow.table({"x": [Decimal("1.25"), Decimal("-7")]}), path)
    assert read_points(path).points.tolist() == [[1.25], [-7]]
