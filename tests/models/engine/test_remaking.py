"""A network made anew around the same weights."""

import torch
from torch import nn

from models import ModelConfig, Transformer
from models.engine.remaking import format_of, in_format_of, sharing_weights

SIZES = {"n_layers": 1, "n_heads": 2, "d_model": 8, "vocab_size": 9, "max_len": 8}


def test_weights_are_shared_modules_are_not_and_hooks_stay_behind() -> None:
    net = Transformer(ModelConfig(kind="decoder-only", **SIZES), seed=0).eval()
    heard: list[str] = []
    handle = net.decoder.register_forward_hook(lambda *given: heard.append("hook"))
    made, first = sharing_weights(net, (net, net.decoder.layers[0]))
    assert made.decoder.layers[0] is first and first is not net.decoder.layers[0]
    for one, other in zip(net.parameters(), made.parameters(), strict=True):
        assert one is other
    ids = torch.tensor([[1, 2, 3]])
    assert made(ids).equal(net(ids)) and heard == ["hook"]
    made.decoder.causal = False
    assert net.decoder.causal
    handle.remove()


def test_what_is_read_comes_in_the_format_of_the_weights() -> None:
    net = nn.Linear(2, 2).half()
    ids, pixels = in_format_of(net, (torch.tensor([1]), torch.tensor([0.5])))
    assert (ids.dtype, pixels.dtype, format_of(net)) == (torch.int64, torch.float16, torch.float16)
