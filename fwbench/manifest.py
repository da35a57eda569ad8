"""What made a run: versions, machine, revision; written once a run."""

from __future__ import annotations

import importlib.metadata
import os
import platform
import subprocess
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

import fwbench

LIBRARIES = (
    "numpy", "scipy", "numba", "cvxpy", "clarabel", "pandas", "pyarrow", "matplotlib", "plotly",
    "threadpoolctl",
)  # fmt: skip


def versions() -> dict[str, str]:
    """Return the versions of the libraries that a result may depend on."""
    found = {"fwbench": fwbench.__version__}
    for name in LIBRARIES:
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    return found


def revision() -> dict[str, Any]:
    """Return the git revision of the code and whether it was edited; nulls outside a checkout."""
    root = Path(fwbench.__file__).resolve().parent.parent

    def git(*words: str) -> str | None:
        try:
            done = subprocess.run(
                ["git", "-C", str(root), *words], capture_output=True, text=True, timeout=10
            )
        except (OSError, subprocess.TimeoutExpired):
            return None
        return done.stdout.strip() if done.returncode == 0 else None

    if not (root / "pyproject.toml").is_file():  # installed: a repository around it is another's
        return {"revision": None, "dirty": None}
    head, status = git("rev-parse", "HEAD"), git("status", "--porcelain")
    return {"revision": head, "dirty": None if status is None else bool(status)}


@cache
def _cpu() -> str:
    import cpuinfo

    return str(cpuinfo.get_cpu_info().get("brand_raw") or platform.processor() or "unknown")


def machine() -> dict[str, Any]:
    """Return what the clock ran on."""
    import psutil
    from threadpoolctl import threadpool_info

    blas = [
        f"{pool['internal_api']} {pool.get('version')} {pool.get('architecture') or ''}".strip()
        for pool in threadpool_info()
        if pool.get("user_api") == "blas"
    ]
    return {
        "cpu": _cpu(),
        "cores": os.cpu_count(),
        "memory": psutil.virtual_memory().total,
        "blas": sorted(set(blas)),
        "host": platform.node(),
        "system": platform.platform(),
        "load": list(os.getloadavg()) if hasattr(os, "getloadavg") else None,
    }


def manifest(command: str, threads: int) -> dict[str, Any]:
    """Return everything but the plan."""
    return {
        "command": command,
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
        "python": platform.python_version(),
        "versions": versions(),
        "git": revision(),
        "machine": machine() | {"threads": threads},
    }
