"""Write digits.npz: scikit-learn's copy of the UCI handwritten digits, as small integers.

Run from anywhere as ``python problems/data/make_digits.py``; it needs scikit-learn (the extra
``peers``). The same zlib gives the same bytes.
"""

from pathlib import Path

import numpy as np


def main() -> None:
    """Store images (1797, 64), grey values 0 to 16, and their labels (1797,)."""
    from sklearn.datasets import load_digits

    digits = load_digits()
    np.savez_compressed(
        Path(__file__).with_name("digits.npz"),
        images=digits.data.astype(np.uint8),
        labels=digits.target.astype(np.uint8),
    )


if __name__ == "__main__":
    main()
