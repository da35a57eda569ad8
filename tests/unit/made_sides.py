"""Sides of a comparison, made by hand: small runs whose outcome is known."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from fwbench.analysis.sides import Run, Side
from fwbench.trace import COLUMNS

FACTS = {
    "created": "2026-01-01T00:00:00+00:00", "suite": "quick@1", "suite_digest": "0",
    "revision": "a" * 40, "dirty": False, "cpu": "fast", "blas": ["openblas"],
    "versions": {"fwbench": "0.1.0", "python": "3.11.7", "numpy": "2.4.0"},
}  # fmt: skip
ROW: dict[str, Any] = {
    "run_id": "0", "problem": "p", "instance": "p[n=3,seed=0]", "instance_label": "p", "n": 3,
    "d": 2, "queries": 1, "kind": "convex", "scale": 1.0, "solver": "s", "params": "step=exact",
    "solver_label": "s", "repetition": 0, "tol": 1e-8, "status": "converged", "steps": 20,
    "reason": "", "value_centred": 0.0, "gap_relative": 5e-9, "fixed_point": "vertex",
    "fixed_point_label": "atom 1", "rate_class": "linear", "host": "one", "threads": 1,
    "seconds": 1e-3, "seconds_from": "run", "setup_seconds": 1e-4, "noisy": False, "shared": False,
    "pass_seconds": 1e-6, "gemv_seconds": 1e-6, "max_steps": 100, "max_seconds": 10.0,
}  # fmt: skip
REST = {"query": 0, "class": "vertex", "label": "atom 1", "certified": True, "value": 0.0}


def trace(
    values: Sequence[float | None],
    *,
    gaps: Sequence[float] | None = None,
    lmo: Sequence[int] | None = None,
    k: Sequence[int] | None = None,
) -> dict[str, list[Any]]:
    """Return a trace with these centred values at k = 0, 1, …; the optimum is 0."""
    count = len(values)
    places = list(range(count)) if k is None else list(k)
    columns: dict[str, list[Any]] = {name: [None] * count for name in (*COLUMNS, "suboptimality")}
    return columns | {
        "k": places,
        "seconds": [1e-6 * place for place in places],
        "value_centred": list(values),
        "value": list(values),
        "suboptimality": list(values),
        "gap": list(gaps or [v if v is not None else 1.0 for v in values]),
        "lower_centred": [0.0] * count,
        "feasibility": [0.0] * count,
        "lmo": list(lmo) if lmo is not None else places,
        "gradient": places,
        "matvec": places,
    }


def falling(factor: float, count: int = 21) -> list[float]:
    """Return values that fall by a factor each step, from 1."""
    return [factor**k for k in range(count)]


def run(values: Sequence[float | None] | None = None, **columns: Any) -> Run:
    """Return a run; columns of its row by name, and of `Run` what else is named so."""
    known = {
        name: columns.pop(name)
        for name in ("trace", "rests", "points", "radius", "graded", "once", "brackets")
        if name in columns
    }
    path = trace(falling(0.4) if values is None else values)
    path = known.pop("trace", path)
    row = ROW | {"value_centred": path["value_centred"][-1]} | columns
    kept = {"trace": path, "graded": True, "rests": (REST,)} | known
    return Run(row, **kept)


def side(*runs: Run, name: str = "side", source: Any = "run folder", **facts: Any) -> Side:
    """Return a side with these runs."""
    return Side(name, source, tuple(runs), FACTS | facts)


def timed(seconds: Iterable[float], **columns: Any) -> list[Run]:
    """Return a run for each repetition, alike but for the seconds."""
    return [
        run(
            run_id=f"{place}", repetition=place, seconds=float(value), setup_seconds=None, **columns
        )
        for place, value in enumerate(seconds)
    ]


def noise(seed: int, count: int = 24, width: float = 0.02) -> np.ndarray[Any, Any]:
    """Return seconds around 1 ms that are now and then longer, never much shorter."""
    rng = np.random.default_rng(seed)
    return 1e-3 * np.exp(np.abs(rng.normal(0.0, width, count)) + (rng.random(count) < 0.1) * 0.3)
