"""Layers with matrix steps and schedules: by hand, exactly, and one against another."""

from fractions import Fraction

import numpy as np
import pytest

from fwbench import api, catalog
from fwbench.errors import InvalidParameter
from fwbench.geometry.combinations import Combinations
from fwbench.judge import Judge
from fwbench.problem import QuadraticOverHull
from fwbench.runner import Budget, run
from fwbench.trace import Status

RNG = np.random.default_rng(31)
CLOUD = RNG.standard_normal((7, 2))
TILTED = QuadraticOverHull(CLOUD + 0.3, [[1.0, 0.4], [0.4, -2.0]], [0.2, -0.1])
FREE = QuadraticOverHull(CLOUD, [[1.0, 0.4], [0.4, -2.0]])


def made(text):
    (choice,) = catalog.choices("solvers", text)
    return choice.entry, catalog.build_solver(choice)


def walked(text, problem, steps):
    """Return the state after so many steps."""
    _, solver = made(text)
    assert (solver.refuses(problem) or "") == ""
    model = solver.prepare(problem)
    state = solver.init(model, solver.start(problem))
    solver.advance(model, state, steps)
    return state


def texts(points):
    return [[str(entry) for entry in row] for row in points]


# -- matrix steps ------------------------------------------------------------------------------

# e1 sees e2: B = [[0, 0], [1, 0]] scores y by its second coordinate
CORNERS = QuadraticOverHull([["0", "0"], ["1", "0"], ["0", "1"]], [["0", "0"], ["-1", "0"]])


def test_a_matrix_step_leaves_the_triangle():
    state = walked('hardmax_attention[values="3/2 7/3",keys=moving,arithmetic=exact]', CORNERS, 1)
    assert texts(state.exact_points())[1] == ["2/5", "7/10"]
    assert sum(state.exact_points()[1]) == Fraction(11, 10)
    assert state.weights() is None


@pytest.mark.parametrize("form", ["0 1; -1 0", "1/2 1/3; 0 2", "3/2 7/3"])
def test_a_matrix_layer_solves_the_equation_it_is_named_after(form):
    # (I + V) x' = x + V leader, exactly
    problem = QuadraticOverHull([["3", "1"], ["-1", "2"], ["1/3", "-2"]], 1.0)
    _, method = made(f'hardmax_attention[values="{form}",arithmetic=exact,keys=moving]')
    model = method.prepare(problem)
    x = problem.exact_atoms
    moved = method.layer(model, x, 0, np.zeros(3))
    V = method.values.matrix()
    V = np.diag(V) if V.ndim == 1 else V
    leader = x[moved.mixing.keys]
    assert (moved.mixing.keys != range(3)).all(), "nobody rests"
    np.testing.assert_array_equal(moved.x + moved.x @ V.T, x + leader @ V.T)


@pytest.mark.parametrize("name", ["hardmax_attention", "softmax_attention"])
@pytest.mark.parametrize("keys", ["fixed", "moving"])
@pytest.mark.parametrize("h", ["1/2", "1", "3"])
def test_v_a_multiple_of_the_identity_is_a_scalar_step(name, keys, h):
    gamma = Fraction(h) / (1 + Fraction(h))
    ends = [
        walked(f'{name}[values="{values}",keys={keys}]', TILTED, 9).points()
        for values in (h, f"{h} {h}", f"{h} 0; 0 {h}")
    ]
    ends.append(walked(f"{name}[step=constant({gamma}),keys={keys}]", TILTED, 9).points())
    assert len({end.tobytes() for end in ends}) == 1
    entry, solver = made(f"{name}[values={h},keys={keys}]")
    assert not solver.leaves_hull
    assert run(TILTED, solver, entry, Budget(max_steps=9)).row["gap"] is not None


@pytest.mark.parametrize("h", [Fraction(1, 2), Fraction(1, 10)])
def test_the_layer_itself_is_the_divided_one_with_a_growing_beta(h):
    growth = 1 + h
    plain = walked(
        f"softmax_attention[values={h},normalised=false,keys=moving,beta=2]", FREE, 6
    ).points()
    divided = walked(
        f"softmax_attention[step=constant({h / growth}),keys=moving,beta=geometric(2,{growth**2})]",
        FREE,
        6,
    ).points()
    np.testing.assert_allclose(plain, float(growth) ** 6 * divided, rtol=1e-12)
    # hardmax knows no size
    plain = walked(
        f"hardmax_attention[values={h},normalised=false,keys=moving,arithmetic=exact]", FREE, 6
    ).exact_points()
    divided = walked(
        f"hardmax_attention[values={h},keys=moving,arithmetic=exact]", FREE, 6
    ).exact_points()
    np.testing.assert_array_equal(plain, growth**6 * divided)


@pytest.mark.parametrize("values", ["1/3", "1/2 1/5", "0 1; -1 0"])
def test_the_layer_itself_acts_from_the_origin(values):
    # points are stored from the mean; V is not
    end = walked(f'softmax_attention[values="{values}",normalised=false]', TILTED, 1).points()
    _, method = made(f'softmax_attention[values="{values}"]')
    V = method.values.matrix().astype(float)
    V = V * np.eye(2) if V.ndim == 1 else V
    x = TILTED.atoms[TILTED.start.keys]
    scores = TILTED.atoms @ (x[0] @ TILTED.form.apply(np.eye(2)) + TILTED.c)
    attention = np.exp(-10 * (scores - scores.min()))
    target = attention @ TILTED.atoms / attention.sum()
    np.testing.assert_allclose(end[0], x[0] + V @ target, rtol=1e-12)


def test_what_leaves_the_hull_has_no_gap_and_is_never_infeasible():
    for text in (
        'hardmax_attention[values="3/2 7/3"]',
        'hardmax_attention[values="3/2 7/3",keys=moving]',
        'softmax_attention[values="0 2; -2 0"]',
        "softmax_attention[values=1/10,normalised=false,keys=moving]",
    ):
        entry, solver = made(text)
        assert solver.leaves_hull
        done = run(TILTED, solver, entry, Budget(max_steps=40))
        assert (done.status, done.reason) == (Status.BUDGET, "40 steps spent")
        assert {done.row[key] for key in ("gap", "gap_relative", "feasibility", "support")} == {
            None
        }
        assert set(done.trace.columns["gap_current"]) == {None}
        assert done.row["value"] is not None
        solution = api.solve(TILTED, text, max_steps=40)
        assert (solution.status, solution.gap, solution.weights) == (Status.BUDGET, None, None)
    judge = Judge(TILTED, moving=True, inside=False)
    assert judge.certified(judge.look(100 * CLOUD, None, last=True)) is None


def test_what_grows_beyond_all_doubles_ends_as_nonfinite():
    entry, solver = made("softmax_attention[values=1,normalised=false,keys=moving]")
    assert run(FREE, solver, entry, Budget(max_steps=3000)).status is Status.NONFINITE
    assert api.solve(FREE, "softmax_attention[values=1,normalised=false,keys=moving]",
                     max_steps=3000).status is Status.NONFINITE  # fmt: skip


@pytest.mark.parametrize("steps", [100, 320, 340, 400, 2000])
def test_what_grows_until_scores_overflow_ends_as_nonfinite(steps):
    """Beyond, who leads is not known: the cloud must not seem to collapse."""
    text = "hardmax_attention[values=2,normalised=false,keys=moving]"
    entry, solver = made(text)
    own = QuadraticOverHull(CLOUD, -1.0)
    done = run(own, solver, entry, Budget(max_steps=steps))
    spread = [far for far in done.trace.columns["spread"] if far is not None]
    assert (np.diff(spread) > 0).all()
    assert len(spread) > 10
    assert done.status is (Status.NONFINITE if steps > 330 else Status.BUDGET)
    solution = api.solve(own, text, max_steps=steps)
    assert solution.status is done.status
    assert (solution.value is None) is (solution.status is Status.NONFINITE)
    assert (solution.gap, solution.gap_relative) == (None, None)


@pytest.mark.parametrize(
    ("parameters", "says"),
    [
        ("values=1,step=constant(1/3)", "V says how far a layer goes, and so does the step"),
        ("normalised=false", "so V must be given"),
        ("values=-1", "I \\+ V is singular"),
        ('values="-1 2; 0 3"', "I \\+ V is singular"),
        ('values="1 2 3; 4 5 6"', "d rows of d numbers"),
        ('values="1 2; 3"', "got rows of 2, 1"),
        ('values="a b"', "entries must be numbers"),
        ("values=1e400,normalised=false", "an entry is beyond all doubles"),
        (f"values=-0.{'9' * 320}", "I \\+ V is singular"),
        ('values="1 2;"', "a number, a diagonal"),
        ("step=exact,scores=2", "searches along f, and scores=2 are not those of f"),
        ("scores=0", "every factor must be positive"),
        ("scores=geometrical(1)", "no schedule 'geometrical\\(1\\)'; did you mean geometric"),
        ("scores=harmonic(1)", "no schedule"),
    ],
)
@pytest.mark.parametrize("name", ["hardmax_attention", "softmax_attention"])
def test_parameters_that_do_not_go_together_are_explained(name, parameters, says):
    with pytest.raises(InvalidParameter, match=says):
        made(f"{name}[{parameters}]")


def test_minus_the_identity_is_fine_where_nothing_is_divided():
    state = walked("hardmax_attention[values=-1,normalised=false,arithmetic=exact]", FREE, 1)
    assert state.steps == 1


@pytest.mark.parametrize(
    ("parameters", "says"),
    [
        ('values="1 2 3"', "values is a 3 x 3 matrix; points have d = 2 on this indefinite"),
        ('scores="1 2 3"', "scores has 3 factors; one for all coordinates or 2 are needed"),
    ],
)
def test_a_matrix_of_another_size_is_refused(parameters, says):
    for name in ("hardmax_attention", "softmax_attention"):
        assert says in made(f"{name}[{parameters}]")[1].refuses(FREE)


def test_exact_runs_refuse_what_is_not_rational():
    for parameters, says in (
        ("step=saturating(1)", "no rational lengths"),
        ("step=log_adaptive", "no rational lengths"),
        ("scores=power(1,1/2)", "scores=power(1,0.5) is not rational"),
    ):
        _, method = made(f"hardmax_attention[arithmetic=exact,{parameters}]")
        assert says in method.refuses(FREE)


# -- schedules ---------------------------------------------------------------------------------


@pytest.mark.parametrize("keys", ["fixed", "moving"])
def test_scores_turn_the_key_query_matrix_with_the_layer(keys):
    # one layer at a time, against the problem whose Q and c are D Q D and D c
    problem = QuadraticOverHull(
        [["3", "1"], ["-1", "2"], ["1/3", "-2"], ["-2", "-1"]],
        [["1", "1/3"], ["1/3", "2"]],
        ["1/5", "-1/7"],
        start=[0, 1, 2, 3],
    )
    shrinking = 'scores="geometric(1,1/2) power(1,-1)"'
    _, method = made(f"hardmax_attention[{shrinking},keys={keys},arithmetic=exact]")
    _, plain = made(f"hardmax_attention[keys={keys},arithmetic=exact]")
    model = method.prepare(problem)
    x, leaders = problem.exact_atoms, []
    for t in range(5):
        D = [Fraction(1, 2**t), Fraction(1, t + 1)]
        turned = QuadraticOverHull(
            texts(problem.exact_atoms),
            [[str(D[i] * problem.exact_chain[0][i, j] * D[j]) for j in (0, 1)] for i in (0, 1)],
            [str(D[i] * problem.exact_c[i]) for i in (0, 1)],
        )
        expected = plain.layer(plain.prepare(turned), x, t, np.zeros(4))
        moved = method.layer(model, x, t, np.zeros(4))
        leaders.append(moved.mixing.keys.tolist())
        np.testing.assert_array_equal(moved.x, expected.x)
        x = moved.x
    exact = walked(f"hardmax_attention[{shrinking},keys={keys},arithmetic=exact]", problem, 5)
    np.testing.assert_array_equal(exact.exact_points(), x)
    double = walked(f"hardmax_attention[{shrinking},keys={keys}]", problem, 5)
    np.testing.assert_allclose(double.points(), x.astype(float), rtol=0, atol=1e-13)


def test_scores_matter():
    ends = [
        walked(f"hardmax_attention[keys=moving{scores}]", TILTED, 3).points()
        for scores in ("", ",scores=3", ',scores="1 geometric(1,1/8)"')
    ]
    assert not np.array_equal(ends[0], ends[2])


def test_one_factor_of_the_scores_of_softmax_is_a_beta():
    # without a linear term B(t) = D B D is D² B
    ends = [
        walked(f"softmax_attention[keys=moving,{text}]", FREE, 5).points()
        for text in ("beta=3,scores=geometric(1,1/2)", "beta=geometric(3,1/4)")
    ]
    np.testing.assert_allclose(ends[0], ends[1], rtol=1e-12)


def test_ties_of_shrinking_scores_do_not_grow():
    # fixed keys whose scores shrink by 2^-60 keep their leaders: the tolerance shrinks along
    problem = QuadraticOverHull(CLOUD, -1.0, start=Combinations.vertices(range(7)))
    _, method = made("hardmax_attention[scores=geometric(1,1/2)]")
    model = method.prepare(problem)
    x = model.points * 0.9
    first, late = (method.layer(model, x, t, np.zeros(7)).mixing.keys for t in (1, 60))
    np.testing.assert_array_equal(late, first)
    assert len(set(first)) > 1


@pytest.mark.parametrize(
    "beta", ["geometric(10,4)", "power(1e300,9)", "linear(1e308,1e308)", "1e308"]
)
def test_a_beta_beyond_all_doubles_is_the_leader(beta):
    for kind in (np.float64, np.float32):
        problem = QuadraticOverHull(CLOUD.astype(kind), -1.0)
        soft = walked(f"softmax_attention[beta={beta},step=constant(1)]", problem, 900)
        hard = walked("hardmax_attention[step=constant(1)]", problem, 900)
        np.testing.assert_allclose(soft.points(), hard.points(), rtol=1e-6)


def test_what_is_scheduled_is_neither_stalled_nor_searched_for_cycles():
    scheduled = [
        "softmax_attention[beta=geometric(1,1/2)]",
        "hardmax_attention[scores=linear(1,1)]",
        "softmax_attention[scores=linear(1,1)]",
    ]
    assert all(made(text)[1].scheduled for text in scheduled)
    assert not made("softmax_attention[beta=geometric(3,1),scores=linear(1,0)]")[1].scheduled
    problem = QuadraticOverHull(CLOUD + 1.0)
    entry, solver = made("softmax_attention[beta=1,step=constant(1)]")
    assert run(problem, solver, entry, Budget(max_steps=1500)).status is Status.STALLED
    entry, solver = made("softmax_attention[beta=geometric(1,9/10),step=constant(1)]")
    assert run(problem, solver, entry, Budget(max_steps=1500)).status is Status.BUDGET


def test_two_tokens_that_swap_for_ever_are_a_cycle_of_period_two():
    problem = QuadraticOverHull([[3.0], [-1.0]])
    entry, solver = made("hardmax_attention[keys=moving,step=constant(1)]")
    done = run(problem, solver, entry, Budget(max_steps=200))
    assert done.rest["period"] == [2, 2]
    entry, solver = made("hardmax_attention[keys=moving,step=open_loop(2)]")
    assert run(problem, solver, entry, Budget(max_steps=200)).rest["period"] == [None, None]


def test_a_turning_layer_is_found_as_a_cycle():
    # x + V leader with V = −2 I: a lone fixed key k sends x to x − 2k for ever; about 0 it swaps
    problem = QuadraticOverHull([[1.0, 0.0], [-1.0, 0.0]], -1.0)
    entry, solver = made("hardmax_attention[values=-2,normalised=false]")
    assert run(problem, solver, entry, Budget(max_steps=200)).rest["period"] == [2]


@pytest.mark.parametrize("keys", ["fixed", "moving"])
@pytest.mark.parametrize("d", [2, 6])
def test_a_positive_factor_changes_no_leader_however_small_it_gets(keys, d):
    # c = 0: B(t) = s(t)^2 B; far from 0, so that what is stored from the mean must not cancel
    cloud = np.random.default_rng(0).normal(size=(8, d)) + 3
    problem = QuadraticOverHull(cloud, 1.0, start=np.arange(8))
    text = f"hardmax_attention[keys={keys},step=constant(1/10){{}}]"
    ends = []
    for factor in ("", ",scores=geometric(1,1/2)"):
        [choice] = catalog.choices("solvers", text.format(factor))
        solver = catalog.build_solver(choice)
        model = solver.prepare(problem)
        state = solver.init(model, solver.start(problem))
        solver.advance(model, state, 120)
        ends.append(state.points())
    np.testing.assert_allclose(*ends, rtol=0, atol=1e-12)


def test_factors_that_vanish_beside_a_linear_term_are_refused_in_words():
    problem = QuadraticOverHull(np.eye(3), 1.0, [1.0, 2.0, 0.5], start=np.arange(3))
    [choice] = catalog.choices("solvers", "hardmax_attention[scores=geometric(1,1/1000000)]")
    solver = catalog.build_solver(choice)
    model = solver.prepare(problem)
    state = solver.init(model, solver.start(problem))
    with pytest.raises(InvalidParameter, match="at layer 17 no factor is above 1e-102"):
        solver.advance(model, state, 20)


@pytest.mark.parametrize("c", [None, [0.3, -0.2]])
@pytest.mark.parametrize("factor", ["1000000", "1e-20", "1e150"])
def test_a_constant_factor_of_the_scores_is_that_of_beta_and_c(factor, c):
    # D = s: F(s x) = s (Q x + c/s), so scores are s^2 those of the field Q x + c/s
    s = float(factor)
    cloud = np.random.default_rng(1).normal(size=(9, 2)) + 1
    ends = []
    for linear, text in (
        (c, f"softmax_attention[beta=3,keys=moving,scores={factor}]"),
        (
            None if c is None else np.array(c) / s,
            f"softmax_attention[beta={3 * s * s!r},keys=moving]",
        ),
    ):
        problem = QuadraticOverHull(cloud, 1.0, linear, start=np.arange(9))
        [choice] = catalog.choices("solvers", text)
        solver = catalog.build_solver(choice)
        model = solver.prepare(problem)
        state = solver.init(model, solver.start(problem))
        solver.advance(model, state, 5)
        ends.append(state.points())
    np.testing.assert_allclose(*ends, rtol=0, atol=1e-9)
