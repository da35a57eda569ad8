"""Claims by name, each with its verdict."""

from __future__ import annotations

import importlib
from collections.abc import Iterator

from fwbench.claim import Claim, Effort, Verified, checked, verified
from fwbench.errors import UnknownName, nearest
from fwbench.names import files


def claims(names: tuple[str, ...] = ()) -> list[Claim]:
    """Return the claims of these names, all without any; in the order of the paper's sections.

    Raises
    ------
    UnknownName
        With the nearest names.
    """
    known = files("claims")
    for name in names:
        if name not in known:
            raise UnknownName(f"no claim is called {name!r}; {nearest(name, known)}")
    found = [
        checked(getattr(importlib.import_module(f"fwbench.claims.{name}"), "CLAIM", None), name)
        for name in (names or known)
    ]
    return sorted(found, key=lambda claim: (claim.section, claim.source, claim.name))


def verify(names: tuple[str, ...], effort: Effort) -> Iterator[Verified]:
    """Yield each claim with its verdict, as soon as it is known."""
    for claim in claims(names):
        yield verified(claim, effort)
