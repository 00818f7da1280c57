"""A vocabulary of six words, two sentences to translate, and an encoder-decoder that trains in a moment.

The example is that of Alammar 2018, The Illustrated Transformer ("Recap of training").
"""

import torch
from jaxtyping import Float
from torch import Tensor

from models.config import ModelConfig, Norm
from models.engine.transformer import Transformer

WORDS = ("a", "am", "I", "thanks", "student", "<eos>")
START = len(WORDS)
"""What the decoder reads first: a seventh id, which it cannot write."""
PAIRS = (
    (("je", "suis", "étudiant"), ("I", "am", "a", "student", "<eos>")),
    (("merci",), ("thanks", "<eos>")),
)
SOURCE_WORDS = ("<pad>", "je", "suis", "étudiant", "merci")
SOURCE = torch.tensor([[1, 2, 3], [4, 0, 0]])
READ = torch.tensor([[START, 2, 1, 0, 4], [START, 3, 5, 5, 5]])
"""The targets, one place to the right (teacher forcing); nothing is asked after an <eos>."""
ASKED = torch.tensor([[True] * 5, [True, True, False, False, False]])
TARGETS = torch.tensor([2, 1, 0, 4, 5, 3, 5])
"""The right word at each of the seven positions that are asked, sentence by sentence."""


def model(*, seed: int, n_layers: int = 1, norm: Norm = "pre") -> Transformer:
    """2 heads, 16 channels, n_layers in each stack; the seed draws all weights, 5,936 with one layer."""
    config = ModelConfig(
        kind="encoder-decoder", n_layers=n_layers, n_heads=2, d_model=16, d_ff=32, norm=norm, max_len=5,
        vocab_size=len(SOURCE_WORDS), target_vocab_size=len(WORDS) + 1, pad_id=None, tied_embeddings=False,
    )  # fmt: skip
    return Transformer(config, seed=seed)


def logits(model: Transformer) -> Float[Tensor, "position word"]:
    """The model's scores for the six words, at each of the seven positions."""
    real = (SOURCE != 0)[:, None, None]  # [sentence, 1, 1, source]: nobody looks at padding
    memory = model.encode(SOURCE, mask=real)
    return model.decode(READ, memory, real)[ASKED][:, :START]


def positions() -> list[str]:
    """What each of the seven positions is: its sentence, and the word read last."""
    return [
        f"{source[0]}{'…' * (len(source) > 1)} after {before}"
        for source, target in PAIRS
        for before in ("<start>", *target[:-1])
    ]
