"""An atlas and diagrams made by hand: a hostile name, every kind of end, every kind of part."""

from dataclasses import replace

import numpy as np

from fwbench.analysis.atlas import ELSEWHERE, MOVING, Atlas, Ended, atlas
from fwbench.analysis.diagrams import Diagram, cell_diagram, cone_diagram, power_diagram
from fwbench.analysis.diagrams import quadratic_diagram as quadratic
from fwbench.analysis.findings import Findings

from .made_findings import HOSTILE, empty_findings

ATOMS = np.array([[0.0, 0.0], [6.0, 0.0], [6.0, 6.0], [0.0, 6.0]])
STARTS = np.stack(np.meshgrid(np.arange(1.0, 6.0), np.arange(1.0, 6.0)), axis=-1).reshape(-1, 2)
LABEL = "square[queries=25]"


def made_atlas() -> Atlas:
    """Return the maps of three solvers over 5 × 5 starts."""
    left, low = STARTS[:, 0] < 3, STARTS[:, 1] < 2
    ends = {
        "hardmax_attention": np.where(left, 0, 1),
        "projected_gradient": np.where(left, 0, np.where(low, ELSEWHERE, 2)),
        HOSTILE: np.where(low, MOVING, 1),
    }
    runs = [
        Ended(solver, STARTS, np.where(keys[:, None] >= 0, ATOMS[keys], STARTS), keys)
        for solver, keys in ends.items()
    ]
    found = atlas(LABEL.replace("]", ",seed=0]"), LABEL, ATOMS, 5.0, runs)
    assert found is not None
    return found


def made_diagrams() -> tuple[Diagram, ...]:
    """Return one diagram of each sort."""
    hostile = replace(cell_diagram(5, "vary", True), title=HOSTILE, note=HOSTILE)
    return (hostile, cell_diagram(16, "vary", False), quadratic(5), cone_diagram(7, 0.03),
            power_diagram(5))  # fmt: skip


def plane_findings() -> Findings:
    """Return findings that hold nothing else."""
    return replace(empty_findings(), atlases=(made_atlas(),), diagrams=made_diagrams())
