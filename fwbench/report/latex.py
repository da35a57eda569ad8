"""Findings as LaTeX: one file that compiles by itself, and its tables one by one."""

from __future__ import annotations

import re
from collections.abc import Iterator

from fwbench.analysis.findings import Findings
from fwbench.report import selection
from fwbench.report.captions import captions
from fwbench.report.paper_tables import TABLES
from fwbench.report.tex import code, escaped, prose
from fwbench.report.words import count

FLOATS = 8  # figures after which a page is begun: LaTeX holds only so many back
PACKAGES = r"""\documentclass[a4paper]{article}
\usepackage{iftex}
\ifPDFTeX\usepackage[T1]{fontenc}\fi
\IfFileExists{lmodern.sty}{\ifPDFTeX\usepackage{lmodern}\fi}{}
\usepackage[margin=16mm]{geometry}
\usepackage{array,booktabs,graphicx}
\emergencystretch=3em
\makeatletter\@fptop=0pt % pages of figures alone begin at the top
% here, tables stay below their heading and do not float
\renewenvironment{table}[1][]{\par\addvspace{9pt}\noindent\minipage{\linewidth}%
  \def\@captype{table}}{\endminipage\par\addvspace{12pt}}
\makeatother
% a figure as large as it is, or as the page allows
\newsavebox{\drawn}
\newcommand{\fitted}[1]{\sbox{\drawn}{\includegraphics{#1}}%
  \ifdim\wd\drawn>\linewidth\sbox{\drawn}{\resizebox{\linewidth}{!}{\usebox{\drawn}}}\fi
  \ifdim\ht\drawn>0.7\textheight
    \sbox{\drawn}{\resizebox{!}{0.7\textheight}{\usebox{\drawn}}}\fi
  \usebox{\drawn}}
\begin{document}
"""
NEEDED = "% needs \\usepackage{array,booktabs} and, in pdfLaTeX, \\usepackage[T1]{fontenc}\n"


def latex(findings: Findings, figures: bool) -> dict[str, str]:
    """Return the findings as LaTeX, for pdfLaTeX and LuaLaTeX alike.

    Parameters
    ----------
    findings : Findings
        What analysis found.
    figures : bool
        Whether ``figures/`` stands beside the file, with a PDF for each exhibit.

    Returns
    -------
    dict of str to str
        File names and contents: ``report.tex``, which has all in it but the figures, and
        ``tables/NAME.tex`` for each table that is not empty. Names are text, whatever they hold.
    """
    made = {name: make(findings) for name, (_, make) in TABLES.items()}
    parts = [PACKAGES, _front(findings)]
    for name, (heading, _) in TABLES.items():
        if made[name]:
            parts += [rf"\section{{{heading}}}", "", made[name]]
    if figures and (drawn := _figures(findings)):
        parts += [r"\clearpage", r"\section{Figures}", "", *_held(drawn)]
    whole = "\n".join([*parts, r"\end{document}", ""])
    tables = {f"tables/{name}.tex": NEEDED + body for name, body in made.items() if body}
    return {"report.tex": whole, **tables}


def _front(findings: Findings) -> str:
    """Write what stands before all tables: title, command, what it was made with."""
    manifest = findings.manifest
    made = [manifest.get("command") or "an unknown command"]
    made += [f"{told['name']}: {told['command']}" for told in manifest.get("folders") or ()]
    facts = "; ".join(f"{name} {value}" for name, value in selection.facts(manifest))
    return "\n".join(
        [
            rf"\title{{{escaped(selection.title(manifest))}}}",
            r"\author{}",
            rf"\date{{{escaped(str(manifest.get('created') or '')[:10])}}}",
            r"\maketitle",
            "",
            r"\noindent Made by",
            r"{\raggedright",  # letters of one width do not stretch to fill a line
            *(rf"\par\noindent\quad {code(str(command))}" for command in made),
            r"\par}",
            "",
            rf"\medskip\noindent {prose(facts)}.",
            "",
            rf"\medskip\noindent {prose(_tally(findings))}",
            "",
        ]
    )


def _tally(findings: Findings) -> str:
    runs = len(findings.runs)
    if not runs:
        return "There was no run."
    each = ", ".join(f"{n} {status}" for status, n in selection.statuses(findings))
    return f"{count(runs)} run{'' if runs == 1 else 's'}: {each}."


def _held(floats: list[str]) -> Iterator[str]:
    """Yield figures, a page begun where there are too many to be held back."""
    for number, one in enumerate(floats, 1):
        yield one
        if number % FLOATS == 0:
            yield r"\clearpage"
    yield r"\clearpage"


def _figures(findings: Findings) -> list[str]:
    """Return each figure with its caption."""
    made: list[str] = []
    for stem, caption in captions(findings).items():
        label = re.sub(r"[^A-Za-z0-9-]+", "-", stem)
        made.append(
            "\n".join(
                [
                    r"\begin{figure}[htbp]",
                    r"\centering",
                    rf"\fitted{{\detokenize{{figures/{stem}.pdf}}}}",
                    rf"\caption{{{prose(caption)}}}",
                    rf"\label{{fig:{label}-{len(made) + 1}}}",
                    r"\end{figure}",
                    "",
                ]
            )
        )
    return made
