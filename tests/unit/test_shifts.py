"""Steps of a noisy series, and many run folders laid out in time."""

import numpy as np
import pytest

from fwbench.analysis.chronicle import chronicle
from fwbench.analysis.shifts import shifts

from .made_sides import run, side


def series(*levels, width=0.05, seed=0):
    rng = np.random.default_rng(seed)
    return np.concatenate([level * np.exp(rng.normal(0, width, n)) for level, n in levels])


def test_a_step_is_found_where_it_is():
    [shift] = shifts(series((1.0, 12), (1.3, 12)))
    assert shift.place == 12
    assert shift.ratio == pytest.approx(1.3, rel=0.1)
    assert shift.p <= 0.01


def test_two_steps_are_found():
    assert [s.place for s in shifts(series((1.0, 15), (1.5, 15), (0.9, 15)))] == [15, 30]


def test_no_step_is_found_in_noise_more_often_than_said():
    found = sum(bool(shifts(series((1.0, 16), seed=seed))) for seed in range(100))
    assert found <= 4  # one is expected


def test_one_slow_day_is_no_step():
    values = series((1.0, 20))
    values[[6, 13]] *= 8
    assert shifts(values) == []


@pytest.mark.parametrize(
    "values", [[], [1.0], [1.0] * 30, [1.0, 2.0], series((1.0, 20), (1.01, 20), width=1e-4)]
)
def test_nothing_to_step(values):
    assert shifts(values) == []


def days(count=24, **later):
    """Return run folders of as many days; from the middle on with these columns."""
    rng = np.random.default_rng(0)
    for day in range(count):
        columns = later if day >= count // 2 else {}
        factor = columns.get("factor", 1.0) * np.exp(rng.normal(0, 0.02))
        rest = {name: value for name, value in columns.items() if name != "factor"}
        made = run(seconds=1e-3 * factor, **rest)
        yield side(made, name=f"run-{day}", created=f"2026-01-{day + 1:02d}T00:00:00")


def test_steps_of_seconds_and_changes_of_exact_quantities_are_told():
    made = chronicle(list(days(factor=1.2, steps=25, fixed_point="face"))[::-1])
    assert [station.name for station in made.stations] == [f"run-{day}" for day in range(24)]
    assert {(step.quantity, step.station) for step in made.steps} == {
        ("seconds", 12), ("steps", 12), ("fixed point", 12)
    }  # fmt: skip
    [seconds] = [step for step in made.steps if step.quantity == "seconds"]
    assert seconds.p <= 0.01
    assert seconds.after / seconds.before == pytest.approx(1.2, rel=0.03)


def test_seconds_of_unlike_machines_make_lines_of_their_own():
    made = chronicle(days(factor=3.0, host="two"))
    lines = [line for line in made.lines if line.quantity == "seconds"]
    assert sorted(line.machine.split(",")[0] for line in lines) == ["one", "two"]
    assert made.steps == ()
    [steps] = [line for line in made.lines if line.quantity == "steps"]
    assert len(steps.values) == 24


def test_no_step_is_read_off_where_the_machine_was_not_quiet():
    made = chronicle(days(factor=3.0, noisy=True))
    assert made.steps == ()
    [line] = [line for line in made.lines if line.quantity == "seconds"]
    assert line.quiet == (True,) * 12 + (False,) * 12
