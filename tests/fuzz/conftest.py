import pytest

from .made_hostile import command

SUITE = """
claims = ["one_dimension"]
[[block]]
problems = ["polygon[k=4]"]
solvers = ["frank_wolfe[step=open_loop]", "vertex_enumeration"]
max_steps = 12
[[block]]
problems = ["token_cloud[name=four-one]"]
solvers = ["hardmax_attention[keys=moving]", "frank_wolfe[step=open_loop]"]
max_steps = 12
"""


@pytest.fixture(scope="session")
def sound(tmp_path_factory):
    """Return a small real run folder, with its tables; nobody writes into it."""
    folder = tmp_path_factory.mktemp("sound")
    (folder / "small.toml").write_text(SUITE)
    out = folder / "run"
    made = command("run", str(folder / "small.toml"), "--in-process", "--out", str(out),
                   "--no-report")  # fmt: skip
    assert made.code == 0, made
    return out
