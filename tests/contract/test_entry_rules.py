"""What `fwbench check` says of an ENTRY and of parameters: a file with one slip each."""

import re

import pytest

from fwbench.cli.new import write
from fwbench.contract.cases import Subject
from fwbench.contract.child import rules
from fwbench.contract.rule import Finding, Standing, tried


def found(path, rule):
    subject = Subject(str(path))
    [asked] = [known for known in rules(subject) if known.name == rule]
    return tried(asked, subject)


def edited(path, old, new):
    text = path.read_text(encoding="utf-8")
    assert text.count(old) == 1
    path.write_text(text.replace(old, new), encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("rule", "old", "new", "said"),
    [
        ("entry", "@dataclass(frozen=True)", "@dataclass", r"@dataclass\(frozen=True\) for Own"),
        ("entry", "def advance", "def go_on", "none called advance"),
        ("entry", 'law="sub', 'kinds={"convex"}, law="sub', "kinds to be a frozenset of Kind"),
        ("entry", 'law="sub', 'promise=2.0, law="sub', r"promise to be a relative gap in \(0, 1\]"),
        ("entry", 'law="sub', 'needs=frozenset({"x"}), law="sub', "needs to be.*leaves the hull"),
        ("entry", 'law="sub', 'queries="all", law="sub', "queries to be Queries.ONE, MANY or ANY"),
        ("entry", 'law="sub', 'grid=[{}], law="sub', "grid to be a tuple of dicts"),
        ("entry", 'label="a few words for people"', 'label=""', "label to be text, not empty"),
        ("parameters", "l: float = 2.0", "l: int = 2.5", "must be an integer"),
        ("parameters", "l: float = 2.0", "l: list[float] = 2.0", "declare int, float, bool"),
        ("parameters", "l: float = 2.0", 'l: str = 2.0', "default of l to be str.*got 2.0"),
        ("text", 'law="sub', 'grid=({"m": 1.0},), law="sub', "parameters, which are l; got m"),
        ("text", 'law="sub', 'grid=({}, {"l": 2.0}), law="sub', "variants that differ; got own"),
        ("runs", 'law="sub', 'grid=({"l": "many"},), law="sub', "every variant .* got own: l must"),
    ],
)  # fmt: skip
def test_each_slip_of_an_entry_is_named(tmp_path, rule, old, new, said):
    path = tmp_path / "own.py"
    write("solver", "own", path)
    one = found(edited(path, old, new), rule)
    assert one.standing is Standing.FAILED, one
    assert re.search(said, one.sentence), one.sentence


def test_a_solver_that_remembers_problems_is_named(tmp_path):
    path = tmp_path / "own.py"
    write("solver", "own", path)
    edited(path, "    def prepare(", "    seen = []\n\n    def prepare(")
    edited(
        path,
        "        return problem\n",
        "        self.seen.append(problem.kind)\n        return problem\n",
    )
    edited(path, "step = self.l / (t + self.l)", "step = self.l / (t + self.l + len(self.seen))")
    one = found(path, "stateless")
    assert one.standing is Standing.FAILED
    assert "after a run on another problem" in one.sentence
    assert "of the class or the module" in one.slip


def test_parameters_that_nobody_explains_are_a_warning(tmp_path):
    path = tmp_path / "own.py"
    write("solver", "own", path)
    edited(
        path,
        "    l : float\n        In the step l/(t + l); the first",
        "    x : float\n        The",
    )
    edited(path, "    l: float = 2.0", "    ell: float = 2.0")
    one = found(path, "docstring")
    assert one.standing is Standing.WARNING
    assert "nothing of ell" in one.sentence


def test_parameters_without_a_default_are_asked_for(tmp_path):
    path = tmp_path / "own.py"
    write("problem", "own", path)
    edited(path, "    n: int = 50,\n", "    n: int,\n")
    one = found(path, "builds")
    assert one.standing is Standing.SKIPPED
    assert one.came == f"n must be given: check {path}[n=…]"


def test_a_finding_survives_json():
    one = Finding("hull", "it holds", Standing.FAILED, "here", "1", "2", "a slip")
    assert Finding.read(one.as_dict()) == one
    assert one.sentence == "here: expected 1; got 2. Likely: a slip."
