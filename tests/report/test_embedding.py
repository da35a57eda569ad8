"""What the page embeds: columns once, bands with what follows them, profiles as thresholds."""

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from fwbench.analysis import growth
from fwbench.analysis.bands import bands
from fwbench.analysis.efforts import Limits
from fwbench.analysis.findings import Findings, Picture
from fwbench.analysis.profiles import profiles
from fwbench.report import selection, words
from fwbench.report.columns import Pool
from fwbench.report.embedding import page_data

from .made_findings import empty_findings, frame, made_findings

MEASURES = ("suboptimality", "gap", "gap_current")


def data_of(findings: Findings) -> dict:
    data = page_data(findings, words.styles(selection.solvers(findings)))
    return json.loads(json.dumps(data, allow_nan=False))


def column(data: dict, place: int | None) -> list | None:
    return None if place is None else data["columns"][place]


def made(*given: tuple[dict, range]) -> Findings:
    """Return findings of runs: what differs, and their steps; the gap is one over k."""
    runs, rows = [], []
    for i, (facts, ks) in enumerate(given):
        run = {"run_id": f"run{i}", "instance": "i[seed=0]", "instance_label": "i", "tol": 1e-8,
               "solver_label": "a", "solver": "a", "repetition": 0, "status": "budget"}  # fmt: skip
        runs.append(run | facts)
        pace = 1 + (facts.get("repetition") or 0)
        rows += [{"run_id": f"run{i}", "k": k, "lmo": k, "seconds": k * pace, "gap": 1 / (1 + k)}
                 for k in ks]  # fmt: skip
    findings = replace(empty_findings(), runs=frame("runs", runs), trace=frame("trace", rows))
    return replace(findings, bands=bands(findings.runs, findings.trace))


def test_a_pool_keeps_a_column_once() -> None:
    pool = Pool()
    places = [pool.place(values) for values in ([1 / 3, None], [0.333333, np.nan], [1.0, 2.0])]
    assert places == [0, 0, 1]
    assert pool.place([None, np.nan]) is None
    assert pool.columns == [[0.33333, None], [1, 2]]


def test_curves_hold_what_the_trace_holds() -> None:
    findings = made_findings()
    data = data_of(findings)
    first = data["curves"][0]
    run = findings.runs.iloc[0]
    trace = findings.trace[findings.trace["run_id"] == run["run_id"]]
    assert data["instances"][first["instance"]] == run["instance_label"]
    assert data["solvers"][first["solver"]]["label"] == run["solver_label"]
    kept = selection.thinned(len(trace))
    for name in ("k", "seconds", *MEASURES):
        wanted = trace[name].iloc[kept].astype(float)
        if wanted.isna().all():
            assert name not in first
        else:
            shown = pd.Series(column(data, first[name]), dtype=float)
            np.testing.assert_allclose(shown, wanted, rtol=1e-4)


def test_a_method_without_a_path_is_said_to_have_none() -> None:
    data = data_of(made(({}, range(2)), ({"solver_label": "b"}, range(3))))
    assert [curve["once"] for curve in data["curves"]] == [True, False]


def test_repetitions_are_one_curve_unless_they_answer_at_once() -> None:
    again = {"repetition": 1}
    assert len(data_of(made(({}, range(9)), (again, range(9))))["curves"]) == 1
    assert len(data_of(made(({}, range(2)), (again, range(2))))["curves"]) == 2


def test_a_band_says_what_single_runs_did_after_it() -> None:
    data = data_of(made(({}, range(9)), ({"repetition": 1}, range(9))))
    # the same steps on the other axes: the curve says it all
    assert [(band["axis"], band["measure"]) for band in data["bands"]] == [("seconds", "gap")]
    [band] = data["bands"]
    assert (band["instance"], band["members"], band["of"], band["covers"]) == (0, 2, 2, [0])
    at, low, high = (column(data, band[name]) for name in ("at", "low", "high"))
    assert (at[0], at[-1], band["end"]) == (2, 8, 8)
    assert low[-1] == pytest.approx(1 / 9, rel=1e-3)
    assert high[-1] == pytest.approx(1 / 5, rel=1e-3)
    [tail] = band["tails"]
    assert column(data, tail["x"]) == [8, 10, 12, 14, 16]
    assert column(data, tail["y"])[-1] == 0.11111


def test_a_repetition_that_stops_first_hides_no_other() -> None:
    data = data_of(made(({}, range(4)), ({"repetition": 1}, range(9))))
    tails = {band["axis"]: band["tails"] for band in data["bands"]}
    assert set(tails) == {"k", "lmo", "seconds"}
    assert column(data, tails["k"][0]["x"]) == [3, 4, 5, 6, 7, 8]


def test_seeds_stand_together_in_a_regime() -> None:
    seeds = [({"instance": f"i[seed={s}]", "instance_label": f"i[seed={s}]"}, range(5 + s))
             for s in range(3)]  # fmt: skip
    data = data_of(made(*seeds))
    assert data["regimes"] == [{"label": "i", "instances": [0, 1, 2]}]
    [band] = [band for band in data["bands"] if band["axis"] == "k"]
    assert band["regime"] == 0
    assert "instance" not in band
    assert band["tails"] == [{"curve": 1}, {"curve": 2}]  # curves that the page has anyway


def test_profiles_are_thresholds_that_are_passed() -> None:
    given = [({"instance": f"i{i}[]", "instance_label": f"i{i}", "solver_label": name,
               "solver": name, "n": 5, "d": 2, "queries": 1, "seconds_from": "trace"},
              range(1 + slow * 10)) for i in range(3)
             for slow, name in enumerate("abc", start=1)]  # fmt: skip
    findings = made(*given)
    targets = frame("targets", [
        {"run_id": run, "measure": "gap", "target": 1e-2, "k_low": k - 1, "k_high": k,
         "seconds_low": k - 1, "seconds_high": k, "lmo_high": k}
        for run, k in zip(findings.runs["run_id"], [10, 20, None] * 3, strict=True) if k
    ])  # fmt: skip
    targets = pd.concat([targets, frame("targets", [
        {"run_id": run, "measure": "gap", "target": 1e-2, "k_low": 30, "seconds_low": 30}
        for run in findings.runs["run_id"][2::3]])], ignore_index=True)  # fmt: skip
    limits = {run: Limits(100, 100) for run in findings.runs["run_id"]}
    runs = findings.runs.assign(lmo=30, seconds=30.0, steps=30, setup_seconds=0.0, host="one",
                                shared=False)  # fmt: skip
    found = profiles(runs, findings.trace, targets, limits)
    data = data_of(replace(findings, profiles=found))
    contest = next(one for one in data["profiles"] if one["cost"] == "lmo")
    assert (contest["variant"], contest["solvers"], contest["instances"]) == (
        "defaults", ["a", "b", "c"], 3,
    )  # fmt: skip
    assert column(data, contest["shares"]) == [0.33333, 0.66667, 1]
    at = {
        contest["solvers"][step["solver"]]: column(data, step.get("high"))
        for step in contest["steps"]
        if step["profile"] == "performance" and step["target"] == 1e-2
    }
    assert at == {"a": [1, 1, 1], "b": [2, 2, 2], "c": None}
    duel = next(one for one in contest["duels"] if one["target"] == 1e-2 and one["b"] == 2)
    assert (duel["a"], [column(data, place) for place in duel["high"]]) == (0, [[1, 1, 1], None])


def test_growth_has_a_line_through_medians_and_all_points() -> None:
    points = pd.DataFrame(
        [("r", "n", "a", None, f"i{n}{s}", n, n * (1.0 + s), 3.0, None)
         for n in (10, 20, 40, 80) for s in range(3)],
        columns=list(growth.SIZES),
    )  # fmt: skip
    findings = replace(made_findings(), sizes=points, growth=growth.growth(points))
    [regime] = data_of(findings)["growth"]
    [line] = regime["lines"]
    assert (regime["against"], line["sizes"], line["seconds"]) == ("n", [10, 20, 40, 80],
                                                                   [20, 40, 80, 160])  # fmt: skip
    assert len(line["points"]["sizes"]) == 12
    assert line["exponents"]["seconds"].startswith("1.00 (")


def test_a_path_comes_back_from_its_units() -> None:
    points = np.array([[[0.1, 0.2]], [[0.1, 0.2]], [[np.nan, 0.0]], [[1 / 3, 0.7]]])
    corners = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 2.0]])
    picture = Picture("i", "i", corners, corners, np.array([0.0]), np.array([0.0]),
                      np.array([[0]]), corners[:1], (("a", points),))  # fmt: skip
    [shown] = data_of(replace(empty_findings(), pictures=(picture,)))["pictures"]
    [line] = shown["paths"][0]["lines"]
    found = [None if v is None else round(v * shown["unit"], 4) for v in line]
    assert found == [0.1, 0.2, None, None, 0.3333, 0.7]


def test_nothing_is_embedded_of_nothing() -> None:
    data = data_of(empty_findings())
    for name in ("curves", "bands", "regimes", "instances", "growth", "pictures", "profiles"):
        assert data[name] == []
