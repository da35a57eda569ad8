import hashlib

import pytest

from fwbench import catalog
from fwbench.errors import InvalidParameter, UnknownName
from fwbench.suite import load, suites

BLOCK = '[[block]]\nproblems = ["polygon"]\n'


@pytest.fixture
def written(tmp_path):
    def write(content, name="mine.toml"):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return str(path)

    return write


@pytest.mark.parametrize("name", sorted(suites()))
def test_every_name_in_a_built_in_suite_is_known(name):
    suite = load(name)
    assert suite.description
    assert suite.name == name.partition("@")[0]
    for block in suite.blocks:
        for text in block.problems:
            assert catalog.choices("problems", text)
        for text in block.solvers or ():
            assert catalog.choices("solvers", text)
        assert set(block.limits) <= {"tol", "max_steps", "max_seconds"}


def test_a_bare_name_is_the_newest_version():
    assert load("quick").label == "quick@1"
    assert load("quick") == load("quick@1")


def test_a_file_is_read(written):
    path = written(
        'name = "mine"\nversion = 3\n' + BLOCK + 'solvers = ["away_steps"]\ntol = 1e-4\n'
    )
    suite = load(path)
    assert suite.label == "mine@3"
    assert suite.blocks[0].problems == ("polygon",)
    assert suite.blocks[0].solvers == ("away_steps",)
    assert suite.blocks[0].limits == {"tol": 1e-4}


def test_a_block_may_run_more_than_once(written):
    assert load(written(BLOCK)).blocks[0].repeat == 1
    assert load(written(BLOCK + "repeat = 3\n")).blocks[0].repeat == 3


def test_diagrams_are_drawn_where_a_suite_asks_for_them(written):
    assert not load(written(BLOCK)).diagrams
    assert load(written("diagrams = true\n" + BLOCK)).diagrams


def test_all_solvers_run_where_none_are_named(written):
    assert load(written(BLOCK)).blocks[0].solvers is None


def test_a_file_without_a_name_is_called_by_its_own(written):
    assert load(written(BLOCK, "my suite.toml")).label == "my-suite@1"


def test_the_digest_is_of_the_file(written):
    path = written(BLOCK)
    assert hashlib.sha256(BLOCK.encode()).hexdigest().startswith(load(path).digest)
    assert (
        load(written(BLOCK + "# edited\n")).digest
        != hashlib.sha256(BLOCK.encode()).hexdigest()[:16]
    )


@pytest.mark.parametrize(
    ("content", "error", "said"),
    [
        ("foo = 1\n" + BLOCK, UnknownName, "no key 'foo'; known: block"),
        ("verison = 1\n" + BLOCK, UnknownName, "did you mean version"),
        (BLOCK + "tolerance = 1\n", UnknownName, "no key 'tolerance'"),
        ("", InvalidParameter, r"at least one \[\[block\]\]"),
        ('[block]\nproblems = ["polygon"]', InvalidParameter, r"at least one \[\[block\]\]"),
        ("block = [1]", InvalidParameter, "a block is a table.*got 1"),
        ("[[block]]\n", InvalidParameter, "needs problems"),
        ("[[block]]\nproblems = []", InvalidParameter, "needs problems"),
        (BLOCK + "solvers = []", InvalidParameter, "solvers may be left out"),
        ('[[block]]\nproblems = "polygon"', InvalidParameter, "must be a list of texts"),
        ("[[block]]\nproblems = [1]", InvalidParameter, "must be a list of texts"),
        (BLOCK + "repeat = 0", InvalidParameter, "repeat must be a positive integer; got 0"),
        (BLOCK + "repeat = true", InvalidParameter, "repeat must be a positive integer; got True"),
        ('version = "1"\n' + BLOCK, InvalidParameter, "version must be an integer; got '1'"),
        ("name = 3\n" + BLOCK, InvalidParameter, "name must consist of letters.*got 3"),
        ('name = "../up"\n' + BLOCK, InvalidParameter, "name must consist of letters"),
        ("diagrams = 1\n" + BLOCK, InvalidParameter, "diagrams must be true or false; got 1"),
        ("name = \n", InvalidParameter, "not TOML"),
        (b"\xff", InvalidParameter, "not TOML"),
    ],
)
def test_a_slip_is_named(written, content, error, said):
    path = written(content)
    with pytest.raises(error, match=said) as caught:
        load(path)
    assert path in str(caught.value)


def test_a_suite_that_does_not_exist_is_named(tmp_path):
    with pytest.raises(UnknownName, match="no suite 'quik'; did you mean quick"):
        load("quik")
    with pytest.raises(UnknownName, match="did you mean quick@1"):
        load("quick@2")
    with pytest.raises(UnknownName, match=r"no suite nowhere\.toml: no such file"):
        load("nowhere.toml")
    (tmp_path / "folder.toml").mkdir()
    with pytest.raises(UnknownName, match="this is a folder"):
        load(str(tmp_path / "folder.toml"))
