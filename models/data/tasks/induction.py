"""Defines the task of random letters read twice: a model looks up what followed each the first time."""

import random
import string
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from ...engine.transformer import Transformer
from .algorithmic import SIZES, DrawnTexts, is_held_out
from .batch import IGNORED, Answers, Batch, Quotients, Reading, Sample
from .task import option

SHORTEST = 4
_LETTERS = string.ascii_lowercase + string.ascii_uppercase + string.digits
_SAMPLES = 4


@dataclass(frozen=True, kw_only=True)
class Induction(DrawnTexts):
    """The model reads four or more different letters, and then the same again (Olsson et al. 2022).

    The second half is asked from its second letter on: nothing before it can be known. As the halves differ
    in length, no fixed distance helps: a head has to look for its own letter, and read what came after it.
    """

    name = "induction"
    title = "Repeated random letters"
    see = (
        "All at once, a head finds what followed its letter before: a diagonal in the second half. An "
        "earlier head gives each position its previous letter."
    )
    abilities = ("continue",)
    sizes = SIZES
    training = {"steps": 500, "batch_size": 32, "learning_rate": 3e-3}
    length: int = option(16, "letters before they repeat, at most", low=SHORTEST, high=32)
    letters: int = option(48, "how many different letters there are", low=SHORTEST, high=len(_LETTERS))

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.letters < self.length:
            raise ValueError(
                f"letters={self.letters} cannot give length={self.length} different ones; "
                f"try letters={self.length}"
            )

    def required_sizes(self) -> dict[str, Any]:
        """Blanks come last, so nobody sees them: no pad_id."""
        return {"vocab_size": self.letters + 1, "max_len": 2 * self.length, "pad_id": None}

    def outputs(self) -> tuple[str, ...]:
        return ("·", *_LETTERS[: self.letters])

    def example(self, rng: random.Random, held_out: bool) -> tuple[str, list[int], int]:
        half = rng.sample(range(1, self.letters + 1), rng.randint(SHORTEST, self.length))
        return self._text(half), half + half, len(half)

    def probe(self) -> Reading:
        """Letters that are held out, all `length` of them, twice."""
        rng = random.Random(0)
        while True:
            half = rng.sample(range(1, self.letters + 1), self.length)
            if is_held_out(text := self._text(half)):
                return self.read(text + text)

    def written(self, ids: Sequence[int]) -> str:
        return self._text(list(ids))

    def read(self, text: str) -> Reading:
        """Any letters, repeated or not; blanks between them are skipped."""
        typed = "".join(text.split())
        known = self.outputs()[1:]
        strange = [letter for letter in typed if letter not in known]
        if strange:
            raise ValueError(f"{strange[0]!r} is no letter of this task; use {''.join(known)}")
        if not 0 < len(typed) <= 2 * self.length:
            raise ValueError(f"the text has {len(typed)} letters; give 1 to {2 * self.length}")
        ids = [known.index(letter) + 1 for letter in typed]
        return Reading((torch.tensor([ids]),), {"decoder": list(typed)}, text=typed)

    def scores_of(self, at: Answers, batch: Batch) -> dict[str, Quotients]:
        """Shares of the second half's letters that are right, and of sequences that are right throughout."""
        return {"second half": at.shares(), "exact match": at.whole()}

    @torch.no_grad()
    def samples(self, model: Transformer, seed: int) -> list[Sample]:
        """Held-out letters, and what the model expects after each of them the second time."""
        generator = torch.Generator().manual_seed(0)
        batch = self.batch(generator, _SAMPLES, held_out=True).to(model.embedding.weight.device)
        best = model(*batch.inputs).argmax(dim=-1)
        samples = []
        for ids, written, targets in zip(batch.inputs[0], best, batch.targets, strict=True):
            places = targets != IGNORED
            half = ids[: int(places.sum()) + 1]
            prompt, letters, right = map(self._text, (half, written[places], targets[places]))
            samples.append(Sample(prompt, letters, right))
        return samples

    def _text(self, ids: list[int] | Tensor) -> str:
        return "".join(self.outputs()[int(id_)] for id_ in ids)
