"""Solve a problem whose atoms are larger than the memory that the process may take.

    python -m tests.bench.out_of_core [N]

Writes N = 2·10⁷ points of a sphere in d = 8 (1.28 GB of float64, in ten .npy files) to a temporary
folder, solves it by the working set, as a folder of blocks and as a Dask array, and prints passes,
bytes, seconds and memory. Each solve is a process of its own, which may take at most so much more
memory than it has once all is imported and compiled: the kernel of the machine sees to that
(Linux), and it keeps the files' pages apart, in its own cache.
"""

import json
import resource
import subprocess
import sys
import tempfile
from pathlib import Path
from time import perf_counter

import numpy as np

import fwbench as fw

N, D, FILES = 20_000_000, 8, 10
ROOM = {"blocks": 2**28, "dask": 2**30}  # bytes beyond what is imported; a chunk a thread for Dask
CENTRE = 1.5  # of the unit sphere on whose points the hull lies, from the origin


def points(seed: int, n: int) -> np.ndarray:
    """Return n points of a unit sphere about (CENTRE, 0, …): all vertices of their hull."""
    drawn = np.random.default_rng(seed).standard_normal((n, D))
    drawn /= np.linalg.norm(drawn, axis=1)[:, None]
    drawn[:, 0] += CENTRE
    return drawn


def write(folder: Path, n: int) -> None:
    """Write n points in ten files, each of its own seed."""
    for i in range(FILES):
        np.save(folder / f"{i}.npy", points(i, n * (i + 1) // FILES - n * i // FILES))


def status(key: str) -> int:
    """Return a figure of /proc/self/status in bytes."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(1024 * int(line.split()[1]) for line in lines if line.startswith(key))


def confine(room: int) -> None:
    """Let this process take so many bytes more, and no more."""
    for limit, key in ((resource.RLIMIT_DATA, "VmData"), (resource.RLIMIT_AS, "VmSize")):
        resource.setrlimit(limit, (status(key) + room, resource.RLIM_INFINITY))


def atoms_of(folder: Path, source: str) -> object:
    """Return the atoms of a folder, in one of the two ways."""
    if source == "blocks":
        return fw.Blocks(folder)
    import dask
    import dask.array as da

    load = dask.delayed(np.load)
    rows = [len(np.load(path, mmap_mode="r")) for path in sorted(folder.glob("*.npy"))]
    parts = [
        da.from_delayed(load(path), (many, D), float)
        for path, many in zip(sorted(folder.glob("*.npy")), rows, strict=True)
    ]
    return da.concatenate(parts)


def solve(folder: Path, source: str) -> dict[str, object]:
    """Solve in bounded memory; return what it took."""
    with tempfile.TemporaryDirectory() as tiny:  # imports, compiles
        write(Path(tiny), 1000)
        fw.solve(fw.QuadraticOverHull(atoms_of(Path(tiny), source)))
    before = status("VmRSS")
    confine(ROOM[source])
    try:
        np.concatenate([np.load(path) for path in sorted(folder.glob("*.npy"))])
        whole = "fits"
    except MemoryError:
        whole = "MemoryError"
    Path("/proc/self/clear_refs").write_text("5")  # the most so far is now
    begun = perf_counter()
    problem = fw.QuadraticOverHull(atoms_of(folder, source))
    solution = fw.solve(problem, tol=1e-12)
    return {
        "source": source,
        "n": problem.n,
        "seconds": perf_counter() - begun,
        "passes": dict(problem.passes.source.passes),
        "gigabytes": problem.passes.source.bytes_read / 1e9,
        "peak_mebibytes": (status("VmHWM") - before) / 2**20,
        "room_mebibytes": ROOM[source] / 2**20,
        "read_whole": whole,
        "solver": solution.solver,
        "status": str(solution.status),
        "gap_relative": solution.gap_relative,
        "support": len(solution.combinations.keys),
        "x": solution.x.tolist(),
    }


def main(n: int) -> None:
    """Write the files, solve in child processes, and print what they took."""
    with tempfile.TemporaryDirectory(prefix="fwbench-out-of-core-") as name:
        begun = perf_counter()
        write(Path(name), n)
        print(f"n = {n}, d = {D}: {n * D * 8 / 1e9:.3g} GB written, {perf_counter() - begun:.1f} s")
        for source in ROOM:
            command = [sys.executable, "-m", "tests.bench.out_of_core", "--solve", name, source]
            done = subprocess.run(command, check=True, capture_output=True, text=True)
            print(shown(json.loads(done.stdout.splitlines()[-1])))


def shown(found: dict) -> str:
    """Return what a solve took, in words."""
    passes = ", ".join(f"{count} {name}" for name, count in found["passes"].items())
    return (
        f"{found['source']}: {found['status']} by {found['solver']}, gap/scale "
        f"{found['gap_relative']:.1e}, {found['support']} atoms in use\n"
        f"  {sum(found['passes'].values())} passes ({passes}), {found['gigabytes']:.3g} GB read, "
        f"{found['seconds']:.2f} s\n"
        f"  memory: {found['peak_mebibytes']:.0f} MiB at most of {found['room_mebibytes']:.0f} MiB "
        f"allowed beside libraries; reading all at once: {found['read_whole']}"
    )


if __name__ == "__main__":
    if sys.argv[1:2] == ["--solve"]:
        print(json.dumps(solve(Path(sys.argv[2]), sys.argv[3])))
    else:
        main(int(float(sys.argv[1])) if len(sys.argv) > 1 else N)
