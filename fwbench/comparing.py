"""What can be compared: a run folder, a baseline, a file of pytest-benchmark."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import fwbench
from fwbench import baseline, pytest_files, views
from fwbench.analysis.sides import Side
from fwbench.disk import failing, open_plain
from fwbench.errors import InvalidParameter, RunFolderError, nearest, said

# in a checkout among the reports, installed inside the package
_ROOT = Path(fwbench.__file__).resolve().parent
PLACES = (_ROOT.parent / "reports" / "baseline", _ROOT / "baselines")
LARGEST = 2**30  # bytes of a file: a longer one is none of these


def opened(path: Path) -> Side:
    """Read one side of a comparison, whatever it is.

    Raises
    ------
    RunFolderError
        Nothing is there, or it cannot be read.
    InvalidParameter
        A file that is neither a baseline nor one of pytest-benchmark.
    """
    with failing(path, "read"):
        if path.is_dir():
            return views.read(path)
        if not path.exists():
            raise RunFolderError(f"there is no run folder or file {path}")
    content = _json(path)
    if baseline.MARK in content:
        return baseline.side(str(path), content)
    if "benchmarks" in content:
        return pytest_files.side(str(path), content)
    raise InvalidParameter(
        f"{path} is neither a run folder, nor a baseline, nor a file of pytest-benchmark"
    )


def _json(path: Path) -> dict[str, Any]:
    with failing(path, "read"), open_plain(path) as file:
        data = file.read(LARGEST)
    try:
        content = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise InvalidParameter(
            f"{path} is no run folder and holds no JSON: {said(error)}"
        ) from error
    if not isinstance(content, dict):
        raise InvalidParameter(f"{path} is no run folder, and its JSON is no table")
    return content


def shipped(new: Side) -> Side:
    """Return the baseline of the suite that a run folder ran.

    Raises
    ------
    InvalidParameter
        It ran none, or there is no baseline of it.
    """
    suite = new.facts.get("suite")
    if not suite:
        raise InvalidParameter(
            f"{new.name} ran no suite, and a baseline is one of a suite; compare it with a folder "
            "or a file: fwbench compare BASE NEW"
        )
    known = {path.stem: path for place in PLACES for path in sorted(place.glob("*.json"))}
    if suite not in known:
        there = nearest(str(suite), known) if known else "there is none at all"
        raise InvalidParameter(f"no baseline of the suite {suite}; {there}")
    return opened(known[suite])


def refuse_strangers(base: Side, new: Side) -> None:
    """Raise where nothing of two sides can have one name.

    Raises
    ------
    InvalidParameter
        A file of pytest-benchmark beside something else.
    """
    kinds = [side.source == "pytest-benchmark" for side in (base, new)]
    if any(kinds) and not all(kinds):
        raise InvalidParameter(
            f"{base.name} is a {base.source} and {new.name} a {new.source}: nothing in them can "
            "be matched"
        )
