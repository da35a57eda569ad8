"""Print what a layer of attention costs, as ratios measured in one run: `make layers`.

One thread; what is compared is timed in turns, and medians are divided. The *bare product* makes
the same scores, tile by tile, and looks at none. torch is an extra (`pip install '.[torch]'`),
timed here alone; without it its rows are not measured.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import partial
from importlib.util import find_spec
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fwbench.attention import TILE, tiles
from fwbench.problem import QuadraticOverHull
from fwbench.tokens import walk
from fwbench.warm import limited_threads

from .peak import peak
from .ratios import Line
from .turns import Call, Turns, seconds, shown, solver

DOUBLE, SINGLE = np.dtype(np.float64), np.dtype(np.float32)
SAMPLE = 10  # a product that takes seconds is made for every tenth query


def points(n: int, d: int, kind: Any = DOUBLE) -> NDArray[Any]:
    """Return a Gaussian cloud."""
    return np.random.default_rng(0).standard_normal((n, d)).astype(kind)


def begun(text: str, atoms: NDArray[Any], q: float = -1.0) -> tuple[Any, Any, Any]:
    """Return a solver, its model and the state where every atom is a query."""
    problem = QuadraticOverHull(atoms, q, start=np.arange(len(atoms)))
    _, made = solver(text, 1e-8)
    model = made.prepare(problem)
    return made, model, made.init(model, problem.start)


def layer(text: str, atoms: NDArray[Any]) -> Call:
    """Return the call that makes one layer from the start."""
    made, model, state = begun(text, atoms)
    return lambda: made.layer(model, state.x, 1, state.estimate).x


def product(queries: NDArray[Any], keys: NDArray[Any]) -> None:
    """Make all scores, a tile at a time, and look at none."""
    room = np.empty(TILE, dtype=keys.dtype)
    for rows, blocks in tiles(len(queries), len(keys)):
        for columns in blocks:
            some, block = queries[rows], keys[columns]
            np.matmul(some, block.T, out=room[: len(some) * len(block)].reshape(len(some), -1))


def torch_leaders(keys: NDArray[Any]) -> Call | None:
    """Return the same hardmax layer in torch, with all scores at once."""
    if find_spec("torch") is None:
        return None
    import torch

    torch.set_num_threads(1)
    x = torch.from_numpy(keys)

    def call() -> Any:
        with torch.no_grad():
            return x + (x[(x @ x.T).argmax(1)] - x) / 3

    return call


def torch_average(keys: NDArray[Any], beta: float) -> Call | None:
    """Return the same softmax layer by torch's fused attention."""
    if find_spec("torch") is None:
        return None
    import torch

    torch.set_num_threads(1)
    x = torch.from_numpy(keys)[None, None]

    def call() -> Any:
        with torch.no_grad():
            average = torch.nn.functional.scaled_dot_product_attention(x, x, x, scale=beta)
            return x + (average - x) / 3

    return call


def over(calls: dict[str, Call | None], turns: Turns) -> tuple[dict[str, float | None], str]:
    """Return how many times as long as each other call the first one takes, and the times."""
    ready = {name: call for name, call in calls.items() if call is not None}
    for call in ready.values():
        call()  # compiled by now, and memory is there
    times = turns.medians(ready)
    ours = next(iter(calls))
    detail = ", ".join(
        f"{name} {shown(times[name])}" if name in times else f"{name} not installed"
        for name in calls
    )
    return {name: times[ours] / times[name] if name in times else None for name in calls}, detail


def where(n: int, d: int, kind: Any) -> str:
    """Return the size of an instance, for the table."""
    return f"n = {n}, d = {d}, {np.dtype(kind).name}"


def hardmax(quick: bool, turns: Turns) -> Iterator[Line]:
    """Hold a hardmax layer against its bare product, and against torch."""
    for n, d in ((10_000, 64), (10_000, 384)) if not quick else ((60, 8),):
        for kind in (DOUBLE, SINGLE):
            keys = points(n, d, kind)
            ours = layer("hardmax_attention[step=constant(1/3)]", keys)
            calls = {"layer": ours, "product": partial(product, keys, keys),
                     "torch": torch_leaders(keys)}  # fmt: skip
            ratio, detail = over(calls, turns)
            for other, bound in (("product", 1.3), ("torch", 0.85)):
                name = "its bare product" if other == "product" else "torch, matmul + argmax"
                what, at = f"hardmax layer / {name}", where(n, d, kind)
                yield Line(what, at, ratio[other], detail, at_most=bound)


def plane(quick: bool, turns: Turns) -> Iterator[Line]:
    """Hold a hardmax layer in the plane, its hull included, against the bare product."""
    n = 2000 if quick else 100_000
    keys = points(n, 2)
    ours = layer("hardmax_attention[keys=moving,step=constant(1/3)]", keys)
    some = partial(product, keys[::SAMPLE], keys)
    ratio, detail = over({"layer": ours, "product of a tenth": some}, turns)
    measured = (ratio["product of a tenth"] or 0.0) / SAMPLE
    what = "hardmax layer, keys moving / its bare product"
    yield Line(what, where(n, 2, DOUBLE), measured, detail, at_most=0.02)


def softmax(quick: bool, turns: Turns) -> Iterator[Line]:
    """Hold a softmax layer against torch's fused attention."""
    sizes = ((4000, 64), (10_000, 64), (4000, 384), (4000, 2)) if not quick else ((60, 8), (60, 2))
    for n, d in sizes:
        for kind, bound in ((SINGLE, 1.3), (DOUBLE, 1.0)):
            keys, beta = points(n, d, kind), 1 / d**0.5
            ours = layer(f"softmax_attention[beta={beta!r},step=constant(1/3)]", keys)
            ratio, detail = over({"layer": ours, "torch": torch_average(keys, beta)}, turns)
            what = "softmax layer / torch, fused attention"
            bound = 0.8 if d == 2 else bound
            yield Line(what, where(n, d, kind), ratio["torch"], detail, at_most=bound)


def jump(quick: bool, turns: Turns) -> Iterator[Line]:
    """Hold T layers against T layers whose leaders are known for good after the first."""
    n, d, leaders, layers = (10_000, 64, 64, 50) if not quick else (200, 8, 8, 20)
    atoms = points(n, d)
    atoms /= np.linalg.norm(atoms, axis=1)[:, None]
    # the sphere's are far out: whoever lies inside follows one of them, and none of their own
    atoms[leaders:] *= np.random.default_rng(1).uniform(0.01, 0.1, (n - leaders, 1))
    made, model, state = begun("hardmax_attention[step=constant(1/20)]", 10 * atoms)
    start = state.x

    def run(advance: Callable[[Any], None]) -> Any:
        state.x, state.steps, state.labels = start, 0, None
        advance(state)
        return state.x

    calls = {
        "one by one": lambda: run(lambda state: walk(state, layers)),
        "at once": lambda: run(lambda state: made.advance(model, state, layers)),
    }
    same = (calls["at once"]() == calls["one by one"]()).all()
    ratio, detail = over(calls, turns)
    measured = (ratio["at once"] or 0.0) / layers
    detail += ", the same bits" if same else ", NOT the same points"
    what = "layers one by one / at once, per layer"
    yield Line(what, f"{where(n, d, DOUBLE)}, T = {layers}", measured, detail, at_least=0.9)


def million(quick: bool, turns: Turns) -> Iterator[Line]:
    """Take a hundred layers of a million tokens in the plane, in seconds."""
    n, layers = (2000, 10) if quick else (1_000_000, 100)
    rows = (
        ("hardmax_attention[step=constant(1/3)]", 1.0, 10.0),
        ("hardmax_attention[step=constant(1/3)]", -1.0, 10.0),
        ("hardmax_attention[keys=moving]", 1.0, 60.0),
        ("hardmax_attention[keys=moving]", -1.0, 60.0),
        ("hardmax_attention[keys=moving,step=constant(1/3)]", 1.0, 60.0),
        ("hardmax_attention[keys=moving,step=constant(1/3)]", -1.0, 60.0),
    )
    atoms = points(n, 2)
    for text, q, bound in rows:
        made, model, state = begun(text, atoms, q)
        taken = seconds(partial(made.advance, model, state, layers))
        at = f"{where(n, 2, DOUBLE)}, Q = {q:g} I"
        yield Line(f"seconds of {layers} layers", at, taken, text, at_most=bound)


def memory(quick: bool, turns: Turns) -> Iterator[Line]:
    """Measure the peak of a layer, beyond its points, in a process of its own."""
    n = 500 if quick else 20_000
    cases = [(text, d) for text in ("hardmax_attention", "softmax_attention") for d in (2, 64)]
    for text, d in cases[: 1 if quick else None]:
        done = subprocess.run(
            [sys.executable, "-m", "tests.bench.layers", "--peak", text, str(n), str(d)],
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        if done.returncode:
            print(done.stderr, file=sys.stderr)
        measured = float(done.stdout) if done.returncode == 0 else None
        detail = f"{text}, all scores are {8 * n * n / 2**20:.0f} MiB"
        what = "MiB of a layer beyond ten times its points"
        yield Line(what, where(n, d, DOUBLE), measured, detail, at_most=16)


def spare(text: str, n: int, d: int) -> float:
    """Return by how many MiB memory rises in one layer, but for ten arrays of the points."""
    layer(text, points(600, d))()  # compiled by now
    atoms = points(n, d)
    call = layer(text, atoms)
    _, rise = peak(call)
    return max(rise - 10 * atoms.nbytes, 0) / 2**20


PARTS: tuple[Callable[[bool, Turns], Iterator[Line]], ...] = (
    hardmax, plane, softmax, jump, million, memory,
)  # fmt: skip


def main(arguments: list[str] | None = None) -> int:
    """Print the table; what is not reached stands in it."""
    parser = argparse.ArgumentParser(prog="layers", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="tiny sizes, to see that all runs")
    parser.add_argument("--only", nargs="+", choices=[part.__name__ for part in PARTS])
    parser.add_argument("--peak", nargs=3, help=argparse.SUPPRESS)
    asked = parser.parse_args(arguments)
    turns = Turns(rounds=2, seconds=0.1) if asked.quick else Turns(rounds=7)
    begun_at = perf_counter()
    with limited_threads(1):
        if asked.peak:
            print(spare(asked.peak[0], int(asked.peak[1]), int(asked.peak[2])))
            return 0
        print("| ratio | where | bound | measured | met | how |\n|---|---|---|---|---|---|")
        for part in PARTS:
            if asked.only is None or part.__name__ in asked.only:
                for line in part(asked.quick, turns):
                    print(line, flush=True)
    print(f"{perf_counter() - begun_at:.0f} s in all", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
