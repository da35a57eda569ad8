"""Names that do harm: they escape neither into paths nor into pages, pictures or terminals."""

import json
import re
import xml.etree.ElementTree as ElementTree
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fwbench import catalog
from fwbench.errors import InvalidParameter, visible
from fwbench.report import canvas, gallery
from fwbench.report.canvas import drawing
from fwbench.report.curves import inline
from fwbench.report.exhibits import stems
from fwbench.report.html import breakable, embedded, folded
from fwbench.report.markdown import code, prose
from fwbench.theory import verdicts
from fwbench.theory.claim import Curves, Line
from fwbench.verify import claims

from .made_hostile import FORBIDDEN, NAMES, calm, command, refused_or_done

SHORT = [name for name in NAMES if len(name) < 1000]
TEXTS = st.one_of(st.sampled_from(NAMES), st.text(max_size=40))

SOLVER = """
from dataclasses import dataclass

import numpy as np

from fwbench.geometry.combinations import Combinations
from fwbench.solver import SolverEntry


@dataclass
class Resting:
    problem: object
    start: Combinations
    steps: int = 0
    done: bool = True
    claim: str | None = None

    def points(self):
        return self.start.points(self.problem.atoms)

    def weights(self):
        return self.start


@dataclass(frozen=True)
class Rests:
    word: str = ""
    fails: bool = False

    def prepare(self, problem):
        if self.fails:
            raise RuntimeError(self.word)
        return problem

    def init(self, model, start):
        return Resting(model, start)

    def advance(self, model, state, steps):
        state.steps += steps


ENTRY = SolverEntry(name=NAME, make=Rests, label="rests", reference="none", law="none")
"""


class Tags(HTMLParser):
    """Counts what is markup in a page."""

    def __init__(self, page):
        super().__init__()
        self.tags, self.handlers = [], []
        self.feed(page)

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        self.handlers += [name for name, _ in attributes if name.startswith("on")]


# -- the rule for an entry's name ----------------------------------------------------------------


@pytest.mark.parametrize("name", [*NAMES, "-s", ".hidden", "a/b", "a[b]", "a b", "a=b", "x" * 101])
def test_the_name_of_an_entry_is_plain(tmp_path, name):
    path = tmp_path / "solver.py"
    path.write_text(SOLVER.replace("NAME", ascii(name)))
    with pytest.raises(
        InvalidParameter, match="the name of its ENTRY must begin with a letter"
    ) as e:
        catalog.entry("solvers", str(path))
    assert len(str(e.value)) < 500 + len(str(path))


@pytest.mark.parametrize("name", ["a", "x" * 100, "pairwise-2.0_fast", "3way"])
def test_a_plain_name_is_taken(tmp_path, name):
    path = tmp_path / "solver.py"
    path.write_text(SOLVER.replace("NAME", repr(name)))
    assert catalog.entry("solvers", str(path)).name == name


# -- what is shown -------------------------------------------------------------------------------


@settings(calm, max_examples=120)
@given(TEXTS)
def test_nothing_that_is_shown_is_obeyed(text):
    assert not (FORBIDDEN | {"\n"}) & set(visible(text))
    assert not {"<", ">", '"'} & set(re.sub("<wbr>", "", str(breakable(text)) + str(folded(text))))
    for shown in (prose(text), code(text)):
        assert not (FORBIDDEN | {"\n"}) & set(shown)
    assert not re.search(r"(?<!\\)[|`*_\[\]]|<", prose(text))
    data = str(embedded({"name": text, text: 1}))
    assert not {"<", ">", "&", "\u2028", "\u2029"} & set(data)
    assert json.loads(data)["name"] in (text, 1)


@settings(calm, max_examples=60)
@given(st.lists(TEXTS, unique=True, max_size=6))
def test_every_label_has_a_file_name_of_its_own(labels):
    names = list(stems({str(k): label for k, label in enumerate(labels)}).values())
    assert len(set(names)) == len(names)
    for name in names:
        assert re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9.=_~-]*", name) or name[0] in "=_~"
        assert len(f"convergence-{name}.png".encode()) <= 255


def claim(text):
    lines = (Line(text, np.array([1.0, 2.0]), np.array([1.0, 3.0]), False),)
    drawn = Curves(title=text, x_label=text, y_label=text, lines=lines, log_x=False, log_y=True,
                   marks=((1.5, text),), note=text)  # fmt: skip
    return {"name": "a", "curves": verdicts._drawn(drawn)}


def test_pictures_are_whole_whatever_they_are_labelled():
    text = "".join(SHORT)
    with drawing():  # a picture may lack a letter, and is a picture
        picture = inline(claim(text))
    tags = {element.tag.rpartition("}")[2] for element in ElementTree.fromstring(picture).iter()}
    assert "script" not in tags
    assert not {"image", "a", "foreignObject"} & tags
    points = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [0.0, 0.0]])
    drawn = gallery._Sheet(points).drawn(text, [])
    assert ElementTree.fromstring(str(drawn)).get("aria-label") == visible(text)


def test_a_long_label_is_cut_in_a_picture():
    assert len(canvas.label("x" * 10_000)) == canvas.LONGEST


@pytest.mark.parametrize(
    ("low", "high", "log"),
    [(5e-324, 1.7e308, True), (1e-300, 1e300, True), (1.7e308, 1.7e308, False)],
)
def test_axes_hold_all_numbers(low, high, log):
    lines = (Line("a", np.array([1.0, 2.0, 3.0]), np.array([low, high, low]), False),)
    drawn = Curves(title="", x_label="", y_label="", lines=lines, log_x=False, log_y=log)
    assert inline({"name": "a", "curves": verdicts._drawn(drawn)})


# -- a real run ----------------------------------------------------------------------------------


def quoted(text):
    return '"' + text.replace('"', '""') + '"'


@pytest.fixture(scope="module")
def ran(tmp_path_factory):
    """Return a run folder whose names do harm, and what the commands printed."""
    folder = tmp_path_factory.mktemp("names")
    (folder / "rests.py").write_text(SOLVER.replace("NAME", "'rests'"))
    words = [text for text in SHORT if "\0" not in text]
    spelled = [quoted(text) for text in words]
    solver = f"{folder}/rests.py[word={','.join(spelled)}]"
    failing = f"{folder}/rests.py[fails=true,word={','.join(spelled[:3])}]"
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        atoms = b"0,0\n1,0\n0,1\n"
        files = ["<img src=x onerror=alert(1)>.csv", "red\x1b[31m\u202e.csv", "a & 'b' `c`|$d$.csv"]
        for name in files:
            Path(name).write_bytes(atoms)
        problems = [part for name in files for part in ("-p", quoted(name))]
        ended = command("run", "-s", solver, "-s", failing, *problems, "--in-process",
                        "--out", "run", "--no-report")  # fmt: skip
        assert ended.code == 1, ended.err[-2000:]
        report = refused_or_done("report", "run", "--format", "html,md")
        return folder / "run", ended, report


def test_a_run_writes_into_its_folder_alone(ran):
    folder, _, _ = ran
    beside = {path.name for path in folder.parent.iterdir()}
    assert beside == {"rests.py", "run", *(name for name in beside if name.endswith(".csv"))} or (
        beside - {"__pycache__"}
        == {name for name in beside if name.endswith((".csv", "rests.py"))} | {"run"}
    )
    for path in folder.rglob("*"):
        assert len(path.name.encode()) <= 255
        assert path.name.isascii()
        assert path.name.isprintable()


def test_a_page_holds_no_markup_but_its_own(ran):
    folder, _, _ = ran
    page = (folder / "report.html").read_text(encoding="utf-8")
    found = Tags(page)
    assert not {"img", "iframe", "object", "embed", "base", "link"} & set(found.tags)
    assert found.tags.count("script") <= 3  # data, plotly, our own
    assert found.handlers == []
    assert "{{" not in page.partition("<script")[0].replace("{{ 7 * 7 }}", "")


def test_a_summary_holds_no_markup_but_its_own(ran):
    folder, _, _ = ran
    text = (folder / "summary.md").read_text(encoding="utf-8")
    assert not FORBIDDEN & set(text)
    outside = re.sub(r"(`+).+?\1", "", text)
    assert "<" not in outside


def test_a_terminal_is_told_nothing(ran):
    folder, ended, report = ran
    shown = refused_or_done("show", str(folder))
    for part in (ended, report, shown):
        assert not FORBIDDEN & set(part.out + part.err)
    assert r"\x1b[31m" in shown.out


@pytest.mark.parametrize("name", ["a b.py", "<b>.py", "red\x1b[31m.py", "x" * 150 + ".py"])
def test_the_name_of_a_claim_is_plain(tmp_path, name):
    path = tmp_path / name
    path.write_text("CLAIM = None\n")
    with pytest.raises(InvalidParameter, match=r"the name of a claim, .* must consist of"):
        claims((str(path),))
