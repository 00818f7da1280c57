"""The base of tasks that write one text after another has been read: a text and its translation."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from models.data.parallel import NOTHING_NAMED, Row
from models.data.tasks.algorithmic import padded
from models.data.tasks.batch import IGNORED, Batch, Reading, Split, Writing
from models.data.tasks.judged import At, Each, Judged
from models.data.tasks.options import option
from models.data.tasks.task import Task
from models.data.word_tokenizer import BOS, EOS, PAD, SPECIALS
from models.engine.beam import BeamTree, beam_search
from models.engine.decoding import greedy
from models.engine.transformer import Transformer

_SLACK = 8  # tokens that a translation may have beyond twice its source


def make_batch(rows: Sequence[Row]) -> Batch:
    """Sentences padded to one length: source and target, what follows, `extra["named"]` at each pronoun."""
    sources, targets, named = zip(*rows, strict=True)
    return Batch(
        (padded(sources, PAD), padded([[BOS, *ids] for ids in targets], PAD)),
        padded([[*ids, EOS] for ids in targets], IGNORED),
        {"named": padded(named, NOTHING_NAMED)},
    )


@dataclass(frozen=True, kw_only=True)
class Pairs(Task):
    """What both tasks of translation share; a subclass with a name is one."""

    kind = "encoder-decoder"
    abilities = ("translate",)
    sizes = {"n_layers": 2, "n_heads": 4, "d_model": 64}
    training = {"steps": 800, "batch_size": 64, "learning_rate": 3e-3, "warmup_steps": 100}
    length: int = option(128, "tokens of the longest sentence", low=16, high=1024)

    def dictates(self) -> dict[str, Any]:
        return {"vocab_size": len(self.outputs()), "max_len": self.length, "pad_id": PAD}

    def stretched(self, length: int) -> Task:
        raise ValueError(
            f"{self.title!r} reads texts of at most {self.length:,} tokens, as it was trained on; give a "
            "shorter one, or choose a language model"
        )

    def losses(self, model: Transformer, batch: Batch, *, label_smoothing: float = 0.0) -> dict[str, Tensor]:
        """ "loss": the mean cross-entropy of the target's tokens, in nats."""
        source, target = batch.inputs
        return {"loss": self._loss(model, model.encode(source), source, target, batch, label_smoothing)}

    @torch.no_grad()
    def judged(self, model: Transformer, batch: Batch) -> Judged:
        at = self.at(model, batch)
        return Judged({"loss": at.loss()}, self.scored(at, batch))

    def scored(self, at: At, batch: Batch) -> dict[str, Each]:
        """Shares of sentences that are right throughout, and of tokens that are likeliest where they stand,
        after the right ones (teacher forcing).
        """
        return {"whole sentences": at.whole(), "tokens right": at.shares()}

    @torch.no_grad()
    def translations(self, model: Transformer, batch: Batch) -> list[str]:
        """What the model writes for each source of a batch, greedily and all at once."""
        source = batch.inputs[0]
        prefix, room = torch.full_like(source[:, :1], BOS), self._room(source.shape[1])
        rows = greedy(model, prefix, source=source, eos_id=EOS, max_new_tokens=room)[:, 1:].tolist()
        ends = [row.index(EOS) if EOS in row else len(row) for row in rows]
        firsts = source[:, 0].tolist()
        return [self.spoken(row[:end], first) for row, end, first in zip(rows, ends, firsts, strict=True)]

    def wanted(self, batch: Batch, split: Split, numbers: Sequence[int] | None) -> list[str]:
        """The right translation of each source of a batch."""
        rows = [[id_ for id_ in row if id_ not in (IGNORED, EOS)] for row in batch.targets.tolist()]
        return [self.spoken(r, f) for r, f in zip(rows, batch.inputs[0][:, 0].tolist(), strict=True)]

    def typed(self, batch: Batch, split: Split, numbers: Sequence[int] | None) -> list[str]:
        return [self.written([i for i in row if i >= len(SPECIALS)]) for row in batch.inputs[0].tolist()]

    @torch.no_grad()
    def answered(self, model: Transformer, reading: Reading) -> Reading:
        """The model's own greedy translation."""
        return self._with_target(reading, self._decode(model, reading.inputs[0], 1)[0])

    def writing(self, reading: Reading) -> Writing:
        n_read = int((reading.inputs[0] != PAD).sum())
        return Writing(
            (BOS,), self._room(n_read), frozenset({EOS}), lambda ids: self._with_target(reading, ids)
        )  # fmt: skip

    def _room(self, n_read: int) -> int:
        """How many tokens a translation of so many may have."""
        return min(2 * n_read + _SLACK, self.length - 2)

    def _loss(
        self,
        model: Transformer,
        memory: Tensor,
        source: Tensor,
        target: Tensor,
        batch: Batch,
        label_smoothing: float,
    ) -> Tensor:
        written = batch.targets != IGNORED
        logits = model.decode(target, memory, source, asked=written).float()
        return cross_entropy(logits, batch.targets[written], label_smoothing=label_smoothing)

    def _decode(self, model: Transformer, source: Tensor, width: int) -> tuple[list[int], BeamTree | None]:
        """The ids that the model writes, its <eos> included; and the beam's tree, if there is one.

        What does not end is cut where it still can be read again: after <2en> or <2fr>, before <eos>.
        """
        device = model.embedding.weight.device
        source, prefix = source.to(device), torch.tensor([[BOS]], device=device)
        room = self._room(source.shape[1])
        if width == 1:
            rows = greedy(model, prefix, source=source, eos_id=EOS, max_new_tokens=room)
            return rows[0, 1:].tolist(), None
        tree = beam_search(model, prefix, source=source, width=width, eos_id=EOS, max_new_tokens=room)
        return tree.tokens(), tree

    def _with_target(self, reading: Reading, written: Sequence[int]) -> Reading:
        """The same with these ids in the decoder, which reads them to write them, and then <eos>."""
        ids = [id_ for id_ in written if id_ != EOS]
        source = reading.inputs[0]
        return replace(
            reading,
            inputs=(source, torch.tensor([[BOS, *ids]])),
            tokens={**reading.tokens, "decoder": self._labels([BOS, *ids])},
            answer=self.spoken(ids, int(source[0, 0])),
            following=SPECIALS[EOS] if EOS in written else None,
            forced=False,
        )

    def spoken(self, ids: Sequence[int], first: int) -> str:
        """A target as text; `first` is the first token of its source."""
        return self.written(ids)

    def _labels(self, ids: Sequence[int]) -> list[str]:
        names = self.outputs()
        return [names[id_] for id_ in ids]

    def _reading(self, text: str, source: list[int], target: list[int]) -> Reading:
        """What the encoder reads, and <bos> and the target, which the decoder reads to write it."""
        written = [BOS, *target]
        tokens = {"encoder": self._labels(source), "decoder": self._labels(written)}
        inputs = (torch.tensor([source]), torch.tensor([written]))
        return Reading(inputs, tokens, text)
