"""Small packages in git repositories and wheels, and what a side of a gate says of itself."""

import json
import os
import subprocess
import zipfile
from pathlib import Path
from textwrap import dedent

from fwbench.gating.code import Code

# Builds a wheel of what lies in src/, in no time; what `before` holds is run first.
BACKEND = """
import pathlib, subprocess, zipfile
{before}
def build_wheel(directory, *rest):
    name = "mine-{version}"
    top = pathlib.Path("src")
    files = {{path.relative_to(top): path.read_text() for path in top.rglob("*.py")}}
    with zipfile.ZipFile(f"{{directory}}/{{name}}-py3-none-any.whl", "w") as wheel:
        for place, text in files.items():
            wheel.writestr(str(place), text)
        info = "Metadata-Version: 2.1\\nName: mine\\nVersion: {version}\\n"
        wheel.writestr(f"{{name}}.dist-info/METADATA", info)
        kind = "Wheel-Version: 1.0\\nGenerator: made\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n"
        wheel.writestr(f"{{name}}.dist-info/WHEEL", kind)
        wheel.writestr(f"{{name}}.dist-info/RECORD", "")
    return f"{{name}}-py3-none-any.whl"
"""
IN_TREE = """
[build-system]
requires = []
build-backend = "backend"
backend-path = ["."]
"""


def write(folder: Path, files: dict[str, str]) -> Path:
    """Write files, named relatively; their text is dedented."""
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(dedent(text).lstrip("\n"), encoding="utf-8")
    return folder


def git(folder: Path, *words: str) -> str:
    """Run git as somebody, whatever this machine and a hook around it say."""
    environment = {k: v for k, v in os.environ.items() if not k.startswith("GIT_")}
    somebody = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    for who in ("AUTHOR", "COMMITTER"):
        somebody |= {f"GIT_{who}_NAME": "somebody", f"GIT_{who}_EMAIL": "somebody@localhost"}
    done = subprocess.run(
        ["git", *words], cwd=folder, env=environment | somebody, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def committed(folder: Path, files: dict[str, str]) -> Path:
    """Write files into a repository, which is made where there is none, and commit them."""
    write(folder, files)
    if not (folder / ".git").exists():
        git(folder, "init", "--quiet", "-b", "main")
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--allow-empty", "-m", "some")
    return folder


def quickly_built(before: str = "", version: str = "1.0", value: int = 1) -> dict[str, str]:
    """Return the files of a package with a build backend of its own."""
    return {
        "pyproject.toml": IN_TREE,
        "backend.py": BACKEND.format(before=before, version=version),
        "src/mine/__init__.py": f"VALUE = {value}\n",
    }


def made_wheel(folder: Path, package: str, text: str, version: str = "1.0") -> Path:
    """Write a wheel of one package of one file."""
    path = folder / f"{package}-{version}-py3-none-any.whl"
    info = f"{package}-{version}.dist-info"
    with zipfile.ZipFile(path, "w") as wheel:
        wheel.writestr(f"{package}/__init__.py", text)
        wheel.writestr(
            f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {package}\nVersion: {version}\n"
        )
        wheel.writestr(
            f"{info}/WHEEL",
            "Wheel-Version: 1.0\nGenerator: made\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        )
        wheel.writestr(f"{info}/RECORD", "")
    return path


def says(code: Code, expression: str, *modules: str) -> object:
    """Return what an expression is on a side, by way of JSON."""
    lines = [f"import {', '.join(('json', *modules))}", f"print(json.dumps({expression}))"]
    done = subprocess.run(
        [code.python, "-c", "\n".join(lines)],
        cwd=code.folder, env=code.environment(1), capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)
