import os

import numpy as np
import pytest

from fwbench.quietness import CURES, LIMITS, judged, measure


def samples(count=1000):
    return 1e-3 * (1 + 0.01 * np.random.default_rng(0).random(count))


def test_even_samples_are_quiet():
    found = judged(samples(), 0.1, 0.0, 0.0)
    assert found.quiet
    assert found.beyond == []
    assert found.median == pytest.approx(1.005e-3, rel=1e-3)
    assert 1 <= found.spread < 1.01
    assert found.as_dict()["verdict"] == "quiet"


@pytest.mark.parametrize("name", LIMITS)
def test_each_disturbance_is_named(name):
    times, load, stolen, waited = samples(), 0.1, 0.0, 0.0
    match name:
        case "spread":
            times[::10] *= 1.2
        case "slow":
            times[::50] *= 2
        case "drift":
            times[500:] *= 1.15
        case "load":
            load = 0.9
        case "stolen":
            stolen = 0.05
        case "waited":
            waited = 0.05
    found = judged(times, load, stolen, waited)
    assert found.beyond == [name]
    assert not found.quiet
    assert "quiet is at most" in found.reason(name)
    assert CURES[name]


def test_an_unknown_load_is_no_reason():
    assert judged(samples(), None, 0.0, 0.0).quiet


def test_a_measurement_takes_samples_on_one_core_and_gives_the_others_back():
    before = os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else None
    found = measure(0.05)
    assert found.samples >= 10
    assert 1e-5 < found.median < 1
    assert found.spread >= 1
    assert found.drift >= 1
    assert 0 <= found.slow <= 1
    if before is not None:
        assert os.sched_getaffinity(0) == before
