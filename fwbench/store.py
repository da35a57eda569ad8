"""A run folder: the journal is the truth, everything else in it is a view.

``journal.jsonl`` holds a line a run: a checksum and what the run gave. Reading leaves a torn tail
(the process was killed while writing) and lines whose checksum is wrong out, with a warning;
before more runs are written, the tail is cut and such lines are set aside.
"""

from __future__ import annotations

import hashlib
import io
import json
import math
import os
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np

from fwbench.errors import RunFolderError
from fwbench.theory import verdicts

SCHEMA = 1
JOURNAL, MANIFEST, POINTS, ASIDE = "journal.jsonl", "manifest.json", "points", "set_aside.jsonl"
CLAIMS = "claims.json"


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
    if isinstance(value, str):  # lone surrogates (a file's name may hold them) fit into no table
        return value.encode(errors="backslashreplace").decode()
    return value


def _line(record: dict[str, Any]) -> str:
    text = json.dumps(plain(record), allow_nan=False, sort_keys=True)
    return json.dumps({"checksum": hashlib.sha256(text.encode()).hexdigest()[:16]})[:-1] + (
        f', "record": {text}}}\n'
    )


def _record(line: bytes) -> dict[str, Any] | None:
    """Return what a line holds, or None if it is not whole."""
    try:
        entry = json.loads(line)
        text = json.dumps(entry["record"], allow_nan=False, sort_keys=True)
        whole = entry["checksum"] == hashlib.sha256(text.encode()).hexdigest()[:16]
    except (ValueError, KeyError, TypeError, RecursionError):
        return None
    record: dict[str, Any] = entry["record"]
    return record if whole else None


@contextmanager
def _told(path: Path, verb: str, after: str = "") -> Iterator[None]:
    """Say in one sentence what could not be done with a path."""
    try:
        yield
    except RunFolderError:
        raise
    except OSError as error:
        raise RunFolderError(
            f"{path} cannot be {verb}: {error.strerror or error}{after}"
        ) from error


def write_whole(path: Path, content: str | bytes) -> None:
    """Write a file so that a reader sees the old content or the new one, never half of it."""
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    data = content.encode() if isinstance(content, str) else content
    with _told(path, "written"):
        try:
            with beside.open("wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            os.replace(beside, path)
        finally:
            with suppress(OSError):
                beside.unlink()


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
                with _told(path, "set aside"):
                    (path / CLAIMS).unlink(missing_ok=True)  # a view of the suite that was
                    if folder.has_journal:
                        folder._set_journal_aside()
        with _told(path, "made"):
            (path / POINTS).mkdir(parents=True, exist_ok=True)
        return folder

    def _set_journal_aside(self) -> None:
        number = 1
        while (aside := self.path / f"journal.{number}.jsonl").exists():
            number += 1
        (self.path / JOURNAL).rename(aside)
        if (points := self.path / POINTS).exists():
            points.rename(self.path / f"{POINTS}.{number}")

    # -- the journal -------------------------------------------------------------------------

    @property
    def has_journal(self) -> bool:
        """Whether any run was started here."""
        return (self.path / JOURNAL).exists()

    def append(self, record: dict[str, Any], points: dict[str, Any]) -> None:
        """Write what a run gave; when this returns it is on the disk."""
        name = self.path / POINTS / f"{record['row']['run_id']}.npz"
        with _told(self.path, "written", "; what was done before is safe"):
            if points:
                buffer = io.BytesIO()
                np.savez(buffer, **points)
                write_whole(name, buffer.getvalue())
            else:
                name.unlink(missing_ok=True)  # an earlier try may have left some
            with (self.path / JOURNAL).open("ab") as journal:
                journal.write(_line(record).encode())
                journal.flush()
                os.fsync(journal.fileno())

    def _lines(self) -> tuple[dict[bytes, dict[str, Any]], list[bytes], bytes]:
        """Return the journal's good lines with their records, damaged ones, and a torn tail."""
        path = self.path / JOURNAL
        if not path.exists():
            raise RunFolderError(f"{self.path} holds no {JOURNAL}: not a run folder?")
        with _told(path, "read"):
            *lines, tail = path.read_bytes().split(b"\n")
        read = {line: _record(line) for line in lines}
        good = {line: record for line, record in read.items() if record is not None}
        return good, [line for line in lines if line not in good], tail

    def records(self) -> list[dict[str, Any]]:
        """Return what all runs gave, the newest of each run, in the order they were done.

        Warns of what is damaged; changes nothing.
        """
        good, bad, tail = self._lines()
        if bad or tail:
            torn = " and a torn last one" if tail else ""
            warnings.warn(
                f"{self.path / JOURNAL}: {len(bad)} damaged lines{torn} are left out; --resume "
                "runs them again",
                stacklevel=2,
            )
        return list({record["row"]["run_id"]: record for record in good.values()}.values())

    def mend(self) -> None:
        """Cut a torn tail and set damaged lines aside, so that more can be written."""
        good, bad, tail = self._lines()
        if bad:
            with _told(self.path / ASIDE, "written"), (self.path / ASIDE).open("ab") as aside:
                aside.writelines(line + b"\n" for line in bad)
        if bad or tail:
            write_whole(self.path / JOURNAL, b"".join(line + b"\n" for line in good))

    def points(self, run_id: str) -> dict[str, Any] | None:
        """Return the arrays kept for a run, or None."""
        path = self.path / POINTS / f"{run_id}.npz"
        if not path.exists():
            return None
        try:
            with path.open("rb") as opened, np.load(opened) as file:
                return {name: file[name] for name in file.files}
        except (OSError, EOFError, ValueError, BadZipFile) as error:
            warnings.warn(f"{path} is damaged and left out: {error}", stacklevel=2)
            return None

    # -- views -------------------------------------------------------------------------------

    @property
    def manifest(self) -> dict[str, Any]:
        """What made the runs."""
        path = self.path / MANIFEST
        if not path.exists():
            raise RunFolderError(f"{self.path} holds no {MANIFEST}: not a run folder?")
        try:
            with _told(path, "read"):
                manifest: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
            newer, _ = manifest["schema"] > SCHEMA, manifest["plan"]
        except (ValueError, KeyError, TypeError) as error:
            raise RunFolderError(f"{path} is damaged: {error!r}") from error
        if newer:
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
        buffer = io.BytesIO()
        table.to_parquet(buffer, index=False)
        write_whole(self.path / f"{name}.parquet", buffer.getvalue())

    # -- verdicts of claims ------------------------------------------------------------------

    @classmethod
    def for_verdicts(cls, path: Path, *, fresh: bool = False) -> RunFolder:
        """Make a folder for verdicts alone; one that holds some is taken only with `fresh`."""
        if path.exists() and not path.is_dir():
            raise RunFolderError(f"{path} is a file, not a folder for verdicts")
        if path.exists() and any(path.iterdir()):
            if not (path / CLAIMS).exists() or (path / MANIFEST).exists():
                raise RunFolderError(
                    f"{path} is not empty and no folder of verdicts; choose another --out"
                )
            if not fresh:
                raise RunFolderError(f"{path} exists; --fresh writes new verdicts over it")
        with _told(path, "made"):
            path.mkdir(parents=True, exist_ok=True)
        return cls(path)

    @property
    def claims(self) -> dict[str, Any] | None:
        """What was found of claims, as `theory.verdicts.document` made it; None if nothing."""
        path = self.path / CLAIMS
        if not path.exists():
            return None
        try:
            with _told(path, "read"):
                document: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
            newer, _ = document["schema"] > verdicts.SCHEMA, document["claims"]
        except (ValueError, KeyError, TypeError) as error:
            raise RunFolderError(f"{path} is damaged: {error!r}") from error
        if newer:
            raise RunFolderError(f"{path} was written by a newer fwbench; update fwbench")
        return document

    def write_claims(self, document: dict[str, Any]) -> None:
        """Write what was found of claims."""
        write_whole(self.path / CLAIMS, json.dumps(plain(document), allow_nan=False) + "\n")
