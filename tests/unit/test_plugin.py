"""The fixture ``hull_benchmark``, in sessions of pytest of their own."""

import gc
import json
import os
import subprocess
import sys
from dataclasses import dataclass, field
from functools import partial
from itertools import count

import numba
import pytest

from fwbench.analysis.changes import Outcome
from fwbench.analysis.comparison import compared
from fwbench.comparing import opened
from fwbench.errors import InvalidParameter
from fwbench.pytest_rows import MOST_NUMBERS
from tests.cli.made_regressions import AWAY, ELSEWHERE, TWICE_THE_CALLS, WALK, edited

# a session that forgives nothing; what this process has imported could not be rewritten, and pytest
# would warn of it
STRICT = ("-q", "-W", "error", "--strict-markers", "--strict-config", "-p", "no:cacheprovider",
          "--import-mode=importlib", "--assert=plain")  # fmt: skip
QUICK = ("--benchmark-min-rounds=9", "--benchmark-max-time=0.001")
FACE = '"min_norm_point[n=30,d=4,shift=1]"'
# Away steps that end by themselves, at a gap that they take for small enough.
STOPS = edited(
    AWAY,
    ("            here = float(w @ s)\n",
     "            here = float(w @ s)\n"
     "            if here - s[j] <= 1e-7 * model.scale:\n"
     "                state.done = True\n"
     "                return\n"),
    ('name="away"', 'name="stops"'),
)  # fmt: skip
LOOSENED = ("1e-7 * model.scale", "1e-4 * model.scale")


COUNT = count()


@dataclass(eq=False)
class Session:
    """A session that has ended: its exit code, and each test's outcome with what was said."""

    code: int = 0
    outcomes: dict[str, str] = field(default_factory=dict)
    said: dict[str, str] = field(default_factory=dict)
    frames: dict[str, int] = field(default_factory=dict)

    def pytest_runtest_logreport(self, report):
        name = report.nodeid.partition("::")[2]
        outcome = "error" if report.failed and report.when != "call" else report.outcome
        if report.when == "call" or outcome != "passed":
            self.outcomes[name] = outcome
            crash = getattr(report.longrepr, "reprcrash", None)
            self.said[name] = crash.message if crash else str(report.longrepr or "")
            if crash:
                self.frames[name] = len(report.longrepr.reprtraceback.reprentries)
            self.said[name] += "".join(f"\n{head}\n{text}" for head, text in report.sections)

    @pytest.hookimpl(optionalhook=True)  # finding out takes a second
    def pytest_benchmark_generate_machine_info(self):
        return {"node": "one", "cpu": {"brand_raw": "fast"}, "python_version": "3.11.7"}


def run(folder, tests, *words):
    """Run a session of pytest in this process, in a folder, on one file with these tests."""
    with pytest.MonkeyPatch.context() as patch:
        for name in [name for name in os.environ if name.startswith("PYTEST_")]:
            if name != "PYTEST_CURRENT_TEST":  # a worker of pytest-xdist would time nothing
                patch.delenv(name)
        patch.chdir(folder)
        (folder / "pytest.ini").write_text("[pytest]\n")
        # a module of a name of its own: this process has imported the others
        path, found = folder / f"test_made_{next(COUNT)}.py", Session()
        path.write_text(tests)
        try:
            found.code = pytest.main([*STRICT, *words, str(path)], plugins=[found])
        finally:
            path.unlink()
    return found


@pytest.fixture
def session(tmp_path):
    return partial(run, tmp_path)


# -- what is checked ---------------------------------------------------------------------------

PASSING = '''
import math
import numpy as np
import pytest
import fwbench as fw
from fwbench import catalog

TRIANGLE = fw.QuadraticOverHull([[1, 2], [3, 1], [2, -1]])
WAY = fw.QuadraticOverHull([[3, 0], [0, 2], [1, 1]], -1.0, start=[2, 2])

def test_texts(hull_benchmark):
    done = hull_benchmark("min_norm_point[n=30,d=4,shift=1]", "away_steps", fixed_point="face")
    assert done.status == "converged"
    assert done.gap_relative <= 1e-8
    assert done.points.shape == (1, 4)
    assert done.x.shape == (4,)
    assert done.steps == done.trace["k"][-1] > 0
    assert done.fixed_point == "face"

def test_objects(hull_benchmark):
    [choice] = catalog.choices("solvers", "frank_wolfe[step=exact]")
    solver = catalog.build_solver(choice)
    done = hull_benchmark(TRIANGLE, solver, max_steps=50, gap=1e-3, at=[1.5, 0.5])
    assert done.gap <= 1e-3 * TRIANGLE.scale

def test_a_chosen_one(hull_benchmark):
    hull_benchmark(TRIANGLE, "auto", fixed_point="face, dimension 1", at=[[1.5, 0.5]])

def test_a_direct_one(hull_benchmark):
    hull_benchmark(WAY, "vertex_enumeration", fixed_point="vertex", at=[3, 0])

def test_several_queries(hull_benchmark):
    done = hull_benchmark(WAY, "away_steps", fixed_point="vertex, atom 0", at=[[3, 0], [3, 0]])
    assert done.x.shape == (2, 2)

def test_keys_that_move(hull_benchmark):
    cloud = fw.QuadraticOverHull([[4], [-1]], start=[0, 1])
    text = "hardmax_attention[keys=moving,step=constant(1/2)]"
    hull_benchmark(cloud, text, gap=math.inf, max_steps=60, fixed_point="consensus")

def test_a_user_catches(hull_benchmark):
    with pytest.raises(AssertionError, match="certified gap .* at most 1e-08 was asked for"):
        hull_benchmark(TRIANGLE, "frank_wolfe[step=open_loop]", max_steps=3)
'''  # fmt: skip


def test_what_is_as_expected_passes(session):
    threads = numba.get_num_threads()
    for words in (QUICK, ("--benchmark-disable",), ("-p", "no:benchmark")):
        done = session(PASSING, *words)
        assert set(done.outcomes.values()) == {"passed"}, (words, done.said)
        assert (done.code, len(done.outcomes)) == (0, 7)
    assert gc.isenabled()
    assert gc.get_freeze_count() == 0
    assert numba.get_num_threads() == threads


WRONG = '''
import numpy as np
import fwbench as fw

TRIANGLE = fw.QuadraticOverHull([[1, 2], [3, 1], [2, -1]])
CLOUD = fw.QuadraticOverHull([[4], [-1]], start=[0, 1])

class Careless:
    def prepare(self, problem): return problem
    def init(self, model, start): raise ZeroDivisionError("in my_solver")
    def advance(self, model, state, steps): ...

'''  # fmt: skip
SENTENCES = {
    'TRIANGLE, "frank_wolfe[step=harmonic(2,2)]", max_steps=3': (
        "AssertionError: frank_wolfe[step=harmonic(2,2)] on QuadraticOverHull, 3 atoms in 2 "
        "dimensions: certified gap "
    ),
    'TRIANGLE, "away_steps", fixed_point="vertex"': (
        "rests at: face, dimension 1, atoms 0 2; expected: vertex"
    ),
    'TRIANGLE, "away_steps", fixed_point="face, dimension 2"': "expected: face, dimension 2",
    'TRIANGLE, "away_steps", at=[1.5, 0.6]': "of the radius from the expected point; 0.001",
    'CLOUD, "hardmax_attention", max_steps=9': "at most 1e-08 was asked for (budget: 9 steps",
    'CLOUD, "hardmax_attention[values=3,normalised=false]", max_steps=9': (
        "nothing certifies a gap, the points may leave the hull"
    ),
    'TRIANGLE, "extragradient", max_seconds=1e-9': "ended with the status timeout",
    'TRIANGLE, "vertex_enumeration"': "ended with the status skipped: vertex_enumeration runs on",
    "TRIANGLE, Careless()": "ended with the status error: ZeroDivisionError: in my_solver",
    'TRIANGLE, "away_step"': "UnknownName: no solver is called 'away_step'; did you mean away_step",
    'TRIANGLE, "frank_wolfe"': "InvalidParameter: a benchmark has one solver; frank_wolfe names 2",
    '"nowhere", "away_steps"': "UnknownName: no problem is called 'nowhere'",
    'np.eye(2), "away_steps"': "InvalidParameter: problem must be a QuadraticOverHull or the text",
    "TRIANGLE, Careless": "(make it: call the class?)",
    'TRIANGLE, "away_steps", tol=0': "InvalidParameter: tol must be positive; got 0",
    'TRIANGLE, "away_steps", gap=1e-12': "gap must not be below tol, at which the run stops; got",
    'TRIANGLE, "away_steps", max_steps=1.5': "max_steps must be an integer",
    'TRIANGLE, "away_steps", fixed_point="vertx"': "is no class; did you mean vertex?",
    'TRIANGLE, "away_steps", fixed_point=[1.5, 0.5]': "fixed_point must be a text; got [1.5, 0.5]",
    'TRIANGLE, "away_steps", at=[1, 2, 3]': "at must have shape (d,) = (2,)",
    'TRIANGLE, "away_steps", at="here"': "at must hold numbers; got 'here'",
    'TRIANGLE, "away_steps", at=[1, float("nan")]': "at must hold finite numbers",
}


def test_what_is_not_is_a_failure_with_one_sentence(session):
    calls = "".join(
        f"def test_{place}(hull_benchmark):\n    hull_benchmark({call})\n"
        for place, call in enumerate(SENTENCES)
    )
    done = session(WRONG + calls, *QUICK)
    assert done.code == 1
    for place, (call, sentence) in enumerate(SENTENCES.items()):
        said = done.said[f"test_{place}"]
        assert done.outcomes[f"test_{place}"] == "failed", (call, said)
        assert sentence in said.partition("\n")[0], (call, said)
        assert done.frames[f"test_{place}"] == 1  # the user's own line
    trace = done.said[f"test_{[*SENTENCES].index('TRIANGLE, Careless()')}"]
    assert "traceback of the solver" in trace
    assert 'raise ZeroDivisionError("in my_solver")' in trace


def test_what_happens_around_the_call_is_a_failure_too(session):
    tests = WRONG + (
        "def test_twice(hull_benchmark):\n"
        '    hull_benchmark(TRIANGLE, "away_steps")\n'
        '    hull_benchmark(TRIANGLE, "away_steps")\n'
        "def test_start(hull_benchmark):\n"
        '    hull_benchmark(fw.QuadraticOverHull([[1, 0], [2, 0]]), "away_steps")\n'
    )
    done = session(tests, *QUICK)
    assert done.outcomes == {"test_twice": "failed", "test_start": "failed"}
    assert "called twice in one test" in done.said["test_twice"]
    assert "the start is the answer already" in done.said["test_start"]


# -- beside pytest-benchmark -------------------------------------------------------------------

BOTH = """
import pytest

def test_hull(hull_benchmark):
    hull_benchmark("polygon[k=5]", "frank_wolfe[step=exact]", gap=0.5, max_steps=20)

@pytest.mark.benchmark(group="sums", min_rounds=3)
def test_sum(benchmark):
    assert benchmark(sum, [1, 2]) == 3

@pytest.mark.benchmark(min_rounds=12, max_time=1e-6)
def test_marked(hull_benchmark, benchmark):
    hull_benchmark("polygon[k=5]", "frank_wolfe[step=exact]", gap=0.5, max_steps=20)
    assert benchmark.disabled or len(benchmark.stats.stats.data) == 12

def test_none():
    pass
"""
HULL, SUM, MARKED, NONE = "test_hull", "test_sum", "test_marked", "test_none"


@pytest.mark.parametrize(
    ("words", "passed", "skipped"),
    [
        (QUICK, {HULL, SUM, MARKED, NONE}, set()),
        (("--benchmark-disable",), {HULL, SUM, MARKED, NONE}, set()),
        (("--benchmark-skip",), {NONE}, {HULL, SUM, MARKED}),
        ((*QUICK, "--benchmark-only"), {HULL, SUM, MARKED}, {NONE}),
        (("-p", "no:benchmark", "-k", "hull or none", "-W", "ignore", "-o", "markers=benchmark"),
         {HULL, NONE}, set()),
        (("-p", "no:fwbench", "-k", "sum or none", *QUICK), {SUM, NONE}, set()),
    ],
)  # fmt: skip
def test_it_goes_with_the_options_of_pytest_benchmark(session, words, passed, skipped):
    done = session(BOTH, *words)
    assert done.code == 0, done.said
    assert {name for name, outcome in done.outcomes.items() if outcome == "passed"} == passed
    assert {name for name, outcome in done.outcomes.items() if outcome == "skipped"} == skipped


def test_without_this_plugin_the_fixture_is_not_there(session):
    done = session(BOTH, "-p", "no:fwbench", "-k", "hull")
    assert done.outcomes == {HULL: "error"}
    assert "fixture 'hull_benchmark' not found" in done.said[HULL]


def test_where_pytest_benchmark_is_not_installed_a_sentence_says_so(session, monkeypatch):
    monkeypatch.setattr("fwbench.plugin.find_spec", lambda name: None)
    done = session(BOTH.replace("@pytest.mark", "# "), "-p", "no:benchmark", "-k", "hull")
    assert done.outcomes == {HULL: "failed"}
    assert "not installed: pip install pytest-benchmark" in done.said[HULL].partition("\n")[0]


def test_it_is_light():
    """A session that does not use it must not pay for it."""
    code = "import pytest, sys; before = set(sys.modules); import fwbench.plugin; "
    code += "print(*sorted(set(sys.modules) - before))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["fwbench", "fwbench.plugin"]


@pytest.mark.slow
def test_on_a_worker_of_xdist_it_checks_and_takes_no_time(tmp_path):
    (tmp_path / "test_both.py").write_text(BOTH)
    outside = {k: v for k, v in os.environ.items() if not k.startswith("PYTEST_")}
    words = [sys.executable, "-m", "pytest", "-q", "-n", "1", "--benchmark-json=out.json"]
    done = subprocess.run(
        [*words, "-p", "no:cacheprovider"],
        cwd=tmp_path,
        env=outside,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout
    assert "4 passed" in done.stdout
    assert not (tmp_path / "out.json").exists()


# -- the work on the clock ---------------------------------------------------------------------

WATCHED = """
import gc
import numba
import pytest
from fwbench.geometry.combinations import Combinations
import fwbench as fw

PROBLEM = fw.QuadraticOverHull([[1, 2], [3, 1], [2, -1]])
OPTIMUM = Combinations.from_dense([[0.5, 0.0, 0.5]])
seen = []

class State:
    steps, done, claim = 0, False, None
    def __init__(self, weights, needs): self.at, self.needs = weights, needs
    def points(self): return self.at.averages(PROBLEM.rows(self.at.keys))
    def weights(self): return self.at

class Watched:
    def __init__(self, lazy=False): self.lazy, self.inits = lazy, 0
    def prepare(self, problem):
        assert "centred" not in vars(problem)
        return problem
    def init(self, model, start):
        self.inits += 1
        return State(start, 1 if self.lazy and self.inits > 300 else 3)
    def advance(self, model, state, steps):
        seen.append((state.steps, steps, gc.isenabled(), numba.get_num_threads()))
        state.steps += min(steps, state.needs - state.steps)
        if state.steps == state.needs:
            state.at, state.done = OPTIMUM, True

def test_work(hull_benchmark, benchmark):
    hull_benchmark(PROBLEM, Watched())
    rounds = len(benchmark.stats.stats.data)
    assert set(seen[-rounds:]) == {(0, 3, False, 1)}

@pytest.mark.benchmark(min_rounds=500)
def test_lazy(hull_benchmark):
    hull_benchmark(PROBLEM, Watched(lazy=True))
"""


def test_a_round_is_the_uninterrupted_run_from_a_fresh_state(session, tmp_path):
    done = session(WATCHED, "--benchmark-json=out.json")
    assert done.outcomes["test_work"] == "passed", done.said
    assert done.outcomes["test_lazy"] == "failed"
    assert "took 1 steps, the judged one 3: the solver keeps something" in done.said["test_lazy"]
    made = json.loads((tmp_path / "out.json").read_text())["benchmarks"]
    assert [one["name"] for one in made] == ["test_work"]


# -- what it writes, and what compare says of it -----------------------------------------------

BENCHES = """
import pytest

SOLVERS = {
    "walk": ("polygon[k=5,norms=vary]", {"gap": float("inf"), "max_steps": 50}),
    "away": ("min_norm_point[n=30,d=4,shift=1]", {}),
    "stops": ("min_norm_point[n=30,d=4,shift=1]", {"tol": 1e-12, "gap": 1e-3}),
}

@pytest.mark.parametrize("name", SOLVERS)
def test_solve(hull_benchmark, name):
    problem, limits = SOLVERS[name]
    hull_benchmark(problem, f"{name}.py", **limits)
"""
USUAL = {"walk": WALK, "away": AWAY, "stops": STOPS}


def benched(folder, sources=USUAL, tests=BENCHES):
    """Time three solvers, and return the file that was written, as a side of a comparison."""
    for name, source in sources.items():
        (folder / f"{name}.py").write_text(source)
    (folder / "test_benches.py").write_text(tests)
    sys.modules.pop("test_benches", None)
    done = run(folder, "", "--benchmark-json=out.json", *QUICK, "test_benches.py")
    assert done.code == 0, done.said
    return opened(folder / "out.json")


@pytest.fixture(scope="module")
def usual(tmp_path_factory):
    """Return the solvers as they were before any edit."""
    return benched(tmp_path_factory.mktemp("usual"))


def bad(base, new):
    """Return the quantities for which a comparison ends as worse, by solver."""
    found: dict[str, set[str]] = {}
    for change in compared(base, new, exact_only=True).changes:
        if change.found.bad:
            found.setdefault(change.base.row["solver"], set()).add(change.found.quantity)
    return found


def test_the_same_solvers_again_are_the_same(usual, tmp_path):
    again = compared(usual, benched(tmp_path), exact_only=True)
    assert again.outcome is Outcome.SAME
    assert (again.matched, again.changes) == (3, ())
    assert [how.name for how, _ in again.likeness] == ["BITS"]


def test_compare_names_each_regression(usual, tmp_path):
    planted = {
        "walk": edited(WALK, ELSEWHERE),
        "away": edited(AWAY, TWICE_THE_CALLS),
        "stops": edited(STOPS, LOOSENED),
    }
    found = bad(usual, benched(tmp_path, planted))
    assert set(found) == {"walk", "away", "stops"}
    assert "fixed point" in found["walk"]
    assert all(name.startswith("oracle calls") for name in found["away"])
    assert "certified gap" in found["stops"]


def test_a_looser_tolerance_in_the_test_is_another_question(usual, tmp_path):
    looser = BENCHES.replace("{}", '{"tol": 1e-4}')
    found = compared(usual, benched(tmp_path, tests=looser), exact_only=True)
    assert [lone.run.row["solver"] for lone in found.missing] == ["away"]
    assert found.outcome is Outcome.INCONCLUSIVE


def test_the_row_says_what_compare_reads(usual):
    first = {run.row["solver"]: run for run in usual.runs if not run.row["repetition"]}
    away, walk = first["away"], first["walk"]
    assert away.row["status"] == "converged"
    assert away.row["gap_relative"] <= away.row["tol"] == 1e-8
    assert (away.row["kind"], away.row["n"], away.row["d"]) == ("convex", 30, 4)
    assert away.trace["k"][-1] == away.trace["lmo"][-1] == away.row["steps"]
    assert away.rests[0]["class"] == away.row["fixed_point"] == "face"
    assert away.points().shape == (1, 4)
    assert away.graded
    assert away.radius > 0
    assert walk.row["rate_class"]
    assert walk.row["max_steps"] == 50
    assert {"fwbench", "numpy", "python"} <= set(usual.facts["versions"])
    places = [run.row["repetition"] for run in usual.runs if run.row["solver"] == "away"]
    assert places == [*range(9)]


def test_of_many_queries_the_class_alone_is_kept(session, tmp_path):
    many = MOST_NUMBERS // 2 + 1
    session(
        "import fwbench as fw\n"
        "def test_many(hull_benchmark):\n"
        f"    cloud = fw.QuadraticOverHull([[3, 0], [0, 2], [1, 1]], -1.0, start=[2] * {many})\n"
        '    hull_benchmark(cloud, "hardmax_attention", gap=0.9, max_steps=3, max_seconds=60)\n',
        "--benchmark-json=out.json", *QUICK,
    )  # fmt: skip
    [made] = json.loads((tmp_path / "out.json").read_text())["benchmarks"]
    kept = made["extra_info"]["fwbench"]
    assert (kept["queries"], kept["points"], kept["rests"]) == (many, None, [])
    assert kept["fixed_point"]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"trace": {"gap": [1.0]}}, "trace.* holds no k"),
        ({"trace": {"k": [0, 1], "gap": [1.0]}}, "lists of unlike lengths"),
        ({"trace": {"k": ["0"]}}, "must be an integer"),
        ({"rests": [{"class": "face", "label": "", "certified": 1}]}, "certified must be true or"),
        ({"points": [[1.0, 2.0], [1.0]]}, "as long as one another"),
        ({"points": [[]]}, "at least 1 entries"),
        ({"versions": {"numpy": 2}}, "versions.*must be a text"),
        ({"solver": 3}, "solver must be a text"),
        ({"radius": "1"}, "radius must be a finite number"),
    ],
)
def test_a_row_of_another_shape_is_refused(tmp_path, change, said):
    stats = {"min": 1.0, "max": 1.0, "mean": 1.0, "median": 1.0}
    made = {"name": "t", "fullname": "f::t", "stats": stats, "extra_info": {"fwbench": change}}
    (tmp_path / "x.json").write_text(json.dumps({"benchmarks": [made]}))
    with pytest.raises(InvalidParameter, match=said):
        opened(tmp_path / "x.json")
