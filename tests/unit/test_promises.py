"""What theory promises, beside what was measured."""

import numpy as np
import pandas as pd
import pytest

import fwbench as fw
from fwbench import catalog
from fwbench.analysis.promises import beside, optima, promised, verdict
from fwbench.analysis.seeds import members, rates
from fwbench.geometry.diameters import diameter_squared
from fwbench.geometry.forms import Kind
from fwbench.laws import Law

EVERY = [choice for name in catalog.names("solvers") for choice in catalog.choices("solvers", name)]


def instance(place, gap, run_id="r", label="", d=3, name="i"):
    return {
        "run_id": run_id, "instance": name, "kind": "convex", "fixed_point": place,
        "fixed_point_label": label, "gap_relative": gap, "d": d, "diameter_squared": 4.0,
    }  # fmt: skip


def nowhere(run_id):
    return None


def test_the_run_of_the_least_gap_tells_the_optimum():
    runs = pd.DataFrame([
        instance("face", 1e-7), instance("vertex", 1e-12), instance("moving", 1e-14),
        instance("face", 1e-9, name="j") | {"kind": "concave"},
    ])  # fmt: skip
    assert optima(runs, nowhere) == {"i": "vertex"}


@pytest.mark.parametrize(
    ("weights", "place"),
    [
        ([0.25] * 4, {"i": "interior"}),
        ([0.5, 0.5], {}),
        ([0.4, 0.3, 0.3, 1e-5], {}),  # four atoms, one of them by a remainder
        (None, {}),
    ],
)
def test_the_inside_needs_atoms_that_span_it(weights, place):
    runs = pd.DataFrame([instance("interior", 1e-10, label="dimension 3")])
    found = None if weights is None else np.array(weights)
    assert optima(runs, lambda run_id: found) == place


def test_any_certified_run_may_prove_the_inside():
    runs = pd.DataFrame([
        instance("interior", 1e-12, "few", "dimension 2"),
        instance("interior", 1e-9, "many", "dimension 2"),
    ])  # fmt: skip
    found = {"few": np.array([0.5, 0.5]), "many": np.full(3, 1 / 3)}
    assert optima(runs, found.get) == {"i": "interior"}


def of_one_run(laws, place="interior", k=(0, 1, 2), h=(9.0, 3.0, 1.0)):
    trace = pd.DataFrame({"run_id": "r", "k": k, "suboptimality": h})
    runs = pd.DataFrame([instance(place, 1e-9)])
    plain = [law.plain() for law in laws]
    [row] = promised(runs, trace, {"r": plain}, {"i": place}).to_dict("records")
    return row


def test_the_first_law_whose_place_is_met_is_the_promise():
    laws = (Law("linear", optimum="interior"), Law("sublinear", -1.0, 2.0))
    assert of_one_run(laws)["promised_class"] == "linear"
    row = of_one_run(laws, "face")
    assert (row["promised_class"], row["promised_rate"]) == ("sublinear", -1.0)
    assert of_one_run(())["promised_class"] is None


@pytest.mark.parametrize(("high", "share"), [(1.1, 9.0 / 8.0), (1.5, None)])
def test_a_bound_is_broken_only_where_the_reference_leaves_no_doubt(high, share):
    trace = pd.DataFrame({"run_id": "r", "k": [0, 1], "suboptimality": [4.0, 3.0]})
    runs = pd.DataFrame([instance("face", 1e-9) | {"reference_low": 1.0, "reference_high": high}])
    law = Law("sublinear", -1.0, 2.0).plain()
    [row] = promised(runs, trace, {"r": [law]}, {"i": "face"}).to_dict("records")
    assert row["bound_share"] == (None if share is None else pytest.approx(share))


def test_the_share_of_a_bound_is_the_largest_after_the_start():
    row = of_one_run((Law("sublinear", -1.0, 2.0),))
    assert row["bound_constant"] == 2.0
    assert row["bound_share"] == pytest.approx(3.0 * 3 / (2.0 * 4.0))  # at t = 1, not at 0
    assert of_one_run((Law("sublinear", -1.0),))["bound_share"] is None
    assert of_one_run((Law("sublinear", -1.0, 2.0),), h=[None] * 3)["bound_share"] is None


@pytest.mark.parametrize(
    ("seen", "told", "says"),
    [
        (("sublinear", -1.95), ("sublinear", -2.0), "as promised"),
        (("sublinear", -1.5), ("sublinear", -2.0), "slower"),
        (("sublinear", -1.5), ("sublinear", -1.0), "faster"),
        (("linear", 0.9), ("sublinear", -1.0), "faster"),
        (("sublinear", -9.0), ("linear", None), "slower"),
        (("linear", 0.9), ("linear", None), "as promised"),
        (("finite", 7.0), ("linear", None), "faster"),
        (("undetermined", None), ("linear", None), None),
        (("linear", 0.9), (None, None), None),
        (("sublinear", -1.0), ("sublinear", None), None),
    ],
)
def test_verdicts(seen, told, says):
    row = dict(zip(("rate_class", "rate"), seen, strict=True)) | {"rate_signal": "suboptimality"}
    assert verdict(row | dict(zip(("promised_class", "promised_rate"), told, strict=True))) == says


def test_an_interval_that_holds_the_promise_keeps_it():
    told = {"promised_class": "sublinear", "promised_rate": -2.0, "rate_class": "sublinear"}
    row = told | {"rate": -1.7, "rate_signal": "suboptimality"}
    assert verdict(row) == "slower"
    assert verdict(row | {"rate_low": -2.1, "rate_high": -1.3}) == "as promised"
    assert verdict(row | {"rate_signal": "gap"}) is None  # its power is another


def test_seeds_that_differ_have_no_common_promise():
    runs = pd.DataFrame([
        instance(place, 1e-9, f"r{seed}", name=f"ball[seed={seed}]")
        | {
            "instance_label": f"ball[seed={seed}]", "solver_label": "s", "rate_class": "linear",
            "rate": 0.5, "rate_signal": "suboptimality", "tol": 1e-8, "repetition": 0,
            "rate_from": 1, "rate_to": 9, "rate_reason": None,
        }
        for seed, place in enumerate(["face", "interior"])
    ])  # fmt: skip
    laws = [Law("linear", None, 2.0, "interior").plain(), Law("sublinear", -1.0, 2.0).plain()]
    trace = pd.DataFrame({"run_id": ["r0", "r1"], "k": [1, 1], "suboptimality": [1.0, 2.0]})
    places = dict(zip(runs["instance"], runs["fixed_point"], strict=True))
    found = promised(runs, trace, dict.fromkeys(("r0", "r1"), laws), places)
    counted = members(runs)
    [row] = beside(rates(counted), counted, found).to_dict("records")
    assert (row["promised_class"], row["optimum"], row["verdict"]) == (None, None, None)
    assert row["bound_share"] == pytest.approx(2.0 * 3 / 8.0)  # the bound holds for each


@pytest.mark.parametrize(
    "wrong",
    [("quick",), ("none",), ("sublinear",), ("sublinear", 1.0), ("linear", -1.0)],
)
def test_what_is_no_law_is_refused(wrong):
    with pytest.raises(ValueError, match=wrong[0]):
        Law(*wrong)


@pytest.mark.parametrize("choice", EVERY, ids=lambda choice: choice.label)
def test_laws_name_parameters_and_kinds_that_there_are(choice):
    known = set(catalog.parameters(choice.entry.make))
    for law in choice.entry.laws:
        assert set(law.where) <= known
        assert law.kinds & choice.entry.kinds


def test_defaults_have_their_promise():
    """Texts of parameters are compared: one that is spelled otherwise would promise nothing."""
    for name in ("frank_wolfe[step=open_loop]", "frank_wolfe[step=exact]", "hardmax_attention",
                 "away_steps", "pairwise", "projected_gradient", "min_norm_point"):  # fmt: skip
        choice = catalog.choices("solvers", name)[0]
        texts = {key: catalog.written(value) for key, value in choice.arguments.items()}
        assert any(law.concerns(Kind.CONVEX, texts) for law in choice.entry.laws), name
    [moving] = catalog.choices("solvers", "hardmax_attention[keys=moving]")
    texts = {key: catalog.written(value) for key, value in moving.arguments.items()}
    assert not any(law.concerns(Kind.CONVEX, texts) for law in moving.entry.laws)


@pytest.mark.parametrize("n", [1, 5, 300])
def test_the_diameter_is_that_of_all_pairs(n):
    rng = np.random.default_rng(n)
    points = rng.standard_normal((n, 4))
    points -= points.mean(axis=0)
    Q = np.diag([1.0, 2.0, 0.0, 5.0])
    apart = points[:, None] - points
    expected = np.einsum("ijk,kl,ijl->ij", apart, Q, apart).max()
    assert diameter_squared(points, points @ Q) == pytest.approx(expected, abs=1e-12)


def test_a_run_folder_keeps_promises_and_bounds(tmp_path):
    results = fw.run(
        problems=["min_norm_point[n=60,d=4,seed=0..2]"],
        solvers=["frank_wolfe[step=open_loop,exact]", "min_norm_point"],
        max_steps=1500, out=tmp_path / "run", jobs=None,
    )  # fmt: skip
    table = results.findings.rates
    assert table["seeds"].tolist() == [3, 3, 3]
    by = {row["solver_label"]: row for row in table.to_dict("records")}
    quadratic = by["frank_wolfe"]
    assert quadratic["promised_rate"] == -2.0
    assert quadratic["verdict"] == "as promised"
    assert quadratic["rate_low"] <= quadratic["rate"] <= quadratic["rate_high"]
    assert by["frank_wolfe[step=exact]"]["promised_class"] == "linear"
    assert (table["bound_share"].dropna() > 0).all()
    assert (table["bound_share"].dropna() <= 1).all()
    runs = results.runs
    assert (runs["diameter_squared"] > 0).all()
    mine = runs[runs["solver_label"] == "frank_wolfe"]
    assert mine["rate_low"].tolist() == [quadratic["rate_low"]] * 3
    stored = pd.read_parquet(tmp_path / "run" / "rates.parquet")
    pd.testing.assert_frame_equal(stored, table)
