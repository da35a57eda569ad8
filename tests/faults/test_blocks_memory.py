"""Atoms larger than the memory that a process may take, and atoms on a cluster."""

import json
import os
import subprocess
import sys

import numpy as np
import pytest

import fwbench as fw

N, D = 1_200_000, 8  # 77 MB
ROOM = 48 * 2**20  # what a child may take beside what it has imported and compiled

# In a process of its own: what is imported and compiled comes first, then the limits.
CHILD = """
import json, resource, sys
from pathlib import Path

import numpy as np

import fwbench as fw

def status(key):
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(1024 * int(line.split()[1]) for line in lines if line.startswith(key))

tiny, folder, room = sys.argv[1], sys.argv[2], int(sys.argv[3])
for solver in ("auto", "pairwise"):
    fw.solve(fw.QuadraticOverHull(fw.Blocks(tiny)), solver, max_steps=5)
for limit, key in ((resource.RLIMIT_DATA, "VmData"), (resource.RLIMIT_AS, "VmSize")):
    resource.setrlimit(limit, (status(key) + room, resource.RLIM_INFINITY))
paths = sorted(Path(folder).iterdir())
try:
    whole = [np.load(path) if path.suffix == ".npy" else None for path in paths]
    whole = np.concatenate([part for part in whole if part is not None])
    found = {"whole": "fits"}
except MemoryError:
    found = {"whole": "MemoryError"}
Path("/proc/self/clear_refs").write_text("5")  # the most so far is now
before = status("VmRSS")
problem = fw.QuadraticOverHull(fw.Blocks(folder))
for solver in ("auto", "pairwise"):
    solution = fw.solve(problem, solver, tol=1e-10, max_steps=30)
    found[solver] = {
        "x": solution.x.tolist(), "status": solution.status, "solver": solution.solver,
        "keys": solution.combinations.keys.tolist(), "passes": solution.passes,
    }
found["peak"] = status("VmHWM") - before
print(json.dumps(found))
"""


def planted(n):
    """Return atoms whose hull is nearest to 0 at (1, 0, …), the mean of the first and last.

    All others lie beyond, at least 1.5 along the first axis.
    """
    atoms = np.random.default_rng(0).random((n, D)) - 0.5
    atoms[:, 0] += 2.0
    atoms[[0, -1]] = 0.0
    atoms[[0, -1], 0] = 1.0
    atoms[0, 1], atoms[-1, 1] = 0.25, -0.25
    return atoms


def in_a_process(tmp_path, files):
    """Solve in a child that may take no more than ROOM; return what it found."""
    folder, tiny = tmp_path / "folder", tmp_path / "tiny"
    for path in (folder, tiny):
        path.mkdir()
    np.save(tiny / "0.npy", planted(200))
    atoms = planted(N)
    for i, part in enumerate(np.array_split(atoms, files)):
        np.save(folder / f"{i}.npy", part)
    del atoms
    command = [sys.executable, "-c", CHILD, str(tiny), str(folder), str(ROOM)]
    single = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, env=single)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="limits and figures of Linux")
@pytest.mark.parametrize("files", [1, 3])
def test_atoms_larger_than_the_memory_allowed_are_solved(tmp_path, files):
    found = in_a_process(tmp_path, files)
    assert found["whole"] == "MemoryError"
    assert found["peak"] < ROOM
    assert found["auto"]["solver"] == "working_set"
    for solver in ("auto", "pairwise"):
        told = found[solver]
        assert told["status"] == "converged"
        np.testing.assert_allclose(told["x"], np.eye(D)[0], rtol=0, atol=1e-9)
        assert told["keys"] == [0, N - 1]
        assert told["passes"] <= 8


def test_a_pass_is_made_by_the_workers_of_a_cluster():
    da = pytest.importorskip("dask.array", reason="the extra dask is not installed")
    distributed = pytest.importorskip("distributed", reason="the extra dask is not installed")
    atoms, here = planted(5000), os.getpid()

    def elsewhere(chunk):
        import os

        if os.getpid() == here:
            raise RuntimeError("this process was to make no chunk")
        return chunk

    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address="127.0.0.1:0"
        ) as cluster,
        distributed.Client(cluster),
    ):
        array = da.from_array(atoms, chunks=(700, D)).map_blocks(elsewhere, meta=atoms[:0])
        solution = fw.solve(fw.QuadraticOverHull(array), tol=1e-12)
    assert solution.status == "converged"
    assert solution.solver == "working_set"
    np.testing.assert_allclose(solution.x, np.eye(D)[0], rtol=0, atol=1e-9)
    assert solution.passes <= 6
