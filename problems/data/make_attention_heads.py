"""Write attention_heads.npz: a few sentences at the doors of a few heads of all-MiniLM-L6-v2.

Run from anywhere as ``python problems/data/make_attention_heads.py``; it needs the extra
``transformer``. The same zlib gives the same bytes. Sentences and heads were chosen by what runs
do on them (``problems/attention_head.py`` says what that is).
"""

from pathlib import Path

import numpy as np

from fwbench import minilm

SENTENCES = (
    "No bird in the garden sang until the rain had stopped.",
    "When the lights went out, nobody in the hall moved or spoke.",
    "She gave the old map to her brother, because he knew the way better than she did.",
)
LAYERS = (0, 2, 5)
HEADS = ((0, 3), (0, 5), (2, 9), (5, 4), (5, 6))


def main() -> None:
    """Run the model on the sentences and store what the heads see, in float32."""
    model = minilm.load()
    passages = [model.read(sentence) for sentence in SENTENCES]
    heads = [model.head(layer, head) for layer, head in HEADS]
    np.savez_compressed(
        Path(__file__).with_name("attention_heads.npz"),
        sentences=np.array(SENTENCES),
        lengths=np.array([len(passage.tokens) for passage in passages]),
        tokens=np.array([token for passage in passages for token in passage.tokens]),
        layers=np.array(LAYERS),
        hidden_states=np.concatenate(
            [passage.doors[list(LAYERS)].astype(np.float32) for passage in passages], axis=1
        ),
        heads=np.array(HEADS),
        W_Q=np.stack([head.W_Q for head in heads]),
        b_Q=np.stack([head.b_Q for head in heads]),
        W_K=np.stack([head.W_K for head in heads]),
    )


if __name__ == "__main__":
    main()
