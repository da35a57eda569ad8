r"""The problem: minimise :math:`f(x) = ½⟨x, Qx⟩ + ⟨c, x⟩` over the convex hull of given points.

Without symmetry of Q there is no f, only the field :math:`F(x) = Qx + c`: a variational
inequality. Everything is frozen and complete once built; what is costly is found at first use.
"""

from __future__ import annotations

import copy
import dataclasses
import hashlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fwbench.errors import InvalidProblem
from fwbench.geometry.combinations import Combinations
from fwbench.geometry.compensated import matvec, two_product, two_sum
from fwbench.geometry.forms import Diagonal, Form, Kind, LowRank, Scalar
from fwbench.geometry.inputs import (
    checked_atoms,
    checked_form,
    checked_linear,
    rationals,
    read_only,
    refuse_infinite,
)
from fwbench.geometry.kinds import along_span, declared_kind, overlooked
from fwbench.kernels.passes import (
    block_minima,
    extent,
    farthest,
    first_within,
    least,
    offsets_mean,
)

Array = NDArray[np.float64]

TIE = {np.dtype(np.float64): 2.0**-46, np.dtype(np.float32): 2.0**-17}
# Blocks of atoms whose leaders a pass finds: as many as can hold a support, few enough to be cheap,
# so small that their scores stay in the fastest cache.
FEWEST_BLOCKS, MOST_BLOCKS, LARGEST_BLOCK = 64, 512, 512
ENTRIES = 2**20  # of a block of centred atoms, where a block is multiplied by a matrix
SMALLEST = 1e-290  # of a scale: below, squares of coordinates lose their digits
RANK = 1e-12  # singular values of the centred atoms below this part of the largest are rounding
KIND = {np.dtype(np.float64): 1e-12, np.dtype(np.float32): 1e-5}


def _exact(doubles: Array) -> NDArray[Any]:
    """Return doubles as the Fractions that they are."""
    return np.asarray(np.vectorize(Fraction, otypes=[object])(doubles))


@dataclass(frozen=True)
class ProblemEntry:
    """What a problem file says of itself; the last line of the file.

    Attributes
    ----------
    name : str
        The file's name.
    make : callable
        Builds the problem from its parameters; their names, declared types and defaults are the
        parameters of an instance.
    label : str
        The difficulty that the family isolates, in a few words.
    grid : tuple of mappings
        Parameters of the instances that a run of the bare name makes.
    complete : callable, optional
        Returns all parameters from those given, where the canonical text must hold more: what is
        in a file.
    """

    name: str
    make: Callable[..., QuadraticOverHull]
    label: str
    grid: tuple[Mapping[str, Any], ...] = ({},)
    complete: Callable[[Mapping[str, Any]], Mapping[str, Any]] | None = None


class QuadraticOverHull:
    """A quadratic over the convex hull of the rows of `atoms`; always a minimisation.

    Parameters
    ----------
    atoms : array_like, shape (n, d)
        One atom a row; held as a read-only view. Texts such as "1/7" are exact rationals, in Q
        and c as well.
    Q : float, array_like of shape (d,) or (d, d), Factored, or LowRank
        Scalar, diagonal, dense, F'DF, or a field (not symmetric, or LR'). Default 1.
    c : array_like, shape (d,), optional
        Linear term; zeros by default.
    kind : str, optional
        What the caller knows of Q, for all of space or along differences of atoms; checked.
    start : Combinations or sequence of keys, optional
        Where queries start; by default one query at the atom that leads at the mean.

    Raises
    ------
    InvalidProblem
        Names the array, the rule, what came and the likely slip.

    Examples
    --------
    >>> triangle = QuadraticOverHull([[1, 0], [0, 1], [2, 2]])
    >>> triangle.kind.value, triangle.n, triangle.d
    ('convex', 3, 2)
    >>> float(triangle.value(np.array([0.5, 0.5])))
    0.25
    """

    def __init__(
        self,
        atoms: ArrayLike,
        Q: ArrayLike | Form = 1.0,
        c: ArrayLike | None = None,
        *,
        kind: str | None = None,
        start: Combinations | ArrayLike | None = None,
    ) -> None:
        self._exact_atoms = rationals("atoms", atoms)
        self._exact_Q = rationals("Q", Q)
        self._exact_c = rationals("c", [] if c is None else c)
        self.atoms = checked_atoms(atoms)
        self.dtype = self.atoms.dtype
        self.n, self.d = self.atoms.shape
        if not np.isfinite(self.mean).all():  # one pass: an entry that is not finite shows there
            refuse_infinite("atoms", self.atoms)
        self.form = checked_form(Q, self.atoms.shape)
        self.c = checked_linear(c, self.atoms.shape)
        if kind is not None:
            self.kind = self._checked_kind(kind)
        if start is not None:
            self.start = self._checked_start(start)

    def __getstate__(self) -> dict[str, Any]:
        """Leave out the view of the atoms: it would come back as a copy, and writeable."""
        return {name: value for name, value in self.__dict__.items() if name != "packed"}

    def unprepared(self) -> QuadraticOverHull:
        """Return the same problem with nothing found out yet but its kind and start."""
        other = copy.copy(self)
        for name in ("packed", "mean", "centred", "centred_c", "radius", "value_at_mean",
                     "_at_mean", "tie", "block"):  # fmt: skip
            other.__dict__.pop(name, None)
        other.form = dataclasses.replace(self.form)  # type: ignore[type-var] # forms are
        return other

    def __repr__(self) -> str:
        form = type(self.form).__name__
        return f"QuadraticOverHull(n={self.n}, d={self.d}, Q={form}, start of {self.start.m})"

    # -- what Q is ---------------------------------------------------------------------------

    @cached_property
    def kind(self) -> Kind:
        """What Q is, certified: eigenvalues within 1e-12 (float32: 1e-5) of its norm count as 0.

        Unless they weigh more than that over the hull, which may be narrow where Q is large.
        """
        tolerance = KIND[self.dtype]
        kind = self.form.kind(tolerance)
        if (root := overlooked(self.form, kind)) is not None:
            blocks = (self.offsets(keys) @ root for keys in self._blocks_of_rows())
            most = max((block**2).sum(axis=1).max() for block in blocks)
            if most > tolerance * self.quadratic_scale:
                return Kind.INDEFINITE
        return kind

    def _blocks_of_rows(self) -> Iterator[slice]:
        """Yield slices of atoms that fit into memory when they are multiplied by a matrix."""
        for first in range(0, self.n, max(1, ENTRIES // self.d)):
            yield slice(first, first + max(1, ENTRIES // self.d))

    def _checked_kind(self, declared: str) -> Kind:
        if declared not in set(Kind):
            raise InvalidProblem(f"kind must be one of {', '.join(Kind)}; got {declared!r}")
        certified = self.kind
        if declared == certified:
            return certified
        # Q may be what was declared along differences of atoms alone
        bends = along_span(self.form, self.centred, RANK)
        small = KIND[self.dtype] * self.quadratic_scale
        return declared_kind(declared, certified, bends, small)

    # -- the function ------------------------------------------------------------------------

    @cached_property
    def packed(self) -> NDArray[Any]:
        """The atoms in C order, read-only: what passes run over; their own memory if they are."""
        return read_only(np.ascontiguousarray(self.atoms))

    @cached_property
    def mean(self) -> Array:
        """The atoms' mean μ, shape (d,): the origin of all centred coordinates."""
        # the mean of the differences to one atom keeps the digits of a cloud far from 0
        offsets = np.empty(self.d)
        with np.errstate(over="ignore", invalid="ignore"):
            offsets_mean(self.packed, offsets)
            return np.asarray(self.atoms[0] + offsets)

    @cached_property
    def centred(self) -> Array:
        """The atoms minus their mean, shape (n, d), float64."""
        return self.atoms - self.mean

    @cached_property
    def centred_c(self) -> Array:
        """The field at the mean, c + Qμ, by compensated sums; shape (d,)."""
        if isinstance(self.form, Scalar) and self.form.q == 1:  # rounded once, in the sum
            return np.asarray(self.c + self.mean)
        high, low = self.mean, np.zeros(self.d)
        for link in self.form.chain():
            if link.ndim == 2:
                high, low = matvec(link, high, low)
            else:
                product, rounding = two_product(high, np.broadcast_to(link, high.shape))
                high, low = two_sum(product, rounding + link * low)
        total, rounding = two_sum(self.c, high)
        return total + (rounding + low)

    @cached_property
    def block(self) -> int:
        """How many atoms share a block of a pass."""
        wanted = min(max(FEWEST_BLOCKS, 2 * self.d), MOST_BLOCKS)
        return int(min(-(-self.n // wanted), LARGEST_BLOCK))

    @cached_property
    def _at_mean(self) -> tuple[float, float, NDArray[np.int64], Array]:
        """What one pass finds at the mean: both extents, and the leader of each block."""
        form, sizes = self.form, np.zeros(self.d)
        if isinstance(form, Scalar | Diagonal):
            sizes[:] = np.abs(form.q)
        blocks = -(-self.n // self.block)
        keys, scores = np.empty(blocks, dtype=np.int64), np.empty(blocks)
        square, height = extent(
            self.packed, self.mean, sizes, self.centred_c, keys, scores, self.block
        )
        if isinstance(form, LowRank):
            square = form.scale(self.centred)
        elif not isinstance(form, Scalar | Diagonal):
            square = max(form.scale(self.offsets(keys)) for keys in self._blocks_of_rows())
        if not np.isfinite(square + height):
            raise InvalidProblem("atoms, Q or c are so large that values of f overflow; rescale")
        if square + height < SMALLEST and 0 < np.ptp(self.atoms) < SMALLEST**0.5:
            raise InvalidProblem("atoms lie so close that values of f underflow; rescale")
        return float(square), float(height), read_only(keys), read_only(scores)

    @property
    def leaders_at_mean(self) -> tuple[NDArray[np.int64], Array]:
        """The leader of each block of atoms at μ and its score ⟨F(μ), v − μ⟩, (blocks,) each."""
        return self._at_mean[2:]

    @property
    def quadratic_scale(self) -> float:
        """The part of the scale that is of the quadratic term."""
        return self._at_mean[0]

    @property
    def scale(self) -> float:
        """What every tolerance is relative to: the sizes of both terms over the hull, summed."""
        return self._at_mean[0] + self._at_mean[1]

    @cached_property
    def radius(self) -> float:
        """Largest distance of an atom to the mean."""
        if isinstance(self.form, Scalar) and self.form.q:
            return float(np.sqrt(self.quadratic_scale / abs(self.form.q)))
        return float(np.sqrt(farthest(self.packed, self.mean, np.ones(self.d))))

    @cached_property
    def value_at_mean(self) -> float:
        """The value f(μ): what `value_centred` leaves out."""
        return 0.5 * float(self.mean @ (self.c + self.centred_c))

    def centred_field(self, offset: Array) -> Array:
        """Return F = Qx + c at x = μ + offset, for offsets of shape (..., d)."""
        return self.form.apply(offset) + self.centred_c

    def centred_value(self, offset: Array, field: Array | None = None) -> Array:
        """Return f(μ + offset) - f(μ) for offsets (..., d), from F there where it is known."""
        field = self.centred_field(offset) if field is None else field
        return np.asarray(0.5 * ((field + self.centred_c) * offset).sum(axis=-1))

    def value(self, x: ArrayLike) -> Array:
        """Return f at each row of x, shape (..., d)."""
        return np.asarray(self.centred_value(np.asarray(x) - self.mean) + self.value_at_mean)

    # -- the feasible set --------------------------------------------------------------------

    def rows(self, keys: ArrayLike) -> NDArray[Any]:
        """Return the coordinates of the atoms with these keys, shape (len(keys), d)."""
        return np.asarray(self.atoms[np.asarray(keys, dtype=np.int64)])

    def offsets(self, keys: ArrayLike | slice) -> Array:
        """Return the coordinates of the atoms with these keys from the mean, (len(keys), d)."""
        rows = self.packed[keys] if isinstance(keys, slice) else self.rows(keys)
        return np.asarray(rows - self.mean)

    def least_score(self, field: Array) -> float:
        """Return the least ⟨field, v − μ⟩ over the atoms; one pass, no memory of their size."""
        return float(least(self.packed, self.mean, field))

    def _first_within(self, field: Array, keys: Any, scores: Array, tie: float) -> int:
        """Return the lowest key whose score is within `tie` of the least of all blocks."""
        bound = scores.min() + tie
        return int(first_within(self.packed, self.mean, field, bound, keys, scores, self.block))

    def oracle(self, direction: ArrayLike) -> int:
        """Return the key of an atom with the least ⟨direction, v⟩, the lowest in a tie."""
        field = np.asarray(direction, dtype=np.float64)
        tie = TIE[self.dtype] * -min(self.least_score(field), self.least_score(-field))
        blocks = -(-self.n // self.block)
        keys, scores = np.empty(blocks, dtype=np.int64), np.empty(blocks)
        block_minima(self.packed, self.mean, field, keys, scores, self.block)
        return self._first_within(field, keys, scores, tie)

    @cached_property
    def tie(self) -> float:
        """Scores within this of the least count as equal."""
        return TIE[self.dtype] * self.scale

    @cached_property
    def start(self) -> Combinations:
        """Where queries start: by default one, at the atom that leads at the mean."""
        keys, scores = self.leaders_at_mean
        leader = self._first_within(self.centred_c, keys, scores, self.tie)
        return Combinations.vertices([leader])

    def starting_at(self, start: Combinations | ArrayLike) -> QuadraticOverHull:
        """Return the same problem with other starts; what was found of it stays known."""
        other = copy.copy(self)
        other.__dict__.pop("fingerprint", None)
        other.start = self._checked_start(start)
        return other

    @cached_property
    def every_atom(self) -> Combinations:
        """One query at each atom: a cloud of tokens."""
        return Combinations.vertices(np.arange(self.n))

    def _checked_start(self, start: Combinations | ArrayLike) -> Combinations:
        combinations = start if isinstance(start, Combinations) else None
        if combinations is None:
            keys = np.atleast_1d(np.asarray(start))
            if keys.dtype.kind not in "iu" or keys.ndim != 1:
                raise InvalidProblem(
                    f"start must be keys of atoms or Combinations; got {keys.dtype} {keys.shape}"
                )
            combinations = Combinations.vertices(keys)
        keys = combinations.keys
        if combinations.m == 0 or (keys.size and not 0 <= keys.min() <= keys.max() < self.n):
            raise InvalidProblem(f"start must name atoms by keys 0 to {self.n - 1}; got {keys}")
        if combinations.data.dtype.kind != "f":
            raise InvalidProblem(f"start: weights must be floats; got {combinations.data.dtype}")
        sums = combinations.sums()
        if (combinations.data < 0).any() or not np.allclose(sums, 1, rtol=0, atol=1e-12):
            raise InvalidProblem("start must be convex combinations: weights >= 0 that sum to 1")
        return combinations

    # -- exactly -----------------------------------------------------------------------------

    @cached_property
    def exact_atoms(self) -> NDArray[Any]:
        """The atoms as Fractions, shape (n, d): the texts given, else each double as it is."""
        if self._exact_atoms is not None:
            return self._exact_atoms
        return _exact(self.atoms.astype(np.float64))

    @cached_property
    def exact_chain(self) -> tuple[NDArray[Any], ...]:
        """The chain of Q as Fractions: the texts given, else each double as it is."""
        if self._exact_Q is not None:
            return (self._exact_Q,)
        return tuple(_exact(link) for link in self.form.chain())

    @cached_property
    def exact_c(self) -> NDArray[Any]:
        """The linear term as Fractions, shape (d,)."""
        if self._exact_c is not None:
            return self._exact_c
        return _exact(self.c)

    @cached_property
    def fingerprint(self) -> str:
        """Hash of everything that determines the problem: 16 hex digits."""
        digest = hashlib.sha256(type(self.form).__name__.encode())
        start = (self.start.indptr, self.start.keys, self.start.data)
        for array in (self.atoms, *self.form.chain(), self.c, *start):
            digest.update(f"{array.dtype.str}{array.shape}".encode())
            digest.update(np.ascontiguousarray(array).tobytes())
        for exact in (self._exact_atoms, self._exact_Q, self._exact_c):
            digest.update(b"" if exact is None else str(exact.tolist()).encode())
        return digest.hexdigest()[:16]
