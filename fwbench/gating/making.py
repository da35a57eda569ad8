"""The two sides of a gate, made in a room: what is taken from where, and what is built."""

from __future__ import annotations

import os
import re
import shutil
import sys
from collections.abc import Sequence
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from dataclasses import dataclass, replace
from pathlib import Path

from fwbench.disk import failing
from fwbench.errors import UnknownName
from fwbench.execution.machine import cores
from fwbench.gating import overlays, places, revisions
from fwbench.gating.commands import Commands
from fwbench.gating.revisions import DIGITS, Repository
from fwbench.gating.version import Code, asked

WHEEL = ".whl"
INTERPRETER = re.compile(r"python|pypy|graalpy")  # in the name of a file that may be run to see
# Of equal length: the layout of a process, and with it its speed, depends on its paths.
BASE, NEW = "base", "next"


@dataclass(frozen=True)
class Maker:
    """What makes sides in a room.

    Attributes
    ----------
    here : Path
        The folder of the user, links resolved.
    words : tuple of str
        Texts of solvers and problems; files that they name are taken along.
    room : Path
        An empty folder, links resolved.
    commands : Commands
    """

    here: Path
    words: tuple[str, ...]
    room: Path
    commands: Commands

    def both(self, ref: str) -> tuple[Code, Code]:
        """Return what a text names, and what stands here."""
        if not ref.strip():  # a variable that is not set, say; git would take it for HEAD
            raise UnknownName(
                "the base is empty; name a git revision, a wheel, an interpreter or its environment"
            )
        base = self.as_it_is(BASE)
        new = self.as_it_is(NEW)
        place = self.here / ref
        if ref.endswith(WHEEL):
            return self.wheel(place, base, new)
        if (python := _interpreter(place)) is None:
            return self.trees(ref)
        # what the user has put on PYTHONPATH may hide what this interpreter has
        base = replace(base, name=ref, python=python, path=())
        answers = [asked(code, self.commands).versions for code in (base, new)]
        names = [f"{code.name} ({one})" for code, one in zip((base, new), answers, strict=True)]
        return replace(base, name=names[0]), replace(new, name=names[1])

    def twice(self) -> tuple[Code, Code]:
        """Return what stands here as both sides."""
        if shutil.which("git") and revisions.found(self.here, self.commands):
            return self.trees(None)
        base, new = self.as_it_is(BASE), self.as_it_is(NEW)
        asked(new, self.commands)  # the other is the same
        return base, new

    def as_it_is(self, side: str) -> Code:
        """Return the interpreter that runs this, with kernels of its own."""
        given = os.environ.get("PYTHONPATH", "").split(os.pathsep)
        path = tuple(self.here / entry for entry in given if entry)
        kernels = self.room / side / "kernels"
        with failing(kernels, "made"):
            kernels.mkdir(parents=True, exist_ok=True)
        return Code("this interpreter", Path(sys.executable), None, self.here, kernels, path)

    def wheel(self, file: Path, base: Code, new: Code) -> tuple[Code, Code]:
        """Return a wheel beside what is installed."""
        if not file.is_file():
            raise UnknownName(f"there is no wheel {file}")
        site = self.room / BASE / "site"
        overlays.built(file, site, base.python, file.name, self.commands)
        base = replace(base, name=file.name, overlay=site)
        asked(base, self.commands)
        package = overlays.package_of(file)
        version = asked(new, self.commands, package).package
        there = f"{package} {version}" if version else f"without {package}"
        return base, replace(new, name=f"{new.name} ({there})")

    # -- trees of a repository ---------------------------------------------------------------

    def trees(self, ref: str | None) -> tuple[Code, Code]:
        """Return a revision beside the working tree, or the working tree twice."""
        repository = revisions.found(self.here, self.commands)
        if repository is None:
            raise UnknownName(
                f"{ref} is no wheel and no interpreter, and {self.here} is in no git repository "
                "whose revision it could be"
            )
        commit = repository.commit(ref or "HEAD")
        trees = [self.room / side / "tree" for side in (BASE, NEW)]
        for tree in trees:
            with failing(tree, "made"):
                tree.mkdir(parents=True, exist_ok=True)
        if ref is None:
            repository.copy(trees[0], self.room)
        else:
            repository.check_out(commit, trees[0])
        repository.copy(trees[1], self.room)
        places.carry(self.words, self.here, repository.top, trees)
        working = self.working(repository)
        named = working if ref is None else f"{ref} ({commit[:DIGITS]})"
        codes = [
            self.tree(BASE, trees[0], named, repository),
            self.tree(NEW, trees[1], working, repository),
        ]
        sites = self.sites(codes, trees, commit, repository)
        base, new = (replace(code, overlay=site) for code, site in zip(codes, sites, strict=True))
        for code in (base, new):
            asked(code, self.commands)
        return base, new

    def working(self, repository: Repository) -> str:
        """Return the name of the working tree."""
        head = repository.commit("HEAD")[:DIGITS]
        return f"the working tree ({head}{', with changes' if repository.is_edited else ''})"

    def tree(self, side: str, tree: Path, name: str, repository: Repository) -> Code:
        """Return a side before anything is built for it."""
        code = self.as_it_is(side)
        folder = tree / repository.place
        with failing(folder, "made"):
            folder.mkdir(parents=True, exist_ok=True)  # one of the sides may not have it

        def seen(entry: Path) -> Path:
            place = entry.resolve()
            if not place.is_relative_to(repository.top):
                return entry
            versioned = self.room / NEW / "tree" / place.relative_to(repository.top)
            return tree / place.relative_to(repository.top) if versioned.exists() else entry

        path = tuple(map(seen, code.path))
        notes = tuple(repository.absent(tree))
        return replace(code, name=name, folder=folder, path=path, notes=notes)

    def sites(
        self, codes: Sequence[Code], trees: Sequence[Path], commit: str, repository: Repository
    ) -> list[Path | None]:
        """Build what is to be built, at the same time where there are two cores."""

        def site(code: Code, tree: Path) -> Path | None:
            source = overlays.project(tree, repository.place)
            if source is None:
                return None
            made = code.kernels.with_name("site")
            if overlays.asks_git(source):
                repository.give_history(commit, tree)
            overlays.built(source, made, code.python, code.name, self.commands)
            revisions.forget(tree)
            return made

        with ThreadPoolExecutor(min(2, len(cores()))) as pool:
            try:
                futures = [pool.submit(site, *one) for one in zip(codes, trees, strict=True)]
                done, _ = wait(futures, return_when=FIRST_EXCEPTION)
                for future in futures:
                    if future in done:
                        future.result()  # the failure that came first, not what it ended
                return [future.result() for future in futures]
            except BaseException:
                self.commands.close()  # the pool waits for its threads
                raise


def _interpreter(place: Path) -> Path | None:
    """Return the interpreter that a path names, or the one of a virtual environment."""
    for inner in ("bin/python", "Scripts/python.exe"):
        if (place / inner).is_file():
            return place / inner
    named = INTERPRETER.search(place.name) and place.suffix != ".py"
    return place if named and place.is_file() and os.access(place, os.X_OK) else None
