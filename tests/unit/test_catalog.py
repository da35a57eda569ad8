import importlib.metadata
import math
import sys
from dataclasses import dataclass
from typing import Literal

import numpy as np
import pytest

from fwbench import catalog
from fwbench.errors import InvalidParameter, InvalidProblem, UnknownName
from fwbench.problem import ProblemEntry, QuadraticOverHull
from fwbench.solver import SolverEntry

PROBLEM_FILE = '''"""Made."""
from typing import Literal
from fwbench.problem import ProblemEntry, QuadraticOverHull

def make(name: str = "", size: float = 1.0, flag: bool = False, k: Literal[1, 2] = 1):
    return QuadraticOverHull([[size, 0.0], [0.0, size]])

ENTRY = ProblemEntry("made", make, "made")
'''


@pytest.fixture
def made(tmp_path):
    path = tmp_path / "made.py"
    path.write_text(PROBLEM_FILE)
    return str(path)


def one(group, text, seed=None):
    [choice] = catalog.choices(group, text, seed)
    return choice


def everything():
    for group in ("solvers", "problems"):
        for name in catalog.names(group):
            if name not in ("blocks", "file"):  # need a path
                yield group, name


# -- canonical text --------------------------------------------------------------------------


@pytest.mark.parametrize(("group", "name"), list(everything()))
def test_canonical_text_of_every_choice_finds_it_again(group, name):
    for choice in catalog.choices(group, name):
        again = one(group, choice.again)
        assert (again.text, again.label) == (choice.text, choice.label)
        assert list(again.arguments) == list(catalog.parameters(choice.entry.make))


def test_numbers_are_read_by_the_declared_type():
    texts = ["shift=1", "shift=1.0", "shift=1e0", "n=1e2,shift=1", "n=100.0,d=+10,shift=1"]
    names = {one("problems", f"min_norm_point[{text}]").text for text in texts}
    assert names == {"min_norm_point[n=100,d=10,shift=1,face=-1,condition=1,seed=0]"}


def test_negative_zero_is_zero():
    assert (
        one("problems", "min_norm_point[shift=-0.0]").text
        == one("problems", "min_norm_point[n=100]").text
    )


def test_people_see_no_defaults():
    assert one("problems", "min_norm_point[d=10,n=7,seed=0]").label == "min_norm_point[n=7]"
    assert one("solvers", "frank_wolfe[step=open_loop(2)]").label == "frank_wolfe"
    assert (
        one("solvers", "frank_wolfe[step=open_loop( 4.0 )]").label
        == "frank_wolfe[step=open_loop(4)]"
    )


def test_a_grid_is_one_choice_for_each_combination():
    found = catalog.choices("problems", "min_norm_point[n=5,6,seed=0..1]")
    assert [(c.arguments["n"], c.arguments["seed"]) for c in found] == [
        (5, 0),
        (5, 1),
        (6, 0),
        (6, 1),
    ]


def test_a_bare_name_stands_for_its_own_grid():
    bare = [choice.text for choice in catalog.choices("solvers", "frank_wolfe")]
    assert bare == [choice.text for choice in catalog.choices("solvers", "frank_wolfe[]")]
    assert bare == [
        choice.text for choice in catalog.choices("solvers", "frank_wolfe[step=open_loop,exact]")
    ]


def test_a_seed_fills_only_what_was_not_given():
    assert one("problems", "min_norm_point[n=5]", seed=7).arguments["seed"] == 7
    assert one("problems", "min_norm_point[n=5,seed=3]", seed=7).arguments["seed"] == 3
    assert "seed" not in one("solvers", "away_steps[cache_mebibytes=1]", seed=7).arguments


@pytest.mark.parametrize(
    "text", ['a "b"', "x,y=[1]", "0..3", "", " ", "ü↓", "f(1,2)", "line\nbreak", "a=b"]
)
def test_any_text_is_a_value(made, text):
    choice = one("problems", f'{made}[name="{text.replace(chr(34), chr(34) * 2)}"]')
    assert choice.arguments["name"] == text
    assert one("problems", choice.again).arguments["name"] == text


@pytest.mark.parametrize(
    "number", ["inf", "-inf", "1e308", "5e-324", "0.1", "1e15", "123456789012345.5"]
)
def test_every_number_reads_back(made, number):
    choice = one("problems", f"{made}[size={number}]")
    assert one("problems", choice.again).arguments["size"] == float(number)


def test_other_declared_types_read_back(made):
    choice = one("problems", f"{made}[flag=TRUE,k=2]")
    assert choice.arguments["flag"] is True
    assert choice.arguments["k"] == 2
    assert choice.label == "made[flag=true,k=2]"


# -- slips -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("group", "text", "error", "said"),
    [
        ("solvers", "away_step", UnknownName, "did you mean away_steps"),
        ("problems", "away_steps", UnknownName, "no problem is called"),
        ("solvers", "", UnknownName, "no solver is called ''"),
        ("solvers", "[step=exact]", UnknownName, "no solver is called ''"),
        ("solvers", "x" * 5000, UnknownName, "no solver is called"),
        ("solvers", "a\0b", UnknownName, "no solver is called"),
        ("problems", "\udcff.csv", InvalidParameter, "no Unicode text; rename"),
        ("solvers", "nowhere.py", UnknownName, "no file nowhere.py"),
        ("solvers", ".py", UnknownName, "no file .py"),
        ("problems", "nowhere.csv", UnknownName, "no file nowhere.csv"),
        ("problems", "min_norm_point[m=3]", InvalidParameter, "no parameter 'm'; known: condition"),
        ("problems", "min_norm_point[shfit=1]", InvalidParameter, "did you mean shift"),
        ("solvers", "quadprog_dual[x=1]", InvalidParameter, "no parameter 'x'; it has none"),
        ("problems", "file", InvalidParameter, "path must be given"),
        ("problems", "min_norm_point[n=1.5]", InvalidParameter, "n must be an integer.*'1.5'"),
        ("problems", "min_norm_point[n=nan]", InvalidParameter, "n must be an integer"),
        ("problems", "min_norm_point[n=inf]", InvalidParameter, "n must be an integer"),
        ("problems", "min_norm_point[n=1e400]", InvalidParameter, "n must be an integer"),
        ("problems", "min_norm_point[seed=99999999999999999999]", InvalidParameter, "of 64 bits"),
        ("problems", "min_norm_point[n=²]", InvalidParameter, "n must be an integer"),
        ("problems", "min_norm_point[shift=nan]", InvalidParameter, "shift must be a number"),
        ("problems", "min_norm_point[shift=much]", InvalidParameter, "a number; got 'much'"),
        ("problems", "polygon[bijection=yes]", InvalidParameter, "must be true or false"),
        ("solvers", "frank_wolfe[arithmetic=exakt]", InvalidParameter, "one of float, exact"),
        ("solvers", "frank_wolfe[step=opne_loop]", InvalidParameter, "did you mean open_loop"),
        ("solvers", "frank_wolfe[step=open_loop(1e99999999)]", InvalidParameter, "beyond all"),
    ],
)  # fmt: skip
def test_a_slip_is_named(group, text, error, said):
    with pytest.raises(error, match=said):
        catalog.choices(group, text)


def test_a_type_that_no_text_gives_is_refused():
    def make(x: list[int] = []):  # noqa: B006
        raise AssertionError

    with pytest.raises(InvalidParameter, match="x is declared list"):
        catalog._value("made", "x", catalog.parameters(make)["x"][0], "1")


def test_annotations_that_do_not_exist_are_named():
    def make(x: "Nowhere" = 1):  # noqa: F821
        raise AssertionError

    with pytest.raises(InvalidParameter, match=r"cannot be read.*Nowhere"):
        catalog.parameters(make)


def test_a_literal_of_numbers_is_refused_in_words():
    def make(x: Literal[1, 2] = 1):
        raise AssertionError

    with pytest.raises(InvalidParameter, match="x must be one of 1, 2; got '3'"):
        catalog._value("made", "x", catalog.parameters(make)["x"][0], "3")


def test_what_a_problem_file_makes_is_checked(made):
    choice = one("problems", made)
    entry = ProblemEntry("made", lambda: None, "made")
    with pytest.raises(InvalidProblem, match="made must make a QuadraticOverHull; got None"):
        catalog.build_problem(catalog.chosen("made", entry, {}))
    assert catalog.build_problem(choice).n == 2


# -- files -----------------------------------------------------------------------------------


def test_a_file_is_found_again_from_another_folder(made, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    choice = one("problems", "made.py[size=2]")
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    assert one("problems", choice.again).text == choice.text


def test_an_edited_file_is_read_anew(made, tmp_path):
    assert one("problems", made).label == "made"
    (tmp_path / "made.py").write_text(
        PROBLEM_FILE.replace('ProblemEntry("made"', 'ProblemEntry("other"')
    )
    assert one("problems", made).label == "other"


@pytest.mark.parametrize("folder", ["a b", "a[1]", 'q"u', "ü,k=1"])
def test_odd_folders_are_fine(tmp_path, folder):
    path = tmp_path / folder / "made.py"
    path.parent.mkdir()
    path.write_text(PROBLEM_FILE)
    choice = one("problems", str(path))
    assert one("problems", choice.again).text == choice.text


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("x = 1\nraise RuntimeError('boom')", r"cannot be imported: RuntimeError: boom \(line 2\)"),
        ("import sys\nsys.exit(3)", r"cannot be imported: SystemExit: 3 \(line 2\)"),
        ("def x(:", "cannot be imported: SyntaxError"),
        ("import not_installed_anywhere", "not_installed_anywhere"),
        ("x = 1", "must end with ENTRY = ProblemEntry.*got None"),
        ("ENTRY = 'made'", "must end with ENTRY = ProblemEntry.*got 'made'"),
    ],
)
def test_a_file_that_does_not_import_is_named(tmp_path, content, said):
    (tmp_path / "bad.py").write_text(content)
    before = set(sys.modules)
    with pytest.raises(UnknownName, match=said):
        catalog.choices("problems", str(tmp_path / "bad.py"))
    if "cannot be imported" in said:
        assert set(sys.modules) == before


def test_a_ctrl_c_while_a_file_is_imported_stays_one(tmp_path):
    (tmp_path / "bad.py").write_text("raise KeyboardInterrupt")
    with pytest.raises(KeyboardInterrupt):
        catalog.choices("solvers", str(tmp_path / "bad.py"))


@pytest.mark.parametrize(
    "name", ["p.csv", "p 1.csv", "p[1].csv", "p,k=1.csv", 'q"u.csv', "ü.CSV", "0..3.csv"]
)
def test_points_of_a_file_are_a_problem(tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    np.savetxt(name, [[1.0, 2.0], [3.0, 4.0]], delimiter=",")
    choice = one("problems", name)
    assert catalog.build_problem(one("problems", choice.again)).n == 2


def test_points_of_a_file_take_parameters(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    np.savetxt("p[1].csv", [[1.0, 2.0], [3.0, 4.0]], delimiter=",")
    concave, convex = catalog.choices("problems", '"p[1].csv"[q=-1,1]')
    assert catalog.build_problem(concave).kind == "concave"
    assert catalog.build_problem(convex).kind == "convex"
    with pytest.raises(InvalidParameter, match="path is given twice"):
        catalog.choices("problems", '"p[1].csv"[path=q.csv]')


# -- other packages --------------------------------------------------------------------------


@dataclass(frozen=True)
class Foreign:
    speed: float = 1.0


FOREIGN = SolverEntry("foreign", Foreign, "x", "x", "x")


def test_other_packages_register(monkeypatch):
    point = importlib.metadata.EntryPoint("foreign", f"{__name__}:FOREIGN", "fwbench.solvers")
    monkeypatch.setattr(type(point), "load", lambda self: FOREIGN)
    monkeypatch.setattr(
        importlib.metadata, "entry_points", lambda group: [point] if group == point.group else []
    )
    assert one("solvers", "foreign[speed=2]").text == "foreign[speed=2]"
    assert "foreign" in catalog.names("solvers")
    assert "foreign" not in catalog.names("problems")


def test_every_entry_is_called_as_its_file():
    for group, name in everything():
        found = catalog.entry(group, name)
        assert found.name == name
        assert catalog.names(group)[name]  # a first line of its docstring


def test_built_solvers_are_values():
    a, b = (catalog.build_solver(one("solvers", "away_steps[cache_mebibytes=2]")) for _ in "ab")
    assert a == b
    assert math.isclose(a.cache_mebibytes, 2)
    assert isinstance(
        catalog.build_problem(one("problems", "min_norm_point[n=3]")), QuadraticOverHull
    )


def test_a_negative_seed_is_refused_for_all_alike():
    for group, text in (("problems", "polygon[seed=-1]"), ("solvers", "markov_attention[seed=-1]")):
        with pytest.raises(
            InvalidParameter, match="seed must be an integer of 64 bits, not negative; got"
        ):
            catalog.choices(group, text)
