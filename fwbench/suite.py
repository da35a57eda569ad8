"""Suites: TOML files that say which solvers run on which problems."""

from __future__ import annotations

import hashlib
import re
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fwbench.errors import InvalidParameter, UnknownName, brief, nearest
from fwbench.intake import obstacle
from fwbench.names import files

FOLDER = Path(__file__).parent / "suites"
_TOP = {"name", "version", "description", "block", "claims", "diagrams"}
_BLOCK = {"problems", "solvers", "tol", "max_steps", "max_seconds", "repeat"}
LARGEST = 2**20  # bytes of a file: a longer one is no suite
MOST_REPEATED = 10_000
LONGEST_NAME = 100


@dataclass(frozen=True)
class Block:
    """Solvers that run on problems, every one on every one, so often; None: all solvers."""

    problems: tuple[str, ...]
    solvers: tuple[str, ...] | None
    limits: dict[str, Any]
    repeat: int = 1


@dataclass(frozen=True)
class Suite:
    """A suite.

    `claims` are verified with it, `diagrams` asks for the paper's figures of pure geometry,
    `digest` is a hash of its file.
    """

    name: str
    version: int
    description: str
    blocks: tuple[Block, ...]
    digest: str
    claims: tuple[str, ...] = ()
    diagrams: bool = False

    @property
    def label(self) -> str:
        """Name and version."""
        return f"{self.name}@{self.version}"


def suites() -> dict[str, Path]:
    """Return the built-in suites: the newest version under its name, each under name@version.

    Examples
    --------
    >>> "quick" in suites()
    True
    """
    found = {path.stem: path for path in sorted(FOLDER.glob("*.toml"))}
    newest: dict[str, int] = {}
    for stem in found:
        name, _, version = stem.partition("@")
        newest[name] = max(newest.get(name, 0), int(version))
    return found | {name: found[f"{name}@{version}"] for name, version in newest.items()}


def load(name: str) -> Suite:
    """Read a suite by name, name@version or the path of a TOML file.

    Raises
    ------
    UnknownName
        For names and keys that do not exist, with the nearest ones.
    InvalidParameter
        For a file that does not read as a suite.
    """
    known = suites()
    path = Path(name) if name.endswith(".toml") else known.get(name)
    if path is None:
        raise UnknownName(f"no suite {name!r}; {nearest(name, known)}")
    data = _read(path, name)
    try:
        content = tomllib.loads(data.decode("utf-8-sig"))
    except RecursionError as error:
        raise InvalidParameter(
            f"{path}: not TOML that is a suite: it is nested too deep"
        ) from error
    except ValueError as error:  # integers of too many digits among others
        raise InvalidParameter(f"{path}: not TOML: {error}") from error
    _known_keys(path, content, _TOP)
    blocks = content.get("block")
    if not isinstance(blocks, list) or not blocks:
        raise InvalidParameter(f"{path}: a suite needs at least one [[block]]")
    claims = content.get("claims", [])
    if not isinstance(claims, list) or not all(isinstance(claim, str) for claim in claims):
        raise InvalidParameter(f"{path}: claims must be a list of names; got {brief(claims)}")
    for claim in claims:
        if claim not in (known := files("claims")):
            raise UnknownName(f"{path}: no claim is called {brief(claim)}; {nearest(claim, known)}")
    diagrams = content.get("diagrams", False)
    if type(diagrams) is not bool:
        raise InvalidParameter(f"{path}: diagrams must be true or false; got {brief(diagrams)}")
    bare = re.sub(r"[^\w.-]", "-", path.stem.partition("@")[0])[:LONGEST_NAME]
    name, version = content.get("name", bare), content.get("version", 1)
    if not isinstance(name, str) or not re.fullmatch(rf"[\w.-]{{1,{LONGEST_NAME}}}", name):
        raise InvalidParameter(
            f"{path}: name must consist of letters, digits, dots, _ and -, {LONGEST_NAME} at most; "
            f"got {brief(name)}"
        )
    if type(version) is not int or not 0 <= version < 2**31:
        raise InvalidParameter(
            f"{path}: version must be an integer; got {brief(version)} (0 to 2**31 - 1)"
        )
    description = content.get("description", "")
    if not isinstance(description, str):
        raise InvalidParameter(f"{path}: description must be a text; got {brief(description)}")
    return Suite(
        name=name,
        version=version,
        description=description,
        blocks=tuple(_block(path, block) for block in blocks),
        claims=tuple(dict.fromkeys(claims)),
        diagrams=diagrams,
        digest=hashlib.sha256(data).hexdigest()[:16],
    )


def _block(path: Path, block: Any) -> Block:
    """Read a block, or say what is wrong with it."""
    if not isinstance(block, dict):
        raise InvalidParameter(f"{path}: a block is a table [[block]]; got {brief(block)}")
    _known_keys(path, block, _BLOCK)
    for key in ("problems", "solvers"):
        texts = block.get(key, [])
        if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
            raise InvalidParameter(f"{path}: {key} must be a list of texts; got {brief(texts)}")
    if not block.get("problems") or block.get("solvers") == []:
        raise InvalidParameter(
            f"{path}: each [[block]] needs problems; solvers may be left out (all run)"
        )
    limits = {key: block[key] for key in ("tol", "max_steps", "max_seconds") if key in block}
    for key, value in limits.items():
        kinds = (int,) if key == "max_steps" else (int, float)
        if type(value) not in kinds or not 0 < value < 2**63:
            rule = "integer" if key == "max_steps" else "number"
            raise InvalidParameter(f"{path}: {key} must be a positive {rule}; got {brief(value)}")
    repeat = block.get("repeat", 1)
    if type(repeat) is not int or repeat < 1:
        raise InvalidParameter(f"{path}: repeat must be a positive integer; got {brief(repeat)}")
    if repeat > MOST_REPEATED:
        raise InvalidParameter(
            f"{path}: repeat must be at most {MOST_REPEATED}; got {brief(repeat)}"
        )
    solvers = tuple(block["solvers"]) if "solvers" in block else None
    return Block(tuple(block["problems"]), solvers, limits, repeat)


def _read(path: Path, name: str) -> bytes:
    if (why := obstacle(path)) is not None:
        raise UnknownName(f"no suite {name}: {why}")
    try:
        with path.open("rb") as file:
            data = file.read(LARGEST + 1)
    except OSError as error:
        raise UnknownName(f"no suite {name}: {error.strerror}") from error
    if len(data) > LARGEST:
        raise InvalidParameter(f"{path}: no suite takes more than {LARGEST} bytes")
    return data


def _known_keys(path: Path, table: dict[str, Any], known: set[str]) -> None:
    for key in table:
        if key not in known:
            raise UnknownName(f"{path}: no key {brief(key)}; {nearest(key, known)}")
