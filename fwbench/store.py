"""A run folder: the journal is the truth, everything else in it is a view.

One process at a time writes it, the one that holds its lock; others may read meanwhile.
"""

from __future__ import annotations

import io
import json
import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from fwbench.disk import failing, is_leftover, open_plain, sweep, sync_folder, write_whole
from fwbench.errors import RunFolderError
from fwbench.journal import SAFE, Journal, line_of
from fwbench.lock import LOCK, Held, locked
from fwbench.plain import plain
from fwbench.points import is_whole, packed, unpacked
from fwbench.reading import manifest_fault
from fwbench.theory import verdicts

SCHEMA = 1
JOURNAL, MANIFEST, POINTS, ASIDE = "journal.jsonl", "manifest.json", "points", "set_aside.jsonl"
CLAIMS, FIGURES, FOLDERS = "claims.json", "figures", "folders.json"


def _silent(sentence: str) -> None:
    pass


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
        self._journal = Journal(path / JOURNAL, path / ASIDE)
        self._held: Held | None = None
        self._begun = False  # whether this object has written a run

    @classmethod
    def create(cls, path: Path, *, resume: bool = False, fresh: bool = False) -> RunFolder:
        """Make a folder; an existing one is taken only with `resume` or `fresh`."""
        folder = cls(path)
        with failing(path, "made"):
            if path.exists() and not path.is_dir():
                raise RunFolderError(f"{path} is a file, not a folder for a run")
            if path.exists() and not folder._is_empty():
                folder._take(resume, fresh)
            (path / POINTS).mkdir(parents=True, exist_ok=True)
            sync_folder(path)
            sync_folder(path.parent)
        return folder

    def _take(self, resume: bool, fresh: bool) -> None:
        """Take a folder that holds something, or refuse to."""
        if not self.has_journal and not (self.path / MANIFEST).exists():
            raise RunFolderError(
                f"{self.path} is not empty and no run folder; choose another --out"
            )
        if not (resume or fresh):
            if (self.path / LOCK).exists():
                with self.locked(wait=False):  # that somebody is at work here is the better answer
                    pass
            raise RunFolderError(
                f"{self.path} exists; --resume does what is missing there, --fresh starts anew "
                "(in Python: resume=True, fresh=True)"
            )
        if fresh:
            with self.locked(wait=False):
                self._set_aside()

    def _is_empty(self) -> bool:
        """Whether nothing is here but what a process leaves that is killed at its very start."""
        return all(
            path.name == LOCK
            or is_leftover(path)
            or (path.name == POINTS and path.is_dir() and not any(path.iterdir()))
            for path in self.path.iterdir()
        )

    # -- one process at a time ---------------------------------------------------------------

    @contextmanager
    def locked(self, wait: bool, told: Callable[[str], None] = _silent) -> Iterator[None]:
        """Hold the folder's lock while it is written; what killed processes left is tidied first.

        The system releases the lock when the process ends, however it ends.

        Parameters
        ----------
        wait : bool
            Whether to wait until another process that holds it has ended, or to refuse.
        told : callable
            Called once, with a sentence, before a wait.

        Raises
        ------
        RunFolderError
            Another process holds the lock and `wait` is false; this process holds it; or the
            file system knows no locks.
        """
        with locked(self.path, wait=wait, told=told) as held:
            self._held = held
            try:
                for folder in (self.path, self.path / POINTS, self.path / FIGURES):
                    sweep(folder)
                self._finish_setting_aside()
                yield
            finally:
                self._held = None

    def _refuse_if_lost(self) -> None:
        """Raise where the folder is gone or in other hands: half of one would come to stand there.

        What is written into a folder that was made anew would also spoil its runs.
        """
        with failing(self.path, "written"):
            there = self.path.is_dir()
        if not there:
            raise RunFolderError(f"{self.path} was deleted or moved while it was being written")
        if self._held is not None and self._held.lost:
            raise RunFolderError(
                f"{self.path} was deleted or moved while it was being written; what is there now "
                "belongs to another process"
            )

    # -- starting anew -----------------------------------------------------------------------

    def _numbers(self, name: str) -> set[int]:
        """Return the numbers under which a file was set aside."""
        stem, dot, suffix = name.partition(".")
        numbered = re.compile(rf"{stem}\.([1-9]\d*){re.escape(dot + suffix)}", re.ASCII)
        matches = (numbered.fullmatch(path.name) for path in self.path.iterdir())
        return {int(match[1]) for match in matches if match}

    def _numbered(self, name: str, number: int) -> Path:
        stem, dot, suffix = name.partition(".")
        return self.path / f"{stem}.{number}{dot}{suffix}"

    def _set_aside(self) -> None:
        """Rename the journal and what belongs to it; the points last, which tells that all is done.

        Killed before the journal has its new name, nothing has happened; killed later, the next
        process that holds the lock does the rest.
        """
        if not self.has_journal:
            return
        with failing(self.path, "set aside"):
            number = 1 + max(set().union(*map(self._numbers, (JOURNAL, ASIDE, POINTS))), default=0)
            if (manifest := self.path / MANIFEST).is_file():
                write_whole(self._numbered(MANIFEST, number), manifest.read_bytes())
            (self.path / JOURNAL).rename(self._numbered(JOURNAL, number))
            sync_folder(self.path)
        self._finish_setting_aside()

    def _finish_setting_aside(self) -> None:
        """Set aside what belongs to a journal that was renamed already."""
        with failing(self.path, "set aside"):
            unfinished = self._numbers(JOURNAL) - self._numbers(POINTS)
            if self.has_journal or not unfinished:
                return
            number = max(unfinished)
            (self.path / CLAIMS).unlink(missing_ok=True)  # a view of the suite that was
            if (aside := self.path / ASIDE).exists():
                aside.rename(self._numbered(ASIDE, number))
                sync_folder(self.path)
            points = self.path / POINTS
            points.mkdir(exist_ok=True)
            points.rename(self._numbered(POINTS, number))
            points.mkdir()
            sync_folder(self.path)

    # -- the journal -------------------------------------------------------------------------

    @property
    def has_journal(self) -> bool:
        """Whether any run was started here."""
        with failing(self.path, "read"):
            return (self.path / JOURNAL).exists()

    def append(self, record: dict[str, Any], points: dict[str, Any]) -> None:
        """Write what a run gave; when this returns it is on the disk.

        Parameters
        ----------
        record : dict
            As `docs/files.md` describes it; how many bytes its points have is added.
        points : dict of arrays
            Kept beside the journal; none: none are kept.

        Raises
        ------
        RunFolderError
            Nothing of this run counts then; the journal is as it was.
        """
        self._refuse_if_lost()
        begin = not self.has_journal
        if begin and (self._begun or not (self.path / MANIFEST).exists()):
            gone = JOURNAL if self._begun else MANIFEST
            raise RunFolderError(f"{self.path / gone} was deleted while the folder was written")
        data = packed(points)
        line = line_of(record | {"points": len(data) or None})
        # before the line: a line whose points have another length is found by `damaged`
        self._keep(self._points_path(record["row"]["run_id"]), data)
        self._journal.append(line, create=begin)
        self._begun = True

    @staticmethod
    def _keep(path: Path, data: bytes) -> None:
        if data:
            write_whole(path, data, SAFE)
            return
        with failing(path, "deleted", SAFE):
            if path.exists():  # an earlier try has left some
                path.unlink()
                sync_folder(path.parent)

    def records(self) -> list[dict[str, Any]]:
        """Return what all runs gave, the newest of each run, in the order they were done.

        Warns of what is damaged; changes nothing.
        """
        self._refuse_without_journal()
        return self._journal.records()

    def mend(self) -> None:
        """Cut a torn tail and set damaged lines aside, so that more can be written."""
        self._refuse_without_journal()
        self._journal.mend()

    def _refuse_without_journal(self) -> None:
        if not self.has_journal:
            if (self.path / FOLDERS).exists():
                raise RunFolderError(
                    f"{self.path} holds a report on run folders, no runs; its {FOLDERS} names them"
                )
            raise RunFolderError(f"{self.path} holds no {JOURNAL}: not a run folder?")

    # -- points ------------------------------------------------------------------------------

    def _points_path(self, run_id: str) -> Path:
        return self.path / POINTS / f"{run_id}.npz"

    def points(self, run_id: str) -> dict[str, Any] | None:
        """Return the arrays kept for a run, or None; warns of damaged ones."""
        return unpacked(self._points_path(run_id))

    def damaged(self, records: Iterable[dict[str, Any]]) -> set[str]:
        """Return the runs whose points are missing or not those that were written.

        Only length and directory of each file are looked at, which takes some 0.05 ms a run; a
        byte that has changed within an array is found when `points` reads it.

        Parameters
        ----------
        records : iterable of dict
            As `records` returns them; those written before lengths were kept are not doubted.
        """
        sizes = {record["row"]["run_id"]: record.get("points") for record in records}
        return {
            run_id
            for run_id, size in sizes.items()
            if size is not None and not is_whole(self._points_path(run_id), size)
        }

    # -- views -------------------------------------------------------------------------------

    @property
    def manifest(self) -> dict[str, Any]:
        """What made the runs."""
        path = self.path / MANIFEST
        kept = (
            "; its runs are kept: put a copy back in its place, or --fresh sets the journal aside "
            "and starts anew"
            if self.has_journal
            else ""
        )
        if not path.exists():
            end = kept or ": not a run folder?"
            raise RunFolderError(f"{self.path} holds no {MANIFEST}{end}")
        try:
            with failing(path, "read"), open_plain(path) as file:
                manifest: dict[str, Any] = json.load(file)
            newer, _ = manifest["schema"] > SCHEMA, manifest["plan"]
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            raise RunFolderError(f"{path} is damaged: {error!r}{kept}") from error
        if newer:
            raise RunFolderError(
                f"{path} was written by a newer fwbench (schema {manifest['schema']} > {SCHEMA}); "
                "update fwbench"
            )
        if wrong := manifest_fault(manifest):
            raise RunFolderError(f"{path} is damaged: {wrong}{kept}")
        return manifest

    def write_manifest(self, manifest: dict[str, Any]) -> None:
        """Write the manifest."""
        self._refuse_if_lost()
        text = json.dumps(plain({"schema": SCHEMA, **manifest}), indent=1)
        write_whole(self.path / MANIFEST, text + "\n")

    def write_table(self, name: str, table: Any) -> None:
        """Write a pandas DataFrame as NAME.parquet."""
        buffer = io.BytesIO()
        table.to_parquet(buffer, index=False)
        write_whole(self.path / f"{name}.parquet", buffer.getvalue())

    def delete_table(self, name: str) -> None:
        """Delete NAME.parquet of before, if it is there."""
        path = self.path / f"{name}.parquet"
        with failing(path, "deleted"):
            path.unlink(missing_ok=True)

    # -- a report on several run folders -----------------------------------------------------

    @classmethod
    def for_report(cls, path: Path, *, fresh: bool = False) -> RunFolder:
        """Name a folder for a report elsewhere; one that holds such is taken only with `fresh`."""
        if path.exists() and not path.is_dir():
            raise RunFolderError(f"{path} is a file, not a folder for a report")
        folder = cls(path)
        if path.exists() and (folder.has_journal or (path / MANIFEST).exists()):
            raise RunFolderError(
                f"{path} is a run folder with a report of its own; choose another --out"
            )
        if path.exists() and any(path.iterdir()):
            if not (path / FOLDERS).exists():
                raise RunFolderError(
                    f"{path} is not empty and holds no report on run folders; choose another --out"
                )
            if not fresh:
                raise RunFolderError(f"{path} exists; --fresh writes a new report over it")
        return folder

    def write_folders(self, manifest: dict[str, Any]) -> None:
        """Make the folder, and write what its report is about: manifests, without plans."""
        with failing(self.path, "made"):
            self.path.mkdir(parents=True, exist_ok=True)
        told = {name: value for name, value in manifest.items() if name != "plan"}
        write_whole(self.path / FOLDERS, json.dumps(plain({**told, "schema": SCHEMA})) + "\n")

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
        with failing(path, "made"):
            path.mkdir(parents=True, exist_ok=True)
        return cls(path)

    @property
    def claims(self) -> dict[str, Any] | None:
        """What was found of claims, as `theory.verdicts.document` made it; None if nothing."""
        path = self.path / CLAIMS
        if not path.exists():
            return None
        try:
            with failing(path, "read"), open_plain(path) as file:
                document: dict[str, Any] = json.load(file)
            newer, _ = document["schema"] > verdicts.SCHEMA, document["claims"]
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            raise RunFolderError(f"{path} is damaged: {error!r}") from error
        if newer:
            raise RunFolderError(f"{path} was written by a newer fwbench; update fwbench")
        if wrong := verdicts.fault(document):
            raise RunFolderError(f"{path} is damaged: {wrong}")
        shown: dict[str, Any] = verdicts.seen(document)
        return shown

    def write_claims(self, document: dict[str, Any]) -> None:
        """Write what was found of claims."""
        write_whole(self.path / CLAIMS, json.dumps(plain(document), allow_nan=False) + "\n")
