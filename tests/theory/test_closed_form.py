"""Theorem 4.2: where every vertex owns its cell, each token goes straight to the vertex it sees."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from importlib import import_module
from typing import ClassVar

import numpy as np
import pytest

from fwbench import catalog
from fwbench.kernels.line import GIVEN
from fwbench.steps import Constant

HardmaxAttention = import_module("fwbench.solvers.hardmax_attention").HardmaxAttention
VERTICES = 3
TIE = 2.0**-46


@dataclass(frozen=True)
class Schedule:
    """Any rational steps."""

    gamma: Callable[[int], Fraction]
    code: ClassVar[int] = GIVEN
    autonomous: ClassVar[bool] = False
    text: ClassVar[str] = "schedule"

    def exact_lengths(self, first, count):
        return np.array([self.gamma(t) for t in range(first, first + count)], dtype=object)

    def lengths(self, first, count):
        return self.exact_lengths(first, count).astype(np.float64)


RISING = Schedule(lambda t: Fraction(t + 1, t + 3))
SHIFTED = Schedule(lambda t: Fraction(2, t + 3))
HALVING = Schedule(lambda t: Fraction(1, 2 ** (t + 1)))
SCHEDULES = {"rising": RISING, "shifted": SHIFTED, "constant": Constant(Fraction(1, 3))}


@pytest.fixture(scope="module")
def problem():
    return catalog.build_problem(catalog.choices("problems", "token_cloud[name=own-cells]")[0])


@pytest.fixture(scope="module")
def cell(problem):
    """Return the vertex that each token sees, (n,), after checking the theorem's assumptions."""
    x = problem.exact_atoms
    B = -problem.exact_chain[0]
    scores = (x * B) @ x.T
    for i in range(VERTICES):
        assert all(scores[i, j] < scores[i, i] for j in range(len(x)) if j != i), "owns its cell"
    best = scores[:, :VERTICES].max(axis=1)
    assert ((scores[:, :VERTICES] == best[:, None]).sum(axis=1) == 1).all(), "one cell each"
    found = (scores[:, :VERTICES] == best[:, None]).argmax(axis=1)
    assert len(set(found[VERTICES:])) > 1
    return found


def path(problem, step, steps, **parameters):
    """Yield the exact points after 0, 1, … steps."""
    method = HardmaxAttention(step=step, arithmetic="exact", **parameters)
    model = method.prepare(problem)
    state = method.init(model, problem.start)
    yield state.exact_points()
    for _ in range(steps):
        method.advance(model, state, 1)
        yield state.exact_points()


@pytest.mark.parametrize("keys", ["fixed", "moving"])
@pytest.mark.parametrize("ties", ["points", "indices", "lowest"])
@pytest.mark.parametrize("name", SCHEDULES)
def test_every_token_is_where_the_formula_says(problem, cell, keys, ties, name):
    start, step = problem.exact_atoms, SCHEDULES[name]
    toward = start[cell]
    steps = 25
    for t, x in enumerate(path(problem, step, steps, keys=keys, ties=ties)):
        gamma = step.exact_lengths(0, t).tolist()
        left, gone = Fraction(1), Fraction(0)
        for g in gamma:
            left, gone = (1 - g) * left, (1 - g) * gone + g
        assert left + gone == 1
        assert (x == left * start + gone * toward).all(), f"step {t}"
        assert (x[:VERTICES] == start[:VERTICES]).all()
    assert t == steps


def test_the_formula_is_not_true_where_a_vertex_does_not_own_its_cell():
    chained = catalog.build_problem(catalog.choices("problems", "token_cloud[name=chained]")[0])
    *_, x = path(chained, RISING, 5, keys="moving", ties="points")
    # the second vertex sees the first, and leaves
    assert (x[1] != chained.exact_atoms[1]).any()


# Moving keys this close to a vertex tie with it, so that their mean leads.
@pytest.mark.parametrize(("keys", "allowed"), [("fixed", 1e-14), ("moving", 2 * TIE)])
def test_floats_follow_the_formula_to_the_last_digits(problem, cell, keys, allowed):
    method = HardmaxAttention(keys=keys, step=RISING, ties="points")
    model = method.prepare(problem)
    state = method.init(model, problem.start)
    sizes = np.linalg.norm(problem.atoms[cell], axis=1)
    for t in range(1, 26):
        method.advance(model, state, 1)
        left = float(np.prod([1 - RISING.gamma(s) for s in range(t)]))
        expected = left * problem.atoms + (1 - left) * problem.atoms[cell]
        error = np.linalg.norm(state.points() - expected, axis=1)
        assert (error <= allowed * sizes).all()


# -- how fast --------------------------------------------------------------------------------


def distances(problem, cell, step, steps):
    """Return how much of each inner token's distance to its vertex is left after each step."""
    token = VERTICES + 1
    target = problem.exact_atoms[cell[token]]
    whole = problem.exact_atoms[token, 0] - target[0]
    return [(x[token, 0] - target[0]) / whole for x in path(problem, step, steps)]


def test_constant_steps_are_exponential(problem, cell):
    left = distances(problem, cell, Constant(Fraction(1, 4)), 30)
    assert left == [Fraction(3, 4) ** t for t in range(31)]


def test_steps_of_two_over_t_plus_three_are_quadratic(problem, cell):
    left = distances(problem, cell, SHIFTED, 50)
    assert left == [Fraction(2, (t + 1) * (t + 2)) for t in range(51)]
    assert left[50] == Fraction(1, 1326)


def test_steps_that_sum_up_do_not_arrive(problem, cell):
    # all steps lie in (0, 1), as the theorem asks, and the token stays 29 % away
    left = distances(problem, cell, HALVING, 60)
    assert float(left[-1]) == pytest.approx(0.288788095086602, abs=1e-15)


@pytest.mark.parametrize(
    ("rate", "expected"),
    [
        (lambda h: h, [0.362, 0.354, 0.351, 0.349]),
        (lambda h: h / (1 + h), [0.333, 0.340, 0.343, 0.345]),
    ],
    ids=["explicit", "implicit"],
)
def test_small_steps_follow_the_differential_equation(problem, cell, rate, expected):
    target = problem.atoms[cell]
    found = []
    for h in (Fraction(1, 10), Fraction(1, 20), Fraction(1, 40), Fraction(1, 80)):
        method = HardmaxAttention(keys="moving", step=Constant(rate(h)), ties="points")
        model = method.prepare(problem)
        state = method.init(model, problem.start)
        worst = 0.0
        for k in range(1, int(2 / h) + 1):
            method.advance(model, state, 1)
            decay = np.exp(-k * float(h))
            solution = decay * problem.atoms + (1 - decay) * target
            worst = max(worst, np.linalg.norm(state.points() - solution, axis=1).max())
        found.append(worst / float(h))
    np.testing.assert_allclose(found, expected, rtol=0, atol=6e-4)
    # both tend to D/2e, D the longest way to go
    longest = np.linalg.norm(problem.atoms - target, axis=1).max()
    assert abs(found[-1] / (longest / (2 * math.e)) - 1) < 0.01
