"""Trees of files from a git repository: a revision as it was, the working tree as it is."""

from __future__ import annotations

import difflib
import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from fwbench.disk import failing
from fwbench.errors import GateError, UnknownName, nearest
from fwbench.gating.commands import Commands, Ended, surroundings

DIGITS = 12  # of a commit, as it is shown
MOST_NAMES = 8  # of branches and tags, where none is like the one that was asked for
POINTER = b"version https://git-lfs.github.com/spec/"  # so begins what git LFS puts for a file
LONGEST_POINTER = 1024  # bytes


@dataclass(frozen=True)
class Repository:
    """A git repository with a working tree.

    Attributes
    ----------
    top : Path
        Of the working tree, links resolved.
    place : Path
        Of the folder that was asked about, relative to `top`.
    commands : Commands
    """

    top: Path
    place: Path
    commands: Commands

    def _git(self, *words: str | Path, index: Path | None = None) -> Ended:
        return _git(self.commands, self.top, *words, index=index)

    def _said(self, *words: str | Path, index: Path | None = None) -> str:
        """Return what git says, and raise its last words if it fails."""
        ended = self._git(*words, index=index)
        if ended.code:
            raise GateError(f"git {words[0]} failed in {self.top}: {ended.last()}")
        return ended.out

    def commit(self, ref: str) -> str:
        """Return the commit that a text names.

        Raises
        ------
        UnknownName
            With the nearest branches and tags.
        GateError
            There is no commit at all.
        """
        found = self._git("rev-parse", "--verify", "--quiet", f"{ref}^{{commit}}")
        if found.code == 0 and not ref.startswith("-"):
            return found.out.strip()
        if self._git("rev-list", "--max-count=1", "--all").out.strip() == "":
            raise GateError(f"the repository {self.top} has no commit yet, so there is no {ref}")
        form = "--format=%(refname:short)"
        known = self._said("for-each-ref", "--sort=-committerdate", form).split()
        close = difflib.get_close_matches(ref, known)
        words = [f"{ref} is no revision of {self.top}, no wheel and no interpreter"]
        words += [nearest(ref, close or known[:MOST_NAMES])] if known else []
        if self._git("rev-parse", "--is-shallow-repository").out.strip() == "true":
            words.append("this clone is shallow, git fetch --unshallow brings the rest")
        raise UnknownName("; ".join(words))

    def check_out(self, commit: str, tree: Path) -> None:
        """Put the files of a commit into an empty folder; the repository stays as it is.

        With an index of its own rather than by ``git archive``: that leaves out what a project
        keeps out of its releases (``export-ignore``), tests and benchmarks first.
        """
        index = tree.with_name("index")
        self._said("read-tree", commit, index=index)
        prefix = f"--prefix={tree}{os.sep}"
        self._said("checkout-index", "--all", "--force", "--quiet", prefix, index=index)

    def copy(self, tree: Path, room: Path) -> None:
        """Put the working tree as it stands into an empty folder, without what git ignores.

        Parameters
        ----------
        tree : Path
        room : Path
            Left out, where it lies in the repository itself.
        """
        with failing(tree, "written"):
            for name in self._listed():
                source, target = self.top / name, tree / name
                if source.is_relative_to(room) or not os.path.lexists(source):
                    continue  # deleted, and not yet committed
                if source.is_dir() and not source.is_symlink():
                    continue  # a submodule, or another repository
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(source, target, follow_symlinks=False)

    def _listed(self) -> list[str]:
        said = self._said("ls-files", "-z", "--cached", "--others", "--exclude-standard")
        return sorted({name for name in said.split("\0") if name})

    @property
    def is_edited(self) -> bool:
        """Whether the working tree holds something that is in no commit."""
        return bool(self._said("status", "--porcelain", "--ignore-submodules").strip())

    def absent(self, tree: Path) -> Iterator[str]:
        """Yield sentences on what of the working tree is not in a copy."""
        stages = self._said("ls-files", "-z", "--stage").split("\0")
        modules = [line.partition("\t")[2] for line in stages if line.startswith("160000 ")]
        if modules:
            yield f"submodules are left out: {', '.join(sorted(modules))}"
        rules = tree / ".gitattributes"
        if rules.is_file() and b"filter=lfs" in rules.read_bytes():
            many = sum(map(_is_pointer, tree.rglob("*")))
            if many:
                yield f"{many} files of git LFS are pointers only: git lfs pull brings them"

    def give_history(self, commit: str, tree: Path) -> None:
        """Make a tree a repository of one commit, and of the last tag.

        Tools that read the version of a package, or the list of its files, from git do not build
        it without; `forget` takes it away again.
        """
        tag = self._git("describe", "--tags", "--abbrev=0", commit).out.strip()
        alone = (
            "-c", "user.name=fwbench", "-c", "user.email=fwbench@localhost",
            "-c", "commit.gpgsign=false", "-c", "tag.gpgsign=false",
            "-c", f"core.hooksPath={os.devnull}", "-c", "core.autocrlf=false",
        )  # fmt: skip
        steps: list[tuple[str, ...]] = [
            ("init", "--quiet", "--template="),
            ("add", "--all", "--force"),
            ("commit", "--quiet", "--allow-empty", "--no-verify", "--message", commit),
        ]
        steps += [("tag", "--annotate", "--message", tag, tag)] if tag else []
        for step in steps:
            ended = _git(self.commands, tree, *alone, *step)
            if ended.code:
                raise GateError(f"git {step[0]} failed in {tree}: {ended.last()}")


def found(here: Path, commands: Commands) -> Repository | None:
    """Return the repository around a folder, None where there is none.

    Raises
    ------
    GateError
        Git refuses to say, as it does in the repository of another user.
    """
    said = _git(commands, here, "rev-parse", "--show-toplevel", "--show-prefix")
    if said.code and "not a git repository" in said.err:
        return None
    if said.code:
        raise GateError(f"git cannot read the repository around {here}: {said.last()}")
    top, prefix = said.out.split("\n")[:2]
    return Repository(Path(top), Path(prefix), commands)


def forget(tree: Path) -> None:
    """Take away what `Repository.give_history` made."""
    shutil.rmtree(tree / ".git", ignore_errors=True)


def _git(commands: Commands, folder: Path, *words: str | Path, index: Path | None = None) -> Ended:
    """Run git on the repository around a folder, which it reads and never locks."""
    environment = surroundings() | {"LC_ALL": "C", "GIT_OPTIONAL_LOCKS": "0"}
    if index is not None:
        environment["GIT_INDEX_FILE"] = str(index)
    return commands.run(["git", *words], folder, environment)


def _is_pointer(path: Path) -> bool:
    if path.is_symlink() or not path.is_file() or path.stat().st_size > LONGEST_POINTER:
        return False
    with path.open("rb") as file:
        return file.read(len(POINTER)) == POINTER
