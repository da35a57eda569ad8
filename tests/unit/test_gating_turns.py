"""Pairs of two processes: who is asked when, and what becomes of a side that cannot."""

from itertools import pairwise

import numpy as np
import pytest

from fwbench.analysis.changes import Pace
from fwbench.gating import decisions, turns
from fwbench.gating.turns import measured

from .made_gating import cell, codes

SITTINGS, EACH = 2, 4


@pytest.fixture
def pair(tmp_path, monkeypatch):
    """Two versions of the code, and measurements of few pairs."""
    monkeypatch.setattr(turns, "SITTINGS", SITTINGS)
    monkeypatch.setattr(turns, "EACH", EACH)
    monkeypatch.setattr(turns, "LEAST_SECONDS", 0.0)
    return codes(tmp_path)


def once(monkeypatch):
    """Let the first look be the last."""

    def look(cells):
        decisions.look(cells)
        for one in cells:
            one.reason = one.reason or ("" if one.pace else "enough for a test")

    monkeypatch.setattr(turns, "look", look)


def test_both_sides_take_turns_and_a_side_that_cannot_costs_its_cell_alone(
    pair, tmp_path, monkeypatch
):
    once(monkeypatch)
    cells = [cell("counts"), cell("raises"), cell("ends"), cell("again")]
    said = []
    found = measured(*pair, cells, 600.0, np.random.default_rng(0), said.append)
    assert len(said) == 1
    assert [timing.run for timing in found] == [one.run for one in cells]
    assert [timing.pairs for timing in found] == [SITTINGS * EACH, 0, 0, SITTINGS * EACH]
    for timing in (found[0], found[3]):
        assert timing.base > 0
        assert timing.new > 0
        assert timing.pace in Pace
    for timing in found[1:3]:
        assert timing.pace is Pace.INCONCLUSIVE
    assert found[1].reason == "the new side: RuntimeError: no step for you"
    assert "the process of the new side ended with exit code 7" in found[2].reason

    lines = [line.split() for line in (tmp_path / "log").read_text().splitlines()]
    processes = list(dict.fromkeys(process for _, process, _ in lines))
    last = processes[-2:]  # of the last sitting
    assert len({seed for _, process, seed in lines if process in last}) == 2
    # the three calls of a measurement follow each other
    order = [
        (name, process)
        for name, process, _ in [line for line in lines if line[1] in last][-2 * 2 * EACH * 3 :: 3]
    ]
    assert len(order) == 2 * 2 * EACH
    for (name, first), (other, second) in zip(order[::2], order[1::2], strict=True):
        assert name == other
        assert first != second


def test_the_order_is_drawn(pair, tmp_path, monkeypatch):
    """Neither a side nor a cell is always the first."""
    once(monkeypatch)
    monkeypatch.setattr(turns, "SITTINGS", 1)
    monkeypatch.setattr(turns, "EACH", 24)
    measured(*pair, [cell("counts"), cell("again")], 600.0, np.random.default_rng(3))
    lines = [line.split()[:2] for line in (tmp_path / "log").read_text().splitlines()]
    order = [tuple(line) for line in lines[-24 * 2 * 2 * 3 :: 3]]
    firsts = order[::2]
    assert 10 < sum(process == firsts[0][1] for _, process in firsts) < 38
    assert 4 < sum(a[0] == "again" for a in firsts[::2]) < 20
    assert len({(a[0], b[0]) for a, b in pairwise(firsts)}) > 2


def test_a_side_that_hangs_is_ended_and_the_rest_goes_on(pair, monkeypatch):
    once(monkeypatch)
    monkeypatch.setattr(turns, "SITTINGS", 1)
    monkeypatch.setattr(turns, "LOAD_SECONDS", 4.0)
    cells = [cell("hangs", max_seconds=0.0), cell("counts", max_seconds=100.0)]
    found = measured(*pair, cells, 600.0, np.random.default_rng(0))
    assert found[0].reason == "the new side did not answer within 4 s"
    assert found[1].pairs == EACH


def test_a_budget_that_is_too_small_is_said(pair):
    [found] = measured(*pair, [cell()], 0.0, np.random.default_rng(0))
    assert (found.pace, found.pairs) == (Pace.INCONCLUSIVE, 0)
    assert found.reason == "the 0 s for all timings are too few for a measurement"


def test_the_dearest_cells_are_given_up_first(pair):
    some = turns._Turns(pair, 100.0, np.random.default_rng(0))
    cheap, dear, dearer = (turns._Measured(decisions.Evidence(cell()), 3, cost)
                           for cost in (0.1, 5.0, 90.0))  # fmt: skip
    assert some._affordable([dearer, cheap, dear], SITTINGS, 1.0) == [cheap, dear]
    assert "takes about 2160 s" in dearer.evidence.reason.replace("take about", "takes about")
    assert not cheap.evidence.reason


def test_nothing_to_time_starts_nothing(pair):
    assert measured(*pair, [], 10.0, np.random.default_rng(0)) == ()
