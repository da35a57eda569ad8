"""What a run gives back in Python: its findings as tables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from fwbench.errors import InvalidParameter

if TYPE_CHECKING:
    import pandas as pd

    from fwbench.analysis.findings import Findings
    from fwbench.analysis.profiles import Profiles


@dataclass(frozen=True, eq=False)
class Results:
    """The findings of a run folder, as pandas tables."""

    folder: Path
    findings: Findings

    @property
    def runs(self) -> pd.DataFrame:
        """A row a run."""
        return self.findings.runs

    @property
    def trace(self) -> pd.DataFrame:
        """A row a checkpoint."""
        return self.findings.trace

    def rates(self) -> pd.DataFrame:
        """Return the rate class of each run with its window."""
        columns = ["instance_label", "solver_label", "rate_class", "rate", "rate_from", "rate_to",
                   "rate_signal"]  # fmt: skip
        return self.runs[columns]

    def fixed_points(self) -> pd.DataFrame:
        """Return where each query of each run came to rest."""
        return self.findings.fixed_points

    def profiles(self, solvers: Sequence[str] = ()) -> Profiles:
        """Return performance and data profiles, pairs and shifted geometric means as tables.

        Parameters
        ----------
        solvers : sequence of str, optional
            Solver labels to be compared alone, over all instances that they share; two of them
            give a pairwise profile. By default each solver as it is without parameters and,
            apart from that, each at the best of its grid, with what the grid cost.

        Raises
        ------
        InvalidParameter
            If there is only one label, one is unknown, or they share no instance.
        """
        found = self.findings.profiles
        if found is None:
            raise InvalidParameter("these findings were drawn up without profiles")
        return found.of(solvers) if len(solvers) else found

    def report(self, path: str | Path | None = None) -> Path:
        """Write the report into the run folder, or another one; return the HTML page."""
        from fwbench.report.write import write

        folder = self.folder if path is None else Path(path)
        write(self.findings, folder)
        return folder / "report.html"

    def _repr_html_(self) -> str:
        columns = ["instance_label", "solver_label", "status", "steps", "seconds", "gap_relative",
                   "fixed_point", "rate_class"]  # fmt: skip
        return str(self.runs[columns].to_html())
