from dataclasses import replace

import numpy as np
import pytest

from fwbench.analysis.findings import Findings
from fwbench.report import selection
from fwbench.report.words import styles

from .made_findings import HOSTILE, empty_findings, frame


def place(target: float, solver: str | None, instance: str = "a") -> dict[str, object]:
    return {"instance": instance, "measure": "gap", "target": target, "solver_label": solver}


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        ([place(1e-2, "s"), place(1e-4, "s"), place(1e-6, None)], 1e-4),
        ([place(1e-6, None), place(1e-2, None)], 1e-2),
        ([place(1e-12, "s")], 1e-12),
    ],
)
def test_tightest_is_the_smallest_that_was_reached(
    rows: list[dict[str, object]], expected: float
) -> None:
    made = replace(empty_findings(), winners=frame("winners", rows))
    assert [row["target"] for row in selection.winners(made)] == [expected]


def test_skipped_runs_are_counted_by_reason(findings: Findings) -> None:
    assert dict(selection.skipped(findings)) == {
        "cvxpy_reference runs on convex kinds only": 3,
        "projected_gradient runs on convex kinds, this is concave": 2,
        "an exact step needs an f; this is a field": 1,
    }


def test_what_nobody_asked_for_is_not_unanswered(findings: Findings) -> None:
    runs = findings.runs.assign(library="osqp 1.0", gap_relative=1e-3, tol=1e-8)
    assert len(selection.unanswered(replace(findings, runs=runs))) == len(runs)
    runs.loc[runs.index[0], "tol"] = np.nan  # not in the plan
    assert len(selection.unanswered(replace(findings, runs=runs))) == len(runs) - 1


def test_queries_that_rest_alike_share_a_row(findings: Findings) -> None:
    rows = [
        row
        for row in selection.rests(findings)
        if row["run"]["instance_label"] == "polygon[k=7]"
        and row["run"]["solver_label"] == "away_steps"
    ]
    assert [(row["certified"], row["queries"]) for row in rows] == [(True, 5), (False, 1)]
    assert rows[0]["labels"] == "atom 0, atom 1 (2 queries), atom 2, atom 3"


def test_agreement_lists_the_pairs_that_differ(findings: Findings) -> None:
    apart = {group.label: group.apart for group in selection.agreements(findings)}
    assert [len(rows) for rows in apart.values()] == [0, 0, 3, 0, 0, 0]
    polygon = selection.agreements(findings)[2]
    assert polygon.cells["away_steps", HOSTILE] is polygon.cells[HOSTILE, "away_steps"]


def test_solvers_look_all_different_and_do_not_depend_on_order() -> None:
    labels = [f"solver {i}" for i in range(210)]
    looks = styles(labels)
    assert len(set(looks.values())) == 210
    assert styles(reversed(labels)) == looks


def test_a_picture_shows_half_a_hull_beyond_it_and_no_more(findings: Findings) -> None:
    picture = findings.pictures[0]
    low, high = picture.hull.min(axis=0), picture.hull.max(axis=0)
    wide = high - low
    inside = np.array([[low, high]])
    far = np.array([[low, [np.inf, 1e9]]])
    near, wild = (
        selection.window(replace(picture, paths=(("s", points),))) for points in (inside, far)
    )
    np.testing.assert_allclose(near, np.stack([low - 0.08 * wide, high + 0.08 * wide], axis=1))
    assert wild == near  # a point that is not finite is none
    off = np.array([[low, high + 100 * wide]])
    beyond = np.array(selection.window(replace(picture, paths=(("s", off),))))
    np.testing.assert_allclose(beyond[:, 1], high + (0.5 + 0.08 * 1.5) * wide)


def test_of_repetitions_the_first_is_drawn(findings: Findings) -> None:
    runs = findings.runs.copy()
    before = len(selection.curves(findings))
    drawn = runs["run_id"].isin(findings.trace["run_id"])
    runs.loc[drawn.idxmax(), "repetition"] = 1
    assert len(selection.curves(replace(findings, runs=runs))) == before - 1
