"""Arguments for the kernels of the Frank-Wolfe family, degenerate ones too."""

import numpy as np

from fwbench.geometry.combinations import Combinations
from fwbench.kernels.frank_wolfe import FW, REFRESH
from fwbench.kernels.line import BACKTRACKING, EXACT, GIVEN, SHORT
from fwbench.kernels.pairs import CURVED, WORST
from fwbench.kernels.pricing import BLOCK, NEW, PIECE, SEEN
from fwbench.lowering import lowered
from fwbench.problem import QuadraticOverHull
from fwbench.scored import hull_of, scored

SQUARE = [[1.0, 1.0], [1.0, -1.0], [-1.0, 1.0], [-1.0, -1.0]]
GAUSS = np.random.default_rng(5).standard_normal((8, 3))
LONG = np.random.default_rng(6).standard_normal((PIECE + BLOCK + 7, 2))
HALVES = Combinations.from_dense([[0.25] * 4])

HULLS = {
    "random": QuadraticOverHull(GAUSS, [[2.0, 0.5, 0.0], [0.5, 1.0, 0.1], [0, 0.1, 3.0]], GAUSS[0]),
    "ties": QuadraticOverHull(SQUARE, start=HALVES),
    "duplicates": QuadraticOverHull(np.repeat(GAUSS, 2, axis=0) + 1.0),
    "one atom": QuadraticOverHull([[3.0, 4.0]]),
    "one point twice": QuadraticOverHull([[3.0, 4.0], [3.0, 4.0]]),
    "r = 0": QuadraticOverHull(GAUSS, 0.0, [1.0, -2.0, 0.5]),
    "indefinite": QuadraticOverHull(GAUSS, [1.0, -2.0, 0.0], [0.1, 0.2, 0.3]),
}  # fmt: skip
PIECES = QuadraticOverHull(LONG + 1.0)
SEARCHES = (EXACT, SHORT, BACKTRACKING)
STEPS = (GIVEN, *SEARCHES)
# A stretch that holds a refresh; short, because at an optimum rounding decides which of the atoms
# in use is the worst.
FIRST, COUNT = REFRESH - 3, 6
GAMMAS = 2.0 / (np.arange(FIRST, FIRST + COUNT) + 2.0)


def begun(problem, mebibytes=1.0, spare=0, start=None):
    """Return hull and state before any step."""
    model = lowered(problem)
    lipschitz = float(np.linalg.norm(problem.form.apply(np.eye(problem.d)), 2))
    return hull_of(model, lipschitz), scored(
        model, problem.start if start is None else start, mebibytes, spare=spare
    )


def loops(problem, *numbers, spare=0, mebibytes=0.0):
    hull, state = begun(problem, mebibytes, spare)
    return hull, state.kept, *numbers, FIRST, COUNT


def mixed(problem, spare=0, mebibytes=1.0):
    """Return hull and what is kept at a point with every second atom in use, one column cached."""
    weights = np.zeros(problem.n)
    weights[::2] = np.random.default_rng(1).dirichlet(np.ones(len(weights[::2])))
    start = Combinations.from_dense([weights])
    hull, state = begun(problem, mebibytes, spare, start)
    return hull, state.kept


def following(problem, slot):
    hull, kept = mixed(problem)
    kept.slot[:] = slot
    return hull, kept


def refreshing(problem):
    hull, kept = mixed(problem)
    kept.s[:], kept.lows[:], kept.y[:], kept.x[:] = 7.0, 7.0, 7.0, 7.0
    lists = (kept.weight, kept.active, kept.size[0], kept.y, kept.x, kept.s, kept.lows)
    return *hull[:5], *lists, kept.level, kept.directions[0]


def listed(weights, keys):
    """Return weight, reach, active, size and place for some keys of eight atoms."""
    room = 8 - len(keys)
    place = np.full(8, -1, np.int32)
    place[keys] = np.arange(len(keys))
    weight = np.array([*weights, *[0.0] * room])
    active = np.array([*keys, *[0] * room])
    return weight, weight + 1, active, np.array([len(keys)]), place


LISTS = [
    listed([0.5, 0.25, 0.25], [3, 0, 7]),
    listed([0.0, 1.0, 0.0], [5, 2, 1]),
    listed([1.0], [6]),
    listed([np.nan, 0.5], [4, 1]),
]
SCORES = [
    np.array([3.0, 1.0, 1.0, 5.0, 2.0, 1.0 + 1e-15, 4.0, 5.0]),
    np.zeros(8),
    np.array([np.nan] * 8),
]


def vectors(n, count):
    return list(np.random.default_rng(n).standard_normal((count, n)))


def blocks(n):
    return np.zeros(-(-n // BLOCK))


LENGTHS = (1, 7, BLOCK, 2 * BLOCK + 3)


def caches():
    """Caches with no column, one, two, of atoms new, seen and kept."""
    for rows in (0, 1, 2):
        for key in range(4):
            for other in (-1, 2):
                slot = np.array([NEW, SEEN, SEEN, SEEN], np.int32)
                owner = np.full(rows, -1, np.int64)
                for row in range(rows):
                    owner[row], slot[2 + row] = 2 + row, row
                yield key, slot, owner, np.zeros(1, np.int64), other


def passes(kept_rows):
    """Columns that stand in a row, are made into one, or are made and not kept."""
    n = len(LONG)
    hull, _ = begun(PIECES)
    columns = np.random.default_rng(3).standard_normal((2, n))
    pieces = np.zeros((2, PIECE))
    for row, fresh in kept_rows:
        yield hull, columns, row, fresh, pieces, vectors(n, 1)[0], blocks(n)


ROWS = ((0, False), (1, True), (-1, True))

ARGUMENTS = {
    "toward": [loops(p, r, GAMMAS) for p in HULLS.values() for r in STEPS],
    "toward_or_away": [loops(p, r) for p in HULLS.values() for r in SEARCHES],
    "pairwise": [
        loops(p, chooser, r, GAMMAS / 100, spare=chooser == CURVED)
        for p in HULLS.values() for r in STEPS for chooser in (WORST, CURVED)
    ],
    "blended": [
        loops(p, lazy, np.array([0.1]), r)
        for p in HULLS.values() for r in SEARCHES for lazy in (False, True)
    ],
    "swap": [
        (*mixed(p), p.n - 1, 0, (-1, True), rule, 0.01) for p in HULLS.values() for rule in STEPS
    ],
    "admit": [
        (*mixed(p), j, keep, 0.25)
        for p in HULLS.values() for j in (0, p.n - 1) for keep in (0.75, 0.0)
    ],
    "follow": [
        (*following(p, slot), p.n - 1, 0.75, 0.25) for p in HULLS.values() for slot in (NEW, SEEN)
    ],
    "renew": [mixed(p) for p in HULLS.values()],
    "refresh": [refreshing(p) for p in HULLS.values()],
    "count": [(np.zeros(7, np.int64), FW)],
    "drawn": [(0.75, 0.25, *vectors(n, 2)) for n in LENGTHS],
    "carried": [(0.25, *vectors(n, 3)) for n in LENGTHS],
    "energy": [tuple(vectors(n, 2)) for n in LENGTHS],
    "bend": [tuple(vectors(n, 3)) for n in LENGTHS],
    "squared_distance": [tuple(vectors(n, 2)) for n in LENGTHS],
    "total": [(made[0], first, made[3][0]) for made in LISTS for first in (0, 1)],
    "scaled": [(made[0], made[3][0], keep) for made in LISTS for keep in (0.5, 0.0)],
    "normalise": [(made[0], made[3][0]) for made in LISTS],
    "enlist": [(key, 0.5, 2.0, *made) for made in LISTS for key in range(8)],
    "purge": list(LISTS),
    "worst": [(s, tie, m[2], m[3][0]) for s in SCORES for m in LISTS for tie in (0.0, 1e-14)],
    "ends": [(s, tie, m[2], m[3][0]) for s in SCORES for m in LISTS for tie in (0.0, 1e-14)],
    "lowest_at_least": [(2.0, s, m[2], m[3][0]) for s in SCORES for m in LISTS],
    "lowest_at_most": [(2.0, s, m[2], m[3][0]) for s in SCORES for m in LISTS],
    "blocks_of": [(n,) for n in LENGTHS],
    "bottom": [tuple(vectors(n, 1)) for n in LENGTHS],
    "survey": [(*vectors(n, 1), blocks(n)) for n in LENGTHS],
    "leading": [
        (s, np.array([s[i : i + BLOCK].min() for i in range(0, len(s), BLOCK)]), tie)
        for s in (*SCORES, *(vectors(n, 1)[0] for n in LENGTHS)) for tie in (0.0, 1e-14, 1.0)
    ],
    "blend": [(0.75, 0.25, *vectors(n, 2), blocks(n)) for n in LENGTHS],
    "shift": [(0.25, *vectors(n, 3), blocks(n)) for n in LENGTHS],
    "fill": [
        (p.centred, np.ones(p.d), p.centred[:, 0].copy(), np.zeros(p.n)) for p in HULLS.values()
    ],
    "turned": [(np.array([1.0, -1.0, 0.0]), GAUSS, 3, np.zeros(3))],
    "seat": list(caches()),
    "move": [
        (hull.left, hull.linear, columns, row, fresh, np.ones(2), pieces[0], 0.75, 0.25, s, lows)
        for hull, columns, row, fresh, pieces, s, lows in passes(ROWS)
    ],
    "made": [(hull.left, hull.linear, np.ones(2), s) for hull, *_, s, _ in passes(ROWS[:1])],
    "trade": [
        (hull.left, hull.linear, columns, (row, fresh), off, np.eye(2), pieces, 0.25, s, lows)
        for off in ROWS for hull, columns, row, fresh, pieces, s, lows in passes(ROWS)
    ],
    "curved": [
        (SCORES[0], 1.0, SCORES[0] - 1.0, 2.0, 1e-14, m[2], m[1], m[3][0]) for m in LISTS
    ],
}  # fmt: skip
