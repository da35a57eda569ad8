"""Random picks by counters: the numbers depend on who asks, never on when or with whom.

Philox4x32-10 (Salmon, Moraes, Dror and Shaw 2011) turns a counter (key, token, step, replica) and a
seed into four words of 32 bits. Words are held in 64, so that no product or sum overflows, in
Python no more than compiled.
"""

import numpy as np

from fwbench.kernels import jit_views

MULTIPLY_0, MULTIPLY_1 = np.uint64(0xD2511F53), np.uint64(0xCD9E8D57)
RAISE_0, RAISE_1 = np.uint64(0x9E3779B9), np.uint64(0xBB67AE85)
WORD, LOW = np.uint64(32), np.uint64(0xFFFFFFFF)
DROPPED = np.uint64(12)  # bits of 64: what is left, and a half, is a double
HALF, UNIT = 0.5, 2.0**-52
# An exponential variable lies in (1.1e-16, 36.8): whose score is so far above cannot win.
HOPELESS = 42.0


@jit_views
def philox(a, b, c, d, seed_low, seed_high):
    """Return four words of 32 bits, in 64, for a counter of four words and a key of two."""
    for _ in range(10):
        first, second = MULTIPLY_0 * a, MULTIPLY_1 * c
        a = (second >> WORD) ^ b ^ seed_low
        b = second & LOW
        c = (first >> WORD) ^ d ^ seed_high
        d = first & LOW
        seed_low = (seed_low + RAISE_0) & LOW
        seed_high = (seed_high + RAISE_1) & LOW
    return a, b, c, d


@jit_views
def exponential(high, low):
    """Return a standard exponential variable, in (0, 37), from two words of 32 bits."""
    return -np.log((np.float64(((high << WORD) | low) >> DROPPED) + HALF) * UNIT)


@jit_views
def race(field, keys, first, count, token, replica, beta, seed_low, seed_high, step, scores):
    """Return which key a token picks, of rows first … first + count: k with weight e^(−β⟨F, y_k⟩).

    The first of n exponential clocks with rates e^(−β s_k) to ring is k with just that
    probability: argmin E_k e^(β s_k), which is argmax −β s_k + G_k with the Gumbel variables
    G_k = −log E_k.

    Parameters
    ----------
    field : ndarray, shape (d,)
        F at the token.
    keys : ndarray, shape (n, d)
    first, count : int
    token, replica, step : int
        Who asks, and when.
    beta : float
    seed_low, seed_high : uint64
        Words of 32 bits.
    scores : ndarray, shape (count,)
        Overwritten.

    Notes
    -----
    O(n d), one logarithm and one exponential for each key that has a chance. Key k draws from the
    counter (k // 2, token, step, replica).
    """
    least = np.inf
    for k in range(count):
        total = 0.0
        for j in range(len(field)):
            total += np.float64(field[j]) * np.float64(keys[first + k, j])
        scores[k] = total
        least = min(least, total)
    earliest, pick = np.inf, 0
    for pair in range((count + 1) // 2):
        k = 2 * pair
        late = beta * (scores[k] - least)
        later = beta * (scores[k + 1] - least) if k + 1 < count else np.inf
        if late > HOPELESS and later > HOPELESS:
            continue
        a, b, c, d = philox(
            np.uint64(pair), np.uint64(token), np.uint64(step), np.uint64(replica),
            seed_low, seed_high,
        )  # fmt: skip
        if late <= HOPELESS:
            ring = exponential(a, b) * np.exp(late)
            pick = k if ring < earliest else pick
            earliest = min(earliest, ring)
        if later <= HOPELESS:
            ring = exponential(c, d) * np.exp(later)
            pick = k + 1 if ring < earliest else pick
            earliest = min(earliest, ring)
    return first + pick


@jit_views
def races(field, keys, own, replicas, beta, seed_low, seed_high, step, scores, picks):
    """Write which key each token picks into picks (m,).

    Parameters
    ----------
    field : ndarray, shape (m, d)
        F at the tokens, replica by replica.
    keys : ndarray, shape (n, d)
        For all, or, if `own`, the tokens themselves: each picks from its replica.
    own : bool
    replicas : int
    beta, seed_low, seed_high, step
        As for `race`.
    scores : ndarray, shape (n,) or (m / replicas,)
        Overwritten.
    picks : ndarray of int, shape (m,)
        Rows of `keys`.
    """
    tokens = len(field) // replicas
    count = tokens if own else len(keys)
    for q in range(len(field)):
        replica = q // tokens
        picks[q] = race(
            field[q], keys, replica * tokens if own else 0, count, q - replica * tokens, replica,
            beta, seed_low, seed_high, step, scores,
        )  # fmt: skip
