"""What the kernels of attention are called with."""

import numpy as np

from fwbench.geometry.boxes import boxes

RNG = np.random.default_rng(12)
# Ties and repeated points among them.
CLOUDS = [
    RNG.standard_normal((1, 1)),
    RNG.standard_normal((40, 2)),
    RNG.integers(-2, 3, (300, 2)).astype(float),
    RNG.standard_normal((200, 3)),
]
FIELDS = [np.vstack([-cloud[:5], 0 * cloud[:1]]) for cloud in CLOUDS]
TIES = (0.0, 1e-14, 0.5)


def tables():
    near = np.array([[1.0, 1.0 + 1e-15, 1.0 - 1e-15], [2.0, 2.0, 2.0]])
    return [RNG.standard_normal((5, 70)), near, np.zeros((3, 1)), np.array([[0.9, 0.4, 0.0, 0.7]])]


def room(m):
    return np.zeros(m, dtype=np.int64), np.zeros(m, dtype=np.bool_)


def stacks():
    return np.zeros(128, dtype=np.int64), np.zeros(128)


def tile_arguments(table, tie, before):
    m = len(table)
    lead = np.full(m, 3, dtype=np.int64)
    return table, 7, tie, np.full(m, before), np.full(m, before + tie / 2), lead, room(m)[1]


def each_box(cloud):
    made = boxes(cloud, np.arange(len(cloud)))
    inner = range(int(made.starts[1]), int(made.starts[-1]))
    return [(box, made.starts) for box in inner]


BOXED = [
    (fields, boxes(cloud, np.arange(len(cloud))))
    for fields, cloud in zip(FIELDS, CLOUDS, strict=True)
]
ARGUMENTS = {
    "lead_tile": [
        tile_arguments(table, tie, before)
        for table in tables() for tie in TIES for before in (np.inf, 0.3, -9.0)
    ],
    "lead_rows": [(table, tie, *room(len(table))) for table in tables() for tie in TIES],
    "score_of": [(f, y) for fs, ys in zip(FIELDS, CLOUDS, strict=True) for f in fs for y in ys[:2]],
    "first_below": [
        (f, ys, bar, 99)
        for fs, ys in zip(FIELDS, CLOUDS, strict=True) for f in fs for bar in (-9.0, -0.5, 0.0)
    ],
    "bound": [
        (f, ys[:3].min(axis=0), ys[:3].max(axis=0))
        for fs, ys in zip(FIELDS, CLOUDS, strict=True) for f in fs
    ],
    "inside": [pair for cloud in CLOUDS for pair in each_box(cloud)],
    "least_in_boxes": [(f, made, *stacks()) for fs, made in BOXED for f in fs],
    "first_in_boxes": [
        (f, made, float((made.points @ f).min()) + tie, float((made.points @ f).min()) + less,
         stacks()[0])
        for fs, made in BOXED for f in fs for tie, less in ((0.5, 0.1), (0.5, 0.5))
    ],
    "lead_in_boxes": [
        (fs, made, tie, wide * tie, np.ones(fs.shape[1]), faint, *stacks(), *room(len(fs)))
        for fs, made in BOXED for tie in TIES for faint in (-1.0, 0.4) for wide in (1, 2)
    ],
    "scores_of": [
        (np.ascontiguousarray(fs.T), 1, 2, ys[0], np.zeros(3))
        for fs, ys in zip(FIELDS, CLOUDS, strict=True)
    ],
    "lead_among_few": [
        (np.ascontiguousarray(fs.T), ys[:40], tie, np.ones(fs.shape[1]), faint, np.zeros((4, 4)),
         *room(len(fs)))
        for fs, ys in zip(FIELDS, CLOUDS, strict=True) for tie in TIES for faint in (-1.0, 0.4)
    ],
    "approach": [
        (RNG.standard_normal(n), RNG.standard_normal(n), np.array(lengths))
        for n in (1, 1500) for lengths in ([], [0.5, 0.25], [1.0, 0.3])
    ],
    "least_of": [(row,) for table in tables() for row in table],
    "soften": [
        (table, sharpness, np.full(len(table), before), np.ones(len(table)), np.zeros(len(table)))
        for table in tables() for sharpness in (1.0, 30.0, 5000.0) for before in (1e300, 0.3, -9.0)
    ],
}  # fmt: skip
