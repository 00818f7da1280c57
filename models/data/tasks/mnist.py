"""MNIST (LeCun et al. 1998), or any pictures in its format: downloaded on request, or from files."""

from dataclasses import dataclass
from pathlib import Path

from ..downloads import required_files
from ..pictures import PictureSet, idx
from .pictures import Classifier, Pictures
from .task import option

_ENDINGS = (".gz", "-ubyte", ".idx")


@dataclass(frozen=True, kw_only=True)
class Mnist(Pictures):
    """Pictures of 28 by 28 pixels, or of another size where files are named.

    A fifth of named files is held out; of the downloaded ones, those 10,000 that MNIST itself holds out. A
    tenth of all pictures is for a test, and taken from the rest.
    """

    parts: str = option("rows", "what becomes a position: rows, or patches", choices=("rows", "4x4", "7x7"))
    images: str = option("", "IDX file of pictures, plain or .gz; empty: the downloaded ones", file=_ENDINGS)
    labels: str = option("", "IDX file of their labels; empty: the downloaded ones", file=_ENDINGS)

    @property
    def source(self) -> PictureSet:
        if self.images and self.labels:
            return idx((Path(self.images), Path(self.labels)))
        if self.images or self.labels:
            raise ValueError(
                f"images={self.images!r} and labels={self.labels!r}: one is missing; name both, or neither"
            )
        images, labels, held_out_images, held_out_labels = required_files("mnist")
        return idx((images, labels), (held_out_images, held_out_labels))


@dataclass(frozen=True, kw_only=True)
class MnistClassifier(Mnist, Classifier):
    """The model reads a handwritten digit of 28 by 28 pixels, and says which it is."""

    name = "mnist-classifier"
    title = "MNIST: say which digit it is"
    shift: int = option(1, "training pictures are moved by up to so many pixels", low=0, high=4)
    sizes = {"n_layers": 2, "n_heads": 4, "d_model": 64, "positions": "learned"}
    training = {"steps": 1500, "batch_size": 64, "learning_rate": 2e-3}
