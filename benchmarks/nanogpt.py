"""A small GPT and its training step as one writes them by hand, after nanoGPT."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch.nn import functional as F


class Block(nn.Module):
    """Pre-norm attention and feed-forward network; q, k and v come from one product."""

    def __init__(self, d_model: int, n_heads: int) -> None:
        super().__init__()
        self.n_heads = n_heads
        self.norm1, self.norm2 = (nn.LayerNorm(d_model, bias=False) for _ in range(2))
        self.qkv = nn.Linear(d_model, 3 * d_model, bias=False)
        self.out = nn.Linear(d_model, d_model, bias=False)
        self.up = nn.Linear(d_model, 4 * d_model, bias=False)
        self.down = nn.Linear(4 * d_model, d_model, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        """One layer further, [batch, position, d_model]."""
        batch, n, d_model = x.shape
        q, k, v = (
            each.view(batch, n, self.n_heads, -1).transpose(1, 2)
            for each in self.qkv(self.norm1(x)).split(d_model, dim=2)
        )
        z = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(z.transpose(1, 2).reshape(batch, n, d_model))
        return x + self.down(F.gelu(self.up(self.norm2(x))))


class NanoGPT(nn.Module):
    """Decoder-only, learned positions, tied embeddings, no biases: no options, no checks, no trace."""

    def __init__(self, *, n_layers: int, n_heads: int, d_model: int, vocab_size: int, length: int) -> None:
        super().__init__()
        self.tokens = nn.Embedding(vocab_size, d_model)
        self.positions = nn.Embedding(length, d_model)
        self.blocks = nn.Sequential(*(Block(d_model, n_heads) for _ in range(n_layers)))
        self.norm = nn.LayerNorm(d_model, bias=False)
        for weight in (self.tokens.weight, self.positions.weight):
            nn.init.normal_(weight, std=0.02)

    def forward(self, tokens: Tensor) -> Tensor:
        """Logits [batch, position, vocab]."""
        x = self.tokens(tokens) + self.positions.weight[: tokens.shape[1]]
        return F.linear(self.norm(self.blocks(x)), self.tokens.weight)


def plain_steps(model: nn.Module, text: Tensor, *, batch: int, length: int) -> Callable[[], float]:
    """A function that takes one step of AdamW on random pieces of the text and returns the loss."""
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, betas=(0.9, 0.99), weight_decay=0.1)
    generator = torch.Generator().manual_seed(0)
    within = torch.arange(length + 1)

    def step() -> float:
        starts = torch.randint(len(text) - length, (batch, 1), generator=generator)
        pieces = text[starts + within]
        logits = model(pieces[:, :-1])
        loss = F.cross_entropy(logits.flatten(0, 1), pieces[:, 1:].flatten())
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        return loss.item()

    return step
