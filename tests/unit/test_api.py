import gc
import inspect
import sys
from pathlib import Path

import numba
import numpy as np
import pytest
from threadpoolctl import threadpool_info

import fwbench as fw
from fwbench.errors import InvalidParameter, InvalidProblem, Refused, RunFolderError, UnknownName
from fwbench.geometry.combinations import Combinations

MISBEHAVING = str(Path(__file__).parents[1] / "made" / "misbehaving.py")
TRIANGLE = [[1.0, 2.0], [3.0, 1.0], [2.0, -1.0]]  # nearest to 0: (3/2, 1/2)
SQUARE = [[1.0, 1.0], [1.0, -1.0], [-1.0, -1.0], [-1.0, 1.0]]
KINDS = {
    "convex": 1.0,
    "concave": -1.0,
    "indefinite": [1.0, -1.0],
    "monotone": [[1.0, -0.5], [0.5, 1.0]],
    "general": [[1.0, 2.0], [-1.0, -1.0]],
}


@pytest.fixture
def triangle():
    return fw.QuadraticOverHull(TRIANGLE)


# -- solve -----------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
def test_auto_solves_every_kind(kind):
    problem = fw.QuadraticOverHull(np.add(SQUARE, [0.2, 0.1]), KINDS[kind])
    assert problem.kind == kind
    found = fw.solve(problem, max_steps=20_000)
    assert found.status == "converged"
    assert 0 <= found.gap_relative <= 1e-8
    assert found.gap >= 0
    assert (found.value is None) == (kind in ("monotone", "general"))
    assert found.x.shape == (2,)
    np.testing.assert_allclose(found.weights @ problem.atoms, found.x, atol=1e-12)
    assert found.weights.min() >= 0
    assert found.weights.sum() == pytest.approx(1)


def test_a_solution_by_hand(triangle):
    found = fw.solve(triangle, tol=1e-12)
    np.testing.assert_allclose(found.x, [1.5, 0.5], atol=1e-9)
    np.testing.assert_allclose(found.weights, [0.5, 0.0, 0.5], atol=1e-9)
    assert found.value == pytest.approx(1.25)
    assert found.solver == "working_set"
    assert found.steps > 0
    assert found.seconds > 0
    assert "certified gap" in found.reason
    assert found.trace is None


def test_a_concave_problem_ends_at_its_best_vertex():
    found = fw.solve(fw.QuadraticOverHull([[1.0, 0.0], [0.0, 2.0], [-1.0, -1.0]], -1.0))
    assert found.x.tolist() == [0.0, 2.0]
    assert found.weights.tolist() == [0.0, 1.0, 0.0]
    assert (found.status, found.solver) == ("converged", "vertex_enumeration")


@pytest.mark.parametrize("atoms", [[[2.0, 3.0]], [[2.0, 3.0]] * 4, [[1.0], [-2.0], [3.0]]])
def test_degenerate_hulls_are_solved(atoms):
    found = fw.solve(fw.QuadraticOverHull(atoms))
    assert found.status == "converged"
    assert found.gap_relative <= 1e-8


def test_a_linear_objective_is_solved():
    found = fw.solve(fw.QuadraticOverHull(SQUARE, 0.0, [1.0, 2.0]))
    assert found.x.tolist() == [-1.0, -1.0]


def test_many_starts_give_many_points(triangle):
    found = fw.solve(triangle, "hardmax_attention[step=exact]", start=[0, 1, 2], tol=1e-6)
    assert found.x.shape == (3, 2)
    assert found.weights.shape == (3, 3)
    np.testing.assert_allclose(found.weights @ triangle.atoms, found.x, atol=1e-12)
    lifted = fw.solve(triangle, "away_steps", start=[0, 1, 2])
    np.testing.assert_allclose(lifted.x, [[1.5, 0.5]] * 3, atol=1e-3)


def test_an_answer_that_depends_on_no_start_is_one_point(triangle):
    found = fw.solve(triangle, "cvxpy_reference", start=[0, 1])
    np.testing.assert_allclose(found.x, [1.5, 0.5], atol=1e-6)


def test_a_start_may_be_a_combination(triangle):
    half = Combinations.from_dense([[0.5, 0.0, 0.5]])
    found = fw.solve(triangle, start=half)
    assert (found.steps, found.status) == (0, "converged")
    assert found.x.tolist() == [1.5, 0.5]


def test_a_start_changes_nothing_else():
    # only along differences of the atoms is Q what was declared
    flat = [[0.0, 0.0, 1.0], [1.0, 0.0, 1.0], [0.0, 1.0, 1.0]]
    problem = fw.QuadraticOverHull(flat, [1.0, 1.0, -1.0], kind="convex")
    assert problem.starting_at([1]).kind == "convex"
    assert problem.starting_at([1]).start.keys.tolist() == [1]
    assert problem.start.keys.tolist() != [1]
    assert problem.starting_at([1]).fingerprint != problem.starting_at([2]).fingerprint
    assert fw.solve(problem, "cvxpy_reference", start=[1]).status in ("converged", "finished")
    exact = fw.QuadraticOverHull([["1/3", "0"], ["0", "1/7"]])
    assert str(exact.starting_at([1]).exact_atoms[0, 0]) == "1/3"


def test_a_trace_keeps_what_was_judged(triangle):
    found = fw.solve(triangle, "frank_wolfe", trace=True, max_steps=50)
    # a block is a quarter of the steps before it
    assert found.trace["k"] == [0, 1, 2, 3, 4, 6, 8, 11, 14, 18, 23, 29, 37, 47, 50]
    assert len(found.trace["gap"]) == 15
    assert found.trace["value"][-1] == found.value
    assert all(
        b >= a for a, b in zip(found.trace["seconds"], found.trace["seconds"][1:], strict=False)
    )


def test_steps_are_limited(triangle):
    found = fw.solve(triangle, "frank_wolfe", max_steps=7)
    assert (found.steps, found.status) == (7, "budget")
    assert found.reason == "7 steps spent"
    assert found.gap_relative > 1e-8


def test_seconds_are_limited(triangle):
    found = fw.solve(triangle, "frank_wolfe", tol=1e-15, max_seconds=1e-9)
    assert found.status == "timeout"


def test_the_certificate_is_against_the_best_lower_bound(triangle):
    found = fw.solve(triangle, "frank_wolfe[step=exact]", tol=1e-6)
    assert found.status == "converged"
    assert found.gap_relative <= 1e-6


def test_moving_keys_are_certified_against_the_current_hull():
    found = fw.solve(
        fw.QuadraticOverHull(SQUARE), "hardmax_attention[keys=moving,step=constant(1/2)]"
    )
    assert found.x.shape == (4, 2)
    assert found.status == "converged"


def test_points_that_are_not_finite_end_at_once(triangle):
    found = fw.solve(triangle, f"{MISBEHAVING}[mode=nan]", start=[1])
    assert (found.status, found.steps) == ("nonfinite", 1)
    assert found.value is found.gap is found.gap_relative is None


@pytest.mark.parametrize(
    ("text", "problem", "reason"),
    [
        ("cvxpy_reference", fw.QuadraticOverHull(SQUARE, -1.0), "runs on convex problems"),
        ("vertex_enumeration", fw.QuadraticOverHull(SQUARE), "runs on concave problems"),
        ("frank_wolfe[step=exact]", fw.QuadraticOverHull(SQUARE, KINDS["general"]), "has no f"),
        ("frank_wolfe[step=exact,arithmetic=exact]", fw.QuadraticOverHull(SQUARE), "arithmetic"),
    ],
)  # fmt: skip
def test_a_misfit_is_refused_with_its_reason(text, problem, reason):
    with pytest.raises(Refused, match=reason):
        fw.solve(problem, text)


@pytest.mark.parametrize(
    ("arguments", "error", "said"),
    [
        ({"solver": "away_step"}, UnknownName, "did you mean away_steps"),
        ({"solver": "frank_wolfe[step=exact,short]"}, InvalidParameter, "solve takes one solver"),
        ({"solver": "frank_wolfe[stepp=exact]"}, InvalidParameter, "did you mean step"),
        ({"tol": 0}, InvalidParameter, "tol must be positive; got 0"),
        ({"tol": np.nan}, InvalidParameter, "tol must be positive"),
        ({"max_steps": 0}, InvalidParameter, "max_steps must be positive"),
        ({"max_seconds": -1}, InvalidParameter, "max_seconds must be positive"),
        ({"start": [3]}, InvalidProblem, "keys 0 to 2"),
        ({"start": [0.5]}, InvalidProblem, "start must be keys of atoms"),
        ({"start": []}, InvalidProblem, "start"),
    ],
)
def test_a_slip_is_named(triangle, arguments, error, said):
    with pytest.raises(error, match=said):
        fw.solve(triangle, **arguments)


def test_atoms_alone_are_no_problem():
    with pytest.raises(InvalidProblem, match="takes a QuadraticOverHull; got list"):
        fw.solve(TRIANGLE)


def test_what_a_solver_raises_reaches_the_caller(triangle):
    with pytest.raises(ValueError, match="no such step"):
        fw.solve(triangle, f"{MISBEHAVING}[mode=raise]", start=[1])


@pytest.mark.parametrize("text", ["auto", "cvxpy_reference", "hardmax_attention[step=exact]"])
def test_solving_touches_nothing_of_the_program_around_it(triangle, capfd, text):
    def state():
        pools = [(p["filepath"], p["num_threads"]) for p in threadpool_info()]
        return gc.isenabled(), gc.get_freeze_count(), gc.get_threshold(), sorted(pools)

    fw.solve(triangle, text, max_steps=200)  # whatever is loaded, is loaded now
    before, streams = state(), (sys.stdout, sys.stderr)
    capfd.readouterr()
    fw.solve(triangle, text, max_steps=200)
    assert state() == before
    assert (sys.stdout, sys.stderr) == streams
    assert capfd.readouterr() == ("", "")
    gc.disable()
    try:
        fw.solve(triangle, text, max_steps=200)
        assert not gc.isenabled()
    finally:
        gc.enable()


def test_solving_twice_gives_the_same_bits(triangle):
    a, b = (fw.solve(triangle, "frank_wolfe", max_steps=100) for _ in "ab")
    np.testing.assert_array_equal(a.x, b.x)
    assert a.gap == b.gap


# -- run -------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    return fw.run(
        problems="min_norm_point[n=10,d=2,shift=1]",
        solvers=["away_steps", "cvxpy_reference"],
        out=tmp_path_factory.mktemp("api") / "run",
        repeat=2,
        seed=5,
        tol=1e-6,
    )


def test_results_are_tables(results):
    assert len(results.runs) == 4
    assert results.runs["seed"].tolist() == [5] * 4
    assert set(results.trace["run_id"]) == set(results.runs["run_id"])
    assert results.rates()["solver_label"].tolist() == results.runs["solver_label"].tolist()
    assert set(results.fixed_points()["class"]) <= {"vertex", "face", "interior"}
    assert "away_steps" in results._repr_html_()


def test_results_make_a_report(results, tmp_path):
    assert "away_steps" in results.report(tmp_path / "elsewhere").read_text()
    assert not (results.folder / "report.html").exists()


def test_a_text_is_one_solver():
    assert inspect.signature(fw.run).parameters["solvers"].default == ()
    with pytest.raises(UnknownName, match="no solver is called 'away_step'"):
        fw.run(problems="polygon", solvers="away_step")


@pytest.mark.parametrize(
    ("arguments", "error", "said"),
    [
        ({"suite": "quik"}, UnknownName, "did you mean quick"),
        ({"suite": "quick", "problems": "polygon"}, InvalidParameter, "not both"),
        ({"problems": "polygon", "max_step": 3}, InvalidParameter, "no limit 'max_step'"),
        ({"problems": "polygon", "max_steps": 3.5}, InvalidParameter, "a positive integer"),
        ({"problems": "polygon", "max_steps": True}, InvalidParameter, "max_steps must be"),
        ({"problems": "polygon", "tol": None}, InvalidParameter, "tol must be a positive number"),
        ({"problems": "polygon", "tol": float("inf")}, InvalidParameter, "tol must be"),
        ({"problems": "polygon", "repeat": 0}, InvalidParameter, "repeat must be at least 1"),
    ],
)  # fmt: skip
def test_a_question_that_makes_no_sense_is_refused(arguments, error, said):
    with pytest.raises(error, match=said):
        fw.run(**arguments)


def test_an_existing_folder_is_not_overwritten(results):
    with pytest.raises(RunFolderError, match="exists"):
        fw.run(problems="polygon", solvers="vertex_enumeration", out=results.folder)


def test_running_prints_nothing_and_leaves_no_trace(capfd, tmp_path):
    threads = {(pool["filepath"], pool["num_threads"]) for pool in threadpool_info()}
    frozen, enabled, kernels = gc.get_freeze_count(), gc.isenabled(), numba.get_num_threads()
    fw.run(problems="polygon", solvers="vertex_enumeration", out=tmp_path / "run")
    assert capfd.readouterr() == ("", "")
    assert gc.isenabled() == enabled
    assert gc.get_freeze_count() == frozen
    assert numba.get_num_threads() == kernels
    assert threads <= {(pool["filepath"], pool["num_threads"]) for pool in threadpool_info()}


def test_a_name_that_does_not_exist_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'sovle'"):
        _ = fw.sovle


@pytest.mark.parametrize(
    "limits",
    [{"max_steps": np.inf}, {"max_steps": np.nan}, {"max_steps": None}, {"max_steps": 1.5},
     {"tol": None}, {"tol": "1"}, {"tol": 0}, {"max_seconds": None}, {"max_seconds": -1},
     {"solver": None}, {"solver": 5}],
)  # fmt: skip
def test_limits_that_are_no_numbers_are_refused(triangle, limits):
    with pytest.raises(InvalidParameter, match=next(iter(limits))):
        fw.solve(triangle, **limits)
