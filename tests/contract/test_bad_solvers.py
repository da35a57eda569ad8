import gc
import re
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
import pytest

from fwbench.contract.cases import Subject
from fwbench.contract.check import Checked, check
from fwbench.contract.child import PROBLEMS, SOLVERS, rules
from fwbench.contract.rule import Finding, Standing, tried
from fwbench.errors import MissingExtra
from fwbench.geometry.combinations import Combinations
from fwbench.grammar import quoted
from fwbench.problem import QuadraticOverHull
from fwbench.runner import Budget, run
from fwbench.solver import Queries, Sampling, SolverEntry
from fwbench.trace import Status

TRIANGLE = QuadraticOverHull([[1.0, 2.0], [3.0, 1.0], [2.0, -1.0]])  # least value 5/4 at (3/2, 1/2)
OPTIMUM = [0.5, 0.0, 0.5]
INSIDE = Combinations.from_dense([[0.2, 0.5, 0.3]])
CONCAVE = QuadraticOverHull([[2.0, 0.0], [0.0, 1.0], [-1.0, -1.0]], -1.0, start=INSIDE)
SADDLE = QuadraticOverHull([[1, 1], [1, -1], [-1, -1], [-1, 1]], [1.0, -1.0])
SHORT = Budget(max_steps=40)
STAGES = ("prepare", "init", "advance", "points", "weights")


def nothing(stage: str, state: Any) -> None:
    pass


@dataclass(eq=False)
class Made:
    """A state that stays where it is put."""

    problem: QuadraticOverHull
    act: Callable[[str, Any], None]
    combination: Combinations
    moved: np.ndarray | float = 0.0
    known: bool = True
    steps: int = 0
    done: bool = False
    claim: str | None = None

    def points(self) -> np.ndarray:
        self.act("points", self)
        return self.combination.averages(self.problem.atoms[self.combination.keys]) + self.moved

    def weights(self) -> Combinations | None:
        self.act("weights", self)
        return self.combination if self.known else None


@dataclass(frozen=True)
class Puppet:
    """A solver that does what the test says, at every stage."""

    act: Callable[[str, Any], None] = nothing
    jump: int = field(default=10**9)

    def prepare(self, problem):
        self.act("prepare", None)
        return problem

    def init(self, model, start):
        self.act("init", None)
        return Made(model, self.act, start)

    def advance(self, model, state, steps):
        for _ in range(min(steps, self.jump)):
            state.steps += 1
            self.act("advance", state)


def entry(**declared: Any) -> SolverEntry:
    return SolverEntry("puppet", Puppet, "a puppet", "this file, 2025", "none", **declared)


def ended(act=nothing, problem=TRIANGLE, budget=SHORT, **declared):
    done = run(problem, Puppet(act), entry(**declared), budget)
    assert done.reason
    assert (done.traceback is None) == (done.status not in (Status.ERROR, Status.MEMORY))
    return done


# -- what it raises --------------------------------------------------------------------------


@pytest.mark.parametrize("stage", STAGES)
@pytest.mark.parametrize(
    ("error", "status"),
    [
        (RuntimeError("broken"), Status.ERROR),
        (SystemExit("broken"), Status.ERROR),
        (SystemExit(), Status.ERROR),
        (GeneratorExit("broken"), Status.ERROR),
        (ImportError("no module called broken"), Status.ERROR),
        (FloatingPointError("broken"), Status.ERROR),
        (MemoryError("broken"), Status.MEMORY),
        (MissingExtra("install broken"), Status.SKIPPED),
    ],
    ids=repr,
)
def test_whatever_is_raised_costs_only_its_own_run(stage, error, status):
    def act(where, state):
        if where == stage:
            raise error

    collecting = gc.isenabled()
    done = ended(act)
    assert done.status is status
    assert str(error) in done.reason
    if status is Status.ERROR:
        assert type(error).__name__ in done.reason
    if done.traceback is not None:
        assert f"in {stage}\n" in done.traceback
        assert type(error).__name__ in done.traceback
    assert gc.isenabled() == collecting
    assert ended().status is Status.BUDGET


def test_a_late_error_is_an_error_too():
    def act(stage, state):
        if stage == "advance" and state.steps == 30:
            raise ValueError("on step 30")

    assert ended(act).status is Status.ERROR


def test_an_interrupt_from_the_keyboard_is_not_a_result():
    def act(stage, state):
        if stage == "advance":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(TRIANGLE, Puppet(act), entry(), SHORT)


def test_a_solver_that_counts_no_steps_does_not_run_for_ever():
    def act(stage, state):
        if stage == "advance":
            state.steps -= 1

    assert ended(act).status is Status.ERROR


# -- what it returns ---------------------------------------------------------------------------


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("where", ["points", "weights"])
def test_what_is_not_finite_is_called_so(value, where):
    def act(stage, state):
        if stage == "advance" and state.steps == 3:
            if where == "points":
                state.moved = np.array([0.0, value])
            else:
                state.combination = Combinations.from_dense([[0.5, value, 0.5]])

    done = ended(act)
    assert done.status is Status.NONFINITE
    assert "3 steps" in done.reason
    assert done.row["steps"] == 3
    assert done.row["value"] is None
    assert done.row["gap"] is None
    assert np.isfinite(done.trace.columns["gap"][:3]).all()


def claims(weights, *, after=1):
    def act(stage, state):
        if stage == "advance" and state.steps >= after:
            state.combination = Combinations.from_dense([weights])
            state.claim, state.done = "optimal", True

    return act


@pytest.mark.parametrize("sampling", Sampling)
@pytest.mark.parametrize(
    ("problem", "right", "wrong"),
    [
        (TRIANGLE, OPTIMUM, [0.5, 1e-4, 0.4999]),
        (CONCAVE, [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]),  # a fixed point, but not the best vertex
        (SADDLE, [0.5, 0.0, 0.0, 0.5], [1.0, 0.0, 0.0, 0.0]),
    ],
    ids=["convex", "concave", "indefinite"],
)
def test_a_false_claim_is_wrong(problem, right, wrong, sampling):
    assert ended(claims(wrong), problem, sampling=sampling).status is Status.WRONG
    true = ended(claims(right), problem, sampling=sampling)
    assert true.status in (Status.FINISHED, Status.CONVERGED)


def test_a_claim_is_held_to_what_was_promised():
    near = claims([0.5, 1e-4, 0.4999])
    assert ended(near, promise=1e-8).status is Status.WRONG
    assert ended(near, promise=1e-3).status is Status.FINISHED
    assert ended(near, budget=Budget(tol=1e-3)).status in (Status.FINISHED, Status.CONVERGED)


@pytest.mark.parametrize(
    ("weights", "moved"),
    [
        ([0.5 + 1e-6, -1e-6, 0.5], 0.0),
        ([0.5 + 1e-6, 0.0, 0.5], 0.0),
        (OPTIMUM, 1e-5),
    ],
    ids=["negative weight", "sum above 1", "another point"],
)
def test_what_are_no_weights_of_the_point_is_infeasible(weights, moved):
    def act(stage, state):
        if stage == "advance":
            state.combination, state.moved = Combinations.from_dense([weights]), moved

    done = ended(act, budget=Budget(max_steps=5))
    assert done.status is Status.INFEASIBLE
    assert 1e-7 < done.row["feasibility"] < 1e-4


def test_only_the_last_point_can_make_a_run_infeasible():
    def act(stage, state):
        if stage == "advance":
            negative = 0.01 if state.steps < 5 else 0.0
            state.combination = Combinations.from_dense([[1.0 + negative, -negative, 0.0]])

    done = ended(act, budget=Budget(max_steps=5))
    assert done.status is Status.BUDGET
    assert max(done.trace.columns["feasibility"]) == pytest.approx(0.01)


def hides(point):
    def act(stage, state):
        if state is not None:
            state.known = False
        if stage == "advance":
            state.moved = np.array(point) - TRIANGLE.atoms[TRIANGLE.start.keys[0]]

    return act


def test_weights_are_found_where_a_solver_keeps_none():
    done = ended(hides([1.5, 0.5]))
    assert done.status is Status.CONVERGED
    assert 0 <= done.row["feasibility"] <= 1e-12
    assert done.row["support"] >= 2
    assert done.row["value"] == pytest.approx(1.25)
    assert [done.row[name] for name in ("lmo", "gradient", "matvec", "drop_steps")] == [None] * 4
    assert set(done.trace.columns["lmo"]) == {None}


def test_a_point_outside_the_hull_is_found_out():
    done = ended(hides([1.4, 0.4]))
    assert done.status is Status.INFEASIBLE
    assert done.row["feasibility"] > 0.01


# -- how long it takes ---------------------------------------------------------------------------


def burns(seconds):
    def act(stage, state):
        if stage == "advance":
            until = perf_counter() + seconds
            while perf_counter() < until:
                pass

    return act


@pytest.mark.parametrize("sampling", [Sampling.ADVANCE, Sampling.RERUN])
def test_a_slow_solver_runs_out_of_time(sampling):
    done = ended(burns(2e-3), budget=Budget(max_steps=10**6, max_seconds=0.05), sampling=sampling)
    assert done.status is Status.TIMEOUT
    assert 0 < done.row["steps"] < 10**3
    assert done.trace.last("k") == done.row["steps"]


def test_time_outside_of_advance_does_not_count():
    def act(stage, state):
        if stage in ("points", "weights", "init"):
            burns(2e-3)("advance", state)

    assert ended(act, budget=Budget(max_steps=40, max_seconds=0.01)).status is Status.BUDGET


def test_a_solver_may_take_fewer_steps_than_asked():
    done = run(TRIANGLE, Puppet(jump=3), entry(), SHORT)
    assert done.status is Status.BUDGET
    assert done.row["steps"] == 40


def test_queries_are_lifted_stopped_or_moved_together():
    problem = QuadraticOverHull(TRIANGLE.atoms, start=[0, 1, 2])
    rows = {queries: ended(problem=problem, queries=queries).row for queries in Queries}
    assert {queries: row["queries"] for queries, row in rows.items()} == {
        Queries.ONE: 3,
        Queries.MANY: 3,
        Queries.ANY: 1,
    }


# -- what fwbench check says of it -----------------------------------------------------------

SLIPPING = str(Path(__file__).with_name("made_solvers.py"))


def finding(slip, rule):
    subject = Subject(f'{quoted(SLIPPING)}[slip="{slip}"]')
    [asked] = [known for known in rules(subject) if known.name == rule]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return tried(asked, subject)


@pytest.mark.parametrize(
    ("slip", "rule", "said"),
    [
        ("says yes", "runs", "refuses concave, convex"),
        ("stays away", "runs", "every variant refuses concave"),
        ("raises", "runs", r"ValueError: no such step, in _slip \(made_solvers.py line \d+\)"),
        ("exits", "runs", "error: SystemExit: no more"),
        ("interrupts", "runs", "KeyboardInterrupt.*ordinary exception"),
        ("writes atoms", "inputs", r"problem.centred.*3 of 27 numbers changed.*\[0, 0\].*a view"),
        ("writes start", "inputs", r"start.data.*1 of 1 numbers changed, first 1.0 → 0.5"),
        ("global draws", "generators", "numpy's global generator as before"),
        ("clock", "clock", r"time.perf_counter\(\) was called"),
        ("keeps a list", "stateless", "points that differ by .* the solver or its module"),
        ("keeps itself", "stateless", "solver to stay.*slip='keeps itself'.*slip='none'"),
        ("writes the model", "stateless", "second run on the same model.*writes into the model"),
        ("begins done", "steps", r"got \(0, True, None\)"),
        ("counts nothing", "steps", "steps 15 after as many were asked.*got steps 3"),
        ("unseeded", "repeatable", "points that differ by .*no seed fixes"),
        ("starts anew", "semigroup", "points that differ by .*from 0 in each call"),
        ("no data", "copies", "pickle"),
        ("counts back", "counters", "lmo to be a whole number.*got -3"),
        ("counts text", "runs", "error"),
        ("flat points", "points", r"shape \(m, d\) = \(1, 3\).*got \(3,\).*x\[None, :\]"),
        ("single points", "points", "float64.*float32"),
        ("infinite points", "points", "finite points after 12 steps"),
        ("starts elsewhere", "points", "the start .* before any step"),
        ("too long", "hull", "after 4 steps.*least weight -"),
        ("points elsewhere", "hull", "any convex weights"),
        ("points apart", "hull", "the weights within 1e-12.*got 1.7e-06"),
        ("claims", "claims", "called itself optimal .* of the scale short; 1e-08 was promised"),
        ("divides", "hard inputs", "on n = 1: .*ZeroDivisionError"),
        ("says yes", "refuses", "a sentence that says why; got True"),
    ],
)
def test_each_slip_is_named(slip, rule, said):
    found = finding(slip, rule)
    assert found.standing is Standing.FAILED, found
    assert re.search(said, found.sentence), found.sentence
    assert found.expected
    assert found.came


@pytest.mark.parametrize(("slip", "said"), [("prints", "'step"), ("warns", "RuntimeWarning")])
def test_bad_manners_are_a_warning(slip, said):
    found = finding(slip, "quiet")
    assert found.standing is Standing.WARNING
    assert said in found.sentence


def test_without_a_slip_no_rule_fails():
    found = {rule.name: finding("none", rule.name) for rule in SOLVERS}
    skipped = {name for name, one in found.items() if one.standing is Standing.SKIPPED}
    assert skipped == {"claims"}
    rest = {one.standing for name, one in found.items() if name not in skipped}
    assert rest == {Standing.OK}, found


@pytest.mark.parametrize(
    ("slip", "said"),
    [
        ("segfault", "killed by SIGSEGV, in _slip"),
        ("exit code", "ended with exit code 3"),
        ("hang", "still at work then, in _slip"),
    ],
)
def test_a_rule_that_kills_its_process_costs_that_rule_alone(slip, said):
    ok = [Finding(rule.name, rule.says, Standing.OK) for rule in SOLVERS]
    done = [found for found in ok if found.rule not in ("hard inputs", "refuses")]
    checked = Checked(f'{quoted(SLIPPING)}[slip="{slip}"]', findings=done)
    hard, refuses = check(checked, 5 if slip == "hang" else 60)
    assert refuses.standing is Standing.OK, refuses
    assert (hard.rule, hard.standing) == ("hard inputs", Standing.FAILED)
    assert said in hard.sentence
    assert not checked.passed


@pytest.mark.slow
def test_what_kills_every_process_is_left_alone_soon():
    checked = Checked(f'{quoted(SLIPPING)}[slip="exit code always"]')
    findings = list(check(checked))
    assert [found.rule for found in findings] == [rule.name for rule in SOLVERS]
    standings = [found.standing for found in findings]
    assert standings.count(Standing.FAILED) == 3
    last = standings.index(Standing.FAILED) + 3
    assert set(standings[last:]) == {Standing.SKIPPED}
    assert "3 rules before" in findings[-1].sentence


def test_a_file_that_kills_whoever_imports_it_is_named(tmp_path):
    (tmp_path / "fatal.py").write_text("import os\nos._exit(7)\n")
    [found] = check(Checked(str(tmp_path / "fatal.py")))
    assert found.rule == "import"
    assert found.standing is Standing.FAILED
    assert "exit code 7" in found.sentence


def test_the_documentation_names_all_rules():
    page = (Path(__file__).parents[2] / "docs" / "protocol.md").read_text(encoding="utf-8")
    for heading, known in (("of a solver", SOLVERS), ("of a problem", PROBLEMS)):
        table = page.split(f"| rule | {heading} |\n")[1].split("\n\n")[0]
        rows = [line.split("|")[1] for line in table.splitlines()[1:]]
        shown = {name for row in rows for name in re.findall("`([^`]+)`", row)}
        assert shown == {rule.name for rule in known}
