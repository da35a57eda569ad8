"""A made runner of GitHub Actions: it takes the steps of a composite action one by one.

Only what the action uses is here: `env:`, `if:`, outputs, the summary, and a `gh` that keeps
comments in a file.
"""

import json
import os
import re
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).resolve().parents[2]
ACTION = ROOT / ".github" / "actions" / "gate" / "action.yml"
EXPRESSION = re.compile(r"\$\{\{\s*(.*?)\s*\}\}")
# What the fake gh takes `--jq` for; a test holds it against jq itself.
OWN = (
    ".data.repository.pullRequest.comments.nodes[] "
    "| select(.viewerDidAuthor and (.body | startswith(env.GATE_MARKER))) | .databaseId"
)
FWBENCH = """#!{python} -S
import json, pathlib, sys
here = pathlib.Path(__file__).parent
with (here / "fwbench.log").open("a") as log:
    log.write(json.dumps(sys.argv[1:]) + "\\n")
code, table = json.loads((here / "says.json").read_text())
if table and "--markdown" in sys.argv:
    pathlib.Path(sys.argv[sys.argv.index("--markdown") + 1]).write_text(table, encoding="utf-8")
sys.exit(code)
"""
GH = """#!{python} -S
import json, os, pathlib, sys
here, words = pathlib.Path(__file__).parent, sys.argv[1:]
kept = here / "comments.json"
comments = json.loads(kept.read_text())
assert os.environ["GH_TOKEN"] == "made token"
with (here / "gh.log").open("a") as log:
    log.write(json.dumps(words) + "\\n")
if "graphql" in words:
    assert words[:3] == ["api", "graphql", "--paginate"]
    assert " ".join(words[words.index("--jq") + 1].split()) == {own!r}
    assert all(name in " ".join(words) for name in ("owner=octo", "name=solvers", "number=7"))
    for one in comments:
        if one["viewerDidAuthor"] and one["body"].startswith(os.environ["GATE_MARKER"]):
            print(one["databaseId"])
    sys.exit()
if (here / "read only").exists():
    sys.exit("gh: Resource not accessible by integration (HTTP 403)")
api, silent, _, method, path, _, body = words
name, _, file = body.partition("=@")
assert (api, silent, name) == ("api", "--silent", "body")
text = pathlib.Path(file).read_text(encoding="utf-8")
if method == "POST":
    assert path == "repos/octo/solvers/issues/7/comments"
    comments.append(dict(databaseId=100 + len(comments), viewerDidAuthor=True, body=text))
else:
    base, _, number = path.rpartition("/")
    assert (method, base) == ("PATCH", "repos/octo/solvers/issues/comments")
    [one] = [one for one in comments if one["databaseId"] == int(number)]
    one["body"] = text
kept.write_text(json.dumps(comments))
"""
PYTHON = """#!/bin/sh
echo "$*" >> "$(dirname "$0")/python.log"
"""


def action() -> dict[str, Any]:
    """Return the action as data."""
    return yaml.safe_load(ACTION.read_text(encoding="utf-8"))


@dataclass
class Ended:
    """How a job ended.

    ``step`` is the one that failed, None where none did; ``outputs`` are the action's.
    """

    code: int
    step: str | None
    outputs: dict[str, str]
    summary: str
    log: str
    ran: list[str]


@dataclass
class Runner:
    """A machine with a checkout, and with commands of its own before all others."""

    room: Path
    checkout: Path
    commands: Path = field(init=False)

    def __post_init__(self) -> None:
        self.commands = self.room / "bin"
        self.commands.mkdir()
        made = {"gh": GH.format(python=sys.executable, own=OWN), "python": PYTHON}
        made["fwbench"] = FWBENCH.format(python=sys.executable)
        for name, text in made.items():
            (self.commands / name).write_text(text, encoding="utf-8")
            (self.commands / name).chmod(0o755)
        self.comments = []
        self.says(0, "**fwbench: the same**; all of it\n")

    def says(self, code: int, table: str) -> None:
        """Let the fake fwbench end so, and write this Markdown."""
        (self.commands / "says.json").write_text(json.dumps([code, table]))

    @property
    def comments(self) -> list[dict[str, Any]]:
        """The comments on the pull request."""
        return json.loads((self.commands / "comments.json").read_text())

    @comments.setter
    def comments(self, given: list[dict[str, Any]]) -> None:
        (self.commands / "comments.json").write_text(json.dumps(given))

    def said_to(self, command: str) -> list[list[str]]:
        """Return the words that a fake command was given, call by call."""
        log = self.commands / f"{command}.log"
        return [json.loads(line) for line in log.read_text().splitlines()] if log.exists() else []

    def run(self, inputs: dict[str, str], event: dict[str, str]) -> Ended:
        """Take the steps of the action until one fails.

        `inputs` as in ``with:``; `event` holds ``base`` and ``head`` of a pull request, or nothing.
        """
        made = action()
        known = {f"inputs.{name}": one["default"] for name, one in made["inputs"].items()}
        known |= {"inputs.token": "made token"}
        assert set(inputs) <= set(made["inputs"])
        known |= {f"inputs.{name}": text for name, text in inputs.items()}
        known |= {
            "github.action_path": str(ACTION.parent),
            "github.server_url": "https://made.example",
            "github.repository": "octo/solvers",
            "github.run_id": "12",
            "github.event.pull_request.number": "7" if event else "",
            "github.event.pull_request.base.sha": event.get("base", ""),
            "github.event.pull_request.head.sha": event.get("head", ""),
        }
        summary = self.room / "summary.md"
        summary.write_text("")
        ran, log, code, failed = [], "", 0, None
        for step in made["runs"]["steps"]:
            if "run" not in step or not _holds(step.get("if"), known):
                continue
            ran.append(step["name"])
            code, said, outputs = self._take(step, known, summary)
            log += said
            known |= {f"steps.{step.get('id')}.outputs.{k}": v for k, v in outputs.items()}
            if code:
                failed = step["name"]
                break
        found = {k: _filled(one["value"], known) for k, one in made["outputs"].items()}
        return Ended(code, failed, found, summary.read_text(encoding="utf-8"), log, ran)

    def _take(
        self, step: dict[str, Any], known: dict[str, str], summary: Path
    ) -> tuple[int, str, dict[str, str]]:
        assert step["shell"] == "bash"
        output, script = self.room / "output", self.room / "step.sh"
        output.write_text("")
        script.write_text(step["run"], encoding="utf-8")
        environment = {
            "PATH": f"{self.commands}{os.pathsep}{os.environ['PATH']}",
            "HOME": str(self.room),
            "RUNNER_TEMP": str(self.room),
            "GITHUB_OUTPUT": str(output),
            "GITHUB_STEP_SUMMARY": str(summary),
            "GITHUB_REPOSITORY": "octo/solvers",
        }
        environment |= {k: v for k, v in os.environ.items() if k.startswith("NUMBA_")}
        environment |= {name: _filled(text, known) for name, text in step["env"].items()}
        done = subprocess.run(
            ["bash", "--noprofile", "--norc", "-eo", "pipefail", script],
            cwd=self.checkout, env=environment, text=True, check=False,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        )  # fmt: skip
        lines = output.read_text(encoding="utf-8").splitlines()
        return done.returncode, done.stdout, dict(line.split("=", 1) for line in lines)


def _filled(text: str, known: dict[str, str]) -> str:
    """Return a text with its expressions replaced; one that nothing is known of is empty."""
    return EXPRESSION.sub(lambda found: known.get(found[1], ""), str(text))


def _holds(condition: str | None, known: dict[str, str]) -> bool:
    """Say whether a step is taken: names, compared with texts or alone, joined by `&&`."""
    for part in (condition or "").split("&&"):
        name, sign, text = re.fullmatch(
            r"\s*([\w.]*)\s*(?:(==|!=)\s*'([^']*)')?\s*", part
        ).groups()  # else it is more than this runner understands
        if not name:
            continue
        value = known.get(name, "")
        if not {"==": value == text, "!=": value != text, None: bool(value)}[sign]:
            return False
    return True
