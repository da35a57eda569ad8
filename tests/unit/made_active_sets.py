"""Arguments for the kernels of passes over the atoms and of exact methods, degenerate ones too."""

import numpy as np

from fwbench.corral import corral, rooted
from fwbench.geometry.combinations import Combinations
from fwbench.geometry.forms import Factored
from fwbench.kernels.active_set import append
from fwbench.kernels.working_set import coordinates, price
from fwbench.problem import QuadraticOverHull

GAUSS = np.random.default_rng(8).standard_normal((40, 5))
FLAT = np.random.default_rng(9).standard_normal((2, 5))

HULLS = {
    "outside": QuadraticOverHull(GAUSS + 0.7),
    "inside, linear": QuadraticOverHull(GAUSS, [1.0, 2.0, 3.0, 4.0, 5.0], GAUSS[0]),
    "repeated": QuadraticOverHull(np.repeat(GAUSS[:6], 3, axis=0) + 0.7),
    "singular": QuadraticOverHull(GAUSS, Factored(FLAT), GAUSS[1]),
    "linear": QuadraticOverHull(GAUSS, 0.0, GAUSS[2]),
    "along": QuadraticOverHull(
        np.outer(GAUSS[:, 0], [2.0, 1.0]), [1.0, -1.0], [1.0, 0.3], kind="convex"
    ),
    "one atom": QuadraticOverHull([[3.0, 4.0]]),
    "float32": QuadraticOverHull((GAUSS[:, :3] + 0.7).astype(np.float32)),
    "plane": QuadraticOverHull(GAUSS[:, :2] + 0.7),
}


def begun(problem):
    model = rooted(problem)
    return model, corral(model, Combinations.vertices([0]))


def scratch(state):
    K, r = state.arrays[0].shape
    return np.zeros(K), np.zeros(r), np.zeros(K)


def grown(problem, most=4):
    """Return a model and a state with some independent atoms in use."""
    model, state = begun(problem)
    row, room = np.empty(model.rank), scratch(state)[2]
    for key in range(1, min(problem.n, most)):
        height = coordinates(model.hull, key, row)
        append(state.arrays, row, height, key, model.shift, room)
    state.arrays[5][: state.size] = 1 / state.size
    return model, state


def atom(model, key):
    row = np.empty(model.rank)
    return row, coordinates(model.hull, key, row)


def passes(problem):
    blocks = -(-problem.n // 7)
    direction = np.linspace(-1.0, 1.5, problem.d)
    keys, values = np.zeros(blocks, dtype=np.int64), np.zeros(blocks)
    return problem.packed, problem.mean, direction, keys, values


def entering(problem, key):
    model, state = grown(problem)
    row, height = atom(model, min(key, problem.n - 1))
    return state.arrays, row, height, min(key, problem.n - 1), model.shift


def exchanged(problem):
    """Return what `exchange` takes after `append` has refused a copy of an atom in use."""
    model, state = grown(problem)
    row, height = atom(model, 0)
    column = scratch(state)[2]
    assert not append(state.arrays, row, height, 0, model.shift, column)
    return state.arrays, row, height, 0, model.shift, -1.0, column


def settled(problem):
    model, state = begun(problem)
    keys = np.arange(min(problem.n, 9))
    rows, heights = np.empty((len(keys), model.rank)), np.empty(len(keys))
    for key in keys:
        heights[key] = coordinates(model.hull, key, rows[key])
    room = np.zeros(len(keys)), np.zeros(len(keys), dtype=bool)
    tail = (1e-9 * model.scale, state.x, np.zeros(1, dtype=bool), room, scratch(state))
    return state.arrays, rows, heights, keys, len(keys), model.shift, *tail


def priced(problem):
    """Return model and state after the pass at the first atom."""
    model, state = begun(problem)
    price(model.hull, state.arrays, *state.kept[:1], model.tie, *state.kept[1:], model.block)
    return model, state


def near(state, room):
    """Return space to keep atoms near the lead, whatever the size of the problem."""
    copies = np.zeros((room, state.model.hull[0].shape[1]), dtype=state.model.hull[0].dtype)
    return (
        np.zeros(room, dtype=np.int64),
        copies,
        np.zeros_like(state.x),
        np.full(4, 0.01) * [0, 0, 0, 1],
    )


def stepped(problem, steps, *extra):
    model, state = begun(problem)
    kept = tuple(near(state, room) for room in extra)
    return (
        model.hull,
        state.arrays,
        state.kept,
        *kept,
        model.block,
        model.sizes,
        state.counts,
        *(() if steps is None else (0, steps)),
    )


def corrective(problem):
    visited = np.arange(min(problem.n, 5))
    return *stepped(problem, None), visited, len(visited)


def triangular(problem):
    _, state = grown(problem)
    return state.arrays[1], state.size, np.linspace(1.0, 2.0, len(state.arrays[1]))


def below(problem):
    atoms, mean, direction, keys, values = passes(problem)
    for room in (0, 2, problem.n):
        copies = np.zeros((room, problem.d), dtype=atoms.dtype)
        kept = np.zeros(room, dtype=np.int64)
        yield atoms, mean, direction, keys, values, 7, 0.1, kept, copies


def minimised(problem, refine):
    _, state = grown(problem)
    return state.arrays, np.array([refine]), scratch(state)


def moved(problem):
    """Return a state whose weights are partly 0."""
    _, state = grown(problem)
    state.arrays[5][1 : state.size] = 0.0
    return (state.arrays,)


SOME = [np.array(row) for row in ([3.0, -1.0, 2.0, -1.0], [0.0, -0.0], [-2.5], [5.0] * 70)]
ARGUMENTS = {
    "product": [(p.packed, np.ones(p.d), np.empty(p.n)) for p in HULLS.values()],
    "centred_product": [
        (p.packed, p.mean, np.ones(p.d), p.n // 3, p.n, np.zeros(p.n)) for p in HULLS.values()
    ],
    "smallest": [(row, len(row)) for row in SOME],
    "largest_magnitude": [(row, len(row)) for row in SOME],
    "place": [(row, len(row), row.view(np.int64)[-1]) for row in SOME],
    "block_leaders": [
        (np.arange(9.0)[::-1] % 4, 14, 23, 7, np.zeros(4, dtype=np.int64), np.zeros(4))
    ],
    "block_minima": [(*passes(p), 7) for p in HULLS.values()],
    "block_minima_below": [a for p in HULLS.values() for a in below(p)],
    "sampled_cut": [(*passes(p)[:3], part) for p in HULLS.values() for part in (0.0, 0.2)],
    "least": [passes(p)[:3] for p in HULLS.values()],
    "first_within": [
        (*passes(p)[:3], bound, np.arange(1) * 7, np.array([0.0]), 7)
        for p in HULLS.values() for bound in (-1.0, 0.5)
    ],
    "offsets_mean": [(p.packed, np.empty(p.d)) for p in HULLS.values()],
    "farthest": [(p.packed, p.mean, np.ones(p.d)) for p in HULLS.values()],
    "placed": [
        (p.packed, p.mean, np.linspace(0.5, 2.0, p.d), np.ones(p.d), np.empty((p.n, p.d + ones)))
        for p in HULLS.values() for ones in (0, 1)
    ],
    "sizes": [
        (p.packed, p.mean, np.ones(p.d), p.c, p.n // 3, p.n, np.zeros(p.n), np.zeros(p.n))
        for p in HULLS.values()
    ],
    "extent": [
        (p.packed, p.mean, np.ones(p.d), *passes(p)[2:], 7) for p in HULLS.values()
    ],
    "inner": [(np.arange(6.0), np.ones(6), size) for size in (0, 1, 6)],
    "copied": [(np.arange(3.0), np.zeros(3))],
    "combined": [(np.eye(4, 3), np.arange(4.0), size, np.ones(3)) for size in (0, 1, 4)],
    "forward": [triangular(p) for p in HULLS.values()],
    "backward": [triangular(p) for p in HULLS.values()],
    "rotate": [
        (np.triu(np.arange(1.0, 26.0).reshape(5, 5), -1), np.ones(5), np.arange(5.0), 0, size)
        for size in (0, 1, 4)
    ],
    "append": [
        (*entering(p, key), scratch(grown(p)[1])[2]) for p in HULLS.values() for key in (0, 7)
    ],
    "remove": [
        (grown(p)[1].arrays, place) for p in HULLS.values() for place in (0, 1)
        if grown(p)[1].size > place + 1
    ],
    "affine_minimiser": [minimised(p, refine) for p in HULLS.values() for refine in (False, True)],
    "shed": [moved(p) for p in HULLS.values()],
    "correct": [minimised(p, refine) for p in HULLS.values() for refine in (False, True)],
    "exchange": [exchanged(p) for p in HULLS.values()],
    "known": [(grown(p)[1].arrays, key) for p in HULLS.values() for key in (0, 39)],
    "enter": [
        (*entering(p, key), -1.0, np.zeros(1, dtype=bool), scratch(grown(p)[1]))
        for p in HULLS.values() for key in (0, 7)
    ],
    "settle": [settled(p) for p in HULLS.values()],
    "coordinates": [
        (begun(p)[0].hull, 0, np.empty(begun(p)[0].rank)) for p in HULLS.values()
    ],
    "direction": [
        (begun(p)[0].hull, begun(p)[1].x, np.empty(begun(p)[0].hull[0].shape[1]))
        for p in HULLS.values()
    ],
    "price": [
        (m.hull, s.arrays, s.x, m.tie, *s.kept[1:], m.block)
        for m, s in map(begun, HULLS.values())
    ],
    "price_near": [
        (m.hull, s.arrays, s.kept, near(s, room), m.block, m.sizes)
        for m, s in map(priced, HULLS.values()) for room in (0, 12)
    ],
    "pricing_rounds": [
        stepped(p, 1, room)
        for name, p in HULLS.items() for room in (0, 12)
        if name not in ("outside", "along")  # one step solves them: rounding decides who leads
    ],
    "major_cycles": [stepped(p, 2) for p in HULLS.values()],
    "corrective_step": [corrective(p) for p in HULLS.values()],
}  # fmt: skip
