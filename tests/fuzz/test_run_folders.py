"""Run folders that were damaged, or made by another hand: findings, or a sentence."""

import copy
import io
import json
import shutil
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from fwbench.findings import build
from fwbench.reading import manifest_fault
from fwbench.report import captions, environment, selection
from fwbench.store import RunFolder

from .made_folders import ODD, line, places
from .made_hostile import calm, command, refused_or_done

FILES = ("manifest.json", "journal.jsonl", "claims.json", "points")


@pytest.fixture
def copied(sound, tmp_path):
    def copy():
        place = tmp_path / "run"
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir()
        for name in FILES:
            there = sound / name
            (shutil.copytree if there.is_dir() else shutil.copy)(there, place / name)
        return place

    return copy


def looked_at(folder, *, report=False):
    """Do with a folder what only reads it, and write the words of its report."""
    before = (folder / "journal.jsonl").is_file() and (folder / "journal.jsonl").read_bytes()
    refused_or_done("show", str(folder))
    refused_or_done("run", "--resume", "--out", str(folder), "--dry-run")
    refused_or_done("run", "--from", str(folder), "--dry-run")
    if report:
        refused_or_done("show", str(folder), "--json")
        refused_or_done("report", str(folder), "--format", "html,md")
    after = (folder / "journal.jsonl").is_file() and (folder / "journal.jsonl").read_bytes()
    assert before == after
    inside = {path.name for path in folder.parent.iterdir()}
    assert inside == {"run"}, "nothing is written beside the folder"


# -- bytes ---------------------------------------------------------------------------------------


@st.composite
def damage(draw):
    """Choose a file, by its place in the folder, and what becomes of it."""
    how = draw(st.sampled_from(["flip", "flip", "cut", "empty", "folder", "gone", "text"]))
    places = draw(st.lists(st.floats(0, 1, exclude_max=True), min_size=1, max_size=4))
    return draw(st.integers(0, 50)), how, places, draw(st.integers(1, 255))


def damaged(folder, case):
    which, how, places, change = case
    paths = sorted(path for path in folder.rglob("*") if path.is_file())
    path = paths[which % len(paths)]
    data = bytearray(path.read_bytes())
    if how == "flip":
        for place in places:
            data[int(place * len(data))] ^= change
    elif how == "cut":
        data = data[: int(places[0] * len(data))]
    elif how in ("empty", "text"):
        data = bytearray(b"" if how == "empty" else b"[" * 5000)
    if how in ("folder", "gone"):
        path.unlink()
        if how == "folder":
            path.mkdir()
    else:
        path.write_bytes(data)


@settings(calm, max_examples=5)
@given(damage())
def test_a_damaged_folder_is_shown_or_refused(copied, case):
    folder = copied()
    damaged(folder, case)
    looked_at(folder)


@pytest.mark.slow
@settings(calm, max_examples=150)
@given(damage())
def test_very_many_damaged_folders_are_shown_or_refused(copied, case):
    folder = copied()
    damaged(folder, case)
    looked_at(folder, report=True)


# -- types: what has a right checksum, and is none of what a run gives ----------------------------


def changed(document, where, what):
    """Put something else at one place of a document, counted by its depth and then in order."""
    depth, place = where
    ways = list(places(document))
    deepest = max(map(len, ways))
    some = [way for way in ways if len(way) == 1 + depth % deepest]
    *way, last = some[place % len(some)]
    for key in way:
        document = document[key]
    if what == "deleted":
        del document[last]
    else:
        document[last] = what


@st.composite
def edits(draw):
    where = st.tuples(st.integers(0, 6), st.integers(0, 500))
    change = st.tuples(where, st.sampled_from([*ODD, "deleted"]))
    name = draw(st.sampled_from(["journal.jsonl"] * 3 + ["manifest.json", "claims.json"]))
    return name, draw(st.integers(0, 9)), draw(st.lists(change, min_size=1, max_size=2))


def edited(folder, case):
    name, which, changes = case
    path = folder / name
    if name != "journal.jsonl":
        document = json.loads(path.read_text())
        for where, what in changes:
            changed(document, where, what)
        path.write_text(json.dumps(document))
        return
    records = [json.loads(text)["record"] for text in path.read_text().splitlines()]
    for where, what in changes:
        changed(records[which % len(records)], where, what)
    path.write_text("".join(map(line, records)))


@example(("manifest.json", 0, [((0, 0), "deleted")]))
@settings(calm, max_examples=8)
@given(edits())
def test_an_edited_folder_is_shown_or_refused(copied, case):
    folder = copied()
    edited(folder, case)
    looked_at(folder)


@pytest.mark.slow
@settings(calm, max_examples=400)
@given(edits())
def test_very_many_edited_folders_are_shown_or_refused(copied, case):
    folder = copied()
    edited(folder, case)
    looked_at(folder, report=True)


def test_a_manifest_of_odd_values_is_refused_or_put_into_words(sound):
    findings = build(RunFolder(sound))
    manifest = {k: v for k, v in findings.manifest.items() if k != "plan"} | {"plan": []}
    rows, refused = findings.runs.to_dict("records"), 0
    for *way, last in places(manifest):
        for odd in ODD:
            edited = inside = copy.deepcopy(manifest)
            for key in way:
                inside = inside[key]
            inside[last] = odd
            if manifest_fault(edited):
                refused += 1
                continue
            found = replace(findings, manifest=edited)
            assert environment.line(found)
            assert isinstance(environment.commands(edited), list)
            assert environment.groups(edited)
            assert selection.title(edited)
            assert captions.software(found)
            assert isinstance(captions.timing(rows, found), str)
            assert all(isinstance(said, str) for fact in selection.facts(edited) for said in fact)
    assert refused > 100


@pytest.mark.parametrize("plan", [5, "x", [5], [{}], [None], {"a": 1}], ids=str)
def test_a_plan_that_is_none_is_said_to_be_damaged(copied, plan):
    folder = copied()
    manifest = json.loads((folder / "manifest.json").read_text())
    (folder / "manifest.json").write_text(json.dumps(manifest | {"plan": plan}))
    ended = command("run", "--from", str(folder), "--dry-run")
    assert ended.code == 2
    assert "manifest.json is damaged: plan" in ended.err


def test_a_claim_cannot_name_a_file_elsewhere(copied):
    folder = copied()
    document = json.loads((folder / "claims.json").read_text())
    document["claims"][0]["name"] = "../../../escaped"
    (folder / "claims.json").write_text(json.dumps(document))
    ended = command("report", str(folder))
    assert ended.code == 2
    assert "name must consist of letters" in ended.err
    assert not list(folder.parent.rglob("*escaped*"))


# -- points ----------------------------------------------------------------------------------------

SHAPES = {
    "scalar": lambda a: np.zeros(()),
    "shorter": lambda a: a[:-1],
    "turned": lambda a: a.T,
    "texts": lambda a: np.array([["x"]]),
    "huge": lambda a: np.full(a.shape, 1e308),
    "deeper": lambda a: a[None],
}


@pytest.mark.parametrize("how", SHAPES)
def test_points_of_another_shape_are_left_out(copied, how):
    folder = copied()
    records = [
        json.loads(text)["record"] for text in (folder / "journal.jsonl").read_text().splitlines()
    ]
    for record in records:
        path = folder / "points" / f"{record['row']['run_id']}.npz"
        with np.load(path) as kept:
            arrays = dict(kept)
        for name in ("points", "path", "atoms", "Q"):
            if name in arrays and (name == "points") == (record["row"]["problem"] != "polygon"):
                arrays[name] = SHAPES[how](arrays[name])
        buffer = io.BytesIO()
        np.savez(buffer, **arrays)
        path.write_bytes(buffer.getvalue())
        record["points"] = len(buffer.getvalue())
    (folder / "journal.jsonl").write_text("".join(map(line, records)))
    assert refused_or_done("show", str(folder)).code == 0


def test_a_record_of_another_hand_is_left_out_and_its_run_not_started(copied):
    folder = copied()
    path = folder / "journal.jsonl"
    records = [json.loads(text)["record"] for text in path.read_text().splitlines()]
    records[0]["trace"]["gap"][0] = "none"
    path.write_text("".join(map(line, records)))
    with pytest.warns(UserWarning, match=r"1 records are none .*trace.gap\[0\] must be a finite"):
        runs = build(RunFolder(folder)).runs
    assert (runs["status"] == "interrupted").sum() == 1


def test_what_a_terminal_obeys_is_shown_as_an_escape(copied):
    folder = copied()
    path = folder / "journal.jsonl"
    records = [json.loads(text)["record"] for text in path.read_text().splitlines()]
    for record in records:
        record["row"] |= {
            "solver_label": "a\x1b[31m\u202e",
            "reason": "b\x07\x9b",
            "status": "error",
        }
    path.write_text("".join(map(line, records)))
    shown = refused_or_done("show", str(folder)).out
    assert r"a\x1b[31m\u202e" in shown
