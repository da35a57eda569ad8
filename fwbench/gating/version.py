"""One version of the code, ready to run, and what it says of itself."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path

from fwbench.errors import GateError, visible
from fwbench.gating.commands import Commands, surroundings
from fwbench.gating.overlays import packages

PADDING = "FWBENCH_GATE_PADDING"
THREADS = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")
QUESTION = """
import importlib.metadata, importlib.util, json, platform, sys
import fwbench
package, names = json.loads(sys.argv[1])
found = {name: importlib.util.find_spec(name) for name in names}
try:
    version = importlib.metadata.version(package)
except importlib.metadata.PackageNotFoundError:
    version = None
print(json.dumps({
    "versions": f"Python {platform.python_version()}, fwbench {fwbench.__version__}",
    "version": version,
    "places": {name: getattr(spec, "origin", None) for name, spec in found.items()},
}))
"""


@dataclass(frozen=True)
class Code:
    """One version of the code, ready to run.

    Attributes
    ----------
    name : str
        What a reader calls it: ``main~2 (1a2b3c4d5e6f)``, ``the working tree``, a wheel's name.
    python : Path
        The interpreter.
    overlay : Path or None
        A folder with packages that goes before those of the interpreter.
    folder : Path
        Where its commands run: files of users that are named relatively are this version's.
    kernels : Path
        Where its compiled kernels lie; nobody else's.
    path : tuple of Path
        What the user has put on PYTHONPATH, as it is on this side.
    padding : int
        Letters that its environment needs to be as long as that of the other side.
    notes : tuple of str
        What a reader should know of it, such as submodules that are not there.
    """

    name: str
    python: Path
    overlay: Path | None
    folder: Path
    kernels: Path
    path: tuple[Path, ...] = ()
    padding: int = 0
    notes: tuple[str, ...] = ()

    def environment(self, hash_seed: int) -> dict[str, str]:
        """Return the environment of its processes, equally long for both sides of a gate.

        Parameters
        ----------
        hash_seed : int
            At least 0 and below 2³²; for equal lengths, of as many digits on both sides.

        Notes
        -----
        With PYTHONSAFEPATH: neither the folder in which a command runs, nor that of a script, goes
        before the overlay. BLAS has one thread, unless the user has said otherwise.
        """
        overlay = () if self.overlay is None else (self.overlay,)
        found = dict.fromkeys(THREADS, "1") | surroundings()
        return found | {
            "NUMBA_CACHE_DIR": str(self.kernels),
            "PWD": str(self.folder),
            "PYTHONHASHSEED": str(hash_seed),
            "PYTHONPATH": os.pathsep.join(map(str, (*overlay, *self.path))),
            "PYTHONSAFEPATH": "1",
            PADDING: "x" * self.padding,
        }


@dataclass(frozen=True)
class Answer:
    """What a side says of itself.

    Attributes
    ----------
    versions : str
        Of Python and fwbench, in words.
    package : str or None
        The version of the package that was asked about; None where it is not installed.
    """

    versions: str
    package: str | None


def asked(code: Code, commands: Commands, package: str = "fwbench") -> Answer:
    """Ask a side which code it would run.

    Parameters
    ----------
    code : Code
    commands : Commands
    package : str
        Whose version is asked for besides.

    Raises
    ------
    GateError
        It cannot import fwbench, or something goes before its overlay.
    """
    names = [] if code.overlay is None else packages(code.overlay)
    words = (code.python, "-c", QUESTION, json.dumps([package, names]))
    ended = commands.run(words, code.folder, code.environment(0))
    try:
        found = json.loads(ended.out.strip().rpartition("\n")[2])
        said, origins = Answer(found["versions"], found["version"]), dict(found["places"])
    except (ValueError, KeyError, TypeError):
        last = visible(ended.err.strip().rpartition("\n")[2])
        raise GateError(
            f"{code.name} cannot import fwbench: {last or f'it ended with {ended.code}'}"
        ) from None
    for name, origin in origins.items():
        if origin is None or not os.path.abspath(origin).startswith(f"{code.overlay}{os.sep}"):
            raise GateError(
                f"{code.name} would import {name} from {origin}, not as it was built; is it "
                "installed in a way that goes before PYTHONPATH? install it without --editable"
            )
    return said
