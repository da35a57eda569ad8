from pathlib import Path
from time import monotonic

import numpy as np
import psutil
import pytest

from fwbench import names
from fwbench.contract import manners
from fwbench.contract.cases import Subject
from fwbench.contract.child import SOLVERS, tried_here
from fwbench.contract.rule import Standing, tried

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


def test_a_folder_goes_on_where_a_file_raises_what_wrong_words_raise(fwbench):
    Path("mine").mkdir()
    fwbench("new", "problem", "box", "--out", "mine")
    text = (
        "from fwbench.errors import InvalidParameter\nraise InvalidParameter('not today')\nENTRY=1"
    )
    Path("mine/a.py").write_text(text)
    done = fwbench("check", "mine", "--json")
    assert done.code == FAILED
    assert [one["passed"] for one in done.json] == [False, True]
    [rule] = done.json[0]["rules"]
    assert (rule["rule"], rule["standing"]) == ("import", "FAILED")
    assert "not today" in rule["came"]


def test_what_a_file_says_is_shown_without_what_a_terminal_obeys(fwbench):
    Path("odd.py").write_text(r"raise ValueError('\x1b[31m' + 'x' * 5000)")
    done = fwbench("check", "odd.py")
    assert done.code == FAILED
    assert "\x1b" not in done.out
    assert r"\x1b[31m" in done.out
    assert max(map(len, done.out.splitlines())) < 500


FORGING = """import os
for number in range(3, 40):
    try:
        os.write(number, b"{line}\\n")
    except OSError:
        pass
"""


def test_a_descriptor_is_not_met_by_mistake(fwbench):
    fwbench("new", "problem", "box")
    path = Path("box.py")
    path.write_text(path.read_text() + FORGING.replace("{line}", "nonsense"))
    assert fwbench("check", "box.py").code == DONE


@pytest.mark.parametrize("line", ["nonsense", "[1]", '{"end": true}', '{"found": 3}'])
def test_a_line_that_is_no_finding_passes_nothing(fwbench, line):
    fwbench("new", "problem", "box")
    path = Path("box.py")
    forging = FORGING.replace("range(3, 40)", "range(512, 520)").replace("{line}", line)
    forging = forging.replace('b"', "b'").replace('\\n"', "\\n'")
    path.write_text(path.read_text() + forging)
    done = fwbench("check", "box.py", "--json")
    assert done.code == FAILED
    assert "cannot be read, or comes too early" in done.json["rules"][0]["came"]


def test_what_a_file_starts_in_a_session_of_its_own_ends_with_it(fwbench):
    fwbench("new", "problem", "box")
    path = Path("box.py")
    starting = (
        "import subprocess\n"
        "_left = subprocess.Popen(['sleep', '300'], start_new_session=True)\n"
        "open('started', 'a').write(f'{_left.pid}\\n')\n"
    )
    path.write_text(path.read_text() + starting)
    fwbench("check", "box.py")
    pids = [int(line) for line in Path("started").read_text().split()]
    assert pids
    deadline = monotonic() + 20
    while any(_sleeping(pid) for pid in pids) and monotonic() < deadline:
        pass
    assert not any(_sleeping(pid) for pid in pids)


def _sleeping(pid):
    try:
        process = psutil.Process(pid)
        return process.name() == "sleep" and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


GLOBAL = {
    "np.geterr()": "np.seterr(all='ignore')",
    "numpy's global generator": "np.random.seed(0)",
    "the working directory": "os.chdir('/')",
}


@pytest.mark.parametrize("what", GLOBAL)
def test_what_all_share_is_seen_to_be_set_though_it_was_set_before(fwbench, what):
    fwbench("new", "solver", "mine")
    path = Path("mine.py")
    line = "        for t in range(state.steps"
    text = path.read_text().replace(line, f"        {GLOBAL[what]}\n{line}")
    path.write_text(text.replace("import numpy as np\n", "import os\nimport numpy as np\n"))
    [rule] = (rule for rule in manners.RULES if rule.name == "generators")
    before = np.geterr(), Path.cwd()
    for _ in range(2):
        found = tried(rule, Subject("mine.py"))
        assert found.standing is Standing.FAILED
        assert found.expected == f"{what} as before the run"
    assert (np.geterr(), Path.cwd()) == before


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
