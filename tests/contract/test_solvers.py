import copy
import os
import pickle
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
from numba.core.dispatcher import Dispatcher

import fwbench.scored
import fwbench.tokens
from fwbench import catalog
from fwbench.geometry.combinations import Combinations
from fwbench.geometry.forms import Kind
from fwbench.judge import LOOSE, Judge
from fwbench.kernels import plain
from fwbench.problem import QuadraticOverHull
from fwbench.runner import Budget, run
from fwbench.solver import Queries, Sampling, inside
from fwbench.steps import RULES
from fwbench.trace import Status

from .made_cases import (
    ALL,
    CASES,
    FEW,
    GAUSS,
    GRIDS,
    LINEAR,
    PROBLEMS,
    SQUARE,
    Case,
    bits,
    problem,
)

pytestmark = pytest.mark.usefixtures("untimed")

FLOAT32 = 1e-5


@pytest.fixture(params=CASES, ids=lambda case: f"{case[0].label}-{case[1]}")
def case(request):
    choice, name = request.param
    made = Case(choice, problem(name))
    if made.misfit is not None:
        pytest.skip(made.misfit)
    return made


@pytest.fixture(params=ALL, ids=lambda choice: choice.label)
def choice(request):
    return request.param


def fitting(choice, problem):
    made = Case(choice, problem)
    if made.misfit is not None:
        pytest.skip(made.misfit)
    return made


# -- what a file says of itself ----------------------------------------------------------------


@pytest.mark.parametrize("name", catalog.names("solvers"))
def test_a_solver_file_says_what_it_is(name):
    entry = catalog.entry("solvers", name)
    assert entry.name == name
    assert entry.label
    assert any(letter.isdigit() for letter in entry.reference), "a reference has a year"
    assert entry.law
    assert entry.kinds
    assert 0 < entry.promise <= 1
    assert len(catalog.choices("solvers", name)) == len(entry.grid)


def test_all_step_rules_are_tried():
    tried = {c.arguments["step"].text.split("(")[0] for c in ALL if "step" in c.arguments}
    assert tried == set(RULES)


@pytest.mark.parametrize("name", catalog.names("solvers"))
def test_a_solver_runs_on_every_kind_it_names(name):
    variants = [c for c in ALL if c.name == name]
    entry = catalog.entry("solvers", name)
    ran = {p.kind for c in variants for p in map(problem, PROBLEMS) if not Case(c, p).misfit}
    assert ran == entry.kinds
    assert {problem(p).kind for p in PROBLEMS} == set(Kind)


# -- the semigroup law -------------------------------------------------------------------------


def test_a_run_cut_anywhere_gives_the_same_bits(case):
    if case.entry.sampling is Sampling.RERUN:
        pytest.skip("always run from scratch")
    solver, model, whole = case.begun()
    solver.advance(model, whole, case.long)
    cut = solver.init(model, case.start)
    cuts = np.sort(np.random.default_rng(0).integers(0, case.long + 1, 4))
    for steps in np.diff([0, *cuts, case.long]):
        solver.advance(model, cut, int(steps))
        cut.points(), cut.weights()  # a look in between
    assert bits(cut) == bits(whole)
    assert whole.steps == case.long or whole.done
    assert whole.done or case.entry.sampling is not Sampling.ONCE


def test_two_runs_and_a_copy_give_the_same_bits(choice):
    for name in ("convex", "concave, 3 queries", "general"):
        case = Case(choice, problem(name))
        if case.misfit is not None:
            continue
        ends = []
        for _ in "ab":
            solver, model, state = case.begun()
            solver.advance(model, state, 5)
            twin = copy.deepcopy(state)
            before = bits(twin)
            solver.advance(model, state, 7)
            assert bits(twin) == before
            solver.advance(model, twin, 7)
            ends += [bits(state), bits(twin)]
        assert all(end == ends[0] for end in ends)


CARRY_ON = """
import pickle, sys
with open(sys.argv[1], "rb") as file:
    runs = pickle.load(file)
for solver, problem, state in runs:
    solver.advance(solver.prepare(problem), state, 9)
with open(sys.argv[2], "wb") as file:
    pickle.dump([state for _, _, state in runs], file)
"""


def in_a_new_process(code, folder, *arguments):
    script = folder / "script.py"
    script.write_text(code, encoding="utf-8")
    path = os.pathsep.join(filter(None, sys.path))
    done = subprocess.run(
        [sys.executable, script, *arguments],
        env=os.environ | {"PYTHONPATH": path},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_pickled_run_goes_on_in_another_process(tmp_path):
    cases = [Case(choice, problem(name)) for choice, name in CASES]
    runs = []
    for case in (case for case in cases if case.misfit is None):
        solver, model, state = case.begun()
        solver.advance(model, state, 9)
        runs.append((solver, case.problem, state))
    (tmp_path / "there").write_bytes(pickle.dumps(runs))
    in_a_new_process(CARRY_ON, tmp_path, tmp_path / "there", tmp_path / "back")
    returned = pickle.loads((tmp_path / "back").read_bytes())
    for (solver, made, state), other in zip(runs, returned, strict=True):
        solver.advance(solver.prepare(made), state, 9)
        assert bits(other) == bits(state), (solver, made.kind)


# -- points and weights ------------------------------------------------------------------------


def test_row_0_is_the_start(case):
    _, _, state = case.begun()
    assert (state.steps, state.done, state.claim) == (0, False, None)
    start, n = case.start, case.problem.n
    expected = start.averages(case.problem.atoms[start.keys].astype(np.float64))
    rounding = 1e-7 if case.problem.dtype == np.float32 else 1e-14
    allowed = rounding * np.abs(case.problem.atoms).max()
    np.testing.assert_allclose(state.points(), expected, rtol=0, atol=allowed)
    if (weights := state.weights()) is not None:
        np.testing.assert_allclose(weights.dense(n), start.dense(n), rtol=rounding)
    assert state.points().dtype == np.float64


def test_iterates_stay_in_the_hull(case):
    if not inside(case.entry, case.one):
        pytest.skip("leaves the hull by design")
    solver, model, state = case.begun()
    judge = Judge(case.problem)
    rounding = FLOAT32 if case.problem.dtype == np.float32 else case.rounding
    foreign = case.entry.sampling is not Sampling.ADVANCE
    for steps in (0, 1, 1, 2, 5, case.long - 9):
        solver.advance(model, state, steps)
        points, weights = state.points(), state.weights()
        assert points.shape == (case.start.m, case.problem.d)
        offset = points - case.problem.mean
        if weights is None:
            weights = judge.found(offset)
        elif not foreign:
            assert (weights.data >= 0).all()
        assert weights.m == case.start.m
        assert judge.violation(offset, weights) <= (LOOSE if foreign else rounding)


def test_a_run_writes_into_none_of_its_inputs(choice):
    rng = np.random.default_rng(3)
    q = rng.standard_normal((3, 3))
    for Q in (q @ q.T, -q @ q.T, np.diag([1.0, -1.0, 2.0]), q):
        given = [GAUSS.copy(), Q.copy(), LINEAR.copy()]
        weights = rng.dirichlet(np.ones(9), size=2)
        start = Combinations.from_dense(weights)
        case = Case(choice, QuadraticOverHull(*given, start=start))
        if case.misfit is not None:
            continue
        given += [start.indptr, start.keys, start.data]
        before = [array.tobytes() for array in given]
        solver, model, state = case.begun()
        solver.advance(model, state, 30)
        assert [array.tobytes() for array in given] == before
        # and the model serves the next run as it did this one
        again = solver.init(model, case.start)
        solver.advance(model, again, 30)
        assert bits(again) == bits(state)


def test_the_queries_are_as_declared(choice):
    entry = choice.entry
    if "seed" in choice.arguments:
        pytest.skip("its numbers are keyed by the place of a query among all")
    for name in ("convex, 3 queries", "concave, 3 queries", "general"):
        case = Case(choice, problem(name))
        if case.misfit is not None:
            continue
        one = case.one
        model = one.prepare(case.problem)
        points = []
        for q in range(3):
            state = one.init(model, case.problem.start.one(q))
            one.advance(model, state, 25)
            points.append(state.points())
        if entry.queries is Queries.ANY:
            assert points[0].tobytes() == points[1].tobytes() == points[2].tobytes()
            continue
        solver, _, together = case.begun()
        solver.advance(model, together, 25)
        assert together.points().shape == (3, case.problem.d)
        if not getattr(one, "moving", False):
            allowed = case.rounding * case.problem.radius
            np.testing.assert_allclose(together.points(), np.vstack(points), rtol=0, atol=allowed)
        if (counters := getattr(together, "counters", None)) is not None:
            sparing = choice.arguments.get("lazy") == "yes"
            assert counters["lmo"] < 3 * 25 if sparing else counters["lmo"] == 3 * 25


# -- memory layouts and types --------------------------------------------------------------------


def test_every_layout_of_the_atoms_runs(choice):
    wide = np.repeat(GAUSS, 2, axis=1)
    layouts = [GAUSS.copy(), np.asfortranarray(GAUSS), wide[:, ::2], GAUSS[::-1].copy()[::-1]]
    layouts[0].setflags(write=False)
    q = SQUARE @ SQUARE.T
    ends = []
    for sign in (1.0, -1.0):
        for atoms in layouts:
            case = Case(choice, QuadraticOverHull(atoms, sign * np.asfortranarray(q), LINEAR))
            if case.misfit is not None:
                break
            solver, model, state = case.begun()
            solver.advance(model, state, 10)
            ends.append(state.points())
            allowed = 1e-12 * case.problem.radius
            np.testing.assert_allclose(ends[-1], ends[0], rtol=0, atol=allowed)
        ends.clear()


def test_float32_stays_float32(choice):
    case = fitting(choice, problem("concave, 3 queries"))
    if case.exact:
        pytest.skip("exact runs hold rationals")
    single = QuadraticOverHull(case.problem.atoms.astype(np.float32), -1.0, start=[0, 3])
    case = Case(choice, single)
    solver, model, state = case.begun()
    one = getattr(state, "states", (state,))[0]

    def types():
        arrays = {k: v for k, v in vars(one).items() if isinstance(v, np.ndarray)}
        return {k: array.dtype for k, array in arrays.items()}

    before = types()
    solver.advance(model, state, 20)
    assert types() == before
    assert state.points().dtype == np.float64
    if case.entry.sampling is Sampling.ADVANCE:
        assert np.float32 in before.values(), "float32 atoms keep a float32 state"


def test_float32_ends_near_float64(choice):
    double = problem("convex")
    case = fitting(choice, QuadraticOverHull(double.atoms, 1.0, LINEAR))
    if getattr(case.one, "moving", False) or case.exact:
        pytest.skip("moving keys may part for good where one leader differs")
    ends = []
    for kind in (np.float64, np.float32):
        solver, model, state = Case(
            choice, QuadraticOverHull(double.atoms.astype(kind), 1.0, LINEAR)
        ).begun()
        solver.advance(model, state, 300)
        ends.append(float(double.centred_value(state.points() - double.mean)[0]))
    assert ends[1] == pytest.approx(ends[0], abs=1e-3 * double.scale)


# -- kernels -------------------------------------------------------------------------------------


def test_uncompiled_kernels_take_the_same_path(case, monkeypatch):
    homes = [import_module(f"fwbench.solvers.{case.entry.name}"), fwbench.tokens, fwbench.scored]
    solver, model, compiled = case.begun()
    solver.advance(model, compiled, 12)
    for home in homes:
        for name, kernel in list(vars(home).items()):
            if isinstance(kernel, Dispatcher):
                monkeypatch.setattr(home, name, plain(kernel))
    interpreted = solver.init(model, case.start)
    solver.advance(model, interpreted, 12)
    rounding = FLOAT32 if case.problem.dtype == np.float32 else 1e-9
    if case.entry.queries is Queries.ANY:  # of many minimisers rounding may choose another one
        allowed = rounding * (case.problem.scale or 1.0)
        values = [case.problem.value(state.points()) for state in (interpreted, compiled)]
        np.testing.assert_allclose(*values, rtol=0, atol=allowed)
        return
    allowed = rounding * (case.problem.radius or 1.0)
    np.testing.assert_allclose(interpreted.points(), compiled.points(), rtol=0, atol=allowed)


CLOCKED = """
import importlib, pickle, pkgutil, sys
from numba.core.dispatcher import Dispatcher
import fwbench.kernels
from fwbench import runner, timing

homes = [importlib.import_module(f"fwbench.kernels.{m.name}")
         for m in pkgutil.iter_modules(fwbench.kernels.__path__)]
kernels = [k for home in homes for k in vars(home).values() if isinstance(k, Dispatcher)]
reads, now = [], runner.perf_counter_ns
timing.REPEATS_SECONDS = 0.0  # one timed run is enough

def read_clock():
    reads.append(sum(len(kernel.signatures) for kernel in kernels))
    return now()

runner.perf_counter_ns = timing.perf_counter_ns = read_clock
with open(sys.argv[1], "rb") as file:
    runs = pickle.load(file)
for problem, solver, entry in runs:
    reads.clear()
    done = runner.run(problem, solver, entry, runner.Budget(max_steps=30))
    assert not done.status.is_failure, (solver, problem.kind, done.reason)
    assert len(reads) % 2 == 0, (solver, done.status, done.reason, len(reads))
    for begin, end in zip(reads[::2], reads[1::2]):
        assert begin == end, (solver, problem.kind, problem.dtype, reads)
print(sum(len(kernel.signatures) for kernel in kernels))
"""


@pytest.mark.slow
def test_no_kernel_is_compiled_inside_the_clock(tmp_path):
    fortran = QuadraticOverHull(np.asfortranarray(GAUSS), 1.0, LINEAR)
    runs = []
    for made in (*map(problem, FEW), fortran):
        cases = [Case(choice, made) for choice in ALL]
        runs += [(made, c.one, c.entry) for c in cases if c.misfit is None]
    (tmp_path / "runs").write_bytes(pickle.dumps(runs))
    signatures = in_a_new_process(CLOCKED, tmp_path, tmp_path / "runs")
    assert int(signatures) >= 8  # float64 and float32 of the four loops


# -- under the runner ----------------------------------------------------------------------------


@pytest.mark.parametrize("name", PROBLEMS)
@pytest.mark.parametrize("choice", GRIDS, ids=lambda choice: choice.label)
def test_a_run_ends_well(choice, name):
    case = fitting(choice, problem(name))
    done = run(case.problem, case.one, case.entry, Budget(max_steps=60))
    assert not done.status.is_failure, (done.reason, done.traceback)
    k = done.trace.columns["k"]
    assert k[0] == 0
    assert k[-1] == done.row["steps"] <= 60
    assert done.row["feasibility"] <= max(LOOSE, FLOAT32 * (case.problem.dtype == np.float32))
    assert done.row["gap"] is None or done.row["gap"] >= 0
    if case.entry.sampling is Sampling.ONCE:
        assert done.status is Status.FINISHED


def test_a_misfit_is_skipped_with_its_reason(choice):
    reasons = {p: Case(choice, problem(p)).misfit for p in PROBLEMS}
    for name in (p for p, reason in reasons.items() if reason):
        case = Case(choice, problem(name))
        done = run(case.problem, case.one, case.entry, Budget(max_steps=60))
        assert (done.status, done.reason) == (Status.SKIPPED, reasons[name])
        assert str(case.problem.kind) in done.reason


def test_the_tests_know_this_folder():
    solvers = Path(import_module("fwbench.solvers").__file__).parent
    files = {path.stem for path in solvers.glob("*.py")} - {"__init__"}
    assert files == {choice.name for choice in ALL}
