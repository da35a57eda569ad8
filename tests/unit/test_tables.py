import io

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.io import mmwrite

from fwbench.errors import InvalidProblem
from fwbench.tables import affordable, market_of, numbers_of

calm = settings(deadline=None, derandomize=True, database=None, max_examples=60)

ROWS = [[1.0, 2.5], [-3.0, 4e-3]]

FINE = {
    "commas": "1,2.5\n-3,4e-3\n",
    "no newline at the end": "1,2.5\n-3,4e-3",
    "semicolons": "1;2.5\n-3;4e-3\n",
    "tabs": "1\t2.5\n-3\t4e-3\n",
    "a space": "1 2.5\n-3 4e-3\n",
    "aligned": "  1    2.5\n -3   4e-3\n",
    "commas and spaces": "1, 2.5\n-3, 4e-3\n",
    "a header": "x,y\n1,2.5\n-3,4e-3\n",
    "a header with units": "x (m); y (m)\n1;2.5\n-3;4e-3\n",
    "a quoted header": '"x","y, in m"\n1,2.5\n-3,4e-3\n',
    "quoted numbers": '"1","2.5"\n"-3","4e-3"\n',
    "comments": "# made by numpy\n# x y\n1 2.5\n\n-3 4e-3\n",
    "Windows": "x,y\r\n1,2.5\r\n-3,4e-3\r\n",
    "a mark of the byte order": "\ufeff1,2.5\n-3,4e-3\n",
    "capital E": "1.0E0,25e-1\n-3,4E-3\n",
}


@pytest.mark.parametrize("name", FINE)
def test_tables_are_read_as_they_are_usually_written(name):
    assert numbers_of(FINE[name].encode()).tolist() == ROWS


def test_one_row_and_one_column_are_fine():
    assert numbers_of(b"1,2,3").tolist() == [[1, 2, 3]]
    assert numbers_of(b"1\n2\n3").tolist() == [[1], [2], [3]]
    assert numbers_of(b"x\n1\n2").tolist() == [[1], [2]]
    assert numbers_of(b"0\n1\n2").tolist() == [[0], [1], [2]]


def test_infinity_is_left_to_the_problem():
    assert numbers_of(b"1,inf").tolist() == [[1, np.inf]]


@calm
@given(
    st.lists(st.lists(st.floats(allow_nan=False), min_size=3, max_size=3), min_size=1),
    st.sampled_from([",", ";", "\t", " "]),
    st.booleans(),
)
def test_numbers_come_back_to_the_last_bit(rows, separator, named):
    lines = [separator.join(map(repr, row)) for row in rows]
    if named:
        lines.insert(0, separator.join(["a", "b", "c"]))
    assert numbers_of("\n".join(lines).encode()).tolist() == rows


# Each with what the message must hold: the line, the column, what stands there, the likely slip.
BAD = {
    "": ("", ["empty"]),
    "comments alone": ("# nothing\n\n", ["empty"]),
    "a header alone": ("x,y\n", ["header", "no atoms"]),
    "a column of labels": (
        "name,x,y\nrose,1,2\nlily,3,4\n",
        ["'rose'", "line 2", "column 1 ('name')", "labels"],
    ),
    "labels without a header": ("rose,1,2\nlily,3,4\n", ["line 1", "numbers and text", "'rose'"]),
    "a typing error at first": ("1.0,2.o\n3,4\n", ["line 1", "'2.o'"]),
    "a typing error below": ("1,2\n3,4\n5,6o\n", ["'6o'", "line 3", "column 2", "no number"]),
    "a decimal comma": (
        "1,5;2,5\n3,5;4,5\n",
        ["'1,5'", "line 1", "column 1", "decimal comma", "1.5"],
    ),
    "a decimal comma below": ("x;y\n-3,25;1\n", ["'-3,25'", "line 2", "decimal comma", "-3.25"]),
    "a gap": ("x,y\n1,2\n3,\n5,6\n", ["missing", "line 3", "column 2 ('y')"]),
    "a gap in the first line": ("1,,3\n4,5,6\n", ["missing", "line 1", "column 2"]),
    "NA": ("1,2\nNA,4\n", ["missing", "line 2", "column 1"]),
    "nan": ("1,2\n3,nan\nnan,4\n", ["missing", "line 2", "column 2", "and 1 more"]),
    "nan after comments": ("# a\n\n1,2\n\n3,nan\n", ["line 5", "column 2"]),
    "separators at the ends": (
        "1,2,\n3,4,\n",
        ["missing", "line 1", "column 3", "end of each line"],
    ),
    "a short line": ("1,2,3\n4,5\n", ["line 2 has 2 values, line 1 has 3"]),
    "a long line": ("x,y\n1,2\n3,4,5\n", ["line 3 has 3 values, line 1 has 2"]),
    "another separator": ("1;2\n3,4\n", ["line 2 has 1 values, line 1 has 2"]),
    "row names of R": ('"x","y"\n"1",2,3\n', ["line 2 has 3 values, line 1 has 2"]),
    "an index of pandas": (",x,y\n0,1.5,2\n1,3,4\n", ["first column", "no name", "index=False"]),
    "an index and numbers": (",0,1\n0,1.5,2\n1,3,4\n", ["first column", "index=False"]),
    "an index read and written": ("Unnamed: 0,x\n0,1.5\n", ["first column", "index=False"]),
    "columns counted": ("0,1,2\n0.5,1.5,2.5\n", ["0, 1, …", "header=yes", "header=no"]),
    "columns of years": ("2020,2021,sum\n1,2,3\n", ["line 1", "'sum'", "header=yes"]),
    "UTF-16": ("x,y\n1,2\n".encode("utf-16"), ["UTF-8", "byte 0", "0xff", "UTF-16"]),
    "a picture": (b"\x89PNG\r\n\x1a\n", ["UTF-8", "0x89", "another format"]),
    "zeros": (bytes(100), ["zero bytes", "another format"]),
    "UTF-16 without a mark": ("x,y\n1,2\n".encode("utf-16-le"), ["zero bytes", "UTF-16"]),
}


@pytest.mark.parametrize("name", BAD)
def test_what_is_no_table_of_numbers_is_said_with_its_place(name):
    text, words = BAD[name]
    data = text if isinstance(text, bytes) else text.encode()
    with pytest.raises(InvalidProblem) as raised:
        numbers_of(data)
    assert [word for word in words if word not in str(raised.value)] == [], str(raised.value)


def test_one_may_say_whether_there_is_a_header():
    counted = b"0,1,2\n0.5,1.5,2.5\n"
    assert numbers_of(counted, "yes").tolist() == [[0.5, 1.5, 2.5]]
    assert numbers_of(counted, "no").tolist() == [[0, 1, 2], [0.5, 1.5, 2.5]]
    assert numbers_of(b"2020,2021,sum\n1,2,3\n", "yes").tolist() == [[1, 2, 3]]
    with pytest.raises(InvalidProblem, match="'x' in line 1, column 1 is no number"):
        numbers_of(b"x,y\n1,2\n", "no")


def test_a_first_atom_of_small_integers_is_no_header():
    assert numbers_of(b"0,1\n1,0\n2,2\n").tolist() == [[0, 1], [1, 0], [2, 2]]
    assert numbers_of(b"0,1\n").tolist() == [[0, 1]]
    assert numbers_of(b"1,0\n0.5,0.5\n").tolist() == [[1, 0], [0.5, 0.5]]


@calm
@given(st.binary(max_size=40))
def test_any_bytes_are_a_table_or_are_refused(data):
    try:
        found = numbers_of(data)
    except InvalidProblem:
        return
    assert found.ndim == 2
    assert not np.isnan(found).any()


# -- Matrix Market -------------------------------------------------------------------------------

DENSE = np.array([[1.0, 0.0, -2.5], [0.0, 1e-300, 3.0]])
SYMMETRIC = np.array([[1.0, 2.0, 0.0], [2.0, 0.5, -3.0], [0.0, -3.0, 4.0]])


def market(matrix, **options):
    opened = io.BytesIO()
    mmwrite(opened, matrix, **options)
    return opened.getvalue()


@pytest.mark.parametrize("form", [np.asarray, sparse.coo_array])
@pytest.mark.parametrize("symmetry", ["general", "symmetric"])
@pytest.mark.parametrize("field", ["real", "integer"])
def test_a_matrix_market_file_gives_its_matrix(form, symmetry, field):
    matrix = SYMMETRIC if symmetry == "symmetric" else DENSE
    matrix = np.rint(matrix).astype(int) if field == "integer" else matrix
    data = market(form(matrix), symmetry=symmetry, field=field, comment="two\nlines")
    assert f"{field} {symmetry}".encode() in data
    np.testing.assert_array_equal(market_of(data), matrix)


def test_a_pattern_is_of_ones():
    data = market(sparse.coo_array(DENSE), field="pattern")
    assert b"pattern" in data
    np.testing.assert_array_equal(market_of(data), DENSE != 0)


def test_entries_of_one_place_add_up():
    text = b"%%MatrixMarket matrix coordinate real general\n1 1 2\n1 1 0.5\n1 1 0.25\n"
    assert market_of(text).tolist() == [[0.75]]


def test_a_sparse_matrix_may_be_empty():
    assert market_of(market(sparse.coo_array((2, 3)))).tolist() == [[0, 0, 0], [0, 0, 0]]


HEAD = "%%MatrixMarket matrix coordinate real general\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "first line must be %%MatrixMarket .* got ''"),
        ("1 2\n3 4\n", "first line must be .* got '1 2'"),
        ("%%MatrixMarket matrix array complex general\n", "first line .*real.integer.pattern"),
        ("%%MatrixMarket matrix array real skew-symmetric\n", "first line .*general.symmetric"),
        ("%%MatrixMarket matrix array real\n", "first line"),
        (HEAD, "size must be 3 whole numbers; got "),
        (HEAD + "2 2", r"size must be 3 whole numbers; got \['2', '2'\]"),
        (HEAD + "2 2 1.5\n", r"size .* got \['2', '2', '1.5'\]"),
        (HEAD + "2 -2 1\n1 1 1\n", "size .* '-2'"),
        (HEAD + "2 2 2\n1 1 1\n", r"holds 3 of 6 numbers \(cut short"),
        (HEAD + "2 2 1\n1 1 1\n2 2 2\n", "holds 6 of 3 numbers"),
        (HEAD + "2 2 1\n3 1 1\n", r"outside of its shape \(2, 2\)"),
        (HEAD + "2 2 1\n1 0 1\n", r"outside of its shape \(2, 2\)"),
        (HEAD + "2 2 1\n1.5 1 1\n", r"outside of its shape \(2, 2\)"),
        (HEAD + "2 2 1\n1 1 one\n", "'one' is no number"),
        (HEAD.replace("general", "symmetric") + "2 3 0\n", r"symmetric and has the shape \(2, 3\)"),
        (HEAD.replace("coordinate", "array") + "2 2\n1\n2\n3\n", "holds 3 of 4 numbers"),
    ],
)
def test_what_is_no_matrix_market_file_is_said(text, message):
    with pytest.raises(InvalidProblem, match=message):
        market_of(text.encode())


def test_a_torn_matrix_market_file_is_refused_or_complete():
    for matrix in (DENSE, sparse.coo_array(DENSE), SYMMETRIC):
        data, complete = market(matrix), 0
        for length in range(len(data)):
            try:
                found = market_of(data[:length])
            except InvalidProblem:
                continue
            complete += 1  # but for digits of the last number, or the newline
            assert (found.shape, found[0, 0]) == (matrix.shape, 1.0)
        assert 0 < complete < 30


@calm
@given(st.binary(max_size=30), st.integers(0, 60))
def test_any_bytes_are_a_matrix_or_are_refused(data, place):
    whole = market(DENSE)
    try:
        found = market_of(whole[:place] + data + whole[place + len(data) :])
    except (InvalidProblem, ValueError):
        return
    assert found.ndim == 2


def test_what_no_memory_holds_is_not_asked_for():
    affordable((1000, 1000))
    with pytest.raises(InvalidProblem, match=r"\(10000000, 10000000\) takes 7.45e\+05 GiB"):
        affordable((10**7, 10**7))


@pytest.mark.parametrize("text", ["1,2\x0c3,4", "1\x0b2\n3 4", "1\xa02\n3 4"])
def test_only_line_ends_end_lines_and_only_blanks_part_cells(text):
    with pytest.raises(InvalidProblem, match=r"is U\+00[0-9A]"):
        numbers_of(text.encode())


@pytest.mark.parametrize("cell", ["1_0", "٣"])
def test_a_cell_is_a_number_as_tables_write_it(cell):
    with pytest.raises(InvalidProblem, match="line 2"):
        numbers_of(f"1,2\n{cell},4".encode())
