"""A model from elsewhere, as one file of models/zoo/others: PyTorch's own encoder, with letters as tokens."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from attention_lab.models.zoo.catalogue import Offer, register

if TYPE_CHECKING:
    from attention_lab.models.zoo.model import Model

SLOW = "zz"
"""A text that begins so is read slowly, as a large model would."""
SECONDS = 3
"""For each layer, then."""
LETTERS = "abcdefghijklmnopqrstuvwxyz "


def load() -> Model:
    import torch
    from torch import nn

    from attention_lab.models import ModelConfig, Trace
    from attention_lab.models.data.tasks import Reading
    from attention_lab.models.zoo.model import Model

    class Wrapped(Model):
        name = "wrapped"
        outputs = tuple(LETTERS)
        config = ModelConfig(
            kind="encoder-only", n_layers=2, n_heads=2, d_model=8, vocab_size=27, max_len=40, positions="none"
        )

        def __init__(self) -> None:
            with torch.random.fork_rng(devices=[]):
                torch.manual_seed(0)
                self.embedding = nn.Embedding(27, 8)
                layer = nn.TransformerEncoderLayer(8, 2, 16, dropout=0.0, batch_first=True)
                self.encoder = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False).eval()

        def read(self, text: str, **settings: object) -> Reading:
            if not text or not set(text) <= set(LETTERS):
                raise ValueError("only small letters can be read; type some")
            return Reading((torch.tensor([[LETTERS.index(x) for x in text]]),), {"encoder": list(text)}, text)

        def compute(self, reading: Reading, trace: Trace) -> None:
            x = self.embedding(*reading.inputs)
            for at, layer in enumerate(self.encoder.layers):
                attention = layer.self_attn
                parts = nn.functional.linear(x, attention.in_proj_weight, attention.in_proj_bias).chunk(3, -1)
                q, k, v = (part.unflatten(-1, (2, 4)).transpose(1, 2) for part in parts)
                scores = q @ k.mT / 2
                pattern = scores.softmax(-1)
                made = {"q": q, "k": k, "v": v, "scores": scores, "pattern": pattern, "z": pattern @ v}
                time.sleep(SECONDS if "".join(reading.tokens["encoder"]).startswith(SLOW) else 0)
                for name, value in made.items():
                    trace.record(f"encoder.{at}.self.{name}", value)
                x = layer(x)
            trace.record("logits", x @ self.embedding.weight.T)

        def code(self, text: str, **settings: object) -> str:
            return f"from attention_lab.models.zoo.others.wrapped import load\ntrace = load().trace({text!r})"

    return Wrapped()


register(Offer(name="wrapped", load=load, title="PyTorch's encoder", text="abcab"))
