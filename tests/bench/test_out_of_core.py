"""The solve in bounded memory, at a size at which its numbers mean nothing: so it cannot rot."""

import numpy as np
import pytest

import fwbench as fw

from . import out_of_core


@pytest.mark.parametrize("source", out_of_core.ROOM)
def test_what_a_solve_took_is_told(tmp_path, monkeypatch, source):
    monkeypatch.setattr(out_of_core, "confine", lambda room: None)  # this process goes on
    out_of_core.write(tmp_path, 4000)
    found = out_of_core.solve(tmp_path, source)
    atoms = np.concatenate([np.load(path) for path in sorted(tmp_path.glob("*.npy"))])
    assert found["n"] == len(atoms) == 4000
    np.testing.assert_allclose(found["x"], fw.solve(fw.QuadraticOverHull(atoms)).x, atol=1e-9)
    told = out_of_core.shown(found)
    assert told.startswith(f"{source}: converged by working_set")
    assert "1 mean, 1 extent" in told
