"""A model of ours: its arithmetic is a `Transformer` of the engine."""

from __future__ import annotations

from copy import copy
from typing import Any

import torch
from torch import Tensor, nn

from models.config import ModelConfig
from models.data.tasks import Reading
from models.engine.long_text import LongHeads, Told
from models.engine.long_trace import LongTrace
from models.engine.normalizers import NOTES
from models.engine.positions import POSITIONS
from models.engine.remaking import format_of, in_format_of, sharing_weights
from models.engine.trace import Trace
from models.engine.transformer import Transformer
from models.zoo.model import Model, Wanted
from models.zoo.network import Change


class EngineModel(Model):
    """A model whose arithmetic is a `Transformer` of the engine."""

    def __init__(self, name: str, model: Transformer) -> None:
        self.name = name
        self.model = model.eval()
        self.config = model.config
        self.note = NOTES.get(model.config.normalizer, "")
        self.n_bytes = sum(p.numel() * p.element_size() for p in model.parameters())

    @property
    def number_format(self) -> str:
        return str(format_of(self.model)).removeprefix("torch.")

    def remade(self, change: Change) -> EngineModel:
        net = sharing_weights(self.model, self.model)
        change(net)
        made = copy(self)
        EngineModel.__init__(made, self.name, net)
        return made

    def projection(self, stack: str, layer: int) -> Tensor:
        weight: Tensor = self._projection(stack, layer).weight
        return weight.detach().T.reshape(self.config.n_heads, self.config.head_size, -1)

    def projection_bias(self, stack: str, layer: int) -> Tensor | None:
        bias: Tensor | None = self._projection(stack, layer).bias
        return None if bias is None else bias.detach()

    def _projection(self, stack: str, layer: int) -> Any:
        side, kind = stack.split(".")
        return self.model.get_submodule(f"{side}.layers.{layer}.{kind}_attention.out_proj")

    def projections(self) -> dict[str, nn.Module]:
        return {
            f"{address}.{kind}": getattr(layer, f"{kind}_attention").out_proj
            for address, layer in self.layers().items()
            for kind in ("self", "cross")
            if getattr(layer, f"{kind}_attention") is not None
        }

    def layers(self) -> dict[str, nn.Module]:
        return {
            f"{side}.{at}": layer
            for side in self.config.stacks
            for at, layer in enumerate(self.model.get_submodule(f"{side}.layers").children())
        }

    def logits(self, reading: Reading, n_rows: int, at: int | None) -> Tensor:
        inputs = [read.expand(n_rows, *read.shape[1:]) for read in reading.inputs]
        asked = None
        if at is not None and self.config.pooling == "none":
            asked = torch.zeros(inputs[-1].shape[:2], dtype=torch.bool)
            asked[:, at] = True
        logits = self.model(*inputs, mask=reading.allowed, asked=asked)
        return logits.view(n_rows, -1, logits.shape[-1])

    def unembedding(self, final: Tensor) -> tuple[Tensor, Tensor]:
        net = self.model
        if self.config.pooling != "none" or (net.output is not None and net.transform is not None):
            raise ValueError(
                f"the output of {self.name!r} is not read at each position by a matrix alone; choose a model "
                "that answers at each"
            )
        side, d_model = self.config.stacks[-1], len(final)
        words = net.unembed(torch.eye(d_model, dtype=final.dtype))  # [d_model, output]
        norm = net.get_submodule(side).norm
        if not isinstance(norm, nn.LayerNorm):
            return words, torch.zeros_like(words[0])
        scaled = words * norm.weight[:, None] / (final.var(correction=0) + norm.eps).sqrt()
        constant = torch.zeros_like(words[0]) if norm.bias is None else norm.bias @ words
        return scaled - scaled.mean(dim=0), constant

    def compute(self, reading: Reading, trace: Trace) -> None:
        inputs = in_format_of(self.model, reading.inputs)
        self.model(*inputs, mask=reading.allowed, trace=trace)

    @torch.no_grad()
    def long(
        self, reading: Reading, *, wanted: Wanted = lambda address: True, told: Told = lambda share: None
    ) -> dict[str, LongHeads]:
        if self.config.input_channels is not None:
            return super().long(reading)
        n_attentions = self.config.n_layers * len(self.stacks(tuple(reading.tokens)))
        trace = LongTrace(wanted, lambda n: told(n / n_attentions))
        read, memory, allowed = reading.inputs[-1], None, reading.allowed
        if self.model.encoder is not None:
            memory = self.model.encode(reading.inputs[0], mask=allowed, trace=trace)
            allowed = None
        if self.model.decoder is not None:  # the logits of so many tokens would be larger than all the rest
            source = None if memory is None else reading.inputs[0]
            none = torch.zeros(read.shape, dtype=torch.bool)
            self.model.decode(read, memory, source, mask=allowed, trace=trace, asked=none)
        return trace.heads

    def _stretched_net(self, n_tokens: int) -> Transformer:
        """The same weights for texts of so many tokens. Raises ValueError for positions that are counted."""
        if POSITIONS[self.config.positions].counted:
            raise ValueError(
                f"{self.name!r} has learnt a vector for each of its {self.max_len:,} positions, none "
                "beyond; give a shorter text, or choose a model with other positions"
            )
        config = ModelConfig.from_dict(self.config.to_dict() | {"max_len": n_tokens})
        net = Transformer(config)
        net.load_state_dict(self.model.state_dict())
        return net
