"""How often the gate errs on this machine: ``python -m tests.bench.gate``; about an hour.

Prints a line a trial on stderr, then the tables that docs/gate.md keeps: the cell that the gate is
tried on by default, with all slowdowns, and others whose seconds depend more on where their memory
lies. Of the first it says whether what was asked for is reached: no alarm among 150 trials of the
same code, four of five slowdowns by 10 % found and 19 of 20 by 25 %, a trial within 20 s.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import numpy as np

from fwbench.gating.code import twice
from fwbench.gating.power import Row, Table
from fwbench.gating.trials import SLOWDOWNS, SLOWED, TRIALS, aa, cell

CELLS = {
    "Frank-Wolfe": cell(),
    "A layer of attention": cell("token_cloud[n=100,d=8]", "softmax_attention[beta=3]", 20),
    "Short steps among few atoms": cell("min_norm_point[n=200,d=20]", "away_steps"),
}
REACH = {0.10: 0.80, 0.25: 0.95}
LONGEST = 20.0


def reached(table: Table) -> list[str]:
    """Return what was to be reached, and what was found."""
    rows: dict[float, Row] = {row.slowdown: row for row in table.rows}
    found = [f"false alarms: {table.false_alarms} of {rows[0.0].trials} (0 of {TRIALS} asked)"]
    for slowdown, power in REACH.items():
        if slowdown in rows:
            share = rows[slowdown].alarms / rows[slowdown].trials
            found.append(f"+{100 * slowdown:g} %: {100 * share:.0f} % ({100 * power:.0f} % asked)")
    longest = max(row.seconds[1] for row in rows.values())
    return [*found, f"longest trial: {longest:.1f} s (at most {LONGEST:g} asked)"]


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--trials", type=int, default=TRIALS, help="of the same code")
    parser.add_argument("--slowed", type=int, default=SLOWED, help="of each slowdown")
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    with twice(Path.cwd()) as (base, new):
        for place, (name, one) in enumerate(CELLS.items()):
            first = place == 0
            table = aa(
                base,
                new,
                one,
                asked.trials if first else asked.trials // 3,
                np.random.default_rng(asked.seed),
                slowed=asked.slowed if first else asked.slowed // 2,
                slowdowns=SLOWDOWNS if first else tuple(REACH),
                told=lambda said: print(said, file=sys.stderr, flush=True),
            )
            print(f"{name}: `{one.base.solver}` on `{one.base.problem}`\n\n{table.text}\n")
            if first:
                print("Asked for: " + "; ".join(reached(table)) + ".\n", flush=True)


if __name__ == "__main__":
    main()
