"""How far apart two atoms can be, measured by Q."""

import numpy as np
from numpy.typing import NDArray

BLOCK = 256  # rows that meet all others at once


def diameter_squared(offsets: NDArray[np.float64], images: NDArray[np.float64]) -> float:
    """Return the largest ⟨v_i − v_j, Q(v_i − v_j)⟩ over all pairs: O(n²d), no array of n × n.

    Parameters
    ----------
    offsets : ndarray, shape (n, d)
        The v_i, from their mean, so that no digits are lost far from the origin.
    images : ndarray, shape (n, d)
        Qv_i, Q symmetric and without negative eigenvalue.

    Examples
    --------
    >>> diameter_squared(np.array([[0.0, 3.0], [4.0, 0.0]]), np.array([[0.0, 3.0], [4.0, 0.0]]))
    25.0
    """
    own = np.einsum("ij,ij->i", offsets, images)
    rows = range(0, len(offsets), BLOCK)
    return max(
        float((own[i : i + BLOCK, None] + own - 2.0 * images[i : i + BLOCK] @ offsets.T).max())
        for i in rows
    )
