"""Suites that nobody meant: a sentence, never a traceback, never a hang."""

import os
import socket
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from fwbench.errors import FwbenchError
from fwbench.suite import Suite, load

from .made_hostile import NAMES, calm

BLOCK = '[[block]]\nproblems = ["polygon"]\n'

KEYS = st.sampled_from(
    ["name", "version", "description", "block", "claims", "diagrams", "problems", "solvers", "tol",
     "max_steps", "max_seconds", "repeat", "nonsense", '"quoted key"', "a.b.c"]
)  # fmt: skip
SCALARS = st.one_of(
    st.integers(-(10**30), 10**30).map(str),
    st.floats().map(lambda value: repr(value).replace("e+", "e")),
    st.booleans().map(lambda value: str(value).lower()),
    st.sampled_from(
        ["1979-05-27", "07:32:00", "1979-05-27T07:32:00Z", "0xff", "0b1", "1_000", "nan", "-inf",
         '"polygon"', '"away_steps"', "'''raw'''", '"""many\nlines"""', '"\\u202e"', '"quick"']
    ),
    st.text(max_size=20).map(lambda text: '"' + text.replace("\\", "").replace('"', "") + '"'),
)  # fmt: skip
VALUES = st.recursive(
    SCALARS,
    lambda inside: st.one_of(
        st.lists(inside, max_size=3).map(lambda parts: f"[{', '.join(parts)}]"),
        st.tuples(KEYS, inside).map(lambda pair: f"{{ {pair[0]} = {pair[1]} }}"),
    ),
    max_leaves=6,
)
LINES = st.one_of(
    st.tuples(KEYS, VALUES).map(lambda pair: f"{pair[0]} = {pair[1]}"),
    KEYS.map(lambda key: f"[{key}]"),
    KEYS.map(lambda key: f"[[{key}]]"),
    st.sampled_from(["[[block]]", 'problems = ["polygon"]', "# a comment", "", "= 3"]),
)
ENDS = st.sampled_from(["\n", "\r\n", "\r"])
TEXTS = st.tuples(st.lists(LINES, max_size=8), ENDS).map(lambda pair: pair[1].join(pair[0]))
MARKS = st.sampled_from([b"", b"\xef\xbb\xbf", b"\xff\xfe"])
FILES = st.one_of(
    st.binary(max_size=60),
    st.tuples(MARKS, TEXTS).map(lambda pair: pair[0] + pair[1].encode("utf-8", "replace")),
    TEXTS.map(lambda text: text.encode("utf-16", "replace")),
)


def read(folder: Path, data: bytes) -> None:
    path = folder / "any.toml"
    path.write_bytes(data)
    said = ""
    try:
        found = load(str(path))
    except FwbenchError as error:
        said = str(error)
    if said:
        assert str(path) in said
        assert len(said) < 2000 + len(data)
        return
    assert isinstance(found, Suite)
    assert all(block.problems for block in found.blocks)


def regression(text: str | bytes):
    return example(text if isinstance(text, bytes) else text.encode())


REGRESSIONS = [
    "x = " + "[" * 3000 + "]" * 3000,  # deeper than Python's stack
    BLOCK + "solvers." + "a." * 2000 + "a = 1",  # too deep to be shown
    "version = " + "9" * 5000 + "\n" + BLOCK,  # more digits than Python reads
    "version = 0x" + "f" * 9000 + "\n" + BLOCK,  # more digits than Python writes
    BLOCK + "repeat = 0x" + "f" * 9000,
    BLOCK + "max_steps = 0x" + "f" * 9000,
    BLOCK + "max_seconds = nan",
    BLOCK + "tol = 1979-05-27",
    BLOCK + "repeat = 1000000000000",  # a plan without an end
    "description = { a = 1 }\n" + BLOCK,
    'name = "' + "x" * 300 + '"\n' + BLOCK,
    b"\xef\xbb\xbf" + BLOCK.encode(),
    BLOCK.encode("utf-16"),
    b"\xff\xfe\0",
]


def with_regressions(test):
    for text in REGRESSIONS:
        test = regression(text)(test)
    return test


@with_regressions
@settings(calm, max_examples=100)
@given(FILES)
def test_any_file_is_a_suite_or_is_refused(tmp_path, data):
    read(tmp_path, data)


@pytest.mark.slow
@settings(calm, max_examples=5000)
@given(FILES)
def test_very_many_files_are_suites_or_are_refused(tmp_path, data):
    read(tmp_path, data)


def test_a_mark_of_the_byte_order_is_no_part_of_a_suite(tmp_path):
    path = tmp_path / "a.toml"
    path.write_bytes(b"\xef\xbb\xbf" + BLOCK.replace("\n", "\r\n").encode())
    assert load(str(path)).blocks[0].problems == ("polygon",)


@pytest.mark.parametrize("name", [*NAMES, "a\ud800"], ids=lambda name: ascii(name)[:40])
def test_any_name_is_refused_with_a_sentence(name):
    for text in (name, name + ".toml"):
        with pytest.raises(FwbenchError):
            load(text)


def test_what_is_no_file_is_not_waited_for(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    os.mkfifo("pipe.toml")
    Path("zero.toml").symlink_to("/dev/zero")
    Path("loop.toml").symlink_to("loop.toml")
    Path("gone.toml").symlink_to("nowhere")
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind("socket.toml")
        for name, said in {
            "pipe": "named pipe",
            "zero": "device",
            "loop": "symbolic links",
            "gone": "leads nowhere",
            "socket": "socket",
        }.items():
            with pytest.raises(FwbenchError, match=said):
                load(f"{name}.toml")


def test_a_file_that_is_far_too_long_is_not_read_to_its_end(tmp_path):
    path = tmp_path / "long.toml"
    path.write_bytes(b"#" * 2**21)
    with pytest.raises(FwbenchError, match="no suite takes more than 1048576 bytes"):
        load(str(path))
