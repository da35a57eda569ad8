"""How far attention layers go: by a step rule, or by value matrices V; and what they refuse."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from fwbench.errors import InvalidParameter
from fwbench.kernels.line import GIVEN
from fwbench.problem import QuadraticOverHull
from fwbench.schedules import Factors
from fwbench.steps import Constant, StepRule, unfit
from fwbench.values import Values


def checked(
    step: StepRule, usual: StepRule, values: Values, scores: Factors, *, normalised: bool
) -> None:
    """Check that the parameters of a layer go together: it is told once how far to go.

    Raises
    ------
    InvalidParameter
        Values and a step are given, or neither of them for a layer that is not normalised; I + V
        is singular; a step searches along f, which is not what the scores are made of.
    """
    if step.code != GIVEN and not scores.ones:
        raise InvalidParameter(
            f"step={step.text} searches along f, and scores={scores.text} are not those of f; "
            "take a step whose lengths are known in advance"
        )
    if not values:
        if not normalised:
            raise InvalidParameter(
                "normalised=false is the layer x + V a, so V must be given; a step 1/3 is "
                "values=0.5 of a normalised layer (h/(1 + h) with h = 0.5)"
            )
    elif step != usual:
        raise InvalidParameter(
            f"values={values.text} and step={step.text}: V says how far a layer goes, and so does "
            "the step; give one of them (V = hI is the step h/(1 + h))"
        )
    elif normalised:
        values.step_matrix()


def leaving(values: Values, *, normalised: bool) -> bool:
    """Say whether a layer may carry points out of the hull: all but steps h/(1 + h) do."""
    h = values.scalar
    return bool(values) and not (normalised and h is not None and h > 0)


def rule_of(step: StepRule, values: Values, *, normalised: bool) -> StepRule:
    """Return the step rule that a layer follows: that of V = hI, else the one given."""
    h = values.scalar
    if h is None or leaving(values, normalised=normalised):
        return step
    return Constant(h / (1 + h))


def unfit_layer(
    rule: StepRule,
    values: Values,
    scores: Factors,
    problem: QuadraticOverHull,
    *,
    exact: bool = False,
) -> str | None:
    """Return why a layer cannot run on a problem, or None."""
    kind = problem.kind
    if (reason := values.misfit(problem.d) or scores.misfit(problem.d)) is not None:
        return f"{reason} on this {kind} problem"
    if exact and not scores.rational:
        return f"scores={scores.text} is not rational, and this run on a {kind} problem is exact"
    return unfit(rule, kind, exact=exact)


def matrix_of(values: Values, *, normalised: bool) -> NDArray[Any] | None:
    """Return the matrix of steps that may leave the hull, as Fractions; None for scalar steps."""
    if not leaving(values, normalised=normalised):
        return None
    return values.step_matrix() if normalised else values.matrix()
