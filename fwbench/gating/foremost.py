"""What makes the packages of an overlay win over those of the interpreter, whoever hides them.

The source of this module becomes the ``sitecustomize`` of an overlay, with a last line that calls
`begin`; there it must run with any interpreter, without fwbench.

A folder on PYTHONPATH goes before site-packages, but not before the finders of editable installs:
some stand first, and others answer for submodules that an older version did not have, with those
of the version that is being edited. Either way one version would run pieces of the other.
"""

from __future__ import annotations

import importlib.util
import os
import sys
from collections.abc import Iterable, Sequence
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType


class Foremost:
    """Finds some top-level packages in a folder, and their submodules nowhere else.

    Parameters
    ----------
    folder : str
    names : iterable of str
        Top-level packages and modules in it.
    """

    def __init__(self, folder: str, names: Iterable[str]) -> None:
        self.folder, self.names = os.path.join(folder, ""), frozenset(names)

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Find a module of the folder; of all others, leave the answer to the next finder.

        Raises
        ------
        ModuleNotFoundError
            The next finder would answer with a module from elsewhere.
        """
        first, _, inside = name.partition(".")
        if first not in self.names:
            return None
        found = PathFinder.find_spec(name, path if inside else [self.folder], target)
        if found is not None:
            return found
        for finder in sys.meta_path:
            other = None if finder is self else finder.find_spec(name, path, target)
            if other is not None and self._is_strange(other):
                raise ModuleNotFoundError(f"No module named {name!r}", name=name)
            if other is not None:  # made by the package itself, as those of six are
                return other
        return None

    def _is_strange(self, found: ModuleSpec) -> bool:
        places = list(found.submodule_search_locations or ())
        if found.has_location and found.origin:
            places.append(found.origin)
        return any(not os.path.abspath(place).startswith(self.folder) for place in places)


def begin(file: str, names: Iterable[str]) -> None:
    """Run the ``sitecustomize`` that this one hides, then put an overlay first.

    Parameters
    ----------
    file : str
        The ``sitecustomize.py`` that calls this; it lies in the overlay.
    names : iterable of str
        The top-level packages and modules of the overlay.
    """
    folder = os.path.dirname(os.path.abspath(file))
    others = [place for place in sys.path if os.path.abspath(place) != folder]
    hidden = PathFinder.find_spec("sitecustomize", others)
    try:
        if hidden is not None and hidden.loader is not None:
            hidden.loader.exec_module(importlib.util.module_from_spec(hidden))
    finally:
        sys.meta_path.insert(0, Foremost(folder, names))  # before all that others have put there
