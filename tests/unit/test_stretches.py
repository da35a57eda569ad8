from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fwbench import catalog
from fwbench.geometry.forms import LowRank
from fwbench.problem import QuadraticOverHull
from fwbench.stretches import CHANGES, REACH, Course, Walk, around, course, stretches, walks

HEADS = [(0, 0, 3), (0, 0, 5), (1, 0, 5), (2, 2, 9), (1, 5, 4), (0, 5, 6)]


def built(text):
    return catalog.build_problem(catalog.choices("problems", text)[0])


def shipped(sentence, layer, head):
    return built(f"attention_head[sentence={sentence},layer={layer},head={head}]")


def game(win, loss):
    """Return a game of rock, paper, scissors as a field: the next one beats each."""
    payoff = np.zeros((3, 3))
    for j in range(3):
        payoff[(j + 1) % 3, j], payoff[(j - 1) % 3, j] = win, -loss
    return QuadraticOverHull(np.eye(3), LowRank(-payoff), start=[0, 1, 2])


def leaders_in_turn(leads):
    """Return who leads stretch by stretch, and when each begins."""
    begins = [t for t, lead in enumerate(leads) if t == 0 or lead != leads[t - 1]]
    return [leads[t] for t in begins], begins


def point(problem, walk, steps):
    """Return where a walk is after so many steps, from its stretches alone; shape (d,)."""
    x = np.zeros(problem.d)
    for leader, begin, end in zip(
        walk.leaders, walk.begins, [*walk.begins[1:], steps], strict=True
    ):
        end = min(end, steps)
        if begin < end:
            keep = begin * (begin + 1) / (end * (end + 1))
            x = keep * x + (1 - keep) * problem.atoms[leader]
    return x


# -- against steps, one by one -------------------------------------------------------------------


@settings(max_examples=40, deadline=None)
@given(st.integers(2, 5), st.integers(1, 3), st.integers(0, 2**32 - 1))
def test_leaders_are_those_of_exact_steps(n, d, seed):
    rng = np.random.default_rng(seed)
    atoms = rng.integers(-9, 10, (n, d)).astype(float) + rng.integers(1, 99, (n, d)) / 128
    field = rng.integers(-4, 5, (d, d)) + rng.integers(1, 99, (d, d)) / 128
    problem = QuadraticOverHull(atoms, LowRank(field), start=np.arange(n))
    Q, V = ([[Fraction(float(e)) for e in row] for row in rows] for rows in (field, atoms))
    for query, walk in enumerate(walks(problem, reach=60)):
        x, leads = V[query], []
        for t in range(60):
            force = [sum(q * e for q, e in zip(row, x, strict=True)) for row in Q]
            score = [sum(f * e for f, e in zip(force, v, strict=True)) for v in V]
            leads.append(score.index(min(score)))
            gamma = Fraction(2, t + 2)
            x = [e + gamma * (v - e) for e, v in zip(x, V[leads[-1]], strict=True)]
        seen, begins = leaders_in_turn(leads)
        whole = len([begin for begin in walk.begins if begin < 60])
        assert (walk.leaders[:whole], walk.begins[:whole]) == (seen, begins)


@pytest.mark.parametrize("place", HEADS)
def test_it_goes_where_frank_wolfe_goes(place):
    problem = shipped(*place)
    [choice] = catalog.choices("solvers", "frank_wolfe[step=open_loop]")
    solver = catalog.build_solver(choice)
    model = solver.prepare(problem)
    steps = 400
    for query, walk in enumerate(walks(problem)):
        state = solver.init(model, problem.start.one(query))
        solver.advance(model, state, steps)
        away = np.linalg.norm(state.points()[0] - point(problem, walk, steps))
        assert away <= 1e-12 * problem.radius


def test_gaps_are_those_of_the_points():
    problem = shipped(0, 0, 5)
    walk = walks(problem)[4]
    for begin, gap in list(zip(walk.begins, walk.gaps, strict=True))[1:12]:
        x = point(problem, walk, begin) - problem.mean
        scores = problem.centred @ problem.centred_field(x)
        direct = (x @ problem.centred_field(x) - scores.min()) / problem.scale
        assert gap == pytest.approx(direct, rel=1e-9)


def test_the_lowest_of_equals_leads():
    # by symmetry the last two tie at the first: the lower index leads, and once it has drawn the
    # point aside the other one
    walk = walks(QuadraticOverHull([[-3, 0], [1, 1], [1, -1]], start=[0, 1, 2]), reach=3)[0]
    assert walk.leaders[:2] == [1, 0]
    again = walks(QuadraticOverHull([[1.0], [1.0], [-1.0]], -1.0, start=[0, 1, 2]))
    assert [walk.leaders for walk in again] == [[0], [0], [2]]
    assert all(walk.settled for walk in again)


# -- what becomes of a query ---------------------------------------------------------------------


def test_who_owns_its_cell_settles_at_once():
    problem = built("token_cloud[name=own-cells]")
    found = stretches(problem)
    assert set(found["course"]) == {"settles"}
    assert found["changes"] == [0] * problem.n
    first = (problem.centred_field(problem.centred) @ problem.centred.T).argmin(axis=1)
    assert found["leaders"] == [[int(key)] for key in first]
    assert found["gap"] == [0.0] * problem.n


def test_on_a_convex_problem_leaders_take_turns():
    found = stretches(built("token_cloud[name=triangle-20]"))
    assert set(found["course"]) == {"turns"}
    assert found["leaders"] == [[0, 1, 2]] * 3
    assert found["growth"] == [None] * 3
    assert max(found["gap"]) < 0.02


@pytest.mark.parametrize(("win", "loss"), [(1, 4), (2, 3), (1, 9)])
def test_where_losses_outweigh_wins_play_only_pauses(win, loss):
    # on the Shapley triangle each stretch is sqrt(loss/win) times the last, a round of three the
    # cube of that
    found = stretches(game(win, loss))
    assert found["course"] == ["pauses"] * 3
    assert [sorted(round) for round in found["leaders"]] == [[0, 1, 2]] * 3
    assert found["growth"] == pytest.approx([(loss / win) ** 1.5] * 3, rel=1e-6)
    assert min(found["gap"]) > 0.01
    assert min(found["last"]) >= REACH


@pytest.mark.parametrize(("win", "loss"), [(4, 1), (1, 1)])
def test_where_wins_outweigh_losses_play_converges(win, loss):
    found = stretches(game(win, loss))
    assert found["course"] == ["turns"] * 3
    assert found["changes"] == [CHANGES] * 3


def test_rounds_that_grow_slowly_are_pauses_too():
    # 2 % a stretch: 512 changes come long before a billion steps
    found = stretches(game(1, 1.04))
    assert found["course"] == ["pauses"] * 3
    assert found["changes"] == [CHANGES] * 3
    assert max(found["last"]) < REACH


def test_three_queries_of_a_head_pause_and_the_others_settle():
    found = stretches(shipped(0, 0, 5))
    pausing = [q for q, kind in enumerate(found["course"]) if kind == "pauses"]
    assert pausing == [3, 4, 5]
    assert {found["course"][q] for q in range(14)} == {"pauses", "settles"}
    for q in pausing:
        assert set(found["leaders"][q]) == {10, 11, 12, 13}
        assert found["growth"][q] == pytest.approx(4.38446, rel=1e-5)
        assert found["gap"][q] == pytest.approx(0.013551, rel=1e-4)
    # it walks back, token by token
    assert around(walks(shipped(0, 0, 5))[4].leaders) == 4
    at = found["leaders"][4].index(13)
    assert (found["leaders"][4] * 2)[at : at + 4] == [13, 12, 11, 10]


def test_a_head_turns_among_three_tokens():
    found = stretches(shipped(0, 5, 6))
    assert found["course"] == ["turns"] * 14
    assert found["leaders"] == [[0, 6, 9]] * 14


def test_a_head_sends_all_to_one_vertex():
    found = stretches(shipped(0, 2, 9))
    assert found["course"] == ["settles"] * 14
    assert found["leaders"] == [[0]] * 14
    assert found["changes"] == [0] * 14


def test_a_walk_that_was_cut_short_is_no_proof_of_turning():
    gaps = [1 / t for t in range(1, 11)]
    assert course(Walk([0, 1] * 5, list(range(10)), gaps, settled=False)) is Course.UNDECIDED


def test_leaders_that_change_as_often_as_before_do_not_pause():
    # the gap is where it was, but no stretch is longer than the last
    level = Walk([0, 1] * 300, list(range(600)), [0.1] * 600, settled=False)
    assert course(level) is Course.UNDECIDED
    longer = Walk([0, 1] * 20, [2**k for k in range(40)], [0.1] * 40, settled=False)
    assert course(longer) is Course.PAUSES


def test_on_a_convex_problem_nobody_pauses():
    # 512 changes are too few for its gap to fall by half; that it falls is a theorem
    problem = built("token_cloud[name=receding]")
    assert {course(walk) for walk in walks(problem)} == {Course.TURNS, Course.UNDECIDED}
    assert set(stretches(problem)["course"]) == {"turns"}


def test_units_do_not_matter():
    small, large = (stretches(QuadraticOverHull(
        size * np.eye(3), LowRank(game(1, 4).form.L), start=[0, 1, 2])) for size in (1e-9, 1e9)
    )  # fmt: skip
    for name in ("course", "changes", "last", "leaders"):
        assert small[name] == large[name]


def test_one_point_settles():
    found = stretches(QuadraticOverHull([[2.0, 1.0]] * 3, start=[0, 1, 2]))
    assert found["course"] == ["settles"] * 3
    assert found["leaders"] == [[0]] * 3
