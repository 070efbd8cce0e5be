"""Files that are broken or made to hurt: a clear ValueError or a right answer, in little time and memory."""

import gzip
import io
import json
import re
import tracemalloc
import zlib

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import hypermodes as hm
from interop.documents import KINDS, read_text, reading_by, written
from repeated_columns import REPEATED, memory_of_arrow, write_repeated
from strategies import hif_documents

both_ways = pytest.mark.usefixtures("way")


def tried(content, kind, **options):
    """The hypergraph, or the message of the one error that is allowed; it has one line."""
    try:
        return read_text(content, kind, **options)
    except ValueError as error:
        message = str(error)
    assert "\n" not in message
    assert len(message) < 600
    return message


# -- fuzzing --------------------------------------------------------------------------------------------


@given(
    st.binary(max_size=60) | st.text(max_size=60),
    st.sampled_from(KINDS),
    st.sampled_from(["at once", "in pieces"]),
)
def test_anything_is_read_or_refused(content, kind, way):
    with reading_by(way):
        tried(content, kind)


json_like = st.lists(
    st.sampled_from(
        ['{', '}', '[', ']', ',', ':', '"', '\\', ' ', '"edge"', '"node"', '"incidences"', '"weight"',
         '"attrs"', '"nodes"', '"a"', '1', '-', '0', '.5', 'e9', 'null', 'NaN', '{"edge":1,"node":2}',
         '{"incidences":[', ']}']
    ),
    max_size=25,
).map("".join)  # fmt: skip


@settings(max_examples=300)
@given(json_like)
def test_anything_like_json_is_read_alike_or_refused_both_ways(text):
    with reading_by("at once"):
        plain = tried('{"incidences":[' + text, "hif")
    with reading_by("in pieces"):
        kernels = tried('{"incidences":[' + text, "hif")
    assert isinstance(plain, str) == isinstance(kernels, str)
    if not isinstance(plain, str):
        assert plain == kernels


rows = st.lists(
    st.sampled_from(
        ["a", "b", "1", "2", "0.5", ",", ",", "\n", "\r\n", "\r", '"', '""', " ", "\t", "1e400", "é", "\xa0"]
    ),
    max_size=30,
).map("".join)  # fmt: skip


@settings(max_examples=300)
@given(rows)
def test_anything_like_a_table_is_read_alike_or_refused_both_ways(text):
    with reading_by("at once"):
        plain = tried("1,2\n" + text, "csv")
    with reading_by("in pieces"):
        assert tried("1,2\n" + text, "csv") == plain


def mutated(draw, content):
    content = bytearray(content)
    for _ in range(draw(st.integers(0, 3))):
        where = draw(st.integers(0, len(content) - 1))
        content[where] = draw(st.integers(0, 255) | st.sampled_from(list(b'{}[],:"\\ 019-e.\n')))
    return bytes(content[: draw(st.integers(0, len(content)) | st.just(len(content)))])


@settings(max_examples=100)
@given(st.data(), hif_documents(), st.sampled_from(KINDS))
def test_mutated_files_are_read_or_refused(data, document, kind):
    hypergraph = read_text(json.dumps(document), directed="ignore")
    if kind not in ("hif", "npz"):
        hypergraph = hm.Hypergraph(hypergraph.incidence, hypergraph.weights)
    content = mutated(data.draw, written(hypergraph, kind))
    for way in ("at once", "in pieces"):
        with reading_by(way):
            tried(content, kind, directed="ignore")


@both_ways
@pytest.mark.data
@pytest.mark.parametrize("name", ["lesmis.hif.json.gz", "diseasome.json.gz", "ISPD98_ibm01.hgr.gz"])
def test_mutated_real_files_are_read_or_refused(name, data_folder):
    packed = (data_folder / "hypergraphs_hif" / name).read_bytes()
    kind = "hmetis" if ".hgr" in name else "hif"

    @settings(max_examples=10)
    @given(st.data())
    def check(data):
        tried(mutated(data.draw, gzip.decompress(packed)), kind)
        tried(mutated(data.draw, packed), kind)

    check()


@settings(max_examples=300)
@given(
    st.floats(1e-9, 1e9).map(repr)
    | st.from_regex(r"[0-9]{1,3}\.[0-9]{12,19}", fullmatch=True)
    | st.from_regex(r"[1-9][0-9]{0,19}(\.[0-9]{1,6})?([eE][-+]?[0-9]{1,2})?", fullmatch=True)
)
def test_numbers_are_the_nearest_doubles(digits):
    assume(float(digits) > 1e-99)  # smaller ones are refused, as weights are that are 0
    hypergraph = read_text(f"e,v,{digits}\n", "csv", header=False)
    said = hypergraph.annotations
    assert (hypergraph.incidence.data[0] if said is None else said.incidences.weights[0]) == float(digits)


# -- large files are read as small ones -----------------------------------------------------------------

MANY = 200_000


@pytest.mark.parametrize("n", [1, MANY])
def test_a_header_that_ends_in_a_carriage_return_costs_no_row(n):
    text = "edge,node\r" + "".join(f"{i},{i}\n" for i in range(n))
    assert read_text(text, "csv").n_edges == n


@pytest.mark.parametrize("n", [1, MANY])
@pytest.mark.parametrize(
    "record",
    [
        '{"edge":1,"node":2,"attrs":{]}',
        '{"edge":1,"node":2,"attrs":{]},"attrs":{}}',
        '{"edge":1,"edge":[,"node":2}',
    ],
)
def test_records_that_are_no_json_are_refused_wherever_they_are(record, n):
    whole = ",".join(['{"edge":1,"node":3}'] * n)
    for text in (f"{record},{whole}", f"{whole},{record}", f"{whole},{record},{whole}"):
        found = tried(f'{{"incidences":[{text}]}}', "hif")
        assert "not JSON" in found


@pytest.mark.parametrize("n", [1, MANY])
@pytest.mark.parametrize(
    "record",
    [
        '{"edge":1,"node":2,"edge":1}',
        '{"edge" : 1, "node": 2, "edge"\t:1}',
        '{"edge":1,"node":2,"weight":1e999,"edge":1}',
        '{"edge":"a:b","node":2,"e\\u0064ge":1}',
        '{"edge":1,"node":2,"attrs":{"a":{"edge":1,"b":[],"edge":2}}}',
    ],
)
def test_keys_that_come_twice_are_refused_wherever_they_are(record, n):
    whole = ",".join(['{"edge":1,"node":3}'] * n)
    for text in (f"{record},{whole}", f"{whole},{record}", f"{whole},{record},{whole}"):
        found = tried(f'{{"incidences":[{text}]}}', "hif")
        assert "the key 'edge' comes twice in one JSON object" in found
    once = '{"edge":"a:b","node":2,"attrs":{"a":{"edge":1,"b":[{"edge":2}]}}}'
    assert tried(f'{{"incidences":[{once},{whole}]}}', "hif").n_edges == 2


@pytest.mark.parametrize("key", ["incidences", "nodes", "metadata"])
def test_what_comes_twice_at_the_top_is_refused(key):
    content = json.dumps({"incidences": [{"edge": 1, "node": 2}], "nodes": [], "metadata": {}})
    again = {"incidences": '[{"edge":3,"node":4}]', "nodes": "[]", "metadata": "{}"}[key]
    found = tried(f'{content[:-1]},"{key}":{again}}}', "hif")
    assert f"the key {key!r} comes twice in one JSON object" in found


@pytest.mark.parametrize("n", [1, MANY])
def test_cells_beyond_what_a_cell_may_hold_are_refused(n):
    text = "".join(f"{i},{i}\n" for i in range(n))
    assert tried(f"{text}0,{'x' * 131_072}\n", "csv").n_edges == n
    assert f"line {n + 1}: field larger than field limit" in tried(f"{text}1,{'x' * 131_073}\n", "csv")


@pytest.mark.parametrize("size", [8, 30, 60, 1000])
def test_records_end_where_they_end_whatever_is_in_them(monkeypatch, size):
    document = {
        "incidences": [
            {"edge": "}]},", "node": i, "attrs": {"x": {"y": [{}, {"},": "},{"}]}, "}": ["},"]}}
            for i in range(9)
        ],
        "nodes": [{"node": "},", "attrs": {"],": {}}}],
    }
    monkeypatch.setattr("hypermodes.interop.hif._PIECE", size)
    for indent in (None, 1):
        content = json.dumps(document, indent=indent)
        assert json.loads(written(read_text(content))) == document


# -- numbers --------------------------------------------------------------------------------------------


@both_ways
@pytest.mark.parametrize(
    "number", ["NaN", "Infinity", "-Infinity", "1e999", "-1e999", "1" + "0" * 400, "1" * 5000]
)
@pytest.mark.parametrize(
    "document",
    [
        '{"incidences":[{"edge":1,"node":1,"weight":%s}]}',
        '{"incidences":[{"edge":1,"node":1}],"edges":[{"edge":1,"weight":%s}]}',
        '{"incidences":[{"edge":1,"node":1}],"nodes":[{"node":1,"weight":%s}]}',
    ],
)  # fmt: skip
def test_weights_that_are_no_finite_numbers_are_refused(number, document):
    assert isinstance(tried(document % number, "hif"), str)


@both_ways
@pytest.mark.parametrize("number", ["NaN", "Infinity", "1e999", "-1e400"])
@pytest.mark.parametrize(
    "document",
    [
        '{"incidences":[{"edge":1,"node":1,"attrs":{"x":%s}}]}',
        '{"incidences":[{"edge":1,"node":1}],"metadata":{"x":[%s]}}',
        '{"incidences":[{"edge":%s,"node":1}]}',
    ],
)  # fmt: skip
def test_numbers_that_json_cannot_say_are_refused_everywhere(number, document):
    assert isinstance(tried(document % number, "hif"), str)


@both_ways
def test_weights_too_far_apart_are_refused():
    text = '{"incidences":[{"edge":1,"node":1,"weight":1e300},{"edge":1,"node":2,"weight":1e-300}]}'
    assert "too far apart" in tried(text, "hif")


@both_ways
def test_long_numbers_are_names():
    name = 10**200 + 7
    hypergraph = read_text(f'{{"incidences":[{{"edge":{name},"node":-{name}}}]}}')
    assert hypergraph.labels == (name,)
    assert hypergraph.vertices == (-name,)


# -- depth and size -------------------------------------------------------------------------------------


@both_ways
@pytest.mark.parametrize("depth", [150, 100_000])
@pytest.mark.parametrize(
    "document",
    [
        "%s",
        '{"incidences":%s}',
        '{"incidences":[%s]}',
        '{"incidences":[{"edge":1,"node":1,"attrs":{"x":%s}}]}',
        '{"incidences":[{"edge":%s,"node":1}]}',
        '{"incidences":[{"edge":1,"node":1}],"metadata":{"x":%s}}',
        '{"incidences":[{"edge":1,"node":1}],"nodes":[{"node":1,"attrs":{"x":%s}}]}',
    ],
)  # fmt: skip
@pytest.mark.parametrize("closed", [True, False])
def test_deep_nesting_is_refused(depth, document, closed):
    deep = "[" * depth + "]" * depth * closed
    assert isinstance(tried(document % deep, "hif"), str)
    deep = '{"a":' * depth + "1" + "}" * depth * closed
    assert isinstance(tried(document % deep, "hif"), str)


def bomb(size):
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    return b"".join([*(packer.compress(bytes(1 << 20)) for _ in range(size >> 20)), packer.flush()])


@pytest.mark.parametrize("kind", KINDS)
def test_a_gzip_bomb_goes_off_at_the_limit(kind):
    content = bomb(1 << 27)
    tracemalloc.start()
    try:
        message = tried(content, kind, max_bytes=1 << 20)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert "max_bytes=1048576; raise max_bytes to read it" in message
    assert peak < 8e6


def test_parquet_is_measured_before_it_is_read():
    pyarrow = pytest.importorskip("pyarrow")
    pytest.importorskip("pyarrow.parquet")
    stream = io.BytesIO()
    one = pyarrow.array(["x" * 100]).dictionary_encode()
    column = pyarrow.DictionaryArray.from_arrays(pyarrow.array([0] * 10**6, pyarrow.int32()), one.dictionary)
    pyarrow.parquet.write_table(pyarrow.table({"edge": column, "node": column}), stream)
    assert len(stream.getvalue()) < 10**5
    assert "its 1000000 rows unpack to" in tried(stream.getvalue(), "parquet", max_bytes=10**6)
    assert tried(stream.getvalue(), "parquet").n_edges == 1


@pytest.mark.parametrize("role", ["edge", "node", "weight", "edge_weight", "other"])
@pytest.mark.parametrize("kind", REPEATED)
def test_what_repeats_in_parquet_takes_no_memory(kind, role):
    pyarrow = pytest.importorskip("pyarrow")
    stream = io.BytesIO()
    write_repeated(stream, kind, role, {"edge": range(200), "node": range(200)})
    with memory_of_arrow(pyarrow) as pool:
        read = tried(stream.getvalue(), "parquet", max_bytes=2_000_000, duplicates="last")
        assert pool.max_memory() < 10**7
    if role == "other" or (role in ("edge", "node") and kind == "text"):
        sizes = (1 if role == "edge" else 200, 1 if role == "node" else 200)
        assert (read.n_edges, read.n_vertices) == sizes
    else:
        assert f"column {role!r}: expected " in read
        assert re.search("found (string|binary|list<|struct<)", read)


def test_damaged_pages_of_parquet_are_noticed():
    pytest.importorskip("pyarrow")
    hypergraph = hm.Hypergraph.from_edges([[f"v{i * j % 17}" for j in range(1, 5)] for i in range(1, 40)])
    content = written(hypergraph, "parquet")
    for place in range(4, len(content) // 2, 3):
        changed = bytearray(content)
        changed[place] ^= 1
        read = tried(bytes(changed), "parquet")
        assert isinstance(read, str) or read == hypergraph


def test_the_limit_is_on_what_is_unpacked_and_can_be_raised():
    content = gzip.compress(b"1,2\n" * 1000)
    assert "raise max_bytes" in tried(content, "csv", max_bytes=3999)
    assert tried(content, "csv", max_bytes=4000).n_edges == 1
    assert tried(gzip.decompress(content), "csv", max_bytes=1).n_edges == 1


@pytest.mark.parametrize("cut", [3, 10, 20, -9, -4, -1])
def test_damaged_gzip_is_refused(cut):
    content = gzip.compress(b"1,2\n3,4\n" * 50, mtime=0)
    assert "gzip data are damaged" in tried(content[:cut], "csv")


def test_a_vertex_in_a_million_hyperedges():
    n = 10**6
    hypergraph = read_text("\n".join(f"{i},hub" for i in range(n)), "csv")
    assert (hypergraph.n_vertices, hypergraph.n_edges) == (1, n)


@both_ways
def test_names_that_are_html_stay_what_they_are():
    name = '<script>alert("x")</script>&amp;\u2028\x00'
    hypergraph = hm.Hypergraph.from_edges([[name, "b"]], labels=[name])
    for kind in ("hif", "npz", "csv", "tsv"):
        assert read_text(written(hypergraph, kind), kind) == hypergraph


@both_ways
def test_a_file_that_is_not_unicode_is_refused():
    assert "UTF-8" in tried(b'{"incidences":[{"edge":"\xff","node":1}]}', "hif")
    assert "UTF-8" in tried("1,2".encode("utf-16"), "csv")


def test_an_interrupted_pipe_is_read_as_far_as_it_goes():
    class Pipe(io.RawIOBase):
        """Cannot seek, and gives a byte at a time."""

        def __init__(self, content):
            self.rest = io.BytesIO(content)

        def readable(self):
            return True

        def readinto(self, room):
            piece = self.rest.read(1)
            room[: len(piece)] = piece
            return len(piece)

    content = written(hm.Hypergraph.from_edges([[1, 2], [2, 3]]))
    for sent in (content, gzip.compress(content)):
        assert hm.read(io.BufferedReader(Pipe(sent)), format="hif").n_edges == 2
