"""Copies of this repository, and what careless edits make of its solvers.

An edit is a few replacements in files of the copy: nothing is measured, multiplied or faked
afterwards, so what a gate finds is in the code.
"""

import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Edit:
    """A text of a file that stands there once, and what it becomes."""

    file: str
    before: str
    after: str


# Away steps go half as far as they may, so that no atom is ever dropped.
NEVER_DROPS = (
    Edit(
        "fwbench/kernels/frank_wolfe.py",
        "longest = weight[p] / others if away else 1.0",
        "longest = 0.5 * weight[p] / others if away else 1.0",
    ),
    Edit(
        "fwbench/kernels/frank_wolfe.py",
        "drop = away and gamma >= longest * (1 - DROP)",
        "drop = False",
    ),
)
# The first step of Frank-Wolfe goes to the neighbour of the leader, from which a concave problem
# lets nobody go.
ELSEWHERE = (
    Edit(
        "fwbench/kernels/frank_wolfe.py",
        "        j = leading(s, kept.lows, hull.tie)\n        gamma = gammas",
        "        j = (leading(s, kept.lows, hull.tie) + (t == 0)) % len(s)\n        gamma = gammas",
    ),
)
# Pairwise steps ask for the leader and, at no cost that a clock would show, ask again.
TWICE_THE_CALLS = (
    Edit(
        "fwbench/kernels/pairs.py",
        "        kept.counters[LMO] += 1\n",
        "        kept.counters[LMO] += 2\n",
    ),
)
# Frank-Wolfe passes over some of the scores once more, for nothing: some 15 % of a step on
# SLOWER_ON, where columns are cached.
SLOWER = (
    Edit(
        "fwbench/kernels/frank_wolfe.py",
        "        count(kept.counters, FW)\n        if gamma != 0:",
        """        count(kept.counters, FW)
        spare = kept.pieces[1]
        for i in range(4 * len(spare) // 7):
            spare[i] = gamma * s[i] + spare[i]
        if gamma != 0:""",
    ),
)
SLOWER_ON = (
    "-p", "min_norm_point[n=1000,d=50,shift=1]", "-s", "frank_wolfe[step=exact]",
    "--max-steps", "5000",
)  # fmt: skip


def git(folder: Path, *words: str | Path) -> str:
    """Run git in a folder, whatever the user's settings are, and return what it says."""
    environment = {k: v for k, v in os.environ.items() if not k.startswith("GIT_")}
    environment |= {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
    for who in ("AUTHOR", "COMMITTER"):
        environment |= {f"GIT_{who}_NAME": "made", f"GIT_{who}_EMAIL": "made@made.example"}
    done = subprocess.run(
        ["git", *words], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def init(folder: Path) -> Path:
    """Make a repository of a folder, with the branch main."""
    git(folder, "init", "-q", "-b", "main")
    return folder


def copied(folder: Path) -> Path:
    """Copy what git knows of this repository into a new one, and commit it.

    Edits that are not committed here are part of the copy.
    """
    if not (ROOT / ".git").exists():
        pytest.skip("not a git checkout: nothing says which files are tracked")
    init(folder)
    listed = git(ROOT, "ls-files", "-z", "--cached", "--others", "--exclude-standard")
    for name in listed.split("\0"):
        if name and (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, folder / name)
    git(folder, "add", "-A")
    git(folder, "commit", "-qm", "a copy")
    return folder


def planted(folder: Path, *edits: Edit) -> Path:
    """Make edits in a copy; they are not committed."""
    for edit in edits:
        path = folder / edit.file
        source = path.read_text(encoding="utf-8")
        assert source.count(edit.before) == 1, edit
        path.write_text(source.replace(edit.before, edit.after), encoding="utf-8")
    return folder


def slower_copy(folder: Path) -> Path:
    """Return a copy in which Frank-Wolfe is some 15 % slower, and not a bit else is different."""
    return planted(copied(folder), *SLOWER)
