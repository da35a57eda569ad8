r"""Points in a folder of files, larger than memory: ``blocks[path=FOLDER]``.

The .npy and .parquet files of the folder are read piece by piece, in the order of their names, one
atom a row; nothing of their size is held in memory, and nothing in them is executed. Solvers that
make do with passes over the atoms run on it, others are skipped. A folder that has changed is
another instance: `content` is a part of the name.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

import numpy as np

from fwbench.blocks import Blocks
from fwbench.errors import InvalidProblem
from fwbench.problem import ProblemEntry, QuadraticOverHull


def blocks(path: str, q: float = 1.0, content: str = "") -> QuadraticOverHull:
    """Look at the files of a folder; one pass over them finds their mean.

    Parameters
    ----------
    path : str
        The folder.
    q : float
        Q = q: 1 for the nearest point to the origin, −1 for a concave problem.
    content : str
        The start of the SHA-256 of the files, filled in when they are first read; a folder that
        has changed since is refused.

    Raises
    ------
    InvalidProblem
        Names the file, the place in it, what came and the likely slip.
    """
    found = Blocks(path)
    if content and not (now := _digest(found)).startswith(content):
        raise InvalidProblem(
            f"blocks {path}: their content has changed: SHA-256 {now[: len(content)]}…, not "
            f"{content}… (leave content out to take it as it is)"
        )
    return QuadraticOverHull(found, np.array(q))


def with_content(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Fill in `content`, so that an instance is named by what its files hold."""
    content = arguments["content"] or _digest(Blocks(arguments["path"]))[:12]
    return {**arguments, "content": content}


def _digest(found: Blocks) -> str:
    digest = hashlib.sha256()
    for file in found.files:
        try:
            with file.path.open("rb") as opened:
                digest.update(hashlib.file_digest(opened, "sha256").digest())
        except OSError as error:
            raise InvalidProblem(
                f"atoms in {file.path}: it can't be opened: {error.strerror}"
            ) from error
    return digest.hexdigest()


ENTRY = ProblemEntry(
    name="blocks",
    make=blocks,
    label="points of your own, larger than memory, in a folder of files",
    complete=with_content,
)
