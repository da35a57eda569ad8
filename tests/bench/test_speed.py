"""Speed of the hot loops, by pytest-benchmark: off by default, `make bench` runs them.

In the normal tests each loop runs once, so that they stay true.
"""

from typing import Any

import numpy as np
import pytest

from fwbench import catalog
from fwbench.judge import Judge
from fwbench.kernels.simplex import project
from fwbench.problem import QuadraticOverHull

SOLVERS = (
    "frank_wolfe[step=open_loop]",
    "frank_wolfe[step=exact]",
    "away_steps",
    "pairwise",
    "pair_descent",
    "blended_pairwise",
    "blended_pairwise[lazy=yes]",
    "decomposition_invariant[lengths=exact]",
    "projected_gradient[momentum=restart]",
    "projected_newton",
    "extragradient",
    "mirror_descent",
    "hardmax_attention",
)
LAYERS = (
    "hardmax_attention[step=constant(1/3)]",
    "hardmax_attention[keys=moving]",
    "hardmax_attention[ties=points]",
    "softmax_attention",
)


@pytest.fixture(scope="module")
def problem() -> QuadraticOverHull:
    return QuadraticOverHull(np.random.default_rng(0).standard_normal((1000, 50)) + 1)


@pytest.mark.parametrize("text", SOLVERS)
def test_a_hundred_steps(hull_benchmark: Any, problem: QuadraticOverHull, text: str) -> None:
    done = hull_benchmark(problem, text, tol=1e-300, gap=1.0, max_steps=100)
    assert done.steps == 100
    assert done.value < problem.value(problem.atoms[problem.start.keys[0]])


def with_full_cache(solver: Any, model: Any, problem: QuadraticOverHull, steps: int) -> Any:
    """Return a state before any step that has the columns of its first steps already."""
    state = None
    for _ in range(2):  # a column is kept at the second visit
        before, state = state, solver.init(model, problem.start)
        for name in ("columns", "slot", "owner", "hand"):
            if before is not None:
                setattr(state, name, getattr(before, name).copy())
        solver.advance(model, state, steps)
    begun = solver.init(model, problem.start)
    for name in ("columns", "slot", "owner", "hand"):
        setattr(begun, name, getattr(state, name))
    return begun


@pytest.mark.parametrize(("n", "d"), [(1000, 50), (10_000, 100)])
@pytest.mark.parametrize("text", [*SOLVERS[:6], "V @ g"])
def test_steps_whose_columns_are_there(benchmark: Any, n: int, d: int, text: str) -> None:
    made = QuadraticOverHull(np.random.default_rng(0).standard_normal((n, d)) + 0.6)
    if text == "V @ g":  # what a step is held against
        benchmark(np.matmul, made.atoms, np.ones(d))
        return
    solver = catalog.build_solver(catalog.choices("solvers", text)[0])
    model = solver.prepare(made)

    def start() -> tuple[tuple[Any, ...], dict[str, Any]]:
        return (model, with_full_cache(solver, model, made, 150), 150), {}

    benchmark.pedantic(solver.advance, setup=start, rounds=10)
    state = with_full_cache(solver, model, made, 150)
    assert (state.slot >= 0).sum() > 2
    assert not ((state.slot == -1).any())


def test_one_look_of_the_judge(benchmark: Any, problem: QuadraticOverHull) -> None:
    look = benchmark(Judge(problem).look, problem.atoms[:1].astype(float), None)
    assert look.gaps[0] > 0


@pytest.mark.parametrize("n", [1000, 10_000, 100_000])
def test_the_projection_onto_the_simplex(benchmark: Any, n: int) -> None:
    v, out = np.random.default_rng(1).standard_normal(n), np.empty(n)
    benchmark.pedantic(project, setup=lambda: ((v.copy(), out), {}), rounds=20, warmup_rounds=1)
    assert abs(out.sum() - 1) <= 1e-12


@pytest.mark.parametrize("gram", ["yes", "no"])
def test_a_wide_problem_from_its_arrays(benchmark: Any, gram: str) -> None:
    made = QuadraticOverHull(np.random.default_rng(2).standard_normal((300, 600)))
    solver = catalog.build_solver(catalog.choices("solvers", f"projected_newton[gram={gram}]")[0])

    def solved() -> Any:
        model = solver.prepare(made)
        state = solver.init(model, made.start)
        solver.advance(model, state, 96)
        return state

    state = benchmark.pedantic(solved, rounds=10, warmup_rounds=1)
    assert state.own_gap <= 1e-9 * made.scale


@pytest.mark.parametrize(("n", "d"), [(2000, 64), (2000, 2)])
@pytest.mark.parametrize("kind", [np.float64, np.float32])
@pytest.mark.parametrize("text", LAYERS)
def test_a_layer_of_attention(benchmark: Any, n: int, d: int, kind: Any, text: str) -> None:
    atoms = np.random.default_rng(0).standard_normal((n, d)).astype(kind)
    made = QuadraticOverHull(atoms, start=np.arange(n))
    solver: Any = catalog.build_solver(catalog.choices("solvers", text)[0])
    model = solver.prepare(made)
    state = solver.init(model, made.start)
    moved = benchmark.pedantic(
        solver.layer, args=(model, state.x, 1, state.estimate), rounds=5, warmup_rounds=1
    )
    assert moved.x.dtype == kind
    assert (moved.x != state.x).any()


def test_layers_whose_leaders_are_known(benchmark: Any) -> None:
    atoms = np.random.default_rng(0).standard_normal((2000, 8))
    atoms /= np.linalg.norm(atoms, axis=1)[:, None]
    atoms[16:] *= 0.1
    made = QuadraticOverHull(atoms, -1.0, start=np.arange(2000))
    solver: Any = catalog.build_solver(
        catalog.choices("solvers", "hardmax_attention[step=constant(1/20)]")[0]
    )
    model = solver.prepare(made)

    def start() -> tuple[tuple[Any, ...], dict[str, Any]]:
        state = solver.init(model, made.start)
        solver.advance(model, state, 40)
        assert not len(state.labels.open)
        return (model, state, 100), {}

    benchmark.pedantic(solver.advance, setup=start, rounds=5, warmup_rounds=1)
