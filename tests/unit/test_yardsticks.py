import numpy as np
import pytest

from fwbench import yardsticks as module
from fwbench.problem import QuadraticOverHull
from fwbench.yardsticks import yardsticks


@pytest.mark.parametrize(
    ("shape", "wide"), [((1, 1), False), ((513, 3), False), ((40, 40), False), ((5, 90), True)]
)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_all_that_is_measured_has_a_time(shape, wide, dtype):
    atoms = np.random.default_rng(0).standard_normal(shape).astype(dtype)
    found = yardsticks(QuadraticOverHull(atoms))
    assert list(found) == ["pass_seconds", "gemv_seconds", "gram_seconds"]
    assert found["pass_seconds"] > 0
    assert found["gemv_seconds"] > 0
    assert (found["gram_seconds"] is not None) == wide


def test_a_median_is_taken_after_one_call_that_warms_up(monkeypatch):
    # starts and ends of calls of 1, 100 and 3 ms; they fill the time, so the fourth is never made
    ticks = iter(np.cumsum([0, 1e6, 0, 1e8, 0, 3e6, 0, 6e6]).astype(int).tolist())
    monkeypatch.setattr(module, "perf_counter_ns", lambda: next(ticks))
    calls = []
    assert module._median(lambda: calls.append(1)) == pytest.approx(3e-3)
    assert len(calls) == 4
