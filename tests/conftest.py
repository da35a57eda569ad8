"""What all tests share: a cheap collector of garbage, runs timed once, and what tests tell.

What they tell besides whether they pass is printed at the end, from other processes too.
"""

import gc

import pytest
from hypothesis import HealthCheck, settings

TOLD = "told"  # name of the property that a test records

# A slow machine is no failure.
settings.register_profile("unhurried", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("unhurried")


def pytest_collection_finish(session):
    # A run collects garbage before it is timed, and would walk through thousands of tests.
    gc.collect()
    gc.freeze()


@pytest.fixture(autouse=True, scope="module")
def frozen():
    """Freeze the tests anew where the module before had runs in this process, which thaw all."""
    if not gc.get_freeze_count():
        gc.freeze()


@pytest.fixture(scope="module")
def untimed():
    """Time each run once: for tests in which nothing depends on a clock."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("fwbench.timing.REPEATS_SECONDS", 0.0)
        yield


def pytest_terminal_summary(terminalreporter):
    for report in terminalreporter.getreports("passed"):
        for name, text in report.user_properties:
            if name == TOLD:
                terminalreporter.section(report.nodeid)
                terminalreporter.write_line(text)
