"""Write the report into a run folder; each file is whole or not there."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from fwbench.analysis.findings import Findings
from fwbench.disk import failing, write_whole
from fwbench.errors import InvalidParameter, nearest

FORMATS = frozenset({"html", "md", "figures"})


def write(findings: Findings, folder: Path, formats: frozenset[str] = FORMATS) -> list[Path]:
    """Write ``report.html``, ``summary.md`` and ``figures/`` of the formats asked for.

    Parameters
    ----------
    findings : Findings
        What analysis found; equal findings give equal bytes.
    folder : Path
        The run folder; made where it is missing. Files that stand there are replaced.
    formats : frozenset of str
        Any of "html", "md", "figures".

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
    return [_replace(folder / name, content) for name, content in _contents(findings, formats)]


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
        from fwbench.report.figures import figures

        for name, content in figures(findings).items():
            yield f"figures/{name}", content


def _replace(path: Path, content: bytes) -> Path:
    with failing(path.parent, "made"):
        path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, content)
    return path
