"""Small solvers of a user, and what a careless edit makes of them."""

AWAY = '''"""Away-step Frank-Wolfe in plain numpy, with exact steps."""

from dataclasses import dataclass

import numpy as np

from fwbench.geometry.combinations import Combinations
from fwbench.geometry.forms import Kind
from fwbench.solver import SolverEntry


@dataclass
class Weights:
    problem: object
    w: np.ndarray
    steps: int = 0
    done: bool = False
    claim: str | None = None

    @property
    def counters(self):
        return {"lmo": self.steps, "gradient": self.steps, "matvec": self.steps}

    def points(self):
        return (self.problem.mean + self.w @ self.problem.centred)[None, :]

    def weights(self):
        return Combinations.from_dense(self.w)


@dataclass(frozen=True)
class Away:
    def prepare(self, problem):
        return problem

    def init(self, model, start):
        return Weights(model, start.one(0).dense(model.n)[0])

    def advance(self, model, state, steps):
        v, w = model.centred, state.w
        for _ in range(steps):
            x = w @ v
            s = v @ model.centred_field(x)
            j, a = int(s.argmin()), int(np.where(w > 0, s, -np.inf).argmax())
            here = float(w @ s)
            towards = here - s[j] >= s[a] - here
            move = v[j] - x if towards else x - v[a]
            most = 1.0 if towards else w[a] / max(1.0 - w[a], 1e-300)
            fall = max(here - s[j] if towards else s[a] - here, 0.0)
            bend = float(move @ model.form.apply(move))
            drop = not towards and most * bend <= fall
            gamma = min(most, fall / bend) if bend > 0 else most if fall > 0 else 0.0
            w *= 1.0 - gamma if towards else 1.0 + gamma
            w[j if towards else a] += gamma if towards else -gamma
            if drop:
                w[a] = 0.0
            state.steps += 1


ENTRY = SolverEntry(
    name="away", make=Away, label="away steps", reference="made", law="linear",
    kinds=frozenset({Kind.CONVEX}),
)
'''
WALK = '''"""Frank-Wolfe with steps 2/(t + 2): on concave problems it walks to a vertex."""

from dataclasses import dataclass

import numpy as np

from fwbench.geometry.combinations import Combinations
from fwbench.solver import SolverEntry


@dataclass
class Weights:
    problem: object
    w: np.ndarray
    steps: int = 0
    done: bool = False
    claim: str | None = None

    @property
    def counters(self):
        return {"lmo": self.steps, "gradient": self.steps, "matvec": self.steps}

    def points(self):
        return (self.problem.mean + self.w @ self.problem.centred)[None, :]

    def weights(self):
        return Combinations.from_dense(self.w)


@dataclass(frozen=True)
class Walk:
    def prepare(self, problem):
        return problem

    def init(self, model, start):
        return Weights(model, start.one(0).dense(model.n)[0])

    def advance(self, model, state, steps):
        for t in range(state.steps, state.steps + steps):
            s = model.centred @ model.centred_field(state.w @ model.centred)
            j = int(s.argmin())
            gamma = 2.0 / (t + 2.0)
            state.w *= 1.0 - gamma
            state.w[j] += gamma
        state.steps += steps


ENTRY = SolverEntry(name="walk", make=Walk, label="open loop", reference="made", law="none")
'''
# an edit of AWAY or WALK each: what is there, and what it becomes
NEVER_DROPS = (
    ("most = 1.0 if towards else w[a]", "most = 1.0 if towards else 0.5 * w[a]"),
    ("if drop:", "if False:"),
)
FORGETS_TO_CAP = (
    "gamma = min(most, fall / bend) if bend > 0",
    "gamma = (min(most, fall / bend) if towards else fall / bend) if bend > 0",
)
ELSEWHERE = (
    "j = int(s.argmin())\n            gamma",
    "j = int(s.argsort()[int(t == 0)])\n            gamma",
)
TWICE_THE_CALLS = ('"lmo": self.steps', '"lmo": 2 * self.steps')


def edited(source: str, *edits: tuple[str, str]) -> str:
    """Return a solver's source after some edits."""
    for before, after in edits:
        assert source.count(before) == 1, before
        source = source.replace(before, after)
    return source
