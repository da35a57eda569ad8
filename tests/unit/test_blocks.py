"""Atoms in blocks: the same problem, the same steps, few passes, and files that are not trusted."""

import copy
import os
import pickle
import re
from pathlib import Path

import dask
import dask.array as da
import numpy as np
import pandas
import pytest

import fwbench as fw
from fwbench import catalog
from fwbench.blocks import Blocks
from fwbench.choose import choose
from fwbench.chunked import Chunked
from fwbench.errors import InvalidProblem, Refused
from fwbench.geometry.combinations import Combinations
from fwbench.geometry.forms import Factored, LowRank
from fwbench.reductions import BLOCKWISE
from fwbench.rest import facts
from fwbench.runner import Budget, run
from fwbench.trace import Status
from fwbench.yardsticks import yardsticks

from .made_blocks import chunked, folder, held, parquet

N, D = 1500, 5
SOURCES = ("npy", "columns", "parquet", "both", "dask")
FAMILY = (
    "frank_wolfe", "frank_wolfe[step=open_loop(6)]", "frank_wolfe[step=constant(1/4)]",
    "frank_wolfe[step=exact]", "frank_wolfe[step=short]", "frank_wolfe[step=backtracking]",
    "away_steps", "away_steps[step=short]", "pairwise", "pairwise[step=backtracking]",
    "blended_pairwise", "blended_pairwise[lazy=yes]",
)  # fmt: skip


@pytest.fixture(autouse=True)
def small_pieces(monkeypatch):
    """Cut everything into many pieces, and let no chunk run in a thread that outlives the test."""
    monkeypatch.setattr("fwbench.pieces.PIECE", 2**13)
    for module in ("blocks", "chunked"):
        monkeypatch.setattr(f"fwbench.{module}.FOLD", 3)
    with dask.config.set(scheduler="synchronous"):
        yield


def gauss(seed, *shape):
    return np.random.default_rng(seed).standard_normal(shape)


def dense(seed, eigenvalues):
    vectors, _ = np.linalg.qr(gauss(seed, D, D))
    return (vectors * eigenvalues) @ vectors.T


ATOMS = gauss(0, N, D) + 2
C = np.linspace(-0.2, 0.3, D)
FORMS = {
    "scalar": 1.0,
    "diagonal": np.linspace(0.0, 2.0, D),
    "dense": dense(1, np.linspace(0.1, 2, D)),
    "factored": Factored(gauss(2, 3, D)),
    "concave": -0.5,
    "indefinite": dense(3, np.linspace(-1, 2, D)),
    "field": LowRank(gauss(4, D, D)),
}


def both(tmp_path, atoms=ATOMS, Q=1.0, source="npy", c=C):
    """Return one problem twice: in memory, in blocks."""
    listed = fw.QuadraticOverHull(atoms, Q, c)
    return listed, fw.QuadraticOverHull(held(tmp_path, atoms, source), Q, c)


def assert_near(a, b, scale=1.0, within=1e-12):
    np.testing.assert_allclose(a, b, rtol=0, atol=within * scale)


# -- the same problem ------------------------------------------------------------------------


@pytest.mark.parametrize("source", SOURCES)
def test_what_a_problem_knows_of_its_hull(tmp_path, source):
    listed, blocks = both(tmp_path, source=source)
    assert (blocks.n, blocks.d, blocks.dtype) == (N, D, np.float64)
    assert not blocks.in_memory
    keys = [N - 1, 0, N // 2, N // 7, N // 7 - 1, 0]
    assert np.array_equal(blocks.rows(keys), ATOMS[keys])
    assert_near(blocks.offsets(keys), listed.offsets(keys))
    direction = gauss(5, D)
    assert blocks.oracle(direction) == listed.oracle(direction)
    assert_near(blocks.least_score(direction), listed.least_score(direction))


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("source", ["npy", "dask"])
def test_every_form_of_q_has_the_same_scale_kind_and_start(tmp_path, form, source):
    listed, blocks = both(tmp_path, Q=FORMS[form], source=source)
    assert blocks.kind == listed.kind
    for name in ("mean", "centred_c", "scale", "quadratic_scale", "radius", "value_at_mean", "tie"):
        assert_near(getattr(blocks, name) / listed.scale, getattr(listed, name) / listed.scale)
    assert np.array_equal(blocks.start.keys, listed.start.keys)
    assert_near(blocks.least_vertex_value, listed.least_vertex_value, listed.scale)
    x = gauss(6, 3, D)
    assert_near(blocks.value(x), listed.value(x), listed.scale)
    assert_near(blocks.centred_field(x), listed.centred_field(x), listed.scale)


def test_single_precision_stays_what_it_is(tmp_path):
    atoms = ATOMS.astype(np.float32)
    for source in ("npy", "parquet", "dask"):
        (tmp_path / source).mkdir()
        listed, blocks = both(tmp_path / source, atoms, source=source)
        assert blocks.dtype == np.float32
        assert_near(blocks.scale / listed.scale, 1)
        a, b = fw.solve(listed), fw.solve(blocks)
        assert_near(a.x, b.x, within=1e-9)


def test_integers_and_half_precision_become_doubles(tmp_path):
    whole = np.round(10 * ATOMS).astype(np.int32)
    for kind in (np.int32, np.float16, ">f8"):
        path = tmp_path / np.dtype(kind).name
        path.mkdir()
        blocks = fw.QuadraticOverHull(folder(path / "blocks", whole.astype(kind)))
        assert blocks.dtype == np.float64
        assert_near(blocks.scale / fw.QuadraticOverHull(whole).scale, 1)


def test_a_cloud_far_from_the_origin_keeps_its_digits(tmp_path):
    near, far = both(tmp_path, ATOMS + 2.0**20, c=np.full(D, -(2.0**20)))
    assert_near(far.mean, near.mean, 2.0**20, 1e-15)
    assert_near(far.scale / near.scale, 1)


def test_a_kind_that_holds_by_rounding_is_looked_at_over_the_hull(tmp_path):
    atoms = ATOMS * np.r_[1e-9, np.ones(D - 1)]
    atoms[:, -1] *= 1e9
    Q = np.r_[1.0, np.ones(D - 2), -1e-13]
    listed, blocks = both(tmp_path, atoms, Q)
    assert listed.kind == blocks.kind == "indefinite"
    assert blocks.atoms.passes["kind"] == 1


def test_a_declared_kind_is_checked_as_far_as_that_goes(tmp_path):
    blocks = folder(tmp_path / "blocks", ATOMS)
    assert fw.QuadraticOverHull(blocks, kind="convex").kind == "convex"
    with pytest.raises(InvalidProblem, match="declared convex, but Q is concave"):
        fw.QuadraticOverHull(blocks, -1.0, kind="convex")


def test_the_fingerprint_is_of_the_content(tmp_path):
    first = fw.QuadraticOverHull(folder(tmp_path / "a", ATOMS))
    again = fw.QuadraticOverHull(folder(tmp_path / "b", ATOMS))
    other = ATOMS.copy()
    other[N // 3, 2] += 1e-15 * np.abs(other[N // 3, 2]) + 1e-15
    third = fw.QuadraticOverHull(folder(tmp_path / "c", other))
    assert first.fingerprint == again.fingerprint != third.fingerprint


def test_a_problem_in_blocks_can_be_pickled_and_begun_afresh(tmp_path):
    for source in ("npy", "dask"):
        problem = fw.QuadraticOverHull(held(tmp_path, ATOMS, source), c=C)
        x = fw.solve(problem).x
        assert np.array_equal(fw.solve(pickle.loads(pickle.dumps(problem))).x, x)
        assert np.array_equal(fw.solve(problem.unprepared()).x, x)


# -- the same steps --------------------------------------------------------------------------


@pytest.mark.parametrize("source", SOURCES)
def test_the_working_set_gives_the_same_answer(tmp_path, source):
    for form in ("scalar", "diagonal", "dense", "factored"):
        listed, blocks = both(tmp_path, Q=FORMS[form], source=source)
        a, b = fw.solve(listed, "working_set", tol=1e-13), fw.solve(blocks, tol=1e-13)
        assert b.solver == "working_set"
        assert b.status is Status.CONVERGED
        assert b.gap_relative <= 1e-13
        assert_near(b.value, a.value, listed.scale)
        if form in ("scalar", "dense"):  # strictly convex: the point is unique, here weights too
            assert_near(b.x, a.x, within=1e-9)
            assert set(b.combinations.keys) == set(a.combinations.keys)
            assert len(b.combinations.keys) > 2


@pytest.mark.parametrize("method", FAMILY)
@pytest.mark.parametrize("form", ["scalar", "dense", "indefinite"])
def test_the_family_takes_the_same_steps(tmp_path, method, form):
    listed, blocks = both(tmp_path, Q=FORMS[form])
    steps = 25
    solver = catalog.build_solver(catalog.choices("solvers", method)[0])
    states = []
    for problem in (listed, blocks):
        model = solver.prepare(problem)
        state = solver.init(model, problem.start)
        path = []
        for _ in range(steps):
            solver.advance(model, state, 1)
            path.append(state.points()[0])
        states.append((state, path))
    (a, one), (b, other) = states
    assert_near(one, other, listed.radius, 1e-10)
    assert_near(a.weights().dense(N), b.weights().dense(N), within=1e-10)
    if form != "indefinite":  # at a vertex the kind of a step of no length is rounding
        assert a.counters == b.counters


def test_a_field_takes_the_same_open_loop_steps(tmp_path):
    listed, blocks = both(tmp_path, Q=FORMS["field"])
    a, b = (fw.solve(p, "frank_wolfe", max_steps=20) for p in (listed, blocks))
    assert_near(a.x, b.x, listed.radius)
    assert_near(a.gap, b.gap, listed.scale)


@pytest.mark.parametrize("method", [*FAMILY, "working_set"])
def test_stretches_add_up_to_the_bits_of_one_call(tmp_path, method):
    problem = fw.QuadraticOverHull(folder(tmp_path / "blocks", ATOMS), FORMS["dense"], C)
    solver = catalog.build_solver(catalog.choices("solvers", method)[0])
    start = Combinations.from_dense(np.eye(N)[[3, 700]].mean(axis=0))
    model = solver.prepare(problem)
    whole, parts = solver.init(model, start), solver.init(model, start)
    solver.advance(model, whole, 9)
    solver.advance(model, parts, 1)
    parts.points(), parts.weights()
    parts = pickle.loads(pickle.dumps(copy.deepcopy(parts)))
    solver.advance(model, parts, 5)
    solver.advance(model, parts, 3)
    assert np.array_equal(whole.points(), parts.points())
    for name in ("indptr", "keys", "data"):
        assert np.array_equal(getattr(whole.weights(), name), getattr(parts.weights(), name))
    assert (whole.steps, whole.done, whole.counters) == (parts.steps, parts.done, parts.counters)


@pytest.mark.parametrize("method", ["working_set", "away_steps"])
def test_a_start_is_kept_until_the_first_step(tmp_path, method):
    problem = fw.QuadraticOverHull(folder(tmp_path / "blocks", ATOMS))
    solver = catalog.build_solver(catalog.choices("solvers", method)[0])
    start = Combinations(np.array([0, 3]), np.array([9, 4, 9]), np.array([0.25, 0.5, 0.25]))
    state = solver.init(solver.prepare(problem), start)
    assert_near(state.points()[0], ATOMS[[4, 9]].mean(axis=0))
    assert_near(state.weights().dense(N)[0, [4, 9]], [0.5, 0.5])


def test_several_queries_are_judged_one_by_one(tmp_path):
    listed, blocks = both(tmp_path)
    a, b = (fw.solve(p, "pairwise", start=[0, 5, N - 1], max_steps=8) for p in (listed, blocks))
    assert b.x.shape == (3, D)
    assert_near(a.x, b.x, listed.radius)
    assert_near(a.gap, b.gap, listed.scale)


# -- ties ------------------------------------------------------------------------------------


@pytest.mark.parametrize("source", ["npy", "dask"])
def test_the_lowest_key_leads_wherever_the_others_lie(tmp_path, source):
    atoms = ATOMS.copy()
    lowest = np.full(D, -3.0)
    for key in (N - 1, N // 2, N // 7, 130, 77):
        atoms[key] = lowest
        (tmp_path / str(key)).mkdir()
        problem = fw.QuadraticOverHull(held(tmp_path / str(key), atoms, source))
        assert problem.oracle(np.ones(D)) == key
        assert problem.start.keys.tolist() == [key]
        one = fw.solve(problem, "frank_wolfe", start=[0], max_steps=1)
        assert one.combinations.keys.tolist() == [key]


def test_an_atom_within_the_tie_of_all_leads_its_group_or_not(tmp_path):
    # key 10 is within the tie of the least of its group, but not of the least of all
    atoms = np.column_stack([np.linspace(1, 2, 400), np.zeros(400)])
    along = np.array([1.0, 0.0])
    atoms[399, 0] = 0.5
    tie = fw.QuadraticOverHull(atoms, 0.0, along).tie
    for parts, first in (((0.9, 0.6, 0.0), 11), ((0.6, 0.9, 0.0), 10), ((0.9, 0.9, 0.0), 12)):
        atoms[[10, 11, 12], 0] = 0.5 + np.array(parts) * tie
        atoms[399, 0] = 0.5 - 0.3 * tie
        listed = fw.QuadraticOverHull(atoms, 0.0, along)
        assert listed.start.keys.tolist() == [first]
        for source in ("npy", "dask"):
            problem = fw.QuadraticOverHull(held(tmp_path, atoms, source), 0.0, along)
            assert problem.start.keys.tolist() == [first]
            found = problem.passes.leaders(problem.mean, along, tie)
            key, row = problem.passes.foremost(problem.mean, along, tie, found)
            assert key == first == listed.passes.leader(listed.mean, along, tie)
            assert np.array_equal(row, atoms[key])


# -- passes ----------------------------------------------------------------------------------


@pytest.mark.parametrize("source", ["npy", "parquet", "dask"])
def test_an_exact_solution_costs_a_handful_of_passes(tmp_path, source):
    for form in ("scalar", "diagonal", "dense", "factored"):
        problem = fw.QuadraticOverHull(held(tmp_path, ATOMS, source), FORMS[form], C)
        assert dict(problem.atoms.passes) == {"mean": 1}
        solution = fw.solve(problem, tol=1e-12)
        made = dict(problem.atoms.passes)
        assert solution.status is Status.CONVERGED
        assert made == {"mean": 1, "extent": 1, "leaders": solution.steps, "least": 1}
        assert solution.steps <= 8
        assert solution.passes == sum(made.values()) - 1
        whole = ATOMS.nbytes
        assert problem.atoms.bytes_read >= sum(made.values()) * whole
        beside = solution.bytes_read - solution.passes * whole  # single rows, for Dask whole chunks
        assert beside <= (3 * whole if source == "dask" else 100 * ATOMS[0].nbytes)


def test_listed_atoms_have_no_passes():
    solution = fw.solve(fw.QuadraticOverHull(ATOMS))
    assert solution.passes is None
    assert solution.bytes_read is None


def test_a_step_of_the_family_is_one_pass_and_a_lazy_one_may_be_none(tmp_path):
    problem = fw.QuadraticOverHull(folder(tmp_path / "blocks", ATOMS), FORMS["dense"])
    steps = 30
    for method in ("frank_wolfe", "away_steps", "pairwise", "blended_pairwise"):
        before = problem.atoms.passes["leaders"]
        fw.solve(problem, method, max_steps=steps, tol=1e-15)
        assert problem.atoms.passes["leaders"] - before == steps
    before = problem.atoms.passes["leaders"]
    fw.solve(problem, "blended_pairwise[lazy=yes]", max_steps=steps, tol=1e-15)
    assert 0 < problem.atoms.passes["leaders"] - before < steps


def test_no_more_than_a_piece_is_handed_out(tmp_path):
    blocks = folder(tmp_path / "blocks", ATOMS, "both")
    sizes = blocks.reduce("sizes", lambda piece, first: (first, len(piece), piece.nbytes))
    assert max(nbytes for _, _, nbytes in sizes) <= 2**13
    firsts, lengths, _ = zip(*sizes, strict=True)
    assert list(firsts) == np.cumsum([0, *lengths])[:-1].tolist()
    assert sum(lengths) == N


@pytest.mark.parametrize("source", ["npy", "dask"])
def test_what_a_pass_brings_along_is_bounded_and_still_right(tmp_path, monkeypatch, source):
    monkeypatch.setattr("fwbench.reductions.MOST_LEADERS", 7)
    atoms = ATOMS.copy()
    atoms[[N // 2 + 3, N // 7 + 1]] = -3.0
    listed, blocks = both(tmp_path, atoms, FORMS["dense"], source)
    assert len(blocks.at_mean.leaders.keys) <= 7
    assert blocks.oracle(np.ones(D)) == N // 7 + 1
    direction = gauss(8, D)
    for tie in (0.0, 1e-3, 0.3):
        found = blocks.passes.leaders(blocks.mean, direction, tie)
        scores = listed.offsets(np.arange(N)) @ direction
        assert len(found.keys) <= 7
        assert_near(found.least.min(), scores.min())
        assert_near((found.rows - blocks.mean) @ direction, found.scores)
        key, row = blocks.passes.foremost(blocks.mean, direction, tie, found)
        assert_near(row, atoms[key])
        assert scores[key] <= scores.min() + tie + 1e-12
    assert blocks.passes.leader(blocks.mean, direction, 0.0) == scores.argmin()
    assert_near(fw.solve(blocks, tol=1e-13).x, fw.solve(listed, tol=1e-13).x, within=1e-9)


def test_a_leader_of_many_groups_is_within_the_tie_of_all(tmp_path, monkeypatch):
    monkeypatch.setattr("fwbench.reductions.MOST_LEADERS", 5)
    atoms = np.random.default_rng(0).integers(0, 3, (N, 2)) + 1e-3 * gauss(9, N, 2)
    blocks = fw.QuadraticOverHull(folder(tmp_path / "blocks", atoms), 1.0)
    for seed in range(20):
        direction, tie = gauss(seed, 2), 2e-3
        scores = (atoms - blocks.mean) @ direction
        found = blocks.passes.leaders(blocks.mean, direction, tie)
        assert len(found.keys) <= 5
        assert [found.begin[0], *found.end] == [*found.begin, N]
        key, row = blocks.passes.foremost(blocks.mean, direction, tie, found)
        assert key == np.flatnonzero(scores <= scores.min() + tie)[0]
        assert np.array_equal(row, atoms[key])


# -- who runs --------------------------------------------------------------------------------


def test_the_solvers_that_run_are_those_that_are_named():
    found = []
    for name in catalog.names("solvers"):
        if getattr(catalog.entry("solvers", name).make, "blockwise", False):
            found.append(name)
    assert sorted(found) == sorted(BLOCKWISE)


@pytest.mark.parametrize("name", ["vertex_enumeration", "min_norm_point", "hardmax_attention"])
def test_others_refuse_and_name_those_that_run(tmp_path, name):
    problem = fw.QuadraticOverHull(folder(tmp_path / "blocks", ATOMS))
    if name == "vertex_enumeration":
        problem = fw.QuadraticOverHull(problem.atoms, -1.0)
    with pytest.raises(Refused, match=r"needs the atoms in memory.*working_set"):
        fw.solve(problem, name)
    [choice] = catalog.choices("solvers", name)
    done = run(problem, catalog.build_solver(choice), choice.entry, Budget())
    assert done.status is Status.SKIPPED
    assert "in memory" in done.reason


def test_exact_arithmetic_refuses(tmp_path):
    problem = fw.QuadraticOverHull(folder(tmp_path / "blocks", ATOMS))
    with pytest.raises(Refused, match="arithmetic=exact needs the atoms in memory"):
        fw.solve(problem, "frank_wolfe[arithmetic=exact]")


@pytest.mark.parametrize("key", [-1, N])
def test_keys_that_name_no_atom_are_refused(tmp_path, key):
    problem = fw.QuadraticOverHull(folder(tmp_path / "blocks", ATOMS))
    with pytest.raises(InvalidProblem, match="keys name atoms 0 to 1499"):
        problem.rows([0, key])


def test_there_is_no_array_of_all_atoms(tmp_path):
    problem = fw.QuadraticOverHull(folder(tmp_path / "blocks", ATOMS))
    for name in ("packed", "centred", "exact_atoms"):
        with pytest.raises(Refused, match="they lie in blocks"):
            getattr(problem, name)


def test_auto_takes_what_runs_in_blocks(tmp_path):
    blocks = folder(tmp_path / "blocks", ATOMS)
    for form, name in (
        ("dense", "working_set"), ("concave", "away_steps"), ("indefinite", "away_steps"),
        ("field", "frank_wolfe"),
    ):  # fmt: skip
        problem = fw.QuadraticOverHull(blocks, FORMS[form])
        assert choose(problem) == name
        assert fw.solve(problem, max_steps=5).solver == name


def test_a_q_that_is_semidefinite_by_rounding_has_no_root(tmp_path):
    Q = np.diag(np.r_[np.ones(D - 1), -1e-7])
    problem = fw.QuadraticOverHull(folder(tmp_path / "blocks", ATOMS.astype(np.float32)), Q)
    if problem.kind == "convex":
        with pytest.raises(Refused, match="without negative eigenvalues"):
            fw.solve(problem, "working_set")
        assert choose(problem) == "away_steps"


@pytest.mark.parametrize("source", ["npy", "dask"])
def test_runs_are_made_and_come_to_rest_where_those_in_memory_do(tmp_path, source):
    listed, blocks = both(tmp_path, source=source)
    for name in ("working_set", "away_steps"):
        [choice] = catalog.choices("solvers", name)
        a, b = (
            run(p, catalog.build_solver(choice), choice.entry, Budget(max_steps=200))
            for p in (listed, blocks)
        )
        assert a.status is b.status is Status.CONVERGED
        assert a.rest is not None
        assert b.rest is not None
        for fact in ("nearest", "leads", "leads_itself", "face", "hull"):
            assert a.rest[fact] == b.rest[fact], fact
        assert_near(a.rest["distance"], b.rest["distance"], within=1e-6)


def test_what_lies_around_a_point_is_the_same(tmp_path):
    flat = ATOMS.copy()
    flat[:, -1] = 0.5  # a hull of dimension d − 1
    listed, blocks = both(tmp_path, flat)
    weights = Combinations.from_dense(np.eye(N)[[[3, 8], [5, 5]]].mean(axis=1))
    offset = weights.averages(listed.offsets(weights.keys))
    a, b = (facts(p, offset, np.ones(2), [offset], weights, [None] * 2) for p in (listed, blocks))
    assert a["hull"] == [D - 1] * 2
    for name in ("nearest", "leads", "leads_itself", "face", "hull", "support"):
        assert a[name] == b[name], name
    for name in ("distance", "drift", "value"):
        assert_near(a[name], b[name])


def test_a_pass_is_timed_and_no_product_made(tmp_path):
    found = yardsticks(fw.QuadraticOverHull(folder(tmp_path / "blocks", ATOMS)))
    assert found["pass_seconds"] > 0
    assert found["gemv_seconds"] is found["gram_seconds"] is None


# -- files that are not trusted --------------------------------------------------------------


def test_names_are_in_the_order_of_their_numbers(tmp_path):
    for i in (10, 9, 2, 1):
        np.save(tmp_path / f"x{i}.npy", np.full((1, 2), float(i)))
    for name in (".hidden.npy", "_SUCCESS", "info", "README.txt"):
        (tmp_path / name).write_text("nothing")
    assert Blocks(tmp_path).rows([0, 1, 2, 3])[:, 0].tolist() == [1, 2, 9, 10]


class Evil:
    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return Path.touch, (self.path,)


def test_pickles_are_never_read(tmp_path):
    marker = tmp_path / "executed"
    path = tmp_path / "blocks"
    path.mkdir()
    np.save(path / "a.npy", np.array([[Evil(marker)]]), allow_pickle=True)
    with pytest.raises(InvalidProblem, match=r"a\.npy.*dtype object.*never read"):
        Blocks(path)
    assert not marker.exists()


GOOD = np.ones((3, 2))


def npy(array):
    return lambda path: np.save(path, array)


def bytes_of(path):
    np.save(path, GOOD)
    return path.read_bytes()


BAD = {
    "wrong d": (npy(np.ones((3, 3))), "d = 3 columns, but 0.npy has 2"),
    "one dimension": (npy(np.ones(3)), "must be 2-D"),
    "complex": (npy(GOOD + 1j), "dtype complex128"),
    "a mask": (npy(GOOD > 0), "dtype bool"),
    "text": (npy(np.array([["a", "b"]])), "dtype <U1"),
    "named columns": (npy(np.zeros((2, 2), dtype=[("x", float)])), "dtype"),
    "no columns": (npy(np.ones((3, 0))), "no columns"),
    "cut short": (lambda path: path.write_bytes(bytes_of(path)[:-1]), "cut short"),
    "a negative side": (
        lambda path: path.write_bytes(bytes_of(path).replace(b"(3, 2), ", b"(-3, -2),")[:-1]),
        "no side may be negative; its header says (-3, -2)",
    ),
    "header alone": (lambda path: path.write_bytes(bytes_of(path)[:20]), "can't be read"),
    "goes on": (lambda path: path.write_bytes(bytes_of(path) + b"x"), "several arrays"),
    "not numpy": (lambda path: path.write_bytes(b"hello"), "can't be read as .npy"),
    "empty": (lambda path: path.touch(), "can't be read as .npy"),
    "a pipe": (os.mkfifo, "this is no file"),
    "a folder": (Path.mkdir, "this is no file"),
    "a dead link": (lambda path: path.symlink_to("nowhere"), "can't be opened: No such file"),
}


@pytest.mark.parametrize("what", BAD)
def test_a_file_that_is_no_array_of_numbers_is_named(tmp_path, what):
    make, words = BAD[what]
    np.save(tmp_path / "0.npy", GOOD)
    make(tmp_path / "1.npy")
    with pytest.raises(InvalidProblem, match=re.escape(words)) as raised:
        Blocks(tmp_path)
    assert str(tmp_path / "1.npy") in str(raised.value)


def test_folders_that_hold_no_atoms_are_named(tmp_path):
    with pytest.raises(InvalidProblem, match="it is empty"):
        Blocks(tmp_path)
    with pytest.raises(InvalidProblem, match="No such file"):
        Blocks(tmp_path / "nowhere")
    (tmp_path / "points.txt").touch()
    with pytest.raises(InvalidProblem, match=r"no \.npy or \.parquet file \(but points\.txt"):
        Blocks(tmp_path)
    np.save(tmp_path / "0.npy", np.ones((0, 2)))
    with pytest.raises(InvalidProblem, match="hold no atom"):
        Blocks(tmp_path)
    with pytest.raises(InvalidProblem, match="one file"):
        Blocks(tmp_path / "0.npy")
    for path, words in (
        ("~nobody-of-this-name/x", "home directory"),
        ("x" * 5000, "File name too long"),
        ("zero\0byte", "no path"),
    ):
        with pytest.raises(InvalidProblem, match=words) as raised:
            Blocks(path)
        assert len(str(raised.value)) < 400
    (tmp_path / "1.csv").touch()
    with pytest.raises(InvalidProblem, match=r"1\.csv is neither"):
        Blocks(tmp_path)


@pytest.mark.parametrize("how", ["npy", "columns", "parquet"])
@pytest.mark.parametrize("value", [np.nan, -np.inf])
def test_a_missing_value_is_found_in_the_first_pass(tmp_path, how, value):
    atoms = ATOMS.copy()
    atoms[N // 2 + 7, 3] = value
    blocks = folder(tmp_path / "blocks", atoms, how)
    suffix = "parquet" if how == "parquet" else "npy"
    with pytest.raises(InvalidProblem, match=rf"{value} in column 3 of row 7 of .*11\.{suffix}"):
        fw.QuadraticOverHull(blocks)


def test_integers_that_doubles_cannot_tell_apart_are_refused(tmp_path):
    np.save(tmp_path / "0.npy", np.array([[1, 2**53 + 2]]))
    with pytest.raises(InvalidProblem, match=r"0\.npy must not hold integers beyond"):
        fw.QuadraticOverHull(Blocks(tmp_path))
    (tmp_path / "0.npy").unlink()
    parquet(tmp_path / "0.parquet", np.array([[1, 2**53 + 2]]))
    with pytest.raises(InvalidProblem, match=r"column 'x\.1' must not hold integers beyond"):
        fw.QuadraticOverHull(Blocks(tmp_path))


@pytest.mark.parametrize("name", [None, "row"])
def test_names_of_rows_are_no_coordinates(tmp_path, name):
    frame = pandas.DataFrame(GOOD, columns=["x", "y"], index=pandas.Index([7, 9, 4], name=name))
    frame.to_parquet(tmp_path / "0.parquet")
    blocks = Blocks(tmp_path)
    assert blocks.shape == (3, 2)
    assert np.array_equal(blocks.rows([0, 2]), GOOD[:2])


def test_huge_numbers_overflow_with_a_word(tmp_path):
    np.save(tmp_path / "0.npy", 1e200 * ATOMS)
    with pytest.raises(InvalidProblem, match="overflow; rescale"):
        fw.solve(fw.QuadraticOverHull(Blocks(tmp_path)))


def test_columns_of_labels_and_gaps_in_tables_are_named(tmp_path):
    import pyarrow as pa
    import pyarrow.parquet as pq

    path = tmp_path / "0.parquet"
    pq.write_table(pa.table({"x": [1.0], "name": ["one"]}), path)
    with pytest.raises(InvalidProblem, match=r"0\.parquet: column 'name' holds string"):
        Blocks(tmp_path)
    pq.write_table(pa.table({"x": [1.0, 2.0], "y": [1.0, None]}), path)
    with pytest.raises(InvalidProblem, match=r"0\.parquet: column 'y' has no value in row 1"):
        fw.QuadraticOverHull(Blocks(tmp_path))
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(InvalidProblem, match=r"0\.parquet: it can't be read as \.parquet"):
        Blocks(tmp_path)
    parquet(path, ATOMS)
    spoilt = bytearray(path.read_bytes())
    spoilt[4:2000] = bytes(1996)
    path.write_bytes(spoilt)
    with pytest.raises(InvalidProblem, match=r"0\.parquet"):
        fw.QuadraticOverHull(Blocks(tmp_path))


def changed(path):
    np.save(path, 2 * ATOMS[:10])


def touched(path):
    now = path.stat()
    os.utime(path, ns=(now.st_atime_ns, now.st_mtime_ns + 1))


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (changed, "has changed since"),
        (touched, "has changed since"),
        (lambda path: os.truncate(path, 200), "has changed since"),
        (Path.unlink, "can't be opened: No such file"),
    ],
)
def test_a_file_that_changes_between_passes_ends_the_solve(tmp_path, spoil, words):
    blocks = folder(tmp_path / "blocks", ATOMS)
    problem = fw.QuadraticOverHull(blocks)
    last = blocks.files[-1].path
    spoil(last)
    with pytest.raises(InvalidProblem, match=words) as raised:
        fw.solve(problem)
    assert str(last) in str(raised.value)


def test_a_file_that_shrinks_while_it_is_read_is_an_error_and_no_crash(tmp_path):
    blocks = folder(tmp_path / "blocks", ATOMS)
    last = blocks.files[-1].path

    def shrink(piece, first):
        if first >= blocks.firsts[-2]:
            os.truncate(last, 5000)

    with pytest.raises(InvalidProblem, match="cut short while it was read"):
        blocks.reduce("shrink", shrink)


# -- Dask ------------------------------------------------------------------------------------


def test_arrays_of_dask_that_cannot_be_read_by_rows_are_refused():
    array = chunked(ATOMS)
    for wrong, words in (
        (array.rechunk({1: 2}), r"each chunk.*all 5 columns.*rechunk"),
        (array[array[:, 0] > 0], "sizes of its chunks"),
        (array[:, 0], "2-D"),
        (array > 0, "real numbers"),
        (da.ma.masked_less(array, 0), "MaskedArray"),
        (array[:0], "at least one atom"),
        (dask.delayed(ATOMS), "must be a Dask array; got Delayed"),
    ):
        with pytest.raises(InvalidProblem, match=words):
            fw.QuadraticOverHull(wrong)


def test_a_chunk_that_cannot_be_made_is_an_error_with_its_word():
    def fail(block):
        raise OSError("the disk is gone")

    array = chunked(ATOMS).map_blocks(fail, meta=np.empty((0, 0)))
    with pytest.raises(InvalidProblem, match="could not be computed; OSError: the disk is gone"):
        fw.QuadraticOverHull(array)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda block: block[:-1], r"chunk \d of the Dask array has shape .* the array says"),
        (lambda block: block.astype(np.float32), "has dtype float32, the array says float64"),
        (lambda block: block.tolist(), "has shape None"),
    ],
)
def test_a_chunk_that_is_not_what_the_array_says_is_refused(make, words):
    array = chunked(ATOMS).map_blocks(make, meta=np.empty((0, 0)))
    with pytest.raises(InvalidProblem, match=words):
        fw.QuadraticOverHull(array)
    with pytest.raises(InvalidProblem, match=words):
        Chunked(array).rows([3])


def test_a_missing_value_in_a_chunk_is_named():
    atoms = ATOMS.copy()
    atoms[1200, 4] = np.nan
    with pytest.raises(InvalidProblem, match="nan in column 4 of row 1200 of the Dask array"):
        fw.QuadraticOverHull(chunked(atoms))


def test_threads_give_the_same_bits():
    problem = fw.QuadraticOverHull(chunked(ATOMS), FORMS["dense"])
    x = fw.solve(problem).x
    with dask.config.set(scheduler="threads", num_workers=2):
        assert np.array_equal(fw.solve(problem.unprepared()).x, x)


# -- the family of problems ------------------------------------------------------------------


def test_a_folder_is_a_problem_by_name(tmp_path):
    path = tmp_path / "blocks"
    folder(path, ATOMS)
    [choice] = catalog.choices("problems", f"blocks[path={path}]")
    problem = catalog.build_problem(choice)
    assert_near(fw.solve(problem).x, fw.solve(fw.QuadraticOverHull(ATOMS)).x)
    assert len(choice.arguments["content"]) == 12
    changed(path / "part-8.npy")
    with pytest.raises(InvalidProblem, match="content has changed"):
        catalog.build_problem(choice)
