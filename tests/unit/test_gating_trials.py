"""Trials of the gate: what they come to, and a few real ones."""

import json

import numpy as np
import pytest

from fwbench.analysis.changes import Pace
from fwbench.errors import UnknownName
from fwbench.gating import trials, turns
from fwbench.gating.power import Table, Trial
from fwbench.gating.trials import aa, cell

from .made_gating import INSTANCE, codes


def made(slowdown, slower, others, pace=Pace.SAME):
    some = [Trial(slowdown, Pace.SLOWER, 1.1, 48, "", 8.0)] * slower
    return [*some, *[Trial(slowdown, pace, 1.0, 24, "", 4.0)] * others]


def table(*groups):
    return Table("p", "s", 100, tuple(trial for group in groups for trial in group))


def test_the_table_counts_false_alarms_and_power():
    found = table(made(0.05, 20, 20), made(0.0, 0, 150), made(0.1, 39, 1))
    assert [row.slowdown for row in found.rows] == [0.0, 0.05, 0.1]
    assert [row.alarms for row in found.rows] == [0, 20, 39]
    assert found.false_alarms == 0
    assert found.rows[0].interval.high == pytest.approx(0.0243, abs=2e-4)
    assert found.smallest == pytest.approx(0.05 + 0.3 / 0.475 * 0.05)
    assert "False alarms: 0 of 150 trials of the same code, at most 2.4 %" in found.text
    assert "| +10 % | 40 | 39 | 0 | 1 | 0 | 98 % [87, 100] | 1.100 | 8.0, 8.0 |" in found.text
    assert "about 8.2 %, interpolated between those tried" in found.text


def test_what_is_called_faster_is_a_false_alarm_too():
    found = table(made(0.0, 1, 8), [Trial(0.0, Pace.FASTER, 0.9, 48, "", 8.0)])
    assert found.false_alarms == 2


def test_where_no_slowdown_is_found_there_is_no_smallest():
    found = table(made(0.0, 0, 10), made(0.1, 3, 7, Pace.INCONCLUSIVE))
    assert found.smallest is None
    assert "No slowdown that was tried" in found.text


def test_it_is_plain_data_too():
    found = json.loads(json.dumps(table(made(0.0, 0, 1)).document()))
    assert found["trials"] == [
        {"slowdown": 0.0, "pace": "same", "ratio": 1.0, "pairs": 24, "reason": "", "seconds": 4.0}
    ]


def test_a_cell_by_texts():
    found = cell("polygon[k=5]", "osqp_admm")
    assert (found.base.problem, found.base.solver) == ("polygon[k=5]", "osqp_admm")
    assert found.base.steps == trials.LIMIT
    assert cell("polygon[k=5]", "cvxpy_reference").base.steps == 1
    assert cell("polygon[k=5,6]", "frank_wolfe").base.problem.startswith("polygon[k=5")
    with pytest.raises(UnknownName):
        cell("polygon", "nobody")


def test_real_trials_of_the_same_code_and_of_busy_work(tmp_path, monkeypatch):
    """What the clock shows is not asked here; `make bench-gate` does."""
    monkeypatch.setattr(turns, "SITTINGS", 1)
    monkeypatch.setattr(trials, "READINGS", 3)
    tasks, measured = [], trials.measured

    def watched(base, new, cells, seconds, rng):
        tasks.append((cells[0].base.busy, cells[0].new.busy))
        return measured(base, new, cells, seconds, rng)

    monkeypatch.setattr(trials, "measured", watched)
    said = []
    found = aa(
        *codes(tmp_path), cell(INSTANCE, "frank_wolfe[step=exact]", 50), 1,
        np.random.default_rng(0), slowed=1, slowdowns=(0.5,), seconds=3.0, told=said.append,
    )  # fmt: skip
    assert len(said) == 2
    assert sorted(trial.slowdown for trial in found.trials) == [0.0, 0.5]
    for trial in found.trials:
        assert trial.pairs > 0 or trial.reason
        assert trial.pace in Pace
    for trial, (base, new) in zip(found.trials, tasks, strict=True):
        assert (base.chunk, base.spins) == (new.chunk, 0) == (5, 0)
        assert (new.spins > 0) == (trial.slowdown > 0)
