from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from fwbench.analysis.contests import Contest
from fwbench.analysis.profiles import MEANS, PAIRS, STEPS, Profiles
from fwbench.report import canvas, profiles, words
from fwbench.report.captions import captions
from fwbench.report.exhibits import exhibits

from .made_findings import empty_findings

SOLVERS = ("frank_wolfe, best of 2", "$x_1$<b>")
LABELS = ("frank_wolfe", "$x_1$<b>")
TARGETS = (1e-2, 1e-8)


def made(cost="lmo", variant="tuned", reached=True, instances=("i0", "i1[k=$3$]", "i2")):
    one = Contest(
        variant=variant,
        cost=cost,
        solvers=SOLVERS,
        labels=LABELS,
        settings=(LABELS, LABELS[1:]),
        places=tuple((name, "gap", None) for name in "abc"),
        instances=instances,
        excluded=(),
    )
    rows = []
    for target in TARGETS:
        for profile in ("performance", "data"):
            for solver, low in zip(SOLVERS, ([1.0, 2.0, np.nan], [1.0, 4.0, 8.0]), strict=True):
                ends = np.array(low) if reached else np.full(3, np.nan)
                rows.append(
                    pd.DataFrame(
                        {
                            "contest": 0,
                            "profile": profile,
                            "cost": cost,
                            "target": target,
                            "solver": solver,
                            "share": [1 / 3, 2 / 3, 1.0],
                            "low": ends,
                            "high": ends * 1.5,
                            "without_low": np.nan,
                            "without_high": np.nan,
                            "grid_low": ends * 10 if solver == SOLVERS[0] else np.nan,
                            "grid_high": ends * 12 if solver == SOLVERS[0] else np.nan,
                        }
                    )
                )
    empty = pd.DataFrame(columns=list(PAIRS)), pd.DataFrame(columns=list(MEANS))
    table = pd.DataFrame()
    return Profiles((one,), pd.concat(rows, ignore_index=True)[list(STEPS)], *empty, table, table)


STYLES = words.styles(LABELS)


def drawn(found):
    with canvas.drawing():
        figure = profiles.draw(found, 0, STYLES)
        canvas.files("profile", figure)  # the layout is made then
        return figure


def test_a_line_stands_where_the_share_is_sure():
    axes = drawn(made()).axes[0]
    sure = axes.lines[0]
    x, y = (np.array(part, dtype=float) for part in sure.get_data())
    assert sure.get_color() == STYLES["frank_wolfe"].colour
    assert y[x >= 1.5][0] == 0.0  # up to its first upper end nothing is sure
    assert y[x >= 3.0].max() == pytest.approx(2 / 3)  # the third instance is never solved
    assert x[-1] == axes.get_xlim()[1]
    assert (np.diff(y) >= 0).all()


def test_a_tuned_solver_shows_its_grid_and_others_have_none():
    axes = drawn(made()).axes[0]
    assert len(axes.lines) == len(SOLVERS) + 1
    assert min(line.get_linewidth() for line in axes.lines) < 1


def test_a_panel_each_target_and_profile_all_with_the_same_axes():
    figure = drawn(made())
    assert len(figure.axes) == 2 * len(TARGETS)
    for axes in figure.axes:
        assert axes.get_ylim() == pytest.approx((-0.03, 1.03))
    assert figure.axes[0].get_xlim() == figure.axes[1].get_xlim()
    assert figure.axes[0].get_xlim()[0] == 1.0


def test_names_stand_as_they_are():
    figure = drawn(made())
    [legend] = figure.legends
    names = [entry.get_text() for entry in legend.get_texts()]
    assert names[:2] == ["frank_wolfe, best of 2", r"\$x_1\$<b>"]
    assert names[2] == "what the brackets leave open"


def test_where_nobody_came_there_the_lines_stay_at_nothing():
    for axes in drawn(made(reached=False)).axes:
        assert {float(max(line.get_ydata())) for line in axes.lines} == {0.0}


def test_the_caption_names_instances_and_who_is_left_out():
    instances = tuple(f"instance-{i}" for i in range(500))
    found = made(cost="seconds", variant="defaults", instances=instances)
    contest = replace(found.contests[0], excluded=(("i9", "a: not run"), ("i8", "a: not run")))
    found = replace(found, contests=(contest,))
    text = captions(replace(empty_findings(), profiles=found))["profile-defaults-seconds"]
    assert "instance-0, instance-1" in text
    assert "and 476 more" in text
    assert "Left out: instances that not all took part in, 2 (a: not run)." in text


def test_files_are_named_after_variant_and_cost():
    given = replace(empty_findings(), profiles=made(cost="seconds", variant="defaults"))
    assert list(exhibits(given)) == ["profile-defaults-seconds"]
    assert exhibits(replace(given, profiles=made(cost="total"))) == {}
