import os
import sys
from importlib import import_module
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import io, sparse

from fwbench import catalog
from fwbench.errors import InvalidParameter, InvalidProblem
from fwbench.geometry.forms import Dense, Diagonal, LowRank, Scalar
from fwbench.problem import QuadraticOverHull

read = import_module("fwbench.problems.file").file

ATOMS = np.array([[1.0, 2.5], [3.0, -1.0], [2.0, 0.25], [0.0, 4.0]])
Q = np.array([[2.0, 1.0], [1.0, 3.0]])
C = np.array([0.5, -2.0])


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """Each test works in a folder of its own."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def frame(atoms=ATOMS):
    return pd.DataFrame(atoms, columns=list("xyzuvw")[: atoms.shape[1]])


WRITERS = {
    "a.npy": lambda name: np.save(name, ATOMS),
    "a.npz": lambda name: np.savez(name, atoms=ATOMS),
    "a.csv": lambda name: np.savetxt(name, ATOMS, delimiter=",", header="x,y", comments=""),
    "A.CSV": lambda name: np.savetxt(name, ATOMS),
    "pandas.csv": lambda name: frame().to_csv(name, index=False),
    "a.parquet": lambda name: frame().to_parquet(name),
    "nullable.parquet": lambda name: frame().convert_dtypes().to_parquet(name),
    "dense.mtx": lambda name: io.mmwrite(name, ATOMS, comment="made by scipy"),
    "sparse.mtx": lambda name: io.mmwrite(name, sparse.coo_array(ATOMS)),
    "a.mat": lambda name: io.savemat(name, {"atoms": ATOMS}),
    "sparse.mat": lambda name: io.savemat(name, {"atoms": sparse.csc_array(ATOMS)}),
    "packed.mat": lambda name: io.savemat(name, {"atoms": ATOMS}, do_compression=True),
}


@pytest.mark.parametrize("name", WRITERS)
def test_every_format_gives_the_same_atoms(name):
    WRITERS[name](name)
    problem = read(name)
    np.testing.assert_array_equal(problem.atoms, ATOMS)
    assert (problem.form, problem.c.tolist(), problem.start.m) == (Scalar(1.0), [0.0, 0.0], 1)
    assert type(problem) is QuadraticOverHull


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed, "mat"])
@pytest.mark.parametrize(
    ("matrix", "form"),
    [(Q, Dense), (Q[0], Diagonal), (np.array(2.0), Scalar), (np.triu(Q), LowRank)],
)
def test_named_arrays_give_Q_and_c_too(save, matrix, form):
    if save == "mat":
        name, save = "p.mat", lambda name, **arrays: io.savemat(name, arrays)
    else:
        name = "p.npz"
    save(name, atoms=ATOMS, Q=matrix, c=C)
    problem, expected = read(name), QuadraticOverHull(ATOMS, matrix, C)
    assert type(problem.form) is form
    assert problem.fingerprint == expected.fingerprint


def test_the_only_array_with_two_dimensions_holds_the_atoms():
    np.savez("p.npz", points=ATOMS, Q=Q, c=C, labels=np.arange(4))
    io.savemat("p.mat", {"points": ATOMS, "Q": Q, "c": C, "labels": np.arange(4), "k": 3})
    for name in ("p.npz", "p.mat"):
        np.testing.assert_array_equal(read(name).atoms, ATOMS)


def test_an_array_may_be_chosen_by_name():
    np.savez("p.npz", train=ATOMS, test=ATOMS[:2], Q=Q)
    io.savemat("p.mat", {"train": ATOMS, "test": ATOMS[:1], "Q": Q})
    assert read("p.npz", array="test").n == 2
    assert read("p.mat", array="test").n == 1
    assert type(read("p.mat", array="train").form) is Dense


def test_what_is_not_read_may_hold_anything():
    np.savez("p.npz", atoms=ATOMS, names=np.array([{"a": 1}, None], dtype=object))
    np.testing.assert_array_equal(read("p.npz").atoms, ATOMS)


def test_in_one_dimension_matlab_needs_no_name_for_its_columns():
    io.savemat("p.mat", {"atoms": ATOMS[:, :1], "Q": 2.0, "c": [[1.0]]})
    problem = read("p.mat")
    assert (problem.n, problem.d, problem.c.tolist()) == (4, 1, [1.0])


def test_float32_stays_float32_and_integers_become_doubles():
    np.save("a.npy", ATOMS.astype(np.float32))
    frame(ATOMS.astype(np.float32)).to_parquet("a.parquet")
    np.save("i.npy", np.eye(3, dtype=np.int8))
    assert read("a.npy").dtype == read("a.parquet").dtype == np.float32
    assert read("i.npy").dtype == np.float64


def test_Fortran_order_is_read_as_it_was_meant():
    np.save("a.npy", np.asfortranarray(ATOMS))
    np.testing.assert_array_equal(read("a.npy").atoms, ATOMS)


def test_q_is_the_curvature_where_the_file_holds_none():
    np.save("a.npy", ATOMS)
    assert read("a.npy", q=-2.0).form == Scalar(-2.0)
    np.savez("p.npz", atoms=ATOMS, Q=Q)
    with pytest.raises(InvalidParameter, match="q: the file holds Q itself; got q=-2"):
        read("p.npz", q=-2.0)


def test_a_file_may_be_a_cloud_of_tokens():
    np.save("a.npy", ATOMS)
    assert read("a.npy").start.m == 1
    np.testing.assert_array_equal(read("a.npy", start="atoms").start.keys, [0, 1, 2, 3])


def test_parameters_that_do_not_fit_the_format_are_refused():
    np.save("a.npy", ATOMS)
    (open_csv := frame()).to_csv("a.csv", index=False)
    assert len(open_csv) == read("a.csv", header="yes").n
    with pytest.raises(InvalidParameter, match=r"array: only .npz and .mat .* got a\.csv"):
        read("a.csv", array="x")
    with pytest.raises(InvalidParameter, match=r"header: only .csv .* got a\.npy"):
        read("a.npy", header="no")


def test_a_home_folder_is_found(folder, monkeypatch):
    monkeypatch.setenv("HOME", str(folder))
    np.save("a.npy", ATOMS)
    assert read("~/a.npy").n == 4


# -- what can't be read --------------------------------------------------------------------------


def text(name, content):
    with open(name, "w") as opened:
        opened.write(content)


# Each writes a file; the message holds the file's name and these words.
BAD = {
    "gap.csv": (lambda name: text(name, "x,y\n1,2\n,4\n"), ["missing", "line 3", "column 1 ('x')"]),
    "infinite.csv": (lambda name: text(name, "1,2\n3,inf\n"), ["atoms", "finite", "(1, 1)"]),
    "flat.npy": (lambda name: np.save(name, ATOMS[0]), ["atoms", "2-D", "(2,)"]),
    "nan.npy": (lambda name: np.save(name, ATOMS * np.nan), ["finite", "(0, 0)", "missing"]),
    "complex.npy": (lambda name: np.save(name, ATOMS * 1j), ["real", "complex128"]),
    "text.npy": (lambda name: np.save(name, np.array([["a"]])), ["rational", "'a'"]),
    "objects.npy": (
        lambda name: np.save(name, np.array([[None]]), allow_pickle=True),
        [".npy", "Python objects", "runs code"],
    ),
    "empty.npy": (lambda name: np.save(name, ATOMS[:0]), ["at least one atom", "(0, 2)"]),
    "two.npz": (
        lambda name: np.savez(name, a=ATOMS, b=Q),
        ["2 with two dimensions", "a (4, 2)", "b (2, 2)", "array=NAME"],
    ),
    "none.npz": (lambda name: np.savez(name, Q=Q, c=C), ["none with two", "Q (2, 2)", "c (2,)"]),
    "nothing.npz": (lambda name: np.savez(name), ["no array called atoms", "nothing"]),
    "small q.npz": (lambda name: np.savez(name, atoms=ATOMS, q=2.0), ["'q'", "Q or c"]),
    "large C.mat": (lambda name: io.savemat(name, {"atoms": ATOMS, "C": C}), ["'C'", "Q or c"]),
    "longer c.npz": (lambda name: np.savez(name, atoms=ATOMS, c=ATOMS[:, 0]), ["c", "transposed"]),
    "wrong Q.mat": (
        lambda name: io.savemat(name, {"atoms": ATOMS, "Q": np.eye(3)}),
        ["Q", "(d, d) = (2, 2)", "(3, 3)"],
    ),
    "struct.mat": (
        lambda name: io.savemat(name, {"atoms": {"x": ATOMS}}),
        ["atoms", "real numbers"],
    ),
    "cell.mat": (
        lambda name: io.savemat(name, {"atoms": np.array([[ATOMS, Q]], dtype=object)}),
        ["atoms", "real numbers", "a cell array"],
    ),
    "complex.mtx": (lambda name: io.mmwrite(name, ATOMS * 1j), ["first line", "real", "complex"]),
    "giant.mtx": (
        lambda name: io.mmwrite(name, sparse.coo_array(([1.0], ([1], [1])), (10**7, 10**7))),
        ["dense", "(10000000, 10000000)", "7.45e+05 GiB"],
    ),
    "giant.mat": (
        lambda name: io.savemat(name, {"atoms": sparse.csc_array((10**7, 10**7))}),
        ["dense", "(10000000, 10000000)", "7.45e+05 GiB"],
    ),
    "labels.parquet": (
        lambda name: frame().assign(name=list("abcd")).to_parquet(name),
        ["column 'name'", "no numbers", "string", "labels"],
    ),
    "lists.parquet": (
        lambda name: pd.DataFrame({"embedding": ATOMS.tolist()}).to_parquet(name),
        ["column 'embedding'", "list", "double", "no numbers"],
    ),
    "bool.parquet": (lambda name: (frame() > 1).to_parquet(name), ["column 'x'", "bool"]),
    "dates.parquet": (
        lambda name: frame().astype("datetime64[s]").to_parquet(name),
        ["column 'x'", "timestamp"],
    ),
    "gap.parquet": (
        lambda name: frame().where(frame() != -1).to_parquet(name),
        ["missing", "row 2", "column 'y'"],
    ),
    "gaps.parquet": (
        lambda name: frame().convert_dtypes().where(frame() < 2).to_parquet(name),
        ["missing", "row 2", "column 'x'", "and 1 more"],
    ),
    "keys.parquet": (
        lambda name: pd.DataFrame({"id": [2**60, 1], "x": [0.5, 1.5]}).to_parquet(name),
        ["column 'id'", "2**53", str(2**60), "identifiers"],
    ),
    "empty.parquet": (lambda name: pd.DataFrame(index=[1, 2]).to_parquet(name), ["no columns"]),
    "no rows.parquet": (lambda name: frame()[:0].to_parquet(name), ["at least one atom"]),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD)
def test_what_is_wrong_in_a_file_is_said_in_words(name):
    write, words = BAD[name]
    write(name)
    with pytest.raises(InvalidProblem) as raised:
        read(name)
    message = str(raised.value)
    assert message.startswith(f"file {name}: ")
    assert [word for word in words if word not in message] == [], message


def test_a_name_that_is_not_in_the_file_gets_the_nearest():
    np.savez("p.npz", points=ATOMS)
    with pytest.raises(InvalidProblem, match=r"p\.npz: it holds no array 'point'; .*points\?"):
        read("p.npz", array="point")


def test_a_file_that_is_not_there_is_said_to_be_missing(folder):
    with pytest.raises(InvalidProblem, match=rf"file nix\.csv: no such file in {folder}"):
        read("nix.csv")
    with pytest.raises(InvalidProblem, match=r"file /nix\.csv: no such file$"):
        read("/nix.csv")


def test_a_folder_is_no_file():
    os.mkdir("points.csv")
    with pytest.raises(InvalidProblem, match=r"points\.csv: this is a folder"):
        read("points.csv")


@pytest.mark.parametrize("name", ["points.xlsx", "points", "points.txt", ".csv"])
def test_a_format_that_is_not_known_gets_the_list(name):
    text(name, "1,2\n")
    with pytest.raises(InvalidProblem, match=r"must end in one of \.csv, \.mtx, .*\.mat"):
        read(name)


def test_a_file_that_may_not_be_read_is_refused(monkeypatch):
    def refused(*_):
        raise PermissionError(13, "Permission denied")

    np.save("a.npy", ATOMS)
    text("a.csv", "1,2")
    monkeypatch.setattr(Path, "open", refused)
    for name in ("a.npy", "a.csv"):
        with pytest.raises(InvalidProblem, match=f"file {name}: .*Permission denied"):
            read(name)
        with pytest.raises(InvalidProblem, match=f"file {name}: .*Permission denied"):
            catalog.choices("problems", name)


def test_one_format_under_the_name_of_another_is_refused():
    np.save("a.npy", ATOMS)
    np.savez("a.npz", atoms=ATOMS)
    os.rename("a.npy", "b.npz")
    os.rename("a.npz", "b.npy")
    with pytest.raises(InvalidProblem, match=r"several arrays: .* end in \.npz"):
        read("b.npy")
    with pytest.raises(InvalidProblem, match=r"one array: .* end in \.npy"):
        read("b.npz")
    text("c.csv", "1,2\n")
    for suffix in ("npy", "npz", "parquet", "mtx", "mat"):
        os.rename("c.csv", f"c.{suffix}")
        with pytest.raises(InvalidProblem, match=rf"c\.{suffix}: it(s first line| can't be read)"):
            read(f"c.{suffix}")
        os.rename(f"c.{suffix}", "c.csv")


def test_a_pickle_is_not_executed():
    class Evil:
        def __reduce__(self):
            return print, ("executed",)

    np.save("evil.npy", np.array([Evil()], dtype=object), allow_pickle=True)
    with pytest.raises(InvalidProblem, match=r"evil\.npy: .*Python objects"):
        read("evil.npy")


@pytest.mark.parametrize("name", [name for name in WRITERS if not name.lower().endswith("csv")])
def test_a_torn_file_is_refused_or_complete(name, capfd):
    WRITERS[name](name)
    with open(name, "rb") as opened:
        whole = opened.read()
    for length in range(0, len(whole), max(1, len(whole) // 40)):
        with open(name, "wb") as opened:
            opened.write(whole[:length])
        try:
            atoms = read(name).atoms
        except InvalidProblem:
            continue
        np.testing.assert_array_equal(atoms, ATOMS)
    assert capfd.readouterr() == ("", "")


SPOILT = set(WRITERS) - {"a.csv", "A.CSV", "pandas.csv"}


@pytest.mark.parametrize("name", sorted(SPOILT))
def test_a_spoilt_file_gives_a_problem_or_a_refusal(name):
    WRITERS[name](name)
    with open(name, "rb") as opened:
        whole = bytearray(opened.read())
    rng = np.random.default_rng(0)
    for _ in range(40):
        spoilt = whole.copy()
        for place in rng.integers(len(whole), size=3):
            spoilt[place] ^= int(rng.integers(1, 256))
        with open(name, "wb") as opened:
            opened.write(spoilt)
        try:
            problem = read(name)
        except InvalidProblem:
            continue
        assert np.isfinite(problem.atoms).all()


# -- in the catalogue ----------------------------------------------------------------------------


def test_a_path_alone_names_the_problem():
    np.save("a.npy", ATOMS)
    [choice] = catalog.choices("problems", "a.npy[q=-1]")
    assert choice.label == "file[path=a.npy,q=-1]"
    assert choice.text.startswith('file[path=a.npy,array="",q=-1,header=auto,start=leader,content=')
    np.testing.assert_array_equal(catalog.build_problem(choice).atoms, ATOMS)


def test_an_instance_depends_on_the_content_of_its_file():
    np.save("a.npy", ATOMS)
    [before] = catalog.choices("problems", "a.npy")
    np.save("a.npy", ATOMS + 1)
    [after] = catalog.choices("problems", "a.npy")
    np.save("a.npy", ATOMS)
    [again] = catalog.choices("problems", "file[path=a.npy]")
    assert before.text == again.text != after.text


def test_a_file_that_has_changed_is_not_taken_for_the_same():
    np.save("a.npy", ATOMS)
    [choice] = catalog.choices("problems", "a.npy")
    [same] = catalog.choices("problems", choice.again)
    assert same.text == choice.text
    np.save("a.npy", ATOMS + 1)
    [stale] = catalog.choices("problems", choice.again)
    with pytest.raises(
        InvalidProblem, match=r"a\.npy: its content has changed: .*leave content out"
    ):
        catalog.build_problem(stale)


def test_a_bare_name_says_what_it_needs():
    with pytest.raises(InvalidParameter, match="file: path must be given"):
        catalog.choices("problems", "file")


def test_a_missing_file_is_known_before_anything_runs():
    with pytest.raises(InvalidProblem, match="no such file"):
        catalog.choices("problems", "file[path=nix.csv]")


def test_heavy_readers_are_imported_only_when_needed():
    heavy = {"pandas", "scipy", "scipy.io", "pyarrow"}
    kept = {name: sys.modules.pop(name) for name in list(sys.modules) if name in heavy}
    try:
        np.save("a.npy", ATOMS)
        text("a.csv", "1,2\n")
        assert (read("a.npy").n, read("a.csv").n) == (4, 1)
        assert not heavy & set(sys.modules)
    finally:
        sys.modules.update(kept)
