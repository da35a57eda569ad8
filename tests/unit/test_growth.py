import numpy as np
import pandas as pd
import pytest
from scipy.stats import linregress, t

from fwbench.analysis.growth import COLUMNS, SIZES, growth, line, sizes


def runs_of(law, sizes=(100, 1000, 10_000, 100_000), *, name="a", against="n", noise=0.0, **more):
    """Return runs whose seconds follow a law in one size, steps 7 everywhere."""
    rng = np.random.default_rng(0)
    rows = []
    for size in sizes:
        n, d = (size, 5) if against == "n" else (50, size)
        rows.append({
            "instance": f"ball[n={n},d={d},flat=0.3,seed=0]", "n": n, "d": d, "solver_label": name,
            "instance_label": f"ball[n={n},d={d}]",
            "library": None, "status": "converged", "gap_relative": 1e-9, "tol": 1e-8,
            "seconds": law(size) * float(np.exp(noise * rng.normal())), "setup_seconds": 0.0,
            "steps": 7, **more,
        })  # fmt: skip
    return pd.DataFrame(rows)


def fit(runs, quantity="seconds"):
    points = sizes(runs)
    assert tuple(points.columns) == SIZES
    table = growth(points)
    assert tuple(table.columns) == COLUMNS
    [row] = table[table["quantity"] == quantity].to_dict("records")
    return row


@pytest.mark.parametrize("power", [0.5, 1.0, 2.0])
@pytest.mark.parametrize("against", ["n", "d"])
def test_a_power_law_is_read_back(power, against):
    row = fit(runs_of(lambda size: 3e-6 * size**power, against=against))
    assert row["exponent"] == pytest.approx(power, abs=1e-9)
    assert (row["sizes"], row["points"], row["size_from"], row["size_to"]) == (4, 4, 100, 100_000)
    assert row["against"] == against
    assert row["regime"] == ("ball[d=5]" if against == "n" else "ball[n=50]")
    assert row["r_squared"] == pytest.approx(1.0)


def test_what_does_not_grow_has_the_exponent_0():
    row = fit(runs_of(lambda size: 1.0), "steps")
    assert row["exponent"] == pytest.approx(0.0, abs=1e-12)
    assert pd.isna(row["reason"])


def test_set_up_counts():
    runs = runs_of(lambda size: 1e-9).assign(setup_seconds=[1e-3, 1e-2, 1e-1, 1.0])
    assert fit(runs)["exponent"] == pytest.approx(1.0, abs=1e-4)


def test_the_interval_holds_the_exponent():
    row = fit(runs_of(lambda size: size, sizes=range(100, 2000, 100), noise=0.1))
    assert row["exponent_low"] < 1.0 < row["exponent_high"]
    assert row["exponent_high"] - row["exponent_low"] < 0.3


@pytest.mark.parametrize("reached", [0, 1, 3])
def test_few_sizes_carry_no_law(reached):
    runs = runs_of(lambda size: size)
    runs.loc[reached:, "status"] = "timeout"
    row = fit(runs)
    assert pd.isna(row["exponent"])
    assert row["reason"] == f"{reached} of 4 sizes reached the tolerance, 4 needed"


def test_a_regime_run_at_few_sizes_is_left_out():
    assert sizes(runs_of(lambda size: size, (100, 1000, 10_000))).empty
    assert growth(sizes(runs_of(lambda size: size, (100,)))).empty
    assert growth(sizes(runs_of(lambda size: size).iloc[:0])).empty


def test_what_bends_is_no_power_law():
    row = fit(runs_of(lambda size: 1.0 if size < 5000 else (size / 5000.0) ** 2))
    assert np.isnan(row["exponent"])
    assert row["reason"].startswith("no power law: exponent 0.")


def test_a_solver_that_ran_at_few_sizes_of_a_regime_is_left_out():
    seldom = runs_of(lambda size: size, (100, 1000), name="b")
    points = sizes(pd.concat([runs_of(lambda size: size), seldom], ignore_index=True))
    assert points["solver_label"].tolist() == ["a"] * 4


@pytest.mark.parametrize(
    "missed", [{"status": "timeout"}, {"gap_relative": 1e-6}, {"status": "skipped", "steps": None}]
)
def test_only_runs_that_reached_their_tolerance_count(missed):
    reached = runs_of(lambda size: size)
    wrong = runs_of(lambda size: 1.0, (1_000_000,), **missed)
    row = fit(pd.concat([reached, wrong], ignore_index=True))
    assert (row["points"], row["size_to"]) == (4, 100_000)
    assert row["exponent"] == pytest.approx(1.0)


def test_repetitions_are_one_point_and_seeds_are_several():
    repeated = [runs_of(lambda size, f=f: f * size) for f in (1.0, 2.0, 900.0)]
    row = fit(pd.concat(repeated, ignore_index=True))
    assert row["points"] == 4
    assert row["exponent"] == pytest.approx(1.0)
    other = runs_of(lambda size: size)
    other["instance"] = other["instance"].str.replace("seed=0", "seed=1")
    other["instance_label"] = other["instance_label"].str.replace("]", ",seed=1]")
    row = fit(pd.concat([repeated[0], other], ignore_index=True))
    assert (row["sizes"], row["points"]) == (4, 8)


def test_regimes_and_solvers_are_kept_apart():
    flat = runs_of(lambda size: size**3)
    flat["instance_label"] = flat["instance_label"].str.replace("]", ",flat=0.2]")
    runs = [
        runs_of(lambda size: size),
        runs_of(lambda size: size**2, name="b", library="lib"),
        flat,
        runs_of(lambda size: size**1.5, against="d"),
    ]
    table = growth(sizes(pd.concat(runs, ignore_index=True)))
    found = table[table["quantity"] == "seconds"]
    assert found["against"].tolist() == ["n", "n", "n", "d"]
    assert found["solver_label"].tolist() == ["a", "b", "a", "a"]
    assert found["exponent"].tolist() == pytest.approx([1.0, 2.0, 3.0, 1.5])
    assert found["library"].isna().tolist() == [True, False, True, True]


def test_a_foreign_code_has_no_steps():
    table = growth(sizes(runs_of(lambda size: size, library="lib")))
    assert table["quantity"].tolist() == ["seconds"]


def test_a_line_agrees_with_scipy():
    rng = np.random.default_rng(1)
    x, y = rng.normal(size=12), rng.normal(size=12)
    slope, half, r_squared = line(x, y)
    other = linregress(x, y)
    assert slope == pytest.approx(other.slope)
    assert half == pytest.approx(other.stderr * t.ppf(0.975, 10))
    assert r_squared == pytest.approx(other.rvalue**2)


def of_condition(law, conditions, solver="a"):
    """Return runs on instances that differ in their condition number and seed."""
    runs = runs_of(lambda size: 1.0, conditions, name=solver)
    rows = [
        {
            "instance": f"min_norm_point[n=50,d=5,condition={value:g},seed={seed}]",
            "instance_label": "min_norm_point" + (f"[condition={value:g}]" if value != 1 else ""),
            "n": 50, "seconds": law(value), "steps": int(1000 * value**0.5),
        }
        for seed, value in enumerate(conditions)
    ]  # fmt: skip
    return runs.assign(**{name: [row[name] for row in rows] for name in rows[0]})


def test_the_condition_number_is_a_size_at_its_default_too():
    runs = of_condition(lambda value: value**0.8, (1.0, 1e2, 1e4, 1e6))
    table = growth(sizes(runs))
    assert set(table["against"]) == {"condition"}
    assert set(table["regime"]) == {"min_norm_point"}
    assert table["exponent"].tolist() == pytest.approx([0.8, 0.5], abs=1e-6)
    assert table["size_to"].tolist() == [1_000_000] * 2


def test_beta_is_a_size_of_the_solver():
    pieces = []
    for beta in (0.5, 1.0, 10.0, 100.0):
        piece = runs_of(
            lambda size, beta=beta: beta**2, (100,), name=f"softmax[beta={beta:g},step=exact]"
        )
        pieces.append(piece.assign(params=f"beta={beta:g},step=exact"))
    other = runs_of(lambda size: 1.0, (100,), name="softmax[beta=geometric(1,2),step=exact]")
    pieces.append(other.assign(params="beta=geometric(1,2),step=exact"))
    row = fit(pd.concat(pieces, ignore_index=True))
    assert (row["against"], row["solver_label"]) == ("beta", "softmax[step=exact]")
    assert row["regime"] == "ball[n=100,d=5]"
    assert (row["points"], row["size_from"], row["size_to"]) == (4, 0.5, 100)
    assert row["exponent"] == pytest.approx(2.0)


def test_names_that_cannot_be_read_are_no_sizes():
    runs = runs_of(lambda size: size).assign(params="]", instance="[[")
    assert set(growth(sizes(runs))["against"]) == {"n"}
