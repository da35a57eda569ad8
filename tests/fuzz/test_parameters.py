"""Names and parameters from the command line: choices, or a sentence; never a hang."""

from unicodedata import category

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from fwbench import catalog
from fwbench.errors import FwbenchError
from fwbench.geometry.inputs import rationals

from .made_hostile import NAMES, calm, refused_or_done

SOLVERS = ("frank_wolfe", "hardmax_attention", "projected_gradient", "away_steps")
PROBLEMS = ("polygon", "token_cloud", "min_norm_point", "ball", "file")
KEYS = st.sampled_from(
    ["step", "keys", "arithmetic", "scores", "values", "beta", "seed", "n", "d", "k", "norms",
     "shift", "path", "name", "q", "nonsense"]
)  # fmt: skip
NUMBERS = st.one_of(
    st.integers().map(str),
    st.floats().map(repr),
    st.fractions().map(str),
    st.sampled_from(
        ["1e400", "1e-400", "1e9999", "1_0", "٣", "²", "0x10", "1/0", "NaN", "9" * 5000]
    ),
)
CALLS = st.builds(
    "{}({})".format,
    st.sampled_from(["open_loop", "constant", "geometric", "power", "linear", "harmonic", "f"]),
    st.lists(NUMBERS, max_size=3).map(",".join),
)
WORDS = st.sampled_from(["exact", "moving", "none", "true", "0..3", "3..0", "vary", '""', '"a b"'])
VALUES = st.one_of(NUMBERS, CALLS, WORDS, st.text(max_size=8))
PARTS = st.one_of(st.tuples(KEYS, VALUES).map("=".join), VALUES)


def texts(names):
    inside = st.lists(PARTS, max_size=4).map(",".join)
    return st.one_of(
        st.text(max_size=30),
        st.text(alphabet='[]=,"() .exact0123', max_size=20),
        st.tuples(st.sampled_from(names), inside).map(lambda pair: f"{pair[0]}[{pair[1]}]"),
    )


def chosen(group, text):
    try:
        found = catalog.choices(group, text)
    except FwbenchError:
        return
    for choice in found[:20]:
        [again] = catalog.choices(group, choice.again)
        assert again.text == choice.text
        # letters that a terminal obeys; one that Unicode has not given a meaning yet is none
        obeyed = {c for c in choice.label if category(c) in ("Cc", "Cf", "Cs")}
        assert obeyed <= {"\u200d"}


@example("frank_wolfe[step=" + ",".join(f"constant(1/{k})" for k in range(2, 400)) + "]")
@example("frank_wolfe[step=constant(1e99_99_99_99)]")  # would fill the memory with digits
@example("frank_wolfe[step=constant(1e-٩٩٩٩٩٩٩)]")
@example("frank_wolfe[step=open_loop" + " " * 20_000 + "!]")
@example('frank_wolfe[step="' + " " * 20_000 + '"]')
@example('hardmax_attention[values="' + "0 " * 500 + '"]')
@example('hardmax_attention[scores="' + "(" * 5000 + '"]')
@example("a" * 100_000)
@example("[" * 5000)
@example("a\0b")
@example("\ud800")
@settings(calm, max_examples=100)
@given(texts(SOLVERS))
def test_any_text_names_solvers_or_is_refused(text):
    chosen("solvers", text)


@example("ball[n=0..9999,d=0..9999]")  # a grid of 10^8
@example("ball[seed=0..9999,n=0..9999,d=0..9999]")
@example("ball[n=99999999999999999999]")
@example("file[path=/dev/zero]")
@example("/dev/stdin")
@example('file[path="a\0.csv"]')
@example("file[path=~nobody-of-this-name/a.csv]")
@example("file[path=" + "x" * 300 + ".csv]")
@example("a" * 70_000 + ".csv")
@settings(calm, max_examples=100)
@given(texts(PROBLEMS))
def test_any_text_names_problems_or_is_refused(text):
    chosen("problems", text)


@pytest.mark.slow
@settings(calm, max_examples=4000)
@given(texts(SOLVERS), texts(PROBLEMS))
def test_very_many_texts_name_something_or_are_refused(solver, problem):
    chosen("solvers", solver)
    chosen("problems", problem)


@example("frank_wolfe", "polygon[k=5]", "nan")
@example("\x1b[31m", "polygon", "1")
@example("frank_wolfe", "\u202epolygon", "1")
@example("--help", "-p", "1e999")
@settings(calm, max_examples=15)
@given(texts(SOLVERS), texts(("polygon", "token_cloud", "nothing")), NUMBERS)
def test_any_command_plans_or_is_refused(solver, problem, tol):
    refused_or_done(
        "run", "--dry-run", f"--solver={solver}", f"--problem={problem}", f"--tol={tol}"
    )


@pytest.mark.parametrize("name", NAMES, ids=lambda name: ascii(name)[:40])
def test_a_name_that_does_harm_is_refused_in_every_place(name):
    for words in (["run", name or "x"], ["run", "-s", name], ["run", "-p", name]):
        assert refused_or_done(*words, "--dry-run").code == 2
    with pytest.raises(FwbenchError):
        catalog.choices("solvers", name)


def test_a_name_that_does_harm_is_described_as_unknown():
    assert refused_or_done("describe", "".join(NAMES)).code == 2


def test_texts_as_numbers_have_no_exponent_beyond_all_doubles():
    for text in ("1e999999999", "1e9_9_9_9_9", "1E-9999"):
        with pytest.raises(FwbenchError, match="an exponent beyond all doubles"):
            rationals("atoms", [text])
