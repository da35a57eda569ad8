"""Files of points that are damaged, or made to do harm: a problem, or a sentence."""

import io
import os
import pickle
import socket
import struct
import tracemalloc
import zipfile
import zlib
from importlib import import_module
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy import io as sio
from scipy import sparse

from fwbench import catalog, intake
from fwbench.errors import InvalidProblem
from fwbench.problem import QuadraticOverHull

from .made_hostile import calm

read = import_module("fwbench.problems.file").file

ATOMS = np.array([[1.0, 2.5], [3.0, -1.0], [2.0, 0.25], [0.0, 4.0]])
SUFFIXES = (".csv", ".npy", ".npz", ".parquet", ".mtx", ".mat")


def written(write, *arguments, **options):
    buffer = io.BytesIO()
    write(buffer, *arguments, **options)
    return buffer.getvalue()


def parquet(frame, **options):
    return written(lambda file: frame.to_parquet(file, **options))


FRAME = pd.DataFrame(ATOMS, columns=["x", "y"])
NAMED = {"atoms": ATOMS, "Q": np.eye(2), "c": ATOMS[0]}
CELLS = {**NAMED, "s": {"x": ATOMS}, "o": np.array([[ATOMS, "x"]], dtype=object), "t": "text"}
WHOLE = {
    "array.npy": written(np.save, ATOMS),
    "texts.npy": written(np.save, np.array([["1/7", "2"], ["3", "4"]])),
    "stored.npz": written(np.savez, **NAMED),
    "packed.npz": written(np.savez_compressed, **NAMED),
    "plain.parquet": parquet(FRAME, compression=None),
    "packed.parquet": parquet(FRAME, compression="zstd"),
    "nullable.parquet": parquet(FRAME.convert_dtypes(), compression="gzip", index=True),
    "dense.mtx": written(sio.mmwrite, ATOMS),
    "sparse.mtx": written(sio.mmwrite, sparse.coo_array(ATOMS)),
    "plain.mat": written(sio.savemat, NAMED),
    "packed.mat": written(sio.savemat, CELLS, do_compression=True),
    "cells.mat": written(sio.savemat, CELLS),
    "sparse.mat": written(sio.savemat, {"atoms": sparse.csc_array(ATOMS)}),
    "old.mat": written(sio.savemat, NAMED, format="4"),
    "old sparse.mat": written(sio.savemat, {"atoms": sparse.csc_array(ATOMS)}, format="4"),
    "table.csv": FRAME.to_csv(index=False).encode(),
}
WORDS = st.sampled_from(
    [b"\xff\xff\xff\xff", b"\xff\xff\xff\x7f", b"\0\0\0\x80", bytes(4), b"\1\0\0\0", bytes(200)]
)


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def taken(name, data):
    """Read a file: a problem of finite numbers, or a sentence that names the file."""
    Path(name).write_bytes(data)
    said = ""
    try:
        problem = read(name)
    except InvalidProblem as error:
        said = str(error)
    if said:
        assert said.startswith(f"file {name}: ")
        assert len(said) < 1000
        return
    assert isinstance(problem, QuadraticOverHull)
    assert np.isfinite(problem.atoms).all()


@st.composite
def spoilt(draw):
    name = draw(st.sampled_from(sorted(WHOLE)))
    data = bytearray(WHOLE[name])
    for _ in range(draw(st.integers(1, 3))):
        place = draw(st.integers(0, len(data)))
        how = draw(st.sampled_from(["byte", "bit", "word", "cut", "repeat"]))
        if how == "cut":
            data = data[:place]
        elif how == "word":
            word = draw(WORDS)
            data[place : place + len(word)] = word
        elif how == "repeat":
            data[place:place] = data[place // 2 : place]
        elif place < len(data):
            data[place] ^= draw(st.integers(1, 255)) if how == "byte" else 1 << place % 8
    return name, bytes(data)


# texts of letters that are none: numpy makes them, Python ends at them
@example(("a.npy", written(np.save, np.array([["1"]])).replace(b"1\0\0\0", b"1\0\0\x7f")))
@example(("a.npy", written(np.save, np.array([["1e9_9_9_9_9"]]))))
@settings(calm, max_examples=200)
@given(spoilt())
def test_a_spoilt_file_gives_a_problem_or_a_sentence(case):
    taken(*case)


@pytest.mark.slow
@settings(calm, max_examples=20_000)
@given(spoilt())
def test_very_many_spoilt_files_give_problems_or_sentences(case):
    taken(*case)


@example("a.csv", b'1,"' + b"2" * 200_000 + b'"')  # a cell beyond the limit of the csv module
@example("a.mtx", b"%%MatrixMarket matrix array real general\n1 1\n1_0\n")
@example("a.mtx", b"%%MatrixMarket matrix array real general\n" + b"9" * 5000 + b" 1\n1\n")
@example("a.npy", b"\x93NUMPY\x01\x00\xff\x1f" + b"(" * 8191)
@example("a.npy", b"\x93NUMPY\x01\x00\xff\x1f" + b"-" * 8191)
@example("a.mat", bytes(20))
@settings(calm, max_examples=100)
@given(st.sampled_from(SUFFIXES).map("a{}".format), st.binary(max_size=200))
def test_any_bytes_give_a_problem_or_a_sentence(name, data):
    taken(name, data)


# -- nothing is executed -----------------------------------------------------------------------


class Evil:
    def __reduce__(self):
        return Path("executed").touch, ()


def header(shape, descr="<f8"):
    text = repr({"descr": descr, "fortran_order": False, "shape": shape}).ljust(117) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text.encode()


def zipped(members, packed=zipfile.ZIP_DEFLATED):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", packed) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return buffer.getvalue()


def extended():
    class Extension(pa.ExtensionType):
        def __init__(self):
            super().__init__(pa.float64(), "made.extension")

        def __arrow_ext_serialize__(self):
            return pickle.dumps(Evil())

        @classmethod
        def __arrow_ext_deserialize__(cls, storage, data):
            return cls()

    column = pa.ExtensionArray.from_storage(Extension(), pa.array([1.0, 2.0]))
    return written(lambda file: pq.write_table(pa.table({"x": column}), file))


PICKLES = {
    "evil.npy": written(np.save, np.array([Evil()], dtype=object), allow_pickle=True),
    "evil.npz": written(np.savez, atoms=np.array([[Evil()]], dtype=object)),
    "evil Q.npz": written(np.savez, atoms=ATOMS, Q=np.array([[Evil()]], dtype=object)),
    "bare.npy": pickle.dumps(Evil()),
    "bare.npz": pickle.dumps(Evil()),
    "inside.npz": zipped({"atoms.npy": pickle.dumps(Evil())}),
    "cell.mat": written(sio.savemat, {"atoms": np.array([[ATOMS, "x"]], dtype=object)}),
}


@pytest.mark.parametrize("name", PICKLES)
def test_nothing_in_a_file_is_executed(name):
    Path(name).write_bytes(PICKLES[name])
    with pytest.raises(InvalidProblem):
        read(name)
    assert not Path("executed").exists()


def test_a_type_of_pyarrow_that_is_extended_is_not_unpickled():
    taken("evil.parquet", extended())
    assert not Path("executed").exists()


def test_a_function_or_an_object_of_matlab_is_named():
    data = bytearray(WHOLE["cells.mat"])
    for kind, said in (
        (16, "a function handle"),
        (17, "an object of a MATLAB class"),
        (3, "an obj"),
    ):
        place = 128 + 8 + 8  # header, tag of the variable, tag of its flags
        data[place] = kind
        if kind == 17:  # no shape, the name follows at once
            continue
        Path("a.mat").write_bytes(data)
        with pytest.raises(InvalidProblem, match=f"atoms must hold real numbers; it is {said}"):
            read("a.mat")


# -- bombs -------------------------------------------------------------------------------------

GIB = 2**30


def rows_of(count):
    """Make a small file of very many rows: one number over and over."""
    column = pa.DictionaryArray.from_arrays(pa.array(np.zeros(count, np.int32)), pa.array([1.5]))
    table = pa.table({"x": column.cast(pa.float64())})
    return written(lambda file: pq.write_table(table, file, compression="zstd"))


def claiming(data, count):
    """Return a .npz file whose directory calls a member as long as it likes."""
    place = data.rfind(b"PK\1\2") + 24
    return data[:place] + struct.pack("<I", count) + data[place + 4 :]


def variable(size, packed):
    """Return a .mat file with a compressed variable that says how long it is."""
    data = zlib.compress(struct.pack("<II", 14, size) + packed)
    return WHOLE["plain.mat"][:128] + struct.pack("<II", 15, len(data)) + data


# made when they are asked for: every process that collects tests would make them all
BOMBS = {
    "short.npy": lambda: header((10**6, 10**6)),
    "short empty.npy": lambda: header((10**18, 0)),
    "widthless.npy": lambda: header((10**9, 10**9), "<U0"),
    "nested.npy": lambda: header((1, 1), ("<f8", (10**9,))),
    "negative.npy": lambda: header((-1, -8)) + bytes(64),
    "packed.npz": lambda: zipped({"atoms.npy": header((4 * 2**20, 2)) + bytes(64 * 2**20)}),
    "several.npz": lambda: zipped(
        {f"{k}.npy": header((2**20, 2)) + bytes(16 * 2**20) for k in range(4)}
    ),
    "lying.npz": lambda: claiming(zipped({"atoms.npy": header((2**20, 1)) + bytes(2**23)}), 200),
    "boasting.npz": lambda: claiming(zipped({"atoms.npy": header((1, 1)) + bytes(8)}), 2**32 - 2),
    "endless.npz": lambda: zipped({f"{k}": b"" for k in range(90_000)}, zipfile.ZIP_STORED),
    "nested.npz": lambda: zipped({"atoms.npy": zipped({"atoms.npy": bytes(2**20)})}),
    "twice.npz": lambda: zipped({"atoms.npy": WHOLE["array.npy"], "atoms": WHOLE["array.npy"]}),
    "rare.npz": lambda: zipped({"atoms.npy": WHOLE["array.npy"]}, zipfile.ZIP_LZMA),
    "wide.mtx": lambda: b"%%MatrixMarket matrix coordinate real general\n1000000000 1000000000 0\n",
    "symmetric.mtx": lambda: (
        b"%%MatrixMarket matrix coordinate real symmetric\n99999999 99999999 0\n"
    ),
    "honest.mat": lambda: written(
        sio.savemat, {"atoms": np.zeros((3 * 2**21, 1))}, do_compression=True
    ),
    "boasting.mat": lambda: variable(2**32 - 1, b""),
    "packed.mat": lambda: variable(64, bytes(2**24)),
    "sparse.mat": lambda: written(sio.savemat, {"atoms": sparse.csc_array((10**6, 10**6))}),
    "rows.parquet": lambda: rows_of(8 * 2**20),
    "columns.csv": lambda: b"1," * 2**20 + b"1\n",
    "lines.csv": lambda: b"1\n" * 2**18,
}


@pytest.mark.parametrize("name", BOMBS)
def test_a_bomb_is_refused_before_it_goes_off(name, monkeypatch):
    monkeypatch.setattr(intake, "room", lambda: 32 * 2**20)
    Path(name).write_bytes(BOMBS[name]())
    tracemalloc.start()
    try:
        with pytest.raises(InvalidProblem) as raised:
            read(name)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert len(str(raised.value)) < 500
    assert peak < 80 * 2**20  # the file and what was allowed, twice


def test_the_sentence_says_how_much_may_be_read(monkeypatch):
    monkeypatch.setattr(intake, "room", lambda: 2 * GIB)
    Path("a.mtx").write_bytes(BOMBS["wide.mtx"]())
    with pytest.raises(InvalidProblem, match="at most half of the free memory, 2 GiB, is used"):
        read("a.mtx")


def test_half_of_the_free_memory_may_be_used(monkeypatch):
    class Free:
        available = 1000

    monkeypatch.setattr(intake.psutil, "virtual_memory", lambda: Free)
    intake.fits(500, "this")
    with pytest.raises(InvalidProblem, match="this takes"):
        intake.fits(501, "this")


# -- what is no file ---------------------------------------------------------------------------


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_what_is_no_file_is_not_waited_for(suffix):
    os.mkfifo(f"pipe{suffix}")
    Path(f"zero{suffix}").symlink_to("/dev/zero")
    Path(f"input{suffix}").symlink_to("/dev/stdin")
    Path(f"loop{suffix}").symlink_to(f"loop{suffix}")
    Path(f"gone{suffix}").symlink_to("nowhere")
    Path(f"folder{suffix}").mkdir()
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(f"socket{suffix}")
        for name, said in {
            "pipe": "a named pipe",
            "zero": "a device",
            "input": "no file|a device|leads nowhere|no such",
            "loop": "symbolic links",
            "gone": "leads nowhere",
            "folder": "a folder",
            "socket": "a socket",
        }.items():
            if name == "input" and Path(f"input{suffix}").is_file():
                continue  # the tests were started with a file as their input
            with pytest.raises(InvalidProblem, match=said):
                read(name + suffix)
            with pytest.raises(InvalidProblem, match=said):
                catalog.choices("problems", f"file[path={name}{suffix}]")


@pytest.mark.parametrize("path", ["a\0.csv", "x" * 300 + ".csv", "~nobody-of-this-name/a.csv"])
def test_a_path_that_cannot_be_one_is_refused(path):
    with pytest.raises(InvalidProblem, match=r"^file "):
        read(path)
