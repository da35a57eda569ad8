"""Which timings may stand side by side: those of one machine, shared by several runs or not."""

from __future__ import annotations

import pandas as pd


def timed_on(runs: pd.DataFrame) -> pd.Series[str]:
    """Return where each run was timed; null throughout where all were timed alike.

    Seconds of unlike machines say nothing of solvers, and no more do those of a machine that
    several runs shared beside those of one that a run had alone, or those of unlike numbers of
    threads. A run without a machine, which was never made, stands with most runs on its instance.

    Parameters
    ----------
    runs : DataFrame
        With ``instance`` and, where they are known, ``host``, ``shared`` and ``threads``.

    Examples
    --------
    >>> runs = pd.DataFrame({"instance": list("aab"), "host": ["one", "two", "one"]})
    >>> timed_on(runs).tolist(), timed_on(runs.iloc[[0, 2]]).tolist()
    (['one', 'two', 'one'], [nan, nan])
    """
    nowhere = pd.Series(None, index=runs.index, dtype=object)
    if "host" not in runs:
        return nowhere
    places = runs["host"].astype(object)
    if "threads" in runs and runs["threads"].nunique() > 1:
        counted = runs["threads"].notna() & places.notna()
        threads = runs.loc[counted, "threads"].map(_threads)
        places = places.mask(counted, places.astype(str) + threads.reindex(places.index))
    if "shared" in runs:
        shared = runs["shared"].astype("boolean").fillna(False).astype(bool)
        places = places.mask(shared & places.notna(), places.astype(str) + ", shared")
    places = places.where(places.notna(), None)
    if places.nunique() < 2:
        return nowhere
    usual = places.groupby(runs["instance"]).agg(_commonest)
    places = places.fillna(runs["instance"].map(usual))
    return places.fillna(_commonest(places))


def usual(runs: pd.DataFrame) -> pd.Series[bool]:
    """Return whether each run was timed where most runs on its instance were.

    Examples
    --------
    >>> usual(pd.DataFrame({"instance": list("aaa"), "host": ["one", "two", "one"]})).tolist()
    [True, False, True]
    """
    places = timed_on(runs)
    most = runs["instance"].map(places.groupby(runs["instance"]).agg(_commonest))
    return places.isna() | (places == most)


def named(table: pd.DataFrame, label: str) -> pd.DataFrame:
    """Return a table whose labels say where its seconds are from, if `timed_on` does.

    Examples
    --------
    >>> table = pd.DataFrame({"instance_label": ["cube", "cube"], "timed_on": ["one", None]})
    >>> named(table, "instance_label")["instance_label"].tolist()
    ['cube on one', 'cube']
    """
    labels = table[label].astype(object)
    apart = table["timed_on"].notna()
    return table.assign(**{label: labels.where(~apart, labels + " on " + table["timed_on"])})


def _threads(count: int) -> str:
    return f", {count} thread{'' if count == 1 else 's'}"


def _commonest(places: pd.Series[str]) -> str | None:
    counts = places.value_counts()
    return None if counts.empty else str(counts.index[0])
