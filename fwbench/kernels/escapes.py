"""Jitted loops over replicas of the chain: when tokens first look away, and when they leave."""

from __future__ import annotations

import numpy as np

from fwbench.kernels import jit, jit_views
from fwbench.kernels.chain import race


@jit_views
def distance(ring, corners, x):
    """Return how far x (d,) is from the hull of the first rows of `ring` (h, d).

    One row is a point, two are a segment, in any dimension; three or more are the corners of a
    convex polygon in the plane, in an order that turns left.
    """
    nearest = np.inf
    inside = corners >= 3
    for k in range(corners):
        after = 0 if k + 1 == corners else k + 1
        along, length = 0.0, 0.0
        for i in range(len(x)):
            edge = ring[after, i] - ring[k, i]
            along += edge * (x[i] - ring[k, i])
            length += edge * edge
        share = 0.0
        if length > 0.0:
            share = min(1.0, max(0.0, along / length))
        squared = 0.0
        for i in range(len(x)):
            off = x[i] - (ring[k, i] + share * (ring[after, i] - ring[k, i]))
            squared += off * off
        nearest = min(nearest, squared)
        if inside:
            u, w = ring[after, 0] - ring[k, 0], ring[after, 1] - ring[k, 1]
            inside = u * (x[1] - ring[k, 1]) - w * (x[0] - ring[k, 0]) >= 0.0
    return 0.0 if inside else np.sqrt(nearest)


@jit_views
def chain_step(x, field, scores, picks, beta, gamma, seed_low, seed_high, replica, step):
    """Move the tokens x (n, d) of one replica through a step of the chain with B = I.

    Parameters
    ----------
    x : ndarray, shape (n, d)
    field, scores : ndarray, shape (n, d) and (n,)
        Overwritten.
    picks : ndarray of int, shape (n,)
        Becomes who picks whom.
    beta, gamma, seed_low, seed_high, replica, step
        As for `race`.
    """
    n, d = x.shape
    for i in range(n):
        for j in range(d):
            field[i, j] = -x[i, j]
    for i in range(n):
        picks[i] = race(field[i], x, 0, n, i, replica, beta, seed_low, seed_high, step, scores)
    for i in range(n):
        for j in range(d):
            x[i, j] += gamma * (field[i, j] - field[picks[i], j])


LEFT, CROSSED, FIRST = 0, 1, 2  # what ends a replica


@jit
def first_events(
    x,
    groups,
    rings,
    corners,
    epsilon,
    beta,
    gamma,
    seed_low,
    seed_high,
    horizons,
    until,
    crossed,
    left,
):
    """Run each replica until what is asked for, or for its number of steps.

    Parameters
    ----------
    x : ndarray, shape (r, n, d)
        Where the replicas start; afterwards, where they end.
    groups : ndarray of int, shape (n,)
    rings, corners : ndarray, shape (k, h, d), and of int, shape (k,)
        Hulls of the groups, as `distance` takes them.
    epsilon : float
        How far from the hull of its group a token may be.
    horizons : ndarray of int, shape (r,)
        Steps at most.
    until : int
        What ends a replica: a token has left, a token has picked one of another group, or token 0
        has.
    crossed : ndarray of int, shape (r, n)
        Becomes the first step at which a token picks one of another group; stays 0 if none did.
    left : ndarray of int, shape (r,)
        Becomes the first step after which a token is further than ε from the hull of its group;
        stays 0 if none is.
    """
    n = x.shape[1]
    field, scores, picks = np.empty_like(x[0]), np.empty(n), np.zeros(n, dtype=np.int64)
    for r in range(len(x)):
        t = 0
        running = True
        while running and t < horizons[r]:
            chain_step(x[r], field, scores, picks, beta, gamma, seed_low, seed_high, r, t)
            t += 1
            for i in range(n):
                if crossed[r, i] == 0 and groups[picks[i]] != groups[i]:
                    crossed[r, i] = t
                    if until == 1 or (until == 2 and i == 0):
                        running = False
                g = groups[i]
                if left[r] == 0 and distance(rings[g], corners[g], x[r, i]) > epsilon:
                    left[r] = t
                    if until == 0:
                        running = False


@jit
def drifts(
    x,
    groups,
    rings,
    corners,
    most,
    beta,
    gamma,
    seed_low,
    seed_high,
    steps,
    alone,
    excess,
    bad,
):
    """Compare how far tokens drift with how often they picked tokens of another group.

    Parameters
    ----------
    x, groups, rings, corners
        As for `first_events`.
    most : float
        What one bad step may add to a distance.
    steps : int
    alone : bool
        A step is bad for a token if it picks one of another group itself, instead of if any token
        of its group does.
    excess : ndarray, shape (r,)
        Becomes the largest distance of a token from the hull of its group beyond its allowance.
    bad : ndarray of int, shape (r, n)
        Becomes the number of bad steps of each token.
    """
    n = x.shape[1]
    field, scores, picks = np.empty_like(x[0]), np.empty(n), np.zeros(n, dtype=np.int64)
    for r in range(len(x)):
        excess[r] = -np.inf
        for t in range(steps):
            chain_step(x[r], field, scores, picks, beta, gamma, seed_low, seed_high, r, t)
            for i in range(n):
                strays = groups[picks[i]] != groups[i]
                for j in range(n):
                    if not alone and groups[j] == groups[i] and groups[picks[j]] != groups[j]:
                        strays = True
                if strays:
                    bad[r, i] += 1
            for i in range(n):
                g = groups[i]
                beyond = distance(rings[g], corners[g], x[r, i]) - bad[r, i] * most
                excess[r] = max(excess[r], beyond)
