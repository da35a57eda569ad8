"""One problem from every side: a quadratic over the convex hull of given points.

``fw.QuadraticOverHull``, ``fw.solve`` and ``fw.run`` are loaded at first use, so that
``import fwbench`` alone (and ``fwbench --help``) stays free of numpy and numba.
"""

from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fwbench.api import run, solve
    from fwbench.blocks import Blocks
    from fwbench.geometry.forms import Factored, LowRank
    from fwbench.problem import QuadraticOverHull

__version__ = "0.1.0"
__all__ = ["Blocks", "Factored", "LowRank", "QuadraticOverHull", "run", "solve"]

# solvers/ and problems/ are installed as fwbench.solvers and fwbench.problems. In a checkout they
# stand beside this folder, so look there too: the names are then the same everywhere.
_root = Path(__file__).resolve().parent.parent
if (_root / "pyproject.toml").is_file():
    __path__.append(str(_root))

_HOME = {
    "Blocks": "fwbench.blocks",
    "QuadraticOverHull": "fwbench.problem",
    "Factored": "fwbench.geometry.forms",
    "LowRank": "fwbench.geometry.forms",
    "solve": "fwbench.api",
    "run": "fwbench.api",
}


def __dir__() -> list[str]:
    return [*__all__, "__version__"]


def __getattr__(name: str) -> Any:
    from importlib import import_module

    if name not in _HOME:
        raise AttributeError(f"module 'fwbench' has no attribute {name!r}")
    found = globals()[name] = getattr(import_module(_HOME[name]), name)
    return found
