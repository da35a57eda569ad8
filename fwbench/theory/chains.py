"""Attention as a law of picks: what claims of section 5 of arXiv 2508.09628 share."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fwbench import catalog
from fwbench.geometry.cells import polygon_of
from fwbench.geometry.dominance import arrival, reach
from fwbench.kernels.escapes import CROSSED, FIRST, LEFT, drifts, first_events
from fwbench.problem import QuadraticOverHull

Array = NDArray[np.float64]

NEVER = np.iinfo(np.int64).max  # a step that no run reaches

LAYER = "softmax_attention[keys=moving,step=constant(1),beta={beta!r}]"
CHAIN = "markov_attention[keys=moving,beta={beta!r},seed={seed},replicas={replicas}]"


def words(seed: int) -> tuple[np.uint64, np.uint64]:
    """Return the low and the high word of a seed, as the kernels take it."""
    high, low = divmod(seed, 2**32)
    return np.uint64(low), np.uint64(high)


def cloud(tokens: Array) -> QuadraticOverHull:
    """Return tokens (n, d) that attend to each other with B = I."""
    return QuadraticOverHull(tokens, -1.0, start=np.arange(len(tokens)))


def law(problem: QuadraticOverHull, beta: float) -> Array:
    """Return with what probability each atom picks each other one, shape (n, n).

    Those are the weights of the softmax solver: a full step puts each token at its own average.
    """
    [choice] = catalog.choices("solvers", LAYER.format(beta=float(beta)))
    layer: Any = catalog.build_solver(choice)
    model = layer.prepare(problem)
    state = layer.init(model, problem.every_atom)
    layer.advance(model, state, 1)
    return np.asarray(state.weights().dense(problem.n))


def attention(tokens: Array, beta: float) -> Array:
    """Return the attention weights of tokens (n, d) for each other with B = I, shape (n, n).

    Examples
    --------
    >>> attention(np.array([[1.0], [-1.0]]), 1.0).round(6).tolist()
    [[0.880797, 0.119203], [0.119203, 0.880797]]
    """
    return law(cloud(tokens), beta)


def first_picks(
    problem: QuadraticOverHull, beta: float, *, replicas: int, seed: int = 0
) -> NDArray[np.int64]:
    """Return whom each atom picks at the first step of the chain, shape (replicas, n)."""
    text = CHAIN.format(beta=float(beta), seed=seed, replicas=replicas)
    [choice] = catalog.choices("solvers", text)
    chain: Any = catalog.build_solver(choice)
    model = chain.prepare(problem)
    return np.asarray(chain.picks(model, chain.init(model, chain.start(problem)), 1)[0])


def exponent(t: float, n: int, beta: float, gap: float, k: float) -> float:
    """Return the logarithm that Theorem 5.4 puts above P(T_2 < t); there k = ε/γ.

    (1 + k) log(t/k) + (1 + k) log n − k βc_0/2: no less than 0, the theorem says nothing.
    """
    return float((1 + k) * (np.log(t / k) + np.log(n)) - k * beta * gap / 2)


def straying(
    tokens: Array, beta: float, gamma: float, token: int, target: int, picks: int
) -> tuple[float, Array]:
    """Return log P of so many picks of one target while all others stay, and the path's end.

    All tokens but `token` pick themselves, which is a path of its own: the probability of what it
    leads to is at least this.

    Returns
    -------
    logarithm : float
    tokens : ndarray, shape (n, d)
    """
    x, total = tokens.copy(), 0.0
    others = [i for i in range(len(x)) if i != token]
    for _ in range(picks):
        law = attention(x, beta)
        total += float(np.log(law[token, target]) + np.log(law[others, others]).sum())
        x[token] += gamma * (x[target] - x[token])
    return total, x


class Until(IntEnum):
    """What ends a replica."""

    LEFT = LEFT  # a token is further than ε from the first hull of its group
    CROSSED = CROSSED  # a token picks one of another group
    FIRST_CROSSED = FIRST  # token 0 does


@dataclass(frozen=True, eq=False)
class Events:
    """What happened to replicas of the chain.

    Attributes
    ----------
    crossed : ndarray of int, shape (r, n)
        First step at which each token picked one of another group; NEVER if it did not.
    left : ndarray of int, shape (r,)
        First step after which a token was further than ε from the first hull of its group.
    tokens : ndarray, shape (r, n, d)
        Where they ended.
    """

    crossed: NDArray[np.int64]
    left: NDArray[np.int64]
    tokens: Array


def hulls(tokens: Array, groups: NDArray[np.int64]) -> tuple[Array, NDArray[np.int64]]:
    """Return the corners of each group's hull, shape (k, h, d), and their numbers, shape (k,).

    Beyond the plane a group has one or two different points.
    """
    rings = []
    for g in range(groups.max() + 1):
        corners = np.unique(tokens[groups == g], axis=0)
        rings.append(corners if len(corners) < 3 else polygon_of(corners)[:-1])
    shape = (len(rings), max(map(len, rings)), tokens.shape[1])
    padded = np.zeros(shape)
    for g, ring in enumerate(rings):
        padded[g, : len(ring)] = ring
    return padded, np.array([len(ring) for ring in rings])


def events(
    tokens: Array,
    groups: NDArray[np.int64],
    *,
    beta: float,
    gamma: float,
    replicas: int,
    steps: int,
    until: Until,
    epsilon: float = np.inf,
    seed: int = 0,
) -> Events:
    """Run replicas of the chain from tokens (n, d) until something happens.

    Examples
    --------
    Tokens that look at themselves alone, nearly:

    >>> pair = np.array([[1.0], [-1.0]])
    >>> found = events(pair, np.arange(2), beta=1.0, gamma=0.5, replicas=2, steps=9,
    ...                until=Until.CROSSED)
    >>> found.crossed.shape, bool((found.left == NEVER).all())
    ((2, 2), True)
    """
    x = np.repeat(tokens[None], replicas, axis=0)
    crossed = np.zeros(x.shape[:2], dtype=np.int64)
    left = np.zeros(replicas, dtype=np.int64)
    first_events(
        x, groups, *hulls(tokens, groups), epsilon, float(beta), float(gamma), *words(seed),
        np.full(replicas, steps), int(until), crossed, left,
    )  # fmt: skip
    return Events(np.where(crossed == 0, NEVER, crossed), np.where(left == 0, NEVER, left), x)


def after(
    starts: Array, steps: NDArray[np.int64], *, beta: float, gamma: float, seed: int = 0
) -> Array:
    """Return replicas (r, n, d) after so many steps of the chain each."""
    x = starts.copy()
    replicas, n, d = x.shape
    first_events(
        x, np.arange(n), np.zeros((n, 1, d)), np.ones(n, dtype=np.int64), np.inf, float(beta),
        float(gamma), *words(seed), steps, int(Until.LEFT), np.zeros((replicas, n), dtype=np.int64),
        np.zeros(replicas, dtype=np.int64),
    )  # fmt: skip
    return x


@dataclass(frozen=True, eq=False)
class Clustered:
    """Where replicas are at the time T_1 of Theorem 5.2.

    Attributes
    ----------
    at_vertices : ndarray, shape (r,)
        Largest distance of the tokens that started at vertices.
    others : ndarray, shape (r,)
        Largest distance of all others from the vertex that led them, in τ.
    steps : ndarray of int, shape (r,)
        T_1.
    """

    at_vertices: Array
    others: Array
    steps: NDArray[np.int64]


def clustered(
    vertices: Array, inner: Array, *, beta: float, gamma: float, largest: bool, seed: int = 0
) -> Clustered:
    """Run tokens at the vertices (k, d) and inside (r, m, d) for the time T_1.

    `largest` says of which distance of an inner token from its vertex τ and T_1 are made: the
    largest one, or the least as printed.
    """
    led = (inner @ vertices.T).argmax(axis=2)
    distances = np.sqrt(((inner - vertices[led]) ** 2).sum(axis=2))
    start = distances.max(axis=1) if largest else distances.min(axis=1)
    tau = np.array([reach(vertices, gamma, m) for m in start])
    steps = np.array([arrival(tau[r], start[r], gamma) for r in range(len(inner))])
    k = len(vertices)
    starts = np.concatenate([np.repeat(vertices[None], len(inner), axis=0), inner], axis=1)
    end = after(starts, steps, beta=beta, gamma=gamma, seed=seed)
    corners = np.sqrt(((end[:, :k] - vertices) ** 2).sum(axis=2)).max(axis=1)
    others = np.sqrt(((end[:, k:] - vertices[led]) ** 2).sum(axis=2)).max(axis=1)
    return Clustered(corners, others / tau, steps)


def drift(
    tokens: Array,
    groups: NDArray[np.int64],
    *,
    beta: float,
    gamma: float,
    replicas: int,
    steps: int,
    most: float,
    alone: bool = False,
    seed: int = 0,
) -> tuple[Array, NDArray[np.int64]]:
    """Return how far replicas drifted beyond `most` a bad step, (r,), and bad steps, (r, n)."""
    x = np.repeat(tokens[None], replicas, axis=0)
    excess, bad = np.empty(replicas), np.zeros(x.shape[:2], dtype=np.int64)
    drifts(
        x, groups, *hulls(tokens, groups), most, float(beta), float(gamma), *words(seed), steps,
        alone, excess, bad,
    )  # fmt: skip
    return excess, bad
