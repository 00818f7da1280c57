"""What can be set while a model reads, as data that a page draws without knowing the model. No torch here."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from models.config import POSITION_SCHEMES
from models.limits import in_force
from models.mask_names import MASK_TITLES, about_argument

MAX_ARGUMENT = in_force().mask_characters
MAX_CHARACTERS = in_force().text_characters
MAX_UNTRAINED_WORDS = in_force().untrained_words


@dataclass(frozen=True, kw_only=True)
class Setting:
    """One thing that can be set: its name in links and as a keyword, its default, how a page offers it.

    drawn: "slider" from `low` to `high`, "steps" along `choices`, a "list" or "segments" of them, or a "text"
    of at most `most` characters. names: what a person reads for a choice. builds: the model is made with it;
    otherwise it reads with it. of_text: another text resets it to the default. turns: another value starts
    from what the model wrote. guessed: left out, the model guesses it from the text, so that a page always
    says it. of: the setting whose argument this is, with an example and its meaning for
    each value that takes an argument; it is cleared when that setting changes.
    """

    name: str
    default: Any
    label: str
    help: str | None = None
    drawn: str = "list"
    choices: Sequence[Any] = ()
    names: Mapping[Any, str] = field(default_factory=dict)
    low: int = 0
    high: int = 0
    most: int = 0
    placeholder: str | None = None
    builds: bool = False
    of_text: bool = False
    turns: bool = False
    guessed: bool = False
    of: str = ""
    arguments: Mapping[str, tuple[str, str]] = field(default_factory=dict)

    @property
    def rule(self) -> str:
        """The allowed values, in words that continue a sentence after "is not"."""
        if self.choices:
            return f"one of {', '.join(map(str, self.choices))}"
        if self.most:
            return f"at most {self.most:,} characters"
        return f"a whole number from {self.low} to {self.high}"

    def accepts(self, value: Any) -> bool:
        """Whether it may be this value."""
        if self.choices:
            return value in self.choices
        if self.most:
            return isinstance(value, str) and len(value) <= self.most
        return isinstance(value, int) and self.low <= value <= self.high

    def read(self, raw: str) -> Any:
        """The value of a link's text. Raises ValueError for a text without a value."""
        found: list[Any] = [choice for choice in self.choices if str(choice) == raw]
        value = found[0] if found else raw if self.most or self.choices else int(raw)
        if not self.accepts(value):
            raise ValueError(f"{self.name}={raw[:40]!r} is not {self.rule}")
        return value


TRANSLATING = (
    Setting(
        name="direction", default="en-fr", label="Direction", drawn="segments", choices=("en-fr", "fr-en"),
        names={"en-fr": "EN → FR", "fr-en": "FR → EN"}, of_text=True, turns=True, guessed=True,
    ),
    Setting(
        name="beam", default=1, label="Beam width", drawn="slider", low=1, high=8,
        help="1 is greedy: always the most probable next word",
    ),
    Setting(
        name="target", default="", label="Target", drawn="text", most=MAX_CHARACTERS, of_text=True,
        placeholder="decoded by the model", help="Type a translation to force it; empty: decoded",
    ),
    Setting(
        name="padding", default=0, label="Padding of the source", drawn="segments", choices=(0, 3),
        names={0: "none", 3: "3 `<pad>`"},
        help="Tokens that fill up a batch: hidden from encoder and decoder, they change no other number",
    ),
)  # fmt: skip
OF_TASK = {"translation": TRANSLATING}
"""What can be set while a model of a task reads: keywords of the task's `read_by`."""

SCALES = {"on": True, "off": False} | {text: float(text) for text in ("0.01", "0.1", "0.5", "1", "2", "10")}
UNTRAINED = (
    Setting(name="n_layers", default=2, label="Layers", drawn="slider", low=1, high=8, builds=True),
    Setting(name="n_heads", default=4, label="Heads", drawn="slider", low=1, high=16, builds=True),
    Setting(
        name="d_model", default=64, label="d_model", drawn="steps", builds=True,
        choices=(8, 16, 32, 48, 64, 96, 128, 192, 256, 384, 512), help="Width of the residual stream",
    ),
    Setting(
        name="d_head", default=0, label="d_head", drawn="steps", builds=True, names={0: "auto"},
        choices=(0, 4, 8, 16, 32, 64, 128), help="auto = d_model / heads",
    ),
    Setting(
        name="positions", default="sinusoidal", label="Positions", builds=True,
        choices=POSITION_SCHEMES,  # the list itself, to which schemes may be added
    ),
    Setting(
        name="attention_scale", default="on", label="Scale", builds=True, choices=tuple(SCALES),
        help="on: dot products are multiplied by 1 / √d_head",
    ),
    Setting(
        name="norm", default="pre", label="Norm", builds=True, choices=("pre", "post"),
        names={"pre": "pre-norm", "post": "post-norm"}, help="Normalise before or after each sublayer",
    ),
    Setting(
        name="seed", default=0, label="Seed", drawn="slider", low=0, high=999, builds=True,
        help="Another seed, other random weights",
    ),
    Setting(
        name="mask", default="none", label="Mask", choices=tuple(MASK_TITLES), names=MASK_TITLES,
        help="Who may attend to whom; padding adds three <pad> tokens and hides them",
    ),
    Setting(
        name="mask_arg", default="", label="Mask argument", drawn="text", most=MAX_ARGUMENT, of="mask",
        arguments={
            name: (mask.example, mask.meaning)
            for name in MASK_TITLES
            if (mask := about_argument(name)).rule and mask.title != "padding"
        },
    ),
)  # fmt: skip
"""Sizes and mask of the untrained model; it pads by itself."""
