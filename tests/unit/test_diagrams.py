"""The paper's figures of pure geometry: which there are, and that they show what they say."""

import re

import numpy as np
import pytest

import fwbench as fw
from fwbench.analysis.diagrams import (
    EROSION,
    MARGIN,
    Role,
    cell_diagram,
    cone_diagram,
    diagrams,
    power_diagram,
    quadratic_diagram,
)
from fwbench.findings import build
from fwbench.geometry.cells import inside
from fwbench.geometry.clipping import area, sides
from fwbench.store import RunFolder

EXACT = 1e-9  # of areas of order 1, cut a few dozen times


@pytest.fixture(scope="module")
def found():
    return {diagram.name: diagram for diagram in diagrams()}


def sampled(diagram, count=20_000):
    points = np.random.default_rng(0).uniform(-1, 1, (count, 2))
    return points[inside(diagram.hull, points)]


def test_all_figures_of_the_paper_are_there(found):
    cells = [(f"k{k}", "eq-bij") for k in (3, 4, 5, 6, 7, 9, 10, 16, 25)]
    cells += [(f"k{k}", "var-bij") for k in (3, 4, 5, 6, 7, 9, 10)]
    cells += [(f"k{k}", "var-free") for k in (5, 6, 7, 9, 10, 15, 16, 18)]
    expected = [f"paper-cells-{k}-{family}-raw" for k, family in cells]
    expected += [f"paper-quadratic-k{k}" for k in (5, 7, 10)]
    expected += ["paper-dominance-cone-k5", "paper-dominance-cone-k7", "paper-eroded-cone-k7"]
    expected += ["paper-power-voronoi-k5", "paper-power-voronoi-k7"]
    assert list(found) == expected


def test_cells_fill_the_hull(found):
    for diagram in found.values():
        parts = [area(part.ring) for part in diagram.parts if part.role is Role.CELL]
        if parts:
            assert sum(parts) == pytest.approx(area(diagram.hull), rel=EXACT), diagram.name


@pytest.mark.parametrize("family", [(7, "equal", True), (9, "vary", True), (16, "vary", False)])
def test_cells_are_those_of_the_paper_and_of_no_divided_vertices(family):
    diagram = cell_diagram(*family)
    points = sampled(diagram)
    leads = (points @ diagram.atoms.T).argmax(axis=1)
    for part in diagram.parts:
        assert (leads[inside(part.ring, points)] == part.key).all()


def test_a_warning_stands_where_a_published_file_divides_by_the_norms(found):
    warned = {name for name, diagram in found.items() if "divides each vertex" in diagram.note}
    assert warned == {
        *(f"paper-cells-k{k}-var-bij-raw" for k in (3, 4, 5, 6, 7, 9, 10)),
        *(f"paper-cells-k{k}-var-free-raw" for k in (10, 15, 18)),
    }
    unshown = {name for name, diagram in found.items() if "No published file" in diagram.note}
    assert unshown == {
        *(f"paper-cells-k{k}-var-bij-raw" for k in (3, 4, 6, 7, 10)),
        "paper-cells-k15-var-free-raw",
    }


def test_the_warning_says_how_much_differs(found):
    diagram = found["paper-cells-k9-var-bij-raw"]
    points = sampled(diagram, 100_000)
    unit = diagram.atoms / np.linalg.norm(diagram.atoms, axis=1)[:, None]
    apart = (points @ diagram.atoms.T).argmax(axis=1) != (points @ unit.T).argmax(axis=1)
    said = re.search(r"on (\d+)% of the area", diagram.note)
    assert int(said[1]) / 100 == pytest.approx(apart.mean(), abs=0.01)


def test_vertices_that_own_no_cell_are_named(found):
    assert "Vertex 0 does not own its cell." in found["paper-cells-k5-var-bij-raw"].note
    assert "Vertices 1, 2, 3 do not own" in found["paper-cells-k7-var-bij-raw"].note
    assert all(not found[f"paper-cells-k{k}-eq-bij-raw"].note for k in (3, 5, 25))


@pytest.mark.parametrize("k", [5, 4])  # the origin inside, and outside
def test_a_level_holds_what_lies_below_it(k):
    diagram = quadratic_diagram(k)
    points = sampled(diagram)
    energy = 0.5 * (points**2).sum(axis=1)
    values = [part.value for part in diagram.parts]
    assert len(values) == 30
    assert values == sorted(values, reverse=True)
    assert values[0] == pytest.approx(0.5)
    lowest = energy.min()
    assert values[-1] - lowest == pytest.approx((0.5 - lowest) / 30, abs=2e-3)  # by a sample
    for part in diagram.parts:
        # the ring is an ellipse of 240 corners: it lies within the level, by 1/3000 of the radius
        here = inside(part.ring, points)
        assert (energy[here] <= part.value * (1 + 1e-12)).all()
        assert (energy[~here] >= part.value * (1 - 1e-3)).all()


def test_a_cone_leads_by_its_margin_and_erosion_takes_its_rim():
    diagram = cone_diagram(7, EROSION)
    shade, cone, inner = diagram.parts
    assert [part.role for part in diagram.parts] == [Role.SHADE, Role.CONE, Role.ERODED]
    key = shade.key
    np.testing.assert_array_equal(diagram.atoms[key], diagram.hull[2])
    ahead = diagram.atoms[key] - np.delete(diagram.atoms, key, axis=0)
    assert (shade.ring @ ahead.T).min() == pytest.approx(0.0, abs=EXACT)
    assert (cone.ring @ ahead.T).min() == pytest.approx(MARGIN)
    normals, offsets = sides(cone.ring)
    assert (inner.ring @ normals.T - offsets).min() == pytest.approx(EROSION)


@pytest.mark.parametrize("k", [5, 7])
def test_power_cells_are_the_cells_and_voronoi_cells_are_not(k):
    diagram = power_diagram(k)
    points = sampled(diagram, 60_000)
    leads = (points @ diagram.atoms.T).argmax(axis=1)
    near = np.linalg.norm(points[:, None] - diagram.atoms, axis=2).argmin(axis=1)
    for part in diagram.parts:
        here = inside(part.ring, points)
        expected = leads if part.role is Role.CELL else near
        assert (expected[here] == part.key).all()
    said = re.search(r"On (\d+)% of the area", diagram.note)
    assert int(said[1]) / 100 == pytest.approx((leads != near).mean(), abs=0.01)
    voronoi = [area(part.ring) for part in diagram.parts if part.role is Role.VORONOI]
    assert sum(voronoi) == pytest.approx(area(diagram.hull), rel=EXACT)


def test_a_suite_asks_for_them_and_its_folder_remembers(tmp_path):
    path = tmp_path / "mine.toml"
    block = '[[block]]\nproblems = ["polygon"]\nsolvers = ["vertex_enumeration"]\n'
    path.write_text("diagrams = true\n" + block, encoding="utf-8")
    results = fw.run(str(path), out=tmp_path / "run", jobs=None)
    assert len(results.findings.diagrams) == 32
    again = build(RunFolder(tmp_path / "run"))
    assert [d.name for d in again.diagrams] == [d.name for d in results.findings.diagrams]
    path.write_text(block, encoding="utf-8")
    assert fw.run(str(path), out=tmp_path / "other", jobs=None).findings.diagrams == ()
