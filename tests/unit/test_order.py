from fractions import Fraction

import numba
import numpy as np
import pytest

from fwbench.kernels.order import numeral, ordinal
from fwbench.kernels.pricing import BLOCK, survey

VALUES = [-np.inf, -3e30, -2.0, -1.5, -1e-30, -1e-42, 0.0, 1e-42, 1e-30, 0.5, 7.0, 3e30, np.inf]


@numba.njit
def there_and_back(numbers, keys, back):
    for i in range(len(numbers)):
        keys[i] = ordinal(numbers[i])
        back[i] = numeral(ordinal(numbers[i]))


@pytest.mark.parametrize(("kind", "width"), [(np.float64, np.int64), (np.float32, np.int32)])
def test_ordinals_rise_with_their_numbers_and_lead_back(kind, width):
    numbers = np.array(VALUES, dtype=kind)
    keys, back = np.empty(len(numbers), width), np.empty_like(numbers)
    there_and_back(numbers, keys, back)
    assert (np.diff(keys) > 0).all()
    assert back.tobytes() == numbers.tobytes()
    zeros = np.array([-0.0, 0.0], dtype=kind)
    there_and_back(zeros, keys[:2], back[:2])
    assert keys[1] - keys[0] == 1  # neighbours
    assert back[:2].tobytes() == zeros.tobytes()


def test_uncompiled_a_number_is_its_own_ordinal():
    for number in (2.0, Fraction(1, 3), np.float32(-4)):
        assert ordinal(number) is number
        assert numeral(number) is number


@pytest.mark.parametrize("kind", [np.float64, np.float32])
def test_the_least_score_of_each_block_is_found_wherever_it_stands(kind):
    rng = np.random.default_rng(0)
    for n in (1, 5, BLOCK - 1, BLOCK, BLOCK + 1, 3 * BLOCK + 17):
        for offset in (0.0, 10.0, -10.0):
            scores = (rng.standard_normal(n) + offset).astype(kind)
            lows = np.empty(-(-n // BLOCK), dtype=kind)
            survey(scores, lows)
            expected = [scores[i : i + BLOCK].min() for i in range(0, n, BLOCK)]
            assert lows.tolist() == expected
