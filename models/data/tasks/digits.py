"""The handwritten digits of 8 by 8 pixels that come with scikit-learn: no download."""

from dataclasses import dataclass

from ..pictures import PictureSet, digits
from .pictures import Autoencoder, Classifier, Pictures
from .task import option


@dataclass(frozen=True, kw_only=True)
class Digits(Pictures):
    """1,797 digits, 359 of them held out, and 179 for a test unless `splits` leaves them to training."""

    parts: str = option("rows", "what becomes a position: rows, or patches", choices=("rows", "2x2", "4x4"))

    @property
    def source(self) -> PictureSet:
        return digits()


@dataclass(frozen=True, kw_only=True)
class DigitsAutoencoder(Digits, Autoencoder):
    """The model reads a handwritten digit of 8 by 8 pixels, and writes it again."""

    name = "digits-autoencoder"
    title = "Digits: rebuild the picture"
    sizes = {"n_layers": 2, "n_heads": 8, "d_model": 32, "positions": "learned"}
    training = {"steps": 1500, "batch_size": 64, "learning_rate": 3e-3}


@dataclass(frozen=True, kw_only=True)
class DigitsClassifier(Digits, Classifier):
    """The model reads a handwritten digit of 8 by 8 pixels, and says which it is."""

    name = "digits-classifier"
    title = "Digits: say which it is"
    sizes = {"n_layers": 2, "n_heads": 4, "d_model": 64, "positions": "learned"}
    training = {"steps": 1000, "batch_size": 64, "learning_rate": 2e-3}
