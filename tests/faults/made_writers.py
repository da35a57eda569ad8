"""Real processes that hold and write run folders, to be stopped, killed and waited for."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from fwbench.store import RunFolder

DEADLINE = 60  # seconds until a process that hangs fails its test

# Each prints a line for what it has done, and reads a line before it goes on.
HOLDS = """
import sys
from pathlib import Path
from fwbench.store import RunFolder
folder = RunFolder(Path(sys.argv[1]))
with folder.locked(wait=sys.argv[2] == "wait", told=lambda text: print(text, flush=True)):
    print("holds", sorted(path.name for path in folder.path.glob("mark*")), flush=True)
    sys.stdin.readline()
"""


def record(run_id: str, **row: Any) -> dict[str, Any]:
    return {"row": {"run_id": run_id, "status": "budget", **row}, "trace": {}, "rest": None}


def arrays(number: int) -> dict[str, Any]:
    return {"points": np.full((40, 2), float(number))}


def lock(folder: RunFolder, wait: bool = False) -> None:
    """Take a lock and give it back."""
    with folder.locked(wait=wait):
        pass


def made_folder(path: Any, runs: int = 0) -> RunFolder:
    folder = RunFolder.create(path)
    folder.write_manifest({"plan": []})
    for number in range(runs):
        folder.append(record(f"r{number}", value=number / 7), arrays(number))
    return folder


@contextmanager
def process(source: str, *arguments: object) -> Iterator[subprocess.Popen[str]]:
    """Run Python source; whatever becomes of the test, the process ends with it."""
    with subprocess.Popen(
        [sys.executable, "-c", source, *map(str, arguments)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as child:
        try:
            yield child
        finally:
            child.kill()
