"""Foreign codes, called through the protocol: right where they claim to be, honest where not."""

import importlib
from dataclasses import dataclass, field
from functools import cache
from types import SimpleNamespace

import numpy as np
import pytest

from fwbench import catalog, foreign
from fwbench.errors import MissingExtra, Refused
from fwbench.geometry.forms import Factored
from fwbench.problem import QuadraticOverHull
from fwbench.runner import Budget, misfit, run
from fwbench.solver import Sampling
from fwbench.trace import Status

pytestmark = pytest.mark.usefixtures("untimed")

PEERS = (
    "clarabel_cone", "daqp_dual", "osqp_admm", "piqp_interior", "quadprog_dual", "scipy_nnls",
    "scipy_slsqp", "scs_cone", "sklearn_svm",
)  # fmt: skip
LEAST_NORM = {"scipy_nnls", "sklearn_svm"}  # seek a point of least norm, nothing else
SINGLE = {"sklearn_svm"}  # works in single precision
LIMITED = ("clarabel_cone", "osqp_admm", "scs_cone", "scipy_slsqp", "sklearn_svm", "daqp_dual")

RNG = np.random.default_rng(30)
CLOUD = RNG.standard_normal((40, 5))
F = RNG.standard_normal((5, 5))
C = RNG.standard_normal(5)
BALL = np.array([[-6.0, -4, 5], [0, -2, 0], [-2, -6, -1]])
TRIANGLE = np.array([[1.0, 2.0], [3.0, 1.0], [2.0, -1.0]])
FLAT = np.array([1.0, 1.0, 1.0, 0.0, 0.0])


def on_a_face():
    atoms = CLOUD.copy()
    atoms[:, 0] = np.abs(atoms[:, 0])
    atoms[:4, 0] = 0
    atoms[:4] -= atoms[:4].mean(axis=0)
    return QuadraticOverHull(atoms)


def enclosing_ball(points=BALL):
    atoms, d = np.column_stack([points, (points**2).sum(axis=1)]), points.shape[1]
    return QuadraticOverHull(atoms, [2.0] * d + [0.0], [0.0] * d + [-1.0])


POSED = {
    "outside": lambda: QuadraticOverHull(CLOUD + 1.0),
    "inside": lambda: QuadraticOverHull(CLOUD),
    "on a face": on_a_face,
    "dense Q, c": lambda: QuadraticOverHull(CLOUD, F @ F.T, C),
    "singular Q, c in its range": lambda: QuadraticOverHull(CLOUD, FLAT, C * FLAT),
    "more factors than dimensions": lambda: QuadraticOverHull(
        CLOUD, Factored(np.vstack([F, F])), C
    ),
    "fewer factors than dimensions": lambda: QuadraticOverHull(CLOUD, Factored(F[:2]), F[0]),
    "a minus sign among the factors": lambda: QuadraticOverHull(
        CLOUD, Factored(np.vstack([2 * np.eye(5), np.eye(5)]), np.repeat([1.0, -1.0], 5)), C
    ),
    "cloud far away": lambda: QuadraticOverHull(CLOUD + 1e8, 1.0, np.full(5, -1e8) + C),
    "scale 1e12": lambda: QuadraticOverHull(1e12 * CLOUD + 1e12),
    "scale 1e-12": lambda: QuadraticOverHull(1e-12 * CLOUD + 1e-12),
    "Q and c by 1e12": lambda: QuadraticOverHull(CLOUD, 1e12 * F @ F.T, 1e12 * C),
    "duplicates": lambda: QuadraticOverHull(np.tile(CLOUD[:8], (5, 1)) + 0.5),
    "near-duplicates": lambda: QuadraticOverHull(np.vstack([CLOUD, CLOUD + 1e-8]) + 0.5),
    "condition 1e10": lambda: QuadraticOverHull(CLOUD, np.geomspace(1, 1e-10, 5)),
    "wide": lambda: QuadraticOverHull(RNG.standard_normal((6, 30)) + 0.2),
    "float32": lambda: QuadraticOverHull(CLOUD.astype(np.float32) + np.float32(1)),
    "one atom": lambda: QuadraticOverHull([[3.0, 4.0]]),
    "all equal": lambda: QuadraticOverHull(np.ones((4, 2))),
    # the linear term is no shift of the points
    "singular Q, c beyond": enclosing_ball,
    "singular Q, c beyond, a cloud": lambda: enclosing_ball(CLOUD),
    "no Q": lambda: QuadraticOverHull(CLOUD, 0.0, C),
    "far from the origin": lambda: QuadraticOverHull(CLOUD + 1e8),
}
BEYOND = (
    "singular Q, c beyond", "singular Q, c beyond, a cloud", "no Q", "far from the origin",
)  # fmt: skip


@cache
def posed(name):
    return POSED[name]()


def entry(name):
    return catalog.entry("solvers", name)


def ended(name, problem, **budget):
    return run(problem, entry(name).make(), entry(name), Budget(**budget))


# -- right answers ---------------------------------------------------------------------------------


@pytest.mark.parametrize("case", POSED)
@pytest.mark.parametrize("name", PEERS)
def test_a_peer_reaches_the_tolerance_by_the_judges_word(name, case):
    problem = posed(case)
    done = ended(name, problem, tol=1e-8, max_steps=100_000)
    if done.status is Status.SKIPPED:
        return  # the next test says when
    assert not done.status.is_failure, (done.reason, done.traceback)
    assert done.row["gap_relative"] <= (2e-8 if name in SINGLE else 1e-8)
    assert done.row["feasibility"] <= 1e-9


@pytest.mark.parametrize("case", POSED)
@pytest.mark.parametrize("name", PEERS)
def test_what_a_peer_refuses_is_known(name, case):
    refused = misfit(entry(name), entry(name).make(), posed(case))
    expected = name in LEAST_NORM and case in BEYOND
    expected |= name == "sklearn_svm" and case == "one atom"
    assert (refused is not None) == expected, refused
    if refused is not None and case in BEYOND:
        assert "no shift of its points" in refused
        with pytest.raises(Refused, match="no shift"):
            entry(name).make().prepare(posed(case))


@pytest.mark.parametrize("name", [name for name in PEERS if name not in LEAST_NORM])
def test_the_least_enclosing_ball_has_the_known_radius(name):
    done = ended(name, enclosing_ball(), tol=1e-10, max_steps=100_000)
    assert -done.row["value"] == pytest.approx(637 / 38, rel=1e-8)


@pytest.mark.parametrize("name", PEERS)
def test_the_nearest_point_of_a_triangle_has_the_known_weights(name):
    done = ended(name, QuadraticOverHull(TRIANGLE), tol=1e-10, max_steps=100_000)
    rounding = 1e-4 if name in SINGLE else 1e-5
    np.testing.assert_allclose(done.weights.dense(3)[0], [0.5, 0.0, 0.5], atol=rounding)
    assert done.row["value"] == pytest.approx(1.25, rel=1e-7)


@pytest.mark.parametrize("tol", [1e-3, 1e-6, 1e-12])
@pytest.mark.parametrize("name", [name for name in PEERS if name not in SINGLE])
def test_a_peer_aims_at_the_tolerance_of_the_run(name, tol):
    for case in ("outside", "inside", "on a face", "dense Q, c"):
        done = ended(name, posed(case), tol=tol, max_steps=100_000)
        assert done.row["gap_relative"] <= tol, case
        if entry(name).sampling is Sampling.ONCE:
            assert done.status is Status.FINISHED


@pytest.mark.parametrize("name", ["clarabel_cone", "osqp_admm", "piqp_interior", "scs_cone"])
def test_less_is_done_where_less_is_asked_for(name):
    loose, tight = (ended(name, posed("outside"), tol=t, max_steps=100_000) for t in (1e-2, 1e-11))
    assert loose.row["gap_relative"] > 10 * tight.row["gap_relative"]


@pytest.mark.parametrize("name", [*PEERS, "cvxpy_reference"])
def test_limits_are_no_parameters(name):
    [choice] = catalog.choices("solvers", name)
    solver = catalog.build_solver(choice)
    bounded = solver.within(1e-3, 7)
    assert (bounded.tol, bounded.seconds) == (1e-3, 7.0)
    assert (solver.tol, solver.seconds) == (1e-8, np.inf)
    assert "tol=" not in choice.text
    assert "seconds" not in choice.text
    assert repr(bounded) == repr(solver)


@pytest.mark.parametrize("name", [*PEERS, "cvxpy_reference"])
def test_nothing_is_printed(name, capfd):
    ended(name, posed("outside"), max_steps=64)
    ended(name, posed("no Q"), max_steps=64)
    assert tuple(capfd.readouterr()) == ("", "")


@pytest.mark.parametrize("name", PEERS)
def test_a_model_serves_again_with_the_same_bits(name):
    for case in ("on a face", "singular Q, c beyond"):
        solver = entry(name).make().within(1e-8, 10.0)
        if misfit(entry(name), solver, posed(case)) is not None:
            continue
        model, answers = solver.prepare(posed(case)), []
        for _ in range(3):
            state = solver.init(model, posed(case).start)
            solver.advance(model, state, 200)
            answers.append(state.weights().data.tobytes())
        state = solver.init(model, posed(case).start)
        fresh = solver.init(model, posed(case).start)  # two begun at once
        for one in (state, fresh):
            solver.advance(model, one, 200)
            answers.append(one.weights().data.tobytes())
        assert len(set(answers)) == 1


# -- iterative codes -------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["osqp_admm", "scs_cone"])
def test_an_iterative_code_is_asked_from_scratch_until_it_ends_by_itself(name):
    done = ended(name, posed("dense Q, c"), tol=1e-6, max_steps=100_000)
    k, gap = done.trace.columns["k"], done.trace.columns["gap"]
    assert k[:-1] == [0, *(2**i for i in range(len(k) - 2))]
    assert k[-2] < k[-1] <= 2 * k[-2]
    assert done.status is Status.CONVERGED
    # what a limit of k leaves is what a run with that limit alone leaves
    alone = ended(name, posed("dense Q, c"), tol=1e-6, max_steps=k[4])
    assert alone.trace.last("gap") == gap[4]
    assert alone.status is Status.BUDGET


@pytest.mark.parametrize("name", ["osqp_admm", "scs_cone"])
def test_a_certified_start_is_not_taken_for_the_codes_answer(name):
    at_its_answer = QuadraticOverHull([[0, 0], [1, 0], [0, 1]], start=[0])
    done = ended(name, at_its_answer)
    assert done.row["steps"] > 0
    assert done.status is Status.CONVERGED


# -- limits ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [*LIMITED, "cvxpy_reference"])
def test_a_code_that_runs_out_of_time_claims_nothing(name):
    problem = QuadraticOverHull(np.random.default_rng(0).standard_normal((1000, 80)))
    done = ended(name, problem, tol=1e-12, max_seconds=1e-4)
    assert done.status is Status.TIMEOUT, done.reason
    assert "certified gap" in done.reason
    solver = entry(name).make().within(1e-12, 1e-4)
    model = solver.prepare(problem)
    answer = solver.init(model, problem.start)
    solver.advance(model, answer, 10**6)
    # libsvm has a limit of steps instead of time, which is an end
    assert (answer.done, answer.claim) == (name == "sklearn_svm", None)


@pytest.mark.parametrize("name", ["piqp_interior", "quadprog_dual", "scipy_nnls", "scipy_slsqp"])
def test_a_code_that_cannot_be_stopped_refuses_what_takes_minutes(name):
    huge = SimpleNamespace(n=10**6, d=10**3, kind="convex")
    assert "multiply-adds" in entry(name).make().refuses(huge)
    fair = SimpleNamespace(n=10**5, d=50)
    if name != "scipy_nnls":  # looks at the numbers next
        assert entry(name).make().refuses(fair) is None


# -- what is missing, broken or wrong --------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "package"),
    [
        ("clarabel_cone", "clarabel"), ("daqp_dual", "daqp"), ("osqp_admm", "osqp"),
        ("piqp_interior", "piqp"), ("quadprog_dual", "quadprog"), ("scs_cone", "scs"),
        ("sklearn_svm", "scikit-learn"),
    ],
)  # fmt: skip
def test_a_missing_library_is_a_skipped_run_that_names_the_command(name, package, monkeypatch):
    def nothing_there(module):
        raise ModuleNotFoundError(f"No module named {module!r}")

    monkeypatch.setattr(foreign, "importlib", SimpleNamespace(import_module=nothing_there))
    done = ended(name, posed("outside"))
    assert done.status is Status.SKIPPED
    assert done.reason == f"{package} is not installed: pip install 'fwbench[peers]'"


def test_a_broken_library_names_its_extra_and_keeps_the_cause():
    with pytest.raises(MissingExtra) as caught:
        foreign.library("no_such_code")
    assert isinstance(caught.value.__cause__, ImportError)


def pretending(monkeypatch, multipliers):
    """Let quadprog return these multipliers."""
    fake = SimpleNamespace(solve_qp=lambda *args, **kw: (None, 0.0, None, None, multipliers, None))
    module = importlib.import_module("fwbench.solvers.quadprog_dual")
    monkeypatch.setattr(module, "library", lambda name: fake)
    return ended("quadprog_dual", QuadraticOverHull(TRIANGLE))


def test_a_wrong_answer_that_is_called_optimal_is_wrong(monkeypatch):
    done = pretending(monkeypatch, np.array([0.0, 3.0, 0.0]))
    assert done.status is Status.WRONG
    assert done.row["gap_relative"] > 0.1
    assert done.weights.dense(3)[0].tolist() == [0.0, 1.0, 0.0]


def test_the_right_answer_of_the_same_pretender_is_not(monkeypatch):
    assert pretending(monkeypatch, np.array([2.0, 0.0, 2.0])).status is Status.FINISHED


def test_negative_weights_are_reported_not_repaired(monkeypatch):
    done = pretending(monkeypatch, np.array([1.0, -0.5, 1.5]))
    assert done.status is Status.INFEASIBLE
    assert done.row["feasibility"] == pytest.approx(0.25)


def test_an_answer_that_is_not_finite_is_called_so(monkeypatch):
    assert pretending(monkeypatch, np.array([np.nan, 0.0, 1.0])).status is Status.NONFINITE


def test_without_an_answer_nothing_is_called_optimal(monkeypatch):
    done = pretending(monkeypatch, np.zeros(3))
    assert done.status is Status.FINISHED  # by itself, and not near: the gap is in the reason
    assert "certified gap 1.0e+00" in done.reason
    answer = foreign.Answer(QuadraticOverHull(TRIANGLE), QuadraticOverHull(TRIANGLE).start)
    answer.take(None, ended=True, optimal=True)
    assert (answer.done, answer.claim) == (True, None)
    answer.take(np.array([0.5, 0.0, 0.5]), ended=True, optimal=True)
    assert (answer.done, answer.claim) == (True, "optimal")


@pytest.mark.parametrize("case", ["outside", "inside", "no Q"])
def test_multipliers_of_the_wrong_sign_are_not_repaired(case, monkeypatch):
    solver = entry("daqp_dual").make()
    model = solver.prepare(posed(case))
    right = model.fresh.take().solve()
    for sign in (1.0, -1.0):
        info = right[3] | {"lam": sign * np.asarray(right[3]["lam"])}
        fake = SimpleNamespace(solve=lambda info=info: (*right[:3], info))
        monkeypatch.setattr(model.fresh, "take", lambda fake=fake: fake)
        state = solver.init(model, posed(case).start)
        solver.advance(model, state, 1)
        assert state.claim == ("optimal" if sign > 0 else None)


def test_the_reference_is_tight_unless_it_is_asked_for_the_tolerance_of_the_run():
    gaps = {}
    for accuracy in ("tight", "tol"):
        [choice] = catalog.choices("solvers", f"cvxpy_reference[accuracy={accuracy}]")
        for tol in (1e-3, 1e-8):
            solver = catalog.build_solver(choice)
            done = run(posed("outside"), solver, choice.entry, Budget(tol=tol))
            assert done.status is Status.FINISHED
            assert done.row["gap_relative"] <= tol
            gaps[accuracy, tol] = done.row["gap_relative"]
    assert gaps["tight", 1e-3] == gaps["tight", 1e-8] < 1e-11
    assert gaps["tol", 1e-3] > 10 * gaps["tol", 1e-8] > 10 * gaps["tight", 1e-8]


# -- the problem in units --------------------------------------------------------------------------


@pytest.mark.parametrize("case", [case for case in POSED if case not in ("one atom", "all equal")])
def test_units_keep_the_problem(case):
    problem = posed(case)
    unit = foreign.unit(problem)
    w = np.random.default_rng(1).dirichlet(np.ones(problem.n), size=3)
    value = problem.centred_value(w @ problem.centred) / problem.scale
    mine = 0.5 * ((w @ unit.Y) ** 2).sum(axis=1) + w @ unit.linear
    np.testing.assert_allclose(mine, value, atol=1e-12)
    assert unit.Y.shape[1] <= problem.n
    assert (unit.Y**2).sum(axis=1).max() + np.abs(unit.linear).max() <= 1 + 1e-9
    assert (unit.shifted is None) == (case in BEYOND)
    if unit.shifted is not None:  # the same up to a constant
        differences = 0.5 * ((w @ unit.shifted) ** 2).sum(axis=1) - mine
        assert np.ptp(differences) <= 1e-12


AXES = {
    "scalar": (CLOUD + 1.0, 2.0, None),
    "offset": (CLOUD + 1e8, 1.0, np.full(5, -1e8) + C),
    "diagonal, c": (CLOUD, [1.0, 2.0, 3.0, 4.0, 5.0], C),
    "flat, c in its range": (CLOUD, FLAT, C * FLAT),
    "flat, c beyond": (CLOUD, FLAT, C),
    "flat, c beyond, where all atoms agree": (CLOUD * FLAT, FLAT, C),
    "float32": ((CLOUD + 1.0).astype(np.float32), [1.0, 2.0, 3.0, 4.0, 5.0], C),
    "three dimensions": (CLOUD[:, :3] + 1.0, 2.0, C[:3]),
    "too far": (CLOUD + 1e8, 1.0, None),
    "wide": (CLOUD.T + 1.0, 2.0, CLOUD[:, 0]),
    "all equal, c": (np.ones((4, 2)), 1.0, [1.0, 0.0]),
}


def both_ways(case):
    """Return the units along the axes and, by a dense Q, in general."""
    atoms, q, c = AXES[case]
    axes = QuadraticOverHull(atoms, q, c)
    diagonal = np.diag(np.broadcast_to(np.asarray(q, dtype=float), axes.d))
    return foreign.unit(axes), foreign.unit(QuadraticOverHull(atoms, diagonal, c))


@pytest.mark.parametrize("case", AXES)
def test_units_along_axes_are_those_of_the_dense_matrix(case):
    axes, dense = both_ways(case)
    near = {"rtol": 1e-12, "atol": 1e-12}
    np.testing.assert_allclose(axes.Y @ axes.Y.T, dense.Y @ dense.Y.T, **near)
    np.testing.assert_allclose(axes.linear, dense.linear, **near)
    assert (axes.shift is None) == (dense.shift is None) == (case in ("flat, c beyond", "too far"))
    assert axes.ahead == dense.ahead
    if axes.shift is None:
        assert axes.shifted is axes.homogeneous is axes.least_distance is None
        return
    Z, rows = axes.shifted, axes.least_distance.rows
    np.testing.assert_allclose(Z @ Z.T, dense.shifted @ dense.shifted.T, **near)
    assert axes.homogeneous.tolist() == np.column_stack([Z, np.ones(len(Z))]).tolist()
    assert rows is (Z if axes.ahead else axes.homogeneous)
    # the mean is a point of the hull: what bounds the least norm
    reach = float((Z.mean(axis=0) ** 2).sum()) + (not axes.ahead)
    assert axes.least_distance.reach == pytest.approx(reach, rel=1e-7, abs=1e-12)


@pytest.mark.parametrize("name", ["quadprog_dual", "daqp_dual", "scipy_nnls"])
@pytest.mark.parametrize("case", [case for case in AXES if case not in ("too far", "all equal, c")])
def test_weights_along_axes_are_those_of_the_dense_matrix(name, case):
    solver, weights = entry(name).make().within(1e-10, 10.0), []
    for unit in both_ways(case):
        if misfit(entry(name), solver, unit.problem) is not None:
            return
        model = solver.prepare(unit.problem)
        state = solver.init(model, unit.problem.start)
        solver.advance(model, state, 1)
        weights.append(state.weights().dense(unit.problem.n)[0])
    # beyond, quadprog adds a ridge and DAQP proximal steps
    atol = 1e-5 if "beyond" in case else 1e-8
    np.testing.assert_allclose(*weights, atol=atol)


def test_points_are_ahead_by_what_a_pass_at_their_mean_finds():
    for shift, expected in ((1.0, True), (0.0, False), (0.2, False)):
        unit = foreign.unit(QuadraticOverHull(np.abs(CLOUD) * shift + CLOUD * (1 - shift)))
        Z, centre = unit.shifted, unit.shifted.mean(axis=0)
        size = float(centre @ centre)
        assert unit.ahead == expected
        assert unit.ahead == ((Z @ centre).min() > 0.05 * max(size, size**0.5))


@dataclass(eq=False)
class Counted:
    """A workspace that can be used once."""

    made: int
    used: list[int] = field(default_factory=list)


def test_a_workspace_is_used_once():
    made = []
    fresh = foreign.Fresh(lambda: made.append(len(made)) or Counted(made[-1]))
    assert made == [0]  # set up at once
    fresh.renew()
    assert made == [0]  # one is ready
    assert fresh.take().made == 0
    fresh.renew()
    assert [fresh.take().made, fresh.take().made] == [1, 2]
