"""What a layer is made of: the switches that two parts share."""

from pages.lab.controls import Note

SWITCHES = ("residual", "norm", "ff", "activation", "seed")
TRAINED = Note(
    "It was trained with pre-norm, residual connections, relu and d_ff = 4 × d_model: its weights fit no "
    "other switches."
)
USUAL = {"residual": True, "norm": "pre", "ff": 4, "activation": "relu"}
