r"""Atoms that are their own queries: a cloud of tokens.

name= picks an instance that was worked out exactly; without a name, n Gaussian tokens in d
dimensions, or, with integers=9, n tokens with integer entries from −9 to 9. B = −Q; on the convex
ones (Q = 1, the origin inside) the method with fixed keys finds the origin, and with moving keys
the hull loses it: the bound of Theorem 3.1 in arXiv 2508.09628 breaks at step 575 (three-one), 224
(four-one), 400 (three-two), 20 and 16 (the triangles).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from fwbench.errors import InvalidParameter, nearest
from fwbench.problem import ProblemEntry, QuadraticOverHull


class Named(NamedTuple):
    """Tokens, and the diagonal of Q."""

    tokens: Sequence[Sequence[int | str]]
    Q: float | Sequence[float] = 1.0


MOST = 10**9  # of an integer entry; doubles hold it exactly
HIGH = "0.8660254037844386"
NAMED = {
    "three-one": Named([[3], [-1]]),
    "four-one": Named([[4], [-1]]),
    "three-two": Named([[3], [-2]]),
    "five-one": Named([[5], [-1]]),
    "thousand-one": Named([[1000], [-1]]),
    "five-two": Named([[5], [-2]]),
    "seven-three": Named([[7], [-3]]),
    "nine-four": Named([[9], [-4]]),
    "thirteen-six": Named([[13], [-6]]),
    "triangle-20": Named([[54, 160], [-28, -9], [130, -64]]),
    "triangle-16": Named([[0, -1], [50, 60], [-50, 40]]),
    # mirrored in the origin: the hull keeps it, and the bound of Theorem 3.1 holds
    "symmetric": Named(
        [["2", "1"], ["-1", "3"], ["0", "1/2"], ["-2", "-1"], ["1", "-3"], ["0", "-1/2"]]
    ),
    # one token at the origin: all its scores tie
    "three-one-origin": Named([[0], [3], [-1]]),
    # the lower token comes to the origin exactly, at t = 2, and ties
    "two-one": Named([[2], [-1]]),
    # small steps do not bring this one to the origin either
    "receding": Named([["1", "-1/100"], ["-1", "-1/100"], ["-5", "3"]]),
    # every vertex owns its cell strictly: the closed form of Theorem 4.2
    "own-cells": Named(
        [["2", "0"], ["-1", "2"], ["-1", "-2"], ["1", "1/10"], ["-1/2", "3/5"], ["1/7", "-1/3"],
         ["1/5", "-2/5"]],
        [-2.0, -1.0],
    ),
    # regular, on the unit circle (√3/2 to the last digit of a double), alone, with a token inside,
    # and with two tokens at each vertex
    "unit-triangle": Named([["1", "0"], ["-1/2", HIGH], ["-1/2", f"-{HIGH}"]], -1.0),
    "triangle-inner": Named(
        [["1", "0"], ["-1/2", HIGH], ["-1/2", f"-{HIGH}"], ["3/10", "1/10"]], -1.0
    ),
    "triangle-pairs": Named(
        [["1", "0"], ["1", "0"], ["-1/2", HIGH], ["-1/2", HIGH], ["-1/2", f"-{HIGH}"],
         ["-1/2", f"-{HIGH}"]],
        -1.0,
    ),
    # the second vertex does not own its cell: vertices move and labels chain
    "chained": Named([["3", "0"], ["1", "6/5"], ["-1", "-1"]], -1.0),
    # the second vertex leaves for the first, and the last token follows it first
    "relayed": Named([["4", "0"], ["1", "3/2"], ["-1", "1"], ["-1", "-1"], ["0", "6/5"]], -1.0),
}  # fmt: skip


def token_cloud(
    name: str = "",
    n: int = 20,
    d: int = 2,
    q: float = 1.0,
    seed: int = 0,
    integers: int = 0,
    mirrored: bool = False,
) -> QuadraticOverHull:
    """Return a named cloud, or draw one.

    Parameters
    ----------
    name : str
        An exact instance; the other parameters then have no effect.
    n, d : int
        Tokens and dimension of a random cloud.
    q : float
        Q = q I: convex for q > 0, concave for q < 0.
    seed : int
    integers : int
        Entries are integers from −integers to integers; 0: Gaussian.
    mirrored : bool
        The second half of the tokens mirrors the first half in the origin.

    Raises
    ------
    InvalidParameter
        For a name that does not exist; for an odd number of mirrored tokens.
    """
    if name and name not in NAMED:
        raise InvalidParameter(f"token_cloud: no instance {name!r}; {nearest(name, NAMED)}")
    if name:
        texts = [[str(entry) for entry in token] for token in NAMED[name].tokens]
        return QuadraticOverHull(texts, NAMED[name].Q, start=np.arange(len(texts)))
    if n < 1 or d < 1:
        raise InvalidParameter(f"token_cloud: n and d must be at least 1; got {n}, {d}")
    if not 0 <= integers <= MOST:
        raise InvalidParameter(f"token_cloud: integers must lie in 0..{MOST}; got {integers}")
    if mirrored and n % 2:
        raise InvalidParameter(f"token_cloud: mirrored tokens come in pairs; got n = {n}")
    rng, drawn = np.random.default_rng(seed), n // 2 if mirrored else n
    tokens = rng.standard_normal((drawn, d))
    if integers:
        tokens = rng.integers(-integers, integers, (drawn, d), endpoint=True).astype(float)
    if mirrored:
        tokens = np.concatenate([tokens, -tokens])
    return QuadraticOverHull(tokens, q, start=np.arange(n))


ENTRY = ProblemEntry(
    name="token_cloud",
    make=token_cloud,
    label="tokens that attend to each other",
    grid=({"name": "four-one"}, {}),
)
