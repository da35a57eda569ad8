"""What every claim owes, and that each one's verdict is the one its file expects."""

import ast
import json
import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from fwbench.names import files
from fwbench.report.claims import listed
from fwbench.theory.claim import Claim, Effort, Verdict, Verified
from fwbench.theory.verdicts import curves, record
from fwbench.verify import claims

ROOT = Path(__file__).resolve().parents[2]
NAMES = sorted(files("claims"))
LINES, POINTS = 6, 2000  # of a figure that people can read
LARGEST = 200  # lines of a claim's file


@pytest.fixture(params=NAMES)
def claim(request: pytest.FixtureRequest) -> Claim:
    [found] = claims((request.param,))
    return found


@pytest.fixture
def found(claim: Claim, verified_claim: Callable[[str], Verified]) -> Verified:
    return verified_claim(claim.name)


def test_a_verdict_is_the_one_that_the_file_expects(found: Verified) -> None:
    assert found.surprises == (), found.error


def test_a_claim_says_what_it_is(claim: Claim) -> None:
    for name in ("title", "statement", "formula", "quantity", "horizon", "arithmetic"):
        assert getattr(claim, name).strip(), name
    assert claim.section in (2, 3, 4, 5)
    assert re.search(r"arXiv 2508\.09628|this project", claim.source)
    assert claim.hypotheses
    assert all(claim.hypotheses)
    assert claim.remark or claim.standing not in ("false", "amended")


def test_a_witness_is_pinned_where_a_claim_is_to_break(claim: Claim) -> None:
    assert bool(claim.expects_witness) == (claim.expects is Verdict.BROKEN)


def test_a_pinned_witness_ends_where_a_part_of_it_ends(claim: Claim, found: Verified) -> None:
    """It is printed as it stands: a dangling half such as "t = " would say nothing."""
    assert re.match(r"$|;|:? not in ", found.witness[len(claim.expects_witness) :])


def test_a_file_begins_with_what_is_claimed(claim: Claim) -> None:
    source = files("claims")[claim.name].read_text(encoding="utf-8")
    assert ast.get_docstring(ast.parse(source))
    assert source.count("\n") <= LARGEST


def test_a_control_can_come_out_the_other_way(claim: Claim, found: Verified) -> None:
    """A check that cannot fail says nothing; one of a false claim must be able to pass."""
    assert found.controls
    assert any(control.expects is not claim.expects for control in found.controls)
    assert all(control.why for control in found.controls)


def test_what_was_tried_can_be_made_again(found: Verified) -> None:
    cases = [tried.case for tried in found.tried]
    assert cases
    assert len(cases) == len(set(cases))
    for tried in (*found.tried, *found.controls):
        if tried.outcome is None:
            assert tried.refused
            continue
        assert tried.outcome.horizon
        assert bool(tried.outcome.witness) == (tried.outcome.verdict is Verdict.BROKEN)
        assert not re.search(r"\b1 steps|None", f"{tried.outcome.horizon} {tried.outcome.numbers}")
        assert "'" not in tried.case.replace("LL'", "")


def test_a_record_is_strict_json_and_its_figure_can_be_read(found: Verified) -> None:
    told = json.loads(json.dumps(record(found), allow_nan=False))
    assert told["as_expected"]
    if (drawn := curves(told)) is None:
        return
    assert 1 <= len(drawn.lines) <= LINES
    for line in drawn.lines:
        assert line.x.shape == line.y.shape
        assert 1 <= len(line.x) <= POINTS
        assert np.isfinite(line.y).any()


def test_a_claim_has_the_same_cases_each_time(claim: Claim) -> None:
    first, again = ([case.name for case in claim.cases(Effort())] for _ in range(2))
    assert first == again


# -- what the documents say of them ----------------------------------------------------------


def test_the_page_of_claims_lists_them_all():
    page = (ROOT / "docs" / "claims.md").read_text(encoding="utf-8")
    shown = page.split("## All claims\n\n")[1].strip()
    assert shown.splitlines() == listed(claims()).splitlines()


def test_documents_name_only_claims_that_exist():
    page = (ROOT / "docs" / "mathematics.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `(\w+)`((?:, `\w+`)*) \|", page.split("## Claims")[1], re.M)
    assert len(rows) > 10
    named = {name for first, more in rows for name in [first, *re.findall(r"`(\w+)`", more)]}
    assert named == set(NAMES)


README = [
    [cell.strip() for cell in line.strip("|").split("|")]
    for line in (ROOT / "README.md").read_text(encoding="utf-8").splitlines()
    if re.match(r"\| [^|]* \| `\w+` \| (holds|broken|vacuous) \|", line)
]


@pytest.mark.parametrize("row", README, ids=[row[1].strip("`") for row in README])
def test_the_readme_says_what_was_found(
    row: list[str], verified_claim: Callable[[str], Verified]
) -> None:
    found = verified_claim(row[1].strip("`"))
    assert row[2] == str(found.verdict)
    told = record(found)
    known = json.dumps([told["tried"], told["remark"]], ensure_ascii=False)
    numbers = re.findall(r"\d+(?:[./]\d+)?", row[3])
    assert [number for number in numbers if number not in known] == []


def test_the_readme_has_a_table_of_claims():
    assert len(README) == 12
