"""Where solvers rest, and who rests where others do: made ends, and a run folder."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

import fwbench as fw
from fwbench.analysis.meetings import (
    COUNTS,
    PLACES,
    End,
    agreement,
    meetings,
    neighbourhood,
    overall,
    places,
)
from fwbench.findings import build
from fwbench.reading import record_fault
from fwbench.store import RunFolder

POLYGON = "polygon[k=7,norms=vary,queries=6]"


def end(solver, x, *, resting=None, **known):
    """Return a run that ended at points on a line, or in the plane."""
    points = np.asarray(x, dtype=float)
    points = np.column_stack([points, np.zeros(len(points))]) if points.ndim == 1 else points
    m = len(points)
    usual = {
        "run_id": solver, "moving": False, "starts": None, "vertex": np.ones(m, dtype=bool),
        "values": np.zeros(m), "supports": None,
    }  # fmt: skip
    at_rest = np.ones(m, dtype=bool) if resting is None else np.array(resting)
    return End(solver=solver, points=points, resting=at_rest, **(usual | known))


def met(a, b, radius=1.0, scale=1.0):
    [row] = meetings([a, b], radius, scale)
    return row


def test_points_that_no_number_tells_apart_are_no_places():
    assert places([end("a", [0.0, 1.0])], 5e-324)[0].tolist() == [-1, -1]


# -- two solvers ---------------------------------------------------------------------------------


def test_rests_are_the_same_near_or_apart():
    a = end("a", [0.0, 0.0, 0.0, 0.0, 0.0])
    b = end("b", [0.0, 9e-5, 2e-4, 9e-4, 2e-3])
    row = met(a, b)
    assert [row[name] for name in COUNTS] == [5, 5, 2, 2, 1, 0, 0]
    assert row["distance"] == pytest.approx(2e-3)
    assert met(a, b, radius=10.0)["same"] == 4  # distances are relative


def test_a_run_that_moves_meets_nobody():
    a, b = end("a", [0.0, 0.0], resting=[True, False]), end("b", [0.0, 0.0])
    assert [met(a, b)[name] for name in ("starts", "resting", "same")] == [2, 1, 1]
    nobody = met(end("a", [0.0], resting=[False]), end("b", [0.0]))
    assert (nobody["resting"], nobody["distance"], nobody["vertices"]) == (0, None, None)


def test_whose_value_is_lower_where_they_part():
    a = end("a", [0.0, 0.0, 0.0, 0.0], values=np.array([1.0, 3.0, 2.0, 0.0]))
    b = end("b", [1.0, 1.0, 1.0, 0.0], values=np.array([2.0, 2.0, 2.0, 5.0]))
    row = met(a, b, scale=10.0)
    assert (row["apart"], row["lower_a"], row["lower_b"]) == (3, 1, 1)
    assert row["value_apart"] == pytest.approx(0.5)
    fields = met(end("a", [0.0], values=np.array([np.nan])), end("b", [1.0]))
    assert (fields["lower_a"], fields["lower_b"], fields["value_apart"]) == (0, 0, None)


def test_vertices_are_called_so_only_where_all_that_part_are():
    b = end("b", [1.0, 0.0], vertex=np.array([True, False]))
    assert met(end("a", [0.0, 0.0]), b)["vertices"] is True  # the face is where they agree
    assert met(end("a", [0.0, 1.0]), b)["vertices"] is False


def test_supports_overlap_where_weights_are_known():
    some = (frozenset({1, 2}), frozenset({3}))
    other = (frozenset({2, 4, 5}), frozenset({3}))
    a, b = end("a", [0.0, 0.0], supports=some), end("b", [0.0, 0.0], supports=other)
    assert met(a, b)["overlap"] == pytest.approx((1 / 4 + 1) / 2)
    assert met(a, end("c", [0.0, 0.0]))["overlap"] is None


def test_one_answer_stands_for_every_start():
    row = met(end("a", [0.0, 1.0, 0.0]), end("exact", [0.0]))
    assert (row["starts"], row["same"], row["apart"], row["lone"]) == (3, 2, 1, True)


def test_unlike_queries_are_not_compared():
    assert meetings([end("a", [0.0] * 3), end("b", [0.0] * 2)], 1.0, 1.0) == []
    # a lone start stands for all atoms where keys move: the other has none but its own
    cloud, lone = end("cloud", [0.0] * 3, moving=True), end("b", [0.0])
    assert meetings([cloud, lone], 1.0, 1.0) == []
    assert len(meetings([cloud, lone, end("c", [0.0] * 3)], 1.0, 1.0)) == 3


def test_sums_over_instances_know_who_is_first():
    first = met(end("a", [0.0, 0.0], values=np.zeros(2)), end("b", [1.0, 0.0], values=np.ones(2)))
    second = met(end("b", [0.0], values=np.ones(1)), end("a", [1.0], values=np.zeros(1)))
    [row] = overall(pd.DataFrame([first, second])).to_dict("records")
    assert row == {
        "solver_a": "a", "solver_b": "b", "instances": 2, "starts": 3, "resting": 3, "same": 1,
        "near": 0, "apart": 2, "lower_a": 2, "lower_b": 0,
    }  # fmt: skip


POINTS = arrays.arrays(
    float, st.tuples(st.integers(1, 5), st.just(2)), elements=st.sampled_from([0, 5e-5, 5e-4, 1, 2])
)


@given(POINTS, st.data())
def test_counts_add_up_and_the_order_of_two_is_free(x, data):
    y = data.draw(arrays.arrays(float, x.shape, elements=st.sampled_from([0, 5e-5, 5e-4, 1, 2])))
    flags = st.lists(st.booleans(), min_size=len(x), max_size=len(x))
    sets = st.lists(st.frozensets(st.integers(0, 3)), min_size=len(x), max_size=len(x)).map(tuple)
    a, b = (
        end(name, points, resting=data.draw(flags), values=points.sum(axis=1),
            supports=data.draw(sets))
        for name, points in (("a", x), ("b", y))
    )  # fmt: skip
    row, turned = met(a, b), met(b, a)
    assert row["same"] + row["near"] + row["apart"] == row["resting"] <= row["starts"] == len(x)
    assert row["lower_a"] + row["lower_b"] <= row["apart"]
    assert row["overlap"] is None or 0 <= row["overlap"] <= 1
    swapped = {"solver_a": "solver_b", "solver_b": "solver_a", "lower_a": "lower_b",
               "lower_b": "lower_a"}  # fmt: skip
    assert {name: turned[swapped.get(name, name)] for name in row} == row
    itself = met(a, a)
    assert itself["same"] == itself["resting"] == int(a.resting.sum())
    assert agreement(pd.DataFrame([{"instance": "i", "instance_label": "i", **row}]))[
        "same"
    ].tolist() == ([row["resting"] - row["apart"]] if row["resting"] else [])


# -- places --------------------------------------------------------------------------------------


def test_places_are_chains_and_the_fullest_is_first():
    a = end("a", [5.0, 0.0, 0.0009, 7.0], resting=[True, True, True, False])
    b = end("b", [0.0018, 5.0002, 9.0, 0.0])
    assert [at.tolist() for at in places([a, b], 1.0)] == [[1, 0, 0, -1], [0, 1, 2, 0]]


def test_there_are_no_places_without_rests_or_of_too_many():
    assert places([end("a", [1.0], resting=[False])], 1.0)[0].tolist() == [-1]
    many = end("a", np.arange(PLACES + 1.0))
    assert set(places([many], 1.0)[0]) == {-1}
    few = end("a", np.zeros(PLACES + 1))  # of as many queries
    assert set(places([few], 1.0)[0]) == {0}


def test_points_of_no_radius_are_one_place():
    assert places([end("a", [0.0, 0.0])], 0.0)[0].tolist() == [0, 0]


def test_starts_near_a_place_that_go_elsewhere():
    starts = np.array([[0.0, 0.0], [0.09, 0.0], [0.05, 0.0], [0.2, 0.0], [-0.09, 0.0]])
    a = end("a", [0.0, 1.0, 1.0, 1.0, 1.0], starts=starts, resting=[True] * 4 + [False])
    placed = places([a], 1.0)
    assert placed[0].tolist() == [1, 0, 0, 0, -1]
    # the start that does not come to rest tells nothing
    assert neighbourhood([a], placed, 1.0) == {0: (0, 0), 1: (3, 2)}
    assert neighbourhood([end("a", [0.0])], places([end("a", [0.0])], 1.0), 1.0) == {}


# -- from a run folder ---------------------------------------------------------------------------


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    out = tmp_path_factory.mktemp("resting") / "run"
    fw.run(
        problems=[POLYGON, "min_norm_point[n=12,d=3,shift=1]"],
        solvers=["away_steps", "hardmax_attention", "projected_gradient[momentum=none]",
                 "vertex_enumeration"],
        max_steps=300,
        out=out,
        jobs=None,
    )  # fmt: skip
    return RunFolder(out)


@pytest.fixture(scope="module")
def found(folder):
    return build(folder)


@pytest.fixture(scope="module")
def concave(found):
    """Return the certified rests in the polygon."""
    rests = found.rests[found.rests["kind"] == "concave"]
    certified = rests["certified"].astype(bool)
    moving = rests.loc[~certified, ["standing", "stable", "place"]]
    assert moving.isna().all(axis=None)
    return rests[certified]


def test_the_best_vertex_is_global_and_no_other(found, concave):
    rests = concave
    assert set(rests["class"]) == {"vertex"}
    best = rests["value"].min()
    assert set(rests.loc[rests["solver_label"] == "vertex_enumeration", "standing"]) == {"global"}
    [scale] = set(found.runs.loc[found.runs["kind"] == "concave", "scale"])
    for row in rests.to_dict("records"):
        assert row["standing"] == ("global" if row["value"] < best + 1e-9 else "local")
        assert row["above"] == pytest.approx((row["value"] - best) / scale, abs=1e-12)
    assert "local" in set(rests["standing"])


def test_certified_rests_of_a_convex_problem_are_global(found):
    rests = found.rests[found.rests["kind"] == "convex"]
    certified = rests["certified"].astype(bool)
    assert certified.any()
    assert set(rests.loc[certified, "standing"]) == {"global"}
    assert rests["stable"].isna().all()


def test_vertices_of_a_polygon_are_stable_in_the_tables(found, concave):
    rests = concave
    asked = rests[rests["solver_label"] != "vertex_enumeration"]
    assert asked["stable"].tolist() == [True] * len(asked)
    table = found.fixed_points.set_index("run_id")["stable"]
    assert table.dtype == "boolean"
    assert table[asked["run_id"].iloc[0]].all()  # away steps: all at rest
    places = found.places[found.places["kind"] == "concave"]
    assert places["rests"].sum() == len(rests)
    assert places["returned"].sum() == len(asked)
    assert places["left"].sum() == 0


def test_a_place_is_one_atom(concave):
    assert (concave.groupby("place")["label"].nunique() == 1).all()
    assert (concave.groupby("label")["place"].nunique() == 1).all()


def test_a_journal_of_before_the_pushes_is_read(folder, found, tmp_path):
    old = RunFolder.create(tmp_path / "old")
    old.write_manifest(folder.manifest)
    for record in folder.records():
        assert record_fault(record, {}) == ""
        if record["rest"]:
            record["rest"].pop("stable", None)
        old.append(record, folder.points(record["row"]["run_id"]) or {})
    read = build(old)
    assert read.rests["stable"].isna().all()
    assert read.fixed_points["stable"].isna().all()
    assert len(read.rests) == len(found.rests)


def test_a_stability_that_is_none_is_refused(folder):
    record = next(r for r in folder.records() if r["rest"] and "stable" in r["rest"])
    record["rest"]["stable"][0] = "yes"
    assert "true or false" in record_fault(record, {})


def test_without_points_there_is_nothing_to_compare(folder, tmp_path):
    bare = RunFolder.create(tmp_path / "bare")
    bare.write_manifest(folder.manifest)
    for record in folder.records():
        bare.append(record, {})
    found = build(bare)
    for name in ("rests", "places", "meetings", "agreement"):
        assert getattr(found, name).empty


def test_odd_weights_cost_the_overlap_alone(folder, found, tmp_path):
    odd = RunFolder.create(tmp_path / "odd")
    odd.write_manifest(folder.manifest)
    for record in folder.records():
        points = folder.points(record["row"]["run_id"]) or {}
        if "indptr" in points:
            points["indptr"] = points["indptr"][:-1]
        odd.append(record, points)
    read = build(odd)
    assert read.meetings["overlap"].isna().all()
    assert len(read.meetings) == len(found.meetings)
    assert found.meetings["overlap"].notna().any()
