"""Offers the models that can be opened by name: known without torch, loaded on demand.

What ships is offered by its card, a training run by its folder; any other model by a file of `others`.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any

from cachetools import TTLCache, cached

from ..byte_units import readable
from ..config import NORMALIZERS, POSITION_SCHEMES, ModelConfig
from ..fields import Field, characters, fields_of, one_of, whole
from ..files import FileError, read_json
from ..mask_names import MASK_TITLES, about_argument
from ..registry import import_all
from . import MEMBERS, load_hub, load_model
from .folders import (
    CARD,
    PROBE,
    RUN_ID,
    SHIPPED,
    Which,
    list_models,
    read_card,
    read_description,
    run_path,
    uploads_root,
    weights_path,
)
from .hub.model_folder import NAME, open_folder

if TYPE_CHECKING:
    from .model import Model

# What can be set while a model reads, as data that a page draws without knowing the model. No torch here.

MAX_ARGUMENT = 4_000
"""Characters: a painted mask of 32 x 32 needs 1,055, edges of a graph more."""
MAX_CHARACTERS = 20_000
"""The longest text or translation that Explore reads; a link of that length still works."""
MAX_NEW_TOKENS = 100
"""Tokens that a model writes after a text on Explore; the whole text is then shown."""
MAX_UNTRAINED_WORDS = 1_024
"""The untrained model's words: scores grow with their square, in every head."""


@dataclass(frozen=True, kw_only=True)
class Setting(Field):
    """One thing that can be set; name: in links and as a keyword.

    builds: the model is made with it; otherwise it reads with it. trained: what it makes is trained, and
    not random; aside: it is not always in sight; alone: a change resets all others that are alone. of_text:
    another text resets it to the default. turns: another value starts from what the model wrote. guessed:
    left out, the model guesses it from the text, so that a page always says it. of: the setting whose
    argument this is, with an example and its meaning for each value that takes an argument; it is cleared
    when that setting changes.
    """

    name: str
    builds: bool = False
    trained: bool = False
    aside: bool = False
    alone: bool = False
    of_text: bool = False
    turns: bool = False
    guessed: bool = False
    of: str = ""
    arguments: Mapping[str, tuple[str, str]] = field(default_factory=dict)


TRANSLATING = (
    Setting(
        "en-fr",
        one_of({"en-fr": "EN → FR", "fr-en": "FR → EN"}),
        "Direction",
        control="segments",
        name="direction",
        of_text=True,
        turns=True,
        guessed=True,
    ),
    Setting(
        1, whole(1, 8), "Beam width", "1 is greedy: always the most probable next word", "slider", name="beam"
    ),
    Setting(
        "",
        characters(MAX_CHARACTERS),
        "Target",
        "Type a translation to force it; empty: decoded",
        more={"placeholder": "decoded by the model"},
        name="target",
        of_text=True,
    ),
    Setting(
        0,
        one_of({0: "none", 3: "3 `<pad>`"}),
        "Padding of the source",
        "Tokens that fill up a batch",
        "segments",
        name="padding",
    ),
)
_BY_THE_TEXT = replace(
    TRANSLATING[0],
    default="auto",
    rule=one_of({"auto": "by the text", "en-fr": "EN → FR", "fr-en": "FR → EN"}),
    turns=False,
    guessed=False,
)
OF_TASK = {"translation": TRANSLATING, "everyday": (_BY_THE_TEXT, *TRANSLATING[1:])}
"""What can be set while a model of a task reads: keywords of the task's `read_by`."""

SCALES = {"on": True, "off": False} | {text: float(text) for text in ("0.01", "0.1", "0.5", "1", "2", "10")}
_ON_OFF = "on: dot products are multiplied by 1 / √d_head"
_NORMS = one_of({"pre": "pre-norm", "post": "post-norm"})
_OFF_ON = one_of({False: "off", True: "on"})
_CONFIG = fields_of(ModelConfig)
ZERO_IS_NONE = ("d_head", "n_kv_heads", "d_latent", "local_window")
"""Sizes that the config itself works out, or leaves out, where a setting is 0."""
_BUILDING: dict[str, tuple[Any, ...]] = {
    "n_layers": (2, whole(1, 8), "Layers", None, "slider"),
    "n_heads": (4, whole(1, 16), "Heads", None, "slider"),
    "d_model": (64, whole(1, 512), "d_model", "Width of the residual stream", "slider"),
    "d_head": (0, whole(0, 128), "d_head", "Width of a head", "slider"),
    "positions": ("sinusoidal", one_of(POSITION_SCHEMES), "Positions"),
    "attention_scale": ("on", one_of(tuple(SCALES)), "Scale", _ON_OFF),
    "norm": ("pre", _NORMS, "Norm", "Normalise before or after each sublayer"),
    "normalizer": ("softmax", one_of(NORMALIZERS), "Scores to weights", _CONFIG["normalizer"].help),
    **{
        name: (0, whole(0, most), _CONFIG[name].label, _CONFIG[name].help, "slider")
        for name, most in {"n_kv_heads": 16, "d_latent": 128, "local_window": 32}.items()
    },
    **{
        name: (_CONFIG[name].default, rule, _CONFIG[name].label, _CONFIG[name].help, "segments")
        for name, rule in {
            **{name: _CONFIG[name].rule for name in ("qk_norm", "head_gate", "norm_type")},
            **dict.fromkeys(("gated", "parallel", "value_residual", "exclusive"), _OFF_ON),
            **dict.fromkeys(("differential", "depth_attention"), _OFF_ON),
        }.items()
    },
    "seed": (0, whole(0, 999), "Seed", "Another seed, other random weights", "slider"),
}
UNTRAINED = (
    *(Setting(*about, name=name, builds=True) for name, about in _BUILDING.items()),
    Setting(
        "none",
        one_of(MASK_TITLES),
        "Mask",
        "Who may attend to whom",
        name="mask",
    ),
    Setting(
        "",
        characters(MAX_ARGUMENT),
        "Mask argument",
        name="mask_arg",
        of="mask",
        arguments={
            name: (mask.example, mask.meaning)
            for name in MASK_TITLES
            if (mask := about_argument(name)).rule and mask.title != "padding"
        },
    ),
)
"""Sizes and mask of the untrained model; it pads by itself."""


DEFAULT = "translator"
"""What is opened where nobody has chosen; its texts are what the untrained model reads, too."""
FIRST = (DEFAULT, "translator-sizes", "everyday", "induction", "shakespeare", "sentiment")  # in lists
HUB = NAME
RUN = re.compile(f"run:({RUN_ID})(@best)?")
"""A run's last checkpoint, or with the ending its best validation."""
OWN = re.compile("own:([0-9a-f]{64})")
_WORDS = {"english": "English", "french": "French", "whole": "whole"}
_STACKS = {"encoder-only": "encoder.self", "decoder-only": "decoder.self"}
_REGISTERED: dict[str, Offer] = {}


@dataclass(frozen=True, kw_only=True)
class Offer:
    """A model as a page names and shows it before it is loaded.

    load: makes the model from the settings that build it. sizes: the known fields of its config. text: the
    first text; label: of the field for it; reads: "text", "prose" of several lines, the number of a
    "picture", "any picture" by such a number or as a file, or "nothing". settings: what can be set. examples:
    label, text and what to see in it. showcase: the first view. words: all that it knows, by language; of a
    model that reads pieces, those that it knows whole. swaps: a word of a text, and the one that reverses its
    meaning. taught: what it was trained for, in a sentence for beside its attention. contrast: the "model" to
    compare it with, and the "label" of the button that opens that one. wider: the model that reads what this
    one has no words for. source: of its data, where
    that must be named. memory: models with the same memory read the same texts. stamp: changes with the
    weights.
    """

    name: str
    load: Callable[..., Model]
    title: str = ""
    summary: str = ""
    sizes: dict[str, Any] = field(default_factory=dict)
    text: str = ""
    label: str = "Text: type your own. See which tokens each token looks at."
    reads: str = "text"
    settings: tuple[Setting, ...] = ()
    examples: tuple[dict[str, str], ...] = ()
    showcase: dict[str, Any] = field(default_factory=dict)
    words: dict[str, list[str]] = field(default_factory=dict)
    swaps: dict[str, str] = field(default_factory=dict)
    taught: str = ""
    contrast: dict[str, str] = field(default_factory=dict)
    wider: str = ""
    source: str = ""
    memory: str = ""
    stamp: int = 0

    @property
    def story(self) -> dict[str, Any]:
        """The first view: every head, if its card names none."""
        stack = _STACKS.get(self.sizes.get("kind", ""), "encoder.self")
        return {"view": "grid", "stack": stack, **self.showcase}


def register(offer: Offer) -> None:
    """Offers a model on every page that lets one choose. Raises ValueError for a name that is taken."""
    if offer.name in {**shipped(), **_REGISTERED}:
        raise ValueError(f"a model named {offer.name!r} is there already; choose another name")
    title, memory = offer.title or offer.name, offer.memory or offer.name
    _REGISTERED[offer.name] = replace(offer, title=title, memory=memory)


def offers() -> dict[str, Offer]:
    """All models to choose from, by name, the `FIRST` ones first; without the runs of this machine."""
    _import_others()
    every = {**shipped(), **_REGISTERED}
    return {name: every[name] for name in dict.fromkeys((*FIRST, *every))}


@cache
def _import_others() -> None:
    from . import others

    import_all(others.__name__, others.__path__)


def offer_of(name: str) -> Offer | None:
    """The offer of a name, of a family's member, of "run:" and a run's id, which "@best" may follow, of "hf:"
    and a model of transformers, or of "own:" and the hash of attention that was handed in.

    None where there is no such model (any more).
    """
    run = RUN.fullmatch(name)
    kept = _of_hub if HUB.fullmatch(name) else _of_own if OWN.fullmatch(name) else None
    if kept is not None:
        with suppress(FileError, OSError):
            return kept(name)
        return None
    if run:
        return _of_run(name, run[1], "best" if run[2] else "last")
    return offers().get(name) or (_of_member(name) if name in MEMBERS else None)


@cache
def _of_member(name: str) -> Offer:
    """A member of a family under its own name, which a menu of the family's members lists."""
    return replace(of_card(name, read_card(SHIPPED / name / CARD)), title=name, memory=name.partition("/")[0])


@cache
def shipped() -> dict[str, Offer]:
    """The shipped models, which have cards: the first ones, then the others by name."""
    models = [of_card(card.name, card.card) for card in list_models()]
    models.sort(
        key=lambda offer: (offer.name not in FIRST, (*FIRST, offer.name).index(offer.name), offer.name)
    )
    return {offer.name: offer for offer in models}


def of_card(name: str, card: dict[str, Any]) -> Offer:
    examples = tuple(card.get("examples", ()))
    words, pieces = card["learnt"].get("words"), card["learnt"].get("tokenizer", {})
    lists = words if isinstance(words, dict) else {}
    if pieces.get("kind") == "wordpiece":
        lists = {"whole": [word for word in pieces["vocabulary"][pieces["n_specials"] :] if word.isalpha()]}
    more = {"label": card["label"]} if "label" in card else {}
    return Offer(
        name=name,
        load=lambda: load_model(name),
        title=str(card.get("title", name.replace("-", " "))),
        summary=str(card.get("summary", "")),
        text=examples[0]["text"] if examples else "",
        examples=examples,
        showcase=card.get("showcase", {}),
        words={name: lists[key] for key, name in _WORDS.items() if key in lists},
        swaps=card.get("swaps", {}),
        taught=str(card.get("taught", "")),
        contrast=card.get("contrast", {}),
        wider=str(card.get("wider", "")),
        source=card["data"] if isinstance(card.get("data"), str) else "",
        memory=str(card.get("memory", name)),
        **as_read(card["config"], card["task"]["name"], examples[0]["text"] if examples else ""),
        **more,
    )


def _of_run(name: str, run_id: str, which: Which) -> Offer | None:
    try:
        path = run_path(run_id)
        weights = weights_path(path, which)
        stamp = weights.stat().st_mtime_ns
        description = read_description(path)
        sizes, task = description["model"], str(description["task"]["name"])
        text = str(read_json(path / PROBE).get("text", "")) if (path / PROBE).is_file() else ""
        more = as_read(sizes, task, text)
    except (FileError, OSError, KeyError, TypeError, AttributeError):
        return None
    return Offer(
        name=name,
        load=lambda: load_model(path if which == "last" else weights),
        title=f"run: {description.get('name', run_id)}{', best' if which == 'best' else ''}",
        summary=f"Trained here on the task “{task}”.",
        text=text,
        examples=({"label": "watched in training", "text": text, "see": ""},) if text else (),
        memory=name,
        stamp=stamp,
        **more,
    )


# Models of transformers, from their folders on this machine.

TEXTS = {
    "encoder-only": "The animal did not cross the street because it was too tired.",
    "decoder-only": "When Mary and John went to the store, John gave a drink to",
    "encoder-decoder": "translate English to German: The house is wonderful.",
}
MASKED = "The capital of France is [MASK] ."
LONG = Setting(
    "refuse",
    one_of(("refuse", "cut")),
    "A text that is too long",
    "refuse it, or cut its end off",
    "segments",
    name="long",
)
CHAT = Setting(
    "off",
    one_of(("off", "on")),
    "Chat template",
    "on: the text becomes a user's message in a chat",
    "segments",
    name="chat",
)
TARGET = Setting(
    "",
    characters(MAX_CHARACTERS),
    "Answer",
    "Type an answer to force it; empty: the model writes it",
    more={"placeholder": "written by the model"},
    name="target",
    of_text=True,
)


@cached(TTLCache(maxsize=64, ttl=1), lock=Lock())  # a page asks many times in each of its runs
def _of_hub(name: str) -> Offer:
    """The offer of `hf:` and a name. Raises FileError, or OSError, where it cannot be opened."""
    folder = open_folder(name)
    offer = Offer(
        name=folder.name,
        load=lambda: load_hub(folder.name),
        title=folder.title,
        summary=f"{folder.architecture or 'A model'} from its folder, {readable(folder.n_bytes)} of weights.",
        sizes=folder.sizes,
        memory=folder.name,
        stamp=folder.stamp,
    )
    if folder.reads_pictures:
        from .hub.photos import NAMES

        examples = tuple(
            {"label": label, "text": str(at), "see": ""} for at, label in enumerate(NAMES, start=1)
        )
        picture = {"view": "picture"}
        return replace(offer, text="1", reads="any picture", examples=examples, showcase=picture)
    text = MASKED if folder.architecture.endswith("ForMaskedLM") else TEXTS[folder.kind]
    more = (TARGET,) if folder.kind == "encoder-decoder" else ()
    chats = (CHAT,) if "chat_template" in folder.tokenizer_config or folder.has("chat_template.jinja") else ()
    return replace(offer, text=text, settings=(*more, *chats, LONG))


# Attention that was handed in.


@cached(TTLCache(maxsize=64, ttl=1), lock=Lock())
def _of_own(name: str) -> Offer:
    """The offer of a kept file, whoever handed it in; pages ask first. Raises FileError where it is gone."""
    from .own_attention import open_kept

    hashed = name.removeprefix("own:")
    own, _ = open_kept(_path(hashed))
    stack, fields = next(iter(own.stacks.items()))
    n_layers, n_heads = fields["n_layers"], fields["n_heads"]
    queries, keys = own.tokens[stack.split(".")[0]], next(iter(own.tokens.values()))
    sizes = ", ".join(
        f"{count} {what}{'s' * (count != 1)}" for count, what in ((n_layers, "layer"), (n_heads, "head"))
    )
    alone = {"view": "head"} if n_layers * n_heads == 1 else {}  # it is worth seeing at once
    more = ", ".join(own.stacks) if len(own.stacks) > 1 else f"{len(queries)} queries by {len(keys)} keys"

    def load() -> Model:
        from .own_model import of_kept

        path = _path(hashed)
        with suppress(OSError):
            os.utime(path)  # it expires so many days after it was last used
        return of_kept(*open_kept(path), lambda: _path(hashed))

    return Offer(
        name=name,
        load=load,
        title=own.title,
        summary=(f"Your attention: {sizes}, {more}. Only this browser can open its link."),
        label="These weights came with their tokens, so nothing is typed here.",
        reads="nothing",
        showcase={"stack": stack} | alone,
        memory=name,
    )


def _path(hashed: str) -> Path:
    from .own_attention import ENDING, GONE

    path = next(uploads_root().glob(f"*/{hashed}.{ENDING}"), None)
    if path is None:
        raise FileError(GONE)
    return path


def as_read(sizes: dict[str, Any], task: str, text: str) -> dict[str, Any]:
    """The fields of an offer that follow from a model's config, its task and its first text."""
    pictures = sizes.get("input_channels") is not None
    prose = sizes.get("kind") == "decoder-only" and " " in text.strip()
    reads = "picture" if pictures else "prose" if prose else "text"
    return {"sizes": sizes, "reads": reads, "settings": OF_TASK.get(task, ())}
