"""Maps of basins: what is counted on made ends, and what real runs give where cells are known."""

import numpy as np
import pytest

import fwbench as fw
from fwbench import catalog
from fwbench.analysis.atlas import ELSEWHERE, MOVING, NO_START, Ended, atlas
from fwbench.geometry.cells import cells

ATOMS = np.array([[0.0, 0.0], [6.0, 0.0], [6.0, 6.0], [0.0, 6.0]])
STARTS = np.stack(np.meshgrid(np.arange(1.0, 6.0), np.arange(1.0, 6.0)), axis=-1).reshape(-1, 2)
LEFT = STARTS[:, 0] < 3
MIDDLE = STARTS[:, 0] == 3


def ended(solver, keys, points=None, starts=STARTS):
    keys = np.broadcast_to(keys, len(starts)).astype(np.int64)
    if points is None:
        points = np.where(keys[:, None] >= 0, ATOMS[np.maximum(keys, 0)], starts)
    return Ended(solver, starts, points, keys)


def made(*runs, atoms=ATOMS):
    return atlas("square[seed=0]", "square", atoms, 5.0, list(runs))


def test_a_map_says_where_each_start_ends():
    found = made(ended("a", np.where(LEFT, 0, 1)))
    [basins] = found.basins
    assert basins.keys.tolist() == [[0, 0, 1, 1, 1]] * 5
    assert found.x.tolist() == found.y.tolist() == [1.0, 2.0, 3.0, 4.0, 5.0]
    assert found.ends == (0, 1)
    assert basins.numbers == ((0, 1.0, 3.0), (1, 4.0, 3.0))
    assert (basins.starts, basins.elsewhere, basins.moving) == (25, 0, 0)
    assert found.pairs == ()


def test_borders_run_between_unlike_ends():
    [basins] = made(ended("a", np.where(LEFT, 0, 1))).basins
    assert sorted(basins.borders.tolist()) == [
        [[2.5, y - 0.5], [2.5, y + 0.5]] for y in (1.0, 2.0, 3.0, 4.0, 5.0)
    ]


def test_where_no_start_is_there_is_no_end():
    inside = STARTS[:, 0] + STARTS[:, 1] < 9
    found = made(ended("a", 3, starts=STARTS[inside]))
    keys = found.basins[0].keys
    assert (keys == NO_START).sum() == (~inside).sum() == 3
    assert keys[4, 4] == keys[3, 4] == keys[4, 3] == NO_START
    assert len(found.basins[0].borders) == 0


def test_shares_count_where_both_rest_apart():
    a = ended("a", 0)
    b = ended("b", np.where(MIDDLE, MOVING, np.where(LEFT, 1, 0)))
    found = made(a, b)
    [pair] = found.pairs
    assert (pair.solver_a, pair.solver_b) == ("a", "b")
    assert (pair.starts, pair.resting, pair.apart) == (25, 20, 10)
    assert pair.share == 0.4
    assert pair.vertices
    assert found.basins[1].moving == 5
    np.testing.assert_array_equal(found.differ, [[1, 1, 0, 0, 0]] * 5)


def test_ends_that_are_one_point_do_not_differ():
    on_edge = np.tile([3.0, 0.0], (25, 1))
    a = ended("a", ELSEWHERE, on_edge)
    b = ended("b", ELSEWHERE, on_edge + np.array([4e-3, 0.0]))  # SAME is 1e-3 of a radius of 5
    c = ended("c", ELSEWHERE, on_edge + np.array([6e-3, 0.0]))
    shares = {(p.solver_a, p.solver_b): p.share for p in made(a, b, c).pairs}
    assert shares == {("a", "b"): 0.0, ("a", "c"): 1.0, ("b", "c"): 0.0}
    assert not made(a, b).pairs[0].vertices
    assert made(a, b).basins[0].elsewhere == 25


def test_three_solvers_make_three_pairs_in_order():
    pairs = made(*(ended(name, 0) for name in "abc")).pairs
    assert [(p.solver_a, p.solver_b) for p in pairs] == [("a", "b"), ("a", "c"), ("b", "c")]


@pytest.mark.parametrize("starts", [STARTS[:1], STARTS[::7], STARTS[:20], np.sqrt(STARTS)])
def test_without_a_lattice_there_is_no_map(starts):
    assert made(ended("a", 0, starts=starts)) is None


def test_a_run_from_other_starts_is_left_out():
    direct = ended("direct", 0, starts=STARTS[:1])
    moved = ended("moved", 0, starts=STARTS + 0.25)
    found = made(direct, ended("a", 0), moved)
    assert [basins.solver for basins in found.basins] == ["a"]


def test_no_run_makes_no_map():
    assert made() is None


POLYGON = "polygon[k=6,starts=grid,queries=60]"
SOLVERS = ["hardmax_attention", "hardmax_attention[step=constant(0.5)]", "vertex_enumeration"]


@pytest.fixture(scope="module")
def findings(tmp_path_factory):
    out = tmp_path_factory.mktemp("atlas") / "run"
    return fw.run(problems=[POLYGON], solvers=SOLVERS, out=out, jobs=None).findings


def test_the_basins_of_hardmax_attention_are_the_cells(findings):
    [found] = findings.atlases
    assert [basins.solver for basins in found.basins] == SOLVERS[:2]
    problem = catalog.build_problem(catalog.choices("problems", POLYGON)[0])
    for basins in found.basins:
        row, column = np.nonzero(basins.keys != NO_START)
        points = np.column_stack([found.x[column], found.y[row]])
        assert len(points) == problem.start.m
        np.testing.assert_array_equal(
            basins.keys[row, column], (points @ problem.atoms.T).argmax(axis=1)
        )
    [pair] = found.pairs
    assert (pair.starts, pair.resting, pair.apart) == (len(points), len(points), 0)


def test_a_picture_shows_some_of_many_starts_and_its_cells_as_polygons(findings):
    [picture] = findings.pictures
    assert 20 < len(picture.starts) <= 48
    assert {path.shape[1] for label, path in picture.paths if label in SOLVERS[:2]} == {
        len(picture.starts)
    }
    *_, lead = cells(picture.atoms, -np.eye(2), np.zeros(2))
    assert {key for key, _ in picture.rings} == set(np.unique(lead[lead >= 0]).tolist())


def test_without_being_asked_for_there_are_no_diagrams(findings):
    assert findings.diagrams == ()
