import os
from pathlib import Path

import pytest

from fwbench import names, verify
from fwbench.errors import InvalidParameter, UnknownName
from fwbench.theory.claim import Effort

MADE = Path(__file__).parents[1] / "made" / "squares_are_small.py"


@pytest.fixture
def copied(tmp_path):
    """Copy the made claim under another name, with changes."""

    def copy(name: str, bound: object = 100) -> str:
        text = MADE.read_text().replace('name="squares_are_small"', f"name={name!r}")
        text = text.replace("BOUND = 100", f"BOUND = {bound}")
        (tmp_path / f"{name}.py").write_text(text)
        return str(tmp_path / f"{name}.py")

    return copy


def test_all_claims_are_found_in_the_order_of_the_paper():
    found = verify.claims()
    assert {claim.name for claim in found} == set(names.files("claims"))
    places = [(claim.section, claim.source, claim.name) for claim in found]
    assert places == sorted(places)


def test_a_claim_asked_twice_is_one():
    assert [c.name for c in verify.claims(("theorem_3_1", "theorem_3_1"))] == ["theorem_3_1"]


def test_a_file_is_a_claim(copied):
    [told] = verify.verify((copied("mine", 50),), Effort())
    assert (told["name"], told["verdict"]) == ("mine", "broken")
    assert told["witness"] == "number 9: 81 >= 50"
    assert told["surprises"] == ["broken where holds is expected"]


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("theorem_3_2", "did you mean theorem_3_1"),
        ("nowhere.py", "no file nowhere.py"),
        ("frank_wolfe", "no claim is called"),
    ],
)
def test_unknown_names_are_said_before_anything_is_tried(name, said):
    with pytest.raises(UnknownName, match=said):
        next(verify.verify(("theorem_3_1", name), Effort()))


def test_a_file_must_end_with_a_claim_of_its_own_name(tmp_path, copied):
    other = tmp_path / "other.py"
    other.write_text(MADE.read_text())
    empty = tmp_path / "empty.py"
    empty.write_text("")
    for path in (other, empty):
        with pytest.raises(InvalidParameter, match=f"{path.name} must end with CLAIM"):
            verify.claims((str(path),))


def test_processes_tell_the_same_in_the_same_order(copied):
    files = tuple(copied(f"claim_{i}", 100 - 30 * (i % 2)) for i in range(verify.FEW + 1))
    one, two = (list(verify.verify(files, Effort(), jobs)) for jobs in (1, 2))
    assert [told["verdict"] for told in one] == ["holds", "broken"] * 3 + ["holds"]
    for told in (*one, *two):
        del told["seconds"]
    assert one == two


def test_processes_that_are_killed_cost_no_verdict(copied):
    killed = f"100\nimport os\nif os.getpid() != {os.getpid()}:\n    os._exit(9)"
    files = tuple(copied(f"claim_{i}", killed) for i in range(verify.FEW + 1))
    told = list(verify.verify(files, Effort(), 2))
    assert [one["verdict"] for one in told] == ["holds"] * len(files)


def test_processes_leave_a_ctrl_c_to_the_one_that_asked(copied):
    deaf = "100 if signal.SIGINT in signal.pthread_sigmask(signal.SIG_BLOCK, []) else 0"
    files = [copied(f"claim_{i}", f"100\nimport signal\nBOUND = {deaf}") for i in range(2)]
    assert [told["verdict"] for told in verify._beside(files, Effort(), 2)] == ["holds"] * 2
    assert [told["verdict"] for told in verify.verify(tuple(files), Effort())] == ["broken"] * 2


def test_who_has_seen_enough_need_not_wait(copied):
    for_ever = "100\nimport signal\nsignal.pause()"
    files = [copied(f"claim_{i}", for_ever if i else 100) for i in range(verify.FEW + 1)]
    verdicts = verify._beside(files, Effort(), 2)
    assert next(verdicts)["verdict"] == "holds"
    verdicts.close()


def test_a_record_names_the_file_and_what_it_says_first(copied):
    path = copied("mine")
    [told] = verify.verify((path,), Effort())
    assert (told["asked"], told["file"]) == (path, path)
    assert told["about"].startswith("Squares are small: a claim for tests")
    [found] = verify.written(("bound_while_origin_inside",))
    assert found.file == "fwbench/claims/bound_while_origin_inside.py"
    assert "Proof. Let a_t = J^t(x^{t+1}) of one token." in found.about


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_claim_that_exits_costs_no_other(copied, jobs):
    leave = (
        "100\n\nclass Gone:\n    def __gt__(self, other):\n        raise SystemExit(3)\n\n"
        "BOUND = Gone()"
    )
    files = [copied(f"claim_{i}", leave if i == 1 else 100) for i in range(verify.FEW + 1)]
    told = list(verify.verify(tuple(files), Effort(), jobs))
    assert [one["verdict"] for one in told] == ["holds", "inconclusive"] + ["holds"] * 5
    assert told[1]["error"].startswith("SystemExit: 3 (claim_1.py:")


def test_a_field_of_another_type_is_said_at_once(tmp_path):
    path = tmp_path / "squares_are_small.py"
    path.write_text(MADE.read_text().replace("standing=Standing.STATED", 'standing="stated"'))
    with pytest.raises(InvalidParameter, match=r"squares_are_small\.py: standing must be of type"):
        verify.claims((str(path),))
