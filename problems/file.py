r"""Points of a user's file: ``file[path=points.csv]``, or just ``-p points.csv``.

One atom a row: .csv (with or without a header line; comma, semicolon, tab or space), .parquet,
.npy, .mtx (dense or sparse Matrix Market). A .npz or .mat file holds named arrays: ``atoms``, or
one 2-D array under any name, and ``Q`` and ``c`` if there are any.

The file is untrusted: nothing in it is executed, and what does not read as numbers is named with
its place. A file that has changed is another instance: `content` is a part of the name.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, BinaryIO, Literal

import numpy as np
from numpy.typing import NDArray

from fwbench.archives import Archive, array_of, size_of
from fwbench.errors import InvalidParameter, InvalidProblem, nearest
from fwbench.geometry.inputs import real_array
from fwbench.intake import affordable, fits, obstacle
from fwbench.matlab import variables_of
from fwbench.problem import ProblemEntry, QuadraticOverHull
from fwbench.tables import market_of, missing_value, numbers_of, shown

Arrays = Mapping[str, NDArray[Any]]

TEXTS = (".csv", ".mtx")
NAMED = (".npz", ".mat")
# What other codes call Q and c. Here nobody reads them: silently the problem would be another.
FOREIGN = ("q", "C", "P", "H", "b", "f", "p")


def file(
    path: str,
    array: str = "",
    q: float = 1.0,
    header: Literal["auto", "yes", "no"] = "auto",
    start: Literal["leader", "atoms"] = "leader",
    content: str = "",
) -> QuadraticOverHull:
    """Read a problem from a file.

    Parameters
    ----------
    path : str
    array : str
        Which array of a .npz or .mat file holds the atoms; by default ``atoms``, or the only one
        with two dimensions.
    q : float
        Q = q where the file holds no Q: 1 for the nearest point to the origin, −1 for a concave
        problem.
    header : {"auto", "yes", "no"}
        Whether the first line of a .csv file names the columns; auto: if it holds no number.
    start : {"leader", "atoms"}
        One query, at the atom that leads at the mean; or one at each atom, as a cloud of tokens.
    content : str
        The start of the SHA-256 of the file, filled in when it is first read; a file that has
        changed since is refused.

    Raises
    ------
    InvalidProblem
        Names the file, the place in it, what came and the likely slip.
    InvalidParameter
        For a parameter that does not fit the file.
    """
    place = _existing(path)
    suffix = place.suffix.lower()
    if array and suffix not in NAMED:
        raise InvalidParameter(f"array: only .npz and .mat files hold named arrays; got {path}")
    if header != "auto" and suffix != ".csv":
        raise InvalidParameter(f"header: only .csv files may have one; got {path}")
    if content and not (now := _digest(place)).startswith(content):
        raise InvalidProblem(
            f"file {path}: its content has changed: SHA-256 {now[: len(content)]}…, not {content}… "
            "(leave content out to take it as it is)"
        )
    try:
        problem = _problem(_parsed(place, suffix, array or "atoms", header), array, q)
        return problem.starting_at(problem.every_atom) if start == "atoms" else problem
    except InvalidProblem as error:
        raise InvalidProblem(f"file {path}: {error}") from error


def with_content(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Fill in `content`, so that an instance is named by what its file holds."""
    return {
        **arguments,
        "content": arguments["content"] or _digest(_existing(arguments["path"]))[:12],
    }


def _existing(path: str) -> Path:
    try:
        place = Path(path).expanduser()
    except RuntimeError as error:  # ~name of a user that is not there
        raise InvalidProblem(f"file {path}: {error}") from error
    if place.suffix.lower() not in FORMATS:
        known = ", ".join(FORMATS)
        raise InvalidProblem(f"file {path}: its name must end in one of {known}")
    if (why := obstacle(place)) is not None:
        where = "" if place.is_absolute() else f" in {Path.cwd()}"
        raise InvalidProblem(f"file {path}: {why}{where}")
    return place


def _digest(place: Path) -> str:
    try:
        with place.open("rb") as opened:
            return hashlib.file_digest(opened, "sha256").hexdigest()
    except OSError as error:
        raise InvalidProblem(f"file {place}: it can't be opened: {error.strerror}") from error


def _problem(arrays: Arrays, array: str, q: float) -> QuadraticOverHull:
    """Pick atoms, Q and c."""
    shapes = ", ".join(f"{name} {stored.shape}" for name, stored in arrays.items()) or "nothing"
    if array and array not in arrays:
        raise InvalidProblem(f"it holds no array {array!r}; {nearest(array, arrays)}")
    flat = [name for name, stored in arrays.items() if stored.ndim == 2 and name not in ("Q", "c")]
    if not (array or "atoms" in arrays) and len(flat) != 1:
        raise InvalidProblem(
            f"it holds no array called atoms and {len(flat) or 'none'} with two dimensions (n, d) "
            f"beside Q and c: {shapes}; say which by array=NAME"
        )
    chosen = array or ("atoms" if "atoms" in arrays else flat[0])
    for name in FOREIGN:
        if name in arrays and name != chosen:
            raise InvalidProblem(
                f"it holds {name!r}, which is not read; is it Q or c? Call it so or leave it out"
            )
    if "Q" in arrays and q != 1:
        raise InvalidParameter(f"q: the file holds Q itself; got q={q:g}")
    return QuadraticOverHull(arrays[chosen], arrays.get("Q", np.array(q)), arrays.get("c"))


def _parsed(place: Path, suffix: str, wanted: str, header: str) -> Arrays:
    try:
        # opened here, because readers leave a torn file open
        with place.open("rb") as opened:
            if suffix in TEXTS:
                fits(size_of(opened), "the file")
                data = opened.read()
                return {"atoms": market_of(data) if suffix == ".mtx" else numbers_of(data, header)}
            return READERS[suffix](opened, wanted)
    except InvalidProblem:
        raise
    except Exception as error:  # a reader of a foreign format may raise anything
        raise InvalidProblem(
            f"it can't be read as {suffix} (another format under this name, or cut short?); "
            f"{type(error).__name__}: {str(error)[:200]}"
        ) from error


def _npy(opened: BinaryIO, wanted: str) -> Arrays:
    return {"atoms": array_of(opened, size_of(opened))}


def _npz(opened: BinaryIO, wanted: str) -> Arrays:
    stored = Archive(opened)
    names = [name for name in _meant(list(stored), wanted) if name in stored]
    if names:
        stored.fits(names)
    return {name: stored[name] for name in names}


def _meant(names: list[str], wanted: str) -> list[str]:
    """Return what is read: beside the atoms, other arrays may be large, or no numbers."""
    return [wanted, "Q", "c", *FOREIGN] if wanted in names else names


def _mat(opened: BinaryIO, wanted: str) -> Arrays:
    fits(size_of(opened), "the file")
    found = {one.name: one for one in variables_of(opened.read()) if not one.name.startswith("__")}
    meant = _meant(list(found), wanted)
    arrays = {}
    for name, variable in found.items():
        if variable.other and name in (wanted, "Q", "c"):
            raise InvalidProblem(f"{name} must hold real numbers; it is {variable.other}")
        if name in meant and (name in FOREIGN or not variable.other):
            arrays[name] = variable.read()
    for name, array in arrays.items():  # MATLAB knows no fewer than two dimensions
        if name not in ("atoms", wanted) and 1 in array.shape:
            arrays[name] = array.reshape(()) if name == "Q" and array.size == 1 else array.ravel()
    return arrays


def _parquet(opened: BinaryIO, wanted: str) -> Arrays:
    from pyarrow import parquet, types

    file = parquet.ParquetFile(opened)
    schema, rows = file.schema_arrow, file.metadata.num_rows
    pandas = schema.pandas_metadata or {}
    index = {name for name in pandas.get("index_columns", ()) if isinstance(name, str)}
    fields = [field for field in schema if field.name not in index]
    if not fields:
        raise InvalidProblem("it holds no columns")
    for field in fields:
        if not (types.is_integer(field.type) or types.is_floating(field.type)):
            raise InvalidProblem(
                f"column {shown(field.name)} holds {str(field.type)[:80]}, no numbers (a column of "
                "labels? keep the coordinates only)"
            )
    # twice: as columns, and as atoms
    affordable((2 * rows, len(fields)))
    table = file.read(columns=[field.name for field in fields], use_threads=False)
    columns = []
    for field, column in zip(fields, table.columns, strict=True):
        missing = column.is_null(nan_is_null=True).to_numpy()
        if (bad := np.flatnonzero(missing)).size:
            where = f"row {bad[0] + 1}, column {shown(field.name)}"
            raise InvalidProblem(missing_value(where, len(bad)))
        columns.append(real_array(f"column {shown(field.name)}", column.to_numpy()))
    return {"atoms": np.column_stack(columns)}


READERS: dict[str, Callable[[BinaryIO, str], Arrays]] = {
    ".npy": _npy,
    ".npz": _npz,
    ".parquet": _parquet,
    ".mat": _mat,
}
FORMATS = (*TEXTS, *READERS)

ENTRY = ProblemEntry(
    name="file",
    make=file,
    label="points of your own, from a file",
    complete=with_content,
)
