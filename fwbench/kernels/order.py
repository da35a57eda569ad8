"""Integers that order as floats do: of them a minimum uses whole vectors.

A minimum of floats is found one by one, for a NaN might come in between and may not be reordered.
The bits of a float are a sign and a magnitude; as integers in two's complement they order the same
once the magnitude of negative ones is flipped. Uncompiled, a number is its own ordinal, so that
the same source serves rationals.
"""

from typing import Any

from numba import types
from numba.extending import intrinsic, overload, register_jitable

INTEGERS = {types.float64: types.int64, types.float32: types.int32}
FLOATS = {integer: number for number, integer in INTEGERS.items()}


@intrinsic
def same_bits(context, value):
    """Read the bits of a float as an integer, and back."""
    other = (INTEGERS | FLOATS)[value]

    def generate(target, builder, signature, arguments):
        return builder.bitcast(arguments[0], target.get_value_type(signature.return_type))

    return other(value), generate


def ordinal(number: Any) -> Any:
    """Return what orders as a number does: an integer for a float, uncompiled itself."""
    return number


def numeral(key: Any) -> Any:
    """Return the number whose ordinal this is."""
    return key


def _flipped(integer: Any) -> Any:
    """Return what flips the magnitude of negative bits of a type, and flips it back."""
    sign, magnitude = integer.bitwidth - 1, 2 ** (integer.bitwidth - 1) - 1

    @register_jitable
    def flip(bits):
        return integer(bits ^ ((bits >> sign) & magnitude))  # narrow again: numba widens

    return flip


@overload(ordinal)
def _ordinal(number):
    flip = _flipped(INTEGERS[number])
    return lambda number: flip(same_bits(number))


@overload(numeral)
def _numeral(key):
    flip = _flipped(key)
    return lambda key: same_bits(flip(key))
