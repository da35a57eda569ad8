import copy
import importlib
import os
import pkgutil
import shutil
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from numba.core.dispatcher import Dispatcher
from numba.core.errors import TypingError

import fwbench.kernels
from fwbench.geometry.combinations import Combinations
from fwbench.kernels import plain
from fwbench.kernels.frank_wolfe import REFRESH, toward, toward_or_away
from fwbench.kernels.gradient import project
from fwbench.kernels.line import BACKTRACKING, EXACT, GIVEN, SHORT, line_step
from fwbench.kernels.pricing import column, leader, leaders
from fwbench.lowering import lowered, scored
from fwbench.problem import QuadraticOverHull

SQUARE = [[1.0, 1.0], [1.0, -1.0], [-1.0, 1.0], [-1.0, -1.0]]
GAUSS = np.random.default_rng(5).standard_normal((8, 3))
HALVES = Combinations.from_dense([[0.25] * 4])

HULLS = {
    "random": QuadraticOverHull(GAUSS, [[2.0, 0.5, 0.0], [0.5, 1.0, 0.1], [0, 0.1, 3.0]], GAUSS[0]),
    "ties": QuadraticOverHull(SQUARE, start=HALVES),
    "duplicates": QuadraticOverHull(np.repeat(GAUSS, 2, axis=0) + 1.0),
    "one atom": QuadraticOverHull([[3.0, 4.0]]),
    "one point twice": QuadraticOverHull([[3.0, 4.0], [3.0, 4.0]]),
    "r = 0": QuadraticOverHull(GAUSS, 0.0, [1.0, -2.0, 0.5]),
    "indefinite": QuadraticOverHull(GAUSS, [1.0, -2.0, 0.0], [0.1, 0.2, 0.3]),
}  # fmt: skip


def hull_and_state(problem):
    model = lowered(problem)
    return model, scored(model, problem.start, 0)


def frank_wolfe_arguments(problem, rule, away):
    model, state = hull_and_state(problem)
    # A stretch that holds a refresh, with room for two columns only; short, because at an optimum
    # rounding decides which of the atoms in use is the worst.
    first, steps = REFRESH - 3, 6
    gammas = 2.0 / (np.arange(first, first + steps) + 2.0)
    lipschitz = float(np.linalg.norm(problem.form.apply(np.eye(problem.d)), 2))
    kept = (
        model.left, model.right, model.signs, model.linear, model.points, lipschitz, model.tie,
        state.w, state.y, state.x, state.s, state.level, state.estimate,
        state.columns, state.slot, state.owner, state.hand, state.counts,
    )  # fmt: skip
    tail = (state.active, state.size, rule) if away else (rule, gammas)
    return (*kept, *tail, first, steps)


def pricing_arguments(problem):
    model, state = hull_and_state(problem)
    state.w[:] = np.random.default_rng(1).dirichlet(np.ones(problem.n))
    refreshed = (state.w, state.y, state.x, state.s, state.level)
    return (model.left, model.right, model.signs, model.linear, model.points, *refreshed)


def column_arguments(problem, key, keep):
    model, state = hull_and_state(problem)
    cache = (state.columns, state.slot, state.owner, state.hand)
    state.columns[:] = 0.0
    return (model.left, model.right, model.signs, key, *cache, keep)


def gradient_arguments(problem, momentum):
    model, _ = hull_and_state(problem)
    w = problem.start.dense(problem.n)[0]
    lipschitz = 1.1 * np.linalg.norm(model.left, 2) ** 2 if model.left.size else 1.0
    counts = np.zeros(7, dtype=np.int64)
    kept = (model.left, model.right, model.signs, model.linear, float(lipschitz))
    return (*kept, w, w.copy(), np.array([momentum]), counts, 30)


def score_tables():
    rng = np.random.default_rng(2)
    near = np.array([[1.0, 1.0 + 1e-15, 1.0 - 1e-15], [2.0, 2.0, 2.0]])
    return [rng.standard_normal((5, 7)), near, np.array([[np.nan, 1.0]]), np.zeros((3, 1))]


def lines():
    """Every rule on slopes, curvatures and lengths of all signs, zeros among them."""
    for rule in (EXACT, SHORT, BACKTRACKING):
        for slope in (-3.0, -1e-20, 0.0, 2.0):
            for curvature in (-1.0, 0.0, 1e-30, 0.5, 40.0):
                for squared in (0.0, 1.7):
                    for longest in (0.0, 0.3, 1.0, np.inf):
                        size = abs(curvature) + 1.0
                        estimate = np.array([0.02])
                        yield rule, slope, curvature, size, squared, longest, 9.0, estimate


SEARCHES = (EXACT, SHORT, BACKTRACKING)
STEPS = (GIVEN, *SEARCHES)
ARGUMENTS = {
    "toward": [frank_wolfe_arguments(p, r, False) for p in HULLS.values() for r in STEPS],
    "toward_or_away": [frank_wolfe_arguments(p, r, True) for p in HULLS.values() for r in SEARCHES],
    "list_in_use": [
        (np.array(w), np.array([*keys, *[0] * (4 - len(keys))]), np.array([len(keys)]), key)
        for w in ([0.5, 0.0, 0.5, 0.0], [0.0, 0.0, 1.0, 0.0], [0.25, 0.25, 0.25, 0.25])
        for keys in ([0, 2], [2, 0, 3], [1])
        for key in range(4)
    ],
    "refresh": [pricing_arguments(p) for p in HULLS.values()],
    "column": [column_arguments(p, p.n - 1, keep) for p in HULLS.values() for keep in (-1, 0)],
    "projected_gradient": [gradient_arguments(p, t) for p in HULLS.values() for t in (0.0, 1.0)],
    "project": [(v, np.empty_like(v)) for table in score_tables()[::3] for v in table],
    "leader": [(row, tie) for table in score_tables() for row in table for tie in (0.0, 1e-14)],
    "leaders": [(table, 0.0, np.empty(len(table), np.int64)) for table in score_tables()],
    "line_step": list(lines()),
}  # fmt: skip


def kernels():
    found = {}
    for module in pkgutil.iter_modules(fwbench.kernels.__path__):
        home = importlib.import_module(f"fwbench.kernels.{module.name}")
        found |= {name: k for name, k in vars(home).items() if isinstance(k, Dispatcher)}
    return found


def test_every_kernel_is_compared_here():
    assert set(kernels()) == set(ARGUMENTS)


@pytest.mark.parametrize("name", ARGUMENTS)
def test_a_compiled_kernel_does_what_python_does(name):
    kernel = kernels()[name]
    for arguments in ARGUMENTS[name]:
        compiled, interpreted = copy.deepcopy(arguments), copy.deepcopy(arguments)
        with np.errstate(divide="ignore", invalid="ignore"):
            results = kernel(*compiled), plain(kernel)(*interpreted)
        for ours, theirs in zip((*compiled, results[0]), (*interpreted, results[1]), strict=True):
            if ours is not None:
                np.testing.assert_allclose(ours, theirs, rtol=1e-11, atol=1e-12)


def test_plain_kernels_call_only_plain_kernels():
    def called(function):
        for name in function.__code__.co_names:
            inner = function.__globals__.get(name)
            assert not isinstance(inner, Dispatcher), f"{function.__name__} calls compiled {name}"
            if inner is not None and getattr(inner, "__module__", "").startswith("fwbench.kernels"):
                yield inner.__name__
                yield from called(inner)

    assert {"leader", "line_step", "column", "refresh"} <= set(called(plain(toward)))
    for kernel in kernels().values():
        list(called(plain(kernel)))


def test_plain_kernels_take_rationals():
    scores = np.array([[Fraction(1, 3), Fraction(1, 3), Fraction(1, 2)]])
    out = np.empty(1, np.int64)
    plain(leaders)(scores, Fraction(0), out)
    assert out[0] == 0
    with pytest.raises(TypingError):
        leaders(scores, Fraction(0), out)


# -- the cache on disk -----------------------------------------------------------------------

CALLER = """
from fwbench.kernels import jit
from fwbench.kernels.line import EXACT, line_step


@jit
def half(slope, estimate):
    return line_step(EXACT, slope, 2.0, 2.0, 1.0, 9.0, 1.0, estimate)
"""
CALL = """
import numpy as np
from fwbench.kernels import caller
half = caller.half(-1.0, np.zeros(1))
print(caller.__file__, sum(caller.half.stats.cache_hits.values()), half)
"""


def test_an_edited_callee_is_compiled_anew(tmp_path):
    home = Path(fwbench.__file__).parent
    tree = tmp_path / "fwbench"
    shutil.copytree(home, tree, ignore=shutil.ignore_patterns("__pycache__"))
    (tree / "kernels" / "caller.py").write_text(CALLER, encoding="utf-8")
    environment = os.environ | {
        "PYTHONPATH": str(tmp_path),
        "NUMBA_CACHE_DIR": str(tmp_path / "cache"),
        "PYTHONDONTWRITEBYTECODE": "1",  # else two edits within a second look alike
    }

    def call():
        done = subprocess.run(
            [sys.executable, "-c", CALL],
            env=environment,
            cwd=tmp_path,
            check=True,
            capture_output=True,
            text=True,
        )
        home, hits, half = done.stdout.split()
        assert Path(home).is_relative_to(tree)
        return int(hits), float(half)

    assert call() == (0, 0.5)
    assert call() == (1, 0.5)
    callee = tree / "kernels" / "line.py"
    text = callee.read_text(encoding="utf-8")
    assert text.count("return -slope / bend") == 1
    callee.write_text(text.replace("return -slope / bend", "return -slope / bend / 2"), "utf-8")
    assert call() == (0, 0.25)


# -- who leads, and the columns --------------------------------------------------------------


def test_the_lowest_index_leads_among_equals():
    scores = np.array([3.0, 1.0 + 1e-15, 1.0, 1.0])
    assert leader(scores, 0.0) == 2
    assert leader(scores, 1e-14) == 1


def test_the_oldest_column_gives_way_but_never_the_kept_one():
    model, state = hull_and_state(HULLS["random"])
    cache = (state.columns, state.slot, state.owner, state.hand)
    assert len(state.columns) == 2

    def ask(key, keep=-1):
        row = column(model.left, model.right, model.signs, key, *cache, keep)
        expected = model.left @ (model.signs * model.right[key])
        np.testing.assert_allclose(state.columns[row], expected, rtol=1e-14)
        return row

    first, second = ask(0), ask(1)
    assert ask(0) == first
    assert ask(2) == first  # 0 was older
    assert state.slot[0] == -1
    assert ask(3, keep=1) == first  # 1 is the oldest now
    assert state.slot[1] == second


# -- the projection onto the simplex -----------------------------------------------------------


def projected(v):
    v = np.asarray(v, dtype=np.float64)
    out = np.empty_like(v)
    project(v, out)
    return out


@pytest.mark.parametrize(
    ("v", "w"),
    [
        ((0.4, 0.5, 0.6), (7 / 30, 10 / 30, 13 / 30)),
        ((0.4, 0.3, -0.4, 0.5), (10 / 30, 7 / 30, 0, 13 / 30)),
        ((-5.0,), (1.0,)),
        ((-7.0, -7.0, -7.0, -7.0), (0.25,) * 4),
        ((0.0, 1.0, 0.0), (0.0, 1.0, 0.0)),
        ((1e300, 0.0, -1e300), (1.0, 0.0, 0.0)),
        ((2.0, 1.0), (1.0, 0.0)),
    ],
)
def test_the_projection_has_its_known_values(v, w):
    np.testing.assert_allclose(projected(v), w, rtol=0, atol=1e-15)


@pytest.mark.parametrize("offset", [2.0**20, -(2.0**30), 2.0**40])
def test_a_common_offset_changes_no_digit_of_the_projection(offset):
    v = np.random.default_rng(3).integers(-300, 300, 40) / 256
    np.testing.assert_array_equal(projected(v + offset), projected(v))


def test_the_projection_is_the_nearest_point():
    rng = np.random.default_rng(4)
    for n in (1, 2, 3, 10, 200):
        for spread in (1e-9, 0.1, 1.0, 30.0):
            v = spread * rng.standard_normal(n)
            v[rng.integers(n)] = v[0]
            w = projected(v)
            assert (w >= 0).all()
            assert abs(w.sum() - 1) <= 1e-14
            # v − w is the same on the support, and nowhere larger
            threshold = (v - w)[w > 0]
            assert np.ptp(threshold) <= 1e-14 * max(1.0, spread)
            assert (v[w == 0] <= threshold.max() + 1e-14 * max(1.0, spread)).all()


# -- steps along a line ------------------------------------------------------------------------


def step(rule, slope, curvature, *, squared=1.0, longest=1.0, lipschitz=1.0, estimate=None):
    kept = np.array([1e-300]) if estimate is None else estimate
    return line_step(rule, slope, curvature, abs(curvature), squared, longest, lipschitz, kept)


def test_the_curvature_is_that_of_the_direction():
    # B5: a public line search divides by |Ax|² and takes 1.805
    A = np.array([[5.0, 1.0, 0.3], [2.0, 0.0, 0.9]])
    x = np.array([0.2, 0.3, 0.5])
    d = np.array([1.0, 0.0, 0.0]) - x
    slope = 2 * (A @ x) @ (A @ d) - (A**2).sum(axis=0) @ d
    assert step(EXACT, slope, 2 * (A @ d) @ (A @ d)) == pytest.approx(0.366, abs=5e-4)


@pytest.mark.parametrize("rule", SEARCHES)
def test_searches_on_a_line_agree_with_the_closed_form(rule):
    # B18: in one dimension every bound is tight, but for backtracking's estimate
    for q in (0.01, 1.0, 300.0):
        for x, target in ((1.0, -1.0), (1.0, 0.9), (-2.0, 5.0)):
            d = target - x
            best = min(1.0, max(0.0, -x / d))
            found = step(rule, q * x * d, q * d * d, squared=d * d, lipschitz=q)
            if rule == BACKTRACKING:
                assert best / 2 <= found <= best
            else:
                assert found == pytest.approx(best, rel=1e-14)


@pytest.mark.parametrize("rule", SEARCHES)
def test_no_step_is_longer_than_the_longest(rule):
    # B20: steps above 1 make weights negative; B12: so does 1 where the away weight is the limit
    for longest in (1.0, 0.003):
        assert step(rule, -1e9, 1.0, longest=longest) == longest


@pytest.mark.parametrize("rule", SEARCHES)
def test_there_is_no_step_uphill_or_nowhere(rule):
    assert step(rule, 0.0, 1.0) == 0.0
    assert step(rule, 1.0, 1.0) == 0.0
    assert step(rule, -1.0, 1.0, squared=0.0) == 0.0


def test_a_line_that_bends_down_or_not_is_walked_to_its_end():
    assert step(EXACT, -1e-3, -1.0, longest=0.7) == 0.7
    assert line_step(EXACT, -1e-3, 1e-17, 1.0, 1.0, 0.7, 1.0, np.zeros(1)) == 0.7


def test_backtracking_ends_with_an_estimate_that_holds():
    estimate = np.array([1e-300])
    rng = np.random.default_rng(6)
    for curvature in rng.uniform(0.0, 50.0, 100):
        before = 0.9 * estimate[0]
        gamma = step(BACKTRACKING, -1.0, curvature, squared=2.0, estimate=estimate)
        assert estimate[0] * 2.0 >= curvature
        assert estimate[0] == before or estimate[0] / 2 * 2.0 < curvature
        # the decrease that the bound promises is there
        assert -gamma + curvature * gamma**2 / 2 <= -gamma + estimate[0] * gamma**2 + 1e-15
        assert gamma == min(1.0, 1.0 / (estimate[0] * 2.0))


def test_an_away_step_takes_no_more_than_the_weight_there_is():
    # B12: an atom of small weight, the optimum without it
    small = 1e-5
    problem = QuadraticOverHull(
        [[10.0, 0.0], [0.1, 1.0], [0.1, -1.0]],
        start=Combinations.from_dense([[small, 0.5 - small / 2, 0.5 - small / 2]]),
    )
    arguments = list(frank_wolfe_arguments(problem, EXACT, True))
    arguments[-1] = 1
    toward_or_away(*arguments)
    w, counts = arguments[7], arguments[17]
    assert (w >= 0).all()
    assert w.sum() == pytest.approx(1.0, abs=1e-15)
    assert counts[4:].tolist() == [1, 0, 1]  # away, and dropped
    assert w[0] == 0.0
