"""A run in flight, as another process reads it."""

import math
import os
from time import monotonic_ns
from types import SimpleNamespace

import pytest

from fwbench.execution import flight
from fwbench.execution.flight import Flight, shared_file
from fwbench.observing import Stage
from fwbench.trace import COLUMNS


@pytest.fixture
def files():
    made = [shared_file(), shared_file()]
    yield made
    for file in made:
        os.close(file)


@pytest.fixture
def flights(files):
    """The side that writes and the side that reads."""
    sides = Flight(*files), Flight(*files)
    yield sides
    for side in sides:
        side.close()


def row(k, **more):
    return {"k": k, "seconds": k / 10, "gap": 0.5**k, "lmo": k, **more}


def test_the_beat_says_what_is_going_on_since_when(flights):
    writes, reads = flights
    writes.enters(Stage.ADVANCE, 1_500_000_000)
    first, second = reads.beat(), reads.beat()
    assert (first.stage, first.clock) == (Stage.ADVANCE, 1.5)
    assert 0 <= first.seconds <= second.seconds < 60
    writes.enters(Stage.JUDGING, 1_600_000_000)
    assert reads.beat().seconds < second.seconds + 60
    assert (reads.beat().stage, reads.beat().clock) == (Stage.JUDGING, 1.6)


def test_each_stage_has_its_words():
    assert len({stage.words for stage in Stage}) == len(Stage)


def test_checkpoints_come_back_as_they_were(flights):
    writes, reads = flights
    writes.begins()
    assert reads.trace() == {}
    rows = [row(k, value=-math.pi, support=3) for k in range(40)]
    for made in rows:
        writes.looked(made)
    found = reads.trace()
    assert tuple(found) == COLUMNS
    for name in COLUMNS:
        assert found[name] == [made.get(name) for made in rows]
    assert all(type(number) is int for number in found["k"] + found["lmo"] + found["support"])


def test_what_is_not_finite_is_null(flights):
    writes, reads = flights
    writes.begins()
    for value in (math.nan, math.inf, None):
        writes.looked(row(0, value=value))
    assert reads.trace()["value"] == [None] * 3


def test_another_run_starts_without_the_checkpoints_of_the_last(flights):
    writes, reads = flights
    for run in range(2):
        reads.begins()
        assert reads.beat().stage is Stage.WAITING
        writes.looked(row(run))
        assert reads.trace()["k"] == [run]


def test_what_is_no_number_is_left_to_the_run_itself(flights):
    writes, reads = flights
    writes.begins()
    writes.looked(row(0))
    writes.looked(row(1, gap=object()))
    writes.looked(row(2, gap="text"))
    assert reads.trace()["k"] == [0]


@pytest.mark.parametrize("cut", [1, 8, 100])
def test_a_torn_row_is_left_out(files, flights, cut):
    writes, reads = flights
    writes.begins()
    for k in range(3):
        writes.looked(row(k))
    os.ftruncate(files[1], os.fstat(files[1]).st_size - cut)
    assert reads.trace()["k"] == [0, 1]


def test_what_a_solver_wrote_in_between_ends_the_trace(files, flights):
    writes, reads = flights
    writes.begins()
    writes.looked(row(0))
    os.write(files[1], b"something else")
    writes.looked(row(1))
    assert reads.trace()["k"] == [0]


def test_a_closed_file_costs_no_run(files):
    rows = os.dup(files[1])
    side = Flight(files[0], rows)
    os.close(rows)
    side.looked(row(0))
    side.close()


def test_what_is_read_while_it_is_written_is_read_again(flights, monkeypatch):
    _, reads = flights
    now = monotonic_ns()
    half = (now - 10**12, 7, int(Stage.ADVANCE))  # the stage is new, since when is not
    whole = (now, 7, int(Stage.ADVANCE))

    answers = [half, whole, whole]
    torn = SimpleNamespace(unpack_from=lambda buffer, offset: answers.pop(0))
    monkeypatch.setattr(flight, "HEART", torn)
    assert reads.beat().seconds < 60
