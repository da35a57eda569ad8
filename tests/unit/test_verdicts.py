import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from fwbench.theory.claim import Claim, Effort, Outcome, Verdict, Verified
from fwbench.theory.trials import verified
from fwbench.theory.verdicts import curves, document, record, without_curves
from fwbench.verify import claims

MADE = str(Path(__file__).parents[1] / "made" / "squares_are_small.py")


@pytest.fixture(scope="module")
def claim() -> Claim:
    [found] = claims((MADE,))
    return found


@pytest.fixture(scope="module")
def found(claim: Claim) -> Verified:
    return verified(claim, Effort())


def test_a_record_says_all_that_is_known(found):
    told = record(found)
    assert (told["name"], told["section"], told["standing"]) == ("squares_are_small", 2, "stated")
    assert (told["verdict"], told["expects"], told["as_expected"]) == ("holds", "holds", True)
    assert (told["witness"], told["error"], told["surprises"]) == ("", "", [])
    assert told["hypotheses"] == ["x ≥ 0"]
    refused, first, second = told["tried"]
    assert refused == {
        "case": "number -1", "refused": "it is negative", "verdict": None, "horizon": None,
        "witness": "", "numbers": {},
    }  # fmt: skip
    assert (first["case"], first["refused"], first["verdict"]) == ("number 4", None, "holds")
    assert second["numbers"] == {"square": "81", "root": "9"}
    [control] = told["controls"]
    assert (control["expects"], control["verdict"]) == ("broken", "broken")
    assert control["why"] == "it is large"
    assert told["numbers"] == {"square": "16", "root": "4"}


def test_numbers_are_those_of_a_case_with_the_verdict(found):
    """Not of one about which the bound says nothing, though it comes first."""
    refused, first, second = found.tried
    silent = replace(first, outcome=replace(first.outcome, verdict=Verdict.VACUOUS))
    told = record(replace(found, tried=(refused, silent, second)))
    assert (told["verdict"], told["numbers"]) == ("holds", {"square": "81", "root": "9"})
    told = record(replace(found, tried=(refused, silent), verdict=Verdict.INCONCLUSIVE))
    assert told["numbers"] == {"square": "16", "root": "4"}


def test_a_record_is_strict_json_and_reads_back_alike(found):
    told = record(found)
    text = json.dumps(told, allow_nan=False)
    assert json.loads(text) == told
    [line] = told["curves"]["lines"]
    assert line["y"] == [1.0, None, 16.0]


def test_curves_come_back_to_the_bit(found):
    before, after = found.curves, curves(json.loads(json.dumps(record(found))))
    for name in ("title", "x_label", "y_label", "log_x", "log_y", "marks", "note"):
        assert getattr(after, name) == getattr(before, name)
    for old, new in zip(before.lines, after.lines, strict=True):
        assert (new.label, new.bound) == (old.label, old.bound)
        np.testing.assert_array_equal(new.x, old.x)
        np.testing.assert_array_equal(new.y, old.y)
        assert new.y.dtype == np.float64


def test_numbers_without_a_place_are_null(found):
    line = replace(found.curves.lines[0], y=np.array([np.inf, -np.inf, 1 / 3]))
    outcome = Outcome(Verdict.HOLDS, "1 step", curves=replace(found.curves, lines=(line,)))
    told = record(replace(found, tried=(replace(found.tried[1], outcome=outcome),)))
    assert told["curves"]["lines"][0]["y"] == [None, None, 1 / 3]
    assert told["numbers"] == {}


def test_the_numbers_are_those_of_the_first_case_that_broke(claim):
    def check(case, effort):
        outcome = claim.check(case, effort)
        broken = case["number"] == 9
        return replace(outcome, verdict=Verdict.BROKEN, witness="w") if broken else outcome

    told = record(verified(replace(claim, check=check), Effort()))
    assert told["witness"] == "number 9: w"
    assert told["numbers"] == {"square": "81", "root": "9"}
    assert told["surprises"] == ["broken where holds is expected"]


def test_a_check_that_fails_is_told_with_its_traceback(claim):
    def check(case, effort):
        raise ZeroDivisionError("no such number")

    told = record(verified(replace(claim, check=check), Effort()))
    assert told["verdict"] == "inconclusive"
    assert not told["as_expected"]
    assert told["error"].startswith("ZeroDivisionError: no such number (test_verdicts.py:")
    assert "in check: raise ZeroDivisionError" in told["trace"]
    assert told["surprises"] == [f"the check failed: {told['error']}"]
    assert told["curves"] is None


def test_a_document_counts_and_can_be_shortened(found):
    told = record(found)
    made = document([told], long=True, seconds=1.5, interrupted=True)
    assert {key: made[key] for key in ("schema", "effort", "seconds", "interrupted")} == {
        "schema": 1, "effort": "long", "seconds": 1.5, "interrupted": True
    }  # fmt: skip
    short = without_curves(made)
    assert "curves" not in short["claims"][0]
    assert short["claims"][0] == {k: v for k, v in told.items() if k != "curves"}
    assert "curves" in made["claims"][0]


def test_the_number_that_tells_most_comes_first_with_its_case(claim):
    told = record(verified(replace(claim, telling="root"), Effort()))
    assert list(told["numbers"].items()) == [("root", "9"), ("square", "81")]
    assert told["numbers_of"] == "number 9"
    assert record(verified(claim, Effort()))["numbers_of"] == "number 4"


def test_a_record_names_file_and_proof(found):
    told = record(found, asked="my/claim.py", file="my/claim.py", about="Proof: none.")
    assert (told["asked"], told["file"], told["about"]) == (
        "my/claim.py", "my/claim.py", "Proof: none."
    )  # fmt: skip
    assert record(found)["asked"] == "squares_are_small"
