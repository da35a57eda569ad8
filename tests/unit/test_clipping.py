import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from fwbench.geometry.cells import cells, inside, polygon_of
from fwbench.geometry.clipping import (
    area,
    centroid,
    cut,
    dominance,
    eroded,
    power_cell,
    sides,
)

SQUARE = np.array([[0.0, 0.0], [2.0, 0.0], [2.0, 2.0], [0.0, 2.0], [0.0, 0.0]])
NONE = np.zeros(2)
ROUNDING = 1e-12  # of areas of order 1: sums of a few products


def drawn(seed, k=7, low=0.4):
    rng = np.random.default_rng(seed)
    angles, radii = rng.uniform(0, 2 * np.pi, k), rng.uniform(low, 1.0, k)
    return radii[:, None] * np.column_stack([np.cos(angles), np.sin(angles)])


def positive(seed):
    half = np.random.default_rng(seed).normal(size=(2, 2))
    return half @ half.T + 0.1 * np.eye(2)


@pytest.mark.parametrize(
    ("normal", "offset", "expected"),
    [([1, 0], 0.5, 3.0), ([-1, 0], -0.5, 1.0), ([1, 1], 1, 3.5), ([1, 0], -1, 4), ([1, 0], 3, 0)],
)
def test_a_square_is_cut(normal, offset, expected):
    part = cut(SQUARE, np.array([normal], dtype=float), np.array([offset], dtype=float))
    assert area(part) == pytest.approx(expected, abs=ROUNDING)
    assert len(part) == 0 or (part[0] == part[-1]).all()


def test_a_cut_through_corners_repeats_none():
    part = cut(SQUARE, np.array([[1.0, -1.0]]), np.array([0.0]))
    assert len(part) == 4
    assert area(part) == 2.0


def test_the_centre_of_mass_is_that_of_many_points():
    ring = polygon_of(drawn(3))
    points = np.random.default_rng(0).uniform(-1, 1, (200_000, 2))
    mean = points[inside(ring, points)].mean(axis=0)
    np.testing.assert_allclose(centroid(ring), mean, atol=5e-3)  # 1/√100 000


@example(seed=6157, k=6)  # a cell that is one point
@given(seed=st.integers(0, 10_000), k=st.integers(3, 12))
def test_cells_fill_the_hull_and_do_not_overlap(seed, k):
    atoms, Q = drawn(seed, k), -positive(seed)
    c = np.random.default_rng(seed).normal(size=2) / 3
    ring = polygon_of(atoms)
    parts = [dominance(ring, atoms, key, Q, c) for key in range(k)]
    assert sum(map(area, parts)) == pytest.approx(area(ring), rel=1e-9)
    for i in range(k):
        for j in range(i):
            if len(parts[i]) and len(parts[j]):
                normals, offsets = sides(parts[j])
                assert area(cut(parts[i], normals, offsets)) < 1e-9


@pytest.mark.parametrize("turn", [0.0, 0.8])  # a field without potential has cells as well
def test_cells_are_those_of_the_grid(turn):
    atoms, c = drawn(5, 6), np.array([0.1, -0.2])
    Q = np.array([[0.0, turn], [-turn, 0.0]]) - positive(5)
    x, y, lead = cells(atoms, Q, c, size=60)
    ring = polygon_of(atoms)
    points = np.stack(np.meshgrid(x, y), axis=-1).reshape(-1, 2)
    apart = np.sort(points @ Q.T @ atoms.T + atoms @ c, axis=1)
    clear = (lead.ravel() >= 0) & (apart[:, 1] - apart[:, 0] > 1e-9)
    for key in range(len(atoms)):
        part = dominance(ring, atoms, key, Q, c)
        here = inside(part, points) if len(part) else np.zeros(len(points), dtype=bool)
        np.testing.assert_array_equal(here[clear], lead.ravel()[clear] == key)


@given(seed=st.integers(0, 10_000))
def test_cells_are_power_cells(seed):
    atoms, B = drawn(seed, 6), positive(seed)
    ring = polygon_of(atoms)
    norms = np.einsum("ij,jk,ik->i", atoms, B, atoms)
    for key in range(6):
        cell = dominance(ring, atoms, key, -B, NONE)
        power = power_cell(ring, atoms, key, norms, B)
        assert area(power) == pytest.approx(area(cell), abs=1e-9)


def test_with_equal_norms_they_are_voronoi_cells_and_else_not():
    B = positive(1)
    root = np.linalg.cholesky(B)  # ‖v‖_B = 1 for v = L⁻ᵀ u
    equal = np.linalg.solve(root.T, drawn(8, 6, low=1.0).T).T
    vary = drawn(8, 6)
    differ = {}
    for name, atoms in (("equal", equal), ("vary", vary)):
        ring = polygon_of(atoms)
        cell = [dominance(ring, atoms, key, -B, NONE) for key in range(6)]
        voronoi = [power_cell(ring, atoms, key, np.zeros(6), B) for key in range(6)]
        differ[name] = max(abs(area(a) - area(b)) for a, b in zip(cell, voronoi, strict=True))
        # a Voronoi cell holds the points that are nearest to its site
        for key, part in enumerate(voronoi):
            if len(part):
                away = atoms - centroid(part)
                assert np.einsum("ij,jk,ik->i", away, B, away).argmin() == key
    assert differ["equal"] < 1e-12
    assert differ["vary"] > 0.01


@pytest.mark.parametrize("margin", [0.0, 0.05])
def test_erosion_moves_every_side_inwards(margin):
    atoms = drawn(42, 7, low=1.0)
    cone = dominance(polygon_of(atoms), atoms, 2, -np.eye(2), NONE, margin)
    inner = eroded(cone, 0.03)
    assert 0 < area(inner) < area(cone)
    normals, offsets = sides(cone)
    depth = inner @ normals.T - offsets
    assert depth.min() == pytest.approx(0.03, abs=ROUNDING)  # on a side, and never nearer
    # what was taken away is nearer than that to some side
    points = np.random.default_rng(0).uniform(-1, 1, (20_000, 2))
    lost = inside(cone, points) & ~inside(inner, points)
    assert lost.any()
    assert ((points[lost] @ normals.T - offsets).min(axis=1) < 0.03 + ROUNDING).all()


def test_erosion_of_the_whole_leaves_nothing():
    assert len(eroded(SQUARE, 1.01)) == 0
    assert area(eroded(SQUARE, 0.5)) == 1.0
    assert len(eroded(eroded(SQUARE, 1.01), 0.1)) == 0


def test_a_cone_is_a_cell_with_a_margin():
    atoms = drawn(7, 5, low=1.0)
    ring = polygon_of(atoms)
    cell, cone = (dominance(ring, atoms, 2, -np.eye(2), NONE, m) for m in (0.0, 0.05))
    leads = cone @ (atoms[2] - np.delete(atoms, 2, axis=0)).T
    assert leads.min() == pytest.approx(0.05, abs=ROUNDING)
    assert area(cone) < area(cell)


def test_a_repeated_atom_is_no_rival():
    atoms = np.vstack([drawn(2, 5), drawn(2, 5)[:1]])
    ring = polygon_of(atoms[:5])
    once = dominance(ring, atoms[:5], 0, -np.eye(2), NONE)
    np.testing.assert_array_equal(dominance(ring, atoms, 0, -np.eye(2), NONE), once)


@pytest.mark.parametrize("size", [1e-120, 1e-90, 1e90, 1e120])
def test_cells_of_tiny_and_of_huge_hulls_are_those_of_a_hull_of_size_one(size):
    atoms = drawn(5, 6, low=0.5)
    one, other = (
        [area(dominance(polygon_of(s * atoms), s * atoms, i, -np.eye(2), NONE)) for i in range(6)]
        for s in (1.0, size)
    )
    np.testing.assert_allclose(np.array(other) / size / size, one, rtol=1e-12, atol=1e-15)
