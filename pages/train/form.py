"""The settings of a run that has not started: widgets made from what the task and the configs say."""

from __future__ import annotations

from typing import Any

import streamlit as st

from models.config import POSITION_SCHEMES
from models.training.config import CHOICES, LIMITS
from pages.shared.training import settings, uploads
from pages.shared.training.catalogue import Option, TaskInfo
from pages.train import state

LABELS = {
    "n_layers": "Layers",
    "n_heads": "Heads",
    "max_len": "Context",
    "d_ff": "d_ff (0: 4 ×)",
    "threads": "Threads (0: all)",
    "learning_rate": "Learning rate",
    "warmup_steps": "Warm-up steps",
    "batch_size": "Batch",
    "clip": "Clip gradients at",
}
HELP = {
    "n_layers": "Per stack",
    "d_model": "Width of the residual stream",
    "d_ff": "Width of the feed-forward layers; 0 is four times d_model",
    "max_len": "Positions that the model reads at once",
    "positions": "How the model knows where a token stands",
    "norm": "Normalise before or after each sublayer",
    "dropout": "Share of activations that is dropped while training",
    "steps": "Updates of the weights",
    "batch_size": "Examples of one step",
    "accumulation": "Pieces in which a batch is read: less memory, the same gradient",
    "learning_rate": "The highest; the schedule says when",
    "schedule": "warm-up is that of the paper (5.3)",
    "clip": "The longest gradient; 0 for any",
    "final_rate": "The share of the highest rate where cosine ends",
    "label_smoothing": "Share of each target that is spread over all outputs (the paper's 5.4)",
    "precision": "Of matrix products; weights stay float32",
    "compile": "torch.compile: a slow start, then faster",
    "gradient_checkpointing": "Compute activations twice instead of keeping them: less memory, more time",
    "threads": "Of the CPU; 0 is PyTorch's own choice",
    "seed": "The same seed gives the same numbers again on the same CPU",
    "validate_every": "Steps between validations; 0 is about 20 times a run",
    "held_out": "Examples that validation reads",
    "n_snapshots": "How often the heads are kept, for scrubbing",
    "checkpoint_seconds": "Between two checkpoints",
}
SHOWN = ("steps", "batch_size", "learning_rate", "schedule", "warmup_steps", "seed")
DEVICE = ("device", "precision", "threads", "compile")
PAIR = 2


def draw(info: TaskInfo) -> None:
    """All settings in three columns: the task's, the model's, the training's."""
    state.seed_widgets(info)
    task, model, training = st.columns(3, gap="medium")
    with task, st.container(border=True):
        st.markdown("**Task**")
        _options(info)
        st.markdown("**Device**")
        _pairs(info, DEVICE)
        st.checkbox("Go on when the server stops", key="train.keep_going")
    with model, st.container(border=True):
        st.markdown("**Model**")
        _pairs(info, settings.size_names(info))
        _head_size(info)
    with training, st.container(border=True):
        st.markdown("**Training**")
        _pairs(info, SHOWN)
        with st.expander("More"):
            rest = [name for name in settings.training_names() if name not in (*SHOWN, *DEVICE)]
            _pairs(info, rest)


def _head_size(info: TaskInfo) -> None:
    """What a head gets of the width, where it divides."""
    values = state.values(info)
    d_model, n_heads = values["d_model"], values["n_heads"]
    if d_model % n_heads == 0:
        st.caption(f"d_head = {d_model} / {n_heads} = {d_model // n_heads}")
    else:
        st.caption(f"d_head = {d_model} / {n_heads} is no whole number")


def _options(info: TaskInfo) -> None:
    if not info.options:
        st.caption("This task has no options.")
    for option in info.options:
        if option.file:
            _file(info, option)
        else:
            low, high = option.low, option.high
            _widget(info, option.name, _label(option.name), option.about, option.choices, low, high)


def _file(info: TaskInfo, option: Option) -> None:
    """A file to hand in; its name, once kept, is the setting."""
    key = state.key(info.name, option.name)

    def take() -> None:
        given = st.session_state.get(f"{key}.upload")
        try:
            st.session_state[key] = uploads.keep(given.getbuffer(), given.name) if given else ""
        except ValueError as error:
            st.session_state.train_problem = str(error)

    # Not every format has an ending: train-images-idx3-ubyte.
    named = all(ending.startswith(".") for ending in option.file)
    endings = [ending.removeprefix(".") for ending in option.file] if named else None
    st.file_uploader(
        f"{_label(option.name)}: {option.about}",
        type=endings,
        key=f"{key}.upload",
        on_change=take,
        max_upload_size=uploads.MAX_BYTES >> 20,
    )
    name = state.values(info)[option.name]
    if name:
        st.caption(f"Reads the file {name[:8]}…{name[64:]}")
        st.button("Without a file", key=f"{key}.clear", on_click=_clear, args=(info, option.name))


def _clear(info: TaskInfo, name: str) -> None:
    st.session_state[state.key(info.name, name)] = ""


def _pairs(info: TaskInfo, names: Any) -> None:
    """Widgets side by side, two in a row."""
    names = list(names)
    for at in range(0, len(names), PAIR):
        for place, name in zip(st.columns(PAIR), names[at : at + PAIR], strict=False):
            low, high = LIMITS.get(name, (None, None))
            with place:
                _widget(
                    info, name, LABELS.get(name, _label(name)), HELP.get(name, ""), _choices(name), low, high
                )


def _choices(name: str) -> tuple[Any, ...]:
    return CHOICES.get(name) or _SIZE_CHOICES.get(name, ())


_SIZE_CHOICES = {
    "positions": tuple(POSITION_SCHEMES),
    "norm": ("pre", "post"),
    "activation": ("relu", "gelu", "gelu-tanh"),
}
_SIZE_LIMITS = {"n_layers": (1, 48), "n_heads": (1, 64), "d_model": (1, 4_096), "d_ff": (0, 16_384)}


def _widget(
    info: TaskInfo, name: str, label: str, about: str, choices: Any, low: float | None, high: float | None
) -> None:
    """The widget for a setting, by the kind of its default."""
    key, default = state.key(info.name, name), settings.defaults(info)[name]
    tip = about[:1].upper() + about[1:] or None
    if choices:
        st.selectbox(label, list(choices), key=key, help=tip)
    elif isinstance(default, bool):
        st.toggle(label, key=key, help=tip)
    elif isinstance(default, int):
        low, high = _SIZE_LIMITS.get(name, (low, high))
        st.number_input(label, _whole(low), _whole(high), step=1, key=key, help=tip)
    elif isinstance(default, float):
        st.number_input(label, _real(low), _real(high), step=None, format="%.6g", key=key, help=tip)
    else:
        st.text_input(label, key=key, help=tip, max_chars=2_000)


def _whole(bound: float | None) -> int | None:
    return None if bound is None else int(bound)


def _real(bound: float | None) -> float | None:
    return None if bound is None else float(bound)


def _label(name: str) -> str:
    """A field's name as a label: gradient_checkpointing becomes Gradient checkpointing; d_model stays."""
    return name if name.startswith("d_") else name.replace("_", " ").capitalize()
