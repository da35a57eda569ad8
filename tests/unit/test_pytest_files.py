"""Files of pytest-benchmark as sides of a comparison."""

import copy
import json
import os
import subprocess
import sys

import pytest

from fwbench.analysis.changes import Outcome, Pace
from fwbench.analysis.comparison import compared
from fwbench.errors import InvalidParameter
from fwbench.pytest_files import BLOCKS, side

from .made_sides import noise

STATS = {"min": 1e-3, "max": 2e-3, "mean": 1.2e-3, "median": 1.1e-3, "stddev": 1e-4}


def benchmark(name="test_solve", data=None, extra=None, **stats):
    return {
        "group": None, "name": name, "fullname": f"tests/test_speed.py::{name}", "params": None,
        "extra_info": extra or {}, "options": {},
        "stats": STATS | stats | ({} if data is None else {"data": list(map(float, data))}),
    }  # fmt: skip


def content(*benchmarks, node="one", **more):
    cpu = {"brand_raw": "fast", "arch": "X86_64"}
    info = {"node": node, "processor": "", "machine": "x86_64", "python_version": "3.11.7",
            "cpu": cpu, "system": "Linux"}  # fmt: skip
    return {"machine_info": info, "commit_info": {"id": "a" * 40, "dirty": False},
            "datetime": "2026-01-01T00:00:00", "version": "5.1.0",
            "benchmarks": list(benchmarks), **more}  # fmt: skip


def against(base, new, **how):
    return compared(side("a.json", base), side("b.json", new), **how)


def rounds(seed, factor=1.0):
    return factor * noise(seed, 480)


def test_a_file_against_itself_is_the_same():
    for made in (content(benchmark()), content(benchmark(data=rounds(1)))):
        assert against(made, copy.deepcopy(made)).outcome is Outcome.SAME


def test_rounds_that_were_kept_tell_slower_and_faster():
    base, slow = content(benchmark(data=rounds(1))), content(benchmark(data=rounds(2, 1.25)))
    comparison = against(base, slow)
    [timing] = comparison.timings
    assert (timing.pace, timing.pairs) == (Pace.SLOWER, BLOCKS)
    assert comparison.outcome.code == 1
    assert against(slow, base).timings[0].pace is Pace.FASTER
    assert against(base, content(benchmark(data=rounds(3)))).outcome.code in (0, 3)


def test_one_statistic_tells_nothing():
    comparison = against(content(benchmark()), content(benchmark(median=9.0)))
    assert comparison.outcome is Outcome.INCONCLUSIVE
    assert "1 pair of repetitions" in comparison.timings[0].reason


def test_names_are_matched():
    comparison = against(content(benchmark("a"), benchmark("b")), content(benchmark("b")))
    assert comparison.matched == 1
    assert [lone.run.row["instance_label"] for lone in comparison.missing] == ["a"]
    moved = content(benchmark("b"))
    moved["benchmarks"][0]["fullname"] = "elsewhere/test_speed.py::b"
    assert against(content(benchmark("b")), moved).matched == 1


def test_seconds_of_another_machine_are_not_compared():
    comparison = against(content(benchmark()), content(benchmark(median=9.0), node="two"))
    assert comparison.timings == ()
    assert comparison.outcome.code == 0


def test_exact_quantities_beside_the_time():
    known = {"fwbench": {"solver": "mine", "status": "converged", "gap_relative": 1e-9,
                         "tol": 1e-8, "fixed_point": "vertex", "fixed_point_label": "atom 1",
                         "kind": "concave", "scale": 1.0}}  # fmt: skip
    worse = copy.deepcopy(known)
    worse["fwbench"] |= {"gap_relative": 1e-3, "fixed_point": "moving"}
    comparison = against(content(benchmark(extra=known)), content(benchmark(extra=worse)))
    assert {change.found.quantity for change in comparison.changes if change.found.bad} == {
        "certified gap", "fixed point"
    }  # fmt: skip
    assert comparison.changes[0].base.row["solver_label"] == "mine"


def test_what_slows_all_benchmarks_alike_may_be_the_machine():
    base = content(*(benchmark(f"t{i}", data=rounds(i)) for i in range(12)))
    slow = content(*(benchmark(f"t{i}", data=rounds(50 + i, 1.3)) for i in range(12)))
    assert Pace.SLOWER not in against(base, slow).paces


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda made: made.update(benchmarks=[{}]), r"benchmarks\[0\] holds no name"),
        (lambda made: made["benchmarks"][0]["stats"].pop("median"), "holds no median"),
        (lambda made: made["benchmarks"][0]["stats"].update(median="1"), "median must be a finite"),
        (lambda made: made["benchmarks"][0]["stats"].update(median=-1.0), "median must be 0 or a"),
        (lambda made: made["benchmarks"][0].update(extra_info={"fwbench": {"n": "x"}}), "n must"),
        (lambda made: made["benchmarks"][0].update(extra_info={"fwbench": {"status": "x"}}),
         "no status"),
        (lambda made: made["benchmarks"].append(made["benchmarks"][0]), "one name"),
        (lambda made: made.update(machine_info=3), "machine_info"),
    ],
)  # fmt: skip
def test_a_file_of_another_shape_is_refused(change, said):
    made = content(benchmark())
    change(made)
    with pytest.raises(InvalidParameter, match=said):
        side("x.json", made)


@pytest.mark.parametrize("info", [None, {}, {"cpu": 3, "node": 4}])
def test_a_machine_that_is_not_known_is_another_one(info):
    made = content(benchmark(), machine_info=info)
    assert against(made, made).timings == ()


def test_a_real_file_is_read(tmp_path):
    (tmp_path / "test_it.py").write_text("def test_sum(benchmark):\n    benchmark(sum, [1, 2])\n")
    words = [
        "-m", "pytest", "-q", "-p", "no:cacheprovider", "--benchmark-json=out.json",
        "--benchmark-save-data", "--benchmark-max-time=0.05", "--benchmark-min-rounds=30",
    ]  # fmt: skip
    # a worker of pytest-xdist measures nothing, nor does what it starts
    outside = {k: v for k, v in os.environ.items() if not k.startswith("PYTEST_")}
    words = [sys.executable, *words, "test_it.py"]
    done = subprocess.run(words, cwd=tmp_path, env=outside, capture_output=True)
    assert done.returncode == 0, done.stdout
    made = json.loads((tmp_path / "out.json").read_text())
    comparison = against(made, made)
    assert comparison.matched == 1
    assert comparison.timings[0].pace is Pace.SAME
    assert comparison.base.facts["cpu"]
