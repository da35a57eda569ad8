"""What the runner's clock counts, with a clock that only the solver moves."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from threadpoolctl import ThreadpoolController

from fwbench import timing, warm
from fwbench.geometry.combinations import Combinations
from fwbench.problem import QuadraticOverHull
from fwbench.runner import Budget, run
from fwbench.solver import Queries, Sampling, SolverEntry
from fwbench.trace import Status, Trace

TRIANGLE = QuadraticOverHull([[1.0, 2.0], [3.0, 1.0], [2.0, -1.0]])
OPTIMUM = Combinations.from_dense([[0.5, 0.0, 0.5]])
MILLISECOND = 10**6


class Clock:
    """Stands still unless a solver works."""

    now = 0

    def __call__(self):
        return self.now


@pytest.fixture
def clock(monkeypatch):
    clock = Clock()
    monkeypatch.setattr("fwbench.runner.perf_counter_ns", clock)
    monkeypatch.setattr("fwbench.timing.perf_counter_ns", clock)
    monkeypatch.setattr("fwbench.runner.warm", lambda *args: None)
    return clock


@dataclass(eq=False)
class Made:
    combination: Combinations
    steps: int = 0
    done: bool = False
    claim: str | None = None

    def points(self):
        return self.combination.averages(TRIANGLE.rows(self.combination.keys))

    def weights(self):
        return self.combination


@dataclass(eq=False)
class Worker:
    """A foreign code that needs some steps, each some milliseconds, and may stop at some time."""

    clock: Clock
    needs: int = 1
    pace: Any = (1.0,)  # milliseconds a step: by the count of calls, the last one for the rest
    own_limit: float = np.inf
    setup: float = 0.0
    calls: int = 0
    setups: int = 0
    bounds: tuple[float, float] | None = None

    def within(self, tol, seconds):
        self.bounds = (tol, seconds)
        return self

    def prepare(self, problem):
        assert "centred" not in vars(problem)
        self.clock.now += int(self.setup * MILLISECOND)
        self.setups += 1
        return problem.centred

    def init(self, model, start):
        return Made(start)

    def advance(self, model, state, steps):
        pace = self.pace[min(self.calls, len(self.pace) - 1)]
        self.calls += 1
        possible = int(self.own_limit / pace) if self.own_limit < np.inf else steps
        taken = min(steps, self.needs - state.steps, possible)
        self.clock.now += int(taken * pace * MILLISECOND)
        state.steps += taken
        if state.steps >= self.needs:
            state.combination, state.done, state.claim = OPTIMUM, True, "optimal"


def entry(sampling):
    return SolverEntry(
        "worker", Worker, "a worker", "this file, 2025", "none", sampling=sampling,
        queries=Queries.ANY,
    )  # fmt: skip


def asked(worker, sampling, **budget):
    done = run(TRIANGLE, worker, entry(sampling), Budget(**budget))
    return done.status, done


# -- foreign methods -------------------------------------------------------------------------------


def test_a_run_tells_its_limits_to_the_solver(clock):
    worker = Worker(clock)
    asked(worker, Sampling.ONCE, tol=1e-5, max_seconds=3.0)
    assert worker.bounds == (1e-5, 3.0)


def test_a_direct_method_is_timed_by_the_median_of_repeats(clock):
    worker = Worker(clock, pace=(9.0, 3.0, 2.0, 1.0))
    status, done = asked(worker, Sampling.ONCE)
    assert status is Status.FINISHED
    # 9 to answer, then 3 + 2 + 1 + ... until 20 are spent
    assert done.row["seconds"] == pytest.approx(1e-3)
    assert done.row["seconds_from"] == "run"
    assert done.trace.columns["seconds"] == [0.0, done.row["seconds"]]
    assert worker.calls == 1 + 2 + 14


def test_a_direct_method_that_needs_long_is_not_repeated(clock):
    worker = Worker(clock, pace=(1500.0,))
    _, done = asked(worker, Sampling.ONCE)
    assert worker.calls == 1
    assert (done.row["seconds"], done.row["seconds_from"]) == (1.5, "trace")


def test_a_direct_method_beyond_the_seconds_is_a_timeout_although_it_is_done(clock):
    status, done = asked(Worker(clock, pace=(1500.0,)), Sampling.ONCE, max_seconds=1.0)
    assert status is Status.TIMEOUT
    assert "certified gap" in done.reason


@pytest.mark.parametrize("sampling", [Sampling.ONCE, Sampling.RERUN])
def test_a_code_that_keeps_the_time_itself_ends_in_a_timeout_without_a_claim(clock, sampling):
    # its own clock may be a little ahead of the runner's
    worker = Worker(clock, needs=10**6, pace=(1.0,), own_limit=950.0)
    if sampling is Sampling.ONCE:
        worker.advance = lambda model, state, steps: (
            setattr(clock, "now", clock.now + 950 * MILLISECOND), setattr(state, "steps", 1)
        )  # fmt: skip
    status, done = asked(worker, sampling, max_seconds=1.0)
    assert status is Status.TIMEOUT
    assert "certified gap" in done.reason


def test_a_direct_method_that_just_does_not_end_is_an_error(clock):
    worker = Worker(clock)
    worker.advance = lambda model, state, steps: setattr(state, "steps", 1)
    status, done = asked(worker, Sampling.ONCE)
    assert status is Status.ERROR
    assert "did not end by itself" in done.reason


def test_a_code_with_a_limit_of_steps_is_asked_from_scratch_each_time(clock):
    worker = Worker(clock, needs=11, pace=(1.0,))
    status, done = asked(worker, Sampling.RERUN)
    assert status is Status.CONVERGED
    assert done.trace.columns["k"] == [0, 1, 2, 4, 8, 11]
    # a row's seconds are that run's alone
    assert done.trace.columns["seconds"] == [0.0, 1e-3, 2e-3, 4e-3, 8e-3, 11e-3]
    assert done.row["seconds"] == 11e-3


def test_a_code_that_is_certified_before_its_own_end_goes_on(clock):
    worker = Worker(clock, needs=11)
    done = run(TRIANGLE.starting_at(OPTIMUM), worker, entry(Sampling.RERUN), Budget())
    assert done.row["steps"] == 11
    done = run(TRIANGLE.starting_at(OPTIMUM), worker, entry(Sampling.RERUN), Budget(max_steps=5))
    assert (done.status, done.row["steps"]) == (Status.CONVERGED, 5)


def test_a_code_whose_steps_are_spent_says_so(clock):
    status, done = asked(Worker(clock, needs=100), Sampling.RERUN, max_steps=24)
    assert status is Status.BUDGET
    assert done.trace.columns["k"] == [0, 1, 2, 4, 8, 16, 24]


def test_what_a_cut_code_leaves_is_not_called_infeasible(clock):
    worker = Worker(clock)

    def cut(model, state, steps):
        clock.now += 2000 * MILLISECOND
        state.combination, state.steps = Combinations.from_dense([[0.5, 0.0, 0.6]]), 1

    worker.advance = cut
    status, done = asked(worker, Sampling.ONCE, max_seconds=1.0)
    assert status is Status.TIMEOUT
    assert done.row["feasibility"] >= 0.1


# -- set-up ----------------------------------------------------------------------------------------


def test_set_up_is_repeated_while_it_is_short_and_finds_nothing_centred(clock):
    TRIANGLE.centred  # noqa: B018  (another solver has asked for it before)
    worker = Worker(clock, setup=5.0)
    _, done = asked(worker, Sampling.ONCE)
    assert worker.setups == 3
    assert done.row["setup_seconds"] == pytest.approx(5e-3)
    worker = Worker(clock, setup=30.0)
    asked(worker, Sampling.ONCE)
    assert worker.setups == 1
    worker = Worker(clock)
    asked(worker, Sampling.ONCE)
    assert worker.setups == timing.SETUPS


# -- curves ----------------------------------------------------------------------------------------


def walked(worker, judged):
    """Return the seconds of a curve whose judged walk took these milliseconds a stretch."""
    trace = Trace()
    for k, at in enumerate(np.cumsum([0.0, *judged])):
        trace.add(k=k, seconds=at / 1e3)
    whole, _ = timing.uninterrupted(worker, None, OPTIMUM, trace)
    return whole, np.diff(trace.columns["seconds"])


def test_of_two_walks_the_smaller_stretches_count(clock):
    # one call of 30 ms, then stretches of 11, 10 and 13 against 30, 9 and 12 under the judge
    worker = Worker(clock, needs=3, pace=(10.0, 11.0, 10.0, 13.0))
    whole, stretches = walked(worker, [30.0, 9.0, 12.0])
    assert whole == pytest.approx(0.030)
    np.testing.assert_allclose(stretches, [0.011, 0.009, 0.012])


def test_of_many_walks_the_medians_count_and_the_judged_one_does_not(clock):
    worker = Worker(clock, needs=2, pace=(1.0,))
    whole, stretches = walked(worker, [50.0, 50.0])
    assert whole == pytest.approx(0.002)
    np.testing.assert_allclose(stretches, [0.001, 0.001])


# -- threads ---------------------------------------------------------------------------------------


def test_libraries_that_a_warm_up_loads_are_limited_too(monkeypatch):
    limits = []

    class Controller:
        def limit(self, *, limits):
            asked_for.append(limits)
            return ThreadpoolController().limit(limits=limits)

    asked_for = limits
    monkeypatch.setattr("threadpoolctl.ThreadpoolController", Controller)
    with warm.limited_threads(1):
        assert limits == [1]
        warm._limit_newcomers()
        assert limits == [1, 1]
        assert all(pool["num_threads"] == 1 for pool in ThreadpoolController().info())
    warm._limit_newcomers()  # outside nothing is limited
    assert limits == [1, 1]


def test_a_warm_up_looks_for_newcomers_whatever_the_solver_does(monkeypatch):
    looked = []
    monkeypatch.setattr(warm, "_limit_newcomers", lambda: looked.append(True))
    worker = Worker(Clock())
    worker.prepare = lambda problem: 1 / 0
    warm.warm(TRIANGLE, worker, entry(Sampling.ONCE), TRIANGLE.start)
    assert looked == [True]
