"""The house: imports point down only, modules stay small, everything public says what it is."""

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from fnmatch import fnmatch
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
LARGEST = 400  # lines of a module; longer, it is two modules
HEAVY = frozenset({"cvxpy", "matplotlib", "pandas", "plotly", "scipy"})
LIGHT_BELOW = (6, 0)  # below this floor heavy libraries are imported where they are used

# A module imports from floors below its own alone. A wildcard holds for what is named nowhere
# else. docs/house.md shows this table.
FLOORS = {
    (11, 5): "__main__",
    (11, 4): "cli",
    (11, 3): "cli.run",
    (11, 2): "cli.*",
    (11, 1): "cli.shown",
    (11, 0): "cli.progress",
    (10, 2): "plugin",
    (10, 1): "api pytest_rows",
    (10, 0): "results handed expectations rounds",
    (9, 7): "report.comparison report.history",
    (9, 6): "report.differences report.pages",
    (9, 5): "report.write",
    (9, 4): "report.*",
    (9, 3): "report.conclusions report.captions report.paper_tables report.embedding",
    (9, 2): "report.exhibits report.panels report.curves report.claims report.diagrams "
    "report.atlases report.gallery report.heads report.resting report.profiles "
    "report.rates report.standings report.profile_tables report.growing report.paths "
    "report.environment",
    (9, 1): "report.selection report.markdown report.bands report.sentences "
    "report.grid report.tex report.columns",
    (9, 0): "report report.words report.canvas",
    (8, 4): "gating.trials",
    (8, 3): "gating.gate",
    (8, 2): "gating.turns gating.exact",
    (8, 1): "gating gating.*",
    (8, 0): "session gating.making",
    (7, 8): "comparing",
    (7, 7): "baseline analysis.comparison",
    (7, 6): "views pytest_files analysis.pairing analysis.moves analysis.quantities "
    "analysis.reached analysis.durations analysis.chronicle",
    (7, 5): "analysis.changes",
    (7, 4): "analysis.sides analysis.shifts analysis.ratios",
    (7, 3): "findings",
    (7, 2): "analysis.plane gathering gating.version",
    (7, 1): "verify planning doctor analysis.findings analysis.resting analysis.standings "
    "gating.overlays gating.revisions gating.places",
    (7, 0): "store suite suites manifest quietness interruption analysis analysis.* "
    "claims claims.* gating.commands gating.foremost",
    (6, 6): "execution.cluster",
    (6, 5): "execution.members",
    (6, 4): "execution.pool execution.guest",
    (6, 3): "execution.isolated contract.child",
    (6, 2): "theory.* execution.worker contract.* analysis.contests",
    (6, 1): "execution.here execution.shipping execution.waiting execution.local_workers "
    "theory.walks theory.chains theory.intervals theory.verdicts "
    "journal lock points contract.cases contract.printed analysis.efforts",
    (6, 0): "analysis.alike analysis.regimes analysis.shares analysis.means "
    "execution execution.* theory theory.claim disk reading contract contract.rule",
    (5, 0): "runner choose",
    (4, 1): "catalog rest stability timing endings",
    (4, 0): "judge trace grammar names warm yardsticks heads stretches beside surroundings",
    (3, 0): "solvers solvers.* problems problems.*",
    (2, 2): "settling blocked_corral",
    (2, 1): "solver tokens layers first_order corral scored blocked opened",
    (2, 0): "laws attention labels steps schedules values lowering foreign minilm tables "
    "archives matlab closure",
    (1, 0): "problem calls intake shapes",
    (0, 5): "reductions",
    (0, 4): "kernels.pairs blocks chunked",
    (0, 3): "kernels.frank_wolfe kernels.gradient kernels.working_set kernels.escapes block_files",
    (0, 2): "kernels.* pieces listed",
    (0, 1): "cards kernels.passes kernels.line kernels.order geometry.inputs geometry.kinds "
    "geometry.ascent geometry.starts",
    (0, 0): "errors plain observing imports kernels geometry geometry.*",
}


@cache
def modules() -> dict[str, Path]:
    """Return the files by module name, "fwbench." left out; "" is the package itself."""
    found = {}
    for folder, skip in (("fwbench", 1), ("solvers", 0), ("problems", 0)):
        for path in sorted((ROOT / folder).rglob("*.py")):
            if "data" in path.relative_to(ROOT).parts:
                continue  # scripts that made the data; not modules
            parts = path.relative_to(ROOT).with_suffix("").parts[skip:]
            found[".".join(part for part in parts if part != "__init__")] = path
    return found


def floor(module: str) -> tuple[int, int] | None:
    names = [(place, name) for place, row in FLOORS.items() for name in row.split()]
    exact = [place for place, name in names if name == module]
    return next(iter(exact or [place for place, name in names if fnmatch(module, name)]), None)


@cache
def parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def imported(module: str) -> Iterator[str]:
    """Yield the modules of the package that a module imports, wherever in the file."""
    for node in ast.walk(parsed(modules()[module])):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{module}: relative import"
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        else:
            continue
        for name in names:
            package, _, inside = name.partition(".")
            if package == "fwbench":
                yield inside if inside in modules() else inside.rpartition(".")[0]


def test_every_module_has_one_floor():
    named = [name for row in FLOORS.values() for name in row.split()]
    assert len(named) == len(set(named))
    assert [module for module in modules() if module and floor(module) is None] == []


def test_the_table_names_only_modules_that_exist():
    for row in FLOORS.values():
        for name in row.split():
            assert any(fnmatch(module, name) for module in modules()), name


def test_imports_point_down():
    upward = [
        f"{module} {floor(module)} imports {other} {floor(other)}"
        for module in modules()
        if module  # the package's own file names what it loads at first use, from any floor
        for other in imported(module)
        if other and not floor(other) < floor(module)
    ]
    assert upward == []


def test_the_documentation_shows_the_same_floors():
    text = (ROOT / "docs" / "house.md").read_text(encoding="utf-8")
    shown = {
        (int(storey), int(step)): re.findall(r"`([\w.*]+)`", names)
        for storey, step, names in re.findall(r"^\| (\d+)\.(\d) \| ([^|]*) \|", text, re.M)
    }
    assert shown == {place: row.split() for place, row in FLOORS.items()}


def test_solvers_and_problems_are_reached_through_the_catalogue():
    for module in modules():
        for other in imported(module):
            assert not re.match(r"(solvers|problems)\.", other), f"{module} imports {other}"


def test_heavy_libraries_are_imported_where_they_are_used():
    for module, path in modules().items():
        if not module or floor(module) >= LIGHT_BELOW:
            continue
        for node in parsed(path).body:
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [node.module] if isinstance(node, ast.ImportFrom) and node.module else []
            assert not HEAVY & {name.partition(".")[0] for name in names}, module


@pytest.mark.parametrize("module", sorted(modules()))
def test_a_module_is_small(module):
    lines = modules()[module].read_text(encoding="utf-8").count("\n")
    assert lines <= LARGEST, f"{module} has {lines} lines: it is two modules"


def test_no_module_is_a_drawer():
    drawers = {"utils", "util", "base", "helpers", "helper", "common", "misc"}
    assert [m for m in modules() if m.rpartition(".")[2].strip("_") in drawers] == []


def test_everything_public_has_a_docstring():
    silent = []
    for module, path in modules().items():
        if ast.get_docstring(parsed(path)) is None:
            silent.append(module or "fwbench")
        for node in parsed(path).body:
            named = isinstance(node, ast.FunctionDef | ast.ClassDef)
            if named and not node.name.startswith("_") and ast.get_docstring(node) is None:
                silent.append(f"{module}.{node.name}")
    assert [name for name in silent if not name.endswith("__getattr__")] == []


def test_silenced_checks_say_which():
    bare = []
    for path in (*modules().values(), *sorted((ROOT / "tests").rglob("*.py"))):
        for token in tokenize.generate_tokens(io.StringIO(path.read_text("utf-8")).readline):
            if token.type == tokenize.COMMENT and re.search(
                r"type:\s*ignore(?!\[[\w, -]+\])|noqa(?!:\s*[A-Z]+\d+)", token.string
            ):
                bare.append(f"{path.relative_to(ROOT)}:{token.start[0]}")
    assert bare == []
