"""Odd values at each place of a record of the journal, and of claims.json: refused, or shown."""

import copy
import json

import pytest

from fwbench import views
from fwbench.analysis.comparison import compared, document
from fwbench.cli.show import as_text
from fwbench.findings import SHAPES, build
from fwbench.plain import plain
from fwbench.reading import record_fault
from fwbench.report import comparison
from fwbench.report.claims import sections
from fwbench.report.curves import claim_files
from fwbench.report.html import html, verdicts_page
from fwbench.report.latex import latex
from fwbench.report.summary import summary
from fwbench.report.terminal import runs_table, terminal_summary
from fwbench.store import RunFolder
from fwbench.theory import verdicts

from .made_folders import Held, all_culprits, edits, put, shown

BATCH = 16


@pytest.fixture(scope="module")
def folder(sound):
    return RunFolder(sound)


def told(findings):
    """Put into words all that was found."""
    shown(runs_table(findings), terminal_summary(findings))
    as_text(findings)
    summary(findings, figures=True)
    html(findings)
    latex(findings, figures=True)


# -- the journal -----------------------------------------------------------------------------------


def neighbours(records):
    """Yield each record with another one on the same instance."""
    for i, record in enumerate(records):
        name = record["row"]["instance"]
        others = [one for j, one in enumerate(records) if j != i and one["row"]["instance"] == name]
        yield record, others[-1]


def accepted(records, step=1):
    """Return the edits of each step-th record that are not refused, and how many are."""
    kept, refused = [], 0
    for record, other in list(neighbours(records))[::step]:
        solver = record["row"]["solver_label"]
        for name, edited in edits(record):
            if record_fault(edited, SHAPES):
                refused += 1
            else:
                kept.append((f"{solver}: {name}", edited, other))
    return kept, refused


def merged(cases, folder):
    """Return a folder of all cases, each on an instance of its own."""
    held, whose = [], {}
    for place, (_, *pair) in enumerate(cases):
        for which, record in enumerate(copy.deepcopy(pair)):
            row, name = record["row"], f"{place}-{which}"
            whose[name] = row["run_id"]
            row |= {
                "run_id": name,
                "instance": f"{row['instance']}#{place}",
                "instance_label": f"{row['instance_label']}#{place}",
            }
            held.append(record)
    return Held(folder.manifest, held, lambda name: folder.points(whose.get(name, name)))


def looked_at(cases, folder, monkeypatch):
    held = merged(cases, folder)
    findings = build(held)
    told(findings)
    # its tables are not there, so it is read from the journal, which is known already
    monkeypatch.setattr(views, "RunFolder", lambda path: held)
    monkeypatch.setattr(views, "build", lambda folder: findings)
    side = views.read(held.path)
    made = compared(side, side)
    json.dumps(plain(document(made)), allow_nan=False)
    shown(comparison.terminal(made))
    comparison.markdown(made, 30)
    comparison.page(made, "fwbench compare")


ODD = [
    (("head", "entropy"), "", "head.entropy must be a finite number"),
    (("head", "owners"), "x", "head.owners must be a finite number"),
    (("head", "leaders"), 1.5, "head.leaders must be an integer"),
    (("trace", "k", -1), 2**63 - 1, "trace.k must end at"),
    (("row", "pass_seconds"), -1, "row.pass_seconds must be 0 or a number from"),
    (("row", "seconds"), 5e-324, "row.seconds must be 0 or a number from"),
]


@pytest.mark.parametrize(("way", "odd", "said"), ODD)
def test_what_is_refused_is_named(folder, way, odd, said):
    record = next(record for record in folder.records() if record.get("head"))
    assert record_fault(record, SHAPES) == ""
    assert said in record_fault(put(record, way, odd), SHAPES)


@pytest.mark.filterwarnings("ignore")
def test_a_terminal_obeys_no_name_of_a_problem(folder, monkeypatch):
    records = folder.records()
    pair = [put(record, ("row", "problem"), "\x1b[31m") for record in (records[0], records[1])]
    assert [record_fault(record, SHAPES) for record in pair] == ["", ""]
    looked_at([("problem", *pair)], folder, monkeypatch)


@pytest.mark.filterwarnings("ignore")  # what is left out is said
def test_an_odd_record_is_refused_or_shown(folder, monkeypatch):
    kept, refused = accepted(folder.records(), step=4)
    assert refused > 2000
    assert all_culprits(kept[::97], lambda some: looked_at(some, folder, monkeypatch), BATCH) == []


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_very_many_odd_records_are_refused_or_shown(folder, monkeypatch):
    kept, _ = accepted(folder.records())
    assert all_culprits(kept[::7], lambda some: looked_at(some, folder, monkeypatch), BATCH) == []


# -- claims.json -----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def claims(folder):
    return folder.claims


def read(cases, claims):
    """Return a document of all cases, each under a name of its own."""
    several = [claim | {"name": f"{claim['name'][:80]}-{i}"} for i, (_, claim) in enumerate(cases)]
    made = claims | {"claims": several}
    assert not verdicts.fault(made)
    return verdicts.seen(made)


def accepted_claims(claims):
    kept, refused = [], 0
    for name, edited in edits(claims["claims"][0]):
        if verdicts.fault(claims | {"claims": [edited]}):
            refused += 1
        else:
            kept.append((name, edited))
    assert refused > 1000
    return kept


def in_words(cases, claims):
    made = read(cases, claims)
    sections(made, figures=True)
    verdicts_page(made)
    json.dumps(verdicts.without_curves(made), allow_nan=False)
    return made


def test_an_odd_claim_is_refused_or_shown(claims):
    kept = accepted_claims(claims)
    assert all_culprits(kept[::4], lambda some: in_words(some, claims), 40) == []


def test_an_odd_document_of_claims_is_refused_or_shown(claims):
    for _, edited in edits({name: value for name, value in claims.items() if name != "claims"}):
        made = edited | {"claims": claims["claims"]}
        if not verdicts.fault(made):
            in_words([("", claims["claims"][0])], verdicts.seen(made))


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_very_many_odd_claims_are_refused_or_shown(claims, folder):
    findings = build(folder)

    def drawn(cases):
        made = in_words(cases, claims)
        claim_files(made["claims"])
        told(type(findings)(**(vars(findings) | {"claims": made})))

    assert all_culprits(accepted_claims(claims), drawn, BATCH) == []
