"""Odd columns in the tables that `fwbench compare` and `history` read: refused, or shown."""

import contextlib
import json
import shutil
from datetime import datetime, timedelta
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest

from fwbench import views
from fwbench.analysis.chronicle import chronicle
from fwbench.analysis.comparison import compared, document
from fwbench.errors import RunFolderError
from fwbench.findings import build, write_views
from fwbench.plain import plain
from fwbench.report import comparison, history
from fwbench.store import RunFolder

from .made_folders import Held, culprits, shown
from .made_hostile import FORBIDDEN, command

HOSTILE = "x\x1b[31m<script>\u202e"


def constant(value, dtype=None):
    return lambda column: pd.Series([value] * len(column), dtype=dtype)


# what stands in a whole column; None leaves the column out
ODD = {
    **{repr(value): constant(value) for value in (
        np.nan, np.inf, -np.inf, 0, -1, 1.5, 1e308, -1e308, 5e-324, 2**63 - 1, -(2**63), True,
        "x", "12", "", "inf", HOSTILE, datetime(2020, 1, 1), timedelta(days=1),
    )},
    "long text": constant("x" * 5000),
    "digits": constant("1" * 400),
    **{repr(value): constant(value, object) for value in (
        None, b"\xff\0", [1, 2], {"a": 1}, Decimal("1.5"),
    )},
    "uint64": constant(2**64 - 1, "uint64"),
    "float32": constant(1.1, "float32"),
    "categories": constant("a", "category"),
    "unlike names": lambda column: pd.Series([f"n{i}" for i in range(len(column))]),
    "falling": lambda column: pd.Series(range(len(column), 0, -1)),
    "far apart": lambda column: pd.Series(10.0 ** (300 - 7 * np.arange(len(column)) % 600)),
    "first infinite": lambda column: pd.Series([np.inf] + [1.0] * (len(column) - 1)),
    "turned": lambda column: pd.Series(column.to_numpy()[::-1]),
    "left out": None,
}  # fmt: skip


@pytest.fixture(scope="module")
def tables(sound, tmp_path_factory):
    """Return the tables of a run folder, timed on a quiet machine, whatever this one is."""
    place = tmp_path_factory.mktemp("tables") / "run"
    folder = RunFolder(shutil.copytree(sound, place))
    write_views(folder, build(folder))
    found = {name: pd.read_parquet(place / f"{name}.parquet") for name in views.TABLES}
    found["runs"] = found["runs"].assign(noisy=False, shared=False)
    return found


@pytest.fixture
def given(sound, tables, monkeypatch):
    """Return what reads a side of tables that are held in memory, without a journal."""
    held = Held(RunFolder(sound).manifest, [], RunFolder(sound).points, has_journal=False)
    monkeypatch.setattr(views, "RunFolder", lambda path: held)
    monkeypatch.setattr(views, "open_plain", contextlib.nullcontext)

    def read(name, table, **options):
        now = tables | {name: table}
        monkeypatch.setattr(pd, "read_parquet", lambda path: now[path.stem].copy())
        return views.read(sound, **options)

    return read


def edited(table, column, odd):
    """Return a table with something odd in one column."""
    if ODD[odd] is None:
        return table.drop(columns=column)
    return table.assign(**{column: ODD[odd](table[column]).set_axis(table.index)})


EDITS = [
    (f"{name}.{column} = {odd:.40}", name, column, odd)
    for name, columns in views.TABLES.items()
    for column in columns
    for odd in ODD
]


def looked_at(cases, given, tables):
    base = given("runs", tables["runs"])
    for _, name, column, odd in cases:
        table = edited(tables[name], column, odd)
        try:
            side = given(name, table)
        except RunFolderError:
            continue
        for two in ((base, side), (side, base), (side, side)):
            made = compared(*two)
            json.dumps(plain(document(made)), allow_nan=False)
            shown(comparison.terminal(made))
            comparison.markdown(made, 30)
        comparison.page(made, "fwbench compare")
        if name == "runs":
            some = chronicle([base, given(name, table, whole=False), base])
            shown(history.terminal(some))


def test_an_odd_table_is_refused_or_shown(given, tables):
    assert culprits(EDITS[::71], lambda some: looked_at(some, given, tables)) == []


@pytest.mark.slow
def test_very_many_odd_tables_are_refused_or_shown(given, tables):
    assert culprits(EDITS[::2], lambda some: looked_at(some, given, tables)) == []


def test_odd_tables_on_the_command_line(sound, tables, tmp_path):
    """The journal is there and right: it is read instead, or the table is taken as it stands."""
    place = tmp_path / "runs" / "run"
    shutil.copytree(sound, place)
    for name, table in tables.items():
        table.to_parquet(place / f"{name}.parquet", index=False)
    odd = {"steps": "1.5", "seconds": "inf", "gap_relative": "left out", "host": repr(HOSTILE)}
    for column, said in odd.items():
        table = edited(tables["runs"], column, said)
        table.to_parquet(place / "runs.parquet", index=False)
        ended = command("compare", str(sound), str(place), "--json")
        assert ended.code in (0, 1, 3), ended
        assert json.loads(ended.out)["exit"] == ended.code
        assert FORBIDDEN.isdisjoint(ended.out)
    ended = command("history", str(place.parent), "--json")
    assert ended.code == 0, ended
    assert FORBIDDEN.isdisjoint(json.loads(ended.out)["lines"][-1]["machine"])
