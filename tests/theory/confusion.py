"""What the rates read from traces of known law: made ones under noise, and runs of real methods.

``python -m tests.theory.confusion`` prints the table that docs/rates.md shows.
"""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from fwbench.analysis.rates import DECADES, ROWS, Rate, RateClass, rate_of
from fwbench.catalog import build_solver, choices
from fwbench.geometry.combinations import Combinations
from fwbench.problem import QuadraticOverHull

EPS = np.finfo(float).eps
LAWS = ("sublinear", "linear", "late linear", "superlinear", "finite", "none")
CLASSES = {law: RateClass(law.split()[-1]) for law in LAWS}
EACH, SEED = 100, 2030  # traces a law that carry it: 600 in all


def checkpoints(steps: int) -> np.ndarray:
    """Return those of a trace: all up to 16, then each a tenth later than the last."""
    k = list(range(17))
    while k[-1] < steps:
        k.append(min(steps, int(np.ceil(1.1 * k[-1]))))
    return np.array(k)


@dataclass
class Made:
    """A trace of a law, with what the law is; `carries`: whether its rows can tell it at all."""

    law: str
    parameter: float
    carries: bool
    k: np.ndarray
    h: np.ndarray
    scale: float
    width: float

    @property
    def expected(self) -> RateClass:
        return CLASSES[self.law]


def law_of(law, t, rng):
    """Return the clean log h at times t after burn-in, the law's parameter, and where it begins."""
    if law == "sublinear":
        p, shift = rng.choice([0.5, 1.0, 2.0]), rng.choice([1.0, 2.0, 10.0])
        return -p * np.log1p(t / shift), -p, 0
    if law == "linear":
        factor = rng.choice([0.5, 0.7, 0.9, 0.95, 0.98, 0.99, 0.995])
        return t * np.log(factor), factor, 0
    if law == "late linear":  # a power first, as of a method that looks for its face
        factor = rng.choice([0.9, 0.95, 0.98, 0.99, 0.995])
        begins = int(np.exp(rng.uniform(np.log(10.0), np.log(t[-1] / 2.0))))
        power = -rng.choice([0.5, 1.0]) * np.log1p(np.minimum(t, begins))
        return power + np.maximum(t - begins, 0.0) * np.log(factor), factor, begins
    if law == "superlinear":
        return -np.exp(rng.uniform(-4.0, -0.7)) * (1.5 ** np.minimum(t, 60.0) - 1.0), 1.5, 0
    if law == "finite":
        before = [-np.log1p(t), -0.1 * t, 0.0 * t][rng.integers(3)]
        last = int(rng.integers(1, 41))
        return np.where(t >= last, -np.inf, before), last, 0
    kinds = [
        0.0 * t,
        np.log(rng.uniform(0.3, 1.0, 5))[t.astype(int) % int(rng.integers(2, 6))],
        np.log(np.exp(-t * rng.uniform(0.05, 0.7)) + 10.0 ** rng.uniform(-5.0, -1.0)),
    ]
    return kinds[rng.integers(3)], np.nan, 0


def made(law: str, rng: np.random.Generator) -> Made:
    """Return a trace of a law under noise, zig-zag, spikes, burn-in, rounding and a reference."""
    k = checkpoints(int(np.exp(rng.uniform(np.log(60.0), np.log(10_000.0)))))
    burn = 0 if law == "finite" else int(rng.choice([0, 0, 3, 10]))
    clean, parameter, begins = law_of(law, np.maximum(k - burn, 0).astype(float), rng)
    scale = 10.0 ** rng.uniform(-3.0, 3.0)
    clean = clean + np.log(scale) - rng.uniform(0.0, 3.0)
    decays = CLASSES[law] in DECADES
    width = scale * rng.choice([0.0, 0.0, 1e-9, 1e-6]) if decays else 0.0
    noise = rng.choice([0.0, 0.1, 0.3]) * rng.standard_normal(len(k))
    zigzag = rng.choice([0.0, 0.0, 0.3, 0.5]) * (k % rng.choice([2, 3, 5]) == 0)
    spikes = (rng.random(len(k)) < rng.choice([0.0, 0.0, 0.03])) * rng.uniform(1.0, 2.3, len(k))
    rounding = 5 * EPS * scale * rng.standard_normal(len(k))
    h = np.maximum(np.exp(clean + noise + zigzag + spikes) + rounding, 0.0) + width
    above = np.exp(clean) + width > max(1e3 * EPS * scale, 10.0 * width)
    live = above & (k >= max(burn + begins, 1))
    carries = not decays or (
        live.sum() >= ROWS and np.ptp(clean[live]) / np.log(10.0) >= DECADES[CLASSES[law]]
    )
    return Made(law, parameter, bool(carries), k, h, scale, width)


def judged() -> list[tuple[Made, Rate]]:
    """Return made traces with what was read from each: of each law a hundred that carry it."""
    rng, found = np.random.default_rng(SEED), []
    for law in LAWS:
        carried = 0
        while carried < EACH:
            trace = made(law, rng)
            carried += trace.carries
            rate = rate_of(trace.k, trace.h, None, scale=trace.scale, floor=trace.width)
            found.append((trace, rate))
    return found


# -- runs of real methods ------------------------------------------------------------------------


def inside(seed: int) -> np.ndarray:
    """Return atoms whose hull holds the origin well inside: f* = 0."""
    atoms = np.random.default_rng(seed).standard_normal((100, 8))
    return atoms - atoms.mean(axis=0)


def on_face(seed: int) -> np.ndarray:
    """Return atoms whose hull has its least point in the face of first coordinate ½: f* = ⅛."""
    rng = np.random.default_rng(seed)
    face = np.column_stack([np.full(12, 0.5), rng.standard_normal((12, 7))])
    face[:, 1:] -= rng.dirichlet(np.full(12, 5.0)) @ face[:, 1:]
    beyond = rng.standard_normal((30, 8))
    beyond[:, 0] = 0.6 + np.abs(beyond[:, 0])
    return np.vstack([beyond, face])


def path(atoms: np.ndarray, text: str, steps: int) -> np.ndarray:
    """Return k, ½‖x‖² and the gap along a run of one of the suite's solvers, shape (3, r).

    It starts at the first atom, which is off the face of the optimum: from a vertex of that face
    line search may never leave it, and is linear there.
    """
    [choice] = choices("solvers", text)
    solver, problem, rows = build_solver(choice), QuadraticOverHull(atoms), []
    model = solver.prepare(problem)
    state = solver.init(model, Combinations.vertices([0]))
    for k in checkpoints(steps):
        solver.advance(model, state, int(k) - state.steps)
        x = state.points()[0]
        rows.append((k, 0.5 * x @ x, x @ x - (atoms @ x).min()))
        if state.done:
            break
    return np.array(rows).T


@dataclass(frozen=True)
class Real:
    """Runs of a method where theory knows the law."""

    name: str
    solver: str
    places: Callable[[int], np.ndarray]
    least: float
    steps: int
    law: RateClass
    signal: str = "suboptimality"

    def rates(self, seeds: int = 40) -> list[Rate]:
        """Return what is read from the run on each seed."""
        found = []
        for seed in range(seeds):
            atoms = self.places(seed)
            k, value, gap = path(atoms, self.solver, self.steps)
            h = value - self.least if self.signal == "suboptimality" else None
            found.append(rate_of(k, h, gap, scale=float((atoms**2).sum(axis=1).max())))
        return found


POWER, FACTOR = RateClass.SUBLINEAR, RateClass.LINEAR
REAL = (
    Real("open loop, optimum inside", "frank_wolfe[step=open_loop]", inside, 0.0, 3000, POWER),
    Real("the same, its gap", "frank_wolfe[step=open_loop]", inside, 0.0, 3000, POWER, "gap"),
    Real("line search, optimum inside", "frank_wolfe[step=exact]", inside, 0.0, 1000, FACTOR),
    Real("line search, optimum on a face", "frank_wolfe[step=exact]", on_face, 0.125, 3000, POWER),
    Real("away steps, optimum inside", "away_steps", inside, 0.0, 1000, FACTOR),
    Real("away steps, optimum on a face", "away_steps", on_face, 0.125, 3000, FACTOR),
)


# -- the table -----------------------------------------------------------------------------------


def table(traces: list[tuple[Made, Rate]], real: dict[str, list[Rate]]) -> str:
    """Return both as one Markdown table; a rate is the mean of those of the right class."""
    lines = [
        "| traces | " + " | ".join(RateClass) + " | rate |",
        "|---|" + "---:|" * (len(RateClass) + 1),
    ]
    for law in LAWS:
        for carries, more in ((True, ""), (False, ", too short to tell")):
            mine = [rate for trace, rate in traces if (trace.law, trace.carries) == (law, carries)]
            if mine:
                lines.append(_line(f"made: {law}{more}", mine, None))
    lines += [_line(case.name, real[case.name], case.law) for case in REAL if case.name in real]
    return "\n".join(lines)


def _line(name: str, rates: list[Rate], law: RateClass | None) -> str:
    counts = Counter(rate.rate_class for rate in rates)
    cells = [str(counts[kind] or "") for kind in RateClass]
    own = [rate.rate for rate in rates if rate.rate_class is law and rate.rate is not None]
    mean = f"{np.mean(own):.2f} ± {np.std(own):.2f}".replace("-", "−") if own else ""
    return f"| {name} | " + " | ".join([*cells, mean]) + " |"


def shares(traces: list[tuple[Made, Rate]]) -> tuple[float, float]:
    """Return the share of traces read right, of those that carry their law, and wrong, of all."""
    carried = [rate.rate_class is trace.expected for trace, rate in traces if trace.carries]
    wrong = [
        rate.rate_class not in (trace.expected, RateClass.UNDETERMINED) for trace, rate in traces
    ]
    return float(np.mean(carried)), float(np.mean(wrong))


def main() -> None:
    """Print the table, and what it comes to."""
    traces = judged()
    right, wrong = shares(traces)
    print(table(traces, {case.name: case.rates() for case in REAL}))
    print(f"\nMade traces: {right:.0%} right of those that can tell, {wrong:.1%} wrong of all.")


if __name__ == "__main__":
    main()
