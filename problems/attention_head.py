"""Attention of a trained head on a real sentence: a field of low rank that no f explains.

The atoms are the n hidden states of a sentence at the door of a layer of all-MiniLM-L6-v2, and
every one of them is a query. A head scores atom y for query x by ⟨Bx + b, y⟩ with

    B = W_K' W_Q / √32,   b = W_K' b_Q / √32,

so the field is F(x) = Qx + c with Q = −B of rank 32, never multiplied out, and c = −b. (The key
bias shifts all scores of a query alike.)

Difficulty: B is not symmetric, and ½(B + B') has 32 positive and 32 negative eigenvalues in each
of the model's 72 heads: none is convex, concave or monotone, so no theory of attention on convex or
concave problems covers them. The n tokens are affinely independent, hence each is a vertex of its
hull, yet most of them don't lead at themselves.

What runs come to, keys fixed, steps 2/(t + 2), on the shipped heads: a vertex, mostly [CLS]
(sentence 2, layer 2, head 9, most queries); an edge or a triangle whose corners lead in turn for
good (layer 5, head 6: all queries); and once (sentence 0, layer 0, head 5, queries 3 to 5) an
endless round of four leaders, each stretch longer than the last by some factor: past 10⁷ steps the
leader changes again after millions of quiet ones, the gap at 0.6 % of the scale. So a fixed point
needs a certificate; quiet alone proves nothing.
"""

from functools import cache
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fwbench import minilm
from fwbench.errors import InvalidParameter, InvalidProblem
from fwbench.geometry.forms import LowRank
from fwbench.geometry.inputs import real_array
from fwbench.intake import obstacle
from fwbench.problem import ProblemEntry, QuadraticOverHull

SENTENCE, LAYER, HEAD = "0", 0, 5
NEEDED = ("hidden_states", "W_Q", "W_K")
SHIPPED = Path(__file__).with_name("data") / "attention_heads.npz"


def make(
    sentence: str = SENTENCE, layer: int = LAYER, head: int = HEAD, file: str = ""
) -> QuadraticOverHull:
    """Build the field of one head, one query a token.

    Parameters
    ----------
    sentence : str
        Number of a shipped sentence (0 to 2), or a text, which needs the extra ``transformer``.
    layer, head : int
        From 0 to 5 and 0 to 11. Shipped are (0, 3), (0, 5), (2, 9), (5, 4) and (5, 6); the others
        need the extra.
    file : str
        A .npz file with arrays of your own in place of the three above: ``hidden_states`` (n, d),
        ``W_Q`` (h, d), ``b_Q`` (h,) if there is a bias, ``W_K`` (h, d), acting as ``W_Q @ x``.

    Returns
    -------
    QuadraticOverHull
        n atoms, n queries, kind ``general`` (your own arrays may be ``monotone``).

    Raises
    ------
    InvalidParameter
        If there is no such sentence, layer or head.
    InvalidProblem
        If the file, or an array in it, is not as described.
    MissingExtra
        If the model is needed and not installed.

    Examples
    --------
    >>> problem = make(sentence="1", layer=5, head=6)
    >>> problem.atoms.shape, problem.start.m, problem.kind.value
    ((16, 384), 16, 'general')
    """
    if file:
        if (sentence, layer, head) != (SENTENCE, LAYER, HEAD):
            raise InvalidParameter("file: it takes the place of sentence, layer and head")
        return _field(**_read(file))
    minilm.check_head(layer, head)
    return _field(hidden_states(sentence, layer), **_weights(layer, head))


def hidden_states(sentence: str, layer: int) -> NDArray[np.float32]:
    """Return what enters a layer, shape (n, 384): shipped, or computed and rounded like it."""
    shipped = _shipped()
    texts = list(shipped["sentences"])
    try:
        index = int(sentence)
    except ValueError:
        index = texts.index(sentence) if sentence in texts else -1
    else:
        if not 0 <= index < len(texts):
            raise InvalidParameter(
                f"sentence: shipped are 0 to {len(texts) - 1}; got {index} (any text but a number "
                "is read as a sentence)"
            )
    if index < 0 or layer not in shipped["layers"]:
        passage = minilm.load().read(sentence if index < 0 else texts[index])
        return np.asarray(passage.doors[layer], dtype=np.float32)
    end = shipped["lengths"].cumsum()[index]
    rows = slice(end - shipped["lengths"][index], end)
    states: NDArray[np.float32] = shipped["hidden_states"][shipped["layers"] == layer][0, rows]
    return states


def _weights(layer: int, head: int) -> dict[str, NDArray[np.float32]]:
    shipped = _shipped()
    found = np.flatnonzero((shipped["heads"] == (layer, head)).all(axis=1))
    if found.size:
        return {name: shipped[name][found[0]] for name in ("W_Q", "b_Q", "W_K")}
    own = minilm.load().head(layer, head)
    return {"W_Q": own.W_Q, "b_Q": own.b_Q, "W_K": own.W_K}


def _field(
    hidden_states: ArrayLike, W_Q: ArrayLike, W_K: ArrayLike, b_Q: ArrayLike | None = None
) -> QuadraticOverHull:
    atoms, query, key = (np.asarray(array, dtype=np.float64) for array in (hidden_states, W_Q, W_K))
    key = key / np.sqrt(len(key))
    c = None if b_Q is None else -(key.T @ np.asarray(b_Q, dtype=np.float64))
    return QuadraticOverHull(atoms, LowRank(-key.T, query.T), c, start=np.arange(len(atoms)))


def _read(file: str) -> dict[str, Any]:
    """Return the arrays of a user's file, their shapes checked against each other."""
    arrays = {name: real_array(name, array) for name, array in _stored(file).items()}
    states, query, key = (arrays[name].shape for name in NEEDED)
    if len(states) != 2:
        slip = " (a batch? take one sentence)" if len(states) == 3 else ""
        raise InvalidProblem(
            f"hidden_states must have shape (n, d), one token a row; got {states}{slip}"
        )
    d = states[1]
    for name, shape in (("W_Q", query), ("W_K", key)):
        if len(shape) != 2 or shape[1] != d:
            slip = " (transposed?)" if shape[:1] == (d,) else ""
            raise InvalidProblem(
                f"{name} must have shape (h, d) = (h, {d}) to match hidden_states {states}; "
                f"got {shape}{slip}"
            )
    if query != key:
        raise InvalidProblem(
            f"W_Q and W_K must have one shape (h, d); got {query} and {key} (all heads in one?)"
        )
    if "b_Q" in arrays and arrays["b_Q"].shape != query[:1]:
        slip = " (the bias of all heads?)" if arrays["b_Q"].size > query[0] else ""
        raise InvalidProblem(
            f"b_Q must have shape (h,) = {query[:1]} to match W_Q; got {arrays['b_Q'].shape}{slip}"
        )
    return arrays


def _stored(file: str) -> dict[str, NDArray[Any]]:
    if (why := obstacle(file)) is not None:
        raise InvalidProblem(f"file: {file} can't be read: {why}")
    try:
        # opened here, because np.load leaves a torn .npz file open
        with Path(file).open("rb") as opened:
            stored = np.load(opened, allow_pickle=False)
            if isinstance(stored, np.ndarray):
                raise InvalidProblem(
                    f"file: {file} must be a .npz file of named arrays; it holds one array of "
                    f"shape {stored.shape}"
                )
            if missing := [name for name in NEEDED if name not in stored]:
                raise InvalidProblem(
                    f"file: {file} must hold {', '.join(NEEDED)}; {', '.join(missing)} missing "
                    f"among {', '.join(stored) or 'no arrays'}"
                )
            return {name: stored[name] for name in (*NEEDED, "b_Q") if name in stored}
    except InvalidProblem:
        raise
    except (OSError, EOFError, ValueError, BadZipFile) as error:
        raise InvalidProblem(f"file: {file} can't be read as .npz; {error}") from error


@cache
def _shipped() -> dict[str, NDArray[Any]]:
    with np.load(SHIPPED) as stored:
        return dict(stored)


ENTRY = ProblemEntry(
    name="attention_head",
    make=make,
    label="real attention heads: a field of rank 32 without potential, a query a token",
    grid=(
        {"sentence": SENTENCE, "layer": LAYER, "head": HEAD},
        {"sentence": "2", "layer": 2, "head": 9},
        {"sentence": "0", "layer": 5, "head": 6},
    ),
)
