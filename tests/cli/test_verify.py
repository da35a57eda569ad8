import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from fwbench import names

MADE = Path(__file__).parents[1] / "made" / "squares_are_small.py"
AS_EXPECTED, SURPRISED, WRONG_USE, INTERRUPTED = 0, 1, 2, 130


@pytest.fixture
def claim(fwbench):
    """Copy the made claim into the folder of the command, with another bound."""

    def copy(bound: object = 100) -> str:
        text = MADE.read_text().replace("BOUND = 100", f"BOUND = {bound}")
        Path(MADE.name).write_text(text)
        return MADE.name

    return copy


# -- verdicts --------------------------------------------------------------------------------


def test_a_claim_of_the_paper_is_as_expected(fwbench):
    done = fwbench("verify", "theorem_3_1")
    assert done.code == AS_EXPECTED, done.err
    assert "broken, as expected" in done.out
    assert "1 claim: broken 1; as its file expects." in done.out
    assert done.err.startswith("[1/1] claim theorem_3_1: broken, as expected, ")


def test_a_surprise_is_said_and_sets_the_exit_code(fwbench, claim):
    done = fwbench("verify", claim(50), "theorem_3_1")
    assert done.code == SURPRISED
    assert "squares_are_small: broken where holds is expected" in done.out
    assert "2 claims: broken 2; 1 not as their files expect." in done.out
    assert "[1/2] claim squares_are_small: broken, not as expected" in done.err


def test_a_control_that_holds_is_a_surprise(fwbench, claim):
    done = fwbench("verify", claim(10_000), "--json")
    assert done.code == SURPRISED
    [told] = done.json["claims"]
    assert (told["verdict"], told["as_expected"]) == ("holds", False)
    assert told["surprises"] == ["control number 99: holds, must be broken"]


def test_a_check_that_fails_is_told(fwbench, claim):
    done = fwbench("verify", claim("1 / 0 if True else 0").replace(".py", "") + ".py")
    assert done.code == WRONG_USE  # the file itself cannot be imported
    assert "ZeroDivisionError" in done.err
    Path(MADE.name).write_text(MADE.read_text().replace("number**2 < BOUND", "number**2 < bound"))
    done = fwbench("verify", MADE.name, "--out", "v")
    assert done.code == SURPRISED
    said = "the check failed: NameError: name 'bound' is not defined (squares_are_small.py:"
    assert said in done.out
    pages = [Path("v", name).read_text() for name in ("claims.html", "claims.md", "claims.json")]
    assert all("squares_are_small.py:" in page.replace("\\_", "_") for page in pages)
    assert not any(str(Path.cwd()) in page or "Traceback" in page for page in pages)
    assert not any(sys.prefix in page for page in pages)


def test_long_looks_further(fwbench, claim):
    done = fwbench("verify", claim(), "--long", "--json")
    assert done.code == SURPRISED
    assert done.json["effort"] == "long"
    assert done.json["claims"][0]["witness"] == "number 14: 196 >= 100"


# -- JSON ------------------------------------------------------------------------------------


def test_json_stands_alone_and_is_strict(fwbench, claim):
    text = MADE.read_text().replace("    number = case", '    print("noise")\n    number = case')
    Path(MADE.name).write_text(text)
    done = fwbench("verify", MADE.name, "--json")
    assert done.code == AS_EXPECTED
    told = json.loads(done.out, parse_constant=lambda word: pytest.fail(word))
    assert (told["schema"], told["effort"], told["interrupted"]) == (1, "standard", False)
    assert told["seconds"] > 0
    [one] = told["claims"]
    assert set(one) == {
        "name", "section", "title", "statement", "formula", "source", "standing", "remark",
        "hypotheses", "quantity", "horizon", "arithmetic", "expects", "expects_witness",
        "verdict", "as_expected", "surprises", "witness", "numbers", "numbers_of", "tried",
        "controls", "seconds", "error", "trace", "asked", "file", "about",
    }  # fmt: skip
    assert "noise" in done.err


# -- files -----------------------------------------------------------------------------------


def test_out_holds_verdicts_pages_and_figures(fwbench, claim):
    done = fwbench("verify", claim(), "theorem_3_1", "--out", "v")
    assert done.code == AS_EXPECTED
    assert f"Verdicts: {Path('v/claims.html')}" in done.err
    assert {str(p.relative_to("v")) for p in Path("v").rglob("*") if p.is_file()} == {
        "claims.json", "claims.html", "claims.md",
        *(f"figures/claim-{name}.{suffix}" for name in ("squares_are_small", "theorem_3_1")
          for suffix in ("pdf", "png")),
    }  # fmt: skip
    kept = json.loads(Path("v/claims.json").read_text())
    assert [one["name"] for one in kept["claims"]] == ["squares_are_small", "theorem_3_1"]
    assert kept["claims"][0]["curves"]["lines"][0]["y"] == [1.0, None, 16.0]


def test_a_folder_is_never_overwritten_unasked(fwbench, claim):
    assert fwbench("verify", "theorem_3_1", "--out", "v").code == AS_EXPECTED
    before = Path("v/claims.json").read_bytes()
    done = fwbench("verify", claim(), "--out", "v")
    assert (done.code, done.out) == (WRONG_USE, "")
    assert done.err == "fwbench: v exists; --fresh writes new verdicts over it\n"
    assert Path("v/claims.json").read_bytes() == before
    assert fwbench("verify", claim(), "--out", "v", "--fresh").code == AS_EXPECTED
    assert not list(Path("v/figures").glob("claim-theorem*"))


@pytest.mark.parametrize("kind", ["run", "other", "file"])
def test_a_folder_of_something_else_is_left_alone(fwbench, claim, kind):
    if kind == "file":
        Path("v").write_text("x")
    else:
        Path("v").mkdir()
        Path("v", "manifest.json" if kind == "run" else "notes.txt").write_text("{}")
    for also in ((), ("--fresh",)):
        done = fwbench("verify", claim(), "--out", "v", *also)
        assert done.code == WRONG_USE
        assert "v is " in done.err


# -- wrong use -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["theorem_3_2"], "no claim is called 'theorem_3_2'; did you mean theorem_3_1?"),
        (["nowhere.py"], "no file nowhere.py"),
        (["theorem_3_1", "--fresh"], "--fresh goes with --out"),
        (["theorem_3_1", "--jobs", "0"], "'--jobs'"),
    ],
)
def test_wrong_use_is_a_sentence(fwbench, words, said):
    done = fwbench("verify", *words)
    assert (done.code, done.out) == (WRONG_USE, "")
    assert said in done.err


# -- list and describe -----------------------------------------------------------------------


def test_claims_are_listed_and_described(fwbench):
    assert set(fwbench("list", "claims", "--json").json) == set(names.files("claims"))
    done = fwbench("describe", "theorem_3_1")
    for said in ("Source: arXiv 2508.09628v1, Theorem 3.1", "Standing: false", "Hypotheses:",
                 "Expected verdict: broken", "First witness: token_cloud[name=triangle-16]",
                 "fwbench verify theorem_3_1"):  # fmt: skip
        assert said in done.out
    done = fwbench("describe", "bound_while_origin_inside")
    assert "fwbench/claims/bound_while_origin_inside.py begins:" in done.out
    assert "Proof. Let a_t = J^t(x^{t+1}) of one token." in done.out
    done = fwbench("describe", "theorem_3_2")
    assert "did you mean theorem_3_1" in done.err


def test_a_claim_of_a_file_is_described_and_tried_again_by_its_path(fwbench, claim):
    Path("mine").mkdir()
    path = str(Path(claim()).rename(Path("mine", MADE.name)))
    done = fwbench("describe", path)
    assert done.code == AS_EXPECTED, done.err
    assert "squares_are_small: squares are small" in done.out
    assert done.out.endswith(f"fwbench verify {path}\n")
    assert fwbench("verify", path, "--out", "v", "--jobs", "1").code == AS_EXPECTED
    page, text = Path("v/claims.html").read_text(), Path("v/claims.md").read_text()
    assert f"<code>fwbench verify {path}</code>" in page
    assert f"- again: `fwbench verify {path}`" in text
    assert f">fwbench verify {path} --out v --jobs 1</pre>" in page


def test_lines_in_a_log_are_as_long_as_columns_says(fwbench, claim, monkeypatch):
    for columns, widest in (("120", 120), ("60", 60), ("", 140), ("wide", 140)):
        monkeypatch.setenv("COLUMNS", columns)
        lines = fwbench("verify", claim(), "theorem_3_1").out.splitlines()
        assert max(map(len, lines)) <= widest
        if widest > 110:
            assert "─" * widest in lines
        assert all(line == line.rstrip() for line in lines)


# -- Ctrl-C ----------------------------------------------------------------------------------


def test_what_was_done_before_a_ctrl_c_is_told_and_kept(fwbench, claim, monkeypatch):
    stopped = MADE.read_text().replace("squares_are_small", "stopped").replace(
        "    number = case", "    raise KeyboardInterrupt\n    number = case"
    ).replace("section=2", "section=3")  # fmt: skip
    Path("stopped.py").write_text(stopped)
    done = fwbench("verify", "stopped.py", claim(), "--out", "v")
    assert done.code == INTERRUPTED
    assert "interrupted; 1 of 2 claims were tried" in done.err
    assert "Interrupted: claims are missing." in done.out
    kept = json.loads(Path("v/claims.json").read_text())
    assert kept["interrupted"]
    assert [one["name"] for one in kept["claims"]] == ["squares_are_small"]


@pytest.mark.skipif(os.name != "posix", reason="signals are POSIX's")
def test_a_ctrl_c_ends_the_other_processes_too(tmp_path):
    for i in range(8):
        text = MADE.read_text().replace("squares_are_small", f"claim_{i}")
        if i:
            text = text.replace(
                "    number = case", "    import signal; signal.pause()\n    number = case"
            )
        (tmp_path / f"claim_{i}.py").write_text(text)
    words = ["verify", *(f"claim_{i}.py" for i in range(8)), "--jobs", "2", "--json"]
    running = subprocess.Popen(
        [sys.executable, "-m", "fwbench", *words], cwd=tmp_path, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True,
        # a shell that starts the tests in the background has its children ignore a Ctrl-C
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )  # fmt: skip
    assert running.stderr is not None
    assert "[1/8] claim claim_0: holds" in running.stderr.readline()
    os.killpg(running.pid, signal.SIGINT)
    out, err = running.communicate(timeout=60)  # waits for all who hold these streams
    assert running.returncode == INTERRUPTED
    assert "Traceback" not in err
    assert [one["name"] for one in json.loads(out)["claims"]] == ["claim_0"]


# -- claims of a suite -----------------------------------------------------------------------

SUITE = """claims = ["theorem_3_1"]
[[block]]
problems = ["token_cloud[name=four-one]"]
solvers = ["cvxpy_reference"]
"""


@pytest.fixture
def suite(fwbench):
    Path("mine.toml").write_text(SUITE)
    return "mine.toml"


def test_a_run_verifies_the_claims_of_its_suite(fwbench, suite):
    done = fwbench("run", suite, "--out", "r")
    assert done.code == AS_EXPECTED, done.err
    assert "[2/2] claim theorem_3_1: broken, as expected" in done.err
    assert "1 claim: broken 1; as its file expects." in done.err
    kept = json.loads(Path("r/claims.json").read_text())
    assert (kept["claims"][0]["name"], kept["interrupted"]) == ("theorem_3_1", False)
    assert {p.name for p in Path("r/figures").glob("claim-*")} == {
        "claim-theorem_3_1.pdf", "claim-theorem_3_1.png"
    }  # fmt: skip
    assert 'id="claim-theorem_3_1"' in Path("r/report.html").read_text()
    assert "## Claims" in Path("r/summary.md").read_text()
    assert json.loads(Path("r/manifest.json").read_text())["claims"] == ["theorem_3_1"]
    shown = fwbench("show", "r", "--json").json
    assert shown["claims"]["claims"][0]["verdict"] == "broken"

    before = {path: path.read_bytes() for path in Path("r").rglob("*") if path.is_file()}
    for path in (Path("r/report.html"), *Path("r/figures").iterdir()):
        path.unlink()
    assert fwbench("report", "r").code == AS_EXPECTED
    assert {p: p.read_bytes() for p in Path("r").rglob("*") if p.is_file()} == before


@pytest.mark.slow
def test_a_folder_run_again_verifies_its_claims_again(fwbench, suite):
    assert fwbench("run", suite, "--out", "r", "--no-report").code == AS_EXPECTED
    Path("r/claims.json").unlink()
    assert fwbench("run", "--resume", "--out", "r", "--no-report").code == AS_EXPECTED
    assert Path("r/claims.json").exists()
    done = fwbench("run", "--from", "r", "--out", "again", "--no-report")
    assert "[2/2] claim theorem_3_1" in done.err
    other = ("-p", "token_cloud[name=four-one]", "-s", "cvxpy_reference")
    assert fwbench("run", *other, "--out", "r", "--fresh", "--no-report").code == AS_EXPECTED
    assert not Path("r/claims.json").exists()


def test_a_claim_that_surprises_fails_the_run(fwbench, suite, monkeypatch):
    from dataclasses import replace

    from fwbench import verify
    from fwbench.theory.claim import Verdict

    [found] = verify.written(("theorem_3_1",))
    surprised = found._replace(claim=replace(found.claim, expects=Verdict.HOLDS))
    monkeypatch.setattr(verify, "written", lambda names: [surprised])
    done = fwbench("run", suite, "--out", "r", "--no-report")
    assert done.code == SURPRISED
    assert "theorem_3_1: broken where holds is expected" in done.err


def test_claims_stand_in_the_plan_and_in_the_description(fwbench, suite):
    assert "claim theorem_3_1" in fwbench("run", suite, "--dry-run").out
    assert "claims:   theorem_3_1" in fwbench("describe", suite).out


@pytest.mark.parametrize(
    ("claims", "said"),
    [
        ('["theorem_3_2"]', "no claim is called 'theorem_3_2'; did you mean theorem_3_1"),
        ('"theorem_3_1"', "claims must be a list of names"),
        ("[3]", "claims must be a list of names"),
    ],
)
def test_claims_of_a_suite_are_known_before_anything_runs(fwbench, suite, claims, said):
    Path(suite).write_text(SUITE.replace('["theorem_3_1"]', claims))
    done = fwbench("run", suite, "--out", "r")
    assert done.code == WRONG_USE
    assert said in done.err
    assert not Path("r").exists()


def test_verdicts_that_do_not_read_are_named(fwbench, suite):
    assert fwbench("run", suite, "--out", "r", "--no-report").code == AS_EXPECTED
    for content, said in (("{", "is damaged"), ('{"schema": 9, "claims": []}', "newer fwbench")):
        Path("r/claims.json").write_text(content)
        done = fwbench("report", "r")
        assert done.code == WRONG_USE
        assert f"{Path('r/claims.json')} " in done.err
        assert said in done.err
