"""The process in which a contract is tried: it may be killed at any rule, and says where it was.

It tells on a stream of its own, line by line in JSON, what it begins and what it found; what the
code that it tries prints goes to stderr.
"""

from __future__ import annotations

import faulthandler
import fcntl
import json
import os
import sys
from typing import Any

from fwbench import catalog
from fwbench.contract import answers, cases, entries, manners, paths, problems
from fwbench.contract.cases import Subject
from fwbench.contract.rule import Finding, Rule, tried
from fwbench.errors import FwbenchError, InvalidParameter, said
from fwbench.execution.machine import affordable, allow
from fwbench.names import Group
from fwbench.warm import limited_threads

# What is the cause of much else comes first.
SOLVERS = (*entries.RULES, answers.RUNS, *manners.RULES, *paths.RULES, *answers.RULES)
PROBLEMS = (*entries.RULES, *problems.RULES)
FAR = 512  # beyond the descriptors that a solver closes, or writes to, by mistake


def rules(subject: Subject) -> tuple[Rule, ...]:
    """Return the rules for what a text names."""
    return SOLVERS if subject.group == "solvers" else PROBLEMS


def main() -> None:
    """Try the rules that are left; ``sys.argv[1]`` is JSON: text, group, done, seconds."""
    asked = json.loads(sys.argv[1])
    stream = os.fdopen(_far(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # of this stream the code that is tried knows nothing
    faulthandler.enable()
    allow(affordable(1))

    def tell(**message: Any) -> None:
        stream.write(json.dumps(message) + "\n")
        stream.flush()

    try:
        subject = Subject(asked["text"], asked["group"])
        if subject.text != subject.name and (wrong := _typed_wrong(subject)):
            tell(wrong=wrong)
            os._exit(0)
    except BaseException as error:  # a file may raise anything while it is imported
        tell(unreadable=str(error) if isinstance(error, FwbenchError) else said(error))
        os._exit(0)  # nothing that the file left behind is run
    _ = cases.PROBLEMS["convex"]().scale, cases.PROBLEMS["concave"]().start  # compiles
    todo = rules(subject)
    file = None if subject.file is None else str(subject.file)
    tell(
        group=subject.group,
        name=subject.entry.name,
        file=file,
        rules={rule.name: rule.says for rule in todo},
    )
    with limited_threads():
        for rule in todo:
            if rule.name in asked["done"]:
                continue
            tell(begin=rule.name, says=rule.says)
            # even inside C code: says where it is, and ends, whether anybody waits or not
            faulthandler.dump_traceback_later(asked["seconds"], exit=True)
            found = tried(rule, subject)
            faulthandler.cancel_dump_traceback_later()
            tell(found=found.as_dict())
    tell(end=True)
    os._exit(0)


def _typed_wrong(subject: Subject) -> str:
    """Say what is wrong with the parameters that were typed, which are no fault of its, or ""."""
    try:
        catalog.choices(subject.group, subject.text)
    except InvalidParameter as error:
        return str(error)
    return ""


def _far(descriptor: int) -> int:
    """Copy a descriptor to where it is not met by mistake, where the system allows so many."""
    try:
        return fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, FAR)
    except OSError:
        return os.dup(descriptor)


def tried_here(text: str, group: Group | None = None) -> list[Finding]:
    """Try all rules in this process, for code that is trusted not to kill it."""
    subject = Subject(text, group)
    with limited_threads():
        return [tried(rule, subject) for rule in rules(subject)]
