"""Handwritten digits: the nearest point of the hull of one digit's images to another image.

The atoms are the 8 × 8 images of one digit, 64 grey values in [0, 1] each, in the order of the data
set; the target p is an image of another digit (or of the same one, then it is not an atom). With
Q = 1 and c = −p, f(x) = ½‖x − p‖² − ½‖p‖².

Difficulty: real, convex and flat. The 174 to 183 images of a digit span 48 to 54 of the 64
dimensions. Q is definite, so the nearest point is unique; its face is small and, as far as tried,
strictly complementary: of the default's 183 threes 8 carry weight (the least 3e-4, the runner-up's
score 0.009 above theirs), at distance 1.5713, where the nearest three is 1.8435 away. Open-loop
Frank-Wolfe zigzags among them and comes down about like 1/t²; methods that drop atoms find the
face.
"""

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fwbench.errors import InvalidParameter
from fwbench.problem import ProblemEntry, QuadraticOverHull

SHIPPED = Path(__file__).with_name("data") / "digits.npz"
WHITE = 16.0  # the largest grey value: pixels of a 4 × 4 block


def make(digit: int = 3, target: int = 8, image: int = 0, n: int = 0) -> QuadraticOverHull:
    """Build the projection of an image of `target` onto the hull of images of `digit`.

    Parameters
    ----------
    digit : int
        Whose images are the atoms, 0 to 9.
    target : int
        Whose image is projected, 0 to 9.
    image : int
        Which image of `target`, counted from 0.
    n : int
        How many atoms, the first ones; 0 takes all.

    Returns
    -------
    QuadraticOverHull
        Convex, d = 64.

    Raises
    ------
    InvalidParameter
        If there is no such digit or image, or fewer than n atoms.

    Examples
    --------
    >>> make().atoms.shape, make(digit=8).n
    ((183, 64), 173)
    """
    images, labels = _shipped()
    for name, value in (("digit", digit), ("target", target)):
        if not 0 <= value <= 9:
            raise InvalidParameter(f"{name}: it must be a digit, 0 to 9; got {value}")
    atoms = np.flatnonzero(labels == digit)
    targets = np.flatnonzero(labels == target)
    if not 0 <= image < len(targets):
        raise InvalidParameter(
            f"image: there are {len(targets)} images of {target}, counted from 0; got {image}"
        )
    atoms = atoms[atoms != targets[image]]
    if not 0 <= n <= len(atoms):
        raise InvalidParameter(
            f"n: it must lie between 0 (all) and {len(atoms)}, the images of {digit}; got {n}"
        )
    return QuadraticOverHull(images[atoms[: n or None]] / WHITE, c=-images[targets[image]] / WHITE)


@cache
def _shipped() -> tuple[NDArray[Any], NDArray[Any]]:
    with np.load(SHIPPED) as stored:
        return stored["images"].astype(np.float64), stored["labels"]


ENTRY = ProblemEntry(
    name="digits",
    make=make,
    label="real images: the nearest point of one digit's hull to another digit's image",
    grid=({"digit": 3, "target": 8}, {"digit": 4, "target": 4}),
)
