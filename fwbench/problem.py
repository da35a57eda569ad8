r"""The problem: minimise :math:`f(x) = ½⟨x, Qx⟩ + ⟨c, x⟩` over the convex hull of given points.

Without symmetry of Q there is no f, only the field :math:`F(x) = Qx + c`: a variational
inequality. Everything is frozen and complete once built; what is costly is found at first use.
"""

from __future__ import annotations

import copy
import dataclasses
import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fwbench.cards import card, outline
from fwbench.errors import InvalidProblem
from fwbench.geometry.combinations import Combinations
from fwbench.geometry.compensated import matvec, two_product, two_sum
from fwbench.geometry.forms import Form, Kind, Scalar
from fwbench.geometry.inputs import (
    checked_atoms,
    checked_form,
    checked_linear,
    rationals,
    read_only,
    refuse_infinite,
)
from fwbench.geometry.kinds import along_span, declared_kind, overlooked
from fwbench.geometry.starts import checked_start
from fwbench.listed import Extent, Listed
from fwbench.pieces import Source
from fwbench.reductions import Reduced, in_blocks

Array = NDArray[np.float64]

TIE = {np.dtype(np.float64): 2.0**-46, np.dtype(np.float32): 2.0**-17}
SMALLEST = 1e-290  # of a scale: below, squares of coordinates lose their digits
RANK = 1e-12  # singular values of the centred atoms below this part of the largest are rounding
SHOWN_ENTRIES, SHOWN_DIMENSIONS = 10**6, 500  # of atoms, up to which a notebook is told all
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
    atoms : array_like, Blocks or Dask array, shape (n, d)
        One atom a row; held as a read-only view. Texts such as "1/7" are exact rationals, in Q
        and c as well. Blocks and Dask arrays are never in memory at once.
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
        atoms: ArrayLike | Source,
        Q: ArrayLike | Form = 1.0,
        c: ArrayLike | None = None,
        *,
        kind: str | None = None,
        start: Combinations | ArrayLike | None = None,
    ) -> None:
        given: Any = atoms
        held: Any = in_blocks(given)
        self._exact_atoms = rationals("atoms", given) if held is None else None
        self._exact_Q = rationals("Q", Q)
        self._exact_c = rationals("c", [] if c is None else c)
        self.atoms = held = checked_atoms(given) if held is None else held
        self.dtype: np.dtype[Any] = held.dtype
        self.n, self.d = shape = held.shape
        # one pass: an entry that is not finite shows there
        if not np.isfinite(self.mean).all() and self.in_memory:
            refuse_infinite("atoms", held)
        self.form = checked_form(Q, shape)
        self.c = checked_linear(c, shape)
        if kind is not None:
            self.kind = self._checked_kind(kind)
        if start is not None:
            self.start = checked_start(start, self.n)

    def __getstate__(self) -> dict[str, Any]:
        """Leave out the view of the atoms: it would come back as a copy, and writeable."""
        return {k: value for k, value in self.__dict__.items() if k not in ("packed", "passes")}

    def unprepared(self) -> QuadraticOverHull:
        """Return the same problem with nothing found out yet but its kind and start."""
        other = copy.copy(self)
        for name in ("packed", "passes", "mean", "centred", "centred_c", "radius", "value_at_mean",
                     "at_mean", "tie", "least_vertex_value"):  # fmt: skip
            other.__dict__.pop(name, None)
        other.form = dataclasses.replace(self.form)  # type: ignore[type-var] # forms are
        return other

    def __repr__(self) -> str:
        form = type(self.form).__name__
        return f"QuadraticOverHull(n={self.n}, d={self.d}, Q={form}, start of {self.start.m})"

    def _repr_html_(self) -> str:
        """Show the problem in a notebook; what would be costly to find out is not looked for."""
        small = self.in_memory and self.n * self.d <= SHOWN_ENTRIES and self.d <= SHOWN_DIMENSIONS
        facts = {
            "atoms": f"{self.n} in {self.d} dimensions, {self.dtype.name}, "
            f"{'in memory' if self.in_memory else 'in blocks'}",
            "Q": type(self.form).__name__,
        }
        picture = ""
        try:
            if small or "kind" in self.__dict__:
                facts["kind"] = str(self.kind)
            if small or "at_mean" in self.__dict__:
                facts["scale"] = f"{self.scale:.6g}"
            if small or "start" in self.__dict__:
                facts["starts"] = str(self.start.m)
            if small and self.d == 2:
                picture = outline(self.centred, self.start.averages(self.offsets(self.start.keys)))
        except InvalidProblem as error:  # the rest is found out at first use, and may be refused
            facts["refused"] = str(error)
        return card("Quadratic over a hull", facts, picture)

    # -- what Q is ---------------------------------------------------------------------------

    @cached_property
    def kind(self) -> Kind:
        """What Q is, certified: eigenvalues within 1e-12 (float32: 1e-5) of its norm count as 0.

        Unless they weigh more than that over the hull, which may be narrow where Q is large.
        """
        tolerance = KIND[self.dtype]
        kind = self.form.kind(tolerance)
        root = overlooked(self.form, kind)
        if root is None or self.passes.widest(self.mean, root) <= tolerance * self.quadratic_scale:
            return kind
        return Kind.INDEFINITE

    def _checked_kind(self, declared: str) -> Kind:
        if declared not in set(Kind):
            raise InvalidProblem(f"kind must be one of {', '.join(Kind)}; got {declared!r}")
        certified = self.kind
        if declared == certified:
            return certified
        if not self.in_memory:
            raise InvalidProblem(
                f"kind was declared {declared}, but Q is {certified} (whether that holds along "
                "differences of atoms is not looked for where they lie in blocks)"
            )
        # Q may be what was declared along differences of atoms alone
        bends = along_span(self.form, self.centred, RANK)
        small = KIND[self.dtype] * self.quadratic_scale
        return declared_kind(declared, certified, bends, small)

    # -- the function ------------------------------------------------------------------------

    @cached_property
    def passes(self) -> Listed | Reduced:
        """What goes once over all atoms, in memory or in blocks."""
        return Listed(self.packed) if isinstance(self.atoms, np.ndarray) else Reduced(self.atoms)

    @property
    def in_memory(self) -> bool:
        """Whether the atoms are; else they lie in blocks, never packed nor centred."""
        return self.passes.in_memory

    @cached_property
    def packed(self) -> NDArray[Any]:
        """The atoms in C order, read-only: what passes run over; their own memory if they are."""
        if not isinstance(self.atoms, np.ndarray):
            return self.passes.packed
        return read_only(np.ascontiguousarray(self.atoms))

    @cached_property
    def mean(self) -> Array:
        """The atoms' mean μ, shape (d,): the origin of all centred coordinates."""
        return self.passes.mean()

    @cached_property
    def centred(self) -> Array:
        """The atoms minus their mean, shape (n, d), float64."""
        return np.asarray(self.atoms if self.in_memory else self.packed) - self.mean

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

    @property
    def block(self) -> int:
        """How many atoms share a block of a pass."""
        return self.passes.block

    @cached_property
    def at_mean(self) -> Extent:
        """What one pass finds at the mean: both extents, and the leader of each block."""
        found = self.passes.extent(self.mean, self.form, self.centred_c)
        if not np.isfinite(found.square + found.height):
            raise InvalidProblem("atoms, Q or c are so large that values of f overflow; rescale")
        if found.square + found.height < SMALLEST and 0 < self.passes.width() < SMALLEST**0.5:
            raise InvalidProblem("atoms lie so close that values of f underflow; rescale")
        return found

    @property
    def leaders_at_mean(self) -> tuple[NDArray[np.int64], Array]:
        """The leader of each block of atoms at μ and its score ⟨F(μ), v − μ⟩, (blocks,) each."""
        return self.at_mean.keys, self.at_mean.scores

    @property
    def quadratic_scale(self) -> float:
        """The part of the scale that is of the quadratic term."""
        return self.at_mean.square

    @property
    def scale(self) -> float:
        """What every tolerance is relative to: the sizes of both terms over the hull, summed."""
        return self.at_mean.square + self.at_mean.height

    @cached_property
    def radius(self) -> float:
        """Largest distance of an atom to the mean."""
        if isinstance(self.form, Scalar) and self.form.q:
            return float(np.sqrt(self.quadratic_scale / abs(self.form.q)))
        if isinstance(self.passes, Reduced):  # found beside the rest
            return float(np.sqrt(self.at_mean.reach))
        return float(np.sqrt(self.passes.farthest(self.mean)))

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

    @cached_property
    def least_vertex_value(self) -> float:
        """The least f(v) − f(μ) over the atoms: where f is concave, its minimum over the hull."""
        if isinstance(self.passes, Reduced):
            return self.passes.least_value(self.mean, self.form, self.centred_c)
        return float(self.centred_value(self.centred).min())

    # -- the feasible set --------------------------------------------------------------------

    def rows(self, keys: ArrayLike) -> NDArray[Any]:
        """Return the coordinates of the atoms with these keys, shape (len(keys), d)."""
        return np.asarray(self.passes.rows(np.asarray(keys, dtype=np.int64)))

    def offsets(self, keys: ArrayLike) -> Array:
        """Return the coordinates of the atoms with these keys from the mean, (len(keys), d)."""
        return np.asarray(self.rows(keys) - self.mean)

    def least_score(self, field: Array) -> float:
        """Return the least ⟨field, v − μ⟩ over the atoms; one pass, no memory of their size."""
        return self.passes.least(self.mean, field)

    def oracle(self, direction: ArrayLike) -> int:
        """Return the key of an atom with the least ⟨direction, v⟩, the lowest in a tie."""
        field = np.asarray(direction, dtype=np.float64)
        tie = TIE[self.dtype] * -min(self.least_score(field), self.least_score(-field))
        return self.passes.leader(self.mean, field, tie)

    @cached_property
    def tie(self) -> float:
        """Scores within this of the least count as equal."""
        return TIE[self.dtype] * self.scale

    @cached_property
    def start(self) -> Combinations:
        """Where queries start: by default one, at the atom that leads at the mean."""
        found = self.at_mean
        return Combinations.vertices(
            [self.passes.leader(self.mean, self.centred_c, self.tie, found)]
        )

    def starting_at(self, start: Combinations | ArrayLike) -> QuadraticOverHull:
        """Return the same problem with other starts; what was found of it stays known."""
        other = copy.copy(self)
        other.__dict__.pop("fingerprint", None)
        other.start = checked_start(start, self.n)
        return other

    @cached_property
    def every_atom(self) -> Combinations:
        """One query at each atom: a cloud of tokens."""
        return Combinations.vertices(np.arange(self.n))

    # -- exactly -----------------------------------------------------------------------------

    @cached_property
    def exact_atoms(self) -> NDArray[Any]:
        """The atoms as Fractions, shape (n, d): the texts given, else each double as it is."""
        if self._exact_atoms is not None:
            return self._exact_atoms
        return _exact(self.packed.astype(np.float64))

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
        digest.update(f"{self.dtype.str}{self.atoms.shape}".encode())
        digest.update(self.passes.content())
        for array in (*self.form.chain(), self.c, *start):
            digest.update(f"{array.dtype.str}{array.shape}".encode())
            digest.update(np.ascontiguousarray(array).tobytes())
        for exact in (self._exact_atoms, self._exact_Q, self._exact_c):
            digest.update(b"" if exact is None else str(exact.tolist()).encode())
        return digest.hexdigest()[:16]
