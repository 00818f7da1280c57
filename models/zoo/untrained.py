"""A transformer with random weights that reads any words: attention before it has learnt anything."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from models.config import ModelConfig
from models.data.tasks import Reading
from models.data.tasks.alphabet import Alphabet
from models.data.tasks.batch import check_room
from models.engine import masks
from models.engine.transformer import Transformer
from models.zoo.engine_model import EngineModel
from models.zoo.model import call
from models.zoo.settings import MAX_UNTRAINED_WORDS, SCALES

PAD = "<pad>"


class UntrainedModel(EngineModel):
    """An encoder-only `Transformer` from `seed`, whose n-th random vector is a text's n-th different word.

    Raises ValueError unless `config` is encoder-only with pad_id 0.
    """

    PADDING = 3
    by_first_use = True
    step_note = "Random weights: a softmax over the different words of this text, for its first 128."

    def __init__(self, config: ModelConfig, *, seed: int = 0) -> None:
        if config.kind != "encoder-only" or config.pad_id != 0:
            raise ValueError(
                f"kind={config.kind!r}, pad_id={config.pad_id!r}: an untrained model to look at is "
                "encoder-only with pad_id 0; use Transformer itself for others"
            )
        super().__init__("untrained", Transformer(config, seed=seed))
        self.seed = seed

    @classmethod
    def of(
        cls, *, seed: int = 0, d_head: int = 0, attention_scale: str = "on", **sizes: Any
    ) -> UntrainedModel:
        """The model of a page's settings. d_head 0: d_model // n_heads. attention_scale: one of `SCALES`."""
        config = ModelConfig(
            kind="encoder-only",
            d_head=d_head or None,
            attention_scale=SCALES[attention_scale],
            vocab_size=MAX_UNTRAINED_WORDS + 1,
            max_len=MAX_UNTRAINED_WORDS + cls.PADDING,
            **sizes,
        )
        return cls(config, seed=seed)

    def read(self, text: str, *, mask: str = "none", mask_arg: str = "") -> Reading:  # type: ignore[override]
        """The words of `text` under a mask of `masks.named`; masks with padding add three hidden <pad>.

        An empty `mask_arg` is the mask's usual one. Raises ValueError for an unknown mask, a text without
        words, and more words than the model can read.
        """
        n_padding = self.PADDING if masks.kind_of(mask) == "padding" else 0
        words = text.split()
        if not words:
            raise ValueError("the text is empty; give at least one word")
        limit = min(self.config.max_len - self.PADDING, self.config.vocab_size - 1)
        check_room(len(words), limit, "words")
        # A typed "<pad>" is a word like any other: only what is added here has id 0 and is hidden.
        ids_of = {word: at for at, word in enumerate(dict.fromkeys(words), start=1)}
        ids = torch.tensor([[ids_of[word] for word in words] + [0] * n_padding])
        allowed = self._allowed(mask, mask_arg, ids.shape[1])
        return Reading((ids,), {"encoder": words + [PAD] * n_padding}, text, allowed=allowed)

    def made_of(self) -> Alphabet:
        n_words = self.config.vocab_size - 1
        names = (PAD, *(f"word {at}" for at in range(1, n_words + 1)))
        return Alphabet(names, range(1, n_words + 1), {"encoder": ()})

    def stretched(self, n_tokens: int) -> UntrainedModel:
        """The model of the same seed that reads so many words; its vectors for words are others."""
        if n_tokens <= self.config.max_len - self.PADDING:
            return self
        sizes = {"vocab_size": n_tokens + 1, "max_len": n_tokens + self.PADDING}
        return UntrainedModel(ModelConfig.from_dict(self.config.to_dict() | sizes), seed=self.seed)

    def names(self, reading: Reading) -> tuple[str, ...]:
        """The word of each token id that a text uses: <pad>, then its different words as they appear."""
        return (PAD, *dict.fromkeys(reading.text.split()))

    def code(self, text: str, **settings: Any) -> str:
        sizes = ("n_layers", "n_heads", "d_model", "d_head", "vocab_size", "max_len", "positions")
        shown = {name: getattr(self.config, name) for name in ("kind", *sizes, "attention_scale", "norm")}
        return (
            "from models import ModelConfig, UntrainedModel\n"
            f"lm = UntrainedModel({call('ModelConfig', **shown)}, seed={self.seed})\n"
            f"trace = {call('lm.trace', text, **settings)}"
        )

    def _allowed(self, mask: str, mask_arg: str, n: int) -> Tensor | None:
        """Which query may attend to which key, [1, 1, query, key]; None where all may attend to all."""
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
