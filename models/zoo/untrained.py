"""A transformer with random weights that reads any words: attention before it has learnt anything."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from models.config import ModelConfig
from models.engine import masks
from models.engine.trace import Trace
from models.engine.transformer import Transformer

PAD = "<pad>"


class UntrainedModel:
    """An encoder-only `Transformer` from `seed`, whose n-th random vector is a text's n-th different word.

    Raises ValueError unless `config` is encoder-only with pad_id 0.
    """

    PADDING = 3

    def __init__(self, config: ModelConfig, *, seed: int = 0) -> None:
        if config.kind != "encoder-only" or config.pad_id != 0:
            raise ValueError(
                f"kind={config.kind!r}, pad_id={config.pad_id!r}: an untrained model to look at is "
                "encoder-only with pad_id 0; use Transformer itself for others"
            )
        self.config = config
        self.model = Transformer(config, seed=seed).eval()

    @property
    def n_parameters(self) -> int:
        return sum(p.numel() for p in self.model.parameters())

    def names(self, text: str) -> tuple[str, ...]:
        """The word of each token id that `text` uses: <pad>, then its different words as they appear."""
        return (PAD, *dict.fromkeys(text.split()))

    def tokens(self, text: str, *, mask: str = "none") -> list[str]:
        """The words of `text` as the model reads them; masks with padding add three <pad> to hide.

        Raises ValueError for an unknown mask, a text without words, and more words than the model can read.
        """
        padded = masks.kind_of(mask) == "padding"
        words = text.split()
        if not words:
            raise ValueError("the text is empty; give at least one word")
        limit = min(self.config.max_len - self.PADDING, self.config.vocab_size - 1)
        if len(words) > limit:
            raise ValueError(
                f"the text has {len(words):,} words, but this model reads at most {limit:,}; "
                f"remove {len(words) - limit:,}"
            )
        return words + [PAD] * (self.PADDING if padded else 0)

    @torch.no_grad()
    def trace(
        self,
        text: str,
        *,
        mask: str = "none",
        mask_arg: str = "",
        reduce: Callable[[str, Tensor], Any | None] | None = None,
    ) -> Trace:
        """All that the model computes on `text` under a mask of `masks.named`; `reduce` as in `Trace`.

        An empty `mask_arg` is the mask's usual one. Raises ValueError as `tokens` and `masks.named` do.
        """
        tokens = self.tokens(text, mask=mask)
        words = text.split()
        # A typed "<pad>" is a word like any other: only what is added here has id 0 and is hidden.
        ids_of = {word: at for at, word in enumerate(self.names(text)[1:], start=1)}
        ids = [ids_of[word] for word in words] + [0] * (len(tokens) - len(words))
        trace = Trace(reduce)
        trace.tokens = {"encoder": tokens}
        allowed = self._allowed(mask, mask_arg, len(tokens))
        self.model(torch.tensor([ids]), mask=allowed, trace=trace)
        return trace

    def _allowed(self, mask: str, mask_arg: str, n: int) -> Tensor | None:
        """Who may attend to whom, [1, 1, query, key]; None for everybody, so that attention need not look."""
        if (mask, mask_arg) == ("none", ""):
            return None
        if masks.kind_of(mask) == "padding":
            if mask_arg:
                raise ValueError(
                    f"mask={mask!r} hides the {self.PADDING} {PAD} that it adds and takes no argument, "
                    f"not {mask_arg[:40]!r}; leave it out"
                )
            mask_arg = str(self.PADDING)
        return masks.named(mask, mask_arg, n)
