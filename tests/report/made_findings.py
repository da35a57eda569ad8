"""Findings made by hand: every status, hostile names, nulls, a picture, a long trace."""

from typing import Any

import numpy as np
import pandas as pd

from fwbench.analysis import costs, goals, growth, heads, layers, races
from fwbench.analysis.findings import Findings, Picture
from fwbench.analysis.profiles import profiles
from fwbench.analysis.standings import standings
from fwbench.analysis.targets import brackets

from .made_rests import made_rates, made_rests

HOSTILE = "<script>alert(1)</script>"
COLUMNS = {
    "runs": """
        run_id problem instance seed n d kind queries solver params chosen repetition order status
        reason traceback signal steps seconds seconds_from setup_seconds value value_centred gap
        gap_relative scale reference_low reference_high suboptimality feasibility support lmo
        gradient matvec drop_steps fixed_point fixed_point_label rate_class rate rate_low rate_high
        rate_from rate_to host threads load_before load_after noisy steal peak_memory
        frequency_before frequency_after attempts cache_key solver_label instance_label rate_signal
        library tol rate_reason
    """,
    "trace": """
        run_id k seconds value value_centred gap gap_current lower support lmo gradient matvec
        feasibility spread value_median gap_median suboptimality
    """,
    "targets": "run_id measure target k_low k_high seconds_low seconds_high lmo_high",
    "fixed_points": "run_id query class label certified support value gap",
    "winners": """
        instance instance_label kind measure target solver_label run_id seconds lmo runner_up ratio
        contest reached of
    """,
    "agreement": "instance instance_label solver_a solver_b starts same distance",
    "races": " ".join(races.COLUMNS),
    "costs": " ".join(costs.COLUMNS),
    "sizes": " ".join(growth.SIZES),
    "growth": " ".join(growth.COLUMNS),
    "goals": " ".join(goals.COLUMNS),
    "heads": " ".join(heads.COLUMNS),
    "layers": " ".join(layers.COLUMNS),
}

INSTANCES = (
    ("min_norm_point[n=1000,d=50,shift=1]", "convex", 1000, 50, 1),
    ("min_norm_point[n=200,d=20,inside]", "convex", 200, 20, 1),
    ("polygon[k=7]", "concave", 7, 2, 6),
    ("digits[class=3,target=8]", "convex", 183, 64, 1),
    ("token_cloud[name=four-one]", "concave", 5, 1, 5),
    ("attention_head[layer=4,head=7]", "general", 24, 32, 24),
)
# label, power of k or factor per step, seconds per step
LAWS = {
    "frank_wolfe": (-1.0, None, 4e-6),
    "frank_wolfe[step=exact]": (-1.3, None, 9e-6),
    "away_steps": (None, 0.93, 7e-6),
    "projected_gradient": (None, 0.985, 6e-5),
    "hardmax_attention[keys=moving]": (-1.05, None, 5e-6),
    "cvxpy_reference": (None, 0.0, 2.1e-2),
    HOSTILE: (-0.5, None, 3e-6),
}
LIBRARIES = {"cvxpy_reference": "cvxpy", HOSTILE: "<i>lib</i>"}
FAULTS = {
    (0, HOSTILE): ("wrong", "claimed optimal with gap_relative 3.2e-03, above tolerance 1e-08"),
    (1, HOSTILE): ("nonfinite", "the point after 212 steps holds a NaN"),
    (2, HOSTILE): ("infeasible", "weights sum to 1.3, not 1 | off by 0.3"),
    (3, HOSTILE): (
        "error",
        "ValueError: operands could not be broadcast together <b>(3,) (4,)</b>",
    ),
    (4, HOSTILE): ("crashed", "killed by SIGSEGV after 34 steps"),
    (5, HOSTILE): ("memory", "asked for 81 GB"),
    (1, "projected_gradient"): ("timeout", "10 s were spent after 166 000 steps"),
    (2, "projected_gradient"): (
        "skipped",
        "projected_gradient runs on convex kinds, this is concave",
    ),
    (2, "cvxpy_reference"): ("skipped", "cvxpy_reference runs on convex kinds only"),
    (4, "projected_gradient"): (
        "skipped",
        "projected_gradient runs on convex kinds, this is concave",
    ),
    (4, "cvxpy_reference"): ("skipped", "cvxpy_reference runs on convex kinds only"),
    (5, "cvxpy_reference"): ("skipped", "cvxpy_reference runs on convex kinds only"),
    (5, "frank_wolfe[step=exact]"): ("skipped", "an exact step needs an f; this is a field"),
    (3, "frank_wolfe[step=exact]"): (
        "stalled",
        "from k = 4000 to 8000 the gap fell by less than 1 %",
    ),
    (5, "projected_gradient"): ("interrupted", "stopped from the keyboard"),
}
TRACEBACK = (
    'Traceback (most recent call last):\n  File "runner.py", line 88, in run\n'
    "    solver.advance(model, state, 1)\n"
    "ValueError: operands could not be broadcast together <b>(3,) (4,)</b> </pre></details>"
)


def frame(table: str, rows: list[dict[str, Any]]) -> pd.DataFrame:
    columns = COLUMNS[table].split()
    return pd.DataFrame([[row.get(name) for name in columns] for row in rows], columns=columns)


def _trace(run_id: str, place: int, label: str, status: str) -> list[dict[str, Any]]:
    kind, queries = INSTANCES[place][1], INSTANCES[place][4]
    power, factor, per_step = LAWS[label]
    if status in {"skipped", "memory"}:
        return []
    ks = [*range(17), *np.unique(np.geomspace(17, 10_000, 68).astype(int)).tolist()]
    if label == "frank_wolfe" and place == 1:
        ks = list(range(10_000))
    if label == "cvxpy_reference":
        ks = [0, 1]
    if status in {"crashed", "error"}:
        ks = ks[:25]
    rng = np.random.default_rng([place, len(label)])
    rows = []
    for k in ks:
        law = (1.0 + k) ** power if power is not None else float(factor or 0.0) ** k
        excess = 0.4 * law * float(np.exp(0.1 * rng.normal()))
        if factor and excess < 1e-15:
            excess = 0.0
        gap = 3 * excess * float(np.exp(0.5 * rng.normal()))
        if label == "cvxpy_reference" and k == 1:
            excess, gap = 3e-11, 8e-11
        moving = "moving" in label
        rows.append(
            {
                "run_id": run_id,
                "k": k,
                "seconds": k * per_step * (1 + 0.02 * place),
                "value": None if kind == "general" else 1 + excess,
                "gap": gap,
                "gap_current": 0.5 * gap if moving else None,
                "lmo": None if label in {"cvxpy_reference", "projected_gradient"} else k * queries,
                "suboptimality": None if kind == "general" or moving else excess,
            }
        )
        if (excess == 0.0 or excess < 1e-9) and status == "converged" and k > 0:
            break
    return rows


def _run(place: int, label: str) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    name, kind, n, d, queries = INSTANCES[place]
    run_id = f"{place:08x}{list(LAWS).index(label):08x}"
    power, factor, _ = LAWS[label]
    usual = "finished" if label == "cvxpy_reference" else "converged" if factor else "budget"
    status, reason = FAULTS.get((place, label), (usual, "gap below tolerance"))
    trace = _trace(run_id, place, label, status)
    last = trace[-1] if trace else {}
    fitted = status not in {"skipped", "memory", "crashed", "error"} and label != "cvxpy_reference"
    rate = -power if power is not None else factor
    row = {
        "run_id": run_id,
        "problem": name.split("[")[0],
        "instance": name.replace("]", ",seed=0]"),
        "instance_label": name,
        "seed": 0,
        "n": n,
        "d": d,
        "kind": kind,
        "queries": queries,
        "solver": label,
        "solver_label": label,
        "library": LIBRARIES.get(label),
        "tol": 1e-8,
        "repetition": 0,
        "order": place * len(LAWS) + list(LAWS).index(label),
        "status": status,
        "reason": reason,
        "traceback": TRACEBACK if status == "error" else None,
        "signal": "SIGSEGV" if status == "crashed" else None,
        "steps": last.get("k"),
        "seconds": last.get("seconds"),
        "setup_seconds": 2.3e-4 if trace else None,
        "value": last.get("value"),
        "gap": last.get("gap"),
        "gap_relative": None if not trace else (last["gap"] or 0.0) / 7,
        "scale": 7.0,
        "suboptimality": last.get("suboptimality"),
        "feasibility": 0.3 if status == "infeasible" else 2.2e-16 if trace else None,
        "support": 4 if trace else None,
        "lmo": last.get("lmo"),
        "fixed_point": ("face", "interior", "vertex", "face", "consensus", "cycle")[place]
        if fitted
        else None,
        "fixed_point_label": "atoms 3 17 20" if fitted else None,
        "rate_class": ("sublinear" if power is not None else "linear") if fitted else None,
        "rate": rate if fitted else None,
        "rate_low": rate - 0.02 if fitted else None,
        "rate_high": rate + 0.02 if fitted else None,
        "rate_from": 20 if fitted else None,
        "rate_to": last.get("k") if fitted else None,
        "rate_signal": ("gap" if kind == "general" else "suboptimality") if fitted else None,
        "rate_reason": "falls by 3.1 decades over 40 rows" if fitted else None,
        "seconds_from": "trace",
    }
    return row, trace


def _targets(run: dict[str, Any], trace: list[dict[str, Any]]) -> list[dict[str, Any]]:
    if not trace:
        return []
    first = 1 if run["solver_label"] == "cvxpy_reference" else 0
    measure = "gap_current" if "moving" in run["solver_label"] else "suboptimality"
    measure = "gap" if run["kind"] == "general" and measure == "suboptimality" else measure
    names = ("k", "seconds", "lmo", measure)
    columns = {name: [row[name] for row in trace[first:]] for name in names}
    met = brackets(columns, measure, columns[measure], run["scale"])
    return [{"run_id": run["run_id"], **row} for row in met]


def _winners(runs: list[dict[str, Any]]) -> list[dict[str, Any]]:
    rows = []
    for place, (_, kind, *_rest) in enumerate(INSTANCES):
        here = [row for row in runs if row["order"] // len(LAWS) == place]
        for exponent in (2, 4, 6, 8, 12):
            nobody = exponent == 12 or (kind == "general" and exponent > 4)
            alone = exponent == 8
            first = here[2] if kind != "general" else here[0]
            rows.append(
                {
                    "instance": first["instance"],
                    "instance_label": first["instance_label"],
                    "kind": kind,
                    "measure": "gap" if kind == "general" else "suboptimality",
                    "target": 10.0**-exponent,
                    "solver_label": None if nobody else first["solver_label"],
                    "run_id": None if nobody else first["run_id"],
                    "seconds": None if nobody else 3.1e-5 * exponent,
                    "lmo": None if nobody else 11 * exponent,
                    "runner_up": None if nobody or alone else here[1]["solver_label"],
                    "ratio": None if nobody or alone else 1.2 * exponent**2,
                    "contest": None if nobody else "alone" if alone else "won",
                    "reached": 0 if nobody else 1 if alone else 4,
                    "of": 7,
                }
            )
    return rows


def _agreement(runs: list[dict[str, Any]]) -> list[dict[str, Any]]:
    rows = []
    for place in range(len(INSTANCES)):
        here = [r for r in runs if r["order"] // len(LAWS) == place and r["fixed_point"]]
        starts = INSTANCES[place][4]
        for i, a in enumerate(here):
            for b in here[i + 1 :]:
                apart = place == 2 and "moving" in b["solver_label"]
                rows.append(
                    {
                        "instance": a["instance"],
                        "instance_label": a["instance_label"],
                        "solver_a": a["solver_label"],
                        "solver_b": b["solver_label"],
                        "starts": starts,
                        "same": starts - 2 if apart else starts,
                        "distance": 0.31 if apart else 3e-9,
                    }
                )
    return rows


def _races(runs: list[dict[str, Any]]) -> list[dict[str, Any]]:
    rows = []
    for run in runs:
        place, which = divmod(run["order"], len(LAWS))
        for target in (1e-4, 1e-8):
            came = run["seconds"] is not None and run["status"] in ("converged", "finished")
            ratio = (1.0, 3.5, 1.0, 27.0, 5.0, 410.0, 9.0)[which]
            rows.append(
                {
                    **{name: run[name] for name in ("instance", "instance_label", "n", "d")},
                    **{name: run[name] for name in ("solver_label", "library", "tol", "run_id")},
                    **{name: run[name] for name in ("status", "gap_relative", "reason")},
                    "target": target,
                    "seconds": 1e-4 * ratio if came else None,
                    "total": 2e-4 * ratio if came else None,
                    "ratio": 0.5 * ratio if came and place else None,
                    "ratio_total": ratio if came else None,
                    "first": came and run["solver_label"] in ("away_steps", "cvxpy_reference"),
                }
            )
    return rows


def _costs(runs: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [
        {
            **{name: run.get(name) for name in costs.COLUMNS},
            "pass_seconds": 7.5e-6,
            "step_seconds": 3e-7,
            "step_passes": 0.04,
            "late_step_seconds": 2.5e-7,
            "late_step_gemvs": 0.031 if run["order"] % 2 else None,
            "solve_passes": 36.5 if run["status"] == "converged" else None,
        }
        for run in runs
        if run["library"] is None and run["seconds"]
    ]


SIZES = (300, 1000, 3000, 10_000, 30_000)


def _sizes() -> list[dict[str, Any]]:
    return [
        {
            "regime": f"min_norm_point[{other}=50,shift=1]" if against == "n" else HOSTILE,
            "against": against,
            "solver_label": label,
            "library": LIBRARIES.get(label),
            "instance": f"min_norm_point[{against}={size}]",
            "size": size,
            "seconds": None if label == HOSTILE and size > 1000 else 1e-7 * size**power,
            "steps": None if label == HOSTILE and size > 1000 else 30,
        }
        for against, other in (("n", "d"), ("d", "n"))
        for label, power in (("away_steps", 1.1), ("cvxpy_reference", 1.9), (HOSTILE, 3.0))
        for size in SIZES
    ]


def _goals() -> list[dict[str, Any]]:
    rows = (
        ("cvxpy with Clarabel / ours", INSTANCES[0][0], True, 300.0, 410.0, True),
        ("ours to 1e-12 / one pricing pass", "ball[n=1000000]", False, 3.0, 3.456, False),
    )
    return [dict(zip(goals.COLUMNS, (*row, HOSTILE), strict=True)) for row in rows]


def _heads() -> list[dict[str, Any]]:
    name, _, n, d, _ = INSTANCES[5]
    spectrum = {"positive": 32, "negative": 31, "largest": 0.5, "smallest": -1.25}
    attention = {"owners": 1 / 24, "tied_owners": 1 / 24, "leaders": 9, "entropy": 1.5}
    return [
        {
            "instance": name.replace("]", f",sentence={sentence}]"),
            "instance_label": HOSTILE if sentence else name,
            "sentence": sentence or HOSTILE,
            "layer": 4,
            "head": 7,
            **{"n": n, "d": d, "antisymmetric": 0.6, "entropy_relative": 0.5, "top_mass": 0.4},
            **spectrum,
            **attention,
            **{"settles": 11, "turns": 10, "pauses": 3 if sentence else 0},
            **{"changes": 5, "settled_at": 9, "faces": "atoms 0 6 9; atoms 2 5"},
            **{"rounds": "atoms 10 13 12 11", "growth": 4.384, "pause_gap": 0.0136},
        }
        for sentence in ("", "1")
    ]


def _layers() -> list[dict[str, Any]]:
    name = INSTANCES[5][0]
    return [
        {
            "instance": name.replace("]", ",seed=0]"),
            "instance_label": name,
            "solver_label": label,
            "moving": place < 1,
            **{"steps": 26, "tokens": 24, "clusters": 1 if place < 1 else None},
            **({"k_low": 10, "k_high": 11} if place < 1 else {}),
            **{"cycling": place * 24, "periods": "3" if place else None},
            **{"energy_start": -0.01, "energy_end": -0.02, "energy_rise": 0.003 * place},
        }
        for place, label in enumerate(("hardmax_attention[keys=moving]", HOSTILE))
    ]


def picture() -> Picture:
    angles = np.sort(np.random.default_rng(42).uniform(0, 2 * np.pi, 7))
    atoms = np.column_stack([np.cos(angles), np.sin(angles)])
    grid = np.linspace(-1.05, 1.05, 160)
    X = np.stack(np.meshgrid(grid, grid), axis=-1)
    cells = (X @ atoms.T).argmax(axis=-1)
    following = np.roll(atoms, -1, axis=0)
    for a, b in zip(atoms, following, strict=True):
        left = (b - a)[0] * (X[..., 1] - a[1]) - (b - a)[1] * (X[..., 0] - a[0])
        cells[left < 0] = -1
    starts = np.random.default_rng(1).uniform(-0.35, 0.35, (6, 2))
    paths = []
    for label, speed in (
        ("frank_wolfe", 2.0),
        ("hardmax_attention[keys=moving]", 1.0),
        (HOSTILE, 4),
    ):
        x, points = starts.copy(), [starts]
        for k in range(40):
            x = x + speed / (k + 2 + speed) * (atoms[(x @ atoms.T).argmax(axis=1)] - x)
            points.append(x)
        paths.append((label, np.array(points)))
    name = INSTANCES[2][0]
    return Picture(
        name.replace("]", ",seed=0]"),
        name,
        atoms,
        np.vstack([atoms, atoms[:1]]),
        grid,
        grid,
        cells,
        starts,
        tuple(paths),
    )


def made_findings() -> Findings:
    """Return 6 instances × 7 solvers."""
    made = [_run(place, label) for place in range(len(INSTANCES)) for label in LAWS]
    runs = [row for row, _ in made]
    sizes = frame("sizes", _sizes())
    trace = frame("trace", [row for _, rows in made for row in rows])
    targets = frame("targets", [row for row, rows in made for row in _targets(row, rows)])
    compared = profiles(frame("runs", runs), trace, targets, {})
    won = standings(frame("runs", runs), targets, compared.efforts)
    fixed = [
        {
            "run_id": row["run_id"],
            "query": query,
            "class": row["fixed_point"],
            "label": f"atom {query % 4}" if row["fixed_point"] == "vertex" else "atoms 3 17 20",
            "certified": query % 5 != 4,
            "support": 3,
            "value": 0.25,
            "gap": 1e-9,
        }
        for row in runs
        if row["fixed_point"]
        for query in range(row["queries"])
    ]
    return Findings(
        manifest={
            "schema": 1,
            "command": "fwbench run -p 'polygon[k=7]' -p digits # <script>alert(2)</script>",
            "created": "2026-09-14T10:21:07+00:00",
            "suite": "quick@1",
            "seeds": [0],
            "versions": {"fwbench": "0.1.0", "numpy": "2.4.6", "scipy": "1.17.1", "cvxpy": "1.9.3"},
            "git": {"revision": "0123456789abcdef", "dirty": True},
            "machine": {
                "cpu": "Imaginary CPU @ 2.00GHz",
                "cores": 2,
                "blas": "openblas",
                "threads": 1,
                "load": 0.31,
            },
            "python": "3.11.2",
        },
        runs=frame("runs", runs),
        trace=trace,
        targets=targets,
        fixed_points=frame("fixed_points", fixed),
        winners=frame("winners", _winners(runs)),
        agreement=frame("agreement", _agreement(runs)),
        pictures=(picture(),),
        races=frame("races", _races(runs)),
        costs=frame("costs", _costs(runs)),
        sizes=sizes,
        growth=growth.growth(sizes),
        goals=frame("goals", _goals()),
        heads=frame("heads", _heads()),
        layers=frame("layers", _layers()),
        profiles=compared,
        standings=won.table,
        firsts=won.firsts,
        rates=made_rates(frame("runs", runs)),
        **made_rests(runs),
    )


EMPTY = ("races", "costs", "sizes", "growth", "goals", "heads", "layers")


def empty_findings() -> Findings:
    """Return findings of a session that was stopped before its first run."""
    return Findings(
        manifest={},
        runs=frame("runs", []),
        trace=frame("trace", []),
        targets=frame("targets", []),
        fixed_points=frame("fixed_points", []),
        winners=frame("winners", []),
        agreement=frame("agreement", []),
        pictures=(),
        **{name: frame(name, []) for name in EMPTY},
    )
