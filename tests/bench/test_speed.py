"""Speed of the hot loops, by pytest-benchmark: off by default, `make bench` runs them.

In the normal tests each loop runs once, so that they stay true.
"""

from typing import Any

import numpy as np
import pytest

from fwbench import catalog
from fwbench.judge import Judge
from fwbench.problem import QuadraticOverHull

SOLVERS = (
    "frank_wolfe[step=open_loop]",
    "frank_wolfe[step=exact]",
    "away_steps",
    "projected_gradient[momentum=restart]",
    "hardmax_attention",
)


@pytest.fixture(scope="module")
def problem() -> QuadraticOverHull:
    return QuadraticOverHull(np.random.default_rng(0).standard_normal((1000, 50)) + 1)


@pytest.mark.parametrize("text", SOLVERS)
def test_a_hundred_steps(benchmark: Any, problem: QuadraticOverHull, text: str) -> None:
    [choice] = catalog.choices("solvers", text)
    solver = catalog.build_solver(choice)
    model = solver.prepare(problem)

    def start() -> tuple[tuple[Any, ...], dict[str, Any]]:
        return (model, solver.init(model, problem.start), 100), {}

    benchmark.pedantic(solver.advance, setup=start, rounds=20, warmup_rounds=1)
    state = solver.init(model, problem.start)
    solver.advance(model, state, 100)
    assert state.steps == 100
    assert problem.value(state.points()[0]) < problem.value(problem.atoms[problem.start.keys[0]])


def test_one_look_of_the_judge(benchmark: Any, problem: QuadraticOverHull) -> None:
    look = benchmark(Judge(problem).look, problem.atoms[:1].astype(float), None)
    assert look.gaps[0] > 0
