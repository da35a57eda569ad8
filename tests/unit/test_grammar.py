from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fwbench.errors import InvalidParameter
from fwbench.grammar import LONGEST_RANGE, quoted, spelled

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
AWKWARD = st.sampled_from(
    [
        "",
        " ",
        '"',
        '""',
        'a"b',
        "a,b",
        "a=b",
        "[x]",
        "]",
        "(",
        "f(1,2)",
        "f(1)g",
        "0..9",
        "ü\n",
        "=",
    ]
)
VALUE = TEXT | AWKWARD | st.integers().map(str) | st.floats(allow_nan=False).map(repr)
KEY = st.from_regex(r"[a-z_][a-z0-9_]{0,6}", fullmatch=True)


@given(st.dictionaries(KEY, st.lists(VALUE, min_size=1, max_size=3), max_size=4))
def test_canonical_text_reads_back(values):
    pieces = (f"{key}={','.join(map(quoted, given))}" for key, given in values.items())
    read = spelled(f"name[{','.join(pieces)}]")
    assert (read.name, read.values) == ("name", values)


@given(TEXT | AWKWARD, st.booleans())
def test_a_quoted_name_may_hold_anything(name, with_brackets):
    whole = '"' + name.replace('"', '""') + '"'
    read = spelled(whole + "[n=3]" * with_brackets)
    assert (read.name, read.values) == (name, {"n": ["3"]} if with_brackets else {})


@given(st.text(alphabet='a,=.[]()" 0\n\\', max_size=14))
def test_any_text_is_read_or_refused_in_words(text):
    with suppress(InvalidParameter):
        assert all(key and values for key, values in spelled(text).values.items())


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("a", {}),
        (" a ", {}),
        ("a[]", {}),
        ("a[ ]", {}),
        ("a[k=1]", {"k": ["1"]}),
        ("a[ k = 1 , 2 , l = x ]", {"k": ["1", "2"], "l": ["x"]}),
        ("a[k=1e-4,-2.5]", {"k": ["1e-4", "-2.5"]}),
        ("a[k=0..3]", {"k": ["0", "1", "2", "3"]}),
        ("a[k=-2..-1,7]", {"k": ["-2", "-1", "7"]}),
        ("a[k=5..5]", {"k": ["5"]}),
        ('a[k="0..3"]', {"k": ["0..3"]}),
        ("a[k=1..2.5]", {"k": ["1..2.5"]}),
        ('a[k="x, y=[1]"]', {"k": ["x, y=[1]"]}),
        ('a[k="say ""hi"""]', {"k": ['say "hi"']}),
        ('a[k=""]', {"k": [""]}),
        ("a[step=open_loop(4)]", {"step": ["open_loop(4)"]}),
        ("a[step=call(1, 2),exact]", {"step": ["call(1, 2)", "exact"]}),
        ("dir/my solver.py[k=1]", {"k": ["1"]}),
    ],
)
def test_each_rule_reads(text, values):
    assert spelled(text).values == values


def test_brackets_of_a_path_stand_in_quotes():
    assert spelled('"a[1].csv"[q=2]').name == "a[1].csv"
    assert spelled('"a[1].csv"').name == "a[1].csv"


@pytest.mark.parametrize(
    ("text", "slip"),
    [
        ("a[k=1", "must end with the bracket"),
        ("a[k=1]b", "must end with the bracket"),
        ("a[k=1,k=2]", "k is given twice.*k=a,b"),
        ("a[1]", "'1' needs a key: key=value"),
        ('a["k=1"]', "needs a key"),
        ("a[,]", "needs a key"),
        ("a[k=]", 'k=.*value is missing \\(empty text is ""\\)'),
        ("a[k=1,]", "value is missing"),
        ("a[k=1,,2]", "value is missing"),
        ('a[k="x]', "quote is not closed"),
        ("a[k=f(1]", "parenthesis is not closed"),
        ("a[k=x y]", 'x y needs quotes: "x y"'),
        ('a[k=x"y"]', 'x"y" needs quotes: "x""y"""'),
        ("a[k=a=b]", 'a=b needs quotes: "a=b"'),
        ("a[k=f(1)g]", "needs quotes"),
        ("a[k=3..1]", "range 3..1 is empty"),
        ("a[k=0..99999999999]", f"at most {LONGEST_RANGE}"),
        ('"a"b[k=1]', "name in quotes must be followed by"),
    ],
)
def test_a_slip_is_named(text, slip):
    with pytest.raises(InvalidParameter, match=slip) as caught:
        spelled(text)
    assert text in str(caught.value)


def test_the_longest_range_is_read():
    assert len(spelled(f"a[k=1..{LONGEST_RANGE}]").values["k"]) == LONGEST_RANGE
