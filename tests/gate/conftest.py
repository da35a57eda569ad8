import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest


@dataclass(frozen=True)
class Ended:
    """How a command ended: exit code and both streams."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


@pytest.fixture(scope="session")
def command() -> Callable[..., Ended]:
    """Run a command line in a folder, in a process of its own that knows of no test."""

    def run(folder: Path, *words: str | Path, **environment: str) -> Ended:
        names = ("PYTEST_", "COV_", "GIT_")
        known = {k: v for k, v in os.environ.items() if not k.startswith(names)}
        done = subprocess.run(
            [sys.executable, "-m", "fwbench", *words], cwd=folder, env=known | environment,
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert "Traceback" not in done.stderr, done.stderr
        return Ended(done.returncode, done.stdout, done.stderr)

    return run
