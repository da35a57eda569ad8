import gc
import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from fwbench.cli import main


@dataclass(frozen=True)
class Ended:
    """How a command ended: exit code and both streams."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


@pytest.fixture
def fwbench(tmp_path, monkeypatch, capfd):
    """Run a command line in an empty folder, in this process."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "160")

    def run(*words: str) -> Ended:
        monkeypatch.setattr(sys, "argv", ["fwbench", *words])
        gc.freeze()  # the command before may have had runs in this process, which thaw the tests
        capfd.readouterr()
        with pytest.raises(SystemExit) as end:
            main()
        out, err = capfd.readouterr()
        assert "Traceback" not in err
        return Ended(end.value.code, out, err)

    return run


@pytest.fixture(scope="session")
def misbehaving() -> str:
    return str(Path(__file__).parents[1] / "made" / "misbehaving.py")
