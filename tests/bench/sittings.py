"""How often stored timings are called slower: made sittings of equal code, and of slower code.

A sitting has a level of its own (10 %), a machine that drifts from repetition to repetition, and
noise. Run by ``python -m tests.bench.sittings``.
"""

from collections import Counter

import numpy as np

from fwbench.analysis.changes import Pace
from fwbench.analysis.durations import timings
from fwbench.analysis.sides import Side
from tests.unit.made_sides import side, timed

SITTINGS, REPETITIONS, INSTANCES = 60, 24, 6
LEVEL, DRIFT, NOISE = 0.10, 0.04, 0.02


def sitting(rng: np.random.Generator, factor: float) -> Side:
    """Return runs of one sitting; on the first instance the solver takes `factor` times as long."""
    level, state, drift = np.exp(abs(rng.normal(0, LEVEL))), 0.0, []
    for _ in range(REPETITIONS):
        state = 0.9 * state + rng.normal(0, DRIFT)
        drift.append(max(state, 0.0))
    runs = []
    for place in range(INSTANCES):
        noise = np.exp(np.array(drift) + np.abs(rng.normal(0, NOISE, REPETITIONS)))
        product = 1e-6 * level * np.exp(rng.choice(drift) + abs(rng.normal(0, NOISE / 2)))
        name = f"p{place}"
        seconds = 1e-3 * level * noise * (factor if place == 0 else 1.0)
        runs += timed(seconds, instance=name, instance_label=name, gemv_seconds=float(product))
    return side(*runs)


def main() -> None:
    """Print how many timings were called what, for equal code and for two slowdowns."""
    print("| slower by | the one that is | the others |\n|---|---|---|")
    for factor in (1.0, 1.1, 1.25):
        said: dict[bool, Counter[Pace]] = {True: Counter(), False: Counter()}
        for seed in range(SITTINGS):
            rng = np.random.default_rng(seed)
            base, new = sitting(rng, 1.0), sitting(rng, factor)
            for timing in timings(base, new, zip(base.runs, new.runs, strict=True)):
                said[timing.run.row["instance"] == "p0"][timing.pace] += 1
        told = [", ".join(f"{n} {pace}" for pace, n in said[which].items()) for which in said]
        print(f"| {100 * (factor - 1):.0f} % | {told[0]} | {told[1]} |")


if __name__ == "__main__":
    main()
