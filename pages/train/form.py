"""The settings of a run that has not started, and presets of those that a lecture needs at once."""

from collections.abc import Callable
from typing import Any

import streamlit as st

from attention_lab.pages.shared.state import State
from attention_lab.pages.shared.training import settings
from attention_lab.pages.shared.training.settings import Values, label_of
from attention_lab.pages.shared.training.tasks_on_offer import TaskInfo
from attention_lab.pages.train import own_file, rate, state


def laptop(info: TaskInfo) -> Values:
    """The task as it comes: from 20 seconds to nine minutes on two cores."""
    return {}


def more(info: TaskInfo) -> Values:
    """Twice as wide for three times as many steps: about ten times the arithmetic."""
    width, steps = info.sizes.get("d_model", 64), info.training.get("steps", 1_000)
    return {"d_model": 2 * width, "steps": 3 * steps}


def gpu(info: TaskInfo) -> Values:
    """nanoGPT's size for characters of Shakespeare, in bfloat16, at least 2,000 steps."""
    sizes: dict[str, Any] = {"n_layers": 6, "n_heads": 6, "d_model": 384, "dropout": 0.2}
    if info.group == "Language" and any(option.name == "length" for option in info.options):
        sizes["length"] = 256
    steps = max(2_000, info.training.get("steps", 0))
    training = {"steps": steps, "batch_size": 64, "learning_rate": 1e-3, "warmup_steps": 100}
    return sizes | training | {"device": "cuda", "precision": "bfloat16", "compile": True}


PRESETS: dict[str, Callable[[TaskInfo], Values]] = {
    "a laptop": laptop,
    "ten times the work": more,
    "a GPU": gpu,
}


# The settings of a run that has not started: widgets made from what the task and the configs say.

SHOWN = ("steps", "batch_size", "learning_rate", "schedule", "warmup_steps", "seed")
DEVICE = ("device", "precision", "threads", "compile")
SWEEPS = "sweeps/page.py"


def draw(info: TaskInfo) -> None:
    """All settings in three columns: the task's, the model's, the training's."""
    inputs = state.settings_of(info)
    with st.container(key="train_form"):
        task, model, training = st.columns(3, gap="medium")
    with task, st.container(border=True):
        st.markdown("**Task**")
        _options(info, inputs)
        st.markdown("**Device**")
        inputs.draw_grid(DEVICE)
        state.page().draw("keep_going")
    with model, st.container(border=True):
        st.markdown("**Model**")
        inputs.draw_grid(settings.size_names(info))
        width, n_heads = inputs.kept["d_model"], inputs.kept["n_heads"]
        size = "is no whole number" if width % n_heads else f"= {width // n_heads}"
        st.caption(f"d_head = {width} / {n_heads} {size}")
        for name, why in info.fixes.items():
            st.caption(f"{label_of(name)}: {why}; the task says so")
    with training, st.container(border=True):
        st.markdown("**Training**")
        inputs.draw_grid(SHOWN)
        tools = st.container(horizontal=True, vertical_alignment="center", key="train_tools")
        with tools:
            rate.button(info, inputs)
            link = settings.to_link(info, inputs.kept) | {"sweep": "+"}
            is_refused = bool(own_file.refusals(info, inputs))
            tools.page_link(SWEEPS, label="Sweep over this…", query_params=link, disabled=is_refused)
        rate.draw(info, inputs)
        with st.expander("More"):
            inputs.draw_grid([name for name in settings.training_names() if name not in (*SHOWN, *DEVICE)])


def _options(info: TaskInfo, inputs: State) -> None:
    if not info.options:
        st.caption("This task has no options.")
    for option in info.options:
        if option.file:
            own_file.draw(info, inputs, option)
        elif not option.of:
            inputs.draw(option.name)
