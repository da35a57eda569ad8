import pytest

from fwbench import catalog
from fwbench.planning import Question, plan
from fwbench.problem import QuadraticOverHull
from fwbench.suite import FOLDER


@pytest.fixture(scope="module")
def planned():
    """The texts of all distinct instances and solvers of the built-in suites, and who asks."""
    problems, solvers = {}, {}
    for path in sorted(FOLDER.glob("*.toml")):
        tasks, described = plan(Question(path.stem))
        assert tasks
        assert described["suite"] == path.stem
        for task in tasks:
            problems.setdefault(task.problem, path.stem)
            solvers.setdefault(task.solver, path.stem)
    return problems, solvers


def unmade(texts, group, build, kind=object):
    failed = {}
    for text, suite in texts.items():
        [choice] = catalog.choices(group, text)
        try:
            assert isinstance(build(choice), kind)
        except Exception as error:
            failed[f"{suite}: {text}"] = repr(error)
    return failed


def test_every_instance_of_a_built_in_suite_is_built(planned):
    assert unmade(planned[0], "problems", catalog.build_problem, QuadraticOverHull) == {}


def test_every_solver_of_a_built_in_suite_is_made(planned):
    assert unmade(planned[1], "solvers", catalog.build_solver) == {}
