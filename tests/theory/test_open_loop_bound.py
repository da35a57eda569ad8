"""f(x_t) − f* ≤ 2D²/(t + 2) from t = 1 on, D² = max ⟨v_i − v_j, Q(v_i − v_j)⟩."""

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest

from fwbench import catalog
from fwbench.problem import QuadraticOverHull
from fwbench.runner import Budget, run
from fwbench.solver import each

METHODS = ["frank_wolfe", "hardmax_attention"]


def build(group, text):
    choice = catalog.choices(group, text)[0]
    return catalog.build_solver(choice) if group == "solvers" else catalog.build_problem(choice)


# -- exactly, on small integers ----------------------------------------------------------------


def solved(A, b):
    """Solve a square system of Fractions by elimination; None where it is singular."""
    rows = [[*row, right] for row, right in zip(A, b, strict=True)]
    for i in range(len(rows)):
        pivot = next((r for r in range(i, len(rows)) if rows[r][i] != 0), None)
        if pivot is None:
            return None
        rows[i], rows[pivot] = rows[pivot], rows[i]
        rows[i] = [entry / rows[i][i] for entry in rows[i]]
        for r in range(len(rows)):
            if r != i:
                rows[r] = [x - rows[r][i] * y for x, y in zip(rows[r], rows[i], strict=True)]
    return [row[-1] for row in rows]


def exact_minimum(V, Q, c):
    """Return the least f over the hull: of all affine hulls, the best stationary point inside."""

    def f(x):
        return (Q @ x) @ x / 2 + c @ x

    best = min(f(v) for v in V)
    for size in range(2, V.shape[1] + 2):
        for face in combinations(range(len(V)), size):
            W = V[list(face)]
            gram, one = W @ Q @ W.T, [Fraction(1)] * size
            A = [[*gram[i], Fraction(1)] for i in range(size)] + [[*one, Fraction(0)]]
            w = solved(A, [*(-W @ c), Fraction(1)])
            if w is not None and min(w[:size]) >= 0:
                best = min(best, f(np.array(w[:size]) @ W))
    return best


def matrix(problem):
    """Return Q as a matrix of Fractions."""
    (link,) = problem.exact_chain
    return link if link.ndim == 2 else np.diag(np.broadcast_to(link, problem.d))


def small_problem(seed):
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(2, 7)), int(rng.integers(1, 4))
    V = rng.integers(-6, 7, (n, d))
    L = rng.integers(-2, 3, (d, d))
    c = rng.integers(-5, 6, d) if rng.random() < 0.5 else np.zeros(d, int)
    return QuadraticOverHull(V, L @ L.T, c, start=np.arange(n))


def exact_run(problem, name, steps, step="open_loop"):
    """Yield t, the exact values and the exact gaps of all queries after t steps."""
    solver = build("solvers", f"{name}[arithmetic=exact,step={step}]")
    solver = each(solver) if name == "frank_wolfe" else solver
    model = solver.prepare(problem)
    state = solver.init(model, problem.start)
    V, Q, c = problem.exact_atoms, matrix(problem), problem.exact_c
    for t in range(1, steps + 1):
        solver.advance(model, state, 1)
        x = state.exact_points()
        field = x @ Q + c
        gaps = (field * x).sum(axis=1) - (field @ V.T).min(axis=1)
        yield t, (x @ Q * x).sum(axis=1) / 2 + x @ c, gaps


def curvature(problem):
    V, Q = problem.exact_atoms, matrix(problem)
    return max((a - b) @ Q @ (a - b) for a in V for b in V)


@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize("seed", range(12))
def test_the_bound_holds_exactly(seed, name):
    problem = small_problem(seed)
    least = exact_minimum(problem.exact_atoms, matrix(problem), problem.exact_c)
    size = curvature(problem)
    best = [None] * problem.n
    for t, values, gaps in exact_run(problem, name, 60):
        assert type(values[0]) is Fraction
        assert (values >= least).all()
        assert (values - least <= 2 * size / (t + 2)).all()
        assert (gaps >= values - least).all()
        best = [gap if old is None else min(gap, old) for gap, old in zip(gaps, best, strict=True)]
        if t >= 2:  # Jaggi 2013, theorem 2: the best gap so far
            assert max(best) <= Fraction(27, 4) * size / (t + 2)


@pytest.mark.parametrize("name", METHODS)
def test_constant_steps_break_it(name):
    broken = []
    for seed in range(12):
        problem = small_problem(seed)
        least = exact_minimum(problem.exact_atoms, matrix(problem), problem.exact_c)
        size = curvature(problem)
        if size:
            steps = exact_run(problem, name, 40, "constant(1/2)")
            broken.append(any((v - least > 2 * size / (t + 2)).any() for t, v, _ in steps))
    assert any(broken)


# -- in floats, on larger ones -----------------------------------------------------------------

LARGE = [
    "min_norm_point[n=200,d=20,shift=1]",
    "min_norm_point[n=300,d=5]",
    "min_norm_point[n=100,d=10,face=3]",
    "min_norm_point[n=100,d=10,shift=1,condition=1e6]",
    "token_cloud[n=30,d=4]",
    "polygon[k=9,b=-1]",
    "digits",
    "digits[digit=4,target=4]",
    "hard_input[name=gram-200]",
    "hard_input[name=enclosing-ball]",
]


@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize("text", LARGE)
def test_the_bound_holds_in_floats(text, name):
    problem = build("problems", text)
    reference = catalog.choices("solvers", "cvxpy_reference")[0]
    done = run(problem, catalog.build_solver(reference), reference.entry, Budget())
    least = done.trace.last("lower_centred")  # certified: no value is below
    Y = problem.form.factors(problem.centred)[0]
    norms = (Y**2).sum(axis=1)
    size = (norms[:, None] + norms - 2 * Y @ Y.T).max()
    solver = build("solvers", name)
    solver = each(solver) if name == "frank_wolfe" else solver
    model = solver.prepare(problem)
    state = solver.init(model, problem.start)
    closest = 0.0
    for t in (*range(1, 65), *range(80, 1000, 40), 2000, 4000):
        solver.advance(model, state, t - state.steps)
        missing = problem.centred_value(state.points() - problem.mean) - least
        assert (missing <= 2 * size / (t + 2) + 1e-12 * problem.scale).all()
        closest = max(closest, missing.max() * (t + 2) / (2 * size))
    assert closest > 1e-3  # the bound is within reach, so a wrong D would show
