"""What a model says of the texts that it reads, for measures of its heads."""

from abc import ABC, abstractmethod

from models.data.tasks import Aligned, Rarity, Reading
from models.data.tasks.alphabet import Alphabet, Repeated, repeated


class Texts(ABC):
    """A model, as far as its texts are concerned.

    by_first_use: a word has no vector of its own, but that of its place among a text's different words.
    """

    name: str
    by_first_use: bool = False

    @property
    @abstractmethod
    def max_len(self) -> int:
        """The most tokens that it reads."""

    def made_of(self) -> Alphabet | None:
        """The tokens that its texts are made of; None where it reads no texts."""
        return None

    def repeated(self, seed: int = 0) -> Repeated:
        """Random tokens, read twice in a row, to be traced (Olsson et al. 2022); the same for a seed.

        Raises ValueError for a model that reads no texts, or only very short ones.
        """
        alphabet = self.made_of()
        if alphabet is None:
            raise ValueError(
                f"{self.name!r} reads no texts, so it cannot be given random tokens; choose a model that does"
            )
        return repeated(alphabet, self.max_len, seed)

    def rarity(self, reading: Reading) -> Rarity | None:
        """How often each token of a reading occurs elsewhere; None where that is not known."""
        return None

    def alignments(self, reading: Reading) -> list[Aligned] | None:
        """For each word that it writes, at the position that writes it, the words read that it says again;
        None where that is not known.
        """
        return None
