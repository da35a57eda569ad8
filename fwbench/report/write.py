"""Write the report into a run folder; each file is whole or not there."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from fwbench.analysis.findings import Findings
from fwbench.disk import failing, write_whole
from fwbench.errors import InvalidParameter, nearest

FORMATS = frozenset({"html", "md", "figures", "latex"})
USUAL = frozenset({"html", "md", "figures"})
TABLES, FIGURES = "tables", "figures"
# what earlier reports may have written there; files of other names are somebody else's
KNOWN = {
    "figures": re.compile(
        r"(overview|ratios|growth|heads|(convergence|seeds|plane|atlas|paper|profile|claim)-.+)"
        r"\.(png|pdf)|captions\.md",
        re.DOTALL,
    ),
    "latex": re.compile(
        r"(standings|winners|failures|rates|fixed-points|profiles|growth|ratios)\.tex"
    ),
}
PLACES = {"figures": FIGURES, "latex": TABLES}


def write(findings: Findings, folder: Path, formats: frozenset[str] = USUAL) -> list[Path]:
    """Write the report into a folder, in the formats asked for.

    What an earlier report wrote in one of these formats and this one does not, such as the figure
    of a claim that is gone, is deleted.

    Parameters
    ----------
    findings : Findings
        What analysis found; equal findings give equal bytes.
    folder : Path
        The run folder; made where it is missing. Files that stand there are replaced.
    formats : frozenset of str
        Any of "html" (``report.html``), "md" (``summary.md``), "figures" (``figures/``) and
        "latex" (``report.tex``, with the figures if these are asked for, and ``tables/``).

    Returns
    -------
    list of Path
        The files written.

    Raises
    ------
    InvalidParameter
        A format that does not exist.
    RunFolderError
        A file cannot be written; the one that stood there stays.
    """
    for name in sorted(formats - FORMATS):
        raise InvalidParameter(f"no report format {name!r}; {nearest(name, FORMATS)}")
    written = [_replace(folder / name, content) for name, content in _contents(findings, formats)]
    for name in sorted(formats & KNOWN.keys()):
        _sweep(folder / PLACES[name], KNOWN[name], {path.name for path in written})
    return written


def _sweep(folder: Path, known: re.Pattern[str], kept: set[str]) -> None:
    """Delete the files of earlier reports that this one does not have."""
    with failing(folder, "written"):
        for path in folder.glob("*"):
            if path.name not in kept and known.fullmatch(path.name) and path.is_file():
                path.unlink()


def write_verdicts(document: dict[str, Any], folder: Path) -> list[Path]:
    """Write ``claims.html``, ``claims.md`` and the deciding figures into a folder.

    Parameters
    ----------
    document : dict
        As `fwbench.theory.verdicts.document` makes it.
    folder : Path
        Figures of claims that stand there are replaced, all of them.

    Returns
    -------
    list of Path
        The files written.
    """
    from fwbench.report.claims import sections
    from fwbench.report.curves import claim_files
    from fwbench.report.html import verdicts_page

    with failing(folder / "figures", "written"):
        for old in (folder / "figures").glob("claim-*"):
            old.unlink()
    text = "\n\n".join(["# Claims", *sections(document, figures=True)]) + "\n"
    files = {"claims.html": verdicts_page(document).encode(), "claims.md": text.encode()}
    files |= {f"figures/{name}": data for name, data in claim_files(document["claims"]).items()}
    return [_replace(folder / name, content) for name, content in files.items()]


def _contents(findings: Findings, formats: frozenset[str]) -> Iterator[tuple[str, bytes]]:
    if "html" in formats:
        from fwbench.report.html import html

        yield "report.html", html(findings).encode()
    if "md" in formats:
        from fwbench.report.summary import summary

        yield "summary.md", summary(findings, figures="figures" in formats).encode()
    if "figures" in formats:
        from fwbench.report.captions import captions
        from fwbench.report.figures import figures
        from fwbench.report.markdown import prose

        for name, content in figures(findings).items():
            yield f"{FIGURES}/{name}", content
        if told := captions(findings):
            parts = [f"## {prose(stem)}\n\n{prose(caption)}" for stem, caption in told.items()]
            yield f"{FIGURES}/captions.md", ("\n\n".join(["# Captions", *parts]) + "\n").encode()
    if "latex" in formats:
        from fwbench.report.latex import latex

        for name, text in latex(findings, figures="figures" in formats).items():
            yield name, text.encode()


def _replace(path: Path, content: bytes) -> Path:
    with failing(path.parent, "made"):
        path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, content)
    return path
