"""Defines two tasks on handwritten digits: rebuilding a picture, and saying which digit it shows."""

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

import torch
from torch import Tensor
from torch.nn.functional import mse_loss

from ...engine.transformer import Transformer
from ..pictures import BLANK, N_CLASSES, Cut, PictureParts, PictureSet, digits, hide_parts
from .batch import Answers, Batch, Judgement, Quotients, Reading, Sample, Split, of_examples
from .finite import THREE, Finite, draw
from .task import generator_of, option

_SHOWN = 10  # pictures at a time
_CLS = "[CLS]"
_MOST_DIGITS = 12  # of a picture's number


@dataclass(frozen=True, kw_only=True)
class Pictures(Finite):
    """Digits whose parts are the positions, and whose pixels are the channels.

    359 of the 1,797 are held out, and 179 are for a test unless `splits` leaves them to training.
    """

    kind = "encoder-only"

    parts: str = option("rows", "what becomes a position: rows, or patches", choices=("rows", "2x2", "4x4"))

    @property
    def pictures(self) -> PictureSet:
        """Those to train on, those held out and those of the test. Raises ValueError as `digits` does."""
        return digits(with_test=self.splits == THREE)

    @property
    def cut(self) -> PictureParts:
        """How the pictures are cut into parts."""
        return PictureParts(cast(Cut, self.parts))

    def count(self, split: Split) -> int:
        return len(self.pictures.parts[split][1])

    def prompts_of(self, batch: Batch, split: Split, numbers: Sequence[int] | None) -> list[str]:
        """The number of a held-out picture; those of other parts cannot be asked for."""
        if split != "held out" or numbers is None:
            return [""] * len(batch)
        return [str(number + 1) for number in numbers]

    def pictures_of(self, split: Split, numbers: Sequence[int]) -> tuple[Tensor, Tensor]:
        """Pictures [picture, row, column] and labels of these numbers."""
        pictures, labels = self.pictures.parts[split]
        return pictures[list(numbers)], labels[list(numbers)]

    def probe(self) -> Reading:
        return self.read("1")

    def read(self, text: str) -> Reading:
        """The held-out picture with the number `text`, from 1."""
        n = len(self.pictures.held_out)
        typed = text.strip()
        if len(typed) > _MOST_DIGITS or not typed.isdecimal() or not 1 <= int(typed) <= n:
            raise ValueError(f"no picture has the number {typed[:40]!r}; type one from 1 to {n:,}")
        return self._reading(int(typed))

    def places(self) -> Tensor:
        """A [CLS] before the parts reads no pixel."""
        first = self.required_sizes()["max_len"] - self.cut.count
        at = torch.arange(first, first + self.cut.count).float()
        return self.cut.join(at[None, :, None].expand(1, -1, self.cut.size))[0].long()

    def _held_out(self, number: int) -> Tensor:
        """The held-out picture of a number, [1, row, column]."""
        return self.pictures.held_out[number - 1 : number]

    @abstractmethod
    def _reading(self, number: int) -> Reading: ...


@dataclass(frozen=True, kw_only=True)
class DigitsAutoencoder(Pictures):
    """The model reads a handwritten digit of 8 by 8 pixels, and writes it again."""

    name = "digits-autoencoder"
    title = "Digits: rebuild the picture"
    sizes = {"n_layers": 2, "n_heads": 8, "d_model": 32, "positions": "learned"}
    training = {"steps": 1500, "batch_size": 64, "learning_rate": 3e-3}
    abilities = ("rebuild",)
    see = (
        "A part can copy itself through the residual stream. Hide some parts, and see which others a hidden "
        "one asks."
    )
    hidden: float = option(0.0, "share of the parts that only the others can tell", low=0, high=0.9)

    def required_sizes(self) -> dict[str, Any]:
        n_channels = self.cut.size
        return {
            "vocab_size": 1,
            "pad_id": None,
            "max_len": self.cut.count,
            "input_channels": n_channels,
            "n_outputs": n_channels,
            "tied_embeddings": False,
            "pooling": "none",
        }

    def numbered(self, split: Split, numbers: Sequence[int], generator: torch.Generator) -> Batch:
        parts = self.cut.split(self.pictures_of(split, numbers)[0])
        return Batch((hide_parts(parts, self.hidden, generator),), parts)

    def losses(self, model: Transformer, batch: Batch, *, label_smoothing: float = 0.0) -> dict[str, Tensor]:
        """The mean squared error of a pixel; there are no labels to smooth."""
        return {"loss": mse_loss(model(*batch.inputs).float(), batch.targets)}

    @torch.no_grad()
    def judged(self, model: Transformer, batch: Batch) -> Judgement:
        """Squared errors as shares of the pictures' variance about the mean picture: less is better, 0 best.

        The error of PCA with `d_model` numbers for a whole picture stands beside it, to be beaten.
        """
        originals, outputs = (self.cut.join(p.cpu().float()) for p in (batch.targets, model(*batch.inputs)))
        rebuilt = self.pictures.pca(originals, model.config.d_model)
        variance, error, error_of_pca = (
            (p.expand_as(originals) - originals).double().square().flatten(1).sum(dim=1)
            for p in (self.pictures.mean, outputs, rebuilt)
        )
        scores = {
            "error (share of variance)": Quotients(error, variance),
            "error of PCA": Quotients(error_of_pca, variance),
        }
        return Judgement({"loss": Quotients(error, torch.full_like(error, originals[0].numel()))}, scores)

    @torch.no_grad()
    def samples(self, model: Transformer, seed: int) -> list[Sample]:
        """Ten held-out pictures, and what the model makes of them."""
        batch = self.batch(generator_of(seed, 0), _SHOWN, held_out=True)
        logits = model(*(i.to(next(model.parameters()).device) for i in batch.inputs))
        return [Sample(originals=self.cut.join(batch.targets), pictures=self.pictures_from(logits))]

    def pictures_from(self, logits: Tensor) -> Tensor:
        """Logits [picture, position, channel] as pictures [picture, row, column] in 0..1."""
        return self.cut.join(logits.detach().cpu().float()).clamp(0, 1)

    def outputs(self) -> tuple[str, ...]:
        return ()

    def _reading(self, number: int) -> Reading:
        parts = self.cut.split(self._held_out(number))
        visible = hide_parts(parts, self.hidden, generator_of(0, number))
        blank = (visible == BLANK).all(dim=2)[0].tolist()
        labels = [f"{label}, hidden" if b else label for label, b in zip(self.cut.labels, blank, strict=True)]
        picture = self.cut.join(visible)[0].clamp(min=0)
        return Reading((visible,), {"encoder": labels}, str(number), picture)


@dataclass(frozen=True, kw_only=True)
class DigitsClassifier(Pictures):
    """The model reads a handwritten digit of 8 by 8 pixels, and says which it is."""

    name = "digits-classifier"
    title = "Digits: say which it is"
    sizes = {"n_layers": 2, "n_heads": 4, "d_model": 64, "positions": "learned"}
    training = {"steps": 1000, "batch_size": 64, "learning_rate": 2e-3}
    see = "[CLS] answers: its row shows where in the picture each head looks."
    pool: str = option("cls", "where the answer is read: [CLS], or the mean", choices=("cls", "mean"))

    def required_sizes(self) -> dict[str, Any]:
        return {
            "vocab_size": 1,
            "pad_id": None,
            "max_len": self.cut.count + (self.pool == "cls"),
            "input_channels": self.cut.size,
            "n_outputs": N_CLASSES,
            "tied_embeddings": False,
            "pooling": "first" if self.pool == "cls" else "mean",
        }

    def numbered(self, split: Split, numbers: Sequence[int], generator: torch.Generator) -> Batch:
        pictures, labels = self.pictures_of(split, numbers)
        return Batch((self._framed(pictures),), labels[:, None])

    def scores_of(self, at: Answers, batch: Batch) -> dict[str, Quotients]:
        return {"accuracy": of_examples(at.right[:, 0])}

    @torch.no_grad()
    def samples(self, model: Transformer, seed: int) -> list[Sample]:
        """Ten held-out pictures, and what the model takes them for."""
        numbers = draw(self.count("held out"), _SHOWN, generator_of(seed, 0), once=True)
        pictures, labels = self.pictures_of("held out", numbers.tolist())
        best = model(self._framed(pictures).to(next(model.parameters()).device)).argmax(dim=-1)[:, 0]
        answers, truth = (" ".join(str(at) for at in ids.tolist()) for ids in (best, labels))
        return [Sample(made=answers, wanted=truth, originals=pictures)]

    def outputs(self) -> tuple[str, ...]:
        return tuple(map(str, range(N_CLASSES)))

    def restore(self, learnt: dict[str, Any]) -> None:
        """Older runs kept the names of the classes, which are always the ten digits."""

    def _framed(self, pictures: Tensor) -> Tensor:
        """Parts, with a blank one for [CLS] before them where the answer is read there."""
        parts = self.cut.split(pictures)
        if self.pool == "mean":
            return parts
        return torch.cat((torch.full_like(parts[:, :1], BLANK), parts), dim=1)

    def _reading(self, number: int) -> Reading:
        picture = self._held_out(number)
        labels = [_CLS] * (self.pool == "cls") + self.cut.labels
        return Reading((self._framed(picture),), {"encoder": labels}, str(number), picture[0])
