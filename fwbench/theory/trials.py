"""Trying a claim: case after case, then the controls; whatever goes wrong is that claim's alone."""

from __future__ import annotations

import traceback
from collections.abc import Iterable, Iterator
from pathlib import Path
from time import perf_counter
from typing import Any, TypeVar

from fwbench.errors import FwbenchError, InvalidParameter, said
from fwbench.theory.claim import Case, Claim, Control, Effort, Outcome, Tried, Verdict, Verified

Kind = TypeVar("Kind")
LINES = 3  # of the claim's own file, named with what went wrong there
LONGEST = 300  # letters of what an exception says


def together(outcomes: Iterable[Outcome]) -> Verdict:
    """Return the verdict over all cases that the hypotheses admit.

    Broken if one is; else inconclusive if one is; else vacuous if none holds.

    Examples
    --------
    >>> together([Outcome(Verdict.HOLDS, "9 steps"), Outcome(Verdict.VACUOUS, "9 steps")]).value
    'holds'
    >>> together([]).value
    'vacuous'
    """
    verdicts = {outcome.verdict for outcome in outcomes}
    for verdict in (Verdict.BROKEN, Verdict.INCONCLUSIVE, Verdict.HOLDS):
        if verdict in verdicts:
            return verdict
    return Verdict.VACUOUS


def verified(claim: Claim, effort: Effort) -> Verified:
    """Try a claim on all its cases and controls; nothing is raised but KeyboardInterrupt."""
    begun, tried, controls = perf_counter(), list[Tried](), list[Tried]()
    error = trace = ""
    try:
        for case in _each(claim.cases(effort), Case, "cases"):
            refused = claim.refuses(case)
            if refused is not None and not isinstance(refused, str):
                raise InvalidParameter(
                    f"refuses must return a text or None; got {_shown(refused)} for {case.name}"
                )
            outcome = None if refused is not None else _outcome(claim, case, effort)
            tried.append(Tried(case.name, refused, outcome))
        for control in _each(claim.controls(effort), Control, "controls"):
            outcome = _outcome(claim, control.case, effort)
            controls.append(Tried(control.case.name, None, outcome, control.expects, control.why))
    except KeyboardInterrupt:
        raise
    except BaseException as raised:  # a claim's file may raise anything, SystemExit included
        error, trace = _went_wrong(claim, raised)
    verdict = together(t.outcome for t in tried if t.outcome is not None)
    if error:  # a check that did not end has shown nothing
        verdict = Verdict.INCONCLUSIVE
    seconds = perf_counter() - begun
    return Verified(claim, verdict, tuple(tried), tuple(controls), seconds, error, trace)


def _each(made: Any, kind: type[Kind], name: str) -> Iterator[Kind]:
    if not isinstance(made, Iterable):
        raise InvalidParameter(f"{name} must yield a {kind.__name__} each; got {_shown(made)}")
    for one in made:
        if not isinstance(one, kind):
            raise InvalidParameter(f"{name} must yield a {kind.__name__} each; got {_shown(one)}")
        yield one


def _outcome(claim: Claim, case: Case, effort: Effort) -> Outcome:
    found = claim.check(case, effort)
    if not isinstance(found, Outcome):
        raise InvalidParameter(f"check must return an Outcome; got {_shown(found)} for {case.name}")
    return found


def _shown(value: Any) -> str:
    try:
        return _short(repr(value))
    except Exception:  # a user's class may do anything
        return f"a {type(value).__name__}"


def _short(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= LONGEST else text[:LONGEST] + "…"


def _went_wrong(claim: Claim, raised: BaseException) -> tuple[str, str]:
    """Return what was raised, with lines of the claim's own file; and all frames; no folders."""
    frames = traceback.extract_tb(raised.__traceback__)
    codes = [getattr(f, "__code__", None)
             for f in (claim.cases, claim.refuses, claim.check, claim.controls)]  # fmt: skip
    own = {code.co_filename for code in codes if code is not None}
    places = [f"{Path(f.filename).name}:{f.lineno}" for f in frames if f.filename in own]
    where = ", ".join(list(dict.fromkeys(places))[-LINES:])
    told = str(raised) if isinstance(raised, FwbenchError) else said(raised)
    lines = [f"{_place(f.filename)}:{f.lineno} in {f.name}: {f.line}" for f in frames]
    return _short(told) + (f" ({where})" if where else ""), "\n".join(lines)


def _place(filename: str) -> str:
    """Return a file below its package, or its bare name: where things lie here is nobody's."""
    parts = Path(filename).parts
    for root in ("site-packages", "fwbench"):
        if root in parts:
            place = len(parts) - 1 - parts[::-1].index(root)
            return "/".join(parts[place + (root == "site-packages") :])
    return parts[-1] if parts else filename


def checked(claim: Any, name: str) -> Claim:
    """Return the claim of a file, if it is one.

    Raises
    ------
    InvalidParameter
        If the file does not end with a claim of its own name.
    """
    if not isinstance(claim, Claim) or claim.name != name:
        raise InvalidParameter(f"{name}.py must end with CLAIM = Claim(name={name!r}, ...)")
    return claim
