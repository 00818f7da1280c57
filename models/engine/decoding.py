"""Writing one token after another: greedily, or by chance."""

from __future__ import annotations

import torch
from jaxtyping import Float, Int
from torch import Tensor

from models.engine.transformer import Transformer

Tokens = Int[Tensor, "batch position"]


class NextToken:
    """Logits of what follows a growing sequence, computing only what is new unless `use_cache` is False."""

    def __init__(self, model: Transformer, source: Tokens | None, *, use_cache: bool) -> None:
        self.model = model
        self.source = source
        self.memory = None if source is None else model.encode(source)
        self.cache = model.new_cache() if use_cache else None

    def __call__(self, tokens: Tokens) -> Float[Tensor, "batch vocab"]:
        """Logits for the position after the last of `tokens` (all of them: the cache knows which are new)."""
        new = tokens if self.cache is None else tokens[:, self.cache.length :]
        return self.model.decode(new, self.memory, self.source, cache=self.cache)[:, -1]


@torch.no_grad()
def greedy(
    model: Transformer,
    prefix: Tokens,
    *,
    source: Tokens | None = None,
    eos_id: int | None = None,
    max_new_tokens: int | None = None,
    use_cache: bool = True,
) -> Tokens:
    """The most probable token, again and again.

    `prefix` [batch, position] is what the decoder begins with (a prompt; <bos> for an encoder-decoder, which
    also needs `source`). A row ends at `eos_id`, and is filled with it until all rows end, or max_new_tokens
    (None = as many as max_len allows) are written. Returns prefix and new tokens.
    """
    next_token = NextToken(model, source, use_cache=use_cache)
    room = model.config.max_len - prefix.shape[1]
    tokens = prefix
    finished = torch.zeros(len(prefix), dtype=torch.bool, device=prefix.device)
    for _ in range(room if max_new_tokens is None else max_new_tokens):
        chosen = next_token(tokens).argmax(dim=-1)
        if eos_id is not None:
            chosen = chosen.masked_fill(finished, eos_id)
            finished |= chosen == eos_id
        tokens = torch.cat([tokens, chosen[:, None]], dim=1)
        if bool(finished.all()):
            break
    return tokens
