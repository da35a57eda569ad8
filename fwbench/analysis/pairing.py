"""Which run of one side stands beside which of the other."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass
from typing import TypeVar

from fwbench.analysis.changes import Lone
from fwbench.analysis.sides import Key, Run
from fwbench.trace import Status

Group = list[Run]
K = TypeVar("K", bound=Hashable)


@dataclass(frozen=True, eq=False)
class Pairing:
    """Runs that stand side by side, and those that stand alone.

    Attributes
    ----------
    pairs : tuple of (Run, Run)
    groups : int
        Solvers on instances that both sides have.
    missing, added : tuple of Lone
        Solvers on instances of one side alone, a run each.
    lone_repetitions : int
        Further repetitions of what both sides have.
    """

    pairs: tuple[tuple[Run, Run], ...]
    groups: int
    missing: tuple[Lone, ...]
    added: tuple[Lone, ...]
    lone_repetitions: int


def paired(base: Iterable[Run], new: Iterable[Run]) -> Pairing:
    """Match runs by instance, solver with all parameters, and tolerance; then by repetition.

    What has no partner so is matched by the labels, which leave out defaults: a solver that has
    got a further parameter since is still itself. Runs that never ended have no result, and count
    as not there. The order of the runs does not matter.

    Examples
    --------
    >>> row = {"instance": "i", "solver": "s", "params": "", "tol": 1e-8, "repetition": 0,
    ...        "instance_label": "i", "solver_label": "s", "run_id": "0", "status": "budget"}
    >>> found = paired([Run(row)], [Run(row), Run(row | {"solver": "t", "solver_label": "t"})])
    >>> len(found.pairs), len(found.missing), [lone.run.row["solver"] for lone in found.added]
    (1, 0, ['t'])
    """
    sides = [list(base), list(new)]
    begun = {_label(run): run for run in sides[1] if not _ended(run)}
    left, right = (_grouped(filter(_ended, side), lambda run: run.key) for side in sides)
    matches = {key: key for key in left if key in right}
    matches |= _by_label(left, right, matches)
    pairs: list[tuple[Run, Run]] = []
    lone = 0
    for mine, other in list(matches.items()):
        found = _repetitions(left[mine], right[other])
        pairs += found
        if found:
            lone += len(left[mine]) + len(right[other]) - 2 * len(found)
        else:  # no repetition that both have: nothing was compared
            del matches[mine]
    missing = [left[key][0] for key in left if key not in matches]
    added = [right[key][0] for key in right if key not in matches.values()]
    return Pairing(
        pairs=tuple(sorted(pairs, key=lambda pair: _order(pair[0]))),
        groups=len(matches),
        missing=tuple(
            Lone(run, "it was interrupted; --resume does the rest" if _label(run) in begun else "")
            for run in sorted(missing, key=_order)
        ),
        added=tuple(Lone(run) for run in sorted(added, key=_order)),
        lone_repetitions=lone,
    )


def _ended(run: Run) -> bool:
    return run.row.get("status") != Status.INTERRUPTED


def _label(run: Run) -> Hashable:
    return run.row.get("instance_label"), run.row.get("solver_label"), run.row.get("tol")


def _order(run: Run) -> tuple[str, ...]:
    names = ("instance", "solver", "params", "tol", "repetition", "run_id")
    return tuple(
        f"{run.row[name]:09d}" if name == "repetition" else str(run.row.get(name)) for name in names
    )


def _grouped(runs: Iterable[Run], name: Callable[[Run], K]) -> dict[K, Group]:
    found: dict[K, Group] = defaultdict(list)
    for run in sorted(runs, key=_order):
        found[name(run)].append(run)
    return dict(found)


def _by_label(
    left: dict[Key, Group], right: dict[Key, Group], matches: dict[Key, Key]
) -> dict[Key, Key]:
    """Match groups by labels, where one of each side alone has them."""
    named: list[dict[Hashable, list[Key]]] = [defaultdict(list), defaultdict(list)]
    for names, side in zip(named, (left, right), strict=True):
        for key, group in side.items():
            names[_label(group[0])].append(key)
    taken = {*matches, *matches.values()}
    pairs = ((mine, named[1].get(label, [])) for label, mine in named[0].items())
    return {
        mine[0]: others[0]
        for mine, others in pairs
        if len(mine) == len(others) == 1 and not taken & {mine[0], others[0]}
    }


def _repetitions(mine: Group, others: Group) -> list[tuple[Run, Run]]:
    """Match runs of one group by repetition; of several budgets the same, or the only ones."""
    found = []
    turns = [_grouped(side, lambda run: run.row["repetition"]) for side in (mine, others)]
    for turn, some in turns[0].items():
        there = turns[1].get(turn, [])
        by_name = {run.row["run_id"]: run for run in there}
        same = [(run, by_name[run.row["run_id"]]) for run in some if run.row["run_id"] in by_name]
        taken = {run.row["run_id"] for run, _ in same}
        rest = [[run for run in side if run.row["run_id"] not in taken] for side in (some, there)]
        found += same
        if len(rest[0]) == len(rest[1]) == 1:
            found.append((rest[0][0], rest[1][0]))
    return found
