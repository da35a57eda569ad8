"""Try a contract in a process of its own, and go on where that process is killed."""

from __future__ import annotations

import ast
import json
import os
import queue
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic
from types import TracebackType
from typing import Any
from uuid import uuid4

import psutil

from fwbench.contract.rule import Finding, Standing
from fwbench.errors import InvalidParameter, UnknownName, nearest
from fwbench.grammar import spelled
from fwbench.names import Group, names

LIMIT = 60.0  # seconds of a rule
STARTING = 120.0  # seconds for imports, before the first rule
GRACE = 5.0  # seconds more until a process that does not end by itself at its limit is killed
LATE = "Timeout ("  # what it prints when it does
MARK = "FWBENCH_CHECK"  # in the environment of all that a process for rules starts
LOOK = 0.2  # seconds between two looks whether the process lives
KEPT = 100  # lines of stderr, where a dying process prints its stack
DEATHS = 3  # after so many killed processes the rules that are left are not tried
LOADS = "the file can be imported"

# The child imports what this process would: -c alone would put the working directory first.
_CODE = "import sys; sys.path[:] = {path!r}; from fwbench.contract.child import main; main()"
_FRAME = re.compile(r'File "(.*)", line (\d+) in (.*)')


@dataclass(eq=False)
class Checked:
    """What is checked, and what was found of it so far.

    Attributes
    ----------
    text : str
        As it was asked for.
    group : {"solvers", "problems"} or None
        Of a file as soon as it has been imported.
    name : str or None
        The entry's name, then too.
    findings : list of Finding
    """

    text: str
    group: Group | None = None
    name: str | None = None
    findings: list[Finding] = field(default_factory=list)

    @property
    def passed(self) -> bool:
        """Whether no rule failed."""
        return all(finding.standing is not Standing.FAILED for finding in self.findings)

    def as_dict(self) -> dict[str, Any]:
        """Return plain data for JSON."""
        found = [finding.as_dict() for finding in self.findings]
        about = {"text": self.text, "group": self.group, "name": self.name}
        return {**about, "passed": self.passed, "rules": found}


def asked_for(text: str) -> list[Checked]:
    """Return what a text asks to be checked: a solver, a problem, both, or the files of a folder.

    Raises
    ------
    UnknownName
        If nothing is called so, with the nearest names.
    """
    if os.path.isdir(text):
        found = [path for path in sorted(Path(text).glob("[!_]*.py")) if _has_entry(path)]
        if not found:
            raise UnknownName(
                f"the folder {text} holds no .py file with an ENTRY (those that start with _ do "
                "not count)"
            )
        return [Checked(str(path)) for path in found]
    name = text if os.path.isfile(text) else spelled(text).name
    if name.endswith(".py"):
        if not os.path.isfile(name):
            raise UnknownName(f"no file {name}")
        return [Checked(text)]
    if name == "auto":
        raise UnknownName("auto stands for a solver that suits a problem; check that one")
    groups: tuple[Group, ...] = ("solvers", "problems")
    known = {group: names(group) for group in groups}
    if not any(name in each for each in known.values()):
        every = [each for group in groups for each in known[group]]
        raise UnknownName(f"no solver or problem is called {name!r}; {nearest(name, every)}")
    return [Checked(text, group) for group in groups if name in known[group]]


def _has_entry(path: Path) -> bool:
    """Say whether a file sets ENTRY, without importing it; what cannot be read is tried."""
    try:
        nodes = ast.parse(path.read_bytes()).body
    except (OSError, ValueError, SyntaxError):
        return True
    targets = [t for node in nodes if isinstance(node, ast.Assign) for t in node.targets]
    targets += [node.target for node in nodes if isinstance(node, ast.AnnAssign)]
    return any(isinstance(target, ast.Name) and target.id == "ENTRY" for target in targets)


def check(checked: Checked, seconds: float = LIMIT) -> Iterator[Finding]:
    """Try all rules; yield each finding as it is known, and note it in `checked`.

    Parameters
    ----------
    checked : Checked
    seconds : float
        That one rule may take; then its process is killed, and the others go on in a new one.

    Raises
    ------
    InvalidParameter
        If the text gives parameters that the solver or problem does not have.
    """
    for _ in range(DEATHS):
        with _Child(checked, seconds) as child:
            for finding in child.findings():
                checked.findings.append(finding)
                yield finding
        if child.over:
            return
    done = {finding.rule for finding in checked.findings}
    reason = f"not tried, for {DEATHS} rules before have ended its process"
    for rule, says in child.rules.items():
        if rule not in done:
            left = Finding(rule, says, Standing.SKIPPED, came=reason)
            checked.findings.append(left)
            yield left


class _Child:
    """A process that tries the rules that are left."""

    def __init__(self, checked: Checked, seconds: float) -> None:
        self.checked, self.seconds = checked, seconds
        self.over = False  # nothing is left to do
        self.rules: dict[str, str] = {}
        done = [finding.rule for finding in checked.findings]
        asked = {"text": checked.text, "group": checked.group, "done": done, "seconds": seconds}
        self.mark = uuid4().hex
        self.process = subprocess.Popen(
            [sys.executable, "-c", _CODE.format(path=sys.path), json.dumps(asked)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            encoding="utf-8",
            errors="replace",
            env=os.environ | {MARK: self.mark},
            start_new_session=True,  # what it starts itself ends with it; a Ctrl-C is for us
        )
        self.lines: queue.Queue[str] = queue.Queue()
        self.stderr: list[str] = []
        self.file = checked.text
        readers = (self._read_lines, self._read_stderr)
        self.readers = [threading.Thread(target=read, daemon=True) for read in readers]
        for reader in self.readers:
            reader.start()

    def __enter__(self) -> _Child:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._kill()
        for reader, stream in zip(
            self.readers, (self.process.stdout, self.process.stderr), strict=True
        ):
            reader.join(LOOK)
            if stream is not None and not reader.is_alive():  # else something else holds its end
                stream.close()

    def _read_lines(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            if line.endswith("\n"):  # else it died in the middle of it
                self.lines.put(line)

    def _read_stderr(self) -> None:
        assert self.process.stderr is not None
        while chunk := self.process.stderr.readline(10_000):
            self.stderr.append(chunk)
            del self.stderr[:-KEPT]

    def _alive(self) -> bool:
        """Say whether the process is at work; it is not reaped, so that its id stays its own."""
        if self.process.returncode is None and hasattr(os, "waitid"):
            looking = os.WEXITED | os.WNOHANG | os.WNOWAIT
            return os.waitid(os.P_PID, self.process.pid, looking) is None
        return self.process.poll() is None

    def _kill(self) -> None:
        """End the process and what it has started, in sessions of their own too."""
        started: list[psutil.Process] = []
        if self.process.returncode is None:
            with suppress(psutil.Error):
                started = psutil.Process(self.process.pid).children(recursive=True)
        if os.name == "posix" and self.process.returncode is None:  # else its id may be another's
            with suppress(ProcessLookupError, PermissionError):  # all of them have ended
                os.killpg(self.process.pid, signal.SIGKILL)
        self.process.kill()
        self.process.wait()
        for process in [*started, *_marked(self.mark)]:
            with suppress(psutil.Error):
                process.kill()

    def findings(self) -> Iterator[Finding]:
        """Yield what the process finds, the rule included at which it dies."""
        rule, says, limit = "import", LOADS, STARTING
        while True:
            line = self._line(limit + GRACE)
            message = None if line is None else _message(line)
            left = self._left()
            if message is None:
                strange = True
            elif "found" in message:
                strange = message["found"].rule != rule or rule not in left
            else:
                strange = "end" in message and (bool(left) or not self.rules)
            if strange:
                if rule != "import" and rule not in left:  # that one was found already
                    if not left:
                        break
                    rule, says = next(iter(left.items()))
                self.over = rule == "import"
                yield self._died(rule, says, limit, garbled=line is not None)
                return
            assert message is not None
            if "wrong" in message:
                raise InvalidParameter(message["wrong"])
            if "unreadable" in message:
                self.over = True
                yield Finding("import", LOADS, Standing.FAILED, "", LOADS, message["unreadable"])
                return
            if "group" in message:
                self.checked.group, self.checked.name = message["group"], message["name"]
                self.file, self.rules = message["file"] or self.file, message["rules"]
            elif "begin" in message:
                rule, says, limit = message["begin"], message["says"], self.seconds
            elif "found" in message:
                yield message["found"]
            else:
                break
        self.over = True

    def _left(self) -> dict[str, str]:
        """Return the rules of which nothing has been found yet, and what they say."""
        done = {finding.rule for finding in self.checked.findings}
        return {rule: says for rule, says in self.rules.items() if rule not in done}

    def _line(self, seconds: float) -> str | None:
        """Return the next line, or None where the process has ended or the time is over."""
        deadline = monotonic() + seconds
        while monotonic() < deadline:
            alive = self._alive()
            try:
                return self.lines.get(timeout=LOOK)
            except queue.Empty:
                if not alive:
                    return None
        return None

    def _died(self, rule: str, says: str, limit: float, *, garbled: bool) -> Finding:
        """Say how the process ended, or was not understood, while a rule was tried."""
        late = self._alive()
        self._kill()
        code = self.process.returncode
        for reader in self.readers:
            reader.join(LOOK)
        if garbled:
            expected, came = "what was found of the rule", "what cannot be read, or comes too early"
            slip = "something writes to a descriptor that it did not open"
        elif late or any(line.startswith(LATE) for line in self.stderr):
            expected, came = f"an end within {limit:g} s", "still at work then"
            slip = "a loop without an end, or a wait: advance returns after so many steps"
        elif code < 0:
            expected, came = "the process to live", f"it was killed by {_signal(-code)}"
            slip = "memory that C code, a kernel or a cast writes or reads out of its bounds"
            if -code == getattr(signal, "SIGKILL", None):
                slip = "more memory than the machine has"
        else:
            expected, came = "the process to live", f"it ended with exit code {code}"
            slip = "os._exit is called"
        return Finding(rule, says, Standing.FAILED, "", expected, came + self._place(), slip)

    def _place(self) -> str:
        """Return where in the author's file the process was, as far as it has told."""
        frames = (_FRAME.search(line) for line in list(self.stderr))
        own = [m for m in frames if m and Path(m[1]).name == Path(self.file).name]
        return f", in {own[0][3]} ({Path(self.file).name} line {own[0][2]})" if own else ""


def _message(line: str) -> dict[str, Any] | None:
    """Return what a process tells, None where it is nothing that it would tell."""
    try:
        message: dict[str, Any] = json.loads(line)
        if "found" in message:
            return {"found": Finding.read(message["found"])}
        if "group" in message:
            return {key: message[key] for key in ("group", "name", "file")} | {
                "rules": dict(message["rules"])
            }
        if "begin" in message:
            return {key: message[key] for key in ("begin", "says")}
        [(key, value)] = message.items()
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None
    return {key: value} if key in ("wrong", "unreadable", "end") else None


def _marked(mark: str) -> list[psutil.Process]:
    """Return the processes that bear a mark: those whose parents have ended too."""
    found: list[psutil.Process] = []
    for process in psutil.process_iter():
        with suppress(psutil.Error, OSError):
            if process.environ().get(MARK) == mark:
                found.append(process)
    return found


def _signal(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
