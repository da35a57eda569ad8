"""The table of layers, at sizes at which its numbers mean nothing: so that it cannot rot."""

import pytest

from . import layers

ROWS = {"hardmax": 4, "plane": 1, "softmax": 4, "jump": 1, "million": 6, "memory": 1}


@pytest.mark.parametrize("part", layers.PARTS, ids=lambda part: part.__name__)
@pytest.mark.parametrize("torch", ["as it is", "absent"])
def test_every_part_of_the_table_is_measured(part, torch, capsys, monkeypatch):
    absent = torch == "absent"
    if absent:
        if part.__name__ not in ("hardmax", "softmax"):
            pytest.skip("this part compares with nobody else")
        monkeypatch.setattr(layers, "find_spec", lambda name: None)
    layers.main(["--quick", "--only", part.__name__])
    head, line, *rows = capsys.readouterr().out.splitlines()
    assert (head.count("|"), set(line)) == (7, {"|", "-"})
    assert len(rows) == ROWS[part.__name__]
    for row in rows:
        what, where, bound, measured, met, how = row.strip("| ").split(" | ")
        assert all((what, where, bound, how))
        if met == "not measured":
            assert "torch not installed" in how
            assert measured == "–"
        else:
            assert float(measured) >= 0
            assert met in ("yes", "**no**")
            assert not (absent and "torch" in what)


def test_all_parts_are_tried():
    assert [part.__name__ for part in layers.PARTS] == list(ROWS)
