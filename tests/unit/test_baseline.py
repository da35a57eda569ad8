"""Reference results as small text: written, read back, shipped."""

import json
import shutil
from pathlib import Path

import pytest

import fwbench
from fwbench import baseline
from fwbench.analysis.changes import Outcome
from fwbench.analysis.comparison import compared
from fwbench.comparing import PLACES, opened, refuse_strangers, shipped
from fwbench.errors import InvalidParameter, RunFolderError
from fwbench.suite import load

from .made_sides import falling, run, side, trace

ROOT = Path(fwbench.__file__).resolve().parent.parent
SMALL = 300_000  # bytes


@pytest.fixture
def written(tmp_path):
    """Return what writes a side as a baseline and reads it back."""

    def write(*runs):
        path = tmp_path / "deep" / "base.json"
        baseline.write(side(*runs), path)
        return opened(path)

    return write


def several():
    unfinished = {"status": "budget", "gap_relative": 0.1, "solver": "t", "solver_label": "t"}
    return (
        run(),
        run(repetition=1, run_id="1", seconds=3e-3),
        run(falling(0.9), run_id="2", **unfinished),
        run(run_id="3", instance="q", instance_label="q", kind="general", value_centred=None),
    )


def test_what_is_written_reads_back_the_same(written):
    kept = written(*several())
    assert kept.source == "baseline"
    comparison = compared(kept, side(*several()), exact_only=True)
    assert (comparison.matched, comparison.changes) == (3, ())
    assert comparison.outcome is Outcome.SAME
    assert compared(side(*several()), kept, exact_only=True).outcome is Outcome.SAME
    assert compared(kept, kept).outcome is Outcome.SAME
    assert kept.references["p[n=3,seed=0]"] == (0.0, 0.4**20)


def test_a_line_a_run_in_a_fixed_order(written, tmp_path):
    written(*several())
    lines = (tmp_path / "deep" / "base.json").read_text().splitlines()
    assert sum('"solver": ' in line for line in lines) == 3
    written(*several()[::-1])
    assert (tmp_path / "deep" / "base.json").read_text().splitlines() == lines


def test_timings_are_kept_as_passes_of_the_machine(written):
    kept = {run.key.instance: run.row["passes"] for run in written(*several()).runs}
    assert kept["p[n=3,seed=0]"] in (1000.0, 2000.0)  # the median of 1 and 3 ms, in µs
    assert [
        run.row["passes"]
        for run in written(run(noisy=True), run(run_id="1", solver="t", shared=True)).runs
    ] == [None, None]


def test_regressions_are_seen_on_another_machine(written):
    kept = written(run())
    for new in (
        run(status="budget", gap_relative=1e-3),
        run(trace=trace(falling(0.7, 61)), steps=60),
        run(trace=trace(falling(0.4), lmo=range(0, 42, 2))),
        run(rests=(), fixed_point="face", kind="concave"),
    ):
        [change] = [c for c in compared(kept, side(new), exact_only=True).changes if c.found.bad][
            :1
        ]
        assert change.base.row["solver"] == "s"
    other = run(falling(0.41), steps=20)  # within a checkpoint
    assert compared(kept, side(other), exact_only=True).outcome is Outcome.SAME


@pytest.mark.parametrize(
    ("made", "said"),
    [
        (lambda: side(run(), suite=None), "ran no suite"),
        (lambda: side(run(), source="baseline"), "ran no suite"),
        (lambda: side(run(status="interrupted")), "1 runs never ended, such as s on p"),
        (lambda: side(run(status="wrong")), "1 runs failed"),
    ],
)
def test_what_is_no_whole_run_of_a_suite_is_no_baseline(made, said, tmp_path):
    with pytest.raises(InvalidParameter, match=said):
        baseline.write(made(), tmp_path / "base.json")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("change", "error", "said"),
    [
        (lambda made: made.update(fwbench_baseline=2), RunFolderError, "newer fwbench"),
        (lambda made: made.update(fwbench_baseline="1"), RunFolderError, "damaged baseline"),
        (lambda made: made.pop("instances"), RunFolderError, "holds no instances"),
        (lambda made: made["instances"][0]["runs"][0].update(status="fine"), RunFolderError,
         "must be one of"),
        (lambda made: made["instances"][0]["runs"][0].update(targets={"x": [1, 2, 3, 4]}),
         RunFolderError, "targets"),
        (lambda made: made["instances"][0]["runs"][0].update(passes=1e308), RunFolderError,
         "passes must be 0 or a number from"),
        (lambda made: made["instances"][0]["runs"][0].update(steps=-5), RunFolderError,
         "steps must not be negative"),
        (lambda made: made["instances"][0].update(reference=["a", "b"]), RunFolderError,
         "reference"),
    ],
)  # fmt: skip
def test_a_damaged_baseline_is_refused(written, tmp_path, change, error, said):
    written(run())
    path = tmp_path / "deep" / "base.json"
    made = json.loads(path.read_text())
    change(made)
    path.write_text(json.dumps(made))
    with pytest.raises(error, match=said):
        opened(path)


@pytest.mark.parametrize(
    ("text", "said"),
    [("", "holds no JSON"), ("[" * 9999, "holds no JSON"), ("[]", "no table"),
     ("{}", "neither a run folder, nor a baseline")],
)  # fmt: skip
def test_a_file_that_is_nothing_of_ours_is_refused(tmp_path, text, said):
    (tmp_path / "x.json").write_text(text)
    with pytest.raises(InvalidParameter, match=said):
        opened(tmp_path / "x.json")
    with pytest.raises(RunFolderError, match="there is no run folder or file"):
        opened(tmp_path / "nowhere")


def test_a_file_of_pytest_benchmark_stands_beside_no_run_folder():
    other = side(run(), source="pytest-benchmark", name="a.json")
    with pytest.raises(InvalidParameter, match=r"a\.json is a pytest-benchmark"):
        refuse_strangers(other, side(run()))
    refuse_strangers(other, other)


# -- the one that ships ------------------------------------------------------------------------


def test_the_shipped_baseline_is_that_of_the_suite_and_small():
    [path] = sorted((ROOT / "reports" / "baseline").iterdir())
    assert path.stat().st_size < SMALL
    suite = load("quick")
    assert path.stem == suite.label
    kept = opened(path)
    assert kept.facts["suite_digest"] == suite.digest
    assert kept.facts["dirty"] is False
    assert {run.row["status"] for run in kept.runs} <= {
        "converged",
        "finished",
        "budget",
        "skipped",
    }
    assert shipped(side(run())).facts["suite"] == "quick@1"


def test_there_is_no_baseline_of_other_questions(monkeypatch, tmp_path):
    with pytest.raises(InvalidParameter, match="ran no suite"):
        shipped(side(run(), suite=None))
    with pytest.raises(
        InvalidParameter, match="no baseline of the suite quik@1; did you mean quick@1"
    ):
        shipped(side(run(), suite="quik@1"))
    monkeypatch.setattr("fwbench.comparing.PLACES", (tmp_path,))
    with pytest.raises(InvalidParameter, match="there is none at all"):
        shipped(side(run()))


def test_an_installed_package_has_it_too(monkeypatch, tmp_path):
    shutil.copy(ROOT / "reports" / "baseline" / "quick@1.json", tmp_path)
    monkeypatch.setattr("fwbench.comparing.PLACES", (PLACES[0] / "nowhere", tmp_path))
    assert shipped(side(run())).source == "baseline"
