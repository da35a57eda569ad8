"""A run folder: the journal is the truth, everything else in it is a view.

``journal.jsonl`` holds a line a run: a checksum and what the run gave. A torn tail (the process
was killed while writing) is cut; a line whose checksum is wrong is set aside with a warning.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from fwbench.errors import RunFolderError

SCHEMA = 1
JOURNAL, MANIFEST, POINTS, ASIDE = "journal.jsonl", "manifest.json", "points", "set_aside.jsonl"


def plain(value: Any) -> Any:
    """Return a value as JSON knows it; numbers that are not finite become null.

    Examples
    --------
    >>> plain({"a": np.float64("nan"), "b": np.arange(2)})
    {'a': None, 'b': [0, 1]}
    """
    if isinstance(value, dict):
        return {str(key): plain(entry) for key, entry in value.items()}
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    if isinstance(value, list | tuple):
        return [plain(entry) for entry in value]
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return str(value) if isinstance(value, str) else value


def _line(record: dict[str, Any]) -> str:
    text = json.dumps(plain(record), allow_nan=False, sort_keys=True)
    return json.dumps({"checksum": hashlib.sha256(text.encode()).hexdigest()[:16]})[:-1] + (
        f', "record": {text}}}\n'
    )


def _record(line: str) -> dict[str, Any] | None:
    """Return what a line holds, or None if it is not whole."""
    try:
        entry = json.loads(line)
        text = json.dumps(entry["record"], allow_nan=False, sort_keys=True)
    except (ValueError, KeyError, TypeError):
        return None
    whole = entry["checksum"] == hashlib.sha256(text.encode()).hexdigest()[:16]
    record: dict[str, Any] = entry["record"]
    return record if whole else None


def write_whole(path: Path, content: str | bytes) -> None:
    """Write a file so that a reader sees the old content or the new one, never half of it."""
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    data = content.encode() if isinstance(content, str) else content
    try:
        with beside.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(beside, path)
    except OSError as error:
        beside.unlink(missing_ok=True)
        raise RunFolderError(f"{path} cannot be written: {error.strerror or error}") from error


class RunFolder:
    """Reads and writes one run folder.

    Parameters
    ----------
    path : Path

    Raises
    ------
    RunFolderError
        Where a file cannot be read or written, or is of a newer schema.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    @classmethod
    def create(cls, path: Path, *, resume: bool = False, fresh: bool = False) -> RunFolder:
        """Make a folder; an existing one is taken only with `resume` or `fresh`."""
        if path.exists() and not path.is_dir():
            raise RunFolderError(f"{path} is a file, not a folder for a run")
        folder = cls(path)
        if path.exists() and any(path.iterdir()):
            if not (path / JOURNAL).exists() and not (path / MANIFEST).exists():
                raise RunFolderError(f"{path} is not empty and no run folder; choose another --out")
            if not (resume or fresh):
                raise RunFolderError(
                    f"{path} exists; --resume does what is missing there, --fresh starts anew"
                )
            if fresh:
                folder._set_journal_aside()
        try:
            (path / POINTS).mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise RunFolderError(f"{path} cannot be made: {error.strerror or error}") from error
        return folder

    def _set_journal_aside(self) -> None:
        journal = self.path / JOURNAL
        if journal.exists():
            number = 1
            while (aside := self.path / f"journal.{number}.jsonl").exists():
                number += 1
            journal.rename(aside)

    # -- the journal -------------------------------------------------------------------------

    def append(self, record: dict[str, Any], points: dict[str, Any]) -> None:
        """Write what a run gave; when this returns it is on the disk."""
        try:
            if points:
                name = self.path / POINTS / f"{record['row']['run_id']}.npz"
                beside = name.with_name(f".{name.name}")
                with beside.open("wb") as file:
                    np.savez(file, **points)
                os.replace(beside, name)
            with (self.path / JOURNAL).open("ab") as journal:
                journal.write(_line(record).encode())
                journal.flush()
                os.fsync(journal.fileno())
        except OSError as error:
            raise RunFolderError(
                f"{self.path} cannot be written: {error.strerror or error}; what was done before "
                "is safe"
            ) from error

    def records(self) -> list[dict[str, Any]]:
        """Return what all runs gave, the newest of each run, in the order they were done."""
        path = self.path / JOURNAL
        if not path.exists():
            raise RunFolderError(f"{self.path} holds no {JOURNAL}: not a run folder?")
        data = path.read_bytes()
        if data and not data.endswith(b"\n"):
            whole = data[: data.rfind(b"\n") + 1]
            write_whole(path, whole)
            warnings.warn(f"{path}: a torn last line was cut; its run is not done", stacklevel=2)
            data = whole
        lines = data.decode("utf-8", errors="replace").splitlines(keepends=True)
        records = [_record(line) for line in lines]
        if any(record is None for record in records):
            bad = [line for line, record in zip(lines, records, strict=True) if record is None]
            write_whole(self.path / ASIDE, "".join(bad))
            good = [line for line, record in zip(lines, records, strict=True) if record is not None]
            write_whole(path, "".join(good))
            warnings.warn(
                f"{path}: {len(bad)} damaged lines were set aside in {ASIDE}; their runs are not "
                "done",
                stacklevel=2,
            )
        newest = {record["row"]["run_id"]: record for record in records if record is not None}
        return list(newest.values())

    def points(self, run_id: str) -> dict[str, Any] | None:
        """Return the arrays kept for a run, or None."""
        path = self.path / POINTS / f"{run_id}.npz"
        if not path.exists():
            return None
        with np.load(path) as file:
            return {name: file[name] for name in file.files}

    # -- views -------------------------------------------------------------------------------

    @property
    def manifest(self) -> dict[str, Any]:
        """What made the runs."""
        path = self.path / MANIFEST
        try:
            manifest: dict[str, Any] = json.loads(path.read_text())
        except FileNotFoundError:
            raise RunFolderError(f"{self.path} holds no {MANIFEST}: not a run folder?") from None
        except ValueError as error:
            raise RunFolderError(f"{path} is damaged: {error}") from error
        if manifest.get("schema", 0) > SCHEMA:
            raise RunFolderError(
                f"{path} was written by a newer fwbench (schema {manifest['schema']} > {SCHEMA}); "
                "update fwbench"
            )
        return manifest

    def write_manifest(self, manifest: dict[str, Any]) -> None:
        """Write the manifest."""
        text = json.dumps(plain({"schema": SCHEMA, **manifest}), indent=1)
        write_whole(self.path / MANIFEST, text + "\n")

    def write_table(self, name: str, table: Any) -> None:
        """Write a pandas DataFrame as NAME.parquet."""
        import io

        buffer = io.BytesIO()
        table.to_parquet(buffer, index=False)
        write_whole(self.path / f"{name}.parquet", buffer.getvalue())
