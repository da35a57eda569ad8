import tracemalloc

import numpy as np
import pytest

from fwbench.geometry.cells import cells, inside, polygon_of

SQUARE = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0], [0.4, 0.5]])


def area(ring):
    x, y = ring.T
    return 0.5 * float(x[:-1] @ y[1:] - x[1:] @ y[:-1])


def test_a_hull_turns_left_and_closes():
    ring = polygon_of(SQUARE[::-1])
    assert ring.shape == (5, 2)
    np.testing.assert_array_equal(ring[0], ring[-1])
    assert area(ring) == 1.0


def test_points_on_a_line_give_a_segment():
    ring = polygon_of(np.array([[1.0, 1.0], [3.0, 3.0], [2.0, 2.0]]))
    assert sorted(map(tuple, ring[:2])) == [(1.0, 1.0), (3.0, 3.0)]
    np.testing.assert_array_equal(ring[0], ring[-1])


@pytest.mark.parametrize("atoms", [[[1.0, 2.0]], [[1.0, 2.0]] * 3, [[1.0, 2.0], [3.0, 4.0]]])
def test_few_points_give_a_ring(atoms):
    ring = polygon_of(np.array(atoms))
    assert {tuple(point) for point in ring} <= {tuple(atom) for atom in atoms}
    np.testing.assert_array_equal(ring[0], ring[-1])


def test_inside_and_outside():
    points = np.array([[0.5, 0.5], [0.0, 0.5], [1.0, 1.0], [1.1, 0.5], [-0.1, -0.1]])
    assert inside(polygon_of(SQUARE), points).tolist() == [True, True, True, False, False]


def test_the_leader_has_the_least_score():
    rng = np.random.default_rng(3)
    atoms, Q, c = rng.normal(size=(9, 2)), rng.normal(size=(2, 2)), rng.normal(size=2)
    x, y, lead = cells(atoms, Q, c, size=21)
    assert lead.shape == (21, 21)
    ring = polygon_of(atoms)
    for i in range(21):
        for j in range(21):
            point = np.array([x[j], y[i]])
            scores = atoms @ (Q @ point + c)
            expected = int(scores.argmin()) if inside(ring, point[None])[0] else -1
            assert lead[i, j] == expected


def test_cells_of_equal_norms_are_voronoi_cells():
    angles = np.linspace(0, 2 * np.pi, 7)[:-1]
    atoms = np.column_stack([np.cos(angles), np.sin(angles)])
    x, y, lead = cells(atoms, -np.eye(2), np.zeros(2), size=40)
    i, j = np.nonzero(lead >= 0)
    away = np.linalg.norm(np.column_stack([x[j], y[i]])[:, None] - atoms, axis=2)
    assert (
        np.take_along_axis(away, lead[i, j][:, None], 1)[:, 0] <= away.min(axis=1) + 1e-12
    ).all()
    assert set(lead[i, j]) == set(range(6))


def test_a_single_atom_has_its_cell():
    *_, lead = cells(np.array([[2.0, 3.0]]), np.eye(2), np.zeros(2), size=4)
    assert (lead == 0).all()


def test_many_atoms_fit_into_memory():
    angles = np.linspace(0, 2 * np.pi, 601)[:-1]  # the scores of the whole grid are 120 MB
    atoms = np.column_stack([np.cos(angles), np.sin(angles)])
    tracemalloc.start()
    *_, lead = cells(atoms, -np.eye(2), np.zeros(2))
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert lead.shape == (160, 160)
    assert most < 20e6
