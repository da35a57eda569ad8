from collections.abc import Callable
from functools import cache

import pytest

from fwbench.theory.claim import Effort, Verified
from fwbench.theory.trials import verified
from fwbench.verify import claims


@pytest.fixture(scope="session")
def verified_claim() -> Callable[[str], Verified]:
    """Return a claim with its verdict by name, each one tried once in a session."""

    @cache
    def once(name: str) -> Verified:
        [claim] = claims((name,))
        return verified(claim, Effort())

    return once
