"""Which run comes next on which machine."""

from fwbench.execution.tasks import Assignment
from fwbench.execution.waiting import Line
from fwbench.planning import Question, plan

WORKERS = {"a1": "a", "a2": "a", "b1": "b"}


def assignments(*sizes, repeat=2):
    problems = tuple(f"min_norm_point[n={size},d=2]" for size in sizes)
    question = Question(problems=problems, solvers=("pairwise",), repeat=repeat)
    return [Assignment(task) for task in plan(question)[0]]


def size(waiting):
    return waiting and int(waiting.assignment.task.instance.partition("n=")[2].partition(",")[0])


def given(line, *workers, there=WORKERS):
    return [size(line.next(worker, there[worker], there)) for worker in workers]


def test_runs_on_one_instance_stay_on_one_machine():
    line = Line(assignments(3, 4, 5), {})
    assert given(line, "a1", "b1", "a2") == [3, 4, 3]
    assert given(line, "a1", "b1", "a2", "b1") == [5, 4, 5, None]
    assert line.over


def test_where_an_instance_was_run_before_is_remembered():
    line = Line(assignments(3, 4), {assignments(3)[0].task.instance: "b"})
    assert given(line, "a1", "b1", "b1", "a1") == [4, 3, 3, 4]


def test_a_machine_that_has_left_keeps_nothing():
    line = Line(assignments(3, repeat=3), {})
    assert given(line, "b1", "a1") == [3, None]
    there = {"a1": "a"}
    assert given(line, "a1", "a1", "a1", there=there) == [3, 3, None]


def test_a_run_is_made_again_first_and_anywhere_but_there():
    line = Line(assignments(3, 4, repeat=1), {})
    lost = line.next("a1", "a", WORKERS)
    lost.failures.append(("a1", "lost"))
    line.again(lost)
    assert not line.over
    assert given(line, "a1") == [4]
    assert given(line, "b1") == [3]
    assert given(line, "a1") == [None]
    assert line.over


def test_where_nobody_else_is_left_it_is_made_there():
    line = Line(assignments(3, repeat=1), {})
    lost = line.next("a1", "a", WORKERS)
    lost.failures.append(("a1", "no room"))
    line.again(lost)
    assert given(line, "a1", there={"a1": "a"}) == [3]


def test_the_next_is_asked_for_when_a_worker_is_free():
    asked = []

    def one_by_one():
        for assignment in assignments(3):
            asked.append(assignment)
            yield assignment

    line = Line(one_by_one(), {})
    assert asked == []
    given(line, "a1")
    assert len(asked) == 1
