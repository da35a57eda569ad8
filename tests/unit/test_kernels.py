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
from fwbench.kernels import plain
from fwbench.kernels.frank_wolfe import toward
from fwbench.kernels.line import BACKTRACKING, EXACT, SHORT, line_step
from fwbench.kernels.pricing import leader, leaders
from fwbench.kernels.simplex import project
from fwbench.lowering import lowered
from fwbench.scored import scored

from . import made_active_sets, made_attention, made_frank_wolfe

HULLS = made_frank_wolfe.HULLS


def hull_and_state(problem):
    model = lowered(problem)
    return model, scored(model, problem.start, 0)


def gradient_arguments(problem, momentum, gram):
    model, state = hull_and_state(problem)
    arrays = (model.left, model.right, model.signs, model.linear)
    table = (model.left * model.signs @ model.right.T).astype(np.float32)
    if not gram:
        table = table[:0, :0]
    w, s = state.w, state.s
    # far too small a constant, so that steps are taken again
    kept = (w.copy(), s.copy(), w.copy(), s.copy(), np.array([momentum]), np.array([0.1, 0.0]))
    moved = (w, s, *kept, np.zeros(7, dtype=np.int64))
    return (*arrays, table, 1.0, 1e-14, problem.kind.has_potential, *moved, 5, 12)


def first_order_arguments(problem, kept, *numbers):
    model, state = hull_and_state(problem)
    arrays = (model.left, model.right, model.signs, model.linear)
    return (*arrays, numbers[0], state.w, state.s, kept, np.zeros(7, dtype=np.int64), *numbers[1:])


def score_arguments(problem):
    model, _ = hull_and_state(problem)
    w = np.random.default_rng(1).dirichlet(np.ones(problem.n))
    w[:1] *= problem.n == 1  # an atom without weight
    arrays = (model.left, model.right, model.signs, model.linear)
    return arrays, (w, np.empty_like(model.signs), np.empty_like(w))


def near_arguments(problem, gram):
    arrays, room = score_arguments(problem)
    table = (arrays[0] * arrays[2] @ arrays[1].T).astype(np.float32)
    anchor = np.full(problem.n, 1 / problem.n)
    return (*arrays, table if gram else table[:0, :0], 2.0, arrays[3], anchor, *room)


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


def escape_arguments(last):
    """Three groups of a triangle, a point, a segment and a polygon, and what a kernel asks last."""
    corners = np.array([[1.0, 0.0], [-0.5, 0.9], [-0.5, -0.9]])
    off = 0.05 * np.random.default_rng(8).standard_normal((9, 2))
    tokens = np.repeat(corners, 3, axis=0) + off
    tokens[:3] = corners[0]
    rings = np.stack([np.tile(corners[0], (3, 1)), tokens[3:6], tokens[6:]])
    groups, sizes = np.repeat(np.arange(3), 3), np.array([1, 2, 3])
    seed = np.uint64(7), np.uint64(3)
    x = np.repeat(tokens[None], 3, axis=0)
    return x, groups, rings, sizes, 0.2, 1.5, 0.3, *seed, *last


def chain_arguments(n, d):
    x = np.random.default_rng(n).standard_normal((n, d))
    return x, np.empty((n, d)), np.empty(n), np.empty(n, np.int64)


SEED = (np.uint64(11), np.uint64(2**32 - 1))
TRIANGLE = np.array([[0.0, 0.0], [2.0, 0.0], [0.0, 1.0]])
SEARCHES = (EXACT, SHORT, BACKTRACKING)
ARGUMENTS = {
    "projected_gradient": [
        gradient_arguments(p, t, gram)
        for p in HULLS.values() for t in (0.0, 1.0) for gram in (False, True)
    ],
    "extragradient": [
        first_order_arguments(p, np.array([10.0]), 1e-14, 40) for p in HULLS.values()
    ],
    "mirror_descent": [
        first_order_arguments(p, np.log(np.full(p.n, 1 / p.n)), 0.1, 0, 40) for p in HULLS.values()
    ],
    "softmax_of": [(v, np.empty_like(v)) for table in score_tables() for v in table],
    "scores_at": [(*a, *room) for a, room in map(score_arguments, HULLS.values())],
    "scores_near": [near_arguments(p, gram) for p in HULLS.values() for gram in (False, True)],
    "gram_product": [
        (a[4], a[5], a[6], a[8], a[7], a[10])
        for a in (near_arguments(p, gram=True) for p in HULLS.values())
    ],
    "weighted_sum": [
        (a[1], room[0], room[1].copy()) for a, room in map(score_arguments, HULLS.values())
    ],
    "steepness": [
        (*near_arguments(p, gram)[:3], *near_arguments(p, gram)[4:6], 3)
        for p in HULLS.values() for gram in (False, True)
    ],
    "moves": [tuple(np.random.default_rng(6).standard_normal((4, n))) for n in (1, 2, 37)],
    "alignment": [tuple(np.random.default_rng(7).standard_normal((3, n))) for n in (1, 2, 37)],
    "anchored": [(step,) for step in (1, 8, 16, 24, 32, 40, 64)],
    "below": [(v, x) for table in score_tables() for v in table for x in (0.0, 1.0)],
    "project": [(v, np.empty_like(v)) for table in score_tables()[::3] for v in table],
    "leader": [(row, tie) for table in score_tables() for row in table for tie in (0.0, 1e-14)],
    "leaders": [(table, 0.0, np.empty(len(table), np.int64)) for table in score_tables()],
    "line_step": list(lines()),
    "philox": [tuple(map(np.uint64, words)) for words in ((0,) * 6, (1, 2, 3, 4, 5, 2**32 - 1))],
    "exponential": [
        tuple(map(np.uint64, words)) for words in ((0, 0), (1, 7), (2**32 - 1, 2**32 - 1))
    ],
    "races": [
        (-x, x, own, replicas, 1.5, *SEED, 5, scores, picks)
        for x, _, scores, picks in (chain_arguments(n, d) for n, d in ((1, 2), (6, 3)))
        for own, replicas in ((True, 1), (False, 1), (True, len(x)), (False, len(x)))
    ],
    "race": [
        (-x[i], x, 0, len(x), i, 3, beta, *SEED, 5, scores)
        for x, _, scores, _ in (chain_arguments(n, d) for n, d in ((1, 2), (4, 3), (7, 1)))
        for i in range(len(x)) for beta in (0.5, 300.0)
    ],
    "chain_step": [
        (*chain_arguments(n, d), 1.5, 0.4, *SEED, 2, 9) for n, d in ((1, 1), (5, 2), (8, 4))
    ],
    "distance": [
        (TRIANGLE, corners, np.array(x))
        for corners in (1, 2, 3) for x in ((0.3, 0.3), (2.0, 1.0), (-1.0, 0.5), (0.0, 0.0))
    ],
    "first_events": [
        escape_arguments((np.array([5, 0, 9]), until, np.zeros((3, 9), int), np.zeros(3, int)))
        for until in (0, 1, 2)
    ],
    "drifts": [
        escape_arguments((6, alone, np.empty(3), np.zeros((3, 9), int))) for alone in (False, True)
    ],
    **made_active_sets.ARGUMENTS,
    **made_attention.ARGUMENTS,
    **made_frank_wolfe.ARGUMENTS,
}  # fmt: skip


def kernels():
    found = {}
    for module in pkgutil.iter_modules(fwbench.kernels.__path__):
        home = importlib.import_module(f"fwbench.kernels.{module.name}")
        found |= {name: k for name, k in vars(home).items() if isinstance(k, Dispatcher)}
    return found


def flat(values):
    """Yield the arrays and numbers of arguments and results, tuples opened."""
    for value in values:
        if isinstance(value, tuple):
            yield from flat(value)
        elif value is not None:
            yield value


def test_every_kernel_is_compared_here():
    assert set(kernels()) == set(ARGUMENTS)


@pytest.mark.parametrize("name", ARGUMENTS)
def test_a_compiled_kernel_does_what_python_does(name):
    kernel = kernels()[name]
    for arguments in ARGUMENTS[name]:
        compiled, interpreted = copy.deepcopy(arguments), copy.deepcopy(arguments)
        with np.errstate(divide="ignore", invalid="ignore"):
            results = kernel(*compiled), plain(kernel)(*interpreted)
        both = flat((*compiled, results[0])), flat((*interpreted, results[1]))
        for ours, theirs in zip(*both, strict=True):
            np.testing.assert_allclose(ours, theirs, rtol=1e-11, atol=1e-12)


def test_plain_kernels_call_only_plain_kernels():
    def called(function):
        for name in function.__code__.co_names:
            inner = function.__globals__.get(name)
            assert not isinstance(inner, Dispatcher), f"{function.__name__} calls compiled {name}"
            if inner is not None and getattr(inner, "__module__", "").startswith("fwbench.kernels"):
                yield inner.__name__
                yield from called(inner)

    assert {"leading", "line_step", "blend", "fill", "product"} <= set(called(plain(toward)))
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


# -- the projection onto the simplex -----------------------------------------------------------


def projected(v):
    v = np.asarray(v, dtype=np.float64)
    out = np.empty_like(v)
    project(v.copy(), out)
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
