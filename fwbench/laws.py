"""The rates that theory promises, as data: what holds where, and with which constant."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

from fwbench.geometry.forms import Kind

RATES = ("none", "sublinear", "linear", "superlinear", "finite")  # each faster than the last


@dataclass(frozen=True)
class Law:
    """A rate that is promised for f − f* (on fields: for the gap), in the limit of many steps.

    It bounds from above: a run that is faster keeps it.

    Attributes
    ----------
    rate_class : {"sublinear", "linear", "superlinear", "finite"}
    exponent : float or None
        Of a sublinear law: f − f* = O(t^exponent), negative.
    constant : float or None
        Where it is known: f − f* <= constant · D²/(t + 2) from t = 1 on, with D² the largest
        ⟨v_i − v_j, Q(v_i − v_j)⟩.
    optimum : {"interior", None}
        Where the optimum has to lie, relative to the hull; None: anywhere.
    kinds : frozenset of Kind
    where : mapping
        The solver's parameters for which it holds: by name, their canonical texts.
    """

    rate_class: str
    exponent: float | None = None
    constant: float | None = None
    optimum: str | None = None
    kinds: frozenset[Kind] = frozenset({Kind.CONVEX})
    where: Mapping[str, Collection[str]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Refuse what is no law.

        Raises
        ------
        ValueError
            For an unknown class or place, or an exponent that is missing or out of place.
        """
        if self.rate_class not in RATES[1:] or self.optimum not in (None, "interior"):
            raise ValueError(f"no law is {self.rate_class!r} with the optimum {self.optimum!r}")
        right = self.exponent is not None and self.exponent < 0
        if right != (self.rate_class == "sublinear"):
            raise ValueError(f"the exponent of a {self.rate_class} law can't be {self.exponent!r}")

    def concerns(self, kind: Kind, parameters: Mapping[str, str]) -> bool:
        """Say whether it holds for a kind of problem and a solver's parameters, as texts.

        Examples
        --------
        >>> law = Law("linear", where={"step": ("exact",)})
        >>> law.concerns(Kind.CONVEX, {"step": "exact"}), law.concerns(Kind.CONVEX, {})
        (True, False)
        """
        fits = all(parameters.get(name) in texts for name, texts in self.where.items())
        return kind in self.kinds and fits

    def plain(self) -> dict[str, Any]:
        """Return what of it a run's record keeps."""
        names = ("rate_class", "exponent", "constant", "optimum")
        return {name: getattr(self, name) for name in names}


def frank_wolfe_laws(**more: Collection[str]) -> tuple[Law, ...]:
    """Return the laws of steps towards the leader, the most particular first.

    Any growing l in l/(t + l) is sublinear; l = 2 is quadratic around an optimum inside, as a line
    search is linear there (Guélat and Marcotte 1986). The constant is Jaggi's (2013).

    Parameters
    ----------
    **more
        Further parameters of the solver on which they depend.
    """
    classic, searched = {"step": ("open_loop(2)",)} | more, {"step": ("exact",)} | more
    return (
        Law("sublinear", -2.0, 2.0, "interior", where=classic),
        Law("sublinear", -1.0, 2.0, where=classic),
        Law("linear", None, 2.0, "interior", where=searched),
        Law("sublinear", -1.0, 2.0, where=searched),
        Law("linear", optimum="interior", where={"step": ("short", "backtracking")} | more),
        Law("sublinear", -1.0, where={"step": ("short", "backtracking", "log_adaptive")} | more),
    )
