"""The ratio table, at sizes at which its numbers mean nothing: so that it cannot rot."""

import pytest

from . import ratios, turns

ROWS = {
    "against_cvxpy": 3,
    "against_duals": 4,
    "against_nnls": 2,
    "in_passes": 8,
    "cached_steps": 3,
    "wide": 1,
    "recording": 2,
    "choosing": 1,
    "memory": 2,
}


@pytest.mark.parametrize("part", ratios.PARTS, ids=lambda part: part.__name__)
@pytest.mark.slow
def test_every_part_of_the_table_is_measured(part, capsys):
    if part.__name__ in ("against_duals", "against_nnls"):
        pytest.importorskip("daqp", reason="the extra `peers` is not installed")
    ratios.main(["--quick", "--only", part.__name__])
    head, line, *rows = capsys.readouterr().out.splitlines()
    assert (head.count("|"), set(line)) == (7, {"|", "-"})
    assert len(rows) == ROWS[part.__name__]
    for row in rows:
        what, where, bound, measured, met, how = row.strip("| ").split(" | ")
        assert all((what, where, how))
        assert float(measured) >= 0
        assert met in ("yes", "**no**", "printed")
        assert (bound == "") == (met == "printed")


def test_all_parts_are_tried():
    assert [part.__name__ for part in ratios.PARTS] == list(ROWS)


@pytest.mark.parametrize(
    ("bounds", "measured", "met"),
    [
        ({"at_least": 3.0}, 3.0, "yes"),
        ({"at_least": 3.0}, 2.9, "**no**"),
        ({"at_most": 3.0}, 3.0, "yes"),
        ({"at_most": 3.0}, 3.1, "**no**"),
        ({}, 3.0, "printed"),
        ({"at_most": 3.0}, None, "not measured"),
    ],
)
def test_a_bound_is_kept_or_not(bounds, measured, met):
    line = ratios.Line("what", "where", measured, "how", **bounds)
    assert line.met == met
    assert f"| {met} |" in str(line)


def test_calls_take_turns_until_their_time_is_spent(monkeypatch):
    order = []
    monkeypatch.setattr(turns, "seconds", lambda call: call())
    calls = {"long": lambda: order.append("long") or 4.0, "short": lambda: order.append("s") or 1.0}
    assert turns.Turns(rounds=4, seconds=6.0).medians(calls) == {"long": 4.0, "short": 1.0}
    assert order == ["long", "s", "long", "s", "s", "s"]
