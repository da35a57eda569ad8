import numpy as np
import pytest

from fwbench.analysis.fits import law

K = np.arange(1, 201, dtype=float)


@pytest.mark.parametrize(
    ("name", "rate", "signal"),
    [
        ("sublinear", -1.5, 7.0 * K**-1.5),
        ("linear", 0.9, 3.0 * 0.9**K),
        ("superlinear", 1.02, np.exp(2.0 - 0.5 * 1.02**K)),
    ],
)
def test_a_law_is_drawn_through_its_own_trace(name, rate, signal):
    outside = np.where((K >= 20) & (K <= 90), signal, 1e9)  # the window alone counts
    steps, values = law(K, outside, name, rate, 20, 90)
    assert (steps[0], steps[-1]) == (20, 90)
    assert values == pytest.approx(np.exp(np.interp(steps, K, np.log(signal))), rel=1e-2)


def test_what_no_law_is_known_of_is_not_drawn():
    for name, rate in (("finite", 5.0), ("none", np.nan), ("linear", np.nan), ("linear", -1.0)):
        assert [len(part) for part in law(K, 1 / K, name, rate, 1, 200)] == [0, 0]
    assert len(law(K, np.zeros(200), "sublinear", -1.0, 1, 200)[0]) == 0
