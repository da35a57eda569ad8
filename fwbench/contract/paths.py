"""How the state of a solver moves: a semigroup, repeatable, from nothing but the state itself."""

from __future__ import annotations

import copy
import pickle
from itertools import pairwise
from typing import Any

import numpy as np

from fwbench.contract.cases import Case, Subject, bits
from fwbench.contract.rule import Inapplicable, Rule, Violation
from fwbench.solver import Sampling

NAMES = ("steps", "done", "claim", "counters", "points", "exact points", "weights")
FEW = 12  # steps where a few will do
COUNTERS = frozenset({"lmo", "gradient", "matvec", "fw", "away", "pairwise", "drop"})


def difference(first: tuple[Any, ...], second: tuple[Any, ...]) -> str:
    """Return in words what differs between the bits of two states, or "".

    Examples
    --------
    >>> same = (3, False, None, None, np.zeros(2).tobytes(), None, None)
    >>> difference(same, same)
    ''
    >>> difference(same, (4, *same[1:]))
    'steps 3 and 4'
    """
    for name, a, b in zip(NAMES, first, second, strict=True):
        if a == b:
            continue
        if name == "points" and len(a) == len(b):
            with np.errstate(invalid="ignore"):  # what is not finite differs too
                apart = np.abs(np.frombuffer(a) - np.frombuffer(b)).max()
            return f"points that differ by {apart:.2g}"
        if name in ("points", "exact points", "weights"):
            return f"other {name}"
        return f"{name} {a} and {b}"
    return ""


def a_run_may_be_cut(subject: Subject) -> None:
    """Ask that two calls, for a and for b steps, leave the bits of one call for a + b."""
    if subject.entry.sampling is Sampling.RERUN:
        raise Inapplicable("it is run from scratch for each number of steps")
    for case in subject.cases():
        long = subject.steps(case)
        solver, model, whole = case.begun()
        solver.advance(model, whole, long)
        cuts = np.sort(np.random.default_rng(0).integers(0, long + 1, 4))
        parts = [int(part) for part in np.diff([0, *cuts, long])]
        cut = solver.init(model, case.start)
        for steps in parts:
            solver.advance(model, cut, steps)
            cut.points(), cut.weights()  # a look changes nothing
        if apart := difference(bits(whole), bits(cut)):
            raise Violation(
                f"advance({long}) and advance of {', '.join(map(str, parts))} steps to leave the "
                "same bits",
                apart,
                "advance counts from 0 in each call instead of from state.steps, or keeps "
                "momentum or a random generator outside of the state",
            )


def steps_are_counted(subject: Subject) -> None:
    """Ask that a state begins at 0, not done, and takes what is asked unless it is done."""
    for case in subject.cases():
        solver, model, state = case.begun()
        begun = (state.steps, state.done, state.claim)
        if begun != (0, False, None):
            raise Violation("steps 0, done False, claim None from init", f"{begun}")
        solver.advance(model, state, 0)
        if state.steps != 0:
            raise Violation("advance(0) to take no step", f"steps {state.steps}")
        asked = 0
        for steps in (1, 2, FEW):
            if state.done:
                break
            if subject.entry.sampling is not Sampling.ADVANCE:
                state, asked = solver.init(model, case.start), 0
            asked += steps
            solver.advance(model, state, steps)
            _counted(state, asked, subject.entry.sampling)


def _counted(state: Any, asked: int, sampling: Sampling) -> None:
    if not isinstance(state.steps, int | np.integer) or not isinstance(state.done, bool | np.bool_):
        raise Violation("steps an int and done a bool", f"{state.steps!r} and {state.done!r}")
    if state.claim not in (None, "optimal"):
        raise Violation("claim to be None or 'optimal'", repr(state.claim))
    if sampling is Sampling.ONCE:
        if not state.done:
            raise Violation("a direct method to be done after its one step", "done False")
        return
    if state.steps > asked or (state.steps < asked and not state.done):
        raise Violation(
            f"steps {asked} after as many were asked, or fewer and done",
            f"steps {state.steps}, done {state.done}",
            "state.steps += steps is missing, or stands inside the loop",
        )


def a_run_repeats(subject: Subject) -> None:
    """Ask that two new solvers of the same parameters, seeds included, take the same path."""
    for case in subject.cases():
        ends = []
        for _ in "ab":
            solver, model, state = case.begun()
            solver.advance(model, state, min(subject.steps(case), 40))
            ends.append(bits(state))
        if apart := difference(*ends):
            raise Violation(
                "two runs with the same parameters to leave the same bits",
                apart,
                "a random step draws from a generator that no seed fixes, an array from np.empty "
                "is read before it is written, or something outlives a run",
            )


def nothing_outlives_a_run(subject: Subject) -> None:
    """Ask that a run leaves nothing behind in the solver, its module or the model."""
    cases = list(subject.cases())
    for case, other in pairwise([*cases, *cases[:1]]):
        subject.at = case.called
        same = case.choice is other.choice  # else it is the last problem of its variant
        _unmoved(case, other if same else case, min(subject.steps(case), 40))
    subject.at = ""


def _unmoved(case: Case, other: Case, steps: int) -> None:
    """Run a case, then others by the same solver object, then the first again."""
    one = case.one
    solver = case.lifted(one)
    before, model = repr(one), solver.prepare(case.problem)

    def end(model: Any) -> tuple[Any, ...]:
        state = solver.init(model, case.start)
        solver.advance(model, state, steps)
        return bits(state)

    first = end(model)
    if before != repr(one):
        raise Violation(f"the solver to stay {before}", repr(one), "what moves is of the state")
    if apart := difference(first, end(model)):
        raise Violation(
            "a second run on the same model to leave the same bits",
            apart,
            "advance writes into the model, the solver or its module, or init hands out the "
            "model's arrays without a copy",
        )
    beyond = other.lifted(one)
    there = beyond.prepare(other.problem)
    beyond.advance(there, beyond.init(there, other.start), steps)
    if apart := difference(first, end(solver.prepare(case.problem))):
        raise Violation(
            "a run to leave the same bits after a run on another problem",
            apart,
            "a list, a dict or a generator of the class or the module is written during a run",
        )


def a_state_is_data(subject: Subject) -> None:
    """Ask that a state can be copied and pickled, and that a copy goes on by itself."""
    for case in subject.cases():
        solver, model, state = case.begun()
        half = min(subject.steps(case), FEW)
        solver.advance(model, state, half)
        for how, twin in (
            ("copy.deepcopy", copy.deepcopy(state)),
            ("pickle", pickle.loads(pickle.dumps(state))),
        ):
            begun = bits(state)
            if apart := difference(begun, bits(twin)):
                raise Violation(f"a state back from {how} as it was", apart)
            solver.advance(model, twin, half)
            if apart := difference(begun, bits(state)):
                raise Violation(
                    f"a state to stay while its copy from {how} moves on",
                    apart,
                    "states share an array of the model, the class or the module",
                )
        if subject.entry.sampling is Sampling.RERUN:
            continue
        solver.advance(model, state, half)
        if apart := difference(bits(state), bits(twin)):
            raise Violation(
                "a copy to go on as the state that it copies",
                apart,
                "what advance needs lies outside of the state: a cache, a generator, an identity",
            )


def counters_rise(subject: Subject) -> None:
    """Ask that counters are whole numbers under known names, and never fall."""
    kept = False
    for case in subject.cases():
        solver, model, state = case.begun()
        before: dict[str, Any] = {}
        for _ in range(4):
            solver.advance(model, state, 3)
            counters = getattr(state, "counters", None)
            if counters is None:
                break
            kept = True
            if strange := sorted(set(counters) - COUNTERS):
                raise Violation(f"counters among {', '.join(sorted(COUNTERS))}", ", ".join(strange))
            for name, count in counters.items():
                if not isinstance(count, int | np.integer) or count < 0:
                    raise Violation(f"{name} to be a whole number", repr(count))
                if count < before.get(name, 0):
                    raise Violation(f"{name} not to fall", f"{before[name]}, then {count}")
            before = dict(counters)
            if state.done or subject.entry.sampling is not Sampling.ADVANCE:
                break
    if not kept:
        raise Inapplicable("its states keep no counters")


RULES = (
    Rule("steps", "steps, done and claim are kept as the runner reads them", steps_are_counted),
    Rule("stateless", "nothing outlives a run", nothing_outlives_a_run),
    Rule("repeatable", "two runs leave the same bits", a_run_repeats),
    Rule("semigroup", "advance by a, then by b, is advance by a + b", a_run_may_be_cut),
    Rule("copies", "a state can be copied and pickled", a_state_is_data),
    Rule("counters", "counters are whole numbers that never fall", counters_rise),
)
