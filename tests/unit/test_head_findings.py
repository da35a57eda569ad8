"""The tables of heads and of repeated layers: from made records, and from real runs."""

import json

import numpy as np
import pytest

import fwbench as fw
from fwbench import catalog
from fwbench.analysis import heads as head_table
from fwbench.analysis import layers as layer_table
from fwbench.analysis.heads import heads
from fwbench.analysis.layers import clusters, layers
from fwbench.findings import build
from fwbench.store import RunFolder

HEAD = {
    "positive": 2, "negative": 1, "largest": 0.5, "smallest": -0.25, "antisymmetric": 0.6,
    "owners": 0.25, "tied_owners": 0.5, "leaders": 2, "entropy": 0.7, "entropy_relative": 0.5,
    "top_mass": 0.6,
    "stretches": {
        "course": ["settles", "turns", "pauses", "pauses"],
        "changes": [3, 512, 40, 30],
        "last": [17, 2000, 10**9, 10**9 + 5],
        "leaders": [[2], [0, 3], [7, 3, 5], [5, 7, 3]],
        "growth": [None, None, 2.0, 4.0],
        "gap": [0.0, 1e-5, 0.01, 0.03],
    },
}  # fmt: skip


def record(solver="frank_wolfe", head=HEAD, **row):
    """Return a record of a run on a head with four tokens."""
    name = row.get("solver_label", solver).split("[")[0]
    return {
        "row": {
            "run_id": "r", "problem": "attention_head", "repetition": 0, "n": 4, "d": 9,
            "instance": 'attention_head[sentence=1,layer=5,head=6,file=""]',
            "instance_label": "attention_head[sentence=1,layer=5,head=6]", "queries": 4,
            "solver": name, "solver_label": solver, "status": "budget", "steps": 100,
            "scale": 2.0, "gap_relative": 0.1, **row,
        },
        "trace": {},
        "rest": None,
        "head": head,
    }  # fmt: skip


def layered(spread, k=None, periods=(None,) * 4, energy=None, moving=True, **row):
    """Return a record of a repeated layer."""
    made = record("softmax_attention", **row)
    made["trace"] = {
        "k": k or list(range(len(spread))),
        "spread": spread,
        "gap_current": [0.5 if moving else None] * len(spread),
        "energy": energy or [1.0] * len(spread),
    }
    made["row"]["params"] = f"beta=1,keys={'moving' if moving else 'fixed'},step=constant(0.5)"
    made["rest"] = {"period": list(periods)}
    return made


def one(table):
    [row] = table.astype(object).where(table.notna(), None).to_dict("records")
    return row


def laid(made, points=None):
    return one(layers([made], lambda run_id: None if points is None else {"points": points}))


# -- heads ---------------------------------------------------------------------------------------


def test_an_instance_has_one_row_of_its_facts():
    runs = [record("softmax_attention"), record(run_id="fw"), record(run_id="again")]
    row = one(heads(runs))
    assert tuple(heads(runs).columns) == head_table.COLUMNS
    assert (row["sentence"], row["layer"], row["head"]) == ("1", 5, 6)
    for name in set(HEAD) - {"stretches"}:
        assert row[name] == HEAD[name]
    assert (row["settles"], row["turns"], row["pauses"]) == (1, 1, 2)
    assert (row["changes"], row["settled_at"]) == (3, 17)
    assert row["faces"] == "atoms 0 3"
    assert row["rounds"] == "atoms 3 5 7"  # one round, wherever it is cut
    assert (row["growth"], row["pause_gap"]) == (3.0, 0.03)
    assert (row["run_id"], row["status"], row["steps"], row["gap_relative"]) == (
        "fw", "budget", 100, 0.1,
    )  # fmt: skip


def test_rows_stand_by_layer_and_head_and_clouds_last():
    places = [(5, 6), (0, 5), (0, 3)]
    made = [
        record(instance=f'attention_head[sentence=0,layer={layer},head={h},file=""]')
        for layer, h in places
    ]
    made.insert(0, record(problem="token_cloud", instance="token_cloud[n=4]"))
    table = heads(made)
    assert table["head"].tolist()[:3] == [3, 5, 6]
    assert table["layer"].isna().tolist() == [False, False, False, True]


@pytest.mark.parametrize(
    "instance",
    [
        'attention_head[sentence=0,layer=0,head=5,file="own.npz"]',
        "attention_head[other=1]",
        "attention_head[layer=x,head=1,sentence=0]",
    ],
)
def test_arrays_of_ones_own_are_no_layer_of_the_model(instance):
    row = one(heads([record(instance=instance)]))
    assert row["sentence"] is row["layer"] is row["head"] is None


def test_what_a_record_says_of_its_head_beyond_the_facts_is_no_fact():
    odd = HEAD | {"run_id": "<script>", "steps": "many", "faces": 3}
    row = one(heads([record(head=odd, solver="away_steps")]))
    assert row["run_id"] is row["steps"] is None
    assert row["faces"] == one(heads([record(solver="away_steps")]))["faces"]


def test_what_is_no_cloud_has_no_row_nor_has_a_folder_of_before():
    before = record()
    del before["head"]
    for made in (record(head=None), before):
        assert heads([made]).empty
        assert layers([{**layered([1.0]), "head": made.get("head")}], lambda run_id: None).empty
    for name, kind in heads([]).dtypes.astype(str).items():
        assert kind == str(heads([record()]).dtypes[name])


def test_many_different_faces_are_not_all_named():
    many = {**HEAD["stretches"]}
    many["course"], many["leaders"] = ["turns"] * 7, [[q, q + 1] for q in range(6)] + [[5, 6]]
    many |= {name: [None] * 7 for name in ("changes", "last", "growth", "gap")}
    row = one(heads([record(head=HEAD | {"stretches": many})]))
    assert row["faces"] == "atoms 5 6; atoms 0 1; atoms 1 2; atoms 2 3; and 2 more"
    assert row["changes"] is row["rounds"] is row["growth"] is row["pause_gap"] is None
    wide = {**many, "leaders": [list(range(12))] * 7}
    found = one(heads([record(head=HEAD | {"stretches": wide})]))
    assert found["faces"] == "atoms 0 1 2 3 4 5 6 7 …"


# -- one layer, repeated -------------------------------------------------------------------------


def test_the_collapse_lies_between_two_checkpoints():
    row = laid(layered([4.0, 2.0, 0.0041, 0.004, 1e-6], k=[0, 1, 2, 20, 22]))
    assert (row["k_low"], row["k_high"]) == (2, 20)
    assert row["spread"] == pytest.approx(2.5e-7)
    assert row["moving"] is True


@pytest.mark.parametrize("spread", [[4.0, 0.1], [0.0, 0.0]])
def test_what_does_not_shrink_never_collapses(spread):
    row = laid(layered(spread, moving=False))
    assert row["k_low"] is row["k_high"] is None
    assert row["moving"] is False


def test_cycles_are_counted_with_their_periods():
    row = laid(layered([1.0, 1.0], periods=[3, None, 2, 3]))
    assert (row["cycling"], row["periods"]) == (3, "3 2")
    none = laid(layered([1.0, 1.0]))
    assert (none["cycling"], none["periods"]) == (0, None)


def test_energy_is_told_of_the_scale_and_whether_it_rose():
    row = laid(layered([1.0] * 4, energy=[2.0, -1.0, -0.5, -4.0]))
    assert (row["energy_start"], row["energy_end"], row["energy_rise"]) == (1.0, -2.0, 0.25)
    falling = laid(layered([1.0] * 3, energy=[1.0, 0.5, 0.5 + 1e-13]))
    assert falling["energy_rise"] == 0
    unknown = laid(layered([1.0] * 2, energy=[1.0, None]))
    assert unknown["energy_start"] is unknown["energy_end"] is unknown["energy_rise"] is None


@pytest.mark.parametrize("moving", [True, False])
def test_whether_keys_move_is_told_of_a_layer_without_a_gap_too(moving):
    """One that leaves the hull has none."""
    made = layered([2.0, 8.0], moving=moving)
    made["trace"]["gap_current"] = [None, None]
    assert laid(made)["moving"] is moving


def test_clusters_are_points_near_each_other_in_chains():
    made = layered([2.0, 1.0])
    line = np.array([[0.0], [0.0019], [0.0038], [0.5]])
    assert laid(made, points=line)["clusters"] == 2
    assert laid(made, points=line * 2)["clusters"] == 4
    assert laid(made)["clusters"] is None
    assert clusters(np.zeros((5, 2)), 0.0) == 1


def test_only_the_first_run_of_an_attention_layer_counts():
    made = [
        layered([1.0], run_id="a"),
        layered([1.0], run_id="b", repetition=1),
        layered([1.0], run_id="c", solver_label="frank_wolfe"),
        record("hardmax_attention", run_id="d"),  # it failed at its first step
        layered([1.0], run_id="e", queries=12),  # three replicas: no single cloud
    ]
    table = layers(made, lambda run_id: None)
    assert table["run_id"].tolist() == ["a"]
    assert tuple(table.columns) == layer_table.COLUMNS
    assert table.dtypes.equals(layers([], lambda run_id: None).dtypes)


# -- from real runs ------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    return fw.run(
        problems=["attention_head[layer=0,head=5]", "attention_head[layer=5,head=6]",
                  "polygon[k=5]"],
        solvers=["hardmax_attention[keys=fixed,moving,step=constant(0.5)]",
                 "softmax_attention[beta=1,keys=moving]", "frank_wolfe[step=open_loop]"],
        out=tmp_path_factory.mktemp("heads"),
        max_steps=600,
        jobs=None,
    )  # fmt: skip


def test_pauses_are_told_from_rest_and_from_cycles(results):
    table = results.findings.heads.set_index(["layer", "head"])
    assert table.index.tolist() == [(0, 5), (5, 6)]
    pausing, turning = table.loc[(0, 5)], table.loc[(5, 6)]
    assert pausing[["settles", "turns", "pauses"]].tolist() == [11, 0, 3]
    assert pausing["rounds"] == "atoms 10 13 12 11"
    assert turning[["settles", "turns", "pauses"]].tolist() == [0, 14, 0]
    assert turning["faces"] == "atoms 0 6 9"
    # the runs: one far from rest, the other on its way
    assert pausing["gap_relative"] > 0.005 > 10 * turning["gap_relative"]
    assert pausing["run_id"] in set(results.runs["run_id"])
    found = results.findings.layers.set_index(["instance_label", "solver_label"])
    fixed = "hardmax_attention[step=constant(0.5)]"
    assert found.loc[("attention_head[layer=5,head=6]", fixed), "periods"] == "3"
    assert found.loc[("attention_head[layer=5,head=6]", fixed), "cycling"] == 14
    assert found.loc[("attention_head", fixed), "cycling"] == 2


def test_a_repeated_layer_collapses_or_leaves_clusters(results):
    table = results.findings.layers
    assert len(table) == 6
    soft = table[table["solver_label"] == "softmax_attention[beta=1,keys=moving]"]
    assert soft["clusters"].tolist() == [1, 1]
    assert soft["k_high"].tolist() == [11, 10]
    hard = table[table["solver_label"].str.contains("hardmax.*moving")]
    assert hard["clusters"].tolist() == [2, 1]
    assert hard["energy_rise"].tolist() == [0, 0]
    # by the kept points: their number at the tolerance, and the spread of the trace
    for row in table.to_dict("records"):
        points = RunFolder(results.folder).points(row["run_id"])["points"]
        widest = max(np.linalg.norm(points - x, axis=1).max() for x in points)
        trace = results.trace[results.trace["run_id"] == row["run_id"]]
        assert row["spread"] == pytest.approx(widest / trace["spread"].iloc[0], abs=1e-12)


def test_the_energy_is_that_of_the_points(results):
    [choice] = catalog.choices("problems", "attention_head[layer=0,head=5]")
    problem = catalog.build_problem(choice)
    Q = problem.form.L @ problem.form.R.T

    def mean(x):
        return float((0.5 * ((x @ Q.T) * x).sum(axis=1) + x @ problem.c).mean())

    runs = results.runs[results.runs["instance_label"] == "attention_head"]
    for run in runs.to_dict("records"):
        trace = results.trace[results.trace["run_id"] == run["run_id"]]
        points = RunFolder(results.folder).points(run["run_id"])["points"]
        start, end = (mean(x) - mean(problem.mean[None]) for x in (problem.atoms, points))
        assert trace["energy"].iloc[0] == pytest.approx(start, rel=1e-9)
        assert trace["energy"].iloc[-1] == pytest.approx(end, rel=1e-9)


def test_the_journal_keeps_the_facts_and_a_folder_without_them_is_read(results, tmp_path):
    records = RunFolder(results.folder).records()
    assert [record["head"] is None for record in records].count(True) == 4  # the polygon's
    folder = RunFolder.create(tmp_path / "before")
    folder.write_manifest(json.loads((results.folder / "manifest.json").read_text()))
    for record in records:
        del record["head"]
        record["trace"].pop("energy", None)
        folder.append(record, {})
    found = build(folder)
    assert found.heads.empty
    assert found.layers.empty
    assert found.trace["energy"].isna().all()
