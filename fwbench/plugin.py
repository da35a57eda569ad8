"""A pytest plugin: the fixture ``hull_benchmark`` checks gap and fixed point besides the time.

It is loaded in every session of an environment that has fwbench. So it imports nothing heavy, adds
no option and no marker, and leaves pytest-benchmark as it is: that one times, saves and compares,
by its own options, and may be turned off (``-p no:benchmark``) as this one (``-p no:fwbench``).
"""

from __future__ import annotations

import os
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from fwbench.endings import Budget
    from fwbench.expectations import Certified, Expected
    from fwbench.handed import Handed
    from fwbench.problem import QuadraticOverHull
    from fwbench.runner import Run
    from fwbench.solver import Solver

TIMES = "pytest_benchmark.plugin"
THREADS = 1  # of BLAS and numba, as in `fwbench run`


class HullBenchmark:
    """What the fixture ``hull_benchmark`` gives a test: runs a solver, checks it, lets it be timed.

    Parameters
    ----------
    item : pytest.Item
        The test.
    benchmark : object or None
        What the fixture of pytest-benchmark gave; None where it is turned off.
    """

    def __init__(self, item: pytest.Item, benchmark: Any) -> None:
        self._item, self._benchmark = item, benchmark
        self._called = self._counted = False

    def __call__(
        self,
        problem: QuadraticOverHull | str | os.PathLike[str],
        solver: Solver[Any, Any] | str | os.PathLike[str],
        *,
        tol: float = 1e-8,
        gap: float | None = None,
        max_steps: int = 10_000,
        max_seconds: float = 10.0,
        fixed_point: str | None = None,
        at: ArrayLike | None = None,
    ) -> Certified:
        """Run a solver on a problem, check how it ends, and let pytest-benchmark time it.

        Parameters
        ----------
        problem : QuadraticOverHull, str or path
            A text as on the command line, ``"min_norm_point[n=300,d=10]"``, or the object.
        solver : Solver, str or path
            Likewise, ``"my_solver.py[step=1]"``.
        tol : float
            The certified gap at which the run stops, of the problem's scale.
        gap : float, optional
            The largest certified gap at the end, of the scale; by default the tolerance.
            ``math.inf`` asks for none.
        max_steps : int
        max_seconds : float
            The limits of the run, as of ``fwbench run``.
        fixed_point : str, optional
            Where all queries are to rest: a class, or a class with its label as reports print it:
            ``"vertex"``, ``"vertex, atom 3"``, ``"face, dimension 2"``.
        at : array_like, shape (d,) or (m, d), optional
            Where the queries are to end, within 10⁻³ of the problem's radius.

        Returns
        -------
        Certified
            The run: ``status``, ``steps``, ``gap``, ``gap_relative``, ``value``, ``points``, ``x``,
            ``fixed_point``, ``trace``.

        Raises
        ------
        AssertionError
            The run did not end well, or not with that gap, or rests elsewhere.
        FwbenchError
            For a name or an argument that is wrong.
        """
        __tracebackhide__ = True
        from fwbench.errors import FwbenchError, InvalidParameter
        from fwbench.expectations import Expected

        try:
            if self._called:
                raise InvalidParameter(
                    "hull_benchmark was called twice in one test, and a test has one time; "
                    "parametrize it, or make it two tests"
                )
            self._called = True
            self._refuse_without_clock()
            expected = Expected(tol, gap, max_steps, max_seconds, fixed_point, at)
            return self._held(problem, solver, expected)
        except (FwbenchError, AssertionError) as error:
            raise error.with_traceback(None) from None
        finally:
            self._spare()

    def _held(self, problem: Any, solver: Any, expected: Expected) -> Certified:
        from fwbench.handed import handed
        from fwbench.rounds import collected_outside
        from fwbench.runner import run
        from fwbench.warm import limited_threads

        given = handed(problem, solver)
        with limited_threads(THREADS):
            with collected_outside():  # the runner may freeze what is there, and leaves it so
                done = run(given.problem, given.solver, given.entry, expected.budget)
            if done.traceback is not None:
                self._item.add_report_section("call", "traceback of the solver", done.traceback)
            moving = bool(getattr(given.solver, "moving", False))
            name = f"{given.label} on {given.instance}"
            held = expected.hold(done, given.problem, moving=moving, name=name)
            if self._benchmark is not None and not self._benchmark.disabled:
                self._time(given, expected.budget, done)
        return held

    def _time(self, given: Handed, budget: Budget, done: Run) -> None:
        """Let pytest-benchmark time the uninterrupted run, and give it the row to keep."""
        from fwbench import pytest_files, pytest_rows
        from fwbench.rounds import collected_outside, repeated

        rounds = repeated(given.problem, given.solver, given.entry, budget, done)
        kept = pytest_rows.row(given, budget, done, THREADS)
        before: list[Any] = []  # the state of the round before

        def setup() -> tuple[tuple[Any, Any, int], dict[str, Any]]:
            if before:
                rounds.refuse_other(before.pop())
            arguments = rounds.fresh()
            before.append(arguments[0][1])
            return arguments

        least, max_seconds = int(self._asked("min_rounds")), self._asked("max_time")
        self._counted = True
        with collected_outside():
            many = rounds.fitting(done.row["seconds"], least, max_seconds)
            self._benchmark.pedantic(rounds.solver.advance, setup=setup, rounds=many)
        kept["gemv_stretches"] = pytest_files.stretches(rounds.beside[:many])
        self._benchmark.extra_info[pytest_files.EXTRA] = kept

    def _asked(self, option: str) -> float:
        """Return an option of pytest-benchmark: the test's marker outweighs the command line."""
        marker = self._item.get_closest_marker("benchmark")
        if marker is not None and option in marker.kwargs:
            return float(marker.kwargs[option])
        return float(self._item.config.getoption(f"benchmark_{option}"))

    def _spare(self) -> None:
        """Take no time where none was taken: pytest-benchmark warns of a fixture left unused."""
        if self._benchmark is not None and not self._counted:
            self._counted = True
            self._benchmark.disabled = True
            self._benchmark.pedantic(lambda: None)

    def _refuse_without_clock(self) -> None:
        from fwbench.errors import MissingExtra

        if self._benchmark is None and find_spec("pytest_benchmark") is None:
            raise MissingExtra(
                "hull_benchmark lets pytest-benchmark measure the time, and that is not installed: "
                "pip install pytest-benchmark"
            )


class Timed:
    """The fixture where pytest-benchmark is at work: it depends on ``benchmark``."""

    @pytest.fixture
    def hull_benchmark(self, request: pytest.FixtureRequest, benchmark: Any) -> HullBenchmark:
        """Run a solver of fwbench, check gap and fixed point, and time it by pytest-benchmark."""
        return HullBenchmark(request.node, benchmark)


class Untimed:
    """The fixture where pytest-benchmark is turned off: gap and fixed point alone are checked."""

    @pytest.fixture
    def hull_benchmark(self, request: pytest.FixtureRequest) -> HullBenchmark:
        """Run a solver of fwbench and check gap and fixed point."""
        return HullBenchmark(request.node, None)


@pytest.hookimpl(trylast=True)
def pytest_configure(config: pytest.Config) -> None:
    """Register the fixture that fits: with ``benchmark`` among its own, or without."""
    plugins = config.pluginmanager
    times = any(getattr(one, "__name__", "") == TIMES for _, one in plugins.list_name_plugin())
    plugins.register(Timed() if times else Untimed(), "fwbench-fixture")
