from pathlib import Path

import pytest

from fwbench import names
from fwbench.contract.child import SOLVERS, tried_here
from fwbench.contract.rule import Standing

DONE, FAILED, WRONG_USE = 0, 1, 2
SLIPPING = str(Path(__file__).parents[1] / "contract" / "made_solvers.py")

CARELESS = '''"""Points of a family that a generator without a seed draws."""
import numpy as np
from fwbench.problem import ProblemEntry, QuadraticOverHull

def make(n: int = 5, near: float = 1.0, seed: int = 0) -> QuadraticOverHull:
    """Draw n atoms at `near`, whatever the seed."""
    print("drawing")
    return QuadraticOverHull(np.random.random((n, 2)) / near)

ENTRY = ProblemEntry("careless", make, "careless")
'''


def test_a_failure_says_what_was_expected_what_came_and_why(fwbench):
    done = fwbench("check", f"{SLIPPING}[slip=claims]")
    assert done.code == FAILED
    first, *lines, last = done.out.splitlines()
    assert first == f"solver slipping ({SLIPPING}[slip=claims])"
    assert len(lines) == len(SOLVERS)  # a line a rule
    [claims] = (line for line in lines if line.startswith("FAILED   claims"))
    for words in ("expected the claim 'optimal' only within 1e-08", "; got called itself",
                  "Likely: the test of the end is looser"):  # fmt: skip
        assert words in claims
    assert last.startswith(f"{len(SOLVERS)} rules: ")
    assert " FAILED" in last


def test_slips_of_a_problem_are_named(fwbench):
    Path("careless.py").write_text(CARELESS)
    done = fwbench("check", "careless.py", "--json")
    assert done.code == FAILED
    found = {rule["rule"]: rule for rule in done.json["rules"]}
    failed = {name for name, rule in found.items() if rule["standing"] == "FAILED"}
    assert failed == {"repeatable", "wrong values", "quiet"}
    assert "without a seed" in found["repeatable"]["slip"]
    assert found["wrong values"]["where"] == "careless[n=-1]"
    assert "ValueError" in found["wrong values"]["came"]
    assert "global generators" in found["quiet"]["expected"]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("raise SystemExit", "cannot be imported: SystemExit"),
        ("ENTRY = 3", "must end with ENTRY = SolverEntry(...); got 3"),
    ],
)
def test_a_file_that_is_none_is_named(fwbench, content, said):
    Path("odd.py").write_text(content)
    done = fwbench("check", "odd.py")
    assert done.code == FAILED
    assert said in done.out
    assert done.out.splitlines()[-1] == "1 rule: 1 FAILED."


@pytest.mark.parametrize(
    ("what", "said"),
    [
        ("nowhere.py", "no file nowhere.py"),
        ("away_step", "did you mean away_steps"),
        ("auto", "auto stands for a solver that suits a problem"),
        ("empty", "holds no .py file with an ENTRY"),
        ("away_steps[", "must end with the bracket"),
    ],
)
def test_wrong_use_is_a_sentence(fwbench, what, said):
    Path("empty").mkdir()
    Path("empty/_own.py").write_text("ENTRY = 1")
    Path("empty/helping.py").write_text("x = 1")
    done = fwbench("check", what)
    assert done.code == WRONG_USE
    assert said in done.err


def test_wrong_parameters_are_no_fault_of_the_solver(fwbench):
    done = fwbench("check", "frank_wolfe[stp=exact]")
    assert done.code == WRONG_USE
    assert "did you mean step" in done.err


def test_a_folder_is_checked_file_by_file(fwbench):
    Path("mine").mkdir()
    fwbench("new", "problem", "box", "--out", "mine")
    Path("mine/careless.py").write_text(CARELESS)
    Path("mine/helping.py").write_text("raise SystemExit")
    found = fwbench("check", "mine", "--json").json
    assert [(one["name"], one["passed"]) for one in found] == [("box", True), ("careless", False)]


def test_json_is_alone_on_stdout_whatever_a_solver_prints(fwbench):
    done = fwbench("check", f"{SLIPPING}[slip=prints]", "--json")
    assert done.code == DONE
    found = done.json
    assert (found["group"], found["name"], found["passed"]) == ("solvers", "slipping", True)
    assert [rule["rule"] for rule in found["rules"]] == [rule.name for rule in SOLVERS]
    [quiet] = (rule for rule in found["rules"] if rule["standing"] == "warning")
    assert quiet["rule"] == "quiet"
    assert quiet["where"] == "slipping[slip=prints] on convex"
    assert quiet["expected"].startswith("nothing on stdout")
    assert "'step" in quiet["came"]
    assert quiet["slip"].startswith("a print")


FEW = ("solvers vertex_enumeration", "problems polygon", "problems token_cloud")
EVERYTHING = [f"{group} {name}" for group in ("solvers", "problems") for name in names.names(group)]


def failures(what):
    group, name = what.split()
    return [f for f in tried_here(name, group) if f.standing is Standing.FAILED]


@pytest.mark.parametrize("what", FEW)
def test_the_catalogue_passes(what):
    assert failures(what) == []


@pytest.mark.slow
@pytest.mark.parametrize(
    "what",
    [what for what in EVERYTHING if what not in FEW],
)
def test_all_of_the_catalogue_passes(what):
    assert failures(what) == []
