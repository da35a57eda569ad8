"""The jitted loops: arrays in, arrays out.

``jit`` compiles with a cache on disk that is named by the content of *all* kernel files: numba's
own cache looks only at the file of the outermost function, so an edited callee in another file
would run stale. ``plain`` gives the same source uncompiled: for object arrays (exact arithmetic),
and to check the compiled code against Python.
"""

import hashlib
import os
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numba
from numba.core.dispatcher import Dispatcher

Kernel = Callable[..., Any]


def _fingerprint(folder: Path) -> str:
    """Hash the content of every kernel file and numba's version."""
    digest = hashlib.sha256(numba.__version__.encode())
    for path in sorted(folder.glob("*.py")):
        digest.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()[:16]


def _cache_root() -> Path:
    """Return where compiled kernels lie: what NUMBA_CACHE_DIR says, else the user's cache."""
    if numba.config.CACHE_DIR:
        return Path(numba.config.CACHE_DIR)
    return Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "fwbench"


CACHE_DIR = str(_cache_root() / f"kernels-{_fingerprint(Path(__file__).parent)}")


def _compiled(function: Kernel, **options: Any) -> Kernel:
    before = numba.config.CACHE_DIR
    numba.config.CACHE_DIR = CACHE_DIR
    try:
        compiled: Kernel = numba.njit(cache=True, error_model="numpy", **options)(function)
        return compiled
    finally:
        numba.config.CACHE_DIR = before


def jit(function: Kernel) -> Kernel:
    """Compile a kernel: one thread, no fast-math (ties must not depend on the order of sums)."""
    return _compiled(function)


def jit_sums(function: Kernel) -> Kernel:
    """Compile a kernel whose sums may be taken in any order, so that they use whole vectors.

    Only for kernels that add and multiply: what compares must not be reordered.
    """
    return _compiled(function, fastmath={"reassoc", "contract"})


def jit_views(function: Kernel) -> Kernel:
    """Compile a kernel that makes no array but views: it counts no references.

    Counting up and down, for every view and every array that is handed on, costs as much as the
    arithmetic of a short step; what the caller holds stays alive without.
    """
    return _compiled(function, _nrt=False)


def jit_view_sums(function: Kernel) -> Kernel:
    """Compile a kernel that makes no array, and whose sums may be taken in any order."""
    return _compiled(function, fastmath={"reassoc", "contract"}, _nrt=False)


def plain(kernel: Kernel) -> Kernel:
    """Return the kernel as plain Python, the kernels that it calls included."""
    function = kernel.py_func if isinstance(kernel, Dispatcher) else kernel
    scope = dict(function.__globals__)
    for name in function.__code__.co_names:
        if isinstance(scope.get(name), Dispatcher):
            scope[name] = plain(scope[name])
    return types.FunctionType(function.__code__, scope, function.__name__, function.__defaults__)
