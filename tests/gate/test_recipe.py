"""The recipe for other people's CI: the shell steps of the action, run one by one."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import click
import pytest
import yaml

from fwbench.cli import fwbench as program
from tests.cli.made_regressions import AWAY, NEVER_DROPS, edited

from .made_copies import git, init
from .made_runner import ACTION, OWN, ROOT, Runner, action

PAGE = ROOT / "docs" / "gate.md"
BLOCK = re.compile(r"^```yaml\n(.*?)^```$", re.M | re.S)
MARKER = "<!-- fwbench gate: gate -->"
WORSE = "**fwbench: worse**; of 2 comparisons 1 worse\n"


@pytest.fixture(scope="module")
def origin(tmp_path_factory) -> Path:
    """Return a repository with three commits on main, and one on a branch."""
    folder = init(tmp_path_factory.mktemp("origin"))
    git(folder, "config", "uploadpack.allowAnySHA1InWant", "true")  # as GitHub does
    for text in "abc":
        (folder / "solver.py").write_text(text)
        git(folder, "add", ".")
        git(folder, "commit", "-qm", text)
    git(folder, "checkout", "-qb", "change")
    (folder / "solver.py").write_text("d")
    git(folder, "commit", "-qam", "d")
    return folder


@pytest.fixture
def runner(origin, tmp_path) -> Runner:
    """Return a machine that has checked out the change, and nothing else."""
    checkout = tmp_path / "checkout"
    git(tmp_path, "clone", "-q", "--depth=1", "--branch=change", origin.as_uri(), checkout)
    return Runner(tmp_path, checkout)


@pytest.fixture
def event(origin) -> dict[str, str]:
    return {"base": git(origin, "rev-parse", "main"), "head": git(origin, "rev-parse", "change")}


# -- verdicts ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("code", "strictly", "ends", "outcome", "annotation"),
    [
        (0, "false", 0, "well", None),
        (1, "false", 1, "worse", "::error title=fwbench gate::Something is worse"),
        (3, "false", 0, "inconclusive", "::warning title=fwbench gate::Inconclusive"),
        (3, "true", 3, "inconclusive", "::error title=fwbench gate::Inconclusive"),
    ],
)
def test_a_job_ends_as_the_gate_does(runner, event, code, strictly, ends, outcome, annotation):
    runner.says(code, WORSE)
    ended = runner.run({"fail-on-inconclusive": strictly}, event)
    assert ended.code == ends, ended.log
    assert ended.step == ("Verdict" if ends else None)
    assert (ended.outputs["outcome"], ended.outputs["code"]) == (outcome, str(code))
    assert ended.summary == Path(ended.outputs["table"]).read_text() == WORSE
    said = [line for line in ended.log.splitlines() if line.startswith("::")]
    assert len(said) == (annotation is not None)
    assert all(line.startswith(annotation) for line in said)


@pytest.mark.parametrize(("code", "ends"), [(2, 2), (130, 130), (0, 2), (1, 1)])
def test_a_gate_without_a_table_has_compared_nothing(runner, event, code, ends):
    runner.says(code, "")
    ended = runner.run({}, event)
    assert (ended.code, ended.step, ended.outputs["outcome"]) == (ends, "Verdict", "failed")
    [comment] = runner.comments  # that it failed is what the pull request shows
    assert f"nothing was compared**; the gate ended with {code}" in comment["body"]
    assert "::error title=fwbench gate::Nothing was compared" in ended.log


# -- the comment -------------------------------------------------------------------------------


def test_one_comment_is_written_and_then_edited(runner, event):
    runner.says(1, WORSE)
    runner.run({}, event)
    [comment] = runner.comments
    marker, table, _, last = comment["body"].splitlines()
    assert (marker, f"{table}\n") == (MARKER, WORSE)
    assert f"{event['head'][:12]} against {event['base'][:12]}" in last
    assert "(https://made.example/octo/solvers/actions/runs/12)" in last
    runner.says(0, "**fwbench: the same**\n")
    runner.run({}, event)
    [again] = runner.comments
    assert again["databaseId"] == comment["databaseId"]
    assert "the same" in again["body"]
    assert "worse" not in again["body"]


def test_only_the_last_of_ones_own_comments_is_edited(runner, event):
    bodies = [
        (False, f"{MARKER}\nof somebody else"),
        (True, "of another program"),
        (True, f"{MARKER}\nthe first"),
        (True, "<!-- fwbench gate: gate on Windows -->\nof another gate"),
        (True, f"{MARKER}\nthe last"),
        (False, f"{MARKER}\nof somebody else, later"),
    ]
    before = [
        {"databaseId": number, "viewerDidAuthor": own, "body": body}
        for number, (own, body) in enumerate(bodies)
    ]
    runner.comments = before
    runner.run({}, event)
    changed = [one for one in runner.comments if one not in before]
    assert [one["databaseId"] for one in changed] == [4]
    assert len(runner.comments) == len(before)


def test_gates_of_two_names_keep_two_comments(runner, event):
    for name in ("gate", "timings", "a-->b", "gate"):
        runner.run({"name": name}, event)
    heads = [one["body"].splitlines()[0] for one in runner.comments]
    assert heads == [MARKER, "<!-- fwbench gate: timings -->", "<!-- fwbench gate: a___b -->"]


@pytest.mark.parametrize(("code", "ends"), [(0, 0), (1, 1)])
def test_a_fork_may_not_comment_and_the_job_goes_on(runner, event, code, ends):
    (runner.commands / "read only").touch()
    runner.says(code, WORSE)
    ended = runner.run({}, event)
    assert ended.code == ends
    assert "::warning title=fwbench gate::The comment could not be written" in ended.log
    assert runner.comments == []
    assert ended.summary == WORSE


def test_no_comment_where_nobody_wants_one_or_there_is_no_pull_request(runner, event):
    ended = runner.run({"comment": "false"}, event)
    assert ended.ran == ["Install", "Fetch the base", "Gate", "Summary", "Verdict"]
    ended = runner.run({"base": "main"}, {})
    assert ended.code == 0, ended.log
    assert "Comment" not in ended.ran
    assert runner.said_to("gh") == []


def test_a_comment_is_cut_where_github_would_refuse_it(runner, event):
    row = f"| {'x' * 90} |\n"
    runner.says(1, f"{WORSE}\n<details><summary>All</summary>\n\n{row * 1000}\n</details>\n")
    ended = runner.run({}, event)
    [comment] = runner.comments
    assert 50_000 < len(comment["body"].encode()) < 65_536
    assert comment["body"].count("<details>") == comment["body"].count("</details>") == 1
    assert "the rest stands in the summary" in comment["body"].split("</details>")[1]
    assert ended.summary.count(row) == 1000


def test_the_filter_of_comments_is_what_the_fake_takes_it_for():
    """The fake gh picks out comments by itself: jq, which gh has inside, agrees."""
    if shutil.which("jq") is None:
        pytest.skip("jq is not installed")
    nodes = [
        {"databaseId": number, "viewerDidAuthor": own, "body": body}
        for number, (own, body) in enumerate(
            [(True, f"{MARKER}\na"), (False, f"{MARKER}\nb"), (True, f"c {MARKER}"), (True, "")]
        )
    ]
    page = {"data": {"repository": {"pullRequest": {"comments": {"nodes": nodes}}}}}
    done = subprocess.run(
        ["jq", OWN], env=os.environ | {"GATE_MARKER": MARKER}, input=json.dumps(page),
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert done.stdout.split() == ["0"]


# -- the base ----------------------------------------------------------------------------------


def test_of_a_shallow_checkout_the_base_alone_is_fetched(runner, event):
    ended = runner.run({}, event)
    assert ended.code == 0, ended.log
    assert runner.said_to("fwbench")[0][:3] == ["gate", "--base", event["base"]]
    assert git(runner.checkout, "show", f"{event['base']}:solver.py") == "c"
    assert git(runner.checkout, "rev-list", "--all", "--count", "FETCH_HEAD") == "2"


def test_the_base_may_be_a_branch(runner, event):
    runner.run({"base": "main"}, {})
    assert runner.said_to("fwbench")[0][2] == event["base"]


def test_a_whole_clone_keeps_its_history(runner, origin, tmp_path):
    checkout = tmp_path / "whole"
    git(tmp_path, "clone", "-q", "--single-branch", "--branch=main", origin.as_uri(), checkout)
    there = Runner(_made(tmp_path / "other"), checkout)
    assert there.run({"base": "change"}, {}).code == 0
    assert git(checkout, "rev-parse", "--is-shallow-repository") == "false"
    assert git(checkout, "rev-list", "--count", "FETCH_HEAD") == "4"
    there.run({"base": "HEAD~1"}, {})
    assert there.said_to("fwbench")[1][2] == "HEAD~1"  # known here: handed on as it is


def _made(folder: Path) -> Path:
    folder.mkdir()
    return folder


def test_wheels_and_interpreters_are_no_revisions(runner):
    environment = runner.checkout / "venv" / "bin"
    environment.mkdir(parents=True)
    shutil.copy(runner.commands / "python", environment)
    for base in ("old.whl", "venv", "venv/bin/python"):
        ended = runner.run({"base": base}, {})
        assert ended.code == 0, ended.log
        assert runner.said_to("fwbench")[-1][2] == base


@pytest.mark.parametrize("base", ["", "-x", "--upload-pack=touch x", "a\nb=c"])
def test_a_base_that_is_none_is_refused(runner, base):
    ended = runner.run({"base": base}, {})
    assert (ended.code, ended.step) == (2, "Fetch the base")
    assert "::error title=fwbench gate::" in ended.log


def test_an_unknown_base_fails(runner):
    ended = runner.run({"base": "nowhere"}, {})
    assert (ended.code, ended.step) == (128, "Fetch the base")


# -- what is typed -----------------------------------------------------------------------------

HOSTILE = """
  polygon[k=5,norms=vary]
$(touch hit) `touch hit`; touch hit #

"quoted' *.py \\n ${IFS}
--not-an-option
"""


def test_inputs_are_words_and_never_program_text(runner, event):
    given = {"problems": HOSTILE, "solvers": "away_steps", "name": "$(touch hit)", "only": ""}
    given |= {"options": "--max-steps\n100\n--strict\n", "seconds": "60", "suite": "$(touch hit)"}
    ended = runner.run(given, event | {"head": "$(touch hit)`touch hit`"})
    assert ended.code == 0, ended.log
    [words] = runner.said_to("fwbench")
    assert words == [
        "gate", "--base", event["base"], "--markdown", ended.outputs["table"],
        "-p", "polygon[k=5,norms=vary]",
        "-p", "$(touch hit) `touch hit`; touch hit #",
        "-p", "\"quoted' *.py \\n ${IFS}",
        "-p", "--not-an-option",
        "-s", "away_steps",
        "--max-steps", "100", "--strict",
        "--seconds", "60",
        "--", "$(touch hit)",
    ]  # fmt: skip
    assert not list(runner.room.rglob("hit"))
    [comment] = runner.comments
    assert "`touch hit`" not in comment["body"].splitlines()[0]


def test_no_expression_stands_in_a_program():
    for step in action()["runs"]["steps"]:
        assert "${{" not in step.get("run", "")


def test_the_words_are_those_of_the_command(runner, event):
    given = {"problems": "polygon[k=5]\ndigits", "solvers": "away_steps", "seconds": "60"}
    runner.run(given | {"options": "--max-steps\n100"}, event)
    runner.run({"suite": "quick", "only": ""}, event)
    first, second = (understood(words) for words in runner.said_to("fwbench"))
    assert first["base"] == second["base"] == event["base"]
    assert (first["only"], second["only"]) == ("exact", None)
    assert first["problems"] == ("polygon[k=5]", "digits")
    assert (first["suite"], second["suite"]) == (None, "quick")
    assert (first["seconds"], first["max_steps"]) == (60.0, 100)


def understood(words: list[str]) -> dict:
    """Return what the real command line makes of some words; it runs nothing."""
    command = program.get_command(click.Context(program), words[0])
    return command.make_context(words[0], words[1:]).params


def test_install(runner, event):
    runner.run({}, event)
    [line] = (runner.commands / "python.log").read_text().splitlines()
    assert line == f"-m pip install --disable-pip-version-check {ACTION.parent}/../../.."
    assert (Path(line.split()[-1]) / "pyproject.toml").samefile(ROOT / "pyproject.toml")
    ended = runner.run({"install": 'echo "$GATE_FWBENCH" > said && false | cat'}, event)
    assert (ended.code, ended.step) == (1, "Install")
    assert (runner.checkout / "said").read_text().strip() == line.split()[-1]


# -- the page ----------------------------------------------------------------------------------


def workflows() -> list[dict]:
    return [yaml.safe_load(text) for text in BLOCK.findall(PAGE.read_text(encoding="utf-8"))]


def steps() -> list[dict]:
    return [
        step
        for made in workflows()
        for job in made.get("jobs", {}).values()
        for step in job["steps"]
    ]


def test_the_workflows_of_the_page_use_what_the_action_has():
    uses = [step for step in steps() if "/actions/gate@" in step.get("uses", "")]
    assert uses
    for step in uses:
        assert set(step.get("with", {})) <= set(action()["inputs"])
    comments = [
        made for made in workflows() if "pull_request" in made.get(True, made.get("on", ()))
    ]
    assert comments
    for made in comments:  # YAML reads the word `on` as true
        assert made["permissions"] == {"contents": "read", "pull-requests": "write"}


def test_the_page_lists_all_inputs_and_outputs():
    page = PAGE.read_text(encoding="utf-8")
    rows = dict(re.findall(r"^\| `([\w-]+)` \| (`[^|]*`|–|empty) \|", page, re.M))
    for name, given in action()["inputs"].items():
        if name != "token":
            default = given["default"]
            assert rows.pop(name) == (f"`{default}`" if default else "empty"), name
    assert set(rows) == set(action()["outputs"])


def test_the_commands_of_the_nightly_workflow_are_understood(tmp_path):
    """They end as fwbench does, which is a fake; the real command line takes its words."""
    room = Runner(tmp_path, tmp_path)
    room.says(1, WORSE)
    summary = tmp_path / "summary.md"
    for step in steps():
        if "fwbench " in step.get("run", ""):
            done = subprocess.run(
                ["bash", "-eo", "pipefail", "-c", step["run"]],
                cwd=tmp_path, capture_output=True, text=True, check=False,
                env={
                    "PATH": f"{room.commands}{os.pathsep}{os.environ['PATH']}",
                    "GITHUB_RUN_ID": "12", "GITHUB_RUN_ATTEMPT": "1",
                    "GITHUB_STEP_SUMMARY": str(summary),
                },
            )  # fmt: skip
            assert (done.stderr, done.returncode) == ("", 1), done
    said = {words[0]: understood(words) for words in room.said_to("fwbench")}
    assert set(said) == {"run", "compare", "history"}
    assert said["run"]["out"] == said["compare"]["results"][0]
    assert said["run"]["out"].parent == said["history"]["folder"]
    assert said["compare"]["baseline"]
    assert summary.read_text() == WORSE


# -- for real ----------------------------------------------------------------------------------


@pytest.mark.slow  # builds and runs both sides
def test_with_the_real_fwbench(tmp_path):
    """A pull request that makes a solver forget to drop, then one that mends it."""
    home = init(_made(tmp_path / "origin"))
    git(home, "config", "uploadpack.allowAnySHA1InWant", "true")
    (home / "away.py").write_text(AWAY)
    git(home, "add", ".")
    git(home, "commit", "-qm", "a")
    event = {"base": git(home, "rev-parse", "HEAD"), "head": "0123456789abcdef"}
    (home / "away.py").write_text(edited(AWAY, *NEVER_DROPS))
    git(home, "commit", "-qam", "b")
    git(tmp_path, "clone", "-q", "--depth=1", home.as_uri(), tmp_path / "checkout")
    runner = Runner(_made(tmp_path / "machine"), tmp_path / "checkout")
    (runner.commands / "fwbench").unlink()
    (runner.commands / "fwbench").symlink_to(Path(sys.executable).with_name("fwbench"))
    given = {"problems": "min_norm_point[n=30,d=4,shift=1]", "solvers": "away.py"}
    ended = runner.run(given | {"options": "--max-steps\n300"}, event)
    assert (ended.code, ended.outputs["outcome"]) == (1, "worse"), ended.log
    [comment] = runner.comments
    assert comment["body"].startswith(f"{MARKER}\n**fwbench: worse**")
    assert "| `away` | `min_norm_point[n=30,d=4,shift=1]` | status |" in comment["body"]
    assert ended.summary in comment["body"]
    (runner.checkout / "away.py").write_text(AWAY)
    ended = runner.run(given, event)
    assert (ended.code, ended.outputs["outcome"]) == (0, "well"), ended.log
    [comment] = runner.comments
    assert comment["body"].startswith(f"{MARKER}\n**fwbench: the same**")
