"""What a family of problems keeps: one text, one problem; wrong parameters are named."""

from __future__ import annotations

import random
from typing import Any

import numpy as np

from fwbench import catalog, runner
from fwbench.catalog import Choice
from fwbench.choose import resolved
from fwbench.contract.cases import Subject
from fwbench.contract.printed import written_to_stdout
from fwbench.contract.rule import Inapplicable, Rule, Violation
from fwbench.endings import Budget
from fwbench.errors import FwbenchError
from fwbench.problem import QuadraticOverHull

LARGE = 10**7  # numbers: more make every bare run of the family a long one
BAD: dict[Any, tuple[Any, ...]] = {
    int: (-1, 0),
    float: (-1.0, 0.0, float("inf")),
    str: ("", "no such thing"),
}


def _built(subject: Subject, choice: Choice) -> QuadraticOverHull:
    subject.at = choice.label
    return catalog.build_problem(choice)


def instances_are_built(subject: Subject) -> None:
    """Ask that each instance of the grid is a QuadraticOverHull of finite size."""
    for choice in subject.choices:
        made = choice.entry.make(**choice.arguments)
        subject.at = choice.label
        if not isinstance(made, QuadraticOverHull):
            raise Violation("a QuadraticOverHull", repr(made)[:80], "make must return the problem")
        sizes = (made.kind, made.scale, made.radius, made.start.m)
        if not (np.isfinite(made.scale) and np.isfinite(made.radius)):
            raise Violation("a finite scale and radius", f"{sizes}")


def sizes_are_moderate(subject: Subject) -> None:
    """Ask that the instances of the bare name are small enough for every run of it."""
    for choice in subject.choices:
        made = _built(subject, choice)
        if made.n * made.d > LARGE:
            raise Violation(
                f"at most {LARGE:,} coordinates in an instance of the bare name".replace(",", " "),
                f"n = {made.n}, d = {made.d}",
                "smaller defaults; who wants more gives n and d",
                grave=False,
            )


def one_text_is_one_problem(subject: Subject) -> None:
    """Ask that two builds have the same bits, whatever the global generators were before."""
    for choice in subject.choices:
        prints = []
        for seed in (1, 2):
            np.random.seed(seed)  # noqa: NPY002 - a family that draws from it shows
            random.seed(seed)
            prints.append(_built(subject, choice).fingerprint)
        if prints[0] != prints[1]:
            raise Violation(
                "two builds with one fingerprint",
                " and ".join(prints),
                "atoms drawn from np.random or default_rng() without a seed; make `seed` a "
                "parameter, default_rng(seed)",
            )


def seeds_matter(subject: Subject) -> None:
    """Ask that of some instance of the bare name another seed gives another problem."""
    if "seed" not in catalog.parameters(subject.entry.make):
        raise Inapplicable("it has no parameter seed")
    for choice in subject.choices:  # of some, such as a famous example, it need not
        prints = set()
        for seed in (1, 2):
            again = catalog.chosen(choice.source, choice.entry, {**choice.arguments, "seed": seed})
            prints.add(_built(subject, again).fingerprint)
        if len(prints) == 2:
            return
    raise Violation("other problems for seed=1 and seed=2", "the same", "seed is never read")


def wrong_parameters_are_named(subject: Subject) -> None:
    """Ask that parameters out of range raise a FwbenchError, or build a problem."""
    choice = subject.choices[0]
    for key, (kind, _) in catalog.parameters(choice.entry.make).items():
        if key == "seed":  # a negative one is refused before a family sees it
            continue
        for bad in BAD.get(kind, ()):
            arguments = {**choice.arguments, key: bad}
            subject.at = f"{choice.name}[{key}={catalog.written(bad)}]"
            try:
                choice.entry.make(**arguments)
            except FwbenchError as error:
                if len(str(error).split()) < 3:
                    raise Violation("a sentence", repr(str(error))) from error
            except Exception as error:
                raise Violation(
                    "an InvalidParameter that names the parameter, the rule and what came",
                    f"{type(error).__name__}: {error}",
                    "ask before use: if n < 1: raise InvalidParameter(f'…: n must be at least 1; "
                    "got {n}')",
                ) from error
    subject.at = ""


def a_solver_runs(subject: Subject) -> None:
    """Ask that the solver that suits an instance runs on it without a failure."""
    for choice in subject.choices:
        made = _built(subject, choice)
        [auto] = catalog.choices("solvers", "auto")
        suits = resolved(auto, made)
        budget = Budget(max_steps=50, max_seconds=2.0)
        done = runner.run(made, catalog.build_solver(suits), suits.entry, budget)
        if done.status.is_failure:
            raise Violation(
                f"{suits.label} to run on it",
                f"{done.status}: {done.reason}",
                "atoms or Q of sizes whose squares overflow or cancel; rescale",
            )


def building_is_quiet(subject: Subject) -> None:
    """Ask that building prints nothing and moves no global generator."""
    for choice in subject.choices:
        before = repr(np.random.get_state(legacy=False)), repr(random.getstate())  # noqa: NPY002
        with written_to_stdout() as printed:
            _built(subject, choice)
        after = repr(np.random.get_state(legacy=False)), repr(random.getstate())  # noqa: NPY002
        if before != after:
            raise Violation(
                "the global generators as they were",
                "another state",
                "np.random.… or random.… instead of np.random.default_rng(seed)",
            )
        if printed:
            raise Violation(
                "nothing on stdout, which is for results",
                f"{printed[0].strip()[:40]!r}",
                "a print",
                grave=False,
            )


RULES = (
    Rule("builds", "every instance of the bare name is built", instances_are_built),
    Rule("repeatable", "one text is one problem, to the bit", one_text_is_one_problem),
    Rule("seed", "another seed is another problem", seeds_matter),
    Rule("wrong values", "parameters out of range are named", wrong_parameters_are_named),
    Rule("solvable", "the solver that suits it runs", a_solver_runs),
    Rule("quiet", "building prints nothing and moves no generator", building_is_quiet),
    Rule("size", "instances of the bare name are moderate", sizes_are_moderate),
)
