"""Made runs, traces and targets, as a run folder would hold them."""

import numpy as np
import pandas as pd

from fwbench.analysis.efforts import Limits
from fwbench.analysis.targets import brackets

ROW = {
    "status": "budget", "reason": None, "signal": None, "repetition": 0, "tol": 1e-8, "n": 50,
    "d": 4, "queries": 1, "seconds_from": "trace", "setup_seconds": 0.0, "host": "one",
    "shared": False,
}  # fmt: skip
LIMITS = Limits(1000, 10.0)


def run(instance, label, checkpoints=(), *, measure="gap", first=0, **row):
    """Return one run; `checkpoints` are (k, seconds, lmo, value), value of a scale of 1."""
    names = ("k", "seconds", "lmo", "value")
    columns = {n: [one[i] for one in checkpoints] for i, n in enumerate(names) if checkpoints}
    last = checkpoints[-1] if checkpoints else (0, None, None, None)
    facts = {"instance": f"{instance}[]", "instance_label": instance, "solver_label": label}
    facts |= {"solver": label.partition("[")[0], "steps": last[0], "seconds": last[1]}
    return {"row": ROW | facts | {"lmo": last[2]} | row, "columns": columns, "measure": measure,
            "first": first}  # fmt: skip


def direct(instance, label, seconds, lmo=None, **row):
    """Return the run of a direct method: its start is none of its answers."""
    points = [(0, 0.0, 0 if lmo else None, 5.0), (1, seconds, lmo, 0.0)]
    return run(instance, label, points, first=1, **row)


def spent(instance, label, calls, **row):
    """Return a run that met all targets at once after so many calls, one a step and millisecond.

    The checkpoint before stands one step earlier: nothing is open. None: it met none.
    """
    if calls is None:
        return run(instance, label, [(0, 0.0, 0, 5.0), (1000, 1.0, 1000, 5.0)], **row)
    before = (calls - 1, (calls - 1) / 1000, calls - 1, 5.0)
    return run(instance, label, [before, (calls, calls / 1000, calls, 0.0)], **row)


def tables(*runs):
    """Return runs, trace, targets and limits."""
    rows, looks, reached, limits = [], [], [], {}
    for number, one in enumerate(runs):
        run_id = f"run{number}"
        rows.append({"run_id": run_id, **one["row"]})
        limits[run_id] = LIMITS
        columns = one["columns"]
        for i in range(len(columns.get("k", ()))):
            look = {"run_id": run_id, "suboptimality": None, "gap": None, "gap_current": None}
            looks.append(look | {name: columns[name][i] for name in ("k", "seconds", "lmo")}
                         | {one["measure"]: columns["value"][i]})  # fmt: skip
        if columns:
            part = {name: column[one["first"] :] for name, column in columns.items()}
            met = brackets(part, one["measure"], list(part["value"]), 1.0)
            reached += [{"run_id": run_id, **row} for row in met]
    trace = pd.DataFrame(looks, columns=["run_id", "k", "seconds", "lmo", "suboptimality", "gap",
                                         "gap_current"])  # fmt: skip
    names = ["run_id", "measure", "target", "k_low", "k_high", "seconds_low", "seconds_high",
             "lmo_high"]  # fmt: skip
    targets = pd.DataFrame(reached, columns=names)
    for table, floats in ((trace, trace.columns[1:]), (targets, names[2:])):
        table[list(floats)] = table[list(floats)].astype(float)
    made = pd.DataFrame(rows)
    for name in ("seconds", "lmo", "setup_seconds", "steps", "n", "d", "queries"):
        made[name] = made[name].astype(float).astype(np.float64)
    return made, trace, targets, limits
